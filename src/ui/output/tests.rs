//! Screens of the output pane.

use std::time::Duration;

use bytes::Bytes;
use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier};

use super::*;
use crate::app::PromptKind;
use crate::app::panes::output::{MOST_LINES, RunInfo};
use crate::domain::{
    Ended, ExecEnd, HostName, OutputChunk, SandboxId, SandboxRef, StreamId, StreamKind,
};
use crate::keymap::Action;
use crate::text::display_width;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_323_045, 0).unwrap_or_default()
}

fn open(state: &mut OutputState, stream: u64, title: &str) {
    state.open(RunInfo {
        stream: StreamId(stream),
        exec: crate::domain::ExecId::new("x1"),
        hold: crate::app::panes::output::Hold::Own,
        sandbox: SandboxRef::new(HostName::new("local"), SandboxId::new("a")),
        sandbox_name: "py".to_owned(),
        title: title.to_owned(),
        started: now() - chrono::TimeDelta::milliseconds(3200),
    });
}

fn push(state: &mut OutputState, stream: StreamKind, text: &str) {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    state.push(StreamId(1), &OutputChunk { stream, bytes }, now());
}

fn with(text: &str) -> OutputState {
    let mut state = OutputState::new();
    open(&mut state, 1, "main.py");
    push(&mut state, StreamKind::Stdout, text);
    state
}

fn end(state: &mut OutputState, ended: Ended, peak: Option<u64>, millis: u64) {
    let end = ExecEnd {
        peak_memory_bytes: peak,
        ..ExecEnd::bare(ended)
    };
    state.end(StreamId(1), &Ok(end), Duration::from_millis(millis));
}

fn numbered(count: usize) -> String {
    let lines: Vec<String> = (1..=count).map(|n| format!("line {n}\n")).collect();
    lines.concat()
}

fn pane<'a>(state: &'a OutputState, theme: &'a Theme) -> OutputPane<'a> {
    OutputPane {
        state,
        theme,
        focused: true,
        now: now(),
    }
}

fn buffer(state: &OutputState, theme: &Theme, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test terminal");
    let drawn = terminal.draw(|frame| frame.render_widget(pane(state, theme), frame.area()));
    drawn.expect("a drawn frame").buffer.clone()
}

/// Returns the screen as text with a bar at its right edge.
fn screen(state: &OutputState, width: u16, height: u16) -> String {
    let buffer = buffer(state, &Theme::dark(), width, height);
    let row = |y: u16| {
        let (mut line, mut x) = (String::new(), 0);
        while let Some(cell) = buffer.cell((x, y)) {
            line.push_str(cell.symbol());
            x += u16::try_from(display_width(cell.symbol()).max(1)).unwrap_or(1);
        }
        line + "|"
    };
    (0..height).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn says_what_to_press() {
    assert_snapshot!(screen(&OutputState::new(), 60, 8), @r"
    No output yet. Press F9 to run the editor's buffer, or x for|
    a shell.                                                    |
                                                                |
                                                                |
                                                                |
                                                                |
                                                                |
                                                                |
    ");
}

#[test]
fn tells_the_streams_apart() {
    let mut state = with("building\n漢字 🙂 ok\n");
    push(&mut state, StreamKind::Stderr, "warning: unused\n");
    push(&mut state, StreamKind::Stdout, "10%\r55%");
    assert_snapshot!(screen(&state, 60, 8), @r"
     building                                                   |
     漢字 🙂 ok                                                 |
    ┃warning: unused                                            |
     55%                                                        |
                                                                |
                                                                |
                                                                |
    ● running · 3.2 s                                  FOLLOWING|
    ");
    end(&mut state, Ended::Code(3), Some(12 << 20), 1_250);
    assert_snapshot!(screen(&state, 100, 10), @r"
     building                                                                                           |
     漢字 🙂 ok                                                                                         |
    ┃warning: unused                                                                                    |
     55%                                                                                                |
                                                                                                        |
                                                                                                        |
                                                                                                        |
                                                                                                        |
                                                                                                        |
    ✗ exit 3 · 1.2 s · peak 12 MiB                                                                 END 4|
    ");
}

#[test]
fn processes_that_were_refused_are_told_at_the_end() {
    let mut state = with("");
    let end = ExecEnd {
        refused_processes: Some(7),
        ..ExecEnd::bare(Ended::Code(1))
    };
    state.end(StreamId(1), &Ok(end), Duration::from_millis(1200));
    let screen = screen(&state, 80, 4);
    assert!(
        screen.contains("exit 1 · 1.2 s · 7 processes refused"),
        "{screen}"
    );
}

#[test]
fn shows_times_places_and_matches() {
    let mut state = with(&numbered(40));
    state.resize(60, 7);
    for action in [Action::Timestamps, Action::PageUp] {
        state.on_action(action, 7, now());
    }
    state.answer(&PromptKind::SearchOutput, "line 3");
    assert_snapshot!(screen(&state, 60, 8), @r"
     03:04:05 line 27                                           |
     03:04:05 line 28                                           |
     03:04:05 line 29                                           |
     03:04:05 line 30                                           |
     03:04:05 line 31                                           |
     03:04:05 line 32                                           |
     03:04:05 line 33                                           |
    ● running · 3.2 s  /line 3                      PAUSED 33/40|
    ");
    let buffer = buffer(&state, &Theme::dark(), 60, 8);
    let styles = |x, y| buffer.cell((x, y)).map(|cell| (cell.bg, cell.modifier));
    let found = Modifier::BOLD | Modifier::UNDERLINED;
    assert_eq!(styles(10, 3), Some((Color::Yellow, found)));
    assert_eq!(styles(10, 4), Some((Color::Yellow, Modifier::empty())));
    assert_eq!(styles(16, 4), Some((Color::Reset, Modifier::empty())));
}

#[test]
fn cuts_or_wraps_long_lines() {
    let mut state = with(&format!("{}\nnext 漢漢\n", "0123456789".repeat(14)));
    push(&mut state, StreamKind::Stderr, &"e".repeat(9_000));
    assert_snapshot!(screen(&state, 60, 8), @r"
     0123456789012345678901234567890123456789012345678901234567…|
     next 漢漢                                                  |
    ┃eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee… +808 bytes|
                                                                |
                                                                |
                                                                |
                                                                |
    ● running · 3.2 s                                  FOLLOWING|
    ");
    state.on_action(Action::Wrap, 7, now());
    state.on_action(Action::Top, 7, now());
    assert_snapshot!(screen(&state, 60, 8), @r"
     01234567890123456789012345678901234567890123456789012345678|
     90123456789012345678901234567890123456789012345678901234567|
     8901234567890123456789                                     |
     next 漢漢                                                  |
    ┃eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee|
    ┃eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee|
    ┃eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee|
    ● running · 3.2 s                                 PAUSED 3/3|
    ");
}

#[test]
fn counts_what_is_dropped() {
    let mut state = with(&numbered(MOST_LINES + 1_234));
    assert_snapshot!(screen(&state, 60, 3), @r"
     line 11233                                                 |
     line 11234                                                 |
    ● running · 3.2 s  … 1 234 lines dropped           FOLLOWING|
    ");
    assert!(screen(&state, 47, 3).contains("… 1234 dropped"));
    end(&mut state, Ended::TimedOut, None, 5_000);
    assert_snapshot!(screen(&state, 100, 3), @r"
     line 11233                                                                                         |
     line 11234                                                                                         |
    ✗ timeout · 5.0 s  … 1 234 lines dropped                                                   END 11234|
    ");
}

#[test]
fn keeps_colours_and_drops_them_without_colour() {
    let state = with("\x1b[1;31mred\x1b[0m \x1b[48;5;200mx\x1b[38;2;1;2;3my\n");
    let look = |theme: &Theme, x| {
        let buffer = buffer(&state, theme, 60, 8);
        buffer
            .cell((x, 0))
            .map(|cell| (cell.fg, cell.bg, cell.modifier))
    };
    let none = Modifier::empty();
    assert_eq!(
        look(&Theme::dark(), 1),
        Some((Color::Red, Color::Reset, Modifier::BOLD))
    );
    assert_eq!(
        look(&Theme::dark(), 4),
        Some((Color::Reset, Color::Reset, none))
    );
    assert_eq!(
        look(&Theme::dark(), 5),
        Some((Color::Reset, Color::Indexed(200), none))
    );
    assert_eq!(
        look(&Theme::dark(), 6),
        Some((Color::Rgb(1, 2, 3), Color::Indexed(200), none))
    );
    assert_eq!(
        look(&Theme::mono(), 1),
        Some((Color::Reset, Color::Reset, Modifier::BOLD))
    );
    assert_eq!(
        look(&Theme::mono(), 6),
        Some((Color::Reset, Color::Reset, none))
    );
}

#[test]
fn ascii_themes_print_ascii_only() {
    let mut state = with(&numbered(MOST_LINES + 5));
    push(&mut state, StreamKind::Stderr, &"e".repeat(9_000));
    end(&mut state, Ended::Code(0), Some(1), 120);
    let mut theme = Theme::dark();
    theme.ascii = true;
    let mut buffer = buffer(&state, &theme, 100, 10);
    theme.finish(&mut buffer);
    // What has no replacement of its own becomes a question mark.
    let is_plain = |symbol: &str| symbol.is_ascii() && symbol != "?";
    assert!(buffer.content().iter().all(|cell| is_plain(cell.symbol())));
}

#[test]
fn tabs_show_how_each_run_stands() {
    let mut state = with("");
    end(&mut state, Ended::Code(0), None, 120);
    open(&mut state, 2, "a very long title of a script.py");
    open(&mut state, 3, "make");
    let theme = Theme::dark();
    let title = |state: &OutputState, width| pane(state, &theme).title_in(width).to_string();
    assert_eq!(
        pane(&state, &theme).title().to_string(),
        " main.py ✓ ok  a very long title of a … ● running 3.2 s  make ● running 3.2 s "
    );
    assert_eq!(title(&state, 40), "< make ● running 3.2 s ");
    state.select(StreamId(1));
    assert_eq!(title(&state, 30), " main.py ✓ ok  a very long ti…");
    assert_eq!(title(&OutputState::new(), 40), "");
}

#[test]
fn draws_in_areas_of_any_size() {
    let mut state = with("漢字 🙂\u{301} e\u{301}\n\tx\n");
    push(
        &mut state,
        StreamKind::Stderr,
        &"👩\u{200d}👧".repeat(3_000),
    );
    state.answer(&PromptKind::SearchOutput, "👧");
    for round in 0..4 {
        for (width, height) in (0..40).flat_map(|width| (0..5).map(move |height| (width, height))) {
            let area = Rect::new(2, 1, width, height);
            let mut buffer = Buffer::empty(Rect::new(0, 0, 44, 8));
            pane(&state, &Theme::dark()).render(area, &mut buffer);
            let outside = (0..44).flat_map(|x| (0..8).map(move |y| (x, y)));
            let mut outside = outside.filter(|&at| !area.contains(at.into()));
            assert!(outside.all(|at| buffer.cell(at).is_some_and(|cell| cell.symbol() == " ")));
        }
        let action = if round % 2 == 0 {
            Action::Wrap
        } else {
            Action::Timestamps
        };
        state.on_action(action, 3, now());
    }
    pane(&state, &Theme::dark()).render(
        Rect::new(90, 90, 5, 5),
        &mut Buffer::empty(Rect::new(0, 0, 4, 4)),
    );
}
