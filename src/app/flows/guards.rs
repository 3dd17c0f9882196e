//! Guards of all sandboxes: stats in; a mark on the row, one message, a bell and a pause out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, TimeDelta, Utc};

use crate::app::intent::ReplyTo;
use crate::app::{AppState, Effect, Tone};
use crate::domain::{
    GuardAction, GuardRule, Guarded, Limits, Phase, Run, Sample, SandboxRef, StreamId, Turn,
};
use crate::protocol::{Command, LifecycleOp};
use crate::text::{human, safe_line};

/// Output is counted over so long.
const WINDOW: TimeDelta = TimeDelta::seconds(1);
/// The same for what is only on record, where it is noted now and then.
const RECORD_WINDOW: TimeDelta = TimeDelta::seconds(5);

/// Takes figures of a sandbox.
pub(crate) fn sampled(state: &mut AppState, sandbox: &SandboxRef, sample: &Sample) -> Vec<Effect> {
    let Some(row) = state.sandboxes.find(sandbox) else {
        return Vec::new();
    };
    let figures = figures(sample, &row.sandbox.limits);
    let effects = figures.into_iter().filter_map(|(what, value)| {
        let value = value?;
        Some(check(state, sandbox, what, value, sample.at))
    });
    let mut effects: Vec<Effect> = effects.collect::<Vec<_>>().into_iter().flatten().collect();
    effects.extend(refused(state, sandbox, sample));
    effects
}

/// Raises the guard of processes as soon as the kernel has refused one; where it does not count, as soon as the limit is reached.
fn refused(state: &mut AppState, sandbox: &SandboxRef, sample: &Sample) -> Vec<Effect> {
    let Some(row) = state.sandboxes.find(sandbox) else {
        return Vec::new();
    };
    let limit = row.sandbox.limits.pids;
    let before = row.samples.back().map(|last| last.pids_refused);
    let is_refused = match (before, sample.pids_refused) {
        (Some(Some(before)), Some(now)) => now > before,
        (_, Some(_)) => false,
        (_, None) => limit.is_some_and(|limit| sample.pids >= limit),
    };
    if !is_refused || state.settings.config.guards.on(Guarded::Pids).is_none() {
        return Vec::new();
    }
    let key = (sandbox.clone(), Guarded::Pids);
    match state.guards.guards.entry(key).or_default().raise(sample.at) {
        Some(Turn::Raised) => raise(state, sandbox, &refused_words(limit)),
        Some(Turn::Lowered) | None => Vec::new(),
    }
}

fn refused_words(limit: Option<u64>) -> String {
    match limit {
        Some(limit) => format!("processes were refused at the limit of {limit}"),
        None => "processes were refused at the limit".to_owned(),
    }
}

/// Puts figures in percent of their limits; what has no limit or is not known is not guarded.
#[allow(clippy::cast_precision_loss)] // Percentages need no more than 52 bits.
fn figures(sample: &Sample, limits: &Limits) -> [(Guarded, Option<f64>); 4] {
    let part = |value: f64, limit: f64| (limit > 0.0).then(|| value / limit * 100.0);
    let memory = sample.memory_limit_bytes.or(limits.memory_bytes);
    let cpus = sample.cpus_limit.or(limits.cpus);
    [
        (
            Guarded::Memory,
            memory.and_then(|limit| part(sample.memory_bytes as f64, limit as f64)),
        ),
        (
            Guarded::Cpu,
            cpus.and_then(|limit| part(sample.cpu_percent / 100.0, limit)),
        ),
        (
            Guarded::Pids,
            limits
                .pids
                .and_then(|limit| part(sample.pids as f64, limit as f64)),
        ),
        (Guarded::Disk, sample.disk_bytes.map(|bytes| bytes as f64)),
    ]
}

/// Counts what a run or a shell of ours prints, shown or not. What is read from a record was printed at another time.
pub(crate) fn printed(state: &mut AppState, stream: StreamId, bytes: usize) {
    let run = state.output.find(stream);
    let run = run.filter(|run| !run.is_of_others());
    let run = run.map(|run| &run.info().sandbox);
    let shell = state.shells.find(stream).map(|open| &open.shell.sandbox);
    if let Some(sandbox) = run.or(shell).cloned() {
        *state.guards.printed.entry(sandbox).or_default() += bytes as u64;
    }
}

/// Looks at the records of runs that do not print here: those of other processes, and those whose tab was closed.
#[allow(clippy::cast_precision_loss)] // Rates need no more than 52 bits.
pub(crate) fn recorded(state: &mut AppState, under_way: &[Run]) {
    let passed = state.now - state.guards.recorded_at;
    if passed >= TimeDelta::zero() && passed < RECORD_WINDOW && !under_way.is_empty() {
        return;
    }
    let prints_here = |run: &&Run| {
        let tab = state.output.of_exec(&run.id);
        let tab = tab.and_then(|stream| state.output.find(stream));
        tab.is_some_and(|tab| !tab.is_of_others())
    };
    let seconds = passed.num_milliseconds() as f64 / 1000.0;
    let mut rates: BTreeMap<SandboxRef, f64> = BTreeMap::new();
    let mut recorded = HashMap::new();
    for run in under_way.iter().filter(|run| !prints_here(run)) {
        let bytes = run.spooled.stdout + run.spooled.stderr;
        if let Some(before) = state.guards.recorded.get(&run.id) {
            let more = bytes.saturating_sub(*before) as f64;
            *rates.entry(run.sandbox.clone()).or_default() += more / seconds.max(1.0);
        }
        recorded.insert(run.id.clone(), bytes);
    }
    let guards = &mut state.guards;
    (guards.recorded, guards.recorded_at, guards.rates) = (recorded, state.now, rates);
}

/// Looks at what was printed since the last time, and forgets guards of sandboxes that do not live.
#[allow(clippy::cast_precision_loss)] // Rates need no more than 52 bits.
pub(crate) fn tick(state: &mut AppState) -> Vec<Effect> {
    let (now, guards) = (state.now, &mut state.guards);
    let passed = now - guards.since;
    if passed >= TimeDelta::zero() && passed < WINDOW {
        return Vec::new();
    }
    guards.since = now;
    if now - guards.recorded_at > RECORD_WINDOW * 4 {
        // Nobody tells any more; what was true then need not be.
        guards.rates.clear();
    }
    let printed = std::mem::take(&mut guards.printed);
    let is_live = |sandbox: &SandboxRef| {
        let row = state.sandboxes.find(sandbox);
        row.is_some_and(|row| row.sandbox.phase.is_live())
    };
    guards.guards.retain(|(sandbox, _), _| is_live(sandbox));
    let known = guards
        .guards
        .keys()
        .filter(|(_, what)| *what == Guarded::Output);
    let known = known.map(|(sandbox, _)| sandbox);
    let known = known.chain(printed.keys()).chain(guards.rates.keys());
    let known: BTreeSet<SandboxRef> = known.cloned().collect();
    let seconds = (passed.num_milliseconds() as f64 / 1000.0).max(1.0);
    let mut effects = Vec::new();
    for sandbox in &known {
        let bytes = printed.get(sandbox).copied().unwrap_or(0) as f64;
        let on_record = state.guards.rates.get(sandbox).copied().unwrap_or(0.0);
        let rate = bytes / seconds + on_record;
        effects.extend(check(state, sandbox, Guarded::Output, rate, now));
    }
    effects
}

/// Holds a figure against its rule.
fn check(
    state: &mut AppState,
    sandbox: &SandboxRef,
    what: Guarded,
    value: f64,
    at: DateTime<Utc>,
) -> Vec<Effect> {
    let Some(rule) = state.settings.config.guards.on(what) else {
        return Vec::new();
    };
    let key = (sandbox.clone(), what);
    let guard = state.guards.guards.entry(key).or_default();
    match guard.check(&rule, value, at) {
        Some(Turn::Raised) => raise(state, sandbox, &words(what, &rule)),
        Some(Turn::Lowered) | None => Vec::new(),
    }
}

/// Says it once; rings and pauses as the settings have it.
fn raise(state: &mut AppState, sandbox: &SandboxRef, words: &str) -> Vec<Effect> {
    let rules = state.settings.config.guards;
    let Some(row) = state.sandboxes.find(sandbox) else {
        return Vec::new();
    };
    let is_ours = row.sandbox.owner.is_some() && row.sandbox.phase == Phase::Running;
    let pauses = rules.action == GuardAction::Pause && is_ours && !state.settings.read_only;
    let name = safe_line(&row.sandbox.name);
    let then = if pauses { " It is paused." } else { "" };
    state.say(Tone::Bad, format!("{name}: {words}.{then}"));
    let mut effects = Vec::new();
    if rules.bell {
        effects.push(Effect::Bell);
    }
    if pauses {
        let command = Command::Act {
            sandbox: sandbox.clone(),
            action: LifecycleOp::Pause,
        };
        effects.push(state.submit(command, &format!("pausing {name}"), ReplyTo::Quiet));
    }
    effects
}

fn words(what: Guarded, rule: &GuardRule) -> String {
    let time = human::duration(rule.time);
    let level = rule.level;
    match what {
        Guarded::Memory => format!("memory was over {level} % of its limit for {time}"),
        Guarded::Cpu => format!("the processor was at its quota for {time}"),
        Guarded::Pids => format!("processes were over {level} % of their limit for {time}"),
        Guarded::Output => format!(
            "output came faster than {} a second for {time}",
            amount(level)
        ),
        Guarded::Disk => format!(
            "the files in its work directory took over {}",
            amount(level)
        ),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // It was a size before.
fn amount(level: f64) -> String {
    human::bytes(level as u64)
}
