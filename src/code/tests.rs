//! The case tables, and hostile programs.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::*;

const DETECTION: &str = include_str!("../../tests/cases/detection.toml");
const CHECKS: &str = include_str!("../../tests/cases/checks.toml");

#[derive(Deserialize)]
struct Table<T> {
    case: Vec<T>,
}

#[derive(Deserialize)]
struct Detection {
    language: Dialect,
    code: String,
    deps: Vec<String>,
    #[serde(default)]
    optional: Vec<String>,
    python: Option<u8>,
    #[serde(default)]
    local: BTreeSet<String>,
    reason: String,
}

#[derive(Deserialize)]
struct Check {
    language: Dialect,
    code: String,
    finds: Vec<String>,
    reason: String,
}

fn names(packages: &[Requirement]) -> Vec<&str> {
    packages.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn packages_are_detected_as_the_table_says() {
    let table: Table<Detection> = toml::from_str(DETECTION).expect("a table");
    assert!(table.case.len() >= 60);
    let mut wrong = Vec::new();
    for case in &table.case {
        let around = Around {
            python: case.python.unwrap_or(USUAL_PYTHON),
            local: case.local.clone(),
        };
        let report = read(Some(case.language), case.code.as_bytes(), &around);
        let (found, optional) = (names(&report.packages), names(&report.optional));
        if found != case.deps || optional != case.optional {
            wrong.push(format!(
                "{} ({:?}): {found:?}, optional {optional:?}",
                case.reason, case.code
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn checks_find_what_the_table_says() {
    let table: Table<Check> = toml::from_str(CHECKS).expect("a table");
    assert!(table.case.len() >= 80);
    let mut wrong = Vec::new();
    for case in &table.case {
        let report = read(
            Some(case.language),
            case.code.as_bytes(),
            &Around::default(),
        );
        let told = |finding: &Finding| format!("{} {}", finding.rule, finding.severity);
        let mut found: Vec<String> = report.findings.iter().map(told).collect();
        let mut expected = case.finds.clone();
        found.sort();
        expected.sort();
        if found != expected {
            wrong.push(format!("{} ({:?}): {found:?}", case.reason, case.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn findings_say_where_they_are() {
    let source = "import os\n\ndef f():\n    os.system('ls')\n";
    let report = read(Some(Dialect::Python), source.as_bytes(), &Around::default());
    let places: Vec<_> = report
        .findings
        .iter()
        .map(|f| (f.rule, f.line, f.column))
        .collect();
    assert_eq!(places, [("py-shell", 4, 5)]);
    let shell = read(
        Some(Dialect::Bash),
        b"true\nx=$(true; rm -rf /)\n",
        &Around::default(),
    );
    let places: Vec<_> = shell
        .findings
        .iter()
        .map(|f| (f.rule, f.line, f.column))
        .collect();
    assert_eq!(places, [("sh-delete-root", 2, 11)]);
}

pub(super) const ALL: [Dialect; 4] = [
    Dialect::Python,
    Dialect::JavaScript,
    Dialect::TypeScript,
    Dialect::Bash,
];

/// Programs made to overflow stacks and to take for ever.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let deep = |piece: &str, count: usize| piece.repeat(count).into_bytes();
    let pair = |open: &str, close: &str| {
        format!("{}{}", open.repeat(100_000), close.repeat(100_000)).into_bytes()
    };
    vec![
        ("10 MB of text", deep("x = 1\n", 1_700_000)),
        ("many statements", deep("x = 1\n", 50_000)),
        ("brackets", pair("(", ")")),
        ("open brackets", deep("(", 100_000)),
        ("lists", pair("[", "]")),
        ("braces", pair("{", "}")),
        ("brackets hidden by texts", deep("(\")\"+", 100_000)),
        ("functions", deep("f(", 100_000)),
        ("sums", deep("1+", 100_000)),
        ("powers", deep("1**", 100_000)),
        ("signs", deep("-", 100_000)),
        ("nots", deep("not ", 100_000)),
        ("bangs", deep("!", 100_000)),
        (
            "attributes",
            format!("a{}", ".b".repeat(100_000)).into_bytes(),
        ),
        ("calls", format!("a{}", "()".repeat(100_000)).into_bytes()),
        ("lambdas", deep("lambda a,b:", 100_000)),
        ("arrows", deep("(a,b)=>", 100_000)),
        ("choices", deep("a if b else ", 100_000)),
        ("questions", deep("a?b:", 100_000)),
        ("conditions", deep("if(a)", 100_000)),
        ("else", deep("if(a);else ", 100_000)),
        ("blocks in else", deep("if(a){}else ", 100_000)),
        ("loops", deep("for(;;)", 100_000)),
        ("objects in sums", deep("{}+", 100_000)),
        ("labels", deep("a:", 100_000)),
        (
            "types",
            deep("let a:A<B,", 1)
                .into_iter()
                .chain(deep("A<B,", 100_000))
                .collect(),
        ),
        ("templates", deep("`${", 100_000)),
        ("classes", deep("class extends ", 100_000)),
        ("new", deep("new ", 100_000)),
        ("slashes", deep("}/(/", 100_000)),
        ("patterns", deep("a=b\n/[(]/;(", 50_000)),
        ("nested f-strings", deep("f'{", 100_000)),
        (
            "indents",
            (0..1400)
                .flat_map(|depth| format!("{}if x:\n", " ".repeat(depth)).into_bytes())
                .collect(),
        ),
        ("substitutions", deep("$(", 100_000)),
        ("quoted substitutions", deep("\"$(", 100_000)),
        ("backquotes", deep("`", 100_000)),
        ("here-documents", deep("cat <<A\n", 50_000)),
        ("functions of the shell", deep("f(){ ", 100_000)),
        ("growing variables", deep("X=$X$X$X; ", 10_000)),
        ("evals", deep("eval ", 100_000)),
        ("findings", deep("eval(x);os.system('rm -rf /');\n", 20_000)),
        ("nothing but NUL", vec![0; 100_000]),
        ("not UTF-8", vec![0xff; 100_000]),
        ("an endless line", deep("a, ", 100_000)),
        ("quotes", deep("'\"", 100_000)),
        ("escapes", deep("\\", 100_000)),
        ("newlines", deep("\n", 1_000_000)),
    ]
}

#[test]
fn hostile_programs_get_an_answer() {
    for (what, source) in hostile() {
        for dialect in ALL {
            let report = read(Some(dialect), &source, &Around::default());
            assert!(report.findings.len() <= 201, "{what}");
        }
    }
}

#[test]
fn too_large_is_said_and_not_safe() {
    let report = read(
        Some(Dialect::Python),
        &vec![b'\n'; MOST_BYTES + 1],
        &Around::default(),
    );
    assert_eq!(report.findings.first().map(|f| f.rule), Some(UNCHECKED));
    assert!(!is_safe(&report.findings, Severity::Danger));
    let deep = read(
        Some(Dialect::JavaScript),
        "(".repeat(100_000).as_bytes(),
        &Around::default(),
    );
    assert_eq!(deep.findings.first().map(|f| f.rule), Some(UNCHECKED));
}

/// Puts pieces of the case tables together at random, cuts them anywhere and damages bytes.
#[test]
fn damaged_programs_never_stop_the_reader() {
    let table: Table<Check> = toml::from_str(CHECKS).expect("a table");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |most: usize| {
        // xorshift: the same programs every time.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % most.max(1) as u64).unwrap_or(0)
    };
    for round in 0..400 {
        let mut bytes = Vec::new();
        for _ in 0..=next(4) {
            let piece = table.case[next(table.case.len())].code.as_bytes();
            let (from, to) = (next(piece.len()), next(piece.len() + 1));
            bytes.extend_from_slice(&piece[from.min(to)..from.max(to)]);
            bytes.extend_from_slice(
                [
                    &b"\n"[..],
                    b" ",
                    b"'",
                    b"\"",
                    b"(",
                    b"`",
                    b"<<E\n",
                    b"\\",
                    b"$(",
                ][next(9)],
            );
        }
        for _ in 0..next(4) {
            let at = next(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u8::try_from(next(256)).unwrap_or(0);
            }
        }
        for dialect in ALL {
            let report = read(Some(dialect), &bytes, &Around::default());
            let gave_up = report.findings.iter().any(|f| f.rule == UNCHECKED);
            assert!(
                !gave_up,
                "round {round} as {dialect:?}: {:?}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }
}
