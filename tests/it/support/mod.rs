//! What all tests share: engines to test, specifications, waiting with an end, and cleaning up whatever happens.

pub mod layout;
pub mod ordinary;
pub mod sha256;

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use sandtop::domain::{
    EngineKind, ExecEnd, ExecId, ExecSpec, FileEntry, HostName, Limits, Network, OutputChunk,
    Owner, Phase, Sandbox, SandboxId, SandboxName, SandboxPath, SandboxSpec, StdinMode, StreamKind,
};
use sandtop::engine::demo::DemoEngine;
use sandtop::engine::docker::{DockerEngine, Endpoint};
use sandtop::engine::local::LocalEngine;
use sandtop::engine::{
    ByteStream, EngineError, ExecItem, Notes, Result, RunningExec, SharedEngine,
};
use sandtop::protocol::{FailureKind, FileOp, LifecycleOp};
use tokio::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::time::{sleep, timeout};

/// The longest that anything may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Memory that the tests' sandboxes may use.
pub const MEMORY: u64 = 128 << 20;

/// Held by tests that use much memory, and by the one that measures it.
pub static HEAVY: Mutex<()> = Mutex::const_new(());

/// Read by all who use the Docker engine, written by the one who restarts it.
static DAEMON: RwLock<()> = RwLock::const_new(());

static COUNTER: AtomicU64 = AtomicU64::new(1);

/// Returns a number that no other test of this run has.
pub fn unique() -> u64 {
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

/// Returns a name that nobody else on a shared engine has.
pub fn unique_name(hint: &str) -> String {
    format!("it-{hint}-{}-{}", std::process::id(), unique())
}

/// Where an engine is.
#[derive(Clone)]
enum Site {
    Nowhere,
    Docker(Endpoint),
    /// The state directory.
    Local(PathBuf),
}

impl Site {
    fn engine(&self, scope: &str) -> Option<SharedEngine> {
        match self {
            Self::Nowhere => None,
            Self::Docker(at) => Some(Arc::new(DockerEngine::new(host(), at.clone(), scope))),
            Self::Local(state) => Some(Arc::new(LocalEngine::new(host(), state, scope, "a test"))),
        }
    }
}

/// An engine to test, with sandboxes that are removed in the end.
pub struct Fixture {
    pub engine: SharedEngine,
    pub scope: String,
    pub image: String,
    site: Site,
    guard: Option<RwLockReadGuard<'static, ()>>,
}

impl Fixture {
    /// Makes a simulated engine.
    pub async fn demo() -> Self {
        std::future::ready(Self::simulated()).await
    }

    fn simulated() -> Self {
        Self {
            engine: Arc::new(DemoEngine::new(host())),
            scope: String::new(),
            image: "busybox".into(),
            site: Site::Nowhere,
            guard: None,
        }
    }

    /// Takes the engine of this machine, which must work.
    pub async fn local() -> Self {
        let fixture = Self::at(Site::Local(ordinary::state_dir()), "host");
        let answer = fixture.engine.info().await;
        answer.unwrap_or_else(|error| panic!("the local engine is needed: {}", error.message));
        fixture
    }

    fn at(site: Site, image: &str) -> Self {
        let scope = unique_name("scope");
        Self {
            engine: site.engine(&scope).expect("a real engine"),
            scope,
            image: image.to_owned(),
            site,
            guard: None,
        }
    }

    /// Makes another engine on the same sandboxes, as another process would.
    pub fn second_look(&self) -> SharedEngine {
        self.site.engine(&self.scope).expect("a real engine")
    }

    /// Returns the folder below which the local engine keeps this fixture's sandboxes.
    pub fn state_dir(&self) -> PathBuf {
        match &self.site {
            Site::Local(state) => state.join("local").join(format!("scope-{}", self.scope)),
            _ => panic!("not the local engine"),
        }
    }

    /// Connects to the Docker engine that the environment names, which must answer.
    pub async fn docker() -> Self {
        let guard = DAEMON.read().await;
        let mut fixture = Self::unguarded_docker().await;
        fixture.guard = Some(guard);
        fixture
    }

    /// Connects to it for a test that stops it, with nobody else using it meanwhile.
    pub async fn docker_alone() -> (Self, RwLockWriteGuard<'static, ()>) {
        let guard = DAEMON.write().await;
        (Self::unguarded_docker().await, guard)
    }

    async fn unguarded_docker() -> Self {
        let connected = Self::connect().await;
        connected.unwrap_or_else(|reason| panic!("Docker is needed, but {reason}"))
    }

    async fn connect() -> std::result::Result<Self, String> {
        let address = std::env::var("DOCKER_HOST").ok().filter(|a| !a.is_empty());
        let address = address.ok_or("DOCKER_HOST is not set")?;
        let endpoint = Endpoint::parse(&address).map_err(|e| e.message)?;
        let image = std::env::var("SANDTOP_TEST_IMAGE").unwrap_or("sandtop-test/busybox".into());
        let fixture = Self::at(Site::Docker(endpoint), &image);
        match timeout(PATIENCE, fixture.engine.info()).await {
            Ok(Ok(_)) => Ok(fixture),
            Ok(Err(error)) => Err(error.message),
            Err(_) => Err(format!("{address} does not answer in time")),
        }
    }

    /// Makes an engine at the same place with a scope of its own.
    pub fn sibling(&self) -> Self {
        match &self.site {
            Site::Nowhere => Self::simulated(),
            site => Self::at(site.clone(), &self.image),
        }
    }

    pub fn is_docker(&self) -> bool {
        matches!(self.site, Site::Docker(_))
    }

    pub fn is_local(&self) -> bool {
        matches!(self.site, Site::Local(_))
    }

    /// Describes a sandbox with small limits.
    pub fn spec(&self, hint: &str) -> SandboxSpec {
        SandboxSpec {
            image: self.image.clone(),
            ..spec(&unique_name(hint))
        }
    }

    /// Makes a sandbox.
    pub async fn sandbox(&self) -> Bench<'_> {
        self.create(&self.spec("s")).await
    }

    /// Makes the sandbox that a specification describes.
    pub async fn create(&self, spec: &SandboxSpec) -> Bench<'_> {
        let made = soon("a create", self.engine.create(spec, &Notes::none())).await;
        let sandbox = made.unwrap_or_else(|e| panic!("creating failed: {e}"));
        Bench {
            fixture: self,
            id: sandbox.reference.id.clone(),
            sandbox,
        }
    }

    /// Lists the sandboxes.
    pub async fn list(&self) -> Vec<Sandbox> {
        soon("a list", self.engine.list()).await.expect("a list")
    }

    /// Fails if a container or volume of the scope is left.
    pub async fn assert_nothing_left(&self) {
        assert_eq!(self.list().await, []);
        if self.is_docker() {
            let label = format!("label=sandtop.scope={}", self.scope);
            for what in [&["ps", "-aq"][..], &["volume", "ls", "-q"]] {
                let arguments = [what, &["--filter", &label]].concat();
                assert_eq!(docker(&arguments), "", "{what:?}");
            }
        }
        if self.is_local() {
            let left = ordinary::left_below(&self.state_dir());
            assert_eq!(left, Vec::<String>::new());
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let site = std::mem::replace(&mut self.site, Site::Nowhere);
        let scope = std::mem::take(&mut self.scope);
        let Some(engine) = site.engine(&scope) else {
            return;
        };
        let kept = scope.clone();
        // A thread, because a runtime cannot block inside another; an engine of its own, because connections belong to
        // the runtime that opened them.
        let cleaning = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let cleaned = timeout(PATIENCE, remove_all(&engine)).await;
                if !matches!(cleaned, Ok(Ok(()))) {
                    eprintln!("cleaning up {scope} failed: {cleaned:?}");
                }
            });
        });
        let _ = cleaning.join();
        if let Site::Local(state) = site {
            let _ = std::fs::remove_dir_all(state.join("local").join(format!("scope-{kept}")));
        }
    }
}

async fn remove_all(engine: &SharedEngine) -> Result<()> {
    for sandbox in engine.list().await? {
        let gone = LifecycleOp::Remove { force: true };
        engine.act(&sandbox.reference.id, gone).await?;
    }
    for set in engine.package_sets().await? {
        engine.remove_package_set(&set.name).await?;
    }
    Ok(())
}

/// A sandbox to try things in.
pub struct Bench<'a> {
    pub fixture: &'a Fixture,
    pub id: SandboxId,
    pub sandbox: Sandbox,
}

/// What an exec gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub end: ExecEnd,
}

impl Outcome {
    /// Returns standard output as text without its last line end.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.out);
        text.strip_suffix('\n').unwrap_or(&text).to_owned()
    }
}

impl Bench<'_> {
    fn engine(&self) -> &SharedEngine {
        &self.fixture.engine
    }

    /// Starts a command.
    pub async fn start(&self, spec: &ExecSpec) -> RunningExec {
        let started = soon("a start", self.engine().exec(&self.id, spec)).await;
        started.unwrap_or_else(|e| panic!("starting {:?} failed: {e}", spec.argv))
    }

    /// Runs a described command to its end.
    pub async fn run_spec(&self, spec: &ExecSpec) -> Outcome {
        finish(self.start(spec).await).await
    }

    /// Runs a command to its end.
    pub async fn run(&self, argv: &[&str]) -> Outcome {
        self.run_spec(&exec_spec(argv)).await
    }

    /// Runs a script to its end.
    pub async fn sh(&self, script: &str) -> Outcome {
        self.run(&["sh", "-c", script]).await
    }

    /// Tells what runs in the sandbox.
    pub async fn processes(&self) -> String {
        if self.fixture.engine.kind() == EngineKind::Demo {
            let found = self.engine().processes(&self.id).await.expect("processes");
            let commands = found.into_iter().map(|process| process.command);
            return commands.collect::<Vec<_>>().join("\n");
        }
        // The usual `ps` of Linux tells of one terminal only, and cuts lines.
        let words: &[&str] = if self.fixture.is_local() {
            &["ps", "axww"]
        } else {
            &["ps"]
        };
        self.run(words).await.text()
    }

    /// Waits until programs run whose command lines end in these words. Whoever is about to start one has them in its own
    /// line, too, but does not count where there is a kernel that tells them apart.
    pub async fn until_running(&self, words: &[String]) {
        wait_until(&format!("{words:?} run"), async || {
            let shown = self.processes().await;
            let is_demo = self.fixture.engine.kind() == EngineKind::Demo;
            let starts =
                |line: &str| !is_demo && (line.contains("guest exec") || line.contains("-c "));
            let lines: Vec<&str> = shown.lines().filter(|line| !starts(line)).collect();
            let runs = |word: &String| lines.iter().any(|line| line.trim_end().ends_with(word));
            words.iter().all(runs)
        })
        .await;
    }

    pub async fn act(&self, action: LifecycleOp) -> Result<()> {
        soon(action.verb(), self.engine().act(&self.id, action)).await
    }

    pub async fn phase(&self) -> Phase {
        let all = self.fixture.list().await;
        let found = all.into_iter().find(|s| s.reference.id == self.id);
        found.map_or(Phase::Lost, |sandbox| sandbox.phase)
    }

    pub async fn cancel(&self, spec: &ExecSpec) {
        let cancelled = soon("a cancel", self.engine().cancel(&self.id, &spec.id)).await;
        cancelled.expect("a cancel");
    }

    pub async fn write(&self, path: &[u8], content: impl Into<Bytes>) -> Result<()> {
        self.write_with(path, None, pieces(content)).await
    }

    pub async fn write_with(
        &self,
        path: &[u8],
        mode: Option<u32>,
        content: ByteStream,
    ) -> Result<()> {
        let path = sandbox_path(path);
        let writing = self.engine().write(&self.id, &path, mode, content);
        soon("a write", writing).await
    }

    pub async fn read(&self, path: &[u8], limit: Option<u64>) -> Result<Vec<u8>> {
        soon("a read", async {
            let path = sandbox_path(path);
            let mut bytes = self.engine().read(&self.id, &path, limit).await?;
            let mut whole = Vec::new();
            while let Some(piece) = bytes.next().await {
                whole.extend_from_slice(&piece?);
            }
            Ok(whole)
        })
        .await
    }

    pub async fn file(&self, op: FileOp) -> Result<Vec<FileEntry>> {
        soon("work on files", self.engine().file(&self.id, &op)).await
    }

    pub async fn stat(&self, path: &[u8]) -> Result<FileEntry> {
        let found = self.file(FileOp::Stat(sandbox_path(path))).await?;
        Ok(found.into_iter().next().expect("one entry"))
    }

    pub async fn ls(&self, path: &[u8]) -> Result<Vec<FileEntry>> {
        self.file(FileOp::List(sandbox_path(path))).await
    }

    pub async fn remove(&self) {
        let removed = self.act(LifecycleOp::Remove { force: true }).await;
        removed.expect("a removal");
    }
}

fn host() -> HostName {
    HostName::new("here")
}

/// Describes a sandbox with small limits.
pub fn spec(name: &str) -> SandboxSpec {
    SandboxSpec {
        token: format!("token-{name}"),
        name: SandboxName::parse(name).expect("a name"),
        image: String::new(),
        profile: "default".into(),
        limits: Limits {
            memory_bytes: Some(MEMORY),
            cpus: Some(1.0),
            pids: Some(64),
            timeout_s: None,
        },
        network: Network::None,
        env: Vec::new(),
        mounts: Vec::new(),
        packages: None,
        work_dir: sandbox_path(b"/workspace"),
        user: "1000:1000".into(),
        tmp_bytes: 16 << 20,
        labels: BTreeMap::new(),
        owner: Owner {
            host: "test".into(),
            pid: std::process::id(),
            started: 1,
            user: Some("tester".into()),
            kind: sandtop::domain::OwnerKind::Cli,
        },
    }
}

/// Describes a command.
pub fn exec_spec(argv: &[&str]) -> ExecSpec {
    let id = ExecId::new(format!("x{}n{}", std::process::id(), unique()));
    ExecSpec::new(id, argv.iter().map(ToString::to_string).collect())
}

/// Describes a command that reads from us.
pub fn piped_spec(argv: &[&str]) -> ExecSpec {
    ExecSpec {
        stdin: StdinMode::Piped,
        ..exec_spec(argv)
    }
}

pub fn sandbox_path(bytes: &[u8]) -> SandboxPath {
    SandboxPath::parse(bytes).expect("a path")
}

/// Cuts content into pieces as they come from a file.
pub fn pieces(content: impl Into<Bytes>) -> ByteStream {
    let content: Bytes = content.into();
    let cut: Vec<_> = (0..content.len())
        .step_by(50_000)
        .map(|from| Ok(content.slice(from..content.len().min(from + 50_000))))
        .collect();
    stream::iter(cut).boxed()
}

/// Makes bytes of every value that do not repeat soon.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Waits, but not forever.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = timeout(PATIENCE, future).await;
    waited.unwrap_or_else(|_| panic!("{what}: not done after {PATIENCE:?}"))
}

/// Waits until something is so, looking again and again.
pub async fn wait_until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    soon(&format!("waiting until {what}"), async {
        while !is_so().await {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Waits for the next chunk.
pub async fn next_chunk(items: &mut BoxStream<'static, ExecItem>) -> OutputChunk {
    match soon("a chunk", items.next()).await {
        Some(ExecItem::Chunk(chunk)) => chunk,
        other => panic!("a chunk was due, not {other:?}"),
    }
}

/// Waits for standard output to hold a text, and returns all that came until then.
pub async fn output_until(items: &mut BoxStream<'static, ExecItem>, text: &str) -> String {
    let mut whole = String::new();
    while !whole.contains(text) {
        let chunk = next_chunk(items).await;
        whole.push_str(&String::from_utf8_lossy(&chunk.bytes));
    }
    whole
}

/// Follows an exec to its end, which must be one, and the last.
pub async fn finish(exec: RunningExec) -> Outcome {
    finish_items(exec.items).await
}

/// Follows an exec whose input is held elsewhere.
pub async fn finish_items(mut items: BoxStream<'static, ExecItem>) -> Outcome {
    soon("an exec", async {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        loop {
            match items.next().await.expect("an end before the stream's end") {
                ExecItem::Chunk(chunk) => match chunk.stream {
                    StreamKind::Stdout => out.extend_from_slice(&chunk.bytes),
                    StreamKind::Stderr => err.extend_from_slice(&chunk.bytes),
                },
                ExecItem::End(end) => {
                    assert_eq!(items.next().await, None, "something after the end");
                    return Outcome { out, err, end };
                }
            }
        }
    })
    .await
}

/// Returns the kind of an error.
pub fn kind<T>(result: &Result<T>) -> Option<FailureKind> {
    result.as_ref().err().map(|error| error.kind)
}

/// Returns the error, which must be of this kind and say what to do.
pub fn refused<T>(result: Result<T>, kind: FailureKind) -> EngineError {
    let error = result.err().expect("an error");
    assert_eq!(error.kind, kind, "{error:?}");
    let hint = error.hint.as_deref().unwrap_or_default();
    assert!(!hint.is_empty(), "no hint: {error:?}");
    error
}

/// Runs the docker command, as a second opinion.
pub fn docker(arguments: &[&str]) -> String {
    let ran = Command::new("docker").args(arguments).output();
    let ran = ran.expect("the docker command");
    let complaint = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "docker {arguments:?}: {complaint}");
    String::from_utf8_lossy(&ran.stdout).trim().to_owned()
}
