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

use super::attached::Attached;
use super::inherit::{Heritage, NewFragment};
use super::{Breakable, Breakables, Engine, Event, ObjectId, PieceId};
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
    /// broke into: nothing if there is no such body, the fracture does not fit it, or
    /// [`crate::DebrisPolicy::max_fragments`] leaves no room.
    pub fn break_piece(
        &mut self,
        piece: PieceId,
        fracture: Fracture,
        engine: &mut Engine<'_>,
    ) -> Vec<PieceId> {
        let broken = Break {
            piece,
            fracture,
            stats: FractureStats::default(),
            of_this_step: false,
        };
        let fitting = self.fit_all(vec![broken], engine);
        let before = self.events.len();
        self.break_bodies(fitting, 0, engine);
        let broke = self.events[before..].iter().find_map(|event| match event {
            Event::Broke { children, .. } => Some(children.clone()),
            _ => None,
        });
        broke.unwrap_or_default()
    }

    /// Cuts, updates, replaces: bodies of several objects are cut and updated at once,
    /// and replaced in order. `parts`: in how many the step is made again, if it is. Returns
    /// the pieces of the bodies that this step broke.
    pub(super) fn break_bodies(
        &mut self,
        breaks: Vec<Break>,
        parts: u32,
        engine: &mut Engine<'_>,
    ) -> Vec<PieceId> {
        let mut born = Vec::new();
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
            self.break_wave(std::mem::take(&mut wave), parts, engine, &mut born);
        }
        born
    }

    /// Breaks bodies of different objects.
    fn break_wave(
        &mut self,
        wave: Vec<Break>,
        parts: u32,
        engine: &mut Engine<'_>,
        born: &mut Vec<PieceId>,
    ) {
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
                fracture,
                stats,
                of_this_step,
                ..
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
            self.newborn.extend(&children);
            self.start_modes(&children);
            if of_this_step {
                born.extend_from_slice(&children);
            }
            self.events.push(Event::Broke {
                piece: id,
                children: children.clone(),
                stats: stats.in_si(self.settings.units),
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
        let Some(parent) = engine.bodies.get(old.body).cloned() else {
            return Vec::new();
        };
        self.thaw_around(&[old.collider], engine);
        let object = &self.objects[id.object.0 as usize];
        let attached = Attached::of(&old, &parent, engine);
        let collider = engine.colliders.get(old.collider).cloned();
        let heritage = Heritage::of(parent, collider, &old.shape, &object.options);
        // What is attached is handed from body to body.
        if attached.is_empty() {
            engine.remove(old.body);
        }
        let mut children = Vec::with_capacity(shapes.len());
        for (shape, engine_shape) in shapes.into_iter().zip(engine_shapes) {
            let _span = trace::span("fragment", || named(id.object, shape.id()));
            children.extend(self.insert_fragment(id, shape, engine_shape, &heritage, engine));
        }
        if !attached.is_empty() {
            self.hand_over(attached, &children, engine);
            engine.remove(old.body);
        }
        children
    }

    /// Makes the body of a fragment, or dust if it is too small for one.
    fn insert_fragment(
        &mut self,
        parent: PieceId,
        shape: FragmentShape,
        engine_shape: SharedShape,
        heritage: &Heritage,
        engine: &mut Engine<'_>,
    ) -> Option<PieceId> {
        let options = &self.objects[parent.object.0 as usize].options;
        let anchored = is_anchored(&shape, options);
        let mut body = heritage.fragment_body(&shape, anchored, &self.settings);
        let debris = &self.settings.debris;
        if !anchored && shape.volume() < f64::from(debris.min_volume) {
            self.events.push(Event::Dust {
                parent,
                point: *body.position() * shape.unit_mass().centre.as_vec3(),
                velocity: body.linvel(),
                volume: shape.volume() as f32,
            });
            return None;
        }
        let mut collider = heritage.fragment_collider(&shape, engine_shape, options);
        if let Some(groups) = debris.groups {
            collider.set_collision_groups(groups);
        }
        let child = PieceId {
            object: parent.object,
            fragment: shape.id(),
        };
        if let Some(hook) = &mut self.on_fragment {
            hook(&mut NewFragment {
                piece: child,
                parent,
                volume_share: heritage.share(&shape),
                anchored,
                body: &mut body,
                collider: &mut collider,
            });
        }
        let sets = (&mut *engine.bodies, &mut *engine.colliders);
        let piece = self.spawn_piece(child, (body, collider), (shape, anchored), sets);
        let object = &mut self.objects[parent.object.0 as usize];
        object.pieces.insert(child.fragment, piece);
        Some(child)
    }
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
