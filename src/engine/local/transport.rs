//! How the guest program is reached in a local sandbox: the keeper starts it, its streams are ours directly.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::keeper::{self, Address, is_nobody};
use super::keeper_connection::KeeperConnection;
use super::record::SandboxRecord;
use super::state_dir::StateDir;
use super::streams::{GuestOutput, StdinPipe, TerminalMaster};
use super::{environment, unpacked, users};
use crate::domain::{SandboxId, StdinMode, TtySize};
use crate::engine::guest::{GuestCall, Link, Stdio, Transport, command_line, random_word};
use crate::engine::{EngineError, ExecStdin, Result};
use crate::guest::wire::{self, GuestStreams, KeeperAnswer, KeeperRequest, RunRequest};
use crate::protocol::FailureKind;

/// Reaches the sandboxes of a scope.
#[derive(Clone)]
pub(super) struct LocalTransport {
    state_dir: StateDir,
    table: GuestTable,
}

/// Terminals that can be resized, and how guests ended that nobody has asked about yet.
#[derive(Clone, Default)]
pub(super) struct GuestTable(Arc<Mutex<TableEntries>>);

#[derive(Default)]
struct TableEntries {
    terminals: HashMap<String, TerminalMaster>,
    exits: HashMap<String, i32>,
}

impl GuestTable {
    fn entries(&self) -> MutexGuard<'_, TableEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how a guest ended, by its raw status.
    pub(super) fn record_exit(&self, name: &str, status: i32) {
        let code = match status & 0x7f {
            0 => (status >> 8) & 0xff,
            signal => 128 + signal,
        };
        self.entries().exits.insert(name.to_owned(), code);
    }

    /// Forgets a terminal.
    pub(super) fn forget_terminal(&self, name: &str) {
        self.entries().terminals.remove(name);
    }
}

impl LocalTransport {
    /// Reaches the sandboxes of a scope.
    pub(super) fn new(state_dir: StateDir) -> Self {
        Self {
            state_dir,
            table: GuestTable::default(),
        }
    }

    /// Connects to the keeper of a running sandbox.
    async fn connect(&self, record: &SandboxRecord) -> Result<KeeperConnection> {
        let folder = self.state_dir.folder(&record.id);
        let name = &record.asked.name;
        let reach = |error: io::Error| failure(&format!("reaching {name}"), &error);
        let address = match Address::of(&folder) {
            Ok(address) => address,
            Err(error) if is_nobody(&error) => {
                return Err(EngineError::not_found(format!("the sandbox {name}")));
            }
            Err(error) => return Err(reach(error)),
        };
        match UnixStream::connect(&address.path).await {
            Ok(socket) => Ok(KeeperConnection::new(socket)),
            Err(error) if is_nobody(&error) => Err(EngineError::new(
                FailureKind::Conflict,
                format!("running a command: {name} is not running"),
            )
            .with_hint("`sandtop start` it first")),
            Err(error) => Err(reach(error)),
        }
    }

    async fn start_piped(
        &self,
        mut keeper: KeeperConnection,
        request: KeeperRequest,
        stdin: StdinMode,
    ) -> Result<Link> {
        let broken = |error: io::Error| failure("attaching to a command", &error);
        let (out_far, out_near) = pipe::pipe().map_err(broken)?;
        let (err_far, err_near) = pipe::pipe().map_err(broken)?;
        let (in_far, in_near) = stdin_ends(stdin).map_err(broken)?;
        let fds = [
            in_far,
            out_far.into_blocking_fd().map_err(broken)?,
            err_far.into_blocking_fd().map_err(broken)?,
        ];
        keeper.send(&request, &fds).await.map_err(broken)?;
        drop(fds);
        await_started(&mut keeper).await?;
        let name = random_word();
        let output = GuestOutput::new(out_near, Some(err_near), keeper, self.table.clone(), &name);
        Ok(Link {
            output: output.into_stream(),
            stdin: in_near,
            name,
        })
    }

    async fn start_terminal(
        &self,
        mut keeper: KeeperConnection,
        request: KeeperRequest,
    ) -> Result<Link> {
        let broken = |error: io::Error| failure("opening a terminal", &error);
        keeper.send(&request, &[]).await.map_err(broken)?;
        await_started(&mut keeper).await?;
        let master = keeper.fds.pop().ok_or(io::ErrorKind::BrokenPipe);
        let master = master.map_err(|kind| broken(kind.into()))?;
        let (master, reader, writer) = TerminalMaster::new(master).map_err(broken)?;
        let name = random_word();
        let mut entries = self.table.entries();
        entries.terminals.insert(name.clone(), master);
        drop(entries);
        let output = GuestOutput::new(reader, None, keeper, self.table.clone(), &name);
        Ok(Link {
            output: output.into_stream(),
            stdin: Box::new(writer),
            name,
        })
    }
}

fn failure(tried: &str, error: &io::Error) -> EngineError {
    EngineError::internal(format!("{tried} failed: {error}"))
}

/// Makes both ends of standard input.
fn stdin_ends(stdin: StdinMode) -> io::Result<(OwnedFd, ExecStdin)> {
    if stdin == StdinMode::Closed {
        return Ok((File::open("/dev/null")?.into(), Box::new(tokio::io::sink())));
    }
    let (near, far) = pipe::pipe()?;
    Ok((far.into_blocking_fd()?, Box::new(StdinPipe::new(near))))
}

/// Waits for the keeper to say that the guest runs.
async fn await_started(keeper: &mut KeeperConnection) -> Result<()> {
    let answer = keeper.answer().await;
    match answer.map_err(|error| failure("starting a command", &error))? {
        Some(KeeperAnswer::Started { .. }) => Ok(()),
        Some(KeeperAnswer::Refused(reason)) if reason == wire::REFUSED_PAUSED => {
            Err(EngineError::new(
                FailureKind::Conflict,
                "running a command: the sandbox is paused",
            )
            .with_hint("it is paused; `sandtop resume` it first"))
        }
        Some(KeeperAnswer::Refused(reason)) if reason == wire::REFUSED_NO_ROOM => {
            Err(EngineError {
                kind: FailureKind::Busy,
                ..start_refusal(&reason)
            })
        }
        Some(KeeperAnswer::Refused(reason)) => Err(start_refusal(&reason)),
        Some(other) => Err(start_refusal(&format!("{other:?}"))),
        None => Err(EngineError::new(
            FailureKind::Conflict,
            "starting a command: the sandbox has just ended",
        )
        .with_hint("`sandtop start` it first")),
    }
}

fn start_refusal(reason: &str) -> EngineError {
    EngineError::internal(format!(
        "the engine could not start a process in the sandbox: {reason}"
    ))
    .with_hint(
        "the sandbox may be at its process limit; `sandtop kill` or `sandtop rm -f` still works",
    )
}

#[async_trait]
impl Transport for LocalTransport {
    async fn start(&self, id: &SandboxId, call: GuestCall) -> Result<Link> {
        let readable = self.state_dir.check_readable();
        readable.map_err(|error| failure("reading the sandbox", &error))?;
        let record = self.state_dir.record(id.as_str());
        let record = record.ok_or_else(|| EngineError::not_found(format!("the sandbox {id}")))?;
        let user = match call.user.as_deref() {
            Some(user) => {
                let image = unpacked::of_record(&self.state_dir, &record)?;
                users::of_exec(&record, user, &image)?
            }
            None => (record.uid, record.gid),
        };
        let keeper = self.connect(&record).await?;
        let request = request(&record, user, &call);
        match call.stdio {
            Stdio::Pipes(stdin) => self.start_piped(keeper, request, stdin).await,
            Stdio::Terminal(_) => self.start_terminal(keeper, request).await,
        }
    }

    async fn exit_code(&self, name: &str) -> Option<i32> {
        self.table.entries().exits.remove(name)
    }

    async fn is_live(&self, id: &SandboxId) -> bool {
        let folder = self.state_dir.folder(id.as_str());
        let asked =
            tokio::task::spawn_blocking(move || keeper::ask(&folder, &KeeperRequest::Hello)).await;
        matches!(asked, Ok(Ok(Some(KeeperAnswer::Status { .. }))))
    }

    /// The guest sees the counter of kills itself.
    async fn saw_oom(&self, _id: &SandboxId, _since: DateTime<Utc>) -> bool {
        false
    }

    async fn resize(&self, name: &str, size: TtySize) -> Result<()> {
        let master = self.table.entries().terminals.get(name).cloned();
        let master = master.ok_or_else(|| EngineError::not_found("the terminal"))?;
        let resized = master.resize(size);
        resized.map_err(|error| failure("resizing a terminal", &error))
    }

    fn explain(&self, output: &str) -> Option<EngineError> {
        let said = output.strip_prefix(wire::COMPLAINT)?;
        Some(EngineError::internal(said.to_owned()))
    }
}

/// Writes the request to start the guest.
fn request(record: &SandboxRecord, user: User, call: &GuestCall) -> KeeperRequest {
    let streams = match call.stdio {
        Stdio::Pipes(_) => GuestStreams::Pipes,
        Stdio::Terminal(TtySize { rows, columns }) => GuestStreams::Terminal { rows, columns },
    };
    let has_terminal = matches!(streams, GuestStreams::Terminal { .. });
    let env = environment::of_exec(record, &call.env, has_terminal);
    let argv = command_line(call.words.clone());
    KeeperRequest::Run(RunRequest {
        streams,
        uid: user.0,
        gid: user.1,
        work_dir: record.asked.work_dir().as_bytes().to_vec(),
        env: env.into_iter().map(String::into_bytes).collect(),
        argv: argv.into_iter().map(String::into_bytes).collect(),
    })
}

/// Number of a user and of its group.
type User = (u32, u32);
