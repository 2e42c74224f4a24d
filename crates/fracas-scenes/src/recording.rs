//! A run, step by step: what the table, the JSON file and the pictures are made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas_core::FragmentSurface;
use fracas_rapier::{Event, PieceId, StepStats};
use parry3d::math::Pose;

use crate::rigid::{PropShape, Scene};
use crate::skins::{Dressed, Worn};

/// One body's life: its surface and where it was.
#[derive(Clone, Debug)]
pub struct Track {
    /// Its surface, in the object's frame.
    pub surface: Arc<FragmentSurface>,
    /// What is seen of it instead, where it is rounder than its tetrahedra and that is
    /// wanted.
    pub dressed: Option<Arc<Dressed>>,
    /// The same with materials and textures, where it is of a user's model.
    pub worn: Option<Arc<Worn>>,
    /// The first step after which it was there.
    pub first: u64,
    /// Its pose after each step from `first` on.
    pub poses: Vec<Pose>,
}

/// A plain body's life.
#[derive(Clone, Debug)]
pub struct PropTrack {
    /// What it looks like.
    pub shape: PropShape,
    /// Its colour (sRGB).
    pub colour: [u8; 3],
    /// The first step after which it was there.
    pub first: u64,
    /// Its pose after each step from `first` on.
    pub poses: Vec<Pose>,
}

/// What is recorded beside the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordOptions {
    /// Count all points in contact after each step, by full detection: slow.
    pub colliding_points: bool,
    /// Leave out poses, where only numbers are wanted: long runs stay small.
    pub numbers_only: bool,
    /// Show bodies as round as they really are, for pictures.
    pub skins: bool,
}

impl RecordOptions {
    /// The numbers alone.
    pub const NUMBERS: Self = Self {
        colliding_points: false,
        numbers_only: true,
        skins: false,
    };
}

/// A recorded run.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Numbers of every step.
    pub steps: Vec<StepStats>,
    /// All bodies that ever were, in order of object and fragment.
    pub tracks: BTreeMap<PieceId, Track>,
    /// All plain bodies that are shown.
    pub props: Vec<PropTrack>,
    /// Kinetic and potential energy after each step, in joules.
    pub energy: Vec<f64>,
    /// Steps before which energy came from outside: a body was added or moved by the
    /// scene, or a hand held one.
    pub fed: Vec<bool>,
    /// All points in contact after each step, where asked for.
    pub colliding_points: Vec<u64>,
    /// Triangles of all bodies: at most before anything broke, and at the end.
    pub triangles: [usize; 2],
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
        Self::record(scene, steps, RecordOptions::default(), &mut |scene| {
            each(scene.world().steps());
        })
    }

    /// Runs a scene for `steps` steps and records what is asked for; `each` is told
    /// after every step.
    pub fn record(
        scene: &mut Scene,
        steps: u64,
        options: RecordOptions,
        each: &mut dyn FnMut(&Scene),
    ) -> Self {
        Self::record_while(scene, steps, options, &mut |scene| {
            each(scene);
            true
        })
    }

    /// As [`Recording::record`], but ends after the step for which `goes_on` says no.
    pub fn record_while(
        scene: &mut Scene,
        steps: u64,
        options: RecordOptions,
        goes_on: &mut dyn FnMut(&Scene) -> bool,
    ) -> Self {
        let mut recording = Self {
            step: scene.world().dt(),
            ..Self::default()
        };
        recording.look(scene, 0, options);
        for step in 0..steps {
            let bodies = scene.world().physics.bodies.len();
            let acted = scene.acts();
            scene.step();
            let events = scene.world_mut().take_events();
            if events.iter().any(|e| matches!(e, Event::Broke { .. })) {
                recording.breaks.push(step);
            }
            recording.steps.push(*scene.world().stats());
            let broke = recording.breaks.last() == Some(&step);
            let grew = !broke && scene.world().physics.bodies.len() > bodies;
            recording
                .fed
                .push(acted || grew || scene.hands().next().is_some());
            recording.energy.push(scene.world().energy());
            if options.colliding_points {
                let points = scene.world().colliding_points();
                recording.colliding_points.push(points);
            }
            recording.look(scene, step + 1, options);
            if !goes_on(scene) {
                break;
            }
        }
        recording
    }

    fn look(&mut self, scene: &Scene, after: u64, options: RecordOptions) {
        let world = scene.world();
        let mut triangles = 0;
        for piece in world.pieces().collect::<Vec<_>>() {
            let (Some(surface), Some(pose)) = (world.surface(piece), world.pose(piece)) else {
                continue;
            };
            triangles += surface.triangles().len();
            if options.numbers_only {
                continue;
            }
            self.tracks
                .entry(piece)
                .or_insert_with(|| Track {
                    surface: surface.clone(),
                    dressed: match options.skins {
                        true => scene.dressed(piece).map(Arc::new),
                        false => None,
                    },
                    worn: match options.skins {
                        true => scene.worn(piece),
                        false => None,
                    },
                    first: after,
                    poses: Vec::new(),
                })
                .poses
                .push(pose);
        }
        // Before the fracture: every object whole, as in the tables.
        self.triangles = [scene.whole_triangles(), triangles];
        if options.numbers_only {
            return;
        }
        for (i, prop) in scene.props().iter().enumerate() {
            let Some(pose) = scene.prop_pose(prop) else {
                continue;
            };
            if self.props.len() == i {
                self.props.push(PropTrack {
                    shape: prop.shape,
                    colour: prop.colour,
                    first: after,
                    poses: Vec::new(),
                });
            }
            self.props[i].poses.push(pose);
        }
    }

    /// The plain bodies after a step with their poses.
    pub fn props_at(&self, after: u64) -> impl Iterator<Item = (&PropTrack, &Pose)> {
        self.props.iter().filter_map(move |track| {
            let at = after.checked_sub(track.first)?;
            track.poses.get(at as usize).map(|pose| (track, pose))
        })
    }

    /// The bodies after a step with their poses.
    pub fn at(&self, after: u64) -> impl Iterator<Item = (PieceId, &Track, &Pose)> {
        self.tracks.iter().filter_map(move |(id, track)| {
            let at = after.checked_sub(track.first)?;
            track.poses.get(at as usize).map(|pose| (*id, track, pose))
        })
    }

    /// By how much energy has grown at most, as a share of the least it was before;
    /// energy that came from outside is taken off by starting anew. Strict: a pile at
    /// rest has little left, and overlap that is pushed apart lifts it.
    #[must_use]
    pub fn energy_growth(&self) -> f64 {
        self.largest_growth(|least, _| least)
    }

    /// The same as a share of the energy there was when it was last brought in.
    #[must_use]
    pub fn energy_growth_of_input(&self) -> f64 {
        self.largest_growth(|_, brought| brought)
    }

    fn largest_growth(&self, against: impl Fn(f64, f64) -> f64) -> f64 {
        let (mut least, mut brought, mut most) = (f64::INFINITY, 0.0, 0.0_f64);
        for (&energy, &fed) in self.energy.iter().zip(&self.fed) {
            if fed || least.is_infinite() {
                (least, brought) = (energy, energy);
            }
            least = least.min(energy);
            most = most.max((energy - least) / against(least, brought).abs().max(1e-3));
        }
        most
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
    fn energy_that_is_brought_in_is_no_growth() {
        let recording = Recording {
            energy: vec![10.0, 8.0, 8.2, 20.0, 19.0, 19.5],
            fed: vec![false, false, false, true, false, false],
            ..Recording::default()
        };
        assert!((recording.energy_growth() - 0.5 / 19.0).abs() < 1e-12);
        assert!((recording.energy_growth_of_input() - 0.025).abs() < 1e-12);
    }

    #[test]
    fn summaries_of_known_series() {
        let s = Summary::of((1..=100).map(f64::from));
        assert_eq!((s.mean, s.p99, s.max), (50.5, 99.0, 100.0));
        assert_eq!(Summary::of([]), Summary::default());
        assert_eq!(Summary::of([3.0]).p99, 3.0);
    }
}
