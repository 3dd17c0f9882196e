//! The line at the bottom: the mode, then what is going on, a message, or the keys that help here.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::{Role, Theme};
use super::widgets::meter;
use crate::app::pending::Progress;
use crate::app::{AppState, Tone};
use crate::text::{human, safe_line};

/// Cells of a progress bar.
const BAR: usize = 10;

const SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

/// Draws the line.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &AppState, theme: &Theme) {
    let mut spans = vec![
        Span::styled(
            format!(" {} ", state.view.mode.word()),
            theme.style(Role::Mode),
        ),
        Span::raw(" "),
    ];
    spans.extend(pending(state, theme));
    match state.status.current() {
        Some(toast) => spans.push(Span::styled(
            safe_line(&toast.text),
            theme.style(role_of(toast.tone)),
        )),
        None => spans.extend(hints(state, theme)),
    }
    Line::from(spans).render(area, frame.buffer_mut());
}

fn role_of(tone: Tone) -> Role {
    match tone {
        Tone::Good => Role::Ok,
        Tone::Plain => Role::Text,
        Tone::Bad => Role::Error,
    }
}

/// Shows the oldest thing under way, with its time.
fn pending<'a>(state: &AppState, theme: &Theme) -> Option<Span<'a>> {
    let oldest = state.pending.shown().next()?;
    let more = state.pending.shown().count() - 1;
    let seconds = (state.now - oldest.since).num_seconds().max(0);
    let turn = usize::try_from(seconds).unwrap_or(0) % SPINNER.len();
    let words = match &oldest.progress {
        Some(progress) => far(progress, theme),
        None => oldest.label.clone(),
    };
    let others = if more > 0 {
        format!(" +{more}")
    } else {
        String::new()
    };
    let text = format!(
        "{} {} {seconds} s{others}  ",
        SPINNER.get(turn).unwrap_or(&""),
        safe_line(&words)
    );
    Some(Span::styled(text, theme.style(Role::Warn)))
}

/// Says how far something is, with a bar where the end is known.
#[allow(clippy::cast_precision_loss)] // A bar needs no exact bytes.
fn far(progress: &Progress, theme: &Theme) -> String {
    let Progress { note, done, total } = progress;
    match total.filter(|total| *total > 0) {
        Some(total) => {
            let bar = meter(*done as f64 / total as f64, BAR, theme.ascii);
            let percent = done.saturating_mul(100) / total;
            format!("{note} {bar} {percent}% of {}", human::bytes(total))
        }
        None if *done > 0 => format!("{note} {}", human::bytes(*done)),
        None => note.clone(),
    }
}

fn hints<'a>(state: &AppState, theme: &Theme) -> Vec<Span<'a>> {
    let mut spans = Vec::new();
    for hint in state.settings.keymap.hints(state.context()) {
        spans.push(Span::styled(hint.keys.clone(), theme.style(Role::Key)));
        spans.push(Span::styled(
            format!(" {}  ", hint.label),
            theme.style(Role::Muted),
        ));
    }
    spans
}
