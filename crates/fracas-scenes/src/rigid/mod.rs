//! Rigid scenes: bodies that fall, hit and break [Glondu 2013, section 7].
//!
//! A scene is a world, a list of things that happen at given steps, and a place to
//! look at. The same scenes serve tests, command line, report and browser.

mod bricks;
mod bunnies;
mod kit;
mod piggy_bank;
mod plates;

use fracas::sphere_tree::{Restructuring, Traversal};
use fracas_rapier::world::{ObjectId, World, WorldSettings};
use fracas_rapier::{ContactMode, ContactSettings};
use glam::Vec3;
use thiserror::Error;

pub use kit::Kit;

/// How a scene is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneOptions {
    /// Seed of all chance: poses and cracks.
    pub seed: u64,
    /// Which contacts are reported.
    pub contacts: ContactMode,
    /// How trees are put together after a split.
    pub restructuring: Restructuring,
    /// In which order points are visited.
    pub traversal: Traversal,
    /// As the paper measured: nothing sleeps, no contact is kept or merged by the
    /// engine. Off: as a game would run it.
    pub measured: bool,
}

impl Default for SceneOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            contacts: ContactMode::default(),
            restructuring: Restructuring::default(),
            traversal: Traversal::default(),
            measured: true,
        }
    }
}

impl SceneOptions {
    /// The settings of a world of this scene: `step` in seconds, `unit` the length
    /// of the smallest thing that matters.
    fn world(&self, step: f32, unit: f32) -> WorldSettings {
        let base = if self.measured {
            WorldSettings::measured(step)
        } else {
            WorldSettings {
                step,
                ..WorldSettings::default()
            }
        };
        WorldSettings {
            length_unit: unit,
            restructuring: self.restructuring,
            contacts: ContactSettings {
                mode: self.contacts,
                traversal: self.traversal,
                ..base.contacts
            },
            ..base
        }
    }
}

/// Why there is no scene.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SceneError {
    /// No scene has this name.
    #[error("no scene is named `{name}`; there are: {there}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        there: String,
    },
    /// A body of the scene cannot be made.
    #[error("the scene's {what} cannot be made: {why}")]
    Body {
        /// Which body.
        what: &'static str,
        /// Why.
        why: String,
    },
}

/// What happens at a step: bodies are dropped.
type Action = Box<dyn FnMut(&mut World) + Send>;

/// A world in which something happens.
pub struct Scene {
    name: &'static str,
    world: World,
    steps: u64,
    actions: Vec<(u64, Action)>,
    view: (Vec3, Vec3),
    colours: Vec<[u8; 3]>,
}

impl Scene {
    fn new(name: &'static str, settings: WorldSettings, steps: u64, view: (Vec3, Vec3)) -> Self {
        Self {
            name,
            world: World::new(settings),
            steps,
            actions: Vec::new(),
            view,
            colours: Vec::new(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Its world, to reach into.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// How many steps it is meant to run.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The box that a camera should show.
    #[must_use]
    pub fn view(&self) -> (Vec3, Vec3) {
        self.view
    }

    /// The colour of an object (sRGB).
    #[must_use]
    pub fn colour(&self, object: ObjectId) -> [u8; 3] {
        self.colours
            .get(object.0 as usize)
            .copied()
            .unwrap_or([178, 172, 160])
    }

    /// One step, with what happens before it.
    pub fn step(&mut self) {
        let now = self.world.steps();
        for (_, action) in self.actions.iter_mut().filter(|(at, _)| *at == now) {
            action(&mut self.world);
        }
        self.world.step();
    }
}

/// Told what is being prepared, as it begins.
pub type Progress<'a> = &'a mut dyn FnMut(&'static str);

/// A scene by its name.
pub struct SceneInfo {
    /// Its name.
    pub name: &'static str,
    /// What happens, in a sentence.
    pub about: &'static str,
    build: fn(&SceneOptions, Progress<'_>) -> Result<Scene, SceneError>,
}

/// All rigid scenes.
pub const SCENES: &[SceneInfo] = &[
    SceneInfo {
        name: "piggy-bank",
        about: "a piggy bank is dropped on the ground and shatters (Fig. 10)",
        build: piggy_bank::build,
    },
    SceneInfo {
        name: "bricks",
        about: "thirty-two bricks crash to the ground (Fig. 14)",
        build: bricks::build,
    },
    SceneInfo {
        name: "drop-bunnies",
        about: "twenty-seven rabbits are dropped in three batches (Fig. 13)",
        build: bunnies::build,
    },
    SceneInfo {
        name: "plates",
        about: "balls are dropped on four plates on a shelf (Fig. 1)",
        build: plates::build,
    },
];

/// Builds a scene.
///
/// # Errors
/// See [`SceneError`].
pub fn by_name(
    name: &str,
    options: &SceneOptions,
    progress: Progress<'_>,
) -> Result<Scene, SceneError> {
    let Some(info) = SCENES.iter().find(|s| s.name == name) else {
        let there = SCENES.iter().map(|s| s.name).collect::<Vec<_>>().join(", ");
        return Err(SceneError::Unknown {
            name: name.into(),
            there,
        });
    };
    (info.build)(options, progress)
}
