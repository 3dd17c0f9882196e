//! Looks at a sandbox from inside: its processes, and files that are newer than the sandbox.

use std::time::Duration;

use chrono::DateTime;

use super::Guests;
use crate::domain::{
    Change, ChangeKind, ChangedFile, Changes, FileKind, Process, SandboxId, SandboxPath,
};
use crate::engine::{EngineError, Result};
use crate::guest::wire;

/// Lists processes as they are seen inside.
pub(super) async fn processes(guests: &Guests, id: &SandboxId) -> Result<Vec<Process>> {
    let lines = guests.output(id, vec!["top".to_owned()]).await?;
    let lines = String::from_utf8_lossy(&lines);
    let mut found: Vec<Process> = lines.lines().filter_map(process).collect();
    found.sort_by_key(|process| process.pid);
    Ok(found)
}

fn process(line: &str) -> Option<Process> {
    let mut fields = line.split(' ');
    let number = |field: Option<&str>| field?.parse::<u64>().ok();
    let (pid, parent) = (number(fields.next())?, number(fields.next())?);
    let state = fields.next()?.chars().next()?;
    let cpu_time = Duration::from_millis(number(fields.next())?);
    let age = Duration::from_millis(number(fields.next())?);
    let memory_bytes = number(fields.next())?;
    let text = |word: &str| String::from_utf8_lossy(&wire::unescape(word)).into_owned();
    Some(Process {
        pid: u32::try_from(pid).ok()?,
        parent: u32::try_from(parent).ok()?,
        user: text(fields.next()?),
        state,
        cpu_time,
        memory_bytes,
        age,
        command: text(fields.next()?),
    })
}

/// Measures the files of the work directory.
pub(super) async fn size(guests: &Guests, id: &SandboxId, work_dir: &SandboxPath) -> Result<u64> {
    let words = vec!["size".to_owned(), wire::escape(work_dir.as_bytes())];
    let text = guests.output(id, words).await?;
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
    let words = vec![
        "changes".to_owned(),
        Changes::MOST.to_string(),
        wire::escape(work_dir.as_bytes()),
        "/tmp".to_owned(),
    ];
    let lines = guests.output(id, words).await?;
    for line in String::from_utf8_lossy(&lines).lines() {
        match line.strip_prefix("more ") {
            Some(count) => changes.left_out += count.parse::<u64>().unwrap_or(0),
            None => changes.files.extend(own(line)),
        }
    }
    changes.looked_at.push(work_dir.to_string());
    changes.looked_at.push("/tmp".to_owned());
    changes.gaps.push(format!(
        "files that came with the image are not missed in {work_dir} if they were deleted there"
    ));
    Ok(())
}

fn own(line: &str) -> Option<Change> {
    let mut fields = line.split(' ');
    let kind = match fields.next()? {
        "A" => ChangeKind::Added,
        _ => ChangeKind::Changed,
    };
    let file = match fields.next()? {
        "f" => FileKind::File,
        "d" => FileKind::Directory,
        "l" => FileKind::Symlink { target: Vec::new() },
        _ => FileKind::Special,
    };
    let size = fields.next()?.parse().ok()?;
    let modified_at = DateTime::from_timestamp(fields.next()?.parse().ok()?, 0)?;
    Some(Change {
        path: SandboxPath::parse(&wire::unescape(fields.next()?)).ok()?,
        kind,
        now: Some(ChangedFile {
            kind: file,
            size,
            modified_at,
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
        let change = own("C l 3 100 /workspace/a%0ab").expect("a change");
        assert_eq!(change.path.as_bytes(), b"/workspace/a\nb");
        assert_eq!(change.kind, ChangeKind::Changed);
        assert_eq!(own("A f x y z"), None);
    }
}
