//! What is kept on disk of a sandbox: how it was asked for, and how it runs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::cgroups::Cgroups;
use crate::domain::{
    Access, EngineKind, HostName, Limits, Mount, Network, Owner, Phase, Sandbox, SandboxId,
    SandboxPath, SandboxRef, SandboxSpec,
};
use crate::guest::wire;

/// A sandbox as it was asked for; never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SandboxRecord {
    pub(super) id: String,
    pub(super) created_at: DateTime<Utc>,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// First of the 65536 user numbers that are its own outside; `None` if they are one's own.
    pub(super) block: Option<u32>,
    /// What it was made from, if that came packed.
    #[serde(default)]
    pub(super) unpacked: Option<Unpacked>,
    pub(super) asked: SpecRecord,
}

/// A packed image as it was when the sandbox was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unpacked {
    pub(super) digest: String,
    /// Variables that its programs expect.
    pub(super) env: Vec<(String, String)>,
}

/// The part of a record that comes from the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SpecRecord {
    pub(super) token: String,
    pub(super) name: String,
    pub(super) image: String,
    pub(super) profile: String,
    pub(super) limits: Limits,
    pub(super) network: Network,
    pub(super) env: Vec<(String, String)>,
    pub(super) mounts: Vec<MountRecord>,
    /// Escaped, since paths may hold any bytes.
    work_dir: String,
    pub(super) tmp_bytes: u64,
    pub(super) labels: BTreeMap<String, String>,
    owner: Owner,
}

/// A mount as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MountRecord {
    pub(super) source: PathBuf,
    target: String,
    pub(super) read_only: bool,
}

impl MountRecord {
    fn of(mount: &Mount) -> Self {
        Self {
            source: mount.source.clone(),
            target: wire::escape(mount.target.as_bytes()),
            read_only: mount.access == Access::ReadOnly,
        }
    }

    pub(super) fn target(&self) -> SandboxPath {
        path(&self.target)
    }
}

/// How a sandbox runs now, or ran last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) started_at: DateTime<Utc>,
    pub(super) cgroups: Cgroups,
    /// Limits that are weaker than asked for, in words.
    pub(super) gaps: Vec<String>,
}

fn path(escaped: &str) -> SandboxPath {
    SandboxPath::parse(&wire::unescape(escaped)).unwrap_or_else(|_| SandboxPath::root())
}

impl SpecRecord {
    /// Takes what is kept of a specification; `package set` is the folder that it sees as its package set.
    pub(super) fn of(spec: &SandboxSpec, set: Option<PathBuf>) -> Self {
        Self {
            token: spec.token.clone(),
            name: spec.name.as_str().to_owned(),
            image: spec.image.clone(),
            profile: spec.profile.clone(),
            limits: spec.limits,
            network: spec.network.clone(),
            env: spec.env.clone(),
            mounts: mounts(spec, set),
            work_dir: wire::escape(spec.work_dir.as_bytes()),
            tmp_bytes: spec.tmp_bytes,
            labels: spec.labels.clone(),
            owner: spec.owner.clone(),
        }
    }

    pub(super) fn work_dir(&self) -> SandboxPath {
        path(&self.work_dir)
    }
}

/// The folders that were asked for, and the package set.
fn mounts(spec: &SandboxSpec, set: Option<PathBuf>) -> Vec<MountRecord> {
    let set = spec.packages.as_ref().zip(set);
    let set = set.map(|(set, source)| MountRecord {
        // The state directory may lie behind a link.
        source: source.canonicalize().unwrap_or(source),
        target: wire::escape(set.target.as_bytes()),
        read_only: set.access == Access::ReadOnly,
    });
    spec.mounts.iter().map(MountRecord::of).chain(set).collect()
}

impl SandboxRecord {
    /// Describes it as lists do.
    pub(super) fn sandbox(&self, host: &HostName, phase: Phase, run: Option<&Run>) -> Sandbox {
        Sandbox {
            reference: SandboxRef::new(host.clone(), SandboxId::new(self.id.clone())),
            name: self.asked.name.clone(),
            engine: EngineKind::Local,
            image: self.asked.image.clone(),
            phase,
            created_at: self.created_at,
            started_at: run.map(|run| run.started_at),
            owner: Some(self.asked.owner.clone()),
            limits: self.asked.limits,
            network: network_name(&self.asked.network).to_owned(),
            work_dir: self.asked.work_dir(),
            labels: self.asked.labels.clone(),
        }
    }
}

fn network_name(network: &Network) -> &'static str {
    match network {
        Network::None => "none",
        Network::Default | Network::Named(_) => "host",
    }
}

/// Writes a file whole or not at all.
pub(super) fn write_json(file: &Path, value: &impl Serialize) -> io::Result<()> {
    let fresh = file.with_extension("new");
    fs::write(&fresh, serde_json::to_vec_pretty(value)?)?;
    fs::rename(fresh, file)
}

/// Reads what [`write_json`] wrote.
pub(super) fn read_json<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record as the first version of sandtop wrote it.
    const OLDEST: &str = include_str!("oldest_record.json");

    #[test]
    fn records_of_older_versions_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("record.json");
        fs::write(&file, OLDEST).expect("a file");
        let record: SandboxRecord = read_json(&file).expect("a record");
        assert_eq!((record.uid, record.gid, record.block), (1000, 1001, None));
        assert_eq!(record.unpacked, None);
        assert_eq!(record.asked.work_dir().to_string(), "/workspace");
        let mount = record.asked.mounts.first().expect("a mount");
        assert_eq!(mount.target().to_string(), "/in side");
        write_json(&file, &record).expect("a write");
        assert_eq!(read_json(&file), Some(record));
    }

    #[test]
    fn what_is_cut_off_is_no_record() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("record.json");
        assert_eq!(read_json::<SandboxRecord>(&file), None);
        fs::write(&file, &OLDEST[..OLDEST.len() / 2]).expect("a file");
        assert_eq!(read_json::<SandboxRecord>(&file), None);
    }
}
