//! Cuts a shell program into words and operators: quotes, escapes, variables, substitutions and here-documents as the shell
//! reads them. It never fails and takes time in proportion to the text: what is not closed ends with the text.

use std::collections::HashMap;

use super::word::{HOME, MAYBE_EMPTY, UNKNOWN, Word, is_name};

/// A piece of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word.
    Word(Word),
    /// Something that separates or joins commands, such as `;` or `|`.
    Op(&'static str, usize),
    /// A redirection, such as `>`; the word after it is its target.
    Redirect(&'static str, usize),
    /// The body of a here-document, after the line that announced it.
    HereDoc(Word),
}

/// A program inside of a program, such as that in `$(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inner {
    pub(super) at: usize,
    pub(super) source: String,
}

/// Operators, longest first.
const OPERATORS: [&str; 12] = [
    ";;&", "&&", "||", "|&", ";;", ";&", ";", "&", "|", "(", ")", "\n",
];
const REDIRECTS: [&str; 12] = [
    "&>>", "<<<", "<<-", "<<", ">>", "&>", ">|", ">&", "<&", "<>", "<", ">",
];

/// Reads a program.
pub(super) struct Lexer<'a> {
    source: &'a str,
    pub(super) at: usize,
    /// What variables are known to hold; changed by whoever understands assignments.
    pub(super) variables: HashMap<String, String>,
    /// Programs found inside.
    pub(super) inner: Vec<Inner>,
    /// What the text ended in.
    pub(super) open: Option<Open>,
    /// Whether anything but blanks and quotes has a meaning.
    pub(super) expands: bool,
    /// Here-documents whose bodies start at the next line.
    awaited: Vec<(String, bool)>,
    expects_delimiter: Option<bool>,
    ready: Vec<Token>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            source,
            at: 0,
            variables: HashMap::new(),
            inner: Vec::new(),
            open: None,
            expands: true,
            awaited: Vec::new(),
            expects_delimiter: None,
            ready: Vec::new(),
        }
    }

    /// Reads words that no shell will expand.
    pub(super) fn of_words(source: &'a str) -> Self {
        Self {
            expands: false,
            ..Self::new(source)
        }
    }

    /// Returns the next word and takes all between blanks for one.
    pub(super) fn next_word(&mut self) -> Option<String> {
        while matches!(self.peek()?, ' ' | '\t' | '\n' | '\r') {
            self.bump();
        }
        Some(self.word().text)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Returns the next piece.
    pub(super) fn next_token(&mut self) -> Option<Token> {
        if let Some(token) = self.ready.pop() {
            return Some(token);
        }
        self.skip_blanks();
        let start = self.at;
        self.peek()?;
        if let Some(token) = self.redirect(start) {
            return Some(token);
        }
        if let Some(op) = OPERATORS.into_iter().find(|op| self.eat(op)) {
            if op == "\n" {
                self.read_here_docs();
            }
            return Some(Token::Op(op, start));
        }
        let word = self.word();
        if let Some(strips_tabs) = self.expects_delimiter.take() {
            self.awaited.push((word.text.clone(), strips_tabs));
        }
        Some(Token::Word(word))
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => {
                    self.bump();
                }
                Some('\\') if self.rest().starts_with("\\\n") => self.at += 2,
                Some('#') => self.skip_line(),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
    }

    /// Reads a redirection with the number of its file before it.
    fn redirect(&mut self, start: usize) -> Option<Token> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits.min(4);
        // `<(…)` is a program whose output is a file.
        for (open, op) in [("<(", "<"), (">(", ">")] {
            if self.rest().starts_with(open) {
                self.at += 1;
                self.parenthesised();
                self.ready.push(Token::Word(Word::plain("\u{0}", start)));
                return Some(Token::Redirect(op, start));
            }
        }
        let Some(op) = REDIRECTS.into_iter().find(|op| self.eat(op)) else {
            self.at = start;
            return None;
        };
        if matches!(op, "<<" | "<<-") {
            self.expects_delimiter = Some(op == "<<-");
        }
        Some(Token::Redirect(op, start))
    }

    /// Takes the bodies that were announced on the line that has just ended.
    fn read_here_docs(&mut self) {
        for (delimiter, strips_tabs) in std::mem::take(&mut self.awaited) {
            let start = self.at;
            let mut body = String::new();
            while self.at < self.source.len() {
                let line_start = self.at;
                self.skip_line();
                let line = self.source.get(line_start..self.at).unwrap_or_default();
                self.at = (self.at + 1).min(self.source.len());
                let line = if strips_tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                if line == delimiter {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            // Taken from the end, so that the first one comes first.
            self.ready
                .insert(0, Token::HereDoc(Word::plain(&body, start)));
        }
    }

    fn word(&mut self) -> Word {
        let mut word = Word::plain("", self.at);
        if self.expands && self.rest().starts_with('~') {
            self.tilde(&mut word);
        }
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' => break,
                ';' | '&' | '|' | '(' | ')' | '<' | '>' if self.expands => break,
                '\'' => self.single_quoted(&mut word),
                '"' => self.double_quoted(&mut word),
                '\\' => self.escaped(&mut word),
                '$' if self.expands => self.dollar(&mut word, Quoting::None),
                '`' if self.expands => self.backquoted(&mut word),
                _ => {
                    word.text.push(c);
                    self.bump();
                }
            }
        }
        if self.at == word.at {
            // Nothing fits: never stand still.
            self.bump();
        }
        word
    }

    fn tilde(&mut self, word: &mut Word) {
        let end = self.rest().chars().nth(1);
        if matches!(
            end,
            None | Some('/' | ' ' | '\t' | '\n' | ';' | '&' | '|' | ')')
        ) {
            self.bump();
            word.text.push(HOME);
        }
    }

    pub(super) fn dollar(&mut self, word: &mut Word, quoting: Quoting) {
        self.bump();
        match self.peek() {
            Some('\'') if quoting == Quoting::None => self.ansi_quoted(word),
            Some('"') if quoting == Quoting::None => self.double_quoted(word),
            Some('(') => {
                self.parenthesised();
                word.text.push(UNKNOWN);
            }
            Some('{') => self.braced(word),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let rest = self.rest();
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                self.at += name.len();
                self.put_variable(word, name, MAYBE_EMPTY);
            }
            Some('0') => {
                self.bump();
                word.text.push_str("$0");
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.bump();
                word.text.push(UNKNOWN);
            }
            _ => word.text.push('$'),
        }
    }

    fn put_variable(&self, word: &mut Word, name: &str, otherwise: char) {
        match self.variables.get(name) {
            Some(value) => word.text.push_str(value),
            None if name == "HOME" => word.text.push(HOME),
            None if matches!(name, "PWD" | "OLDPWD" | "TMPDIR" | "USER" | "HOSTNAME") => {
                word.text.push(UNKNOWN);
            }
            None => word.text.push(otherwise),
        }
    }

    /// Reads `${…}`; with `:?`, `:-` and the like the value is not empty.
    fn braced(&mut self, word: &mut Word) {
        self.bump();
        let rest = self.rest();
        let end = memchr::memchr(b'}', rest.as_bytes());
        let inside = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += inside.len() + usize::from(end.is_some());
        if is_name(inside) {
            return self.put_variable(word, inside, MAYBE_EMPTY);
        }
        let name_end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let operator = inside.get(name_end.unwrap_or(0)..).unwrap_or_default();
        let is_guarded = operator.starts_with([':', '?', '-', '=', '+']);
        word.text
            .push(if is_guarded { UNKNOWN } else { MAYBE_EMPTY });
    }

    /// Reads `(…)` after a `$`, `<` or `>` and keeps what is in it, unless it is arithmetic.
    fn parenthesised(&mut self) {
        self.bump();
        let at = self.at;
        let is_arithmetic = self.rest().starts_with('(');
        let mut depth = 1usize;
        while depth > 0 {
            match self.bump() {
                None => break,
                Some('(') => depth += 1,
                Some(')') => depth -= 1,
                Some('\\') => {
                    self.bump();
                }
                Some('\'') => {
                    let rest = self.rest().as_bytes();
                    self.at += memchr::memchr(b'\'', rest).map_or(rest.len(), |end| end + 1);
                }
                Some(_) => {}
            }
        }
        let end = self.at.saturating_sub(usize::from(depth == 0));
        if !is_arithmetic {
            let source = self.source.get(at..end).unwrap_or_default().to_owned();
            self.inner.push(Inner { at, source });
        }
    }
}

/// A quote that was begun and has no end.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) enum Open {
    Single,
    Double,
    Backslash,
}

/// What a dollar stands in.
#[derive(PartialEq, Eq, Clone, Copy)]
pub(super) enum Quoting {
    None,
    Double,
}
