//! Clauses 7 and 9 to 11: how execs are ended, with everything they started.

use std::time::{Duration, Instant};

use sandtop::domain::{Ended, TtySize};
use sandtop::protocol::LifecycleOp;
use tokio::io::AsyncWriteExt;

use crate::support::{
    Bench, Fixture, exec_spec, finish, finish_items, next_chunk, output_until, piped_spec, unique,
    wait_until,
};

/// How long after its limit an exec may end.
const SOON: Duration = Duration::from_secs(5);

/// Makes arguments by which a sleeping process is known.
fn marks(count: usize) -> Vec<String> {
    (0..count)
        .map(|_| format!("98765{:05}", unique()))
        .collect()
}

async fn assert_none_runs(bench: &Bench<'_>, marks: &[String]) {
    let shown = bench.processes().await;
    // The guest has told the end before it ends itself; its command line holds the script.
    let is_own = |line: &&str| line.contains("/.sandtop/guest exec");
    let others: String = shown.lines().filter(|line| !is_own(line)).collect();
    let left: Vec<_> = marks.iter().filter(|mark| others.contains(*mark)).collect();
    assert!(left.is_empty(), "{left:?} still run:\n{shown}");
}

/// A script whose children try to get away in every way that a user can without rights.
fn escaping(marks: &[String]) -> String {
    let [own_session, twice_forked, deaf, bare, plain, last] = marks else {
        panic!("six marks");
    };
    format!(
        "trap '' TERM HUP
         setsid sleep {own_session} &
         ( ( setsid sleep {twice_forked} & ) & )
         setsid sh -c \"trap '' TERM; sleep {deaf}; sleep {deaf}\" >/dev/null 2>&1 </dev/null &
         env -i /bin/setsid /bin/sleep {bare} >/dev/null 2>&1 </dev/null &
         sleep {plain} &
         echo ready
         while :; do sleep {last}; done"
    )
}

pub async fn c07_a_command_that_kills_its_watcher_still_ends(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let marks = marks(1);
    let script = format!("sleep {} & kill -9 $PPID; sleep {}", marks[0], marks[0]);
    let outcome = bench.sh(&script).await;
    assert_eq!(outcome.end.ended, Ended::Signal(9));
    assert_none_runs(&bench, &marks).await;
}

pub async fn c09_cancelling_ends_every_process(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let marks = marks(2);
    let script = format!("echo out; sleep {} & sleep {}", marks[0], marks[1]);
    let spec = exec_spec(&["sh", "-c", &script]);
    let mut exec = bench.start(&spec).await;
    output_until(&mut exec.items, "out").await;
    bench.until_running(&marks).await;
    bench.cancel(&spec).await;
    assert_eq!(finish(exec).await.end.ended, Ended::Cancelled);
    assert_none_runs(&bench, &marks).await;
}

/// Weaker: a command is one process.
pub async fn c09_cancelling_ends_the_process(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let marks = marks(1);
    let spec = exec_spec(&["sh", "-c", &format!("echo out; sleep {}", marks[0])]);
    let mut exec = bench.start(&spec).await;
    output_until(&mut exec.items, "out").await;
    bench.until_running(&marks).await;
    bench.cancel(&spec).await;
    assert_eq!(finish(exec).await.end.ended, Ended::Cancelled);
    assert_none_runs(&bench, &marks).await;
}

pub async fn c09_cancelling_again_or_too_late_is_fine(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    // Several times, because each finds the command at another step of its beginning.
    for _ in 0..8 {
        let spec = exec_spec(&["sleep", "1000"]);
        let exec = bench.start(&spec).await;
        bench.cancel(&spec).await;
        bench.cancel(&spec).await;
        assert_eq!(finish(exec).await.end.ended, Ended::Cancelled);
        bench.cancel(&spec).await;
    }
    bench.cancel(&exec_spec(&["never", "started"])).await;
    assert_eq!(bench.run(&["true"]).await.end.ended, Ended::Code(0));
}

pub async fn c09_no_child_escapes_a_cancel(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let mut beside = bench
        .start(&piped_spec(&["sh", "-c", "setsid sleep 4321 & cat"]))
        .await;
    let marks = marks(6);
    let spec = exec_spec(&["sh", "-c", &escaping(&marks)]);
    let mut exec = bench.start(&spec).await;
    next_chunk(&mut exec.items).await;
    bench.until_running(&marks).await;
    bench.cancel(&spec).await;
    assert_eq!(finish(exec).await.end.ended, Ended::Cancelled);
    assert_none_runs(&bench, &marks).await;
    // The exec beside it has lost neither its process nor its child.
    assert!(bench.processes().await.contains("sleep 4321"));
    let mut stdin = beside.stdin.take().expect("an input");
    stdin.write_all(b"alive").await.expect("a write");
    assert_eq!(&next_chunk(&mut beside.items).await.bytes[..], b"alive");
    stdin.shutdown().await.expect("an end");
    assert_eq!(finish(beside).await.end.ended, Ended::Code(0));
}

pub async fn c09_terminals_are_cancelled_too(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let marks = marks(1);
    let mut spec = exec_spec(&["sh", "-c", &format!("echo up; sleep {}", marks[0])]);
    spec.tty = Some(TtySize {
        columns: 80,
        rows: 24,
    });
    let mut exec = bench.start(&spec).await;
    output_until(&mut exec.items, "up").await;
    bench.until_running(&marks).await;
    bench.cancel(&spec).await;
    assert_eq!(finish(exec).await.end.ended, Ended::Cancelled);
    assert_none_runs(&bench, &marks).await;
}

pub async fn c10_a_time_limit_ends_every_process(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let marks = marks(2);
    let script = format!(
        "sleep {} & echo kept; echo too >&2; sleep {}",
        marks[0], marks[1]
    );
    timed_out(&bench, &script, "kept\n", Duration::from_millis(700)).await;
    assert_none_runs(&bench, &marks).await;
    assert_eq!(bench.run(&["echo", "usable"]).await.text(), "usable");
}

/// Weaker: a command is one process.
pub async fn c10_a_time_limit_ends_the_process(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let marks = marks(1);
    let script = format!("echo kept; echo too >&2; sleep {}", marks[0]);
    timed_out(&bench, &script, "kept\n", Duration::from_millis(700)).await;
    assert_none_runs(&bench, &marks).await;
    assert_eq!(bench.run(&["echo", "usable"]).await.text(), "usable");
}

pub async fn c10_no_child_escapes_a_time_limit(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let marks = marks(6);
    timed_out(
        &bench,
        &escaping(&marks),
        "ready\n",
        Duration::from_millis(1500),
    )
    .await;
    assert_none_runs(&bench, &marks).await;
    assert_eq!(bench.run(&["echo", "usable"]).await.text(), "usable");
}

async fn timed_out(bench: &Bench<'_>, script: &str, out: &str, limit: Duration) {
    let mut spec = exec_spec(&["sh", "-c", script]);
    spec.timeout = Some(limit);
    let begun = Instant::now();
    let outcome = bench.run_spec(&spec).await;
    let took = begun.elapsed();
    assert_eq!(outcome.end.ended, Ended::TimedOut);
    assert_eq!(String::from_utf8_lossy(&outcome.out), out);
    assert!(took >= limit && took < limit + SOON, "ended after {took:?}");
}

/// A command has the rights of its watcher, and can stop it.
pub async fn c10_a_stopped_watcher_makes_no_difference(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let marks = marks(2);
    for tty in [
        None,
        Some(TtySize {
            columns: 80,
            rows: 24,
        }),
    ] {
        let script = format!(
            "setsid sleep {} & kill -STOP $PPID; sleep {}",
            marks[0], marks[1]
        );
        let mut spec = exec_spec(&["sh", "-c", &script]);
        spec.tty = tty;
        spec.timeout = Some(Duration::from_millis(700));
        assert_eq!(bench.run_spec(&spec).await.end.ended, Ended::TimedOut);
        assert_none_runs(&bench, &marks).await;
    }
}

pub async fn c10_output_without_end_is_ended_in_time(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let mut spec = exec_spec(&["yes"]);
    spec.timeout = Some(Duration::from_millis(500));
    let outcome = bench.run_spec(&spec).await;
    assert_eq!(outcome.end.ended, Ended::TimedOut);
    assert!(outcome.out.starts_with(b"y\ny\n"));
}

pub async fn c10_terminals_have_time_limits_too(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let marks = marks(1);
    let mut spec = exec_spec(&["sleep", &marks[0]]);
    spec.tty = Some(TtySize {
        columns: 80,
        rows: 24,
    });
    spec.timeout = Some(Duration::from_millis(500));
    assert_eq!(bench.run_spec(&spec).await.end.ended, Ended::TimedOut);
    assert_none_runs(&bench, &marks).await;
}

pub async fn c11_removing_under_an_exec_loses_it(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let mut exec = bench
        .start(&exec_spec(&["sh", "-c", "echo up; sleep 1000"]))
        .await;
    let waiting = bench.start(&piped_spec(&["cat"])).await;
    output_until(&mut exec.items, "up").await;
    bench.remove().await;
    assert_eq!(finish(exec).await.end.ended, Ended::Lost);
    assert_eq!(finish(waiting).await.end.ended, Ended::Lost);
}

pub async fn c11_stopping_under_an_exec_loses_it(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let mut exec = bench
        .start(&exec_spec(&["sh", "-c", "echo up; sleep 1000"]))
        .await;
    output_until(&mut exec.items, "up").await;
    // The end must come while nobody but the stop itself is waited for.
    let (stopped, outcome) = tokio::join!(bench.act(LifecycleOp::Kill), finish_items(exec.items));
    stopped.expect("a kill");
    assert_eq!(outcome.end.ended, Ended::Lost);
    wait_until("it has stopped", async || !bench.phase().await.is_live()).await;
}
