//! The editor as it is drawn.

use insta::assert_snapshot;
use ratatui::style::Modifier;

use super::*;
use crate::domain::{HostName, SandboxId, SandboxPath, SandboxRef};
use crate::keymap::{Action, Key, KeyCode};

fn drawn(state: &EditorState, theme: &Theme, width: u16, height: u16) -> Cells {
    let area = Rect::new(0, 0, width, height);
    let mut cells = Cells::empty(area);
    pane(state, theme).render(area, &mut cells);
    cells
}

fn pane<'a>(state: &'a EditorState, theme: &'a Theme) -> EditorPane<'a> {
    EditorPane {
        state,
        theme,
        focused: true,
        editing: true,
    }
}

/// Writes the title, then the rows, each closed by a bar.
fn screen(state: &EditorState, width: u16, height: u16) -> String {
    let theme = Theme::dark();
    let cells = drawn(state, &theme, width, height);
    let mut out = format!("{}\n", pane(state, &theme).title(width));
    for y in 0..height {
        let mut skip = 0;
        for x in 0..width {
            let symbol = cells.cell((x, y)).map_or("", |cell| cell.symbol());
            if skip == 0 {
                out.push_str(symbol);
            }
            skip = display_width(symbol).max(skip).saturating_sub(1);
        }
        out.push_str("|\n");
    }
    out
}

fn opened(name: &str, bytes: &[u8]) -> EditorState {
    let mut state = EditorState::new();
    let sandbox = SandboxRef::new(HostName::new("local"), SandboxId::new("abc"));
    let path = SandboxPath::parse(name.as_bytes()).expect("a valid path");
    state.loaded(sandbox, path, None, Ok(bytes.to_vec()));
    state
}

#[test]
fn the_first_program() {
    assert_snapshot!(screen(&EditorState::new(), 60, 8), @r##"
    untitled.py  python 
    1 import platform                                          |
    2                                                          |
    3 print("hello from", platform.node())                     |
    4                                                          |
                                                               |
                                                               |
                                                               |
                                                               |
    "##);
}

#[test]
fn an_empty_buffer_says_what_to_do() {
    let mut state = EditorState::new();
    state.on_action(Action::NewBuffer);
    assert_snapshot!(screen(&state, 60, 8), @r##"
    untitled.py  untitled-2.py  python 
    1 Type code here (i), run it with F9.                      |
                                                               |
                                                               |
                                                               |
                                                               |
                                                               |
                                                               |
                                                               |
    "##);
}

#[test]
fn hostile_content_shows_as_marks() {
    let state = opened(
        "/a\x1b[2Jb.txt",
        "\x1b[31mred\0\tx\n漢字\u{202e}evil\n👩\u{200d}👧 \u{200b}|\r\n\u{301}\u{9b}2J".as_bytes(),
    );
    assert_snapshot!(screen(&state, 60, 8), @r##"
    untitled.py  a\x1b[2Jb.txt  text 
    1 \x1b[31mred\x00 x                                        |
    2 漢字<U+202E>evil                                         |
    3 👩‍👧 <U+200B>|\r                                           |
    4 ◌́\u{9b}2J                                                |
                                                               |
                                                               |
                                                               |
                                                               |
    "##);
    for (width, height) in [(1, 1), (3, 2), (12, 3), (60, 8)] {
        let cells = drawn(&state, &Theme::dark(), width, height);
        for cell in &cells.content {
            assert!(!cell.symbol().chars().any(char::is_control));
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_read_only() {
    assert_snapshot!(screen(&opened("/bin/x", b"\x7fELF\xff\n\x01"), 60, 4), @r##"
    untitled.py  x  text, read-only 
    1 ELF�                                                     |
    2                                                          |
                                                               |
                                                               |
    "##);
}

#[test]
fn many_tabs_become_a_number_and_long_lines_scroll() {
    let mut state = opened("/workspace/a.sh", b"echo 1");
    (0..9).for_each(|_| drop(state.on_action(Action::NewBuffer)));
    state.paste(&format!("{}漢字end", "x".repeat(60)));
    assert_snapshot!(screen(&state, 60, 3), @r##"
    11/11 untitled-11.sh ●  bash 
    1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx漢字end |
                                                               |
                                                               |
    "##);
    let cursor = pane(&state, &Theme::dark()).cursor(Rect::new(5, 5, 60, 3));
    assert_eq!(cursor, Some((64, 5)));
}

#[test]
fn selection_matches_and_code_keep_their_own_styles() {
    let mut state = opened("/workspace/a.py", b"if x: # if\npass\n");
    state.answer(&crate::app::PromptKind::FindInEditor, "IF");
    state.answer(&crate::app::PromptKind::FindInEditor, "if");
    while state.advance_highlighting() {}
    let theme = Theme::dark();
    let cells = drawn(&state, &theme, 60, 4);
    let at = |x, y| {
        cells
            .cell((x, y))
            .map(ratatui::buffer::Cell::style)
            .unwrap_or_default()
    };
    assert!(at(3, 0).add_modifier.contains(Modifier::REVERSED));
    assert_eq!(at(3, 0).bg, theme.style(Role::Match).bg);
    assert_eq!(at(12, 0).bg, theme.style(Role::Match).bg);
    assert_eq!(
        at(9, 0).fg,
        theme.code(crate::app::panes::editor::Code::Comment).fg
    );
    assert_eq!(
        at(3, 1).fg,
        theme.code(crate::app::panes::editor::Code::Keyword).fg
    );
    let mono = drawn(&state, &Theme::mono(), 60, 4);
    let keyword = mono
        .cell((3, 1))
        .map(ratatui::buffer::Cell::style)
        .unwrap_or_default();
    assert!(keyword.add_modifier.contains(Modifier::BOLD));
}

#[test]
fn the_mouse_points_at_what_is_drawn() {
    let mut state = opened("/workspace/a.py", "a漢\tb\nline 2\n".as_bytes());
    drawn(&state, &Theme::dark(), 60, 8);
    state.click(3 + 4, 0);
    assert_eq!(state.current().text.cursor(), (0, 3));
    state.drag(3 + 4, 1);
    assert_eq!(state.current().text.selected().as_deref(), Some("b\nline"));
    state.click(0, 99);
    assert_eq!(state.current().text.cursor(), (2, 0));
}

#[test]
fn scrolling_leaves_the_cursor_until_a_key_comes() {
    let mut state = opened("/workspace/a.py", "x\n".repeat(100).as_bytes());
    let theme = Theme::dark();
    drawn(&state, &theme, 60, 8);
    state.scroll(50);
    assert!(screen(&state, 60, 1).contains("  51 x"));
    assert_eq!(pane(&state, &theme).cursor(Rect::new(0, 0, 60, 8)), None);
    state.type_key(Key::plain(KeyCode::Down));
    assert!(screen(&state, 60, 1).contains("   2 x"));
}
