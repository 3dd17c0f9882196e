//! `check` and `deps`, and what they share with `run`: where code comes from and what it is written in.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::code_args::{CheckArgs, DepsArgs, SourceArgs};
use super::exit;
use super::print::{self, Format, Outcome};
use crate::code::{
    self, Around, Finding, Language, Languages, Requirement, Severity, Wanted, is_safe,
};
use crate::config::{Config, LoadOptions};
use crate::protocol::{Failure, FailureKind};
use crate::text::safe_line;

/// More than any program, and little enough to hold.
const MOST_SOURCE: u64 = 64 << 20;
/// Neighbours of a file that are looked at.
const MOST_NEIGHBOURS: usize = 10_000;

/// A program as it was given.
#[derive(Debug, Clone)]
pub(super) struct CodeSource {
    pub(super) bytes: Vec<u8>,
    pub(super) language: Language,
    /// The file it came from; `None` for standard input.
    pub(super) file: Option<PathBuf>,
}

impl CodeSource {
    /// Reads the code and finds out its language.
    pub(super) fn load(args: &SourceArgs, languages: &Languages) -> Result<Self, Failure> {
        // An unknown language needs no code to be told.
        let named = args
            .lang
            .as_deref()
            .map(|word| language_of(word, languages))
            .transpose()?;
        let file = args.file.clone().filter(|file| file.as_os_str() != "-");
        let bytes = match &file {
            Some(file) => read(file)?,
            None => read_stdin(args.file.is_some())?,
        };
        let language = named.or_else(|| guess(file.as_deref(), &bytes, languages));
        let language = language.ok_or_else(|| {
            Failure::new(
                FailureKind::Invalid,
                "the language of this code is not known",
            )
            .with_hint(format!(
                "give it with --lang; there is: {}",
                languages.names()
            ))
        })?;
        Ok(Self {
            bytes,
            language,
            file,
        })
    }

    /// Returns the name of its file.
    pub(super) fn name(&self) -> Option<String> {
        let name = self.file.as_deref().and_then(Path::file_name)?;
        Some(name.to_string_lossy().into_owned())
    }

    /// Tells what lies beside it.
    pub(super) fn around(&self, python: u8) -> Around {
        let folder = self.file.as_deref().and_then(Path::parent);
        let folder = folder.map(|folder| {
            if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            }
        });
        Around {
            python,
            local: folder.map(modules_in).unwrap_or_default(),
        }
    }
}

fn language_of(word: &str, languages: &Languages) -> Result<Language, Failure> {
    languages.by_word(word).ok_or_else(|| {
        Failure::new(FailureKind::Invalid, languages.unknown(word))
            .with_hint(format!("there is: {}", languages.names()))
    })
}

fn guess(file: Option<&Path>, bytes: &[u8], languages: &Languages) -> Option<Language> {
    let name = file
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy());
    let first = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let first = String::from_utf8_lossy(first.get(..200).unwrap_or(first));
    languages.guess(name.as_deref().unwrap_or_default(), &first)
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let shown = safe_line(file.as_os_str().as_encoded_bytes());
    let opened = File::open(file).and_then(take);
    let bytes = opened.map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => FailureKind::NotFound,
            _ => FailureKind::Invalid,
        };
        Failure::new(kind, format!("reading {shown} failed: {error}"))
    })?;
    within_limit(bytes, &shown)
}

fn read_stdin(asked_for: bool) -> Result<Vec<u8>, Failure> {
    let stdin = std::io::stdin();
    if !asked_for && stdin.is_terminal() {
        return Err(Failure::new(FailureKind::Invalid, "no code was given")
            .with_hint("name a file, or `-` and type the code"));
    }
    let bytes = take(stdin.lock()).map_err(|error| {
        Failure::new(
            FailureKind::Invalid,
            format!("reading standard input failed: {error}"),
        )
    })?;
    within_limit(bytes, "standard input")
}

fn take(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST_SOURCE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn within_limit(bytes: Vec<u8>, what: &str) -> Result<Vec<u8>, Failure> {
    if bytes.len() as u64 > MOST_SOURCE {
        return Err(Failure::new(
            FailureKind::Invalid,
            format!("{what} is larger than 64 MiB"),
        ));
    }
    Ok(bytes)
}

/// Lists what can be imported from a folder.
fn modules_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let module = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        match name.strip_suffix(".py") {
            Some(module) => Some(module.to_owned()),
            None => entry.path().is_dir().then_some(name),
        }
    };
    entries.take(MOST_NEIGHBOURS).filter_map(module).collect()
}

/// Finds the version of Python in the name of an image, such as `python:3.12-slim`.
pub(super) fn python_of(image: &str) -> u8 {
    let tag = image.rsplit_once("python:3.").map(|(_, tag)| tag);
    let digits: Option<String> =
        tag.map(|tag| tag.chars().take_while(char::is_ascii_digit).collect());
    digits
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(code::USUAL_PYTHON)
}

/// `check`.
pub(super) fn check(args: &CheckArgs, options: &LoadOptions, format: Format) -> Outcome<u8> {
    let config = Config::load(options)?;
    let source = CodeSource::load(&args.source, &config.languages)?;
    let around = source.around(python_of(&config.sandbox.image));
    let findings = code::read(source.language.dialect(), &source.bytes, &around).findings;
    let level = if args.strict {
        Severity::Info
    } else {
        config.sandbox.checks.level
    };
    let safe = is_safe(&findings, level);
    match format {
        Format::Json => print::json(&json!({
            "language": source.language.name(),
            "safe": safe,
            "level": level,
            "findings": findings,
        }))?,
        Format::Text => tell(&source.language, &findings)?,
    }
    Ok(if args.strict && !safe {
        exit::REFUSED
    } else {
        exit::OK
    })
}

fn tell(language: &Language, findings: &[Finding]) -> Outcome {
    for finding in findings {
        print::line(&finding_line(finding))?;
    }
    if language.dialect().is_none() {
        print::note(&format!("{} cannot be checked", language.name()));
    } else if findings.is_empty() {
        print::note("nothing found");
    }
    print::note("this check is a seat-belt; the boundary is the sandbox");
    Ok(())
}

/// Shows a finding on a line.
pub(super) fn finding_line(finding: &Finding) -> String {
    let Finding {
        rule,
        severity,
        line,
        column,
        message,
    } = finding;
    format!("{line}:{column} {severity} {rule}: {message}")
}

/// `deps`.
pub(super) fn deps(args: &DepsArgs, options: &LoadOptions, format: Format) -> Outcome<u8> {
    let config = Config::load(options)?;
    let source = CodeSource::load(&args.source, &config.languages)?;
    let python = match &args.python {
        Some(version) => python_version(version)?,
        None => python_of(&config.sandbox.image),
    };
    let report = code::read(
        source.language.dialect(),
        &source.bytes,
        &source.around(python),
    );
    let wanted = args.deps.as_deref().map_or(Wanted::Detected, Wanted::parse);
    let packages = merge(&wanted, &source.language, &report.packages)?;
    match format {
        Format::Json => print::json(&json!({
            "language": source.language.name(),
            "deps": packages.iter().map(|one| &one.name).collect::<Vec<_>>(),
            "requirements": packages.iter().map(|one| &one.text).collect::<Vec<_>>(),
            "optional": report.optional.iter().map(|one| &one.name).collect::<Vec<_>>(),
        }))?,
        Format::Text => {
            for one in &packages {
                print::line(&one.text)?;
            }
        }
    }
    Ok(exit::OK)
}

/// Puts asked for packages over the detected ones.
pub(super) fn merge(
    wanted: &Wanted,
    language: &Language,
    detected: &[Requirement],
) -> Result<Vec<Requirement>, Failure> {
    let Some(installer) = language.installer() else {
        return match wanted {
            Wanted::Also(_) => Err(Failure::new(
                FailureKind::Unsupported,
                format!("--deps: nobody installs packages for {}", language.name()),
            )),
            Wanted::Detected | Wanted::Nothing => Ok(Vec::new()),
        };
    };
    let merged = wanted.merge(installer, detected);
    merged.map_err(|message| Failure::new(FailureKind::Invalid, format!("--deps: {message}")))
}

fn python_version(text: &str) -> Result<u8, Failure> {
    let minor = text.strip_prefix("3.").and_then(|minor| minor.parse().ok());
    minor.ok_or_else(|| {
        Failure::new(
            FailureKind::Invalid,
            format!("--python: `{text}` is not a version such as 3.12"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_tell_their_python() {
        assert_eq!(python_of("python:3.9-slim"), 9);
        assert_eq!(python_of("docker.io/library/python:3.13"), 13);
        assert_eq!(python_of("node:22"), code::USUAL_PYTHON);
    }
}
