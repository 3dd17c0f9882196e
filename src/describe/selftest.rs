//! What was declared of a sandbox against what trying has found, one measure each.

use serde::Serialize;

use crate::domain::{Access, Attempt, Network, Outcome, SelfTest, Wall};
use crate::text::human;

/// Places that every sandbox may write to, beside its work directory.
const SCRATCH: [&str; 2] = ["/tmp", "/run/sandtop"];

/// What is found of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// As declared.
    Holds,
    /// Weaker, and `inspect` says so.
    NamedGap,
    /// Weaker, and nobody says so.
    Gap,
    /// It could not be tried.
    NotTried,
}

/// One measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// What it is about.
    pub measure: &'static str,
    /// What was asked for.
    pub declared: String,
    /// What was found.
    pub effective: String,
    /// What that means.
    pub finding: Finding,
    /// The words of `inspect` for it.
    pub gap: Option<String>,
}

/// Compares all measures.
#[must_use]
pub fn measures(test: &SelfTest) -> Vec<Measure> {
    let rows = rights(test).into_iter();
    let rows = rows.chain(files(test)).chain(reach(test));
    let rows = rows.chain(limits(test));
    let gaps = &test.details.posture.gaps;
    rows.map(|row| row.judge(gaps)).collect()
}

/// A measure before it is judged.
struct Row {
    measure: &'static str,
    declared: String,
    effective: String,
    is_weaker: bool,
    is_tried: bool,
    /// Words by which a gap of `inspect` is about it.
    words: &'static [&'static str],
}

impl Row {
    /// Says nothing against what was declared; the rest is added.
    fn new(measure: &'static str, declared: impl Into<String>) -> Self {
        let declared = declared.into();
        Self {
            measure,
            effective: declared.clone(),
            declared,
            is_weaker: false,
            is_tried: true,
            words: &[],
        }
    }

    /// Names the words by which a gap is known.
    fn known_by(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    /// Says that it is weaker: these are what is wrong with it, if there are any.
    fn unless(mut self, wrong: &[&str]) -> Self {
        if !wrong.is_empty() {
            self.is_weaker = true;
            self.effective = wrong.join(", ");
        }
        self
    }

    fn judge(self, gaps: &[String]) -> Measure {
        let about = |gap: &&String| self.words.iter().any(|word| gap.contains(word));
        let gap = gaps.iter().find(about).filter(|_| self.is_weaker);
        let finding = match (self.is_tried, self.is_weaker, gap) {
            (false, ..) => Finding::NotTried,
            (true, false, _) => Finding::Holds,
            (true, true, Some(_)) => Finding::NamedGap,
            (true, true, None) => Finding::Gap,
        };
        Measure {
            measure: self.measure,
            declared: self.declared,
            effective: self.effective,
            finding,
            gap: gap.cloned(),
        }
    }
}

/// Names what worked of the attempts on a wall.
fn open(test: &SelfTest, wall: Wall) -> Vec<&str> {
    let attempts = test.attempts.iter();
    let open = attempts.filter(|one| one.wall == wall && one.outcome == Outcome::Open);
    open.map(|one| one.name.as_str()).collect()
}

/// Who its processes are and what they may do.
fn rights(test: &SelfTest) -> Vec<Row> {
    let posture = &test.details.posture;
    let caps: Vec<&str> = posture.caps.iter().map(String::as_str).collect();
    let mut raised = open(test, Wall::Privileges);
    raised.retain(|name| *name != BEING_ROOT);
    let gains = (!posture.no_new_privileges).then_some("can be gained by programs");
    let calls = test.attempts.iter();
    let calls = calls.filter(|one| one.wall == Wall::Calls).count();
    let is_root_asked = test.spec.user.split(':').next() == Some("0");
    let is_root = open(test, Wall::Privileges).contains(&BEING_ROOT);
    let root = (is_root && !is_root_asked).then_some("root");
    vec![
        Row::new("capabilities", "none")
            .unless(&caps)
            .known_by(&["capabilities"]),
        Row::new("privileges", "none to gain")
            .unless(&[gains.as_slice(), &raised].concat())
            .known_by(&["privileges", "capabilities"]),
        Row::new("user", &test.spec.user)
            .unless(root.as_slice())
            .known_by(&["as root"]),
        Row::new("system calls", format!("{calls} that weaken are closed"))
            .unless(&open(test, Wall::Calls))
            .known_by(&["system call filter"]),
    ]
}

/// What the guest calls it when its user is root of the sandbox.
const BEING_ROOT: &str = "being root";

/// What can be read and written.
fn files(test: &SelfTest) -> Vec<Row> {
    let posture = &test.details.posture;
    let own = (!posture.read_only_root).then_some("writable");
    let written = open(test, Wall::Root);
    let spec = &test.spec;
    let meant = spec.mounts.iter();
    let meant = meant.filter(|mount| mount.access == Access::ReadWrite);
    let meant = meant.map(|mount| mount.target.to_string());
    let mut meant: Vec<String> = meant.chain([spec.work_dir.to_string()]).collect();
    meant.extend(SCRATCH.map(str::to_owned));
    meant.sort_unstable();
    meant.dedup();
    let mut more = open(test, Wall::Mounts);
    more.retain(|place| !meant.iter().any(|own| own == place));
    vec![
        Row::new("root file system", "read-only")
            .unless(&[own.as_slice(), &written].concat())
            .known_by(&["root file system"]),
        Row::new("writable mounts", meant.join(" "))
            .unless(&more)
            .known_by(&["mounted writable", "root file system"]),
        Row::new("kernel files", "covered")
            .unless(&open(test, Wall::Kernel))
            .known_by(&["/proc"]),
    ]
}

/// Where it leads.
fn reach(test: &SelfTest) -> Vec<Row> {
    let network = match &test.spec.network {
        Network::None => Row::new("network", "none").unless(&open(test, Wall::Network)),
        Network::Default => Row::new("network", "on"),
        Network::Named(name) => Row::new("network", name),
    };
    vec![
        network.known_by(&["network"]),
        Row::new("sockets of the host", "none")
            .unless(&open(test, Wall::Sockets))
            .known_by(&["socket"]),
    ]
}

/// How much it may use.
fn limits(test: &SelfTest) -> Vec<Row> {
    let limits = &test.spec.limits;
    let cores = |thousandths: u64| format!("{}.{:02}", thousandths / 1000, thousandths % 1000 / 10);
    let count = |number: u64| number.to_string();
    vec![
        limit(
            test,
            Wall::Memory,
            limits.memory_bytes.map(human::bytes),
            human::bytes,
        ),
        limit(test, Wall::Processes, limits.pids.map(count), count),
        limit(
            test,
            Wall::Processors,
            limits.cpus.map(|cpus| cpus.to_string()),
            cores,
        ),
        limit(
            test,
            Wall::Scratch,
            Some(human::bytes(test.spec.tmp_bytes)),
            human::bytes,
        ),
    ]
}

fn limit(
    test: &SelfTest,
    wall: Wall,
    declared: Option<String>,
    shown: impl Fn(u64) -> String,
) -> Row {
    let (measure, words): (_, &[_]) = match wall {
        Wall::Memory => ("memory limit", &["memory limit"]),
        Wall::Processes => ("process limit", &["process limit"]),
        Wall::Processors => ("cpu limit", &["cpu limit"]),
        _ => ("size of /tmp", &["/tmp"]),
    };
    let Some(declared) = declared else {
        return Row::new(measure, "none");
    };
    let row = Row::new(measure, declared).known_by(words);
    let tried = test.attempts.iter().find(|one| one.wall == wall);
    let Some(tried) = tried.filter(|one| one.outcome != Outcome::NotTried) else {
        return Row {
            effective: "not tried: more than a trial may take, or than there is".to_owned(),
            is_tried: false,
            ..row
        };
    };
    Row {
        effective: went(tried, shown),
        is_weaker: tried.outcome == Outcome::Open,
        ..row
    }
}

fn went(tried: &Attempt, shown: impl Fn(u64) -> String) -> String {
    let reached = tried.reached.map_or_else(|| "nothing".to_owned(), shown);
    match tried.outcome {
        Outcome::Open => format!("went beyond, to {reached}"),
        Outcome::Held | Outcome::NotTried => format!("kept to {reached}"),
    }
}

#[cfg(test)]
mod tests;
