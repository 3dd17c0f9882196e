//! Guards, from figures to what is said of them.

use super::*;
use crate::app::overlays::history::tests::recorded;
use crate::app::panes::output::{Hold, RunInfo};
use crate::app::testing::{App, reference, sample, sandbox, start};
use crate::app::{Msg, Settings};
use crate::domain::ExecId;
use std::sync::Arc;

fn with_rules(change: impl FnOnce(&mut Settings)) -> App {
    let mut app = App::with(140, 40, &["alpha", "beta"]);
    let settings = Arc::get_mut(&mut app.state.settings).expect("settings of one's own");
    change(settings);
    app
}

fn toasts(app: &App) -> usize {
    let log = app.state.status.log();
    log.filter(|toast| toast.text.contains("over 90 %")).count()
}

#[test]
fn memory_near_its_limit_marks_the_row_and_is_said_once() {
    let mut app = App::with(140, 40, &["alpha", "beta"]);
    for second in 0..10 {
        app.sample("alpha", sample(second, 5.0, 480));
        app.sample("beta", sample(second, 5.0, 80));
    }
    assert_eq!(toasts(&app), 0);
    for second in 10..40 {
        app.sample("alpha", sample(second, 5.0, 480));
    }
    assert_eq!(toasts(&app), 1);
    let screen = app.screen();
    let line = |name: &str| {
        screen
            .lines()
            .find(|line| line.contains(name))
            .unwrap_or("")
    };
    assert!(line("alpha ").contains("!alpha"), "{screen}");
    assert!(!line("beta ").contains('!'), "{screen}");
    assert_eq!(app.commands(), [], "a mark is all by default");
    for second in 40..60 {
        app.sample("alpha", sample(second, 5.0, 80));
    }
    assert!(!app.screen().contains("!alpha"), "{}", app.screen());
}

#[test]
fn it_rings_and_pauses_only_if_asked_and_only_ours() {
    let mut app = with_rules(|settings| {
        settings.config.guards.bell = true;
        settings.config.guards.action = GuardAction::Pause;
    });
    let mut foreign = sandbox("beta");
    foreign.owner = None;
    app.list(vec![sandbox("alpha"), foreign]);
    for second in 0..30 {
        app.sample("alpha", sample(second, 5.0, 480));
        app.sample("beta", sample(second, 5.0, 480));
    }
    let bells = app.effects.iter().filter(|e| **e == Effect::Bell).count();
    assert_eq!(bells, 2);
    let pause = Command::Act {
        sandbox: reference("alpha"),
        action: LifecycleOp::Pause,
    };
    assert_eq!(app.commands(), [pause]);
}

#[test]
fn files_over_their_size_are_said_once_and_lowered_well_below() {
    let mut app = App::with(140, 40, &["alpha", "beta"]);
    let files = |second: i64, gigabytes: Option<u64>| Sample {
        disk_bytes: gigabytes.map(|count| count << 30),
        ..sample(second, 5.0, 80)
    };
    for second in 0..20 {
        app.sample("alpha", files(second, Some(5)));
        app.sample("beta", files(second, None));
    }
    let log: Vec<String> = app.state.status.log().map(|t| t.text.clone()).collect();
    let said = "alpha: the files in its work directory took over 4 GiB.";
    assert_eq!(
        log.iter().filter(|text| *text == said).count(),
        1,
        "{log:?}"
    );
    assert!(app.screen().contains("!alpha"), "{}", app.screen());
    for second in 20..40 {
        app.sample("alpha", files(second, Some(1)));
    }
    assert!(!app.screen().contains("!alpha"), "{}", app.screen());
}

#[test]
fn a_guard_that_is_off_says_nothing() {
    let mut app = with_rules(|settings| settings.config.guards.memory.level = 0.0);
    for second in 0..30 {
        app.sample("alpha", sample(second, 5.0, 500));
    }
    assert_eq!(toasts(&app), 0);
}

/// Lets a stream print three megabytes a second for a while, and counts what is said of it.
fn floods(app: &mut App, stream: StreamId) -> usize {
    use crate::domain::{OutputChunk, StreamKind};
    for tenth in 0..130 {
        let chunk = OutputChunk {
            stream: StreamKind::Stdout,
            bytes: vec![b'x'; 300_000].into(),
        };
        app.engine(crate::protocol::Event::Output { stream, chunk });
        let now = start() + TimeDelta::milliseconds(tenth * 100);
        app.tell(Msg::Tick(now));
    }
    let log = app.state.status.log();
    log.filter(|t| t.text.contains("faster than")).count()
}

fn open(app: &mut App, hold: Hold) -> StreamId {
    let stream = StreamId(900);
    app.state.output.open(RunInfo {
        stream,
        exec: ExecId::new("x1"),
        hold,
        sandbox: reference("alpha"),
        sandbox_name: "alpha".into(),
        title: "x1".into(),
        started: start(),
    });
    stream
}

#[test]
fn output_that_floods_is_noticed() {
    let mut app = App::with(140, 40, &["alpha"]);
    let stream = open(&mut app, Hold::Own);
    assert_eq!(floods(&mut app, stream), 1);
}

#[test]
fn reading_what_was_printed_before_is_no_flood() {
    let mut app = App::with(140, 40, &["alpha"]);
    let stream = open(&mut app, Hold::Other(crate::domain::Source::Cli));
    assert_eq!(floods(&mut app, stream), 0);
}

/// Lets a run of another process print so much a second by its record, and counts what is said of it.
fn floods_on_record(app: &mut App, seconds: std::ops::Range<i64>, megabytes: u64) -> usize {
    let mut run = recorded("x1");
    for second in seconds {
        app.tell(Msg::Tick(start() + TimeDelta::seconds(second)));
        if second % 3 == 0 {
            run.spooled.stdout = (megabytes * second.unsigned_abs()) << 20;
            super::recorded(&mut app.state, std::slice::from_ref(&run));
        }
    }
    let log = app.state.status.log();
    log.filter(|t| t.text.contains("faster than")).count()
}

#[test]
fn a_flood_of_others_is_noticed_though_nobody_reads_it() {
    let mut app = App::with(140, 40, &["alpha"]);
    assert_eq!(floods_on_record(&mut app, 0..40, 3), 1);
    assert!(app.screen().contains("!alpha"), "{}", app.screen());
    super::recorded(&mut app.state, &[]);
    for second in 40..60 {
        app.tell(Msg::Tick(start() + TimeDelta::seconds(second)));
    }
    assert!(!app.screen().contains("!alpha"), "{}", app.screen());
}

#[test]
fn little_output_of_others_is_no_flood_nor_is_much_from_before() {
    let mut app = App::with(140, 40, &["alpha"]);
    let mut run = recorded("x1");
    run.spooled.stderr = 900 << 30;
    super::recorded(&mut app.state, &[run]);
    assert_eq!(floods_on_record(&mut app, 3..40, 0), 0);
}

#[test]
fn what_prints_here_is_counted_once() {
    let mut app = with_rules(|settings| settings.config.guards.output.level = 5e6);
    let stream = open(&mut app, Hold::Own);
    floods_on_record(&mut app, 0..40, 3);
    assert_eq!(app.state.guards.rates.len(), 0);
    assert_eq!(floods(&mut app, stream), 0);
}

#[test]
fn a_shell_that_floods_is_noticed_too() {
    let mut app = App::with(140, 40, &["alpha"]);
    app.keys("x");
    let stream = app.state.shells.current().expect("a shell").shell.stream;
    app.state.shells.hide();
    assert_eq!(floods(&mut app, stream), 1, "also where it is not shown");
}

#[test]
fn refused_processes_raise_the_guard_at_once_and_dips_do_not_lower_it() {
    let mut app = App::with(140, 40, &["alpha", "beta"]);
    let seen = |second: i64, pids, refused| Sample {
        pids,
        pids_refused: refused,
        ..sample(second, 5.0, 80)
    };
    // What was refused before anybody looked is no news.
    app.sample("alpha", seen(0, 256, Some(7)));
    app.sample("beta", seen(0, 200, None));
    assert!(!app.screen().contains("!alpha"), "{}", app.screen());
    app.sample("alpha", seen(1, 218, Some(8)));
    let screen = app.screen();
    assert!(
        screen.contains("!alpha") && !screen.contains("!beta"),
        "{screen}"
    );
    for second in 2..14 {
        let refused = 8 + u64::try_from(second / 4).expect("not before the start");
        app.sample("alpha", seen(second, 210, Some(refused)));
    }
    assert!(app.screen().contains("!alpha"), "{}", app.screen());
    let said = "alpha: processes were refused at the limit of 256.";
    let log = app.state.status.log();
    assert_eq!(log.filter(|toast| toast.text == said).count(), 1);
    // Where nobody counts, the limit is what can be seen.
    app.sample("beta", seen(14, 256, None));
    assert!(app.screen().contains("!beta"), "{}", app.screen());
    for second in 15..40 {
        app.sample("alpha", seen(second, 3, Some(11)));
    }
    assert!(!app.screen().contains("!alpha"), "{}", app.screen());
}
