//! What sandtop keeps is nobody else's business, and it is used only where nobody else could have changed it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::support::Place;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_state_directory_that_others_can_use_is_refused_and_the_doctor_says_how_to_mend_it() {
    let place = Place::local();
    let state = place.path("state/sandtop");
    set_mode(&state, 0o755);
    let ran = place.run(&["create", "x"]).exits(5);
    ran.says("can be used by other users")
        .says("sandtop doctor");
    let doctor = place.run(&["doctor"]);
    assert!(doctor.text().contains("FAIL  state directory"));
    assert!(doctor.text().contains("chmod go= "), "{}", doctor.text());
    let (code, value) = place.json(&["doctor"]);
    assert!(code != 0 && value["ok"] == json!(false), "{value}");
    set_mode(&state, 0o700);
    let ran = place.run(&["runs"]).ok();
    assert_eq!(ran.stderr.trim(), "No runs yet.");
}

#[test]
fn what_is_kept_has_no_rights_for_others() {
    let place = Place::local();
    let name = place.sandbox_of("host", &[]);
    place.run(&["exec", &name, "--", "echo", "x"]).ok();
    place.run(&["runs"]).ok();
    let kept = fs::read_dir(place.path("state/sandtop")).unwrap();
    let kept: Vec<_> = kept.map(|entry| entry.unwrap().path()).collect();
    assert!(kept.iter().any(|path| path.ends_with("store.db")));
    for path in kept {
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}
