//! Draws a shell's screen, cell by cell, with nothing in a cell that could act on the real terminal.

use std::borrow::Cow;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::Widget;

use super::theme::{Role, Theme};
use crate::app::panes::shell::ShellState;
use crate::text::{display_width, safe_line, truncate};

/// Stands for what cannot be shown in a cell.
const UNKNOWN: &str = "\u{fffd}";

/// What joins to the next cell, or says how wide the character should be; neither is for a cell to decide.
const TRAILERS: [char; 2] = ['\u{200d}', '\u{fe0e}'];

/// The screen of a shell.
#[derive(Clone, Copy)]
pub struct ShellView<'a> {
    /// The shell.
    pub shell: &'a ShellState,
    /// How roles look.
    pub theme: &'a Theme,
    /// Does it have the keys?
    pub focused: bool,
}

impl ShellView<'_> {
    /// Returns where the cursor belongs, if it is to be seen.
    #[must_use]
    pub fn cursor(&self, area: Rect) -> Option<(u16, u16)> {
        let screen = self.shell.screen();
        let is_away = self.shell.is_scrolled() || self.shell.ended().is_some();
        if !self.focused || is_away || screen.hide_cursor() {
            return None;
        }
        let (row, column) = screen.cursor_position();
        // After the last column it waits there for the next character.
        let column = column.min(screen.size().1.get() - 1);
        let is_inside = column < area.width && row < area.height;
        is_inside.then(|| (area.x + column, area.y + row))
    }

    fn draw_cell(&self, from: &vt100::Cell, fits_wide: bool, to: &mut Cell) {
        to.reset();
        to.set_style(self.style(from));
        if from.is_wide_continuation() {
            return;
        }
        let symbol = symbol(from.contents(), from.is_wide(), self.theme.ascii);
        if fits_wide || !from.is_wide() {
            to.set_symbol(&symbol);
        }
    }

    fn style(&self, cell: &vt100::Cell) -> Style {
        let modifiers = [
            (cell.bold(), Modifier::BOLD),
            (cell.dim(), Modifier::DIM),
            (cell.italic(), Modifier::ITALIC),
            (cell.underline(), Modifier::UNDERLINED),
            (cell.inverse(), Modifier::REVERSED),
        ];
        let set = modifiers.into_iter().filter(|(is_set, _)| *is_set);
        let style = Style::new().add_modifier(set.map(|(_, modifier)| modifier).collect());
        if self.has_colours() {
            style.fg(colour(cell.fgcolor())).bg(colour(cell.bgcolor()))
        } else {
            style
        }
    }

    /// Tells whether the theme uses colours at all: one that shows errors without does not.
    fn has_colours(&self) -> bool {
        self.theme.style(Role::Error).fg.is_some()
    }

    /// Says in the upper right corner how far back the lines shown are.
    fn draw_distance(&self, area: Rect, buffer: &mut Buffer) {
        let note = format!(" {} lines back ", self.shell.lines_back());
        let note = truncate(&note, area.width.into());
        let width = u16::try_from(display_width(&note)).unwrap_or(area.width);
        let x = area.right().saturating_sub(width);
        buffer.set_string(x, area.y, note, self.theme.style(Role::Mode));
    }
}

impl Widget for ShellView<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(*buffer.area());
        let screen = self.shell.screen();
        for position in area.positions() {
            let (column, row) = (position.x - area.x, position.y - area.y);
            let Some(to) = buffer.cell_mut(position) else {
                continue;
            };
            match screen.cell(row, column) {
                Some(from) => self.draw_cell(from, column + 1 < area.width, to),
                None => to.reset(),
            }
        }
        if self.shell.is_scrolled() && !area.is_empty() {
            self.draw_distance(area, buffer);
        }
    }
}

/// Returns what to show for the text of a cell: exactly as wide as the cell, without controls and hidden characters.
fn symbol(contents: &str, is_wide: bool, ascii: bool) -> Cow<'_, str> {
    if let [b' '..=b'~'] = contents.as_bytes() {
        return Cow::Borrowed(contents);
    }
    if contents.is_empty() {
        return Cow::Borrowed(" ");
    }
    let contents = contents.trim_end_matches(TRAILERS);
    let width = if is_wide { 2 } else { 1 };
    let is_plain = safe_line(contents) == contents && display_width(contents) == width;
    match (ascii, is_plain) {
        (true, _) => Cow::Borrowed("?"),
        (false, true) => Cow::Borrowed(contents),
        (false, false) => Cow::Borrowed(UNKNOWN),
    }
}

fn colour(colour: vt100::Color) -> Color {
    match colour {
        vt100::Color::Default => Color::Reset,
        vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
        vt100::Color::Idx(index) => indexed(index),
    }
}

/// Names the first sixteen colours, which terminals let people choose.
fn indexed(index: u8) -> Color {
    match index {
        0 => Color::Black,
        1 => Color::Red,
        2 => Color::Green,
        3 => Color::Yellow,
        4 => Color::Blue,
        5 => Color::Magenta,
        6 => Color::Cyan,
        7 => Color::Gray,
        8 => Color::DarkGray,
        9 => Color::LightRed,
        10 => Color::LightGreen,
        11 => Color::LightYellow,
        12 => Color::LightBlue,
        13 => Color::LightMagenta,
        14 => Color::LightCyan,
        15 => Color::White,
        _ => Color::Indexed(index),
    }
}

#[cfg(test)]
mod tests;
