//! Which containers are shown: those of our scope, and those of other tools that are adopted.

use std::collections::HashMap;

use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptionsBuilder;

use super::{Client, convert, guest_volume};
use crate::domain::{AdoptRules, HostName, Sandbox, SandboxId};
use crate::engine::Result;

/// Which containers are shown.
#[derive(Clone, Copy)]
pub(super) struct Visibility<'a> {
    pub(super) host: &'a HostName,
    /// Those of ours.
    pub(super) scope: &'a str,
    /// Those of other tools.
    pub(super) adopt: &'a AdoptRules,
}

/// How a container stands to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    Ours,
    Foreign,
    Unrelated,
}

impl Visibility<'_> {
    /// Tells how a container stands to us; sandboxes of another scope are unrelated, whatever they are called.
    pub(super) fn ownership(
        &self,
        name: &str,
        image: &str,
        labels: &HashMap<String, String>,
    ) -> Ownership {
        let label = |key: &str| labels.get(key).map(String::as_str);
        match label(convert::SCOPE) {
            Some(scope) if scope == self.scope => Ownership::Ours,
            // It never runs; the guest was written through it.
            None if label(guest_volume::VERSION).is_some() => Ownership::Unrelated,
            None if self.adopt.adopts(name, image, label) => Ownership::Foreign,
            _ => Ownership::Unrelated,
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

/// Lists the sandboxes that are shown.
pub(super) async fn list(client: &Client, visibility: &Visibility<'_>) -> Result<Vec<Sandbox>> {
    filtered(client, visibility, visibility.filter()).await
}

/// Finds one of them.
pub(super) async fn find(
    client: &Client,
    visibility: &Visibility<'_>,
    id: &SandboxId,
) -> Result<Option<Sandbox>> {
    let mut filters = visibility.filter();
    filters.insert("id", vec![id.to_string()]);
    let found = filtered(client, visibility, filters).await?;
    Ok(found.into_iter().find(|one| one.reference.id == *id))
}

/// Lists those of a name, or else those whose id begins so; the engine finds both without looking at all others.
pub(super) async fn named(
    client: &Client,
    visibility: &Visibility<'_>,
    word: &str,
) -> Result<Vec<Sandbox>> {
    let mut found = Vec::new();
    if let Some(pattern) = name_pattern(word) {
        let mut filters = visibility.filter();
        filters.insert("name", vec![pattern]);
        found = filtered(client, visibility, filters).await?;
        found.retain(|one| one.name == word);
    }
    if found.is_empty() && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let mut filters = visibility.filter();
        filters.insert("id", vec![word.to_owned()]);
        found = filtered(client, visibility, filters).await?;
        found.retain(|one| one.reference.id.as_str().starts_with(word));
    }
    Ok(found)
}

/// Writes a name as the engine's filter reads it, which is an expression; `None` for what no container can be called.
fn name_pattern(word: &str) -> Option<String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let is_name = !word.is_empty() && word.chars().all(fine);
    let escaped = || convert::container_name(word).replace('.', "\\.");
    is_name.then(|| format!("^/?{}$", escaped()))
}

async fn filtered(
    client: &Client,
    visibility: &Visibility<'_>,
    filters: HashMap<&'static str, Vec<String>>,
) -> Result<Vec<Sandbox>> {
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
        .filter_map(|summary| known(client, visibility, summary))
        .collect();
    sandboxes.sort_by(|a, b| (a.created_at, &a.reference.id).cmp(&(b.created_at, &b.reference.id)));
    Ok(sandboxes)
}

/// Describes a container that is ours or adopted.
fn known(
    client: &Client,
    visibility: &Visibility<'_>,
    summary: ContainerSummary,
) -> Option<Sandbox> {
    let names = summary.names.as_deref().unwrap_or_default();
    let name = names.first().map(|name| name.trim_start_matches('/'));
    let image = summary.image.as_deref().unwrap_or_default();
    let none = HashMap::new();
    let labels = summary.labels.as_ref().unwrap_or(&none);
    let ownership = visibility.ownership(name.unwrap_or_default(), image, labels);
    let sandbox = convert::sandbox(visibility.host, summary);
    match ownership {
        Ownership::Ours => sandbox,
        Ownership::Foreign => sandbox.inspect(|found| client.foreign.note(&found.reference.id)),
        Ownership::Unrelated => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_as_it_is_written() {
        assert_eq!(name_pattern("my.box-1").as_deref(), Some("^/?my\\.box-1$"));
        assert_eq!(name_pattern("a").as_deref(), Some("^/?sandtop-a$"));
        for strange in ["", ".*[", "a|b", "a b", "é"] {
            assert_eq!(name_pattern(strange), None, "{strange}");
        }
    }
}
