//! Running the editor's code: checked, made ready by the manager, started, shown in the output pane.

use super::navigate::focus;
use super::select::{running, selected_running};
use crate::app::intent::{Intent, ReplyTo, RunOptions};
use crate::app::panes::output::{Hold, RunInfo};
use crate::app::{AppState, Effect, Mode, Pane, Tone};
use crate::code;
use crate::code::{Around, Finding, Language, Severity, Verdict, Wanted, is_safe};
use crate::domain::{ExecSpec, Phase, Sandbox, StdinMode, StreamId};
use crate::protocol::{CacheUse, Command, Place, Prepared, Program};

/// Checks code and runs it as far as the policy allows.
pub(crate) fn run(
    state: &mut AppState,
    code: String,
    language: Language,
    options: RunOptions,
) -> Vec<Effect> {
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
            prepare(state, code, language, options)
        }
        Verdict::Ask => {
            let found = worst(&report.findings).unwrap_or_default();
            let again = Intent::RunChecked {
                code,
                language,
                options: Box::new(options),
            };
            let question = format!("{found}. Run it all the same?");
            state.confirm(question, "Run", vec![again]);
            Vec::new()
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
pub(crate) fn prepare(
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
    let label = format!("sending the code to {}", sandbox.name);
    let usual = sandbox.limits.timeout_s.map(std::time::Duration::from_secs);
    let program = Program {
        wanted: options.wanted,
        arguments: options.arguments,
        timeout: options.timeout.unwrap_or(usual),
        ..program(state, code, language)
    };
    let command = Command::Prepare {
        place: Place::In(Box::new(sandbox)),
        program: Box::new(program),
    };
    let purpose = ReplyTo::Prepared {
        title: match options.target {
            Some(target) => target.title,
            None => state.editor.current().name.clone(),
        },
        input: options.input,
    };
    vec![state.submit(command, &label, purpose)]
}

/// Describes code as a program with nothing special.
fn program(state: &mut AppState, code: String, language: Language) -> Program {
    Program {
        exec: state.pending.exec_id(),
        code: code.into(),
        language,
        around: Around::default(),
        wanted: Wanted::Detected,
        arguments: Vec::new(),
        env: Vec::new(),
        context: None,
        stdin: StdinMode::Piped,
        timeout: None,
    }
}

/// Asks what is known of the current buffer's code if that has changed: findings, and packages in the selected sandbox.
pub(crate) fn look(state: &mut AppState) -> Vec<Effect> {
    let selected = state.sandboxes.selected();
    let running = selected.filter(|row| row.sandbox.phase == Phase::Running);
    let sandbox = running.map(|row| Box::new(row.sandbox.clone()));
    let reference = sandbox.as_ref().map(|sandbox| &sandbox.reference);
    let Some((buffer, code, language)) = state.editor.to_look_at(reference) else {
        return Vec::new();
    };
    let command = Command::Outlook {
        sandbox,
        program: Box::new(program(state, code, language)),
    };
    vec![state.submit(command, "", ReplyTo::Analysis(buffer))]
}

/// Starts what is ready.
pub(crate) fn start(
    state: &mut AppState,
    title: String,
    input: Option<String>,
    prepared: Prepared,
) -> Vec<Effect> {
    if prepared.cache == CacheUse::Miss {
        state.editor.look_again();
    }
    let mut effects = launch(state, title, prepared.sandbox, prepared.spec);
    let opened = state.output.current().map(|run| run.info().stream);
    if let (Some(stream), Some(text)) = (opened, input) {
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
mod tests {
    use super::*;
    use crate::app::testing::{App, sandbox};
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
            cache: CacheUse::None,
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

    #[test]
    fn options_reach_the_program_and_input_ends() {
        let mut app = App::with(160, 48, &["alpha"]);
        app.keys("2 o");
        app.typed("2.5");
        app.keys("tab");
        app.typed("-x 'y z");
        assert!(app.screen().contains("arguments: the quote ' has no end"));
        app.typed("'");
        assert!(!app.screen().contains("has no end"));
        app.keys("tab");
        app.typed("one line");
        app.keys("tab");
        app.typed("rich>=13,<14");
        app.keys("enter");
        let sent = app.requests();
        let prepared = sent.iter().find_map(|request| match &request.command {
            Command::Prepare { program, .. } => Some(program),
            _ => None,
        });
        let program = prepared.expect("a program");
        assert_eq!(
            program.timeout,
            Some(std::time::Duration::from_millis(2500))
        );
        assert_eq!(program.arguments, ["-x", "y z"]);
        assert_eq!(
            program.wanted,
            Wanted::Also(vec!["rich>=13,<14".to_owned()])
        );
        app.effects.extend(sent.into_iter().map(Effect::Submit));
        app.answer(ready);
        let sent = app.commands();
        let has = |wanted: fn(&Command) -> bool| sent.iter().any(wanted);
        assert!(has(
            |c| matches!(c, Command::Input { bytes, .. } if bytes == "one line\n")
        ));
        assert!(has(|c| matches!(c, Command::EndInput(_))), "{sent:?}");
        // The next form starts with the same.
        app.keys("2 o");
        assert!(app.screen().contains("rich>=13,<14"));
    }

    #[test]
    fn a_form_that_cannot_be_says_why_and_stays() {
        let mut app = App::with(120, 40, &["alpha"]);
        app.keys("2 o tab tab tab");
        app.typed("--index-url=x");
        app.keys("enter");
        assert_eq!(app.commands(), []);
        assert!(
            app.screen().contains("is not a package"),
            "{}",
            app.screen()
        );
        app.keys("esc");
        assert!(app.state.view.overlay.is_none());
    }

    #[test]
    fn what_is_known_of_the_code_is_shown_before_it_runs() {
        let mut app = App::with(120, 40, &["alpha"]);
        app.keys("2 i");
        app.typed("import rich");
        app.tick(1);
        app.answer(|command| {
            let Command::Outlook { sandbox, .. } = command else {
                return None;
            };
            assert!(sandbox.is_some());
            let outlook = crate::protocol::Outlook {
                findings: vec![Finding {
                    rule: "py-shell",
                    severity: Severity::Danger,
                    line: 1,
                    column: 1,
                    message: "runs a shell".to_owned(),
                }],
                packages: vec![code::Requirement::any("rich")],
                kept: Some(false),
            };
            Some(Ok(Reply::Outlook(Box::new(outlook))))
        });
        assert!(
            app.screen().contains("1 package to install"),
            "{}",
            app.screen()
        );
        assert!(app.screen().contains("!1 "), "{}", app.screen());
        app.tick(2);
        let again = app.commands();
        assert!(
            !again.iter().any(|c| matches!(c, Command::Outlook { .. })),
            "nothing changed"
        );
        app.keys("f9");
        app.answer(|command| {
            let Some(Ok(Reply::Prepared(mut prepared))) = ready(command) else {
                return None;
            };
            prepared.cache = CacheUse::Miss;
            Some(Ok(Reply::Prepared(prepared)))
        });
        app.effects.clear();
        app.tick(3);
        let again = app.commands();
        let is_asked = |c: &Command| matches!(c, Command::Outlook { .. });
        assert!(again.iter().any(is_asked), "they are at hand now");
        app.keys("esc !");
        let screen = app.screen();
        assert!(
            screen.contains("runs a shell") && screen.contains("seat-belt"),
            "{screen}"
        );
    }
}
