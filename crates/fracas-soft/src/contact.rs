//! What a push does: it stops what closes, and moves apart what overlaps.
//!
//! Penalty contact [Marchal 2004, section 5] pushes by `stiffness * measure`, whatever the
//! mass of what it meets. Overlaps here are not paid for by work (at 5 m/s a body is up to 42 mm
//! deep before it is seen, a tear changes the field from one step to the next), so what that force
//! stores comes out as motion that was never put in: a crumb left at depth / substep, up to
//! 3 m/s, and a pile never came to rest. So the two halves of the force are parted:
//!
//! 1. **impulses** take the speed at which two things close, at most all of it: the penalty
//!    force, integrated implicitly, bounded by what stops the closing; with Coulomb friction;
//! 2. **shifts** take out what is left of the depth by moving nodes without giving them speed:
//!    a share of the depth in each substep, no faster than [`FASTEST`].
//!
//! **Guarantee.** No impulse adds kinetic energy. One of size J along n, between things that
//! part at u, adds `J (u + u') / 2`, and `u <= u' <= 0`; friction takes a share of the sliding
//! speed. A shift changes no velocity; the strain that it makes and the height that it lifts by
//! are all that it adds. Both conserve momentum.

use fracas_core::tet_distance::Push;
use glam::Vec3;

use crate::body::SoftBody;
use crate::cloth::Cloth;

/// m/s: below this sliding velocity friction fades.
const CREEP: f32 = 0.05;

/// m/s: the fastest that things are moved apart.
const FASTEST: f32 = 1.5;

/// The share of the depth that is taken out in a substep.
const SHARE: f32 = 0.2;

/// m: what may stay of an overlap, so that things at rest keep touching.
const SLOP: f32 = 1e-3;

/// What contact goes by in a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// s: the substep.
    pub h: f32,
    /// As [`crate::SoftWorld::stiffness`].
    pub stiffness: f32,
    /// Coulomb coefficient.
    pub friction: f32,
}

/// The nodes of what is pushed, or of what pushes.
struct Side<'a> {
    positions: &'a mut [Vec3],
    /// Positions when overlaps were looked for.
    seen: &'a [Vec3],
    velocities: &'a mut [Vec3],
    shifts: &'a mut [Vec3],
    inverse_masses: &'a [f32],
}

impl<'a> Side<'a> {
    fn of_body(body: &'a mut SoftBody) -> Self {
        Self {
            positions: &mut body.positions,
            seen: &body.seen,
            velocities: &mut body.velocities,
            shifts: &mut body.shifts,
            inverse_masses: &body.inverse_masses,
        }
    }

    fn of_cloth(cloth: &'a mut Cloth) -> Self {
        Self {
            positions: &mut cloth.positions,
            seen: &cloth.seen,
            velocities: &mut cloth.velocities,
            shifts: &mut cloth.shifts,
            inverse_masses: &cloth.inverse_masses,
        }
    }
}

/// How the point of a push on one side moves.
#[derive(Clone, Copy, Default)]
struct Motion {
    velocity: Vec3,
    shift: Vec3,
    /// Since overlaps were looked for.
    way: Vec3,
    /// Speed that an impulse of one gives it.
    give: f32,
}

impl Motion {
    fn add(&mut self, side: &Side, node: u32, weight: f32) {
        let n = node as usize;
        self.velocity += weight * side.velocities[n];
        self.shift += weight * side.shifts[n];
        self.way += weight * (side.positions[n] - side.seen[n]);
        self.give += weight * weight * side.inverse_masses[n];
    }
}

impl Contact {
    /// Applies a push to the nodes that carry it.
    pub fn apply(self, push: &Push, bodies: &mut [SoftBody], cloth: Option<&mut Cloth>) {
        let tet = push.tet;
        let nodes = bodies[tet.object as usize].tets[tet.tet as usize];
        let mut pusher = Motion::default();
        let side = Side::of_body(&mut bodies[tet.object as usize]);
        for (n, w) in nodes.into_iter().zip(push.weights) {
            pusher.add(&side, n, w);
        }
        let mut pushed = Motion::default();
        let mut cloth = cloth.filter(|_| push.object == Push::SHEET);
        let side = match &mut cloth {
            Some(cloth) => Side::of_cloth(cloth),
            None => Side::of_body(&mut bodies[push.object as usize]),
        };
        for (n, w) in push.pushed_nodes() {
            pushed.add(&side, n, w);
        }
        let give = pusher.give + pushed.give;
        let depth = push.depth - (pushed.way - pusher.way).dot(push.normal);
        let deepening = depth - push.depth;
        let measure = push.measure + push.slope * deepening;
        let impulse = self.impulse(
            push,
            [measure, depth],
            pushed.velocity - pusher.velocity,
            give,
        );
        let shift = self.shift(push, depth, pushed.shift - pusher.shift, give);
        if give == 0.0 || !impulse.is_finite() || !shift.is_finite() {
            return;
        }
        let change = |side: Side, n: u32, w: f32| {
            let n = n as usize;
            let share = w * side.inverse_masses[n];
            side.velocities[n] += share * impulse;
            side.shifts[n] += share * shift;
        };
        for (n, w) in nodes.into_iter().zip(push.weights) {
            change(Side::of_body(&mut bodies[tet.object as usize]), n, -w);
        }
        for (n, w) in push.pushed_nodes() {
            match &mut cloth {
                Some(cloth) => change(Side::of_cloth(cloth), n, w),
                None => change(Side::of_body(&mut bodies[push.object as usize]), n, w),
            }
        }
    }

    /// What stops two things that part with `velocity`, as far as the penalty reaches.
    fn impulse(self, push: &Push, [measure, depth]: [f32; 2], velocity: Vec3, give: f32) -> Vec3 {
        let parting = velocity.dot(push.normal);
        // What has parted since it was seen may close again.
        let closing = (depth.min(0.0) / self.h - parting).max(0.0);
        // The impulse J with J = h k (measure - h slope (parting + J give)).
        let ease = self.h * push.slope;
        let strength = self.h * self.stiffness;
        let penalty = strength * (measure - ease * parting) / (1.0 + strength * ease * give);
        let normal = penalty.max(0.0).min(closing / give);
        let sliding = velocity - parting * push.normal;
        let speed = sliding.length();
        // Friction opposes sliding and cannot reverse it.
        let drag = (self.friction * normal / (speed + CREEP)).min(1.0 / give);
        normal * push.normal - drag * sliding
    }

    /// What is missing of the shift that takes a share of the depth out.
    fn shift(self, push: &Push, depth: f32, shift: Vec3, give: f32) -> Vec3 {
        let wanted = (SHARE * (depth - SLOP)).min(FASTEST * self.h);
        let missing = (wanted - shift.dot(push.normal).max(0.0)).max(0.0);
        (missing / give) * push.normal
    }
}

#[cfg(test)]
mod tests;
