//! Reads keymaps: rows of TOML, checked one by one and against each other, the user's over the built-in ones.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::key::{parse_chord, write_chord};
use super::{Action, Context, Keymap, Row};
use crate::protocol::{Failure, FailureKind};
use crate::text::{nearest, safe_line};

/// The word that takes a key's meaning away.
const UNBIND: &str = "none";

const BUILT_IN: File<'static> = File {
    name: "built-in keymap",
    text: include_str!("../../assets/keymap.toml"),
};

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRow {
    on: Spanned<String>,
    run: Spanned<String>,
    hint: Option<String>,
}

/// A checked row and the line it stands on.
struct Placed {
    row: Row,
    line: usize,
}

/// Reads the built-in keymap and puts the user's rows over it.
pub(super) fn load(user: Option<(&str, &str)>) -> Result<Keymap, Failure> {
    let mut rows = match user {
        Some((name, text)) => File::new(name, text).rows()?,
        None => Vec::new(),
    };
    let mut defaults = BUILT_IN.rows()?;
    defaults.retain(|default| !rows.iter().any(|row| overrides(row, default)));
    // The user's rows come first, so that screens show the user's keys.
    rows.append(&mut defaults);
    Ok(Keymap { rows })
}

/// Tells whether a default row gives way: to a row for the same keys, or to one that it would get in the way of.
fn overrides(row: &Row, default: &Row) -> bool {
    let clashes = row.action.is_some() && row.clashes_with(&default.keys);
    row.context == default.context && (clashes || row.keys == default.keys)
}

/// A keymap file.
struct File<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'a> File<'a> {
    fn new(name: &'a str, text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { name, text }
    }

    /// Reads and checks all rows, in the order of the file within each context.
    fn rows(&self) -> Result<Vec<Row>, Failure> {
        let tables: BTreeMap<Spanned<String>, Vec<RawRow>> =
            toml::from_str(self.text).map_err(|error| self.misread(&error))?;
        let mut placed: Vec<Placed> = Vec::new();
        for (word, rows) in &tables {
            let context = self.context(word)?;
            for row in rows {
                let next = self.row(context, row)?;
                self.refuse_clash(&next, &placed)?;
                placed.push(next);
            }
        }
        Ok(placed.into_iter().map(|placed| placed.row).collect())
    }

    fn context(&self, word: &Spanned<String>) -> Result<Context, Failure> {
        Context::by_word(word.get_ref()).ok_or_else(|| {
            let words = Context::ALL.map(Context::word);
            let line = self.line_at(word.span().start);
            let near = nearest(word.get_ref(), words).map_or_else(
                || format!("use one of: {}", words.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let word = safe_line(word.get_ref());
            self.fail(line, &format!("unknown context `{word}`; {near}"))
        })
    }

    fn row(&self, context: Context, raw: &RawRow) -> Result<Placed, Failure> {
        let line = self.line_at(raw.on.span().start);
        let keys = parse_chord(raw.on.get_ref()).map_err(|_| {
            let on = safe_line(raw.on.get_ref());
            self.fail_in(context, line, &format!("`{on}` is no key"))
                .with_hint(
                    "keys are characters or names: \"c\", \"ctrl-r\", \"f9\", \"pageup\", \"g g\"",
                )
        })?;
        if context.takes_text() && keys.first().is_some_and(|key| key.typed().is_some()) {
            let keys = write_chord(&keys);
            let message = format!("`{keys}` is text here; add ctrl or alt, or take another key");
            return Err(self.fail_in(context, line, &message));
        }
        let action = self.action(context, &raw.run)?;
        let hint = raw.hint.as_deref().map(safe_line);
        let row = Row {
            context,
            keys,
            action,
            hint,
        };
        Ok(Placed { row, line })
    }

    fn action(&self, context: Context, run: &Spanned<String>) -> Result<Option<Action>, Failure> {
        let word = run.get_ref().as_str();
        if word == UNBIND {
            return Ok(None);
        }
        if let Some(action) = Action::by_word(word) {
            return Ok(Some(action));
        }
        let words = Action::ALL.iter().map(|action| action.word());
        let near = nearest(word, words.chain([UNBIND]))
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let message = format!("unknown action `{}`{near}", safe_line(word));
        Err(self.fail_in(context, self.line_at(run.span().start), &message))
    }

    /// Refuses a row that an earlier one of the file leaves no room for.
    fn refuse_clash(&self, next: &Placed, earlier: &[Placed]) -> Result<(), Failure> {
        let same_context = |other: &&Placed| other.row.context == next.row.context;
        let mut others = earlier.iter().filter(same_context);
        let Some((other, message)) =
            others.find_map(|other| Some((other, clash(&next.row, &other.row)?)))
        else {
            return Ok(());
        };
        let message = format!("{message} on line {}", other.line);
        Err(self.fail_in(next.row.context, next.line, &message))
    }

    /// Explains a text that is no TOML, or not rows of it.
    fn misread(&self, error: &toml::de::Error) -> Failure {
        let line = self.line_at(error.span().map_or(0, |span| span.start));
        let lines = self.text.lines().take(line).map(str::trim);
        let message = safe_line(error.message());
        match lines.filter(|line| line.starts_with("[[")).last() {
            Some(header) => self.fail(line, &format!("{}: {message}", safe_line(header))),
            None => self.fail(line, &message),
        }
    }

    fn line_at(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        before.filter(|byte| **byte == b'\n').count() + 1
    }

    fn fail_in(&self, context: Context, line: usize, message: &str) -> Failure {
        self.fail(line, &format!("[[{}]]: {message}", context.word()))
    }

    fn fail(&self, line: usize, message: &str) -> Failure {
        let name = safe_line(self.name);
        Failure::new(FailureKind::Invalid, format!("{name}:{line}: {message}"))
    }
}

/// Says how two rows of one context get into each other's way, if they do.
fn clash(next: &Row, other: &Row) -> Option<String> {
    let (mine, theirs) = (write_chord(&next.keys), write_chord(&other.keys));
    if next.keys == other.keys {
        return Some(format!("`{mine}` is bound already"));
    }
    // A start that is unbound leaves the way free.
    if next.action.is_none() || other.action.is_none() || !next.clashes_with(&other.keys) {
        return None;
    }
    if next.keys.len() < other.keys.len() {
        Some(format!("`{mine}` is the start of `{theirs}`"))
    } else {
        Some(format!(
            "`{mine}` can never be pressed, since it starts with `{theirs}`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::Resolution;

    fn refusal(text: &str) -> String {
        load(Some(("keys.toml", text))).map_or_else(|failure| failure.message, |_| "fine".into())
    }

    fn resolve(user: &str, context: Context, keys: &str) -> Option<Resolution> {
        let keymap = load(Some(("keys.toml", user))).ok()?;
        let keys = parse_chord(keys).ok()?;
        let (last, chord) = keys.split_last()?;
        Some(keymap.resolve(context, chord, *last))
    }

    #[test]
    fn the_built_in_keymap_is_sound() {
        assert_eq!(load(None).map(|_| ()), Ok(()));
        assert_eq!(load(Some(("keys.toml", ""))).map(|_| ()), Ok(()));
    }

    #[test]
    fn mistakes_are_named_exactly() {
        let cases = [
            (
                "[[files]]\non = \"c\"\nrun = \"uplaod\"\n",
                "keys.toml:3: [[files]]: unknown action `uplaod`; did you mean `upload`?",
            ),
            (
                "[[files]]\non = \"c\"\nrun = \"frobnicate\"\n",
                "keys.toml:3: [[files]]: unknown action `frobnicate`",
            ),
            (
                "\n[[flies]]\non = \"c\"\nrun = \"upload\"\n",
                "keys.toml:2: unknown context `flies`; did you mean `files`?",
            ),
            (
                "[[garden]]\non = \"c\"\nrun = \"upload\"\n",
                "keys.toml:1: unknown context `garden`; use one of: global, sandboxes, editor, edit, output, files, \
                 terminal, dialog, prompt, viewer, inspect",
            ),
            (
                "[[files]]\non = \"hyper-c\"\nrun = \"upload\"\n",
                "keys.toml:2: [[files]]: `hyper-c` is no key",
            ),
            (
                "[[edit]]\non = \"c\"\nrun = \"copy\"\n",
                "keys.toml:2: [[edit]]: `c` is text here; add ctrl or alt, or take another key",
            ),
            (
                "[[files]]\non = \"c\"\nrun = \"upload\"\nkeys = 1\n",
                "keys.toml:4: [[files]]: unknown field `keys`, expected one of `on`, `run`, `hint`",
            ),
            (
                "[[global]]\non = \"c\"\nrun = \"copy\"\n\n[[files]]\non = \"c\"\n",
                "keys.toml:5: [[files]]: missing field `run`",
            ),
            (
                "[[files]]\non = 3\nrun = \"upload\"\n",
                "keys.toml:2: [[files]]: invalid type: integer `3`, expected a string",
            ),
            (
                "[files]\non = \"c\"\nrun = \"upload\"\n",
                "keys.toml:1: invalid type: map, expected a sequence",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(refusal(text), expected);
        }
    }

    #[test]
    fn clashes_within_a_file_are_named() {
        let rows = |context: &str, first: &str, second: &str| {
            refusal(&format!(
                "[[files]]\non = \"{first}\"\nrun = \"open\"\n[[{context}]]\non = \"{second}\"\nrun = \"rename\"\n"
            ))
        };
        assert_eq!(
            rows("files", "b", "b"),
            "keys.toml:5: [[files]]: `b` is bound already on line 2"
        );
        assert_eq!(
            rows("files", "b", "b x"),
            "keys.toml:5: [[files]]: `b x` can never be pressed, since it starts with `b` on line 2"
        );
        assert_eq!(
            rows("files", "b x y", "b x"),
            "keys.toml:5: [[files]]: `b x` is the start of `b x y` on line 2"
        );
        assert_eq!(rows("files", "b x", "b y"), "fine");
        assert_eq!(rows("output", "b", "b"), "fine");
    }

    #[test]
    fn rows_of_the_user_go_first() {
        let user = "[[files]]\non = \"d\"\nrun = \"download\"\n[[files]]\non = \"b d\"\nrun = \"delete\"\n";
        let files = |keys| resolve(user, Context::Files, keys);
        assert_eq!(files("d"), Some(Resolution::Run(Action::Download)));
        assert_eq!(files("b"), Some(Resolution::Pending));
        assert_eq!(files("b d"), Some(Resolution::Run(Action::Delete)));
        assert_eq!(files("e"), Some(Resolution::Run(Action::EditFile)));
        let keymap = load(Some(("keys.toml", user)));
        let keys = keymap.map(|keymap| keymap.keys_of(Context::Files, Action::Download));
        assert_eq!(keys, Ok(Some("d".into())));
    }

    #[test]
    fn a_chord_of_the_user_takes_its_start_from_the_defaults() {
        let user = "[[global]]\non = \"g g\"\nrun = \"top\"\n";
        let global = |keys| resolve(user, Context::Global, keys);
        assert_eq!(global("g"), Some(Resolution::Pending));
        assert_eq!(global("g g"), Some(Resolution::Run(Action::Top)));
        assert_eq!(global("g h"), Some(Resolution::Unbound));
    }

    #[test]
    fn none_unbinds_also_what_would_be_fallen_back_to() {
        let user = "[[files]]\non = \"q\"\nrun = \"none\"\n[[files]]\non = \"d\"\nrun = \"none\"\n";
        assert_eq!(
            resolve(user, Context::Files, "q"),
            Some(Resolution::Unbound)
        );
        assert_eq!(
            resolve(user, Context::Files, "d"),
            Some(Resolution::Unbound)
        );
        let quit = Some(Resolution::Run(Action::Quit));
        assert_eq!(resolve(user, Context::Output, "q"), quit);
    }

    #[test]
    fn an_unbound_start_leaves_the_way_free() {
        let user =
            "[[files]]\non = \"r\"\nrun = \"none\"\n[[files]]\non = \"r n\"\nrun = \"rename\"\n";
        assert_eq!(
            resolve(user, Context::Files, "r"),
            Some(Resolution::Pending)
        );
        let rename = Some(Resolution::Run(Action::Rename));
        assert_eq!(resolve(user, Context::Files, "r n"), rename);
    }

    #[test]
    fn names_in_errors_hold_no_controls() {
        let text = "[[files]]\non = \"c\"\nrun = \"\\u001b[2J\"\n";
        assert!(!refusal(text).contains('\u{1b}'));
        let failure = load(Some(("a\u{1b}b", text))).map(|_| ());
        assert!(failure.is_err_and(|failure| !failure.message.contains('\u{1b}')));
    }
}
