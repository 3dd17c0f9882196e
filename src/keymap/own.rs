//! A person's own keys, laid over the built-in ones: `[keys.CONTEXT]` of the settings, action by action.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::key::{parse_chord, write_chord};
use super::{Action, Context, Key, Keymap, Row};
use crate::protocol::{Failure, FailureKind};
use crate::text::{nearest, pad, safe_line};

/// The word that takes the meaning of keys away.
const UNBIND: &str = "none";

/// Keys as the settings hold them: by context and action.
pub type OwnKeys = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// Keys that cannot be, and where they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadKeys {
    /// The context as it is written.
    pub context: String,
    /// The action as it is written, unless the context itself is wrong.
    pub action: Option<String>,
    /// What is wrong with it, and what would do.
    pub message: String,
}

impl From<BadKeys> for Failure {
    fn from(bad: BadKeys) -> Self {
        let action = bad.action.map(|action| format!(".{action}"));
        let at = format!("keys.{}{}", bad.context, action.unwrap_or_default());
        Self::new(FailureKind::Invalid, format!("`{at}`: {}", bad.message))
    }
}

/// Keys of one action in one context, read.
struct Own {
    context: Context,
    /// None takes the meaning of the keys away.
    action: Option<Action>,
    chords: Vec<Vec<Key>>,
}

/// Lays own keys over a keymap: an action has only the keys that are given for it, and a built-in key that is in the way
/// of a given one loses its meaning there.
pub(super) fn lay_over(keymap: Keymap, own: &OwnKeys) -> Result<Keymap, BadKeys> {
    let own = read(own)?;
    let mut rows = Vec::new();
    let mut placed = vec![false; own.len()];
    for row in keymap.rows {
        let same = |own: &Own| own.context == row.context && own.action == row.action;
        match own.iter().zip(&mut placed).find(|(own, _)| same(own)) {
            // Where the first built-in key was, so that the hints keep their order.
            Some((own, is_placed)) if !*is_placed => {
                *is_placed = true;
                rows.extend(own.rows(row.hint.as_deref()));
            }
            Some(_) => {}
            None if own.iter().any(|own| own.takes_from(&row)) => {}
            None => rows.push(row),
        }
    }
    let unplaced = own.iter().zip(placed).filter(|(_, is_placed)| !is_placed);
    rows.extend(unplaced.flat_map(|(own, _)| own.rows(None)));
    Ok(Keymap { rows })
}

impl Own {
    /// Makes the rows; the first one is shown at the bottom of the screen.
    fn rows<'a>(&'a self, hint: Option<&'a str>) -> impl Iterator<Item = Row> + 'a {
        let hints = std::iter::once(hint).chain(std::iter::repeat(None));
        self.chords.iter().zip(hints).map(|(keys, hint)| Row {
            context: self.context,
            keys: keys.clone(),
            action: self.action,
            hint: hint.map(str::to_owned),
        })
    }

    /// Tells whether a row gives way: to the same keys, or to ones that it would get in the way of.
    fn takes_from(&self, row: &Row) -> bool {
        let in_the_way = |keys: &Vec<Key>| {
            row.keys == *keys || (self.action.is_some() && row.clashes_with(keys))
        };
        self.context == row.context && self.chords.iter().any(in_the_way)
    }
}

/// Writes all keys in the form in which own ones are read.
pub(super) fn write(keymap: &Keymap) -> String {
    let mut text = String::new();
    for context in Context::ALL {
        let _ = writeln!(text, "[keys.{}]", context.word());
        let mut words: Vec<&str> = Vec::new();
        for row in keymap.rows_in(context) {
            let word = row.action.map_or(UNBIND, Action::word);
            if !words.contains(&word) {
                words.push(word);
                let line = write_action(keymap, context, row.action, word);
                let _ = writeln!(text, "{line}");
            }
        }
        text.push('\n');
    }
    text
}

fn write_action(keymap: &Keymap, context: Context, action: Option<Action>, word: &str) -> String {
    let rows = keymap.rows_in(context).filter(|row| row.action == action);
    // A key is quoted as TOML does it, which for its few characters is as Rust does it.
    let keys: Vec<String> = rows
        .map(|row| format!("{:?}", write_chord(&row.keys)))
        .collect();
    let line = format!("{word} = [{}]", keys.join(", "));
    let sentence = action.map_or("Does nothing", Action::sentence);
    format!("{} # {sentence}", pad(&line, 40.max(line.len())))
}

fn read(own: &OwnKeys) -> Result<Vec<Own>, BadKeys> {
    let mut all = Vec::new();
    for (word, actions) in own {
        let context = context(word)?;
        let mut known: Vec<(Vec<Key>, &str)> = Vec::new();
        for (action, keys) in actions {
            let bad = |message| BadKeys {
                context: word.clone(),
                action: Some(action.clone()),
                message,
            };
            let read = read_action(context, action, keys).map_err(bad)?;
            for chord in &read.chords {
                refuse_clash(chord, &known).map_err(bad)?;
                known.push((chord.clone(), action));
            }
            all.push(read);
        }
    }
    Ok(all)
}

fn context(word: &str) -> Result<Context, BadKeys> {
    let words = Context::ALL.map(Context::word);
    Context::by_word(word).ok_or_else(|| BadKeys {
        context: word.to_owned(),
        action: None,
        message: match nearest(word, words) {
            Some(near) => format!("there are no keys for this; did you mean `{near}`?"),
            None => format!(
                "there are no keys for this; use one of: {}",
                words.join(", ")
            ),
        },
    })
}

fn read_action(context: Context, word: &str, keys: &[String]) -> Result<Own, String> {
    let action = match word {
        UNBIND => None,
        word => Some(Action::by_word(word).ok_or_else(|| unknown_action(word))?),
    };
    let chord = |text: &String| read_chord(context, text);
    let chords = keys.iter().map(chord).collect::<Result<_, _>>()?;
    Ok(Own {
        context,
        action,
        chords,
    })
}

fn unknown_action(word: &str) -> String {
    let words = Action::ALL.iter().map(|action| action.word());
    match nearest(word, words.chain([UNBIND])) {
        Some(near) => format!("there is no such action; did you mean `{near}`?"),
        None => "there is no such action; `sandtop config keys` lists them".to_owned(),
    }
}

fn read_chord(context: Context, text: &str) -> Result<Vec<Key>, String> {
    let keys = parse_chord(text).map_err(|_| {
        let text = safe_line(text);
        format!(
            "`{text}` is no key; write one such as \"c\", \"ctrl-r\", \"f9\", \"pageup\" or \"g g\""
        )
    })?;
    if context.takes_text() && keys.first().is_some_and(|key| key.typed().is_some()) {
        let keys = write_chord(&keys);
        return Err(format!(
            "`{keys}` is text here; add ctrl or alt, or take another key"
        ));
    }
    Ok(keys)
}

/// Refuses keys that an action before leaves no room for.
fn refuse_clash(keys: &[Key], known: &[(Vec<Key>, &str)]) -> Result<(), String> {
    let clash = |(other, _): &&(Vec<Key>, &str)| keys.starts_with(other) || other.starts_with(keys);
    let Some((other, action)) = known.iter().find(clash) else {
        return Ok(());
    };
    let (mine, theirs) = (write_chord(keys), write_chord(other));
    Err(if mine == theirs {
        format!("`{mine}` is given to `{action}` too")
    } else {
        format!("`{mine}` and `{theirs}` of `{action}` begin with the same key")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::Resolution;

    fn keymap(text: &str) -> Result<Keymap, BadKeys> {
        let own: OwnKeys = toml::from_str(text).expect("TOML");
        Keymap::with(&own)
    }

    fn refusal(text: &str) -> String {
        match keymap(text) {
            Ok(_) => "fine".into(),
            Err(bad) => {
                let action = bad.action.map(|action| format!(".{action}"));
                format!(
                    "{}{}: {}",
                    bad.context,
                    action.unwrap_or_default(),
                    bad.message
                )
            }
        }
    }

    fn resolve(own: &str, context: Context, keys: &str) -> Option<Resolution> {
        let keymap = keymap(own).ok()?;
        let keys = parse_chord(keys).ok()?;
        let (last, chord) = keys.split_last()?;
        Some(keymap.resolve(context, chord, *last))
    }

    #[test]
    fn mistakes_are_named_with_the_nearest_word() {
        let cases = [
            (
                "[files]\nuplaod = ['c']",
                "files.uplaod: there is no such action; did you mean `upload`?",
            ),
            (
                "[files]\nfrobnicate = ['c']",
                "files.frobnicate: there is no such action; `sandtop config keys` lists them",
            ),
            (
                "[flies]\nupload = ['c']",
                "flies: there are no keys for this; did you mean `files`?",
            ),
            (
                "[garden]\nupload = ['c']",
                "garden: there are no keys for this; use one of: global, sandboxes, editor, edit, output, files, \
                 terminal, dialog, prompt, viewer, inspect, history",
            ),
            (
                "[files]\nupload = ['hyper-c']",
                "files.upload: `hyper-c` is no key; write one such as \"c\", \"ctrl-r\", \"f9\", \"pageup\" or \"g g\"",
            ),
            (
                "[edit]\ncopy = ['c']",
                "edit.copy: `c` is text here; add ctrl or alt, or take another key",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(refusal(text), expected);
        }
        assert!(!refusal("[files]\nopen = [\"\\u001b[2J\"]").contains('\u{1b}'));
    }

    #[test]
    fn clashes_are_mistakes() {
        let two = |first: &str, second: &str| {
            refusal(&format!(
                "[files]\nopen = ['{first}']\nrename = ['{second}']"
            ))
        };
        assert_eq!(two("b", "b"), "files.rename: `b` is given to `open` too");
        let start = "files.rename: `b x` and `b` of `open` begin with the same key";
        assert_eq!(two("b", "b x"), start);
        assert_eq!(two("b x", "b y"), "fine");
        let twice = refusal("[files]\nopen = ['b', 'b']");
        assert_eq!(twice, "files.open: `b` is given to `open` too");
        let apart = refusal("[files]\nopen = ['b']\n[output]\nwrap = ['b']");
        assert_eq!(apart, "fine");
    }

    #[test]
    fn an_action_has_the_keys_that_are_given_and_no_others() {
        let own = "[files]\ndownload = ['d', 'ctrl-o']\ndelete = ['b d']";
        let files = |keys| resolve(own, Context::Files, keys);
        let download = Some(Resolution::Run(Action::Download));
        assert_eq!((files("d"), files("ctrl-o")), (download, download));
        assert_eq!(files(">"), Some(Resolution::Unbound));
        assert_eq!(files("b"), Some(Resolution::Pending));
        assert_eq!(files("b d"), Some(Resolution::Run(Action::Delete)));
        assert_eq!(files("e"), Some(Resolution::Run(Action::EditFile)));
        let gone = "[global]\nquit = []";
        let quit = resolve(gone, Context::Files, "q");
        assert_eq!(quit, Some(Resolution::Unbound));
    }

    #[test]
    fn the_screen_shows_the_given_keys_in_the_old_place() {
        let keymap = keymap("[sandboxes]\nopen = ['f12', 'enter']").expect("keys");
        let hints = keymap.hints(Context::Sandboxes);
        let shown: Vec<&str> = hints.iter().map(|hint| hint.keys.as_str()).collect();
        assert_eq!(shown.get(..3), Some(&["c", "F12", "x"][..]));
    }

    #[test]
    fn a_chord_takes_its_start_from_the_built_in_keys() {
        let own = "[global]\ntop = ['g g']";
        let global = |keys| resolve(own, Context::Global, keys);
        assert_eq!(global("g"), Some(Resolution::Pending));
        assert_eq!(global("g g"), Some(Resolution::Run(Action::Top)));
        assert_eq!(global("g h"), Some(Resolution::Unbound));
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        let keymap = keymap("[files]\nnone = ['q']\nopen = ['g \"']").expect("keys");
        let text = keymap.to_toml();
        let mut tables: BTreeMap<String, OwnKeys> = toml::from_str(&text).expect("TOML");
        let again = Keymap::with(&tables.remove("keys").expect("keys")).expect("a keymap");
        for row in &keymap.rows {
            let same = |other: &&Row| {
                (other.context, &other.keys, other.action) == (row.context, &row.keys, row.action)
            };
            assert_eq!(again.rows.iter().filter(same).count(), 1, "{row:?}");
        }
        assert_eq!(again.rows.len(), keymap.rows.len());
        assert!(
            text.contains("quit = [\"q\"]") && text.contains("# Quit"),
            "{text}"
        );
    }

    #[test]
    fn none_unbinds_also_what_would_be_fallen_back_to() {
        let own = "[files]\nnone = ['q', 'd']";
        for keys in ["q", "d"] {
            let files = resolve(own, Context::Files, keys);
            assert_eq!(files, Some(Resolution::Unbound));
        }
        let quit = Some(Resolution::Run(Action::Quit));
        assert_eq!(resolve(own, Context::Output, "q"), quit);
    }
}
