//! Replacing a broken body by its fragments' bodies.
//!
//! Fragments keep the parent's pose and frame. A rigid body's velocity field does
//! not change by cutting it, so each fragment moves as its part of the body moved:
//! `v_i = v + w x (c_i - c)`, `w_i = w`, with c the centres of mass. Momentum,
//! angular momentum and energy are then those of the body, to rounding.

use std::sync::Arc;

use fracas_core::{Fracture, FragmentId};
use fracas_fracture::FractureStats;
use parry3d::shape::SharedShape;
use rapier3d::prelude::{Collider, ColliderBuilder, RigidBody, RigidBodyBuilder};

use super::{Breakable, Breakables, Engine, Event, ObjectId, Piece, PieceId, collider, weigh};
use crate::break_apart::{Broken, Trees};
use crate::parallel;
use crate::shape::FragmentShape;
use crate::trace;

/// So many steps after a break the trees of its fragments are there, asked for or not.
const LATEST: u64 = 4;

/// A break that was decided.
pub(super) struct Break {
    pub(super) piece: PieceId,
    pub(super) fracture: Fracture,
    pub(super) stats: FractureStats,
    /// Whether this step's impulses broke it: then the step can be made again without.
    pub(super) of_this_step: bool,
}

impl Breakables {
    /// Breaks a body now, between two steps, whatever hit it or not. Returns what it
    /// broke into: nothing if there is no such body or the fracture does not fit it.
    pub fn break_piece(
        &mut self,
        piece: PieceId,
        fracture: Fracture,
        engine: &mut Engine<'_>,
    ) -> Vec<PieceId> {
        let before = self.events.len();
        let stats = FractureStats::default();
        let broken = Break {
            piece,
            fracture,
            stats,
            of_this_step: false,
        };
        self.break_bodies(vec![broken], 0, engine);
        let broke = self.events[before..].iter().find_map(|event| match event {
            Event::Broke { children, .. } => Some(children.clone()),
            _ => None,
        });
        broke.unwrap_or_default()
    }

    /// Cuts, updates, replaces: bodies of several objects are cut and updated at once,
    /// and replaced in order. `parts`: in how many the step is made again, if it is.
    pub(super) fn break_bodies(&mut self, breaks: Vec<Break>, parts: u32, engine: &mut Engine<'_>) {
        let mut rest = breaks.into_iter().peekable();
        let mut wave: Vec<Break> = Vec::new();
        while rest.peek().is_some() {
            // The next breaks of different objects: what breaks one is nothing to the others.
            let is_new = |b: &Break, wave: &[Break]| {
                let object = b.piece.object;
                wave.iter().all(|other| other.piece.object != object)
            };
            while let Some(next) = rest.next_if(|b| is_new(b, &wave)) {
                wave.push(next);
            }
            self.break_wave(std::mem::take(&mut wave), parts, engine);
        }
    }

    /// Breaks bodies of different objects.
    fn break_wave(&mut self, wave: Vec<Break>, parts: u32, engine: &mut Engine<'_>) {
        let wave = wave.into_iter().filter_map(|broken| {
            let object = self.objects.get(broken.piece.object.0 as usize)?;
            let piece = object.pieces.get(&broken.piece.fragment)?;
            Some((broken, piece.shape.clone()))
        });
        let wave: Vec<(Break, FragmentShape)> = wave.collect();
        let (clock, trees) = (&self.clock, Trees::WhenAsked(self.settings.restructuring));
        let broken = parallel::map(wave, |(broken, shape)| {
            let object = shape.object();
            let pieces = object.break_apart(&shape, &broken.fracture, trees, clock);
            (broken, pieces)
        });
        for (broken, pieces) in broken {
            let id = broken.piece;
            // A fracture that does not fit its fragment breaks nothing.
            let Ok(Broken {
                shapes,
                times,
                late,
            }) = pieces
            else {
                continue;
            };
            let due = self.steps + LATEST;
            self.late.extend(late.map(|late| (due, late)));
            self.inherit_damage(id, shapes.iter().map(FragmentShape::id));
            let object = &mut self.objects[id.object.0 as usize];
            if let Some(breaker) = &mut object.breaker {
                breaker.forget(id.fragment);
            }
            let before = object.history.len();
            self.note(&broken, before, parts);
            let Break {
                fracture, stats, ..
            } = broken;
            self.objects[id.object.0 as usize].history.push(fracture);
            let start = (self.clock)();
            let by_parry = self.settings.contacts.parry_shape().is_some();
            if by_parry {
                shapes.iter().for_each(|s| {
                    let _ = s.surface();
                });
            }
            let drawn = (self.clock)();
            let engine_shapes: Vec<SharedShape> =
                shapes.iter().map(|s| self.engine_shape(s)).collect();
            let shaped = (self.clock)();
            let stages = &mut self.report.stages;
            stages.cutting += times.cut * 1e3;
            stages.masses += times.masses * 1e3;
            if by_parry {
                stages.surfaces += (drawn - start) * 1e3;
                stages.field += (shaped - drawn) * 1e3;
                self.report.apart += times.update() * 1e3;
            } else {
                stages.field += times.field * 1e3;
                stages.tree += times.tree * 1e3;
            }
            let children = self.replace(id, shapes, engine_shapes, engine);
            self.report.stages.replacing += ((self.clock)() - shaped) * 1e3;
            self.report.broken += 1;
            self.start_modes(&children);
            self.events.push(Event::Broke {
                piece: id,
                children: children.clone(),
                stats,
            });
            self.events.extend(children.into_iter().map(Event::Born));
        }
    }

    /// Tells how long work took that was handed on from earlier breaks, and does what is
    /// due. What it makes is the same whenever it is made.
    pub(super) fn make_late(&mut self) {
        let (steps, mut spent) = (self.steps, 0.0);
        self.late.retain(|(due, late)| {
            if *due <= steps {
                late.make();
            }
            spent += late.spent().unwrap_or(0.0);
            late.spent().is_none()
        });
        self.report.stages.later += spent * 1e3;
    }

    /// What the engine holds for a fragment.
    pub(crate) fn engine_shape(&self, shape: &FragmentShape) -> SharedShape {
        match self.settings.contacts.parry_shape() {
            Some(kind) => kind.build(shape.surface()),
            None => SharedShape(Arc::new(shape.clone())),
        }
    }

    fn replace(
        &mut self,
        id: PieceId,
        shapes: Vec<FragmentShape>,
        engine_shapes: Vec<SharedShape>,
        engine: &mut Engine<'_>,
    ) -> Vec<PieceId> {
        let _span = trace::span("replace", || named(id.object, id.fragment));
        let object = &mut self.objects[id.object.0 as usize];
        let old = object
            .pieces
            .remove(&id.fragment)
            .expect("it was there when it broke");
        self.owners.remove(old.collider);
        let whole = engine.colliders.get(old.collider).cloned();
        let Some(parent) = engine.remove(old.body) else {
            return Vec::new();
        };
        let (pose, centre) = (*parent.position(), parent.center_of_mass());
        let (velocity, spin) = (parent.linvel(), parent.angvel());
        let mut children = Vec::with_capacity(shapes.len());
        for (shape, engine_shape) in shapes.into_iter().zip(engine_shapes) {
            let _span = trace::span("fragment", || named(id.object, shape.id()));
            let child = PieceId {
                object: id.object,
                fragment: shape.id(),
            };
            let options = &object.options;
            let anchored = is_anchored(&shape, options);
            let own_centre = pose * shape.unit_mass().centre.as_vec3();
            let body = inherit_body(options.body(anchored, pose), &parent)
                .linvel(velocity + spin.cross(own_centre - centre))
                .angvel(spin)
                .can_sleep(self.settings.fragments_sleep)
                .soft_ccd_prediction(self.settings.look_ahead * shape.reach());
            let body = engine.bodies.insert(body);
            let mut collider = collider(&shape, engine_shape, options);
            if let Some(whole) = &whole {
                collider = inherit_collider(collider, whole);
            }
            let collider = engine
                .colliders
                .insert_with_parent(collider, body, engine.bodies);
            weigh(body, engine.bodies, engine.colliders);
            self.owners.insert(collider, child);
            let piece = Piece {
                body,
                collider,
                shape,
                born: self.steps,
                anchored,
            };
            object.pieces.insert(child.fragment, piece);
            children.push(child);
        }
        children
    }
}

/// What a fragment's body has from the body that broke: whatever the caller set on it.
fn inherit_body(body: RigidBodyBuilder, parent: &RigidBody) -> RigidBodyBuilder {
    body.gravity_scale(parent.gravity_scale())
        .linear_damping(parent.linear_damping())
        .angular_damping(parent.angular_damping())
        .dominance_group(parent.dominance_group())
        .locked_axes(parent.locked_axes())
        .user_data(parent.user_data)
}

/// What a fragment's collider has from the one that broke: whom it meets, how it slides and
/// bounces, whom it tells, whose it is.
fn inherit_collider(collider: ColliderBuilder, whole: &Collider) -> ColliderBuilder {
    collider
        .collision_groups(whole.collision_groups())
        .solver_groups(whole.solver_groups())
        .friction(whole.friction())
        .friction_combine_rule(whole.friction_combine_rule())
        .restitution(whole.restitution())
        .restitution_combine_rule(whole.restitution_combine_rule())
        .active_events(whole.active_events())
        .active_hooks(whole.active_hooks())
        .active_collision_types(whole.active_collision_types())
        .contact_force_event_threshold(whole.contact_force_event_threshold())
        .contact_skin(whole.contact_skin())
        .user_data(whole.user_data)
}

/// What a span is about.
pub(super) fn named(object: ObjectId, fragment: FragmentId) -> [trace::Arg; 2] {
    [
        ("object", u64::from(object.0)),
        ("fragment", u64::from(fragment.0)),
    ]
}

/// Whether a piece holds a node that is built into the world.
pub(super) fn is_anchored(shape: &FragmentShape, options: &Breakable) -> bool {
    if options.anchors.is_empty() {
        return false;
    }
    let state = shape.object().read();
    let positions = state.fragments().mesh().positions();
    state
        .fragments()
        .fragment(shape.id())
        .nodes()
        .iter()
        .any(|&n| {
            let p = positions[n as usize];
            options
                .anchors
                .iter()
                .any(|(low, high)| p.cmpge(*low).all() && p.cmple(*high).all())
        })
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
