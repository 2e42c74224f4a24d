//! `fracas run`: runs a scene, prints the table, and writes what can be looked at.

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fracas::sphere_tree::{Restructuring, Traversal};
use fracas_rapier::ContactMode;
use fracas_scenes::film::Filming;
use fracas_scenes::recording::{Recording, Summary};
use fracas_scenes::rigid::{self, SCENES, Scene, SceneOptions};

use crate::progress::Progress;
use crate::{film, interrupt, look};

/// Arguments of `fracas run`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  fracas run piggy-bank\n  fracas run bricks --contacts full --json bricks.json\n  fracas run --list"
)]
pub struct Run {
    /// Its name, for example piggy-bank.
    #[arg(required_unless_present = "list")]
    scene: Option<String>,
    /// List all scenes and stop.
    #[arg(long)]
    list: bool,
    /// Seed of all chance: the same seed gives the same run, bit for bit.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many steps (default: the scene's own).
    #[arg(long)]
    steps: Option<u64>,
    /// Which contacts reach the solver: adaptive, full, or fixed:N.
    #[arg(long, default_value = "adaptive", value_parser = contact_mode)]
    contacts: ContactMode,
    /// How sphere trees are put together after a break.
    #[arg(long, value_enum, default_value_t = Restructure::Ordered)]
    restructure: Restructure,
    /// In which order sphere trees are visited.
    #[arg(long, value_enum, default_value_t = Visit::Spread)]
    traversal: Visit,
    /// Run as a game would: bodies sleep, the engine keeps and merges contacts.
    #[arg(long)]
    game: bool,
    /// Write the numbers of every step to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write an animated model (opens in Blender) to this file.
    #[arg(long, value_name = "FILE")]
    glb: Option<PathBuf>,
    /// Write a recording that `fracas view` plays back to this file (name it .film).
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// Where to write the contact sheet (default: out/SCENE.png).
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Restructure {
    Ordered,
    Naive,
}

#[derive(Clone, Copy, ValueEnum)]
enum Visit {
    Spread,
    Naive,
}

fn contact_mode(text: &str) -> Result<ContactMode, String> {
    match text {
        "adaptive" => Ok(ContactMode::default()),
        "full" => Ok(ContactMode::Full),
        _ => text
            .strip_prefix("fixed:")
            .and_then(|n| n.parse().ok())
            .filter(|&n| n > 0)
            .map(ContactMode::Fixed)
            .ok_or_else(|| "use adaptive, full, or fixed:N with N above 0".into()),
    }
}

/// Runs the scene.
pub fn run(options: &Run) -> Result<(), Box<dyn Error>> {
    if options.list {
        for scene in SCENES {
            println!("{:<14} {}", scene.name, scene.about);
        }
        return Ok(());
    }
    let name = options.scene.as_deref().unwrap_or_default();
    let scene_options = SceneOptions {
        seed: options.seed,
        contacts: options.contacts,
        restructuring: match options.restructure {
            Restructure::Ordered => Restructuring::default(),
            Restructure::Naive => Restructuring::Naive,
        },
        traversal: match options.traversal {
            Visit::Spread => Traversal::default(),
            Visit::Naive => Traversal::Naive,
        },
        measured: !options.game,
    };
    let mut scene = {
        let progress = Progress::new(3);
        rigid::by_name(name, &scene_options, &mut |stage| progress.stage(stage))?
    };
    let steps = options.steps.unwrap_or(scene.steps());
    let (recording, film) = {
        let progress = Progress::steps(steps);
        let mut filming = options.recording.as_ref().map(|_| Filming::new(&scene));
        let recording = Recording::run(&mut scene, steps, |scene| {
            filming.iter_mut().for_each(|f| f.frame(scene));
            progress.step();
        });
        (recording, filming.map(Filming::finish))
    };
    print_table(&scene, &recording, options);
    if let Some(path) = &options.json {
        write_json(path, &scene, &recording, options)?;
        println!("numbers of every step: {}", path.display());
    }
    if let Some(path) = &options.glb {
        film::write_glb(path, &scene, &recording)?;
        println!("animated model: {}", path.display());
    }
    if let (Some(path), Some(film)) = (&options.recording, &film) {
        let _whole = interrupt::lock();
        std::fs::write(path, film.to_bytes())
            .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        println!("recording: {0} (fracas view {0})", path.display());
    }
    let png = options
        .png
        .clone()
        .unwrap_or_else(|| PathBuf::from("out").join(format!("{name}.png")));
    look::save(&film::contact_sheet(&scene, &recording), &png)?;
    println!("open {} to see it", png.display());
    Ok(())
}

fn print_table(scene: &Scene, recording: &Recording, options: &Run) {
    let last = recording.steps.len() as u64;
    let step_ms = f64::from(recording.step) * 1e3;
    println!(
        "{}, seed {}: {last} steps of {step_ms:.1} ms, one thread",
        scene.name(),
        options.seed
    );
    println!(
        "settings: contacts {:?}, {}",
        options.contacts,
        if options.game {
            "sleeping and contact recycling on, clustering off"
        } else {
            "sleeping, contact recycling and clustering off"
        }
    );
    let fragments = recording.steps.last().map_or(0, |s| s.fragments);
    println!(
        "triangles {} -> {}, fragments {fragments}, breaks at steps {:?}",
        recording.triangles(0).max(recording.triangles(1)),
        recording.triangles(last),
        recording.breaks
    );
    println!("\n{:<18} {:>10} {:>10} {:>10}", "", "mean", "99%", "max");
    let row = |name: &str, s: Summary, digits: usize| {
        println!(
            "{name:<18} {:>10.digits$} {:>10.digits$} {:>10.digits$}",
            s.mean, s.p99, s.max
        );
    };
    row("total ms", recording.summary(|s| s.times.total), 3);
    row("collision ms", recording.summary(|s| s.times.collision), 3);
    row("physics ms", recording.summary(|s| s.times.physics), 3);
    let at_breaks = |of: fn(&fracas_rapier::world::StepStats) -> f64| {
        Summary::of(recording.steps.iter().filter(|s| s.broken > 0).map(of))
    };
    row("update ms *", at_breaks(|s| s.times.update), 3);
    row("fracture ms *", at_breaks(|s| s.times.fracture), 3);
    row("pairs", recording.summary(|s| s.pairs as f64), 0);
    row("contacts", recording.summary(|s| s.contacts as f64), 0);
    row(
        "solver contacts",
        recording.summary(|s| s.solver_contacts as f64),
        0,
    );
    row(
        "visited points",
        recording.summary(|s| s.visited_points as f64),
        0,
    );
    println!("* of steps in which something broke\n");
}

fn write_json(
    path: &Path,
    scene: &Scene,
    recording: &Recording,
    options: &Run,
) -> Result<(), Box<dyn Error>> {
    let last = recording.steps.len() as u64;
    let steps: Vec<_> = recording
        .steps
        .iter()
        .map(|s| {
            serde_json::json!({
                "total_ms": s.times.total, "collision_ms": s.times.collision,
                "physics_ms": s.times.physics, "update_ms": s.times.update,
                "fracture_ms": s.times.fracture, "pairs": s.pairs, "contacts": s.contacts,
                "solver_contacts": s.solver_contacts, "visited_points": s.visited_points,
                "fragments": s.fragments, "fractured": s.broken,
            })
        })
        .collect();
    let mut summary = serde_json::Map::new();
    for key in steps
        .first()
        .and_then(|s| s.as_object())
        .into_iter()
        .flat_map(|s| s.keys())
    {
        let s = Summary::of(steps.iter().filter_map(|step| step[key].as_f64()));
        summary.insert(
            key.clone(),
            serde_json::json!({ "mean": s.mean, "p99": s.p99, "max": s.max }),
        );
    }
    let json = serde_json::json!({
        "scene": scene.name(), "seed": options.seed, "dt_ms": f64::from(recording.step) * 1e3, "threads": 1,
        "contacts_mode": format!("{:?}", options.contacts),
        "triangles_before": recording.triangles(0).max(recording.triangles(1)),
        "triangles_after": recording.triangles(last),
        "fragments": recording.steps.last().map_or(0, |s| s.fragments),
        "digest": format!("{:016x}", scene.world().digest()),
        "steps": steps, "summary": summary,
    });
    let _whole = interrupt::lock();
    std::fs::write(path, format!("{json}\n"))
        .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    Ok(())
}
