//! Triangles that never change: the level geometry of a game, with a box tree.
//!
//! Answers how far a point is from the surface and on which side, as a sphere
//! tree's partner. The side is that of the angle-weighted normal at the closest
//! feature (face, edge or vertex), which is right for every closed, consistently
//! oriented mesh; an open sheet (terrain) is solid behind its front. Points farther
//! behind the surface than [`StaticMesh::thickness`] count as outside, so that a
//! terrain is no infinite solid; without a thickness, so do points outside the
//! mesh's box, which suits closed meshes.
//!
//! **Guarantee**: the closest triangle is exact up to f32 rounding; ties go to the
//! lowest triangle.

use std::collections::HashMap;

use glam::Vec3;
use thiserror::Error;

use super::partner::{NearFace, Partner, Sample, unbroken_face};
use crate::tet_mesh::NONE;

/// Triangles of a leaf.
const LEAF_TRIANGLES: usize = 4;

/// Why vertices and triangles do not make a [`StaticMesh`].
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StaticMeshError {
    /// No triangle with an area.
    #[error("the mesh has no triangle with an area")]
    Empty,
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} is not finite: {position}")]
    NotFinite {
        /// The vertex.
        vertex: u32,
        /// Its position as given.
        position: Vec3,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are only {vertices}")]
    VertexOutOfRange {
        /// The triangle.
        triangle: u32,
        /// The index it names.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
    /// More triangles than can be indexed.
    #[error("{0} triangles are more than a mesh can index")]
    TooLarge(usize),
}

/// Triangles, their normals, and a tree of boxes over them. Immutable once built.
#[derive(Clone, Debug)]
pub struct StaticMesh {
    corners: Vec<[Vec3; 3]>,
    /// Per triangle: normals of the face, of edges 01, 12, 20, of the three vertices.
    normals: Vec<[Vec3; 7]>,
    boxes: Vec<TreeBox>,
    thickness: f32,
}

#[derive(Clone, Copy, Debug)]
struct TreeBox {
    low: Vec3,
    high: Vec3,
    /// Triangles `start..end` for a leaf; children `start` and `start + 1` otherwise.
    start: u32,
    end: u32,
    leaf: bool,
}

impl TreeBox {
    fn distance_squared(&self, p: Vec3) -> f32 {
        (self.low - p)
            .max(p - self.high)
            .max(Vec3::ZERO)
            .length_squared()
    }
}

/// The closest point of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Closest {
    triangle: u32,
    point: Vec3,
    distance_squared: f32,
    /// Index into the triangle's seven normals.
    feature: u8,
}

impl StaticMesh {
    /// Checks the input and builds the tree. Triangles without area are dropped;
    /// the rest face outwards, counter-clockwise.
    ///
    /// # Errors
    /// See [`StaticMeshError`].
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn build(
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
    ) -> Result<Self, StaticMeshError> {
        if triangles.len() >= (NONE / 4) as usize {
            return Err(StaticMeshError::TooLarge(triangles.len()));
        }
        if let Some(vertex) = vertices.iter().position(|v| !v.is_finite()) {
            return Err(StaticMeshError::NotFinite {
                vertex: vertex as u32,
                position: vertices[vertex],
            });
        }
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices.len()) {
                return Err(StaticMeshError::VertexOutOfRange {
                    triangle: triangle as u32,
                    vertex,
                    vertices: vertices.len(),
                });
            }
        }
        let at = |v: u32| vertices[v as usize];
        let normal_of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| at(v).as_dvec3());
            (b - a).cross(c - a).normalize_or_zero().as_vec3()
        };
        let mut kept: Vec<[u32; 3]> = triangles
            .iter()
            .filter(|t| normal_of(t) != Vec3::ZERO)
            .copied()
            .collect();
        if kept.is_empty() {
            return Err(StaticMeshError::Empty);
        }
        let boxes = build_boxes(vertices, &mut kept);
        // Looked up only, never iterated.
        let mut edge_normals: HashMap<(u32, u32), Vec3> = HashMap::with_capacity(2 * kept.len());
        let mut vertex_normals = vec![Vec3::ZERO; vertices.len()];
        for t in &kept {
            let normal = normal_of(t);
            for i in 0..3 {
                let (v, after, before) = (t[i], t[(i + 1) % 3], t[(i + 2) % 3]);
                let to = |w: u32| (at(w) - at(v)).normalize_or_zero();
                let angle = libm::acosf(to(after).dot(to(before)).clamp(-1.0, 1.0));
                vertex_normals[v as usize] += normal * angle;
                *edge_normals
                    .entry((v.min(after), v.max(after)))
                    .or_default() += normal;
            }
        }
        let normals = kept
            .iter()
            .map(|t| {
                let edge = |i: usize| {
                    let (a, b) = (t[i], t[(i + 1) % 3]);
                    edge_normals[&(a.min(b), a.max(b))].normalize_or(normal_of(t))
                };
                let vertex = |i: usize| vertex_normals[t[i] as usize].normalize_or(normal_of(t));
                [
                    normal_of(t),
                    edge(0),
                    edge(1),
                    edge(2),
                    vertex(0),
                    vertex(1),
                    vertex(2),
                ]
            })
            .collect();
        Ok(Self {
            corners: kept.iter().map(|t| t.map(at)).collect(),
            normals,
            boxes,
            thickness: f32::INFINITY,
        })
    }

    /// The same mesh with a bound on how far behind its surface it is solid.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn with_thickness(self, thickness: f32) -> Self {
        Self { thickness, ..self }
    }

    /// How far behind its surface the mesh is solid; infinite unless set.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn thickness(&self) -> f32 {
        self.thickness
    }

    /// The triangles' corners, in the order of the tree.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn triangles(&self) -> &[[Vec3; 3]] {
        &self.corners
    }

    fn closest(&self, p: Vec3, max: f32) -> Option<Closest> {
        let mut best = Closest {
            triangle: NONE,
            point: Vec3::ZERO,
            distance_squared: max * max,
            feature: 0,
        };
        self.descend(0, p, &mut best);
        (best.triangle != NONE).then_some(best)
    }

    fn descend(&self, index: u32, p: Vec3, best: &mut Closest) {
        let node = &self.boxes[index as usize];
        if node.leaf {
            for t in node.start..node.end {
                let (point, feature) = closest_on_triangle(p, self.corners[t as usize]);
                let squared = point.distance_squared(p);
                let tie = squared == best.distance_squared && t < best.triangle;
                if squared < best.distance_squared || tie {
                    *best = Closest {
                        triangle: t,
                        point,
                        distance_squared: squared,
                        feature,
                    };
                }
            }
            return;
        }
        let squared = [0, 1].map(|k| self.boxes[(node.start + k) as usize].distance_squared(p));
        let order = if squared[0] <= squared[1] {
            [0, 1]
        } else {
            [1, 0]
        };
        for k in order {
            if squared[k as usize] <= best.distance_squared {
                self.descend(node.start + k, p, best);
            }
        }
    }

    /// Calls `found` for every triangle whose box is within `max` of `p`.
    fn for_each_near(&self, p: Vec3, max: f32, mut found: impl FnMut(u32)) {
        // Depth is below 2 log2(n) + 2: the tree halves its triangles.
        let mut stack = [0_u32; 80];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let node = &self.boxes[stack[top] as usize];
            if node.distance_squared(p) > max * max {
                continue;
            }
            if node.leaf {
                (node.start..node.end).for_each(&mut found);
            } else {
                stack[top] = node.start + 1;
                stack[top + 1] = node.start;
                top += 2;
            }
        }
    }

    /// Calls `found` with every triangle that the segment crosses, and where.
    pub(crate) fn for_each_crossed(&self, a: Vec3, b: Vec3, mut found: impl FnMut(u32, Vec3)) {
        let middle = 0.5 * (a + b);
        let reach = 0.5 * a.distance(b) * (1.0 + 1e-5);
        self.for_each_near(middle, reach, |t| {
            if let Some(x) = crossing(a, b, self.corners[t as usize]) {
                found(t, x);
            }
        });
    }

    fn signed(&self, p: Vec3, closest: &Closest) -> Sample {
        let face = &self.normals[closest.triangle as usize];
        let normal = face[closest.feature as usize];
        let away = p - closest.point;
        let length = closest.distance_squared.sqrt();
        let side = if away.dot(normal) < 0.0 { -1.0 } else { 1.0 };
        Sample {
            distance: side * length,
            // Exactly on the surface there is no direction but the feature's own.
            normal: (away * side).try_normalize().unwrap_or(normal),
        }
    }
}

impl Partner for StaticMesh {
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        let radius = radius.max(0.0);
        if self.closest(p, radius).is_some() {
            return true;
        }
        // The surface is out of reach: the ball is all in front or all behind.
        if self.thickness == f32::INFINITY {
            return self.boxes[0].distance_squared(p) == 0.0 && self.sample(p, 0.0).is_some();
        }
        self.closest(p, self.thickness + radius)
            .is_some_and(|c| self.signed(p, &c).distance < 0.0)
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        // A point behind the surface may be as deep as the thickness allows.
        let inside_reach = self
            .thickness
            .min(2.0 * self.boxes[0].low.distance(self.boxes[0].high));
        let whole = &self.boxes[0];
        let reach = if whole.distance_squared(p) > 0.0 && self.thickness == f32::INFINITY {
            max
        } else {
            max.max(inside_reach)
        };
        let sample = self.signed(p, &self.closest(p, reach)?);
        (sample.distance < max && sample.distance > -self.thickness).then_some(sample)
    }

    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        out.clear();
        self.for_each_near(p, max, |t| {
            let (point, _) = closest_on_triangle(p, self.corners[t as usize]);
            let distance = point.distance(p);
            if distance <= max {
                let normal = self.normals[t as usize][0];
                let plane_distance = (p - self.corners[t as usize][0]).dot(normal);
                out.push(unbroken_face(distance, plane_distance, normal));
            }
        });
    }
}

/// Halves triangles by the longest axis of their centroids' box; sorts them.
fn build_boxes(vertices: &[Vec3], triangles: &mut [[u32; 3]]) -> Vec<TreeBox> {
    let centroid = |t: &[u32; 3]| t.iter().map(|&v| vertices[v as usize]).sum::<Vec3>() / 3.0;
    let bounds = |triangles: &[[u32; 3]], start: usize| {
        let mut leaf = TreeBox {
            low: Vec3::INFINITY,
            high: Vec3::NEG_INFINITY,
            start: start as u32,
            end: (start + triangles.len()) as u32,
            leaf: true,
        };
        for &v in triangles.iter().flatten() {
            leaf.low = leaf.low.min(vertices[v as usize]);
            leaf.high = leaf.high.max(vertices[v as usize]);
        }
        leaf
    };
    let mut boxes = vec![bounds(triangles, 0)];
    let mut next = 0;
    while next < boxes.len() {
        let (start, end) = (boxes[next].start as usize, boxes[next].end as usize);
        if end - start > LEAF_TRIANGLES {
            let part = &mut triangles[start..end];
            let (low, high) = part
                .iter()
                .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), t| {
                    (l.min(centroid(t)), h.max(centroid(t)))
                });
            let size = high - low;
            let axis = (0..3).fold(0, |best, i| if size[i] > size[best] { i } else { best });
            let middle = part.len() / 2;
            part.select_nth_unstable_by(middle, |a, b| {
                centroid(a)[axis]
                    .total_cmp(&centroid(b)[axis])
                    .then(a.cmp(b))
            });
            let children = boxes.len() as u32;
            let (left, right) = triangles[start..end].split_at(middle);
            let pair = [bounds(left, start), bounds(right, start + middle)];
            boxes.extend(pair);
            boxes[next].start = children;
            boxes[next].end = children + 2;
            boxes[next].leaf = false;
        }
        next += 1;
    }
    boxes
}

/// The closest point of a triangle, and on which feature it lies: 0 the face,
/// 1 to 3 the edges 01, 12, 20, 4 to 6 the vertices. By Voronoi regions.
fn closest_on_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> (Vec3, u8) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, 4);
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, 5);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), 1);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, 6);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), 3);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (b + (c - b) * t, 2);
    }
    let scale = 1.0 / (va + vb + vc);
    (a + ab * (vb * scale) + ac * (vc * scale), 0)
}

/// Where the segment from `p` to `q` crosses a triangle, if it does.
fn crossing(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> Option<Vec3> {
    let [p, q, a, b, c] = [p, q, a, b, c].map(Vec3::as_dvec3);
    let normal = (b - a).cross(c - a);
    let (hp, hq) = (normal.dot(p - a), normal.dot(q - a));
    if hp * hq >= 0.0 {
        return None;
    }
    let x = p + (q - p) * (hp / (hp - hq));
    let inside = [(a, b), (b, c), (c, a)]
        .iter()
        .all(|&(u, v)| (v - u).cross(x - u).dot(normal) >= 0.0);
    inside.then(|| x.as_vec3())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};

    fn box_mesh(cells: [u32; 3], size: Vec3) -> StaticMesh {
        let mesh = box_grid(cells, size);
        let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        StaticMesh::build(mesh.positions(), &triangles).unwrap()
    }

    #[test]
    fn a_meshed_box_is_as_far_as_an_analytic_one() {
        let size = Vec3::new(1.0, 2.0, 0.6);
        let mesh = box_mesh([3, 4, 2], size);
        let exact = crate::sphere_tree::BoxShape::new(0.5 * size);
        let mut rng = Rng(6);
        for _ in 0..3000 {
            let p = rng.in_box(Vec3::splat(-1.0), Vec3::splat(3.0));
            let max = rng.range(0.0, 1.0);
            let (found, expected) = (mesh.sample(p, max), exact.sample(p - 0.5 * size, max));
            match (found, expected) {
                (Some(f), Some(e)) => assert!((f.distance - e.distance).abs() < 1e-5),
                (None, None) => {}
                _ => {
                    let d = exact.sample(p - 0.5 * size, 9.0).unwrap().distance;
                    assert!((d - max).abs() < 1e-5, "{p}: {found:?}, {expected:?}");
                }
            }
            let radius = rng.range(0.0, 1.0);
            let d = exact.sample(p - 0.5 * size, 9.0).unwrap().distance;
            if (d - radius).abs() > 1e-5 {
                assert_eq!(mesh.sphere_may_touch(p, radius), d < radius);
            }
            let mut near = Vec::new();
            mesh.faces_near(p, d.abs() + 1e-4, &mut near);
            assert!(near.iter().any(|f| (f.distance - d.abs()).abs() < 1e-4));
        }
    }

    #[test]
    fn an_open_sheet_is_solid_behind_its_front_as_far_as_it_is_thick() {
        let corners = [Vec3::ZERO, Vec3::Z, Vec3::X + Vec3::Z, Vec3::X];
        let sheet = StaticMesh::build(&corners, &[[0, 1, 2], [0, 2, 3]])
            .unwrap()
            .with_thickness(0.5);
        let at = |y: f32| sheet.sample(Vec3::new(0.4, y, 0.5), 0.1);
        assert!(at(0.2).is_none());
        assert!((at(0.05).unwrap().distance - 0.05).abs() < 1e-6);
        assert!((at(-0.3).unwrap().distance + 0.3).abs() < 1e-6);
        assert!(at(-0.6).is_none());
        assert!(sheet.sphere_may_touch(Vec3::new(0.4, -0.3, 0.5), 0.1));
    }

    #[test]
    fn bad_meshes_are_refused() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::Y];
        assert_eq!(
            StaticMesh::build(&p, &[]).unwrap_err(),
            StaticMeshError::Empty
        );
        assert_eq!(
            StaticMesh::build(&p, &[[0, 1, 1]]).unwrap_err(),
            StaticMeshError::Empty
        );
        assert!(matches!(
            StaticMesh::build(&p, &[[0, 1, 3]]),
            Err(StaticMeshError::VertexOutOfRange { vertex: 3, .. })
        ));
        assert!(matches!(
            StaticMesh::build(&[Vec3::NAN, Vec3::X, Vec3::Y], &[[0, 1, 2]]),
            Err(StaticMeshError::NotFinite { vertex: 0, .. })
        ));
    }

    #[test]
    fn a_segment_through_a_box_crosses_its_surface_twice() {
        let mesh = box_mesh([3, 3, 3], Vec3::ONE);
        let mut count = 0;
        mesh.for_each_crossed(
            Vec3::new(-1.0, 0.41, 0.37),
            Vec3::new(2.0, 0.44, 0.31),
            |_, x| {
                assert!(x.x.abs() < 1e-6 || (x.x - 1.0).abs() < 1e-6);
                count += 1;
            },
        );
        assert_eq!(count, 2);
    }
}
