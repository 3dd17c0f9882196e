//! A figure over time as columns, with its limit as a line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const ASCII: [&str; 9] = [" ", ".", ".", ".", ":", ":", ":", "#", "#"];

/// Columns of values from 0 to 1, newest on the right; a column without a value stays empty.
pub(in crate::ui) struct Chart<'a> {
    /// One value a column.
    pub(in crate::ui) values: &'a [Option<f64>],
    /// Where the limit lies, from 0 to 1.
    pub(in crate::ui) limit: Option<f64>,
    /// Only ASCII characters?
    pub(in crate::ui) ascii: bool,
    /// How columns look.
    pub(in crate::ui) bar: Style,
    /// How the line of the limit looks.
    pub(in crate::ui) line: Style,
}

impl Chart<'_> {
    /// Returns how many eighths of the cell in a row are filled, counted from the bottom.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )] // Charts are small.
    fn filled(value: f64, row: usize, height: usize) -> usize {
        let eighths = (value.clamp(0.0, 1.0) * (height * 8) as f64).round() as usize;
        // Something is told from nothing.
        let least = usize::from(value > 0.0);
        eighths.max(least).saturating_sub(row * 8).min(8)
    }

    /// Returns the row of the limit, counted from the bottom.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )] // Charts are small.
    fn limit_row(&self, height: usize) -> Option<usize> {
        let limit = self.limit.filter(|limit| *limit > 0.0)?;
        Some(((limit.min(1.0) * height as f64).ceil() as usize).saturating_sub(1))
    }
}

impl Widget for Chart<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let height = usize::from(area.height);
        let limit = self.limit_row(height);
        let (glyphs, dash) = if self.ascii {
            (ASCII, "-")
        } else {
            (EIGHTHS, "╌")
        };
        let missing = usize::from(area.width).saturating_sub(self.values.len());
        for (up, row) in (0..height).rev().zip(area.rows()) {
            for (at, cell) in row.columns().enumerate() {
                let value = at.checked_sub(missing).and_then(|at| self.values.get(at));
                let value = value.copied().flatten();
                let filled = value.map_or(0, |value| Self::filled(value, up, height));
                let (glyph, style) = match filled {
                    0 if limit == Some(up) => (dash, self.line),
                    filled => (glyphs.get(filled).copied().unwrap_or(" "), self.bar),
                };
                buffer.set_string(cell.x, cell.y, glyph, style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(values: &[Option<f64>], limit: Option<f64>, ascii: bool) -> Vec<String> {
        let area = Rect::new(0, 0, 4, 2);
        let mut buffer = Buffer::empty(area);
        let chart = Chart {
            values,
            limit,
            ascii,
            bar: Style::new(),
            line: Style::new(),
        };
        chart.render(area, &mut buffer);
        let symbol = |x, y| buffer.cell((x, y)).map_or("", |cell| cell.symbol());
        (0..2)
            .map(|y| (0..4).map(|x| symbol(x, y)).collect())
            .collect()
    }

    #[test]
    fn columns_stand_on_the_ground_and_the_newest_on_the_right() {
        let values = [Some(0.5), None, Some(1.0)];
        assert_eq!(drawn(&values, None, false), ["   █", " █ █"]);
        assert_eq!(drawn(&[Some(0.01)], None, false), ["    ", "   ▁"]);
    }

    #[test]
    fn the_limit_is_seen_where_no_column_is() {
        let values = [Some(0.25), Some(1.0)];
        assert_eq!(drawn(&values, Some(1.0), true), ["---#", "  :#"]);
        assert_eq!(drawn(&values, Some(0.5), true), ["   #", "--:#"]);
        assert_eq!(
            drawn(&[Some(f64::NAN)], Some(f64::NAN), true),
            ["    ", "    "]
        );
    }
}
