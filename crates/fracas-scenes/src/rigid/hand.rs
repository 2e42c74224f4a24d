//! A recorded hand: when it grabs what, where it goes, and when it lets go.
//!
//! What a user did with a mouse or a haptic device, written down as a path, so that
//! an interactive scene runs the same way every time.

use fracas_core::FragmentId;
use fracas_rapier::{Coupling, HandId, ObjectId, PieceId, World};
use glam::Vec3;
use parry3d::math::{Pose, Rotation};

/// One grab, from taking hold to letting go.
#[derive(Clone, Debug)]
pub struct Grab {
    /// What is grabbed, while it is whole.
    pub object: ObjectId,
    /// Where it is grabbed, in its own frame.
    pub grip: Vec3,
    /// Seconds at which the hand takes hold.
    pub start: f32,
    /// Where the hand is so many seconds after it took hold; straight in between. It
    /// lets go at the last.
    pub path: Vec<(f32, Vec3)>,
    /// How strong the hand is.
    pub coupling: Coupling,
}

impl Grab {
    /// Seconds at which the hand lets go.
    #[must_use]
    pub fn end(&self) -> f32 {
        self.start + self.path.last().map_or(0.0, |p| p.0)
    }

    /// Where the hand is `at` seconds after it took hold.
    fn place(&self, at: f32, from: Vec3) -> Vec3 {
        let mut last = (0.0, from);
        for &(time, place) in &self.path {
            if at < time {
                let share = (at - last.0) / (time - last.0).max(1e-6);
                return last.1.lerp(place, share.clamp(0.0, 1.0));
            }
            last = (time, place);
        }
        last.1
    }
}

/// A grab as it is replayed.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    pub(super) grab: Grab,
    held: Option<(HandId, Vec3)>,
}

impl Replay {
    pub(super) fn new(grab: Grab) -> Self {
        Self { grab, held: None }
    }

    /// The steps in which the hand takes hold and lets go.
    fn span(&self, world: &World) -> (u64, u64) {
        let step = world.dt();
        let number = |seconds: f32| libm::roundf(seconds / step) as u64;
        (number(self.grab.start), number(self.grab.end()))
    }

    /// Whether the hand does something now or later.
    pub(super) fn is_due(&self, world: &World) -> bool {
        self.held.is_some() || world.steps() <= self.span(world).0
    }

    /// Does what the hand did in the step that begins now.
    pub(super) fn step(&mut self, world: &mut World) {
        let step = world.dt();
        let (first, last) = self.span(world);
        let now = world.steps();
        if self.held.is_none() && now == first {
            self.take_hold(world);
        }
        let Some((hand, from)) = self.held else {
            return;
        };
        if now < last {
            let at = (now + 1 - first.min(now)) as f32 * step;
            let place = self.grab.place(at, from);
            world.move_hand(hand, Pose::from_parts(place, Rotation::IDENTITY));
        } else {
            world.release(hand);
            self.held = None;
        }
    }

    fn take_hold(&mut self, world: &mut World) {
        let piece = PieceId {
            object: self.grab.object,
            fragment: FragmentId(0),
        };
        let Some(pose) = world.pose(piece) else {
            return;
        };
        let at = pose * self.grab.grip;
        self.held = world
            .grab(piece, at, self.grab.coupling)
            .map(|hand| (hand, at));
    }

    /// The hand, while it holds something.
    pub(super) fn holds(&self) -> Option<HandId> {
        self.held.map(|(hand, _)| hand)
    }
}
