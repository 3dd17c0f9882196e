//! The line on top: what this is, the engine and how it stands, counts, the clock.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::{Role, Theme};
use crate::app::AppState;
use crate::protocol::Link;
use crate::text::{display_width, safe_line, truncate};

/// Draws the line.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &AppState, theme: &Theme) {
    let clock = format!("{} UTC ", state.now.format("%H:%M:%S"));
    let width = u16::try_from(clock.len()).unwrap_or(0).min(area.width);
    let left = Rect {
        width: area.width - width,
        ..area
    };
    let right = Rect {
        x: area.x + left.width,
        width,
        ..area
    };
    let mut spans = vec![Span::styled(" sandtop ", theme.style(Role::Accent))];
    if state.settings.demo {
        spans.push(Span::styled(
            "DEMO: nothing here is real ",
            theme.style(Role::Warn),
        ));
    }
    if state.settings.read_only {
        spans.push(Span::styled("READ-ONLY ", theme.style(Role::Warn)));
    }
    let (running, all) = state.sandboxes.counts();
    let most = state.settings.config.manager.max_sandboxes;
    let counts = format!("{running} running, {all} of {most}  ");
    spans.push(Span::styled(counts, theme.style(Role::Text)));
    spans.extend(link_spans(state, theme));
    cut(spans, usize::from(left.width).saturating_sub(1)).render(left, frame.buffer_mut());
    Line::styled(clock, theme.style(Role::Muted)).render(right, frame.buffer_mut());
}

/// Cuts what does not fit, and shows that it did.
fn cut(spans: Vec<Span<'_>>, columns: usize) -> Line<'static> {
    let mut left = columns;
    let fitting = spans.into_iter().map_while(|span| {
        let words = truncate(&span.content, left).into_owned();
        left -= display_width(&words);
        (!words.is_empty()).then(|| Span::styled(words, span.style))
    });
    fitting.collect()
}

fn link_spans<'a>(state: &AppState, theme: &Theme) -> Vec<Span<'a>> {
    let Some(known) = state.engine.links().next() else {
        return vec![Span::styled("connecting…", theme.style(Role::Muted))];
    };
    match &known.link {
        Link::Up(info) => {
            let endpoint = safe_line(&info.endpoint);
            let text = if state.settings.demo {
                endpoint
            } else {
                format!("{} {} at {endpoint}", info.kind, safe_line(&info.version))
            };
            vec![
                Span::styled("● ", theme.style(Role::Ok)),
                Span::styled(text, theme.style(Role::Muted)),
            ]
        }
        Link::Down { why, .. } => {
            let text = format!("✗ no engine: {}", safe_line(&why.message));
            vec![Span::styled(text, theme.style(Role::Error))]
        }
    }
}
