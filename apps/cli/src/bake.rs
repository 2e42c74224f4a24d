//! `fracas bake`: everything computed ahead, into one file.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use fracas_bake::bake::{BakeModes, BakeOptions, Baked, Source, Stage, bake};
use fracas_bake::tetrahedralize::{Grading, Size};
use fracas_fracture::Material;

use crate::progress::Progress;
use crate::{interrupt, look};

/// The colour of things without one of their own (sRGB).
const PAINT: [u8; 3] = [178, 172, 160];

/// Arguments of `fracas bake`.
#[derive(Args)]
pub struct Bake {
    /// A mesh file, or the name of a shape (see `fracas shapes`).
    input: String,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// About so many tetrahedra.
    #[arg(long, value_name = "N", conflicts_with = "edge")]
    tets: Option<usize>,
    /// Edges about this long, in the units of the mesh.
    #[arg(long, value_name = "LENGTH")]
    edge: Option<f64>,
    /// Also draw it: surface, triangles, and cut open (PNG).
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Where the mesh is finer than elsewhere (mesh files only).
    #[arg(long, value_enum, default_value = "thin")]
    grade: Grade,
    /// What it is made of: glass, porcelain, earthenware, brick, granite, concrete,
    /// plaster or ice. Its modes are then computed; the mesh's unit is the metre. A
    /// shape has a material of its own.
    #[arg(long, value_name = "NAME")]
    material: Option<String>,
    /// How many modes to compute, by which it breaks; 0 for none.
    #[arg(long, value_name = "K", default_value_t = 40)]
    modes: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Grade {
    /// One size everywhere.
    Uniform,
    /// Finer where the shape is thin.
    Thin,
    /// Finer where the shape is thin, and coarser deep inside.
    Graded,
}

/// Bakes and says what it made.
pub fn run(options: &Bake) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let (source, repairs) = Source::open_with_repairs(&options.input)?;
    let modes = modes_of(options, &source)?;
    let settings = BakeOptions {
        modes,
        size: match (options.tets, options.edge) {
            (Some(count), _) => Some(Size::Tets(count)),
            (None, Some(length)) => Some(Size::EdgeLength(length)),
            (None, None) => None,
        },
        grading: match options.grade {
            Grade::Uniform => Grading::Uniform,
            Grade::Thin => Grading::Thin,
            Grade::Graded => Grading::Graded,
        },
    };
    let mut baked = with_progress(source, &settings)?;
    baked.asset.add_object()?;
    {
        let _whole = interrupt::lock();
        baked.asset.save(&options.output)?;
    }
    let repairs = repairs.to_string();
    if !repairs.is_empty() {
        println!("repaired     {repairs}");
    }
    describe(&baked, start.elapsed());
    let bytes = std::fs::metadata(&options.output)?.len();
    println!(
        "wrote        {} ({:.2} MB)",
        options.output.display(),
        bytes as f64 / 1e6
    );
    if let Some(path) = &options.png {
        look::four_views(baked.asset.mesh(), PAINT, baked.asset.name(), path)?;
        println!("drew         {}", path.display());
    }
    Ok(())
}

/// Bakes with a progress bar.
pub fn with_progress(source: Source, options: &BakeOptions) -> Result<Baked, Box<dyn Error>> {
    let progress = Progress::new(Stage::ALL.len());
    let mut under_way = None;
    Ok(bake(source, options, &mut |told| {
        if under_way.replace(told.stage) != Some(told.stage) {
            progress.stage(told.stage.text());
        } else {
            progress.share(told.stage.text(), told.share);
        }
    })?)
}

/// The modes that are asked for: of the material named, or of the shape's own.
fn modes_of(options: &Bake, source: &Source) -> Result<Option<BakeModes>, Box<dyn Error>> {
    let own = match source {
        Source::Shape(shape) => shape.material(),
        _ => None,
    };
    let Some(name) = options.material.as_deref().or(own) else {
        return Ok(None);
    };
    let material = Material::by_name(name)?;
    Ok((options.modes > 0).then_some(BakeModes {
        count: options.modes,
        material,
    }))
}

/// Prints what was made.
pub fn describe(baked: &Baked, took: Duration) {
    let mesh = baked.asset.mesh();
    let on_surface = mesh.boundary_nodes().iter().filter(|b| **b).count();
    let (lo, hi) = mesh.bounds();
    let size = hi - lo;
    let row = |name: &str, value: String| println!("{name:<12} {value}");
    row("name", baked.asset.name().to_owned());
    row("triangles", mesh.boundary().count().to_string());
    row("tetrahedra", mesh.tets().len().to_string());
    let inside = mesh.positions().len() - on_surface;
    row(
        "points",
        format!("{} ({inside} inside)", mesh.positions().len()),
    );
    row(
        "size",
        format!("{:.4} x {:.4} x {:.4}", size.x, size.y, size.z),
    );
    let against = baked.surface_volume.map_or(String::new(), |v| {
        format!(
            " ({:+.2}% against the surface)",
            (mesh.volume() / v - 1.0) * 100.0
        )
    });
    row("volume", format!("{:.6e}{against}", mesh.volume()));
    row("mean edge", format!("{:.4e}", mesh.mean_edge_length()));
    let angles = &baked.angles;
    row(
        "angles",
        format!(
            "{:.1} to {:.1} degrees; 99.9% above {:.1}",
            angles.min, angles.max, angles.per_mille
        ),
    );
    if let Some(modes) = baked.asset.modes() {
        let found = modes.frequencies();
        row(
            "modes",
            format!(
                "{}, {:.0} to {:.0} Hz, weighing {:.3} kg",
                found.len(),
                found[0],
                found[found.len() - 1],
                modes.mass()
            ),
        );
    }
    row("seconds", format!("{:.2}", took.as_secs_f64()));
}
