//! A zygote for a paused sandbox. The sandbox's own is frozen like all that is in its cgroups; so the keeper splits off another one,
//! which joins the namespaces but no cgroup, gives up the same rights, and lives for one request.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::{streams, zygote};
use crate::abi::SIGKILL;
use crate::kernel::{self, as_path, with_context};
use crate::sys;
use crate::wire::{self, plan::Plan};

/// Namespaces in the order in which they are joined: the first brings the right to join the others.
const NAMESPACES: [&str; 7] = [
    "user",
    "pid_for_children",
    "ipc",
    "uts",
    "cgroup",
    "mnt",
    "net",
];

/// Where a process finds its own.
pub(crate) const OWN_NAMESPACES: &str = "/proc/self/ns";

/// Opens the namespaces of this process, whose current folder is where it finds them.
pub(crate) fn open_namespaces(plan: &Plan) -> io::Result<Vec<OwnedFd>> {
    let wanted = NAMESPACES
        .iter()
        .filter(|name| plan.own_network || **name != "net");
    wanted
        .map(|name| with_context(name, File::open(Path::new(name))).map(OwnedFd::from))
        .collect()
}

/// Starts it: what is said into the socket is heard by a zygote that ends when it is closed.
pub(crate) fn start(plan: &Plan, namespaces: &[OwnedFd]) -> io::Result<UnixStream> {
    let (near, far) = UnixStream::pair()?;
    if kernel::fork_child()?.is_some() {
        return Ok(near);
    }
    sys::unblock_signals();
    let far = match join(namespaces) {
        // Sockets of clients, the lock and the rest are the keeper's alone.
        Ok(()) => UnixStream::from(streams::keep_only(far.into())),
        Err(error) => zygote::give_up(&far, &error),
    };
    match zygote::drop_rights(plan).and_then(|()| zygote::serve(plan, &far)) {
        Ok(()) => kernel::exit_now(0),
        Err(error) => zygote::give_up(&far, &error),
    }
}

fn join(namespaces: &[OwnedFd]) -> io::Result<()> {
    if namespaces.is_empty() {
        return Err(io::Error::other(wire::REFUSED_PAUSED));
    }
    namespaces.iter().try_for_each(kernel::join_namespace)
}

/// Puts a guest that still reads when the sandbox is thawed under the same limits as the others, who can lay hands on it from
/// then on.
pub(crate) fn join_cgroups(plan: &Plan, guest: i32) {
    let join =
        |folder: &Vec<u8>| fs::write(as_path(folder).join("cgroup.procs"), guest.to_string());
    if let (Err(_), Ok(guest @ 1..)) =
        (plan.cgroups.iter().try_for_each(join), u32::try_from(guest))
    {
        sys::kill(guest, SIGKILL);
    }
}
