//! Who the processes of a sandbox are: numbers inside, and the numbers that stand for them outside.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};

use super::image::ImageRoot;
use super::index::IndexEntry;
use super::record::SandboxRecord;
use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// Users that a block holds.
const BLOCK: u32 = 65_536;
/// The first block; beyond what systems give to people, services and other sandboxes.
const FIRST_BLOCK: u32 = 0x6000_0000;
/// How many blocks there are.
const BLOCKS: u32 = 20_000;

/// The longest list of users that is read.
const MOST_TEXT: u64 = 1 << 20;

/// Names that need no list.
const KNOWN: [(&str, u32); 3] = [("root", 0), ("nobody", 65_534), ("sandbox", 1000)];

/// Finds the numbers of a user given as `uid`, `uid:gid` or a name of the image.
pub(super) fn find(text: &str, image: &ImageRoot) -> Result<(u32, u32)> {
    let (name, group) = text.split_once(':').unwrap_or((text, ""));
    let unknown = || {
        EngineError::new(
            FailureKind::Invalid,
            format!("the image has no user `{text}`"),
        )
        .with_hint("give the user as uid:gid")
    };
    let (uid, own_group) = match name.parse() {
        Ok(uid) => (uid, uid),
        Err(_) => find_named(name, image).ok_or_else(unknown)?,
    };
    let gid = match group {
        "" => own_group,
        group => group.parse().map_err(|_| unknown())?,
    };
    if uid >= BLOCK || gid >= BLOCK {
        return Err(EngineError::new(
            FailureKind::Invalid,
            format!("the user {text} is out of range"),
        )
        .with_hint("users and groups of a sandbox have numbers from 0 to 65535"));
    }
    Ok((uid, gid))
}

fn find_named(name: &str, image: &ImageRoot) -> Option<(u32, u32)> {
    if let ImageRoot::Folder(root) = image {
        let users = text_inside(root, "etc/passwd")?;
        let mut lines = users.lines().map(|line| line.split(':'));
        let mut fields = lines.find_map(|mut line| (line.next()? == name).then_some(line))?;
        return Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?));
    }
    let known = KNOWN.iter().find(|(known, _)| *known == name)?;
    Some((known.1, known.1))
}

/// Reads a text of an image, whose links may say anything.
fn text_inside(root: &Path, name: &str) -> Option<String> {
    let root = File::open(root).ok()?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let file = rustix::fs::openat2(root, name, flags, Mode::empty(), inside).ok()?;
    let mut text = String::new();
    let read = File::from(file).take(MOST_TEXT).read_to_string(&mut text);
    read.is_ok().then_some(text)
}

/// Finds who a command runs as that names its user.
pub(super) fn of_exec(record: &SandboxRecord, user: &str, image: &ImageRoot) -> Result<(u32, u32)> {
    let asked = find(user, image)?;
    if asked != (record.uid, record.gid) && record.block.is_none() {
        return Err(EngineError::new(
            FailureKind::Unsupported,
            format!("running as {user}: a sandbox that was made without root has one user only"),
        )
        .with_hint("leave --user out, or give it when the sandbox is created"));
    }
    Ok(asked)
}

/// Returns who the sandbox's own user is outside.
pub(super) fn outside(record: &SandboxRecord) -> (u32, u32) {
    match record.block {
        Some(base) => (base + record.uid, base + record.gid),
        None => (
            rustix::process::geteuid().as_raw(),
            rustix::process::getegid().as_raw(),
        ),
    }
}

/// Gives a folder to the sandbox's user.
pub(super) fn give_to_user(record: &SandboxRecord, folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    match record.block {
        Some(base) => chown(folder, Some(base + record.uid), Some(base + record.gid)),
        None => Ok(()),
    }
}

/// Takes a block of users that no other sandbox here has; `None` if this process may not give any.
pub(super) fn free_block(others: &[IndexEntry]) -> Option<u32> {
    if !may_give_blocks() {
        return None;
    }
    let taken: Vec<u32> = others.iter().filter_map(|other| other.block).collect();
    let seed = RandomState::new().hash_one(others.len());
    let start = u32::try_from(seed % u64::from(BLOCKS)).unwrap_or(0);
    let candidates = (0..BLOCKS).map(|step| FIRST_BLOCK + (start + step) % BLOCKS * BLOCK);
    candidates.into_iter().find(|block| !taken.contains(block))
}

/// Tells whether this process is root where user numbers are the machine's own. Root of a smaller world is like anybody.
pub(super) fn may_give_blocks() -> bool {
    rustix::process::geteuid().is_root()
        && fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| covers_blocks(&map))
}

fn covers_blocks(map: &str) -> bool {
    let last = u64::from(FIRST_BLOCK) + u64::from(BLOCKS) * u64::from(BLOCK);
    map.lines().any(|line| {
        let numbers: Vec<u64> = line
            .split_whitespace()
            .filter_map(|n| n.parse().ok())
            .collect();
        matches!(numbers.as_slice(), [0, _, count] if *count >= last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_numbers_or_names() {
        let host = ImageRoot::Host;
        assert_eq!(find("1000:1001", &host).ok(), Some((1000, 1001)));
        assert_eq!(find("65534", &host).ok(), Some((65534, 65534)));
        assert_eq!(find("root", &host).ok(), Some((0, 0)));
        assert!(find("nobody-knows-me", &host).is_err());
        assert!(find("70000", &host).is_err());
    }

    #[test]
    fn blocks_need_the_whole_range() {
        assert!(covers_blocks("         0          0 4294967295\n"));
        assert!(!covers_blocks("         0     100000      65536\n"));
    }
}
