//! When a moving body first touches: conservative advancement on the sphere tree.
//!
//! A query at the end of a step misses what passed through within it, the smaller
//! and faster the fragment the easier. Here, over one step:
//! 1. A point that touches at the start is an impact at time 0, and all is said: most
//!    bodies that a caster asks about lie on one another.
//! 2. Otherwise a sphere together with an interval of time is held against the
//!    partner: no point of it leaves the sphere that is wider by (bound on its speed)
//!    times half the interval, at the interval's middle. Where that one may touch, the
//!    larger of the two is halved: the interval, or the sphere by its children.
//! 3. A point alone, over an interval in which it goes a short way, advances by its
//!    distance over its speed until it comes within the target distance: an impact.
//!    Later intervals than the best impact's are dropped.
//! 4. From there it goes on by short strides until a point is five times closer: whoever
//!    stops a body there finds it in contact, however short they look ahead.
//!
//! Steps 1 and 2 cost a sphere test each; only steps 3 and 4 ask for distances, and for
//! near ones only.
//!
//! Not in Glondu 2013, which names continuous collision detection as the extension
//! it lacks (section 8).
//!
//! **Guarantee**: until the returned time no point of the tree gets inside the partner
//! by more than the target distance. At that time one is nearer than a fifth of it; or
//! nearer than twice of it, and none comes closer within the next strides, because it
//! grazes or comes at a flat angle (slower than a thirteenth of the bound on speeds):
//! whoever looks ahead less than that may miss the contact. The time is 0 where a point is
//! nearer than a tenth of the target at the start, or nearer than the target and does not
//! come closer within the next strides. Points alone are swept: ask in both directions.

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

/// A point's way over an interval is short below this many target distances.
const SHORT_WAY: f32 = 16.0;

/// How close a point is brought, as a share of the target distance.
const CLOSE: f32 = 0.1;
/// In at most so many strides, in each of which no point goes farther than the target.
const MOST_STRIDES: u32 = 24;

/// A node over an interval of time: still to be looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Swept {
    node: u32,
    from: f32,
    to: f32,
}

/// How two bodies move against each other.
struct Relative<'a> {
    own: &'a Motion,
    other: &'a Motion,
    travel: f32,
    spin: f32,
    other_spin: f32,
    /// The last time asked about and the placement then: children share their
    /// parent's interval.
    last: (f32, Pose),
}

impl<'a> Relative<'a> {
    fn new(own: &'a Motion, other: &'a Motion) -> Self {
        Self {
            own,
            other,
            travel: (own.displacement - other.displacement).length(),
            spin: own.rotation.length(),
            other_spin: other.rotation.length(),
            last: (0.0, own.start.relative_to(&other.start)),
        }
    }

    /// The body's placement in the partner's frame.
    #[inline]
    fn at(&mut self, time: f32) -> Pose {
        if time != self.last.0 {
            let pose = self.own.at(time).relative_to(&self.other.at(time));
            self.last = (time, pose);
        }
        self.last.1
    }

    /// A bound on the speed, in the partner's frame, of everything in a sphere (centre
    /// in the body's frame, and at `p` in the partner's) for a span of time around.
    #[inline]
    fn speed(&self, centre: Vec3, radius: f32, p: Vec3, span: f32) -> f32 {
        let own = self.travel + self.spin * (centre.distance(self.own.centre) + radius);
        let arm = p.distance(self.other.centre) + radius + own * span;
        own + self.other_spin * arm
    }
}

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
        stack: &mut Vec<Swept>,
    ) -> Option<Impact> {
        let mut relative = Relative::new(motion, partner_motion);
        let start = relative.at(0.0);
        if let Some(first) = self.touching(&start, partner, CLOSE * target, stack) {
            return Some(first);
        }
        let first = match self.touching(&start, partner, target, stack) {
            Some(near) => near,
            None => self.sweep(partner, &mut relative, target, stack)?,
        };
        Some(self.close_in(first, partner, &mut relative, target, stack))
    }

    /// Goes on from a first impact, by strides in which no point gets far, until a point
    /// is close.
    fn close_in<P: Partner + ?Sized>(
        &self,
        first: Impact,
        partner: &P,
        relative: &mut Relative<'_>,
        target: f32,
        stack: &mut Vec<Swept>,
    ) -> Impact {
        let root = &self.nodes[0];
        let p = relative.at(first.time).point(root.centre);
        let speed = relative.speed(root.centre, root.radius, p, 1.0);
        let stride = target / speed.max(f32::MIN_POSITIVE);
        let mut time = first.time;
        for _ in 0..MOST_STRIDES {
            time += stride;
            if time > 1.0 {
                break;
            }
            let pose = relative.at(time);
            if let Some(close) = self.touching(&pose, partner, 2.0 * CLOSE * target, stack) {
                return Impact { time, ..close };
            }
        }
        first
    }

    /// The first point that comes within `target`, and when.
    fn sweep<P: Partner + ?Sized>(
        &self,
        partner: &P,
        relative: &mut Relative<'_>,
        target: f32,
        stack: &mut Vec<Swept>,
    ) -> Option<Impact> {
        let mut best: Option<Impact> = None;
        stack.clear();
        stack.push(Swept {
            node: 0,
            from: 0.0,
            to: 1.0,
        });
        while let Some(Swept { node, from, to }) = stack.pop() {
            let to = best.map_or(to, |b| to.min(b.time));
            if from >= to {
                continue;
            }
            let sphere = &self.nodes[node as usize];
            let middle = 0.5 * (from + to);
            let half = 0.5 * (to - from);
            let pose = relative.at(middle);
            let p = pose.point(sphere.centre);
            let way = half * relative.speed(sphere.centre, sphere.radius, p, half);
            let reach = sphere.radius + way + target + self.placement_error(&pose);
            if !partner.sphere_may_touch(p, reach) {
                continue;
            }
            let is_leaf = sphere.child_count == 0;
            // Halving ends where times can no longer be told apart.
            let can_halve = from < middle && middle < to;
            if can_halve && way > sphere.radius.max(SHORT_WAY * target) {
                let halves = [(middle, to), (from, middle)];
                stack.extend(halves.map(|(from, to)| Swept { node, from, to }));
            } else if is_leaf {
                let point = sphere.point;
                let found = self.advance_point(point, partner, relative, from, to, target);
                best = found.or(best);
            } else {
                stack.extend(sphere.children().rev().map(|node| Swept { node, from, to }));
            }
        }
        best
    }

    /// Any point within `target` of the partner, both standing still: at time 0.
    fn touching<P: Partner + ?Sized>(
        &self,
        pose: &Pose,
        partner: &P,
        target: f32,
        stack: &mut Vec<Swept>,
    ) -> Option<Impact> {
        let reach = target + self.placement_error(pose);
        let ask = |node: u32| {
            let sphere = &self.nodes[node as usize];
            let p = pose.point(sphere.centre);
            let sample = partner.sample(p, target)?;
            let contact = self.impact_at(sphere.point, p, sample);
            Some(Impact { time: 0.0, contact })
        };
        let waiting = |node: u32| Swept {
            node,
            ..Swept::default()
        };
        // In the stack are nodes whose own point is known not to touch.
        stack.clear();
        stack.push(waiting(0));
        if let Some(found) = ask(0) {
            return Some(found);
        }
        while let Some(Swept { node, .. }) = stack.pop() {
            let sphere = &self.nodes[node as usize];
            for child in sphere.children() {
                let below = &self.nodes[child as usize];
                let p = pose.point(below.centre);
                if !partner.sphere_may_touch(p, below.radius + reach) {
                    continue;
                }
                // The first child has its parent's point.
                if child > sphere.first_child
                    && let Some(found) = ask(child)
                {
                    return Some(found);
                }
                stack.push(waiting(child));
            }
        }
        None
    }

    /// When a point first comes within `target` during an interval.
    fn advance_point<P: Partner + ?Sized>(
        &self,
        point: u32,
        partner: &P,
        relative: &mut Relative<'_>,
        from: f32,
        to: f32,
        target: f32,
    ) -> Option<Impact> {
        let centre = self.positions[point as usize];
        let mut time = from;
        loop {
            let pose = relative.at(time);
            let p = pose.point(centre);
            let speed = relative.speed(centre, 0.0, p, to - time);
            let reach = target + speed * (to - time) + self.placement_error(&pose);
            let sample = partner.sample(p, reach)?;
            let free = sample.distance - target;
            // An impact when the rest of the way is below the target.
            if free <= target {
                return Some(Impact {
                    time,
                    contact: self.impact_at(point, p, sample),
                });
            }
            // `speed` is positive: otherwise the point would be out of reach.
            time += free / speed;
            if time > to {
                return None;
            }
        }
    }

    fn impact_at(&self, point: u32, p: Vec3, Sample { distance, normal }: Sample) -> Contact {
        Contact {
            point: p,
            distance,
            normal,
            feature: self.points[point as usize].id,
        }
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
    fn no_point_gets_inside_before_the_impact_and_one_is_close_at_it() {
        let mut rng = Rng(8);
        let tree = cube();
        let partner = BoxShape::new(Vec3::new(0.3, 0.2, 0.1));
        let (mut hits, mut close) = (0, 0);
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
                    least >= -1.01 * target || time == 0.0 || end == 0.0,
                    "{least} at {time} of {end}"
                );
                close += u32::from(impact.is_some() && k == 100 && least < 0.21 * target);
            }
        }
        assert!(hits > 50, "only {hits} of 200 hit");
        // The others graze.
        assert!(close > hits - hits / 10, "{close} of {hits} are close");
    }
}
