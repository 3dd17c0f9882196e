//! Questions: yes or no, a line of text, an action by its name.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Wrap};

use super::lines::choose;
use crate::app::geometry::layout::confirm_area;
use crate::app::overlays::confirm::Confirm;
use crate::app::overlays::palette::Palette;
use crate::app::overlays::prompt::PromptState;
use crate::app::{AppState, PromptKind};
use crate::text::{display_width, pad, safe_line, truncate};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// The most rows of names that are offered.
const OFFER_ROWS: usize = 6;

/// What the key does that nobody would try otherwise.
const TAB_HINT: &str = "Tab completes ";

/// The same where a path may be a pattern.
const MANY_HINT: &str = "Tab completes, * copies many ";

/// Draws a yes or no.
pub(super) fn confirm(frame: &mut Frame<'_>, theme: &Theme, confirm: &Confirm) {
    let area = confirm_area(frame.area());
    let inner = popup(frame, area, &confirm.button, theme);
    let question =
        Paragraph::new(Text::raw(safe_line(&confirm.question))).wrap(Wrap { trim: true });
    let rows = Rect {
        height: inner.height.saturating_sub(1),
        ..inner
    };
    frame.render_widget(question, rows);
    let button = |word: &str, chosen: bool| {
        Span::styled(
            format!("[ {word} ]"),
            theme.style(if chosen { Role::Selection } else { Role::Text }),
        )
    };
    let line = Line::from(vec![
        button("Cancel", !confirm.chosen),
        Span::raw("  "),
        button(&confirm.button, confirm.chosen),
        Span::styled("   y yes  n no  Tab choose", theme.style(Role::Muted)),
    ]);
    frame.render_widget(
        line,
        Rect {
            y: inner.bottom().saturating_sub(1),
            height: inner.height.min(1),
            ..inner
        },
    );
}

/// Draws a line of text that is asked for, at the bottom of the screen.
pub(super) fn ask(frame: &mut Frame<'_>, theme: &Theme, ask: &PromptState) {
    let screen = frame.area();
    let row = Rect {
        y: screen.height.saturating_sub(1),
        height: screen.height.min(1),
        ..screen
    };
    frame.render_widget(ratatui::widgets::Clear, row);
    let label = format!(" {}: ", ask.prompt.label);
    let label = truncate(&label, usize::from(row.width / 2)).into_owned();
    let before = safe_line(ask.line.before_cursor());
    let room = usize::from(row.width).saturating_sub(display_width(&label) + 1);
    let shown = tail(&before, room);
    let start = display_width(&label) + display_width(shown);
    let all = safe_line(ask.line.text());
    let after = all.get(before.len()..).unwrap_or_default();
    let line = Line::from(vec![
        Span::styled(label, theme.style(Role::Mode)),
        Span::raw(format!("{shown}{after}")),
    ]);
    frame.render_widget(line, row);
    let column = u16::try_from(start)
        .unwrap_or(u16::MAX)
        .min(row.width.saturating_sub(1));
    frame.set_cursor_position(Position::new(column, row.y));
    offers(frame, theme, &ask.offers, row);
    let used = start + display_width(after) + 2;
    let hint = match ask.prompt.kind {
        PromptKind::Upload => MANY_HINT,
        _ => TAB_HINT,
    };
    if ask.prompt.kind.is_host_path() && used + display_width(hint) <= usize::from(row.width) {
        let hint = Line::styled(hint, theme.style(Role::Muted)).right_aligned();
        let x = u16::try_from(used).unwrap_or(u16::MAX).min(row.width);
        let rest = Rect {
            x: row.x + x,
            width: row.width - x,
            ..row
        };
        frame.render_widget(hint, rest);
    }
}

/// Returns the end of a text that fits.
fn tail(text: &str, room: usize) -> &str {
    let starts = text.char_indices().map(|(at, _)| at);
    let fitting = starts.filter_map(|at| text.get(at..));
    let mut fitting = fitting.skip_while(|rest| display_width(rest) > room);
    fitting.next().unwrap_or_default()
}

/// Draws what a path may become, in the rows above the line.
fn offers(frame: &mut Frame<'_>, theme: &Theme, offers: &[String], below: Rect) {
    if offers.is_empty() {
        return;
    }
    let width = usize::from(below.width).saturating_sub(1);
    let mut lines = vec![String::new()];
    for (at, offer) in offers.iter().enumerate() {
        let offer = truncate(&safe_line(offer), width).into_owned();
        let is_full = lines.last().is_some_and(|line| {
            !line.is_empty() && display_width(line) + 2 + display_width(&offer) > width
        });
        if is_full && lines.len() == OFFER_ROWS {
            let more = format!("  … {} more", offers.len() - at);
            lines
                .last_mut()
                .into_iter()
                .for_each(|line| line.push_str(&more));
            break;
        }
        match lines.last_mut().filter(|_| !is_full) {
            Some(line) if line.is_empty() => *line = format!(" {offer}"),
            Some(line) => *line = format!("{line}  {offer}"),
            None => lines.push(format!(" {offer}")),
        }
    }
    let height = u16::try_from(lines.len()).unwrap_or(1).min(below.y);
    let area = Rect {
        y: below.y - height,
        height,
        ..below
    };
    frame.render_widget(ratatui::widgets::Clear, area);
    for (line, row) in lines.into_iter().zip(area.rows()) {
        frame.render_widget(Line::styled(line, theme.style(Role::Accent)), row);
    }
}

/// Draws the actions that were found.
pub(super) fn palette(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, palette: &Palette) {
    let found = palette.found(state.settings.read_only);
    let list_box = palette.place(frame.area(), found.len());
    let title = "Do what? Type a part of it, Enter does it";
    popup(frame, list_box.area, title, theme);
    let row = list_box.head;
    frame.render_widget(Line::raw(format!("> {}", palette.line.text())), row);
    let column = u16::try_from(2 + display_width(&palette.line.before_cursor())).unwrap_or(0);
    frame.set_cursor_position(Position::new(
        row.x + column.min(row.width.saturating_sub(1)),
        row.y,
    ));
    if found.is_empty() {
        let words = Line::styled("Nothing is called so.", theme.style(Role::Muted));
        frame.render_widget(words, list_box.body);
    }
    choose(frame, &list_box, theme, |at| {
        let action = found.get(at)?;
        let keys = state
            .settings
            .keymap
            .keys_of(state.pane_context(), *action)
            .unwrap_or_default();
        Some(Line::from(vec![
            Span::raw(format!(" {}", pad(action.sentence(), 46))),
            Span::styled(keys, theme.style(Role::Key)),
        ]))
    });
}
