//! Bevy's meshes in and out: what an artist's mesh says, and what a piece shows.

use bevy::asset::RenderAssetUsages;
use bevy::math::DVec3;
use bevy::mesh::{Indices, MeshVertexAttribute, PrimitiveTopology, VertexAttributeValues};
use bevy::prelude::*;
use fracas_bake::model::pieces::Buffers;
use fracas_bake::model::{Attribute, Model};
use fracas_core::FragmentSurface;

use crate::error::MeshDefect;

/// Attributes that pieces keep, and what glTF calls them.
const KEPT: [(MeshVertexAttribute, &str, usize); 5] = [
    (Mesh::ATTRIBUTE_NORMAL, "NORMAL", 3),
    (Mesh::ATTRIBUTE_TANGENT, "TANGENT", 4),
    (Mesh::ATTRIBUTE_UV_0, "TEXCOORD_0", 2),
    (Mesh::ATTRIBUTE_UV_1, "TEXCOORD_1", 2),
    (Mesh::ATTRIBUTE_COLOR, "COLOR_0", 4),
];

/// Positions and triangles.
pub(crate) type Triangles = (Vec<DVec3>, Vec<[u32; 3]>);

/// The triangles of a mesh as they are.
pub(crate) fn read_triangles(mesh: &Mesh) -> Result<Triangles, MeshDefect> {
    if mesh.primitive_topology() != PrimitiveTopology::TriangleList {
        return Err(MeshDefect::NoTriangles);
    }
    let positions = mesh.try_attribute_option(Mesh::ATTRIBUTE_POSITION);
    let Some(VertexAttributeValues::Float32x3(positions)) =
        positions.map_err(|_| MeshDefect::Taken)?
    else {
        return Err(MeshDefect::NoPositions);
    };
    let points = positions.iter().map(|p| DVec3::from(Vec3::from_array(*p)));
    let corners: Vec<u32> = match mesh.try_indices_option().map_err(|_| MeshDefect::Taken)? {
        Some(Indices::U16(list)) => list.iter().map(|&i| u32::from(i)).collect(),
        Some(Indices::U32(list)) => list.clone(),
        None => (0..positions.len() as u32).collect(),
    };
    let (triangles, _) = corners.as_chunks::<3>();
    Ok((points.collect(), triangles.to_vec()))
}

/// A mesh at a scale, with what its pieces keep of it; none where it is not sound, or the
/// renderer has taken it.
pub(crate) fn read_model(mesh: &Mesh, scale: f32) -> Option<Model> {
    let (mut positions, triangles) = read_triangles(mesh).ok()?;
    if scale != 1.0 {
        positions.iter_mut().for_each(|p| *p *= f64::from(scale));
    }
    let count = positions.len();
    let is_sound = positions.iter().all(|p| p.is_finite())
        && triangles.iter().flatten().all(|&v| (v as usize) < count);
    if !is_sound || triangles.is_empty() {
        return None;
    }
    let mut model = Model::plain("mesh", positions, triangles, [1.0; 4]);
    for (attribute, name, width) in KEPT {
        let Ok(Some(values)) = mesh.try_attribute_option(attribute) else {
            continue;
        };
        let values: Vec<f32> = match values {
            VertexAttributeValues::Float32x2(list) => list.iter().flatten().copied().collect(),
            VertexAttributeValues::Float32x3(list) => list.iter().flatten().copied().collect(),
            VertexAttributeValues::Float32x4(list) => list.iter().flatten().copied().collect(),
            _ => continue,
        };
        if values.len() == width * count && values.iter().all(|v| v.is_finite()) {
            let name = name.into();
            model = model.with_attribute(Attribute {
                name,
                width,
                values,
            });
        }
    }
    Some(model)
}

/// A mesh of vertex buffers; flat normals where they have none.
pub(crate) fn mesh_of(buffers: Buffers) -> Mesh {
    let positions: Vec<[f32; 3]> = buffers.positions.iter().map(|p| p.to_array()).collect();
    let corners = buffers.triangles.into_iter().flatten().collect();
    let usage = RenderAssetUsages::default();
    let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, usage)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_indices(Indices::U32(corners));
    for (attribute, name, _) in KEPT {
        let Some(found) = buffers.attributes.iter().find(|a| a.name == name) else {
            continue;
        };
        let values = &found.values;
        let values: VertexAttributeValues = match found.width {
            2 => values.as_chunks::<2>().0.to_vec().into(),
            3 => values.as_chunks::<3>().0.to_vec().into(),
            _ => values.as_chunks::<4>().0.to_vec().into(),
        };
        mesh.insert_attribute(attribute, values);
    }
    if mesh.contains_attribute(Mesh::ATTRIBUTE_NORMAL) {
        return mesh;
    }
    mesh.with_duplicated_vertices().with_computed_flat_normals()
}

/// A flat-shaded mesh of a piece's whole surface, in the frame of its entity.
#[must_use]
pub fn draw(surface: &FragmentSurface) -> Mesh {
    draw_triangles(surface, surface.triangles())
}

/// The same of what was outside before anything broke; none where there is nothing of it.
#[must_use]
pub fn draw_outer(surface: &FragmentSurface) -> Option<Mesh> {
    let outer = &surface.triangles()[..surface.outer_triangles()];
    (!outer.is_empty()).then(|| draw_triangles(surface, outer))
}

/// The same of the crack faces; none where there are none.
#[must_use]
pub fn draw_cracks(surface: &FragmentSurface) -> Option<Mesh> {
    let cracks = &surface.triangles()[surface.outer_triangles()..];
    (!cracks.is_empty()).then(|| draw_triangles(surface, cracks))
}

fn draw_triangles(surface: &FragmentSurface, triangles: &[[u32; 3]]) -> Mesh {
    mesh_of(Buffers {
        positions: surface.positions().to_vec(),
        triangles: triangles.to_vec(),
        ..Buffers::default()
    })
}
