//! From what a person asks for and a profile to the specification of a new sandbox; flags and form fields alike.

use std::collections::BTreeMap;

use super::{Config, Profile};
use crate::domain::{
    Mount, MountError, Network, Owner, SandboxName, SandboxPath, SandboxSpec, with_size_hints,
};
use crate::protocol::{Failure, FailureKind};
use crate::text::human;

/// The least memory that engines take for a sandbox.
const LEAST_MEMORY: u64 = 6 << 20;

/// What a person asks for; what is left out comes from the profile.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewSandbox {
    /// Its name; made up if left out.
    pub name: Option<String>,
    /// Profile of the configuration.
    pub profile: Option<String>,
    /// Image.
    pub image: Option<String>,
    /// Memory, such as `512m`.
    pub memory: Option<String>,
    /// Cores.
    pub cpus: Option<f64>,
    /// Processes; 0 lifts the limit.
    pub pids: Option<u64>,
    /// Seconds; 0 lifts the limit.
    pub timeout: Option<u64>,
    /// Network on or off.
    pub network: Option<bool>,
    /// `KEY=VALUE` each.
    pub env: Vec<String>,
    /// `HOST:PATH[:ro]` each.
    pub mounts: Vec<String>,
    /// Its writable folder.
    pub workdir: Option<String>,
    /// `uid:gid`.
    pub user: Option<String>,
    /// `KEY=VALUE` each.
    pub labels: Vec<String>,
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Invalid, message)
}

impl NewSandbox {
    /// Builds the specification; `token` is unique to the request.
    ///
    /// # Errors
    /// Something asked for cannot be; the message names it.
    pub fn build(
        &self,
        config: &Config,
        owner: Owner,
        token: String,
    ) -> Result<SandboxSpec, Failure> {
        let (profile, base) = config.profile(self.profile.as_deref())?;
        let made_up = format!("box-{}", made_up(&token));
        let name = self.name.as_deref().unwrap_or(&made_up);
        let name = SandboxName::parse(name).map_err(|error| invalid(error.to_string()))?;
        let mut spec = from_profile(base, profile, name, owner, token);
        self.apply_limits(&mut spec)?;
        self.apply_rest(&mut spec)?;
        if base.size_hints {
            spec.env = with_size_hints(spec.limits.cpus, spec.env);
        }
        Ok(spec)
    }

    fn apply_limits(&self, spec: &mut SandboxSpec) -> Result<(), Failure> {
        if let Some(text) = &self.memory {
            let bytes =
                human::parse_bytes(text).map_err(|error| invalid(format!("memory: {error}")))?;
            if bytes < LEAST_MEMORY {
                return Err(invalid(format!(
                    "memory: {text} is too little; 6m is the least"
                )));
            }
            spec.limits.memory_bytes = Some(bytes);
        }
        if let Some(cpus) = self.cpus {
            if !(0.01..=512.0).contains(&cpus) {
                return Err(invalid(format!(
                    "cpus: {cpus} is not a number of cores between 0.01 and 512"
                )));
            }
            spec.limits.cpus = Some(cpus);
        }
        if let Some(pids) = self.pids {
            if (1..8).contains(&pids) {
                return Err(invalid(format!(
                    "pids: {pids} is too few to run anything; 8 is the least"
                )));
            }
            spec.limits.pids = (pids > 0).then_some(pids);
        }
        if let Some(seconds) = self.timeout {
            spec.limits.timeout_s = (seconds > 0).then_some(seconds);
        }
        Ok(())
    }

    fn apply_rest(&self, spec: &mut SandboxSpec) -> Result<(), Failure> {
        if let Some(image) = &self.image {
            spec.image.clone_from(image);
        }
        if let Some(on) = self.network {
            spec.network = if on { Network::Default } else { Network::None };
        }
        if let Some(path) = &self.workdir {
            spec.work_dir = work_dir(path)?;
        }
        if let Some(user) = &self.user {
            spec.user.clone_from(user);
        }
        for pair in &self.env {
            let (key, value) = key_value("env", pair)?;
            spec.env.retain(|(known, _)| *known != key);
            spec.env.push((key, value));
        }
        for text in &self.mounts {
            spec.mounts.push(mount(text)?);
        }
        for pair in &self.labels {
            let (key, value) = key_value("label", pair)?;
            if key.starts_with("sandtop.") {
                return Err(invalid(format!(
                    "label: `{key}` is reserved; labels that start with `sandtop.` are sandtop's own"
                )));
            }
            spec.labels.insert(key, value);
        }
        Ok(())
    }
}

/// Takes digits of the token for a name: few, so that it is read whole in a narrow column.
fn made_up(token: &str) -> &str {
    let start = token.len().saturating_sub(6);
    token.get(start..).unwrap_or(token)
}

fn from_profile(
    base: &Profile,
    profile: String,
    name: SandboxName,
    owner: Owner,
    token: String,
) -> SandboxSpec {
    SandboxSpec {
        token,
        name,
        image: base.image.clone(),
        profile,
        limits: base.limits,
        network: base.network.clone(),
        env: base.env.clone(),
        mounts: base.mounts.clone(),
        packages: None,
        work_dir: base.work_dir.clone(),
        user: base.user.clone(),
        tmp_bytes: base.tmp_bytes,
        labels: BTreeMap::new(),
        owner,
    }
}

fn work_dir(text: &str) -> Result<SandboxPath, Failure> {
    let path = SandboxPath::parse(text.as_bytes())
        .map_err(|error| invalid(format!("workdir: {error}")))?;
    let taken = [
        "/",
        "/tmp",
        "/proc",
        "/sys",
        "/dev",
        "/etc",
        "/usr",
        "/bin",
        "/lib",
        "/.sandtop",
        "/.sandtop-packages",
        "/node_modules",
        "/run/sandtop",
    ];
    if taken.contains(&path.to_string().as_str()) {
        return Err(invalid(format!(
            "workdir: {path} is taken; choose another folder, such as /workspace"
        )));
    }
    Ok(path)
}

/// Reads a mount; the manager looks through links of the host, which could hide what it really shows.
fn mount(text: &str) -> Result<Mount, Failure> {
    Mount::parse(text).map_err(|error| {
        let kind = match error {
            MountError::Dangerous(_) => FailureKind::Refused,
            _ => FailureKind::Invalid,
        };
        Failure::new(kind, format!("mount: {error}"))
    })
}

/// Splits `KEY=VALUE`; `what` names it in the error.
///
/// # Errors
/// It is of another form.
pub fn key_value(what: &str, pair: &str) -> Result<(String, String), Failure> {
    let shown = pair
        .split('=')
        .next()
        .unwrap_or_default()
        .escape_default()
        .to_string();
    let split = pair.split_once('=').filter(|(key, _)| {
        !key.is_empty() && !key.contains(char::is_whitespace) && !pair.contains('\0')
    });
    let (key, value) =
        split.ok_or_else(|| invalid(format!("{what}: `{shown}` is not of the form KEY=VALUE")))?;
    Ok((key.to_owned(), value.to_owned()))
}
