//! Bumps on crack faces, finer than the tetrahedra: seen only, nothing collides with them.
//!
//! Sides of crack triangles are halved until they are short, but for those on the rim, and
//! corners are moved by noise of where they were; corners on the rim stay. Where a corner
//! goes depends on its place alone, so that the piece stays closed, and corners go to the same
//! places on both sides of a crack. Both sides of a crack have the same faces before
//! (`fracas_core::dressing`). In the model's own triangles they have the same ones after, too,
//! and pieces fit bit for bit. Of draped pieces some faces at the rims are halved otherwise on
//! the other side (11 of 4,300 in the test): there they fit to less than the bumps' height.

use std::collections::{HashMap, HashSet};

use fracas_core::dressing::CrackFace;
use fracas_fracture::random::Noise;
use glam::Vec3;

use super::pieces::{Buffers, cracks};

/// How crack faces are made rougher.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrackDetail {
    /// How far points move at most, along each axis.
    pub height: f32,
    /// Sides longer than this are halved, [`MOST_HALVINGS`] times at most.
    pub length: f32,
    /// Of the noise.
    pub seed: u64,
}

/// How often a side is halved at most.
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) const MOST_HALVINGS: usize = 3;

/// A place by its bits.
type Key = [u32; 3];

fn key(p: Vec3) -> Key {
    // Adding zero makes -0 and 0 the same.
    (p + Vec3::ZERO).to_array().map(f32::to_bits)
}

fn side(a: Vec3, b: Vec3) -> [Key; 2] {
    let (a, b) = (key(a), key(b));
    [a.min(b), a.max(b)]
}

/// Gives the cracks of a closed piece their detail. `crack_scale` as in
/// [`super::pieces::surfaces`].
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn roughen(surfaces: &mut [Buffers], detail: &CrackDetail, crack_scale: f32) {
    let (mut faces, mut outside) = (Vec::new(), HashSet::new());
    for surface in surfaces.iter() {
        if surface.is_crack {
            let corners = surface.triangles.iter();
            faces.extend(corners.map(|t| t.map(|v| surface.positions[v as usize])));
        } else {
            outside.extend(surface.positions.iter().map(|&p| key(p)));
        }
    }
    // Sides that crack faces have to themselves are the rim: the skin has them, too.
    let mut balance: HashMap<[Key; 2], i32> = HashMap::new();
    for [a, b, c] in &faces {
        for (a, b) in [(*a, *b), (*b, *c), (*c, *a)] {
            *balance.entry(side(a, b)).or_default() += if key(a) < key(b) { 1 } else { -1 };
        }
    }
    let is_rim = |a: Vec3, b: Vec3| balance.get(&side(a, b)).is_some_and(|&n| n != 0);
    for _ in 0..MOST_HALVINGS {
        let longest = detail.length * detail.length;
        let halved = |a: Vec3, b: Vec3| {
            (a.distance_squared(b) > longest && !is_rim(a, b)).then(|| 0.5 * (a + b))
        };
        faces = faces.into_iter().flat_map(|t| divided(t, halved)).collect();
    }
    let noise = [1, 2, 3].map(|k| Noise::new(detail.seed.wrapping_mul(4) + k, 2.0 * detail.length));
    let moved = |p: Vec3| match outside.contains(&key(p)) {
        true => p,
        false => p + detail.height * Vec3::from_array(noise.each_ref().map(|n| n.at(p))),
    };
    let faces: Vec<CrackFace> = faces
        .into_iter()
        .map(|t| {
            let corners = t.map(moved);
            let [a, b, c] = corners;
            let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
            CrackFace { corners, normal }
        })
        .collect();
    let mut all = Some(cracks(&faces, crack_scale));
    for surface in surfaces.iter_mut().filter(|s| s.is_crack) {
        // All of them are in the first.
        let material = surface.material;
        *surface = all.take().unwrap_or_default();
        (surface.is_crack, surface.material) = (true, material);
    }
}

/// A triangle, its sides halved where they are to be. Which way it is divided does not
/// depend on the side it is seen from.
fn divided([a, b, c]: [Vec3; 3], halved: impl Fn(Vec3, Vec3) -> Option<Vec3>) -> Vec<[Vec3; 3]> {
    match [halved(a, b), halved(b, c), halved(c, a)] {
        [None, None, None] => vec![[a, b, c]],
        [Some(d), Some(e), Some(f)] => vec![[a, d, f], [d, b, e], [f, e, c], [d, e, f]],
        [Some(d), None, None] => vec![[a, d, c], [d, b, c]],
        [None, Some(e), None] => vec![[b, e, a], [e, c, a]],
        [None, None, Some(f)] => vec![[c, f, b], [f, a, b]],
        [Some(d), Some(e), None] => around(b, e, c, a, d),
        [None, Some(e), Some(f)] => around(c, f, a, b, e),
        [Some(d), None, Some(f)] => around(a, d, b, c, f),
    }
}

/// A triangle `apex`, `p`, `q` whose sides at the apex are halved in `next` and `last`: one
/// triangle at the apex, and a quadrilateral along its shorter diagonal.
fn around(apex: Vec3, next: Vec3, p: Vec3, q: Vec3, last: Vec3) -> Vec<[Vec3; 3]> {
    let (one, other) = (next.distance_squared(q), p.distance_squared(last));
    // The same from both sides, also where both are as long.
    let first = one < other || (one == other && side(next, q) < side(p, last));
    let rest = match first {
        true => [[next, p, q], [next, q, last]],
        false => [[next, p, last], [p, q, last]],
    };
    vec![[apex, next, last], rest[0], rest[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::model::write::enclosed_volume;
    use crate::shatter::{SkinChoice, Wardrobe, open_sides};
    use fracas_core::testing::box_grid;
    use fracas_core::{FragmentId, Fragments};
    use fracas_fracture::patterns::{VoronoiOptions, voronoi};
    use std::sync::Arc;

    fn pieces(choice: SkinChoice, seed: u64) -> Vec<Vec<Buffers>> {
        let mesh = Arc::new(box_grid([4; 3], Vec3::ONE));
        let corners = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
        let triangles = mesh.boundary().map(|face| face.nodes).collect();
        let model = Model::plain("box", corners, triangles, [1.0; 4]);
        let mut fragments = Fragments::new(mesh);
        let options = VoronoiOptions {
            pieces: 6,
            seed,
            ..VoronoiOptions::default()
        };
        let fracture = voronoi(&fragments, FragmentId(0), &options).unwrap();
        let ids = fragments.apply(&fracture).unwrap().children;
        let dressed = Wardrobe::default().dress(&model, &fragments, &ids, choice, 1.0);
        dressed.unwrap().0
    }

    /// Crack triangles by their corners in order; those of the other side are turned over.
    fn crack_faces(piece: &[Buffers]) -> Vec<[Key; 3]> {
        let cracks = piece.iter().filter(|s| s.is_crack);
        let mut all: Vec<[Key; 3]> = cracks
            .flat_map(|s| {
                let corners = s.triangles.iter();
                corners.map(|t| t.map(|v| key(s.positions[v as usize])))
            })
            .map(|mut t| {
                t.sort_unstable();
                t
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn pieces_stay_closed_and_fit() {
        let detail = CrackDetail {
            height: 0.01,
            length: 0.08,
            seed: 3,
        };
        let own = (0..12).map(|seed| (SkinChoice::Model, seed));
        let all = own.chain([(SkinChoice::Draped, 0)]);
        for (choice, seed) in all {
            let plain = pieces(choice, seed);
            let mut rough = plain.clone();
            for piece in &mut rough {
                roughen(piece, &detail, 1.0);
            }
            let volume = |all: &[Vec<Buffers>]| -> f64 {
                all.iter().map(|surfaces| enclosed_volume(surfaces)).sum()
            };
            let (before, after) = (volume(&plain), volume(&rough));
            assert!(
                (before - after).abs() < 1e-6,
                "{choice:?}: {before} {after}"
            );
            let mut faces: HashMap<[Key; 3], u32> = HashMap::new();
            for (old, new) in plain.iter().zip(&rough) {
                assert_eq!(open_sides(new), 0, "{choice:?}");
                let (old_faces, new_faces) = (crack_faces(old), crack_faces(new));
                assert!(new_faces.len() > 4 * old_faces.len(), "{choice:?}");
                let same = old_faces
                    .iter()
                    .filter(|t| new_faces.binary_search(t).is_ok());
                assert!(same.count() < old_faces.len() / 4, "{choice:?}: not moved");
                // The outside is what it was.
                let outside = |piece: &[Buffers]| {
                    piece
                        .iter()
                        .filter(|s| !s.is_crack)
                        .cloned()
                        .collect::<Vec<_>>()
                };
                assert_eq!(outside(old), outside(new));
                for face in new_faces {
                    *faces.entry(face).or_default() += 1;
                }
            }
            let single = faces.values().filter(|&&n| n != 2).count();
            let of = faces.len();
            let most = if choice == SkinChoice::Model {
                0
            } else {
                of / 100
            };
            assert!(single <= most, "{choice:?}, seed {seed}: {single} of {of}");
        }
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let all: Vec<Vec<Buffers>> = [3, 3, 4]
            .map(|seed| {
                let mut piece = pieces(SkinChoice::Model, 2).remove(0);
                let detail = CrackDetail {
                    height: 0.01,
                    length: 0.1,
                    seed,
                };
                roughen(&mut piece, &detail, 1.0);
                piece
            })
            .into();
        assert_eq!(all[0], all[1]);
        assert_ne!(all[0], all[2]);
    }
}
