//! Looks at a sandbox from inside: its processes, and files that are newer than the sandbox.

use std::time::Duration;

use chrono::DateTime;

use super::Guests;
use super::files::file_kind;
use crate::domain::{Change, ChangeKind, ChangedFile, Changes, Process, SandboxId, SandboxPath};
use crate::engine::{EngineError, Result};
use crate::guest::wire::Call;
use crate::guest::wire::report::{ChangeLine, ProcessLine};

/// Lists processes as they are seen inside.
pub(super) async fn processes(guests: &Guests, id: &SandboxId) -> Result<Vec<Process>> {
    let lines = guests.output(id, &Call::Top).await?;
    let lines = String::from_utf8_lossy(&lines);
    let mut found: Vec<Process> = lines.lines().filter_map(process).collect();
    found.sort_by_key(|process| process.pid);
    Ok(found)
}

fn process(line: &str) -> Option<Process> {
    let line = ProcessLine::parse(line)?;
    Some(Process {
        pid: line.pid,
        parent: line.parent,
        user: line.user,
        state: line.state,
        cpu_time: Duration::from_millis(line.cpu_millis),
        memory_bytes: line.memory_bytes,
        age: Duration::from_millis(line.age_millis),
        command: String::from_utf8_lossy(&line.command).into_owned(),
    })
}

/// Measures the files of the work directory.
pub(super) async fn size(guests: &Guests, id: &SandboxId, work_dir: &SandboxPath) -> Result<u64> {
    let call = Call::Size(work_dir.as_bytes().to_vec());
    let text = guests.output(id, &call).await?;
    let bytes = String::from_utf8_lossy(&text).trim().parse();
    bytes.map_err(|_| EngineError::internal("the guest gave no size"))
}

/// Adds what is newer than the sandbox in its work directory and `/tmp`.
pub(super) async fn add_changes(
    guests: &Guests,
    id: &SandboxId,
    work_dir: &SandboxPath,
    changes: &mut Changes,
) -> Result<()> {
    let call = Call::Changes {
        most: Changes::MOST as u64,
        roots: vec![work_dir.as_bytes().to_vec(), b"/tmp".to_vec()],
    };
    let lines = guests.output(id, &call).await?;
    for line in String::from_utf8_lossy(&lines).lines() {
        match ChangeLine::parse(line) {
            Some(ChangeLine::More(count)) => changes.left_out += count,
            Some(file) => changes.files.extend(change(file)),
            None => {}
        }
    }
    changes.looked_at.push(work_dir.to_string());
    changes.looked_at.push("/tmp".to_owned());
    changes.gaps.push(format!(
        "files that came with the image are not missed in {work_dir} if they were deleted there"
    ));
    Ok(())
}

fn change(line: ChangeLine) -> Option<Change> {
    let ChangeLine::File {
        is_new,
        kind,
        size,
        seconds,
        path,
    } = line
    else {
        return None;
    };
    Some(Change {
        path: SandboxPath::parse(&path).ok()?,
        kind: if is_new {
            ChangeKind::Added
        } else {
            ChangeKind::Changed
        },
        now: Some(ChangedFile {
            kind: file_kind(kind, Vec::new()),
            size,
            modified_at: DateTime::from_timestamp(seconds, 0)?,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_guest_are_read() {
        let found =
            process("12 1 S 1500 60000 4096 no%20body python3%20-c%20x").expect("a process");
        assert_eq!((found.pid, found.parent, found.state), (12, 1, 'S'));
        assert_eq!(
            (found.user.as_str(), found.command.as_str()),
            ("no body", "python3 -c x")
        );
        assert_eq!(found.cpu_time, Duration::from_millis(1500));
        assert_eq!(process("12 1 S"), None);
        let line = ChangeLine::parse("C l 3 100 /workspace/a%0ab").expect("a line");
        let change = change(line).expect("a change");
        assert_eq!(change.path.as_bytes(), b"/workspace/a\nb");
        assert_eq!(change.kind, ChangeKind::Changed);
    }
}
