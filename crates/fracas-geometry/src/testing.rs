//! Small meshes for tests, shared by unit tests, conformance suite and benchmarks.
//!
//! Hidden from the documentation, but public: the tests of other crates use it.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

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

/// Sides that have no other against them, by the bits of their ends.
#[must_use]
pub fn open_sides(triangles: &[[Vec3; 3]]) -> Vec<[Vec3; 2]> {
    let key = |p: Vec3| (p + Vec3::ZERO).to_array().map(f32::to_bits);
    let mut balance: HashMap<[[u32; 3]; 2], i32> = HashMap::new();
    for t in triangles {
        for i in 0..3 {
            let (a, b) = (key(t[i]), key(t[(i + 1) % 3]));
            if a < b {
                *balance.entry([a, b]).or_default() += 1;
            } else if b < a {
                *balance.entry([b, a]).or_default() -= 1;
            }
        }
    }
    let open = balance.into_iter().filter(|(_, n)| *n != 0);
    open.map(|(ends, _)| ends.map(|e| Vec3::from_array(e.map(f32::from_bits))))
        .collect()
}

/// The surface of the unit cube in `n` squares a side, moved by `place`.
#[must_use]
pub fn cube_skin(n: u32, place: impl Fn(DVec3) -> DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for side in 0..2 {
            for i in 0..n {
                for j in 0..n {
                    let at = |di: u32, dj: u32| {
                        let mut p = [0.0; 3];
                        p[axis] = f64::from(side);
                        p[(axis + 1) % 3] = f64::from(i + di) / f64::from(n);
                        p[(axis + 2) % 3] = f64::from(j + dj) / f64::from(n);
                        place(DVec3::from_array(p))
                    };
                    let first = positions.len() as u32;
                    positions.extend([at(0, 0), at(1, 0), at(1, 1), at(0, 1)]);
                    let quad = if side == 1 {
                        [[0, 1, 2], [0, 2, 3]]
                    } else {
                        [[0, 2, 1], [0, 3, 2]]
                    };
                    triangles.extend(quad.map(|t| t.map(|k: u32| first + k)));
                }
            }
        }
    }
    (positions, triangles)
}

/// The unit cube: corners numbered by bits (x 1, y 2, z 4), and two triangles a side.
#[must_use]
pub fn unit_cube() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let corner = |i: u32| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2));
    let sides = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
    let triangles = sides.into_iter().flat_map(halves).collect();
    ((0..8).map(corner).collect(), triangles)
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
