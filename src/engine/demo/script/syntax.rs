//! What a script is made of.

/// A chain of pipelines, in the foreground or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) chain: Vec<(Link, Vec<Simple>)>,
    pub(super) background: bool,
}

/// When a pipeline of a chain runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Always,
    And,
    Or,
}

/// One command with its redirections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
}

/// Pieces that make one word.
pub(super) type Word = Vec<Piece>;

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Quoted(String),
    Variable(String),
    QuotedVariable(String),
}

/// Where a stream goes instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Redirect {
    From(Word),
    To { fd: u8, file: Word },
    Append { fd: u8, file: Word },
    Same { fd: u8, as_fd: u8 },
}
