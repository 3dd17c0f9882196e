//! What all comparisons share: seconds of several runs, ratios, targets, verdicts, and the table of them.
#![allow(dead_code, unreachable_pub)] // Each bench uses its own part.

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use sandtop::text::Table;

pub const MIB: u64 = 1 << 20;

pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Runs a command to its good end and returns how long it took.
pub fn run(command: &mut Command) -> Outcome<f64> {
    let started = Instant::now();
    let output = command.output()?;
    let took = started.elapsed().as_secs_f64();
    if output.status.success() {
        return Ok(took);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("{command:?}: {}, {said}", output.status).into())
}

/// Seconds of several runs.
#[derive(Clone, Default)]
pub struct Times(pub Vec<f64>);

impl Times {
    pub fn add(&mut self, seconds: f64) {
        self.0.push(seconds);
        self.0.sort_by(f64::total_cmp);
    }

    pub fn least(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// What a ratio should be.
#[derive(Clone, Copy)]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
    None,
}

impl Goal {
    fn words(self) -> String {
        match self {
            Self::AtMost(most) => format!("≤ {most}"),
            Self::AtLeast(least) => format!("≥ {least}"),
            Self::None => "-".to_owned(),
        }
    }

    fn met(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(most) => ratio <= most,
            Self::AtLeast(least) => ratio >= least,
            Self::None => true,
        }
    }

    /// Judges the median alone; the best runs are shown, but a target met only there is missed.
    pub fn verdict(self, median: f64) -> &'static str {
        match (self, self.met(median)) {
            (Self::None, _) => "-",
            (_, true) => "ok",
            (_, false) => "MISSED",
        }
    }
}

/// One line of the result.
pub struct Row {
    name: String,
    /// Bytes moved, where speed is meant and not time.
    bytes: Option<u64>,
    ours: Times,
    peer: Times,
    goal: Goal,
}

impl Row {
    pub fn time(name: &str, ours: Times, peer: Times, goal: Goal) -> Self {
        Self {
            name: name.to_owned(),
            bytes: None,
            ours,
            peer,
            goal,
        }
    }

    pub fn speed(name: &str, bytes: u64, ours: Times, peer: Times, goal: Goal) -> Self {
        Self {
            bytes: Some(bytes),
            ..Self::time(name, ours, peer, goal)
        }
    }

    /// Ours to the peer's: of times, or of speeds.
    pub fn ratio(&self, pick: fn(&Times) -> f64) -> f64 {
        let ratio = pick(&self.ours) / pick(&self.peer);
        if self.bytes.is_some() {
            1.0 / ratio
        } else {
            ratio
        }
    }

    #[allow(clippy::cast_precision_loss)] // Sizes are far below what a float holds exactly.
    fn figure(&self, seconds: f64) -> String {
        match self.bytes {
            Some(bytes) => format!("{:.0} MiB/s", (bytes / MIB) as f64 / seconds),
            None => format!("{:.1} ms", seconds * 1000.0),
        }
    }

    fn raw(&self) -> String {
        let side = |times: &Times| {
            let (least, median) = (times.least() * 1000.0, times.median() * 1000.0);
            format!("{least:.1}/{median:.1} of {}", times.0.len())
        };
        format!("{} : {}", side(&self.ours), side(&self.peer))
    }

    fn cells(&self) -> Vec<String> {
        let (ratio, best) = (self.ratio(Times::median), self.ratio(Times::least));
        vec![
            self.name.clone(),
            self.figure(self.ours.median()),
            self.figure(self.peer.median()),
            format!("{ratio:.2}"),
            format!("{best:.2}"),
            self.goal.words(),
            self.goal.verdict(ratio).to_owned(),
            self.raw(),
        ]
    }
}

/// Tells whether every row meets its goal.
pub fn all_met(rows: &[Row]) -> bool {
    let is_met = |row: &Row| row.goal.met(row.ratio(Times::median));
    rows.iter().all(is_met)
}

pub fn table(rows: &[Row]) -> Table {
    let titles = [
        "MEASURE",
        "OURS",
        "PEER",
        "RATIO",
        "OF BEST",
        "TARGET",
        "VERDICT",
        "RAW MS: LEAST/MEDIAN OF N, OURS : PEER",
    ];
    let mut table = Table::new(&titles);
    for row in rows {
        table.row(row.cells());
    }
    table
}
