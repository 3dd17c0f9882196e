//! Hostile text under random keys, and a measurement.

use std::time::{Duration, Instant};

use ratatui::buffer::Buffer as Cells;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use super::*;
use crate::ui::editor::EditorPane;
use crate::ui::theme::Theme;

/// Keys, with `v` put back by Ctrl, and `z` for undo and redo.
const KEYS: [KeyCode; 16] = [
    KeyCode::Left,
    KeyCode::Right,
    KeyCode::Up,
    KeyCode::Down,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::Tab,
    KeyCode::BackTab,
    KeyCode::Enter,
    KeyCode::Backspace,
    KeyCode::Delete,
    KeyCode::PageUp,
    KeyCode::Char('x'),
    KeyCode::Char('\''),
    KeyCode::Char('v'),
    KeyCode::Char('z'),
];

fn press_at_random(editor: &mut EditorState, pick: usize) {
    let modifier = ["", "", "shift", "ctrl"][pick / 16 % 4];
    match KEYS[pick % 16] {
        KeyCode::Char('z') => drop(editor.on_action([Action::Undo, Action::Redo][pick / 64 % 2])),
        code => drop(editor.type_key(with(code, modifier))),
    }
}

#[test]
fn random_keys_on_hostile_text_keep_colours_and_undo_right() {
    let hostile = "def f():\n\t'''漢\u{1b}[2J\n👩\u{200d}👧\u{202e}\n'''\nx = 1\n\0\u{301}";
    let grammars = Grammars::load();
    let mut seed: u64 = 11;
    for _ in 0..12 {
        let mut editor = opened("/workspace/a.py", hostile.as_bytes());
        for _ in 0..80 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let pick = usize::try_from(seed >> 40).unwrap_or(0);
            press_at_random(&mut editor, pick);
            if pick % 3 == 0 {
                editor.current_mut().advance_highlighting(&grammars);
            }
        }
        let mut fresh = opened("/workspace/a.py", editor.current_text().as_bytes());
        while editor.current_mut().advance_highlighting(&grammars) {}
        while fresh.current_mut().advance_highlighting(&grammars) {}
        for row in 0..fresh.current().text.lines().len() {
            let spans = |editor: &EditorState| editor.current().text.highlight.spans(row).to_vec();
            assert_eq!(spans(&editor), spans(&fresh), "{:?}", editor.current_text());
        }
        while editor.current_mut().text.undo() {}
        assert_eq!(
            (editor.current_text().as_str(), editor.dirty_count()),
            (hostile, 0)
        );
    }
}

#[test]
fn colours_reach_the_place_that_a_key_jumped_to_with_its_first_frame() {
    let mut editor = opened("/workspace/a.py", "if x: pass\n".repeat(1_000).as_bytes());
    while draw(&mut editor) {}
    editor.on_action(Action::Bottom);
    while editor.advance_highlighting() {}
    assert!(!editor.current().text.highlight.spans(990).is_empty());
}

#[test]
fn colours_outlive_their_grammars_and_go_on_with_new_ones() {
    let mut editor = opened("/workspace/a.py", b"a = \"\"\"\nif\n\"\"\"\n");
    while editor.advance_highlighting() {}
    let before = editor.current().text.highlight.spans(1).to_vec();
    editor.forget_grammars();
    assert!(!editor.advance_highlighting());
    assert!(editor.grammars.is_none(), "nothing is stale");
    editor.on_action(Action::Bottom);
    editor.paste("if y: pass\n");
    while editor.advance_highlighting() {}
    let spans = |row| editor.current().text.highlight.spans(row).to_vec();
    assert_eq!(spans(1), before);
    assert_eq!(spans(3).first().map(|span| span.code), Some(Code::Keyword));
}

#[test]
fn a_language_without_a_grammar_is_looked_for_once() {
    let mut editor = opened("/workspace/a.no-such-language", b"x\ny\n");
    while editor.advance_highlighting() {}
    editor.forget_grammars();
    assert!(!editor.advance_highlighting());
    assert!(editor.grammars.is_none(), "loaded in vain with every frame");
}

#[test]
fn only_what_nobody_has_touched_is_a_suggestion() {
    let mut editor = EditorState::default();
    assert!(editor.shows_suggestion());
    editor.paste("x");
    assert!(!editor.shows_suggestion());
    assert!(!opened("/workspace/a.py", b"x").shows_suggestion());
}

/// Returns the time this thread was on a processor, which other programs do not disturb.
fn busy() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// Prints what one of `rounds` takes, in processor time and by the clock.
#[allow(clippy::print_stdout)]
fn measure(what: &str, rounds: u32, mut work: impl FnMut(u32)) {
    let (start, cpu) = (Instant::now(), busy());
    (0..rounds).for_each(&mut work);
    let (cpu, wall) = (
        busy().saturating_sub(cpu) / rounds,
        start.elapsed() / rounds,
    );
    println!("{what}: cpu {cpu:.2?}, wall {wall:.2?}");
}

fn draw(editor: &mut EditorState) -> bool {
    let more = editor.advance_highlighting();
    let (area, theme) = (Rect::new(0, 0, 120, 50), Theme::dark());
    let pane = EditorPane {
        state: editor,
        theme: &theme,
        focused: true,
        editing: true,
    };
    pane.render(area, &mut Cells::empty(area));
    more
}

fn draw_once(editor: &mut EditorState) {
    draw(editor);
}

fn type_at(editor: &mut EditorState, round: u32) {
    let is_tenth = round.is_multiple_of(10);
    let code = if is_tenth {
        KeyCode::Enter
    } else {
        KeyCode::Char('x')
    };
    press(editor, code);
}

/// Run with `cargo test --release --lib perf_editor -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn perf_editor() {
    let line =
        "    value = compute(a, 'text', 12)  # a comment that is of the usual length or so\n";
    let text = line.repeat(1_000_000 / line.len());
    let mut editor = empty();
    measure("paste of 1 MB", 1, |_| drop(editor.paste(&text)));
    measure("undo of it", 1, |_| drop(editor.on_action(Action::Undo)));
    editor.paste(&line.repeat(10_000));
    editor.on_action(Action::Top);
    measure("first frame", 1, |_| draw_once(&mut editor));
    while draw(&mut editor) {}
    measure("key at 10 000 lines", 200, |n| type_at(&mut editor, n));
    measure("frame", 200, |_| draw_once(&mut editor));
    measure("key and frame", 200, |n| {
        type_at(&mut editor, n);
        draw_once(&mut editor);
    });
    editor.on_action(Action::Bottom);
    draw_once(&mut editor);
    measure("colours to the end", 1, |_| while draw(&mut editor) {});
    let by = PromptKind::ReplaceBy {
        what: "value".into(),
    };
    measure("10 000 replacements", 1, |_| {
        drop(editor.answer(&by, "other"));
    });
}
