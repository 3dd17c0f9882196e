//! Going about, filtering and looking into files.

use std::time::Instant;

use super::*;
use crate::app::PromptKind;
use crate::protocol::FailureKind;

fn preview(file: &str) -> Intent {
    Intent::Preview {
        sandbox: sandbox("py"),
        path: path(file),
    }
}

#[test]
fn opens_folders_and_files_and_comes_back() {
    let mut state = usual();
    assert_eq!(name(&state), "src");
    let intents = acts(&mut state, &[Action::Open]);
    assert_eq!(intents, [list("/workspace/src")]);
    assert!(!state.is_listed() && state.listing().is_empty());
    assert_eq!(acts(&mut state, &[Action::Ascend]), [list("/workspace")]);
    let entries = vec![folder("lib"), folder("src"), file("a")];
    state.listed(&sandbox("py"), &path("/workspace"), Ok(entries));
    assert_eq!(name(&state), "src");
    let intents = acts(&mut state, &[Action::Down, Action::Open]);
    assert_eq!(intents, [edit("/workspace/a")]);
    assert_eq!(acts(&mut state, &[Action::Ascend]), [list("/")]);
    assert_eq!(acts(&mut state, &[Action::Ascend]), []);
    assert_eq!(acts(&mut state, &[Action::GoWorkDir]), [list("/workspace")]);
}

#[test]
fn a_link_leads_to_a_folder_or_a_file() {
    let mut state = usual();
    let intents = acts(&mut state, &[Action::Bottom, Action::Open]);
    assert_eq!(intents, [list("/workspace/l")]);
    let failure = Failure::new(FailureKind::Invalid, "/workspace/l is not a directory");
    let intents = state.listed(&sandbox("py"), &path("/workspace/l"), Err(failure));
    assert_eq!(intents, [edit("/workspace/l"), list("/workspace")]);
}

#[test]
fn outdated_listings_are_ignored() {
    let mut state = usual();
    acts(&mut state, &[Action::Open]);
    let late = Ok(vec![file("late")]);
    assert_eq!(
        state.listed(&sandbox("py"), &path("/workspace"), late.clone()),
        []
    );
    assert_eq!(
        state.listed(&sandbox("js"), &path("/workspace/src"), late),
        []
    );
    assert!(!state.is_listed());
    assert!(state.waiting_since().is_some());
}

#[test]
fn each_sandbox_keeps_its_folder() {
    let mut state = usual();
    acts(&mut state, &[Action::Open]);
    let other = Some((sandbox("js"), "js".into(), path("/app")));
    assert_eq!(
        state.show(other),
        [travel::list_folder(sandbox("js"), path("/app"))]
    );
    let back = Some((sandbox("py"), "py".into(), path("/workspace")));
    assert_eq!(state.show(back.clone()), [list("/workspace/src")]);
    assert_eq!(state.show(back), []);
    assert_eq!(state.show(None), []);
    assert_eq!(state.changed(), []);
    assert!(state.place().is_none());
}

#[test]
fn one_preview_is_asked_for_at_a_time() {
    let mut state = usual();
    let (py, a, b) = (sandbox("py"), path("/workspace/a"), path("/workspace/b"));
    assert_eq!(acts(&mut state, &[Action::Down]), [preview("/workspace/a")]);
    assert_eq!(acts(&mut state, &[Action::Down]), []);
    let late = state.previewed(&py, &a, Ok((b"old".to_vec(), false)));
    assert_eq!(late, [preview("/workspace/b")]);
    assert!(state.preview().is_none());
    assert_eq!(state.previewed(&py, &b, Ok((b"new".to_vec(), false))), []);
    assert_eq!(state.preview().map(|p| p.path.clone()), Some(b));
    assert_eq!(acts(&mut state, &[Action::Down]), []);
    assert!(state.preview().is_none(), "links are not read");
}

#[test]
fn the_selection_stays_on_its_name_when_files_come_and_go() {
    let mut state = usual();
    acts(&mut state, &[Action::Down, Action::Down]);
    assert_eq!(name(&state), "b");
    let intents = state.listed(
        &sandbox("py"),
        &path("/workspace"),
        Ok(vec![file("aa"), file("b"), file("c")]),
    );
    assert_eq!((name(&state).as_str(), intents.len()), ("b", 1));
    state.listed(&sandbox("py"), &path("/workspace"), Ok(vec![file("x")]));
    assert_eq!(name(&state), "x");
}

#[test]
fn many_changes_list_once_more() {
    let mut state = usual();
    assert_eq!(state.changed(), [list("/workspace")]);
    assert_eq!(state.changed(), []);
    assert_eq!(state.changed(), []);
    let intents = state.listed(&sandbox("py"), &path("/workspace"), Ok(vec![]));
    assert_eq!(intents, [list("/workspace")]);
    let intents = state.listed(&sandbox("py"), &path("/workspace"), Ok(vec![]));
    assert_eq!(intents, []);
}

#[test]
fn the_filter_narrows_and_back_clears_it() {
    let mut state = usual();
    acts(&mut state, &[Action::Mark]);
    let intents = acts(&mut state, &[Action::Filter]);
    assert!(matches!(&intents[..], [Intent::Ask(question)] if question.start.is_empty()));
    state.answer(&PromptKind::FilterFiles, "B");
    assert_eq!((state.listing().len(), name(&state).as_str()), (1, "b"));
    acts(&mut state, &[Action::Back]);
    assert_eq!(
        (state.listing().len(), state.listing().marked_count()),
        (4, 1)
    );
    acts(&mut state, &[Action::Back]);
    assert_eq!(state.listing().marked_count(), 0);
}

#[test]
#[expect(clippy::print_stderr, reason = "the time is what this test is about")]
fn five_thousand_files_stay_fast() {
    let entries: Vec<FileEntry> = (0..5000)
        .map(|n| file(format!("file-{}.txt", n * 7919 % 5000)))
        .collect();
    let start = Instant::now();
    let mut state = pane(entries);
    let listed = start.elapsed();
    let start = Instant::now();
    state.answer(&PromptKind::FilterFiles, "99");
    state.answer(&PromptKind::FilterFiles, "");
    acts(&mut state, &[Action::InvertMarks, Action::Bottom]);
    let picked = start.elapsed();
    let start = Instant::now();
    (0..1000).for_each(|_| drop(state.on_action(Action::Up, PAGE)));
    eprintln!(
        "5000 files: listed {listed:?}, filtered and marked {picked:?}, 1000 moves {:?}",
        start.elapsed()
    );
    assert_eq!(name(&state), "file-3999.txt");
}
