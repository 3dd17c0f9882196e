//! The tabs of the runs, for the frame of the pane.

use ratatui::text::{Line, Span};

use super::foot::took;
use super::{OutputPane, Role, sign};
use crate::app::output::Run;
use crate::domain::StreamId;
use crate::text::{display_width, truncate};

/// The columns of a title; longer ones are cut.
const LONGEST_TITLE: usize = 24;

/// Room for the signs that say that there are more tabs.
const MORE: usize = 2;

/// Returns the tabs that fit, the selected one among them.
pub(super) fn line(pane: &OutputPane<'_>, columns: usize) -> Line<'static> {
    let runs = pane.state.runs();
    let selected = pane.state.current().map(|run| run.info().stream);
    let Some(at) = runs
        .iter()
        .position(|run| Some(run.info().stream) == selected)
    else {
        return Line::default();
    };
    let tabs: Vec<String> = runs.iter().map(|run| tab(pane, run)).collect();
    let first = first_tab(&tabs, at, columns);
    let (mut spans, mut room) = (Vec::new(), columns);
    if first > 0 {
        push(&mut spans, &mut room, &pane.span("<", Role::Muted));
    }
    for (run, text) in runs.iter().zip(tabs).skip(first) {
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

/// Returns the first tab with which the selected one still fits.
fn first_tab(tabs: &[String], selected: usize, columns: usize) -> usize {
    let all = tabs.iter().map(|tab| display_width(tab));
    if all.sum::<usize>() <= columns {
        return 0;
    }
    let mut used = MORE;
    let before = tabs.iter().take(selected + 1).rev();
    let fitting = before.take_while(|tab| {
        used = used.saturating_add(display_width(tab));
        used <= columns
    });
    (selected + 1).saturating_sub(fitting.count().max(1))
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
    let (sign, _) = sign(run.status().standing(), pane.theme);
    let title = truncate(&run.info().title, LONGEST_TITLE);
    let words = run.status().short_words();
    if run.is_running() {
        return format!(" {title} {sign} {words} {} ", took(run.took(pane.now)));
    }
    format!(" {title} {sign} {words} ")
}
