//! What is simulated: one of the scenes, a game, or a mesh of the user's own.

use std::sync::Arc;

use fracas_core::dressing::Dressed;
use fracas_core::{FragmentId, TetMesh};
use fracas_fracture::{Breaker, Material, Modes, ModesOptions};
use fracas_rapier::{ObjectId, PieceId, World};
use fracas_scenes::rigid::{self, Scene, SceneError, SceneOptions, wall};
use glam::Vec3;

use crate::challenges::Challenge;
use crate::geometry::Geometry;
use crate::own_look::OwnLook;

/// A world in which something happens.
pub struct Stage {
    scene: Scene,
    /// Whether it is a mesh of the user's own.
    is_own: bool,
    /// Materials and textures of that mesh, where the file has some.
    look: Option<OwnLook>,
    /// The game that is played in it.
    game: Option<Challenge>,
    /// Its objects still lack the modes by which they break.
    modes_later: bool,
}

/// The scene that the page begins with: four plates on a shelf, and nothing happens to
/// them until somebody does it.
pub const YOURS: (&str, &str) = (
    "your-plates",
    "four plates on a shelf, all yours: nothing breaks until you break it",
);

/// Bricks of a course, and courses, of the wall that the page shows: as many as a browser
/// steps in about the time that a step stands for.
const WALL: [u32; 2] = [10, 7];

/// What the page says of scenes that it shows smaller than the command line.
#[must_use]
pub fn about_small(name: &str) -> Option<&'static str> {
    match name {
        "wall" => Some(
            "seventy bricks without mortar, hit by a steel ball every four seconds (the command line has a thousand)",
        ),
        "torus-on-cube" => Some(
            "a soft torus falls on a cube and tears, with a fourteenth of the paper's tetrahedra (Marchal, Fig. 13)",
        ),
        "ellipsoids-on-edge" => Some(
            "ten soft ellipsoids, of the paper's hundred, break on the edge of a cube (Marchal, Fig. 15)",
        ),
        _ => None,
    }
}

impl Stage {
    /// A scene by its name, timed by the worker's clock.
    ///
    /// # Errors
    /// See [`SceneError`].
    pub fn scene(
        name: &str,
        options: &SceneOptions,
        progress: &mut dyn FnMut(&'static str),
    ) -> Result<Self, SceneError> {
        let game = Challenge::by_name(name, options.seed);
        let mut modes_later = false;
        let mut scene = if let Some(game) = &game {
            game.build(options, progress)?
        } else if name == YOURS.0 {
            // Shown before its modes are there: nothing breaks before the first step.
            modes_later = true;
            rigid::plates::build_waiting(options, progress)?
        } else if name == "wall" && !options.measured {
            wall::build_sized(WALL, options, progress)?
        } else {
            rigid::by_name(name, options, progress)?
        };
        time(scene.world_mut());
        Ok(Self {
            scene,
            is_own: false,
            look: None,
            game,
            modes_later,
        })
    }

    /// A mesh of the user's own in its scene, timed by the worker's clock.
    #[must_use]
    pub fn own(mut scene: Scene, look: Option<OwnLook>) -> Self {
        time(scene.world_mut());
        Self {
            scene,
            is_own: true,
            look,
            game: None,
            modes_later: false,
        }
    }

    /// Whether its objects still lack the modes by which they break.
    #[must_use]
    pub fn lacks_modes(&self) -> bool {
        self.modes_later
    }

    /// Modes for unbroken objects that lack them, computed once for those of one mesh and
    /// material.
    pub fn compute_modes<'a>(
        &mut self,
        breakers: impl Iterator<Item = (ObjectId, &'a mut Breaker)>,
    ) {
        self.modes_later = false;
        let mut known: Vec<(Arc<TetMesh>, Material, Arc<Modes>)> = Vec::new();
        for (object, breaker) in breakers {
            let whole = PieceId {
                object,
                fragment: FragmentId(0),
            };
            let Some(shape) = self.world().shape(whole) else {
                continue;
            };
            let state = shape.object().read();
            let (mesh, material) = (state.fragments().mesh(), *breaker.material());
            let same = known
                .iter()
                .find(|(m, of, _)| Arc::ptr_eq(m, mesh) && *of == material);
            if let Some((_, _, modes)) = same {
                breaker.take_modes(FragmentId(0), modes.clone());
                continue;
            }
            // What has no modes breaks by a pattern.
            let options = ModesOptions::default();
            let modes = Modes::compute(
                state.fragments(),
                FragmentId(0),
                &material,
                &options,
                &mut |_| (),
            );
            if let Ok(modes) = modes {
                let modes = Arc::new(modes);
                known.push((mesh.clone(), material, modes.clone()));
                breaker.take_modes(FragmentId(0), modes);
            }
        }
    }

    /// Whether it is a mesh of the user's own.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// As a scene, to be filmed.
    #[must_use]
    pub fn as_scene(&self) -> &Scene {
        &self.scene
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.scene.name()
    }

    /// Its world.
    #[must_use]
    pub fn world(&self) -> &World {
        self.scene.world()
    }

    /// Its world, to reach into.
    pub fn world_mut(&mut self) -> &mut World {
        self.scene.world_mut()
    }

    /// The box that a camera should show.
    #[must_use]
    pub fn view(&self) -> (Vec3, Vec3) {
        self.scene.view()
    }

    /// The colour of an object (sRGB).
    #[must_use]
    pub fn colour(&self, object: ObjectId) -> [u8; 3] {
        self.scene.colour(object)
    }

    /// A piece as it really looks, where its tetrahedra are coarser.
    #[must_use]
    pub fn dressed(&self, piece: PieceId) -> Option<Dressed> {
        self.scene.dressed(piece)
    }

    /// The looks of a mesh of the user's own, where it has some.
    #[must_use]
    pub fn own_look(&self) -> Option<&OwnLook> {
        self.look.as_ref()
    }

    /// A piece of a mesh of the user's own with its materials, where it has some.
    #[must_use]
    pub fn of_model(&self, piece: PieceId) -> Option<Geometry> {
        let look = self.own_look()?;
        let state = self.world().shape(piece)?.object().read();
        Some(look.geometry(state.fragments(), piece.fragment))
    }

    /// Whether a hand of the scene's own holds something.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.scene.hands().next().is_some()
    }

    /// Whether the scene itself does anything from now on.
    #[must_use]
    pub fn has_more_to_come(&self) -> bool {
        self.scene.has_more_to_come() || self.game.as_ref().is_some_and(Challenge::waits)
    }

    /// The game that is played in it.
    #[must_use]
    pub fn game(&self) -> Option<&Challenge> {
        self.game.as_ref()
    }

    /// The game that is played in it, to take part, and its world.
    pub fn play(&mut self) -> Option<(&mut Challenge, &World)> {
        Some((self.game.as_mut()?, self.scene.world()))
    }

    /// One step.
    pub fn step(&mut self) {
        if let Some(game) = &mut self.game {
            game.before_step(self.scene.world_mut());
        }
        self.scene.step();
        if let Some(game) = &mut self.game {
            game.after_step(self.scene.world());
        }
    }
}

/// Times the stages of a world by the clock of the browser.
fn time(world: &mut World) {
    let start = web_time::Instant::now();
    world.set_clock(move || start.elapsed().as_secs_f64());
}
