//! Clause 24: package sets, which one sandbox fills and any number of them see.

use chrono::{TimeDelta, Utc};
use sandtop::domain::{Access, Ended, PackageMount, PackageSet, Sandbox};
use sandtop::engine::{EngineError, Notes};
use sandtop::protocol::FailureKind;

use crate::support::{Bench, Fixture, kind, sandbox_path, soon, unique_name};

const PLACE: &[u8] = b"/.sandtop-packages";

fn new_set(fixture: &Fixture) -> PackageSet {
    let name = unique_name("shelf");
    PackageSet {
        key: format!("key of {name}"),
        name,
        language: "python".into(),
        image: fixture.image.clone(),
        packages: vec!["bees==1.0".into(), "wasps".into()],
        made_at: Utc::now(),
        size_bytes: 0,
        complete: false,
    }
}

async fn package_sets(fixture: &Fixture) -> Vec<PackageSet> {
    let listed = soon("a list of package_sets", fixture.engine.package_sets()).await;
    listed.expect("a list of package_sets")
}

async fn remove(fixture: &Fixture, set: &PackageSet) -> sandtop::engine::Result<()> {
    soon("a removal", fixture.engine.remove_package_set(&set.name)).await
}

/// Makes a sandbox that sees a package set.
async fn seeing<'a>(fixture: &'a Fixture, set: &PackageSet, access: Access) -> Bench<'a> {
    let mut spec = fixture.spec("reader");
    spec.packages = Some(PackageMount {
        name: set.name.clone(),
        target: sandbox_path(PLACE),
        access,
    });
    fixture.create(&spec).await
}

/// Makes a package set with one file on it, and returns it as it is noted in the end.
async fn filled(fixture: &Fixture) -> PackageSet {
    let new = new_set(fixture);
    let made = soon("a set", fixture.engine.create_package_set(&new)).await;
    made.expect("a set");
    assert_eq!(
        package_sets(fixture).await,
        std::slice::from_ref(&new),
        "not complete yet"
    );
    let filler = seeing(fixture, &new, Access::ReadWrite).await;
    let written = filler
        .sh("id -u; mkdir /.sandtop-packages/d && echo seven > /.sandtop-packages/d/f")
        .await;
    assert_eq!(written.end.ended, Ended::Code(0), "{written:?}");
    assert_eq!(written.text(), "1000");
    assert_eq!(
        kind(&remove(fixture, &new).await),
        Some(FailureKind::Conflict)
    );
    filler.remove().await;
    assert_eq!(
        package_sets(fixture).await,
        std::slice::from_ref(&new),
        "filled, not said so"
    );
    let done = PackageSet {
        size_bytes: 6,
        complete: true,
        ..new
    };
    let finished = soon("the end", fixture.engine.complete_package_set(&done)).await;
    finished.expect("a finished set");
    done
}

pub async fn c24_a_set_is_shown_to_many_and_complete_only_in_the_end(fixture: &Fixture) {
    let set = filled(fixture).await;
    assert_eq!(package_sets(fixture).await, std::slice::from_ref(&set));
    let readers = [
        seeing(fixture, &set, Access::ReadOnly).await,
        seeing(fixture, &set, Access::ReadOnly).await,
    ];
    for reader in &readers {
        let read = reader.sh("cat /.sandtop-packages/d/f").await;
        assert_eq!(read.text(), "seven");
        let written = reader.sh("echo no > /.sandtop-packages/d/f").await;
        assert_ne!(written.end.ended, Ended::Code(0), "{written:?}");
    }
    for reader in &readers {
        let refused = remove(fixture, &set).await;
        assert_eq!(kind(&refused), Some(FailureKind::Conflict));
        reader.remove().await;
    }
    for _ in 0..2 {
        remove(fixture, &set).await.expect("a removal");
        assert_eq!(package_sets(fixture).await, []);
    }
}

pub async fn c24_sets_are_the_scopes_own_and_outlive_their_readers(fixture: &Fixture) {
    let old = PackageSet {
        made_at: Utc::now() - TimeDelta::hours(1),
        complete: true,
        ..new_set(fixture)
    };
    let young = new_set(fixture);
    for set in [&young, &old] {
        let made = soon("a set", fixture.engine.create_package_set(set)).await;
        made.expect("a set");
    }
    let finished = soon("the end", fixture.engine.complete_package_set(&old)).await;
    finished.expect("a finished set");
    assert_eq!(package_sets(fixture).await, [old.clone(), young.clone()]);
    assert_eq!(package_sets(&fixture.sibling()).await, [], "another scope");
    let reader = seeing(fixture, &old, Access::ReadOnly).await;
    reader.remove().await;
    assert_eq!(fixture.list().await, Vec::<Sandbox>::new());
    let left = soon("leftovers", fixture.engine.leftovers()).await;
    let left = left.expect("leftovers");
    assert!(!left.iter().any(|one| one.name == old.name), "{left:?}");
    assert_eq!(package_sets(fixture).await, [old, young]);
}

pub async fn c24_an_image_has_one_key_and_a_missing_one_none(fixture: &Fixture) {
    let engine = &fixture.engine;
    let key = async |image: &str| soon("a key", engine.image_key(image, &Notes::none())).await;
    let first = key(&fixture.image).await.expect("a key");
    assert!(!first.is_empty());
    assert_eq!(key(&fixture.image).await.expect("a key"), first);
    let missing = key("127.0.0.1:1/no-such/image:1").await;
    assert_eq!(kind(&missing), Some(FailureKind::ImageMissing));
}

/// Tries to make a package set.
pub async fn try_a_shelf(fixture: &Fixture) -> EngineError {
    assert!(!fixture.engine.caches_packages());
    assert_eq!(package_sets(fixture).await, []);
    let made = fixture.engine.create_package_set(&new_set(fixture)).await;
    made.expect_err("an error")
}
