//! Materials and textures of a file that the user dropped on the page.
//!
//! The model is draped over its tetrahedra ([`fracas_bake::model::drape`]), so that every
//! piece is closed and has the model's own textures. Files that name others beside them
//! cannot be followed from here: their pictures are left out.

use fracas_bake::model::Model;
use fracas_bake::model::drape::Drape;
use fracas_bake::model::pieces::{Buffers, ModelPiece};
use fracas_bake::model::write::{CrackLook, Format, files};
use fracas_core::{FragmentId, Fragments, TetMesh};
use glam::Vec3;
use parry3d::math::Pose;
use serde_json::{Value, json};

use crate::geometry::Geometry;
use crate::own::Moved;

/// How much of a material that lets all light through is drawn all the same: what bends light
/// is seen, and nothing here bends it.
const LEAST_DRAWN: f64 = 0.3;

/// What a model of the user's own looks like.
pub struct OwnLook {
    model: Model,
    drape: Drape,
}

impl OwnLook {
    /// Reads the looks of a file; none where it has nothing but a shape.
    #[must_use]
    pub fn read(file: &str, bytes: &[u8], mesh: &TetMesh, moved: Moved) -> Option<Self> {
        if !Model::is_known(file) {
            return None;
        }
        // What lies beside the file is not here. An empty picture counts as missing; empty
        // vertices are an error, and the model is shown without its looks.
        let mut alone = |_: &str| Ok(Vec::new());
        let model = Model::read_bytes(file, bytes, &mut alone).ok()?;
        let has_looks = model.document()["materials"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        if !has_looks {
            return None;
        }
        let (middle, scale) = (moved.middle.as_dvec3(), f64::from(moved.scale));
        let model = model.moved(|p| (p - middle) * scale);
        let drape = Drape::build(&model, mesh);
        Some(Self { model, drape })
    }

    /// Its materials: linear base colour, roughness, metalness, how much of it is drawn before
    /// what is behind it, from which opacity of its picture on it is there at all, the number of
    /// the picture that is its texture with its kind and how it is repeated (numbers of glTF), or
    /// `null`.
    #[must_use]
    pub fn describe(&self) -> Value {
        let document = self.model.document();
        let all = document["materials"].as_array();
        let materials = all.into_iter().flatten().map(|material| {
            let base = &material["pbrMetallicRoughness"];
            let number = |value: &Value, other: f64| value.as_f64().unwrap_or(other);
            let colour = [0, 1, 2, 3].map(|i| number(&base["baseColorFactor"][i], 1.0));
            let texture = base["baseColorTexture"]["index"].as_u64();
            let texture = texture.map(|t| &document["textures"][t as usize]);
            let picture = texture
                .and_then(|t| t["source"].as_u64())
                .filter(|&i| !self.picture(i as usize).is_empty());
            let sampler = texture
                .and_then(|t| t["sampler"].as_u64())
                .map(|s| &document["samplers"][s as usize]);
            let wrap = |key: &str| sampler.and_then(|s| s[key].as_u64()).unwrap_or(10_497);
            // Where a picture says what is metal, its factor alone would be all of it.
            let by_picture = base["metallicRoughnessTexture"].is_object();
            let metal = if by_picture { 0.0 } else { 1.0 };
            let blends = material["alphaMode"] == "BLEND";
            let is_cut = material["alphaMode"] == "MASK";
            let glass = &material["extensions"]["KHR_materials_transmission"];
            let through = number(&glass["transmissionFactor"], 0.0).clamp(0.0, 1.0);
            let opacity = if blends { colour[3] } else { 1.0 };
            json!({
                "colour": colour,
                "opacity": opacity * (1.0 - (1.0 - LEAST_DRAWN) * through),
                "blends": blends,
                "cutoff": if is_cut { number(&material["alphaCutoff"], 0.5) } else { 0.0 },
                "rough": number(&base["roughnessFactor"], 1.0),
                "metal": metal * number(&base["metallicFactor"], 1.0),
                "picture": picture,
                "mime": picture.map(|i| self.model.images()[i as usize].mime.clone()),
                "wrap": [wrap("wrapS"), wrap("wrapT")],
            })
        });
        Value::Array(materials.collect())
    }

    /// The file of a picture; empty where there is none.
    #[must_use]
    pub fn picture(&self, number: usize) -> Vec<u8> {
        let image = self.model.images().get(number);
        image.map_or_else(Vec::new, |image| image.bytes.clone())
    }

    /// A fragment in its materials.
    #[must_use]
    pub fn geometry(&self, fragments: &Fragments, id: FragmentId) -> Geometry {
        let surfaces = self.drape.surfaces(&self.model, fragments, id, 1.0);
        let materials = &self.model.document()["materials"];
        Geometry::of_model(&surfaces, |material| {
            let texture = &materials[material]["pbrMetallicRoughness"]["baseColorTexture"];
            format!("TEXCOORD_{}", texture["texCoord"].as_u64().unwrap_or(0))
        })
    }

    /// A fragment in its materials, where it lies in the world.
    #[must_use]
    pub fn surfaces(&self, fragments: &Fragments, id: FragmentId, pose: Pose) -> Vec<Buffers> {
        let mut surfaces = self.drape.surfaces(&self.model, fragments, id, 1.0);
        for surface in &mut surfaces {
            for p in &mut surface.positions {
                *p = pose * *p;
            }
            let directions = surface
                .attributes
                .iter_mut()
                .filter(|a| a.width >= 3 && (a.name == "NORMAL" || a.name == "TANGENT"));
            for attribute in directions {
                for v in attribute.values.chunks_exact_mut(attribute.width) {
                    let turned = pose.rotation * Vec3::new(v[0], v[1], v[2]);
                    v[..3].copy_from_slice(&turned.to_array());
                }
            }
        }
        surfaces
    }

    /// Pieces as binary glTF, with all that the model's document says of its looks.
    #[must_use]
    pub fn glb(&self, pieces: &[ModelPiece], name: &str) -> Vec<u8> {
        let all = files(&self.model, pieces, CrackLook::default(), Format::Glb, name);
        // A page has no four gibibytes.
        let all = all.unwrap_or_default().into_iter();
        all.map(|file| file.1).next().unwrap_or_default()
    }
}
