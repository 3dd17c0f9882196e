//! What a person can want: one word and one sentence for each, used by keys, footer, help and palette alike.

/// Declares the actions with their words, sentences and whether they change something.
macro_rules! actions {
    ($($name:ident $word:literal $effect:ident $sentence:literal;)*) => {
        /// Something a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $(#[doc = $sentence] $name,)*
        }

        impl Action {
            /// All actions.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the word used in keymaps, palette and log.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Returns what it does, for help and palette.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence,)* }
            }

            /// Tells whether it changes a sandbox or runs something in one; read-only mode leaves these out.
            #[must_use]
            pub fn mutates(self) -> bool {
                match self { $(Self::$name => actions!(@mutates $effect),)* }
            }
        }
    };
    (@mutates looks) => { false };
    (@mutates changes) => { true };
}

actions! {
    Help "help" looks "Show all keys";
    Palette "palette" looks "Find any action by its name";
    FocusSandboxes "focus-sandboxes" looks "Go to the sandboxes";
    FocusEditor "focus-editor" looks "Go to the editor";
    FocusOutput "focus-output" looks "Go to the output";
    FocusFiles "focus-files" looks "Go to the files";
    NextPane "next-pane" looks "Go to the next pane";
    PreviousPane "previous-pane" looks "Go to the pane before";
    Zoom "zoom" looks "Give the pane the whole screen, or back";
    SplitLeft "split-left" looks "Move the border between the panes to the left";
    SplitRight "split-right" looks "Move the border between the panes to the right";
    SplitUp "split-up" looks "Move the border above or below the pane up";
    SplitDown "split-down" looks "Move the border above or below the pane down";
    Refresh "refresh" looks "Ask the engine again";
    ToggleMouse "toggle-mouse" looks "Leave the mouse to the terminal, or take it back";
    ActionLog "action-log" looks "Show what was done";
    Events "events" looks "Show what happened to sandboxes";
    Suspend "suspend" looks "Go back to the shell for a while";
    Leave "leave" looks "Leave the editor or shell mode";
    Interrupt "interrupt" looks "Cancel what runs, else quit";
    Quit "quit" looks "Quit";
    Back "back" looks "Close, clear or go back";
    Up "up" looks "Up";
    Down "down" looks "Down";
    PageUp "page-up" looks "Page up";
    PageDown "page-down" looks "Page down";
    Top "top" looks "First";
    Bottom "bottom" looks "Last";
    Open "open" looks "Open";
    Filter "filter" looks "Filter or search";
    NextMatch "next-match" looks "Next match";
    PreviousMatch "previous-match" looks "Match before";
    Mark "mark" looks "Mark or unmark";
    InvertMarks "invert-marks" looks "Invert the marks";
    ClearMarks "clear-marks" looks "Unmark all";
    Copy "copy" looks "Copy";
    CopyAll "copy-all" looks "Copy all";
    Select "select" looks "Select lines, or stop";
    Create "create" changes "Create a sandbox";
    Shell "shell" changes "Open a shell";
    Start "start" changes "Start";
    Stop "stop" changes "Stop";
    PauseResume "pause-resume" changes "Pause or resume";
    PauseAll "freeze-all" changes "Pause all running sandboxes";
    ResumeAll "thaw-all" changes "Resume all paused sandboxes";
    Restart "restart" changes "Restart";
    Remove "remove" changes "Remove";
    Kill "kill" changes "Kill";
    Pin "pin" changes "Never reap it, or let it be reaped again";
    Reap "reap" looks "Show what reaping would remove, and why";
    History "history" looks "Show recorded runs";
    RunAgain "run-again" changes "Run it again";
    CompareRuns "compare-runs" looks "Compare the two marked runs";
    SortNext "sort-next" looks "Sort by the next column";
    SortReverse "sort-reverse" looks "Reverse sort order";
    Columns "columns" looks "Choose the columns";
    ToggleAll "toggle-all" looks "Show stopped ones too, or not";
    Inspect "inspect" looks "Show its details";
    Edit "edit" looks "Start typing";
    Run "run" changes "Run the buffer in the sandbox";
    RunOptions "run-options" changes "Run the buffer with options";
    Findings "findings" looks "Show findings and packages of the code";
    Cache "cache" looks "Show installed packages";
    Snippets "snippets" looks "Open a snippet or a first program";
    KeepSnippet "keep-snippet" looks "Keep the buffer as a snippet";
    Prune "prune" changes "Remove what is too old or too much";
    Save "save" changes "Save the buffer into the sandbox";
    Language "language" looks "Choose the language";
    ExternalEditor "external-editor" looks "Edit in $EDITOR";
    NewBuffer "new-buffer" looks "New buffer";
    CloseBuffer "close-buffer" looks "Close the buffer";
    NextTab "next-tab" looks "Next buffer, run or shell";
    PreviousTab "previous-tab" looks "Buffer, run or shell before";
    Undo "undo" looks "Undo";
    Redo "redo" looks "Redo";
    Find "find" looks "Find in the buffer";
    Replace "replace" looks "Find and replace";
    Follow "follow" looks "Follow the end, or stay";
    Wrap "wrap" looks "Wrap long lines, or cut them";
    Timestamps "timestamps" looks "Show times, or not";
    SaveOutput "save-output" looks "Save the output to a file";
    CancelRun "cancel-run" changes "Cancel the run";
    CloseRun "close-run" looks "Close the run";
    SendInput "send-input" changes "Send a line to the program";
    Ascend "ascend" looks "Go to the folder above";
    ToggleHidden "toggle-hidden" looks "Show hidden files, or not";
    EditFile "edit-file" looks "Open in the editor";
    NewFile "new-file" changes "New file";
    NewFolder "new-folder" changes "New folder";
    Rename "rename" changes "Rename";
    Delete "delete" changes "Delete";
    Upload "upload" changes "Copy from this machine";
    Download "download" looks "Copy to this machine";
    PreviewDown "preview-down" looks "Move the preview down";
    PreviewUp "preview-up" looks "Move the preview up";
    CancelCopy "cancel-copy" looks "Stop copying";
    Changes "changes" looks "Show what changed since creation, or the folder";
    GoWorkDir "go-work-dir" looks "Go to the work directory";
    Accept "accept" looks "Yes, or the chosen button";
    Refuse "refuse" looks "No";
    NextField "next-field" looks "Next field or button";
    PreviousField "previous-field" looks "Field or button before";
}

impl Action {
    /// Finds an action by its word.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|action| action.word() == word)
    }
}
