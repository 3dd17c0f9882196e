//! What a person wants done: routed to the overlay, the app itself or the pane that has the keys.

use super::on_overlay;
use crate::app::flows::fit::fit_shell;
use crate::app::flows::navigate::{focus, zoom};
use crate::app::flows::{copies, edit_file, move_border, shell};
use crate::app::intent::ReplyTo;
use crate::app::msg::SnippetOp;
use crate::app::overlays::columns::ColumnChooser;
use crate::app::overlays::create_form::CreateForm;
use crate::app::overlays::inspect::InspectState;
use crate::app::overlays::palette::Palette;
use crate::app::overlays::viewer::{Text, Viewer};
use crate::app::overlays::{Overlay, history, packages, reap, snippets};
use crate::app::{AppState, Effect, Intent, Mode, Pane, Tone};
use crate::keymap::Action;
use crate::protocol::Command;

/// Does what was asked for.
pub(crate) fn run(state: &mut AppState, action: Action) -> Vec<Effect> {
    if state.settings.read_only && action.mutates() {
        state.say(Tone::Bad, "Read-only: nothing can be changed.");
        return Vec::new();
    }
    if state.view.overlay.is_some() {
        on_overlay::action(state, action);
        return Vec::new();
    }
    match action {
        Action::Help => read(state, Text::Help),
        Action::Palette => open(state, Overlay::Palette(Palette::default())),
        Action::ActionLog => read(state, Text::Log),
        Action::Columns => open(state, Overlay::Columns(ColumnChooser::default())),
        Action::Findings => read(state, Text::Findings),
        Action::Cache => want(state, packages::request(&state.settings.host)),
        Action::Snippets => vec![Effect::Snippet(SnippetOp::List)],
        Action::KeepSnippet => want(state, snippets::ask_name(&state.editor.current().name)),
        Action::Reap => want(state, reap::request(&state.settings)),
        Action::History => history_of_selected(state),
        Action::Events => read(state, Text::Events),
        Action::FocusSandboxes => focus(state, Pane::Sandboxes),
        Action::FocusEditor => focus(state, Pane::Editor),
        Action::FocusOutput => focus(state, Pane::Output),
        Action::FocusFiles => focus(state, Pane::Files),
        Action::NextPane => focus(state, state.view.focus.step(true)),
        Action::PreviousPane => focus(state, state.view.focus.step(false)),
        Action::Zoom => zoom(state),
        Action::SplitLeft | Action::SplitRight | Action::SplitUp | Action::SplitDown => {
            move_border::move_border(state, action)
        }
        Action::Refresh => refresh(state),
        Action::ToggleMouse => toggle_mouse(state),
        Action::Suspend => vec![Effect::Suspend],
        Action::Leave => leave(state),
        Action::Interrupt => interrupt(state),
        Action::Quit => quit(state),
        Action::Create => create(state),
        Action::PauseAll | Action::ResumeAll => of_list(state, action),
        Action::Shell => shell::open_shell(state),
        Action::Inspect => inspect(state),
        Action::Edit => edit(state),
        Action::Run | Action::RunOptions | Action::Save => in_editor(state, action),
        Action::ExternalEditor => external(state),
        Action::CancelCopy => copies::cancel_all(state),
        Action::Back if state.pending.forget(&ReplyTo::ReapPreview) => Vec::new(),
        other => in_pane(state, other),
    }
}

fn open(state: &mut AppState, overlay: Overlay) -> Vec<Effect> {
    state.open(overlay);
    Vec::new()
}

fn read(state: &mut AppState, text: Text) -> Vec<Effect> {
    open(state, Overlay::Viewer(Viewer::new(text)))
}

fn want(state: &mut AppState, intent: Intent) -> Vec<Effect> {
    state.want([intent]);
    Vec::new()
}

/// Asks for the runs of the selected sandbox; without one, for all.
fn history_of_selected(state: &mut AppState) -> Vec<Effect> {
    let selected = state.sandboxes.selected();
    let of = selected.map(|row| (row.sandbox.reference.clone(), row.sandbox.name.clone()));
    let request = history::request(of, &state.settings.host, "looking for runs");
    want(state, request)
}

/// Opens the view of the selected sandbox.
fn inspect(state: &mut AppState) -> Vec<Effect> {
    let selected = state.sandboxes.selected().map(|row| &row.sandbox);
    let Some(sandbox) = selected else {
        let words = "No sandbox is selected. Press c to create one.";
        state.say(Tone::Plain, words);
        return Vec::new();
    };
    let view = InspectState::new(sandbox.reference.clone(), sandbox.name.clone());
    state.open(Overlay::Inspect(Box::new(view)));
    on_overlay::tick(state);
    Vec::new()
}

fn refresh(state: &mut AppState) -> Vec<Effect> {
    let effects = vec![state.submit(Command::Refresh, "asking the engine", ReplyTo::Quiet)];
    let intents = state.files.changed();
    state.want(intents);
    effects
}

fn toggle_mouse(state: &mut AppState) -> Vec<Effect> {
    state.view.mouse = !state.view.mouse;
    let text = if state.view.mouse {
        "The mouse is sandtop's again."
    } else {
        "The mouse is the terminal's: select text as usual. m takes it back."
    };
    state.say(Tone::Plain, text);
    vec![Effect::Mouse(state.view.mouse)]
}

/// Leaves a mode; out of every mode there is nothing to leave, and pressing it once too often must not quit.
fn leave(state: &mut AppState) -> Vec<Effect> {
    state.view.mode = Mode::Nav;
    Vec::new()
}

/// Cancels the run on screen, or the copies if the files have the keys; else asks whether to quit.
fn interrupt(state: &mut AppState) -> Vec<Effect> {
    if state.view.focus == Pane::Files && copies::count(state) > 0 {
        return copies::cancel_all(state);
    }
    match cancel_current(state) {
        Some(effects) => effects,
        None => quit(state),
    }
}

/// Cancels the run on screen, if it is ours and goes on.
fn cancel_current(state: &mut AppState) -> Option<Vec<Effect>> {
    let current = state.output.current();
    let running = current.filter(|run| run.is_running() && !run.is_of_others());
    let stream = running.map(|run| run.info().stream)?;
    let command = Command::Cancel(stream);
    Some(vec![state.submit(
        command,
        "cancelling the run",
        ReplyTo::Quiet,
    )])
}

/// Copies what is selected in the editor; with nothing selected, the key means what it means elsewhere while a run goes on.
fn copy_or_cancel(state: &mut AppState) -> Vec<Effect> {
    if state.editor.current().text.selected().is_none()
        && let Some(effects) = cancel_current(state)
    {
        return effects;
    }
    in_editor(state, Action::Copy)
}

/// Quits; asks only if something would be lost.
fn quit(state: &mut AppState) -> Vec<Effect> {
    let (runs, shells, dirty) = (
        state.output.held(),
        state.shells.living(),
        state.editor.dirty_count(),
    );
    let lost: Vec<String> = [
        (runs, "running command"),
        (shells, "open shell"),
        (dirty, "unsaved buffer"),
        (copies::count(state), "file transfer"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }))
    .collect();
    if lost.is_empty() {
        return vec![Effect::Quit];
    }
    let question = format!("Quit? {} will be ended or lost.", lost.join(", "));
    state.confirm(question, "Quit", vec![Intent::Effect(Effect::Quit)]);
    Vec::new()
}

fn create(state: &mut AppState) -> Vec<Effect> {
    let mut form = CreateForm::new(&state.settings.config, state.pending.token());
    if !state.engine.images.is_empty() {
        form.set_images(&state.engine.images);
    }
    state.view.overlay = Some(Overlay::Create(Box::new(form)));
    let command = Command::Images(state.settings.host.clone());
    vec![state.submit(command, "", ReplyTo::Images)]
}

/// Starts typing in the editor, or gives the keys to the shell on screen.
fn edit(state: &mut AppState) -> Vec<Effect> {
    match state.view.focus {
        Pane::Output if state.shells.current().is_some_and(|open| !open.over) => {
            state.view.mode = Mode::Term;
        }
        Pane::Editor => state.view.mode = Mode::Edit,
        _ => {}
    }
    Vec::new()
}

fn in_editor(state: &mut AppState, action: Action) -> Vec<Effect> {
    let intents = state.editor.on_action(action);
    state.want(intents);
    Vec::new()
}

fn external(state: &mut AppState) -> Vec<Effect> {
    if state.view.focus == Pane::Files {
        let page = state.page(Pane::Files);
        let intents = state.files.on_action(Action::EditFile, page);
        state.transfers.then_external = !intents.is_empty();
        state.want(intents);
        return Vec::new();
    }
    edit_file::edit_externally(state)
}

/// Gives an action to the list, whoever has the keys.
fn of_list(state: &mut AppState, action: Action) -> Vec<Effect> {
    let seen = state.page(Pane::Sandboxes);
    let intents = state.sandboxes.on_action(action, seen.saturating_sub(1));
    state.want(intents);
    Vec::new()
}

/// Gives an action to the pane that has the keys.
fn in_pane(state: &mut AppState, action: Action) -> Vec<Effect> {
    let pane = state.view.focus;
    let seen = state.page(pane);
    let intents = match pane {
        Pane::Sandboxes if action == Action::Open => return focus(state, Pane::Output),
        Pane::Sandboxes => state.sandboxes.on_action(action, seen.saturating_sub(1)),
        Pane::Editor if action == Action::Open => return edit(state),
        Pane::Editor if action == Action::Copy => return copy_or_cancel(state),
        // The list says so while it is empty.
        Pane::Files if action == Action::Changes && state.sandboxes.all().next().is_none() => {
            return create(state);
        }
        Pane::Editor => state.editor.on_action(action),
        Pane::Output => return in_output(state, action, seen),
        Pane::Files => state.files.on_action(action, seen),
    };
    state.want(intents);
    Vec::new()
}

/// Runs and shells share the output pane: shells come after the runs.
fn in_output(state: &mut AppState, action: Action, page: usize) -> Vec<Effect> {
    let in_shell = state.shells.current().is_some();
    match (action, in_shell) {
        (Action::NextTab | Action::PreviousTab, _) => {
            return step_tab(state, action == Action::NextTab);
        }
        (Action::Open | Action::SendInput, true) => return edit(state),
        (Action::CloseRun | Action::CancelRun, true) => return shell::close_shell(state),
        (Action::PageUp | Action::PageDown | Action::Up | Action::Down, true) => {
            let lines = match action {
                Action::PageUp => 10,
                Action::Up => 1,
                Action::Down => -1,
                _ => -10,
            };
            if let Some(open) = state.shells.current_mut() {
                open.shell.scroll(lines);
            }
            return Vec::new();
        }
        _ => {}
    }
    let now = state.now;
    let intents = state.output.on_action(action, page, now);
    state.want(intents);
    Vec::new()
}

fn step_tab(state: &mut AppState, forward: bool) -> Vec<Effect> {
    if state.shells.current().is_some() {
        state.shells.step(forward);
        return fit_shell(state);
    }
    let now = state.now;
    let at_end = is_last_run(state, forward);
    if at_end && state.shells.tabs().count() > 0 {
        state.shells.show(!forward);
        return fit_shell(state);
    }
    let intents = state.output.on_action(
        if forward {
            Action::NextTab
        } else {
            Action::PreviousTab
        },
        1,
        now,
    );
    state.want(intents);
    Vec::new()
}

/// Tells whether there is no run beyond the one on screen.
fn is_last_run(state: &AppState, forward: bool) -> bool {
    let runs = state.output.runs();
    let edge = if forward { runs.last() } else { runs.first() };
    let current = state.output.current().map(|run| run.info().stream);
    edge.map(|run| run.info().stream) == current
}

#[cfg(test)]
mod tests;
