//! From text to commands: lists, `&&`, `||`, pipes, redirections, quotes and variables.

use std::iter::Peekable;
use std::str::Chars;

use super::syntax::{Item, Link, Piece, Redirect, Simple, Word};

/// Reads a script; the error is what a shell would say.
pub(super) fn parse(text: &str) -> Result<Vec<Item>, String> {
    let mut parser = Parser {
        rest: text.chars().peekable(),
    };
    let mut items = Vec::new();
    while let Some(item) = parser.item()? {
        items.push(item);
    }
    Ok(items)
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Parser<'_> {
    fn item(&mut self) -> Result<Option<Item>, String> {
        while self.blank() || self.take('\n') || self.take(';') {}
        if self.rest.peek().is_none() {
            return Ok(None);
        }
        let mut chain = vec![(Link::Always, self.pipeline()?)];
        let background = loop {
            match (self.first(), self.second()) {
                (Some('&'), Some('&')) => chain.push((self.link(Link::And), self.pipeline()?)),
                (Some('|'), Some('|')) => chain.push((self.link(Link::Or), self.pipeline()?)),
                (Some('&'), _) => break self.take('&'),
                _ => break false,
            }
        };
        Ok(Some(Item { chain, background }))
    }

    /// Steps over `&&` or `||`.
    fn link(&mut self, link: Link) -> Link {
        self.rest.next();
        self.rest.next();
        while self.blank() || self.take('\n') {}
        link
    }

    fn pipeline(&mut self) -> Result<Vec<Simple>, String> {
        let mut stages = vec![self.simple()?];
        while self.rest.peek() == Some(&'|') && self.second() != Some('|') {
            self.rest.next();
            while self.blank() || self.take('\n') {}
            stages.push(self.simple()?);
        }
        Ok(stages)
    }

    fn simple(&mut self) -> Result<Simple, String> {
        let mut simple = Simple::default();
        loop {
            self.blank();
            match self.first() {
                None | Some('\n' | ';' | '&' | '|') => break,
                Some(c @ ('(' | ')' | '`')) => return Err(format!("`{c}` is not simulated")),
                Some('>' | '<') => simple.redirects.push(self.redirect(1)?),
                Some(digit @ ('1' | '2')) if self.second() == Some('>') => {
                    let fd = if digit == '2' { 2 } else { 1 };
                    self.rest.next();
                    simple.redirects.push(self.redirect(fd)?);
                }
                Some(_) => simple.words.push(self.word()?),
            }
        }
        if simple == Simple::default() {
            return Err(match self.rest.peek() {
                None => "unexpected end of file".into(),
                Some(c) => format!("`{}` unexpected", c.escape_default()),
            });
        }
        Ok(simple)
    }

    fn redirect(&mut self, fd: u8) -> Result<Redirect, String> {
        if self.take('<') {
            return Ok(Redirect::From(self.target()?));
        }
        self.take('>');
        if self.take('>') {
            let file = self.target()?;
            return Ok(Redirect::Append { fd, file });
        }
        if self.take('&') {
            return match self.rest.next() {
                Some('1') => Ok(Redirect::Same { fd, as_fd: 1 }),
                Some('2') => Ok(Redirect::Same { fd, as_fd: 2 }),
                _ => Err("bad file descriptor".into()),
            };
        }
        let file = self.target()?;
        Ok(Redirect::To { fd, file })
    }

    fn target(&mut self) -> Result<Word, String> {
        self.blank();
        match self.word()? {
            word if word.is_empty() => Err("a redirection needs a file".into()),
            word => Ok(word),
        }
    }

    fn word(&mut self) -> Result<Word, String> {
        let mut word = Word::new();
        while let Some(c) = self.rest.peek().copied() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => word.push(Piece::Quoted(self.single_quoted()?)),
                '"' => self.double_quoted(&mut word)?,
                '$' => word.push(self.variable()?.map_or(text('$'), Piece::Variable)),
                '\\' => {
                    self.rest.next();
                    word.extend(self.rest.next().map(|c| Piece::Quoted(c.into())));
                }
                c => {
                    self.rest.next();
                    word.push(text(c));
                }
            }
        }
        Ok(word)
    }

    fn single_quoted(&mut self) -> Result<String, String> {
        self.rest.next();
        let mut inside = String::new();
        loop {
            match self.rest.next() {
                Some('\'') => return Ok(inside),
                Some(c) => inside.push(c),
                None => return Err("unterminated quoted string".into()),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), String> {
        self.rest.next();
        let mut inside = String::new();
        loop {
            match self.rest.peek().copied() {
                Some('"') => break,
                Some('$') => {
                    word.push(Piece::Quoted(std::mem::take(&mut inside)));
                    let name = self.variable()?;
                    word.push(name.map_or(Piece::Quoted("$".into()), Piece::QuotedVariable));
                    continue;
                }
                Some('\\') if self.second().is_some_and(|c| "$`\"\\".contains(c)) => {
                    self.rest.next();
                }
                Some('`') => return Err("'`' is not simulated".into()),
                Some(_) => {}
                None => return Err("unterminated quoted string".into()),
            }
            inside.extend(self.rest.next());
        }
        self.rest.next();
        word.push(Piece::Quoted(inside));
        Ok(())
    }

    /// Reads what follows `$`; `None` if it is only a dollar sign.
    fn variable(&mut self) -> Result<Option<String>, String> {
        self.rest.next();
        match self.rest.peek().copied() {
            Some('(') => Err("`$(` is not simulated".into()),
            Some('{') => self.braced().map(Some),
            Some(c @ ('?' | '$' | '!')) => {
                self.rest.next();
                Ok(Some(c.into()))
            }
            Some(c) if c == '_' || c.is_ascii_alphabetic() => Ok(Some(self.name())),
            Some(_) | None => Ok(None),
        }
    }

    fn braced(&mut self) -> Result<String, String> {
        self.rest.next();
        let name = self.name();
        if name.is_empty() || !self.take('}') {
            return Err("bad substitution".into());
        }
        Ok(name)
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self
            .rest
            .next_if(|c| *c == '_' || c.is_ascii_alphanumeric())
        {
            name.push(c);
        }
        name
    }

    /// Skips blanks and comments; tells whether there were any.
    fn blank(&mut self) -> bool {
        let mut any = false;
        while self
            .rest
            .next_if(|c| matches!(c, ' ' | '\t' | '\r'))
            .is_some()
        {
            any = true;
        }
        if self.rest.peek() == Some(&'#') {
            while self.rest.next_if(|c| *c != '\n').is_some() {}
            any = true;
        }
        any
    }

    fn take(&mut self, wanted: char) -> bool {
        self.rest.next_if_eq(&wanted).is_some()
    }

    fn first(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn second(&self) -> Option<char> {
        self.rest.clone().nth(1)
    }
}

fn text(c: char) -> Piece {
    Piece::Text(c.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_chains_and_pipes_are_told_apart() {
        let items = parse("a && b || c; d | e &\nf # rest").expect("a script");
        let shape: Vec<_> = items
            .iter()
            .map(|item| (item.chain.len(), item.background))
            .collect();
        assert_eq!(shape, [(3, false), (1, true), (1, false)]);
    }

    #[test]
    fn redirections_are_not_words() {
        let items = parse("echo x>&2 2>>log <in >out").expect("a script");
        let simple = items.first().and_then(|item| item.chain.first()?.1.first());
        let simple = simple.expect("a command");
        assert_eq!((simple.words.len(), simple.redirects.len()), (2, 4));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [
            "echo 'x",
            "echo \"x",
            "| a",
            "a &&",
            "a >",
            "(a)",
            "a `b`",
            "echo $(a)",
            "&",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
