//! Init: the first process of a sandbox.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use super::root::{self, Trees};
use super::streams::{keep_only, silence};
use crate::wire::plan::Plan;
use crate::{abi, kernel, sockets, sys};

/// What init says when the root stands.
pub(super) const ROOT_BUILT: &[u8] = b"+";

/// The first process of the sandbox: builds its root, then only reaps; it ends with the keeper, and with it all others.
pub(super) fn run(plan: &Plan, starter: &UnixStream, trees: Option<Trees>, alive: OwnedFd) -> ! {
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
        Ok(()) => drop(sockets::send(starter, ROOT_BUILT, &[])),
        Err(error) => {
            let _ = sockets::send(starter, error.to_string().as_bytes(), &[]);
            kernel::exit_now(1)
        }
    }
    silence();
    let alive = keep_only(alive);
    let children = sys::Signals::take_over(&[abi::SIGCHLD]).into_file();
    kernel::release_code_pages();
    loop {
        let mut fds = [
            sockets::PollFd::new(&alive),
            sockets::PollFd::new(&children),
        ];
        sockets::wait_for(&mut fds, -1);
        if fds[0].is_ready() {
            kernel::exit_now(0);
        }
        sys::drain(&children);
        while let sys::Wait::Ended(_) = sys::reap() {}
    }
}
