//! A run, step by step: what the table, the JSON file and the pictures are made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas::FragmentSurface;
use fracas_rapier::world::{Event, PieceId, StepStats, World};
use parry3d::math::Pose;

use crate::rigid::Scene;

/// One body's life: its surface and where it was.
#[derive(Clone, Debug)]
pub struct Track {
    /// Its surface, in the object's frame.
    pub surface: Arc<FragmentSurface>,
    /// The first step after which it was there.
    pub first: u64,
    /// Its pose after each step from `first` on.
    pub poses: Vec<Pose>,
}

/// A recorded run.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Numbers of every step.
    pub steps: Vec<StepStats>,
    /// All bodies that ever were, in order of object and fragment.
    pub tracks: BTreeMap<PieceId, Track>,
    /// The steps in which something broke.
    pub breaks: Vec<u64>,
    /// Seconds per step.
    pub step: f32,
}

/// Mean, 99th percentile and maximum of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The value that 99 of 100 do not exceed.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl Summary {
    /// Of a series; all zero when it is empty.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        if values.is_empty() {
            return Self::default();
        }
        values.sort_by(f64::total_cmp);
        let rank = (values.len() as f64 * 0.99).ceil() as usize;
        Self {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            p99: values[rank.clamp(1, values.len()) - 1],
            max: values[values.len() - 1],
        }
    }
}

impl Recording {
    /// Runs a scene for `steps` steps; `each` is told after every step.
    pub fn run(scene: &mut Scene, steps: u64, mut each: impl FnMut(u64)) -> Self {
        Self::run_watched(scene, steps, |step, _| each(step))
    }

    /// The same, and `each` may look at the world.
    pub fn run_watched(scene: &mut Scene, steps: u64, mut each: impl FnMut(u64, &World)) -> Self {
        let mut recording = Self {
            step: scene.world().settings().step,
            ..Self::default()
        };
        recording.look(scene, 0);
        for step in 0..steps {
            scene.step();
            let events = scene.world_mut().take_events();
            if events.iter().any(|e| matches!(e, Event::Broke { .. })) {
                recording.breaks.push(step);
            }
            recording.steps.push(*scene.world().stats());
            recording.look(scene, step + 1);
            each(step + 1, scene.world());
        }
        recording
    }

    fn look(&mut self, scene: &Scene, after: u64) {
        let world = scene.world();
        for piece in world.pieces().collect::<Vec<_>>() {
            let (Some(surface), Some(pose)) = (world.surface(piece), world.pose(piece)) else {
                continue;
            };
            self.tracks
                .entry(piece)
                .or_insert_with(|| Track {
                    surface: surface.clone(),
                    first: after,
                    poses: Vec::new(),
                })
                .poses
                .push(pose);
        }
    }

    /// The bodies after a step with their poses.
    pub fn at(&self, after: u64) -> impl Iterator<Item = (PieceId, &Track, &Pose)> {
        self.tracks.iter().filter_map(move |(id, track)| {
            let at = after.checked_sub(track.first)?;
            track.poses.get(at as usize).map(|pose| (*id, track, pose))
        })
    }

    /// Triangles of all bodies after a step.
    #[must_use]
    pub fn triangles(&self, after: u64) -> usize {
        self.at(after)
            .map(|(_, track, _)| track.surface.triangles().len())
            .sum()
    }

    /// A summary of one number of every step.
    #[must_use]
    pub fn summary(&self, of: impl Fn(&StepStats) -> f64) -> Summary {
        Summary::of(self.steps.iter().map(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_known_series() {
        let s = Summary::of((1..=100).map(f64::from));
        assert_eq!((s.mean, s.p99, s.max), (50.5, 99.0, 100.0));
        assert_eq!(Summary::of([]), Summary::default());
        assert_eq!(Summary::of([3.0]).p99, 3.0);
    }
}
