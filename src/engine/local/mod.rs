//! The local engine: sandboxes that sandtop makes itself, from namespaces, cgroups and a system call filter. No daemon, no image.
//!
//! ```text
//! engine ─┬─ lifecycle ── state_dir (folders, lock), record, journal
//!         │    └───────── plan ← image (oci, layers, unpacked), cgroups, filter, users
//!         │                 │ lines of words, once
//!         └─ Guests ─── transport ── keeper (guest program, one process for each sandbox)
//!                         └ pipes, terminals: straight to the guest inside
//! ```
//!
//! Isolation is that of the host's kernel, like other engines of this kind; it is not a virtual machine.

mod cgroups;
mod checks;
mod doctor;
mod engine;
mod environment;
mod hierarchies;
mod image;
mod index;
mod inspect;
mod introspect;
mod journal;
mod keeper;
mod keeper_connection;
mod layers;
mod lifecycle;
mod limits;
mod oci;
mod package_sets;
mod plan;
mod plan_builder;
mod process_trees;
mod record;
mod state_dir;
mod stats;
mod streams;
mod systemd_scope;
mod transport;
mod unpacked;
mod users;

use std::path::Path;

use futures_util::stream::StreamExt;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::guest::Guests;
use super::{Engine, EngineError, ExecItem, Notes, Result, RunningExec};
use crate::domain::{EngineEventKind, ExecSpec, HostName, Sandbox, SandboxId};
use crate::protocol::LifecycleOp;
use journal::Journal;
use lifecycle::{Lifecycle, SandboxState};
use process_trees::ProcessTrees;
use state_dir::StateDir;

/// Sandboxes of this machine.
pub struct LocalEngine {
    host: HostName,
    lifecycle: Lifecycle,
    guests: Guests,
    trees: ProcessTrees,
    /// Why this engine was chosen.
    why: String,
}

impl LocalEngine {
    /// Describes the engine that keeps its sandboxes below `state`; `why` says how it came to be chosen.
    #[must_use]
    pub fn new(host: HostName, state: &Path, scope: &str, why: impl Into<String>) -> Self {
        let state_dir = StateDir::new(state, scope);
        let journal = Journal::new(state_dir.scope(), host.clone());
        Self {
            guests: Guests::new(transport::LocalTransport::new(state_dir.clone())),
            lifecycle: Lifecycle { state_dir, journal },
            trees: ProcessTrees::default(),
            host,
            why: why.into(),
        }
    }

    /// Runs something that may block, to its end even when nobody waits for it any more.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Lifecycle) -> T + Send + 'static,
    ) -> Result<T> {
        let lifecycle = self.lifecycle.clone();
        let done = tokio::task::spawn_blocking(move || work(&lifecycle)).await;
        done.map_err(|error| EngineError::internal(format!("a task of the engine failed: {error}")))
    }

    /// Looks at what is there. In a program with one thread, which a verb is, nothing goes on beside it anyway.
    async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Lifecycle) -> T + Send + 'static,
    ) -> Result<T> {
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::CurrentThread => Ok(query(&self.lifecycle)),
            _ => self.run_blocking(query).await,
        }
    }

    /// Describes sandboxes as lists do.
    fn sandboxes(&self, states: Vec<SandboxState>) -> Vec<Sandbox> {
        let describe = |state: SandboxState| {
            let run = state.run.as_ref();
            state.record.sandbox(&self.host, state.phase, run)
        };
        states.into_iter().map(describe).collect()
    }

    async fn state(&self, id: &SandboxId) -> Result<SandboxState> {
        let id = id.as_str().to_owned();
        self.query(move |lifecycle| lifecycle.find(&id)).await?
    }

    /// Makes a sandbox and removes it again, to know that it can be done.
    async fn try_engine(&self) -> Result<()> {
        let spec =
            introspect::trial_spec().ok_or_else(|| EngineError::internal("no name was found"))?;
        let made = self.create(&spec, &Notes::none()).await?;
        let gone = LifecycleOp::Remove { force: true };
        self.act(&made.reference.id, gone).await
    }

    /// Notes the beginning and the end of a command.
    fn record_in_journal(
        &self,
        state: &SandboxState,
        spec: &ExecSpec,
        mut exec: RunningExec,
    ) -> RunningExec {
        let (id, name) = (state.record.id.clone(), state.record.asked.name.clone());
        let command = spec.argv.join(" ");
        let journal = self.lifecycle.journal.clone();
        let exec_id = Some(spec.id.to_string());
        let begun = EngineEventKind::exec(command, exec_id.clone());
        journal.append(&id, &name, &begun);
        let noting = move |item: &ExecItem| {
            if let ExecItem::End(end) = item {
                let exit_code = end.ended.exit_code().map(i64::from);
                let exec = exec_id.clone();
                let ended = EngineEventKind::ExecEnded { exec, exit_code };
                journal.append(&id, &name, &ended);
            }
        };
        exec.items = exec.items.inspect(noting).boxed();
        exec
    }
}
