//! Fast marching on a grid around the mesh: what the paper compares with.
//!
//! 1. A grid of cubic cells is laid around the mesh;
//! 2. the boundary triangles are entered as seeds;
//! 3. the Eikonal equation `|grad d| = 1` is solved outward from the seeds with the
//!    first-order upwind scheme, least value first;
//! 4. each node of the mesh reads its depth by trilinear interpolation.
//!
//! [Marchal 2004, section 4.1], after Sethian 1996 and Fisher and Lin 2001.
//!
//! [`Seeds::Rasterized`] is what the paper describes: grid points of cells that the
//! surface crosses get 0. [`Seeds::Exact`] gives grid points within a cell of the
//! surface their exact distance; it is the fairer opponent, and costs more.
//!
//! **Guarantee.** None on accuracy: the error is of the order of a cell (rasterized),
//! or grows slowly with depth (exact seeds). Serves comparison, not collision.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::Vec3;

use super::super::features::TriangleDistance;
use super::super::topology::Topology;

/// How the surface is entered into the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// Grid points nearest to the surface get 0.
    Rasterized,
    /// Grid points within a cell of the surface get their distance.
    Exact,
}

/// The most grid points: 256 MiB of values.
const MOST_POINTS: u64 = 1 << 26;

/// Depths of all nodes by fast marching on a grid with `cells` cells along the
/// longest side of the mesh's box. Along a side shorter than half a cell the grid
/// has one point: flat slabs are marched in two dimensions.
///
/// `None` if the grid would be too large or the mesh has no finite extent.
#[must_use]
pub fn grid_depths(
    topology: &Topology,
    positions: &[Vec3],
    cells: u32,
    seeds: Seeds,
) -> Option<Vec<f32>> {
    let mut grid = Grid::around(topology, positions, cells)?;
    match seeds {
        Seeds::Rasterized => grid.rasterize(topology, positions),
        Seeds::Exact => grid.seed_exactly(topology, positions),
    }
    grid.march();
    Some(
        positions
            .iter()
            .enumerate()
            .map(|(n, &p)| {
                if topology.is_boundary(n as u32) {
                    0.0
                } else {
                    grid.read(p)
                }
            })
            .collect(),
    )
}

struct Grid {
    origin: Vec3,
    size: f32,
    points: [u32; 3],
    values: Vec<f32>,
    done: Vec<bool>,
}

impl Grid {
    fn around(topology: &Topology, positions: &[Vec3], cells: u32) -> Option<Self> {
        let (mut lo, mut hi) = (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY));
        for &n in topology.boundary_nodes() {
            (lo, hi) = (lo.min(positions[n as usize]), hi.max(positions[n as usize]));
        }
        let size = (hi - lo).max_element() / cells.max(1) as f32;
        if size <= 0.0 || !size.is_finite() {
            return None;
        }
        let counts = ((hi - lo) / size).round();
        if !counts.is_finite() || counts.max_element() >= MOST_POINTS as f32 {
            return None;
        }
        let points = counts
            .to_array()
            .map(|c| c as u32 + if c == 0.0 { 1 } else { 2 });
        let total: u64 = points.iter().map(|&n| u64::from(n)).product();
        if total > MOST_POINTS {
            return None;
        }
        // A flat side has its one layer in the middle.
        let middle = Vec3::select(counts.cmpeq(Vec3::ZERO), 0.5 * (hi - lo), Vec3::ZERO);
        Some(Self {
            origin: lo + middle,
            size,
            points,
            values: vec![f32::INFINITY; total as usize],
            done: vec![false; total as usize],
        })
    }

    fn index(&self, [x, y, z]: [u32; 3]) -> usize {
        ((z * self.points[1] + y) * self.points[0] + x) as usize
    }

    /// The grid point nearest to `p`.
    fn nearest(&self, p: Vec3) -> [u32; 3] {
        let at = ((p - self.origin) / self.size).round().to_array();
        std::array::from_fn(|k| (at[k] as u32).min(self.points[k] - 1))
    }

    fn rasterize(&mut self, topology: &Topology, positions: &[Vec3]) {
        for face in topology.faces() {
            let [a, b, c] = face.map(|n| positions[n as usize]);
            let longest = (b - a).length().max((c - a).length()).max((c - b).length());
            let steps = (2.0 * longest / self.size).ceil().clamp(1.0, 4096.0) as u32;
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let (v, w) = (i as f32 / steps as f32, j as f32 / steps as f32);
                    let p = a + (b - a) * v + (c - a) * w;
                    if p.is_finite() {
                        let at = self.index(self.nearest(p));
                        self.values[at] = 0.0;
                    }
                }
            }
        }
    }

    fn seed_exactly(&mut self, topology: &Topology, positions: &[Vec3]) {
        let wide = Vec3::from(self.points.map(|n| if n == 1 { 0.0 } else { 1.0 }));
        for face in topology.faces() {
            let corners = face.map(|n| positions[n as usize]);
            if corners.iter().any(|p| !p.is_finite()) {
                continue;
            }
            let triangle = TriangleDistance::new(corners);
            let [a, b, c] = corners;
            let margin = 1.01 * self.size * wide;
            let lo = self.nearest(a.min(b).min(c) - margin);
            let hi = self.nearest(a.max(b).max(c) + margin);
            for z in lo[2]..=hi[2] {
                for y in lo[1]..=hi[1] {
                    for x in lo[0]..=hi[0] {
                        let at = Vec3::new(x as f32, y as f32, z as f32);
                        let p = self.origin + at * self.size;
                        let i = self.index([x, y, z]);
                        let distance = triangle.squared_within(p, f32::INFINITY).0.sqrt();
                        if distance < 1.01 * self.size && distance < self.values[i] {
                            self.values[i] = distance;
                        }
                    }
                }
            }
        }
    }

    fn march(&mut self) {
        let mut queue = BinaryHeap::new();
        for (i, &value) in self.values.iter().enumerate() {
            if value.is_finite() {
                queue.push(Reverse((value.to_bits(), i as u32)));
            }
        }
        let strides = [
            1,
            self.points[0] as usize,
            (self.points[0] * self.points[1]) as usize,
        ];
        while let Some(Reverse((_, i))) = queue.pop() {
            let i = i as usize;
            if std::mem::replace(&mut self.done[i], true) {
                continue;
            }
            let at = self.coordinates(i);
            for axis in 0..3 {
                for forward in [false, true] {
                    let inside = if forward {
                        at[axis] + 1 < self.points[axis]
                    } else {
                        at[axis] > 0
                    };
                    if !inside {
                        continue;
                    }
                    let j = if forward {
                        i + strides[axis]
                    } else {
                        i - strides[axis]
                    };
                    if self.done[j] {
                        continue;
                    }
                    let value = self.upwind(j, &strides);
                    if value < self.values[j] {
                        self.values[j] = value;
                        queue.push(Reverse((value.to_bits(), j as u32)));
                    }
                }
            }
        }
    }

    fn coordinates(&self, i: usize) -> [u32; 3] {
        let i = i as u32;
        [
            i % self.points[0],
            i / self.points[0] % self.points[1],
            i / (self.points[0] * self.points[1]),
        ]
    }

    /// Solves `sum (d - m_k)^2 = size^2` over the smallest final neighbour `m_k` on
    /// each axis, leaving out axes that would not be upwind.
    fn upwind(&self, i: usize, strides: &[usize; 3]) -> f32 {
        let at = self.coordinates(i);
        let mut least = [f32::INFINITY; 3];
        for axis in 0..3 {
            if at[axis] > 0 && self.done[i - strides[axis]] {
                least[axis] = self.values[i - strides[axis]];
            }
            if at[axis] + 1 < self.points[axis] && self.done[i + strides[axis]] {
                least[axis] = least[axis].min(self.values[i + strides[axis]]);
            }
        }
        least.sort_unstable_by(f32::total_cmp);
        let mut value = least[0] + self.size;
        let (mut sum, mut squares) = (least[0], least[0] * least[0]);
        for (k, &next) in least.iter().enumerate().skip(1) {
            if value <= next {
                break;
            }
            sum += next;
            squares += next * next;
            let n = (k + 1) as f32;
            let root = sum * sum - n * (squares - self.size * self.size);
            value = (sum + root.max(0.0).sqrt()) / n;
        }
        value
    }

    fn read(&self, p: Vec3) -> f32 {
        let most = Vec3::from(self.points.map(|n| (n - 1) as f32));
        let at = ((p - self.origin) / self.size).clamp(Vec3::ZERO, most);
        let low = at.floor().min((most - Vec3::ONE).max(Vec3::ZERO));
        let t = (at - low).to_array();
        let low = low.to_array().map(|x| x as u32);
        let mut value = 0.0;
        for corner in 0..8_u32 {
            let bits: [u32; 3] = std::array::from_fn(|k| corner >> k & 1);
            let share: f32 = (0..3)
                .map(|k| if bits[k] == 1 { t[k] } else { 1.0 - t[k] })
                .product();
            if share > 0.0 {
                value += share * self.values[self.index(std::array::from_fn(|k| low[k] + bits[k]))];
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::box_grid;

    #[test]
    fn a_box_is_measured_to_a_cell() {
        let mesh = box_grid([6, 6, 6], Vec3::ONE);
        let topology = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
        for (cells, seeds, most) in [
            (12, Seeds::Rasterized, 0.09),
            (40, Seeds::Rasterized, 0.03),
            (12, Seeds::Exact, 0.05),
        ] {
            let depths = grid_depths(&topology, mesh.positions(), cells, seeds).unwrap();
            for (p, d) in mesh.positions().iter().zip(&depths) {
                let exact = p.min(Vec3::ONE - *p).min_element().max(0.0);
                assert!(
                    (d - exact).abs() < most,
                    "{cells} {seeds:?} {p}: {d} {exact}"
                );
            }
        }
    }

    #[test]
    fn absurd_input_is_refused() {
        let one = Topology::build(4, &[[0, 1, 2, 3]]).unwrap();
        let unit = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        assert!(grid_depths(&one, &unit, u32::MAX, Seeds::Exact).is_none());
        assert!(grid_depths(&one, &[Vec3::ZERO; 4], 10, Seeds::Exact).is_none());
        assert!(grid_depths(&one, &[Vec3::NAN; 4], 10, Seeds::Exact).is_none());
        assert!(grid_depths(&one, &unit, 0, Seeds::Rasterized).is_some());
    }
}
