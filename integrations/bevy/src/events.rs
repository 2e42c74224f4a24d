//! Events for observers: what happens to things that break, by the library's own names.
//!
//! All but [`JointBroken`] are aimed at the entity with `Breakable`, and name the piece that
//! they are about: the object's own entity while it is whole, or the entity of a fragment.

use bevy::prelude::*;
use fracas_bake::bake::Stage;
use fracas_fracture::{FractureStats, Material};
use fracas_rapier::JointHandle;

/// A piece broke. The entities of its children are there; [`Born`] follows for each.
#[derive(EntityEvent, Clone, Debug)]
pub struct Broke {
    /// The object.
    pub entity: Entity,
    /// The piece that broke. Where it is a fragment, its entity is despawned after this event,
    /// or, if it is visible, when the meshes of its children are made.
    pub piece: Entity,
    /// What it broke into.
    pub children: Vec<Entity>,
    /// Why, in numbers.
    pub stats: FractureStats,
}

/// A fragment is new: add your own components to it. The whole object has [`BreakableReady`]
/// instead.
#[derive(EntityEvent, Clone, Debug)]
pub struct Born {
    /// The object.
    pub entity: Entity,
    /// The fragment's entity.
    pub piece: Entity,
    /// Its volume, in cubic metres.
    pub volume: f32,
}

/// A piece was removed by the debris policy, or through the engine. Its entity is despawned
/// after this event.
#[derive(EntityEvent, Clone, Debug)]
pub struct Removed {
    /// The object.
    pub entity: Entity,
    /// The fragment's entity, or the object's own.
    pub piece: Entity,
}

/// A piece fell out of the world, or its state was not finite. Its entity is despawned after
/// this event.
#[derive(EntityEvent, Clone, Debug)]
pub struct Lost {
    /// The object.
    pub entity: Entity,
    /// The fragment's entity, or the object's own.
    pub piece: Entity,
}

/// A piece will be removed (`DebrisPolicy::fade_steps`): fade it out.
#[derive(EntityEvent, Clone, Debug)]
pub struct Fading {
    /// The object.
    pub entity: Entity,
    /// The piece. It still collides.
    pub piece: Entity,
    /// Fixed steps from now to its [`Removed`].
    pub steps: u32,
}

/// A fragment was too small to become a body (`DebrisPolicy::min_volume`): show dust in its
/// place.
#[derive(EntityEvent, Clone, Debug)]
pub struct Dust {
    /// The object.
    pub entity: Entity,
    /// Its center of mass, in the world, in metres.
    pub point: Vec3,
    /// Velocity of that point, in metres per second.
    pub velocity: Vec3,
    /// Its volume, in cubic metres.
    pub volume: f32,
}

/// A joint was attached to a body that broke, and is attached to one of its fragments now.
#[derive(EntityEvent, Clone, Debug)]
pub struct JointMoved {
    /// The object.
    pub entity: Entity,
    /// The fragment that holds the anchor point.
    pub piece: Entity,
    /// The handle that the joint had in the engine.
    pub old: JointHandle,
    /// The handle that it has. Impulse joints keep theirs.
    pub new: JointHandle,
}

/// A joint was attached to a body that broke, and no fragment could take it: it is gone.
#[derive(Event, Clone, Debug)]
pub struct JointBroken {
    /// The handle that it had in the engine.
    pub joint: JointHandle,
}

/// A piece was in a hard contact (`WorldSettings::event_impulse`): play a sound, show dust.
///
/// There is one for each pair of colliders and step whose impulses together exceed the
/// threshold. If both belong to breakable objects, each object gets its own. The app's own
/// bodies among themselves have bevy_rapier3d's `ContactForceEvent`.
#[derive(EntityEvent, Clone, Debug)]
pub struct Contact {
    /// The object.
    pub entity: Entity,
    /// The piece: the object's own entity, or a fragment's. The object's if it broke by it.
    pub piece: Entity,
    /// The entity of the other collider; `None` if it is gone.
    pub other: Option<Entity>,
    /// What the piece is made of.
    pub material: Option<Material>,
    /// What the other is made of: a breakable object, or an entity with
    /// [`ColliderMaterial`](crate::ColliderMaterial).
    pub other_material: Option<Material>,
    /// Center of pressure, in the world, in metres.
    pub point: Vec3,
    /// Unit vector along the force on the piece.
    pub normal: Vec3,
    /// Sum of the normal impulses of all points, in newton-seconds.
    pub impulse: f32,
}

/// How far the baking of its mesh is.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq)]
pub struct BakeProgress {
    /// The object.
    pub entity: Entity,
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done, 0 to 1; a stage that cannot tell says 0.
    pub share: f32,
}

/// It is in the world, and can break.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakableReady {
    /// The object.
    pub entity: Entity,
}
