//! Keeps a front end told how sandboxes stand, and reaps for it now and then.

use std::time::Duration;

use tokio::time::Instant;

use super::Host;
use super::context::Context;
use super::reaper;
use crate::domain::ReapRules;
use crate::protocol::Event;

/// Time between two looks.
const PACE: Duration = Duration::from_secs(3);

/// Tells and reaps until the manager ends; an engine that is away is waited for.
pub(super) async fn keep_telling(
    context: &Context,
    host: &Host,
    rules: &ReapRules,
    reap_every: Option<Duration>,
) {
    let mut next_round = reap_every.map(|every| Instant::now() + every);
    loop {
        if let Ok(reap_statuses) = reaper::current_reap_statuses(context, host, rules).await {
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

async fn round(context: &Context, host: &Host, rules: &ReapRules) {
    match reaper::reap_all(context, host, rules).await {
        Ok(done) if done.is_empty() => {}
        Ok(done) => context.send(Event::Reaped(done)).await,
        Err(failure) => tracing::warn!(%failure, "a round of the reaper failed"),
    }
}
