//! What verbs cost beside many sandboxes: on Docker against the `docker` client, on the local engine against a place with one.
//!
//! `cargo bench --bench growth`, or with `-- --quick` a short one with fewer sandboxes. Turns alternate. Everything made here is
//! in a folder and a scope of its own and is removed at the end; a goal that is missed is exit code 1.

#![allow(clippy::print_stdout)] // A bench is there to print.

mod compare;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use compare::{Goal, Outcome, Row, Times, all_met, run, table};

/// How many sandboxes are made at a time.
const AT_A_TIME: usize = 4;
/// What a sandbox has by default, in the words of `docker run`.
const HARDENED: &str = "--network none --read-only --cap-drop ALL --security-opt no-new-privileges --init --memory 512m \
    --memory-swap 512m --cpus 1 --pids-limit 256 --ulimit nofile=1024 --ulimit core=0 --user 65534:65534 --shm-size 16m \
    --tmpfs /tmp --tmpfs /run/sandtop -v /.sandtop -v /workspace";

/// How much is made and measured.
struct Size {
    /// Sandboxes in a turn of creates and removals.
    batch: usize,
    /// Sandboxes that a list has.
    many: usize,
    /// The same on the local engine.
    many_local: usize,
    turns: usize,
    small_turns: usize,
}

fn main() {
    if !std::env::args().any(|word| word == "--bench") {
        println!("growth: not measured; run `cargo bench --bench growth`");
        return;
    }
    let size = if std::env::args().any(|word| word == "--quick") {
        Size {
            batch: 8,
            many: 24,
            many_local: 100,
            turns: 1,
            small_turns: 7,
        }
    } else {
        Size {
            batch: 40,
            many: 200,
            many_local: 1000,
            turns: 3,
            small_turns: 15,
        }
    };
    let measured = docker(&size).and_then(|mut rows| {
        rows.extend(local(&size)?);
        Ok(rows)
    });
    match measured {
        Ok(rows) => {
            println!("{}", table(&rows));
            std::process::exit(i32::from(!all_met(&rows)));
        }
        Err(error) => {
            println!("growth: the measurement failed: {error}");
            std::process::exit(1);
        }
    }
}

/// A place with sandboxes of its own.
struct Place {
    folder: tempfile::TempDir,
    engine: &'static str,
    scope: String,
    image: String,
}

impl Place {
    fn new(engine: &'static str, word: &str) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("sandtop"))?;
        let settings = "[manager]\nmax_sandboxes = 5000\n";
        fs::write(folder.path().join("sandtop/config.toml"), settings)?;
        let image = std::env::var("SANDTOP_BENCH_IMAGE");
        Ok(Self {
            folder,
            engine,
            scope: format!("growth-{word}-{}", std::process::id()),
            image: image.unwrap_or_else(|_| "sandtop-test/busybox".to_owned()),
        })
    }

    fn sandtop(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sandtop"));
        // Settings of the person who measures must not change what is measured.
        for folder in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env(folder, self.folder.path());
        }
        command
            .env("SANDTOP_SCOPE", &self.scope)
            .args(["--engine", self.engine])
            .args(words);
        command
    }

    fn create(&self, name: &str) -> Command {
        match self.engine {
            "docker" => self.sandtop(&["create", name, "--image", &self.image]),
            _ => self.sandtop(&["create", name]),
        }
    }

    fn peer(&self, name: &str) -> Command {
        let mut command = Command::new("docker");
        let label = format!("sandtop-bench={}", self.scope);
        command
            .args(["run", "-d", "--name", name, "--label", &label])
            .args(HARDENED.split_whitespace())
            .args([&self.image, "tail", "-f", "/dev/null"]);
        command
    }

    fn names(&self, word: &str, count: usize) -> Vec<String> {
        let name = |number| format!("{word}{number}-{}", self.scope);
        (0..count).map(name).collect()
    }

    /// Runs a verb on many, however long the line becomes.
    fn verb(&self, words: &[&str], names: &[String]) -> Outcome<f64> {
        run(self.sandtop(words).args(names))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let listed = self.sandtop(&["ls", "--all"]).output();
        let text = listed.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        let text = text.unwrap_or_default();
        let names = text.lines().skip(1);
        let names: Vec<&str> = names.filter_map(|l| l.split_whitespace().next()).collect();
        let _ = self.sandtop(&[&["rm", "-f"], &names[..]].concat()).output();
        let filter = format!("label=sandtop-bench={}", self.scope);
        let found = Command::new("docker")
            .args(["ps", "-aq", "--filter", &filter])
            .output();
        let text = found.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        for id in text.unwrap_or_default().split_whitespace() {
            let _ = Command::new("docker").args(["rm", "-fv", id]).output();
        }
    }
}

/// Runs commands, some at a time, and returns the seconds that it took.
fn several(commands: Vec<Command>) -> Outcome<f64> {
    let begun = Instant::now();
    let (mut waiting, mut running) = (commands.into_iter(), Vec::new());
    loop {
        while running.len() < AT_A_TIME {
            let Some(mut command) = waiting.next() else {
                break;
            };
            let command = command.stdin(Stdio::null()).stdout(Stdio::null());
            running.push(command.spawn()?);
        }
        if running.is_empty() {
            return Ok(begun.elapsed().as_secs_f64());
        }
        for mut child in running.drain(..) {
            if !child.wait()?.success() {
                return Err("one of several commands failed".into());
            }
        }
    }
}

fn docker(size: &Size) -> Outcome<Vec<Row>> {
    let place = Place::new("docker", "d")?;
    let image = ["image", "inspect", &place.image];
    if run(Command::new("docker").args(image)).is_err() {
        println!("no engine has {}: Docker is left out", place.image);
        return Ok(Vec::new());
    }
    // The first one on an engine brings the guest.
    run(&mut place.create("first"))?;
    let mut rows = vec![lists(&place, "ls with 1 / docker ps", size.small_turns)?];
    run(&mut place.sandtop(&["rm", "-f", "first"]))?;
    rows.extend(batches(&place, size)?);
    let ours = place.names("s", size.many);
    several(ours.iter().map(|name| place.create(name)).collect())?;
    let name = format!("ls with {} / docker ps", size.many);
    rows.push(lists(&place, &name, size.small_turns)?);
    rows.push(stats(&place, size)?);
    let (mut remove, mut peer) = (Times::default(), Times::default());
    remove.add(place.verb(&["rm", "-f"], &ours)?);
    let theirs = place.names("p", size.many);
    several(theirs.iter().map(|name| place.peer(name)).collect())?;
    peer.add(run(Command::new("docker")
        .args(["rm", "-fv"])
        .args(&theirs))?);
    let name = format!("rm -f of {} / one docker rm -fv", size.many);
    rows.push(Row::time(&name, remove, peer, Goal::AtMost(1.1)));
    Ok(rows)
}

fn lists(place: &Place, name: &str, turns: usize) -> Outcome<Row> {
    let (mut ours, mut peer) = (Times::default(), Times::default());
    for _ in 0..turns {
        ours.add(run(&mut place.sandtop(&["ls"]))?);
        peer.add(run(Command::new("docker").arg("ps"))?);
    }
    Ok(Row::time(name, ours, peer, Goal::AtMost(1.0)))
}

fn stats(place: &Place, size: &Size) -> Outcome<Row> {
    let (mut ours, mut peer) = (Times::default(), Times::default());
    for _ in 0..size.turns {
        ours.add(run(&mut place.sandtop(&["stats"]))?);
        peer.add(run(Command::new("docker").args(["stats", "--no-stream"]))?);
    }
    let name = format!("stats of {} / docker stats --no-stream", size.many);
    Ok(Row::time(&name, ours, peer, Goal::AtMost(0.1)))
}

fn batches(place: &Place, size: &Size) -> Outcome<Vec<Row>> {
    let (mut create, mut plain) = (Times::default(), Times::default());
    let (mut remove, mut peer) = (Times::default(), Times::default());
    let (ours, theirs) = (place.names("b", size.batch), place.names("q", size.batch));
    for _ in 0..size.turns {
        create.add(several(
            ours.iter().map(|name| place.create(name)).collect(),
        )?);
        plain.add(several(
            theirs.iter().map(|name| place.peer(name)).collect(),
        )?);
        remove.add(place.verb(&["rm", "-f"], &ours)?);
        peer.add(run(Command::new("docker")
            .args(["rm", "-fv"])
            .args(&theirs))?);
    }
    let count = size.batch;
    Ok(vec![
        Row::time(
            &format!("create of {count}, {AT_A_TIME} at a time / docker run -d, hardened alike"),
            create,
            plain,
            Goal::AtMost(1.1),
        ),
        Row::time(
            &format!("rm -f of {count} / one docker rm -fv"),
            remove,
            peer,
            Goal::AtMost(1.1),
        ),
    ])
}

/// The same verbs in a place with many and in one with one.
fn local(size: &Size) -> Outcome<Vec<Row>> {
    let (full, empty) = (Place::new("local", "many")?, Place::new("local", "one")?);
    for place in [&full, &empty] {
        if run(&mut place.create("box")).is_err() {
            println!("the local engine does not work here: it is left out");
            return Ok(Vec::new());
        }
    }
    let names = full.names("s", size.many_local);
    several(names.iter().map(|name| full.create(name)).collect())?;
    let verbs: [(&str, &[&str]); 3] = [
        ("exec true", &["exec", "box", "--", "true"]),
        ("create", &["create", "new"]),
        ("rm -f", &["rm", "-f", "new"]),
    ];
    let mut times = vec![(Times::default(), Times::default()); verbs.len()];
    for _ in 0..size.small_turns {
        for ((_, words), (many, one)) in verbs.iter().zip(&mut times) {
            many.add(run(&mut full.sandtop(words))?);
            one.add(run(&mut empty.sandtop(words))?);
        }
    }
    let rows = verbs.iter().zip(times).map(|((verb, _), (many, one))| {
        let name = format!("local {verb} with {} / with 1", size.many_local);
        Row::time(&name, many, one, Goal::AtMost(1.3))
    });
    Ok(rows.collect())
}
