//! Writes a plan step by step: what is shown in a sandbox's root, and where.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::guest::wire::plan::{NODEV, NOSUID, Plan, READ_ONLY, Step};

/// How programs of an image are shown.
pub(super) const READ_ONLY_TREE: u64 = READ_ONLY | NOSUID | NODEV;
/// What the smallest file with something in it takes.
const PAGE: u64 = 4096;
/// Names that even the smallest memory has.
const LEAST_NAMES: u64 = 1024;

/// A plan being written.
#[derive(Debug, Default)]
pub(super) struct PlanBuilder(pub(super) Plan);

impl PlanBuilder {
    /// Shows a file or folder of the host.
    pub(super) fn tree(&mut self, source: &Path, target: &Path, flags: u64) {
        self.0.steps.push(Step::Tree {
            source: bytes(source),
            target: bytes(target),
            flags,
            follows_links: true,
        });
    }

    /// Shows a file or folder of the host that programs might exchange for a link.
    pub(super) fn tree_without_links(&mut self, source: &Path, target: &Path, flags: u64) {
        self.0.steps.push(Step::Tree {
            source: bytes(source),
            target: bytes(target),
            flags,
            follows_links: false,
        });
    }

    /// Makes a link.
    pub(super) fn link(&mut self, text: &Path, target: &Path) {
        self.0.steps.push(Step::Link {
            text: bytes(text),
            target: bytes(target),
        });
    }

    /// Makes a folder.
    pub(super) fn folder(&mut self, target: &Path, mode: u32) {
        self.0.steps.push(Step::Folder {
            target: bytes(target),
            mode,
        });
    }

    pub(super) fn file(&mut self, target: &str, content: &str) {
        self.0.steps.push(Step::File {
            target: target.into(),
            content: content.into(),
        });
    }

    /// Makes a mount read-only that is complete.
    pub(super) fn seal(&mut self, target: &str) {
        self.0.steps.push(Step::Seal(target.into()));
    }

    /// Puts files in memory there, of at most so many bytes. Names cost memory of the kernel's own, which no size limits: so
    /// there are as many as there could be files with something in them.
    pub(super) fn memory(&mut self, target: &str, flags: u64, mode: u32, bytes: u64) {
        let names = (bytes / PAGE).max(LEAST_NAMES);
        let options = format!("mode={mode:04o},size={bytes},nr_inodes={names}");
        self.mount("tmpfs", target, flags, &options);
    }

    pub(super) fn mount(&mut self, kind: &str, target: &str, flags: u64, options: &str) {
        self.0.steps.push(Step::New {
            kind: kind.to_owned(),
            target: target.into(),
            flags,
            options: options.to_owned(),
        });
    }
}

/// Returns the bytes of a path.
pub(super) fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}
