//! The verbs of the guest program: the first word of its command line.

/// What the guest is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Idles as the first process of a sandbox.
    Init,
    /// Makes a sandbox of the embedded engine and keeps it.
    Keeper,
    /// Runs a command.
    Exec,
    /// Ends an exec.
    Kill,
    /// Keeps the state of a session.
    Save,
    /// Lists a folder.
    List,
    /// Describes a file.
    Stat,
    /// Makes a folder.
    MakeDir,
    /// Renames a file.
    Rename,
    /// Deletes a file or folder.
    Delete,
    /// Prints a file.
    Read,
    /// Replaces a file.
    Write,
    /// Prints a tree of files.
    Pack,
    /// Makes a tree of files.
    Unpack,
    /// Keeps a name for a file that comes another way.
    Hold,
    /// Lists sessions.
    Sessions,
    /// Removes a session.
    Forget,
    /// Lists processes.
    Top,
    /// Lists changed files.
    Changes,
    /// Measures files.
    Size,
    /// Lists execs.
    Execs,
    /// Tells what the kernel grants.
    Probe,
    /// Tries ways out.
    Attempts,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 23] = [
        Self::Init,
        Self::Keeper,
        Self::Exec,
        Self::Kill,
        Self::Save,
        Self::List,
        Self::Stat,
        Self::MakeDir,
        Self::Rename,
        Self::Delete,
        Self::Read,
        Self::Write,
        Self::Pack,
        Self::Unpack,
        Self::Hold,
        Self::Sessions,
        Self::Forget,
        Self::Top,
        Self::Changes,
        Self::Size,
        Self::Execs,
        Self::Probe,
        Self::Attempts,
    ];

    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Keeper => "keeper",
            Self::Exec => "exec",
            Self::Kill => "kill",
            Self::Save => "save",
            Self::List => "list",
            Self::Stat => "stat",
            Self::MakeDir => "mkdir",
            Self::Rename => "rename",
            Self::Delete => "delete",
            Self::Read => "read",
            Self::Write => "write",
            Self::Pack => "pack",
            Self::Unpack => "unpack",
            Self::Hold => "hold",
            Self::Sessions => "sessions",
            Self::Forget => "forget",
            Self::Top => "top",
            Self::Changes => "changes",
            Self::Size => "size",
            Self::Execs => "execs",
            Self::Probe => "probe",
            Self::Attempts => "attempts",
        }
    }

    /// Finds the verb of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.word() == word)
    }

    /// Tells whether it changes nothing, so that it may run in a paused sandbox.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        match self {
            Self::List
            | Self::Stat
            | Self::Read
            | Self::Pack
            | Self::Top
            | Self::Changes
            | Self::Size
            | Self::Sessions
            | Self::Execs
            | Self::Probe => true,
            Self::Init
            | Self::Keeper
            | Self::Exec
            | Self::Kill
            | Self::Save
            | Self::MakeDir
            | Self::Rename
            | Self::Delete
            | Self::Write
            | Self::Unpack
            | Self::Hold
            | Self::Forget
            | Self::Attempts => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_word_of_its_own() {
        for verb in Verb::ALL {
            assert_eq!(Verb::parse(verb.word()), Some(verb));
        }
        assert_eq!(Verb::parse("freeze"), None);
        assert_eq!(Verb::parse(""), None);
    }

    #[test]
    fn what_writes_never_runs_in_a_paused_sandbox() {
        for verb in [
            Verb::Exec,
            Verb::Write,
            Verb::Unpack,
            Verb::Hold,
            Verb::Save,
        ] {
            assert!(!verb.is_read_only(), "{verb:?}");
        }
        assert!(Verb::Read.is_read_only() && Verb::Top.is_read_only());
    }
}
