//! OBJ as an artist wrote it: nothing welded, faces with their materials, texture
//! coordinates and normals. Polygons are cut into fans.

use glam::DVec3;

use super::obj::{Counter, each_line, number_at};
use super::scanner::Result;

/// Position, texture coordinate and normal of three corners; missing ones are
/// `u32::MAX`.
pub(crate) type ObjFace = [[u32; 3]; 3];

/// What an OBJ holds for the eye.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjModel {
    pub positions: Vec<DVec3>,
    pub uvs: Vec<[f32; 2]>,
    pub normals: Vec<[f32; 3]>,
    /// Names of materials, as faces use them.
    pub materials: Vec<String>,
    /// Files of materials.
    pub libraries: Vec<String>,
    /// Triangles with their materials.
    pub faces: Vec<(Option<u32>, ObjFace)>,
}

/// Two passes, as the reader of surfaces: a face may stand above its vertices.
pub(crate) fn read_model(bytes: &[u8]) -> Result<ObjModel> {
    let mut model = ObjModel::default();
    each_line(bytes, |keyword, mut words, line| {
        let mut number = || number_at(words.next(), line, "a coordinate");
        match keyword {
            b"v" => model
                .positions
                .push(DVec3::new(number()?, number()?, number()?)),
            b"vt" => {
                let u = number()? as f32;
                let v = words.next().map_or(Ok(0.0), |w| {
                    number_at(Some(w), line, "a texture coordinate")
                })?;
                model.uvs.push([u, v as f32]);
            }
            b"vn" => {
                let normal = [number()? as f32, number()? as f32, number()? as f32];
                model.normals.push(normal);
            }
            _ => {}
        }
        Ok(())
    })?;
    let mut counters = [
        Counter::new("vertex", model.positions.len()),
        Counter::new("texture coordinate", model.uvs.len()),
        Counter::new("normal", model.normals.len()),
    ];
    let mut material = None;
    let ObjModel {
        materials,
        libraries,
        faces,
        ..
    } = &mut model;
    let mut corners: Vec<[u32; 3]> = Vec::new();
    each_line(bytes, |keyword, words, line| {
        let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
        match keyword {
            b"v" => counters[0].so_far += 1,
            b"vt" => counters[1].so_far += 1,
            b"vn" => counters[2].so_far += 1,
            b"mtllib" => libraries.extend(words.map(text)),
            b"usemtl" => {
                let name = words.map(text).collect::<Vec<_>>().join(" ");
                let known = materials.iter().position(|m| *m == name);
                material = Some(known.unwrap_or_else(|| {
                    materials.push(name);
                    materials.len() - 1
                }) as u32);
            }
            b"f" => {
                corners.clear();
                for word in words {
                    let mut corner = [u32::MAX; 3];
                    let indices = word.split(|&b| b == b'/').take(3);
                    for (slot, (counter, index)) in
                        corner.iter_mut().zip(counters.iter().zip(indices))
                    {
                        if !index.is_empty() {
                            *slot = counter.index(index, line)?;
                        }
                    }
                    if corner[0] == u32::MAX {
                        // An empty position: let the counter say what is wrong.
                        counters[0].index(b"", line)?;
                    }
                    corners.push(corner);
                }
                for i in 2..corners.len() {
                    faces.push((material, [corners[0], corners[i - 1], corners[i]]));
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(model)
}
