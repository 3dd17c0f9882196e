//! The keys at the bottom of the screen: which of them fit, and where each one stands, for drawing and for clicks alike.

use crate::app::AppState;
use crate::app::flows::copies;
use crate::domain::Phase;
use crate::keymap::{Action, Context};
use crate::text::display_width;

/// Columns between two hints.
const GAP: usize = 2;

/// What every pane says after its own keys, most useful last; the words are short, since the room is.
const ALWAYS: [(Action, &str); 3] = [
    (Action::NextPane, "pane"),
    (Action::Help, "help"),
    (Action::Quit, "quit"),
];

/// What helps while a shell is shown that does not have the keys.
const IN_SHELL: [(Action, &str); 4] = [
    (Action::SendInput, "type"),
    (Action::PageUp, "scroll back"),
    (Action::NextTab, "next tab"),
    (Action::CloseRun, "close"),
];

/// What is left to do in a shell that has ended.
const IN_ENDED_SHELL: [(Action, &str); 3] = [
    (Action::PageUp, "scroll back"),
    (Action::NextTab, "next tab"),
    (Action::CloseRun, "close"),
];

/// What helps while a paused sandbox is selected.
const ON_PAUSED: [(Action, &str); 2] = [
    (Action::PauseResume, "resume"),
    (Action::ResumeAll, "resume all"),
];

/// What helps while lines are selected.
const IN_SELECTION: [(Action, &str); 4] = [
    (Action::Up, "up"),
    (Action::Down, "down"),
    (Action::Copy, "copy"),
    (Action::Back, "stop"),
];

/// What helps while something is copied.
const WHILE_COPYING: [(Action, &str); 1] = [(Action::CancelCopy, "stop copying")];

/// A key with a word, in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Its first column, counted from the first of all.
    pub column: usize,
    /// The keys.
    pub keys: String,
    /// What they do, in a word or two.
    pub label: String,
    /// What they do.
    pub action: Action,
}

impl Placed {
    fn width(&self) -> usize {
        display_width(&self.keys) + 1 + display_width(&self.label)
    }

    /// Tells whether a column is in it.
    #[must_use]
    pub fn holds(&self, column: usize) -> bool {
        (self.column..self.column + self.width()).contains(&column)
    }
}

/// Places the hints of where the person is into some columns; one that does not fit is left out, as are those after it.
#[must_use]
pub fn place(state: &AppState, columns: usize) -> Vec<Placed> {
    let tail = always(state);
    let kept: usize = tail.iter().map(|hint| hint.width() + GAP).sum();
    let mut placed = Vec::new();
    let mut used = 0;
    let (special, usual) = own(state);
    for hint in special {
        if used + hint.width() <= columns {
            put(&mut placed, &mut used, hint);
        }
    }
    let is_told = |hint: &Placed, all: &[Placed]| all.iter().any(|h| h.action == hint.action);
    for hint in usual {
        if is_told(&hint, &tail) || is_told(&hint, &placed) {
            continue;
        }
        if used + hint.width() + kept > columns {
            break;
        }
        put(&mut placed, &mut used, hint);
    }
    for hint in tail {
        if used + hint.width() <= columns {
            put(&mut placed, &mut used, hint);
        }
    }
    placed
}

fn put(placed: &mut Vec<Placed>, used: &mut usize, mut hint: Placed) {
    hint.column = *used;
    *used += hint.width() + GAP;
    placed.push(hint);
}

/// Returns the hints of where the person is: what matters just now, and the usual ones.
fn own(state: &AppState) -> (Vec<Placed>, Vec<Placed>) {
    let special = special(state);
    if state.context() == Context::Output && !special.is_empty() {
        return (special, Vec::new());
    }
    (special, usual(state))
}

/// Returns what matters only just now: in a shell or a selection instead of the usual keys, else before them.
fn special(state: &AppState) -> Vec<Placed> {
    let is_selecting = state
        .output
        .current()
        .is_some_and(|run| run.selected().is_some());
    let shell = state.shells.current();
    match state.context() {
        Context::Sandboxes if is_paused(state) => named(state, &ON_PAUSED),
        Context::Output if shell.is_some_and(|open| open.over) => named(state, &IN_ENDED_SHELL),
        Context::Output if shell.is_some() => named(state, &IN_SHELL),
        Context::Output if is_selecting => named(state, &IN_SELECTION),
        Context::Files if copies::count(state) > 0 => named(state, &WHILE_COPYING),
        _ => Vec::new(),
    }
}

fn is_paused(state: &AppState) -> bool {
    let selected = state.sandboxes.selected();
    selected.is_some_and(|row| row.sandbox.phase == Phase::Paused)
}

/// Names actions that have keys here.
fn named(state: &AppState, actions: &[(Action, &str)]) -> Vec<Placed> {
    let (context, keymap) = (state.context(), &state.settings.keymap);
    let hint = |(action, label): &(Action, &str)| {
        Some(Placed {
            column: 0,
            keys: keymap.keys_of(context, *action)?,
            label: (*label).to_owned(),
            action: *action,
        })
    };
    actions.iter().filter_map(hint).collect()
}

fn usual(state: &AppState) -> Vec<Placed> {
    let hints = state.settings.keymap.hints(state.context());
    let hint = |hint: crate::keymap::Hint<'_>| Placed {
        column: 0,
        keys: hint.keys,
        label: hint.label.to_owned(),
        action: hint.action,
    };
    hints.into_iter().map(hint).collect()
}

/// Returns the keys that lead on from any pane; over a pane other things have the keys.
fn always(state: &AppState) -> Vec<Placed> {
    let context = state.context();
    let is_pane = matches!(
        context,
        Context::Sandboxes | Context::Editor | Context::Output | Context::Files
    );
    if is_pane {
        named(state, &ALWAYS)
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::App;
    use crate::domain::{Ended, ExecEnd};

    fn words(app: &App, columns: usize) -> String {
        let placed = place(&app.state, columns);
        for pair in placed.windows(2) {
            let [one, next] = pair else { continue };
            assert_eq!(one.column + one.width() + GAP, next.column);
        }
        if let Some(last) = placed.last() {
            assert!(last.column + last.width() <= columns, "{placed:?}");
        }
        let words = placed.iter().map(|h| format!("{} {}", h.keys, h.label));
        words.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_way_on_is_always_told() {
        let app = App::with(80, 24, &["py"]);
        let all = words(&app, 200);
        assert!(all.starts_with("c create, Enter open, x shell"), "{all}");
        assert!(all.ends_with("p pause, Tab pane, ? help, q quit"), "{all}");
        let some = words(&app, 54);
        assert_eq!(some, "c create, Enter open, Tab pane, ? help, q quit");
        assert_eq!(words(&app, 8), "Tab pane");
        assert_eq!(words(&app, 0), "");
    }

    #[test]
    fn what_lies_over_the_panes_has_its_own_keys_only() {
        let mut app = App::with(80, 24, &["py"]);
        app.keys("?");
        assert!(!words(&app, 200).contains("quit"));
    }

    #[test]
    fn what_goes_on_has_its_own_keys() {
        let mut app = App::with(160, 48, &["py"]);
        app.keys("x ctrl-q");
        let shell = words(&app, 200);
        assert!(
            shell.starts_with("i type, PgUp scroll back, ] next tab, D close, Tab"),
            "{shell}"
        );
    }

    #[test]
    fn an_ended_shell_is_not_typed_into() {
        let mut app = App::with(160, 48, &["py"]);
        app.keys("x ctrl-q");
        let stream = app.state.shells.current().expect("a shell").shell.stream;
        app.engine(crate::protocol::Event::Ended {
            stream,
            outcome: Ok(ExecEnd::bare(Ended::Code(0))),
            took: std::time::Duration::ZERO,
        });
        let shell = words(&app, 200);
        assert!(shell.starts_with("PgUp scroll back, "), "{shell}");
        app.keys("i");
        assert_eq!(app.state.view.mode, crate::app::Mode::Nav);
    }

    #[test]
    fn a_paused_sandbox_says_how_it_is_resumed() {
        let mut app = App::with(80, 24, &["py"]);
        let mut paused = crate::app::testing::sandbox("py");
        paused.phase = Phase::Paused;
        app.list(vec![paused]);
        let all = words(&app, 200);
        assert!(
            all.starts_with("p resume, T resume all, c create, Enter open"),
            "{all}"
        );
        assert!(!all.contains("pause"), "{all}");
        app.keys("i ]");
        let screen = app.screen();
        assert!(
            screen.contains("paused: Esc, then p resumes it"),
            "{screen}"
        );
    }

    #[test]
    fn a_hint_is_where_it_says() {
        let app = App::with(80, 24, &["py"]);
        let placed = place(&app.state, 200);
        let at = |column| placed.iter().find(|hint| hint.holds(column));
        assert_eq!(at(0).map(|hint| hint.action), Some(Action::Create));
        assert_eq!(at(7).map(|hint| hint.action), Some(Action::Create));
        assert_eq!(at(8), None);
        assert_eq!(at(10).map(|hint| hint.action), Some(Action::Open));
    }
}
