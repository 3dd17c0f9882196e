//! Tab in a prompt for a path of this machine: the folder is read outside, its names complete what was typed.

use std::path::{Path, PathBuf};

use super::overlay::{Ask, Overlay};
use crate::app::flows::apply_intents;
use crate::app::panes::files::{complete, offered};
use crate::app::{AppState, Effect};

/// Asks for the names in the folder that is being typed.
pub(crate) fn ask(state: &mut AppState, ask: Ask) -> Vec<Effect> {
    let folder = folder_of(state, &ask);
    state.view.overlay = Some(Overlay::Ask(ask));
    folder.map_or_else(Vec::new, |folder| vec![Effect::ListHost { folder }])
}

/// Takes the names in a folder: for a pattern that waits for them, or to complete the path by them, or to show the names that it may become.
pub(crate) fn listed(
    state: &mut AppState,
    folder: &Path,
    outcome: Result<Vec<String>, String>,
) -> Vec<Effect> {
    if let Some(intents) = state.files.host_listed(folder, &outcome) {
        return apply_intents::all(state, intents);
    }
    let Some(Overlay::Ask(mut ask)) = state.view.overlay.clone() else {
        return Vec::new();
    };
    // Whoever has typed on meanwhile asks again.
    if folder_of(state, &ask).as_deref() != Some(folder) {
        return Vec::new();
    }
    match outcome {
        Ok(names) => fill_in(&mut ask, &names),
        Err(why) => ask.offers = vec![why],
    }
    state.view.overlay = Some(Overlay::Ask(ask));
    Vec::new()
}

fn fill_in(ask: &mut Ask, names: &[String]) {
    let typed = ask.line.before_cursor();
    ask.offers.clear();
    if let Some(completed) = complete(&typed, names) {
        ask.line.replace_before_cursor(&completed);
        return;
    }
    ask.offers = offered(&typed, names).cloned().collect();
    if ask.offers.is_empty() {
        ask.offers = vec!["Nothing here starts like this.".to_owned()];
    }
}

/// Returns the folder of the path before the cursor; `None` where no such path is asked for.
fn folder_of(state: &AppState, ask: &Ask) -> Option<PathBuf> {
    let is_path = ask.question.purpose.is_host_path();
    let typed = ask.line.before_cursor();
    let end = typed.rfind('/').map_or(0, |at| at + 1);
    let folder = typed.get(..end).filter(|_| is_path)?;
    let folder = if folder.is_empty() { "." } else { folder };
    state.files.host().resolve(folder).ok()
}

#[cfg(test)]
#[expect(clippy::panic, reason = "something else on screen is a failed test")]
mod tests {
    use super::*;
    use crate::app::testing::App;
    use crate::app::{Msg, PromptKind};

    fn names() -> Vec<String> {
        let names = ["data-1.csv", "data-2.csv", "src/"];
        names.map(str::to_owned).to_vec()
    }

    /// An app that asks where to save the output of a run.
    fn asking(typed: &str) -> App {
        let mut app = App::with(80, 24, &["alpha"]);
        let question = crate::app::Question {
            purpose: PromptKind::SaveOutput,
            label: "Save output to".into(),
            start: String::new(),
        };
        apply_intents::all(&mut app.state, vec![crate::app::Intent::Ask(question)]);
        app.typed(typed);
        app.keys("tab");
        app
    }

    fn line(app: &App) -> (String, Vec<String>) {
        match &app.state.view.overlay {
            Some(Overlay::Ask(ask)) => (ask.line.text(), ask.offers.clone()),
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
