//! Which sandboxes are shown, and in which order.

use super::{Column, Row};
use crate::domain::Sandbox;

/// Compares two rows by a column.
pub(super) fn compare(column: Column, a: &Row, b: &Row) -> std::cmp::Ordering {
    let cpu = |row: &Row| row.latest().map_or(-1.0, |sample| sample.cpu_percent);
    let memory = |row: &Row| row.latest().map_or(0, |sample| sample.memory_bytes);
    let pids = |row: &Row| row.latest().map_or(0, |sample| sample.pids);
    match column {
        Column::Name => a.sandbox.name.cmp(&b.sandbox.name),
        Column::Phase => a.sandbox.phase.cmp(&b.sandbox.phase),
        Column::Cpu => cpu(a).total_cmp(&cpu(b)),
        Column::Memory => memory(a).cmp(&memory(b)),
        Column::Pids => pids(a).cmp(&pids(b)),
        // The list knows when they were used; by age the order is the same more often than not.
        Column::Age | Column::Idle | Column::Reap | Column::Why => {
            a.sandbox.created_at.cmp(&b.sandbox.created_at)
        }
        Column::Network => a.sandbox.network.cmp(&b.sandbox.network),
        Column::Image => a.sandbox.image.cmp(&b.sandbox.image),
        Column::Owner => owner(a).cmp(&owner(b)),
        Column::Host => a.sandbox.reference.host.cmp(&b.sandbox.reference.host),
    }
}

fn owner(row: &Row) -> Option<String> {
    row.sandbox.owner.as_ref().map(ToString::to_string)
}

/// Tells whether a sandbox passes a filter: words, `!word` for not, `phase:`, `image:` and `label:`.
pub(super) fn matches(sandbox: &Sandbox, filter: &str) -> bool {
    filter
        .split_whitespace()
        .all(|word| match word.strip_prefix('!') {
            Some(word) if !word.is_empty() => !matches_word(sandbox, word),
            _ => matches_word(sandbox, word),
        })
}

fn matches_word(sandbox: &Sandbox, word: &str) -> bool {
    let has = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
    match word.split_once(':') {
        Some(("phase", part)) => has(sandbox.phase.word(), part),
        Some(("image", part)) => has(&sandbox.image, part),
        Some(("label", part)) => sandbox
            .labels
            .iter()
            .any(|(key, value)| has(&format!("{key}={value}"), part)),
        _ => {
            has(&sandbox.name, word)
                || has(&sandbox.image, word)
                || sandbox.reference.id.as_str().starts_with(word)
        }
    }
}
