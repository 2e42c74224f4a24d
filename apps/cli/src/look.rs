//! Pictures of tet meshes for the terminal user.

use std::error::Error;
use std::path::Path;

use fracas_core::TetMesh;
use fracas_core::tet_mesh::TET_FACES;
use fracas_picture::{Camera, Colour, Image, Mesh, Quality, Scene, Sheet};
use glam::Vec3;

use crate::files;

/// From the front right, a little above.
pub const FRONT: Vec3 = Vec3::new(0.6, 0.42, 1.0);
/// From behind on the left.
pub const BEHIND: Vec3 = Vec3::new(-0.9, 0.6, 0.7);

fn colour([r, g, b]: [u8; 3]) -> Colour {
    Colour::from_srgb(r, g, b)
}

fn photograph(mesh: Mesh, towards: Vec3, size: [usize; 2]) -> Image {
    let mut scene = Scene::new();
    scene.add(mesh);
    scene.ground_under_all();
    scene.render(
        &Camera::framing_all(towards),
        size[0],
        size[1],
        Quality::Fine,
    )
}

/// The surface.
pub fn surface(mesh: &TetMesh, paint: [u8; 3], towards: Vec3, size: [usize; 2]) -> Image {
    let triangles = mesh.boundary().map(|face| face.nodes).collect();
    let picture = Mesh::new(mesh.positions().to_vec(), triangles);
    photograph(
        picture.colour(colour(paint)).smooth(55.0).gloss(0.4),
        towards,
        size,
    )
}

/// The surface with its triangles.
pub fn wires(mesh: &TetMesh, paint: [u8; 3], towards: Vec3, size: [usize; 2]) -> Image {
    let triangles = mesh.boundary().map(|face| face.nodes).collect();
    let picture = Mesh::new(mesh.positions().to_vec(), triangles);
    let ink = Colour::from_srgb(58, 56, 60);
    photograph(
        picture.colour(colour(paint)).smooth(55.0).edges(ink, 0.7),
        towards,
        size,
    )
}

/// The tetrahedra on the far side of the middle plane: what is inside.
pub fn cut_open(mesh: &TetMesh, paint: [u8; 3], towards: Vec3, size: [usize; 2]) -> Image {
    let (lo, hi) = mesh.bounds();
    let middle = (lo.z + hi.z) * 0.5;
    let kept: Vec<bool> = (0..mesh.tets().len() as u32)
        .map(|t| mesh.corners(t).iter().map(|p| p.z).sum::<f32>() * 0.25 < middle)
        .collect();
    let (mut triangles, mut colours) = (Vec::new(), Vec::new());
    let inside = colour(paint).mix(Colour::from_srgb(250, 240, 215), 0.65);
    for (t, nodes) in mesh.tets().iter().enumerate().filter(|(t, _)| kept[*t]) {
        for (face, &across) in TET_FACES.iter().zip(&mesh.neighbours()[t]) {
            let outer = across == fracas_core::tet_mesh::NONE;
            if outer || !kept[across as usize] {
                triangles.push(face.map(|k| nodes[k]));
                colours.push(if outer { colour(paint) } else { inside });
            }
        }
    }
    let ink = Colour::from_srgb(70, 66, 70);
    let picture = Mesh::new(mesh.positions().to_vec(), triangles).colours(colours);
    photograph(picture.edges(ink, 0.6), towards, size)
}

/// Writes a contact sheet of four views.
pub fn four_views(
    mesh: &TetMesh,
    paint: [u8; 3],
    title: &str,
    path: &Path,
) -> Result<(), Box<dyn Error>> {
    const SIZE: [usize; 2] = [560, 440];
    let mut sheet = Sheet::new(2).title(title);
    let triangles = mesh.boundary().count();
    sheet.add(surface(mesh, paint, FRONT, SIZE), "front");
    sheet.add(surface(mesh, paint, BEHIND, SIZE), "behind");
    let caption = format!("surface: {triangles} triangles");
    sheet.add(wires(mesh, paint, FRONT, SIZE), caption);
    let caption = format!("cut open: {} tetrahedra", mesh.tets().len());
    sheet.add(cut_open(mesh, paint, FRONT, SIZE), caption);
    save(&sheet.image(), path)
}

/// Writes a picture, making the folder if there is none.
pub fn save(image: &Image, path: &Path) -> Result<(), Box<dyn Error>> {
    Ok(files::save_in_folder(path, image.to_png()?)?)
}
