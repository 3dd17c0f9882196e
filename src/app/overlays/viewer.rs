//! Texts to be read: help, the log, events and findings; the last page is the last, so that going back answers at once.

use ratatui::layout::Rect;

use super::cx::Cx;
use super::layer::{Layer, Reaction, Wheel, scrolled};
use crate::app::geometry::layout::{events_area, help_area, log_area, log_width};
use crate::keymap::{Action, Context};

/// What help tells, by title and context.
pub const HELP: [(&str, Context); 9] = [
    ("Everywhere", Context::Global),
    ("Sandboxes", Context::Sandboxes),
    ("Editor", Context::Editor),
    ("While typing", Context::Edit),
    ("Output", Context::Output),
    ("Files", Context::Files),
    ("In a shell", Context::Terminal),
    ("Looking at a sandbox", Context::Inspect),
    ("Runs of a sandbox", Context::History),
];

/// What can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// All keys.
    Help,
    /// What was done.
    Log,
    /// What happened to all sandboxes.
    Events,
    /// What is known of the code before it runs.
    Findings,
}

/// A text over the panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewer {
    /// Which.
    pub text: Text,
    /// Lines scrolled down.
    pub scroll: usize,
}

impl Viewer {
    /// Starts at the first line.
    #[must_use]
    pub fn new(text: Text) -> Self {
        Self { text, scroll: 0 }
    }

    /// Counts its lines, and where they are drawn.
    fn extent(self, cx: &Cx<'_>) -> (usize, Rect) {
        let screen = cx.screen;
        match self.text {
            Text::Help => (help_lines(cx), help_area(screen)),
            Text::Log => (
                cx.status.log_lines(log_width(screen)).count(),
                log_area(screen),
            ),
            Text::Events => (cx.engine.events(None).len(), events_area(screen)),
            Text::Findings => {
                let found = cx.editor.current().known.analysis.findings.len();
                (found.max(1) + 2, log_area(screen))
            }
        }
    }
}

impl Layer for Viewer {
    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        let Some(scroll) = scrolled(action, self.scroll, cx.page()) else {
            return Reaction::close();
        };
        let (lines, area) = self.extent(cx);
        let rows = usize::from(area.height).saturating_sub(2);
        self.scroll = scroll.min(last_page(lines, rows));
        Reaction::stay()
    }

    fn wheel(&self) -> Wheel {
        Wheel::Lines
    }
}

/// Counts the lines above the last page; its last row tells how many there are.
#[must_use]
pub fn last_page(lines: usize, rows: usize) -> usize {
    if lines > rows {
        lines - rows.saturating_sub(1)
    } else {
        0
    }
}

fn help_lines(cx: &Cx<'_>) -> usize {
    let keymap = &cx.settings.keymap;
    let sections = HELP.iter().map(|(_, context)| keymap.rows(*context).len());
    sections.map(|rows| rows + 2).sum()
}

#[cfg(test)]
mod tests {
    use crate::app::testing::App;

    /// Checks that the last page is the last, and that one step back is one.
    fn check(app: &mut App) {
        let first = app.screen();
        app.keys("G");
        let last = app.screen();
        app.keys("j j pagedown");
        assert_eq!(app.screen(), last);
        app.keys("k");
        if first == last {
            assert_eq!(app.screen(), last);
        } else {
            assert_ne!(app.screen(), last, "{last}");
        }
        app.keys("j");
        assert_eq!(app.screen(), last);
        app.keys("g");
        assert_eq!(app.screen(), first);
    }

    #[test]
    fn the_end_is_the_end_and_going_back_answers_at_once() {
        for (width, height) in [(60, 16), (80, 24), (200, 60)] {
            let mut app = App::with(width, height, &["py"]);
            app.keys("?");
            check(&mut app);
            app.keys("esc");
            for _ in 0..50 {
                app.keys("m");
            }
            app.state.status.dismiss();
            app.keys("f8");
            check(&mut app);
            app.keys("esc f7");
            check(&mut app);
        }
    }
}
