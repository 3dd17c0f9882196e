//! The sandbox that something is to run in, or why nothing can.

use crate::app::{AppState, Tone};
use crate::domain::{Phase, Sandbox, SandboxRef};

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
