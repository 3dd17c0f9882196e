//! What really isolates a sandbox, and how one ended: the facts behind `inspect`.

use serde::Serialize;

use super::{Access, Death, Sandbox};

/// Everything known of one sandbox.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// What the list shows.
    pub sandbox: Sandbox,
    /// The isolation in force.
    pub posture: Posture,
    /// How it ended, if it did.
    pub death: Option<Death>,
    /// Names of its environment variables; values stay in the sandbox.
    pub env_names: Vec<String>,
    /// The work directory.
    pub work_dir: String,
}

/// The isolation in force, read back from the engine and, while it runs, from the kernel's own account inside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own; they are not states of one machine.
pub struct Posture {
    /// Capabilities its processes have.
    pub caps: Vec<String>,
    /// Can no process gain privileges?
    pub no_new_privileges: bool,
    /// Is the root file system read-only?
    pub read_only_root: bool,
    /// System call filter: `default` (sandtop's own), `engine` (the engine's), `custom` or `none`.
    pub seccomp: String,
    /// System calls that sandtop's own filter refuses and that were made all the same when they were tried inside.
    pub open_calls: Vec<String>,
    /// Who its processes are.
    pub user: String,
    /// Is there an init process that reaps zombies?
    pub init: bool,
    /// Network interfaces seen inside, while it runs.
    pub interfaces: Option<Vec<String>>,
    /// What is mounted from outside its image.
    pub mounts: Vec<MountInfo>,
    /// Was it checked inside the running sandbox, or only in its configuration?
    pub verified: bool,
    /// What is weaker than the hardened default, in words.
    pub gaps: Vec<String>,
}

/// One mount in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountInfo {
    /// `volume`, `bind` or `tmpfs`.
    pub kind: String,
    /// What is mounted.
    pub source: String,
    /// Where.
    pub target: String,
    /// May it be written to?
    pub access: Access,
}
