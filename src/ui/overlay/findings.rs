//! What is known of the code before it runs: findings and packages.

use ratatui::Frame;
use ratatui::text::Line;

use super::lines::{row, show};
use crate::app::AppState;
use crate::app::geometry::layout::log_area;
use crate::code::Severity;
use crate::text::safe_line;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the list.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, scroll: usize) {
    let title = "Before it runs: Esc closes";
    let inner = popup(frame, log_area(frame.area()), title, theme);
    let known = &state.editor.current().known;
    let mut lines: Vec<Line<'static>> = known
        .analysis
        .findings
        .iter()
        .map(|finding| {
            let role = match finding.severity {
                Severity::Danger => Role::Error,
                Severity::Warn => Role::Warn,
                Severity::Info => Role::Text,
            };
            let place = format!("line {}", finding.line);
            let words = format!(
                "{} ({}, {})",
                finding.message, finding.severity, finding.rule
            );
            row(theme, &place, safe_line(&words), role)
        })
        .collect();
    if lines.is_empty() {
        lines.push(row(theme, "check", "nothing found".to_owned(), Role::Ok));
    }
    let names: Vec<&str> = known
        .analysis
        .packages
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    let packages = known.packages().map_or_else(
        || "none".to_owned(),
        |words| format!("{words}: {}", names.join(", ")),
    );
    lines.push(row(theme, "packages", safe_line(&packages), Role::Text));
    lines.push(Line::styled(
        "The check is a seat-belt; the boundary is the sandbox.",
        theme.style(Role::Muted),
    ));
    show(frame, inner, theme, lines, scroll);
}
