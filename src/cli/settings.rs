//! Verbs about sandtop itself: configuration and doctor.

use serde_json::{Value, json};

use super::args::ConfigVerb;
use super::print::{self, Format, Outcome};
use super::session::unexpected;
use super::{CliContext, exit};
use crate::config::{Config, DEFAULT_TOML, LoadOptions, Paths, create_private};
use crate::domain::{Check, CheckLevel, HOST_IMAGE, HostName};
use crate::keymap::Keymap;
use crate::protocol::{Command, Failure, FailureKind, Reply};

/// `config`; works also when the file is broken, except where it is what was asked for.
pub(super) fn config(verb: ConfigVerb, options: &LoadOptions, format: Format) -> Outcome<u8> {
    match verb {
        ConfigVerb::Default => default(format)?,
        ConfigVerb::Path => path(options, format)?,
        ConfigVerb::Show => show(&Config::load(options)?, format)?,
        ConfigVerb::Keys => keys(&Config::load(options)?, format)?,
        ConfigVerb::Check => check(&Config::load(options)?, format)?,
    }
    Ok(exit::OK)
}

fn default(format: Format) -> Outcome {
    match format {
        Format::Json => print::json(&as_json(DEFAULT_TOML)),
        Format::Text => print::line(DEFAULT_TOML.trim_end()),
    }
}

fn path(options: &LoadOptions, format: Format) -> Outcome {
    let file = options.file();
    let exists = file.as_ref().is_some_and(|file| file.exists());
    match format {
        Format::Json => print::json(&json!({"path": file, "exists": exists})),
        Format::Text => {
            print::line(&file.map_or_else(|| "none".to_owned(), |file| file.display().to_string()))
        }
    }
}

fn show(config: &Config, format: Format) -> Outcome {
    let text = config.to_toml();
    match format {
        Format::Json => print::json(&as_json(&text)),
        Format::Text => print::line(text.trim_end()),
    }
}

/// Prints the keys in force, each with what it does.
fn keys(config: &Config, format: Format) -> Outcome {
    let text = Keymap::with(&config.ui.keys)
        .map_err(Failure::from)?
        .to_toml();
    match format {
        Format::Json => print::json(&as_json(&text)),
        Format::Text => print::line(text.trim_end()),
    }
}

fn check(config: &Config, format: Format) -> Outcome {
    let source = config.source.as_ref().map_or_else(
        || "the built-in settings".to_owned(),
        |file| file.display().to_string(),
    );
    match format {
        Format::Json => print::json(&json!({"ok": true, "source": config.source})),
        Format::Text => print::line(&format!("{source}: fine")),
    }
}

/// Turns TOML text into JSON.
fn as_json(text: &str) -> Value {
    toml::from_str::<Value>(text).unwrap_or(Value::Null)
}

/// `doctor`.
pub(super) async fn doctor(cli: &mut CliContext, options: &LoadOptions) -> Outcome<u8> {
    let mut checks = vec![config_check(cli), state_check(options)];
    let host = cli
        .host
        .clone()
        .unwrap_or_else(|| HostName::new(super::HOST));
    match cli.session.ask(Command::Diagnose(host)).await? {
        Reply::Checks(found) => checks.extend(found),
        other => return Err(unexpected(&other).into()),
    }
    checks.push(image_check(cli, &checks));
    let worst = checks.iter().map(|check| check.level).max();
    match cli.format {
        Format::Json => {
            print::json(&json!({"ok": worst != Some(CheckLevel::Fail), "checks": checks}))?;
        }
        Format::Text => {
            for check in &checks {
                print::line(&check_line(check))?;
            }
        }
    }
    Ok(verdict(&checks))
}

fn config_check(cli: &CliContext) -> Check {
    let source = cli.config.source.as_ref().map_or_else(
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

fn image_check(cli: &CliContext, found: &[Check]) -> Check {
    let image = &cli.config.sandbox.image;
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
    let failed = |check: &&Check| check.level == CheckLevel::Fail;
    match checks.iter().find(failed) {
        Some(check) if check.name == "engine" => exit::of_failure(FailureKind::Unreachable),
        Some(_) => 1,
        None => exit::OK,
    }
}
