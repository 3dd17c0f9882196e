//! Pure geometry: how the screen is divided.
//!
//! ```text
//!  header ──────────────────────────────────────────
//!  ┌ sandboxes ─────────────┐┌ output ─────────────┐     wide: four panes in two columns
//!  └────────────────────────┘│                     │
//!  ┌ editor ───────┐┌ files ┐│                     │     narrow: sandboxes on top, the pane in use below
//!  └───────────────┘└───────┘└─────────────────────┘
//!  footer ──────────────────────────────────────────
//! ```

use ratatui::layout::{Constraint, Layout, Rect};
use serde::{Deserialize, Serialize};

use super::split::Split;

/// The least screen that can be worked with.
pub const LEAST: (u16, u16) = (60, 16);
/// The least rows of a pane on a narrow screen.
const LEAST_PANE: u16 = 5;
/// From this width on, panes stand side by side.
const WIDE: u16 = 110;
/// From this width on, the preview of a file is drawn beside the list.
const BESIDE: u16 = 70;
/// From this height on, the preview is drawn below a list that is not wide.
const BELOW: u16 = 16;

/// The panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pane {
    /// The list of sandboxes.
    Sandboxes,
    /// The editor.
    Editor,
    /// Output of runs, and shells.
    Output,
    /// Files.
    Files,
}

impl Pane {
    /// All panes, in the order of the Tab key.
    pub const ALL: [Self; 4] = [Self::Sandboxes, Self::Editor, Self::Output, Self::Files];

    /// Returns the pane after or before this one.
    #[must_use]
    pub fn step(self, forward: bool) -> Self {
        let at = Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0);
        let next = if forward {
            at + 1
        } else {
            at + Self::ALL.len() - 1
        };
        Self::ALL
            .get(next % Self::ALL.len())
            .copied()
            .unwrap_or(self)
    }
}

/// Where everything is; panes that are not shown are absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Areas {
    /// The line on top.
    pub header: Rect,
    /// What is said while no engine answers; empty while one does.
    pub banner: Rect,
    /// The panes, borders included.
    pub panes: Vec<(Pane, Rect)>,
    /// The line at the bottom.
    pub footer: Rect,
}

impl Areas {
    /// Returns the rectangle of a pane with its border.
    #[must_use]
    pub fn of(&self, pane: Pane) -> Option<Rect> {
        self.panes
            .iter()
            .find(|(known, _)| *known == pane)
            .map(|(_, area)| *area)
    }

    /// Returns the rectangle inside the border.
    #[must_use]
    pub fn inner(&self, pane: Pane) -> Option<Rect> {
        self.of(pane)
            .map(|area| area.inner(ratatui::layout::Margin::new(1, 1)))
    }

    /// Returns the pane at a cell.
    #[must_use]
    pub fn at(&self, column: u16, row: u16) -> Option<Pane> {
        let position = ratatui::layout::Position::new(column, row);
        self.panes
            .iter()
            .find(|(_, area)| area.contains(position))
            .map(|(pane, _)| *pane)
    }
}

/// Counts the lines of output that fit; the last row tells how the run stands.
#[must_use]
pub fn output_page(inner: Rect) -> usize {
    usize::from(inner.height.saturating_sub(1).max(1))
}

/// Places a box in the middle of the screen.
#[must_use]
pub fn popup(screen: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    Rect {
        x: screen.x + (screen.width - width) / 2,
        y: screen.y + (screen.height - height) / 2,
        width,
        height,
    }
}

/// Places a question with two buttons.
#[must_use]
pub fn confirm_area(screen: Rect) -> Rect {
    popup(screen, 64, 8)
}

/// Places a box between header and footer, so that keys and the engine's state stay in sight.
fn between(screen: Rect, width: u16, height: u16) -> Rect {
    popup(screen, width, height.min(screen.height.saturating_sub(2)))
}

/// Places the view of one sandbox.
#[must_use]
pub fn inspect_area(screen: Rect) -> Rect {
    between(screen, 120, u16::MAX)
}

/// Places help.
#[must_use]
pub fn help_area(screen: Rect) -> Rect {
    between(screen, 84, 40)
}

/// Places the log of what was done.
#[must_use]
pub fn log_area(screen: Rect) -> Rect {
    between(screen, 92, 30)
}

/// Columns of a time before what was said then.
pub const LOG_TIME: usize = 10;

/// Tells how wide a message of the log can be.
#[must_use]
pub fn log_width(screen: Rect) -> usize {
    usize::from(log_area(screen).width).saturating_sub(2 + LOG_TIME)
}

/// Places what happened to all sandboxes.
#[must_use]
pub fn events_area(screen: Rect) -> Rect {
    inspect_area(screen)
}

/// Places the palette.
#[must_use]
pub fn palette_area(screen: Rect) -> Rect {
    between(screen, 72, 20)
}

/// Places a list of some lines.
#[must_use]
pub fn list_area(screen: Rect, lines: usize, width: u16) -> Rect {
    let height = u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(2);
    between(screen, width, height)
}

/// Rows of the form for what can be picked, what is wrong and the keys.
const BELOW_FIELDS: usize = 6;

/// Places the form for a new sandbox.
#[must_use]
pub fn form_area(screen: Rect, fields: usize) -> Rect {
    let height = u16::try_from(fields + BELOW_FIELDS + 2).unwrap_or(u16::MAX);
    popup(screen, 74, height.min(screen.height.saturating_sub(1)))
}

/// Divides the form: fields, what can be picked, what is wrong, keys.
#[must_use]
pub fn form_parts(area: Rect, fields: usize) -> [Rect; 4] {
    let parts = [
        Constraint::Length(u16::try_from(fields).unwrap_or(u16::MAX)),
        Constraint::Fill(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ];
    Layout::vertical(parts).areas(area.inner(ratatui::layout::Margin::new(1, 1)))
}

/// Rows in which it is said that no engine answers where there is little room: what is wrong and what to do.
pub const SHORT_BANNER: u16 = 3;

/// Whether room is needed to say that no engine answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Banner {
    /// All is well.
    Hidden,
    /// As much as the panes can spare.
    Shown,
}

impl Banner {
    fn rows(self, area: Rect) -> u16 {
        let wanted = if area.width < WIDE { 5 } else { 4 };
        match self {
            Self::Hidden => 0,
            Self::Shown => area
                .height
                .saturating_sub(LEAST.1)
                .clamp(SHORT_BANNER, wanted),
        }
    }
}

/// Divides the screen; `None` if it is too small.
#[must_use]
pub fn divide(area: Rect, focus: Pane, zoom: bool, split: Split, banner: Banner) -> Option<Areas> {
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return None;
    }
    let [header, banner, body, footer] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(banner.rows(area)),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    let panes = match (zoom, body.width >= WIDE) {
        (true, _) => vec![(focus, body)],
        (false, true) => wide(body, split),
        (false, false) => narrow(body, focus, split),
    };
    Some(Areas {
        header,
        banner,
        panes,
        footer,
    })
}

fn wide(body: Rect, split: Split) -> Vec<(Pane, Rect)> {
    let parts = |percent| [Constraint::Percentage(percent), Constraint::Fill(1)];
    let [left, right] = Layout::horizontal(parts(split.columns)).areas(body);
    let [top, bottom] = Layout::vertical(parts(split.left)).areas(left);
    let [output, files] = Layout::vertical(parts(split.right)).areas(right);
    vec![
        (Pane::Sandboxes, top),
        (Pane::Editor, bottom),
        (Pane::Output, output),
        (Pane::Files, files),
    ]
}

/// Returns the rows of the list on a narrow screen.
fn usual_list(body: u16) -> u16 {
    (body / 3).clamp(LEAST_PANE, 12)
}

/// Returns by how many rows the list differs from the usual when it is one higher or lower than now.
pub(crate) fn step_list(areas: &Areas, higher: bool) -> i16 {
    let body = areas.panes.iter().map(|(_, area)| area.height).sum();
    let now = areas.of(Pane::Sandboxes).map_or(0, |area| area.height);
    let wanted = if higher { now + 1 } else { now - 1 };
    let wanted = wanted.min(body - LEAST_PANE).max(LEAST_PANE);
    i16::try_from(wanted).unwrap_or(0) - i16::try_from(usual_list(body)).unwrap_or(0)
}

/// On a narrow screen the list stays in sight, and the pane in use gets the rest.
fn narrow(body: Rect, focus: Pane, split: Split) -> Vec<(Pane, Rect)> {
    let list = usual_list(body.height).saturating_add_signed(split.list);
    let list = list
        .min(body.height.saturating_sub(LEAST_PANE))
        .max(LEAST_PANE);
    let [top, bottom] =
        Layout::vertical([Constraint::Length(list), Constraint::Fill(1)]).areas(body);
    let below = if focus == Pane::Sandboxes {
        Pane::Output
    } else {
        focus
    };
    vec![(Pane::Sandboxes, top), (below, bottom)]
}

/// Where the parts of the files pane are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilesAreas {
    /// The rows; as many fit on a page as it is high.
    pub list: Rect,
    /// The line between list and preview.
    pub rule: Rect,
    /// The preview, if there is room.
    pub preview: Option<Rect>,
}

/// Divides the files pane, for drawing, page sizes and mouse clicks alike.
#[must_use]
pub fn files_areas(area: Rect) -> FilesAreas {
    let parts = [
        Constraint::Fill(1),
        Constraint::Length(1),
        Constraint::Fill(1),
    ];
    let layout = if area.width >= BESIDE {
        Layout::horizontal(parts)
    } else if area.height >= BELOW {
        Layout::vertical(parts)
    } else {
        return FilesAreas {
            list: area,
            rule: Rect::ZERO,
            preview: None,
        };
    };
    let [list, rule, preview] = layout.areas(area);
    FilesAreas {
        list,
        rule,
        preview: Some(preview),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_divided_without_gaps_or_overlaps() {
        for (width, height) in [(60, 16), (80, 24), (110, 30), (160, 48), (200, 60)] {
            for focus in Pane::ALL {
                let area = Rect::new(0, 0, width, height);
                for banner in [Banner::Hidden, Banner::Shown] {
                    let areas =
                        divide(area, focus, false, Split::default(), banner).expect("areas");
                    let cells: u32 = areas.panes.iter().map(|(_, pane)| pane.area()).sum();
                    assert_eq!(
                        cells + areas.banner.area() + u32::from(width) * 2,
                        area.area(),
                        "{width}x{height} {focus:?} {banner:?}"
                    );
                    assert!(areas.of(focus).is_some(), "{focus:?} is in sight");
                }
            }
        }
        let small = Rect::new(0, 0, 59, 16);
        assert_eq!(
            divide(small, Pane::Files, false, Split::default(), Banner::Hidden),
            None
        );
    }

    #[test]
    fn panes_go_round() {
        assert_eq!(Pane::Files.step(true), Pane::Sandboxes);
        assert_eq!(Pane::Sandboxes.step(false), Pane::Files);
    }
}
