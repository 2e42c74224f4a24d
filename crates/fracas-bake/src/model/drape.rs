//! A model draped over the boundary of its tetrahedra: for models whose own triangles,
//! cut at the cracks, would leave pieces open (thin walls, open sheets, parts that cross).
//!
//! The boundary is divided finely, each point goes to the nearest point of the model that
//! faces the same way, and attributes are those of the model there. So pieces are closed
//! whatever the model is, have its materials and textures, and nearly its shape: details
//! finer than the small triangles are lost.
//!
//! A small triangle takes the material and the part of the texture (the *chart*: what is
//! joined by vertices) at its middle, and its corners the nearest point of that chart.
//! Textures do not run across seams, but are stretched there by part of a small triangle.

use std::collections::HashMap;

use fracas_core::dressing::{FacePoint, FineBoundary, FinePoint, FineSurface};
use fracas_core::{FragmentId, Fragments, TetMesh};
use glam::DVec3;

use super::Model;
use super::pieces::{Buffers, Builder, crack_surface};
use crate::tetrahedralize::bvh::{Bvh, Closest};
use crate::topology::Sets;

/// In so many parts each side of a boundary face is divided.
const DIVISIONS: usize = 3;

/// Faces of the model that are turned away by more than this (a cosine) are another side
/// of it.
const SAME_SIDE: f64 = 0.2;

/// A model, ready to be draped.
#[derive(Clone, Debug)]
pub struct Drape {
    fine: FineBoundary,
    tree: Bvh,
    /// For each triangle of the model: its part, its number there, its chart.
    places: Vec<(u32, u32, u32)>,
    /// Farther than this nothing is looked for, in the first attempt.
    reach: f64,
}

/// Where points of a boundary lie on a model.
struct Nearest<'a> {
    mesh: &'a TetMesh,
    tree: &'a Bvh,
    reach: f64,
}

impl FineSurface for Nearest<'_> {
    fn place(&self, point: &FacePoint) -> FinePoint {
        let at = |n: u32| self.mesh.positions()[n as usize].as_dvec3();
        let [a, b, c] = point.nodes.map(at);
        let facing = (b - a).cross(c - a).normalize_or_zero();
        let found = facing_along(self.tree, point.flat, facing, self.reach);
        FinePoint {
            position: found.map_or(point.flat, |found| found.point),
            normal: found
                .map_or(facing, |found| self.tree.normal(found.entry))
                .normalize_or(DVec3::Y)
                .as_vec3(),
        }
    }
}

/// The nearest point of the model that faces the same way.
fn facing_along(tree: &Bvh, p: DVec3, facing: DVec3, reach: f64) -> Option<Closest> {
    tree.closest_where(p, reach, |entry| tree.normal(entry).dot(facing) > SAME_SIDE)
}

impl Drape {
    /// Lays a model on a mesh that fills it.
    #[must_use]
    pub fn build(model: &Model, mesh: &TetMesh) -> Self {
        let (positions, triangles) = model.surface();
        let tree = Bvh::build(&positions, &triangles);
        let reach = f64::from(mesh.mean_edge_length());
        let nearest = Nearest {
            mesh,
            tree: &tree,
            reach,
        };
        let fine = FineBoundary::build(mesh, DIVISIONS, &nearest);
        let mut places = Vec::with_capacity(triangles.len());
        let mut charts = 0;
        for (p, part) in model.parts().iter().enumerate() {
            let of_vertex = joined(part.positions.len(), &part.triangles);
            for (t, triangle) in part.triangles.iter().enumerate() {
                let chart = charts + of_vertex[triangle[0] as usize];
                places.push((p as u32, t as u32, chart));
            }
            charts += part.positions.len() as u32;
        }
        Self {
            fine,
            tree,
            places,
            reach,
        }
    }

    /// The vertex buffers of a fragment, as [`super::pieces::surfaces`] gives them.
    #[must_use]
    pub fn surfaces(
        &self,
        model: &Model,
        fragments: &Fragments,
        id: FragmentId,
        crack_scale: f32,
    ) -> Vec<Buffers> {
        let dressed = self.fine.dress(fragments, id);
        let mut builders: Vec<Builder<'_>> = model.parts().iter().map(Builder::new).collect();
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        for triangle in &dressed.triangles[..dressed.outer_triangles] {
            let corners = triangle.map(|v| dressed.positions[v as usize].as_dvec3());
            let Some(middle) = self.at_middle(corners) else {
                continue;
            };
            let (part, _, chart) = self.place_of(middle.entry);
            let builder = &mut builders[part as usize];
            let mut new = [0; 3];
            for k in 0..3 {
                let vertex = triangle[k];
                new[k] = *known.entry((vertex, chart)).or_insert_with(|| {
                    let in_chart = |entry: u32| self.place_of(entry).2 == chart;
                    let reach = 4.0 * self.reach;
                    let near = self.tree.closest_where(corners[k], reach, in_chart);
                    let near = near.unwrap_or(middle);
                    let (_, t, _) = self.place_of(near.entry);
                    let vertices = model.parts()[part as usize].triangles[t as usize];
                    let weights = weights_in(self.tree.corners[near.entry as usize], near.point);
                    let mix = [0, 1, 2].map(|i| (vertices[i], weights[i]));
                    builder.push(dressed.positions[vertex as usize], &mix)
                });
            }
            builder.buffers.triangles.push(new);
        }
        let outside = builders.into_iter().map(|b| b.buffers);
        let mut all: Vec<Buffers> = outside.filter(|b| !b.triangles.is_empty()).collect();
        all.extend(crack_surface(&dressed, crack_scale));
        all
    }

    fn place_of(&self, entry: u32) -> (u32, u32, u32) {
        self.places[self.tree.order[entry as usize] as usize]
    }

    /// The point of the model that the middle of a small triangle shows.
    fn at_middle(&self, [a, b, c]: [DVec3; 3]) -> Option<Closest> {
        let facing = (b - a).cross(c - a).normalize_or_zero();
        let middle = (a + b + c) / 3.0;
        facing_along(&self.tree, middle, facing, self.reach)
            .or_else(|| self.tree.closest_where(middle, f64::INFINITY, |_| true))
    }
}

/// For each vertex the lowest one that triangles join it to.
fn joined(count: usize, triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut sets = Sets::new(count);
    for &[a, b, c] in triangles {
        sets.join(a as usize, b as usize);
        sets.join(a as usize, c as usize);
    }
    (0..count).map(|v| sets.root(v) as u32).collect()
}

/// Barycentric coordinates of a point of a triangle.
fn weights_in([a, b, c]: [DVec3; 3], p: DVec3) -> [f32; 3] {
    let normal = (b - a).cross(c - a);
    let area = normal.length_squared();
    if area <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let v = ((p - a).cross(c - a).dot(normal) / area).clamp(0.0, 1.0);
    let w = ((b - a).cross(p - a).dot(normal) / area).clamp(0.0, 1.0);
    [(1.0 - v - w).max(0.0) as f32, v as f32, w as f32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Attribute;
    use fracas_core::testing::box_grid;
    use fracas_core::{Crack, Fracture};
    use glam::Vec3;
    use std::sync::Arc;

    /// A flat box with one chart a side, coordinates in metres there.
    fn textured_box(size: DVec3) -> Model {
        let (mut positions, mut triangles, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
        for axis in 0..3 {
            for side in [0.0, 1.0] {
                let first = positions.len() as u32;
                for (u, v) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
                    let mut p = [0.0; 3];
                    p[axis] = side;
                    p[(axis + 1) % 3] = u;
                    p[(axis + 2) % 3] = v;
                    let p = DVec3::from_array(p) * size;
                    positions.push(p);
                    uvs.extend(uv_at(axis, side, p));
                }
                let quad = match side {
                    0.0 => [[0, 2, 1], [0, 3, 2]],
                    _ => [[0, 1, 2], [0, 2, 3]],
                };
                triangles.extend(quad.map(|t| t.map(|k: u32| first + k)));
            }
        }
        Model::plain("box", positions, triangles, [1.0; 4]).with_attribute(Attribute {
            name: "TEXCOORD_0".into(),
            width: 2,
            values: uvs,
        })
    }

    /// Each side has its own piece of the texture.
    fn uv_at(axis: usize, side: f64, p: DVec3) -> [f32; 2] {
        let shift = 10.0 * (2 * axis) as f64 + 10.0 * side;
        let (u, v) = (p[(axis + 1) % 3], p[(axis + 2) % 3]);
        [(shift + u) as f32, v as f32]
    }

    #[test]
    fn a_thin_box_keeps_its_texture_and_falls_into_closed_pieces() {
        let size = DVec3::new(1.0, 0.8, 0.03);
        let model = textured_box(size);
        let mesh = Arc::new(box_grid([6, 5, 1], size.as_vec3()));
        let drape = Drape::build(&model, &mesh);
        let mut fragments = Fragments::new(mesh.clone());
        let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        let crack = Crack::from_level(&mesh, 0, &all, |n| {
            let p = mesh.positions()[n as usize];
            p.x - 0.43 + 0.2 * p.y
        });
        let fracture = Fracture {
            fragment: FragmentId(0),
            cracks: vec![crack.unwrap()],
        };
        let pieces = fragments.apply(&fracture).unwrap().children;
        let mut sides: HashMap<[[u32; 3]; 2], i32> = HashMap::new();
        let mut seen = 0;
        for id in pieces {
            sides.clear();
            for buffers in drape.surfaces(&model, &fragments, id, 1.0) {
                for triangle in &buffers.triangles {
                    let corners = triangle.map(|v| buffers.positions[v as usize]);
                    for k in 0..3 {
                        let key = |p: Vec3| (p + Vec3::ZERO).to_array().map(f32::to_bits);
                        let (a, b) = (key(corners[k]), key(corners[(k + 1) % 3]));
                        let by = i32::from(a < b) - i32::from(b < a);
                        *sides.entry([a.min(b), a.max(b)]).or_default() += by;
                    }
                    if buffers.is_crack {
                        continue;
                    }
                    // Its side of the box by its normal.
                    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
                    let axis = (0..3).fold(0, |best, k| {
                        if normal[k].abs() > normal[best].abs() {
                            k
                        } else {
                            best
                        }
                    });
                    let side = if normal[axis] > 0.0 { 1.0 } else { 0.0 };
                    for &v in triangle {
                        let p = buffers.positions[v as usize].as_dvec3();
                        let wanted = uv_at(axis, side, p);
                        let uv = &buffers.attributes[0].values[2 * v as usize..][..2];
                        let off = (uv[0] - wanted[0]).abs() + (uv[1] - wanted[1]).abs();
                        assert!(off < 1e-4, "{uv:?} instead of {wanted:?} at {p}");
                        seen += 1;
                    }
                }
            }
            assert!(sides.values().all(|&n| n == 0), "{id} is open");
        }
        assert!(seen > 1000, "{seen}");
    }
}
