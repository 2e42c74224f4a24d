//! Selective restructuring [Heo 2010, §5.4].
//!
//! From the root down, a subtree is built anew if
//! 1. the benefit exceeds the loss: what its traversal costs more than when it was
//!    last built, against what building costs; and
//! 2. the loss is at most p = 25 % of the whole cost of the last step.
//!
//! Both are counted in *work units*, one overlap test of two boxes, never in time:
//! the constants are part of the code, so runs repeat. On the benchmarks no subtree is
//! ever built anew, and that is right: trees that are only refitted, and cut where bodies
//! are, need fewer box tests than trees built anew in each step (decisions/0024).
//!
//! **Deviations**: the paper measures its constants at the start of the program and
//! takes the measured time of the last frame in (2); both would let a clock decide.

use super::Builder;
use super::tree::{Bounds, CULLED, Tree};

/// Overlap tests, elementary tests included, per unit of TC_S.
pub(crate) const TESTS_PER_COST: f64 = 1.5;
/// Work units to build, per triangle and level of the tree.
const GRID_UNITS: f64 = 1.2;
const MEDIAN_UNITS: f64 = 1.8;
const SAH_UNITS: f64 = 4.0;
/// Work units per triangle of writing the tree anew and refitting, once per update
/// that restructures anything; shared by what is chosen.
const REWRITE_UNITS: f64 = 6.0;
/// p of the paper, as a share.
pub(crate) const LARGEST_SHARE: f64 = 0.25;
/// Ratio of a node's volume to the sum of its children's from which [Larsson 2006]
/// builds anew.
const VOLUME_RATIO: f64 = 0.9;
/// Subtrees smaller than this are left alone: too many, each of little worth.
const SMALLEST: u32 = 32;
/// Levels beyond which the whole tree is built anew, whatever it costs.
pub(crate) const DEEPEST: usize = 160;

/// By what subtrees are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Choice {
    /// TC_S, with what is saved counted for so many steps.
    ByCost { steps: u32 },
    /// Volumes.
    ByVolume,
}

impl Tree {
    /// Notes the cost of subtrees that were just built.
    pub(crate) fn remember_costs(&mut self) {
        for info in &mut self.info {
            if info.built_cost.is_nan() {
                info.built_cost = info.cost_self;
            }
        }
    }

    /// The subtrees to build anew, in order, none inside another.
    pub(crate) fn choose_rebuilds(
        &self,
        choice: Choice,
        builder: Builder,
        last_cost: f64,
    ) -> Vec<u32> {
        let per_level = match builder {
            Builder::Grid { .. } => GRID_UNITS,
            Builder::Median | Builder::RandomAxis { .. } => MEDIAN_UNITS,
            Builder::BinnedSah => SAH_UNITS,
        };
        let (by_volume, saved_per_cost) = match choice {
            Choice::ByVolume => (true, TESTS_PER_COST),
            Choice::ByCost { steps } => (false, TESTS_PER_COST * f64::from(steps)),
        };
        let whole = self.leaves.len() as f64;
        let step = TESTS_PER_COST * last_cost.max(f64::from(self.info[0].cost_self))
            + REWRITE_UNITS * whole;
        let mut chosen = Vec::new();
        let mut benefit_of_all = 0.0;
        let mut stack = vec![0_u32];
        while let Some(i) = stack.pop() {
            let (node, info) = (&self.nodes[i as usize], &self.info[i as usize]);
            if node.is_leaf() || info.count < SMALLEST || info.flags & CULLED != 0 {
                continue;
            }
            let count = f64::from(info.count);
            let loss = per_level * count * f64::from(info.count.ilog2());
            let excess = f64::from(info.cost_self) - f64::from(info.built_cost);
            let costly = if by_volume {
                let (l, r) = (
                    self.nodes[i as usize + 1].bounds(),
                    self.nodes[node.link() as usize].bounds(),
                );
                let thickness = 1e-3 * node.bounds().extent_sum();
                let volume = |b: &Bounds| f64::from(b.thick_volume(thickness));
                let both = volume(&l) + volume(&r);
                both > 0.0 && volume(&node.bounds()) < VOLUME_RATIO * both
            } else {
                saved_per_cost * excess > loss
            };
            if costly && loss <= LARGEST_SHARE * step {
                benefit_of_all += saved_per_cost * excess - loss;
                chosen.push(i);
                continue;
            }
            stack.push(node.link());
            stack.push(i + 1);
        }
        // Writing the tree anew must pay, too.
        if !by_volume && benefit_of_all < REWRITE_UNITS * whole {
            chosen.clear();
        }
        chosen
    }
}
