//! Judges single values, each with a sentence that says what would do instead.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::suggest;
use crate::code::{Policy, Severity};
use crate::domain::{EngineKind, Grace, SandboxPath};
use crate::text::{human::parse_bytes, safe_line};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// Engines refuse less.
const LEAST_MEMORY: u64 = 6 * MIB;
const MOST_MEMORY: u64 = 64 * 1024 * GIB;
/// Less than a shell, the keeper and a few threads cannot work.
const LEAST_PIDS: u64 = 8;
/// What the kernel can count.
const MOST_PIDS: u64 = 4_194_304;
const MOST_CPUS: f64 = 512.0;
/// Longer waits only lead to overflows.
const YEAR: u64 = 365 * 24 * 3600;
const HOURS_OF_TEN_YEARS: u64 = 10 * 365 * 24;
const MOST_AT_ONCE: u64 = 100_000;

/// Trees that a work directory would hide or lie in.
const KEPT_TREES: [&str; 6] = ["/tmp", "/proc", "/sys", "/dev", "/.sandtop", "/run/sandtop"];
/// Folders without which an image does not run.
const KEPT_FOLDERS: [&str; 9] = [
    "/", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/etc", "/var", "/run",
];

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Reads the kind of engine; empty means any.
pub(super) fn engine(text: &str) -> Result<Option<EngineKind>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let known = EngineKind::ALL.into_iter().find(|kind| kind.word() == text);
    known.map(Some).ok_or_else(|| {
        let hint = suggest(text, EngineKind::ALL.map(EngineKind::word));
        format!("`{}` is not an engine; {hint}", safe_line(text))
    })
}

/// Reads an address; empty means none. What it means is for the engine to say.
pub(super) fn address(text: &str) -> Result<Option<String>, String> {
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        let shown = safe_line(text);
        return Err(format!(
            "`{shown}` is not an address; use one such as unix:///var/run/docker.sock"
        ));
    }
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// Reads the name of an image.
pub(super) fn image(text: &str) -> Result<String, String> {
    let is_fine = |c: char| c.is_ascii_graphic();
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_fine) {
        return Ok(text.to_owned());
    }
    let shown = safe_line(text);
    Err(format!(
        "`{shown}` is not an image; name one, such as python:3.12-slim"
    ))
}

/// Reads the work directory.
pub(super) fn work_dir(text: &str) -> Result<SandboxPath, String> {
    let path = SandboxPath::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let shown = path.to_string();
    let folder = Path::new(&shown);
    let is_kept = KEPT_FOLDERS.iter().any(|kept| folder == Path::new(kept))
        || KEPT_TREES.iter().any(|tree| folder.starts_with(tree));
    if is_kept {
        return Err(format!(
            "`{}` is needed by the sandbox itself; use a folder of its own, such as /workspace",
            safe_line(&shown)
        ));
    }
    Ok(path)
}

/// Reads a memory limit.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    size_between(text, LEAST_MEMORY, "6m", MOST_MEMORY, "64t")
}

/// Reads the size of `/tmp`; zero would mean no limit to the kernel.
pub(super) fn tmp_size(text: &str) -> Result<u64, String> {
    size_between(text, 64 * KIB, "64k", MOST_MEMORY, "64t")
}

/// Reads how much output is kept in memory.
pub(super) fn json_limit(text: &str) -> Result<u64, String> {
    size_between(text, KIB, "1k", GIB, "1g")
}

/// Reads the most that a copy moves; zero lifts the limit.
pub(super) fn copy_limit(text: &str) -> Result<Option<u64>, String> {
    let size = size_between(text, 0, "0", MOST_MEMORY, "64t")?;
    Ok((size > 0).then_some(size))
}

/// Reads how much all kept packages may take.
pub(super) fn cache_size(text: &str) -> Result<u64, String> {
    size_between(text, MIB, "1m", MOST_MEMORY, "64t")
}

/// Reads what findings do.
pub(super) fn policy(text: &str) -> Result<Policy, String> {
    let known = Policy::ALL.into_iter().find(|policy| policy.word() == text);
    known.ok_or_else(|| {
        let hint = suggest(text, Policy::ALL.map(Policy::word));
        format!("`{}` is not a policy; {hint}", safe_line(text))
    })
}

/// Reads how much a finding must matter.
pub(super) fn severity(text: &str) -> Result<Severity, String> {
    let mut known = Severity::ALL.into_iter();
    known.find(|level| level.word() == text).ok_or_else(|| {
        let hint = suggest(text, Severity::ALL.map(Severity::word));
        format!("`{}` is not a level of findings; {hint}", safe_line(text))
    })
}

/// Reads how much output is kept on disk.
pub(super) fn kept_bytes(text: &str) -> Result<u64, String> {
    size_between(text, KIB, "1k", 1024 * GIB, "1024g")
}

/// Reads from how much on a guard is raised; zero is never.
pub(super) fn amount(text: &str) -> Result<u64, String> {
    size_between(text, 0, "0", 1024 * GIB, "1024g")
}

/// Reads what happens to an unused sandbox.
pub(super) fn grace(word: &str) -> Result<Grace, String> {
    match word {
        "remove" => Ok(Grace::Remove),
        "pause" => Ok(Grace::Pause),
        other => Err(format!(
            "`{}` is neither remove nor pause",
            safe_line(other)
        )),
    }
}

/// Checks a rule of `[adopt]`; an empty one, or one that adopts everything, would be a mistake.
pub(super) fn rule(text: &str) -> Result<(), String> {
    if text.chars().all(|c| c == '*' || c.is_whitespace()) {
        return Err("it would adopt everything; write more of the name".to_owned());
    }
    Ok(())
}

/// Reads how many days something is kept.
pub(super) fn days(days: u64) -> Result<u32, String> {
    match u32::try_from(days) {
        Ok(days @ 1..=36_500) => Ok(days),
        _ => Err(format!("{days} is not a number of days from 1 to 36500")),
    }
}

fn size_between(
    text: &str,
    least: u64,
    least_word: &str,
    most: u64,
    most_word: &str,
) -> Result<u64, String> {
    let size = parse_bytes(text)?;
    let shown = safe_line(text);
    if size < least {
        return Err(format!("`{shown}` is too little; use {least_word} or more"));
    }
    if size > most {
        return Err(format!("`{shown}` is too much; use {most_word} or less"));
    }
    Ok(size)
}

/// Reads a share of processors.
pub(super) fn cpus(share: f64) -> Result<f64, String> {
    if share > 0.0 && share <= MOST_CPUS {
        return Ok(share);
    }
    Err(format!(
        "`{share}` is not a number of processors; use one above 0 and up to {MOST_CPUS}, such as 1.5"
    ))
}

/// Reads a limit of processes; zero means none.
pub(super) fn pids(count: u64) -> Result<Option<u64>, String> {
    match count {
        0 => Ok(None),
        LEAST_PIDS..=MOST_PIDS => Ok(Some(count)),
        1..LEAST_PIDS => Err(format!(
            "`{count}` is too few; use {LEAST_PIDS} or more, or 0 for no limit"
        )),
        _ => Err(format!("`{count}` is too many; use {MOST_PIDS} or fewer")),
    }
}

/// Reads seconds; zero means no limit.
pub(super) fn seconds_or_none(count: u64) -> Result<Option<Duration>, String> {
    if count > YEAR {
        return Err(format!("`{count}` is too long; use {YEAR} or less, a year"));
    }
    Ok(Some(Duration::from_secs(count)).filter(|time| !time.is_zero()))
}

/// Reads seconds of which there must be some.
pub(super) fn seconds(count: u64) -> Result<Duration, String> {
    seconds_or_none(count)?.ok_or_else(|| "`0` is too short; use 1 or more seconds".to_owned())
}

/// Reads hours; zero is over at once.
pub(super) fn hours(count: u64) -> Result<Duration, String> {
    if count > HOURS_OF_TEN_YEARS {
        return Err(format!(
            "`{count}` is too long; use {HOURS_OF_TEN_YEARS} or less, ten years"
        ));
    }
    Ok(Duration::from_hours(count))
}

/// Reads how many sandboxes, or runs in one, there may be.
pub(super) fn count(count: u64) -> Result<usize, String> {
    match count {
        0 => Err("`0` is too few; use 1 or more".to_owned()),
        1..=MOST_AT_ONCE => usize::try_from(count).map_err(|error| error.to_string()),
        _ => Err(format!(
            "`{count}` is too many; use {MOST_AT_ONCE} or fewer"
        )),
    }
}

/// Reads a user, or a user and a group, each by number or by name.
pub(super) fn user(text: &str) -> Result<String, String> {
    let (user, group) = match text.split_once(':') {
        Some((user, group)) => (user, Some(group)),
        None => (text, None),
    };
    if is_account(user) && group.is_none_or(is_account) {
        return Ok(text.to_owned());
    }
    let shown = safe_line(text);
    Err(format!(
        "`{shown}` is not a user; use a number, a name or both with a group, such as 65534:65534"
    ))
}

/// Tells whether a word is a number that the kernel knows, or a name.
fn is_account(word: &str) -> bool {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        // The largest number means "no one" to the kernel.
        return word.bytes().all(|b| b.is_ascii_digit())
            && word.parse().is_ok_and(|id: u32| id < u32::MAX);
    }
    let starts_well = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && word.chars().all(in_name)
}

/// Checks the name of an environment variable.
pub(super) fn variable_name(name: &str) -> Result<(), String> {
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well && name.chars().all(in_name) {
        return Ok(());
    }
    Err("a variable is named with letters, digits and `_`, not starting with a digit".to_owned())
}

/// Checks the value of an environment variable.
pub(super) fn variable_value(value: &str) -> Result<String, String> {
    if value.contains('\0') {
        return Err("the value holds a NUL character, which no variable can hold".to_owned());
    }
    Ok(value.to_owned())
}

/// Checks the name of a profile.
pub(super) fn profile_name(name: &str) -> Result<(), String> {
    if name == super::DEFAULT_PROFILE {
        return Err("this profile is `[sandbox]` itself; set its keys there".to_owned());
    }
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if starts_well && name.len() <= 63 && name.chars().all(in_name) {
        return Ok(());
    }
    Err("a profile is named with 1 to 63 letters, digits, `-`, `_` or `.`".to_owned())
}

/// Reads a folder of this machine, where `~/` stands for the home.
pub(super) fn folder(text: &str, home: Option<&Path>) -> Result<PathBuf, String> {
    let path = match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    };
    if path.is_absolute() && !text.contains('\0') {
        return Ok(path);
    }
    let shown = safe_line(text);
    Err(format!(
        "`{shown}` is not an absolute path; start it with `/` or `~/`"
    ))
}

/// Reads the level of the log.
pub(super) fn level(text: &str) -> Result<String, String> {
    let word = text.to_ascii_lowercase();
    if LEVELS.contains(&word.as_str()) {
        return Ok(word);
    }
    let hint = suggest(text, LEVELS);
    Err(format!("`{}` is not a level; {hint}", safe_line(text)))
}
