//! Grants what panes wish for.

use super::line::LineInput;
use super::on_action::{focus, submit};
use super::overlay::{Ask, Confirm, Overlay};
use super::pending::Purpose as For;
use super::{AppState, Effect, Pane, Wish, running, streams};
use crate::protocol::{Command, FileOp};

/// Grants wishes in order.
pub(super) fn all(state: &mut AppState, wishes: Vec<Wish>) -> Vec<Effect> {
    wishes
        .into_iter()
        .flat_map(|wish| one(state, wish))
        .collect()
}

fn one(state: &mut AppState, wish: Wish) -> Vec<Effect> {
    match wish {
        Wish::Submit { command, label } => send(state, command, &label),
        Wish::Toast(tone, text) => {
            state.say(tone, text);
            Vec::new()
        }
        Wish::Copy(text) => copy(state, text),
        Wish::Ask(question) => {
            let line = LineInput::new(&question.start);
            show(state, Overlay::Ask(Ask { question, line }))
        }
        Wish::Confirm {
            question,
            button,
            then,
        } => show(
            state,
            Overlay::Confirm(Confirm {
                question,
                button,
                then,
                chosen: false,
            }),
        ),
        Wish::SaveLocal { path, bytes } => vec![Effect::SaveLocal { path, bytes }],
        Wish::List { sandbox, path } => {
            let command = Command::File {
                sandbox: sandbox.clone(),
                op: FileOp::List(path.clone()),
            };
            vec![submit(state, command, "", For::Folder(sandbox, path))]
        }
        Wish::Changes { sandbox } => {
            let command = Command::Changes(sandbox.clone());
            vec![submit(state, command, "", For::FileChanges(sandbox))]
        }
        Wish::Preview { sandbox, path } => streams::preview(state, sandbox, path),
        Wish::SaveFile {
            sandbox,
            path,
            text,
            known,
        } => streams::save(state, sandbox, path, text, known),
        Wish::Run { code, language } => running::run(state, code, language),
        Wish::RunChecked { code, language } => running::prepare(state, code, language),
        Wish::EditFile { sandbox, path } => streams::load(state, sandbox, path),
        Wish::ShowRun(_) => focus(state, Pane::Output),
        Wish::Close => {
            state.editor.close_current();
            Vec::new()
        }
        Wish::Quit => vec![Effect::Quit],
    }
}

fn show(state: &mut AppState, overlay: Overlay) -> Vec<Effect> {
    state.view.overlay = Some(overlay);
    Vec::new()
}

fn copy(state: &mut AppState, text: String) -> Vec<Effect> {
    let lines = text.lines().count();
    state.say(
        super::Tone::Good,
        format!("Copied {lines} line{}.", if lines == 1 { "" } else { "s" }),
    );
    vec![Effect::Copy(text)]
}

/// Sends a command; what changes files is followed by a new listing.
fn send(state: &mut AppState, command: Command, label: &str) -> Vec<Effect> {
    let purpose = match &command {
        Command::File { .. } | Command::CopyIn { .. } => For::FilesChanged,
        Command::Act { .. } | Command::CopyOut { .. } => For::Told,
        _ => For::Quiet,
    };
    vec![submit(state, command, label, purpose)]
}
