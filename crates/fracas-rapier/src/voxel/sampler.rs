//! The engine's plain shapes as signed distances, for cubes to be tested against.

use fracas::sphere_tree::{Ball, BoxShape, HalfSpace, Partner, Sample};
use fracas::voxel_tree::Plane;
use glam::{Mat3, Vec3};
use parry3d::math::Pose;
use parry3d::shape::{Shape, TypedShape};

use crate::partner::{Heights, Mesh, Solid};

/// Signed distance and outward direction at a point of the shape's frame; nothing
/// where it is farther off than `max`, or where the shape is not known.
/// `thickness`: how far behind a surface without inside counts as inside.
fn sample(shape: &dyn Shape, p: Vec3, max: f32, thickness: f32) -> Option<(f32, Vec3)> {
    let told = |s: Sample| (s.distance, s.normal);
    match shape.as_typed_shape() {
        TypedShape::HalfSpace(h) => HalfSpace::new(h.normal, 0.0).sample(p, max).map(told),
        TypedShape::Ball(b) => Ball::new(Vec3::ZERO, b.radius).sample(p, max).map(told),
        TypedShape::Cuboid(c) => BoxShape::new(c.half_extents).sample(p, max).map(told),
        TypedShape::TriMesh(mesh) => Mesh { mesh, thickness }.sample(p, max).map(told),
        TypedShape::HeightField(field) => Heights { field, thickness }.sample(p, max).map(told),
        TypedShape::Compound(compound) => {
            let mut best: Option<(f32, Vec3)> = None;
            for (pose, inner) in compound.shapes() {
                let local = pose.inverse_transform_point(p);
                let found = sample(&**inner, local, max, thickness);
                if let Some((distance, normal)) = found
                    && best.is_none_or(|b| distance < b.0)
                {
                    best = Some((distance, pose.rotation * normal));
                }
            }
            best
        }
        TypedShape::Custom(_) => None,
        _ => Solid(shape).sample(p, max).map(told),
    }
}

/// A floor in the frame of another body, if the shape is one: `pos` places it there.
pub(super) fn plane(shape: &dyn Shape, pos: &Pose) -> Option<Plane> {
    let TypedShape::HalfSpace(half_space) = shape.as_typed_shape() else {
        return None;
    };
    let normal = Mat3::from_quat(pos.rotation) * half_space.normal;
    Some(Plane {
        normal,
        height: normal.dot(pos.translation),
    })
}

/// Any shape in the frame of another body: `pos` places it there.
pub(super) fn sampler<'a>(
    shape: &'a dyn Shape,
    pos: &Pose,
    thickness: f32,
) -> impl Fn(Vec3, f32) -> Option<(f32, Vec3)> + use<'a> {
    let pos = *pos;
    let rotation = Mat3::from_quat(pos.rotation);
    move |p, max| {
        let (distance, normal) = sample(shape, pos.inverse_transform_point(p), max, thickness)?;
        Some((distance, rotation * normal))
    }
}
