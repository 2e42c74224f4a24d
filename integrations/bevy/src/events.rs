//! What observers are told. All events are aimed at the entity with `Breakable`.

use std::borrow::Cow;

use bevy::prelude::*;
use fracas_bake::bake::Stage;
use fracas_fracture::FractureStats;

/// A body broke. Its fragments' entities are there; [`FragmentBorn`] follows for each.
#[derive(EntityEvent, Clone, Debug)]
pub struct Broke {
    /// The object.
    pub entity: Entity,
    /// What broke: the object's own entity, or that of one of its fragments, which is
    /// despawned after this event, or, where it is seen, when the meshes of what it broke
    /// into are made.
    pub broken: Entity,
    /// What it broke into.
    pub fragments: Vec<Entity>,
    /// Why, in numbers.
    pub stats: FractureStats,
}

/// A fragment came to be: hang on it what your app wants on it.
#[derive(EntityEvent, Clone, Debug)]
pub struct FragmentBorn {
    /// The object.
    pub entity: Entity,
    /// The fragment's entity.
    pub fragment: Entity,
    /// In cubic metres.
    pub volume: f32,
}

/// A body was taken away; its entity is despawned after this event.
#[derive(EntityEvent, Clone, Debug)]
pub struct FragmentRemoved {
    /// The object.
    pub entity: Entity,
    /// The fragment's entity, or the object's own.
    pub fragment: Entity,
    /// It fell out of the world, or its state was not finite; else the debris policy took it.
    pub lost: bool,
}

/// A body was hit harder than the settings' `event_impulse`: sound and dust hang on it.
#[derive(EntityEvent, Clone, Debug)]
pub struct Impact {
    /// The object.
    pub entity: Entity,
    /// What was hit: the object's own entity, or a fragment's.
    pub piece: Entity,
    /// Where, in the world.
    pub position: Vec3,
    /// In newton-seconds.
    pub impulse: f32,
    /// Of what it is.
    pub material: Cow<'static, str>,
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
