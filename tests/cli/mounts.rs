//! Folders of this machine in a sandbox.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::support::Place;

/// Makes a sandbox that sees a folder with this mode; returns what is said on standard error.
fn told(place: &Place, mode: u32, how: &str) -> String {
    let name = place.name(&format!("m{mode:o}{}", how.len()));
    let folder = place.path(&name);
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
    let mount = format!("{}:/m{how}", folder.display());
    let ran = place.run(&["create", &name, "--mount", &mount]).ok();
    assert_eq!(ran.text().trim(), name);
    ran.stderr
}

#[test]
fn a_mount_that_the_sandbox_cannot_use_is_told_with_what_helps() {
    let place = Place::local();
    assert_eq!(told(&place, 0o777, ""), "");
    assert_eq!(told(&place, 0o755, ":ro"), "");
    let (closed, unwritable) = (told(&place, 0o700, ""), told(&place, 0o755, ""));
    if rustix::process::geteuid().is_root() {
        assert!(closed.contains("cannot read"), "{closed}");
        assert!(closed.contains("chmod -R o+rX"), "{closed}");
        assert!(unwritable.contains("cannot write"), "{unwritable}");
        assert!(unwritable.contains("`:ro`"), "{unwritable}");
    } else {
        // What an ordinary user makes has the rights of that user.
        assert_eq!((closed.as_str(), unwritable.as_str()), ("", ""));
    }
}
