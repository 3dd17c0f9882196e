//! Speed of everything around a program: reading it, running it, its packages. `cargo bench --bench code`.
//!
//! Reading is measured alone; runs are measured with the real program against `docker exec` and against themselves, turn by
//! turn, on a real engine. The figures that `LinX` states for itself stand in the same table.

#![allow(clippy::print_stdout)] // A bench is there to print.

use std::error::Error;
use std::fs;
use std::process::Command;
use std::time::Instant;

use sandtop::code::{Around, Languages, read};
use sandtop::text::Table;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Lines of the programs that are read.
const LINES: usize = 1000;

fn main() {
    if !std::env::args().any(|word| word == "--bench") {
        println!("code: not measured; run `cargo bench --bench code`");
        return;
    }
    let quick = std::env::args().any(|word| word == "--quick");
    let rounds = if quick { 7 } else { 25 };
    let titles = ["MEASURE", "MEDIAN", "AGAINST", "TARGET", "VERDICT"];
    let mut table = Table::new(&titles).align_right(1);
    reading(&mut table, rounds);
    let measured = Lab::open().and_then(|lab| runs(&lab, rounds, &mut table));
    println!("{table}");
    if let Err(why) = measured {
        println!("code: runs were not measured; {why}");
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn verdict(is_met: bool) -> String {
    if is_met { "ok" } else { "MISSED" }.to_owned()
}

fn millis(seconds: f64) -> String {
    format!("{:.1} ms", seconds * 1000.0)
}

/// Detection and checks of programs of a thousand lines.
fn reading(table: &mut Table, rounds: usize) {
    let programs = [
        ("python", PYTHON),
        ("javascript", JAVASCRIPT),
        ("bash", BASH),
    ];
    let languages = Languages::default();
    for (name, piece) in programs {
        let dialect = languages.by_word(name).and_then(|l| l.dialect());
        let program: String = piece
            .lines()
            .cycle()
            .take(LINES)
            .fold(String::new(), |all, line| all + line + "\n");
        let times = (0..rounds * 4).map(|_| {
            let started = Instant::now();
            std::hint::black_box(read(dialect, program.as_bytes(), &Around::default()));
            started.elapsed().as_secs_f64()
        });
        let took = median(times.collect());
        table.row(vec![
            format!("detection and checks, {LINES} lines of {name}"),
            millis(took),
            "-".to_owned(),
            "< 5 ms".to_owned(),
            verdict(took < 0.005),
        ]);
    }
}

/// Programs in a sandbox that is there, and in fresh ones.
fn runs(lab: &Lab, rounds: usize, table: &mut Table) -> Outcome {
    let name = lab.scope.as_str();
    let there = ["run", "-l", "python", "--sandbox", name, "--deps", "none"];
    let shell = ["run", "-l", "bash", "--sandbox", name];
    let fresh = [
        "run", "-l", "python", "--image", &lab.image, "--deps", "none",
    ];
    // The image has it; what is measured is the way to a package set and not what lies on it.
    let cached = [
        "run",
        "-l",
        "python",
        "--image",
        &lab.image,
        "--deps",
        "setuptools",
    ];
    let copied = [
        "run",
        "-l",
        "python",
        "--sandbox",
        name,
        "--deps",
        "setuptools",
    ];
    let [python, bash] = ["print(1)", "echo 1"];
    let mut peer = Command::new("docker");
    peer.args(["exec", name, "python3", "-c", python]);
    lab.run(&cached, python)?;
    lab.run(&copied, python)?;
    let mut times: [Vec<f64>; 6] = Default::default();
    for _ in 0..rounds {
        let turns = [
            timed(&mut peer)?,
            lab.run(&there, python)?,
            lab.run(&shell, bash)?,
            lab.run(&fresh, python)?,
            lab.run(&cached, python)?,
            lab.run(&copied, python)?,
        ];
        for (all, took) in times.iter_mut().zip(turns) {
            all.push(took);
        }
    }
    let [peer, there, shell, fresh, cached, copied] = times.map(median);
    let mut ratio = |what: &str, ours: f64, other: (&str, f64), most: f64| {
        table.row(vec![
            what.to_owned(),
            millis(ours),
            format!(
                "{} of {} in {}",
                format_args!("{:.2}", ours / other.1),
                other.0,
                millis(other.1)
            ),
            format!("<= {most:.1}"),
            verdict(ours / other.1 <= most),
        ]);
    };
    ratio(
        "run print(1), existing sandbox",
        there,
        ("docker exec", peer),
        1.2,
    );
    ratio(
        "run with kept packages, fresh sandbox",
        cached,
        ("without", fresh),
        1.2,
    );
    ratio(
        "run with kept packages, existing sandbox",
        copied,
        ("without", there),
        1.2,
    );
    let mut stated = |what: &str, ours: f64, words: &str, best: f64| {
        table.row(vec![
            what.to_owned(),
            millis(ours),
            format!("LinX states {words}"),
            format!("< {}", millis(best)),
            verdict(ours < best),
        ]);
    };
    stated("simple Python, existing sandbox", there, "100-500 ms", 0.1);
    stated("simple Python, fresh sandbox", fresh, "100-500 ms", 0.5);
    stated(
        "cached packages, existing sandbox",
        copied,
        "200-800 ms",
        0.2,
    );
    stated("cached packages, fresh sandbox", cached, "200-800 ms", 0.8);
    stated("Bash, existing sandbox", shell, "50-200 ms", 0.2);
    Ok(())
}

fn timed(command: &mut Command) -> Outcome<f64> {
    let started = Instant::now();
    let output = command.output()?;
    let took = started.elapsed().as_secs_f64();
    if output.status.success() {
        return Ok(took);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("{command:?}: {}, {said}", output.status).into())
}

/// Where the measurement happens: a folder and a scope of its own, and one sandbox.
struct Lab {
    folder: tempfile::TempDir,
    scope: String,
    image: String,
}

impl Lab {
    fn open() -> Outcome<Self> {
        let image = std::env::var("SANDTOP_BENCH_IMAGE");
        let lab = Self {
            folder: tempfile::tempdir()?,
            scope: format!("bench-code-{}", std::process::id()),
            image: image.unwrap_or_else(|_| "sandtop-test/python".to_owned()),
        };
        timed(Command::new("docker").args(["image", "inspect", &lab.image]))
            .map_err(|why| format!("no engine with the image {} answers ({why})", lab.image))?;
        let settings = lab.folder.path().join("sandtop");
        fs::create_dir_all(&settings)?;
        // An engine for tests has no network of its own.
        fs::write(settings.join("config.toml"), "deps.network = 'host'\n")?;
        timed(&mut lab.sandtop(&["create", &lab.scope, "--image", &lab.image]))?;
        Ok(lab)
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

    /// Runs a program from a file.
    fn run(&self, words: &[&str], program: &str) -> Outcome<f64> {
        let file = self.folder.path().join("program");
        fs::write(&file, program)?;
        timed(self.sandtop(words).arg(file))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let filter = format!("label=sandtop.scope={}", self.scope);
        for (list, remove) in [
            (&["ps", "-aq"][..], &["rm", "-fv"][..]),
            (&["volume", "ls", "-q"], &["volume", "rm"]),
        ] {
            let found = Command::new("docker")
                .args(list)
                .args(["--filter", &filter])
                .output();
            let text = found
                .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
                .unwrap_or_default();
            for id in text.split_whitespace() {
                let _ = Command::new("docker").args(remove).arg(id).output();
            }
        }
    }
}

const PYTHON: &str = r#"
import json, os, sys
from collections import defaultdict
import numpy as np

class Account:
    """Keeps a balance."""
    def __init__(self, owner: str, balance: float = 0.0) -> None:
        self.owner, self.balance = owner, balance

    def deposit(self, amount: float) -> float:
        if amount <= 0:
            raise ValueError(f"not a deposit: {amount!r}")
        self.balance += amount
        return self.balance

def load(path: str) -> dict[str, Account]:
    with open(path, encoding="utf-8") as file:
        return {row["owner"]: Account(**row) for row in json.load(file)}

def totals(accounts, bins=10):
    found = defaultdict(float)
    for name, account in sorted(accounts.items()):
        found[name[:1]] += account.balance * 1.02
    return np.histogram(list(found.values()), bins=bins)
"#;

const JAVASCRIPT: &str = r"
import fs from 'node:fs';
import { groupBy } from 'lodash/fp';
{
  const rows = fs.readFileSync('rows.txt', 'utf8').split('\n').map((row) => row.split(','));
  const byOwner = groupBy(([owner]) => owner, rows);
  for (const [owner, found] of Object.entries(byOwner)) {
    const total = found.reduce((sum, [, amount]) => sum + Number(amount), 0);
    if (total > 100) {
      console.log(`${owner}: ${total.toFixed(2)}`);
    }
  }
}
";

const BASH: &str = r#"
set -euo pipefail
for file in "$HOME"/data/*.csv; do
    name=${file##*/}
    if [ -s "$file" ] && ! grep -q '^#' "$file"; then
        sort -t, -k2 -n "$file" | awk -F, '{ sum += $2 } END { print sum }' > "/tmp/${name%.csv}.sum"
    fi
done
rm -rf /tmp/work && mkdir -p /tmp/work
"#;
