//! `config`: the settings in force and where they come from.

use serde_json::{Value, json};

use super::args::ConfigVerb;
use super::exit;
use super::print::{self, Format, Outcome};
use crate::config::{Config, DEFAULT_TOML, LoadOptions};
use crate::keymap::Keymap;
use crate::protocol::Failure;

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
