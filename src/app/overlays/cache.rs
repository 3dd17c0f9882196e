//! The panel of installed packages: what is kept for the next run, and what can go.

use ratatui::layout::Rect;

use super::overlay::{Confirm, Overlay};
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::input::on_action::{open, submit};
use crate::app::input::on_overlay::scrolled;
use crate::app::pending::ReplyTo;
use crate::app::{AppState, Effect, Intent, Tone};
use crate::domain::{Cleared, Stocked};
use crate::keymap::Action;
use crate::protocol::Command;
use crate::text::human;

/// Installed packages, the last used first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachePanel {
    /// All of them.
    pub all: Vec<Stocked>,
    /// The chosen one.
    pub at: usize,
}

impl CachePanel {
    /// Places it.
    #[must_use]
    pub fn list_box(&self, screen: Rect) -> ListBox {
        let shape = Shape {
            width: 96,
            head: 1,
            foot: 2,
        };
        ListBox::new(screen, shape, self.all.len(), self.at)
    }
}

/// Asks what there is.
pub(crate) fn ask(state: &mut AppState) -> Vec<Effect> {
    let command = Command::Stock(state.settings.host.clone());
    vec![submit(
        state,
        command,
        "looking for packages",
        ReplyTo::Stock,
    )]
}

/// Shows what there is.
pub(crate) fn answered(state: &mut AppState, all: Vec<Stocked>) -> Vec<Effect> {
    open(state, Overlay::Cache(Box::new(CachePanel { all, at: 0 })))
}

/// Says what was removed, and shows what is left.
pub(crate) fn cleared(state: &mut AppState, cleared: &[Cleared]) -> Vec<Effect> {
    state.editor.look_again();
    let gone = cleared.iter().filter(|one| one.done.is_ok());
    let freed: u64 = gone.clone().map(|one| one.shelf.size_bytes).sum();
    match cleared.iter().find_map(|one| one.done.as_ref().err()) {
        Some(why) => state.say(Tone::Bad, format!("Not all packages were removed: {why}.")),
        None if cleared.is_empty() => state.say(Tone::Plain, "Nothing is too old or too much."),
        None => {
            let words = format!("{} of packages were removed.", human::bytes(freed));
            state.say(Tone::Good, words);
        }
    }
    ask(state)
}

/// Gives an action to the panel.
pub(crate) fn run(state: &mut AppState, mut panel: Box<CachePanel>, action: Action) -> Vec<Effect> {
    match action {
        Action::Delete => delete(state, panel),
        Action::Prune => {
            let command = Command::PruneStock(state.settings.host.clone());
            vec![submit(
                state,
                command,
                "removing old packages",
                ReplyTo::Stock,
            )]
        }
        other => match scrolled(state, other, panel.at) {
            Some(at) => {
                panel.at = at.min(panel.all.len().saturating_sub(1));
                open(state, Overlay::Cache(panel))
            }
            None => Vec::new(),
        },
    }
}

fn delete(state: &mut AppState, panel: Box<CachePanel>) -> Vec<Effect> {
    let Some(one) = panel.all.get(panel.at) else {
        return open(state, Overlay::Cache(panel));
    };
    let (key, packages) = (one.shelf.key.clone(), one.shelf.packages.join(", "));
    let command = Command::ClearStock {
        host: state.settings.host.clone(),
        keys: vec![key],
    };
    let confirm = Confirm {
        question: format!("Remove {packages}? The next run installs them anew."),
        button: "Remove".to_owned(),
        then: vec![Intent::Submit {
            command,
            label: "removing packages".to_owned(),
        }],
        chosen: false,
    };
    open(state, Overlay::Confirm(confirm))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::app::testing::{App, start};
    use crate::domain::Shelf;
    use crate::protocol::{Failure, Reply};

    pub(crate) fn stocked(key: &str, packages: &[&str], expired: bool) -> Stocked {
        Stocked {
            shelf: Shelf {
                name: key.to_owned(),
                key: key.repeat(16),
                language: "python".to_owned(),
                image: "python:3.12-slim".to_owned(),
                packages: packages.iter().map(|&name| name.to_owned()).collect(),
                made_at: start() - chrono::TimeDelta::hours(3),
                size_bytes: 5 << 20,
                complete: true,
            },
            hits: 12,
            used_at: start() - chrono::TimeDelta::minutes(4),
            expired,
        }
    }

    fn stock(command: &Command) -> Option<Result<Reply, Failure>> {
        let all = vec![
            stocked("ab12", &["numpy", "rich"], false),
            stocked("cd34", &["pandas"], true),
        ];
        matches!(command, Command::Stock(_)).then_some(Ok(Reply::Stock(all)))
    }

    #[test]
    fn packages_are_shown_and_removed_after_a_question() {
        let mut app = App::with(120, 40, &["alpha"]);
        app.keys("2 p");
        app.answer(stock);
        let screen = app.screen();
        assert!(
            screen.contains("numpy rich") && screen.contains("12"),
            "{screen}"
        );
        assert!(screen.contains("expired"), "{screen}");
        app.keys("j d");
        assert_eq!(app.commands(), [], "a question first");
        app.keys("y");
        let sent = app.commands();
        let keys = vec!["cd34".repeat(16)];
        assert!(matches!(&sent[..], [Command::ClearStock { keys: sent, .. }] if *sent == keys));
    }

    #[test]
    fn pruning_says_what_came_of_it_and_shows_the_rest() {
        let mut app = App::with(120, 40, &["alpha"]);
        app.keys("2 p");
        app.answer(stock);
        app.keys("p");
        app.answer(|command| {
            let done = Cleared {
                shelf: stocked("cd34", &["pandas"], true).shelf,
                why: "expired",
                done: Ok(()),
            };
            matches!(command, Command::PruneStock(_)).then(|| Ok(Reply::Cleared(vec![done])))
        });
        let said = app.state.status.log().next().map(|toast| &*toast.text);
        assert_eq!(said, Some("5 MiB of packages were removed."));
        assert!(matches!(app.commands()[..], [Command::Stock(_)]));
    }
}
