//! The visible skin of an object: the input's own triangles, finer than its tetrahedra.
//!
//! Steps:
//! 1. For each input triangle, the tetrahedra whose boxes meet its box.
//! 2. The triangle is clipped by each of them in turn: the part inside belongs to that
//!    tetrahedron, what lies outside goes on to the next.
//! 3. What is left lies outside the mesh (the tetrahedra cut off bulges of the surface)
//!    and belongs to the tetrahedron of the nearest boundary face.
//! 4. Parts are kept as triangles with barycentric coordinates in their tetrahedron, so
//!    that a crack clips them with the planes that cut that tetrahedron, and with
//!    barycentric coordinates in their input triangle, for textures.
//!
//! **Guarantee.** The parts of a triangle cover it without overlap (areas add up to
//! rounding), each lies in one tetrahedron or outside of all. Parts thinner than
//! rounding are dropped.

use fracas_core::TetMesh;
use fracas_core::tet_mesh::TET_FACES;
use glam::DVec3;

use crate::SurfaceMesh;
use crate::tetrahedralize::nearest::{Boxes, NearestFace};

/// A triangle of the skin, wholly in one tetrahedron (or outside, next to it).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinPart {
    /// The input triangle that it is a part of.
    pub triangle: u32,
    /// The tetrahedron that carries it.
    pub tet: u32,
    /// Whether it lies outside the tetrahedra.
    pub outside: bool,
    /// Barycentric coordinates of its corners in the tetrahedron; some are negative outside.
    pub in_tet: [[f32; 4]; 3],
    /// Barycentric coordinates of its corners in the input triangle.
    pub in_triangle: [[f32; 3]; 3],
}

/// All parts, in the order of the input triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    parts: Vec<SkinPart>,
}

impl Skin {
    /// Splits `surface` along the faces of `mesh`.
    #[must_use]
    pub fn build(surface: &SurfaceMesh, mesh: &TetMesh) -> Self {
        let corners: Vec<[DVec3; 4]> = (0..mesh.tets().len() as u32)
            .map(|t| mesh.corners(t).map(|p| p.as_dvec3()))
            .collect();
        let boxes = Boxes::build(corners.iter().map(|c| {
            c.iter()
                .fold((c[0], c[0]), |(low, high), &p| (low.min(p), high.max(p)))
        }));
        let nearest = NearestFace::build(mesh);
        let mut parts = Vec::new();
        let mut candidates = Vec::new();
        for t in 0..surface.triangles().len() as u32 {
            let triangle = surface.corners(t);
            let area = (triangle[1] - triangle[0])
                .cross(triangle[2] - triangle[0])
                .length();
            if area <= 0.0 {
                continue;
            }
            let low = triangle[0].min(triangle[1]).min(triangle[2]);
            let high = triangle[0].max(triangle[1]).max(triangle[2]);
            boxes.meeting(low, high, &mut candidates);
            let emitter = Emitter {
                triangle,
                index: t,
                smallest: 1e-12 * area,
            };
            let mut rest: Vec<Vec<DVec3>> = vec![triangle.to_vec()];
            for &tet in &candidates {
                let mut outside = Vec::new();
                for polygon in rest {
                    let inside = clip(polygon, &corners[tet as usize], &mut outside);
                    emitter.emit(&inside, tet, &corners[tet as usize], false, &mut parts);
                }
                rest = outside;
                if rest.is_empty() {
                    break;
                }
            }
            for polygon in rest {
                let middle = polygon.iter().sum::<DVec3>() / polygon.len() as f64;
                let tet = nearest.tet(middle);
                emitter.emit(&polygon, tet, &corners[tet as usize], true, &mut parts);
            }
        }
        Self { parts }
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &[SkinPart] {
        &self.parts
    }

    /// Where the corners of a part are when the mesh is where it was built.
    #[must_use]
    pub fn corners(&self, part: usize, mesh: &TetMesh) -> [DVec3; 3] {
        let part = &self.parts[part];
        let tet = mesh.corners(part.tet).map(|p| p.as_dvec3());
        part.in_tet.map(|weights| {
            (0..4)
                .map(|k| tet[k] * f64::from(weights[k]))
                .sum::<DVec3>()
        })
    }
}

/// Cuts a convex polygon by the planes of a tetrahedron: returns what is inside, and
/// adds what is outside, in convex parts, to `outside`.
fn clip(polygon: Vec<DVec3>, tet: &[DVec3; 4], outside: &mut Vec<Vec<DVec3>>) -> Vec<DVec3> {
    // Nothing to do if one plane has all of it on its outer side.
    let planes = TET_FACES.map(|[a, b, c]| {
        let normal = (tet[b] - tet[a]).cross(tet[c] - tet[a]);
        (normal, normal.dot(tet[a]))
    });
    let apart = |(normal, offset): &(DVec3, f64)| polygon.iter().all(|p| normal.dot(*p) >= *offset);
    if planes.iter().any(apart) {
        outside.push(polygon);
        return Vec::new();
    }
    let mut inside = polygon;
    for (normal, offset) in planes {
        let (below, above) = split(&inside, normal, offset);
        if above.len() >= 3 {
            outside.push(above);
        }
        inside = below;
        if inside.len() < 3 {
            return Vec::new();
        }
    }
    inside
}

/// The parts of a convex polygon below and above a plane.
fn split(polygon: &[DVec3], normal: DVec3, offset: f64) -> (Vec<DVec3>, Vec<DVec3>) {
    let heights: Vec<f64> = polygon.iter().map(|p| normal.dot(*p) - offset).collect();
    if heights.iter().all(|&h| h <= 0.0) {
        return (polygon.to_vec(), Vec::new());
    }
    if heights.iter().all(|&h| h >= 0.0) {
        return (Vec::new(), polygon.to_vec());
    }
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for i in 0..polygon.len() {
        let j = (i + 1) % polygon.len();
        let (h, k) = (heights[i], heights[j]);
        if h <= 0.0 {
            below.push(polygon[i]);
        }
        if h >= 0.0 {
            above.push(polygon[i]);
        }
        if (h < 0.0 && k > 0.0) || (h > 0.0 && k < 0.0) {
            // From the lower end, so that two triangles cut their common edge alike.
            let (low, high, s, t) = if h < 0.0 {
                (polygon[i], polygon[j], h, k)
            } else {
                (polygon[j], polygon[i], k, h)
            };
            let point = low.lerp(high, s / (s - t));
            below.push(point);
            above.push(point);
        }
    }
    (below, above)
}

struct Emitter {
    triangle: [DVec3; 3],
    index: u32,
    /// Parts with less than this double area are dropped.
    smallest: f64,
}

impl Emitter {
    /// Adds a convex polygon as a fan of triangles.
    fn emit(
        &self,
        polygon: &[DVec3],
        tet: u32,
        corners: &[DVec3; 4],
        outside: bool,
        parts: &mut Vec<SkinPart>,
    ) {
        for i in 1..polygon.len().saturating_sub(1) {
            let part = [polygon[0], polygon[i], polygon[i + 1]];
            let area = (part[1] - part[0]).cross(part[2] - part[0]).length();
            if area <= self.smallest {
                continue;
            }
            parts.push(SkinPart {
                triangle: self.index,
                tet,
                outside,
                in_tet: part.map(|p| in_tet(p, corners)),
                in_triangle: part.map(|p| in_triangle(p, &self.triangle)),
            });
        }
    }
}

fn in_tet(p: DVec3, tet: &[DVec3; 4]) -> [f32; 4] {
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a);
    let [a, b, c, d] = *tet;
    let whole = volume(a, b, c, d);
    let weights = [
        volume(p, b, c, d) / whole,
        volume(a, p, c, d) / whole,
        volume(a, b, p, d) / whole,
    ];
    let last = 1.0 - weights[0] - weights[1] - weights[2];
    [
        weights[0] as f32,
        weights[1] as f32,
        weights[2] as f32,
        last as f32,
    ]
}

fn in_triangle(p: DVec3, [a, b, c]: &[DVec3; 3]) -> [f32; 3] {
    let normal = (b - a).cross(c - a);
    let whole = normal.length_squared();
    let u = (c - b).cross(p - b).dot(normal) / whole;
    let v = (a - c).cross(p - c).dot(normal) / whole;
    [u as f32, v as f32, (1.0 - u - v) as f32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tetrahedralize::{Options, implicit};

    /// A finer sphere than its tetrahedra: parts inside and outside.
    #[test]
    fn parts_cover_the_surface_and_lie_in_their_tets() {
        let bounds = (DVec3::splat(-1.0), DVec3::splat(1.0));
        let ball = |p: DVec3| p.length() - 0.9;
        let coarse = implicit(&ball, bounds, &Options::edge_length(0.5)).unwrap();
        let fine = implicit(&ball, bounds, &Options::edge_length(0.2)).unwrap();
        let positions = fine
            .mesh()
            .positions()
            .iter()
            .map(|p| p.as_dvec3())
            .collect();
        let faces: Vec<[u32; 3]> = fine.mesh().boundary().map(|f| f.nodes).collect();
        let surface = SurfaceMesh::repair(positions, &faces).unwrap().0;
        let skin = Skin::build(&surface, coarse.mesh());
        let mut areas = vec![0.0; surface.triangles().len()];
        let (mut inside, mut outside) = (0, 0);
        for (i, part) in skin.parts().iter().enumerate() {
            let [a, b, c] = skin.corners(i, coarse.mesh());
            areas[part.triangle as usize] += 0.5 * (b - a).cross(c - a).length();
            // The two kinds of coordinates name the same place.
            let triangle = surface.corners(part.triangle);
            let again = (0..3)
                .map(|k| triangle[k] * f64::from(part.in_triangle[0][k]))
                .sum::<DVec3>();
            assert!(again.distance(a) < 1e-5);
            let least = part.in_tet.iter().flatten().copied().fold(1.0, f32::min);
            if part.outside {
                outside += 1;
            } else {
                inside += 1;
                assert!(least > -1e-5, "a part sticks out of its tet by {least}");
            }
        }
        for (t, area) in areas.iter().enumerate() {
            let [a, b, c] = surface.corners(t as u32);
            let whole = 0.5 * (b - a).cross(c - a).length();
            assert!(
                (area - whole).abs() < 1e-4 * whole,
                "triangle {t}: {area} of {whole}"
            );
        }
        assert!(
            inside > 100 && outside > 100,
            "{inside} inside, {outside} outside"
        );
    }

    #[test]
    fn a_triangle_far_away_hangs_on_the_nearest_tet() {
        let mesh = fracas_core::testing::box_grid([1, 1, 1], glam::Vec3::ONE);
        let far = SurfaceMesh::build(
            vec![
                DVec3::new(5.0, 0.0, 0.0),
                DVec3::new(5.0, 1.0, 0.0),
                DVec3::new(5.0, 0.0, 1.0),
            ],
            vec![[0, 1, 2]],
        )
        .unwrap();
        let skin = Skin::build(&far, &mesh);
        assert_eq!(skin.parts().len(), 1);
        assert!(skin.parts()[0].outside);
        let [a, ..] = skin.corners(0, &mesh);
        assert!(a.distance(DVec3::new(5.0, 0.0, 0.0)) < 1e-4);
    }
}
