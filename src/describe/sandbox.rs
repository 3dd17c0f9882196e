//! Everything known of a sandbox, fact by fact: what it is, what isolates it, and how it ended.

use chrono::{DateTime, SecondsFormat, Utc};

use super::Mood;
use crate::domain::{Access, Death, Details, Posture};
use crate::text::{human, safe_line};

/// One fact; its value is safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub key: &'static str,
    /// What is so.
    pub value: String,
    /// How it should strike the reader.
    pub mood: Mood,
}

fn plain(key: &'static str, value: impl AsRef<[u8]>) -> Fact {
    fact(key, value, Mood::Plain)
}

fn fact(key: &'static str, value: impl AsRef<[u8]>, mood: Mood) -> Fact {
    let value = safe_line(value);
    Fact { key, value, mood }
}

/// Tells everything about a sandbox: first what it is, then what isolates it, then how it ended.
#[must_use]
pub fn facts(details: &Details) -> Vec<Fact> {
    let mut all = identity(details);
    all.extend(limits(details));
    all.extend(isolation(&details.posture));
    all.extend(details.death.iter().flat_map(ending));
    all
}

fn identity(details: &Details) -> Vec<Fact> {
    let sandbox = &details.sandbox;
    let host = format!("{} ({})", sandbox.reference.host, sandbox.engine);
    let owner = sandbox.owner.as_ref().map(ToString::to_string);
    vec![
        plain("name", &sandbox.name),
        plain("id", sandbox.reference.id.as_str()),
        plain("host", host),
        plain("image", &sandbox.image),
        plain("phase", sandbox.phase.word()),
        plain("created", time(sandbox.created_at)),
        plain("owner", owner.unwrap_or_else(|| "unknown".to_owned())),
    ]
}

fn limits(details: &Details) -> Vec<Fact> {
    let limits = &details.sandbox.limits;
    let limit = |key, value: Option<String>| match value {
        Some(value) => plain(key, value),
        None => fact(key, "none", Mood::Warn),
    };
    vec![
        limit("memory limit", limits.memory_bytes.map(human::bytes)),
        limit("cpu limit", limits.cpus.map(|cpus| cpus.to_string())),
        limit("process limit", limits.pids.map(|pids| pids.to_string())),
        limit("exec timeout", limits.timeout_s.map(|s| format!("{s} s"))),
        plain("work directory", &details.work_dir),
        plain("variables", details.env_names.join(", ")),
        plain("network", &details.sandbox.network),
    ]
}

fn isolation(posture: &Posture) -> Vec<Fact> {
    let unknown = || "unknown while it does not run".to_owned();
    let interfaces = posture.interfaces.as_deref().map_or_else(unknown, listed);
    let caps = if posture.caps.is_empty() {
        Mood::Good
    } else {
        Mood::Bad
    };
    let mut all = vec![
        plain("interfaces", interfaces),
        plain("user", &posture.user),
        fact("capabilities", listed(&posture.caps), caps),
        yes_no("no new privileges", posture.no_new_privileges),
        yes_no("read-only root", posture.read_only_root),
        plain("seccomp", &posture.seccomp),
        yes_no("init process", posture.init),
        yes_no("checked inside", posture.verified),
    ];
    all.extend(posture.mounts.iter().map(|mount| {
        let access = match mount.access {
            Access::ReadOnly => "read-only",
            Access::ReadWrite => "writable",
        };
        plain(
            "mount",
            format!("{} ({}, {access})", mount.target, mount.kind),
        )
    }));
    let gaps = posture.gaps.iter();
    all.extend(gaps.map(|gap| fact("gap", gap, Mood::Warn)));
    all
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

fn yes_no(key: &'static str, is_so: bool) -> Fact {
    if is_so {
        fact(key, "yes", Mood::Good)
    } else {
        fact(key, "NO", Mood::Bad)
    }
}

/// Tells how a sandbox ended.
#[must_use]
pub fn ending(death: &Death) -> Vec<Fact> {
    let code = death.exit_code.map(|code| format!(", code {code}"));
    let at = death.at.map(|at| format!(", {}", time(at)));
    let how = [Some(death.cause.clone()), code, at].into_iter().flatten();
    let lines = death.last_lines.iter();
    let by = death.by.iter().map(|by| fact("ended by", by, Mood::Warn));
    std::iter::once(fact("ended", how.collect::<String>(), Mood::Warn))
        .chain(by)
        .chain(lines.map(|line| fact("last words", line, Mood::Warn)))
        .collect()
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}
