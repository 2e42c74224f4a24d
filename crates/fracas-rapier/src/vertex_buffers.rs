//! A piece as vertex buffers for a GPU: positions, normals, texture coordinates, indices, the
//! crack faces last.

use std::collections::HashMap;
use std::ops::Range;

use fracas_core::FragmentSurface;
use fracas_core::dressing::Dress;
use glam::{Vec2, Vec3};

use crate::skin::{Skin, corner_normals, face_normal};

/// Vertex buffers of a piece, in the object's frame, as triangle list. All lists are tightly
/// packed: `bytemuck::cast_slice` gives their bytes.
///
/// [`World::vertex_buffers`](crate::World::vertex_buffers) makes them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexBuffers {
    /// Positions of the vertices, in metres.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals, out of the piece: smooth on the outside, except at edges sharper than 45
    /// degrees; flat on crack faces.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates: on the outside the model's, where it has some; else, and on crack
    /// faces, a box projection with one unit per metre.
    pub uvs: Vec<[f32; 2]>,
    /// Three vertices for each triangle, counter-clockwise seen from outside.
    pub indices: Vec<u32>,
    /// Range of the indices of what was outside before anything broke.
    pub outside: Range<u32>,
    /// Range of the indices of the crack faces: draw them with a material of their own.
    pub inside: Range<u32>,
}

impl VertexBuffers {
    /// One list for all attributes: position, normal and texture coordinates of each vertex,
    /// 32 bytes.
    #[must_use]
    pub fn interleaved(&self) -> Vec<[f32; 8]> {
        let attributes = self.positions.iter().zip(&self.normals).zip(&self.uvs);
        attributes
            .map(|(([x, y, z], [nx, ny, nz]), [u, v])| [*x, *y, *z, *nx, *ny, *nz, *u, *v])
            .collect()
    }

    /// Whether each side of a triangle has another against it, by position. Pieces of a model
    /// that is open or has walls thinner than its tetrahedra may gape.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let key = |v: u32| self.positions[v as usize].map(|x| (x + 0.0).to_bits());
        let mut balance: HashMap<[[u32; 3]; 2], i32> = HashMap::new();
        for t in self.indices.chunks_exact(3) {
            for i in 0..3 {
                let (a, b) = (key(t[i]), key(t[(i + 1) % 3]));
                let (side, sign) = if a < b { ([a, b], 1) } else { ([b, a], -1) };
                if a != b {
                    *balance.entry(side).or_default() += sign;
                }
            }
        }
        balance.values().all(|sum| *sum == 0)
    }

    /// A piece in the skin of its object.
    pub(crate) fn of_dress(dress: &Dress, skin: &Skin) -> Self {
        let mut welder = Welder::default();
        for &triangle in &dress.whole {
            let (corners, normals) = (skin.corners(triangle), skin.normals(triangle));
            let uvs = match &skin.uvs {
                Some(uvs) => uvs[triangle as usize],
                None => projected(corners),
            };
            welder.add(corners, normals, uvs);
        }
        for face in &dress.cut {
            let corners = face.corners.map(|c| c.position);
            let normals = skin.normals(face.triangle);
            let normals = face.corners.map(|c| {
                let [a, b, c] = weighted(normals, c.weights);
                (a + b + c).normalize_or(face_normal(corners))
            });
            let uvs = match &skin.uvs {
                Some(uvs) => face.corners.map(|c| {
                    let [a, b, c] = weighted(uvs[face.triangle as usize], c.weights);
                    a + b + c
                }),
                None => projected(corners),
            };
            welder.add(corners, normals, uvs);
        }
        let outside = welder.end();
        for face in &dress.cracks {
            welder.add(face.corners, [face.normal; 3], projected(face.corners));
        }
        welder.finish(outside)
    }

    /// A piece as its tetrahedra have it.
    pub(crate) fn of_surface(surface: &FragmentSurface) -> Self {
        let corners = (0..surface.triangles().len()).map(|t| surface.corners(t));
        let corners: Vec<[Vec3; 3]> = corners.collect();
        let (outer, cracks) = corners.split_at(surface.outer_triangles());
        let mut welder = Welder::default();
        for (triangle, normals) in outer.iter().zip(corner_normals(outer)) {
            welder.add(*triangle, normals, projected(*triangle));
        }
        let outside = welder.end();
        for triangle in cracks {
            welder.add(*triangle, [face_normal(*triangle); 3], projected(*triangle));
        }
        welder.finish(outside)
    }
}

/// Joins vertices with equal attributes, in the order in which they come.
#[derive(Default)]
struct Welder {
    /// Looked up only: its order plays no part.
    known: HashMap<[u32; 8], u32>,
    made: VertexBuffers,
}

impl Welder {
    fn add(&mut self, corners: [Vec3; 3], normals: [Vec3; 3], uvs: [Vec2; 3]) {
        // The order of the corners is the triangle's.
        for ((position, normal), uv) in corners.into_iter().zip(normals).zip(uvs) {
            let ([x, y, z], [nx, ny, nz], [u, v]) =
                (position.to_array(), normal.to_array(), uv.to_array());
            let key = [x, y, z, nx, ny, nz, u, v].map(f32::to_bits);
            let next = self.made.positions.len() as u32;
            let index = *self.known.entry(key).or_insert(next);
            if index == next {
                self.made.positions.push([x, y, z]);
                self.made.normals.push([nx, ny, nz]);
                self.made.uvs.push([u, v]);
            }
            self.made.indices.push(index);
        }
    }

    fn end(&self) -> u32 {
        self.made.indices.len() as u32
    }

    fn finish(mut self, outside: u32) -> VertexBuffers {
        self.made.outside = 0..outside;
        self.made.inside = outside..self.end();
        self.made
    }
}

fn weighted<T: std::ops::Mul<f32, Output = T>>([a, b, c]: [T; 3], [u, v, w]: [f32; 3]) -> [T; 3] {
    [a * u, b * v, c * w]
}

/// Coordinates across the axis that the face looks along most.
fn projected(corners: [Vec3; 3]) -> [Vec2; 3] {
    let [x, y, z] = face_normal(corners).abs().to_array();
    corners.map(|p| {
        if x >= y && x >= z {
            Vec2::new(p.y, p.z)
        } else if y >= z {
            Vec2::new(p.z, p.x)
        } else {
            Vec2::new(p.x, p.y)
        }
    })
}
