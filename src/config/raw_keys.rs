//! `[keys]` as it is written: one key or a list of keys for each action.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// Keys of one action as they are written: one, or a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct RawChords(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for RawChords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ChordsVisitor)
    }
}

struct ChordsVisitor;

impl<'de> Visitor<'de> for ChordsVisitor {
    type Value = RawChords;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key in quotes or a list of keys")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RawChords, E> {
        Ok(RawChords(vec![text.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawChords, A::Error> {
        let mut chords = Vec::new();
        while let Some(chord) = items.next_element()? {
            chords.push(chord);
        }
        Ok(RawChords(chords))
    }
}

/// `[keys]`: by context and action.
pub(super) type RawKeys = BTreeMap<String, BTreeMap<String, RawChords>>;
