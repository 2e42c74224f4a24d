//! Puts jittering pieces to sleep, with all that they touch.
//!
//! The engine lets bodies sleep that hardly move from step to step. A shard that rocks on
//! two of its corners does move, by a tenth of a millimetre forth and back, and would keep
//! itself and all that it touches awake for ever. So twice a second every body that is awake
//! is compared with where it was half a second ago. Bodies that touch each other, of which
//! none has gone anywhere, are put to sleep together; what wakes them is the engine's affair.
//!
//! A shard may also creep as it trembles, or rattle in a bowl. The engine lets bodies sleep
//! that are slower than a threshold for two seconds; so does this, by the mean speed from one
//! look to the next, which trembling does not raise. It holds for fragments that lie on
//! something: what rolls or swings slowly, or hangs in the air for a moment, is not still.
//!
//! The engine takes bodies out of its steps by whole islands, and an island from which a contact
//! has gone only after it was split, which may take some steps. A body that is put to sleep in
//! such an island is moved meanwhile, and without contacts: it would fall through what it lies
//! on, and wake what it meets there. So it has no weight until it is out.

use std::collections::{BTreeMap, BTreeSet};

use fracas_core::FragmentId;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderHandle, ColliderSet, RigidBody, RigidBodyHandle};

use super::World;

/// Seconds from one look to the next.
const EVERY: f64 = 0.5;
/// A body that went less far in that time, in smallest lengths ([`super::WorldSettings`]), goes
/// nowhere: 2 mm among plates.
const NOWHERE: f32 = 0.04;
/// A body whose middle went less far, in smallest lengths, and that turned by less (rad), was slow:
/// 0.4 smallest lengths a second.
const SLOW: (f32, f32) = (0.2, 0.5);
/// Looks in a row at which a body was slow, until it counts as still: two seconds.
const SLOW_LOOKS: u8 = 4;

/// A body's handle in its two parts, which have an order.
type Name = (u32, u32);
/// Where bodies were when they were last looked at, and at how many looks in a row they had
/// been slow.
pub(super) type Places = BTreeMap<Name, (Pose, u8)>;

/// Bodies that sleep and that the engine moves all the same, with the scale of their gravity.
pub(super) type HeldAsleep = Vec<(RigidBodyHandle, f32)>;

impl World {
    /// Takes, for the engine's step, the weight off bodies that sleep and are still among those
    /// that it moves.
    pub(super) fn hold_asleep(&mut self) {
        let (bodies, islands) = (&mut self.physics.bodies, &self.physics.islands);
        let is_asleep = |handle: &RigidBodyHandle| {
            let body = bodies.get(*handle);
            body.is_some_and(|body| body.is_dynamic() && body.is_sleeping())
        };
        let asleep: Vec<RigidBodyHandle> = islands.active_bodies().filter(is_asleep).collect();
        if asleep.is_empty() {
            return;
        }
        // Where there is no piece, the game's own bodies are not touched.
        let pieces = self.breakables.pieces();
        let pieces = pieces.filter_map(|piece| self.breakables.body(piece));
        let island = |handle, bodies: &_| islands.persistent_island_of(bodies, handle);
        let ours: BTreeSet<u32> = pieces.filter_map(|piece| island(piece, bodies)).collect();
        for handle in asleep {
            let is_ours = island(handle, bodies).is_some_and(|island| ours.contains(&island));
            // `get_mut` marks the body as modified.
            if is_ours && let Some(body) = bodies.get_mut(handle) {
                self.held_asleep.push((handle, body.gravity_scale()));
                body.set_gravity_scale(0.0, false);
            }
        }
    }

    /// Gives them their weight back.
    pub(super) fn restore_gravity(&mut self) {
        for (handle, scale) in self.held_asleep.drain(..) {
            if let Some(body) = self.physics.bodies.get_mut(handle) {
                body.set_gravity_scale(scale, false);
            }
        }
    }

    /// Looks, when it is time to.
    pub(super) fn put_to_sleep(&mut self) {
        if !self.settings.sleep {
            return;
        }
        self.since_look += f64::from(self.dt);
        if self.steps > 0 && self.since_look < EVERY - 1e-6 {
            return;
        }
        self.since_look = 0.0;
        let unit = self.smallest_length();
        let touching = self.touching();
        let lying: BTreeSet<Name> = touching.contacts.iter().flat_map(|p| [p.0, p.1]).collect();
        let hanging: BTreeSet<Name> = touching.joints.iter().flat_map(|p| [p.0, p.1]).collect();
        let shards = self.pieces().filter(|p| p.fragment != FragmentId(0));
        let shards: BTreeSet<Name> = shards
            .filter_map(|piece| self.breakables.body(piece))
            .map(RigidBodyHandle::into_raw_parts)
            .collect();
        let may_be_slow =
            |name: &Name| shards.contains(name) && lying.contains(name) && !hanging.contains(name);
        let mut places = Places::new();
        // Of bodies that are awake: who leads its group, and whether it went nowhere.
        let mut leaders: BTreeMap<Name, Name> = BTreeMap::new();
        let mut still: BTreeMap<Name, bool> = BTreeMap::new();
        for (handle, body) in self.physics.bodies.iter() {
            if !body.is_dynamic() || body.is_sleeping() {
                continue;
            }
            let name = handle.into_raw_parts();
            leaders.insert(name, name);
            let may = body.activation().normalized_linear_threshold >= 0.0;
            let then = self.places.get(&name).filter(|_| may);
            let (mut looks, mut is_still) = (0, false);
            if let Some((then, slow_looks)) = then {
                let (way, turn) = went(then, body);
                let is_slow = way < SLOW.0 * unit && turn < SLOW.1;
                if is_slow && may_be_slow(&name) {
                    looks = slow_looks.saturating_add(1);
                }
                let far = way + turn * reach(body, &self.physics.colliders);
                is_still = far < NOWHERE * unit || looks >= SLOW_LOOKS;
            }
            places.insert(name, (*body.position(), looks));
            still.insert(name, is_still);
        }
        self.places = places;
        let held = self.hands.values().map(|hand| hand.piece);
        for body in held.filter_map(|piece| self.breakables.body(piece)) {
            still.insert(body.into_raw_parts(), false);
        }
        for (a, b) in touching.contacts.into_iter().chain(touching.joints) {
            if leaders.contains_key(&a) && leaders.contains_key(&b) {
                let (a, b) = (leader(&leaders, a), leader(&leaders, b));
                leaders.insert(a, b);
            }
        }
        // Groups without a piece of ours are the game's own.
        let pieces = self.pieces();
        let pieces = pieces.filter_map(|piece| self.breakables.body(piece));
        let pieces = pieces.map(RigidBodyHandle::into_raw_parts);
        let mut groups: BTreeMap<Name, bool> = pieces
            .filter(|name| leaders.contains_key(name))
            .map(|name| (leader(&leaders, name), true))
            .collect();
        for &name in leaders.keys() {
            if let Some(is_still) = groups.get_mut(&leader(&leaders, name)) {
                *is_still &= still[&name];
            }
        }
        for &(index, generation) in leaders.keys() {
            let handle = RigidBodyHandle::from_raw_parts(index, generation);
            let group = groups.get(&leader(&leaders, (index, generation)));
            if group.is_some_and(|is_still| *is_still)
                && let Some(body) = self.physics.bodies.get_mut(handle)
            {
                body.sleep();
            }
        }
    }

    fn touching(&self) -> Touching {
        // What lies on something that has no body lies on itself.
        let parent = |collider: ColliderHandle| {
            let body = self.physics.colliders.get(collider)?.parent()?;
            Some(body.into_raw_parts())
        };
        let contacts = self.physics.narrow_phase.contact_pairs();
        let contacts = contacts.filter(|pair| pair.has_any_active_contact());
        let contacts = contacts.filter_map(|pair| {
            let [a, b] = [parent(pair.collider1), parent(pair.collider2)];
            Some((a.or(b)?, b.or(a)?))
        });
        let joints = self.physics.impulse_joints.iter();
        let joints = joints.map(|(_, joint)| {
            let [a, b] = [joint.body1(), joint.body2()];
            (a.into_raw_parts(), b.into_raw_parts())
        });
        Touching {
            contacts: contacts.collect(),
            joints: joints.collect(),
        }
    }
}

/// Pairs of bodies that touch, or hang together.
struct Touching {
    contacts: Vec<(Name, Name)>,
    joints: Vec<(Name, Name)>,
}

/// Who leads the group of a body.
fn leader(leaders: &BTreeMap<Name, Name>, mut name: Name) -> Name {
    while leaders[&name] != name {
        name = leaders[&name];
    }
    name
}

/// How far a body's middle went from where it was, and by how much it turned.
fn went(then: &Pose, body: &RigidBody) -> (f32, f32) {
    let now = body.position();
    let turn = now.rotation * then.rotation.inverse();
    let centre = body.center_of_mass();
    let before = *then * now.inverse_transform_point(centre);
    (centre.distance(before), turn.to_scaled_axis().length())
}

/// How far a body's points are from its middle, about.
fn reach(body: &RigidBody, colliders: &ColliderSet) -> f32 {
    let all = body.colliders().iter().filter_map(|c| colliders.get(*c));
    // Known before there is a tree.
    all.map(|c| c.shape().compute_local_aabb().half_extents().length())
        .fold(0.0, f32::max)
}
