//! What becomes a breakable body: made of what, where, how it breaks.

use std::sync::Arc;

use fracas_fracture::Breaker;
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::RigidBodyBuilder;

use crate::blueprint::Blueprint;

/// A body to be: [`crate::World::add`] puts it into a world. Cheap to clone: what was
/// computed ahead is shared by all bodies of one kind.
#[derive(Clone, Debug)]
pub struct Breakable {
    /// What it is made of.
    pub blueprint: Arc<Blueprint>,
    /// Where it starts.
    pub pose: Pose,
    /// Velocity of its centre of mass, in metres per second.
    pub velocity: Vec3,
    /// In radians per second.
    pub spin: Vec3,
    /// In kilograms per cubic metre.
    pub density: f32,
    /// Coefficient of Coulomb friction.
    pub friction: f32,
    /// Share of the speed that a bounce keeps.
    pub restitution: f32,
    /// How it breaks; `None` never does.
    pub breaker: Option<Breaker>,
    /// Boxes (low, high) in the object's frame: a piece that holds a node in one of
    /// them is fixed to the world, like a wall built into the ground.
    pub anchors: Vec<(Vec3, Vec3)>,
    /// Looks as far ahead as it moves in a step, so that it does not pass through other
    /// bodies that move. (Fixed ones are safe in any case: the engine sweeps fast bodies
    /// against them.)
    pub continuous: bool,
}

/// Why there is nothing to break.
#[cfg(feature = "assets")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It cannot be read, filled with tetrahedra, or given modes.
    #[error(transparent)]
    Bake(#[from] fracas_bake::bake::BakeError),
    /// It makes no distance field or no sphere tree, or what was baked of it is damaged.
    #[error(transparent)]
    Object(#[from] crate::blueprint::ObjectError),
}

#[cfg(feature = "assets")]
impl Breakable {
    /// Of a mesh file (OBJ, PLY, STL, glTF, tetrahedra ...), a baked asset, or the name of a
    /// shape of the procedural set. It breaks as a body of this material does, by its
    /// vibration modes.
    ///
    /// Everything that is not in the file is computed: tetrahedra, distances, sphere tree
    /// and modes take seconds. `fracas bake` does it ahead of time, once.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(
        input: impl AsRef<std::path::Path>,
        material: fracas_fracture::Material,
    ) -> Result<Self, OpenError> {
        use fracas_bake::bake::{BakeOptions, Source};
        let source = Source::open(input)?;
        Self::bake(source, &BakeOptions::default(), material, &mut |_| ())
    }

    /// Of an asset. Modes of this material are taken from it; where it has none, or those of
    /// another material, they are computed.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn of_asset(
        asset: &fracas_bake::Asset,
        material: fracas_fracture::Material,
    ) -> Result<Self, OpenError> {
        use fracas_bake::bake::{BakeOptions, Source};
        if has_modes(asset, &material) {
            return Self::of_baked(asset, material);
        }
        let source = Source::Asset(Box::new(asset.clone()));
        Self::bake(source, &BakeOptions::default(), material, &mut |_| ())
    }

    /// What [`Breakable::open`] and [`Breakable::of_asset`] do, of something that is at hand:
    /// with options of one's own, and telling how far it is. The modes are always those of
    /// `material`; of the options' own only their number is used.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn bake(
        source: fracas_bake::bake::Source,
        options: &fracas_bake::bake::BakeOptions,
        material: fracas_fracture::Material,
        progress: &mut dyn FnMut(fracas_bake::bake::Progress),
    ) -> Result<Self, OpenError> {
        use fracas_bake::bake::{BakeModes, BakeOptions, Source, bake};
        if let Source::Asset(asset) = &source
            && has_modes(asset, &material)
        {
            return Self::of_baked(asset, material);
        }
        let wanted = options.modes.unwrap_or_else(|| BakeModes::of(material));
        let options = BakeOptions {
            modes: Some(BakeModes { material, ..wanted }),
            ..*options
        };
        Self::of_baked(&bake(source, &options, progress)?.asset, material)
    }

    /// Of an asset that has the modes of this material.
    fn of_baked(
        asset: &fracas_bake::Asset,
        material: fracas_fracture::Material,
    ) -> Result<Self, OpenError> {
        let blueprint = Arc::new(Blueprint::of_asset(asset)?);
        let breaker = Breaker::new(material, asset.modes().cloned());
        Ok(Self::new(blueprint).with_breaker(breaker))
    }
}

#[cfg(feature = "assets")]
fn has_modes(asset: &fracas_bake::Asset, material: &fracas_fracture::Material) -> bool {
    asset.modes().is_some_and(|own| own.material() == material)
}

impl Breakable {
    /// A body at rest at the origin, of water's density, that does not break.
    #[must_use]
    pub fn new(blueprint: Arc<Blueprint>) -> Self {
        Self {
            blueprint,
            pose: Pose::identity(),
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            density: 1000.0,
            friction: 0.6,
            restitution: 0.0,
            breaker: None,
            anchors: Vec::new(),
            continuous: true,
        }
    }

    /// The same elsewhere.
    #[must_use]
    pub fn at(mut self, pose: Pose) -> Self {
        self.pose = pose;
        self
    }

    /// The same, moving: velocity of the centre of mass in metres per second.
    #[must_use]
    pub fn moving(mut self, velocity: Vec3) -> Self {
        self.velocity = velocity;
        self
    }

    /// The same, fixed to the world wherever a piece of it has a node in this box of the
    /// object's frame.
    #[must_use]
    pub fn anchored(mut self, low: Vec3, high: Vec3) -> Self {
        self.anchors.push((low, high));
        self
    }

    /// The same, but it breaks; its density is that of the breaker's material.
    #[must_use]
    pub fn with_breaker(mut self, breaker: Breaker) -> Self {
        self.density = breaker.material().density as f32;
        self.breaker = Some(breaker);
        self
    }

    /// A body of the kind its pieces are.
    pub(crate) fn body(&self, anchored: bool, pose: Pose) -> RigidBodyBuilder {
        let builder = if anchored {
            RigidBodyBuilder::fixed()
        } else {
            RigidBodyBuilder::dynamic()
        };
        // Not marked for the engine's sweeps: see `look_ahead`.
        builder.pose(pose).ccd_enabled(false)
    }
}
