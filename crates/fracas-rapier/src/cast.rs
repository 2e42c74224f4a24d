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

use fracas::sphere_tree::{Ball, BoxShape, HalfSpace, Motion, Partner, Swept};
use glam::Vec3;
use parry3d::query::Unsupported;
use parry3d::shape::{Shape, TypedShape};

use crate::pair;
use crate::partner::{Mesh, Solid};
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

/// Two fragments; the way is from the first to the second.
pub(crate) fn fragments(
    question: Question,
    f1: &FragmentShape,
    m1: &Motion,
    f2: &FragmentShape,
    m2: &Motion,
) -> Option<Hit> {
    let (s1, s2) = (
        f1.object().read(),
        (!f1.object().is(f2.object())).then(|| f2.object().read()),
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

/// A fragment and a plain shape.
pub(crate) fn at_shape(
    question: Question,
    fragment: &FragmentShape,
    motion: &Motion,
    shape: &dyn Shape,
    shape_motion: &Motion,
) -> Result<Option<Hit>, Unsupported> {
    let own = fragment.inner_radius();
    let hit = |partner: &dyn Partner, inner: f32| {
        first_hit(question, fragment, motion, partner, shape_motion, inner)
    };
    Ok(match shape.as_typed_shape() {
        TypedShape::HalfSpace(h) => hit(&HalfSpace::new(h.normal, 0.0), f32::INFINITY),
        TypedShape::Ball(b) => hit(&Ball::new(Vec3::ZERO, b.radius), b.radius),
        TypedShape::Cuboid(c) => hit(&BoxShape::new(c.half_extents), c.half_extents.min_element()),
        TypedShape::TriMesh(mesh) => {
            let thickness = own;
            hit(&Mesh { mesh, thickness }, thickness)
        }
        TypedShape::Compound(compound) => {
            let mut best: Option<Hit> = None;
            for (pose, inner) in compound.shapes() {
                let local = pair::to_pose(pose);
                let placed = Motion {
                    start: local.then(&shape_motion.start),
                    centre: local.inverse().point(shape_motion.centre),
                    ..*shape_motion
                };
                if let Some(hit) = at_shape(question, fragment, motion, &**inner, &placed)?
                    && best.is_none_or(|b| hit.0 < b.0)
                {
                    best = Some(hit);
                }
            }
            best
        }
        _ if shape.is_convex() => hit(&Solid(shape), shape.ccd_thickness()),
        _ => return Err(Unsupported),
    })
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
            tree.first_breach(motion, partner, partner_motion, depth, stack)
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
