//! Why a sandbox goes or stays, in words.

use crate::domain::{ReapStatus, Reaped, Reason, Verdict};
use crate::text::{human, safe_line};

/// Says what becomes of a sandbox and why.
#[must_use]
pub fn verdict_words(one: &Reaped) -> String {
    let why = verdict_reason(one);
    match one.reap_status.verdict {
        Verdict::Keep(_) => format!("stays: {why}"),
        Verdict::Later(_, left) => format!("goes in {}: {why}", human::age(left.as_secs())),
        Verdict::Pause(_) => format!("pauses: {why}"),
        Verdict::Remove(_) => format!("goes: {why}"),
    }
}

/// Says why a sandbox goes or stays.
#[must_use]
pub fn verdict_reason(one: &Reaped) -> String {
    match one.reap_status.verdict {
        Verdict::Keep(spared) => spared.words().to_owned(),
        Verdict::Later(reason, _) | Verdict::Pause(reason) | Verdict::Remove(reason) => {
            match (reason, &one.sandbox.owner) {
                (Reason::Orphan, Some(owner)) => safe_line(format!("its owner {owner} died")),
                (Reason::Orphan, None) => "its owner died".to_owned(),
                (Reason::Idle, _) => "nobody uses it".to_owned(),
            }
        }
    }
}

/// Says in one word what is wrong or special with a sandbox: why it ended, that it is orphaned, that it was refused processes,
/// how its last run ended, or that it is foreign.
#[must_use]
pub fn status_word(reap_status: &ReapStatus) -> Option<&str> {
    let death = reap_status.death.as_ref().map(|death| death.cause.as_str());
    let orphan = reap_status.is_orphan().then_some("orphan");
    let last = reap_status.last_end.as_ref().map(|end| end.cause.as_str());
    let refused = reap_status.pids_refused_at.map(|_| "pids");
    let foreign = reap_status.is_foreign().then_some("foreign");
    death.or(orphan).or(refused).or(last).or(foreign)
}
