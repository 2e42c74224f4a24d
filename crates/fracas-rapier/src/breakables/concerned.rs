//! Which bodies a break concerns: those whose motion over the step is computed again.
//!
//! The redo of a step ([`super::give_way`]) may change every body that the broken one touches,
//! what that touches or hangs on, and what any of them can reach within the step. All others
//! keep the step that they have made, to the bit.
//!
//! The set starts with the bodies that broke. It grows along contacts and joints, and by bodies
//! within reach of a member: the distance that the member goes in the step, and, for the broken
//! bodies and those that struck them, the distance that the fastest of these goes. Fixed and
//! kinematic bodies are not members, and pass nothing on: nothing that happens in the redo can
//! move them. Nor are links of multibodies, whose joint coordinates the engine cannot take back.

use std::collections::{BTreeSet, VecDeque};

use parry3d::bounding_volume::{Aabb, BoundingVolume};
use parry3d::query::DefaultQueryDispatcher;
use rapier3d::prelude::{ColliderHandle, QueryFilter, RigidBody, RigidBodyHandle};

use super::approach::{Approach, BodyKey};
use super::split::Break;
use super::{Breakables, Engine};

impl Breakables {
    /// The bodies that these breaks concern in a step of `dt` seconds that has been made.
    pub(super) fn concerned_by(
        &self,
        breaks: &[Break],
        dt: f32,
        engine: &Engine<'_>,
    ) -> BTreeSet<BodyKey> {
        let mut search = Search {
            engine,
            approach: &self.approach,
            members: BTreeSet::new(),
            queue: VecDeque::new(),
        };
        let broken = breaks.iter().filter(|b| b.of_this_step);
        for piece in broken.filter_map(|b| self.piece(b.piece)) {
            // Whatever it is: what is fixed to the world may come loose.
            if search.members.insert(piece.body.into_raw_parts()) {
                search.queue.push_back(piece.body);
            }
        }
        search.follow_contacts_and_joints(search.queue.len());
        let struck = search.members.clone();
        let speeds = struck.iter().map(|&key| search.speed(key));
        let fastest = speeds.fold(0.0, f32::max);
        loop {
            search.follow_contacts_and_joints(usize::MAX);
            let reaches = search.members.iter().map(|&key| {
                let is_struck = struck.contains(&key);
                let speed = if is_struck {
                    fastest
                } else {
                    search.speed(key)
                };
                (key, speed * dt)
            });
            let reaches: Vec<(BodyKey, f32)> = reaches.collect();
            if !search.insert_within(&reaches) {
                return search.members;
            }
        }
    }
}

struct Search<'a> {
    engine: &'a Engine<'a>,
    approach: &'a Approach,
    members: BTreeSet<BodyKey>,
    /// Members whose contacts and joints are not followed yet.
    queue: VecDeque<RigidBodyHandle>,
}

impl Search<'_> {
    /// Adds a body, if it can be concerned. Whether it is new.
    fn insert(&mut self, handle: RigidBodyHandle) -> bool {
        let body = self.engine.bodies.get(handle);
        let can = body.is_some_and(RigidBody::is_dynamic)
            && self
                .engine
                .multibody_joints
                .rigid_body_link(handle)
                .is_none();
        let is_new = can && self.members.insert(handle.into_raw_parts());
        if is_new {
            self.queue.push_back(handle);
        }
        is_new
    }

    /// Follows those of the first `count` members in the queue.
    fn follow_contacts_and_joints(&mut self, mut count: usize) {
        let engine = self.engine;
        while count > 0
            && let Some(handle) = self.queue.pop_front()
        {
            count -= 1;
            let colliders = engine.bodies.get(handle).map(RigidBody::colliders);
            for &collider in colliders.unwrap_or_default() {
                for pair in engine.narrow_phase.contact_pairs_with(collider) {
                    if pair.has_any_active_contact() {
                        for end in [pair.collider1, pair.collider2] {
                            self.insert_parent(end);
                        }
                    }
                }
            }
            for (first, second, ..) in engine.impulse_joints.attached_joints(handle) {
                self.insert(first);
                self.insert(second);
            }
        }
    }

    fn insert_parent(&mut self, collider: ColliderHandle) -> bool {
        let collider = self.engine.colliders.get(collider);
        let parent = collider.and_then(|c| c.parent());
        parent.is_some_and(|parent| self.insert(parent))
    }

    /// Before the step or after it, whichever is more.
    fn speed(&self, (index, generation): BodyKey) -> f32 {
        let handle = RigidBodyHandle::from_raw_parts(index, generation);
        let body = self.engine.bodies.get(handle);
        let now = body.map_or(0.0, |b| b.linvel().length());
        now.max(self.approach.speed(handle))
    }

    /// Adds all bodies whose boxes are within these distances of members'. Whether there were
    /// any.
    fn insert_within(&mut self, reaches: &[(BodyKey, f32)]) -> bool {
        let engine = self.engine;
        let query = engine.broad_phase.as_query_pipeline(
            &DefaultQueryDispatcher,
            engine.bodies,
            engine.colliders,
            QueryFilter::only_dynamic(),
        );
        let mut found = false;
        for &(key, reach) in reaches {
            let Some(swept) = self.swept_box(key) else {
                continue;
            };
            let reached = query.intersect_aabb_conservative(swept.loosened(reach));
            for (collider, _) in reached {
                found |= self.insert_parent(collider);
            }
        }
        found
    }

    /// The box of all places where a body was in the step.
    fn swept_box(&self, (index, generation): BodyKey) -> Option<Aabb> {
        let handle = RigidBodyHandle::from_raw_parts(index, generation);
        let body = self.engine.bodies.get(handle)?;
        let before = self.approach.pose(handle).unwrap_or(*body.position());
        let colliders = body.colliders().iter();
        let boxes = colliders.filter_map(|&c| {
            let collider = self.engine.colliders.get(c)?;
            let local = collider.position_wrt_parent().copied().unwrap_or_default();
            let at = |pose| collider.shape().compute_aabb(&(pose * local));
            Some(at(before).merged(&at(*body.position())))
        });
        boxes.reduce(|a, b| a.merged(&b))
    }
}
