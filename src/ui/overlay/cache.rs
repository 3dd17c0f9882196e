//! The panel of installed packages.

use ratatui::Frame;
use ratatui::text::Line;

use super::lines::choose;
use crate::app::AppState;
use crate::app::overlays::packages::PackagesPanel;
use crate::domain::CachedPackages;
use crate::text::{human, pad, pad_left, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

const HEAD: &str = " KEY           LANGUAGE         SIZE   HITS   AGE  USED  PACKAGES";
const SHORT_HEAD: &str = " LANGUAGE         SIZE  USED  PACKAGES";
/// From this width on, all columns leave room for the names of packages.
const ROOMY: u16 = 76;

/// Draws the panel.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, panel: &PackagesPanel) {
    let list_box = panel.place(frame.area());
    let title = "Packages: d removes, p clears out the old, Esc closes";
    popup(frame, list_box.area, title, theme);
    let is_roomy = list_box.body.width >= ROOMY;
    let head = if is_roomy { HEAD } else { SHORT_HEAD };
    let muted = theme.style(Role::Muted);
    frame.render_widget(Line::styled(head, muted), list_box.head);
    choose(frame, &list_box, theme, |at| {
        let one = panel.all.get(at)?;
        let role = if one.expired { Role::Muted } else { Role::Text };
        Some(Line::styled(line(state, one, is_roomy), theme.style(role)))
    });
    frame.render_widget(Line::styled(foot(state, panel), muted), list_box.note());
}

fn line(state: &AppState, one: &CachedPackages, is_roomy: bool) -> String {
    let since = |then| {
        let span: chrono::TimeDelta = state.now - then;
        human::age(u64::try_from(span.num_seconds()).unwrap_or(0))
    };
    let key = one.set.key.get(..12).unwrap_or(&one.set.key);
    let expired = if one.expired { "expired: " } else { "" };
    let language = pad(&safe_line(&one.set.language), 10);
    let size = pad_left(&human::bytes(one.set.size_bytes), 10);
    let used = pad_left(&since(one.used_at), 5);
    let packages = safe_line(one.set.packages.join(" "));
    if !is_roomy {
        return format!(" {language} {size} {used}  {expired}{packages}");
    }
    let (hits, age) = (human::count(one.hits), since(one.set.made_at));
    let (hits, age) = (pad_left(&hits, 6), pad_left(&age, 5));
    format!(" {key}  {language} {size} {hits} {age} {used}  {expired}{packages}")
}

fn foot(state: &AppState, panel: &PackagesPanel) -> String {
    if panel.all.is_empty() {
        return "Nothing is kept. A run installs what its code imports.".to_owned();
    }
    let total: u64 = panel.all.iter().map(|one| one.set.size_bytes).sum();
    let limit = state.settings.config.deps.size_limit;
    format!("{} of {}", human::bytes(total), human::bytes(limit))
}
