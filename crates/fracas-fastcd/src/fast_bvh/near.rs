//! What is near: pairs of features with their distance, for solvers that keep things apart.
//!
//! Steps: the tree is walked with boxes grown by the reach, nothing culled -> pairs of
//! features whose boxes are within it -> distance and closest points at the start of the
//! step -> time of impact of those that may touch during the step.
//!
//! **How far a vertex may move** ([`Candidates::budgets`]). Let two features be `d` apart. If
//! none of their four vertices moves by `d / 2` or more, no point of them does, since it is a
//! mean of vertices; so they cannot meet, on whatever way and in whatever order the vertices
//! move. Features that are not listed are farther apart than the reach. So a vertex may move
//! by half of the least distance of the pairs that it is in, and by half the reach at most,
//! and nothing passes anything: no test along the way is needed. (The bound of [Chen 2025:
//! Offset Geometric Contact], per vertex.)
//!
//! **Guarantee**: all pairs of features that share no vertex and are within the reach at the
//! start of the step, or touch during it, sorted by ids, whatever tree and threads.

use glam::DVec3;

use super::mesh::Mesh;
use super::traverse::{Nearer, PairTest, QueryStats, TaskBuffer, run_tasks};
use super::tree::{Bounds, Leaf, Tree, nearest};
use super::{FastBvh, Scratch, Settings};
use fracas_geometry::primitives::bernstein::Outcome;
use fracas_geometry::primitives::closest_features::{self, Closest};
use fracas_geometry::primitives::{edge_edge_ccd, vertex_face_ccd};

/// Two features, by global ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Features {
    /// A vertex and a triangle.
    VertexFace(u32, u32),
    /// Two edges, smaller first.
    EdgeEdge(u32, u32),
}

/// Two features that are near, or touch during the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Which.
    pub features: Features,
    /// Their vertices, by global id: the vertex and the corners of the face, or the ends of
    /// the first edge and those of the second.
    pub vertices: [u32; 4],
    /// What each vertex counts for the closest points at the start of the step: those of the
    /// first feature sum to 1, those of the second to -1. The gap is the weighted sum of the
    /// vertices along `normal`, and this is its gradient.
    pub weights: [f64; 4],
    /// How far apart they are at the start of the step.
    pub distance: f64,
    /// Unit, from the second feature to the first at the start of the step; zero where they
    /// touch.
    pub normal: DVec3,
    /// First time of impact in `[0, 1]`, never late, if they touch during the step. With
    /// [`super::Detection::Discrete`] nothing moves.
    pub impact: Option<f64>,
}

/// Everything that is near, sorted by ids; vertex-face pairs first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// The pairs.
    pub pairs: Vec<Candidate>,
    reach: f64,
}

/// Of half a distance, what vertices may use: rounding needs some of the rest.
const SAFE_HALF: f64 = 0.5 * (1.0 - 1e-6);

impl Candidates {
    /// For each vertex, by global id, how far it may move from where it is at the start of
    /// the step before anything can touch (see the module). Put into `out`.
    pub fn budgets(&self, scene: &FastBvh, out: &mut Vec<f64>) {
        out.clear();
        out.resize(scene.mesh.positions.len(), SAFE_HALF * self.reach);
        for pair in &self.pairs {
            let budget = SAFE_HALF * pair.distance;
            for v in pair.vertices {
                let known = &mut out[v as usize];
                *known = known.min(budget);
            }
        }
    }

    /// The first time of impact of all.
    #[must_use]
    pub fn earliest(&self) -> Option<f64> {
        self.pairs.iter().filter_map(|p| p.impact).reduce(f64::min)
    }
}

impl FastBvh {
    /// All pairs of features within `reach` of each other at the start of the step, or
    /// touching during it, into `out`. Features that share a vertex are left out.
    ///
    /// A reach below the smallest height of the triangles finds no neighbours on a surface
    /// that is not bent; a larger one finds them all.
    pub fn candidates(
        &self,
        reach: f64,
        scratch: &mut Scratch,
        out: &mut Candidates,
    ) -> QueryStats {
        out.pairs.clear();
        out.reach = reach.max(0.0);
        let Some(root) = self.tree.nodes.first().map(|n| n.bounds()) else {
            return QueryStats::default();
        };
        let reach = out.reach;
        // Rounded up by more than what widening a box can lose.
        let farthest = root.min.abs().max(root.max.abs()).max_element();
        let widen = reach as f32 * 1.000_001 + 4.0 * f32::EPSILON * farthest;
        let Settings {
            non_penetration_filter: filter,
            exact,
            ..
        } = self.settings;
        let Scratch {
            walk,
            near,
            parallel,
            ..
        } = scratch;
        let look = Nearer(widen);
        let (used, stats) = run_tasks((&self.tree, look), walk, near, *parallel, |task, buffer| {
            let TaskBuffer { out, stack, stats } = buffer;
            let mut test = NearTest {
                mesh: &self.mesh,
                out,
                reach,
                widen,
                filter,
                exact,
            };
            self.tree.walk(look, task, stack, &mut test, stats);
        });
        for buffer in &mut near[..used] {
            out.pairs.append(&mut buffer.out);
        }
        out.pairs.sort_unstable_by_key(|c| c.features);
        stats
    }
}

struct NearTest<'a> {
    mesh: &'a Mesh,
    out: &'a mut Vec<Candidate>,
    reach: f64,
    widen: f32,
    filter: bool,
    exact: bool,
}

impl PairTest for NearTest<'_> {
    #[inline]
    fn pair(&mut self, tree: &Tree, i: usize, j: usize, stats: &mut QueryStats) {
        let (a, b) = (&tree.leaves[i], &tree.leaves[j]);
        if (a.owned | b.owned) == 0 {
            return;
        }
        self.vertices_of(tree, a, j, stats);
        self.vertices_of(tree, b, i, stats);
        self.edges_of([a, b], stats);
    }
}

impl NearTest<'_> {
    /// The vertices that `a` owns against a face.
    fn vertices_of(&mut self, tree: &Tree, a: &Leaf, place: usize, stats: &mut QueryStats) {
        let b = &tree.leaves[place];
        let around = tree.boxes[place].swept().widened(self.widen);
        for k in 0..3 {
            let v = a.corners[k];
            if a.owned >> k & 1 == 0 || b.corners.contains(&v) {
                continue;
            }
            let way = Bounds::around(tree.points[v as usize]);
            if !way.overlaps(&around) {
                continue;
            }
            stats.elementary_tests += 1;
            let [c0, c1, c2] = b.corners;
            let vertices = [v, c0, c1, c2];
            let [p, q, r, s] = vertices.map(|v| &self.mesh.positions[v as usize]);
            let closest = closest_features::vertex_face(p[0], [q[0], r[0], s[0]]);
            let moves = [p, q, r, s].iter().any(|m| m[0] != m[1]);
            let impact = || {
                let face = [q, r, s];
                match (self.filter, self.exact) {
                    (true, false) => vertex_face_ccd::search::<true, false>(p, face),
                    (true, true) => vertex_face_ccd::search::<true, true>(p, face),
                    (false, false) => vertex_face_ccd::search::<false, false>(p, face),
                    (false, true) => vertex_face_ccd::search::<false, true>(p, face),
                }
            };
            let outcome = (moves || closest.apart == DVec3::ZERO).then(impact);
            let features = Features::VertexFace(v, b.id);
            self.found(features, vertices, &closest, outcome, stats);
        }
    }

    fn edges_of(&mut self, [a, b]: [&Leaf; 2], stats: &mut QueryStats) {
        for k in (0..3).filter(|k| a.owned >> (3 + k) & 1 == 1) {
            for l in (0..3).filter(|l| b.owned >> (3 + l) & 1 == 1) {
                let mut edges = [a.edges[k], b.edges[l]];
                // In the order of ids, so that the answer does not depend on the tree.
                edges.sort_unstable();
                let [e, f] = edges.map(|e| self.mesh.edges[e as usize]);
                if e.contains(&f[0]) || e.contains(&f[1]) {
                    continue;
                }
                let moving = |v: u32| &self.mesh.positions[v as usize];
                let (first, second) = (e.map(moving), f.map(moving));
                let swept = |[p, q]: [&[DVec3; 2]; 2]| {
                    Bounds::around([p[0], p[1], q[0], q[1]].map(nearest))
                };
                if !swept(first).widened(self.widen).overlaps(&swept(second)) {
                    continue;
                }
                stats.elementary_tests += 1;
                let closest =
                    closest_features::edge_edge(first.map(|m| m[0]), second.map(|m| m[0]));
                let moves = first.iter().chain(&second).any(|m| m[0] != m[1]);
                let impact = || match (self.filter, self.exact) {
                    (true, false) => edge_edge_ccd::search::<true, false>(first, second),
                    (true, true) => edge_edge_ccd::search::<true, true>(first, second),
                    (false, false) => edge_edge_ccd::search::<false, false>(first, second),
                    (false, true) => edge_edge_ccd::search::<false, true>(first, second),
                };
                let outcome = (moves || closest.apart == DVec3::ZERO).then(impact);
                let features = Features::EdgeEdge(edges[0], edges[1]);
                let vertices = [e[0], e[1], f[0], f[1]];
                self.found(features, vertices, &closest, outcome, stats);
            }
        }
    }

    fn found(
        &mut self,
        features: Features,
        vertices: [u32; 4],
        closest: &Closest,
        outcome: Option<Outcome>,
        stats: &mut QueryStats,
    ) {
        let impact = match outcome {
            Some(Outcome::At(time)) => Some(time),
            _ => None,
        };
        let distance = closest.apart.length_squared().sqrt();
        if distance > self.reach && impact.is_none() {
            return;
        }
        stats.hits += 1;
        let normal = closest.apart / distance;
        self.out.push(Candidate {
            features,
            vertices,
            weights: closest.weights,
            distance,
            normal: if normal.is_finite() {
                normal
            } else {
                DVec3::ZERO
            },
            impact,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::brute_force;
    use super::*;
    use crate::fast_bvh::{BodyId, Detection};
    use fracas_geometry::testing::Rng;
    use glam::{Vec3, dvec3};

    /// A sheet of `n` x `n` quads, and the positions of one that is crumpled.
    fn crumpled(n: u32, rng: &mut Rng, noise: f32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut positions = Vec::new();
        let bend = f64::from(rng.range(2.0, 7.0));
        for y in 0..=n {
            for x in 0..=n {
                let (x, y) = (f64::from(x) / f64::from(n), f64::from(y) / f64::from(n));
                let rolled = dvec3(libm::sin(bend * x), y, libm::cos(bend * x)) / bend;
                positions.push(rolled + (rng.direction() * noise).as_dvec3());
            }
        }
        let mut triangles = Vec::new();
        for y in 0..n {
            for x in 0..n {
                let a = y * (n + 1) + x;
                triangles.extend([[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]);
            }
        }
        (positions, triangles)
    }

    fn scene(detection: Detection, start: &[DVec3], triangles: &[[u32; 3]]) -> (FastBvh, BodyId) {
        let mut scene = FastBvh::new(Settings {
            detection,
            ..Settings::default()
        });
        let body = scene.add(start, triangles).unwrap();
        scene.update();
        (scene, body)
    }

    #[test]
    fn candidates_are_those_of_brute_force_on_any_threads() {
        let mut rng = Rng(4);
        let (mut near, mut touching) = (0, 0);
        for round in 0..10 {
            let (start, triangles) = crumpled(4 + round % 4, &mut rng, 0.03);
            let (mut scene, body) = scene(Detection::Continuous, &start, &triangles);
            let end: Vec<DVec3> = start
                .iter()
                .map(|p| *p + (rng.direction() * 0.1).as_dvec3())
                .collect();
            scene.move_vertices(body, &end).unwrap();
            scene.update();
            for reach in [0.0, 0.02, 0.3] {
                let mut found = Candidates::default();
                scene.candidates(reach, &mut Scratch::default(), &mut found);
                let expected = brute_force::candidates(&scene, reach);
                let told = found
                    .pairs
                    .iter()
                    .map(|c| (c.features, c.distance, c.impact));
                assert_eq!(told.collect::<Vec<_>>(), expected);
                let mut again = Candidates::default();
                scene.candidates(reach, &mut Scratch::parallel(), &mut again);
                assert_eq!(found, again);
                near += found.pairs.len();
                touching += found.pairs.iter().filter(|c| c.impact.is_some()).count();
                for c in &found.pairs {
                    let at = |v: u32| scene.position(v).unwrap()[0];
                    let gap: DVec3 = (0..4).map(|i| c.weights[i] * at(c.vertices[i])).sum();
                    assert!((gap.dot(c.normal) - c.distance).abs() < 1e-12, "{c:?}");
                }
            }
        }
        assert!(near > 2000 && touching > 100, "{near} {touching}");
    }

    #[test]
    fn nothing_touches_while_every_vertex_keeps_to_its_budget() {
        let mut rng = Rng(9);
        let (mut at, triangles) = crumpled(9, &mut rng, 0.0);
        let (mut scene, body) = scene(Detection::Discrete, &at, &triangles);
        let (mut scratch, mut found, mut budgets) =
            (Scratch::default(), Candidates::default(), Vec::new());
        let (mut moved, mut near) = (0.0, 0);
        for _ in 0..60 {
            scene.candidates(0.05, &mut scratch, &mut found);
            found.budgets(&scene, &mut budgets);
            near += found.pairs.len();
            // All towards one place, as far as they may.
            for (p, budget) in at.iter_mut().zip(&budgets) {
                let way = (Vec3::new(0.0, 0.5, 0.0) + rng.direction() * 0.1).as_dvec3() - *p;
                let step = way.normalize() * budget.min(way.length());
                moved += step.length();
                *p += step;
            }
            scene.move_vertices(body, &at).unwrap();
            scene.update();
            let mut pairs = Vec::new();
            scene.intersections(&mut scratch, &mut pairs);
            assert_eq!(pairs, Vec::<[u32; 2]>::new());
        }
        assert!(moved > 5.0 && near > 1000, "{moved} {near}");
    }
}
