//! Every pane, overlay and empty state at four sizes, with how it looks in two themes: one file a scene.
//!
//! A picture is text, with rows that repeat told once. Below it stand the styles of its cells: how many cells of each in
//! either theme and, at the most common size, where.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use chrono::TimeDelta;
use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::{answer, app as busy};
use crate::app::output::RunInfo;
use crate::app::testing::{App, down, reference, sample, sandbox, start};
use crate::domain::{
    Belongs, Ended, ExecEnd, Facts, FileEntry, FileKind, OutputChunk, Phase, Reaped, Reason,
    Spared, Standing, StreamId, StreamKind, Usage, Verdict,
};
use crate::protocol::{Command, Event, FileOp, Reply};
use crate::ui::theme::Theme;

const SIZES: [(u16, u16); 4] = [(60, 16), (80, 24), (120, 40), (200, 60)];

/// The size at which it is told where each style stands.
const EXACT: (u16, u16) = (80, 24);

fn draw(app: &App, theme: &Theme) -> Buffer {
    let size = app.state.view.size;
    let backend = TestBackend::new(size.width, size.height);
    let mut terminal = Terminal::new(backend).expect("a terminal");
    terminal
        .draw(|frame| crate::ui::draw(frame, &app.state, theme))
        .expect("a drawing");
    terminal.backend().buffer().clone()
}

fn rows(buffer: &Buffer) -> impl Iterator<Item = &[Cell]> {
    buffer.content.chunks(usize::from(buffer.area.width))
}

/// Writes the cells, with equal rows told once.
fn text(buffer: &Buffer) -> String {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for row in rows(buffer) {
        let line: String = row.iter().map(Cell::symbol).collect();
        let line = line.trim_end().to_owned();
        match lines.last_mut() {
            Some((last, count)) if *last == line => *count += 1,
            _ => lines.push((line, 1)),
        }
    }
    let mut all = String::new();
    for (line, count) in lines {
        let _ = match count {
            1 => writeln!(all, "{line}"),
            count => writeln!(all, "{line}  <- {count} rows"),
        };
    }
    all
}

/// Names how a cell looks.
fn look(cell: &Cell) -> String {
    let colour = |colour: Color| format!("{colour:?}").to_lowercase();
    let mut words = Vec::new();
    if cell.fg != Color::Reset {
        words.push(colour(cell.fg));
    }
    if cell.bg != Color::Reset {
        words.push(format!("on {}", colour(cell.bg)));
    }
    let modifiers = cell.modifier.iter_names();
    words.extend(modifiers.map(|(name, _): (&str, Modifier)| name.to_lowercase()));
    if words.is_empty() {
        "plain".to_owned()
    } else {
        words.join(" ")
    }
}

/// Counts the cells of each look.
fn counts(buffer: &Buffer) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cell in &buffer.content {
        *counts.entry(look(cell)).or_default() += 1;
    }
    let words = counts.iter().map(|(look, count)| format!("{count} {look}"));
    words.collect::<Vec<_>>().join(", ")
}

/// Tells where each look but the plain one stands, row by row.
fn places(buffer: &Buffer) -> String {
    let mut all = String::new();
    for (number, row) in rows(buffer).enumerate() {
        let mut runs: Vec<(String, usize, usize)> = Vec::new();
        for (column, cell) in row.iter().enumerate() {
            let look = look(cell);
            match runs.last_mut() {
                Some((last, _, to)) if *last == look => *to = column,
                _ => runs.push((look, column, column)),
            }
        }
        let told = runs.iter().filter(|(look, ..)| look != "plain");
        let told = told.map(|(look, from, to)| format!("{from}-{to} {look}"));
        let told: Vec<String> = told.collect();
        if !told.is_empty() {
            let _ = writeln!(all, "  {number}: {}", told.join(", "));
        }
    }
    all
}

/// Draws a scene at all sizes and compares it with the file of its name.
fn check(name: &str, make: impl Fn(u16, u16) -> App) {
    let mut all = String::new();
    for (width, height) in SIZES {
        let app = make(width, height);
        let dark = draw(&app, &Theme::dark());
        let light = draw(&app, &Theme::light());
        let mono = draw(&app, &Theme::mono());
        assert_eq!(text(&dark), text(&mono), "a theme changes no text");
        assert_eq!(text(&dark), text(&light), "a theme changes no text");
        let _ = writeln!(all, "== {width}x{height}\n{}", text(&dark));
        let _ = writeln!(all, "dark: {}", counts(&dark));
        let _ = writeln!(all, "mono: {}\n", counts(&mono));
        if (width, height) == EXACT {
            let _ = writeln!(all, "dark, by row and columns:\n{}", places(&dark));
        }
        let mut plain = Theme::dark();
        plain.ascii = true;
        let ascii = text(&draw(&app, &plain));
        let ours = ascii.lines().map(|line| line.split("  <- ").next());
        assert!(ours.flatten().all(str::is_ascii), "{ascii}");
    }
    assert_snapshot!(name, all);
}

/// Some sandboxes in all phases, one of them marked.
fn several(width: u16, height: u16) -> App {
    let mut app = App::new(width, height);
    app.link(crate::app::testing::up());
    let phases = [
        ("ada", Phase::Running),
        ("bob", Phase::Paused),
        ("cyd", Phase::Creating),
        ("dan", Phase::Stopped),
        ("eve", Phase::Dead),
    ];
    let list = phases.map(|(name, phase)| {
        let mut one = sandbox(name);
        one.phase = phase;
        one
    });
    app.list(list.to_vec());
    for second in 0..30 {
        let cpu = f64::from(second) * 3.0;
        app.sample("ada", sample(second.into(), cpu, 500));
        app.sample("bob", sample(second.into(), 1.0, 30));
    }
    app.tick(30);
    app.keys("j space");
    app.state.status.dismiss();
    app
}

fn with_keys(keys: &'static str) -> impl Fn(u16, u16) -> App {
    move |width, height| {
        let mut app = several(width, height);
        app.keys("g");
        app.keys(keys);
        app.answer(answer);
        app.state.status.dismiss();
        app
    }
}

/// A run that printed on both streams, and one that goes on.
fn with_runs(width: u16, height: u16) -> App {
    let mut app = busy(width, height);
    for (number, title) in [(1, "first.py"), (2, "second.py")] {
        app.state.output.open(RunInfo {
            stream: StreamId(number),
            exec: crate::domain::ExecId::new("x1"),
            hold: crate::app::output::Hold::Own,
            sandbox: reference("py"),
            sandbox_name: "py".into(),
            title: title.into(),
            started: start() + TimeDelta::seconds(200),
        });
        let say = |stream, text: &str| OutputChunk {
            stream,
            bytes: text.to_owned().into(),
        };
        for chunk in [
            say(
                StreamKind::Stdout,
                "hello from py\n\x1b[32mgreen\x1b[0m and plain\n",
            ),
            say(StreamKind::Stderr, "warning: something is odd\n"),
            say(StreamKind::Stdout, "50%\r100% done\n"),
        ] {
            let stream = StreamId(number);
            app.engine(Event::Output { stream, chunk });
        }
    }
    app.engine(Event::Ended {
        stream: StreamId(1),
        outcome: Ok(ExecEnd {
            ended: Ended::Code(3),
            peak_memory_bytes: Some(9 << 20),
            cpu_time: None,
        }),
        took: Duration::from_millis(1_230),
    });
    app.keys("3");
    app.tick(240);
    app.state.status.dismiss();
    app
}

fn entry(name: &str, kind: FileKind, size: u64) -> FileEntry {
    FileEntry {
        name: name.as_bytes().to_vec(),
        kind,
        size,
        mode: 0o644,
        uid: 65534,
        gid: 65534,
        modified_at: start(),
    }
}

fn with_files(width: u16, height: u16, entries: &[FileEntry]) -> App {
    let mut app = App::new(width, height);
    app.link(crate::app::testing::up());
    app.list(vec![sandbox("py")]);
    app.tick(240);
    app.keys("4");
    app.answer(|command| match command {
        Command::File {
            op: FileOp::List(_),
            ..
        } => Some(Ok(Reply::Entries(entries.to_vec()))),
        _ => None,
    });
    app.tick(241);
    app.state.status.dismiss();
    app
}

#[test]
fn the_list() {
    check("list", several);
    check("list_empty", |width, height| App::with(width, height, &[]));
    check("list_filtered_out", |width, height| {
        let mut app = several(width, height);
        app.state.sandboxes.set_filter("nobody");
        app
    });
    check("list_zoomed", with_keys("z"));
}

#[test]
fn before_and_without_an_engine() {
    check("connecting", App::new);
    check("lost", |width, height| {
        let mut app = several(width, height);
        app.link(down(20, 8));
        app.tick(31);
        app.state.status.dismiss();
        app
    });
}

#[test]
fn the_editor() {
    check("editor", with_keys("2"));
    check("editor_typing", |width, height| {
        let mut app = several(width, height);
        app.keys("2 i");
        app.typed("x = 'a' # b");
        app
    });
}

#[test]
fn the_output() {
    check("output_empty", with_keys("3"));
    check("output", with_runs);
    check("output_ended", |width, height| {
        let mut app = with_runs(width, height);
        app.keys("[");
        app
    });
}

#[test]
fn the_files() {
    check("files_waiting", with_keys("4"));
    check("files_empty", |width, height| {
        with_files(width, height, &[])
    });
    check("files", |width, height| {
        let entries = [
            entry("src", FileKind::Directory, 0),
            entry("main.py", FileKind::File, 1_500),
            entry("a\u{1b}[2Jb\u{202e}c 漢字", FileKind::File, 5 << 30),
        ];
        with_files(width, height, &entries)
    });
}

#[test]
fn what_lies_over_the_panes() {
    check("help", with_keys("?"));
    check("palette", with_keys(": s h e l l"));
    check("confirm", with_keys("d"));
    check("filter", with_keys("/ a d a"));
    check("create", with_keys("c"));
    check("columns", with_keys("C"));
    check("log_empty", with_keys("f8"));
    check("events_empty", with_keys("f7"));
    check("inspect", with_keys("i"));
    check("message", |width, height| {
        let mut app = several(width, height);
        app.keys("m");
        app
    });
}

fn standing(name: &str, verdict: Verdict, idle: u64) -> Reaped {
    Reaped {
        sandbox: sandbox(name),
        standing: Standing {
            sandbox: reference(name),
            facts: Facts {
                usage: Usage::Idle(Duration::from_secs(idle)),
                belongs: Belongs::Us,
                pinned: false,
                paused: false,
                changing: false,
            },
            verdict,
            last_end: None,
            death: None,
        },
        done: None,
    }
}

#[test]
fn reaping() {
    check("reap", |width, height| {
        let mut app = several(width, height);
        app.keys("R");
        app.answer(|command| match command {
            Command::Survey { .. } => Some(Ok(Reply::Reaped(
                vec![
                    standing("ada", Verdict::Remove(Reason::Idle), 7_200),
                    standing("bob", Verdict::Keep(Spared::Pinned), 60),
                ],
                Vec::new(),
            ))),
            _ => None,
        });
        app.state.status.dismiss();
        app
    });
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    for (width, height) in [(59, 16), (60, 15), (30, 8), (20, 4)] {
        let app = several(width, height);
        let drawn = text(&draw(&app, &Theme::dark()));
        let told = drawn.lines().map(|line| line.split("  <- ").next());
        let told: Vec<&str> = told.flatten().collect();
        let words: Vec<&str> = told
            .iter()
            .flat_map(|line| line.split_whitespace())
            .collect();
        let expected = format!("sandtop needs 60x16 cells; this terminal has {width}x{height}.");
        assert_eq!(words.join(" "), expected);
    }
    drop(draw(&several(1, 1), &Theme::dark()));
}
