//! The lines of a run that are on the screen, with their looks and matches.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::{OutputPane, Role};
use crate::app::panes::output::{CLOCK, GUTTER, OutputLine, Run, Shape};
use crate::domain::StreamKind;
use crate::text::{StyledLine, TextColor, TextFlags, TextStyle, display_width, rows};

const COLOURS: [Color; 16] = [
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

const MODIFIERS: [(TextFlags, Modifier); 6] = [
    (TextFlags::BOLD, Modifier::BOLD),
    (TextFlags::DIM, Modifier::DIM),
    (TextFlags::ITALIC, Modifier::ITALIC),
    (TextFlags::UNDERLINE, Modifier::UNDERLINED),
    (TextFlags::REVERSE, Modifier::REVERSED),
    (TextFlags::STRIKE, Modifier::CROSSED_OUT),
];

/// Draws the visible lines of a run.
pub(super) struct Lines<'a> {
    pub(super) pane: &'a OutputPane<'a>,
    pub(super) run: &'a Run,
    pub(super) shape: Shape,
}

/// A line that is being drawn, with its number and the places of what is looked for.
struct Shown<'a> {
    output: &'a OutputLine,
    matches: Vec<Range<usize>>,
    is_found: bool,
}

impl Lines<'_> {
    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer) {
        let top = self.run.top(self.shape);
        let (mut y, mut skipped) = (area.y, top.row);
        let mut number = top.line;
        let selected = self.run.selected();
        while y < area.bottom()
            && let Some(line) = self.run.line(number)
        {
            let shown = self.shown(&line, number);
            let left = Rect::new(area.x, y, area.width, area.bottom() - y);
            let height = self.draw_line(&shown, skipped, left, buf);
            if selected
                .as_ref()
                .is_some_and(|lines| lines.contains(&number))
            {
                let style = self.pane.theme.style(Role::Selection);
                buf.set_style(Rect { height, ..left }, style);
            }
            y += height;
            skipped = 0;
            number += 1;
        }
    }

    fn shown<'b>(&self, output: &'b OutputLine, number: u64) -> Shown<'b> {
        let search = self.pane.state.search();
        Shown {
            output,
            matches: search.map_or_else(Vec::new, |search| search.ranges(&output.line.text)),
            is_found: self.run.found() == Some(number),
        }
    }

    /// Draws the rows of a line that fit; returns how many these are.
    fn draw_line(&self, shown: &Shown<'_>, skipped: usize, area: Rect, buf: &mut Buffer) -> u16 {
        if !self.shape.wraps {
            self.draw_cut(shown, area, buf);
            return 1;
        }
        let rows = rows(&shown.output.line.text, self.shape.columns);
        let mut count = 0;
        for (y, (index, row)) in (area.y..area.bottom()).zip(rows.enumerate().skip(skipped)) {
            let text = self.draw_margin(shown.output, index == 0, row_at(area, y), buf);
            self.draw_row(shown, row, text, buf);
            count += 1;
        }
        count
    }

    /// Draws the start of a line, with a mark at the edge when there is more.
    fn draw_cut(&self, shown: &Shown<'_>, area: Rect, buf: &mut Buffer) {
        let area = self.draw_margin(shown.output, true, row_at(area, area.y), buf);
        let (text, columns) = (&shown.output.line.text, usize::from(area.width));
        let start = |columns| rows(text, columns).next().unwrap_or_default();
        let fitting = start(columns);
        if fitting.end >= text.len() {
            return self.draw_row(shown, fitting, area, buf);
        }
        let mark = self.more_mark(&shown.output.line, columns);
        let width = display_width(&mark);
        if columns > width {
            self.draw_row(shown, start(columns - width), area, buf);
        }
        let x = area.right() - u16::try_from(width.min(columns)).unwrap_or(0);
        let style = self.pane.theme.style(Role::Muted);
        buf.set_stringn(x, area.y, &mark, columns, style);
    }

    /// Returns the mark of a line that goes on; when bytes are gone for good, it says how many.
    fn more_mark(&self, line: &StyledLine, columns: usize) -> String {
        let short = if self.pane.theme.ascii { ">" } else { "…" };
        let note = line.note().filter(|note| display_width(note) < columns);
        let note = note.map(|note| note.replace('…', short));
        note.unwrap_or_else(|| short.to_owned())
    }

    /// Draws what stands before the text; returns the area of the text.
    fn draw_margin(&self, line: &OutputLine, is_first: bool, area: Rect, buf: &mut Buffer) -> Rect {
        let sign = match (line.stream, self.pane.theme.ascii) {
            (StreamKind::Stdout, _) => " ",
            (StreamKind::Stderr, false) => "┃",
            (StreamKind::Stderr, true) => "!",
        };
        let style = self.pane.theme.style(Role::Error);
        buf.set_stringn(area.x, area.y, sign, usize::from(area.width), style);
        let area = without_start(area, GUTTER);
        if !self
            .pane
            .state
            .shows_times_in(usize::from(area.width) + GUTTER)
        {
            return area;
        }
        if is_first {
            let (time, style) = (
                line.at.format("%H:%M:%S"),
                self.pane.theme.style(Role::Muted),
            );
            buf.set_stringn(area.x, area.y, time.to_string(), CLOCK, style);
        }
        without_start(area, CLOCK)
    }

    /// Draws a part of a line into one row.
    fn draw_row(&self, shown: &Shown<'_>, row: Range<usize>, area: Rect, buf: &mut Buffer) {
        let (mut start, mut x) = (0, area.x);
        for (piece, style) in shown.output.line.pieces() {
            let from = row.start.saturating_sub(start).min(piece.len());
            let to = row.end.saturating_sub(start).min(piece.len());
            let text = piece.get(from..to).unwrap_or_default();
            let room = usize::from(area.right().saturating_sub(x));
            (x, _) = buf.set_stringn(x, area.y, text, room, self.style(style));
            start += piece.len();
            if start >= row.end {
                break;
            }
        }
        self.draw_matches(shown, &row, area, buf);
    }

    fn draw_matches(&self, shown: &Shown<'_>, row: &Range<usize>, area: Rect, buf: &mut Buffer) {
        let mut style = self.pane.theme.style(Role::Match);
        if shown.is_found {
            style = style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        }
        let visible = shown
            .matches
            .iter()
            .take_while(|found| found.start < row.end);
        for found in visible.filter(|found| found.end > row.start) {
            let start = found.start.max(row.start);
            let before = columns_of(&shown.output.line, row.start..start);
            let width = columns_of(&shown.output.line, start..found.end.min(row.end));
            let place = without_start(area, before);
            let width = u16::try_from(width).unwrap_or(u16::MAX);
            buf.set_style(place.intersection(Rect { width, ..place }), style);
        }
    }

    fn style(&self, style: TextStyle) -> Style {
        let mut shown = Style::new();
        for (flag, modifier) in MODIFIERS {
            if style.flags.contains(flag) {
                shown = shown.add_modifier(modifier);
            }
        }
        // A theme without colours gives none to errors either.
        if self.pane.theme.style(Role::Error).fg.is_none() {
            return shown;
        }
        Style {
            fg: style.fg.map(colour),
            bg: style.bg.map(colour),
            ..shown
        }
    }
}

fn colour(colour: TextColor) -> Color {
    match colour {
        TextColor::Indexed(index) => basic(index),
        TextColor::Rgb(r, g, b) => Color::Rgb(r, g, b),
    }
}

fn basic(index: u8) -> Color {
    let named = COLOURS.get(usize::from(index)).copied();
    named.unwrap_or(Color::Indexed(index))
}

fn columns_of(line: &StyledLine, range: Range<usize>) -> usize {
    line.text.get(range).map_or(0, display_width)
}

fn row_at(area: Rect, y: u16) -> Rect {
    Rect {
        y,
        height: 1,
        ..area
    }
}

/// Leaves out columns at the left.
fn without_start(area: Rect, columns: usize) -> Rect {
    let columns = u16::try_from(columns).unwrap_or(u16::MAX).min(area.width);
    Rect {
        x: area.x + columns,
        width: area.width - columns,
        ..area
    }
}
