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

use super::detect::{EdgeInTet, Object, Sheet, TetOf, TriangleInTet};
use super::march::DepthField;
use fracas_geometry::tet_mesh::TET_EDGES;

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

/// A tetrahedron prepared for the barycentric coordinates of many points.
#[derive(Clone, Copy, Debug)]
pub(super) struct TetFrame {
    origin: DVec3,
    /// G^-1: from space to the first three barycentric coordinates.
    to_weights: DMat3,
}

impl TetFrame {
    /// `None` if the tetrahedron is flat.
    pub(super) fn new(corners: [Vec3; 4]) -> Option<Self> {
        let [x1, x2, x3, origin] = corners.map(Vec3::as_dvec3);
        let g = DMat3::from_cols(x1 - origin, x2 - origin, x3 - origin);
        let volume = g.determinant();
        let size = g.x_axis.length() * g.y_axis.length() * g.z_axis.length();
        if volume.is_nan() || volume.abs() <= 1e-9 * size {
            return None;
        }
        Some(Self {
            origin,
            to_weights: g.inverse(),
        })
    }

    /// Its last corner, and what the first three barycentric coordinates grow by along each axis.
    pub(super) fn axes(&self) -> (DVec3, [DVec3; 3]) {
        let axes = &self.to_weights;
        (self.origin, [axes.x_axis, axes.y_axis, axes.z_axis])
    }

    pub(super) fn weights(&self, p: Vec3) -> [f64; 4] {
        let u = self.to_weights * (p.as_dvec3() - self.origin);
        [u.x, u.y, u.z, 1.0 - u.x - u.y - u.z]
    }
}

/// Where a segment lies in the closed tetrahedron, from 0 to 1, given the barycentric
/// coordinates of its ends.
pub(super) fn clip([from, to]: &[[f64; 4]; 2]) -> Option<[f64; 2]> {
    // Most are beyond a face with both ends: no division for these.
    if from.iter().zip(to).any(|(&f, &t)| f < 0.0 && t < 0.0) {
        return None;
    }
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (&f, &t) in from.iter().zip(to) {
        // The coordinate f + λ (t - f) must not be negative.
        if f < 0.0 {
            enter = enter.max(f / (f - t));
        } else if t < 0.0 {
            leave = leave.min(f / (f - t));
        }
    }
    (enter < leave).then_some([enter, leave])
}

/// A tetrahedron with depths at its corners, prepared for many points.
#[derive(Clone, Copy, Debug)]
pub struct DepthTet {
    frame: TetFrame,
    depths: [f64; 4],
    normal: DVec3,
}

impl DepthTet {
    /// `None` if the tetrahedron is flat or its depth is the same everywhere: then
    /// there is no way out of it.
    #[must_use]
    pub fn new(corners: [Vec3; 4], depths: [f32; 4]) -> Option<Self> {
        let frame = TetFrame::new(corners)?;
        let depths = depths.map(f64::from);
        let [d1, d2, d3, d4] = depths;
        let gradient = frame.to_weights.transpose() * DVec3::new(d1 - d4, d2 - d4, d3 - d4);
        let length = gradient.length();
        let deepest = depths.iter().fold(0.0_f64, |a, &b| a.max(b));
        // The gradient of a depth is about one; far less is rounding, not direction.
        if !length.is_finite() || length <= 1e-6 || deepest <= 0.0 {
            return None;
        }
        Some(Self {
            frame,
            depths,
            normal: -gradient / length,
        })
    }

    /// Unit, against the gradient of depth.
    #[must_use]
    pub fn normal(&self) -> Vec3 {
        self.normal.as_vec3()
    }

    fn depth(&self, weights: &[f64; 4]) -> f64 {
        weights.iter().zip(&self.depths).map(|(w, d)| w * d).sum()
    }

    /// Barycentric coordinates and depth of a point, if it lies in the closed tetrahedron.
    #[must_use]
    pub fn point(&self, p: Vec3) -> Option<([f32; 4], f32)> {
        self.point_at(self.frame.weights(p))
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
        let weights = [a, b].map(|p| self.frame.weights(p));
        self.segment_between([a, b], weights)
    }

    /// As [`DepthTet::segment`], given the barycentric coordinates of its ends.
    fn segment_between(
        &self,
        [a, b]: [Vec3; 2],
        [from, to]: [[f64; 4]; 2],
    ) -> Option<SegmentInTet> {
        let [enter, leave] = clip(&[from, to])?;
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
    /// Where each object's tetrahedra begin in one numbering of all.
    firsts: Vec<u32>,
    /// The same for nodes.
    first_nodes: Vec<u32>,
    /// Pairs in order, where the caller's are not.
    sorted: Vec<[TetOf; 2]>,
    scratch: Scratch,
    /// Whether pushes are found on the caller's rayon pool (with the feature `parallel`).
    /// Changes no result.
    pub parallel: bool,
}

/// What one pushing tetrahedron after the other needs.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// For each node of each object (and the sheet's) its place in `near`, current if
    /// the first number is that of the pushing tetrahedron.
    places: Vec<(u32, u32)>,
    round: u32,
    near: Vec<NearNode>,
    inside: Vec<Inside>,
}

/// Pushing tetrahedra that a thread takes at a time.
#[cfg(feature = "parallel")]
const PUSHERS_PER_TASK: usize = 512;

/// Edges that a thread takes at a time.
#[cfg(feature = "parallel")]
const EDGES_PER_TASK: usize = 512;

/// Who pushes whom, by tetrahedra in one numbering of all.
#[derive(Clone, Copy)]
struct Groups<'a> {
    objects: &'a [Object<'a>],
    fields: &'a [DepthField],
    sheet: Option<&'a Sheet<'a>>,
    response: Response,
    starts: &'a [u32],
    intruders: &'a [(u32, u32)],
    /// Where each object's tetrahedra begin, and where its nodes do.
    tets: &'a [u32],
    nodes: &'a [u32],
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

    /// Appends the pushes on edges (or nodes) in tetrahedra, which are in order. `fields` holds
    /// the depths of each object, marched at least to these tetrahedra.
    pub fn edge_pushes(
        &self,
        objects: &[Object],
        fields: &[DepthField],
        edges: &[EdgeInTet],
        out: &mut Vec<Push>,
    ) {
        let push = |edges: &[EdgeInTet], out: &mut Vec<Push>| {
            for same in edges.chunk_by(|a, b| a.tet == b.tet) {
                let tet = same[0].tet;
                let Some(prepared) = prepare(objects, fields, tet) else {
                    continue;
                };
                for &EdgeInTet { object, edge, .. } in same {
                    let positions = objects[object as usize].positions;
                    let ends = edge.map(|n| positions[n as usize]);
                    let weights = ends.map(|p| prepared.frame.weights(p));
                    push_one(&prepared, tet, (object, edge), (ends, weights), out);
                }
            }
        };
        #[cfg(feature = "parallel")]
        if self.parallel {
            use rayon::prelude::*;
            let tasks = edges.par_chunks(EDGES_PER_TASK).with_max_len(1);
            let tasks = tasks.map(|edges| {
                // Two for each segment.
                let mut found = Vec::with_capacity(2 * edges.len());
                push(edges, &mut found);
                found
            });
            let all: Vec<Vec<Push>> = tasks.collect();
            out.reserve(all.iter().map(Vec::len).sum());
            all.iter().for_each(|found| out.extend_from_slice(found));
            return;
        }
        push(edges, out);
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
        number(objects, |o| o.positions.len(), &mut self.first_nodes);
        let groups = Groups {
            objects,
            fields,
            sheet,
            response,
            starts: &self.starts,
            intruders: &self.intruders,
            tets: &self.firsts,
            nodes: &self.first_nodes,
        };
        let pushers = self.starts.len() - 1;
        #[cfg(feature = "parallel")]
        if self.parallel {
            use rayon::prelude::*;
            let tasks = (0..pushers.div_ceil(PUSHERS_PER_TASK)).into_par_iter();
            let tasks = tasks.map_init(Scratch::default, |scratch, task| {
                let from = task * PUSHERS_PER_TASK;
                let mut found = Vec::new();
                scratch.pushes(
                    groups,
                    from..pushers.min(from + PUSHERS_PER_TASK),
                    &mut found,
                );
                found
            });
            let all: Vec<Vec<Push>> = tasks.collect();
            all.iter().for_each(|found| out.extend(found));
            return;
        }
        self.scratch.pushes(groups, 0..pushers, out);
    }
}

impl Scratch {
    /// Appends the pushes of a range of tetrahedra.
    fn pushes(&mut self, groups: Groups, range: std::ops::Range<usize>, out: &mut Vec<Push>) {
        let objects = groups.objects;
        let nodes = groups.nodes[objects.len()] as usize
            + groups.sheet.map_or(0, |sheet| sheet.positions.len());
        if self.places.len() < nodes {
            self.places.resize(nodes, (0, 0));
        }
        for pusher in range {
            let (from, to) = (groups.starts[pusher], groups.starts[pusher + 1]);
            if from == to {
                continue;
            }
            let object = groups.tets.partition_point(|&first| first <= pusher as u32) as u32 - 1;
            let tet = TetOf {
                object,
                tet: pusher as u32 - groups.tets[object as usize],
            };
            let Some(prepared) = prepare(objects, groups.fields, tet) else {
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
                let (object, intruder) = groups.intruders[k as usize];
                let (nodes, positions, first): (&[u32], &[Vec3], u32) = match groups.sheet {
                    Some(sheet) => (
                        &sheet.triangles[intruder as usize],
                        sheet.positions,
                        groups.nodes[objects.len()],
                    ),
                    None => {
                        let of = &objects[object as usize];
                        let nodes = &of.topology.tets()[intruder as usize];
                        (nodes, of.positions, groups.nodes[object as usize])
                    }
                };
                let at = (positions, first);
                self.collect(&prepared, object, nodes, at, groups.response);
            }
            self.inside.sort_unstable();
            self.inside.dedup();
            for inside in &self.inside {
                let positions = match groups.sheet {
                    Some(sheet) => sheet.positions,
                    None => objects[inside.object as usize].positions,
                };
                let &Inside { object, ends, near } = inside;
                let at = ends.map(|n| positions[n as usize]);
                let weights = near.map(|n| self.near[n as usize].weights);
                push_one(&prepared, tet, (object, ends), (at, weights), out);
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
                let weights = prepared.frame.weights(positions[n as usize]);
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
    (object, [a, b]): (u32, [u32; 2]),
    ([pa, pb], weights): ([Vec3; 2], [[f64; 4]; 2]),
    out: &mut Vec<Push>,
) {
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
mod tests;
