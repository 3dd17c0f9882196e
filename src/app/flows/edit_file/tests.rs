//! Buffers saved into sandboxes, and files opened.

use super::*;
use crate::app::testing::App;
use crate::domain::{FileEntry, FileKind};
use crate::protocol::{Failure, FailureKind, Reply};

/// An app that has asked how the path of a new buffer stands, and is answered.
fn saving_as(answer: &Result<FileEntry, Failure>) -> App {
    let mut app = App::with(160, 48, &["alpha"]);
    app.keys("2 i x ctrl-s enter");
    app.answer(|command| match command {
        Command::File {
            op: FileOp::Stat(_),
            ..
        } => Some(answer.clone().map(Reply::Entry)),
        _ => None,
    });
    app
}

fn entry(kind: FileKind) -> FileEntry {
    FileEntry {
        name: b"untitled.py".to_vec(),
        kind,
        size: 1,
        mode: 0o644,
        uid: 0,
        gid: 0,
        modified_at: DateTime::default(),
    }
}

fn writes(app: &mut App) -> bool {
    let commands = app.commands();
    commands
        .iter()
        .any(|command| matches!(command, Command::WriteFile { .. }))
}

#[test]
fn a_new_file_is_written_at_once() {
    let mut app = saving_as(&Err(Failure::new(FailureKind::NotFound, "no such file")));
    assert!(writes(&mut app));
}

#[test]
fn saving_under_a_name_that_is_taken_asks_first() {
    let mut app = saving_as(&Ok(entry(FileKind::File)));
    assert!(!writes(&mut app));
    assert!(app.screen().contains("exists already"), "{}", app.screen());
    app.keys("y");
    assert!(writes(&mut app));
    let mut app = saving_as(&Ok(entry(FileKind::Directory)));
    assert!(!writes(&mut app) && app.state.view.overlay.is_none());
}
#[test]
fn a_file_goes_through_our_editor_to_the_other_one() {
    let mut app = App::with(160, 48, &["alpha"]);
    app.state.transfers.then_external = true;
    let (sandbox, path) = (crate::app::testing::reference("alpha"), SandboxPath::root());
    let path = path.join(b"a.py").unwrap_or(path);
    let effects = load_content(&mut app.state, sandbox, path, None);
    let [Effect::Submit(request)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let Command::ReadFile { stream, .. } = request.command else {
        panic!("{request:?}");
    };
    let chunk = crate::domain::OutputChunk {
        stream: crate::domain::StreamKind::Stdout,
        bytes: "x = 1".into(),
    };
    app.engine(crate::protocol::Event::Output { stream, chunk });
    app.engine(crate::protocol::Event::Ended {
        stream,
        outcome: Ok(ExecEnd::bare(Ended::Code(0))),
        took: std::time::Duration::ZERO,
    });
    let wanted = Effect::EditExternally {
        text: "x = 1".into(),
        extension: "py".into(),
    };
    assert!(app.effects.contains(&wanted), "{:?}", app.effects);
}
