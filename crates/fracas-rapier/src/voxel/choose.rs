//! Which pairs the sphere-tree method takes, and which of the others are looked at.

use super::pairs::{Answer, Body, Pair, STALE_MOTION};
use super::stage::{
    COST_GROWTH, Clock, LEAST_LOOKS, Looked, SPHERE_TREES_PLANNED, Scope, TURNS, VOXEL_SHARE,
    VoxelStage,
};
use super::table::Cost;
use super::{FrameBudget, POINT_WORK};

/// What a pair of which nothing is known may take, in usual pairs of the sphere-tree method.
const NEW_PAIR: f64 = 3.0;

/// Of what is predicted for the sphere-tree method, what is planned with at the least.
const LEAST_TAKEN: f64 = 0.1;

/// What is deep: by so many times what a pair may move before it is looked at again, so by half
/// a voxel.
const HALF_A_VOXEL: f32 = 5.0;

/// Whether what the sphere-tree method found is still as good as new.
fn holds(pair: &Pair, bodies: &[Body]) -> bool {
    pair.answer == Answer::SphereTree && pair.holds(bodies)
}

/// The points that a new pair may be asked for: all of the smaller body (of the only one).
fn all_points(pair: &Pair, bodies: &[Body]) -> u32 {
    match [pair.a, pair.b].map(|i| bodies[i as usize].points) {
        [n, 0] | [0, n] => n,
        // Of two that meet, both trees are asked for.
        [u32::MAX, _] | [_, u32::MAX] => u32::MAX,
        [n, m] => n.min(m),
    }
}

/// The points that a pair is expected to be asked for.
fn points_of(pair: &Pair, bodies: &[Body]) -> f64 {
    let points = pair
        .cost
        .map_or_else(|| all_points(pair, bodies), |cost| cost.points);
    f64::from(points.max(1))
}

/// The seconds that a pair is expected to take, where looking at a point takes `visit`: `most` at
/// the most, since the clock stops the few that take more.
fn seconds_of(pair: &Pair, bodies: &[Body], visit: f64, most: f64) -> f64 {
    match (pair.cost, all_points(pair, bodies)) {
        // What came too late has to wait for one step.
        (Some(cost), _) if cost.late => f64::INFINITY,
        (Some(cost), _) => (COST_GROWTH * f64::from(cost.seconds).max(visit)).min(most),
        // What it needs is not there yet.
        (None, u32::MAX) => f64::INFINITY,
        (None, points) => (f64::from(points.max(1)) * visit).min(most),
    }
}

impl VoxelStage {
    /// Both at once: leaves to the sphere-tree method what fits.
    pub(super) fn choose_sphere_tree_pairs(&mut self, clock: &Clock) {
        self.sphere_tree_seconds = 0.0;
        if self.scope != Scope::WhatDoesNotFit {
            return;
        }
        let engine = self.rates.engine(self.engine_work);
        // Work counts points, time counts seconds.
        let (mut room, timed) = match self.settings.budget {
            FrameBudget::Unlimited => (f64::INFINITY, false),
            FrameBudget::Work(units) => {
                let points = ((1.0 - VOXEL_SHARE) * units as f64) as u64 / POINT_WORK;
                (points as f64, false)
            }
            FrameBudget::Milliseconds(ms) => {
                let planned = self.planned(SPHERE_TREES_PLANNED, ms);
                let left = planned - engine - (clock() - self.started);
                // Most pairs take less than they may: that is learnt, and the clock watches.
                let takes = self.rates.predicted.get().clamp(LEAST_TAKEN, 1.0);
                (left.max(0.0) / takes, true)
            }
        };
        let order = self.in_turn(timed);
        let bodies = &self.bodies;
        let list = self.pairs.list.iter();
        let kept_anyway: Vec<bool> = list.map(|pair| holds(pair, bodies)).collect();
        let all: f64 = order.iter().map(|o| o.0).sum();
        if timed && all > room {
            room *= 1.0 - VOXEL_SHARE;
        }
        let mut kept = 0;
        for (pair, holds) in self.pairs.list.iter_mut().zip(kept_anyway) {
            if !pair.by_sphere_tree && holds {
                pair.by_sphere_tree = true;
                kept += 1;
            }
        }
        let (mut fit, mut waiting) = (0, 0);
        for &(cost, i) in &order {
            let pair = &mut self.pairs.list[i as usize];
            if timed && cost > room && pair.answer == Answer::SphereTree {
                // It waits with what was found before, at the distances of now.
                pair.by_sphere_tree = true;
                waiting += 1;
                continue;
            }
            // What is remembered holds for one step; where a clock watches, until the pair is
            // asked again: else one that once did not fit would count as new for ever.
            if !timed || pair.cost.is_some_and(|cost| cost.late) {
                pair.cost = None;
            }
            if pair.answer == Answer::SphereTree {
                pair.answer = Answer::None;
            }
            if cost <= room {
                room -= cost;
                pair.by_sphere_tree = true;
                pair.answer = Answer::None;
                // What the engine does not ask, since their boxes are apart, costs nothing.
                if timed {
                    pair.cost = Some(Cost::default());
                }
                fit += 1;
                self.sphere_tree_seconds += if timed { cost } else { 0.0 };
            }
        }
        self.stats.sphere_tree_pairs = kept + fit;
        self.stats.waiting = waiting;
        self.stats.fallbacks = order.len() as u64 - fit - waiting;
    }

    /// The pairs that the sphere-tree method may be asked for, in the order of their turn, each
    /// with what it is expected to cost.
    ///
    /// A pair stays with its method: what moves between two that see surfaces differently is
    /// pushed about by that. So those that were the sphere-tree method's come first, what has
    /// moved farthest before the others; then cheap ones, but those whose turn it is before them.
    fn in_turn(&self, timed: bool) -> Vec<(f64, u32)> {
        let bodies = &self.bodies;
        let visit = self.rates.visit.get();
        let most = NEW_PAIR * self.rates.sphere_tree_pair.get();
        let rank = |pair: &Pair, i: u32| {
            let is_its = timed && pair.answer == Answer::SphereTree;
            let later = timed && !u64::from(i).wrapping_add(self.step).is_multiple_of(TURNS);
            let moved = if is_its { pair.moved(bodies) } else { 0.0 };
            (!is_its, later && !is_its, moved)
        };
        let open = self.pairs.list.iter().zip(0_u32..);
        let open = open.filter(|(pair, _)| {
            !pair.by_sphere_tree && pair.answer != Answer::Apart && !holds(pair, bodies)
        });
        let mut order: Vec<_> = open
            .map(|(pair, i)| {
                let cost = if timed {
                    seconds_of(pair, bodies, visit, most)
                } else {
                    points_of(pair, bodies)
                };
                (rank(pair, i), cost, i)
            })
            .collect();
        order.sort_unstable_by(|(a, cost_a, i), (b, cost_b, j)| {
            let by_rank = (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2));
            by_rank.then(cost_a.total_cmp(cost_b)).then(i.cmp(j))
        });
        order.into_iter().map(|(_, cost, i)| (cost, i)).collect()
    }

    /// Which of the pairs that are left to the voxels are looked at: those that moved, as
    /// far as time allows; the others keep the contacts they have.
    pub(super) fn choose_looked(&mut self, clock: &Clock) -> Looked {
        let (pairs, bodies, rates) = (&self.pairs.list, &self.bodies, &self.rates);
        let piece = |i: u32| {
            let b = pairs[i as usize].b;
            bodies[b as usize].tree.is_some()
        };
        let turn = |i: u32| u64::from(i).wrapping_add(self.step).is_multiple_of(TURNS);
        let timed = matches!(self.settings.budget, FrameBudget::Milliseconds(_));
        let (mut keeping, mut looked, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for (pair, i) in pairs.iter().zip(0_u32..) {
            if pair.by_sphere_tree || pair.answer == Answer::Apart {
                continue;
            }
            let Answer::Contacts { level, .. } = pair.answer else {
                looked.push((i, turn(i)));
                continue;
            };
            let moved = pair.moved(bodies);
            if moved < pair.room && (level.is_none() || !(turn(i) || timed)) {
                keeping.push(i);
            } else if moved < STALE_MOTION * pair.room {
                waiting.push((i, turn(i)));
            } else {
                // What is deep has to be pushed the right way.
                looked.push((i, turn(i) || pair.deepest < -HALF_A_VOXEL * pair.room));
            }
        }
        let voxel_pairs = keeping.len() + looked.len() + waiting.len();
        self.engine_work.voxel_pairs = voxel_pairs;
        let takes = rates.predicted.get().clamp(LEAST_TAKEN, 1.0);
        let after = rates.engine(self.engine_work) + takes * self.sphere_tree_seconds;
        let fit = match self.settings.budget {
            FrameBudget::Milliseconds(ms) => {
                let left =
                    self.planned(self.planned_share(), ms) - (clock() - self.started) - after;
                let fit = (left / rates.look()).max(0.0) as usize;
                let fit = fit.saturating_sub(looked.len());
                fit.min(self.fine_looks as usize).max(LEAST_LOOKS)
            }
            _ => waiting.len(),
        };
        if fit < waiting.len() {
            // One after the other, from step to step, and those whose turn it is finely: what
            // was seen coarsely or is deep before the others.
            let first = self.waiting_turn % waiting.len();
            self.waiting_turn = first + fit;
            waiting.rotate_left(first);
            waiting.sort_by_key(|&(i, _)| {
                let pair = &pairs[i as usize];
                let is_coarse = matches!(pair.answer, Answer::Contacts { level: Some(_), .. });
                !(is_coarse || pair.deepest < -HALF_A_VOXEL * pair.room)
            });
            keeping.extend(waiting.drain(fit..).map(|(i, _)| i));
            waiting.iter_mut().for_each(|(_, fine)| *fine = true);
        }
        looked.append(&mut waiting);
        // Floors come before the others.
        looked.sort_unstable_by_key(|&(i, fine)| (piece(i), !fine, i));
        for &i in &keeping {
            if let Answer::Contacts { level, .. } = pairs[i as usize].answer {
                self.stats.answered(level);
            }
        }
        self.stats.kept = keeping.len() as u64;
        self.stats.pairs = voxel_pairs as u64;
        Looked {
            plain: looked.partition_point(|&(i, _)| !piece(i)),
            looked,
            keeping,
            after,
        }
    }
}
