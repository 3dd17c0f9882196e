//! When the next drawing is due: at once after what a person did, soon after what they wait for, with the clock for all
//! else, and hardly ever faster than the eye.

use std::time::Duration;

use tokio::time::Instant;

use crate::app::Msg;
use crate::protocol::Event;

/// The least time between two drawings.
const FRAME: Duration = Duration::from_millis(16);

/// When the screen must show something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    /// At once, even if the last drawing is young: while output pours in, a key would else wait for most of a frame.
    Now,
    /// As soon as the last drawing is old enough.
    Soon,
    /// When the clock moves next.
    WithClock,
}

impl Urgency {
    /// Tells how long a message may wait. Figures come for every sandbox every second; all of them are shown at once.
    pub(super) fn of(msg: &Msg) -> Self {
        match msg {
            Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_) | Msg::Resize { .. } => Self::Now,
            Msg::Engine(Event::Sampled(_) | Event::ReapStatuses { .. }) => Self::WithClock,
            _ => Self::Soon,
        }
    }
}

/// Keeps the pace of drawings.
#[derive(Debug)]
pub(super) struct Pace {
    changed: bool,
    /// Is it a person who changed something?
    touched: bool,
    earliest: Instant,
    /// The same for what a person did; a key that is held down must not be faster than all else.
    earliest_touched: Instant,
}

impl Pace {
    /// Starts with a drawing that is due.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            changed: true,
            touched: false,
            earliest: now,
            earliest_touched: now,
        }
    }

    /// Takes in that something has changed.
    pub(super) fn note(&mut self, urgency: Urgency) {
        self.changed |= urgency != Urgency::WithClock;
        self.touched |= urgency == Urgency::Now;
    }

    /// Returns when to draw; `None` while nothing has changed.
    pub(super) fn due(&self) -> Option<Instant> {
        let earliest = if self.touched {
            self.earliest_touched
        } else {
            self.earliest
        };
        self.changed.then_some(earliest)
    }

    /// Takes in that everything is drawn, or all but a rest.
    pub(super) fn drawn(&mut self, now: Instant, rest: bool) {
        (self.changed, self.earliest) = (rest, now + FRAME);
        if std::mem::take(&mut self.touched) {
            self.earliest_touched = self.earliest;
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::Utc;
    use tokio::time::{MissedTickBehavior, advance, interval, sleep_until};

    use super::*;
    use crate::app::testing::{host, reference, sample};

    fn sampled() -> Msg {
        let samples = vec![(reference("py"), sample(0, 1.0, 1))];
        Msg::Engine(Event::Sampled(samples))
    }

    fn list() -> Msg {
        Msg::Engine(Event::Sandboxes {
            host: host(),
            sandboxes: Vec::new(),
        })
    }

    /// Counts the drawings of ten seconds in which a message comes at every interval.
    async fn frames(every: Duration, msg: impl Fn() -> Msg) -> usize {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        let mut second = interval(Duration::from_secs(1));
        let mut source = interval(every);
        source.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut count = 0;
        while begin.elapsed() < Duration::from_secs(10) {
            let due = pace.due();
            tokio::select! {
                biased;
                () = sleep_until(due.unwrap_or(begin)), if due.is_some() => {
                    count += 1;
                    pace.drawn(Instant::now(), false);
                }
                _ = source.tick() => pace.note(Urgency::of(&msg())),
                _ = second.tick() => pace.note(Urgency::of(&Msg::Tick(Utc::now()))),
            }
        }
        count
    }

    #[tokio::test(start_paused = true)]
    async fn at_rest_only_the_clock_draws() {
        let count = frames(Duration::from_mins(1), list).await;
        assert!((10..=13).contains(&count), "{count}");
    }

    #[tokio::test(start_paused = true)]
    async fn figures_of_many_sandboxes_wait_for_the_clock() {
        let count = frames(Duration::from_millis(5), sampled).await;
        assert!((10..=13).contains(&count), "{count}");
    }

    #[tokio::test(start_paused = true)]
    async fn under_load_there_are_at_most_sixty_a_second() {
        let count = frames(Duration::from_millis(1), list).await;
        assert!((500..=640).contains(&count), "{count}");
    }

    fn key() -> Msg {
        Msg::Key("j".parse().expect("a key"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_drawn_at_once_even_after_a_frame_of_output() {
        let mut pace = Pace::new(Instant::now());
        advance(Duration::from_secs(1)).await;
        pace.note(Urgency::of(&list()));
        pace.drawn(Instant::now(), false);
        advance(Duration::from_millis(1)).await;
        pace.note(Urgency::of(&list()));
        assert!(pace.due().is_some_and(|due| due > Instant::now()));
        pace.note(Urgency::of(&key()));
        assert!(pace.due().is_some_and(|due| due <= Instant::now()));
        // What it shows was all there was.
        pace.drawn(Instant::now(), false);
        assert_eq!(pace.due(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_is_held_down_draws_at_most_sixty_times_a_second() {
        let count = frames(Duration::from_millis(1), key).await;
        assert!((500..=640).contains(&count), "{count}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_change_after_a_rest_is_drawn_at_once() {
        let mut pace = Pace::new(Instant::now());
        pace.drawn(Instant::now(), false);
        assert_eq!(pace.due(), None);
        advance(Duration::from_secs(1)).await;
        pace.note(Urgency::Soon);
        assert!(pace.due().is_some_and(|due| due <= Instant::now()));
    }
}
