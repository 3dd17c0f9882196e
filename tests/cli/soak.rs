//! Processes that exec, run, create and reap, killed at any moment; afterwards everything must add up.
//!
//! Short in the tests, long in `benches/soak.rs`.

use std::time::Duration;

use serde_json::Value;

use crate::ground::Ground;
use crate::support::Chance;

/// Sandboxes in which something runs until the end.
const BUSY: usize = 3;
/// The moments: within so many milliseconds of a command's start.
const LATEST: u64 = 500;
/// After so many kills a reaping is left in peace, so that sandboxes do not pile up.
const WHOLE: u64 = 20;
/// A command is given a tag, prints it, and goes on for a while.
const SCRIPT: &str = "echo $0; sleep 0.1; seq 500";

/// What is killed, one after the other.
const VERBS: [&str; 5] = ["exec", "detach", "run", "create", "reap"];

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// Commands that were started.
    pub(crate) started: u64,
    /// Of these, those that were killed before they had ended by themselves.
    pub(crate) in_time: u64,
    /// Runs that were known to have begun.
    pub(crate) begun: usize,
    /// Runs on record.
    pub(crate) recorded: usize,
    /// Runs on record whose process or sandbox was lost.
    pub(crate) lost: usize,
    /// Sandboxes that were removed by reapings that nobody killed.
    pub(crate) reaped: usize,
}

struct Soak<'a> {
    ground: &'a Ground,
    chance: Chance,
    /// Where commands run.
    work: String,
    /// Sandboxes and the runs in them.
    busy: Vec<(String, String)>,
    tags: Vec<String>,
    figures: Figures,
}

/// Kills so many processes before their own end; panics if something does not add up then.
pub(crate) fn soak(ground: &Ground, kills: u64, seed: u64) -> Figures {
    let place = &ground.place;
    let work = place.sandbox_of(&ground.image, &[]);
    place.run(&["pin", &work]).ok();
    std::fs::write(place.path("code.sh"), SCRIPT.replace("$0", "$1")).unwrap();
    let mut soak = Soak {
        busy: (0..BUSY).map(|n| busy(ground, n)).collect(),
        ground,
        chance: Chance(seed | 1),
        work,
        tags: Vec::new(),
        figures: Figures::default(),
    };
    ground.begin();
    for turn in 0.. {
        if soak.figures.in_time >= kills {
            break;
        }
        soak.turn(turn);
        if turn % WHOLE == WHOLE - 1 {
            ground.end();
            soak.only_the_idle_go();
            ground.begin();
        }
    }
    ground.end();
    soak.check();
    soak.figures
}

fn busy(ground: &Ground, number: usize) -> (String, String) {
    let place = &ground.place;
    let name = place.name(&format!("busy{number}"));
    place.run(&["create", &name, "--image", &ground.image]).ok();
    let run = place.run(&["exec", &name, "--detach", "--", "sleep", "3600"]);
    (name, run.ok().text().trim().to_owned())
}

impl Soak<'_> {
    fn turn(&mut self, turn: u64) {
        let tag = format!("tag-{turn}-end");
        let place = &self.ground.place;
        let (name, image) = (place.name(&format!("n{turn}")), &self.ground.image);
        let verb = VERBS[usize::try_from(self.chance.below(5)).unwrap()];
        let words: &[&str] = match verb {
            "exec" => &["exec", &self.work, "--", "sh", "-c", SCRIPT, &tag],
            "detach" => &["exec", "-d", &self.work, "--", "sh", "-c", SCRIPT, &tag],
            "run" => &["run", "code.sh", "--image", image, "--", &tag],
            "create" => &["create", &name, "--image", image],
            _ => &["reap", "--idle", "0"],
        };
        let mut process = place.start(words);
        std::thread::sleep(Duration::from_millis(self.chance.below(LATEST)));
        self.figures.started += 1;
        self.figures.in_time += u64::from(process.is_running());
        // One that has ended by itself is as good as killed at its very end.
        let _ = process.child.kill();
        let printed = process.wait();
        // A detached one prints its id, the others their tag.
        let has_begun = printed.text().contains(&tag) || (verb == "detach" && printed.code == 0);
        if has_begun {
            self.tags.push(tag);
        }
    }

    fn runs(&self) -> Vec<Value> {
        let all = self.ground.place.json_ok(&["runs", "-n", "100000"]);
        all.as_array().unwrap().clone()
    }

    /// Names our sandboxes as sandtop lists them.
    fn listed(&self) -> Vec<String> {
        let list = self.ground.place.json_ok(&["ls", "--all"]);
        let ours = list
            .as_array()
            .unwrap()
            .iter()
            .filter(|s| s["owned"] == true);
        ours.map(|s| s["name"].as_str().unwrap().to_owned())
            .collect()
    }

    fn is_busy(&self, run: &Value) -> bool {
        self.busy.iter().any(|(_, id)| run["run"] == *id)
    }

    fn check(&mut self) {
        self.every_run_has_its_end();
        self.the_store_is_sound();
        let (mut listed, mut there) = (self.listed(), self.ground.there());
        listed.sort();
        there.sort();
        assert_eq!(listed, there, "none is forgotten");
        self.only_the_idle_go();
        for (_, run) in &self.busy {
            self.ground.place.run(&["cancel", run]).ok();
        }
        self.ground.place.run(&["unpin", &self.work]).ok();
        until_long("all are gone", || {
            self.ground.place.run(&["reap", "--idle", "0"]);
            self.ground.there().is_empty()
        });
        until_long("nothing is left over", || {
            self.ground.left_over().is_empty()
        });
        let running = self
            .runs()
            .iter()
            .filter(|run| run["status"] == "running")
            .count();
        assert_eq!(running, 0, "none runs for ever");
    }

    fn every_run_has_its_end(&mut self) {
        until_long("every run has its end", || {
            let runs = self.runs();
            let mut open = runs.iter().filter(|run| run["status"] == "running");
            open.all(|run| self.is_busy(run))
        });
        let runs = self.runs();
        for tag in &self.tags {
            let is_it = |run: &&Value| run["command"].to_string().contains(tag.as_str());
            assert_eq!(runs.iter().filter(is_it).count(), 1, "{tag}");
        }
        self.figures.begun = self.tags.len();
        self.figures.recorded = runs.len();
        self.figures.lost = runs.iter().filter(|run| run["status"] == "lost").count();
        assert!(!self.tags.is_empty(), "none came far enough");
    }

    fn the_store_is_sound(&self) {
        let file = self.ground.place.path("state/sandtop/store.db");
        let store = rusqlite::Connection::open(file).unwrap();
        let verdict: String = store
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(verdict, "ok");
    }

    fn only_the_idle_go(&mut self) {
        let before = self.ground.there().len();
        let mut spared: Vec<String> = self.busy.iter().map(|(name, _)| name.clone()).collect();
        spared.push(self.work.clone());
        spared.sort();
        until_long("the idle are gone", || {
            self.ground.place.run(&["reap", "--idle", "0"]);
            let mut left = self.ground.there();
            left.sort();
            for name in &spared {
                assert!(left.contains(name), "{name} was in use: {left:?}");
            }
            left == spared
        });
        self.figures.reaped += before - spared.len();
        let runs = self.runs();
        let busy = runs.iter().filter(|run| self.is_busy(run));
        let busy = busy.filter(|run| run["status"] == "running");
        assert_eq!(busy.count(), BUSY, "they go on");
    }
}

/// Waits for a condition that depends on time limits of the code that was run.
#[track_caller]
fn until_long(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_mins(2), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
