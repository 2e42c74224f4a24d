//! Moments of a recorded run as pictures.

use std::sync::Arc;

use fracas_bake::model::Model;
use fracas_picture::{Camera, Colour, Image, Mesh, Quality, Scene as Picture};
use fracas_scenes::recording::Recording;
use fracas_scenes::rigid::Scene;
use fracas_scenes::soft::{SoftScene, SoftSurface};
use glam::{Mat3, Vec3};

use crate::looks::Looks;

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
    Stills::default().still(scene, recording, after, size, quality)
}

/// Several pictures of one run: textures are decoded once for all of them.
#[derive(Debug, Default)]
pub struct Stills {
    looks: Vec<(Arc<Model>, Looks)>,
}

impl Stills {
    /// The looks of a model.
    fn looks(&mut self, model: &Arc<Model>) -> &Looks {
        let known = self.looks.iter().position(|(m, _)| Arc::ptr_eq(m, model));
        let at = known.unwrap_or_else(|| {
            self.looks.push((Arc::clone(model), Looks::of(model)));
            self.looks.len() - 1
        });
        &self.looks[at].1
    }

    /// The bodies after a step.
    #[must_use]
    pub fn still(
        &mut self,
        scene: &Scene,
        recording: &Recording,
        after: u64,
        size: [usize; 2],
        quality: Quality,
    ) -> Image {
        let mut picture = Picture::new();
        let (near, far) = scene.view();
        let floor = scene.floor_height();
        if floor.is_finite() {
            picture.ground(floor);
            picture.ground_lines(round_length(0.2 * (far - near).max_element()));
        }
        let (mut boxes, mut props) = (Vec::new(), Vec::new());
        for (id, track, pose) in recording.at(after) {
            let paint = scene.colour(id.object);
            let [r, g, b] = paint;
            let surface = &track.surface;
            let (positions, triangles, outer) = match &track.dressed {
                Some(dressed) => (
                    dressed.positions.as_slice(),
                    dressed.triangles.as_slice(),
                    dressed.outer_triangles,
                ),
                None => (
                    surface.positions(),
                    surface.triangles(),
                    surface.outer_triangles(),
                ),
            };
            let clear = scene.is_clear(id.object);
            let skin = Colour::from_srgb(r, g, b);
            // Cracks in glass show its depth.
            let crack = if clear {
                skin.mix(Colour::from_srgb(30, 90, 85), 0.6)
            } else {
                crack_colour(paint)
            };
            let colours = (0..triangles.len())
                .map(|t| if t < outer { skin } else { crack })
                .collect();
            if let Some(worn) = &track.worn {
                let mut reach = (Vec3::INFINITY, Vec3::NEG_INFINITY);
                for surface in &worn.surfaces {
                    let mesh = Mesh::new(surface.positions.clone(), surface.triangles.clone());
                    let mesh = mesh.smooth(35.0).colour(match surface.is_crack {
                        true => crack,
                        false => skin,
                    });
                    let mesh = match surface.is_crack {
                        true => mesh,
                        false => self.looks(&worn.model).paint(mesh, surface),
                    };
                    let mesh = mesh.moved(Mat3::from_quat(pose.rotation), pose.translation);
                    if let Some((low, high)) = mesh.bounds() {
                        reach = (reach.0.min(low), reach.1.max(high));
                    }
                    picture.add(mesh);
                }
                boxes.push(reach);
                continue;
            }
            let normals = track.dressed.as_ref().map(|d| d.normals.clone());
            let mesh = Mesh::new(positions.to_vec(), triangles.to_vec())
                .smooth(35.0)
                .normals(normals.unwrap_or_default())
                .colour(skin)
                .colours(colours);
            let mesh = if clear { mesh.clear() } else { mesh };
            let mesh = mesh.moved(Mat3::from_quat(pose.rotation), pose.translation);
            boxes.extend(mesh.bounds());
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
            props.extend(mesh.bounds());
            picture.add(mesh);
        }
        let (low, high) = frame(&boxes, &props, (near, far), floor);
        let camera = Camera::framing(low, high, Vec3::new(0.6, 0.42, 1.0));
        picture.render(&camera, size[0], size[1], quality)
    }
}

/// Share of all pieces, by the squares of their sizes, that a picture always shows.
const ALWAYS_SHOWN: f32 = 2.0 / 3.0;

/// The box that a picture shows: the ground below, and the pieces with the boxes `pieces`.
/// Most of them are always in it, those first that lie near the middle of all, however far
/// they came (but for three times the scene's own box). The others, and what broke them, only
/// as long as they are near: a ball that has flown through is not worth a picture in which
/// all else is small.
fn frame(
    pieces: &[(Vec3, Vec3)],
    props: &[(Vec3, Vec3)],
    (near, far): (Vec3, Vec3),
    floor: f32,
) -> (Vec3, Vec3) {
    let reach = far - near;
    let middle = |b: &(Vec3, Vec3)| 0.5 * (b.0 + b.1);
    let weight = |b: &(Vec3, Vec3)| b.0.distance_squared(b.1);
    let all: f32 = pieces.iter().map(weight).sum();
    let centre = Vec3::from_array([0, 1, 2].map(|axis| {
        let mut along: Vec<_> = pieces
            .iter()
            .map(|b| (middle(b)[axis], weight(b)))
            .collect();
        along.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut before = 0.0;
        let median = along.iter().find(|(_, weight)| {
            before += weight;
            2.0 * before >= all
        });
        median.map_or(0.0, |m| m.0)
    }));
    let mut pieces = pieces.to_vec();
    pieces.sort_by(|a, b| {
        let away = |b| middle(b).distance_squared(centre);
        away(a).total_cmp(&away(b))
    });
    let mut before = 0.0;
    let pieces = pieces.iter().map(|b| {
        let always = before < ALWAYS_SHOWN * all;
        before += weight(b);
        (b, if always { 3.0 } else { 0.2 })
    });
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for (&(lo, hi), most) in pieces.chain(props.iter().map(|b| (b, 0.2))) {
        let most = most * reach;
        let is_out = (hi.cmplt(near - most) | lo.cmpgt(far + most)).any();
        if most.x < reach.x && is_out {
            continue;
        }
        low = low.min(lo.max(near - most));
        high = high.max(hi.min(far + most.with_y(f32::INFINITY)));
    }
    if !(low.is_finite() && high.is_finite()) {
        return (near, far);
    }
    low.y = low.y.min(near.y);
    if floor.is_finite() {
        low.y = low.y.min(floor);
    }
    let high = high.max(low + 0.2 * reach);
    (low, high)
}

/// The largest of 1, 2 and 5 times a power of ten that is no longer than this.
fn round_length(length: f32) -> f32 {
    if !(length > 0.0 && length.is_finite()) {
        return 1.0;
    }
    let mut unit = 1.0;
    while unit > length {
        unit /= 10.0;
    }
    while 10.0 * unit <= length {
        unit *= 10.0;
    }
    [5.0, 2.0, 1.0]
        .map(|n| n * unit)
        .into_iter()
        .find(|&l| l <= length * 1.0001)
        .unwrap_or(unit)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(at: f32) -> (Vec3, Vec3) {
        let at = Vec3::new(at, 0.0, 0.0);
        (at, at + 0.1)
    }

    #[test]
    fn pieces_that_flew_apart_are_in_the_picture_and_one_that_rolled_off_is_not() {
        let view = (Vec3::new(-0.5, 0.0, -0.5), Vec3::new(0.5, 1.0, 0.5));
        // Half of them a whole view beside it.
        let mut boxes: Vec<_> = (0..20).map(|i| cube(-0.2 + 0.1 * i as f32)).collect();
        boxes.extend([cube(40.0), cube(-30.0)]);
        let (low, high) = frame(&boxes, &[cube(-30.0)], view, 0.0);
        assert!((low.x + 0.2).abs() < 1e-5, "{low}");
        assert!((1.4..1.9).contains(&high.x), "{high}");
        // Nothing at all shows the scene's own box.
        assert_eq!(frame(&[], &[], view, 0.0), view);
        // A body high above shows the floor, too.
        let high_up = (Vec3::new(0.0, 0.9, 0.0), Vec3::new(0.1, 1.0, 0.1));
        assert_eq!(frame(&[high_up], &[], view, -0.3).0.y, -0.3);
    }

    #[test]
    fn lines_are_round_lengths_apart() {
        for (length, round) in [(0.3, 0.2), (0.5, 0.5), (1.9, 1.0), (72.0, 50.0)] {
            assert!(
                (round_length(length) / round - 1.0).abs() < 1e-4,
                "{length}"
            );
        }
        assert_eq!(round_length(f32::NAN), 1.0);
    }
}
