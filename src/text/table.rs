//! Lays out rows as a plain text table for the command line.
//!
//! Cells are safe text already; nothing is cut, since the output may be read by a program.

use std::fmt;

use super::width::display_width;

const GAP: &str = "  ";

/// Collects rows and prints them in columns under a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The header first; it never leaves.
    rows: Vec<Vec<String>>,
    right_aligned: Vec<usize>,
}

impl Table {
    /// Creates a table with these column titles and no rows.
    #[must_use]
    pub fn new(titles: &[&str]) -> Self {
        Self {
            rows: vec![titles.iter().map(ToString::to_string).collect()],
            right_aligned: Vec::new(),
        }
    }

    /// Aligns a column, counted from zero, to the right.
    #[must_use]
    pub fn align_right(mut self, column: usize) -> Self {
        self.right_aligned.push(column);
        self
    }

    /// Adds a row; cells that are missing at its end stay empty.
    pub fn row(&mut self, cells: Vec<String>) -> &mut Self {
        self.rows.push(cells);
        self
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width_of = |column: usize| -> usize {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell: &String| display_width(cell))
                .max()
                .unwrap_or(0)
        };
        (0..columns).map(width_of).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, &width))| self.cell(column, cell, width))
            .collect();
        cells.join(GAP).trim_end_matches(' ').to_owned()
    }

    /// Fills a cell; `pad` would do, but it may cut.
    fn cell(&self, column: usize, text: &str, width: usize) -> String {
        // Not a format width: those panic above 65535, and a cell is as long as it likes.
        let fill = " ".repeat(width.saturating_sub(display_width(text)));
        if self.right_aligned.contains(&column) {
            fill + text
        } else {
            text.to_owned() + &fill
        }
    }
}

/// Prints the lines with a newline between them and none at the end.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let mut newline = "";
        for row in &self.rows {
            write!(f, "{newline}{}", self.line(row, &widths))?;
            newline = "\n";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(row: &[&str]) -> Vec<String> {
        row.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn pads_columns_by_display_width() {
        let mut table = Table::new(&["NAME", "MEM", "PHASE"]).align_right(1);
        table
            .row(cells(&["漢字漢字", "1.5 GiB", "running"]))
            .row(cells(&["py", "64 MiB", "idle"]));
        let expected = [
            "NAME          MEM  PHASE",
            "漢字漢字  1.5 GiB  running",
            "py         64 MiB  idle",
        ];
        assert_eq!(table.to_string(), expected.join("\n"));
    }

    #[test]
    fn leaves_no_trailing_spaces() {
        let mut table = Table::new(&["NAME", "NOTE"]);
        table.row(cells(&["a", "long note"])).row(cells(&["b", ""]));
        assert_eq!(table.to_string(), "NAME  NOTE\na     long note\nb");
    }

    #[test]
    fn takes_rows_of_any_length() {
        let mut table = Table::new(&["A", "B"]);
        table
            .row(cells(&["1"]))
            .row(cells(&["1", "2", "3"]))
            .row(cells(&[]));
        assert_eq!(table.to_string(), "A  B\n1\n1  2  3\n");
    }

    #[test]
    fn takes_cells_of_any_length() {
        let long = "x".repeat(70_000);
        let mut table = Table::new(&["A", "B"]).align_right(0);
        table.row(vec![long, "y".to_owned()]);
        assert_eq!(table.to_string().len(), 2 * 70_003 + 1);
    }

    #[test]
    fn prints_the_header_alone() {
        assert_eq!(Table::new(&["NAME", "PHASE"]).to_string(), "NAME  PHASE");
    }
}
