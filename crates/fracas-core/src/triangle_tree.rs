//! Closest triangle to a point, by a tree of boxes: for baking and for exact
//! recomputation, where every answer must be exact and none is repeated.
//!
//! Steps: split the triangles at the median of their centres along the longest
//! axis until few are left -> descend into the nearer child first, and skip boxes
//! that are farther than the best triangle so far.

use glam::Vec3;

use crate::primitives::point_triangle::to_triangle;

const LEAF: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Node {
    low: Vec3,
    high: Vec3,
    /// A leaf's triangles, or the left child (the right one follows the left
    /// one's whole subtree, at `second`).
    first: u32,
    count: u32,
    second: u32,
}

/// A static tree over triangles.
#[derive(Clone, Debug)]
pub(crate) struct TriangleTree {
    nodes: Vec<Node>,
    triangles: Vec<[Vec3; 3]>,
    ids: Vec<u32>,
}

/// What [`TriangleTree::closest`] finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClosestTriangle {
    /// Index in the order given to [`TriangleTree::build`].
    pub(crate) id: u32,
    /// From the point to the closest point of the triangle.
    pub(crate) to: Vec3,
    /// Squared length of `to`.
    pub(crate) distance_squared: f32,
}

impl TriangleTree {
    /// A tree over `triangles`, which may be none.
    pub(crate) fn build(triangles: &[[Vec3; 3]]) -> Self {
        let mut ids: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut tree = Self {
            nodes: Vec::with_capacity(triangles.len()),
            triangles: Vec::new(),
            ids: Vec::new(),
        };
        if !ids.is_empty() {
            tree.split(triangles, &mut ids, 0);
        }
        tree.triangles = ids.iter().map(|&i| triangles[i as usize]).collect();
        tree.ids = ids;
        tree
    }

    fn split(&mut self, triangles: &[[Vec3; 3]], ids: &mut [u32], first: usize) {
        let corners = ids.iter().flat_map(|&i| triangles[i as usize]);
        let (low, high) = corners.fold(
            (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY)),
            |(lo, hi), p| (lo.min(p), hi.max(p)),
        );
        let at = self.nodes.len();
        self.nodes.push(Node {
            low,
            high,
            first: first as u32,
            count: ids.len() as u32,
            second: 0,
        });
        if ids.len() <= LEAF {
            return;
        }
        let size = high - low;
        let axis = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let centre = |i: u32| triangles[i as usize].iter().map(|p| p[axis]).sum::<f32>();
        let half = ids.len() / 2;
        ids.select_nth_unstable_by(half, |&a, &b| {
            centre(a).total_cmp(&centre(b)).then(a.cmp(&b))
        });
        let (left, right) = ids.split_at_mut(half);
        self.nodes[at].count = 0;
        self.split(triangles, left, first);
        self.nodes[at].second = self.nodes.len() as u32;
        self.split(triangles, right, first + half);
    }

    /// The closest triangle nearer than `bound`, of equal ones the lowest id.
    pub(crate) fn closest(&self, p: Vec3, bound: f32) -> Option<ClosestTriangle> {
        let mut best: Option<ClosestTriangle> = None;
        let mut limit = bound * bound;
        let mut stack = [0_u32; 64];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let at = stack[depth];
            let node = &self.nodes[at as usize];
            if box_distance_squared(node, p) > limit {
                continue;
            }
            if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                for k in range {
                    let to = to_triangle(p, self.triangles[k]);
                    let distance_squared = to.length_squared();
                    let better = match best {
                        Some(b) if distance_squared == b.distance_squared => self.ids[k] < b.id,
                        _ => distance_squared < limit,
                    };
                    if better {
                        limit = distance_squared;
                        best = Some(ClosestTriangle {
                            id: self.ids[k],
                            to,
                            distance_squared,
                        });
                    }
                }
                continue;
            }
            let (a, b) = (at + 1, node.second);
            let near_first = box_distance_squared(&self.nodes[a as usize], p)
                <= box_distance_squared(&self.nodes[b as usize], p);
            stack[depth] = if near_first { b } else { a };
            stack[depth + 1] = if near_first { a } else { b };
            depth += 2;
        }
        best
    }
}

fn box_distance_squared(node: &Node, p: Vec3) -> f32 {
    (p - p.clamp(node.low, node.high)).length_squared()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    #[test]
    fn it_finds_what_a_search_over_all_triangles_finds() {
        let mut rng = Rng(8);
        for count in [0, 1, 3, 5, 200] {
            let triangles: Vec<[Vec3; 3]> = (0..count)
                .map(|_| {
                    let a = rng.in_box(Vec3::NEG_ONE, Vec3::ONE);
                    [a, a + rng.direction() * 0.2, a + rng.direction() * 0.2]
                })
                .collect();
            let tree = TriangleTree::build(&triangles);
            for _ in 0..100 {
                let p = rng.in_box(Vec3::splat(-2.0), Vec3::splat(2.0));
                let bound = if rng.unit() < 0.5 { f32::INFINITY } else { 0.5 };
                let all = triangles
                    .iter()
                    .map(|&t| to_triangle(p, t).length_squared())
                    .enumerate()
                    .min_by(|a, b| a.1.total_cmp(&b.1))
                    .filter(|&(_, d)| d < bound * bound)
                    .map(|(i, _)| i as u32);
                assert_eq!(tree.closest(p, bound).map(|c| c.id), all);
            }
        }
    }
}
