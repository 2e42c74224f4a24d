//! Closest-feature fast marching on the edges of a tet mesh: how deep each node lies.
//!
//! Boundary nodes have depth 0. Each inner node carries the boundary feature it
//! believes to be closest, and hands it to its neighbours in order of arrival:
//!
//! 1. seed: an inner node beside the boundary takes the closest of the features at
//!    its boundary neighbours (their points, or all their incident triangles), by the
//!    squares of the distances and then by number;
//! 2. pop the node `u` with the least arrival time; it is final. Its triangle (CFFM)
//!    is exchanged for a neighbouring one of the boundary while that is closer,
//!    unless the closest point lies inside it;
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
//! **Guarantee.** Never below the true distance to the boundary (beyond rounding of
//! `dist`); zero on the boundary; at most the length of the shortest path along
//! edges. Overestimates where the nearest feature's domain is not reached along
//! mesh edges; the error table measures how much. NaN positions leave nodes
//! unreached and harm nobody else. Allocates nothing once warm.

use glam::Vec3;

pub use super::bound::CAUSALITY;
use super::features::{Feature, TriangleDistance};

use super::bound::Bound;
use super::queue::ArrivalQueue;
use super::topology::Topology;
use fracas_geometry::tet_mesh::NONE;

/// Widens a comparison of squares so that rounding loses no ties of roots.
const TIE: f32 = 1.000_001;

/// `CAUSALITY` squared, less so much that rounding cannot make an offer seem late.
const CAUSALITY_SQUARED: f32 = CAUSALITY * CAUSALITY * 0.999_99;

/// Nodes that a thread seeds at a time.
#[cfg(feature = "parallel")]
const SEEDS_PER_TASK: usize = 256;

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
    pub(super) depth: Vec<f32>,
    /// Arrival time; infinite where not reached.
    pub(super) arrival: Vec<f32>,
    /// A node or a face of the topology, by method; [`NONE`] where not reached.
    pub(super) closest: Vec<u32>,
    /// Triangles prepared by this march (those whose epoch is the current one).
    frames: Vec<TriangleDistance>,
    frame_epochs: Vec<u32>,
    epoch: u32,
    pub(super) queue: ArrivalQueue,
    /// Nodes whose values a partial march has written.
    pub(super) touched: Vec<u32>,
    pub(super) wanted: Vec<bool>,
    pub(super) wanted_nodes: Vec<u32>,
    pub(super) boxes: Vec<[Vec3; 2]>,
    /// Seeds of a whole march: for each node near the boundary the square of the distance to the
    /// closest triangle, and which it is.
    seeds: Vec<(f32, u32)>,
    /// Whether whole marches are seeded on the caller's rayon pool (with the feature `parallel`).
    /// Changes no result.
    pub parallel: bool,
    /// Everything is written, not only `touched`.
    full: bool,
    revision: u64,
    popped: usize,
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
            frames: Vec::new(),
            frame_epochs: Vec::new(),
            epoch: 0,
            queue: ArrivalQueue::default(),
            touched: Vec::new(),
            wanted: Vec::new(),
            wanted_nodes: Vec::new(),
            boxes: Vec::new(),
            seeds: Vec::new(),
            parallel: false,
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

    /// Whether the last march was one over the whole mesh.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.full
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
                self.seed_all_faces(topology, positions);
                self.advance_faces(topology, positions, None, usize::MAX);
            }
        }
    }

    pub(super) fn clear(&mut self, topology: &Topology) {
        let nodes = topology.nodes();
        self.popped = 0;
        // Positions have changed: no prepared triangle is current.
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 || self.frames.len() != topology.faces().len() {
            self.frames.clear();
            self.frame_epochs.clear();
            if self.method == Method::ClosestFeature {
                let faces = topology.faces().len();
                self.frames.resize(faces, TriangleDistance::default());
                self.frame_epochs.resize(faces, 0);
            }
            self.epoch = 1;
        }
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

    pub(super) fn clear_touched(&mut self) {
        for n in self.touched.drain(..) {
            self.arrival[n as usize] = f32::INFINITY;
            self.depth[n as usize] = f32::INFINITY;
            self.closest[n as usize] = NONE;
        }
    }

    pub(super) fn seed_points(
        &mut self,
        topology: &Topology,
        positions: &[Vec3],
        bound: Option<&Bound>,
    ) {
        self.seed_near(topology, positions, bound, |_, i, p| {
            let mut best = (f32::INFINITY, NONE);
            for &n in topology.near_nodes(i) {
                let squared = positions[n as usize].distance_squared(p);
                if squared < best.0 {
                    best = (squared, n);
                }
            }
            best
        });
    }

    pub(super) fn seed_faces(
        &mut self,
        topology: &Topology,
        positions: &[Vec3],
        bound: Option<&Bound>,
    ) {
        self.seed_near(topology, positions, bound, |field, i, p| {
            let mut best = (f32::INFINITY, NONE);
            for &f in topology.near_faces(i) {
                // In increasing order: of equals the lowest stays.
                let frame = field.frame(topology, positions, f);
                let (squared, _) = frame.squared_within(p, best.0.next_down());
                if squared < best.0 {
                    best = (squared, f);
                }
            }
            best
        });
    }

    /// Seeds of a march over the whole mesh: all triangles are prepared first, so that nodes can
    /// be seeded on threads.
    fn seed_all_faces(&mut self, topology: &Topology, positions: &[Vec3]) {
        let prepare = |(frame, face): (&mut TriangleDistance, &[u32; 3])| {
            *frame = TriangleDistance::new(face.map(|n| positions[n as usize]));
        };
        let frames = &mut self.frames;
        let seeds = &mut self.seeds;
        let closest = |frames: &[TriangleDistance], i: usize| {
            let p = positions[topology.near()[i] as usize];
            let mut best = (f32::INFINITY, NONE);
            for &f in topology.near_faces(i) {
                // In increasing order: of equals the lowest stays.
                let (squared, _) = frames[f as usize].squared_within(p, best.0.next_down());
                if squared < best.0 {
                    best = (squared, f);
                }
            }
            best
        };
        let near = 0..topology.near().len();
        #[cfg(feature = "parallel")]
        if self.parallel {
            use rayon::prelude::*;
            let all = frames.par_iter_mut().zip(topology.faces());
            all.with_min_len(SEEDS_PER_TASK).for_each(prepare);
            let near = near.clone().into_par_iter().with_min_len(SEEDS_PER_TASK);
            near.map(|i| closest(frames, i)).collect_into_vec(seeds);
        }
        if !(self.parallel && cfg!(feature = "parallel")) {
            frames.iter_mut().zip(topology.faces()).for_each(prepare);
            seeds.clear();
            seeds.extend(near.map(|i| closest(frames, i)));
        }
        self.frame_epochs.fill(self.epoch);
        for i in 0..topology.near().len() {
            let (v, (squared, which)) = (topology.near()[i], self.seeds[i]);
            self.seed(v, squared.sqrt(), which, positions[v as usize], None);
        }
    }

    /// Seeds all nodes near the boundary with what is `closest` to them: the square of the
    /// distance, and which it is.
    fn seed_near(
        &mut self,
        topology: &Topology,
        positions: &[Vec3],
        bound: Option<&Bound>,
        closest: impl Fn(&mut Self, usize, Vec3) -> (f32, u32),
    ) {
        for (i, &v) in topology.near().iter().enumerate() {
            let p = positions[v as usize];
            if bound.is_some_and(|bound| !bound.allows(0.0, p)) {
                continue;
            }
            let (squared, which) = closest(self, i, p);
            self.seed(v, squared.sqrt(), which, p, bound);
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
    pub(super) fn advance_points(
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

    pub(super) fn advance_faces(
        &mut self,
        topology: &Topology,
        positions: &[Vec3],
        bound: Option<&Bound>,
        wanted: usize,
    ) -> Option<(f32, u32)> {
        let mut missing = wanted;
        while let Some((arrival, u)) = self.next(bound) {
            // Before the return: the last wanted node descends too.
            let feature = self.descend(topology, positions, u);
            missing -= usize::from(self.wanted[u as usize]);
            if missing == 0 {
                return Some((arrival, u));
            }
            let from = positions[u as usize];
            let triangle = self.frames[feature as usize];
            for &v in topology.inner(u) {
                let known = self.arrival[v as usize];
                if known <= arrival {
                    continue;
                }
                let p = positions[v as usize];
                // However near the triangle: it would arrive later than what is known.
                let spare = known - arrival;
                // (By more than a tie: `known` is only so exact.)
                let spare = spare + 4.0 * f32::EPSILON * known;
                if CAUSALITY_SQUARED * p.distance_squared(from) > spare * spare {
                    continue;
                }
                let (squared, _) = triangle.squared_within(p, known * known * TIE);
                self.offer(v, p, squared, feature, (arrival, from), bound);
            }
        }
        None
    }

    /// A boundary triangle prepared for distances, once a march.
    #[inline]
    fn frame(&mut self, topology: &Topology, positions: &[Vec3], f: u32) -> &TriangleDistance {
        let i = f as usize;
        if self.frame_epochs[i] != self.epoch {
            self.frame_epochs[i] = self.epoch;
            self.frames[i] =
                TriangleDistance::new(topology.faces()[i].map(|n| positions[n as usize]));
        }
        &self.frames[i]
    }

    /// Walks from the feature of a node that has become final across the boundary,
    /// triangle to triangle, while the distance shrinks.
    #[inline]
    fn descend(&mut self, topology: &Topology, positions: &[Vec3], u: u32) -> u32 {
        let p = positions[u as usize];
        let mut best = self.closest[u as usize];
        let triangle = self.frame(topology, positions, best);
        let (mut squared, mut inside) = triangle.squared_within(p, f32::INFINITY);
        // A foot inside its triangle is left alone: what is closer then lies on
        // another side of the object, and arrives by itself.
        while !inside {
            let here = best;
            for f in topology.face_neighbours(here) {
                let other = self.frame(topology, positions, f);
                let (other_squared, other_inside) = other.squared_within(p, squared);
                if other_squared < squared {
                    best = f;
                    (squared, inside) = (other_squared, other_inside);
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
        best
    }

    /// The next node that is not yet final.
    #[inline]
    fn next(&mut self, bound: Option<&Bound>) -> Option<(f32, u32)> {
        while let Some((arrival, u)) = self.queue.pop() {
            // Lowered since it was pushed: it has been popped under the lower key.
            if arrival != self.arrival[u as usize] {
                continue;
            }
            if bound.is_some_and(|bound| arrival > bound.certain()) {
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
        if squared.is_nan() || squared > known * known * TIE {
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
pub(super) fn boundary_scale(topology: &Topology, positions: &[Vec3]) -> (f32, f32) {
    let (mut lo, mut hi) = (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY));
    for &n in topology.boundary_nodes() {
        // min and max pass over NaN.
        (lo, hi) = (lo.min(positions[n as usize]), hi.max(positions[n as usize]));
    }
    let farthest = lo.abs().max(hi.abs()).max_element();
    (0.5 * (hi - lo).min_element(), farthest)
}

#[cfg(test)]
mod tests {
    use super::super::reference::exact::exact_squared_distance;
    use super::super::test_meshes::{shaken, shaken_and_cut};
    use super::*;

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
                TriangleDistance::new(corners)
                    .squared_within(positions[v as usize], f32::INFINITY)
                    .0
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
            // By squares: two may have the same root.
            let squares = features.iter().map(|&f| (distance(v, f), f));
            if let Some((square, f)) = squares.min_by(|a, b| a.partial_cmp(b).unwrap()) {
                let c = square.sqrt();
                best[v as usize] = (c, c, f);
            }
        }
        loop {
            let next = (0..nodes)
                .filter(|&n| !done[n] && best[n].2 != NONE)
                .min_by(|&a, &b| (best[a].0, a).partial_cmp(&(best[b].0, b)).unwrap());
            let Some(u) = next else { break };
            done[u] = true;
            let (arrival, _, mut f) = best[u];
            let frame = |f: u32| {
                TriangleDistance::new(topology.faces()[f as usize].map(|n| positions[n as usize]))
            };
            while method == Method::ClosestFeature
                && !frame(f).squared_within(positions[u], f32::INFINITY).1
            {
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
        // In the last two, features of unequal squares have equal roots.
        for seed in [0, 1, 2, 3, 4, 5, 10, 57] {
            let (topology, positions) = match seed {
                0 | 2 | 4 => shaken([6, 7, 5], seed),
                1 | 3 | 5 => shaken_and_cut(seed),
                _ => shaken([13, 12, 11], seed),
            };
            for method in [Method::ClosestPoint, Method::ClosestFeature] {
                let mut field = DepthField::new(method);
                field.march(&topology, &positions);
                let depths = naive(&topology, &positions, method);
                assert!(field.depths() == depths, "{seed} {method:?}");
                field.validate(&topology, &positions).unwrap();
            }
        }
    }

    #[test]
    fn seeds_on_threads_are_those_of_one_thread() {
        let (topology, positions) = shaken([16, 15, 14], 3);
        let tasks = topology.near().len().min(topology.faces().len()) / SEEDS_PER_TASK;
        assert!(tasks >= 3, "{tasks}");
        for method in [Method::ClosestPoint, Method::ClosestFeature] {
            let mut field = DepthField::new(method);
            field.march(&topology, &positions);
            let alone = field.depths().to_vec();
            field.parallel = true;
            field.march(&topology, &positions);
            assert!(field.depths() == alone, "{method:?}");
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
