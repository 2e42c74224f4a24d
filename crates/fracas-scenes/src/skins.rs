//! Fine skins of things of the set, for pictures and models: built when first asked for,
//! never by the simulation.

use std::sync::{Arc, OnceLock};

use fracas::dressing::SkinMap;
use fracas::{FragmentId, Fragments, TetMesh};
use fracas_bake::shapes::{FineSkin, Shape};
use glam::Vec3;

/// A fragment in its skin, in the object's frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dressed {
    /// Where its vertices are.
    pub positions: Vec<Vec3>,
    /// Normals for each vertex.
    pub normals: Vec<Vec3>,
    /// Its triangles, cracks last.
    pub triangles: Vec<[u32; 3]>,
    /// How many of them are skin.
    pub old_triangles: usize,
}

/// The skin of a shape on its tetrahedra.
#[derive(Debug)]
pub struct Skin {
    shape: &'static Shape,
    scale: f64,
    mesh: Arc<TetMesh>,
    built: OnceLock<Option<(FineSkin, SkinMap)>>,
}

impl Skin {
    /// Of a shape, larger by `scale`, filled with these tetrahedra.
    #[must_use]
    pub fn new(shape: &'static Shape, scale: f64, mesh: Arc<TetMesh>) -> Self {
        Self {
            shape,
            scale,
            mesh,
            built: OnceLock::new(),
        }
    }

    /// Whether these fragments are of its tetrahedra.
    #[must_use]
    pub fn fits(&self, fragments: &Fragments) -> bool {
        Arc::ptr_eq(&self.mesh, fragments.mesh()) || *self.mesh == **fragments.mesh()
    }

    /// A fragment in it; none for things whose tetrahedra have their surface exactly.
    #[must_use]
    pub fn dress(&self, fragments: &Fragments, id: FragmentId) -> Option<Dressed> {
        let built = self.built.get_or_init(|| {
            let skin = self.shape.fine_skin()?.scaled(self.scale);
            let map = skin.map(&self.mesh)?;
            Some((skin, map))
        });
        let (skin, map) = built.as_ref()?;
        let dress = map.dress(fragments, id);
        let mut dressed = Dressed::default();
        let mut new = vec![u32::MAX; skin.positions.len()];
        let mut vertex = |dressed: &mut Dressed, v: u32| {
            if new[v as usize] == u32::MAX {
                new[v as usize] = dressed.positions.len() as u32;
                dressed.positions.push(skin.positions[v as usize].as_vec3());
                dressed.normals.push(skin.normals[v as usize]);
            }
            new[v as usize]
        };
        for &t in &dress.whole {
            let triangle = skin.triangles[t as usize].map(|v| vertex(&mut dressed, v));
            dressed.triangles.push(triangle);
        }
        for face in &dress.cut {
            let given = skin.triangles[face.triangle as usize];
            let triangle = face.corners.map(|corner| {
                if let Some(k) = corner.weights.iter().position(|&w| w == 1.0) {
                    return vertex(&mut dressed, given[k]);
                }
                let normal: Vec3 = (0..3)
                    .map(|k| skin.normals[given[k] as usize] * corner.weights[k])
                    .sum();
                dressed.positions.push(corner.position);
                dressed.normals.push(normal.normalize_or(Vec3::Y));
                dressed.positions.len() as u32 - 1
            });
            dressed.triangles.push(triangle);
        }
        dressed.old_triangles = dressed.triangles.len();
        for face in &dress.cracks {
            let first = dressed.positions.len() as u32;
            dressed.positions.extend(face.corners);
            dressed.normals.extend([face.normal; 3]);
            dressed.triangles.push([first, first + 1, first + 2]);
        }
        Some(dressed)
    }
}
