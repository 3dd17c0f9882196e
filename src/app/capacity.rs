//! The capacity of the host, from what is known of its sandboxes.

use super::AppState;
use crate::app::panes::sandboxes::Row;
use crate::domain::{Amount, Capacity, Share};
use crate::protocol::Link;

/// Sums up the host; `None` while no engine answers.
#[must_use]
pub fn of(state: &AppState) -> Option<Capacity> {
    let known = state.engine.links().next()?;
    let Link::Up(info) = &known.link else {
        return None;
    };
    let total = Amount {
        memory_bytes: info.memory_bytes,
        cpus: f64::from(u32::try_from(info.cpus).unwrap_or(u32::MAX)),
    };
    if total.memory_bytes == 0 {
        return None;
    }
    let (_, all) = state.sandboxes.counts();
    let config = &state.settings.config;
    let places = config.manager.max_sandboxes.saturating_sub(all);
    let live = state.sandboxes.all();
    let live = live.filter(|row| row.sandbox.phase.is_live());
    let next = &config.sandbox.limits;
    Some(Capacity::of(total, live.map(share), next, places))
}

fn share(row: &Row) -> Share {
    let used = row.latest().map(|sample| Amount {
        memory_bytes: sample.memory_bytes,
        cpus: sample.cpu_percent / 100.0,
    });
    Share {
        limits: row.sandbox.limits,
        used: used.unwrap_or_default(),
    }
}
