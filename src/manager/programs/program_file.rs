//! What the file of a program is called in a sandbox.
//!
//! Errors and tracebacks name the file, so it is to be known by the name that people gave the program. In a sandbox of its own
//! the program has just that name. Where others work, too, their file of that name must not be touched: there the file is hidden
//! and only ends in the name, unless the same text lies there already, which then runs as it is.

use sha2::{Digest, Sha256};

use crate::code::{FILE_MARK, is_standard_module};
use crate::domain::{Sandbox, SandboxPath};
use crate::protocol::{Failure, FailureKind, Program};

/// Longest name that is kept.
const MOST_NAME: usize = 80;

/// Whose the work directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folder {
    /// The program's alone.
    Own,
    /// Others have files there.
    Shared,
}

/// Where a program's file is put, and where the same text may lie already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProgramFile {
    pub(super) path: SandboxPath,
    /// Run instead if it has the same text.
    pub(super) same: Option<SandboxPath>,
}

impl ProgramFile {
    /// Names the file of a program.
    pub(super) fn of(
        sandbox: &Sandbox,
        program: &Program,
        is_module: bool,
        folder: Folder,
    ) -> Result<Self, Failure> {
        let place = |name: &str| {
            sandbox.work_dir.join(name.as_bytes()).map_err(|error| {
                let words = format!("naming the program's file failed: {error}");
                Failure::new(FailureKind::Invalid, words)
            })
        };
        let name = plain_name(program, is_module);
        if folder == Folder::Own && !hides_others(program, &name) {
            return Ok(Self {
                path: place(&name)?,
                same: None,
            });
        }
        // What is built from a program is kept beside it, under a name that must change with the text.
        let may_stay = program.name.is_some() && program.language.dialect().is_some();
        Ok(Self {
            path: place(&hidden_name(program, &name))?,
            same: may_stay.then(|| place(&name)).transpose()?,
        })
    }
}

/// Names the file after its content, too: the same program is one file, and two programs are never mixed up.
fn hidden_name(program: &Program, name: &str) -> String {
    let digest = format!("{:x}", Sha256::digest(&program.code));
    let hash = digest.get(..12).unwrap_or(&digest);
    format!("{FILE_MARK}{hash}-{name}")
}

/// Makes a file name of plain letters of what people call the program, with an ending that its interpreter knows.
fn plain_name(program: &Program, is_module: bool) -> String {
    let given = program.name.as_deref().unwrap_or("main");
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') => c,
        _ => '_',
    };
    let name: String = given.chars().take(MOST_NAME).map(plain).collect();
    let name = name.trim_start_matches(['.', '-']);
    let name = if name.is_empty() { "main" } else { name };
    let extension = match program.language.extension() {
        // Node tells modules by their ending.
        "js" if is_module => "mjs",
        other => other,
    };
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    match ending {
        known if program.language.has_ending(known) && (known == extension || !is_module) => {
            name.to_owned()
        }
        known if program.language.has_ending(known) => format!("{stem}.{extension}"),
        _ => format!("{name}.{extension}"),
    }
}

/// Tells whether programs that import a module of Python itself would find this file instead.
fn hides_others(program: &Program, name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    is_standard_module(program.language.dialect(), program.around.python, stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Around, CheckSettings, Languages, Wanted};
    use crate::domain::{ExecId, StdinMode};
    use crate::protocol::Checks;

    fn program(language: &str, name: Option<&str>) -> Program {
        let languages = Languages::default();
        Program {
            exec: ExecId::new("x"),
            name: name.map(str::to_owned),
            code: "1".into(),
            language: languages.by_word(language).expect("a language"),
            around: Around::default(),
            checks: Checks::By(CheckSettings::OFF),
            wanted: Wanted::Nothing,
            arguments: Vec::new(),
            env: Vec::new(),
            context: None,
            stdin: StdinMode::Closed,
            timeout: None,
        }
    }

    #[test]
    fn names_are_plain_and_end_as_interpreters_want_them() {
        for (language, given, is_module, name) in [
            ("python", None, false, "main.py"),
            ("python", Some("a b.py"), false, "a_b.py"),
            ("python", Some("tool"), false, "tool.py"),
            ("python", Some(".../x"), false, "_x.py"),
            ("python", Some("notes.txt"), false, "notes.txt.py"),
            ("python", Some("-rf.pyw"), false, "rf.pyw"),
            ("javascript", Some("a.js"), false, "a.js"),
            ("javascript", Some("a.js"), true, "a.mjs"),
            ("javascript", Some("a.mjs"), true, "a.mjs"),
            ("javascript", Some("a.cjs"), false, "a.cjs"),
            ("rust", Some("…"), false, "_.rs"),
        ] {
            assert_eq!(plain_name(&program(language, given), is_module), name);
        }
    }

    #[test]
    fn hidden_names_change_with_the_text_and_end_in_the_name() {
        let one = program("python", Some("a.py"));
        let other = Program {
            code: "2".into(),
            ..one.clone()
        };
        let names = [&one, &other].map(|program| hidden_name(program, "a.py"));
        assert_ne!(names[0], names[1]);
        for name in names {
            assert!(
                name.starts_with(FILE_MARK) && name.ends_with("-a.py"),
                "{name}"
            );
        }
    }

    #[test]
    fn no_file_takes_the_place_of_a_module_of_python() {
        let hides = |language, name| hides_others(&program(language, Some(name)), name);
        assert!(hides("python", "random.py") && hides("python", "string.pyw"));
        assert!(!hides("python", "mine.py") && !hides("javascript", "random.js"));
    }
}
