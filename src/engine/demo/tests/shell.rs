//! Scripts, sessions and terminals.

use super::*;

#[tokio::test(start_paused = true)]
async fn scripts_do_what_a_shell_does() {
    let bench = Bench::new();
    let table = [
        ("echo a; echo b >&2; exit 3", said("a\n", "b\n", 3)),
        ("false || echo no && echo yes", said("no\nyes\n", "", 0)),
        (
            "A='x y'; echo \"$A\" $A$?; false; echo $?",
            said("x y x y0\n1\n", "", 0),
        ),
        (
            "nonsense 2>&1; echo $?",
            said("nonsense: not found\n127\n", "", 0),
        ),
        (
            "cat /nope",
            said("", "cat: /nope: No such file or directory\n", 1),
        ),
        (
            "yes | head -c 5; seq 2 4 | cat",
            said("y\ny\ny2\n3\n4\n", "", 0),
        ),
        (
            "sh -c 'exit 4'; echo $?; B=1 env | head -n 1",
            said("4\nB=1\n", "", 0),
        ),
        (
            "echo 'unclosed",
            said("", "sh: syntax error: unterminated quoted string\n", 2),
        ),
        (
            "id; python3 -c 'print(42)'",
            said("uid=1000 gid=1000 groups=1000\n42\n", "", 0),
        ),
    ];
    for (script, expected) in table {
        assert_eq!(bench.sh(script).await, expected, "{script}");
    }
}

#[tokio::test(start_paused = true)]
async fn scripts_work_on_files() {
    let bench = Bench::new();
    let nope = "cd: /nope: No such file or directory\n";
    let table = [
        (
            "cd /tmp; echo 1 > f; echo 2 >> f; cat f; ls",
            said("1\n2\nf\n", "", 0),
        ),
        (
            "printf 'a\\n\\101' | cat > /tmp/x; cat < /tmp/x",
            said("a\nA", "", 0),
        ),
        (
            "cd /nope || pwd; cd ..; pwd",
            said("/workspace\n/\n", nope, 0),
        ),
        (
            "echo echo hi > s; sh s; echo 'echo ho; exit 2' | sh; echo $?",
            said("hi\nho\n2\n", "", 0),
        ),
        (
            "mkdir a/b; mkdir -p a/b && rm -r a && ls a",
            said(
                "",
                "mkdir: a/b: No such file or directory\nls: a: No such file or directory\n",
                2,
            ),
        ),
    ];
    for (script, expected) in table {
        assert_eq!(bench.sh(script).await, expected, "{script}");
    }
}

#[tokio::test(start_paused = true)]
async fn background_jobs_run_beside_the_shell_and_end_with_it() {
    let bench = Bench::new();
    let begun = Instant::now();
    let outcome = bench
        .sh("sleep 9 && echo late & echo early; wait; sleep 50 &")
        .await;
    assert_eq!(outcome, said("early\nlate\n", "", 0));
    assert_eq!((begun.elapsed().as_secs(), bench.processes()), (9, 0));
    let outcome = bench.sh("sleep 50 & kill -9 $!; wait; echo over").await;
    assert_eq!(outcome, said("over\n", "", 0));
    assert_eq!(begun.elapsed().as_secs(), 9);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_echoes_and_runs_lines() {
    let bench = Bench::new();
    let mut exec = bench.terminal().await;
    assert!(exec.terminal.is_some());
    let mut stdin = exec.stdin.take().expect("an input");
    let typed = b"echo hx\x7fi\rsleep 1\recho ahead\rexit 7\r";
    stdin.write_all(typed).await.expect("room");
    let outcome = finish(exec).await;
    let start = "$ echo hx\x08 \x08i\r\nhi\r\n$ sleep 1\r\necho ahead\r\n";
    assert!(outcome.out.starts_with(start), "{:?}", outcome.out);
    assert!(
        outcome.out.contains("\r\n$ ahead\r\n$ "),
        "{:?}",
        outcome.out
    );
    assert_eq!(outcome.ended, Ended::Code(7));
}

#[tokio::test(start_paused = true)]
async fn a_terminal_interrupts_commands_and_ends_with_its_input() {
    let bench = Bench::new();
    let begun = Instant::now();
    let mut exec = bench.terminal().await;
    let mut stdin = exec.stdin.take().expect("an input");
    let typed = b"cat\rme\r\x03sleep 99\r\x03false\r\x04";
    stdin.write_all(typed).await.expect("room");
    let outcome = finish(exec).await;
    assert!(outcome.out.contains("^C\r\n$ "), "{:?}", outcome.out);
    assert_eq!(outcome.ended, Ended::Code(1));
    assert!(begun.elapsed() < Duration::from_secs(9));
}

#[tokio::test(start_paused = true)]
async fn sessions_keep_directory_and_variables_even_after_a_timeout() {
    let bench = Bench::new();
    bench.in_session(&["cd", "/tmp"], None).await;
    let limit = Some(Duration::from_secs(1));
    let ended = bench
        .in_session(&["export A=1; B=2; sleep 9"], limit)
        .await
        .ended;
    assert_eq!(ended, Ended::TimedOut);
    let outcome = bench.in_session(&["echo $A$B $PWD"], None).await;
    assert_eq!(outcome.out, "1 /tmp\n");
    let sessions = bench.engine.sessions(&bench.id).await.expect("sessions");
    let shown: Vec<_> = sessions
        .iter()
        .map(|s| (s.work_dir.as_str(), s.variables))
        .collect();
    assert_eq!(shown, [("/tmp", 1)]);
    bench
        .engine
        .drop_session(&bench.id, "s")
        .await
        .expect("a drop");
    assert_eq!(bench.in_session(&["pwd"], None).await.out, "/workspace\n");
    let gone = bench.engine.drop_session(&bench.id, "none").await;
    assert_eq!(kind(gone), Some(FailureKind::NotFound));
}

#[tokio::test(start_paused = true)]
async fn the_process_limit_holds() {
    let bench = Bench::new();
    let outcome = bench.sh(&"sleep 100 &\n".repeat(200)).await;
    assert!(outcome.err.contains("Cannot fork"));
}
