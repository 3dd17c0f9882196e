//! Which sequences a program of a sandbox may send to our terminal.

/// What is allowed besides drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerminalPermissions {
    /// Setting the clipboard; reading it never is.
    pub clipboard: bool,
    /// Titles of the window.
    pub titles: bool,
    /// Questions that the terminal answers by typing.
    pub queries: bool,
}

/// Judges a sequence of `ESC`, perhaps some bytes between, and a last one.
pub(super) fn escape_passes(sequence: &[u8]) -> bool {
    // What kind of terminal it is; how it is to send its answers; the end of a string that is none.
    !matches!(sequence, [_, b'Z' | b'\\'] | [_, b' ', ..])
}

/// Judges a sequence that begins with `ESC [`.
pub(super) fn csi_passes(sequence: &[u8], allowed: TerminalPermissions) -> bool {
    let Some((last, before)) = sequence.get(2..).and_then(<[u8]>::split_last) else {
        return false;
    };
    let is_marked = |mark: u8| before.first() == Some(&mark);
    let between = before
        .iter()
        .copied()
        .find(|byte| (0x20..0x30).contains(byte));
    match (*last, between) {
        // Where the cursor is, what kind of terminal it is, what it has set.
        (b'n', None) => allowed.queries || is_marked(b'>'),
        (b'c' | b'x', None) | (b'p' | b'w' | b'u', Some(b'$')) => allowed.queries,
        (b'q', None) => !is_marked(b'>') || allowed.queries,
        (b'u' | b'm' | b'S', None) => !is_marked(b'?') || allowed.queries,
        // What is on the screen, where the mouse is, which colours were set; and printing.
        (b'y', Some(b'*'))
        | (b'|' | b'w', Some(b'\''))
        | (b'R' | b'S', Some(b'#'))
        | (b'i', None) => false,
        // The window, and with it its title.
        (b't', None) => {
            allowed.titles
                && matches!(
                    before,
                    b"22" | b"23" | b"22;0" | b"23;0" | b"22;2" | b"23;2"
                )
        }
        // An older language, in which other sequences ask.
        (b'l', None) => before != b"?2",
        _ => true,
    }
}

/// Judges a command to the terminal by its text: hyperlinks, marks of the prompt and colours pass.
pub(super) fn osc_passes(text: &[u8], allowed: TerminalPermissions) -> bool {
    let (number, rest) = match text.iter().position(|byte| *byte == b';') {
        Some(at) => text.split_at(at),
        None => (text, &[][..]),
    };
    // A control character would end the command for some terminals, and what follows would be read as another one.
    let is_text = |text: &str| !text.chars().any(char::is_control);
    if !std::str::from_utf8(text).is_ok_and(is_text) {
        return false;
    }
    let asks = rest.split(|byte| *byte == b';').any(|part| part == b"?");
    match number {
        b"8" | b"104" | b"110" | b"111" | b"112" | b"133" => true,
        b"4" | b"10" | b"11" | b"12" => !asks || allowed.queries,
        b"0" | b"1" | b"2" => allowed.titles,
        b"52" => allowed.clipboard && !asks,
        _ => false,
    }
}

/// Judges a device control string by what stands before its text: pictures pass.
pub(super) fn dcs_passes(start: &[u8], allowed: TerminalPermissions) -> bool {
    let Some((last, before)) = start.get(2..).and_then(<[u8]>::split_last) else {
        return false;
    };
    let is_picture = before
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b';');
    let asks = matches!(before.last(), Some(b'+' | b'$'));
    *last == b'q' && (is_picture || (asks && allowed.queries))
}
