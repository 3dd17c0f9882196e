//! The manual: a page for each verb, all of them readable, none named that is not there.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::json;

use crate::support::{Place, Running};

/// Names of pages that a page refers to, without their section.
fn named(page: &str) -> BTreeSet<String> {
    let plain = page
        .replace("\\-", "-")
        .replace("\\fB", "")
        .replace("\\fR", "");
    let ends = plain.match_indices("(1)").map(|(at, _)| at);
    let word = |at: usize| {
        plain[..at]
            .rsplit(|c: char| !(c.is_alphanumeric() || c == '-'))
            .next()
    };
    ends.filter_map(word).map(str::to_owned).collect()
}

/// All pages, by name, as `man --out` writes them.
fn pages(place: &Place) -> Vec<(String, String)> {
    let written = place.json_ok(&["man", "--out", "new/pages"]);
    let written = written["pages"].as_array().unwrap();
    let pages = written.iter().map(|path| {
        let path = place.path(path.as_str().unwrap());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    pages.collect()
}

#[test]
fn every_page_that_is_named_exists() {
    let place = Place::demo();
    let pages = pages(&place);
    let names: BTreeSet<String> = pages.iter().map(|(name, _)| name.clone()).collect();
    for verb in ["", "-exec", "-files", "-files-put", "-cache-prune", "-man"] {
        assert!(names.contains(&format!("sandtop{verb}")), "{verb}");
    }
    let all: BTreeSet<String> = pages.iter().flat_map(|(_, page)| named(page)).collect();
    assert!(all.contains("sandtop-exec"), "{all:?}");
    let missing: Vec<_> = all.difference(&names).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(!names.contains("sandtop-keep"), "hidden verbs stay hidden");
}

#[test]
fn one_page_is_printed() {
    let place = Place::demo();
    let page = place.run(&["man", "files", "put"]).ok();
    assert!(
        page.text().contains(".TH sandtop-files-put 1"),
        "{}",
        page.text()
    );
    assert!(page.text().contains("\\-\\-mode"));
    assert_eq!(
        place.json_ok(&["man", "ls"])["page"]
            .as_str()
            .map(|p| p.contains("sandtop\\-ls")),
        Some(true)
    );
    place
        .run(&["man", "exce"])
        .exits(2)
        .says("did you mean `exec`?");
    let (code, value) = place.json(&["man", "files", "nope"]);
    assert_eq!((code, &value["error"]["kind"]), (2, &json!("invalid")));
    place.run(&["man", "ls", "--out", "x"]).exits(2);
}

#[test]
#[ignore = "needs man and mandoc: tests/run"]
fn readers_of_manuals_understand_every_page() {
    let place = Place::demo();
    for (name, _) in pages(&place) {
        let file = place.path(&format!("new/pages/{name}.1"));
        let file = file.to_str().unwrap();
        let mut lexgrog = Command::new("lexgrog");
        lexgrog.arg(file);
        let ran = Running::start(lexgrog).wait().ok();
        assert!(
            ran.text().contains(&format!("\"{name} - ")),
            "{}",
            ran.text()
        );
        let mut mandoc = Command::new("mandoc");
        mandoc.args(["-T", "lint", "-W", "error", file]);
        let ran = Running::start(mandoc).wait();
        assert_eq!((ran.code, ran.text()), (0, ""), "{name}");
        let mut man = Command::new("man");
        man.args(["-l", "--warnings", file]).env("MANWIDTH", "100");
        let ran = Running::start(man).wait().ok();
        assert!(ran.text().contains("SYNOPSIS"), "{name}");
        assert_eq!(ran.stderr, "", "{name}");
    }
}
