//! Seeded chance: the same seed gives the same numbers on every machine.
//!
//! [`Random`] is splitmix64 (Steele, Lea, Flood 2014); [`Random::fork`] makes an
//! independent stream for a body, an event, a crack, so that one more draw in one
//! place does not change what is drawn in another. [`Noise`] is smooth value
//! noise on a hashed lattice, which makes crack surfaces rough.
//! **Guarantee**: integer and basic f32/f64 arithmetic only, hence the same bits
//! natively and in wasm.

use fracas_core::{GOLDEN, hash64, splitmix64};
use glam::Vec3;

/// A splitmix64 stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// An independent stream, named by a number; this one is unchanged.
    #[must_use]
    pub fn fork(&self, name: u64) -> Self {
        Self {
            state: hash64(self.state ^ hash64(name.wrapping_mul(GOLDEN).wrapping_add(GOLDEN))),
        }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        splitmix64(&mut self.state)
    }

    /// Uniform in `[0, 1)`, 24 bits.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Uniform in `[0, 1)`, 53 bits.
    pub fn unit_f64(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in `[lo, hi)`.
    pub fn range(&mut self, lo: f32, hi: f32) -> f32 {
        lo + (hi - lo) * self.unit()
    }

    /// Uniform in `0..n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The bias is below n / 2^64.
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Uniform on the unit sphere.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
            );
            let squared = v.length_squared();
            if squared > 1e-3 && squared <= 1.0 {
                return v / squared.sqrt();
            }
        }
    }
}

/// Smooth noise in space, in `[-1, 1]`, with a feature size.
#[derive(Clone, Debug)]
pub struct Noise {
    seed: u64,
    cells_per_metre: f32,
}

impl Noise {
    /// Noise whose bumps are about `size` apart. A size that is not positive gives
    /// noise that is constant.
    #[must_use]
    pub fn new(seed: u64, size: f32) -> Self {
        let cells_per_metre = if size > 0.0 { 1.0 / size } else { 0.0 };
        Self {
            seed,
            cells_per_metre,
        }
    }

    /// The noise at a point: lattice values joined by smooth steps.
    #[must_use]
    pub fn at(&self, p: Vec3) -> f32 {
        let p = p * self.cells_per_metre;
        let low = p.floor();
        let f = p - low;
        let step = f * f * (Vec3::splat(3.0) - 2.0 * f);
        let corner = |x: f32, y: f32, z: f32| self.lattice(low + Vec3::new(x, y, z));
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let plane = |z: f32| {
            mix(
                mix(corner(0.0, 0.0, z), corner(1.0, 0.0, z), step.x),
                mix(corner(0.0, 1.0, z), corner(1.0, 1.0, z), step.x),
                step.y,
            )
        };
        mix(plane(0.0), plane(1.0), step.z)
    }

    fn lattice(&self, cell: Vec3) -> f32 {
        let key = |x: f32, salt: u64| (x as i64 as u64).wrapping_mul(salt);
        let mixed = self.seed
            ^ key(cell.x, GOLDEN)
            ^ key(cell.y, 0xC2B2_AE3D_27D4_EB4F)
            ^ key(cell.z, 0x1656_67B1_9E37_79F9);
        (hash64(mixed) >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_forks_differ() {
        let mut a = Random::new(5);
        let mut b = Random::new(5);
        assert_eq!(
            (0..9).map(|_| a.bits()).collect::<Vec<_>>(),
            (0..9).map(|_| b.bits()).collect::<Vec<_>>()
        );
        let root = Random::new(5);
        assert_ne!(root.fork(0).bits(), root.fork(1).bits());
        assert_eq!(root.fork(7).bits(), root.fork(7).bits());
        // The published first outputs of splitmix64 for the seed 1234567.
        let mut known = Random::new(1_234_567);
        assert_eq!(known.bits(), 6_457_827_717_110_365_317);
        assert_eq!(known.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn noise_is_bounded_smooth_and_not_constant() {
        let noise = Noise::new(3, 0.5);
        let mut seen = (f32::INFINITY, f32::NEG_INFINITY);
        for i in 0..2000 {
            let p = Vec3::new(i as f32 * 0.01 - 8.0, i as f32 * 0.003, -0.2);
            let (a, b) = (noise.at(p), noise.at(p + Vec3::splat(1e-4)));
            assert!(a.abs() <= 1.0 && (a - b).abs() < 4e-3);
            seen = (seen.0.min(a), seen.1.max(a));
        }
        assert!(seen.1 - seen.0 > 0.8);
        assert!(Noise::new(1, 0.0).at(Vec3::splat(9.0)).is_finite());
    }
}
