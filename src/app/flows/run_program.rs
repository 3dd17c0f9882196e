//! Running the editor's code: checked, made ready by the manager, started, shown in the output pane.

use super::navigate::focus;
use super::select::{running, selected_running};
use crate::app::intent::{Intent, ProgramRun, ReplyTo, RunOptions};
use crate::app::panes::output::{Hold, RunInfo};
use crate::app::{AppState, Effect, Mode, Pane, Tone};
use crate::code::{Around, CheckSettings, Finding, Language, Severity, Verdict, Wanted};
use crate::domain::{ExecSpec, Phase, Sandbox, StdinMode, StreamId};
use crate::protocol::{CacheUse, Checks, Command, Denied, Place, Prepared, Program};

/// Runs code in the selected sandbox, as far as the policy allows.
pub(crate) fn run(
    state: &mut AppState,
    code: String,
    language: Language,
    options: RunOptions,
) -> Vec<Effect> {
    let place = match &options.target {
        Some(target) => running(state, &target.sandbox),
        None => selected_running(state),
    };
    let Some(sandbox) = place else {
        return Vec::new();
    };
    let usual = sandbox.limits.timeout_s.map(std::time::Duration::from_secs);
    let buffer = &state.editor.current().name;
    let (title, name) = options.target.map_or_else(
        || (buffer.clone(), Some(buffer.clone())),
        |target| (target.title, target.name),
    );
    let program = Program {
        name,
        checks: Checks::By(state.settings.config.sandbox.checks),
        wanted: options.wanted,
        arguments: options.arguments,
        timeout: options.timeout.unwrap_or(usual),
        ..program(state, code, language)
    };
    let run = ProgramRun {
        title,
        sandbox: sandbox.reference,
        program: Box::new(program),
        input: options.input,
    };
    prepare(state, run)
}

/// Asks the manager to check a program and to get it ready in its sandbox.
pub(crate) fn prepare(state: &mut AppState, run: ProgramRun) -> Vec<Effect> {
    let Some(sandbox) = running(state, &run.sandbox) else {
        return Vec::new();
    };
    let label = format!("sending the code to {}", sandbox.name);
    let command = Command::Prepare {
        place: Place::In(Box::new(sandbox)),
        program: run.program.clone(),
    };
    vec![state.submit(command, &label, ReplyTo::Prepared(Box::new(run)))]
}

/// Says what the policy has against a program, and asks where a person may decide.
pub(crate) fn deny(state: &mut AppState, mut run: ProgramRun, denied: Denied) {
    let level = state.settings.config.sandbox.checks.level;
    let found = worst(&denied.report.findings, level).unwrap_or_default();
    if denied.verdict == Verdict::Refuse {
        let words = format!("Not run: {found}. The policy blocks it.");
        state.say(Tone::Bad, words);
        return;
    }
    run.program.checks = Checks::Passed(Box::new(denied.report));
    let question = format!("{found}. Run it all the same?");
    state.confirm(question, "Run", vec![Intent::Prepare(Box::new(run))]);
}

/// Puts the worst finding in words, if one reaches the level.
fn worst(findings: &[Finding], level: Severity) -> Option<String> {
    let bad = findings.iter().filter(|finding| finding.is_bad(level));
    // Of several that are as bad, the first.
    let worst = bad.rev().max_by_key(|finding| finding.severity)?;
    Some(format!("Line {} {}", worst.line, worst.message))
}

/// Describes code as a program with nothing special.
fn program(state: &mut AppState, code: String, language: Language) -> Program {
    Program {
        exec: state.pending.exec_id(),
        name: None,
        code: code.into(),
        language,
        around: Around::default(),
        checks: Checks::By(CheckSettings::OFF),
        wanted: Wanted::Detected,
        arguments: Vec::new(),
        env: Vec::new(),
        context: None,
        stdin: StdinMode::Piped,
        timeout: None,
    }
}

/// Asks what is known of the current buffer's code if that has changed: findings, and packages in the selected sandbox.
pub(crate) fn analyse(state: &mut AppState) -> Vec<Effect> {
    let selected = state.sandboxes.selected();
    let running = selected.filter(|row| row.sandbox.phase == Phase::Running);
    let sandbox = running.map(|row| Box::new(row.sandbox.clone()));
    let reference = sandbox.as_ref().map(|sandbox| &sandbox.reference);
    let Some((buffer, code, language)) = state.editor.to_analyse(reference) else {
        return Vec::new();
    };
    let command = Command::Analyse {
        sandbox,
        program: Box::new(program(state, code, language)),
    };
    vec![state.submit(command, "", ReplyTo::Analysis(buffer))]
}

/// Starts what is ready.
pub(crate) fn start(state: &mut AppState, run: ProgramRun, prepared: Prepared) -> Vec<Effect> {
    if prepared.cache == CacheUse::Miss {
        state.editor.invalidate_analysis();
    }
    let level = state.settings.config.sandbox.checks.level;
    if let Some(words) = worst(&prepared.findings, level) {
        state.say(Tone::Bad, words);
    }
    let mut effects = launch(state, run.title, prepared.sandbox, prepared.spec);
    let opened = state.output.current().map(|run| run.info().stream);
    if let (Some(stream), Some(text)) = (opened, run.input) {
        effects.extend(feed(state, stream, &text));
    }
    effects
}

/// Starts a command, with a tab for what it prints.
pub(crate) fn launch(
    state: &mut AppState,
    title: String,
    sandbox: Sandbox,
    spec: ExecSpec,
) -> Vec<Effect> {
    let stream = state.pending.stream();
    state.output.open(RunInfo {
        stream,
        exec: spec.id.clone(),
        hold: Hold::Own,
        sandbox: sandbox.reference.clone(),
        sandbox_name: sandbox.name,
        title,
        started: state.now,
    });
    // Whoever types into a shell by now keeps seeing it; the run is a tab beside it.
    if state.view.mode != Mode::Term {
        state.shells.hide();
    }
    let command = Command::Exec {
        sandbox: sandbox.reference,
        stream,
        spec: Box::new(spec),
    };
    let mut effects = vec![state.submit(command, "", ReplyTo::Stream(stream))];
    if moves_to_output(state) {
        effects.extend(focus(state, Pane::Output));
    }
    effects
}

/// Whoever types goes on typing, unless the output of what was started could not be seen.
fn moves_to_output(state: &AppState) -> bool {
    let seen = || state.areas().and_then(|areas| areas.of(Pane::Output));
    match state.view.mode {
        Mode::Nav => true,
        Mode::Edit => seen().is_none(),
        Mode::Term => false,
    }
}

/// Gives a program all of its input.
fn feed(state: &mut AppState, stream: StreamId, text: &str) -> [Effect; 2] {
    let bytes = format!("{text}\n").into();
    let input = Command::Input { stream, bytes };
    [input, Command::EndInput(stream)].map(|command| state.submit(command, "", ReplyTo::Quiet))
}

#[cfg(test)]
mod tests;
