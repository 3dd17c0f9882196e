//! Shells: opened, fed, resized, closed.

use bytes::Bytes;

use super::fit::shell_size;
use super::navigate::focus;
use super::select::selected_running;
use crate::app::intent::ReplyTo;
use crate::app::panes::shell::ShellState;
use crate::app::{AppState, Effect, Intent, Mode, Pane, Tone};
use crate::domain::{ExecEnd, ExecSpec, StdinMode, StreamId};
use crate::keymap::Key;
use crate::protocol::{Command, Failure};
use crate::text::safe_line;

/// Prefers bash, but works where there is only sh.
const LOGIN_SHELL: &str = "if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi";

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
    effects.push(state.submit(
        command,
        &format!("opening a shell in {}", sandbox.name),
        ReplyTo::Stream(stream),
    ));
    effects
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
        .map(|bytes| state.submit(Command::Input { stream, bytes }, "", ReplyTo::Input(stream)))
        .collect()
}

/// Closes the shell on screen; a living one ends with what runs in it, so that is asked about.
pub(crate) fn close_shell(state: &mut AppState) -> Vec<Effect> {
    let Some(open) = state.shells.current().filter(|open| !open.over) else {
        state.shells.close();
        state.view.mode = Mode::Nav;
        return Vec::new();
    };
    let (stream, name) = (open.shell.stream, open.shell.sandbox.clone());
    let row = state.sandboxes.find(&name);
    let name = row.map_or_else(String::new, |row| safe_line(&row.sandbox.name));
    let question = format!("End the shell in {name}? What runs in it is ended too.");
    state.confirm(question, "End", vec![Intent::CloseShell(stream)]);
    Vec::new()
}

/// Ends a shell and closes it.
pub(crate) fn end_shell(state: &mut AppState, stream: StreamId) -> Vec<Effect> {
    if !state.shells.close_stream(stream) {
        return Vec::new();
    }
    state.view.mode = Mode::Nav;
    vec![state.submit(Command::Cancel(stream), "ending the shell", ReplyTo::Quiet)]
}

/// Takes that a shell has ended.
pub(crate) fn shell_ended(
    state: &mut AppState,
    stream: StreamId,
    outcome: &Result<ExecEnd, Failure>,
) -> Vec<Effect> {
    let words = match outcome {
        Ok(end) => format!("the shell has ended ({})", end.ended.word()),
        Err(failure) => failure.message.clone(),
    };
    let shown = state
        .shells
        .current()
        .is_some_and(|open| open.shell.stream == stream);
    if let Some(open) = state.shells.find(stream) {
        open.shell.end(words);
        open.over = true;
    }
    if shown && state.view.mode == Mode::Term {
        state.view.mode = Mode::Nav;
        state.say(
            Tone::Plain,
            "The shell has ended. D closes it, [ and ] go to other runs.",
        );
    }
    Vec::new()
}
