//! Which pairs of shapes wait in the coming step of the engine, and what the others cost.
//!
//! The engine's narrow phase sees one pair at a time, on any thread. So the choice is made
//! before its step (`world/budget.rs`) and looked up here: a pair that waits is not asked, and
//! keeps the contacts of the last step at the distances that they have now.
//!
//! As in the table of voxel contacts a shape's address names it for the length of a step.
//! Addresses are compared, never ordered by in anything that a result depends on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use parry3d::shape::Shape;

use crate::voxel::key_of;

/// Two shapes, the lower address first.
pub(crate) type ShapePair = [usize; 2];

pub(crate) fn shape_pair(g1: &dyn Shape, g2: &dyn Shape) -> ShapePair {
    let mut pair = [key_of(g1), key_of(g2)];
    pair.sort_unstable();
    pair
}

/// Shared by the dispatcher and by who chooses.
#[derive(Debug, Default)]
pub(crate) struct PairPlan {
    /// Whether somebody chooses at all: else no pair pays for more than this look.
    on: AtomicBool,
    /// Those that wait, in order.
    waiting: RwLock<Vec<ShapePair>>,
    /// Points that pairs were asked for, in no order.
    asked: Mutex<Vec<(ShapePair, u32)>>,
}

impl PairPlan {
    /// Whether a pair waits.
    pub(crate) fn waits(&self, g1: &dyn Shape, g2: &dyn Shape) -> bool {
        self.on.load(Ordering::Relaxed) && {
            let waiting = self.waiting.read().unwrap_or_else(PoisonError::into_inner);
            !waiting.is_empty() && waiting.binary_search(&shape_pair(g1, g2)).is_ok()
        }
    }

    /// Notes how many points a pair was asked for.
    pub(crate) fn note(&self, g1: &dyn Shape, g2: &dyn Shape, points: u32) {
        if self.on.load(Ordering::Relaxed) {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push((shape_pair(g1, g2), points));
        }
    }

    /// Says which pairs wait from now on.
    #[cfg(feature = "world")]
    pub(crate) fn choose(&self, pairs: impl Iterator<Item = ShapePair>) {
        self.on.store(true, Ordering::Relaxed);
        let mut waiting = self.waiting.write().unwrap_or_else(PoisonError::into_inner);
        waiting.clear();
        waiting.extend(pairs);
        waiting.sort_unstable();
    }

    /// What was noted since the last call, in the order of the pairs: a sum for each name, since
    /// a pair may be asked twice, and two pairs may share their shapes.
    #[cfg(feature = "world")]
    pub(crate) fn take_asked(&self, into: &mut Vec<(ShapePair, u32)>) {
        into.clear();
        into.append(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        into.sort_unstable();
        into.dedup_by(|next, sum| {
            let is_same = next.0 == sum.0;
            if is_same {
                sum.1 += next.1;
            }
            is_same
        });
    }
}

#[cfg(all(test, feature = "world"))]
mod tests {
    use parry3d::shape::Ball;

    use super::*;

    #[test]
    fn pairs_of_one_name_are_added_up_and_told_once() {
        let balls = [Ball::new(1.0), Ball::new(2.0), Ball::new(3.0)];
        let plan = PairPlan::default();
        plan.note(&balls[0], &balls[1], 7);
        plan.choose([shape_pair(&balls[0], &balls[2])].into_iter());
        assert!(plan.waits(&balls[2], &balls[0]) && !plan.waits(&balls[0], &balls[1]));
        plan.note(&balls[0], &balls[1], 3);
        plan.note(&balls[2], &balls[1], 5);
        plan.note(&balls[1], &balls[0], 4);
        let mut asked = Vec::new();
        plan.take_asked(&mut asked);
        let mut wanted = vec![
            (shape_pair(&balls[0], &balls[1]), 7),
            (shape_pair(&balls[1], &balls[2]), 5),
        ];
        wanted.sort_unstable();
        assert_eq!(asked, wanted, "the first was noted before anybody chose");
        plan.take_asked(&mut asked);
        assert!(asked.is_empty());
    }
}
