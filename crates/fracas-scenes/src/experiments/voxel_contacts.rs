//! How good are contacts of interrupted voxel trees? Figs. 7 and 8 of
//! [Dingliana 2004], repeated.
//!
//! Steps: draw a ball and a ball or block that touch, of which the true contact is
//! known in closed form -> detect with trees clamped to each level -> reduce by
//! simple and by weighted averaging -> compare direction and point (Fig. 7), and
//! the velocities that one impulse there gives (Fig. 8).

use fracas_core::Pose;
use fracas_core::testing::{Rng, box_grid};
use fracas_voxel::unstable::overlap_share;
use fracas_voxel::{
    Averaging, Budget, CubePair, Detection, Grouping, Primitive, VoxTree, VoxelGrid, primitive,
    reduce,
};
use glam::{Mat3, Vec3};

/// Mean errors at one level, for one way of averaging.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelErrors {
    /// Of the direction, in degrees (Fig. 7A).
    pub direction: f64,
    /// Of the point, in radii of the ball (Fig. 7A).
    pub point: f64,
    /// Of the size of the angular velocity, in radians per second (Fig. 8).
    pub angular_speed: f64,
    /// Of the angular velocity as a vector, in radians per second (not in the paper).
    pub angular_velocity: f64,
    /// Mean size of the angular velocity that was found, in radians per second.
    pub found_spin: f64,
    /// Of the size of the velocity, relative (Fig. 8).
    pub speed: f64,
    /// Of the direction of the velocity, in degrees (Fig. 8).
    pub velocity_direction: f64,
    /// Mean number of overlapping cubes.
    pub primitives: f64,
}

impl LevelErrors {
    /// Direction times point: the overall error of Fig. 7B.
    #[must_use]
    pub fn product(&self) -> f64 {
        self.direction * self.point
    }
}

/// Errors per level, coarsest first: simple and weighted.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactErrors {
    /// Collisions drawn.
    pub collisions: usize,
    /// By simple averaging (eq. 1-2).
    pub simple: Vec<LevelErrors>,
    /// By weighted averaging (eq. 9-10).
    pub weighted: Vec<LevelErrors>,
    /// The same with the exact overlap of eq. 4 in place of eq. 7, at the coarse
    /// levels, where cubes are few enough to be cut by each other.
    pub exact: Vec<LevelErrors>,
    /// By the square root of the weights: between the simple and the weighted average.
    pub root: Vec<LevelErrors>,
    /// Mean size of the true angular velocity: the error of answering "no spin".
    pub true_spin: f64,
}

/// Levels of the trees: the finest cube is 1/16 of the body.
const LEVELS: u32 = 5;

/// Levels at which eq. 4 is computed.
const EXACT_LEVELS: u32 = 3;

/// Draws `collisions` contacts and measures them at every level.
#[must_use]
pub fn contact_errors(collisions: usize, seed: u64) -> ContactErrors {
    let ball = Body::ball();
    let blocks = [
        Vec3::ONE,
        Vec3::new(1.0, 0.6, 0.5),
        Vec3::new(0.8, 0.8, 0.4),
    ]
    .map(|half| Body::block(half * 0.9));
    let mut rng = Rng(seed);
    let mut errors = ContactErrors {
        collisions,
        simple: vec![LevelErrors::default(); LEVELS as usize],
        weighted: vec![LevelErrors::default(); LEVELS as usize],
        exact: vec![LevelErrors::default(); EXACT_LEVELS as usize],
        root: vec![LevelErrors::default(); LEVELS as usize],
        true_spin: 0.0,
    };
    for i in 0..collisions {
        let other = if i % 4 == 0 {
            &ball
        } else {
            &blocks[i % 4 - 1]
        };
        let case = Case::draw(other, &mut rng);
        let (_, spin) = case.respond(case.normal, case.point);
        errors.true_spin += f64::from(spin.length()) / collisions as f64;
        let mut detection = Detection::default();
        for level in 0..LEVELS {
            detection.refine(
                &ball.tree,
                &other.tree,
                &case.b_to_a,
                &Budget {
                    level: Some(level),
                    ..Budget::default()
                },
            );
            let mut primitives: Vec<Primitive> = detection
                .pairs()
                .map(|p| primitive(&ball.tree, &other.tree, &case.b_to_a, p))
                .collect();
            for (averaging, sums) in [
                (Averaging::Simple, &mut errors.simple[level as usize]),
                (Averaging::Weighted, &mut errors.weighted[level as usize]),
            ] {
                case.measure(&mut primitives, averaging, collisions as f64, sums);
            }
            for primitive in &mut primitives {
                primitive.probability = primitive.probability.sqrt();
            }
            let sums = &mut errors.root[level as usize];
            case.measure(
                &mut primitives,
                Averaging::Weighted,
                collisions as f64,
                sums,
            );
            if let Some(sums) = errors.exact.get_mut(level as usize) {
                let pairs = detection.pairs();
                let mut exact: Vec<Primitive> = pairs
                    .map(|p| exact_primitive(&ball.tree, &other.tree, &case.b_to_a, p))
                    .collect();
                case.measure(&mut exact, Averaging::Weighted, collisions as f64, sums);
            }
        }
    }
    errors
}

/// A primitive weighted by the exact overlap K of eq. 4.
fn exact_primitive(a: &VoxTree, b: &VoxTree, b_to_a: &Pose, pair: &CubePair) -> Primitive {
    let (la, lb) = (
        &a.levels()[pair.a.0 as usize],
        &b.levels()[pair.b.0 as usize],
    );
    let (na, nb) = (&la.nodes[pair.a.1 as usize], &lb.nodes[pair.b.1 as usize]);
    let offset = b_to_a.point(nb.centre) - na.centre;
    let share = overlap_share(&b_to_a.rotation, offset, la.cell, lb.cell);
    let mut made = primitive(a, b, b_to_a, pair);
    made.probability = share as f32 * na.occupancy * nb.occupancy;
    made
}

/// A body with its tree and inertia (mass 1).
struct Body {
    tree: VoxTree,
    half: Option<Vec3>,
    inverse_inertia: Mat3,
}

impl Body {
    /// A ball of radius 1, as fine a polyhedron as the voxels can see.
    fn ball() -> Self {
        let (rings, sides) = (48_u32, 96_u32);
        let mut positions = vec![Vec3::Z, -Vec3::Z];
        for r in 1..rings {
            let polar = std::f32::consts::PI * r as f32 / rings as f32;
            for s in 0..sides {
                let turn = std::f32::consts::TAU * s as f32 / sides as f32;
                positions.push(Vec3::new(
                    polar.sin() * turn.cos(),
                    polar.sin() * turn.sin(),
                    polar.cos(),
                ));
            }
        }
        let at = |r: u32, s: u32| 2 + (r - 1) * sides + s % sides;
        let mut triangles = Vec::new();
        for s in 0..sides {
            triangles.push([0, at(1, s), at(1, s + 1)]);
            triangles.push([1, at(rings - 1, s + 1), at(rings - 1, s)]);
            for r in 1..rings - 1 {
                triangles.push([at(r, s), at(r + 1, s), at(r + 1, s + 1)]);
                triangles.push([at(r, s), at(r + 1, s + 1), at(r, s + 1)]);
            }
        }
        Self {
            tree: tree(&positions, &triangles, 1.0),
            half: None,
            inverse_inertia: Mat3::IDENTITY * 2.5,
        }
    }

    fn block(half: Vec3) -> Self {
        let mesh = box_grid([1, 1, 1], 2.0 * half);
        let positions: Vec<Vec3> = mesh.positions().iter().map(|p| *p - half).collect();
        let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        let s = half * half;
        let inertia = Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y) / 3.0;
        Self {
            tree: tree(&positions, &triangles, half.max_element()),
            half: Some(half),
            inverse_inertia: Mat3::from_diagonal(1.0 / inertia),
        }
    }
}

fn tree(positions: &[Vec3], triangles: &[[u32; 3]], radius: f32) -> VoxTree {
    // The grid keeps half a cell free on each side: 15 cells across make 16.
    let cell = 2.0 * radius / ((1 << (LEVELS - 1)) - 1) as f32;
    let grid =
        VoxelGrid::from_surface(positions, triangles, cell).expect("balls and boxes are closed");
    VoxTree::build(&grid, 2)
}

/// One collision: the ball is A, at the origin of its frame.
struct Case {
    b_to_a: Pose,
    normal: Vec3,
    point: Vec3,
    /// Velocity of A relative to B before the impulse.
    approach: Vec3,
    b_inverse_inertia: Mat3,
}

impl Case {
    fn draw(other: &Body, rng: &mut Rng) -> Self {
        // Where on B, and which way is out of it there, in B's frame.
        let (surface, out, radius) = match other.half {
            None => {
                let out = rng.direction();
                (out, out, 1.0)
            }
            Some(half) => {
                let axis = rng.below(3);
                let side = if rng.unit() < 0.5 { -1.0 } else { 1.0 };
                let mut surface = rng.in_box(-half * 0.9, half * 0.9);
                surface[axis] = side * half[axis];
                let mut out = Vec3::ZERO;
                out[axis] = side;
                (surface, out, half.max_element())
            }
        };
        let depth = rng.range(0.02, 0.1) * radius.min(1.0);
        // Balls meet in the middle of their overlap, ball and block likewise.
        let centre_a = surface + out * (1.0 - depth);
        let point = surface - out * (0.5 * depth);
        let rotation =
            Mat3::from_axis_angle(rng.direction(), rng.range(0.0, std::f32::consts::TAU));
        let b_to_a = Pose {
            rotation,
            translation: -(rotation * centre_a),
        };
        let normal = rotation * out;
        // Anything that approaches.
        let aside = rng.direction();
        let approach = (aside - normal * aside.dot(normal)) * 0.5 - normal * rng.range(0.5, 1.5);
        let b_inverse_inertia = rotation * other.inverse_inertia * rotation.transpose();
        Self {
            b_to_a,
            normal,
            point: b_to_a.point(point),
            approach,
            b_inverse_inertia,
        }
    }

    fn measure(
        &self,
        primitives: &mut [Primitive],
        averaging: Averaging,
        count: f64,
        sums: &mut LevelErrors,
    ) {
        let mut out = Vec::new();
        reduce(
            primitives,
            averaging,
            Grouping::Together,
            -self.b_to_a.translation,
            &mut out,
        );
        let contact = out
            .first()
            .expect("the bodies touch, and detection is conservative");
        let (v, w) = self.respond(self.normal, self.point);
        let (v_here, w_here) = self.respond(contact.normal, contact.point);
        sums.direction += degrees(self.normal, contact.normal) / count;
        sums.point += f64::from(self.point.distance(contact.point)) / count;
        sums.speed += relative(v.length(), v_here.length()) / count;
        sums.angular_speed += f64::from((w.length() - w_here.length()).abs()) / count;
        sums.angular_velocity += f64::from((w - w_here).length()) / count;
        sums.found_spin += f64::from(w_here.length()) / count;
        sums.velocity_direction += degrees(v, v_here) / count;
        sums.primitives += primitives.len() as f64 / count;
    }

    /// Velocity and spin of B after a frictionless impulse that restores half of
    /// the approach, in A's frame; A and B have mass 1. (The ball's own spin never
    /// changes by the true impulse, so B's is compared.)
    fn respond(&self, normal: Vec3, point: Vec3) -> (Vec3, Vec3) {
        let (arm_a, arm_b) = (point, point - self.b_to_a.translation);
        let (turn_a, turn_b) = (arm_a.cross(normal), arm_b.cross(normal));
        let inverse_mass =
            2.0 + turn_a.dot(2.5 * turn_a) + turn_b.dot(self.b_inverse_inertia * turn_b);
        let speed = self.approach.dot(normal).min(0.0);
        let impulse = -1.5 * speed / inverse_mass;
        // B, at rest before, takes the opposite impulse; the ball keeps the rest.
        (
            self.approach + normal * impulse,
            -(self.b_inverse_inertia * turn_b) * impulse,
        )
    }
}

fn degrees(a: Vec3, b: Vec3) -> f64 {
    let (a, b) = (a.as_dvec3(), b.as_dvec3());
    a.cross(b).length().atan2(a.dot(b)).to_degrees()
}

fn relative(truth: f32, here: f32) -> f64 {
    f64::from((truth - here).abs() / truth.max(1e-6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighted_averages_win_at_coarse_levels_and_both_converge() {
        let errors = contact_errors(1000, 2004);
        for level in 1..=2 {
            let (simple, weighted) = (&errors.simple[level], &errors.weighted[level]);
            assert!(
                weighted.direction < 0.95 * simple.direction,
                "level {level}: {weighted:?} against {simple:?}"
            );
            assert!(
                weighted.point < 0.95 * simple.point,
                "level {level}: {weighted:?} against {simple:?}"
            );
            assert!(weighted.product() < 0.9 * simple.product());
            // Sizes of spins may agree by chance: about wrong axes. As vectors they do not.
            assert!(
                weighted.angular_velocity < 0.9 * simple.angular_velocity,
                "level {level}: {weighted:?} against {simple:?}"
            );
            // Eq. 7 stands in for eq. 4 without harm.
            let exact = &errors.exact[level];
            assert!(
                weighted.product() < 1.25 * exact.product(),
                "level {level}: {weighted:?}, exact overlaps {exact:?}"
            );
        }
        for side in [&errors.simple, &errors.weighted] {
            let (coarse, fine) = (&side[1], &side[LEVELS as usize - 1]);
            assert!(fine.direction < 0.5 * coarse.direction, "{side:#?}");
            assert!(fine.point < 0.5 * coarse.point, "{side:#?}");
        }
    }
}
