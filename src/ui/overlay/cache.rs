//! The panel of installed packages.

use ratatui::Frame;
use ratatui::text::Line;

use crate::app::AppState;
use crate::app::cache::CachePanel;
use crate::app::layout::list_area;
use crate::domain::Stocked;
use crate::text::{human, pad, pad_left, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the panel.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, panel: &CachePanel) {
    let area = list_area(frame.area(), panel.all.len().max(1) + 3, 96);
    let title = "Installed packages: d removes, p removes what is old or too much, Esc closes";
    let inner = popup(frame, area, title, theme);
    let mut rows = inner.rows();
    let last = rows.next_back().unwrap_or(inner);
    let head = " KEY           LANGUAGE         SIZE   HITS   AGE  USED  PACKAGES";
    if let Some(place) = rows.next() {
        frame.render_widget(Line::styled(head, theme.style(Role::Muted)), place);
    }
    let lines = usize::from(inner.height).saturating_sub(2).max(1);
    let first = panel.at.saturating_sub(lines - 1);
    let shown = panel.all.iter().enumerate().skip(first).take(lines);
    for ((at, one), place) in shown.zip(rows) {
        let role = if one.expired { Role::Muted } else { Role::Text };
        frame.render_widget(Line::styled(line(state, one), theme.style(role)), place);
        if at == panel.at {
            let chosen = theme.style(Role::Selection);
            frame.buffer_mut().set_style(place, chosen);
        }
    }
    frame.render_widget(
        Line::styled(foot(state, panel), theme.style(Role::Muted)),
        last,
    );
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
