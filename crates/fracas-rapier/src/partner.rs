//! Any shape of parry's as the partner of a sphere tree.
//!
//! Half-spaces, balls and boxes have analytic partners in `fracas`; everything else
//! is asked by projecting points on it. Meshes and height fields have no inside:
//! behind their surface, which is where their triangles do not look, counts as
//! inside as deep as the query reaches.

use fracas::fragment_surface::FaceKind;
use fracas::sphere_tree::{NearFace, Partner, Sample};
use fracas::tet_mesh::NONE;
use glam::Vec3;
use parry3d::query::{PointQuery, PointQueryWithLocation};
use parry3d::shape::{HeightField, Shape, TriMesh};

/// A convex shape with an inside.
pub(crate) struct Solid<'a>(pub(crate) &'a dyn Shape);

impl Partner for Solid<'_> {
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        self.0.distance_to_local_point(p, true) <= radius.max(0.0)
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let found = self.0.project_local_point(p, false);
        let away = p - found.point;
        let length = away.length();
        if !found.is_inside && length >= max {
            return None;
        }
        let sign = if found.is_inside { -1.0 } else { 1.0 };
        // On the surface the way out is that from the middle.
        let normal = (away * sign)
            .normalize_or((p - self.0.compute_local_aabb().center()).normalize_or(Vec3::Y));
        Some(Sample {
            distance: sign * length,
            normal,
        })
    }

    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        tangent_plane(self.sample(p, max), max, out);
    }
}

/// A triangle mesh, seen from the side its triangles look to.
pub(crate) struct Mesh<'a> {
    pub(crate) mesh: &'a TriMesh,
    /// How far behind a triangle is still inside.
    pub(crate) thickness: f32,
}

impl Partner for Mesh<'_> {
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        let reach = radius.max(0.0).max(self.thickness);
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
        let face = self.mesh.triangle(triangle).normal()?;
        one_sided(p, found.point, face, max, self.thickness)
    }

    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        tangent_plane(self.sample(p, max), max, out);
    }
}

/// A height field: up is +y of its own frame.
pub(crate) struct Heights<'a> {
    pub(crate) field: &'a HeightField,
    pub(crate) thickness: f32,
}

impl Partner for Heights<'_> {
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        let reach = radius.max(0.0).max(self.thickness);
        let gap = p - p.clamp(self.field.local_aabb().mins, self.field.local_aabb().maxs);
        gap.length_squared() <= reach * reach
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let reach = max.max(self.thickness);
        let found = self
            .field
            .project_local_point_with_max_dist(p, false, reach)?;
        one_sided(p, found.point, Vec3::Y, max, self.thickness)
    }

    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        tangent_plane(self.sample(p, max), max, out);
    }
}

/// Signed distance to a surface without inside: the side of `face` decides.
fn one_sided(p: Vec3, surface: Vec3, face: Vec3, max: f32, thickness: f32) -> Option<Sample> {
    let away = p - surface;
    let length = away.length();
    let behind = away.dot(face) < 0.0;
    if length >= if behind { thickness } else { max } {
        return None;
    }
    let sign = if behind { -1.0 } else { 1.0 };
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
