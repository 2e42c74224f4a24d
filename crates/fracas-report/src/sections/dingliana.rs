//! Dingliana 2004: errors of interrupted contacts.

use fracas_scenes::experiments::voxel_contacts::{ContactErrors, LevelErrors, contact_errors};

use crate::bench::{Bench, Skip};
use crate::plot::{Mark, Plot};
use crate::section::{Role, Section, Table, short};

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
    section.claim(
        source,
        "Weighting by occupancy and interpenetration is better than plain averaging, above all at coarse levels.",
        coarse,
        "levels 1 and 2, all errors of the table",
        "not for every kind of error at every coarse level",
    );
    let last = errors.weighted.len() - 1;
    let falls = shown
        .iter()
        .all(|(_, _, of)| of(&errors.weighted[last]) < 0.6 * of(&errors.weighted[1]));
    section.claim(
        source,
        "The contact converges to the exact one with refinement.",
        falls,
        format!("from level 1 to level {last}"),
        "some error does not fall by two fifths",
    );
}

/// Fig. 7.
pub fn fig7(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    let errors = errors(bench, 300, 1000);
    section.text(format!("{} collisions of a ball with balls and blocks, of which the true contact is known. With the corrected equations: the circumscribed radius in eq. 7, the weighted mean in eq. 10.", errors.collisions));
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
