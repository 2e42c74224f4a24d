//! The ground floor: meshes in, tetrahedra out.

use fracas_core::TetMesh;
use fracas_core::testing::box_grid;
use glam::Vec3;

use crate::board::{Board, Measured, Target, best_ms, growth_exponent};

/// Rows of the ground floor.
pub fn rows(board: &mut Board) {
    board.row(
        "meshes/adjacency-growth",
        "exponent",
        Target::AtMost(1.25),
        || {
            let mut points = Vec::new();
            for cells in [10, 20, 30, 40] {
                let mesh = box_grid([cells; 3], Vec3::ONE);
                let (positions, tets) = (mesh.positions().to_vec(), mesh.tets().to_vec());
                let ms = best_ms(3, || {
                    TetMesh::build(positions.clone(), tets.clone()).expect("it was one before")
                });
                points.push((tets.len() as f64, ms));
            }
            let (tets, ms) = points[points.len() - 1];
            Measured::new(growth_exponent(&points)).note(format!("{tets} tets in {ms:.1} ms"))
        },
    );
}
