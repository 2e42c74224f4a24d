//! A fragment as one of parry's own shapes: what a user of the engine has without
//! us, so that any scene can be run on the alternatives.

use std::sync::{Arc, OnceLock};

use fracas_core::FragmentSurface;
use parry3d::shape::{SharedShape, TriMeshFlags};

/// Which of parry's shapes stands for a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParryShape {
    /// The surface's triangles, internal edges fixed: no inside.
    TriMesh,
    /// The convex hull: no hollows.
    Hull,
    /// Approximate convex decomposition (VHACD, default parameters): slow to build.
    Decomposed,
}

impl ParryShape {
    /// Builds the shape of a fragment. What parry refuses to build (a surface without
    /// volume, say) becomes the next simpler shape: hull for triangles, box for hull.
    #[must_use]
    pub fn build(self, surface: &FragmentSurface) -> SharedShape {
        let (positions, triangles) = (surface.positions(), surface.triangles());
        let hull = || {
            SharedShape::convex_hull(positions).unwrap_or_else(|| {
                let (low, high) = surface.bounds();
                let half = (0.5 * (high - low)).max(glam::Vec3::splat(1e-4));
                SharedShape::compound(vec![(
                    parry3d::math::Pose::from_translation(0.5 * (low + high)),
                    SharedShape::cuboid(half.x, half.y, half.z),
                )])
            })
        };
        match self {
            Self::TriMesh => SharedShape::trimesh_with_flags(
                positions.to_vec(),
                triangles.to_vec(),
                TriMeshFlags::FIX_INTERNAL_EDGES,
            )
            .unwrap_or_else(|_| hull()),
            Self::Hull => hull(),
            Self::Decomposed => SharedShape::convex_decomposition(positions, triangles),
        }
    }
}

/// Shapes of an unbroken object, built when first asked for and shared by all
/// objects of the kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct WholeShapes(Arc<[OnceLock<SharedShape>; 3]>);

impl WholeShapes {
    pub(crate) fn get(&self, kind: ParryShape, surface: &FragmentSurface) -> SharedShape {
        self.0[kind as usize]
            .get_or_init(|| kind.build(surface))
            .clone()
    }
}
