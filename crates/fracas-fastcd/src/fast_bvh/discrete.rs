//! Discrete detection: pairs of triangles that intersect at the end of the step.
//!
//! Neighbours are judged by the rule of [`fracas_geometry::primitives::tri_tri`]: they are
//! reported when they share more than the mesh says. Vertices are the same only if
//! they have the same id; triangles of different bodies are never neighbours.

use glam::DVec3;

use super::cone::SMALLEST_COSINE;
use super::mesh::Mesh;
use super::traverse::{PairTest, QueryStats};
use super::tree::{Leaf, Tree};
use fracas_geometry::primitives::tri_tri;

pub(crate) struct DiscreteTest<'a> {
    pub(crate) mesh: &'a Mesh,
    pub(crate) out: &'a mut Vec<[u32; 2]>,
    /// Whether fans and normals of the triangles are up to date.
    pub(crate) judged: bool,
}

/// Which corners two triangles share: how many, and their positions in both.
#[inline(always)]
pub(crate) fn shared_corners(a: &[u32; 3], b: &[u32; 3]) -> (usize, [(usize, usize); 3]) {
    let mut count = 0;
    let mut at = [(0, 0); 3];
    let any = |v: u32| (v == b[0]) | (v == b[1]) | (v == b[2]);
    if !(any(a[0]) | any(a[1]) | any(a[2])) {
        return (count, at);
    }
    for i in 0..3 {
        for j in 0..3 {
            if a[i] == b[j] {
                // A triangle has no corner twice, so there are at most three.
                at[count] = (i, j);
                count += 1;
            }
        }
    }
    (count, at)
}

impl Tree {
    /// Whether fans or normals prove that two triangles share no more than the
    /// corners given, over the step.
    #[inline(always)]
    pub(crate) fn clear_neighbours(&self, i: usize, j: usize, shared: &[(usize, usize)]) -> bool {
        self.clear_by_fan(&self.leaves[i], shared)
            || shared.len() == 2 && self.clear_across_edge(i, j)
    }

    /// Whether the fan of a corner that the triangle shares with another is clear.
    #[inline(always)]
    fn clear_by_fan(&self, a: &Leaf, shared: &[(usize, usize)]) -> bool {
        shared
            .iter()
            .any(|&(k, _)| self.fans.is_clear(a.corners[k]))
    }

    /// For triangles linked across an edge (consistently oriented): whether one
    /// direction, the mean of their normals, has positive products with all normals
    /// of both over the step. Then, seen along it, they lie on different sides of the
    /// edge at all times, and share nothing else.
    #[inline(always)]
    fn clear_across_edge(&self, i: usize, j: usize) -> bool {
        if !self.neighbours[i].contains(&(j as u32)) || self.normals.is_empty() {
            return false;
        }
        let stride = self.normals.len() / self.leaves.len();
        let (a, b) = (
            &self.normals[i * stride..][..stride],
            &self.normals[j * stride..][..stride],
        );
        let mean = a[stride / 2] + b[stride / 2];
        // The mean of two unit vectors is at most two long.
        let least = 2.0 * SMALLEST_COSINE;
        a.iter().chain(b).all(|n| n.dot(mean) > least)
    }
}

impl PairTest for DiscreteTest<'_> {
    #[inline]
    fn pair(&mut self, tree: &Tree, i: usize, j: usize, stats: &mut QueryStats) {
        let (a, b) = (&tree.leaves[i], &tree.leaves[j]);
        let (shared, at) = shared_corners(&a.corners, &b.corners);
        if self.judged && tree.clear_neighbours(i, j, &at[..shared]) {
            stats.cleared_neighbours += 1;
            return;
        }
        let p = a.corners.map(|v| self.mesh.positions[v as usize][1]);
        let q = b.corners.map(|v| self.mesh.positions[v as usize][1]);
        if shared == 1 && clear_beyond_corner(turned(p, at[0].0), turned(q, at[0].1)) {
            stats.cleared_neighbours += 1;
            return;
        }
        stats.elementary_tests += 1;
        if triangles_collide(p, q, shared, at) {
            stats.hits += 1;
            self.out.push([a.id.min(b.id), a.id.max(b.id)]);
        }
    }
}

/// The exact rule, for any number of shared corners.
pub(crate) fn triangles_collide(
    p: [DVec3; 3],
    q: [DVec3; 3],
    shared: usize,
    at: [(usize, usize); 3],
) -> bool {
    match shared {
        0 => tri_tri::intersect(p, q),
        1 => tri_tri::intersect_beyond_corner(turned(p, at[0].0), turned(q, at[0].1)),
        2 => {
            let third = |used: [usize; 2]| 3 - used[0] - used[1];
            let (a, b) = (at[0], at[1]);
            tri_tri::folded_over_edge(p[a.0], p[b.0], p[third([a.0, b.0])], q[third([a.1, b.1])])
        }
        _ => true,
    }
}

/// The triangle, starting at corner k.
#[inline]
fn turned(t: [DVec3; 3], k: usize) -> [DVec3; 3] {
    [t[k], t[(k + 1) % 3], t[(k + 2) % 3]]
}

/// Whether a plane through the common corner has one triangle strictly on each
/// side, by more than rounding: then they share the corner alone.
#[inline]
fn clear_beyond_corner(p: [DVec3; 3], q: [DVec3; 3]) -> bool {
    let [a, b, c, d] = [p[1] - p[0], p[2] - p[0], q[1] - p[0], q[2] - p[0]];
    let (m, n) = (a + b, c + d);
    let normal = m * n.length_squared().sqrt() - n * m.length_squared().sqrt();
    let size = a.abs().max(b.abs()).max(c.abs()).max(d.abs()).max_element();
    let error = 1e-14 * size * normal.abs().max_element() + f64::MIN_POSITIVE;
    normal.dot(a) > error
        && normal.dot(b) > error
        && normal.dot(c) < -error
        && normal.dot(d) < -error
}
