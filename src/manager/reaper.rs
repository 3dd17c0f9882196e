//! Reaping: a look at all sandboxes, and then, for each whose time has come, a second look under its lock before the deed.
//!
//! Two reapers do no harm: the claim in the store is granted to whoever finds the sandbox as it was seen; a run that begins
//! first refuses the claim, a claim that is granted first refuses the run.

use chrono::Utc;
use futures_util::stream::{self, StreamExt};

use super::alive::{Life, is_alive};
use super::context::Context;
use super::survey::{Survey, is_running};
use super::{Host, deaths};
use crate::domain::{
    HostName, ReapRules, Reaped, Reason, Sandbox, SandboxRef, Standing, Usage, Verdict, judge,
};
use crate::protocol::{Action, Failure, FailureKind, Leftover, Reply};
use crate::store::{Claim, Intent};

/// How many sandboxes are looked at or removed at once.
const AT_ONCE: usize = 8;

/// Tells how all sandboxes stand.
pub(super) async fn survey(
    context: &Context,
    host: &HostName,
    rules: &ReapRules,
) -> Result<Reply, Failure> {
    let host = context.host(host)?;
    let (seen, standings) = look(context, host, rules).await?;
    let found = seen.sandboxes.into_iter().zip(standings);
    let found = found.map(|(sandbox, standing)| Reaped {
        sandbox,
        standing,
        done: None,
    });
    let leftovers = host.engine.leftovers().await.unwrap_or_default();
    Ok(Reply::Reaped(found.collect(), leftovers))
}

/// Tells how all sandboxes stand, as far as that is on record.
pub(super) async fn standings(
    context: &Context,
    host: &HostName,
    rules: &ReapRules,
) -> Result<Reply, Failure> {
    let host = context.host(host)?;
    let seen = Survey::take(context, host).await?;
    Ok(Reply::Standings(seen.standings(context, host, rules).await))
}

/// Exempts a sandbox from reaping, or lets it be reaped again.
pub(super) async fn pin(
    context: &Context,
    sandbox: &SandboxRef,
    pinned: bool,
) -> Result<Reply, Failure> {
    let (place, store) = (context.place(sandbox)?, &context.options.store);
    if pinned {
        let by = context.options.owner.to_string();
        store.pin(place, &sandbox.id, &by).await?;
    } else {
        store.unpin(place, &sandbox.id).await?;
    }
    Ok(Reply::Done)
}

async fn look(
    context: &Context,
    host: &Host,
    rules: &ReapRules,
) -> Result<(Survey, Vec<Standing>), Failure> {
    let seen = Survey::take(context, host).await?;
    let standings = seen.standings(context, host, rules).await;
    let confirming = standings.into_iter().map(|one| confirm(host, one));
    let standings = stream::iter(confirming).buffered(AT_ONCE).collect().await;
    Ok((seen, standings))
}

/// Makes sure that nothing runs in a sandbox that is to go, whoever started it.
async fn confirm(host: &Host, mut standing: Standing) -> Standing {
    let is_due = matches!(standing.verdict, Verdict::Freeze(_) | Verdict::Remove(_));
    if is_due && is_running(host, &standing.sandbox.id).await {
        standing.facts.usage = Usage::Busy;
        standing.verdict = Verdict::Keep(crate::domain::Spared::Busy);
    }
    standing
}

/// Reaps what is due; with `only`, nothing else than these.
pub(super) async fn reap(
    context: &Context,
    host: &HostName,
    rules: &ReapRules,
    only: Option<&[SandboxRef]>,
) -> Result<Reply, Failure> {
    let host = context.host(host)?;
    let (seen, standings) = look(context, host, rules).await?;
    let is_meant = |one: &Standing| only.is_none_or(|only| only.contains(&one.sandbox));
    let meant = standings.into_iter().filter(is_meant);
    let reaping = meant.filter_map(|standing| {
        let mut sandboxes = seen.sandboxes.iter();
        let sandbox = sandboxes.find(|s| s.reference == standing.sandbox)?;
        Some(reap_one(context, host, sandbox, (rules, standing)))
    });
    let found = stream::iter(reaping).buffered(AT_ONCE).collect().await;
    let leftovers = match only {
        Some(_) => Vec::new(),
        None => sweep(host).await,
    };
    Ok(Reply::Reaped(found, leftovers))
}

async fn reap_one(
    context: &Context,
    host: &Host,
    sandbox: &Sandbox,
    (rules, standing): (&ReapRules, Standing),
) -> Reaped {
    let done = match standing.verdict {
        Verdict::Remove(reason) => Some(take(context, host, sandbox, (rules, reason)).await),
        Verdict::Freeze(reason) => Some(freeze(context, host, sandbox, (rules, reason)).await),
        Verdict::Keep(_) | Verdict::Later(..) => None,
    };
    Reaped {
        sandbox: sandbox.clone(),
        standing,
        done: done.map(|done| done.map_err(|failure| failure.message)),
    }
}

/// Removes what carries our label and belongs to no sandbox.
async fn sweep(host: &Host) -> Vec<Leftover> {
    let mut removed = Vec::new();
    for leftover in host.engine.leftovers().await.unwrap_or_default() {
        match host.engine.remove_leftover(&leftover).await {
            Ok(()) => removed.push(leftover),
            Err(error) => tracing::warn!(%error, ?leftover, "a leftover could not be removed"),
        }
    }
    removed
}

async fn take(
    context: &Context,
    host: &Host,
    sandbox: &Sandbox,
    (rules, reason): (&ReapRules, Reason),
) -> Result<(), Failure> {
    let _turn = context.turn(&sandbox.reference).await;
    let intent = claim(context, host, sandbox, (rules, reason)).await?;
    let action = Action::Remove { force: true };
    deaths::before_removal(context, host, &sandbox.reference).await;
    let removed = host.engine.act(&sandbox.reference.id, action).await;
    if let Err(error) = removed {
        let desisted = context
            .options
            .store
            .desist(&host.place, &sandbox.reference.id);
        context.noted(desisted.await).await;
        return Err(Failure::from(error));
    }
    deaths::after_removal(context, host, &sandbox.reference, &intent).await;
    Ok(())
}

async fn freeze(
    context: &Context,
    host: &Host,
    sandbox: &Sandbox,
    (rules, reason): (&ReapRules, Reason),
) -> Result<(), Failure> {
    let _turn = context.turn(&sandbox.reference).await;
    claim(context, host, sandbox, (rules, reason)).await?;
    let paused = host.engine.act(&sandbox.reference.id, Action::Pause).await;
    let desisted = context
        .options
        .store
        .desist(&host.place, &sandbox.reference.id);
    context.noted(desisted.await).await;
    paused.map_err(Failure::from)
}

/// Looks a second time, and claims the sandbox if all is as before.
async fn claim(
    context: &Context,
    host: &Host,
    sandbox: &Sandbox,
    (rules, reason): (&ReapRules, Reason),
) -> Result<Intent, Failure> {
    let spared = |why: &str| Failure::new(FailureKind::Conflict, format!("spared: {why}"));
    let again = Survey::take(context, host).await?;
    let found = again
        .sandboxes
        .iter()
        .find(|s| s.reference == sandbox.reference);
    let Some(found) = found else {
        return Err(spared("somebody else removed it"));
    };
    let facts = again.facts(found, &context.options.owner);
    let is_due = matches!(
        judge(&facts, rules),
        Verdict::Freeze(_) | Verdict::Remove(_)
    );
    if !is_due {
        return Err(spared("it was used meanwhile"));
    }
    let intent = Intent {
        action: "reap".to_owned(),
        reason: reason.word().to_owned(),
        by: context.options.owner.clone(),
        at: Utc::now(),
    };
    let store = &context.options.store;
    let id = &sandbox.reference.id;
    let seen = again.last_use(found);
    match store.claim(&host.place, id, &intent, seen).await? {
        Claim::Granted => {}
        Claim::Used => return Err(spared("it was used meanwhile")),
        Claim::Taken(other) if is_alive(&other.by, &intent.by) == Life::Alive => {
            return Err(spared("another reaper is at it"));
        }
        // Its reaper was killed; the next round finds the way free.
        Claim::Taken(_) => {
            store.desist(&host.place, id).await?;
            return Err(spared("another reaper was killed while it was at it"));
        }
    }
    // Other tools ask nobody; this is the last look before the deed.
    if is_running(host, id).await {
        context.noted(store.desist(&host.place, id).await).await;
        return Err(spared("something runs in it"));
    }
    Ok(intent)
}
