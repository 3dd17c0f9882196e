//! Pulling images from a registry that the test itself serves, over plain HTTP on the loopback.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sandtop::domain::{Ended, SandboxSpec};
use sandtop::engine::Notes;
use sandtop::protocol::FailureKind;
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::{Fixture, exec_spec, finish, noise, refused, sha256, soon, unique};

const MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
/// Engines look at the content and not at this name, so a plain archive is fine.
const LAYER: &str = "application/vnd.docker.image.rootfs.diff.tar.gzip";
const CONFIG: &str = "application/vnd.docker.container.image.v1+json";
const REPOSITORY: &str = "sandtop-test/tiny";

/// What the registry has, by the last part of its address.
type Shelf = HashMap<String, (&'static str, Vec<u8>)>;

/// A registry with one image; what it made the engine pull goes with it.
struct Registry {
    port: u16,
    layer: String,
    asked: Arc<Mutex<Vec<String>>>,
    closed: Arc<AtomicBool>,
}

/// What a registry does when it is asked for the layer.
#[derive(Clone, Copy, PartialEq)]
enum Temper {
    Sound,
    /// It sends half of it and is never heard of again.
    Dying,
}

impl Registry {
    fn open(temper: Temper) -> Self {
        let (shelf, layer) = shelf();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let closed = Arc::new(AtomicBool::new(false));
        let clerk = Clerk {
            shelf: Arc::new(shelf),
            layer: layer.clone(),
            asked: Arc::clone(&asked),
            closed: Arc::clone(&closed),
            temper,
        };
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if clerk.closed.load(Ordering::SeqCst) {
                    return;
                }
                let clerk = clerk.clone();
                std::thread::spawn(move || clerk.serve(&connection));
            }
        });
        Self {
            port,
            layer,
            asked,
            closed,
        }
    }

    fn image(&self, tag: &str) -> String {
        format!("127.0.0.1:{}/{REPOSITORY}:{tag}", self.port)
    }

    /// Counts how often something was got.
    fn gets(&self, what: &str) -> usize {
        let asked = self.asked.lock().expect("a list");
        let wanted = |line: &&String| line.starts_with("GET ") && line.ends_with(what);
        asked.iter().filter(wanted).count()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        // An image that was never pulled is not there to be removed.
        let _ = Command::new("docker")
            .args(["rmi", "-f", &self.image("1")])
            .output();
    }
}

/// Builds an image of one file that no other test has, so that no layer is shared.
fn shelf() -> (Shelf, String) {
    let mut archive = tar::Builder::new(Vec::new());
    let mut content = format!("{}-{}\n", std::process::id(), unique()).into_bytes();
    content.extend(noise(3 << 20));
    let mut header = tar::Header::new_gnu();
    header.set_mode(0o755);
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    archive
        .append_data(&mut header, "etc", &b""[..])
        .expect("an archive");
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(content.len() as u64);
    archive
        .append_data(&mut header, "content", content.as_slice())
        .expect("an archive");
    let layer = archive.into_inner().expect("an archive");
    let digest = |bytes: &[u8]| format!("sha256:{}", sha256::hex(bytes));
    let layer_digest = digest(&layer);
    let config = json!({
        "architecture": sandtop::guest::PLATFORM,
        "os": "linux",
        "config": {},
        "rootfs": { "type": "layers", "diff_ids": [layer_digest] },
    });
    let config = config.to_string().into_bytes();
    let part = |kind: &str, bytes: &[u8]| json!({ "mediaType": kind, "size": bytes.len(), "digest": digest(bytes) });
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": part(CONFIG, &config),
        "layers": [part(LAYER, &layer)],
    });
    let manifest = manifest.to_string().into_bytes();
    let shelf = HashMap::from([
        ("manifests/1".to_owned(), (MANIFEST, manifest.clone())),
        (
            format!("manifests/{}", digest(&manifest)),
            (MANIFEST, manifest),
        ),
        (format!("blobs/{}", digest(&config)), (CONFIG, config)),
        (format!("blobs/{layer_digest}"), (LAYER, layer)),
    ]);
    (shelf, layer_digest)
}

/// Serves the connections of a registry.
#[derive(Clone)]
struct Clerk {
    shelf: Arc<Shelf>,
    layer: String,
    asked: Arc<Mutex<Vec<String>>>,
    closed: Arc<AtomicBool>,
    temper: Temper,
}

impl Clerk {
    /// Answers requests until the other side hangs up.
    fn serve(&self, connection: &TcpStream) {
        let mut reader = BufReader::new(connection);
        while let Some((method, path)) = read_request(&mut reader) {
            self.asked
                .lock()
                .expect("a list")
                .push(format!("{method} {path}"));
            if self.answer(connection, &method, &path).is_err() {
                break;
            }
        }
        let _ = connection.shutdown(Shutdown::Both);
    }

    fn answer(&self, mut connection: &TcpStream, method: &str, path: &str) -> std::io::Result<()> {
        let name = path
            .strip_prefix(&format!("/v2/{REPOSITORY}/"))
            .unwrap_or_default();
        if self.temper == Temper::Dying && name.starts_with("blobs/") {
            return self.die(connection, name);
        }
        let (status, kind, body) = match self.shelf.get(name) {
            Some((kind, body)) => ("200 OK", *kind, body.as_slice()),
            None if path == "/v2/" => ("200 OK", "application/json", &b"{}"[..]),
            None => ("404 Not Found", "application/json", MISSING),
        };
        connection.write_all(head(status, kind, body).as_bytes())?;
        if method == "HEAD" {
            return Ok(());
        }
        for piece in body.chunks(256 << 10) {
            connection.write_all(piece)?;
            // Slow enough for the engine to tell how far it is, which it does ten times a second.
            std::thread::sleep(Duration::from_millis(if body.len() > 1 << 20 {
                40
            } else {
                0
            }));
        }
        Ok(())
    }

    /// Hangs up in the middle of the layer, and on everybody who still waits for something else.
    fn die(&self, mut connection: &TcpStream, name: &str) -> std::io::Result<()> {
        let (kind, body) = self.shelf.get(name).expect("a part of the image");
        if name.ends_with(&self.layer) && !self.closed.swap(true, Ordering::SeqCst) {
            connection.write_all(head("200 OK", kind, body).as_bytes())?;
            connection.write_all(&body[..body.len() / 2])?;
        }
        while !self.closed.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(std::io::ErrorKind::ConnectionAborted.into())
    }
}

const MISSING: &[u8] = br#"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}"#;

fn head(status: &str, kind: &str, body: &[u8]) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Docker-Content-Digest: sha256:{}\r\nDocker-Distribution-Api-Version: registry/2.0\r\n\r\n",
        body.len(),
        sha256::hex(body),
    )
}

/// Reads a request without a body; returns its method and path.
fn read_request(reader: &mut impl BufRead) -> Option<(String, String)> {
    let mut first = String::new();
    reader.by_ref().take(8192).read_line(&mut first).ok()?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let request = (words.next()?, words.next()?);
    loop {
        let mut line = String::new();
        if reader.by_ref().take(8192).read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            return Some(request);
        }
    }
}

fn spec_of(fixture: &Fixture, image: String) -> SandboxSpec {
    SandboxSpec {
        image,
        ..fixture.spec("pulled")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Docker: tests/run"]
async fn a_missing_image_is_pulled_and_its_progress_told() {
    let registry = Registry::open(Temper::Sound);
    let fixture = Fixture::docker().await;
    let image = registry.image("1");
    let spec = spec_of(&fixture, image.clone());
    let (sender, mut notes) = mpsc::channel(1000);
    let made = soon("a create", fixture.engine.create(&spec, &Notes::to(sender))).await;
    let sandbox = made.expect("a sandbox");
    assert_eq!(sandbox.image, image);
    let mut told = Vec::new();
    while let Ok(note) = notes.try_recv() {
        told.push(note);
    }
    let pulling: Vec<_> = told
        .iter()
        .filter(|n| n.text == format!("pulling {image}"))
        .collect();
    assert!(
        pulling.iter().any(|n| n.done > 0 && n.total.is_some()),
        "{told:?}"
    );
    assert!(
        pulling
            .iter()
            .all(|n| n.total.is_none_or(|total| n.done <= total)),
        "{told:?}"
    );
    assert_eq!(
        told.last().map(|n| n.text.clone()),
        Some(format!("creating {}", spec.name))
    );
    // The image holds no program at all, and files can be read from it nevertheless.
    let path = crate::support::sandbox_path(b"/content");
    let found = fixture
        .engine
        .file(
            &sandbox.reference.id,
            &sandtop::protocol::FileOp::Stat(path),
        )
        .await;
    assert_eq!(found.expect("an entry").len(), 1);
    let started = fixture
        .engine
        .exec(&sandbox.reference.id, &exec_spec(&["sh"]))
        .await;
    assert_eq!(
        finish(started.expect("an exec")).await.end.ended,
        Ended::Code(127)
    );
    // It is here now, so nothing is asked for again.
    let before = registry.asked.lock().expect("a list").len();
    fixture.create(&spec_of(&fixture, image)).await;
    assert_eq!(registry.asked.lock().expect("a list").len(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Docker: tests/run"]
async fn creates_at_once_share_one_pull() {
    let registry = Registry::open(Temper::Sound);
    let fixture = Fixture::docker().await;
    let specs = [(); 4].map(|()| spec_of(&fixture, registry.image("1")));
    let notes = Notes::none();
    let creates = specs.iter().map(|spec| fixture.engine.create(spec, &notes));
    let made = soon("creates", futures_util::future::join_all(creates)).await;
    for sandbox in made {
        sandbox.expect("a sandbox");
    }
    assert_eq!(fixture.list().await.len(), 4);
    let asked = registry.asked.lock().expect("a list").join("\n");
    assert_eq!(registry.gets(&registry.layer), 1, "{asked}");
    // Engines ask for the tag's digest first, or get the manifest at once.
    let manifests = asked.lines().filter(|line| line.contains("/manifests/1"));
    assert_eq!(manifests.count(), 1, "{asked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Docker: tests/run"]
async fn an_image_that_the_registry_lacks_is_missing() {
    let registry = Registry::open(Temper::Sound);
    let fixture = Fixture::docker().await;
    let image = registry.image("no-such-tag");
    let spec = spec_of(&fixture, image.clone());
    let made = soon("a create", fixture.engine.create(&spec, &Notes::none())).await;
    let error = refused(made, FailureKind::ImageMissing);
    assert!(error.message.contains(&image), "{}", error.message);
    fixture.assert_nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Docker: tests/run"]
async fn a_registry_that_dies_in_the_middle_leaves_nothing() {
    let registry = Registry::open(Temper::Dying);
    let fixture = Fixture::docker().await;
    let spec = spec_of(&fixture, registry.image("1"));
    let made = soon("a create", fixture.engine.create(&spec, &Notes::none())).await;
    refused(made, FailureKind::ImageMissing);
    assert!(
        registry.gets(&registry.layer) > 0,
        "the layer was never asked for"
    );
    fixture.assert_nothing_left().await;
    let images = crate::support::docker(&["images", "-q", &registry.image("1")]);
    assert_eq!(images, "");
}
