//! Images that come packed, in folders of the OCI image layout.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use sandtop::engine::{EngineError, Notes};
use sandtop::protocol::{FailureKind, LifecycleOp};
use serde_json::json;

use crate::support::layout::{INDEX, LAYER, Layer, Layout, PACKED_LAYER, here, with};
use crate::support::{Bench, Fixture, exec_spec, refused, soon};

fn layout(fixture: &Fixture, name: &str) -> Layout {
    Layout::new(&fixture.state_dir().with_extension(name))
}

impl Drop for Layout {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn sandbox_from<'a>(fixture: &'a Fixture, image: &str) -> Bench<'a> {
    let mut spec = fixture.spec("packed");
    spec.image = image.to_owned();
    fixture.create(&spec).await
}

async fn refused_from(fixture: &Fixture, image: &str, kind: FailureKind) -> EngineError {
    let mut spec = fixture.spec("packed");
    spec.image = image.to_owned();
    let made = soon("a create", fixture.engine.create(&spec, &Notes::none())).await;
    refused(made, kind)
}

/// Lists the images that are unpacked.
fn unpacked(fixture: &Fixture) -> Vec<PathBuf> {
    let images = fs::read_dir(fixture.state_dir().join("images"));
    let images = images.into_iter().flatten().flatten();
    images.map(|entry| entry.path()).collect()
}

async fn text(bench: &Bench<'_>, path: &str) -> Option<String> {
    let read = bench.read(path.as_bytes(), None).await.ok()?;
    Some(String::from_utf8(read).expect("text"))
}

pub async fn layers_lie_on_top_of_each_other(fixture: &Fixture) {
    let layout = layout(fixture, "layers");
    let lower = Layer::new()
        .shell()
        .folder("opt/")
        .file("./opt/kept", "kept")
        .file("opt/changed", "old")
        .file("opt/hidden", "hidden")
        .file("opt/all/below/hidden", "hidden")
        .file("opt/all/again", "old")
        .folder("opt/becomes-file")
        .file("opt/becomes-file/inner", "x")
        .link("opt/by-link", "kept")
        .hard_link("opt/by-name", "opt/kept");
    let upper = Layer::new()
        .file("opt/all/new", "new")
        .file("opt/all/again", "again")
        .file("opt/all/.wh..wh..opq", "")
        .file("opt/.wh.hidden", "")
        .file("opt/.wh.changed", "")
        .file("opt/changed", "new")
        .file("opt/becomes-file", "file")
        .file("opt/.wh..wh.plnk", "of a tool");
    let layers = [
        layout.blob(LAYER, &lower.bytes()),
        layout.blob(PACKED_LAYER, &upper.packed()),
    ];
    layout.index(&[layout.image(here(), &layers, &["WORD=from the image", "HOME=/elsewhere"])]);
    let bench = sandbox_from(fixture, &layout.path()).await;
    for (path, content) in [
        ("/opt/kept", Some("kept")),
        ("/opt/changed", Some("new")),
        ("/opt/hidden", None),
        ("/opt/all/below/hidden", None),
        ("/opt/all/again", Some("again")),
        ("/opt/all/new", Some("new")),
        ("/opt/becomes-file", Some("file")),
        ("/opt/by-link", Some("kept")),
        ("/opt/by-name", Some("kept")),
    ] {
        assert_eq!(text(&bench, path).await.as_deref(), content, "{path}");
    }
    let ran = bench
        .sh("echo $WORD $HOME; read word < /opt/kept; echo $word")
        .await;
    assert_eq!(ran.text(), "from the image /workspace\nkept");
    let about = bench.stat(b"/opt/kept").await.expect("a look");
    assert_eq!(about.modified_at.timestamp(), 1_000_000_000);
}

pub async fn images_are_unpacked_once_and_go_when_nobody_uses_them(fixture: &Fixture) {
    let layout = layout(fixture, "once");
    layout.only(&[Layer::new().shell().file("opt/word", "here").packed()]);
    let first = sandbox_from(fixture, &layout.path()).await;
    let made = unpacked(fixture);
    // It needs its layers no more, neither for another sandbox nor for a start.
    let inner = fs::read_dir(made[0].join("root"))
        .expect("a folder")
        .count();
    assert!(inner > 0);
    let marked = made[0].join("root/opt/mark");
    fs::write(&marked, "same").expect("a file");
    let second = sandbox_from(fixture, &layout.path()).await;
    assert_eq!(unpacked(fixture), made);
    assert_eq!(text(&second, "/opt/mark").await.as_deref(), Some("same"));
    fs::remove_dir_all(layout.0.join("blobs")).expect("a removal");
    first.act(LifecycleOp::Restart).await.expect("a restart");
    assert_eq!(
        first.sh("read word < /opt/word; echo $word").await.text(),
        "here"
    );
    let user = sandtop::domain::ExecSpec {
        user: Some("1000:1000".to_owned()),
        ..exec_spec(&["sh", "-c", "echo run"])
    };
    assert_eq!(first.run_spec(&user).await.text(), "run");
    let engine = &fixture.engine;
    let old = FileTimes::new().set_modified(SystemTime::now() - Duration::from_hours(2));
    File::open(&made[0])
        .and_then(|folder| folder.set_times(old))
        .expect("a time");
    assert_eq!(
        engine.leftovers().await.expect("a list"),
        [],
        "it is in use"
    );
    first.remove().await;
    second.remove().await;
    let left = engine.leftovers().await.expect("a list");
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].kind, "image");
    engine.remove_leftover(&left[0]).await.expect("a removal");
    fixture.assert_nothing_left().await;
}

pub async fn nothing_of_an_image_leads_out_of_it(fixture: &Fixture) {
    let layout = layout(fixture, "hostile");
    let outside = fixture.state_dir().with_extension("outside");
    fs::create_dir_all(&outside).expect("a folder");
    let place = outside.display().to_string();
    // What follows links stays inside, as if the image's root were the only one.
    let through = Layer::new()
        .shell()
        .link("way", &place)
        .link("up", "../../../../../../../..")
        .folder(place.trim_start_matches('/'))
        .file("way/inside", "inside")
        .file("up/top", "top")
        .file("/absolute", "absolute");
    let over = Layer::new()
        .file("way/.wh.inside", "")
        .file("way/second", "second")
        .hard_link("second", "way/second");
    layout.only(&[through.packed(), over.packed()]);
    fs::write(outside.join("inside"), "of the host").expect("a file");
    let bench = sandbox_from(fixture, &layout.path()).await;
    for (path, content) in [
        ("/top", "top"),
        ("/absolute", "absolute"),
        ("/second", "second"),
    ] {
        assert_eq!(text(&bench, path).await.as_deref(), Some(content), "{path}");
    }
    assert_eq!(
        fs::read_to_string(outside.join("inside")).expect("a file"),
        "of the host"
    );
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 1);
    bench.remove().await;
    let outer = outside.join("inside").display().to_string();
    for hostile in [
        Layer::new().file("../../x", "x"),
        Layer::new().file("opt/../../x", "x"),
        Layer::new().file("opt/x", "").file("opt/.wh...", ""),
        Layer::new().file("opt/x", "").file("opt/.wh..", ""),
        Layer::new().hard_link("stolen", "../../../../../../etc/passwd"),
        Layer::new().hard_link("stolen", &outer),
    ] {
        layout.only(&[hostile.packed()]);
        let error = refused_from(fixture, &layout.path(), FailureKind::ImageMissing).await;
        assert!(
            error.message.contains("unpacking sha256:"),
            "{}",
            error.message
        );
    }
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 1);
    fs::remove_dir_all(outside).expect("a removal");
}

pub async fn links_of_an_image_give_way_to_places_of_the_sandbox(fixture: &Fixture) {
    let outside = fixture.state_dir().with_extension("linked");
    fs::create_dir_all(outside.join("there")).expect("a folder");
    let folder = fixture.state_dir().with_extension("links");
    fs::create_dir_all(folder.join("opt")).expect("a folder");
    fs::create_dir_all(folder.join("bin")).expect("a folder");
    symlink(&outside, folder.join("data")).expect("a link");
    symlink(&outside, folder.join("opt/data")).expect("a link");
    for work_dir in [
        "/data/new",
        "/opt/data/new",
        "/data/there",
        "/opt/data/there",
    ] {
        let mut spec = fixture.spec("links");
        spec.image = folder.display().to_string();
        spec.work_dir = crate::support::sandbox_path(work_dir.as_bytes());
        let bench = fixture.create(&spec).await;
        let file = format!("{work_dir}/file");
        bench.write(file.as_bytes(), "x").await.expect("a write");
        assert_eq!(
            text(&bench, &file).await.as_deref(),
            Some("x"),
            "{work_dir}"
        );
        bench.remove().await;
        assert!(!outside.join("new").exists(), "{work_dir}");
    }
    fs::remove_dir_all(folder).expect("a removal");
    fs::remove_dir_all(outside).expect("a removal");
}

pub async fn what_is_wrong_with_an_image_is_told(fixture: &Fixture) {
    let layout = layout(fixture, "broken");
    let path = layout.path();
    let says = async |kind: FailureKind, word: &str| {
        let error = refused_from(fixture, &path, kind).await;
        assert!(error.message.contains(word), "{word}: {}", error.message);
        assert!(error.hint.is_some_and(|hint| !hint.is_empty()), "{word}");
        // Nothing half is left, and the next one is not in the way.
        assert_eq!(unpacked(fixture), Vec::<PathBuf>::new(), "{word}");
    };
    let missing = FailureKind::ImageMissing;
    let good = layout.blob(
        PACKED_LAYER,
        &Layer::new().file("opt/word", "here").packed(),
    );
    let other = layout.blob(
        PACKED_LAYER,
        &Layer::new().file("opt/word", "hers").packed(),
    );
    let image = |layer: &serde_json::Value| layout.image(here(), std::slice::from_ref(layer), &[]);

    layout.index(&[image(&with(
        good.clone(),
        "digest",
        other["digest"].clone(),
    ))]);
    fs::copy(layout.file_of(&good), layout.file_of(&other)).expect("a copy");
    says(missing, "does not hold what its digest says").await;
    layout.index(&[image(&with(good.clone(), "size", json!(1)))]);
    says(missing, "bytes instead of 1").await;
    let nowhere = json!(format!("sha256:{}", "0".repeat(64)));
    layout.index(&[image(&with(good.clone(), "digest", nowhere))]);
    says(missing, "No such file").await;
    layout.index(&[image(&with(
        good.clone(),
        "digest",
        json!("sha256:../../etc/passwd"),
    ))]);
    says(missing, "not sha256").await;
    layout.index(&[image(&layout.blob(PACKED_LAYER, b"no tar at all"))]);
    says(missing, "unpacking sha256:").await;
    let zstd = "application/vnd.oci.image.layer.v1.tar+zstd";
    layout.index(&[image(&with(good.clone(), "mediaType", json!(zstd)))]);
    says(FailureKind::Unsupported, zstd).await;
    layout.index(&[layout.image("s390x", std::slice::from_ref(&good), &[])]);
    says(missing, "s390x").await;
    layout.index(&[]);
    says(missing, "holds no image").await;
    fs::write(layout.0.join("index.json"), "[").expect("a file");
    says(missing, "cannot be understood").await;
}

pub async fn an_image_is_chosen_by_processor_and_name(fixture: &Fixture) {
    let layout = layout(fixture, "choice");
    let image = |word: &str, architecture: &str| {
        let layer = Layer::new().file("opt/word", word).packed();
        layout.image(architecture, &[layout.blob(PACKED_LAYER, &layer)], &[])
    };
    let on = |blob, architecture: &str| {
        with(
            blob,
            "platform",
            json!({"os": "linux", "architecture": architecture}),
        )
    };
    let named = |blob, name: &str| {
        with(
            blob,
            "annotations",
            json!({"org.opencontainers.image.ref.name": name}),
        )
    };
    let other = on(image("other", "s390x"), "s390x");
    fs::remove_file(layout.file_of(&other)).expect("what is for others need not be there");
    let inner = json!({"manifests": [other, on(image("nested", here()), here())]});
    let nested = layout.blob(INDEX, inner.to_string().as_bytes());
    layout.index(std::slice::from_ref(&nested));
    let bench = sandbox_from(fixture, &layout.path()).await;
    assert_eq!(text(&bench, "/opt/word").await.as_deref(), Some("nested"));

    layout.index(&[
        named(nested, "docker.io/some/image:v1"),
        named(image("second", here()), "v2"),
    ]);
    let error = refused_from(fixture, &layout.path(), FailureKind::Invalid).await;
    assert!(
        error.message.contains("some/image:v1, v2"),
        "{}",
        error.message
    );
    for (name, word) in [("v1", "nested"), ("v2", "second")] {
        let bench = sandbox_from(fixture, &format!("{}:{name}", layout.path())).await;
        assert_eq!(text(&bench, "/opt/word").await.as_deref(), Some(word));
    }
    let unknown = format!("{}:v3", layout.path());
    let error = refused_from(fixture, &unknown, FailureKind::ImageMissing).await;
    assert!(error.message.contains("called v3"), "{}", error.message);
}
