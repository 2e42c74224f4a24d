//! A triangle surface at bake time: f64 positions, indexed triangles, texture
//! coordinates where the file had them.
//!
//! It may be open, non-manifold, self-intersecting or inconsistently oriented:
//! [`crate::inspect_surface`] says what it is, and the mesher copes. What it always
//! is: finite, in range, no triangle naming a vertex twice.

use glam::{DVec3, Vec2};
use thiserror::Error;

/// Why positions and triangles do not make a [`SurfaceMesh`].
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SurfaceMeshError {
    /// There is no triangle (left).
    #[error("the surface has no triangles; give it at least one that is not degenerate")]
    Empty,
    /// More vertices or triangles than 32-bit indices can name.
    #[error("{count} {what} are more than a surface can index (limit {limit}); decimate it")]
    TooLarge {
        /// "vertices" or "triangles".
        what: &'static str,
        /// How many were given.
        count: usize,
        /// How many are possible.
        limit: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has a coordinate that is not finite: {position}; correct it")]
    NotFinite {
        /// The vertex.
        vertex: u32,
        /// Its position as given.
        position: DVec3,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are only {vertices} vertices")]
    VertexOutOfRange {
        /// The triangle (or polygon).
        triangle: usize,
        /// The index it names.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
    /// A triangle names a vertex twice.
    #[error("triangle {triangle} names vertex {vertex} twice; remove it")]
    RepeatedVertex {
        /// The triangle.
        triangle: usize,
        /// The vertex named twice.
        vertex: u32,
    },
    /// A polygon that is not convex has too many corners to be cut into triangles.
    #[error(
        "face {face} is a polygon with {corners} corners that is not convex (limit {limit}); cut it into triangles first"
    )]
    PolygonTooLarge {
        /// The polygon.
        face: usize,
        /// Its corners.
        corners: usize,
        /// The most corners allowed.
        limit: usize,
    },
    /// There are texture coordinates, but not for every triangle.
    #[error("{uvs} triangles have texture coordinates, but there are {triangles} triangles")]
    UvCount {
        /// Triangles with texture coordinates.
        uvs: usize,
        /// Triangles.
        triangles: usize,
    },
}

/// Texture coordinates of the three corners of a triangle.
pub type CornerUvs = [Vec2; 3];

/// A triangle surface. Immutable once built.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceMesh {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    uvs: Option<Vec<CornerUvs>>,
}

impl SurfaceMesh {
    /// The most vertices or triangles; three entries a triangle stay within `u32`.
    pub const LIMIT: usize = (u32::MAX / 3) as usize - 1;

    /// Checks the input and repairs nothing.
    ///
    /// # Errors
    /// The first defect found, see [`SurfaceMeshError`].
    pub fn build(
        positions: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Self, SurfaceMeshError> {
        Self::build_with_uvs(positions, triangles, None)
    }

    /// As [`SurfaceMesh::build`], with texture coordinates for each triangle's corners.
    ///
    /// # Errors
    /// The first defect found, see [`SurfaceMeshError`].
    pub fn build_with_uvs(
        positions: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        uvs: Option<Vec<CornerUvs>>,
    ) -> Result<Self, SurfaceMeshError> {
        let mesh = Self {
            positions,
            triangles,
            uvs,
        };
        mesh.validate()?;
        Ok(mesh)
    }

    /// Positions of all vertices.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Vertex indices of all triangles, counter-clockwise seen from outside.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Texture coordinates of each triangle's corners, where the file had them.
    #[must_use]
    pub fn uvs(&self) -> Option<&[CornerUvs]> {
        self.uvs.as_deref()
    }

    /// The three corners of a triangle.
    #[must_use]
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|v| self.positions[v as usize])
    }

    /// Smallest and largest coordinates.
    #[must_use]
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.positions
            .iter()
            .fold((self.positions[0], self.positions[0]), |(lo, hi), &p| {
                (lo.min(p), hi.max(p))
            })
    }

    /// Total area.
    #[must_use]
    pub fn area(&self) -> f64 {
        (0..self.triangles.len() as u32)
            .map(|t| {
                let [a, b, c] = self.corners(t);
                (b - a).cross(c - a).length() / 2.0
            })
            .sum()
    }

    /// Signed volume (divergence theorem, about the middle of the bounds): the
    /// enclosed volume when closed, and negative when inside out.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let (lo, hi) = self.bounds();
        let middle = lo.midpoint(hi);
        (0..self.triangles.len() as u32)
            .map(|t| {
                let [a, b, c] = self.corners(t).map(|p| p - middle);
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }

    /// Checks everything that [`SurfaceMesh::build`] promises.
    ///
    /// # Errors
    /// The first defect found.
    pub fn validate(&self) -> Result<(), SurfaceMeshError> {
        let (vertices, triangles) = (self.positions.len(), self.triangles.len());
        if triangles == 0 {
            return Err(SurfaceMeshError::Empty);
        }
        for (what, count) in [("vertices", vertices), ("triangles", triangles)] {
            if count > Self::LIMIT {
                return Err(SurfaceMeshError::TooLarge {
                    what,
                    count,
                    limit: Self::LIMIT,
                });
            }
        }
        if let Some(v) = self.positions.iter().position(|p| !p.is_finite()) {
            return Err(SurfaceMeshError::NotFinite {
                vertex: v as u32,
                position: self.positions[v],
            });
        }
        for (triangle, &[a, b, c]) in self.triangles.iter().enumerate() {
            if let Some(vertex) = [a, b, c].into_iter().find(|&v| v as usize >= vertices) {
                return Err(SurfaceMeshError::VertexOutOfRange {
                    triangle,
                    vertex,
                    vertices,
                });
            }
            if a == b || b == c || c == a {
                let vertex = if a == b { a } else { c };
                return Err(SurfaceMeshError::RepeatedVertex { triangle, vertex });
            }
        }
        match &self.uvs {
            Some(uvs) if uvs.len() != triangles => Err(SurfaceMeshError::UvCount {
                uvs: uvs.len(),
                triangles,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        (
            vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
            vec![[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]],
        )
    }

    #[test]
    fn a_tetrahedron_has_its_volume_and_area() {
        let (p, t) = tetrahedron();
        let mesh = SurfaceMesh::build(p, t).unwrap();
        assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
        assert!((mesh.area() - (1.5 + 3.0_f64.sqrt() / 2.0)).abs() < 1e-15);
        assert_eq!(mesh.bounds(), (DVec3::ZERO, DVec3::ONE));
    }

    #[test]
    fn defects_are_named() {
        let (p, t) = tetrahedron();
        let build = |t: Vec<[u32; 3]>| SurfaceMesh::build(p.clone(), t).unwrap_err();
        assert_eq!(build(vec![]), SurfaceMeshError::Empty);
        assert!(matches!(
            build(vec![[0, 1, 4]]),
            SurfaceMeshError::VertexOutOfRange {
                triangle: 0,
                vertex: 4,
                vertices: 4
            }
        ));
        assert!(matches!(
            build(vec![[0, 1, 2], [3, 1, 3]]),
            SurfaceMeshError::RepeatedVertex {
                triangle: 1,
                vertex: 3
            }
        ));
        let mut bad = p.clone();
        bad[3].z = f64::INFINITY;
        assert!(matches!(
            SurfaceMesh::build(bad, t.clone()),
            Err(SurfaceMeshError::NotFinite { vertex: 3, .. })
        ));
        assert!(matches!(
            SurfaceMesh::build_with_uvs(p, t, Some(vec![])),
            Err(SurfaceMeshError::UvCount { uvs: 0, .. })
        ));
    }
}
