//! How the dashboard looks and which keys it has: `[ui]` and `[keys]`.

use super::error::{BadValue, KeyPath, suggest};
use super::raw::{RawConfig, RawUi};
use super::raw_keys::{RawChords, RawKeys};
use crate::keymap::{Keymap, OwnKeys};
use crate::text::safe_line;

/// Which colours the dashboard has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeChoice {
    /// What fits the terminal.
    Auto,
    /// For dark terminals.
    Dark,
    /// For light terminals.
    Light,
    /// Strong differences.
    Contrast,
    /// No colours.
    Mono,
}

impl ThemeChoice {
    /// All choices.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Dark,
        Self::Light,
        Self::Contrast,
        Self::Mono,
    ];

    /// Returns the word in the settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Contrast => "contrast",
            Self::Mono => "mono",
        }
    }
}

/// Whether only ASCII characters are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsciiChoice {
    /// If the locale is not UTF-8.
    Auto,
    /// Yes.
    Always,
    /// No.
    Never,
}

impl AsciiChoice {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Always, Self::Never];

    /// Returns the word in the settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// How the dashboard looks, and its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UiSettings {
    /// Its colours.
    pub theme: ThemeChoice,
    /// Only ASCII characters?
    pub ascii: AsciiChoice,
    /// Is the mouse its own?
    pub mouse: bool,
    /// Is the layout kept for the next time?
    pub remember: bool,
    /// Keys that are not the built-in ones.
    pub keys: OwnKeys,
}

/// Reads `[ui]` and `[keys]`.
pub(super) fn settings(raw: &RawConfig) -> Result<UiSettings, BadValue> {
    let RawUi {
        theme,
        ascii,
        mouse,
        remember,
    } = &raw.ui;
    let at = KeyPath::new(&["ui"]);
    Ok(UiSettings {
        theme: at.read("theme", theme.as_deref(), self::theme)?,
        ascii: at.read("ascii", ascii.as_deref(), self::ascii)?,
        mouse: at.read("mouse", *mouse, Ok)?,
        remember: at.read("remember", *remember, Ok)?,
        keys: keys(&raw.keys)?,
    })
}

/// Writes `[ui]` and `[keys]`.
pub(super) fn raw(ui: &UiSettings) -> (RawUi, RawKeys) {
    let own = ui.keys.iter().map(|(context, actions)| {
        let actions = actions.iter();
        let actions = actions.map(|(action, keys)| (action.clone(), RawChords(keys.clone())));
        (context.clone(), actions.collect())
    });
    let raw = RawUi {
        theme: Some(ui.theme.word().to_owned()),
        ascii: Some(ui.ascii.word().to_owned()),
        mouse: Some(ui.mouse),
        remember: Some(ui.remember),
    };
    (raw, own.collect())
}

fn theme(word: &str) -> Result<ThemeChoice, String> {
    let known = ThemeChoice::ALL.into_iter().find(|c| c.word() == word);
    known.ok_or_else(|| {
        let hint = suggest(word, ThemeChoice::ALL.map(ThemeChoice::word));
        format!("`{}` is not a theme; {hint}", safe_line(word))
    })
}

fn ascii(word: &str) -> Result<AsciiChoice, String> {
    let known = AsciiChoice::ALL.into_iter().find(|c| c.word() == word);
    known.ok_or_else(|| {
        let hint = suggest(word, AsciiChoice::ALL.map(AsciiChoice::word));
        format!("`{}` is no answer here; {hint}", safe_line(word))
    })
}

/// Reads own keys; that they make a keymap is seen by making one. Where there are none, no command waits for that.
fn keys(raw: &RawKeys) -> Result<OwnKeys, BadValue> {
    if raw.is_empty() {
        return Ok(OwnKeys::new());
    }
    let own: OwnKeys = raw
        .iter()
        .map(|(context, actions)| {
            let actions = actions.iter();
            let actions = actions.map(|(action, chords)| (action.clone(), chords.0.clone()));
            (context.clone(), actions.collect())
        })
        .collect();
    match Keymap::with(&own) {
        Ok(_) => Ok(own),
        Err(bad) => {
            let context = KeyPath::new(&["keys"]).key(&bad.context);
            let at = bad
                .action
                .map_or(context.clone(), |word| context.key(&word));
            Err(BadValue::new(at, bad.message))
        }
    }
}
