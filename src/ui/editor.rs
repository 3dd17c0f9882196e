//! Draws the editor: line numbers, code with its colours, the selection and the matches of a search.
//!
//! The text area's own widget is not used: its styles are part of its state, and it hides characters that have no
//! width. Here the theme decides, and what cannot be seen shows as a mark.

use ratatui::buffer::Buffer as Cells;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::{Role, Theme};
use crate::app::panes::editor::{Buffer, EditorState, Glyph, Position, View, column_of, glyphs};
use crate::code::{Language, Severity};
use crate::text::{display_width, truncate};

/// What is shown where there is no code yet.
const HINT: &str = "Type code here (i), run it with F9.";
/// The longest name of a tab.
const LONGEST_NAME: usize = crate::app::panes::tabs::LONGEST_NAME;

/// The inside of the editor pane.
#[derive(Debug, Clone, Copy)]
pub struct EditorPane<'a> {
    /// What is drawn.
    pub state: &'a EditorState,
    /// How it looks.
    pub theme: &'a Theme,
    /// Whether the pane has the keys.
    pub focused: bool,
    /// Whether keys are text.
    pub editing: bool,
}

/// One row on its way to the screen.
struct Row<'a> {
    number: usize,
    line: &'a str,
    /// The characters that are selected, and whether the end of the line is.
    selected: Option<(usize, usize, bool)>,
    matches: Vec<(usize, usize)>,
}

impl<'a> EditorPane<'a> {
    /// Returns the title of the frame: a tab for each buffer while there is room, then the language.
    #[must_use]
    pub fn title(&self, width: u16) -> Line<'a> {
        let badge = self.badge();
        let room = usize::from(width).saturating_sub(display_width(&badge));
        let all = self.state.buffers().iter().enumerate();
        let mut tabs: Vec<Span<'a>> = all.map(|(tab, buffer)| self.tab(tab, buffer)).collect();
        if tabs.iter().map(Span::width).sum::<usize>() > room {
            tabs = self.only_tab(room);
        }
        tabs.push(Span::styled(badge, self.theme.style(Role::Muted)));
        Line::from(tabs)
    }

    /// Returns where the terminal's cursor belongs while typing.
    #[must_use]
    pub fn cursor(&self, area: Rect) -> Option<(u16, u16)> {
        if !self.editing || area.is_empty() {
            return None;
        }
        let buffer = self.state.current();
        let view = buffer.fit_view(area.width, area.height);
        let (row, at) = buffer.text.cursor();
        let column = column_of(buffer.text.line(row), at);
        let x = u16::try_from(column.checked_sub(view.left)?).ok()?;
        let x = x.checked_add(view.gutter)?;
        let y = u16::try_from(row.checked_sub(view.top)?).ok()?;
        (x < area.width && y < area.height).then(|| (area.x + x, area.y + y))
    }

    fn badge(&self) -> String {
        let buffer = self.state.current();
        let language = buffer.language.as_ref().map_or("text", Language::name);
        let packages = buffer.known.packages();
        let packages = packages.map_or_else(String::new, |words| format!(", {words}"));
        match buffer.read_only {
            Some(_) => format!(" {language}, read-only "),
            None => format!(" {language}{packages} "),
        }
    }

    fn tab(&self, tab: usize, buffer: &Buffer) -> Span<'a> {
        let name = truncate(&buffer.name, LONGEST_NAME).into_owned();
        let role = if tab == self.state.current_tab() {
            Role::Accent
        } else {
            Role::Muted
        };
        Span::styled(
            format!(" {name}{} ", dirty_mark(buffer)),
            self.theme.style(role),
        )
    }

    /// Returns the current tab alone, with its number among all.
    fn only_tab(&self, room: usize) -> Vec<Span<'a>> {
        let buffer = self.state.current();
        let number = format!(
            " {}/{}",
            self.state.current_tab() + 1,
            self.state.buffers().len()
        );
        let mark = dirty_mark(buffer);
        let taken = display_width(&number) + display_width(mark) + 2;
        let name = truncate(&buffer.name, room.saturating_sub(taken)).into_owned();
        vec![
            Span::styled(number, self.theme.style(Role::Muted)),
            Span::styled(format!(" {name}{mark} "), self.theme.style(Role::Accent)),
        ]
    }

    fn draw_row(&self, row: &Row<'_>, view: View, area: Rect, cells: &mut Cells) {
        self.draw_number(row.number, view, area, cells);
        let area = Rect {
            x: area.x + view.gutter,
            width: area.width - view.gutter,
            ..area
        };
        let right = view.left + usize::from(area.width);
        let spans = self.state.current().text.highlight.spans(row.number);
        let mut spans = spans.iter().peekable();
        let mut end = 0;
        for glyph in glyphs(row.line).take_while(|glyph| glyph.column < right) {
            while spans.next_if(|span| span.end <= glyph.byte).is_some() {}
            let code = spans.peek().map(|span| self.theme.code(span.code));
            let style = self.style_of(row, &glyph, code.unwrap_or_default());
            draw_glyph(&glyph, view.left, style, area, cells);
            end = glyph.column + glyph.width;
        }
        if row.selected.is_some_and(|(_, _, with_end)| with_end) {
            self.draw_selected_end(end, view, area, cells);
        }
    }

    fn style_of(&self, row: &Row<'_>, glyph: &Glyph<'_>, code: Style) -> Style {
        let mut style = code;
        if glyph.is_mark {
            style = style.patch(self.theme.style(Role::Warn));
        }
        let is_match = |(start, end): &(usize, usize)| (*start..*end).contains(&glyph.byte);
        if row.matches.iter().any(is_match) {
            style = style.patch(self.theme.style(Role::Match));
        }
        match row.selected {
            Some((from, to, _)) if (from..to).contains(&glyph.at) => {
                style.patch(self.theme.style(Role::Selection))
            }
            _ => style,
        }
    }

    fn draw_number(&self, row: usize, view: View, area: Rect, cells: &mut Cells) {
        let width = usize::from(view.gutter);
        let is_current = row == self.state.current().text.cursor().0;
        let role = if is_current && self.focused {
            Role::Accent
        } else {
            Role::Muted
        };
        let number = format!("{:>1$}", row + 1, width.saturating_sub(1));
        cells.set_stringn(area.x, area.y, number, width, self.theme.style(role));
        // What was found in the row stands before its number, where nothing else is.
        let (mark, role) = match self.state.current().known.severity(row) {
            Some(Severity::Danger) => ("!", Role::Error),
            Some(Severity::Warn) => ("~", Role::Warn),
            Some(Severity::Info) | None => return,
        };
        cells.set_stringn(area.x, area.y, mark, width, self.theme.style(role));
    }

    fn draw_selected_end(&self, end: usize, view: View, area: Rect, cells: &mut Cells) {
        let Some(x) = end.checked_sub(view.left) else {
            return;
        };
        let x = u16::try_from(x).unwrap_or(u16::MAX);
        if x < area.width {
            let style = self.theme.style(Role::Selection);
            cells.set_style(Rect::new(area.x + x, area.y, 1, 1), style);
        }
    }

    fn draw_hint(&self, view: View, area: Rect, cells: &mut Cells) {
        let width = usize::from(area.width - view.gutter);
        let style = self.theme.style(Role::Muted);
        cells.set_stringn(area.x + view.gutter, area.y, HINT, width, style);
    }
}

fn dirty_mark(buffer: &Buffer) -> &'static str {
    if buffer.is_dirty() { " ●" } else { "" }
}

impl Widget for EditorPane<'_> {
    fn render(self, area: Rect, cells: &mut Cells) {
        let area = area.intersection(cells.area);
        if area.is_empty() {
            return;
        }
        let buffer = self.state.current();
        let view = buffer.fit_view(area.width, area.height);
        let selection = buffer.text.selection();
        let lines = buffer.text.lines().iter().enumerate().skip(view.top);
        for ((number, line), area) in lines.zip(area.rows()) {
            let row = Row {
                number,
                line,
                selected: selection.and_then(|range| selected_in(range, number)),
                matches: buffer.text.matches(line),
            };
            self.draw_row(&row, view, area, cells);
        }
        if buffer.text.is_empty() {
            self.draw_hint(view, area, cells);
        }
    }
}

/// Returns the characters of a row that are selected, and whether its end is.
fn selected_in((start, end): (Position, Position), row: usize) -> Option<(usize, usize, bool)> {
    if row < start.0 || row > end.0 {
        return None;
    }
    let from = if row == start.0 { start.1 } else { 0 };
    let to = if row == end.0 { end.1 } else { usize::MAX };
    Some((from, to, row < end.0))
}

/// Draws a glyph, or blanks for the part of one that the edge cuts.
fn draw_glyph(glyph: &Glyph<'_>, left: usize, style: Style, area: Rect, cells: &mut Cells) {
    let start = glyph.column.max(left);
    let end = (glyph.column + glyph.width).min(left + usize::from(area.width));
    let offset = u16::try_from(start - left).unwrap_or(u16::MAX);
    let (Some(room), x) = (end.checked_sub(start), area.x.saturating_add(offset)) else {
        return;
    };
    let is_cut = room < glyph.width;
    if is_cut && !glyph.is_mark {
        cells.set_stringn(x, area.y, " ".repeat(room), room, style);
    } else if !is_cut || glyph.column >= left {
        cells.set_stringn(x, area.y, &glyph.shown, room, style);
    }
}

#[cfg(test)]
mod tests;
