//! A line of text that is asked for; Tab completes a path of this machine by the names in its folder, which are read outside.

use std::path::{Path, PathBuf};

use super::cx::Cx;
use super::layer::{Layer, Reaction, Wheel};
use super::line::LineInput;
use crate::app::intent::{Intent, Prompt, PromptKind};
use crate::app::msg::Effect;
use crate::app::panes::files::{HostPlaces, complete, offered};
use crate::keymap::{Action, Context, Key};

/// A line of text that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptState {
    /// What for.
    pub prompt: Prompt,
    /// What was typed so far.
    pub line: LineInput,
    /// What it may become, or why nothing is known of that; until the next key.
    pub offers: Vec<String>,
}

impl PromptState {
    /// Starts with what the prompt starts with.
    #[must_use]
    pub fn new(prompt: Prompt) -> Self {
        Self {
            line: LineInput::new(&prompt.start),
            offers: Vec::new(),
            prompt,
        }
    }

    /// Takes the names in a folder: completes the path by them, or shows what it may become.
    pub fn host_listed(
        &mut self,
        places: &HostPlaces,
        folder: &Path,
        outcome: Result<Vec<String>, String>,
    ) {
        // Whoever has typed on meanwhile asks again.
        if self.folder(places).as_deref() != Some(folder) {
            return;
        }
        match outcome {
            Ok(names) => self.fill_in(&names),
            Err(why) => self.offers = vec![why],
        }
    }

    fn fill_in(&mut self, names: &[String]) {
        let typed = self.line.before_cursor();
        self.offers.clear();
        if let Some(completed) = complete(&typed, names) {
            self.line.replace_before_cursor(&completed);
            return;
        }
        self.offers = offered(&typed, names).cloned().collect();
        if self.offers.is_empty() {
            self.offers = vec!["Nothing here starts like this.".to_owned()];
        }
    }

    /// Returns the folder of the path before the cursor; `None` where no such path is asked for.
    fn folder(&self, places: &HostPlaces) -> Option<PathBuf> {
        let is_path = self.prompt.kind.is_host_path();
        let typed = self.line.before_cursor();
        let end = typed.rfind('/').map_or(0, |at| at + 1);
        let folder = typed.get(..end).filter(|_| is_path)?;
        let folder = if folder.is_empty() { "." } else { folder };
        places.resolve(folder).ok()
    }

    fn answer(&self, text: String) -> Intent {
        Intent::Answer(self.prompt.kind.clone(), text)
    }

    /// Filters that are not wanted any more are emptied.
    fn refuse(&self) -> Vec<Intent> {
        match self.prompt.kind {
            PromptKind::FilterSandboxes | PromptKind::FilterFiles | PromptKind::SearchOutput => {
                vec![self.answer(String::new())]
            }
            _ => Vec::new(),
        }
    }
}

impl Layer for PromptState {
    fn context(&self) -> Context {
        Context::Prompt
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        match action {
            Action::Accept => Reaction::close_and(vec![self.answer(self.line.text())]),
            Action::Refuse | Action::Back => Reaction::close_and(self.refuse()),
            Action::NextField => {
                let folder = self.folder(cx.host_places);
                let list = folder.map(|folder| Intent::Effect(Effect::ListHost { folder }));
                Reaction::stay_and(list.into_iter().collect())
            }
            _ => Reaction::stay(),
        }
    }

    fn on_key(&mut self, key: Key, _cx: &Cx<'_>) -> Vec<Intent> {
        self.line.key(key);
        self.offers.clear();
        let kind = self.prompt.kind.clone();
        vec![Intent::AnswerSoFar(kind, self.line.text())]
    }

    fn on_paste(&mut self, text: &str, _cx: &Cx<'_>) -> Vec<Intent> {
        self.line.insert(text);
        Vec::new()
    }

    fn wheel(&self) -> Wheel {
        Wheel::Ignored
    }
}

#[cfg(test)]
#[expect(clippy::panic, reason = "something else on screen is a failed test")]
mod tests {
    use super::*;
    use crate::app::Msg;
    use crate::app::overlays::Overlay;
    use crate::app::testing::App;

    fn names() -> Vec<String> {
        let names = ["data-1.csv", "data-2.csv", "src/"];
        names.map(str::to_owned).to_vec()
    }

    /// An app that asks where to save the output of a run.
    fn asking(typed: &str) -> App {
        let mut app = App::with(80, 24, &["alpha"]);
        let prompt = Prompt {
            kind: PromptKind::SaveOutput,
            label: "Save output to".into(),
            start: String::new(),
        };
        app.apply(vec![Intent::Ask(prompt)]);
        app.typed(typed);
        app.keys("tab");
        app
    }

    fn line(app: &App) -> (String, Vec<String>) {
        match &app.state.view.overlay {
            Some(Overlay::Prompt(open)) => (open.line.text(), open.offers.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn answer(app: &mut App, outcome: Result<Vec<String>, String>) {
        let Some(Effect::ListHost { folder }) = app.effects.pop() else {
            panic!("no folder was asked for");
        };
        app.tell(Msg::HostListed { folder, outcome });
    }

    #[test]
    fn tab_completes_and_then_offers() {
        let mut app = asking("/x/d");
        assert_eq!(
            app.effects,
            [Effect::ListHost {
                folder: "/x/".into()
            }]
        );
        answer(&mut app, Ok(names()));
        assert_eq!(line(&app), ("/x/data-".into(), Vec::new()));
        app.keys("tab");
        answer(&mut app, Ok(names()));
        assert_eq!(line(&app).1, ["data-1.csv", "data-2.csv"]);
        assert!(
            app.screen().contains("data-1.csv  data-2.csv"),
            "{}",
            app.screen()
        );
        app.typed("1");
        assert_eq!(line(&app), ("/x/data-1".into(), Vec::new()));
    }

    #[test]
    fn folders_end_in_a_slash_and_trouble_is_told() {
        let mut app = asking("s");
        answer(&mut app, Ok(names()));
        assert_eq!(line(&app).0, "src/");
        app.keys("tab");
        answer(&mut app, Err("src: permission denied".into()));
        assert_eq!(line(&app).1, ["src: permission denied"]);
        let mut app = asking("zz");
        answer(&mut app, Ok(names()));
        assert_eq!(line(&app).1, ["Nothing here starts like this."]);
    }

    #[test]
    fn an_answer_that_comes_late_changes_nothing() {
        let mut app = asking("/x/d");
        app.typed("/");
        answer(&mut app, Ok(names()));
        assert_eq!(line(&app).0, "/x/d/");
        app.keys("esc");
        let folder = "/x/".into();
        app.tell(Msg::HostListed {
            folder,
            outcome: Ok(names()),
        });
        assert!(app.state.view.overlay.is_none());
    }
}
