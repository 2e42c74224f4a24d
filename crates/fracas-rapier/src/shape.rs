//! A fragment as parry's shape: what the engine holds, boxes, weighs and casts at.
//!
//! Contacts do not go through here but through the dispatcher. Rays and point
//! projections, which a game uses to pick and to shoot, go through a triangle mesh
//! of the surface that is made when first asked for.

use std::sync::{Arc, OnceLock};

use fracas_core::{
    FragmentId, FragmentMass, FragmentSurface, Fragments, MassProperties as UnitMass, SphereTree,
    SurfaceScratch,
};
use glam::Vec3;
use parry3d::bounding_volume::{Aabb, BoundingSphere, BoundingVolume as _};
use parry3d::mass_properties::MassProperties;
use parry3d::math::{Matrix, Real, Rotation, Vector};
use parry3d::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use parry3d::shape::{FeatureId, Shape, ShapeType, SharedShape, TriMesh, TypedShape};

use crate::late_tree::LateTrees;
use crate::object::SharedObject;
use crate::vertex_buffers::VertexBuffers;

/// The shape of one fragment (or of the whole object). Cheap to clone. Lives in the
/// object's own frame, whatever broke off since.
#[derive(Clone)]
pub struct FragmentShape {
    object: SharedObject,
    id: FragmentId,
    tree: Tree,
    reach: f32,
    mass: UnitMass,
    bounds: Aabb,
    /// See [`Self::with_margin`].
    margin: f32,
    inner_radius: f32,
    /// Made when first asked for: nothing but drawing and rays needs it.
    surface: Arc<OnceLock<Arc<FragmentSurface>>>,
    /// Made at the first ray or projection; `None` inside where it cannot be made.
    triangles: Arc<OnceLock<Option<TriMesh>>>,
    /// What a renderer uploads; see [`crate::vertex_buffers`].
    buffers: Arc<OnceLock<Arc<VertexBuffers>>>,
    /// The same body as the engine's own convex shape, where it is one.
    convex: Option<SharedShape>,
}

impl std::fmt::Debug for FragmentShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = f.debug_struct("FragmentShape");
        text.field("id", &self.id)
            .field("volume", &self.mass.volume);
        text.finish_non_exhaustive()
    }
}

/// Where a fragment's tree is.
#[derive(Clone)]
pub(crate) enum Tree {
    /// Here.
    Made(Arc<SphereTree>),
    /// Perhaps not made yet: which of the fragments of its fracture it is.
    Late(Arc<LateTrees>, usize),
}

impl FragmentShape {
    /// `surface` is the fragment's where it is known already.
    pub(crate) fn new(
        object: &SharedObject,
        id: FragmentId,
        (tree, reach): (Tree, f32),
        weighed: &FragmentMass,
        surface: Option<Arc<FragmentSurface>>,
    ) -> Self {
        let FragmentMass {
            properties,
            low,
            high,
        } = *weighed;
        let state = object.read();
        let deepest = state
            .fragments()
            .fragment(id)
            .nodes()
            .iter()
            .map(|&n| state.field().at_node(n).0)
            .fold(0.0, f32::max);
        drop(state);
        // A fragment whose nodes all lie on its surface still has an inside.
        let thinnest = 0.25 * (high - low).min_element();
        Self {
            object: object.clone(),
            id,
            tree,
            reach,
            mass: properties,
            bounds: Aabb::new(low, high),
            margin: 0.0,
            inner_radius: deepest.max(0.25 * thinnest),
            surface: Arc::new(surface.map_or_else(OnceLock::new, OnceLock::from)),
            triangles: Arc::new(OnceLock::new()),
            buffers: Arc::new(OnceLock::new()),
            convex: None,
        }
    }

    /// The same fragment of another object of the same kind. Both share their surface and the
    /// triangles for rays, whenever these are made.
    pub(crate) fn of_object(&self, object: &SharedObject) -> Self {
        Self {
            object: object.clone(),
            ..self.clone()
        }
    }

    /// With a box for the engine that is wider by `margin` on every side. Of bodies that look
    /// ahead the engine forgets pairs whose boxes are apart and do not move towards each other,
    /// however far it looks for contacts: things that lie a hair apart would fall into each
    /// other for a step, by 1.7 mm at 60 Hz, before it sees them. Half of what it looks for
    /// contacts keeps them. Pieces of the shape inherit it.
    pub(crate) fn with_margin(self, margin: f32) -> Self {
        Self { margin, ..self }
    }

    pub(crate) fn margin(&self) -> f32 {
        self.margin
    }

    /// The box around it, in the object's frame.
    pub(crate) fn bounds(&self) -> &Aabb {
        &self.bounds
    }

    pub(crate) fn with_convex(self, convex: Option<SharedShape>) -> Self {
        Self { convex, ..self }
    }

    /// The same body as the engine's own convex shape: an unbroken object may be one.
    pub(crate) fn convex(&self) -> Option<&SharedShape> {
        self.convex.as_ref()
    }

    /// The object it belongs to.
    #[must_use]
    pub fn object(&self) -> &SharedObject {
        &self.object
    }

    /// Which fragment of the object it is.
    #[must_use]
    pub fn id(&self) -> FragmentId {
        self.id
    }

    /// Its sample points. Those of a fragment that was just born are made when first
    /// asked for, on any thread: the same bits whenever that is.
    #[must_use]
    pub fn tree(&self) -> &Arc<SphereTree> {
        match &self.tree {
            Tree::Made(tree) => tree,
            Tree::Late(late, child) => late.get(*child),
        }
    }

    /// The same, if it was made already.
    pub(crate) fn made_tree(&self) -> Option<&Arc<SphereTree>> {
        match &self.tree {
            Tree::Made(tree) => Some(tree),
            Tree::Late(late, child) => late.get_made(*child),
        }
    }

    /// Radius of a ball around all its sample points: that of [`Self::tree`]'s root, known
    /// before there is a tree.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn reach(&self) -> f32 {
        self.reach
    }

    /// Its closed surface, cracks marked: what a renderer shows. Made when first asked
    /// for, on any thread; whoever asks for that of a fragment that has broken since, and
    /// that nobody asked for before, gets an empty one.
    #[must_use]
    pub fn surface(&self) -> &Arc<FragmentSurface> {
        if let Some(made) = self.surface.get() {
            return made;
        }
        let state = self.object.read();
        self.surface_in(state.fragments())
    }

    /// The same, of the object as it was at some time.
    pub(crate) fn surface_in(&self, fragments: &Fragments) -> &Arc<FragmentSurface> {
        self.surface.get_or_init(|| {
            let mut scratch = SurfaceScratch::default();
            Arc::new(FragmentSurface::extract(fragments, self.id, &mut scratch))
        })
    }

    /// Where the vertex buffers are, once they are made.
    pub(crate) fn buffers(&self) -> &OnceLock<Arc<VertexBuffers>> {
        &self.buffers
    }

    /// Whether somebody has asked for the surface, so that it is there.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn has_surface(&self) -> bool {
        self.surface.get().is_some()
    }

    /// Volume, centre and inertia at unit density, in the object's frame.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn unit_mass(&self) -> &UnitMass {
        &self.mass
    }

    /// Its volume.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.mass.volume
    }

    /// The radius of the largest ball known to fit in.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn inner_radius(&self) -> f32 {
        self.inner_radius
    }

    /// Makes what the first question to this fragment makes else: the cells that it occupies,
    /// and the tree of its faces. A millisecond or two for a newborn.
    #[cfg(feature = "world")]
    pub(crate) fn make_field(&self) {
        let state = self.object.read();
        let field = state.field().of(state.fragments(), self.id);
        let middle = self.bounds.center();
        let _ = (
            field.junctions(),
            fracas_core::sphere_tree::Partner::sphere_may_touch(&field, middle, self.reach),
        );
    }

    fn triangles(&self) -> Option<&TriMesh> {
        self.triangles
            .get_or_init(|| {
                let surface = self.surface();
                TriMesh::new(surface.positions().to_vec(), surface.triangles().to_vec()).ok()
            })
            .as_ref()
    }

    fn contains(&self, p: Vec3) -> bool {
        let state = self.object.read();
        state
            .field()
            .of(state.fragments(), self.id)
            .inside(p)
            .is_some()
    }
}

impl RayCast for FragmentShape {
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        max: Real,
        solid: bool,
    ) -> Option<RayIntersection> {
        if solid && self.contains(ray.origin) {
            return Some(RayIntersection::new(0.0, Vector::ZERO, FeatureId::Unknown));
        }
        self.triangles()?
            .cast_local_ray_and_get_normal(ray, max, false)
    }
}

impl PointQuery for FragmentShape {
    fn project_local_point(&self, point: Vector, solid: bool) -> PointProjection {
        let is_inside = self.contains(point);
        if is_inside && solid {
            return PointProjection::new(true, point);
        }
        let nearest = self
            .triangles()
            .map_or(point, |t| t.project_local_point(point, false).point);
        PointProjection::new(is_inside, nearest)
    }

    fn project_local_point_and_get_feature(&self, point: Vector) -> (PointProjection, FeatureId) {
        (self.project_local_point(point, false), FeatureId::Unknown)
    }
}

impl Shape for FragmentShape {
    fn compute_local_aabb(&self) -> Aabb {
        self.bounds.loosened(self.margin)
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        self.bounds.bounding_sphere()
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    fn scale_dyn(&self, _: Vector, _: u32) -> Option<Box<dyn Shape>> {
        // Field and tree are baked at one size: bake the object at the other.
        None
    }

    fn mass_properties(&self, density: Real) -> MassProperties {
        let unit = &self.mass;
        // Not by parry's own eigenvalues: they take cosines from the system's library,
        // which differ by a bit between machines.
        let (moments, axes) = unit.principal();
        let axes = Matrix::from_cols(
            axes.x_axis.as_vec3(),
            axes.y_axis.as_vec3(),
            axes.z_axis.as_vec3(),
        );
        MassProperties::with_principal_inertia_frame(
            unit.centre.as_vec3(),
            (unit.volume * f64::from(density)) as f32,
            (moments * f64::from(density)).as_vec3(),
            Rotation::from_mat3(&axes).normalize(),
        )
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    fn ccd_thickness(&self) -> Real {
        self.inner_radius
    }

    fn ccd_angular_thickness(&self) -> Real {
        std::f32::consts::FRAC_PI_4
    }
}
