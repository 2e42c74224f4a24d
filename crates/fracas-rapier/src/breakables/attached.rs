//! What is attached to a body that breaks: joints and the caller's own colliders.
//!
//! A joint goes to the fragment that holds its anchor point, a collider to the one that holds
//! its center: the fragment whose shape is nearest, at a distance of zero inside. Fragments keep
//! the frame of the body that broke, so local frames stay as they are, and so do motors and
//! limits. Impulse joints keep their handles; the handle of a multibody joint is that of its
//! second body, so it changes when that one breaks.

use glam::Vec3;
use parry3d::math::Pose;
use parry3d::query::PointQuery as _;
use rapier3d::dynamics::{Multibody, MultibodyJoint};
use rapier3d::prelude::{
    ColliderHandle, ImpulseJointHandle, MultibodyJointHandle, RigidBody, RigidBodyHandle,
};

use super::events::JointHandle;
use super::{Breakables, Engine, Event, Piece, PieceId};

/// An impulse joint: its bodies and its anchor in the frame of the body that breaks.
struct Impulse {
    handle: ImpulseJointHandle,
    bodies: [RigidBodyHandle; 2],
    anchor: Vec3,
}

/// A multibody joint, to be made anew.
struct Articulation {
    handle: MultibodyJointHandle,
    bodies: [RigidBodyHandle; 2],
    anchor: Vec3,
    /// With its coordinates and springs.
    joint: MultibodyJoint,
    /// Generalized velocities.
    velocities: Vec<f32>,
}

/// What is attached to a body, apart from the piece's own collider.
pub(super) struct Attached {
    body: RigidBodyHandle,
    colliders: Vec<(ColliderHandle, Pose)>,
    impulse: Vec<Impulse>,
    articulations: Vec<Articulation>,
}

impl Attached {
    pub(super) fn of(piece: &Piece, body: &RigidBody, engine: &Engine<'_>) -> Self {
        let own = piece.body;
        let colliders = body.colliders().iter().filter(|&&c| c != piece.collider);
        let colliders = colliders.filter_map(|&handle| {
            let at = *engine.colliders.get(handle)?.position_wrt_parent()?;
            Some((handle, at))
        });
        let joints = engine.impulse_joints.attached_joints(own);
        let mut impulse: Vec<Impulse> = joints
            .map(|(first, second, handle, joint)| Impulse {
                handle,
                bodies: [first, second],
                anchor: joint.data.local_anchor(first == own),
            })
            .collect();
        impulse.sort_unstable_by_key(|joint| joint.handle.into_raw_parts());
        let joints = engine.multibody_joints.attached_joints(own);
        let mut articulations: Vec<Articulation> = joints
            .filter_map(|(first, second, handle)| {
                let (multibody, link) = engine.multibody_joints.get(handle)?;
                let joint = multibody.link(link)?.joint;
                let start = first_dof(multibody, link);
                let velocities = multibody.generalized_velocity();
                Some(Articulation {
                    handle,
                    bodies: [first, second],
                    anchor: joint.data.local_anchor(first == own),
                    velocities: (start..start + joint.ndofs())
                        .map(|dof| velocities[dof])
                        .collect(),
                    joint,
                })
            })
            .collect();
        // Parents before children, since a joint is inserted below its first body.
        articulations.sort_unstable_by_key(|a| (a.bodies[1] != own, a.handle.into_raw_parts()));
        Self {
            body: own,
            colliders: colliders.collect(),
            impulse,
            articulations,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.colliders.is_empty() && self.impulse.is_empty() && self.articulations.is_empty()
    }
}

/// Where a link's degrees of freedom start among those of its multibody.
fn first_dof(multibody: &Multibody, link: usize) -> usize {
    multibody.links().take(link).map(|l| l.joint.ndofs()).sum()
}

trait Anchor {
    /// The anchor in the frame of the first or the second body.
    fn local_anchor(&self, is_first: bool) -> Vec3;
}

impl Anchor for rapier3d::dynamics::GenericJoint {
    fn local_anchor(&self, is_first: bool) -> Vec3 {
        if is_first {
            self.local_anchor1()
        } else {
            self.local_anchor2()
        }
    }
}

impl Breakables {
    /// Hands what was attached over to the fragments, which are in the engine already. The body
    /// that broke must still be there.
    pub(super) fn hand_over(
        &mut self,
        attached: Attached,
        children: &[PieceId],
        engine: &mut Engine<'_>,
    ) {
        let Attached {
            body,
            colliders,
            impulse,
            articulations,
        } = attached;
        for (collider, at) in colliders {
            self.hand_over_collider(collider, at, children, engine);
        }
        for joint in impulse {
            let old = JointHandle::Impulse(joint.handle);
            let Some((piece, heir)) = self.nearest(joint.anchor, children) else {
                self.events.push(Event::JointBroken { joint: old });
                continue;
            };
            let [first, second] = replaced(joint.bodies, body, heir);
            let joints = &mut engine.impulse_joints;
            joints.set_bodies(joint.handle, first, second, true);
            let new = old;
            self.events.push(Event::JointMoved { old, new, piece });
        }
        for joint in &articulations {
            engine.multibody_joints.remove(joint.handle, true);
        }
        for joint in articulations {
            self.hand_over_articulation(&joint, body, children, engine);
        }
    }

    fn hand_over_collider(
        &self,
        collider: ColliderHandle,
        at: Pose,
        children: &[PieceId],
        engine: &mut Engine<'_>,
    ) {
        let Some(shape) = engine.colliders.get(collider).map(|c| c.shape()) else {
            return;
        };
        let center = at * shape.compute_local_aabb().center();
        let Some((_, heir)) = self.nearest(center, children) else {
            return;
        };
        let bodies = &mut *engine.bodies;
        let before = bodies.get(heir).map(RigidBody::center_of_mass);
        engine.colliders.set_parent(collider, Some(heir), bodies);
        let (Some(before), Some(body)) = (before, bodies.get_mut(heir)) else {
            return;
        };
        // The center of mass moves: its velocity is that of another point.
        body.recompute_mass_properties_from_colliders(engine.colliders);
        let moved = body.angvel().cross(body.center_of_mass() - before);
        body.set_linvel(body.linvel() + moved, true);
    }

    fn hand_over_articulation(
        &mut self,
        old: &Articulation,
        body: RigidBodyHandle,
        children: &[PieceId],
        engine: &mut Engine<'_>,
    ) {
        let joint = JointHandle::Multibody(old.handle);
        let heir = self.nearest(old.anchor, children);
        let made = heir.and_then(|(piece, heir)| {
            let [first, second] = replaced(old.bodies, body, heir);
            let joints = &mut *engine.multibody_joints;
            let is_root = joints.rigid_body_link(first).is_none();
            let handle = joints.insert(first, second, old.joint.data, true)?;
            let (multibody, link) = joints.get_mut(handle)?;
            let start = first_dof(multibody, link);
            multibody.link_mut(link)?.joint = old.joint;
            let mut velocities = multibody.generalized_velocity_mut();
            for (dof, velocity) in (start..).zip(&old.velocities) {
                velocities[dof] = *velocity;
            }
            // A root moves by itself: its origin's velocity and its spin.
            if let Some(root) = engine
                .bodies
                .get(first)
                .filter(|b| is_root && b.is_dynamic())
            {
                let origin = root.velocity_at_point(root.translation());
                let motion = origin
                    .to_array()
                    .into_iter()
                    .chain(root.angvel().to_array());
                for (dof, velocity) in motion.enumerate() {
                    velocities[dof] = velocity;
                }
            }
            Some((piece, handle))
        });
        self.events.push(match made {
            Some((piece, handle)) => Event::JointMoved {
                old: joint,
                new: JointHandle::Multibody(handle),
                piece,
            },
            None => Event::JointBroken { joint },
        });
    }

    /// The fragment that is nearest to a point of the object's frame, and its body.
    fn nearest(&self, point: Vec3, children: &[PieceId]) -> Option<(PieceId, RigidBodyHandle)> {
        let away = |&child: &PieceId| {
            let piece = self.piece(child)?;
            let at = piece.shape.project_local_point(point, true).point;
            Some((at.distance_squared(point), child, piece.body))
        };
        let found = children.iter().filter_map(away);
        let (_, piece, body) = found.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((piece, body))
    }
}

fn replaced(
    bodies: [RigidBodyHandle; 2],
    old: RigidBodyHandle,
    new: RigidBodyHandle,
) -> [RigidBodyHandle; 2] {
    bodies.map(|body| if body == old { new } else { body })
}
