//! A plate dropped into a bowl with random velocities, while at most so many contacts
//! are allowed; the penetration that results is measured with all points
//! [Glondu 2013, section 7.4, Fig. 16].
//!
//! **Deviations**: the number allowed holds for each of the two directions in which a
//! pair is asked (points of the plate in the bowl, points of the bowl in the plate).
//! All points are asked at every [`DropSettings::every`]-th step, not at each. Our
//! bowl is smaller than our plate, so it is enlarged.
//!
//! What is measured is returned as whole numbers (tenths of a micrometre), so that
//! sums over many drops depend neither on order nor on grouping.

use std::sync::Arc;

use fracas_bake::shapes;
use fracas_core::FieldOptions;
use fracas_core::TetMesh;
use fracas_core::sphere_tree::BuildOptions;
use fracas_core::testing::Rng;
use fracas_rapier::{
    Blueprint, Breakable, ContactMode, ContactSettings, ObjectError, World, WorldSettings,
};
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use super::colliding::{CollidingScratch, colliding};

/// How long a drop is watched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropSettings {
    /// Steps of a drop.
    pub steps: u32,
    /// Penetration is measured at every so many steps.
    pub every: u32,
    /// Seconds of a step.
    pub step: f32,
}

impl Default for DropSettings {
    fn default() -> Self {
        Self {
            steps: 90,
            every: 5,
            step: 0.01,
        }
    }
}

/// Plate and bowl, computed once for many drops.
#[derive(Clone, Debug)]
pub struct Drops {
    plate: Arc<Blueprint>,
    bowl: Arc<Blueprint>,
    settings: DropSettings,
}

/// What one drop measured; lengths in tenths of a micrometre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropResult {
    /// Mean over the measured steps of the mean depth of all penetrating points.
    pub depth: u64,
    /// Mean over the measured steps of the deepest point.
    pub deepest: u64,
    /// Points visited in all steps with a contact.
    pub visited: u64,
    /// Contacts that reached the solver in those steps.
    pub contacts: u64,
    /// Those steps.
    pub steps: u64,
}

/// The bowl is enlarged so many times: 0.4 m across.
const BOWL: f32 = 2.5;

/// Metres of the unit of [`DropResult`]'s lengths.
pub const LENGTH_UNIT: f64 = 1e-7;

impl Drops {
    /// Plate and bowl of the procedural set.
    ///
    /// # Errors
    /// See [`ObjectError`].
    ///
    /// # Panics
    /// When the set has no plate or bowl.
    pub fn new(settings: DropSettings) -> Result<Self, ObjectError> {
        let mesh = |name| shapes::by_name(name).expect("one of the set").build();
        Self::of(mesh("plate"), enlarged(&mesh("bowl")), settings)
    }

    /// The same, `detail` times as fine.
    ///
    /// # Errors
    /// See [`ObjectError`].
    ///
    /// # Panics
    /// As [`Drops::new`].
    pub fn coarse(detail: f64, settings: DropSettings) -> Result<Self, ObjectError> {
        let mesh = |name| {
            let shape = shapes::by_name(name).expect("one of the set");
            shape.build_refined(detail)
        };
        Self::of(mesh("plate"), enlarged(&mesh("bowl")), settings)
    }

    /// Of other meshes: a flat thing and a hollow one, open upwards, that it fits in.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn of(plate: TetMesh, bowl: TetMesh, settings: DropSettings) -> Result<Self, ObjectError> {
        let build = |mesh: TetMesh| {
            let (field, tree) = (FieldOptions::default(), BuildOptions::default());
            Blueprint::build(Arc::new(mesh), &field, &tree).map(Arc::new)
        };
        Ok(Self {
            plate: build(plate)?,
            bowl: build(bowl)?,
            settings,
        })
    }

    /// One drop with at most `allowed` contacts; the seed decides pose and velocities.
    #[must_use]
    pub fn run(&self, allowed: u32, seed: u64) -> DropResult {
        let mut world = self.world(allowed, seed);
        let mut scratch = CollidingScratch::default();
        let mut result = DropResult::default();
        let (mut depth, mut deepest, mut measured) = (0.0, 0.0, 0_u32);
        for step in 0..self.settings.steps {
            world.step();
            let stats = world.stats();
            if stats.contacts == 0 {
                continue;
            }
            result.visited += stats.visited_points;
            result.contacts += stats.solver_contacts;
            result.steps += 1;
            if step % self.settings.every == 0 {
                let found = colliding(&world, &mut scratch);
                depth += found.mean_depth();
                deepest += found.deepest;
                measured += 1;
            }
        }
        let whole = |sum: f64| (sum / f64::from(measured.max(1)) / LENGTH_UNIT).round() as u64;
        result.depth = whole(depth);
        result.deepest = whole(deepest);
        result
    }

    fn world(&self, allowed: u32, seed: u64) -> World {
        let base = WorldSettings::measured();
        let mut world = World::new(WorldSettings {
            length_unit: 0.05,
            contacts: ContactSettings {
                mode: ContactMode::Fixed(allowed),
                ..base.contacts
            },
            ..base
        })
        .with_dt(self.settings.step);
        let mut bowl = Breakable::new(self.bowl.clone());
        bowl.anchors = vec![(Vec3::splat(-1e3), Vec3::splat(1e3))];
        world.add(bowl);
        let (low, high) = self.bowl.surface().bounds();
        let (plate_low, plate_high) = self.plate.surface().bounds();
        let reach = 0.5 * (plate_high - plate_low).length();
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x16);
        let centre = 0.5 * (plate_low + plate_high);
        let turn = Quat::from_scaled_axis(rng.direction() * rng.range(0.0, 0.6));
        let aside = 0.15 * (high - low).x;
        let at = Vec3::new(
            0.5 * (low.x + high.x) + rng.range(-aside, aside),
            high.y + 0.35 * reach + rng.range(0.0, 0.1),
            0.5 * (low.z + high.z) + rng.range(-aside, aside),
        );
        let mut plate =
            Breakable::new(self.plate.clone()).at(Pose::from_parts(at - turn * centre, turn));
        plate.density = 2400.0;
        plate.friction = 0.3;
        plate.velocity = rng.direction() * rng.range(0.0, 0.6) - Vec3::Y * rng.range(0.2, 1.0);
        plate.spin = rng.direction() * rng.range(0.0, 5.0);
        world.add(plate);
        world
    }
}

/// The bowl, large enough for the plate.
fn enlarged(bowl: &TetMesh) -> TetMesh {
    let positions = bowl.positions().iter().map(|p| *p * BOWL).collect();
    TetMesh::build(positions, bowl.tets().to_vec()).expect("scaling keeps a mesh")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coarse() -> Drops {
        Drops::coarse(0.45, DropSettings::default()).unwrap()
    }

    #[test]
    fn drops_repeat_and_differ_by_seed() {
        let drops = coarse();
        let first = drops.run(8, 1);
        assert!(first.steps > 20, "the plate lands in the bowl: {first:?}");
        assert_eq!(first, drops.run(8, 1));
        assert_ne!(first, drops.run(8, 2));
    }
}
