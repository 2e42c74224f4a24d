//! The fracas world on bevy_rapier3d's own sets.
//!
//! [`Fracas`] holds a [`World`] without an engine of its own. Before and after the engine's
//! step, which is bevy_rapier3d's, it is lent that plugin's sets: bodies, colliders, contacts,
//! joints. So everything that a `World` does (look at the approach before the step, decide
//! what breaks, make the step again with the fragments, clear debris, put to sleep what
//! trembles) is done by the same functions, on the engine that the app sees.

use std::collections::BTreeMap;
use std::mem::swap;

use bevy::ecs::system::SystemParamItem;
use bevy::prelude::*;
use bevy_rapier3d::plugin::context::{
    DefaultRapierContext, RapierContextColliders, RapierContextJoints, RapierContextSimulation,
    RapierRigidBodySet,
};
use bevy_rapier3d::plugin::systems::step_simulation;
use bevy_rapier3d::prelude::{BevyPhysicsHooks, RapierConfiguration, TimestepMode};
use bevy_rapier3d::rapier::prelude::PhysicsWorld;
use fracas_rapier::{DebrisPolicy, PieceId, World as Destruction, WorldSettings};

use crate::error::FracasError;

/// What becomes of fragments: how many, how small, for how long. All stay by default.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Debris(pub DebrisPolicy);

/// The objects and their pieces.
#[derive(Resource)]
pub struct Fracas {
    pub(crate) world: Destruction,
    /// The entity of each object, by its number.
    pub(crate) objects: Vec<Entity>,
    /// The entity of each piece.
    pub(crate) entities: BTreeMap<PieceId, Entity>,
    /// Pieces whose entities are gone.
    pub(crate) orphans: Vec<PieceId>,
    /// Seconds of a step.
    step: f32,
    equipped: bool,
    begun: bool,
}

impl Fracas {
    pub(crate) fn new(settings: WorldSettings, step: f32) -> Self {
        Self {
            step,
            world: Destruction::new(settings),
            objects: Vec::new(),
            entities: BTreeMap::new(),
            orphans: Vec::new(),
            equipped: false,
            begun: false,
        }
    }

    /// The world's settings, its times and counts of the last step, surfaces and shapes of
    /// pieces. Its engine is bevy_rapier3d's, and is not in it between the plugin's systems.
    #[must_use]
    pub fn world(&self) -> &Destruction {
        &self.world
    }

    /// Lets the engine's ray casts and collision messages name the entity of a piece. Only
    /// while the engine is lent.
    pub(crate) fn name_piece(&mut self, piece: PieceId, bits: u128) {
        let collider = self.world.collider(piece);
        let colliders = &mut self.world.physics.colliders;
        if let Some(collider) = collider.and_then(|c| colliders.get_mut(c)) {
            collider.user_data = bits;
        }
        if let Some(body) = self.world.body_mut(piece) {
            body.user_data = bits;
        }
    }

    /// The entity of a piece.
    #[must_use]
    pub fn entity_of(&self, piece: PieceId) -> Option<Entity> {
        self.entities.get(&piece).copied()
    }

    /// The entity of the object a piece belongs to.
    #[must_use]
    pub fn object_of(&self, piece: PieceId) -> Option<Entity> {
        self.objects.get(piece.object.0 as usize).copied()
    }
}

/// bevy_rapier3d's sets.
pub(crate) type Sets = (
    &'static mut RapierContextSimulation,
    &'static mut RapierContextColliders,
    &'static mut RapierContextJoints,
    &'static mut RapierRigidBodySet,
);

/// Changes what the world holds for what the engine's components hold; a second call
/// changes it back.
pub(crate) fn swap_sets(
    physics: &mut PhysicsWorld,
    simulation: &mut RapierContextSimulation,
    colliders: &mut RapierContextColliders,
    joints: &mut RapierContextJoints,
    bodies: &mut RapierRigidBodySet,
) {
    swap(&mut physics.islands, &mut simulation.islands);
    swap(&mut physics.broad_phase, &mut simulation.broad_phase);
    swap(&mut physics.narrow_phase, &mut simulation.narrow_phase);
    swap(&mut physics.ccd_solver, &mut simulation.ccd_solver);
    swap(&mut physics.physics_pipeline, &mut simulation.pipeline);
    swap(
        &mut physics.integration_parameters,
        &mut simulation.integration_parameters,
    );
    swap(&mut physics.colliders, &mut colliders.colliders);
    swap(&mut physics.impulse_joints, &mut joints.impulse_joints);
    swap(&mut physics.multibody_joints, &mut joints.multibody_joints);
    swap(&mut physics.bodies, &mut bodies.bodies);
    swap(&mut physics.soft_bodies, &mut bodies.soft_bodies);
}

/// Does something while the world holds the engine's sets. The first time, the engine gets
/// our dispatcher, and the parameters that suit broken pieces.
pub(crate) fn with_engine<R>(
    world: &mut World,
    work: impl FnOnce(&mut Fracas, &mut World) -> R,
) -> Result<R, FracasError> {
    let mut contexts = world.query_filtered::<Entity, With<DefaultRapierContext>>();
    let context = contexts.single(world).map_err(|_| FracasError::NoContext)?;
    world.resource_scope(|world, mut fracas: Mut<Fracas>| {
        lend(world, context, &mut fracas.world.physics)?;
        if !std::mem::replace(&mut fracas.equipped, true) {
            fracas.world.equip();
            let parameters = fracas.world.settings().engine_parameters();
            fracas.world.physics.integration_parameters = parameters;
        }
        let result = work(&mut fracas, world);
        lend(world, context, &mut fracas.world.physics)?;
        Ok(result)
    })
}

fn lend(world: &mut World, context: Entity, physics: &mut PhysicsWorld) -> Result<(), FracasError> {
    let mut sets = world.query::<Sets>();
    let (mut simulation, mut colliders, mut joints, mut bodies) = sets
        .get_mut(world, context)
        .map_err(|_| FracasError::NoContext)?;
    swap_sets(
        physics,
        &mut simulation,
        &mut colliders,
        &mut joints,
        &mut bodies,
    );
    Ok(())
}

/// Whether the engine makes steps, and such as the plugin can follow.
pub(crate) fn steps_follow(
    config: Query<&RapierConfiguration, With<DefaultRapierContext>>,
) -> bool {
    config
        .single()
        .is_ok_and(|config| config.physics_pipeline_active)
}

/// Reports an engine's step that is not the plugin's.
pub(crate) fn check_timestep(mode: Res<TimestepMode>, fracas: Res<Fracas>) -> Result {
    let dt = fracas.step;
    match *mode {
        TimestepMode::Fixed {
            dt: found,
            substeps: 1,
        } if found == dt => Ok(()),
        other => Err(BevyError::error(FracasError::Timestep {
            dt,
            found: format!("{other:?}"),
        })),
    }
}

/// Before the engine's step.
pub(crate) fn begin_step(world: &mut World) -> Result {
    let debris = *world.resource::<Debris>();
    with_engine(world, |fracas, _| {
        if fracas.world.settings().debris != debris.0 {
            fracas.world.set_debris(debris.0);
        }
        fracas.world.physics.integration_parameters.dt = fracas.step;
        fracas.world.begin_step();
        fracas.begun = true;
    })
    .map_err(BevyError::error)
}

/// After it: what breaks, and the step once more where something did. The second step is made
/// by bevy_rapier3d's own system, so that its hooks are right for the fragments, too.
pub(crate) fn finish_step<Hooks>(world: &mut World) -> Result
where
    Hooks: 'static + BevyPhysicsHooks,
    for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
{
    if !std::mem::replace(&mut world.resource_mut::<Fracas>().begun, false) {
        return Ok(());
    }
    let mut contexts = world.query_filtered::<Entity, With<DefaultRapierContext>>();
    let context = contexts.single(world).ok();
    let context = context.ok_or_else(|| BevyError::error(FracasError::NoContext))?;
    let mut failed = None;
    with_engine(world, |fracas, world| {
        fracas.world.finish_step(&mut |physics| {
            if let Err(error) = step_again::<Hooks>(world, context, physics) {
                failed = Some(error);
            }
        });
    })
    .map_err(BevyError::error)?;
    failed.map_or(Ok(()), Err)
}

/// One step of the engine, or a part of one, in the middle of ours.
fn step_again<Hooks>(world: &mut World, context: Entity, physics: &mut PhysicsWorld) -> Result
where
    Hooks: 'static + BevyPhysicsHooks,
    for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
{
    let dt = physics.integration_parameters.dt;
    lend(world, context, physics).map_err(BevyError::error)?;
    let part = TimestepMode::Fixed { dt, substeps: 1 };
    let set_mode = |world: &mut World, mode| {
        // Nobody is to take it for a change of the app's.
        let mut now = world.resource_mut::<TimestepMode>();
        std::mem::replace(now.bypass_change_detection(), mode)
    };
    let whole = set_mode(world, part);
    let stepped = world.run_system_cached(step_simulation::<Hooks>);
    set_mode(world, whole);
    lend(world, context, physics).map_err(BevyError::error)?;
    stepped.map_err(Into::into)
}
