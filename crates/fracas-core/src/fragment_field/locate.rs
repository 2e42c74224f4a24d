//! Which tetrahedron holds a point: a uniform grid that lists, for each cell, the
//! tetrahedra that reach into it.
//!
//! Source: Glondu 2013, section 4.3, which uses a k-d tree over tetrahedra.
//! **Deviation**: a grid, because it answers in one step, and was measured faster
//! (`field/locate-bunny` of the scoreboard); its lists also serve the search for
//! near surface. Nothing in it changes when something breaks.
//!
//! Steps of a query: walk from a tetrahedron near the point (the outer surface's finer
//! grid knows one; else the cell's first, which holds its centre) across the face that
//! the point is farthest beyond -> where the walk meets the boundary (the mesh is not
//! convex) or grows long, try the whole list.
//!
//! **Guarantee**: every tetrahedron is listed in every cell it meets, so a point
//! in the mesh is found; on a face shared by two, the first listed is taken.

use glam::Vec3;

use super::object_data::{ObjectDataError, all_fit, has_length, misfit};
use crate::tet_mesh::{NONE, TetMesh};

/// A point with the tetrahedron that holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// The point.
    pub point: Vec3,
    /// The tetrahedron.
    pub tet: u32,
    /// Barycentric coordinates of the point; at least minus [`SLACK`], sum one.
    pub barycentric: [f32; 4],
}

/// Barycentric coordinates as low as minus this still count as inside (no unit):
/// without it, points on a face between two tetrahedra could fall between both by
/// rounding. Several times the rounding of f32 coordinates for edges that are a
/// hundredth of the object.
pub const SLACK: f32 = 1e-5;

/// Steps after which a walk gives way to the list: it was needed for less than one
/// point in a hundred.
const LONGEST_WALK: usize = 8;

/// Cells of a uniform grid over a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cells {
    pub(super) low: Vec3,
    pub(super) size: f32,
    pub(super) inverse_size: f32,
    pub(super) counts: [i32; 3],
}

impl Cells {
    /// Cells of about `size` over the box, made larger where there would be more
    /// than `most` of them along an axis or than `total` in all.
    pub(super) fn new(low: Vec3, high: Vec3, size: f32, most: i32, total: usize) -> Self {
        let extent = (high - low).max(Vec3::splat(f32::MIN_POSITIVE));
        let mut size = size.max(extent.max_element() / (most as f32 - 0.5));
        loop {
            let counts = (extent / size).floor() + 1.0;
            let cells = f64::from(counts.x) * f64::from(counts.y) * f64::from(counts.z);
            if cells <= total as f64 {
                let counts = [counts.x as i32, counts.y as i32, counts.z as i32];
                return Self {
                    low,
                    size,
                    inverse_size: 1.0 / size,
                    counts,
                };
            }
            size *= 1.05;
        }
    }

    pub(super) fn total(&self) -> usize {
        self.counts.iter().map(|&c| c as usize).product()
    }

    /// The cell of a point along each axis, which may lie outside of the grid.
    #[inline]
    pub(super) fn cell_of(&self, p: Vec3) -> [i32; 3] {
        let at = (p - self.low) * self.inverse_size;
        // Rounds down; `floor` would be a call. Saturates far away, and NaN becomes 0:
        // never a wrong index.
        let down = |x: f32| (x as i32).saturating_sub(i32::from((x as i32) as f32 > x));
        [down(at.x), down(at.y), down(at.z)]
    }

    /// The same, moved into the grid.
    #[inline]
    pub(super) fn clamped(&self, p: Vec3) -> [i32; 3] {
        let at = self.cell_of(p);
        std::array::from_fn(|i| at[i].clamp(0, self.counts[i] - 1))
    }

    /// The flat index of a cell of the grid, `None` outside of it.
    #[inline]
    pub(super) fn index(&self, [x, y, z]: [i32; 3]) -> Option<usize> {
        let [nx, ny, nz] = self.counts;
        let within =
            (x as u32) < (nx as u32) && (y as u32) < (ny as u32) && (z as u32) < (nz as u32);
        within.then(|| (z as usize * ny as usize + y as usize) * nx as usize + x as usize)
    }

    pub(super) fn low_corner(&self, [x, y, z]: [i32; 3]) -> Vec3 {
        self.low + Vec3::new(x as f32, y as f32, z as f32) * self.size
    }
}

/// The grid of tetrahedra.
#[derive(Clone, Debug)]
pub(super) struct TetGrid {
    pub(super) cells: Cells,
    starts: Vec<u32>,
    tets: Vec<u32>,
}

impl TetGrid {
    /// The cells of the grid.
    fn cells(mesh: &TetMesh, cell: f32) -> Cells {
        let (low, high) = mesh.bounds();
        let total = (mesh.tets().len() * 4).max(64);
        Cells::new(low, high, cell, 1024, total)
    }

    /// Where the list of each cell begins, and all lists.
    pub(super) fn parts(&self) -> (&[u32], &[u32]) {
        (&self.starts, &self.tets)
    }

    /// The grid from its parts.
    ///
    /// # Errors
    /// Where they do not fit the mesh.
    pub(super) fn from_parts(
        mesh: &TetMesh,
        cell: f32,
        (starts, tets): (&[u32], &[u32]),
    ) -> Result<Self, ObjectDataError> {
        let cells = Self::cells(mesh, cell);
        let list = "the cells of point location";
        has_length(list, starts.len(), cells.total() + 1)?;
        if starts.first() != Some(&0) {
            return Err(misfit(list, 0));
        }
        if let Some(place) = starts.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(misfit(list, place + 1));
        }
        let ends = starts.last().map_or(0, |&end| end as usize);
        let (list, count) = ("the tetrahedra of point location", mesh.tets().len() as u32);
        has_length(list, tets.len(), ends)?;
        all_fit(list, tets, |tet| tet < count)?;
        Ok(Self {
            cells,
            starts: starts.to_vec(),
            tets: tets.to_vec(),
        })
    }

    /// Lists every tetrahedron in every cell it meets.
    pub(super) fn build(mesh: &TetMesh, cell: f32) -> Self {
        let cells = Self::cells(mesh, cell);
        let mut starts = vec![0_u32; cells.total() + 1];
        let mut met = Vec::with_capacity(mesh.tets().len() * 2);
        for tet in 0..mesh.tets().len() as u32 {
            for_each_cell(mesh, &cells, tet, |c| {
                starts[c + 1] += 1;
                met.push((c as u32, tet));
            });
        }
        for c in 0..cells.total() {
            starts[c + 1] += starts[c];
        }
        let mut next = starts.clone();
        let mut tets = vec![0; starts[cells.total()] as usize];
        for (cell, tet) in met {
            let next = &mut next[cell as usize];
            tets[*next as usize] = tet;
            *next += 1;
        }
        let mut grid = Self {
            cells,
            starts,
            tets,
        };
        grid.put_central_first(mesh);
        grid
    }

    /// Moves the tetrahedron that holds a cell's centre, or comes closest to it, to
    /// the front of the cell's list.
    fn put_central_first(&mut self, mesh: &TetMesh) {
        let [nx, ny, nz] = self.cells.counts;
        for (z, y, x) in
            (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| (z, y, x))))
        {
            let Some(cell) = self.cells.index([x, y, z]) else {
                continue;
            };
            let centre = self.cells.low_corner([x, y, z]) + Vec3::splat(self.cells.size * 0.5);
            let list = &mut self.tets[self.starts[cell] as usize..self.starts[cell + 1] as usize];
            let mut best = (f32::NEG_INFINITY, 0);
            for (k, &tet) in list.iter().enumerate() {
                let least = least_of(&barycentric(mesh, tet, centre)).0;
                if least > best.0 {
                    best = (least, k);
                }
            }
            if let Some(first) = list.get_mut(..=best.1) {
                first.rotate_right(1);
            }
        }
    }

    /// The tetrahedra that reach into a cell.
    #[inline]
    pub(super) fn tets_in(&self, cell: usize) -> &[u32] {
        &self.tets[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// The tetrahedron that holds `p`, if any.
    pub(super) fn locate(&self, mesh: &TetMesh, p: Vec3) -> Option<Location> {
        let mut at = self.cells.cell_of(p);
        // A point on the far boundary, or off it by rounding, belongs to the last cell.
        for i in 0..3 {
            let count = self.cells.counts[i];
            if at[i] == count || at[i] == -1 {
                at[i] = at[i].clamp(0, count - 1);
            }
        }
        let start = *self.tets_in(self.cells.index(at)?).first()?;
        self.locate_from(mesh, start, p)
    }

    /// The same, walking from a tetrahedron that should not be far.
    #[inline]
    pub(super) fn locate_from(&self, mesh: &TetMesh, start: u32, p: Vec3) -> Option<Location> {
        let mut tet = start;
        for _ in 0..LONGEST_WALK {
            let (raw, volume) = raw_barycentric(mesh, tet, p);
            let (least, beyond) = least_of(&raw);
            if least >= 0.0 {
                let scale = 1.0 / volume;
                return Some(Location {
                    point: p,
                    tet,
                    barycentric: raw.map(|l| l * scale),
                });
            }
            tet = mesh.neighbours()[tet as usize][beyond];
            if tet == NONE {
                break;
            }
        }
        let list = self.tets_in(self.cells.index(self.cells.clamped(p))?);
        Self::search(mesh, list, p)
    }

    /// The tetrahedron of a list that holds `p`, or comes within [`SLACK`] of it.
    #[cold]
    fn search(mesh: &TetMesh, list: &[u32], p: Vec3) -> Option<Location> {
        let mut best = (-SLACK, None);
        for &tet in list {
            let barycentric = barycentric(mesh, tet, p);
            let (least, _) = least_of(&barycentric);
            if least >= best.0 {
                let location = Location {
                    point: p,
                    tet,
                    barycentric,
                };
                if least >= 0.0 {
                    return Some(location);
                }
                best = (least, Some(location));
            }
        }
        best.1
    }

    pub(super) fn bytes(&self) -> usize {
        (self.starts.len() + self.tets.len()) * 4
    }
}

/// The least of four coordinates, and which.
#[inline]
fn least_of(&[a, b, c, d]: &[f32; 4]) -> (f32, usize) {
    let (ab, i) = if a < b { (a, 0) } else { (b, 1) };
    let (cd, j) = if c < d { (c, 2) } else { (d, 3) };
    if ab < cd { (ab, i) } else { (cd, j) }
}

/// Barycentric coordinates of a point in a tetrahedron.
#[inline(always)]
pub(super) fn barycentric(mesh: &TetMesh, tet: u32, p: Vec3) -> [f32; 4] {
    let ([_, b, c, d], volume) = raw_barycentric(mesh, tet, p);
    let scale = 1.0 / volume;
    let (b, c, d) = (b * scale, c * scale, d * scale);
    [1.0 - b - c - d, b, c, d]
}

/// Barycentric coordinates times six volumes, and these: their signs need no division.
#[inline(always)]
fn raw_barycentric(mesh: &TetMesh, tet: u32, p: Vec3) -> ([f32; 4], f32) {
    let [a, b, c, d] = mesh.corners(tet);
    let (ab, ac, ad, ap) = (b - a, c - a, d - a, p - a);
    let normal = ab.cross(ac);
    let volume = normal.dot(ad);
    let across = ap.cross(ad);
    let l_d = normal.dot(ap);
    let l_b = -across.dot(ac);
    let l_c = across.dot(ab);
    ([volume - l_b - l_c - l_d, l_b, l_c, l_d], volume)
}

/// Calls `visit` with every cell that a tetrahedron may meet: those of its box
/// that are not wholly outside one of its faces.
fn for_each_cell(mesh: &TetMesh, cells: &Cells, tet: u32, mut visit: impl FnMut(usize)) {
    let corners = mesh.corners(tet);
    let low = corners.iter().fold(corners[0], |m, &p| m.min(p));
    let high = corners.iter().fold(corners[0], |m, &p| m.max(p));
    // A hair more than the box, so that rounding decides nothing.
    let margin = Vec3::splat(cells.size * 1e-3);
    let (first, last) = (cells.clamped(low - margin), cells.clamped(high + margin));
    let planes = crate::tet_mesh::TET_FACES.map(|[i, j, k]| {
        let normal = (corners[j] - corners[i]).cross(corners[k] - corners[i]);
        (normal, normal.dot(corners[i]))
    });
    let half = cells.size * 0.5 + margin.x;
    for z in first[2]..=last[2] {
        for y in first[1]..=last[1] {
            for x in first[0]..=last[0] {
                let centre = cells.low_corner([x, y, z]) + Vec3::splat(cells.size * 0.5);
                let outside = planes.iter().any(|(normal, offset)| {
                    let reach = half * (normal.x.abs() + normal.y.abs() + normal.z.abs());
                    // Rounding of the two products, which may nearly cancel.
                    let noise = 1e-5 * (normal.dot(centre).abs() + offset.abs());
                    normal.dot(centre) - offset > reach + noise
                });
                if !outside && let Some(cell) = cells.index([x, y, z]) {
                    visit(cell);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};

    #[test]
    fn every_point_of_the_mesh_is_found_and_no_other() {
        let mesh = box_grid([4, 3, 5], Vec3::new(1.0, 2.0, 0.5));
        let mut rng = Rng(2);
        for cell in [0.05, 0.3, 5.0] {
            let grid = TetGrid::build(&mesh, cell);
            for _ in 0..2000 {
                let p = rng.in_box(Vec3::splat(-0.2), Vec3::new(1.2, 2.2, 0.7));
                let high = Vec3::new(1.0, 2.0, 0.5);
                let inside = p.cmpge(Vec3::ZERO).all() && p.cmple(high).all();
                let found = grid.locate(&mesh, p);
                assert_eq!(found.is_some(), inside, "{p}");
                let Some(found) = found else { continue };
                let corners = mesh.corners(found.tet);
                let again: Vec3 = (0..4).map(|i| corners[i] * found.barycentric[i]).sum();
                assert!(again.distance(p) < 1e-5);
            }
            for (n, &p) in mesh.positions().iter().enumerate() {
                let found = grid.locate(&mesh, p).expect("a node is in the mesh");
                let local =
                    (0..4).max_by(|&i, &j| found.barycentric[i].total_cmp(&found.barycentric[j]));
                assert_eq!(mesh.tets()[found.tet as usize][local.unwrap()], n as u32);
            }
        }
    }

    #[test]
    fn cells_list_what_reaches_into_them_and_little_else_the_central_one_first() {
        let mesh = box_grid([4, 3, 5], Vec3::new(1.0, 2.0, 0.5));
        for (size, most) in [(0.1, 14_776), (0.3, 2_122)] {
            let grid = TetGrid::build(&mesh, size);
            assert_eq!(grid.bytes(), 4 * (grid.cells.total() + 1 + grid.tets.len()));
            let (mut listed, mut reaching) = (0, 0);
            let [nx, ny, nz] = grid.cells.counts;
            for (x, y, z) in
                (0..nx).flat_map(|x| (0..ny).flat_map(move |y| (0..nz).map(move |z| (x, y, z))))
            {
                let list = grid.tets_in(grid.cells.index([x, y, z]).unwrap());
                let low = grid.cells.low_corner([x, y, z]);
                let centre = low + Vec3::splat(grid.cells.size * 0.5);
                // Points all over the cell, its corners among them.
                let steps = 6;
                let mut meets = vec![false; mesh.tets().len()];
                for i in 0..(steps + 1_i32).pow(3) {
                    let at = [i % 7, i / 7 % 7, i / 49].map(|k| k as f32 / steps as f32);
                    let p = low + Vec3::from(at) * grid.cells.size;
                    for tet in 0..mesh.tets().len() as u32 {
                        let inside = least_of(&barycentric(&mesh, tet, p)).0 >= 0.0;
                        meets[tet as usize] |= inside;
                    }
                }
                for (tet, _) in (0..).zip(&meets).filter(|(_, met)| **met) {
                    assert!(list.contains(&tet));
                    reaching += 1;
                }
                listed += list.len();
                let held = |tet: u32| least_of(&barycentric(&mesh, tet, centre)).0;
                let best = list.iter().map(|&tet| held(tet)).fold(f32::MIN, f32::max);
                assert!(list.first().is_none_or(|&first| held(first) == best));
            }
            // The points miss some that reach in by a corner, and boxes hold some that do not.
            assert_eq!(listed, most, "cells of {size}, {reaching} reach in");
        }
    }

    #[test]
    fn cells_are_as_large_as_asked_for_unless_there_are_too_many() {
        let (low, high) = (Vec3::new(-1.0, 0.0, 2.0), Vec3::new(3.0, 1.0, 2.5));
        let cells = Cells::new(low, high, 0.4, 1024, 1 << 20);
        assert_eq!((cells.size, cells.counts), (0.4, [11, 3, 2]));
        assert_eq!(cells.total(), 66);
        assert!((cells.inverse_size - 2.5).abs() < 1e-6);
        let few = Cells::new(low, high, 0.4, 4, 1 << 20);
        assert_eq!(few.counts[0], 4);
        assert!((few.size - 4.0 / 3.5).abs() < 1e-6);
        let least = Cells::new(low, high, 0.1, 1024, 100);
        // The next smaller size would be too many.
        let count = |size: f32| Cells::new(low, high, size, 1024, usize::MAX).total();
        assert!(least.total() <= 100 && count(least.size / 1.05) > 100);
        let p = low + Vec3::new(-0.1, 0.5, 0.45);
        assert_eq!(cells.cell_of(p), [-1, 1, 1]);
        assert_eq!(cells.clamped(p), [0, 1, 1]);
        assert_eq!(cells.index([-1, 1, 1]), None);
        assert_eq!(cells.index([10, 3, 1]), None);
        assert_eq!(cells.index([10, 2, 2]), None);
        assert_eq!(cells.index([11, 2, 1]), None);
        assert_eq!(cells.index([10, 2, 1]), Some(65));
        assert_eq!(cells.index([2, 1, 1]), Some(46));
        assert!(
            cells
                .low_corner([2, 1, 1])
                .distance(Vec3::new(-0.2, 0.4, 2.4))
                < 1e-6
        );
    }

    #[test]
    fn what_is_not_a_point_is_nowhere() {
        let mesh = box_grid([2; 3], Vec3::ONE);
        let grid = TetGrid::build(&mesh, 0.3);
        for p in [Vec3::NAN, Vec3::splat(f32::INFINITY), Vec3::splat(-1e30)] {
            assert_eq!(grid.locate(&mesh, p), None);
        }
    }
}
