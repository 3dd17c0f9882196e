//! Attached exec streams over a connection of our own.
//!
//! Why not the client library's: with a terminal it takes hostile bytes for frame headers and can be made to buffer
//! gigabytes, and it copies every chunk twice. This is the raw protocol: an upgrade, then frames or plain bytes.

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};

use super::endpoint::{Connection, Endpoint};
use crate::domain::{OutputChunk, StreamKind};
use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// Bytes asked from the socket at a time.
const READ_SIZE: usize = 128 * 1024;
/// With less room than this left, a new buffer is taken; pieces that still wait keep all of the old one in memory.
const LEAST_ROOM: usize = 32 * 1024;
/// Longest answer header that is believed.
const LONGEST_HEADER: usize = 16 * 1024;
/// Bytes of a frame header.
const FRAME_HEADER: usize = 8;

/// How output is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// Frames that tell stdout from stderr.
    Frames,
    /// Plain bytes of a terminal.
    Raw,
}

/// The reading side of an attached exec.
pub(super) struct Attached {
    reader: ReadHalf<Box<dyn Connection>>,
    buffer: BytesMut,
    packing: Packing,
    frame: Option<(StreamKind, usize)>,
}

/// Starts an exec that was created before, and attaches to it.
pub(super) async fn start(
    endpoint: &Endpoint,
    exec: &str,
    packing: Packing,
) -> Result<(Attached, WriteHalf<Box<dyn Connection>>)> {
    let failed = |error: std::io::Error| {
        EngineError::new(
            FailureKind::Unreachable,
            format!("the connection to {endpoint} failed: {error}"),
        )
        .with_source(error)
    };
    let mut connection = endpoint.connect().await.map_err(failed)?;
    connection
        .write_all(request(exec, packing).as_bytes())
        .await
        .map_err(failed)?;
    let mut buffer = BytesMut::with_capacity(READ_SIZE);
    let header = read_header(&mut connection, &mut buffer)
        .await
        .map_err(failed)?;
    check_status(&header, &mut connection, &mut buffer).await?;
    let (reader, writer) = split(connection);
    Ok((
        Attached {
            reader,
            buffer,
            packing,
            frame: None,
        },
        writer,
    ))
}

fn request(exec: &str, packing: Packing) -> String {
    let body = format!(r#"{{"Detach":false,"Tty":{}}}"#, packing == Packing::Raw);
    format!(
        "POST /exec/{exec}/start HTTP/1.1\r\nHost: docker\r\nContent-Type: application/json\r\nConnection: Upgrade\r\n\
         Upgrade: tcp\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Reads up to the empty line and leaves what follows in `buffer`.
pub(super) async fn read_header(
    connection: &mut Box<dyn Connection>,
    buffer: &mut BytesMut,
) -> std::io::Result<String> {
    loop {
        if let Some(end) = memchr::memmem::find(buffer, b"\r\n\r\n") {
            let header = buffer.split_to(end + 4);
            return Ok(String::from_utf8_lossy(&header).into_owned());
        }
        if buffer.len() > LONGEST_HEADER || connection.read_buf(buffer).await? == 0 {
            return Err(std::io::Error::other(
                "the answer is not HTTP, or was cut off",
            ));
        }
    }
}

async fn check_status(
    header: &str,
    connection: &mut Box<dyn Connection>,
    buffer: &mut BytesMut,
) -> Result<()> {
    let status = header.split_whitespace().nth(1).unwrap_or_default();
    if matches!(status, "101" | "200") {
        return Ok(());
    }
    // The reason is short JSON; what does not come in one piece is not worth waiting for.
    if buffer.is_empty() {
        let _ = connection.read_buf(buffer).await;
    }
    let body = String::from_utf8_lossy(buffer);
    let start = body.find('{').unwrap_or(0);
    let json: Option<serde_json::Value> =
        serde_json::from_str(body.get(start..).unwrap_or_default().trim_end()).ok();
    let reason = json
        .as_ref()
        .and_then(|v| v.get("message"))
        .and_then(|m| m.as_str())
        .unwrap_or(&body)
        .trim()
        .to_owned();
    let kind = match status {
        "404" => FailureKind::NotFound,
        "409" => FailureKind::Conflict,
        _ => FailureKind::Internal,
    };
    Err(EngineError::new(
        kind,
        format!("the engine did not start the command: {reason}"),
    ))
}

impl Attached {
    /// Waits for more output; `None` at the end, however the connection ended.
    pub(super) async fn next(&mut self) -> Option<OutputChunk> {
        loop {
            if let Some(chunk) = self.take() {
                return Some(chunk);
            }
            if self.buffer.capacity() - self.buffer.len() < LEAST_ROOM {
                self.buffer.reserve(READ_SIZE);
            }
            if !matches!(self.reader.read_buf(&mut self.buffer).await, Ok(count) if count > 0) {
                return None;
            }
        }
    }

    fn take(&mut self) -> Option<OutputChunk> {
        match self.packing {
            Packing::Raw => self.take_bytes(usize::MAX).map(|bytes| OutputChunk {
                stream: StreamKind::Stdout,
                bytes,
            }),
            Packing::Frames => self.take_framed(),
        }
    }

    fn take_framed(&mut self) -> Option<OutputChunk> {
        let (stream, left) = match self.frame.take() {
            Some(open) => open,
            None => self.take_frame_header()?,
        };
        let bytes = self.take_bytes(left);
        let left = left - bytes.as_ref().map_or(0, Bytes::len);
        self.frame = (left > 0).then_some((stream, left));
        bytes.map(|bytes| OutputChunk { stream, bytes })
    }

    /// Reads the head of the next frame that holds anything.
    fn take_frame_header(&mut self) -> Option<(StreamKind, usize)> {
        loop {
            let header: [u8; FRAME_HEADER] = self.buffer.get(..FRAME_HEADER)?.try_into().ok()?;
            self.buffer.advance(FRAME_HEADER);
            let [kind, _, _, _, a, b, c, d] = header;
            let length = u32::from_be_bytes([a, b, c, d]) as usize;
            if length > 0 {
                let stream = if kind == 2 {
                    StreamKind::Stderr
                } else {
                    StreamKind::Stdout
                };
                return Some((stream, length));
            }
        }
    }

    fn take_bytes(&mut self, most: usize) -> Option<Bytes> {
        let count = self.buffer.len().min(most);
        (count > 0).then(|| self.buffer.split_to(count).freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(bytes: Vec<u8>, packing: Packing) -> Attached {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            // One byte at a time is the worst a socket can do.
            for byte in bytes {
                let _ = far.write_all(&[byte]).await;
            }
        });
        let (reader, _writer) = split(Box::new(near) as Box<dyn Connection>);
        Attached {
            reader,
            buffer: BytesMut::new(),
            packing,
            frame: None,
        }
    }

    async fn collect(mut attached: Attached) -> (Vec<u8>, Vec<u8>) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        while let Some(chunk) = attached.next().await {
            match chunk.stream {
                StreamKind::Stdout => out.extend(chunk.bytes),
                StreamKind::Stderr => err.extend(chunk.bytes),
            }
        }
        (out, err)
    }

    #[tokio::test]
    async fn frames_are_told_apart_at_any_split() {
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 3];
        bytes.extend(b"out");
        bytes.extend([2, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([2, 0, 0, 0, 0, 0, 0, 4]);
        bytes.extend(b"oops");
        let (out, err) = collect(attached(bytes, Packing::Frames)).await;
        assert_eq!(
            (out.as_slice(), err.as_slice()),
            (&b"out"[..], &b"oops"[..])
        );
    }

    #[tokio::test]
    async fn a_terminal_that_prints_frame_headers_freezes_nothing() {
        let hostile = b"\x01\0\0\0\xff\xff\xff\xffhello".to_vec();
        let (out, _) = collect(attached(hostile.clone(), Packing::Raw)).await;
        assert_eq!(out, hostile);
    }
}
