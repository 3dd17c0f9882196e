//! How far what is read over the panes can be scrolled, so that going back answers at once.

use super::inspect::{Asked, InspectState, Tab};
use super::overlay::Overlay;
use crate::app::AppState;
use crate::app::geometry::layout::{events_area, help_area, inspect_area, log_area, log_width};
use crate::describe::{changes_summary, facts};
use crate::keymap::Context;

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

/// Brings a scroll that went too far back to the last page.
pub(crate) fn clamp(state: &mut AppState) {
    let most = state.view.overlay.as_ref().map_or(0, |o| most(state, o));
    match &mut state.view.overlay {
        Some(
            Overlay::Help { scroll }
            | Overlay::Log { scroll }
            | Overlay::Events { scroll }
            | Overlay::Findings { scroll },
        ) => {
            *scroll = (*scroll).min(most);
        }
        Some(Overlay::Inspect(view)) => view.scroll = view.scroll.min(most),
        _ => {}
    }
}

/// Counts the lines above the last page.
fn most(state: &AppState, overlay: &Overlay) -> usize {
    let screen = state.view.size;
    let rows = |area: ratatui::layout::Rect| usize::from(area.height).saturating_sub(2);
    let (lines, rows) = match overlay {
        Overlay::Help { .. } => (help_lines(state), rows(help_area(screen))),
        Overlay::Log { .. } => {
            let lines = state.status.log_lines(log_width(screen)).count();
            (lines, rows(log_area(screen)))
        }
        Overlay::Events { .. } => {
            let events = state.engine.events(None).count();
            (events, rows(events_area(screen)))
        }
        Overlay::Findings { .. } => {
            let found = state.editor.current().known.outlook.findings.len();
            (found.max(1) + 2, rows(log_area(screen)))
        }
        Overlay::Inspect(view) => {
            let rows = rows(inspect_area(screen)).saturating_sub(1);
            (inspect_lines(state, view), rows)
        }
        _ => return 0,
    };
    // The last row tells how many there are.
    if lines > rows {
        lines - rows.saturating_sub(1)
    } else {
        0
    }
}

fn help_lines(state: &AppState) -> usize {
    let keymap = &state.settings.keymap;
    let sections = HELP.iter().map(|(_, context)| keymap.rows(*context).len());
    sections.map(|rows| rows + 2).sum()
}

fn inspect_lines(state: &AppState, view: &InspectState) -> usize {
    match view.tab {
        Tab::Overview => answered(&view.details, |details| {
            let facts = facts(details);
            let own = facts.iter().filter(|fact| fact.key != "gap").count();
            own + details.posture.gaps.len().max(1)
        }),
        Tab::Processes => answered(&view.processes, |seen| seen.len() + 1),
        Tab::Changes => answered(&view.changes, |changes| {
            changes_summary(changes).len() + 1 + changes.files.len()
        }),
        Tab::Events => state.engine.events(Some(&view.sandbox)).count(),
        Tab::Charts => 0,
    }
}

fn answered<T>(asked: &Asked<T>, lines: impl FnOnce(&T) -> usize) -> usize {
    match &asked.answer {
        Some(Ok(found)) => lines(found),
        Some(Err(failure)) => 1 + usize::from(failure.hint.is_some()),
        None => 1,
    }
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
