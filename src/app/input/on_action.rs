//! What a person wants done: routed to the overlay, the app itself or the pane that has the keys.

use super::on_overlay;
use crate::app::flows::{apply_intents, copies, streams};
use crate::app::geometry::split;
use crate::app::overlays::create_form::CreateForm;
use crate::app::overlays::overlay::{Confirm, Overlay, Palette};
use crate::app::overlays::{cache, history, inspect, reap, snippets};
use crate::app::pending::{Pending, ReplyTo};
use crate::app::{AppState, Effect, Intent, Mode, Pane, Tone};
use crate::code::Language;
use crate::domain::Phase;
use crate::keymap::Action;
use crate::protocol::Command;

/// Does what was asked for.
pub(crate) fn run(state: &mut AppState, action: Action) -> Vec<Effect> {
    if state.settings.read_only && action.mutates() {
        state.say(Tone::Bad, "Read-only: nothing can be changed.");
        return Vec::new();
    }
    if state.view.overlay.is_some() {
        return on_overlay::run(state, action);
    }
    match action {
        Action::Help => open(state, Overlay::Help { scroll: 0 }),
        Action::Palette => open(state, Overlay::Palette(Palette::default())),
        Action::ActionLog => open(state, Overlay::Log { scroll: 0 }),
        Action::Columns => open(state, Overlay::Columns { at: 0 }),
        Action::Findings => open(state, Overlay::Findings { scroll: 0 }),
        Action::Cache => cache::ask(state),
        Action::Snippets => snippets::ask(),
        Action::KeepSnippet => snippets::save(state),
        Action::Reap => reap::ask(state),
        Action::History => history::ask(state),
        Action::Events => open(state, Overlay::Events { scroll: 0 }),
        Action::FocusSandboxes => focus(state, Pane::Sandboxes),
        Action::FocusEditor => focus(state, Pane::Editor),
        Action::FocusOutput => focus(state, Pane::Output),
        Action::FocusFiles => focus(state, Pane::Files),
        Action::NextPane => focus(state, state.view.focus.step(true)),
        Action::PreviousPane => focus(state, state.view.focus.step(false)),
        Action::Zoom => zoom(state),
        Action::SplitLeft | Action::SplitRight | Action::SplitUp | Action::SplitDown => {
            split::run(state, action)
        }
        Action::Refresh => refresh(state),
        Action::ToggleMouse => toggle_mouse(state),
        Action::Suspend => vec![Effect::Suspend],
        Action::Leave => leave(state),
        Action::Interrupt => interrupt(state),
        Action::Quit => quit(state),
        Action::Create => create(state),
        Action::FreezeAll | Action::ThawAll => of_list(state, action),
        Action::Shell => streams::open_shell(state),
        Action::Inspect => inspect::open(state),
        Action::Edit => edit(state),
        Action::Run | Action::RunOptions | Action::Save => in_editor(state, action),
        Action::ExternalEditor => external(state),
        Action::CancelCopy => copies::call_off(state),
        other => in_pane(state, other),
    }
}

pub(crate) fn open(state: &mut AppState, overlay: Overlay) -> Vec<Effect> {
    state.view.overlay = Some(overlay);
    Vec::new()
}

/// Goes to a pane; letters are commands again. Files may have changed meanwhile, so they are listed anew.
pub(crate) fn focus(state: &mut AppState, pane: Pane) -> Vec<Effect> {
    state.view.focus = pane;
    state.view.mode = Mode::Nav;
    let mut effects = Vec::new();
    if pane == Pane::Files {
        effects.extend(follow_selection(state));
        let intents = state.files.changed();
        effects.extend(apply_intents::all(state, intents));
    }
    effects.extend(streams::fit(state));
    effects
}

fn zoom(state: &mut AppState) -> Vec<Effect> {
    state.view.zoom = !state.view.zoom;
    streams::fit(state)
}

fn refresh(state: &mut AppState) -> Vec<Effect> {
    let mut effects = vec![submit(
        state,
        Command::Refresh,
        "asking the engine",
        ReplyTo::List,
    )];
    let intents = state.files.changed();
    effects.extend(apply_intents::all(state, intents));
    effects
}

/// Books a request and wraps it.
pub(crate) fn submit(
    state: &mut AppState,
    command: Command,
    label: &str,
    reply_to: ReplyTo,
) -> Effect {
    let pending = Pending {
        label: label.to_owned(),
        since: state.now,
        reply_to,
        progress: None,
    };
    Effect::Submit(state.pending.request(command, pending))
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

fn leave(state: &mut AppState) -> Vec<Effect> {
    if state.view.mode == Mode::Nav {
        return quit(state);
    }
    state.view.mode = Mode::Nav;
    Vec::new()
}

/// Cancels the run on screen, or the copies if the files have the keys; else asks whether to quit.
fn interrupt(state: &mut AppState) -> Vec<Effect> {
    if state.view.focus == Pane::Files && copies::count(state) > 0 {
        return copies::call_off(state);
    }
    let running = state
        .output
        .current()
        .filter(|run| run.is_running() && !run.is_of_others())
        .map(|run| run.info().stream);
    match running {
        Some(stream) => vec![submit(
            state,
            Command::Cancel(stream),
            "cancelling the run",
            ReplyTo::Quiet,
        )],
        None => quit(state),
    }
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
    open(
        state,
        Overlay::Confirm(Confirm {
            question,
            button: "Quit".to_owned(),
            then: vec![Intent::Quit],
            chosen: false,
        }),
    )
}

fn create(state: &mut AppState) -> Vec<Effect> {
    let mut form = CreateForm::new(&state.settings.config);
    if !state.engine.images.is_empty() {
        form.set_images(&state.engine.images);
    }
    state.view.overlay = Some(Overlay::Create(Box::new(form)));
    let command = Command::Images(state.settings.host.clone());
    vec![submit(state, command, "", ReplyTo::Images)]
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
    apply_intents::all(state, intents)
}

fn external(state: &mut AppState) -> Vec<Effect> {
    if state.view.focus == Pane::Files {
        let effects = in_pane(state, Action::EditFile);
        state.transfers.then_external = !effects.is_empty();
        return effects;
    }
    edit_externally(state)
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

/// Gives an action to the list, whoever has the keys.
fn of_list(state: &mut AppState, action: Action) -> Vec<Effect> {
    let seen = state.page(Pane::Sandboxes);
    let intents = state.sandboxes.on_action(action, seen.saturating_sub(1));
    apply_intents::all(state, intents)
}

/// Gives an action to the pane that has the keys.
fn in_pane(state: &mut AppState, action: Action) -> Vec<Effect> {
    let pane = state.view.focus;
    let seen = state.page(pane);
    let intents = match pane {
        Pane::Sandboxes if action == Action::Open => return focus(state, Pane::Output),
        Pane::Sandboxes => state.sandboxes.on_action(action, seen.saturating_sub(1)),
        Pane::Editor if action == Action::Open => return edit(state),
        Pane::Editor => state.editor.on_action(action),
        Pane::Output => return in_output(state, action, seen),
        Pane::Files => state.files.on_action(action, seen),
    };
    apply_intents::all(state, intents)
}

/// Runs and shells share the output pane: shells come after the runs.
fn in_output(state: &mut AppState, action: Action, page: usize) -> Vec<Effect> {
    let in_shell = state.shells.current().is_some();
    match (action, in_shell) {
        (Action::NextTab | Action::PreviousTab, _) => {
            return step_tab(state, action == Action::NextTab);
        }
        (Action::Open | Action::SendInput, true) => return edit(state),
        (Action::CloseRun | Action::CancelRun, true) => return streams::close_shell(state),
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
    apply_intents::all(state, intents)
}

fn step_tab(state: &mut AppState, forward: bool) -> Vec<Effect> {
    if state.shells.current().is_some() {
        state.shells.step(forward);
        return streams::fit_shell(state);
    }
    let now = state.now;
    let at_end = is_last_run(state, forward);
    if at_end && state.shells.tabs().count() > 0 {
        state.shells.show(!forward);
        return streams::fit_shell(state);
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
    apply_intents::all(state, intents)
}

/// Tells whether there is no run beyond the one on screen.
fn is_last_run(state: &AppState, forward: bool) -> bool {
    let runs = state.output.runs();
    let edge = if forward { runs.last() } else { runs.first() };
    let current = state.output.current().map(|run| run.info().stream);
    edge.map(|run| run.info().stream) == current
}

/// Shows the files of the sandbox that is selected now, frozen or not.
pub(crate) fn follow_selection(state: &mut AppState) -> Vec<Effect> {
    let work_dir = state.settings.config.sandbox.work_dir.clone();
    let selected = state
        .sandboxes
        .selected()
        .filter(|row| row.sandbox.phase.is_live());
    let runs = selected.is_some_and(|row| row.sandbox.phase == Phase::Running);
    let shown = selected.map(|row| {
        (
            row.sandbox.reference.clone(),
            row.sandbox.name.clone(),
            work_dir,
        )
    });
    if state.files.place().map(|place| &place.sandbox)
        != shown.as_ref().map(|(reference, ..)| reference)
    {
        let intents = state.files.show(shown);
        return apply_intents::all(state, intents);
    }
    let intents = if runs {
        state.files.thawed()
    } else {
        Vec::new()
    };
    apply_intents::all(state, intents)
}
