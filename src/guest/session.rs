//! Named sessions: the working directory and exported variables that one exec leaves to the next.
//!
//! The state is saved by a trap of the shell that runs the command, which starts `guest save` as its child: directory and
//! exported variables arrive by inheritance, so nothing has to be quoted, parsed or understood.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use crate::finish::Problem;
use crate::wire::{self, report::SessionLine};

/// Variables that belong to one shell or one exec, not to the session.
const PRIVATE: [&str; 6] = [
    "_",
    "SHLVL",
    "PWD",
    "OLDPWD",
    wire::EXEC_VARIABLE,
    SESSION_VARIABLE,
];
const SESSION_VARIABLE: &str = "SANDTOP_SESSION";

/// Runs `$1` in the shell itself and saves the state however it ends; `exec`'s status stays the status.
const WRAPPER: &str = r#"trap '/.sandtop/guest save "$SANDTOP_SESSION"' EXIT
trap 'exit 143' TERM
trap 'exit 129' HUP
__sandtop_line=$1
shift
eval "$__sandtop_line""#;

/// A session's state before a command runs; empty for a new one.
pub(crate) struct Session {
    name: String,
    work_dir: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
}

impl Session {
    /// Loads a session; variables that the caller has `given` now win over saved ones.
    pub(crate) fn load(name: &str, given: &[String]) -> Self {
        let saved = fs::read(file_of(name)).unwrap_or_default();
        let mut fields = saved.split(|b| *b == 0).filter(|field| !field.is_empty());
        let work_dir = fields
            .next()
            .map(|dir| PathBuf::from(OsStr::from_bytes(dir)));
        let mut variables: Vec<_> = fields.filter_map(split_variable).collect();
        if !variables.is_empty() {
            variables.extend(
                given
                    .iter()
                    .filter_map(|key| Some((key.into(), env::var_os(key)?))),
            );
        }
        Self {
            name: name.to_owned(),
            work_dir,
            variables,
        }
    }

    /// Builds the command: `sh -c SCRIPT` and single lines run in the session's shell, others as a simple command in it.
    pub(crate) fn command(&self, argv: &[String]) -> Command {
        let (shell, line, rest) = as_shell_line(argv);
        let mut command = Command::new(&shell);
        command
            .args(["-c", WRAPPER, shell.as_str(), line.as_str()])
            .args(rest);
        if !self.variables.is_empty() {
            // What was saved is the whole environment, so that a variable that was unset stays unset.
            command
                .env_clear()
                .envs(self.variables.iter().map(|(key, value)| (key, value)));
        }
        if let Some(dir) = self.work_dir.as_ref().filter(|dir| dir.is_dir()) {
            command.current_dir(dir);
        }
        command.env(SESSION_VARIABLE, &self.name);
        command
    }
}

fn split_variable(field: &[u8]) -> Option<(OsString, OsString)> {
    let at = field.iter().position(|b| *b == b'=').filter(|at| *at > 0)?;
    let (key, value) = field.split_at(at);
    Some((
        OsString::from_vec(key.to_vec()),
        OsString::from_vec(value.get(1..)?.to_vec()),
    ))
}

/// Splits argv into the shell to use, the line it evaluates, and its positional arguments.
fn as_shell_line(argv: &[String]) -> (String, String, Vec<String>) {
    let shells = ["sh", "bash", "dash", "ash", "ksh", "zsh", "busybox"];
    let is_shell = |program: &str| shells.contains(&program.rsplit('/').next().unwrap_or_default());
    match argv {
        [shell, flag, script, rest @ ..] if flag == "-c" && is_shell(shell) => {
            // `sh -c SCRIPT NAME ARGS…`: NAME is $0, which the wrapper cannot set; the arguments are what matters.
            (
                shell.clone(),
                script.clone(),
                rest.iter().skip(1).cloned().collect(),
            )
        }
        [line] => ("sh".to_owned(), line.clone(), Vec::new()),
        words => ("sh".to_owned(), "\"$@\"".to_owned(), words.to_vec()),
    }
}

fn file_of(name: &str) -> PathBuf {
    Path::new(wire::SESSION_DIR).join(wire::escape(name.as_bytes()).replace('/', "%2f"))
}

/// `guest save NAME`: keeps this process's directory and variables; a failure must not change the command's own result.
pub(crate) fn save(name: &str) {
    if name.is_empty() {
        return;
    }
    let mut state = env::current_dir()
        .unwrap_or_else(|_| PathBuf::from("/"))
        .into_os_string()
        .into_vec();
    for (key, value) in
        env::vars_os().filter(|(key, _)| !PRIVATE.iter().any(|p| key == OsStr::new(p)))
    {
        state.push(0);
        state.extend(key.as_bytes());
        state.push(b'=');
        state.extend(value.as_bytes());
    }
    let file = file_of(name);
    // Sessions cannot be called so, and `list` passes over it.
    let fresh = file.with_file_name(format!(".{}.new", std::process::id()));
    let kept = make_dir()
        .and_then(|()| fs::write(&fresh, state))
        .and_then(|()| fs::rename(&fresh, &file));
    if kept.is_err() {
        let _ = fs::remove_file(fresh);
    }
}

/// Makes the folder so that every user of the sandbox can keep sessions there.
fn make_dir() -> std::io::Result<()> {
    if !Path::new(wire::SESSION_DIR).is_dir() {
        fs::create_dir_all(wire::SESSION_DIR)?;
        fs::set_permissions(wire::SESSION_DIR, fs::Permissions::from_mode(0o1777))?;
    }
    Ok(())
}

/// `guest sessions`: prints a line for each.
pub(crate) fn list() -> Result<(), Problem> {
    let mut out = std::io::stdout().lock();
    for entry in fs::read_dir(wire::SESSION_DIR)
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let state = fs::read(entry.path()).unwrap_or_default();
        let mut fields = state.split(|b| *b == 0);
        let work_dir = fields.next().unwrap_or_default().to_vec();
        let changed = entry.metadata().and_then(|meta| meta.modified()).ok();
        let passed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let line = SessionLine {
            name: String::from_utf8_lossy(&wire::unescape(&name)).into_owned(),
            work_dir,
            variables: fields.count() as u64,
            used_seconds: passed.map_or(0, |passed| passed.as_secs().cast_signed()),
        };
        writeln!(out, "{}", line.encode()).map_err(|e| Problem::io("writing", &e))?;
    }
    Ok(())
}

/// `guest forget NAME`: removes a session.
pub(crate) fn forget(name: &str) -> Result<(), Problem> {
    fs::remove_file(file_of(name))
        .map_err(|error| Problem::on(format!("session {name}").as_bytes(), &error))
}
