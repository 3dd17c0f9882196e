//! What a program of a sandbox draws, for a terminal of ours: all that draws goes through as it is; what would make the
//! terminal answer, or change something outside of its screen, is dropped.
//!
//! An answer of the terminal arrives as if the person had typed it. A clipboard, a title or a file that the terminal reads or
//! writes for a program are ours and not the sandbox's.

use super::terminal_rules::{
    TerminalPermissions, csi_passes, dcs_passes, escape_passes, osc_passes,
};

/// The longest sequence that is passed on; hyperlinks are the longest that anybody needs.
const LONGEST: usize = 8 * 1024;

const BEL: u8 = 0x07;
const ENQ: u8 = 0x05;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// Filters a stream of chunks; the cut between them does not matter.
#[derive(Debug, Default)]
pub struct TerminalFilter {
    permissions: TerminalPermissions,
    state: State,
    /// The open sequence, from its `ESC` on.
    held: Vec<u8>,
    /// Bytes that are still missing of a character.
    missing: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    /// After the first byte of what may be a control character of two bytes.
    HighControl,
    Escape,
    Csi,
    Osc,
    /// At the start of a device control string.
    Dcs,
    /// In a string that goes through: a picture.
    Passing,
    /// In a string that is dropped.
    Dropping,
    /// After an `ESC` that may end a string.
    StringEnd {
        /// Which: a command to the system, else a picture or what is dropped.
        of: StringKind,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringKind {
    Osc,
    Passing,
    Dropped,
}

impl TerminalFilter {
    /// Creates a filter that has seen nothing yet.
    #[must_use]
    pub fn new(permissions: TerminalPermissions) -> Self {
        Self {
            permissions,
            ..Self::default()
        }
    }

    /// Reads the next bytes and adds what may pass to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for byte in bytes {
            self.step(*byte, out);
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        match (self.state, byte) {
            (State::Ground, _) => self.ground(byte, out),
            (State::HighControl, _) => self.high_control(byte, out),
            (State::StringEnd { of }, _) => self.string_end(of, byte, out),
            (_, CAN | SUB) => self.reset(),
            (State::Escape, _) => self.escape(byte, out),
            (State::Csi, _) => self.csi(byte, out),
            (State::Osc, BEL) => self.end_osc(&[BEL], out),
            (State::Osc, ESC) => {
                self.state = State::StringEnd {
                    of: StringKind::Osc,
                }
            }
            (State::Osc, _) => self.hold(byte),
            (State::Dcs, _) => self.dcs(byte, out),
            (State::Passing, ESC) => {
                self.state = State::StringEnd {
                    of: StringKind::Passing,
                }
            }
            (State::Passing, b'\r' | b'\n' | 0x20..0x7f) => out.push(byte),
            (State::Dropping, ESC) => {
                self.state = State::StringEnd {
                    of: StringKind::Dropped,
                }
            }
            (State::Passing | State::Dropping, _) => {}
        }
    }

    fn reset(&mut self) {
        self.held.clear();
        self.state = State::Ground;
    }

    fn open(&mut self) {
        self.held.clear();
        self.held.push(ESC);
        self.missing = 0;
        self.state = State::Escape;
    }

    /// Keeps a byte of the open sequence; one that is too long is dropped with all that belongs to it.
    fn hold(&mut self, byte: u8) {
        if self.held.len() < LONGEST {
            self.held.push(byte);
            return;
        }
        match self.state {
            // Its end is still to be found.
            State::Osc => {}
            State::Csi | State::Escape => self.reset(),
            _ => self.state = State::Dropping,
        }
    }

    fn ground(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            ESC => self.open(),
            // A terminal answers it with a text of its own.
            ENQ => {}
            0x00..0x80 => {
                self.missing = 0;
                out.push(byte);
            }
            // The rest of a character, unless none is open: then it is a control character of one byte.
            0x80..0xc0 if self.missing > 0 => {
                self.missing -= 1;
                out.push(byte);
            }
            0x80..0xa0 => {}
            0xc2 => self.state = State::HighControl,
            _ => {
                self.missing = match byte {
                    0xc0..0xe0 => 1,
                    0xe0..0xf0 => 2,
                    0xf0..0xf8 => 3,
                    _ => 0,
                };
                out.push(byte);
            }
        }
    }

    /// Drops control characters of two bytes: some terminals read them as the beginning of a sequence.
    fn high_control(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.state = State::Ground;
        match byte {
            0x80..0xa0 => {}
            0xa0..0xc0 => out.extend([0xc2, byte]),
            _ => self.ground(byte, out),
        }
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            ESC => self.open(),
            // Terminals obey it in the middle of a sequence.
            0x00..0x20 => self.ground(byte, out),
            b'[' if self.held.len() == 1 => self.begin(State::Csi, byte),
            b']' if self.held.len() == 1 => self.begin(State::Osc, byte),
            b'P' if self.held.len() == 1 => self.begin(State::Dcs, byte),
            // Strings for applications, and a title of older terminals.
            b'X' | b'^' | b'_' | b'k' if self.held.len() == 1 => self.state = State::Dropping,
            0x20..0x30 => self.hold(byte),
            0x30..0x7f => {
                self.held.push(byte);
                let passes = escape_passes(&self.held);
                self.close(passes, out);
            }
            _ => {}
        }
    }

    fn begin(&mut self, state: State, byte: u8) {
        self.held.push(byte);
        self.state = state;
    }

    /// Ends a sequence that has been held back.
    fn close(&mut self, passes: bool, out: &mut Vec<u8>) {
        if passes {
            out.extend(&self.held);
        }
        self.reset();
    }

    fn csi(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            ESC => self.open(),
            ENQ => {}
            0x00..0x20 => out.push(byte),
            0x20..0x40 => self.hold(byte),
            0x40..0x7f => {
                self.held.push(byte);
                let passes = csi_passes(&self.held, self.permissions);
                self.close(passes, out);
            }
            _ => {}
        }
    }

    fn end_osc(&mut self, end: &[u8], out: &mut Vec<u8>) {
        let text = self.held.get(2..).unwrap_or_default();
        let passes = self.held.len() < LONGEST && osc_passes(text, self.permissions);
        self.held.extend(end);
        self.close(passes, out);
    }

    fn dcs(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            ESC => {
                self.state = State::StringEnd {
                    of: StringKind::Dropped,
                }
            }
            0x40..0x7f => {
                self.held.push(byte);
                let passes = dcs_passes(&self.held, self.permissions);
                if passes {
                    out.extend(&self.held);
                }
                self.held.clear();
                self.state = if passes {
                    State::Passing
                } else {
                    State::Dropping
                };
            }
            _ => self.hold(byte),
        }
    }

    /// After `ESC` in a string: a backslash ends it, anything else gives it up and begins another sequence.
    fn string_end(&mut self, of: StringKind, byte: u8, out: &mut Vec<u8>) {
        match (of, byte) {
            (StringKind::Osc, b'\\') => self.end_osc(b"\x1b\\", out),
            (StringKind::Passing, b'\\') => {
                out.extend(b"\x1b\\");
                self.reset();
            }
            (StringKind::Dropped, b'\\') => self.reset(),
            _ => {
                self.open();
                self.step(byte, out);
            }
        }
    }
}

#[cfg(test)]
mod tests;
