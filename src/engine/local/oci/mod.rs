//! Reads a folder in the OCI image layout: finds the image for this machine in it, and lets nothing pass that is not what its
//! digest says.

mod descriptor;

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;
use descriptor::{Descriptor, Platform, architecture, parse, text_of};
pub(super) use descriptor::{bad_image, is_hex};

/// How deep lists of images may lie in each other.
const MOST_DEPTH: u32 = 4;
const INDEXES: [&str; 2] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];
const MANIFESTS: [&str; 2] = [
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];
/// An image that is still packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed {
    blobs: PathBuf,
    /// The digest of its manifest, which stands for all of it.
    pub(super) digest: String,
    /// What its root is made of, the lowest first.
    pub(super) layers: Vec<Descriptor>,
    /// Variables that its programs expect.
    pub(super) env: Vec<(String, String)>,
}

/// What a layout says about one of its files.
#[derive(Deserialize)]
struct Index {
    manifests: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Manifest {
    config: Descriptor,
    layers: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(flatten)]
    platform: Platform,
    config: Option<Settings>,
}

#[derive(Deserialize)]
struct Settings {
    #[serde(rename = "Env")]
    env: Option<Vec<String>>,
}

/// Tells whether a folder looks like a layout.
pub(super) fn is_layout(folder: &Path) -> bool {
    folder.join("index.json").is_file() && folder.join("blobs").is_dir()
}

/// Finds the image for this machine in a layout: the only one, or the one of that name.
pub(super) fn find(folder: &Path, tag: Option<&str>) -> Result<Packed> {
    let blobs = folder.join("blobs").join("sha256");
    let shown = folder.display();
    let index: Index = parse("index.json", &text_of(&folder.join("index.json"))?)?;
    let is_meant = |one: &&Descriptor| tag.is_none_or(|tag| one.is_called(tag));
    let meant: Vec<&Descriptor> = index.manifests.iter().filter(is_meant).collect();
    if meant.is_empty() {
        let wanted = tag.map_or_else(String::new, |tag| format!(" called {tag}"));
        let names = names(&index.manifests);
        return Err(bad_image(format!(
            "{shown} holds no image{wanted}; it has: {names}"
        )));
    }
    let mut fitting = Vec::new();
    for one in &meant {
        gather(&blobs, one, MOST_DEPTH, &mut fitting)?;
    }
    fitting.sort_by(|a, b| a.digest.cmp(&b.digest));
    fitting.dedup_by(|a, b| a.digest == b.digest);
    match fitting.as_slice() {
        [one] => open(&blobs, one),
        [] => Err(bad_image(format!(
            "{shown} holds no image for linux/{}",
            architecture()
        ))),
        _ => Err(EngineError::new(
            FailureKind::Invalid,
            format!("{shown} holds several images: {}", names(&index.manifests)),
        )
        .with_hint(format!("add the name of one: {shown}:NAME"))),
    }
}

fn names(manifests: &[Descriptor]) -> String {
    let names: Vec<&str> = manifests.iter().filter_map(Descriptor::name).collect();
    if names.is_empty() {
        return "nothing with a name".to_owned();
    }
    names.join(", ")
}

/// Follows lists of images down to those that fit this machine; what is for others need not be there.
fn gather(blobs: &Path, from: &Descriptor, depth: u32, found: &mut Vec<Descriptor>) -> Result<()> {
    if from
        .platform
        .as_ref()
        .is_some_and(|platform| !platform.fits())
    {
        return Ok(());
    }
    if MANIFESTS.contains(&from.media_type.as_str()) {
        found.push(from.clone());
        return Ok(());
    }
    if !INDEXES.contains(&from.media_type.as_str()) || depth == 0 {
        return Ok(());
    }
    let index: Index = parse(&from.digest, &from.text(blobs)?)?;
    let mut below = index.manifests.iter();
    below.try_for_each(|one| gather(blobs, one, depth - 1, found))
}

fn open(blobs: &Path, manifest: &Descriptor) -> Result<Packed> {
    let Manifest { config, layers } = parse(&manifest.digest, &manifest.text(blobs)?)?;
    let about: Config = parse(&config.digest, &config.text(blobs)?)?;
    if !about.platform.fits() {
        let Platform {
            os,
            architecture: made_for,
        } = about.platform;
        let here = architecture();
        return Err(bad_image(format!(
            "the image is for {os}/{made_for}; this machine runs linux/{here}"
        )));
    }
    let env = about
        .config
        .and_then(|config| config.env)
        .unwrap_or_default();
    let pairs = env.iter().filter_map(|pair| pair.split_once('='));
    Ok(Packed {
        blobs: blobs.to_owned(),
        digest: manifest.hex()?.to_owned(),
        layers,
        env: pairs
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
    })
}

impl Packed {
    /// Opens a layer whose bytes are what its digest says.
    pub(super) fn layer(&self, layer: &Descriptor) -> Result<File> {
        let kind = layer.media_type.as_str();
        if ![".tar", ".tar+gzip", ".tar.gzip"]
            .iter()
            .any(|end| kind.ends_with(end))
        {
            return Err(EngineError::new(
                FailureKind::Unsupported,
                format!("the image has a layer of the kind {kind}, which sandtop cannot unpack"),
            )
            .with_hint(
                "copy it with gzip: `skopeo copy --dest-compress-format gzip oci:FOLDER oci:OTHER`",
            ));
        }
        layer.open_checked(&self.blobs)
    }
}
