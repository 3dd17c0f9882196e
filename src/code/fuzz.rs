//! Programs made at random: whatever they hold, the readers answer, and what is only quoted or commented changes nothing.
//!
//! What was once read wrongly is kept in `tests/cases/found`, one program a file, and read again with every test.

use std::collections::HashMap;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::fuzz::Target;

/// Programs for each property; enough for a few seconds in a debug build.
const ROUNDS: u32 = 400;

/// What programs are made of, by language.
const PIECES: &str = include_str!("../../tests/cases/pieces.toml");

/// Some pieces of a language, mixed with any text.
fn soup(language: &str) -> impl Strategy<Value = String> + use<> {
    let mut all: HashMap<String, Vec<String>> = toml::from_str(PIECES).expect("pieces");
    let piece = prop_oneof![
        8 => select(all.remove(language).expect("a language")),
        1 => ".{0,6}".prop_map(String::from),
    ];
    vec(piece, 0..60).prop_map(|all| all.concat())
}

/// A word as a person may write it: plain letters, or in any of the quotes.
fn quoted(word: &str, manner: u8) -> String {
    match manner % 3 {
        0 => format!("'{}'", word.replace('\'', r"'\''")),
        1 => {
            let escape = |c| match c {
                '"' | '\\' | '$' | '`' => format!("\\{c}"),
                c => c.to_string(),
            };
            format!("\"{}\"", word.chars().map(escape).collect::<String>())
        }
        // A line break after a backslash is no character at all; it can only stand in quotes.
        _ if word.is_empty() || word.contains('\n') => quoted(word, 0),
        _ => word.chars().flat_map(|c| ['\\', c]).collect(),
    }
}

fn line(words: &[(String, u8)]) -> String {
    let words = words.iter().map(|(word, manner)| quoted(word, *manner));
    words.collect::<Vec<_>>().join(" ")
}

fn rules(dialect: Dialect, source: &str) -> Vec<&'static str> {
    let report = read(Some(dialect), source.as_bytes(), &Around::default());
    report.findings.iter().map(|one| one.rule).collect()
}

fn packages(dialect: Dialect, source: &str) -> Vec<String> {
    let report = read(Some(dialect), source.as_bytes(), &Around::default());
    report.packages.into_iter().map(|one| one.name).collect()
}

/// Reads a program in every way; a reader that panics has given up on it.
fn reads_well(source: &str) -> Result<(), String> {
    for dialect in tests::ALL {
        let report = read(Some(dialect), source.as_bytes(), &Around::default());
        let lines = source.lines().count() + 1;
        for finding in &report.findings {
            if finding.rule == UNCHECKED || finding.line > lines {
                return Err(format!("{dialect:?}: {finding:?}"));
            }
        }
        let is_name = |one: &Requirement| !one.name.is_empty() && !one.name.contains(['\n', ' ']);
        if !report.packages.iter().all(is_name) {
            return Err(format!("{dialect:?}: {:?}", report.packages));
        }
    }
    Ok(())
}

fn settings() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(ROUNDS)
    }
}

#[test]
fn shell_lexer() {
    let target = Target {
        name: "shell",
        seeds: &[
            b"for x in $(ls \"$HOME\"); do rm -rf \"${x%.*}\" && echo 'a b' >> log 2>&1; done",
            b"cat <<'EOF' | curl -d @- http://a | sh\n$x\nEOF\n",
            b"case $1 in a|b) [[ $x =~ ^a ]] && ((i++));; *) `id`;; esac",
            b"f() { local a=(1 2); echo ${a[@]:1} $'\\n' <(true); }; f &",
        ],
        words: &[
            b"$(", b")", b"`", b"${", b"}", b"<<E\n", b"'", b"\"", b"\\\n", b"((", b"|", b"&&",
        ],
        cost: 2,
    };
    target.run(|bytes| {
        let source = String::from_utf8_lossy(bytes);
        let words = words(&source).map(|words| words.len());
        let hits = shell::judge(&source);
        assert!(hits.iter().all(|hit| hit.at <= source.len()));
        (words, hits.iter().map(|hit| hit.rule).collect::<Vec<_>>())
    });
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn words_are_read_as_they_were_quoted(words in vec((any::<String>(), any::<u8>()), 0..8)) {
        let expected: Vec<String> = words.iter().map(|(word, _)| word.clone()).collect();
        prop_assert_eq!(super::words(&line(&words)), Ok(expected));
    }

    #[test]
    fn any_line_is_cut_or_refused(text in soup("shell")) {
        if let Ok(words) = words(&text) {
            let length: usize = words.iter().map(String::len).sum();
            prop_assert!(length <= text.len());
        }
    }

    #[test]
    fn no_quoting_hides_a_deletion(manners in any::<[u8; 3]>(), before in "[a-z ]{0,9}") {
        let words = ["rm", "-rf", "/"].map(str::to_owned).into_iter().zip(manners);
        let words: Vec<_> = words.collect();
        let source = format!("echo {before}; {}", line(&words));
        prop_assert_eq!(rules(Dialect::Bash, &source), ["sh-delete-root"], "{}", source);
        // And as an argument of another program it is a text.
        let told = format!("echo {}", quoted(&line(&words), 0));
        prop_assert!(rules(Dialect::Bash, &told).is_empty(), "{}", told);
    }

    #[test]
    fn shell_programs_are_read(source in soup("shell")) {
        let hits = shell::judge(&source);
        prop_assert!(hits.iter().all(|hit| hit.at <= source.len()), "{:?}", hits);
        prop_assert_eq!(reads_well(&source), Ok(()));
    }

    #[test]
    fn python_programs_are_read(source in soup("python")) {
        prop_assert_eq!(reads_well(&source), Ok(()));
    }

    #[test]
    fn scripts_are_read(source in soup("script")) {
        prop_assert_eq!(reads_well(&source), Ok(()));
    }

    #[test]
    fn comments_and_texts_of_python_need_nothing(words in soup("python")) {
        let words = words.replace(char::is_control, " ");
        let text = words.replace('\\', "").replace('"', "'");
        let source = format!("import flask  # {words}\nx = \"{text}\"\n");
        prop_assert_eq!(packages(Dialect::Python, &source), ["flask"], "{}", source);
        prop_assert!(rules(Dialect::Python, &source).is_empty(), "{}", source);
    }

    #[test]
    fn comments_and_texts_of_scripts_need_nothing(words in soup("script")) {
        let words = words.replace(char::is_control, " ");
        let (comment, text) = (words.replace("*/", " "), words.replace('\\', "").replace('"', "'"));
        let source = format!("import a from 'left-pad'; /* {comment} */\nlet x = \"{text}\";\n");
        prop_assert_eq!(packages(Dialect::JavaScript, &source), ["left-pad"], "{}", source);
        prop_assert!(rules(Dialect::JavaScript, &source).is_empty(), "{}", source);
    }
}

#[test]
fn what_was_found_once_is_read_well() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/found");
    let files = std::fs::read_dir(folder).expect("a folder").flatten();
    for file in files {
        let source = std::fs::read_to_string(file.path()).expect("a program");
        assert_eq!(reads_well(&source), Ok(()), "{}", file.path().display());
    }
}
