//! The library of snippets: programs kept on this machine, beside a first program for each language.

use ratatui::layout::Rect;

use super::overlay::{Confirm, Overlay};
use crate::app::flows::apply_intents;
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::input::on_action;
use crate::app::input::on_action::open;
use crate::app::input::on_overlay::scrolled;
use crate::app::{AppState, Effect, Intent, Pane, PromptKind, Question, Tone};
use crate::code::Language;
use crate::keymap::Action;

/// Longest name of a snippet.
const LONGEST: usize = 100;

/// Work on the library, done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnippetOp {
    /// List the names.
    List,
    /// Keep a text.
    Keep {
        /// Its name.
        name: String,
        /// The text.
        text: String,
        /// May one of that name be replaced?
        replace: bool,
    },
    /// Read one.
    Open(String),
    /// Call one otherwise.
    Rename {
        /// From.
        from: String,
        /// To.
        to: String,
    },
    /// Delete one.
    Delete(String),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnippetNews {
    /// The names, sorted.
    Listed(Vec<String>),
    /// One was read.
    Opened {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
    },
    /// One was not kept, because there is one of its name.
    Exists {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
    },
    /// One was kept.
    Kept(String),
    /// Something else was changed; these are the names now.
    Changed(Vec<String>),
    /// It failed, in words.
    Failed(String),
}

/// The list of what can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnippetPanel {
    /// One's own first, then the first programs.
    pub entries: Vec<Entry>,
    /// The chosen one.
    pub at: usize,
}

impl SnippetPanel {
    /// Places it.
    #[must_use]
    pub fn list_box(&self, screen: Rect) -> ListBox {
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
pub enum Entry {
    /// One's own.
    Own(String),
    /// A first program.
    Starter(Language),
}

/// Asks for the list.
pub(crate) fn ask() -> Vec<Effect> {
    vec![Effect::Snippet(SnippetOp::List)]
}

/// Asks under which name the buffer is to be kept.
pub(crate) fn save(state: &mut AppState) -> Vec<Effect> {
    let buffer = state.editor.current();
    let start = buffer
        .name
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    let question = Question {
        purpose: PromptKind::KeepSnippet,
        label: "Keep as snippet".to_owned(),
        start,
    };
    apply_intents::all(state, vec![Intent::Ask(question)])
}

/// Takes the answer to a question of the library's.
pub(crate) fn answer(state: &mut AppState, purpose: &PromptKind, name: &str) -> Vec<Effect> {
    let name = name.trim().to_owned();
    if let Some(why) = refusal(&name) {
        state.say(Tone::Bad, why);
        return Vec::new();
    }
    let op = match purpose {
        PromptKind::RenameSnippet { from } => SnippetOp::Rename {
            from: from.clone(),
            to: name,
        },
        _ => SnippetOp::Keep {
            name,
            text: state.editor.current_text(),
            replace: false,
        },
    };
    vec![Effect::Snippet(op)]
}

/// Explains why something cannot be a name; it becomes the name of a file.
fn refusal(name: &str) -> Option<&'static str> {
    let is_odd = |c: char| c == '/' || c.is_control();
    match name {
        "" => Some("A snippet needs a name."),
        _ if name.starts_with('.') => Some("The name of a snippet cannot start with a dot."),
        _ if name.contains(is_odd) => Some("The name of a snippet cannot hold a slash."),
        _ if name.len() > LONGEST => Some("This name is too long."),
        _ => None,
    }
}

/// Takes what came of work on the library.
pub(crate) fn news(state: &mut AppState, news: SnippetNews) -> Vec<Effect> {
    match news {
        SnippetNews::Listed(names) | SnippetNews::Changed(names) => show(state, names),
        SnippetNews::Opened { name, text } => open_text(state, &name, &text),
        SnippetNews::Exists { name, text } => ask_to_replace(state, name, text),
        SnippetNews::Kept(name) => {
            state.say(Tone::Good, format!("{name} is in the library."));
            Vec::new()
        }
        SnippetNews::Failed(why) => {
            state.say(Tone::Bad, why);
            Vec::new()
        }
    }
}

fn show(state: &mut AppState, names: Vec<String>) -> Vec<Effect> {
    let languages = state.settings.config.languages.clone();
    let starters = languages
        .iter()
        .filter(|language| !language.starter().is_empty());
    let own = names.into_iter().map(Entry::Own);
    let entries = own.chain(starters.cloned().map(Entry::Starter)).collect();
    open(
        state,
        Overlay::Snippets(Box::new(SnippetPanel { entries, at: 0 })),
    )
}

fn open_text(state: &mut AppState, name: &str, text: &str) -> Vec<Effect> {
    let intents = state.editor.open_text(name, text);
    let mut effects = apply_intents::all(state, intents);
    effects.extend(on_action::focus(state, Pane::Editor));
    effects
}

fn ask_to_replace(state: &mut AppState, name: String, text: String) -> Vec<Effect> {
    let question = format!("{name} is in the library already. Replace it?");
    let keep = SnippetOp::Keep {
        name,
        text,
        replace: true,
    };
    confirm(state, question, "Replace", keep)
}

fn confirm(state: &mut AppState, question: String, button: &str, op: SnippetOp) -> Vec<Effect> {
    let confirm = Confirm {
        question,
        button: button.to_owned(),
        then: vec![Intent::Snippet(op)],
        chosen: false,
    };
    open(state, Overlay::Confirm(confirm))
}

/// Gives an action to the list.
pub(crate) fn run(
    state: &mut AppState,
    mut panel: Box<SnippetPanel>,
    action: Action,
) -> Vec<Effect> {
    let chosen = panel.entries.get(panel.at).cloned();
    match (action, chosen) {
        (Action::Open | Action::Accept, Some(Entry::Own(name))) => {
            vec![Effect::Snippet(SnippetOp::Open(name))]
        }
        (Action::Open | Action::Accept, Some(Entry::Starter(language))) => {
            let name = format!("first.{}", language.extension());
            open_text(state, &name, language.starter())
        }
        (Action::Delete, Some(Entry::Own(name))) => {
            let question = format!("Delete {name} from the library?");
            confirm(state, question, "Delete", SnippetOp::Delete(name))
        }
        (Action::Rename, Some(Entry::Own(name))) => {
            let question = Question {
                label: format!("New name of {name}"),
                start: name.clone(),
                purpose: PromptKind::RenameSnippet { from: name },
            };
            apply_intents::all(state, vec![Intent::Ask(question)])
        }
        (other, _) => match scrolled(state, other, panel.at) {
            Some(at) => {
                panel.at = at.min(panel.entries.len().saturating_sub(1));
                open(state, Overlay::Snippets(panel))
            }
            None => Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Msg;
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
