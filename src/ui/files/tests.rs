//! The files pane as it looks, at all sizes and with all that may be in it.

use std::time::Instant;

use chrono::TimeDelta;
use insta::assert_snapshot;
use ratatui::buffer::Cell;

use super::*;
use crate::app::panes::files::tests::{entry, file, folder, link, pane, path, sandbox};
use crate::domain::{FileEntry, FileKind};
use crate::keymap::Action;
use crate::text::display_width;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_000_000 + 3 * 24 * 3600, 0).unwrap_or_default()
}

fn buffer(state: &FilesState, theme: &Theme, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let pane = FilesPane {
        state,
        theme,
        focused: true,
        now: now(),
    };
    pane.render(area, &mut buffer);
    buffer
}

fn screen(state: &FilesState, width: u16, height: u16) -> String {
    let buffer = buffer(state, &Theme::mono(), width, height);
    let rows = buffer.content.chunks(width.into());
    rows.map(line).collect::<Vec<_>>().join("\n")
}

/// Reads a row as a terminal shows it: what is behind a wide character is not seen.
fn line(row: &[Cell]) -> String {
    let (mut line, mut hidden) = (String::new(), 0);
    for cell in row {
        if hidden == 0 {
            line.push_str(cell.symbol());
        }
        hidden = (hidden.max(display_width(cell.symbol()))).saturating_sub(1);
    }
    line.trim_end().to_owned()
}

fn title(state: &FilesState) -> String {
    let pane = FilesPane {
        state,
        theme: &Theme::mono(),
        focused: true,
        now: now(),
    };
    pane.title()
}

fn usual() -> FilesState {
    let mut state = pane(vec![
        folder("src"),
        FileEntry {
            size: 3 << 20,
            ..file("main.py")
        },
        link("data", "/mnt/data"),
        file("größe 漢字.txt"),
        entry("pipe", FileKind::Special),
        file(".env"),
        file("bad\x1b[2J\n\u{202e}"),
    ]);
    state.on_action(Action::ToggleHidden, 8);
    let found = (0..7).find(|_| {
        state.on_action(Action::Down, 8);
        state
            .selected()
            .is_some_and(|entry| entry.name == b"main.py")
    });
    assert!(found.is_some());
    state
}

fn with_preview(bytes: &[u8], is_cut: bool) -> FilesState {
    let mut state = usual();
    let file = path("/workspace/main.py");
    // The first answer is for what was selected on the way.
    state.on_action(Action::Refresh, 8);
    state.previewed(&sandbox("py"), &file, Ok((bytes.to_vec(), is_cut)));
    state
}

fn failing(failure: Failure) -> FilesState {
    let mut state = usual();
    state.listed(&sandbox("py"), &path("/workspace"), Err(failure));
    state
}

#[test]
fn a_small_pane_shows_rows() {
    let mut state = usual();
    state.on_action(Action::Mark, 8);
    assert_snapshot!(screen(&state, 60, 8), @r"
     drw-r--r--        -    3d src/
     -rw-r--r--  1.5 KiB    3d .env
     -rw-r--r--  1.5 KiB    3d bad\x1b[2J\n<U+202E>
     lrw-r--r--  1.5 KiB    3d data → /mnt/data
     -rw-r--r--  1.5 KiB    3d größe 漢字.txt
    *-rw-r--r--    3 MiB    3d main.py
     ?rw-r--r--        -    3d pipe
    ");
    assert_eq!(title(&state), "py:/workspace (7) 1 marked");
}

#[test]
fn a_wide_pane_shows_the_file_too() {
    let state = with_preview(b"import sys\n\nif True:\n\tprint('\x1b[31mred')\n", false);
    assert_snapshot!(screen(&state, 100, 12), @r"
    drw-r--r--        -    3d src/                   │main.py: 3 MiB, 1000:1000, 3d old
    -rw-r--r--  1.5 KiB    3d .env                   │import sys
    -rw-r--r--  1.5 KiB    3d bad\x1b[2J\n<U+202E>   │
    lrw-r--r--  1.5 KiB    3d data → /mnt/data       │if True:
    -rw-r--r--  1.5 KiB    3d größe 漢字.txt         │    print('\x1b[31mred')
    -rw-r--r--    3 MiB    3d main.py                │
    ?rw-r--r--        -    3d pipe                   │
                                                     │
                                                     │
                                                     │
                                                     │
                                                     │
    ");
}

#[test]
fn what_is_no_text_is_dumped() {
    let state = with_preview(b"\x7fELF\x02\x01\x01\0\0\0 and more", true);
    assert_snapshot!(screen(&state, 100, 12), @r"
    drw-r--r--        -    3d src/                   │main.py: first 256 KiB of 3 MiB, 1000:1000, 3d o…
    -rw-r--r--  1.5 KiB    3d .env                   │00000 7f 45 4c 46 02 01 01 00 .ELF....
    -rw-r--r--  1.5 KiB    3d bad\x1b[2J\n<U+202E>   │00008 00 00 20 61 6e 64 20 6d .. and m
    lrw-r--r--  1.5 KiB    3d data → /mnt/data       │00010 6f 72 65                ore
    -rw-r--r--  1.5 KiB    3d größe 漢字.txt         │
    -rw-r--r--    3 MiB    3d main.py                │
    ?rw-r--r--        -    3d pipe                   │
                                                     │
                                                     │
                                                     │
                                                     │
                                                     │
    ");
}

#[test]
fn a_tall_pane_shows_the_file_below() {
    let state = with_preview(b"one\ntwo\n", false);
    assert_snapshot!(screen(&state, 36, 17), @r"
     src/                              -
     .env                        1.5 KiB
     bad\x1b[2J\n<U+202E>        1.5 KiB
     data → /mnt/data            1.5 KiB
     größe 漢字.txt              1.5 KiB
     main.py                       3 MiB
     pipe                              -

    ────────────────────────────────────
    main.py: 3 MiB, 1000:1000, 3d old
    one
    two
    ");
}

#[test]
fn the_selected_row_is_reversed() {
    let state = usual();
    let buffer = buffer(&state, &Theme::mono(), 60, 8);
    let is_reversed = |y: u16| {
        let cell = buffer.cell((0, y)).expect("a cell");
        cell.modifier.contains(ratatui::style::Modifier::REVERSED)
    };
    let reversed: Vec<u16> = (0..8).filter(|y| is_reversed(*y)).collect();
    assert_eq!(reversed, [5]);
}

#[test]
fn empty_states_say_why() {
    let nothing = FilesState::default();
    assert_eq!(
        screen(&nothing, 60, 2).trim(),
        "Select a running sandbox to see its files."
    );
    assert_eq!(title(&nothing), "");
    assert_eq!(screen(&pane(vec![]), 60, 1), "This folder is empty.");
    let hidden = pane(vec![file(".rc")]);
    assert_eq!(screen(&hidden, 60, 1), "All files here are hidden.");
    let stopped = failing(Failure::new(FailureKind::Conflict, "py is stopped"));
    assert_eq!(
        screen(&stopped, 60, 1),
        "py is not running; start it to see its files."
    );
    let paused = Failure::new(FailureKind::Conflict, "py is busy").with_hint("resume it first");
    assert_eq!(
        screen(&failing(paused), 72, 1),
        "py is paused; p in the list resumes it. Until then this is not seen."
    );
    let failure = Failure::new(FailureKind::Denied, "/root\x1b is denied").with_hint("ask root");
    assert_eq!(
        screen(&failing(failure), 60, 2),
        "/root\\x1b is denied\nask root"
    );
}

#[test]
fn waiting_is_told_after_a_while() {
    let mut state = usual();
    state.tick(now() - TimeDelta::milliseconds(199));
    state.on_action(Action::Ascend, 8);
    assert_eq!(screen(&state, 60, 1), "");
    assert_eq!(title(&state), "py:/");
    state.tick(now() - TimeDelta::milliseconds(200));
    state.on_action(Action::Refresh, 8);
    assert_eq!(screen(&state, 60, 1), "Loading…");
    assert_eq!(title(&state), "py:/ loading");
}

#[test]
fn every_size_and_any_name_can_be_drawn() {
    let mut seed: u64 = 9;
    let mut name = || -> Vec<u8> {
        (0..24)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                seed.to_be_bytes().first().copied().unwrap_or(0)
            })
            .collect()
    };
    let mut entries: Vec<FileEntry> = (0..30).map(|_| file(name())).collect();
    entries.extend(
        [
            "👩\u{200d}👧",
            "e\u{301}\u{302}",
            "\u{200b}",
            "漢".repeat(200).as_str(),
        ]
        .map(file),
    );
    let mut state = pane(entries);
    state.on_action(Action::Bottom, 30);
    for (width, height) in (0..120)
        .step_by(7)
        .flat_map(|w| (0..24).map(move |h| (w + 1, h + 1)))
    {
        let buffer = buffer(&state, &Theme::dark(), width, height);
        let symbols = buffer.content.iter().map(Cell::symbol);
        assert!(symbols.into_iter().all(|s| !s.contains(char::is_control)));
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "the time is what this test is about")]
fn five_thousand_files_draw_fast() {
    let mut state = pane((0..5000).map(|n| file(format!("file-{n}.txt"))).collect());
    state.on_action(Action::Bottom, 60);
    let line = "é".repeat(200_000);
    state.previewed(
        &sandbox("py"),
        &path("/workspace/file-4999.txt"),
        Ok((line.into_bytes(), false)),
    );
    let start = Instant::now();
    let buffer = buffer(&state, &Theme::dark(), 200, 60);
    eprintln!("5000 files: a frame of 200x60 took {:?}", start.elapsed());
    assert_eq!(buffer.content.len(), 12_000);
}
