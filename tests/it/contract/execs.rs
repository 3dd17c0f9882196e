//! Clauses 5 to 8 and 12: what goes in and comes out.

use std::time::Duration;

use sandtop::domain::{Ended, StreamKind, TtySize};
use sandtop::engine::EngineError;
use tokio::io::AsyncWriteExt;

use crate::support::{
    Fixture, HEAVY, exec_spec, finish, finish_items, next_chunk, noise, output_until, piped_spec,
    sandbox_path, soon,
};

pub async fn c05_streams_stay_apart(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let every_byte: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    let one_line = vec![b'x'; 150_000];
    let frame_headers = [2, 0, 0, 0, 0, 0, 0, 3].repeat(2_000);
    for (out, err) in [
        (every_byte.clone(), one_line.clone()),
        (one_line, every_byte),
        (frame_headers.clone(), frame_headers),
        (Vec::new(), b"only here".to_vec()),
        (b"no newline".to_vec(), Vec::new()),
    ] {
        bench
            .write(b"/workspace/o", out.clone())
            .await
            .expect("a write");
        bench
            .write(b"/workspace/e", err.clone())
            .await
            .expect("a write");
        let outcome = bench.sh("cat /workspace/o; cat /workspace/e >&2").await;
        assert_eq!(outcome.end.ended, Ended::Code(0));
        assert!(
            outcome.out == out,
            "stdout has changed, {} bytes",
            outcome.out.len()
        );
        assert!(
            outcome.err == err,
            "stderr has changed, {} bytes",
            outcome.err.len()
        );
    }
}

pub async fn c05_each_stream_keeps_its_order(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let outcome = bench.sh("seq 1 40000 & seq 40001 90000 >&2; wait").await;
    let lines = |from: u32, to: u32| {
        let lines: Vec<_> = (from..=to).map(|n| format!("{n}\n")).collect();
        lines.concat()
    };
    assert!(outcome.out == lines(1, 40_000).as_bytes());
    assert!(outcome.err == lines(40_001, 90_000).as_bytes());
}

pub async fn c06_output_comes_while_the_process_waits(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let mut exec = bench
        .start(&piped_spec(&["sh", "-c", "echo first; cat"]))
        .await;
    let chunk = next_chunk(&mut exec.items).await;
    assert_eq!(
        (chunk.stream, &chunk.bytes[..]),
        (StreamKind::Stdout, &b"first\n"[..])
    );
    // It waits for this, so it cannot have ended before.
    let mut stdin = exec.stdin.take().expect("an input");
    stdin.write_all(b"second").await.expect("a write");
    assert_eq!(&next_chunk(&mut exec.items).await.bytes[..], b"second");
    stdin.shutdown().await.expect("an end");
    assert_eq!(finish(exec).await.end.ended, Ended::Code(0));
}

pub async fn c07_ends_are_told_apart(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    for (script, ended) in [
        ("exit 137", Ended::Code(137)),
        ("kill -9 $$", Ended::Signal(9)),
        ("exit 143", Ended::Code(143)),
        ("kill -15 $$", Ended::Signal(15)),
    ] {
        assert_eq!(bench.sh(script).await.end.ended, ended, "{script}");
    }
    bench
        .write(b"/workspace/plain", "text")
        .await
        .expect("a write");
    assert_eq!(
        bench.run(&["/workspace/plain"]).await.end.ended,
        Ended::Code(126)
    );
    c07_codes_are_told(fixture).await;
}

/// Weaker: there are codes, but no signals.
pub async fn c07_codes_are_told(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    for (script, code) in [
        ("exit 0", 0),
        ("exit 1", 1),
        ("exit 3", 3),
        ("exit 255", 255),
        ("nonsense-command", 127),
    ] {
        let ended = bench.sh(script).await.end.ended;
        assert_eq!(ended, Ended::Code(code), "{script}");
    }
    let unknown = bench.run(&["nonsense-command"]).await;
    assert_eq!(
        (unknown.end.ended, unknown.out.as_slice()),
        (Ended::Code(127), &b""[..])
    );
    assert!(String::from_utf8_lossy(&unknown.err).contains("nonsense-command"));
    assert_eq!(bench.run(&["true"]).await.end.ended, Ended::Code(0));
}

pub async fn c08_input_is_delivered_and_ends(fixture: &Fixture) {
    let _heavy = HEAVY.lock().await;
    let bench = fixture.sandbox().await;
    let mut exec = bench.start(&piped_spec(&["cat"])).await;
    let mut stdin = exec.stdin.take().expect("an input");
    let sent = noise(1 << 20);
    let feeding = async {
        for piece in sent.chunks(10_007) {
            stdin.write_all(piece).await.expect("a write");
        }
        stdin.shutdown().await.expect("an end");
    };
    let (outcome, ()) = tokio::join!(finish_items(exec.items), soon("feeding", feeding));
    assert_eq!(outcome.end.ended, Ended::Code(0));
    assert!(outcome.out == sent, "{} bytes came back", outcome.out.len());
}

pub async fn c08_without_input_cat_ends_at_once(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let exec = bench.start(&exec_spec(&["cat"])).await;
    assert!(exec.stdin.is_none());
    assert_eq!(finish(exec).await.end.ended, Ended::Code(0));
    let mut exec = bench.start(&piped_spec(&["cat"])).await;
    exec.stdin
        .take()
        .expect("an input")
        .shutdown()
        .await
        .expect("an end");
    assert_eq!(finish(exec).await.end.ended, Ended::Code(0));
}

pub async fn c12_endless_output_does_not_grow_memory(fixture: &Fixture) {
    let _heavy = HEAVY.lock().await;
    let bench = fixture.sandbox().await;
    let spec = exec_spec(&["yes", "0123456789"]);
    let mut exec = bench.start(&spec).await;
    next_chunk(&mut exec.items).await;
    let before = resident_bytes();
    for _ in 0..20 {
        // Time in which a buffer without bounds would fill, not time to wait for something.
        tokio::time::sleep(Duration::from_millis(50)).await;
        next_chunk(&mut exec.items).await;
        let grown = resident_bytes().saturating_sub(before);
        assert!(grown < 64 << 20, "grown by {grown} bytes");
    }
    bench.cancel(&spec).await;
    assert_eq!(finish(exec).await.end.ended, Ended::Cancelled);
    assert!(!bench.processes().await.contains("0123456789"));
}

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: u64 = pages
        .split(' ')
        .nth(1)
        .expect("a field")
        .parse()
        .expect("a number");
    pages * 4096
}

pub async fn directory_and_variables_are_the_asked_ones(fixture: &Fixture) {
    let mut described = fixture.spec("env");
    described.env = vec![
        ("FROM_BOX".into(), "box".into()),
        ("BOTH".into(), "box".into()),
    ];
    let bench = fixture.create(&described).await;
    assert_eq!(bench.run(&["pwd"]).await.text(), "/workspace");
    let mut spec = exec_spec(&[
        "sh",
        "-c",
        "pwd; printf '%s/%s/%s' $FROM_BOX $BOTH \"$ODD\"",
    ]);
    spec.work_dir = Some(sandbox_path(b"/tmp"));
    spec.env = vec![
        ("BOTH".into(), "exec".into()),
        ("ODD".into(), "a 'b'\n\"$c".into()),
    ];
    assert_eq!(
        bench.run_spec(&spec).await.text(),
        "/tmp\nbox/exec/a 'b'\n\"$c"
    );
    spec.work_dir = Some(sandbox_path(b"/nowhere"));
    let outcome = bench.run_spec(&spec).await;
    assert_eq!(
        (outcome.end.ended, outcome.out.len()),
        (Ended::Code(126), 0)
    );
    assert!(!outcome.err.is_empty());
}

pub async fn terminals_join_both_streams(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let size = TtySize {
        columns: 77,
        rows: 22,
    };
    let mut spec = exec_spec(&["sh", "-c", "echo out; echo err >&2; cat; exit 4"]);
    spec.tty = Some(size);
    let mut exec = bench.start(&spec).await;
    let terminal = exec.terminal.clone().expect("a terminal");
    let shown = output_until(&mut exec.items, "err\r\n").await;
    assert!(shown.contains("out\r\nerr\r\n"), "{shown:?}");
    let larger = TtySize {
        columns: 100,
        rows: 30,
    };
    soon("a resize", fixture.engine.resize(&terminal, larger))
        .await
        .expect("a resize");
    let mut stdin = exec.stdin.take().expect("an input");
    // The last key ends the input of a terminal.
    stdin.write_all(b"typed\n\x04").await.expect("a write");
    let outcome = finish_items(exec.items).await;
    assert!(outcome.text().contains("typed"), "{outcome:?}");
    assert_eq!((outcome.end.ended, outcome.err.len()), (Ended::Code(4), 0));
}

/// Weaker: only closing it ends the input of a terminal.
pub async fn terminals_join_both_streams_without_keys(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let mut spec = exec_spec(&["sh", "-c", "echo out; echo err >&2; cat; exit 4"]);
    spec.tty = Some(TtySize {
        columns: 77,
        rows: 22,
    });
    let mut exec = bench.start(&spec).await;
    drop(exec.stdin.take());
    let outcome = finish(exec).await;
    assert_eq!(outcome.out, b"out\r\nerr\r\n");
    assert_eq!((outcome.end.ended, outcome.err.len()), (Ended::Code(4), 0));
}

/// Weaker: there are no variables.
pub async fn the_directory_is_the_asked_one(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    assert_eq!(bench.run(&["pwd"]).await.text(), "/workspace");
    let mut spec = exec_spec(&["pwd"]);
    spec.work_dir = Some(sandbox_path(b"/tmp"));
    assert_eq!(bench.run_spec(&spec).await.text(), "/tmp");
    spec.work_dir = Some(sandbox_path(b"/nowhere"));
    assert_eq!(bench.run_spec(&spec).await.end.ended, Ended::Code(126));
}

/// Tries a script that needs a real shell.
pub async fn try_a_real_shell(fixture: &Fixture) -> EngineError {
    let bench = fixture.sandbox().await;
    let spec = exec_spec(&["sh", "-c", "sleep 1 & kill -9 $$"]);
    let started = soon("a start", fixture.engine.exec(&bench.id, &spec)).await;
    started.err().expect("an error")
}
