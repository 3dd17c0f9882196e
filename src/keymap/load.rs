//! Reads the built-in keymap, `assets/keymap.toml`: rows of TOML, checked one by one.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::key::parse_chord;
use super::{Action, Context, Keymap, Row};
use crate::protocol::{Failure, FailureKind};

const BUILT_IN: &str = include_str!("../../assets/keymap.toml");

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRow {
    on: String,
    run: String,
    hint: Option<String>,
}

/// Reads the built-in keymap.
pub(super) fn built_in() -> Result<Keymap, Failure> {
    let tables: BTreeMap<String, Vec<RawRow>> =
        toml::from_str(BUILT_IN).map_err(|error| wrong(error.message()))?;
    let mut rows = Vec::new();
    for (word, table) in &tables {
        let context = Context::by_word(word).ok_or_else(|| wrong(word))?;
        for raw in table {
            rows.push(row(context, raw).ok_or_else(|| wrong(&raw.on))?);
        }
    }
    Ok(Keymap { rows })
}

fn row(context: Context, raw: &RawRow) -> Option<Row> {
    Some(Row {
        context,
        keys: parse_chord(&raw.on).ok()?,
        action: Some(Action::by_word(&raw.run)?),
        hint: raw.hint.clone(),
    })
}

/// Says that the program itself is broken; tests keep that from event.
fn wrong(what: &str) -> Failure {
    let message = format!("the built-in keymap is wrong at {what}");
    Failure::new(FailureKind::Internal, message)
}
