//! Where each fragment may be: a multilevel grid with a bit per cell and fragment.
//!
//! Steps: at build time every node learns the range of cells that the tetrahedra
//! around it touch -> a new fragment sets the bits of its nodes' ranges -> coarser
//! levels by OR of eight -> a sphere is tested at the level whose cells are at
//! least as large as the sphere.
//!
//! Source: Glondu 2013, section 4.5. **Deviations**: the paper's AND must be an OR.
//! The bits are stored by fragment, 64 cells of a row in a word, and only for the
//! rows of the fragment's own box: any number of fragments, nothing rewritten when
//! more come, and a query touches one small array. All cells that the sphere's box
//! meets are looked at, instead of eight around the nearest grid point: the same
//! number, and no assumption.
//!
//! **Guarantee**: a fragment lies in the tetrahedra around its nodes, so a cell
//! without its bit holds nothing of it.

use glam::Vec3;

use super::locate::Cells;
use crate::tet_mesh::TetMesh;

/// Bits of a word, hence cells along an axis.
const MOST_CELLS: i32 = 64;

/// The common grid, and the cells around each node.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    cells: Cells,
    ranges: Vec<CellRange>,
}

/// Cells from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CellRange {
    low: [u8; 3],
    high: [u8; 3],
}

impl CellRange {
    const EMPTY: Self = Self {
        low: [u8::MAX; 3],
        high: [0; 3],
    };

    fn join(&mut self, other: &Self) {
        for i in 0..3 {
            self.low[i] = self.low[i].min(other.low[i]);
            self.high[i] = self.high[i].max(other.high[i]);
        }
    }
}

/// The cells of one fragment, all levels.
#[derive(Clone, Debug)]
pub(super) struct FragmentCells {
    range: CellRange,
    levels: u8,
    /// Per level, per layer in z, per row in y: a bit per cell in x.
    rows: Box<[u64]>,
}

impl Occupancy {
    /// A grid with cells of about `cell`.
    pub(super) fn build(mesh: &TetMesh, cell: f32) -> Self {
        let (low, high) = mesh.bounds();
        let cells = Cells::new(low, high, cell, MOST_CELLS, usize::MAX);
        let margin = Vec3::splat(cells.size * 1e-3);
        let ranges = (0..mesh.positions().len() as u32)
            .map(|n| {
                let p = mesh.positions()[n as usize];
                let around = mesh.adjacent_nodes(n).iter();
                let (low, high) = around.fold((p, p), |(lo, hi), &m| {
                    let q = mesh.positions()[m as usize];
                    (lo.min(q), hi.max(q))
                });
                CellRange {
                    low: cells.clamped(low - margin).map(|x| x as u8),
                    high: cells.clamped(high + margin).map(|x| x as u8),
                }
            })
            .collect();
        Self { cells, ranges }
    }

    /// The cells of a fragment with these nodes.
    pub(super) fn of_nodes(&self, nodes: &[u32]) -> FragmentCells {
        let mut range = CellRange::EMPTY;
        for &n in nodes {
            range.join(&self.ranges[n as usize]);
        }
        if nodes.is_empty() {
            range = CellRange {
                low: [0; 3],
                high: [0; 3],
            };
        }
        let extent = (0..3).map(|i| range.high[i] - range.low[i]).max();
        let levels = 8 - extent.unwrap_or(0).leading_zeros() as u8 + 1;
        let total: usize = (0..levels)
            .map(|l| layer(&range, l))
            .map(|(y, z)| y * z)
            .sum();
        let mut rows = vec![0_u64; total].into_boxed_slice();
        let (width, _) = layer(&range, 0);
        for &n in nodes {
            let cells = &self.ranges[n as usize];
            let bits = bits_between(cells.low[0], cells.high[0]);
            for z in cells.low[2]..=cells.high[2] {
                let first = (z - range.low[2]) as usize * width;
                let row = |y: u8| first + (y - range.low[1]) as usize;
                for word in &mut rows[row(cells.low[1])..=row(cells.high[1])] {
                    *word |= bits;
                }
            }
        }
        let mut cells = FragmentCells {
            range,
            levels,
            rows,
        };
        cells.build_levels();
        cells
    }

    /// Whether a sphere may touch the fragment with these cells.
    #[inline]
    pub(super) fn may_touch(&self, cells: &FragmentCells, p: Vec3, radius: f32) -> bool {
        let reach = Vec3::splat(radius + self.cells.size * 1e-3);
        let (low, high) = (self.cells.cell_of(p - reach), self.cells.cell_of(p + reach));
        // The grid ends at the object: what is beyond counts to its last cells.
        let clamp = |c: [i32; 3]| [0, 1, 2].map(|i| c[i].clamp(0, self.cells.counts[i] - 1));
        let (low, high) = (clamp(low), clamp(high));
        let extent = (0..3).map(|i| high[i] - low[i]).max().unwrap_or(0) as u32;
        // At level l a range of 2^l cells or less meets two cells along an axis.
        let level = (32 - extent.leading_zeros()).min(u32::from(cells.levels) - 1);
        cells.any(low, high, level)
    }

    /// Bytes of the ranges.
    pub(super) fn bytes(&self) -> usize {
        self.ranges.len() * size_of::<CellRange>()
    }
}

/// Rows and layers of a level.
fn layer(range: &CellRange, level: u8) -> (usize, usize) {
    let count = |i: usize| usize::from((range.high[i] >> level) - (range.low[i] >> level)) + 1;
    (count(1), count(2))
}

fn bits_between(low: u8, high: u8) -> u64 {
    (u64::MAX << low) & (u64::MAX >> (63 - high))
}

/// ORs neighbouring bits and packs the results together.
fn halve(row: u64) -> u64 {
    let mut x = (row | row >> 1) & 0x5555_5555_5555_5555;
    x = (x | x >> 1) & 0x3333_3333_3333_3333;
    x = (x | x >> 2) & 0x0F0F_0F0F_0F0F_0F0F;
    x = (x | x >> 4) & 0x00FF_00FF_00FF_00FF;
    x = (x | x >> 8) & 0x0000_FFFF_0000_FFFF;
    (x | x >> 16) & 0x0000_0000_FFFF_FFFF
}

impl FragmentCells {
    fn build_levels(&mut self) {
        let mut start = 0;
        for level in 1..self.levels {
            let (rows, layers) = layer(&self.range, level - 1);
            let next = start + rows * layers;
            let (next_rows, _) = layer(&self.range, level);
            let low = |l: u8, i: usize| usize::from(self.range.low[i] >> l);
            for z in 0..layers {
                let up_z = (z + low(level - 1, 2)) / 2 - low(level, 2);
                for y in 0..rows {
                    let up_y = (y + low(level - 1, 1)) / 2 - low(level, 1);
                    let bits = halve(self.rows[start + z * rows + y]);
                    self.rows[next + up_z * next_rows + up_y] |= bits;
                }
            }
            start = next;
        }
    }

    /// Whether a bit is set in a range of cells (of level 0), looked at in `level`.
    #[inline]
    fn any(&self, low: [i32; 3], high: [i32; 3], level: u32) -> bool {
        let mut start = 0;
        for l in 0..level as u8 {
            let (rows, layers) = layer(&self.range, l);
            start += rows * layers;
        }
        let (rows, _) = layer(&self.range, level as u8);
        let own = |i: usize, end: &[u8; 3]| i32::from(end[i] >> level);
        let from = |i: usize| (low[i] >> level).max(own(i, &self.range.low));
        let to = |i: usize| (high[i] >> level).min(own(i, &self.range.high));
        let (x0, x1) = (from(0), to(0));
        if x0 > x1 {
            return false;
        }
        let bits = bits_between(x0 as u8, x1 as u8);
        let (y_low, z_low) = (own(1, &self.range.low), own(2, &self.range.low));
        for z in from(2)..=to(2) {
            for y in from(1)..=to(1) {
                if self.rows[start + (z - z_low) as usize * rows + (y - y_low) as usize] & bits != 0
                {
                    return true;
                }
            }
        }
        false
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.len() * 8 + size_of::<Self>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};

    #[test]
    fn halving_ors_pairs() {
        let mut rng = Rng(1);
        for _ in 0..200 {
            let row = rng.bits() & rng.bits();
            for i in 0..32 {
                assert_eq!(halve(row) >> i & 1 == 1, row >> (2 * i) & 3 != 0);
            }
        }
    }

    #[test]
    fn a_sphere_that_reaches_a_tetrahedron_of_the_fragment_is_never_culled() {
        let mesh = box_grid([9, 4, 6], Vec3::new(9.0, 4.0, 6.0));
        let mut rng = Rng(12);
        for cell in [0.2, 1.0, 3.0, 100.0] {
            let occupancy = Occupancy::build(&mesh, cell);
            let mut culled = 0;
            for _ in 0..20 {
                let centre = rng.in_box(Vec3::ZERO, Vec3::new(9.0, 4.0, 6.0));
                let size = rng.range(0.5, 4.0);
                let nodes: Vec<u32> = (0..mesh.positions().len() as u32)
                    .filter(|&n| mesh.positions()[n as usize].distance(centre) < size)
                    .collect();
                if nodes.is_empty() {
                    continue;
                }
                let cells = occupancy.of_nodes(&nodes);
                for _ in 0..200 {
                    let p = rng.in_box(Vec3::splat(-3.0), Vec3::splat(12.0));
                    let radius = rng.range(0.0, 2.0);
                    // A sampled tetrahedron around a node of the fragment.
                    let tets = mesh.adjacent_tets(nodes[rng.below(nodes.len())]);
                    let q = mesh.corners(tets[rng.below(tets.len())])[rng.below(4)];
                    let may = occupancy.may_touch(&cells, p, radius);
                    culled += usize::from(!may);
                    if p.distance(q) <= radius {
                        assert!(may);
                    }
                    let near = q + rng.direction() * radius;
                    assert!(occupancy.may_touch(&cells, near, radius * 1.0001));
                }
            }
            assert!(culled > 0 || cell > 10.0, "it culls something");
        }
    }
}
