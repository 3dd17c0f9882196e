//! Clause 19: named sessions.

use std::time::Duration;

use sandtop::domain::{Ended, SandboxId};
use sandtop::engine::EngineError;
use sandtop::protocol::FailureKind;

use crate::support::{Bench, Fixture, Outcome, exec_spec, kind, refused, soon};

async fn run(bench: &Bench<'_>, session: &str, argv: &[&str]) -> Outcome {
    let mut spec = exec_spec(argv);
    spec.session = Some(session.into());
    bench.run_spec(&spec).await
}

pub async fn c19_sessions_keep_directory_and_variables(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench.sh("mkdir -p '/workspace/a b'").await;
    assert_eq!(run(&bench, "one", &["pwd"]).await.text(), "/workspace");
    run(
        &bench,
        "one",
        &["sh", "-c", "cd '/workspace/a b'; export A=1; B=2"],
    )
    .await;
    assert_eq!(run(&bench, "one", &["pwd"]).await.text(), "/workspace/a b");
    let both = run(&bench, "one", &["echo \"$A$B\""]).await;
    assert_eq!(both.text(), "1");
    let shell = run(&bench, "one", &["sh", "-c", "echo \"$A $PWD\""]).await;
    assert_eq!(shell.text(), "1 /workspace/a b");
    // A failing command keeps its code and what it changed.
    let failed = run(&bench, "one", &["sh", "-c", "export A=3; cd /tmp; exit 7"]).await;
    assert_eq!(failed.end.ended, Ended::Code(7));
    assert_eq!(run(&bench, "one", &["echo $A $PWD"]).await.text(), "3 /tmp");
    // Others are not touched.
    assert_eq!(
        run(&bench, "two", &["echo x$A $PWD"]).await.text(),
        "x /workspace"
    );
    assert_eq!(bench.sh("echo x$A $PWD").await.text(), "x /workspace");
    let unknown = run(&bench, "one", &["nonsense-command"]).await;
    assert_eq!(unknown.end.ended, Ended::Code(127));
    assert_eq!(run(&bench, "one", &["echo $A"]).await.text(), "3");
}

/// Tries to start a command in a session.
pub async fn try_a_session(fixture: &Fixture) -> EngineError {
    let bench = fixture.sandbox().await;
    let mut spec = exec_spec(&["true"]);
    spec.session = Some("s".into());
    let started = soon("a start", fixture.engine.exec(&bench.id, &spec)).await;
    started.err().expect("an error")
}

pub async fn c19_sessions_survive_a_timeout(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let mut spec = exec_spec(&["sh", "-c", "cd /tmp; export A=before; sleep 1000"]);
    spec.session = Some("s".into());
    spec.timeout = Some(Duration::from_millis(700));
    assert_eq!(bench.run_spec(&spec).await.end.ended, Ended::TimedOut);
    assert_eq!(
        run(&bench, "s", &["echo $A $PWD"]).await.text(),
        "before /tmp"
    );
}

pub async fn c19_sessions_are_listed_and_dropped(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let engine = &fixture.engine;
    let nobody = SandboxId::new("0123456789abcdef");
    let unknown = Some(FailureKind::NotFound);
    assert_eq!(kind(&engine.sessions(&nobody).await), unknown);
    assert_eq!(kind(&engine.drop_session(&nobody, "s").await), unknown);
    run(&bench, "here", &["cd /tmp"]).await;
    run(&bench, "there", &["export A=1"]).await;
    let sessions = soon("sessions", engine.sessions(&bench.id))
        .await
        .expect("sessions");
    let mut shown: Vec<_> = sessions
        .iter()
        .map(|s| (s.name.as_str(), s.work_dir.as_str()))
        .collect();
    shown.sort_unstable();
    assert_eq!(shown, [("here", "/tmp"), ("there", "/workspace")]);
    soon("a drop", engine.drop_session(&bench.id, "here"))
        .await
        .expect("a drop");
    let again = soon("a drop", engine.drop_session(&bench.id, "here")).await;
    assert_eq!(kind(&again), Some(FailureKind::NotFound));
    assert_eq!(run(&bench, "here", &["pwd"]).await.text(), "/workspace");
}

pub async fn c19_odd_values_survive(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let values = [
        "a b",
        "two\nlines\n\nand more",
        "'single' \"double\" `back` $dollar $(id) \\ backslash",
        "",
        "=a=b=",
        "gr\u{fc}n \u{1f980}",
        "; exit 9 #",
        "*",
    ];
    for value in values {
        // The value comes by a variable, so that no quoting of the test's own is tested.
        let mut spec = exec_spec(&["sh", "-c", "export ODD=\"$GIVEN\"; export GIVEN"]);
        spec.session = Some("odd".into());
        spec.env = vec![("GIVEN".into(), value.into())];
        assert_eq!(bench.run_spec(&spec).await.end.ended, Ended::Code(0));
        let kept = run(&bench, "odd", &["printf '%s' \"$ODD\""]).await;
        assert_eq!(String::from_utf8_lossy(&kept.out), value);
    }
    let set = run(&bench, "odd", &["unset ODD; cd /tmp"]).await;
    assert_eq!(set.end.ended, Ended::Code(0));
    assert_eq!(
        run(&bench, "odd", &["echo ${ODD-unset} $PWD"]).await.text(),
        "unset /tmp"
    );
    // Arguments stay as they are when it is no script.
    let words = run(&bench, "odd", &["printf", "%s|", "a b", "$HOME", "'"]).await;
    assert_eq!(words.text(), "a b|$HOME|'|");
    let positional = run(
        &bench,
        "odd",
        &["sh", "-c", "echo \"$1-$2\"", "zero", "a b", "c"],
    )
    .await;
    assert_eq!(positional.text(), "a b-c");
    let killed = run(&bench, "odd", &["kill -9 $$"]).await;
    assert_eq!(killed.end.ended, Ended::Signal(9));
    assert_eq!(run(&bench, "odd", &["pwd"]).await.text(), "/tmp");
}

pub async fn c19_bad_names_are_refused(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    for name in ["", "../x", "a/b", "a b", "\n", &"n".repeat(65)] {
        let mut spec = exec_spec(&["true"]);
        spec.session = Some(name.into());
        let started = soon("an exec", fixture.engine.exec(&bench.id, &spec)).await;
        assert_eq!(kind(&started), Some(FailureKind::Invalid), "{name:?}");
        let dropped = soon("a drop", fixture.engine.drop_session(&bench.id, name)).await;
        assert_eq!(kind(&dropped), Some(FailureKind::Invalid), "{name:?}");
    }
    // A session of this name must not be mistaken for the folder itself.
    for name in [".", "..", "x.new"] {
        let mut spec = exec_spec(&["cd /tmp"]);
        spec.session = Some(name.into());
        let Ok(exec) = soon("an exec", fixture.engine.exec(&bench.id, &spec)).await else {
            continue;
        };
        crate::support::finish(exec).await;
        assert_eq!(run(&bench, name, &["pwd"]).await.text(), "/tmp", "{name}");
        let listed = soon("sessions", fixture.engine.sessions(&bench.id)).await;
        let listed = listed.expect("sessions");
        assert!(
            listed.iter().any(|s| s.name == name),
            "{name} is not in {listed:?}"
        );
    }
    bench
        .act(sandtop::protocol::LifecycleOp::Pause)
        .await
        .expect("a pause");
    let dropped = soon("a drop", fixture.engine.drop_session(&bench.id, "x.new")).await;
    refused(dropped, FailureKind::Conflict);
}
