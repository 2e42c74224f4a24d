//! The eigenvalue problem: angular frequencies and mass-scaled vectors of a body.
//!
//! Largest eigenvalues theta of `M^½ (K + sigma M)^-1 M^½`, the six rigid motions left
//! out exactly; `omega² = 1/theta - sigma`. The list ends at a gap, see the
//! deviations in `mod.rs`.

use std::ops::ControlFlow;

use fracas_core::FragmentId;
use fracas_sparse::{BLOCK, BlockMatrix, Factor, Row, dissect};
use glam::DVec3;

use super::{ModesError, ModesOptions};
use crate::stiffness::ElasticBody;

/// A gap in the list of frequencies: relative distance to the next.
const GAP: f64 = 0.01;

/// How many modes more than asked for may be taken to reach a gap.
const MOST_EXTRA: usize = 8;

/// Angular frequencies and vectors in the mass-scaled space.
pub(super) type Pairs = (Vec<f64>, Vec<Vec<Row>>);

/// Finds the lowest modes of a body: at least `options.count`, to the next gap.
pub(super) fn solve(
    body: &ElasticBody,
    stiffness: &BlockMatrix,
    id: FragmentId,
    options: &ModesOptions,
    progress: &mut dyn FnMut(f32) -> ControlFlow<()>,
) -> Result<Pairs, ModesError> {
    let masses = body.masses();
    let total: f64 = masses.iter().sum();
    let shift = 1e-5 * stiffness.trace() / (3.0 * total);
    let order = dissect(stiffness, body.positions());
    let mut factor =
        Factor::build(stiffness, masses, shift, &order).map_err(|_| ModesError::NotFactored(id))?;
    if progress(0.3).is_break() {
        return Err(ModesError::Cancelled);
    }
    let roots: Vec<f64> = masses.iter().map(|m| m.sqrt()).collect();
    let rigid = rigid_motions(body.positions(), &roots);
    let dimension = 3 * masses.len();
    // A small body has few modes that mean anything.
    let wanted = options.count.clamp(1, (dimension - 6) / 4);
    let request = fracas_sparse::Request {
        dimension,
        wanted: (wanted + MOST_EXTRA + 1).min(dimension - 8),
        tolerance: 1e-7,
        most_blocks: 25 + wanted,
        seed: options.seed,
    };
    let mut cancelled = false;
    let spectrum = fracas_sparse::largest(
        &request,
        &rigid,
        |w| {
            scale(w, &roots);
            factor.solve(w);
            scale(w, &roots);
        },
        |share| {
            let flow = progress(0.3 + 0.65 * share);
            cancelled = flow.is_break();
            flow
        },
    );
    if cancelled {
        return Err(ModesError::Cancelled);
    }
    if spectrum.converged < wanted {
        return Err(ModesError::NotConverged {
            id,
            found: spectrum.converged,
            wanted,
        });
    }
    let omegas: Vec<f64> = spectrum.values[..spectrum.converged]
        .iter()
        .map(|theta| (1.0 / theta - shift).max(0.0).sqrt())
        .collect();
    let count = cut_at_gap(&omegas, wanted);
    Ok((omegas[..count].to_vec(), spectrum.vectors))
}

/// The first place at or after `wanted` with a gap behind it; else the widest.
fn cut_at_gap(omegas: &[f64], wanted: usize) -> usize {
    let gap = |k: usize| omegas[k] / omegas[k - 1] - 1.0;
    let last = omegas.len().saturating_sub(1);
    if wanted >= last {
        return wanted.min(omegas.len());
    }
    (wanted..=last).find(|&k| gap(k) > GAP).unwrap_or_else(|| {
        (wanted..=last).fold(wanted, |best, k| if gap(k) > gap(best) { k } else { best })
    })
}

fn scale(w: &mut [Row], roots: &[f64]) {
    for (rows, root) in w.chunks_exact_mut(3).zip(roots) {
        for row in rows {
            for x in row {
                *x *= root;
            }
        }
    }
}

/// The six rigid motions, orthonormal in the mass-scaled space; two zero columns.
pub(super) fn rigid_motions(positions: &[DVec3], roots: &[f64]) -> Vec<Row> {
    let total: f64 = roots.iter().map(|r| r * r).sum();
    let centre = positions
        .iter()
        .zip(roots)
        .map(|(&p, r)| p * (r * r))
        .sum::<DVec3>()
        / total;
    let mut rows: Vec<Row> = Vec::with_capacity(3 * positions.len());
    for (&p, &root) in positions.iter().zip(roots) {
        let p = p - centre;
        let turns = [DVec3::X.cross(p), DVec3::Y.cross(p), DVec3::Z.cross(p)];
        for c in 0..3 {
            let mut row = [0.0; BLOCK];
            row[c] = root;
            for (t, turn) in turns.iter().enumerate() {
                row[3 + t] = root * turn[c];
            }
            rows.push(row);
        }
    }
    for c in 0..6 {
        for _ in 0..2 {
            for p in 0..c {
                let d: f64 = rows.iter().map(|row| row[p] * row[c]).sum();
                rows.iter_mut().for_each(|row| row[c] -= d * row[p]);
            }
        }
        let norm = rows.iter().map(|row| row[c] * row[c]).sum::<f64>().sqrt();
        rows.iter_mut().for_each(|row| row[c] /= norm);
    }
    rows
}
