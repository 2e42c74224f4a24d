//! The scene of the example `china_shop`: a textured GLB file, and an asset for each thing.

mod glb;
mod pottery;

use std::error::Error;

use fracas_bake::SurfaceMesh;
use fracas_bake::bake::{BakeOptions, Baked, Source, bake};
use fracas_bake::tetrahedralize::Size;
use glam::{DVec3, Vec3};

pub use glb::{Picture, Pixel, Thing, write};
pub use pottery::things;

/// Everything that is computed ahead about a thing. Where it brings no tetrahedra, it is filled
/// with about so many, or, unasked, with as many as its walls need.
///
/// # Errors
/// Where its mesh cannot be filled.
pub fn bake_thing(thing: &Thing, tets: Option<usize>) -> Result<Baked, Box<dyn Error>> {
    let name = thing.name.clone();
    let source = match &thing.tets {
        Some(tets) => Source::Tets(name, tets.clone()),
        None => {
            let points = thing.positions.iter().map(|p| Vec3::from(*p).as_dvec3());
            let points: Vec<DVec3> = points.collect();
            let (surface, _) = SurfaceMesh::repair(points, &thing.triangles)?;
            Source::Surface(name, surface)
        }
    };
    let options = BakeOptions {
        size: tets.map(Size::Tets),
        ..BakeOptions::default()
    };
    let mut baked = bake(source, &options, &mut |_| ())?;
    baked.asset.add_object()?;
    Ok(baked)
}

/// What the asset of a thing is called, by the name of the thing.
#[must_use]
pub fn file_name(thing: &str) -> String {
    format!("{}.fracas", thing.replace(' ', "-"))
}
