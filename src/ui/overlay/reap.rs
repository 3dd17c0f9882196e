//! The preview of reaping: who would go and why.

use ratatui::Frame;
use ratatui::text::Line;

use crate::app::layout::list_area;
use crate::app::reap::{ReapPreview, ReapRow};
use crate::describe::verdict_words;
use crate::text::{human, pad, pad_left, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the preview.
pub(super) fn draw(frame: &mut Frame<'_>, theme: &Theme, preview: &ReapPreview) {
    let rows = preview.rows.len().max(1) + preview.leftovers.len();
    let title = "Reap: Space unticks, Enter removes the ticked, Esc leaves all";
    let area = list_area(frame.area(), rows + 2, 92);
    let inner = popup(frame, area, title, theme);
    let lines = inner.rows().count().saturating_sub(2).max(1);
    let first = preview.at.saturating_sub(lines - 1);
    if preview.rows.is_empty() {
        let words = Line::styled("There are no sandboxes.", theme.style(Role::Muted));
        frame.render_widget(words, inner);
    }
    let shown = preview.rows.iter().enumerate().skip(first).take(lines);
    for ((at, row), place) in shown.zip(inner.rows()) {
        frame.render_widget(line(row, theme), place);
        if at == preview.at {
            let chosen = theme.style(Role::Selection);
            frame.buffer_mut().set_style(place, chosen);
        }
    }
    let last = inner.rows().next_back().unwrap_or(inner);
    frame.render_widget(Line::styled(foot(preview), theme.style(Role::Muted)), last);
}

fn line(row: &ReapRow, theme: &Theme) -> Line<'static> {
    let (mark, role) = match row.ticked {
        Some(true) => ("[x]", Role::Warn),
        Some(false) => ("[ ]", Role::Text),
        None => ("   ", Role::Muted),
    };
    let idle = row.found.standing.idle();
    let idle = idle.map_or_else(|| "?".to_owned(), |idle| human::age(idle.as_secs()));
    let text = format!(
        " {mark} {} {}  {}",
        pad(&safe_line(&row.found.sandbox.name), 24),
        pad_left(&idle, 5),
        verdict_words(&row.found)
    );
    Line::styled(text, theme.style(role))
}

fn foot(preview: &ReapPreview) -> String {
    match preview.leftovers.len() {
        0 => "Before each goes, it is looked at once more; what is used by then stays.".to_owned(),
        count => format!("{count} leftover volumes go with `sandtop reap`."),
    }
}
