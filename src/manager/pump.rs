//! Carries output from an engine to the front end: small pieces together, large ones cut, never more than a few under way.
//!
//! Each piece costs several changes of threads, which a busy engine on few processors feels. So while output keeps coming,
//! a piece waits up to two milliseconds to become a large one; after a pause the first bytes go out at once.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{BoxStream, Fuse, StreamExt};
use tokio::time::{Instant, timeout_at};

use crate::domain::{ExecEnd, OutputChunk, StreamKind};
use crate::engine::ExecItem;

/// Largest piece that is sent at once.
const LARGEST: usize = 64 * 1024;
/// A piece of this size is worth sending without waiting for more.
const ENOUGH: usize = 48 * 1024;
/// How long a piece waits for more while output keeps coming.
const PATIENCE: Duration = Duration::from_millis(2);

/// What comes next out of a pump.
#[derive(Debug, PartialEq)]
pub(super) enum Pumped {
    /// Output, at most [`LARGEST`] bytes.
    Output(OutputChunk),
    /// The end.
    End(Option<ExecEnd>),
}

/// Gathers output; dropping a wait on it loses nothing.
pub(super) struct Pump {
    /// Fused: gathering may see the end, and the next call must see it again.
    items: Fuse<BoxStream<'static, ExecItem>>,
    /// What was gathered so far.
    gathered: Option<(StreamKind, BytesMut)>,
    /// What came after it and does not belong to it.
    waiting: Option<ExecItem>,
    /// Until when output counts as coming without a pause.
    hot_until: Instant,
}

impl Pump {
    pub(super) fn new(items: BoxStream<'static, ExecItem>) -> Self {
        Self {
            items: items.fuse(),
            gathered: None,
            waiting: None,
            hot_until: Instant::now(),
        }
    }

    /// Waits for the next piece.
    pub(super) async fn next(&mut self) -> Pumped {
        if self.gathered.is_none() {
            let first = match self.waiting.take() {
                Some(item) => Some(item),
                None => self.items.next().await,
            };
            match first {
                Some(ExecItem::Chunk(chunk)) => {
                    self.begin(&chunk);
                }
                Some(ExecItem::End(end)) => return Pumped::End(Some(end)),
                None => return Pumped::End(None),
            }
        }
        self.gather().await;
        self.take()
    }

    /// Starts a piece in a buffer of its own size: a slice of the engine's buffer would keep all of that alive.
    fn begin(&mut self, chunk: &OutputChunk) {
        let mut bytes = BytesMut::with_capacity(chunk.bytes.len().max(LARGEST));
        bytes.extend_from_slice(&chunk.bytes);
        self.gathered = Some((chunk.stream, bytes));
    }

    /// Adds what is ready or, while output keeps coming, soon ready, and of the same stream.
    async fn gather(&mut self) {
        let now = Instant::now();
        let end = if now < self.hot_until {
            now + PATIENCE
        } else {
            now
        };
        while self.waiting.is_none()
            && self
                .gathered
                .as_ref()
                .is_some_and(|(_, bytes)| bytes.len() < ENOUGH)
        {
            let Ok(Some(item)) = timeout_at(end, self.items.next()).await else {
                break;
            };
            self.add(item);
        }
        self.hot_until = Instant::now() + PATIENCE * 4;
    }

    fn add(&mut self, item: ExecItem) {
        match (item, &mut self.gathered) {
            (ExecItem::Chunk(chunk), Some((stream, bytes))) if chunk.stream == *stream => {
                bytes.extend_from_slice(&chunk.bytes);
            }
            (other, _) => self.waiting = Some(other),
        }
    }

    /// Takes what was gathered; what is over stays for the next time.
    fn take(&mut self) -> Pumped {
        let Some((stream, mut bytes)) = self.gathered.take() else {
            return Pumped::End(None);
        };
        if bytes.len() > LARGEST {
            let rest = bytes.split_off(LARGEST);
            self.gathered = Some((stream, rest));
        }
        let bytes: Bytes = bytes.freeze();
        Pumped::Output(OutputChunk { stream, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Ended;

    fn chunk(stream: StreamKind, bytes: Vec<u8>) -> ExecItem {
        ExecItem::Chunk(OutputChunk {
            stream,
            bytes: bytes.into(),
        })
    }

    async fn drain(items: Vec<ExecItem>) -> (Vec<(StreamKind, Vec<u8>)>, Option<ExecEnd>) {
        let mut pump = Pump::new(futures_util::stream::iter(items).boxed());
        let mut pieces = Vec::new();
        loop {
            match pump.next().await {
                Pumped::Output(chunk) => pieces.push((chunk.stream, chunk.bytes.to_vec())),
                Pumped::End(end) => return (pieces, end),
            }
        }
    }

    #[tokio::test]
    async fn small_pieces_go_together_and_streams_stay_apart() {
        let (out, err) = (StreamKind::Stdout, StreamKind::Stderr);
        let end = ExecEnd::bare(Ended::Code(0));
        let items = vec![
            chunk(out, b"a".to_vec()),
            chunk(out, b"b".to_vec()),
            chunk(err, b"x".to_vec()),
            chunk(out, b"c".to_vec()),
            ExecItem::End(end.clone()),
        ];
        let (pieces, last) = drain(items).await;
        assert_eq!(
            pieces,
            [
                (out, b"ab".to_vec()),
                (err, b"x".to_vec()),
                (out, b"c".to_vec())
            ]
        );
        assert_eq!(last, Some(end));
    }

    #[tokio::test]
    async fn an_end_that_was_seen_while_gathering_is_seen_again() {
        let mut items = vec![chunk(StreamKind::Stdout, b"a".to_vec())].into_iter();
        // This one panics when it is asked again after its end.
        #[allow(clippy::disallowed_methods)]
        let strict = futures_util::stream::unfold((), move |()| {
            std::future::ready(items.next().map(|item| (item, ())))
        });
        let mut pump = Pump::new(strict.boxed());
        assert!(matches!(pump.next().await, Pumped::Output(_)));
        assert_eq!(pump.next().await, Pumped::End(None));
    }

    #[tokio::test]
    async fn large_pieces_are_cut_without_loss() {
        let out = StreamKind::Stdout;
        let big: Vec<u8> = (0..200_000u32).map(|n| n.to_le_bytes()[0]).collect();
        let items = vec![
            chunk(out, b"s".to_vec()),
            chunk(out, big.clone()),
            chunk(StreamKind::Stderr, b"e".to_vec()),
            chunk(out, b"t".to_vec()),
        ];
        let (pieces, _) = drain(items).await;
        assert!(pieces.iter().all(|(_, bytes)| bytes.len() <= LARGEST));
        let whole: Vec<u8> = pieces
            .iter()
            .filter(|(s, _)| *s == out)
            .flat_map(|(_, b)| b.clone())
            .collect();
        assert_eq!(whole, [b"s".to_vec(), big, b"t".to_vec()].concat());
    }
}
