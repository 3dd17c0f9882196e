//! The plan of a sandbox: what to mount, whom to become, which limits to join. All policy is with the engine, which writes it;
//! the keeper only carries it out.

use super::words::{LineReader, LineWriter};

/// Mounts: reading only. These four are the kernel's numbers.
pub const READ_ONLY: u64 = 1;
/// Mounts: no set-user-id programs.
pub const NOSUID: u64 = 2;
/// Mounts: no devices.
pub const NODEV: u64 = 4;
/// Mounts: no programs.
pub const NOEXEC: u64 = 8;

/// What the name of a socket without a file starts with that is outside of the sandbox's domain; attempts to reach it must fail.
pub const OUTSIDE_SOCKET: &str = "sandtop-outside-";

/// Whom the sandbox's users are outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// A block of 65536 numbers of its own, which only root can give.
    Block(u32),
    /// One user and one group inside, which are us outside.
    Single(u32, u32),
}

/// One step of building the root; paths are inside the sandbox unless called source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A file or folder of the host.
    Tree {
        /// Where it is outside.
        source: Vec<u8>,
        /// Where it is shown.
        target: Vec<u8>,
        /// How it is mounted.
        flags: u64,
        /// Whether links on the way to it are followed.
        follows_links: bool,
    },
    /// A file system in memory, or of another kind without a source.
    New {
        /// The kernel's name of the kind.
        kind: String,
        /// Where it is mounted.
        target: Vec<u8>,
        /// How.
        flags: u64,
        /// Options of its own.
        options: String,
    },
    /// A symbolic link.
    Link {
        /// What it says.
        text: Vec<u8>,
        /// Where it is.
        target: Vec<u8>,
    },
    /// An empty folder.
    Folder {
        /// Where it is.
        target: Vec<u8>,
        /// Its permission bits.
        mode: u32,
    },
    /// A file with content.
    File {
        /// Where it is.
        target: Vec<u8>,
        /// What is in it.
        content: Vec<u8>,
    },
    /// Something of the kernel that nobody inside may see.
    Hide(Vec<u8>),
    /// A mount that is complete, and read-only from now on.
    Seal(Vec<u8>),
    /// A part of a mount that is read-only.
    Protect(Vec<u8>),
}

/// How cgroups pause: a file, and what is written into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freezer {
    /// The file.
    pub file: Vec<u8>,
    /// Pauses.
    pub on: Vec<u8>,
    /// Resumes.
    pub off: Vec<u8>,
}

/// A memory limit that no cgroup enforces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryWatch {
    /// Most bytes.
    pub limit: u64,
    /// Where kills are counted, for the guests to see.
    pub counter: Vec<u8>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The sandbox's name, which is also its machine's.
    pub name: Vec<u8>,
    /// Its id.
    pub id: Vec<u8>,
    /// Whom its users are.
    pub ids: Ids,
    /// A network of its own, which leads nowhere, or the host's.
    pub own_network: bool,
    /// How its root is built, in this order.
    pub steps: Vec<Step>,
    /// Folders of cgroups to join.
    pub cgroups: Vec<Vec<u8>>,
    /// How to pause, if not by signals.
    pub freezer: Option<Freezer>,
    /// Limits of each process: the kernel's number of the resource, and the most of it.
    pub limits: Vec<(i32, u64)>,
    /// How many processors to use.
    pub processors: Option<usize>,
    /// Memory to watch.
    pub watch: Option<MemoryWatch>,
    /// The filter of system calls.
    pub filter: Vec<u8>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
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
        }
    }
}

const NAME: &str = "name";
const ID: &str = "id";
const BLOCK: &str = "block";
const SINGLE: &str = "single";
const HOST_NETWORK: &str = "host-network";
const CGROUP: &str = "cgroup";
const FREEZER: &str = "freezer";
const LIMIT: &str = "limit";
const PROCESSORS: &str = "processors";
const WATCH: &str = "watch";
const FILTER: &str = "filter";
const END: &str = "end";

impl Plan {
    /// Tells whether memory of sockets is watched, too: with the host's network they would be everybody's.
    #[must_use]
    pub fn counts_sockets(&self) -> bool {
        self.watch.is_some() && self.own_network
    }

    /// Writes it, a line each and a last one that says so.
    #[must_use]
    pub fn encode(&self) -> String {
        let line = LineWriter::new;
        let mut lines = vec![line(NAME).word(&self.name), line(ID).word(&self.id)];
        lines.push(match self.ids {
            Ids::Block(base) => line(BLOCK).number(base),
            Ids::Single(uid, gid) => line(SINGLE).number(uid).number(gid),
        });
        lines.extend((!self.own_network).then(|| line(HOST_NETWORK)));
        lines.extend(self.cgroups.iter().map(|folder| line(CGROUP).word(folder)));
        let freezer = |f: &Freezer| line(FREEZER).word(&f.file).word(&f.on).word(&f.off);
        lines.extend(self.freezer.as_ref().map(freezer));
        let limit = |(resource, most): &(i32, u64)| line(LIMIT).number(resource).number(most);
        lines.extend(self.limits.iter().map(limit));
        lines.extend(self.processors.map(|count| line(PROCESSORS).number(count)));
        let watch = |w: &MemoryWatch| line(WATCH).number(w.limit).word(&w.counter);
        lines.extend(self.watch.as_ref().map(watch));
        lines.extend(self.steps.iter().map(Step::encode));
        lines.push(line(FILTER).word(&self.filter));
        lines.push(line(END));
        let lines = lines.into_iter().map(|line| line.line() + "\n");
        lines.collect()
    }

    /// Reads it; one that was cut off is refused. The error is a sentence for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut plan = Self::default();
        let mut complete = false;
        for line in text.lines() {
            complete = line == END;
            let taken = plan.take(LineReader::new(line));
            taken.ok_or_else(|| format!("the plan holds `{line}`"))?;
        }
        if complete {
            Ok(plan)
        } else {
            Err("the plan was cut off".to_owned())
        }
    }

    fn take(&mut self, mut words: LineReader<'_>) -> Option<()> {
        match words.text()?.as_str() {
            END => {}
            NAME => self.name = words.bytes()?,
            ID => self.id = words.bytes()?,
            BLOCK => self.ids = Ids::Block(words.number()?),
            SINGLE => self.ids = Ids::Single(words.number()?, words.number()?),
            HOST_NETWORK => self.own_network = false,
            CGROUP => self.cgroups.push(words.bytes()?),
            FREEZER => {
                self.freezer = Some(Freezer {
                    file: words.bytes()?,
                    on: words.bytes()?,
                    off: words.bytes()?,
                });
            }
            LIMIT => self.limits.push((words.number()?, words.number()?)),
            PROCESSORS => self.processors = Some(words.number()?),
            WATCH => {
                self.watch = Some(MemoryWatch {
                    limit: words.number()?,
                    counter: words.bytes()?,
                });
            }
            FILTER => self.filter = words.bytes()?,
            verb => self.steps.push(Step::parse(verb, words)?),
        }
        Some(())
    }
}

impl Step {
    const TREE: &'static str = "tree";
    const NEW: &'static str = "new";
    const LINK: &'static str = "link";
    const FOLDER: &'static str = "folder";
    const FILE: &'static str = "file";
    const HIDE: &'static str = "hide";
    const SEAL: &'static str = "seal";
    const PROTECT: &'static str = "protect";

    fn encode(&self) -> LineWriter {
        let line = LineWriter::new;
        match self {
            Self::Tree {
                source,
                target,
                flags,
                follows_links,
            } => {
                let line = line(Self::TREE).word(source).word(target);
                line.number(flags).number(u8::from(*follows_links))
            }
            Self::New {
                kind,
                target,
                flags,
                options,
            } => {
                let line = line(Self::NEW).word(kind).word(target);
                line.number(flags).word(options)
            }
            Self::Link { text, target } => line(Self::LINK).word(text).word(target),
            Self::Folder { target, mode } => line(Self::FOLDER).word(target).number(mode),
            Self::File { target, content } => line(Self::FILE).word(target).word(content),
            Self::Hide(target) => line(Self::HIDE).word(target),
            Self::Seal(target) => line(Self::SEAL).word(target),
            Self::Protect(target) => line(Self::PROTECT).word(target),
        }
    }

    fn parse(verb: &str, mut words: LineReader<'_>) -> Option<Self> {
        Some(match verb {
            Self::TREE => Self::Tree {
                source: words.bytes()?,
                target: words.bytes()?,
                flags: words.number()?,
                follows_links: words.number::<u8>()? != 0,
            },
            Self::NEW => Self::New {
                kind: words.text()?,
                target: words.bytes()?,
                flags: words.number()?,
                options: words.text()?,
            },
            Self::LINK => Self::Link {
                text: words.bytes()?,
                target: words.bytes()?,
            },
            Self::FOLDER => Self::Folder {
                target: words.bytes()?,
                mode: words.number()?,
            },
            Self::FILE => Self::File {
                target: words.bytes()?,
                content: words.bytes()?,
            },
            Self::HIDE => Self::Hide(words.bytes()?),
            Self::SEAL => Self::Seal(words.bytes()?),
            Self::PROTECT => Self::Protect(words.bytes()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;
