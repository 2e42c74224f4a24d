//! What users of parry3d have for the same fragments: triangle meshes, convex
//! decompositions and convex hulls.

use fracas_core::{FragmentSurface, Pose};
use parry3d::query::{
    ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher, PersistentQueryDispatcher,
};
use parry3d::shape::{SharedShape, TriMeshFlags};

/// The version that is compared with.
pub const VERSION: &str = "0.31";

/// A way to make a collider of a closed surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// `TriMesh` with the flags that make it usable for bodies.
    TriMesh,
    /// VHACD with default settings.
    Vhacd,
    /// One convex hull.
    Hull,
}

impl Rival {
    /// Its name in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TriMesh => "parry3d TriMesh",
            Self::Vhacd => "parry3d VHACD",
            Self::Hull => "parry3d hull",
        }
    }

    /// Builds the shape of a surface.
    #[must_use]
    pub fn build(self, surface: &FragmentSurface) -> Option<SharedShape> {
        let vertices: Vec<parry3d::math::Vector> = surface
            .positions()
            .iter()
            .map(|p| parry3d::math::Vector::new(p.x, p.y, p.z))
            .collect();
        let triangles = surface.triangles().to_vec();
        match self {
            Self::TriMesh => SharedShape::trimesh_with_flags(
                vertices,
                triangles,
                TriMeshFlags::FIX_INTERNAL_EDGES,
            )
            .ok(),
            Self::Vhacd => Some(SharedShape::convex_decomposition(&vertices, &triangles)),
            Self::Hull => SharedShape::convex_hull(&vertices),
        }
    }
}

/// One pair's persistent state, as an engine keeps it.
#[derive(Default)]
pub struct RivalPair {
    manifolds: Vec<ContactManifold<(), ()>>,
    workspace: Option<ContactManifoldsWorkspace>,
}

impl RivalPair {
    /// The contacts of shape `b`, placed in the frame of `a` by `pose`: how many.
    pub fn contacts(
        &mut self,
        a: &SharedShape,
        b: &SharedShape,
        pose: &Pose,
        prediction: f32,
    ) -> usize {
        let columns = pose.rotation.to_cols_array_2d().map(|c| {
            let [x, y, z] = c;
            parry3d::math::Vector::new(x, y, z)
        });
        let rotation = parry3d::math::Rot3::from_mat3(&parry3d::math::Mat3::from_cols(
            columns[0], columns[1], columns[2],
        ));
        let t = pose.translation;
        let placed =
            parry3d::math::Pose::from_parts(parry3d::math::Vector::new(t.x, t.y, t.z), rotation);
        let _ = DefaultQueryDispatcher.contact_manifolds(
            &placed,
            a.0.as_ref(),
            b.0.as_ref(),
            prediction,
            &mut self.manifolds,
            &mut self.workspace,
        );
        self.manifolds.iter().map(|m| m.points.len()).sum()
    }

    /// The deepest of the contacts last found; zero without any inside.
    #[must_use]
    pub fn deepest(&self) -> f32 {
        let points = self.manifolds.iter().flat_map(|m| &m.points);
        points.map(|p| -p.dist).fold(0.0, f32::max)
    }
}
