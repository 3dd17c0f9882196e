//! What happened to the sandboxes of a place: a file that every process appends to and reads.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::stream::{self, BoxStream, StreamExt};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use crate::domain::{EngineEvent, EngineEventKind, HostName, SandboxId, SandboxRef};
use crate::engine::{EngineError, Result, unfold};
use crate::guest::wire::{self, JournalEvent, JournalLine};

/// From this size on the journal starts anew; the one before is kept.
const LARGEST: u64 = 1 << 20;
/// How often to search for keepers that were killed, which tell nobody.
const RESCAN: Duration = Duration::from_secs(2);

/// The journal of a place.
#[derive(Debug, Clone)]
pub(super) struct Journal {
    folder: PathBuf,
    host: HostName,
}

impl Journal {
    /// Names the journal in a folder.
    pub(super) fn new(folder: &Path, host: HostName) -> Self {
        Self {
            folder: folder.to_owned(),
            host,
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.join(wire::JOURNAL)
    }

    fn older(&self) -> PathBuf {
        self.folder.join(format!("{}.old", wire::JOURNAL))
    }

    /// Notes that something happened; a journal that cannot be written costs nothing but the memory of it.
    pub(super) fn append(&self, id: &str, name: &str, what: &EngineEventKind) {
        let Some((event, detail)) = event_of(what) else {
            return;
        };
        let exec = exec_of(what).cloned().unwrap_or_default();
        let line = JournalLine {
            at_millis: Utc::now().timestamp_millis(),
            id: id.to_owned(),
            name: name.to_owned(),
            event,
            detail,
            exec,
        };
        let line = line.encode();
        let file = self.file();
        if fs::metadata(&file).is_ok_and(|meta| meta.len() > LARGEST) {
            let _ = fs::rename(&file, self.older());
        }
        let opened = File::options().create(true).append(true).open(&file);
        // One write, so that lines of different processes do not mix.
        if let Err(error) = opened.and_then(|mut journal| journal.write_all(line.as_bytes())) {
            tracing::debug!(%error, "the journal was not written");
        }
    }

    /// Reads what happened since a moment.
    pub(super) fn since(&self, since: DateTime<Utc>) -> Vec<EngineEvent> {
        let mut text = fs::read_to_string(self.older()).unwrap_or_default();
        text.push_str(&fs::read_to_string(self.file()).unwrap_or_default());
        let happenings = text.lines().filter_map(|line| self.read(line));
        happenings.filter(|event| event.at >= since).collect()
    }

    fn read(&self, line: &str) -> Option<EngineEvent> {
        let line = JournalLine::parse(line)?;
        Some(EngineEvent {
            at: DateTime::from_timestamp_millis(line.at_millis)?,
            sandbox: SandboxRef::new(self.host.clone(), SandboxId::new(line.id)),
            name: line.name,
            what: what_of(line.event, line.detail, line.exec),
        })
    }

    /// Streams what happens from now on; `rescan` finds sandboxes that ended without a word.
    pub(super) fn follow(&self, rescan: Rescan) -> Result<BoxStream<'static, Result<EngineEvent>>> {
        let broken = |error: std::io::Error| {
            EngineError::internal(format!(
                "watching {} failed: {error}",
                self.folder.display()
            ))
        };
        let follower = Follower::new(self.clone(), rescan).map_err(broken)?;
        let batches = unfold(follower, |mut follower| async move {
            let batch = follower.next().await;
            Some((stream::iter(batch.into_iter().map(Ok)), follower))
        });
        Ok(batches.flatten().boxed())
    }
}

/// A search for sandboxes that ended without a word; it may block.
pub(super) type Rescan = Arc<dyn Fn() + Send + Sync>;

/// Reads the journal as it grows.
struct Follower {
    journal: Journal,
    changes: pipe::Receiver,
    rescan: Rescan,
    at: u64,
}

impl Follower {
    fn new(journal: Journal, rescan: Rescan) -> std::io::Result<Self> {
        let changes = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let flags = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
        inotify::add_watch(&changes, &journal.folder, flags)?;
        let at = fs::metadata(journal.file()).map_or(0, |meta| meta.len());
        Ok(Self {
            journal,
            // The kernel tells changes like a pipe.
            changes: pipe::Receiver::from_owned_fd_unchecked(changes)?,
            rescan,
            at,
        })
    }

    /// Waits until something was added.
    async fn next(&mut self) -> Vec<EngineEvent> {
        loop {
            let new = self.read_new();
            if !new.is_empty() {
                return new;
            }
            if tokio::time::timeout(RESCAN, self.wait_for_change())
                .await
                .is_err()
            {
                let rescan = Arc::clone(&self.rescan);
                let _ = tokio::task::spawn_blocking(move || rescan()).await;
            }
        }
    }

    /// Waits for the kernel to say that something in the folder has changed.
    async fn wait_for_change(&mut self) {
        let mut events = [0; 4096];
        let _ = self.changes.read(&mut events).await;
    }

    fn read_new(&mut self) -> Vec<EngineEvent> {
        let Ok(mut file) = File::open(self.journal.file()) else {
            return Vec::new();
        };
        if file.metadata().is_ok_and(|meta| meta.len() < self.at) {
            self.at = 0; // It was started anew.
        }
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(self.at))
            .and_then(|_| file.read_to_end(&mut bytes));
        let whole = bytes
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        if read.is_err() || whole == 0 {
            return Vec::new();
        }
        self.at += whole as u64;
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default()).into_owned();
        text.lines()
            .filter_map(|line| self.journal.read(line))
            .collect()
    }
}

/// Returns the id of the command that an event is about.
fn exec_of(what: &EngineEventKind) -> Option<&String> {
    match what {
        EngineEventKind::Exec { exec, .. } | EngineEventKind::ExecEnded { exec, .. } => {
            exec.as_ref()
        }
        _ => None,
    }
}

/// Writes what happened as an event and its detail; what the engine cannot know is not noted.
fn event_of(what: &EngineEventKind) -> Option<(JournalEvent, String)> {
    let code = |code: &Option<i64>| code.map_or_else(String::new, |code| code.to_string());
    let plain = |event| (event, String::new());
    Some(match what {
        EngineEventKind::Created => plain(JournalEvent::Created),
        EngineEventKind::Started => plain(JournalEvent::Started),
        EngineEventKind::Exec { command, .. } => (JournalEvent::Exec, command.clone()),
        EngineEventKind::ExecEnded { exit_code, .. } => (JournalEvent::ExecEnded, code(exit_code)),
        EngineEventKind::Oom => plain(JournalEvent::Oom),
        EngineEventKind::Paused => plain(JournalEvent::Paused),
        EngineEventKind::Resumed => plain(JournalEvent::Resumed),
        EngineEventKind::Killed { signal } => {
            (JournalEvent::Killed, signal.clone().unwrap_or_default())
        }
        EngineEventKind::Died { exit_code } => (JournalEvent::Died, code(exit_code)),
        EngineEventKind::Stopped => plain(JournalEvent::Stopped),
        EngineEventKind::Restarted => plain(JournalEvent::Restarted),
        EngineEventKind::Removed { .. } => plain(JournalEvent::Removed),
        EngineEventKind::RunEnded { .. }
        | EngineEventKind::Death { .. }
        | EngineEventKind::PidsLimit { .. } => return None,
    })
}

/// Reads what happened from an event and its detail.
fn what_of(event: JournalEvent, detail: String, exec: String) -> EngineEventKind {
    let exec = (!exec.is_empty()).then_some(exec);
    let exit_code = detail.parse().ok();
    match event {
        JournalEvent::Created => EngineEventKind::Created,
        JournalEvent::Started => EngineEventKind::Started,
        JournalEvent::Exec => EngineEventKind::exec(detail, exec),
        JournalEvent::ExecEnded => EngineEventKind::ExecEnded { exec, exit_code },
        JournalEvent::Oom => EngineEventKind::Oom,
        JournalEvent::Paused => EngineEventKind::Paused,
        JournalEvent::Resumed => EngineEventKind::Resumed,
        JournalEvent::Killed => EngineEventKind::Killed {
            signal: (!detail.is_empty()).then_some(detail),
        },
        JournalEvent::Died => EngineEventKind::Died { exit_code },
        JournalEvent::Stopped => EngineEventKind::Stopped,
        JournalEvent::Restarted => EngineEventKind::Restarted,
        JournalEvent::Removed => EngineEventKind::Removed { by: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::new(folder.path(), HostName::new("here"));
        let all = [
            EngineEventKind::Created,
            EngineEventKind::exec("echo a b\nc".into(), Some("4f".into())),
            EngineEventKind::ExecEnded {
                exec: Some("4f".into()),
                exit_code: Some(3),
            },
            EngineEventKind::Killed {
                signal: Some("9".into()),
            },
            EngineEventKind::Died { exit_code: None },
        ];
        let begun = Utc::now() - chrono::TimeDelta::seconds(1);
        for what in &all {
            journal.append("id", "name of it", what);
        }
        let read = journal.since(begun);
        let whats: Vec<EngineEventKind> = read.iter().map(|h| h.what.clone()).collect();
        assert_eq!(whats, all);
        assert!(read.iter().all(|h| h.name == "name of it"));
        let later = Utc::now() + chrono::TimeDelta::seconds(60);
        assert_eq!(journal.since(later), []);
    }
}
