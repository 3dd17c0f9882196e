//! What `doctor` says of the record.

use std::path::{Path, PathBuf};

use super::open;
use crate::domain::Check;
use crate::protocol::Failure;

/// What is checked.
const NAME: &str = "store";

/// Judges an answer of the store and what lies beside its file.
pub(super) fn check(
    file: Option<&Path>,
    asked: &Result<i64, Failure>,
    damage: Option<Failure>,
) -> Check {
    let Some(file) = file else {
        return Check::ok(NAME, "in memory; nothing is kept beyond this process");
    };
    let aside = open::damaged(file);
    match asked {
        Err(failure) => Check::fail(
            NAME,
            &failure.message,
            failure.hint.clone().unwrap_or_default(),
        ),
        Ok(_) if !aside.is_empty() => Check::warn(NAME, words(&aside, damage), remedy(&aside)),
        Ok(runs) => Check::ok(NAME, format!("{}, {runs} runs", file.display())),
    }
}

fn words(aside: &[PathBuf], damage: Option<Failure>) -> String {
    let last = aside.last().map(|file| file.display().to_string());
    let before = format!(
        "it was damaged before; set aside: {}, the last of them as {}",
        aside.len(),
        last.unwrap_or_default()
    );
    damage.map_or(before, |damage| damage.message)
}

fn remedy(aside: &[PathBuf]) -> String {
    let folder = aside.last().and_then(|file| file.parent());
    format!(
        "check the disk; what was known then can be read with `sqlite3 FILE .recover`; delete store.db.damaged-* in {} when you \
         do not need it",
        folder.map_or_else(String::new, |folder| folder.display().to_string())
    )
}
