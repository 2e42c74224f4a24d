//! Dresses fragments in the model's own skin: the triangles that were given, cut at the
//! cracks, and crack faces that reach exactly up to them.
//!
//! What collides is the tet mesh; what is seen is the skin, which may be finer, coarser,
//! open, of several parts. Ahead, [`SkinMap::build`] finds the tetrahedra that each
//! triangle passes, in a cage that holds the whole skin. [`SkinMap::dress`] is asked for
//! one fragment when somebody wants to see it; breaking costs nothing.
//!
//! Steps of [`SkinMap::dress`], for each tetrahedron with a node of the fragment:
//! 1. Triangles that meet no cut tetrahedron stay whole.
//! 2. The others are cut by tetrahedra and by the planes in them; what belongs to the
//!    fragment is joined again, so that only cracks leave their mark on the skin.
//! 3. Sides that a crack plane made are the rim. The crack's polygon in that tetrahedron
//!    is cut back to its rim: polygon by polygon, loops of rim and of the polygon's own
//!    sides are closed and filled.
//!
//! **Guarantee**, where the skin is closed: each fragment is closed, its outside is the
//! input's, and outside and cracks of all fragments enclose what the skin encloses, up to
//! 1e-6 of its size. Where the skin is open, crack faces are those of the tetrahedra.
//!
//! Why a cage: `docs/decisions/0017`.
//!
//! Things that can say where each point of their boundary really is need neither a map
//! nor a cage: [`FineBoundary`] divides the boundary itself, and its pieces are closed
//! however thin the wall (`docs/decisions/0021`).

mod cage;
mod crack_cells;
mod cut_face;
mod divide;
mod dress;
mod ears;
mod fine_boundary;
mod fine_dress;
mod fine_outside;
mod fine_points;
mod names;
mod outline;
mod polygon;
mod solids;
mod tets;

pub use dress::{CrackFace, Dress, SkinCorner, SkinFace};
pub use fine_boundary::{FacePoint, FineBoundary, FinePoint, FineSurface};
pub use fine_outside::Dressed;

use glam::DVec3;
use thiserror::Error;

use crate::tet_mesh::{NONE, TetMesh};

use divide::{Divided, divide};
use polygon::Polygon;
use solids::Solids;
use tets::TetGrid;

/// Why triangles are no skin.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SkinMapError {
    /// There is no triangle.
    #[error("the skin has no triangles")]
    Empty,
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} of the skin is not finite: {position}")]
    NotFinite {
        /// Which.
        vertex: usize,
        /// As given.
        position: DVec3,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} of the skin names vertex {vertex} of {vertices}")]
    VertexOutOfRange {
        /// Which.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
}

/// Lists of numbers, one for each of many things.
#[derive(Clone, Debug, Default)]
struct Lists {
    first: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    fn get(&self, i: u32) -> &[u32] {
        let range = self.first[i as usize] as usize..self.first[i as usize + 1] as usize;
        &self.entries[range]
    }

    /// The other way round: for each of `count` numbers, the lists that hold it.
    fn inverse(&self, count: usize) -> Self {
        let mut first = vec![0_u32; count + 1];
        for &e in &self.entries {
            first[e as usize + 1] += 1;
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let mut next = first.clone();
        let mut entries = vec![0; self.entries.len()];
        for i in 0..self.first.len() as u32 - 1 {
            for &e in self.get(i) {
                entries[next[e as usize] as usize] = i;
                next[e as usize] += 1;
            }
        }
        Self { first, entries }
    }
}

/// How well a skin sits on its tet mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SkinFit {
    /// Samples of the skin that the cage does not hold: their part of the skin belongs
    /// to the nearest fragment, and rims there may gape.
    pub samples_outside: usize,
    /// Closed parts of the skin that count as solids.
    pub solids: usize,
    /// Triangles that belong to no solid: crack faces are not cut back to them.
    pub open_triangles: usize,
    /// Comparisons of a part of a triangle with a tetrahedron that it took to enclose the
    /// skin: a measure of work, bounded by the number of tetrahedra and triangles.
    pub comparisons: u64,
}

/// A skin on a tet mesh, prepared to be cut.
#[derive(Clone, Debug)]
pub struct SkinMap {
    /// Vertices at the same place are one; then the middles of divided sides.
    positions: Vec<DVec3>,
    /// As given.
    given: Vec<[u32; 3]>,
    /// Those that are large against the tetrahedra divided.
    triangles: Vec<[u32; 3]>,
    /// For each of these the given one.
    parent: Vec<u32>,
    cage: Vec<DVec3>,
    /// For each triangle the tetrahedra of the cage that it meets.
    tets_of: Lists,
    /// For each tetrahedron the triangles that meet it.
    triangles_of: Lists,
    /// Triangles of which parts lie in no tetrahedron, or in two: these are parted by
    /// taking from the rest, one tetrahedron after the other.
    careful: Vec<bool>,
    solids: Solids,
    fit: SkinFit,
    size: f64,
}

impl SkinMap {
    /// Lays a skin on a mesh. Triangles keep their numbers.
    ///
    /// # Errors
    /// See [`SkinMapError`].
    pub fn build(
        mesh: &TetMesh,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
    ) -> Result<Self, SkinMapError> {
        check(positions, triangles)?;
        let (positions, given) = welded(positions, triangles);
        let Divided {
            positions,
            triangles,
            parent,
        } = divide(positions, &given, f64::from(mesh.mean_edge_length()));
        let cage::Cage {
            places: cage,
            samples_outside,
            comparisons,
        } = cage::enclose(mesh, &positions, &triangles);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &p in &positions {
            (low, high) = (low.min(p), high.max(p));
        }
        let grid = TetGrid::build(mesh, &cage);
        let (tets_of, careful) = meeting_tets(&grid, &positions, &triangles);
        drop(grid);
        let triangles_of = tets_of.inverse(mesh.tets().len());
        let solids = Solids::build(mesh, &cage, &positions, &triangles, &|tet| {
            triangles_of.get(tet).to_vec()
        });
        let mut open: Vec<u32> = (0..parent.len())
            .filter(|&t| solids.of_triangle[t] == NONE)
            .map(|t| parent[t])
            .collect();
        open.dedup();
        let fit = SkinFit {
            samples_outside,
            solids: solids.count(),
            open_triangles: open.len(),
            comparisons,
        };
        Ok(Self {
            positions,
            given,
            triangles,
            parent,
            cage,
            tets_of,
            triangles_of,
            careful,
            solids,
            fit,
            size: (high - low).length().max(f64::MIN_POSITIVE),
        })
    }

    /// How well it sits.
    #[must_use]
    pub fn fit(&self) -> SkinFit {
        self.fit
    }

    /// How many triangles it has.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn triangle_count(&self) -> usize {
        self.given.len()
    }

    fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|v| self.positions[v as usize])
    }

    /// Whether a triangle is only a part of the one that was given.
    fn is_divided(&self, triangle: u32) -> bool {
        let parent = self.parent[triangle as usize];
        self.given[parent as usize] != self.triangles[triangle as usize]
    }
}

fn check(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), SkinMapError> {
    if triangles.is_empty() {
        return Err(SkinMapError::Empty);
    }
    if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
        let position = positions[vertex];
        return Err(SkinMapError::NotFinite { vertex, position });
    }
    let vertices = positions.len();
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
            return Err(SkinMapError::VertexOutOfRange {
                triangle,
                vertex,
                vertices,
            });
        }
    }
    Ok(())
}

/// Vertices at exactly the same place become one: models part them at seams.
fn welded(positions: &[DVec3], triangles: &[[u32; 3]]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    // Adding zero makes -0 and 0 the same.
    let key = |p: DVec3| (p + DVec3::ZERO).to_array().map(f64::to_bits);
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_by_key(|&v| (key(positions[v as usize]), v));
    let mut new = vec![0; positions.len()];
    let mut places = Vec::new();
    let mut last = None;
    for v in order {
        let here = key(positions[v as usize]);
        if last != Some(here) {
            places.push(positions[v as usize]);
            last = Some(here);
        }
        new[v as usize] = places.len() as u32 - 1;
    }
    let triangles = triangles
        .iter()
        .map(|t| t.map(|v| new[v as usize]))
        .collect();
    (places, triangles)
}

/// The tetrahedra that each triangle meets, and whether they miss some of it or take
/// some of it twice.
fn meeting_tets(
    grid: &TetGrid<'_>,
    positions: &[DVec3],
    triangles: &[[u32; 3]],
) -> (Lists, Vec<bool>) {
    let mut lists = Lists {
        first: vec![0],
        entries: Vec::new(),
    };
    let mut careful = Vec::with_capacity(triangles.len());
    let mut near = Vec::new();
    for triangle in triangles {
        let corners = triangle.map(|v| positions[v as usize]);
        let [a, b, c] = corners;
        // Most triangles lie in one tetrahedron.
        let whole = grid
            .holding(a)
            .filter(|&t| [b, c].iter().all(|&p| grid.tet(t).holds(p)));
        if let Some(tet) = whole {
            lists.entries.push(tet);
            careful.push(false);
        } else {
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            grid.near(low, high, &mut near);
            let polygon = Polygon::triangle(corners);
            let area = polygon.doubled_area().length();
            let mut sum = 0.0;
            for &tet in &near {
                let cage_tet = grid.tet(tet);
                let (tet_low, tet_high) = cage_tet.bounds();
                if tet_low.cmpgt(high).any() || tet_high.cmplt(low).any() {
                    continue;
                }
                let inside = cage_tet.clip(&polygon, [0, 1, 2, 3], None);
                if !inside.is_empty() {
                    sum += inside.doubled_area().length();
                    lists.entries.push(tet);
                }
            }
            careful.push((sum - area).abs() > 1e-7 * area);
            if *lists.first.last().unwrap_or(&0) as usize == lists.entries.len() {
                // It meets none: it goes with the nearest.
                let middle = (a + b + c) / 3.0;
                lists.entries.push(nearest_tet(grid, middle));
                if let Some(last) = careful.last_mut() {
                    *last = true;
                }
            }
        }
        lists.first.push(lists.entries.len() as u32);
    }
    (lists, careful)
}

/// The tetrahedron with the corner nearest to a point, among those nearby.
fn nearest_tet(grid: &TetGrid<'_>, p: DVec3) -> u32 {
    let mut found = Vec::new();
    let mut reach = grid.cell_size();
    loop {
        grid.near(p - reach, p + reach, &mut found);
        let distance = |t: u32| {
            let corners = grid.tet(t).corners;
            let squares = corners.iter().map(|c| c.distance_squared(p));
            squares.fold(f64::INFINITY, f64::min)
        };
        let best = found
            .iter()
            .map(|&t| (distance(t), t))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, tet)) = best {
            return tet;
        }
        reach *= 2.0;
    }
}
