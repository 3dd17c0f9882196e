//! Which columns fit, and how wide they are.

use std::collections::BTreeSet;

use super::Column;

/// Columns before the first one, for the mark.
pub const MARK: usize = 2;

/// The widths that columns grow through, most useful first; growth stops at the first that does not fit.
const STEPS: [(Column, usize); 24] = [
    (Column::Name, 10),
    (Column::Phase, 10),
    (Column::Cpu, FIGURE),
    (Column::Memory, FIGURE),
    (Column::Age, 4),
    (Column::Cpu, METER),
    (Column::Memory, METER),
    (Column::Idle, 5),
    (Column::Pids, 5),
    (Column::Why, 10),
    (Column::Reap, 6),
    (Column::Name, 14),
    (Column::Cpu, SPARK),
    (Column::Memory, SPARK),
    (Column::Network, 8),
    (Column::Memory, LIMIT),
    (Column::Cpu, LIMIT),
    (Column::Image, 14),
    (Column::Cpu, ALL),
    (Column::Memory, ALL),
    (Column::Owner, 14),
    (Column::Host, 8),
    (Column::Name, 24),
    (Column::Image, 28),
];

/// Width of a figure that is a number.
pub const FIGURE: usize = 6;
/// With a meter.
pub const METER: usize = FIGURE + 7;
/// With the last moments.
pub const SPARK: usize = METER + 6;
/// With the limit.
pub const LIMIT: usize = SPARK + 6;
/// With a longer past.
pub const ALL: usize = LIMIT + 5;

/// The widest that a name gets.
const WIDEST_NAME: usize = 32;

/// Divides a width among the columns that are wanted; those without room are left out.
#[must_use]
pub fn fit(width: usize, hidden: &BTreeSet<Column>) -> Vec<(Column, usize)> {
    let mut widths = Column::ALL.map(|column| (column, 0));
    let mut left = width.saturating_sub(MARK);
    for (column, wanted) in STEPS.iter().filter(|(column, _)| !hidden.contains(column)) {
        let Some((_, known)) = widths.iter_mut().find(|(known, _)| known == column) else {
            continue;
        };
        // A column that was not there before needs a gap.
        let more = wanted - *known + usize::from(*known == 0);
        if more > left {
            break;
        }
        (*known, left) = (*wanted, left - more);
    }
    if let Some((_, name)) = widths.first_mut() {
        *name = (*name + left).min(WIDEST_NAME).max(*name);
    }
    widths.into_iter().filter(|(_, width)| *width > 0).collect()
}

/// Finds the column at a place of the screen.
#[must_use]
pub fn at(place: usize, width: usize, hidden: &BTreeSet<Column>) -> Option<Column> {
    let mut from = MARK;
    let mut fitted = fit(width, hidden).into_iter();
    let found = fitted.find(|(_, width)| {
        let range = from..from + width;
        from = range.end + 1;
        range.contains(&place)
    });
    found.map(|(column, _)| column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(width: usize, hidden: &[Column]) -> String {
        let hidden = hidden.iter().copied().collect();
        let fitted = fit(width, &hidden);
        let used: usize = fitted.iter().map(|(_, width)| width + 1).sum();
        assert!(used + MARK - 1 <= width, "{width}: {fitted:?}");
        let titles: Vec<&str> = fitted.iter().map(|(column, _)| column.title()).collect();
        titles.join(" ")
    }

    #[test]
    fn columns_come_with_the_width() {
        assert_eq!(titles(58, &[]), "NAME PHASE CPU MEMORY AGE");
        assert_eq!(titles(78, &[]), "NAME PHASE CPU MEMORY PIDS AGE IDLE");
        let all = "NAME PHASE CPU MEMORY PIDS AGE IDLE REAP WHY NETWORK IMAGE OWNER HOST";
        assert_eq!(titles(198, &[]), all);
        (0..300).for_each(|width| drop(titles(width.max(20), &[])));
    }

    #[test]
    fn what_is_hidden_makes_room() {
        let hidden = [Column::Cpu, Column::Memory, Column::Pids];
        let shown = "NAME PHASE AGE IDLE REAP WHY NETWORK";
        assert_eq!(titles(78, &hidden), shown);
    }
}
