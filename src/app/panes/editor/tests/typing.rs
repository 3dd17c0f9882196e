//! Typing, finding, replacing, running and turning between buffers.

use super::*;

#[test]
fn typing_moves_and_erases() {
    let mut editor = empty();
    write(&mut editor, "helo wrld");
    editor.type_key(with(KeyCode::Left, "ctrl"));
    press(&mut editor, KeyCode::Right);
    write(&mut editor, "o");
    press(&mut editor, KeyCode::Home);
    editor.type_key(with(KeyCode::Delete, "ctrl"));
    assert_eq!(editor.current_text(), "world");
    press(&mut editor, KeyCode::End);
    press(&mut editor, KeyCode::Backspace);
    editor.type_key(with(KeyCode::Left, "shift"));
    write(&mut editor, "K");
    assert_eq!(editor.current_text(), "worK");
    editor.type_key(with(KeyCode::Backspace, "alt"));
    assert_eq!(editor.current_text(), "");
    assert!(!editor.type_key(Key::plain(KeyCode::Esc)));
    assert!(!editor.type_key(Key::plain(KeyCode::F(9))));
}

#[test]
fn undo_goes_by_words_and_back_to_clean() {
    let mut editor = empty();
    write(&mut editor, "one two");
    assert_eq!(editor.dirty_count(), 1);
    editor.on_action(Action::Undo);
    assert_eq!(editor.current_text(), "one ");
    editor.on_action(Action::Undo);
    assert_eq!(
        (editor.current_text().as_str(), editor.dirty_count()),
        ("", 0)
    );
    assert!(matches!(
        editor.on_action(Action::Undo)[..],
        [Intent::Toast(..)]
    ));
    editor.on_action(Action::Redo);
    editor.on_action(Action::Redo);
    assert_eq!(editor.current_text(), "one two");
    assert!(matches!(
        editor.on_action(Action::Redo)[..],
        [Intent::Toast(..)]
    ));
}

#[test]
fn indentation_is_kept_made_and_taken() {
    let mut editor = empty();
    write(&mut editor, "def f():\nreturn 1\nx");
    assert_eq!(editor.current_text(), "def f():\n    return 1\n    x");
    press(&mut editor, KeyCode::BackTab);
    press(&mut editor, KeyCode::Backspace);
    write(&mut editor, "\t");
    press(&mut editor, KeyCode::Backspace);
    assert_eq!(editor.current_text(), "def f():\n    return 1\n");
    editor.type_key(with(KeyCode::Char('a'), "ctrl"));
    press(&mut editor, KeyCode::Tab);
    assert_eq!(editor.current_text(), "    def f():\n        return 1\n");
    press(&mut editor, KeyCode::BackTab);
    press(&mut editor, KeyCode::BackTab);
    assert_eq!(editor.current_text(), "def f():\nreturn 1\n");
    (0..3).for_each(|_| drop(editor.on_action(Action::Undo)));
    assert_eq!(editor.current_text(), "def f():\n    return 1\n");
    editor.answer(&PromptKind::Language, "js");
    editor.on_action(Action::Bottom);
    write(&mut editor, "if (x) {\n");
    assert_eq!(editor.current().text.cursor(), (3, 4));
}

#[test]
fn up_and_down_keep_to_the_column() {
    let mut editor = opened("/workspace/a.txt", "漢字漢字\nab\nabcdefgh".as_bytes());
    press(&mut editor, KeyCode::End);
    press(&mut editor, KeyCode::Down);
    assert_eq!(editor.current().text.cursor(), (1, 2));
    press(&mut editor, KeyCode::Down);
    assert_eq!(editor.current().text.cursor(), (2, 8));
    press(&mut editor, KeyCode::PageUp);
    assert_eq!(editor.current().text.cursor(), (1, 2));
}

#[test]
fn pasting_is_clean_one_step_and_never_cut_short() {
    let mut editor = empty();
    assert_eq!(editor.paste("a\r\nb\rc\x1b[31m\0\td"), []);
    assert_eq!(editor.current_text(), "a\nb\nc[31m\td");
    editor.on_action(Action::Undo);
    assert_eq!(editor.current_text(), "");
    for much in [
        "\n".repeat(MAX_LINES),
        "x\n".repeat(MAX_BYTES),
        "x".repeat(MAX_LINE + 1),
    ] {
        assert!(matches!(
            editor.paste(&much)[..],
            [Intent::Toast(Tone::Bad, _)]
        ));
        assert_eq!(editor.current_text(), "");
    }
}

#[test]
fn finds_in_both_directions_and_around() {
    let mut editor = opened("/workspace/a.txt", "Foo (a.b)\nfoo\nbar foo".as_bytes());
    assert_eq!(editor.answer(&PromptKind::FindInEditor, "foo"), []);
    let at = |editor: &EditorState| editor.current().text.selection().map(|(start, _)| start);
    assert_eq!(at(&editor), Some((0, 0)));
    editor.on_action(Action::NextMatch);
    editor.on_action(Action::NextMatch);
    assert_eq!(at(&editor), Some((2, 4)));
    editor.on_action(Action::NextMatch);
    assert_eq!(at(&editor), Some((0, 0)));
    editor.on_action(Action::PreviousMatch);
    assert_eq!(at(&editor), Some((2, 4)));
    editor.answer(&PromptKind::FindInEditor, "a.b)");
    assert_eq!(at(&editor), Some((0, 5)));
    assert!(matches!(
        editor.answer(&PromptKind::FindInEditor, "axb")[..],
        [Intent::Toast(Tone::Plain, _)]
    ));
    editor.on_action(Action::Back);
    assert_eq!(at(&editor), None);
}

#[test]
fn replaces_all_as_one_step() {
    let mut editor = opened("/workspace/a.txt", b"1\na a\nb\naa\n2");
    assert!(matches!(
        editor.on_action(Action::Replace)[..],
        [Intent::Ask(Prompt {
            kind: PromptKind::ReplaceInEditor,
            ..
        })]
    ));
    let asked = editor.answer(&PromptKind::ReplaceInEditor, "a");
    let [Intent::Ask(Prompt { kind, .. })] = &asked[..] else {
        panic!("{asked:?}");
    };
    let intents = editor.answer(kind, "$0");
    assert_eq!(
        intents,
        [Intent::Toast(Tone::Good, "Replaced 4 times".into())]
    );
    assert_eq!(editor.current_text(), "1\n$0 $0\nb\n$0$0\n2");
    editor.on_action(Action::Undo);
    assert_eq!(editor.current_text(), "1\na a\nb\naa\n2");
    assert_eq!(editor.dirty_count(), 0);
}

#[test]
fn runs_and_asks_for_the_language_first() {
    let mut editor = opened("/workspace/notes", b"print(1)");
    assert!(matches!(
        editor.on_action(Action::Run)[..],
        [Intent::Ask(Prompt {
            kind: PromptKind::Language,
            ..
        })]
    ));
    assert!(matches!(
        editor.answer(&PromptKind::Language, "cobol")[..],
        [Intent::Toast(..)]
    ));
    assert_eq!(editor.answer(&PromptKind::Language, "py"), []);
    let run = Intent::Run {
        code: "print(1)".into(),
        language: Languages::default().first().expect("one"),
        options: Box::default(),
    };
    assert_eq!(editor.on_action(Action::Run), [run]);
    assert!(matches!(
        empty().on_action(Action::Run)[..],
        [Intent::Toast(..)]
    ));
}

#[test]
fn an_answered_language_runs_only_if_running_asked_for_it() {
    let mut editor = opened("/workspace/notes", b"print(1)");
    editor.on_action(Action::Run);
    assert!(matches!(
        editor.answer(&PromptKind::Language, "py")[..],
        [Intent::Run { .. }]
    ));
    let mut editor = opened("/workspace/notes", b"print(1)");
    editor.on_action(Action::Run);
    editor.on_action(Action::Language);
    assert_eq!(editor.answer(&PromptKind::Language, "py"), []);
}

#[test]
fn buffers_come_turn_and_go() {
    let mut editor = EditorState::new();
    assert_eq!(
        (editor.current().name.as_str(), editor.dirty_count()),
        ("untitled.py", 0)
    );
    editor.on_action(Action::NewBuffer);
    editor.answer(&PromptKind::Language, "bash");
    assert_eq!(editor.current().name, "untitled-2.sh");
    write(&mut editor, "ls");
    editor.on_action(Action::NextTab);
    assert_eq!(editor.current_tab(), 0);
    editor.on_action(Action::PreviousTab);
    let asked = editor.on_action(Action::CloseBuffer);
    assert!(matches!(&asked[..], [Intent::Confirm { then, .. }] if then == &[Intent::CloseBuffer]));
    assert_eq!(editor.buffers().len(), 2);
    editor.close_current();
    assert_eq!(editor.on_action(Action::CloseBuffer), []);
    assert_eq!(
        (editor.buffers().len(), editor.current_text().as_str()),
        (1, "")
    );
}

#[test]
fn copies_cuts_and_puts_back() {
    let mut editor = opened("/workspace/a.txt", b"one\ntwo");
    assert_eq!(editor.on_action(Action::Copy), []);
    assert_eq!(
        editor.on_action(Action::CopyAll),
        [Intent::Copy("one\ntwo".into())]
    );
    editor.type_key(with(KeyCode::Char('a'), "ctrl"));
    editor.type_key(with(KeyCode::Char('x'), "ctrl"));
    assert_eq!(editor.take_intents(), [Intent::Copy("one\ntwo".into())]);
    assert_eq!(editor.current_text(), "");
    editor.type_key(with(KeyCode::Char('v'), "ctrl"));
    editor.type_key(with(KeyCode::Char('v'), "ctrl"));
    assert_eq!(editor.current_text(), "one\ntwoone\ntwo");
}

#[test]
fn a_replacement_that_grows_too_much_is_refused() {
    let mut editor = opened("/workspace/a.txt", "e\n".repeat(10_000).as_bytes());
    let by = "x".repeat(1_000);
    let intents = editor.answer(&PromptKind::ReplaceBy { what: "e".into() }, &by);
    assert!(matches!(intents[..], [Intent::Toast(Tone::Bad, _)]));
    assert_eq!(editor.dirty_count(), 0);
    editor.answer(&PromptKind::ReplaceBy { what: "e".into() }, "x");
    assert_eq!(editor.current_text(), "x\n".repeat(10_000));
}
