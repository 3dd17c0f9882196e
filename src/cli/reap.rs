//! `reap`, `pin` and `unpin`: sandboxes that nobody needs, each with its reason.

use std::time::Duration;

use serde_json::{Value, json};

use super::care_args::ReapArgs;
use super::print::{self, Format, Outcome};
use super::session::{pick, unexpected};
use super::{CliContext, exit};
use crate::app::overlays::reap::rules;
use crate::describe::verdict_reason;
use crate::domain::{Grace, ReapRules, ReapStatus, Reaped, Sandbox, Verdict};
use crate::protocol::{Command, Failure, Leftover, Reply};
use crate::text::{Table, human, safe_line};

/// `reap`.
pub(super) async fn reap(cli: &mut CliContext, args: &ReapArgs) -> Outcome<u8> {
    if !args.dry_run {
        cli.refuse_if_read_only("reaping")?;
    }
    let mut rules = rules(&cli.config.manager);
    if let Some(seconds) = args.idle {
        let limit = Duration::from_secs(seconds);
        rules = ReapRules {
            idle: Some(limit),
            orphan: rules.orphan.min(limit),
            grace: Grace::Remove,
        };
    }
    if !args.watch {
        return once(cli, rules, args.dry_run).await;
    }
    loop {
        let code = once(cli, rules, args.dry_run).await;
        if code.as_ref().is_ok_and(|code| *code != exit::OK) {
            tracing::warn!("some sandboxes could not be reaped");
        }
        match code {
            Err(print::Stop::ClosedPipe) => return code,
            // An engine that is away comes back; so do we.
            Err(print::Stop::Failed(failure)) => print::failure(&failure, Format::Text),
            Ok(_) => {}
        }
        cli.session
            .pause(cli.config.manager.cleanup_interval)
            .await?;
    }
}

async fn once(cli: &mut CliContext, rules: ReapRules, dry_run: bool) -> Outcome<u8> {
    let host = cli.host();
    let command = if dry_run {
        Command::PreviewReap { host, rules }
    } else {
        Command::Reap {
            host,
            rules,
            only: None,
        }
    };
    let (found, leftovers) = match cli.session.ask(command).await? {
        Reply::Reaped(found, leftovers) => (found, leftovers),
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => {
            let sandboxes = found.iter().map(view);
            let leftovers = leftovers
                .iter()
                .map(|leftover| leftover_view(leftover, dry_run));
            print::json(&sandboxes.chain(leftovers).collect::<Vec<_>>())?;
        }
        Format::Text => show(&found, &leftovers, dry_run)?,
    }
    let failed = found.iter().any(|one| matches!(one.done, Some(Err(_))));
    Ok(if failed { exit::FAILED } else { exit::OK })
}

fn show(found: &[Reaped], leftovers: &[Leftover], dry_run: bool) -> Outcome {
    let mut table = Table::new(&["NAME", "IDLE", "VERDICT", "WHY"]);
    for one in found {
        let idle = one
            .reap_status
            .idle()
            .map_or_else(|| "?".to_owned(), human::duration);
        table.row(vec![
            safe_line(&one.sandbox.name),
            idle,
            verdict(one),
            why(one),
        ]);
    }
    for leftover in leftovers {
        let verdict = if dry_run { "would remove" } else { "removed" };
        table.row(vec![
            safe_line(&leftover.name),
            "-".to_owned(),
            verdict.to_owned(),
            format!("a {} that belongs to no sandbox", leftover.kind),
        ]);
    }
    if found.is_empty() && leftovers.is_empty() {
        print::note("No sandboxes.");
        return Ok(());
    }
    print::line(&table.to_string())
}

fn verdict(one: &Reaped) -> String {
    match (&one.done, one.reap_status.verdict) {
        (Some(Ok(())), Verdict::Pause(_)) => "paused".to_owned(),
        (Some(Ok(())), _) => "removed".to_owned(),
        (Some(Err(_)), _) => "not removed".to_owned(),
        (None, Verdict::Keep(_)) => "stays".to_owned(),
        (None, Verdict::Later(_, left)) => format!("in {}", human::duration(left)),
        (None, Verdict::Pause(_)) => "would pause".to_owned(),
        (None, Verdict::Remove(_)) => "would remove".to_owned(),
    }
}

fn why(one: &Reaped) -> String {
    match &one.done {
        Some(Err(words)) => safe_line(words),
        Some(Ok(())) | None => verdict_reason(one),
    }
}

fn view(one: &Reaped) -> Value {
    let (action, reason) = match one.reap_status.verdict {
        Verdict::Keep(spared) => ("keep", json!(spared)),
        Verdict::Later(reason, _) => ("later", json!(reason)),
        Verdict::Pause(reason) => ("pause", json!(reason)),
        Verdict::Remove(reason) => ("remove", json!(reason)),
    };
    json!({
        "kind": "sandbox",
        "name": one.sandbox.name,
        "id": one.sandbox.reference.id.as_str(),
        "action": action,
        "reason": reason,
        "why": why(one),
        "idle_s": seconds(one.reap_status.idle()),
        "reap_in_s": seconds(one.reap_status.reap_in()),
        "orphan": one.reap_status.is_orphan(),
        "pinned": one.reap_status.facts.pinned,
        "owner": one.sandbox.owner,
        "done": matches!(one.done, Some(Ok(()))),
        "error": match &one.done {
            Some(Err(words)) => json!(words),
            Some(Ok(())) | None => Value::Null,
        },
    })
}

fn leftover_view(leftover: &Leftover, dry_run: bool) -> Value {
    json!({
        "kind": leftover.kind,
        "name": leftover.name,
        "action": "remove",
        "reason": "leftover",
        "done": !dry_run,
    })
}

/// Writes whole seconds.
pub(super) fn seconds(time: Option<Duration>) -> Option<u64> {
    time.map(|time| time.as_secs())
}

/// `pin` and `unpin`.
pub(super) async fn pin(cli: &mut CliContext, names: &[String], pinned: bool) -> Outcome<u8> {
    cli.refuse_if_read_only("pinning")?;
    let all = cli.session.candidates(names).await?;
    let mut results = Vec::new();
    for name in names {
        let outcome = match pick(&all, name) {
            Ok(found) => {
                let sandbox = found.reference.clone();
                let command = Command::Pin { sandbox, pinned };
                cli.session.ask(command).await.map(|_| found.name.clone())
            }
            Err(failure) => Err(failure),
        };
        results.push((name.clone(), outcome));
    }
    super::sandboxes::report(cli.format, &results)
}

/// Lists the sandboxes with how they stand.
pub(super) async fn reap_statuses(
    cli: &mut CliContext,
) -> Result<(Vec<Sandbox>, Vec<ReapStatus>), Failure> {
    let rules = rules(&cli.config.manager);
    let host = cli.host();
    match cli
        .session
        .ask(Command::ReapStatuses { host, rules })
        .await?
    {
        Reply::ReapStatuses(sandboxes, reap_statuses) => Ok((sandboxes, reap_statuses)),
        other => Err(unexpected(&other)),
    }
}
