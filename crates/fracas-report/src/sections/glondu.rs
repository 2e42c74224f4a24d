//! Glondu 2013: objects, scenes, and everything that is read off their runs.

use std::rc::Rc;

use fracas_bake::shapes::{self, Counts};
use fracas_core::sphere_tree::{SplitMethod, Traversal};
use fracas_picture::{Quality, Sheet};
use fracas_rapier::{ContactMode, StepStats};
use fracas_scenes::recording::Summary;
use fracas_scenes::rigid::SceneOptions;

use crate::bench::Bench;
use crate::fit;
use crate::options::{Scale, Skip};
use crate::plot::{Mark, Plot};
use crate::scene_runs::{SceneRun, scenes};
use crate::section::{Cell, Role, Section, Table, count, mean_max, short};
use crate::stills;

fn options(bench: &Bench<'_>) -> SceneOptions {
    SceneOptions {
        seed: bench.options.seed,
        detail: bench.scale().pick(0.5, 1.0, 1.0),
        ..SceneOptions::default()
    }
}

/// Table 1.
pub fn table1(_: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.text("Objects are generated in code, aimed at the paper’s counts (docs/architecture.md says how). A closed brick of 468 triangles needs 236 vertices; the paper’s 224 cannot be.");
    let mut table = Table::new("Triangles, tetrahedra and points")
        .columns(Role::Plain, &["object"])
        .columns(Role::Ours, &["triangles", "tetrahedra", "points"])
        .columns(Role::Paper, &["triangles", "tetrahedra", "points"])
        .columns(Role::Ours, &["furthest off"]);
    let mut worst: f64 = 0.0;
    for shape in &shapes::ALL {
        let Some(paper) = shape.paper() else { continue };
        let ours = Counts::of(&shape.build());
        let off = [
            (ours.triangles, paper.triangles),
            (ours.tets, paper.tets),
            (ours.points, paper.points),
        ]
        .iter()
        .map(|&(a, b)| (a as f64 / b as f64 - 1.0).abs())
        .fold(0.0, f64::max);
        worst = worst.max(off);
        let name = shape.name();
        section.value(format!("{name}.triangles"), ours.triangles as f64);
        section.value(format!("{name}.tets"), ours.tets as f64);
        section.value(format!("{name}.points"), ours.points as f64);
        table.row([
            name.into(),
            ours.triangles.into(),
            ours.tets.into(),
            ours.points.into(),
            paper.triangles.into(),
            paper.tets.into(),
            paper.points.into(),
            format!("{:.0} %", 100.0 * off).into(),
        ]);
    }
    section.value("furthest_off", worst);
    section.table(table);
    Ok(())
}

/// Table 2.
pub fn table2(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.text("Self-adapting contact selection in every scene. Contacts are those put out by our queries; all colliding points are counted from outside, by full detection in the state that each tenth step ended in. The paper’s triangles of the bunnies are corrected to 27 × 7,940 (it prints their points).");
    let mut table = Table::new("Before and after; contacts as mean (max) over the steps")
        .columns(Role::Plain, &["scene"])
        .columns(
            Role::Ours,
            &["triangles", "fragments", "contacts", "colliding points"],
        )
        .columns(
            Role::Paper,
            &["triangles", "fragments", "contacts", "colliding points"],
        );
    for paper in scenes(bench.scale()) {
        let run = bench.run(paper.name, options(bench))?;
        let (before, after) = run.triangles();
        let output = run.summary(|s| s.contacts as f64);
        let colliding = run.colliding_points();
        let name = paper.name;
        section.value(format!("{name}.contacts.mean"), output.mean);
        section.value(format!("{name}.contacts.max"), output.max);
        section.value(format!("{name}.colliding.mean"), colliding.mean);
        section.value(format!("{name}.colliding.max"), colliding.max);
        section.value(format!("{name}.fragments"), run.fragments() as f64);
        section.value(format!("{name}.triangles.before"), before as f64);
        section.value(format!("{name}.triangles.after"), after as f64);
        table.row([
            paper.title.into(),
            format!("{} / {}", short(before as f64), short(after as f64)).into(),
            run.fragments().into(),
            mean_max(output.mean, output.max).into(),
            mean_max(colliding.mean, colliding.max).into(),
            format!(
                "{} / {}",
                short(paper.triangles[0]),
                short(paper.triangles[1])
            )
            .into(),
            count(paper.fragments).into(),
            mean_max(paper.output[0], paper.output[1]).into(),
            paper
                .colliding
                .map_or_else(|| "not measured".into(), |[a, b]| mean_max(a, b))
                .into(),
        ]);
        if let Some([theirs, _]) = paper.colliding {
            section.claim(
                "Glondu 2013, Table 2",
                &format!(
                    "{}: self-adapting detection puts out a fraction of the colliding points.",
                    paper.title
                ),
                output.mean < colliding.mean,
                format!(
                    "{} of {} in the mean; the paper {} of {}",
                    short(output.mean),
                    short(colliding.mean),
                    short(paper.output[0]),
                    short(theirs)
                ),
                {
                    let pairs = run.summary(|s| s.pairs as f64).mean;
                    format!(
                        "{} pairs a step: {} contacts and {} colliding points a pair, and up to eight are put out in each of two directions before anything is left out",
                        short(pairs),
                        short(output.mean / pairs),
                        short(colliding.mean / pairs)
                    )
                },
            );
        }
    }
    section.table(table);
    Ok(())
}

/// Table 3.
pub fn table3(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.text("Processor times of the one thread that works, by the world’s own timers; nothing sleeps, as in the paper. Green: not slower than the paper’s machine of 2013; compare with care.");
    let mut table =
        Table::new("Milliseconds a step: mean (max); update and fracture: largest, at breaks only")
            .columns(Role::Plain, &["scene", "step"])
            .columns(
                Role::Ours,
                &["total", "collision", "physics", "update", "fracture"],
            )
            .columns(
                Role::Paper,
                &["total", "collision", "physics", "update", "fracture"],
            );
    for paper in scenes(bench.scale()) {
        let run = bench.run(paper.name, options(bench))?;
        let ours = [
            run.summary(|s| s.times.total),
            run.summary(|s| s.times.collision),
            run.summary(|s| s.times.physics),
        ];
        let breaks = [
            run.at_breaks(|s| s.times.update).max,
            run.at_breaks(|s| s.times.fracture).max,
        ];
        let name = paper.name;
        for (what, s) in ["total", "collision", "physics"].iter().zip(&ours) {
            section.value(format!("{name}.{what}.mean"), s.mean);
            section.value(format!("{name}.{what}.p99"), s.p99);
            section.value(format!("{name}.{what}.max"), s.max);
        }
        section.value(format!("{name}.update.max"), breaks[0]);
        section.value(format!("{name}.fracture.max"), breaks[1]);
        let mut row: Vec<Cell> = vec![
            paper.title.into(),
            format!("{:.0} ms", f64::from(run.recording.step) * 1e3).into(),
        ];
        let times = [paper.total, paper.collision, paper.physics];
        let at_breaks = [paper.update, paper.fracture];
        for (s, theirs) in ours.iter().zip(&times) {
            row.push(Cell::from(mean_max(s.mean, s.max)).at_most(s.mean, theirs[0]));
        }
        for (ms, theirs) in breaks.iter().zip(&at_breaks) {
            row.push(Cell::from(*ms).at_most(*ms, *theirs));
        }
        row.extend(times.iter().map(|[a, b]| Cell::from(mean_max(*a, *b))));
        row.extend(at_breaks.iter().map(|&ms| Cell::from(ms)));
        table.rows.push(row);
    }
    section.table(table);
    section.text("The steps right after a break are the expensive ones: all crack faces lie in parallel contact. Fig. 12 shows them over the run, Fig. 15 what they consist of.");
    Ok(())
}

/// Figs. 1, 9, 10, 13, 14.
pub fn stills(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let (size, quality) = if bench.scale() == Scale::Tiny {
        ([120, 90], Quality::Draft)
    } else {
        ([300, 240], Quality::Fine)
    };
    for paper in scenes(bench.scale()) {
        let run = bench.run(paper.name, options(bench))?;
        bench.stage(format!("{}: pictures", paper.name));
        let mut sheet = Sheet::new(3);
        for after in stills::moments(&run.recording, 3) {
            let seconds = after as f32 * run.recording.step;
            let bodies = run.recording.at(after).count();
            let picture = stills::still(&run.scene, &run.recording, after, size, quality);
            let plural = if bodies == 1 { "body" } else { "bodies" };
            sheet.add(picture, format!("{seconds:.2} s\n{bodies} {plural}"));
        }
        section.picture(
            &sheet.image(),
            format!(
                "{}: `cargo run --release -- run {}`",
                paper.title, paper.name
            ),
        );
    }
    Ok(())
}

/// Fig. 5.
pub fn fig5(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let adaptive = bench.run("rolling-plate", options(bench))?;
    let full = bench.run(
        "rolling-plate",
        SceneOptions {
            contacts: ContactMode::Full,
            ..options(bench)
        },
    )?;
    section.text("A plate rolls on the ground until it lies. The paper: up to 6 contacts with self-adapting, up to 128 with full detection, for a plate of 5,392 triangles.");
    let mut plot = Plot::new("Contacts over time", "time, s", "contacts").log(false, true);
    plot.add(
        "full detection",
        Mark::Line,
        full.curve(|s| s.contacts as f64),
    );
    plot.add(
        "self-adapting",
        Mark::Line,
        adaptive.curve(|s| s.contacts as f64),
    );
    plot.levels = vec![
        ("paper, full: 128 at most".into(), 128.0),
        ("paper, self-adapting: 6 at most".into(), 6.0),
    ];
    section.plot(plot);
    let contacts = |run: &SceneRun| run.summary(|s| s.contacts as f64);
    let (a, f) = (contacts(&adaptive), contacts(&full));
    section.value("adaptive.mean", a.mean);
    section.value("adaptive.max", a.max);
    section.value("full.mean", f.mean);
    section.value("full.max", f.max);
    section.claim(
        "Glondu 2013, Fig. 5",
        "Self-adapting detection needs a small part of the contacts of full detection.",
        a.mean < 0.5 * f.mean,
        format!(
            "mean (max): {} against {}",
            mean_max(a.mean, a.max),
            mean_max(f.mean, f.max)
        ),
        format!(
            "full detection finds {} at most here, 128 in the paper; up to eight are kept in each direction",
            short(f.max)
        ),
    );
    Ok(())
}

/// Fig. 6.
pub fn fig6(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let new = bench.run("blocks", options(bench))?;
    let naive = bench.run(
        "blocks",
        SceneOptions {
            restructuring: SplitMethod::Naive,
            traversal: Traversal::Naive,
            ..options(bench)
        },
    )?;
    section.text("Broken blocks on the ground, self-adapting detection. The paper shows by picture that the naive tree and queue need many more contacts for the same hold.");
    let mut plot = Plot::new("Contacts over time", "time, s", "contacts");
    plot.add(
        "naive restructuring and queue",
        Mark::Line,
        naive.curve(|s| s.contacts as f64),
    );
    plot.add(
        "maximum-distance restructuring and traversal",
        Mark::Line,
        new.curve(|s| s.contacts as f64),
    );
    section.plot(plot);
    let depth = |run: &SceneRun| Summary::of(run.colliding.iter().map(|c| c.1.deepest * 1e3));
    let mut table = Table::new("Over the run")
        .columns(Role::Plain, &["tree and traversal"])
        .columns(
            Role::Ours,
            &[
                "contacts, mean (max)",
                "points visited, mean",
                "deepest point, mm, mean (max)",
            ],
        );
    for (name, run) in [("maximum distance", &new), ("naive", &naive)] {
        let (c, d) = (run.summary(|s| s.contacts as f64), depth(run));
        let visited = run.summary(|s| s.visited_points as f64).mean;
        section.value(format!("{name}.contacts.mean"), c.mean);
        section.value(format!("{name}.deepest_mm.mean"), d.mean);
        table.row([
            name.into(),
            mean_max(c.mean, c.max).into(),
            visited.into(),
            mean_max(d.mean, d.max).into(),
        ]);
    }
    section.table(table);
    let (a, b) = (
        new.summary(|s| s.contacts as f64).mean,
        naive.summary(|s| s.contacts as f64).mean,
    );
    section.claim(
        "Glondu 2013, Fig. 6",
        "The response is robust with fewer contacts than with the naive tree and queue.",
        a < b && depth(&new).mean <= 1.1 * depth(&naive).mean,
        format!("{} contacts against {} in the mean", short(a), short(b)),
        format!(
            "the deepest point lies {} mm deep in the mean against {} mm with the naive ones, which visit {} points a step against {}",
            short(depth(&new).mean),
            short(depth(&naive).mean),
            short(naive.summary(|s| s.visited_points as f64).mean),
            short(new.summary(|s| s.visited_points as f64).mean)
        ),
    );
    Ok(())
}

/// Fig. 12.
pub fn fig12(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.text("Red lines mark steps in which something broke. The paper’s observation: collision detection has no noticeable spikes at fractures, fracture computation has.");
    let shown: Vec<_> = scenes(bench.scale())
        .into_iter()
        .filter(|p| p.name == "drop-bunnies" || p.name == "bricks")
        .collect();
    for paper in &shown {
        let run = bench.run(paper.name, options(bench))?;
        let mut counts = Plot::new(&format!("{}: counts", paper.title), "time, s", "per step")
            .log(false, true)
            .narrow();
        counts.moments = run.moments();
        counts
            .add("colliding points", Mark::Line, run.colliding_curve())
            .colour = 5;
        counts
            .add(
                "contacts put out",
                Mark::Line,
                run.curve(|s| s.contacts as f64),
            )
            .colour = 2;
        counts
            .add("pairs", Mark::Line, run.curve(|s| s.pairs as f64))
            .colour = 0;
        section.plot(counts);
        let mut times = Plot::new(&format!("{}: times", paper.title), "time, s", "ms per step")
            .log(false, true)
            .narrow();
        times.moments = run.moments();
        times
            .add("total", Mark::Line, run.curve(|s| s.times.total))
            .colour = 0;
        times
            .add("collision", Mark::Line, run.curve(|s| s.times.collision))
            .colour = 5;
        times
            .add("fracture", Mark::Line, run.curve(|s| s.times.fracture))
            .colour = 2;
        times
            .add("physics", Mark::Line, run.curve(|s| s.times.physics))
            .colour = 6;
        section.plot(times);
        spikes(section, paper.name, paper.title, &run);
    }
    Ok(())
}

/// Whether collision costs more in the steps after a break than shortly before.
fn spikes(section: &mut Section, name: &str, title: &str, run: &Rc<SceneRun>) {
    let steps = &run.recording.steps;
    let over_later = |of: &dyn Fn(&StepStats) -> f64| {
        let window = |from: usize, to: usize| {
            let part = &steps[from.min(steps.len())..to.min(steps.len())];
            fit::median(part.iter().map(of).collect())
        };
        let mut ratios = Vec::new();
        for &at in &run.recording.breaks {
            let at = at as usize;
            // The break happens at the end of its step: the next one meets the cracks.
            let (after, later) = (window(at + 1, at + 4), window(at + 10, at + 30));
            if after.is_finite() && later > 0.0 {
                ratios.push(after / later);
            }
        }
        fit::median(ratios)
    };
    let ratio = over_later(&|s| s.times.collision);
    section.value(format!("{name}.spike"), ratio);
    section.claim(
        "Glondu 2013, 7.1",
        &format!("{title}: collision detection suffers no noticeable spikes at fracture events."),
        ratio <= 1.5,
        format!(
            "the three steps after a break cost {}× the collision time of 10 to 30 steps later (median over the breaks)",
            short(ratio)
        ),
        format!(
            "fresh crack faces lie in parallel contact: those steps visit {}× the points, find {}× the contacts and ask {}× the pairs",
            short(over_later(&|s| s.visited_points as f64)),
            short(over_later(&|s| s.contacts as f64)),
            short(over_later(&|s| s.pairs as f64))
        ),
    );
}

/// Fig. 17.
pub fn fig17(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let scene = if bench.scale() == Scale::Tiny {
        "bricks"
    } else {
        "drop-bunnies"
    };
    let base = options(bench);
    let variants = [
        (
            "new restructuring and traversal",
            base,
            Some([866.0, 2393.0]),
        ),
        (
            "naive restructuring and traversal",
            SceneOptions {
                restructuring: SplitMethod::Naive,
                traversal: Traversal::Naive,
                ..base
            },
            Some([1235.0, 3245.0]),
        ),
        (
            "fixed: 8 contacts",
            SceneOptions {
                contacts: ContactMode::Fixed(8),
                ..base
            },
            Some([755.0, 1974.0]),
        ),
    ];
    section.text(format!("The scene `{scene}` with other trees, queues and selection. The paper: naive 1,235 contacts in the mean, new 866, fixed eight 755."));
    let mut plot = Plot::new("Total time over the run", "time, s", "ms per step").log(false, true);
    let mut table = Table::new("Mean (max) over the steps")
        .columns(Role::Plain, &["variant"])
        .columns(
            Role::Ours,
            &[
                "contacts",
                "points visited, mean",
                "total, ms",
                "deepest point, mm",
            ],
        )
        .columns(Role::Paper, &["contacts"]);
    let mut means = Vec::new();
    for (name, options, paper) in variants {
        let run = bench.run(scene, options)?;
        plot.add(name, Mark::Line, run.curve(|s| s.times.total));
        let (c, t) = (
            run.summary(|s| s.contacts as f64),
            run.summary(|s| s.times.total),
        );
        let depth = Summary::of(run.colliding.iter().map(|c| c.1.deepest * 1e3));
        let visited = run.summary(|s| s.visited_points as f64).mean;
        section.value(format!("{name}.contacts.mean"), c.mean);
        section.value(format!("{name}.contacts.max"), c.max);
        section.value(format!("{name}.total.mean"), t.mean);
        section.value(format!("{name}.visited.mean"), visited);
        table.row([
            name.into(),
            mean_max(c.mean, c.max).into(),
            visited.into(),
            mean_max(t.mean, t.max).into(),
            mean_max(depth.mean, depth.max).into(),
            paper.map_or("–".into(), |[a, b]| mean_max(a, b)).into(),
        ]);
        means.push((c.mean, t.mean, visited, depth.mean));
    }
    section.plot(plot);
    section.table(table);
    claim_fig17(section, &means);
    Ok(())
}

/// `means`: contacts, total time, points visited and deepest point of each variant.
fn claim_fig17(section: &mut Section, means: &[(f64, f64, f64, f64)]) {
    section.claim(
        "Glondu 2013, 7.4",
        "The new restructuring and traversal need fewer contacts and less time than the naive ones.",
        means[0].0 < means[1].0 && means[0].1 < means[1].1,
        format!(
            "{} against {} contacts, {} against {} ms",
            short(means[0].0),
            short(means[1].0),
            short(means[0].1),
            short(means[1].1)
        ),
        format!(
            "{} points visited a step against {}, at a mean deepest point of {} against {} mm",
            short(means[0].2),
            short(means[1].2),
            short(means[0].3),
            short(means[1].3)
        ),
    );
    section.claim(
        "Glondu 2013, 7.4",
        "A fixed number of 8 contacts costs less still.",
        means[2].1 <= means[0].1,
        format!("{} against {} ms", short(means[2].1), short(means[0].1)),
        format!(
            "a fixed query, which has no second stage with a negative tolerance, visits {} points a step, a self-adapting one {}; the deepest points lie {} against {} mm deep",
            short(means[2].2),
            short(means[0].2),
            short(means[2].3),
            short(means[0].3)
        ),
    );
}
