//! What a sandbox's sockets hold in the kernel: memory that no process has and that only a cgroup would count.
//!
//! The zygote opens a socket to the kernel in the sandbox's network, by which its keeper outside can ask. What a sender that is gone
//! has left on the way is charged to whoever could still read it, with the most that there can be.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

/// What a socket may have on its way; more is not granted where this counts.
const DEFAULT_BUFFER: &str = "/proc/sys/net/core/wmem_default";
const LARGEST_ANSWER: usize = 64 << 10;

/// Layout of the kernel's messages (`linux/netlink.h`, `sock_diag.h`, `unix_diag.h`, `inet_diag.h`).
const HEAD: usize = 16;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_DUMP: u16 = 0x301;
const UNIX_BODY: usize = 16;
const INET_BODY: usize = 72;

/// A kind of socket and how to ask for it.
struct Family {
    request: Vec<u8>,
    body: usize,
    /// Numbers of the attributes.
    memory: u16,
    peer: u16,
    queue: u16,
}

impl Family {
    fn unix() -> Self {
        const UNIX: u8 = 1;
        const SHOW_PEER_QUEUE_MEMORY: u32 = 0x34;
        let words = [u32::MAX, 0, SHOW_PEER_QUEUE_MEMORY, u32::MAX, u32::MAX];
        let mut request = vec![UNIX, 0, 0, 0];
        request.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        Self {
            request,
            body: UNIX_BODY,
            memory: 5,
            peer: 2,
            queue: 4,
        }
    }

    fn inet(family: u8, protocol: u8) -> Self {
        const SHOW_MEMORY: u8 = 1 << 6;
        const ANY_SOCKET: [u8; 48] = [0; 48];
        let mut request = vec![family, protocol, SHOW_MEMORY, 0];
        request.extend(u32::MAX.to_ne_bytes());
        request.extend(ANY_SOCKET);
        Self {
            request,
            body: INET_BODY,
            memory: 7,
            // Their senders are never gone before what they have sent.
            peer: u16::MAX,
            queue: u16::MAX,
        }
    }

    /// Local ones, and TCP and UDP of both versions.
    fn all() -> [Self; 5] {
        let (v4, v6, tcp, udp) = (2, 10, 6, 17);
        [
            Self::unix(),
            Self::inet(v4, tcp),
            Self::inet(v4, udp),
            Self::inet(v6, tcp),
            Self::inet(v6, udp),
        ]
    }
}

/// Counts.
pub(super) struct SocketMemory {
    kernel: File,
    families: [Family; 5],
    buffer: u64,
}

impl SocketMemory {
    /// Asks by a socket that was opened in the sandbox's network.
    pub(super) fn new(kernel: OwnedFd) -> Self {
        let buffer = fs::read_to_string(DEFAULT_BUFFER).unwrap_or_default();
        Self {
            kernel: File::from(kernel),
            families: Family::all(),
            buffer: buffer.trim().parse().unwrap_or(212_992),
        }
    }

    /// Adds up what all sockets hold; what cannot be asked for counts as nothing.
    pub(super) fn bytes(&mut self) -> u64 {
        let (kernel, buffer) = (&mut self.kernel, self.buffer);
        let families = self.families.iter();
        families
            .map(|family| ask(kernel, family, buffer).unwrap_or(0))
            .sum()
    }
}

/// Asks for all sockets of a family.
fn ask(kernel: &mut File, family: &Family, buffer: u64) -> io::Result<u64> {
    let length = u32::try_from(HEAD + family.request.len()).unwrap_or(0);
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend(REQUEST_DUMP.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(&family.request);
    kernel.write_all(&message)?;
    let (mut total, mut answer) = (0, vec![0; LARGEST_ANSWER]);
    loop {
        let got = kernel.read(&mut answer)?;
        let mut rest = answer.get(..got).unwrap_or_default();
        if rest.is_empty() {
            return Ok(total);
        }
        while let Some((kind, content, after)) = next_message(rest) {
            match kind {
                DONE | ERROR => return Ok(total),
                _ => total += held(family, content, buffer),
            }
            rest = after;
        }
    }
}

/// Splits off the first message: its kind, what is in it, and the rest.
fn next_message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::try_from(word(bytes, 0)?).ok()?;
    let kind = half(bytes, 4)?;
    let content = bytes.get(HEAD..length)?;
    let after = bytes.get(length.next_multiple_of(4)..);
    Some((kind, content, after.unwrap_or_default()))
}

/// Tells what one socket holds: what it has received, what it has sent and nobody has read.
fn held(family: &Family, socket: &[u8], buffer: u64) -> u64 {
    let (mut own, mut queue, mut has_peer) = (0, 0, false);
    let mut rest = socket.get(family.body..).unwrap_or_default();
    while let (Some(length), Some(kind)) = (half(rest, 0), half(rest, 2)) {
        let length = usize::from(length).max(4);
        let value = rest.get(4..length).unwrap_or_default();
        if kind == family.memory {
            // Received; then sent, or queued for sending.
            own = number(value, 0) + number(value, 8).max(number(value, 20));
        } else if kind == family.peer {
            has_peer = number(value, 0) != 0;
        } else if kind == family.queue {
            queue = number(value, 0);
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    let is_left = queue > 0 && !has_peer;
    own + if is_left { queue.max(buffer) } else { 0 }
}

fn number(bytes: &[u8], at: usize) -> u64 {
    word(bytes, at).map_or(0, u64::from)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_ne_bytes(word))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let half = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_ne_bytes(half))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::{abi, kernel};

    fn fill(mut socket: &UnixStream) -> u64 {
        socket.set_nonblocking(true).expect("a socket");
        let mut sent = 0;
        while let Ok(more) = socket.write(&[1; 4096]) {
            sent += more as u64;
        }
        sent
    }

    /// Other tests have sockets, too; so only much more counts.
    #[test]
    fn what_is_on_its_way_is_counted_with_and_without_its_sender() {
        let kernel = kernel::make_socket(abi::AF_NETLINK, abi::SOCK_RAW, abi::NETLINK_SOCK_DIAG);
        let mut memory = SocketMemory::new(kernel.expect("a socket to the kernel"));
        let before = memory.bytes();
        let pairs: Vec<_> = (0..64)
            .map(|_| UnixStream::pair().expect("sockets"))
            .collect();
        let sent: u64 = pairs.iter().map(|(_, writer)| fill(writer)).sum();
        assert!(sent > 4 << 20, "{sent}");
        let counted = memory.bytes() - before;
        assert!((sent..3 * sent).contains(&counted), "{counted} of {sent}");
        let readers: Vec<_> = pairs.into_iter().map(|(reader, _)| reader).collect();
        let left = memory.bytes() - before;
        assert!((sent..3 * sent).contains(&left), "{left} of {sent}");
        drop(readers);
        assert!(memory.bytes() < before + sent / 2);
    }

    #[test]
    fn messages_that_were_cut_off_are_no_messages() {
        assert!(next_message(&[0; 3]).is_none());
        assert!(next_message(&[200, 0, 0, 0, 20, 0, 0, 0]).is_none());
        assert_eq!(held(&Family::unix(), &[1; 5], 7), 0);
    }
}
