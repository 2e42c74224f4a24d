//! Rims of broken models: gaps and overlaps between skin and crack faces.
//!
//! A model is broken with several seeds, as `fracas shatter` does it. A gap is a side of a
//! triangle that no other side meets, by the bits of its ends. An overlap, or a gap that no
//! side shows, makes the volumes of all pieces add up to something else than the whole's:
//! a piece that has too much of a rim does so where no other lacks it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fracas_bake::bake::{BakeOptions, Source};
use fracas_bake::model::pieces::Buffers;
use fracas_bake::model::write::enclosed_volume;
use fracas_bake::shatter::{ShatterOptions, SkinChoice, Subject, Wardrobe};
use fracas_bake::tetrahedralize::Size;
use fracas_core::testing::open_sides;
use fracas_core::{FragmentId, Fragments};
use glam::Vec3;
use rayon::prelude::*;

use crate::{data, textured};

/// Tetrahedra that a model is filled with: more, where its walls are too thin for the first.
const TETS: [usize; 2] = [3_000, 14_000];

/// What was found at the rims of one model.
#[derive(Clone, Debug, Default)]
pub struct Rims {
    /// Tetrahedra.
    pub tets: usize,
    /// Seeds with which it broke.
    pub broke: u64,
    /// Those of them in which it was draped.
    pub draped: u64,
    /// The longest side without a neighbour, over the diagonal.
    pub widest: f64,
    /// How far volumes are off at most, over the cube of the diagonal: in the model's own
    /// triangles, and draped.
    pub off: [f64; 2],
}

/// Files of the models at hand: textured ones made in code and public ones, and public
/// surfaces.
#[must_use]
pub fn model_files(folder: &Path) -> Vec<(String, PathBuf)> {
    let made = textured::make(folder).unwrap_or_default().into_iter();
    let made = made.map(|(name, path)| (name.to_owned(), path));
    let surfaces = [
        "spot.obj",
        "cow.off",
        "elephant.off",
        "knot1.off",
        "mug.obj",
        "nut-big.obj",
        "screw-big.obj",
        "snowflake.obj",
        "bunny_npm_3674.obj",
        "bunny_manifold_hr.obj",
        "dragon_100k_watertight.obj",
    ]
    .map(|name| format!("surface/{name}"));
    let public = textured::PUBLIC
        .map(str::to_owned)
        .into_iter()
        .chain(surfaces);
    let public = public.filter_map(|name| data::find(&name).map(|path| (name, path)));
    made.chain(public).collect()
}

/// Breaks a model with each seed below `seeds`, beside each other on the caller's threads.
///
/// # Errors
/// When it cannot be filled with so few tetrahedra.
pub fn measure(path: &Path, seeds: u64) -> Result<Rims, String> {
    let mut filled = Err(String::new());
    for tets in TETS {
        let options = BakeOptions {
            size: Some(Size::Tets(tets)),
            ..BakeOptions::default()
        };
        let source = Source::open(path).map_err(|e| e.to_string())?;
        filled = Subject::bake(source, path, &options, &mut |_| ()).map_err(|e| e.to_string());
        if filled.is_ok() {
            break;
        }
    }
    let subject = filled?;
    let (low, high) = subject.baked.asset.mesh().bounds();
    let diagonal = f64::from((high - low).length());
    let whole = [SkinChoice::Model, SkinChoice::Draped].map(|choice| whole(&subject, choice));
    let mut rims = Rims {
        tets: subject.baked.asset.mesh().tets().len(),
        ..Rims::default()
    };
    // Both skins are made by now, so that no seed waits for them.
    let broken = (0..seeds).into_par_iter();
    let broken: Vec<_> = broken
        .filter_map(|seed| measure_break(&subject, seed, diagonal))
        .collect();
    for broken in broken {
        let off = (broken.volume - whole[usize::from(broken.is_draped)]).abs();
        let most = &mut rims.off[usize::from(broken.is_draped)];
        *most = most.max(off / diagonal.powi(3));
        rims.broke += 1;
        rims.draped += u64::from(broken.is_draped);
        rims.widest = rims.widest.max(broken.widest);
    }
    Ok(rims)
}

/// What one seed left of a model.
struct BrokenRims {
    is_draped: bool,
    /// The longest side without a neighbour, over the diagonal.
    widest: f64,
    /// Of all pieces.
    volume: f64,
}

/// Breaks a model with one seed; `None` where it stays whole.
fn measure_break(subject: &Subject, seed: u64, diagonal: f64) -> Option<BrokenRims> {
    let plan = ShatterOptions {
        seed,
        ..ShatterOptions::default()
    };
    let broken = subject.shatter(&plan).ok()?;
    let (mut widest, mut volume) = (0.0_f64, 0.0);
    for piece in &broken.pieces {
        widest = widest.max(longest_open(&piece.parts) / diagonal);
        volume += enclosed_volume(&piece.parts);
    }
    Some(BrokenRims {
        is_draped: broken.warning.is_some(),
        widest,
        volume,
    })
}

/// The volume of the unbroken model.
fn whole(subject: &Subject, choice: SkinChoice) -> f64 {
    let fragments = Fragments::new(Arc::clone(subject.baked.asset.shared_mesh()));
    let pieces = [FragmentId(0)];
    let whole = Wardrobe::default().dress(&subject.model, &fragments, &pieces, choice, 1.0);
    whole.map_or(0.0, |(whole, _)| enclosed_volume(&whole[0]))
}

/// The longest side of a triangle that has no neighbour; zero where a piece is closed.
fn longest_open(parts: &[Buffers]) -> f64 {
    let corners = |part: &Buffers| {
        let triangles = part.triangles.iter();
        let at = |v: u32| part.positions[v as usize];
        triangles.map(|t| t.map(at)).collect::<Vec<_>>()
    };
    let all: Vec<[Vec3; 3]> = parts.iter().flat_map(corners).collect();
    let open = open_sides(&all).into_iter();
    let lengths = open.map(|[a, b]| f64::from(a.distance(b)));
    lengths.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sides_without_a_neighbour_count() {
        let positions = vec![Vec3::ZERO, 3.0 * Vec3::X, Vec3::Y, Vec3::Z];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let mut part = Buffers {
            positions,
            triangles,
            ..Buffers::default()
        };
        assert_eq!(longest_open(std::slice::from_ref(&part)), 0.0);
        part.triangles.remove(2);
        let open = longest_open(&[part]);
        assert!((open - 2.0_f64.sqrt()).abs() < 1e-6, "{open}");
    }
}
