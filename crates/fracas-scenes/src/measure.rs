//! What a world looks like to full detection: every point in contact, the deepest
//! overlap, and what was lost.
//!
//! Contacts that the solver was given say nothing about those that were left out,
//! so overlaps are measured by asking every pair of bodies near each other anew, for
//! all points, whatever method the run itself uses.

use fracas_rapier::{PieceId, World};
use glam::DVec3;
use parry3d::shape::Shape as _;

/// Overlaps of all bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlaps {
    /// Points of one body inside another.
    pub points: u64,
    /// The deepest of them, in metres; zero where nothing overlaps.
    pub deepest: f32,
    /// The radius of the smaller body of that pair, in metres.
    pub radius: f32,
}

/// Bodies that are not where bodies can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Fell through the floor, or flew out of sight.
    pub fallen: usize,
    /// A pose or velocity is not a number.
    pub not_a_number: usize,
}

impl Lost {
    /// Both.
    #[must_use]
    pub fn total(&self) -> usize {
        self.fallen + self.not_a_number
    }
}

/// Asks every pair with a piece in it for all points in contact.
#[must_use]
pub fn overlaps(world: &World) -> Overlaps {
    let mut found = Overlaps::default();
    for overlap in world.overlaps() {
        found.points += u64::from(overlap.points);
        if overlap.depth > found.deepest {
            found.deepest = overlap.depth;
            found.radius = overlap.radius;
        }
    }
    found
}

/// How far pieces are apart: the mean distance of their centres of mass from the mean
/// of all centres, in metres.
#[must_use]
pub fn spread(world: &World) -> f64 {
    let centres = world.pieces().filter_map(|piece| {
        let body = world.body(piece)?;
        let shape = world.shape(piece)?;
        let centre = shape.unit_mass().centre.as_vec3();
        Some((*body.position() * centre).as_dvec3())
    });
    mean_distance(&centres.collect::<Vec<_>>())
}

/// Mean distance of points from their mean.
pub(crate) fn mean_distance(points: &[DVec3]) -> f64 {
    let count = points.len().max(1) as f64;
    let middle = points.iter().sum::<DVec3>() / count;
    points.iter().map(|p| p.distance(middle)).sum::<f64>() / count
}

/// Counts bodies that were taken away because they fell out of the world, and those
/// that are inside the floor, farther away than 100 m, or not a number.
#[must_use]
pub fn lost(world: &World, floor: f32) -> Lost {
    let mut lost = Lost {
        fallen: world.bodies_lost(),
        ..Lost::default()
    };
    for piece in world.pieces().collect::<Vec<PieceId>>() {
        let (Some(shape), Some(body)) = (world.shape(piece), world.body(piece)) else {
            continue;
        };
        let (centre, velocity) = (body.center_of_mass(), body.linvel());
        if !(centre.is_finite() && velocity.is_finite() && body.angvel().is_finite()) {
            lost.not_a_number += 1;
        } else {
            let size = shape.compute_local_aabb().half_extents().length();
            // A centre of mass below the floor cannot come from resting on it.
            if centre.y < floor - 0.25 * size || centre.length() > 100.0 {
                lost.fallen += 1;
            }
        }
    }
    lost
}
