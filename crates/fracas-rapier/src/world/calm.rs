//! What goes nowhere falls asleep, even if it trembles.
//!
//! The engine lets bodies sleep that hardly move from step to step. A shard that rocks on
//! two of its corners does move, by a tenth of a millimetre forth and back, and would keep
//! itself and all that it touches awake for ever. So twice a second every body that is awake
//! is compared with where it was half a second ago. Bodies that touch each other, of which
//! none has gone anywhere, are put to sleep together; what wakes them is the engine's affair.

use std::collections::BTreeMap;

use parry3d::math::Pose;
use rapier3d::prelude::{ColliderHandle, ColliderSet, RigidBody, RigidBodyHandle};

use super::World;

/// Seconds from one look to the next.
const EVERY: f32 = 0.5;
/// A body that went less far in that time, in length units, goes nowhere: 2 mm among plates.
const NOWHERE: f32 = 0.04;

/// A body's handle in its two parts, which have an order.
type Name = (u32, u32);
/// Where bodies were when they were last looked at.
pub(super) type Places = BTreeMap<Name, Pose>;

impl World {
    /// Looks, when it is time to.
    pub(super) fn calm_down(&mut self) {
        let every = libm::ceilf(EVERY / self.settings.step).max(1.0) as u64;
        if !self.settings.sleep || !self.steps.is_multiple_of(every) {
            return;
        }
        let nowhere = NOWHERE * self.settings.length_unit;
        let mut places = Places::new();
        // Of bodies that are awake: who leads its group, and whether it went nowhere.
        let mut leaders: BTreeMap<Name, Name> = BTreeMap::new();
        let mut calm: BTreeMap<Name, bool> = BTreeMap::new();
        for (handle, body) in self.physics.bodies.iter() {
            if !body.is_dynamic() || body.is_sleeping() {
                continue;
            }
            let name = handle.into_raw_parts();
            places.insert(name, *body.position());
            leaders.insert(name, name);
            let may = body.activation().normalized_linear_threshold >= 0.0;
            let then = self.places.get(&name).filter(|_| may);
            let still = |then: &Pose| went(then, body, &self.physics.colliders) < nowhere;
            calm.insert(name, then.is_some_and(still));
        }
        self.places = places;
        let held = self.hands.values().map(|hand| hand.piece);
        for body in held.filter_map(|piece| self.breakables.body(piece)) {
            calm.insert(body.into_raw_parts(), false);
        }
        for (a, b) in self.touching() {
            if leaders.contains_key(&a) && leaders.contains_key(&b) {
                let (a, b) = (leader(&leaders, a), leader(&leaders, b));
                leaders.insert(a, b);
            }
        }
        let mut groups: BTreeMap<Name, bool> = BTreeMap::new();
        for &name in leaders.keys() {
            *groups.entry(leader(&leaders, name)).or_insert(true) &= calm[&name];
        }
        for &(index, generation) in leaders.keys() {
            let handle = RigidBodyHandle::from_raw_parts(index, generation);
            if groups[&leader(&leaders, (index, generation))]
                && let Some(body) = self.physics.bodies.get_mut(handle)
            {
                body.sleep();
            }
        }
    }

    /// Pairs of bodies that touch or hang together.
    fn touching(&self) -> Vec<(Name, Name)> {
        let parent = |collider: ColliderHandle| {
            let body = self.physics.colliders.get(collider)?.parent()?;
            Some(body.into_raw_parts())
        };
        let contacts = self.physics.narrow_phase.contact_pairs();
        let contacts = contacts.filter(|pair| pair.has_any_active_contact());
        let contacts =
            contacts.filter_map(|pair| parent(pair.collider1).zip(parent(pair.collider2)));
        let joints = self.physics.impulse_joints.iter();
        let joints = joints.map(|(_, joint)| {
            let [a, b] = [joint.body1(), joint.body2()];
            (a.into_raw_parts(), b.into_raw_parts())
        });
        contacts.chain(joints).collect()
    }
}

/// Who leads the group of a body.
fn leader(leaders: &BTreeMap<Name, Name>, mut name: Name) -> Name {
    while leaders[&name] != name {
        name = leaders[&name];
    }
    name
}

/// How far any point of a body went, at most, from where it was.
fn went(then: &Pose, body: &RigidBody, colliders: &ColliderSet) -> f32 {
    let now = body.position();
    let mut reach = 0.0_f32;
    for collider in body.colliders().iter().filter_map(|c| colliders.get(*c)) {
        // Known before there is a tree.
        let half = collider.shape().compute_local_aabb().half_extents();
        reach = reach.max(half.length());
    }
    let turn = (now.rotation * then.rotation.inverse())
        .to_scaled_axis()
        .length();
    let centre = body.center_of_mass();
    let before = *then * now.inverse_transform_point(centre);
    centre.distance(before) + turn * reach
}
