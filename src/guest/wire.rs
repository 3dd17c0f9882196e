//! The bytes that the guest program and the engine exchange; compiled into both, so that they cannot disagree.

mod records;

use std::collections::BTreeMap;

pub use records::{
    DATA_HEAD, DATA_PIECE, Decoder, Entry, Record, data_head, end_bytes, entry_bytes, padding,
};

/// Where the engine mounts the guest program.
pub const GUEST_DIR: &str = "/.sandtop";
/// The guest program's path in a sandbox.
pub const GUEST_PATH: &str = "/.sandtop/guest";
/// Folder in memory where named sessions are kept.
pub const SESSION_DIR: &str = "/run/sandtop/sessions";
/// Folder in memory where execs leave how they ended, for whoever comes when their follower is gone.
pub const ENDS_DIR: &str = "/run/sandtop/ends";
/// Variable that hands the guest its end mark, out of sight of other processes.
pub const MARK_VARIABLE: &str = "SANDTOP_END_MARK";
/// Variable that every process of an exec carries, so that it is found even when it has left the tree.
pub const EXEC_VARIABLE: &str = "SANDTOP_EXEC";
/// Where a sandbox of the embedded engine shows how often the kernel killed for memory.
pub const MEMORY_EVENTS: &str = "/.sandtop/memory.events";
/// A keeper's socket, in the folder of its sandbox.
pub const KEEPER_SOCKET: &str = "socket";
/// Locked as long as a keeper lives.
pub const KEEPER_LOCK: &str = "lock";
/// When the sandbox last ended, in milliseconds since 1970.
pub const KEEPER_DEATH: &str = "death";
/// What happened to the sandboxes of a scope, in the folder above theirs: a line each of milliseconds, id, name, word, detail.
pub const JOURNAL: &str = "journal";

/// Makes the bytes that end a stream; `secret` is known to the engine and the guest only.
///
/// It starts with the two bytes that are rarest in text and programs, and not the same one twice: the search for it skips
/// everything else at full speed, also endless zeros.
#[must_use]
pub fn mark(secret: &str) -> Vec<u8> {
    format!("\x1e\x1fsandtop-end:{secret}\0").into_bytes()
}

/// Writes the last words of the guest: what follows the mark on standard error.
#[must_use]
pub fn trailer_bytes(fields: &BTreeMap<&str, String>) -> Vec<u8> {
    let words: Vec<String> = fields
        .iter()
        .map(|(key, value)| format!("{key}={}", escape(value.as_bytes())))
        .collect();
    format!("{}\n", words.join(" ")).into_bytes()
}

/// Reads the last words of the guest.
#[must_use]
pub fn trailer_fields(line: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(line);
    let pairs = text
        .split_whitespace()
        .filter_map(|word| word.split_once('='));
    pairs
        .map(|(key, value)| {
            (
                key.to_owned(),
                String::from_utf8_lossy(&unescape(value)).into_owned(),
            )
        })
        .collect()
}

/// Writes any bytes as an argument that survives JSON and command lines.
#[must_use]
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b',' | b':' => {
                out.push(char::from(*byte));
            }
            other => push_hex(&mut out, *other),
        }
    }
    out
}

fn push_hex(out: &mut String, byte: u8) {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
}

/// Reads what [`escape`] wrote.
#[must_use]
pub fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| hex_byte(after)).flatten();
        out.push(code.unwrap_or(*first));
        rest = after
            .get(if code.is_some() { 2 } else { 0 }..)
            .unwrap_or_default();
    }
    out
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive_as_an_argument() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unescape(&escape(&all)), all);
        assert_eq!(unescape("100%"), b"100%");
        assert_eq!(escape(b"/a b"), "/a%20b");
    }

    #[test]
    fn trailers_survive() {
        let fields = BTreeMap::from([
            ("cause", "exit".to_owned()),
            ("message", "a b=c\n".to_owned()),
        ]);
        let read = trailer_fields(&trailer_bytes(&fields));
        assert_eq!(read.get("message").map(String::as_str), Some("a b=c\n"));
        assert_eq!(read.get("cause").map(String::as_str), Some("exit"));
    }
}
