//! The simulated world behind one lock: sandboxes, their processes and what happened to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::watch;

use super::faults::Faults;
use super::files::FileTree;
use super::journal::Journal;
use crate::domain::{
    Death, EngineKind, ExecId, HostName, Network, Phase, Sandbox, SandboxId, SandboxPath,
    SandboxRef, SandboxSpec,
};
use crate::engine::{EngineError, Result};

/// Processes of a sandbox without a limit of its own.
const DEFAULT_PIDS: u64 = 512;

/// Everything that the engine and what it returned share.
pub(super) struct World {
    pub(super) host: HostName,
    inner: Mutex<Inner>,
    reach: watch::Sender<bool>,
}

/// What the lock guards; it is held briefly and never across an await.
pub(super) struct Inner {
    pub(super) sandboxes: BTreeMap<SandboxId, Simulated>,
    pub(super) removed: BTreeSet<SandboxId>,
    pub(super) images: BTreeSet<String>,
    pub(super) faults: Faults,
    pub(super) journal: Journal,
    created: u64,
}

/// One sandbox.
pub(super) struct Simulated {
    pub(super) sandbox: Sandbox,
    pub(super) spec: SandboxSpec,
    pub(super) files: FileTree,
    /// The files as they were first.
    pub(super) original: FileTree,
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) processes: BTreeMap<u32, Process>,
    /// Running execs, each with the switch that calls it off.
    pub(super) execs: BTreeMap<String, watch::Sender<bool>>,
    pub(super) death: Option<Death>,
    /// Tells streams about changes of phase.
    pub(super) life: watch::Sender<Life>,
    last_pid: u32,
}

/// A phase, and how often the sandbox was started, so that a quick restart is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) phase: Phase,
    pub(super) starts: u64,
}

/// What a named session keeps.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) cwd: SandboxPath,
    pub(super) exported: BTreeMap<String, String>,
    pub(super) used_at: DateTime<Utc>,
}

/// One simulated process.
pub(super) struct Process {
    pub(super) exec: ExecId,
    pub(super) command: String,
    pub(super) started_at: DateTime<Utc>,
    /// Sends it a signal; dropping it ends the process, too.
    pub(super) signal: watch::Sender<i32>,
}

impl World {
    pub(super) fn new(host: HostName) -> Self {
        Self {
            host,
            reach: watch::Sender::new(true),
            inner: Mutex::new(Inner {
                sandboxes: BTreeMap::new(),
                removed: BTreeSet::new(),
                images: BTreeSet::new(),
                faults: Faults::default(),
                journal: Journal::new(),
                created: 0,
            }),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the time a call takes, and fails if nothing should answer.
    pub(super) async fn enter(&self) -> Result<()> {
        let delay = self.lock().faults.call_delay;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        self.lock().faults.reach()
    }

    pub(super) fn set_faults(&self, change: impl FnOnce(&mut Faults)) {
        let reachable = {
            let mut inner = self.lock();
            change(&mut inner.faults);
            !inner.faults.unreachable
        };
        self.reach.send_replace(reachable);
    }

    /// Tells whether the engine answers, now and later.
    pub(super) fn reach(&self) -> watch::Receiver<bool> {
        self.reach.subscribe()
    }

    /// Works on one sandbox.
    pub(super) fn with<T>(
        &self,
        id: &SandboxId,
        work: impl FnOnce(&mut Simulated, &mut Journal) -> Result<T>,
    ) -> Result<T> {
        let inner = &mut *self.lock();
        let sandbox = inner.sandboxes.get_mut(id).ok_or_else(|| unknown(id))?;
        work(sandbox, &mut inner.journal)
    }
}

impl Inner {
    /// Returns a new id; the same engine gives the same ids in every run.
    pub(super) fn next_id(&mut self) -> SandboxId {
        self.created += 1;
        let [a, b, c, d] = [0, 1, 2, 3].map(|part| scramble(self.created * 4 + part));
        SandboxId::new(format!("{a:016x}{b:016x}{c:016x}{d:016x}"))
    }
}

impl Simulated {
    pub(super) fn new(host: &HostName, id: SandboxId, spec: SandboxSpec) -> Self {
        let files = files_of(&spec);
        Self {
            original: files.clone(),
            files,
            sandbox: described(SandboxRef::new(host.clone(), id), &spec),
            spec,
            sessions: BTreeMap::new(),
            processes: BTreeMap::new(),
            execs: BTreeMap::new(),
            death: None,
            life: watch::Sender::new(Life {
                phase: Phase::Creating,
                starts: 0,
            }),
            last_pid: 1,
        }
    }

    /// Adds a process unless there are as many as allowed.
    pub(super) fn fork(&mut self, process: Process) -> Option<u32> {
        let most = self.spec.limits.pids.unwrap_or(DEFAULT_PIDS);
        if self.processes.len() as u64 + 1 >= most {
            return None;
        }
        self.last_pid += 1;
        self.processes.insert(self.last_pid, process);
        Some(self.last_pid)
    }
}

/// Describes a sandbox that is not there.
pub(super) fn unknown(id: &SandboxId) -> EngineError {
    EngineError::not_found(format!("the sandbox {id}")).with_hint("list the sandboxes with `ls`")
}

/// Reads `uid:gid`; names count as the usual first user.
pub(super) fn owner(user: &str) -> (u32, u32) {
    let (uid, gid) = user.split_once(':').unwrap_or((user, user));
    let number = |text: &str| match text {
        "root" => 0,
        text => text.parse().unwrap_or(1000),
    };
    (number(uid), number(gid))
}

/// Makes the first files, with the network as programs inside would find it.
fn files_of(spec: &SandboxSpec) -> FileTree {
    let mut files = FileTree::new(&spec.work_dir, owner(&spec.user));
    let interfaces: &[&[u8]] = match &spec.network {
        Network::None => &[b"/sys/class/net/lo"],
        Network::Default | Network::Named(_) => &[b"/sys/class/net/lo", b"/sys/class/net/eth0"],
    };
    for path in interfaces
        .iter()
        .filter_map(|path| SandboxPath::parse(path).ok())
    {
        // It cannot fail: nothing is in the way.
        let _ = files.make_dir(&path);
    }
    files
}

fn described(reference: SandboxRef, spec: &SandboxSpec) -> Sandbox {
    Sandbox {
        reference,
        name: spec.name.to_string(),
        engine: EngineKind::Demo,
        image: spec.image.clone(),
        phase: Phase::Creating,
        created_at: Utc::now(),
        started_at: None,
        owner: Some(spec.owner.clone()),
        limits: spec.limits,
        work_dir: spec.work_dir.clone(),
        network: match &spec.network {
            Network::None => "none".into(),
            Network::Default => "default".into(),
            Network::Named(name) => name.clone(),
        },
        labels: spec.labels.clone(),
    }
}

/// Spreads a number over all bits (`SplitMix64`).
pub(super) fn scramble(number: u64) -> u64 {
    let mut word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
