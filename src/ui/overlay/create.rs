//! The form for a new sandbox.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use crate::app::form::{CreateForm, Field};
use crate::text::{display_width, pad, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Cells before what is typed.
const LABEL: usize = 13;

/// Draws the form.
pub(super) fn draw(frame: &mut Frame<'_>, theme: &Theme, form: &CreateForm) {
    let height = u16::try_from(form.fields.len() + 5).unwrap_or(20);
    let inner = popup(frame, 74, height, "New sandbox", theme);
    for ((at, field), row) in form.fields.iter().enumerate().zip(inner.rows()) {
        draw_field(frame, theme, field, row, at == form.at);
    }
    let last = inner.bottom().saturating_sub(2);
    let below = |y: u16| Rect {
        y,
        height: inner.height.min(1),
        ..inner
    };
    if let Some(problem) = &form.problem {
        frame.render_widget(
            Line::styled(safe_line(problem), theme.style(Role::Error)),
            below(last),
        );
    }
    let keys = Line::from(vec![
        Span::styled("Enter", theme.style(Role::Key)),
        Span::styled(" create  ", theme.style(Role::Muted)),
        Span::styled("Tab", theme.style(Role::Key)),
        Span::styled(" next field  ", theme.style(Role::Muted)),
        Span::styled("Esc", theme.style(Role::Key)),
        Span::styled(" cancel", theme.style(Role::Muted)),
    ]);
    frame.render_widget(keys, below(last + 1));
}

fn draw_field(frame: &mut Frame<'_>, theme: &Theme, field: &Field, row: Rect, has_keys: bool) {
    let typed = field.line.text();
    let label = theme.style(if has_keys { Role::Accent } else { Role::Text });
    let mut spans = vec![Span::styled(pad(field.label, LABEL), label)];
    if typed.is_empty() {
        let hint = if has_keys {
            format!("{}  ({})", field.default, field.hint)
        } else {
            field.default.clone()
        };
        spans.push(Span::styled(safe_line(hint), theme.style(Role::Muted)));
    } else {
        spans.push(Span::styled(safe_line(&typed), theme.style(Role::Text)));
    }
    frame.render_widget(Line::from(spans), row);
    if has_keys {
        let column = LABEL + display_width(&field.line.before_cursor());
        let column = u16::try_from(column)
            .unwrap_or(0)
            .min(row.width.saturating_sub(1));
        frame.set_cursor_position(Position::new(row.x + column, row.y));
    }
}
