//! Speed of the command line against the `docker` client, on a real engine, as ratios within one run.
//!
//! `cargo bench --bench docker`, or with `-- --quick` a short one. Ours and the peer's turns alternate, so that whatever else
//! the machine does meets both alike. Everything made here carries a scope of its own and is removed at the end.

#![allow(clippy::print_stdout)] // A bench is there to print.

mod compare;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use compare::{Goal, MIB, Outcome, Row, Times, all_met, run, table};

/// Size of the file that is copied in and out.
const BIG: u64 = 256 * MIB;
/// Where the peer container has its volume.
const VOLUME: &str = "/workspace";

fn main() {
    if !std::env::args().any(|word| word == "--bench") {
        println!("docker: not measured; run `cargo bench --bench docker`");
        return;
    }
    let quick = std::env::args().any(|word| word == "--quick");
    let lab = match Lab::open() {
        Ok(lab) => lab,
        Err(why) => return println!("docker: not measured; {why}"),
    };
    let measured = measure(&lab, &Rounds::new(quick));
    drop(lab);
    match measured {
        Ok(is_met) => std::process::exit(i32::from(!is_met)),
        Err(error) => {
            println!("docker: the measurement failed: {error}");
            std::process::exit(1);
        }
    }
}

/// How often each thing is done.
struct Rounds {
    small: usize,
    copies: usize,
    streams: usize,
    lives: usize,
    /// `docker stop` waits ten seconds each time.
    stops: usize,
    streamed: u64,
}

impl Rounds {
    fn new(quick: bool) -> Self {
        let pick = |short, long| if quick { short } else { long };
        Self {
            small: pick(7, 25),
            // Of these, one differs from the next by an eighth and more, whoever does it.
            copies: pick(3, 15),
            streams: pick(1, 15),
            lives: pick(2, 6),
            stops: pick(1, 2),
            streamed: if quick { 256 * MIB } else { 1024 * MIB },
        }
    }
}

/// Prints what it measures, and returns whether every goal is met.
fn measure(lab: &Lab, rounds: &Rounds) -> Outcome<bool> {
    let mut rows = Vec::new();
    lab.furnish()?;
    rows.extend(small(lab, rounds.small)?);
    rows.extend(copies(lab, rounds.copies)?);
    let (row, memory) = streams(lab, rounds)?;
    rows.push(row);
    rows.extend(lives(lab, rounds)?);
    println!("{}\n{memory}", table(&rows));
    Ok(all_met(&rows))
}

/// Where the measurement happens: a folder and a scope of its own.
struct Lab {
    folder: tempfile::TempDir,
    scope: String,
    image: String,
}

impl Lab {
    /// Makes sure that there is an engine and an image; the error says what is missing.
    fn open() -> Outcome<Self> {
        let image = std::env::var("SANDTOP_BENCH_IMAGE");
        let lab = Self {
            folder: tempfile::tempdir()?,
            scope: format!("bench-{}", std::process::id()),
            image: image.unwrap_or_else(|_| "sandtop-test/python".to_owned()),
        };
        run(Command::new("docker").arg("version"))
            .map_err(|e| format!("no engine answers, see DOCKER_HOST ({e})"))?;
        run(Command::new("docker").args(["image", "inspect", &lab.image]))
            .map_err(|_| format!("the image {} is not on the engine", lab.image))?;
        Ok(lab)
    }

    /// Makes the sandbox, the peer container and the files that are used throughout.
    fn furnish(&self) -> Outcome {
        run(&mut self.create(&self.scope))?;
        run(&mut self.docker(
            &["run", "-d", "--name", &self.peer(), "-v", VOLUME],
            &["tail", "-f", "/dev/null"],
        ))?;
        fs::write(self.at("small"), vec![b'x'; 1024])?;
        let mut big = File::create(self.at("big"))?;
        let mut seed = 1_u64;
        for _ in 0..BIG / MIB {
            big.write_all(&noise(&mut seed))?;
        }
        Ok(())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sandtop(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sandtop"));
        // Settings of the person who measures must not change what is measured.
        for folder in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env(folder, self.folder.path());
        }
        command.env("SANDTOP_SCOPE", &self.scope).args(words);
        command
    }

    fn create(&self, name: &str) -> Command {
        self.sandtop(&["create", name, "--image", &self.image])
    }

    /// `docker run` with our mark.
    fn docker(&self, flags: &[&str], argv: &[&str]) -> Command {
        let mut command = Command::new("docker");
        command
            .args(flags)
            .args(["--label", &self.label(), &self.image])
            .args(argv);
        command
    }

    fn label(&self) -> String {
        format!("sandtop-bench={}", self.scope)
    }

    fn peer(&self) -> String {
        format!("peer-{}", self.scope)
    }

    /// The container of our sandbox has its name; the peer runs in it too, so that both meet the same limits.
    fn container(&self) -> String {
        self.scope.clone()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for label in [self.label(), format!("sandtop.scope={}", self.scope)] {
            let filter = format!("label={label}");
            let found = Command::new("docker")
                .args(["ps", "-aq", "--filter", &filter])
                .output();
            let text = found
                .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
                .unwrap_or_default();
            for id in text.split_whitespace() {
                let _ = Command::new("docker").args(["rm", "-fv", id]).output();
            }
        }
    }
}

/// A MiB that nothing can compress or share.
fn noise(seed: &mut u64) -> Vec<u8> {
    let mut words = Vec::new();
    for _ in 0..MIB / 8 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        words.extend(seed.to_le_bytes());
    }
    words
}

/// `create` and `rm -f` against `docker run` with the same hardening, and `docker stop` + `rm` of an idle container.
fn lives(lab: &Lab, rounds: &Rounds) -> Outcome<Vec<Row>> {
    let (mut create, mut plain) = (Times::default(), Times::default());
    let (mut remove, mut stop) = (Times::default(), Times::default());
    for round in 0..rounds.lives {
        let ours = format!("{}-{round}", lab.scope);
        let theirs = format!("peer-{ours}");
        create.add(run(&mut lab.create(&ours))?);
        let flags = ["run", "-d", "--name", &theirs];
        let flags = [&flags[..], &HARDENED.split_whitespace().collect::<Vec<_>>()].concat();
        plain.add(run(&mut lab.docker(&flags, &["tail", "-f", "/dev/null"]))?);
        remove.add(run(&mut lab.sandtop(&["rm", "-f", &ours]))?);
        run(Command::new("docker").args(["rm", "-fv", &theirs]))?;
    }
    for round in 0..rounds.stops {
        let name = format!("peer-{}-stop{round}", lab.scope);
        run(&mut lab.docker(
            &["run", "-d", "--name", &name],
            &["tail", "-f", "/dev/null"],
        ))?;
        let stopped = run(Command::new("docker").args(["stop", &name]))?;
        stop.add(stopped + run(Command::new("docker").args(["rm", "-v", &name]))?);
    }
    Ok(vec![
        Row::time(
            "create / docker run, hardened alike",
            create,
            plain,
            Goal::None,
        ),
        Row::time("rm -f / docker stop + rm", remove, stop, Goal::AtMost(0.5)),
    ])
}

/// What a sandbox has by default, in the words of `docker run`.
const HARDENED: &str = "--network none --read-only --cap-drop ALL --security-opt no-new-privileges --init --memory 512m \
    --memory-swap 512m --cpus 1 --pids-limit 256 --ulimit nofile=1024 --ulimit core=0 --user 65534:65534 --shm-size 16m \
    --tmpfs /tmp --tmpfs /run/sandtop -v /.sandtop -v /workspace";

/// One exec and one small file each way, against one `docker exec`.
fn small(lab: &Lab, rounds: usize) -> Outcome<Vec<Row>> {
    let (mut exec, mut put, mut cat) = (Times::default(), Times::default(), Times::default());
    let mut peer = Times::default();
    let (name, container, path) = (lab.scope.as_str(), lab.container(), "/workspace/small");
    for _ in 0..rounds {
        peer.add(run(
            Command::new("docker").args(["exec", &container, "true"])
        )?);
        exec.add(run(&mut lab.sandtop(&["exec", name, "--", "true"]))?);
        let content = File::open(lab.at("small"))?;
        put.add(run(lab
            .sandtop(&["files", "put", name, path])
            .stdin(content))?);
        cat.add(run(&mut lab.sandtop(&["files", "cat", name, path]))?);
    }
    Ok(vec![
        Row::time(
            "exec true / docker exec",
            exec,
            peer.clone(),
            Goal::AtMost(1.3),
        ),
        Row::time(
            "write 1 KiB / docker exec",
            put,
            peer.clone(),
            Goal::AtMost(1.5),
        ),
        Row::time("read 1 KiB / docker exec", cat, peer, Goal::AtMost(1.5)),
    ])
}

/// One big file each way, against `docker cp`; always from and to a name that is new.
fn copies(lab: &Lab, rounds: usize) -> Outcome<Vec<Row>> {
    let (mut into, mut peer_into) = (Times::default(), Times::default());
    let (mut out, mut peer_out) = (Times::default(), Times::default());
    let source = lab.at("big").display().to_string();
    let target = lab.at("copy").display().to_string();
    let (ours, theirs) = (
        format!("{}:{VOLUME}/big", lab.scope),
        format!("{}:{VOLUME}/big", lab.peer()),
    );
    let docker = |from: &str, to: &str| run(Command::new("docker").args(["cp", "-q", from, to]));
    for _ in 0..rounds {
        into.add(run(&mut lab.sandtop(&["cp", &source, &ours]))?);
        peer_into.add(docker(&source, &theirs)?);
        out.add(run(&mut lab.sandtop(&["cp", &ours, &target]))?);
        same(&lab.at("big"), &lab.at("copy"))?;
        peer_out.add(docker(&theirs, &target)?);
        fs::remove_file(&target)?;
        for container in [lab.container(), lab.peer()] {
            run(Command::new("docker").args(["exec", &container, "rm", &format!("{VOLUME}/big")]))?;
        }
    }
    Ok(vec![
        Row::speed(
            "cp in, 256 MiB / docker cp",
            BIG,
            into,
            peer_into,
            Goal::AtLeast(0.8),
        ),
        Row::speed(
            "cp out, 256 MiB / docker cp",
            BIG,
            out,
            peer_out,
            Goal::AtLeast(0.8),
        ),
    ])
}

/// Checks a copy, and takes it away.
fn same(one: &Path, other: &Path) -> Outcome {
    run(Command::new("cmp").args([one, other]))?;
    Ok(fs::remove_file(other)?)
}

/// Output through a pipe, against `docker exec`; and whether our memory grows with it.
fn streams(lab: &Lab, rounds: &Rounds) -> Outcome<(Row, String)> {
    let (mut ours, mut theirs) = (Times::default(), Times::default());
    let (mut peak, mut peer_peak) = (0, 0);
    let container = lab.container();
    let print = |bytes: u64| format!("head -c {bytes} /dev/zero");
    let exec = |bytes: u64| {
        piped(&mut lab.sandtop(&["exec", &lab.scope, "--", "sh", "-c", &print(bytes)]))
    };
    for _ in 0..rounds.streams {
        let (took, most) = exec(rounds.streamed)?;
        ours.add(took);
        peak = most.max(peak);
        let command = ["exec", &container, "sh", "-c", &print(rounds.streamed)];
        let (took, most) = piped(Command::new("docker").args(command))?;
        theirs.add(took);
        peer_peak = most.max(peer_peak);
    }
    let part = rounds.streamed / 4;
    let (_, before) = exec(part)?;
    // What waits for a slow reader is bounded by 4 MiB (manager/mod.rs), and the allocator keeps some more; growth beyond
    // 8 MiB is a leak.
    let flat = if peak < before + 8 * 1024 {
        "ok"
    } else {
        "MISSED"
    };
    let memory = format!(
        "peak memory while streaming: ours {before} KiB for {} MiB and {peak} KiB for {} MiB, flat: {flat}; docker exec {peer_peak} KiB",
        part / MIB,
        rounds.streamed / MIB
    );
    let goal = Goal::AtLeast(0.9);
    let name = format!("exec | cat, {} MiB / docker exec", rounds.streamed / MIB);
    Ok((
        Row::speed(&name, rounds.streamed, ours, theirs, goal),
        memory,
    ))
}

/// Runs `command | cat >/dev/null`; returns seconds and the command's peak memory in KiB.
fn piped(command: &mut Command) -> Outcome<(f64, u64)> {
    let started = Instant::now();
    let mut source = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let pipe = source.stdout.take().ok_or("no pipe")?;
    let mut cat = Command::new("cat")
        .stdin(pipe)
        .stdout(Stdio::null())
        .spawn()?;
    let peak = watch(&mut source)?;
    cat.wait()?;
    Ok((started.elapsed().as_secs_f64(), peak))
}

/// Waits for a process and returns the last `VmHWM` it had; the kernel tells it no more after the end.
fn watch(child: &mut Child) -> Outcome<u64> {
    let mut peak = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line
            .and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok())
            .unwrap_or(peak);
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(peak),
            Some(status) => return Err(format!("a streaming command ended with {status}").into()),
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}
