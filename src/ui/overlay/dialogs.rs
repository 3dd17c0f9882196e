//! Questions: yes or no, a line of text, an action by its name.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Wrap};

use crate::app::AppState;
use crate::app::overlay::{Ask, Confirm, Palette};
use crate::text::{display_width, pad, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws a yes or no.
pub(super) fn confirm(frame: &mut Frame<'_>, theme: &Theme, confirm: &Confirm) {
    let inner = popup(frame, 64, 8, &confirm.button, theme);
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
pub(super) fn ask(frame: &mut Frame<'_>, theme: &Theme, ask: &Ask) {
    let screen = frame.area();
    let row = Rect {
        y: screen.height.saturating_sub(1),
        height: screen.height.min(1),
        ..screen
    };
    frame.render_widget(ratatui::widgets::Clear, row);
    let label = format!(" {}: ", ask.question.label);
    let start = display_width(&label) + display_width(&ask.line.before_cursor());
    let line = Line::from(vec![
        Span::styled(label, theme.style(Role::Mode)),
        Span::raw(safe_line(ask.line.text())),
    ]);
    frame.render_widget(line, row);
    let column = u16::try_from(start)
        .unwrap_or(u16::MAX)
        .min(row.width.saturating_sub(1));
    frame.set_cursor_position(Position::new(column, row.y));
}

/// Draws the actions that were found.
pub(super) fn palette(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, palette: &Palette) {
    let inner = popup(
        frame,
        72,
        20,
        "Do what? Type a part of it, Enter does it",
        theme,
    );
    let read_only = state.settings.read_only;
    let found = palette.found(|action| !(read_only && action.mutates()));
    let mut rows = inner.rows();
    if let Some(row) = rows.next() {
        frame.render_widget(Line::raw(format!("> {}", palette.line.text())), row);
        let column = u16::try_from(2 + display_width(&palette.line.before_cursor())).unwrap_or(0);
        frame.set_cursor_position(Position::new(
            row.x + column.min(row.width.saturating_sub(1)),
            row.y,
        ));
    }
    let height = usize::from(inner.height.saturating_sub(1)).max(1);
    let first = palette.chosen.saturating_sub(height - 1);
    for ((at, action), row) in found.iter().enumerate().skip(first).zip(rows) {
        let keys = state
            .settings
            .keymap
            .keys_of(state.pane_context(), *action)
            .unwrap_or_default();
        let line = Line::from(vec![
            Span::raw(format!(" {}", pad(action.sentence(), 46))),
            Span::styled(keys, theme.style(Role::Key)),
        ]);
        frame.render_widget(line, row);
        if at == palette.chosen {
            frame
                .buffer_mut()
                .set_style(row, theme.style(Role::Selection));
        }
    }
}
