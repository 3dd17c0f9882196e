//! What happened to sandboxes, newest first.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::text::{Line, Span};

use super::lines::{role_of, show};
use crate::app::AppState;
use crate::app::geometry::layout::events_area;
use crate::app::overlays::inspect::InspectState;
use crate::describe::{event_detail, event_mood};
use crate::domain::EngineEvent;
use crate::text::{pad, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Columns of a sandbox's name.
const NAME: usize = 16;

/// Draws what happened to all sandboxes.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, scroll: usize) {
    let area = events_area(frame.area());
    let inner = popup(frame, area, "What happened, newest first", theme);
    let all = state.engine.events(None);
    let lines = lines(&all, state.now, theme, Some(NAME));
    show(frame, inner, theme, lines, scroll);
}

/// Tells what happened to one sandbox.
pub(super) fn of_one(state: &AppState, theme: &Theme, view: &InspectState) -> Vec<Line<'static>> {
    let own = state.engine.events(Some(&view.sandbox));
    lines(&own, state.now, theme, None)
}

fn lines(
    events: &[EngineEvent],
    now: DateTime<Utc>,
    theme: &Theme,
    name: Option<usize>,
) -> Vec<Line<'static>> {
    let lines: Vec<Line<'static>> = events
        .iter()
        .map(|event| line(event, now, theme, name))
        .collect();
    if lines.is_empty() {
        let words = "Nothing has happened, as far as the engine remembers.";
        return vec![Line::styled(words, theme.style(Role::Muted))];
    }
    lines
}

fn line(
    event: &EngineEvent,
    now: DateTime<Utc>,
    theme: &Theme,
    name: Option<usize>,
) -> Line<'static> {
    let format = if event.at.date_naive() == now.date_naive() {
        "%H:%M:%S"
    } else {
        "%m-%d %H:%M"
    };
    let when = pad(&event.at.format(format).to_string(), 12);
    let mut spans = vec![Span::styled(when, theme.style(Role::Muted))];
    if let Some(width) = name {
        let name = format!("{} ", pad(&safe_line(&event.name), width));
        spans.push(Span::styled(name, theme.style(Role::Accent)));
    }
    let role = role_of(event_mood(&event.what));
    let word = pad(event.what.word(), 11);
    spans.push(Span::styled(word, theme.style(role)));
    let detail = event_detail(&event.what);
    spans.push(Span::styled(detail, theme.style(Role::Text)));
    Line::from(spans)
}
