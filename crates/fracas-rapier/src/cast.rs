//! Fragments in motion: when they touch what they meet, and whether they go through.
//!
//! A game's own casts ask for the first touch. The engine asks after each step whether
//! a fast body went through something, and puts it back to where it went in, with the
//! velocity it has; the contacts of its next step do the rest. Bodies that only came
//! close, or lie on each other, are not put back: that would hold them in the way of
//! others, whatever the solver found for them.
//!
//! What counts as through is what contacts could not undo: a point that is deeper in a
//! solid than half the radius of the largest ball in it may be pushed out on the far side.
//! It is the solid's own thickness that matters, not that of the body the point belongs to:
//! a floor has no far side, and a shard that turns on it needs no cast. (But no body is let
//! in by more than a quarter of its own radius.) A body whose points cannot come as deep in
//! the step is not cast at all.

use std::cell::RefCell;

use fracas_core::sphere_tree::{Motion, Partner, Swept};
use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::math::{Pose, Real};
use parry3d::query::{NonlinearRigidMotion, Ray, ShapeCastHit, ShapeCastStatus, Unsupported};
use parry3d::shape::{FeatureId, Shape, TypedShape};

use crate::pair::Pair;
use crate::partner::{Part, parts};
use crate::pose::to_pose;
use crate::shape::FragmentShape;

/// What is asked about a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// When do the two first touch?
    Touches,
    /// Does one get deep into the other, and when did it go in?
    GoesThrough,
}

/// Closer than this share of a fragment's inner radius counts as touching.
const TOUCH_SHARE: f32 = 0.02;

/// Deeper than this share of the partner's inner radius is through. The engine, too, holds
/// a motion by half a body's thickness for one that contacts can deal with.
const THROUGH_SHARE: f32 = 0.5;

/// No body gets deeper into anything than this share of its own radius.
const MOST_SHARE: f32 = 0.25;

thread_local! {
    static STACK: RefCell<Vec<Swept>> = RefCell::default();
}

/// When (as a share of the motion), and the way out of the partner, in the world.
type Hit = (f32, Vec3);

/// Asks about two shapes that move from a start time to an end time.
pub(crate) fn cast(
    question: Question,
    [motion1, motion2]: [&NonlinearRigidMotion; 2],
    [g1, g2]: [&dyn Shape; 2],
    [start_time, end_time]: [Real; 2],
) -> Result<Option<ShapeCastHit>, Unsupported> {
    let [m1, m2] = [motion1, motion2].map(|m| to_motion(m, start_time, end_time));
    let hit = match Pair::of(g1, g2).ok_or(Unsupported)? {
        Pair::Fragments(f1, f2) => fragments(question, f1, &m1, f2, &m2),
        Pair::First(f, g) => at_shape(question, f, &m1, g, &m2)?.map(|(t, n)| (t, -n)),
        Pair::Second(g, f) => at_shape(question, f, &m2, g, &m1)?,
    };
    Ok(hit.map(|(share, normal)| {
        let time = start_time + share * (end_time - start_time);
        // `normal` points from 1 to 2, in the world, at the time of the impact.
        let [turn1, turn2] = [motion1, motion2].map(|m| m.position_at_time(time).rotation);
        ShapeCastHit {
            time_of_impact: time,
            witness1: Vec3::ZERO,
            witness2: Vec3::ZERO,
            normal1: turn1.inverse() * normal,
            normal2: turn2.inverse() * -normal,
            subshape1: 0,
            subshape2: 0,
            status: if time <= start_time {
                ShapeCastStatus::PenetratingOrWithinTargetDist
            } else {
                ShapeCastStatus::Converged
            },
        }
    }))
}

fn to_motion(motion: &NonlinearRigidMotion, start_time: f32, end_time: f32) -> Motion {
    let span = end_time - start_time;
    Motion {
        start: to_pose(&motion.position_at_time(start_time)),
        centre: motion.local_center,
        displacement: motion.linvel * span,
        rotation: motion.angvel * span,
    }
}

/// Two fragments; the way is from the first to the second.
fn fragments(
    question: Question,
    f1: &FragmentShape,
    m1: &Motion,
    f2: &FragmentShape,
    m2: &Motion,
) -> Option<Hit> {
    let (s1, s2) = (
        f1.object().read(),
        (!f1.object().is_same(f2.object())).then(|| f2.object().read()),
    );
    let state2 = s2.as_deref().unwrap_or(&s1);
    let field1 = s1.field().of(s1.fragments(), f1.id());
    let field2 = state2.field().of(state2.fragments(), f2.id());
    let one = first_hit(question, f1, m1, &field2, m2, f2.inner_radius()).map(|(t, n)| (t, -n));
    match one {
        // Nothing can be earlier.
        Some((0.0, _)) => one,
        _ => match (
            one,
            first_hit(question, f2, m2, &field1, m1, f1.inner_radius()),
        ) {
            (Some(a), Some(b)) => Some(if a.0 <= b.0 { a } else { b }),
            (a, b) => a.or(b),
        },
    }
}

/// A fragment and a plain shape: the fragment's points against each part of the shape, and
/// the part's own points, as balls where they are rounded, against the fragment. A ball that
/// is smaller than the gaps between a fragment's points is found by its centre.
fn at_shape(
    question: Question,
    fragment: &FragmentShape,
    motion: &Motion,
    shape: &dyn Shape,
    shape_motion: &Motion,
) -> Result<Option<Hit>, Unsupported> {
    let mut best: Option<Hit> = None;
    let mut keep = |found: Option<Hit>| {
        if let Some(hit) = found
            && best.is_none_or(|b| hit.0 < b.0)
        {
            best = Some(hit);
        }
    };
    let near = swept_box(fragment, motion, shape_motion);
    let thickness = fragment.inner_radius();
    let mut points = Vec::new();
    let visited = parts(
        shape,
        &Pose::identity(),
        thickness,
        &near,
        &mut |at, inner, part| {
            let local = to_pose(at);
            let placed = Motion {
                start: local.then(&shape_motion.start),
                centre: local.inverse().point(shape_motion.centre),
                ..*shape_motion
            };
            keep(first_hit(
                question, fragment, motion, part, &placed, part.inner,
            ));
            if question == Question::Touches {
                return;
            }
            if part.is_sheet() {
                keep(first_crossing(fragment, motion, inner, part, &placed));
                return;
            }
            part.own_points(&near, &mut points);
            let state = fragment.object().read();
            let field = state.field().of(state.fragments(), fragment.id());
            let depth = THROUGH_SHARE * fragment.inner_radius();
            for point in &points {
                let ball = (point.center, point.radius);
                keep(ball_breach(ball, &placed, &field, motion, depth).map(|(t, n)| (t, -n)));
            }
        },
    );
    visited.map_err(|_| Unsupported)?;
    Ok(best)
}

/// The box, in the shape's frame at the start, that the fragment does not leave.
fn swept_box(fragment: &FragmentShape, motion: &Motion, shape_motion: &Motion) -> Aabb {
    let (centre, radius) = fragment.tree().bounding_sphere();
    let pose = motion.start.relative_to(&shape_motion.start);
    let reach = Vec3::splat(radius + farthest(fragment, motion, shape_motion));
    let at = pose.point(centre);
    Aabb::new(at - reach, at + reach)
}

/// When a ball gets deeper than `depth` into a partner, both moving: conservative
/// advancement of its centre. The time is that of its first touch, the direction the way
/// out of the partner, in the world. A ball that is as deep at the start does not count.
fn ball_breach<P: Partner>(
    (centre, radius): (Vec3, f32),
    motion: &Motion,
    partner: &P,
    partner_motion: &Motion,
    depth: f32,
) -> Option<Hit> {
    let at = |time: f32| {
        let pose = motion.at(time).relative_to(&partner_motion.at(time));
        pose.point(centre)
    };
    let own = (motion.displacement - partner_motion.displacement).length()
        + motion.rotation.length() * centre.distance(motion.centre);
    let speed_at = |p: Vec3| {
        own + partner_motion.rotation.length() * (p.distance(partner_motion.centre) + own)
    };
    let level = radius - depth;
    let mut time = 0.0;
    for _ in 0..MOST_STRIDES {
        let p = at(time);
        let speed = speed_at(p);
        let sample = partner.sample(p, (level + speed * (1.0 - time)).max(0.0))?;
        let free = sample.distance - level;
        if free <= 0.1 * depth {
            if time == 0.0 {
                return None;
            }
            break;
        }
        time += free / speed;
        if time > 1.0 {
            return None;
        }
    }
    // Back to where it touched.
    let (mut outside, mut inside) = (0.0, time);
    let mut normal = Vec3::Y;
    for _ in 0..24 {
        let middle = 0.5 * (outside + inside);
        match partner.sample(at(middle), radius.max(1e-6)) {
            Some(sample) => {
                inside = middle;
                normal = sample.normal;
            }
            None => outside = middle,
        }
    }
    Some((outside, partner_motion.at(outside).direction(normal)))
}

/// Strides of a ball at most.
const MOST_STRIDES: u32 = 500;

/// Parts of a turning motion whose points go straight.
const STRAIGHT_ANGLE: f32 = 0.2;

/// When a point of a fragment first crosses a surface without inside from its front, and
/// does not end so near behind it that contacts lead it back: thin walls have a back that is
/// nearer. Points go straight in parts of the motion.
fn first_crossing(
    fragment: &FragmentShape,
    motion: &Motion,
    shape: &dyn Shape,
    part: &Part<'_>,
    shape_motion: &Motion,
) -> Option<Hit> {
    let least = THROUGH_SHARE * fragment.inner_radius();
    if farthest(fragment, motion, shape_motion) < 0.5 * least {
        return None;
    }
    let (centre, radius) = fragment.tree().bounding_sphere();
    let start = motion.start.relative_to(&shape_motion.start).point(centre);
    if !part.sphere_may_touch(start, radius + farthest(fragment, motion, shape_motion)) {
        return None;
    }
    let turn = motion.rotation.length() + shape_motion.rotation.length();
    let count = (turn / STRAIGHT_ANGLE).ceil().clamp(1.0, 32.0) as usize;
    let times: Vec<f32> = (0..=count).map(|i| i as f32 / count as f32).collect();
    let poses: Vec<fracas_core::Pose> = times
        .iter()
        .map(|&t| motion.at(t).relative_to(&shape_motion.at(t)))
        .collect();
    let mut best: Option<Hit> = None;
    for &point in fragment.tree().positions() {
        let end = poses[count].point(point);
        for i in 0..count {
            if best.is_some_and(|b| b.0 <= times[i]) {
                break;
            }
            let (from, to) = (poses[i].point(point), poses[i + 1].point(point));
            let Some((share, normal)) = crosses(shape, from, to) else {
                continue;
            };
            let back = part.sample(end, 0.0);
            let led_back = back.is_some_and(|s| {
                s.distance < 0.0 && s.distance > -least && s.normal.dot(normal) > 0.5
            });
            if led_back {
                break;
            }
            let time = times[i] + share * (times[i + 1] - times[i]);
            if best.is_none_or(|b| time < b.0) {
                best = Some((time, shape_motion.at(time).direction(normal)));
            }
            break;
        }
    }
    best
}

/// Where, as a share of a short way, a surface is crossed from its front; and its normal.
fn crosses(shape: &dyn Shape, from: Vec3, to: Vec3) -> Option<(f32, Vec3)> {
    let hit = shape.cast_local_ray_and_get_normal(&Ray::new(from, to - from), 1.0, false)?;
    let front = match (shape.as_typed_shape(), hit.feature) {
        // Parry counts the backs of triangles after their fronts.
        (TypedShape::TriMesh(mesh), FeatureId::Face(i)) => (i as usize) < mesh.indices().len(),
        (TypedShape::HeightField(_), _) => hit.normal.y > 0.0,
        (TypedShape::Triangle(t), _) => t.scaled_normal().dot(to - from) < 0.0,
        _ => true,
    };
    front.then_some((hit.time_of_impact, hit.normal))
}

fn first_hit<P: Partner + ?Sized>(
    question: Question,
    fragment: &FragmentShape,
    motion: &Motion,
    partner: &P,
    partner_motion: &Motion,
    inner: f32,
) -> Option<Hit> {
    let tree = fragment.tree();
    let impact = STACK.with_borrow_mut(|stack| match question {
        Question::Touches => {
            let target = TOUCH_SHARE * fragment.inner_radius();
            tree.first_impact(motion, partner, partner_motion, target, stack)
        }
        Question::GoesThrough => {
            let (_, radius) = tree.bounding_sphere();
            let depth = (THROUGH_SHARE * inner).min(MOST_SHARE * radius);
            if farthest(fragment, motion, partner_motion) < depth {
                return None;
            }
            tree.cast_to_depth(motion, partner, partner_motion, depth, stack)
        }
    })?;
    Some((
        impact.time,
        partner_motion
            .at(impact.time)
            .direction(impact.contact.normal),
    ))
}

/// No point of a fragment goes farther against a partner than this.
fn farthest(fragment: &FragmentShape, motion: &Motion, partner_motion: &Motion) -> f32 {
    let (centre, radius) = fragment.tree().bounding_sphere();
    let own = (motion.displacement - partner_motion.displacement).length()
        + motion.rotation.length() * (centre.distance(motion.centre) + radius);
    if partner_motion.rotation == Vec3::ZERO {
        return own;
    }
    let about = partner_motion.start.point(partner_motion.centre);
    let arm = motion.start.point(centre).distance(about) + radius + own;
    own + partner_motion.rotation.length() * arm
}
