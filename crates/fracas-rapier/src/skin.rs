//! The surface that is seen of an object, where it is finer than the tetrahedra's: the
//! triangles of the model that was baked.

use std::sync::{Arc, OnceLock};

use fracas_core::dressing::{Dress, SkinMap};
use fracas_core::{FragmentId, Fragments, TetMesh};
use glam::{DVec3, Vec2, Vec3};

use crate::vertex_buffers::corner_normals;

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
