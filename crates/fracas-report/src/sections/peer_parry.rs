//! Fresh fragments with parry3d's shapes: what a user of Rapier has for them.

use fracas_bake::shapes;
use fracas_core::Pose;
use fracas_core::sphere_tree::SplitMethod;
use fracas_rapier::ContactMode;
use fracas_scenes::experiments::fresh::{Asking, Distances, TOLERANCE, Trees, Whole};
use fracas_scenes::experiments::rivals::{Rival, RivalPair, VERSION};

use crate::bench::Bench;
use crate::machine::{best_ms, thread_ms};
use crate::options::{Scale, Skip};
use crate::plot::{Mark, Plot};
use crate::section::{Cell, Role, Section, Table, Tone, short};

/// One way to have colliders for fragments.
struct Way {
    name: String,
    ready: f64,
    queries: f64,
    points: f64,
    /// Pairs that touch by the exact answer but have no contact here, and the reverse.
    missed: usize,
    extra: usize,
}

/// Fragments that touch exactly, in the pose they broke in.
pub fn fresh(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let (name, pieces) = if bench.scale() == Scale::Tiny {
        ("brick", 6)
    } else {
        ("rabbit", 27)
    };
    let mesh = shapes::by_name(name).expect("one of the set").build();
    let whole = Whole::new(mesh).map_err(Skip::because)?;
    let fresh = whole
        .shatter(
            pieces,
            bench.options.seed,
            SplitMethod::default(),
            &thread_ms,
        )
        .ok_or_else(|| Skip(format!("the {name} did not break")))?;
    // The truth: all points of both surfaces, exact distances.
    let full = Asking {
        mode: ContactMode::Full,
        ..Asking::default()
    };
    let mut exact = fresh.setup(Trees::Updated, Distances::Exact, 0.0);
    let pairs = exact.pairs().to_vec();
    let mut touch = vec![false; pairs.len()];
    fresh.ask_each(&mut exact, &full, |i, s| touch[i] |= s.contacts > 0);
    let touching = touch.iter().filter(|t| **t).count();
    section.text(format!(
        "The {name} in {} pieces, in the pose it broke in: {} pairs of boxes meet, {touching} pairs of fragments touch (all points, exact distances, within 0.1 % of the object’s radius). Ready: from the cut to the first query. parry3d {VERSION}.",
        fresh.shapes.len(),
        pairs.len()
    ));
    let judge = |found: &[bool]| {
        let missed = touch.iter().zip(found).filter(|(t, f)| **t && !**f).count();
        let extra = touch.iter().zip(found).filter(|(t, f)| !**t && **f).count();
        (missed, extra)
    };
    let mut ways = Vec::new();
    let mut setup = fresh.setup(Trees::Updated, Distances::Updated, 0.0);
    for (title, asking) in [
        ("fracas, self-adapting", Asking::default()),
        ("fracas, all contacts", full),
    ] {
        bench.stage(title);
        let (queries, stats) = best_ms(3, || fresh.ask(&mut setup, &asking));
        let mut found = vec![false; pairs.len()];
        fresh.ask_each(&mut setup, &asking, |i, s| found[i] |= s.contacts > 0);
        let (missed, extra) = judge(&found);
        ways.push(Way {
            name: title.into(),
            ready: fresh.times.update(),
            queries,
            points: f64::from(stats.contacts),
            missed,
            extra,
        });
    }
    let prediction = TOLERANCE * fresh.shapes[0].tree().object_radius();
    // Rivals are made of surfaces: not in their time.
    fresh.shapes.iter().for_each(|s| {
        let _ = s.surface();
    });
    for rival in [Rival::TriMesh, Rival::Vhacd, Rival::Hull] {
        bench.stage(rival.name());
        let (ready, built) = best_ms(1, || {
            let shapes = fresh.shapes.iter();
            shapes.map(|s| rival.build(s.surface())).collect::<Vec<_>>()
        });
        let mut found = vec![false; pairs.len()];
        let (queries, points) = best_ms(1, || {
            let mut all = 0;
            for (i, &(a, b)) in pairs.iter().enumerate() {
                if let (Some(a), Some(b)) = (&built[a], &built[b]) {
                    let count = RivalPair::default().contacts(a, b, &Pose::IDENTITY, prediction);
                    found[i] = count > 0;
                    all += count;
                }
            }
            all
        });
        let (missed, extra) = judge(&found);
        ways.push(Way {
            name: rival.name().into(),
            ready,
            queries,
            points: points as f64,
            missed,
            extra,
        });
    }
    write(section, &ways);
    Ok(())
}

fn write(section: &mut Section, ways: &[Way]) {
    let mut table = Table::new("First frame after the break, processor time of one thread")
        .columns(Role::Plain, &["shape"])
        .columns(
            Role::Peer,
            &[
                "ready, ms",
                "queries, ms",
                "contacts",
                "pairs missed",
                "pairs that do not touch",
            ],
        );
    for way in ways {
        let count = |n: usize| {
            let mut cell = Cell::from(n);
            if n > 0 {
                cell.tone = Tone::Bad;
            }
            cell
        };
        table.row([
            way.name.as_str().into(),
            way.ready.into(),
            way.queries.into(),
            way.points.into(),
            count(way.missed),
            count(way.extra),
        ]);
        section.value(format!("{}.ready", way.name), way.ready);
        section.value(format!("{}.queries", way.name), way.queries);
        section.value(format!("{}.contacts", way.name), way.points);
        section.value(format!("{}.missed", way.name), way.missed as f64);
    }
    section.table(table);
    let mut plot = Plot::new(
        "Getting ready and asking once, the frame of the break.",
        "",
        "ms",
    )
    .log(false, true);
    plot.names = ways.iter().map(|w| w.name.clone()).collect();
    let numbered = |of: fn(&Way) -> f64| {
        let points = ways.iter().enumerate().map(|(i, w)| (i as f64, of(w)));
        points.collect::<Vec<_>>()
    };
    plot.add("ready", Mark::Bars, numbered(|w| w.ready));
    plot.add("queries", Mark::Bars, numbered(|w| w.queries));
    section.plot(plot);
    let (ours, mesh) = (&ways[0], &ways[2]);
    section.text(format!(
        "Against TriMesh, the only one of the three that keeps concave shapes as they are: ready and asked in {} ms against {} ms, with {} contacts against {}. A hull fills every hollow: fragments that only touch overlap deeply by it.",
        short(ours.ready + ours.queries),
        short(mesh.ready + mesh.queries),
        short(ours.points),
        short(mesh.points)
    ));
}
