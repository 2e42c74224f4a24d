//! The engine's plain shapes as signed distances, for cubes to be tested against.

use fracas_core::sphere_tree::{Partner, Sample};
use fracas_voxel::Plane;
use glam::{Mat3, Vec3};
use parry3d::bounding_volume::Aabb;
use parry3d::math::Pose;
use parry3d::shape::{Shape, TypedShape};

use crate::partner::parts;

/// Signed distance and outward direction at a point of the shape's frame; nothing
/// where it is farther off than `max`, or where the shape is not known.
/// `thickness`: how far behind a surface without inside counts as inside.
fn sample(shape: &dyn Shape, p: Vec3, max: f32, thickness: f32) -> Option<(f32, Vec3)> {
    let mut best: Option<(f32, Vec3)> = None;
    let near = Aabb::new(p - max, p + max);
    let visited = parts(
        shape,
        &Pose::identity(),
        thickness,
        &near,
        &mut |at, _, part| {
            let found = part.sample(at.inverse_transform_point(p), max);
            if let Some(Sample { distance, normal }) = found
                && best.is_none_or(|b| distance < b.0)
            {
                best = Some((distance, at.rotation * normal));
            }
        },
    );
    visited.ok().and(best)
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
