//! The preview of reaping: who would go and why, each with a tick, then one confirmation.

use ratatui::layout::Rect;

use super::cx::Cx;
use super::layer::{Layer, Reaction, move_choice};
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::intent::{Intent, ReplyTo, Tone};
use crate::app::settings::Settings;
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
    pub fn place(&self, screen: Rect) -> ListBox {
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
            found.reap_status.verdict,
            Verdict::Remove(_) | Verdict::Pause(_)
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
#[must_use]
pub fn request(settings: &Settings) -> Intent {
    let command = Command::PreviewReap {
        host: settings.host.clone(),
        rules: rules(&settings.config.manager),
    };
    Intent::submit(command, "looking for idle sandboxes", ReplyTo::ReapPreview)
}

/// Puts in words what was reaped.
#[must_use]
pub fn describe_reaped(found: &[Reaped]) -> Vec<(Tone, String)> {
    let words = |one: &Reaped| {
        let name = &one.sandbox.name;
        match (&one.done, one.reap_status.verdict) {
            (Some(Ok(())), Verdict::Pause(reason)) => Some((
                Tone::Plain,
                format!("{name} was paused: {}.", reason.word()),
            )),
            (Some(Ok(())), Verdict::Remove(reason)) => Some((
                Tone::Plain,
                format!("{name} was reaped: {}.", reason.word()),
            )),
            (Some(Err(words)), _) => Some((Tone::Bad, format!("{name} was not reaped: {words}."))),
            _ => None,
        }
    };
    found.iter().filter_map(words).collect()
}

impl ReapPreview {
    /// Shows what was found, those that would go first.
    #[must_use]
    pub fn new(found: Vec<Reaped>, leftovers: Vec<Leftover>) -> Self {
        let mut rows: Vec<ReapRow> = found.into_iter().map(ReapRow::new).collect();
        rows.sort_by_key(|row| row.ticked.is_none());
        Self {
            rows,
            leftovers,
            at: 0,
        }
    }

    fn tick(&mut self) -> Reaction {
        let row = self.rows.get_mut(self.at);
        if let Some(ticked) = row.and_then(|row| row.ticked.as_mut()) {
            *ticked = !*ticked;
        }
        Reaction::stay()
    }

    /// Reaps what is ticked.
    fn reap(&self, settings: &Settings) -> Intent {
        if settings.read_only {
            let words = "Read-only: nothing can be changed.";
            return Intent::Toast(Tone::Bad, words.to_owned());
        }
        let ticked = self.rows.iter().filter(|row| row.ticked == Some(true));
        let only: Vec<_> = ticked
            .map(|row| row.found.reap_status.sandbox.clone())
            .collect();
        if only.is_empty() {
            let words = "Nothing is ticked; nothing goes.";
            return Intent::Toast(Tone::Plain, words.to_owned());
        }
        let label = format!("reaping {} sandboxes", only.len());
        let command = Command::Reap {
            host: settings.host.clone(),
            rules: rules(&settings.config.manager),
            only: Some(only),
        };
        Intent::submit(command, label, ReplyTo::Reap)
    }
}

impl Layer for ReapPreview {
    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        match action {
            Action::Mark => self.tick(),
            Action::Open | Action::Accept => Reaction::close_and(vec![self.reap(cx.settings)]),
            other => move_choice(&mut self.at, self.rows.len(), other, cx),
        }
    }

    fn list_box(&self, cx: &Cx<'_>) -> Option<ListBox> {
        Some(self.place(cx.screen))
    }

    fn select_row(&mut self, row: usize) {
        self.at = row;
    }

    fn row_action(&self, _again: bool) -> Option<Action> {
        Some(Action::Mark)
    }
}
