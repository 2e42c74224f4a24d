//! The triangles of a scene in the world, and cutting them at the near plane.

use glam::Vec3;
use rayon::prelude::*;

use crate::camera::View;
use crate::colour::Colour;
use crate::raster::Corner;
use crate::scene::{Mesh, Scene};

/// A triangle in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorldTriangle {
    pub(super) corners: [Vec3; 3],
    pub(super) normals: [Vec3; 3],
    pub(super) colour: Colour,
    pub(super) mesh: u32,
    pub(super) vertices: [u32; 3],
}

/// All triangles of a scene, in the order of its meshes.
pub(super) fn world_triangles(scene: &Scene) -> Vec<WorldTriangle> {
    let normals = scene.meshes.par_iter().map(corner_normals);
    let normals: Vec<_> = normals.collect();
    let mut all = Vec::with_capacity(normals.iter().map(Vec::len).sum());
    for (m, (mesh, normals)) in scene.meshes.iter().zip(normals).enumerate() {
        for (t, (vertices, normals)) in mesh.triangles.iter().zip(normals).enumerate() {
            all.push(WorldTriangle {
                corners: vertices.map(|v| mesh.positions[v as usize]),
                normals,
                colour: mesh.colours.get(t).copied().unwrap_or(mesh.colour),
                mesh: m as u32,
                vertices: *vertices,
            });
        }
    }
    all
}

impl WorldTriangle {
    /// Barycentric coordinates of a point of its plane.
    pub(super) fn weights_at(&self, p: Vec3) -> [f32; 3] {
        let [a, b, c] = self.corners;
        let face = (b - a).cross(c - a);
        let area_squared = face.length_squared();
        if area_squared == 0.0 {
            return [1.0, 0.0, 0.0];
        }
        let wb = (p - a).cross(c - a).dot(face) / area_squared;
        let wc = (b - a).cross(p - a).dot(face) / area_squared;
        [1.0 - wb - wc, wb, wc]
    }

    pub(super) fn normal_at(&self, p: Vec3) -> Vec3 {
        let [wa, wb, wc] = self.weights_at(p);
        let [na, nb, nc] = self.normals;
        (na * wa + nb * wb + nc * wc).normalize_or(na)
    }
}

/// Normals at the corners of each triangle: the mean, weighed by area, of the
/// triangles around the vertex that bend less than the crease angle.
fn corner_normals(mesh: &Mesh) -> Vec<[Vec3; 3]> {
    if !mesh.normals.is_empty() {
        let given = |v: u32| mesh.normals[v as usize].normalize_or(Vec3::Y);
        return mesh.triangles.iter().map(|t| t.map(given)).collect();
    }
    let faces: Vec<Vec3> = mesh
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
            (b - a).cross(c - a)
        })
        .collect();
    let unit: Vec<Vec3> = faces.iter().map(|f| f.normalize_or(Vec3::Y)).collect();
    if mesh.crease_cosine > 1.0 {
        return unit.iter().map(|&n| [n; 3]).collect();
    }
    let mut starts = vec![0_u32; mesh.positions.len() + 1];
    for &v in mesh.triangles.iter().flatten() {
        starts[v as usize + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut next = starts.clone();
    let mut around = vec![0_u32; mesh.triangles.len() * 3];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for &v in corners {
            around[next[v as usize] as usize] = t as u32;
            next[v as usize] += 1;
        }
    }
    mesh.triangles
        .iter()
        .enumerate()
        .map(|(t, corners)| {
            corners.map(|v| {
                let range = starts[v as usize] as usize..starts[v as usize + 1] as usize;
                let sum: Vec3 = around[range]
                    .iter()
                    .filter(|&&other| unit[other as usize].dot(unit[t]) >= mesh.crease_cosine)
                    .map(|&other| faces[other as usize])
                    .sum();
                sum.normalize_or(unit[t])
            })
        })
        .collect()
}

/// The edges of triangles, each once.
pub(super) fn unique_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Cuts a triangle at the near plane and hands on what is left, in pixels.
pub(super) fn clip(view: View, near: f32, corners: [Vec3; 3], draw: &mut dyn FnMut([Corner; 3])) {
    let camera = corners.map(|p| view.to_camera(p));
    let project = |c: Vec3| {
        let [x, y] = view.to_pixels(c);
        [x, y, 1.0 / c.z]
    };
    if camera.iter().all(|c| c.z >= near) {
        draw(camera.map(project));
        return;
    }
    let mut kept = [Vec3::ZERO; 4];
    let mut count = 0;
    for i in 0..3 {
        let (a, b) = (camera[i], camera[(i + 1) % 3]);
        if a.z >= near {
            kept[count] = a;
            count += 1;
        }
        if (a.z >= near) != (b.z >= near) {
            kept[count] = a.lerp(b, (near - a.z) / (b.z - a.z));
            count += 1;
        }
    }
    for i in 2..count {
        draw([kept[0], kept[i - 1], kept[i]].map(project));
    }
}

/// Cuts a line at the near plane; what is left, in pixels.
pub(super) fn clipped_segment(view: View, near: f32, ends: [Vec3; 2]) -> Option<[Corner; 2]> {
    let [mut a, mut b] = ends.map(|p| view.to_camera(p));
    if a.z < near && b.z < near {
        return None;
    }
    if a.z < near {
        a = a.lerp(b, (near - a.z) / (b.z - a.z));
    } else if b.z < near {
        b = b.lerp(a, (near - b.z) / (a.z - b.z));
    }
    Some([a, b].map(|c| {
        let [x, y] = view.to_pixels(c);
        [x, y, 1.0 / c.z]
    }))
}
