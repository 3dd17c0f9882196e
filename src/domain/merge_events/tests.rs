//! What is told of real lives, as engines and our record report them.

use chrono::DateTime;

use super::*;
use crate::domain::{HostName, SandboxId};

fn event(millis: i64, what: EngineEventKind) -> EngineEvent {
    EngineEvent {
        at: DateTime::from_timestamp_millis(millis).expect("a time"),
        sandbox: SandboxRef::new(HostName::new("here"), SandboxId::new("a")),
        name: "a".to_owned(),
        what,
    }
}

fn death(cause: &str) -> EngineEventKind {
    EngineEventKind::Death {
        cause: cause.to_owned(),
        by: Some("me".to_owned()),
        exit_code: None,
    }
}

fn signal() -> EngineEventKind {
    EngineEventKind::Killed {
        signal: Some("15".to_owned()),
    }
}

const DIED: EngineEventKind = EngineEventKind::Died {
    exit_code: Some(137),
};
const REMOVED: EngineEventKind = EngineEventKind::Removed { by: None };

/// Tells the words of what is left, with causes.
fn told(all: &[(i64, EngineEventKind)]) -> Vec<String> {
    let all = all
        .iter()
        .map(|(millis, what)| event(*millis, what.clone()));
    let merged = merge_events(all.collect());
    let word = |what: &EngineEventKind| match what {
        EngineEventKind::Death { cause, .. } => cause.clone(),
        other => other.word().to_owned(),
    };
    merged.iter().map(|event| word(&event.what)).collect()
}

#[test]
fn a_stop_is_one_event() {
    use EngineEventKind::{Restarted, Started, Stopped};
    // Docker's order, in which the record comes first; and that of the local engine.
    let docker = [
        (1, Started),
        (984, death("stopped")),
        (985, signal()),
        (1_012, DIED),
        (1_100, Stopped),
    ];
    assert_eq!(told(&docker), ["started", "stopped"]);
    let local = [
        (1, Started),
        (770, DIED),
        (771, Stopped),
        (772, death("stopped")),
    ];
    assert_eq!(told(&local), ["started", "stopped"]);
    // Without a record, and ten seconds after it was asked.
    let slow = [
        (1, Started),
        (10, signal()),
        (10_050, DIED),
        (10_060, Stopped),
    ];
    assert_eq!(told(&slow), ["started", "stopped"]);
    let restart = [
        (1, Started),
        (5, DIED),
        (6, Stopped),
        (90, Started),
        (91, Restarted),
    ];
    assert_eq!(told(&restart), ["started", "stopped", "restarted"]);
    // A signal that ended nothing is one thing, an end much later another.
    let ignored = [(1, Started), (10, signal()), (99_000, DIED)];
    assert_eq!(told(&ignored), ["started", "killed", "died"]);
}

#[test]
fn a_removal_is_one_event_and_another_one_of_what_had_ended() {
    use EngineEventKind::{Started, Stopped};
    let forced = [
        (1, Started),
        (10, signal()),
        (20, DIED),
        (300, REMOVED),
        (310, death("removed")),
    ];
    assert_eq!(told(&forced), ["started", "removed"]);
    let unrecorded = [(1, Started), (10, signal()), (20, DIED), (300, REMOVED)];
    assert_eq!(told(&unrecorded), ["started", "removed"]);
    let later = [
        (1, Started),
        (20, DIED),
        (21, Stopped),
        (22, death("stopped")),
        (900, REMOVED),
    ];
    assert_eq!(told(&later), ["started", "stopped", "removed"]);
}

#[test]
fn every_life_has_its_own_end() {
    use EngineEventKind::Started;
    let lives = [
        (1, Started),
        (5, death("stopped")),
        (6, DIED),
        (50, Started),
        (60, DIED),
        (61, death("killed")),
    ];
    assert_eq!(told(&lives), ["started", "stopped", "started", "killed"]);
}

fn begun(exec: &str) -> EngineEventKind {
    EngineEventKind::exec("make".to_owned(), Some(exec.to_owned()))
}

fn ended(exec: &str) -> EngineEventKind {
    EngineEventKind::ExecEnded {
        exec: Some(exec.to_owned()),
        exit_code: Some(3),
    }
}

fn run_ended(run: &str) -> EngineEventKind {
    EngineEventKind::RunEnded {
        run: run.to_owned(),
        status: "nonzero".to_owned(),
        exit_code: Some(3),
    }
}

#[test]
fn a_run_is_one_event_with_its_end() {
    // Two at once, and the ends of the second in the other order.
    let all = [
        (1, begun("a")),
        (2, begun("b")),
        (3, ended("a")),
        (4, run_ended("b")),
        (5, run_ended("a")),
        (6, ended("b")),
    ];
    let merged = merge_events(
        all.iter()
            .map(|(at, what)| event(*at, what.clone()))
            .collect(),
    );
    let whole = |exec: &str| EngineEventKind::Exec {
        command: "make".to_owned(),
        exec: Some(exec.to_owned()),
        status: Some("nonzero".to_owned()),
        exit_code: Some(3),
    };
    assert_eq!(merged, [event(1, whole("a")), event(2, whole("b"))]);
    // One whose beginning is forgotten, one of another tool, and one that still runs.
    assert_eq!(told(&[(3, ended("a")), (5, run_ended("a"))]), ["run_ended"]);
    assert_eq!(told(&[(3, begun("x")), (5, ended("x"))]), ["exec"]);
    assert_eq!(told(&[(3, begun("x"))]), ["exec"]);
}
