//! Ends of sandboxes that live more than once, and those that an older sandtop recorded.

use chrono::TimeDelta;

use super::*;

const PLACE: &str = "here";

#[tokio::test]
async fn every_life_has_an_end_of_its_own() {
    let store = Store::open(None);
    let (id, begun) = (SandboxId::new("a"), Utc::now());
    let end = |seconds: i64, cause: &str| Death {
        cause: cause.to_owned(),
        at: Some(begun + TimeDelta::seconds(seconds)),
        ..Death::default()
    };
    let record = async |death: &Death| store.record_death(PLACE, &id, "box", death).await;
    record(&end(1, "stopped")).await.expect("written");
    record(&end(2, "vanished")).await.expect("taken");
    store.revive(PLACE, &id).await.expect("written");
    assert_eq!(store.deaths(PLACE).await, Ok(HashMap::new()));
    record(&end(9, "killed")).await.expect("written");
    let last = store.deaths(PLACE).await.expect("read");
    let last = last.get(&id).map(|(_, death)| death.cause.as_str());
    assert_eq!(last, Some("killed"));
    let all = store.deaths_since(PLACE, begun).await.expect("read");
    let causes: Vec<&str> = all
        .iter()
        .map(|(_, _, death)| death.cause.as_str())
        .collect();
    assert_eq!(causes, ["stopped", "killed"]);
}

#[tokio::test]
async fn ends_of_an_older_layout_are_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let older = Connection::open(dir.path().join("store.db")).expect("a file");
    older
        .execute_batch(include_str!("../schema.sql"))
        .and_then(|()| {
            older.execute_batch(
                "PRAGMA user_version = 1;
            INSERT INTO deaths VALUES ('here', 'a', 'box', 5, '{\"cause\": \"oom\"}')",
            )
        })
        .expect("written");
    let known = Store::open(Some(dir.path()))
        .deaths(PLACE)
        .await
        .expect("read");
    let known = known.get(&SandboxId::new("a"));
    assert_eq!(
        known.map(|(name, death)| (name.as_str(), death.cause.as_str())),
        Some(("box", "oom"))
    );
}
