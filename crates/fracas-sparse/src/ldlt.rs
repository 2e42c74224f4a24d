//! The factor `L D L^T` of `K + shift M`, and what is asked of it: solutions for eight
//! right-hand sides at once, and the count of negative pivots.
//!
//! Left-looking by panels [Ng, Peyton 1993]: a panel's columns take the products of
//! all earlier panels that have rows among them, then are factored. No pivoting:
//! the matrices are positive definite, or so little indefinite (a count below some
//! eigenvalue) that the pivots' signs are certain unless one vanishes.
//!
//! | symbol | here |
//! | --- | --- |
//! | L | unit lower; panels row by row, all columns of a row side by side |
//! | D | `pivots` |
//!
//! **Deviations** from the usual: no vector instructions are asked for and none is
//! forbidden. Every number of the factor and of a solution is a sum in a fixed
//! order; what is side by side are different numbers, so that a compiler may
//! vectorise without changing any. (A general library chooses by the processor, and
//! its last digits with it.)
//!
//! **Guarantee**: the same bits on every machine with IEEE arithmetic, wasm included.

use crate::block_matrix::BlockMatrix;
use crate::lanczos::{BLOCK, Row};
use crate::panels::{MOST_WIDE, Panels, places_of};

/// Why there is no factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFactored;

impl std::fmt::Display for NotFactored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the matrix has no factor: not positive definite, or singular")
    }
}

impl std::error::Error for NotFactored {}

/// The factor of `K + shift M`.
#[derive(Clone, Debug)]
pub struct Factor {
    panels: Panels,
    /// Rows of all panels; those of panel p begin at `value_starts[p]`.
    values: Vec<f64>,
    value_starts: Vec<usize>,
    pivots: Vec<f64>,
    memory: Vec<Row>,
}

impl Factor {
    /// Factors `K + shift M`, which must be positive definite, eliminating nodes in
    /// about the given order (see [`crate::dissect`]).
    ///
    /// # Errors
    /// When it is not positive definite.
    pub fn build(
        matrix: &BlockMatrix,
        masses: &[f64],
        shift: f64,
        order: &[u32],
    ) -> Result<Self, NotFactored> {
        let factor = Self::indefinite(matrix, masses, shift, order)?;
        let positive = factor.pivots.iter().all(|&d| d > 0.0);
        positive.then_some(factor).ok_or(NotFactored)
    }

    /// The same for a matrix that may have negative pivots, but none that vanishes.
    fn indefinite(
        matrix: &BlockMatrix,
        masses: &[f64],
        shift: f64,
        order: &[u32],
    ) -> Result<Self, NotFactored> {
        let panels = Panels::new(matrix, order);
        let mut value_starts = vec![0];
        for p in 0..panels.count() {
            let size = 9 * panels.rows(p).len() * panels.width(p);
            value_starts.push(value_starts[p] + size);
        }
        let mut factor = Self {
            values: vec![0.0; value_starts[panels.count()]],
            value_starts,
            pivots: vec![0.0; 3 * matrix.nodes()],
            memory: vec![[0.0; BLOCK]; 3 * matrix.nodes()],
            panels,
        };
        factor.assemble(matrix, masses, shift);
        factor.eliminate()?;
        Ok(factor)
    }

    /// Writes the matrix into the panels.
    fn assemble(&mut self, matrix: &BlockMatrix, masses: &[f64], shift: f64) {
        let places = places_of(&self.panels.order);
        for j in 0..matrix.nodes() {
            let (below, blocks) = matrix.column(j);
            for (&i, block) in below.iter().zip(blocks) {
                let i = i as usize;
                // Below the diagonal in the order of elimination: perhaps turned over.
                let turned = places[i] < places[j];
                let (row, column) = if turned {
                    (places[j], places[i])
                } else {
                    (places[i], places[j])
                };
                let panel = self.panels.panel_of[column as usize] as usize;
                let wide = 3 * self.panels.width(panel);
                let local = local_row(&self.panels, panel, row);
                let first = 3 * (column - self.panels.starts[panel]) as usize;
                for r in 0..3 {
                    for c in 0..3 {
                        let value = if turned {
                            block[3 * c + r]
                        } else {
                            block[3 * r + c]
                        };
                        let diagonal = if i == j && r == c {
                            shift * masses[j]
                        } else {
                            0.0
                        };
                        let at = self.value_starts[panel] + (3 * local + r) * wide + first + c;
                        self.values[at] = value + diagonal;
                    }
                }
            }
        }
    }

    fn eliminate(&mut self) -> Result<(), NotFactored> {
        const NONE: u32 = u32::MAX;
        let count = self.panels.count();
        // Earlier panels whose next row is in a panel: a list for each, linked.
        let (mut heads, mut links) = (vec![NONE; count], vec![NONE; count]);
        let mut next_row = vec![0_usize; count];
        let mut local = vec![0_u32; self.panels.order.len()];
        let mut scratch = Scratch::default();
        for p in 0..count {
            let (earlier, rest) = self.values.split_at_mut(self.value_starts[p]);
            let panel = &mut rest[..self.value_starts[p + 1] - self.value_starts[p]];
            let rows = self.panels.rows(p);
            for (l, &row) in rows.iter().enumerate() {
                local[row as usize] = l as u32;
            }
            let (first, end) = (self.panels.starts[p], self.panels.starts[p + 1]);
            let mut d = std::mem::replace(&mut heads[p], NONE);
            while d != NONE {
                let q = d as usize;
                d = links[q];
                let source = &earlier[self.value_starts[q]..self.value_starts[q + 1]];
                let (q_rows, from) = (self.panels.rows(q), next_row[q]);
                let inside = q_rows[from..].partition_point(|&row| row < end);
                let wide = 3 * self.panels.width(q);
                let begin = 3 * self.panels.starts[q] as usize;
                scratch.product(
                    &source[3 * from * wide..],
                    3 * inside,
                    &self.pivots[begin..begin + wide],
                );
                subtract(
                    panel,
                    3 * (end - first) as usize,
                    &scratch,
                    q_rows[from..].iter().map(|&row| local[row as usize]),
                    q_rows[from..from + inside].iter().map(|&row| row - first),
                );
                next_row[q] = from + inside;
                push(q, &mut heads, &mut links, &next_row, &self.panels);
            }
            let begin = 3 * first as usize;
            let pivots = &mut self.pivots[begin..begin + 3 * (end - first) as usize];
            factor_panel(panel, pivots)?;
            next_row[p] = (end - first) as usize;
            push(p, &mut heads, &mut links, &next_row, &self.panels);
        }
        Ok(())
    }

    /// Replaces `x` by the solution for `x`.
    pub fn solve(&mut self, x: &mut [Row]) {
        let y = &mut self.memory;
        for (to, &node) in y.chunks_exact_mut(3).zip(&self.panels.order) {
            to.copy_from_slice(&x[3 * node as usize..][..3]);
        }
        for p in 0..self.panels.count() {
            let wide = 3 * self.panels.width(p);
            let panel = &self.values[self.value_starts[p]..self.value_starts[p + 1]];
            let (top, below) = panel.split_at(wide * wide);
            let first = 3 * self.panels.starts[p] as usize;
            let mut own = [[0.0; BLOCK]; 3 * MOST_WIDE];
            let own = &mut own[..wide];
            own.copy_from_slice(&y[first..first + wide]);
            for i in 1..wide {
                let mut sum = own[i];
                for (l, o) in top[i * wide..][..i].iter().zip(&*own) {
                    take(&mut sum, *l, o);
                }
                own[i] = sum;
            }
            y[first..first + wide].copy_from_slice(own);
            let rows = &self.panels.rows(p)[wide / 3..];
            for (row, l) in rows.iter().zip(below.chunks_exact(3 * wide)) {
                let (l0, rest) = l.split_at(wide);
                let (l1, l2) = rest.split_at(wide);
                let at = &mut y[3 * *row as usize..][..3];
                let [mut a, mut b, mut c] = [at[0], at[1], at[2]];
                for (((o, l0), l1), l2) in own.iter().zip(l0).zip(l1).zip(l2) {
                    take(&mut a, *l0, o);
                    take(&mut b, *l1, o);
                    take(&mut c, *l2, o);
                }
                at.copy_from_slice(&[a, b, c]);
            }
        }
        for (row, d) in y.iter_mut().zip(&self.pivots) {
            for v in row {
                *v /= d;
            }
        }
        for p in (0..self.panels.count()).rev() {
            let wide = 3 * self.panels.width(p);
            let panel = &self.values[self.value_starts[p]..self.value_starts[p + 1]];
            let (top, below) = panel.split_at(wide * wide);
            let first = 3 * self.panels.starts[p] as usize;
            let mut own = [[0.0; BLOCK]; 3 * MOST_WIDE];
            let own = &mut own[..wide];
            own.copy_from_slice(&y[first..first + wide]);
            let rows = &self.panels.rows(p)[wide / 3..];
            for (row, l) in rows.iter().zip(below.chunks_exact(3 * wide)) {
                let (l0, rest) = l.split_at(wide);
                let (l1, l2) = rest.split_at(wide);
                let at = &y[3 * *row as usize..][..3];
                for (((o, l0), l1), l2) in own.iter_mut().zip(l0).zip(l1).zip(l2) {
                    for k in 0..BLOCK {
                        o[k] -= (l0 * at[0][k] + l1 * at[1][k]) + l2 * at[2][k];
                    }
                }
            }
            for i in (1..wide).rev() {
                let (before, from) = own.split_at_mut(i);
                for (o, l) in before.iter_mut().zip(&top[i * wide..]) {
                    take(o, *l, &from[0]);
                }
            }
            y[first..first + wide].copy_from_slice(own);
        }
        for (from, &node) in y.chunks_exact(3).zip(&self.panels.order) {
            x[3 * node as usize..][..3].copy_from_slice(from);
        }
    }
}

/// How many eigenvalues of `K x = lambda M x` lie below `lambda`: the negative
/// pivots of `K - lambda M` (Sylvester's law of inertia).
///
/// # Errors
/// When a pivot vanishes: `lambda` is an eigenvalue to rounding.
pub fn eigenvalues_below(
    matrix: &BlockMatrix,
    masses: &[f64],
    lambda: f64,
    order: &[u32],
) -> Result<usize, NotFactored> {
    let factor = Factor::indefinite(matrix, masses, -lambda, order)?;
    Ok(factor.pivots.iter().filter(|&&d| d < 0.0).count())
}

/// Where a place is among the rows of a panel.
fn local_row(panels: &Panels, panel: usize, place: u32) -> usize {
    let own = panels.width(panel);
    if place < panels.starts[panel + 1] {
        (place - panels.starts[panel]) as usize
    } else {
        let below = &panels.rows(panel)[own..];
        own + below.partition_point(|&row| row < place)
    }
}

/// Puts a panel into the list of the panel that its next row is in.
fn push(q: usize, heads: &mut [u32], links: &mut [u32], next_row: &[usize], panels: &Panels) {
    if let Some(&row) = panels.rows(q).get(next_row[q]) {
        let head = &mut heads[panels.panel_of[row as usize] as usize];
        links[q] = std::mem::replace(head, q as u32);
    }
}

#[inline(always)]
fn take(from: &mut Row, factor: f64, row: &Row) {
    for k in 0..BLOCK {
        from[k] -= factor * row[k];
    }
}

/// Rows and columns of a tile of a product.
const TILE: usize = 4;

/// A product of rows of a panel with some of them, and the memory for it.
#[derive(Default)]
struct Scratch {
    /// The columns' rows times pivots, four side by side.
    packed: Vec<[f64; TILE]>,
    /// The product: rows of `columns` (a multiple of four) numbers.
    product: Vec<f64>,
    columns: usize,
}

impl Scratch {
    /// `rows D top^T`, where `top` are the first `count` of the rows, each as long as
    /// there are pivots.
    fn product(&mut self, rows: &[f64], count: usize, pivots: &[f64]) {
        let wide = pivots.len();
        let strips = count.div_ceil(TILE);
        self.columns = strips * TILE;
        self.packed.clear();
        for strip in 0..strips {
            let row = |c: usize| {
                let at = (TILE * strip + c).min(count - 1);
                &rows[at * wide..(at + 1) * wide]
            };
            let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
            self.packed.extend(
                pivots
                    .iter()
                    .enumerate()
                    .map(|(k, p)| [a[k] * p, b[k] * p, c[k] * p, d[k] * p]),
            );
        }
        let all = rows.len() / wide;
        self.product.clear();
        self.product.resize(all * self.columns, 0.0);
        let sources = rows.chunks(TILE * wide);
        let targets = self.product.chunks_mut(TILE * self.columns);
        for (source, target) in sources.zip(targets) {
            for (s, packed) in self.packed.chunks_exact(wide).enumerate() {
                let last = source.len() / wide - 1;
                let row = |r: usize| &source[r.min(last) * wide..][..wide];
                let tile = tile([row(0), row(1), row(2), row(3)], packed);
                for (line, sums) in target.chunks_exact_mut(self.columns).zip(&tile) {
                    line[TILE * s..][..TILE].copy_from_slice(sums);
                }
            }
        }
    }
}

#[inline(always)]
fn tile(rows: [&[f64]; TILE], packed: &[[f64; TILE]]) -> [[f64; TILE]; TILE] {
    let mut sums = [[0.0; TILE]; TILE];
    let [a, b, c, d] = rows;
    for ((((p, a), b), c), d) in packed.iter().zip(a).zip(b).zip(c).zip(d) {
        for k in 0..TILE {
            sums[0][k] += a * p[k];
            sums[1][k] += b * p[k];
            sums[2][k] += c * p[k];
            sums[3][k] += d * p[k];
        }
    }
    sums
}

/// Subtracts a product from a panel, node rows and node columns scattered.
fn subtract(
    panel: &mut [f64],
    wide: usize,
    scratch: &Scratch,
    rows: impl Iterator<Item = u32>,
    columns: impl Iterator<Item = u32> + Clone,
) {
    let lines = scratch.product.chunks_exact(3 * scratch.columns);
    for (row, lines) in rows.zip(lines) {
        let target = &mut panel[3 * row as usize * wide..][..3 * wide];
        for (r, line) in lines.chunks_exact(scratch.columns).enumerate() {
            let target = &mut target[r * wide..(r + 1) * wide];
            for (column, part) in columns.clone().zip(line.chunks_exact(3)) {
                let to = &mut target[3 * column as usize..][..3];
                to[0] -= part[0];
                to[1] -= part[1];
                to[2] -= part[2];
            }
        }
    }
}

/// Rows below the diagonal that are factored side by side.
const SIDE: usize = 8;

/// Factors the top of a panel, then divides the rows below by it.
fn factor_panel(panel: &mut [f64], pivots: &mut [f64]) -> Result<(), NotFactored> {
    let wide = pivots.len();
    let (top, below) = panel.split_at_mut(wide * wide);
    for i in 0..wide {
        let (done, rest) = top.split_at_mut(i * wide);
        let row = &mut rest[..wide];
        // First L D, left to right; then L, and the pivot on the way.
        for c in 0..i {
            let other = &done[c * wide..][..c];
            let mut sum = row[c];
            for (y, l) in row[..c].iter().zip(other) {
                sum -= y * l;
            }
            row[c] = sum;
        }
        let mut pivot = row[i];
        for (y, d) in row[..i].iter_mut().zip(&*pivots) {
            let l = *y / d;
            pivot -= *y * l;
            *y = l;
        }
        if pivot == 0.0 || !pivot.is_finite() {
            return Err(NotFactored);
        }
        pivots[i] = pivot;
    }
    let mut side = [[0.0_f64; SIDE]; 3 * MOST_WIDE];
    for rows in below.chunks_mut(SIDE * wide) {
        for (r, row) in rows.chunks_exact(wide).enumerate() {
            for (to, from) in side.iter_mut().zip(row) {
                to[r] = *from;
            }
        }
        for c in 1..wide {
            let (done, rest) = side.split_at_mut(c);
            let mut sums = rest[0];
            for (y, l) in done.iter().zip(&top[c * wide..]) {
                for k in 0..SIDE {
                    sums[k] -= y[k] * l;
                }
            }
            rest[0] = sums;
        }
        for (r, row) in rows.chunks_exact_mut(wide).enumerate() {
            for ((to, from), d) in row.iter_mut().zip(&side).zip(&*pivots) {
                *to = from[r] / d;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::dense_eigen::symmetric_eigen;
    use crate::dissect;
    use crate::random::Random;

    /// A random positive definite matrix over a graph, with masses.
    fn sample(
        nodes: usize,
        edges: &[[u32; 2]],
        random: &mut Random,
    ) -> (BlockMatrix, Vec<f64>, Vec<f64>) {
        let alone: Vec<[u32; 1]> = (0..nodes as u32).map(|n| [n]).collect();
        let patches: Vec<&[u32]> = edges
            .iter()
            .map(|e| e.as_slice())
            .chain(alone.iter().map(|n| n.as_slice()))
            .collect();
        let mut matrix = BlockMatrix::with_pattern(nodes, &patches);
        let n = 3 * nodes;
        let mut dense = vec![0.0; n * n];
        for e in edges {
            // A A^T on six numbers: positive semidefinite.
            let a: Vec<f64> = (0..36).map(|_| random.unit_f64() - 0.5).collect();
            let square = |i: usize, j: usize| (0..6).map(|k| a[6 * i + k] * a[6 * j + k]).sum();
            for (bi, &i) in e.iter().enumerate() {
                for (bj, &j) in e.iter().enumerate() {
                    let block: [f64; 9] =
                        std::array::from_fn(|k| square(3 * bi + k / 3, 3 * bj + k % 3));
                    if i >= j {
                        matrix.add(i, j, &block);
                    }
                    for (k, b) in block.iter().enumerate() {
                        dense[(3 * i as usize + k / 3) * n + 3 * j as usize + k % 3] += b;
                    }
                }
            }
        }
        let masses: Vec<f64> = (0..nodes).map(|_| 0.5 + random.unit_f64()).collect();
        (matrix, dense, masses)
    }

    /// Graphs with nothing, chains, stars, cliques wider than a panel, and chance.
    fn graphs(random: &mut Random) -> Vec<(usize, Vec<[u32; 2]>)> {
        let mut below = |n: usize| (random.unit_f64() * n as f64) as u32;
        let clique = |n: u32| (0..n).flat_map(move |i| (0..i).map(move |j| [j, i]));
        let mut all = vec![
            (1, vec![]),
            (5, vec![]),
            (2, vec![[0, 1]]),
            (40, (1..40).map(|i| [i - 1, i]).collect()),
            (30, (1..30).map(|i| [0, i]).collect()),
            (37, clique(37).collect()),
        ];
        for (nodes, edges) in [(20, 25), (50, 90), (60, 400)] {
            let mut list: Vec<[u32; 2]> = Vec::new();
            while list.len() < edges {
                let (a, b) = (below(nodes), below(nodes));
                if a < b {
                    list.push([a, b]);
                }
            }
            all.push((nodes, list));
        }
        all
    }

    #[test]
    fn solutions_solve_and_signs_of_pivots_count_eigenvalues() {
        let mut random = Random::new(5);
        for (nodes, edges) in graphs(&mut random) {
            let (matrix, mut dense, masses) = sample(nodes, &edges, &mut random);
            let n = 3 * nodes;
            let positions: Vec<DVec3> = (0..nodes)
                .map(|_| DVec3::new(random.unit_f64(), random.unit_f64(), random.unit_f64()))
                .collect();
            let order = dissect(&matrix, &positions);
            let shift = 0.3;
            for i in 0..n {
                dense[i * n + i] += shift * masses[i / 3];
            }
            let mut factor = Factor::build(&matrix, &masses, shift, &order).unwrap();
            let right: Vec<Row> = (0..n)
                .map(|_| std::array::from_fn(|_| random.unit_f64() - 0.5))
                .collect();
            let mut x = right.clone();
            factor.solve(&mut x);
            for i in 0..n {
                for c in 0..BLOCK {
                    let sum: f64 = (0..n).map(|j| dense[i * n + j] * x[j][c]).sum();
                    assert!((sum - right[i][c]).abs() < 1e-10, "{nodes} nodes, row {i}");
                }
            }
            // M^-1/2 (K + shift M) M^-1/2 has the eigenvalues lambda + shift.
            let scaled: Vec<f64> = (0..n * n)
                .map(|at| dense[at] / (masses[at / n / 3] * masses[at % n / 3]).sqrt())
                .collect();
            let (values, _) = symmetric_eigen(&scaled, n);
            for lambda in [-0.1, 0.05, 0.4, 1.1, 30.0] {
                let expected = values.iter().filter(|&v| v - shift < lambda).count();
                let found = eigenvalues_below(&matrix, &masses, lambda, &order).unwrap();
                assert_eq!(found, expected, "{nodes} nodes, below {lambda}");
            }
        }
    }

    #[test]
    fn what_has_no_factor_says_so() {
        let mut random = Random::new(6);
        let (matrix, _, masses) = sample(9, &[[0, 1], [1, 2]], &mut random);
        let order: Vec<u32> = (0..9).collect();
        // Nodes without stiffness: singular; shifted down: indefinite.
        for shift in [0.0, -0.5, f64::NAN] {
            assert_eq!(
                Factor::build(&matrix, &masses, shift, &order).unwrap_err(),
                NotFactored
            );
        }
    }
}
