//! `fracas run`: the scenes. For now a scene is one thing, baked and looked at.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use fracas_bake::bake::{BakeOptions, Source};
use fracas_bake::shapes;

use crate::bake::{describe, with_progress};
use crate::look;

/// Arguments of `fracas run`.
#[derive(Args)]
pub struct Run {
    /// Its name, for example piggy-bank.
    scene: String,
    /// Where to write the picture (default: out/SCENE.png).
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

/// Bakes the thing, prints what it is, and writes a picture.
pub fn run(options: &Run) -> Result<(), Box<dyn Error>> {
    let Some(shape) = shapes::by_name(&options.scene) else {
        let names: Vec<_> = shapes::names().collect();
        let there = names.join(", ");
        return Err(format!("no scene is named `{}`; there are: {there}", options.scene).into());
    };
    let start = Instant::now();
    let baked = with_progress(Source::Shape(shape), &BakeOptions::default())?;
    println!("{}", shape.about());
    describe(&baked, start.elapsed());
    let path = options
        .png
        .clone()
        .unwrap_or_else(|| PathBuf::from("out").join(format!("{}.png", shape.name())));
    look::four_views(baked.asset.mesh(), shape.colour(), shape.name(), &path)?;
    println!("\nopen {} to see it", path.display());
    Ok(())
}
