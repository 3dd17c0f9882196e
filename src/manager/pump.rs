//! Carries output from an engine to the front end: small pieces together, large ones as they are, never more than a few.

use bytes::{Bytes, BytesMut};
use futures_util::future::FutureExt;
use futures_util::stream::{BoxStream, Fuse, StreamExt};

use crate::domain::{ExecEnd, OutputChunk, StreamKind};
use crate::engine::ExecItem;

/// Largest piece that is sent at once.
const LARGEST: usize = 64 * 1024;
/// A piece of this size is worth sending without looking for more; each one costs a change of threads.
const ENOUGH: usize = 48 * 1024;

/// What comes next out of a pump.
#[derive(Debug, PartialEq)]
pub(super) enum Pumped {
    /// Output, at most [`LARGEST`] bytes.
    Output(OutputChunk),
    /// The end.
    End(Option<ExecEnd>),
}

/// Gathers what is ready, and never waits for more once it has something.
pub(super) struct Pump {
    /// Fused: gathering may see the end, and the next call must see it again.
    items: Fuse<BoxStream<'static, ExecItem>>,
    waiting: Option<ExecItem>,
}

impl Pump {
    pub(super) fn new(items: BoxStream<'static, ExecItem>) -> Self {
        Self {
            items: items.fuse(),
            waiting: None,
        }
    }

    /// Waits for the next piece. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Pumped {
        if self.waiting.is_none() {
            self.waiting = match self.items.next().await {
                Some(item) => Some(item),
                None => return Pumped::End(None),
            };
        }
        match self.waiting.take() {
            Some(ExecItem::Chunk(chunk)) => Pumped::Output(self.gather(chunk)),
            Some(ExecItem::End(end)) => Pumped::End(Some(end)),
            None => Pumped::End(None),
        }
    }

    /// Adds what is ready now and of the same stream; cuts what is too large.
    fn gather(&mut self, first: OutputChunk) -> OutputChunk {
        let stream = first.stream;
        if first.bytes.len() >= ENOUGH {
            return self.cut(stream, first.bytes);
        }
        let mut gathered = BytesMut::from(first.bytes);
        while gathered.len() < ENOUGH {
            match self.items.next().now_or_never().flatten() {
                Some(ExecItem::Chunk(chunk)) if chunk.stream == stream => {
                    gathered.extend_from_slice(&chunk.bytes);
                }
                other => {
                    self.waiting = other;
                    break;
                }
            }
        }
        self.cut(stream, gathered.freeze())
    }

    /// Keeps what is over for the next time; nothing else waits then, because gathering stops at a large piece.
    fn cut(&mut self, stream: StreamKind, mut bytes: Bytes) -> OutputChunk {
        if bytes.len() > LARGEST {
            let rest = bytes.split_off(LARGEST);
            debug_assert!(
                self.waiting.is_none(),
                "a piece that was too large to gather waits"
            );
            self.waiting = Some(ExecItem::Chunk(OutputChunk {
                stream,
                bytes: rest,
            }));
        }
        OutputChunk { stream, bytes }
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
        // Like the engines' own streams, this one panics when it is asked again after its end.
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
