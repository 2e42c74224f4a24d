//! Continuous detection: vertex-face and edge-edge contacts over the step, each
//! feature pair once.
//!
//! A vertex meets a face at the pair (triangle that owns the vertex, face); two
//! edges at the pair of their owners. Features that share a vertex are not tested:
//! they always touch. Two triangles that share vertices still have pairs of features
//! that do not; most of these are cleared by one cheap proof for all:
//!
//! * **common edge**: if one direction V has positive products with all Bernstein
//!   coefficients of both normals, the triangles lie, seen along V, on different
//!   sides of the edge at all times, and share only the edge;
//! * **common corner**: if a plane through the corner with a fixed normal has the
//!   other corners of one strictly on one side and those of the other on the other
//!   side, at the start and at the end, it does at all times between (the distances
//!   are linear in time), and they share only the corner.

use super::discrete::shared_corners;
use super::mesh::Mesh;
use super::traverse::{PairTest, QueryStats};
use super::tree::{Leaf, MovingBounds, Tree};
use fracas_geometry::primitives::bernstein::{CrossQuadratic, Outcome, ROUND, difference, size};
use fracas_geometry::primitives::{Moving, edge_edge_ccd, vertex_face_ccd};

/// A vertex touches a face during the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VertexFace {
    /// The vertex, by global id.
    pub vertex: u32,
    /// The triangle, by global id.
    pub face: u32,
    /// First time of impact in `[0, 1]`; never later than the true one.
    pub time: f64,
}

/// Two edges touch during the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeEdge {
    /// The edges, by global id, smaller first.
    pub edges: [u32; 2],
    /// First time of impact in `[0, 1]`; never later than the true one.
    pub time: f64,
}

/// Everything that touches during the step, sorted by ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// Vertex-face contacts.
    pub vertex_face: Vec<VertexFace>,
    /// Edge-edge contacts.
    pub edge_edge: Vec<EdgeEdge>,
}

impl Contacts {
    /// The first time of impact of all.
    #[must_use]
    pub fn earliest(&self) -> Option<f64> {
        let times = self.vertex_face.iter().map(|c| c.time);
        times
            .chain(self.edge_edge.iter().map(|c| c.time))
            .reduce(f64::min)
    }

    pub(crate) fn clear(&mut self) {
        self.vertex_face.clear();
        self.edge_edge.clear();
    }

    pub(crate) fn sort(&mut self) {
        self.vertex_face
            .sort_unstable_by_key(|c| u64::from(c.vertex) << 32 | u64::from(c.face));
        self.edge_edge
            .sort_unstable_by_key(|c| u64::from(c.edges[0]) << 32 | u64::from(c.edges[1]));
    }
}

pub(crate) struct ContinuousTest<'a> {
    pub(crate) mesh: &'a Mesh,
    pub(crate) out: &'a mut Contacts,
    pub(crate) filter: bool,
    pub(crate) exact: bool,
    /// Whether fans and normals of the triangles are up to date.
    pub(crate) judged: bool,
}

impl PairTest for ContinuousTest<'_> {
    #[inline]
    fn pair(&mut self, tree: &Tree, i: usize, j: usize, stats: &mut QueryStats) {
        let (a, b) = (&tree.leaves[i], &tree.leaves[j]);
        if (a.owned | b.owned) == 0 {
            return;
        }
        let (shared, at) = shared_corners(&a.corners, &b.corners);
        if self.judged && tree.clear_neighbours(i, j, &at[..shared]) {
            stats.cleared_neighbours += 1;
            return;
        }
        let at_corners = |[a, b, c]: [u32; 3]| {
            let p = &self.mesh.positions;
            [&p[a as usize], &p[b as usize], &p[c as usize]]
        };
        let (p, q) = (at_corners(a.corners), at_corners(b.corners));
        let cleared = match shared {
            1 => clear_beyond_corner(p, q, at[0]),
            2 => clear_beyond_edge(p, q, at),
            _ => false,
        };
        if cleared {
            stats.cleared_neighbours += 1;
            return;
        }
        self.vertices_of(tree, (a, p), (j, q), stats);
        self.vertices_of(tree, (b, q), (i, p), stats);
        self.edges_of(tree, [a, b], &tree.boxes[j], stats);
    }
}

impl ContinuousTest<'_> {
    /// The vertices that `a` owns against a face.
    #[inline]
    fn vertices_of(
        &mut self,
        tree: &Tree,
        (a, corners): (&Leaf, [&Moving; 3]),
        (place, face): (usize, [&Moving; 3]),
        stats: &mut QueryStats,
    ) {
        let b = &tree.leaves[place];
        for k in 0..3 {
            let v = a.corners[k];
            if a.owned >> k & 1 == 0 || b.corners.contains(&v) {
                continue;
            }
            let vertex = corners[k];
            let around = MovingBounds::around([&tree.points[v as usize]]);
            if !around.may_meet(&tree.boxes[place]) {
                continue;
            }
            stats.elementary_tests += 1;
            let outcome = match (self.filter, self.exact) {
                (true, false) => vertex_face_ccd::search::<true, false>(vertex, face),
                (true, true) => vertex_face_ccd::search::<true, true>(vertex, face),
                (false, false) => vertex_face_ccd::search::<false, false>(vertex, face),
                (false, true) => vertex_face_ccd::search::<false, true>(vertex, face),
            };
            stats.filtered += u64::from(outcome == Outcome::Filtered);
            if let Outcome::At(time) = outcome {
                stats.hits += 1;
                self.out.vertex_face.push(VertexFace {
                    vertex: v,
                    face: b.id,
                    time,
                });
            }
        }
    }

    #[inline]
    fn edges_of(
        &mut self,
        tree: &Tree,
        [a, b]: [&Leaf; 2],
        b_box: &MovingBounds,
        stats: &mut QueryStats,
    ) {
        for k in 0..3 {
            if a.owned >> (3 + k) & 1 == 0 {
                continue;
            }
            let e = [a.corners[k], a.corners[(k + 1) % 3]];
            let points = |e: [u32; 2]| e.map(|v| &tree.points[v as usize]);
            let e_box = MovingBounds::around(points(e));
            if !e_box.may_meet(b_box) {
                continue;
            }
            for l in 0..3 {
                let f = [b.corners[l], b.corners[(l + 1) % 3]];
                if b.owned >> (3 + l) & 1 == 0 || e.contains(&f[0]) || e.contains(&f[1]) {
                    continue;
                }
                let f_box = MovingBounds::around(points(f));
                if !e_box.may_meet(&f_box) {
                    continue;
                }
                stats.elementary_tests += 1;
                let mut edges = [a.edges[k], b.edges[l]];
                edges.sort_unstable();
                // In the order of ids, so that the answer does not depend on the tree.
                let [first, second] = edges
                    .map(|e| self.mesh.edges[e as usize].map(|v| &self.mesh.positions[v as usize]));
                let outcome = match (self.filter, self.exact) {
                    (true, false) => edge_edge_ccd::search::<true, false>(first, second),
                    (true, true) => edge_edge_ccd::search::<true, true>(first, second),
                    (false, false) => edge_edge_ccd::search::<false, false>(first, second),
                    (false, true) => edge_edge_ccd::search::<false, true>(first, second),
                };
                stats.filtered += u64::from(outcome == Outcome::Filtered);
                if let Outcome::At(time) = outcome {
                    stats.hits += 1;
                    self.out.edge_edge.push(EdgeEdge { edges, time });
                }
            }
        }
    }
}

#[inline]
fn clear_beyond_edge(p: [&Moving; 3], q: [&Moving; 3], at: [(usize, usize); 3]) -> bool {
    // Both must run along the edge in opposite senses, or lie on one side of it.
    let forward = |from: usize, to: usize| (from + 1) % 3 == to;
    if forward(at[0].0, at[1].0) == forward(at[0].1, at[1].1) {
        return false;
    }
    let (e, f) = (difference(p[1], p[0]), difference(p[2], p[0]));
    let (g, h) = (difference(q[1], q[0]), difference(q[2], q[0]));
    let (m, n) = (CrossQuadratic::new(&e, &f), CrossQuadratic::new(&g, &h));
    let (m, n) = (m.control(), n.control());
    let v = m[1] * n[1].length_squared().sqrt() + n[1] * m[1].length_squared().sqrt();
    let largest = (size(&e) * size(&f)).max(size(&g) * size(&h));
    let error = 512.0 * ROUND * largest * v.abs().max_element() + f64::MIN_POSITIVE;
    m.iter().chain(n).all(|c| c.dot(v) > error)
}

#[inline]
fn clear_beyond_corner(p: [&Moving; 3], q: [&Moving; 3], (i, j): (usize, usize)) -> bool {
    let corner = p[i];
    let (a, b) = (
        difference(p[(i + 1) % 3], corner),
        difference(p[(i + 2) % 3], corner),
    );
    let (c, d) = (
        difference(q[(j + 1) % 3], corner),
        difference(q[(j + 2) % 3], corner),
    );
    let (m, n) = (a[0] + a[1] + b[0] + b[1], c[0] + c[1] + d[0] + d[1]);
    let normal = m * n.length_squared().sqrt() - n * m.length_squared().sqrt();
    let largest = size(&a).max(size(&b)).max(size(&c)).max(size(&d));
    let error = 32.0 * ROUND * largest * normal.abs().max_element() + f64::MIN_POSITIVE;
    [a, b].iter().flatten().all(|x| normal.dot(*x) > error)
        && [c, d].iter().flatten().all(|x| normal.dot(*x) < -error)
}

#[cfg(test)]
#[path = "continuous_tests.rs"]
mod tests;
