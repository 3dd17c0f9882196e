//! What a pane or an overlay wants from the rest of the program: it knows nothing of channels, the screen or its neighbours.

mod prompt;
mod reply_to;
mod run_options;

use crate::app::geometry::column::Column;
use crate::app::msg::Effect;
use crate::code::Language;
use crate::domain::{Run, SandboxPath, SandboxRef, SandboxSpec, StreamId};
use crate::keymap::Action;
use crate::protocol::Command;

pub use prompt::{Prompt, PromptKind};
pub use reply_to::{Expect, FilesReply, InspectPart, ReplyTo, RunsOf, Save, Work};
pub use run_options::{ProgramRun, RunOptions, Target};

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

/// Something that the app is asked to do; `apply_intents` does it.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Send a command to the manager; `label` names it while it is under way, such as "stopping py".
    Submit {
        /// What.
        command: Command,
        /// In words; empty if it is not worth showing.
        label: String,
        /// Who takes the reply.
        reply_to: ReplyTo,
    },
    /// Send work on files to the manager, a few at a time.
    FileWork {
        /// What.
        command: Command,
        /// In words.
        label: String,
    },
    /// Have the shell around the core do something.
    Effect(Effect),
    /// Do what a key would do.
    Perform(Action),
    /// Show a short message.
    Toast(Tone, String),
    /// Put text on the clipboard, if it is not too much.
    Copy(String),
    /// Ask for a line of text; the answer comes back as [`Intent::Answer`].
    Ask(Prompt),
    /// Take the answer to a prompt.
    Answer(PromptKind, String),
    /// Take what was typed into a prompt so far.
    AnswerSoFar(PromptKind, String),
    /// Ask for a yes before doing what `then` says; the default is no.
    Confirm {
        /// The question, which names the target and what is lost.
        question: String,
        /// The word on the button that does it.
        button: String,
        /// What to do on yes.
        then: Vec<Intent>,
    },
    /// Remember which sandboxes are paused all at once, so that these and no others are resumed all at once.
    RememberPaused(Vec<SandboxRef>),
    /// Make a sandbox.
    Create(Box<SandboxSpec>),
    /// Show or hide a column of the list.
    ToggleColumn(Column),
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
    /// Load a file of a sandbox into the editor; the answer comes to `EditorState::loaded`.
    EditFile {
        /// Where.
        sandbox: SandboxRef,
        /// Which file.
        path: SandboxPath,
    },
    /// Open a text as a buffer of the editor.
    EditText {
        /// What it is called.
        name: String,
        /// The text.
        text: String,
    },
    /// End a shell and close it.
    CloseShell(StreamId),
    /// Close the editor's current buffer.
    CloseBuffer,
    /// Ask how code is to run, and run it so.
    AskHowToRun {
        /// The code.
        code: String,
        /// Its language.
        language: Language,
    },
    /// Check code and run it, as far as the policy allows.
    Run {
        /// The code.
        code: String,
        /// Its language.
        language: Language,
        /// How.
        options: Box<RunOptions>,
    },
    /// Run a program that a person has agreed to.
    Prepare(Box<ProgramRun>),
    /// Start the next form of a run with what was typed into this one.
    RememberRunForm(Vec<String>),
    /// Show what a recorded run printed.
    ShowRun(Box<Run>),
    /// Run the same once more in the same sandbox.
    RunAgain(Box<Run>),
    /// Compare what two recorded runs printed, the older one first.
    CompareRuns(Box<[Run; 2]>),
}

impl Intent {
    /// Sends a command whose success needs no word.
    #[must_use]
    pub fn submit(command: Command, label: impl Into<String>, reply_to: ReplyTo) -> Self {
        let label = label.into();
        Self::Submit {
            command,
            label,
            reply_to,
        }
    }
}
