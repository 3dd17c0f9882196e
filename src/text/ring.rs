//! A store that keeps the newest items within two bounds and counts what it drops.

use std::collections::VecDeque;

/// Knows how much memory it takes.
pub trait Weigh {
    /// Returns about how many bytes it takes.
    fn weight(&self) -> usize;
}

/// Keeps the newest items; an item's number never changes, also when older ones are dropped.
#[derive(Debug, Clone)]
pub struct Ring<T> {
    items: VecDeque<T>,
    first: u64,
    weight: usize,
    most_items: usize,
    most_weight: usize,
}

impl<T: Weigh> Ring<T> {
    /// Creates an empty store with these bounds.
    #[must_use]
    pub fn new(most_items: usize, most_weight: usize) -> Self {
        Self {
            items: VecDeque::new(),
            first: 0,
            weight: 0,
            most_items,
            most_weight,
        }
    }

    /// Adds an item and drops the oldest ones that no longer fit, if need be all.
    pub fn push(&mut self, item: T) {
        self.weight += item.weight();
        self.items.push_back(item);
        self.drop_surplus();
    }

    /// Returns the item with this number, unless it was dropped or is still to come.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&T> {
        let index = number.checked_sub(self.first)?;
        self.items.get(usize::try_from(index).ok()?)
    }

    /// Puts another item in the place of one that is still kept.
    pub fn replace(&mut self, number: u64, item: T) {
        let index = number.checked_sub(self.first);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let Some(known) = index.and_then(|index| self.items.get_mut(index)) else {
            return;
        };
        self.weight = self.weight.saturating_sub(known.weight()) + item.weight();
        *known = item;
        self.drop_surplus();
    }

    /// Returns the number of the oldest item kept, which is how many were dropped.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number that the next item gets.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.first + u64::try_from(self.items.len()).unwrap_or(0)
    }

    /// Returns about how many bytes the items take.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Returns the items from the oldest to the newest.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    fn drop_surplus(&mut self) {
        while self.items.len() > self.most_items || self.weight > self.most_weight {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(item) = self.items.pop_front() {
            self.weight = self.weight.saturating_sub(item.weight());
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for (u64, usize) {
        fn weight(&self) -> usize {
            self.1
        }
    }

    #[test]
    fn never_exceeds_its_bounds_and_keeps_numbers() {
        let mut seed: u64 = 5;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let (lines, bytes) = (1 + next(40), 1 + next(400));
            let mut ring = Ring::new(
                usize::try_from(lines).unwrap_or(1),
                usize::try_from(bytes).unwrap_or(1),
            );
            for number in 0..300 {
                ring.push((number, usize::try_from(next(60)).unwrap_or(0)));
                let weight: usize = ring.iter().map(Weigh::weight).sum();
                assert_eq!(weight, ring.weight());
                assert!(weight as u64 <= bytes && ring.end() - ring.first() <= lines);
                assert_eq!(ring.end(), number + 1);
            }
            for number in 0..300 {
                let kept = ring.get(number).map(|item| item.0);
                assert_eq!(kept, (number >= ring.first()).then_some(number));
            }
            assert_eq!(ring.get(300), None);
        }
    }

    #[test]
    fn an_item_that_never_fits_is_dropped_too() {
        let mut ring = Ring::new(10, 100);
        ring.push((0, 50));
        ring.push((1, 101));
        assert_eq!((ring.first(), ring.end(), ring.weight()), (2, 2, 0));
    }
}
