//! `guest keeper`: the process outside that keeps one sandbox alive, starts what runs in it, and takes it down.
//!
//! ```text
//! keeper    host namespaces; a poll loop over its socket; sleeps unless asked
//!  ├ zygote namespaces and cgroups of the sandbox, but not in its process list
//!  ├ init   first process of the sandbox; its end is the end of all others
//!  └ guests one for each command or file verb, inside; started by the zygote, or by a substitute if that is frozen; reaped here
//! ```
//!
//! Whoever of them is killed, nothing stays: init holds a pipe from the keeper, and the kernel ends a process list with init.

mod end;
mod init;
mod line;
mod outside;
mod overdue;
mod paused_zygote;
mod requests;
mod root;
mod socket_memory;
mod streams;
mod watch;
mod zygote;

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::abi::{SIGCHLD, SIGKILL};
use crate::kernel::{self, with_context};
use crate::processes;
use crate::sockets::{self, PollFd};
use crate::sys::{self, Signals, Wait};
use crate::wire::plan::{Ids, Plan};
use crate::wire::{self, StartReport, ZygoteAnswer};
use line::Incoming;
use overdue::WatchedExec;
use requests::Client;
use watch::Watcher;

/// How often a stop checks whether everything has ended, in milliseconds.
const POLL_MILLIS: i32 = 10;

/// Runs the keeper of the sandbox whose folder is the current one; the plan is on standard input, the answer on standard output.
pub(crate) fn run() -> ! {
    let code = match start() {
        Ok(mut keeper) => {
            // Whoever waits for this may be gone; then the next command of sandtop decides what becomes of the sandbox.
            let _ = writeln!(io::stdout(), "{}", StartReport::Ready.encode());
            streams::silence();
            kernel::release_code_pages();
            keeper.serve();
            keeper.end()
        }
        Err(error) => {
            let report = StartReport::Failed(error.to_string());
            let _ = writeln!(io::stdout(), "{}", report.encode());
            1
        }
    };
    kernel::exit_now(code)
}

fn start() -> io::Result<Keeper> {
    let folder = std::env::current_dir()?;
    let plan = read_plan()?;
    // Nobody has to reap us, and no terminal can signal us.
    if kernel::fork_child()?.is_some() {
        kernel::exit_now(0);
    }
    kernel::new_session();
    let lock = take_lock(&folder)?;
    let listener = listen(&folder)?;
    let outside = outside::socket(plan);
    let children = Signals::take_over(&[SIGCHLD]).into_file();
    let (near, far) = UnixStream::pair()?;
    let (alive_read, alive_write) = io::pipe()?;
    let trees = match plan.ids {
        Ids::Block(_) => Some(root::open_trees(plan)?),
        Ids::Single(..) => None,
    };
    let Some(zygote) = kernel::fork_child()? else {
        drop((near, alive_write, listener, lock, outside));
        sys::unblock_signals();
        zygote::run(plan, &far, trees, alive_read.into())
    };
    drop((far, alive_read, trees));
    let keeper = Keeper {
        plan,
        folder,
        listener,
        children,
        zygote,
        ask: near,
        namespaces: Vec::new(),
        init: 0,
        _alive: alive_write.into(),
        _lock: lock,
        _outside: outside,
        clients: Vec::new(),
        execs: Vec::new(),
        paused: false,
        stopping: None,
        watcher: plan.watch.as_ref().map(Watcher::new),
    };
    keeper.when_ready()
}

/// Reads the plan, which lives as long as the keeper.
fn read_plan() -> io::Result<&'static Plan> {
    let text = io::read_to_string(io::stdin())?;
    let plan = Plan::parse(&text).map_err(io::Error::other)?;
    Ok(Box::leak(Box::new(plan)))
}

/// Takes the lock that tells whether a keeper lives.
fn take_lock(folder: &Path) -> io::Result<File> {
    let lock = File::create(folder.join(wire::KEEPER_LOCK));
    let lock = with_context("opening the lock", lock)?;
    lock.try_lock()
        .map_err(|_| io::Error::other("it is running already"))?;
    Ok(lock)
}

/// Makes the socket. Its name is relative, because absolute ones may be longer than the kernel allows.
fn listen(folder: &Path) -> io::Result<UnixListener> {
    let _ = fs::remove_file(folder.join(wire::KEEPER_SOCKET));
    let listener = with_context("making the socket", UnixListener::bind(wire::KEEPER_SOCKET))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

struct Keeper {
    plan: &'static Plan,
    folder: PathBuf,
    listener: UnixListener,
    children: File,
    zygote: i32,
    ask: UnixStream,
    /// The sandbox's, for reading in it while it is frozen.
    namespaces: Vec<OwnedFd>,
    init: i32,
    /// Its other end is with init, which ends when this does.
    _alive: OwnedFd,
    _lock: File,
    _outside: Option<UnixDatagram>,
    clients: Vec<Client>,
    execs: Vec<WatchedExec>,
    paused: bool,
    stopping: Option<Instant>,
    watcher: Option<Watcher<'static>>,
}

impl Keeper {
    /// Returns it when the sandbox stands, or takes down what there is of it.
    fn when_ready(mut self) -> io::Result<Self> {
        match self.await_ready() {
            Ok(()) => Ok(self),
            Err(error) => {
                self.end();
                Err(error)
            }
        }
    }

    /// Follows the zygote until the sandbox stands.
    fn await_ready(&mut self) -> io::Result<()> {
        let mut incoming = Incoming::default();
        loop {
            let (line, fds) = incoming
                .next(&self.ask)?
                .ok_or_else(|| io::Error::other("the zygote ended"))?;
            // They are sent with the last line, but lines that wait together come together, and what was sent along with them.
            self.namespaces.extend(fds);
            match ZygoteAnswer::parse(&line) {
                Some(ZygoteAnswer::NeedsIds) => self.map_ids()?,
                // It was the first that came; the namespaces come in the end.
                Some(ZygoteAnswer::Sockets) => self.watch_sockets(),
                Some(ZygoteAnswer::Init { pid }) => self.init = pid,
                Some(ZygoteAnswer::Ready) => return Ok(()),
                Some(ZygoteAnswer::Failed(reason)) => return Err(io::Error::other(reason)),
                Some(ZygoteAnswer::Started { .. }) | None => {
                    return Err(io::Error::other("the zygote talks nonsense"));
                }
            }
        }
    }

    fn watch_sockets(&mut self) {
        let socket = self.namespaces.drain(..1.min(self.namespaces.len())).next();
        if let Some((watcher, socket)) = self.watcher.as_mut().zip(socket) {
            watcher.watch_sockets(socket);
        }
    }

    fn map_ids(&self) -> io::Result<()> {
        if let Ids::Block(base) = self.plan.ids {
            for map in ["uid_map", "gid_map"] {
                let file = format!("/proc/{}/{map}", self.zygote);
                with_context(
                    &format!("writing {map}"),
                    fs::write(file, format!("0 {base} 65536")),
                )?;
            }
        }
        sockets::send(&self.ask, zygote::IDS_MAPPED, &[])
    }

    /// Serves until the sandbox ends.
    fn serve(&mut self) {
        while self.init != 0 {
            let mut fds = vec![
                PollFd::new(&self.children),
                PollFd::new(&self.listener),
                PollFd::new(&self.ask),
            ];
            fds.extend(
                self.clients
                    .iter()
                    .map(|client| PollFd::new(&client.socket)),
            );
            sockets::wait_for(&mut fds, self.poll_timeout());
            let ready: Vec<bool> = fds.iter().map(PollFd::is_ready).collect();
            self.handle_ready(&ready);
        }
    }

    fn handle_ready(&mut self, ready: &[bool]) {
        let is_ready = |index: usize| ready.get(index) == Some(&true);
        if is_ready(0) {
            sys::drain(&self.children);
        }
        // A sandbox whose zygote is gone can start nothing; it ends as a whole.
        if is_ready(2) {
            self.signal_init(SIGKILL);
        }
        for index in (0..self.clients.len()).rev() {
            if is_ready(index + 3) && !self.read_request(index) {
                self.drop_client(index);
            }
        }
        if is_ready(1)
            && let Ok((socket, _)) = self.listener.accept()
        {
            self.clients.push(Client::new(socket));
        }
        self.reap();
        self.end_overdue();
        self.continue_stop();
    }

    /// Tells how long there is nothing to do, in milliseconds.
    fn poll_timeout(&mut self) -> i32 {
        let busy = self.clients.iter().any(Client::is_busy);
        let spared = [self.zygote, self.init];
        let check = match &mut self.watcher {
            // Without a guest only what was left in the background runs; it is watched, but not as closely.
            Some(watcher) if !self.paused => {
                Some(watcher.check(&spared).max(if busy { 0 } else { 100 }))
            }
            _ => None,
        };
        let millis = match (self.stopping, check) {
            (Some(_), _) => POLL_MILLIS,
            (None, Some(millis)) if busy || processes::descendants().len() > spared.len() => millis,
            _ => -1,
        };
        self.until_overdue(millis)
    }

    fn reap(&mut self) {
        let mut abandoned = Vec::new();
        while let Wait::Ended(child) = sys::reap() {
            let pid = i32::try_from(child.pid).unwrap_or(0);
            if pid == self.init {
                self.init = 0;
            }
            let clients = self.clients.iter_mut();
            clients.for_each(|client| client.report_exit(pid, child.status));
            abandoned.extend(self.take_abandoned(pid, child.status));
        }
        self.end_abandoned(&abandoned);
    }

    fn signal_init(&self, signal: i32) {
        if let Ok(init @ 1..) = u32::try_from(self.init) {
            sys::kill(init, signal);
        }
    }
}
