//! Draws Fig. 3 of Glondu 2013 in a slice of the bunny: the interior distance of the
//! whole, the exact distances of its four fragments, and those of our field.
//!
//! `cargo run -p fracas-conformance --example fragment_field_slice [FILE.png]`

use std::error::Error;
use std::sync::Arc;

use fracas::{
    FieldOptions, FragmentField, FragmentId, FragmentSurface, Fragments, SurfaceScratch,
    brute_force,
};
use fracas_conformance::data;
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_picture::{Sheet, Slice, slice};
use glam::Vec3;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "docs/pictures/fragment-field-slice.png".into());
    let Some(path) = data::find("tet/ipc_bunny.msh") else {
        return Ok(());
    };
    let (mesh, _) = fracas_bake::read_tet_mesh(path)?;
    let mesh = Arc::new(mesh);
    let whole = Fragments::new(mesh.clone());
    let whole_field = FragmentField::build(&whole, &FieldOptions::default())?;
    let (mut fragments, mut field) = (whole.clone(), whole_field.clone());
    let options = VoronoiOptions {
        pieces: 4,
        seed: 6,
        ..VoronoiOptions::default()
    };
    let fracture = voronoi(&fragments, FragmentId(0), &options).ok_or("it does not break")?;
    let split = fragments.apply(&fracture)?;
    field.apply(&fragments, &split);

    let mut scratch = SurfaceScratch::default();
    let mut surface = |of: &Fragments, id| FragmentSurface::extract(of, id, &mut scratch);
    let whole_surface = surface(&whole, FragmentId(0));
    let surfaces: Vec<_> = fragments
        .living()
        .map(|id| (id, surface(&fragments, id)))
        .collect();
    let (low, high) = mesh.bounds();
    let middle = 0.5 * (low.z + high.z);
    let size = high - low;
    let height = 300;
    let picture = Slice {
        width: (height as f32 * size.x / size.y) as usize,
        height,
        range: [0.0, 0.25 * size.x],
        contour_step: 0.02 * size.x,
        legend: false,
        ..Slice::default()
    };
    let at = |u: f32, v: f32| Vec3::new(low.x + u * size.x, low.y + v * size.y, middle);
    let exact = |s: &FragmentSurface, p| brute_force::closest(s, p).map(|c| c.distance as f32);
    let before = slice(&picture, |u, v| {
        let p = at(u, v);
        whole_field.of(&whole, FragmentId(0)).inside(p)?;
        exact(&whole_surface, p)
    });
    let (mut sum, mut count, mut most) = (0.0_f64, 0, 0.0_f32);
    let true_after = slice(&picture, |u, v| {
        let p = at(u, v);
        let (_, s) = surfaces
            .iter()
            .find(|(id, _)| field.of(&fragments, *id).inside(p).is_some())?;
        exact(s, p)
    });
    let ours = slice(&picture, |u, v| {
        let p = at(u, v);
        surfaces.iter().find_map(|(id, s)| {
            let view = field.of(&fragments, *id);
            let depth = view.penetration(&view.inside(p)?).depth;
            let over = depth - exact(s, p)?;
            sum += f64::from(over);
            count += 1;
            most = most.max(over);
            Some(depth)
        })
    });
    let mut sheet = Sheet::new(3).title("Interior distance, a slice of the bunny");
    sheet.add(before, "whole, exact");
    sheet.add(true_after, "four fragments, exact");
    sheet.add(ours, "four fragments, our field");
    sheet.image().save(&file)?;
    let edge = f64::from(field.edge());
    println!(
        "{file}: {count} points, ours above exact by {:.4} edges in the mean, {:.3} at most",
        sum / f64::from(count) / edge,
        f64::from(most) / edge
    );
    Ok(())
}
