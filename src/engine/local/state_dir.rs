//! The folder where the sandboxes of a scope are kept, and the lock of who changes something there.
//!
//! ```text
//! STATE/local/guest-…        the guest program, once for each version, for keepers
//! STATE/local/inside-…       the same for sandboxes, which nobody can read
//! STATE/local/SCOPE/turn     locked by who makes, starts or removes a sandbox
//!                   journal  what happened, a line each
//!                   ID/      record.json  run.json  workspace/  socket  lock  death  [new]
//!                   ID.gone/ on its way out
//!                   index.json  names and user numbers, see `index`
//!                   images/  what came packed, see `unpacked`
//! ```
//!
//! Nothing here needs a clean end: `new` marks a sandbox that was never finished, a `socket` that nobody answers one whose
//! keeper was killed, and `.gone` one that was being removed. Whoever takes the lock next cleans up.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::index::{self, IndexEntry};
use super::record::{self, Run, SandboxRecord};
use crate::engine::guest::random_word;
use crate::guest::{self, wire};

/// The folder that is the sandbox's work directory.
pub(super) const WORKSPACE: &str = "workspace";
/// Marks a sandbox that is being made.
pub(super) const NEW: &str = "new";
const GONE: &str = ".gone";
const RECORD: &str = "record.json";
const RUN: &str = "run.json";
const ID_LENGTH: usize = 24;
/// How far a removal goes down at a time; so many of the longest names still are a path.
const DEPTH: u32 = 8;
/// Longest wait for the lock.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the sandboxes of a scope are.
#[derive(Debug, Clone)]
pub(super) struct StateDir {
    base: PathBuf,
    scope: PathBuf,
}

/// The lock of a scope, held until this is dropped or the process ends.
pub(super) struct ScopeLock(#[allow(dead_code)] File);

impl StateDir {
    /// Names a state directory; nothing is made before it is needed.
    pub(super) fn new(state: &Path, scope: &str) -> Self {
        let base = state.join("local");
        let name = wire::escape(scope.as_bytes()).replace('/', "%2f");
        // A name that starts with a dot could leave the folder.
        let scope = base.join(format!("scope-{name}"));
        Self { base, scope }
    }

    /// Returns the folder that holds all.
    pub(super) fn scope(&self) -> &Path {
        &self.scope
    }

    /// Returns the folder of a sandbox.
    pub(super) fn folder(&self, id: &str) -> PathBuf {
        self.scope.join(id)
    }

    /// Makes the folder of the scope, for us alone.
    pub(super) fn prepare(&self) -> io::Result<()> {
        private_folder().recursive(true).create(&self.scope)?;
        let journal = self.scope.join(wire::JOURNAL);
        File::options().create(true).append(true).open(journal)?;
        Ok(())
    }

    /// Makes the folder of a new sandbox, marked as unfinished.
    pub(super) fn prepare_sandbox(&self, record: &SandboxRecord) -> io::Result<PathBuf> {
        let folder = self.folder(&record.id);
        private_folder().create(&folder)?;
        File::create(folder.join(NEW))?;
        private_folder().create(folder.join(WORKSPACE))?;
        record::write_json(&folder.join(RECORD), record)?;
        Ok(folder)
    }

    /// Waits for the lock and takes it.
    pub(super) fn lock_scope(&self) -> io::Result<ScopeLock> {
        self.prepare()?;
        let end = Instant::now() + PATIENCE;
        loop {
            match self.try_lock_scope()? {
                Some(lock) => return Ok(lock),
                None if Instant::now() > end => return Err(io::ErrorKind::TimedOut.into()),
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Takes the lock unless somebody else has it.
    pub(super) fn try_lock_scope(&self) -> io::Result<Option<ScopeLock>> {
        let file = File::create(self.scope.join("turn"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(ScopeLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Lists the ids of all sandboxes, and of what a crash has left of one.
    pub(super) fn ids(&self) -> Vec<String> {
        let mut names = self.names();
        names.retain(|name| is_id(name));
        names
    }

    /// Lists what is looked up most of each sandbox.
    pub(super) fn index(&self) -> Vec<IndexEntry> {
        index::look_up(&self.scope, self.ids(), |id| self.record(id))
    }

    /// Lists the sandboxes, oldest first.
    pub(super) fn records(&self) -> Vec<SandboxRecord> {
        let names = self.names();
        let mut found: Vec<SandboxRecord> =
            names.iter().filter_map(|name| self.record(name)).collect();
        found.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        found
    }

    /// Fails where nothing can be opened: sandboxes that cannot be read are not gone for that.
    pub(super) fn check_readable(&self) -> io::Result<()> {
        match File::open(&self.scope) {
            Err(error) if is_shortage(&error) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Reads the record of one sandbox.
    pub(super) fn record(&self, id: &str) -> Option<SandboxRecord> {
        is_id(id).then(|| record::read_json(&self.folder(id).join(RECORD)))?
    }

    /// Reads how a sandbox runs or ran last.
    pub(super) fn run(&self, id: &str) -> Option<Run> {
        record::read_json(&self.folder(id).join(RUN))
    }

    /// Keeps how a sandbox runs.
    pub(super) fn write_run(&self, id: &str, run: &Run) -> io::Result<()> {
        record::write_json(&self.folder(id).join(RUN), run)
    }

    /// Tells whether a sandbox is still being made, or never was finished.
    pub(super) fn is_new(&self, id: &str) -> bool {
        self.folder(id).join(NEW).exists()
    }

    /// Takes a sandbox off the list at once; its files go afterwards.
    pub(super) fn mark_removed(&self, id: &str) -> io::Result<PathBuf> {
        let gone = self.scope.join(format!("{id}{GONE}"));
        fs::rename(self.folder(id), &gone)?;
        Ok(gone)
    }

    /// Lists folders on their way out.
    pub(super) fn removed_dirs(&self) -> Vec<PathBuf> {
        let names = self.names();
        let gone = names.iter().filter(|name| name.ends_with(GONE));
        gone.map(|name| self.scope.join(name)).collect()
    }

    /// Lists unfinished folders without a record, which only a crash leaves.
    pub(super) fn partial_dirs(&self) -> Vec<PathBuf> {
        let names = self.names();
        let is_partial = |name: &&String| {
            let folder = self.scope.join(name);
            is_id(name) && folder.is_dir() && !folder.join(RECORD).exists()
        };
        let found = names.iter().filter(is_partial);
        found.map(|name| self.scope.join(name)).collect()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.scope).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    }

    /// Puts the program of keepers there.
    pub(super) fn keeper_program(&self) -> io::Result<PathBuf> {
        self.program("guest", 0o755)
    }

    /// Puts the guest program there as sandboxes see it: what cannot be read runs as a process that nobody inside can look into.
    pub(super) fn guest_program(&self) -> io::Result<PathBuf> {
        self.program("inside", wire::GUEST_MODE)
    }

    /// Puts the guest program there and returns its path; one that is there already is the same one.
    fn program(&self, name: &str, mode: u32) -> io::Result<PathBuf> {
        let file = self.base.join(format!("{name}-{}", guest::version()));
        if fs::metadata(&file).is_ok_and(|meta| meta.len() == guest::PROGRAM.len() as u64) {
            return Ok(file);
        }
        let fresh = file.with_extension(random_word());
        let mut program = File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o700)
            .open(&fresh)?;
        program.write_all(guest::PROGRAM)?;
        program.set_permissions(fs::Permissions::from_mode(mode))?;
        drop(program);
        fs::rename(&fresh, &file)?;
        Ok(file)
    }
}

/// Makes the id of a new sandbox, which is also the name of its folder.
pub(super) fn new_id() -> String {
    random_word().chars().take(ID_LENGTH).collect()
}

/// Tells whether a text can be an id; anything else is no folder of ours.
fn is_id(text: &str) -> bool {
    text.len() == ID_LENGTH && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Tells that this process or the machine has no room for another open file, which says nothing about any sandbox.
pub(super) fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Removes a folder with all below it, also what its owner locked; one that is not there is fine.
///
/// What a sandbox has made may be deeper than this process can open folders or call itself. So it goes a few steps down at a
/// time, and moves what lies deeper up.
pub(super) fn remove_all(folder: &Path) -> io::Result<()> {
    let mut moved = Moved {
        top: folder,
        word: random_word(),
        count: 0,
    };
    loop {
        let before = moved.count;
        match moved.empty(folder, DEPTH) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            done => done?,
        }
        if moved.count == before {
            return fs::remove_dir(folder);
        }
    }
}

/// Where folders go that are too deep.
struct Moved<'a> {
    top: &'a Path,
    word: String,
    count: u64,
}

impl Moved<'_> {
    fn empty(&mut self, folder: &Path, depth: u32) -> io::Result<()> {
        let unlocked = || fs::Permissions::from_mode(0o700);
        for inner in folders_in(folder)? {
            fs::set_permissions(&inner, unlocked())?;
            if depth > 0 {
                self.empty(&inner, depth - 1)?;
                fs::remove_dir(&inner)?;
            } else {
                self.count += 1;
                let name = format!("{}-{}", self.word, self.count);
                fs::rename(&inner, self.top.join(name))?;
            }
        }
        Ok(())
    }
}

/// Removes what is no folder in a folder, and lists what is.
fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Mode, OFlags, mkdirat, open, openat};

    use super::*;

    #[test]
    fn folders_deeper_than_anybody_can_open_are_removed() {
        // In memory it is a matter of moments.
        let parent = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let parent = parent.expect("a folder");
        let top = parent.path().join("top");
        fs::create_dir(&top).expect("a folder");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at = open(&top, flags, Mode::empty()).expect("a folder");
        for _ in 0..25_000 {
            mkdirat(&at, "deeper", Mode::RWXU).expect("a folder");
            mkdirat(&at, "locked", Mode::empty()).expect("a folder");
            at = openat(&at, "deeper", flags, Mode::empty()).expect("a folder");
        }
        remove_all(&top).expect("a removal");
        assert!(!top.exists());
        remove_all(&top).expect("nothing to do");
    }
}
