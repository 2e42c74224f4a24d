//! Factors of the shifted stiffness matrix, and what is asked of them: solutions
//! for eight right-hand sides at once, and the count of negative pivots.
//!
//! The numbers are faer's sparse Cholesky; ours are the ordering of nodes (nested
//! dissection by coordinates, which halves the work of approximate minimum
//! degree on these meshes) and, in the portable kind, the solution.
//!
//! **Guarantee** of [`Kind::Portable`]: column-by-column arithmetic in a fixed
//! order, so the same bits on every machine. [`Kind::Fast`] uses dense kernels
//! that follow the processor's vector width: several times faster, and equal only
//! to rounding between machines.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use glam::DVec3;

use crate::block_matrix::BlockMatrix;
use crate::lanczos::{BLOCK, Row};

/// Which arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Vectorised for the machine at hand: for baking.
    #[default]
    Fast,
    /// The same bits everywhere: for what is computed while a simulation runs.
    Portable,
}

/// Why there is no factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFactored;

impl std::fmt::Display for NotFactored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the matrix has no Cholesky factor: not positive definite, or too large")
    }
}

impl std::error::Error for NotFactored {}

/// The Cholesky factor of `K + shift M`.
#[derive(Debug)]
pub struct Factor {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
    columns: Vec<f64>,
    memory: Vec<Row>,
}

/// The lower half of `K + shift M` by scalar columns.
struct ScalarColumns {
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
}

impl ScalarColumns {
    fn new(matrix: &BlockMatrix, masses: &[f64], shift: f64) -> Self {
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..matrix.nodes() {
            let (below, blocks) = matrix.column(j);
            for c in 0..3 {
                for (&i, block) in below.iter().zip(blocks) {
                    let i = i as usize;
                    for r in if i == j { c } else { 0 }..3 {
                        let diagonal = if i == j && r == c {
                            shift * masses[j]
                        } else {
                            0.0
                        };
                        rows.push(3 * i + r);
                        values.push(block[3 * r + c] + diagonal);
                    }
                }
                starts.push(rows.len());
            }
        }
        Self {
            starts,
            rows,
            values,
        }
    }

    fn as_faer(&self) -> SparseColMatRef<'_, usize, f64> {
        let n = self.starts.len() - 1;
        let symbolic = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.rows);
        SparseColMatRef::new(symbolic, &self.values)
    }
}

fn analyse(
    columns: &ScalarColumns,
    order: &[u32],
    kind: Kind,
) -> Result<SymbolicCholesky<usize>, NotFactored> {
    let forward: Vec<usize> = order
        .iter()
        .flat_map(|&n| (0..3).map(move |c| 3 * n as usize + c))
        .collect();
    let mut inverse = vec![0; forward.len()];
    for (i, &p) in forward.iter().enumerate() {
        inverse[p] = i;
    }
    let permutation = PermRef::new_checked(&forward, &inverse, forward.len());
    let parameters = CholeskySymbolicParams {
        supernodal_flop_ratio_threshold: match kind {
            Kind::Fast => SupernodalThreshold::AUTO,
            Kind::Portable => SupernodalThreshold::FORCE_SIMPLICIAL,
        },
        ..Default::default()
    };
    factorize_symbolic_cholesky(
        columns.as_faer().symbolic(),
        Side::Lower,
        SymmetricOrdering::Custom(permutation),
        parameters,
    )
    .map_err(|_| NotFactored)
}

impl Factor {
    /// Factors `K + shift M`, which must be positive definite, eliminating nodes in
    /// the given order (see [`dissect`]).
    ///
    /// # Errors
    /// When it is not positive definite, or memory ran out.
    pub fn build(
        matrix: &BlockMatrix,
        masses: &[f64],
        shift: f64,
        order: &[u32],
        kind: Kind,
    ) -> Result<Self, NotFactored> {
        let columns = ScalarColumns::new(matrix, masses, shift);
        let symbolic = analyse(&columns, order, kind)?;
        let mut values = vec![0.0; symbolic.len_val()];
        let request = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::try_new(request).map_err(|_| NotFactored)?;
        symbolic
            .factorize_numeric_llt(
                &mut values,
                columns.as_faer(),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .map_err(|_| NotFactored)?;
        let n = 3 * matrix.nodes();
        Ok(Self {
            symbolic,
            values,
            columns: vec![0.0; n * BLOCK],
            memory: vec![[0.0; BLOCK]; n],
        })
    }

    /// Replaces `x` by the solution for `x`.
    pub fn solve(&mut self, x: &mut [Row]) {
        match self.symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(_) => self.solve_by_columns(x),
            SymbolicCholeskyRaw::Supernodal(_) => self.solve_by_faer(x),
        }
    }

    fn solve_by_faer(&mut self, x: &mut [Row]) {
        let n = x.len();
        for (i, row) in x.iter().enumerate() {
            for c in 0..BLOCK {
                self.columns[c * n + i] = row[c];
            }
        }
        let request = self.symbolic.solve_in_place_scratch::<f64>(BLOCK, Par::Seq);
        let mut memory = MemBuffer::new(request);
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut self.columns, n, BLOCK),
            Par::Seq,
            MemStack::new(&mut memory),
        );
        for (i, row) in x.iter_mut().enumerate() {
            for c in 0..BLOCK {
                row[c] = self.columns[c * n + i];
            }
        }
    }

    fn solve_by_columns(&mut self, x: &mut [Row]) {
        let SymbolicCholeskyRaw::Simplicial(symbolic) = self.symbolic.raw() else {
            return;
        };
        let Some(permutation) = self.symbolic.perm() else {
            return;
        };
        let (forward, _) = permutation.arrays();
        let (starts, rows) = (symbolic.col_ptr(), symbolic.row_idx());
        let y = &mut self.memory;
        for (slot, &from) in y.iter_mut().zip(forward) {
            *slot = x[from];
        }
        let n = y.len();
        for j in 0..n {
            let (first, end) = (starts[j], starts[j + 1]);
            let pivot = self.values[first];
            let mut top = y[j];
            for v in &mut top {
                *v /= pivot;
            }
            y[j] = top;
            for (&i, &l) in rows[first + 1..end]
                .iter()
                .zip(&self.values[first + 1..end])
            {
                for c in 0..BLOCK {
                    y[i][c] -= l * top[c];
                }
            }
        }
        for j in (0..n).rev() {
            let (first, end) = (starts[j], starts[j + 1]);
            let mut top = y[j];
            for (&i, &l) in rows[first + 1..end]
                .iter()
                .zip(&self.values[first + 1..end])
            {
                for c in 0..BLOCK {
                    top[c] -= l * y[i][c];
                }
            }
            let pivot = self.values[first];
            for v in &mut top {
                *v /= pivot;
            }
            y[j] = top;
        }
        for (slot, &from) in y.iter().zip(forward) {
            x[from] = *slot;
        }
    }
}

/// How many eigenvalues of `K x = lambda M x` lie below `lambda`: the negative
/// pivots of `K - lambda M` (Sylvester's law of inertia).
///
/// # Errors
/// When `lambda` is an eigenvalue to rounding, or memory ran out.
pub fn eigenvalues_below(
    matrix: &BlockMatrix,
    masses: &[f64],
    lambda: f64,
    order: &[u32],
) -> Result<usize, NotFactored> {
    let columns = ScalarColumns::new(matrix, masses, -lambda);
    let symbolic = analyse(&columns, order, Kind::Portable)?;
    let mut values = vec![0.0; symbolic.len_val()];
    let request = symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Default::default());
    let mut memory = MemBuffer::try_new(request).map_err(|_| NotFactored)?;
    symbolic
        .factorize_numeric_ldlt(
            &mut values,
            columns.as_faer(),
            Side::Lower,
            LdltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .map_err(|_| NotFactored)?;
    let SymbolicCholeskyRaw::Simplicial(simplicial) = symbolic.raw() else {
        return Err(NotFactored);
    };
    let starts = simplicial.col_ptr();
    Ok((0..3 * matrix.nodes())
        .filter(|&j| values[starts[j]] < 0.0)
        .count())
}

/// Nested dissection by coordinates: halve the nodes across their longest extent,
/// order both halves first and the nodes that join them last.
#[must_use]
pub fn dissect(matrix: &BlockMatrix, positions: &[DVec3]) -> Vec<u32> {
    let nodes = matrix.nodes();
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for j in 0..nodes {
        for &i in &matrix.column(j).0[1..] {
            neighbours[j].push(i);
            neighbours[i as usize].push(j as u32);
        }
    }
    let mut side = vec![0_u32; nodes];
    let mut stamp = 1;
    let mut order = Vec::with_capacity(nodes);
    // Written back to front: separators first, then the halves.
    let mut work: Vec<Vec<u32>> = vec![(0..nodes as u32).collect()];
    while let Some(mut set) = work.pop() {
        if set.len() <= 32 {
            order.extend(set.iter().rev());
            continue;
        }
        let at = |n: u32| positions[n as usize];
        let (lo, hi) = set.iter().fold((at(set[0]), at(set[0])), |(lo, hi), &n| {
            (lo.min(at(n)), hi.max(at(n)))
        });
        let size = hi - lo;
        let axis = (0..3).fold(0, |best, i| if size[i] > size[best] { i } else { best });
        set.sort_unstable_by(|&a, &b| at(a)[axis].total_cmp(&at(b)[axis]).then(a.cmp(&b)));
        let right = set.split_off(set.len() / 2);
        for &n in &right {
            side[n as usize] = stamp;
        }
        let (joining, left): (Vec<u32>, Vec<u32>) = set.into_iter().partition(|&n| {
            neighbours[n as usize]
                .iter()
                .any(|&m| side[m as usize] == stamp)
        });
        stamp += 1;
        // Stamps of the right half must not be mistaken later: they differ by then.
        order.extend(joining.iter().rev());
        work.push(left);
        work.push(right);
    }
    order.reverse();
    order
}
