//! Cuts Rust source into words and marks, without comments, and tells production code from tests.

/// A word, a mark or a literal, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// A literal is only its first quote: what it says is of no interest here.
    pub text: String,
    /// Counted from one.
    pub line: usize,
}

impl Token {
    pub fn is_word(&self) -> bool {
        self.text.starts_with(is_part)
    }
}

/// Can a word have this character?
pub fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: usize,
    tokens: Vec<Token>,
}

/// Cuts a text into tokens.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        chars: text.chars().collect(),
        at: 0,
        line: 1,
        tokens: Vec::new(),
    };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    lexer.tokens
}

impl Lexer {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn skip(&mut self, count: usize) {
        let end = (self.at + count).min(self.chars.len());
        let lines = self.chars[self.at..end].iter().filter(|c| **c == '\n');
        self.line += lines.count();
        self.at = end;
    }

    fn push(&mut self, text: String, line: usize) {
        self.tokens.push(Token { text, line });
    }

    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (c, _) if c.is_whitespace() => self.skip(1),
            ('/', '/') => self.skip(self.length_until(&['\n'])),
            ('/', '*') => self.block_comment(),
            ('"', _) => self.text('"'),
            ('\'', '\\') => self.text('\''),
            ('\'', _) if self.peek(2) == '\'' => self.literal(3),
            ('\'', _) => self.skip(1 + self.word_length(1)),
            ('r', '"' | '#') | ('b', 'r') if self.raw_hashes().is_some() => self.raw_text(),
            (c, _) if is_part(c) => self.word(),
            (':', ':') | ('-' | '=', '>') => self.mark(2),
            _ => self.mark(1),
        }
    }

    fn length_until(&self, ends: &[char]) -> usize {
        let rest = &self.chars[self.at..];
        rest.windows(ends.len())
            .position(|part| part == ends)
            .unwrap_or(rest.len())
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                ('\0', _) => return,
                _ => {
                    self.skip(1);
                    continue;
                }
            }
            self.skip(2);
            if depth == 0 {
                return;
            }
        }
    }

    fn literal(&mut self, length: usize) {
        self.push(self.peek(0).to_string(), self.line);
        self.skip(length);
    }

    fn text(&mut self, quote: char) {
        let line = self.line;
        self.skip(1);
        while self.peek(0) != quote && self.at < self.chars.len() {
            self.skip(if self.peek(0) == '\\' { 2 } else { 1 });
        }
        self.skip(1);
        self.push(quote.to_string(), line);
    }

    /// Returns the length up to the opening quote and how many hashes there are, if a raw text begins here.
    fn raw_hashes(&self) -> Option<(usize, usize)> {
        let prefix = if self.peek(0) == 'b' { 2 } else { 1 };
        let rest = &self.chars[(self.at + prefix).min(self.chars.len())..];
        let hashes = rest.iter().take_while(|c| **c == '#').count();
        (rest.get(hashes) == Some(&'"')).then_some((prefix + hashes, hashes))
    }

    fn raw_text(&mut self) {
        let Some((start, hashes)) = self.raw_hashes() else {
            return;
        };
        let line = self.line;
        self.skip(start + 1);
        let mut end = vec!['"'];
        end.extend(std::iter::repeat_n('#', hashes));
        self.skip(self.length_until(&end) + end.len());
        self.push('"'.to_string(), line);
    }

    fn word(&mut self) {
        let length = self.word_length(0);
        let word = self.chars[self.at..].iter().take(length).collect();
        self.push(word, self.line);
        self.skip(length);
    }

    fn word_length(&self, ahead: usize) -> usize {
        let rest = self.chars.iter().skip(self.at + ahead);
        rest.take_while(|c| is_part(**c)).count()
    }

    fn mark(&mut self, length: usize) {
        let mark = self.chars[self.at..].iter().take(length).collect();
        self.push(mark, self.line);
        self.skip(length);
    }
}

/// A file's tokens, production and tests apart.
#[derive(Default)]
pub struct Parts {
    pub production: Vec<Token>,
    /// How many lines are for tests only.
    pub test_lines: usize,
    /// Modules in other files that exist for tests only.
    pub test_modules: Vec<String>,
}

const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// Takes everything below `#[cfg(test)]` out.
pub fn without_tests(tokens: &[Token]) -> Parts {
    let mut parts = Parts::default();
    let mut at = 0;
    while at < tokens.len() {
        if !starts_with(&tokens[at..], &CFG_TEST) {
            parts.production.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let end = at + item_length(&tokens[at..]);
        let item = &tokens[at..end];
        parts.test_lines += item[item.len() - 1].line - item[0].line + 1;
        if let [.., module, name, semicolon] = item
            && (module.text.as_str(), semicolon.text.as_str()) == ("mod", ";")
        {
            parts.test_modules.push(name.text.clone());
        }
        at = end;
    }
    parts
}

/// Do these words and marks stand at the beginning?
pub fn starts_with(tokens: &[Token], texts: &[&str]) -> bool {
    tokens.len() >= texts.len() && tokens.iter().zip(texts).all(|(t, text)| t.text == *text)
}

/// Counts the tokens of an item, its attributes included.
fn item_length(tokens: &[Token]) -> usize {
    let mut at = 0;
    while starts_with(&tokens[at..], &["#"]) {
        at += 1 + group_length(&tokens[at + 1..]);
    }
    let is_use = tokens[at..].iter().take(5).any(|t| t.text == "use");
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "{" if !is_use => return at + group_length(&tokens[at..]),
            "(" | "[" | "{" => at += group_length(&tokens[at..]),
            _ => at += 1,
        }
    }
    at
}

/// Counts the tokens from an opening bracket to the one that closes it.
pub fn group_length(tokens: &[Token]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}
