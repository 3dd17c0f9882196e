//! The simulated sandboxes behind one lock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::watch;

use super::events::EventLog;
use super::files::FileTree;
use crate::domain::{
    Death, Ended, EngineKind, ExecId, HostName, Network, Phase, Sandbox, SandboxId, SandboxRef,
    SandboxSpec,
};
use crate::engine::{EngineError, Result};

/// Everything that the engine and the streams it returned share.
pub(super) struct State {
    pub(super) host: HostName,
    inner: Mutex<Inner>,
}

/// What the lock guards; it is held briefly and never across an await.
#[derive(Default)]
pub(super) struct Inner {
    pub(super) sandboxes: BTreeMap<SandboxId, Simulated>,
    pub(super) images: BTreeSet<String>,
    pub(super) events: EventLog,
    created: u64,
}

/// One sandbox.
pub(super) struct Simulated {
    pub(super) sandbox: Sandbox,
    pub(super) spec: SandboxSpec,
    pub(super) files: FileTree,
    /// Running execs by process number; each is one process.
    pub(super) execs: BTreeMap<u32, Exec>,
    pub(super) death: Option<Death>,
    /// How often it was started, so that streams notice a quick restart.
    pub(super) starts: u64,
    last_pid: u32,
}

/// A running exec.
pub(super) struct Exec {
    pub(super) id: ExecId,
    pub(super) command: String,
    pub(super) started_at: DateTime<Utc>,
    pub(super) control: watch::Sender<Control>,
}

/// What an exec is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Run,
    Pause,
    End(Ended),
}

impl State {
    pub(super) fn new(host: HostName) -> Self {
        Self {
            host,
            inner: Mutex::default(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on one sandbox.
    pub(super) fn with<T>(
        &self,
        id: &SandboxId,
        work: impl FnOnce(&mut Simulated, &mut EventLog) -> Result<T>,
    ) -> Result<T> {
        let inner = &mut *self.lock();
        match inner.sandboxes.get_mut(id) {
            Some(sandbox) => work(sandbox, &mut inner.events),
            None => Err(EngineError::not_found(format!("the sandbox {id}"))
                .with_hint("list the sandboxes with `ls`")),
        }
    }
}

impl Inner {
    /// Returns a new id; the same engine gives the same ids in every run.
    pub(super) fn next_id(&mut self) -> SandboxId {
        self.created += 1;
        let spread = self.created.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        SandboxId::new(format!("{spread:016x}").repeat(4))
    }
}

impl Simulated {
    pub(super) fn new(host: &HostName, id: SandboxId, spec: SandboxSpec) -> Self {
        Self {
            files: FileTree::new(&spec.work_dir),
            sandbox: sandbox_of(SandboxRef::new(host.clone(), id), &spec),
            spec,
            execs: BTreeMap::new(),
            death: None,
            starts: 0,
            last_pid: 1,
        }
    }

    /// Lists a new exec and returns its process number.
    pub(super) fn add_exec(&mut self, exec: Exec) -> u32 {
        self.last_pid += 1;
        self.execs.insert(self.last_pid, exec);
        self.last_pid
    }

    /// Tells all execs what to do.
    pub(super) fn control_execs(&self, control: Control) {
        for exec in self.execs.values() {
            exec.control.send_replace(control);
        }
    }
}

fn sandbox_of(reference: SandboxRef, spec: &SandboxSpec) -> Sandbox {
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
