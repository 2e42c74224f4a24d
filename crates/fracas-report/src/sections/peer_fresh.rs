//! A cube that has just broken into 64 concave pieces, in every way of having
//! colliders for them, and in other engines.

use fracas_rapier::ContactMode;
use fracas_scenes::measure;
use fracas_scenes::recording::Summary;
use fracas_scenes::rigid::cells::Cells;
use fracas_scenes::rigid::fresh_fracture::{
    CELLS, ConvexCells, DENSITY, DROP, FRICTION, PIECES, STEP, structures,
};
use fracas_scenes::rigid::{SceneOptions, by_name, contacts_by_name};
use glam::DVec3;
use serde_json::{Value, json};

use crate::bench::{Bench, Scale, Skip};
use crate::machine::{best_ms, wall_seconds};
use crate::peers;
use crate::plot::{Mark, Plot};
use crate::section::{Cell, Role, Section, Table, Tone, short};

/// One way.
struct Line {
    name: String,
    ready: f64,
    times: Vec<f64>,
    spread: f64,
    /// Deepest overlap at the end, in metres, where it can be measured.
    deepest: Option<f64>,
    lost: usize,
}

/// All ways.
pub fn fresh(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let steps = bench.scale().pick(6, 120, 480);
    let methods: &[&str] = match bench.scale() {
        Scale::Tiny => &["adaptive", "parry-hull"],
        Scale::Default => &["adaptive", "parry-trimesh", "parry-hull"],
        Scale::Full => &[
            "adaptive",
            "full",
            "fixed:8",
            "parry-trimesh",
            "parry-hull",
            "parry-decomposed",
        ],
    };
    let mut lines = Vec::new();
    for &method in methods {
        bench.stage(format!("fresh fracture: {method}"));
        lines.push(with_method(bench, method, steps)?);
    }
    bench.stage("fresh fracture: exact convex cells");
    let (ready, mut cells) = best_ms(1, || ConvexCells::build(bench.options.seed));
    let before = cells.spread();
    let times = (0..steps)
        .map(|_| {
            let start = wall_seconds();
            cells.physics.step();
            (wall_seconds() - start) * 1e3
        })
        .collect();
    lines.push(Line {
        name: "Rapier, exact convex cells".into(),
        ready,
        times,
        spread: cells.spread(),
        deepest: None,
        lost: 0,
    });
    section.text(format!(
        "A unit cube in 64 concave pieces that touch exactly, dropped 0.15 m, {steps} steps of 1/240 s, nothing sleeps. Spread: the mean distance of the pieces’ centres from their mean, {} m before; a pile that stays together keeps about that, one that bursts does not. Overlap at the end: the deepest of all points. Exact convex cells exist only where the break was made of them.",
        short(before)
    ));
    let mut notices = Vec::new();
    for (parts, title) in [(true, "exact convex cells"), (false, "one hull a piece")] {
        bench.stage(format!("other engines: {title}"));
        let input = engines(bench, parts, steps.min(240));
        match peers::ask(bench, "fresh", &input) {
            Ok(answer) => add_engines(&answer, title, &mut lines, &mut notices),
            Err(skip) => notices.push(skip.to_string()),
        }
    }
    notices.dedup();
    write(section, &lines, before);
    for notice in notices {
        section.notice(notice);
    }
    section.notice(
        "PhysX, Box3D and fTetWild are not asked: their packages are not part of the script yet.",
    );
    Ok(())
}

fn with_method(bench: &Bench<'_>, method: &str, steps: u64) -> Result<Line, Skip> {
    let mode = contacts_by_name(method).map_err(Skip)?;
    let options = SceneOptions {
        seed: bench.options.seed,
        contacts: mode,
        ..SceneOptions::default()
    };
    let mut scene = by_name("fresh-fracture", &options, &mut |_| {}).map_err(Skip::because)?;
    let (name, ready) = if let ContactMode::Parry(shape) = mode {
        let world = scene.world();
        let (ms, _) = best_ms(1, || {
            let surfaces = world.pieces().filter_map(|p| world.surface(p));
            surfaces.map(|s| shape.build(s)).collect::<Vec<_>>().len()
        });
        (format!("Rapier, {method}"), ms)
    } else {
        let times = structures(bench.options.seed, 3, &wall_seconds).map_err(Skip::because)?;
        (format!("fracas, {method}"), times.update * 1e3)
    };
    let mut times = Vec::new();
    for _ in 0..steps {
        scene.step();
        times.push(scene.world().stats().times.total);
    }
    let world = scene.world();
    Ok(Line {
        name,
        ready,
        times,
        spread: measure::spread(world),
        deepest: Some(f64::from(measure::overlaps(world).deepest)),
        lost: measure::lost(world, scene.floor_height()).total(),
    })
}

/// The pieces for engines with z up: by their cells, or all corners of each as one.
fn engines(bench: &Bench<'_>, parts: bool, steps: u64) -> Value {
    let cells = Cells::build(CELLS, PIECES, bench.options.seed);
    let upright = |p: DVec3| [p.x, -p.z, p.y];
    let bodies: Vec<Value> = (0..cells.groups)
        .map(|g| {
            let centre = cells.centre(g);
            let corners: Vec<Vec<[f64; 3]>> = cells
                .of(g)
                .map(|c| c.corners.iter().map(|p| upright(*p - centre)).collect())
                .collect();
            let corners = if parts {
                corners
            } else {
                vec![corners.concat()]
            };
            let volume: f64 = cells.of(g).map(|c| c.volume).sum();
            let place = centre - DVec3::new(0.5, 0.0, 0.5) + DVec3::Y * f64::from(DROP);
            json!({
                "centre": upright(place),
                "mass": volume * f64::from(DENSITY),
                "parts": corners,
            })
        })
        .collect();
    json!({
        "step": STEP, "steps": steps, "friction": FRICTION, "density": DENSITY,
        "bodies": bodies,
    })
}

fn add_engines(answer: &Value, title: &str, lines: &mut Vec<Line>, notices: &mut Vec<String>) {
    for (key, name) in [("mujoco", "MuJoCo"), ("pybullet", "PyBullet")] {
        let peer = &answer[key];
        if let Some(error) = peer["error"].as_str() {
            notices.push(format!("{name} was left out: {error}"));
            continue;
        }
        let numbers = |v: &Value| -> Vec<f64> {
            let list = v.as_array().into_iter().flatten();
            list.filter_map(Value::as_f64).collect()
        };
        let version = peer["version"].as_str().unwrap_or("");
        lines.push(Line {
            name: format!("{name} {version}, {title}"),
            ready: peer["build_ms"].as_f64().unwrap_or(f64::NAN),
            times: numbers(&peer["times"]),
            spread: peer["spread"].as_f64().unwrap_or(f64::NAN),
            deepest: None,
            lost: peer["lost"].as_u64().unwrap_or(0) as usize,
        });
    }
}

fn write(section: &mut Section, lines: &[Line], before: f64) {
    let mut table = Table::new("Milliseconds; metres")
        .columns(Role::Plain, &["engine, shape"])
        .columns(
            Role::Peer,
            &[
                "ready",
                "first step",
                "mean step",
                "max step",
                "spread at the end",
                "deepest overlap",
                "bodies lost",
            ],
        );
    let mut plot = Plot::new("Time of every step", "step", "ms").log(false, true);
    for line in lines {
        let all = Summary::of(line.times.iter().copied());
        let first = line.times.first().copied().unwrap_or(f64::NAN);
        let mut spread = Cell::from(line.spread);
        // A pile that has burst, or sunk into itself.
        if !(0.75 * before..=1.35 * before).contains(&line.spread) {
            spread.tone = Tone::Bad;
        }
        let mut lost = Cell::from(line.lost);
        if line.lost > 0 {
            lost.tone = Tone::Bad;
        }
        table.row([
            line.name.as_str().into(),
            line.ready.into(),
            first.into(),
            all.mean.into(),
            all.max.into(),
            spread,
            line.deepest.map_or("not measured".into(), Cell::from),
            lost,
        ]);
        let name = &line.name;
        section.value(format!("{name}.ready"), line.ready);
        section.value(format!("{name}.first"), first);
        section.value(format!("{name}.mean"), all.mean);
        section.value(format!("{name}.spread"), line.spread);
        section.value(format!("{name}.lost"), line.lost as f64);
        if let Some(deepest) = line.deepest {
            section.value(format!("{name}.deepest"), deepest);
        }
        let times = line.times.iter().enumerate();
        plot.add(name, Mark::Line, times.map(|(i, ms)| (i as f64, *ms)));
    }
    section.table(table);
    section.plot(plot);
}
