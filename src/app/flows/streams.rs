//! Streams that the dashboard opens: runs, shells, previews, files loaded and saved.

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::app::input::on_action::{focus, submit};
use crate::app::panes::shell::ShellState;
use crate::app::pending::ReplyTo;
use crate::app::transfers::{Collected, EDITABLE, PREVIEW, Save, Sent};
use crate::app::{AppState, Effect, Expect, Mode, Pane, Tone};
use crate::domain::{
    ExecSpec, Phase, Sandbox, SandboxPath, SandboxRef, StdinMode, StreamId, TtySize,
};
use crate::keymap::Key;
use crate::protocol::{Command, FileOp};

/// Prefers bash, but works where there is only sh.
const LOGIN_SHELL: &str = "if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi";

/// Returns the selected sandbox if something can run in it, else says why not.
pub(crate) fn selected_running(state: &mut AppState) -> Option<Sandbox> {
    let selected = state.sandboxes.selected().map(|row| row.sandbox.clone());
    let problem = match &selected {
        None => "Create a sandbox first: press F2, then c.".to_owned(),
        Some(sandbox) if sandbox.phase != Phase::Running => cannot_run(sandbox),
        Some(_) => return selected,
    };
    state.say(Tone::Bad, problem);
    None
}

/// Returns a sandbox if something can run in it, else says why not.
pub(crate) fn running(state: &mut AppState, reference: &SandboxRef) -> Option<Sandbox> {
    let found = state.sandboxes.find(reference);
    let found = found.map(|row| row.sandbox.clone());
    let problem = match &found {
        None => "This sandbox is gone; e opens code in the editor, to run it elsewhere.".to_owned(),
        Some(sandbox) if sandbox.phase != Phase::Running => cannot_run(sandbox),
        Some(_) => return found,
    };
    state.say(Tone::Bad, problem);
    None
}

fn cannot_run(sandbox: &Sandbox) -> String {
    format!(
        "{} is {}; start it with S, or resume it with p.",
        sandbox.name, sandbox.phase
    )
}

/// Opens a shell in the selected sandbox and gives it the keys.
pub(crate) fn open_shell(state: &mut AppState) -> Vec<Effect> {
    let Some(sandbox) = selected_running(state) else {
        return Vec::new();
    };
    let stream = state.pending.stream();
    let mut effects = focus(state, Pane::Output);
    let size = shell_size(state);
    let mut spec = ExecSpec::new(
        state.pending.exec_id(),
        ["sh", "-c", LOGIN_SHELL].map(str::to_owned).to_vec(),
    );
    spec.stdin = StdinMode::Piped;
    spec.tty = Some(size);
    spec.env = vec![("TERM".to_owned(), "xterm-256color".to_owned())];
    state.shells.add(ShellState::new(
        stream,
        sandbox.reference.clone(),
        sandbox.name.clone(),
        size,
    ));
    state.view.mode = Mode::Term;
    let command = Command::Exec {
        sandbox: sandbox.reference,
        stream,
        spec: Box::new(spec),
    };
    effects.push(submit(
        state,
        command,
        &format!("opening a shell in {}", sandbox.name),
        ReplyTo::Stream(stream),
    ));
    effects
}

fn shell_size(state: &AppState) -> TtySize {
    let inner = state.areas().and_then(|areas| areas.inner(Pane::Output));
    inner.map_or(
        TtySize {
            columns: 80,
            rows: 24,
        },
        |area| TtySize {
            columns: area.width.max(1),
            rows: area.height.max(1),
        },
    )
}

/// Tells the panes their new sizes.
pub(crate) fn fit(state: &mut AppState) -> Vec<Effect> {
    if let Some(areas) = state.areas() {
        if let Some(inner) = areas.inner(Pane::Output) {
            state.output.resize(
                inner.width,
                crate::app::geometry::layout::output_page(inner),
            );
        }
        if let Some(inner) = areas.inner(Pane::Files) {
            let list = crate::app::geometry::layout::files_areas(inner).list;
            state.files.set_page(usize::from(list.height));
        }
    }
    fit_shell(state)
}

/// Tells the shell on screen its size, if that has changed.
pub(crate) fn fit_shell(state: &mut AppState) -> Vec<Effect> {
    let size = shell_size(state);
    let visible = state
        .areas()
        .is_some_and(|areas| areas.of(Pane::Output).is_some());
    let Some(open) = state
        .shells
        .current_mut()
        .filter(|open| visible && !open.over)
    else {
        return Vec::new();
    };
    let stream = open.shell.stream;
    if !open.shell.resize(size) {
        return Vec::new();
    }
    vec![submit(
        state,
        Command::Resize { stream, size },
        "",
        ReplyTo::Quiet,
    )]
}

/// Sends a key to the shell.
pub(crate) fn shell_key(state: &mut AppState, key: Key) -> Vec<Effect> {
    let bytes = state
        .shells
        .current()
        .and_then(|open| open.shell.key_bytes(key));
    bytes.map_or_else(Vec::new, |bytes| shell_input(state, &bytes))
}

/// Sends pasted text to the shell.
pub(crate) fn shell_paste(state: &mut AppState, text: &str) -> Vec<Effect> {
    let bytes = state
        .shells
        .current()
        .map(|open| open.shell.paste_bytes(text));
    bytes.map_or_else(Vec::new, |bytes| shell_input(state, &bytes))
}

/// Sends bytes to the shell on screen.
pub(crate) fn shell_input(state: &mut AppState, bytes: &[u8]) -> Vec<Effect> {
    let Some(open) = state.shells.current_mut().filter(|open| !open.over) else {
        return Vec::new();
    };
    let (stream, pieces) = (open.shell.stream, open.input(bytes));
    send_pieces(state, stream, pieces)
}

/// Sends more of what waits, now that a piece was taken.
pub(crate) fn shell_taken(state: &mut AppState, stream: StreamId) -> Vec<Effect> {
    let Some(open) = state.shells.find(stream) else {
        return Vec::new();
    };
    let pieces = open.taken();
    send_pieces(state, stream, pieces)
}

fn send_pieces(state: &mut AppState, stream: StreamId, pieces: Vec<Bytes>) -> Vec<Effect> {
    pieces
        .into_iter()
        .map(|bytes| {
            submit(
                state,
                Command::Input { stream, bytes },
                "",
                ReplyTo::Input(stream),
            )
        })
        .collect()
}

/// Closes the shell on screen; a living one is ended.
pub(crate) fn close_shell(state: &mut AppState) -> Vec<Effect> {
    let living = state
        .shells
        .current()
        .filter(|open| !open.over)
        .map(|open| open.shell.stream);
    state.shells.close();
    state.view.mode = Mode::Nav;
    living.map_or_else(Vec::new, |stream| {
        vec![submit(
            state,
            Command::Cancel(stream),
            "ending the shell",
            ReplyTo::Quiet,
        )]
    })
}

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
    vec![submit(state, command, "", ReplyTo::Stream(stream))]
}

/// Loads a file into the editor: first its time of change, then its content.
pub(crate) fn load(state: &mut AppState, sandbox: SandboxRef, path: SandboxPath) -> Vec<Effect> {
    let command = Command::File {
        sandbox: sandbox.clone(),
        op: FileOp::Stat(path.clone()),
    };
    let label = format!("opening {path}");
    vec![submit(
        state,
        command,
        &label,
        ReplyTo::BeforeLoad(sandbox, path),
    )]
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
    vec![submit(state, command, &label, ReplyTo::Stream(stream))]
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
    vec![submit(
        state,
        command,
        &label,
        ReplyTo::BeforeSave(Box::new(save)),
    )]
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
    vec![submit(state, command, &label, ReplyTo::Stream(stream))]
}

/// Sends the next piece of a file, or its end.
pub(crate) fn send_next(state: &mut AppState, stream: StreamId) -> Vec<Effect> {
    let command = match state.transfers.next_piece(stream) {
        Some(bytes) => Command::Input { stream, bytes },
        None => return vec![submit(state, Command::EndInput(stream), "", ReplyTo::Quiet)],
    };
    vec![submit(state, command, "", ReplyTo::Input(stream))]
}

#[cfg(test)]
#[expect(clippy::panic, reason = "another request is a failed test")]
mod tests;
