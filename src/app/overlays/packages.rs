//! The panel of installed packages: what is kept for the next run, and what can go.

use ratatui::layout::Rect;

use super::cx::Cx;
use super::layer::{Layer, Reaction, move_choice};
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::intent::{Intent, ReplyTo, Tone};
use crate::domain::{CachedPackages, HostName, RemovedPackages};
use crate::keymap::Action;
use crate::protocol::Command;
use crate::text::human;

/// Installed packages, the last used first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackagesPanel {
    /// All of them.
    pub all: Vec<CachedPackages>,
    /// The chosen one.
    pub at: usize,
}

impl PackagesPanel {
    /// Places it.
    #[must_use]
    pub fn place(&self, screen: Rect) -> ListBox {
        let shape = Shape {
            width: 96,
            head: 1,
            foot: 2,
        };
        ListBox::new(screen, shape, self.all.len(), self.at)
    }
}

/// Asks what there is.
#[must_use]
pub fn request(host: &HostName) -> Intent {
    let command = Command::ListPackages(host.clone());
    Intent::submit(command, "looking for packages", ReplyTo::Packages)
}

/// Puts in words what was removed.
#[must_use]
pub fn describe_removal(cleared: &[RemovedPackages]) -> (Tone, String) {
    let gone = cleared.iter().filter(|one| one.done.is_ok());
    let freed: u64 = gone.map(|one| one.set.size_bytes).sum();
    match cleared.iter().find_map(|one| one.done.as_ref().err()) {
        Some(why) => (Tone::Bad, format!("Not all packages were removed: {why}.")),
        None if cleared.is_empty() => {
            let words = "Nothing is too old or too much.";
            (Tone::Plain, words.to_owned())
        }
        None => {
            let words = format!("{} of packages were removed.", human::bytes(freed));
            (Tone::Good, words)
        }
    }
}

impl PackagesPanel {
    fn delete(&self, host: &HostName) -> Reaction {
        let Some(one) = self.all.get(self.at) else {
            return Reaction::stay();
        };
        let command = Command::RemovePackages {
            host: host.clone(),
            keys: vec![one.set.key.clone()],
        };
        let packages = one.set.packages.join(", ");
        Reaction::close_and(vec![Intent::Confirm {
            question: format!("Remove {packages}? The next run installs them anew."),
            button: "Remove".to_owned(),
            then: vec![Intent::submit(
                command,
                "removing packages",
                ReplyTo::Packages,
            )],
        }])
    }
}

impl Layer for PackagesPanel {
    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        let host = &cx.settings.host;
        match action {
            Action::Delete => self.delete(host),
            Action::Prune => {
                let command = Command::PrunePackages(host.clone());
                let prune = Intent::submit(command, "removing old packages", ReplyTo::Packages);
                Reaction::close_and(vec![prune])
            }
            other => move_choice(&mut self.at, self.all.len(), other, cx),
        }
    }

    fn list_box(&self, cx: &Cx<'_>) -> Option<ListBox> {
        Some(self.place(cx.screen))
    }

    fn select_row(&mut self, row: usize) {
        self.at = row;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::app::testing::{App, start};
    use crate::domain::PackageSet;
    use crate::protocol::{Failure, Reply};

    pub(crate) fn stocked(key: &str, packages: &[&str], expired: bool) -> CachedPackages {
        CachedPackages {
            set: PackageSet {
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
        matches!(command, Command::ListPackages(_)).then_some(Ok(Reply::PackageSets(all)))
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
        assert!(matches!(&sent[..], [Command::RemovePackages { keys: sent, .. }] if *sent == keys));
    }

    #[test]
    fn pruning_says_what_came_of_it_and_shows_the_rest() {
        let mut app = App::with(120, 40, &["alpha"]);
        app.keys("2 p");
        app.answer(stock);
        app.keys("p");
        app.answer(|command| {
            let done = RemovedPackages {
                set: stocked("cd34", &["pandas"], true).set,
                why: "expired",
                done: Ok(()),
            };
            matches!(command, Command::PrunePackages(_))
                .then(|| Ok(Reply::PackagesRemoved(vec![done])))
        });
        let said = app.state.status.log().next().map(|toast| &*toast.text);
        assert_eq!(said, Some("5 MiB of packages were removed."));
        assert!(matches!(app.commands()[..], [Command::ListPackages(_)]));
    }
}
