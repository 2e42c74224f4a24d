//! Materials of fragments: the object's own on what was outside, another on cracks.

use bevy::prelude::*;
use fracas_fracture::Material;

use crate::components::Breakable;

/// What the crack faces of an object look like, on the entity with [`Breakable`]. By default
/// they look as its material does inside: see [`CrackMaterials`].
#[derive(Component, Clone, Debug, Default)]
pub struct CrackMaterial(pub Handle<StandardMaterial>);

/// What crack faces look like where an object has no [`CrackMaterial`], by what it is made of.
/// What is not in it gets [`look_inside`], made when first needed.
#[derive(Resource, Clone, Debug, Default)]
pub struct CrackMaterials(Vec<(Material, Handle<StandardMaterial>)>);

impl CrackMaterials {
    /// Returns what cracks in a material look like; `None` if nothing of it has broken yet and
    /// the app has said nothing.
    #[must_use]
    pub fn get(&self, material: &Material) -> Option<&Handle<StandardMaterial>> {
        let found = self.0.iter().find(|(known, _)| known == material);
        found.map(|(_, look)| look)
    }

    /// Sets what cracks in a material look like from now on.
    pub fn insert(&mut self, material: Material, look: Handle<StandardMaterial>) {
        self.0.retain(|(known, _)| *known != material);
        self.0.push((material, look));
    }
}

/// Colour (sRGB, with opacity) and roughness of fresh cracks.
const INSIDES: [(Material, [f32; 4], f32); 8] = [
    (Material::GLASS, [0.80, 0.93, 0.90, 0.45], 0.05),
    (Material::PORCELAIN, [0.93, 0.92, 0.89, 1.0], 0.75),
    (Material::EARTHENWARE, [0.72, 0.42, 0.29, 1.0], 0.95),
    (Material::BRICK, [0.66, 0.31, 0.22, 1.0], 0.95),
    (Material::GRANITE, [0.56, 0.55, 0.54, 1.0], 0.85),
    (Material::CONCRETE, [0.62, 0.61, 0.58, 1.0], 0.95),
    (Material::PLASTER, [0.95, 0.94, 0.91, 1.0], 0.95),
    (Material::ICE, [0.88, 0.95, 0.99, 0.70], 0.20),
];

/// What a material looks like inside; a plain grey for others than the presets.
#[must_use]
pub fn look_inside(material: &Material) -> StandardMaterial {
    let known = INSIDES.iter().find(|(known, ..)| known == material);
    let (colour, roughness) = known.map_or(([0.6, 0.6, 0.6, 1.0], 0.9), |&(_, c, r)| (c, r));
    let [red, green, blue, opacity] = colour;
    StandardMaterial {
        base_color: Color::srgba(red, green, blue, opacity),
        perceptual_roughness: roughness,
        alpha_mode: match opacity {
            1.0 => AlphaMode::Opaque,
            _ => AlphaMode::Blend,
        },
        ..default()
    }
}

/// Puts materials on a fragment that has just got its meshes. What the app has put there
/// itself stays.
pub(crate) fn dress(world: &mut World, object: Entity, fragment: Entity, cracks: Option<Entity>) {
    let own = world.get::<MeshMaterial3d<StandardMaterial>>(object);
    let own = own.cloned();
    if let Ok(mut fragment) = world.get_entity_mut(fragment) {
        // A fragment from the inside has no mesh, but a child that wants to be seen.
        fragment.insert_if_new(Visibility::default());
        if let Some(own) = own.filter(|_| fragment.contains::<Mesh3d>()) {
            fragment.insert_if_new(own);
        }
    }
    let Some(cracks) = cracks else {
        return;
    };
    if let Some(material) = crack_material(world, object)
        && let Ok(mut cracks) = world.get_entity_mut(cracks)
    {
        cracks.insert_if_new(MeshMaterial3d(material));
    }
}

fn crack_material(world: &mut World, object: Entity) -> Option<Handle<StandardMaterial>> {
    if let Some(CrackMaterial(own)) = world.get::<CrackMaterial>(object) {
        return Some(own.clone());
    }
    let material = world.get::<Breakable>(object)?.material;
    if let Some(known) = world.resource::<CrackMaterials>().get(&material) {
        return Some(known.clone());
    }
    let mut materials = world.get_resource_mut::<Assets<StandardMaterial>>()?;
    let made = materials.add(look_inside(&material));
    let mut known = world.resource_mut::<CrackMaterials>();
    known.insert(material, made.clone());
    Some(made)
}
