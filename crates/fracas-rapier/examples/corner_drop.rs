//! A cube of interlocking pieces, dropped on its corner: how deep do they overlap at the end?
//!
//! `cargo run --release -p fracas-rapier --example corner_drop settings` compares settings of
//! the world, `... points` how many contacts the solver is given. Minutes to an hour; the
//! settings that came out best are held by the test `fresh_pile`.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/cut_cube.rs"]
mod cut_cube;

use cut_cube::{CUTS, at_60_hz, best, corner_drops};
use fracas_core::sphere_tree::AdaptiveSettings;
use fracas_rapier::{ContactMode, ContactSettings, SolverPoints, WorldSettings};

fn main() -> Result<(), String> {
    match std::env::args().nth(1).as_deref() {
        Some("settings") => compare_settings(),
        Some("points") => compare_points(),
        _ => return Err("say what to compare: settings or points".into()),
    }
    Ok(())
}

/// What the settings do.
fn compare_settings() {
    let all_contacts = ContactSettings {
        mode: ContactMode::Full,
        ..at_60_hz().contacts
    };
    let small = WorldSettings {
        length_unit: 0.1,
        ..at_60_hz()
    };
    let rubbing = WorldSettings {
        friction_in_bias: true,
        ..at_60_hz()
    };
    for (name, settings) in [
        ("as it is", at_60_hz()),
        ("small unit", small),
        ("friction in bias", rubbing),
        (
            "small unit, friction in bias",
            WorldSettings {
                friction_in_bias: true,
                ..small
            },
        ),
        (
            "friction in bias, no look ahead",
            WorldSettings {
                look_ahead: 0.0,
                ..rubbing
            },
        ),
        (
            "friction in bias, all contacts",
            WorldSettings {
                contacts: all_contacts,
                ..rubbing
            },
        ),
    ] {
        println!("{name}: {:?} m", corner_drops(settings, CUTS));
    }
}

/// How few points for the solver are enough (decision 0004).
fn compare_points() {
    let with = |mode: ContactMode, selection: SolverPoints| WorldSettings {
        contacts: ContactSettings {
            mode,
            solver_points: selection,
            ..best().contacts
        },
        ..best()
    };
    let adaptive = |first: u32| {
        ContactMode::Adaptive(AdaptiveSettings {
            first,
            ..AdaptiveSettings::default()
        })
    };
    let firsts = [1, 2, 4, 6, 8, 12, 16, 24, 32];
    let modes = firsts.map(adaptive).into_iter().chain([ContactMode::Full]);
    for (i, mode) in modes.enumerate() {
        let name = firsts.get(i).map_or("all".into(), u32::to_string);
        for selection in [SolverPoints::All, SolverPoints::FourPerNormal] {
            let deepest = corner_drops(with(mode, selection), 5..117);
            let median = 1e3 * deepest[deepest.len() / 2];
            let most = 1e3 * deepest[deepest.len() - 1];
            let over = deepest.iter().filter(|d| **d > 0.005).count();
            println!(
                "{name} at first, {selection:?}: median {median:.1} mm, most {most:.1}, {over} of \
                 {} over 5",
                deepest.len()
            );
        }
    }
}
