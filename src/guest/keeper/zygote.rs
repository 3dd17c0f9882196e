//! The zygote: a process in all namespaces and cgroups of the sandbox but not in its process list, from which everything that
//! runs there is started. Joining a cgroup costs many milliseconds; so it is done once, here.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::fchown;
use std::os::unix::net::UnixStream;

use super::root::Trees;
use super::streams::silence;
use super::{init, line, paused_zygote};
use crate::kernel::{self, as_path, with_context};
use crate::wire::plan::{Ids, Plan};
use crate::wire::{self, GuestStreams, RunRequest, ZygoteAnswer, ZygoteRequest};
use crate::{abi, sockets, sys};

/// What the keeper says when it has mapped the users.
pub(super) const IDS_MAPPED: &[u8] = b"+";
/// Open files; some programs walk through all possible ones.
const MOST_FILES: u64 = 65_536;
/// Longest wait for a signal to be sent, in milliseconds; who sends it may itself be stopped from inside.
const SIGNALLING: i32 = 1000;

/// Runs the zygote and never returns; failures before it is ready are sent as `error …`.
pub(crate) fn run(plan: &Plan, keeper: &UnixStream, trees: Option<Trees>, alive: OwnedFd) -> ! {
    kernel::end_with_parent();
    silence();
    match prepare(plan, keeper, trees, alive).and_then(|()| serve(plan, keeper)) {
        Ok(()) => kernel::exit_now(1),
        Err(error) => give_up(keeper, &error),
    }
}

/// Ends with a word about the reason.
pub(crate) fn give_up(keeper: &UnixStream, error: &io::Error) -> ! {
    let answer = ZygoteAnswer::Failed(error.to_string());
    let _ = line::send(keeper, &answer.encode(), &[]);
    kernel::exit_now(1)
}

/// Enters cgroups and namespaces, starts init, and gives up what is not needed from then on.
fn prepare(
    plan: &Plan,
    keeper: &UnixStream,
    trees: Option<Trees>,
    alive: OwnedFd,
) -> io::Result<()> {
    join_cgroups(plan)?;
    if let Some(count) = plan.processors {
        kernel::use_processors(count);
    }
    // Asked before, because nobody is anybody in a namespace without a map.
    let own = HostIds {
        uid: sys::uid(),
        gid: sys::gid(),
    };
    let network = if plan.own_network {
        abi::CLONE_NEWNET
    } else {
        0
    };
    with_context(
        "making namespaces (unshare)",
        kernel::unshare(kernel::NEW_NAMESPACES | network),
    )?;
    // Where init has built the root, a process that is not in its list does not find itself any more.
    std::env::set_current_dir(paused_zygote::OWN_NAMESPACES)?;
    become_first_user(plan, keeper, own)?;
    if plan.counts_sockets() {
        offer_socket_memory(keeper)?;
    }
    start_init(plan, keeper, trees, alive)?;
    // Only a frozen zygote needs somebody to take its place.
    let namespaces = if plan.freezer.is_some() {
        paused_zygote::open_namespaces(plan)?
    } else {
        Vec::new()
    };
    std::env::set_current_dir("/")?;
    drop_rights(plan)?;
    let raw: Vec<RawFd> = namespaces.iter().map(AsRawFd::as_raw_fd).collect();
    line::send(keeper, &ZygoteAnswer::Ready.encode(), &raw)
}

/// Sends the keeper a socket by which it can ask about those of the sandbox. A kernel that has none cannot tell.
fn offer_socket_memory(keeper: &UnixStream) -> io::Result<()> {
    let asked = kernel::make_socket(abi::AF_NETLINK, abi::SOCK_RAW, abi::NETLINK_SOCK_DIAG);
    asked.map_or(Ok(()), |socket| {
        line::send(
            keeper,
            &ZygoteAnswer::Sockets.encode(),
            &[socket.as_raw_fd()],
        )
    })
}

fn join_cgroups(plan: &Plan) -> io::Result<()> {
    for folder in &plan.cgroups {
        let members = as_path(folder).join("cgroup.procs");
        with_context(
            &format!("joining {}", members.display()),
            fs::write(&members, "0"),
        )?;
    }
    Ok(())
}

/// Starts init and waits until it has built the root.
fn start_init(
    plan: &Plan,
    keeper: &UnixStream,
    trees: Option<Trees>,
    alive: OwnedFd,
) -> io::Result<()> {
    let (near, far) = UnixStream::pair()?;
    match with_context("starting init", kernel::fork_sibling())? {
        None => {
            drop(near);
            init::run(plan, &far, trees, alive)
        }
        Some(pid) => line::send(keeper, &ZygoteAnswer::Init { pid }.encode(), &[])?,
    }
    drop((far, trees, alive));
    let said = io::read_to_string(near)?;
    if said.as_bytes() == init::ROOT_BUILT {
        return Ok(());
    }
    Err(io::Error::other(if said.is_empty() {
        "init ended while the root was being built".to_owned()
    } else {
        said
    }))
}

/// Who this process is outside of the new user namespace.
#[derive(Clone, Copy)]
struct HostIds {
    uid: u32,
    gid: u32,
}

/// Gives up what neither this process nor any that it starts may ever do again.
pub(crate) fn drop_rights(plan: &Plan) -> io::Result<()> {
    kernel::limit_capabilities();
    kernel::no_new_privileges()?;
    // Where the kernel cannot, an attempt from inside tells.
    let _ = kernel::enter_domain();
    sys::hide_from_peers();
    kernel::end_with_parent();
    if plan.filter.is_empty() {
        Ok(())
    } else {
        kernel::filter_calls(&plan.filter)
    }
}

/// Gets the identities of the new user namespace: from the keeper, who is root, or the one that everybody may have.
fn become_first_user(plan: &Plan, mut keeper: &UnixStream, own: HostIds) -> io::Result<()> {
    match plan.ids {
        Ids::Block(_) => {
            line::send(keeper, &ZygoteAnswer::NeedsIds.encode(), &[])?;
            let mut answer = [0];
            io::Read::read_exact(&mut keeper, &mut answer)?;
            kernel::become_user(0, 0, true)
        }
        Ids::Single(uid, gid) => {
            with_context("setgroups", fs::write("/proc/self/setgroups", "deny"))?;
            with_context(
                "mapping the user (uid_map)",
                fs::write("/proc/self/uid_map", format!("{uid} {} 1", own.uid)),
            )?;
            with_context(
                "mapping the group (gid_map)",
                fs::write("/proc/self/gid_map", format!("{gid} {} 1", own.gid)),
            )
        }
    }
}

/// Starts what the keeper asks for, one line each.
pub(crate) fn serve(plan: &Plan, keeper: &UnixStream) -> io::Result<()> {
    let mut incoming = line::Incoming::default();
    kernel::release_code_pages();
    loop {
        let Some((line, fds)) = incoming.next(keeper)? else {
            return Ok(());
        };
        let started = match ZygoteRequest::parse(&line) {
            Some(ZygoteRequest::Run(run)) => start(plan, &run, fds),
            Some(ZygoteRequest::Signal(signal)) => send_signal(signal),
            None => Err(io::Error::other("a request that makes no sense")),
        };
        let (answer, terminal) = match started {
            Ok((pid, terminal)) => (ZygoteAnswer::Started { pid }, terminal),
            Err(error) => (ZygoteAnswer::Failed(explain(&error)), None),
        };
        let fds: Vec<RawFd> = terminal.iter().map(AsRawFd::as_raw_fd).collect();
        line::send(keeper, &answer.encode(), &fds)?;
    }
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock => wire::REFUSED_NO_ROOM.to_owned(),
        _ => error.to_string(),
    }
}

/// A process that was started, and the other side of its terminal.
type Started = (i32, Option<OwnedFd>);

/// Starts a guest; for a terminal, its other side comes back.
fn start(plan: &Plan, run: &RunRequest, mut fds: Vec<OwnedFd>) -> io::Result<Started> {
    let mut master = None;
    if let GuestStreams::Terminal { rows, columns } = run.streams {
        let (near, far) = open_terminal(rows, columns)?;
        // Without rights to give it away it is the user's own already.
        let _ = fchown(&far, Some(run.uid), Some(run.gid));
        master = Some(near);
        fds = vec![far.try_clone()?, far.try_clone()?, far];
    }
    let [stdin, stdout, stderr] = fds.as_slice() else {
        return Err(io::Error::other("a request without streams"));
    };
    let streams = [stdin.as_raw_fd(), stdout.as_raw_fd(), stderr.as_raw_fd()];
    if let Some(pid) = sys::once_there_is_room(kernel::fork_sibling)? {
        return Ok((pid, master));
    }
    kernel::new_session();
    kernel::set_standard_streams(streams);
    if master.is_some() {
        kernel::control_terminal();
    }
    kernel::close_from(3);
    let error = become_payload(plan, run).map_or_else(
        |error| error,
        |()| kernel::execute(wire::GUEST_PATH, &run.argv, &run.env),
    );
    eprintln!("{}starting the guest failed: {error}", wire::COMPLAINT);
    kernel::exit_now(126)
}

/// Becomes the sandbox's user, with no more rights than that one has, where the guest is to start.
fn become_payload(plan: &Plan, run: &RunRequest) -> io::Result<()> {
    sys::unblock_signals();
    // No core files of foreign programs.
    kernel::limit(abi::RLIMIT_CORE, 0);
    kernel::limit(abi::RLIMIT_NOFILE, MOST_FILES);
    for (resource, most) in &plan.limits {
        kernel::limit(*resource, *most);
    }
    kernel::become_user(run.uid, run.gid, matches!(plan.ids, Ids::Block(_)))?;
    kernel::drop_capabilities()?;
    // A work directory that was moved away must not lock everybody out.
    if std::env::set_current_dir(as_path(&run.work_dir)).is_err() {
        std::env::set_current_dir("/")?;
    }
    Ok(())
}

/// Opens a terminal of the sandbox's own: both sides of it.
fn open_terminal(rows: u16, columns: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let master = File::options().read(true).write(true).open("/dev/pts/ptmx");
    let master = OwnedFd::from(with_context("opening a terminal", master)?);
    let peer = kernel::terminal_peer(&master, rows, columns)?;
    Ok((master, peer))
}

/// Signals every process of the sandbox from inside, and returns when that is done: a stop that came after the signal to go on
/// would hold for ever.
fn send_signal(signal: i32) -> io::Result<Started> {
    let (done, doing) = io::pipe()?;
    if let Some(pid) = kernel::fork_sibling()? {
        drop(doing);
        sockets::wait_for(&mut [sockets::PollFd::new(&done)], SIGNALLING);
        return Ok((pid, None));
    }
    kernel::signal_all(signal);
    kernel::exit_now(0)
}
