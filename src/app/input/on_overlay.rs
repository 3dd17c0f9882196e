//! What a person does in an overlay: answers, forms, the palette, viewers.

use super::on_action;
use super::on_action::{open, submit};
use crate::app::flows::apply_intents;
use crate::app::intent::PromptKind;
use crate::app::overlays::create_form::CreateForm;
use crate::app::overlays::overlay::{Ask, Confirm, Overlay, Palette};
use crate::app::overlays::{
    cache, compare, completion, history, inspect, reap, run_form, scrolling, snippets,
};
use crate::app::panes::sandboxes::Column;
use crate::app::pending::ReplyTo;
use crate::app::{AppState, Effect};
use crate::keymap::Action;
use crate::protocol::Command;

/// Gives an action to what lies over the panes.
pub(crate) fn run(state: &mut AppState, action: Action) -> Vec<Effect> {
    let effects = give(state, action);
    scrolling::clamp(state);
    effects
}

fn give(state: &mut AppState, action: Action) -> Vec<Effect> {
    match state.view.overlay.take() {
        Some(Overlay::Confirm(confirm)) => in_confirm(state, confirm, action),
        Some(Overlay::Ask(ask)) => in_ask(state, ask, action),
        Some(Overlay::Create(form)) => in_form(state, form, action),
        Some(Overlay::Palette(palette)) => in_palette(state, palette, action),
        Some(Overlay::Help { scroll }) => {
            in_viewer(state, action, scroll, |scroll| Overlay::Help { scroll })
        }
        Some(Overlay::Log { scroll }) => {
            in_viewer(state, action, scroll, |scroll| Overlay::Log { scroll })
        }
        Some(Overlay::Events { scroll }) => {
            in_viewer(state, action, scroll, |scroll| Overlay::Events { scroll })
        }
        Some(Overlay::Findings { scroll }) => {
            in_viewer(state, action, scroll, |scroll| Overlay::Findings { scroll })
        }
        Some(Overlay::Run(form)) => run_form::run(state, form, action),
        Some(Overlay::Snippets(panel)) => snippets::run(state, panel, action),
        Some(Overlay::Cache(panel)) => cache::run(state, panel, action),
        Some(Overlay::History(panel)) => history::run(state, panel, action),
        Some(Overlay::Comparison(both)) => compare::close(state, *both),
        Some(Overlay::Reap(preview)) => reap::run(state, preview, action),
        Some(Overlay::Columns { at }) => in_columns(state, at, action),
        Some(Overlay::Inspect(view)) => inspect::run(state, view, action),
        None => Vec::new(),
    }
}

fn in_confirm(state: &mut AppState, mut confirm: Confirm, action: Action) -> Vec<Effect> {
    let yes = action == Action::Accept || (action == Action::Open && confirm.chosen);
    if yes {
        return apply_intents::all(state, confirm.then);
    }
    if matches!(action, Action::NextField | Action::PreviousField) {
        confirm.chosen = !confirm.chosen;
        state.view.overlay = Some(Overlay::Confirm(confirm));
    }
    Vec::new()
}

fn in_ask(state: &mut AppState, ask: Ask, action: Action) -> Vec<Effect> {
    match action {
        Action::Accept => answer(state, &ask.question.purpose, &ask.line.text()),
        Action::Refuse | Action::Back => refuse(state, &ask.question.purpose),
        Action::NextField => completion::ask(state, ask),
        _ => open(state, Overlay::Ask(ask)),
    }
}

/// Filters apply while they are typed.
pub(crate) fn asked_so_far(state: &mut AppState) {
    let Some(Overlay::Ask(ask)) = &state.view.overlay else {
        return;
    };
    let (purpose, text) = (ask.question.purpose.clone(), ask.line.text());
    match purpose {
        PromptKind::FilterSandboxes => state.sandboxes.set_filter(&text),
        PromptKind::FilterFiles => drop(state.files.answer(&purpose, &text)),
        PromptKind::SearchOutput => drop(state.output.answer(&purpose, &text)),
        _ => {}
    }
}

fn refuse(state: &mut AppState, purpose: &PromptKind) -> Vec<Effect> {
    match purpose {
        PromptKind::FilterSandboxes | PromptKind::FilterFiles | PromptKind::SearchOutput => {
            answer(state, purpose, "")
        }
        _ => Vec::new(),
    }
}

fn answer(state: &mut AppState, purpose: &PromptKind, text: &str) -> Vec<Effect> {
    let intents = match purpose {
        PromptKind::FilterSandboxes => {
            state.sandboxes.set_filter(text);
            Vec::new()
        }
        PromptKind::SearchOutput | PromptKind::SaveOutput | PromptKind::SendInput => {
            state.output.answer(purpose, text)
        }
        PromptKind::FindInEditor
        | PromptKind::ReplaceInEditor
        | PromptKind::ReplaceBy { .. }
        | PromptKind::SaveBufferAs
        | PromptKind::Language => state.editor.answer(purpose, text),
        PromptKind::KeepSnippet | PromptKind::RenameSnippet { .. } => {
            return snippets::answer(state, purpose, text);
        }
        PromptKind::FilterFiles
        | PromptKind::NewFile
        | PromptKind::NewFolder
        | PromptKind::RenameFile { .. }
        | PromptKind::Upload
        | PromptKind::Download => state.files.answer(purpose, text),
    };
    apply_intents::all(state, intents)
}

fn in_form(state: &mut AppState, mut form: Box<CreateForm>, action: Action) -> Vec<Effect> {
    match action {
        Action::Accept => return submit_form(state, form),
        Action::Refuse | Action::Back => return Vec::new(),
        Action::NextField => form.step(true),
        Action::PreviousField => form.step(false),
        Action::Down | Action::Up => move_in_form(state, &mut form, action == Action::Down),
        _ => {}
    }
    open(state, Overlay::Create(form))
}

/// Goes through what can be picked in the field, or to another field where nothing can.
fn move_in_form(state: &AppState, form: &mut CreateForm, down: bool) {
    if form.choices().is_empty() {
        form.step(down);
    } else {
        form.pick(down);
        form.refresh(&state.settings.config);
    }
}

fn submit_form(state: &mut AppState, mut form: Box<CreateForm>) -> Vec<Effect> {
    let settings = state.settings.clone();
    let token = state.pending.token();
    match form.spec(&settings.config, settings.owner.clone(), token) {
        Ok(spec) => {
            let label = format!("creating {}", spec.name);
            let command = Command::Create {
                host: settings.host.clone(),
                spec: Box::new(spec),
            };
            vec![submit(state, command, &label, ReplyTo::Create)]
        }
        Err(failure) => {
            form.problem = Some(failure.message);
            open(state, Overlay::Create(form))
        }
    }
}

fn in_columns(state: &mut AppState, at: usize, action: Action) -> Vec<Effect> {
    let last = Column::ALL.len() - 1;
    match action {
        Action::Mark | Action::Open => {
            if let Some(column) = Column::ALL.get(at) {
                state.sandboxes.toggle_column(*column);
            }
            open(state, Overlay::Columns { at })
        }
        other => match scrolled(state, other, at) {
            Some(at) => open(state, Overlay::Columns { at: at.min(last) }),
            None => Vec::new(),
        },
    }
}

fn in_palette(state: &mut AppState, mut palette: Palette, action: Action) -> Vec<Effect> {
    let found = palette.found(state.settings.read_only);
    match action {
        Action::Accept => match found.get(palette.chosen) {
            Some(action) => return on_action::run(state, *action),
            None => return Vec::new(),
        },
        Action::Refuse | Action::Back => return Vec::new(),
        Action::Down | Action::NextField => palette.step(true, found.len()),
        Action::Up | Action::PreviousField => palette.step(false, found.len()),
        _ => {}
    }
    open(state, Overlay::Palette(palette))
}

fn in_viewer(
    state: &mut AppState,
    action: Action,
    scroll: usize,
    again: impl FnOnce(usize) -> Overlay,
) -> Vec<Effect> {
    match scrolled(state, action, scroll) {
        Some(scroll) => open(state, again(scroll)),
        None => Vec::new(),
    }
}

/// Moves through lines; `None` if the viewer is to be closed.
pub(crate) fn scrolled(state: &AppState, action: Action, scroll: usize) -> Option<usize> {
    let page = usize::from(state.view.size.height / 2).max(1);
    Some(match action {
        Action::Up => scroll.saturating_sub(1),
        Action::Down => scroll + 1,
        Action::PageUp => scroll.saturating_sub(page),
        Action::PageDown => scroll + page,
        Action::Top => 0,
        Action::Bottom => usize::MAX / 2,
        Action::Quit | Action::Back | Action::Leave | Action::Help | Action::Interrupt => {
            return None;
        }
        _ => scroll,
    })
}
