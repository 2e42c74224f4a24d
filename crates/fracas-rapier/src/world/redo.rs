//! A step made again for the bodies that a break concerns.
//!
//! Where other bodies are awake, it is made in a copy of the engine's sets, so that they keep
//! the step that they have made, to the bit: the copy puts them to sleep, and only the concerned
//! bodies' motion is taken over from it. Handles are the same in both, so that physics hooks see
//! what they know. Colliders of the copy send no events: the engine itself finds the contacts of
//! the new pieces in the next step, and sends its collision events then.
//!
//! Where a break concerns every body that is awake, it is made in place. Contacts of the new
//! pieces are then kept: found anew in the next step, they would cost more than half as much
//! again of what the step after a break costs.
//!
//! Kinematic bodies go their way of the whole step once more, part by part.

use rapier3d::prelude::{
    ActiveEvents, CCDSolver, ColliderHandle, CollisionPipeline, PhysicsPipeline, PhysicsWorld,
    RigidBody, RigidBodyHandle,
};

use super::{World, quarantine};
use crate::breakables::{After, Redo};

/// Rounds of the solver that a part of a step has at least (decision 0015).
const LEAST_ROUNDS: usize = 2;

impl World {
    /// Makes the step again. `again` makes one step of the sets that it gets.
    pub(super) fn redo_step(
        &mut self,
        redo: &Redo,
        whole: After,
        again: &mut dyn FnMut(&mut PhysicsWorld),
    ) {
        self.stats.made_again = redo.parts;
        let dt = whole.dt / redo.parts as f32;
        let own = others_are_awake(redo, &self.physics).then(|| {
            let mut copy = copy_of(&self.physics);
            put_others_to_sleep(redo, &mut copy);
            silence(&mut copy);
            std::mem::replace(&mut self.physics, copy)
        });
        let parameters = &mut self.physics.integration_parameters;
        let rounds = parameters.num_solver_iterations;
        parameters.dt = dt;
        // The engine solves a step in rounds, each over its share of the time. Parts share
        // those of the whole; with one round each, what is hit is pushed along too far.
        let share = rounds.div_ceil(redo.parts as usize);
        parameters.num_solver_iterations = share.max(LEAST_ROUNDS.min(rounds));
        for part in 1..=redo.parts {
            move_kinematic_bodies(redo, part, &mut self.physics);
            self.breakables.before_step(dt, &mut self.physics.bodies);
            self.prepare_engine();
            again(&mut self.physics);
            self.note_engine();
            if part > 1 {
                self.budget.could_be_spared();
            }
            if own.is_some() {
                remove_unsound(redo, &mut self.physics, self.units);
            } else {
                self.quarantine();
            }
            let after = After {
                dt,
                part,
                may_take_back: false,
                ..whole
            };
            self.follow_engine(after, |breakables, after, engine| {
                breakables.follow_part(after, redo, engine);
            });
        }
        if let Some(own) = own {
            let copy = std::mem::replace(&mut self.physics, own);
            let lost = take_over(redo, &copy, &mut self.physics);
            self.take_away(&lost);
        } else {
            let parameters = &mut self.physics.integration_parameters;
            parameters.dt = whole.dt;
            parameters.num_solver_iterations = rounds;
        }
        self.follow_engine(whole, |breakables, after, engine| {
            breakables.finish_redo(after.dt, redo, engine);
        });
    }
}

/// A copy of all sets, with the same handles and a pipeline of its own.
fn copy_of(physics: &PhysicsWorld) -> PhysicsWorld {
    let mut physics_pipeline = PhysicsPipeline::new();
    physics_pipeline.counters.enable();
    #[cfg(feature = "parallel")]
    physics_pipeline.set_thread_pool(physics.thread_pool());
    PhysicsWorld {
        gravity: physics.gravity,
        integration_parameters: physics.integration_parameters,
        physics_pipeline,
        collision_pipeline: CollisionPipeline::new(),
        islands: physics.islands.clone(),
        broad_phase: physics.broad_phase.clone(),
        narrow_phase: physics.narrow_phase.clone(),
        bodies: physics.bodies.clone(),
        colliders: physics.colliders.clone(),
        impulse_joints: physics.impulse_joints.clone(),
        multibody_joints: physics.multibody_joints.clone(),
        soft_bodies: physics.soft_bodies.clone(),
        ccd_solver: CCDSolver::new(),
    }
}

/// The bodies that are awake and that a break does not concern.
fn awake_others<'a>(
    redo: &'a Redo,
    physics: &'a PhysicsWorld,
) -> impl Iterator<Item = RigidBodyHandle> + 'a {
    let is_awake = |body: &RigidBody| body.is_dynamic() && !body.is_sleeping();
    let awake = physics
        .bodies
        .iter()
        .filter(move |(_, body)| is_awake(body));
    let awake = awake.map(|(handle, _)| handle);
    awake.filter(|&handle| !redo.concerns(handle))
}

/// Whether bodies must be kept from the redo. Soft bodies are always awake.
fn others_are_awake(redo: &Redo, physics: &PhysicsWorld) -> bool {
    awake_others(redo, physics).next().is_some() || physics.soft_bodies.iter().next().is_some()
}

fn put_others_to_sleep(redo: &Redo, copy: &mut PhysicsWorld) {
    let others: Vec<RigidBodyHandle> = awake_others(redo, copy).collect();
    for handle in others {
        copy.bodies[handle].sleep();
    }
}

/// No contact is reported twice.
fn silence(copy: &mut PhysicsWorld) {
    let colliders = copy.colliders.iter();
    let speaking = colliders.filter(|(_, c)| !c.active_events().is_empty());
    let speaking: Vec<ColliderHandle> = speaking.map(|(handle, _)| handle).collect();
    for handle in speaking {
        copy.colliders[handle].set_active_events(ActiveEvents::empty());
    }
}

/// Kinematic bodies start where they started the whole step, and those that are moved by
/// positions go their share of the way in each part.
fn move_kinematic_bodies(redo: &Redo, part: u32, copy: &mut PhysicsWorld) {
    for (handle, from, to) in &redo.kinematic_paths {
        let Some(body) = copy.bodies.get_mut(*handle) else {
            continue;
        };
        if part == 1 {
            body.set_position(*from, true);
        }
        // Others ignore it.
        if body.body_type() == rapier3d::prelude::RigidBodyType::KinematicPositionBased {
            let share = part as f32 / redo.parts as f32;
            let next = if part == redo.parts {
                *to
            } else {
                from.lerp(to, share)
            };
            body.set_next_kinematic_position(next);
        }
    }
}

/// Removes from the copy pieces with which the engine cannot go on.
fn remove_unsound(redo: &Redo, copy: &mut PhysicsWorld, units: f32) {
    for &(index, generation) in &redo.bodies {
        let handle = RigidBodyHandle::from_raw_parts(index, generation);
        let body = copy.bodies.get(handle);
        if body.is_some_and(|body| !quarantine::is_sound(body, units)) {
            copy.remove_body(handle);
        }
    }
}

/// Puts a body's colliders where it is now, so that rays and points find them before the next
/// step.
fn show_to_queries(handle: RigidBodyHandle, own: &mut PhysicsWorld) {
    let (body, parameters) = (&own.bodies[handle], &own.integration_parameters);
    for &collider in body.colliders() {
        let Some(moved) = own.colliders.get_mut(collider) else {
            continue;
        };
        let local = moved.position_wrt_parent().copied().unwrap_or_default();
        moved.set_position(*body.position() * local);
        let bounds = own.colliders[collider].compute_broad_phase_aabb(parameters, &own.bodies);
        own.broad_phase.set_aabb(parameters, collider, bounds);
    }
}

/// Gives the concerned bodies the motion that they have in the copy. Returns those that the
/// copy has lost.
fn take_over(redo: &Redo, copy: &PhysicsWorld, own: &mut PhysicsWorld) -> Vec<RigidBodyHandle> {
    let mut lost = Vec::new();
    for &(index, generation) in &redo.bodies {
        let handle = RigidBodyHandle::from_raw_parts(index, generation);
        if !own.bodies.contains(handle) {
            continue;
        }
        let Some(redone) = copy.bodies.get(handle) else {
            lost.push(handle);
            continue;
        };
        if own.bodies[handle].is_sleeping() && redone.is_sleeping() {
            continue;
        }
        let body = &mut own.bodies[handle];
        body.set_position(*redone.position(), false);
        body.set_linvel(redone.linvel(), false);
        body.set_angvel(redone.angvel(), false);
        *body.activation_mut() = *redone.activation();
        show_to_queries(handle, own);
    }
    lost
}
