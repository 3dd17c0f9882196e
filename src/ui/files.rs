//! Draws the files pane: the rows of a folder and a look into the selected file.
//!
//! ```text
//! *-rw-r--r--  1.5 KiB   3d main.py     │main.py: 1.5 KiB, 1000:1000, 3d old
//!  lrwxrwxrwx      7 B   3d data → /mnt │import sys
//! ```

mod peek;
mod row;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::theme::{Role, Theme};
use crate::app::geometry::layout::files_areas;
use crate::app::panes::files::FilesState;
use crate::protocol::{Failure, FailureKind};
use crate::text::safe_line;

/// How long a listing may take before the pane says that it waits.
const PATIENCE_MS: i64 = 200;

/// The files pane, without its border.
#[derive(Debug, Clone, Copy)]
pub struct FilesPane<'a> {
    /// What to draw.
    pub state: &'a FilesState,
    /// How it looks.
    pub theme: &'a Theme,
    /// Whether the pane has the keys.
    pub focused: bool,
    /// The time, for ages and waiting.
    pub now: DateTime<Utc>,
}

impl FilesPane<'_> {
    /// Returns what the border says: where it is, how much there is, and what narrows it.
    #[must_use]
    pub fn title(&self) -> String {
        let Some(place) = self.state.place() else {
            return String::new();
        };
        let name = safe_line(&place.name);
        let mut title = if self.state.shows_changes() {
            format!("{name}: changed since creation")
        } else {
            format!("{name}:{}", safe_line(place.folder.as_bytes()))
        };
        if self.state.is_listed() {
            title.push_str(&self.counts());
        }
        if self.has_waited() {
            title.push_str(" loading");
        }
        title
    }

    fn counts(&self) -> String {
        let listing = self.state.listing();
        let filter = match listing.filter() {
            "" => format!(" ({})", listing.len()),
            text => format!(" ({}) /{}", listing.len(), safe_line(text)),
        };
        match listing.marked_count() {
            0 => filter,
            marked => format!("{filter} {marked} marked"),
        }
    }

    fn has_waited(&self) -> bool {
        let since = self.state.waiting_since();
        since.is_some_and(|since| (self.now - since).num_milliseconds() >= PATIENCE_MS)
    }

    fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Returns what is said instead of rows.
    fn notice(&self) -> Option<Text<'static>> {
        let Some(place) = self.state.place() else {
            return Some(self.quiet("Select a running sandbox to see its files."));
        };
        if let Some(failure) = self.state.failure() {
            return Some(self.explain(failure, &safe_line(&place.name)));
        }
        if !self.state.is_listed() {
            let words = if self.has_waited() { "Loading…" } else { "" };
            return Some(self.quiet(words));
        }
        self.state
            .listing()
            .is_empty()
            .then(|| self.quiet(self.why_empty()))
    }

    fn why_empty(&self) -> &'static str {
        let listing = self.state.listing();
        match listing.total() {
            0 if self.state.shows_changes() => "Nothing has changed. c shows the folder again.",
            0 => "This folder is empty.",
            _ if listing.filter().is_empty() => "All files here are hidden.",
            _ => "No file matches the filter.",
        }
    }

    fn explain(&self, failure: &Failure, name: &str) -> Text<'static> {
        if failure.kind == FailureKind::Conflict {
            return self.quiet(&if tells_of_pause(failure) {
                format!("{name} is paused; p in the list resumes it. Until then this is not seen.")
            } else {
                format!("{name} is not running; start it to see its files.")
            });
        }
        let mut text = Text::styled(safe_line(&failure.message), self.style(Role::Error));
        if let Some(hint) = &failure.hint {
            text.push_line(Line::styled(safe_line(hint), self.style(Role::Muted)));
        }
        text
    }

    fn quiet(&self, words: &str) -> Text<'static> {
        Text::styled(words.to_owned(), self.style(Role::Muted))
    }

    fn draw_rows(&self, area: Rect, buffer: &mut Buffer) {
        let listing = self.state.listing();
        let mut cursor = self.state.cursor();
        // The state may not know yet that the screen has changed.
        cursor.clamp(listing.len(), area.height.into());
        let rows = listing.rows(cursor.offset()).zip(area.rows());
        for (index, (entry, row_area)) in (cursor.offset()..).zip(rows) {
            let is_marked = listing.is_marked(&entry.name);
            self.draw_row(entry, is_marked, row_area, buffer);
            if index == cursor.selected() {
                buffer.set_style(row_area, self.selection());
            }
        }
    }

    fn selection(&self) -> Style {
        let style = self.style(Role::Selection);
        if self.focused {
            style
        } else {
            style.patch(self.style(Role::Muted))
        }
    }

    fn draw_rule(&self, area: Rect, buffer: &mut Buffer) {
        let symbol = if area.width > area.height {
            "─"
        } else {
            "│"
        };
        for position in area.positions() {
            if let Some(cell) = buffer.cell_mut(position) {
                cell.set_symbol(symbol).set_style(self.style(Role::Border));
            }
        }
    }
}

impl Widget for FilesPane<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if let Some(text) = self.notice() {
            let words = Paragraph::new(text).wrap(Wrap { trim: true });
            return words.render(area, buffer);
        }
        let areas = files_areas(area);
        self.draw_rows(areas.list, buffer);
        self.draw_rule(areas.rule, buffer);
        if let Some(preview) = areas.preview {
            self.draw_preview(preview, buffer);
        }
    }
}

/// Engines say it in their own words, and some only in the hint.
fn tells_of_pause(failure: &Failure) -> bool {
    let hint = failure.hint.as_deref().unwrap_or_default();
    failure.message.contains("paused") || hint.contains("resume")
}
