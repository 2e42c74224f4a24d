//! When a moving body first touches, and whether it goes through: conservative
//! advancement on the sphere tree.
//!
//! A query at the end of a step misses what passed through within it, the smaller
//! and faster the fragment the easier. Two questions about one step:
//! - [`SphereTree::first_impact`]: when does a point come near? A point that is near at
//!   the start is an impact at time 0, and all is said.
//! - [`SphereTree::cast_to_depth`]: does a point get deep inside, and when did it go in?
//!   This is what keeps bodies of an engine from passing through each other. Bodies that
//!   lie on, slide along or graze each other do not: whoever stops those instead, where
//!   they happen to be, lets others press into them.
//!
//! Both find the first point that comes to a *level* of signed distance (positive for an
//! impact, negative for a breach):
//! 1. A sphere together with an interval of time is held against the partner: no point
//!    of it leaves the sphere that is wider by (bound on its speed) times half the
//!    interval, at the interval's middle. Where that one may come to the level, the
//!    larger of the two is halved: the interval, or the sphere by its children.
//! 2. A point alone, over an interval in which it goes a short way, advances by its
//!    distance from the level over its speed until it is there. Later intervals than
//!    the best so far are dropped.
//!
//! Step 1 costs a sphere test; only step 2 asks for distances, and for near ones only.
//! The point of a breach is then followed back to where it went in, by bisection.
//!
//! Not in Glondu 2013, which names continuous collision detection as the extension
//! it lacks (section 8).
//!
//! **Guarantee**: until the time of an impact no point of the tree gets nearer than half
//! the target, and then one is nearer than one and a half of it. Without a breach no
//! point that was outside ends up, or was in between, deeper than one and a tenth of the
//! depth asked for. Points alone are swept: ask in both directions.

use glam::{Mat3, Vec3};

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
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn rest(at: Pose) -> Self {
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
        Course::of(self).at(time)
    }
}

/// A motion with what is the same at all times computed once.
#[derive(Clone, Copy)]
struct Course {
    start: Mat3,
    /// Of the point that moves in a straight line: in the world, and in the body.
    from: Vec3,
    centre: Vec3,
    displacement: Vec3,
    axis: Vec3,
    angle: f32,
}

impl Course {
    fn of(motion: &Motion) -> Self {
        Self {
            start: motion.start.rotation,
            from: motion.start.point(motion.centre),
            centre: motion.centre,
            displacement: motion.displacement,
            axis: motion.rotation.normalize_or_zero(),
            angle: motion.rotation.length(),
        }
    }

    #[inline]
    fn at(&self, time: f32) -> Pose {
        // Most partners, and all floors, do not turn.
        let rotation = if self.angle == 0.0 {
            self.start
        } else {
            Pose::new(self.axis, self.angle * time, Vec3::ZERO).rotation * self.start
        };
        Pose {
            rotation,
            translation: self.from + self.displacement * time - rotation * self.centre,
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

/// A point's way over an interval is short below this many tolerances.
const SHORT_WAY: f32 = 16.0;

/// An impact's distance is right to this share of the target, a breach's of the depth.
const IMPACT_TOLERANCE: f32 = 0.5;
const BREACH_TOLERANCE: f32 = 0.1;

/// Halvings of the way to a breach: beyond these, times can no longer be told apart.
const MOST_HALVINGS: u32 = 24;

/// The signed distance that is looked for, and how exactly.
#[derive(Clone, Copy)]
struct Level {
    distance: f32,
    tolerance: f32,
}

/// A node over an interval of time: still to be looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Swept {
    node: u32,
    from: f32,
    to: f32,
}

/// How two bodies move against each other.
struct Relative {
    own: Course,
    other: Course,
    /// Whether the partner stands still.
    other_rests: bool,
    travel: f32,
    spin: f32,
    other_spin: f32,
    /// The body's placement in the partner's frame at time 0.
    start: Pose,
    /// The last time asked about and the placement then: children share their
    /// parent's interval.
    last: (f32, Pose),
}

impl Relative {
    fn new(own: &Motion, other: &Motion) -> Self {
        let start = own.start.relative_to(&other.start);
        Self {
            own: Course::of(own),
            other: Course::of(other),
            other_rests: other.displacement == Vec3::ZERO && other.rotation == Vec3::ZERO,
            start,
            travel: (own.displacement - other.displacement).length(),
            spin: own.rotation.length(),
            other_spin: other.rotation.length(),
            last: (0.0, start),
        }
    }

    /// The body's placement in the partner's frame.
    #[inline]
    fn at(&mut self, time: f32) -> Pose {
        if time != self.last.0 {
            let other = if self.other_rests { 0.0 } else { time };
            let pose = self.own.at(time).relative_to(&self.other.at(other));
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

/// Whether the level may be `reach` away from a place: where that is negative, the place must
/// be that deep inside.
#[inline]
fn may_reach<P: Partner + ?Sized>(partner: &P, p: Vec3, reach: f32) -> bool {
    reach >= 0.0 || partner.may_be_deeper(p, -reach)
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
        let level = Level {
            distance: target,
            tolerance: IMPACT_TOLERANCE * target,
        };
        let touching = self.touching(&relative.start, partner, target, stack);
        touching.or_else(|| Some(self.sweep(partner, &mut relative, level, stack)?.1))
    }

    /// Whether, within the step, a point of this body gets deeper than `depth` (positive)
    /// into the partner, both moving. If so, the impact is where the first such point went
    /// in: there it is outside, or nearly so. Points that are inside at the start do not
    /// count: they are contacts already.
    ///
    /// `stack` is scratch.
    pub fn cast_to_depth<P: Partner + ?Sized>(
        &self,
        motion: &Motion,
        partner: &P,
        partner_motion: &Motion,
        depth: f32,
        stack: &mut Vec<Swept>,
    ) -> Option<Impact> {
        let mut relative = Relative::new(motion, partner_motion);
        let level = Level {
            distance: -depth,
            tolerance: BREACH_TOLERANCE * depth,
        };
        let (point, breach) = self.sweep(partner, &mut relative, level, stack)?;
        let centre = self.positions[point as usize];
        let (mut outside, mut inside) = (0.0, breach.time);
        let mut entry = breach;
        for _ in 0..MOST_HALVINGS {
            let middle = 0.5 * (outside + inside);
            let p = relative.at(middle).point(centre);
            match partner.sample(p, 0.0) {
                Some(sample) => {
                    inside = middle;
                    entry.contact = self.impact_at(point, p, sample);
                }
                None => outside = middle,
            }
        }
        entry.time = outside;
        Some(entry)
    }

    /// The first point that comes to the level, and when.
    fn sweep<P: Partner + ?Sized>(
        &self,
        partner: &P,
        relative: &mut Relative,
        level: Level,
        stack: &mut Vec<Swept>,
    ) -> Option<(u32, Impact)> {
        let mut best: Option<(u32, Impact)> = None;
        stack.clear();
        stack.push(Swept {
            node: 0,
            from: 0.0,
            to: 1.0,
        });
        while let Some(Swept { node, from, to }) = stack.pop() {
            let to = best.map_or(to, |b| to.min(b.1.time));
            if from >= to {
                continue;
            }
            let sphere = &self.nodes[node as usize];
            let middle = 0.5 * (from + to);
            let half = 0.5 * (to - from);
            let pose = relative.at(middle);
            let p = pose.point(sphere.centre);
            let way = half * relative.speed(sphere.centre, sphere.radius, p, half);
            let reach = sphere.radius + way + level.distance + self.placement_error(&pose);
            // What is to be found deep inside is not where even this place is shallower.
            if !partner.sphere_may_touch(p, reach.max(0.0)) || !may_reach(partner, p, reach) {
                continue;
            }
            let is_leaf = sphere.child_count == 0;
            // Halving ends where times can no longer be told apart.
            let can_halve = from < middle && middle < to;
            if can_halve && way > sphere.radius.max(SHORT_WAY * level.tolerance) {
                let halves = [(middle, to), (from, middle)];
                stack.extend(halves.map(|(from, to)| Swept { node, from, to }));
            } else if is_leaf {
                let point = sphere.point;
                let found = self.advance_point(point, partner, relative, [from, to], level);
                let counts = |_: &Impact| {
                    !(level.distance < 0.0 && self.starts_inside(point, partner, relative))
                };
                best = found.filter(counts).map(|impact| (point, impact)).or(best);
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

    /// When a point first comes to the level during an interval.
    fn advance_point<P: Partner + ?Sized>(
        &self,
        point: u32,
        partner: &P,
        relative: &mut Relative,
        [from, to]: [f32; 2],
        level: Level,
    ) -> Option<Impact> {
        let centre = self.positions[point as usize];
        let mut time = from;
        loop {
            let pose = relative.at(time);
            let p = pose.point(centre);
            let speed = relative.speed(centre, 0.0, p, to - time);
            let reach = level.distance + speed * (to - time) + self.placement_error(&pose);
            if !may_reach(partner, p, reach) {
                return None;
            }
            let sample = partner.sample(p, reach.max(0.0))?;
            // What starts inside is a contact already, and none of its impacts counts.
            if time == 0.0 && level.distance < 0.0 && sample.distance < 0.0 {
                return None;
            }
            let free = sample.distance - level.distance;
            if free <= level.tolerance {
                return Some(Impact {
                    time,
                    contact: self.impact_at(point, p, sample),
                });
            }
            // Where nothing moves, the time is infinite.
            time += free / speed;
            if time > to {
                return None;
            }
        }
    }

    fn starts_inside<P: Partner + ?Sized>(
        &self,
        point: u32,
        partner: &P,
        relative: &Relative,
    ) -> bool {
        let p = relative.start.point(self.positions[point as usize]);
        partner.sample(p, 0.0).is_some_and(|s| s.distance < 0.0)
    }

    fn impact_at(&self, point: u32, p: Vec3, Sample { distance, normal }: Sample) -> Contact {
        Contact {
            point: p,
            distance,
            normal,
            point_id: self.points[point as usize].id,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::partner::{Ball, BoxShape, HalfSpace, NearFace};
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

    /// A floor that counts what it is asked.
    struct Counting {
        floor: HalfSpace,
        spheres: Cell<u32>,
        samples: Cell<u32>,
    }

    impl Partner for Counting {
        fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
            self.spheres.set(self.spheres.get() + 1);
            self.floor.sphere_may_touch(p, radius)
        }

        fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
            self.samples.set(self.samples.get() + 1);
            self.floor.sample(p, max)
        }

        fn faces_near(&self, _: Vec3, _: f32, _: &mut Vec<NearFace>) {}
    }

    /// What a cast into the floor asks: spheres, and points.
    fn asked(tree: &SphereTree, height: f32, displacement: Vec3, spin: Vec3) -> (u32, u32) {
        let floor = Counting {
            floor: HalfSpace::new(Vec3::Y, 0.0),
            spheres: Cell::new(0),
            samples: Cell::new(0),
        };
        let motion = Motion {
            centre: Vec3::splat(0.1),
            displacement,
            rotation: spin,
            ..Motion::rest(Pose::translation(Vec3::Y * height))
        };
        let still = Motion::rest(Pose::IDENTITY);
        let hit = tree.cast_to_depth(&motion, &floor, &still, 0.03, &mut Vec::new());
        assert_eq!(hit.is_some(), height + displacement.y < -0.03, "{motion:?}");
        (floor.spheres.get(), floor.samples.get())
    }

    #[test]
    fn what_is_far_is_asked_once_and_what_parts_is_asked_no_point() {
        let mesh = box_grid([8, 8, 8], Vec3::splat(0.2));
        let tree = SphereTree::build(&mesh, &BuildOptions::default()).unwrap();
        let spin = Vec3::new(0.3, 0.1, -0.4);
        // Far: one question about all of it.
        for height in [1.0, 3.0, 30.0] {
            let sideways = Vec3::new(0.8 * height, -0.1, 0.0);
            assert_eq!(asked(&tree, height, sideways, spin), (1, 0));
        }
        // On the floor a moment ago, and away from it: spheres, fewer than there are points,
        // and no point. Up to 134 of them, whatever the speed.
        for up in [0.05, 0.2, 1.0, 5.0] {
            for height in [0.001, 0.02] {
                let (spheres, samples) = asked(&tree, height, Vec3::Y * up, Vec3::ZERO);
                println!("parting by {up} from {height}: {spheres} spheres");
                let points = tree.positions().len() as u32;
                assert!(
                    spheres < points && samples == 0,
                    "{up}: {spheres}, {samples}"
                );
            }
        }
        let (_, samples) = asked(&tree, 0.5, Vec3::Y * -2.0, spin);
        assert!(samples > 0, "what goes in is asked");
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
                close += u32::from(impact.is_some() && k == 100 && least < 1.51 * target);
            }
        }
        assert!(hits > 50, "only {hits} of 200 hit");
        // The others graze.
        assert!(close > hits - hits / 10, "{close} of {hits} are close");
    }

    /// The least distance of the points in `of` at a time.
    fn deepest(
        tree: &SphereTree,
        partner: &BoxShape,
        motion: &Motion,
        other: &Motion,
        time: f32,
        of: impl Fn(usize) -> bool,
    ) -> f32 {
        let pose = motion.at(time).relative_to(&other.at(time));
        let points = tree.positions().iter().enumerate();
        points
            .filter(|(i, _)| of(*i))
            .filter_map(|(_, &p)| partner.sample(pose.point(p), 9.0))
            .map(|s| s.distance)
            .fold(9.0, f32::min)
    }

    #[test]
    fn what_goes_through_is_put_back_to_where_it_went_in_and_nothing_else_is() {
        let mut rng = Rng(21);
        let tree = cube();
        let partner = BoxShape::new(Vec3::new(0.3, 0.2, 0.1));
        let depth = 0.02;
        let (mut breaches, mut passed) = (0, 0);
        for _ in 0..300 {
            let from = rng.direction() * rng.range(0.2, 1.5);
            let motion = Motion {
                start: Pose::new(rng.direction(), rng.range(0.0, 3.0), from),
                centre: Vec3::splat(0.1),
                displacement: -from * rng.range(0.2, 2.0) + 0.4 * rng.direction(),
                rotation: rng.direction() * rng.range(0.0, 4.0),
            };
            let other = Motion {
                rotation: rng.direction() * rng.range(0.0, 2.0),
                displacement: 0.2 * rng.direction(),
                ..Motion::rest(Pose::IDENTITY)
            };
            let start = motion.start.relative_to(&other.start);
            let outside: Vec<bool> = tree
                .positions()
                .iter()
                .map(|&p| partner.sample(start.point(p), 9.0).unwrap().distance > 0.0)
                .collect();
            let breach = tree.cast_to_depth(&motion, &partner, &other, depth, &mut Vec::new());
            let end = breach.map_or(1.0, |b| b.time);
            let least = (0..=200)
                .map(|k| end * k as f32 / 200.0)
                .map(|time| deepest(&tree, &partner, &motion, &other, time, |i| outside[i]))
                .fold(9.0, f32::min);
            assert!(least >= -1.11 * depth, "{least} before {end}");
            passed += u32::from(breach.is_none() && least < -0.1 * depth);
            let Some(breach) = breach else { continue };
            breaches += 1;
            assert!(breach.contact.distance.abs() < 1e-3, "{breach:?}");
            // Had it gone on, it would have been deep.
            let after = (0..=400)
                .map(|k| end + (1.0 - end) * k as f32 / 400.0)
                .map(|time| deepest(&tree, &partner, &motion, &other, time, |i| outside[i]))
                .fold(9.0, f32::min);
            assert!(after < -0.85 * depth, "{after} after {end}");
        }
        assert!(breaches > 80, "{breaches} of 300 breach");
        assert!(passed > 5, "{passed} of 300 graze");
    }
}
