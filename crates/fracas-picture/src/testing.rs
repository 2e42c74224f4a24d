//! Meshes for the tests of several modules.

use glam::Vec3;

/// A box: corners numbered by bits (x 1, y 2, z 4), and two triangles a side.
pub(crate) fn block(low: f32, high: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let corner = |i: u32| {
        let s = |b: u32| if i >> b & 1 == 0 { low } else { high };
        Vec3::new(s(0), s(1), s(2))
    };
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
