//! What becomes of fragments as they grow old: they freeze, fade and are removed.
//!
//! A frozen fragment is a fixed body. The engine does not track contacts between fixed bodies,
//! so what rests on what is not known; when a piece goes, every frozen fragment whose box touches
//! its box and whose middle is higher may have rested on it and moves again, and so on upwards.

use std::collections::BTreeSet;

use fracas_core::FragmentId;
use glam::Vec3;
use parry3d::bounding_volume::{Aabb, BoundingVolume as _};
use rapier3d::prelude::{ColliderHandle, RigidBody, RigidBodyType};

use super::{Breakables, Engine, Event, PieceId};
use crate::debris::Ageing;

/// What decides about old debris.
pub(crate) struct Surroundings {
    /// A body that is slower than this lies still, in length units per second.
    pub(crate) still_speed: f32,
    /// Boxes that are closer than this touch, in length units.
    pub(crate) touching: f32,
    /// Against gravity, of unit length; zero without gravity.
    pub(crate) up: Vec3,
}

impl Breakables {
    /// Takes over what decides which frozen fragments move again.
    pub(crate) fn note_surroundings(&mut self, around: &Surroundings) {
        (self.touching, self.up) = (around.touching, around.up);
    }

    /// Ages all fragments by a step. Returns those that are to be removed.
    pub(crate) fn age_debris(
        &mut self,
        around: &Surroundings,
        engine: &mut Engine<'_>,
    ) -> Vec<PieceId> {
        self.note_surroundings(around);
        let policy = self.settings.debris;
        if !policy.is_ageing() {
            return Vec::new();
        }
        // This step has been counted already.
        let now = self.steps.saturating_sub(1);
        let mut gone = Vec::new();
        let fragments: Vec<PieceId> = self
            .pieces()
            .filter(|p| p.fragment != FragmentId(0))
            .collect();
        for id in fragments {
            let Some(piece) = self.piece(id) else {
                continue;
            };
            let Some(body) = engine.bodies.get(piece.body) else {
                continue;
            };
            if piece.anchored || self.held.contains(&id) {
                continue;
            }
            if let Some(end) = piece.fading {
                if end <= now {
                    gone.push(id);
                }
                continue;
            }
            let is_still = body.is_sleeping()
                || body.is_fixed()
                || body.linvel().length() < around.still_speed;
            let age = u32::try_from(now.saturating_sub(piece.born)).unwrap_or(u32::MAX);
            let remoteness = policy.remoteness(self.focus, body.center_of_mass());
            let ageing = if is_still {
                policy.ageing(age, remoteness)
            } else {
                Ageing::Stays
            };
            match ageing {
                Ageing::Ends if policy.fade_steps == 0 => gone.push(id),
                Ageing::Ends => self.start_fading(id, now, policy.fade_steps),
                Ageing::Freezes => self.freeze(id, engine),
                Ageing::Stays => {}
            }
        }
        if let Some(max) = policy.max_fragments {
            self.add_surplus(max, &mut gone, engine);
        }
        gone
    }

    /// Adds the smallest fragments beyond the limit, which may have been lowered.
    fn add_surplus(&self, max: usize, gone: &mut Vec<PieceId>, engine: &Engine<'_>) {
        let count = self
            .pieces()
            .filter(|p| p.fragment != FragmentId(0))
            .count();
        let surplus = (count - gone.len()).saturating_sub(max);
        if surplus == 0 {
            return;
        }
        let spare = self
            .room(false, engine.bodies)
            .map(|room| room.into_spare());
        let more = spare.into_iter().flatten().filter(|id| !gone.contains(id));
        let more: Vec<PieceId> = more.take(surplus).collect();
        gone.extend(more);
    }

    fn start_fading(&mut self, id: PieceId, now: u64, steps: u32) {
        if let Some(piece) = self.piece_mut(id) {
            piece.fading = Some(now + u64::from(steps));
            self.events.push(Event::Fading { piece: id, steps });
        }
    }

    /// Makes a fragment a fixed body, unless a joint holds it.
    fn freeze(&mut self, id: PieceId, engine: &mut Engine<'_>) {
        let Some(piece) = self.piece_mut(id) else {
            return;
        };
        let is_jointed = engine
            .impulse_joints
            .attached_joints(piece.body)
            .next()
            .is_some()
            || engine
                .multibody_joints
                .rigid_body_link(piece.body)
                .is_some();
        let body = engine.bodies.get_mut(piece.body);
        if let Some(body) = body.filter(|b| b.is_dynamic() && !is_jointed) {
            body.set_body_type(RigidBodyType::Fixed, false);
            piece.frozen = true;
        }
    }

    /// Lets frozen fragments move again that may have rested on what is about to go.
    pub(super) fn thaw_around(&mut self, going: &[ColliderHandle], engine: &mut Engine<'_>) {
        let is_frozen = |id: &PieceId| self.piece(*id).is_some_and(|p| p.frozen);
        let mut frozen: BTreeSet<PieceId> = self.pieces().filter(is_frozen).collect();
        if frozen.is_empty() {
            return;
        }
        let boxed = |collider: ColliderHandle, engine: &Engine<'_>| -> Option<Aabb> {
            Some(engine.colliders.get(collider)?.compute_aabb())
        };
        let mut support: Vec<Aabb> = going.iter().filter_map(|&c| boxed(c, engine)).collect();
        while let Some(below) = support.pop() {
            let wide = below.loosened(self.touching);
            let resting: Vec<(PieceId, Aabb)> = frozen
                .iter()
                .filter_map(|&id| Some((id, boxed(self.piece(id)?.collider, engine)?)))
                .filter(|(_, own)| {
                    let rise = (own.center() - below.center()).dot(self.up);
                    own.intersects(&wide) && rise >= 0.0
                })
                .collect();
            for (id, own) in resting {
                frozen.remove(&id);
                support.push(own);
                let Some(piece) = self.piece_mut(id) else {
                    continue;
                };
                piece.frozen = false;
                let body: Option<&mut RigidBody> = engine.bodies.get_mut(piece.body);
                if let Some(body) = body {
                    body.set_body_type(RigidBodyType::Dynamic, true);
                }
            }
        }
    }
}
