//! From the impulses of a step to the decision what breaks.
//!
//! Impulses come from the solver's own manifolds, after the step: the body already
//! carries what they did to it. A contact's effective mass along its normal n is
//! `1 / sum (1/m + (r x n) . I^-1 (r x n))` over the two bodies.

use fracas::FragmentId;
use fracas_fracture::Impact;
use glam::Vec3;
use rapier3d::prelude::{ColliderHandle, RigidBody};

use super::split::Break;
use super::{Event, ObjectId, PieceId, World};

impl World {
    /// Asks every breakable body that was hit what becomes of it.
    pub(super) fn decide_breaks(&mut self) -> Vec<Break> {
        let mut breaks = Vec::new();
        let mut waiting = 0;
        for o in 0..self.objects.len() {
            let hit: Vec<FragmentId> = self.objects[o].pieces.keys().copied().collect();
            for fragment in hit {
                let id = PieceId {
                    object: ObjectId(o as u32),
                    fragment,
                };
                let impacts = self.impacts_on(id);
                if impacts.is_empty() {
                    continue;
                }
                if breaks.len() == self.settings.most_breaks_per_step {
                    waiting += 1;
                    continue;
                }
                let mass = self.body(id).map_or(0.0, RigidBody::mass);
                let object = &mut self.objects[o];
                let Some(breaker) = &mut object.breaker else {
                    continue;
                };
                let state = object.shared.read();
                let decision = breaker.decide(
                    state.fragments(),
                    fragment,
                    mass,
                    &impacts,
                    self.settings.step,
                    &mut self.memory,
                );
                drop(state);
                if let Some(fracture) = decision.fracture {
                    breaks.push(Break {
                        piece: id,
                        fracture,
                        stats: decision.stats,
                    });
                }
            }
        }
        self.stats.breaks_waiting = waiting;
        breaks
    }

    /// The contacts that pushed a piece in the last step, in its object's frame.
    fn impacts_on(&mut self, id: PieceId) -> Vec<Impact> {
        let mut impacts = Vec::new();
        let Some(piece) = self.piece(id) else {
            return impacts;
        };
        let (collider, breakable) = (
            piece.collider,
            self.objects[id.object.0 as usize].breaker.is_some(),
        );
        let Some(body) = self.physics.bodies.get(piece.body) else {
            return impacts;
        };
        if body.is_sleeping() || !(breakable || self.settings.event_impulse.is_finite()) {
            return impacts;
        }
        let mut events = Vec::new();
        for pair in self.physics.narrow_phase.contact_pairs_with(collider) {
            let Some(rigid) = pair.rigid() else { continue };
            let is_first = pair.collider1 == collider;
            let other = if is_first {
                pair.collider2
            } else {
                pair.collider1
            };
            let Some(first) = self.physics.colliders.get(pair.collider1) else {
                continue;
            };
            for manifold in rigid.solver_manifolds() {
                // The manifold's normal looks from 1 to 2; the body is pushed away.
                let normal = if is_first {
                    -manifold.data.normal
                } else {
                    manifold.data.normal
                };
                for point in manifold.points.iter().filter(|p| p.data.impulse > 0.0) {
                    let world = *first.position() * point.local_p1;
                    if point.data.impulse > self.settings.event_impulse {
                        events.push(Event::Contact {
                            piece: id,
                            point: world,
                            impulse: point.data.impulse,
                        });
                    }
                    if breakable {
                        impacts.push(Impact {
                            point: body.position().inverse_transform_point(world),
                            impulse: body.position().rotation.inverse()
                                * (normal * point.data.impulse),
                            speed: 0.0,
                            effective_mass: self.effective_mass(body, other, world, normal),
                            radius: 0.0,
                            other_modulus: self.modulus_of(other),
                        });
                    }
                }
            }
        }
        self.events.append(&mut events);
        impacts
    }

    fn effective_mass(
        &self,
        body: &RigidBody,
        other: ColliderHandle,
        point: Vec3,
        normal: Vec3,
    ) -> f32 {
        let inverse = |body: &RigidBody| {
            if !body.is_dynamic() {
                return 0.0;
            }
            let turn = (point - body.center_of_mass()).cross(normal);
            1.0 / body.mass().max(1e-12)
                + turn.dot(body.mass_properties().effective_world_inv_inertia * turn)
        };
        let parent = self.physics.colliders.get(other).and_then(|c| c.parent());
        let theirs = parent
            .and_then(|h| self.physics.bodies.get(h))
            .map_or(0.0, inverse);
        let sum = inverse(body) + theirs;
        if sum > 0.0 { 1.0 / sum } else { body.mass() }
    }

    /// Contact modulus of what was hit: the object's material, or stone.
    fn modulus_of(&self, collider: ColliderHandle) -> f64 {
        /// E / (1 - nu^2) of granite: what floors and plain bodies count as.
        const STONE: f64 = 55e9 / (1.0 - 0.25 * 0.25);
        let object = self
            .piece_of(collider)
            .map(|id| &self.objects[id.object.0 as usize]);
        object
            .and_then(|o| o.breaker.as_ref())
            .map_or(STONE, |b| b.material().contact_modulus())
    }
}
