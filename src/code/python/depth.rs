//! Measures how deep a program may nest before it is parsed: whoever walks a syntax tree needs stack for its depth.
//!
//! The parser's own lexer is asked, so that brackets in strings and comments are no nesting. A bracket, an indent and every
//! token since the last separator can each be a level of the tree.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::Mode;
use ruff_python_parser::lexer::lex;

use crate::code::TooDeep;

/// Deeper than any program of a person; Python itself stops at 200 brackets.
const DEEPEST: usize = 3000;

/// Refuses what is too deep to be read safely.
pub(super) fn check(source: &str) -> Result<(), TooDeep> {
    let mut lexer = lex(source, Mode::Module);
    // Tokens since the last separator, and lambdas, whose parameters have separators of their own, for each open bracket.
    let mut levels: Vec<(usize, usize)> = vec![(0, 0)];
    let (mut total, mut indents) = (0usize, 0usize);
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return Ok(()),
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                total += 1;
                add(&mut levels, 1, 0);
                levels.push((0, 0));
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace if levels.len() > 1 => {
                let (tokens, lambdas) = levels.pop().unwrap_or_default();
                total -= tokens + lambdas;
            }
            TokenKind::Comma => total -= reset(&mut levels, false),
            TokenKind::Semi | TokenKind::Newline => total -= reset(&mut levels, true),
            TokenKind::NonLogicalNewline | TokenKind::Comment => {}
            TokenKind::Lambda => {
                total += 1;
                add(&mut levels, 0, 1);
            }
            _ => {
                total += 1;
                add(&mut levels, 1, 0);
            }
        }
        if total + indents * 4 + levels.len() * 8 > DEEPEST {
            return Err(TooDeep);
        }
    }
}

fn add(levels: &mut [(usize, usize)], tokens: usize, lambdas: usize) {
    if let Some(level) = levels.last_mut() {
        level.0 += tokens;
        level.1 += lambdas;
    }
}

/// Forgets the tokens of the innermost level, and with a new statement also its lambdas; returns how many.
fn reset(levels: &mut [(usize, usize)], with_lambdas: bool) -> usize {
    let Some(level) = levels.last_mut() else {
        return 0;
    };
    let tokens = std::mem::take(&mut level.0);
    let lambdas = if with_lambdas {
        std::mem::take(&mut level.1)
    } else {
        0
    };
    tokens + lambdas
}
