//! Cones of directions: normals of triangles and binormals of boundary edges.
//!
//! A direction that varies over the step as a polynomial is bounded by the cone of
//! its Bernstein coefficients: at each time it is a combination of them with
//! positive weights. For vertices that move linearly (time t, edges e, f):
//!
//! * the normal `N(t) = e(t) x f(t)` is quadratic, with the coefficients
//!   `e0 x f0`, `(e0 x f1 + e1 x f0) / 2`, `e1 x f1` [Tang 2008];
//! * the binormal `B(t) = N(t) x e(t)` of the edge e is cubic, with the coefficients
//!   `N0 x e0`, `(2 N1 x e0 + N0 x e1) / 3`, `(N2 x e0 + 2 N1 x e1) / 3`, `N2 x e1`:
//!   the product of a quadratic and a linear polynomial in Bernstein form. This is
//!   the extension to continuous motion that [Heo 2010, §4.3] leaves to its
//!   supplement. (In this sense, `N x e` points into the triangle; the paper wants
//!   it outwards, the sign is the same for all and does not matter for a cone.)
//!
//! A cone is an axis and the cosine of the half angle. Cosines are rounded down by
//! more than the arithmetic can err, so a cone always contains what it bounds.

use glam::{DVec3, Vec3};

use fracas_geometry::primitives::Moving;
use fracas_geometry::primitives::bernstein::{CrossQuadratic, ROUND, difference, size};

/// Cones at least this narrow are kept; wider ones are of no use to any test.
pub(crate) const SMALLEST_COSINE: f32 = 0.02;
/// Room for rounding in one merge, in `f32`.
const MERGE_SLACK: f32 = 4e-6;
/// Room for the error of a normal whose length is at least 1e4 times its error.
const NORMAL_SLACK: f32 = 2e-4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cone {
    pub(crate) axis: Vec3,
    /// Cosine of the half angle; at most zero: no cone, any direction possible;
    /// two: no direction at all.
    pub(crate) cosine: f32,
}

impl Cone {
    pub(crate) const INVALID: Self = Self {
        axis: Vec3::ZERO,
        cosine: -1.0,
    };
    pub(crate) const EMPTY: Self = Self {
        axis: Vec3::ZERO,
        cosine: 2.0,
    };

    #[inline]
    pub(crate) fn is_valid(&self) -> bool {
        self.cosine > 0.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cosine > 1.5
    }

    /// Of unit vectors; a zero vector stands for any direction.
    #[inline]
    pub(crate) fn around(directions: &[Vec3]) -> Self {
        if directions.contains(&Vec3::ZERO) {
            return Self::INVALID;
        }
        let sum: Vec3 = directions.iter().sum();
        let length = sum.length();
        if length < 0.05 {
            return Self::INVALID;
        }
        let axis = sum / length;
        let least = directions
            .iter()
            .fold(1.0_f32, |least, d| least.min(axis.dot(*d)));
        Self::checked(axis, least - NORMAL_SLACK)
    }

    #[inline]
    fn checked(axis: Vec3, cosine: f32) -> Self {
        if cosine >= SMALLEST_COSINE {
            Self { axis, cosine }
        } else {
            Self::INVALID
        }
    }

    /// The smallest cone that contains both [Provot 1997].
    pub(crate) fn merge(&self, other: &Self) -> Self {
        if !self.is_valid() || !other.is_valid() {
            return Self::INVALID;
        }
        if self.is_empty() {
            return *other;
        }
        if other.is_empty() {
            return *self;
        }
        let angle = |cosine: f32| libm::acosf(cosine.clamp(-1.0, 1.0));
        let (mine, others) = (angle(self.cosine), angle(other.cosine));
        let between = angle(self.axis.dot(other.axis));
        if between + others <= mine {
            return *self;
        }
        if between + mine <= others {
            return *other;
        }
        let half = 0.5 * (mine + others + between);
        let across = other.axis - self.axis * self.axis.dot(other.axis);
        let turn = half - mine;
        let axis = self.axis * libm::cosf(turn) + across.normalize_or_zero() * libm::sinf(turn);
        // Only a unit axis will do: nearly opposite axes have no direction across.
        if (axis.length_squared() - 1.0).abs() > 1e-4 {
            return Self::INVALID;
        }
        Self::checked(axis.normalize(), libm::cosf(half) - MERGE_SLACK)
    }
}

/// A unit vector along `v`, unless `v` is not much longer than its error.
#[inline]
pub(crate) fn direction(v: DVec3, error: f64) -> Option<Vec3> {
    let squared = v.length_squared();
    let floor = 1e4 * error;
    (squared > floor * floor && squared > 1e-280).then(|| (v * (1.0 / squared.sqrt())).as_vec3())
}

/// The directions of a triangle's normal at the end of the step, or of its Bernstein
/// coefficients over it; zero where there is none that is certain.
#[inline]
pub(crate) fn normal_directions(
    a: &Moving,
    b: &Moving,
    c: &Moving,
    moving: bool,
    out: &mut [Vec3],
) {
    if !moving {
        let (e, f) = (b[1] - a[1], c[1] - a[1]);
        let error = 16.0 * ROUND * e.abs().max_element() * f.abs().max_element();
        out[0] = direction(e.cross(f), error).unwrap_or(Vec3::ZERO);
        return;
    }
    let (e, f) = (difference(b, a), difference(c, a));
    let error = 64.0 * ROUND * size(&e) * size(&f);
    let normal = CrossQuadratic::new(&e, &f);
    for (slot, n) in out.iter_mut().zip(normal.control()) {
        *slot = direction(*n, error).unwrap_or(Vec3::ZERO);
    }
}

/// The cone of the binormals of the edge ab of the triangle abc over the step.
pub(crate) fn of_binormals(a: &Moving, b: &Moving, c: &Moving) -> Cone {
    let (e, f) = (difference(b, a), difference(c, a));
    let [n0, n1, n2] = *CrossQuadratic::new(&e, &f).control();
    let error = 256.0 * ROUND * size(&e) * size(&e) * size(&f);
    let coefficients = [
        n0.cross(e[0]),
        (n1.cross(e[0]) * 2.0 + n0.cross(e[1])) / 3.0,
        (n2.cross(e[0]) + n1.cross(e[1]) * 2.0) / 3.0,
        n2.cross(e[1]),
    ];
    let mut directions = [Vec3::ZERO; 4];
    for (d, c) in directions.iter_mut().zip(coefficients) {
        match direction(c, error) {
            // Outwards.
            Some(unit) => *d = -unit,
            None => return Cone::INVALID,
        }
    }
    Cone::around(&directions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;

    #[test]
    fn merged_cones_contain_both() {
        let mut rng = Rng(3);
        for _ in 0..2000 {
            let centre = rng.direction();
            let mut cones = [Cone::EMPTY; 2];
            let mut all = Vec::new();
            for cone in &mut cones {
                let near = (centre + rng.direction() * 0.4).normalize();
                let directions: Vec<Vec3> = (0..3)
                    .map(|_| (near + rng.direction() * 0.3).normalize())
                    .collect();
                *cone = Cone::around(&directions);
                all.extend(directions);
            }
            let merged = cones[0].merge(&cones[1]);
            if merged.is_valid() {
                for d in all {
                    assert!(merged.axis.dot(d) >= merged.cosine);
                }
            }
            assert_eq!(merged.is_valid(), cones[1].merge(&cones[0]).is_valid());
        }
        assert!(!Cone::INVALID.merge(&Cone::EMPTY).is_valid());
    }

    /// Normals and binormals sampled over the step stay in their cones.
    #[test]
    fn cones_hold_over_the_step() {
        let mut rng = Rng(4);
        let mut tested = 0;
        for _ in 0..3000 {
            let mut point = || {
                let p = rng.in_box(-Vec3::ONE, Vec3::ONE).as_dvec3();
                [p, p + rng.direction().as_dvec3() * 0.3]
            };
            let [a, b, c] = [point(), point(), point()];
            let mut directions = [Vec3::ZERO; 3];
            normal_directions(&a, &b, &c, true, &mut directions);
            let (normals, binormals) = (Cone::around(&directions), of_binormals(&a, &b, &c));
            for i in 0..=20 {
                let t = f64::from(i) / 20.0;
                let at = |p: &Moving| p[0].lerp(p[1], t);
                let n = (at(&b) - at(&a)).cross(at(&c) - at(&a));
                let outward = -n.cross(at(&b) - at(&a));
                if normals.is_valid() {
                    tested += 1;
                    assert!(n.normalize().as_vec3().dot(normals.axis) >= normals.cosine);
                }
                if binormals.is_valid() {
                    assert!(outward.normalize().as_vec3().dot(binormals.axis) >= binormals.cosine);
                }
            }
        }
        assert!(tested > 1000);
    }
}
