//! How much work fits into a time: rates of the stages, learnt from the steps so far.
//!
//! Budgets count work; a clock only sets them. A rate is the slowest seen, forgotten
//! slowly, so that a step plans with what it may cost rather than with what it costs
//! on the average.

/// Seconds per piece of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    slowest: f64,
}

/// Old measurements lose half their weight in about 35 steps.
const FORGET: f64 = 0.98;

impl Rate {
    pub(super) fn new(first_guess: f64) -> Self {
        Self {
            slowest: first_guess,
        }
    }

    pub(super) fn get(&self) -> f64 {
        self.slowest
    }

    /// Learns from `seconds` spent on `count`; too few say nothing.
    pub(super) fn learn(&mut self, seconds: f64, count: f64, least: f64) {
        if count < least || seconds <= 0.0 {
            return;
        }
        let seen = seconds / count;
        // One disturbed step must not stop all work in the next.
        let seen = seen.min(4.0 * self.slowest);
        self.slowest = seen.max(FORGET * self.slowest + (1.0 - FORGET) * seen);
    }
}

/// What the stages of a step cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Per cube test.
    pub(super) test: Rate,
    /// Per overlapping pair of cubes, in reduction.
    pub(super) primitive: Rate,
    /// Overlapping pairs of cubes left, per test.
    pub(super) left_per_test: Rate,
    /// The engine's own collision stage, per pair.
    pub(super) engine_pair: Rate,
    /// Per point of the main method.
    pub(super) point: Rate,
}

impl Default for Pace {
    fn default() -> Self {
        // Guesses on the slow side: the first steps of a scene are the cheap ones.
        Self {
            test: Rate::new(30e-9),
            primitive: Rate::new(100e-9),
            left_per_test: Rate::new(0.5),
            engine_pair: Rate::new(2e-6),
            point: Rate::new(1e-6),
        }
    }
}

impl Pace {
    /// Tests that fit into `seconds`, with the reduction of what they leave.
    pub(super) fn tests_in(&self, seconds: f64) -> u64 {
        let each = self.test.get() + self.primitive.get() * self.left_per_test.get();
        (seconds.max(0.0) / each) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_follows_slow_steps_at_once_and_fast_ones_slowly() {
        let mut rate = Rate::new(1.0);
        rate.learn(3.0, 1.0, 1.0);
        assert!((rate.get() - 3.0).abs() < 1e-12);
        rate.learn(100.0, 1.0, 1.0);
        assert!(rate.get() <= 12.0, "one disturbance is bounded");
        for _ in 0..500 {
            rate.learn(1.0, 1.0, 1.0);
        }
        assert!(rate.get() < 1.01);
        rate.learn(50.0, 0.5, 1.0);
        assert!(rate.get() < 1.01, "too little work says nothing");
    }
}
