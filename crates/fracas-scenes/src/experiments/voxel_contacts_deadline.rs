//! Does a budget hold? The falling rabbits with voxel contacts, step by step.
//!
//! A step counts as in time when finding its contacts (pairs, refinement, reduction,
//! and the engine's own broad and narrow phase) took at most 110% of the budget by the
//! clock that is given: thread CPU time, so that other load on the machine is not
//! ours. And it must stay sound: nothing under the ground, nothing that flies.

use fracas_rapier::{ContactMode, FrameBudget, VoxelSettings, World};
use glam::Vec3;

use crate::rigid::{self, SceneError, SceneOptions};

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeadlineReport {
    /// Steps made.
    pub steps: usize,
    /// Of these, steps within 110% of the budget.
    pub in_time: usize,
    /// The worst step's collision time, in milliseconds, and which step it was.
    pub worst: (f64, usize),
    /// Mean collision time, in milliseconds.
    pub mean: f64,
    /// Bodies at the end.
    pub pieces: usize,
    /// Pairs answered by voxels, and those of them that were answered fully.
    pub pairs: u64,
    /// See `pairs`.
    pub finished: u64,
    /// Most cube tests of a step.
    pub most_tests: u64,
    /// Pairs that the sphere-tree method was meant for but did not fit.
    pub fallbacks: u64,
    /// Pairs that the sphere-tree method served, within the budget.
    pub sphere_tree_pairs: u64,
    /// Pairs that waited with what the sphere-tree method had found before.
    pub waiting: u64,
    /// The deepest overlap of two bodies at the end, by all sample points, in metres.
    pub deepest_at_end: f32,
    /// The finest voxel, in metres.
    pub voxel: f32,
    /// The lowest centre of mass that was seen at any time, in metres: without
    /// continuous detection a body enters the floor by up to a step's travel.
    pub lowest: f32,
    /// The lowest centre of mass at the end.
    pub lowest_at_end: f32,
    /// Bodies lost.
    pub lost: usize,
    /// The greatest speed, in metres per second.
    pub fastest: f32,
    /// A digest of the last state.
    pub digest: u64,
}

impl DeadlineReport {
    /// The share of steps in time.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.in_time as f64 / self.steps.max(1) as f64
    }

    /// Whether nothing fell through the ground, exploded or was lost.
    #[must_use]
    pub fn sound(&self) -> bool {
        // Dropped from 1.7 m at 3 m/s, bodies arrive with 6.5 m/s. Without continuous
        // detection the centre of a flat piece can enter the floor by a step's travel of
        // 3.3 cm; a voxel is 1.4 cm.
        self.lowest > -LOWEST && self.lowest_at_end > -0.01 && self.lost == 0 && self.fastest < 13.0
    }
}

/// How deep a centre may be under the floor at any time, in metres.
const LOWEST: f32 = 0.033;

/// How the rabbits are run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Voxel contacts alone.
    Voxels,
    /// The sphere-tree method as far as the budget allows.
    Both,
}

/// Runs `steps` of the falling rabbits (all, if `None`) within a budget.
///
/// # Errors
/// When the scene cannot be made.
pub fn falling_rabbits(
    method: Method,
    budget: FrameBudget,
    steps: Option<u64>,
    clock: impl Fn() -> f64 + Send + Sync + 'static,
) -> Result<DeadlineReport, SceneError> {
    let settings = VoxelSettings::within(budget);
    let options = SceneOptions {
        contacts: match method {
            Method::Voxels => ContactMode::VoxelTree(settings),
            Method::Both => ContactMode::Budgeted(settings),
        },
        ..SceneOptions::default()
    };
    let mut scene = rigid::by_name("drop-bunnies", &options, &mut |_| {})?;
    scene.world_mut().set_clock(clock);
    let limit = match budget {
        FrameBudget::Milliseconds(ms) => 1.1 * ms,
        _ => f64::INFINITY,
    };
    let mut report = DeadlineReport {
        lowest: f32::INFINITY,
        lowest_at_end: f32::INFINITY,
        ..DeadlineReport::default()
    };
    let steps = steps.unwrap_or(scene.steps());
    for step in 0..steps as usize {
        scene.step();
        let stats = scene.world().stats();
        let spent = stats.times.collision;
        report.in_time += usize::from(spent <= limit);
        report.mean += spent / steps as f64;
        if spent > report.worst.0 {
            report.worst = (spent, step);
        }
        report.pairs += stats.voxel.pairs;
        report.finished += stats.voxel.finished;
        report.fallbacks += stats.voxel.fallbacks;
        report.sphere_tree_pairs += stats.voxel.sphere_tree_pairs;
        report.waiting += stats.voxel.waiting;
        report.most_tests = report.most_tests.max(stats.voxel.tests);
        report.lowest_at_end = f32::INFINITY;
        for id in scene.world().pieces() {
            let Some(body) = scene.world().body(id) else {
                continue;
            };
            let height = body.center_of_mass().y;
            report.lowest = report.lowest.min(height);
            report.lowest_at_end = report.lowest_at_end.min(height);
            report.fastest = report.fastest.max(body.linvel().length());
        }
    }
    report.steps = steps as usize;
    report.lost = scene.world().bodies_lost();
    report.pieces = scene.world().pieces().count();
    report.digest = scene.world().digest();
    report.deepest_at_end = scene.world().deepest_overlap();
    report.voxel = finest_voxel(scene.world(), settings.resolution);
    Ok(report)
}

/// The edge of the finest voxels: of the longest side of what is unbroken.
fn finest_voxel(world: &World, resolution: u32) -> f32 {
    let sides = world.pieces().filter_map(|id| {
        let shape = world.shape(id)?;
        let state = shape.object().read();
        let positions = state.fragments().mesh().positions();
        let low = positions.iter().fold(Vec3::INFINITY, |a, b| a.min(*b));
        let high = positions.iter().fold(Vec3::NEG_INFINITY, |a, b| a.max(*b));
        Some((high - low).max_element())
    });
    sides.fold(0.0, f32::max) / resolution.max(2) as f32
}

impl DeadlineReport {
    /// Pairs that touch or may touch.
    #[must_use]
    pub fn touching_pairs(&self) -> u64 {
        self.sphere_tree_pairs + self.waiting + self.fallbacks
    }

    /// Of the pairs that touch or may touch, the share that the sphere-tree method served.
    #[must_use]
    pub fn main_share(&self) -> f64 {
        self.sphere_tree_pairs as f64 / self.touching_pairs().max(1) as f64
    }

    /// The deepest overlap at the end, in voxels of the finest level.
    #[must_use]
    pub fn deepest_in_voxels(&self) -> f64 {
        f64::from(self.deepest_at_end / self.voxel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rabbits_stay_sound_and_repeat_within_a_budget_of_work() {
        // About what 2 ms hold. Two batches have landed and broken by step 330.
        let run = || {
            let budget = FrameBudget::Work(60_000);
            falling_rabbits(Method::Voxels, budget, Some(330), || 0.0).unwrap()
        };
        let report = run();
        assert!(report.sound(), "{report:?}");
        assert!(report.pieces > 18, "nothing broke: {report:?}");
        assert!(
            report.most_tests <= 60_000 + 64 + 2_000,
            "{} tests",
            report.most_tests
        );
        assert_eq!(run().digest, report.digest);
    }
}
