//! What can stand before an index: an end of TLS with a certificate that only the test knows, and a proxy.

use std::io::{BufRead, BufReader, Read, Write, copy};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use tempfile::TempDir;

use crate::support::until;

/// A name that no resolver knows; only a proxy can lead there.
pub(crate) const NOWHERE: &str = "index.sandtop.invalid";

/// TLS before a server that closes after each answer; openssl does the work, one connection after the other.
pub(crate) struct Tls {
    pub(crate) address: SocketAddr,
    folder: TempDir,
    child: Child,
    thread: Option<JoinHandle<()>>,
}

impl Tls {
    /// Starts it, with the openssl of this machine.
    pub(crate) fn before(server: SocketAddr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        certify(folder.path()).expect("openssl");
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut child = Command::new("openssl")
            .args(["s_server", "-quiet", "-cert", "index.pem", "-key"])
            .args(["index.key", "-accept", &address.to_string()])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (requests, answers) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let thread = std::thread::spawn(move || {
            // It ends when openssl does.
            let _ = pass(BufReader::new(requests), answers, server);
        });
        until("TLS is there", || TcpStream::connect(address).is_ok());
        Self {
            address,
            folder,
            child,
            thread: Some(thread),
        }
    }

    /// The file that says whom to believe.
    pub(crate) fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Makes an authority and a certificate of it.
fn certify(folder: &Path) -> std::io::Result<()> {
    let usual = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2";
    let names = format!("subjectAltName=DNS:{NOWHERE},IP:127.0.0.1");
    let authority = "-subj /CN=sandtop-test-authority -addext keyUsage=critical,keyCertSign \
                     -keyout ca.key -out ca.pem";
    let index = format!(
        "-CA ca.pem -CAkey ca.key -subj /CN=sandtop-test-index -addext {names} \
         -addext basicConstraints=critical,CA:FALSE -keyout index.key -out index.pem"
    );
    for more in [authority, &index] {
        let made = Command::new("openssl")
            .args(usual.split_whitespace().chain(more.split_whitespace()))
            .current_dir(folder)
            .output()?;
        assert!(made.status.success(), "{made:?}");
    }
    Ok(())
}

/// Reads a request without a body.
fn head(reader: &mut impl BufRead) -> std::io::Result<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim_end().is_empty() {
            return Ok(lines);
        }
        lines.push(line.trim_end().to_owned());
    }
}

/// Asks a server once and writes what it answers.
fn ask(server: SocketAddr, lines: &[String], mut answer: impl Write) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(server)?;
    write!(stream, "{}\r\n\r\n", lines.join("\r\n"))?;
    let mut whole = Vec::new();
    stream.read_to_end(&mut whole)?;
    answer.write_all(&whole)?;
    answer.flush()
}

fn pass(
    mut requests: impl BufRead,
    mut answers: impl Write,
    server: SocketAddr,
) -> std::io::Result<()> {
    loop {
        let lines = head(&mut requests)?;
        ask(server, &lines, &mut answers)?;
    }
}

/// A proxy that leads every name to the same two servers, and notes what it was asked for.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    plain: SocketAddr,
    tls: SocketAddr,
    asked: Mutex<Vec<String>>,
    is_closing: AtomicBool,
}

impl Proxy {
    pub(crate) fn to(plain: SocketAddr, tls: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            plain,
            tls,
            asked: Mutex::default(),
            is_closing: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.is_closing.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&serving);
                std::thread::spawn(move || {
                    // Who hangs up is allowed to.
                    let _ = lead(stream.unwrap(), &shared);
                });
            }
        });
        Self {
            address,
            shared,
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Counts the requests that start so.
    pub(crate) fn asked_for(&self, start: &str) -> usize {
        let asked = self.shared.asked.lock().unwrap();
        asked.iter().filter(|line| line.starts_with(start)).count()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_closing.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lead(client: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut lines = head(&mut BufReader::new(&client))?;
    shared.asked.lock().unwrap().push(lines[0].clone());
    if lines[0].starts_with("CONNECT ") {
        (&client).write_all(b"HTTP/1.1 200 Here you are\r\n\r\n")?;
        return join(client, TcpStream::connect(shared.tls)?);
    }
    // `GET http://name/path HTTP/1.1` is what a proxy hears, and `GET /path HTTP/1.1` what a server does.
    let path = lines[0].split('/').skip(3).collect::<Vec<_>>().join("/");
    lines[0] = format!("GET /{path}");
    ask(shared.plain, &lines, &client)
}

/// Copies both ways until both sides have ended.
fn join(one: TcpStream, other: TcpStream) -> std::io::Result<()> {
    let (from, to) = (one.try_clone()?, other.try_clone()?);
    let back = std::thread::spawn(move || {
        let _ = copy(&mut &other, &mut &one);
        let _ = one.shutdown(Shutdown::Write);
    });
    let copied = copy(&mut &from, &mut &to);
    to.shutdown(Shutdown::Write)?;
    let _ = back.join();
    copied.map(drop)
}
