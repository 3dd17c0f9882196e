//! Measures how deep a program may nest before it is parsed: the parser and whoever walks its tree need stack for the depth.
//!
//! This is a small lexer that knows strings, comments, templates and regular expressions. Where it cannot be sure what a `/`
//! starts, it says that the program is too deep, unless it is short. Besides brackets, every token since the last separator
//! may be a level: `1+1+1…` and `a=>a=>a…` nest without any bracket. Separators do not end `else` and `<`, which nest over them.

use crate::code::TooDeep;

/// Deeper than any program of a person, minified ones included.
const DEEPEST: usize = 3000;
/// What is shorter cannot nest deeper than the stack holds.
const ALWAYS_FINE: usize = 4 * 1024;

/// Refuses what is too deep to be read safely.
pub(super) fn check(source: &str) -> Result<(), TooDeep> {
    if source.len() <= ALWAYS_FINE {
        return Ok(());
    }
    let mut scan = Scan::new(source.as_bytes());
    while scan.step()? {
        let weight = scan.total + scan.levels.len() * 8;
        if weight > DEEPEST {
            return Err(TooDeep);
        }
    }
    Ok(())
}

/// What the last token was, which decides what a `/` or a word after it means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// An operator or the start: an operand follows.
    Operator,
    /// The end of an operand: an operator or a new statement follows.
    Operand,
    /// The head of `if`, `for`, `while` or `with`: a statement follows.
    Head,
    /// A brace that ended a block or an object; nobody knows which.
    Brace,
    /// Something after which a `/` may be anything.
    Unsure,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Plain,
    /// The round bracket of `if` and its like.
    Head,
    Brace,
    /// `${` in a template.
    Template,
}

/// An open bracket with the tokens that may nest in it.
struct Level {
    bracket: Bracket,
    tokens: usize,
    sticky: usize,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    last: Last,
    /// Whether the last token was `if`, `for`, `while` or `with`.
    is_head: bool,
    after_dot: bool,
    levels: Vec<Level>,
    total: usize,
}

impl<'a> Scan<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            last: Last::Operator,
            is_head: false,
            after_dot: false,
            levels: vec![Level {
                bracket: Bracket::Brace,
                tokens: 0,
                sticky: 0,
            }],
            total: 0,
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Takes one token; false at the end.
    fn step(&mut self) -> Result<bool, TooDeep> {
        if self.at >= self.bytes.len() {
            return Ok(false);
        }
        let byte = self.byte(0);
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            b'#' if self.at == 0 => self.skip_line(),
            b'/' if self.byte(1) == b'/' => self.skip_line(),
            b'/' if self.byte(1) == b'*' => self.skip_comment(),
            b'/' => self.slash()?,
            b'<' if self.rest().starts_with(b"<!--") => return Err(TooDeep),
            b'-' if self.rest().starts_with(b"-->") => return Err(TooDeep),
            b'"' | b'\'' => self.string(byte),
            b'`' => {
                self.at += 1;
                self.template();
            }
            b'(' | b'[' | b'{' => self.open(byte),
            b')' | b']' | b'}' => self.close(byte),
            b',' | b';' => {
                self.at += 1;
                self.separate();
            }
            b'\\' => return Err(TooDeep),
            b'<' => self.sticky_operator(),
            _ if is_word(byte) => self.word(),
            _ => self.operator(byte),
        }
        Ok(true)
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    }

    fn skip_comment(&mut self) {
        let rest = self.bytes.get(self.at + 2..).unwrap_or_default();
        let end = memchr::memmem::find(rest, b"*/");
        self.at = end.map_or(self.bytes.len(), |end| self.at + 2 + end + 2);
    }

    fn add(&mut self, tokens: usize, sticky: usize) {
        self.total += tokens + sticky;
        if let Some(level) = self.levels.last_mut() {
            level.tokens += tokens;
            level.sticky += sticky;
        }
    }

    fn separate(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.total -= std::mem::take(&mut level.tokens);
        }
        self.last = Last::Operator;
        self.is_head = false;
        self.after_dot = false;
    }

    fn operator(&mut self, byte: u8) {
        self.add(1, 0);
        let doubled = matches!(byte, b'+' | b'-') && self.byte(1) == byte;
        self.at += if doubled { 2 } else { 1 };
        self.last = if doubled {
            Last::Unsure
        } else {
            Last::Operator
        };
        self.after_dot = byte == b'.';
        self.is_head = false;
    }

    fn sticky_operator(&mut self) {
        self.add(0, 1);
        self.at += 1;
        self.last = Last::Operator;
        self.is_head = false;
        self.after_dot = false;
    }

    fn slash(&mut self) -> Result<(), TooDeep> {
        match self.last {
            Last::Operand => self.operator(b'/'),
            Last::Operator | Last::Head => self.regex(),
            Last::Brace | Last::Unsure => return Err(TooDeep),
        }
        Ok(())
    }

    fn regex(&mut self) {
        let mut in_class = false;
        self.at += 1;
        loop {
            match self.byte(0) {
                b'\\' => self.at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                // Not closed: the parser will not read on either.
                b'\n' | 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        self.operand();
    }

    fn operand(&mut self) {
        self.add(1, 0);
        self.last = Last::Operand;
        self.is_head = false;
        self.after_dot = false;
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.byte(0) {
                b'\\' => self.at += 2,
                byte => {
                    self.at += 1;
                    if byte == quote || byte == b'\n' {
                        break;
                    }
                }
            }
        }
        self.operand();
    }

    /// Goes on in a template until it ends or a `${` opens.
    fn template(&mut self) {
        while self.at < self.bytes.len() {
            match (self.byte(0), self.byte(1)) {
                (b'\\', _) => self.at += 2,
                (b'`', _) => {
                    self.at += 1;
                    break;
                }
                (b'$', b'{') => {
                    self.at += 2;
                    return self.push(Bracket::Template);
                }
                _ => self.at += 1,
            }
        }
        self.operand();
    }

    fn push(&mut self, bracket: Bracket) {
        self.add(1, 0);
        self.levels.push(Level {
            bracket,
            tokens: 0,
            sticky: 0,
        });
        self.last = Last::Operator;
        self.is_head = false;
        self.after_dot = false;
    }

    fn open(&mut self, byte: u8) {
        let bracket = match byte {
            b'(' if self.is_head => Bracket::Head,
            b'{' => Bracket::Brace,
            _ => Bracket::Plain,
        };
        self.at += 1;
        self.push(bracket);
    }

    fn close(&mut self, byte: u8) {
        self.at += 1;
        let popped = if self.levels.len() > 1 {
            self.levels.pop()
        } else {
            None
        };
        let Some(level) = popped else {
            return self.operand();
        };
        self.total -= level.tokens + level.sticky;
        if level.bracket == Bracket::Template && byte == b'}' {
            return self.template();
        }
        self.last = match (byte, level.bracket) {
            (b'}', _) => Last::Brace,
            (_, Bracket::Head) => Last::Head,
            _ => Last::Operand,
        };
        self.is_head = false;
        self.after_dot = false;
    }

    fn word(&mut self) {
        let start = self.at;
        while is_word(self.byte(0)) {
            self.at += 1;
        }
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        if self.after_dot {
            return self.operand();
        }
        if word == b"else" {
            self.add(0, 1);
            self.last = Last::Operator;
            return;
        }
        let joins: [&[u8]; 9] = [
            b"in",
            b"instanceof",
            b"of",
            b"as",
            b"satisfies",
            b"extends",
            b"is",
            b"implements",
            b"from",
        ];
        // Two operands in a row are two statements.
        if matches!(self.last, Last::Operand | Last::Brace) && !joins.contains(&word) {
            self.separate();
        }
        self.add(1, 0);
        self.is_head = matches!(word, b"if" | b"for" | b"while" | b"with");
        self.last = match word {
            b"return" | b"typeof" | b"case" | b"do" | b"in" | b"instanceof" | b"new" | b"void"
            | b"delete" | b"throw" => Last::Operator,
            b"of" | b"yield" | b"await" | b"as" | b"satisfies" | b"extends" | b"let" | b"async"
            | b"static" | b"get" | b"set" => Last::Unsure,
            _ => Last::Operand,
        };
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
