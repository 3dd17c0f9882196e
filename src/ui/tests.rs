//! Whole screens as people see them, at the sizes that matter.

mod hostile;
mod scenes;

use std::time::Duration;

use chrono::TimeDelta;
use insta::assert_snapshot;

use crate::app::testing::{App, down, reference, sample, sandbox, start, up};
use crate::domain::{
    Access, Change, ChangeKind, ChangedFile, Changes, Details, EngineEvent, EngineEventKind,
    FileKind, Image, MountInfo, Posture, Process, SandboxPath,
};
use crate::protocol::{Command, Event, Failure, FailureKind, Reply};
use crate::ui::theme::Theme;

fn details() -> Reply {
    let mount = |kind: &str, target: &str| MountInfo {
        kind: kind.into(),
        source: "x".into(),
        target: target.into(),
        access: Access::ReadWrite,
    };
    Reply::Details(Box::new(Details {
        sandbox: sandbox("py"),
        posture: Posture {
            no_new_privileges: true,
            read_only_root: true,
            seccomp: "default".into(),
            user: "65534:65534".into(),
            init: true,
            interfaces: Some(vec!["lo".into()]),
            mounts: vec![mount("tmpfs", "/tmp"), mount("volume", "/workspace")],
            verified: true,
            gaps: vec!["the disk use of the work directory is not limited".into()],
            ..Posture::default()
        },
        death: None,
        env_names: vec!["HOME".into(), "LANG".into()],
        work_dir: "/workspace".into(),
    }))
}

fn process(pid: u32, cpu_ms: u64, command: &str) -> Process {
    Process {
        pid,
        parent: 1,
        user: "nobody".into(),
        state: 'S',
        cpu_time: Duration::from_millis(cpu_ms),
        memory_bytes: u64::from(pid) << 20,
        age: Duration::from_mins(2),
        command: command.into(),
    }
}

fn change(kind: ChangeKind, path: &str, size: Option<u64>) -> Change {
    Change {
        path: SandboxPath::parse(path.as_bytes()).expect("a path"),
        kind,
        now: size.map(|size| ChangedFile {
            kind: FileKind::File,
            size,
            modified_at: start(),
        }),
    }
}

fn changes() -> Reply {
    Reply::Changes(Box::new(Changes {
        files: vec![
            change(ChangeKind::Changed, "/etc/passwd", None),
            change(ChangeKind::Deleted, "/usr/old", None),
            change(ChangeKind::Added, "/workspace/a\u{1b}[2J.py", Some(1_234)),
        ],
        left_out: 0,
        looked_at: vec!["the files of the image".into(), "/workspace".into()],
        gaps: vec!["/mnt is a folder of the host, which is not looked at".into()],
    }))
}

fn answer(command: &Command) -> Option<Result<Reply, Failure>> {
    Some(Ok(match command {
        Command::Inspect(_) => details(),
        Command::Changes(_) => changes(),
        Command::Processes(_) => Reply::Processes(vec![
            process(1, 10, "/sbin/docker-init -- /.sandtop/guest init"),
            process(7, 10, "/.sandtop/guest init"),
            process(23, 90_000, "python3 -c 'while True: pass'"),
        ]),
        _ => return None,
    }))
}

/// A sandbox that worked for four minutes, with a past.
fn app(width: u16, height: u16) -> App {
    let mut app = App::with(width, height, &["py"]);
    for second in 0..240_u32 {
        let wave = f64::from(second % 60) * 1.6;
        let memory = 40 + u64::from(second);
        app.sample("py", sample(second.into(), wave, memory));
    }
    let events = [
        (1, EngineEventKind::Created),
        (2, EngineEventKind::Started),
        (
            60,
            EngineEventKind::exec("python3 main.py".into(), Some("4f".into())),
        ),
        (70, EngineEventKind::Oom),
        (
            71,
            EngineEventKind::ExecEnded {
                exec: Some("4f".into()),
                exit_code: Some(137),
            },
        ),
    ];
    for (seconds, what) in events {
        app.engine(Event::Engine(EngineEvent {
            at: start() + TimeDelta::seconds(seconds),
            sandbox: reference("py"),
            name: "py".into(),
            what,
        }));
    }
    app.tick(240);
    app.state.status.dismiss();
    app.effects.clear();
    app
}

fn tab(width: u16, height: u16, steps: usize) -> String {
    let mut app = app(width, height);
    app.keys("i");
    app.answer(answer);
    for _ in 0..steps {
        app.keys("]");
        app.answer(answer);
    }
    app.screen()
}

#[test]
fn the_view_of_a_sandbox_is_readable_on_the_least_and_on_a_large_screen() {
    for steps in 0..5 {
        assert_snapshot!(format!("inspect_least_{steps}"), tab(60, 16, steps));
    }
    assert_snapshot!("inspect_charts_large", tab(160, 48, 2));
}

#[test]
fn charts_need_no_special_characters() {
    let mut app = app(80, 24);
    app.keys("i ] ]");
    let mut theme = Theme::mono();
    theme.ascii = true;
    let screen = app.screen_in(&theme);
    let chart: Vec<&str> = screen.lines().skip(3).take(17).collect();
    let inside = chart.iter().map(|line| line.trim_matches(['│', ' ']));
    let strange: Vec<&str> = inside.filter(|line| !line.is_ascii()).collect();
    assert_eq!(strange, Vec::<&str>::new());
    assert!(screen.contains("-----") && screen.contains('#'), "{screen}");
}

#[test]
fn what_happened_is_told_for_all() {
    let mut app = app(80, 24);
    app.keys("f7");
    assert!(app.screen().contains("What happened"));
    app.keys("esc");
    assert!(!app.screen().contains("What happened"));
}

#[test]
fn a_look_that_fails_says_why_in_its_place() {
    let mut app = app(80, 24);
    app.keys("i ]");
    app.answer(|_| {
        let words = "listing processes: it is paused";
        Some(Err(
            Failure::new(FailureKind::Conflict, words).with_hint("resume it first")
        ))
    });
    let screen = app.screen();
    assert!(
        screen.contains("it is paused") && screen.contains("resume it first"),
        "{screen}"
    );
}

#[test]
fn a_lost_engine_is_told_with_all_that_helps() {
    let mut app = app(80, 24);
    app.link(down(236, 8));
    app.tick(241);
    assert!(app.screen().contains("Next try"), "{}", app.screen());
    let mut small = self::app(60, 16);
    small.link(down(236, 8));
    assert!(small.screen().contains("no engine"), "{}", small.screen());
    app.link(up());
    let screen = app.screen();
    assert!(
        !screen.contains("Next try") && screen.contains("The engine is back."),
        "{screen}"
    );
}

#[test]
fn the_list_shows_every_column_where_there_is_room() {
    let mut wide = app(200, 60);
    wide.keys("z");
    assert_snapshot!("list_wide", head(&wide.screen(), 5));
    assert_snapshot!("list_160", head(&app(160, 48).screen(), 5));
    assert_snapshot!("list_least", head(&app(60, 16).screen(), 5));
}

fn head(screen: &str, lines: usize) -> String {
    screen.lines().take(lines).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_form_shows_what_can_be_picked() {
    for (width, height) in [(60, 16), (80, 24)] {
        let mut app = app(width, height);
        app.keys("c tab tab");
        app.answer(|command| {
            let image = |name: &str| Image {
                name: name.into(),
                id: name.into(),
                size_bytes: Some(120 << 20),
                created_at: None,
            };
            let names = [
                "node:24",
                "python:3.12-slim",
                "python:3.13",
                "ruby:4",
                "rust:1",
            ];
            let images = names.map(image).to_vec();
            matches!(command, Command::Images(_)).then_some(Ok(Reply::Images(images)))
        });
        app.keys("down down");
        assert_snapshot!(format!("form_{width}"), app.screen());
    }
}
