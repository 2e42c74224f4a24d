//! How high crumbs fly when something bursts, and how far its pieces lie apart.
//!
//! A piece of mass m whose centre is at height y above the floor, and whose kinetic energy is
//! K, rises to `y + K / (m g)` at most, if nobody gives it more. Neighbours may: a light piece
//! that a heavy one strikes leaves faster than the heavy one came. How much of that happens
//! is what is measured here, by two energies: what a piece *brought* into the break, as a
//! part of the body before the step that broke it; and what was *left* to it after that step,
//! when the floor has stopped some of them already.
//!
//! The same pieces with the engine's own contacts stand beside it: the breaks of the first run
//! are repeated in the others ([`fracas_rapier::BreakScript`]).

use std::collections::BTreeMap;

use fracas_rapier::{BreakScript, ContactMode, Event, PieceId, World};
use parry3d::math::Pose;
use rapier3d::prelude::RigidBody;

use crate::measure;
use crate::rigid::{self, SceneError, SceneOptions};

/// A piece that was born in a break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crumb {
    /// In kilograms.
    pub mass: f32,
    /// The height (m) that the energy allows which it had before the step of the break.
    pub brought: f64,
    /// The height (m) that the energy allows which it had after the step of the break.
    pub left: f64,
    /// The highest that its centre of mass was from then on (m).
    pub highest: f64,
}

/// How a body burst.
#[derive(Clone, Debug, Default)]
pub struct Burst {
    /// All pieces that were ever born.
    pub crumbs: Vec<Crumb>,
    /// How far pieces lay apart after the steps that were asked for
    /// ([`measure::spread`]).
    pub spread: Vec<f64>,
    /// Energy after each step (J).
    pub energy: Vec<f64>,
    /// What broke, for other runs.
    pub script: BreakScript,
}

impl Burst {
    /// The largest share of a height that a piece reached of what was allowed.
    #[must_use]
    pub fn highest_of(&self, allowed: impl Fn(&Crumb) -> f64) -> f64 {
        let shares = self.crumbs.iter().map(|c| c.highest / allowed(c));
        shares.fold(0.0, f64::max)
    }

    /// The highest that any piece flew (m).
    #[must_use]
    pub fn highest(&self) -> f64 {
        self.crumbs.iter().map(|c| c.highest).fold(0.0, f64::max)
    }
}

/// How a body moved before a step.
#[derive(Clone, Copy)]
struct Motion {
    pose: Pose,
    centre: glam::Vec3,
    velocity: glam::Vec3,
    spin: glam::Vec3,
}

/// Plays a scene, and notes how far pieces lie apart after the given numbers of steps.
///
/// `script`: what breaks, instead of what the run itself would break.
///
/// # Errors
/// See [`rigid::by_name`].
pub fn burst(
    scene: &str,
    options: &SceneOptions,
    looks: &[u64],
    script: Option<BreakScript>,
) -> Result<Burst, SceneError> {
    let mut scene = rigid::by_name(scene, options, &mut |_| ())?;
    let world = scene.world_mut();
    match script.clone() {
        None => world.note_breaks(),
        Some(script) => world.follow(script),
    }
    let mut out = Burst::default();
    let mut crumbs: BTreeMap<PieceId, Crumb> = BTreeMap::new();
    let mut before: BTreeMap<PieceId, Motion> = BTreeMap::new();
    for step in 1..=looks.iter().copied().max().unwrap_or(0) {
        note_motions(scene.world(), &mut before);
        scene.step();
        let events = scene.world_mut().take_events();
        let world = scene.world();
        for event in &events {
            let Event::Broke {
                piece, children, ..
            } = event
            else {
                continue;
            };
            for &child in children {
                if let (Some(&motion), Some(body)) = (before.get(piece), world.body(child)) {
                    crumbs.insert(child, newborn(world, body, motion));
                }
            }
        }
        for (piece, crumb) in &mut crumbs {
            if let Some(body) = world.body(*piece) {
                crumb.highest = crumb.highest.max(f64::from(body.center_of_mass().y));
            }
        }
        out.energy.push(world.energy());
        if looks.contains(&step) {
            out.spread.push(measure::spread(world));
        }
    }
    out.script = script
        .or_else(|| scene.world().noted_breaks().cloned())
        .unwrap_or_default();
    out.crumbs = crumbs.into_values().collect();
    Ok(out)
}

fn note_motions(world: &World, motions: &mut BTreeMap<PieceId, Motion>) {
    motions.clear();
    for piece in world.pieces() {
        if let Some(body) = world.body(piece) {
            let motion = Motion {
                pose: *body.position(),
                centre: body.center_of_mass(),
                velocity: body.linvel(),
                spin: body.angvel(),
            };
            motions.insert(piece, motion);
        }
    }
}

/// A piece after the step that broke its body, which moved so before.
fn newborn(world: &World, body: &RigidBody, whole: Motion) -> Crumb {
    let gravity = f64::from(world.settings().gravity.length()).max(1e-9);
    let local = body.mass_properties().local_mprops;
    let mass = f64::from(body.mass()).max(1e-12);
    // Pieces have the frame of the body that broke.
    let centre = whole.pose * local.local_com;
    let velocity = whole.velocity + whole.spin.cross(centre - whole.centre);
    let spin = whole.pose.rotation.inverse() * whole.spin;
    let turning = spin.dot(local.reconstruct_inertia_matrix() * spin);
    let kinetic = 0.5 * (mass * f64::from(velocity.length_squared()) + f64::from(turning));
    let height = |y: f32, kinetic: f64| f64::from(y) + kinetic / (mass * gravity);
    let now = body.center_of_mass().y;
    Crumb {
        mass: body.mass(),
        brought: height(centre.y, kinetic),
        left: height(now, f64::from(body.kinetic_energy())),
        highest: f64::from(now),
    }
}

/// The two runs of the comparison: ours, and the engine's triangle meshes on the same pieces.
///
/// # Errors
/// See [`burst`].
pub fn compare(
    scene: &str,
    options: &SceneOptions,
    other: ContactMode,
    looks: &[u64],
) -> Result<[Burst; 2], SceneError> {
    let ours = burst(scene, options, looks, None)?;
    let theirs = SceneOptions {
        contacts: other,
        ..*options
    };
    let theirs = burst(scene, &theirs, looks, Some(ours.script.clone()))?;
    Ok([ours, theirs])
}
