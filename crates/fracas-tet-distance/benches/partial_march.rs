//! What partial marching saves: depths of the tetrahedra near a contact, against depths of the
//! whole mesh, for contacts of different depth; and closest features against closest points.
//!
//! `cargo bench -p fracas-tet-distance`. Prints milliseconds and ratios to a whole march.

use std::time::Instant;

use fracas_tet_distance::geometry::TetMeshError;
use fracas_tet_distance::geometry::grid::bent_grid;
use fracas_tet_distance::{DepthField, Method, Topology};

/// Cubes along a side of the block, six tetrahedra each.
const CELLS: u32 = 28;
/// Runs of which the fastest counts.
const RUNS: usize = 7;

fn main() -> Result<(), TetMeshError> {
    let block = bent_grid([CELLS; 3], false, |p| p)?;
    let topology = Topology::build(block.positions().len(), block.tets())?;
    let at = block.positions();
    for method in [Method::ClosestFeature, Method::ClosestPoint] {
        let mut field = DepthField::new(method);
        let whole = best_ms(|| field.march(&topology, at));
        println!(
            "{method:?}: the whole block of {} tetrahedra, {whole:.3} ms",
            block.tets().len()
        );
        for layers in [1_u32, 2, 4] {
            // The tetrahedra of a corner: so many cubes along each axis.
            let in_corner = |t: &u32| {
                block
                    .corners(*t)
                    .iter()
                    .all(|p| p.max_element() <= layers as f32)
            };
            let marked: Vec<u32> = (0..block.tets().len() as u32).filter(in_corner).collect();
            let ms = best_ms(|| field.march_to(&topology, at, &marked));
            println!(
                "  {:4} tetrahedra of a corner: {ms:.3} ms, {:.3} of the whole",
                marked.len(),
                ms / whole
            );
        }
    }
    Ok(())
}

fn best_ms(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    best
}
