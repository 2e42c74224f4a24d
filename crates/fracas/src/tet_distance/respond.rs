//! Penalty forces from overlaps and depths: points in objects, segments in objects.
//!
//! Inside a tetrahedron depth is interpolated linearly, so its gradient is one
//! vector, and the way out is against it:
//!
//! - **point** [Marchal 2004, section 5.1]: a node `p` of A inside a tetrahedron of B
//!   at depth `d` is pushed by `stiffness * d` along `n = -grad d / |grad d|`;
//! - **segment** [section 5.2]: an edge of A is cut by the tetrahedron to
//!   `[x1, x2]`; the integral of depth over it is `D = (d1 + d2) / 2 * |x1 x2|`, and
//!   `stiffness * D * n` is shared between `x1` and `x2` so that it acts at the
//!   centroid of the trapezium, then handed on to the edge's ends. Objects that
//!   cross by edges only get a force, and the force grows with the contact's size.
//!
//! What pushes A pushes B back: the opposite force goes to the four nodes of B's
//! tetrahedron by the barycentric coordinates of the point where it acts.
//!
//! | paper | here |
//! | --- | --- |
//! | G | columns `x1 - x4, x2 - x4, x3 - x4` |
//! | u | `weights` |
//! | λ1, λ2 | `along` |
//! | ḋ | `integral` |
//! | a_f, b_f | `weights` of [`Pushed::Edge`] |
//!
//! **Deviations.** G is built from the tetrahedron's edges (the paper prints p); the
//! gradient is `G^-T (d1 - d4, d2 - d4, d3 - d4)` (it prints barycentric
//! coordinates), and the direction is against it; λ weighs the end b (it prints a).
//! The two forces of a segment are weighted by the trapezium instead of halved.
//! Each node and each edge answers once for each tetrahedron of B, however many
//! overlapping tetrahedra of A share it (the paper notes the redundancy).
//!
//! **Guarantee.** The forces of one [`Push`] sum to zero, and so do their torques, to
//! rounding. Flat tetrahedra and tetrahedra without depth give no force.

use glam::{DMat3, DVec3, Vec3};

use super::detect::{Object, Sheet, TetOf, TriangleInTet};
use super::march::DepthField;
use crate::tet_mesh::TET_EDGES;

/// Which parts of an object answer for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Its nodes: fast, blind to crossing edges.
    Point,
    /// Its edges: sees every overlap, measures its size.
    Segment,
}

/// What is pushed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pushed {
    /// A node.
    Node(u32),
    /// A point of an edge: its ends and their weights.
    Edge([u32; 2], [f32; 2]),
}

/// One force between two objects, with the mechanical points that carry it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// The object that is pushed out: an index of the object list, or
    /// [`Push::SHEET`].
    pub object: u32,
    /// Its nodes.
    pub pushed: Pushed,
    /// The tetrahedron that pushes, and gets the opposite force.
    pub tet: TetOf,
    /// Weights of its four nodes.
    pub weights: [f32; 4],
    /// Where the force acts.
    pub point: Vec3,
    /// Unit, out of the pushing object.
    pub normal: Vec3,
    /// Depth of the point below the surface.
    pub depth: f32,
    /// The measure of penetration, to be multiplied by a stiffness: the depth for
    /// points, its integral for segments (a length squared).
    pub measure: f32,
    /// How fast the measure grows with depth: 1 for points, a length for segments.
    /// What an implicit integrator needs.
    pub slope: f32,
}

impl Push {
    /// Stands for the sheet in [`Push::object`].
    pub const SHEET: u32 = u32::MAX;

    /// The nodes of the pushed object with the share of the force each carries.
    pub fn pushed_nodes(&self) -> impl Iterator<Item = (u32, f32)> + use<> {
        let pairs = match self.pushed {
            Pushed::Node(n) => [(n, 1.0), (n, 0.0)],
            Pushed::Edge([a, b], [wa, wb]) => [(a, wa), (b, wb)],
        };
        let count = if matches!(self.pushed, Pushed::Node(_)) {
            1
        } else {
            2
        };
        pairs.into_iter().take(count)
    }
}

/// A tetrahedron with depths at its corners, prepared for many points.
#[derive(Clone, Copy, Debug)]
pub struct DepthTet {
    origin: DVec3,
    /// G^-1: from space to the first three barycentric coordinates.
    to_weights: DMat3,
    depths: [f64; 4],
    normal: DVec3,
}

impl DepthTet {
    /// `None` if the tetrahedron is flat or its depth is the same everywhere: then
    /// there is no way out of it.
    #[must_use]
    pub fn new(corners: [Vec3; 4], depths: [f32; 4]) -> Option<Self> {
        let [x1, x2, x3, origin] = corners.map(Vec3::as_dvec3);
        let g = DMat3::from_cols(x1 - origin, x2 - origin, x3 - origin);
        let volume = g.determinant();
        let size = g.x_axis.length() * g.y_axis.length() * g.z_axis.length();
        if volume.is_nan() || volume.abs() <= 1e-9 * size {
            return None;
        }
        let to_weights = g.inverse();
        let depths = depths.map(f64::from);
        let [d1, d2, d3, d4] = depths;
        let gradient = to_weights.transpose() * DVec3::new(d1 - d4, d2 - d4, d3 - d4);
        let length = gradient.length();
        let deepest = depths.iter().fold(0.0_f64, |a, &b| a.max(b));
        // The gradient of a depth is about one; far less is rounding, not direction.
        if !length.is_finite() || length <= 1e-6 || deepest <= 0.0 {
            return None;
        }
        Some(Self {
            origin,
            to_weights,
            depths,
            normal: -gradient / length,
        })
    }

    /// Unit, against the gradient of depth.
    #[must_use]
    pub fn normal(&self) -> Vec3 {
        self.normal.as_vec3()
    }

    fn weights(&self, p: DVec3) -> [f64; 4] {
        let u = self.to_weights * (p - self.origin);
        [u.x, u.y, u.z, 1.0 - u.x - u.y - u.z]
    }

    fn depth(&self, weights: &[f64; 4]) -> f64 {
        weights.iter().zip(&self.depths).map(|(w, d)| w * d).sum()
    }

    /// Barycentric coordinates and depth of a point, if it lies in the closed tetrahedron.
    #[must_use]
    pub fn point(&self, p: Vec3) -> Option<([f32; 4], f32)> {
        let weights = self.weights(p.as_dvec3());
        if !weights.iter().all(|&w| w >= 0.0) {
            return None;
        }
        Some((weights.map(|w| w as f32), self.depth(&weights) as f32))
    }

    /// The part of the segment from `a` to `b` that lies in the tetrahedron.
    #[must_use]
    pub fn segment(&self, a: Vec3, b: Vec3) -> Option<SegmentInTet> {
        let (a, b) = (a.as_dvec3(), b.as_dvec3());
        let (from, to) = (self.weights(a), self.weights(b));
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (&f, &t) in from.iter().zip(&to) {
            // The coordinate f + λ (t - f) must not be negative.
            if f < 0.0 && t < 0.0 {
                return None;
            }
            if f < 0.0 {
                enter = enter.max(f / (f - t));
            } else if t < 0.0 {
                leave = leave.min(f / (f - t));
            }
        }
        if enter >= leave {
            return None;
        }
        let at = |s: f64| -> [f64; 4] {
            std::array::from_fn(|i| (from[i] + s * (to[i] - from[i])).max(0.0))
        };
        let weights = [at(enter), at(leave)].map(|w| {
            let sum: f64 = w.iter().sum();
            w.map(|x| x / sum)
        });
        let depths = [self.depth(&weights[0]), self.depth(&weights[1])];
        let length = (b - a).length() * (leave - enter);
        let total = depths[0] + depths[1];
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let share = (2.0 * depths[0] + depths[1]) / (3.0 * total);
        Some(SegmentInTet {
            along: [enter as f32, leave as f32],
            weights: weights.map(|w| w.map(|x| x as f32)),
            depths: depths.map(|d| d as f32),
            shares: [share as f32, (1.0 - share) as f32],
            integral: (0.5 * total * length) as f32,
            length: length as f32,
        })
    }
}

/// The part of a segment inside a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentInTet {
    /// Where it enters and leaves, from 0 at a to 1 at b.
    pub along: [f32; 2],
    /// Barycentric coordinates of the two points.
    pub weights: [[f32; 4]; 2],
    /// Depths of the two points.
    pub depths: [f32; 2],
    /// How the force is shared between the two points; sums to one.
    pub shares: [f32; 2],
    /// Depth integrated along the part.
    pub integral: f32,
    /// Length of the part.
    pub length: f32,
}

/// Turns overlaps into pushes; its memory is kept from step to step.
#[derive(Clone, Debug, Default)]
pub struct Responder {
    /// (pushing tet, pushed object, pushed tet or triangle).
    overlaps: Vec<(TetOf, u32, u32)>,
    /// Nodes or edges inside one tetrahedron: (object, ends; equal for a node).
    inside: Vec<(u32, [u32; 2])>,
}

impl Responder {
    /// Appends the pushes of all overlapping pairs, both ways. `fields` holds the
    /// depths of each object, marched at least to the tetrahedra of `pairs`.
    pub fn pushes(
        &mut self,
        objects: &[Object],
        fields: &[DepthField],
        pairs: &[[TetOf; 2]],
        response: Response,
        out: &mut Vec<Push>,
    ) {
        self.overlaps.clear();
        for &[a, b] in pairs {
            self.overlaps.push((a, b.object, b.tet));
            self.overlaps.push((b, a.object, a.tet));
        }
        self.push_overlaps(objects, fields, None, response, out);
    }

    /// Appends the pushes on a sheet's nodes or edges inside tetrahedra.
    pub fn sheet_pushes(
        &mut self,
        sheet: &Sheet,
        objects: &[Object],
        fields: &[DepthField],
        overlaps: &[TriangleInTet],
        response: Response,
        out: &mut Vec<Push>,
    ) {
        self.overlaps.clear();
        let entries = overlaps.iter().map(|o| (o.tet, Push::SHEET, o.triangle));
        self.overlaps.extend(entries);
        self.push_overlaps(objects, fields, Some(sheet), response, out);
    }

    fn push_overlaps(
        &mut self,
        objects: &[Object],
        fields: &[DepthField],
        sheet: Option<&Sheet>,
        response: Response,
        out: &mut Vec<Push>,
    ) {
        self.overlaps.sort_unstable();
        let Self { overlaps, inside } = self;
        // One pushing tetrahedron after the other: it is prepared once, and what
        // several intruders share is found in a list that stays small.
        for group in overlaps.chunk_by(|a, b| a.0 == b.0) {
            let tet = group[0].0;
            let Some(prepared) = prepare(objects, fields, tet) else {
                continue;
            };
            inside.clear();
            for &(_, object, intruder) in group {
                match sheet {
                    Some(sheet) => {
                        collect(
                            object,
                            &sheet.triangles[intruder as usize],
                            response,
                            inside,
                        );
                    }
                    None => {
                        let tets = objects[object as usize].topology.tets();
                        collect(object, &tets[intruder as usize], response, inside);
                    }
                }
            }
            inside.sort_unstable();
            inside.dedup();
            for &(object, ends) in inside.iter() {
                let positions = sheet.map_or_else(
                    || objects[object as usize].positions,
                    |sheet| sheet.positions,
                );
                push_one(&prepared, tet, object, ends, positions, out);
            }
        }
    }
}

/// Lists the nodes or edges of a tetrahedron or triangle.
fn collect(object: u32, nodes: &[u32], response: Response, inside: &mut Vec<(u32, [u32; 2])>) {
    match response {
        Response::Point => inside.extend(nodes.iter().map(|&n| (object, [n, n]))),
        Response::Segment => {
            // The edges of a triangle are those of a tetrahedron's first three nodes.
            let edges = TET_EDGES.iter().filter(|[_, j]| *j < nodes.len());
            inside.extend(edges.map(|&[i, j]| {
                let (a, b) = (nodes[i], nodes[j]);
                (object, [a.min(b), a.max(b)])
            }));
        }
    }
}

/// The push of a tetrahedron on a node (both ends equal) or an edge.
fn push_one(
    prepared: &DepthTet,
    tet: TetOf,
    object: u32,
    [a, b]: [u32; 2],
    positions: &[Vec3],
    out: &mut Vec<Push>,
) {
    let (pa, pb) = (positions[a as usize], positions[b as usize]);
    let push = |pushed, weights, point, depth, [measure, slope]: [f32; 2]| Push {
        object,
        pushed,
        tet,
        weights,
        point,
        normal: prepared.normal(),
        depth,
        measure,
        slope,
    };
    if a == b {
        if let Some((weights, depth)) = prepared.point(pa)
            && depth > 0.0
        {
            out.push(push(Pushed::Node(a), weights, pa, depth, [depth, 1.0]));
        }
    } else if let Some(part) = prepared.segment(pa, pb) {
        for i in 0..2 {
            let s = part.along[i];
            let measure = part.shares[i] * part.integral;
            if measure > 0.0 {
                out.push(push(
                    Pushed::Edge([a, b], [1.0 - s, s]),
                    part.weights[i],
                    pa + s * (pb - pa),
                    part.depths[i],
                    [measure, part.shares[i] * part.length],
                ));
            }
        }
    }
}

fn prepare(objects: &[Object], fields: &[DepthField], tet: TetOf) -> Option<DepthTet> {
    let object = &objects[tet.object as usize];
    let nodes = object.topology.tets()[tet.tet as usize];
    let field = &fields[tet.object as usize];
    let mut depths = [0.0; 4];
    for (depth, n) in depths.iter_mut().zip(nodes) {
        *depth = field.depth(n)?;
    }
    DepthTet::new(object.corners(tet.tet), depths)
}

#[cfg(test)]
mod tests {
    use super::super::detect::Detector;
    use super::super::march::Method;
    use super::super::topology::Topology;
    use super::*;
    use crate::testing::{Rng, box_grid};

    /// A tetrahedron with a node at its centre: the smallest object that has depth.
    fn split_tet(corners: [Vec3; 4]) -> (Topology, Vec<Vec3>) {
        let mut positions = corners.to_vec();
        positions.push(corners.iter().sum::<Vec3>() / 4.0);
        let tets = [[0, 1, 2, 4], [0, 1, 4, 3], [0, 4, 2, 3], [4, 1, 2, 3]];
        (Topology::build(5, &tets).unwrap(), positions)
    }

    fn respond(objects: &[Object], response: Response) -> Vec<Push> {
        let mut pairs = Vec::new();
        Detector::default().overlaps(objects, &mut pairs);
        let fields: Vec<DepthField> = objects
            .iter()
            .enumerate()
            .map(|(i, o)| {
                let marked: Vec<u32> = pairs
                    .iter()
                    .flatten()
                    .filter(|t| t.object == i as u32)
                    .map(|t| t.tet)
                    .collect();
                let mut field = DepthField::new(Method::ClosestFeature);
                field.march_to(o.topology, o.positions, &marked);
                field
            })
            .collect();
        let mut pushes = Vec::new();
        Responder::default().pushes(objects, &fields, &pairs, response, &mut pushes);
        pushes
    }

    fn node_forces(objects: &[Object], pushes: &[Push]) -> Vec<Vec<DVec3>> {
        let mut forces: Vec<Vec<DVec3>> = objects
            .iter()
            .map(|o| vec![DVec3::ZERO; o.positions.len()])
            .collect();
        for push in pushes {
            let force = (push.normal * push.measure).as_dvec3();
            for (n, w) in push.pushed_nodes() {
                forces[push.object as usize][n as usize] += force * f64::from(w);
            }
            let pusher = push.tet.object as usize;
            let nodes = objects[pusher].topology.tets()[push.tet.tet as usize];
            for (n, w) in nodes.into_iter().zip(push.weights) {
                forces[pusher][n as usize] -= force * f64::from(w);
            }
        }
        forces
    }

    /// [Marchal 2004, Fig. 11]: two tetrahedra that cross by their edges.
    fn crossing(gap: f32) -> [(Topology, Vec<Vec3>); 2] {
        let a = split_tet([
            Vec3::new(-1.0, 0.0, 0.2),
            Vec3::new(1.0, 0.0, 0.2),
            Vec3::new(0.0, 0.4, -1.0),
            Vec3::new(0.0, -0.4, -1.0),
        ]);
        let b = split_tet(
            [
                Vec3::new(0.0, -1.0, -0.2),
                Vec3::new(0.0, 1.0, -0.2),
                Vec3::new(-0.4, 0.0, 1.0),
                Vec3::new(0.4, 0.0, 1.0),
            ]
            .map(|p| p + Vec3::Z * gap),
        );
        [a, b]
    }

    #[test]
    fn crossing_edges_get_no_point_response_and_a_segment_response_that_separates() {
        let bodies = crossing(0.0);
        let objects = [0, 1].map(|i| Object {
            topology: &bodies[i].0,
            positions: &bodies[i].1,
        });
        assert!(respond(&objects, Response::Point).is_empty());
        let pushes = respond(&objects, Response::Segment);
        assert!(!pushes.is_empty());
        let forces = node_forces(&objects, &pushes);
        let total = forces.map_sum();
        assert!(total[0].z < 0.0 && total[1].z > 0.0, "{total:?}");

        // Followed, the force separates them.
        let mut gap = 0.0;
        for _ in 0..200 {
            let bodies = crossing(gap);
            let objects = [0, 1].map(|i| Object {
                topology: &bodies[i].0,
                positions: &bodies[i].1,
            });
            let pushes = respond(&objects, Response::Segment);
            if pushes.is_empty() {
                break;
            }
            gap += (4.0 * node_forces(&objects, &pushes).map_sum()[1].z as f32).max(1e-3);
        }
        assert!((0.395..0.45).contains(&gap), "they part at 0.4, not {gap}");
    }

    trait MapSum {
        fn map_sum(&self) -> Vec<DVec3>;
    }

    impl MapSum for Vec<Vec<DVec3>> {
        fn map_sum(&self) -> Vec<DVec3> {
            self.iter().map(|f| f.iter().sum()).collect()
        }
    }

    #[test]
    fn forces_and_torques_cancel() {
        let mesh = box_grid([4, 4, 4], Vec3::ONE);
        let topology = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
        let mut rng = Rng(4);
        for response in [Response::Point, Response::Segment] {
            for _ in 0..4 {
                let offset = rng.direction() * 0.7;
                let moved: Vec<Vec3> = mesh
                    .positions()
                    .iter()
                    .map(|&p| Vec3::new(p.z, p.x, p.y) + offset + 0.03 * rng.direction())
                    .collect();
                let objects = [mesh.positions(), &moved].map(|positions| Object {
                    topology: &topology,
                    positions,
                });
                let pushes = respond(&objects, response);
                assert!(!pushes.is_empty());
                let forces = node_forces(&objects, &pushes);
                let (mut sum, mut torque, mut size) = (DVec3::ZERO, DVec3::ZERO, 0.0);
                for (object, forces) in objects.iter().zip(&forces) {
                    for (&p, &f) in object.positions.iter().zip(forces) {
                        sum += f;
                        torque += p.as_dvec3().cross(f);
                        size += f.length();
                    }
                }
                assert!(sum.length() < 1e-6 * size, "force {sum} of {size}");
                assert!(torque.length() < 2e-6 * size, "torque {torque} of {size}");
            }
        }
    }

    #[test]
    fn point_depth_and_direction_are_those_of_a_linear_field() {
        let mut rng = Rng(2);
        for _ in 0..200 {
            let corners: [Vec3; 4] =
                std::array::from_fn(|_| rng.in_box(Vec3::splat(-1.0), Vec3::splat(1.0)));
            let direction = rng.direction();
            let depth = |p: Vec3| 2.0 + direction.dot(p);
            let Some(tet) = DepthTet::new(corners, corners.map(depth)) else {
                continue;
            };
            if crate::tet_mesh::signed_volume(corners).abs() < 1e-3 {
                continue;
            }
            assert!(tet.normal().distance(-direction) < 1e-3);
            let w: [f32; 4] = std::array::from_fn(|_| rng.unit() + 0.01);
            let sum: f32 = w.iter().sum();
            let p = (0..4).map(|i| corners[i] * (w[i] / sum)).sum::<Vec3>();
            let (weights, d) = tet.point(p).expect("inside");
            assert!((d - depth(p)).abs() < 1e-4);
            assert!((0..4).all(|i| (weights[i] - w[i] / sum).abs() < 1e-3));

            // The integral along a segment, against many small steps.
            let (a, b) = (p - rng.direction(), p + rng.direction());
            let part = tet.segment(a, b);
            let steps = 2000;
            let mut summed = 0.0;
            for i in 0..steps {
                let x = a + (b - a) * ((i as f32 + 0.5) / steps as f32);
                if let Some((_, d)) = tet.point(x) {
                    summed += d * a.distance(b) / steps as f32;
                }
            }
            let integral = part.map_or(0.0, |part| part.integral);
            assert!((integral - summed).abs() < 5e-3, "{integral} {summed}");
            if let Some(part) = part {
                assert!((part.shares[0] + part.shares[1] - 1.0).abs() < 1e-6);
                assert!(part.along[0] >= 0.0 && part.along[1] <= 1.0);
            }
        }
    }

    #[test]
    fn flat_and_depthless_tets_push_nothing() {
        let unit = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        assert!(DepthTet::new(unit, [0.0; 4]).is_none());
        assert!(
            DepthTet::new(
                [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE.with_z(0.0)],
                [0.0, 0.0, 0.0, 1.0]
            )
            .is_none()
        );
        assert!(DepthTet::new([Vec3::NAN; 4], [0.0, 0.0, 0.0, 1.0]).is_none());
        let tet = DepthTet::new(unit, [0.0, 0.0, 0.0, 0.1]).unwrap();
        assert!(tet.segment(Vec3::NAN, Vec3::X).is_none());
        assert!(tet.point(Vec3::NAN).is_none());
        assert!(tet.segment(Vec3::splat(2.0), Vec3::splat(3.0)).is_none());
    }
}
