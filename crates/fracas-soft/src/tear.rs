//! Tearing along faces: nodes are copied, tetrahedra and their rest shapes stay.
//!
//! The primitive is *opening* a set of faces. Around every node of an opened face,
//! the tetrahedra that are still joined by closed faces form groups; the group with
//! the lowest tetrahedron keeps the node, each other group gets a copy. So a face
//! really opens where the crack around one of its nodes is complete, and the front
//! of a crack stays joined. After every tear the tetrahedra around a node are joined
//! by faces: nothing hangs by an edge or a corner.
//!
//! **Failure.** A tetrahedron whose largest principal stretch exceeds the material's
//! limit tears at one of its nodes: all faces at that node between roots ahead and
//! behind of the plane across the stretched direction open. [After O'Brien and
//! Hodgins 1999, without remeshing: the crack follows faces; Marchal 2004, section 6]
//! No plastic flow: a tetrahedron is whole or parted.
//!
//! **Guarantee.** Mesh valid, rest volume untouched, no node lost, mass and momentum
//! conserved.

use fracas_geometry::tet_mesh::{NONE, TET_FACES};
use glam::Vec3;

use crate::body::{SoftBody, centre_of, thickness};

/// Tetrahedra with adjacency that is kept up to date while faces open.
pub(crate) struct Opening<'a> {
    body: &'a mut SoftBody,
    neighbours: Vec<[u32; 4]>,
    /// Faces opened: two tetrahedra, and which face of the first and which of the second it is.
    opened: Vec<[(u32, usize); 2]>,
    /// Copies made.
    pub copies: usize,
}

impl<'a> Opening<'a> {
    pub fn new(body: &'a mut SoftBody) -> Self {
        let neighbours = body.topology.neighbours().to_vec();
        Self {
            body,
            neighbours,
            opened: Vec::new(),
            copies: 0,
        }
    }

    /// The tetrahedra around `node` that are joined to `from` by faces at the node.
    fn star(&self, node: u32, from: u32, star: &mut Vec<u32>) {
        star.clear();
        star.push(from);
        let mut i = 0;
        while i < star.len() {
            let t = star[i] as usize;
            for (k, &other) in self.neighbours[t].iter().enumerate() {
                // Face k lacks node k: it contains `node` unless that is node k.
                if other != NONE && self.body.tets[t][k] != node && !star.contains(&other) {
                    star.push(other);
                }
            }
            i += 1;
        }
    }

    /// Opens faces, given as tetrahedron and local face; either side will do.
    pub fn open(&mut self, faces: &[(u32, usize)]) {
        let mut nodes: Vec<(u32, u32)> = Vec::new();
        for &(t, k) in faces {
            let other = std::mem::replace(&mut self.neighbours[t as usize][k], NONE);
            if other == NONE {
                continue;
            }
            for (j, back) in self.neighbours[other as usize].iter_mut().enumerate() {
                if *back == t {
                    *back = NONE;
                    self.opened.push([(t, k), (other, j)]);
                }
            }
            for i in TET_FACES[k] {
                let node = self.body.tets[t as usize][i];
                nodes.extend([(node, t), (node, other)]);
            }
        }
        nodes.sort_unstable();
        let mut star = Vec::new();
        for around in nodes.chunk_by(|a, b| a.0 == b.0) {
            let node = around[0].0;
            // The groups are found from the tetrahedra beside the opened faces: a
            // group without one was not parted from anything.
            let mut kept: Option<Vec<u32>> = None;
            let mut groups: Vec<Vec<u32>> = Vec::new();
            for &(_, t) in around {
                if groups.iter().any(|g| g.contains(&t)) {
                    continue;
                }
                self.star(node, t, &mut star);
                groups.push(star.clone());
            }
            groups.sort_by_key(|g| g.iter().min().copied());
            for group in groups {
                if kept.is_none() {
                    kept = Some(group);
                    continue;
                }
                let copy = self.body.copy_node(node);
                self.copies += 1;
                for t in group {
                    for n in &mut self.body.tets[t as usize] {
                        if *n == node {
                            *n = copy;
                        }
                    }
                }
            }
        }
    }

    /// Who shares which face now: where a crack is not complete around any node of an opened face,
    /// its two sides still have the same nodes.
    fn into_neighbours(mut self) -> Vec<[u32; 4]> {
        for [(t, k), (other, j)] in std::mem::take(&mut self.opened) {
            let [mine, theirs] = [(t, k), (other, j)].map(|(t, k)| {
                let mut nodes = TET_FACES[k].map(|i| self.body.tets[t as usize][i]);
                nodes.sort_unstable();
                nodes
            });
            if mine == theirs {
                self.neighbours[t as usize][k] = other;
                self.neighbours[other as usize][j] = t;
            }
        }
        self.neighbours
    }

    /// Tears the roots around `node` (a node of `tet`) apart along the plane across
    /// `direction` in the rest shape. Whether anything opened.
    fn tear_at(&mut self, node: u32, tet: u32, direction: Vec3, star: &mut Vec<u32>) -> bool {
        self.star(node, tet, star);
        let at = self.body.rest[node as usize];
        let ahead = |body: &SoftBody, t: u32| {
            let root = body.roots[t as usize];
            (body.root_centres[root as usize] - at).dot(direction) > 0.0
        };
        let mut faces = Vec::new();
        for &t in star.iter().filter(|&&t| ahead(self.body, t)) {
            for k in 0..4 {
                let other = self.neighbours[t as usize][k];
                let holds_node = self.body.tets[t as usize][k] != node;
                if other != NONE && holds_node && !ahead(self.body, other) {
                    faces.push((t, k));
                }
            }
        }
        self.open(&faces);
        !faces.is_empty()
    }
}

/// A part of so few roots is a crumb and breaks no further: it has next to nothing that holds
/// together, and what presses on it would grind it, and the pile that it lies in, for ever. A root
/// that a knife left counts by its share of the usual volume: a body that was cut twice has
/// thousands.
const CRUMB: f32 = 8.0;

/// The share of the usual thickness below which what a knife left is thin.
const THIN: f32 = 0.25;

/// Tetrahedra that a thread looks at at a time.
#[cfg(feature = "parallel")]
const TETS_PER_TASK: usize = 512;

impl SoftBody {
    /// For each part whether it is a crumb.
    fn crumbs(&self) -> Vec<bool> {
        let mut roots: Vec<u32> = Vec::new();
        (0..self.topology.part_count() as u32)
            .map(|part| {
                let tets = self.topology.part_tets(part);
                // Up to four tetrahedra have one root, and where nothing was cut all are whole.
                let is_uncut = self.root_sizes.len() == self.first_cut_root as usize;
                if is_uncut && tets.len() > 4 * CRUMB as usize {
                    return false;
                }
                roots.clear();
                roots.extend(tets.iter().map(|&t| self.roots[t as usize]));
                roots.sort_unstable();
                roots.dedup();
                let sizes = roots.iter().map(|&r| self.root_sizes[r as usize]);
                sizes.sum::<f32>() <= CRUMB
            })
            .collect()
    }

    /// How much more strain a tetrahedron bears than one of those that the body was built of.
    /// Where it is thinner than the crack is wide that opens in it, the width decides and not the
    /// strain: strain at failure goes by one over the size [Bazant and Oh 1983, crack band]. (A
    /// sliver that a knife left, a tenth of a millimetre thin, is stretched to ten times its
    /// length by the millimetre that contact moves its nodes by, in a pile that lies still.)
    fn toughness(&self, tet: u32) -> f32 {
        if self.roots[tet as usize] < self.first_cut_root {
            return 1.0;
        }
        let size = thickness(self.tets[tet as usize].map(|n| self.rest[n as usize]));
        (THIN * self.thickness / size).max(1.0)
    }

    /// Tears the body where it is stretched beyond what its material bears, at most
    /// `most` times, worst first. Returns the number of tears.
    pub fn tear(&mut self, most: usize) -> usize {
        self.tear_unpressed(most, &[], &mut [], false)
    }

    /// As [`SoftBody::tear`], where the tetrahedra of `pressed` (in order) and those with an edge of
    /// `edges` bear everything: they overlap something, and what strains them is the contact that
    /// moves them out of it.
    pub(crate) fn tear_unpressed(
        &mut self,
        most: usize,
        pressed: &[u32],
        edges: &mut [[u32; 2]],
        parallel: bool,
    ) -> usize {
        let limit = self.material.tear_stretch;
        if self.fixed || !limit.is_finite() {
            return 0;
        }
        let crumbs = self.crumbs();
        let mut failing = self.failing(&crumbs, pressed, parallel);
        if !failing.is_empty() {
            edges.sort_unstable();
            failing.retain(|(_, t, _)| !self.has_edge_of(*t, edges));
        }
        if failing.is_empty() {
            return 0;
        }
        failing.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        // A node that is the centre of a divided tetrahedron never tears.
        let nodes = self.rest.len();
        let mut on_boundary: Vec<bool> = (0..nodes as u32)
            .map(|n| self.topology.is_boundary(n))
            .collect();
        let mut touched = vec![false; self.tets.len()];
        let (mut tears, mut star) = (0, Vec::new());
        let mut opening = Opening::new(self);
        for (_, t, direction) in failing {
            if tears == most {
                break;
            }
            // Relieved by a tear beside it, as far as we know: wait for the next step.
            if touched[t as usize] {
                continue;
            }
            // Cracks grow from the boundary if they can.
            let mut corners = opening.body.tets[t as usize];
            corners.sort_by_key(|&n| (!on_boundary[n as usize], n));
            for node in corners {
                if opening.tear_at(node, t, direction, &mut star) {
                    tears += 1;
                    for &t in &star {
                        touched[t as usize] = true;
                    }
                    on_boundary.resize(opening.body.rest.len(), true);
                    on_boundary[node as usize] = true;
                    break;
                }
            }
        }
        if tears > 0 {
            let neighbours = opening.into_neighbours();
            self.refresh_beside(neighbours, parallel)
                .expect("copying nodes cannot make a mesh invalid");
        }
        tears
    }

    /// The tetrahedra that are stretched beyond what they bear and not in a crumb, in order: how
    /// much, and in which direction of the rest shape. None of `pressed` is.
    fn failing(&self, crumbs: &[bool], pressed: &[u32], parallel: bool) -> Vec<(f32, u32, Vec3)> {
        let limit = self.material.tear_stretch;
        let fails = |t: u32| {
            if crumbs[self.topology.parts()[t as usize] as usize] {
                return None;
            }
            // Few are overstretched: whether it is pressed is asked of these.
            let (stretch, direction) = self.overstretch(t, limit)?;
            let bears = 1.0 + (limit - 1.0) * self.toughness(t);
            let is_failing = stretch > bears && pressed.binary_search(&t).is_err();
            is_failing.then_some((stretch, t, direction))
        };
        let tets = 0..self.tets.len() as u32;
        #[cfg(feature = "parallel")]
        if parallel {
            use rayon::prelude::*;
            let tets = tets.into_par_iter().with_min_len(TETS_PER_TASK);
            return tets.filter_map(fails).collect();
        }
        let _ = parallel;
        tets.filter_map(fails).collect()
    }

    /// Whether a tetrahedron has one of these edges (or nodes, given twice), which are in order.
    fn has_edge_of(&self, tet: u32, edges: &[[u32; 2]]) -> bool {
        let corners = self.tets[tet as usize];
        let is_in = |a: u32, b: u32| edges.binary_search(&[a.min(b), a.max(b)]).is_ok();
        let any = |(i, &a): (usize, &u32)| corners[i..].iter().any(|&b| is_in(a, b));
        corners.iter().enumerate().any(any)
    }

    /// Gives every tetrahedron of `tets` a root of its own.
    pub(crate) fn uproot(&mut self, tets: impl Iterator<Item = u32>) {
        for t in tets {
            let corners = self.tets[t as usize].map(|n| self.rest[n as usize]);
            self.roots[t as usize] = self.root_centres.len() as u32;
            self.root_centres.push(centre_of(corners));
            let volume = fracas_geometry::tet_mesh::signed_volume(corners) as f32;
            self.root_sizes.push((volume / self.grain).min(1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Material;
    use fracas_geometry::testing::{Rng, box_grid};

    #[test]
    fn torn_bodies_stay_valid_and_whole() {
        for seed in 0..4 {
            let mut rng = Rng(seed);
            let material = Material {
                tear_stretch: 1.2,
                ..Material::default()
            };
            let mesh = box_grid([5, 4, 3], Vec3::new(5.0, 4.0, 3.0));
            let mut body = SoftBody::build(&mesh, material).unwrap();
            for v in &mut body.velocities {
                *v = rng.direction();
            }
            let (volume, mut nodes) = (body.rest_volume(), body.rest().len());
            let mut parts = 1;
            for _ in 0..12 {
                // Pull hard in some direction, as a simulation would.
                let axis = rng.direction();
                for p in &mut body.positions {
                    *p += axis * axis.dot(*p) * rng.range(0.1, 0.4);
                }
                let momentum = body.momentum();
                let tears = body.tear(10);
                body.validate().unwrap();
                assert!((body.rest_volume() / volume - 1.0).abs() < 1e-6);
                assert!(body.rest().len() >= nodes, "nodes were lost");
                assert!(
                    tears == 0 || body.rest().len() > nodes,
                    "a tear copies nodes"
                );
                assert!(body.momentum().distance(momentum) < 1e-3 * momentum.length().max(1.0));
                assert_eq!(body.topology().flat_tets().count(), 0);
                (nodes, parts) = (body.rest().len(), parts.max(body.topology().part_count()));
            }
            assert!(parts > 1, "it should have come apart");
        }
    }

    #[test]
    fn what_is_not_overstretched_does_not_tear() {
        let material = Material {
            tear_stretch: 1.5,
            ..Material::default()
        };
        let mut body = SoftBody::build(&box_grid([3, 3, 3], Vec3::ONE), material).unwrap();
        for p in &mut body.positions {
            *p *= Vec3::new(1.4, 0.8, 1.0);
        }
        assert_eq!(body.tear(100), 0);
        for p in &mut body.positions {
            p.x *= 1.2;
        }
        assert!(body.tear(100) > 0);
        assert_eq!(body.clone().fixed().tear(100), 0);
    }

    /// The tetrahedra that fail, looked at one by one.
    #[test]
    fn what_fails_is_found_in_order_on_any_threads() {
        let material = Material {
            tear_stretch: 1.2,
            ..Material::default()
        };
        let mut rng = Rng(8);
        let mut body = SoftBody::build(&box_grid([8, 8, 8], Vec3::ONE), material).unwrap();
        assert!(body.tets.len() > 5 * 512, "{}", body.tets.len());
        for p in &mut body.positions {
            *p += 0.02 * rng.direction();
        }
        let crumbs = vec![false; body.topology.part_count()];
        let pressed: Vec<u32> = (0..body.tets.len() as u32).step_by(7).collect();
        let one_by_one: Vec<(f32, u32, Vec3)> = (0..body.tets.len() as u32)
            .filter(|t| t % 7 != 0)
            .filter_map(|t| body.overstretch(t, 1.2).map(|(s, d)| (s, t, d)))
            .collect();
        assert!(one_by_one.len() > 100, "{}", one_by_one.len());
        for parallel in [false, true] {
            assert!(body.failing(&crumbs, &pressed, parallel) == one_by_one);
        }
        let crumbs = vec![true; body.topology.part_count()];
        assert!(body.failing(&crumbs, &pressed, true).is_empty());
    }
}
