//! What has changed since the sandbox was made, in place of a folder.

use super::*;
use crate::domain::{Change, ChangeKind, ChangedFile, Changes};
use crate::protocol::FailureKind;

fn change(kind: ChangeKind, file: &str) -> Change {
    let now = ChangedFile {
        kind: FileKind::File,
        size: 5,
        modified_at: DateTime::from_timestamp(1_000_000, 0).unwrap_or_default(),
    };
    Change {
        path: path(file),
        kind,
        now: (kind != ChangeKind::Deleted).then_some(now),
    }
}

pub(super) fn changed() -> FilesState {
    let mut state = usual();
    let intents = acts(&mut state, &[Action::Changes]);
    let asked = travel::list_changes(sandbox("py"));
    assert_eq!(intents, [asked]);
    let changes = Changes {
        files: vec![
            change(ChangeKind::Deleted, "/etc/old"),
            change(ChangeKind::Added, "/workspace/src/new.py"),
        ],
        ..Changes::default()
    };
    state.changes_listed(&sandbox("py"), Ok(changes));
    state
}

fn words(intents: &[Intent]) -> String {
    format!("{intents:?}")
}

#[test]
fn changed_files_are_edited_and_found_in_their_folder() {
    let mut state = changed();
    assert_eq!(state.listing().len(), 2);
    acts(&mut state, &[Action::Down]);
    assert_eq!(name(&state), "workspace/src/new.py");
    assert_eq!(
        acts(&mut state, &[Action::EditFile]),
        [edit("/workspace/src/new.py")]
    );
    assert_eq!(acts(&mut state, &[Action::Open]), [list("/workspace/src")]);
    assert!(!state.shows_changes());
    let entries = vec![file("a"), file("new.py")];
    state.listed(&sandbox("py"), &path("/workspace/src"), Ok(entries));
    assert_eq!(name(&state), "new.py", "it is selected there");
}

#[test]
fn what_was_deleted_cannot_be_used() {
    let mut state = changed();
    assert_eq!(name(&state), "etc/old");
    for action in [
        Action::Open,
        Action::EditFile,
        Action::Delete,
        Action::Download,
    ] {
        let intents = acts(&mut state, &[action]);
        assert!(
            words(&intents).contains("was deleted"),
            "{action:?}: {intents:?}"
        );
    }
    acts(&mut state, &[Action::InvertMarks, Action::Down]);
    let intents = acts(&mut state, &[Action::Delete]);
    assert!(
        words(&intents).contains("was deleted"),
        "one of the marked is gone"
    );
}

#[test]
fn what_needs_a_folder_says_so() {
    for action in [
        Action::NewFile,
        Action::NewFolder,
        Action::Upload,
        Action::Rename,
    ] {
        let intents = acts(&mut changed(), &[action]);
        assert!(
            words(&intents).contains("needs a folder"),
            "{action:?}: {intents:?}"
        );
    }
}

#[test]
fn a_deletion_names_the_path_and_not_the_folder_left_behind() {
    let mut state = changed();
    let intents = acts(&mut state, &[Action::Down, Action::Delete]);
    let words = words(&intents);
    assert!(words.contains("workspace/src/new.py from py?"), "{words}");
}

#[test]
fn every_way_back_leads_to_the_folder() {
    for action in [Action::Changes, Action::Back, Action::Ascend] {
        let mut state = changed();
        assert_eq!(
            acts(&mut state, &[action]),
            [list("/workspace")],
            "{action:?}"
        );
    }
    let mut state = changed();
    assert_eq!(
        state.listed(&sandbox("py"), &path("/workspace"), Ok(vec![])),
        []
    );
    assert_eq!(state.listing().len(), 2, "a late folder changes nothing");
    let failure = Failure::new(FailureKind::Conflict, "it is not running");
    state.changes_listed(&sandbox("py"), Err(failure));
    assert!(state.failure().is_some());
}

#[test]
fn a_change_elsewhere_looks_again() {
    let mut state = changed();
    let asked = travel::list_changes(sandbox("py"));
    assert_eq!(state.changed(), [asked]);
}
