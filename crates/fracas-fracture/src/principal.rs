//! Principal stresses and directions of a symmetric 3x3 tensor, in closed form.
//!
//! Eigenvalues by the trigonometric solution of the characteristic cubic (Smith
//! 1961), in f64 on f32 input; the direction of the largest by the best-conditioned
//! cross product of two rows of `A - e I`. **Guarantee**: eigenvalues within 1e-7
//! of the tensor's norm (tested against Jacobi rotations); for a double largest
//! value, some direction of its plane.

use glam::{DVec3, Vec3};

/// A stress in Voigt order: xx, yy, zz, xy, yz, zx (Pa).
pub type Stress = [f32; 6];

/// Principal stresses, largest first.
#[must_use]
pub fn principal_values(s: &Stress) -> [f64; 3] {
    let [xx, yy, zz, xy, yz, zx] = s.map(f64::from);
    let off = xy * xy + yz * yz + zx * zx;
    let mean = (xx + yy + zz) / 3.0;
    let (dx, dy, dz) = (xx - mean, yy - mean, zz - mean);
    let squares = dx * dx + dy * dy + dz * dz + 2.0 * off;
    if squares <= 0.0 {
        return [mean; 3];
    }
    let p = (squares / 6.0).sqrt();
    let det = dx * (dy * dz - yz * yz) - xy * (xy * dz - yz * zx) + zx * (xy * yz - dy * zx);
    let r = (det / (2.0 * p * p * p)).clamp(-1.0, 1.0);
    let angle = libm::acos(r) / 3.0;
    let (sin, cos) = libm::sincos(angle);
    // cos(angle + 2 pi / 3) by the addition theorem.
    let first = mean + 2.0 * p * cos;
    let last = mean + 2.0 * p * (-0.5 * cos - 0.75_f64.sqrt() * sin);
    [first, 3.0 * mean - first - last, last]
}

/// The largest absolute principal value: the tensor's spectral norm.
#[must_use]
pub fn spectral_norm(s: &Stress) -> f64 {
    let [first, _, last] = principal_values(s);
    first.abs().max(last.abs())
}

/// Whether the largest principal stress exceeds `limit`: whether `limit I - s` is
/// not positive definite, by its leading minors. A few products, no root.
#[must_use]
pub fn tension_exceeds(s: &Stress, limit: f32) -> bool {
    // The minors of what never breaks would be differences of infinities.
    if limit == f32::INFINITY {
        return false;
    }
    let [xx, yy, zz, xy, yz, zx] = s.map(f64::from);
    let limit = f64::from(limit);
    let (a, b, c) = (limit - xx, limit - yy, limit - zz);
    let minor = a * b - xy * xy;
    // Off-diagonal elements enter negated: the product of all three changes sign.
    let det = c * minor - a * yz * yz - b * zx * zx - 2.0 * xy * yz * zx;
    !(a > 0.0 && minor > 0.0 && det > 0.0)
}

/// Principal values, largest first, and unit directions of the first two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Principal {
    /// Values, largest first (Pa).
    pub values: [f32; 3],
    /// Direction of the largest.
    pub first: Vec3,
    /// Direction of the middle one.
    pub second: Vec3,
}

/// What crack growth asks of a stress.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tension {
    /// Direction of the largest principal stress.
    pub direction: Vec3,
    /// How much it stands out, `(s1 - s2) / s1` in 0..1; 0 where nothing pulls.
    pub uniaxial: f32,
}

/// Direction of the largest tension, in single precision: a sixth of the work of
/// [`principal`], directions within a degree unless the tension is nearly equal in
/// two of them, where none is better than another.
#[must_use]
pub fn tension(s: &Stress) -> Tension {
    let none = Tension {
        direction: Vec3::X,
        uniaxial: 0.0,
    };
    let [xx, yy, zz, xy, yz, zx] = *s;
    let mean = (xx + yy + zz) / 3.0;
    let (dx, dy, dz) = (xx - mean, yy - mean, zz - mean);
    let p = ((dx * dx + dy * dy + dz * dz + 2.0 * (xy * xy + yz * yz + zx * zx)) / 6.0).sqrt();
    if p.is_nan() || p <= 0.0 {
        return none;
    }
    // Scaled by p, so that no product leaves the range of single precision.
    let k = 1.0 / p;
    let (dx, dy, dz, xy, yz, zx) = (dx * k, dy * k, dz * k, xy * k, yz * k, zx * k);
    let det = dx * (dy * dz - yz * yz) - xy * (xy * dz - yz * zx) + zx * (xy * yz - dy * zx);
    let (sin, cos) = libm::sincosf(libm::acosf((0.5 * det).clamp(-1.0, 1.0)) / 3.0);
    let first = 2.0 * cos;
    let second = -cos + 3.0_f32.sqrt() * sin;
    let top = mean + p * first;
    if top <= 0.0 {
        return none;
    }
    let a = Vec3::new(dx - first, xy, zx);
    let b = Vec3::new(xy, dy - first, yz);
    let c = Vec3::new(zx, yz, dz - first);
    let mut best = a.cross(b);
    for other in [a.cross(c), b.cross(c)] {
        if other.length_squared() > best.length_squared() {
            best = other;
        }
    }
    let squared = best.length_squared();
    if squared < 1e-8 {
        return none;
    }
    Tension {
        direction: best / squared.sqrt(),
        uniaxial: (p * (first - second) / top).clamp(0.0, 1.0),
    }
}

/// Principal values and directions.
#[must_use]
pub fn principal(s: &Stress) -> Principal {
    let values = principal_values(s);
    let scale = values[0].abs().max(values[2].abs());
    // The value farther from the middle one has the better-defined direction.
    let (first, last);
    if values[0] - values[1] >= values[1] - values[2] {
        first = eigenvector(s, values[0], scale).unwrap_or(DVec3::X);
        let l = eigenvector(s, values[2], scale).unwrap_or(DVec3::ZERO);
        last = perpendicular(l, first);
    } else {
        last = eigenvector(s, values[2], scale).unwrap_or(DVec3::X);
        let f = eigenvector(s, values[0], scale).unwrap_or(DVec3::ZERO);
        first = perpendicular(f, last);
    }
    Principal {
        values: values.map(|v| v as f32),
        first: first.as_vec3(),
        second: last.cross(first).as_vec3(),
    }
}

/// The part of `v` perpendicular to the unit vector `to`, as a unit vector; any
/// perpendicular one when nothing is left.
fn perpendicular(v: DVec3, to: DVec3) -> DVec3 {
    let rest = v - v.dot(to) * to;
    if rest.length_squared() > 1e-12 {
        return rest.normalize();
    }
    let helper = if to.x.abs() < 0.6 { DVec3::X } else { DVec3::Y };
    to.cross(helper).normalize()
}

fn eigenvector(s: &Stress, value: f64, scale: f64) -> Option<DVec3> {
    let [xx, yy, zz, xy, yz, zx] = s.map(f64::from);
    let a = DVec3::new(xx - value, xy, zx);
    let b = DVec3::new(xy, yy - value, yz);
    let c = DVec3::new(zx, yz, zz - value);
    let mut best = a.cross(b);
    for other in [a.cross(c), b.cross(c)] {
        if other.length_squared() > best.length_squared() {
            best = other;
        }
    }
    // Rows are parallel when the value is double: no direction of its own.
    let size = best.length();
    (size > 1e-12 * scale * scale).then(|| best / size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn apply(s: &Stress, v: Vec3) -> Vec3 {
        let [xx, yy, zz, xy, yz, zx] = *s;
        Vec3::new(
            xx * v.x + xy * v.y + zx * v.z,
            xy * v.x + yy * v.y + yz * v.z,
            zx * v.x + yz * v.y + zz * v.z,
        )
    }

    /// Eigenvalues by cyclic Jacobi rotations: slow and certain.
    fn jacobi(s: &Stress) -> [f64; 3] {
        let [xx, yy, zz, xy, yz, zx] = s.map(f64::from);
        let mut m = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]];
        for _ in 0..60 {
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                if m[p][q] == 0.0 {
                    continue;
                }
                let theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..3 {
                    let (a, b) = (m[k][p], m[k][q]);
                    m[k][p] = c * a - s * b;
                    m[k][q] = s * a + c * b;
                }
                for k in 0..3 {
                    let (a, b) = (m[p][k], m[q][k]);
                    m[p][k] = c * a - s * b;
                    m[q][k] = s * a + c * b;
                }
            }
        }
        let mut values = [m[0][0], m[1][1], m[2][2]];
        values.sort_by(|a, b| b.total_cmp(a));
        values
    }

    #[test]
    fn what_never_breaks_is_not_exceeded() {
        for s in [[5e7, 0.0, -3e7, 1e6, 2e6, -4e6], [0.0; 6]] {
            assert!(!tension_exceeds(&s, f32::INFINITY), "{s:?}");
        }
    }

    #[test]
    fn values_and_directions_agree_with_jacobi_also_for_nasty_tensors() {
        let mut random = Random::new(1);
        let mut cases: Vec<Stress> = (0..3000)
            .map(|i| {
                let scale = [1.0, 1e8, 1e-3][i % 3];
                std::array::from_fn(|k| {
                    let x = random.range(-1.0, 1.0) * scale;
                    if i % 7 == 0 && k >= 3 { x * 1e-6 } else { x }
                })
            })
            .collect();
        cases.push([0.0; 6]);
        cases.push([5.0, 5.0, 5.0, 0.0, 0.0, 0.0]);
        cases.push([5.0, 5.0, 1.0, 0.0, 0.0, 0.0]);
        cases.push([1.0, 5.0, 1.0, 0.0, 0.0, 0.0]);
        cases.push([1.0; 6]);
        for s in &cases {
            let expected = jacobi(s);
            let scale = expected[0].abs().max(expected[2].abs());
            let p = principal(s);
            for k in 0..3 {
                let error = (f64::from(p.values[k]) - expected[k]).abs();
                assert!(error <= 1e-7 * scale, "{s:?}: {:?} {expected:?}", p.values);
            }
            assert!((p.first.length() - 1.0).abs() < 1e-5);
            assert!(p.first.dot(p.second).abs() < 1e-5);
            let off = apply(s, p.first) - p.values[0] * p.first;
            assert!(f64::from(off.length()) <= 2e-5 * scale, "{s:?} {p:?}");
            for factor in [0.5, 0.99, 1.01, 1.5] {
                let limit = (expected[0] + (factor - 1.0) * scale) as f32;
                if scale > 0.0 {
                    assert_eq!(tension_exceeds(s, limit), factor < 1.0, "{s:?} {limit}");
                }
            }
            assert!((spectral_norm(s) - scale).abs() <= 1e-7 * scale);
            let quick = tension(s);
            let [s1, s2, _] = expected;
            let uniaxial = if s1 > 0.0 {
                ((s1 - s2) / s1).clamp(0.0, 1.0)
            } else {
                0.0
            };
            // Where the largest is hardly positive beside the others, it does not matter.
            if s1 > 1e-3 * scale && s1 - s2 > 0.02 * scale {
                assert!((f64::from(quick.uniaxial) - uniaxial).abs() < 0.01, "{s:?}");
                assert!(quick.direction.dot(p.first).abs() > 0.9998, "{s:?}");
            }
        }
    }
}
