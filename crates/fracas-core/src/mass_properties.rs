//! Volume, centre of mass and inertia of a closed surface, exactly.
//!
//! Each triangle spans a signed tetrahedron with a reference point; the moments of
//! a tetrahedron are polynomials of its corners, and those outside the body cancel
//! (the divergence theorem). Density is one: multiply volume and inertia by it.
//!
//! **Guarantee**: exact up to f64 rounding for a closed surface, wherever it is,
//! when the reference point is near the body.

use glam::{DMat3, DVec3};

/// Volume, centre and inertia at unit density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume: the mass at unit density.
    pub volume: f64,
    /// Centre of mass.
    pub centre: DVec3,
    /// Inertia tensor about the centre, at unit density.
    pub inertia: DMat3,
}

impl MassProperties {
    /// The inertia tensor about any point, by the parallel axis theorem.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn inertia_about(&self, point: DVec3) -> DMat3 {
        self.inertia + point_inertia(self.volume, self.centre - point)
    }

    /// The moments of inertia about the principal axes, and these axes as the columns
    /// of a rotation. By Jacobi's rotations, with square roots only: the same bits on
    /// every machine.
    #[must_use]
    pub fn principal(&self) -> (DVec3, DMat3) {
        let (mut a, mut axes) = (self.inertia, DMat3::IDENTITY);
        let scale = a.to_cols_array().iter().fold(0.0, |m, x| x.abs().max(m));
        // Each sweep squares what is left beside the diagonal.
        for _ in 0..12 {
            for (i, j) in [(0, 1), (1, 2), (0, 2)] {
                let off = a.col(i)[j];
                if off.abs() <= 1e-17 * scale {
                    continue;
                }
                let theta = (a.col(j)[j] - a.col(i)[i]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let cos = 1.0 / (t * t + 1.0).sqrt();
                let sin = t * cos;
                let mut turn = DMat3::IDENTITY;
                turn.col_mut(i)[i] = cos;
                turn.col_mut(j)[j] = cos;
                turn.col_mut(j)[i] = sin;
                turn.col_mut(i)[j] = -sin;
                a = turn.transpose() * a * turn;
                axes *= turn;
            }
        }
        let moments = DVec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z);
        (moments.max(DVec3::ZERO), axes)
    }

    /// The properties of several bodies taken as one.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn sum<'a>(bodies: impl IntoIterator<Item = &'a Self> + Clone) -> Self {
        let volume: f64 = bodies.clone().into_iter().map(|b| b.volume).sum();
        let moment: DVec3 = bodies
            .clone()
            .into_iter()
            .map(|b| b.centre * b.volume)
            .sum();
        let centre = if volume > 0.0 {
            moment / volume
        } else {
            DVec3::ZERO
        };
        let inertia = bodies
            .into_iter()
            .fold(DMat3::ZERO, |sum, b| sum + b.inertia_about(centre));
        Self {
            volume,
            centre,
            inertia,
        }
    }
}

/// Inertia of a point of the given mass at `r` from the axis' point.
fn point_inertia(mass: f64, r: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
    (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * mass
}

/// Sums triangles of a closed surface into [`MassProperties`].
#[derive(Clone, Copy, Debug)]
pub struct MassSum {
    origin: DVec3,
    volume6: f64,
    /// 24 times the first moment.
    moment24: DVec3,
    /// 120 times the second moments: xx, yy, zz and xy, yz, zx.
    squares120: DVec3,
    products120: DVec3,
}

impl MassSum {
    /// Empty, with a reference point that should lie near the body.
    #[must_use]
    pub fn new(origin: DVec3) -> Self {
        Self {
            origin,
            volume6: 0.0,
            moment24: DVec3::ZERO,
            squares120: DVec3::ZERO,
            products120: DVec3::ZERO,
        }
    }

    /// Adds a triangle, counter-clockwise seen from outside.
    #[inline]
    pub fn add(&mut self, triangle: [DVec3; 3]) {
        let [a, b, c] = triangle.map(|p| p - self.origin);
        let volume6 = a.dot(b.cross(c));
        let sum = a + b + c;
        self.volume6 += volume6;
        self.moment24 += sum * volume6;
        // Over a tetrahedron with one corner at the origin the integral of x y is
        // volume6 / 120 times (sum of a corner's products + product of the sums).
        self.squares120 += (a * a + b * b + c * c + sum * sum) * volume6;
        let shift = |v: DVec3| DVec3::new(v.y, v.z, v.x);
        self.products120 +=
            (a * shift(a) + b * shift(b) + c * shift(c) + sum * shift(sum)) * volume6;
    }

    /// The properties of what was added.
    #[must_use]
    pub fn finish(&self) -> MassProperties {
        let volume = self.volume6 / 6.0;
        if volume <= 0.0 || !volume.is_finite() {
            return MassProperties {
                volume: 0.0,
                centre: self.origin,
                inertia: DMat3::ZERO,
            };
        }
        let from_origin = self.moment24 / (24.0 * volume);
        let squares = self.squares120 / 120.0;
        let products = self.products120 / 120.0;
        let (xy, yz, zx) = (products.x, products.y, products.z);
        let about_origin = DMat3::from_cols(
            DVec3::new(squares.y + squares.z, -xy, -zx),
            DVec3::new(-xy, squares.x + squares.z, -yz),
            DVec3::new(-zx, -yz, squares.x + squares.y),
        );
        MassProperties {
            volume,
            centre: self.origin + from_origin,
            inertia: about_origin - point_inertia(volume, from_origin),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::box_grid;
    use glam::Vec3;

    #[test]
    fn principal_axes_make_the_inertia_diagonal() {
        let mut rng = crate::testing::Rng(77);
        for case in 0..300 {
            let mut random = || f64::from(rng.range(-1.0, 1.0));
            let half = DMat3::from_cols_array(&std::array::from_fn(|_| random()));
            let inertia = match case % 4 {
                0 => DMat3::from_diagonal(DVec3::new(2.0, 2.0, 1.0)),
                1 => DMat3::ZERO,
                _ => half.transpose() * half * 1e-6,
            };
            let body = MassProperties {
                volume: 1.0,
                centre: DVec3::ZERO,
                inertia,
            };
            let (moments, axes) = body.principal();
            assert!((axes.determinant() - 1.0).abs() < 1e-12);
            let back = axes * DMat3::from_diagonal(moments) * axes.transpose();
            let off = (back - inertia).to_cols_array();
            let size = inertia
                .to_cols_array()
                .iter()
                .fold(0.0, |m: f64, x| x.abs().max(m));
            assert!(off.iter().all(|x| x.abs() <= 1e-13 * size), "{inertia}");
        }
    }

    fn of_box(size: Vec3, shift: DVec3) -> MassProperties {
        let mesh = box_grid([2, 1, 3], size);
        let mut sum = MassSum::new(shift);
        for face in mesh.boundary() {
            sum.add(
                face.nodes
                    .map(|n| mesh.positions()[n as usize].as_dvec3() + shift),
            );
        }
        sum.finish()
    }

    #[test]
    fn a_box_has_the_moments_of_a_box() {
        let (size, shift) = (Vec3::new(2.0, 3.0, 0.5), DVec3::new(100.0, -5.0, 7.0));
        let found = of_box(size, shift);
        let s = size.as_dvec3();
        assert!((found.volume - 3.0).abs() < 1e-12);
        assert!((found.centre - shift - s * 0.5).length() < 1e-12);
        let diagonal = DVec3::new(
            s.y * s.y + s.z * s.z,
            s.z * s.z + s.x * s.x,
            s.x * s.x + s.y * s.y,
        ) * (3.0 / 12.0);
        let difference = found.inertia - DMat3::from_diagonal(diagonal);
        assert!(
            difference.to_cols_array().iter().all(|x| x.abs() < 1e-11),
            "{difference}"
        );
    }

    #[test]
    fn parallel_axes_add_up() {
        let halves = [
            of_box(Vec3::ONE, DVec3::ZERO),
            of_box(Vec3::ONE, DVec3::new(1.0, 0.0, 0.0)),
        ];
        let whole = of_box(Vec3::new(2.0, 1.0, 1.0), DVec3::ZERO);
        let sum = MassProperties::sum(&halves);
        assert!((sum.volume - whole.volume).abs() < 1e-12);
        assert!((sum.centre - whole.centre).length() < 1e-12);
        let difference = sum.inertia - whole.inertia;
        assert!(difference.to_cols_array().iter().all(|x| x.abs() < 1e-12));
    }

    #[test]
    fn nothing_has_no_volume() {
        assert_eq!(MassSum::new(DVec3::ONE).finish().volume, 0.0);
    }
}
