//! The figures of a sandbox under load, side by side with those of `docker stats`.

use serde_json::Value;

use crate::support::{Place, Running, python, until};
use crate::terminal::Terminal;

/// Looks at each; odd, so that one of them is in the middle.
const LOOKS: usize = 7;
/// Points by which the share of a core may differ.
const CPU_POINTS: f64 = 5.0;
/// Share by which the memory may differ.
const MEMORY_SHARE: f64 = 0.02;
/// Fills memory and the page cache, which does not count, and then works without a pause.
const LOAD: &str = "held = b'x' * (80 << 20)
with open('/workspace/cached', 'wb') as file: file.write(held)
print('loaded', flush=True)
while True: pass";

/// What somebody says that a sandbox uses.
#[derive(Debug, Clone, Copy)]
struct Figures {
    /// 100 is one core.
    cpu: f64,
    bytes: f64,
}

/// The middle of several looks: one that was taken in an odd moment does not count.
fn middle(looks: &[Figures]) -> Figures {
    let of = |figure: fn(&Figures) -> f64| {
        let mut all: Vec<f64> = looks.iter().map(figure).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    Figures {
        cpu: of(|one| one.cpu),
        bytes: of(|one| one.bytes),
    }
}

#[track_caller]
fn agree(who: &str, ours: &[Figures], theirs: &[Figures]) {
    let (our, their) = (middle(ours), middle(theirs));
    let cpu = (our.cpu - their.cpu).abs();
    let memory = (our.bytes - their.bytes).abs() / their.bytes;
    assert!(
        cpu <= CPU_POINTS && memory <= MEMORY_SHARE,
        "{who}: {cpu:.1} points, {:.1} % of the memory\nours {ours:?}\ntheirs {theirs:?}",
        memory * 100.0
    );
}

/// Reads `30.4%`.
fn percent(word: &str) -> f64 {
    let number = word.strip_suffix('%');
    number
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(|| panic!("{word:?}"))
}

/// Reads `84.3MiB`, or `84.3M` as a narrow column has it.
fn bytes(word: &str) -> f64 {
    let unit = word.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = word.split_at(unit.unwrap_or_else(|| panic!("{word:?}")));
    let factor = match &unit[..1] {
        "K" => 1_u32 << 10,
        "M" => 1 << 20,
        _ => panic!("{word:?}"),
    };
    number.parse::<f64>().unwrap() * f64::from(factor)
}

/// What `docker stats` says; it takes its time, since it looks twice.
fn docker(place: &Place, name: &str) -> Figures {
    let format = "{{.CPUPerc}} {{.MemUsage}}";
    let said = place.docker_says(&["stats", "--no-stream", "--format", format, name]);
    let mut words = said.split_whitespace();
    let (cpu, memory) = (words.next().unwrap(), words.next().unwrap());
    Figures {
        cpu: percent(cpu),
        bytes: bytes(memory),
    }
}

/// What `stats --watch` has said so far.
fn watched(stats: &Running) -> Vec<Figures> {
    let said = stats.stdout_so_far();
    let whole = said.rfind('\n').map_or("", |end| &said[..end]);
    let read = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        Figures {
            cpu: value["cpu_percent"].as_f64().unwrap(),
            bytes: value["memory_bytes"].as_f64().unwrap(),
        }
    };
    whole.lines().map(read).collect()
}

/// What the row of the dashboard shows, between bars: `30.4%` and later `84.3M`.
fn shown(terminal: &Terminal, name: &str) -> Option<Figures> {
    let screen = terminal.screen();
    let row = screen.lines().find(|line| line.contains(name))?;
    let mut words = row.split_whitespace();
    let cpu = words.find(|word| word.ends_with('%'))?;
    let memory = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(Figures {
        cpu: percent(cpu),
        bytes: bytes(memory),
    })
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_steady_load_reads_as_in_docker_stats() {
    let place = Place::docker();
    // So little that a busy machine can give it, too.
    let limits = ["--cpus", "0.3", "--memory", "256m"];
    let name = place.sandbox_of(&python(), &limits);
    let mut load = place.start(&["exec", &name, "--", "python3", "-c", LOAD]);
    load.until_stdout("loaded");
    let stats = place.start(&["--json", "stats", "--watch", &name]);
    let terminal = Terminal::start(&place, &[]);
    until("both know the load", || {
        let known = |figures: &Figures| figures.bytes > f64::from(80 << 20);
        shown(&terminal, &name).as_ref().is_some_and(known)
            && watched(&stats).last().is_some_and(known)
    });
    let before = watched(&stats).len();
    let (mut theirs, mut rows) = (Vec::new(), Vec::new());
    while theirs.len() < LOOKS {
        theirs.push(docker(&place, &name));
        rows.push(shown(&terminal, &name).expect("the row stays"));
    }
    agree("stats", &watched(&stats)[before..], &theirs);
    agree("dashboard", &rows, &theirs);
}

/// Threads of a process.
fn threads(pid: u32) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    tasks.count()
}

#[test]
fn many_sandboxes_are_sampled_by_as_many_threads_as_few() {
    let place = Place::local();
    let most = |count: usize| {
        let names: Vec<String> = (0..count)
            .map(|n| place.name(&format!("n{count}x{n}")))
            .collect();
        for name in &names {
            place.run(&["create", name]).ok();
        }
        let stats = place.start(&["--json", "stats", "--watch"]);
        let said = |name: &String| stats.stdout_so_far().matches(name.as_str()).count();
        let mut most = 0;
        until("three samples of each", || {
            most = most.max(threads(stats.child.id()));
            names.iter().all(|name| said(name) >= 3)
        });
        most
    };
    let (few, many) = (most(1), most(9));
    assert!(many <= few + 1, "{few} for one, {many} for ten");
}
