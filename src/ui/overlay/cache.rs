//! The panel of installed packages.

use ratatui::Frame;
use ratatui::text::Line;

use super::lines::choose;
use crate::app::AppState;
use crate::app::cache::CachePanel;
use crate::domain::Stocked;
use crate::text::{human, pad, pad_left, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the panel.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, panel: &CachePanel) {
    let sheet = panel.sheet(frame.area());
    let title = "Packages: d removes, p clears out the old, Esc closes";
    popup(frame, sheet.area, title, theme);
    let head = " KEY           LANGUAGE         SIZE   HITS   AGE  USED  PACKAGES";
    let muted = theme.style(Role::Muted);
    frame.render_widget(Line::styled(head, muted), sheet.head);
    choose(frame, &sheet, theme, |at| {
        let one = panel.all.get(at)?;
        let role = if one.expired { Role::Muted } else { Role::Text };
        Some(Line::styled(line(state, one), theme.style(role)))
    });
    frame.render_widget(Line::styled(foot(state, panel), muted), sheet.note());
}

fn line(state: &AppState, one: &Stocked) -> String {
    let since = |then| {
        let span: chrono::TimeDelta = state.now - then;
        human::age(u64::try_from(span.num_seconds()).unwrap_or(0))
    };
    let key = one.shelf.key.get(..12).unwrap_or(&one.shelf.key);
    let expired = if one.expired { "expired: " } else { "" };
    format!(
        " {key}  {} {} {} {} {}  {expired}{}",
        pad(&safe_line(&one.shelf.language), 10),
        pad_left(&human::bytes(one.shelf.size_bytes), 10),
        pad_left(&human::count(one.hits), 6),
        pad_left(&since(one.shelf.made_at), 5),
        pad_left(&since(one.used_at), 5),
        safe_line(one.shelf.packages.join(" "))
    )
}

fn foot(state: &AppState, panel: &CachePanel) -> String {
    if panel.all.is_empty() {
        return "Nothing is kept. A run installs what its code imports.".to_owned();
    }
    let total: u64 = panel.all.iter().map(|one| one.shelf.size_bytes).sum();
    let limit = state.settings.config.deps.size_limit;
    format!("{} of {}", human::bytes(total), human::bytes(limit))
}
