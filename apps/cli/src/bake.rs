//! `fracas bake`: everything computed ahead, into one file.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use fracas_bake::bake::{BakeError, BakeModes, BakeOptions, Baked, Source, Stage, bake};
use fracas_bake::limits::{Cost, tets_of};
use fracas_bake::tetrahedralize::{Grading, Size, Thicken};
use fracas_fracture::Material;

use crate::arguments::{refuse_same_files, target, whole};
use crate::limits::Limits;
use crate::output::say;
use crate::progress::Progress;
use crate::{files, look};

/// The colour of things without one of their own (sRGB).
const PAINT: [u8; 3] = [178, 172, 160];

/// Arguments of `fracas bake`.
#[derive(Args)]
pub struct Bake {
    /// A mesh file, or the name of a shape (see `fracas shapes`).
    input: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE", value_parser = target(&["fracas"]))]
    output: PathBuf,
    /// About so many tetrahedra.
    #[arg(long, value_name = "N", conflicts_with = "edge", value_parser = whole::<u64>(1, u64::MAX))]
    tets: Option<u64>,
    /// Edges about this long, in the units of the mesh.
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    edge: Option<f64>,
    /// Also draw it: surface, triangles, and cut open (PNG).
    #[arg(long, value_name = "FILE", value_parser = target(&["png"]))]
    png: Option<PathBuf>,
    /// Where the mesh is finer than elsewhere (mesh files only).
    #[arg(long, value_enum, default_value = "thin")]
    grade: Grade,
    /// What it is made of: glass, porcelain, earthenware, brick, granite, concrete,
    /// plaster or ice, or an everyday word for one of them. Its modes are then computed;
    /// the mesh's unit is the metre. A shape has a material of its own.
    #[arg(long, value_name = "NAME", value_parser = Material::by_name)]
    material: Option<Material>,
    /// Make an open surface, which has no inside, so thick (in the units of the mesh).
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    thicken: Option<f64>,
    /// How many modes to compute, by which it breaks; 0 for none.
    #[arg(long, value_name = "K", default_value_t = 40, value_parser = whole::<usize>(0, u64::MAX))]
    modes: usize,
    #[command(flatten)]
    limits: Limits,
}

/// A length above zero.
pub fn length(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|l| *l > 0.0 && l.is_finite())
        .ok_or_else(|| "must be a length above 0, in the units of the mesh".into())
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
    // An asset that is baked again may well take its own place.
    let is_asset = options.input.extension().is_some_and(|e| e == "fracas");
    let read = [&*options.input];
    let read = if is_asset { &[][..] } else { &read };
    refuse_same_files(read, &[Some(&options.output), options.png.as_deref()]);
    let (source, repairs) = Source::open_with_repairs(&options.input)?;
    let modes = modes_of(options, &source);
    check_limits(options, &source, modes.as_ref())?;
    let settings = BakeOptions {
        modes,
        size: match (options.tets, options.edge) {
            (Some(count), _) => Some(Size::Tets(count as usize)),
            (None, Some(length)) => Some(Size::EdgeLength(length)),
            (None, None) => None,
        },
        grading: match options.grade {
            Grade::Uniform => Grading::Uniform,
            Grade::Thin => Grading::Thin,
            Grade::Graded => Grading::Graded,
        },
        thicken: options.thicken.map_or(Thicken::Refuse, Thicken::By),
    };
    let sizes = options.tets.is_some() || options.edge.is_some() || options.thicken.is_some();
    let unused = unused_sizes(&source, sizes);
    let mut baked = with_progress(source, &settings)?;
    baked.asset.add_object()?;
    let bytes = baked.asset.to_bytes();
    files::save(&options.output, &bytes)?;
    let repairs = repairs.to_string();
    if !repairs.is_empty() {
        say!("repaired     {repairs}");
    }
    if let Some(note) = unused {
        say!("note         {note}");
    }
    for note in &baked.notes {
        say!("note         {note}");
    }
    describe(&baked, start.elapsed());
    say!(
        "wrote        {} ({:.2} MB)",
        options.output.display(),
        bytes.len() as f64 / 1e6
    );
    if let Some(path) = &options.png {
        look::four_views(baked.asset.mesh(), PAINT, baked.asset.name(), path)?;
        say!("drew         {}", path.display());
    }
    Ok(())
}

/// What to say where sizes were asked for that nothing has.
pub fn unused_sizes(source: &Source, asked: bool) -> Option<&'static str> {
    let has_tets = matches!(source, Source::Tets(..) | Source::Asset(_));
    (asked && has_tets).then_some(
        "the file's own tetrahedra are kept: sizes and thicknesses are for surfaces and shapes",
    )
}

/// What the options of this command can do about an error.
fn advice(error: &BakeError) -> &'static str {
    match error {
        BakeError::Modes(_) => " (without them: --modes 0)",
        error => crate::shatter::advice(error),
    }
}

/// Bakes with a progress bar.
pub fn with_progress(source: Source, options: &BakeOptions) -> Result<Baked, Box<dyn Error>> {
    let progress = Progress::new(Stage::ALL.len());
    let mut under_way = None;
    let baked = bake(source, options, &mut |told| {
        if under_way.replace(told.stage) != Some(told.stage) {
            progress.stage(told.stage.text());
        } else {
            progress.share(told.stage.text(), told.share);
        }
    });
    baked.map_err(|error| format!("{error}{}", advice(&error)).into())
}

/// The modes that are asked for: of the material named, or of the shape's own.
fn modes_of(options: &Bake, source: &Source) -> Option<BakeModes> {
    let own = match source {
        Source::Shape(shape) => shape.material().and_then(|m| Material::by_name(m).ok()),
        _ => None,
    };
    let material = options.material.or(own)?;
    (options.modes > 0).then_some(BakeModes {
        count: options.modes,
        material,
    })
}

/// Whether what is asked for can be had in a few minutes.
fn check_limits(options: &Bake, source: &Source, modes: Option<&BakeModes>) -> Result<(), String> {
    let tets = tets_of(source, options.tets, options.edge);
    let limits = options.limits;
    limits.check(&format!("{tets:.0} tetrahedra"), Cost::of_tets(tets))?;
    let Some(modes) = modes else {
        return Ok(());
    };
    // A body of n nodes has 3n - 6 of them at most.
    let most = (0.75 * tets).max(1.0);
    let count = modes.count as f64;
    limits.check(
        &format!("{count} modes of {tets:.0} tetrahedra"),
        Cost::of_tets(tets) + Cost::of_modes(count.min(most), tets),
    )
}

/// Prints what was made.
pub fn describe(baked: &Baked, took: Duration) {
    let mesh = baked.asset.mesh();
    let on_surface = mesh.boundary_nodes().iter().filter(|b| **b).count();
    let (lo, hi) = mesh.bounds();
    let size = hi - lo;
    let row = |name: &str, value: String| say!("{name:<12} {value}");
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
