//! Grids of cubes cut into tetrahedra, and bent: meshes whose size can be chosen and
//! that start from the same bits everywhere.

use glam::Vec3;

use crate::{TetMesh, TetMeshError};

/// A grid of `cells` cubes, each cut into six tetrahedra along the axis permutations
/// from its low to its high corner (Kuhn), and bent by `place`, which is given grid
/// coordinates. With `ring`, the last layer along z is the first again.
///
/// # Errors
/// When `place` turns a tetrahedron over or flattens it, or a count is zero.
pub fn bent_grid(
    cells: [u32; 3],
    ring: bool,
    place: impl Fn(Vec3) -> Vec3,
) -> Result<TetMesh, TetMeshError> {
    let [nx, ny, nz] = cells;
    let layers = if ring { nz } else { nz + 1 };
    let index = |x: u32, y: u32, z: u32| {
        let z = if ring { z % nz.max(1) } else { z };
        (z * (ny + 1) + y) * (nx + 1) + x
    };
    let mut positions = Vec::new();
    for z in 0..layers {
        for y in 0..=ny {
            for x in 0..=nx {
                positions.push(place(Vec3::new(x as f32, y as f32, z as f32)));
            }
        }
    }
    // Walks from the low to the high corner of a cube, one axis after the other;
    // odd orders have their middle nodes swapped to stay positive.
    const ORDERS: [([usize; 3], bool); 6] = [
        ([0, 1, 2], true),
        ([1, 2, 0], true),
        ([2, 0, 1], true),
        ([0, 2, 1], false),
        ([2, 1, 0], false),
        ([1, 0, 2], false),
    ];
    let mut tets = Vec::new();
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                for (order, even) in ORDERS {
                    let mut at = [x, y, z];
                    let mut walk = [index(x, y, z); 4];
                    for (step, &axis) in order.iter().enumerate() {
                        at[axis] += 1;
                        walk[step + 1] = index(at[0], at[1], at[2]);
                    }
                    let [a, b, c, d] = walk;
                    tets.push(if even { [a, b, c, d] } else { [a, c, b, d] });
                }
            }
        }
    }
    TetMesh::build(positions, tets)
}
