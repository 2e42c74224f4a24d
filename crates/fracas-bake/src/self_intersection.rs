//! Counts the pairs of triangles of a surface that intersect.
//!
//! The rule, for a pair of triangles with
//! - no common vertex: they have a common point (touching counts);
//! - one common vertex: they have a common point besides it;
//! - two common vertices: they lie in one plane, on the same side of the common edge;
//! - three: not counted here (coincident triangles are reported on their own).
//!
//! A triangle of zero area counts as its edges; two such triangles are not tested
//! against each other. Vertices are compared by number: exact duplicates are welded
//! on reading.
//!
//! Steps: a tree of boxes (median split on the longest axis), walked against itself;
//! pairs with overlapping boxes are decided with exact orientation (`robust`). Two
//! triangles meet exactly where an edge of one meets the other.
//!
//! **Guarantee**: exact for coordinates whose triple products neither overflow nor
//! underflow. The work is bounded: beyond [`PAIR_LIMIT`] pairs of boxes the count so
//! far is given as a lower bound.

use glam::{DVec2, DVec3};
use robust::{Coord, Coord3D, orient2d, orient3d};

use crate::surface_mesh::SurfaceMesh;

/// Pairs of triangles with overlapping boxes that are tested before giving up.
pub(crate) const PAIR_LIMIT: usize = 20_000_000;

/// How many pairs of triangles intersect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Intersections {
    pub(crate) pairs: usize,
    /// False when the work limit was reached: there may be more.
    pub(crate) complete: bool,
}

/// Counts intersecting pairs by the rule at the head of the file.
pub(crate) fn count(mesh: &SurfaceMesh) -> Intersections {
    let tree = BoxTree::build(mesh);
    let mut found = Intersections {
        pairs: 0,
        complete: true,
    };
    let mut left = PAIR_LIMIT;
    tree.each_pair(|a, b| {
        if left == 0 {
            found.complete = false;
            return false;
        }
        left -= 1;
        found.pairs += usize::from(intersect(mesh, a, b));
        true
    });
    found
}

fn intersect(mesh: &SurfaceMesh, a: u32, b: u32) -> bool {
    let (ta, tb) = (mesh.triangles()[a as usize], mesh.triangles()[b as usize]);
    let shared = ta.iter().filter(|v| tb.contains(v)).count();
    let (pa, pb) = (
        Triangle::new(mesh.corners(a)),
        Triangle::new(mesh.corners(b)),
    );
    match shared {
        0 => (0..3).any(|k| pb.meets(pa.edge(k))) || (0..3).any(|k| pa.meets(pb.edge(k))),
        1 => {
            let opposite = |t: [u32; 3], other: [u32; 3]| {
                (0..3).find(|&k| other.contains(&t[k])).map_or(0, |k| k + 1)
            };
            pb.meets(pa.edge(opposite(ta, tb))) || pa.meets(pb.edge(opposite(tb, ta)))
        }
        2 => {
            let apex = |t: [u32; 3], other: [u32; 3]| {
                (0..3).find(|&k| !other.contains(&t[k])).unwrap_or(0)
            };
            folded(&pa, apex(ta, tb), &pb, apex(tb, ta))
        }
        _ => false,
    }
}

/// Two triangles with a common edge: in one plane and on the same side of the edge.
fn folded(a: &Triangle, apex_a: usize, b: &Triangle, apex_b: usize) -> bool {
    let [p, q] = a.edge(apex_a + 1);
    let (x, y) = (a.corners[apex_a], b.corners[apex_b]);
    if orient(p, q, x, y) != 0.0 {
        return false;
    }
    let Some(axis) = a.axis else { return false };
    let [p, q, x, y] = [p, q, x, y].map(|c| flatten(c, axis));
    turn(p, q, x) * turn(p, q, y) > 0.0
}

/// Whether a triangle has exactly no area.
pub(crate) fn is_flat(corners: [DVec3; 3]) -> bool {
    Triangle::new(corners).axis.is_none()
}

struct Triangle {
    corners: [DVec3; 3],
    /// An axis along which the projection keeps an area; none for zero area.
    axis: Option<usize>,
}

impl Triangle {
    fn new(corners: [DVec3; 3]) -> Self {
        let area = |axis: usize| {
            let [a, b, c] = corners.map(|p| flatten(p, axis));
            turn(a, b, c)
        };
        let areas = [area(0), area(1), area(2)].map(f64::abs);
        let largest = (0..3).fold(0, |best, k| if areas[k] > areas[best] { k } else { best });
        Self {
            corners,
            axis: (areas[largest] != 0.0).then_some(largest),
        }
    }

    /// The edge from corner `k` to the next; `k` counts round.
    fn edge(&self, k: usize) -> [DVec3; 2] {
        [self.corners[k % 3], self.corners[(k + 1) % 3]]
    }

    /// Whether the closed triangle and the closed segment have a common point.
    fn meets(&self, [p, q]: [DVec3; 2]) -> bool {
        let Some(axis) = self.axis else { return false };
        let [a, b, c] = self.corners;
        let (above, below) = (orient(a, b, c, p), orient(a, b, c, q));
        if above * below > 0.0 || (above > 0.0 && below > 0.0) || (above < 0.0 && below < 0.0) {
            return false;
        }
        if above == 0.0 && below == 0.0 {
            let corners = self.corners.map(|x| flatten(x, axis));
            return meets_flat(corners, flatten(p, axis), flatten(q, axis));
        }
        let sides = [orient(p, q, a, b), orient(p, q, b, c), orient(p, q, c, a)];
        sides.iter().all(|&s| s >= 0.0) || sides.iter().all(|&s| s <= 0.0)
    }
}

/// In the plane: the closed triangle and the closed segment have a common point.
fn meets_flat(corners: [DVec2; 3], p: DVec2, q: DVec2) -> bool {
    let sides = [0, 1, 2].map(|k| turn(corners[k], corners[(k + 1) % 3], p));
    let inside = sides.iter().all(|&s| s >= 0.0) || sides.iter().all(|&s| s <= 0.0);
    inside || (0..3).any(|k| segments_meet(corners[k], corners[(k + 1) % 3], p, q))
}

fn segments_meet(a: DVec2, b: DVec2, p: DVec2, q: DVec2) -> bool {
    let (ap, aq) = (turn(a, b, p), turn(a, b, q));
    let (pa, pb) = (turn(p, q, a), turn(p, q, b));
    let straddles = |x: f64, y: f64| (x <= 0.0 && y >= 0.0) || (x >= 0.0 && y <= 0.0);
    if ap == 0.0 && aq == 0.0 && pa == 0.0 && pb == 0.0 {
        // On one line: their boxes decide.
        let (lo, hi) = (a.min(b).max(p.min(q)), a.max(b).min(p.max(q)));
        return lo.x <= hi.x && lo.y <= hi.y;
    }
    straddles(ap, aq) && straddles(pa, pb)
}

fn flatten(p: DVec3, axis: usize) -> DVec2 {
    match axis {
        0 => DVec2::new(p.y, p.z),
        1 => DVec2::new(p.z, p.x),
        _ => DVec2::new(p.x, p.y),
    }
}

fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let coord = |p: DVec2| Coord { x: p.x, y: p.y };
    orient2d(coord(a), coord(b), coord(c))
}

fn orient(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    let coord = |p: DVec3| Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    };
    orient3d(coord(a), coord(b), coord(c), coord(d))
}

#[derive(Clone, Copy)]
struct Bounds {
    lo: DVec3,
    hi: DVec3,
}

impl Bounds {
    fn overlaps(&self, other: &Self) -> bool {
        self.lo.cmple(other.hi).all() && other.lo.cmple(self.hi).all()
    }

    fn join(self, other: Self) -> Self {
        Self {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }
}

struct Node {
    bounds: Bounds,
    /// Triangles of a leaf in `order`; empty for an inner node.
    leaf: std::ops::Range<usize>,
    /// Children of an inner node.
    children: [usize; 2],
}

struct BoxTree {
    nodes: Vec<Node>,
    order: Vec<u32>,
    boxes: Vec<Bounds>,
}

const LEAF: usize = 4;

impl BoxTree {
    fn build(mesh: &SurfaceMesh) -> Self {
        let boxes: Vec<Bounds> = (0..mesh.triangles().len() as u32)
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                Bounds {
                    lo: a.min(b).min(c),
                    hi: a.max(b).max(c),
                }
            })
            .collect();
        let mut tree = Self {
            nodes: Vec::new(),
            order: (0..boxes.len() as u32).collect(),
            boxes,
        };
        tree.split(0..tree.order.len());
        tree
    }

    /// Builds the node of a range of `order` and returns its number. The depth is
    /// logarithmic: ranges are halved.
    fn split(&mut self, range: std::ops::Range<usize>) -> usize {
        let bounds = self.order[range.clone()]
            .iter()
            .map(|&t| self.boxes[t as usize])
            .reduce(Bounds::join)
            .expect("a surface has triangles");
        let node = self.nodes.len();
        self.nodes.push(Node {
            bounds,
            leaf: range.clone(),
            children: [0; 2],
        });
        if range.len() > LEAF {
            let extent = bounds.hi - bounds.lo;
            let axis = (0..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
            let boxes = &self.boxes;
            let centre = |t: u32| boxes[t as usize].lo[axis] + boxes[t as usize].hi[axis];
            let half = range.len() / 2;
            // Ties by number, so that the tree is always the same.
            self.order[range.clone()].select_nth_unstable_by(half, |&a, &b| {
                centre(a).total_cmp(&centre(b)).then(a.cmp(&b))
            });
            let middle = range.start + half;
            let children = [
                self.split(range.start..middle),
                self.split(middle..range.end),
            ];
            self.nodes[node].children = children;
            self.nodes[node].leaf = 0..0;
        }
        node
    }

    /// Calls back with each pair of triangles whose boxes overlap, until it says false.
    fn each_pair(&self, mut callback: impl FnMut(u32, u32) -> bool) {
        let mut stack = vec![(0, 0)];
        while let Some((a, b)) = stack.pop() {
            let (na, nb) = (&self.nodes[a], &self.nodes[b]);
            if !na.bounds.overlaps(&nb.bounds) {
                continue;
            }
            let (leaf_a, leaf_b) = (!na.leaf.is_empty(), !nb.leaf.is_empty());
            if leaf_a && leaf_b {
                for i in na.leaf.clone() {
                    let from = if a == b { i + 1 } else { nb.leaf.start };
                    for j in from..nb.leaf.end {
                        let (s, t) = (self.order[i], self.order[j]);
                        let overlap = self.boxes[s as usize].overlaps(&self.boxes[t as usize]);
                        if overlap && !callback(s, t) {
                            return;
                        }
                    }
                }
            } else if a == b {
                let [left, right] = na.children;
                stack.extend([(left, left), (left, right), (right, right)]);
            } else if leaf_a || (!leaf_b && size(nb) > size(na)) {
                stack.extend(nb.children.map(|child| (a, child)));
            } else {
                stack.extend(na.children.map(|child| (child, b)));
            }
        }
    }
}

fn size(node: &Node) -> f64 {
    (node.bounds.hi - node.bounds.lo).element_sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn surface(positions: &[[f64; 3]], triangles: &[[u32; 3]]) -> SurfaceMesh {
        let positions = positions.iter().map(|&p| DVec3::from_array(p)).collect();
        SurfaceMesh::build(positions, triangles.to_vec()).unwrap()
    }

    fn pairs(positions: &[[f64; 3]], triangles: &[[u32; 3]]) -> usize {
        count(&surface(positions, triangles)).pairs
    }

    #[test]
    fn the_rule_by_shared_vertices() {
        let flat = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
        let with = |more: &[[f64; 3]]| [&flat[..], more].concat();
        // Nothing shared: through, touching with a corner, beside, above.
        for (more, expected) in [
            ([[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [9.0, 9.0, 0.0]], 1),
            ([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 1),
            ([[4.0, 4.0, 0.0], [5.0, 4.0, 0.0], [4.0, 5.0, 0.0]], 0),
            ([[1.0, 1.0, 0.1], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 0),
            ([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0], [1.0, 2.0, 0.0]], 1),
        ] {
            assert_eq!(
                pairs(&with(&more), &[[0, 1, 2], [3, 4, 5]]),
                expected,
                "{more:?}"
            );
        }
        // One shared vertex: only there, and crossing besides.
        for (more, expected) in [
            ([[-1.0, -1.0, 0.0], [-1.0, -2.0, 0.0]], 0),
            ([[1.0, 1.0, 1.0], [1.0, 1.0, -1.0]], 1),
            ([[2.0, 0.0, 0.0], [2.0, 0.0, 3.0]], 1),
        ] {
            assert_eq!(
                pairs(&with(&more), &[[0, 1, 2], [0, 3, 4]]),
                expected,
                "{more:?}"
            );
        }
        // Two shared vertices: a hinge, opened flat, closed flat.
        for (apex, expected) in [
            ([1.0, 1.0, 1.0], 0),
            ([1.0, -1.0, 0.0], 0),
            ([1.0, 1.0, 0.0], 1),
            ([9.0, 0.0, 0.0], 0),
        ] {
            assert_eq!(
                pairs(&with(&[apex]), &[[0, 1, 2], [1, 0, 3]]),
                expected,
                "{apex:?}"
            );
        }
        // All shared.
        assert_eq!(pairs(&flat, &[[0, 1, 2], [0, 2, 1]]), 0);
        // Zero area: a needle through the triangle.
        let needle = [[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 2.0]];
        assert_eq!(pairs(&with(&needle), &[[0, 1, 2], [3, 4, 5]]), 1);
    }

    /// Rational oracle: minimal over a grid of small integers, where i64 is exact.
    fn oracle_meet(a: [[i64; 3]; 3], b: [[i64; 3]; 3]) -> bool {
        // Separating axes of two triangles in space, exact in integers: they are
        // disjoint iff one of these axes separates them strictly. Normals, cross
        // products of edges, and for coplanar pairs normals of edges in the plane.
        let sub = |p: [i64; 3], q: [i64; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
        let cross = |p: [i64; 3], q: [i64; 3]| {
            [
                p[1] * q[2] - p[2] * q[1],
                p[2] * q[0] - p[0] * q[2],
                p[0] * q[1] - p[1] * q[0],
            ]
        };
        let edges = |t: [[i64; 3]; 3]| [sub(t[1], t[0]), sub(t[2], t[1]), sub(t[0], t[2])];
        let (ea, eb) = (edges(a), edges(b));
        let (na, nb) = (cross(ea[0], ea[1]), cross(eb[0], eb[1]));
        let mut axes = vec![na, nb];
        for e in ea {
            axes.push(cross(na, e));
            for f in eb {
                axes.push(cross(e, f));
            }
        }
        axes.extend(eb.map(|f| cross(nb, f)));
        !axes.iter().any(|n| {
            let dot = |p: [i64; 3]| n[0] * p[0] + n[1] * p[1] + n[2] * p[2];
            let (pa, pb) = (a.map(dot), b.map(dot));
            pa.iter().max() < pb.iter().min() || pb.iter().max() < pa.iter().min()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn disjoint_numbering_agrees_with_separating_axes(
            corners in prop::collection::vec(prop::array::uniform3(0_i8..4), 6)
        ) {
            let whole = |k: usize| corners[k].map(i64::from);
            let (a, b) = ([0, 1, 2].map(whole), [3, 4, 5].map(whole));
            let positions: Vec<_> = corners.iter().map(|c| c.map(f64::from)).collect();
            let mesh = surface(&positions, &[[0, 1, 2], [3, 4, 5]]);
            let proper = [0, 1].iter().all(|&t| Triangle::new(mesh.corners(t)).axis.is_some());
            prop_assume!(proper);
            prop_assert_eq!(count(&mesh).pairs == 1, oracle_meet(a, b));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn the_tree_finds_what_all_pairs_find(
            corners in prop::collection::vec(prop::array::uniform3(-20_i8..20), 60..150)
        ) {
            let positions: Vec<_> = corners.iter().map(|c| c.map(f64::from)).collect();
            let triangles: Vec<[u32; 3]> = (0..positions.len() as u32 - 2)
                .step_by(2)
                .map(|v| [v, v + 1, v + 2])
                .collect();
            let mesh = surface(&positions, &triangles);
            let all = (0..triangles.len() as u32)
                .flat_map(|a| (0..a).map(move |b| (a, b)))
                .filter(|&(a, b)| intersect(&mesh, a, b))
                .count();
            prop_assert_eq!(count(&mesh).pairs, all);
        }
    }
}
