//! The characters beyond ASCII that are drawn, each with the one that stands for it where only ASCII can be shown.
//!
//! What sandboxes and people bring is not in the table; it becomes `?`, cell by cell, so that nothing moves.

use ratatui::buffer::{Buffer, Cell};

/// A character and what stands for it.
const TABLE: [(char, char); 56] = [
    // Borders and rules.
    ('─', '-'),
    ('━', '-'),
    ('│', '|'),
    ('┃', '|'),
    ('┌', '+'),
    ('┐', '+'),
    ('└', '+'),
    ('┘', '+'),
    ('├', '+'),
    ('┤', '+'),
    ('┬', '+'),
    ('┴', '+'),
    ('┼', '+'),
    ('┏', '#'),
    ('┓', '#'),
    ('┗', '#'),
    ('┛', '#'),
    ('╭', '+'),
    ('╮', '+'),
    ('╰', '+'),
    ('╯', '+'),
    ('╌', '-'),
    ('┆', '|'),
    // Meters, sparklines and charts.
    ('░', '.'),
    ('▒', ':'),
    ('▓', '#'),
    ('█', '#'),
    ('▁', '_'),
    ('▂', '.'),
    ('▃', '-'),
    ('▄', '-'),
    ('▅', '='),
    ('▆', '='),
    ('▇', '#'),
    ('▌', '|'),
    ('▐', '|'),
    // Phases and ends.
    ('▶', '>'),
    ('▸', '>'),
    ('▾', 'v'),
    ('‖', '='),
    ('■', '#'),
    ('●', '*'),
    ('○', 'o'),
    ('✓', '+'),
    ('✗', 'x'),
    ('⚠', '!'),
    ('◆', '*'),
    // Arrows and punctuation.
    ('↑', '^'),
    ('↓', 'v'),
    ('←', '<'),
    ('→', '>'),
    ('…', '~'),
    ('·', '.'),
    ('–', '-'),
    ('×', 'x'),
    ('»', '>'),
];

/// Replaces all that is not ASCII, so that a terminal without more shows everything in its place.
pub(super) fn to_ascii(buffer: &mut Buffer) {
    let width = usize::from(buffer.area.width).max(1);
    for row in buffer.content.chunks_mut(width) {
        let mut covered = 0;
        for cell in row {
            covered = replace(cell, covered);
        }
    }
}

/// Replaces one cell; returns how many of the next ones the character in it would have covered.
fn replace(cell: &mut Cell, covered: usize) -> usize {
    if covered > 0 {
        cell.set_char('?');
        return covered - 1;
    }
    let symbol = cell.symbol();
    if symbol.is_ascii() {
        return 0;
    }
    let wide = crate::text::display_width(symbol).saturating_sub(1);
    let mut chars = symbol.chars();
    let only = chars.next().filter(|_| chars.next().is_none());
    let known = only.and_then(|c| TABLE.iter().find(|(glyph, _)| *glyph == c));
    cell.set_char(known.map_or('?', |(_, plain)| *plain));
    wide
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn every_cell_becomes_ascii_and_stays_where_it_is() {
        let area = Rect::new(0, 0, 16, 1);
        let mut buffer = Buffer::empty(area);
        buffer.set_string(0, 0, "┏█…▶ 漢x👩\u{200d}👧é!", Style::new());
        to_ascii(&mut buffer);
        let row: String = buffer.content.iter().map(Cell::symbol).collect();
        assert_eq!(row, "##~> ??x???!    ");
    }

    #[test]
    fn every_glyph_has_one_replacement() {
        for (at, (glyph, plain)) in TABLE.iter().enumerate() {
            assert!(!glyph.is_ascii() && plain.is_ascii_graphic(), "{glyph}");
            let others = TABLE.iter().skip(at + 1);
            assert_eq!(
                others.filter(|(other, _)| other == glyph).count(),
                0,
                "{glyph}"
            );
        }
    }
}
