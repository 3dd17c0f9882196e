//! The zygote: a process in all namespaces and cgroups of the sandbox but not in its process list, from which everything that
//! runs there is started. Joining a cgroup costs many milliseconds; so it is done once, here.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::fchown;
use std::os::unix::net::UnixStream;

use super::line::Line;
use super::plan::{Ids, Plan, number};
use super::root::{self, Trees};
use super::window;
use crate::kernel::{self, as_path, tried};
use crate::{abi, sockets, sys, wire};

/// What init says when the root stands.
const READY: &[u8] = b"+";
/// Open files; some programs walk through all possible ones.
const MOST_FILES: u64 = 65_536;
/// Longest wait for a signal to be sent, in milliseconds; who sends it may itself be stopped from inside.
const SIGNALLING: i32 = 1000;

/// Runs the zygote and never returns; failures before it is ready are sent as `error …`.
pub(crate) fn run(plan: &Plan, keeper: &UnixStream, trees: Option<Trees>, alive: OwnedFd) -> ! {
    kernel::end_with_parent();
    silence();
    match prepare(plan, keeper, trees, alive).and_then(|()| serve(plan, keeper)) {
        Ok(()) => kernel::leave(1),
        Err(error) => give_up(keeper, &error),
    }
}

/// Ends with a word about the reason.
pub(crate) fn give_up(keeper: &UnixStream, error: &io::Error) -> ! {
    let _ = sockets::send(
        keeper,
        Line::new("error").word(error.to_string()).bytes(),
        &[],
    );
    kernel::leave(1)
}

/// Enters cgroups and namespaces, starts init, and gives up what is not needed from then on.
fn prepare(
    plan: &Plan,
    keeper: &UnixStream,
    trees: Option<Trees>,
    alive: OwnedFd,
) -> io::Result<()> {
    for folder in &plan.cgroups {
        let members = as_path(folder).join("cgroup.procs");
        tried(
            &format!("joining {}", members.display()),
            fs::write(&members, "0"),
        )?;
    }
    if let Some(count) = plan.processors {
        kernel::use_processors(count);
    }
    // Asked before, because nobody is anybody in a namespace without a map.
    let own = (sys::uid(), sys::gid());
    let network = if plan.own_network {
        abi::CLONE_NEWNET
    } else {
        0
    };
    tried(
        "making namespaces (unshare)",
        kernel::unshare(kernel::NEW_NAMESPACES | network),
    )?;
    // Where init has built the root, a process that is not in its list does not find itself any more.
    std::env::set_current_dir(window::OWN_NAMESPACES)?;
    become_first_user(plan, keeper, own)?;
    let (near, far) = UnixStream::pair()?;
    match tried("starting init", kernel::split_sibling())? {
        None => {
            drop(near);
            init(plan, &far, trees, alive)
        }
        Some(pid) => sockets::send(keeper, Line::new("init").word(pid.to_string()).bytes(), &[])?,
    }
    drop((far, trees, alive));
    let said = io::read_to_string(near)?;
    if said.as_bytes() != READY {
        let reason = if said.is_empty() {
            "init ended while the root was being built"
        } else {
            &said
        };
        return Err(io::Error::other(reason.to_owned()));
    }
    // Only a frozen zygote needs somebody to take its place.
    let namespaces = if plan.freezer.is_some() {
        window::namespaces(plan)?
    } else {
        Vec::new()
    };
    std::env::set_current_dir("/")?;
    drop_rights(plan)?;
    let raw: Vec<RawFd> = namespaces.iter().map(AsRawFd::as_raw_fd).collect();
    sockets::send(keeper, Line::new("ready").bytes(), &raw)
}

/// Gives up what neither this process nor any that it starts may ever do again.
pub(crate) fn drop_rights(plan: &Plan) -> io::Result<()> {
    kernel::limit_capabilities();
    kernel::no_new_privileges()?;
    sys::hide_from_peers();
    kernel::end_with_parent();
    if plan.filter.is_empty() {
        Ok(())
    } else {
        kernel::filter_calls(&plan.filter)
    }
}

/// Gets the identities of the new user namespace: from the keeper, who is root, or the one that everybody may have.
fn become_first_user(
    plan: &Plan,
    mut keeper: &UnixStream,
    (real_user, real_group): (u32, u32),
) -> io::Result<()> {
    match plan.ids {
        Ids::Block(_) => {
            sockets::send(keeper, Line::new("map").bytes(), &[])?;
            let mut answer = [0];
            io::Read::read_exact(&mut keeper, &mut answer)?;
            kernel::become_user(0, 0, true)
        }
        Ids::Single(uid, gid) => {
            tried("setgroups", fs::write("/proc/self/setgroups", "deny"))?;
            tried(
                "mapping the user (uid_map)",
                fs::write("/proc/self/uid_map", format!("{uid} {real_user} 1")),
            )?;
            tried(
                "mapping the group (gid_map)",
                fs::write("/proc/self/gid_map", format!("{gid} {real_group} 1")),
            )
        }
    }
}

/// The first process of the sandbox: builds its root, then only reaps; it ends with the keeper, and with it all others.
fn init(plan: &Plan, starter: &UnixStream, trees: Option<Trees>, alive: OwnedFd) -> ! {
    let built = root::build(plan, trees)
        .and_then(|()| {
            if plan.own_network {
                kernel::loopback_up()
            } else {
                Ok(())
            }
        })
        .and_then(|()| {
            kernel::limit_capabilities();
            kernel::no_new_privileges()?;
            kernel::drop_capabilities()
        });
    sys::hide_from_peers();
    kernel::end_with_parent();
    match built {
        Ok(()) => drop(sockets::send(starter, READY, &[])),
        Err(error) => {
            let _ = sockets::send(starter, error.to_string().as_bytes(), &[]);
            kernel::leave(1)
        }
    }
    silence();
    let alive = keep_only(alive);
    let children = sys::Signals::take_over(&[abi::SIGCHLD]).into_file();
    kernel::forget_code();
    loop {
        let mut fds = [
            sockets::PollFd::new(&alive),
            sockets::PollFd::new(&children),
        ];
        sockets::wait_for(&mut fds, -1);
        if fds[0].is_ready() {
            kernel::leave(0);
        }
        sys::drain(&children);
        while let sys::Wait::Ended(_) = sys::reap() {}
    }
}

/// Points the standard streams nowhere.
pub(crate) fn silence() {
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        kernel::set_standard_streams([nothing.as_raw_fd(); 3]);
    }
}

/// Closes everything but the standard streams and one descriptor.
pub(crate) fn keep_only(fd: OwnedFd) -> OwnedFd {
    let kept = sys::move_to_three(fd);
    kernel::close_from(4);
    kept
}

/// Starts what the keeper asks for, one line each.
pub(crate) fn serve(plan: &Plan, keeper: &UnixStream) -> io::Result<()> {
    let mut incoming = super::line::Incoming::default();
    kernel::forget_code();
    loop {
        let Some((words, fds)) = incoming.next(keeper)? else {
            return Ok(());
        };
        let answer = match words.first().map(Vec::as_slice) {
            Some(b"run") => start(plan, &words, fds),
            Some(b"signal") => signal(number(&words, 1).unwrap_or(abi::SIGKILL)),
            _ => Err(io::Error::other("unknown request")),
        };
        match answer {
            Ok((pid, terminal)) => {
                let fds: Vec<RawFd> = terminal.iter().map(AsRawFd::as_raw_fd).collect();
                sockets::send(
                    keeper,
                    Line::new("started").word(pid.to_string()).bytes(),
                    &fds,
                )?;
            }
            Err(error) => sockets::send(
                keeper,
                Line::new("error").word(explain(&error)).bytes(),
                &[],
            )?,
        }
    }
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock => "the process limit of the sandbox is reached".to_owned(),
        _ => error.to_string(),
    }
}

/// `run STDIO ROWS COLUMNS UID GID FOLDER COUNT ENV… WORDS…`
fn start(
    plan: &Plan,
    words: &[Vec<u8>],
    mut fds: Vec<OwnedFd>,
) -> io::Result<(i32, Option<OwnedFd>)> {
    let bad = || io::Error::other("a request that makes no sense");
    let (uid, gid) = (
        number(words, 4).ok_or_else(bad)?,
        number(words, 5).ok_or_else(bad)?,
    );
    let count: usize = number(words, 7).ok_or_else(bad)?;
    let (env, argv) = words
        .get(8..)
        .and_then(|rest| rest.split_at_checked(count))
        .ok_or_else(bad)?;
    let mut master = None;
    if words.get(1).is_some_and(|kind| kind == b"terminal") {
        let (near, far) = terminal(words, uid, gid)?;
        master = Some(near);
        fds = vec![far.try_clone()?, far.try_clone()?, far];
    }
    let [stdin, stdout, stderr] = fds.as_slice() else {
        return Err(bad());
    };
    let streams = [stdin.as_raw_fd(), stdout.as_raw_fd(), stderr.as_raw_fd()];
    if let Some(pid) = sys::once_there_is_room(kernel::split_sibling)? {
        return Ok((pid, master));
    }
    kernel::new_session();
    kernel::set_standard_streams(streams);
    if master.is_some() {
        kernel::control_terminal();
    }
    kernel::close_from(3);
    let error = become_payload(plan, uid, gid, words.get(6)).map_or_else(
        |error| error,
        |()| kernel::execute(wire::GUEST_PATH, argv, env),
    );
    eprintln!("sandtop: starting the guest failed: {error}");
    kernel::leave(126)
}

fn become_payload(plan: &Plan, uid: u32, gid: u32, folder: Option<&Vec<u8>>) -> io::Result<()> {
    sys::unblock_signals();
    // No core files of foreign programs.
    kernel::limit(abi::RLIMIT_CORE, 0);
    kernel::limit(abi::RLIMIT_NOFILE, MOST_FILES);
    for (resource, most) in &plan.limits {
        kernel::limit(*resource, *most);
    }
    kernel::become_user(uid, gid, matches!(plan.ids, Ids::Block(_)))?;
    kernel::drop_capabilities()?;
    // A work directory that was moved away must not lock everybody out.
    if let Some(folder) = folder
        && std::env::set_current_dir(as_path(folder)).is_err()
    {
        std::env::set_current_dir("/")?;
    }
    Ok(())
}

/// Opens a terminal of the sandbox's own.
fn terminal(words: &[Vec<u8>], uid: u32, gid: u32) -> io::Result<(OwnedFd, OwnedFd)> {
    let master = File::options().read(true).write(true).open("/dev/pts/ptmx");
    let master = OwnedFd::from(tried("opening a terminal", master)?);
    let peer = kernel::terminal_peer(
        &master,
        number(words, 2).unwrap_or(24),
        number(words, 3).unwrap_or(80),
    )?;
    // Without rights to give it away it is the user's own already.
    let _ = fchown(&peer, Some(uid), Some(gid));
    Ok((master, peer))
}

/// Signals every process of the sandbox from inside, and returns when that is done: a stop that came after the signal to go on
/// would hold for ever.
fn signal(signal: i32) -> io::Result<(i32, Option<OwnedFd>)> {
    let (done, doing) = io::pipe()?;
    if let Some(pid) = kernel::split_sibling()? {
        drop(doing);
        sockets::wait_for(&mut [sockets::PollFd::new(&done)], SIGNALLING);
        return Ok((pid, None));
    }
    kernel::signal_all(signal);
    kernel::leave(0)
}
