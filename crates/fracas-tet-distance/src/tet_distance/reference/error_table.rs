//! Time, maximal and mean error of every way to compute depths: the tables of
//! [Marchal 2004, Figs. 9 and 10].
//!
//! The exact depth of each node is the least f64 distance to any boundary triangle.
//! The paper's "median error" is defined there as the sum over the number of nodes;
//! it is the mean, and called so here. Boundary nodes count as nodes, as in the
//! paper: their error is zero in every method but the grid's, which is given zero
//! there too.

use super::super::march::{DepthField, Method};
use super::exact::exact_squared_distance;
use super::grid_march::{Seeds, grid_depths};
use super::specimens::Specimen;

/// One line of the table.
#[derive(Clone, Debug)]
pub struct ErrorRow {
    /// The way of computing.
    pub name: String,
    /// Shortest time of several runs, in the clock's unit.
    pub time: f64,
    /// Largest difference from the exact depth.
    pub max_error: f64,
    /// Mean difference over all nodes.
    pub mean_error: f64,
    /// The depths, for pictures.
    pub depths: Vec<f32>,
}

/// All ways on one specimen, the exact one first. `clock` returns the time since
/// some moment, in any unit (a library knows no clock); `grids` are the numbers of
/// cells along the longest side.
#[must_use]
pub fn error_table(
    specimen: &Specimen,
    grids: &[u32],
    runs: usize,
    mut clock: impl FnMut() -> f64,
) -> Vec<ErrorRow> {
    let (topology, positions) = (&specimen.topology, specimen.positions.as_slice());
    let mut exact = Vec::new();
    let mut rows = Vec::new();
    let mut add = |name: String, runs: usize, compute: &mut dyn FnMut() -> Vec<f32>| {
        let (mut time, mut depths) = (f64::INFINITY, Vec::new());
        for _ in 0..runs {
            let start = clock();
            depths = compute();
            time = time.min(clock() - start);
        }
        if rows.is_empty() {
            exact.clone_from(&depths);
        }
        let errors = depths
            .iter()
            .zip(&exact)
            .map(|(d, e): (&f32, &f32)| f64::from((d - e).abs()));
        rows.push(ErrorRow {
            name,
            time,
            max_error: errors.clone().fold(0.0, f64::max),
            mean_error: errors.sum::<f64>() / depths.len() as f64,
            depths,
        });
    };
    add("exact".into(), 1, &mut || {
        (0..topology.nodes() as u32)
            .map(|n| {
                if topology.is_boundary(n) {
                    return 0.0;
                }
                let squared = topology
                    .faces()
                    .iter()
                    .map(|f| {
                        let corners = f.map(|n| positions[n as usize]);
                        exact_squared_distance(positions[n as usize], corners)
                    })
                    .fold(f64::INFINITY, f64::min);
                squared.sqrt() as f32
            })
            .collect()
    });
    for (seeds, name) in [(Seeds::Rasterized, ""), (Seeds::Exact, ", exact seeds")] {
        for &cells in grids {
            add(format!("grid {cells}{name}"), runs.min(3), &mut || {
                grid_depths(topology, positions, cells, seeds).unwrap_or_default()
            });
        }
    }
    for (method, name) in [
        (Method::ClosestFeature, "CFFM"),
        (Method::ClosestPoint, "CPFM"),
    ] {
        let mut field = DepthField::new(method);
        add(name.into(), runs, &mut || {
            field.march(topology, positions);
            field.depths().to_vec()
        });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::specimens::{bumpy_ball, cut_disc, slit_rectangle};
    use super::*;

    #[test]
    fn features_are_nearly_exact_and_points_a_few_percent() {
        for (specimen, grids) in [
            (cut_disc(), [20, 100]),
            (slit_rectangle(), [20, 100]),
            (bumpy_ball(12), [12, 48]),
        ] {
            let rows = error_table(&specimen, &grids, 1, || 0.0);
            let row = |name: &str| rows.iter().find(|r| r.name == name).unwrap();
            let deepest = row("exact").depths.iter().fold(0.0_f32, |a, &b| a.max(b));
            for r in &rows {
                println!(
                    "{:<28} {:<22} max {:.5} mean {:.6} of {deepest:.3}",
                    specimen.name, r.name, r.max_error, r.mean_error
                );
            }
            let deepest = f64::from(deepest);
            let (feature, point) = (row("CFFM"), row("CPFM"));
            assert!(feature.mean_error < 1e-3 * deepest);
            assert!(feature.max_error < 0.1 * deepest);
            assert!(point.mean_error < 0.08 * deepest);
            assert!(feature.mean_error < row(&format!("grid {}", grids[1])).mean_error);
            assert!(
                row(&format!("grid {}", grids[1])).mean_error
                    < row(&format!("grid {}", grids[0])).mean_error
            );
        }
    }
}
