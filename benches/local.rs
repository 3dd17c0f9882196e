//! The local engine against bubblewrap and Docker: a new sandbox, a command in one, and what idle ones cost.
//!
//! `cargo bench --bench local`, or with `-- --quick` a short one. Turns alternate. bubblewrap makes namespaces for one command
//! and keeps nothing; so a command in a running sandbox is compared with all that bubblewrap does, and what making a sandbox
//! that stays costs on top is shown beside it. State is in a folder of its own, and everything is removed at the end.

#![allow(clippy::print_stdout)] // A bench is there to print.

mod compare;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use compare::{Goal, Outcome, Row, Times, all_met, run, table};

/// Sandboxes that stand idle together.
const MANY: usize = 200;
/// How long they are watched.
const WATCHED: Duration = Duration::from_secs(10);

fn main() {
    if !std::env::args().any(|word| word == "--bench") {
        println!("local: not measured; run `cargo bench --bench local`");
        return;
    }
    let quick = std::env::args().any(|word| word == "--quick");
    let lab = match Lab::open() {
        Ok(lab) => lab,
        Err(error) => return println!("local: not measured; {error}"),
    };
    let measured = measure(&lab, if quick { 5 } else { 31 });
    lab.clean();
    match measured {
        Ok(is_met) => std::process::exit(i32::from(!is_met)),
        Err(error) => {
            println!("local: the measurement failed: {error}");
            std::process::exit(1);
        }
    }
}

/// Prints what it measures, and returns whether every goal of a row is met.
fn measure(lab: &Lab, rounds: usize) -> Outcome<bool> {
    let rows = speeds(lab, rounds)?;
    println!("{}", table(&rows));
    println!("{}", idle(lab)?);
    Ok(all_met(&rows))
}

/// Where the measurement happens.
struct Lab {
    folder: tempfile::TempDir,
    /// The image that Docker uses, if there is an engine.
    docker: Option<String>,
}

impl Lab {
    fn open() -> Outcome<Self> {
        run(Command::new("bwrap").arg("--version"))
            .map_err(|_| "bubblewrap is missing (apt-get install bubblewrap)")?;
        let image = std::env::var("SANDTOP_BENCH_IMAGE");
        let image = image.unwrap_or_else(|_| "sandtop-test/python".to_owned());
        let found = run(Command::new("docker").args(["image", "inspect", &image]));
        if found.is_err() {
            println!("no engine has {image}: Docker is left out");
        }
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("sandtop"))?;
        let settings = format!("[manager]\nmax_sandboxes = {}\n", 2 * MANY);
        fs::write(folder.path().join("sandtop/config.toml"), settings)?;
        Ok(Self {
            folder,
            docker: found.is_ok().then_some(image),
        })
    }

    fn sandtop(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sandtop"));
        // Settings of the person who measures must not change what is measured.
        for folder in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env(folder, self.folder.path());
        }
        command
            .env("SANDTOP_SCOPE", "bench")
            .args(["--engine", "local"])
            .args(words);
        command
    }

    fn clean(&self) {
        let listed = self.sandtop(&["ls", "--all"]).output();
        let text = listed
            .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
            .unwrap_or_default();
        let names = text
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().next());
        let names: Vec<_> = names.collect();
        let _ = self
            .sandtop(&[&["rm", "-f"], names.as_slice()].concat())
            .output();
    }

    /// Processes that belong to our sandboxes: those that run the guest program of this lab.
    fn processes(&self) -> Vec<u32> {
        let entries = fs::read_dir(self.folder.path().join("sandtop/local"))
            .into_iter()
            .flatten()
            .flatten();
        let programs: BTreeSet<_> = entries
            .filter_map(|entry| fs::metadata(entry.path()).ok())
            .filter(fs::Metadata::is_file)
            .map(|meta| (meta.dev(), meta.ino()))
            .collect();
        let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid: &u32| {
            let program = fs::metadata(PathBuf::from(format!("/proc/{pid}/exe")));
            program.is_ok_and(|meta| programs.contains(&(meta.dev(), meta.ino())))
        })
        .collect()
    }
}

/// `true` in a sandbox as bubblewrap makes it, as alike to ours as its flags allow.
fn bwrap() -> Command {
    let mut command = Command::new("bwrap");
    command.args("--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64".split(' '));
    command.args(
        "--proc /proc --dev /dev --tmpfs /tmp --unshare-all --die-with-parent --cap-drop ALL true"
            .split(' '),
    );
    command
}

fn speeds(lab: &Lab, rounds: usize) -> Outcome<Vec<Row>> {
    let (mut create, mut exec, mut first) = (Times::default(), Times::default(), Times::default());
    let (mut wrapped, mut docker_run, mut docker_exec) =
        (Times::default(), Times::default(), Times::default());
    let peer = format!("sandtop-bench-{}", std::process::id());
    if let Some(image) = &lab.docker {
        run(Command::new("docker").args(["run", "-d", "--name", &peer, image, "sleep", "1000"]))?;
    }
    let measured = (0..rounds).try_for_each(|_| -> Outcome {
        let made = run(&mut lab.sandtop(&["create", "box"]))?;
        let ran = run(&mut lab.sandtop(&["exec", "box", "--", "true"]))?;
        create.add(made);
        first.add(made + ran);
        exec.add(run(&mut lab.sandtop(&["exec", "box", "--", "true"]))?);
        run(&mut lab.sandtop(&["rm", "-f", "box"]))?;
        wrapped.add(run(&mut bwrap())?);
        if let Some(image) = &lab.docker {
            let flags = ["run", "--rm", "--network", "none", image, "true"];
            docker_run.add(run(Command::new("docker").args(flags))?);
            docker_exec.add(run(Command::new("docker").args(["exec", &peer, "true"]))?);
        }
        Ok(())
    });
    let _ = Command::new("docker").args(["rm", "-fv", &peer]).output();
    measured?;
    let mut rows = vec![
        Row::time(
            "exec true / bwrap true",
            exec.clone(),
            wrapped.clone(),
            Goal::AtMost(1.5),
        ),
        Row::time(
            "create (what the keeper needs) / bwrap true",
            create,
            wrapped,
            Goal::None,
        ),
    ];
    if lab.docker.is_some() {
        rows.push(Row::time(
            "create + exec true / docker run",
            first,
            docker_run,
            Goal::AtMost(0.1),
        ));
        rows.push(Row::time(
            "exec true / docker exec",
            exec,
            docker_exec,
            Goal::AtMost(0.1),
        ));
    }
    Ok(rows)
}

/// What many idle sandboxes cost: resident memory of each, and processor time of all.
fn idle(lab: &Lab) -> Outcome<String> {
    for number in 0..MANY {
        run(&mut lab.sandtop(&["create", &format!("idle-{number}")]))?;
    }
    let processes = lab.processes();
    let kilobytes: u64 = processes.iter().map(|pid| resident(*pid)).sum();
    let before: u64 = processes.iter().map(|pid| ticks(*pid)).sum();
    let begun = Instant::now();
    std::thread::sleep(WATCHED);
    let after: u64 = processes.iter().map(|pid| ticks(*pid)).sum();
    let each = kilobytes / MANY as u64;
    let used = after.saturating_sub(before);
    Ok(format!(
        "{MANY} idle sandboxes, {} processes: {each} KiB resident each (target under 3000: {}); {used} ticks of processor time \
         of all in {:.0} s (target 0: {})",
        processes.len(),
        if each < 3000 { "ok" } else { "MISSED" },
        begun.elapsed().as_secs_f64(),
        if used == 0 { "ok" } else { "MISSED" },
    ))
}

/// Pages of a process that are in memory, in KiB; shared ones count in full.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok())
        .unwrap_or(0)
}

/// Processor time of a process.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let times = fields.split(' ').skip(11).take(2);
    times.filter_map(|word| word.parse::<u64>().ok()).sum()
}
