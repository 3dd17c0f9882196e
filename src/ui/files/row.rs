//! One row of the list; what is less important goes first when it gets narrow.

use chrono::DateTime;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::theme::Role;
use super::FilesPane;
use crate::app::panes::files::is_hidden;
use crate::domain::{ChangeKind, FileEntry, FileKind};
use crate::text::{human, pad, pad_left, safe_line, truncate};

/// From these widths on a column is drawn.
const WITH_SIZE: usize = 20;
const WITH_AGE: usize = 40;
const WITH_MODE: usize = 46;

const SIZE_WIDTH: usize = 8;
const AGE_WIDTH: usize = 5;

impl FilesPane<'_> {
    pub(super) fn draw_row(
        &self,
        entry: &FileEntry,
        is_marked: bool,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let mark = if is_marked { '*' } else { ' ' };
        let width = usize::from(area.width);
        let cells = self.cells(entry, width.saturating_sub(1));
        let style = self.row_style(entry, is_marked);
        buffer.set_stringn(area.x, area.y, format!("{mark}{cells}"), width, style);
    }

    /// Writes the columns in exactly `width` columns.
    fn cells(&self, entry: &FileEntry, width: usize) -> String {
        let name = self.name(entry);
        let change = self.state.listing().kind_of(&entry.name);
        let name = match change {
            Some(kind) if width < WITH_MODE => format!("{} {name}", kind.letter()),
            _ => name,
        };
        let size = pad_left(&size(entry), SIZE_WIDTH);
        if width < WITH_SIZE {
            return pad(&name, width);
        }
        if width < WITH_AGE {
            return format!("{} {size}", pad(&name, width - SIZE_WIDTH - 1));
        }
        let age = pad_left(&self.age(entry), AGE_WIDTH);
        let mode = match (width, change) {
            (..WITH_MODE, _) => String::new(),
            (_, Some(kind)) => format!("{} ", pad(kind.word(), 7)),
            (_, None) => format!("{}{} ", letter(entry), human::permissions(entry.mode)),
        };
        pad(&format!("{mode}{size} {age} {name}"), width)
    }

    fn name(&self, entry: &FileEntry) -> String {
        let name = safe_line(&entry.name);
        let arrow = if self.theme.ascii { "->" } else { "→" };
        match &entry.kind {
            FileKind::Directory => name + "/",
            FileKind::Symlink { target } => format!("{name} {arrow} {}", safe_line(target)),
            FileKind::File | FileKind::Special => name,
        }
    }

    pub(super) fn age(&self, entry: &FileEntry) -> String {
        if is_unknown(entry) {
            return "-".to_owned();
        }
        let seconds = (self.now - entry.modified_at).num_seconds();
        // A clock may be wrong; what is from the future is new.
        human::age(seconds.try_into().unwrap_or(0))
    }

    fn row_style(&self, entry: &FileEntry, is_marked: bool) -> Style {
        let change = self.state.listing().kind_of(&entry.name);
        let role = match entry.kind {
            _ if is_marked => Role::Marked,
            _ if change == Some(ChangeKind::Deleted) => Role::Error,
            _ if change == Some(ChangeKind::Changed) => Role::Warn,
            _ if is_hidden(entry) => Role::Muted,
            FileKind::Directory => Role::Accent,
            FileKind::File | FileKind::Symlink { .. } | FileKind::Special => Role::Text,
        };
        self.style(role)
    }

    /// Returns the line above a preview, which says more about the file than its row.
    pub(super) fn headline(&self, entry: &FileEntry, size: &str, width: usize) -> String {
        let (name, age) = (safe_line(&entry.name), self.age(entry));
        let change = self.state.listing().kind_of(&entry.name);
        let line = match change {
            Some(kind) if is_unknown(entry) => format!("{name}: {}", kind.word()),
            Some(kind) => format!("{name}: {}, {size}, {age} old", kind.word()),
            None => format!("{name}: {size}, {}:{}, {age} old", entry.uid, entry.gid),
        };
        truncate(&line, width).into_owned()
    }
}

/// Writes what a size means for what has one.
pub(super) fn size(entry: &FileEntry) -> String {
    match entry.kind {
        _ if is_unknown(entry) => "-".to_owned(),
        FileKind::File | FileKind::Symlink { .. } => human::bytes(entry.size),
        FileKind::Directory | FileKind::Special => "-".to_owned(),
    }
}

/// Tells whether the engine told no more than that the file has changed.
fn is_unknown(entry: &FileEntry) -> bool {
    entry.modified_at == DateTime::UNIX_EPOCH && entry.mode == 0
}

fn letter(entry: &FileEntry) -> char {
    match entry.kind {
        FileKind::File => '-',
        FileKind::Directory => 'd',
        FileKind::Symlink { .. } => 'l',
        FileKind::Special => '?',
    }
}
