//! A recorded run, run once more.

use super::run_program;
use super::select::running;
use crate::app::intent::{RunOptions, Target};
use crate::app::{AppState, Effect, Tone};
use crate::domain::{ExecSpec, Run, StdinMode};

/// Runs the same once more in the same sandbox.
pub(crate) fn run_again(state: &mut AppState, run: Run) -> Vec<Effect> {
    let title = run.title();
    let Some(code) = run.code else {
        return command(state, title, run);
    };
    let Some(language) = state.settings.config.languages.by_word(&code.language) else {
        let words = state.settings.config.languages.unknown(&code.language);
        state.say(Tone::Bad, words);
        return Vec::new();
    };
    let options = RunOptions {
        arguments: language.arguments(&run.argv),
        target: Some(Target {
            sandbox: run.sandbox,
            title,
            name: code.name,
        }),
        ..RunOptions::default()
    };
    run_program::run(state, code.text, language, options)
}

fn command(state: &mut AppState, title: String, run: Run) -> Vec<Effect> {
    let Some(sandbox) = running(state, &run.sandbox) else {
        return Vec::new();
    };
    let timeout = sandbox.limits.timeout_s.map(std::time::Duration::from_secs);
    let spec = ExecSpec {
        stdin: StdinMode::Piped,
        timeout,
        session: run.session,
        ..ExecSpec::new(state.pending.exec_id(), run.argv)
    };
    run_program::launch(state, title, sandbox, spec)
}
