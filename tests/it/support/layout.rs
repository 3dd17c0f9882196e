//! Writes folders in the OCI image layout, whole or broken.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::{EntryType, Header};

pub const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";
pub const PACKED_LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A layer that is being written.
pub struct Layer(tar::Builder<Vec<u8>>);

impl Layer {
    pub fn new() -> Self {
        Self(tar::Builder::new(Vec::new()))
    }

    /// Adds any entry, with any name: the usual way refuses those that attackers write.
    pub fn entry(mut self, kind: EntryType, name: &str, target: &str, content: &[u8]) -> Self {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(if kind == EntryType::Directory {
            0o555
        } else {
            0o755
        });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(1_000_000_000);
        let fields = header.as_gnu_mut().expect("a header");
        fields.name[..name.len()].copy_from_slice(name.as_bytes());
        fields.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_cksum();
        self.0.append(&header, content).expect("an entry");
        self
    }

    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.entry(EntryType::Regular, name, "", content.as_ref())
    }

    pub fn folder(self, name: &str) -> Self {
        self.entry(EntryType::Directory, name, "", b"")
    }

    pub fn link(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Symlink, name, target, b"")
    }

    pub fn hard_link(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Link, name, target, b"")
    }

    /// Adds the host's shell, with what it needs to run.
    pub fn shell(self) -> Self {
        let needs = Command::new("ldd").arg("/bin/sh").output().expect("ldd");
        let needs = String::from_utf8(needs.stdout).expect("text");
        let paths = needs
            .split_whitespace()
            .filter(|word| word.starts_with('/'));
        paths.chain(["/bin/sh"]).fold(self, |layer, path| {
            layer.file(
                path.trim_start_matches('/'),
                fs::read(path).expect("a file"),
            )
        })
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0.into_inner().expect("a tar")
    }

    pub fn packed(self) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(&self.bytes()).expect("a write");
        packer.finish().expect("an end")
    }
}

/// A layout.
pub struct Layout(pub PathBuf);

impl Layout {
    pub fn new(folder: &Path) -> Self {
        fs::create_dir_all(folder.join("blobs/sha256")).expect("a folder");
        fs::write(
            folder.join("oci-layout"),
            r#"{"imageLayoutVersion":"1.0.0"}"#,
        )
        .expect("a file");
        Self(folder.to_owned())
    }

    pub fn path(&self) -> String {
        self.0.display().to_string()
    }

    /// Keeps bytes and describes them.
    pub fn blob(&self, kind: &str, bytes: &[u8]) -> Value {
        let hex = format!("{:x}", Sha256::digest(bytes));
        fs::write(self.0.join("blobs/sha256").join(&hex), bytes).expect("a file");
        json!({"mediaType": kind, "digest": format!("sha256:{hex}"), "size": bytes.len()})
    }

    /// Keeps an image for a processor, and describes its manifest.
    pub fn image(&self, architecture: &str, layers: &[Value], env: &[&str]) -> Value {
        let config = json!({"os": "linux", "architecture": architecture, "config": {"Env": env}});
        let config = self.blob(
            "application/vnd.oci.image.config.v1+json",
            config.to_string().as_bytes(),
        );
        let manifest = json!({"schemaVersion": 2, "config": config, "layers": layers});
        self.blob(MANIFEST, manifest.to_string().as_bytes())
    }

    pub fn index(&self, manifests: &[Value]) {
        let index = json!({"schemaVersion": 2, "manifests": manifests});
        fs::write(self.0.join("index.json"), index.to_string()).expect("a file");
    }

    /// Keeps one image of these layers for this machine, and nothing else.
    pub fn only(&self, layers: &[Vec<u8>]) {
        let layers: Vec<Value> = layers
            .iter()
            .map(|bytes| self.blob(PACKED_LAYER, bytes))
            .collect();
        self.index(&[self.image(here(), &layers, &[])]);
    }

    /// Returns the file that a description means.
    pub fn file_of(&self, blob: &Value) -> PathBuf {
        let digest = blob["digest"].as_str().expect("a digest");
        self.0.join("blobs").join(digest.replace(':', "/"))
    }
}

/// Adds something to a description.
pub fn with(mut blob: Value, key: &str, value: Value) -> Value {
    blob[key] = value;
    blob
}

/// Names this machine's processor as images do.
pub fn here() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
