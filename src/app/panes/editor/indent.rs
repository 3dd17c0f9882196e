//! Indentation: kept by Enter, made by Tab, for one line or the selected ones.

use super::buffer::Buffer;
use super::columns::{TAB, column_of};
use super::text::{Reach, slice};
use crate::code::{Dialect, Language};

/// Breaks the line and indents as deep as it was, and deeper after what opens a block.
pub(super) fn break_line(buffer: &mut Buffer) {
    let (row, at) = buffer
        .text
        .selection()
        .map_or_else(|| buffer.text.cursor(), |(start, _)| start);
    let head = slice(buffer.text.line(row), 0, at);
    let mut broken = format!("\n{}", blank_start(head));
    if opens_block(head, buffer.language.as_ref()) {
        broken.push_str(unit(head));
    }
    buffer.text.insert(&broken);
}

fn opens_block(head: &str, language: Option<&Language>) -> bool {
    let head = head.trim_end();
    let bracket = head.ends_with(['{', '[', '(']);
    match language.and_then(Language::dialect) {
        Some(Dialect::Python) => bracket || head.ends_with(':'),
        Some(Dialect::JavaScript | Dialect::TypeScript) | None => bracket,
        Some(Dialect::Bash) => {
            let last = head.rsplit([' ', '\t', ';']).next().unwrap_or_default();
            matches!(last, "then" | "do" | "else" | "{" | "(")
        }
    }
}

/// Returns one step of indentation, in the way the line is indented.
fn unit(line: &str) -> &'static str {
    if line.starts_with('\t') { "\t" } else { "    " }
}

pub(super) fn blank_start(line: &str) -> &str {
    let code = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - code.len()).unwrap_or_default()
}

/// Indents the selected lines, or puts spaces up to the next stop.
pub(super) fn indent(buffer: &mut Buffer) {
    if buffer.text.selection().is_some_and(|(s, e)| s.0 != e.0) {
        return change_rows(buffer, |line| match line {
            "" => String::new(),
            line => format!("{}{line}", unit(line)),
        });
    }
    let (row, at) = buffer.text.cursor();
    let column = column_of(buffer.text.line(row), at);
    buffer.text.insert(&" ".repeat(TAB - column % TAB));
}

/// Takes one step of indentation from the current or selected lines.
pub(super) fn unindent(buffer: &mut Buffer) {
    change_rows(buffer, |line| {
        let spaces = line.bytes().take(TAB).take_while(|b| *b == b' ').count();
        let cut = spaces.max(usize::from(line.starts_with('\t')));
        line.get(cut..).unwrap_or_default().to_owned()
    });
}

/// Changes the selected lines, which stay selected, or the current one.
fn change_rows(buffer: &mut Buffer, change: impl Fn(&str) -> String) {
    let text = &mut buffer.text;
    let (row, at) = text.cursor();
    let (first, last) = match text.selection() {
        // A selection up to the start of a line does not reach into it.
        Some((start, (end, 0))) if end > start.0 => (start.0, end - 1),
        Some((start, end)) => (start.0, end.0),
        None => (row, row),
    };
    let is_selected = text.selection().is_some();
    let changed: Vec<String> = (first..=last).map(|row| change(text.line(row))).collect();
    let shorter = text.line(row).chars().count();
    text.replace_rows(first, last, &changed);
    if is_selected {
        text.select((first, 0), (last, usize::MAX));
    } else {
        let shorter = shorter.saturating_sub(text.line(row).chars().count());
        text.go((row, at.saturating_sub(shorter)), Reach::Move);
    }
}
