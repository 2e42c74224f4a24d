//! `fracas run`: runs a scene, prints the table, and writes what can be looked at.

mod compare;
mod job;
mod report;
mod soft;

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fracas_core::sphere_tree::{SplitMethod, Traversal};
use fracas_scenes::film::Filming;
use fracas_scenes::recording::{RecordOptions, Recording};
use fracas_scenes::rigid::{SCENES, contacts_by_name};
use fracas_scenes::soft::SoftScene;

use crate::arguments::{refuse_same_files, target, whole};
use crate::files::save;
use crate::output::say;
use crate::progress::Progress;
use crate::{film, interrupt, look};
use job::{Job, Settings};
use report::Report;

const HELP: &str = "\
Contact methods (--contacts):
  adaptive          few points, more while a pair stays deep (the default)
  full              every point in contact
  adaptive:N        the same, beginning with N points in each direction (8)
  fixed:N           at most N points in each direction
  voxel-tree        cubes of a voxel tree, within --budget
  budgeted          adaptive as far as --budget allows, voxel-tree beyond
  parry-trimesh     the engine's own triangle meshes
  parry-hull        one convex hull for each piece
  parry-decomposed  convex parts of each piece (slow to make)

A scene of your own is a TOML file; docs/scenes.md says what it may hold.

Examples:
  fracas run piggy-bank
  fracas run bricks --contacts full --json bricks.json --glb bricks.glb
  fracas run drop-bunnies --count-colliding --defaults
  fracas run drop-bunnies --contacts voxel-tree --budget 2ms --json steps.json
  fracas run drop-bunnies --contacts budgeted --budget 2ms
  fracas run piggy-bank --step-budget 4ms
  fracas run fresh-fracture --compare
  fracas run piggy-bank --trace piggy.json
  fracas run my-scene.toml
  fracas run --list

Exit status: 0 all went well, 1 the scene or a file is bad, 2 wrong usage.";

/// Arguments of `fracas run`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Run {
    /// The scene's name (see --list), or a TOML file.
    #[arg(required_unless_present = "list", value_name = "SCENE|FILE.toml")]
    scene: Option<String>,
    /// List all scenes and stop.
    #[arg(long)]
    list: bool,
    /// Seed of all chance: the same seed gives the same run, bit for bit.
    #[arg(long, value_parser = crate::shatter::seed)]
    seed: Option<u64>,
    /// How many steps (default: the scene's own).
    #[arg(long, value_parser = whole::<u64>(0, u64::MAX))]
    steps: Option<u64>,
    /// Milliseconds of world time per step (default: the scene's own).
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    step: Option<f32>,
    /// Threads of the step (default: as many as there are processors). The same bits for
    /// any number.
    #[arg(long, value_parser = whole::<u16>(1, 256))]
    threads: Option<u16>,
    /// How contacts are found (see below).
    #[arg(long, value_name = "METHOD", value_parser = contacts)]
    contacts: Option<String>,
    /// How sphere trees are put together after a break.
    #[arg(long, value_enum, default_value_t = Restructure::Ordered)]
    restructure: Restructure,
    /// In which order sphere trees are visited.
    #[arg(long, value_enum, default_value_t = Visit::Spread)]
    traversal: Visit,
    /// Time for contacts in each step, for example 2ms (with voxel-tree or budgeted, or a
    /// scene with bodies of these). What fits depends on the machine, so runs with a budget
    /// do not repeat bit for bit.
    #[arg(long, value_name = "TIME", value_parser = budget)]
    budget: Option<f64>,
    /// Work for the whole step, contacts and breaks and all, for example 4ms: counted at
    /// fixed rates, not by a clock, so that runs repeat bit for bit (with points as contacts:
    /// adaptive, full or fixed:N). What does not fit is handed on to later steps.
    #[arg(long, value_name = "TIME", value_parser = budget)]
    step_budget: Option<f64>,
    /// Run as a game would: bodies sleep, the engine keeps contacts of what rests.
    #[arg(long)]
    game: bool,
    /// Measure the paper's settings and a game's, beside each other.
    #[arg(long, conflicts_with = "game")]
    defaults: bool,
    /// Run the scene with every contact method and print one table.
    #[arg(long, conflicts_with_all = ["contacts", "defaults", "json", "glb"])]
    compare: bool,
    /// Count all points in contact, by full detection after each step: slow.
    #[arg(long)]
    count_colliding: bool,
    /// Write the numbers of every step to this file.
    #[arg(long, value_name = "FILE", value_parser = target(&["json"]))]
    json: Option<PathBuf>,
    /// Write what each step did when, in Chrome's trace format (ui.perfetto.dev opens it):
    /// a span for every stage, pair and fragment.
    #[arg(long, value_name = "FILE", value_parser = target(&["json"]), conflicts_with_all = ["compare", "defaults"])]
    trace: Option<PathBuf>,
    /// Write an animated model (opens in Blender) to this file.
    #[arg(long, value_name = "FILE", value_parser = target(&["glb"]))]
    glb: Option<PathBuf>,
    /// Write a recording that `fracas view` plays back to this file (name it .film).
    #[arg(long, value_name = "FILE", value_parser = target(&["film"]))]
    recording: Option<PathBuf>,
    /// Where to write the contact sheet (default: out/SCENE.png).
    #[arg(long, value_name = "FILE", value_parser = target(&["png"]))]
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

/// The name of a contact method, checked.
fn contacts(name: &str) -> Result<String, String> {
    contacts_by_name(name).map(|_| name.to_owned())
}

fn milliseconds(text: &str) -> Result<f32, String> {
    let number: Option<f32> = text.parse().ok();
    number
        .filter(|ms| (0.01..=200.0).contains(ms))
        .map(|ms| ms * 1e-3)
        .ok_or_else(|| "must be a number of milliseconds from 0.01 to 200".into())
}

/// A time such as 2ms or 500us, in seconds.
fn budget(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix("us") {
        Some(number) => (number, 1e-6),
        None => (text.strip_suffix("ms").unwrap_or(text), 1e-3),
    };
    let value: Option<f64> = number.trim().parse().ok();
    value
        .map(|value| value * unit)
        .filter(|seconds| (1e-6..1.0).contains(seconds))
        .ok_or_else(|| "must be a time such as 2ms or 500us".into())
}

/// Runs the scene.
pub fn run(options: &Run) -> Result<(), Box<dyn Error>> {
    if options.list {
        list();
        return Ok(());
    }
    let name = options.scene.as_deref().unwrap_or_default();
    let outputs = [
        &options.json,
        &options.trace,
        &options.glb,
        &options.recording,
        &options.png,
    ];
    refuse_same_files(&[Path::new(name)], &outputs.map(Option::as_deref));
    if SoftScene::NAMES.contains(&name) {
        return soft::run(name, options);
    }
    if !is_file(name) && SCENES.iter().all(|s| s.name != name) {
        return Err(unknown(name).into());
    }
    let job = Job::open(name, options.seed, options.contacts.as_deref())?;
    let settings = Settings {
        restructuring: match options.restructure {
            Restructure::Ordered => SplitMethod::default(),
            Restructure::Naive => SplitMethod::Naive,
        },
        traversal: match options.traversal {
            Visit::Spread => Traversal::default(),
            Visit::Naive => Traversal::Naive,
        },
        measured: !options.game,
        step: options.step,
        budget: options.budget.or(job.budget()),
        step_budget: options.step_budget.or(job.step_budget()),
        threads: options.threads.map_or_else(job::all_threads, usize::from),
        steps: options.steps,
    };
    if options.compare {
        return compare::run(&job, &settings);
    }
    if options.budget.is_some() {
        job.check_budget()?;
    }
    let recorded = RecordOptions {
        colliding_points: options.count_colliding,
        skins: true,
        ..RecordOptions::default()
    };
    let mut reports = Vec::new();
    let film = options.recording.as_deref();
    if options.trace.is_some() {
        fracas_rapier::trace::start();
    }
    let (scene, recording) = measure(&job, &settings, recorded, film, &mut reports)?;
    let trace = fracas_rapier::trace::stop();
    if options.defaults && !interrupt::stopped() {
        let game = Settings {
            measured: false,
            ..settings
        };
        let recorded = RecordOptions {
            numbers_only: true,
            ..recorded
        };
        measure(&job, &game, recorded, None, &mut reports)?;
    }
    report::print(&reports);
    if let Some(note) = film::note_of_draped(&recording) {
        say!("note: {note}");
    }
    if let Some(path) = &options.json {
        save(path, format!("{}\n", reports[0].json(&recording)))?;
        say!("numbers of every step: {}", path.display());
    }
    if let Some(path) = &options.trace {
        save(path, trace.to_json())?;
        say!(
            "trace of every step: {} (open it in ui.perfetto.dev)",
            path.display()
        );
    }
    if let Some(path) = &options.glb {
        film::write_glb(path, &scene, &recording)?;
        say!("animated model: {}", path.display());
    }
    let png = picture_path(options, scene.name());
    look::save(&film::contact_sheet(&scene, &recording), &png)?;
    say!("open {} to see it", png.display());
    Ok(())
}

/// Runs once and reports; films it, where there is a file for that.
fn measure(
    job: &Job,
    settings: &Settings,
    recorded: RecordOptions,
    film: Option<&Path>,
    reports: &mut Vec<Report>,
) -> Result<(fracas_scenes::rigid::Scene, Recording), Box<dyn Error>> {
    let mut scene = {
        let progress = Progress::new(3);
        job.build(settings, &mut |stage| progress.stage(stage))?
    };
    let steps = settings.steps.unwrap_or(scene.steps());
    let recording = {
        let progress = Progress::steps(steps);
        let mut filming = film.map(|_| Filming::new(&scene));
        let interrupt = interrupt::Stoppable::new();
        let recording = Recording::record_while(&mut scene, steps, recorded, &mut |scene| {
            filming.iter_mut().for_each(|f| f.frame(scene));
            progress.step();
            !interrupt.stopped()
        });
        if let (Some(path), Some(filming)) = (film, filming) {
            save(path, filming.finish().to_bytes())?;
        }
        recording
    };
    if let Some(path) = film {
        say!("recording: {0} (fracas view {0})", path.display());
    }
    reports.push(Report::of(job, settings, &scene, &recording));
    Ok((scene, recording))
}

/// Whether the scene's name is that of a TOML file.
fn is_file(name: &str) -> bool {
    let suffix = Path::new(name).extension();
    suffix.is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

fn unknown(name: &str) -> String {
    let rigid: Vec<&str> = SCENES.iter().map(|s| s.name).collect();
    format!(
        "no scene is named `{name}`; rigid ones are: {}; soft ones: {}; or give a file.toml",
        rigid.join(", "),
        SoftScene::NAMES.join(", ")
    )
}

fn list() {
    let soft = SoftScene::ALL.iter().map(|s| (s.name, s.about));
    for (name, about) in SCENES.iter().map(|s| (s.name, s.about)).chain(soft) {
        say!("{name:<20} {about}");
    }
}

fn picture_path(options: &Run, name: &str) -> PathBuf {
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '-' {
                c
            } else {
                '-'
            }
        })
        .collect();
    options
        .png
        .clone()
        .unwrap_or_else(|| PathBuf::from("out").join(format!("{plain}.png")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_budgets() {
        assert_eq!(budget("2ms"), Ok(0.002));
        assert_eq!(budget("500us"), Ok(0.0005));
        assert_eq!(budget("1.5"), Ok(0.0015));
        for bad in ["", "ms", "-1ms", "0", "nan", "5s", "2000ms"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
        assert!(milliseconds("0").is_err() && milliseconds("5").is_ok());
    }
}
