//! How far bodies look ahead in the coming step.
//!
//! Every piece looks for contacts by its own motion, up to some of its own radii
//! ([`super::BreakSettings::look_ahead`]). What moves farther than that in a step could pass
//! through another moving body: the engine sweeps fast bodies against fixed ones only, and
//! those marked for it (`ccd_enabled`) against all that are not marked so. Pieces are not
//! marked, so that a marked ball is swept against every piece; and two bodies of which one
//! is a piece look farther ahead when their bounding balls meet within the step, so far
//! that their contact query sees the gap between them.
//!
//! Which pairs: boxes of the swept balls, sorted along x.
//!
//! It is done after each step for the next one, when the engine has just made its boxes, and
//! again before it, for bodies that somebody has thrown in between.

use glam::Vec3;
use parry3d::shape::Shape;
use rapier3d::prelude::{RigidBodyHandle, RigidBodySet};

use super::Breakables;

/// A body in motion.
struct Moving {
    handle: RigidBodyHandle,
    centre: Vec3,
    radius: f32,
    /// Over the step.
    way: Vec3,
    /// How far it looks without further reason.
    usual: f32,
    /// How far it is to look.
    looks: f32,
}

impl Moving {
    fn along_x(&self) -> (f32, f32) {
        let (a, b) = (self.centre.x, self.centre.x + self.way.x);
        (a.min(b) - self.radius, a.max(b) + self.radius)
    }

    fn is_fast(&self) -> bool {
        self.way.length_squared() > self.usual * self.usual
    }
}

impl Breakables {
    /// Sets how far pieces look in a step of `dt` seconds from now. Done twice, it does
    /// nothing more.
    pub(super) fn look_ahead(&self, dt: f32, bodies: &mut RigidBodySet) {
        if self.settings.look_ahead <= 0.0 {
            return;
        }
        let mut moving: Vec<Moving> = Vec::new();
        for object in &self.objects {
            for piece in object.pieces.values() {
                let Some(body) = bodies.get(piece.body) else {
                    continue;
                };
                let usual = self.settings.look_ahead * piece.shape.reach();
                let may_pass = !body.is_fixed() && object.options.continuous;
                if !may_pass && body.soft_ccd_prediction() == usual {
                    continue;
                }
                let ball = piece.shape.compute_local_bounding_sphere();
                moving.push(Moving {
                    handle: piece.body,
                    centre: *body.position() * ball.center(),
                    radius: ball.radius(),
                    way: if may_pass {
                        body.linvel() * dt
                    } else {
                        Vec3::ZERO
                    },
                    usual,
                    looks: usual,
                });
            }
        }
        if moving.iter().any(Moving::is_fast) {
            widen(&mut moving);
        }
        for piece in &moving {
            // Bodies for which nothing changes are not touched: the engine would look at
            // them anew.
            let looked = bodies.get(piece.handle).map(|b| b.soft_ccd_prediction());
            if looked == Some(piece.looks) {
                continue;
            }
            let body = &mut bodies[piece.handle];
            body.set_soft_ccd_prediction(piece.looks);
            if piece.looks > piece.usual {
                // The engine has made the boxes of the coming step already, without this
                // look. It makes them anew for a body that was put somewhere else, so it is
                // put away and back.
                let pose = *body.position();
                let mut away = pose;
                away.translation.x += 1.0 + pose.translation.x.abs();
                body.set_position(away, false);
                body.set_position(pose, false);
            }
        }
    }
}

/// Makes bodies that will meet see each other.
fn widen(moving: &mut [Moving]) {
    let by_start = |m: &Moving| m.along_x().0;
    moving.sort_unstable_by(|a, b| {
        let order = by_start(a).total_cmp(&by_start(b));
        order.then(a.handle.into_raw_parts().cmp(&b.handle.into_raw_parts()))
    });
    for i in 0..moving.len() {
        let (before, after) = moving.split_at_mut(i + 1);
        let a = &mut before[i];
        let end = a.along_x().1;
        for b in after {
            if b.along_x().0 > end {
                break;
            }
            if !(a.is_fast() || b.is_fast()) {
                continue;
            }
            let Some(gap) = gap_if_they_meet(a, b) else {
                continue;
            };
            // Each looks by its share of the motion, so that together they see the gap.
            let (own, other) = (a.way.length(), b.way.length());
            let share = own / (own + other).max(f32::MIN_POSITIVE);
            a.looks = a.looks.max((1.1 * gap * share).min(own));
            b.looks = b.looks.max((1.1 * gap * (1.0 - share)).min(other));
        }
    }
}

/// How far apart two balls are now, if they touch within the step.
fn gap_if_they_meet(a: &Moving, b: &Moving) -> Option<f32> {
    let (apart, way) = (b.centre - a.centre, b.way - a.way);
    let square = way.length_squared();
    let when = if square > 0.0 {
        (-apart.dot(way) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let touch = a.radius + b.radius;
    let nearest = (apart + way * when).length_squared();
    // What lies in the bounding balls' gap is not the pieces' own: look by all of it.
    (nearest <= touch * touch).then(|| apart.length())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(id: u32, x: f32, way: f32) -> Moving {
        Moving {
            handle: RigidBodyHandle::from_raw_parts(id, 0),
            centre: Vec3::new(x, 0.0, 0.0),
            radius: 0.1,
            way: Vec3::X * way,
            usual: 0.1,
            looks: 0.1,
        }
    }

    #[test]
    fn what_will_meet_looks_far_enough_and_nothing_else_does() {
        let mut meeting = [ball(0, 0.0, 2.0), ball(1, 3.0, -2.0), ball(2, -5.0, 0.05)];
        widen(&mut meeting);
        let looks = |id: u32, all: &[Moving]| {
            let found = all.iter().find(|m| m.handle.into_raw_parts().0 == id);
            found.unwrap().looks
        };
        assert!(looks(0, &meeting) + looks(1, &meeting) >= 2.8);
        assert_eq!(looks(2, &meeting), 0.1);
        let mut parting = [ball(0, 0.0, -2.0), ball(1, 3.0, 2.0)];
        widen(&mut parting);
        assert!(parting.iter().all(|m| m.looks == 0.1));
        let mut missing = [ball(0, 0.0, 2.0), ball(1, 3.0, -2.0)];
        missing[1].centre.y = 0.5;
        widen(&mut missing);
        assert!(missing.iter().all(|m| m.looks == 0.1));
    }
}
