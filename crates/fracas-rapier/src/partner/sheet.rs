//! Sheets: triangle meshes, height fields and single triangles, which have no inside.
//!
//! Behind their surface, which is where their triangles do not look, counts as inside as
//! deep as a thickness that the caller chooses. Which side a point is on is told by the
//! angle-weighted pseudonormal at the closest point [Bærentzen and Aanæs 2005]: the normal
//! of the closest triangle alone is wrong at acute edges, where it depends on rounding which
//! triangle is closest. The triangles about a point are found by place, so meshes need no
//! topology, and vertices that are stored twice do no harm. Beyond a free edge there is no
//! behind.
//!
//! **What may be remembered of a point** ([`Sheet::bound`]). In front of a surface a point
//! must come as far as it is away before it is behind: its distance is a bound as of any
//! solid. Nothing can be said of a point behind by more than the thickness or beyond a free
//! edge, which the next motion may bring inside: it is asked every time. Where one sheet
//! looks at another's back, the space between counts as inside from half the gap on; a point
//! that is remembered as before the one is found behind the other only when it has come as
//! far as it was away.

use fracas_core::sphere_tree::Sample;
use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::query::{PointQuery, PointQueryWithLocation};
use parry3d::shape::{HeightField, TriMesh, Triangle};

use super::closest_on_segment;

/// Balls wider than so many cells of a height field are not looked at closely.
const WIDE_CELLS: f32 = 4.0;

/// A surface, seen from the side its triangles look to.
pub(super) struct Sheet<'a> {
    pub surface: Surface<'a>,
    /// How far behind a triangle is still inside.
    pub thickness: f32,
}

pub(super) enum Surface<'a> {
    Triangle(&'a Triangle),
    Mesh(&'a TriMesh),
    /// Up is +y of its own frame.
    Heights(&'a HeightField),
}

/// On which side of the surface a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Front,
    Behind,
    /// Beyond a free edge, or where triangles look both ways: outside.
    Beyond,
}

impl Sheet<'_> {
    pub fn may_touch(&self, p: Vec3, radius: f32) -> bool {
        let reach = radius + self.thickness;
        let bounds = self.surface.bounds();
        let gap = p - p.clamp(bounds.mins, bounds.maxs);
        if gap.length_squared() > reach * reach {
            return false;
        }
        if let Surface::Heights(field) = self.surface
            && radius > WIDE_CELLS * cell_size(field)
        {
            return true;
        }
        let Some((surface, triangle)) = self.surface.closest(p, reach) else {
            return false;
        };
        // A ball that does not reach the surface is all before it, or may hold points behind.
        surface.distance_squared(p) <= radius * radius
            || self.place(p, surface, triangle).side != Side::Front
    }

    /// Signed distance: the side of the pseudonormal decides.
    pub fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let (surface, triangle) = self.surface.closest(p, max.max(self.thickness))?;
        let place = self.place(p, surface, triangle);
        let behind = place.side == Side::Behind;
        if place.length >= if behind { self.thickness } else { max } {
            return None;
        }
        let sign = if behind { -1.0 } else { 1.0 };
        // Near the surface the quotient is noise: the face's own normal is not.
        let normal = if place.length > self.noise() {
            ((p - surface) * sign).normalize_or(place.face)
        } else {
            place.face
        };
        Some(Sample {
            distance: sign * place.length,
            normal,
        })
    }

    /// See [`fracas_core::sphere_tree::Partner::bound`].
    pub fn bound(&self, p: Vec3, max: f32, found: Option<f32>) -> f32 {
        if let Some(distance) = found.filter(|&d| d < 0.0) {
            return distance;
        }
        let Some((surface, triangle)) = self.surface.closest(p, max + self.thickness) else {
            return max;
        };
        let place = self.place(p, surface, triangle);
        match place.side {
            Side::Front => place.length.min(max),
            Side::Behind | Side::Beyond => f32::NEG_INFINITY,
        }
    }

    /// Nearer than this to the surface, directions are noise.
    fn noise(&self) -> f32 {
        1e-4 * self.thickness
    }

    /// Where a point is, of which the closest place of the surface is known.
    fn place(&self, p: Vec3, surface: Vec3, triangle: Option<u32>) -> Place {
        let normals = self.surface.normals_about(surface, triangle);
        let away = p - surface;
        let length = away.length();
        let face = normals.normal();
        // On the free edge itself the sheet has its side.
        let beyond = normals.is_free() && length > self.noise() && {
            let face = face.unwrap_or(Vec3::Y);
            let aside = away - face * away.dot(face);
            aside.length_squared() > 1e-6 * length * length
        };
        let side = match face {
            Some(_) if beyond => Side::Beyond,
            Some(face) if away.dot(face) < 0.0 => Side::Behind,
            Some(_) => Side::Front,
            None => Side::Beyond,
        };
        Place {
            side,
            length,
            face: face.unwrap_or(Vec3::Y),
        }
    }
}

struct Place {
    side: Side,
    /// To the surface.
    length: f32,
    /// The surface's own normal.
    face: Vec3,
}

impl Surface<'_> {
    fn bounds(&self) -> Aabb {
        match self {
            Surface::Triangle(triangle) => triangle.local_aabb(),
            Surface::Mesh(mesh) => mesh.local_aabb(),
            Surface::Heights(field) => *field.root_aabb(),
        }
    }

    /// The closest point of the surface, and its triangle where that is known.
    fn closest(&self, p: Vec3, reach: f32) -> Option<(Vec3, Option<u32>)> {
        match self {
            Surface::Triangle(triangle) => {
                let found = triangle.project_local_point(p, false).point;
                (found.distance(p) <= reach).then_some((found, None))
            }
            Surface::Mesh(mesh) => {
                let (found, (triangle, _)) =
                    mesh.project_local_point_and_get_location_with_max_dist(p, false, reach)?;
                Some((found.point, Some(triangle)))
            }
            Surface::Heights(field) => {
                let found = field.project_local_point_with_max_dist(p, false, reach)?;
                Some((found.point, None))
            }
        }
    }

    fn normals_about(&self, place: Vec3, triangle: Option<u32>) -> Pseudonormal {
        let mut side = Pseudonormal::at(place);
        match self {
            Surface::Triangle(triangle) => side.add(triangle),
            Surface::Mesh(mesh) => {
                if let Some(triangle) = triangle {
                    side.add(&mesh.triangle(triangle));
                }
                if side.is_at_rim() {
                    let around = side.surroundings();
                    side = Pseudonormal::at(place);
                    for near in mesh.bvh().intersect_aabb(&around) {
                        side.add(&mesh.triangle(near));
                    }
                }
            }
            Surface::Heights(field) => {
                side.reach = cell_size(field) * SAME_PLACE;
                let around = side.surroundings();
                field.map_elements_in_local_aabb(&around, &mut |_, triangle| {
                    side.add(&upward(*triangle));
                });
            }
        }
        side
    }

    /// Corners in a box, with their indices. Those of a height field are found where the
    /// fragment's points are near them.
    pub fn own_points(&self, near: &Aabb, mut add: impl FnMut(u32, Vec3)) {
        match self {
            Surface::Triangle(t) => {
                let corners = (0..).zip([t.a, t.b, t.c]);
                corners.for_each(|(id, corner)| add(id, corner));
            }
            Surface::Mesh(mesh) => {
                let triangles = mesh.bvh().intersect_aabb(near);
                let mut vertices: Vec<u32> =
                    triangles.flat_map(|t| mesh.indices()[t as usize]).collect();
                vertices.sort_unstable();
                vertices.dedup();
                for vertex in vertices {
                    add(vertex, mesh.vertices()[vertex as usize]);
                }
            }
            Surface::Heights(_) => {}
        }
    }
}

fn cell_size(field: &HeightField) -> f32 {
    field.cell_width().max(field.cell_height())
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
