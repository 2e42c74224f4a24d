//! What models of users look like in pictures.

use std::sync::Arc;

use fracas_bake::model::Model;
use fracas_bake::model::pieces::Buffers;
use fracas_picture::{Colour, Mesh, Texture};
use glam::{Vec2, Vec3};

/// Base colours and textures of a model's materials, for pictures.
#[derive(Clone, Debug)]
pub struct Looks {
    colours: Vec<Colour>,
    /// With the name of the coordinates that each uses.
    textures: Vec<Option<(Arc<Texture>, String)>>,
}

impl Looks {
    /// Decodes the pictures; one that cannot be is left out.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let list = |key: &str| {
            model.document()[key]
                .as_array()
                .cloned()
                .unwrap_or_default()
        };
        let images: Vec<Option<Arc<Texture>>> = model
            .images()
            .iter()
            .map(|image| Texture::decode(&image.bytes).ok().map(Arc::new))
            .collect();
        let textures = list("textures");
        let (mut colours, mut of_material) = (Vec::new(), Vec::new());
        for material in list("materials") {
            let base = &material["pbrMetallicRoughness"];
            let part = |i: usize| base["baseColorFactor"][i].as_f64().unwrap_or(1.0) as f32;
            colours.push(Colour(Vec3::new(part(0), part(1), part(2))));
            let texture = base["baseColorTexture"]["index"].as_u64();
            let source = texture
                .and_then(|t| textures.get(t as usize))
                .and_then(|t| t["source"].as_u64());
            let picture = source.and_then(|s| images.get(s as usize).cloned().flatten());
            let set = base["baseColorTexture"]["texCoord"].as_u64().unwrap_or(0);
            of_material.push(picture.map(|p| (p, format!("TEXCOORD_{set}"))));
        }
        Self {
            colours,
            textures: of_material,
        }
    }

    /// A mesh of a surface with its normals, its base colour and its texture.
    #[must_use]
    pub fn paint(&self, mesh: Mesh, surface: &Buffers) -> Mesh {
        let find = |name: &str| surface.attributes.iter().find(|a| a.name == name);
        let mut mesh = mesh;
        if let Some(normals) = find("NORMAL") {
            let vectors = normals.values.chunks_exact(3);
            mesh = mesh.normals(vectors.map(|n| Vec3::new(n[0], n[1], n[2])).collect());
        }
        let Some(material) = surface.material else {
            return mesh;
        };
        if let Some(&colour) = self.colours.get(material) {
            mesh = mesh.colour(colour);
        }
        if let Some(Some((texture, set))) = self.textures.get(material)
            && let Some(uvs) = find(set)
        {
            let uvs = uvs.values.chunks_exact(2);
            let uvs = uvs.map(|uv| Vec2::new(uv[0], uv[1])).collect();
            mesh = mesh.texture(Arc::clone(texture), uvs);
        }
        mesh
    }
}
