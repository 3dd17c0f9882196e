//! Clicks and turns of the wheel, aimed at what the screen shows.

mod over;

use crate::app::msg::MouseButton;
use crate::app::overlays::inspect::Tab;
use crate::app::overlays::overlay::Overlay;
use crate::app::panes::output::RunInfo;
use crate::app::panes::sandboxes::Column;
use crate::app::testing::{App, reference, sandbox, start};
use crate::app::{Effect, Mode, Mouse, MouseKind, Msg, Pane};
use crate::domain::StreamId;
use crate::protocol::Command;

impl App {
    fn mouse(&mut self, kind: MouseKind, (column, row): (u16, u16)) {
        self.tell(Msg::Mouse(Mouse {
            kind,
            column,
            row,
            button: MouseButton::Left,
            ctrl: false,
            alt: false,
            shift: false,
        }));
    }

    /// Finds where something is drawn first.
    #[track_caller]
    fn find(&self, part: &str) -> (u16, u16) {
        let screen = self.screen();
        let found = screen.lines().zip(0..).find_map(|(line, row)| {
            let at = line.find(part)?;
            let column = line.get(..at)?.chars().count();
            Some((u16::try_from(column).ok()?, row))
        });
        found.unwrap_or_else(|| unreachable!("no {part:?} on\n{screen}"))
    }

    #[track_caller]
    fn click(&mut self, part: &str) {
        let place = self.find(part);
        self.mouse(MouseKind::Press, place);
        self.mouse(MouseKind::Release, place);
    }
}

fn app(width: u16, height: u16) -> App {
    App::with(width, height, &["ada", "bob", "cyd"])
}

fn selected(app: &App) -> &str {
    app.state
        .sandboxes
        .selected()
        .map_or("", |row| &row.sandbox.name)
}

#[test]
fn a_click_chooses_pane_and_row() {
    let mut app = app(160, 48);
    app.click("bob");
    assert_eq!(selected(&app), "bob");
    app.click("3 Output");
    assert_eq!(app.state.view.focus, Pane::Output);
    app.click("cyd");
    assert_eq!(
        (selected(&app), app.state.view.focus),
        ("cyd", Pane::Sandboxes)
    );
    app.click("import platform");
    assert_eq!(
        (app.state.view.focus, app.state.view.mode),
        (Pane::Editor, Mode::Edit)
    );
    app.click("ada");
    assert_eq!(
        (app.state.view.focus, app.state.view.mode),
        (Pane::Sandboxes, Mode::Nav)
    );
}

#[test]
fn headings_sort_and_turn_around() {
    let mut app = app(160, 48);
    app.click("NAME");
    let sorted = |app: &App| (app.state.sandboxes.column, app.state.sandboxes.descending);
    assert_eq!(sorted(&app), (Column::Name, false));
    app.click("NAME");
    assert_eq!(sorted(&app), (Column::Name, true));
    app.click("MEMORY");
    assert_eq!(sorted(&app), (Column::Memory, true));
    app.click("IDLE");
    assert_eq!(sorted(&app), (Column::Idle, true));
    assert_eq!(selected(&app), "ada");
}

#[test]
fn hints_are_buttons() {
    let mut app = app(120, 30);
    app.click("c create");
    assert!(matches!(app.state.view.overlay, Some(Overlay::Create(_))));
    app.click("Esc cancel  Tab next");
    assert_eq!(app.state.view.overlay, None);
    app.click("quit");
    assert!(app.effects.contains(&Effect::Quit));
    // Beside them nothing happens.
    app.effects.clear();
    app.mouse(MouseKind::Press, (1, 29));
    app.mouse(MouseKind::Press, (119, 29));
    assert_eq!((app.state.view.overlay, app.effects), (None, Vec::new()));
}

#[test]
fn a_message_in_the_way_of_hints_is_no_button() {
    let mut app = app(120, 30);
    let place = app.find("c create");
    app.keys("m");
    app.mouse(MouseKind::Press, place);
    assert_eq!(app.state.view.overlay, None);
}

#[test]
fn dialogs_are_answered_by_their_buttons() {
    let mut app = app(80, 24);
    app.keys("d");
    app.click("Remove ]");
    let removes = |command: &Command| matches!(command, Command::Act { .. });
    assert!(app.commands().iter().any(removes));
    app.keys("d");
    app.click("ancel ]");
    assert_eq!(
        (app.state.view.overlay.is_none(), app.commands()),
        (true, Vec::new())
    );
    app.keys("d");
    // Between and beside the buttons nothing is answered.
    app.click("y yes");
    app.click("ada");
    assert!(matches!(app.state.view.overlay, Some(Overlay::Confirm(_))));
    assert_eq!(app.commands(), Vec::new());
}

#[test]
fn tabs_of_the_view_are_chosen() {
    for (width, height) in [(60, 16), (80, 24), (160, 48)] {
        let mut app = app(width, height);
        app.keys("i");
        for (title, tab) in Tab::ALL.map(|tab| (tab.title(), tab)).into_iter().rev() {
            app.click(title);
            let Some(Overlay::Inspect(view)) = &app.state.view.overlay else {
                unreachable!("the view is open");
            };
            assert_eq!(view.tab, tab);
        }
        let asked = app.commands();
        assert!(asked.iter().any(|c| matches!(c, Command::Processes(_))));
    }
}

#[test]
fn tabs_in_borders_are_chosen() {
    for width in [80, 160] {
        let mut app = app(width, 48);
        app.keys("2 ctrl-n");
        app.typed("x");
        app.click("untitled.py");
        assert_eq!(app.state.editor.current_tab(), 0);
        let second = app.screen().lines().find_map(|line| {
            let at = line.match_indices("untitled").nth(1)?.0;
            Some(u16::try_from(line.get(..at)?.chars().count()).unwrap_or(0))
        });
        let row = app.find("2 Editor").1;
        app.mouse(MouseKind::Press, (second.unwrap_or(0), row));
        assert_eq!(app.state.editor.current_tab(), 1);
        app.keys("ctrl-q 3");
        for number in 1..=9 {
            app.state.output.open(RunInfo {
                stream: StreamId(number),
                exec: crate::domain::ExecId::new("x1"),
                hold: crate::app::panes::output::Hold::Own,
                sandbox: reference("ada"),
                sandbox_name: "ada".into(),
                title: format!("run{number}.py"),
                started: start(),
            });
        }
        for title in ["run9.py", "run8.py", "run9.py"] {
            app.click(title.trim_end_matches(".py"));
            let shown = app
                .state
                .output
                .current()
                .map(|run| run.info().title.clone());
            assert_eq!(shown.as_deref(), Some(title), "{}", app.screen());
        }
    }
}

#[test]
fn rows_of_lists_over_the_panes_are_chosen() {
    let mut app = app(80, 24);
    app.keys("C");
    app.click("] memory");
    assert!(app.state.sandboxes.hidden().contains(&Column::Memory));
    app.keys("esc :");
    app.typed("columns");
    app.click("Choose the columns");
    assert!(matches!(
        app.state.view.overlay,
        Some(Overlay::Columns { .. })
    ));
    app.keys("esc c");
    app.click("processes");
    app.typed("9");
    let Some(Overlay::Create(form)) = &app.state.view.overlay else {
        unreachable!("the form is open");
    };
    let typed = form.fields.iter().find(|field| field.label == "processes");
    assert_eq!(typed.map(|field| field.line.text()), Some("9".into()));
}

#[test]
fn the_wheel_moves_what_is_under_it() {
    let names: Vec<String> = (0..40).map(|i| format!("box{i:02}")).collect();
    let mut app = App::new(80, 24);
    app.list(names.iter().map(|name| sandbox(name)).collect());
    app.tick(0);
    let place = app.find("box01");
    app.keys("2");
    app.mouse(MouseKind::WheelDown, place);
    assert!(!app.screen().contains("box00"), "{}", app.screen());
    assert_eq!(app.state.view.focus, Pane::Editor);
    app.mouse(MouseKind::WheelUp, place);
    assert!(app.screen().contains("box00"));
    app.keys("?");
    let before = app.screen();
    app.mouse(MouseKind::WheelDown, (40, 12));
    assert_ne!(app.screen(), before);
    app.mouse(MouseKind::WheelUp, (40, 12));
    assert_eq!(app.screen(), before);
}

#[test]
fn nothing_anywhere_panics() {
    for (width, height) in [(60, 16), (80, 24), (161, 47), (20, 5)] {
        for keys in [
            "1", "2", "3", "4", "?", ":", "c", "d", "i", "C", "f7", "f8", "z", "2 o", "2 !",
        ] {
            let mut app = app(width, height);
            app.keys(keys);
            for column in (0..width + 2).step_by(7) {
                for row in 0..height + 2 {
                    for kind in [MouseKind::WheelDown, MouseKind::Drag, MouseKind::WheelUp] {
                        app.mouse(kind, (column, row));
                    }
                }
            }
            drop(app.screen());
        }
    }
}
