//! The preview of reaping: who would go and why, each with a tick, then one confirmation.

use ratatui::layout::Rect;

use super::overlay::Overlay;
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::input::on_action::{open, submit};
use crate::app::input::on_overlay::scrolled;
use crate::app::pending::ReplyTo;
use crate::app::{AppState, Effect, Tone};
use crate::config::ManagerSettings;
use crate::domain::{ReapRules, Reaped, Verdict};
use crate::keymap::Action;
use crate::protocol::{Command, Leftover};

/// What reaping would do.
#[derive(Debug, Clone, PartialEq)]
pub struct ReapPreview {
    /// All sandboxes, those that would go first.
    pub rows: Vec<ReapRow>,
    /// What would be swept besides.
    pub leftovers: Vec<Leftover>,
    /// The chosen row.
    pub at: usize,
}

impl ReapPreview {
    /// Places it.
    #[must_use]
    pub fn list_box(&self, screen: Rect) -> ListBox {
        let shape = Shape {
            width: 92,
            head: 0,
            foot: 2,
        };
        ListBox::new(screen, shape, self.rows.len(), self.at)
    }
}

/// One sandbox of the preview.
#[derive(Debug, Clone, PartialEq)]
pub struct ReapRow {
    /// Which, and why.
    pub found: Reaped,
    /// Is it to go? `None` if it stays anyway.
    pub ticked: Option<bool>,
}

impl ReapRow {
    fn new(found: Reaped) -> Self {
        let is_due = matches!(
            found.standing.verdict,
            Verdict::Remove(_) | Verdict::Freeze(_)
        );
        Self {
            found,
            ticked: is_due.then_some(true),
        }
    }
}

/// Returns the rules that the settings give.
#[must_use]
pub fn rules(settings: &ManagerSettings) -> ReapRules {
    ReapRules {
        idle: settings.idle_timeout,
        orphan: settings.orphan_timeout,
        grace: settings.idle_action,
    }
}

/// Asks for the preview.
pub(crate) fn ask(state: &mut AppState) -> Vec<Effect> {
    let command = Command::Survey {
        host: state.settings.host.clone(),
        rules: rules(&state.settings.config.manager),
    };
    vec![submit(
        state,
        command,
        "looking for idle sandboxes",
        ReplyTo::Reap,
    )]
}

/// Takes the answer: the preview, or after the deed what was done.
pub(crate) fn answered(
    state: &mut AppState,
    found: Vec<Reaped>,
    leftovers: Vec<Leftover>,
) -> Vec<Effect> {
    if found.iter().any(|one| one.done.is_some()) {
        told(state, &found);
        return Vec::new();
    }
    let mut rows: Vec<ReapRow> = found.into_iter().map(ReapRow::new).collect();
    rows.sort_by_key(|row| row.ticked.is_none());
    let preview = ReapPreview {
        rows,
        leftovers,
        at: 0,
    };
    open(state, Overlay::Reap(Box::new(preview)))
}

/// Says what was reaped.
pub(crate) fn told(state: &mut AppState, found: &[Reaped]) {
    for one in found {
        let name = &one.sandbox.name;
        match (&one.done, one.standing.verdict) {
            (Some(Ok(())), Verdict::Freeze(reason)) => {
                state.say(
                    Tone::Plain,
                    format!("{name} was frozen: {}.", reason.word()),
                );
            }
            (Some(Ok(())), Verdict::Remove(reason)) => {
                state.say(
                    Tone::Plain,
                    format!("{name} was reaped: {}.", reason.word()),
                );
            }
            (Some(Err(words)), _) => {
                state.say(Tone::Bad, format!("{name} was not reaped: {words}."));
            }
            _ => {}
        }
    }
}

/// Gives an action to the preview.
pub(crate) fn run(
    state: &mut AppState,
    mut preview: Box<ReapPreview>,
    action: Action,
) -> Vec<Effect> {
    match action {
        Action::Mark => {
            let row = preview.rows.get_mut(preview.at);
            if let Some(ticked) = row.and_then(|row| row.ticked.as_mut()) {
                *ticked = !*ticked;
            }
            open(state, Overlay::Reap(preview))
        }
        Action::Open | Action::Accept => reap(state, &preview),
        other => match scrolled(state, other, preview.at) {
            Some(at) => {
                preview.at = at.min(preview.rows.len().saturating_sub(1));
                open(state, Overlay::Reap(preview))
            }
            None => Vec::new(),
        },
    }
}

fn reap(state: &mut AppState, preview: &ReapPreview) -> Vec<Effect> {
    if state.settings.read_only {
        state.say(Tone::Bad, "Read-only: nothing can be changed.");
        return Vec::new();
    }
    let ticked = preview.rows.iter().filter(|row| row.ticked == Some(true));
    let only: Vec<_> = ticked
        .map(|row| row.found.standing.sandbox.clone())
        .collect();
    if only.is_empty() {
        state.say(Tone::Plain, "Nothing is ticked; nothing goes.");
        return Vec::new();
    }
    let label = format!("reaping {} sandboxes", only.len());
    let command = Command::Reap {
        host: state.settings.host.clone(),
        rules: rules(&state.settings.config.manager),
        only: Some(only),
    };
    vec![submit(state, command, &label, ReplyTo::Reap)]
}
