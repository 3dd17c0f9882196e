//! Runs by keys, with a manager that answers as told.

use super::*;
use crate::app::testing::{App, sandbox};
use crate::code::Policy;
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
        findings: Vec::new(),
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

/// Answers as the manager does under a policy that does not let dangers run.
fn denied(command: &Command) -> Option<Result<Reply, crate::protocol::Failure>> {
    let Command::Prepare { program, .. } = command else {
        return None;
    };
    let Checks::By(settings) = program.checks else {
        return None;
    };
    let report = crate::code::read(
        program.language.dialect(),
        b"import os\nos.system('rm -rf /')",
        &program.around,
    );
    let verdict = settings.verdict(&report.findings);
    Some(Ok(Reply::Denied(Box::new(Denied { verdict, report }))))
}

fn set_policy(app: &mut App, policy: Policy) {
    let settings = std::sync::Arc::get_mut(&mut app.state.settings).expect("settings");
    settings.config.sandbox.checks.policy = policy;
}

#[test]
fn a_person_is_asked_about_dangers_and_the_program_is_not_read_again() {
    let mut app = App::with(160, 48, &["alpha"]);
    set_policy(&mut app, Policy::Ask);
    app.keys("F9");
    app.answer(denied);
    assert!(app.screen().contains("Run it all the same?"));
    app.keys("n");
    assert_eq!(app.commands(), []);
    app.keys("F9");
    app.answer(denied);
    app.keys("y");
    let sent = app.requests();
    let passed = |command: &Command| {
        matches!(command, Command::Prepare { program, .. }
            if matches!(program.checks, Checks::Passed(_)))
    };
    assert!(sent.iter().any(|request| passed(&request.command)));
    app.effects.extend(sent.into_iter().map(Effect::Submit));
    app.answer(ready);
    assert_eq!(app.state.view.focus, Pane::Output);
}

#[test]
fn what_the_policy_blocks_does_not_run_and_says_why() {
    let mut app = App::with(160, 48, &["alpha"]);
    set_policy(&mut app, Policy::Block);
    app.keys("F9");
    app.answer(denied);
    let screen = app.screen();
    assert!(screen.contains("Not run: Line 2"), "{screen}");
    assert_eq!(app.commands(), []);
}

#[test]
fn a_danger_that_runs_is_mentioned_when_it_starts() {
    let mut app = App::with(160, 48, &["alpha"]);
    app.keys("F9");
    app.answer(|command| {
        let Some(Ok(Reply::Denied(denied))) = denied(command) else {
            return None;
        };
        let Some(Ok(Reply::Prepared(mut prepared))) = ready(command) else {
            return None;
        };
        prepared.findings = denied.report.findings;
        Some(Ok(Reply::Prepared(prepared)))
    });
    assert!(app.screen().contains("Line 2"), "{}", app.screen());
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
        let Command::Analyse { sandbox, .. } = command else {
            return None;
        };
        assert!(sandbox.is_some());
        let analysis = crate::protocol::Analysis {
            findings: vec![Finding {
                rule: "py-shell",
                severity: Severity::Danger,
                line: 1,
                column: 1,
                message: "runs a shell".to_owned(),
            }],
            packages: vec![crate::code::Requirement::any("rich")],
            kept: Some(false),
        };
        Some(Ok(Reply::Analysis(Box::new(analysis))))
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
        !again.iter().any(|c| matches!(c, Command::Analyse { .. })),
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
    let is_asked = |c: &Command| matches!(c, Command::Analyse { .. });
    assert!(again.iter().any(is_asked), "they are at hand now");
    app.keys("esc !");
    let screen = app.screen();
    assert!(
        screen.contains("runs a shell") && screen.contains("seat-belt"),
        "{screen}"
    );
}
