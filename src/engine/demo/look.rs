//! Looks at a simulated sandbox: its processes, what it did to its files, and the images it knows.

use chrono::{DateTime, Utc};

use super::life;
use super::node::{Content, Node};
use super::running::PEAK_MEMORY;
use super::world::{Inner, Simulated};
use crate::domain::{Change, ChangeKind, ChangedFile, Changes, Image, Process, SandboxPath};
use crate::engine::Result;

/// Lists the processes, with a first one that every sandbox has.
pub(super) fn processes(sandbox: &Simulated) -> Result<Vec<Process>> {
    life::require_live(&sandbox.sandbox, "listing processes")?;
    let now = Utc::now();
    let born = sandbox.sandbox.started_at.unwrap_or(now);
    let described = |pid, started_at: DateTime<Utc>, command: &str| Process {
        pid,
        parent: u32::from(pid != 1),
        user: sandbox.spec.user.clone(),
        state: 'S',
        cpu_time: std::time::Duration::ZERO,
        memory_bytes: PEAK_MEMORY,
        age: (now - started_at).to_std().unwrap_or_default(),
        command: command.to_owned(),
    };
    let first = described(1, born, "init (simulated)");
    let rest = sandbox.processes.iter();
    let rest = rest.map(|(pid, process)| described(*pid, process.started_at, &process.command));
    Ok(std::iter::once(first).chain(rest).collect())
}

/// Compares the files with what they were first.
pub(super) fn changes(sandbox: &Simulated) -> Changes {
    let (before, now) = (&sandbox.original.nodes, &sandbox.files.nodes);
    let found = now.iter().filter_map(|(key, node)| {
        let kind = match before.get(key) {
            None => ChangeKind::Added,
            Some(old) if differs(old, node) => ChangeKind::Changed,
            Some(_) => return None,
        };
        let entry = node.entry(key);
        Some(Change {
            path: SandboxPath::parse(key).ok()?,
            kind,
            now: Some(ChangedFile {
                kind: entry.kind,
                size: entry.size,
                modified_at: entry.modified_at,
            }),
        })
    });
    let gone = before.keys().filter(|key| !now.contains_key(*key));
    let gone = gone.filter_map(|key| {
        Some(Change {
            path: SandboxPath::parse(key).ok()?,
            kind: ChangeKind::Deleted,
            now: None,
        })
    });
    Changes {
        files: found.chain(gone).collect(),
        looked_at: vec!["all simulated files".to_owned()],
        ..Changes::default()
    }
    .tidied()
}

/// Adds up the files in the work directory.
pub(super) fn size(sandbox: &Simulated) -> Result<u64> {
    life::require_live(&sandbox.sandbox, "measuring files")?;
    let below = sandbox.spec.work_dir.as_bytes();
    let nodes = sandbox.files.nodes.iter();
    let nodes = nodes.filter(|(key, _)| key.starts_with(below));
    Ok(nodes.map(|(key, node)| node.entry(key).size).sum())
}

fn differs(old: &Node, new: &Node) -> bool {
    let same = match (&old.content, &new.content) {
        (Content::File(a), Content::File(b)) => a == b,
        (Content::Directory, Content::Directory) => true,
        (Content::Symlink(a), Content::Symlink(b)) => a == b,
        _ => false,
    };
    !same || old.mode != new.mode || old.owner != new.owner
}

/// Lists the images that were ever asked for.
pub(super) fn images(inner: &Inner) -> Vec<Image> {
    let names = inner.images.iter();
    names
        .map(|name| Image {
            name: name.clone(),
            id: "simulated".to_owned(),
            size_bytes: None,
            created_at: None,
        })
        .collect()
}
