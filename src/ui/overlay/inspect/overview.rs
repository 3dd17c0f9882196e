//! What a sandbox is and what isolates it, weaknesses first.

use ratatui::text::Line;

use super::super::lines::{role_of, row};
use crate::app::overlays::inspect::InspectState;
use crate::describe::{Fact, facts};
use crate::domain::Details;
use crate::text::safe_line;
use crate::ui::theme::{Role, Theme};

/// Tells every fact.
pub(super) fn lines(view: &InspectState, theme: &Theme) -> Vec<Line<'static>> {
    super::answer(&view.details, theme, |details| {
        let mut lines = verdict(details, theme);
        let facts = facts(details).into_iter().filter(|fact| fact.key != "gap");
        lines.extend(facts.map(|Fact { key, value, mood }| row(theme, key, value, role_of(mood))));
        lines
    })
}

/// Says first what is weak.
fn verdict(details: &Details, theme: &Theme) -> Vec<Line<'static>> {
    let gaps = &details.posture.gaps;
    if gaps.is_empty() {
        return vec![row(theme, "isolation", "no gaps".to_owned(), Role::Ok)];
    }
    let lines = gaps.iter().enumerate().map(|(at, gap)| {
        let key = if at == 0 { "isolation gaps" } else { "" };
        row(theme, key, safe_line(gap), Role::Warn)
    });
    lines.collect()
}
