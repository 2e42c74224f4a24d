//! The exact distance of the unbroken object's surface on a regular grid.
//!
//! Steps: for every grid point, the closest boundary triangle by the tree, with the
//! one of the point before as a first bound -> its distance, signed by whether a
//! tetrahedron holds the point, its index, and that tetrahedron.
//!
//! Source: Glondu 2013, section 4.4 ("a distance field on a dense regular grid").
//! **Deviation**: next to the distance the closest triangle is kept. Inside, the
//! distance to that triangle is an upper bound of the exact one and mostly equal to
//! it; an interpolated distance would be neither.
//!
//! **Guarantee**: outside, the distance at a grid point minus the way to it is a
//! lower bound of the distance to the object, hence to every fragment.

use glam::Vec3;

use super::feature::{FeatureId, Features};
use super::locate::{Cells, TetGrid};
use super::object_data::{ObjectDataError, all_fit, has_length};
use crate::tet_mesh::{NONE, TetMesh};
use crate::triangle_tree::TriangleTree;

/// Grid points are the centres of the cells.
#[derive(Clone, Debug)]
pub(super) struct OuterSurface {
    cells: Cells,
    points: Vec<GridPoint>,
}

#[derive(Clone, Copy, Debug)]
struct GridPoint {
    /// Negative inside.
    distance: f32,
    /// The closest boundary triangle.
    triangle: FeatureId,
    /// The tetrahedron that holds the point, or, outside, that of the triangle.
    tet: u32,
}

impl OuterSurface {
    /// The cells of the grid.
    fn cells(mesh: &TetMesh, cell: f32, most: u32) -> Cells {
        let (low, high) = mesh.bounds();
        let most = most.clamp(2, 1024) as i32;
        // Two cells of air around, so that what comes near is bounded too.
        let size = cell.max((high - low).max_element() / most as f32);
        let margin = Vec3::splat(2.0 * size);
        Cells::new(low - margin, high + margin, size, most + 5, 1 << 27)
    }

    /// Bits of the distance, triangle and tetrahedron of every grid point: what takes long to
    /// compute.
    pub(super) fn parts(&self) -> Vec<[u32; 3]> {
        let points = self.points.iter();
        points
            .map(|p| [p.distance.to_bits(), p.triangle, p.tet])
            .collect()
    }

    /// The grid from its parts.
    ///
    /// # Errors
    /// Where they do not fit the mesh.
    pub(super) fn from_parts(
        mesh: &TetMesh,
        features: &Features,
        (cell, most): (f32, u32),
        points: &[[u32; 3]],
    ) -> Result<Self, ObjectDataError> {
        let cells = Self::cells(mesh, cell, most);
        let list = "the points of the surface's grid";
        has_length(list, points.len(), cells.total())?;
        let (faces, count) = (features.outer_count() as u32, mesh.tets().len() as u32);
        all_fit(list, points, |[distance, triangle, tet]| {
            f32::from_bits(distance).is_finite() & (triangle < faces) & (tet < count)
        })?;
        let points = points.iter().map(|&[distance, triangle, tet]| GridPoint {
            distance: f32::from_bits(distance),
            triangle,
            tet,
        });
        Ok(Self {
            cells,
            points: points.collect(),
        })
    }

    /// The grid with cells of about `cell`, at most `most` along the longest side.
    pub(super) fn build(
        mesh: &TetMesh,
        tree: &TriangleTree,
        tets: &TetGrid,
        features: &Features,
        cell: f32,
        most: u32,
    ) -> Self {
        let cells = Self::cells(mesh, cell, most);
        let mut points = Vec::with_capacity(cells.total());
        let [nx, ny, nz] = cells.counts;
        let mut last = f32::INFINITY;
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let p = cells.low_corner([x, y, z]) + Vec3::splat(cells.size * 0.5);
                    // One step away nothing can be farther than the last distance
                    // and the step; a row's first point is many steps away.
                    let bound = if x == 0 {
                        f32::INFINITY
                    } else {
                        (last + cells.size) * 1.001
                    };
                    let found = tree
                        .closest(p, bound)
                        .or_else(|| tree.closest(p, f32::INFINITY));
                    let (distance, id) =
                        found.map_or((0.0, 0), |c| (c.distance_squared.sqrt(), c.id));
                    last = distance;
                    let holder = tets.locate(mesh, p).map(|at| at.tet);
                    points.push(GridPoint {
                        distance: if holder.is_some() {
                            -distance
                        } else {
                            distance
                        },
                        triangle: id,
                        tet: holder.unwrap_or(features.origin(id).1 / 4),
                    });
                }
            }
        }
        Self { cells, points }
    }

    /// The boundary triangle closest to the grid point nearest to `p`, and a lower
    /// bound of the distance from `p` to any boundary triangle. [`NONE`] off the grid.
    #[inline]
    pub(super) fn triangle_near(&self, p: Vec3) -> (FeatureId, f32) {
        let cell = self.cells.cell_of(p);
        let Some(at) = self.cells.index(cell) else {
            return (NONE, f32::INFINITY);
        };
        let GridPoint {
            distance, triangle, ..
        } = self.points[at];
        let centre = self.cells.low_corner(cell) + Vec3::splat(self.cells.size * 0.5);
        (triangle, distance.abs() - p.distance(centre) * (1.0 + 1e-5))
    }

    /// A lower bound of the distance from `p` to the object; zero when `p` may be
    /// inside, or is off the grid.
    #[inline]
    pub(super) fn least_distance(&self, p: Vec3) -> f32 {
        let cell = self.cells.cell_of(p);
        let Some(at) = self.cells.index(cell) else {
            return 0.0;
        };
        let centre = self.cells.low_corner(cell) + Vec3::splat(self.cells.size * 0.5);
        // The last factors cover rounding.
        (self.points[at].distance * (1.0 - 1e-5) - p.distance(centre) * (1.0 + 1e-5)).max(0.0)
    }

    /// Whether `p` is certainly outside the object, when no surface is nearer to it than
    /// `free`: the ball around it reaches into the one around a grid point outside.
    #[inline]
    pub(super) fn is_outside(&self, p: Vec3, free: f32) -> bool {
        let cell = self.cells.cell_of(p);
        let Some(at) = self.cells.index(cell) else {
            return false;
        };
        let centre = self.cells.low_corner(cell) + Vec3::splat(self.cells.size * 0.5);
        let least = self.points[at].distance * (1.0 - 1e-5);
        least > 0.0 && least + free * (1.0 - 1e-5) > p.distance(centre) * (1.0 + 1e-5)
    }

    /// A tetrahedron near `p`, from which to look for the one that holds it; `None` when
    /// `p` is certainly outside the object.
    #[inline]
    pub(super) fn tet_near(&self, p: Vec3) -> Option<u32> {
        let cell = self.cells.cell_of(p);
        let point = &self.points[self.cells.index(cell)?];
        let centre = self.cells.low_corner(cell) + Vec3::splat(self.cells.size * 0.5);
        let least = point.distance * (1.0 - 1e-5);
        // Squared, with the sign of a distance: what is inside is never certain.
        let certain = least > 0.0 && least * least > p.distance_squared(centre) * (1.0 + 3e-5);
        (!certain).then_some(point.tet)
    }

    pub(super) fn bytes(&self) -> usize {
        self.points.len() * size_of::<GridPoint>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};

    /// The signed distance of a box from the origin, negative inside.
    fn exact(p: Vec3, size: Vec3) -> f32 {
        let off = (p - size * 0.5).abs() - size * 0.5;
        let outside = off.max(Vec3::ZERO).length();
        outside + off.max_element().min(0.0)
    }

    #[test]
    fn bounds_of_the_distance_are_bounds_and_as_tight_as_cells_allow() {
        let size = Vec3::new(4.0, 3.0, 5.0);
        let mesh = box_grid([4, 3, 5], size);
        let features = Features::new(&mesh);
        let corners = (0..features.outer_count()).map(|at| features.outer_corners(&mesh, at));
        let tree = TriangleTree::build(&corners.collect::<Vec<_>>());
        let tets = TetGrid::build(&mesh, 2.0);
        let grid = OuterSurface::build(&mesh, &tree, &tets, &features, 0.5, 64);
        assert_eq!(grid.cells.size, 0.5);
        assert_eq!(grid.cells.counts, [13, 11, 15], "two cells of air around");
        assert_eq!(grid.bytes(), 13 * 11 * 15 * 12);
        let coarse = OuterSurface::cells(&mesh, 0.5, 5);
        assert_eq!(coarse.size, 1.0, "no more than five along five units");
        let mut rng = Rng(5);
        let mut certain = [0; 2];
        for _ in 0..3000 {
            let p = rng.in_box(Vec3::splat(-0.99), size + Vec3::splat(0.99));
            let distance = exact(p, size);
            let cell = grid.cells.cell_of(p);
            let centre = grid.cells.low_corner(cell) + Vec3::splat(0.25);
            let way = p.distance(centre);
            // The nearest triangle of the centre, from the centre's own distance.
            let (triangle, least) = grid.triangle_near(p);
            let of_centre = exact(centre, size).abs();
            assert!((least - (of_centre - way)).abs() < 1e-3);
            let to = features.find_way_to(&mesh, triangle, centre).length();
            assert!((to - of_centre).abs() < 1e-5);
            // Outside as tight as the way to the centre; inside it knows nothing.
            let least = grid.least_distance(p);
            assert!(
                least <= distance.max(0.0) + 1e-6,
                "{p}: {least} of {distance}"
            );
            let known = (exact(centre, size) - way).max(0.0);
            assert!((least - known).abs() < 1e-3, "{p}: {least} of {known}");
            // With the free ball around p, what is outside is known to be.
            let free = distance.abs();
            let outside = exact(centre, size) > 0.0;
            let reached = exact(centre, size) + free - way;
            if reached.abs() > 1e-3 {
                assert_eq!(grid.is_outside(p, free), outside && reached > 0.0, "{p}");
            }
            assert!(distance > -1e-6 || !grid.is_outside(p, free));
            let alone = exact(centre, size) - way;
            if alone.abs() > 1e-3 {
                assert_eq!(grid.tet_near(p).is_none(), alone > 0.0);
                certain[usize::from(alone > 0.0)] += 1;
            }
            if let Some(tet) = grid.tet_near(p) {
                // It holds the centre, or has the triangle that is nearest to it.
                let held = super::super::locate::barycentric(&mesh, tet, centre);
                let holds = held.iter().all(|&l| l > -1e-4);
                assert!(holds || tet == features.origin(triangle).1 / 4);
            }
        }
        assert!(certain.iter().all(|&count| count > 300), "{certain:?}");
        // Off the grid nothing is certain, but for there being no tetrahedron.
        let off = Vec3::splat(-1.5);
        assert_eq!(grid.triangle_near(off), (NONE, f32::INFINITY));
        assert_eq!(grid.least_distance(off), 0.0);
        assert!(!grid.is_outside(off, 1.0));
        assert_eq!(grid.tet_near(off), None);
    }
}
