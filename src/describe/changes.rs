//! Changed files, summed up.

use crate::domain::{ChangeKind, Changes};
use crate::text::safe_line;

/// Says how many files changed, where it was looked for, and what could not be seen; a line each.
#[must_use]
pub fn changes_summary(changes: &Changes) -> Vec<String> {
    let kinds = [ChangeKind::Added, ChangeKind::Changed, ChangeKind::Deleted];
    let counts = kinds.map(|kind| format!("{} {}", changes.count(kind), kind.word()));
    let looked_at = safe_line(changes.looked_at.join(", "));
    let mut lines = vec![format!("{} in {looked_at}", counts.join(", "))];
    if changes.left_out > 0 {
        lines.push(format!("{} more are not listed", changes.left_out));
    }
    let gaps = changes.gaps.iter();
    lines.extend(gaps.map(|gap| format!("note: {}", safe_line(gap))));
    lines
}
