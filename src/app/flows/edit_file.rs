//! Files in the editor: previewed, loaded, saved, and never overwritten unasked.

use bytes::Bytes;
use chrono::{DateTime, Utc};

use super::navigate::focus;
use super::select::selected_running;
use crate::app::intent::{Expect, Intent, ReplyTo, Save};
use crate::app::transfers::{Collected, CollectedFile, EDITABLE, PREVIEW, Sent};
use crate::app::{AppState, Effect, Pane, Tone};
use crate::code::Language;
use crate::domain::{Ended, ExecEnd, FileEntry, FileKind, SandboxPath, SandboxRef, StreamId};
use crate::protocol::{Command, Failure, FailureKind, FileOp, Reply};
use crate::text::safe_line;

/// Reads the start of a file; while one is read, only the newest intent waits.
pub(crate) fn preview(state: &mut AppState, sandbox: SandboxRef, path: SandboxPath) -> Vec<Effect> {
    if state.transfers.previewing() {
        state.transfers.next_preview = Some((sandbox, path));
        return Vec::new();
    }
    let stream = state.pending.stream();
    state.transfers.collect(
        stream,
        PREVIEW,
        Collected::Preview(sandbox.clone(), path.clone()),
    );
    let command = Command::ReadFile {
        sandbox,
        stream,
        path,
        limit: Some(PREVIEW),
    };
    vec![state.submit(command, "", ReplyTo::Stream(stream))]
}

/// Loads a file into the editor: first its time of change, then its content.
pub(crate) fn load(state: &mut AppState, sandbox: SandboxRef, path: SandboxPath) -> Vec<Effect> {
    let command = Command::File {
        sandbox: sandbox.clone(),
        op: FileOp::Stat(path.clone()),
    };
    let label = format!("opening {path}");
    vec![state.submit(command, &label, ReplyTo::BeforeLoad(sandbox, path))]
}

/// Reads a file whose time of change is known.
pub(crate) fn load_content(
    state: &mut AppState,
    sandbox: SandboxRef,
    path: SandboxPath,
    known: Option<DateTime<Utc>>,
) -> Vec<Effect> {
    let stream = state.pending.stream();
    state.transfers.collect(
        stream,
        EDITABLE,
        Collected::Edit(sandbox.clone(), path.clone(), known),
    );
    let label = format!("opening {path}");
    let command = Command::ReadFile {
        sandbox,
        stream,
        path,
        limit: Some(EDITABLE),
    };
    vec![state.submit(command, &label, ReplyTo::Stream(stream))]
}

/// Saves a buffer: first a look whether somebody else has changed the file.
pub(crate) fn save(
    state: &mut AppState,
    sandbox: Option<SandboxRef>,
    path: SandboxPath,
    text: String,
    expect: Expect,
) -> Vec<Effect> {
    let sandbox = match sandbox {
        Some(sandbox) => sandbox,
        None => match selected_running(state) {
            Some(selected) => selected.reference,
            None => return Vec::new(),
        },
    };
    let label = format!("saving {path}");
    let save = Save {
        sandbox: sandbox.clone(),
        path: path.clone(),
        text,
        expect,
    };
    if expect == Expect::Anything {
        return write(state, save);
    }
    let command = Command::File {
        sandbox,
        op: FileOp::Stat(path),
    };
    vec![state.submit(command, &label, ReplyTo::BeforeSave(Box::new(save)))]
}

/// Writes a buffer.
pub(crate) fn write(state: &mut AppState, save: Save) -> Vec<Effect> {
    let stream = state.pending.stream();
    let label = format!("saving {}", save.path);
    state.transfers.send(
        stream,
        Bytes::from(save.text),
        Sent::Saved(save.sandbox.clone(), save.path.clone()),
    );
    let command = Command::WriteFile {
        sandbox: save.sandbox,
        stream,
        path: save.path,
        mode: None,
    };
    vec![state.submit(command, &label, ReplyTo::Stream(stream))]
}

/// Sends the next piece of a file, or its end.
pub(crate) fn send_next(state: &mut AppState, stream: StreamId) -> Vec<Effect> {
    let command = match state.transfers.next_piece(stream) {
        Some(bytes) => Command::Input { stream, bytes },
        None => return vec![state.submit(Command::EndInput(stream), "", ReplyTo::Quiet)],
    };
    vec![state.submit(command, "", ReplyTo::Input(stream))]
}

/// Takes how the file of a buffer stands before it is written; one that is gone cannot be in conflict.
pub(crate) fn before_save(
    state: &mut AppState,
    save: Save,
    outcome: Result<Reply, Failure>,
) -> Vec<Effect> {
    match outcome {
        Ok(Reply::Entry(found)) => check_conflict(state, save, &found),
        Err(failure) if failure.kind == FailureKind::NotFound => write(state, save),
        Err(failure) => {
            state.complain(&failure);
            Vec::new()
        }
        Ok(_) => Vec::new(),
    }
}

/// Takes how the file of a buffer stands after it was written.
pub(crate) fn after_save(
    state: &mut AppState,
    sandbox: SandboxRef,
    path: SandboxPath,
    entry: &FileEntry,
) {
    let intents = state.editor.saved(sandbox, path, Ok(entry.modified_at));
    state.want(intents);
    let intents = state.files.changed();
    state.want(intents);
}

/// Takes how a file stands before it is loaded.
pub(crate) fn before_load(
    state: &mut AppState,
    sandbox: SandboxRef,
    path: SandboxPath,
    outcome: Result<Reply, Failure>,
) -> Vec<Effect> {
    match outcome {
        Ok(Reply::Entry(entry)) => load_content(state, sandbox, path, Some(entry.modified_at)),
        Err(failure) => {
            state.complain(&failure);
            Vec::new()
        }
        Ok(_) => Vec::new(),
    }
}

/// Asks before something is overwritten that the person does not know of.
fn check_conflict(state: &mut AppState, save: Save, found: &FileEntry) -> Vec<Effect> {
    let path = safe_line(save.path.as_bytes());
    if found.kind == FileKind::Directory {
        state.say(Tone::Bad, format!("{path} is a folder; nothing was saved."));
        return Vec::new();
    }
    let question = match save.expect {
        Expect::Unchanged(known) if known == found.modified_at => {
            return write(state, save);
        }
        Expect::Anything => return write(state, save),
        Expect::Nothing => format!("{path} exists already. Replace it? What it holds is lost."),
        Expect::Unchanged(_) => {
            format!("{path} was changed by somebody else since you opened it. Overwrite it?")
        }
    };
    let again = Intent::SaveFile {
        sandbox: Some(save.sandbox),
        path: save.path,
        text: save.text,
        expect: Expect::Anything,
    };
    state.confirm(question, "Overwrite", vec![again]);
    Vec::new()
}

/// Takes a file that was read.
pub(crate) fn collected(
    state: &mut AppState,
    file: CollectedFile,
    failure: Option<Failure>,
) -> Vec<Effect> {
    match file.then {
        Collected::Preview(sandbox, path) => {
            let outcome = failure.map_or(Ok((file.bytes, file.is_full)), Err);
            let intents = state.files.previewed(&sandbox, &path, outcome);
            state.want(intents);
            let next = state.transfers.next_preview.take();
            next.map_or_else(Vec::new, |(sandbox, path)| preview(state, sandbox, path))
        }
        Collected::Edit(sandbox, path, known) => {
            let is_read = failure.is_none();
            let outcome = failure.map_or(Ok(file.bytes), Err);
            let intents = state.editor.loaded(sandbox, path, known, outcome);
            state.want(intents);
            let mut effects = focus(state, Pane::Editor);
            if std::mem::take(&mut state.transfers.then_external) && is_read {
                effects.extend(edit_externally(state));
            }
            effects
        }
    }
}

/// Takes that all of a file was sent, or not.
pub(crate) fn sent(
    state: &mut AppState,
    then: Sent,
    outcome: Result<ExecEnd, Failure>,
) -> Vec<Effect> {
    let done = outcome.is_ok_and(|end| end.ended == Ended::Code(0));
    match then {
        Sent::Saved(sandbox, path) if done => {
            state.say(Tone::Good, format!("Saved {path}."));
            let command = Command::File {
                sandbox: sandbox.clone(),
                op: FileOp::Stat(path.clone()),
            };
            vec![state.submit(command, "", ReplyTo::AfterSave(sandbox, path))]
        }
        Sent::Saved(_, path) => {
            state.say(
                Tone::Bad,
                format!("{path} could not be saved; the buffer is kept."),
            );
            Vec::new()
        }
    }
}

/// Gives the buffer to `$EDITOR`; what cannot be changed here cannot be changed there.
pub(crate) fn edit_externally(state: &mut AppState) -> Vec<Effect> {
    if let Some(why) = state.editor.current().read_only {
        state.say(Tone::Bad, format!("This cannot be edited: {why}."));
        return Vec::new();
    }
    let extension = state
        .editor
        .current()
        .language
        .as_ref()
        .map_or("txt", Language::extension)
        .to_owned();
    vec![Effect::EditExternally {
        text: state.editor.current_text(),
        extension,
    }]
}

#[cfg(test)]
#[expect(clippy::panic, reason = "another request is a failed test")]
mod tests;
