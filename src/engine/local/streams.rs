//! Output of a guest, read from its pipes or its terminal until it has ended.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::BytesMut;
use futures_util::stream::{BoxStream, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::net::unix::pipe;

use super::keeper_connection::KeeperConnection;
use super::transport::GuestTable;
use crate::domain::{OutputChunk, StreamKind, TtySize};
use crate::engine::unfold;
use crate::guest::wire::KeeperAnswer;

/// Bytes asked for at a time.
const READ_SIZE: usize = 128 * 1024;
/// With less room than this left, a new buffer is taken; pieces that still wait keep all of the old one in memory.
const LEAST_ROOM: usize = 32 * 1024;

/// One pipe being read.
struct Reader {
    pipe: Option<pipe::Receiver>,
    buffer: BytesMut,
    stream: StreamKind,
}

impl Reader {
    fn new(pipe: Option<pipe::Receiver>, stream: StreamKind) -> Self {
        Self {
            pipe,
            buffer: BytesMut::new(),
            stream,
        }
    }

    fn make_room(&mut self) {
        if self.buffer.capacity() - self.buffer.len() < LEAST_ROOM {
            self.buffer.reserve(READ_SIZE);
        }
    }

    /// Waits for bytes; for ever, if there is no pipe or it has ended.
    async fn next(&mut self) -> OutputChunk {
        loop {
            self.make_room();
            let Some(pipe) = &mut self.pipe else {
                return std::future::pending().await;
            };
            match pipe.read_buf(&mut self.buffer).await {
                Ok(1..) => return self.chunk(),
                _ => self.pipe = None,
            }
        }
    }

    /// Takes what is there without waiting. The runtime may not have heard yet that there is something, so the kernel is
    /// asked.
    fn read_rest(&mut self) -> Option<OutputChunk> {
        let mut piece = vec![0; READ_SIZE];
        let got = rustix::io::read(self.pipe.as_ref()?, &mut piece).ok()?;
        self.buffer
            .extend_from_slice(piece.get(..got).filter(|bytes| !bytes.is_empty())?);
        Some(self.chunk())
    }

    fn chunk(&mut self) -> OutputChunk {
        OutputChunk {
            stream: self.stream,
            bytes: self.buffer.split().freeze(),
        }
    }
}

/// What a guest prints, on pipes or on a terminal.
pub(super) struct GuestOutput {
    out: Reader,
    err: Reader,
    guest: GuestProcess,
}

impl GuestOutput {
    /// Reads until the keeper says that the guest has ended; a terminal has no `err`.
    pub(super) fn new(
        out: pipe::Receiver,
        err: Option<pipe::Receiver>,
        keeper: KeeperConnection,
        table: GuestTable,
        name: &str,
    ) -> Self {
        Self {
            out: Reader::new(Some(out), StreamKind::Stdout),
            err: Reader::new(err, StreamKind::Stderr),
            guest: GuestProcess::new(keeper, table, name),
        }
    }

    pub(super) fn into_stream(self) -> BoxStream<'static, OutputChunk> {
        unfold(self, |mut output| async move {
            let chunk = output.next().await?;
            Some((chunk, output))
        })
        .boxed()
    }

    async fn next(&mut self) -> Option<OutputChunk> {
        if !self.guest.has_ended {
            tokio::select! {
                // What was output comes before the news of the end.
                biased;
                chunk = self.out.next() => return Some(chunk),
                chunk = self.err.next() => return Some(chunk),
                () = self.guest.end() => {}
            }
        }
        // Something in the background may keep the pipes open for ever.
        self.out.read_rest().or_else(|| self.err.read_rest())
    }
}

impl Drop for GuestOutput {
    fn drop(&mut self) {
        self.guest.table.forget_terminal(&self.guest.name);
    }
}

/// The process behind the streams.
struct GuestProcess {
    keeper: KeeperConnection,
    table: GuestTable,
    name: String,
    has_ended: bool,
}

impl GuestProcess {
    fn new(keeper: KeeperConnection, table: GuestTable, name: &str) -> Self {
        Self {
            keeper,
            table,
            name: name.to_owned(),
            has_ended: false,
        }
    }

    /// Waits until the keeper says how it ended, or is gone itself.
    async fn end(&mut self) {
        while let Ok(Some(answer)) = self.keeper.answer().await {
            if let KeeperAnswer::Exited { status } = answer {
                self.table.record_exit(&self.name, status);
                break;
            }
        }
        self.has_ended = true;
    }
}

/// Standard input as a pipe; shutting it down closes it, which pipes do not do by themselves.
pub(super) struct StdinPipe(Option<pipe::Sender>);

impl StdinPipe {
    /// Takes over our end.
    pub(super) fn new(pipe: pipe::Sender) -> Self {
        Self(Some(pipe))
    }
}

impl AsyncWrite for StdinPipe {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Some(pipe) => Pin::new(pipe).poll_write(context, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0 = None;
        Poll::Ready(Ok(()))
    }
}

/// Our side of a terminal, for telling it its size.
#[derive(Clone)]
pub(super) struct TerminalMaster(Arc<OwnedFd>);

impl TerminalMaster {
    /// Takes over the descriptor; returns also what reads and what writes it.
    pub(super) fn new(fd: OwnedFd) -> io::Result<(Self, pipe::Receiver, pipe::Sender)> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        // Terminals are waited for like pipes.
        let reader = pipe::Receiver::from_owned_fd_unchecked(fd.try_clone()?)?;
        let writer = pipe::Sender::from_owned_fd_unchecked(fd.try_clone()?)?;
        Ok((Self(Arc::new(fd)), reader, writer))
    }

    /// Tells it its size.
    pub(super) fn resize(&self, size: TtySize) -> io::Result<()> {
        let size = rustix::termios::Winsize {
            ws_row: size.rows,
            ws_col: size.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(rustix::termios::tcsetwinsize(&self.0, size)?)
    }
}
