//! Closest-feature fast marching on the edges of a tet mesh: how deep each node lies.
//!
//! Boundary nodes have depth 0. Each inner node carries the boundary feature it
//! believes to be closest, and hands it to its neighbours in order of arrival:
//!
//! 1. seed: an inner node beside the boundary takes the closest of the features at
//!    its boundary neighbours (their points, or all their incident triangles);
//! 2. pop the node `u` with the least arrival time; it is final. Its triangle (CFFM)
//!    is exchanged for a neighbouring one of the boundary while that is closer;
//! 3. offer its feature `f` to each inner neighbour `v`: the offer has depth
//!    `c = dist(v, f)` and arrival time `t = max(c, t_u + CAUSALITY |uv|)`; `v` keeps
//!    the offer with the least `(t, c, f)`; back to 2.
//!
//! [`Method::ClosestPoint`] (CPFM) carries boundary nodes, [`Method::ClosestFeature`]
//! (CFFM) boundary triangles, and with them their edges and corners.
//! [Marchal 2004, sections 4.2 and 4.4]
//!
//! | paper | here |
//! | --- | --- |
//! | n_d | `depth` |
//! | n_f | `closest` |
//! | n_x | `positions[v]` |
//! | ALIVE | popped: `arrival[v] <= t_u` |
//! | NARROW_BAND | in the queue |
//!
//! **Deviations.** The paper orders the queue by distance alone. Handing on a
//! feature can then yield a neighbour *closer* to the boundary than the node that
//! handed it on, so the order of pops is not monotone, the result depends on how
//! ties fall, and any node can depend on any other, however far along the surface.
//! Here a feature needs time to travel: it cannot arrive at `v` before
//! `t_u + CAUSALITY |uv|`. Almost everywhere `t = c` and nothing changes; but keys
//! are monotone, the result is independent of the order in which ties are popped,
//! and a node of arrival time `t` depends only on nodes within `t / CAUSALITY` of it
//! along edges. That is what makes the partial march exact *and* local.
//! Seeds are all features incident to boundary neighbours: the paper's text seeds
//! nodes only, which would leave CFFM equal to CPFM. The walk from triangle to
//! triangle in step 2 is not in the paper; it removes most of the error that is
//! left, for the price of three distances a node.
//!
//! **Partial march.** Let `b` be any function that is 0 on the wanted nodes and
//! changes by at most |uv| along an edge (here: distance to boxes around them). A
//! march that drops every offer with `t + CAUSALITY b > CAUSALITY r` computes the
//! same arrival, depth and feature as the full march for every node that keeps
//! within the bound: by induction over `t`, an offer that node considers comes from
//! a node that keeps within the bound too. So: choose `r`, march until all wanted
//! nodes are final; if the front dies out before, double `r` and repeat. A thousandth
//! of the bound is kept back for rounding; nodes in that rim are not reported.
//!
//! **Guarantee.** Never below the true distance to the boundary (beyond rounding of
//! `dist`); zero on the boundary; at most the length of the shortest path along
//! edges. Overestimates where the nearest feature's domain is not reached along
//! mesh edges; the error table measures how much. NaN positions leave nodes
//! unreached and harm nobody else. Allocates nothing once warm.

use glam::Vec3;

use super::features::{Feature, TriangleDistance};
use super::queue::ArrivalQueue;
use super::topology::Topology;
use crate::tet_mesh::{NONE, TET_EDGES};

/// Speed limit of a feature: it advances along an edge in no less than this share
/// of the edge's length. Larger makes partial marches more local and errors larger;
/// at 1/4 the errors are those of no limit (see `docs/tet_distance.md`).
pub const CAUSALITY: f32 = 0.25;

/// Share of the bound of a partial march that is kept back for rounding: a chain
/// of a thousand nodes accumulates less than a tenth of it.
const RIM: f32 = 1e-3;

/// What the march hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// CPFM: the closest boundary node. Fastest.
    ClosestPoint,
    /// CFFM: the closest boundary triangle, edge or node. Most exact.
    ClosestFeature,
}

/// The depth of every node below the boundary, with the memory to recompute it.
#[derive(Clone, Debug)]
pub struct DepthField {
    method: Method,
    /// Infinite where not reached.
    depth: Vec<f32>,
    /// Arrival time; infinite where not reached.
    arrival: Vec<f32>,
    /// A node or a face of the topology, by method; [`NONE`] where not reached.
    closest: Vec<u32>,
    queue: ArrivalQueue,
    /// Nodes whose values a partial march has written.
    touched: Vec<u32>,
    wanted: Vec<bool>,
    wanted_nodes: Vec<u32>,
    boxes: Vec<[Vec3; 2]>,
    /// Everything is written, not only `touched`.
    full: bool,
    revision: u64,
    popped: usize,
}

/// Restricts a march to what can influence the wanted nodes.
struct Bound<'a> {
    boxes: &'a [[Vec3; 2]],
    /// `CAUSALITY * r`.
    limit: f32,
    /// Kept back from the limit, for rounding.
    slack: f32,
}

impl Bound<'_> {
    /// A lower bound of the distance to any wanted node, 1-Lipschitz.
    #[inline]
    fn beyond(&self, p: Vec3) -> f32 {
        let squared = self.boxes.iter().fold(f32::INFINITY, |best, [lo, hi]| {
            let outside = (*lo - p).max(p - *hi).max(Vec3::ZERO);
            best.min(outside.length_squared())
        });
        squared.sqrt()
    }

    #[inline]
    fn allows(&self, arrival: f32, p: Vec3) -> bool {
        arrival + CAUSALITY * self.beyond(p) <= self.limit
    }
}

impl DepthField {
    /// An empty field: every march sizes it.
    #[must_use]
    pub fn new(method: Method) -> Self {
        Self {
            method,
            depth: Vec::new(),
            arrival: Vec::new(),
            closest: Vec::new(),
            queue: ArrivalQueue::default(),
            touched: Vec::new(),
            wanted: Vec::new(),
            wanted_nodes: Vec::new(),
            boxes: Vec::new(),
            full: false,
            revision: 0,
            popped: 0,
        }
    }

    /// What it hands on.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// The depth of a node, or `None` if the last march did not reach it.
    #[must_use]
    pub fn depth(&self, node: u32) -> Option<f32> {
        let depth = self.depth[node as usize];
        depth.is_finite().then_some(depth)
    }

    /// The depths of all nodes; infinite where the last march did not reach.
    #[must_use]
    pub fn depths(&self) -> &[f32] {
        &self.depth
    }

    /// The number of inner nodes made final by the last march, repeats included:
    /// its cost, in units that no clock disturbs.
    #[must_use]
    pub fn popped(&self) -> usize {
        self.popped
    }

    /// The closest point of the boundary and the feature it lies on, as far as the
    /// march knows; `None` where it did not reach.
    #[must_use]
    pub fn closest(
        &self,
        topology: &Topology,
        positions: &[Vec3],
        node: u32,
    ) -> Option<(Vec3, Feature)> {
        if topology.is_boundary(node) {
            return Some((positions[node as usize], Feature::Vertex(node)));
        }
        match (self.closest[node as usize], self.method) {
            (NONE, _) => None,
            (n, Method::ClosestPoint) => Some((positions[n as usize], Feature::Vertex(n))),
            (f, Method::ClosestFeature) => {
                let nodes = topology.faces()[f as usize];
                let triangle = TriangleDistance::new(nodes.map(|n| positions[n as usize]));
                Some(triangle.closest(nodes, positions[node as usize]))
            }
        }
    }

    /// Marches over the whole mesh.
    ///
    /// # Panics
    /// When `positions` has not one entry per node.
    pub fn march(&mut self, topology: &Topology, positions: &[Vec3]) {
        assert_eq!(positions.len(), topology.nodes(), "one position per node");
        self.clear(topology);
        self.full = true;
        self.queue.reset(boundary_scale(topology, positions).0);
        match self.method {
            Method::ClosestPoint => {
                self.seed_points(topology, positions, None);
                self.advance_points(topology, positions, None, usize::MAX);
            }
            Method::ClosestFeature => {
                self.seed_faces(topology, positions, None);
                self.advance_faces(topology, positions, None, usize::MAX);
            }
        }
    }

    /// Marches only as far as the four nodes of every tetrahedron of `marked` need,
    /// starting only from boundary that can influence them. What is reached is
    /// bit-equal to [`DepthField::march`]; what is not is `None`.
    ///
    /// # Panics
    /// When `positions` has not one entry per node, or a mark is no tetrahedron.
    pub fn march_to(&mut self, topology: &Topology, positions: &[Vec3], marked: &[u32]) {
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
        let edge = longest_edge(topology, positions, marked);
        let size = self.box_wanted(positions, edge);
        let mut limit = 1.5 * edge;
        let (inscribed, farthest) = boundary_scale(topology, positions);
        // Beyond this nothing is dropped: the march is the full one, and what it
        // does not reach cannot be reached.
        let everything = 4.0 * size.max(inscribed);
        let boxes = std::mem::take(&mut self.boxes);
        while !self.wanted_nodes.is_empty() {
            let last = !limit.is_finite() || limit >= everything || limit == 0.0;
            let bound = Bound {
                boxes: &boxes,
                limit: if last { f32::INFINITY } else { limit },
                slack: if last {
                    0.0
                } else {
                    RIM * limit + 4.0 * f32::EPSILON * farthest
                },
            };
            self.queue.reset(limit.min(inscribed));
            if self.march_within(topology, positions, &bound) || last {
                break;
            }
            self.clear_touched();
            limit *= 2.0;
        }
        self.boxes = boxes;
        for n in self.wanted_nodes.drain(..) {
            self.wanted[n as usize] = false;
        }
    }

    /// One attempt; whether all wanted nodes are final. Then everything that is
    /// not certainly equal to the full march is unwritten again.
    fn march_within(&mut self, topology: &Topology, positions: &[Vec3], bound: &Bound) -> bool {
        let wanted = self.wanted_nodes.len();
        let stop = match self.method {
            Method::ClosestPoint => {
                self.seed_points(topology, positions, Some(bound));
                self.advance_points(topology, positions, Some(bound), wanted)
            }
            Method::ClosestFeature => {
                self.seed_faces(topology, positions, Some(bound));
                self.advance_faces(topology, positions, Some(bound), wanted)
            }
        };
        let Some(stop) = stop else {
            return false;
        };
        let certain = bound.limit - bound.slack;
        for i in 0..self.touched.len() {
            let n = self.touched[i] as usize;
            // In the order of pops (arrival, node): nothing after the stop is final.
            let final_ = (self.arrival[n], n as u32) <= stop
                && self.arrival[n] + CAUSALITY * bound.beyond(positions[n]) <= certain;
            if !final_ {
                (self.arrival[n], self.depth[n]) = (f32::INFINITY, f32::INFINITY);
                self.closest[n] = NONE;
            }
        }
        true
    }

    fn clear(&mut self, topology: &Topology) {
        let nodes = topology.nodes();
        self.popped = 0;
        if self.full || self.revision != topology.revision() {
            self.arrival.clear();
            self.arrival.resize(nodes, f32::INFINITY);
            self.depth.clear();
            self.depth.resize(nodes, f32::INFINITY);
            self.closest.clear();
            self.closest.resize(nodes, NONE);
            self.wanted.clear();
            self.wanted.resize(nodes, false);
            for &n in topology.boundary_nodes() {
                self.depth[n as usize] = 0.0;
            }
            self.touched.clear();
            self.full = false;
            self.revision = topology.revision();
        }
        self.clear_touched();
    }

    fn clear_touched(&mut self) {
        for n in self.touched.drain(..) {
            self.arrival[n as usize] = f32::INFINITY;
            self.depth[n as usize] = f32::INFINITY;
            self.closest[n as usize] = NONE;
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

    fn seed_points(&mut self, topology: &Topology, positions: &[Vec3], bound: Option<&Bound>) {
        for (i, &v) in topology.near().iter().enumerate() {
            let p = positions[v as usize];
            if bound.is_some_and(|bound| !bound.allows(0.0, p)) {
                continue;
            }
            let mut best = (f32::INFINITY, NONE);
            for &n in topology.near_nodes(i) {
                let squared = positions[n as usize].distance_squared(p);
                if squared < best.0 {
                    best = (squared, n);
                }
            }
            self.seed(v, best.0.sqrt(), best.1, p, bound);
        }
    }

    fn seed_faces(&mut self, topology: &Topology, positions: &[Vec3], bound: Option<&Bound>) {
        for (i, &v) in topology.near().iter().enumerate() {
            let p = positions[v as usize];
            if bound.is_some_and(|bound| !bound.allows(0.0, p)) {
                continue;
            }
            let mut best = (f32::INFINITY, NONE);
            for &f in topology.near_faces(i) {
                let corners = topology.faces()[f as usize].map(|n| positions[n as usize]);
                let squared = TriangleDistance::new(corners).squared(p);
                if (squared, f) < best {
                    best = (squared, f);
                }
            }
            self.seed(v, best.0.sqrt(), best.1, p, bound);
        }
    }

    fn seed(&mut self, v: u32, distance: f32, feature: u32, p: Vec3, bound: Option<&Bound>) {
        if feature == NONE || bound.is_some_and(|bound| !bound.allows(distance, p)) {
            return;
        }
        if bound.is_some() {
            self.touched.push(v);
        }
        self.arrival[v as usize] = distance;
        self.depth[v as usize] = distance;
        self.closest[v as usize] = feature;
        self.queue.push(distance, v);
    }

    /// Pops until `wanted` wanted nodes are final or the queue is empty. The last
    /// pop, if enough were found within the bound.
    fn advance_points(
        &mut self,
        topology: &Topology,
        positions: &[Vec3],
        bound: Option<&Bound>,
        wanted: usize,
    ) -> Option<(f32, u32)> {
        let mut missing = wanted;
        while let Some((arrival, u)) = self.next(bound) {
            missing -= usize::from(self.wanted[u as usize]);
            if missing == 0 {
                return Some((arrival, u));
            }
            let from = positions[u as usize];
            let feature = self.closest[u as usize];
            let at = positions[feature as usize];
            for &v in topology.inner(u) {
                if self.arrival[v as usize] <= arrival {
                    continue;
                }
                let p = positions[v as usize];
                let squared = p.distance_squared(at);
                self.offer(v, p, squared, feature, (arrival, from), bound);
            }
        }
        None
    }

    fn advance_faces(
        &mut self,
        topology: &Topology,
        positions: &[Vec3],
        bound: Option<&Bound>,
        wanted: usize,
    ) -> Option<(f32, u32)> {
        let mut missing = wanted;
        while let Some((arrival, u)) = self.next(bound) {
            // Before the return: the last wanted node descends too.
            let (feature, triangle) = self.descend(topology, positions, u);
            missing -= usize::from(self.wanted[u as usize]);
            if missing == 0 {
                return Some((arrival, u));
            }
            let from = positions[u as usize];
            for &v in topology.inner(u) {
                if self.arrival[v as usize] <= arrival {
                    continue;
                }
                let p = positions[v as usize];
                let squared = triangle.squared(p);
                self.offer(v, p, squared, feature, (arrival, from), bound);
            }
        }
        None
    }

    /// Walks from the feature of a node that has become final across the boundary,
    /// triangle to triangle, while the distance shrinks.
    #[inline]
    fn descend(
        &mut self,
        topology: &Topology,
        positions: &[Vec3],
        u: u32,
    ) -> (u32, TriangleDistance) {
        let p = positions[u as usize];
        let frame = |f: u32| {
            TriangleDistance::new(topology.faces()[f as usize].map(|n| positions[n as usize]))
        };
        let mut best = self.closest[u as usize];
        let mut triangle = frame(best);
        let mut squared = triangle.squared(p);
        loop {
            let here = best;
            for f in topology.face_neighbours(here) {
                let other = frame(f);
                let other_squared = other.squared(p);
                if other_squared < squared {
                    (best, triangle, squared) = (f, other, other_squared);
                }
            }
            if best == here {
                break;
            }
        }
        if best != self.closest[u as usize] {
            self.closest[u as usize] = best;
            self.depth[u as usize] = squared.sqrt();
        }
        (best, triangle)
    }

    /// The next node that is not yet final.
    #[inline]
    fn next(&mut self, bound: Option<&Bound>) -> Option<(f32, u32)> {
        while let Some((arrival, u)) = self.queue.pop() {
            // Lowered since it was pushed: it has been popped under the lower key.
            if arrival != self.arrival[u as usize] {
                continue;
            }
            if bound.is_some_and(|bound| arrival > bound.limit - bound.slack) {
                return None;
            }
            self.popped += 1;
            return Some((arrival, u));
        }
        None
    }

    /// Offers `feature`, at squared distance `squared` from `p`, to node `v`.
    #[inline]
    fn offer(
        &mut self,
        v: u32,
        p: Vec3,
        squared: f32,
        feature: u32,
        (arrival, from): (f32, Vec3),
        bound: Option<&Bound>,
    ) {
        let known = self.arrival[v as usize];
        // Spares the root; wide enough not to lose ties to rounding. Also stops NaN.
        if !(squared <= known * known * 1.000_001) {
            return;
        }
        let depth = squared.sqrt();
        let time = depth.max(arrival + CAUSALITY * p.distance(from));
        let better = time < known
            || time == known
                && (depth, feature) < (self.depth[v as usize], self.closest[v as usize]);
        if !better || bound.is_some_and(|bound| !bound.allows(time, p)) {
            return;
        }
        if bound.is_some() && known == f32::INFINITY {
            self.touched.push(v);
        }
        self.depth[v as usize] = depth;
        self.closest[v as usize] = feature;
        if time < known {
            self.arrival[v as usize] = time;
            self.queue.push(time, v);
        }
    }

    /// Checks what a march promises of its result.
    ///
    /// # Errors
    /// The first promise found broken.
    pub fn validate(&self, topology: &Topology, positions: &[Vec3]) -> Result<(), String> {
        if self.revision != topology.revision() {
            return Err("the field belongs to an older topology".into());
        }
        for n in 0..topology.nodes() as u32 {
            let depth = self.depth[n as usize];
            if topology.is_boundary(n) {
                if depth != 0.0 {
                    return Err(format!("boundary node {n} has depth {depth}"));
                }
            } else if let Some((point, _)) = self.closest(topology, positions, n) {
                let distance = point.distance(positions[n as usize]);
                if (distance - depth).abs() > 1e-5 * (depth + point.length()) {
                    return Err(format!("node {n}: depth {depth}, feature at {distance}"));
                }
            } else if depth != f32::INFINITY {
                return Err(format!("node {n} has a depth and no feature"));
            }
        }
        Ok(())
    }
}

/// Half the smallest extent of the boundary, which no depth exceeds, and its
/// largest coordinate.
fn boundary_scale(topology: &Topology, positions: &[Vec3]) -> (f32, f32) {
    let (mut lo, mut hi) = (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY));
    for &n in topology.boundary_nodes() {
        // min and max pass over NaN.
        (lo, hi) = (lo.min(positions[n as usize]), hi.max(positions[n as usize]));
    }
    let farthest = lo.abs().max(hi.abs()).max_element();
    (0.5 * (hi - lo).min_element(), farthest)
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
    use super::super::features::exact_squared_distance;
    use super::*;
    use crate::testing::{Rng, box_grid};

    /// A box of tetrahedra whose nodes are shaken, in shuffled node order.
    fn shaken(cells: [u32; 3], seed: u64) -> (Topology, Vec<Vec3>) {
        let mesh = box_grid(
            cells,
            Vec3::new(cells[0] as f32, cells[1] as f32, cells[2] as f32),
        );
        let mut rng = Rng(seed);
        let nodes = mesh.positions().len();
        let mut order: Vec<u32> = (0..nodes as u32).collect();
        for i in (1..nodes).rev() {
            order.swap(i, rng.below(i + 1));
        }
        let mut positions = vec![Vec3::ZERO; nodes];
        for (i, &p) in mesh.positions().iter().enumerate() {
            positions[order[i] as usize] = p + 0.2 * rng.unit() * rng.direction();
        }
        let tets: Vec<[u32; 4]> = mesh
            .tets()
            .iter()
            .map(|tet| tet.map(|n| order[n as usize]))
            .collect();
        (Topology::build(nodes, &tets).unwrap(), positions)
    }

    /// As [`shaken`], with every tetrahedron of a random plane's far side given
    /// nodes of its own: two parts that touch.
    fn shaken_and_cut(seed: u64) -> (Topology, Vec<Vec3>) {
        let (whole, mut positions) = shaken([7, 6, 5], seed);
        let normal = Rng(seed ^ 99).direction();
        let centre = Vec3::new(3.5, 3.0, 2.5);
        let mut copies = vec![NONE; positions.len()];
        let tets: Vec<[u32; 4]> = whole
            .tets()
            .iter()
            .map(|tet| {
                let middle = tet.map(|n| positions[n as usize]).iter().sum::<Vec3>() / 4.0;
                if (middle - centre).dot(normal) < 0.0 {
                    return *tet;
                }
                tet.map(|n| {
                    if copies[n as usize] == NONE {
                        copies[n as usize] = positions.len() as u32;
                        positions.push(positions[n as usize]);
                    }
                    copies[n as usize]
                })
            })
            .collect();
        (Topology::build(positions.len(), &tets).unwrap(), positions)
    }

    fn true_depth(topology: &Topology, positions: &[Vec3], node: u32) -> f64 {
        topology
            .faces()
            .iter()
            .map(|f| {
                exact_squared_distance(positions[node as usize], f.map(|n| positions[n as usize]))
            })
            .fold(f64::INFINITY, f64::min)
            .sqrt()
    }

    /// The definition, without a queue: again and again the node of least arrival.
    fn naive(topology: &Topology, positions: &[Vec3], method: Method) -> Vec<f32> {
        let nodes = topology.nodes();
        let distance = |v: u32, feature: u32| match method {
            Method::ClosestPoint => {
                positions[v as usize].distance_squared(positions[feature as usize])
            }
            Method::ClosestFeature => {
                let corners = topology.faces()[feature as usize].map(|n| positions[n as usize]);
                TriangleDistance::new(corners).squared(positions[v as usize])
            }
        };
        // (arrival, depth, feature), final
        let mut best = vec![(f32::INFINITY, f32::INFINITY, NONE); nodes];
        let mut done = vec![false; nodes];
        for (i, &v) in topology.near().iter().enumerate() {
            let features = match method {
                Method::ClosestPoint => topology.near_nodes(i),
                Method::ClosestFeature => topology.near_faces(i),
            };
            for &f in features {
                let c = distance(v, f).sqrt();
                if (c, c, f) < best[v as usize] {
                    best[v as usize] = (c, c, f);
                }
            }
        }
        loop {
            let next = (0..nodes)
                .filter(|&n| !done[n] && best[n].2 != NONE)
                .min_by(|&a, &b| (best[a].0, a).partial_cmp(&(best[b].0, b)).unwrap());
            let Some(u) = next else { break };
            done[u] = true;
            let (arrival, _, mut f) = best[u];
            while method == Method::ClosestFeature {
                let shorter = topology
                    .face_neighbours(f)
                    .into_iter()
                    .filter(|&g| distance(u as u32, g) < distance(u as u32, f))
                    .reduce(|g, h| {
                        if distance(u as u32, h) < distance(u as u32, g) {
                            h
                        } else {
                            g
                        }
                    });
                let Some(g) = shorter else { break };
                f = g;
                best[u] = (arrival, distance(u as u32, f).sqrt(), f);
            }
            for &v in topology.inner(u as u32) {
                let v = v as usize;
                let c = distance(v as u32, f).sqrt();
                let t = c.max(arrival + CAUSALITY * positions[v].distance(positions[u]));
                if !done[v] && (t, c, f) < best[v] {
                    best[v] = (t, c, f);
                }
            }
        }
        (0..nodes)
            .map(|n| {
                if topology.is_boundary(n as u32) {
                    0.0
                } else {
                    best[n].1
                }
            })
            .collect()
    }

    #[test]
    fn equals_its_definition_bit_for_bit() {
        for seed in 0..6 {
            let (topology, positions) = if seed % 2 == 0 {
                shaken([6, 7, 5], seed)
            } else {
                shaken_and_cut(seed)
            };
            for method in [Method::ClosestPoint, Method::ClosestFeature] {
                let mut field = DepthField::new(method);
                field.march(&topology, &positions);
                assert_eq!(field.depths(), naive(&topology, &positions, method));
                field.validate(&topology, &positions).unwrap();
            }
        }
    }

    #[test]
    fn never_below_the_truth_and_features_beat_points() {
        for seed in 0..3 {
            let (topology, positions) = shaken_and_cut(seed);
            let mut point = DepthField::new(Method::ClosestPoint);
            let mut feature = DepthField::new(Method::ClosestFeature);
            point.march(&topology, &positions);
            feature.march(&topology, &positions);
            let (mut point_error, mut feature_error, mut inner) = (0.0, 0.0, 0);
            for n in (0..topology.nodes() as u32).filter(|&n| !topology.is_boundary(n)) {
                // The cut leaves nodes that no tetrahedron uses.
                let Some(p) = point.depth(n) else { continue };
                let f = feature.depth(n).expect("both reach the same nodes");
                let exact = true_depth(&topology, &positions, n);
                assert!(f64::from(f) >= exact - 1e-5 && f64::from(p) >= exact - 1e-5);
                point_error += f64::from(p) - exact;
                feature_error += f64::from(f) - exact;
                inner += 1;
            }
            let (p, f) = (
                point_error / f64::from(inner),
                feature_error / f64::from(inner),
            );
            assert!(f < 0.004 && p < 0.35 && f < p / 10.0, "mean errors {p} {f}");
        }
    }

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

    #[test]
    fn broken_positions_harm_nobody() {
        let (topology, mut positions) = shaken([5, 5, 5], 1);
        let inner = (0..topology.nodes() as u32)
            .find(|&n| !topology.is_boundary(n))
            .unwrap();
        positions[inner as usize] = Vec3::NAN;
        positions[topology.boundary_nodes()[3] as usize] = Vec3::INFINITY;
        let marked: Vec<u32> = (0..topology.tets().len() as u32).collect();
        for method in [Method::ClosestPoint, Method::ClosestFeature] {
            let mut field = DepthField::new(method);
            field.march(&topology, &positions);
            assert_eq!(field.depth(inner), None);
            field.march_to(&topology, &positions, &marked);
            field.march_to(&topology, &positions, &[0]);
            field.march(&topology, &vec![Vec3::NAN; positions.len()]);
            field.march_to(&topology, &vec![Vec3::ZERO; positions.len()], &marked);
        }
        let empty = Topology::build(0, &[]).unwrap();
        DepthField::new(Method::ClosestPoint).march(&empty, &[]);
    }
}
