//! The preview of reaping: who would go and why.

use ratatui::Frame;
use ratatui::text::Line;

use super::lines::choose;
use crate::app::overlays::reap::{ReapPreview, ReapRow};
use crate::describe::verdict_words;
use crate::text::{human, pad, pad_left, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the preview.
pub(super) fn draw(frame: &mut Frame<'_>, theme: &Theme, preview: &ReapPreview) {
    let list_box = preview.place(frame.area());
    let title = "Reap: Space unticks, Enter removes, Esc leaves all";
    popup(frame, list_box.area, title, theme);
    let muted = theme.style(Role::Muted);
    if preview.rows.is_empty() {
        frame.render_widget(
            Line::styled("There are no sandboxes.", muted),
            list_box.body,
        );
    }
    choose(frame, &list_box, theme, |at| {
        Some(line(preview.rows.get(at)?, theme))
    });
    frame.render_widget(Line::styled(foot(preview), muted), list_box.note());
}

fn line(row: &ReapRow, theme: &Theme) -> Line<'static> {
    let (mark, role) = match row.ticked {
        Some(true) => ("[x]", Role::Warn),
        Some(false) => ("[ ]", Role::Text),
        None => ("   ", Role::Muted),
    };
    let idle = row.found.reap_status.idle();
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
        0 if preview.rows.is_empty() => String::new(),
        0 => "Each is looked at once more; what is used by then stays.".to_owned(),
        1 => "1 leftover volume goes with `sandtop reap`.".to_owned(),
        count => format!("{count} leftover volumes go with `sandtop reap`."),
    }
}
