//! How distances spread into a fragment from the cracks that made it.
//!
//! Three rules, by name ([`Propagation`]):
//!
//! **Closest feature** (the default). Nodes of cut tetrahedra take the distance to
//! the new crack polygons there; then a front: a node whose distance fell offers its
//! feature to its neighbours in the same fragment, which take it if it is nearer
//! than theirs. Marchal 2004, section 4.2, gives the idea; [Glondu 2013, section
//! 4.2] the front.
//! Features are convex and `u`'s closest point on its feature is `c`, so the whole
//! feature lies beyond the plane through `c` across `n = (c - u) / d`; hence the
//! distance of a neighbour `v` to it is at least `d + n . (u - v)`. Most neighbours
//! are turned away by that bound (which is the term of equation 1), before any
//! distance is computed.
//! *Guarantee*: never below the exact distance (see [`super::feature`]); it ends,
//! because every change lowers a distance by more than a fixed amount.
//!
//! **Averaging**. Glondu 2013, equations 1 and 2:
//!
//! | paper | here |
//! | --- | --- |
//! | N_i(p) | neighbours lowered in the last step (`in_front`) |
//! | w_j = 1 / \|p_j - p\|^2 | `weight` |
//! | d, n | `Node::distance`, `Node::normal` |
//!
//! **Deviation**: as written it need not end, because neighbours whose directions
//! face each other lower one another without bound. Two guards: a node never falls
//! below a front neighbour's distance minus the edge between them, nor below zero;
//! and a change must be larger than a thousandth of the mean edge. Then it ends
//! (finitely many such falls fit above zero), but can still be far too low.
//!
//! **Exact**. The closest triangle of the fragment's real surface, for every node.
//! For comparisons: it costs a tree of the whole surface.

use glam::Vec3;

use super::feature::{FeatureId, Features};
use crate::fragment::{FragmentId, Fragments, Split};
use crate::fragment_surface::{FragmentSurface, SurfaceScratch};
use crate::primitives::point_triangle::four_to_quad_squared;
use crate::tet_mesh::{NONE, TetMesh};
use crate::triangle_tree::TriangleTree;

/// How distances are brought up to date when something breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    /// Nodes keep the piece of surface they are closest to, and offer it on.
    #[default]
    ClosestFeature,
    /// The paper's averages of distances and directions, guarded so that they end.
    Averaging,
    /// Exact distances for all nodes of the broken fragment.
    Exact,
}

/// What a node knows besides its fragment: 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    /// Distance to the surface of its fragment.
    pub(super) distance: f32,
    /// The way out: unit, toward the closest surface; outward on the surface.
    pub(super) normal: Vec3,
    /// What it is closest to; [`NONE`] where averages have replaced that.
    pub(super) feature: FeatureId,
}

/// Changes smaller than this share of the mean edge are not changes: it ends the
/// front, and is far below what a contact can show.
const LEAST_CHANGE: f32 = 1e-3;
/// The same for averages, which creep.
const LEAST_AVERAGE_CHANGE: f32 = 1e-3;

/// Workspace of the front, kept between fractures.
#[derive(Clone, Debug)]
pub(super) struct Front {
    queue: Vec<u32>,
    next: Vec<u32>,
    touched: Vec<u32>,
    /// Whether a node waits in a queue.
    waits: Vec<bool>,
    averages: Vec<(u32, f32, Vec3)>,
    surface: SurfaceScratch,
}

/// Counts of one update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldStats {
    /// Tetrahedra that gained a plane.
    pub cut_tets: usize,
    /// Times a node's distance was lowered.
    pub updates: usize,
    /// Distances from nodes to features that were computed.
    pub tests: usize,
}

impl Front {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            queue: Vec::new(),
            next: Vec::new(),
            touched: Vec::new(),
            waits: vec![false; nodes],
            averages: Vec::new(),
            surface: SurfaceScratch::default(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let lists = self.queue.capacity() + self.next.capacity() + self.touched.capacity();
        lists * 4 + self.waits.len() + self.averages.capacity() * 20
    }
}

/// What an update works on.
pub(super) struct Update<'a> {
    pub(super) fragments: &'a Fragments,
    pub(super) features: &'a Features,
    pub(super) nodes: &'a mut [Node],
    pub(super) edge: f32,
    pub(super) stats: FieldStats,
}

impl Update<'_> {
    fn mesh(&self) -> &TetMesh {
        self.fragments.mesh()
    }

    /// Gives a node a feature if it is nearer than what it has.
    fn offer(&mut self, node: u32, feature: FeatureId) -> bool {
        self.stats.tests += 1;
        let p = self.mesh().positions()[node as usize];
        let to = self.features.find_way_to(self.mesh(), feature, p);
        let own = &mut self.nodes[node as usize];
        let limit = own.distance - LEAST_CHANGE * self.edge;
        let distance_squared = to.length_squared();
        if limit <= 0.0 || distance_squared >= limit * limit {
            return false;
        }
        let distance = distance_squared.sqrt();
        own.distance = distance;
        own.feature = feature;
        if distance > LEAST_CHANGE * self.edge {
            own.normal = to / distance;
        }
        self.stats.updates += 1;
        true
    }

    /// Nodes of cut tetrahedra take the new crack polygons there.
    pub(super) fn seed(&mut self, new: std::ops::Range<FeatureId>, front: &mut Front) {
        for feature in new {
            let (_, origin) = self.features.origin(feature);
            let (tet, k) = (origin / 4, (origin % 4) as usize);
            let Some(cut) = self.fragments.cut(tet) else {
                continue;
            };
            let plane = cut.planes()[k];
            let nodes = self.mesh().tets()[tet as usize];
            // Nodes on the object's surface cannot come nearer to anything.
            let limits = [0, 1, 2, 3].map(|i| {
                let own = self.nodes[nodes[i] as usize].distance - LEAST_CHANGE * self.edge;
                if plane[i] == 0.0 { 0.0 } else { own }
            });
            if limits.iter().all(|&limit| limit <= 0.0) {
                continue;
            }
            let corners = self.mesh().corners(tet);
            let squared = four_to_quad_squared(&corners, self.features.crack(feature));
            self.stats.tests += 4;
            for i in 0..4 {
                let nearer = limits[i] > 0.0 && squared[i] < limits[i] * limits[i];
                if nearer && self.offer(nodes[i], feature) {
                    push(front, nodes[i]);
                }
            }
        }
    }

    /// Offers features on until nobody takes them.
    pub(super) fn spread_features(&mut self, front: &mut Front) {
        let labels = self.fragments.node_fragment();
        let mesh = self.fragments.mesh();
        let least_change = LEAST_CHANGE * self.edge;
        while !front.queue.is_empty() {
            std::mem::swap(&mut front.queue, &mut front.next);
            let mut batch = std::mem::take(&mut front.next);
            for u in batch.drain(..) {
                front.waits[u as usize] = false;
                let Node {
                    distance,
                    normal,
                    feature,
                } = self.nodes[u as usize];
                let label = labels[u as usize];
                let p = mesh.positions()[u as usize];
                for &v in mesh.adjacent_nodes(u) {
                    let own = &self.nodes[v as usize];
                    let back = p - mesh.positions()[v as usize];
                    if distance + normal.dot(back) >= own.distance - least_change
                        || labels[v as usize] != label
                        || own.feature == feature
                    {
                        continue;
                    }
                    if self.offer(v, feature) {
                        push(front, v);
                    }
                }
            }
            front.next = batch;
        }
    }

    /// Equations 1 and 2, step by step, with guards.
    pub(super) fn spread_averages(&mut self, front: &mut Front) {
        let labels = self.fragments.node_fragment();
        let mesh = self.fragments.mesh();
        let positions = mesh.positions();
        let least_change = LEAST_AVERAGE_CHANGE * self.edge;
        while !front.queue.is_empty() {
            std::mem::swap(&mut front.queue, &mut front.next);
            // `waits` marks the nodes of the last step.
            front.touched.clear();
            for &u in &front.next {
                let label = labels[u as usize];
                let same = mesh.adjacent_nodes(u).iter();
                front
                    .touched
                    .extend(same.filter(|&&v| labels[v as usize] == label));
            }
            front.touched.sort_unstable();
            front.touched.dedup();
            front.averages.clear();
            for &v in &front.touched {
                let (p, label) = (positions[v as usize], labels[v as usize]);
                let (mut weights, mut sum, mut normal) = (0.0, 0.0, Vec3::ZERO);
                let mut least = 0.0_f32;
                for &u in mesh.adjacent_nodes(v) {
                    let in_front = front.waits[u as usize] && labels[u as usize] == label;
                    if !in_front {
                        continue;
                    }
                    let from = &self.nodes[u as usize];
                    let along = positions[u as usize] - p;
                    let weight = 1.0 / along.length_squared();
                    weights += weight;
                    sum += weight * (from.distance + from.normal.dot(along));
                    normal += from.normal * weight;
                    least = least.max(from.distance - along.length());
                }
                let distance = (sum / weights).max(least);
                if distance < self.nodes[v as usize].distance - least_change {
                    let normal = normal
                        .try_normalize()
                        .unwrap_or(self.nodes[v as usize].normal);
                    front.averages.push((v, distance, normal));
                }
            }
            for &u in &front.next {
                front.waits[u as usize] = false;
            }
            front.next.clear();
            for &(v, distance, normal) in &front.averages {
                self.nodes[v as usize] = Node {
                    distance,
                    normal,
                    feature: NONE,
                };
                self.stats.updates += 1;
                front.queue.push(v);
                front.waits[v as usize] = true;
            }
        }
    }

    /// The closest triangle of the real surface for every node of every child.
    pub(super) fn recompute(&mut self, split: &Split, front: &mut Front) {
        for u in front.queue.drain(..) {
            front.waits[u as usize] = false;
        }
        let outer = self.features.outer_by_origin();
        for &child in &split.children {
            self.recompute_fragment(child, &outer, &mut front.surface);
        }
    }

    fn recompute_fragment(
        &mut self,
        id: FragmentId,
        outer: &[(u32, FeatureId)],
        scratch: &mut SurfaceScratch,
    ) {
        let fragments = self.fragments;
        let surface = FragmentSurface::extract(fragments, id, scratch);
        let corners: Vec<[Vec3; 3]> = (0..surface.triangles().len())
            .map(|t| surface.corners(t))
            .collect();
        let tree = TriangleTree::build(&corners);
        for &n in fragments.fragment(id).nodes() {
            let p = fragments.mesh().positions()[n as usize];
            let Some(found) = tree.closest(p, f32::INFINITY) else {
                continue;
            };
            let distance = found.distance_squared.sqrt();
            let own = &mut self.nodes[n as usize];
            own.distance = distance;
            if distance > LEAST_CHANGE * self.edge {
                own.normal = found.to / distance;
            }
            let triangle = found.id as usize;
            let (tet, side) = (surface.tet(triangle), surface.side(triangle));
            own.feature = if triangle < surface.outer_triangles() {
                let origin = tet * 4 + u32::from(side);
                let at = outer.binary_search_by_key(&origin, |face| face.0);
                at.map_or(NONE, |at| outer[at].1)
            } else {
                self.features.of_cut(fragments.cut_index(tet))[side as usize]
            };
            self.stats.updates += 1;
        }
    }
}

fn push(front: &mut Front, node: u32) {
    if !front.waits[node as usize] {
        front.waits[node as usize] = true;
        front.queue.push(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_lists() {
        let mut front = Front::new(100);
        assert_eq!(front.bytes(), 100);
        front.queue = Vec::with_capacity(3);
        front.next = Vec::with_capacity(5);
        front.touched = Vec::with_capacity(7);
        front.averages = Vec::with_capacity(11);
        let numbers = front.queue.capacity() + front.next.capacity() + front.touched.capacity();
        let averages = front.averages.capacity() * size_of::<(u32, f32, Vec3)>();
        assert_eq!(front.bytes(), 100 + 4 * numbers + averages);
    }

    #[test]
    fn a_node_waits_once() {
        let mut front = Front::new(4);
        for node in [2, 3, 2] {
            push(&mut front, node);
        }
        assert_eq!(front.queue, [2, 3]);
        assert_eq!(front.waits, [false, false, true, true]);
    }
}
