//! Which subtrees cannot collide with themselves.
//!
//! # The default: normal cone and star-shaped contour
//!
//! Let S be the triangles of a node, V a direction, and let S be seen along V.
//!
//! **Theorem.** If
//! 1. every triangle of S has a normal N with N . V > 0,
//! 2. there is a point c such that every boundary half-edge of S (one whose
//!    triangle has no linked neighbour in S) runs strictly counter-clockwise around
//!    c, and
//! 3. a ray from c crosses exactly one boundary half-edge,
//!
//! then two triangles of S share only what the mesh says they share: a common
//! corner, a common edge, or nothing.
//!
//! *Proof.* Take the triangles as a 2-chain. Seen along V all are positively
//! oriented (1), so the number of triangles over a generic point p is the degree of
//! the chain at p, which is the winding number of its boundary around p. The
//! boundary of the chain is the sum of the boundary half-edges: linked ones cancel.
//! By (2) a ray from c crosses every boundary half-edge in the same, positive
//! sense, so winding numbers fall along it, from the number of crossings, which is
//! one (3) and the same for every ray, because c lies on no half-edge. Hence no
//! point is covered twice: interiors of seen triangles are disjoint. Touching is
//! excluded, too. Let two triangles touch at p as seen. The boundary is one simple
//! closed curve around c. If p is not on it, all edges through p are linked on both
//! sides; walking from the first triangle over linked edges around p covers a
//! neighbourhood of p exactly once, so the second is part of that walk: they share
//! the vertex or the edge at p. If p is on the curve, the walk runs from the one
//! boundary half-edge at p to the other and covers all of S near p, with the same
//! result. What is disjoint as seen is disjoint in space. ∎
//!
//! Neither connectedness nor a single loop is asked for: (2) and (3) imply them.
//! Edges that are not manifold are never linked, appear in the boundary in both
//! senses, and fail (2).
//!
//! **Over a step.** Vertices and c move linearly. N(t) . V and the doubled area of
//! (c, a, b) seen along V are quadratics in t; if their three Bernstein
//! coefficients are positive, (1) and (2) hold at every time. By (2) c is never on a
//! boundary half-edge, so the winding number around c is constant, and (3) needs
//! to be checked at the start only. So nothing in S touches at any time.
//!
//! **Rounding.** V is the node's mean normal; every coefficient of every normal must
//! have a cosine of at least 0.02 with it, against an error of 1e-4 (triangles whose
//! normal is less certain fail); areas must exceed a bound on their error. A test that cannot be certain does not
//! cull. Cost: linear in the triangles of the node, and none where the cone fails.
//!
//! # The modes of [Heo 2010, §6.2.1]
//!
//! Kept for comparison, named in [`Culling`]. Those that ignore internal boundaries
//! can miss collisions; the paper says so, and its Fig. 4 is a test here.
//!
//! **Deviations**: the full contour test asks for one loop without vertices that
//! appear twice, and for every pair of its edges to be provably apart over the
//! whole step (it does not subdivide time), so it culls a little less than an exact
//! one would, and misses nothing.

use std::ops::Range;

use glam::{DVec2, DVec3, Vec3};

use super::Culling;
use super::cone::SMALLEST_COSINE;
use super::ids::NONE;
use super::mesh::Mesh;
use super::threads::{CHUNK, both, of_chunks, of_ranges};
use super::tree::{CLEAR, COMPONENT_KNOWN, CULLED, IN_VAIN, Info, Leaf, Node, ONE_COMPONENT, Tree};
use fracas_geometry::primitives::Moving;
use fracas_geometry::primitives::bernstein::ROUND;

/// Relative error of a doubled area from projected points, generously.
const AREA_ERROR: f64 = 64.0 * ROUND;
/// Mean normals shorter than this are not worth a look: the normals hardly agree.
const LEAST_MEAN: f32 = 0.2;
/// Nodes with fewer triangles are left to the fans of their vertices.
const FEWEST: u32 = 12;
/// A node that could not be culled is tried again at every so manyth update: what it
/// would need seldom comes back quickly, and not culling is always right.
const PATIENCE: u32 = 8;
/// How often the centre is moved away from edges it is on the wrong side of.
const CENTRE_STEPS: usize = 3;

/// A boundary half-edge as seen: both ends, at start and end of the step.
#[derive(Clone, Copy, Debug)]
struct Seen {
    from: [DVec2; 2],
    to: [DVec2; 2],
    ids: [u32; 2],
}

/// Workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct CullScratch {
    contour: Vec<Seen>,
    stack: Vec<u32>,
    seen: Vec<bool>,
}

impl Tree {
    /// Decides for every node, from the top, whether it is culled, and computes
    /// `cost_self` [Heo 2010, eq. 7] on the way back. Below a culled node nothing
    /// is decided: no query goes there. Returns the nodes culled. To be called after
    /// `refit`, which counts the updates.
    pub(crate) fn cull(
        &mut self,
        mesh: &Mesh,
        culling: Culling,
        scratch: &mut CullScratch,
        parallel: bool,
    ) -> u32 {
        let culler = Culler {
            mesh,
            nodes: &self.nodes,
            leaves: &self.leaves,
            neighbours: &self.neighbours,
            normals: &self.normals,
            culling,
            round: self.round,
            parallel,
        };
        culler.cull(&mut self.info, 0, scratch)
    }
}

/// What culling reads.
struct Culler<'a> {
    mesh: &'a Mesh,
    nodes: &'a [Node],
    leaves: &'a [Leaf],
    neighbours: &'a [[u32; 3]],
    normals: &'a [Vec3],
    culling: Culling,
    round: u32,
    parallel: bool,
}

impl Culler<'_> {
    /// Of the subtree of a node, whose `info` it is. Large ones are cut in two for threads.
    fn cull(&self, info: &mut [Info], node: usize, scratch: &mut CullScratch) -> u32 {
        let (own, below) = info.split_first_mut().expect("the node itself");
        if own.flags & CLEAR != 0 {
            own.flags |= CULLED;
            own.cost_self = 0.0;
            return 1;
        }
        let waits = own.flags & IN_VAIN != 0
            && !(node as u32)
                .wrapping_add(self.round)
                .is_multiple_of(PATIENCE);
        let culled = !waits && self.decide(own, scratch);
        own.flags &= !(CULLED | IN_VAIN);
        own.flags |= if culled { CULLED } else { IN_VAIN };
        if culled {
            own.cost_self = 0.0;
            return 1;
        }
        if self.nodes[node].is_leaf() {
            own.cost_self = (own.count * (own.count - 1) / 2) as f32;
            return 0;
        }
        let (l, r) = (node + 1, self.nodes[node].link() as usize);
        let (left, right) = below.split_at_mut(r - l);
        let mut culled = [0; 2];
        if self.parallel && own.count as usize > CHUNK {
            let [in_left, in_right] = &mut culled;
            both(
                true,
                || *in_left = self.cull(left, l, scratch),
                || *in_right = self.cull(right, r, &mut CullScratch::default()),
            );
        } else {
            culled = [self.cull(left, l, scratch), self.cull(right, r, scratch)];
        }
        let (left, right) = (&left[0], &right[0]);
        own.cost_self = left.cost_inter + right.cost_inter + left.cost_self + right.cost_self;
        culled[0] + culled[1]
    }

    fn decide(&self, info: &mut Info, scratch: &mut CullScratch) -> bool {
        let culling = self.culling;
        if culling == Culling::StarContour {
            let moving = self.normals.len() > self.leaves.len();
            return info.count >= FEWEST && self.normals_on_one_side(info) && {
                self.see_contour(info, true, &mut scratch.contour);
                if moving {
                    star_shaped::<2>(&scratch.contour)
                } else {
                    star_shaped::<1>(&scratch.contour)
                }
            };
        }
        if culling == Culling::Off || !info.normals.is_valid() {
            return false;
        }
        // The paper's modes cull connected patches only.
        if !self.one_component(info, &mut scratch.stack, &mut scratch.seen) {
            return false;
        }
        match culling {
            Culling::Off | Culling::StarContour => false,
            Culling::NormalCone => true,
            Culling::DualCone => {
                let (normals, binormals) = (&info.normals, &info.binormals);
                binormals.is_empty()
                    || binormals.is_valid()
                        && normals.axis.dot(binormals.axis).abs() < binormals.cosine
            }
            Culling::FullContour | Culling::RealContour => {
                let full = culling == Culling::FullContour;
                self.see_contour(info, full, &mut scratch.contour);
                (!full || one_loop(&mut scratch.contour)) && edges_apart(&scratch.contour)
            }
        }
    }

    /// Condition 1 of the theorem over the step, with V the mean normal: each
    /// direction of each triangle, until one fails.
    fn normals_on_one_side(&self, info: &Info) -> bool {
        let stride = self.normals.len() / self.leaves.len();
        let sum = info.normals.axis;
        let length = sum.length();
        if length.is_nan() || length <= LEAST_MEAN * info.count as f32 {
            return false;
        }
        let v = sum / length;
        let range = info.first as usize * stride..(info.first + info.count) as usize * stride;
        let along = |normals: &[Vec3]| normals.iter().all(|n| n.dot(v) > SMALLEST_COSINE);
        let normals = &self.normals[range];
        if self.parallel && normals.len() > CHUNK {
            let parts = of_chunks(true, normals, along);
            return parts.into_iter().all(|along| along);
        }
        along(normals)
    }

    /// Whether the triangles of a node hang together across edges, remembered.
    fn one_component(&self, info: &mut Info, stack: &mut Vec<u32>, seen: &mut Vec<bool>) -> bool {
        if info.flags & COMPONENT_KNOWN != 0 {
            return info.flags & ONE_COMPONENT != 0;
        }
        let (first, count) = (info.first, info.count);
        seen.clear();
        seen.resize(count as usize, false);
        stack.clear();
        stack.push(first);
        seen[0] = true;
        let mut reached = 1;
        while let Some(place) = stack.pop() {
            for n in self.neighbours[place as usize] {
                let local = n.wrapping_sub(first);
                if local < count && !seen[local as usize] {
                    seen[local as usize] = true;
                    reached += 1;
                    stack.push(n);
                }
            }
        }
        let one = reached == count;
        info.flags |= COMPONENT_KNOWN | if one { ONE_COMPONENT } else { 0 };
        one
    }

    /// The boundary half-edges of a node seen along the axis of its normal cone:
    /// all, or those that bound the mesh itself.
    fn see_contour(&self, info: &Info, internal: bool, contour: &mut Vec<Seen>) {
        let mesh = self.mesh;
        let (first, count) = (info.first, info.count);
        let axis = info.normals.axis.as_dvec3().normalize();
        let (u, v) = axis.any_orthonormal_pair();
        let origin = mesh.positions[self.leaves[first as usize].corners[0] as usize][0];
        let flat = |p: DVec3| DVec2::new((p - origin).dot(u), (p - origin).dot(v));
        let see = |[start, end]: &Moving| [flat(*start), flat(*end)];
        let see_part = |places: Range<usize>, contour: &mut Vec<Seen>| {
            for place in places {
                let neighbours = self.neighbours[place];
                for k in 0..3 {
                    let inside = neighbours[k].wrapping_sub(first) < count;
                    if inside || !internal && neighbours[k] != NONE {
                        continue;
                    }
                    let corners = self.leaves[place].corners;
                    let ids = [corners[k], corners[(k + 1) % 3]];
                    contour.push(Seen {
                        from: see(&mesh.positions[ids[0] as usize]),
                        to: see(&mesh.positions[ids[1] as usize]),
                        ids,
                    });
                }
            }
        };
        contour.clear();
        let places = first as usize..(first + count) as usize;
        if !self.parallel || places.len() <= CHUNK {
            return see_part(places, contour);
        }
        for mut part in of_ranges(true, places, |places| {
            let mut part = Vec::new();
            see_part(places, &mut part);
            part
        }) {
            contour.append(&mut part);
        }
    }
}

/// Conditions 2 and 3 of the theorem, over the step (`ENDS` is 2) or at rest (1).
fn star_shaped<const ENDS: usize>(contour: &[Seen]) -> bool {
    if contour.is_empty() {
        // A closed surface cannot have all normals on one side; never certain.
        return false;
    }
    // A moving centre: the mean of the contour, weighted by length so that fine
    // parts do not draw it near, then pushed off the edges it sees from behind.
    let mut centre = [DVec2::ZERO; 2];
    let mut weight = [0.0; 2];
    for e in contour {
        for t in 0..ENDS {
            let length = (e.to[t] - e.from[t]).length();
            centre[t] += (e.from[t] + e.to[t]) * (0.5 * length);
            weight[t] += length;
        }
    }
    for t in 0..ENDS {
        if weight[t].is_nan() || weight[t] <= 0.0 {
            return false;
        }
        centre[t] /= weight[t];
    }
    for step in 0..=CENTRE_STEPS {
        let mut push = [DVec2::ZERO; 2];
        let mut bad = 0;
        for e in contour {
            if !counter_clockwise::<ENDS>(e, centre) {
                bad += 1;
                for t in 0..ENDS {
                    // Inwards is left of the edge.
                    let d = e.to[t] - e.from[t];
                    let squared = d.length_squared();
                    if squared > 0.0 {
                        let inwards = DVec2::new(-d.y, d.x) / squared.sqrt();
                        let behind = (centre[t] - e.from[t]).dot(inwards);
                        if behind <= 0.0 {
                            push[t] += inwards * (-behind * 1.2 + 0.05 * squared.sqrt());
                        }
                    }
                }
            }
        }
        if bad == 0 {
            return crossings(contour, centre[0]) == 1;
        }
        if step == CENTRE_STEPS || bad * 4 > contour.len() {
            return false;
        }
        let share = 1.0 / f64::from(bad as u32).sqrt();
        for t in 0..ENDS {
            centre[t] += push[t] * share;
        }
    }
    false
}

/// Whether a half-edge provably runs counter-clockwise around the centre at all
/// times: the three Bernstein coefficients of the doubled area are positive.
#[inline]
fn counter_clockwise<const ENDS: usize>(e: &Seen, centre: [DVec2; 2]) -> bool {
    let (a0, b0) = (e.from[0] - centre[0], e.to[0] - centre[0]);
    let mut largest = a0.abs().max(b0.abs()).max_element();
    let mut farthest = centre[0].abs().max_element();
    let last = ENDS - 1;
    let (a1, b1) = (e.from[last] - centre[last], e.to[last] - centre[last]);
    if ENDS == 2 {
        largest = largest.max(a1.abs().max(b1.abs()).max_element());
        farthest = farthest.max(centre[1].abs().max_element());
    }
    // Points are projections with a relative error of a few roundings of their
    // distance from the origin, which is a point of the patch: of the size of the
    // patch, which twice the distance of the farthest point from the centre bounds
    // only roughly; hence the generous factor.
    let error = 16.0 * AREA_ERROR * largest * largest.max(farthest) + f64::MIN_POSITIVE;
    let at_start = a0.perp_dot(b0) > error;
    if ENDS == 1 {
        return at_start;
    }
    at_start && a0.perp_dot(b1) + a1.perp_dot(b0) > 2.0 * error && a1.perp_dot(b1) > error
}

/// How many half-edges the ray from `centre` along the first axis crosses upwards
/// minus downwards; all cross upwards here.
fn crossings(contour: &[Seen], centre: DVec2) -> i32 {
    let mut count = 0;
    for e in contour {
        let (below, above) = (e.from[0].y - centre.y, e.to[0].y - centre.y);
        // Runs counter-clockwise around the centre, so crossing the line upwards
        // means crossing it on the positive side.
        count += i32::from(below < 0.0 && above >= 0.0);
    }
    count
}

/// Orders the contour into one loop; false when it is none, or visits a vertex twice.
fn one_loop(contour: &mut [Seen]) -> bool {
    if contour.is_empty() {
        return false;
    }
    contour.sort_unstable_by_key(|e| e.ids[0]);
    if contour.windows(2).any(|w| w[0].ids[0] == w[1].ids[0]) {
        return false;
    }
    let mut at = 0;
    for steps in 1..=contour.len() {
        match contour.binary_search_by_key(&contour[at].ids[1], |e| e.ids[0]) {
            Ok(next) => at = next,
            Err(_) => return false,
        }
        if at == 0 {
            return steps == contour.len();
        }
    }
    false
}

/// Whether all pairs of edges are provably apart over the step: quadratic, as the
/// contour test of [Volino 1994] is.
fn edges_apart(contour: &[Seen]) -> bool {
    let bounds = |e: &Seen| {
        let [a, b, c, d] = [e.from[0], e.from[1], e.to[0], e.to[1]];
        (a.min(b).min(c).min(d), a.max(b).max(c).max(d))
    };
    for (i, e) in contour.iter().enumerate() {
        let (low, high) = bounds(e);
        for f in &contour[i + 1..] {
            let (other_low, other_high) = bounds(f);
            if low.cmpgt(other_high).any() || other_low.cmpgt(high).any() {
                continue;
            }
            if !apart(e, f) {
                return false;
            }
        }
    }
    true
}

/// Whether two moving edges are provably apart: one lies on one side of the other,
/// or, if they share an end, they do not fold onto one another.
fn apart(e: &Seen, f: &Seen) -> bool {
    let strictly = |line: &Seen, p: [DVec2; 2]| -> i32 {
        let edge = Seen {
            from: line.from,
            to: line.to,
            ids: line.ids,
        };
        let flipped = Seen {
            from: line.to,
            to: line.from,
            ids: line.ids,
        };
        i32::from(counter_clockwise::<2>(&edge, p)) - i32::from(counter_clockwise::<2>(&flipped, p))
    };
    let other_end = |g: &Seen, shared: u32| if g.ids[0] == shared { g.to } else { g.from };
    if let Some(&shared) = e.ids.iter().find(|id| f.ids.contains(id)) {
        if e.ids.iter().all(|id| f.ids.contains(id)) {
            return false;
        }
        // Turning strictly to one side at the shared end, or straight on.
        if strictly(e, other_end(f, shared)) != 0 {
            return true;
        }
        let at = if e.ids[0] == shared { e.from } else { e.to };
        let (p, q) = (other_end(e, shared), other_end(f, shared));
        return (0..2).all(|s| (0..2).all(|t| (p[s] - at[s]).dot(q[t] - at[t]) < 0.0));
    }
    let sides = [strictly(e, f.from), strictly(e, f.to)];
    let other = [strictly(f, e.from), strictly(f, e.to)];
    sides[0] * sides[1] > 0 || other[0] * other[1] > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An edge that does not move.
    fn edge(ids: [u32; 2], from: [f64; 2], to: [f64; 2]) -> Seen {
        Seen {
            from: [DVec2::from(from); 2],
            to: [DVec2::from(to); 2],
            ids,
        }
    }

    #[test]
    fn a_contour_is_counted_where_it_crosses_upwards() {
        let square = [[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let mut contour: Vec<Seen> = (0..4)
            .map(|i| edge([i as u32, i as u32 + 1], square[i], square[(i + 1) % 4]))
            .collect();
        assert_eq!(crossings(&contour, DVec2::ZERO), 1);
        contour.extend_from_within(..);
        assert_eq!(crossings(&contour, DVec2::ZERO), 2);
        assert_eq!(crossings(&contour, DVec2::new(0.0, 5.0)), 0);
    }

    #[test]
    fn edges_that_touch_cross_or_fold_are_not_apart() {
        let base = edge([0, 1], [0.0, 0.0], [2.0, 0.0]);
        let other = |from, to| edge([2, 3], from, to);
        assert!(apart(&base, &other([0.0, 1.0], [2.0, 1.0])));
        assert!(!apart(&base, &other([1.0, -1.0], [1.0, 1.0])));
        for touching in [other([1.0, 0.0], [1.0, 1.0]), other([1.0, 1.0], [1.0, 0.0])] {
            assert!(!apart(&base, &touching) && !apart(&touching, &base));
        }
        // With a common end: around a corner, straight on, and folded back.
        let next = |to| edge([1, 2], [2.0, 0.0], to);
        assert!(apart(&base, &next([2.0, 1.0])));
        assert!(apart(&base, &next([3.0, 0.0])));
        assert!(!apart(&base, &next([1.0, 0.0])));
        assert!(!apart(&base, &edge([1, 0], [2.0, 0.0], [0.0, 0.0])));
    }
}
