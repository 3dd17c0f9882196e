//! The line at the bottom: the mode, then what is going on, a message, or the keys that help here.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::{Role, Theme};
use super::widgets::meter;
use crate::app::input::hints;
use crate::app::pending::Progress;
use crate::app::{AppState, Tone};
use crate::keymap::pretty_chord;
use crate::text::{human, safe_line, truncate};

/// Cells of a progress bar at most.
const BAR: usize = 10;

const SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

/// Draws the line.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &AppState, theme: &Theme) {
    let mut spans = vec![
        Span::styled(
            format!(" {} ", state.mode().word()),
            theme.style(Role::Mode),
        ),
        Span::raw(" "),
    ];
    spans.extend(chord(state, theme));
    spans.extend(pending(state, theme, area.width));
    let used: usize = spans.iter().map(Span::width).sum();
    let left = usize::from(area.width).saturating_sub(used);
    match state.status.current() {
        Some(toast) => {
            let words = safe_line(&toast.text);
            let words = truncate(&words, left).into_owned();
            spans.push(Span::styled(words, theme.style(role_of(toast.tone))));
        }
        None => spans.extend(hints(state, theme, left)),
    }
    Line::from(spans).render(area, frame.buffer_mut());
}

/// Shows the keys of a chord that wait for the next one.
fn chord(state: &AppState, theme: &Theme) -> Option<Span<'static>> {
    let chord = &state.view.chord;
    let text = format!("{} …  ", pretty_chord(chord));
    (!chord.is_empty()).then(|| Span::styled(text, theme.style(Role::Key)))
}

fn role_of(tone: Tone) -> Role {
    match tone {
        Tone::Good => Role::Ok,
        Tone::Plain => Role::Text,
        Tone::Bad => Role::Error,
    }
}

/// Shows the oldest thing under way, with its time.
fn pending<'a>(state: &AppState, theme: &Theme, width: u16) -> Option<Span<'a>> {
    let oldest = state.pending.shown().next()?;
    let more = state.pending.shown().count() - 1;
    let seconds = (state.now - oldest.since).num_seconds().max(0);
    let turn = usize::try_from(seconds).unwrap_or(0) % SPINNER.len();
    let words = match &oldest.progress {
        Some(progress) => far(progress, usize::from(width / 8).min(BAR)),
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
fn far(progress: &Progress, cells: usize) -> String {
    let Progress { note, done, total } = progress;
    match total.filter(|total| *total > 0) {
        Some(total) => {
            let bar = meter(*done as f64 / total as f64, cells);
            let percent = done.saturating_mul(100) / total;
            format!("{note} {bar} {percent}% of {}", human::bytes(total))
        }
        None if *done > 0 => format!("{note} {}", human::bytes(*done)),
        None => note.clone(),
    }
}

fn hints(state: &AppState, theme: &Theme, columns: usize) -> Vec<Span<'static>> {
    let placed = hints::place(state, columns).into_iter();
    let spans = placed.flat_map(|hint| {
        let label = format!(" {}  ", hint.label);
        [
            Span::styled(hint.keys, theme.style(Role::Key)),
            Span::styled(label, theme.style(Role::Muted)),
        ]
    });
    spans.collect()
}
