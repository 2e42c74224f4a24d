//! Replacing a broken body by its fragments' bodies.
//!
//! Fragments keep the parent's pose and frame. A rigid body's velocity field does
//! not change by cutting it, so each fragment moves as its part of the body moved:
//! `v_i = v + w x (c_i - c)`, `w_i = w`, with c the centres of mass. Momentum,
//! angular momentum and energy are then those of the body, to rounding.

use fracas::Fracture;
use fracas_fracture::FractureStats;
use parry3d::math::Pose;
use rapier3d::prelude::RigidBodyBuilder;

use super::{Event, ObjectOptions, PieceId, World, WorldSettings, builder};
use crate::shape::FragmentShape;

/// A break that was decided.
pub(super) struct Break {
    pub(super) piece: PieceId,
    pub(super) fracture: Fracture,
    pub(super) stats: FractureStats,
}

impl World {
    /// Breaks a body now, between two steps, whatever hit it or not. Returns what it
    /// broke into: nothing if there is no such body or the fracture does not fit it.
    pub fn break_piece(&mut self, piece: PieceId, fracture: Fracture) -> Vec<PieceId> {
        let before = self.events.len();
        let stats = FractureStats::default();
        self.break_bodies(vec![Break {
            piece,
            fracture,
            stats,
        }]);
        let broke = self.events[before..].iter().find_map(|event| match event {
            Event::Broke { children, .. } => Some(children.clone()),
            _ => None,
        });
        broke.unwrap_or_default()
    }

    /// Cuts, updates, replaces.
    pub(super) fn break_bodies(&mut self, breaks: Vec<Break>) {
        for Break {
            piece: id,
            fracture,
            stats,
        } in breaks
        {
            let Some(object) = self.objects.get_mut(id.object.0 as usize) else {
                continue;
            };
            let Some(piece) = object.pieces.get(&id.fragment) else {
                continue;
            };
            let broken = object.shared.break_apart(
                &piece.shape,
                &fracture,
                self.settings.restructuring,
                &self.clock,
            );
            // A fracture that does not fit its fragment breaks nothing.
            let Ok((shapes, times)) = broken else {
                continue;
            };
            self.stats.times.fracture += times.cut * 1e3;
            self.stats.times.update += times.update * 1e3;
            let start = (self.clock)();
            if let Some(breaker) = &mut object.breaker {
                breaker.forget(id.fragment);
            }
            let children = self.replace(id, shapes);
            self.stats.times.physics += ((self.clock)() - start) * 1e3;
            self.stats.broken += 1;
            self.events.push(Event::Broke {
                piece: id,
                children: children.clone(),
                stats,
            });
            self.events.extend(children.into_iter().map(Event::Born));
        }
    }

    fn replace(&mut self, id: PieceId, shapes: Vec<FragmentShape>) -> Vec<PieceId> {
        let object = &mut self.objects[id.object.0 as usize];
        let options = object.options.clone();
        let old = object
            .pieces
            .remove(&id.fragment)
            .expect("it was there when it broke");
        let Some(parent) = self.physics.remove_body(old.body) else {
            return Vec::new();
        };
        let (pose, centre) = (*parent.position(), parent.center_of_mass());
        let (velocity, spin) = (parent.linvel(), parent.angvel());
        let mut children = Vec::with_capacity(shapes.len());
        for shape in shapes {
            let child = PieceId {
                object: id.object,
                fragment: shape.id(),
            };
            let anchored = is_anchored(&shape, &options);
            let own_centre = pose * shape.surface().mass_properties().centre.as_vec3();
            let body = body(&options, &self.settings, anchored, pose)
                .linvel(velocity + spin.cross(own_centre - centre))
                .angvel(spin)
                .can_sleep(self.settings.sleep && self.settings.debris.sleep)
                .build();
            let piece = self.insert(body, shape, &options, anchored);
            self.objects[id.object.0 as usize]
                .pieces
                .insert(child.fragment, piece);
            children.push(child);
        }
        self.follow_hands(id, &children);
        children
    }

    /// A hand keeps the fragment that holds the grabbed point, or lets go.
    fn follow_hands(&mut self, broken: PieceId, children: &[PieceId]) {
        let object = &self.objects[broken.object.0 as usize];
        let state = object.shared.read();
        self.hands.retain(|_, hand| {
            if hand.piece != broken {
                return true;
            }
            let nearest = children.iter().copied().find(|c| {
                let field = state.field().of(state.fragments(), c.fragment);
                field
                    .signed_distance(hand.grip, 0.5 * state.field().edge())
                    .is_some()
            });
            nearest.is_some_and(|child| {
                hand.piece = child;
                true
            })
        });
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

pub(super) fn body(
    options: &ObjectOptions,
    settings: &WorldSettings,
    anchored: bool,
    pose: Pose,
) -> RigidBodyBuilder {
    builder(anchored)
        .pose(pose)
        .can_sleep(settings.sleep)
        .ccd_enabled(options.continuous)
}
