//! From words to arguments: variables are filled in, and what was not quoted is split.

use super::syntax::{Piece, Word};

/// Fills in the variables of words; an unquoted empty one gives no argument.
pub(super) fn expand(words: &[Word], lookup: impl Fn(&str) -> String) -> Vec<String> {
    let fields = words.iter().flat_map(|word| expand_word(word, &lookup));
    fields.collect()
}

/// Fills in the variables of one word without splitting it.
pub(super) fn expand_whole(word: &Word, lookup: impl Fn(&str) -> String) -> String {
    let pieces = word.iter().map(|piece| match piece {
        Piece::Text(text) | Piece::Quoted(text) => text.clone(),
        Piece::Variable(name) | Piece::QuotedVariable(name) => lookup(name),
    });
    pieces.collect()
}

/// Splits `NAME=…` at the front of a command off.
pub(super) fn assignment(word: &Word) -> Option<(String, Word)> {
    let letters = word.iter().map_while(|piece| match piece {
        Piece::Text(text) => text.chars().next(),
        Piece::Quoted(_) | Piece::Variable(_) | Piece::QuotedVariable(_) => None,
    });
    let name: String = letters.take_while(|c| *c != '=').collect();
    // Plain text comes one letter a piece, so the name's length is the place of the sign.
    let sign = word.get(name.len())?;
    let is_sign = matches!(sign, Piece::Text(text) if text == "=");
    if !is_sign || !is_name(&name) {
        return None;
    }
    Some((name.clone(), word.get(name.len() + 1..)?.to_vec()))
}

/// Tells whether a variable can be called so.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

fn expand_word(word: &Word, lookup: impl Fn(&str) -> String) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field: Option<String> = None;
    for piece in word {
        match piece {
            Piece::Text(text) | Piece::Quoted(text) => {
                field.get_or_insert_default().push_str(text);
            }
            Piece::QuotedVariable(name) => {
                field.get_or_insert_default().push_str(&lookup(name));
            }
            Piece::Variable(name) => split(&lookup(name), &mut field, &mut fields),
        }
    }
    fields.extend(field);
    fields
}

fn split(value: &str, field: &mut Option<String>, fields: &mut Vec<String>) {
    if value.starts_with(char::is_whitespace) {
        fields.extend(field.take());
    }
    for (place, part) in value.split_whitespace().enumerate() {
        if place > 0 {
            fields.extend(field.take());
        }
        field.get_or_insert_default().push_str(part);
    }
    if value.ends_with(char::is_whitespace) {
        fields.extend(field.take());
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn arguments(text: &str) -> Vec<String> {
        let items = parse(text).expect("a script");
        let simple = items.first().and_then(|item| item.chain.first()?.1.first());
        let lookup = |name: &str| match name {
            "two" => "a b".to_owned(),
            _ => String::new(),
        };
        expand(&simple.expect("a command").words, lookup)
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(arguments("x $two y"), ["x", "a", "b", "y"]);
        assert_eq!(arguments("\"$two\"z ''"), ["a bz", ""]);
        assert_eq!(arguments("x $none \"$none\""), ["x", ""]);
        assert_eq!(arguments(r#"'$two' \$two "\$two""#), ["$two"; 3]);
        assert_eq!(arguments("1$two'2'"), ["1a", "b2"]);
    }

    #[test]
    fn assignments_need_a_plain_name() {
        let first = |text: &str| {
            let items = parse(text).ok()?;
            let simple = items.first()?.chain.first()?.1.first()?.clone();
            assignment(simple.words.first()?)
        };
        assert_eq!(first("A='x y'").map(|(name, _)| name).as_deref(), Some("A"));
        assert_eq!(first("1=x"), None);
        assert_eq!(first("'A'=x"), None);
        assert_eq!(first("echo"), None);
    }
}
