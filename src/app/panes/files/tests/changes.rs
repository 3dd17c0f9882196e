//! Making, moving, copying and deleting files, and the questions before it.

#![expect(clippy::panic, reason = "a intent of another kind is a failed test")]

use std::path::Path;

use super::*;
use crate::app::msg::{Download, Effect, HostKind};
use crate::app::{Expect, PromptKind, Tone};
use crate::protocol::{Command, FailureKind, FileOp};

fn work(op: FileOp, label: &str) -> Intent {
    let command = Command::File {
        sandbox: sandbox("py"),
        op,
    };
    Intent::FileWork {
        command,
        label: label.into(),
    }
}

fn asked(intents: &[Intent]) -> (&str, &str) {
    match intents {
        [Intent::Ask(question)] => (&question.label, &question.start),
        other => panic!("no question: {other:?}"),
    }
}

#[test]
fn deleting_names_what_is_lost() {
    let mut state = usual();
    let op = FileOp::Delete {
        path: path("/workspace/src"),
        recursive: true,
    };
    let expected = Intent::Confirm {
        question: "Delete the folder src and all in it from py:/workspace? This cannot be undone."
            .into(),
        button: "Delete".into(),
        then: vec![work(op, "deleting src")],
    };
    assert_eq!(acts(&mut state, &[Action::Delete]), [expected]);
}

#[test]
fn marked_files_are_deleted_together() {
    let mut state = usual();
    let intents = acts(
        &mut state,
        &[Action::Mark, Action::Mark, Action::Bottom, Action::Delete],
    );
    let [Intent::Confirm { question, then, .. }] = intents.as_slice() else {
        panic!("no dialog: {intents:?}");
    };
    assert_eq!(
        question,
        "Delete 1 file and 1 folder with all in them (src, a) from py:/workspace? This cannot be undone."
    );
    assert_eq!(then.len(), 2);
    acts(&mut state, &[Action::InvertMarks]);
    let marked: Vec<&[u8]> = state.listing().marked().map(|e| &e.name[..]).collect();
    assert_eq!(marked, [b"b", b"l"]);
    acts(&mut state, &[Action::Back]);
    assert_eq!(state.listing().marked_count(), 0);
}

#[test]
fn renaming_asks_before_it_replaces() {
    let mut state = usual();
    let intents = acts(&mut state, &[Action::Down, Action::Rename]);
    assert_eq!(asked(&intents), ("Rename a", "a"));
    let kind = PromptKind::RenameFile {
        path: path("/workspace/a"),
    };
    assert_eq!(state.answer(&kind, "a"), []);
    let op = FileOp::Rename {
        from: path("/workspace/a"),
        to: path("/workspace/z"),
    };
    assert_eq!(state.answer(&kind, "z"), [work(op, "renaming a")]);
    let intents = state.answer(&kind, "b");
    assert!(matches!(&intents[..], [Intent::Confirm { then, .. }] if then.len() == 1));
    for bad in ["", " ", "../x", "/"] {
        let intents = state.answer(&kind, bad);
        assert!(
            matches!(&intents[..], [Intent::Toast(Tone::Bad, _)]),
            "{bad:?}"
        );
    }
}

#[test]
fn new_files_never_wipe_old_ones() {
    let mut state = usual();
    assert_eq!(
        asked(&acts(&mut state, &[Action::NewFile])),
        ("New file", "")
    );
    let expected = Intent::SaveFile {
        sandbox: Some(sandbox("py")),
        path: path("/workspace/new.py"),
        text: String::new(),
        expect: Expect::Nothing,
    };
    assert_eq!(state.answer(&PromptKind::NewFile, "new.py"), [expected]);
    state.listed(
        &sandbox("py"),
        &path("/workspace"),
        Ok(vec![file("a"), file("new.py")]),
    );
    assert_eq!(name(&state), "new.py");
    for taken in ["new.py", "x/y"] {
        let intents = state.answer(&PromptKind::NewFile, taken);
        assert!(matches!(&intents[..], [Intent::Toast(Tone::Bad, _)]));
    }
    let op = FileOp::MakeDir(path("/workspace/d/e"));
    assert_eq!(
        state.answer(&PromptKind::NewFolder, "d/e"),
        [work(op, "making e")]
    );
}

#[test]
fn copies_go_in_and_out() {
    let mut state = usual();
    let intents = acts(&mut state, &[Action::Upload]);
    assert_eq!(asked(&intents), ("Copy in from", "/here/"));
    let command = Command::CopyIn {
        sandbox: sandbox("py"),
        from: "/home/me/data.csv".into(),
        to: path("/workspace/data.csv"),
        max_bytes: None,
    };
    let label = "copying in data.csv".into();
    let intents = state.answer(&PromptKind::Upload, "~/data.csv");
    assert_eq!(intents, [Intent::FileWork { command, label }]);
    let intents = acts(&mut state, &[Action::Down, Action::Download]);
    assert_eq!(asked(&intents), ("Copy a to", "/here/a"));
    assert_eq!(
        targets(&state.answer(&PromptKind::Download, "x")),
        ["/here/x"]
    );
    let intents = acts(&mut state, &[Action::Mark, Action::Mark, Action::Download]);
    assert_eq!(asked(&intents), ("Copy 2 files into the folder", "/here/"));
    let intents = state.answer(&PromptKind::Download, "~/out");
    assert_eq!(targets(&intents), ["/home/me/out/a", "/home/me/out/b"]);
}

fn targets(intents: &[Intent]) -> Vec<String> {
    match intents {
        [Intent::Effect(Effect::CheckHost(download))] => {
            let places = download.places().into_iter();
            places.map(|place| place.display().to_string()).collect()
        }
        other => panic!("no download: {other:?}"),
    }
}

fn download(to: &str, targets: &[&str], into: bool) -> Download {
    Download {
        sandbox: sandbox("py"),
        targets: targets.iter().map(|target| path(target)).collect(),
        to: to.into(),
        into,
    }
}

fn questions(intents: &[Intent]) -> Vec<&str> {
    let question = |intent: &'_ Intent| matches!(intent, Intent::Confirm { .. });
    assert!(intents.iter().all(question), "{intents:?}");
    let texts = intents.iter().filter_map(|intent| match intent {
        Intent::Confirm { question, .. } => Some(question.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn downloads_ask_before_they_replace_something() {
    let one = download("/here/a", &["/workspace/a"], false);
    let free = host_checked(one.clone(), &[HostKind::Nothing]);
    assert!(matches!(
        &free[..],
        [Intent::FileWork { command: Command::CopyOut { to, .. }, .. }] if to == "/here/a"
    ));
    let taken = host_checked(one.clone(), &[HostKind::File]);
    assert!(
        questions(&taken)
            .concat()
            .starts_with("/here/a exists on this machine.")
    );
    let into = download("/here/a", &["/workspace/a"], true);
    assert_eq!(
        host_checked(one, &[HostKind::Folder]),
        [Intent::Effect(Effect::CheckHost(Box::new(into.clone())))]
    );
    assert_eq!(into.places(), [Path::new("/here/a/a")]);
    let many = download("/out", &["/workspace/a", "/workspace/b"], true);
    let asked = host_checked(many, &[HostKind::File, HostKind::Folder]);
    assert!(
        questions(&asked)
            .concat()
            .starts_with("2 of these names exist")
    );
}

#[test]
fn hostile_names_stay_text() {
    let mut state = pane(vec![
        file(b"a\nrm -rf /\x1b[2J"),
        file(b"\xff\xfe"),
        file("../../etc"),
        file(".."),
    ]);
    acts(&mut state, &[Action::ToggleHidden]);
    for _ in 0..4 {
        for action in [
            Action::Copy,
            Action::Delete,
            Action::Rename,
            Action::Download,
        ] {
            let intents = state.on_action(action, PAGE);
            let texts = intents.iter().map(|intent| match intent {
                Intent::Copy(text) | Intent::Toast(_, text) => text.clone(),
                Intent::Confirm { question, .. } => question.clone(),
                Intent::Ask(question) => format!("{}{}", question.label, question.start),
                other => panic!("{other:?}"),
            });
            assert!(texts.into_iter().all(|t| !t.contains(char::is_control)));
        }
        state.on_action(Action::Down, PAGE);
    }
    acts(&mut state, &[Action::Top]);
    assert_eq!(name(&state), "..");
    assert_eq!(acts(&mut state, &[Action::Open]), []);
    assert_eq!(acts(&mut state, &[Action::Copy]), []);
}

#[test]
fn a_failure_is_kept_and_nothing_can_be_done_there() {
    let mut state = usual();
    let failure = Failure::new(FailureKind::Denied, "no");
    state.listed(&sandbox("py"), &path("/workspace"), Err(failure.clone()));
    assert_eq!(state.failure(), Some(&failure));
    for action in Action::ALL {
        let intents = state.on_action(*action, PAGE);
        assert!(
            !intents
                .iter()
                .any(|w| matches!(w, Intent::Confirm { .. } | Intent::Ask(_)))
        );
        state.listed(&sandbox("py"), &path("/workspace"), Err(failure.clone()));
    }
}

#[test]
fn no_action_needs_a_sandbox() {
    let mut state = FilesState::default();
    for action in Action::ALL {
        state.on_action(*action, 0);
    }
    state.answer(&PromptKind::NewFile, "x");
    state.scroll(3);
    state.click(3);
    state.scroll_preview(3);
    assert!(state.place().is_none());
}

/// The host paths that are copied in, and where to.
fn copied(intents: &[Intent]) -> Vec<(String, String)> {
    let copies = intents.iter().map(|intent| match intent {
        Intent::FileWork {
            command: Command::CopyIn { from, to, .. },
            ..
        } => (from.display().to_string(), to.to_string()),
        other => panic!("no copy: {other:?}"),
    });
    copies.collect()
}

#[test]
fn a_pattern_copies_many_and_asks_about_those_that_are_there() {
    let names = || {
        Ok(["b", "b.csv", "c.csv", "src/", ".hidden.csv"]
            .map(Into::into)
            .into())
    };
    let folder = Path::new("/x");
    let mut state = usual();
    assert_eq!(
        state.answer(&PromptKind::Upload, "/x/*.csv"),
        [Intent::Effect(Effect::ListHost {
            folder: folder.into()
        })]
    );
    assert_eq!(state.host_listed(Path::new("/y"), &names()), None);
    let intents = state.host_listed(folder, &names()).expect("intents");
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(
        copied(&intents),
        [
            pair("/x/b.csv", "/workspace/b.csv"),
            pair("/x/c.csv", "/workspace/c.csv")
        ]
    );
    assert_eq!(state.host_listed(folder, &names()), None, "only once");

    state.answer(&PromptKind::Upload, "/x/?*");
    let intents = state.host_listed(folder, &names()).expect("intents");
    let [Intent::Confirm { question, then, .. }] = intents.as_slice() else {
        panic!("no dialog: {intents:?}");
    };
    assert!(question.starts_with("2 of 4 names exist"), "{question}");
    assert_eq!(copied(then).len(), 4);

    for (names, words) in [
        (names(), "Nothing there is called *.zip."),
        (Err("/x: gone".to_owned()), "/x: gone"),
    ] {
        state.answer(&PromptKind::Upload, "/x/*.zip");
        let intents = state.host_listed(folder, &names).expect("intents");
        assert!(
            matches!(&intents[..], [Intent::Toast(_, said)] if said == words),
            "{intents:?}"
        );
    }
}
