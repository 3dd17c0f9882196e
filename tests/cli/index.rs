//! An index of packages on loopback, with packages that the tests make themselves, for real pip and npm.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What is served, by path.
type Files = HashMap<String, Vec<u8>>;

/// A server that speaks as much HTTP as package managers need.
pub(crate) struct Index {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    files: Mutex<Files>,
    asked: Mutex<Vec<String>>,
    is_closing: AtomicBool,
    is_stuck: AtomicBool,
}

impl Index {
    pub(crate) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            files: Mutex::default(),
            asked: Mutex::default(),
            is_closing: AtomicBool::new(false),
            is_stuck: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve(&listener, &serving));
        Self {
            address,
            shared,
            thread: Some(thread),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn pip_url(&self) -> String {
        format!("http://{}/simple/", self.address)
    }

    pub(crate) fn npm_url(&self) -> String {
        format!("http://{}/", self.address)
    }

    fn put(&self, path: &str, bytes: Vec<u8>) {
        self.shared
            .files
            .lock()
            .unwrap()
            .insert(path.to_owned(), bytes);
    }

    /// Adds a Python package of one module.
    pub(crate) fn wheel(&self, name: &str, version: &str, code: &str, ballast: usize) {
        let info = format!("{name}-{version}.dist-info");
        let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        let wheel =
            "Wheel-Version: 1.0\nGenerator: sandtop\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
        let zip = zipped(&[
            (format!("{name}.py"), code.as_bytes().to_vec()),
            (format!("{name}.bin"), vec![b'x'; ballast]),
            (format!("{info}/METADATA"), metadata.into_bytes()),
            (format!("{info}/WHEEL"), wheel.as_bytes().to_vec()),
            (format!("{info}/RECORD"), Vec::new()),
        ]);
        self.offer(name, &format!("{name}-{version}-py3-none-any.whl"), zip);
    }

    /// Adds a Python package whose own script says these words and fails.
    pub(crate) fn broken(&self, name: &str, words: &str) {
        let folder = format!("{name}-1.0");
        let script = format!("raise SystemExit({words:?})\n");
        let tar = tarred(&[
            (format!("{folder}/setup.py"), script.into_bytes()),
            (
                format!("{folder}/PKG-INFO"),
                format!("Metadata-Version: 1.0\nName: {name}\nVersion: 1.0\n").into_bytes(),
            ),
        ]);
        self.offer(name, &format!("{folder}.tar.gz"), gzipped(&tar));
    }

    fn offer(&self, name: &str, file: &str, bytes: Vec<u8>) {
        let page = format!("<!DOCTYPE html><a href=\"{file}\">{file}</a>");
        self.put(&format!("/simple/{name}/"), page.into_bytes());
        self.put(&format!("/simple/{name}/{file}"), bytes);
    }

    /// Adds a package for Node that both kinds of programs can load.
    pub(crate) fn npm(&self, name: &str, code: &str) {
        self.npm_at(&self.npm_url(), name, code);
    }

    /// The same, with its archive at another address.
    pub(crate) fn npm_at(&self, registry: &str, name: &str, code: &str) {
        let about =
            format!("{{\"name\": {name:?}, \"version\": \"1.0.0\", \"main\": \"index.js\"}}");
        let tar = tarred(&[
            ("package/package.json".to_owned(), about.into_bytes()),
            ("package/index.js".to_owned(), code.as_bytes().to_vec()),
        ]);
        let file = format!("/{name}/-/{name}-1.0.0.tgz");
        let tarball = format!("{}{file}", registry.trim_end_matches('/'));
        let version =
            serde_json::json!({"name": name, "version": "1.0.0", "dist": {"tarball": tarball}});
        let packument = serde_json::json!({
            "name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version},
        });
        self.put(&format!("/{name}"), packument.to_string().into_bytes());
        self.put(&file, gzipped(&tar));
    }

    /// Counts how often something that ends so was asked for.
    pub(crate) fn asked_for(&self, ending: &str) -> usize {
        let asked = self.shared.asked.lock().unwrap();
        asked.iter().filter(|path| path.ends_with(ending)).count()
    }

    /// From now on requests are taken and not answered, or answered again.
    pub(crate) fn stick(&self, is_stuck: bool) {
        self.shared.is_stuck.store(is_stuck, Ordering::SeqCst);
    }

    /// Switches it off: nobody listens any more.
    pub(crate) fn close(&mut self) {
        self.shared.is_closing.store(true, Ordering::SeqCst);
        self.stick(false);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.close();
    }
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_closing.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            // A package manager that hangs up is allowed to.
            let _ = answer(&stream.unwrap(), &shared);
        });
    }
}

fn answer(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    shared.asked.lock().unwrap().push(path.clone());
    while shared.is_stuck.load(Ordering::SeqCst) && is_open(stream) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let file = shared.files.lock().unwrap().get(&path).cloned();
    let (status, body) = match file {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", b"no such package".to_vec()),
    };
    let kind = match path.rsplit_once('.') {
        Some((_, "whl" | "gz" | "tgz")) => "application/octet-stream",
        _ if path.starts_with("/simple/") => "text/html",
        _ => "application/json",
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

fn is_open(stream: &TcpStream) -> bool {
    let pause = std::time::Duration::from_millis(10);
    stream.set_read_timeout(Some(pause)).unwrap();
    let mut stream = stream;
    !matches!(stream.read(&mut [0]), Ok(0))
}

/// The checksum of zip and gzip.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

fn small(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap().to_le_bytes()
}

fn large(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap().to_le_bytes()
}

/// Writes a zip archive without compression.
fn zipped(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let about = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..],
            &crc32(bytes).to_le_bytes(),
            &large(bytes.len()),
            &large(bytes.len()),
            &small(name.len()),
            &[0, 0],
        ]
        .concat();
        let start = zip.len();
        directory.extend(
            [
                b"PK\x01\x02\x14\0",
                &about[..],
                &[0; 10],
                &large(start),
                name.as_bytes(),
            ]
            .concat(),
        );
        zip.extend([b"PK\x03\x04", &about[..], name.as_bytes(), bytes].concat());
    }
    let start = zip.len();
    let count = small(files.len());
    zip.extend(&directory);
    let end = [
        b"PK\x05\x06\0\0\0\0",
        &count[..],
        &count,
        &large(directory.len()),
        &large(start),
        &[0, 0],
    ];
    zip.extend(end.concat());
    zip
}

fn tarred(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, name, bytes.as_slice())
            .unwrap();
    }
    builder.into_inner().unwrap()
}

/// Writes a gzip file without compression.
fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let pieces: Vec<&[u8]> = bytes.chunks(0xffff).collect();
    for (number, piece) in pieces.iter().enumerate() {
        let is_last = u8::from(number + 1 == pieces.len());
        let length = small(piece.len());
        out.extend([&[is_last][..], &length, &length.map(|byte| !byte), piece].concat());
    }
    out.extend(crc32(bytes).to_le_bytes());
    out.extend(large(bytes.len()));
    out
}
