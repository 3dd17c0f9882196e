//! The library of snippets: programs kept on this machine, beside a first program for each language.

use ratatui::layout::Rect;

use super::cx::Cx;
use super::layer::{Layer, Reaction, move_choice};
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::intent::{Intent, Prompt, PromptKind};
use crate::app::msg::{Effect, SnippetOp};
use crate::code::{Language, Languages};
use crate::keymap::Action;

/// Longest name of a snippet.
const LONGEST: usize = 100;

/// The list of what can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnippetPanel {
    /// One's own first, then the first programs.
    pub entries: Vec<SnippetEntry>,
    /// The chosen one.
    pub at: usize,
}

impl SnippetPanel {
    /// Places it.
    #[must_use]
    pub fn place(&self, screen: Rect) -> ListBox {
        let shape = Shape {
            width: 68,
            head: 0,
            foot: 0,
        };
        ListBox::new(screen, shape, self.entries.len(), self.at)
    }
}

/// Something that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnippetEntry {
    /// One's own.
    Own(String),
    /// A first program.
    Starter(Language),
}

/// Asks under which name a buffer is to be kept.
#[must_use]
pub fn ask_name(buffer: &str) -> Intent {
    let start = buffer.rsplit('/').next().unwrap_or_default().to_owned();
    Intent::Ask(Prompt {
        kind: PromptKind::KeepSnippet,
        label: "Keep as snippet".to_owned(),
        start,
    })
}

/// Explains why something cannot be a name; it becomes the name of a file.
#[must_use]
pub fn refusal(name: &str) -> Option<&'static str> {
    let is_odd = |c: char| c == '/' || c.is_control();
    match name {
        "" => Some("A snippet needs a name."),
        _ if name.starts_with('.') => Some("The name of a snippet cannot start with a dot."),
        _ if name.contains(is_odd) => Some("The name of a snippet cannot hold a slash."),
        _ if name.len() > LONGEST => Some("This name is too long."),
        _ => None,
    }
}

/// Asks before something is done that cannot be undone.
#[must_use]
pub fn confirm(question: String, button: &str, op: SnippetOp) -> Intent {
    Intent::Confirm {
        question,
        button: button.to_owned(),
        then: vec![Intent::Effect(Effect::Snippet(op))],
    }
}

impl SnippetPanel {
    /// Lists one's own snippets and the first programs.
    #[must_use]
    pub fn new(names: Vec<String>, languages: &Languages) -> Self {
        let starters = languages.iter();
        let starters = starters.filter(|language| !language.starter().is_empty());
        let own = names.into_iter().map(SnippetEntry::Own);
        let entries = own
            .chain(starters.cloned().map(SnippetEntry::Starter))
            .collect();
        Self { entries, at: 0 }
    }
}

fn open(entry: SnippetEntry) -> Intent {
    match entry {
        SnippetEntry::Own(name) => Intent::Effect(Effect::Snippet(SnippetOp::Open(name))),
        SnippetEntry::Starter(language) => Intent::EditText {
            name: format!("first.{}", language.extension()),
            text: language.starter().to_owned(),
        },
    }
}

fn delete(name: String) -> Intent {
    let question = format!("Delete {name} from the library?");
    confirm(question, "Delete", SnippetOp::Delete(name))
}

fn rename(name: String) -> Intent {
    Intent::Ask(Prompt {
        label: format!("New name of {name}"),
        start: name.clone(),
        kind: PromptKind::RenameSnippet { from: name },
    })
}

impl Layer for SnippetPanel {
    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        let chosen = self.entries.get(self.at).cloned();
        match (action, chosen) {
            (Action::Open | Action::Accept, Some(entry)) => Reaction::close_and(vec![open(entry)]),
            (Action::Delete, Some(SnippetEntry::Own(name))) => {
                Reaction::close_and(vec![delete(name)])
            }
            (Action::Rename, Some(SnippetEntry::Own(name))) => {
                Reaction::close_and(vec![rename(name)])
            }
            (other, _) => move_choice(&mut self.at, self.entries.len(), other, cx),
        }
    }

    fn list_box(&self, cx: &Cx<'_>) -> Option<ListBox> {
        Some(self.place(cx.screen))
    }

    fn select_row(&mut self, row: usize) {
        self.at = row;
    }

    fn row_action(&self, again: bool) -> Option<Action> {
        again.then_some(Action::Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Msg;
    use crate::app::msg::SnippetNews;
    use crate::app::testing::App;

    fn op(app: &mut App) -> Option<SnippetOp> {
        app.effects.drain(..).find_map(|effect| match effect {
            Effect::Snippet(op) => Some(op),
            _ => None,
        })
    }

    fn listed(app: &mut App) {
        assert_eq!(op(app), Some(SnippetOp::List));
        let names = vec!["count.py".to_owned(), "plot.js".to_owned()];
        app.tell(Msg::Snippet(SnippetNews::Listed(names)));
    }

    #[test]
    fn a_buffer_is_kept_under_a_name_and_never_over_another_unasked() {
        let mut app = App::with(100, 30, &["alpha"]);
        app.keys("2 S ctrl-u");
        app.typed("../x");
        app.keys("enter");
        assert_eq!(op(&mut app), None, "a slash");
        app.keys("S ctrl-u");
        app.typed("count.py");
        app.keys("enter");
        let text = app.state.editor.current_text();
        let name = "count.py".to_owned();
        let keep = |replace| SnippetOp::Keep {
            name: name.clone(),
            text: text.clone(),
            replace,
        };
        assert_eq!(op(&mut app), Some(keep(false)));
        app.tell(Msg::Snippet(SnippetNews::Exists {
            name: name.clone(),
            text: text.clone(),
        }));
        assert_eq!(op(&mut app), None);
        app.keys("y");
        assert_eq!(op(&mut app), Some(keep(true)));
    }

    #[test]
    fn snippets_and_starters_are_listed_and_opened_as_buffers() {
        let mut app = App::with(100, 30, &["alpha"]);
        app.keys("2 s");
        listed(&mut app);
        let screen = app.screen();
        assert!(
            screen.contains("count.py") && screen.contains("first program in ruby"),
            "{screen}"
        );
        app.keys("j enter");
        assert_eq!(op(&mut app), Some(SnippetOp::Open("plot.js".to_owned())));
        app.tell(Msg::Snippet(SnippetNews::Opened {
            name: "plot.js".to_owned(),
            text: "console.log(1)\n".to_owned(),
        }));
        let buffer = app.state.editor.current();
        let language = buffer.language.as_ref().map(Language::name);
        assert_eq!(
            (buffer.name.as_str(), language),
            ("plot.js", Some("javascript"))
        );
        assert!(!buffer.is_dirty());
        app.keys("s");
        listed(&mut app);
        app.keys("j j enter");
        assert!(
            app.state
                .editor
                .current_text()
                .starts_with("import platform")
        );
    }

    #[test]
    fn a_snippet_is_renamed_and_deleted_after_a_question() {
        let mut app = App::with(100, 30, &["alpha"]);
        app.keys("2 s");
        listed(&mut app);
        app.keys("r ctrl-u");
        app.typed("sum.py");
        app.keys("enter");
        let renamed = SnippetOp::Rename {
            from: "count.py".to_owned(),
            to: "sum.py".to_owned(),
        };
        assert_eq!(op(&mut app), Some(renamed));
        app.tell(Msg::Snippet(SnippetNews::Changed(vec![
            "sum.py".to_owned(),
        ])));
        app.keys("d");
        assert_eq!(op(&mut app), None);
        app.keys("y");
        assert_eq!(op(&mut app), Some(SnippetOp::Delete("sum.py".to_owned())));
    }
}
