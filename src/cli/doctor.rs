//! `doctor`: what of this machine, the configuration and the engine could make sandboxes weak or fail.

use serde_json::json;

use super::print::{self, Format, Outcome};
use super::session::unexpected;
use super::{CliContext, Global, exit, format_of};
use crate::config::{Config, LoadOptions, Paths, create_private};
use crate::domain::{Check, CheckLevel, HOST_IMAGE};
use crate::protocol::{Command, Failure, FailureKind, Reply};

/// `doctor`.
pub(super) async fn doctor(cli: &mut CliContext, options: &LoadOptions) -> Outcome<u8> {
    let host = cli.host();
    let mut engine = match cli.session.ask(Command::Diagnose(host)).await {
        Ok(Reply::Checks(found)) => found,
        Ok(other) => return Err(unexpected(&other).into()),
        Err(failure) => vec![engine_check(failure)],
    };
    engine.push(cli.store.check().await);
    tell(&all_checks(&cli.config, options, engine), cli.format)
}

/// Tells what is known although there is no engine to ask.
#[must_use]
pub fn doctor_without_engine(
    config: &Config,
    options: &LoadOptions,
    failure: Failure,
    global: &Global,
) -> u8 {
    let format = format_of(global);
    let checks = all_checks(config, options, vec![engine_check(failure)]);
    super::code_of(tell(&checks, format), format)
}

fn all_checks(config: &Config, options: &LoadOptions, engine: Vec<Check>) -> Vec<Check> {
    let mut checks = vec![config_check(config), state_check(options)];
    checks.extend(engine);
    checks.push(image_check(config, &checks));
    checks
}

fn engine_check(failure: Failure) -> Check {
    Check::fail("engine", failure.message, failure.hint.unwrap_or_default())
}

fn tell(checks: &[Check], format: Format) -> Outcome<u8> {
    let worst = checks.iter().map(|check| check.level).max();
    match format {
        Format::Json => {
            print::json(&json!({"ok": worst != Some(CheckLevel::Fail), "checks": checks}))?;
        }
        Format::Text => {
            for check in checks {
                print::line(&check_line(check))?;
            }
        }
    }
    Ok(verdict(checks))
}

fn config_check(config: &Config) -> Check {
    let source = config.source.as_ref().map_or_else(
        || "built-in settings, no file".to_owned(),
        |file| file.display().to_string(),
    );
    Check::ok("configuration", source)
}

fn state_check(options: &LoadOptions) -> Check {
    let state = Paths::new(&options.environment).state_dir;
    match create_private(&state, options.environment.uid()) {
        Ok(()) => Check::ok("state directory", state.display().to_string()),
        Err(failure) => Check::fail(
            "state directory",
            failure.message,
            failure
                .hint
                .unwrap_or_else(|| "set XDG_STATE_HOME".to_owned()),
        ),
    }
}

fn image_check(config: &Config, found: &[Check]) -> Check {
    let image = &config.sandbox.image;
    if found
        .iter()
        .any(|check| check.name == "engine" && check.level == CheckLevel::Fail)
    {
        return Check::warn(
            "default image",
            format!("{image}: not looked up"),
            "reach the engine first",
        );
    }
    if image == HOST_IMAGE {
        return Check::ok("default image", "host: the programs of this machine");
    }
    Check::ok(
        "default image",
        format!("{image}; it is pulled when it is first needed"),
    )
}

fn check_line(check: &Check) -> String {
    let word = match check.level {
        CheckLevel::Ok => "ok  ",
        CheckLevel::Warn => "warn",
        CheckLevel::Fail => "FAIL",
    };
    let hint = check
        .hint
        .as_ref()
        .map_or_else(String::new, |hint| format!("\n      {hint}"));
    format!("{word}  {}: {}{hint}", check.name, check.message)
}

fn verdict(checks: &[Check]) -> u8 {
    let mut failed = checks
        .iter()
        .filter(|check| check.level == CheckLevel::Fail);
    match failed.clone().any(|check| check.name == "engine") {
        true => exit::of_failure(FailureKind::Unreachable),
        false if failed.next().is_some() => exit::FAILED,
        false => exit::OK,
    }
}
