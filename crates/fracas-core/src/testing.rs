//! Small meshes for tests, shared by unit tests, conformance suite and benchmarks.
//!
//! Public with the feature `research` because other crates' tests need it.

use glam::Vec3;

use crate::grid::bent_grid;
use crate::{Crack, Fracture, Fragments, TetMesh, splitmix64};

/// A box of `cells` cubes, each split into six tetrahedra along the axis
/// permutations from its low to its high corner (Kuhn), scaled to `size`, with
/// the low corner at the origin.
///
/// # Panics
/// When a count is zero or a size is not positive.
#[must_use]
pub fn box_grid(cells: [u32; 3], size: Vec3) -> TetMesh {
    let counts = Vec3::from(cells.map(|c| c as f32));
    bent_grid(cells, false, |p| p * size / counts).expect("a grid of cubes is a mesh")
}

/// Breaks random fragments so many times along planes through a random node, each node's
/// level off by up to `rough`.
///
/// # Panics
/// When a crack that was made for a fragment does not break it.
pub fn break_at_random(fragments: &mut Fragments, rng: &mut Rng, times: usize, rough: f32) {
    for _ in 0..times {
        let living: Vec<_> = fragments.living().collect();
        let fragment = living[rng.below(living.len())];
        let mesh = fragments.mesh().clone();
        let nodes = fragments.fragment(fragment).nodes();
        let middle = mesh.positions()[nodes[rng.below(nodes.len())] as usize];
        let direction = rng.direction();
        let crack = Crack::from_level(&mesh, 0, nodes, |n| {
            direction.dot(mesh.positions()[n as usize] - middle) + rng.range(-rough, rough)
        });
        if let Some(crack) = crack {
            let cracks = vec![crack];
            let broken = fragments.apply(&Fracture { fragment, cracks });
            broken.expect("a crack of a living fragment");
        }
    }
}

/// A small, fast, seeded generator (splitmix64) so that tests repeat everywhere.
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Uniform in `[lo, hi)`.
    pub fn range(&mut self, lo: f32, hi: f32) -> f32 {
        lo + (hi - lo) * self.unit()
    }

    /// Uniform in `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Uniform on the unit sphere.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
            );
            let length_squared = v.length_squared();
            if length_squared > 1e-3 && length_squared <= 1.0 {
                return v / length_squared.sqrt();
            }
        }
    }

    /// Uniform in a box.
    pub fn in_box(&mut self, lo: Vec3, hi: Vec3) -> Vec3 {
        Vec3::new(
            self.range(lo.x, hi.x),
            self.range(lo.y, hi.y),
            self.range(lo.z, hi.z),
        )
    }
}
