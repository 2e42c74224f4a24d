//! Fragments of a model as vertex buffers, made when somebody asks for them.
//!
//! Corners that were vertices of the model keep all their numbers; corners that a crack
//! made have them interpolated in their triangle: normals and tangents made unit again,
//! the sign of a tangent taken from the nearest corner.

use std::collections::HashMap;

use fracas_core::dressing::{CrackFace, Dress, Dressed};
use fracas_core::used_vertices::used_vertices;
use glam::{DMat3, DVec3, Vec3};

use super::{Attribute, Model, ModelPart};

/// Triangles with one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buffers {
    /// The material in the model's document; `None`: none was given.
    pub material: Option<usize>,
    /// Whether these are crack faces.
    pub is_crack: bool,
    /// Where the vertices are in the scene.
    pub positions: Vec<Vec3>,
    /// Other attributes, in the scene's frame.
    pub attributes: Vec<Attribute>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// A fragment, ready to be drawn or written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelPiece {
    /// What it is called.
    pub name: String,
    /// Its centre of mass.
    pub centre: DVec3,
    /// Its volume.
    pub volume: f64,
    /// Its mass.
    pub mass: f64,
    /// Its surfaces, cracks last.
    pub surfaces: Vec<Buffers>,
}

/// The vertex buffers of a fragment: one for each part of the model that it has some of,
/// and one for its cracks. `crack_scale` is how often a texture repeats on a crack per
/// unit of length.
#[must_use]
pub fn surfaces(model: &Model, dress: &Dress, crack_scale: f32) -> Vec<Buffers> {
    let mut first = 0_u32;
    let (mut whole, mut cut) = (dress.whole.clone(), dress.cut.clone());
    whole.sort_unstable();
    cut.sort_by_key(|face| face.triangle);
    let (mut next_whole, mut next_cut) = (0, 0);
    let mut all = Vec::new();
    for part in model.parts() {
        let end = first + part.triangles.len() as u32;
        let mut builder = Builder::new(part);
        while next_whole < whole.len() && whole[next_whole] < end {
            let triangle = part.triangles[(whole[next_whole] - first) as usize];
            let corners = triangle.map(|v| builder.vertex(v));
            builder.buffers.triangles.push(corners);
            next_whole += 1;
        }
        while next_cut < cut.len() && cut[next_cut].triangle < end {
            let face = &cut[next_cut];
            let triangle = part.triangles[(face.triangle - first) as usize];
            let corners = face
                .corners
                .map(|c| builder.between(face.triangle, triangle, c.weights, c.position));
            builder.buffers.triangles.push(corners);
            next_cut += 1;
        }
        if !builder.buffers.triangles.is_empty() {
            all.push(builder.buffers);
        }
        first = end;
    }
    if !dress.cracks.is_empty() {
        all.push(cracks(&dress.cracks, crack_scale));
    }
    all
}

/// No vertex.
const NONE: u32 = u32::MAX;

pub(super) struct Builder<'a> {
    part: &'a ModelPart,
    /// From the node's frame to the scene's, for normals and for tangents; `None`
    /// where nothing turns.
    turn: Option<(DMat3, DMat3)>,
    pub(super) buffers: Buffers,
    /// For each vertex of the part its new number, or `NONE`; made when first asked for.
    vertices: Vec<u32>,
    between: HashMap<(u32, [u32; 3]), u32>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(part: &'a ModelPart) -> Self {
        let linear = DMat3::from_mat4(part.placed);
        let turn = (linear != DMat3::IDENTITY).then(|| {
            let inverse = linear.inverse();
            let normal = inverse.is_finite().then(|| inverse.transpose());
            (normal.unwrap_or(linear), linear)
        });
        let attributes = part
            .attributes
            .iter()
            .map(|a| Attribute {
                name: a.name.clone(),
                width: a.width,
                values: Vec::new(),
            })
            .collect();
        Self {
            part,
            turn,
            buffers: Buffers {
                material: part.material,
                attributes,
                ..Buffers::default()
            },
            vertices: Vec::new(),
            between: HashMap::new(),
        }
    }

    /// A vertex of the model.
    fn vertex(&mut self, v: u32) -> u32 {
        if self.vertices.is_empty() {
            self.vertices = vec![NONE; self.part.positions.len()];
        }
        let known = self.vertices[v as usize];
        if known != NONE {
            return known;
        }
        let position = self.part.positions[v as usize].as_vec3();
        let new = self.push(position, &[(v, 1.0)]);
        self.vertices[v as usize] = new;
        new
    }

    /// A corner in a triangle of the model.
    fn between(&mut self, t: u32, triangle: [u32; 3], weights: [f32; 3], at: Vec3) -> u32 {
        if let Some(k) = weights.iter().position(|&w| w == 1.0) {
            return self.vertex(triangle[k]);
        }
        let key = (t, at.to_array().map(f32::to_bits));
        if let Some(&known) = self.between.get(&key) {
            return known;
        }
        let mix = [0, 1, 2].map(|k| (triangle[k], weights[k]));
        let new = self.push(at, &mix);
        self.between.insert(key, new);
        new
    }

    /// A new vertex, its attributes mixed from those of the part.
    pub(super) fn push(&mut self, position: Vec3, mix: &[(u32, f32)]) -> u32 {
        self.buffers.positions.push(position);
        for (to, from) in self
            .buffers
            .attributes
            .iter_mut()
            .zip(&self.part.attributes)
        {
            let start = to.values.len();
            for k in 0..from.width {
                let value = |v: u32| from.values[v as usize * from.width + k];
                to.values.push(match mix {
                    [(v, _)] => value(*v),
                    _ => mix.iter().map(|&(v, weight)| weight * value(v)).sum(),
                });
            }
            let new = &mut to.values[start..];
            let direction = match from.name.as_str() {
                "NORMAL" if from.width == 3 => self.turn.map(|t| t.0),
                "TANGENT" if from.width == 4 => self.turn.map(|t| t.1),
                _ => continue,
            };
            let given = DVec3::new(new[0].into(), new[1].into(), new[2].into());
            if direction.is_some() || mix.len() > 1 {
                let turned = direction.map_or(given, |m| m * given);
                let unit = turned.normalize_or(given).as_vec3();
                new[..3].copy_from_slice(&unit.to_array());
            }
            if from.width == 4 {
                let nearest = mix.iter().max_by(|a, b| a.1.total_cmp(&b.1));
                let sign = nearest.map_or(1.0, |&(v, _)| from.values[v as usize * 4 + 3]);
                // A mirrored node turns the third axis over.
                let mirrored = self.part.placed.determinant() < 0.0;
                new[3] = if (sign < 0.0) != mirrored { -1.0 } else { 1.0 };
            }
        }
        self.buffers.positions.len() as u32 - 1
    }
}

/// A piece that has no other looks than its shape: its outside in the model's first
/// material, then its cracks.
#[must_use]
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn plain_surfaces(dressed: &Dressed, crack_scale: f32) -> Vec<Buffers> {
    let mut all = Vec::new();
    let outer = &dressed.triangles[..dressed.outer_triangles];
    if !outer.is_empty() {
        let (positions, triangles) = used_vertices(&dressed.positions, outer);
        let (normals, _) = used_vertices(&dressed.normals, outer);
        all.push(Buffers {
            material: Some(0),
            is_crack: false,
            positions,
            attributes: vec![normals_of(&normals)],
            triangles,
        });
    }
    all.extend(crack_surface(dressed, crack_scale));
    all
}

/// The cracks of a piece, where it has some.
pub(super) fn crack_surface(dressed: &Dressed, scale: f32) -> Option<Buffers> {
    let cracks = &dressed.triangles[dressed.outer_triangles..];
    if cracks.is_empty() {
        return None;
    }
    let (positions, triangles) = used_vertices(&dressed.positions, cracks);
    let (normals, _) = used_vertices(&dressed.normals, cracks);
    let corners = positions.iter().zip(&normals);
    let uvs = corners.flat_map(|(&p, &n)| project(p, n, scale)).collect();
    Some(Buffers {
        material: None,
        is_crack: true,
        attributes: vec![
            normals_of(&normals),
            Attribute {
                name: "TEXCOORD_0".into(),
                width: 2,
                values: uvs,
            },
        ],
        positions,
        triangles,
    })
}

fn normals_of(normals: &[Vec3]) -> Attribute {
    Attribute {
        name: "NORMAL".into(),
        width: 3,
        values: normals.iter().flat_map(|n| n.to_array()).collect(),
    }
}

/// Texture coordinates of a point, projected along the axis that its face faces.
fn project(p: Vec3, normal: Vec3, scale: f32) -> [f32; 2] {
    let size = normal.abs();
    let [u, v] = if size.x >= size.y && size.x >= size.z {
        [p.y, p.z]
    } else if size.y >= size.z {
        [p.z, p.x]
    } else {
        [p.x, p.y]
    };
    [u * scale, v * scale]
}

/// Crack faces: flat, with coordinates projected along the axis they face.
pub(super) fn cracks(faces: &[CrackFace], scale: f32) -> Buffers {
    let mut buffers = Buffers {
        is_crack: true,
        ..Buffers::default()
    };
    let (mut normals, mut uvs) = (Vec::new(), Vec::new());
    for face in faces {
        let first = buffers.positions.len() as u32;
        buffers.positions.extend(face.corners);
        buffers.triangles.push([first, first + 1, first + 2]);
        for p in face.corners {
            normals.extend(face.normal.to_array());
            uvs.extend(project(p, face.normal, scale));
        }
    }
    buffers.attributes = vec![
        Attribute {
            name: "NORMAL".into(),
            width: 3,
            values: normals,
        },
        Attribute {
            name: "TEXCOORD_0".into(),
            width: 2,
            values: uvs,
        },
    ];
    buffers
}
