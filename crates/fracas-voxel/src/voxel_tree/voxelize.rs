//! From a closed surface to voxels that know how full they are.
//!
//! Steps: lay a grid of cubes over the object -> every triangle adds the signed
//! volume below it to the voxels of the columns it covers -> voxels that the
//! surface touches are marked, and never left empty.
//!
//! Source: [Dingliana 2004, section 3.1] asks for a density per voxel and leaves
//! open how it is found.
//!
//! The fraction is exact, not sampled. With h(x, y) the height of a triangle and s
//! the sign of its normal's z, the part of the solid in a voxel [z0, z1] of a
//! column is the sum over triangles of s times the integral of
//! clamp(h - z0, 0, z1 - z0) over the triangle's shadow in the column. A triangle
//! clipped to column and slab is a polygon on which h is linear, so the integral
//! is its shadow's area times its mean height.
//!
//! A touched voxel also keeps the box that holds the surface in it: a bound on where
//! its content ends that is sharper than the voxel. (A voxel's content reaches beyond
//! that box only towards a neighbour that is not empty.)
//!
//! **Guarantee**: no voxel that the surface touches is empty, whatever the
//! rounding: touched voxels are those in which clipping with a margin leaves
//! something of a triangle, and hold at least [`LEAST_OCCUPANCY`]. A voxel that is not touched is exactly empty
//! or exactly full.

use glam::{DVec3, Vec3};
use thiserror::Error;

use fracas_geometry::TetMesh;

/// What a touched voxel holds at the least, however little of the object is in it.
/// Small enough to change no sum that is looked at, large enough to survive the
/// product of two of them in f32.
pub const LEAST_OCCUPANCY: f32 = 1e-6;

/// More cells than this are refused: 2^27 voxels take 1.5 GB while building.
const MOST_CELLS: usize = 1 << 27;

/// A triangle counts as touching a voxel within this share of its edge.
const TOUCH_MARGIN: f64 = 1e-6;

/// Why a surface cannot be voxelised.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum VoxelizeError {
    /// There is no triangle.
    #[error("the surface has no triangles")]
    Empty,
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has a coordinate that is not finite")]
    NotFinite {
        /// The vertex.
        vertex: u32,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are only {vertices}")]
    VertexOutOfRange {
        /// The triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
    /// The cell is not a positive length.
    #[error("a voxel cannot have an edge of {0}")]
    BadCell(f32),
    /// Too many cells.
    #[error("{0:?} voxels are more than the {MOST_CELLS} that are allowed; use larger ones")]
    TooMany([u64; 3]),
    /// The surface has holes or faces that look the wrong way.
    #[error(
        "the surface is not closed or not oriented: the voxel at {at:?} would be filled to {filled}; close the holes, or orient its triangles, first"
    )]
    NotClosed {
        /// A voxel that shows it.
        at: [u32; 3],
        /// Its impossible filling.
        filled: f64,
    },
}

/// A dense array of occupancies over a box of cubes.
#[derive(Clone, Debug, PartialEq)]
pub struct VoxelGrid {
    pub(crate) origin: Vec3,
    pub(crate) cell: f32,
    pub(crate) counts: [u32; 3],
    pub(crate) occupancy: Vec<f32>,
    /// What box of each voxel holds the surface in it; the whole voxel where no
    /// surface was given.
    pub(crate) content: Vec<ContentBox>,
}

/// A box inside a voxel, in 255ths of its edge: low corner, then high corner,
/// rounded outward.
pub(crate) type ContentBox = [u8; 6];

/// The whole voxel.
pub(crate) const WHOLE_VOXEL: ContentBox = [0, 0, 0, 255, 255, 255];

/// No box: grows by [`join_boxes`].
pub(crate) const NO_BOX: ContentBox = [255, 255, 255, 0, 0, 0];

/// The smallest box around two.
pub(crate) fn join_boxes(a: ContentBox, b: ContentBox) -> ContentBox {
    let mut joined = a;
    for k in 0..3 {
        joined[k] = a[k].min(b[k]);
        joined[k + 3] = a[k + 3].max(b[k + 3]);
    }
    joined
}

impl VoxelGrid {
    /// Voxels of a closed, outward surface, with edge `cell`. The grid holds the
    /// surface with half a cell to spare on every side.
    ///
    /// # Errors
    /// See [`VoxelizeError`].
    pub fn from_surface(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        cell: f32,
    ) -> Result<Self, VoxelizeError> {
        check(positions, triangles, cell)?;
        let used = || triangles.iter().flatten().map(|&v| positions[v as usize]);
        let low = used().fold(Vec3::INFINITY, Vec3::min) - 0.5 * cell;
        let high = used().fold(Vec3::NEG_INFINITY, Vec3::max) + 0.5 * cell;
        let wanted = [0, 1, 2].map(|a| {
            (f64::from(high[a] - low[a]) / f64::from(cell))
                .ceil()
                .max(1.0) as u64
        });
        if wanted
            .iter()
            .try_fold(1_u64, |n, &c| n.checked_mul(c))
            .is_none_or(|n| n > MOST_CELLS as u64)
        {
            return Err(VoxelizeError::TooMany(wanted));
        }
        let mut sums = Sums::new(low.as_dvec3(), f64::from(cell), wanted.map(|c| c as usize));
        for t in triangles {
            sums.add(t.map(|v| positions[v as usize].as_dvec3()));
        }
        sums.finish(low, cell)
    }

    /// Voxels of a mesh of tetrahedra.
    ///
    /// # Errors
    /// See [`VoxelizeError`].
    pub fn from_tets(mesh: &TetMesh, cell: f32) -> Result<Self, VoxelizeError> {
        let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        Self::from_surface(mesh.positions(), &triangles, cell)
    }

    /// Occupancies given directly: a scanned or computed volume, x running fastest.
    ///
    /// # Errors
    /// When the number of values is not the product of the counts, or a value is
    /// not between 0 and 1.
    pub fn from_volume(
        origin: Vec3,
        cell: f32,
        counts: [u32; 3],
        occupancy: Vec<f32>,
    ) -> Result<Self, VolumeError> {
        let cells = counts
            .iter()
            .try_fold(1_usize, |n, &c| n.checked_mul(c as usize));
        if cells != Some(occupancy.len()) {
            return Err(VolumeError::WrongCount {
                counts,
                values: occupancy.len(),
            });
        }
        if let Some(at) = occupancy.iter().position(|v| !(0.0..=1.0).contains(v)) {
            return Err(VolumeError::OutOfRange {
                at,
                value: occupancy[at],
            });
        }
        if !(cell > 0.0 && cell.is_finite() && origin.is_finite()) {
            return Err(VolumeError::BadCell(cell));
        }
        Ok(Self {
            origin,
            cell,
            counts,
            content: vec![WHOLE_VOXEL; occupancy.len()],
            occupancy,
        })
    }

    /// The low corner of the first voxel.
    #[must_use]
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// The edge of a voxel.
    #[must_use]
    pub fn cell(&self) -> f32 {
        self.cell
    }

    /// Voxels along x, y and z.
    #[must_use]
    pub fn counts(&self) -> [u32; 3] {
        self.counts
    }

    /// How full a voxel is, 0 outside the grid.
    #[must_use]
    pub fn occupancy(&self, at: [i64; 3]) -> f32 {
        let [nx, ny, nz] = self.counts.map(i64::from);
        let [x, y, z] = at;
        if x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz {
            return 0.0;
        }
        self.occupancy[((z * ny + y) * nx + x) as usize]
    }

    /// The volume of the object: occupancies times the volume of a voxel.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.occupancy.iter().map(|&o| f64::from(o)).sum::<f64>() * f64::from(self.cell).powi(3)
    }
}

/// Why an array of values is not a volume.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum VolumeError {
    /// The number of values is not the product of the counts.
    #[error("a volume of {counts:?} voxels cannot hold {values} values")]
    WrongCount {
        /// Voxels along each axis.
        counts: [u32; 3],
        /// Values given.
        values: usize,
    },
    /// A value is not a share.
    #[error("value {at} is {value}: occupancies lie between 0 and 1")]
    OutOfRange {
        /// Index of the value.
        at: usize,
        /// The value.
        value: f32,
    },
    /// The cell is not a positive length.
    #[error("a voxel cannot have an edge of {0}")]
    BadCell(f32),
}

fn check(positions: &[Vec3], triangles: &[[u32; 3]], cell: f32) -> Result<(), VoxelizeError> {
    if !(cell > 0.0 && cell.is_finite()) {
        return Err(VoxelizeError::BadCell(cell));
    }
    if triangles.is_empty() {
        return Err(VoxelizeError::Empty);
    }
    for (triangle, t) in triangles.iter().enumerate() {
        for &vertex in t {
            let Some(p) = positions.get(vertex as usize) else {
                return Err(VoxelizeError::VertexOutOfRange {
                    triangle,
                    vertex,
                    vertices: positions.len(),
                });
            };
            if !p.is_finite() {
                return Err(VoxelizeError::NotFinite { vertex });
            }
        }
    }
    Ok(())
}

/// What the triangles have added so far, in units of cells.
pub(super) struct Sums {
    origin: DVec3,
    cell: f64,
    counts: [usize; 3],
    margin: f64,
    /// Volume that belongs to this voxel alone.
    own: Vec<f64>,
    /// Area that fills every voxel below this one in its column.
    below: Vec<f64>,
    touched: Vec<bool>,
    content: Vec<ContentBox>,
}

impl Sums {
    pub(super) fn new(origin: DVec3, cell: f64, counts: [usize; 3]) -> Self {
        let cells = counts.iter().product();
        Self {
            origin,
            cell,
            counts,
            margin: TOUCH_MARGIN,
            own: vec![0.0; cells],
            below: vec![0.0; cells],
            touched: vec![false; cells],
            content: vec![NO_BOX; cells],
        }
    }

    /// Starts anew on another grid, keeping the memory alone.
    pub(super) fn restart(&mut self, origin: DVec3, cell: f64, counts: [usize; 3], margin: f64) {
        let cells = counts.iter().product();
        (self.origin, self.cell, self.counts, self.margin) = (origin, cell, counts, margin);
        for values in [&mut self.own, &mut self.below] {
            values.clear();
            values.resize(cells, 0.0);
        }
        self.touched.clear();
        self.touched.resize(cells, false);
        self.content.clear();
        self.content.resize(cells, NO_BOX);
    }

    /// Calls `visit` with place, filled share and content of every voxel that what
    /// was added touches or fills.
    pub(super) fn for_each(&self, mut visit: impl FnMut([usize; 3], f64, ContentBox)) {
        let [nx, ny, nz] = self.counts;
        for y in 0..ny {
            for x in 0..nx {
                let mut full = 0.0;
                for z in (0..nz).rev() {
                    let at = self.index(x, y, z);
                    let filled = self.own[at] + full;
                    full += self.below[at];
                    if self.touched[at] {
                        visit([x, y, z], filled.clamp(0.0, 1.0), self.box_of(at));
                    } else if filled > 0.5 {
                        visit([x, y, z], 1.0, WHOLE_VOXEL);
                    }
                }
            }
        }
    }

    /// The content of a touched voxel; all of it where rounding saw none.
    fn box_of(&self, at: usize) -> ContentBox {
        let found = self.content[at];
        if found[0] > found[3] {
            WHOLE_VOXEL
        } else {
            found
        }
    }

    fn index(&self, x: usize, y: usize, z: usize) -> usize {
        (z * self.counts[1] + y) * self.counts[0] + x
    }

    pub(super) fn add(&mut self, corners: [DVec3; 3]) {
        // Cells as unit: the voxel (i, j, k) is the cube from (i, j, k) to (i+1, j+1, k+1).
        let corners = corners.map(|p| (p - self.origin) / self.cell);
        let normal_z = (corners[1] - corners[0]).cross(corners[2] - corners[0]).z;
        let triangle = Polygon::new(&corners);
        // Slabs, rods, cubes: what is cut once is not cut again. A margin wider than
        // the voxel, so that whoever touches it is seen.
        let (counts, margin) = (self.counts, self.margin);
        for x in triangle.range(0, counts, margin) {
            let slab = triangle.part(0, x, margin);
            for y in slab.range(1, counts, margin) {
                let rod = slab.part(1, y, margin);
                if rod.len == 0 {
                    continue;
                }
                self.add_column(&rod, normal_z, x, y);
                for z in rod.range(2, counts, margin) {
                    let inside = rod.part(2, z, margin);
                    if inside.len > 0 {
                        let at = self.index(x, y, z);
                        let low = DVec3::new(x as f64, y as f64, z as f64);
                        self.touched[at] = true;
                        self.content[at] = join_boxes(self.content[at], inside.content(low));
                    }
                }
            }
        }
    }

    /// Adds the volume below a polygon that lies in one column, but for the margin.
    fn add_column(&mut self, rod: &Polygon, normal_z: f64, x: usize, y: usize) {
        if normal_z == 0.0 {
            return;
        }
        let sign = normal_z.signum();
        let mut shadow = rod.clone();
        shadow.clip_to(0, x as f64, x as f64 + 1.0);
        shadow.clip_to(1, y as f64, y as f64 + 1.0);
        if shadow.len < 3 {
            return;
        }
        let (lowest, highest) = shadow.extent(2);
        let top = self.counts[2] - 1;
        let (first, last) = (
            (lowest.floor().max(0.0) as usize).min(top),
            (highest.floor().max(0.0) as usize).min(top),
        );
        let at = self.index(x, y, first);
        self.below[at] += sign * shadow.area();
        for z in first..=last {
            let mut inside = shadow.clone();
            inside.clip_to(2, z as f64, z as f64 + 1.0);
            let mut filled = inside.height_integral(z as f64);
            if z < last {
                let mut above = shadow.clone();
                above.clip_to(2, z as f64 + 1.0, f64::INFINITY);
                filled += above.area();
            }
            let at = self.index(x, y, z);
            self.own[at] += sign * filled;
        }
    }

    pub(super) fn finish(self, origin: Vec3, cell: f32) -> Result<VoxelGrid, VoxelizeError> {
        let [nx, ny, nz] = self.counts;
        let mut occupancy = vec![0.0; self.own.len()];
        let mut content = vec![WHOLE_VOXEL; self.own.len()];
        for y in 0..ny {
            for x in 0..nx {
                let mut full = 0.0;
                for z in (0..nz).rev() {
                    let at = self.index(x, y, z);
                    let filled = self.own[at] + full;
                    full += self.below[at];
                    occupancy[at] = if self.touched[at] {
                        content[at] = self.box_of(at);
                        (filled.clamp(0.0, 1.0) as f32).max(LEAST_OCCUPANCY)
                    } else {
                        let whole = filled.round();
                        if (filled - whole).abs() > 1e-3 || whole < 0.0 {
                            return Err(VoxelizeError::NotClosed {
                                at: [x as u32, y as u32, z as u32],
                                filled,
                            });
                        }
                        whole.min(1.0) as f32
                    };
                }
            }
        }
        Ok(VoxelGrid {
            origin,
            cell,
            counts: self.counts.map(|c| c as u32),
            occupancy,
            content,
        })
    }
}

/// Calls `visit` with every voxel that a triangle touches within a margin; cells are
/// the unit, and the grid begins at the origin.
pub(super) fn for_each_touched(
    corners: &[DVec3; 3],
    counts: [usize; 3],
    margin: f64,
    mut visit: impl FnMut([usize; 3]),
) {
    let triangle = Polygon::new(corners);
    for x in triangle.range(0, counts, margin) {
        let slab = triangle.part(0, x, margin);
        for y in slab.range(1, counts, margin) {
            let rod = slab.part(1, y, margin);
            for z in rod.range(2, counts, margin) {
                if rod.part(2, z, margin).len > 0 {
                    visit([x, y, z]);
                }
            }
        }
    }
}

/// A convex polygon of at most three corners and six cuts.
#[derive(Clone)]
struct Polygon {
    points: [DVec3; 9],
    len: usize,
}

impl Polygon {
    fn new(corners: &[DVec3; 3]) -> Self {
        let mut points = [DVec3::ZERO; 9];
        points[..3].copy_from_slice(corners);
        Self { points, len: 3 }
    }

    fn points(&self) -> &[DVec3] {
        &self.points[..self.len]
    }

    /// The voxels along an axis that it may touch.
    fn range(&self, axis: usize, counts: [usize; 3], margin: f64) -> std::ops::Range<usize> {
        if self.len == 0 {
            return 0..0;
        }
        let (low, high) = self.extent(axis);
        if high < -margin {
            return 0..0;
        }
        let first = (low - margin).floor().max(0.0) as usize;
        let last = (high + margin).floor().max(0.0) as usize;
        first..last.saturating_add(1).min(counts[axis])
    }

    /// The part of it that touches voxel `at` along an axis.
    fn part(&self, axis: usize, at: usize, margin: f64) -> Self {
        let mut part = self.clone();
        part.clip_to(axis, at as f64 - margin, at as f64 + 1.0 + margin);
        part
    }

    /// The lowest and highest coordinate along an axis.
    fn extent(&self, axis: usize) -> (f64, f64) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for p in self.points() {
            (low, high) = (low.min(p[axis]), high.max(p[axis]));
        }
        (low, high)
    }

    /// Keeps the part whose coordinate `axis` lies between two limits.
    fn clip_to(&mut self, axis: usize, low: f64, high: f64) {
        let extent = self.extent(axis);
        if extent.0 < low {
            self.clip(axis, low, 1.0);
        }
        if extent.1 > high {
            self.clip(axis, high, -1.0);
        }
    }

    /// Keeps the part whose coordinate `axis` is at least `limit` (`side` 1) or at
    /// most (`side` -1).
    fn clip(&mut self, axis: usize, limit: f64, side: f64) {
        let mut kept = [DVec3::ZERO; 9];
        let mut count = 0;
        let Some(&last) = self.points().last() else {
            return;
        };
        let (mut p, mut a) = (last, side * (last[axis] - limit));
        for &q in self.points() {
            let b = side * (q[axis] - limit);
            if (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0) {
                let mut cut = p + (q - p) * (a / (a - b));
                cut[axis] = limit;
                kept[count] = cut;
                count += 1;
            }
            if b >= 0.0 {
                kept[count] = q;
                count += 1;
            }
            (p, a) = (q, b);
        }
        (self.points, self.len) = (kept, count);
    }

    /// The box around it, in the voxel whose low corner is `low`.
    fn content(&self, low: DVec3) -> ContentBox {
        let mut found = NO_BOX;
        for p in self.points() {
            let p = (*p - low) * 255.0;
            for k in 0..3 {
                // A 255th more on each side outweighs the margin; casts saturate.
                found[k] = found[k].min((p[k] - 0.01).floor() as u8);
                found[k + 3] = found[k + 3].max((p[k] + 0.01).ceil() as u8);
            }
        }
        found
    }

    /// Area of the shadow on the xy plane.
    fn area(&self) -> f64 {
        self.fan().map(|(area, _)| area).sum::<f64>()
    }

    /// Integral of z - `floor` over the shadow.
    fn height_integral(&self, floor: f64) -> f64 {
        self.fan()
            .map(|(area, height)| area * (height - floor))
            .sum::<f64>()
    }

    /// Unsigned shadow area and mean z of the triangles of a fan.
    fn fan(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        (1..self.len.max(2) - 1).map(|i| {
            let [a, b, c] = [self.points[0], self.points[i], self.points[i + 1]];
            (0.5 * (b - a).cross(c - a).z.abs(), (a.z + b.z + c.z) / 3.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::TetMesh;
    use fracas_geometry::testing::{Rng, box_grid};

    #[test]
    fn a_voxel_whose_content_nobody_saw_is_whole() {
        let mut sums = Sums::new(DVec3::ZERO, 1.0, [1, 1, 1]);
        assert_eq!(sums.box_of(0), WHOLE_VOXEL);
        // A sheet has content without thickness.
        let mut sheet = WHOLE_VOXEL;
        sheet[3] = sheet[0];
        sums.content[0] = sheet;
        assert_eq!(sums.box_of(0), sheet);
    }

    fn surface(mesh: &TetMesh) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        (
            mesh.positions().to_vec(),
            mesh.boundary().map(|f| f.nodes).collect(),
        )
    }

    fn cuboid(size: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        surface(&box_grid([1, 1, 1], size))
    }

    fn assert_volume(positions: &[Vec3], triangles: &[[u32; 3]], cell: f32, volume: f64) {
        let grid = VoxelGrid::from_surface(positions, triangles, cell).unwrap();
        let error = (grid.volume() - volume).abs() / volume;
        assert!(
            error < 1e-3,
            "cell {cell}: {} instead of {volume}",
            grid.volume()
        );
    }

    #[test]
    fn two_cubes_a_needle_a_thin_plate_and_a_shell_keep_their_volume() {
        let (mut p, mut t) = cuboid(Vec3::ONE);
        let (q, u) = cuboid(Vec3::splat(0.7));
        t.extend(u.iter().map(|f| f.map(|v| v + p.len() as u32)));
        p.extend(q.iter().map(|v| *v + Vec3::new(1.5, 0.2, -0.3)));
        for cell in [0.03, 0.11, 0.4] {
            assert_volume(&p, &t, cell, 1.0 + 0.343);
        }
        let (p, t) = cuboid(Vec3::new(2.0, 0.01, 0.013));
        assert_volume(&p, &t, 0.1, 2.0 * 0.01 * 0.013);
        let (p, t) = cuboid(Vec3::new(1.0, 1.0, 0.004));
        assert_volume(&p, &t, 0.05, 0.004);
        // A hollow shell: the inner box with its faces turned round.
        let (mut p, mut t) = cuboid(Vec3::ONE);
        let (q, u) = cuboid(Vec3::splat(0.9));
        t.extend(
            u.iter()
                .map(|f| [f[0], f[2], f[1]].map(|v| v + p.len() as u32)),
        );
        p.extend(q.iter().map(|v| *v + 0.05));
        assert_volume(&p, &t, 0.08, 1.0 - 0.729);
    }

    #[test]
    fn a_tilted_box_keeps_its_volume_and_no_touched_voxel_is_empty() {
        let (p, t) = cuboid(Vec3::new(1.0, 0.6, 0.3));
        let turn = glam::Mat3::from_rotation_x(0.4) * glam::Mat3::from_rotation_z(0.7);
        let p: Vec<Vec3> = p.iter().map(|v| turn * *v).collect();
        assert_volume(&p, &t, 0.07, 0.18);
        let grid = VoxelGrid::from_surface(&p, &t, 0.07).unwrap();
        let mut rng = Rng(5);
        for _ in 0..20_000 {
            let tri = t[rng.below(t.len())].map(|v| p[v as usize]);
            let (a, b) = (rng.unit(), rng.unit());
            let (a, b) = if a + b > 1.0 {
                (1.0 - a, 1.0 - b)
            } else {
                (a, b)
            };
            let point = tri[0] + (tri[1] - tri[0]) * a + (tri[2] - tri[0]) * b;
            let at = ((point - grid.origin()) / grid.cell()).floor();
            let filled = grid.occupancy([at.x as i64, at.y as i64, at.z as i64]);
            assert!(filled > 0.0, "{point} lies in an empty voxel");
        }
    }

    /// Separating axes: a triangle, relative to the centre of an axis-aligned cube,
    /// against a cube of half edge `half`. Touching counts.
    fn triangle_touches_cube(t: [DVec3; 3], half: f64) -> bool {
        let separated = |axis: DVec3| {
            let [a, b, c] = t.map(|p| p.dot(axis));
            let reach = half * (axis.x.abs() + axis.y.abs() + axis.z.abs());
            a.min(b).min(c) > reach || a.max(b).max(c) < -reach
        };
        let edges = [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
        !(DVec3::AXES.into_iter().any(separated)
            || separated(edges[0].cross(edges[1]))
            || edges
                .into_iter()
                .any(|e| DVec3::AXES.into_iter().any(|a| separated(a.cross(e)))))
    }

    #[test]
    fn touched_voxels_are_those_that_separating_axes_find() {
        let mut rng = Rng(31);
        let mut touched = 0;
        for case in 0..400 {
            let mut corner = || rng.in_box(Vec3::ZERO, Vec3::splat(4.0)).as_dvec3();
            let mut triangle = [corner(), corner(), corner()];
            match case % 4 {
                // Corners on the grid, flat ones, needles: what clipping may get wrong.
                0 => triangle = triangle.map(DVec3::round),
                1 => triangle.iter_mut().for_each(|p| p.y = 2.0),
                2 => triangle[2] = triangle[0].lerp(triangle[1], 0.5),
                _ => {}
            }
            let mut sums = Sums::new(DVec3::ZERO, 1.0, [4; 3]);
            sums.add(triangle);
            for i in 0..64 {
                let [x, y, z] = [i % 4, i / 4 % 4, i / 16];
                let middle = DVec3::new(x as f64, y as f64, z as f64) + 0.5;
                let about = |half| triangle_touches_cube(triangle.map(|p| p - middle), half);
                let seen = sums.touched[sums.index(x, y, z)];
                assert!(
                    seen || !about(0.5),
                    "case {case}: voxel {middle} is touched"
                );
                assert!(!seen || about(0.5 + 2e-6), "case {case}: {middle} is not");
                touched += usize::from(seen);
            }
        }
        assert!(touched > 3000, "{touched}");
    }

    #[test]
    fn occupancy_is_a_true_fraction() {
        // A box of 2 x 2 x 2 voxels, laid so that each holds an eighth of the cube.
        let (p, t) = cuboid(Vec3::ONE);
        let grid = VoxelGrid::from_surface(&p, &t, 1.0).unwrap();
        assert_eq!(grid.counts(), [2, 2, 2]);
        for o in &grid.occupancy {
            assert!((o - 0.125).abs() < 1e-6, "{o}");
        }
    }

    #[test]
    fn an_open_surface_is_refused() {
        let (p, mut t) = cuboid(Vec3::ONE);
        t.pop();
        t.pop();
        assert!(matches!(
            VoxelGrid::from_surface(&p, &t, 0.1),
            Err(VoxelizeError::NotClosed { .. })
        ));
        assert_eq!(
            VoxelGrid::from_surface(&p, &[], 0.1),
            Err(VoxelizeError::Empty)
        );
        assert_eq!(
            VoxelGrid::from_surface(&p, &t, 0.0),
            Err(VoxelizeError::BadCell(0.0))
        );
        assert!(matches!(
            VoxelGrid::from_surface(&p, &t, 1e-9),
            Err(VoxelizeError::TooMany(_))
        ));
    }
}
