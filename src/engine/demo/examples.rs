//! Three sandboxes to look at for people who try the program without an engine.

use std::collections::BTreeMap;

use chrono::{TimeDelta, Utc};

use super::files::invalid;
use super::lifecycle;
use super::state::State;
use crate::domain::{Limits, Network, Owner, OwnerKind, SandboxName, SandboxPath, SandboxSpec};
use crate::engine::Result;
use crate::protocol::LifecycleOp;

/// One example.
struct Example {
    name: &'static str,
    image: &'static str,
    minutes: i64,
    file: &'static str,
    text: &'static str,
}

const EXAMPLES: [Example; 3] = [
    Example {
        name: "demo-python",
        image: "python:3.13-slim",
        minutes: 134,
        file: "/workspace/main.py",
        text: "print('hello from the demo')\n",
    },
    Example {
        name: "demo-node",
        image: "node:24-slim",
        minutes: 26,
        file: "/workspace/index.js",
        text: "console.log('hello from the demo')\n",
    },
    Example {
        name: "demo-idle",
        image: "debian:13-slim",
        minutes: 7,
        file: "/workspace/run.sh",
        text: "echo hello from the demo\n",
    },
];

/// Adds the examples.
pub(super) fn add_all(state: &State) {
    for example in EXAMPLES {
        // Its parts are constants that fit together.
        let _ = add(state, &example);
    }
}

fn add(state: &State, example: &Example) -> Result<()> {
    let id = lifecycle::create(state, spec(example)?)?.reference.id;
    let path = SandboxPath::parse(example.file.as_bytes()).map_err(invalid)?;
    state.with(&id, |simulated, _| {
        let born = Utc::now() - TimeDelta::minutes(example.minutes);
        simulated.sandbox.created_at = born;
        simulated.sandbox.started_at = Some(born);
        simulated.files.put(&path, None, example.text.into())
    })?;
    if example.name == "demo-idle" {
        lifecycle::act(state, &id, LifecycleOp::Stop)?;
    }
    Ok(())
}

fn spec(example: &Example) -> Result<SandboxSpec> {
    Ok(SandboxSpec {
        token: example.name.into(),
        name: SandboxName::parse(example.name).map_err(invalid)?,
        image: example.image.into(),
        profile: "demo".into(),
        limits: Limits {
            memory_bytes: Some(512 << 20),
            cpus: Some(1.0),
            pids: Some(128),
            timeout_s: Some(60),
        },
        network: Network::None,
        env: Vec::new(),
        mounts: Vec::new(),
        packages: None,
        work_dir: SandboxPath::parse(b"/workspace").map_err(invalid)?,
        user: "1000:1000".into(),
        tmp_bytes: 64 << 20,
        labels: BTreeMap::new(),
        // Of no machine, so that nobody takes them for orphans of a dead process here.
        owner: Owner {
            host: "demo".into(),
            pid: 1,
            started: 0,
            user: Some("demo".into()),
            kind: OwnerKind::Cli,
        },
    })
}
