//! The largest eigenvalues of a symmetric operator: block Lanczos with full
//! reorthogonalisation and exact deflation of known vectors.
//!
//! Steps: a random block of eight vectors -> apply the operator -> remove the known
//! vectors and the two last blocks, then everything found so far -> orthonormalise
//! -> append -> from time to time, solve the small projected problem and stop when
//! the wanted values have converged.
//!
//! Source: Golub, Underwood 1977; Grimes, Lewis, Simon 1994. A block finds up to
//! eight copies of a multiple eigenvalue, where a single vector finds one by
//! theory and others by rounding.
//!
//! **Deviation**: no restart; a basis of some 200 vectors fits into memory and the
//! projected problem is small.
//! **Guarantee**: fixed summation order, no vector-width dependence; residuals of
//! all returned pairs are below `tolerance` times the eigenvalue, unless
//! [`Spectrum::converged`] is smaller than what was asked for.

use std::ops::ControlFlow;

use crate::dense_eigen::symmetric_eigen;
use crate::random::Random;

/// Vectors per block.
pub const BLOCK: usize = 8;

/// One row of a block of vectors.
pub type Row = [f64; BLOCK];

type Square = [[f64; BLOCK]; BLOCK];

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Dimension of the vectors.
    pub dimension: usize,
    /// How many eigenpairs.
    pub wanted: usize,
    /// Largest residual, relative to the eigenvalue.
    pub tolerance: f64,
    /// Largest number of blocks.
    pub most_blocks: usize,
    /// Seed of the first block.
    pub seed: u64,
}

/// The largest eigenvalues, first the largest, with orthonormal vectors.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// Eigenvalues that follow the converged ones too, roughly.
    pub values: Vec<f64>,
    /// Blocks of vectors: vector `k` is column `k % BLOCK` of block `k / BLOCK`.
    pub vectors: Vec<Vec<Row>>,
    /// How many pairs have converged.
    pub converged: usize,
    /// How often the operator was applied to a block.
    pub applications: usize,
}

/// Finds the largest eigenvalues of `apply`, orthogonal to the columns of `known`
/// (orthonormal, or zero columns). `progress` receives the share of the work that is done;
/// where it returns [`ControlFlow::Break`], the search ends with the pairs that have
/// converged.
#[must_use]
pub fn largest(
    request: &Request,
    known: &[Row],
    mut apply: impl FnMut(&mut [Row]),
    mut progress: impl FnMut(f32) -> ControlFlow<()>,
) -> Spectrum {
    let n = request.dimension;
    let known_count = (0..BLOCK)
        .filter(|&c| known.iter().any(|row| row[c] != 0.0))
        .count();
    // A basis cannot have more vectors than there are dimensions left.
    let most = request.most_blocks.min((n - known_count) / BLOCK).max(1);
    let mut random = Random::new(request.seed);
    let mut first: Vec<Row> = random_block(n, &mut random);
    project_out(known, &mut first);
    orthonormalise(&mut first, known, &[], 1.0, &mut random);
    // The operator's size, as seen so far: what vanishes beside it is rounding.
    let mut size = 0.0_f64;
    let mut basis: Vec<Vec<Row>> = vec![first];
    // Blocks of H = Q^T A Q below and on the diagonal: column j, rows 0..=j.
    let mut projected: Vec<Vec<Square>> = Vec::new();
    loop {
        let j = basis.len() - 1;
        let mut w = basis[j].clone();
        apply(&mut w);
        for c in 0..BLOCK {
            size = size.max(column_dot(&w, c, c).sqrt());
        }
        project_out(known, &mut w);
        let mut column = vec![[[0.0; BLOCK]; BLOCK]; j + 1];
        // The large parts first, then all: one pass over the basis is enough then.
        for i in [j, j.wrapping_sub(1)] {
            if i <= j {
                add(&mut column[i], &project_out(&basis[i], &mut w));
            }
        }
        for i in 0..=j {
            let part = project_out(&basis[i], &mut w);
            add(&mut column[i], &part);
        }
        project_out(known, &mut w);
        projected.push(column);
        let mut next = orthonormalise(&mut w, known, &basis, size, &mut random);
        // What was small beside the operator has lost its orthogonality: once more.
        if (0..BLOCK).any(|c| next[c][c] < 1e-5 * size) {
            project_out(known, &mut w);
            for q in &basis {
                project_out(q, &mut w);
            }
            let again = orthonormalise(&mut w, known, &basis, 1.0, &mut random);
            next = product(&again, &next);
        }
        let stopped = progress(basis.len() as f32 / most as f32).is_break();
        let last = stopped || basis.len() >= most;
        let vectors = basis.len() * BLOCK;
        let due = vectors >= 2 * request.wanted && basis.len().is_multiple_of(2);
        if due || last {
            let (values, small) = ritz(&projected);
            let converged = count_converged(request, &values, &small, &next, last);
            if converged >= request.wanted || last {
                let kept = converged.min(request.wanted);
                return Spectrum {
                    vectors: expand(&basis, &small, kept),
                    values,
                    converged: kept,
                    applications: basis.len(),
                };
            }
        }
        basis.push(w);
    }
}

fn product(a: &Square, b: &Square) -> Square {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..BLOCK).map(|k| a[i][k] * b[k][j]).sum()))
}

fn random_block(n: usize, random: &mut Random) -> Vec<Row> {
    (0..n)
        .map(|_| std::array::from_fn(|_| random.unit_f64() - 0.5))
        .collect()
}

fn add(to: &mut Square, other: &Square) {
    for (a, b) in to.iter_mut().zip(other) {
        for (x, y) in a.iter_mut().zip(b) {
            *x += y;
        }
    }
}

/// `c = q^T w; w -= q c`; returns c.
fn project_out(q: &[Row], w: &mut [Row]) -> Square {
    let mut c: Square = [[0.0; BLOCK]; BLOCK];
    let (qs, ws) = (q.chunks_exact(4), w.chunks_exact(4));
    for (q, w) in qs.remainder().iter().zip(ws.remainder()) {
        for a in 0..BLOCK {
            for b in 0..BLOCK {
                c[a][b] += q[a] * w[b];
            }
        }
    }
    // Four rows at a time keep the sums in registers longer.
    for (q, w) in qs.zip(ws) {
        for a in 0..BLOCK {
            for b in 0..BLOCK {
                c[a][b] += (q[0][a] * w[0][b] + q[1][a] * w[1][b])
                    + (q[2][a] * w[2][b] + q[3][a] * w[3][b]);
            }
        }
    }
    for (q, w) in q.iter().zip(w.iter_mut()) {
        let mut row = *w;
        for a in 0..BLOCK {
            for b in 0..BLOCK {
                row[b] -= q[a] * c[a][b];
            }
        }
        *w = row;
    }
    c
}

/// Orthonormalises the columns of `w` in place and returns R with `w_old = w R`.
/// A column that vanishes (the space is exhausted in its direction) is replaced by
/// a random one, orthogonal to everything, with a zero in R. `size` is the
/// operator's, beside which rounding is judged.
fn orthonormalise(
    w: &mut [Row],
    known: &[Row],
    basis: &[Vec<Row>],
    size: f64,
    random: &mut Random,
) -> Square {
    let mut r: Square = [[0.0; BLOCK]; BLOCK];
    for c in 0..BLOCK {
        let before = column_dot(w, c, c).sqrt();
        for _ in 0..2 {
            for p in 0..c {
                let d = column_dot(w, p, c);
                r[p][c] += d;
                for row in w.iter_mut() {
                    row[c] -= d * row[p];
                }
            }
        }
        let mut norm = column_dot(w, c, c).sqrt();
        if norm > 1e-11 * before && norm > 1e-13 * size && norm > 1e-300 {
            r[c][c] = norm;
        } else {
            norm = replace_column(w, c, known, basis, random);
        }
        for row in w.iter_mut() {
            row[c] /= norm;
        }
    }
    r
}

fn column_dot(w: &[Row], a: usize, b: usize) -> f64 {
    w.iter().map(|row| row[a] * row[b]).sum()
}

fn replace_column(
    w: &mut [Row],
    c: usize,
    known: &[Row],
    basis: &[Vec<Row>],
    random: &mut Random,
) -> f64 {
    let mut fresh: Vec<Row> = vec![[0.0; BLOCK]; w.len()];
    for _ in 0..8 {
        for row in &mut fresh {
            row[0] = random.unit_f64() - 0.5;
        }
        for _ in 0..2 {
            project_out(known, &mut fresh);
            for q in basis {
                project_out(q, &mut fresh);
            }
            for p in 0..c {
                let d: f64 = w.iter().zip(&fresh).map(|(a, b)| a[p] * b[0]).sum();
                for (a, b) in w.iter().zip(&mut fresh) {
                    b[0] -= d * a[p];
                }
            }
        }
        let norm = column_dot(&fresh, 0, 0).sqrt();
        if norm > 1e-6 {
            for (row, f) in w.iter_mut().zip(&fresh) {
                row[c] = f[0];
            }
            return norm;
        }
    }
    // Nothing is left: a zero column, which takes no part.
    for row in w.iter_mut() {
        row[c] = 0.0;
    }
    1.0
}

/// Eigenpairs of the projected operator.
fn ritz(projected: &[Vec<Square>]) -> (Vec<f64>, Vec<f64>) {
    let m = projected.len() * BLOCK;
    let mut h = vec![0.0; m * m];
    for (j, column) in projected.iter().enumerate() {
        for (i, square) in column.iter().enumerate() {
            for a in 0..BLOCK {
                for b in 0..BLOCK {
                    let (row, col) = (i * BLOCK + a, j * BLOCK + b);
                    let value = if i == j {
                        0.5 * (square[a][b] + square[b][a])
                    } else {
                        square[a][b]
                    };
                    h[row * m + col] = value;
                    h[col * m + row] = value;
                }
            }
        }
    }
    symmetric_eigen(&h, m)
}

fn count_converged(
    request: &Request,
    values: &[f64],
    small: &[f64],
    next: &Square,
    last: bool,
) -> usize {
    let m = values.len();
    let wanted = request.wanted.min(m);
    (0..wanted)
        .take_while(|&k| {
            let tail = &small[(k + 1) * m - BLOCK..(k + 1) * m];
            let squared: f64 = next
                .iter()
                .map(|row| {
                    let x: f64 = row.iter().zip(tail).map(|(r, u)| r * u).sum();
                    x * x
                })
                .sum();
            let loose = if last { 1e3 } else { 1.0 };
            squared.sqrt() <= loose * request.tolerance * values[k]
        })
        .count()
}

/// The vectors of the first `count` eigenpairs in the full space.
fn expand(basis: &[Vec<Row>], small: &[f64], count: usize) -> Vec<Vec<Row>> {
    let m = basis.len() * BLOCK;
    let n = basis[0].len();
    (0..count.div_ceil(BLOCK))
        .map(|block| {
            let mut x: Vec<Row> = vec![[0.0; BLOCK]; n];
            for (i, q) in basis.iter().enumerate() {
                let c: Square = std::array::from_fn(|a| {
                    std::array::from_fn(|b| {
                        let k = block * BLOCK + b;
                        if k < count {
                            small[k * m + i * BLOCK + a]
                        } else {
                            0.0
                        }
                    })
                });
                for (row, q) in x.iter_mut().zip(q) {
                    for a in 0..BLOCK {
                        for b in 0..BLOCK {
                            row[b] += q[a] * c[a][b];
                        }
                    }
                }
            }
            x
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_known(n: usize) -> Vec<Row> {
        vec![[0.0; BLOCK]; n]
    }

    fn request(dimension: usize, wanted: usize) -> Request {
        Request {
            dimension,
            wanted,
            tolerance: 1e-9,
            most_blocks: 60,
            seed: 1,
        }
    }

    #[test]
    fn a_diagonal_operator_with_multiple_values_is_solved_completely() {
        // 1/k for k = 1.., each value five times.
        let value = |i: usize| 1.0 / (1 + i / 5) as f64;
        let spectrum = largest(
            &request(1000, 23),
            &no_known(1000),
            |w| {
                for (i, row) in w.iter_mut().enumerate() {
                    row.iter_mut().for_each(|x| *x *= value(i));
                }
            },
            |_| ControlFlow::Continue(()),
        );
        assert_eq!(spectrum.converged, 23);
        for k in 0..23 {
            assert!((spectrum.values[k] - value(k)).abs() < 1e-12, "{k}");
            let (block, c) = (k / BLOCK, k % BLOCK);
            for (i, row) in spectrum.vectors[block].iter().enumerate() {
                let residual = (value(i) - value(k)) * row[c];
                assert!(residual.abs() < 1e-8);
            }
        }
    }

    #[test]
    fn known_vectors_are_left_out_exactly() {
        let n = 400;
        let mut known = no_known(n);
        for c in 0..3 {
            known[c][c] = 1.0;
        }
        let spectrum = largest(
            &request(n, 10),
            &known,
            |w| {
                for (i, row) in w.iter_mut().enumerate() {
                    row.iter_mut().for_each(|x| *x /= 1.0 + i as f64);
                }
            },
            |_| ControlFlow::Continue(()),
        );
        assert_eq!(spectrum.converged, 10);
        for k in 0..10 {
            assert!((spectrum.values[k] * (4 + k) as f64 - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn a_space_that_is_exhausted_does_no_harm() {
        // Rank three in dimension forty: most blocks vanish.
        let spectrum = largest(
            &request(40, 8),
            &no_known(40),
            |w| {
                for (i, row) in w.iter_mut().enumerate() {
                    let f = if i < 3 { 3.0 - i as f64 } else { 0.0 };
                    row.iter_mut().for_each(|x| *x *= f);
                }
            },
            |_| ControlFlow::Continue(()),
        );
        for k in 0..3 {
            assert!((spectrum.values[k] - (3 - k) as f64).abs() < 1e-12);
        }
        assert!(spectrum.values[3].abs() < 1e-12);
    }
}
