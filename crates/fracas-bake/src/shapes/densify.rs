//! More points inside, the same surface: the opposite of [`coarsen`](super::coarsen).
//!
//! Edges between interior nodes are split in the middle, in a scattered (but fixed)
//! order, where no tetrahedron around was split before and all halves stay good. In
//! a lattice mesh these are the long edges, whose halves are as good as the whole.

use fracas_core::TetMesh;
use glam::DVec3;

use super::coarsen::scattered;
use crate::tetrahedralize::quality::min_sine;

/// No half is worse than this (sine of 25 degrees).
const LEAST_SINE: f64 = 0.42;

/// Adds interior nodes until there are so many, or no edge can be split any more.
pub(super) fn densify(mesh: &TetMesh, interior: usize) -> TetMesh {
    let on_boundary = mesh.boundary_nodes();
    let mut count = on_boundary.iter().filter(|b| !**b).count();
    let mut positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    let mut tets = mesh.tets().to_vec();
    let mut split = vec![false; tets.len()];
    let inner = |n: u32| !on_boundary[n as usize];
    let edges: Vec<[u32; 2]> = (0..on_boundary.len() as u32)
        .filter(|&a| inner(a))
        .flat_map(|a| {
            let others = mesh.adjacent_nodes(a).iter();
            others.filter(move |&&b| b > a).map(move |&b| [a, b])
        })
        .filter(|&[_, b]| inner(b))
        .collect();
    for e in scattered(edges.len()) {
        if count >= interior {
            break;
        }
        let [a, b] = edges[e as usize];
        let around: Vec<u32> = mesh
            .adjacent_tets(a)
            .iter()
            .copied()
            .filter(|&t| mesh.tets()[t as usize].contains(&b))
            .collect();
        let middle = (positions[a as usize] + positions[b as usize]) * 0.5;
        let good = |t: &u32| {
            let half = |moved: u32| {
                let nodes = mesh.tets()[*t as usize];
                min_sine(nodes.map(|n| {
                    if n == moved {
                        middle
                    } else {
                        positions[n as usize]
                    }
                }))
            };
            !split[*t as usize] && half(a).min(half(b)) >= LEAST_SINE
        };
        if !around.iter().all(good) {
            continue;
        }
        let new = positions.len() as u32;
        positions.push(middle);
        for t in around {
            let nodes = tets[t as usize];
            split[t as usize] = true;
            tets[t as usize] = nodes.map(|n| if n == a { new } else { n });
            tets.push(nodes.map(|n| if n == b { new } else { n }));
        }
        count += 1;
    }
    let positions = positions.iter().map(|p| p.as_vec3()).collect();
    TetMesh::build(positions, tets).expect("halves of positive tetrahedra are positive")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_core::testing::box_grid;
    use glam::Vec3;

    #[test]
    fn nodes_are_added_inside_and_nothing_else_changes() {
        let mesh = box_grid([6, 6, 6], Vec3::ONE);
        let inside = |m: &TetMesh| m.boundary_nodes().iter().filter(|b| !**b).count();
        let denser = densify(&mesh, inside(&mesh) + 20);
        denser.validate().unwrap();
        assert_eq!(inside(&denser), inside(&mesh) + 20);
        assert_eq!(denser.boundary().count(), mesh.boundary().count());
        assert!((denser.volume() - mesh.volume()).abs() < 1e-9);
        assert_eq!(densify(&mesh, 0), mesh);
    }
}
