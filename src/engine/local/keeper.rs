//! Starts keepers and talks to them: a line out, a line back, over a socket in the sandbox's folder.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use crate::guest::wire::plan::Plan;
use crate::guest::wire::{self, Call, KeeperAnswer, KeeperRequest, StartReport};

/// Longest wait for a program that is still held open.
const BUSY: Duration = Duration::from_secs(2);
/// Longest wait for an answer; a keeper has little to do.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest wait for the end of a sandbox, which may have many processes.
const ENDING: Duration = Duration::from_secs(20);

/// A socket's address that fits: the real path may be longer than the kernel allows.
pub(super) struct Address {
    _folder: OwnedFd,
    pub(super) path: PathBuf,
}

impl Address {
    /// Names the socket in a sandbox's folder.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(folder, flags, Mode::empty())?;
        let number = folder.as_raw_fd();
        let path = PathBuf::from(format!("/proc/self/fd/{number}/{}", wire::KEEPER_SOCKET));
        Ok(Self {
            _folder: folder,
            path,
        })
    }
}

/// Starts the keeper of a sandbox, which then waits for its plan.
pub(super) fn start(guest: &Path, folder: &Path) -> io::Result<Child> {
    let mut command = Command::new(guest);
    command
        // The command line is public, also inside; the program's path is not for everybody.
        .arg0("sandtop")
        .args(Call::Keeper.encode())
        .env_clear()
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    spawn_when_closed(&mut command)
}

/// Gives a keeper its plan and waits until the sandbox stands; the error is the keeper's own words.
pub(super) fn send_plan(mut child: Child, plan: &Plan) -> io::Result<()> {
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(plan.encode().as_bytes())?;
    }
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    // What was started splits off the keeper and ends.
    child.wait()?;
    let line = first_line(stdout.into())?;
    match StartReport::parse(&line) {
        Some(StartReport::Ready) => Ok(()),
        Some(StartReport::Failed(reason)) => Err(io::Error::other(reason)),
        None => Err(io::Error::other("it ended while it was being started")),
    }
}

/// Reads a line, but not for ever.
fn first_line(pipe: OwnedFd) -> io::Result<String> {
    let mut fds = [rustix::event::PollFd::new(
        &pipe,
        rustix::event::PollFlags::IN,
    )];
    let limit = rustix::event::Timespec::try_from(PATIENCE).ok();
    if rustix::event::poll(&mut fds, limit.as_ref())? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut line = String::new();
    BufReader::new(File::from(pipe)).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

/// Connects to the keeper of a sandbox; `None` if there is no keeper. Any other trouble is ours and says nothing about it.
fn connect(folder: &Path) -> io::Result<Option<UnixStream>> {
    let connected = Address::of(folder).and_then(|address| UnixStream::connect(&address.path));
    match connected {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if is_nobody(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Tells that nobody listens at an address from a failure to find out.
pub(super) fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

/// Asks the keeper of a sandbox for something; `None` if there is no keeper.
pub(super) fn ask(folder: &Path, request: &KeeperRequest) -> io::Result<Option<KeeperAnswer>> {
    let Some(mut socket) = connect(folder)? else {
        return Ok(None);
    };
    socket.set_read_timeout(Some(PATIENCE))?;
    if send(&mut socket, request).is_err() {
        return Ok(None);
    }
    let mut line = String::new();
    match BufReader::new(&socket).read_line(&mut line) {
        Ok(0) => Ok(None),
        Ok(_) => {
            KeeperAnswer::parse(&line).map_or_else(|| Err(bad_answer()), |answer| Ok(Some(answer)))
        }
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
        Err(error) => Err(error),
    }
}

fn send(socket: &mut UnixStream, request: &KeeperRequest) -> io::Result<()> {
    socket.write_all(format!("{}\n", request.encode()).as_bytes())
}

fn bad_answer() -> io::Error {
    io::Error::other("its keeper talks nonsense")
}

/// Ends a sandbox by a stop or a kill, and waits until its keeper has ended, too.
pub(super) fn end(folder: &Path, request: &KeeperRequest) -> io::Result<()> {
    let Some(mut socket) = connect(folder)? else {
        return Ok(());
    };
    socket.set_read_timeout(Some(ENDING))?;
    if send(&mut socket, request).is_err() {
        return Ok(());
    }
    // The keeper keeps the connection until it is done.
    let mut rest = Vec::new();
    match socket.read_to_end(&mut rest) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(io::ErrorKind::TimedOut.into())
        }
        _ => Ok(()),
    }
}

/// Starts a program that was put there a moment ago. A child that another thread has just forked may hold it open for writing
/// until it becomes what it is meant to be; the kernel runs no such file, and it is over in no time.
fn spawn_when_closed(command: &mut Command) -> io::Result<Child> {
    let end = Instant::now() + BUSY;
    loop {
        match command.spawn() {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < end =>
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            other => return other,
        }
    }
}

/// Tells whether a keeper was killed: its socket is there, its lock is free.
pub(super) fn was_killed(folder: &Path) -> bool {
    if !folder.join(wire::KEEPER_SOCKET).exists() {
        return false;
    }
    let lock = File::open(folder.join(wire::KEEPER_LOCK));
    lock.is_ok_and(|lock| lock.try_lock_shared().is_ok())
}
