//! The closed surface of one fragment: what is left of the outer surface, and the
//! crack surfaces, marked.
//!
//! Steps of [`FragmentSurface::extract`]: for every tetrahedron with a node of the
//! fragment take its piece -> keep polygons on the object's boundary (outer) and on
//! crack planes (new), drop those shared with the fragment's next piece -> weld
//! corners by the name of their simplex -> fans of triangles -> double vertices
//! where the object touches itself -> mass properties.
//!
//! Source: Glondu 2013, section 4.1, for what is stored per tetrahedron; the
//! surface itself is not described there.
//!
//! **Guarantee**: closed, outward, and 2-manifold. Cuts never make a surface
//! non-manifold: a node's fragment fills all of the mesh around the node, a cut of
//! an edge is surrounded by the pieces of the edge's end, and a point where three
//! pieces meet in a face is a corner of two of them only, each on both sides of the
//! face. So doubling is needed just where the unbroken object touches itself.

mod doubling;
mod skin;
mod vertex_table;

#[cfg(feature = "research")]
pub use skin::{DressedCorner, Skin, SkinError};

use glam::{DVec3, Vec3};

use crate::fragment::{FragmentId, Fragments};
use crate::mass_properties::{MassProperties, MassSum};
use crate::tet_mesh::{NONE, TET_FACES, TetMesh};
use crate::tet_part::{Corner, CornerPoints, Side, TetPart};
use crate::triangle_fans::{fans, pair_up};
use vertex_table::VertexTable;

/// Whether a triangle was there before anything broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceKind {
    /// Part of the unbroken object's surface.
    Outer,
    /// Made by a crack.
    Crack,
}

/// The closed surface of one fragment, in the object's frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FragmentSurface {
    positions: Vec<Vec3>,
    names: Vec<[u32; 4]>,
    triangles: Vec<[u32; 3]>,
    /// Four times the tetrahedron, plus local face or plane.
    origins: Vec<u32>,
    outer_triangles: usize,
    mass: MassProperties,
}

/// Workspace for [`FragmentSurface::extract`], to be used again and again.
#[derive(Clone, Debug, Default)]
pub struct SurfaceScratch {
    table: VertexTable,
    points: Vec<DVec3>,
    crack_triangles: Vec<[u32; 3]>,
    crack_origins: Vec<u32>,
}

impl FragmentSurface {
    /// The surface of a living fragment.
    ///
    /// # Panics
    /// When the id is not of this object. A broken fragment has an empty surface.
    #[must_use]
    pub fn extract(fragments: &Fragments, id: FragmentId, scratch: &mut SurfaceScratch) -> Self {
        let mesh = fragments.mesh();
        let nodes = fragments.fragment(id).nodes();
        let origin = nodes
            .first()
            .map_or(DVec3::ZERO, |&n| mesh.positions()[n as usize].as_dvec3());
        let mut surface = Self {
            positions: Vec::new(),
            names: Vec::new(),
            triangles: Vec::new(),
            origins: Vec::new(),
            outer_triangles: 0,
            mass: MassSum::new(origin).finish(),
        };
        scratch.table.clear();
        scratch.points.clear();
        scratch.crack_triangles.clear();
        scratch.crack_origins.clear();
        // About as many as a chunky fragment shows; thin ones grow once or twice.
        let expected = 2 * nodes.len();
        surface.positions.reserve(expected);
        surface.names.reserve(expected);
        surface.triangles.reserve(2 * expected);
        surface.origins.reserve(2 * expected);
        fragments.for_each_surface_tet_of(id, |tet, local| {
            surface.add_tet(fragments, tet, local, scratch);
        });
        surface.outer_triangles = surface.triangles.len();
        surface.triangles.extend(&scratch.crack_triangles);
        surface.origins.extend(&scratch.crack_origins);
        let mut sum = MassSum::new(origin);
        for triangle in &surface.triangles {
            sum.add(triangle.map(|v| scratch.points[v as usize]));
        }
        surface.mass = sum.finish();
        if fragments.touches_itself() {
            surface.double_vertices(mesh);
        }
        surface
    }

    /// The surface of an unbroken object that touches itself nowhere, from its boundary
    /// faces (four times the tetrahedron, plus the local face) in the order of the triangles.
    pub(crate) fn of_boundary(mesh: &TetMesh, faces: &[u32], mass: MassProperties) -> Self {
        let mut vertex_of = vec![NONE; mesh.positions().len()];
        let mut vertices = Vec::with_capacity(faces.len() / 2 + 2);
        let triangle = |&face: &u32| {
            let nodes = mesh.tets()[(face / 4) as usize];
            TET_FACES[(face % 4) as usize].map(|k| {
                let vertex = &mut vertex_of[nodes[k] as usize];
                if *vertex == NONE {
                    *vertex = vertices.len() as u32;
                    vertices.push(nodes[k]);
                }
                *vertex
            })
        };
        let triangles: Vec<[u32; 3]> = faces.iter().map(triangle).collect();
        let at = |&n: &u32| mesh.positions()[n as usize];
        Self {
            positions: vertices.iter().map(at).collect(),
            names: vertices.iter().map(|&n| [n, NONE, NONE, NONE]).collect(),
            outer_triangles: triangles.len(),
            triangles,
            origins: faces.to_vec(),
            mass,
        }
    }

    /// Of each triangle, four times its tetrahedron, plus local face or plane.
    pub(crate) fn origins(&self) -> &[u32] {
        &self.origins
    }

    /// Positions of its vertices.
    #[must_use]
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// For each vertex, the mesh nodes of the simplex it lies in, in increasing
    /// order, filled up with [`NONE`]: one node, a cut edge, a face, a tetrahedron.
    /// Vertices of different fragments with equal names lie in the same place.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn names(&self) -> &[[u32; 4]] {
        &self.names
    }

    /// Its triangles, counter-clockwise seen from outside: outer ones, then cracks.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many of [`Self::triangles`] are outer; cracks follow.
    #[must_use]
    pub fn outer_triangles(&self) -> usize {
        self.outer_triangles
    }

    /// Whether a triangle is outer surface or a crack.
    #[must_use]
    pub fn kind(&self, triangle: usize) -> FaceKind {
        if triangle < self.outer_triangles {
            FaceKind::Outer
        } else {
            FaceKind::Crack
        }
    }

    /// The tetrahedron in which a triangle lies.
    #[must_use]
    pub fn tet(&self, triangle: usize) -> u32 {
        self.origins[triangle] / 4
    }

    /// The local face (of an outer triangle) or the plane (of a crack) it lies on.
    #[must_use]
    pub fn side(&self, triangle: usize) -> u8 {
        (self.origins[triangle] % 4) as u8
    }

    /// The corners of a triangle.
    #[must_use]
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|v| self.positions[v as usize])
    }

    /// The outward unit normal of a triangle; zero when it has no area.
    #[must_use]
    pub fn normal(&self, triangle: usize) -> Vec3 {
        let [a, b, c] = self.corners(triangle).map(Vec3::as_dvec3);
        (b - a).cross(c - a).normalize_or_zero().as_vec3()
    }

    /// Volume, centre and inertia at unit density, from unrounded positions.
    #[must_use]
    pub fn mass_properties(&self) -> &MassProperties {
        &self.mass
    }

    /// Smallest and largest coordinates; both zero when it is empty.
    #[must_use]
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let Some(&first) = self.positions.first() else {
            return (Vec3::ZERO, Vec3::ZERO);
        };
        self.positions
            .iter()
            .fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p)))
    }

    /// Checks that it is closed, 2-manifold and uses every vertex.
    ///
    /// # Errors
    /// The first edge or vertex where it is not, in words.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn validate(&self) -> Result<(), String> {
        let mut sides: Vec<(u32, u32)> = Vec::with_capacity(self.triangles.len() * 3);
        for triangle in &self.triangles {
            let [a, b, c] = *triangle;
            if a == b || b == c || c == a {
                return Err(format!("triangle {triangle:?} repeats a vertex"));
            }
            sides.extend([(a, b), (b, c), (c, a)]);
        }
        sides.sort_unstable();
        if let Some(pair) = sides.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("side {:?} occurs twice", pair[0]));
        }
        let open = sides
            .iter()
            .find(|&&(a, b)| sides.binary_search(&(b, a)).is_err());
        if let Some(side) = open {
            return Err(format!("side {side:?} has nothing on its other side"));
        }
        let fans = fans(&self.triangles, |_, group| pair_up(group));
        let mut fan_of = vec![NONE; self.positions.len()];
        for (corner, fan) in fans.iter().enumerate() {
            let v = self.triangles[corner / 3][corner % 3] as usize;
            if fan_of[v] == NONE {
                fan_of[v] = *fan;
            } else if fan_of[v] != *fan {
                return Err(format!("vertex {v} joins two fans"));
            }
        }
        match fan_of.iter().position(|&fan| fan == NONE) {
            Some(v) => Err(format!("vertex {v} has no triangle")),
            None => Ok(()),
        }
    }

    /// Adds the polygons that one tetrahedron's piece shows to the outside.
    fn add_tet(
        &mut self,
        fragments: &Fragments,
        tet: u32,
        local: usize,
        scratch: &mut SurfaceScratch,
    ) {
        let mesh = fragments.mesh();
        let across = mesh.neighbours()[tet as usize];
        let cut = fragments.cut(tet);
        let piece = TetPart::of(cut, local);
        let points = CornerPoints::new(mesh, tet, cut);
        for polygon in piece.polygons() {
            let (outer, side) = match polygon.side {
                Side::Face(k) if across[k as usize] == NONE => (true, k),
                Side::Face(_) => continue,
                Side::Plane(k) => (false, k),
            };
            let mut fan = [0; 6];
            for (slot, &corner) in fan.iter_mut().zip(polygon.corners()) {
                *slot = self.vertex(&points, corner, scratch);
            }
            let origin = tet * 4 + u32::from(side);
            for i in 2..polygon.corners().len() {
                let triangle = [fan[0], fan[i - 1], fan[i]];
                if outer {
                    self.triangles.push(triangle);
                    self.origins.push(origin);
                } else {
                    scratch.crack_triangles.push(triangle);
                    scratch.crack_origins.push(origin);
                }
            }
        }
    }

    fn vertex(
        &mut self,
        points: &CornerPoints,
        corner: Corner,
        scratch: &mut SurfaceScratch,
    ) -> u32 {
        let name = points.name(corner);
        let (names, all) = (&mut self.names, &mut self.positions);
        scratch.table.find_or_insert(name, names, || {
            let point = points.at(corner);
            scratch.points.push(point);
            all.push(point.as_vec3());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid, break_at_random};
    use std::sync::Arc;

    #[test]
    fn surfaces_are_closed_and_masses_add_up_after_any_breaking() {
        let mesh = Arc::new(box_grid([4, 3, 5], Vec3::new(4.0, 3.0, 5.0)));
        let mut scratch = SurfaceScratch::default();
        for seed in 0..6 {
            let mut fragments = Fragments::new(mesh.clone());
            let whole = FragmentSurface::extract(&fragments, FragmentId(0), &mut scratch);
            assert_eq!(whole.triangles().len(), mesh.boundary().count());
            assert!((whole.mass_properties().volume - 60.0).abs() < 1e-12);
            break_at_random(&mut fragments, &mut Rng(seed), 40, 0.1);
            let mut masses = Vec::new();
            for id in fragments.living() {
                let surface = FragmentSurface::extract(&fragments, id, &mut scratch);
                surface.validate().unwrap();
                assert!(surface.mass_properties().volume > 0.0);
                masses.push(*surface.mass_properties());
            }
            let sum = MassProperties::sum(&masses);
            let whole = whole.mass_properties();
            assert!((sum.volume - whole.volume).abs() < 1e-12 * whole.volume);
            assert!((sum.centre - whole.centre).length() < 1e-12);
            let off = sum.inertia - whole.inertia;
            assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-9), "{off}");
        }
    }

    #[test]
    fn the_two_sides_of_a_crack_share_their_vertices_bit_for_bit() {
        let mut fragments = Fragments::new(Arc::new(box_grid([3; 3], Vec3::ONE)));
        break_at_random(&mut fragments, &mut Rng(9), 12, 0.1);
        let mut scratch = SurfaceScratch::default();
        let mut by_name = std::collections::HashMap::new();
        let mut shared = 0;
        for id in fragments.living() {
            let surface = FragmentSurface::extract(&fragments, id, &mut scratch);
            for (name, position) in surface.names().iter().zip(surface.positions()) {
                let first = *by_name.entry(*name).or_insert(*position);
                shared += usize::from(first == *position);
                assert_eq!(first, *position);
            }
        }
        assert!(shared > by_name.len(), "no vertex was shared");
    }

    #[test]
    fn a_broken_fragment_has_no_surface() {
        let mut fragments = Fragments::new(Arc::new(box_grid([2; 3], Vec3::ONE)));
        break_at_random(&mut fragments, &mut Rng(1), 3, 0.1);
        let mut scratch = SurfaceScratch::default();
        let surface = FragmentSurface::extract(&fragments, FragmentId(0), &mut scratch);
        assert!(surface.triangles().is_empty());
        assert_eq!(surface.mass_properties().volume, 0.0);
    }
}
