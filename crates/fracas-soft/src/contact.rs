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

use fracas_tet_distance::{Push, Pushed};
use glam::{Vec3, Vec4};
use wide::f32x4;

use crate::lanes::{Vectors, larger, smaller, turned, turned_back};

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

/// A node that pushes act on, in the substep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    /// With the inverse mass.
    pub velocity: Vec4,
    pub shift: Vec4,
    /// Since overlaps were looked for.
    pub way: Vec4,
}

/// A push, or the two of a segment, with the nodes that carry it: the four that push, and one or
/// two that are pushed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub nodes: [u32; 6],
    normal: Vec3,
    ends: [End; 2],
    /// Velocity of the second for an impulse of one at the first.
    between: f32,
}

/// One end of a segment, or a point.
#[derive(Clone, Copy, Debug)]
struct End {
    weights: [f32; 6],
    depth: f32,
    measure: f32,
    slope: f32,
    /// Speed that an impulse of one parts the two with.
    give: f32,
}

/// Carried by nothing: pushes nothing.
const NO_END: End = End {
    weights: [0.0; 6],
    depth: 0.0,
    measure: 0.0,
    slope: 0.0,
    give: 1.0,
};

/// Whether two pushes are those at the ends of one segment.
pub(crate) fn are_of_a_segment(push: &Push, other: &Push) -> bool {
    let edge = |push: &Push| match push.pushed {
        Pushed::Edge(ends, _) => Some((push.tet, push.object, ends)),
        Pushed::Node(_) => None,
    };
    edge(push).is_some() && edge(push) == edge(other)
}

impl End {
    /// A push on nodes of these inverse masses; none if nothing can move.
    fn of(push: &Push, inverse_masses: [f32; 6]) -> Option<Self> {
        let mut weights = [0.0; 6];
        for (weight, w) in weights.iter_mut().zip(push.weights) {
            *weight = -w;
        }
        for (weight, (_, w)) in weights[4..].iter_mut().zip(push.pushed_nodes()) {
            *weight = w;
        }
        let gives = weights.iter().zip(inverse_masses).map(|(w, m)| w * m * w);
        let give: f32 = gives.sum();
        (give > 0.0 && give.is_finite()).then_some(Self {
            weights,
            depth: push.depth,
            measure: push.measure,
            slope: push.slope,
            give,
        })
    }
}

impl Link {
    /// What is between nodes of these inverse masses, if there is anything: a push, or the two of
    /// a segment.
    pub fn of(
        [push, other]: [Option<&Push>; 2],
        nodes: [u32; 6],
        inverse_masses: [f32; 6],
    ) -> Option<Self> {
        let mut ends = [
            push.and_then(|push| End::of(push, inverse_masses)),
            other.and_then(|push| End::of(push, inverse_masses)),
        ];
        if ends[0].is_none() {
            ends.swap(0, 1);
        }
        let first = ends[0]?;
        let second = ends[1].unwrap_or(NO_END);
        let both = (0..6).map(|k| second.weights[k] * inverse_masses[k] * first.weights[k]);
        Some(Self {
            nodes,
            normal: push.or(other)?.normal,
            ends: [first, second],
            between: both.sum(),
        })
    }
}

/// Four links that share no node that moves, side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkRow {
    nodes: [[u32; 4]; 6],
    /// By axes.
    normals: [[f32; 4]; 3],
    ends: [EndRow; 2],
    between: [f32; 4],
}

#[derive(Clone, Copy, Debug)]
struct EndRow {
    weights: [[f32; 4]; 6],
    depths: [f32; 4],
    measures: [f32; 4],
    slopes: [f32; 4],
    gives: [f32; 4],
}

impl LinkRow {
    /// Links with the nodes that stand for theirs. Empty places are of a node that never moves:
    /// `still`.
    pub fn of(links: [Option<(&Link, [u32; 6])>; 4], still: u32) -> Self {
        // Carried by nothing: pushes nothing.
        let none = EndRow {
            weights: [[0.0; 4]; 6],
            depths: [0.0; 4],
            measures: [0.0; 4],
            slopes: [0.0; 4],
            gives: [1.0; 4],
        };
        let mut row = Self {
            nodes: [[still; 4]; 6],
            normals: [[0.0; 4]; 3],
            ends: [none; 2],
            between: [0.0; 4],
        };
        for (lane, link) in links.into_iter().enumerate() {
            let Some((link, nodes)) = link else {
                continue;
            };
            for k in 0..6 {
                row.nodes[k][lane] = nodes[k];
            }
            for axis in 0..3 {
                row.normals[axis][lane] = link.normal[axis];
            }
            row.between[lane] = link.between;
            for (row, end) in row.ends.iter_mut().zip(&link.ends) {
                for k in 0..6 {
                    row.weights[k][lane] = end.weights[k];
                }
                row.depths[lane] = end.depth;
                row.measures[lane] = end.measure;
                row.slopes[lane] = end.slope;
                row.gives[lane] = end.give;
            }
        }
        row
    }
}

/// How what a push parts moves: its velocity, and how far it has come along the normal.
#[derive(Clone, Copy)]
struct Parting {
    velocity: Vectors,
    shift: f32x4,
    way: f32x4,
}

impl Contact {
    /// Applies four links to their nodes. Those of a segment are read once for both its ends: the
    /// second sees what the first has done.
    #[inline]
    pub fn push(self, row: &LinkRow, nodes: &mut [Node]) {
        let normals = Vectors {
            x: row.normals[0].into(),
            y: row.normals[1].into(),
            z: row.normals[2].into(),
        };
        let none = Parting {
            velocity: Vectors::ZERO,
            shift: f32x4::ZERO,
            way: f32x4::ZERO,
        };
        let mut seen = [none; 2];
        let mut read = [(Vectors::ZERO, f32x4::ZERO, Vectors::ZERO); 6];
        for k in 0..6 {
            let [a, b, c, d] = row.nodes[k];
            let [a, b, c, d] = [
                &nodes[a as usize],
                &nodes[b as usize],
                &nodes[c as usize],
                &nodes[d as usize],
            ];
            let (velocity, inverse_mass) = turned([a.velocity, b.velocity, c.velocity, d.velocity]);
            let (shift, _) = turned([a.shift, b.shift, c.shift, d.shift]);
            let (way, _) = turned([a.way, b.way, c.way, d.way]);
            read[k] = (velocity, inverse_mass, shift);
            let (shift, way) = (shift.dot(normals), way.dot(normals));
            for (seen, end) in seen.iter_mut().zip(&row.ends) {
                let weights = f32x4::new(end.weights[k]);
                seen.velocity = seen.velocity.moved(weights, velocity);
                seen.shift += weights * shift;
                seen.way += weights * way;
            }
        }
        let one = self.end(normals, &row.ends[0], seen[0]);
        let between = f32x4::new(row.between);
        seen[1].velocity = seen[1].velocity.moved(between, one.0);
        seen[1].shift += between * one.1;
        let two = self.end(normals, &row.ends[1], seen[1]);
        for k in 0..6 {
            let (velocity, inverse_mass, shift) = read[k];
            let a = f32x4::new(row.ends[0].weights[k]) * inverse_mass;
            let b = f32x4::new(row.ends[1].weights[k]) * inverse_mass;
            let velocity = velocity.moved(a, one.0).moved(b, two.0);
            let shift = shift.moved(a * one.1 + b * two.1, normals);
            let velocities = turned_back(velocity, inverse_mass);
            let shifts = turned_back(shift, f32x4::ZERO);
            for lane in 0..4 {
                let node = &mut nodes[row.nodes[k][lane] as usize];
                (node.velocity, node.shift) = (velocities[lane], shifts[lane]);
            }
        }
    }

    /// The impulses of four ends and how far along the normal their shifts are, given how what
    /// they part moves.
    #[inline]
    fn end(self, normals: Vectors, end: &EndRow, seen: Parting) -> (Vectors, f32x4) {
        let deepening = -seen.way;
        let depths = f32x4::new(end.depths) + deepening;
        let measures = f32x4::new(end.measures) + f32x4::new(end.slopes) * deepening;
        let impulse = self.impulse((end, normals), [measures, depths], seen.velocity);
        let shift = self.shift(end, depths, seen.shift);
        // What is no number pushes nothing.
        let sum = |v: Vectors| v.x + v.y + v.z;
        let sums = sum(seen.velocity) + seen.shift + measures + sum(impulse) + shift;
        let is_finite = sums.is_finite();
        if is_finite.all() {
            return (impulse, shift);
        }
        let finite = |x| is_finite.bitselect(x, f32x4::ZERO);
        let impulse = Vectors {
            x: finite(impulse.x),
            y: finite(impulse.y),
            z: finite(impulse.z),
        };
        (impulse, finite(shift))
    }

    /// What stops two things that part with `velocity`, as far as the penalty reaches.
    #[inline]
    fn impulse(
        self,
        (end, normals): (&EndRow, Vectors),
        [measures, depths]: [f32x4; 2],
        velocity: Vectors,
    ) -> Vectors {
        let (slopes, gives) = (f32x4::new(end.slopes), f32x4::new(end.gives));
        let parting = velocity.dot(normals);
        // What has parted since it was seen may close again.
        let room = smaller(depths, f32x4::ZERO) / self.h;
        let closing = larger(room - parting, f32x4::ZERO);
        // The impulse J with J = h k (measure - h slope (parting + J give)).
        let ease = self.h * slopes;
        let strength = self.h * self.stiffness;
        let penalty =
            strength * (measures - ease * parting) / (f32x4::ONE + strength * ease * gives);
        let along = smaller(larger(penalty, f32x4::ZERO), closing / gives);
        let sliding = velocity.moved(-parting, normals);
        let speed = sliding.dot(sliding).sqrt();
        // Friction opposes sliding and cannot reverse it.
        let drag = self.friction * along / (speed + f32x4::splat(CREEP));
        let drag = smaller(drag, f32x4::ONE / gives);
        normals.times(along).moved(-drag, sliding)
    }

    /// What is missing of the shift that takes a share of the depth out.
    #[inline]
    fn shift(self, end: &EndRow, depths: f32x4, shift: f32x4) -> f32x4 {
        let wanted = SHARE * (depths - f32x4::splat(SLOP));
        let wanted = smaller(wanted, f32x4::splat(FASTEST * self.h));
        let missing = larger(wanted - larger(shift, f32x4::ZERO), f32x4::ZERO);
        missing / f32x4::new(end.gives)
    }
}

#[cfg(test)]
mod tests;
