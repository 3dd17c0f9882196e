//! What clients ask of a keeper, and what it does about it.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::line::{self, Incoming};
use super::overdue::WatchedExec;
use super::{Keeper, paused_zygote};
use crate::abi::{SIGCONT, SIGKILL, SIGSTOP, SIGTERM};
use crate::kernel::{as_path, with_context};
use crate::wire::{
    self, KeeperAnswer, KeeperRequest, RunRequest, Verb, ZygoteAnswer, ZygoteRequest,
};
use crate::{processes, sys};

/// Time between the polite and the final signal of a stop.
const GRACE: Duration = Duration::from_millis(500);

/// Somebody who is connected.
pub(super) struct Client {
    pub(super) socket: UnixStream,
    incoming: Incoming,
    /// The guest that was started for it, and its verb.
    guest: Option<(i32, Verb)>,
}

impl Client {
    /// Greets somebody who has asked for nothing yet.
    pub(super) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            incoming: Incoming::default(),
            guest: None,
        }
    }

    /// Tells whether a guest runs for it.
    pub(super) fn is_busy(&self) -> bool {
        self.guest.is_some()
    }

    /// Sends an answer; `false` when nobody is there any more.
    fn answer(&self, answer: &KeeperAnswer, fds: &[OwnedFd]) -> bool {
        let fds: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
        line::send(&self.socket, &answer.encode(), &fds).is_ok()
    }

    /// Tells it that its guest has ended, if it was this one.
    pub(super) fn report_exit(&mut self, pid: i32, status: i32) {
        if self.guest.take_if(|(guest, _)| *guest == pid).is_some() {
            self.answer(&KeeperAnswer::Exited { status }, &[]);
        }
    }

    /// Returns the guest that only looks into the sandbox.
    fn reader(&self) -> Option<i32> {
        let (guest, verb) = self.guest?;
        verb.is_read_only().then_some(guest)
    }
}

impl Keeper {
    /// Reads what a client asks for and does it; `false` when it is gone or talks nonsense.
    pub(super) fn read_request(&mut self, index: usize) -> bool {
        let Some(client) = self.clients.get_mut(index) else {
            return false;
        };
        if !client.incoming.read(&client.socket).unwrap_or(false) {
            return false;
        }
        let Some((line, fds)) = client.incoming.take() else {
            return true;
        };
        let answered = match KeeperRequest::parse(&line) {
            Some(KeeperRequest::Run(run)) => self.run(index, run, &fds),
            Some(KeeperRequest::Hello) => Ok((self.status(), Vec::new())),
            Some(KeeperRequest::Pause) => self.pause().map(done_answer),
            Some(KeeperRequest::Resume) => self.resume().map(done_answer),
            Some(KeeperRequest::Stop) => self.stop().map(done_answer),
            Some(KeeperRequest::Kill) => self.kill().map(done_answer),
            None => Err(io::Error::other("this keeper does not know that request")),
        };
        let refused = |error: io::Error| (KeeperAnswer::Refused(error.to_string()), Vec::new());
        let (answer, fds) = answered.unwrap_or_else(refused);
        let client = self.clients.get(index);
        client.is_some_and(|client| client.answer(&answer, &fds))
    }

    /// Tells how the sandbox stands, and below which process it is found.
    fn status(&self) -> KeeperAnswer {
        KeeperAnswer::Status {
            paused: self.paused,
            pid: std::process::id(),
        }
    }

    /// Has the zygote start a guest, and remembers for whom.
    fn run(&mut self, index: usize, run: RunRequest, fds: &[OwnedFd]) -> io::Result<Answered> {
        let verb = run
            .verb()
            .ok_or_else(|| io::Error::other("a request that makes no sense"))?;
        if self.paused && !verb.is_read_only() {
            return Err(io::Error::other(wire::REFUSED_PAUSED));
        }
        let fds: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
        let exec = WatchedExec::of(&run);
        let (pid, passed) = self.ask_zygote(&ZygoteRequest::Run(run), &fds)?;
        if let Some(client) = self.clients.get_mut(index) {
            client.guest = Some((pid, verb));
        }
        self.execs.extend(exec.map(|exec| exec.by(pid)));
        Ok((KeeperAnswer::Started { pid }, passed))
    }

    fn ask_zygote(
        &self,
        request: &ZygoteRequest,
        fds: &[RawFd],
    ) -> io::Result<(i32, Vec<OwnedFd>)> {
        // A frozen zygote would not answer, and we could not resume it while we wait.
        let is_frozen = self.paused && self.plan.freezer.is_some();
        let substitute = is_frozen
            .then(|| paused_zygote::start(self.plan, &self.namespaces))
            .transpose()?;
        let zygote = substitute.as_ref().unwrap_or(&self.ask);
        line::send(zygote, &request.encode(), fds)?;
        let (answer, passed) = Incoming::default()
            .next(zygote)?
            .ok_or_else(|| io::Error::other("the zygote ended"))?;
        match ZygoteAnswer::parse(&answer) {
            Some(ZygoteAnswer::Started { pid }) => Ok((pid, passed)),
            Some(ZygoteAnswer::Failed(reason)) => Err(io::Error::other(reason)),
            _ => Err(io::Error::other("the zygote gave no answer")),
        }
    }

    /// A client that goes takes along the command or the reading that was started for it. Work on files sees the end of its input,
    /// and cleans up by itself.
    pub(super) fn drop_client(&mut self, index: usize) {
        let client = self.clients.swap_remove(index);
        let Some((Ok(pid), verb)) = client.guest.map(|(pid, verb)| (u32::try_from(pid), verb))
        else {
            return;
        };
        if verb.is_read_only() {
            sys::kill(pid, SIGKILL);
        } else if verb == Verb::Exec {
            sys::kill(pid, SIGTERM);
            // One that was stopped from inside would not hear it.
            sys::kill(pid, SIGCONT);
            self.hurry(pid.cast_signed());
        }
    }

    fn pause(&mut self) -> io::Result<()> {
        match &self.plan.freezer {
            Some(freezer) => {
                with_context("pausing", fs::write(as_path(&freezer.file), &freezer.on))?;
            }
            None => self.signal_twice(SIGSTOP)?,
        }
        self.paused = true;
        Ok(())
    }

    fn resume(&mut self) -> io::Result<()> {
        let readers = self.clients.iter().filter_map(Client::reader);
        readers.for_each(|guest| paused_zygote::join_cgroups(self.plan, guest));
        match &self.plan.freezer {
            Some(freezer) => {
                with_context("resuming", fs::write(as_path(&freezer.file), &freezer.off))?;
            }
            None => self.signal_twice(SIGCONT)?,
        }
        self.paused = false;
        self.postpone_ends();
        Ok(())
    }

    /// Twice, because what forks at the right moment escapes the first.
    fn signal_twice(&self, signal: i32) -> io::Result<()> {
        for _ in 0..2 {
            self.ask_zygote(&ZygoteRequest::Signal(signal), &[])?;
        }
        Ok(())
    }

    fn stop(&mut self) -> io::Result<()> {
        if self.paused {
            self.resume()?;
        }
        // At its process limit a sandbox cannot be asked; then there is no politeness.
        let asked = self.ask_zygote(&ZygoteRequest::Signal(SIGTERM), &[]);
        self.stopping = Some(Instant::now() + if asked.is_ok() { GRACE } else { Duration::ZERO });
        Ok(())
    }

    pub(super) fn continue_stop(&mut self) {
        let Some(deadline) = self.stopping else {
            return;
        };
        if Instant::now() >= deadline || processes::descendants().len() <= 2 {
            self.signal_init(SIGKILL);
        }
    }

    fn kill(&mut self) -> io::Result<()> {
        self.signal_init(SIGKILL);
        // A frozen process hears even this only when it goes on.
        if self.paused && self.plan.freezer.is_some() {
            self.resume()
        } else {
            Ok(())
        }
    }
}

/// An answer, and descriptors that go with it.
type Answered = (KeeperAnswer, Vec<OwnedFd>);

fn done_answer((): ()) -> Answered {
    (KeeperAnswer::Done, Vec::new())
}
