//! What the library works with, as flat numbers to be shown: sphere trees, distance
//! fields, tetrahedra, voxels. (Contacts: see [`fracas_scenes::film::contacts`].)

use fracas_rapier::World;
use fracas_voxel::{VoxTree, VoxelGrid};
use glam::Vec3;

/// Spheres of one level, four numbers each: centre, radius. A leaf above the level is
/// shown too: nothing below it is.
pub fn spheres(tree: impl Iterator<Item = (Vec3, f32, u8)>, level: u8) -> Vec<f32> {
    tree.filter(|&(_, radius, l)| l == level || (l < level && radius == 0.0))
        .flat_map(|(c, r, _)| [c.x, c.y, c.z, r])
        .collect()
}

/// Tetrahedra shrunk towards their centres by a fifth: 36 numbers each, four
/// triangles.
#[must_use]
pub fn tets(nodes: &[Vec3], tets: &[[u32; 4]]) -> Vec<f32> {
    const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let mut out = Vec::with_capacity(36 * tets.len());
    for tet in tets {
        let corners = tet.map(|n| nodes[n as usize]);
        let centre = 0.25 * corners.iter().copied().sum::<Vec3>();
        let corners = corners.map(|c| centre.lerp(c, 0.8));
        for i in FACES.as_flattened() {
            out.extend(corners[*i].to_array());
        }
    }
    out
}

/// Cubes of a level of the voxel tree of a surface, six numbers each: centre, edge,
/// group, occupancy. Empty where it cannot be
/// voxelised.
#[must_use]
pub fn voxels(positions: &[Vec3], triangles: &[[u32; 3]], level: usize) -> Vec<f32> {
    /// Voxels along the longest side.
    const ACROSS: f32 = 32.0;
    let low = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = positions.iter().copied().fold(-Vec3::INFINITY, Vec3::max);
    let cell = (high - low).max_element() / ACROSS;
    let Ok(grid) = VoxelGrid::from_surface(positions, triangles, cell) else {
        return Vec::new();
    };
    let tree = VoxTree::build(&grid, 2);
    let Some(level) = tree.levels().get(level.min(tree.levels().len() - 1)) else {
        return Vec::new();
    };
    level
        .nodes
        .iter()
        .flat_map(|n| {
            let c = n.centre;
            [c.x, c.y, c.z, level.cell, n.group as f32, n.occupancy]
        })
        .collect()
}

/// A rectangle of the world in which distances are sampled.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// Its first corner.
    pub origin: Vec3,
    /// From there to the next corner along a row.
    pub across: Vec3,
    /// From the first corner to the one along a column.
    pub along: Vec3,
    /// Samples in a row and in a column.
    pub size: [usize; 2],
}

/// Signed distances to the nearest body (negative inside) at the samples of a slice,
/// row by row; NaN further than `reach` from all.
#[must_use]
pub fn field_slice(world: &World, slice: &Slice, reach: f32) -> Vec<f32> {
    let [width, height] = slice.size;
    let mut out = vec![f32::NAN; width * height];
    for piece in world.pieces() {
        let (Some(shape), Some(pose)) = (world.shape(piece), world.pose(piece)) else {
            continue;
        };
        let (low, high) = shape.surface().bounds();
        let (low, high) = (low - reach, high + reach);
        let state = shape.object().read();
        let field = state.field().of(state.fragments(), shape.id());
        for row in 0..height {
            let down = slice.along * ((row as f32 + 0.5) / height as f32);
            for column in 0..width {
                let right = slice.across * ((column as f32 + 0.5) / width as f32);
                let p = pose.inverse_transform_point(slice.origin + right + down);
                if p.cmplt(low).any() || p.cmpgt(high).any() {
                    continue;
                }
                let Some(found) = field.signed_distance(p, reach) else {
                    continue;
                };
                let at = &mut out[row * width + column];
                if at.is_nan() || found.distance < *at {
                    *at = found.distance;
                }
            }
        }
    }
    out
}
