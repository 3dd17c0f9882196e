//! Every pane, overlay and empty state, with how it looks in two themes: one file a scene.
//!
//! A picture is text, with rows that repeat told once. Below it stand the styles of its cells: how many cells of each in
//! either theme, and where. Every scene is drawn at four sizes, but only those that show how panes share the screen keep
//! pictures of all: a feature should change few of them.

mod lists;
mod over;
mod panes;

use std::collections::BTreeMap;
use std::fmt::Write;

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::answer;
use crate::app::testing::{App, sample, sandbox};
use crate::domain::Phase;
use crate::ui::theme::Theme;

const SIZES: [(u16, u16); 4] = [(60, 16), (80, 24), (120, 40), (200, 60)];

/// The size of most pictures.
const USUAL: (u16, u16) = (80, 24);

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

/// Tells where each look but the plain one stands, with equal rows told once.
fn places(buffer: &Buffer) -> String {
    let mut told: Vec<(usize, usize, String)> = Vec::new();
    for (number, row) in rows(buffer).enumerate() {
        let places = places_in(row);
        match told.last_mut() {
            Some((_, to, last)) if *last == places => *to = number,
            _ => told.push((number, number, places)),
        }
    }
    let mut all = String::new();
    for (from, to, places) in told.iter().filter(|(.., places)| !places.is_empty()) {
        let _ = match to - from {
            0 => writeln!(all, "  {from}: {places}"),
            _ => writeln!(all, "  {from}-{to}: {places}"),
        };
    }
    all
}

fn places_in(row: &[Cell]) -> String {
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
    told.collect::<Vec<_>>().join(", ")
}

/// Compares a scene at the usual size with the file of its name.
fn check(name: &str, make: impl Fn(u16, u16) -> App) {
    compare(name, make, &[USUAL]);
}

/// Compares a scene at all sizes with the file of its name.
fn check_sizes(name: &str, make: impl Fn(u16, u16) -> App) {
    compare(name, make, &SIZES);
}

fn compare(name: &str, make: impl Fn(u16, u16) -> App, kept: &[(u16, u16)]) {
    let mut all = String::new();
    for size in SIZES {
        let app = make(size.0, size.1);
        let dark = draw(&app, &Theme::dark());
        let mono = draw(&app, &Theme::mono());
        themes_change_no_text(&app, &text(&dark));
        if kept.contains(&size) {
            let _ = writeln!(all, "== {}x{}\n{}", size.0, size.1, text(&dark));
        }
        if size == USUAL {
            let _ = writeln!(all, "dark: {}", counts(&dark));
            let _ = writeln!(all, "mono: {}\n", counts(&mono));
            let _ = writeln!(all, "dark, by row and columns:\n{}", places(&dark));
        }
    }
    assert_snapshot!(name, all);
}

fn themes_change_no_text(app: &App, dark: &str) {
    for theme in [Theme::light(), Theme::mono()] {
        assert_eq!(dark, text(&draw(app, &theme)), "a theme changes no text");
    }
    let mut plain = Theme::dark();
    plain.ascii = true;
    let ascii = text(&draw(app, &plain));
    let ours = ascii.lines().map(|line| line.split("  <- ").next());
    assert!(ours.flatten().all(str::is_ascii), "{ascii}");
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
