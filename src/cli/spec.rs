//! From flags and profile to the specification of a new sandbox.

use std::collections::BTreeMap;

use super::args::CreateArgs;
use crate::config::{Config, Profile};
use crate::domain::{Mount, Network, Owner, SandboxName, SandboxPath, SandboxSpec};
use crate::protocol::{Failure, FailureKind};
use crate::text::human;

/// Docker's least memory for a sandbox.
const LEAST_MEMORY: u64 = 6 << 20;

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Invalid, message)
}

/// Builds the specification; every flag wins over the profile.
pub(super) fn build(
    args: &CreateArgs,
    config: &Config,
    owner: Owner,
) -> Result<SandboxSpec, Failure> {
    let (profile, base) = config.profile(args.profile.as_deref())?;
    let token = super::identity::random_word();
    let made_up = format!("box-{}", token.get(..8).unwrap_or(&token));
    let name = SandboxName::parse(args.name.as_deref().unwrap_or(&made_up))
        .map_err(|error| invalid(error.to_string()))?;
    let mut spec = from_profile(base, profile, name, owner, token);
    apply_limits(&mut spec, args)?;
    apply_rest(&mut spec, args)?;
    Ok(spec)
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
        work_dir: base.work_dir.clone(),
        user: base.user.clone(),
        tmp_bytes: base.tmp_bytes,
        labels: BTreeMap::new(),
        owner,
    }
}

fn apply_limits(spec: &mut SandboxSpec, args: &CreateArgs) -> Result<(), Failure> {
    if let Some(text) = &args.memory {
        let bytes =
            human::parse_bytes(text).map_err(|error| invalid(format!("--memory: {error}")))?;
        if bytes < LEAST_MEMORY {
            return Err(invalid(format!(
                "--memory: {text} is too little; 6m is the least"
            )));
        }
        spec.limits.memory_bytes = Some(bytes);
    }
    if let Some(cpus) = args.cpus {
        if !(0.01..=512.0).contains(&cpus) {
            return Err(invalid(format!(
                "--cpus: {cpus} is not a number of cores between 0.01 and 512"
            )));
        }
        spec.limits.cpus = Some(cpus);
    }
    if let Some(pids) = args.pids {
        if (1..8).contains(&pids) {
            return Err(invalid(format!(
                "--pids: {pids} is too few to run anything; 8 is the least"
            )));
        }
        spec.limits.pids = (pids > 0).then_some(pids);
    }
    if let Some(seconds) = args.timeout {
        spec.limits.timeout_s = (seconds > 0).then_some(seconds);
    }
    Ok(())
}

fn apply_rest(spec: &mut SandboxSpec, args: &CreateArgs) -> Result<(), Failure> {
    if let Some(image) = &args.image {
        spec.image.clone_from(image);
    }
    if args.network {
        spec.network = Network::Default;
    }
    if let Some(path) = &args.workdir {
        spec.work_dir = work_dir(path)?;
    }
    if let Some(user) = &args.user {
        spec.user.clone_from(user);
    }
    for pair in &args.env {
        let (key, value) = key_value("--env", pair)?;
        spec.env.retain(|(known, _)| *known != key);
        spec.env.push((key, value));
    }
    for text in &args.mounts {
        spec.mounts.push(mount(text)?);
    }
    for pair in &args.labels {
        let (key, value) = key_value("--label", pair)?;
        if key.starts_with("sandtop.") {
            return Err(invalid(format!(
                "--label: `{key}` is reserved; labels that start with `sandtop.` are sandtop's own"
            )));
        }
        spec.labels.insert(key, value);
    }
    Ok(())
}

fn work_dir(text: &str) -> Result<SandboxPath, Failure> {
    let path = SandboxPath::parse(text.as_bytes())
        .map_err(|error| invalid(format!("--workdir: {error}")))?;
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
        "/run/sandtop",
    ];
    if taken.contains(&path.to_string().as_str()) {
        return Err(invalid(format!(
            "--workdir: {path} is taken; choose another folder, such as /workspace"
        )));
    }
    Ok(path)
}

/// Reads a mount and looks through links of the host, which could hide what it really shows.
fn mount(text: &str) -> Result<Mount, Failure> {
    let refuse = |error: crate::domain::MountError| {
        let kind = match error {
            crate::domain::MountError::Dangerous(_) => FailureKind::Refused,
            _ => FailureKind::Invalid,
        };
        Failure::new(kind, format!("--mount: {error}"))
    };
    let mut mount = Mount::parse(text).map_err(refuse)?;
    if let Ok(real) = std::fs::canonicalize(&mount.source) {
        mount.source = real;
        mount.check().map_err(refuse)?;
    }
    Ok(mount)
}

/// Splits `KEY=VALUE`.
pub(super) fn key_value(flag: &str, pair: &str) -> Result<(String, String), Failure> {
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
        split.ok_or_else(|| invalid(format!("{flag}: `{shown}` is not of the form KEY=VALUE")))?;
    Ok((key.to_owned(), value.to_owned()))
}
