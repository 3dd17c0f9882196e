//! The line on top: what this is, the engine and how it stands, counts, the clock.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::{Role, Theme};
use crate::app::AppState;
use crate::protocol::Link;
use crate::text::{human, safe_line};

/// Tells whether no host answers.
pub(super) fn is_down(state: &AppState) -> bool {
    !state.links.is_empty()
        && state
            .links
            .values()
            .all(|link| matches!(link, Link::Down { .. }))
}

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
    Line::from(spans).render(left, frame.buffer_mut());
    Line::styled(clock, theme.style(Role::Muted)).render(right, frame.buffer_mut());
}

fn link_spans<'a>(state: &AppState, theme: &Theme) -> Vec<Span<'a>> {
    let Some(link) = state.links.values().next() else {
        return vec![Span::styled("connecting…", theme.style(Role::Muted))];
    };
    match link {
        Link::Up(info) => {
            let text = format!(
                "{} {} at {}",
                info.kind,
                safe_line(&info.version),
                safe_line(&info.endpoint)
            );
            vec![
                Span::styled("● ", theme.style(Role::Ok)),
                Span::styled(text, theme.style(Role::Muted)),
            ]
        }
        Link::Down {
            why,
            since,
            retry_in,
        } => {
            let down = u64::try_from((state.now - *since).num_seconds()).unwrap_or(0);
            let text = format!(
                "✗ no engine for {}: {} (next try in {})",
                human::age(down),
                safe_line(&why.message),
                human::duration(*retry_in)
            );
            vec![Span::styled(text, theme.style(Role::Error))]
        }
    }
}
