//! A cube that has just broken into 64 concave pieces, in every way of having
//! colliders for them, and in other engines.

use fracas_rapier::ContactMode;
use fracas_scenes::experiments::other_engines::{Ending, FreshPieces, Made};
use fracas_scenes::measure;
use fracas_scenes::recording::Summary;
use fracas_scenes::rigid::fresh_fracture::{ConvexCells, DENSITY, FRICTION, STEP, structures};
use fracas_scenes::rigid::{SceneOptions, by_name, contacts_by_name};
use glam::{DVec3, Quat, Vec3};
use parry3d::math::Pose;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::machine::{best_ms, thread_ms};
use crate::options::{Scale, Skip};
use crate::peers;
use crate::plot::{Mark, Plot};
use crate::section::{Cell, Role, Section, Table, Tone, short};

/// Processor seconds that any way may step, by default: the slowest needs one and a
/// half for each step.
const SECONDS: f64 = 10.0;
/// The same for other engines, which are asked for only where wanted.
const ENGINE_SECONDS: f64 = 30.0;
/// Steps after which the pile has landed: before, there is no ending to judge.
const LANDED: usize = 60;
/// Cells along the longest side of an engine's distance field.
const RESOLUTION: u32 = 64;

/// One way.
struct Line {
    name: String,
    ready: f64,
    times: Vec<f64>,
    ending: Ending,
}

/// What engines are given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handed {
    Cells,
    Hulls,
    Surfaces,
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
    let fresh = FreshPieces::build(bench.options.seed).map_err(Skip::because)?;
    let start = vec![FreshPieces::start(); fresh.pieces.len()];
    let before = fresh.judge(&start, Made::Surface).spread;
    bench.stage("fresh fracture: exact convex cells");
    lines.push(rapier_cells(bench, &fresh, steps));
    section.text(format!(
        "A unit cube in {} concave pieces that touch exactly, dropped 0.15 m, {steps} steps of 1/240 s or as many as {} processor seconds allow (other engines: {}), nothing sleeps. The engines are given the same pieces in one of three ways: the surfaces of our cut, as any free fracture leaves them; the exact convex cells, which exist only where the break was made of them; or one hull a piece. Spread: the mean distance of the pieces’ centres from their mean, {} m before; a pile that stays together keeps about that, one that bursts does not. Deepest overlap at the end, of two pieces or with the floor: measured here, the same way for all, from where the engine left the pieces.",
        fresh.pieces.len(),
        short(seconds(bench)),
        short(seconds(bench).max(ENGINE_SECONDS)),
        short(before)
    ));
    let mut notices = Vec::new();
    for (given, title, who) in [
        (
            Handed::Surfaces,
            "our surfaces",
            &["mujoco", "pybullet", "physx", "ovphysx"][..],
        ),
        (
            Handed::Cells,
            "exact convex cells",
            &["mujoco", "pybullet", "physx", "box3d"][..],
        ),
        (
            Handed::Hulls,
            "one hull a piece",
            &["mujoco", "pybullet", "physx", "box3d"][..],
        ),
    ] {
        let input = input(bench, &fresh, given, steps);
        for &peer in who {
            bench.stage(format!("{}: {title}", name_of(peer)));
            let answer = if peer == "box3d" {
                peers::ask_box3d(bench, &input)
            } else {
                peers::ask(bench, "fresh", peer, &input)
            };
            match answer {
                Ok(answer) => lines.push(engine(&answer, peer, given, title, steps, &fresh)),
                Err(skip) => notices.push(skip.to_string()),
            }
        }
    }
    notices.sort();
    notices.dedup();
    write(section, &lines, before);
    for notice in notices {
        section.notice(notice);
    }
    Ok(())
}

fn name_of(peer: &str) -> &'static str {
    match peer {
        "mujoco" => "MuJoCo",
        "pybullet" => "PyBullet",
        "box3d" => "Box3D",
        _ => "PhysX",
    }
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
        let times = structures(bench.options.seed, 3, &thread_ms).map_err(Skip::because)?;
        (format!("fracas, {method}"), times.update())
    };
    let times = stepped(bench, steps, || scene.step());
    let world = scene.world();
    Ok(Line {
        name: name + &cut_short(times.len(), steps),
        ready,
        times,
        ending: Ending {
            spread: measure::spread(world),
            deepest: f64::from(measure::overlaps(world).deepest),
            lost: measure::lost(world, scene.floor_height()).total(),
        },
    })
}

/// Processor seconds for stepping.
fn seconds(bench: &Bench<'_>) -> f64 {
    bench.scale().pick(SECONDS, SECONDS, 600.0)
}

/// Times of the steps, in milliseconds: all, or as many as there is time for.
fn stepped(bench: &Bench<'_>, steps: u64, mut step: impl FnMut()) -> Vec<f64> {
    let (mut times, mut sum) = (Vec::new(), 0.0);
    while (times.len() as u64) < steps && sum < 1e3 * seconds(bench) {
        let start = thread_ms();
        step();
        times.push(thread_ms() - start);
        sum += times[times.len() - 1];
    }
    times
}

fn cut_short(done: usize, steps: u64) -> String {
    if (done as u64) < steps {
        format!(", {done} steps only")
    } else {
        String::new()
    }
}

/// Rapier on the cells that the break was made of.
fn rapier_cells(bench: &Bench<'_>, fresh: &FreshPieces, steps: u64) -> Line {
    let (ready, mut cells) = best_ms(1, || ConvexCells::build(bench.options.seed));
    let times = stepped(bench, steps, || cells.physics.step());
    let poses = cells.poses();
    let poses: Vec<Pose> = fresh.pieces.iter().map(|p| poses[p.group]).collect();
    Line {
        name: "Rapier, exact convex cells".into(),
        ready,
        times,
        ending: fresh.judge(&poses, Made::Cells),
    }
}

/// Engines have z up: a quarter turn about x.
fn upright(p: DVec3) -> [f64; 3] {
    [p.x, -p.z, p.y]
}

/// The pieces for other engines, each about its centre of mass.
fn input(bench: &Bench<'_>, fresh: &FreshPieces, given: Handed, steps: u64) -> Value {
    let start = FreshPieces::start().translation.as_dvec3();
    let bodies: Vec<Value> = fresh
        .pieces
        .iter()
        .map(|piece| {
            let about = |p: DVec3| upright(p - piece.centre);
            let mut body = json!({
                "centre": upright(piece.centre + start),
                "mass": piece.mass,
            });
            if given == Handed::Surfaces {
                let (positions, triangles) = piece.surface();
                let vertices: Vec<_> = positions.iter().map(|p| about(p.as_dvec3())).collect();
                body["surface"] = json!({ "vertices": vertices, "triangles": triangles });
            } else {
                let mut parts: Vec<Vec<[f64; 3]>> = piece
                    .cells
                    .iter()
                    .map(|c| c.iter().map(|p| about(*p)).collect())
                    .collect();
                if given == Handed::Hulls {
                    parts = vec![parts.concat()];
                }
                body["parts"] = json!(parts);
            }
            body
        })
        .collect();
    json!({
        "made": if given == Handed::Surfaces { "surface" } else { "parts" },
        "step": STEP, "steps": steps, "seconds": seconds(bench).max(ENGINE_SECONDS), "resolution": RESOLUTION,
        "friction": FRICTION, "density": DENSITY, "bodies": bodies,
    })
}

/// What an engine answered, judged here.
fn engine(
    answer: &Value,
    peer: &str,
    given: Handed,
    title: &str,
    steps: u64,
    fresh: &FreshPieces,
) -> Line {
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let times: Vec<f64> = list(&answer["times"])
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    let turn = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    let poses: Vec<Pose> = list(&answer["poses"])
        .iter()
        .zip(&fresh.pieces)
        .map(|(pose, piece)| {
            let n = |i: usize| pose[i].as_f64().unwrap_or(f64::NAN) as f32;
            let there = Quat::from_xyzw(n(3), n(4), n(5), n(6));
            // Back to y up, and from the centre of mass to the cube's frame.
            let rotation = turn.inverse() * there * turn;
            let place = Vec3::new(n(0), n(2), -n(1));
            let translation = place - rotation * piece.centre.as_vec3();
            Pose::from_parts(translation, rotation)
        })
        .collect();
    let how = match (peer, given) {
        ("pybullet", Handed::Surfaces) => "concave triangle meshes of our surfaces".into(),
        (_, Handed::Surfaces) => format!("distance fields of {title}"),
        _ => title.to_owned(),
    };
    let name = format!(
        "{} {}, {how}{}",
        name_of(peer),
        answer["version"].as_str().unwrap_or(""),
        cut_short(times.len(), steps)
    );
    let made = if given == Handed::Surfaces {
        Made::Surface
    } else {
        Made::Cells
    };
    Line {
        name,
        ready: answer["build_ms"].as_f64().unwrap_or(f64::NAN),
        times,
        ending: fresh.judge(&poses, made),
    }
}

/// One colour for each engine.
fn colour(name: &str) -> usize {
    let engines = [
        "fracas",
        "Rapier",
        "MuJoCo",
        "PyBullet",
        "Box3D",
        "PhysX 5.3",
        "?",
        "PhysX",
    ];
    engines
        .iter()
        .position(|e| name.starts_with(e))
        .unwrap_or(6)
}

fn write(section: &mut Section, lines: &[Line], before: f64) {
    let mut table = Table::new("Processor milliseconds; metres")
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
    let mut plot = Plot::new(
        "Time of every step; dashed: with exact convex cells.",
        "step",
        "processor ms",
    )
    .log(false, true);
    for line in lines {
        let all = Summary::of(line.times.iter().copied());
        let first = line.times.first().copied().unwrap_or(f64::NAN);
        let Ending {
            spread,
            deepest,
            lost,
        } = line.ending;
        let toned = |cell: Cell, bad: bool| Cell {
            tone: if bad { Tone::Bad } else { Tone::Plain },
            ..cell
        };
        let ending: [Cell; 3] = if line.times.len() < LANDED {
            ["–"; 3].map(Cell::from)
        } else {
            [
                // A pile that has burst, or sunk into itself.
                toned(
                    spread.into(),
                    !(0.75 * before..=1.35 * before).contains(&spread),
                ),
                // More than a tenth of a piece's size.
                toned(format!("{deepest:.4}").into(), deepest > 0.025),
                toned(lost.into(), lost > 0),
            ]
        };
        let mut row: Vec<Cell> = vec![
            line.name.as_str().into(),
            line.ready.into(),
            first.into(),
            all.mean.into(),
            all.max.into(),
        ];
        row.extend(ending);
        table.rows.push(row);
        let name = &line.name;
        section.value(format!("{name}.ready"), line.ready);
        section.value(format!("{name}.first"), first);
        section.value(format!("{name}.mean"), all.mean);
        section.value(format!("{name}.max"), all.max);
        if line.times.len() >= LANDED {
            section.value(format!("{name}.spread"), spread);
            section.value(format!("{name}.deepest"), deepest);
            section.value(format!("{name}.lost"), lost as f64);
        }
        // Curves of hulls would hide the others: those that keep the pieces as they are.
        if !name.contains("hull") {
            let times = line.times.iter().enumerate();
            let curve = plot.add(name, Mark::Line, times.map(|(i, ms)| (i as f64, *ms)));
            curve.colour = colour(name);
            curve.dashed = name.contains("cells");
        }
    }
    section.table(table);
    section.plot(plot);
    section.text("Red: the pile has burst or sunk into itself (spread off by more than a third), overlaps by more than a tenth of a piece’s size (2.5 cm), or has lost bodies. A dash: stopped before the pile had landed (`--full` waits).");
}
