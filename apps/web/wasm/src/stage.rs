//! What is simulated: one of the scenes, or a mesh of the user's own.

use fracas_core::dressing::Dressed;
use fracas_rapier::{ObjectId, PieceId, World};
use fracas_scenes::rigid::{self, Scene, SceneError, SceneOptions};
use glam::Vec3;

use crate::geometry::Geometry;
use crate::own_look::OwnLook;

/// A world in which something happens.
pub enum Stage {
    /// One of the scenes.
    Scene(Box<Scene>),
    /// A mesh of the user's own, dropped on the floor.
    Own(Box<Own>),
}

/// The user's own mesh and its world.
pub struct Own {
    /// Its name.
    pub name: String,
    /// The world it falls in.
    pub world: World,
    /// The box that a camera should show.
    pub view: (Vec3, Vec3),
    /// Its materials and textures, where the file has some.
    pub look: Option<OwnLook>,
}

/// The scene that the page begins with: four plates on a shelf, and nothing happens to
/// them until somebody does it.
pub const YOURS: (&str, &str) = (
    "your-plates",
    "four plates on a shelf, all yours: nothing breaks until you break it",
);

/// The colour of a mesh without one.
const CLAY: [u8; 3] = [196, 143, 106];

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
        let mut scene = if name == YOURS.0 {
            let mut scene = rigid::by_name("plates", options, progress)?;
            scene.wait();
            scene
        } else {
            rigid::by_name(name, options, progress)?
        };
        time(scene.world_mut());
        Ok(Self::Scene(Box::new(scene)))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Scene(scene) => scene.name(),
            Self::Own(own) => &own.name,
        }
    }

    /// Its world.
    #[must_use]
    pub fn world(&self) -> &World {
        match self {
            Self::Scene(scene) => scene.world(),
            Self::Own(own) => &own.world,
        }
    }

    /// Its world, to reach into.
    pub fn world_mut(&mut self) -> &mut World {
        match self {
            Self::Scene(scene) => scene.world_mut(),
            Self::Own(own) => &mut own.world,
        }
    }

    /// The box that a camera should show.
    #[must_use]
    pub fn view(&self) -> (Vec3, Vec3) {
        match self {
            Self::Scene(scene) => scene.view(),
            Self::Own(own) => own.view,
        }
    }

    /// The colour of an object (sRGB).
    #[must_use]
    pub fn colour(&self, object: ObjectId) -> [u8; 3] {
        match self {
            Self::Scene(scene) => scene.colour(object),
            Self::Own(_) => CLAY,
        }
    }

    /// A piece as it really looks, where its tetrahedra are coarser.
    #[must_use]
    pub fn dressed(&self, piece: PieceId) -> Option<Dressed> {
        match self {
            Self::Scene(scene) => scene.dressed(piece),
            Self::Own(_) => None,
        }
    }

    /// The looks of a mesh of the user's own, where it has some.
    #[must_use]
    pub fn own_look(&self) -> Option<&OwnLook> {
        match self {
            Self::Scene(_) => None,
            Self::Own(own) => own.look.as_ref(),
        }
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
        match self {
            Self::Scene(scene) => scene.hands().next().is_some(),
            Self::Own(_) => false,
        }
    }

    /// Whether the scene itself does anything from now on.
    #[must_use]
    pub fn has_more_to_come(&self) -> bool {
        match self {
            Self::Scene(scene) => scene.has_more_to_come(),
            Self::Own(_) => false,
        }
    }

    /// One step.
    pub fn step(&mut self) {
        match self {
            Self::Scene(scene) => scene.step(),
            Self::Own(own) => own.world.step(),
        }
    }
}

/// Times the stages of a world by the clock of the browser.
pub fn time(world: &mut World) {
    let start = web_time::Instant::now();
    world.set_clock(move || start.elapsed().as_secs_f64());
}
