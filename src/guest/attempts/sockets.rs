//! Ways out by sockets: those of engines, those without a file, and routes.

use std::fs;
use std::net::UdpSocket;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

use super::Attempt;
use crate::wire::attempts::Wall;
use crate::wire::plan::OUTSIDE_SOCKET;

/// Sockets of engines, where they lie by custom.
const ENGINES: [&str; 6] = [
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/run/dbus/system_bus_socket",
];
/// Addresses that nobody has, and the one that clouds answer at; a route to them is a way out.
const AFAR: [&str; 3] = ["192.0.2.1:9", "[2001:db8::1]:9", "169.254.169.254:80"];

pub(super) fn attempts() -> Vec<Attempt<'static>> {
    let engines = ENGINES.into_iter().map(|path| {
        Attempt::new(Wall::Sockets, format!("connecting to {path}"), move |_| {
            UnixStream::connect(path).is_ok()
        })
    });
    let nameless = Attempt::new(
        Wall::Sockets,
        "connecting to sockets without a file",
        |_| foreign_names().iter().any(|name| can_connect(name)),
    );
    let routes = AFAR.into_iter().map(|address| {
        Attempt::new(Wall::Network, format!("a route to {address}"), move |_| {
            has_route(address)
        })
    });
    engines.chain([nameless]).chain(routes).collect()
}

/// Asks for a route; connecting a datagram socket sends nothing.
fn has_route(address: &str) -> bool {
    let any = if address.starts_with('[') {
        "[::]:0"
    } else {
        "0.0.0.0:0"
    };
    UdpSocket::bind(any).is_ok_and(|socket| socket.connect(address).is_ok())
}

/// Lists the names of sockets without a file that the kernel shows here. Nothing of this sandbox has made any yet that would listen.
fn foreign_names() -> Vec<String> {
    names_in(&fs::read_to_string("/proc/net/unix").unwrap_or_default())
}

fn names_in(table: &str) -> Vec<String> {
    let last = table.lines().filter_map(|line| line.rsplit(' ').next());
    let names = last.filter_map(|word| word.strip_prefix('@'));
    names.map(str::to_owned).collect()
}

fn can_connect(name: &str) -> bool {
    let Ok(address) = SocketAddr::from_abstract_name(name) else {
        return false;
    };
    let datagram = || UnixDatagram::unbound()?.connect_addr(&address);
    UnixStream::connect_addr(&address).is_ok() || datagram().is_ok()
}

/// Tells whether a socket of a process outside can be reached, if there is one that is made for this question.
pub(crate) fn abstract_sockets() -> Option<bool> {
    let ours = |name: &String| name.starts_with(OUTSIDE_SOCKET);
    let found: Vec<String> = foreign_names().into_iter().filter(ours).collect();
    (!found.is_empty()).then(|| found.iter().any(|name| can_connect(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_file_are_found_in_the_kernels_table() {
        let table = "Num RefCount Protocol Flags Type St Inode Path\n\
                     0000: 00000002 00000000 00010000 0001 01 23 /run/x.sock\n\
                     0000: 00000002 00000000 00000000 0002 01 24 @a-b\n\
                     0000: 00000003 00000000 00000000 0001 03 25\n";
        assert_eq!(names_in(table), ["a-b"]);
    }

    #[test]
    fn a_socket_without_a_file_is_reached_where_nothing_forbids_it() {
        let name = format!("sandtop-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("an address");
        let _socket = UnixDatagram::bind_addr(&address).expect("a socket");
        assert!(foreign_names().contains(&name));
        assert!(can_connect(&name));
        assert!(!can_connect("sandtop-test-that-nobody-has"));
    }
}
