//! What a tree of points is asked against: anything solid that can say how far
//! away it is. Fragments of a breakable object, the level geometry of a game, and
//! the three analytic shapes.
//!
//! Source: the three elementary queries of [Glondu 2013, section 3]; insideTest and
//! penetration are one here, [`Partner::sample`].

use glam::Vec3;

use crate::fragment_field::FragmentDistance;
pub use crate::fragment_field::{Around, NearFace};
use crate::fragment_surface::FaceKind;
use crate::tet_mesh::NONE;

/// A signed distance and the way out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Negative inside.
    pub distance: f32,
    /// Unit, out of the solid.
    pub normal: Vec3,
}

/// A solid that sphere trees are queried against. Points are in its own frame.
pub trait Partner {
    /// Whether the ball around `p` may touch the solid: `false` only if it certainly
    /// does not. A negative or tiny radius asks about the point itself.
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool;

    /// Signed distance and normal, if the point is inside or nearer than `max`
    /// (which is not negative).
    fn sample(&self, p: Vec3, max: f32) -> Option<Sample>;

    /// Whether `p` may be deeper inside than `depth`: `false` only if it certainly is not.
    /// A bound that costs less than [`Partner::sample`], where there is one.
    fn may_be_deeper(&self, _p: Vec3, _depth: f32) -> bool {
        true
    }

    /// The flat pieces of surface within `max` of `p`, in place of what `out` held.
    /// Curved surfaces give their tangent plane at the closest point.
    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>);

    /// As [`Partner::sample`], and in `faces` the flat pieces of surface that are farther
    /// than the closest one by no more than a band, unless the point is deep: what a
    /// contact needs, in one search. Asked after [`Partner::sphere_may_touch`].
    fn touch(
        &self,
        p: Vec3,
        max: f32,
        around: Around,
        faces: &mut Vec<NearFace>,
    ) -> Option<Sample> {
        let sample = self.sample(p, max)?;
        self.faces_near(p, sample.distance.abs() + around.band, faces);
        Some(sample)
    }

    /// Whether [`Partner::bound`] holds. Then pairs may remember how far their points were.
    fn has_bounds(&self) -> bool {
        false
    }

    /// A lower bound of the distance at a point, where the partner was asked up to `max` and
    /// found this, that falls by no more than the point moves. As it stands, for solids:
    /// their true distance does so. A sheet with a thickness has points of which this cannot
    /// be said: one that has sunk through is outside, and may be deep inside a moment later.
    fn bound(&self, _p: Vec3, max: f32, found: Option<f32>) -> f32 {
        found.unwrap_or(max)
    }
}

/// A face of something that never breaks.
pub(crate) fn unbroken_face(distance: f32, plane_distance: f32, normal: Vec3) -> NearFace {
    NearFace {
        normal,
        distance,
        plane_distance,
        kind: FaceKind::Outer,
        tet: NONE,
    }
}

impl Partner for FragmentDistance<'_> {
    #[inline]
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        FragmentDistance::sphere_may_touch(self, p, radius)
    }

    #[inline]
    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        // Much cheaper than to locate the point, and most points fail it.
        if !FragmentDistance::sphere_may_touch(self, p, max) {
            return None;
        }
        if let Some(at) = self.inside_unless_free(p, 0.0) {
            let found = self.penetration(&at);
            return Some(Sample {
                distance: -found.depth,
                normal: found.normal,
            });
        }
        if max <= 0.0 {
            return None;
        }
        let found = self.nearest_in_reach(p, max)?;
        (found.distance < max).then_some(Sample {
            distance: found.distance,
            normal: found.normal,
        })
    }

    fn may_be_deeper(&self, p: Vec3, depth: f32) -> bool {
        FragmentDistance::may_be_deeper(self, p, depth)
    }

    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        FragmentDistance::faces_near(self, p, max, out);
    }

    #[inline]
    fn touch(
        &self,
        p: Vec3,
        max: f32,
        around: Around,
        faces: &mut Vec<NearFace>,
    ) -> Option<Sample> {
        let found = FragmentDistance::touch(self, p, max, around, faces)?;
        Some(Sample {
            distance: found.distance,
            normal: found.normal,
        })
    }

    fn has_bounds(&self) -> bool {
        true
    }
}

/// Everything behind a plane: a floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    normal: Vec3,
    offset: f32,
}

impl HalfSpace {
    /// The points x with `normal . x <= offset`; `normal` is unit, out of the solid.
    #[must_use]
    pub fn new(normal: Vec3, offset: f32) -> Self {
        Self { normal, offset }
    }

    fn distance(&self, p: Vec3) -> f32 {
        self.normal.dot(p) - self.offset
    }
}

impl Partner for HalfSpace {
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        self.distance(p) <= radius.max(0.0)
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let distance = self.distance(p);
        (distance < max).then_some(Sample {
            distance,
            normal: self.normal,
        })
    }

    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        out.clear();
        let distance = self.distance(p);
        if distance.abs() <= max {
            out.push(unbroken_face(distance.abs(), distance, self.normal));
        }
    }

    fn has_bounds(&self) -> bool {
        true
    }
}

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    centre: Vec3,
    radius: f32,
}

impl Ball {
    /// A ball around `centre`.
    #[must_use]
    pub fn new(centre: Vec3, radius: f32) -> Self {
        Self { centre, radius }
    }
}

impl Partner for Ball {
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        let reach = self.radius + radius.max(0.0);
        p.distance_squared(self.centre) <= reach * reach
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let from_centre = p - self.centre;
        let length = from_centre.length();
        let distance = length - self.radius;
        (distance < max).then(|| Sample {
            distance,
            normal: if length > 0.0 {
                from_centre / length
            } else {
                Vec3::Y
            },
        })
    }

    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        out.clear();
        if let Some(Sample { distance, normal }) = self.sample(p, max)
            && distance.abs() <= max
        {
            out.push(unbroken_face(distance.abs(), distance, normal));
        }
    }

    fn has_bounds(&self) -> bool {
        true
    }
}

/// An axis-aligned box around the origin of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxShape {
    half: Vec3,
}

impl BoxShape {
    /// A box of half-lengths `half`.
    #[must_use]
    pub fn new(half: Vec3) -> Self {
        Self { half }
    }
}

impl Partner for BoxShape {
    fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        let outside = (p.abs() - self.half).max(Vec3::ZERO);
        let radius = radius.max(0.0);
        outside.length_squared() <= radius * radius
    }

    fn sample(&self, p: Vec3, max: f32) -> Option<Sample> {
        let beyond = p.abs() - self.half;
        let outside = beyond.max(Vec3::ZERO);
        let sign = Vec3::select(p.cmplt(Vec3::ZERO), Vec3::NEG_ONE, Vec3::ONE);
        let (distance, normal) = if outside == Vec3::ZERO {
            let axis = (0..3).fold(0, |best, i| if beyond[i] > beyond[best] { i } else { best });
            let mut normal = Vec3::ZERO;
            normal[axis] = sign[axis];
            (beyond[axis], normal)
        } else {
            let length = outside.length();
            (length, outside / length * sign)
        };
        (distance < max).then_some(Sample { distance, normal })
    }

    fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        out.clear();
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let mut closest = p.clamp(-self.half, self.half);
                closest[axis] = sign * self.half[axis];
                let distance = closest.distance(p);
                if distance <= max {
                    let mut normal = Vec3::ZERO;
                    normal[axis] = sign;
                    let plane_distance = sign * p[axis] - self.half[axis];
                    out.push(unbroken_face(distance, plane_distance, normal));
                }
            }
        }
    }

    fn has_bounds(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    /// What any partner must satisfy at a point, whatever its shape.
    fn check(partner: &dyn Partner, p: Vec3, size: f32) {
        let Some(s) = partner.sample(p, 10.0 * size) else {
            panic!("nothing within {size} of {p}");
        };
        assert!((s.normal.length() - 1.0).abs() < 1e-5);
        assert!(partner.sphere_may_touch(p, s.distance.max(0.0) * 1.0001 + 1e-6));
        if s.distance > 1e-3 {
            assert!(!partner.sphere_may_touch(p, 0.99 * s.distance));
            assert!(partner.sample(p, 0.99 * s.distance).is_none());
            // Walking along the normal by the distance reaches the surface.
            let on = partner.sample(p - s.normal * s.distance, 1.0).unwrap();
            assert!(on.distance.abs() < 1e-4 * size);
        }
        let mut faces = Vec::new();
        partner.faces_near(p, s.distance.abs() + 1e-4, &mut faces);
        let nearest = faces
            .iter()
            .map(|f| f.distance)
            .fold(f32::INFINITY, f32::min);
        assert!(
            (nearest - s.distance.abs()).abs() < 1e-4 * size,
            "{p}: {nearest} {s:?}"
        );
    }

    #[test]
    fn analytic_partners_agree_with_themselves() {
        let mut rng = Rng(4);
        let half = Vec3::new(1.0, 2.0, 0.5);
        for _ in 0..2000 {
            let p = rng.in_box(Vec3::splat(-3.0), Vec3::splat(3.0));
            check(&HalfSpace::new(Vec3::Y, 0.3), p, 3.0);
            check(&Ball::new(Vec3::new(0.1, 0.2, 0.3), 1.5), p, 3.0);
            check(&BoxShape::new(half), p, 3.0);
        }
    }
}
