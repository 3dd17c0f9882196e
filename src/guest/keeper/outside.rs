//! A socket outside of the sandbox's domain that has no file, as other programs of the host have some: whoever reaches it from
//! inside reaches those, too. Only a sandbox with the host's network could, so only for such a one it is made.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::wire::plan::{OUTSIDE_SOCKET, Plan};

/// Makes it; what cannot be made is not reached, and then nobody can tell.
pub(super) fn socket(plan: &Plan) -> Option<UnixDatagram> {
    if plan.own_network {
        return None;
    }
    let name = [OUTSIDE_SOCKET.as_bytes(), &plan.id].concat();
    let address = SocketAddr::from_abstract_name(name).ok()?;
    UnixDatagram::bind_addr(&address).ok()
}
