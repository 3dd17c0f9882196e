//! Colours line by line, after edits and within the budget.

use super::*;

fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

fn finish(highlight: &mut Highlight, grammars: &Grammars, text: &[String]) {
    while highlight.advance(grammars, text, usize::MAX) {}
}

/// Writes one letter per byte of a line.
fn letters(highlight: &Highlight, row: usize) -> String {
    let mut out = String::new();
    for span in highlight.spans(row) {
        let letter = match span.code {
            Code::Plain => '.',
            Code::Keyword => 'k',
            Code::String => 's',
            Code::Comment => 'c',
            Code::Number => 'n',
            Code::Function => 'f',
            Code::Type => 't',
        };
        out.extend(std::iter::repeat_n(letter, span.end - out.len()));
    }
    out
}

fn coloured(grammars: &Grammars, token: &str, text: &str) -> String {
    let text = lines(text);
    let mut highlight = Highlight::new(text.len());
    highlight.set_token(Some(token.to_owned()));
    finish(&mut highlight, grammars, &text);
    let rows: Vec<String> = (0..text.len())
        .map(|row| letters(&highlight, row))
        .collect();
    rows.join("\n")
}

#[test]
fn colours_the_languages() {
    let grammars = Grammars::load();
    insta::assert_snapshot!(coloured(&grammars, "py", "class A(B): # c\n  def f(x):\n    return f'a{x}' + 12"), @r##"
    kkkkk.t.t...ccc
    ..kkk.f....
    ....kkkkkk.kss...s...nn
    "##);
    insta::assert_snapshot!(coloured(&grammars, "js", "const x = `a${f(1)}`; // c"), @r##"kkkkk.....ss..f.n..s..cccc"##);
    insta::assert_snapshot!(coloured(&grammars, "sh", "if true; then echo \"a $b\" # c"), @r##"kk.ffffk.kkkk.ffff.ssssss.ccc"##);
    assert_eq!(coloured(&grammars, "no such language", "if"), "");
}

#[test]
fn an_edit_is_parsed_as_if_the_text_were_new() {
    let grammars = Grammars::load();
    let mut text = lines("a = 1\n'''\nif\n'''\nif x: pass\nb = 2");
    let mut highlight = Highlight::new(text.len());
    highlight.set_token(Some("py".to_owned()));
    finish(&mut highlight, &grammars, &text);
    assert!(!letters(&highlight, 2).contains('k'));
    text.remove(1);
    highlight.splice(0, 2, 1);
    finish(&mut highlight, &grammars, &text);
    assert!(letters(&highlight, 1).starts_with("kk"));
    assert!(!letters(&highlight, 3).contains('k'));
    text.insert(1, "'''".to_owned());
    highlight.splice(0, 1, 2);
    finish(&mut highlight, &grammars, &text);
    assert!(!letters(&highlight, 2).contains('k'));
    assert!(letters(&highlight, 4).starts_with("kk"));
}

#[test]
fn an_edit_parses_one_line_and_a_big_text_takes_several_calls() {
    let grammars = Grammars::load();
    let text = vec!["x".to_owned(); 400];
    let mut highlight = Highlight::new(text.len());
    highlight.set_token(Some("py".to_owned()));
    assert!(highlight.advance(&grammars, &text, usize::MAX));
    assert!(highlight.clean <= LINES);
    finish(&mut highlight, &grammars, &text);
    highlight.splice(200, 1, 1);
    highlight.advance(&grammars, &text, 201);
    assert!(highlight.lines.iter().all(|line| line.is_fresh));
}

#[test]
fn long_lines_stay_plain() {
    let grammars = Grammars::load();
    assert_eq!(
        coloured(&grammars, "py", &format!("x = '{}'", "a".repeat(LONGEST))),
        ""
    );
}
