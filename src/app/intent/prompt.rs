//! Lines of text that a person is asked for.

use crate::domain::SandboxPath;

/// A line of text that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What it is for; the pane that asked recognises it.
    pub kind: PromptKind,
    /// What is shown before the line.
    pub label: String,
    /// What the line starts with.
    pub start: String,
}

/// What an asked-for line is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptKind {
    /// Filter of the sandbox list.
    FilterSandboxes,
    /// Filter of the files.
    FilterFiles,
    /// Search in the output.
    SearchOutput,
    /// File to save the output to.
    SaveOutput,
    /// Line for a running program.
    SendInput,
    /// Search in the editor.
    FindInEditor,
    /// Text to replace in the editor; the next question asks by what.
    ReplaceInEditor,
    /// What to replace it by.
    ReplaceBy {
        /// What is replaced.
        what: String,
    },
    /// Path to save a buffer under.
    SaveBufferAs,
    /// Name under which a buffer is kept as a snippet.
    KeepSnippet,
    /// New name of a snippet.
    RenameSnippet {
        /// Its name.
        from: String,
    },
    /// Language of a buffer.
    Language,
    /// Name of a new file.
    NewFile,
    /// Name of a new folder.
    NewFolder,
    /// New name of a file.
    RenameFile {
        /// Its path.
        path: SandboxPath,
    },
    /// Host path to copy from.
    Upload,
    /// Host path to copy to.
    Download,
}

impl PromptKind {
    /// Tells whether a path of this machine is asked for.
    #[must_use]
    pub fn is_host_path(&self) -> bool {
        matches!(self, Self::Upload | Self::Download | Self::SaveOutput)
    }
}
