//! Keeps a front end told how sandboxes stand, and reaps for it now and then.

use std::time::Duration;

use tokio::time::Instant;

use super::Host;
use super::context::Context;
use super::reaper;
use super::usage_snapshot::UsageSnapshot;
use crate::domain::ReapRules;
use crate::protocol::{Event, Failure};

/// Time between two looks at the record.
const PACE: Duration = Duration::from_secs(3);
/// So long what the engine said is believed while it tells of nothing new.
const BELIEVED: Duration = Duration::from_secs(30);

/// What was seen last.
struct Seen {
    snapshot: UsageSnapshot,
    activity: u64,
    at: Instant,
}

/// Tells and reaps until the manager ends; an engine that is away is waited for.
pub(super) async fn keep_telling(
    context: &Context,
    host: &Host,
    rules: &ReapRules,
    reap_every: Option<Duration>,
) {
    let mut next_round = reap_every.map(|every| Instant::now() + every);
    let mut seen = None;
    loop {
        seen = look(context, host, seen).await.ok();
        if let Some(seen) = &seen {
            let reap_statuses = seen.snapshot.reap_statuses(context, host, rules).await;
            let host = host.name.clone();
            context
                .send(Event::ReapStatuses {
                    host,
                    reap_statuses,
                })
                .await;
        }
        if let (Some(at), Some(every)) = (next_round, reap_every)
            && at <= Instant::now()
        {
            next_round = Some(Instant::now() + every);
            round(context, host, rules).await;
        }
        tokio::time::sleep(PACE).await;
    }
}

/// Looks at the record, and asks the engine only when it has told something since.
async fn look(context: &Context, host: &Host, seen: Option<Seen>) -> Result<Seen, Failure> {
    let activity = context.activity();
    match seen {
        Some(seen) if seen.activity == activity && seen.at.elapsed() < BELIEVED => Ok(Seen {
            snapshot: seen.snapshot.renewed(context, host).await,
            ..seen
        }),
        _ => Ok(Seen {
            snapshot: UsageSnapshot::take(context, host).await?,
            activity,
            at: Instant::now(),
        }),
    }
}

async fn round(context: &Context, host: &Host, rules: &ReapRules) {
    match reaper::reap_all(context, host, rules).await {
        Ok(done) if done.is_empty() => {}
        Ok(done) => context.send(Event::Reaped(done)).await,
        Err(failure) => tracing::warn!(%failure, "a round of the reaper failed"),
    }
}
