//! From words and operators to simple commands, each with what it is joined to.

use super::lexer::{Inner, Lexer, Token};
use super::word::Word;

/// A command with its words, redirections and neighbours.
#[derive(Debug, Clone, Default)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
    /// Operator and target of each redirection.
    pub(super) redirects: Vec<(&'static str, Word)>,
    /// What it reads from a here-document.
    pub(super) here_doc: Option<Word>,
    /// Does it read from the command before it?
    pub(super) is_piped: bool,
    /// Does it write into the command after it?
    pub(super) feeds: bool,
    /// Does it run in the background?
    pub(super) in_background: bool,
    /// The functions whose bodies it stands in, innermost last.
    pub(super) functions: Vec<String>,
}

/// Words that only give structure where a command could start.
const RESERVED: [&str; 14] = [
    "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "time",
    "esac",
];

/// Reads the commands of a program in order.
pub(super) struct Commands<'a> {
    lexer: Lexer<'a>,
    current: Simple,
    done: Vec<Simple>,
    /// Functions that are being defined, with the number of braces open in each.
    functions: Vec<(String, usize)>,
    /// The function whose body comes next.
    announced: Option<String>,
    braces: usize,
}

/// Returns all commands and the programs inside of them.
pub(super) fn commands(source: &str) -> (Vec<Simple>, Vec<Inner>) {
    let mut reader = Commands {
        lexer: Lexer::new(source),
        current: Simple::default(),
        done: Vec::new(),
        functions: Vec::new(),
        announced: None,
        braces: 0,
    };
    reader.read();
    (reader.done, reader.lexer.inner)
}

impl Commands<'_> {
    fn read(&mut self) {
        while let Some(token) = self.lexer.next_token() {
            match token {
                Token::Word(word) => self.word(word),
                Token::Redirect(op, _) => self.redirect(op),
                Token::HereDoc(body) => self.here_doc(body),
                Token::Op("(", _) => self.open(),
                Token::Op(op, _) => self.end(op),
            }
        }
        self.end("\n");
    }

    fn word(&mut self, word: Word) {
        let starts = self.current.words.is_empty();
        if starts && !word.quoted && RESERVED.contains(&word.text.as_str()) {
            return self.reserved(&word.text);
        }
        self.current.words.push(word);
    }

    fn reserved(&mut self, text: &str) {
        match text {
            "{" => {
                self.braces += 1;
                if let Some(name) = self.announced.take() {
                    self.functions.push((name, self.braces));
                }
            }
            "}" => {
                if self
                    .functions
                    .last()
                    .is_some_and(|(_, at)| *at == self.braces)
                {
                    self.functions.pop();
                }
                self.braces = self.braces.saturating_sub(1);
            }
            _ => {}
        }
    }

    fn redirect(&mut self, op: &'static str) {
        if let Some(Token::Word(target)) = self.lexer.next_token()
            && op != "<<"
            && op != "<<-"
        {
            self.current.redirects.push((op, target));
        }
    }

    /// A body follows the line that announced it, so that it belongs to a command that has ended.
    fn here_doc(&mut self, body: Word) {
        if let Some(command) = self.done.last_mut() {
            command.here_doc = Some(body);
        }
    }

    /// `name (` starts a function; any other `(` starts commands of their own.
    fn open(&mut self) {
        if let [name] = self.current.words.as_slice() {
            self.announced = Some(name.text.clone());
            self.current = Simple::default();
            return;
        }
        self.end("(");
    }

    fn end(&mut self, op: &'static str) {
        let mut ended = std::mem::take(&mut self.current);
        ended.feeds = matches!(op, "|" | "|&");
        ended.in_background = op == "&";
        self.current.is_piped = ended.feeds;
        if let [keyword, name] = ended.words.as_slice()
            && keyword.text == "function"
        {
            self.announced = Some(name.text.clone());
            return;
        }
        if let [keyword, name, brace] = ended.words.as_slice()
            && keyword.text == "function"
            && brace.text == "{"
        {
            self.braces += 1;
            self.functions.push((name.text.clone(), self.braces));
            return;
        }
        if ended.words.is_empty() && ended.redirects.is_empty() {
            return;
        }
        self.learn(&ended);
        ended.functions = self
            .functions
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        self.done.push(ended);
    }

    /// Remembers what variables hold, so that `X=/; rm -rf $X` is seen for what it is.
    fn learn(&mut self, command: &Simple) {
        let mut words = command.words.as_slice();
        let declares = ["export", "local", "declare", "readonly", "typeset"];
        if let [first, rest @ ..] = words
            && declares.contains(&first.text.as_str())
        {
            words = rest;
        }
        // A loop gives its variable one value after the other.
        if let [keyword, name, ..] = words
            && matches!(keyword.text.as_str(), "for" | "select" | "read")
        {
            self.lexer.variables.remove(&name.text);
            return;
        }
        let all: Option<Vec<_>> = words.iter().map(Word::assignment).collect();
        for (name, value) in all.unwrap_or_default() {
            // Values are bounded, or a program could double one with every line.
            let value = value.chars().take(256).collect();
            self.lexer.variables.insert(name.to_owned(), value);
        }
    }
}
