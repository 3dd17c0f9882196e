//! Three sandboxes to look at for people who try the program without an engine.

use std::collections::BTreeMap;

use chrono::{TimeDelta, Utc};

use super::life;
use super::world::World;
use crate::domain::{Limits, Network, Owner, SandboxId, SandboxName, SandboxPath, SandboxSpec};
use crate::protocol::LifecycleOp;

/// One example.
struct Example {
    name: &'static str,
    image: &'static str,
    network: Network,
    age: TimeDelta,
    file: (&'static str, &'static str),
}

/// Fills a world with the examples.
pub(super) fn fill(world: &World) {
    for example in examples() {
        add(world, &example);
    }
}

fn examples() -> [Example; 3] {
    [
        Example {
            name: "demo-python",
            image: "python:3.13-slim",
            network: Network::None,
            age: TimeDelta::minutes(134),
            file: ("/workspace/main.py", "print('hello from the demo')\n"),
        },
        Example {
            name: "demo-node",
            image: "node:24-slim",
            network: Network::Default,
            age: TimeDelta::minutes(26),
            file: (
                "/workspace/index.js",
                "console.log('hello from the demo')\n",
            ),
        },
        Example {
            name: "demo-idle",
            image: "debian:13-slim",
            network: Network::None,
            age: TimeDelta::minutes(7),
            file: ("/workspace/run.sh", "echo hello from the demo\n"),
        },
    ]
}

fn add(world: &World, example: &Example) {
    let Some(spec) = spec(example) else {
        return;
    };
    let sandbox = life::add(world, &mut world.lock(), spec);
    let id = sandbox.reference.id;
    age(world, &id, example);
    if example.name == "demo-idle" {
        // It was just made, so it can be stopped.
        let _ = life::act(world, &id, LifecycleOp::Stop);
    }
}

/// Gives an example its past and its file.
fn age(world: &World, id: &SandboxId, example: &Example) {
    let born = Utc::now() - example.age;
    let (path, text) = example.file;
    // It was just made, so it is there.
    let _ = world.with(id, |simulated, _| {
        simulated.sandbox.created_at = born;
        simulated.sandbox.started_at = Some(born);
        if let Ok(path) = SandboxPath::parse(path.as_bytes()) {
            simulated.files.put(&path, None, text.into())?;
        }
        Ok(())
    });
}

fn spec(example: &Example) -> Option<SandboxSpec> {
    Some(SandboxSpec {
        token: example.name.into(),
        name: SandboxName::parse(example.name).ok()?,
        image: example.image.into(),
        profile: "demo".into(),
        limits: Limits {
            memory_bytes: Some(512 << 20),
            cpus: Some(1.0),
            pids: Some(128),
            timeout_s: Some(60),
        },
        network: example.network.clone(),
        env: vec![("LANG".into(), "C.UTF-8".into())],
        mounts: Vec::new(),
        packages: None,
        work_dir: SandboxPath::parse(b"/workspace").ok()?,
        user: "1000:1000".into(),
        tmp_bytes: 64 << 20,
        labels: BTreeMap::from([("example".into(), "simulated".into())]),
        // Of no machine, so that nobody takes them for orphans of a dead process here.
        owner: Owner {
            host: "demo".into(),
            pid: 1,
            started: 0,
            user: Some("demo".into()),
            kind: crate::domain::OwnerKind::Cli,
        },
    })
}
