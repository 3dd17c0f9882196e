//! Every measure holds as declared, and a hole shows as what it is.

use std::collections::BTreeMap;

use chrono::DateTime;

use super::*;
use crate::domain::{
    Details, EngineKind, HostName, Limits, Owner, OwnerKind, Phase, Posture, Sandbox, SandboxId,
    SandboxName, SandboxPath, SandboxRef, SandboxSpec,
};

fn spec() -> SandboxSpec {
    SandboxSpec {
        token: "t".into(),
        name: SandboxName::parse("tried").expect("a name"),
        image: "host".into(),
        profile: "default".into(),
        limits: Limits {
            memory_bytes: Some(64 << 20),
            cpus: Some(0.5),
            pids: Some(32),
            timeout_s: None,
        },
        network: Network::None,
        env: Vec::new(),
        mounts: Vec::new(),
        packages: None,
        work_dir: SandboxPath::parse(b"/workspace").expect("a path"),
        user: "1000:1000".into(),
        tmp_bytes: 1 << 20,
        labels: BTreeMap::new(),
        owner: Owner {
            host: "h".into(),
            pid: 1,
            started: 1,
            user: None,
            kind: OwnerKind::Run,
        },
    }
}

fn held(wall: Wall, name: &str) -> Attempt {
    Attempt {
        wall,
        name: name.into(),
        outcome: Outcome::Held,
        reached: None,
    }
}

fn test() -> SelfTest {
    let spec = spec();
    let sandbox = Sandbox {
        reference: SandboxRef::new(HostName::new("local"), SandboxId::new("1")),
        name: "tried".into(),
        engine: EngineKind::Local,
        image: spec.image.clone(),
        phase: Phase::Running,
        created_at: DateTime::UNIX_EPOCH,
        started_at: None,
        owner: None,
        limits: spec.limits,
        network: "none".into(),
        work_dir: spec.work_dir.clone(),
        labels: BTreeMap::new(),
    };
    let posture = Posture {
        no_new_privileges: true,
        read_only_root: true,
        seccomp: "default".into(),
        ..Posture::default()
    };
    let limits = [
        Wall::Memory,
        Wall::Processes,
        Wall::Processors,
        Wall::Scratch,
    ];
    let mut attempts: Vec<Attempt> = limits.map(|wall| held(wall, "more")).into();
    attempts.push(held(Wall::Calls, "ptrace"));
    attempts.push(held(Wall::Root, "writing in /etc"));
    attempts.push(Attempt {
        outcome: Outcome::Open,
        ..held(Wall::Mounts, "/workspace")
    });
    SelfTest {
        details: Details {
            sandbox,
            posture,
            death: None,
            env_names: Vec::new(),
            work_dir: "/workspace".into(),
        },
        spec,
        attempts,
    }
}

fn finding(test: &SelfTest, measure: &str) -> Finding {
    let all = measures(test);
    let found = all.into_iter().find(|one| one.measure == measure);
    found.expect("the measure").finding
}

#[test]
fn what_is_as_declared_holds() {
    for measure in measures(&test()) {
        assert_eq!(measure.finding, Finding::Holds, "{measure:?}");
    }
}

#[test]
fn an_attempt_that_works_is_a_gap_until_inspect_names_it() {
    for (wall, name, measure, words) in [
        (
            Wall::Calls,
            "ptrace",
            "system calls",
            "the system call filter is not ours",
        ),
        (
            Wall::Root,
            "writing in /etc",
            "root file system",
            "the root file system is writable",
        ),
        (
            Wall::Mounts,
            "/home",
            "writable mounts",
            "a host folder is mounted writable",
        ),
        (
            Wall::Privileges,
            "a raw socket",
            "privileges",
            "capabilities: NET_RAW",
        ),
        (
            Wall::Privileges,
            "being root",
            "user",
            "processes run as root",
        ),
        (
            Wall::Sockets,
            "x",
            "sockets of the host",
            "abstract sockets can be reached",
        ),
        (Wall::Network, "a route", "network", "the network is on"),
        (
            Wall::Memory,
            "more",
            "memory limit",
            "memory limit not enforced by the kernel",
        ),
    ] {
        let mut test = test();
        test.attempts.retain(|one| one.wall != wall);
        test.attempts.push(Attempt {
            outcome: Outcome::Open,
            ..held(wall, name)
        });
        assert_eq!(finding(&test, measure), Finding::Gap, "{measure}");
        test.details.posture.gaps.push(words.to_owned());
        assert_eq!(finding(&test, measure), Finding::NamedGap, "{measure}");
        let others = measures(&test).into_iter();
        let others = others.filter(|one| one.finding != Finding::Holds);
        assert_eq!(others.count(), 1, "{measure}");
    }
}

#[test]
fn what_was_asked_for_is_no_gap() {
    let mut test = test();
    test.spec.network = Network::Default;
    test.spec.user = "0:0".into();
    test.attempts.push(Attempt {
        outcome: Outcome::Open,
        ..held(Wall::Privileges, "being root")
    });
    test.attempts.push(Attempt {
        outcome: Outcome::Open,
        ..held(Wall::Network, "a route")
    });
    test.spec.limits.pids = None;
    for measure in ["network", "user", "process limit"] {
        assert_eq!(finding(&test, measure), Finding::Holds, "{measure}");
    }
}

#[test]
fn what_was_not_tried_does_not_count_as_holding() {
    let mut test = test();
    test.attempts.retain(|one| one.wall != Wall::Memory);
    assert_eq!(finding(&test, "memory limit"), Finding::NotTried);
}
