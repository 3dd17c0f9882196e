//! The rules are worth as much as their reading of the source: small sources with known answers.

use std::collections::BTreeSet;

use super::cycles::{OwnFile, graphs, largest_cycle};
use super::figures::{is_explained, takes_tuple};
use super::source::Source;
use super::tokens::{tokens, without_tests};

fn words(text: &str) -> String {
    let all = tokens(text).into_iter().map(|token| token.text);
    all.collect::<Vec<_>>().join(" ")
}

#[test]
fn comments_and_literals_say_nothing() {
    assert_eq!(words("a /* b /* c */ d */ e // f\n/// g\nh"), "a e h");
    assert_eq!(
        words(r#"f("a::b \" c", '"', '\'', b'x')"#),
        "f ( \" , ' , ' , b ' )"
    );
    assert_eq!(words("r#\"use \"x\"::y\"# z"), "\" z");
    assert_eq!(
        words("fn f<'a>(x: &'a str) -> A::B"),
        "fn f < > ( x : & str ) -> A :: B"
    );
}

#[test]
fn tests_are_told_from_production() {
    let text = "a();\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n    b();\n}\n#[cfg(test)]\nuse x::{y, z};\nc();\n#[cfg(test)]\nmod fuzz;\n";
    let parts = without_tests(&tokens(text));
    let left: Vec<String> = parts.production.into_iter().map(|t| t.text).collect();
    assert_eq!(left.join(" "), "a ( ) ; c ( ) ;");
    assert_eq!(parts.test_lines, 9);
    assert_eq!(parts.test_modules, ["fuzz"]);
}

/// Returns the largest circle of the folder `src/a`.
fn circle(files: &[(&str, &str)]) -> BTreeSet<String> {
    let sources: Vec<Source> = files.iter().map(|(n, t)| Source::new(n, t)).collect();
    largest_cycle(&graphs(&sources, OwnFile::IsLeftOut)["src/a"])
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn circles_are_found_however_a_name_is_reached() {
    let own = (
        "src/a/mod.rs",
        "pub mod b; mod c; mod d; pub use c::C; use d::D;",
    );
    let c = ("src/a/c.rs", "fn f() { super::d::g(); }");
    let d = (
        "src/a/d/e.rs",
        "use crate::a::{b::{self, X}, Y}; fn f() { b::h(); }",
    );
    for b in [
        "use super::C;",
        "fn f(x: super::C) {}",
        "use super::{self as up}; fn f(x: up::C) {}",
        "use crate::a as room; fn f() -> room::c::Z {}",
    ] {
        assert_eq!(
            circle(&[own, ("src/a/b.rs", b), c, d]),
            names(&["b", "c", "d"]),
            "{b}"
        );
    }
}

#[test]
fn what_is_no_use_makes_no_circle() {
    let own = (
        "src/a/mod.rs",
        "pub mod b; pub mod c; pub use c::C; pub use b::B; pub struct A;",
    );
    let b = ("src/a/b.rs", "use super::{A, C};");
    for c in [
        "//! Used by [`super::b::B`].\nuse super::A;",
        "use super::A;\n#[cfg(test)]\nmod tests { use super::super::b::B; }",
        "use std::b::B;",
        "pub(in crate::a::b) struct C;",
        "fn f() { let text = \"super::b::B\"; }",
        "use super::b;",
    ] {
        assert_eq!(circle(&[own, b, ("src/a/c.rs", c)]), names(&[]), "{c}");
    }
}

#[test]
fn tuples_are_found_among_parameters_only() {
    for (signature, expected) in [
        ("fn f((a, b): (A, B))", true),
        ("fn f<T: Fn(A) -> B>(a: A, both: &'a mut (A, B))", true),
        ("fn f(a: A) -> (A, B)", false),
        ("fn f(a: Vec<(A, B)>, done: ())", false),
        ("fn f(a: impl Fn((A, B)) -> C, b: &[(A, B)])", false),
    ] {
        assert_eq!(takes_tuple(&tokens(signature)), expected, "{signature}");
    }
}

#[test]
fn reasons_stand_right_above_unsafe_blocks() {
    for (lines, expected) in [
        (&["// SAFETY: x", "unsafe { f() };"][..], true),
        (
            &[
                "// SAFETY: x,",
                "// and y",
                "let a =",
                "    unsafe { f() };",
            ],
            true,
        ),
        (&["// SAFETY: x", "a();", "unsafe { f() };"], false),
        (&["unsafe { f() };"], false),
    ] {
        assert_eq!(is_explained(lines), expected, "{lines:?}");
    }
}
