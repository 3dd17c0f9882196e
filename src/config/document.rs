//! A settings file: read with care, parsed, and able to say on which line a key stands.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{BadValue, KeyPath, KeyStep, invalid, shown_key, suggest};
use super::raw::{RawConfig, SECTIONS, keys_in, keys_in_section};
use crate::protocol::Failure;
use crate::text::{nearest, safe_line};

/// More than any settings need, and little enough to hold.
const MOST_BYTES: u64 = 1024 * 1024;

/// A parsed file.
#[derive(Debug, Clone)]
pub(super) struct Document {
    /// The settings in it.
    pub(super) raw: RawConfig,
    source: SourceText,
}

impl Document {
    /// Parses a text that came from `name`.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut source = SourceText {
            name: name.to_owned(),
            lines: line_starts(text),
            places: Vec::new(),
        };
        let table = DeTable::parse(text).map_err(|error| source.syntax(&error))?;
        source.find_keys(table.get_ref(), &KeyPath::default());
        source.refuse_lists()?;
        let raw = RawConfig::deserialize(toml::Deserializer::from(table))
            .map_err(|error| source.mismatch(&error))?;
        Ok(Self { raw, source })
    }

    /// Explains a bad value that this file brought.
    pub(super) fn explain(&self, bad: &BadValue) -> Option<Failure> {
        let line = self.source.line_of(&bad.at)?;
        let name = &self.source.name;
        Some(invalid(format!(
            "{name}:{line}: `{}`: {}",
            bad.at, bad.message
        )))
    }
}

/// Reads a file that may not be there.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let name = shown_path(path);
    let unreadable = |cause: &str| invalid(format!("{name} cannot be read: {cause}"));
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
                io::ErrorKind::PermissionDenied => Err(unreadable("permission denied")),
                io::ErrorKind::IsADirectory => Err(unreadable("it is a folder, not a file")),
                _ => Err(unreadable(&error.to_string())),
            };
        }
    };
    if bytes.len() as u64 > MOST_BYTES {
        return Err(unreadable("it is larger than 1 MiB"));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to());
        let line = valid.unwrap_or_default().split(|b| *b == b'\n').count();
        invalid(format!("{name}:{line}: the file is not UTF-8 text"))
    })
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Shows a path in a message.
pub(super) fn shown_path(path: &Path) -> String {
    safe_line(path.as_os_str().as_encoded_bytes())
}

/// What is needed to say where something stands.
#[derive(Debug, Clone)]
struct SourceText {
    name: String,
    lines: Vec<usize>,
    places: Vec<KeyPosition>,
}

/// One key or list item and where it stands.
#[derive(Debug, Clone)]
struct KeyPosition {
    path: KeyPath,
    key: Range<usize>,
    value: Range<usize>,
    is_list: bool,
}

impl SourceText {
    fn find_keys(&mut self, table: &DeTable<'_>, path: &KeyPath) {
        for (key, value) in table {
            self.find_value(path.key(key.get_ref()), key.span(), value);
        }
    }

    fn find_value(&mut self, path: KeyPath, key: Range<usize>, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => self.find_keys(table, &path),
            DeValue::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.find_value(path.item(i), item.span(), item);
                }
            }
            _ => {}
        }
        self.places.push(KeyPosition {
            path,
            key,
            value: value.span(),
            is_list: matches!(value.get_ref(), DeValue::Array(_)),
        });
    }

    /// Refuses lists in place of tables, which serde would take for the values of the keys in order.
    fn refuse_lists(&self) -> Result<(), Failure> {
        let is_wrong = |place: &&KeyPosition| place.is_list && !keys_in(&place.path).is_empty();
        let Some(place) = self.places.iter().find(is_wrong) else {
            return Ok(());
        };
        let (name, line) = (&self.name, self.line_at(place.key.start));
        let path = &place.path;
        Err(invalid(format!(
            "{name}:{line}: `{path}`: expected a table, found a list"
        )))
    }

    fn line_of(&self, path: &KeyPath) -> Option<usize> {
        let place = self.places.iter().find(|place| place.path == *path)?;
        Some(self.line_at(place.key.start))
    }

    fn line_at(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset).max(1)
    }

    /// Explains a text that is not TOML.
    fn syntax(&self, error: &toml::de::Error) -> Failure {
        let line = self.line_at(error.span().map_or(0, |span| span.start));
        let message = safe_line(error.message());
        invalid(format!("{}:{line}: {message}", self.name))
    }

    /// Explains TOML that does not fit the settings.
    fn mismatch(&self, error: &toml::de::Error) -> Failure {
        let Some(span) = error.span() else {
            return self.syntax(error);
        };
        let line = self.line_at(span.start);
        let unknown = self.places.iter().find(|place| place.key == span);
        if let Some(sentence) = unknown.and_then(|place| explain_unknown(&place.path)) {
            return invalid(format!("{}:{line}: {sentence}", self.name));
        }
        let Some(place) = self.places.iter().find(|place| place.value == span) else {
            return self.syntax(error);
        };
        let message = plain_words(error.message());
        invalid(format!("{}:{line}: `{}`: {message}", self.name, place.path))
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after_breaks).collect()
}

/// Says what an unknown key may have meant; nothing if the key is known.
fn explain_unknown(path: &KeyPath) -> Option<String> {
    let (KeyStep::Key(key), table) = path.split_last()? else {
        return None;
    };
    let keys = keys_in(&table);
    if keys.is_empty() || keys.contains(&key.as_str()) {
        return None;
    }
    let hint = match (nearest(key, keys.iter().copied()), section_with(key)) {
        (None, Some(section)) => format!("`{}` belongs in `[{section}]`", shown_key(key)),
        _ => suggest(key, keys.iter().copied()),
    };
    Some(format!("unknown key `{path}`; {hint}"))
}

/// Finds the section that a key was meant for.
fn section_with(key: &str) -> Option<&'static str> {
    SECTIONS
        .into_iter()
        .find(|section| keys_in_section(section).contains(&key))
}

/// Turns serde's words for types into words for people.
fn plain_words(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return safe_line(message);
    };
    let expected = match expected {
        "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list in [ ]",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    let found = match found.split_once(": ").map_or(found, |(_, found)| found) {
        "map" => "a table",
        "sequence" => "a list",
        other => other.trim_end_matches(" as i128"),
    };
    safe_line(format!("expected {expected}, found {found}"))
}
