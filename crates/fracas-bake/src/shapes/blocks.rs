//! Things made of boxes: the brick and the shelf.
//!
//! A grid of (uneven) cells of which some are filled, each split into five
//! tetrahedra: one on every other corner, and four that cut off the rest. The split
//! alternates like a chess board, so that neighbouring cells agree on the diagonal
//! of their common face. Faces are exactly flat, edges and corners exactly sharp.

use fracas_core::TetMesh;
use fracas_core::tet_mesh::signed_volume;
use glam::Vec3;

/// Corners of a cell are numbered by bits: x 1, y 2, z 4.
const EVEN: [[usize; 4]; 5] = [
    [0, 3, 5, 6],
    [1, 0, 3, 5],
    [2, 0, 3, 6],
    [4, 0, 5, 6],
    [7, 3, 5, 6],
];
const ODD: [[usize; 4]; 5] = [
    [1, 2, 4, 7],
    [0, 1, 2, 4],
    [3, 1, 2, 7],
    [5, 1, 4, 7],
    [6, 2, 4, 7],
];

/// Tetrahedra for the filled cells of the grid with these planes.
pub(super) fn fill(planes: &[Vec<f32>; 3], filled: impl Fn([usize; 3]) -> bool) -> TetMesh {
    let [nx, ny, nz] = [0, 1, 2].map(|axis| planes[axis].len());
    let mut index = vec![u32::MAX; nx * ny * nz];
    let mut positions = Vec::new();
    let mut tets = Vec::new();
    for k in 0..nz - 1 {
        for j in 0..ny - 1 {
            for i in (0..nx - 1).filter(|&i| filled([i, j, k])) {
                let corners: [u32; 8] = std::array::from_fn(|c| {
                    let at = [i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)];
                    let slot = &mut index[(at[2] * ny + at[1]) * nx + at[0]];
                    if *slot == u32::MAX {
                        *slot = positions.len() as u32;
                        let p = [0, 1, 2].map(|axis| planes[axis][at[axis]]);
                        positions.push(Vec3::from_array(p));
                    }
                    *slot
                });
                let split = if (i + j + k) % 2 == 0 { EVEN } else { ODD };
                tets.extend(split.map(|tet| positive(tet.map(|c| corners[c]), &positions)));
            }
        }
    }
    TetMesh::build(positions, tets).expect("cells of a grid make a mesh")
}

/// The same tetrahedron, positively oriented.
pub(super) fn positive(tet: [u32; 4], positions: &[Vec3]) -> [u32; 4] {
    let [a, b, c, d] = tet;
    if signed_volume(tet.map(|n| positions[n as usize])) < 0.0 {
        [a, b, d, c]
    } else {
        tet
    }
}

/// `cells` equal steps from `from` to `to`, both included exactly.
fn steps(from: f32, to: f32, cells: usize) -> impl Iterator<Item = f32> {
    (0..=cells).map(move |i| {
        if i == cells {
            to
        } else {
            from + (to - from) * i as f32 / cells as f32
        }
    })
}

/// How many cells this many become when everything is `refine` times finer.
fn finer(cells: usize, refine: f64) -> usize {
    (libm::round(cells as f64 * refine) as usize).max(1)
}

/// A standard brick, 215 x 65 x 102.5 mm, lying on y = 0.
///
/// **Deviation** from Table 1: a closed surface of 468 triangles has 236 vertices,
/// more than the 224 points given. 13 x 2 x 5 cells come within 15% of all three.
pub(super) fn brick(refine: f64) -> TetMesh {
    let [x, y, z] = [13, 2, 5].map(|cells| finer(cells, refine));
    let planes = [
        steps(-0.1075, 0.1075, x).collect(),
        steps(0.0, 0.065, y).collect(),
        steps(-0.05125, 0.05125, z).collect(),
    ];
    fill(&planes, |_| true)
}

/// A wall shelf, 0.64 m wide, 0.6 m tall, 0.28 m deep: two sides, three boards, a
/// rail at the back under the top. Made for plates: boards are two cells thick.
pub(super) fn shelf(refine: f64) -> TetMesh {
    const BOARD: f32 = 0.022;
    const HEIGHTS: [f32; 3] = [0.03, 0.295, 0.56];
    let thick = finer(2, refine);
    let across = finer(21, refine);
    let between = finer(8, refine);
    let deep = finer(9, refine);
    let mut x: Vec<f32> = steps(-0.32, -0.32 + BOARD, thick).collect();
    x.extend(steps(-0.32 + BOARD, 0.32 - BOARD, across).skip(1));
    x.extend(steps(0.32 - BOARD, 0.32, thick).skip(1));
    // From the floor: a gap under each board, then the board; a little side above.
    let mut y = vec![0.0];
    let mut boards = Vec::new();
    for (gap, height) in [1, between, between].into_iter().zip(HEIGHTS) {
        let floor = y[y.len() - 1];
        y.extend(steps(floor, height, gap).skip(1));
        boards.push(y.len() - 1..y.len() - 1 + thick);
        y.extend(steps(height, height + BOARD, thick).skip(1));
    }
    y.extend(steps(HEIGHTS[2] + BOARD, 0.60, 1).skip(1));
    let z: Vec<f32> = steps(-0.14, 0.14, deep).collect();
    let last = x.len() - 1;
    // The rail hangs three cells below the uppermost board, one cell deep.
    let rail = boards[2].start - 3..boards[2].start;
    fill(&[x, y, z], |[i, j, k]| {
        let side = i < thick || i >= last - thick;
        side || boards.iter().any(|b| b.contains(&j)) || (k == 0 && rail.contains(&j))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_splits_fill_the_cell() {
        let planes = [vec![0.0, 1.0, 3.0], vec![0.0, 0.5, 1.0], vec![0.0, 2.0]];
        let mesh = fill(&planes, |_| true);
        assert_eq!(mesh.tets().len(), 5 * 4);
        assert!((mesh.volume() - 6.0).abs() < 1e-9);
        assert_eq!(mesh.boundary().count(), 2 * (2 * 4 + 2 * 2 + 2 * 2));
    }

    #[test]
    fn a_brick_has_its_measures_exactly() {
        for refine in [0.5, 1.0, 2.0] {
            let (lo, hi) = brick(refine).bounds();
            assert_eq!(lo, Vec3::new(-0.1075, 0.0, -0.05125));
            assert_eq!(hi, Vec3::new(0.1075, 0.065, 0.05125));
        }
        assert!((brick(1.0).volume() - 0.215 * 0.065 * 0.1025).abs() < 1e-9);
    }
}
