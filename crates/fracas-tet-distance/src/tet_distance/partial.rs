//! Marching only where it matters: to the nodes of marked tetrahedra, from boundary
//! that can influence them. [Marchal 2004, section 4.4]
//!
//! 1. Boxes are put around the wanted nodes;
//! 2. a probe marches inside the boxes only: roughly how deep the wanted nodes lie;
//! 3. a bounded march computes them; if its bound was too small, a larger one does.
//!
//! Let `b` be any function that is 0 on the wanted nodes and
//! changes by at most |uv| along an edge (here: distance to boxes around them). A
//! march that drops every offer with `t + CAUSALITY b > CAUSALITY r` computes the
//! same arrival, depth and feature as the full march for every node that keeps
//! within the bound: by induction over `t`, an offer that node considers comes from
//! a node that keeps within the bound too. A thousandth of the bound is kept back
//! for rounding; nodes in that rim are not reported.
//!
//! **Deviations.** The paper stops the loop early but starts from the whole boundary;
//! then the surface's size, not the contact's, decides the cost.
//!
//! **Guarantee.** Every node of a marked tetrahedron is reached if the full march
//! reaches it. Everything reached is bit-equal to the full march.

use glam::Vec3;

use super::bound::Bound;
use super::march::{CAUSALITY, DepthField, Method, boundary_scale};
use super::topology::Topology;
use fracas_geometry::tet_mesh::{NONE, TET_EDGES};

/// Share of the bound that is kept back for rounding: a chain of a thousand nodes
/// accumulates less than a tenth of it.
const RIM: f32 = 1e-3;

/// Where more than one of so many inner nodes is wanted, all are marched to: a probe and a
/// bounded march visit each node that they reach twice, and those around the wanted ones too.
const WHOLE: usize = 6;

/// The same where more than one of so many tetrahedra is marked. What is wanted is not even looked
/// at: that costs a tenth of a march.
const MANY: usize = 5;

impl DepthField {
    /// Marches only as far as the four nodes of every tetrahedron of `marked` need,
    /// starting only from boundary that can influence them. What is reached is
    /// bit-equal to [`DepthField::march`]; what is not is `None`.
    ///
    /// # Panics
    /// When `positions` has not one entry per node, or a mark is no tetrahedron. (Where many are
    /// marked, marks are not looked at.)
    pub fn march_to(&mut self, topology: &Topology, positions: &[Vec3], marked: &[u32]) {
        if marked.len() * MANY >= topology.tets().len() {
            self.march(topology, positions);
        } else {
            self.march_near(topology, positions, marked, WHOLE);
        }
    }

    /// As [`DepthField::march_to`]: to all only where one of `whole` inner nodes is wanted.
    fn march_near(
        &mut self,
        topology: &Topology,
        positions: &[Vec3],
        marked: &[u32],
        whole: usize,
    ) {
        assert_eq!(positions.len(), topology.nodes(), "one position per node");
        self.clear(topology);
        for &t in marked {
            for n in topology.tets()[t as usize] {
                if !topology.is_boundary(n) && !self.wanted[n as usize] {
                    self.wanted[n as usize] = true;
                    self.wanted_nodes.push(n);
                }
            }
        }
        if self.wanted_nodes.len() * whole >= topology.inner_nodes() {
            self.forget_wanted();
            self.march(topology, positions);
            return;
        }
        let edge = longest_edge(topology, positions, marked);
        let size = self.box_wanted(positions, edge);
        let (inscribed, farthest) = boundary_scale(topology, positions);
        // Beyond this nothing is dropped: the march is the full one, and what it
        // does not reach cannot be reached.
        let everything = 4.0 * size.max(inscribed);
        let boxes = std::mem::take(&mut self.boxes);
        let nowhere = [Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY)];
        let around_all = boxes
            .iter()
            .fold(nowhere, |[lo, hi], [from, to]| [lo.min(*from), hi.max(*to)]);
        let mut limit = f32::INFINITY;
        if !self.wanted_nodes.is_empty() {
            let probe = Bound {
                boxes: &boxes,
                whole: around_all,
                limit,
                margin: edge,
                slack: 0.0,
            };
            self.queue.reset(inscribed);
            let depth = self.advance(topology, positions, &probe);
            limit = depth.map_or(1.5 * edge, |(arrival, _)| 1.05 * arrival);
            self.clear_touched();
        }
        for attempt in 0.. {
            if self.wanted_nodes.is_empty() {
                break;
            }
            // Far too small a bound again and again: something is not finite.
            let last = attempt == 8 || !limit.is_finite() || limit >= everything || limit == 0.0;
            let bound = Bound {
                boxes: &boxes,
                whole: around_all,
                limit: if last { f32::INFINITY } else { limit },
                margin: f32::INFINITY,
                slack: if last {
                    0.0
                } else {
                    RIM * limit + 4.0 * f32::EPSILON * farthest
                },
            };
            self.queue.reset(limit.min(inscribed));
            if let Some(stop) = self.advance(topology, positions, &bound) {
                self.keep_certain(positions, &bound, stop);
                break;
            }
            if last {
                break;
            }
            self.clear_touched();
            limit *= 1.5;
        }
        self.boxes = boxes;
        self.forget_wanted();
    }

    fn forget_wanted(&mut self) {
        for n in self.wanted_nodes.drain(..) {
            self.wanted[n as usize] = false;
        }
    }

    /// One bounded march; its last pop, if all wanted nodes became final.
    fn advance(
        &mut self,
        topology: &Topology,
        positions: &[Vec3],
        bound: &Bound,
    ) -> Option<(f32, u32)> {
        let wanted = self.wanted_nodes.len();
        match self.method() {
            Method::ClosestPoint => {
                self.seed_points(topology, positions, Some(bound));
                self.advance_points(topology, positions, Some(bound), wanted)
            }
            Method::ClosestFeature => {
                self.seed_faces(topology, positions, Some(bound));
                self.advance_faces(topology, positions, Some(bound), wanted)
            }
        }
    }

    /// Unwrites everything that is not certainly equal to the full march.
    fn keep_certain(&mut self, positions: &[Vec3], bound: &Bound, stop: (f32, u32)) {
        for i in 0..self.touched.len() {
            let n = self.touched[i] as usize;
            // In the order of pops (arrival, node): nothing after the stop is final.
            let is_final = (self.arrival[n], n as u32) <= stop
                && self.arrival[n] + CAUSALITY * bound.beyond(positions[n]) <= bound.certain();
            if !is_final {
                (self.arrival[n], self.depth[n]) = (f32::INFINITY, f32::INFINITY);
                self.closest[n] = NONE;
            }
        }
    }

    /// Boxes around the wanted nodes, at most 16 of them; returns the size of the whole.
    fn box_wanted(&mut self, positions: &[Vec3], edge: f32) -> f32 {
        const MOST: usize = 16;
        self.boxes.clear();
        let (mut lo, mut hi) = (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY));
        for &n in &self.wanted_nodes {
            (lo, hi) = (lo.min(positions[n as usize]), hi.max(positions[n as usize]));
        }
        let mut cell = 8.0 * edge;
        // Greedy: a node joins the first box that it does not make larger than a
        // cell; with too many boxes, the cell doubles.
        'larger: loop {
            self.boxes.clear();
            for &n in &self.wanted_nodes {
                let p = positions[n as usize];
                let fits = self
                    .boxes
                    .iter()
                    .position(|[lo, hi]| (hi.max(p) - lo.min(p)).max_element() <= cell);
                match fits {
                    Some(i) => {
                        let [lo, hi] = &mut self.boxes[i];
                        (*lo, *hi) = (lo.min(p), hi.max(p));
                    }
                    None if self.boxes.len() < MOST => self.boxes.push([p, p]),
                    None if cell > 0.0 && cell < f32::MAX / 4.0 => {
                        cell *= 2.0;
                        continue 'larger;
                    }
                    // Not finite: no box can hold it, so nothing is dropped.
                    None => {
                        self.boxes.clear();
                        self.boxes.push([lo, hi]);
                        break;
                    }
                }
            }
            return (hi - lo).max_element();
        }
    }
}

fn longest_edge(topology: &Topology, positions: &[Vec3], tets: &[u32]) -> f32 {
    let mut longest = 0.0_f32;
    for &t in tets {
        let corners = topology.tets()[t as usize].map(|n| positions[n as usize]);
        for [i, j] in TET_EDGES {
            longest = longest.max(corners[i].distance_squared(corners[j]));
        }
    }
    longest.sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::test_meshes::{shaken, shaken_and_cut};
    use super::*;
    use fracas_geometry::testing::Rng;

    #[test]
    fn a_partial_march_is_bit_equal_where_it_reached() {
        let mut rng = Rng(5);
        for seed in 0..8 {
            let (topology, positions) = if seed % 2 == 0 {
                shaken([16, 12, 10], seed)
            } else {
                shaken_and_cut(seed)
            };
            for method in [Method::ClosestPoint, Method::ClosestFeature] {
                let mut full = DepthField::new(method);
                full.march(&topology, &positions);
                // One field serves all partial marches: what a march leaves behind
                // must not show in the next.
                let mut partial = DepthField::new(method);
                for round in 0..20 {
                    let tets = topology.tets().len();
                    let marked: Vec<u32> = match round {
                        0 => vec![],
                        1 => (0..tets as u32).collect(),
                        _ => (0..1 + rng.below(10))
                            .map(|_| rng.below(tets) as u32)
                            .collect(),
                    };
                    partial.march_to(&topology, &positions, &marked);
                    for &t in &marked {
                        for n in topology.tets()[t as usize] {
                            assert!(partial.depth(n).is_some(), "a marked node was not reached");
                        }
                    }
                    for n in 0..topology.nodes() as u32 {
                        if let Some(depth) = partial.depth(n) {
                            assert_eq!(Some(depth), full.depth(n), "node {n}");
                            let at = |field: &DepthField| field.closest(&topology, &positions, n);
                            assert_eq!(at(&partial), at(&full));
                        }
                    }
                    partial.validate(&topology, &positions).unwrap();
                }
            }
        }
    }

    /// Where so many are marked that all are marched to without a look, little is lost by it,
    /// whatever is marked: nodes made final, against those that a partial march makes final twice.
    #[test]
    fn where_many_are_marked_a_full_march_costs_little_more() {
        let (topology, positions) = shaken([20, 20, 20], 7);
        let mut rng = Rng(11);
        let centres: Vec<Vec3> = topology
            .tets()
            .iter()
            .map(|tet| tet.map(|n| positions[n as usize]).iter().sum::<Vec3>() / 4.0)
            .collect();
        let scatter: Vec<f32> = centres.iter().map(|_| rng.unit()).collect();
        let middle = Vec3::splat(10.0);
        let from_face = |p: Vec3| p.min(Vec3::splat(20.0) - p).min_element();
        let kinds: [(&str, &dyn Fn(usize) -> f32); 8] = [
            ("under one face", &|t| centres[t].x),
            ("under all faces", &|t| from_face(centres[t])),
            ("a slab in the middle", &|t| (centres[t].x - 10.0).abs()),
            ("a ball in the middle", &|t| centres[t].distance(middle)),
            ("around a corner", &|t| centres[t].length()),
            ("around an edge", &|t| centres[t].truncate().length()),
            ("anywhere", &|t| scatter[t]),
            ("a row of blocks", &|t| (centres[t].x % 5.0) + centres[t].y),
        ];
        for method in [Method::ClosestPoint, Method::ClosestFeature] {
            let mut field = DepthField::new(method);
            for (kind, measure) in kinds {
                let mut marked: Vec<u32> = (0..centres.len() as u32).collect();
                marked.sort_by(|&a, &b| measure(a as usize).total_cmp(&measure(b as usize)));
                marked.truncate(centres.len().div_ceil(MANY));
                field.march_to(&topology, &positions, &marked);
                let all = field.popped();
                assert_eq!(
                    all,
                    topology.inner_nodes(),
                    "{kind}: not all were marched to"
                );
                field.march_near(&topology, &positions, &marked, 0);
                let near = field.popped();
                println!("{kind}, {method:?}: {all} instead of {near}");
                assert!(all <= 2 * near, "{kind}: {all} instead of {near}");
                // Below the share the marks are looked at.
                marked.pop();
                field.march_to(&topology, &positions, &marked);
                assert!(field.popped() <= all + near, "{kind}");
            }
        }
    }

    /// Many marks are not looked at, even where all are of one tetrahedron.
    #[test]
    fn where_many_are_marked_they_are_not_looked_at() {
        let (topology, positions) = shaken([12, 12, 12], 5);
        let mut field = DepthField::new(Method::ClosestPoint);
        let many = topology.tets().len().div_ceil(MANY);
        field.march_to(&topology, &positions, &vec![0; many]);
        assert_eq!(field.popped(), topology.inner_nodes());
        field.march_to(&topology, &positions, &vec![0; many - 1]);
        assert!(field.popped() < topology.inner_nodes() / 4);
    }

    #[test]
    fn a_partial_march_stays_near_its_marks() {
        let (topology, positions) = shaken([24, 24, 24], 3);
        let mut field = DepthField::new(Method::ClosestPoint);
        field.march(&topology, &positions);
        let all = field.popped();
        // Tetrahedra just below the middle of one face, as a contact marks them.
        let marked: Vec<u32> = (0..topology.tets().len() as u32)
            .filter(|&t| {
                topology.tets()[t as usize].iter().all(|&n| {
                    let p = positions[n as usize];
                    p.z < 2.3 && (p.x - 12.0).abs() < 3.0 && (p.y - 12.0).abs() < 3.0
                })
            })
            .collect();
        assert!(marked.len() > 50);
        field.march_to(&topology, &positions, &marked);
        assert!(field.popped() * 8 < all, "{} of {all}", field.popped());
    }
}
