//! Guards of all sandboxes: figures in; a mark on the row, one message, a bell and a pause out.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::on_action::submit;
use super::pending::Purpose as For;
use super::{AppState, Effect, Tone};
use crate::domain::{
    Guard, GuardAction, GuardRule, Guarded, Limits, Phase, Sample, SandboxRef, StreamId, Turn,
};
use crate::protocol::{Action, Command};
use crate::text::{human, safe_line};

/// Output is counted over so long.
const WINDOW: TimeDelta = TimeDelta::seconds(1);

/// The guards and what was printed lately.
#[derive(Debug, Default)]
pub struct GuardsState {
    guards: BTreeMap<(SandboxRef, Guarded), Guard>,
    printed: BTreeMap<SandboxRef, u64>,
    since: DateTime<Utc>,
}

impl GuardsState {
    /// Names what is raised for a sandbox.
    pub fn raised<'a>(&'a self, sandbox: &'a SandboxRef) -> impl Iterator<Item = Guarded> + 'a {
        let guards = Guarded::ALL.into_iter();
        guards.filter(move |what| {
            let guard = self.guards.get(&(sandbox.clone(), *what));
            guard.is_some_and(Guard::is_raised)
        })
    }
}

/// Takes figures of a sandbox.
pub(super) fn sampled(state: &mut AppState, sandbox: &SandboxRef, sample: &Sample) -> Vec<Effect> {
    let Some(row) = state.sandboxes.find(sandbox) else {
        return Vec::new();
    };
    let figures = figures(sample, &row.sandbox.limits);
    let looks = figures.into_iter().filter_map(|(what, value)| {
        let value = value?;
        Some(look(state, sandbox, (what, value), sample.at))
    });
    looks.collect::<Vec<_>>().into_iter().flatten().collect()
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

/// Counts what a run or a shell prints, shown or not.
pub(super) fn printed(state: &mut AppState, stream: StreamId, bytes: usize) {
    let run = state.output.find(stream).map(|run| &run.info().sandbox);
    let shell = state.shells.find(stream).map(|open| &open.shell.sandbox);
    if let Some(sandbox) = run.or(shell).cloned() {
        *state.guards.printed.entry(sandbox).or_default() += bytes as u64;
    }
}

/// Looks at what was printed since the last time, and forgets guards of sandboxes that do not live.
#[allow(clippy::cast_precision_loss)] // Rates need no more than 52 bits.
pub(super) fn tick(state: &mut AppState) -> Vec<Effect> {
    let (now, guards) = (state.now, &mut state.guards);
    let passed = now - guards.since;
    if passed >= TimeDelta::zero() && passed < WINDOW {
        return Vec::new();
    }
    guards.since = now;
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
    let known: BTreeSet<SandboxRef> = known.map(|(sandbox, _)| sandbox.clone()).collect();
    let seconds = (passed.num_milliseconds() as f64 / 1000.0).max(1.0);
    let mut effects = Vec::new();
    for sandbox in known
        .iter()
        .chain(printed.keys().filter(|s| !known.contains(s)))
    {
        let bytes = printed.get(sandbox).copied().unwrap_or(0) as f64;
        let rate = (Guarded::Output, bytes / seconds);
        effects.extend(look(state, sandbox, rate, now));
    }
    effects
}

fn look(
    state: &mut AppState,
    sandbox: &SandboxRef,
    (what, value): (Guarded, f64),
    at: DateTime<Utc>,
) -> Vec<Effect> {
    let Some(rule) = state.settings.config.guards.on(what) else {
        return Vec::new();
    };
    let key = (sandbox.clone(), what);
    let guard = state.guards.guards.entry(key).or_default();
    match guard.look(&rule, value, at) {
        Some(Turn::Raised) => raise(state, sandbox, what, &rule),
        Some(Turn::Lowered) | None => Vec::new(),
    }
}

/// Says it once; rings and pauses as the settings have it.
fn raise(
    state: &mut AppState,
    sandbox: &SandboxRef,
    what: Guarded,
    rule: &GuardRule,
) -> Vec<Effect> {
    let rules = state.settings.config.guards;
    let Some(row) = state.sandboxes.find(sandbox) else {
        return Vec::new();
    };
    let is_ours = row.sandbox.owner.is_some() && row.sandbox.phase == Phase::Running;
    let pauses = rules.action == GuardAction::Pause && is_ours && !state.settings.read_only;
    let name = safe_line(&row.sandbox.name);
    let then = if pauses { " It is paused." } else { "" };
    state.say(Tone::Bad, format!("{name}: {}.{then}", words(what, rule)));
    let mut effects = Vec::new();
    if rules.bell {
        effects.push(Effect::Bell);
    }
    if pauses {
        let command = Command::Act {
            sandbox: sandbox.clone(),
            action: Action::Pause,
        };
        effects.push(submit(
            state,
            command,
            &format!("pausing {name}"),
            For::Quiet,
        ));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{App, reference, sample, sandbox};
    use crate::app::{Msg, Settings};
    use std::sync::Arc;

    fn with_rules(change: impl FnOnce(&mut Settings)) -> App {
        let mut app = App::with(140, 40, &["alpha", "beta"]);
        let settings = Arc::get_mut(&mut app.state.settings).expect("settings of one's own");
        change(settings);
        app
    }

    fn toasts(app: &App) -> usize {
        let log = app.state.status.log();
        log.filter(|toast| toast.text.contains("over 90 %")).count()
    }

    #[test]
    fn memory_near_its_limit_marks_the_row_and_is_said_once() {
        let mut app = App::with(140, 40, &["alpha", "beta"]);
        for second in 0..10 {
            app.sample("alpha", sample(second, 5.0, 480));
            app.sample("beta", sample(second, 5.0, 80));
        }
        assert_eq!(toasts(&app), 0);
        for second in 10..40 {
            app.sample("alpha", sample(second, 5.0, 480));
        }
        assert_eq!(toasts(&app), 1);
        let screen = app.screen();
        let line = |name: &str| {
            screen
                .lines()
                .find(|line| line.contains(name))
                .unwrap_or("")
        };
        assert!(line("alpha ").contains("!alpha"), "{screen}");
        assert!(!line("beta ").contains('!'), "{screen}");
        assert_eq!(app.commands(), [], "a mark is all by default");
        for second in 40..60 {
            app.sample("alpha", sample(second, 5.0, 80));
        }
        assert!(!app.screen().contains("!alpha"), "{}", app.screen());
    }

    #[test]
    fn it_rings_and_pauses_only_if_asked_and_only_ours() {
        let mut app = with_rules(|settings| {
            settings.config.guards.bell = true;
            settings.config.guards.action = GuardAction::Pause;
        });
        let mut foreign = sandbox("beta");
        foreign.owner = None;
        app.list(vec![sandbox("alpha"), foreign]);
        for second in 0..30 {
            app.sample("alpha", sample(second, 5.0, 480));
            app.sample("beta", sample(second, 5.0, 480));
        }
        let bells = app.effects.iter().filter(|e| **e == Effect::Bell).count();
        assert_eq!(bells, 2);
        let pause = Command::Act {
            sandbox: reference("alpha"),
            action: Action::Pause,
        };
        assert_eq!(app.commands(), [pause]);
    }

    #[test]
    fn files_over_their_size_are_said_once_and_lowered_well_below() {
        let mut app = App::with(140, 40, &["alpha", "beta"]);
        let files = |second: i64, gigabytes: Option<u64>| Sample {
            disk_bytes: gigabytes.map(|count| count << 30),
            ..sample(second, 5.0, 80)
        };
        for second in 0..20 {
            app.sample("alpha", files(second, Some(5)));
            app.sample("beta", files(second, None));
        }
        let log: Vec<String> = app.state.status.log().map(|t| t.text.clone()).collect();
        let said = "alpha: the files in its work directory took over 4 GiB.";
        assert_eq!(
            log.iter().filter(|text| *text == said).count(),
            1,
            "{log:?}"
        );
        assert!(app.screen().contains("!alpha"), "{}", app.screen());
        for second in 20..40 {
            app.sample("alpha", files(second, Some(1)));
        }
        assert!(!app.screen().contains("!alpha"), "{}", app.screen());
    }

    #[test]
    fn a_guard_that_is_off_says_nothing() {
        let mut app = with_rules(|settings| settings.config.guards.memory.level = 0.0);
        for second in 0..30 {
            app.sample("alpha", sample(second, 5.0, 500));
        }
        assert_eq!(toasts(&app), 0);
    }

    /// Lets a stream print three megabytes a second for a while, and counts what is said of it.
    fn floods(app: &mut App, stream: StreamId) -> usize {
        use crate::domain::{OutputChunk, StreamKind};
        for tenth in 0..130 {
            let chunk = OutputChunk {
                stream: StreamKind::Stdout,
                bytes: vec![b'x'; 300_000].into(),
            };
            app.engine(crate::protocol::Event::Output { stream, chunk });
            let now = crate::app::testing::start() + TimeDelta::milliseconds(tenth * 100);
            app.tell(Msg::Tick(now));
        }
        let log = app.state.status.log();
        log.filter(|t| t.text.contains("faster than")).count()
    }

    #[test]
    fn output_that_floods_is_noticed() {
        let mut app = App::with(140, 40, &["alpha"]);
        app.keys("h");
        let run = crate::app::history::tests::recorded("x1");
        let reply = crate::protocol::Reply::Runs(vec![run]);
        app.answer(|_| Some(Ok(reply.clone())));
        app.keys("enter");
        let stream = app.state.output.current().expect("a tab").info().stream;
        assert_eq!(floods(&mut app, stream), 1);
    }

    #[test]
    fn a_shell_that_floods_is_noticed_too() {
        let mut app = App::with(140, 40, &["alpha"]);
        app.keys("x");
        let stream = app.state.shells.current().expect("a shell").shell.stream;
        app.state.shells.hide();
        assert_eq!(floods(&mut app, stream), 1, "also where it is not shown");
    }
}
