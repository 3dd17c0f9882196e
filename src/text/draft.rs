//! One line of output, finished and under construction.

use super::human;
use super::overwrite::Cells;
use super::style::{TextFlags, TextStyle};
use super::width::display_width;

/// The bytes of a line that are kept.
pub(super) const LONGEST: usize = 8 * 1024;

const TAB: usize = 8;
const SPACES: &str = "        ";

/// Where a run of one style ends, in bytes, and the style.
type StyleRun = (u32, TextStyle);

/// A line with its looks; it holds no control and no hidden character.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StyledLine {
    /// The text; when the line was too long, `… +N bytes` stands at its end.
    pub text: Box<str>,
    /// The ends of the pieces with their styles; empty for a line without any style.
    pub runs: Box<[StyleRun]>,
    /// How many bytes were cut off.
    pub cut: u64,
}

impl StyledLine {
    /// Returns what stands at the end of a line that was cut.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        (self.cut > 0).then(|| note(self.cut))
    }

    /// Returns the pieces of the text with their styles.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, TextStyle)> {
        pieces(&self.text, &self.runs)
    }
}

fn pieces<'a>(text: &'a str, runs: &'a [StyleRun]) -> impl Iterator<Item = (&'a str, TextStyle)> {
    let whole = runs.is_empty().then_some((text, TextStyle::default()));
    let mut start = 0;
    let styled = runs.iter().filter_map(move |&(end, style)| {
        let end = usize::try_from(end).ok()?;
        let piece = text.get(start..end)?;
        start = end;
        Some((piece, style))
    });
    whole.into_iter().chain(styled)
}

fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn note(cut: u64) -> String {
    format!("… +{} bytes", human::count(cut))
}

/// A line under construction, within bounds whatever comes.
#[derive(Default)]
pub(super) struct Draft {
    text: String,
    runs: Vec<StyleRun>,
    cut: u64,
    /// Bytes whose width is known, and their columns.
    measured: (usize, usize),
    /// The next character goes to the start; before a newline this means nothing.
    is_returned: bool,
    /// What counts instead of the text once something was overwritten; this is slower, so that only
    /// lines that need it pay.
    cells: Option<Cells>,
}

impl Draft {
    /// Writes text that holds neither controls nor hidden characters.
    pub(super) fn write(&mut self, text: &str, style: TextStyle) {
        if self.is_at_end() {
            self.append(text, style);
        } else {
            self.cells().write(text, style);
        }
    }

    /// Obeys a tab, carriage return or backspace.
    pub(super) fn control(&mut self, byte: u8, style: TextStyle) {
        match byte {
            b'\t' if self.is_at_end() => self.append_tab(style),
            b'\t' => self.cells().tab(style),
            b'\r' => self.go_to_start(),
            0x08 if !self.is_blank() => self.cells().go_back(),
            _ => (),
        }
    }

    /// Erases from the place to the end of the line.
    pub(super) fn erase_rest(&mut self) {
        if let Some(cells) = &mut self.cells {
            cells.erase_rest();
        } else if self.is_returned {
            self.clear();
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.runs.clear();
        self.cut = 0;
        self.measured = (0, 0);
        self.is_returned = false;
        self.cells = None;
    }

    pub(super) fn is_blank(&self) -> bool {
        match &self.cells {
            None => self.text.is_empty() && self.cut == 0,
            Some(cells) => cells.is_empty(),
        }
    }

    /// Returns the line as it stands.
    pub(super) fn line(&self) -> StyledLine {
        match &self.cells {
            None => self.simple_line(),
            Some(cells) => cells.draft().simple_line(),
        }
    }

    fn is_at_end(&self) -> bool {
        !self.is_returned && self.cells.is_none()
    }

    fn simple_line(&self) -> StyledLine {
        if self.cut > 0 {
            return self.cut_line();
        }
        StyledLine {
            text: Box::from(self.text.as_str()),
            runs: Box::from(self.runs.as_slice()),
            cut: 0,
        }
    }

    fn cut_line(&self) -> StyledLine {
        let dim = TextStyle {
            flags: TextFlags::DIM,
            ..TextStyle::default()
        };
        let mut whole = Self {
            text: format!("{}{}", self.text, note(self.cut)),
            runs: self.runs.clone(),
            ..Self::default()
        };
        whole.mark(self.text.len(), dim);
        StyledLine {
            cut: self.cut,
            ..whole.simple_line()
        }
    }

    /// Appends what fits and counts the rest.
    pub(super) fn append(&mut self, text: &str, style: TextStyle) {
        let room = if self.cut > 0 {
            0
        } else {
            LONGEST.saturating_sub(self.text.len())
        };
        let fitting = text.floor_char_boundary(room);
        let (kept, over) = text.split_at_checked(fitting).unwrap_or_default();
        self.cut_off(over.len());
        if !kept.is_empty() {
            let start = self.text.len();
            self.text.push_str(kept);
            self.mark(start, style);
        }
    }

    /// Counts bytes that are left out.
    pub(super) fn cut_off(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.cut = self.cut.saturating_add(bytes);
    }

    /// Gives a style to the text from `start` on.
    fn mark(&mut self, start: usize, style: TextStyle) {
        let end = offset(self.text.len());
        match self.runs.last_mut() {
            Some(last) if last.1 == style => last.0 = end,
            None if style == TextStyle::default() => (),
            None if start > 0 => self
                .runs
                .extend([(offset(start), TextStyle::default()), (end, style)]),
            _ => self.runs.push((end, style)),
        }
    }

    fn append_tab(&mut self, style: TextStyle) {
        let (bytes, columns) = self.measured;
        let new = self.text.get(bytes..).unwrap_or_default();
        let columns = columns
            + if new.is_ascii() {
                new.len()
            } else {
                display_width(new)
            };
        let fill = TAB - columns % TAB;
        self.append(SPACES.get(..fill).unwrap_or_default(), style);
        self.measured = (self.text.len(), columns + fill);
    }

    fn go_to_start(&mut self) {
        match &mut self.cells {
            Some(cells) => cells.go_to_start(),
            None => self.is_returned = !self.text.is_empty() || self.cut > 0,
        }
    }

    /// Turns the text into cells, unless it is already.
    fn cells(&mut self) -> &mut Cells {
        self.cells.get_or_insert_with(|| {
            let column = if self.is_returned { 0 } else { usize::MAX };
            Cells::new(pieces(&self.text, &self.runs), self.cut, column)
        })
    }
}
