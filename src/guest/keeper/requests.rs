//! What clients ask of a keeper, and what it does about it.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::line::{Incoming, Line};
use super::{Keeper, plan, window};
use crate::abi::{SIGCONT, SIGKILL, SIGSTOP, SIGTERM};
use crate::kernel::{as_path, tried};
use crate::{processes, sockets, sys};

/// Time between the polite and the final signal of a stop.
const GRACE: Duration = Duration::from_millis(500);

/// Somebody who is connected.
pub(super) struct Client {
    pub(super) socket: UnixStream,
    incoming: Incoming,
    /// The guest that was started for it.
    pub(super) guest: Option<i32>,
    /// Does that run a command, and not only a verb of ours?
    is_command: bool,
    /// Does that change nothing?
    is_look: bool,
}

impl Client {
    /// Greets somebody who has asked for nothing yet.
    pub(super) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            incoming: Incoming::default(),
            guest: None,
            is_command: false,
            is_look: false,
        }
    }
}

impl Keeper {
    /// Hears what a client says; `false` when it is gone or talks nonsense.
    pub(super) fn hear(&mut self, index: usize) -> bool {
        let Some(client) = self.clients.get_mut(index) else {
            return false;
        };
        if !client.incoming.read(&client.socket).unwrap_or(false) {
            return false;
        }
        let Some((words, fds)) = client.incoming.take() else {
            return true;
        };
        let answer = match words.first().map(Vec::as_slice) {
            Some(b"hello") => Ok(self.greeting()),
            Some(b"run") => return self.run(index, &words, &fds),
            Some(b"freeze") => self.freeze(true).map(|()| Line::new("ok")),
            Some(b"thaw") => self.freeze(false).map(|()| Line::new("ok")),
            Some(b"stop") => self.stop().map(|()| Line::new("ok")),
            Some(b"kill") => self.kill().map(|()| Line::new("ok")),
            _ => Err(io::Error::other("this keeper does not know that request")),
        };
        let answer = answer.unwrap_or_else(|error| Line::new("error").word(error.to_string()));
        self.clients
            .get(index)
            .is_some_and(|client| sockets::send(&client.socket, answer.bytes(), &[]).is_ok())
    }

    /// Tells how the sandbox stands, and below which process it is found.
    fn greeting(&self) -> Line {
        let state = if self.paused { "paused" } else { "running" };
        Line::new("ok")
            .word(state)
            .word(std::process::id().to_string())
    }

    /// Has the zygote start a guest, and tells the client.
    fn run(&mut self, index: usize, words: &[Vec<u8>], fds: &[OwnedFd]) -> bool {
        let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
        let is_look = window::is_look(words);
        let asked = if is_look || !self.paused {
            self.ask_zygote(words, &raw)
        } else {
            Err(io::Error::other("paused"))
        };
        let (answer, passed) = match asked {
            Ok((pid, passed)) => {
                if let Some(client) = self.clients.get_mut(index) {
                    client.guest = Some(pid);
                    client.is_command = window::verb(words) == Some(b"exec");
                    client.is_look = is_look;
                }
                (Line::new("started").word(pid.to_string()), passed)
            }
            Err(error) => (Line::new("error").word(error.to_string()), Vec::new()),
        };
        let passed: Vec<RawFd> = passed.iter().map(AsRawFd::as_raw_fd).collect();
        self.clients
            .get(index)
            .is_some_and(|client| sockets::send(&client.socket, answer.bytes(), &passed).is_ok())
    }

    fn ask_zygote(&self, words: &[Vec<u8>], fds: &[RawFd]) -> io::Result<(i32, Vec<OwnedFd>)> {
        // A frozen zygote would not answer, and we could not thaw it while we wait.
        let is_frozen = self.paused && self.plan.freezer.is_some();
        let window = is_frozen
            .then(|| window::open(self.plan, &self.namespaces))
            .transpose()?;
        let zygote = window.as_ref().unwrap_or(&self.ask);
        sockets::send(zygote, Line::of(words).bytes(), fds)?;
        let (answer, passed) = Incoming::default()
            .next(zygote)?
            .ok_or_else(|| io::Error::other("the zygote ended"))?;
        match plan::number(&answer, 1) {
            Some(pid) => Ok((pid, passed)),
            None => Err(io::Error::other(
                String::from_utf8_lossy(answer.get(1).unwrap_or(&Vec::new())).into_owned(),
            )),
        }
    }

    /// A client that goes takes along the command or the look that was started for it. Work on files sees the end of its input,
    /// and cleans up by itself.
    pub(super) fn hang_up(&mut self, index: usize) {
        let client = self.clients.swap_remove(index);
        let Some(Ok(pid)) = client.guest.map(u32::try_from) else {
            return;
        };
        if client.is_look {
            sys::kill(pid, SIGKILL);
        } else if client.is_command {
            sys::kill(pid, SIGTERM);
        }
    }

    fn freeze(&mut self, on: bool) -> io::Result<()> {
        if !on {
            let looks = self.clients.iter().filter(|client| client.is_look);
            looks
                .filter_map(|client| client.guest)
                .for_each(|guest| window::take_in(self.plan, guest));
        }
        match &self.plan.freezer {
            Some(freezer) => {
                let text = if on { &freezer.on } else { &freezer.off };
                tried("freezing", fs::write(as_path(&freezer.file), text))?;
            }
            None => self.freeze_by_signals(on)?,
        }
        self.paused = on;
        Ok(())
    }

    /// Twice, because what forks at the right moment escapes the first.
    fn freeze_by_signals(&self, on: bool) -> io::Result<()> {
        let signal = if on { SIGSTOP } else { SIGCONT };
        for _ in 0..2 {
            self.ask_zygote(&[b"signal".to_vec(), signal.to_string().into_bytes()], &[])?;
        }
        Ok(())
    }

    fn stop(&mut self) -> io::Result<()> {
        if self.paused {
            self.freeze(false)?;
        }
        // At its process limit a sandbox cannot be asked; then there is no politeness.
        let asked = self.ask_zygote(&[b"signal".to_vec(), SIGTERM.to_string().into_bytes()], &[]);
        self.stopping = Some(Instant::now() + if asked.is_ok() { GRACE } else { Duration::ZERO });
        Ok(())
    }

    pub(super) fn go_on_stopping(&mut self) {
        let Some(deadline) = self.stopping else {
            return;
        };
        if Instant::now() >= deadline || processes::descendants().len() <= 2 {
            self.signal_init(SIGKILL);
        }
    }

    fn kill(&mut self) -> io::Result<()> {
        self.signal_init(SIGKILL);
        // A frozen process hears even this only when it is thawed.
        if self.paused && self.plan.freezer.is_some() {
            self.freeze(false)
        } else {
            Ok(())
        }
    }
}
