//! Shaken, shuffled and cut meshes for the unit tests of this module.

use glam::Vec3;

use super::topology::Topology;
use fracas_geometry::testing::{Rng, box_grid};
use fracas_geometry::tet_mesh::NONE;

/// A box of tetrahedra whose nodes are shaken, in shuffled node order.
pub(super) fn shaken(cells: [u32; 3], seed: u64) -> (Topology, Vec<Vec3>) {
    let mesh = box_grid(
        cells,
        Vec3::new(cells[0] as f32, cells[1] as f32, cells[2] as f32),
    );
    let mut rng = Rng(seed);
    let nodes = mesh.positions().len();
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    for i in (1..nodes).rev() {
        order.swap(i, rng.below(i + 1));
    }
    let mut positions = vec![Vec3::ZERO; nodes];
    for (i, &p) in mesh.positions().iter().enumerate() {
        positions[order[i] as usize] = p + 0.2 * rng.unit() * rng.direction();
    }
    let tets: Vec<[u32; 4]> = mesh
        .tets()
        .iter()
        .map(|tet| tet.map(|n| order[n as usize]))
        .collect();
    (Topology::build(nodes, &tets).unwrap(), positions)
}

/// As [`shaken`], with every tetrahedron of a random plane's far side given
/// nodes of its own: two parts that touch.
pub(super) fn shaken_and_cut(seed: u64) -> (Topology, Vec<Vec3>) {
    let (whole, mut positions) = shaken([7, 6, 5], seed);
    let normal = Rng(seed ^ 99).direction();
    let centre = Vec3::new(3.5, 3.0, 2.5);
    let mut copies = vec![NONE; positions.len()];
    let tets: Vec<[u32; 4]> = whole
        .tets()
        .iter()
        .map(|tet| {
            let middle = tet.map(|n| positions[n as usize]).iter().sum::<Vec3>() / 4.0;
            if (middle - centre).dot(normal) < 0.0 {
                return *tet;
            }
            tet.map(|n| {
                if copies[n as usize] == NONE {
                    copies[n as usize] = positions.len() as u32;
                    positions.push(positions[n as usize]);
                }
                copies[n as usize]
            })
        })
        .collect();
    (Topology::build(positions.len(), &tets).unwrap(), positions)
}
