//! What a kept contact costs: pairs at rest with more and more contacts each. What a pair
//! costs by itself is where the line through the times begins; what a contact costs is how
//! steep it is.

use fracas_conformance::broken::Broken;
use fracas_core::Pose;

use super::{Memory, Mode, Pairs};
use crate::board::{Board, Measured, Target};

/// Contacts at first, in each direction.
const FIRST: [u32; 4] = [4, 8, 16, 32];

/// The row of kept contacts: fragments that lie where they were born, pairs that nobody has
/// asked yet.
pub(super) fn row(board: &mut Board, object: &Broken, new: &Pairs) {
    board.row(
        "sphere-tree/kept-contact",
        "ns",
        Target::AtMost(60.0),
        || {
            let poses = vec![Pose::IDENTITY; object.trees.len()];
            let mut memory = Memory::default();
            let mut asked = 0;
            let points = FIRST.map(|first| {
                let mode = Mode::From(first);
                let mut known = new.clone();
                for _ in 0..40 {
                    known.query(object, &object.trees, &poses, mode, &mut memory);
                }
                let (ms, stats) = known.time(15, object, &object.trees, &poses, mode, &mut memory);
                asked += stats.distance_queries;
                [f64::from(stats.contacts), 1e6 * ms]
            });
            let mean =
                |axis: usize| points.iter().map(|p| p[axis]).sum::<f64>() / points.len() as f64;
            let (x, y) = (mean(0), mean(1));
            let rise: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
            let run: f64 = points.iter().map(|p| (p[0] - x) * (p[0] - x)).sum();
            let told = points.map(|[contacts, ns]| format!("{contacts}: {:.1} us", 1e-3 * ns));
            Measured::new(rise / run).note(format!(
            "contacts of all pairs and time of a step: {}; {asked} points asked in the last ones",
            told.join(", ")
        ))
        },
    );
}
