//! Clause 24: shelves of packages, which one sandbox fills and any number of them see.

use chrono::{TimeDelta, Utc};
use sandtop::domain::{Access, Ended, Sandbox, Shelf, ShelfMount};
use sandtop::engine::Notes;
use sandtop::protocol::FailureKind;

use crate::support::{Bench, Fixture, kind, sandbox_path, soon, unique_name};

const PLACE: &[u8] = b"/.sandtop-packages";

fn new_shelf(fixture: &Fixture) -> Shelf {
    let name = unique_name("shelf");
    Shelf {
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

async fn shelves(fixture: &Fixture) -> Vec<Shelf> {
    let listed = soon("a list of shelves", fixture.engine.shelves()).await;
    listed.expect("a list of shelves")
}

async fn remove(fixture: &Fixture, shelf: &Shelf) -> sandtop::engine::Result<()> {
    soon("a removal", fixture.engine.remove_shelf(&shelf.name)).await
}

/// Makes a sandbox that sees a shelf.
async fn seeing<'a>(fixture: &'a Fixture, shelf: &Shelf, access: Access) -> Bench<'a> {
    let mut spec = fixture.spec("reader");
    spec.shelf = Some(ShelfMount {
        name: shelf.name.clone(),
        target: sandbox_path(PLACE),
        access,
    });
    fixture.create(&spec).await
}

/// Makes a shelf with one file on it, and returns it as it is noted in the end.
async fn filled(fixture: &Fixture) -> Shelf {
    let new = new_shelf(fixture);
    let made = soon("a shelf", fixture.engine.make_shelf(&new)).await;
    made.expect("a shelf");
    assert_eq!(
        shelves(fixture).await,
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
        shelves(fixture).await,
        std::slice::from_ref(&new),
        "filled, not said so"
    );
    let done = Shelf {
        size_bytes: 6,
        complete: true,
        ..new
    };
    let finished = soon("the end", fixture.engine.finish_shelf(&done)).await;
    finished.expect("a finished shelf");
    done
}

pub async fn c24_a_shelf_is_shown_to_many_and_complete_only_in_the_end(fixture: &Fixture) {
    if !fixture.engine.keeps_shelves() {
        let made = fixture.engine.make_shelf(&new_shelf(fixture)).await;
        assert_eq!(kind(&made), Some(FailureKind::Unsupported));
        assert_eq!(shelves(fixture).await, []);
        return;
    }
    let shelf = filled(fixture).await;
    assert_eq!(shelves(fixture).await, std::slice::from_ref(&shelf));
    let readers = [
        seeing(fixture, &shelf, Access::ReadOnly).await,
        seeing(fixture, &shelf, Access::ReadOnly).await,
    ];
    for reader in &readers {
        let read = reader.sh("cat /.sandtop-packages/d/f").await;
        assert_eq!(read.text(), "seven");
        let written = reader.sh("echo no > /.sandtop-packages/d/f").await;
        assert_ne!(written.end.ended, Ended::Code(0), "{written:?}");
    }
    for reader in &readers {
        let refused = remove(fixture, &shelf).await;
        assert_eq!(kind(&refused), Some(FailureKind::Conflict));
        reader.remove().await;
    }
    for _ in 0..2 {
        remove(fixture, &shelf).await.expect("a removal");
        assert_eq!(shelves(fixture).await, []);
    }
}

pub async fn c24_shelves_are_the_scopes_own_and_outlive_their_readers(fixture: &Fixture) {
    if !fixture.engine.keeps_shelves() {
        return;
    }
    let old = Shelf {
        made_at: Utc::now() - TimeDelta::hours(1),
        complete: true,
        ..new_shelf(fixture)
    };
    let young = new_shelf(fixture);
    for shelf in [&young, &old] {
        let made = soon("a shelf", fixture.engine.make_shelf(shelf)).await;
        made.expect("a shelf");
    }
    let finished = soon("the end", fixture.engine.finish_shelf(&old)).await;
    finished.expect("a finished shelf");
    assert_eq!(shelves(fixture).await, [old.clone(), young.clone()]);
    assert_eq!(shelves(&fixture.sibling()).await, [], "another scope");
    let reader = seeing(fixture, &old, Access::ReadOnly).await;
    reader.remove().await;
    assert_eq!(fixture.list().await, Vec::<Sandbox>::new());
    let left = soon("leftovers", fixture.engine.leftovers()).await;
    let left = left.expect("leftovers");
    assert!(!left.iter().any(|one| one.name == old.name), "{left:?}");
    assert_eq!(shelves(fixture).await, [old, young]);
}

pub async fn c24_an_image_has_one_key_and_a_missing_one_none(fixture: &Fixture) {
    let engine = &fixture.engine;
    let key = async |image: &str| soon("a key", engine.image_key(image, &Notes::none())).await;
    let first = key(&fixture.image).await.expect("a key");
    assert!(!first.is_empty());
    assert_eq!(key(&fixture.image).await.expect("a key"), first);
    if engine.keeps_shelves() {
        let missing = key("127.0.0.1:1/no-such/image:1").await;
        assert_eq!(kind(&missing), Some(FailureKind::ImageMissing));
    }
}
