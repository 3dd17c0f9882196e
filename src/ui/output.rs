//! The output pane: the lines of the selected run, and a last row that says how it stands.
//!
//! ```text
//!  building                         one column tells stderr (┃) from stdout
//! ┃warning: unused variable
//!  done
//! ✓ ok · 0.12 s · peak 9.5 MiB                                    END 3
//! ```

mod foot;
mod lines;
mod tabs;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::theme::{Role, Theme};
use crate::app::panes::output::{OutputState, Run, RunHealth};

const NO_RUNS: &str = "No output yet. Press F9 to run the editor's buffer, or x for a shell.";

/// Draws the inside of the output pane; the frame around it belongs to others.
#[derive(Clone, Copy)]
pub struct OutputPane<'a> {
    /// What is drawn.
    pub state: &'a OutputState,
    /// How it looks.
    pub theme: &'a Theme,
    /// Does it have the keys?
    pub focused: bool,
    /// The time, for runs that go on.
    pub now: DateTime<Utc>,
}

/// Returns how many rows of an area show lines: all but the last, which says how the run stands.
#[must_use]
pub fn page(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(1).max(1))
}

impl OutputPane<'_> {
    /// Returns the tabs for the frame, however long they are.
    #[must_use]
    pub fn title(&self) -> Line<'static> {
        self.title_in(usize::MAX)
    }

    /// Returns the tabs that fit into some columns, with the selected one always among them.
    #[must_use]
    pub fn title_in(&self, columns: usize) -> Line<'static> {
        tabs::line(self, columns)
    }

    fn draw_run(&self, run: &Run, area: Rect, buf: &mut Buffer) {
        let rows = page(area);
        let body = Rect {
            height: u16::try_from(rows).unwrap_or(u16::MAX),
            ..area
        };
        let shape = self.state.shape_in(usize::from(area.width), rows);
        if run.first() == run.end_line() {
            self.draw_sentence(silence(run), body, buf);
        } else {
            lines::Lines {
                pane: self,
                run,
                shape,
            }
            .draw(body, buf);
        }
        if area.height > 1 {
            let last = Rect::new(area.x, area.bottom() - 1, area.width, 1);
            foot::draw(self, run, shape, last, buf);
        }
    }

    fn draw_sentence(&self, sentence: &str, area: Rect, buf: &mut Buffer) {
        let sentence = Line::styled(sentence, self.theme.style(Role::Muted));
        let wrap = Wrap { trim: true };
        Paragraph::new(sentence).wrap(wrap).render(area, buf);
    }
}

impl Widget for OutputPane<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        match self.state.current() {
            Some(run) => self.draw_run(run, area, buf),
            None => self.draw_sentence(NO_RUNS, area, buf),
        }
    }
}

/// Says why a run shows nothing.
fn silence(run: &Run) -> &'static str {
    if run.is_running() {
        "Waiting for output."
    } else {
        "It wrote nothing."
    }
}

/// Returns the sign and the role of how a run stands.
fn sign(health: RunHealth) -> (&'static str, Role) {
    match health {
        RunHealth::Open => ("●", Role::Accent),
        RunHealth::Good => ("✓", Role::Ok),
        RunHealth::Odd => ("○", Role::Warn),
        RunHealth::Bad => ("✗", Role::Error),
    }
}
