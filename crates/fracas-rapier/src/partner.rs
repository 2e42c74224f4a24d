//! Every shape of the engine as the partner of a sphere tree: one table for contacts,
//! casts, voxels and overlaps.
//!
//! A shape is a list of parts ([`parts`]), each a *core* with a signed distance and a
//! rounding that is taken off it: a ball is a point, a capsule a segment.
//!
//! | shape | core | inside |
//! | --- | --- | --- |
//! | half-space, ball, cuboid | analytic | exact |
//! | capsule, segment | segment | exact; a bare segment has none |
//! | cylinder, cone | profile turned about y | exact |
//! | convex polyhedron | planes of its faces; outside by parry's projection | exact |
//! | rounded ones | the same, rounded | exact |
//! | triangle | one-sided sheet | a thickness behind it |
//! | triangle mesh, height field | sheets with pseudonormals | a thickness behind them |
//! | voxels | the boxes of those near | of each for itself: at most half a voxel deep |
//! | compound | its parts | of each |
//! | polyline, foreign custom shapes | none: [`UnsupportedShape`] | |
//!
//! **Sheets.** Meshes and height fields have no inside: behind their surface, which is
//! where their triangles do not look, counts as inside as deep as a thickness that the
//! caller chooses. Which side a point is on is told by the angle-weighted pseudonormal at
//! the closest point [Bærentzen and Aanæs 2005]: the normal of the closest triangle alone
//! is wrong at acute edges, where it depends on rounding which triangle is closest. The
//! triangles about a point are found by place, so meshes need no topology, and vertices
//! that are stored twice do no harm. Beyond a free edge there is no behind.

use fracas::fragment_surface::FaceKind;
use fracas::sphere_tree::{Ball, BoxShape, HalfSpace, NearFace, Partner, Sample};
use fracas::tet_mesh::NONE;
use glam::{Vec2, Vec3};
use parry3d::bounding_volume::Aabb;
use parry3d::math::Pose;
use parry3d::query::{PointQuery, PointQueryWithLocation};
use parry3d::shape::{ConvexPolyhedron, HeightField, Shape, TriMesh, Triangle, TypedShape, Voxels};
use thiserror::Error;

/// A shape that fragments cannot meet: the pair does not collide. Ask
/// [`check_shape`] before.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("fragments cannot meet a {0}: use a triangle mesh, a compound or a convex shape")]
pub struct UnsupportedShape(pub &'static str);

/// Whether fragments can meet a shape.
///
/// # Errors
/// [`UnsupportedShape`], which says what it is.
pub fn check_shape(shape: &dyn Shape) -> Result<(), UnsupportedShape> {
    if shape.as_shape::<crate::FragmentShape>().is_some() {
        return Ok(());
    }
    let nowhere = Aabb::new(Vec3::ZERO, Vec3::ZERO);
    parts(shape, &Pose::identity(), 1.0, &nowhere, &mut |_, _, _| ())
}

/// What a part of a shape is before it is rounded.
enum Core<'a> {
    HalfSpace(HalfSpace),
    Ball(Ball, f32),
    Box(BoxShape, Vec3),
    Segment([Vec3; 2]),
    Turned(Profile),
    Hull(&'a ConvexPolyhedron),
    Triangle(OneTriangle),
    Mesh(Mesh<'a>),
    Heights(Heights<'a>),
}

/// A simple part of a shape.
pub(crate) struct Part<'a> {
    core: Core<'a>,
    /// Rounding.
    border: f32,
    /// Radius of the largest ball that fits in, or about so.
    pub(crate) inner: f32,
    /// Whether it has no edges at which a face must be chosen.
    pub(crate) smooth: bool,
}

/// Calls `visit` for all parts of a shape, with their poses in the shape's frame.
/// `thickness`: how far behind a sheet is inside. `near`: where parts are wanted, where
/// there are many (voxels).
pub(crate) fn parts<'a>(
    shape: &'a dyn Shape,
    pose: &Pose,
    thickness: f32,
    near: &Aabb,
    visit: &mut dyn FnMut(&Pose, &'a dyn Shape, &Part<'a>),
) -> Result<(), UnsupportedShape> {
    match shape.as_typed_shape() {
        TypedShape::Compound(compound) => {
            for (at, inner) in compound.shapes() {
                let near = near.transform_by(&at.inverse());
                parts(&**inner, &(*pose * *at), thickness, &near, visit)?;
            }
        }
        TypedShape::Voxels(voxels) => voxel_parts(voxels, shape, pose, near, visit),
        _ => visit(pose, shape, &simple(shape, thickness)?),
    }
    Ok(())
}

/// Surface voxels that are near, as boxes.
fn voxel_parts<'a>(
    voxels: &'a Voxels,
    shape: &'a dyn Shape,
    pose: &Pose,
    near: &Aabb,
    visit: &mut dyn FnMut(&Pose, &'a dyn Shape, &Part<'a>),
) {
    let half = 0.5 * voxels.voxel_size();
    for voxel in voxels.voxels_intersecting_local_aabb(near) {
        if voxel.state.is_empty() {
            continue;
        }
        let part = Part {
            core: Core::Box(BoxShape::new(half), half),
            border: 0.0,
            inner: half.min_element(),
            smooth: false,
        };
        visit(
            &(*pose * Pose::from_translation(voxel.center)),
            shape,
            &part,
        );
    }
}

/// The one part of a shape that is no collection.
fn simple(shape: &dyn Shape, thickness: f32) -> Result<Part<'_>, UnsupportedShape> {
    let part = |core: Core<'static>, inner: f32, smooth: bool| Part {
        core,
        border: 0.0,
        inner,
        smooth,
    };
    let capsule = |ends: [Vec3; 2], border: f32| Part {
        core: Core::Segment(ends),
        border,
        inner: border,
        smooth: true,
    };
    Ok(match shape.as_typed_shape() {
        TypedShape::HalfSpace(h) => {
            let core = Core::HalfSpace(HalfSpace::new(h.normal, 0.0));
            part(core, f32::INFINITY, true)
        }
        TypedShape::Ball(b) => {
            let core = Core::Ball(Ball::new(Vec3::ZERO, b.radius), b.radius);
            part(core, b.radius, true)
        }
        TypedShape::Cuboid(c) => boxed(c.half_extents),
        TypedShape::Capsule(c) => capsule([c.segment.a, c.segment.b], c.radius),
        TypedShape::Segment(s) => capsule([s.a, s.b], 0.0),
        TypedShape::Cylinder(c) => turned(Profile::cylinder(c.half_height, c.radius)),
        TypedShape::Cone(c) => turned(Profile::cone(c.half_height, c.radius)),
        TypedShape::ConvexPolyhedron(hull) => polyhedron(hull, shape),
        TypedShape::RoundCuboid(r) => boxed(r.inner_shape.half_extents).rounded(r.border_radius),
        TypedShape::RoundCylinder(r) => {
            let c = &r.inner_shape;
            turned(Profile::cylinder(c.half_height, c.radius)).rounded(r.border_radius)
        }
        TypedShape::RoundCone(r) => {
            let c = &r.inner_shape;
            turned(Profile::cone(c.half_height, c.radius)).rounded(r.border_radius)
        }
        TypedShape::RoundConvexPolyhedron(r) => {
            polyhedron(&r.inner_shape, shape).rounded(r.border_radius)
        }
        TypedShape::Triangle(t) => {
            let triangle = *t;
            let core = Core::Triangle(OneTriangle {
                triangle,
                behind: Some(thickness),
            });
            part(core, thickness, true)
        }
        TypedShape::RoundTriangle(r) => {
            let triangle = r.inner_shape;
            // Its own rounding is its inside.
            let core = Core::Triangle(OneTriangle {
                triangle,
                behind: None,
            });
            part(core, 0.0, true).rounded(r.border_radius)
        }
        TypedShape::TriMesh(mesh) => Part {
            core: Core::Mesh(Mesh { mesh, thickness }),
            border: 0.0,
            inner: thickness,
            smooth: true,
        },
        TypedShape::HeightField(field) => Part {
            core: Core::Heights(Heights { field, thickness }),
            border: 0.0,
            inner: thickness,
            smooth: true,
        },
        TypedShape::Polyline(_) => return Err(UnsupportedShape("polyline")),
        _ => return Err(UnsupportedShape("custom shape that is no fragment")),
    })
}

fn boxed(half: Vec3) -> Part<'static> {
    Part {
        core: Core::Box(BoxShape::new(half), half),
        border: 0.0,
        inner: half.min_element(),
        smooth: false,
    }
}

fn turned(profile: Profile) -> Part<'static> {
    Part {
        border: 0.0,
        inner: profile.inner(),
        core: Core::Turned(profile),
        smooth: false,
    }
}

fn polyhedron<'a>(hull: &'a ConvexPolyhedron, shape: &dyn Shape) -> Part<'a> {
    Part {
        core: Core::Hull(hull),
        border: 0.0,
        inner: shape.ccd_thickness(),
        smooth: false,
    }
}

impl Part<'_> {
    fn rounded(mut self, border: f32) -> Self {
        self.border = border;
        self.inner += border;
        self.smooth = true;
        self
    }

    /// Signed distance and way out of the core.
    fn core_sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        match &self.core {
            Core::HalfSpace(h) => h.sample(p, max),
            Core::Ball(b, _) => b.sample(p, max),
            Core::Box(b, _) => b.sample(p, max),
            Core::Segment(ends) => segment_sample(*ends, p, max),
            Core::Turned(profile) => profile.sample(p, max),
            Core::Hull(hull) => hull_sample(hull, p, max),
            Core::Triangle(triangle) => triangle.sample(p, max),
            Core::Mesh(mesh) => mesh.sample(p, max),
            Core::Heights(heights) => heights.sample(p, max),
        }
    }
}

impl Part<'_> {
    /// The part's own points that are held against a fragment, each with a radius: corners,
    /// rims, and what is rounded as balls. Of meshes those in the box `near`.
    pub(crate) fn own_points(&self, near: &Aabb, out: &mut Vec<(Vec3, f32)>) {
        out.clear();
        let mut add = |p: Vec3| out.push((p, self.border));
        match &self.core {
            Core::HalfSpace(_) => {}
            Core::Ball(_, radius) => out.push((Vec3::ZERO, *radius)),
            Core::Box(_, half) => box_samples(*half).into_iter().for_each(add),
            Core::Segment([a, b]) => [0.0, 0.5, 1.0]
                .map(|t| *a + (*b - *a) * t)
                .into_iter()
                .for_each(add),
            Core::Turned(profile) => profile.own_points(&mut add),
            Core::Hull(hull) => hull.points().iter().copied().for_each(add),
            Core::Triangle(t) => [t.triangle.a, t.triangle.b, t.triangle.c]
                .into_iter()
                .for_each(add),
            Core::Mesh(Mesh { mesh, .. }) => {
                let triangles = mesh.bvh().intersect_aabb(near);
                let mut vertices: Vec<u32> =
                    triangles.flat_map(|t| mesh.indices()[t as usize]).collect();
                vertices.sort_unstable();
                vertices.dedup();
                vertices
                    .iter()
                    .for_each(|&v| add(mesh.vertices()[v as usize]));
            }
            // Its own corners are found where the fragment's points are near them.
            Core::Heights(_) => {}
        }
    }

    /// Whether it is a surface without inside, which fast points may cross.
    pub(crate) fn is_sheet(&self) -> bool {
        match &self.core {
            Core::Triangle(triangle) => triangle.behind.is_some(),
            core => matches!(core, Core::Mesh(_) | Core::Heights(_)),
        }
    }
}

impl Partner for Part<'_> {
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        let reach = radius.max(0.0) + self.border;
        match &self.core {
            Core::HalfSpace(h) => h.sphere_may_touch(p, reach),
            Core::Ball(b, _) => b.sphere_may_touch(p, reach),
            Core::Box(b, _) => b.sphere_may_touch(p, reach),
            Core::Segment(ends) => {
                p.distance_squared(closest_on_segment(*ends, p)) <= reach * reach
            }
            Core::Turned(profile) => profile.distance(p) <= reach,
            Core::Hull(hull) => hull_planes(hull, p).0 <= reach,
            Core::Triangle(t) => t.may_touch(p, reach),
            Core::Mesh(mesh) => mesh.may_touch(p, reach),
            Core::Heights(heights) => heights.may_touch(p, reach),
        }
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let found = self.core_sample(p, max + self.border)?;
        let distance = found.distance - self.border;
        (distance < max || distance < 0.0).then_some(Sample { distance, ..found })
    }

    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        match &self.core {
            Core::Box(b, _) if self.border == 0.0 => b.faces_near(p, max, out),
            _ => tangent_plane(self.sample(p, max), max, out),
        }
    }

    fn is_solid(&self) -> bool {
        !self.is_sheet()
    }
}

fn closest_on_segment([a, b]: [Vec3; 2], p: Vec3) -> Vec3 {
    let along = b - a;
    let square = along.length_squared();
    let share = if square > 0.0 {
        ((p - a).dot(along) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    a + along * share
}

fn segment_sample(ends: [Vec3; 2], p: Vec3, max: f32) -> Option<Sample> {
    let away = p - closest_on_segment(ends, p);
    let distance = away.length();
    (distance < max).then(|| Sample {
        distance,
        normal: away.normalize_or((ends[1] - ends[0]).any_orthonormal_vector_or_y()),
    })
}

/// A direction at right angles, for points on the axis itself.
trait AnyAcross {
    fn any_orthonormal_vector_or_y(self) -> Vec3;
}

impl AnyAcross for Vec3 {
    fn any_orthonormal_vector_or_y(self) -> Vec3 {
        self.try_normalize()
            .map_or(Vec3::Y, Vec3::any_orthonormal_vector)
    }
}

/// The profile of a body that is turned about the y axis: corners at (radius, height),
/// from the axis below to the axis above, convex.
struct Profile {
    corners: [Vec2; 4],
    count: usize,
}

impl Profile {
    fn cylinder(half_height: f32, radius: f32) -> Self {
        let (r, h) = (radius, half_height);
        Self {
            corners: [
                Vec2::new(0.0, -h),
                Vec2::new(r, -h),
                Vec2::new(r, h),
                Vec2::new(0.0, h),
            ],
            count: 4,
        }
    }

    fn cone(half_height: f32, radius: f32) -> Self {
        let tip = Vec2::new(0.0, half_height);
        Self {
            corners: [
                Vec2::new(0.0, -half_height),
                Vec2::new(radius, -half_height),
                tip,
                tip,
            ],
            count: 3,
        }
    }

    /// Points round the rims, and a tip.
    fn own_points(&self, add: &mut impl FnMut(Vec3)) {
        for corner in &self.corners[..self.count] {
            if corner.x > 0.0 {
                rim(corner.x, corner.y).for_each(&mut *add);
            }
        }
        if self.count == 3 {
            add(Vec3::Y * self.corners[2].y);
        }
    }

    /// Radius of a ball that fits in, about.
    fn inner(&self) -> f32 {
        let [_, rim, top, _] = self.corners;
        let slope = (top - rim).length();
        // Of a cone: twice the area of its profile over the perimeter.
        let height = top.y - rim.y;
        if self.count == 4 {
            rim.x.min(0.5 * height)
        } else {
            2.0 * rim.x * height / (2.0 * rim.x + 2.0 * slope)
        }
    }

    /// Signed distance and outward direction in the plane of the profile.
    fn at(&self, q: Vec2) -> (f32, Vec2) {
        let mut inside: Option<(f32, Vec2)> = None;
        let mut outside: Option<(f32, Vec2)> = None;
        let mut is_outside = false;
        for pair in self.corners[..self.count].windows(2) {
            let along = pair[1] - pair[0];
            let normal = Vec2::new(along.y, -along.x).normalize_or(Vec2::Y);
            let height = (q - pair[0]).dot(normal);
            is_outside |= height > 0.0;
            if inside.is_none_or(|(best, _)| height > best) {
                inside = Some((height, normal));
            }
            let share = ((q - pair[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            let away = q - (pair[0] + along * share);
            let length = away.length();
            if outside.is_none_or(|(best, _)| length < best) {
                outside = Some((length, away.normalize_or(normal)));
            }
        }
        let found = if is_outside { outside } else { inside };
        found.unwrap_or((f32::INFINITY, Vec2::Y))
    }

    fn distance(&self, p: Vec3) -> f32 {
        let radius = (p.x * p.x + p.z * p.z).sqrt();
        self.at(Vec2::new(radius, p.y)).0
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let across = Vec3::new(p.x, 0.0, p.z);
        let radius = across.length();
        let (distance, way) = self.at(Vec2::new(radius, p.y));
        (distance < max).then(|| {
            let out = across.normalize_or(Vec3::X);
            let normal = (out * way.x + Vec3::Y * way.y).normalize_or(Vec3::Y);
            Sample { distance, normal }
        })
    }
}

/// The largest of the distances from the faces' planes, and that face's normal: exact
/// inside, a lower bound outside.
fn hull_planes(hull: &ConvexPolyhedron, p: Vec3) -> (f32, Vec3) {
    let corners = hull.vertices_adj_to_face();
    let mut best = (f32::NEG_INFINITY, Vec3::Y);
    for face in hull.faces() {
        let corner = hull.points()[corners[face.first_vertex_or_edge as usize] as usize];
        let height = (p - corner).dot(face.normal);
        if height > best.0 {
            best = (height, face.normal);
        }
    }
    best
}

fn hull_sample(hull: &ConvexPolyhedron, p: Vec3, max: f32) -> Option<Sample> {
    let (height, normal) = hull_planes(hull, p);
    if height >= max {
        return None;
    }
    if height <= 0.0 {
        return Some(Sample {
            distance: height,
            normal,
        });
    }
    let away = p - hull.project_local_point(p, true).point;
    // Never below the bound: parry's projection ends with a tolerance.
    let distance = away.length().max(height);
    (distance < max).then(|| Sample {
        distance,
        normal: away.normalize_or(normal),
    })
}

/// A triangle by itself.
struct OneTriangle {
    triangle: Triangle,
    /// How far behind it is inside; `None`: it has no side, and no inside.
    behind: Option<f32>,
}

impl OneTriangle {
    fn may_touch(&self, p: Vec3, reach: f32) -> bool {
        self.triangle.distance_to_local_point(p, true) <= reach.max(self.behind.unwrap_or(0.0))
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let found = self.triangle.project_local_point(p, false).point;
        let mut side = Pseudonormal::at(found);
        side.add(&self.triangle);
        if let Some(thickness) = self.behind {
            return one_sided(p, found, &side, max, thickness);
        }
        let away = p - found;
        let distance = away.length();
        (distance < max).then(|| Sample {
            distance,
            normal: away.normalize_or(side.normal().unwrap_or(Vec3::Y)),
        })
    }
}

/// A triangle mesh, seen from the side its triangles look to.
struct Mesh<'a> {
    mesh: &'a TriMesh,
    /// How far behind a triangle is still inside.
    thickness: f32,
}

impl Mesh<'_> {
    fn may_touch(&self, p: Vec3, radius: f32) -> bool {
        let reach = radius.max(self.thickness);
        let gap = p - p.clamp(self.mesh.local_aabb().mins, self.mesh.local_aabb().maxs);
        gap.length_squared() <= reach * reach
            && self
                .mesh
                .project_local_point_with_max_dist(p, false, reach)
                .is_some()
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let reach = max.max(self.thickness);
        let (found, (triangle, _)) = self
            .mesh
            .project_local_point_and_get_location_with_max_dist(p, false, reach)?;
        let mut side = Pseudonormal::at(found.point);
        side.add(&self.mesh.triangle(triangle));
        if side.is_at_rim() {
            let around = side.surroundings();
            side = Pseudonormal::at(found.point);
            for near in self.mesh.bvh().intersect_aabb(&around) {
                side.add(&self.mesh.triangle(near));
            }
        }
        one_sided(p, found.point, &side, max, self.thickness)
    }
}

/// A height field: up is +y of its own frame.
struct Heights<'a> {
    field: &'a HeightField,
    thickness: f32,
}

impl Heights<'_> {
    fn may_touch(&self, p: Vec3, radius: f32) -> bool {
        let reach = radius.max(self.thickness);
        let gap = p - p.clamp(self.field.root_aabb().mins, self.field.root_aabb().maxs);
        gap.length_squared() <= reach * reach
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let reach = max.max(self.thickness);
        let found = self
            .field
            .project_local_point_with_max_dist(p, false, reach)?;
        let mut side = Pseudonormal::at(found.point);
        let size = self.field.cell_width().max(self.field.cell_height());
        side.reach = size * SAME_PLACE;
        let around = side.surroundings();
        self.field
            .map_elements_in_local_aabb(&around, &mut |_, triangle| side.add(&upward(*triangle)));
        one_sided(p, found.point, &side, max, self.thickness)
    }
}

/// A triangle of a height field, made to look up.
fn upward(triangle: Triangle) -> Triangle {
    if triangle.scaled_normal().y < 0.0 {
        Triangle::new(triangle.a, triangle.c, triangle.b)
    } else {
        triangle
    }
}

/// Places are the same within this share of a triangle's longest side.
const SAME_PLACE: f32 = 1e-4;

/// The sum of the normals of all triangles about a point of a surface, weighted by the
/// angle that each fills there.
struct Pseudonormal {
    place: Vec3,
    sum: Vec3,
    /// Angle filled, in radians.
    angle: f32,
    triangles: u32,
    /// Whether the place is on an edge or a corner of the last triangle.
    at_rim: bool,
    at_corner: bool,
    /// Within this distance places are the same.
    reach: f32,
}

impl Pseudonormal {
    fn at(place: Vec3) -> Self {
        Self {
            place,
            sum: Vec3::ZERO,
            angle: 0.0,
            triangles: 0,
            at_rim: false,
            at_corner: false,
            reach: 0.0,
        }
    }

    fn add(&mut self, triangle: &Triangle) {
        use std::f32::consts::{PI, TAU};
        let corners = [triangle.a, triangle.b, triangle.c];
        let Some(normal) = triangle.normal() else {
            return;
        };
        let longest = (0..3)
            .map(|i| corners[i].distance(corners[(i + 1) % 3]))
            .fold(0.0, f32::max);
        let same = longest * SAME_PLACE;
        self.reach = self.reach.max(same);
        if triangle.distance_to_local_point(self.place, true) > same {
            return;
        }
        let corner = (0..3).find(|&i| corners[i].distance(self.place) <= same);
        let on_edge = |i: usize| {
            let ends = [corners[i], corners[(i + 1) % 3]];
            closest_on_segment(ends, self.place).distance(self.place) <= same
        };
        let angle = if let Some(i) = corner {
            self.at_corner = true;
            let to = |j: usize| (corners[j] - corners[i]).normalize_or_zero();
            let cosine = to((i + 1) % 3).dot(to((i + 2) % 3)).clamp(-1.0, 1.0);
            libm::acosf(cosine)
        } else if (0..3).any(on_edge) {
            PI
        } else {
            TAU
        };
        self.at_rim = angle < TAU;
        self.angle += angle;
        self.triangles += 1;
        self.sum += normal * angle;
    }

    /// Whether other triangles may share the place.
    fn is_at_rim(&self) -> bool {
        self.at_rim
    }

    /// Where other triangles that share the place are.
    fn surroundings(&self) -> Aabb {
        let reach = Vec3::splat(self.reach);
        Aabb::new(self.place - reach, self.place + reach)
    }

    /// Unit; nothing where triangles look both ways.
    fn normal(&self) -> Option<Vec3> {
        let least = 1e-3 * self.angle;
        (self.sum.length_squared() > least * least).then(|| self.sum.normalize())
    }

    /// Whether the place is on a free edge: one triangle only.
    fn is_free(&self) -> bool {
        self.at_rim && self.triangles == 1
    }
}

/// Signed distance to a surface without inside: the side of the pseudonormal decides.
fn one_sided(
    p: Vec3,
    surface: Vec3,
    side: &Pseudonormal,
    max: f32,
    thickness: f32,
) -> Option<Sample> {
    let away = p - surface;
    let length = away.length();
    let face = side.normal();
    // Beyond a free edge there is no behind, nor where a sheet looks both ways; on the edge
    // itself the sheet has its side.
    let beyond = side.is_free() && length > 1e-4 * thickness && {
        let face = face.unwrap_or(Vec3::Y);
        let aside = away - face * away.dot(face);
        aside.length_squared() > 1e-6 * length * length
    };
    let behind = !beyond && face.is_some_and(|face| away.dot(face) < 0.0);
    if length >= if behind { thickness } else { max } {
        return None;
    }
    let sign = if behind { -1.0 } else { 1.0 };
    let face = face.unwrap_or(Vec3::Y);
    // Near the surface the quotient is noise: the face's own normal is not.
    let normal = if length > 1e-4 * thickness {
        (away * sign).normalize_or(face)
    } else {
        face
    };
    Some(Sample {
        distance: sign * length,
        normal,
    })
}

fn tangent_plane(sample: Option<Sample>, max: f32, out: &mut Vec<NearFace>) {
    out.clear();
    if let Some(Sample { distance, normal }) = sample
        && distance.abs() <= max
    {
        out.push(NearFace {
            distance: distance.abs(),
            plane_distance: distance,
            normal,
            kind: FaceKind::Old,
            tet: NONE,
        });
    }
}

/// Corners of a box, then the middles of its edges.
fn box_samples(half: Vec3) -> [Vec3; 20] {
    let mut points = [Vec3::ZERO; 20];
    for (i, point) in points.iter_mut().take(8).enumerate() {
        let sign = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
        *point = half * Vec3::new(sign(1), sign(2), sign(4));
    }
    let mut next = 8;
    for axis in 0..3 {
        for (u, v) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
            let mut p = Vec3::ZERO;
            p[(axis + 1) % 3] = u * half[(axis + 1) % 3];
            p[(axis + 2) % 3] = v * half[(axis + 2) % 3];
            points[next] = p;
            next += 1;
        }
    }
    points
}

/// Sixteen points round a rim.
fn rim(radius: f32, y: f32) -> impl Iterator<Item = Vec3> {
    // cos and sin of multiples of 22.5 degrees, from square roots: the same everywhere.
    let half = 0.5_f32.sqrt();
    let (c, s) = ((0.5 + 0.5 * half).sqrt(), (0.5 - 0.5 * half).sqrt());
    let quarter = [(1.0, 0.0), (c, s), (half, half), (s, c)];
    (0..16).map(move |i| {
        let (x, z) = quarter[i % 4];
        let (x, z) = match i / 4 {
            0 => (x, z),
            1 => (-z, x),
            2 => (-x, -z),
            _ => (z, -x),
        };
        Vec3::new(radius * x, y, radius * z)
    })
}
