//! What a pane wants from the rest of the program: panes know nothing of channels, overlays or each other.

use std::path::PathBuf;

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::app::overlays::run_form::RunOptions;
use crate::app::overlays::snippets::SnippetOp;
use crate::app::panes::files::Download;
use crate::code::Language;
use crate::domain::{SandboxPath, SandboxRef, StreamId};
use crate::protocol::Command;

/// How a short message looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It went well.
    Good,
    /// Just so you know.
    Plain,
    /// Look here.
    Bad,
}

/// Something a pane asks the app to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Send a command to the manager; `label` names it while it is under way, such as "stopping py".
    Submit {
        /// What.
        command: Command,
        /// In words.
        label: String,
    },
    /// Show a short message.
    Toast(Tone, String),
    /// Put text on the clipboard.
    Copy(String),
    /// Ask for a line of text; the answer comes back to the pane's `answer`.
    Ask(Question),
    /// Ask for a yes before doing what `then` says; the default is no.
    Confirm {
        /// The question, which names the target and what is lost.
        question: String,
        /// The word on the button that does it.
        button: String,
        /// What to do on yes.
        then: Vec<Intent>,
    },
    /// Write bytes to a file of this machine.
    SaveLocal {
        /// Where, as a person writes it.
        path: String,
        /// What.
        bytes: Bytes,
        /// May a file that is there be replaced?
        replace: bool,
    },
    /// Copy files of a sandbox to this machine, if nothing is in the way or a person agrees.
    Download(Box<Download>),
    /// List a folder of this machine; the answer comes to `FilesState::host_listed`.
    ListHost(PathBuf),
    /// List a folder; the answer comes to `FilesState::listed`.
    List {
        /// Where.
        sandbox: SandboxRef,
        /// Which folder.
        path: SandboxPath,
    },
    /// Tell what has changed; the answer comes to `FilesState::changes_listed`.
    Changes {
        /// Where.
        sandbox: SandboxRef,
    },
    /// Read the start of a file; the answer comes to `FilesState::previewed`.
    Preview {
        /// Where.
        sandbox: SandboxRef,
        /// Which file.
        path: SandboxPath,
    },
    /// Write a buffer into a sandbox; the answer comes to `EditorState::saved`.
    SaveFile {
        /// Where; `None` is the selected sandbox.
        sandbox: Option<SandboxRef>,
        /// Which file.
        path: SandboxPath,
        /// The content.
        text: String,
        /// What must be there now; anything else is a conflict to be asked about.
        expect: Expect,
    },
    /// Run code in the selected sandbox.
    Run {
        /// The code.
        code: String,
        /// Its language.
        language: Language,
    },
    /// Ask how code is to run, and run it so.
    RunForm {
        /// The code.
        code: String,
        /// Its language.
        language: Language,
    },
    /// Run code that a person has agreed to.
    RunChecked {
        /// The code.
        code: String,
        /// Its language.
        language: Language,
        /// How.
        options: Box<RunOptions>,
    },
    /// Load a file of a sandbox into the editor; the answer comes to `EditorState::loaded`.
    EditFile {
        /// Where.
        sandbox: SandboxRef,
        /// Which file.
        path: SandboxPath,
    },
    /// Show the stream's run in the output pane and go there.
    ShowRun(StreamId),
    /// Work on the snippets.
    Snippet(SnippetOp),
    /// Close the pane's own view, shell or overlay.
    Close,
    /// End the program.
    Quit,
}

/// What must be at a path before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Whatever it is, it is replaced.
    Anything,
    /// Nothing.
    Nothing,
    /// A file that was last changed then.
    Unchanged(DateTime<Utc>),
}

impl Expect {
    /// Expects a file as it is known; one of which nothing is known may be as it likes.
    #[must_use]
    pub fn of(known: Option<DateTime<Utc>>) -> Self {
        known.map_or(Self::Anything, Self::Unchanged)
    }
}

/// A line of text that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What it is for; the pane that asked recognises it.
    pub purpose: PromptKind,
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
