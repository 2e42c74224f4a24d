//! From a mesh file (or a shape's name) to an asset with modes, and to a file of its pieces.
//!
//! `cargo run --release -p fracas-bake --example bake_and_shatter [MODEL] [PIECES.glb]`

use std::env;
use std::error::Error;
use std::path::PathBuf;

use fracas_bake::Asset;
use fracas_bake::bake::{BakeModes, BakeOptions, Source, bake};
use fracas_bake::shatter::{ShatterOptions, Subject};
use fracas_fracture::Material;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let input = arguments.next().unwrap_or("bowl".into());
    let output = arguments.next().map(PathBuf::from);
    let output = output.unwrap_or_else(|| env::temp_dir().join("fracas_pieces.glb"));

    // Ahead of time: tetrahedra, and the modes by which a world breaks it.
    let options = BakeOptions {
        modes: Some(BakeModes::of(Material::PORCELAIN)),
        ..BakeOptions::default()
    };
    let baked = bake(Source::open(&input)?, &options, &mut |_| ())?;
    let file = output.with_extension("fracas");
    baked.asset.save(&file)?;

    // Later, in the game: one file holds all of it.
    let asset = Asset::load(&file)?;
    println!("{}: {} tetrahedra", asset.name(), asset.mesh().tets().len());
    let modes = asset.modes().expect("they were asked for");
    println!("its lowest frequency is {:.0} Hz", modes.frequencies()[0]);

    // To pieces at once, in the look of the model.
    let options = ShatterOptions {
        pieces: 12,
        ..ShatterOptions::default()
    };
    let subject = Subject::open(&input)?;
    let shattered = subject.shatter(&options)?;
    for piece in shattered.model_pieces(0.0).iter().take(3) {
        println!("{}: {:.1} g", piece.name, 1e3 * piece.mass);
    }
    for path in shattered.save(&output)? {
        println!("{} pieces in {}", shattered.pieces.len(), path.display());
    }
    Ok(())
}
