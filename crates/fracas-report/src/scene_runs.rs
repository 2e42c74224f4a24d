//! Recorded runs of rigid scenes, shared by the sections that draw them.

use fracas_rapier::StepStats;
use fracas_scenes::experiments::colliding::{Colliding, CollidingScratch, colliding};
use fracas_scenes::paper::{PaperScene, TABLES};
use fracas_scenes::recording::{RecordOptions, Recording, Summary};
use fracas_scenes::rigid::{self, SCENES, Scene, SceneOptions};

use crate::machine::thread_ms;
use crate::options::{Scale, Skip};

/// A run of a scene.
pub struct SceneRun {
    /// The scene at its end.
    pub scene: Scene,
    /// Every step.
    pub recording: Recording,
    /// All colliding points, after some of the steps.
    pub colliding: Vec<(u64, Colliding)>,
}

/// All colliding points are counted after so many steps.
const COUNT_EVERY: u64 = 10;

impl SceneRun {
    /// Runs a scene; `stage` is told how far it is.
    pub(crate) fn record(
        name: &str,
        options: SceneOptions,
        scale: Scale,
        stage: &dyn Fn(&str),
    ) -> Result<Self, Skip> {
        if !SCENES.iter().any(|s| s.name == name) {
            return Err(Skip(format!("the scene `{name}` is not there")));
        }
        stage(&format!("{name}: preparing"));
        let mut scene = rigid::by_name(name, &options, &mut |_| {}).map_err(Skip::because)?;
        // One thread does everything: its own time, whatever else the machine does.
        scene.world_mut().set_clock(|| thread_ms() * 1e-3);
        let steps = match scale {
            Scale::Tiny => scene.steps().min(60),
            _ => scene.steps(),
        };
        let mut scratch = CollidingScratch::default();
        let mut found = Vec::new();
        // Stills are made of it.
        let options = RecordOptions {
            skins: true,
            ..RecordOptions::default()
        };
        let recording = Recording::record(&mut scene, steps, options, &mut |scene| {
            let world = scene.world();
            let step = world.steps();
            if step % COUNT_EVERY == 0 {
                found.push((step, colliding(world, &mut scratch)));
            }
            if step % 25 == 0 {
                stage(&format!("{name}: step {step} of {steps}"));
            }
        });
        Ok(Self {
            scene,
            recording,
            colliding: found,
        })
    }

    /// A summary of one number of every step.
    #[must_use]
    pub fn summary(&self, of: impl Fn(&StepStats) -> f64) -> Summary {
        self.recording.summary(of)
    }

    /// The same of steps in which something broke.
    #[must_use]
    pub fn at_breaks(&self, of: impl Fn(&StepStats) -> f64) -> Summary {
        let breaks = self.recording.steps.iter().filter(|s| s.broken > 0);
        Summary::of(breaks.map(of))
    }

    /// All colliding points: mean, 99th percentile, largest.
    #[must_use]
    pub fn colliding_points(&self) -> Summary {
        Summary::of(self.colliding.iter().map(|c| c.1.points as f64))
    }

    /// A curve over time, in seconds.
    pub fn curve<'a>(
        &'a self,
        of: impl Fn(&StepStats) -> f64 + 'a,
    ) -> impl Iterator<Item = (f64, f64)> + 'a {
        let dt = f64::from(self.recording.step);
        let steps = self.recording.steps.iter().enumerate();
        steps.map(move |(i, s)| ((i + 1) as f64 * dt, of(s)))
    }

    /// All colliding points over time, in seconds.
    pub fn colliding_curve(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let dt = f64::from(self.recording.step);
        let found = self.colliding.iter();
        found.map(move |(step, c)| (*step as f64 * dt, c.points as f64))
    }

    /// Moments at which something broke, in seconds.
    #[must_use]
    pub fn moments(&self) -> Vec<f64> {
        let dt = f64::from(self.recording.step);
        let breaks = self.recording.breaks.iter();
        breaks.map(|&step| (step + 1) as f64 * dt).collect()
    }

    /// Triangles of all bodies while whole, and at the end.
    #[must_use]
    pub fn triangles(&self) -> (usize, usize) {
        let [before, after] = self.recording.triangles;
        (before, after)
    }

    /// Fragments at the end.
    #[must_use]
    pub fn fragments(&self) -> usize {
        self.recording.steps.last().map_or(0, |s| s.fragments)
    }
}

/// The paper's scenes that are there, fewer when tiny.
pub fn scenes(scale: Scale) -> Vec<&'static PaperScene> {
    let there = |p: &&PaperScene| SCENES.iter().any(|s| s.name == p.name);
    let wanted = |p: &&PaperScene| scale != Scale::Tiny || p.name == "bricks";
    TABLES.iter().filter(there).filter(wanted).collect()
}
