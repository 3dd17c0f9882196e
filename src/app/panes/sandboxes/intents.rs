//! What keys of the list ask of others: changes of phase, with a question where something is lost.

use super::SandboxesState;
use crate::app::intent::{Intent, Prompt, PromptKind, ReplyTo, Tone};
use crate::domain::{Phase, Sandbox};
use crate::keymap::Action;
use crate::protocol::{Command, LifecycleOp as Act};

impl SandboxesState {
    pub(super) fn intents(&mut self, action: Action) -> Vec<Intent> {
        match action {
            Action::Start => self.act(Act::Start),
            Action::Stop => self.confirm(Act::Stop, "Its processes end; its files stay."),
            Action::Restart => self.confirm(Act::Restart, "Its processes end; its files stay."),
            Action::Kill => self.confirm(Act::Kill, "Its processes end at once; its files stay."),
            Action::Remove => self.confirm(
                Act::Remove { force: true },
                "Its files are deleted. This cannot be undone.",
            ),
            Action::PauseAll => self.pause_all(),
            Action::ResumeAll => self.resume_all(),
            Action::PauseResume => self.pause_or_resume(),
            Action::Pin => self.pin(),
            Action::Filter => vec![self.ask_filter()],
            Action::Copy => self
                .selected()
                .map(|row| Intent::Copy(row.sandbox.name.clone()))
                .into_iter()
                .collect(),
            Action::CopyAll => self
                .selected()
                .map(|row| Intent::Copy(row.sandbox.reference.id.as_str().to_owned()))
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Pins the targets, or lets all of them be reaped again if all are pinned.
    fn pin(&self) -> Vec<Intent> {
        let targets = self.targets();
        let is_pinned = |sandbox: &&Sandbox| {
            let reap_status = self.reap_status(&sandbox.reference);
            reap_status.is_some_and(|reap_status| reap_status.facts.pinned)
        };
        let pinned = !targets.iter().all(is_pinned);
        let word = if pinned { "pinning" } else { "unpinning" };
        let intent = |sandbox: &Sandbox| Intent::Submit {
            command: Command::Pin {
                sandbox: sandbox.reference.clone(),
                pinned,
            },
            label: format!("{word} {}", sandbox.name),
            reply_to: ReplyTo::Quiet,
        };
        targets.into_iter().map(intent).collect()
    }

    fn ask_filter(&self) -> Intent {
        Intent::Ask(Prompt {
            kind: PromptKind::FilterSandboxes,
            label: "filter".to_owned(),
            start: self.filter.clone(),
        })
    }

    /// Returns the marked sandboxes, or the selected one.
    fn targets(&self) -> Vec<&Sandbox> {
        let marked: Vec<&Sandbox> = self
            .marks
            .iter()
            .filter_map(|r| self.rows.get(r))
            .map(|row| &row.sandbox)
            .collect();
        if marked.is_empty() {
            self.selected()
                .map(|row| &row.sandbox)
                .into_iter()
                .collect()
        } else {
            marked
        }
    }

    fn act(&self, action: Act) -> Vec<Intent> {
        let targets = self.targets();
        if targets.is_empty() {
            return vec![Intent::Toast(
                Tone::Plain,
                "No sandbox is selected. Press c to create one.".to_owned(),
            )];
        }
        targets
            .into_iter()
            .map(|sandbox| submit(sandbox, action))
            .collect()
    }

    fn confirm(&self, action: Act, loss: &str) -> Vec<Intent> {
        let then = self.act(action);
        let names: Vec<&str> = self
            .targets()
            .iter()
            .map(|sandbox| sandbox.name.as_str())
            .collect();
        let question = match names.as_slice() {
            [] => return then,
            [one] => format!("{} {one}? {loss}", capital(action.verb())),
            many => format!(
                "{} {} sandboxes ({})? {loss}",
                capital(action.verb()),
                many.len(),
                many.join(", ")
            ),
        };
        vec![Intent::Confirm {
            question,
            button: capital(action.verb()),
            then,
        }]
    }

    fn pause_or_resume(&self) -> Vec<Intent> {
        let paused = self
            .selected()
            .is_some_and(|row| row.sandbox.phase == Phase::Paused);
        self.act(if paused { Act::Resume } else { Act::Pause })
    }
}

pub(super) fn submit(sandbox: &Sandbox, action: Act) -> Intent {
    let verb = match action {
        Act::Start => "starting",
        Act::Stop => "stopping",
        Act::Restart => "restarting",
        Act::Kill => "killing",
        Act::Pause => "pausing",
        Act::Resume => "resuming",
        Act::Remove { .. } => "removing",
    };
    Intent::Submit {
        command: Command::Act {
            sandbox: sandbox.reference.clone(),
            action,
        },
        label: format!("{verb} {}", sandbox.name),
        reply_to: ReplyTo::Acted,
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
