//! The preview: text made safe line by line, or a hex dump, of which only the visible part is ever touched.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Text;
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::super::theme::Role;
use super::FilesPane;
use super::row::size;
use crate::app::panes::files::{Content, HEX_WIDTH, PREVIEW_LIMIT, PreviewLine};
use crate::domain::{FileEntry, FileKind};
use crate::text::{display_width, human, safe_line, truncate};

/// The bytes after which a line is not looked at; no screen is that wide.
const LONGEST_LINE: usize = 4096;

/// The columns between two tab stops.
const TAB: usize = 4;

impl FilesPane<'_> {
    pub(super) fn draw_preview(&self, area: Rect, buffer: &mut Buffer) {
        let Some(entry) = self.state.selected() else {
            return;
        };
        let [head, body] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
        let width = usize::from(head.width);
        let line = self.headline(entry, &self.extent(entry), width);
        buffer.set_stringn(head.x, head.y, line, width, self.style(Role::Muted));
        match self.state.preview().map(|preview| &preview.content) {
            Some(Ok(content)) if content.is_empty() => self.say("Empty file.", body, buffer),
            Some(Ok(content)) => self.draw_content(content, body, buffer),
            Some(Err(failure)) => self.say(&failure.message, body, buffer),
            None => {}
        }
    }

    /// Writes how large the file is and how much of it is shown.
    fn extent(&self, entry: &FileEntry) -> String {
        let content = self.state.preview().and_then(|p| p.content.as_ref().ok());
        let is_cut = content.is_some_and(Content::is_truncated);
        match &entry.kind {
            FileKind::File if is_cut => {
                let limit = human::bytes(PREVIEW_LIMIT as u64);
                format!("first {limit} of {}", size(entry))
            }
            FileKind::File => size(entry),
            FileKind::Directory => "folder".to_owned(),
            FileKind::Symlink { target } => format!("link to {}", safe_line(target)),
            FileKind::Special => "device, pipe or socket".to_owned(),
        }
    }

    fn say(&self, words: &str, area: Rect, buffer: &mut Buffer) {
        let text = Text::styled(safe_line(words), self.style(Role::Muted));
        let words = Paragraph::new(text).wrap(Wrap { trim: true });
        words.render(area, buffer);
    }

    fn draw_content(&self, content: &Content, area: Rect, buffer: &mut Buffer) {
        let first = self.state.preview().map_or(0, |preview| preview.offset);
        let lines = (first..).map_while(|index| content.line(index));
        let width = usize::from(area.width);
        for (line, row) in lines.zip(area.rows()) {
            let text = match line {
                PreviewLine::Text(bytes) => plain(bytes),
                PreviewLine::Hex(at, bytes) => hex(at, bytes),
            };
            let text = truncate(&text, width);
            buffer.set_stringn(row.x, row.y, text, width, self.style(Role::Text));
        }
    }
}

/// Makes a line of text safe, with its tabs as room.
fn plain(bytes: &[u8]) -> String {
    // A cut character at the end would show as broken bytes, far beyond the edge of any screen.
    let bytes = bytes.get(..LONGEST_LINE).unwrap_or(bytes);
    let mut parts = bytes.split(|byte| *byte == b'\t');
    let first = safe_line(parts.next().unwrap_or_default());
    parts.fold(first, |line, part| {
        let room = TAB - display_width(&line) % TAB;
        line + &" ".repeat(room) + &safe_line(part)
    })
}

/// Writes bytes as numbers and letters.
fn hex(at: usize, bytes: &[u8]) -> String {
    let mut numbers: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    numbers.resize(HEX_WIDTH, "  ".to_owned());
    let letter = |byte: &u8| match byte {
        b' '..=b'~' => char::from(*byte),
        _ => '.',
    };
    let letters: String = bytes.iter().map(letter).collect();
    format!("{at:05x} {} {letters}", numbers.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_go_to_the_next_stop() {
        assert_eq!(plain(b"\tx\ty"), "    x   y");
        assert_eq!(plain("漢\t\x1b[2J".as_bytes()), "漢  \\x1b[2J");
        assert!(plain(&b"x".repeat(1 << 20)).len() <= LONGEST_LINE);
    }

    #[test]
    fn bytes_are_shown_with_their_letters() {
        assert_eq!(
            hex(16, b"\x7fELF\0\xff a"),
            "00010 7f 45 4c 46 00 ff 20 61 .ELF.. a"
        );
        assert_eq!(hex(0, b"a"), "00000 61                      a");
    }
}
