//! A priority queue for arrival times: buckets of equal width, sorted when opened.
//!
//! Every push costs O(1), whatever the number of waiting nodes; a bucket is sorted
//! when the front enters it, while it lies in cache. What is pushed into the open
//! bucket (or behind it) waits in a small binary heap. The order of pops is the
//! exact order of `(key, node)`, whatever the width: the width decides speed only,
//! and O(n log n) holds even if everything falls into one bucket.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BUCKETS: usize = 512;

/// Pops `(key, node)` in increasing order. Keys are not negative and not NaN.
#[derive(Clone, Debug)]
pub(super) struct ArrivalQueue {
    /// `key bits << 32 | node`: non-negative floats order as their bits do.
    buckets: Vec<Vec<u64>>,
    open: usize,
    /// How much of the open bucket has been popped.
    taken: usize,
    late: BinaryHeap<Reverse<u64>>,
    per_width: f32,
}

impl Default for ArrivalQueue {
    fn default() -> Self {
        Self {
            buckets: vec![Vec::new(); BUCKETS],
            open: 0,
            taken: 0,
            late: BinaryHeap::new(),
            per_width: 0.0,
        }
    }
}

impl ArrivalQueue {
    /// Empties the queue and spreads the buckets over keys from 0 to `reach`.
    pub fn reset(&mut self, reach: f32) {
        for bucket in &mut self.buckets[self.open..] {
            bucket.clear();
        }
        self.late.clear();
        (self.open, self.taken) = (0, 0);
        let per_width = BUCKETS as f32 / reach;
        self.per_width = if per_width.is_finite() {
            per_width
        } else {
            0.0
        };
    }

    #[inline]
    pub fn push(&mut self, key: f32, node: u32) {
        let entry = u64::from(key.to_bits()) << 32 | u64::from(node);
        // A float to integer cast saturates, so any key finds a bucket.
        let bucket = ((key * self.per_width) as usize).min(BUCKETS - 1);
        if bucket > self.open {
            self.buckets[bucket].push(entry);
        } else {
            self.late.push(Reverse(entry));
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(f32, u32)> {
        loop {
            let waiting = self.buckets[self.open].get(self.taken).copied();
            let late = self.late.peek().map(|entry| entry.0);
            let entry = match (waiting, late) {
                (Some(a), Some(b)) if b < a => self.late.pop().map(|entry| entry.0),
                (Some(a), _) => {
                    self.taken += 1;
                    Some(a)
                }
                (None, Some(_)) => self.late.pop().map(|entry| entry.0),
                (None, None) => None,
            };
            if let Some(entry) = entry {
                return Some((f32::from_bits((entry >> 32) as u32), entry as u32));
            }
            if self.open == BUCKETS - 1 {
                return None;
            }
            self.buckets[self.open].clear();
            self.open += 1;
            self.taken = 0;
            self.buckets[self.open].sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;

    #[test]
    fn pops_in_exact_order_whatever_the_width() {
        for reach in [1.0, 1e-3, 1e3, 0.0, f32::INFINITY, f32::NAN] {
            let (mut queue, mut model) = (ArrivalQueue::default(), BinaryHeap::new());
            let mut rng = Rng(reach.to_bits().into());
            for _ in 0..2 {
                queue.reset(reach);
                model.clear();
                for node in 0..200 {
                    let key = rng.unit();
                    queue.push(key, node);
                    model.push(Reverse((key.to_bits(), node)));
                }
                // As a march does: pushes never lie behind the last pop. Left
                // half full the first time, so that the reset is tested.
                for round in 0..300 {
                    let (key, node) = queue.pop().unwrap();
                    assert_eq!(model.pop().unwrap().0, (key.to_bits(), node));
                    if round < 150 {
                        let later = key + 0.3 * rng.unit() * rng.unit();
                        queue.push(later, 1000 + round);
                        model.push(Reverse((later.to_bits(), 1000 + round)));
                    }
                }
            }
            while queue.pop().is_some() {
                model.pop().unwrap();
            }
            assert!(model.is_empty());
        }
    }
}
