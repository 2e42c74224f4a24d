//! Glondu 2013, Fig. 16: penetration and visited points against the number of
//! contacts allowed. The one long sweep: tasks are numbered, so it can be cut.

use fracas_scenes::experiments::drops::{DropSettings, Drops, LENGTH_UNIT};

use crate::bench::Bench;
use crate::options::{Options, Scale, Skip};
use crate::plot::{Mark, Plot};
use crate::section::{Role, Section, Table, count};
use crate::shards::{Shard, Tally};

/// Numbers of contacts that are tried.
fn allowed(scale: Scale) -> Vec<u32> {
    match scale {
        Scale::Tiny => vec![2, 8],
        Scale::Default => vec![2, 3, 4, 6, 8, 12, 20, 32, 50],
        Scale::Full => (2..=50).collect(),
    }
}

/// Drops for each number.
fn drops(scale: Scale) -> u64 {
    scale.pick(4, 24, 10_000)
}

fn setup(scale: Scale) -> Drops {
    let settings = DropSettings::default();
    let made = if scale == Scale::Tiny {
        Drops::coarse(0.45, settings)
    } else {
        Drops::new(settings)
    };
    made.expect("plate and bowl have a field and a tree")
}

/// Does the tasks of a shard: task t is drop `t / n` with the `t % n`-th number.
pub fn measure(bench: &Bench<'_>, shard: Shard) -> Tally {
    let scale = bench.scale();
    let numbers = allowed(scale);
    let count = numbers.len() as u64;
    let tasks: Vec<u64> = shard.tasks(count * drops(scale)).collect();
    bench.stage(format!("{} drops", tasks.len()));
    let drops = setup(scale);
    let seed = bench.options.seed;
    let results = bench.parallel(tasks.len(), |i| {
        let number = numbers[(tasks[i] % count) as usize];
        // The same drops for every number, so that only the number differs.
        (
            number,
            drops.run(number, seed.wrapping_add(tasks[i] / count)),
        )
    });
    let mut tally = Tally::default();
    for (number, r) in results {
        let squared = r.depth * r.depth;
        tally.add(
            number,
            &[
                1, r.depth, squared, r.deepest, r.visited, r.contacts, r.steps,
            ],
        );
    }
    tally
}

/// Measures all and writes.
pub fn run(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let tally = measure(bench, Shard::WHOLE);
    write(bench.options, &tally, section);
    Ok(())
}

struct Point {
    allowed: f64,
    drops: f64,
    /// In millimetres.
    depth: f64,
    /// Standard error of the mean.
    error: f64,
    deepest: f64,
    visited: f64,
    contacts: f64,
}

fn points(tally: &Tally) -> Vec<Point> {
    let whole = tally.0.iter().filter(|(_, s)| s.len() == 7 && s[0] > 0);
    whole
        .map(|(&allowed, sums)| {
            let [n, depth, squares, deepest, visited, contacts, steps] =
                [0, 1, 2, 3, 4, 5, 6].map(|i| sums[i] as f64);
            let mean = depth / n;
            let variance = (squares / n - mean * mean).max(0.0);
            let mm = LENGTH_UNIT * 1e3;
            Point {
                allowed: f64::from(allowed),
                drops: n,
                depth: mean * mm,
                error: (variance / n).sqrt() * mm,
                deepest: deepest / n * mm,
                visited: visited / steps.max(1.0),
                contacts: contacts / steps.max(1.0),
            }
        })
        .collect()
}

/// Writes the section from the sums.
pub fn write(_: &Options, tally: &Tally, section: &mut Section) {
    let points = points(tally);
    let drops = points.first().map_or(0.0, |p| p.drops);
    section.text(format!(
        "A plate of 5,664 triangles falls into a bowl with random velocities, {} drops for each number of allowed contacts (the paper: 10,000 for each number from 2 to 50; `--full` does the same, `--shard I/N` a part of it). The same drops for every number. Penetration is measured with all points, at every fifth step in which the two touch. The number holds for each of the two directions in which a pair is asked.",
        count(drops)
    ));
    let curve = |of: fn(&Point) -> f64| {
        let points: Vec<(f64, f64)> = points.iter().map(|p| (p.allowed, of(p))).collect();
        points
    };
    let mut plot = Plot::new(
        "Penetration against allowed contacts, mean over drops: mean depth of all points inside, and the deepest.",
        "contacts allowed",
        "penetration, mm",
    )
    .narrow();
    plot.add("mean depth", Mark::LineAndDots, curve(|p| p.depth));
    plot.add("deepest point", Mark::LineAndDots, curve(|p| p.deepest));
    section.plot(plot);
    let mut plot = Plot::new(
        "Points visited, and contacts that reach the solver, per step in contact.",
        "contacts allowed",
        "per step",
    )
    .narrow();
    plot.add("points visited", Mark::LineAndDots, curve(|p| p.visited));
    plot.add("contacts", Mark::LineAndDots, curve(|p| p.contacts));
    section.plot(plot);
    let heads = [
        "mean depth, mm",
        "deepest, mm",
        "visited a step",
        "contacts a step",
        "drops",
    ];
    let mut table = Table::new("The same in numbers (± standard error of the mean)")
        .columns(Role::Plain, &["allowed"])
        .columns(Role::Ours, &heads);
    for p in &points {
        table.row([
            format!("{}", p.allowed).into(),
            format!("{:.4} ± {:.4}", p.depth, p.error).into(),
            format!("{:.4}", p.deepest).into(),
            p.visited.into(),
            p.contacts.into(),
            count(p.drops).into(),
        ]);
        section.value(format!("depth_mm.{}", p.allowed), p.depth);
        section.value(format!("deepest_mm.{}", p.allowed), p.deepest);
        section.value(format!("visited.{}", p.allowed), p.visited);
        section.value(format!("drops.{}", p.allowed), p.drops);
    }
    section.table(table);
    let at = |n: f64| points.iter().find(|p| p.allowed == n);
    let (Some(two), Some(eight)) = (at(2.0), at(8.0)) else {
        return;
    };
    section.claim(
        "Glondu 2013, 7.4",
        "Penetration drops quickly from 2 to 8 contacts.",
        eight.depth < 0.8 * two.depth,
        format!("{:.4} mm with 2, {:.4} mm with 8", two.depth, eight.depth),
        format!(
            "the fall is {:.0} %, less than a fifth, with a standard error of {:.0} %; the deepest point falls from {:.4} to {:.4} mm",
            100.0 * (1.0 - eight.depth / two.depth),
            100.0 * (eight.error + two.error) / two.depth,
            two.deepest,
            eight.deepest
        ),
    );
    if let Some(most) = at(50.0) {
        let later = eight.depth - most.depth;
        section.claim(
            "Glondu 2013, 7.4",
            "More than 8 contacts barely improve it.",
            later < 0.5 * (two.depth - eight.depth).max(0.0)
                || later.abs() < 2.0 * (eight.error + most.error),
            format!("{:.4} mm with 8, {:.4} mm with 50", eight.depth, most.depth),
            format!(
                "the fall from 8 to 50 is {:.4} mm, from 2 to 8 {:.4} mm; standard errors {:.4} and {:.4} mm",
                later,
                two.depth - eight.depth,
                eight.error,
                most.error
            ),
        );
    }
}
