//! Work on the library of snippets, done outside of the core.

/// Work on the library, done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnippetOp {
    /// List the names.
    List,
    /// Keep a text.
    Keep {
        /// Its name.
        name: String,
        /// The text.
        text: String,
        /// May one of that name be replaced?
        replace: bool,
    },
    /// Read one.
    Open(String),
    /// Call one otherwise.
    Rename {
        /// From.
        from: String,
        /// To.
        to: String,
    },
    /// Delete one.
    Delete(String),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnippetNews {
    /// The names, sorted.
    Listed(Vec<String>),
    /// One was read.
    Opened {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
    },
    /// One was not kept, because there is one of its name.
    Exists {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
    },
    /// One was kept.
    Kept(String),
    /// Something else was changed; these are the names now.
    Changed(Vec<String>),
    /// It failed, in words.
    Failed(String),
}
