//! An engine that takes connections and never answers, or stops to.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::pty::Terminal;
use crate::slow_engine::SlowEngine;
use crate::support::{Place, until};

/// Far more than the 3 s of an engine that hangs, far less than the 30 s of one that is only slow.
const SOON: Duration = Duration::from_secs(15);

/// An engine that says its version, if at all, and nothing more.
struct Hung {
    address: String,
    asked: Arc<AtomicUsize>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hung {
    fn start(says_its_version: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (asked, closing) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let (count, close) = (Arc::clone(&asked), Arc::clone(&closing));
        let thread = std::thread::spawn(move || {
            let held = Mutex::new(Vec::new());
            for stream in listener.incoming().flatten() {
                if close.load(Ordering::SeqCst) {
                    return;
                }
                held.lock().unwrap().push(stream.try_clone().unwrap());
                let count = Arc::clone(&count);
                std::thread::spawn(move || serve(stream, says_its_version, &count));
            }
        });
        Self {
            address,
            asked,
            closing,
            thread: Some(thread),
        }
    }

    fn place(&self) -> Place {
        Place::demo()
            .with("SANDTOP_ENGINE", "docker")
            .with("DOCKER_HOST", &format!("tcp://{}", self.address))
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(&self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Answers nothing but a question for the version, and counts the others.
fn serve(mut stream: TcpStream, says_its_version: bool, asked: &AtomicUsize) {
    let mut request = [0; 4096];
    while let Ok(got @ 1..) = stream.read(&mut request) {
        let text = String::from_utf8_lossy(&request[..got]);
        if !text.lines().next().unwrap().contains("/version") {
            asked.fetch_add(1, Ordering::SeqCst);
        } else if says_its_version {
            let body = r#"{"ApiVersion":"1.41","MinAPIVersion":"1.12","Version":"20.10.0"}"#;
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length";
            let _ = write!(stream, "{head}: {}\r\n\r\n{body}", body.len());
        }
    }
}

#[test]
fn an_engine_that_hangs_is_told_soon() {
    let engine = Hung::start(false);
    let place = engine.place();
    for args in [&["ls"][..], &["create", "x"], &["inspect", "x"], &["stats"]] {
        let begin = Instant::now();
        place.run(args).exits(3).says("does not answer");
        assert!(begin.elapsed() < SOON, "{args:?}");
    }
    place.run(&["exec", "x", "--", "true"]).exits(125);
    let (code, value) = place.json(&["ls"]);
    assert_eq!((code, &value["error"]["kind"]), (3, &json!("unreachable")));
    // If none was asked for, too.
    let place = place.with("SANDTOP_ENGINE", "");
    place.run(&["ls"]).exits(3).says("does not answer");
}

#[test]
fn the_doctor_tells_what_it_knows_without_the_engine() {
    let engine = Hung::start(false);
    let place = engine.place();
    let (code, value) = place.json(&["doctor"]);
    let level = |name: &str| {
        let checks = value["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["name"] == name);
        found.map_or(Value::Null, |check| check["level"].clone())
    };
    assert_eq!((code, &value["ok"]), (3, &json!(false)));
    assert_eq!(level("configuration"), "ok");
    assert_eq!(level("state directory"), "ok");
    assert_eq!(level("engine"), "fail");
    // An address that leads nowhere is known only when the engine is chosen.
    let place = Place::demo()
        .with("SANDTOP_ENGINE", "docker")
        .with("DOCKER_HOST", "ssh://somewhere");
    let ran = place.run(&["doctor"]).exits(3);
    assert!(ran.text().contains("ok    configuration"), "{}", ran.text());
    assert!(ran.text().contains("FAIL  engine"), "{}", ran.text());
}

#[test]
fn ending_does_not_wait_for_an_engine_that_hangs() {
    let engine = Hung::start(true);
    let running = engine.place().start(&["ls"]);
    until("the engine is asked", || {
        engine.asked.load(Ordering::SeqCst) > 0
    });
    let begin = Instant::now();
    running.signal(Signal::TERM);
    running.wait().exits(143);
    // Without looking whether the engine lives, tasks would get 8 s to end.
    assert!(begin.elapsed() < Duration::from_secs(6));
}

#[test]
fn leaving_the_dashboard_does_not_wait_either() {
    let engine = Hung::start(true);
    let place = engine.place();
    let mut terminal = Terminal::start(&place, &[]);
    until("the engine is asked", || {
        engine.asked.load(Ordering::SeqCst) > 0
    });
    let begin = Instant::now();
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
    assert!(begin.elapsed() < Duration::from_secs(6));
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_engine_that_begins_to_hang_is_told_in_the_dashboard_and_comes_back() {
    let place = Place::docker();
    let engine = SlowEngine::before(place.docker_host(), &place.path("slow.sock"), 1);
    let place = place.with("DOCKER_HOST", &engine.address());
    let name = place.sandbox(&[]);
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen(&name);
    for _ in 0..2 {
        engine.halt(true);
        terminal.until_seen("does not answer");
        engine.halt(false);
        terminal.until_gone("does not answer");
        terminal.until_seen(&name);
    }
    drop(terminal);
}
