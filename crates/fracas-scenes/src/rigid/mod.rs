//! Rigid scenes: bodies that fall, hit and break [Glondu 2013, section 7].
//!
//! A scene is a world, a list of things that happen at given steps, and a place to
//! look at. The same scenes serve tests, command line, report and browser: no scene
//! reads a file, a clock or starts a thread.
//!
//! | scene | after | objects | step |
//! | --- | --- | --- | --- |
//! | `piggy-bank` | Fig. 10 | 1 | 15 ms |
//! | `drop-bunnies` | Fig. 13 | 27 | 5 ms |
//! | `bricks` | Fig. 14 | 32 | 30 ms |
//! | `plates` | Fig. 1 | 4 and a shelf | 30 ms |
//! | `interactive-bunnies` | Fig. 9 | 5 | 15 ms |
//! | `plate-in-bowl` | section 7.4 | 2 | 10 ms |
//! | `rolling-plate` | Fig. 5 | 1 | 10 ms |
//! | `blocks` | Fig. 6 | 4 | 10 ms |
//! | `sphere`, `sphere-fine`, `sphere-sparse` | section 7.2 | 1 | 15 ms |
//! | `fresh-fracture` | ours | 1, broken at once | 1/240 s |
//! | `wall` | ours | 1,000 | 1/60 s |
//! | `haptic` | ours | 2 | 1 ms |

mod blocks;
mod bricks;
mod bunnies;
pub mod cells;
pub mod fresh_fracture;
mod hand;
mod haptic;
mod interactive;
mod piggy_bank;
mod plate_in_bowl;
pub mod plates;
mod prop;
mod rolling_plate;
mod scene;
mod sphere;
mod template;
pub mod user;
pub mod wall;

use fracas_core::sphere_tree::{AdaptiveSettings, SplitMethod, Traversal};
use fracas_rapier::{
    ContactMode, ContactSettings, FrameBudget, ParryShape, VoxelSettings, WorldSettings,
};
use thiserror::Error;

pub use hand::Grab;
pub use prop::{Prop, PropShape};
pub use scene::Scene;
pub use template::{Template, TemplateOptions};

/// How a scene is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneOptions {
    /// Seed of all chance: poses and cracks.
    pub seed: u64,
    /// Which contacts are reported.
    pub contacts: ContactMode,
    /// The budget of bodies that have voxel contacts whatever the others have.
    pub body_budget: FrameBudget,
    /// What a whole step may cost, in seconds of work at fixed rates.
    pub step_budget: Option<f32>,
    /// How trees are put together after a split.
    pub restructuring: SplitMethod,
    /// In which order points are visited.
    pub traversal: Traversal,
    /// As the paper measured: nothing sleeps, no contact is kept or merged by the
    /// engine. Off: as a game would run it.
    pub measured: bool,
    /// Seconds per step; by default the scene's own.
    pub step: Option<f32>,
    /// How fine the meshes of the set are: 1 has the paper's counts, 0.5 edges twice
    /// as long, for tests and slow machines.
    pub detail: f64,
}

impl Default for SceneOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            contacts: ContactMode::default(),
            body_budget: FrameBudget::default(),
            step_budget: None,
            restructuring: SplitMethod::default(),
            traversal: Traversal::default(),
            measured: true,
            step: None,
            detail: 1.0,
        }
    }
}

/// The settings of a scene's world, and how long its steps are.
#[derive(Clone, Copy, Debug)]
pub struct SceneSettings {
    /// Seconds per step.
    pub step: f32,
    /// The world's settings.
    pub world: WorldSettings,
}

impl From<WorldSettings> for SceneSettings {
    /// Sixty steps per second.
    fn from(world: WorldSettings) -> Self {
        let step = 1.0 / 60.0;
        Self { step, world }
    }
}

impl SceneOptions {
    /// The settings of a world of this scene: `step` in seconds, `unit` the length
    /// of the smallest thing that matters.
    #[must_use]
    pub fn world(&self, step: f32, unit: f32) -> SceneSettings {
        let step = self.step.filter(|s| *s > 0.0).unwrap_or(step);
        let base = if self.measured {
            WorldSettings::measured()
        } else {
            WorldSettings::default()
        };
        let world = WorldSettings {
            length_unit: unit,
            step_budget: self.step_budget,
            restructuring: self.restructuring,
            contacts: ContactSettings {
                mode: self.contacts,
                traversal: self.traversal,
                ..base.contacts
            },
            ..base
        };
        SceneSettings { step, world }
    }

    /// How many steps make so many seconds.
    fn steps(&self, seconds: f32, step: f32) -> u64 {
        let step = self.step.filter(|s| *s > 0.0).unwrap_or(step);
        libm::ceilf(seconds / step - 1e-3) as u64
    }
}

/// The contact methods by name, as [`contacts_by_name`] takes them.
pub const CONTACTS: [&str; 7] = [
    "adaptive",
    "full",
    "fixed:8",
    "voxel-tree",
    "parry-trimesh",
    "parry-hull",
    "parry-decomposed",
];

/// The contact method of a name: `adaptive`, `adaptive:N` (N at first in each direction),
/// `full`, `fixed:N`, `voxel-tree`, `budgeted` (adaptive as far as the budget allows, voxels beyond), or one of parry's
/// shapes, `parry-trimesh`, `parry-hull` and `parry-decomposed`. Voxels get their
/// budget by [`within`].
///
/// # Errors
/// What there is, where there is none of that name.
pub fn contacts_by_name(name: &str) -> Result<ContactMode, String> {
    match name {
        "adaptive" => Ok(ContactMode::default()),
        "full" => Ok(ContactMode::Full),
        "parry-trimesh" => Ok(ContactMode::Parry(ParryShape::TriMesh)),
        "parry-hull" => Ok(ContactMode::Parry(ParryShape::Hull)),
        "parry-decomposed" => Ok(ContactMode::Parry(ParryShape::Decomposed)),
        "voxel-tree" => Ok(ContactMode::VoxelTree(VoxelSettings::default())),
        "budgeted" => Ok(ContactMode::Budgeted(VoxelSettings::default())),
        _ => by_name_and_number(name).ok_or_else(|| {
            "use adaptive, adaptive:N or fixed:N with N above 0, full, voxel-tree, budgeted, \
             parry-trimesh, parry-hull or parry-decomposed"
                .into()
        }),
    }
}

fn by_name_and_number(name: &str) -> Option<ContactMode> {
    let (name, number) = name.split_once(':')?;
    let number = number.parse().ok().filter(|&n: &u32| n > 0)?;
    match name {
        "fixed" => Some(ContactMode::Fixed(number)),
        "adaptive" => Some(ContactMode::Adaptive(AdaptiveSettings {
            first: number,
            ..AdaptiveSettings::default()
        })),
        _ => None,
    }
}

/// The same method with a budget for contacts in each step; `None` where the method
/// cannot stop early.
#[must_use]
pub fn within(mode: ContactMode, budget: FrameBudget) -> Option<ContactMode> {
    let with = |settings: VoxelSettings| VoxelSettings { budget, ..settings };
    match mode {
        ContactMode::VoxelTree(settings) => Some(ContactMode::VoxelTree(with(settings))),
        ContactMode::Budgeted(settings) => Some(ContactMode::Budgeted(with(settings))),
        _ => None,
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
        what: String,
        /// Why.
        why: String,
    },
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
        name: "drop-bunnies",
        about: "twenty-seven rabbits are dropped in three batches (Fig. 13)",
        build: bunnies::build,
    },
    SceneInfo {
        name: "bricks",
        about: "thirty-two bricks crash to the ground (Fig. 14)",
        build: bricks::build,
    },
    SceneInfo {
        name: "plates",
        about: "balls smash four plates on a shelf (Fig. 1)",
        build: plates::build,
    },
    SceneInfo {
        name: "interactive-bunnies",
        about: "a recorded hand lifts five rabbits and throws them down (Fig. 9)",
        build: interactive::build,
    },
    SceneInfo {
        name: "plate-in-bowl",
        about: "a plate falls into a bowl, spinning at random (section 7.4)",
        build: plate_in_bowl::build,
    },
    SceneInfo {
        name: "rolling-plate",
        about: "a plate rolls on its rim and comes to lie (Fig. 5)",
        build: rolling_plate::build,
    },
    SceneInfo {
        name: "blocks",
        about: "blocks break and their pieces lie on the ground (Fig. 6)",
        build: blocks::build,
    },
    SceneInfo {
        name: "sphere",
        about: "a ball of 2,500 triangles and 4,000 inner points breaks (section 7.2)",
        build: sphere::build,
    },
    SceneInfo {
        name: "sphere-fine",
        about: "the ball with a surface of 10,000 triangles (section 7.2)",
        build: sphere::build_fine,
    },
    SceneInfo {
        name: "sphere-sparse",
        about: "the ball with 435 inner points (section 7.2)",
        build: sphere::build_sparse,
    },
    SceneInfo {
        name: "fresh-fracture",
        about: "a cube falls apart into 64 concave pieces that must not blow apart or sink",
        build: fresh_fracture::build,
    },
    SceneInfo {
        name: "wall",
        about: "a ball hits a wall of a thousand bricks, whose pieces break again",
        build: wall::build,
    },
    SceneInfo {
        name: "haptic",
        about: "a tool in a hand taps and breaks a tile at a thousand steps a second",
        build: haptic::build,
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
