//! Does what panes and overlays want.

use super::{copies, streams};
use crate::app::flows::run_program;
use crate::app::input::on_action::{focus, submit};
use crate::app::overlays::line::LineInput;
use crate::app::overlays::overlay::{Ask, Confirm, Overlay};
use crate::app::overlays::run_form::{RunForm, RunOptions};
use crate::app::pending::ReplyTo;
use crate::app::{AppState, Effect, Intent, Pane, Tone};
use crate::protocol::{Command, FileOp};
use crate::text::human;

/// Most bytes for the clipboard: many terminals take 100 000 characters, which is this much in base 64.
const CLIPBOARD: usize = 74_994;

/// Applies intents in order.
pub(crate) fn all(state: &mut AppState, intents: Vec<Intent>) -> Vec<Effect> {
    intents
        .into_iter()
        .flat_map(|intent| one(state, intent))
        .collect()
}

fn one(state: &mut AppState, intent: Intent) -> Vec<Effect> {
    match intent {
        Intent::Submit { command, label } => send(state, command, &label),
        Intent::Toast(tone, text) => {
            state.say(tone, text);
            Vec::new()
        }
        Intent::Copy(text) => copy(state, text),
        Intent::Ask(question) => {
            let line = LineInput::new(&question.start);
            let offers = Vec::new();
            show(
                state,
                Overlay::Ask(Ask {
                    question,
                    line,
                    offers,
                }),
            )
        }
        Intent::Confirm {
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
        Intent::SaveLocal {
            path,
            bytes,
            replace,
        } => vec![Effect::SaveLocal {
            path,
            bytes,
            replace,
        }],
        Intent::ListHost(folder) => vec![Effect::ListHost { folder }],
        Intent::Download(download) => vec![Effect::CheckHost(download)],
        Intent::List { sandbox, path } => {
            let command = Command::File {
                sandbox: sandbox.clone(),
                op: FileOp::List(path.clone()),
            };
            vec![submit(state, command, "", ReplyTo::Folder(sandbox, path))]
        }
        Intent::Changes { sandbox } => {
            let command = Command::Changes(sandbox.clone());
            vec![submit(state, command, "", ReplyTo::FileChanges(sandbox))]
        }
        Intent::Preview { sandbox, path } => streams::preview(state, sandbox, path),
        Intent::SaveFile {
            sandbox,
            path,
            text,
            expect,
        } => streams::save(state, sandbox, path, text, expect),
        Intent::Run { code, language } => {
            run_program::run(state, code, language, RunOptions::default())
        }
        Intent::RunChecked {
            code,
            language,
            options,
        } => run_program::prepare(state, code, language, *options),
        Intent::RunForm { code, language } => {
            let form = RunForm::new(code, language, &state.last_run);
            show(state, Overlay::Run(Box::new(form)))
        }
        Intent::EditFile { sandbox, path } => streams::load(state, sandbox, path),
        Intent::ShowRun(_) => focus(state, Pane::Output),
        Intent::Snippet(op) => vec![Effect::Snippet(op)],
        Intent::Close => {
            state.editor.close_current();
            Vec::new()
        }
        Intent::Quit => vec![Effect::Quit],
    }
}

fn show(state: &mut AppState, overlay: Overlay) -> Vec<Effect> {
    state.view.overlay = Some(overlay);
    Vec::new()
}

/// Copies by the terminal's own sequence, and says so, because nobody can tell whether the terminal allows it.
fn copy(state: &mut AppState, text: String) -> Vec<Effect> {
    if text.len() > CLIPBOARD {
        let (size, most) = (
            human::bytes(text.len() as u64),
            human::bytes(CLIPBOARD as u64),
        );
        let words = format!(
            "Not copied: {size} is too much for terminals, which take {most}. Save it to a file, or select less."
        );
        state.say(Tone::Bad, words);
        return Vec::new();
    }
    let lines = text.lines().count();
    let ending = if lines == 1 { "" } else { "s" };
    state.say(
        Tone::Good,
        format!("Copied {lines} line{ending} to the terminal's clipboard (OSC 52)."),
    );
    vec![Effect::Copy(text)]
}

/// Sends a command; work on files takes its turn and is followed by a new listing.
fn send(state: &mut AppState, command: Command, label: &str) -> Vec<Effect> {
    let purpose = match &command {
        Command::File { .. } | Command::CopyIn { .. } | Command::CopyOut { .. } => {
            return copies::queue(state, command, label.to_owned());
        }
        Command::Act { .. } => ReplyTo::Told,
        Command::ClearStock { .. } | Command::PruneStock(_) => ReplyTo::Stock,
        _ => ReplyTo::Quiet,
    };
    vec![submit(state, command, label, purpose)]
}
