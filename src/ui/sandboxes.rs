//! The list of sandboxes: figures against limits, as meters, numbers and the last moments.

mod cells;

use chrono::{DateTime, Utc};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::{Role, Theme};
use crate::app::guards::GuardsState;
use crate::app::panes::sandboxes::columns::{MARK, fit};
use crate::app::panes::sandboxes::{Column, Row, SandboxesState};
use crate::text::{pad, pad_left, safe_line};

/// The pane, without its border.
pub(super) struct SandboxesPane<'a> {
    pub(super) state: &'a SandboxesState,
    pub(super) theme: &'a Theme,
    pub(super) now: DateTime<Utc>,
    /// The engine does not answer; what is shown is old.
    pub(super) stale: bool,
    /// What is raised for whom.
    pub(super) guards: &'a GuardsState,
}

impl SandboxesPane<'_> {
    /// Says how the list is filtered and sorted.
    pub(super) fn title(&self) -> Line<'static> {
        let column = self.state.column.title().to_lowercase();
        let mut text = format!("by {column}{}", self.arrow());
        if !self.state.filter.is_empty() {
            text = format!("{text} /{}", safe_line(&self.state.filter));
        }
        if !self.state.show_all {
            text.push_str(" (running only)");
        }
        if self.stale && self.state.counts().1 > 0 {
            text.push_str(" (as last seen)");
        }
        Line::styled(text, self.theme.style(Role::Muted))
    }

    fn arrow(&self) -> &'static str {
        if self.state.descending { "↓" } else { "↑" }
    }

    fn empty(&self, area: Rect, buffer: &mut Buffer) {
        let filtered = self.state.counts().1 > 0;
        let lines: &[&str] = if filtered {
            &[
                "No sandbox passes the filter.",
                "Esc clears it; a shows stopped ones too.",
            ]
        } else if self.stale {
            &["No engine answers, so no sandbox is known."]
        } else {
            &[
                "No sandboxes yet.",
                "",
                "Press c to create one: Enter takes the defaults.",
                "Press ? for all keys.",
            ]
        };
        let rows = area.rows().skip(usize::from(area.height > 6));
        for (line, row) in lines.iter().zip(rows) {
            Line::styled(*line, self.theme.style(Role::Muted))
                .centered()
                .render(row, buffer);
        }
    }

    fn headings(&self, columns: &[(Column, usize)]) -> Line<'static> {
        let mut text = " ".repeat(MARK);
        for (column, width) in columns {
            let is_sorted = self.state.column == *column;
            let arrow = if is_sorted { self.arrow() } else { "" };
            let title = format!("{}{arrow}", column.title());
            let numbers = matches!(
                column,
                Column::Pids | Column::Age | Column::Idle | Column::Reap
            );
            text.push_str(&if numbers {
                pad_left(&title, *width)
            } else {
                pad(&title, *width)
            });
            text.push(' ');
        }
        Line::styled(text, self.theme.style(Role::Muted))
    }

    fn row(&self, row: &Row, columns: &[(Column, usize)]) -> Line<'static> {
        let is_marked = self.state.is_marked(&row.sandbox.reference);
        let mark = if is_marked { "*" } else { " " };
        let is_guarded = self.guards.raised(&row.sandbox.reference).next().is_some();
        let (guard, role) = if is_guarded {
            ("!", Role::Error)
        } else {
            (" ", Role::Marked)
        };
        let mut spans = vec![
            Span::styled(mark, self.theme.style(Role::Marked)),
            Span::styled(guard, self.theme.style(role)),
        ];
        for (column, width) in columns {
            spans.extend(self.cell(row, *column, *width));
            spans.push(Span::raw(" "));
        }
        Line::from(spans)
    }
}

impl Widget for SandboxesPane<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if self.state.shown().len() == 0 {
            return self.empty(area, buffer);
        }
        let columns = fit(usize::from(area.width), self.state.hidden());
        let mut rows = area.rows();
        if let Some(top) = rows.next() {
            self.headings(&columns).render(top, buffer);
        }
        let height = usize::from(area.height.saturating_sub(1));
        for ((at, row), line) in self.state.page(height).zip(rows) {
            self.row(row, &columns).render(line, buffer);
            if at == self.state.selected_index() {
                buffer.set_style(line, self.theme.style(Role::Selection));
            }
        }
    }
}
