//! A rigid placement, in plain f32 types that round alike everywhere.

use glam::{Mat3, Vec3};

/// Maps a body's local frame to another frame: `x -> rotation * x + translation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Orthonormal, determinant 1.
    pub rotation: Mat3,
    /// Where the local origin goes.
    pub translation: Vec3,
}

impl Pose {
    /// The placement that changes nothing.
    pub const IDENTITY: Self = Self {
        rotation: Mat3::IDENTITY,
        translation: Vec3::ZERO,
    };

    /// A pure translation.
    #[must_use]
    #[inline]
    pub fn translation(by: Vec3) -> Self {
        Self {
            translation: by,
            ..Self::IDENTITY
        }
    }

    /// A rotation by `angle` radians about a unit `axis` through the origin,
    /// then a translation.
    #[must_use]
    pub fn new(axis: Vec3, angle: f32, translation: Vec3) -> Self {
        Self {
            rotation: rotation(axis, angle),
            translation,
        }
    }

    /// Where a point goes.
    #[inline]
    #[must_use]
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.rotation * p + self.translation
    }

    /// Where a direction goes.
    #[inline]
    #[must_use]
    pub fn direction(&self, v: Vec3) -> Vec3 {
        self.rotation * v
    }

    /// The way back.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self {
            rotation,
            translation: -(rotation * self.translation),
        }
    }

    /// First `self`, then `outer`.
    #[must_use]
    #[inline]
    pub fn then(&self, outer: &Self) -> Self {
        Self {
            rotation: outer.rotation * self.rotation,
            translation: outer.rotation * self.translation + outer.translation,
        }
    }

    /// From the frame of the body placed by `self` to that of the body placed by `other`.
    #[must_use]
    #[inline]
    pub fn relative_to(&self, other: &Self) -> Self {
        self.then(&other.inverse())
    }
}

/// Rodrigues' formula with `libm`, the same bits on every platform.
fn rotation(axis: Vec3, angle: f32) -> Mat3 {
    let (s, c) = (libm::sinf(angle), libm::cosf(angle));
    let k = 1.0 - c;
    let (x, y, z) = (axis.x, axis.y, axis.z);
    Mat3::from_cols(
        Vec3::new(c + x * x * k, y * x * k + z * s, z * x * k - y * s),
        Vec3::new(x * y * k - z * s, c + y * y * k, z * y * k + x * s),
        Vec3::new(x * z * k + y * s, y * z * k - x * s, c + z * z * k),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    #[test]
    fn inverse_and_relative_placements_undo_each_other() {
        let mut rng = Rng(1);
        for _ in 0..100 {
            let a = Pose::new(rng.direction(), rng.range(-3.0, 3.0), rng.direction() * 2.0);
            let b = Pose::new(rng.direction(), rng.range(-3.0, 3.0), rng.direction() * 2.0);
            let p = rng.direction();
            assert!(a.inverse().point(a.point(p)).distance(p) < 1e-5);
            let there = b.point(a.relative_to(&b).point(p));
            assert!(there.distance(a.point(p)) < 1e-5);
        }
    }

    #[test]
    fn a_quarter_turn_about_z_takes_x_to_y() {
        let quarter = Pose::new(Vec3::Z, std::f32::consts::FRAC_PI_2, Vec3::ZERO);
        assert!(quarter.point(Vec3::X).distance(Vec3::Y) < 1e-6);
    }
}
