//! Normals and texture coordinates for drawing a fragment: the input's own on the
//! outer surface, box-projected ones on cracks.

use glam::{Vec2, Vec3};
use thiserror::Error;

use crate::tet_mesh::{NONE, TET_FACES, TetMesh};

use super::{FaceKind, FragmentSurface};

/// Normals and texture coordinates of the unbroken object, per corner of its
/// boundary faces in the order of [`TetMesh::boundary`].
#[derive(Clone, Debug)]
pub struct Skin {
    normals: Option<Vec<[Vec3; 3]>>,
    uvs: Option<Vec<[Vec2; 3]>>,
    /// The boundary face of (four times tetrahedron plus local face), sorted.
    faces: Vec<u32>,
    crack_uv_scale: f32,
}

/// Why data does not make a [`Skin`].
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SkinError {
    /// Not one entry for each boundary face.
    #[error("{what}: {given} entries were given for {faces} boundary faces")]
    WrongCount {
        /// "normals" or "texture coordinates".
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many faces there are.
        faces: usize,
    },
}

/// What is drawn at one corner of one triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DressedCorner {
    /// Position.
    pub position: Vec3,
    /// Unit normal: the input's, interpolated, on outer faces if it had any; else
    /// the triangle's.
    pub normal: Vec3,
    /// Texture coordinates: the input's on outer faces, box-projected on cracks.
    pub uv: Vec2,
}

impl Skin {
    /// A skin from what the input had. `crack_uv_scale` is how many times the
    /// texture repeats on a crack per unit of length.
    ///
    /// # Errors
    /// When a list does not have one entry per boundary face.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn build(
        mesh: &TetMesh,
        normals: Option<Vec<[Vec3; 3]>>,
        uvs: Option<Vec<[Vec2; 3]>>,
        crack_uv_scale: f32,
    ) -> Result<Self, SkinError> {
        let faces: Vec<u32> = mesh
            .boundary()
            .map(|face| face.tet * 4 + u32::from(face.face))
            .collect();
        let check = |what, given: Option<usize>| match given {
            Some(given) if given != faces.len() => Err(SkinError::WrongCount {
                what,
                given,
                faces: faces.len(),
            }),
            _ => Ok(()),
        };
        check("normals", normals.as_ref().map(Vec::len))?;
        check("texture coordinates", uvs.as_ref().map(Vec::len))?;
        Ok(Self {
            normals,
            uvs,
            faces,
            crack_uv_scale,
        })
    }

    /// The corners of every triangle of a surface, ready to be drawn.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn dress(
        &self,
        mesh: &TetMesh,
        surface: &FragmentSurface,
    ) -> Vec<[DressedCorner; 3]> {
        (0..surface.triangles().len())
            .map(|t| self.dress_triangle(mesh, surface, t))
            .collect()
    }

    fn dress_triangle(
        &self,
        mesh: &TetMesh,
        surface: &FragmentSurface,
        t: usize,
    ) -> [DressedCorner; 3] {
        let flat = surface.normal(t);
        let corners = surface.corners(t);
        if surface.kind(t) == FaceKind::Crack {
            return corners.map(|position| DressedCorner {
                position,
                normal: flat,
                uv: box_projection(position, flat) * self.crack_uv_scale,
            });
        }
        let (tet, side) = (surface.tet(t), surface.side(t));
        let face = self.faces.binary_search(&(tet * 4 + u32::from(side)));
        let nodes = TET_FACES[side as usize].map(|k| mesh.tets()[tet as usize][k]);
        let triangle = nodes.map(|n| mesh.positions()[n as usize]);
        let vertices = surface.triangles()[t];
        std::array::from_fn(|i| {
            let name = surface.names()[vertices[i] as usize];
            let weights = match nodes.iter().position(|&n| name == [n, NONE, NONE, NONE]) {
                Some(k) => [0, 1, 2].map(|j| if j == k { 1.0 } else { 0.0 }),
                None => weights_in(triangle, corners[i]),
            };
            let normal = face.ok().and_then(|f| {
                let of = self.normals.as_ref()?[f];
                let sum = of[0] * weights[0] + of[1] * weights[1] + of[2] * weights[2];
                sum.try_normalize()
            });
            let uv = face.ok().and_then(|f| {
                let of = self.uvs.as_ref()?[f];
                Some(of[0] * weights[0] + of[1] * weights[1] + of[2] * weights[2])
            });
            DressedCorner {
                position: corners[i],
                normal: normal.unwrap_or(flat),
                uv: uv.unwrap_or_else(|| box_projection(corners[i], flat) * self.crack_uv_scale),
            }
        })
    }
}

/// The two coordinates across the axis that the normal is closest to.
fn box_projection(p: Vec3, normal: Vec3) -> Vec2 {
    let size = normal.abs();
    if size.x >= size.y && size.x >= size.z {
        Vec2::new(p.y, p.z)
    } else if size.y >= size.z {
        Vec2::new(p.z, p.x)
    } else {
        Vec2::new(p.x, p.y)
    }
}

/// Barycentric coordinates of a point of a triangle's plane.
fn weights_in([a, b, c]: [Vec3; 3], p: Vec3) -> [f32; 3] {
    let [a, b, c, p] = [a, b, c, p].map(Vec3::as_dvec3);
    let normal = (b - a).cross(c - a);
    let area = normal.length_squared();
    if area <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let v = (p - a).cross(c - a).dot(normal) / area;
    let w = (b - a).cross(p - a).dot(normal) / area;
    [(1.0 - v - w) as f32, v as f32, w as f32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::box_grid;
    use crate::{Crack, Fracture, FragmentId, Fragments, SurfaceScratch};
    use std::sync::Arc;

    #[test]
    fn outer_faces_keep_their_coordinates_and_cracks_get_projected_ones() {
        let mesh = Arc::new(box_grid([3; 3], Vec3::ONE));
        // A linear map of position: interpolation must give it back everywhere.
        let uv_at = |p: Vec3| Vec2::new(p.x + 2.0 * p.y, p.z - p.x);
        let uvs = mesh
            .boundary()
            .map(|f| f.nodes.map(|n| uv_at(mesh.positions()[n as usize])))
            .collect();
        let skin = Skin::build(&mesh, None, Some(uvs), 1.0).unwrap();
        let mut fragments = Fragments::new(mesh.clone());
        let all = fragments.fragment(FragmentId(0)).nodes().to_vec();
        let crack =
            Crack::from_level(&mesh, 0, &all, |n| mesh.positions()[n as usize].x - 0.45).unwrap();
        let cracks = vec![crack];
        let fragment = FragmentId(0);
        fragments.apply(&Fracture { fragment, cracks }).unwrap();
        let mut scratch = SurfaceScratch::default();
        for id in fragments.living() {
            let surface = FragmentSurface::extract(&fragments, id, &mut scratch);
            let dressed = skin.dress(&mesh, &surface);
            for (t, triangle) in dressed.iter().enumerate() {
                for corner in triangle {
                    let p = corner.position;
                    let expected = match surface.kind(t) {
                        FaceKind::Outer => uv_at(p),
                        FaceKind::Crack => Vec2::new(p.y, p.z),
                    };
                    assert!((corner.uv - expected).length() < 1e-5);
                    assert!((corner.normal.length() - 1.0).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn wrong_counts_are_refused() {
        let mesh = box_grid([1; 3], Vec3::ONE);
        let error = Skin::build(&mesh, Some(vec![]), None, 1.0).unwrap_err();
        assert_eq!(
            error,
            SkinError::WrongCount {
                what: "normals",
                given: 0,
                faces: 12
            }
        );
    }
}
