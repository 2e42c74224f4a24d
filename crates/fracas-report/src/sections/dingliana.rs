//! Dingliana 2004: errors of interrupted contacts.

use fracas_scenes::experiments::voxel_contacts::{ContactErrors, LevelErrors, contact_errors};

use fracas_rapier::FrameBudget;
use fracas_scenes::experiments::voxel_contacts_deadline::{Method, falling_rabbits};

use super::dingliana_pictures as pictures;
use crate::bench::Bench;
use crate::machine::thread_ms;
use crate::options::{Scale, Skip};
use crate::plot::{Mark, Plot};
use crate::section::{Cell, Role, Section, Table, Tone, short};

type Error = (&'static str, &'static str, fn(&LevelErrors) -> f64);

fn errors(bench: &Bench<'_>, tiny: usize, default: usize) -> ContactErrors {
    let count = bench.scale().pick(tiny, default, default * 10);
    contact_errors(count, 2004 + bench.options.seed)
}

fn draw(section: &mut Section, errors: &ContactErrors, shown: &[Error]) {
    for (name, unit, of) in shown {
        let mut plot = Plot::new(
            &format!("Mean error of the {name} by level, coarsest first."),
            "level",
            &format!("error, {unit}"),
        )
        .narrow();
        for (way, levels) in [("simple", &errors.simple), ("weighted", &errors.weighted)] {
            plot.add(
                way,
                Mark::LineAndDots,
                levels.iter().enumerate().map(|(i, l)| (i as f64, of(l))),
            );
            for (i, level) in levels.iter().enumerate() {
                section.value(format!("{way}.{name}.{i}"), of(level));
            }
        }
        section.plot(plot);
    }
    let mut table = Table::new("Simple / weighted")
        .columns(Role::Plain, &["level"])
        .columns(Role::Ours, &shown.iter().map(|s| s.0).collect::<Vec<_>>());
    for (i, (simple, weighted)) in errors.simple.iter().zip(&errors.weighted).enumerate() {
        let mut row = vec![i.to_string().into()];
        row.extend(
            shown
                .iter()
                .map(|s| format!("{} / {}", short(s.2(simple)), short(s.2(weighted))).into()),
        );
        table.rows.push(row);
    }
    section.table(table);
}

fn claims(section: &mut Section, source: &str, errors: &ContactErrors, shown: &[Error]) {
    let coarse = shown.iter().all(|(_, _, of)| {
        (1..=2).all(|level| of(&errors.weighted[level]) < of(&errors.simple[level]))
    });
    let worst = |from: &dyn Fn(fn(&LevelErrors) -> f64) -> f64| {
        let named = shown.iter().map(|(name, _, of)| (from(*of), *name));
        named.fold((0.0, ""), |a, b| if b.0 > a.0 { b } else { a })
    };
    let (above, kind) = worst(&|of| {
        let ratio = |level: usize| of(&errors.weighted[level]) / of(&errors.simple[level]);
        ratio(1).max(ratio(2))
    });
    section.claim(
        source,
        "Weighting by occupancy and interpenetration is better than plain averaging, above all at coarse levels.",
        coarse,
        format!(
            "at levels 1 and 2 the weighted error is at most {}× the simple one ({kind})",
            short(above)
        ),
        format!("the error of the {kind} is {}× the simple one", short(above)),
    );
    let last = errors.weighted.len() - 1;
    let (left, slow) = worst(&|of| of(&errors.weighted[last]) / of(&errors.weighted[1]));
    let falls = shown
        .iter()
        .all(|(_, _, of)| of(&errors.weighted[last]) < 0.6 * of(&errors.weighted[1]));
    section.claim(
        source,
        "The contact converges to the exact one with refinement.",
        falls,
        format!(
            "from level 1 to level {last} the errors fall to {}× at most ({slow})",
            short(left)
        ),
        format!(
            "the error of the {slow} falls to {}× only, where 0.6× was asked for",
            short(left)
        ),
    );
}

/// Fig. 7.
pub fn fig7(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let errors = errors(bench, 300, 1000);
    section.text(format!("{} collisions of a ball with balls and blocks, of which the true contact is known. With the corrected equations: the circumscribed radius in eq. 7, the weighted mean in eq. 10.", short(errors.collisions as f64)));
    let shown: [Error; 3] = [
        ("direction", "degrees", |l| l.direction),
        ("point", "radii", |l| l.point),
        ("product of both", "degree radii", LevelErrors::product),
    ];
    draw(section, &errors, &shown);
    claims(section, "Dingliana 2004, Fig. 7", &errors, &shown);
    Ok(())
}

/// Fig. 8.
pub fn fig8(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let errors = errors(bench, 300, 1000);
    section.text(
        "The velocities that one impulse at the contact gives, against those of the exact contact.",
    );
    let shown: [Error; 3] = [
        ("angular speed", "rad/s", |l| l.angular_speed),
        ("speed", "relative", |l| l.speed),
        ("direction of velocity", "degrees", |l| l.velocity_direction),
    ];
    draw(section, &errors, &shown);
    claims(section, "Dingliana 2004, Fig. 8", &errors, &shown);
    Ok(())
}

/// Fig. 6.
pub fn fig6(_: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.picture(
        &pictures::groups(),
        "Near-planar regions of the surface by colour: on the cubes of two levels, and mapped back on the mesh. Contacts are averaged within a region only.",
    );
    Ok(())
}

/// Fig. 9.
pub fn fig9(_: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.picture(
        &pictures::contacts(),
        "The contact of every pair of cubes in red, what is left of them in green, at three levels of detail.",
    );
    Ok(())
}

/// The deadline.
pub fn deadline(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let budgets: &[f64] = bench
        .scale()
        .pick(&[4.0], &[2.0, 4.0], &[1.0, 2.0, 4.0, 8.0]);
    if bench.scale() == Scale::Tiny {
        return Err(Skip(
            "twenty-seven rabbits are too many for a tiny report".into(),
        ));
    }
    section.text("Twenty-seven rabbits fall and break with voxel contacts that are refined as long as the budget lasts, shared by all pairs. In time: finding contacts, the engine’s own broad and narrow phase included, took at most 110 % of the budget, by processor time of the thread. Sound: nothing lost, no centre of mass below the ground at the end, nothing faster than 13 m/s (bodies arrive with 6.5).");
    let mut table = Table::new("Milliseconds a step for collision")
        .columns(Role::Plain, &["budget"])
        .columns(
            Role::Ours,
            &[
                "steps in time",
                "mean",
                "worst",
                "pairs answered fully",
                "bodies",
                "lost",
                "lowest, m",
                "fastest, m/s",
            ],
        );
    let mut worst_share: f64 = 1.0;
    let mut worst_step = (0.0, 0.0);
    let mut unsound = (0, f32::INFINITY, 0.0_f32);
    let bad = |cell: Cell, bad: bool| Cell {
        tone: if bad { Tone::Bad } else { Tone::Plain },
        ..cell
    };
    let mut sound = true;
    for &budget in budgets {
        bench.stage(format!("falling rabbits within {budget} ms"));
        let clock = || thread_ms() * 1e-3;
        let limit = FrameBudget::Milliseconds(budget);
        let found = falling_rabbits(Method::Voxels, limit, None, clock).map_err(Skip::because)?;
        if found.share() < worst_share || worst_step.1 == 0.0 {
            worst_step = (found.worst.0, budget);
        }
        worst_share = worst_share.min(found.share());
        sound &= found.sound();
        for (what, value) in [
            ("in_time", found.share()),
            ("mean", found.mean),
            ("worst", found.worst.0),
            ("lost", found.lost as f64),
            ("fastest", f64::from(found.fastest)),
        ] {
            section.value(format!("{budget}.{what}"), value);
        }
        unsound = (
            unsound.0 + found.lost,
            unsound.1.min(found.lowest_at_end),
            unsound.2.max(found.fastest),
        );
        let fully = 100.0 * found.finished as f64 / found.pairs.max(1) as f64;
        table.row([
            format!("{budget} ms").into(),
            format!("{:.1} %", 100.0 * found.share()).into(),
            found.mean.into(),
            found.worst.0.into(),
            format!("{fully:.0} %").into(),
            found.pieces.into(),
            bad(found.lost.into(), found.lost > 0),
            bad(
                f64::from(found.lowest_at_end).into(),
                found.lowest_at_end <= 0.0,
            ),
            bad(f64::from(found.fastest).into(), found.fastest >= 13.0),
        ]);
    }
    section.table(table);
    section.claim(
        "Dingliana 2004, 3.8",
        "The system is fully interruptible: real-time frame rates can be guaranteed.",
        worst_share >= 0.99 && sound,
        format!(
            "{:.1} % of the steps in time at the worst budget{}",
            100.0 * worst_share,
            if sound {
                ""
            } else {
                ", and a run is not sound: see the table"
            }
        ),
        why_late(worst_share, worst_step, (!sound).then_some(unsound)),
    );
    Ok(())
}

/// Why a run was late or not sound. `step`: the worst step and its budget, in milliseconds;
/// `unsound`: bodies lost, the lowest height at the end, the largest speed.
fn why_late(share: f64, step: (f64, f64), unsound: Option<(usize, f32, f32)>) -> String {
    let mut why = Vec::new();
    if share < 0.99 {
        why.push(format!(
            "at a budget of {} ms the worst step took {} ms: what the engine does around the refinement cannot be interrupted",
            short(step.1),
            short(step.0)
        ));
    }
    if let Some((lost, lowest, fastest)) = unsound {
        why.push(format!(
            "over all budgets {lost} bodies were lost, the lowest centre ended at {} m, the fastest body had {} m/s",
            short(f64::from(lowest)),
            short(f64::from(fastest))
        ));
    }
    why.join("; ")
}
