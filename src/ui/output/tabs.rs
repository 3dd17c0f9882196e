//! The tabs of the runs, for the frame of the pane.

use ratatui::text::{Line, Span};

use super::{OutputPane, Role, sign};
use crate::app::panes::output::{Run, tab_text};
use crate::domain::StreamId;
use crate::text::{display_width, truncate};

/// Returns the tabs that fit, the selected one among them.
pub(super) fn line(pane: &OutputPane<'_>, columns: usize) -> Line<'static> {
    let runs = pane.state.runs();
    let selected = pane.state.current().map(|run| run.info().stream);
    let first = pane.state.first_tab(columns, pane.now);
    let (mut spans, mut room) = (Vec::new(), columns);
    if first > 0 {
        push(&mut spans, &mut room, &pane.span("<", Role::Muted));
    }
    for run in runs.iter().skip(first) {
        let text = tab(pane, run);
        let role = role(pane, run, selected);
        push(&mut spans, &mut room, &pane.span(&text, role));
    }
    Line::from(spans)
}

impl OutputPane<'_> {
    fn span(&self, text: &str, role: Role) -> Span<'static> {
        Span::styled(text.to_owned(), self.theme.style(role))
    }
}

/// Adds a span, cut to the room that is left.
fn push(spans: &mut Vec<Span<'static>>, room: &mut usize, span: &Span<'static>) {
    let text = truncate(&span.content, *room).into_owned();
    *room = room.saturating_sub(display_width(&text));
    if !text.is_empty() {
        spans.push(Span::styled(text, span.style));
    }
}

fn role(pane: &OutputPane<'_>, run: &Run, selected: Option<StreamId>) -> Role {
    match (Some(run.info().stream) == selected, pane.focused) {
        (true, true) => Role::Selection,
        (true, false) => Role::Accent,
        (false, _) => Role::Muted,
    }
}

fn tab(pane: &OutputPane<'_>, run: &Run) -> String {
    let (sign, _) = sign(run.status().health());
    tab_text(run, sign, pane.now)
}
