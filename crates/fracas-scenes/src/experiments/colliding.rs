//! All colliding points of a running world: what full detection would find in the
//! state that another mode of contacts has led to [Glondu 2013, Table 2 and Fig. 12].
//!
//! Steps: take the engine's touching candidates -> ask both trees of each pair for
//! every point within the tolerance -> count, and sum the depths of those inside.
//! Half-spaces, balls and boxes are asked as what they are; other plain shapes are
//! left out.

use fracas_core::sphere_tree::{
    Ball, BoxShape, HalfSpace, NormalSettings, Partner, Query, QueryScratch,
};
use fracas_core::{Contact, Pose};
use fracas_rapier::{FragmentShape, World};
use glam::{Mat3, Vec3};
use parry3d::shape::TypedShape;

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Colliding {
    /// Points within the tolerance.
    pub points: u64,
    /// Points inside the other body.
    pub inside: u64,
    /// Sum of their depths, in metres.
    pub depth_sum: f64,
    /// The deepest, in metres.
    pub deepest: f64,
}

impl Colliding {
    /// Mean depth of the points inside; zero without any.
    #[must_use]
    pub fn mean_depth(&self) -> f64 {
        if self.inside == 0 {
            0.0
        } else {
            self.depth_sum / self.inside as f64
        }
    }

    fn add(&mut self, contacts: &[Contact]) {
        self.points += contacts.len() as u64;
        for depth in contacts.iter().map(|c| f64::from(-c.distance)) {
            if depth > 0.0 {
                self.inside += 1;
                self.depth_sum += depth;
                self.deepest = self.deepest.max(depth);
            }
        }
    }
}

/// Memory, used again for every step.
#[derive(Debug, Default)]
pub struct CollidingScratch {
    query: QueryScratch,
    found: Vec<Contact>,
}

/// All points nearer than the engine's prediction distance.
pub fn colliding(world: &World, scratch: &mut CollidingScratch) -> Colliding {
    let tolerance = world.physics.integration_parameters.prediction_distance();
    let mut all = Colliding::default();
    let colliders = &world.physics.colliders;
    // In the order of the pairs' handles: the engine's own order may change.
    let mut pairs: Vec<_> = world
        .physics
        .narrow_phase
        .contact_pairs()
        .map(|p| (p.collider1, p.collider2))
        .collect();
    pairs.sort_by_key(|(a, b)| (a.into_raw_parts(), b.into_raw_parts()));
    for (a, b) in pairs {
        let (Some(a), Some(b)) = (colliders.get(a), colliders.get(b)) else {
            continue;
        };
        let poses = [a, b].map(|c| Pose {
            rotation: Mat3::from_quat(c.position().rotation),
            translation: c.position().translation,
        });
        let fragments = [a, b].map(|c| c.shape().as_shape::<FragmentShape>());
        for (one, other, shape) in [(0, 1, b.shape()), (1, 0, a.shape())] {
            let Some(fragment) = fragments[one] else {
                continue;
            };
            let pose = poses[one].relative_to(&poses[other]);
            if let Some(partner) = fragments[other] {
                let state = partner.object().read();
                let field = state.field().of(state.fragments(), partner.id());
                all.add(ask(fragment, &pose, &field, tolerance, false, scratch));
                continue;
            }
            let found = match shape.as_typed_shape() {
                TypedShape::HalfSpace(h) => {
                    let solid = HalfSpace::new(h.normal, 0.0);
                    ask(fragment, &pose, &solid, tolerance, true, scratch)
                }
                TypedShape::Ball(ball) => {
                    let solid = Ball::new(Vec3::ZERO, ball.radius);
                    ask(fragment, &pose, &solid, tolerance, true, scratch)
                }
                TypedShape::Cuboid(cuboid) => {
                    let solid = BoxShape::new(cuboid.half_extents);
                    ask(fragment, &pose, &solid, tolerance, false, scratch)
                }
                _ => continue,
            };
            all.add(found);
        }
    }
    all
}

fn ask<'a, P: Partner>(
    fragment: &FragmentShape,
    pose: &Pose,
    partner: &P,
    tolerance: f32,
    smooth: bool,
    scratch: &'a mut CollidingScratch,
) -> &'a [Contact] {
    let tree = fragment.tree();
    let mut query = Query::new(tolerance, tree.object_radius());
    if smooth {
        query.normals = NormalSettings::field();
    }
    scratch.found.clear();
    tree.contacts(
        pose,
        partner,
        &query,
        &mut scratch.query,
        &mut scratch.found,
    );
    &scratch.found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rigid::{SceneOptions, by_name};
    use fracas_rapier::ContactMode;
    use rapier3d::prelude::PhysicsWorld;

    /// In a world that reports all contacts, the same number is counted from outside.
    #[test]
    fn full_detection_finds_what_is_counted() {
        let options = SceneOptions {
            contacts: ContactMode::Full,
            ..SceneOptions::default()
        };
        let mut scene = by_name("blocks", &options, &mut |_| {}).unwrap();
        let mut scratch = CollidingScratch::default();
        let (mut counted, mut reported) = (0, 0);
        for _ in 0..60 {
            // Counted before the step, as the step sees it. Pairs of pieces that have just
            // come to be are found in the step only.
            let fresh = scene.world().stats().broken > 0;
            let world = scene.world_mut();
            world.begin_step();
            // No farther than the engine always looks.
            for (_, body) in world.physics.bodies.iter_mut() {
                body.set_soft_ccd_prediction(0.0);
            }
            let before = colliding(world, &mut scratch);
            world.physics.step();
            world.finish_step(&mut PhysicsWorld::step);
            // A step that is made again counts its contacts twice.
            if fresh || scene.world().stats().made_again > 0 {
                continue;
            }
            counted += before.points;
            reported += scene.world().stats().contacts;
        }
        assert!(reported > 100, "{reported}");
        let share = counted as f64 / reported as f64;
        assert!((0.95..1.05).contains(&share), "{counted} of {reported}");
    }
}
