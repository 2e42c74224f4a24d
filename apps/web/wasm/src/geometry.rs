//! Triangles as a renderer takes them: three corners each, normals smoothed where
//! the surface is smooth.
//!
//! A corner's normal is the sum of the face normals (weighted by area) around its
//! vertex that lie within `CREASE` of its own face's; cracks never blend with the
//! outer surface.

use fracas_bake::model::pieces::Buffers;
use fracas_core::FragmentSurface;
use fracas_core::dressing::Dressed;
use glam::Vec3;
use wasm_bindgen::prelude::wasm_bindgen;

/// Cosine of the sharpest angle that is shaded as smooth: 35 degrees.
const CREASE: f32 = 0.82;

/// Corners and normals, nine numbers a triangle, outer surface first.
#[wasm_bindgen]
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    positions: Vec<f32>,
    normals: Vec<f32>,
    outer_triangles: u32,
    /// Texture coordinates, two a corner; none where nothing has a texture.
    uvs: Vec<f32>,
    /// For each material of the outer surface its number and how many triangles it has.
    groups: Vec<u32>,
}

#[wasm_bindgen]
impl Geometry {
    /// Corner positions, in the object's frame.
    #[must_use]
    pub fn positions(&self) -> Vec<f32> {
        self.positions.clone()
    }

    /// Unit normals, one a corner.
    #[must_use]
    pub fn normals(&self) -> Vec<f32> {
        self.normals.clone()
    }

    /// Texture coordinates, two a corner; empty where nothing has a texture.
    #[must_use]
    pub fn uvs(&self) -> Vec<f32> {
        self.uvs.clone()
    }

    /// The materials of the outer surface, in the order of its triangles: number (of
    /// `Simulation::looks`) and count of triangles; empty where it has none of its own.
    #[must_use]
    pub fn groups(&self) -> Vec<u32> {
        self.groups.clone()
    }

    /// How many triangles, from the first on, are outer surface; the rest are cracks.
    #[must_use]
    pub fn outer_triangles(&self) -> u32 {
        self.outer_triangles
    }
}

impl Geometry {
    /// Of a fragment's surface.
    #[must_use]
    pub fn of(surface: &FragmentSurface) -> Self {
        Self::shade(
            surface.positions(),
            surface.triangles(),
            surface.outer_triangles(),
        )
    }

    /// Of a piece as it really looks.
    #[must_use]
    pub fn dressed(seen: &Dressed) -> Self {
        Self::with_normals(
            &seen.positions,
            &seen.normals,
            &seen.triangles,
            seen.outer_triangles,
        )
    }

    /// Of triangles with normals for each vertex, the first `outer` of which are outer
    /// surface.
    #[must_use]
    pub fn with_normals(
        positions: &[Vec3],
        normals: &[Vec3],
        triangles: &[[u32; 3]],
        outer: usize,
    ) -> Self {
        let at = |of: &[Vec3]| -> Vec<f32> {
            let corners = triangles.as_flattened().iter();
            corners.flat_map(|&v| of[v as usize].to_array()).collect()
        };
        Self {
            positions: at(positions),
            normals: at(normals),
            outer_triangles: outer as u32,
            ..Self::default()
        }
    }

    /// Of a piece of a model. `uv_set` names the texture coordinates of a material.
    #[must_use]
    pub fn of_model(surfaces: &[Buffers], uv_set: impl Fn(usize) -> String) -> Self {
        let mut all = Self::default();
        for surface in surfaces {
            let own = surface.material.map(&uv_set);
            let find = |name: &str| surface.attributes.iter().find(|a| a.name == name);
            let shaded = match find("NORMAL") {
                Some(normals) => {
                    let normals = normals.values.as_chunks::<3>().0.iter();
                    let normals: Vec<Vec3> = normals.map(|&n| Vec3::from_array(n)).collect();
                    Self::with_normals(&surface.positions, &normals, &surface.triangles, 0)
                }
                None => Self::shade(&surface.positions, &surface.triangles, 0),
            };
            all.positions.extend(shaded.positions);
            all.normals.extend(shaded.normals);
            let uvs = own.and_then(|name| find(&name)).filter(|a| a.width == 2);
            for &v in surface.triangles.as_flattened() {
                let uv = uvs.map_or([0.0; 2], |a| [0, 1].map(|k| a.values[2 * v as usize + k]));
                all.uvs.extend(uv);
            }
            let count = surface.triangles.len() as u32;
            if !surface.is_crack {
                all.outer_triangles += count;
                let number = surface.material.map_or(u32::MAX, |m| m as u32);
                all.groups.extend([number, count]);
            }
        }
        all
    }

    /// Of triangles, the first `outer` of which are outer surface.
    #[must_use]
    pub fn shade(vertices: &[Vec3], triangles: &[[u32; 3]], outer: usize) -> Self {
        let at = |v: u32| vertices[v as usize];
        let faces: Vec<(Vec3, Vec3)> = triangles
            .iter()
            .map(|&[a, b, c]| {
                let area = (at(b) - at(a)).cross(at(c) - at(a));
                (area, area.normalize_or_zero())
            })
            .collect();
        // The faces around vertex v are around[first[v]..first[v + 1]].
        let mut first = vec![0_u32; vertices.len() + 1];
        for &v in triangles.as_flattened() {
            first[v as usize + 1] += 1;
        }
        for v in 0..vertices.len() {
            first[v + 1] += first[v];
        }
        let mut around = vec![0_u32; 3 * triangles.len()];
        let mut next = first.clone();
        for (t, triangle) in triangles.iter().enumerate() {
            for &v in triangle {
                around[next[v as usize] as usize] = t as u32;
                next[v as usize] += 1;
            }
        }
        let mut shaded = Self {
            positions: Vec::with_capacity(9 * triangles.len()),
            normals: Vec::with_capacity(9 * triangles.len()),
            outer_triangles: outer as u32,
            ..Self::default()
        };
        for (t, triangle) in triangles.iter().enumerate() {
            for &v in triangle {
                let range = first[v as usize] as usize..first[v as usize + 1] as usize;
                let normal = around[range]
                    .iter()
                    .map(|&other| other as usize)
                    .filter(|&other| (other < outer) == (t < outer))
                    .filter(|&other| faces[other].1.dot(faces[t].1) >= CREASE)
                    .fold(Vec3::ZERO, |sum, other| sum + faces[other].0);
                let normal = normal.try_normalize().unwrap_or(faces[t].1);
                shaded.positions.extend(at(v).to_array());
                shaded.normals.extend(normal.to_array());
            }
        }
        shaded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_keeps_its_edges_and_a_fold_of_ten_degrees_is_smooth() {
        let mesh = fracas_core::testing::box_grid([1, 1, 1], Vec3::ONE);
        let fragments = fracas_core::Fragments::new(std::sync::Arc::new(mesh));
        let surface = FragmentSurface::extract(
            &fragments,
            fracas_core::FragmentId(0),
            &mut fracas_core::SurfaceScratch::default(),
        );
        let cube = Geometry::of(&surface);
        assert_eq!(cube.normals.len(), 9 * 12);
        for n in cube.normals.as_chunks::<3>().0 {
            let largest = n.iter().fold(0.0_f32, |l, x| l.max(x.abs()));
            assert!((largest - 1.0).abs() < 1e-6, "{n:?} leans over an edge");
        }
        let fold = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(0.7, 0.17, 0.7)];
        let shaded = Geometry::shade(&fold, &[[0, 2, 1], [1, 2, 3]], 2);
        let n = &shaded.normals;
        assert_eq!(n[3..6], n[12..15], "the shared edge has one normal");
        let cracked = Geometry::shade(&fold, &[[0, 2, 1], [1, 2, 3]], 1);
        assert_ne!(cracked.normals[3..6], cracked.normals[12..15]);
    }
}
