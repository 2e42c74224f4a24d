//! Mesh against mesh, and deforming meshes, beside what PyPI has for them.

use fracas_core::{Pose, TetMesh};
use fracas_fastcd::{Contacts, FastBvh, Scratch, Settings};
use fracas_rapier::ContactMode;
use fracas_scenes::experiments::fresh::Asking;
use fracas_scenes::experiments::pair::Pair;
use fracas_scenes::experiments::rivals::{Rival, RivalPair, VERSION};
use fracas_scenes::sequences::cloth::Cloth;
use fracas_scenes::sequences::ripple::ripple;
use fracas_scenes::sequences::{Change, Sequence as _};
use fracas_tet_distance::unstable::specimens::bumpy_ball;
use glam::{DVec3, Vec3};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::machine::best_ms;
use crate::options::{Scale, Skip};
use crate::peers;
use crate::section::{Cell, Role, Section, Table, Tone, short};

/// A ball of tetrahedra with bumps, about 1 in radius.
fn bumpy(cells: u32, scale: f32) -> Result<TetMesh, Skip> {
    let specimen = bumpy_ball(cells);
    let positions: Vec<Vec3> = specimen.positions.iter().map(|p| *p * scale).collect();
    TetMesh::build(positions, specimen.topology.tets().to_vec()).map_err(Skip::because)
}

/// One way of asking: how long, how many contacts, how deep.
struct Row {
    name: String,
    build: f64,
    /// Overlapping a little, and one wholly inside the other.
    answers: [(f64, f64, f64); 2],
}

/// Two bumpy balls: overlapping, and one inside the other.
pub fn meshes(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let cells = bench.scale().pick(6, 26, 26);
    let (big, small) = (bumpy(cells, 1.0)?, bumpy(cells, 0.3)?);
    let (low, high) = big.bounds();
    let reach = 0.93 * (high.x - low.x);
    let overlap = Vec3::new(reach, 0.1, 0.05);
    let centre = 0.5 * (low + high);
    let (small_low, small_high) = small.bounds();
    let inside = centre - 0.5 * (small_low + small_high) + Vec3::new(0.1, 0.05, 0.0);
    let (build, made) = best_ms(1, || Pair::new(big.clone(), big.clone()));
    let mut overlapping = made.map_err(Skip::because)?;
    let mut nested = Pair::new(big, small).map_err(Skip::because)?;
    let places = [Pose::translation(overlap), Pose::translation(inside)];
    let mut rows = Vec::new();
    for (name, mode) in [
        ("fracas, self-adapting", ContactMode::default()),
        ("fracas, all contacts", ContactMode::Full),
    ] {
        let asking = Asking {
            mode,
            ..Asking::default()
        };
        let answers =
            [(&mut overlapping, &places[0]), (&mut nested, &places[1])].map(|(pair, place)| {
                let (ms, found) = best_ms(5, || {
                    pair.forget();
                    pair.ask(place, &asking)
                });
                let contacts = f64::from(found.stats.contacts);
                (ms, contacts, f64::from(found.deepest))
            });
        rows.push(Row {
            name: name.into(),
            build,
            answers,
        });
    }
    let [first, _] = overlapping.surfaces();
    let [outer, inner] = nested.surfaces();
    let (build, shapes) = best_ms(1, || {
        [first, first, outer, inner].map(|s| Rival::TriMesh.build(s))
    });
    if let [Some(a), Some(b), Some(c), Some(d)] = &shapes {
        let answers = [(a, b, &places[0]), (c, d, &places[1])].map(|(a, b, place)| {
            let (ms, (count, deepest)) = best_ms(3, || {
                let mut pair = RivalPair::default();
                let count = pair.contacts(a, b, place, 0.001);
                (count, pair.deepest())
            });
            (ms, count as f64, f64::from(deepest))
        });
        rows.push(Row {
            name: format!("parry3d {VERSION} TriMesh"),
            build: 0.5 * build,
            answers,
        });
    }
    let mesh = |s: &fracas_core::FragmentSurface| {
        json!({
            "vertices": s.positions().iter().map(|p| p.to_array()).collect::<Vec<_>>(),
            "triangles": s.triangles(),
        })
    };
    let mut notices = Vec::new();
    for (i, (a, b, place)) in [(first, first, overlap), (outer, inner, inside)]
        .into_iter()
        .enumerate()
    {
        let input = json!({ "meshes": [mesh(a), mesh(b)], "offset": place.to_array() });
        for (peer, name) in [("coal", "Coal"), ("fcl", "FCL")] {
            bench.stage(name);
            match peers::ask(bench, "mesh", peer, &input) {
                Ok(answer) => add_peer(&answer, name, i, &mut rows),
                Err(skip) => notices.push(skip.to_string()),
            }
        }
    }
    notices.sort();
    notices.dedup();
    write(section, first.triangles().len(), &rows);
    for notice in notices {
        section.notice(notice);
    }
    Ok(())
}

fn add_peer(answer: &Value, name: &str, case: usize, rows: &mut Vec<Row>) {
    let number = |key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
    let title = format!("{name} {}", answer["version"].as_str().unwrap_or(""));
    let at = match rows.iter().position(|r| r.name == title) {
        Some(at) => at,
        None => {
            rows.push(Row {
                name: title,
                build: number("build_ms"),
                answers: [(f64::NAN, f64::NAN, f64::NAN); 2],
            });
            rows.len() - 1
        }
    };
    rows[at].answers[case] = (number("ms"), number("contacts"), number("deepest"));
}

fn write(section: &mut Section, triangles: usize, rows: &[Row]) {
    section.text(format!("Two bumpy balls of {} triangles: overlapping by a fourteenth of their width, and a small one wholly inside a large one. Ours bakes field and tree once, ahead; the others build a box tree over triangles. Depths: ours how far a point is inside, the others as they report it.", short(triangles as f64)));
    let mut table = Table::new("Processor milliseconds; contacts; deepest, in ball radii")
        .columns(Role::Plain, &["program"])
        .columns(
            Role::Peer,
            &[
                "build",
                "overlapping: ms",
                "contacts",
                "deepest",
                "one inside: ms",
                "contacts",
                "deepest",
            ],
        );
    for row in rows {
        let [over, nested] = row.answers;
        let mut inside = Cell::from(nested.1);
        if nested.1 == 0.0 {
            inside.tone = Tone::Bad;
        }
        section.value(format!("{}.ms", row.name), over.0);
        section.value(format!("{}.contacts", row.name), over.1);
        section.value(format!("{}.inside.contacts", row.name), nested.1);
        table.row([
            row.name.as_str().into(),
            row.build.into(),
            over.0.into(),
            over.1.into(),
            over.2.into(),
            nested.0.into(),
            inside,
            nested.2.into(),
        ]);
    }
    section.table(table);
}

/// One mesh at the start and at the end of a step.
struct Step {
    name: &'static str,
    start: Vec<DVec3>,
    end: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

/// The cloth of Heo 2010 while it folds, everything as one mesh.
fn folding_cloth(frame: usize) -> Step {
    let mut sequence = Cloth::new();
    let mut meshes: Vec<(Vec<DVec3>, Vec<[u32; 3]>)> = Vec::new();
    for change in sequence.next_frame() {
        if let Change::Add(mesh) = change {
            meshes.push(mesh);
        }
    }
    sequence.skip_to(frame);
    let mut moved = || {
        for change in sequence.next_frame() {
            if let Change::Move { body, positions } = change {
                meshes[body].0 = positions;
            }
        }
        meshes.iter().flat_map(|m| m.0.clone()).collect()
    };
    let (start, end) = (moved(), moved());
    let (mut triangles, mut first) = (Vec::new(), 0);
    for (positions, corners) in &meshes {
        triangles.extend(corners.iter().map(|t| t.map(|v| v + first)));
        first += positions.len() as u32;
    }
    Step {
        name: "folding cloth",
        start,
        end,
        triangles,
    }
}

/// Steps of deforming meshes: one that touches nothing, one that does.
pub fn ipctk(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let (start, end, triangles) = ripple(bench.scale().pick(20, 215, 215));
    let mut steps = vec![Step {
        name: "rippling sheet",
        start,
        end,
        triangles,
    }];
    if bench.scale() != Scale::Tiny {
        steps.push(folding_cloth(240));
    }
    section.text("Self-collision of 92 K triangles in one step: a rippling sheet, which touches nothing, and a cloth while it folds. Ours: motion, update and all contacts; theirs: the collision-free step size (Tight-Inclusion) with LBVH, the fastest broad phase it has, one thread. Theirs is a lower bound of the first impact by design.");
    let mut table = Table::new("Processor milliseconds; the first impact as a share of the step")
        .columns(Role::Plain, &["mesh", "program"])
        .columns(
            Role::Peer,
            &[
                "step, ms",
                "candidates, ms",
                "first impact",
                "time over ours",
            ],
        );
    let mut notices = Vec::new();
    for step in &steps {
        let (ours, first) = our_step(step)?;
        let name = step.name;
        section.value(format!("{name}.ours.ms"), ours);
        section.value(format!("{name}.ours.first_impact"), first);
        table.row([
            name.into(),
            "fracas".into(),
            ours.into(),
            "–".into(),
            format!("{first:.6}").into(),
            "1".into(),
        ]);
        let flat = |points: &[DVec3]| points.iter().map(|p| p.to_array()).collect::<Vec<_>>();
        let input = json!({
            "start": flat(&step.start), "end": flat(&step.end), "triangles": step.triangles,
        });
        bench.stage(format!("{name}: IPC Toolkit"));
        match peers::ask(bench, "ipctk", "ipctk", &input) {
            Ok(peer) => {
                let number = |key: &str| peer[key].as_f64().unwrap_or(f64::NAN);
                section.value(format!("{name}.ipctk.ms"), number("step_ms"));
                section.value(
                    format!("{name}.ipctk.candidates_ms"),
                    number("candidates_ms"),
                );
                section.value(format!("{name}.ipctk.first_impact"), number("step"));
                table.row([
                    name.into(),
                    format!("IPC Toolkit {}", peer["version"].as_str().unwrap_or("")).into(),
                    number("step_ms").into(),
                    number("candidates_ms").into(),
                    format!("{:.6}", number("step")).into(),
                    short(number("step_ms") / ours).into(),
                ]);
            }
            Err(skip) => notices.push(skip.to_string()),
        }
    }
    section.table(table);
    notices.dedup();
    for notice in notices {
        section.notice(notice);
    }
    Ok(())
}

/// Best time of a step, and the first impact in it.
fn our_step(step: &Step) -> Result<(f64, f64), Skip> {
    let mut scene = FastBvh::new(Settings::default());
    let body = scene
        .add(&step.start, &step.triangles)
        .map_err(Skip::because)?;
    scene.update();
    let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        scene
            .move_vertices(body, &step.start)
            .map_err(Skip::because)?;
        scene.update();
        let (ms, moved) = best_ms(1, || {
            let moved = scene.move_vertices(body, &step.end);
            scene.update();
            scene.contacts(&mut scratch, &mut contacts);
            moved
        });
        moved.map_err(Skip::because)?;
        best = best.min(ms);
    }
    Ok((best, contacts.earliest().unwrap_or(1.0)))
}
