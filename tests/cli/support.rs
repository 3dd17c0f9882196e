//! A place of its own for each test, the program run in it with a time limit, and the cleaning up.
#![allow(dead_code)] // Each test binary uses its own part.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Longest time for anything; only a hanging program comes near it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// Time between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(5);

/// Where one test runs the program: own home, own scope, own sandboxes.
pub(crate) struct Place {
    pub(crate) home: TempDir,
    pub(crate) scope: String,
    vars: Vec<(String, String)>,
    docker: Option<String>,
    /// Whose program it is, if it is not ours.
    user: Option<u32>,
}

/// What a finished program leaves.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("standard output is text")
    }

    /// Checks that standard output is one line with one JSON value, and returns it.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let text = self.text();
        assert!(
            text.ends_with('\n') && text.trim_end().lines().count() == 1,
            "one line of JSON, not {:?}; stderr: {}",
            text.chars().take(500).collect::<String>(),
            self.stderr
        );
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.exits(0)
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            code,
            "stdout: {:?}\nstderr: {}",
            String::from_utf8_lossy(&self.stdout[..self.stdout.len().min(2000)]),
            self.stderr
        );
        self
    }

    /// Checks what standard error says.
    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Self {
        assert!(
            self.stderr.contains(part),
            "{part:?} is not in {:?}",
            self.stderr
        );
        self
    }
}

/// The Docker engine of the tests, looked up once; the reason if there is none.
fn engine() -> Result<String, String> {
    static ENGINE: OnceLock<Result<String, String>> = OnceLock::new();
    ENGINE
        .get_or_init(|| {
            let host = std::env::var("DOCKER_HOST").unwrap_or_default();
            if host.is_empty() {
                return Err("DOCKER_HOST is not set".to_owned());
            }
            let answer = Command::new("docker")
                .args(["version", "--format", "{{.Server.Version}}"])
                .stdin(Stdio::null())
                .output()
                .map_err(|error| format!("the docker program does not start: {error}"))?;
            if answer.status.success() {
                Ok(host)
            } else {
                Err(String::from_utf8_lossy(&answer.stderr).trim().to_owned())
            }
        })
        .clone()
}

/// The small image.
pub(crate) fn busybox() -> String {
    std::env::var("SANDTOP_TEST_IMAGE").unwrap_or_else(|_| "sandtop-test/busybox".to_owned())
}

/// The image with Python, bash and node.
pub(crate) fn python() -> String {
    std::env::var("SANDTOP_TEST_PYTHON_IMAGE").unwrap_or_else(|_| "sandtop-test/python".to_owned())
}

fn unique() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .subsec_nanos();
    // Short enough to be read whole in a narrow column, of which tests in a terminal take care.
    let moment = nanos & 0xffff;
    format!("c{:x}-{number:x}{moment:04x}", std::process::id())
}

impl Place {
    fn new(docker: Option<String>) -> Self {
        let home = tempfile::Builder::new()
            .prefix("sandtop-cli.")
            .tempdir()
            .expect("a folder");
        Self {
            home,
            scope: unique(),
            vars: Vec::new(),
            docker,
            user: None,
        }
    }

    /// A place with the simulated engine.
    pub(crate) fn demo() -> Self {
        Self::new(None).with("SANDTOP_ENGINE", "demo")
    }

    /// A place with the engine of this machine, which must work.
    pub(crate) fn local() -> Self {
        let place = Self::new(None).with("SANDTOP_ENGINE", "local");
        place.run(&["create", "trial"]).ok();
        place.run(&["rm", "-f", "trial"]).ok();
        place
    }

    /// The same for another user, who has a home and a program of their own there; that takes root.
    pub(crate) fn local_as(user: u32) -> Self {
        let mut place = Self::new(None).with("SANDTOP_ENGINE", "local");
        fs::copy(env!("CARGO_BIN_EXE_sandtop"), place.path("program")).unwrap();
        chown(place.home.path(), Some(user), Some(user)).unwrap();
        place.user = Some(user);
        place.run(&["create", "trial"]).ok();
        place.run(&["rm", "-f", "trial"]).ok();
        place
    }

    /// A place with the Docker engine, which must answer.
    pub(crate) fn docker() -> Self {
        let host = engine().unwrap_or_else(|why| panic!("a Docker engine is needed: {why}"));
        Self::new(Some(host.clone())).with("DOCKER_HOST", &host)
    }

    /// Adds a variable for every program run here.
    pub(crate) fn with(mut self, key: &str, value: &str) -> Self {
        self.vars.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Writes the settings.
    pub(crate) fn configured(self, toml: &str) -> Self {
        let file = self.home.path().join("config/sandtop/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, toml).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn scope(&self) -> &str {
        &self.scope
    }

    /// Makes a name that no other test uses.
    pub(crate) fn name(&self, word: &str) -> String {
        format!("{word}-{}", self.scope)
    }

    /// The variables of a program run here, complete.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let home = self.home.path().display().to_string();
        let mut all = vec![
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
            ("HOME".to_owned(), home.clone()),
            ("XDG_CONFIG_HOME".to_owned(), format!("{home}/config")),
            ("XDG_STATE_HOME".to_owned(), format!("{home}/state")),
            ("XDG_CACHE_HOME".to_owned(), format!("{home}/cache")),
            ("XDG_RUNTIME_DIR".to_owned(), format!("{home}/run")),
            ("SANDTOP_SCOPE".to_owned(), self.scope.clone()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ];
        all.extend(self.vars.iter().cloned());
        all
    }

    /// The program, ready to be started.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: &[A]) -> Command {
        let mut command = match self.user {
            None => Command::new(env!("CARGO_BIN_EXE_sandtop")),
            Some(_) => Command::new(self.path("program")),
        };
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
            .args(args)
            .env_clear()
            .envs(self.variables())
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    /// Starts the program; its output is gathered meanwhile.
    pub(crate) fn start<A: AsRef<OsStr>>(&self, args: &[A]) -> Running {
        Running::start(self.command(args))
    }

    /// Runs the program to its end.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> Ran {
        self.start(args).wait()
    }

    /// Runs the program with this on its standard input.
    pub(crate) fn feed<A: AsRef<OsStr>>(&self, input: &[u8], args: &[A]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped());
        let mut running = Running::start(command);
        let mut stdin = running.child.stdin.take().unwrap();
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || {
            // A program that does not read it all is allowed to.
            let _ = stdin.write_all(&input);
        });
        let ran = running.wait();
        feeder.join().unwrap();
        ran
    }

    /// Runs the program with `--json` in front and returns its exit code and the one value.
    #[track_caller]
    pub(crate) fn json<A: AsRef<OsStr>>(&self, args: &[A]) -> (i32, Value) {
        let mut all = vec![OsStr::new("--json")];
        all.extend(args.iter().map(AsRef::as_ref));
        let ran = self.run(&all);
        (ran.code, ran.json())
    }

    /// Like `json`, for what must work.
    #[track_caller]
    pub(crate) fn json_ok<A: AsRef<OsStr>>(&self, args: &[A]) -> Value {
        let (code, value) = self.json(args);
        assert_eq!(code, 0, "{value}");
        value
    }

    /// Makes a sandbox of the small image and returns its name.
    #[track_caller]
    pub(crate) fn sandbox(&self, more: &[&str]) -> String {
        self.sandbox_of(&busybox(), more)
    }

    #[track_caller]
    pub(crate) fn sandbox_of(&self, image: &str, more: &[&str]) -> String {
        let name = self.name("s");
        let args = [&["create", &name, "--image", image], more].concat();
        self.run(&args).ok();
        name
    }

    /// The address of the Docker engine itself.
    #[track_caller]
    pub(crate) fn docker_host(&self) -> &str {
        self.docker.as_deref().unwrap()
    }

    /// Runs the docker program.
    #[track_caller]
    pub(crate) fn docker_says(&self, args: &[&str]) -> String {
        let mut command = Command::new("docker");
        command
            .args(args)
            .env("DOCKER_HOST", self.docker_host())
            .stdin(Stdio::null());
        Running::start(command).wait().ok().text().to_owned()
    }

    /// Containers and volumes of this test, as the engine itself counts them.
    #[track_caller]
    pub(crate) fn belongings(&self) -> Vec<String> {
        let label = format!("label=sandtop.scope={}", self.scope);
        let mut all = Vec::new();
        for args in [["ps", "-aq"], ["volume", "ls"]] {
            let quiet: &[&str] = if args[0] == "ps" { &[] } else { &["-q"] };
            let found = self.docker_says(&[&args[..], quiet, &["--filter", &label]].concat());
            all.extend(found.lines().map(str::to_owned));
        }
        all
    }

    /// Removes the sandboxes of the local engine, which would outlive their folder.
    fn clean_local(&self) {
        if !self.path("state/sandtop/local").exists() {
            return;
        }
        let listed = self.run(&["--engine", "local", "--json", "ls", "--all"]);
        let listed: Value = serde_json::from_str(listed.text()).unwrap_or_default();
        for sandbox in listed.as_array().into_iter().flatten() {
            if let Some(name) = sandbox["name"].as_str() {
                self.run(&["--engine", "local", "rm", "-f", name]);
            }
        }
    }

    pub(crate) fn clean(&self) {
        self.clean_local();
        let Some(host) = &self.docker else { return };
        let docker = |args: &[&str]| {
            let mut command = Command::new("docker");
            command.args(args).env("DOCKER_HOST", host);
            Running::start(command).wait()
        };
        let label = format!("label=sandtop.scope={}", self.scope);
        let found = docker(&["ps", "-aq", "--filter", &label]);
        let ids: Vec<&str> = found.text().split_whitespace().collect();
        if !ids.is_empty() {
            docker(&[&["rm", "-f", "-v"], ids.as_slice()].concat());
        }
        let found = docker(&["volume", "ls", "-q", "--filter", &label]);
        let ids: Vec<&str> = found.text().split_whitespace().collect();
        if !ids.is_empty() {
            docker(&[&["volume", "rm", "-f"], ids.as_slice()].concat());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.clean();
    }
}

/// A program that runs; killed if it is forgotten.
pub(crate) struct Running {
    pub(crate) child: Child,
    stdout: Gathered,
    stderr: Gathered,
}

/// Bytes that a thread reads until the end.
struct Gathered {
    bytes: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Gathered {
    fn from(source: Option<impl Read + Send + 'static>) -> Self {
        let bytes = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let thread = source.map(|mut source| {
            let into = std::sync::Arc::clone(&bytes);
            std::thread::spawn(move || {
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(got) = source.read(&mut buffer)
                    && got > 0
                {
                    into.lock().unwrap().extend_from_slice(&buffer[..got]);
                }
            })
        });
        Self { bytes, thread }
    }

    fn so_far(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }

    fn all(&mut self) -> Vec<u8> {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        std::mem::take(&mut *self.bytes.lock().unwrap())
    }
}

impl Running {
    /// Starts a program; where its output goes is up to the caller if the caller has said so.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::start_as_is(command)
    }

    pub(crate) fn start_as_is(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the program starts");
        let stdout = Gathered::from(child.stdout.take());
        let stderr = Gathered::from(child.stderr.take());
        Self {
            child,
            stdout,
            stderr,
        }
    }

    /// Takes over a program whose output somebody else reads.
    pub(crate) fn start_none(child: Child) -> Self {
        Self {
            child,
            stdout: Gathered::from(None::<std::io::Empty>),
            stderr: Gathered::from(None::<std::io::Empty>),
        }
    }

    pub(crate) fn stdout_so_far(&self) -> String {
        String::from_utf8_lossy(&self.stdout.so_far()).into_owned()
    }

    pub(crate) fn stderr_so_far(&self) -> String {
        String::from_utf8_lossy(&self.stderr.so_far()).into_owned()
    }

    /// Waits until standard output holds this.
    #[track_caller]
    pub(crate) fn until_stdout(&mut self, part: &str) {
        let begin = Instant::now();
        while !self.stdout_so_far().contains(part) {
            assert!(
                begin.elapsed() < PATIENCE && self.child.try_wait().unwrap().is_none(),
                "no {part:?} in {:?}; stderr: {}",
                self.stdout_so_far(),
                self.stderr_so_far()
            );
            std::thread::sleep(PAUSE);
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the program still runs");
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the end; a code above 128 stands for a signal, as in a shell.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Ran {
        use std::os::unix::process::ExitStatusExt;
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "the program does not end; stdout {:?}, stderr {:?}",
                self.stdout_so_far(),
                self.stderr_so_far()
            );
            std::thread::sleep(PAUSE);
        };
        let stdout = self.stdout.all();
        let stderr = String::from_utf8_lossy(&self.stderr.all()).into_owned();
        let code = status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        Ran {
            code,
            stdout,
            stderr,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Numbers without a pattern, the same for the same beginning, which is not zero.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Waits for a condition.
#[track_caller]
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < PATIENCE, "in vain: {what}");
        std::thread::sleep(PAUSE);
    }
}

/// Everything below a folder: path, kind and mode, and content or target.
pub(crate) fn tree(root: &Path) -> Vec<(PathBuf, String, Vec<u8>)> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    let mut all = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let about = fs::symlink_metadata(&path).unwrap();
        let mode = about.permissions().mode() & 0o777;
        let (kind, content) = if about.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            ("link".to_owned(), target.as_os_str().as_bytes().to_vec())
        } else if about.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            (format!("folder {mode:o}"), Vec::new())
        } else {
            (format!("file {mode:o}"), fs::read(&path).unwrap())
        };
        all.push((
            path.strip_prefix(root).unwrap().to_path_buf(),
            kind,
            content,
        ));
    }
    all.sort();
    all
}
