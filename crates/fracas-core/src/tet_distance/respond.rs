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
        self.point_at(self.weights(p.as_dvec3()))
    }

    fn point_at(&self, weights: [f64; 4]) -> Option<([f32; 4], f32)> {
        if !weights.iter().all(|&w| w >= 0.0) {
            return None;
        }
        Some((weights.map(|w| w as f32), self.depth(&weights) as f32))
    }

    /// The part of the segment from `a` to `b` that lies in the tetrahedron.
    #[must_use]
    pub fn segment(&self, a: Vec3, b: Vec3) -> Option<SegmentInTet> {
        let weights = [a, b].map(|p| self.weights(p.as_dvec3()));
        self.segment_between([a, b], weights)
    }

    /// As [`DepthTet::segment`], given the barycentric coordinates of its ends.
    fn segment_between(
        &self,
        [a, b]: [Vec3; 2],
        [from, to]: [[f64; 4]; 2],
    ) -> Option<SegmentInTet> {
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
        let length = (b.as_dvec3() - a.as_dvec3()).length() * (leave - enter);
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
///
/// One pushing tetrahedron after the other: it is prepared once, the barycentric
/// coordinates of a node that several intruders share are computed once, and an edge
/// whose ends lie beyond the same face (most do) is dropped by comparing two masks.
#[derive(Clone, Debug, Default)]
pub struct Responder {
    /// For each tetrahedron of each object where its intruders begin in `intruders`.
    starts: Vec<u32>,
    /// (pushed object, its tet or triangle), in decreasing order for each pusher.
    intruders: Vec<(u32, u32)>,
    /// Where each object's tetrahedra or nodes begin in one numbering of all.
    firsts: Vec<u32>,
    /// Pairs in order, where the caller's are not.
    sorted: Vec<[TetOf; 2]>,
    /// For each node of each object (and the sheet's) its place in `near`, current if
    /// the first number is that of the pushing tetrahedron.
    places: Vec<(u32, u32)>,
    round: u32,
    near: Vec<NearNode>,
    inside: Vec<Inside>,
}

/// A node of an intruder, seen from the pushing tetrahedron.
#[derive(Clone, Copy, Debug)]
struct NearNode {
    weights: [f64; 4],
    /// A bit for each face beyond which it lies.
    beyond: u8,
}

/// A node (both ends equal) or an edge that may lie in the pushing tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Inside {
    object: u32,
    ends: [u32; 2],
    near: [u32; 2],
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
        let mut sorted = std::mem::take(&mut self.sorted);
        let pairs = if pairs.is_sorted() {
            pairs
        } else {
            sorted.clear();
            sorted.extend_from_slice(pairs);
            sorted.sort_unstable();
            &sorted
        };
        // In order, a pusher meets first the intruders before it, then those after it.
        let both = pairs
            .iter()
            .flat_map(|&[a, b]| [(a, (b.object, b.tet)), (b, (a.object, a.tet))]);
        self.group(objects, both);
        self.sorted = sorted;
        self.push_groups(objects, fields, None, response, out);
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
        let entries = overlaps.iter().map(|o| (o.tet, (Push::SHEET, o.triangle)));
        self.group(objects, entries);
        self.push_groups(objects, fields, Some(sheet), response, out);
    }

    /// Sorts intruders by the tetrahedron they enter, by counting.
    fn group(
        &mut self,
        objects: &[Object],
        entries: impl Iterator<Item = (TetOf, (u32, u32))> + Clone,
    ) {
        number(objects, |o| o.topology.tets().len(), &mut self.firsts);
        let firsts = &self.firsts;
        let at = |t: TetOf| (firsts[t.object as usize] + t.tet) as usize;
        let tets = firsts[objects.len()] as usize;
        self.starts.clear();
        self.starts.resize(tets + 1, 0);
        for (tet, _) in entries.clone() {
            self.starts[at(tet)] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.intruders.clear();
        self.intruders.resize(sum as usize, (0, 0));
        // Filled from behind: each start ends up where its own intruders begin.
        for (tet, intruder) in entries {
            let start = &mut self.starts[at(tet)];
            *start -= 1;
            self.intruders[*start as usize] = intruder;
        }
    }

    fn push_groups(
        &mut self,
        objects: &[Object],
        fields: &[DepthField],
        sheet: Option<&Sheet>,
        response: Response,
        out: &mut Vec<Push>,
    ) {
        number(objects, |o| o.positions.len(), &mut self.firsts);
        let nodes = self.firsts[objects.len()] as usize + sheet.map_or(0, |s| s.positions.len());
        if self.places.len() < nodes {
            self.places.resize(nodes, (0, 0));
        }
        let mut pusher = 0;
        for (i, object) in objects.iter().enumerate() {
            for t in 0..object.topology.tets().len() {
                let (from, to) = (self.starts[pusher], self.starts[pusher + 1]);
                pusher += 1;
                if from == to {
                    continue;
                }
                let tet = TetOf {
                    object: i as u32,
                    tet: t as u32,
                };
                let Some(prepared) = prepare(objects, fields, tet) else {
                    continue;
                };
                self.round = self.round.wrapping_add(1);
                if self.round == 0 {
                    self.places.fill((0, 0));
                    self.round = 1;
                }
                self.near.clear();
                self.inside.clear();
                for k in (from..to).rev() {
                    let (object, intruder) = self.intruders[k as usize];
                    let (nodes, positions, first): (&[u32], &[Vec3], u32) = match sheet {
                        Some(sheet) => (
                            &sheet.triangles[intruder as usize],
                            sheet.positions,
                            self.firsts[objects.len()],
                        ),
                        None => {
                            let of = &objects[object as usize];
                            let nodes = &of.topology.tets()[intruder as usize];
                            (nodes, of.positions, self.firsts[object as usize])
                        }
                    };
                    self.collect(&prepared, object, nodes, (positions, first), response);
                }
                self.inside.sort_unstable();
                self.inside.dedup();
                for inside in &self.inside {
                    let positions = match sheet {
                        Some(sheet) => sheet.positions,
                        None => objects[inside.object as usize].positions,
                    };
                    push_one(&prepared, tet, inside, &self.near, positions, out);
                }
            }
        }
    }

    /// Lists the nodes or edges of an intruder that may lie in the pushing tetrahedron.
    fn collect(
        &mut self,
        prepared: &DepthTet,
        object: u32,
        nodes: &[u32],
        (positions, first): (&[Vec3], u32),
        response: Response,
    ) {
        let mut near = [0_u32; 4];
        for (near, &n) in near.iter_mut().zip(nodes) {
            let place = &mut self.places[(first + n) as usize];
            if place.0 != self.round {
                *place = (self.round, self.near.len() as u32);
                let weights = prepared.weights(positions[n as usize].as_dvec3());
                let mut beyond = 0;
                for (i, w) in weights.iter().enumerate() {
                    beyond |= u8::from(*w < 0.0) << i;
                }
                self.near.push(NearNode { weights, beyond });
            }
            *near = place.1;
        }
        let mut add = |i: usize, j: usize| {
            let [p, q] = [i, j].map(|k| self.near[near[k] as usize].beyond);
            if p & q == 0 {
                let (a, b) = if nodes[i] <= nodes[j] { (i, j) } else { (j, i) };
                self.inside.push(Inside {
                    object,
                    ends: [nodes[a], nodes[b]],
                    near: [near[a], near[b]],
                });
            }
        };
        match response {
            Response::Point => (0..nodes.len()).for_each(|i| add(i, i)),
            Response::Segment => {
                // The edges of a triangle are those of a tetrahedron's first three nodes.
                let edges = TET_EDGES.iter().filter(|[_, j]| *j < nodes.len());
                edges.for_each(|&[i, j]| add(i, j));
            }
        }
    }
}

/// Where each object's elements begin in one numbering of all, and where it ends.
fn number(objects: &[Object], count: impl Fn(&Object) -> usize, firsts: &mut Vec<u32>) {
    firsts.clear();
    let mut sum = 0;
    firsts.push(0);
    for object in objects {
        sum += count(object) as u32;
        firsts.push(sum);
    }
}

/// The push of a tetrahedron on a node (both ends equal) or an edge.
fn push_one(
    prepared: &DepthTet,
    tet: TetOf,
    inside: &Inside,
    near: &[NearNode],
    positions: &[Vec3],
    out: &mut Vec<Push>,
) {
    let &Inside { object, ends, .. } = inside;
    let [a, b] = ends;
    let [pa, pb] = ends.map(|n| positions[n as usize]);
    let weights = inside.near.map(|n| near[n as usize].weights);
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
        if let Some((weights, depth)) = prepared.point_at(weights[0])
            && depth > 0.0
        {
            out.push(push(Pushed::Node(a), weights, pa, depth, [depth, 1.0]));
        }
    } else if let Some(part) = prepared.segment_between([pa, pb], weights) {
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
            let (mut summed, mut of_entry) = (0.0, 0.0);
            for i in 0..steps {
                let s = (i as f32 + 0.5) / steps as f32;
                let x = a + (b - a) * s;
                if let (Some((_, d)), Some(part)) = (tet.point(x), part) {
                    summed += d * a.distance(b) / steps as f32;
                    // What presses between two points is borne by them as by a beam's ends.
                    let [enter, leave] = part.along;
                    let share = ((leave - s) / (leave - enter)).clamp(0.0, 1.0);
                    of_entry += share * d * a.distance(b) / steps as f32;
                }
            }
            let integral = part.map_or(0.0, |part| part.integral);
            assert!((integral - summed).abs() < 5e-3, "{integral} {summed}");
            if let Some(part) = part {
                assert!((part.shares[0] + part.shares[1] - 1.0).abs() < 1e-6);
                let borne = part.shares[0] * part.integral;
                assert!((borne - of_entry).abs() < 5e-3, "{borne} {of_entry}");
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
