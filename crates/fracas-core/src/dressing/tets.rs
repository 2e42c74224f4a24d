//! Tetrahedra of the cage: which one holds a point, which a box may meet.

use glam::DVec3;

use crate::tet_mesh::{TET_FACES, TetMesh};

use super::polygon::{Polygon, Tag};

/// A tetrahedron with places in double precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct CageTet {
    pub corners: [DVec3; 4],
    /// Normal and origin of each face, by its nodes in their order: the two tetrahedra
    /// of a face compute the same heights. And whether this one lies above.
    planes: [(DVec3, DVec3, bool); 4],
}

impl CageTet {
    pub fn new(nodes: [u32; 4], places: &[DVec3]) -> Self {
        let corners = nodes.map(|n| places[n as usize]);
        let planes = std::array::from_fn(|i| {
            let mut face = TET_FACES[i].map(|k| nodes[k]);
            // Faces are listed to be seen from outside; an odd order turns them over.
            let mut above = false;
            for (j, k) in [(0, 1), (1, 2), (0, 1)] {
                if face[j] > face[k] {
                    face.swap(j, k);
                    above = !above;
                }
            }
            let [a, b, c] = face.map(|n| places[n as usize]);
            ((b - a).cross(c - a), a, above)
        });
        Self { corners, planes }
    }

    fn height(&self, face: usize, p: DVec3) -> f64 {
        let (normal, origin, _) = self.planes[face];
        normal.dot(p - origin)
    }

    /// Whether it holds a point. Of two tetrahedra with a common face one holds it.
    pub fn holds(&self, p: DVec3) -> bool {
        (0..4).all(|i| (self.height(i, p) > 0.0) == self.planes[i].2)
    }

    /// What of a polygon lies inside; what lies outside, in convex parts, goes to `rest`.
    /// `faces` are the numbers of its faces.
    pub fn clip(
        &self,
        polygon: &Polygon,
        faces: [u32; 4],
        mut rest: Option<&mut Vec<Polygon>>,
    ) -> Polygon {
        let mut inside = *polygon;
        for i in 0..4 {
            let (upper, lower) = inside.split(|p| self.height(i, p), Tag::Face(faces[i]));
            let (kept, left) = if self.planes[i].2 {
                (upper, lower)
            } else {
                (lower, upper)
            };
            if let Some(rest) = rest.as_deref_mut()
                && !left.is_empty()
            {
                rest.push(left);
            }
            inside = kept;
            if inside.is_empty() {
                break;
            }
        }
        inside
    }

    pub fn volume(&self) -> f64 {
        let [a, b, c, d] = self.corners;
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    /// The linear function that has these values at the corners: value at the first
    /// corner, and gradient.
    pub fn linear_of([a, b, c, d]: [DVec3; 4], levels: [f64; 4]) -> (f64, DVec3) {
        let (u, v, w) = (b - a, c - a, d - a);
        let volume = u.cross(v).dot(w);
        let gradient = (v.cross(w) * (levels[1] - levels[0])
            + w.cross(u) * (levels[2] - levels[0])
            + u.cross(v) * (levels[3] - levels[0]))
            / volume;
        (levels[0], gradient)
    }

    pub fn bounds(&self) -> (DVec3, DVec3) {
        let [a, b, c, d] = self.corners;
        (a.min(b).min(c).min(d), a.max(b).max(c).max(d))
    }
}

/// The box around points.
pub(super) fn bounds(points: &[DVec3]) -> (DVec3, DVec3) {
    let low = points.iter().fold(DVec3::INFINITY, |m, &p| m.min(p));
    let high = points.iter().fold(DVec3::NEG_INFINITY, |m, &p| m.max(p));
    (low, high)
}

/// All tetrahedra of the cage in a grid.
pub(super) struct TetGrid<'a> {
    mesh: &'a TetMesh,
    places: &'a [DVec3],
    low: DVec3,
    cell: f64,
    size: [usize; 3],
    first: Vec<u32>,
    entries: Vec<u32>,
}

impl<'a> TetGrid<'a> {
    pub fn build(mesh: &'a TetMesh, places: &'a [DVec3]) -> Self {
        let (low, high) = bounds(places);
        // About a cell for each tetrahedron, and no more than a few millions.
        let span = (high - low).max(DVec3::splat(1e-30));
        let count = (mesh.tets().len() as f64 * 2.0).clamp(1.0, 4e6);
        let cell = libm::cbrt(span.x * span.y * span.z / count)
            .max(span.max_element() / 200.0)
            .max(1e-300);
        let size = (span / cell).to_array().map(|x| x as usize + 1);
        let mut grid = Self {
            mesh,
            places,
            low,
            cell,
            size,
            first: vec![0; size.iter().product::<usize>() + 1],
            entries: Vec::new(),
        };
        let mut cells = Vec::new();
        for t in 0..mesh.tets().len() as u32 {
            let (low, high) = grid.tet(t).bounds();
            grid.each_cell(low, high, |cell| cells.push((cell as u32, t)));
        }
        cells.sort_unstable();
        for &(cell, _) in &cells {
            grid.first[cell as usize + 1] += 1;
        }
        for i in 1..grid.first.len() {
            grid.first[i] += grid.first[i - 1];
        }
        grid.entries = cells.into_iter().map(|(_, t)| t).collect();
        grid
    }

    pub fn tet(&self, t: u32) -> CageTet {
        CageTet::new(self.mesh.tets()[t as usize], self.places)
    }

    fn range(&self, low: DVec3, high: DVec3) -> ([usize; 3], [usize; 3]) {
        let cell = |p: DVec3| {
            let at = (p - self.low) / self.cell;
            let [x, y, z] = at.to_array();
            let clamp = |v: f64, n: usize| (v.max(0.0) as usize).min(n - 1);
            [
                clamp(x, self.size[0]),
                clamp(y, self.size[1]),
                clamp(z, self.size[2]),
            ]
        };
        (cell(low), cell(high))
    }

    fn each_cell(&self, low: DVec3, high: DVec3, mut visit: impl FnMut(usize)) {
        let (a, b) = self.range(low, high);
        for z in a[2]..=b[2] {
            for y in a[1]..=b[1] {
                for x in a[0]..=b[0] {
                    visit((z * self.size[1] + y) * self.size[0] + x);
                }
            }
        }
    }

    /// Tetrahedra whose cells meet a box, in increasing order.
    pub fn near(&self, low: DVec3, high: DVec3, found: &mut Vec<u32>) {
        found.clear();
        self.each_cell(low, high, |cell| {
            let range = self.first[cell] as usize..self.first[cell + 1] as usize;
            found.extend_from_slice(&self.entries[range]);
        });
        found.sort_unstable();
        found.dedup();
    }

    /// A tetrahedron that holds a point.
    pub fn holding(&self, p: DVec3) -> Option<u32> {
        let mut found = None;
        self.each_cell(p, p, |cell| {
            let range = self.first[cell] as usize..self.first[cell + 1] as usize;
            let entries = &self.entries[range];
            found = entries.iter().copied().find(|&t| self.tet(t).holds(p));
        });
        found
    }

    pub fn cell_size(&self) -> f64 {
        self.cell
    }
}
