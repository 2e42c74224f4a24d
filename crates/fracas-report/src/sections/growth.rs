//! How cost grows with triangles, tetrahedra, fragments, pairs and contacts.

use fracas_bake::shapes;
use fracas_core::sphere_tree::SplitMethod;
use fracas_core::testing::box_grid;
use fracas_fastcd::{Contacts, FastBvh, Scratch, Settings};
use fracas_scenes::experiments::fresh::{Asking, Distances, Trees, Whole};
use fracas_scenes::sequences::ripple::ripple;
use glam::Vec3;

use crate::bench::Bench;
use crate::fit::{growth_exponent, power_law};
use crate::machine::{best_ms, thread_ms};
use crate::options::{Scale, Skip};
use crate::plot::{Mark, Plot};
use crate::section::{Role, Section, Table, short};

/// One cost over one size.
struct Growth {
    what: &'static str,
    over: &'static str,
    points: Vec<(f64, f64)>,
}

/// All of them.
pub fn all(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let mut found = Vec::new();
    update(bench, &mut found)?;
    fresh(bench, &mut found)?;
    triangles(bench, &mut found)?;
    let mut table = Table::new("Cost over size: exponent, and the largest case")
        .columns(Role::Plain, &["cost", "over"])
        .columns(Role::Ours, &["exponent", "largest size", "its time, ms"]);
    for growth in &found {
        let exponent = growth_exponent(&growth.points);
        let (size, ms) = growth.points.last().copied().unwrap_or((0.0, 0.0));
        section.value(format!("{} over {}", growth.what, growth.over), exponent);
        table.row([
            growth.what.into(),
            growth.over.into(),
            format!("{exponent:.2}").into(),
            short(size).into(),
            ms.into(),
        ]);
    }
    let mut names: Vec<&str> = found.iter().map(|g| g.over).collect();
    names.dedup();
    for over in names {
        let mut plot = Plot::new(&format!("Over {over}"), over, "ms")
            .log(true, true)
            .narrow();
        for (i, growth) in found.iter().filter(|g| g.over == over).enumerate() {
            plot.add(growth.what, Mark::Dots, growth.points.clone())
                .colour = i;
            let exponent = growth_exponent(&growth.points);
            let name = format!("power {exponent:.2}");
            let fitted = plot.add(&name, Mark::Line, power_law(&growth.points));
            (fitted.colour, fitted.dashed) = (i, true);
        }
        section.plot(plot);
    }
    section.table(table);
    section.text("An exponent of one means: in proportion. Breaking and updating are measured with as many pieces in proportion; queries of fresh fragments with one object in more and more pieces.");
    Ok(())
}

/// Cutting and updating boxes, a piece per some thousand tetrahedra.
fn update(bench: &Bench<'_>, found: &mut Vec<Growth>) -> Result<(), Skip> {
    let sides: &[u32] = bench
        .scale()
        .pick(&[6, 9, 12], &[10, 16, 24, 36], &[10, 16, 24, 36, 55]);
    let (mut cut, mut updated) = (Vec::new(), Vec::new());
    for &side in sides {
        bench.stage(format!("a box of {side}³ cells"));
        let whole =
            Whole::new(box_grid([side; 3], Vec3::splat(side as f32))).map_err(Skip::because)?;
        let pieces = (side * side * side / 500).max(2);
        let mut best = [f64::INFINITY; 2];
        for _ in 0..bench.scale().pick(1, 3, 5) {
            let fresh = whole.shatter(pieces, 3, SplitMethod::default(), &thread_ms);
            let times = fresh
                .ok_or_else(|| Skip("a box did not break".into()))?
                .times;
            best = [
                best[0].min(times.cut_and_masses()),
                best[1].min(times.update()),
            ];
        }
        let tets = whole.mesh().tets().len() as f64;
        cut.push((tets, best[0]));
        updated.push((tets, best[1]));
    }
    for (what, points) in [
        ("cutting, masses", cut),
        ("update of field and trees", updated),
    ] {
        found.push(Growth {
            what,
            over: "tetrahedra",
            points,
        });
    }
    Ok(())
}

/// Queries of one object in more and more pieces.
fn fresh(bench: &Bench<'_>, found: &mut Vec<Growth>) -> Result<(), Skip> {
    let (name, counts): (_, &[u32]) = if bench.scale() == Scale::Tiny {
        ("brick", &[3, 6, 12])
    } else {
        ("rabbit", &[4, 8, 16, 32, 64])
    };
    let mesh = shapes::by_name(name).expect("one of the set").build();
    let whole = Whole::new(mesh).map_err(Skip::because)?;
    let mut by: [Vec<(f64, f64)>; 3] = Default::default();
    for &count in counts {
        bench.stage(format!("{name} in {count} pieces"));
        let fresh = whole
            .shatter(count, 5, SplitMethod::default(), &thread_ms)
            .ok_or_else(|| Skip(format!("the {name} did not break")))?;
        let mut setup = fresh.setup(Trees::Updated, Distances::Updated, 0.0);
        let (ms, stats) = best_ms(2, || fresh.ask(&mut setup, &Asking::default()));
        for (list, size) in by.iter_mut().zip([
            fresh.shapes.len() as f64,
            setup.pairs().len() as f64,
            f64::from(stats.contacts),
        ]) {
            list.push((size, ms));
        }
    }
    for (over, points) in ["fragments", "pairs", "contacts"].into_iter().zip(by) {
        found.push(Growth {
            what: "first queries of fresh fragments",
            over,
            points,
        });
    }
    Ok(())
}

/// Continuous detection on a rippling sheet.
fn triangles(bench: &Bench<'_>, found: &mut Vec<Growth>) -> Result<(), Skip> {
    let sides: &[u32] =
        bench
            .scale()
            .pick(&[20, 30, 40], &[38, 76, 152, 304], &[38, 76, 152, 304, 608]);
    let (mut updates, mut queries) = (Vec::new(), Vec::new());
    for &side in sides {
        bench.stage(format!("a sheet of {side}² quads"));
        let (start, end, triangles) = ripple(side);
        let mut scene = FastBvh::new(Settings::default());
        let body = scene.add(&start, &triangles).map_err(Skip::because)?;
        scene.update();
        let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
        let mut best = [f64::INFINITY; 2];
        for _ in 0..2 {
            scene.move_vertices(body, &start).map_err(Skip::because)?;
            scene.update();
            let (update, moved) = best_ms(1, || {
                let moved = scene.move_vertices(body, &end);
                scene.update();
                moved
            });
            moved.map_err(Skip::because)?;
            let (query, _) = best_ms(1, || scene.contacts(&mut scratch, &mut contacts));
            best = [best[0].min(update), best[1].min(query)];
        }
        let count = triangles.len() as f64;
        updates.push((count, best[0]));
        queries.push((count, best[1]));
    }
    for (what, points) in [
        ("box tree: moving and updating", updates),
        ("box tree: continuous detection", queries),
    ] {
        found.push(Growth {
            what,
            over: "triangles",
            points,
        });
    }
    Ok(())
}
