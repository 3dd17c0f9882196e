//! Keys to actions, as data: one table feeds dispatch, footer, help and palette.

mod action;
mod context;
mod key;
mod load;
mod own;

pub use action::Action;
pub use context::Context;
pub use key::{Key, KeyCode, NoKey, pretty_chord};
pub use own::{BadKeys, OwnKeys};

use crate::protocol::Failure;

/// The most hints that a footer has room for.
const MOST_HINTS: usize = 8;

/// What keys mean, in every context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    rows: Vec<Row>,
}

/// One chord in one context.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    context: Context,
    keys: Vec<Key>,
    /// What it does; nothing for a row that keeps the keys from falling back.
    action: Option<Action>,
    hint: Option<String>,
}

/// What a key press comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// Do this.
    Run(Action),
    /// Wait for the rest of a chord.
    Pending,
    /// It means nothing here.
    Unbound,
}

/// A key worth showing at the bottom of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint<'a> {
    /// The keys as people write them.
    pub keys: String,
    /// What they do.
    pub action: Action,
    /// That in a word or two.
    pub label: &'a str,
}

/// An action with all keys of one context that do it, for help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// What is done.
    pub action: Action,
    /// The chords as people write them.
    pub keys: Vec<String>,
}

impl Keymap {
    /// Returns the keys as they are when nothing is changed.
    ///
    /// # Errors
    /// The program itself is broken.
    pub fn built_in() -> Result<Self, Failure> {
        load::built_in()
    }

    /// Returns the built-in keys with a person's own over them.
    ///
    /// # Errors
    /// A context, action or key is unknown, or two actions have the same keys.
    pub fn with(own: &OwnKeys) -> Result<Self, BadKeys> {
        let built_in = load::built_in().map_err(|failure| BadKeys {
            context: String::new(),
            action: None,
            message: failure.message,
        })?;
        own::lay_over(built_in, own)
    }

    /// Finds what a key does after the keys of an unfinished chord.
    #[must_use]
    pub fn resolve(&self, context: Context, chord: &[Key], key: Key) -> Resolution {
        let keys = chord.iter().copied().chain([key]);
        let pressed: Vec<Key> = keys.map(Key::normal).collect();
        context
            .layers()
            .find_map(|layer| self.resolve_in(layer, &pressed))
            .unwrap_or(Resolution::Unbound)
    }

    fn resolve_in(&self, context: Context, pressed: &[Key]) -> Option<Resolution> {
        let rows = || {
            self.rows_in(context)
                .filter(|row| row.keys.starts_with(pressed))
        };
        // Only a start that is unbound can have a chord that goes on from it.
        if rows().any(|row| row.action.is_some() && row.keys.len() > pressed.len()) {
            return Some(Resolution::Pending);
        }
        let row = rows().find(|row| row.keys == pressed)?;
        Some(row.action.map_or(Resolution::Unbound, Resolution::Run))
    }

    /// Returns the hints of a context, most useful first; those of [`Context::Global`] are not among them.
    #[must_use]
    pub fn hints(&self, context: Context) -> Vec<Hint<'_>> {
        self.rows_in(context)
            .filter_map(Row::hint)
            .take(MOST_HINTS)
            .collect()
    }

    /// Returns the keys that do something in a context, by its own row or a global one.
    #[must_use]
    pub fn keys_of(&self, context: Context, action: Action) -> Option<String> {
        let has_action = |row: &&Row| row.action == Some(action);
        context
            .layers()
            .flat_map(|layer| self.rows_in(layer))
            .filter(has_action)
            .find(|row| row.context == context || !self.is_hidden(context, row))
            .map(|row| pretty_chord(&row.keys))
    }

    /// Tells whether a global row is out of reach, since the context uses its keys otherwise.
    fn is_hidden(&self, context: Context, global: &Row) -> bool {
        self.rows_in(context)
            .any(|row| row.clashes_with(&global.keys))
    }

    /// Returns the actions of a context's own rows with their keys, in the order of the keymap.
    #[must_use]
    pub fn rows(&self, context: Context) -> Vec<Binding> {
        let mut bindings: Vec<Binding> = Vec::new();
        for row in self.rows_in(context) {
            let Some(action) = row.action else { continue };
            let keys = pretty_chord(&row.keys);
            match bindings.iter_mut().find(|binding| binding.action == action) {
                Some(binding) => binding.keys.push(keys),
                None => bindings.push(Binding {
                    action,
                    keys: vec![keys],
                }),
            }
        }
        bindings
    }

    /// Writes all keys as `[keys]` of the settings takes them, each with what it does.
    #[must_use]
    pub fn to_toml(&self) -> String {
        own::write(self)
    }

    /// Unbinds all that changes something, for read-only mode; no key gets another meaning by that.
    #[must_use]
    pub fn without_mutations(mut self) -> Self {
        for row in &mut self.rows {
            row.action = row.action.filter(|action| !action.mutates());
        }
        self
    }

    fn rows_in(&self, context: Context) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.context == context)
    }
}

impl Row {
    fn hint(&self) -> Option<Hint<'_>> {
        Some(Hint {
            keys: pretty_chord(&self.keys),
            action: self.action?,
            label: self.hint.as_deref()?,
        })
    }

    /// Tells whether one of two chords is the start of the other, or both are the same.
    fn clashes_with(&self, keys: &[Key]) -> bool {
        self.keys.starts_with(keys) || keys.starts_with(&self.keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keymap() -> Keymap {
        Keymap::built_in().expect("a sound keymap")
    }

    fn press(keymap: &Keymap, context: Context, key: &str) -> Resolution {
        key.parse()
            .map_or(Resolution::Unbound, |key| keymap.resolve(context, &[], key))
    }

    #[test]
    fn every_action_is_reachable() {
        let keymap = keymap();
        for action in Action::ALL {
            let mut contexts = Context::ALL.into_iter();
            let is_bound = contexts.any(|context| keymap.keys_of(context, *action).is_some());
            assert!(is_bound, "{}", action.word());
        }
    }

    #[test]
    fn no_chord_is_the_start_of_another() {
        let keymap = keymap();
        for (i, row) in keymap.rows.iter().enumerate() {
            let clashing =
                |other: &&Row| other.context == row.context && other.clashes_with(&row.keys);
            let others = keymap.rows.iter().skip(i + 1);
            assert_eq!(others.clone().find(clashing), None, "{row:?}");
        }
    }

    #[test]
    fn text_is_never_bound_where_it_is_typed() {
        let keymap = keymap();
        for context in [Context::Edit, Context::Terminal, Context::Prompt] {
            for row in keymap.rows_in(context) {
                assert!(row.keys.iter().all(|key| key.typed().is_none()), "{row:?}");
            }
            for c in (' '..='~').chain("ß漢🙂".chars()) {
                let key = Key::plain(KeyCode::Char(c));
                assert_eq!(keymap.resolve(context, &[], key), Resolution::Unbound);
            }
        }
    }

    #[test]
    fn shells_keep_all_keys_but_three() {
        let keymap = keymap();
        let keys: Vec<String> = keymap
            .rows(Context::Terminal)
            .into_iter()
            .flat_map(|binding| binding.keys)
            .collect();
        assert_eq!(keys, ["Ctrl+Q", "Shift+PgUp", "Shift+PgDn"]);
        for key in ["f1", "f9", "ctrl-c", "esc", "pageup", "tab"] {
            assert_eq!(press(&keymap, Context::Terminal, key), Resolution::Unbound);
        }
    }

    #[test]
    fn panes_fall_back_and_overlays_do_not() {
        let keymap = keymap();
        let table = [
            (Context::Files, "q", Resolution::Run(Action::Quit)),
            (Context::Viewer, "q", Resolution::Run(Action::Back)),
            (Context::Viewer, "j", Resolution::Run(Action::Down)),
            (Context::Files, "d", Resolution::Run(Action::Delete)),
            (Context::Sandboxes, "d", Resolution::Run(Action::Remove)),
            (Context::Output, "shift-g", Resolution::Run(Action::Bottom)),
            (Context::Edit, "ctrl-z", Resolution::Run(Action::Undo)),
            (Context::Editor, "ctrl-z", Resolution::Run(Action::Suspend)),
            (Context::Dialog, "q", Resolution::Unbound),
            (Context::Dialog, "f9", Resolution::Unbound),
            (Context::Prompt, "f9", Resolution::Unbound),
            (Context::Edit, "pageup", Resolution::Unbound),
        ];
        for (context, key, expected) in table {
            assert_eq!(press(&keymap, context, key), expected, "{context:?} {key}");
        }
    }

    #[test]
    fn modes_are_left_by_the_same_key_everywhere() {
        let keymap = keymap();
        for context in [Context::Global, Context::Edit, Context::Terminal] {
            let left = Resolution::Run(Action::Leave);
            assert_eq!(press(&keymap, context, "ctrl-q"), left);
        }
    }

    #[test]
    fn keys_are_found_for_actions() {
        let keymap = keymap();
        let keys = |context, action| keymap.keys_of(context, action);
        assert_eq!(keys(Context::Files, Action::Quit), Some("q".into()));
        assert_eq!(keys(Context::Edit, Action::Quit), None);
        // In the viewer `q` goes back, so it does not quit there.
        assert_eq!(keys(Context::Viewer, Action::Quit), None);
        assert_eq!(keys(Context::Edit, Action::Run), Some("F9".into()));
        assert_eq!(
            keys(Context::Terminal, Action::PageUp),
            Some("Shift+PgUp".into())
        );
    }

    #[test]
    fn every_context_has_hints_that_fit() {
        let keymap = keymap();
        for context in Context::ALL {
            let hints = keymap.hints(context);
            assert!((2..=MOST_HINTS).contains(&hints.len()), "{context:?}");
            let all = keymap.rows_in(context).filter(|row| row.hint.is_some());
            assert_eq!(all.count(), hints.len(), "{context:?}");
        }
        let hint = Hint {
            keys: "c".into(),
            action: Action::Create,
            label: "create",
        };
        assert_eq!(keymap.hints(Context::Sandboxes).first(), Some(&hint));
    }

    #[test]
    fn help_gathers_the_keys_of_an_action() {
        let open = Binding {
            action: Action::Open,
            keys: vec!["Enter".into(), "l".into(), "Right".into()],
        };
        assert_eq!(keymap().rows(Context::Files).first(), Some(&open));
    }

    #[test]
    fn read_only_maps_change_nothing() {
        let keymap = keymap().without_mutations();
        for action in Action::ALL.iter().filter(|action| action.mutates()) {
            for context in Context::ALL {
                assert_eq!(keymap.keys_of(context, *action), None);
            }
        }
        assert_eq!(press(&keymap, Context::Sandboxes, "d"), Resolution::Unbound);
        assert_eq!(
            press(&keymap, Context::Sandboxes, "i"),
            Resolution::Run(Action::Inspect)
        );
        assert!(
            keymap
                .hints(Context::Sandboxes)
                .iter()
                .all(|hint| !hint.action.mutates())
        );
    }
}
