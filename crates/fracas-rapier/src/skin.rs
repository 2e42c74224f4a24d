//! The surface that is seen of an object, where it is finer than the tetrahedra's: the
//! triangles of the model that was baked.

use std::sync::{Arc, OnceLock};

use fracas_core::dressing::{Dress, SkinMap};
use fracas_core::{FragmentId, Fragments, TetMesh};
use glam::{DVec3, Vec2, Vec3};

/// Cosine of the largest angle between faces that share a normal: 45 degrees.
const SMOOTH: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// Triangles with texture coordinates, and how they lie on the tetrahedra.
#[derive(Debug)]
pub(crate) struct Skin {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    pub(crate) uvs: Option<Arc<[[Vec2; 3]]>>,
    /// Made when the first piece is drawn; `None` inside where it cannot be made.
    map: OnceLock<Option<SkinMap>>,
    normals: OnceLock<Vec<[Vec3; 3]>>,
}

impl Skin {
    pub(crate) fn new(
        positions: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        uvs: Option<Arc<[[Vec2; 3]]>>,
    ) -> Self {
        Self {
            positions,
            triangles,
            uvs,
            map: OnceLock::new(),
            normals: OnceLock::new(),
        }
    }

    /// The same at another size; texture coordinates stay.
    pub(crate) fn scaled(&self, scale: f32) -> Self {
        let positions = self.positions.iter().map(|p| *p * f64::from(scale));
        Self::new(
            positions.collect(),
            self.triangles.clone(),
            self.uvs.clone(),
        )
    }

    /// What a living fragment shows; `None` where the skin cannot be laid on the tetrahedra.
    pub(crate) fn dress(&self, fragments: &Fragments, id: FragmentId) -> Option<Dress> {
        let build = |mesh: &TetMesh| SkinMap::build(mesh, &self.positions, &self.triangles).ok();
        let map = self.map.get_or_init(|| build(fragments.mesh()));
        Some(map.as_ref()?.dress(fragments, id))
    }

    pub(crate) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|v| self.positions[v as usize].as_vec3())
    }

    /// Normals at the corners of a triangle of the unbroken skin.
    pub(crate) fn normals(&self, triangle: u32) -> [Vec3; 3] {
        let made = self.normals.get_or_init(|| {
            let all = (0..self.triangles.len() as u32).map(|t| self.corners(t));
            corner_normals(&all.collect::<Vec<_>>())
        });
        made[triangle as usize]
    }
}

pub(crate) fn face_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    let [a, b, c] = [a, b, c].map(Vec3::as_dvec3);
    (b - a).cross(c - a).normalize_or_zero().as_vec3()
}

/// Normals at the corners of triangles: of all faces at the same place, weighted by area,
/// that are turned by less than 45 degrees from the triangle itself.
pub(crate) fn corner_normals(triangles: &[[Vec3; 3]]) -> Vec<[Vec3; 3]> {
    let areas: Vec<Vec3> = triangles
        .iter()
        .map(|&[a, b, c]| (b - a).cross(c - a))
        .collect();
    let units: Vec<Vec3> = triangles.iter().map(|t| face_normal(*t)).collect();
    let mut corners: Vec<([u32; 3], u32, u32)> = Vec::with_capacity(3 * triangles.len());
    for (t, triangle) in triangles.iter().enumerate() {
        for (i, p) in triangle.iter().enumerate() {
            let key = (*p + Vec3::ZERO).to_array().map(f32::to_bits);
            corners.push((key, t as u32, i as u32));
        }
    }
    corners.sort_unstable();
    let mut normals: Vec<[Vec3; 3]> = units.iter().map(|n| [*n; 3]).collect();
    for place in corners.chunk_by(|a, b| a.0 == b.0) {
        for &(_, t, i) in place {
            let own = units[t as usize];
            let near = place.iter().map(|c| c.1 as usize);
            let sum: Vec3 = near
                .filter(|&other| units[other].dot(own) > SMOOTH)
                .map(|other| areas[other])
                .sum();
            normals[t as usize][i as usize] = sum.normalize_or(own);
        }
    }
    normals
}
