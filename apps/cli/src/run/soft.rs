//! `fracas run` for soft scenes: the same outputs, as far as they apply.

use std::error::Error;
use std::sync::OnceLock;
use std::time::Instant;

use fracas_bake::write::glb::{Glb, Material, Part, Place};
use fracas_picture::{Quality, Sheet};
use fracas_report::stills::{soft_colour, soft_still};
use fracas_scenes::recording::Summary;
use fracas_scenes::soft::{SoftFilming, SoftScene, SoftSurface};

use super::{Run, picture_path};
use crate::files::save;
use crate::output::say;
use crate::progress::Progress;
use crate::{interrupt, look};

/// Steps from one key of the animated model to the next.
const KEY: u64 = 2;

/// Pictures of a sheet.
const PICTURES: u64 = 6;

/// One step in numbers.
struct Step {
    total: f64,
    collision: f64,
    physics: f64,
    pairs: usize,
    contacts: usize,
    pieces: usize,
    tears: usize,
}

/// Seconds since the first time it was asked.
fn now() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Runs a soft scene.
pub fn run(name: &str, options: &Run) -> Result<(), Box<dyn Error>> {
    for (given, option) in [
        (options.contacts.is_some(), "--contacts"),
        (options.budget.is_some(), "--budget"),
        (options.step_budget.is_some(), "--step-budget"),
        (options.step.is_some(), "--step"),
        (options.seed.is_some(), "--seed"),
        (options.compare, "--compare"),
        (options.defaults || options.game, "--defaults and --game"),
        (options.count_colliding, "--count-colliding"),
        (options.threads.is_some_and(|t| t != 1), "--threads"),
        (options.trace.is_some(), "--trace"),
    ] {
        if given {
            return Err(format!("{option}: only for rigid scenes, and {name} is soft").into());
        }
    }
    let mut scene = SoftScene::new(name)?;
    scene.world_mut().set_clock(now);
    let count = options.steps.unwrap_or(SoftScene::STEPS);
    let before = triangles(&scene.surfaces());
    let mut sheet = Sheet::new(3).title(name);
    let mut steps = Vec::new();
    let shots: Vec<u64> = (0..PICTURES).map(|i| i * count / (PICTURES - 1)).collect();
    let mut filming = options.recording.as_ref().map(|_| SoftFilming::new(&scene));
    let mut keys = Vec::new();
    let progress = Progress::steps(count);
    let interrupt = interrupt::Stoppable::new();
    for step in 0..=count {
        let last = step == count || interrupt.stopped();
        if last || shots.contains(&step) {
            let seconds = step as f32 * SoftScene::DT;
            let torn: usize = steps.iter().map(|s: &Step| s.tears).sum();
            let pieces = scene.pieces();
            let plural = if pieces == 1 { "piece" } else { "pieces" };
            let caption = format!("{seconds:.2} s\n{pieces} {plural}, {torn} tears");
            sheet.add(soft_still(&scene, [420, 340], Quality::Fine), caption);
        }
        if options.glb.is_some() && (last || step % KEY == 0) {
            keys.push((step as f32 * SoftScene::DT, scene.surfaces()));
        }
        if last {
            break;
        }
        let from = now();
        scene.step();
        let total = (now() - from) * 1e3;
        let stats = scene.stats();
        let collision = (stats.detect_time + stats.march_time + stats.respond_time) * 1e3;
        steps.push(Step {
            total,
            collision,
            physics: stats.simulate_time * 1e3,
            pairs: stats.tested_pairs,
            contacts: stats.pushes,
            pieces: scene.pieces(),
            tears: stats.tears,
        });
        if let Some(filming) = &mut filming {
            filming.frame(&scene, total);
        }
        progress.step();
    }
    drop((progress, interrupt));
    if let (Some(path), Some(filming)) = (&options.recording, filming) {
        save(path, filming.finish().to_bytes())?;
        say!("recording: {0} (fracas view {0})", path.display());
    }
    if (steps.len() as u64) < count {
        say!(
            "interrupted: these are the first {} of {count} steps",
            steps.len()
        );
    }
    print_table(&scene, &steps, before);
    if let Some(path) = &options.json {
        save(path, format!("{}\n", json(&scene, &steps, before)))?;
        say!("numbers of every step: {}", path.display());
    }
    if let Some(path) = &options.glb {
        write_glb(path, &keys)?;
        say!("animated model: {}", path.display());
    }
    let png = picture_path(options, name);
    look::save(&sheet.image(), &png)?;
    say!("open {} to see it", png.display());
    Ok(())
}

/// Reads a number of a step.
type Reader = fn(&Step) -> f64;

/// Key, name in the table, digits after the point.
const NUMBERS: [(&str, &str, usize, Reader); 7] = [
    ("total_ms", "total ms", 1, |s| s.total),
    ("collision_ms", "collision ms", 1, |s| s.collision),
    ("physics_ms", "physics ms", 1, |s| s.physics),
    ("pairs", "pairs", 0, |s| s.pairs as f64),
    ("contacts", "contacts", 0, |s| s.contacts as f64),
    ("fragments", "pieces", 0, |s| s.pieces as f64),
    ("fractured", "tears", 0, |s| s.tears as f64),
];

fn print_table(scene: &SoftScene, steps: &[Step], before: usize) {
    say!(
        "{}: {} steps of {:.2} ms",
        scene.name(),
        steps.len(),
        f64::from(SoftScene::DT) * 1e3
    );
    say!(
        "triangles {before} -> {}, pieces {}\n",
        triangles(&scene.surfaces()),
        scene.pieces()
    );
    say!("{:<18} {:>10} {:>10} {:>10}", "", "mean", "99%", "max");
    for (_, name, digits, of) in NUMBERS {
        let s = Summary::of(steps.iter().map(of));
        say!(
            "{name:<18} {:>10.digits$} {:>10.digits$} {:>10.digits$}",
            s.mean,
            s.p99,
            s.max
        );
    }
    say!();
}

fn json(scene: &SoftScene, steps: &[Step], before: usize) -> serde_json::Value {
    let mut list = Vec::new();
    for step in steps {
        let numbers = NUMBERS.iter().map(|(key, _, _, of)| {
            let value: serde_json::Value = of(step).into();
            ((*key).to_string(), value)
        });
        list.push(serde_json::Value::Object(numbers.collect()));
    }
    let mut summary = serde_json::Map::new();
    for (key, _, _, of) in NUMBERS {
        let s = Summary::of(steps.iter().map(of));
        let s = serde_json::json!({ "mean": s.mean, "p99": s.p99, "max": s.max });
        summary.insert(key.into(), s);
    }
    serde_json::json!({
        "scene": scene.name(), "dt_ms": f64::from(SoftScene::DT) * 1e3, "threads": 1,
        "triangles_before": before, "triangles_after": triangles(&scene.surfaces()),
        "fragments": scene.pieces(), "steps": list, "summary": summary,
    })
}

fn triangles(surfaces: &[SoftSurface]) -> usize {
    surfaces.iter().map(|s| s.triangles.len()).sum()
}

/// An animated glTF. Bodies tear, so their vertices come and go, and no morph could
/// follow: every key is a model of its own, shown until the next.
fn write_glb(
    path: &std::path::Path,
    keys: &[(f32, Vec<SoftSurface>)],
) -> Result<(), Box<dyn Error>> {
    let mut glb = Glb::new();
    let Some((_, first)) = keys.first() else {
        return Ok(());
    };
    let materials: Vec<_> = first
        .iter()
        .map(|surface| {
            let c = soft_colour(surface).0;
            glb.material(&Material::new("soft", [c.x, c.y, c.z, 1.0]))
        })
        .collect();
    for (k, (time, surfaces)) in keys.iter().enumerate() {
        let moves = |surface: &SoftSurface| k == 0 || !surface.is_fixed;
        let shapes: Vec<_> = surfaces
            .iter()
            .map(|surface| (surface, surface.drawn_triangles()))
            .collect();
        let part = |is_fixed: bool| -> Vec<Part> {
            let own = shapes.iter().zip(&materials);
            own.filter(|((surface, _), _)| surface.is_fixed == is_fixed && moves(surface))
                .map(|((surface, triangles), &m)| Part::new(&surface.positions, triangles, m))
                .collect()
        };
        let still = part(true);
        if !still.is_empty() {
            let mesh = glb.mesh("fixed", &still)?;
            glb.node("fixed", Some(mesh), Place::default())?;
        }
        let name = format!("{time:.3} s");
        let mesh = glb.mesh(&name, &part(false))?;
        let node = glb.node(&name, Some(mesh), Place::default())?;
        let mut shown = vec![(*time, true)];
        if k > 0 {
            shown.insert(0, (0.0, false));
        }
        if let Some((end, _)) = keys.get(k + 1) {
            shown.push((*end, false));
        }
        let (times, visible): (Vec<f32>, Vec<bool>) = shown.into_iter().unzip();
        glb.animate_visibility(node, &times, &visible)?;
    }
    Ok(save(path, glb.to_bytes()?)?)
}
