//! Fewer tetrahedra inside, the same surface.
//!
//! A lattice mesh spends most of its tetrahedra below the surface, where nothing
//! collides until something breaks. This removes interior nodes by edge collapse
//! until a count is reached:
//!
//! 1. Interior nodes are visited in a scattered (but fixed) order. Node `u` is
//!    merged into a neighbour `v`, shortest edge first, if all tetrahedra that are
//!    left around `u` stay positive and better than a least angle, and no edge
//!    becomes longer than the size wanted at its depth.
//! 2. Interior nodes move towards the mean of their neighbours where that does not
//!    lower the smallest angle around them.
//! 3. The size wanted grows faster with depth in each round, until the count is
//!    reached or nothing can be removed.
//!
//! **Guarantee**: the boundary triangles and their nodes are untouched. The star of
//! `u` is refilled from `v`, which sees all of the star's outer faces from inside
//! (the new tetrahedra are positive), so the mesh stays conforming and covers the
//! same volume.

use fracas_core::TetMesh;
use glam::DVec3;

use crate::tetrahedralize::quality::min_sine;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// At most so many tetrahedra.
    Tets(usize),
    /// At most so many nodes that are not on the boundary.
    InteriorNodes(usize),
}

/// No collapse makes a tetrahedron with a smaller angle (sine of 11 degrees).
const LEAST_SINE: f64 = 0.19;
/// Growth of the wanted size with depth, round by round.
const GROWTH: [f64; 12] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.1, 1.4, 1.8, 2.5];

/// Removes interior nodes until the count is reached, if it can be.
pub(super) fn coarsen(mesh: &TetMesh, depth: &dyn Fn(DVec3) -> f64, until: Until) -> TetMesh {
    let mut work = Work::new(mesh, depth);
    let surface_size = 1.3 * f64::from(mesh.mean_edge_length());
    'rounds: for growth in GROWTH {
        for u in scattered(work.positions.len()) {
            if work.done(until) {
                break 'rounds;
            }
            work.remove(u, surface_size, growth);
        }
        work.relax();
    }
    work.relax();
    work.finish()
}

/// All numbers below `n`, neighbours far apart: so a round that ends early has
/// thinned everywhere alike.
pub(super) fn scattered(n: usize) -> impl Iterator<Item = u32> {
    // A step coprime to n, near the golden section of it.
    let gcd = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let mut step = (n as f64 * 0.618_033_988_749_895) as usize + 1;
    while gcd(step, n.max(1)) != 1 {
        step += 1;
    }
    (0..n).map(move |i| (i * step % n) as u32)
}

struct Work {
    positions: Vec<DVec3>,
    depth: Vec<f64>,
    /// On the boundary, or removed.
    fixed: Vec<bool>,
    tets: Vec<[u32; 4]>,
    dead: Vec<bool>,
    /// Live tetrahedra around each node.
    around: Vec<Vec<u32>>,
    live_tets: usize,
    live_interior: usize,
}

impl Work {
    fn new(mesh: &TetMesh, depth: &dyn Fn(DVec3) -> f64) -> Self {
        let positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
        let fixed = mesh.boundary_nodes();
        Self {
            depth: positions.iter().map(|&p| depth(p).max(0.0)).collect(),
            live_interior: fixed.iter().filter(|f| !**f).count(),
            fixed,
            tets: mesh.tets().to_vec(),
            dead: vec![false; mesh.tets().len()],
            around: (0..positions.len() as u32)
                .map(|n| mesh.adjacent_tets(n).to_vec())
                .collect(),
            live_tets: mesh.tets().len(),
            positions,
        }
    }

    fn done(&self, until: Until) -> bool {
        match until {
            Until::Tets(count) => self.live_tets <= count,
            Until::InteriorNodes(count) => self.live_interior <= count,
        }
    }

    fn corners(&self, tet: u32) -> [DVec3; 4] {
        self.tets[tet as usize].map(|n| self.positions[n as usize])
    }

    /// The nodes around `u` in order of distance, ties by index.
    fn neighbours(&self, u: u32) -> Vec<(f64, u32)> {
        let mut nodes: Vec<u32> = self.around[u as usize]
            .iter()
            .flat_map(|&t| self.tets[t as usize])
            .filter(|&n| n != u)
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let at = self.positions[u as usize];
        let mut by_distance: Vec<(f64, u32)> = nodes
            .into_iter()
            .map(|n| (at.distance(self.positions[n as usize]), n))
            .collect();
        by_distance.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        by_distance
    }

    fn remove(&mut self, u: u32, surface_size: f64, growth: f64) {
        if self.fixed[u as usize] {
            return;
        }
        let neighbours = self.neighbours(u);
        for &(_, v) in neighbours.iter().take(8) {
            let longest = |n: u32| {
                surface_size + growth * self.depth[v as usize].min(self.depth[n as usize]).max(0.0)
            };
            let at = self.positions[v as usize];
            let fits = neighbours.iter().all(|&(_, n)| {
                n == v || at.distance(self.positions[n as usize]) <= longest(n) * 1.6
            });
            if fits && self.is_good(u, v) {
                self.collapse(u, v);
                return;
            }
        }
    }

    fn is_good(&self, u: u32, v: u32) -> bool {
        self.around[u as usize].iter().all(|&t| {
            let nodes = self.tets[t as usize];
            nodes.contains(&v)
                || min_sine(nodes.map(|n| self.positions[if n == u { v } else { n } as usize]))
                    >= LEAST_SINE
        })
    }

    fn collapse(&mut self, u: u32, v: u32) {
        for t in std::mem::take(&mut self.around[u as usize]) {
            let nodes = self.tets[t as usize];
            if nodes.contains(&v) {
                self.dead[t as usize] = true;
                self.live_tets -= 1;
                for n in nodes {
                    self.around[n as usize].retain(|&other| other != t);
                }
            } else {
                self.tets[t as usize] = nodes.map(|n| if n == u { v } else { n });
                self.around[v as usize].push(t);
            }
        }
        self.fixed[u as usize] = true;
        self.live_interior -= 1;
    }

    /// Moves each interior node towards the mean of its neighbours where that helps.
    fn relax(&mut self) {
        for u in 0..self.positions.len() as u32 {
            if self.fixed[u as usize] {
                continue;
            }
            let neighbours = self.neighbours(u);
            let sum: DVec3 = neighbours
                .iter()
                .map(|&(_, n)| self.positions[n as usize])
                .sum();
            let mean = sum / neighbours.len() as f64;
            let old = self.positions[u as usize];
            let before = self.worst_around(u);
            for share in [1.0, 0.5, 0.25] {
                self.positions[u as usize] = old.lerp(mean, share);
                if self.worst_around(u) > before {
                    break;
                }
                self.positions[u as usize] = old;
            }
        }
    }

    fn worst_around(&self, u: u32) -> f64 {
        let sines = self.around[u as usize]
            .iter()
            .map(|&t| min_sine(self.corners(t)));
        sines.fold(f64::INFINITY, f64::min)
    }

    fn finish(self) -> TetMesh {
        let mut new_index = vec![u32::MAX; self.positions.len()];
        let mut positions = Vec::new();
        for (n, tets) in self.around.iter().enumerate() {
            if !tets.is_empty() {
                new_index[n] = positions.len() as u32;
                positions.push(self.positions[n].as_vec3());
            }
        }
        let tets = self.tets.iter().zip(&self.dead).filter(|(_, dead)| !**dead);
        let tets = tets
            .map(|(t, _)| t.map(|n| new_index[n as usize]))
            .collect();
        TetMesh::build(positions, tets)
            .expect("every step kept the tetrahedra positive and matched")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_core::testing::box_grid;
    use glam::Vec3;

    fn surface(mesh: &TetMesh) -> Vec<[[u32; 3]; 3]> {
        let bits = |n: u32| mesh.positions()[n as usize].to_array().map(f32::to_bits);
        let mut faces: Vec<_> = mesh.boundary().map(|f| f.nodes.map(bits)).collect();
        for face in &mut faces {
            face.sort_unstable();
        }
        faces.sort_unstable();
        faces
    }

    #[test]
    fn the_surface_and_the_volume_stay_and_the_count_is_met() {
        let mesh = box_grid([10, 10, 10], Vec3::ONE);
        let depth = |p: DVec3| (0.5 - (p - 0.5).abs().max_element()).max(0.0);
        let few = coarsen(&mesh, &depth, Until::InteriorNodes(250));
        few.validate().unwrap();
        assert_eq!(surface(&few), surface(&mesh));
        assert!((few.volume() - mesh.volume()).abs() < 1e-6);
        let inside = few.boundary_nodes().iter().filter(|b| !**b).count();
        assert!(inside <= 250, "{inside}");
        for t in 0..few.tets().len() as u32 {
            let sine = min_sine(few.corners(t).map(|p| p.as_dvec3()));
            assert!(sine > LEAST_SINE - 1e-3, "{sine}");
        }
        assert_eq!(coarsen(&mesh, &depth, Until::InteriorNodes(250)), few);
    }

    #[test]
    fn all_numbers_come_once() {
        for n in [0, 1, 2, 7, 100, 1024] {
            let mut all: Vec<u32> = scattered(n).collect();
            all.sort_unstable();
            assert_eq!(all, (0..n as u32).collect::<Vec<_>>());
        }
    }
}
