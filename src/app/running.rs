//! Running the editor's code: checked, made ready by the manager, started, shown in the output pane.

use super::on_action::{focus, submit};
use super::output::RunInfo;
use super::pending::Purpose as For;
use super::streams::selected_running;
use super::{AppState, Effect, Mode, Pane, Tone, Wish, fulfil};
use crate::code::{self, Around, Finding, Language, Severity, Verdict, Wanted, is_safe};
use crate::domain::StdinMode;
use crate::protocol::{Command, Place, Prepared, Program};

/// Checks code and runs it as far as the policy allows.
pub(super) fn run(state: &mut AppState, code: String, language: Language) -> Vec<Effect> {
    let report = code::read(language.dialect(), code.as_bytes(), &Around::default());
    let verdict = state
        .settings
        .config
        .sandbox
        .checks
        .verdict(&report.findings);
    match verdict {
        Verdict::Run => {
            if let Some(words) = worst(&report.findings) {
                state.say(Tone::Bad, words);
            }
            prepare(state, code, language)
        }
        Verdict::Ask => {
            let found = worst(&report.findings).unwrap_or_default();
            let ask = Wish::Confirm {
                question: format!("{found}. Run it all the same?"),
                button: "Run".to_owned(),
                then: vec![Wish::RunChecked { code, language }],
            };
            fulfil::all(state, vec![ask])
        }
        Verdict::Refuse => {
            let found = worst(&report.findings).unwrap_or_default();
            state.say(
                Tone::Bad,
                format!("Not run: {found}. The policy blocks it."),
            );
            Vec::new()
        }
    }
}

/// Puts the worst finding in words, if it is a danger.
fn worst(findings: &[Finding]) -> Option<String> {
    if is_safe(findings) {
        return None;
    }
    let danger = findings
        .iter()
        .find(|finding| finding.severity == Severity::Danger);
    let worst = danger.or(findings.first())?;
    Some(format!("Line {} {}", worst.line, worst.message))
}

/// Asks the manager to get the code ready in the selected sandbox.
pub(super) fn prepare(state: &mut AppState, code: String, language: Language) -> Vec<Effect> {
    let Some(sandbox) = selected_running(state) else {
        return Vec::new();
    };
    let label = format!("sending the code to {}", sandbox.name);
    let timeout = sandbox.limits.timeout_s.map(std::time::Duration::from_secs);
    let program = Program {
        exec: state.pending.exec_id(),
        code: code.into(),
        language,
        around: Around::default(),
        wanted: Wanted::Detected,
        arguments: Vec::new(),
        env: Vec::new(),
        context: None,
        stdin: StdinMode::Piped,
        timeout,
    };
    let command = Command::Prepare {
        place: Place::In(Box::new(sandbox)),
        program: Box::new(program),
    };
    let title = state.editor.current().name.clone();
    vec![submit(state, command, &label, For::Prepared { title })]
}

/// Starts what is ready.
pub(super) fn start(state: &mut AppState, title: String, prepared: Prepared) -> Vec<Effect> {
    let stream = state.pending.stream();
    let sandbox = prepared.sandbox.reference;
    state.output.open(RunInfo {
        stream,
        sandbox: sandbox.clone(),
        sandbox_name: prepared.sandbox.name,
        title,
        started: state.now,
    });
    // Whoever types into a shell by now keeps seeing it; the run is a tab beside it.
    if state.view.mode != Mode::Term {
        state.shells.hide();
    }
    let command = Command::Exec {
        sandbox,
        stream,
        spec: Box::new(prepared.spec),
    };
    let mut effects = vec![submit(state, command, "", For::Stream(stream))];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{App, sandbox};
    use crate::domain::ExecSpec;
    use crate::protocol::Reply;

    /// Answers the request that gets code ready.
    fn ready(command: &Command) -> Option<Result<Reply, crate::protocol::Failure>> {
        let Command::Prepare { program, .. } = command else {
            return None;
        };
        let prepared = Prepared {
            sandbox: sandbox("alpha"),
            spec: ExecSpec::new(program.exec.clone(), vec!["python3".into()]),
            packages: Vec::new(),
            cache: crate::protocol::CacheUse::None,
            steps: Vec::new(),
        };
        Some(Ok(Reply::Prepared(Box::new(prepared))))
    }

    #[test]
    fn a_run_is_shown_when_it_starts() {
        let mut app = App::with(160, 48, &["alpha"]);
        app.keys("F9");
        app.answer(ready);
        assert_eq!(app.state.view.focus, Pane::Output);
        assert!(app.state.shells.current().is_none());
    }

    #[test]
    fn whoever_types_stays_where_the_output_is_seen_and_goes_there_where_not() {
        for (size, pane) in [((160, 48), Pane::Editor), ((80, 24), Pane::Output)] {
            let mut app = App::with(size.0, size.1, &["alpha"]);
            app.keys("2 i F9");
            app.answer(ready);
            assert_eq!(app.state.view.focus, pane, "{size:?}");
        }
    }

    #[test]
    fn a_run_that_starts_late_does_not_hide_the_shell_that_has_the_keys() {
        let mut app = App::with(160, 48, &["alpha"]);
        app.keys("F9");
        let late = app.requests();
        app.keys("1 x");
        assert_eq!(app.state.view.mode, Mode::Term);
        app.effects.extend(late.into_iter().map(Effect::Submit));
        app.answer(ready);
        assert!(app.state.shells.current().is_some());
        assert_eq!(app.state.view.mode, Mode::Term);
    }
}
