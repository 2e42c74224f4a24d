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
//! Sheets are told in [`sheet`]. Rays and points at these shapes are the engine's own
//! business; at a fragment [`crate::FragmentShape`] answers.

mod sheet;
#[cfg(test)]
mod tests;

use fracas_core::fragment_surface::FaceKind;
use fracas_core::sphere_tree::{Ball, BoxShape, HalfSpace, NearFace, Partner, Sample};
use fracas_core::tet_mesh::NONE;
use glam::{Vec2, Vec3};
use parry3d::bounding_volume::Aabb;
use parry3d::math::Pose;
use parry3d::query::PointQuery;
use parry3d::shape::{ConvexPolyhedron, Shape, Triangle, TypedShape, Voxels};
use thiserror::Error;

use sheet::{Sheet, Surface};

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
    Triangle(Triangle),
    Sheet(Sheet<'a>),
}

/// A point of a plain shape that is held against a fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnPoint {
    /// Index of the point in its part: the same in every query.
    pub(crate) id: u32,
    pub(crate) center: Vec3,
    pub(crate) radius: f32,
}

/// A simple part of a shape.
pub(crate) struct Part<'a> {
    core: Core<'a>,
    /// Index in the compound; zero elsewhere.
    pub(crate) index: u32,
    /// Grid coordinates, where the part is a voxel. Which voxels are visited changes from
    /// query to query.
    pub(crate) voxel: Option<[i32; 3]>,
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
            // A compound holds no further compounds: the engine refuses them.
            for (index, (at, inner)) in (0..).zip(compound.shapes()) {
                let near = near.transform_by(&at.inverse());
                parts_of_child(&**inner, index, &(*pose * *at), thickness, &near, visit)?;
            }
            Ok(())
        }
        _ => parts_of_child(shape, 0, pose, thickness, near, visit),
    }
}

/// The parts of a shape that is no compound: the voxels that are near, or the one part of
/// any other shape. `index`: its place in the compound.
fn parts_of_child<'a>(
    shape: &'a dyn Shape,
    index: u32,
    pose: &Pose,
    thickness: f32,
    near: &Aabb,
    visit: &mut dyn FnMut(&Pose, &'a dyn Shape, &Part<'a>),
) -> Result<(), UnsupportedShape> {
    if let TypedShape::Voxels(voxels) = shape.as_typed_shape() {
        voxel_parts((voxels, index), shape, pose, near, visit);
        return Ok(());
    }
    let part = Part {
        index,
        ..simple(shape, thickness)?
    };
    visit(pose, shape, &part);
    Ok(())
}

/// Surface voxels that are near, as boxes.
fn voxel_parts<'a>(
    (voxels, index): (&'a Voxels, u32),
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
            index,
            voxel: Some(voxel.grid_coords.to_array()),
            ..boxed(half)
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
    let part = |core: Core<'static>, inner: f32, smooth: bool| Part::new(core, inner, smooth);
    let capsule = |ends: [Vec3; 2], border: f32| Part {
        border,
        ..Part::new(Core::Segment(ends), border, true)
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
        TypedShape::Triangle(t) => sheet(Surface::Triangle(t), thickness),
        TypedShape::TriMesh(mesh) => sheet(Surface::Mesh(mesh), thickness),
        TypedShape::HeightField(field) => sheet(Surface::Heights(field), thickness),
        // Its own rounding is its inside.
        TypedShape::RoundTriangle(r) => {
            part(Core::Triangle(r.inner_shape), 0.0, true).rounded(r.border_radius)
        }
        TypedShape::Polyline(_) => return Err(UnsupportedShape("polyline")),
        _ => return Err(UnsupportedShape("custom shape that is no fragment")),
    })
}

fn sheet(surface: Surface<'_>, thickness: f32) -> Part<'_> {
    Part::new(Core::Sheet(Sheet { surface, thickness }), thickness, true)
}

fn boxed(half: Vec3) -> Part<'static> {
    let core = Core::Box(BoxShape::new(half), half);
    Part::new(core, half.min_element(), false)
}

fn turned(profile: Profile) -> Part<'static> {
    let inner = profile.inner();
    Part::new(Core::Turned(profile), inner, false)
}

fn polyhedron<'a>(hull: &'a ConvexPolyhedron, shape: &dyn Shape) -> Part<'a> {
    Part::new(Core::Hull(hull), shape.ccd_thickness(), false)
}

impl<'a> Part<'a> {
    /// A part that is not rounded, the only one of its shape.
    fn new(core: Core<'a>, inner: f32, smooth: bool) -> Self {
        Self {
            core,
            index: 0,
            voxel: None,
            border: 0.0,
            inner,
            smooth,
        }
    }

    /// Number of the part among all parts of its shape that a query can visit, for
    /// [`crate::manifold::PointId`]: ten bits of each of a voxel's coordinates.
    pub(crate) fn number(&self) -> u32 {
        let Some(voxel) = self.voxel else {
            return self.index;
        };
        let [x, y, z] = voxel.map(|x| x as u32 & 0x3ff);
        (x << 20 | y << 10 | z) ^ self.index.wrapping_mul(0x9e37_79b1)
    }

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
            Core::Triangle(triangle) => triangle_sample(triangle, p, max),
            Core::Sheet(sheet) => sheet.sample(p, max),
        }
    }
}

impl Part<'_> {
    /// The part's own points that are held against a fragment: corners, rims, and what is
    /// rounded as balls. Of meshes those in the box `near`.
    pub(crate) fn own_points(&self, near: &Aabb, out: &mut Vec<OwnPoint>) {
        out.clear();
        let mut add = |center: Vec3| {
            out.push(OwnPoint {
                id: out.len() as u32,
                center,
                radius: self.border,
            });
        };
        match &self.core {
            Core::HalfSpace(_) => {}
            Core::Ball(_, radius) => out.push(OwnPoint {
                id: 0,
                center: Vec3::ZERO,
                radius: *radius,
            }),
            Core::Box(_, half) => box_samples(*half).into_iter().for_each(add),
            Core::Segment([a, b]) => [0.0, 0.5, 1.0]
                .map(|t| *a + (*b - *a) * t)
                .into_iter()
                .for_each(add),
            Core::Turned(profile) => profile.own_points(&mut add),
            Core::Hull(hull) => hull.points().iter().copied().for_each(add),
            Core::Triangle(t) => [t.a, t.b, t.c].into_iter().for_each(add),
            Core::Sheet(sheet) => sheet.surface.own_points(near, |id, center| {
                out.push(OwnPoint {
                    id,
                    center,
                    radius: self.border,
                });
            }),
        }
    }

    /// Whether it is a surface without inside, which fast points may cross.
    pub(crate) fn is_sheet(&self) -> bool {
        matches!(self.core, Core::Sheet(_))
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
            Core::Triangle(t) => t.distance_to_local_point(p, true) <= reach,
            Core::Sheet(sheet) => sheet.may_touch(p, reach),
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

    fn has_bounds(&self) -> bool {
        true
    }

    fn bound(&self, p: Vec3, max: f32, found: Option<f32>) -> f32 {
        match &self.core {
            Core::Sheet(sheet) => sheet.bound(p, max, found),
            _ => found.unwrap_or(max),
        }
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

/// Distance to a triangle that has no sides.
fn triangle_sample(triangle: &Triangle, p: Vec3, max: f32) -> Option<Sample> {
    let away = p - triangle.project_local_point(p, false).point;
    let distance = away.length();
    (distance < max).then(|| Sample {
        distance,
        normal: away.normalize_or(triangle.normal().unwrap_or(Vec3::Y)),
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
            kind: FaceKind::Outer,
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
