//! Breaks textured models and writes them as GLB, for other programs to read: the two made in
//! code, and the public ones that are there.
//!
//! `cargo run -p fracas-conformance --example broken_models FOLDER`

use std::error::Error;
use std::path::PathBuf;

use fracas_bake::bake::{BakeOptions, Source};
use fracas_bake::shatter::{ShatterOptions, Subject};
use fracas_bake::tetrahedralize::Size;
use fracas_conformance::{data, textured};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or("give the folder where the files go")?;
    let made = textured::make(&folder.join("made"))?;
    let made = made.into_iter().map(|(name, path)| (name.to_owned(), path));
    let public = textured::PUBLIC.into_iter().filter_map(|name| {
        let path = data::find(name)?;
        let stem = path.file_stem()?.to_string_lossy().into_owned();
        Some((stem, path))
    });
    let options = BakeOptions {
        size: Some(Size::Tets(3_000)),
        ..BakeOptions::default()
    };
    for (name, path) in made.chain(public) {
        let subject = Subject::bake(Source::open(&path)?, &path, &options, &mut |_| ())?;
        let broken = subject.shatter(&ShatterOptions::default())?;
        let out = folder.join(format!("{name}.glb"));
        broken.save(&out)?;
        let draped = if broken.warning.is_some() {
            ", draped"
        } else {
            ""
        };
        println!("{}: {} pieces{draped}", out.display(), broken.pieces.len());
    }
    Ok(())
}
