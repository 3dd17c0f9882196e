//! Files behind buffers: opening, saving, conflicts and recovery.

use super::*;

#[test]
fn saving_asks_for_a_path_then_knows_it() {
    let mut editor = empty();
    write(&mut editor, "x");
    let asked = editor.on_action(Action::Save);
    assert!(matches!(&asked[..], [Intent::Ask(q)] if q.start == "/workspace/untitled-2.py"));
    let saving = |expect, sandbox| Intent::SaveFile {
        sandbox,
        path: path("/workspace/a.py"),
        text: "x".into(),
        expect,
    };
    assert_eq!(
        editor.answer(&PromptKind::SaveBufferAs, "a.py"),
        [saving(Expect::Nothing, None)]
    );
    write(&mut editor, "y");
    editor.saved(sandbox(), path("/workspace/a.py"), Ok(time(5)));
    assert_eq!(
        (editor.current().name.as_str(), editor.dirty_count()),
        ("a.py", 1)
    );
    editor.on_action(Action::Undo);
    write(&mut editor, "x");
    assert_eq!(
        editor.on_action(Action::Save),
        [saving(Expect::Unchanged(time(5)), Some(sandbox()))]
    );
    editor.saved(sandbox(), path("/workspace/a.py"), Ok(time(6)));
    assert_eq!(editor.dirty_count(), 0);
    assert!(matches!(
        editor.answer(&PromptKind::SaveBufferAs, "../x")[..],
        [Intent::Toast(Tone::Bad, _)]
    ));
}

#[test]
fn a_conflict_asks_before_it_overwrites() {
    let mut editor = opened("/workspace/a.py", b"a\n");
    write(&mut editor, "b");
    editor.on_action(Action::Save);
    let conflict = Failure::new(FailureKind::Conflict, "it changed");
    let asked = editor.saved(sandbox(), path("/workspace/a.py"), Err(conflict));
    let [Intent::Confirm { then, .. }] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert!(
        matches!(&then[..], [Intent::SaveFile { expect: Expect::Anything, text, .. }] if text == "ba\n")
    );
    assert_eq!(editor.dirty_count(), 1);
    let full = Failure::new(FailureKind::NoSpace, "the disk is full");
    assert!(matches!(
        editor.saved(sandbox(), path("/workspace/a.py"), Err(full))[..],
        [Intent::Toast(Tone::Bad, _)]
    ));
    editor.saved(sandbox(), path("/workspace/a.py"), Ok(time(9)));
    assert_eq!(editor.dirty_count(), 0);
}

#[test]
fn a_file_opens_once_and_keeps_what_was_typed() {
    let mut editor = opened("/workspace/a.py", b"a");
    editor.on_action(Action::NextTab);
    editor.loaded(
        sandbox(),
        path("/workspace/a.py"),
        Some(time(2)),
        Ok(b"new".to_vec()),
    );
    assert_eq!(
        (editor.buffers().len(), editor.current_text().as_str()),
        (2, "new")
    );
    assert_eq!(editor.dirty_count(), 0);
    write(&mut editor, "!");
    let intents = editor.loaded(
        sandbox(),
        path("/workspace/a.py"),
        Some(time(3)),
        Ok(b"c".to_vec()),
    );
    assert!(matches!(intents[..], [Intent::Toast(..)]));
    assert_eq!(editor.current_text(), "!new");
    let known = editor
        .current()
        .origin
        .as_ref()
        .and_then(|origin| origin.known);
    assert_eq!(known, Some(time(2)));
}

#[test]
fn line_ends_survive() {
    for bytes in [
        "a\r\nb\r\n",
        "a\r\nb\nc\r",
        "a",
        "",
        "\n\n",
        "\u{feff}x\u{c}\n",
    ] {
        let mut editor = opened("/workspace/a.txt", bytes.as_bytes());
        let [Intent::SaveFile { text, .. }] = &editor.on_action(Action::Save)[..] else {
            panic!("not saved");
        };
        assert_eq!(text, bytes);
    }
    let mut mixed = opened("/workspace/a.txt", b"a\r\nb\nc\r");
    mixed.answer(&PromptKind::ReplaceBy { what: "a".into() }, "x");
    assert_eq!(mixed.current_text(), "x\r\nb\nc\r");
    assert_eq!(mixed.dirty_count(), 1);
}

#[test]
fn what_cannot_be_edited_is_read_only_or_refused() {
    let mut binary = opened("/bin/x", b"\x7fELF\xff\0");
    assert_eq!(binary.current().read_only, Some(ReadOnly::NotText));
    let before = binary.current_text();
    write(&mut binary, "x");
    press(&mut binary, KeyCode::Delete);
    assert_eq!(binary.current_text(), before);
    assert_eq!(binary.take_intents().len(), 2);
    for intents in [
        binary.paste("x"),
        binary.on_action(Action::Save),
        binary.on_action(Action::Run),
    ] {
        assert!(matches!(intents[..], [Intent::Toast(Tone::Bad, _)]));
    }
    let long = opened("/workspace/min.js", "x".repeat(10_001).as_bytes());
    assert_eq!(long.current().read_only, Some(ReadOnly::LongLines));
    assert_eq!(language_of(&long).as_deref(), Some("javascript"));
    assert_eq!(
        opened("/big", &vec![b'x'; MAX_BYTES + 1]).buffers().len(),
        1
    );
    assert_eq!(
        opened("/big", "\n".repeat(MAX_LINES).as_bytes())
            .buffers()
            .len(),
        1
    );
}

fn language_of(editor: &EditorState) -> Option<String> {
    let language = editor.current().language.as_ref();
    language.map(|language| language.name().to_owned())
}

#[test]
fn languages_are_guessed() {
    let guess = |name: &str, first: &str| language_of(&opened(name, first.as_bytes()));
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(guess("/a/x.mjs", ""), named("javascript"));
    assert_eq!(
        guess("/a/run", "#!/usr/bin/env python3.12\n"),
        named("python")
    );
    assert_eq!(guess("/a/run", "#!/bin/sh -e"), named("bash"));
    assert_eq!(guess("/a/sh", "text"), None);
}

#[test]
fn unsaved_buffers_survive() {
    let mut editor = opened("/workspace/a.py", b"a\r\nb\r\n");
    assert!(!editor.changed_since_recovery());
    write(&mut editor, "x");
    editor.on_action(Action::NewBuffer);
    write(&mut editor, "y\u{1f600}");
    assert!(editor.changed_since_recovery());
    let saved = serde_json::to_string(&editor.recovery()).expect("it serialises");
    assert!(!editor.changed_since_recovery());
    write(&mut editor, "z");
    assert!(editor.changed_since_recovery());
    editor.on_action(Action::Undo);

    let mut next = EditorState::new();
    next.restore(serde_json::from_str(&saved).expect("it parses"));
    assert_eq!((next.buffers().len(), next.dirty_count()), (2, 2));
    assert_eq!(
        serde_json::to_string(&next.recovery()).expect("it serialises"),
        saved
    );
    next.on_action(Action::PreviousTab);
    let [Intent::SaveFile { text, expect, .. }] = &next.on_action(Action::Save)[..] else {
        panic!("not saved");
    };
    assert_eq!(
        (text.as_str(), *expect),
        ("xa\r\nb\r\n", Expect::Unchanged(time(1)))
    );
}

#[test]
fn another_editor_can_change_the_text() {
    let mut editor = opened("/workspace/a.txt", b"one\ntwo");
    assert_eq!(editor.replace_current("one\r\ntwo"), []);
    assert_eq!(editor.dirty_count(), 0);
    editor.replace_current("three\n");
    assert_eq!(editor.current_text(), "three\n");
    editor.on_action(Action::Undo);
    assert_eq!(editor.current_text(), "one\ntwo");
}
