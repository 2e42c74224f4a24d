//! Replacing a broken body by its fragments' bodies.
//!
//! Fragments keep the parent's pose and frame. A rigid body's velocity field does
//! not change by cutting it, so each fragment moves as its part of the body moved:
//! `v_i = v + w x (c_i - c)`, `w_i = w`, with c the centres of mass. Momentum,
//! angular momentum and energy are then those of the body, to rounding.

use std::sync::Arc;

use fracas::Fracture;
use fracas_fracture::FractureStats;
use parry3d::shape::SharedShape;

use super::{Breakables, Engine, Event, ObjectOptions, Piece, PieceId, collider, reach, weigh};
use crate::pair::ContactMode;
use crate::shape::FragmentShape;

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

    /// Cuts, updates, replaces. `parts`: in how many the step is made again, if it is.
    pub(super) fn break_bodies(&mut self, breaks: Vec<Break>, parts: u32, engine: &mut Engine<'_>) {
        for broken in breaks {
            let id = broken.piece;
            let Some(object) = self.objects.get_mut(id.object.0 as usize) else {
                continue;
            };
            let Some(piece) = object.pieces.get(&id.fragment) else {
                continue;
            };
            let apart = object.shared.break_apart(
                &piece.shape,
                &broken.fracture,
                self.settings.restructuring,
                &self.clock,
            );
            // A fracture that does not fit its fragment breaks nothing.
            let Ok((shapes, times)) = apart else {
                continue;
            };
            if let Some(breaker) = &mut object.breaker {
                breaker.forget(id.fragment);
            }
            let before = object.history.len();
            self.note(&broken, before, parts);
            let Break {
                fracture, stats, ..
            } = broken;
            self.objects[id.object.0 as usize].history.push(fracture);
            self.report.fracture += times.cut * 1e3;
            let start = (self.clock)();
            let engine_shapes: Vec<SharedShape> =
                shapes.iter().map(|s| self.engine_shape(s)).collect();
            let shaped = (self.clock)();
            if matches!(self.settings.contacts, ContactMode::Parry(_)) {
                self.report.update += (shaped - start) * 1e3;
                self.report.apart += times.update * 1e3;
            } else {
                self.report.update += times.update * 1e3;
            }
            let children = self.replace(id, shapes, engine_shapes, engine);
            self.report.replace += ((self.clock)() - shaped) * 1e3;
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

    /// What the engine holds for a fragment.
    pub(crate) fn engine_shape(&self, shape: &FragmentShape) -> SharedShape {
        match self.settings.contacts {
            ContactMode::Parry(kind) => kind.build(shape.surface()),
            _ => SharedShape(Arc::new(shape.clone())),
        }
    }

    fn replace(
        &mut self,
        id: PieceId,
        shapes: Vec<FragmentShape>,
        engine_shapes: Vec<SharedShape>,
        engine: &mut Engine<'_>,
    ) -> Vec<PieceId> {
        let object = &mut self.objects[id.object.0 as usize];
        let old = object
            .pieces
            .remove(&id.fragment)
            .expect("it was there when it broke");
        self.owners.remove(old.collider);
        let Some(parent) = engine.remove(old.body) else {
            return Vec::new();
        };
        let (pose, centre) = (*parent.position(), parent.center_of_mass());
        let (velocity, spin) = (parent.linvel(), parent.angvel());
        let mut children = Vec::with_capacity(shapes.len());
        for (shape, engine_shape) in shapes.into_iter().zip(engine_shapes) {
            let child = PieceId {
                object: id.object,
                fragment: shape.id(),
            };
            let options = &object.options;
            let anchored = is_anchored(&shape, options);
            let own_centre = pose * shape.surface().mass_properties().centre.as_vec3();
            let body = options
                .body(anchored, pose)
                .linvel(velocity + spin.cross(own_centre - centre))
                .angvel(spin)
                .can_sleep(self.settings.fragments_sleep)
                .soft_ccd_prediction(self.settings.foresee * reach(&shape));
            let body = engine.bodies.insert(body);
            let collider = engine.colliders.insert_with_parent(
                collider(&shape, engine_shape, options),
                body,
                engine.bodies,
            );
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

/// Whether a piece holds a node that is built into the world.
pub(super) fn is_anchored(shape: &FragmentShape, options: &ObjectOptions) -> bool {
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
