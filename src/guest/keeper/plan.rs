//! The plan of a sandbox, as sandtop writes it: what to mount, whom to become, which limits to join. All policy is there; this
//! side only carries it out.

use std::io;

use crate::wire;

/// Whom the sandbox's users are outside of it.
#[derive(Clone, Copy)]
pub(crate) enum Ids {
    /// A block of 65536 numbers of its own, which only root can give.
    Block(u32),
    /// One user and one group inside, which are us outside.
    Single(u32, u32),
}

/// One step of building the root; paths are inside the sandbox unless called source.
pub(crate) enum Step {
    /// A file or folder of the host.
    Tree {
        source: Vec<u8>,
        target: Vec<u8>,
        flags: u64,
    },
    /// A file system in memory, or of another kind without a source.
    New {
        kind: String,
        target: Vec<u8>,
        flags: u64,
        options: String,
    },
    /// A symbolic link.
    Link { text: Vec<u8>, target: Vec<u8> },
    /// An empty folder.
    Folder { target: Vec<u8>, mode: u32 },
    /// A file with content.
    File { target: Vec<u8>, content: Vec<u8> },
    /// Something of the kernel that nobody inside may see.
    Hide(Vec<u8>),
    /// A mount that is complete, and read-only from now on.
    Seal(Vec<u8>),
    /// A part of a mount that is read-only.
    Protect(Vec<u8>),
}

/// How to freeze: write the first text into the file, or the second to thaw.
pub(crate) struct Freezer {
    pub(crate) file: Vec<u8>,
    pub(crate) on: Vec<u8>,
    pub(crate) off: Vec<u8>,
}

/// A memory limit that no cgroup enforces.
pub(crate) struct Watch {
    pub(crate) limit: u64,
    /// Where kills are counted, for the guests to see.
    pub(crate) counter: Vec<u8>,
}

/// All of it.
pub(crate) struct Plan {
    pub(crate) name: Vec<u8>,
    pub(crate) id: Vec<u8>,
    pub(crate) ids: Ids,
    pub(crate) own_network: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) cgroups: Vec<Vec<u8>>,
    pub(crate) freezer: Option<Freezer>,
    pub(crate) limits: Vec<(i32, u64)>,
    pub(crate) processors: Option<usize>,
    pub(crate) watch: Option<Watch>,
    pub(crate) filter: Vec<u8>,
}

impl Plan {
    /// Reads a plan; one that was cut off is refused.
    pub(crate) fn read(text: &str) -> io::Result<Self> {
        let mut plan = Self {
            name: Vec::new(),
            id: Vec::new(),
            ids: Ids::Single(0, 0),
            own_network: true,
            steps: Vec::new(),
            cgroups: Vec::new(),
            freezer: None,
            limits: Vec::new(),
            processors: None,
            watch: None,
            filter: Vec::new(),
        };
        let mut complete = false;
        for line in text.lines() {
            let words = words(line);
            complete = line == "end";
            plan.take(&words)
                .ok_or_else(|| io::Error::other(format!("the plan holds `{line}`")))?;
        }
        if complete {
            Ok(plan)
        } else {
            Err(io::Error::other("the plan was cut off"))
        }
    }

    fn take(&mut self, words: &[Vec<u8>]) -> Option<()> {
        let (verb, rest) = words.split_first()?;
        let at = |index: usize| rest.get(index).cloned();
        match verb.as_slice() {
            b"end" => {}
            b"name" => self.name = at(0)?,
            b"id" => self.id = at(0)?,
            b"block" => self.ids = Ids::Block(number(rest, 0)?),
            b"single" => self.ids = Ids::Single(number(rest, 0)?, number(rest, 1)?),
            b"host-network" => self.own_network = false,
            b"cgroup" => self.cgroups.push(at(0)?),
            b"freezer" => {
                self.freezer = Some(Freezer {
                    file: at(0)?,
                    on: at(1)?,
                    off: at(2)?,
                });
            }
            b"limit" => self.limits.push((number(rest, 0)?, number(rest, 1)?)),
            b"processors" => self.processors = Some(number(rest, 0)?),
            b"watch" => {
                self.watch = Some(Watch {
                    limit: number(rest, 0)?,
                    counter: at(1)?,
                });
            }
            b"filter" => self.filter = at(0)?,
            _ => self.steps.push(step(verb, rest)?),
        }
        Some(())
    }
}

fn step(verb: &[u8], rest: &[Vec<u8>]) -> Option<Step> {
    let at = |index: usize| rest.get(index).cloned();
    Some(match verb {
        b"tree" => Step::Tree {
            source: at(0)?,
            target: at(1)?,
            flags: number(rest, 2)?,
        },
        b"new" => Step::New {
            kind: String::from_utf8(at(0)?).ok()?,
            target: at(1)?,
            flags: number(rest, 2)?,
            options: String::from_utf8(at(3)?).ok()?,
        },
        b"link" => Step::Link {
            text: at(0)?,
            target: at(1)?,
        },
        b"folder" => Step::Folder {
            target: at(0)?,
            mode: number(rest, 1)?,
        },
        b"file" => Step::File {
            target: at(0)?,
            content: at(1)?,
        },
        b"hide" => Step::Hide(at(0)?),
        b"seal" => Step::Seal(at(0)?),
        b"protect" => Step::Protect(at(0)?),
        _ => return None,
    })
}

/// Splits a line into words of any bytes.
pub(crate) fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(wire::unescape).collect()
}

/// Reads a word as a number.
pub(crate) fn number<T: std::str::FromStr>(words: &[Vec<u8>], index: usize) -> Option<T> {
    std::str::from_utf8(words.get(index)?).ok()?.parse().ok()
}
