//! What `doctor` looks at for the local engine, and what to do when a sandbox cannot be made on this machine.

use std::fs;
use std::io;

use super::cgroups::Cgroups;
use super::hierarchies::Hierarchies;
use super::state_dir::{self, StateDir};
use super::systemd_scope::SystemdManager;
use super::users;
use crate::domain::{Check, Limits};
use crate::engine::EngineError;
use crate::guest;
use crate::protocol::FailureKind;

/// The first kernel with everything that is used.
const LEAST_KERNEL: (u32, u32) = (5, 12);

/// Something that keeps the kernel from making sandboxes: a sign in its error or on the machine, and the way out.
struct Obstacle {
    name: &'static str,
    /// Part of the message of a failed start.
    sign: &'static str,
    /// A file that tells, and the value in it that is bad.
    setting: Option<(&'static str, &'static str)>,
    message: &'static str,
    hint: &'static str,
}

const OBSTACLES: [Obstacle; 5] = [
    Obstacle {
        name: "user namespaces",
        sign: "No space left",
        setting: Some(("/proc/sys/user/max_user_namespaces", "0")),
        message: "user namespaces are switched off (user.max_user_namespaces is 0)",
        hint: "as root: sysctl -w user.max_user_namespaces=15000",
    },
    Obstacle {
        name: "user namespaces for everybody",
        sign: "unshare",
        setting: Some(("/proc/sys/kernel/unprivileged_userns_clone", "0")),
        message: "only root may make user namespaces (kernel.unprivileged_userns_clone is 0)",
        hint: "as root: sysctl -w kernel.unprivileged_userns_clone=1",
    },
    Obstacle {
        name: "AppArmor",
        sign: "uid_map",
        setting: Some((
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
        )),
        message: "AppArmor keeps programs without a profile from using user namespaces (Ubuntu 23.10 and later)",
        hint: "as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give sandtop a profile with `userns,`",
    },
    Obstacle {
        name: "system call filter",
        sign: "unshare",
        setting: None,
        message: "this process may not make namespaces; it seems to run in a sandbox itself",
        hint: "start the outer one with --security-opt seccomp=unconfined --security-opt systempaths=unconfined",
    },
    Obstacle {
        name: "process list",
        sign: "mounting proc",
        setting: None,
        message: "parts of /proc are covered here, so that no new one may be mounted",
        hint: "start the outer sandbox with --security-opt systempaths=unconfined",
    },
];

impl Obstacle {
    /// Tells whether the machine's setting is the bad one.
    fn is_set(&self) -> bool {
        self.setting.is_some_and(|(file, bad)| {
            fs::read_to_string(file).is_ok_and(|value| value.trim() == bad)
        })
    }

    /// Settings about everybody do not touch root.
    fn concerns_us(&self) -> bool {
        !users::may_give_blocks() || self.name == "user namespaces"
    }
}

/// Says so at once where no sandbox can be made.
pub(super) fn refuse_if_hopeless() -> Result<(), EngineError> {
    let found = OBSTACLES.iter().find(|o| o.is_set() && o.concerns_us());
    found.map_or(Ok(()), |obstacle| {
        let message = format!(
            "no sandbox can be made on this machine: {}",
            obstacle.message
        );
        let hint = format!("{}; or look around with --engine demo", obstacle.hint);
        Err(EngineError::new(FailureKind::Unreachable, message).with_hint(hint))
    })
}

/// Explains why a sandbox could not be started.
pub(super) fn explain(tried: &str, error: &io::Error) -> EngineError {
    let reason = error.to_string();
    let known = OBSTACLES
        .iter()
        .find(|obstacle| obstacle.is_set() && obstacle.concerns_us())
        .or_else(|| {
            let mut unset = OBSTACLES
                .iter()
                .filter(|obstacle| obstacle.setting.is_none());
            unset.find(|obstacle| reason.contains(obstacle.sign))
        });
    let failed = |text: String, hint: &str| {
        EngineError::new(FailureKind::Unsupported, format!("{tried} failed: {text}"))
            .with_hint(hint)
    };
    match known {
        Some(obstacle) => failed(format!("{} ({reason})", obstacle.message), obstacle.hint),
        None if reason.contains("does not exist") || reason.contains("No such file") => failed(
            reason,
            "something that the sandbox shows of the host is gone; see its mounts and image",
        ),
        None => failed(
            reason,
            "`sandtop --engine local doctor` names what the kernel lacks",
        ),
    }
}

/// Looks at everything; `trial` is the outcome of really making a sandbox.
pub(super) fn checks(
    state_dir: &StateDir,
    why: &str,
    trial: Result<(), EngineError>,
) -> Vec<Check> {
    let mut found = vec![Check::ok("engine choice", why), kernel()];
    let settings = OBSTACLES.iter().filter(|o| o.is_set() && o.concerns_us());
    found.extend(settings.map(|o| Check::fail(o.name, o.message, o.hint)));
    found.push(match trial {
        Ok(()) => Check::ok("engine", engine_text(state_dir)),
        Err(error) => Check::fail("engine", error.message, error.hint.unwrap_or_default()),
    });
    found.push(program());
    found.extend(limits());
    found
}

fn engine_text(state_dir: &StateDir) -> String {
    let rights = if users::may_give_blocks() {
        "as root, each sandbox with users of its own"
    } else {
        "as an ordinary user"
    };
    let kept_in = state_dir.scope().display();
    format!(
        "a sandbox was made and removed, {rights}; sandboxes share this kernel, they are not machines; kept in {kept_in}"
    )
}

/// Reads the kernel's version.
pub(super) fn kernel_version() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}

fn kernel() -> Check {
    let version = kernel_version();
    let mut numbers = version
        .split(['.', '-'])
        .filter_map(|part| part.parse().ok());
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found >= LEAST_KERNEL {
        return Check::ok("kernel", format!("Linux {version}"));
    }
    Check::fail(
        "kernel",
        format!("the local engine needs Linux 5.12 or newer, this is {version}"),
        "use --engine docker, or a newer kernel",
    )
}

fn program() -> Check {
    if guest::is_available() {
        return Check::ok("guest program", format!("built for {}", guest::PLATFORM));
    }
    Check::fail(
        "guest program",
        "this build carries none",
        "build sandtop on Linux",
    )
}

/// Tries which limits the kernel would enforce, with groups that are removed at once.
fn limits() -> Vec<Check> {
    let (here, id) = (Hierarchies::read(), state_dir::new_id());
    let groups = Cgroups::make(&here, &id, &Limits::default()).unwrap_or_default();
    let manager = SystemdManager::find_if_needed();
    let check = |(name, controller, instead): (&str, &str, &str)| {
        if groups.has(controller) {
            return Check::ok(name, "enforced by the kernel");
        }
        if manager.is_some() {
            let text = "systemd is asked for a scope for each sandbox; `inspect` names what it does not grant";
            return Check::ok(name, text);
        }
        let fix = if users::may_give_blocks() {
            "mount the cgroup controller writable"
        } else {
            "run sandtop as root, or by `systemd-run --user --scope -p Delegate=yes sandtop`"
        };
        Check::warn(name, format!("no cgroup to write to; {instead}"), fix)
    };
    let table = [
        (
            "memory limit",
            "memory",
            "a watcher kills the largest process instead",
        ),
        (
            "cpu limit",
            "cpu",
            "sandboxes are kept to whole cores instead",
        ),
        (
            "process limit",
            "pids",
            "the kernel counts processes for each user instead",
        ),
        (
            "pausing",
            "freezer",
            "processes are stopped by signals instead",
        ),
    ];
    let found = table.map(check);
    groups.remove();
    found.into()
}
