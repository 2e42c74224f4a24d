//! Hands that hold pieces of a world: grab, move, feel, let go.

use glam::Vec3;
use parry3d::math::Pose;

use super::hand::{Coupling, Held, Wrench};
use super::{PieceId, World};

/// A hold on a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hand {
    pub(super) piece: PieceId,
    /// The grabbed point, in the object's frame.
    pub(super) grip: Vec3,
    pub(super) target: Pose,
    /// Where it was at the end of the last step.
    pub(super) last: Vec3,
    /// Orientation of the body relative to the hand when it was grabbed.
    pub(super) hold: parry3d::math::Rotation,
    pub(super) coupling: Coupling,
    pub(super) wrench: Wrench,
}

/// Names a hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandId(pub u32);

impl World {
    /// Grabs a piece at a point of the world. The hand starts where the point is.
    pub fn grab(&mut self, piece: PieceId, point: Vec3, coupling: Coupling) -> Option<HandId> {
        let pose = self.pose(piece)?;
        let id = HandId(self.next_hand);
        self.next_hand += 1;
        let target = Pose::from_translation(point);
        let hand = Hand {
            piece,
            grip: pose.inverse_transform_point(point),
            hold: target.rotation.inverse() * pose.rotation,
            target,
            last: point,
            coupling,
            wrench: Wrench::default(),
        };
        self.hands.insert(id, hand);
        Some(id)
    }

    /// Moves a hand to where it will be at the end of the next step.
    pub fn move_hand(&mut self, hand: HandId, to: Pose) {
        if let Some(hand) = self.hands.get_mut(&hand) {
            hand.target = to;
        }
    }

    /// What the hand did to the body in the last step; it felt the opposite.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn hand_wrench(&self, hand: HandId) -> Option<Wrench> {
        self.hands.get(&hand).map(|h| h.wrench)
    }

    /// The piece that a hand holds now: a fragment, once what it held has broken.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn held_piece(&self, hand: HandId) -> Option<PieceId> {
        self.hands.get(&hand).map(|h| h.piece)
    }

    /// Lets go.
    pub fn release(&mut self, hand: HandId) {
        self.hands.remove(&hand);
    }

    pub(super) fn pull_hands(&mut self) {
        let dt = self.dt;
        for hand in self.hands.values_mut() {
            let way = hand.target.translation
                - std::mem::replace(&mut hand.last, hand.target.translation);
            let velocity = if dt > 0.0 { way / dt } else { Vec3::ZERO };
            let handle = self.breakables.body(hand.piece);
            let Some(body) = handle.and_then(|h| self.physics.bodies.get_mut(h)) else {
                continue;
            };
            let grip = *body.position() * hand.grip;
            let arm = grip - body.center_of_mass();
            let inverse_inertia = body.mass_properties().effective_world_inv_inertia;
            let inverse_inertia = glam::Mat3::from_cols(
                inverse_inertia * Vec3::X,
                inverse_inertia * Vec3::Y,
                inverse_inertia * Vec3::Z,
            );
            // The largest inverse mass over all directions at the arm's end.
            let spread = inverse_inertia.x_axis.length()
                + inverse_inertia.y_axis.length()
                + inverse_inertia.z_axis.length();
            let turn = body.position().rotation * (hand.target.rotation * hand.hold).inverse();
            let held = Held {
                offset: grip - hand.target.translation,
                velocity: body.velocity_at_point(grip) - velocity,
                inverse_mass: 1.0 / body.mass().max(1e-9) + spread * arm.length_squared(),
                turn: turn.to_scaled_axis(),
                spin: body.angvel(),
                inverse_inertia,
            };
            hand.wrench = hand.coupling.in_units(self.units).wrench(&held, dt);
            body.apply_impulse_at_point(hand.wrench.force * dt, grip, true);
            body.apply_torque_impulse(hand.wrench.torque * dt, true);
        }
    }

    /// A hand keeps the fragment that holds the grabbed point, or lets go.
    pub(super) fn follow_hands(&mut self, broken: PieceId, children: &[PieceId]) {
        let object = &self.breakables.objects[broken.object.0 as usize];
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
