//! What verbs ask of the engine: seen by a socket before it that passes everything on and notes the requests.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};

use crate::support::{Place, busybox, until};
use crate::terminal::Terminal;

/// Methods that a request may begin with.
const METHODS: [&str; 5] = ["GET ", "POST ", "PUT ", "HEAD ", "DELETE "];

/// A socket before the engine, by which the programs of a place reach it; it ends with the test.
struct Watched {
    place: Place,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Watched {
    fn docker() -> Self {
        let place = Place::docker();
        let engine = std::env::var("DOCKER_HOST").unwrap();
        let engine = PathBuf::from(engine.strip_prefix("unix://").expect("a Unix socket"));
        let socket = place.path("watched.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noting = Arc::clone(&seen);
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let far = UnixStream::connect(&engine).unwrap();
                let (answers, client) = (far.try_clone().unwrap(), near.try_clone().unwrap());
                let noting = Arc::clone(&noting);
                std::thread::spawn(move || pass(near, far, |bytes| note(&noting, bytes)));
                std::thread::spawn(move || pass(answers, client, |_| ()));
            }
        });
        Self {
            place: place.with("DOCKER_HOST", &format!("unix://{}", socket.display())),
            seen,
        }
    }

    /// Runs a verb that must succeed, and returns what it asked: method and path of each request.
    fn asks(&self, args: &[&str]) -> Vec<String> {
        self.forget();
        self.place.run(args).ok();
        self.asked()
    }

    fn forget(&self) {
        self.seen.lock().unwrap().clear();
    }

    fn asked(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// Passes bytes on until one side ends.
fn pass(mut from: UnixStream, mut to: UnixStream, seen: impl Fn(&[u8])) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        seen(&bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// Notes the request that begins here, if one does; clients write its head at once.
fn note(seen: &Mutex<Vec<String>>, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().next().unwrap_or_default();
    if METHODS.iter().any(|method| line.starts_with(method)) && line.contains(" HTTP/1.1") {
        let mut words = line.split(' ');
        let request = [words.next().unwrap(), words.next().unwrap()].join(" ");
        seen.lock().unwrap().push(request);
    }
}

/// Counts the requests that hold a word.
fn count(asked: &[String], word: &str) -> usize {
    asked
        .iter()
        .filter(|request| request.contains(word))
        .count()
}

/// Reads a parameter of a request.
fn parameter(request: &str, name: &str) -> Option<String> {
    let (_, query) = request.split_once('?')?;
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(key, _)| *key == name);
    found.next().map(|(_, value)| value.to_owned())
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_list_asks_the_engine_once_and_not_about_its_future() {
    let watched = Watched::docker();
    watched.place.sandbox(&[]);
    let asked = watched.asks(&["ls"]);
    assert_eq!(count(&asked, "/containers/json"), 1, "{asked:#?}");
    assert_eq!(count(&asked, "/version"), 0, "{asked:#?}");
    let events = asked.iter().find(|request| request.contains("/events"));
    let until = parameter(events.expect("a look back"), "until").unwrap();
    let (seconds, nanos) = until.split_once('.').expect("a fraction");
    let until = DateTime::from_timestamp(seconds.parse().unwrap(), nanos.parse().unwrap());
    assert!(until.expect("a time") <= Utc::now(), "{events:?}");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_verb_on_one_sandbox_looks_at_that_one() {
    let watched = Watched::docker();
    let name = watched.place.sandbox(&[]);
    for args in [
        &["exec", &name, "--", "true"][..],
        &["files", "ls", &name],
        &["stop", &name],
        &["rm", "-f", &name],
    ] {
        let asked = watched.asks(args);
        for list in asked.iter().filter(|one| one.contains("/containers/json")) {
            assert!(
                list.contains("name") || list.contains("%22id%22"),
                "{args:?}: {list}"
            );
        }
    }
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_create_brings_the_guest_only_once_and_lists_once() {
    let watched = Watched::docker();
    watched.place.sandbox_of(&busybox(), &[]);
    let name = watched.place.name("second");
    let asked = watched.asks(&["create", &name, "--image", &busybox()]);
    let lists = asked.iter().filter(|one| one.contains("/containers/json"));
    let of_all = lists.filter(|list| !list.contains("%22id%22"));
    assert_eq!(of_all.count(), 1, "for the limit: {asked:#?}");
    assert_eq!(count(&asked, "/containers/create"), 1, "{asked:#?}");
    let uploads = asked.iter().filter(|one| one.starts_with("PUT "));
    let uploads = uploads.filter(|one| one.contains("/archive")).count();
    // Nobody but root gives a folder away; the engine does it then.
    let own = usize::from(!rustix::process::geteuid().is_root());
    assert_eq!(uploads, own, "{asked:#?}");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn many_are_removed_without_a_list_for_each() {
    let watched = Watched::docker();
    let names = ["a", "b", "c"].map(|word| watched.place.name(word));
    for name in &names {
        let args = ["create", name, "--image", &busybox()];
        watched.place.run(&args).ok();
    }
    let [a, b, c] = &names;
    let asked = watched.asks(&["rm", "-f", a, b, c]);
    let lists = asked.iter().filter(|one| one.contains("/containers/json"));
    let of_all = lists.filter(|list| !list.contains("%22id%22"));
    assert_eq!(of_all.count(), 1, "{asked:#?}");
    assert_eq!(watched.place.belongings(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn stats_on_this_machine_are_the_kernels() {
    let watched = Watched::docker();
    let name = watched.place.sandbox(&[]);
    let asked = watched.asks(&["stats", &name]);
    assert_eq!(count(&asked, "/stats"), 0, "{asked:#?}");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_dashboard_at_rest_does_not_ask_for_the_list_again() {
    let watched = Watched::docker();
    let place = &watched.place;
    let name = place.sandbox(&[]);
    // So wide that the column with the pin has room.
    let mut terminal = Terminal::start_by(place, &[], &[], (50, 220));
    // What other processes put on record is seen, and the engine is left alone meanwhile.
    for verb in ["pin", "unpin", "pin"] {
        terminal.until_seen(&name);
        let is_pinned = |terminal: &Terminal| terminal.screen().contains("pinned");
        watched.forget();
        place.run(&[verb, &name]).ok();
        until("the record is seen", || {
            is_pinned(&terminal) == (verb == "pin")
        });
    }
    let asked = watched.asked();
    let lists = asked.iter().filter(|one| one.contains("/containers/json"));
    let of_all = lists.filter(|list| !list.contains("name"));
    assert_eq!(of_all.count(), 0, "{}\n{asked:#?}", terminal.screen());
    assert_eq!(count(&asked, "/events"), 0, "{asked:#?}");
}
