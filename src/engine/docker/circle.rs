//! Which containers are shown: those of our scope, and those of other tools that are adopted.

use std::collections::HashMap;

use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptionsBuilder;

use super::{Client, convert};
use crate::domain::{AdoptRules, HostName, Sandbox};
use crate::engine::Result;

/// Which containers are shown.
#[derive(Clone, Copy)]
pub(super) struct Circle<'a> {
    pub(super) host: &'a HostName,
    /// Those of ours.
    pub(super) scope: &'a str,
    /// Those of other tools.
    pub(super) adopt: &'a AdoptRules,
}

/// How a container stands to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kin {
    Ours,
    Foreign,
    Stranger,
}

impl Circle<'_> {
    /// Tells how a container stands to us; sandboxes of another scope are strangers, whatever they are called.
    pub(super) fn kin(&self, name: &str, image: &str, labels: &HashMap<String, String>) -> Kin {
        let label = |key: &str| labels.get(key).map(String::as_str);
        match label(convert::SCOPE) {
            Some(scope) if scope == self.scope => Kin::Ours,
            None if self.adopt.adopts(name, image, label) => Kin::Foreign,
            _ => Kin::Stranger,
        }
    }

    /// Writes the engine's filter; what other tools made has no label in common.
    pub(super) fn filter(&self) -> HashMap<&'static str, Vec<String>> {
        let label = format!("{}={}", convert::SCOPE, self.scope);
        let ours = HashMap::from([("label", vec![label])]);
        if self.adopt.is_empty() {
            ours
        } else {
            HashMap::new()
        }
    }
}

/// Lists the sandboxes of a circle.
pub(super) async fn list(client: &Client, circle: &Circle<'_>) -> Result<Vec<Sandbox>> {
    let filters = circle.filter();
    let options = ListContainersOptionsBuilder::new()
        .all(true)
        .filters(&filters)
        .build();
    let found = client
        .docker
        .list_containers(Some(options))
        .await
        .map_err(|e| convert::error("listing sandboxes", e))?;
    let mut sandboxes: Vec<Sandbox> = found
        .into_iter()
        .filter_map(|summary| known(client, circle, summary))
        .collect();
    sandboxes.sort_by(|a, b| (a.created_at, &a.reference.id).cmp(&(b.created_at, &b.reference.id)));
    Ok(sandboxes)
}

/// Describes a container that is ours or adopted.
fn known(client: &Client, circle: &Circle<'_>, summary: ContainerSummary) -> Option<Sandbox> {
    let names = summary.names.as_deref().unwrap_or_default();
    let name = names.first().map(|name| name.trim_start_matches('/'));
    let image = summary.image.as_deref().unwrap_or_default();
    let none = HashMap::new();
    let labels = summary.labels.as_ref().unwrap_or(&none);
    let kin = circle.kin(name.unwrap_or_default(), image, labels);
    let sandbox = convert::sandbox(circle.host, summary);
    match kin {
        Kin::Ours => sandbox,
        Kin::Foreign => sandbox.inspect(|found| client.foreign.note(&found.reference.id)),
        Kin::Stranger => None,
    }
}
