//! Panes: what they hold, and what they say when they hold nothing.

use std::time::Duration;

use chrono::TimeDelta;

use super::*;
use crate::app::Msg;
use crate::app::panes::output::RunInfo;
use crate::app::panes::shell::ShellState;
use crate::app::testing::{down, reference, start};
use crate::domain::{
    Ended, ExecEnd, FileEntry, FileKind, OutputChunk, StreamId, StreamKind, TtySize,
};
use crate::protocol::{Command, Event, Failure, FailureKind, FileOp, Reply};
use crate::ui::tests::app as busy;

/// A run that printed on both streams, and one that goes on.
fn with_runs(width: u16, height: u16) -> App {
    let mut app = busy(width, height);
    for (number, title) in [(1, "first.py"), (2, "second.py")] {
        app.state.output.open(RunInfo {
            stream: StreamId(number),
            exec: crate::domain::ExecId::new("x1"),
            hold: crate::app::panes::output::Hold::Own,
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
            peak_memory_bytes: Some(9 << 20),
            ..ExecEnd::bare(Ended::Code(3))
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
fn the_editor() {
    check_sizes("editor", with_keys("2"));
    check("editor_typing", |width, height| {
        let mut app = several(width, height);
        app.keys("2 i");
        app.typed("x = 'a' # b");
        app
    });
    check("editor_buffers", |width, height| {
        let mut app = several(width, height);
        app.keys("2 i");
        app.typed("x = 1");
        app.keys("ctrl-n");
        app.typed("print('the second')");
        app.keys("ctrl-n esc");
        app
    });
}

#[test]
fn the_output() {
    check("output_empty", with_keys("3"));
    check_sizes("output", with_runs);
    check("output_ended", |width, height| {
        let mut app = with_runs(width, height);
        app.keys("[");
        app
    });
    check("output_searched", |width, height| {
        let mut app = with_runs(width, height);
        app.keys("/");
        app.typed("plain");
        app.keys("enter");
        app
    });
    check("output_selected", |width, height| {
        let mut app = with_runs(width, height);
        app.keys("v k k");
        app
    });
}

/// A shell in which something was typed.
fn with_shell(width: u16, height: u16) -> App {
    let mut app = busy(width, height);
    let size = TtySize {
        columns: 40,
        rows: 10,
    };
    let stream = StreamId(9);
    let shell = ShellState::new(stream, reference("py"), "py", size);
    app.state.shells.add(shell);
    let chunk = OutputChunk {
        stream: StreamKind::Stdout,
        bytes: "/workspace $ ls\r\n\x1b[34msrc\x1b[0m  main.py\r\n/workspace $ ".into(),
    };
    app.engine(Event::Output { stream, chunk });
    app.keys("3");
    app
}

#[test]
fn the_shell() {
    check("shell", with_shell);
    check("shell_ended", |width, height| {
        let mut app = with_shell(width, height);
        app.engine(Event::Ended {
            stream: StreamId(9),
            outcome: Ok(ExecEnd::bare(Ended::Code(3))),
            took: Duration::from_secs(9),
        });
        app.state.status.dismiss();
        app
    });
}

#[test]
fn the_files() {
    check("files_waiting", with_keys("4"));
    check("files_empty", |width, height| {
        with_files(width, height, &[])
    });
    let entries = || {
        [
            entry("src", FileKind::Directory, 0),
            entry("main.py", FileKind::File, 1_500),
            entry("a\u{1b}[2Jb\u{202e}c 漢字", FileKind::File, 5 << 30),
        ]
    };
    check_sizes("files", |width, height| {
        with_files(width, height, &entries())
    });
    check("files_marked", |width, height| {
        let mut app = with_files(width, height, &entries());
        app.keys("space j space");
        app
    });
    check("files_changed", |width, height| {
        let mut app = busy(width, height);
        app.keys("4 c");
        app.answer(answer);
        app.state.status.dismiss();
        app
    });
    check("files_upload", |width, height| {
        let mut app = with_files(width, height, &entries());
        app.keys("< ctrl-u");
        app.typed("/x/");
        app.keys("tab");
        let names = ["data-1.csv", "data-2.csv", "src/"].map(Into::into);
        app.tell(Msg::HostListed {
            folder: "/x/".into(),
            outcome: Ok(names.into()),
        });
        app
    });
    check("files_paused", |width, height| {
        let mut app = several(width, height);
        app.keys("g j 4");
        let refused = Failure::new(FailureKind::Conflict, "it is paused");
        app.answer(|command| matches!(command, Command::File { .. }).then(|| Err(refused.clone())));
        app.state.status.dismiss();
        app
    });
}

#[test]
fn panes_without_an_engine() {
    check("output_lost", |width, height| {
        let mut app = with_runs(width, height);
        app.link(down(236, 8));
        app.tick(241);
        app.state.status.dismiss();
        app
    });
}
