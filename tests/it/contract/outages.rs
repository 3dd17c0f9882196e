//! What happens when the engine is away, and when it comes back.

use std::process::Command;
use std::sync::Arc;

use futures_util::StreamExt;
use sandtop::domain::{Ended, HostName, Phase};
use sandtop::engine::docker::{DockerEngine, Endpoint};
use sandtop::engine::{Notes, SharedEngine};
use sandtop::protocol::{FailureKind, LifecycleOp};
use tokio::net::{TcpListener, UnixListener};

use crate::support::{
    Fixture, exec_spec, finish, kind, output_until, refused, soon, spec, unique_name, wait_until,
};

/// Fails unless every call says that the engine is away, and what to do.
async fn assert_away(engine: &SharedEngine) {
    soon("calls to nobody", async {
        refused(engine.info().await, FailureKind::Unreachable);
        refused(engine.list().await, FailureKind::Unreachable);
        let mut described = spec(&unique_name("away"));
        described.image = "busybox".into();
        let made = engine.create(&described, &Notes::none()).await;
        refused(made, FailureKind::Unreachable);
        refused(engine.events().await, FailureKind::Unreachable);
        let checks = engine.diagnose().await;
        assert!(
            checks
                .iter()
                .any(|check| check.level > sandtop::domain::CheckLevel::Warn)
        );
    })
    .await;
}

fn engine_at(endpoint: Endpoint) -> SharedEngine {
    Arc::new(DockerEngine::new(HostName::new("here"), endpoint, "nobody"))
}

#[tokio::test]
async fn a_socket_that_does_not_exist_is_unreachable() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_away(&engine_at(Endpoint::Unix(folder.path().join("none.sock")))).await;
}

#[tokio::test]
async fn a_socket_that_refuses_is_unreachable() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dead.sock");
    drop(UnixListener::bind(&path).expect("a socket"));
    assert!(path.exists());
    assert_away(&engine_at(Endpoint::Unix(path))).await;
    let file = folder.path().join("file.sock");
    std::fs::write(&file, "not a socket").expect("a file");
    assert_away(&engine_at(Endpoint::Unix(file))).await;
}

#[tokio::test]
async fn a_port_that_refuses_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    assert_away(&engine_at(Endpoint::Tcp(address))).await;
}

#[tokio::test]
async fn somebody_who_hangs_up_is_unreachable() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rude.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    let hanging_up = tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    assert_away(&engine_at(Endpoint::Unix(path))).await;
    hanging_up.abort();
}

/// Runs a script that `tests/run` made for its own engine.
fn engine_script(variable: &str) {
    let script = std::env::var(variable).expect("a script");
    let ran = Command::new(&script).status().expect("the script");
    assert!(ran.success(), "{script}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Docker engine that may be stopped: tests/run"]
async fn docker_can_be_away_and_back() {
    let scripts = ["SANDTOP_TEST_DOCKERD_STOP", "SANDTOP_TEST_DOCKERD_START"];
    let (fixture, _alone) = Fixture::docker_alone().await;
    let bench = fixture.sandbox().await;
    bench
        .write(b"/workspace/kept", "kept")
        .await
        .expect("a write");
    let mut exec = bench
        .start(&exec_spec(&["sh", "-c", "echo up; sleep 1000"]))
        .await;
    output_until(&mut exec.items, "up").await;
    let mut happenings = fixture.engine.events().await.expect("a stream");
    let mut samples = fixture
        .engine
        .samples(&bench.sandbox)
        .await
        .expect("a stream");
    soon("a sample", samples.next())
        .await
        .expect("a sample")
        .expect("no error");

    let watching = tokio::spawn(async move {
        while let Some(happening) = happenings.next().await {
            if let Err(error) = happening {
                return Some(error.kind);
            }
        }
        None
    });
    // Blocking is fine here: the other worker goes on.
    tokio::task::block_in_place(|| engine_script(scripts[0]));
    assert_eq!(finish(exec).await.end.ended, Ended::Lost);
    let last = soon("the end of happenings", watching)
        .await
        .expect("no panic");
    assert_eq!(last, Some(FailureKind::Unreachable));
    soon("the end of samples", async {
        while let Some(Ok(_)) = samples.next().await {}
    })
    .await;
    assert_away(&fixture.engine).await;
    let started = fixture.engine.exec(&bench.id, &exec_spec(&["true"])).await;
    assert_eq!(kind(&started), Some(FailureKind::Unreachable));

    tokio::task::block_in_place(|| engine_script(scripts[1]));
    // The same engine works again, without being made anew.
    wait_until("it answers again", async || {
        fixture.engine.list().await.is_ok()
    })
    .await;
    assert_eq!(bench.phase().await, Phase::Stopped);
    bench.act(LifecycleOp::Start).await.expect("a start");
    assert_eq!(
        bench.read(b"/workspace/kept", None).await.expect("a read"),
        b"kept"
    );
    assert_eq!(bench.run(&["echo", "back"]).await.text(), "back");
    bench.remove().await;
    fixture.assert_nothing_left().await;
}
