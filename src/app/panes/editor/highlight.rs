//! Colours code line by line, a little at a time, so that no frame waits for it.
//!
//! The parser's state after each line is kept. An edit makes its lines stale; they are parsed again, and the lines
//! after them only if the state at their start came out different.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

/// The time one call may take.
const BUDGET: Duration = Duration::from_millis(5);
/// The lines one call may parse.
const LINES: usize = 300;
/// Longer lines, in bytes, stay plain: parsing them takes tens of milliseconds.
const LONGEST: usize = 2_000;

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// Anything else.
    Plain,
    /// `if`, `def`, `const`.
    Keyword,
    /// A string.
    String,
    /// A comment.
    Comment,
    /// A number or a constant of the language.
    Number,
    /// The name of a function.
    Function,
    /// The name of a type.
    Type,
}

/// The most telling scopes; the first that fits counts.
const SCOPES: &[(&str, Code)] = &[
    ("comment", Code::Comment),
    ("meta.interpolation", Code::Plain),
    ("constant.numeric", Code::Number),
    ("constant.language", Code::Number),
    ("constant.character", Code::Number),
    ("string", Code::String),
    ("keyword.operator.logical", Code::Keyword),
    ("keyword.operator", Code::Plain),
    ("keyword", Code::Keyword),
    ("storage", Code::Keyword),
    ("entity.name.function", Code::Function),
    ("support.function", Code::Function),
    ("variable.function", Code::Function),
    ("entity.name.tag", Code::Keyword),
    ("entity.name", Code::Type),
    ("entity.other.inherited-class", Code::Type),
    ("support.class", Code::Type),
    ("support.type", Code::Type),
];

/// The grammars of all languages; takes a few milliseconds to load.
pub struct Grammars {
    set: SyntaxSet,
    scopes: Vec<(Scope, Code)>,
}

impl Grammars {
    /// Loads them.
    #[must_use]
    pub fn load() -> Self {
        let scope = |(name, code): &(&str, Code)| Some((Scope::new(name).ok()?, *code));
        Self {
            set: two_face::syntax::extra_newlines(),
            scopes: SCOPES.iter().filter_map(scope).collect(),
        }
    }

    fn start(&self, token: &str) -> Option<Arc<State>> {
        let syntax = self.set.find_syntax_by_token(token)?;
        Some(Arc::new(State {
            parser: ParseState::new(syntax),
            scopes: ScopeStack::new(),
        }))
    }

    fn code_of(&self, stack: &ScopeStack) -> Code {
        let known = |scope: &Scope| {
            self.scopes
                .iter()
                .find(|(prefix, _)| prefix.is_prefix_of(*scope))
        };
        let found = stack.scopes.iter().rev().find_map(known);
        found.map_or(Code::Plain, |(_, code)| *code)
    }
}

impl fmt::Debug for Grammars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Grammars")
    }
}

/// A piece of a line, from the end of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The byte after it.
    pub end: usize,
    /// What it is.
    pub code: Code,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    parser: ParseState,
    scopes: ScopeStack,
}

#[derive(Debug, Clone, Default)]
struct Line {
    spans: Vec<Span>,
    /// The state that the next line was parsed with, if it was; shared, since most lines end alike.
    after: Option<Arc<State>>,
    is_fresh: bool,
}

/// The colours of one text.
#[derive(Debug)]
pub struct Highlight {
    /// The name or ending by which the grammar is found.
    token: Option<String>,
    lines: Vec<Line>,
    /// All lines before this one are fresh.
    clean: usize,
}

impl Highlight {
    /// Starts with all lines plain.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Self {
            token: None,
            lines: vec![Line::default(); rows],
            clean: 0,
        }
    }

    /// Chooses the grammar by a name or file ending.
    pub fn set_token(&mut self, token: Option<String>) {
        if self.token != token {
            *self = Self {
                token,
                ..Self::new(self.lines.len())
            };
        }
    }

    /// Returns the pieces of a line; none when it is plain or not parsed yet.
    #[must_use]
    pub fn spans(&self, row: usize) -> &[Span] {
        self.lines.get(row).map_or(&[], |line| &line.spans)
    }

    /// Learns that `come` lines stand where `gone` lines stood, from `row` on.
    pub(super) fn splice(&mut self, row: usize, gone: usize, come: usize) {
        self.clean = self.clean.min(row);
        let end = (row + gone).min(self.lines.len());
        let start = row.min(end);
        let last = end.checked_sub(1).and_then(|last| self.lines.get(last));
        let state = last.and_then(|line| line.after.clone());
        let mut new = vec![Line::default(); come];
        // The line after the edit was parsed with this state; if it comes out again, that line is still right.
        if let Some(last) = new.last_mut() {
            last.after = state;
        }
        self.lines.splice(start..end, new);
    }

    /// Tells whether lines before `until` wait to be parsed.
    pub(super) fn is_behind(&self, until: usize) -> bool {
        let mut seen = self.lines.iter().take(until).skip(self.clean);
        self.token.is_some() && seen.any(|line| !line.is_fresh)
    }

    /// Parses some of the stale lines before `until`; tells whether some are left.
    pub(super) fn advance(&mut self, grammars: &Grammars, text: &[String], until: usize) -> bool {
        let first = self.token.as_deref().and_then(|name| grammars.start(name));
        let Some(first) = first else {
            // No grammar will ever fit; it must not be looked for with every frame.
            self.token = None;
            return false;
        };
        let (begin, mut parsed) = (Instant::now(), 0);
        while let Some((row, line)) = self.next_stale(text, until) {
            if parsed >= LINES || begin.elapsed() > BUDGET {
                return true;
            }
            self.parse(grammars, &first, row, line);
            parsed += 1;
        }
        false
    }

    fn next_stale<'a>(&mut self, text: &'a [String], until: usize) -> Option<(usize, &'a str)> {
        let fresh = self.lines.iter().skip(self.clean);
        self.clean += fresh.take_while(|line| line.is_fresh).count();
        let line = text.get(self.clean).filter(|_| self.clean < until)?;
        Some((self.clean, line))
    }

    fn parse(&mut self, grammars: &Grammars, first: &Arc<State>, row: usize, line: &str) {
        let above = row.checked_sub(1).and_then(|above| self.lines.get(above));
        let before = above
            .and_then(|line| line.after.clone())
            .unwrap_or_else(|| Arc::clone(first));
        let (spans, after) = parse_line(grammars, &before, line);
        let Some(slot) = self.lines.get_mut(row) else {
            return;
        };
        let is_same = slot.after.as_ref() == Some(&after);
        *slot = Line {
            spans,
            after: Some(after),
            is_fresh: true,
        };
        if !is_same && let Some(next) = self.lines.get_mut(row + 1) {
            next.is_fresh = false;
        }
    }
}

fn parse_line(grammars: &Grammars, before: &Arc<State>, line: &str) -> (Vec<Span>, Arc<State>) {
    let mut state = State::clone(before);
    if line.len() > LONGEST {
        return (Vec::new(), Arc::clone(before));
    }
    let Ok(changes) = state.parser.parse_line(&format!("{line}\n"), &grammars.set) else {
        return (Vec::new(), Arc::clone(before));
    };
    let mut spans = Vec::new();
    for (end, change) in &changes {
        push_span(
            &mut spans,
            (*end).min(line.len()),
            grammars.code_of(&state.scopes),
        );
        // A grammar that pops too much only loses its colours.
        let _ = state.scopes.apply(change);
    }
    push_span(&mut spans, line.len(), grammars.code_of(&state.scopes));
    if state == **before {
        return (spans, Arc::clone(before));
    }
    (spans, Arc::new(state))
}

fn push_span(spans: &mut Vec<Span>, end: usize, code: Code) {
    match spans.last_mut() {
        _ if end == 0 => (),
        Some(last) if last.end >= end => (),
        Some(last) if last.code == code => last.end = end,
        _ => spans.push(Span { end, code }),
    }
}

#[cfg(test)]
mod tests;
