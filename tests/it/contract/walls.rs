//! Clause 18 once more: the walls, tried from inside by the guest itself.

use sandtop::domain::SandboxId;

use crate::support::{Fixture, docker, soon};

/// Runs all attempts in a sandbox and returns those that worked.
async fn open(bench: &crate::support::Bench<'_>, limits: &[&str]) -> Vec<String> {
    let call = [&["/.sandtop/guest", "attempts"], limits].concat();
    let said = bench.run(&call).await.text();
    let lines: Vec<String> = said.lines().map(str::to_owned).collect();
    assert!(lines.len() > 40, "{said}");
    // Some mounts are there to be written to.
    let (mounts, walls): (Vec<String>, Vec<String>) = lines
        .into_iter()
        .partition(|line| line.starts_with("mounts "));
    let writable = mounts
        .iter()
        .filter_map(|line| line.strip_prefix("mounts open "));
    let mut writable: Vec<&str> = writable.map(str::trim_end).collect();
    writable.sort_unstable();
    assert_eq!(writable, ["/run/sandtop", "/tmp", "/workspace"]);
    let open = walls.into_iter().filter(|line| !line.contains(" held "));
    open.collect()
}

pub async fn c18_no_attempt_from_inside_works(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    assert_eq!(open(&bench, &[]).await, Vec::<String>::new());
    let details = soon("details", fixture.engine.inspect(&bench.id)).await;
    let posture = details.expect("details").posture;
    assert_eq!(posture.open_calls, Vec::<String>::new());
    assert_eq!(posture.seccomp, "default");
}

/// A container that is removed in the end.
struct Made(SandboxId);

impl Drop for Made {
    fn drop(&mut self) {
        docker(&["rm", "-f", self.0.as_str()]);
    }
}

/// What an older sandtop made: the same labels and guest, the engine's own filter.
fn older_sandbox(like: &SandboxId) -> Made {
    let labels = "{{range $k, $v := .Config.Labels}}--label={{$k}}={{$v}}{{println}}{{end}}{{.Config.Image}}";
    let words = docker(&["inspect", "-f", labels, like.as_str()]);
    let words = words.lines().filter(|word| !word.is_empty());
    let start = [
        "run",
        "--detach",
        "--network=none",
        "--user=65534",
        "--volumes-from",
        like.as_str(),
    ];
    let call: Vec<&str> = start
        .into_iter()
        .chain(words)
        .chain(["/.sandtop/guest", "init"])
        .collect();
    Made(SandboxId::new(docker(&call).trim()))
}

pub async fn what_an_older_sandbox_leaves_open_is_named(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let older = older_sandbox(&bench.id);
    let details = soon("details", fixture.engine.inspect(&older.0)).await;
    let posture = details.expect("details").posture;
    assert!(posture.verified);
    assert_eq!(posture.seccomp, "engine");
    // Every engine lets programs look into each other since Linux 4.8.
    assert!(
        posture.open_calls.iter().any(|call| call == "ptrace"),
        "{posture:?}"
    );
    let gap = posture
        .gaps
        .iter()
        .find(|gap| gap.contains("not sandtop's own"));
    assert!(
        gap.is_some_and(|gap| gap.contains("ptrace")),
        "{:?}",
        posture.gaps
    );
}
