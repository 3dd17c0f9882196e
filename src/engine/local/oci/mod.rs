//! Reads a folder in the OCI image layout: finds the image for this machine in it, and lets nothing pass that is not what its
//! digest says.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// The largest description that is read; real ones have a few kilobytes.
const MOST_TEXT: u64 = 4 << 20;
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
/// Where writers of layouts put the names of images.
const NAMES: [&str; 2] = [
    "org.opencontainers.image.ref.name",
    "io.containerd.image.name",
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) media_type: String,
    pub(super) digest: String,
    pub(super) size: u64,
    platform: Option<Platform>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Platform {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
}

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

/// Says what is wrong with an image, and how to get a whole one.
pub(super) fn bad_image(message: String) -> EngineError {
    EngineError::new(FailureKind::ImageMissing, message).with_hint(
        "copy the image there again, for example `skopeo copy docker://NAME oci:FOLDER:TAG`",
    )
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

impl Platform {
    fn fits(&self) -> bool {
        self.os == "linux" && self.architecture == architecture()
    }
}

impl Descriptor {
    fn name(&self) -> Option<&str> {
        NAMES
            .iter()
            .find_map(|key| self.annotations.get(*key))
            .map(String::as_str)
    }

    /// Tells whether a name is meant: all of it, or what stands behind its last colon.
    fn is_called(&self, tag: &str) -> bool {
        let mut names = NAMES.iter().filter_map(|key| self.annotations.get(*key));
        names.any(|name| name == tag || name.rsplit_once(':').is_some_and(|(_, end)| end == tag))
    }

    fn hex(&self) -> Result<&str> {
        let hex = self
            .digest
            .strip_prefix("sha256:")
            .filter(|hex| is_hex(hex));
        hex.ok_or_else(|| {
            bad_image(format!(
                "the image uses the digest {}, which is not sha256",
                self.digest
            ))
        })
    }

    /// Opens the file, at its beginning, after reading all of it.
    fn open_checked(&self, blobs: &Path) -> Result<File> {
        let path = blobs.join(self.hex()?);
        let failed = |error: io::Error| {
            bad_image(format!(
                "reading {} of the image failed: {error}",
                self.digest
            ))
        };
        // A pipe or a device would never end, or never begin.
        let about = fs::metadata(&path).map_err(failed)?;
        if !about.is_file() || about.len() != self.size {
            let (has, size) = (about.len(), self.size);
            return Err(bad_image(format!(
                "{} of the image has {has} bytes instead of {size}",
                self.digest
            )));
        }
        let mut file = File::open(&path).map_err(failed)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 128 << 10];
        loop {
            match file.read(&mut buffer).map_err(failed)? {
                0 => break,
                got => hash.update(buffer.get(..got).unwrap_or_default()),
            }
        }
        if self.hex()? != format!("{:x}", hash.finalize()) {
            return Err(bad_image(format!(
                "{} of the image does not hold what its digest says",
                self.digest
            )));
        }
        file.rewind().map_err(failed)?;
        Ok(file)
    }

    /// Reads a description.
    fn text(&self, blobs: &Path) -> Result<Vec<u8>> {
        if self.size > MOST_TEXT {
            return Err(bad_image(format!(
                "{} of the image is too large for a description",
                self.digest
            )));
        }
        let mut text = Vec::new();
        let read = self
            .open_checked(blobs)?
            .take(MOST_TEXT)
            .read_to_end(&mut text);
        read.map_err(|error| {
            bad_image(format!(
                "reading {} of the image failed: {error}",
                self.digest
            ))
        })?;
        Ok(text)
    }
}

/// Tells whether a text is a digest in hexadecimal digits, and so a plain name of a file.
pub(super) fn is_hex(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn text_of(file: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = File::open(file).and_then(|file| file.take(MOST_TEXT).read_to_end(&mut text));
    read.map_err(|error| bad_image(format!("reading {} failed: {error}", file.display())))?;
    Ok(text)
}

fn parse<T: DeserializeOwned>(what: &str, text: &[u8]) -> Result<T> {
    let parsed = serde_json::from_slice(text);
    parsed.map_err(|error| bad_image(format!("{what} of the image cannot be understood: {error}")))
}

/// Names this machine's processor as images do.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
