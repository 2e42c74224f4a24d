//! Moments of a recorded run as pictures.

use fracas_picture::{Camera, Colour, Image, Mesh, Quality, Scene as Picture};
use fracas_scenes::recording::Recording;
use fracas_scenes::rigid::Scene;
use fracas_scenes::soft::{SoftScene, SoftSurface};
use glam::{Mat3, Vec3};

/// Cracks look like the inside of the material: paler.
#[must_use]
pub fn crack_colour(paint: [u8; 3]) -> Colour {
    let [r, g, b] = paint;
    Colour::from_srgb(r, g, b).mix(Colour::from_srgb(250, 240, 215), 0.65)
}

/// The colour of a soft body.
#[must_use]
pub fn soft_colour(surface: &SoftSurface) -> Colour {
    let [r, g, b] = surface.colour;
    Colour::from_srgb(r, g, b)
}

/// A soft scene as it is now, always from the same place.
#[must_use]
pub fn soft_still(scene: &SoftScene, size: [usize; 2], quality: Quality) -> Image {
    let mut picture = Picture::new();
    picture.ground(0.0);
    for surface in scene.surfaces() {
        let colour = soft_colour(&surface);
        let triangles = surface.drawn_triangles();
        picture.add(
            Mesh::new(surface.positions, triangles)
                .smooth(40.0)
                .colour(colour),
        );
    }
    let (low, high) = scene.view();
    let camera = Camera::framing(low, high, Vec3::new(0.6, 0.42, 1.0));
    picture.render(&camera, size[0], size[1], quality)
}

/// The bodies after a step.
#[must_use]
pub fn still(
    scene: &Scene,
    recording: &Recording,
    after: u64,
    size: [usize; 2],
    quality: Quality,
) -> Image {
    let mut picture = Picture::new();
    picture.ground(0.0);
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for (id, track, pose) in recording.at(after) {
        let paint = scene.colour(id.object);
        let [r, g, b] = paint;
        let surface = &track.surface;
        let (positions, triangles, old) = match &track.dressed {
            Some(dressed) => (
                dressed.positions.as_slice(),
                dressed.triangles.as_slice(),
                dressed.old_triangles,
            ),
            None => (
                surface.positions(),
                surface.triangles(),
                surface.old_triangles(),
            ),
        };
        let colours = (0..triangles.len())
            .map(|t| {
                if t < old {
                    Colour::from_srgb(r, g, b)
                } else {
                    crack_colour(paint)
                }
            })
            .collect();
        let normals = track.dressed.as_ref().map(|d| d.normals.clone());
        let mesh = Mesh::new(positions.to_vec(), triangles.to_vec())
            .smooth(35.0)
            .normals(normals.unwrap_or_default())
            .colours(colours)
            .moved(Mat3::from_quat(pose.rotation), pose.translation);
        if let Some((lo, hi)) = mesh.bounds() {
            (low, high) = (low.min(lo), high.max(hi));
        }
        picture.add(mesh);
    }
    for (track, pose) in recording.props_at(after) {
        let [r, g, b] = track.colour;
        let (positions, triangles) = track.shape.triangles();
        let mesh = Mesh::new(positions, triangles)
            .smooth(35.0)
            .gloss(0.5)
            .colour(Colour::from_srgb(r, g, b))
            .moved(Mat3::from_quat(pose.rotation), pose.translation);
        if let Some((lo, hi)) = mesh.bounds() {
            (low, high) = (low.min(lo), high.max(hi));
        }
        picture.add(mesh);
    }
    // All bodies and the ground below them; what rolls out of the scene is let go.
    let (near, far) = scene.view();
    let reach = far - near;
    let out = 0.2 * reach;
    let (low, high) = (
        low.min(near.with_x(f32::INFINITY).with_z(f32::INFINITY))
            .max(near - out),
        high.max(low + 0.2 * reach)
            .min(far + out.with_y(f32::INFINITY)),
    );
    let camera = Camera::framing(low.min(high), high, Vec3::new(0.6, 0.42, 1.0));
    picture.render(&camera, size[0], size[1], quality)
}

/// Moments worth seeing, at most so many: around the first break, after it, the end.
#[must_use]
pub fn moments(recording: &Recording, most: usize) -> Vec<u64> {
    let last = recording.steps.len() as u64;
    let mut moments = vec![last];
    if let (Some(&first), Some(&end)) = (recording.breaks.first(), recording.breaks.last()) {
        let middle = recording.breaks[recording.breaks.len() / 2];
        moments = vec![first, first + 4, middle + 6, end + 15, last];
    }
    moments.retain(|&m| m <= last);
    moments.sort_unstable();
    moments.dedup();
    while moments.len() > most {
        moments.remove(1);
    }
    moments
}
