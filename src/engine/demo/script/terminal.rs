//! An interactive shell on a terminal: a prompt, an echo, and keys that interrupt.

use std::collections::VecDeque;
use std::ops::ControlFlow::{Break, Continue};

use tokio::io::AsyncWriteExt;

use super::Flow;
use super::io::{Input, Io, PIECE, Sink, pipe};
use super::shell::Shell;

/// What is shown when a command is awaited.
const PROMPT: &[u8] = b"$ ";

/// Lines that may be typed ahead of a command.
const MOST_AHEAD: usize = 256;

/// A key, as the terminal understands it.
enum Key {
    Letter,
    Enter,
    Erase,
    Interrupt,
    End,
}

/// Runs lines typed at a terminal until the end of the input or `exit`.
pub(in crate::engine::demo) async fn interact(shell: &mut Shell, io: &Io) -> Flow {
    let mut keyboard = Keyboard::new(io.clone());
    loop {
        let _ = io.out.write(PROMPT).await;
        let Some(line) = keyboard.line().await else {
            return Continue(shell.status);
        };
        let text = String::from_utf8_lossy(&line);
        keyboard.attend(shell, &text).await?;
    }
}

/// Bytes typed, and the line they make.
struct Keyboard {
    io: Io,
    typed: std::vec::IntoIter<u8>,
    line: Vec<u8>,
    /// Lines that a command left unread.
    ahead: VecDeque<Vec<u8>>,
}

impl Keyboard {
    fn new(io: Io) -> Self {
        Self {
            io,
            typed: Vec::new().into_iter(),
            line: Vec::new(),
            ahead: VecDeque::new(),
        }
    }

    /// Waits for a whole line; `None` at the end of the input.
    async fn line(&mut self) -> Option<Vec<u8>> {
        if let Some(line) = self.ahead.pop_front() {
            return Some(line);
        }
        loop {
            match self.key().await? {
                Key::Enter => return Some(std::mem::take(&mut self.line)),
                Key::End if self.line.is_empty() => return None,
                Key::Interrupt => {
                    self.line.clear();
                    return Some(Vec::new());
                }
                Key::End | Key::Erase | Key::Letter => {}
            }
        }
    }

    /// Runs a line while what is typed goes to it; an interrupt ends it.
    async fn attend(&mut self, shell: &mut Shell, text: &str) -> Flow {
        let (write, input) = pipe();
        let mut write = Some(write);
        let io = Io {
            input,
            ..self.io.clone()
        };
        let mut at_end = false;
        let flow = {
            let mut running = shell.run_text(text, &io);
            loop {
                tokio::select! {
                    biased;
                    flow = &mut running => break Some(flow),
                    key = self.key(), if !at_end => match key {
                        Some(Key::Interrupt) => break None,
                        Some(Key::Enter) => self.feed(write.as_ref()).await,
                        Some(Key::End) => write = None,
                        Some(Key::Erase | Key::Letter) => {}
                        None => {
                            at_end = true;
                            write = None;
                        }
                    },
                }
            }
        };
        drop(write);
        self.take_back(&io.input).await;
        match flow {
            Some(Break(ended)) => Break(ended),
            Some(Continue(_)) => Continue(0),
            None => {
                self.ahead.clear();
                shell.status = 130;
                Continue(130)
            }
        }
    }

    /// Passes a line to the command if it has room for it; without a reader it waits for the shell.
    async fn feed(&mut self, write: Option<&Sink>) {
        let mut line = std::mem::take(&mut self.line);
        let Some(Sink::Pipe(pipe)) = write else {
            if self.ahead.len() < MOST_AHEAD {
                self.ahead.push_back(line);
            }
            return;
        };
        line.push(b'\n');
        let mut pipe = pipe.lock().await;
        tokio::select! {
            biased;
            _ = pipe.write_all(&line) => {}
            () = std::future::ready(()) => {}
        }
    }

    /// Keeps what a command did not read for the next line.
    async fn take_back(&mut self, input: &Input) {
        let mut unread = Vec::new();
        loop {
            let piece = input.read(PIECE).await;
            if piece.is_empty() {
                break;
            }
            unread.extend(piece);
        }
        let lines = unread.split_inclusive(|b| *b == b'\n');
        let lines = lines.map(|line| line.trim_ascii_end().to_vec());
        let later = std::mem::take(&mut self.ahead);
        self.ahead = lines.chain(later).collect();
    }

    /// Waits for a key and echoes it; `None` at the end of the input.
    async fn key(&mut self) -> Option<Key> {
        if self.typed.len() == 0 {
            self.typed = self.io.input.read(PIECE).await.into_iter();
        }
        let byte = self.typed.next()?;
        let (key, echo): (Key, &[u8]) = match byte {
            b'\r' | b'\n' => (Key::Enter, b"\n"),
            0x03 => (Key::Interrupt, b"^C\n"),
            0x04 => (Key::End, b""),
            0x08 | 0x7f if self.line.pop().is_some() => (Key::Erase, b"\x08 \x08"),
            0x08 | 0x7f => (Key::Erase, b""),
            byte if self.line.len() < PIECE => {
                self.line.push(byte);
                (Key::Letter, &[byte])
            }
            _ => (Key::Letter, b"\x07"),
        };
        let _ = self.io.out.write(echo).await;
        Some(key)
    }
}
