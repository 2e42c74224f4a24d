//! What an object is told at the start.

use std::sync::Arc;

use fracas_fracture::Breaker;
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::RigidBodyBuilder;

use crate::object::Blueprint;

/// A body that can break, or that is at least made of tetrahedra.
#[derive(Clone, Debug)]
pub struct ObjectOptions {
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

impl ObjectOptions {
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

    /// The same, breakable; density is the breaker's material's.
    #[must_use]
    pub fn breakable(mut self, breaker: Breaker) -> Self {
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
