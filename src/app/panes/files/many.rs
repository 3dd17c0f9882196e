//! Many files of this machine copied into a sandbox at once: the last part of the path is a pattern, as in shells.

use std::path::{Path, PathBuf};

use super::ask::{say, shown};
use super::{FilesState, SandboxFolder};
use crate::app::intent::{Intent, Tone};
use crate::app::msg::Effect;
use crate::domain::glob;
use crate::text::safe_line;

/// A pattern whose folder is being listed.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    place: SandboxFolder,
    folder: PathBuf,
    pattern: String,
}

impl FilesState {
    /// Has the folder of a pattern listed; `None` if the path names one thing.
    pub(super) fn upload_many(
        &mut self,
        place: &SandboxFolder,
        path: &Path,
    ) -> Option<Vec<Intent>> {
        let pattern = path.file_name()?.to_str()?;
        if !pattern.contains(['*', '?']) {
            return None;
        }
        let folder = path.parent()?.to_path_buf();
        self.many = Some(Wanted {
            place: place.clone(),
            folder: folder.clone(),
            pattern: pattern.to_owned(),
        });
        Some(vec![Intent::Effect(Effect::ListHost { folder })])
    }

    /// Takes the names in a folder of this machine; `None` if no pattern waits for them.
    pub fn host_listed(
        &mut self,
        folder: &Path,
        names: &Result<Vec<String>, String>,
    ) -> Option<Vec<Intent>> {
        let wanted = self.many.take_if(|wanted| wanted.folder == folder)?;
        Some(match names {
            Ok(names) => self.copy_in(&wanted, names),
            Err(why) => vec![Intent::Toast(Tone::Bad, safe_line(why))],
        })
    }

    fn copy_in(&mut self, wanted: &Wanted, names: &[String]) -> Vec<Intent> {
        let names = names.iter().map(|name| name.trim_end_matches('/'));
        let fitting = names.filter(|name| fits(&wanted.pattern, name));
        let copies = fitting.filter_map(|name| {
            let to = wanted.place.folder.join(name.as_bytes()).ok()?;
            let copy = super::answer::copy_in(&wanted.place, wanted.folder.join(name), to.clone());
            Some((to, copy))
        });
        let copies: Vec<_> = copies.collect();
        let Some((first, _)) = copies.first() else {
            let pattern = shown(wanted.pattern.as_bytes());
            return say(&format!("Nothing there is called {pattern}."));
        };
        let first = first.clone();
        let is_taken = |to| self.is_taken(&wanted.place, to);
        let taken = copies.iter().filter(|(to, _)| is_taken(to)).count();
        let count = copies.len();
        let then: Vec<Intent> = copies.into_iter().map(|(_, copy)| copy).collect();
        if taken == 0 {
            self.want(&first);
            return then;
        }
        vec![Intent::Confirm {
            question: format!(
                "{taken} of {count} names exist already. Replace what has them? This cannot be undone."
            ),
            button: "Replace".to_owned(),
            then,
        }]
    }
}

/// Tells whether a name fits a pattern; as in shells, hidden names only where the pattern starts so.
fn fits(pattern: &str, name: &str) -> bool {
    let is_hidden = name.starts_with('.') && !pattern.starts_with('.');
    !is_hidden && glob::fits(pattern, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names_must_be_meant() {
        let cases = [
            ("data-?.csv", "data-1.csv", true),
            ("*", ".hidden", false),
            (".*", ".hidden", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
