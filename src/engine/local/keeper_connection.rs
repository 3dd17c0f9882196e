//! A connection to a keeper that does not block: requests out, answers back, file descriptors along with them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use tokio::io::Interest;
use tokio::net::UnixStream;

use crate::guest::wire::{KeeperAnswer, KeeperRequest};

/// A connection to a keeper.
pub(super) struct KeeperConnection {
    socket: UnixStream,
    bytes: Vec<u8>,
    /// What came along with answers.
    pub(super) fds: Vec<OwnedFd>,
}

impl KeeperConnection {
    /// Talks to the keeper at the other end.
    pub(super) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            bytes: Vec::new(),
            fds: Vec::new(),
        }
    }

    /// Sends a request, and descriptors with its first bytes.
    pub(super) async fn send(
        &mut self,
        request: &KeeperRequest,
        fds: &[OwnedFd],
    ) -> io::Result<()> {
        let line = format!("{}\n", request.encode());
        let borrowed: Vec<BorrowedFd<'_>> = fds.iter().map(AsFd::as_fd).collect();
        let mut sent = 0;
        while let Some(rest) = line.as_bytes().get(sent..).filter(|rest| !rest.is_empty()) {
            let with: &[BorrowedFd<'_>] = if sent == 0 { &borrowed } else { &[] };
            let sending = || send_some(&self.socket, rest, with);
            sent += self.socket.async_io(Interest::WRITABLE, sending).await?;
        }
        Ok(())
    }

    /// Waits for the next answer; `None` at the end.
    pub(super) async fn answer(&mut self) -> io::Result<Option<KeeperAnswer>> {
        loop {
            if let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=end).collect();
                let answer = KeeperAnswer::parse(&String::from_utf8_lossy(&line));
                return answer.map_or_else(
                    || Err(io::ErrorKind::InvalidData.into()),
                    |answer| Ok(Some(answer)),
                );
            }
            let mut piece = [0; 4096];
            let (bytes, fds) = (&mut piece, &mut self.fds);
            let reading = || receive_some(&self.socket, bytes, fds);
            let got = self.socket.async_io(Interest::READABLE, reading).await?;
            if got == 0 {
                return Ok(None);
            }
            self.bytes.extend(piece.get(..got).unwrap_or_default());
        }
    }
}

fn send_some(socket: &UnixStream, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(fds));
    }
    let parts = [io::IoSlice::new(bytes)];
    Ok(rustix::net::sendmsg(
        socket,
        &parts,
        &mut control,
        SendFlags::NOSIGNAL,
    )?)
}

fn receive_some(
    socket: &UnixStream,
    bytes: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [io::IoSliceMut::new(bytes)];
    let got = rustix::net::recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            fds.extend(passed);
        }
    }
    Ok(got.bytes)
}
