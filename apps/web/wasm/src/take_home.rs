//! The pieces as they lie, as a file that other programs open.

use fracas_bake::write::glb::{Glb, GlbError, Material, Part, Place};
use glam::Vec3;

use crate::stage::Stage;

/// All pieces as binary glTF: a named node each where it lies, its old surface and its
/// cracks in a material of their own.
///
/// # Errors
/// See [`GlbError`].
pub fn glb(stage: &Stage) -> Result<Vec<u8>, GlbError> {
    let world = stage.world();
    let mut glb = Glb::new();
    for piece in world.pieces() {
        let (Some(surface), Some(pose)) = (world.surface(piece), world.pose(piece)) else {
            continue;
        };
        if surface.triangles().is_empty() {
            continue;
        }
        let [r, g, b] = stage.colour(piece.object).map(linear);
        let pale = |c: f32| c + 0.6 * (1.0 - c);
        let old = glb.material(&Material::new("surface", [r, g, b, 1.0]));
        let new = glb.material(&Material::new("crack", [pale(r), pale(g), pale(b), 1.0]));
        let seen = stage.dressed(piece);
        let (positions, triangles, old_triangles) = match &seen {
            Some(seen) => (&*seen.positions, &*seen.triangles, seen.old_triangles),
            None => (
                surface.positions(),
                surface.triangles(),
                surface.old_triangles(),
            ),
        };
        let normals = seen.as_ref().map(|seen| &*seen.normals);
        let (before, cracks) = triangles.split_at(old_triangles);
        let corners = |triangles: &[[u32; 3]]| -> (Vec<Vec3>, Vec<[u32; 3]>, Vec<Vec3>) {
            let of = |all: &[Vec3]| -> Vec<Vec3> {
                let corners = triangles.as_flattened().iter();
                corners.map(|&v| all[v as usize]).collect()
            };
            let numbers = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
            let normals = normals.map_or_else(Vec::new, of);
            (of(positions), numbers.collect(), normals)
        };
        let (outside, inside) = (corners(before), corners(cracks));
        let parts =
            [(&outside, old), (&inside, new)].map(|((places, triangles, normals), look)| {
                Part::new(places, triangles, look).normals(normals)
            });
        let name = format!("{} {}", piece.object.0, piece.fragment.0);
        let mesh = glb.mesh(&name, &parts)?;
        let place = Place {
            translation: pose.translation,
            rotation: pose.rotation.to_array(),
            ..Place::default()
        };
        glb.node(&name, Some(mesh), place)?;
    }
    glb.to_bytes()
}

/// From sRGB.
fn linear(c: u8) -> f32 {
    let c = f32::from(c) / 255.0;
    if c <= 0.040_45 {
        c / 12.92
    } else {
        libm::powf((c + 0.055) / 1.055, 2.4)
    }
}
