//! How much work fits into a time: rates of the stages, learnt from the steps so far.
//!
//! Budgets count work; a clock only sets them. A rate follows slow steps faster than
//! fast ones, so that a step plans with what it may well cost rather than with what it
//! costs on the average. A step in which the whole machine is slow (another core's load,
//! cold caches) shows it in its first stage, whose work is known: what is still to come
//! is then expected to be as slow.

/// Seconds per piece of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    expected: f64,
    /// What a step faster than expected counts for.
    faster: f64,
}

/// What a step slower than expected, and one faster, counts for.
const SLOWER: f64 = 0.25;
const FASTER: f64 = 0.04;

impl Rate {
    pub(super) fn new(first_guess: f64) -> Self {
        Self {
            expected: first_guess,
            faster: FASTER,
        }
    }

    /// One that is used where a clock watches: neither slow nor fast steps count for more.
    pub(super) fn watched(first_guess: f64) -> Self {
        Self {
            faster: SLOWER,
            ..Self::new(first_guess)
        }
    }

    pub(super) fn get(&self) -> f64 {
        self.expected
    }

    /// Learns from `seconds` spent on `count`; too few say nothing.
    pub(super) fn learn(&mut self, seconds: f64, count: f64, least: f64) {
        if count < least || seconds <= 0.0 {
            return;
        }
        // One disturbed step must not stop all work in the next.
        let seen = (seconds / count).min(4.0 * self.expected);
        let weight = if seen > self.expected {
            SLOWER
        } else {
            self.faster
        };
        self.expected += weight * (seen - self.expected);
    }
}

/// What the stages of a step cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageRates {
    /// Per overlapping pair of cubes, in reduction; a pair of bodies counts as
    /// [`PAIR_PRIMITIVES`].
    pub(super) primitive: Rate,
    /// The engine's own collision stage, per pair of boxes; a contact counts as
    /// [`CONTACT_PAIRS`].
    pub(super) engine_pair: Rate,
    /// Contacts per pair of bodies that voxels answer.
    pub(super) contacts: Rate,
    /// Per node or point that the sphere-tree method looks at.
    pub(super) visit: Rate,
    /// Per pair that the sphere-tree method answers.
    pub(super) sphere_tree_pair: Rate,
    /// What the sphere-tree method takes, by what was predicted.
    pub(super) predicted: Rate,
    /// Looking at a pair at all: its roots.
    pub(super) root: Rate,
    /// Finding pairs, per pair of boxes; a collider counts as one.
    pub(super) find: Rate,
    /// How slow this step is, against what was expected: at least 1.
    pub(super) slow: f64,
}

/// What a pair of bodies costs in reduction besides its cubes, in pairs of cubes.
const PAIR_PRIMITIVES: f64 = 4.0;

/// What a contact costs the engine, in pairs without one.
const CONTACT_PAIRS: f64 = 0.5;

/// What the engine will find: pairs of boxes, and of these the pairs that voxels answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EngineWork {
    pub(super) boxes: usize,
    pub(super) voxel_pairs: usize,
}

impl Default for StageRates {
    fn default() -> Self {
        // Guesses on the slow side: the first steps of a scene are the cheap ones.
        Self {
            primitive: Rate::new(100e-9),
            engine_pair: Rate::new(1e-6),
            contacts: Rate::new(3.0),
            visit: Rate::new(1e-6),
            sphere_tree_pair: Rate::watched(20e-6),
            predicted: Rate::watched(1.0),
            root: Rate::new(300e-9),
            find: Rate::new(1e-6),
            slow: 1.0,
        }
    }
}

impl StageRates {
    /// Learns from finding pairs how slow this step is.
    pub(super) fn found_pairs(&mut self, seconds: f64, boxes: usize, colliders: usize) {
        let units = (boxes + colliders) as f64;
        // Few say more about the clock than about the machine.
        self.slow = if units < 100.0 {
            1.0
        } else {
            (seconds / units / self.find.get()).clamp(1.0, 3.0)
        };
        self.find.learn(seconds, units, 100.0);
    }

    /// Seconds that reducing `in_hand` pairs of cubes of some pairs of bodies takes.
    pub(super) fn reduction(&self, in_hand: usize, voxel_pairs: usize) -> f64 {
        self.slow * self.primitive.get() * (in_hand as f64 + PAIR_PRIMITIVES * voxel_pairs as f64)
    }

    /// Seconds that looking at a pair of bodies takes at the least.
    pub(super) fn look(&self) -> f64 {
        self.slow * self.root.get() + self.reduction(1, 1)
    }

    pub(super) fn learn_reduction(&mut self, seconds: f64, in_hand: usize, voxel_pairs: usize) {
        let units = in_hand as f64 + PAIR_PRIMITIVES * voxel_pairs as f64;
        self.primitive.learn(seconds, units, 100.0);
    }

    /// Seconds that the engine's own collision stage will take.
    pub(super) fn engine(&self, work: EngineWork) -> f64 {
        let contacts = self.contacts.get() * work.voxel_pairs as f64;
        self.slow * self.engine_pair.get() * (work.boxes as f64 + CONTACT_PAIRS * contacts)
    }

    /// The same, learnt: what it took, with the contacts that there were.
    pub(super) fn learn_engine(&mut self, seconds: f64, work: EngineWork, contacts: usize) {
        let units = work.boxes as f64 + CONTACT_PAIRS * contacts as f64;
        self.engine_pair.learn(seconds, units, 30.0);
        self.contacts
            .learn(contacts as f64, work.voxel_pairs as f64, 10.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_follows_slow_steps_soon_and_fast_ones_slowly() {
        let mut rate = Rate::new(1.0);
        rate.learn(100.0, 1.0, 1.0);
        assert!(rate.get() < 2.0, "one disturbance is bounded");
        let mut rate = Rate::new(1.0);
        for _ in 0..10 {
            rate.learn(3.0, 1.0, 1.0);
        }
        assert!(rate.get() > 2.8);
        for _ in 0..10 {
            rate.learn(1.0, 1.0, 1.0);
        }
        assert!(rate.get() > 2.0);
        for _ in 0..500 {
            rate.learn(1.0, 1.0, 1.0);
        }
        assert!(rate.get() < 1.01);
        rate.learn(50.0, 0.5, 1.0);
        assert!(rate.get() < 1.01, "too little work says nothing");
    }

    #[test]
    fn a_step_that_begins_slowly_is_expected_to_go_on_so() {
        let mut rates = StageRates::default();
        for _ in 0..300 {
            rates.found_pairs(100e-6, 400, 100);
        }
        let work = EngineWork {
            boxes: 400,
            voxel_pairs: 100,
        };
        let usual = rates.engine(work);
        rates.found_pairs(200e-6, 400, 100);
        assert!(rates.engine(work) > 1.8 * usual);
        rates.found_pairs(50e-6, 400, 100);
        assert!(rates.engine(work) <= usual);
    }
}
