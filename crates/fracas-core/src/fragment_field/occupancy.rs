//! Where each fragment may be: a multilevel grid with a bit per cell and fragment.
//!
//! Steps: at build time every node learns the range of cells that its share of the
//! tetrahedra around it touches -> a new fragment sets the bits of its nodes' ranges,
//! and those of the boxes of its pieces of cut tetrahedra -> coarser levels by OR of
//! eight -> a sphere is tested at a level at which it meets few cells.
//!
//! Source: Glondu 2013, section 4.5. **Deviations**: the paper's AND must be an OR.
//! The bits are stored by fragment, 64 cells of a row in a word, and only for the
//! rows of the fragment's own box: any number of fragments, nothing rewritten when
//! more come, and a query touches one small array. All cells that the sphere's box
//! meets are looked at, instead of eight around the nearest grid point: a few more,
//! and no assumption.
//!
//! **Guarantee**: a cell without a fragment's bit holds nothing of it. A point in a
//! whole tetrahedron of the fragment belongs to the share of the node of which it has
//! the largest barycentric coordinate; in a cut one, to the piece's box.

use glam::Vec3;

use super::face_tree::Bounds;
use super::locate::Cells;
use super::object_data::{ObjectDataError, all_fit, has_length};
use crate::tet_mesh::{TET_FACES, TetMesh};

/// Bits of a word, hence cells along an axis.
const MOST_CELLS: i32 = 64;
/// Levels of 64, 32, ... 1 cells.
const MOST_LEVELS: usize = 7;

/// The common grid, and the cells around each node.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    cells: Cells,
    ranges: Vec<CellRange>,
}

/// Cells from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct CellRange {
    low: [u8; 3],
    high: [u8; 3],
}

impl CellRange {
    /// The cells in both; `None` if there is none.
    fn meet(&self, other: &Self) -> Option<Self> {
        let low = std::array::from_fn(|i| self.low[i].max(other.low[i]));
        let high = std::array::from_fn(|i| self.high[i].min(other.high[i]));
        (0..3)
            .all(|i| low[i] <= high[i])
            .then_some(Self { low, high })
    }
}

/// The cells of one fragment, all levels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FragmentCells {
    range: CellRange,
    levels: u8,
    /// Where each level's rows begin.
    starts: [u16; MOST_LEVELS],
    /// Per level, per layer in z, per row in y: a bit per cell in x.
    rows: Box<[u64]>,
}

impl Occupancy {
    /// The cells of the grid.
    fn cells(mesh: &TetMesh, cell: f32) -> Cells {
        let (low, high) = mesh.bounds();
        Cells::new(low, high, cell, MOST_CELLS, usize::MAX)
    }

    /// The first and the last of the cells around each node, packed.
    pub(super) fn parts(&self) -> Vec<[u32; 2]> {
        let pack = |[x, y, z]: [u8; 3]| u32::from_le_bytes([x, y, z, 0]);
        let ranges = self.ranges.iter();
        ranges.map(|r| [pack(r.low), pack(r.high)]).collect()
    }

    /// The grid from its parts.
    ///
    /// # Errors
    /// Where they do not fit the mesh.
    pub(super) fn from_parts(
        mesh: &TetMesh,
        cell: f32,
        packed: &[[u32; 2]],
    ) -> Result<Self, ObjectDataError> {
        let cells = Self::cells(mesh, cell);
        let list = "the cells around nodes";
        has_length(list, packed.len(), mesh.positions().len())?;
        let counts = cells.counts;
        all_fit(list, packed, |range| {
            let [low, high] = range.map(u32::to_le_bytes);
            (low[3] | high[3] == 0)
                & (0..3).fold(true, |fits, i| {
                    fits & (low[i] <= high[i]) & (i32::from(high[i]) < counts[i])
                })
        })?;
        let unpack = |word: u32| {
            let [x, y, z, _] = word.to_le_bytes();
            [x, y, z]
        };
        let ranges = packed.iter().map(|&[low, high]| CellRange {
            low: unpack(low),
            high: unpack(high),
        });
        let ranges = ranges.collect();
        Ok(Self { cells, ranges })
    }

    /// A grid with cells of about `cell`.
    pub(super) fn build(mesh: &TetMesh, cell: f32) -> Self {
        let cells = Self::cells(mesh, cell);
        let mut shares = vec![Bounds::EMPTY; mesh.positions().len()];
        for (tet, nodes) in mesh.tets().iter().enumerate() {
            let corners = mesh.corners(tet as u32);
            // Around a node: half of each edge, the middles of faces, the tetrahedron's.
            for i in 0..4 {
                let share = &mut shares[nodes[i] as usize];
                let [a, b, c] = TET_FACES[i].map(|j| corners[j] - corners[i]);
                let halves = [a, b, c].map(|x| x * 0.5);
                let thirds = [a + b, b + c, c + a].map(|x| x / 3.0);
                share.add(corners[i]);
                share.add(corners[i] + (a + b + c) * 0.25);
                for way in halves.into_iter().chain(thirds) {
                    share.add(corners[i] + way);
                }
            }
        }
        let mut grid = Self {
            cells,
            ranges: Vec::new(),
        };
        grid.ranges = shares.iter().map(|s| grid.range(s)).collect();
        grid
    }

    /// The cells that a box meets, with some room for rounding.
    fn range(&self, bounds: &Bounds) -> CellRange {
        let margin = Vec3::splat(self.cells.size * 1e-3);
        CellRange {
            low: self.cells.clamped(bounds.low - margin).map(|x| x as u8),
            high: self.cells.clamped(bounds.high + margin).map(|x| x as u8),
        }
    }

    /// The cells of a fragment that lies in a box and has these nodes, as far as it has
    /// whole tetrahedra. To be completed by [`Self::add_piece`] and
    /// [`FragmentCells::build_levels`].
    pub(super) fn of_nodes(&self, bounds: &Bounds, nodes: &[u32]) -> FragmentCells {
        let mut cells = FragmentCells::within(self.range(bounds));
        for &n in nodes {
            cells.set(&self.ranges[n as usize]);
        }
        cells
    }

    /// The cells of a fragment that lies in a box, from [`FragmentCells::rows`].
    ///
    /// # Errors
    /// When they are not as many as such a fragment has.
    pub(super) fn of_rows(
        &self,
        bounds: &Bounds,
        rows: &[u64],
    ) -> Result<FragmentCells, ObjectDataError> {
        let mut cells = FragmentCells::within(self.range(bounds));
        has_length("the cells of the object", rows.len(), cells.rows.len())?;
        cells.rows.copy_from_slice(rows);
        Ok(cells)
    }

    /// Adds a piece of a cut tetrahedron.
    pub(super) fn add_piece(&self, cells: &mut FragmentCells, piece: &Bounds) {
        cells.set(&self.range(piece));
    }

    /// Whether a sphere may touch the fragment with these cells.
    #[inline]
    pub(super) fn may_touch(&self, cells: &FragmentCells, p: Vec3, radius: f32) -> bool {
        let at = (p - self.cells.low) * self.cells.inverse_size;
        let reach = radius * self.cells.inverse_size + 1e-3;
        // The grid ends at the object: what is beyond counts to its last cells. Nothing is
        // negative then, and casts round down; NaN becomes 0.
        let [nx, ny, nz] = self.cells.counts;
        let cell = |x: f32, count: i32| (x.max(0.0) as i32).min(count - 1);
        let low = [
            cell(at.x - reach, nx),
            cell(at.y - reach, ny),
            cell(at.z - reach, nz),
        ];
        let high = [
            cell(at.x + reach, nx),
            cell(at.y + reach, ny),
            cell(at.z + reach, nz),
        ];
        let extent = (high[0] - low[0])
            .max(high[1] - low[1])
            .max(high[2] - low[2]) as u32;
        // The finest level at which no more than five cells are met along an axis.
        let level = (32 - (extent / 4).leading_zeros()).min(u32::from(cells.levels) - 1);
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
    /// None yet, of those in a range.
    fn within(range: CellRange) -> Self {
        let extent = (0..3).map(|i| range.high[i] - range.low[i]).max();
        let levels = 8 - extent.unwrap_or(0).leading_zeros() as u8 + 1;
        let (mut starts, mut total) = ([0; MOST_LEVELS], 0);
        for (level, start) in (0..levels).zip(&mut starts) {
            let (rows, layers) = layer(&range, level);
            // At most 64² and a third.
            *start = total as u16;
            total += rows * layers;
        }
        Self {
            range,
            levels,
            starts,
            rows: vec![0_u64; total].into_boxed_slice(),
        }
    }

    /// The bits of all levels.
    pub(super) fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// Sets the bits of a range, at the finest level.
    #[inline]
    fn set(&mut self, cells: &CellRange) {
        let Some(cells) = cells.meet(&self.range) else {
            return;
        };
        let bits = bits_between(cells.low[0], cells.high[0]);
        let (width, _) = layer(&self.range, 0);
        for z in cells.low[2]..=cells.high[2] {
            let first = (z - self.range.low[2]) as usize * width;
            let row = |y: u8| first + (y - self.range.low[1]) as usize;
            for word in &mut self.rows[row(cells.low[1])..=row(cells.high[1])] {
                *word |= bits;
            }
        }
    }

    /// The coarser levels, from the finest.
    pub(super) fn build_levels(&mut self) {
        for level in 1..self.levels {
            let (rows, layers) = layer(&self.range, level - 1);
            let start = usize::from(self.starts[usize::from(level) - 1]);
            let next = usize::from(self.starts[usize::from(level)]);
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
        }
    }

    /// Whether a bit is set in a range of cells (of level 0), looked at in `level`.
    #[inline]
    fn any(&self, low: [i32; 3], high: [i32; 3], level: u32) -> bool {
        let start = usize::from(self.starts[level as usize]);
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
    fn a_sphere_that_reaches_a_fragment_is_never_culled() {
        let mesh = box_grid([9, 4, 6], Vec3::new(9.0, 4.0, 6.0));
        let mut rng = Rng(12);
        let mut all_culled = Vec::new();
        for cell in [0.2, 1.0, 3.0, 100.0] {
            let occupancy = Occupancy::build(&mesh, cell);
            let mut culled = 0;
            for _ in 0..20 {
                let centre = rng.in_box(Vec3::ZERO, Vec3::new(9.0, 4.0, 6.0));
                let size = rng.range(0.5, 4.0);
                let is_own = |n: u32| mesh.positions()[n as usize].distance(centre) < size;
                let nodes: Vec<u32> = (0..mesh.positions().len() as u32)
                    .filter(|&n| is_own(n))
                    .collect();
                if nodes.is_empty() {
                    continue;
                }
                // Whole tetrahedra by their nodes; of the others, a corner each.
                let (mut bounds, mut pieces) = (Bounds::EMPTY, Vec::new());
                for (tet, of) in mesh.tets().iter().enumerate() {
                    let own = of.iter().filter(|&&n| is_own(n)).count();
                    let corners = mesh.corners(tet as u32);
                    for i in (0..4).filter(|&i| is_own(of[i])) {
                        bounds.add(corners[i]);
                        if own < 4 {
                            let cut = |j: usize| corners[i] + (corners[j] - corners[i]) * 0.3;
                            let piece = [corners[i], cut(0), cut(1), cut(2), cut(3)];
                            piece.iter().for_each(|&p| bounds.add(p));
                            pieces.push(piece);
                        }
                    }
                }
                let mut cells = occupancy.of_nodes(&bounds, &nodes);
                for piece in &pieces {
                    occupancy.add_piece(&mut cells, &Bounds::of(piece));
                }
                cells.build_levels();
                for _ in 0..200 {
                    let p = rng.in_box(Vec3::splat(-3.0), Vec3::splat(12.0));
                    let radius = rng.range(0.0, 2.0);
                    // A point of the fragment: in a piece, or in a whole tetrahedron.
                    let weights = [(); 4].map(|()| rng.range(0.0, 1.0));
                    let weights = weights.map(|w| w / weights.iter().sum::<f32>());
                    let blend = |c: &[Vec3]| (0..4).map(|i| c[i] * weights[i]).sum::<Vec3>();
                    let tet = mesh.adjacent_tets(nodes[rng.below(nodes.len())])[0];
                    let whole = mesh.tets()[tet as usize].iter().all(|&n| is_own(n));
                    let q = match pieces.get(rng.below(pieces.len() + 1)) {
                        Some(piece) if !whole => blend(&piece[..4]),
                        _ if whole => blend(&mesh.corners(tet)),
                        _ => continue,
                    };
                    let may = occupancy.may_touch(&cells, p, radius);
                    culled += usize::from(!may);
                    if p.distance(q) <= radius {
                        assert!(may);
                    }
                    let near = q + rng.direction() * radius;
                    assert!(occupancy.may_touch(&cells, near, radius * 1.0001));
                }
            }
            all_culled.push(culled);
        }
        // How many of up to 4,000 at random each: a grid that culls less is noticed.
        assert_eq!(all_culled, [2999, 2931, 2269, 0]);
    }

    #[test]
    fn a_small_sphere_is_culled_a_cell_away_and_a_large_one_a_few() {
        let mesh = box_grid([16, 2, 2], Vec3::new(16.0, 2.0, 2.0));
        let occupancy = Occupancy::build(&mesh, 1.0);
        assert_eq!(occupancy.bytes(), 17 * 9 * 6);
        // Nodes with x from 4 to 6: cells from 3.5 to 6.5.
        let own = |n: &u32| (3.9..6.1).contains(&mesh.positions()[*n as usize].x);
        let nodes: Vec<u32> = (0..mesh.positions().len() as u32).filter(own).collect();
        let (low, high) = (Vec3::new(3.0, 0.0, 0.0), Vec3::new(7.0, 2.0, 2.0));
        let mut cells = occupancy.of_nodes(&Bounds { low, high }, &nodes);
        cells.build_levels();
        assert_eq!(
            cells.bytes(),
            size_of::<FragmentCells>() + 8 * cells.rows.len()
        );
        let may = |x: f32, radius: f32| occupancy.may_touch(&cells, Vec3::new(x, 1.2, 0.7), radius);
        assert!(may(5.0, 0.0) && may(3.6, 0.0) && may(6.4, 0.0));
        assert!(!may(2.9, 0.0) && !may(7.1, 0.0));
        assert!(may(2.5, 0.6) && may(7.5, 0.6));
        assert!(!may(2.4, 0.5) && !may(7.6, 0.5));
        // Up to five cells are looked at one by one, more at twice their size.
        assert!(may(0.4, 2.7) && !may(0.4, 2.5));
        assert!(may(10.9, 4.0) && !may(12.1, 3.9));
    }
}
