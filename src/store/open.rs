//! Opening the file: settings, the way from older layouts, and what to do with a file that is none.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::Utc;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, OpenFlags, ffi};

/// How long `SQLite` waits for other processes.
const PATIENCE: Duration = Duration::from_secs(6);

/// The layouts, each from the one before.
const MIGRATIONS: [&str; 4] = [
    include_str!("schema.sql"),
    include_str!("lives.sql"),
    "ALTER TABLE runs ADD COLUMN code_name TEXT;",
    include_str!("refusals.sql"),
];

/// What the name of a damaged file that was set aside goes on with.
const DAMAGED: &str = ".damaged-";

/// Opens the file, makes it if it is missing, and brings it to the newest layout.
pub(super) fn file(path: &Path) -> rusqlite::Result<Connection> {
    // Turning on the log cannot wait for other processes by itself; and of two that migrate, one would fail.
    let turn = lock(path);
    // SQLite gives its other files the rights of this one.
    drop(private().append(true).open(path));
    let opened = Connection::open(path).and_then(|connection| {
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 200;")?;
        // The last one to leave would clear the log and wait for the disk: every command on a quiet machine.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        migrate(&connection)?;
        Ok(connection)
    });
    drop(turn);
    match opened {
        Err(error) if cannot_be_written(&error) => read_only(path).or(Err(error)),
        other => other,
    }
}

/// Keeps everything in memory.
pub(super) fn memory() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    migrate(&connection)?;
    Ok(connection)
}

fn cannot_be_written(error: &Error) -> bool {
    use rusqlite::ErrorCode as Code;
    matches!(
        error.sqlite_error_code(),
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied)
    )
}

/// Opens a file that cannot be written, so that at least the past can be read.
fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    let escaped = crate::guest::wire::escape(path.as_os_str().as_encoded_bytes());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let open = |how: &str| -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(format!("file:{escaped}?{how}"), flags)?;
        connection.query_row("PRAGMA user_version", [], |_| Ok(()))?;
        Ok(connection)
    };
    // With its log if that can be read; else without, as if nobody wrote.
    open("mode=ro").or_else(|_| open("immutable=1"))
}

/// Opens or makes a file that is nobody else's business.
fn private() -> fs::OpenOptions {
    let mut options = File::options();
    options.create(true).mode(0o600);
    options
}

/// Waits for our turn to open; a lock that cannot be had costs nothing but safety against a rare race.
fn lock(path: &Path) -> Option<File> {
    let path = path.with_extension("lock");
    let file = private().write(true).open(path).ok()?;
    let end = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(TryLockError::WouldBlock) if Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(_) => return None,
        }
    }
}

fn migrate(connection: &Connection) -> rusqlite::Result<()> {
    let found: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let found = usize::try_from(found).unwrap_or(usize::MAX);
    if found > MIGRATIONS.len() {
        let words = "it was made by a newer sandtop".to_owned();
        return Err(Error::SqliteFailure(
            ffi::Error::new(ffi::SQLITE_ERROR),
            Some(words),
        ));
    }
    for (at, step) in MIGRATIONS.iter().enumerate().skip(found) {
        let next = at + 1;
        connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {step} PRAGMA user_version = {next}; COMMIT;"
        ))?;
    }
    Ok(())
}

/// Moves a damaged file and what belongs to it out of the way; nothing is deleted. Returns where it is now, unless another
/// process was faster.
pub(super) fn set_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    let _turn = lock(path);
    // Another process may have been faster; then the file is good again.
    if Connection::open(path).is_ok_and(|fresh| is_sound(&fresh)) {
        return Ok(None);
    }
    let mark = Utc::now().format("%Y%m%dT%H%M%S%3f");
    let mark = format!("{DAMAGED}{mark}");
    tracing::warn!(file = %path.display(), %mark, "the store is damaged and was set aside");
    for suffix in ["", "-wal", "-shm"] {
        let from = with_suffix(path, suffix);
        let to = with_suffix(path, &format!("{mark}{suffix}"));
        match fs::rename(from, to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(Some(with_suffix(path, &mark)))
}

/// Lists what was set aside, the oldest first.
pub(super) fn damaged(path: &Path) -> Vec<PathBuf> {
    let begin = with_suffix(path, DAMAGED);
    let begin = begin.file_name().unwrap_or_default().as_encoded_bytes();
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().flatten();
    let files = files.map(|entry| entry.path()).filter(|file| {
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        name.starts_with(begin) && !name.ends_with(b"-wal") && !name.ends_with(b"-shm")
    });
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

fn is_sound(connection: &Connection) -> bool {
    let verdict = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    verdict.is_ok_and(|word| word == "ok")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
