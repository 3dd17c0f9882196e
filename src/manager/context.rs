//! What every task of the manager needs: the hosts, the way out for events, and word of the end.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};

use tokio::sync::{OwnedMutexGuard, mpsc, watch};

use super::cancellations::Cancellations;
use super::temporary_sandboxes::TemporarySandboxes;
use super::{Host, Options};
use crate::domain::{HostName, RequestId, Sandbox, SandboxRef};
use crate::engine::{Note, SharedEngine};
use crate::protocol::{Event, Failure, FailureKind, Reply};
use crate::store::Moment;

/// Figures of memory that are remembered of each sandbox.
const SAMPLES: usize = 120;

/// Shared by the tasks; cheap to clone.
#[derive(Clone)]
pub(super) struct Context {
    hosts: Arc<Vec<Host>>,
    /// What the manager was started with.
    pub(super) options: Arc<Options>,
    events: mpsc::Sender<Event>,
    closing: watch::Receiver<bool>,
    /// Operations on a sandbox must not overlap.
    changes: Arc<Locks<SandboxRef>>,
    /// Lists of a host must arrive in the order in which they were made.
    lists: Arc<Locks<HostName>>,
    /// Requests that can be cancelled.
    pub(super) cancellations: Arc<Cancellations>,
    /// Sandboxes that end with the program they were made for.
    pub(super) temporary: Arc<TemporarySandboxes>,
    names: Arc<Mutex<HashMap<SandboxRef, String>>>,
    recent: Arc<Mutex<HashMap<SandboxRef, VecDeque<u64>>>>,
    activity: Arc<AtomicU64>,
}

/// One lock for each of many things; whoever waits for one gets it in turn.
struct Locks<K>(Mutex<HashMap<K, Arc<tokio::sync::Mutex<()>>>>);

impl<K> Default for Locks<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash> Locks<K> {
    /// Gets in line for the lock of one of them, now and not when it is first waited for; locks that nobody holds are forgotten.
    fn lock(&self, key: &K) -> impl Future<Output = OwnedMutexGuard<()>> + Send + use<K> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|known, lock| known == key || Arc::strong_count(lock) > 1);
            locks.entry(key.clone()).or_default().clone()
        };
        let mut turn = Box::pin(lock.lock_owned());
        let mut now = TaskContext::from_waker(Waker::noop());
        let at_once = match turn.as_mut().poll(&mut now) {
            Poll::Ready(guard) => Some(guard),
            Poll::Pending => None,
        };
        async move {
            match at_once {
                Some(guard) => guard,
                None => turn.await,
            }
        }
    }
}

impl Context {
    pub(super) fn new(
        hosts: Vec<Host>,
        options: Options,
        events: mpsc::Sender<Event>,
        closing: watch::Receiver<bool>,
    ) -> Self {
        Self {
            hosts: Arc::new(hosts),
            options: Arc::new(options),
            events,
            closing,
            changes: Arc::default(),
            lists: Arc::default(),
            cancellations: Arc::default(),
            temporary: Arc::default(),
            names: Arc::default(),
            recent: Arc::default(),
            activity: Arc::default(),
        }
    }

    /// Returns all hosts.
    pub(super) fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Finds a host by its name.
    pub(super) fn host(&self, name: &HostName) -> Result<&Host, Failure> {
        let found = self.hosts.iter().find(|host| host.name == *name);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
            Failure::new(
                FailureKind::NotFound,
                format!("the host {name} was not found"),
            )
            .with_hint(format!("there is: {}", known.join(", ")))
        })
    }

    /// Finds the engine of a sandbox.
    pub(super) fn engine(&self, sandbox: &SandboxRef) -> Result<&SharedEngine, Failure> {
        self.host(&sandbox.host).map(|host| &host.engine)
    }

    /// Returns how the store names the engine of a sandbox.
    pub(super) fn engine_key(&self, sandbox: &SandboxRef) -> Result<&str, Failure> {
        self.host(&sandbox.host)
            .map(|host| host.engine_key.as_str())
    }

    /// Remembers the names of sandboxes that were seen.
    pub(super) fn remember<'a>(&self, sandboxes: impl IntoIterator<Item = &'a Sandbox>) {
        let seen = sandboxes.into_iter();
        let seen = seen.map(|sandbox| (sandbox.reference.clone(), sandbox.name.clone()));
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.extend(seen);
    }

    /// Returns the name of a sandbox that was seen; empty for others.
    pub(super) fn name_of(&self, sandbox: &SandboxRef) -> String {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(sandbox).cloned().unwrap_or_default()
    }

    /// Remembers the memory that a sandbox uses, for the case that it dies.
    pub(super) fn add_memory_sample(&self, sandbox: &SandboxRef, memory: u64) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = recent.entry(sandbox.clone()).or_default();
        known.push_back(memory);
        if known.len() > SAMPLES {
            known.pop_front();
        }
    }

    /// Returns the memory that a sandbox used lately, the oldest first; it is forgotten with that.
    pub(super) fn recent_memory(&self, sandbox: &SandboxRef) -> Vec<u64> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.remove(sandbox).map(Vec::from).unwrap_or_default()
    }

    /// Notes that an engine told something, or cannot be heard any more.
    pub(super) fn note_activity(&self) {
        self.activity.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts what engines told: as long as it is the same, what they said before still holds.
    pub(super) fn activity(&self) -> u64 {
        self.activity.load(Ordering::Relaxed)
    }

    /// Tells the first trouble with the record; work goes on without it. Returns what there is.
    pub(super) async fn ok_or_warn<T>(&self, outcome: Result<T, Failure>) -> Option<T> {
        if let Some(damage) = self.options.store.take_damage() {
            self.send(Event::Notice(damage)).await;
        }
        match outcome {
            Ok(value) => Some(value),
            Err(failure) => {
                tracing::warn!(%failure, "recording failed");
                if self.options.store.is_news() {
                    self.send(Event::Notice(failure)).await;
                }
                None
            }
        }
    }

    /// Records that a sandbox is used now.
    pub(super) async fn touch(&self, sandbox: &SandboxRef) {
        self.touch_at(sandbox, Moment::now()).await;
    }

    /// Records that a sandbox was used.
    pub(super) async fn touch_at(&self, sandbox: &SandboxRef, at: Moment) {
        if let Ok(place) = self.engine_key(sandbox) {
            let name = self.name_of(sandbox);
            let touched = self.options.store.touch(place, &sandbox.id, &name, at);
            self.ok_or_warn(touched.await).await;
        }
    }

    /// Records what the kernel's counter of refused processes says of a sandbox.
    pub(super) async fn note_refusals(&self, sandbox: &SandboxRef, counter: u64) {
        if let (Ok(place), true) = (self.engine_key(sandbox), counter > 0) {
            let (store, name) = (&self.options.store, self.name_of(sandbox));
            let noted = store.note_refusals(place, &sandbox.id, &name, counter);
            self.ok_or_warn(noted.await).await;
        }
    }

    /// Sends an event, waiting for room; a front end that is gone needs none.
    pub(super) async fn send(&self, event: Event) {
        let _ = self.events.send(event).await;
    }

    /// Sends an event if there is room; for what is outdated a moment later anyway.
    pub(super) fn offer(&self, event: Event) {
        let _ = self.events.try_send(event);
    }

    /// Sends the one reply to a request.
    pub(super) async fn reply(&self, request: RequestId, outcome: Result<Reply, Failure>) {
        self.send(Event::Replied { request, outcome }).await;
    }

    /// Passes a note of an engine on.
    pub(super) fn progress(&self, request: RequestId, note: Note) {
        self.offer(Event::Progress {
            request,
            note: note.text,
            done: note.done,
            total: note.total,
        });
    }

    /// Tells whoever waits for a request what is being done.
    pub(super) fn tell(&self, request: RequestId, words: impl Into<String>) {
        let note = Note {
            text: words.into(),
            done: 0,
            total: None,
        };
        self.progress(request, note);
    }

    /// Waits until the manager is about to end, and returns what to say of work that ends with it.
    pub(super) async fn interrupted(&self) -> Failure {
        self.closing().await;
        Failure::new(FailureKind::Interrupted, "interrupted")
    }

    /// Waits until the manager is about to end.
    pub(super) async fn closing(&self) {
        let mut closing = self.closing.clone();
        let _ = closing.wait_for(|closing| *closing).await;
    }

    /// Gets in line for an operation on a sandbox; what was asked for first is done first.
    pub(super) fn lock_sandbox(
        &self,
        sandbox: &SandboxRef,
    ) -> impl Future<Output = OwnedMutexGuard<()>> + Send + use<> {
        self.changes.lock(sandbox)
    }

    /// Lists the sandboxes of a host and tells the list; never an older one after a newer.
    ///
    /// # Errors
    /// `list` failed.
    pub(super) async fn tell_list<E>(
        &self,
        host: &HostName,
        list: impl Future<Output = Result<Vec<Sandbox>, E>>,
    ) -> Result<Vec<Sandbox>, E> {
        let turn = self.lists.lock(host).await;
        let sandboxes = list.await?;
        self.remember(&sandboxes);
        let (host, told) = (host.clone(), sandboxes.clone());
        let event = Event::Sandboxes {
            host,
            sandboxes: told,
        };
        self.send(event).await;
        drop(turn);
        Ok(sandboxes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::{mpsc, watch};

    use super::*;
    use crate::app::testing::{host, sandbox};
    use crate::domain::{OwnerKind, Phase, Source};
    use crate::store::Store;

    fn options() -> Options {
        let environment = crate::config::Environment::new([("HOME", "/no/such/home")], 7);
        let load = crate::config::LoadOptions {
            config: None,
            engine: None,
            environment,
        };
        let config = crate::config::Config::load(&load).expect("settings");
        Options {
            max_sandboxes: 9,
            source: Source::Tui,
            reap_foreign: false,
            owner: crate::domain::Owner {
                host: "desk".to_owned(),
                pid: 7,
                started: 1,
                user: None,
                kind: OwnerKind::Tui,
            },
            measures_disk: false,
            copy_limit: None,
            max_detached: 9,
            deps: config.deps,
            store: Store::open(None),
        }
    }

    #[tokio::test]
    async fn what_asks_first_is_first_whoever_waits_first() {
        let locks: Locks<u8> = Locks::default();
        let held = locks.lock(&1).await;
        let (first, second) = (locks.lock(&1), locks.lock(&1));
        let order = Mutex::new(Vec::new());
        let note = async |turn: &str, guard| {
            order.lock().expect("a list").push(turn.to_owned());
            drop::<OwnedMutexGuard<()>>(guard);
        };
        let later = async { note("second", second.await).await };
        let sooner = async { note("first", first.await).await };
        let release = async { drop(held) };
        tokio::join!(later, sooner, release);
        assert_eq!(*order.lock().expect("a list"), ["first", "second"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_older_list_never_comes_after_a_newer_one() {
        let (events, mut told) = mpsc::channel(9);
        let (_close, closing) = watch::channel(false);
        let context = Context::new(Vec::new(), options(), events, closing);
        let phase = Arc::new(Mutex::new(Phase::Paused));
        let list = |takes: u64| {
            let phase = Arc::clone(&phase);
            async move {
                let mut one = sandbox("a");
                one.phase = *phase.lock().expect("a phase");
                tokio::time::sleep(Duration::from_secs(takes)).await;
                Ok::<_, Failure>(vec![one])
            }
        };
        let resume = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            *phase.lock().expect("a phase") = Phase::Running;
            context.tell_list(&host(), list(1)).await
        };
        let here = host();
        let slow = context.tell_list(&here, list(9));
        let (_, newer) = tokio::join!(slow, resume);
        newer.expect("a list");
        let mut phases = Vec::new();
        while let Ok(Event::Sandboxes { sandboxes, .. }) = told.try_recv() {
            phases.extend(sandboxes.into_iter().map(|one| one.phase));
        }
        assert_eq!(phases, [Phase::Paused, Phase::Running]);
    }
}
