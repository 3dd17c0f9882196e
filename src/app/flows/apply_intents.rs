//! Does what panes and overlays want.

use super::navigate::focus;
use super::{compare_runs, copies, edit_file, foreign_runs, run_again, run_program, shell};
use crate::app::intent::{Intent, PromptKind, ReplyTo};
use crate::app::msg::SnippetOp;
use crate::app::overlays::prompt::PromptState;
use crate::app::overlays::run_form::RunForm;
use crate::app::overlays::{Overlay, snippets};
use crate::app::{AppState, Effect, Pane, Tone};
use crate::domain::SandboxSpec;
use crate::protocol::Command;
use crate::text::human;

/// Most bytes for the clipboard: many terminals take 100 000 characters, which is this much in base 64.
const CLIPBOARD: usize = 74_994;

/// Applies one intent; what a key would do is the caller's.
pub(crate) fn apply(state: &mut AppState, intent: Intent) -> Vec<Effect> {
    match intent {
        Intent::Submit {
            command,
            label,
            reply_to,
        } => vec![state.submit(command, &label, reply_to)],
        Intent::FileWork { command, label } => copies::queue(state, command, label),
        Intent::Effect(effect) => vec![effect],
        Intent::Copy(text) => copy(state, text),
        Intent::Create(spec) => vec![create(state, spec)],
        Intent::Preview { sandbox, path } => edit_file::preview(state, sandbox, path),
        Intent::SaveFile {
            sandbox,
            path,
            text,
            expect,
        } => edit_file::save(state, sandbox, path, text, expect),
        Intent::EditFile { sandbox, path } => edit_file::load(state, sandbox, path),
        Intent::EditText { name, text } => edit_text(state, &name, &text),
        Intent::Run {
            code,
            language,
            options,
        } => run_program::run(state, code, language, *options),
        Intent::Prepare(run) => run_program::prepare(state, *run),
        Intent::ShowRun(run) => foreign_runs::show(state, &run),
        Intent::RunAgain(run) => run_again::run_again(state, *run),
        Intent::CompareRuns(pair) => compare_runs::begin(state, *pair),
        Intent::CloseShell(stream) => shell::end_shell(state, stream),
        Intent::Answer(kind, text) => answer(state, &kind, &text),
        silent => {
            apply_silently(state, silent);
            Vec::new()
        }
    }
}

/// Applies an intent that needs nobody else.
fn apply_silently(state: &mut AppState, intent: Intent) {
    match intent {
        Intent::Toast(tone, text) => state.say(tone, text),
        Intent::Ask(prompt) => state.open(Overlay::Prompt(PromptState::new(prompt))),
        Intent::AnswerSoFar(kind, text) => answer_so_far(state, &kind, &text),
        Intent::Confirm {
            question,
            button,
            then,
        } => state.confirm(question, &button, then),
        Intent::ToggleColumn(column) => state.sandboxes.toggle_column(column),
        Intent::RememberPaused(paused) => state.sandboxes.remember_paused(paused),
        Intent::CloseBuffer => state.editor.close_current(),
        Intent::AskHowToRun { code, language } => {
            let form = RunForm::new(code, language, &state.last_run);
            state.open(Overlay::Run(Box::new(form)));
        }
        Intent::RememberRunForm(typed) => state.last_run = typed,
        _ => {}
    }
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

fn create(state: &mut AppState, spec: Box<SandboxSpec>) -> Effect {
    let label = format!("creating {}", spec.name);
    let host = state.settings.host.clone();
    state.submit(Command::Create { host, spec }, &label, ReplyTo::NewSandbox)
}

fn edit_text(state: &mut AppState, name: &str, text: &str) -> Vec<Effect> {
    let intents = state.editor.open_text(name, text);
    state.want(intents);
    focus(state, Pane::Editor)
}

/// Filters apply while they are typed.
fn answer_so_far(state: &mut AppState, kind: &PromptKind, text: &str) {
    match kind {
        PromptKind::FilterSandboxes => state.sandboxes.set_filter(text),
        PromptKind::FilterFiles => drop(state.files.answer(kind, text)),
        PromptKind::SearchOutput => drop(state.output.answer(kind, text)),
        _ => {}
    }
}

fn answer(state: &mut AppState, kind: &PromptKind, text: &str) -> Vec<Effect> {
    let intents = match kind {
        PromptKind::FilterSandboxes => {
            state.sandboxes.set_filter(text);
            Vec::new()
        }
        PromptKind::SearchOutput | PromptKind::SaveOutput | PromptKind::SendInput => {
            state.output.answer(kind, text)
        }
        PromptKind::FindInEditor
        | PromptKind::ReplaceInEditor
        | PromptKind::ReplaceBy { .. }
        | PromptKind::SaveBufferAs
        | PromptKind::Language => state.editor.answer(kind, text),
        PromptKind::KeepSnippet | PromptKind::RenameSnippet { .. } => {
            return name_snippet(state, kind, text.trim());
        }
        PromptKind::FilterFiles
        | PromptKind::NewFile
        | PromptKind::NewFolder
        | PromptKind::RenameFile { .. }
        | PromptKind::Upload
        | PromptKind::Download => state.files.answer(kind, text),
    };
    state.want(intents);
    Vec::new()
}

fn name_snippet(state: &mut AppState, kind: &PromptKind, name: &str) -> Vec<Effect> {
    if let Some(why) = snippets::refusal(name) {
        state.say(Tone::Bad, why);
        return Vec::new();
    }
    let name = name.to_owned();
    let op = match kind {
        PromptKind::RenameSnippet { from } => SnippetOp::Rename {
            from: from.clone(),
            to: name,
        },
        _ => SnippetOp::Keep {
            name,
            text: state.editor.current_text(),
            replace: false,
        },
    };
    vec![Effect::Snippet(op)]
}
