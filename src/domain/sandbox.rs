//! A sandbox as people see it, and what they ask for when they create one.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{EngineKind, OwnerKind, PackageMount, SandboxName, SandboxPath, SandboxRef};

/// Where a sandbox stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Made, but not started yet.
    Creating,
    /// Running.
    Running,
    /// Its processes stand still: they keep their memory but get no CPU.
    Paused,
    /// Ended in order; its workspace is kept.
    Stopped,
    /// Ended by a fault of the engine.
    Dead,
    /// On its way out.
    Removing,
    /// Known once, not reachable now.
    Lost,
}

impl Phase {
    /// Returns the word used in tables and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
            Self::Dead => "dead",
            Self::Removing => "removing",
            Self::Lost => "lost",
        }
    }

    /// Tells whether processes exist in it.
    #[must_use]
    pub fn is_live(self) -> bool {
        matches!(self, Self::Running | Self::Paused)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a sandbox may use; `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Memory, swap included.
    pub memory_bytes: Option<u64>,
    /// Processor time; 1.0 is one core.
    pub cpus: Option<f64>,
    /// Processes and threads together.
    pub pids: Option<u64>,
    /// Seconds that an exec may take unless it says otherwise.
    pub timeout_s: Option<u64>,
}

/// What the sandbox can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Nothing but itself.
    None,
    /// The engine's default network.
    Default,
    /// A network that the engine knows by this name; `host` is the machine's own.
    Named(String),
}

/// The process that created a sandbox; see [`OwnerKind`] for when its death makes orphans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Machine name.
    pub host: String,
    /// Process id there.
    pub pid: u32,
    /// Start time of that process, so that a reused pid is not mistaken for it.
    pub started: u64,
    /// Login name, if known.
    pub user: Option<String>,
    /// What kind of process it is, which decides whether its death makes orphans.
    #[serde(default)]
    pub kind: OwnerKind,
}

impl Owner {
    /// Names the process and its kind, for the record.
    #[must_use]
    pub fn in_full(&self) -> String {
        format!("{self} ({})", self.kind.word())
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_deref().unwrap_or("?");
        write!(f, "{user}@{}:{}", self.host, self.pid)
    }
}

/// Whether a mount may be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reading only.
    ReadOnly,
    /// Reading and writing.
    ReadWrite,
}

/// A host folder or file made visible in the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// Absolute path on the host.
    pub source: PathBuf,
    /// Where it appears.
    pub target: SandboxPath,
    /// May it be written to?
    pub access: Access,
}

/// Why a mount was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MountError {
    /// The text is not `HOST:PATH[:ro]`.
    #[error("`{0}` is not a mount; write HOST:PATH or HOST:PATH:ro with absolute paths")]
    Form(String),
    /// The host path would give the sandbox the host.
    #[error("mounting {0} would hand the host to the sandbox; mount a folder of your own instead")]
    Dangerous(String),
    /// The host path holds what must stay out of reach.
    #[error(
        "mounting {source_path} would show {held} to the sandbox; mount only the folder that it needs"
    )]
    Holds {
        /// What was to be mounted.
        source_path: String,
        /// What is in it.
        held: String,
    },
    /// The target hides what the sandbox needs.
    #[error(
        "nothing can be mounted on {0} in a sandbox; choose a folder below /mnt or the work directory"
    )]
    Target(String),
}

impl Mount {
    /// Reads `HOST:PATH[:ro|:rw]`.
    ///
    /// # Errors
    /// The form is wrong, or the mount would break the isolation; see [`Mount::check`].
    pub fn parse(text: &str) -> Result<Self, MountError> {
        let form = || MountError::Form(text.escape_default().to_string());
        let (rest, access) = match text.rsplit_once(':') {
            Some((rest, "ro")) => (rest, Access::ReadOnly),
            Some((rest, "rw")) => (rest, Access::ReadWrite),
            _ => (text, Access::ReadWrite),
        };
        let (source, target) = rest.split_once(':').ok_or_else(form)?;
        let target = SandboxPath::parse(target.as_bytes()).map_err(|_| form())?;
        if !source.starts_with('/') || target.is_root() {
            return Err(form());
        }
        let mount = Self {
            source: PathBuf::from(source),
            target,
            access,
        };
        mount.check()?;
        Ok(mount)
    }

    /// Refuses mounts of the host's root, kernel trees and engine sockets, and targets that hide the sandbox's own.
    ///
    /// The caller resolves symbolic links of `source` first where it can see them.
    ///
    /// # Errors
    /// The mount is dangerous, with the reason.
    pub fn check(&self) -> Result<(), MountError> {
        let source = normalise(&self.source);
        if is_dangerous(&source) {
            return Err(MountError::Dangerous(self.source.display().to_string()));
        }
        let target = self.target.to_string();
        let hidden = [
            "/proc",
            "/sys",
            "/dev",
            "/.sandtop",
            "/.sandtop-packages",
            "/run/sandtop",
        ];
        if hidden
            .iter()
            .any(|tree| Path::new(&target).starts_with(tree))
        {
            return Err(MountError::Target(target));
        }
        Ok(())
    }
}

impl Mount {
    /// Refuses mounts that are, hold or lie in one of some paths: an engine's socket, sandtop's own state.
    ///
    /// # Errors
    /// The mount would show one of them.
    pub fn check_against(&self, protected: &[PathBuf]) -> Result<(), MountError> {
        let source = normalise(&self.source);
        let shown = |path: &&PathBuf| path.starts_with(&source) || source.starts_with(path);
        match protected.iter().find(shown) {
            None => Ok(()),
            Some(held) => Err(MountError::Holds {
                source_path: self.source.display().to_string(),
                held: held.display().to_string(),
            }),
        }
    }
}

/// Resolves `.` and `..` by words only; the engine resolves links later.
fn normalise(path: &Path) -> PathBuf {
    let mut clean = PathBuf::from("/");
    for part in path.components() {
        match part {
            std::path::Component::Normal(name) => clean.push(name),
            std::path::Component::ParentDir => {
                clean.pop();
            }
            _ => {}
        }
    }
    clean
}

/// Tells whether a host path gives away the host: the root, kernel trees, run-time sockets or a folder that holds them.
fn is_dangerous(source: &Path) -> bool {
    let kernel = ["/proc", "/sys", "/dev", "/var/run", "/run", "/boot"];
    let holders = ["/", "/var", "/etc"];
    let socket = source.extension().is_some_and(|e| e == "sock");
    socket
        || holders.iter().any(|h| source == Path::new(h))
        || kernel.iter().any(|k| source.starts_with(k))
}

/// Everything a new sandbox is made from.
#[derive(Debug, Clone, PartialEq)]
pub struct SandboxSpec {
    /// Unique to this request, so that what it made can be told from anything else.
    pub token: String,
    /// Its unique name.
    pub name: SandboxName,
    /// The image it starts from.
    pub image: String,
    /// The profile it was made with.
    pub profile: String,
    /// What it may use.
    pub limits: Limits,
    /// What it can reach.
    pub network: Network,
    /// Environment of every process in it.
    pub env: Vec<(String, String)>,
    /// Host folders it sees.
    pub mounts: Vec<Mount>,
    /// Installed packages it sees.
    pub packages: Option<PackageMount>,
    /// The writable work directory, where execs start.
    pub work_dir: SandboxPath,
    /// `uid:gid` of its processes.
    pub user: String,
    /// Size of the `/tmp` in memory.
    pub tmp_bytes: u64,
    /// Labels of the user's own.
    pub labels: BTreeMap<String, String>,
    /// Who makes it.
    pub owner: Owner,
}

/// A sandbox as the engine reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sandbox {
    /// Host and id.
    pub reference: SandboxRef,
    /// Its name.
    pub name: String,
    /// The kind of engine that runs it.
    pub engine: EngineKind,
    /// The image it was made from.
    pub image: String,
    /// Where it stands.
    pub phase: Phase,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last started.
    pub started_at: Option<DateTime<Utc>>,
    /// Who made it; `None` for foreign ones.
    pub owner: Option<Owner>,
    /// What it may use.
    pub limits: Limits,
    /// `none`, or the network's name.
    pub network: String,
    /// Its writable work directory, where relative paths start.
    pub work_dir: SandboxPath,
    /// Labels of the user's own.
    pub labels: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_access() {
        let mount = Mount::parse("/srv/data:/mnt/data:ro");
        let expected = Mount {
            source: "/srv/data".into(),
            target: SandboxPath::parse(b"/mnt/data").expect("a path"),
            access: Access::ReadOnly,
        };
        assert_eq!(mount, Ok(expected));
        assert_eq!(
            Mount::parse("/srv:/x").map(|m| m.access),
            Ok(Access::ReadWrite)
        );
    }

    #[test]
    fn mounts_of_the_host_itself_are_refused() {
        let sources = [
            "/",
            "/proc",
            "/sys/kernel",
            "/dev",
            "/dev/shm",
            "/var/run",
            "/var/run/docker.sock",
            "/run/user/0",
            "/var",
            "/srv/../proc",
            "/srv/../",
            "/home/me/docker.sock",
            "/etc",
            "//",
            "/./proc",
        ];
        for source in sources {
            let parsed = Mount::parse(&format!("{source}:/mnt/x"));
            assert!(
                matches!(parsed, Err(MountError::Dangerous(_))),
                "{source}: {parsed:?}"
            );
        }
    }

    #[test]
    fn mounts_that_show_what_is_protected_are_refused() {
        let protected = [PathBuf::from("/home/a/.local/state/sandtop")];
        let check = |source: &str| {
            let mount = Mount::parse(&format!("{source}:/mnt/x")).expect("a mount");
            mount.check_against(&protected).is_err()
        };
        assert!(check("/home") && check("/home/a/") && check("/home/a/.local/state/sandtop"));
        assert!(check("/home/a/.local/state/sandtop/local") && check("/home/b/../a/.local"));
        assert!(!check("/home/a/project") && !check("/home/a/.local/state/sandtop2"));
    }

    #[test]
    fn mounts_that_hide_the_sandbox_are_refused() {
        for target in ["/proc", "/dev/shm", "/.sandtop", "/run/sandtop/x"] {
            let parsed = Mount::parse(&format!("/srv:{target}"));
            assert!(matches!(parsed, Err(MountError::Target(_))), "{target}");
        }
        for text in ["", "/srv", "srv:/x", "/srv:x", "/srv:/", "/srv:/a/../b"] {
            assert!(
                matches!(Mount::parse(text), Err(MountError::Form(_))),
                "{text}"
            );
        }
    }
}
