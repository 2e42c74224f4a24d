//! Glondu 2013: the field in a picture, resolution, and what the fast update costs
//! in queries.

use fracas_bake::shapes;
use fracas_core::StaticMesh;
use fracas_core::sphere_tree::{Partner as _, QueryStats, SplitMethod};
use fracas_picture::{Sheet, Slice, slice};
use fracas_rapier::FragmentShape;
use fracas_scenes::experiments::ball::ball;
use fracas_scenes::experiments::fresh::{Asking, Distances, Fresh, Trees, Whole};
use glam::Vec3;

use crate::bench::Bench;
use crate::machine::{best_ms, thread_ms};
use crate::options::{Scale, Skip};
use crate::plot::{Mark, Plot};
use crate::section::{Cell, Role, Section, Table, short};

/// How far fragments have moved outwards, as a share: the moments after a break.
const MOMENTS: [f32; 6] = [0.0, 0.002, 0.005, 0.01, 0.02, 0.05];

fn shape(name: &str) -> fracas_core::TetMesh {
    shapes::by_name(name).expect("one of the set").build()
}

fn shatter(whole: &Whole, pieces: u32, seed: u64) -> Result<Fresh, Skip> {
    whole
        .shatter(pieces, seed, SplitMethod::default(), &thread_ms)
        .ok_or_else(|| Skip("the object did not break".into()))
}

/// Fig. 3.
pub fn fig3(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let whole = Whole::new(shape("rabbit")).map_err(Skip::because)?;
    let fresh = shatter(&whole, 4, bench.options.seed + 6)?;
    let exact = |s: &FragmentShape| {
        StaticMesh::build(s.surface().positions(), s.surface().triangles()).map_err(Skip::because)
    };
    let meshes = fresh
        .shapes
        .iter()
        .map(exact)
        .collect::<Result<Vec<_>, _>>()?;
    let boundary: Vec<[u32; 3]> = whole.mesh().boundary().map(|f| f.nodes).collect();
    let outer = StaticMesh::build(whole.mesh().positions(), &boundary).map_err(Skip::because)?;
    let (low, high) = whole.mesh().bounds();
    let size = high - low;
    let height = bench.scale().pick(60, 260, 400);
    let picture = Slice {
        width: (height as f32 * size.x / size.y) as usize,
        height,
        range: [0.0, 0.25 * size.x],
        contour_step: 0.02 * size.x,
        legend: false,
        ..Slice::default()
    };
    let middle = 0.5 * (low.z + high.z);
    let at = |u: f32, v: f32| Vec3::new(low.x + u * size.x, low.y + v * size.y, middle);
    let depth = |mesh: &StaticMesh, p| Some(-mesh.sample(p, 0.0)?.distance);
    let object = fresh.shapes[0].object().read();
    let owner = |p: Vec3| {
        fresh.shapes.iter().enumerate().find_map(|(i, s)| {
            let view = object.field().of(object.fragments(), s.id());
            let place = view.inside(p)?;
            Some((i, view.penetration(&place).depth))
        })
    };
    let before = slice(&picture, |u, v| depth(&outer, at(u, v)));
    let truth = slice(&picture, |u, v| {
        let p = at(u, v);
        depth(&meshes[owner(p)?.0], p)
    });
    let (mut sum, mut count, mut most) = (0.0, 0_u32, 0.0_f32);
    let ours = slice(&picture, |u, v| {
        let p = at(u, v);
        let (i, found) = owner(p)?;
        if let Some(exact) = depth(&meshes[i], p) {
            let over = found - exact;
            sum += f64::from(over);
            most = most.max(over);
            count += 1;
        }
        Some(found)
    });
    let edge = f64::from(object.field().edge());
    let mut sheet = Sheet::new(3);
    sheet.add(before, "whole, exact");
    sheet.add(truth, "broken, exact");
    sheet.add(ours, "broken, ours");
    section.picture(
        &sheet.image(),
        "Interior distance in a slice of the rabbit: whole, in four fragments with exact distances, and with those of the updated field. Contours every 2 % of its length.",
    );
    let mean = sum / f64::from(count.max(1)) / edge;
    let most = f64::from(most) / edge;
    section.value("over_exact_mean_edges", mean);
    section.value("over_exact_max_edges", most);
    section.claim(
        "Glondu 2013, Fig. 3",
        "The updated distance field is close to the exact one.",
        mean.abs() < 0.05 && most < 1.0,
        format!(
            "above the exact distance by {} mean edge lengths in the mean, {} at most, at {} points of the slice",
            short(mean),
            short(most),
            short(f64::from(count))
        ),
        format!(
            "allowed were 0.05 and 1 edge lengths; an edge is {} % of the rabbit’s length",
            short(100.0 * edge / f64::from(size.x))
        ),
    );
    Ok(())
}

/// Section 7.2.
pub fn resolution(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.text("The sphere of Fig. 11 at three resolutions, broken into eight cells. Queries: all pairs of fragments, both directions, self-adapting, the second frame of each pair; mean and largest over six moments, from just broken to 5 % apart. Processor time of one thread, best of several.");
    let mut table = Table::new("Milliseconds")
        .columns(Role::Plain, &["triangles, interior points"])
        .columns(
            Role::Ours,
            &["update", "queries, mean", "queries, max", "points visited"],
        )
        .columns(Role::Paper, &["update", "queries, mean", "queries, max"]);
    let all = [
        (2500, 4000, [1.54, 1.16, 3.27]),
        (10_000, 4000, [1.8, 1.37, 4.17]),
        (2500, 435, [0.46, 0.68, 2.26]),
    ];
    let tiny = [
        (600, 300, [1.54, 1.16, 3.27]),
        (1200, 300, [1.8, 1.37, 4.17]),
        (600, 60, [0.46, 0.68, 2.26]),
    ];
    let mut updates = Vec::new();
    for (triangles, interior, paper) in if bench.scale() == Scale::Tiny {
        tiny
    } else {
        all
    } {
        bench.stage(format!("{triangles} triangles, {interior} points"));
        let whole = Whole::new(ball(triangles, interior)).map_err(Skip::because)?;
        let mut fresh = shatter(&whole, 8, 1)?;
        for _ in 0..bench.scale().pick(1, 10, 40) {
            let again = shatter(&whole, 8, 1)?;
            if again.times.update() < fresh.times.update() {
                fresh = again;
            }
        }
        let asking = Asking {
            before: 1,
            ..Asking::default()
        };
        let (mut sum, mut largest, mut visited) = (0.0, 0.0_f64, 0.0);
        for outward in MOMENTS {
            let (ms, work) = ask(&fresh, Trees::Updated, Distances::Updated, outward, &asking);
            sum += ms / MOMENTS.len() as f64;
            largest = largest.max(ms);
            visited += f64::from(work.distance_queries) / MOMENTS.len() as f64;
        }
        let name = format!("{triangles}-{interior}");
        section.value(format!("{name}.update"), fresh.times.update());
        section.value(format!("{name}.query.mean"), sum);
        section.value(format!("{name}.query.max"), largest);
        updates.push(fresh.times.update());
        let ours = [fresh.times.update(), sum, largest];
        let mut row = vec![Cell::from(format!(
            "{}, {}",
            short(f64::from(triangles as u32)),
            short(f64::from(interior as u32))
        ))];
        row.extend(
            ours.iter()
                .zip(&paper)
                .map(|(o, p)| Cell::from(*o).at_most(*o, *p)),
        );
        row.push(visited.into());
        row.extend(paper.iter().map(|p| Cell::from(*p)));
        table.rows.push(row);
    }
    section.table(table);
    section.claim(
        "Glondu 2013, 7.2",
        "The interior sampling decides the cost of an update, the surface hardly does.",
        updates[1] / updates[0] < 2.0 && updates[2] / updates[0] < 0.7,
        format!(
            "four times the triangles: {}×; a tenth of the interior points: {}× (paper 1.17× and 0.30×)",
            short(updates[1] / updates[0]),
            short(updates[2] / updates[0])
        ),
        format!(
            "updates of {}, {} and {} ms",
            short(updates[0]),
            short(updates[1]),
            short(updates[2])
        ),
    );
    Ok(())
}

/// Time and visited points of one way of asking: the last frame's own, best of some.
fn ask(
    fresh: &Fresh,
    trees: Trees,
    distances: Distances,
    outward: f32,
    asking: &Asking,
) -> (f64, QueryStats) {
    let mut setup = fresh.setup(trees, distances, outward);
    let mut best = f64::INFINITY;
    let mut work = QueryStats::default();
    for _ in 0..3 {
        fresh.ask(
            &mut setup,
            &Asking {
                before: asking.before.saturating_sub(1),
                ..*asking
            },
        );
        let (ms, stats) = best_ms(1, || fresh.ask_once(&mut setup, asking));
        best = best.min(ms);
        work = stats;
    }
    (best, work)
}

/// Fig. 15.
pub fn fig15(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let (name, pieces) = if bench.scale() == Scale::Tiny {
        ("brick", 8)
    } else {
        ("piggy-bank", 27)
    };
    let whole = Whole::new(shape(name)).map_err(Skip::because)?;
    let fresh = shatter(&whole, pieces, bench.options.seed)?;
    section.text(format!("The {name} in {} pieces, moments after the break. Four ways: distances D and tree S as our update leaves them, or exact distances (closest triangle of each fragment’s surface) and trees built anew of each fragment’s surface points. All pairs, both directions, self-adapting, second frame.", fresh.shapes.len()));
    let ways = [
        ("updated D, updated S", Trees::Updated, Distances::Updated),
        ("exact D, updated S", Trees::Updated, Distances::Exact),
        ("updated D, rebuilt S", Trees::Rebuilt, Distances::Updated),
        ("exact D, rebuilt S", Trees::Rebuilt, Distances::Exact),
    ];
    let asking = Asking {
        before: 1,
        ..Asking::default()
    };
    let mut times = Plot::new(
        "Query time against how far the pieces have moved outwards.",
        "moved outwards, % of their place",
        "ms, all pairs",
    )
    .narrow();
    let mut points = Plot::new(
        "Points visited.",
        "moved outwards, % of their place",
        "points, all pairs",
    )
    .narrow();
    let mut table = Table::new("Mean over the moments; what it costs to be ready")
        .columns(Role::Plain, &["way"])
        .columns(
            Role::Ours,
            &[
                "queries, ms",
                "spheres tested",
                "points visited",
                "contacts",
                "getting ready, ms",
            ],
        );
    let mut rows = Vec::new();
    for (way, trees, distances) in ways {
        bench.stage(way);
        // Getting ready: what the update took, or building anew.
        let (built, _) = best_ms(1, || fresh.setup(trees, distances, 0.0));
        let (plain, _) = best_ms(1, || fresh.setup(Trees::Updated, Distances::Updated, 0.0));
        let ready = match (trees, distances) {
            (Trees::Updated, Distances::Updated) => fresh.times.update(),
            _ => (built - plain).max(0.0) + fresh.times.update(),
        };
        let (mut sums, mut tests, mut contacts) = ((0.0, 0.0), 0.0, 0.0);
        let (mut t, mut p) = (Vec::new(), Vec::new());
        for outward in MOMENTS {
            let (ms, work) = ask(&fresh, trees, distances, outward, &asking);
            let visited = f64::from(work.distance_queries);
            tests += f64::from(work.sphere_tests) / MOMENTS.len() as f64;
            contacts += f64::from(work.contacts) / MOMENTS.len() as f64;
            let x = f64::from(outward) * 100.0;
            t.push((x, ms));
            p.push((x, visited));
            sums = (sums.0 + ms, sums.1 + visited);
        }
        times.add(way, Mark::LineAndDots, t);
        points.add(way, Mark::LineAndDots, p);
        let n = MOMENTS.len() as f64;
        rows.push((sums.0 / n, sums.1 / n, ready));
        section.value(format!("{way}.query"), sums.0 / n);
        section.value(format!("{way}.visited"), sums.1 / n);
        section.value(format!("{way}.spheres"), tests);
        section.value(format!("{way}.contacts"), contacts);
        section.value(format!("{way}.ready"), ready);
        table.row([
            way.into(),
            (sums.0 / n).into(),
            tests.into(),
            (sums.1 / n).into(),
            contacts.into(),
            ready.into(),
        ]);
    }
    section.plot(times);
    section.plot(points);
    section.table(table);
    claim_fig15(section, &rows, fresh.shapes.len());
    Ok(())
}

/// `rows`: mean query time, points visited and time to get ready of the four ways.
fn claim_fig15(section: &mut Section, rows: &[(f64, f64, f64)], fragments: usize) {
    section.claim(
        "Glondu 2013, 7.3",
        "The updated structures cull about as well as rebuilt ones.",
        rows[0].1 < 2.0 * rows[3].1,
        format!(
            "{} points visited against {}",
            short(rows[0].1),
            short(rows[3].1)
        ),
        format!(
            "with exact distances on updated trees {}, with updated distances on rebuilt trees {}: {}",
            short(rows[1].1),
            short(rows[2].1),
            if rows[1].1 < rows[2].1 {
                "most of the rest is due to the distances"
            } else {
                "most of the rest is due to the trees"
            }
        ),
    );
    section.claim(
        "Glondu 2013, 7.3",
        "Updating is faster than building anew.",
        rows[0].2 < rows[3].2,
        format!("{} against {} ms", short(rows[0].2), short(rows[3].2)),
        format!(
            "building of {} fragments takes {} ms each",
            fragments,
            short((rows[3].2 - rows[0].2) / fragments as f64)
        ),
    );
}
