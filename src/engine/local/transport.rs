//! How the guest program is reached in a local sandbox: the keeper starts it, its streams are ours directly.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::keeper::{self, Address};
use super::place::Place;
use super::record::Record;
use super::streams::{Input, Master, Printed};
use super::{environment, users};
use crate::domain::{SandboxId, StdinMode, TtySize};
use crate::engine::guest::{GuestCall, Link, Stdio, Transport, command_line, random_word};
use crate::engine::{EngineError, ExecStdin, Result};
use crate::guest::wire;
use crate::protocol::FailureKind;

/// Reaches the sandboxes of a place.
#[derive(Clone)]
pub(super) struct Local {
    place: Place,
    known: Known,
}

/// Terminals that can be resized, and how guests ended that nobody has asked about yet.
#[derive(Clone, Default)]
pub(super) struct Known(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    terminals: HashMap<String, Master>,
    exits: HashMap<String, i32>,
}

impl Known {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how a guest ended, by its raw status.
    pub(super) fn ended(&self, name: &str, status: i32) {
        let code = match status & 0x7f {
            0 => (status >> 8) & 0xff,
            signal => 128 + signal,
        };
        self.book().exits.insert(name.to_owned(), code);
    }

    /// Forgets a terminal.
    pub(super) fn closed(&self, name: &str) {
        self.book().terminals.remove(name);
    }
}

impl Local {
    /// Reaches the sandboxes of a place.
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            known: Known::default(),
        }
    }

    /// Connects to the keeper of a running sandbox.
    async fn connect(&self, record: &Record) -> Result<Keeper> {
        let folder = self.place.folder(&record.id);
        let name = &record.asked.name;
        let Ok(address) = Address::of(&folder) else {
            return Err(EngineError::not_found(format!("the sandbox {name}")));
        };
        match UnixStream::connect(&address.path).await {
            Ok(socket) => Ok(Keeper {
                socket,
                bytes: Vec::new(),
                fds: Vec::new(),
            }),
            Err(_) => Err(EngineError::new(
                FailureKind::Conflict,
                format!("running a command: {name} is not running"),
            )
            .with_hint("`sandtop start` it first")),
        }
    }

    async fn start_piped(
        &self,
        mut keeper: Keeper,
        request: String,
        stdin: StdinMode,
    ) -> Result<Link> {
        let broken = |error: io::Error| failed("attaching to a command", &error);
        let (out_far, out_near) = pipe::pipe().map_err(broken)?;
        let (err_far, err_near) = pipe::pipe().map_err(broken)?;
        let (in_far, in_near) = input(stdin).map_err(broken)?;
        let fds = [
            in_far,
            out_far.into_blocking_fd().map_err(broken)?,
            err_far.into_blocking_fd().map_err(broken)?,
        ];
        keeper.send(&request, &fds).await.map_err(broken)?;
        drop(fds);
        started(&mut keeper).await?;
        let name = random_word();
        let printed = Printed::new(out_near, Some(err_near), keeper, self.known.clone(), &name);
        Ok(Link {
            output: printed.into_stream(),
            stdin: in_near,
            name,
        })
    }

    async fn start_terminal(&self, mut keeper: Keeper, request: String) -> Result<Link> {
        let broken = |error: io::Error| failed("opening a terminal", &error);
        keeper.send(&request, &[]).await.map_err(broken)?;
        started(&mut keeper).await?;
        let master = keeper.fds.pop().ok_or(io::ErrorKind::BrokenPipe);
        let master = master.map_err(|kind| broken(kind.into()))?;
        let (master, reader, writer) = Master::new(master).map_err(broken)?;
        let name = random_word();
        let mut book = self.known.book();
        book.terminals.insert(name.clone(), master);
        drop(book);
        let printed = Printed::new(reader, None, keeper, self.known.clone(), &name);
        Ok(Link {
            output: printed.into_stream(),
            stdin: Box::new(writer),
            name,
        })
    }
}

fn failed(tried: &str, error: &io::Error) -> EngineError {
    EngineError::internal(format!("{tried} failed: {error}"))
}

/// Makes both ends of standard input.
fn input(stdin: StdinMode) -> io::Result<(OwnedFd, ExecStdin)> {
    if stdin == StdinMode::Closed {
        return Ok((File::open("/dev/null")?.into(), Box::new(tokio::io::sink())));
    }
    let (near, far) = pipe::pipe()?;
    Ok((far.into_blocking_fd()?, Box::new(Input::new(near))))
}

/// Waits for the keeper to say that the guest runs.
async fn started(keeper: &mut Keeper) -> Result<()> {
    let words = keeper.line().await;
    let words = words.map_err(|error| failed("starting a command", &error))?;
    let Some(words) = words else {
        return Err(EngineError::new(
            FailureKind::Conflict,
            "starting a command: the sandbox has just ended",
        )
        .with_hint("`sandtop start` it first"));
    };
    match (words.first().map(String::as_str), words.get(1)) {
        (Some("started"), _) => Ok(()),
        (_, Some(reason)) if reason == "paused" => Err(EngineError::new(
            FailureKind::Conflict,
            "running a command: the sandbox is paused",
        )
        .with_hint("it is paused; `sandtop resume` it first")),
        (_, reason) => {
            let reason = reason.map(String::as_str).unwrap_or_default();
            Err(EngineError::internal(format!(
                "the engine could not start a process in the sandbox: {reason}"
            ))
            .with_hint("the sandbox may be at its process limit; `sandtop kill` or `sandtop rm -f` still works"))
        }
    }
}

#[async_trait]
impl Transport for Local {
    async fn start(&self, id: &SandboxId, call: GuestCall) -> Result<Link> {
        let record = self.place.record(id.as_str());
        let record = record.ok_or_else(|| EngineError::not_found(format!("the sandbox {id}")))?;
        let user = users::of_exec(&self.place, &record, call.user.as_deref())?;
        let keeper = self.connect(&record).await?;
        let request = request(&record, call.stdio, user, &call);
        match call.stdio {
            Stdio::Pipes(stdin) => self.start_piped(keeper, request, stdin).await,
            Stdio::Terminal(_) => self.start_terminal(keeper, request).await,
        }
    }

    async fn exit_code(&self, name: &str) -> Option<i32> {
        self.known.book().exits.remove(name)
    }

    async fn is_live(&self, id: &SandboxId) -> bool {
        let folder = self.place.folder(id.as_str());
        let asked = tokio::task::spawn_blocking(move || keeper::ask(&folder, "hello")).await;
        matches!(asked, Ok(Ok(keeper::Answer::Ok(_))))
    }

    /// The guest sees the counter of kills itself.
    async fn saw_oom(&self, _id: &SandboxId, _since: DateTime<Utc>) -> bool {
        false
    }

    async fn resize(&self, name: &str, size: TtySize) -> Result<()> {
        let master = self.known.book().terminals.get(name).cloned();
        let master = master.ok_or_else(|| EngineError::not_found("the terminal"))?;
        let resized = master.resize(size);
        resized.map_err(|error| failed("resizing a terminal", &error))
    }

    fn explain(&self, printed: &str) -> Option<EngineError> {
        let said = printed.strip_prefix("sandtop: ")?;
        Some(EngineError::internal(said.to_owned()))
    }
}

/// Writes the request to start the guest; see the keeper for its form.
fn request(record: &Record, stdio: Stdio, (uid, gid): (u32, u32), call: &GuestCall) -> String {
    let (kind, size) = match stdio {
        Stdio::Pipes(_) => ("pipes", None),
        Stdio::Terminal(size) => ("terminal", Some(size)),
    };
    let env = environment::of_exec(record, &call.env, size.is_some());
    let (rows, columns) = size.map_or((0, 0), |size| (size.rows, size.columns));
    let mut words = vec!["run".to_owned(), kind.to_owned()];
    words.extend([rows.to_string(), columns.to_string()]);
    words.extend([uid.to_string(), gid.to_string()]);
    let mut words: Vec<String> = words.iter().map(|w| wire::escape(w.as_bytes())).collect();
    words.push(wire::escape(record.asked.work_dir().as_bytes()));
    words.push(env.len().to_string());
    let argv = command_line(call.words.clone());
    words.extend(env.iter().chain(&argv).map(|w| wire::escape(w.as_bytes())));
    words.join(" ")
}

/// A connection to a keeper.
pub(super) struct Keeper {
    socket: UnixStream,
    bytes: Vec<u8>,
    fds: Vec<OwnedFd>,
}

impl Keeper {
    /// Sends a line, and descriptors with its first bytes.
    async fn send(&mut self, line: &str, fds: &[OwnedFd]) -> io::Result<()> {
        let line = format!("{line}\n");
        let borrowed: Vec<BorrowedFd<'_>> = fds.iter().map(AsFd::as_fd).collect();
        let mut sent = 0;
        while let Some(rest) = line.as_bytes().get(sent..).filter(|rest| !rest.is_empty()) {
            let with: &[BorrowedFd<'_>] = if sent == 0 { &borrowed } else { &[] };
            let sending = || send_some(&self.socket, rest, with);
            sent += self.socket.async_io(Interest::WRITABLE, sending).await?;
        }
        Ok(())
    }

    /// Waits for the next line; `None` at the end.
    pub(super) async fn line(&mut self) -> io::Result<Option<Vec<String>>> {
        loop {
            if let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=end).collect();
                return Ok(Some(keeper::words(&String::from_utf8_lossy(&line))));
            }
            let mut piece = [0; 4096];
            let (bytes, fds) = (&mut piece, &mut self.fds);
            let reading = || receive_some(&self.socket, bytes, fds);
            let got = self.socket.async_io(Interest::READABLE, reading).await?;
            if got == 0 {
                return Ok(None);
            }
            self.bytes.extend(piece.get(..got).unwrap_or_default());
        }
    }
}

fn send_some(socket: &UnixStream, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(fds));
    }
    let parts = [io::IoSlice::new(bytes)];
    Ok(rustix::net::sendmsg(
        socket,
        &parts,
        &mut control,
        SendFlags::NOSIGNAL,
    )?)
}

fn receive_some(
    socket: &UnixStream,
    bytes: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [io::IoSliceMut::new(bytes)];
    let got = rustix::net::recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            fds.extend(passed);
        }
    }
    Ok(got.bytes)
}
