//! When a moving body first touches: conservative advancement on the sphere tree.
//!
//! A query at the end of a step misses what passed through within it, the smaller
//! and faster the fragment the easier. Here, over one step: no point of a sphere
//! moves farther in time dt than (bound on its speed) times dt, so a sphere whose
//! distance to the partner is d is free for d / speed. Spheres that stay free to the
//! end, or to the best impact so far, are dropped; those that touch before are
//! replaced by their children, which start at the time up to which the parent was
//! free; a leaf that comes within the target distance is an impact.
//!
//! Not in Glondu 2013, which names continuous collision detection as the extension
//! it lacks (section 8).
//!
//! **Guarantee**: no point of the tree gets nearer to the partner than the target
//! distance before the returned time; at that time, one is nearer than twice the
//! target distance, unless the point was nearer at the start (then the time is 0).
//! Points alone are swept: ask in both directions.

use glam::Vec3;

use super::SphereTree;
use super::partner::{Partner, Sample};
use crate::{Contact, Pose};

/// Rigid motion of one body over a step, time running from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Placement in the world at time 0.
    pub start: Pose,
    /// Point of the body (its own frame) that moves in a straight line: the centre of mass.
    pub centre: Vec3,
    /// Displacement of that point over the step, in the world.
    pub displacement: Vec3,
    /// Rotation over the step about that point: axis times angle, in the world.
    pub rotation: Vec3,
}

impl Motion {
    /// A body at rest.
    #[must_use]
    pub fn rest(at: Pose) -> Self {
        Self {
            start: at,
            centre: Vec3::ZERO,
            displacement: Vec3::ZERO,
            rotation: Vec3::ZERO,
        }
    }

    /// The placement at a time.
    #[must_use]
    pub fn at(&self, time: f32) -> Pose {
        let centre = self.start.point(self.centre);
        let angle = self.rotation.length();
        let axis = self.rotation.normalize_or_zero();
        let turn = Pose::new(axis, angle * time, Vec3::ZERO).rotation;
        let rotation = turn * self.start.rotation;
        Pose {
            rotation,
            translation: centre + self.displacement * time - rotation * self.centre,
        }
    }
}

/// The first touch of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// In units of the step, 0 to 1.
    pub time: f32,
    /// The point that touches, in the partner's frame at that time.
    pub contact: Contact,
}

/// Steps of advancement per sphere before it is given to its children anyway.
const STEPS_PER_SPHERE: u32 = 64;

impl SphereTree {
    /// The first time within the step at which a point of this body comes within
    /// `target` (positive) of the partner, both moving; `None` if none does.
    ///
    /// `stack` is scratch.
    pub fn first_impact<P: Partner + ?Sized>(
        &self,
        motion: &Motion,
        partner: &P,
        partner_motion: &Motion,
        target: f32,
        stack: &mut Vec<(u32, f32)>,
    ) -> Option<Impact> {
        let travel = motion.displacement - partner_motion.displacement;
        let (spin, partner_spin) = (motion.rotation.length(), partner_motion.rotation.length());
        let mut best: Option<Impact> = None;
        stack.clear();
        stack.push((0, 0.0));
        while let Some((index, mut time)) = stack.pop() {
            let node = &self.nodes[index as usize];
            let arm = node.centre.distance(motion.centre) + node.radius;
            let own_speed = travel.length() + spin * arm;
            for step in 0.. {
                let end = best.map_or(1.0, |b| b.time);
                if time >= end && best.is_some() {
                    break;
                }
                let pose = motion.at(time).relative_to(&partner_motion.at(time));
                let p = pose.point(node.centre);
                let remaining = end - time;
                let partner_arm =
                    p.distance(partner_motion.centre) + node.radius + own_speed * remaining;
                let speed = own_speed + partner_spin * partner_arm;
                let reach = node.radius + target + speed * remaining + self.placement_error(&pose);
                let near = partner
                    .sphere_may_touch(p, reach)
                    .then(|| partner.sample(p, reach))
                    .flatten();
                let Some(Sample { distance, normal }) = near else {
                    break;
                };
                let free = distance - node.radius - target;
                let is_leaf = node.child_count == 0;
                // A leaf is an impact when the rest of the way is below the target.
                if free <= if is_leaf { target } else { 0.0 } {
                    if is_leaf {
                        best = Some(Impact {
                            time,
                            contact: Contact {
                                point: p,
                                distance,
                                normal,
                                feature: self.points[node.point as usize].id,
                            },
                        });
                    } else {
                        stack.extend(node.children().rev().map(|child| (child, time)));
                    }
                    break;
                }
                if step >= STEPS_PER_SPHERE && !is_leaf {
                    stack.extend(node.children().rev().map(|child| (child, time)));
                    break;
                }
                // `speed` is positive: otherwise the sphere would be out of reach.
                time += free / speed;
                if time > end {
                    break;
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::super::partner::{Ball, BoxShape, HalfSpace};
    use super::super::{BuildOptions, SphereTree};
    use super::*;
    use crate::testing::{Rng, box_grid};

    fn cube() -> SphereTree {
        SphereTree::build(
            &box_grid([2, 2, 2], Vec3::splat(0.2)),
            &BuildOptions::default(),
        )
        .unwrap()
    }

    #[test]
    fn a_fast_cube_does_not_pass_a_thin_wall() {
        let wall = BoxShape::new(Vec3::new(0.01, 5.0, 5.0));
        let motion = Motion {
            start: Pose::translation(Vec3::new(-3.0, 0.0, 0.0)),
            centre: Vec3::splat(0.1),
            displacement: Vec3::new(20.0, 0.0, 0.0),
            rotation: Vec3::new(0.5, 9.0, 0.0),
        };
        let still = Motion::rest(Pose::IDENTITY);
        let mut stack = Vec::new();
        let impact = cube()
            .first_impact(&motion, &wall, &still, 1e-3, &mut stack)
            .expect("it hits the wall");
        assert!(impact.contact.point.x < -0.009 && impact.contact.point.x > -0.013);
        assert!((impact.time - 0.14).abs() < 0.02, "{impact:?}");
    }

    #[test]
    fn a_falling_cube_meets_the_floor_when_it_should() {
        let floor = HalfSpace::new(Vec3::Y, 0.0);
        let motion = Motion {
            displacement: Vec3::new(0.0, -4.0, 0.0),
            ..Motion::rest(Pose::translation(Vec3::new(0.0, 1.0, 0.0)))
        };
        let still = Motion::rest(Pose::IDENTITY);
        let impact = cube().first_impact(&motion, &floor, &still, 1e-4, &mut Vec::new());
        assert!((impact.unwrap().time - 0.25).abs() < 1e-4);
        let slow = Motion {
            displacement: Vec3::new(0.0, -0.9, 0.0),
            ..motion
        };
        assert_eq!(
            cube().first_impact(&slow, &floor, &still, 1e-4, &mut Vec::new()),
            None
        );
    }

    #[test]
    fn a_moving_partner_counts_as_much_as_a_moving_body() {
        let ball = Ball::new(Vec3::ZERO, 0.5);
        let body = Motion::rest(Pose::IDENTITY);
        let partner = Motion {
            displacement: Vec3::new(-10.0, 0.0, 0.0),
            rotation: Vec3::new(0.0, 0.0, 3.0),
            ..Motion::rest(Pose::translation(Vec3::new(4.0, 0.1, 0.1)))
        };
        let impact = cube().first_impact(&body, &ball, &partner, 1e-3, &mut Vec::new());
        // The ball's front starts 3.5 away from x = 0; the cube reaches to x = 0.2.
        assert!((impact.unwrap().time - 0.33).abs() < 3e-3, "{impact:?}");
    }

    #[test]
    fn no_point_is_ever_nearer_before_the_impact() {
        let mut rng = Rng(8);
        let tree = cube();
        let partner = BoxShape::new(Vec3::new(0.3, 0.2, 0.1));
        let mut hits = 0;
        for _ in 0..200 {
            let from = rng.direction() * rng.range(0.5, 2.0);
            let motion = Motion {
                start: Pose::new(rng.direction(), rng.range(0.0, 3.0), from),
                centre: Vec3::splat(0.1),
                displacement: -from * rng.range(0.5, 3.0) + 0.3 * rng.direction(),
                rotation: rng.direction() * rng.range(0.0, 6.0),
            };
            let other = Motion {
                rotation: rng.direction() * rng.range(0.0, 2.0),
                displacement: 0.2 * rng.direction(),
                ..Motion::rest(Pose::IDENTITY)
            };
            let target = 1e-3;
            let impact = tree.first_impact(&motion, &partner, &other, target, &mut Vec::new());
            hits += u32::from(impact.is_some());
            let end = impact.map_or(1.0, |i| i.time);
            for k in 0..=100 {
                let time = end * k as f32 / 100.0;
                let pose = motion.at(time).relative_to(&other.at(time));
                let least = tree
                    .positions()
                    .iter()
                    .filter_map(|&p| partner.sample(pose.point(p), 9.0))
                    .map(|s| s.distance)
                    .fold(9.0, f32::min);
                assert!(
                    least >= target * 0.99 || time == 0.0 || end == 0.0,
                    "{least} at {time} of {end}"
                );
            }
        }
        assert!(hits > 50, "only {hits} of 200 hit");
    }
}
