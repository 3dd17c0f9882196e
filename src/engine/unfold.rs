//! Streams made of steps.

use futures_util::StreamExt;
use futures_util::stream::{self, Fuse, Unfold};

/// Makes a stream of steps until one is `None`.
///
/// Unlike the one of `futures_util`, which panics, it may be polled after its end: whoever waits for several things at once
/// does so easily.
#[allow(clippy::disallowed_methods)] // This is the one place.
pub(crate) fn unfold<T, F, Fut, Item>(seed: T, step: F) -> Fuse<Unfold<T, F, Fut>>
where
    F: FnMut(T) -> Fut,
    Fut: Future<Output = Option<(Item, T)>>,
{
    stream::unfold(seed, step).fuse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn after_the_end_there_is_nothing_more() {
        let steps = unfold(
            2,
            |left: u8| async move { Some((left, left.checked_sub(1)?)) },
        );
        let mut steps = steps.boxed();
        let mut seen = Vec::new();
        for _ in 0..5 {
            seen.push(steps.next().await);
        }
        assert_eq!(seen, [Some(2), Some(1), None, None, None]);
    }
}
