//! What breaks gives way.
//!
//! The engine solves a step with whole bodies: a ball is stopped by a pane as if the pane
//! could not break, and the pane takes the ball's whole impulse. If the body breaks by it,
//! that step never happened for the bodies that the break concerns ([`super::concerned`]): they
//! go back to where they were before it, the fragments take the body's place, and their step is
//! made again, in a copy of the engine's sets ([`crate::world`]). What the second solution
//! takes from the ball is what it takes to move the pieces in its way.
//!
//! Breaking itself takes the energy of the cracks. It is taken by the impulses of the first
//! solution, scaled down: with P and L the impulse and its moment on each body,
//! `dE(s) = s Σ (v . P + w . L) + s²/2 Σ (P²/m + L . I⁻¹ L)`, and s is the least that makes
//! `dE = -E`; where the impact has less energy than that, the s that takes all it can, and
//! never more than 1. Both bodies of a contact get the same impulse at the same point, with
//! opposite signs, so momentum and angular momentum stay as they are to rounding.
//!
//! The second solution has more to find out than the first: the ball meets piece after
//! piece. Where it goes farther than its own width in a step, the step is made again in
//! parts, up to [`MOST_PARTS`]; measured on the pane, parts of a width each are what a
//! thousand steps a second give, and one long step drags the whole pane along.
//!
//! Pieces that were born in the step do not break again in it: the impact has made of the
//! body what it made of it, and is not counted twice. What else the second solution
//! hits goes on whole, and is decided in the next step. So a cascade costs a bounded time.

use std::collections::BTreeSet;

use glam::{DVec3, Vec3};
use parry3d::math::Pose;
use rapier3d::prelude::{RigidBody, RigidBodyHandle};

use super::approach::BodyKey;
use super::loads::pushing_points;
use super::split::Break;
use super::{Breakables, Engine, PieceId};

/// Parts of a step that is made again, at most.
const MOST_PARTS: u32 = 4;

/// Impulse and its moment about the centre of mass of one body.
struct Push {
    body: RigidBodyHandle,
    impulse: Vec3,
    moment: Vec3,
}

/// How a step is made again.
#[derive(Debug)]
pub(crate) struct Redo {
    /// Number of parts.
    pub(crate) parts: u32,
    /// The dynamic bodies whose motion it computes again.
    pub(crate) bodies: BTreeSet<BodyKey>,
    /// From where to where the kinematic bodies go in the whole step.
    pub(crate) kinematic_paths: Vec<(RigidBodyHandle, Pose, Pose)>,
}

impl Redo {
    /// Whether the redo computes this body's motion again.
    pub(crate) fn concerns(&self, body: RigidBodyHandle) -> bool {
        self.bodies.contains(&body.into_raw_parts())
    }

    /// Adds pieces that take the place of a broken body.
    pub(super) fn insert_born(&mut self, born: &[PieceId], breakables: &Breakables) {
        let bodies = born.iter().filter_map(|&piece| breakables.body(piece));
        self.bodies
            .extend(bodies.map(RigidBodyHandle::into_raw_parts));
    }
}

impl Breakables {
    /// Takes the step back for breaks that it caused, before they are made. Returns how it is
    /// to be made again.
    pub(super) fn take_step_back(
        &mut self,
        breaks: &[Break],
        dt: f32,
        engine: &mut Engine<'_>,
    ) -> Redo {
        let bodies = self.concerned_by(breaks, dt, engine);
        let kinematic_paths = self.approach.kinematic_paths(engine.bodies);
        self.approach.restore(&bodies, engine.bodies);
        let mut parts = 1;
        for broken in breaks.iter().filter(|b| b.of_this_step) {
            let pushes = self.pushes_on(broken, engine);
            parts = parts.max(self.parts_for(broken, &pushes, dt, engine));
            pay(&pushes, broken.stats.spent, engine);
        }
        Redo {
            parts,
            bodies,
            kinematic_paths,
        }
    }

    /// In how many parts a step shows what met the body piece by piece: no body goes
    /// farther than its own width in one.
    fn parts_for(&self, broken: &Break, pushes: &[Push], dt: f32, engine: &Engine<'_>) -> u32 {
        let Some(own) = self.piece(broken.piece) else {
            return 1;
        };
        let velocity = |body: &RigidBody, p: Vec3| {
            body.linvel() + body.angvel().cross(p - body.center_of_mass())
        };
        let mut parts = 1.0_f32;
        for push in pushes.iter().filter(|p| p.body != own.body) {
            let (body, hit) = (&engine.bodies[push.body], &engine.bodies[own.body]);
            let way = (body.linvel() - velocity(hit, body.center_of_mass())).length() * dt;
            let width = |body: &RigidBody| {
                let boxes = body.colliders().iter().filter_map(|&c| {
                    let sphere = engine
                        .colliders
                        .get(c)?
                        .shape()
                        .compute_local_bounding_sphere();
                    Some(2.0 * sphere.radius())
                });
                boxes.fold(0.0, f32::max)
            };
            let narrow = width(body).min(width(hit));
            if narrow > 0.0 {
                parts = parts.max(way / narrow);
            }
        }
        (parts.min(MOST_PARTS as f32) - 1e-3).ceil().max(1.0) as u32
    }

    /// What the first solution did to a body that breaks and to those that it met.
    fn pushes_on(&self, broken: &Break, engine: &Engine<'_>) -> Vec<Push> {
        let mut pushes: Vec<Push> = Vec::new();
        let Some(piece) = self.piece(broken.piece) else {
            return pushes;
        };
        let mut add = |handle: RigidBodyHandle, point: Vec3, impulse: Vec3| {
            let Some(body) = engine.bodies.get(handle).filter(|b| b.is_dynamic()) else {
                return;
            };
            let moment = (point - body.center_of_mass()).cross(impulse);
            match pushes.iter_mut().find(|p| p.body == handle) {
                Some(push) => {
                    push.impulse += impulse;
                    push.moment += moment;
                }
                None => pushes.push(Push {
                    body: handle,
                    impulse,
                    moment,
                }),
            }
        };
        for pair in engine.narrow_phase.contact_pairs_with(piece.collider) {
            let Some(rigid) = pair.rigid() else { continue };
            let is_first = pair.collider1 == piece.collider;
            let other = if is_first {
                pair.collider2
            } else {
                pair.collider1
            };
            let other = engine.colliders.get(other).and_then(|c| c.parent());
            let Some(own) = engine.bodies.get(piece.body) else {
                continue;
            };
            for manifold in rigid.solver_manifolds() {
                // It looks from 1 to 2; the body is pushed away.
                let normal = if is_first {
                    -manifold.data.normal
                } else {
                    manifold.data.normal
                };
                for point in pushing_points(manifold) {
                    let local = if is_first {
                        point.local_p1
                    } else {
                        point.local_p2
                    };
                    let at = *own.position() * local;
                    add(piece.body, at, normal * point.data.impulse);
                    if let Some(other) = other {
                        add(other, at, normal * -point.data.impulse);
                    }
                }
            }
        }
        pushes
    }
}

/// Takes an energy (J) off the bodies by what pushed them.
fn pay(pushes: &[Push], energy: f64, engine: &mut Engine<'_>) {
    if energy.is_nan() || energy <= 0.0 {
        return;
    }
    let turned = |body: &RigidBody, moment: Vec3| {
        body.mass_properties().effective_world_inv_inertia * moment
    };
    let (mut work, mut inertia) = (0.0, 0.0);
    for push in pushes {
        let body = &engine.bodies[push.body];
        let dot = |a: Vec3, b: Vec3| a.as_dvec3().dot(b.as_dvec3());
        work += dot(body.linvel(), push.impulse) + dot(body.angvel(), push.moment);
        inertia += push.impulse.as_dvec3().length_squared() / f64::from(body.mass().max(1e-12))
            + dot(push.moment, turned(body, push.moment));
    }
    let Some(share) = share_for(energy, work, inertia) else {
        return;
    };
    for push in pushes {
        let body = &mut engine.bodies[push.body];
        let slower = push.impulse.as_dvec3() * share / f64::from(body.mass().max(1e-12));
        let velocity: DVec3 = body.linvel().as_dvec3() + slower;
        let spin = body.angvel() + turned(body, push.moment) * share as f32;
        body.set_linvel(velocity.as_vec3(), true);
        body.set_angvel(spin, true);
    }
}

/// The least share s of impulses with `work s + inertia s²/2 = -energy`, or what takes most.
fn share_for(energy: f64, work: f64, inertia: f64) -> Option<f64> {
    // Bodies that part have nothing to give.
    if work.is_nan() || work >= 0.0 || inertia <= 0.0 {
        return None;
    }
    let rest = work * work - 2.0 * inertia * energy;
    let share = if rest > 0.0 {
        // Not -work - sqrt: that cancels where little is taken.
        2.0 * energy / (-work + rest.sqrt())
    } else {
        -work / inertia
    };
    Some(share.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::share_for;

    #[test]
    fn the_energy_asked_for_is_taken_and_never_more_than_there_is() {
        // Two kilograms at 3 m/s against a wall, stopped by 6 N s: 9 J.
        let (work, inertia) = (-18.0, 18.0);
        let lost = |s: f64| -(work * s + 0.5 * inertia * s * s);
        for energy in [1e-6, 0.1, 4.0, 8.9] {
            let share = share_for(energy, work, inertia).unwrap();
            assert!((lost(share) / energy - 1.0).abs() < 1e-6, "{energy}");
        }
        assert_eq!(share_for(20.0, work, inertia), Some(1.0));
        // An impact that throws back: no more than stops.
        let share = share_for(20.0, -18.0, 36.0).unwrap();
        assert!((share - 0.5).abs() < 1e-12);
        assert_eq!(share_for(1.0, 2.0, 3.0), None);
        assert_eq!(share_for(1.0, -1.0, 0.0), None);
    }
}
