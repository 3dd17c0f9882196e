//! Images of the local engine that come packed, from the command line.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;

use crate::layout::{Layer, Layout};
use crate::support::{Place, until};

/// Lists what the place has of unpacked images, whole or not.
fn unpacked(place: &Place) -> Vec<PathBuf> {
    let scope = format!("state/sandtop/local/scope-{}/images", place.scope());
    let entries = fs::read_dir(place.path(&scope)).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

#[test]
fn a_sandbox_runs_from_a_packed_image() {
    let place = Place::local();
    let layout = Layout::new(&place.path("layout"));
    let lower = Layer::new()
        .shell()
        .file("opt/word", "lower")
        .file("opt/hidden", "x");
    let upper = Layer::new()
        .file("opt/word", "upper\n")
        .file("opt/.wh.hidden", "");
    layout.only(&[lower.packed(), upper.packed()]);
    place
        .run(&["create", "box", "--image", &layout.path()])
        .ok();
    let script = "read word < /opt/word; echo $word; [ -e /opt/hidden ] || echo gone";
    let ran = place.run(&["exec", "box", "--", "sh", "-c", script]).ok();
    assert_eq!(ran.text(), "upper\ngone\n");
    place.run(&["rm", "-f", "box"]).ok();
    layout.only(&[Layer::new().file("../../x", "x").packed()]);
    let refused = place.run(&["create", "box", "--image", &layout.path()]);
    assert_ne!(refused.code, 0);
    let refused = refused.says("../../x").says("leads out of the image");
    refused.says("skopeo copy");
    assert!(!place.path("x").exists());
}

#[test]
fn unpacking_that_is_killed_leaves_nothing_half() {
    let place = Place::local();
    let layout = Layout::new(&place.path("layout"));
    let many = (0..5_000).fold(Layer::new(), |layer, number| {
        layer.file(&format!("opt/{}/{number}", number % 100), "x")
    });
    layout.only(&[Layer::new().shell().packed(), many.packed()]);
    let create = ["create", "box", "--image", &layout.path()];
    let mut running = place.start(&create);
    let is_growing = || {
        unpacked(&place)
            .iter()
            .any(|image| image.join("part").exists())
    };
    // Should the machine be faster than this, there is nothing half in the first place.
    until("it unpacks", || is_growing() || !running.is_running());
    running.signal(Signal::KILL);
    running.wait();
    place.run(&["ls"]).ok();
    let half = unpacked(&place)
        .into_iter()
        .filter(|image| !image.join("root").is_dir());
    assert_eq!(half.collect::<Vec<_>>(), Vec::<PathBuf>::new());
    place.run(&["rm", "-f", "box"]);
    place.run(&create).ok();
    let ran = place.run(&[
        "exec",
        "box",
        "--",
        "sh",
        "-c",
        "read x < /opt/99/4999; echo $x",
    ]);
    assert_eq!(ran.ok().text(), "x\n");
}
