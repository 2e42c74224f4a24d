//! Contact events, and what the colliders of the game's own bodies are made of.

use std::collections::BTreeMap;

use fracas_fracture::Material;
use glam::Vec3;
use rapier3d::prelude::{ColliderHandle, ColliderSet, RigidBodySet};

use super::decide::Resultant;
use super::loads::Pushed;
use super::{Breakables, Engine, Event, PieceId};

/// A hard contact of two colliders in one step: what a game plays a sound for.
///
/// There is one for each pair of colliders and step in which the impulse of all points of the
/// pair together exceeds [`crate::WorldSettings::event_impulse`]. Neither of the two needs to
/// be a piece. In a step in which something breaks, the impulse is that on the body that
/// broke, and the piece may be gone when the event is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// The two colliders.
    pub colliders: [ColliderHandle; 2],
    /// The piece that each of them belongs to; `None` for the game's own bodies.
    pub pieces: [Option<PieceId>; 2],
    /// What each of them is made of: the material of the piece, or what
    /// [`crate::World::set_collider_material`] said.
    pub materials: [Option<Material>; 2],
    /// Center of pressure, in the world, in its length units.
    pub point: Vec3,
    /// Unit vector along the resulting force on the second collider: away from the first.
    pub normal: Vec3,
    /// Sum of the normal impulses of all points, in newton-seconds.
    pub impulse: f32,
}

/// Materials of colliders that are no pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColliderMaterials(BTreeMap<(u32, u32), Material>);

impl ColliderMaterials {
    pub(crate) fn set(&mut self, collider: ColliderHandle, material: Material) {
        self.0.insert(collider.into_raw_parts(), material);
    }

    pub(crate) fn get(&self, collider: ColliderHandle) -> Option<&Material> {
        self.0.get(&collider.into_raw_parts())
    }

    /// All that belong to colliders that exist.
    pub(crate) fn living(&self, colliders: &ColliderSet) -> Vec<((u32, u32), Material)> {
        let is_there = |&(index, generation): &(u32, u32)| {
            colliders.contains(ColliderHandle::from_raw_parts(index, generation))
        };
        let living = self.0.iter().filter(|(name, _)| is_there(name));
        living.map(|(&name, &material)| (name, material)).collect()
    }

    /// Forgets colliders that are gone. It takes a look at all of them.
    pub(crate) fn prune(&mut self, colliders: &ColliderSet) {
        if !self.0.is_empty() {
            self.0 = self.living(colliders).into_iter().collect();
        }
    }
}

impl FromIterator<((u32, u32), Material)> for ColliderMaterials {
    fn from_iter<I: IntoIterator<Item = ((u32, u32), Material)>>(materials: I) -> Self {
        Self(materials.into_iter().collect())
    }
}

impl Breakables {
    /// What a collider is made of, if that is known.
    pub(crate) fn material_of(&self, collider: ColliderHandle) -> Option<&Material> {
        let piece = self.piece_of(collider);
        let breaker = piece.and_then(|id| self.objects[id.object.0 as usize].breaker.as_ref());
        match breaker {
            Some(breaker) => Some(breaker.material()),
            None => self.materials.get(collider),
        }
    }

    /// Adds an event for every pair whose impulse exceeds the threshold of the settings.
    pub(super) fn report_contacts(&mut self, pushed: &[Pushed<'_>], engine: &Engine<'_>) {
        let hard = pushed
            .iter()
            .filter(|pushed| pushed.impulse > self.settings.event_impulse * self.settings.units);
        let contacts: Vec<Contact> = hard
            .filter_map(|pushed| self.contact(pushed, engine))
            .collect();
        self.events.extend(contacts.into_iter().map(Event::Contact));
    }

    fn contact(&self, pushed: &Pushed<'_>, engine: &Engine<'_>) -> Option<Contact> {
        let colliders = [pushed.pair.collider1, pushed.pair.collider2];
        // The engine keeps the impulses of pairs that sleep.
        if !colliders
            .map(|c| is_awake(c, engine.bodies, engine.colliders))
            .contains(&true)
        {
            return None;
        }
        let first = engine.colliders.get(colliders[0])?;
        let manifolds = pushed.pair.rigid()?.solver_manifolds();
        let resultant = Resultant::of(manifolds, true, first.position())?;
        Some(Contact {
            colliders,
            pieces: colliders.map(|c| self.piece_of(c)),
            materials: colliders.map(|c| self.material_of(c).copied()),
            point: resultant.centre,
            normal: -resultant.normal,
            impulse: pushed.impulse / self.settings.units,
        })
    }
}

fn is_awake(collider: ColliderHandle, bodies: &RigidBodySet, colliders: &ColliderSet) -> bool {
    let parent = colliders.get(collider).and_then(|c| c.parent());
    let body = parent.and_then(|handle| bodies.get(handle));
    body.is_some_and(|body| body.is_dynamic() && !body.is_sleeping())
}
