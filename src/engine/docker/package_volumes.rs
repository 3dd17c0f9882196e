//! Package sets of installed packages, each a volume with a name.
//!
//! A volume and not an image layer: it can be made without a builder and a registry, mounts read-only into any number of
//! containers, and its size is its own. Labels cannot be changed, so what is known only at the end, that it is complete and
//! how large it is, stands on a second, empty volume, which is made last.

use std::collections::{HashMap, HashSet};

use bollard::models::{Volume, VolumeCreateRequest};
use bollard::query_parameters::{ListVolumesOptionsBuilder, RemoveVolumeOptions};

use super::{Client, convert};
use crate::domain::PackageSet;
use crate::engine::Result;
use crate::protocol::FailureKind;

/// Marks both volumes of a package set; its value is the key.
const SHELF: &str = "sandtop.shelf";
/// What the package set holds.
const ABOUT: &str = "sandtop.shelf.about";
/// Marks the second volume; its value is the name of the first.
const OF: &str = "sandtop.shelf.of";

/// The volumes of all package sets at one moment.
pub(super) struct Census(Vec<Volume>);

impl Census {
    /// Asks the engine.
    pub(super) async fn take(client: &Client, scope: &str) -> Result<Self> {
        let scope = format!("{}={scope}", convert::SCOPE);
        let filters = HashMap::from([("label", vec![scope.as_str(), SHELF])]);
        let options = ListVolumesOptionsBuilder::new().filters(&filters).build();
        let found = client
            .docker
            .list_volumes(Some(options))
            .await
            .map_err(|e| convert::error("listing installed packages", e))?;
        Ok(Self(found.volumes.unwrap_or_default()))
    }

    /// Tells whether a volume belongs to a package set that is complete.
    pub(super) fn needs(&self, volume: &Volume) -> bool {
        let names: HashSet<&str> = self.0.iter().map(|v| v.name.as_str()).collect();
        match volume.labels.get(OF) {
            Some(first) => names.contains(first.as_str()),
            None => self.mark_of(&volume.name).is_some(),
        }
    }

    fn mark_of(&self, name: &str) -> Option<&Volume> {
        let is_its = |volume: &&Volume| volume.labels.get(OF).is_some_and(|of| of == name);
        self.0.iter().find(is_its)
    }

    fn package_sets(&self) -> Vec<PackageSet> {
        let firsts = self.0.iter().filter(|v| !v.labels.contains_key(OF));
        let read = |volume: &Volume| {
            let mark = self.mark_of(&volume.name);
            let about = mark.unwrap_or(volume).labels.get(ABOUT)?;
            let known: PackageSet = serde_json::from_str(about).ok()?;
            Some(PackageSet {
                name: volume.name.clone(),
                complete: mark.is_some(),
                ..known
            })
        };
        let mut all: Vec<PackageSet> = firsts.filter_map(read).collect();
        all.sort_by(|a, b| (a.made_at, &a.name).cmp(&(b.made_at, &b.name)));
        all
    }
}

/// Lists the package sets.
pub(super) async fn list(client: &Client, scope: &str) -> Result<Vec<PackageSet>> {
    Ok(Census::take(client, scope).await?.package_sets())
}

/// Makes the volume that packages go to.
pub(super) async fn make(client: &Client, scope: &str, set: &PackageSet) -> Result<()> {
    create(client, &set.name, labels(scope, set)).await
}

/// Makes the volume that says that all is there.
pub(super) async fn finish(client: &Client, scope: &str, set: &PackageSet) -> Result<()> {
    let mut labels = labels(scope, set);
    labels.insert(OF.to_owned(), set.name.clone());
    create(client, &mark_name(&set.name), labels).await
}

/// Removes a package set; the volume first, because a container may be using it.
pub(super) async fn remove(client: &Client, name: &str) -> Result<()> {
    for volume in [name, &mark_name(name)] {
        let options = None::<RemoveVolumeOptions>;
        let removed = client.docker.remove_volume(volume, options).await;
        match removed.map_err(|e| convert::error("removing installed packages", e)) {
            Err(error) if error.kind != FailureKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn mark_name(name: &str) -> String {
    format!("{name}-complete")
}

fn labels(scope: &str, set: &PackageSet) -> HashMap<String, String> {
    let about = serde_json::to_string(set).unwrap_or_default();
    let labels = [
        (convert::SCOPE, scope),
        (SHELF, set.key.as_str()),
        (ABOUT, about.as_str()),
    ];
    labels
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

async fn create(client: &Client, name: &str, labels: HashMap<String, String>) -> Result<()> {
    let request = VolumeCreateRequest {
        name: Some(name.to_owned()),
        labels: Some(labels),
        ..VolumeCreateRequest::default()
    };
    let made = client.docker.create_volume(request).await;
    made.map(drop)
        .map_err(|e| convert::error("making a place for packages", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str) -> PackageSet {
        PackageSet {
            name: name.to_owned(),
            key: "k".to_owned(),
            language: "python".to_owned(),
            image: "i".to_owned(),
            packages: vec!["rich".to_owned()],
            made_at: chrono::DateTime::UNIX_EPOCH,
            size_bytes: 7,
            complete: false,
        }
    }

    fn volume(name: &str, of: Option<&str>) -> Volume {
        let mut labels = labels("s", &set(of.unwrap_or(name)));
        labels.extend(of.map(|of| (OF.to_owned(), of.to_owned())));
        Volume {
            name: name.to_owned(),
            labels,
            ..Volume::default()
        }
    }

    #[test]
    fn only_the_second_volume_makes_a_shelf_complete_and_worth_keeping() {
        let all = [
            volume("a", None),
            volume("a-complete", Some("a")),
            volume("b", None),
            volume("c-complete", Some("c")),
        ];
        let census = Census(all.to_vec());
        let told: Vec<_> = census
            .package_sets()
            .into_iter()
            .map(|set| (set.name, set.complete))
            .collect();
        assert_eq!(told, [("a".to_owned(), true), ("b".to_owned(), false)]);
        let needed = all.each_ref().map(|volume| census.needs(volume));
        assert_eq!(needed, [true, true, false, false]);
        let other = Volume {
            name: "workspace".to_owned(),
            ..Volume::default()
        };
        assert!(!census.needs(&other), "no set at all");
    }
}
