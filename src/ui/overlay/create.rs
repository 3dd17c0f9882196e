//! The form for a new sandbox.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::lines::fit;
use crate::app::geometry::layout::form_area;
use crate::app::overlays::create_form::{CreateForm, Field};
use crate::text::{display_width, pad, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Cells before what is typed.
const LABEL: usize = 13;

/// Cells for what is said of a choice.
const NOTE: usize = 20;

/// Draws the form.
pub(super) fn draw(frame: &mut Frame<'_>, theme: &Theme, form: &CreateForm) {
    let area = form_area(frame.area(), form.fields.len());
    popup(frame, area, "New sandbox", theme);
    let [_, _, problem, keys] = form.parts(frame.area());
    draw_choices(frame, theme, form);
    let rows = form.field_box(frame.area()).rows();
    for (field, (at, row)) in form.fields.iter().zip(rows) {
        draw_field(frame, theme, field, row, at == form.at);
        if field.label == "image" {
            draw_presence(frame, theme, form, row);
        }
    }
    if let Some(text) = &form.problem {
        let words = Line::styled(safe_line(text), theme.style(Role::Error));
        frame.render_widget(fit(words, problem.width), problem);
    }
    frame.render_widget(keys_line(theme, form), keys);
}

fn keys_line(theme: &Theme, form: &CreateForm) -> Line<'static> {
    let picks = !form.choices().is_empty();
    let arrows = if picks { "pick" } else { "move" };
    let keys = [
        ("Enter", "create"),
        ("Tab", "next field"),
        ("Up/Down", arrows),
        ("Esc", "cancel"),
    ];
    let spans = keys.into_iter().flat_map(|(key, word)| {
        [
            Span::styled(key, theme.style(Role::Key)),
            Span::styled(format!(" {word}  "), theme.style(Role::Muted)),
        ]
    });
    spans.collect()
}

/// Lists what can be picked, with what is picked in sight.
fn draw_choices(frame: &mut Frame<'_>, theme: &Theme, form: &CreateForm) {
    let list_box = form.choice_box(frame.area());
    let (choices, picked) = (form.choices(), form.picked());
    let widest = choices
        .iter()
        .map(|choice| display_width(&choice.value))
        .max();
    let room = usize::from(list_box.body.width).saturating_sub(LABEL + NOTE + 2);
    let width = widest.unwrap_or(0).min(room);
    for (choice, (at, row)) in choices.iter().skip(list_box.first()).zip(list_box.rows()) {
        let role = if Some(at) == picked {
            Role::Selection
        } else {
            Role::Text
        };
        let name = pad(&safe_line(&choice.value), width);
        let line = Line::from(vec![
            Span::raw(" ".repeat(LABEL)),
            Span::styled(name, theme.style(role)),
            Span::styled(
                format!("  {}", safe_line(&choice.note)),
                theme.style(Role::Muted),
            ),
        ]);
        frame.render_widget(line, row);
    }
}

/// Says at the end of the row whether the image needs a pull.
fn draw_presence(frame: &mut Frame<'_>, theme: &Theme, form: &CreateForm, row: Rect) {
    let (words, role) = match form.is_image_here() {
        Some(true) => ("available locally", Role::Ok),
        Some(false) => ("will be pulled", Role::Warn),
        None => return,
    };
    let words = Line::styled(words, theme.style(role)).right_aligned();
    frame.render_widget(words, row);
}

/// Draws one field; the one with the keys shows the cursor.
pub(super) fn draw_field(
    frame: &mut Frame<'_>,
    theme: &Theme,
    field: &Field,
    row: Rect,
    has_keys: bool,
) {
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
