//! A piece of an OCI image: what is said about it, and its bytes if they are what its digest says.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// Where writers of layouts put the names of images.
const NAMES: [&str; 2] = [
    "org.opencontainers.image.ref.name",
    "io.containerd.image.name",
];

/// The largest description that is read; real ones have a few kilobytes.
const MOST_TEXT: u64 = 4 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::engine::local) struct Descriptor {
    pub(in crate::engine::local) media_type: String,
    pub(in crate::engine::local) digest: String,
    pub(in crate::engine::local) size: u64,
    pub(super) platform: Option<Platform>,
    #[serde(default)]
    pub(super) annotations: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Platform {
    #[serde(default)]
    pub(super) os: String,
    #[serde(default)]
    pub(super) architecture: String,
}

/// Says what is wrong with an image, and how to get a whole one.
pub(in crate::engine::local) fn bad_image(message: String) -> EngineError {
    EngineError::new(FailureKind::ImageMissing, message).with_hint(
        "copy the image there again, for example `skopeo copy docker://NAME oci:FOLDER:TAG`",
    )
}

impl Platform {
    pub(super) fn fits(&self) -> bool {
        self.os == "linux" && self.architecture == architecture()
    }
}

impl Descriptor {
    pub(super) fn name(&self) -> Option<&str> {
        NAMES
            .iter()
            .find_map(|key| self.annotations.get(*key))
            .map(String::as_str)
    }

    /// Tells whether a name is meant: all of it, or what stands behind its last colon.
    pub(super) fn is_called(&self, tag: &str) -> bool {
        let mut names = NAMES.iter().filter_map(|key| self.annotations.get(*key));
        names.any(|name| name == tag || name.rsplit_once(':').is_some_and(|(_, end)| end == tag))
    }

    pub(super) fn hex(&self) -> Result<&str> {
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
    pub(super) fn open_checked(&self, blobs: &Path) -> Result<File> {
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
    pub(super) fn text(&self, blobs: &Path) -> Result<Vec<u8>> {
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
pub(in crate::engine::local) fn is_hex(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

pub(super) fn text_of(file: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = File::open(file).and_then(|file| file.take(MOST_TEXT).read_to_end(&mut text));
    read.map_err(|error| bad_image(format!("reading {} failed: {error}", file.display())))?;
    Ok(text)
}

pub(super) fn parse<T: DeserializeOwned>(what: &str, text: &[u8]) -> Result<T> {
    let parsed = serde_json::from_slice(text);
    parsed.map_err(|error| bad_image(format!("{what} of the image cannot be understood: {error}")))
}

/// Names this machine's processor as images do.
pub(super) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
