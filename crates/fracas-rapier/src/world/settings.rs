//! What a world and its objects are told at the start.

use std::sync::Arc;

use fracas::sphere_tree::Restructuring;
use fracas_fracture::Breaker;
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::dynamics::IntegrationParameters;

use super::debris::DebrisPolicy;
use crate::object::Blueprint;
use crate::pair::ContactSettings;

/// Settings of a world.
#[derive(Clone, Copy, Debug)]
pub struct WorldSettings {
    /// Seconds per step.
    pub step: f32,
    /// In metres per second squared.
    pub gravity: Vec3,
    /// The length that the engine's tolerances are multiples of: about the size of
    /// the smallest thing that matters, in metres.
    pub length_unit: f32,
    /// How contacts are found.
    pub contacts: ContactSettings,
    /// How trees are put together after a split.
    pub restructuring: Restructuring,
    /// What becomes of fragments.
    pub debris: DebrisPolicy,
    /// Whether bodies at rest may sleep.
    pub sleep: bool,
    /// Whether the engine may keep contacts of pairs that hardly moved.
    pub recycle_contacts: bool,
    /// Whether the engine may merge manifolds of nearly equal normals.
    pub cluster_contacts: bool,
    /// Whether friction also acts while overlap is pushed apart. It holds the pieces
    /// of a fresh break together, and topples tall stacks.
    pub friction_in_bias: bool,
    /// Breaks of one step beyond this number wait for the next.
    pub most_breaks_per_step: usize,
    /// Contacts with a larger impulse (in newton-seconds) are told as events.
    pub event_impulse: f32,
}

impl Default for WorldSettings {
    /// For a game: 60 steps a second, sleeping, contacts kept while nothing moves.
    /// The engine does not thin or merge contacts: stacks stand better so (see
    /// docs/decisions/0004-engine-settings-for-stacks.md).
    fn default() -> Self {
        Self {
            step: 1.0 / 60.0,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            length_unit: 0.1,
            contacts: ContactSettings {
                selection: crate::manifold::Selection::All,
                ..ContactSettings::default()
            },
            restructuring: Restructuring::default(),
            debris: DebrisPolicy::default(),
            sleep: true,
            recycle_contacts: true,
            cluster_contacts: false,
            friction_in_bias: false,
            most_breaks_per_step: 64,
            event_impulse: f32::INFINITY,
        }
    }
}

impl WorldSettings {
    /// For measurements as in the paper: nothing sleeps, no contact is kept, merged
    /// or thinned by the engine.
    #[must_use]
    pub fn measured(step: f32) -> Self {
        Self {
            step,
            sleep: false,
            recycle_contacts: false,
            ..Self::default()
        }
    }

    pub(crate) fn integration(&self) -> IntegrationParameters {
        IntegrationParameters {
            dt: self.step,
            length_unit: self.length_unit,
            contact_recycling: self.recycle_contacts,
            contact_clustering: self.cluster_contacts,
            friction_in_bias_pass: self.friction_in_bias,
            ..IntegrationParameters::default()
        }
    }
}

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
    /// Catches fast motion within a step.
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
}
