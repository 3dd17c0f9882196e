//! What a sandbox did to its files, after a word on how much and where it was looked for.

use ratatui::text::{Line, Span};

use crate::app::overlays::inspect::InspectState;
use crate::describe::changes_summary;
use crate::domain::{Change, ChangeKind, FileKind};
use crate::text::{human, pad_left, safe_line};
use crate::ui::theme::{Role, Theme};

/// Lists the changed files.
pub(super) fn lines(view: &InspectState, theme: &Theme) -> Vec<Line<'static>> {
    super::answer(&view.changes, theme, |changes| {
        let muted = |text: String| Line::styled(text, theme.style(Role::Muted));
        let summary = changes_summary(changes).into_iter().map(muted);
        let files = changes.files.iter().map(|change| line(change, theme));
        summary.chain([Line::default()]).chain(files).collect()
    })
}

fn line(change: &Change, theme: &Theme) -> Line<'static> {
    let (size, slash) = match &change.now {
        Some(now) if now.kind == FileKind::Directory => (String::new(), "/"),
        Some(now) => (human::bytes(now.size), ""),
        None => (String::new(), ""),
    };
    let role = match change.kind {
        ChangeKind::Added => Role::Ok,
        ChangeKind::Changed => Role::Warn,
        ChangeKind::Deleted => Role::Error,
    };
    let path = safe_line(change.path.as_bytes());
    Line::from(vec![
        Span::styled(format!("{} ", change.kind.letter()), theme.style(role)),
        Span::styled(pad_left(&size, 10), theme.style(Role::Muted)),
        Span::styled(format!("  {path}{slash}"), theme.style(Role::Text)),
    ])
}
