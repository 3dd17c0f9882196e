//! The example file: equal to the defaults, complete and explained.

use super::super::error::KeyPath;
use super::super::raw::{SECTIONS, keys_in, keys_in_section};
use super::*;
use crate::keymap::{Action, Context, Keymap};

#[test]
fn the_example_is_the_defaults() {
    assert_eq!(resolve("", &[]), Ok(defaults()));
    assert_eq!(resolve(DEFAULT_TOML, &[]), Ok(defaults()));
    let bare: Vec<&str> = DEFAULT_TOML
        .lines()
        .filter(|l| !l.starts_with('#'))
        .collect();
    assert_eq!(resolve(&bare.join("\n"), &[]), Ok(defaults()));
}

#[test]
fn the_example_holds_every_key() {
    let table: toml::Table = toml::from_str(DEFAULT_TOML).expect("TOML");
    for key in keys_in(&KeyPath::default()) {
        let is_there = table.contains_key(*key) || DEFAULT_TOML.contains(&format!("# [{key}."));
        assert!(is_there, "{key}");
        let is_section = !["engine", "profiles", "languages", "keys"].contains(key);
        assert_eq!(SECTIONS.contains(key), is_section, "{key}");
    }
    for section in SECTIONS {
        let held: Vec<&String> = table
            .get(section)
            .and_then(|section| section.as_table())
            .expect(section)
            .keys()
            .collect();
        let mut known = keys_in_section(section).to_vec();
        known.sort_unstable();
        assert!(!known.is_empty(), "{section}");
        assert_eq!(held, known, "{section}");
    }
}

#[test]
fn every_key_of_the_example_is_explained() {
    let lines: Vec<&str> = DEFAULT_TOML.lines().collect();
    for pair in lines.windows(2) {
        let [above, line] = pair else { continue };
        if line.contains(" = ") && !line.starts_with('#') {
            assert!(above.starts_with("# "), "{line}");
        }
        assert!(line.len() <= 100, "{line}");
    }
}

#[test]
fn the_commented_profile_works() {
    let lines: Vec<&str> = DEFAULT_TOML
        .lines()
        .skip_while(|line| *line != "# [profiles.big]")
        .map_while(|line| line.strip_prefix("# "))
        .collect();
    let config = resolve(&lines.join("\n"), &[]).expect("valid");
    let (name, big) = config.profile(Some("big")).expect("there");
    assert_eq!(name, "big");
    assert_eq!(big.limits.memory_bytes, Some(2048 * MIB));
    assert_eq!(big.limits.cpus, Some(4.0));
    assert_eq!(big.image, "python:3.12-slim");
}

#[test]
fn the_commented_keys_work() {
    let lines: Vec<&str> = DEFAULT_TOML
        .lines()
        .skip_while(|line| *line != "# [keys.sandboxes]")
        .map_while(|line| line.strip_prefix("# "))
        .collect();
    let config = resolve(&lines.join("\n"), &[]).expect("valid");
    let keymap = Keymap::with(&config.ui.keys).expect("a keymap");
    let keys = |action| keymap.keys_of(Context::Sandboxes, action);
    assert_eq!(keys(Action::Inspect), Some("v".into()));
    assert_eq!(keys(Action::Kill), None);
    assert_eq!(keys(Action::Suspend), None);
}

#[test]
fn a_byte_order_mark_does_no_harm() {
    assert_eq!(resolve("\u{feff}log.level = 'info'", &[]), Ok(defaults()));
}

#[test]
fn the_built_in_image_gives_way_to_the_host_on_the_local_engine() {
    let built_in = resolve("", &[]).expect("the built-in settings");
    assert_eq!(built_in.sandbox.image, DEFAULT_IMAGE);
    let local = built_in.clone().for_engine(EngineKind::Local);
    assert_eq!(local.sandbox.image, HOST_IMAGE);
    assert_eq!(built_in.clone().for_engine(EngineKind::Docker), built_in);
}
