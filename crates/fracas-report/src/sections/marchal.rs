//! Marchal 2004: depths inside soft bodies, and responses.

use fracas_picture::{Quality, Sheet};
use fracas_scenes::experiments::tet_collision::{CollisionSettings, collisions};
use fracas_scenes::soft::SoftScene;
use fracas_tet_distance::unstable::error_table::error_table;
use fracas_tet_distance::unstable::specimens::{
    Specimen, bumpy_ball, cut_disc, shaken_box, slit_rectangle, twisted_bar,
};
use fracas_tet_distance::{DepthField, Detector, Method, Object, Responder, Response, Topology};
use glam::Vec3;

use super::marchal_pictures as pictures;
use crate::bench::Bench;
use crate::fit;
use crate::machine::{best_ms, thread_ms};
use crate::options::{Scale, Skip};
use crate::plot::{Mark, Plot};
use crate::section::{Cell, Role, Section, Table, count, short};
use crate::stills::soft_still;

fn march(specimen: &Specimen, method: Method, runs: usize) -> f64 {
    let mut field = DepthField::new(method);
    best_ms(runs, || {
        field.march(&specimen.topology, &specimen.positions);
    })
    .0
}

/// Figs. 6 and 7.
pub fn fig6(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let sides: &[u32] =
        bench
            .scale()
            .pick(&[4, 6, 9], &[6, 10, 18, 32, 55], &[6, 10, 18, 32, 55, 80]);
    section.text("Boxes of tetrahedra with shaken nodes; processor time of one thread, best of several marches.");
    let mut plot = Plot::new("Time of a march against nodes", "nodes", "ms").log(true, true);
    let mut slopes = Vec::new();
    let mut nodes = (f64::INFINITY, 0.0_f64);
    for (name, method) in [
        ("CPFM (closest points)", Method::ClosestPoint),
        ("CFFM (closest features)", Method::ClosestFeature),
    ] {
        let mut points = Vec::new();
        for &side in sides {
            bench.stage(format!("{name}, {side} cells"));
            let specimen = shaken_box(side);
            let ms = march(&specimen, method, if side < 20 { 15 } else { 4 });
            let size = specimen.topology.nodes() as f64;
            nodes = (nodes.0.min(size), nodes.1.max(size));
            points.push((size, ms));
        }
        slopes.push(fit::growth_exponent(&points));
        plot.add(name, Mark::LineAndDots, points);
    }
    section.plot(plot);
    section.value("cpfm.exponent", slopes[0]);
    section.value("cffm.exponent", slopes[1]);
    section.claim(
        "Marchal 2004, 4.3",
        "The number of nodes has a linear influence on the time.",
        slopes[0] < 1.25,
        format!(
            "time grows with the power {:.2} (CPFM) and {:.2} (CFFM) of the nodes, from {} to {} of them",
            slopes[0],
            slopes[1],
            count(nodes.0),
            count(nodes.1)
        ),
        format!(
            "a power of {:.2} where 1.25 was allowed; a small mesh is nearly all surface, where nothing is computed",
            slopes[0]
        ),
    );
    let (cells, bar) = bench.scale().pick((8, 5), (37, 19), (37, 19));
    let mut table = Table::new("Objects of 300,000 tetrahedra (Fig. 7): milliseconds")
        .columns(Role::Plain, &["object", "tetrahedra"])
        .columns(Role::Ours, &["CPFM", "CFFM"])
        .columns(Role::Paper, &["CPFM"]);
    for (name, specimen) in [
        ("box", shaken_box(cells)),
        ("bumpy ball", bumpy_ball(cells)),
        ("twisted bar", twisted_bar(bar)),
    ] {
        bench.stage(name);
        let cpfm = march(&specimen, Method::ClosestPoint, 6);
        let cffm = march(&specimen, Method::ClosestFeature, 4);
        section.value(format!("{name}.cpfm"), cpfm);
        section.value(format!("{name}.cffm"), cffm);
        table.row([
            name.into(),
            specimen.topology.tets().len().into(),
            Cell::from(cpfm).at_most(cpfm, 100.0),
            cffm.into(),
            100.0.into(),
        ]);
    }
    section.table(table);
    Ok(())
}

/// Fig. 8.
pub fn fig8(_: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.picture(
        &pictures::disc(),
        "Depth (above) and error (below) on a bent disc with a cut; lighter is more. The grid has 100 cells along its longest side.",
    );
    Ok(())
}

/// Figs. 9 and 10.
pub fn fig9(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.text("The paper’s “median error” is defined there as the sum over the number of nodes: it is the mean. Ours are thin plates of tetrahedra in place of the paper’s 2D meshes; the paper’s lengths are not known, so compare the methods with one another.");
    type Row = (&'static str, &'static str, [f64; 3]);
    let disc: [Row; 5] = [
        ("EXACT", "exact", [9.93, 0.0, 0.0]),
        ("FM 20×20", "grid 20", [0.288, 0.326, 0.085]),
        ("FM 100×100", "grid 100", [9.728, 0.149, 0.011]),
        ("CFFM", "CFFM", [0.63, 0.02, 8e-5]),
        ("CPFM", "CPFM", [0.196, 0.12, 0.008]),
    ];
    let rectangle: [Row; 5] = [
        ("EXACT", "exact", [28.0, 0.0, 0.0]),
        ("FM 20×20", "grid 20", [0.6, 0.34, 0.098]),
        ("FM 100×100", "grid 100", [12.0, 0.081, 0.016]),
        ("CFFM", "CFFM", [5.0, 0.002, 3e-6]),
        ("CPFM", "CPFM", [2.3, 0.06, 0.001]),
    ];
    for (figure, name, specimen, paper) in [
        ("Fig. 9", "disc", cut_disc(), disc),
        ("Fig. 10", "rectangle", slit_rectangle(), rectangle),
    ] {
        let runs = bench.scale().pick(1, 8, 30);
        let rows = error_table(&specimen, &[20, 100], runs, thread_ms);
        let mut table = Table::new(format!(
            "{figure}: {name} of {} nodes",
            specimen.topology.nodes()
        ))
        .columns(Role::Plain, &["method"])
        .columns(Role::Ours, &["ms", "max error", "mean error"])
        .columns(Role::Paper, &["ms", "max error", "mean error"]);
        let find = |key: &str| rows.iter().find(|r| r.name == key);
        for (title, key, theirs) in paper {
            let Some(row) = find(key) else { continue };
            section.value(format!("{name}.{key}.ms"), row.time);
            section.value(format!("{name}.{key}.max"), row.max_error);
            section.value(format!("{name}.{key}.mean"), row.mean_error);
            table.row([
                title.into(),
                row.time.into(),
                row.max_error.into(),
                row.mean_error.into(),
                theirs[0].into(),
                theirs[1].into(),
                theirs[2].into(),
            ]);
        }
        section.table(table);
        if let (Some(cffm), Some(cpfm), Some(fine)) = (find("CFFM"), find("CPFM"), find("grid 100"))
        {
            section.claim(
                &format!("Marchal 2004, {figure}"),
                "Closest features err far less than closest points, and both are faster than a grid of 100 × 100 and err less.",
                cffm.mean_error < 0.1 * cpfm.mean_error
                    && cpfm.mean_error < fine.mean_error
                    && cffm.time < fine.time,
                format!(
                    "mean errors {} (CFFM), {} (CPFM), {} (grid); {} against {} ms",
                    short(cffm.mean_error),
                    short(cpfm.mean_error),
                    short(fine.mean_error),
                    short(cffm.time),
                    short(fine.time)
                ),
                format!(
                    "ratios: CFFM’s error over CPFM’s {}, CPFM’s over the grid’s {}, CFFM’s time over the grid’s {}",
                    short(cffm.mean_error / cpfm.mean_error),
                    short(cpfm.mean_error / fine.mean_error),
                    short(cffm.time / fine.time)
                ),
            );
        }
    }
    Ok(())
}

/// A tetrahedron in four, around its centroid.
fn split(corners: [Vec3; 4]) -> Result<(Topology, Vec<Vec3>), Skip> {
    let [a, b, c, d] = corners;
    let outer: [u32; 4] = if (b - a).cross(c - a).dot(d - a) > 0.0 {
        [0, 1, 2, 3]
    } else {
        [0, 1, 3, 2]
    };
    let tets: Vec<[u32; 4]> = (0..4)
        .map(|i| {
            let mut tet = outer;
            tet[i] = 4;
            tet
        })
        .collect();
    let topology = Topology::build(5, &tets).map_err(Skip::because)?;
    let positions = vec![a, b, c, d, 0.25 * (a + b + c + d)];
    Ok((topology, positions))
}

/// Fig. 11.
pub fn fig11(_: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.text("Two tetrahedra that cross by their edges, no corner in the other. Each is split in four at its centroid, as the paper’s section 6.2 does with tetrahedra whose corners all lie on the surface: else there would be no depth.");
    let bodies = [
        split([
            Vec3::new(-1.0, 0.0, 0.2),
            Vec3::new(1.0, 0.0, 0.2),
            Vec3::new(0.0, 0.4, -1.0),
            Vec3::new(0.0, -0.4, -1.0),
        ])?,
        split([
            Vec3::new(0.0, -1.0, -0.2),
            Vec3::new(0.0, 1.0, -0.2),
            Vec3::new(-0.4, 0.0, 1.0),
            Vec3::new(0.4, 0.0, 1.0),
        ])?,
    ];
    let objects = [0, 1].map(|i| Object {
        topology: &bodies[i].0,
        positions: &bodies[i].1,
    });
    let mut pairs = Vec::new();
    Detector::default().overlaps(&objects, &mut pairs);
    let fields = pictures::fields(&objects, &pairs);
    let mut table = Table::new("Two tetrahedra whose edges cross")
        .columns(Role::Plain, &["response"])
        .columns(Role::Ours, &["overlapping pairs", "forces"]);
    let mut counts = Vec::new();
    for (response, name) in [(Response::Point, "point"), (Response::Segment, "segment")] {
        let mut pushes = Vec::new();
        Responder::default().pushes(&objects, &fields, &pairs, response, &mut pushes);
        section.value(format!("{name}.forces"), pushes.len() as f64);
        table.row([name.into(), pairs.len().into(), pushes.len().into()]);
        counts.push(pushes.len());
    }
    section.table(table);
    section.claim(
        "Marchal 2004, Fig. 11",
        "A response by points does not see edges that cross; one by segments does.",
        counts[0] == 0 && counts[1] > 0 && !pairs.is_empty(),
        format!("{} forces by points, {} by segments", counts[0], counts[1]),
        format!("{} pairs overlap", pairs.len()),
    );
    Ok(())
}

/// Fig. 12.
pub fn fig12(_: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let (image, counts) = pictures::forces();
    section.picture(&image, "Forces between a torus and a ball: red on the torus, blue on the ball. The longest is a quarter of the torus’ radius long.");
    section.value("point.forces", counts[0] as f64);
    section.value("segment.forces", counts[1] as f64);
    Ok(())
}

/// Figs. 13 to 15.
pub fn fig13(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let steps = bench.scale().pick(2, 30, 120);
    section.text(format!("The first {steps} steps of 1/60 s of the torus of 6,912 tetrahedra that breaks on a cube. The paper: 28 of 120 s in collision by points, 36 s by segments."));
    let mut table = Table::new("Processor seconds of one thread")
        .columns(Role::Plain, &["response"])
        .columns(Role::Ours, &["whole", "collision", "share", "pieces"])
        .columns(Role::Paper, &["share"]);
    let mut collisions = Vec::new();
    for (response, name, paper) in [
        (Response::Point, "point", 28.0 / 120.0),
        (Response::Segment, "segment", 36.0 / 128.0),
    ] {
        let mut scene = SoftScene::new("torus-on-cube").map_err(Skip::because)?;
        scene.world_mut().set_clock(|| thread_ms() * 1e-3);
        scene.world_mut().response = response;
        if response == Response::Point {
            // About the same force: an edge is a tenth of a metre long.
            scene.world_mut().stiffness *= 0.1;
        }
        let (mut collision, mut whole, mut parts) = (0.0, 0.0, [0.0; 4]);
        let mut sheet = Sheet::new(3);
        for step in 1..=steps {
            bench.stage(format!("torus, {name}: step {step} of {steps}"));
            scene.step();
            let s = scene.stats();
            let times = [s.detect_time, s.march_time, s.respond_time, s.simulate_time];
            for (sum, time) in parts.iter_mut().zip(times) {
                *sum += time;
            }
            let here = s.detect_time + s.march_time + s.respond_time;
            collision += here;
            whole += here + s.simulate_time;
            if step % (steps / 3).max(1) == 0 {
                let caption = format!("{:.2} s", step as f32 * SoftScene::DT);
                sheet.add(soft_still(&scene, [300, 260], Quality::Draft), caption);
            }
        }
        if response == Response::Segment && bench.scale() != Scale::Tiny {
            section.picture(
                &sheet.image(),
                "The torus on the cube, response by segments.",
            );
        }
        section.value(format!("{name}.share"), collision / whole);
        section.value(format!("{name}.collision"), collision);
        collisions.push((collision, collision / whole, parts, scene.pieces()));
        table.row([
            name.into(),
            whole.into(),
            collision.into(),
            format!("{:.0} %", 100.0 * collision / whole).into(),
            scene.pieces().into(),
            format!("{:.0} %", 100.0 * paper).into(),
        ]);
    }
    section.table(table);
    section.claim(
        "Marchal 2004, Fig. 13",
        "A response by segments takes slightly more time than one by points.",
        (1.0..2.0).contains(&(collisions[1].0 / collisions[0].0)),
        format!(
            "{}× the time in collision (paper 1.29×)",
            short(collisions[1].0 / collisions[0].0)
        ),
        format!(
            "the two runs do not meet the same contacts: {} pieces by points, {} by segments; detection {} and {} s, response {} and {} s",
            collisions[0].3,
            collisions[1].3,
            short(collisions[0].2[0]),
            short(collisions[1].2[0]),
            short(collisions[0].2[2]),
            short(collisions[1].2[2])
        ),
    );
    section.claim(
        "Marchal 2004, Fig. 13",
        "Collision is about a quarter of the simulation’s time.",
        collisions[0].1 < 0.4,
        format!("{:.0} %", 100.0 * collisions[0].1),
        {
            let [detect, march, respond, simulate] = collisions[0].2.map(short);
            format!(
                "by points: detection {detect} s, march {march} s, response {respond} s, and all of the mass-spring simulation {simulate} s"
            )
        },
    );
    Ok(())
}

/// Fig. 16.
pub fn fig16(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let settings = CollisionSettings {
        cells: bench.scale().pick(6, 16, 24),
        placements: bench.scale().pick(6, 14, 40),
        runs: bench.scale().pick(1, 3, 5),
    };
    section.text(format!("Two boxes of {} tetrahedra each at {} random placements: detection, march and response together.", short(f64::from(6 * settings.cells.pow(3))), settings.placements));
    let mut plot = Plot::new(
        "Time against colliding points, with lines of least squares.",
        "colliding points",
        "ms",
    );
    let mut fits = Vec::new();
    for (i, (response, name)) in [
        (Response::Point, "point response"),
        (Response::Segment, "segment response"),
    ]
    .into_iter()
    .enumerate()
    {
        bench.stage(name);
        let found = collisions(response, settings, &thread_ms);
        let points: Vec<(f64, f64)> = found.iter().map(|c| (c.points as f64, c.time)).collect();
        let line = fit::line(&points);
        let ends =
            |pick: fn(f64, f64) -> f64, from: f64| points.iter().map(|p| p.0).fold(from, pick);
        let (first, last) = (ends(f64::min, f64::INFINITY), ends(f64::max, 0.0));
        plot.add(name, Mark::Dots, points).colour = i;
        let fitted = plot.add(
            &format!(
                "{} ms + {} µs a point",
                short(line.base),
                short(1e3 * line.slope)
            ),
            Mark::Line,
            [
                (first, line.base + line.slope * first),
                (last, line.base + line.slope * last),
            ],
        );
        (fitted.colour, fitted.dashed) = (i, true);
        section.value(format!("{name}.us_a_point"), 1e3 * line.slope);
        section.value(format!("{name}.r2"), line.r2);
        fits.push(line);
    }
    section.plot(plot);
    section.claim(
        "Marchal 2004, 6.1",
        "Time depends linearly on the number of colliding tetrahedra.",
        fits.iter().all(|f| f.r2 > 0.95),
        format!("r² {:.3} and {:.3}", fits[0].r2, fits[1].r2),
        format!(
            "the lines miss {} % and {} % of the variance; at no colliding point they leave {} and {} ms",
            short(100.0 * (1.0 - fits[0].r2)),
            short(100.0 * (1.0 - fits[1].r2)),
            short(fits[0].base),
            short(fits[1].base)
        ),
    );
    section.claim(
        "Marchal 2004, 6.1",
        "Segments cost more per point than points.",
        fits[1].slope > fits[0].slope,
        format!(
            "{} against {} µs a point",
            short(1e3 * fits[1].slope),
            short(1e3 * fits[0].slope)
        ),
        format!(
            "r² {:.3} and {:.3}: the difference of {} µs a point is within the noise of detection",
            fits[0].r2,
            fits[1].r2,
            short(1e3 * (fits[0].slope - fits[1].slope))
        ),
    );
    Ok(())
}
