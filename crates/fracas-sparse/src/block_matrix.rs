//! Symmetric sparse matrices of 3x3 blocks, one row and column of blocks per node.

use glam::{DMat3, DVec3};

/// A symmetric sparse matrix of 3x3 blocks: lower half, by columns.
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    /// Where each column's rows start.
    starts: Vec<usize>,
    /// Row of each block, increasing within a column, from the diagonal down.
    rows: Vec<u32>,
    /// Blocks in row-major order.
    blocks: Vec<[f64; 9]>,
}

impl BlockMatrix {
    /// A zero matrix in which all nodes of a patch are coupled.
    #[must_use]
    pub fn with_pattern<P: AsRef<[u32]>>(nodes: usize, patches: &[P]) -> Self {
        let mut columns: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for patch in patches {
            let patch = patch.as_ref();
            for &j in patch {
                columns[j as usize].extend(patch.iter().copied().filter(|&i| i >= j));
            }
        }
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for mut column in columns {
            column.sort_unstable();
            column.dedup();
            rows.extend(column);
            starts.push(rows.len());
        }
        Self {
            starts,
            blocks: vec![[0.0; 9]; rows.len()],
            rows,
        }
    }

    /// Adds a block at row `i` of column `j`, both of one patch, `i >= j`.
    ///
    /// # Panics
    /// When the pattern does not hold that place.
    pub fn add(&mut self, i: u32, j: u32, block: &[f64; 9]) {
        let range = self.starts[j as usize]..self.starts[j as usize + 1];
        let at = self.rows[range.clone()]
            .binary_search(&i)
            .expect("row and column are of one patch");
        for (to, from) in self.blocks[range.start + at].iter_mut().zip(block) {
            *to += from;
        }
    }

    /// Number of nodes: a third of the dimension.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Rows and blocks of a column, from the diagonal down.
    #[must_use]
    pub fn column(&self, node: usize) -> (&[u32], &[[f64; 9]]) {
        let range = self.starts[node]..self.starts[node + 1];
        (&self.rows[range.clone()], &self.blocks[range])
    }

    /// Sum of the diagonal.
    #[must_use]
    pub fn trace(&self) -> f64 {
        (0..self.nodes())
            .map(|n| {
                let b = self.column(n).1[0];
                b[0] + b[4] + b[8]
            })
            .sum()
    }

    /// The product with a vector of three numbers per node.
    #[must_use]
    pub fn times(&self, x: &[DVec3]) -> Vec<DVec3> {
        let mut y = vec![DVec3::ZERO; x.len()];
        for j in 0..self.nodes() {
            let (rows, blocks) = self.column(j);
            for (&i, b) in rows.iter().zip(blocks) {
                let i = i as usize;
                let m = DMat3::from_cols_array(b).transpose();
                y[i] += m * x[j];
                if i != j {
                    y[j] += m.transpose() * x[i];
                }
            }
        }
        y
    }
}
