//! Pausing all running sandboxes of ours at once, to look at what they do, and resuming them.

use super::SandboxesState;
use super::intents::submit;
use crate::app::intent::{Intent, Tone};
use crate::domain::{Phase, Sandbox, SandboxRef};
use crate::protocol::LifecycleOp as Act;

impl SandboxesState {
    /// Asks before everything of ours is paused.
    pub(super) fn pause_all(&self) -> Vec<Intent> {
        let running = self.ours(Phase::Running);
        let question = match running.len() {
            0 => return tell("No sandbox of ours runs."),
            1 => "Pause the one running sandbox? Nothing goes on in it until you resume it."
                .to_owned(),
            count => format!(
                "Pause all {count} running sandboxes? Nothing goes on in them until you resume them."
            ),
        };
        let paused = running.iter().map(|sandbox| sandbox.reference.clone());
        let mut then = vec![Intent::RememberPaused(paused.collect())];
        then.extend(each(&running, Act::Pause));
        vec![Intent::Confirm {
            question,
            button: "Pause".to_owned(),
            then,
        }]
    }

    /// Remembers what is being paused at once, with what was before and is still paused.
    pub fn remember_paused(&mut self, paused: Vec<SandboxRef>) {
        self.paused_at_once.extend(paused);
    }

    /// Resumes what was paused at once, also what is only on its way there: the manager does one after the other. Anything else
    /// somebody paused for a reason, so that is asked about.
    pub(super) fn resume_all(&mut self) -> Vec<Intent> {
        let at_once = std::mem::take(&mut self.paused_at_once);
        let at_once = at_once
            .iter()
            .filter_map(|reference| self.rows.get(reference));
        let at_once: Vec<&Sandbox> = at_once
            .map(|row| &row.sandbox)
            .filter(|sandbox| sandbox.phase.is_live())
            .collect();
        if !at_once.is_empty() {
            return each(&at_once, Act::Resume);
        }
        let paused = self.ours(Phase::Paused);
        let question = match paused.len() {
            0 => return tell("No sandbox of ours is paused."),
            1 => "One sandbox is paused, not by pausing all. Resume it?".to_owned(),
            count => format!("{count} sandboxes are paused, not by pausing all. Resume them?"),
        };
        vec![Intent::Confirm {
            question,
            button: "Resume".to_owned(),
            then: each(&paused, Act::Resume),
        }]
    }

    fn ours(&self, phase: Phase) -> Vec<&Sandbox> {
        let all = self.rows.values().map(|row| &row.sandbox);
        all.filter(|sandbox| sandbox.owner.is_some() && sandbox.phase == phase)
            .collect()
    }
}

fn each(sandboxes: &[&Sandbox], action: Act) -> Vec<Intent> {
    let intents = sandboxes.iter().map(|sandbox| submit(sandbox, action));
    intents.collect()
}

fn tell(sentence: &str) -> Vec<Intent> {
    vec![Intent::Toast(Tone::Plain, sentence.to_owned())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{App, reference, sandbox};
    use crate::protocol::{Command, Failure, FailureKind};

    fn acts(app: &mut App) -> Vec<(String, Act)> {
        let commands = app.commands().into_iter();
        let acts = commands.filter_map(|command| match command {
            Command::Act { sandbox, action } => Some((sandbox.id.to_string(), action)),
            _ => None,
        });
        acts.collect()
    }

    fn id(name: &str) -> String {
        reference(name).id.to_string()
    }

    #[test]
    fn all_of_ours_are_paused_after_a_question_that_counts_them() {
        let mut app = App::new(120, 40);
        app.link(crate::app::testing::up());
        let mut foreign = sandbox("other");
        foreign.owner = None;
        let mut stopped = sandbox("done");
        stopped.phase = Phase::Stopped;
        app.list(vec![sandbox("a"), sandbox("b"), foreign, stopped]);
        app.commands();
        app.keys("F");
        assert!(app.screen().contains("all 2 running"), "{}", app.screen());
        assert_eq!(acts(&mut app), []);
        app.keys("y");
        assert_eq!(
            acts(&mut app),
            [(id("a"), Act::Pause), (id("b"), Act::Pause)]
        );
    }

    #[test]
    fn only_what_was_paused_at_once_is_resumed_at_once_and_also_what_is_not_seen_paused_yet() {
        let mut app = App::with(120, 40, &["a"]);
        app.keys("T");
        assert_eq!(acts(&mut app), []);
        let mut before = sandbox("before");
        before.phase = Phase::Paused;
        app.list(vec![sandbox("a"), sandbox("b"), before.clone()]);
        app.keys("F y");
        let paused = [(id("a"), Act::Pause), (id("b"), Act::Pause)];
        assert_eq!(acts(&mut app), paused);
        // One is told to be paused by now, of the other nothing was heard.
        let now = Sandbox {
            phase: Phase::Paused,
            ..sandbox("a")
        };
        app.list(vec![now, sandbox("b"), before.clone()]);
        app.keys("T");
        let resumed = [(id("a"), Act::Resume), (id("b"), Act::Resume)];
        assert_eq!(acts(&mut app), resumed);
        app.list(vec![sandbox("a"), sandbox("b"), before]);
        app.keys("T");
        assert_eq!(acts(&mut app), [], "somebody paused it for a reason");
        assert!(
            app.screen().contains("not by pausing all"),
            "{}",
            app.screen()
        );
        app.keys("y");
        assert_eq!(acts(&mut app), [(id("before"), Act::Resume)]);
    }

    #[test]
    fn the_list_is_read_again_after_the_last_of_ones_own_changes() {
        let mut app = App::with(120, 40, &["a", "b"]);
        app.keys("F y");
        let requests = app.requests();
        let acts = requests
            .iter()
            .filter(|r| matches!(r.command, Command::Act { .. }));
        let ids: Vec<_> = acts.map(|request| request.id).collect();
        let refreshes = |app: &mut App| {
            let commands = app.commands();
            commands.iter().filter(|c| **c == Command::Refresh).count()
        };
        let answer = |app: &mut App, request| {
            let outcome = Ok(crate::protocol::Reply::Done);
            app.engine(crate::protocol::Event::Replied { request, outcome });
        };
        let mut read_again = Vec::new();
        for id in ids {
            answer(&mut app, id);
            read_again.push(refreshes(&mut app));
        }
        assert_eq!(read_again, [0, 1], "after the last one only");
    }

    fn in_phase(phase: Phase) -> Sandbox {
        Sandbox {
            phase,
            ..sandbox("a")
        }
    }

    fn lists(app: &mut App) -> usize {
        let is_list = |command: &Command| matches!(command, Command::File { .. });
        app.commands().iter().filter(|c| is_list(c)).count()
    }

    #[test]
    fn the_files_of_a_paused_sandbox_stay_in_sight() {
        let mut app = App::with(140, 40, &["a"]);
        app.list(vec![in_phase(Phase::Paused)]);
        app.tick(1);
        assert!(app.screen().contains("a:/workspace"), "{}", app.screen());
    }

    #[test]
    fn what_could_not_be_seen_while_paused_is_looked_at_again() {
        let mut app = App::new(140, 40);
        app.link(crate::app::testing::up());
        app.list(vec![in_phase(Phase::Paused)]);
        app.tick(1);
        let refused = Failure::new(FailureKind::Conflict, "it is paused");
        app.answer(|command| matches!(command, Command::File { .. }).then(|| Err(refused.clone())));
        assert!(app.screen().contains("a is paused"), "{}", app.screen());
        app.tick(2);
        assert_eq!(lists(&mut app), 0, "a paused one is not asked for ever");
        app.list(vec![in_phase(Phase::Running)]);
        app.tick(3);
        app.tick(4);
        assert_eq!(lists(&mut app), 1);
    }
}
