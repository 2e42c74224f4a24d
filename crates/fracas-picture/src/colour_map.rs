//! Perceptually uniform colour maps, computed rather than tabulated.
//!
//! A map is a path through OKLab, where equal distances look equally different.
//! The path is walked at constant speed: its length is measured once on a fine
//! subdivision, and a value `t` is sent to the point at the fraction `t` of it.

use std::sync::LazyLock;

use glam::Vec3;

use crate::colour::{Colour, in_gamut};

/// From dark violet over green-blue to light yellow: for values `0..=1`.
/// Lightness rises all the way, so it also reads in grey.
#[must_use]
pub fn sequential(t: f32) -> Colour {
    static PATH: LazyLock<Vec<Vec3>> = LazyLock::new(|| {
        walk(|t| {
            let hue = (308.0 - 202.0 * t).to_radians();
            let lightness = 0.24 + 0.69 * t;
            chroma_limited(
                lightness,
                0.075 + 0.055 * t + 0.03 * (4.0 * t * (1.0 - t)),
                hue,
            )
        })
    });
    at(&PATH, t)
}

/// Blue below zero, near white at zero, red above: for signed values `-1..=1`.
#[must_use]
pub fn diverging(t: f32) -> Colour {
    static COLD: LazyLock<Vec<Vec3>> = LazyLock::new(|| walk(|t| half(t, 255.0)));
    static WARM: LazyLock<Vec<Vec3>> = LazyLock::new(|| walk(|t| half(t, 35.0)));
    at(if t < 0.0 { &COLD } else { &WARM }, t.abs())
}

fn half(t: f32, hue: f32) -> Vec3 {
    chroma_limited(0.96 - 0.56 * t, 0.16 * t, hue.to_radians())
}

/// The colour of this lightness and hue, with less chroma where a screen cannot show it.
fn chroma_limited(lightness: f32, chroma: f32, hue: f32) -> Vec3 {
    let colour = |c: f32| Vec3::new(lightness, c * libm::cosf(hue), c * libm::sinf(hue));
    if in_gamut(colour(chroma)) {
        return colour(chroma);
    }
    let (mut inside, mut outside) = (0.0, chroma);
    for _ in 0..24 {
        let middle = (inside + outside) * 0.5;
        if in_gamut(colour(middle)) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    colour(inside)
}

const STEPS: usize = 256;

/// `STEPS + 1` points along the path, at equal distances.
fn walk(path: impl Fn(f32) -> Vec3) -> Vec<Vec3> {
    const FINE: usize = 4096;
    let fine: Vec<Vec3> = (0..=FINE).map(|i| path(i as f32 / FINE as f32)).collect();
    let mut length = vec![0.0_f32];
    for pair in fine.windows(2) {
        length.push(length[length.len() - 1] + pair[0].distance(pair[1]));
    }
    let mut i = 0;
    (0..=STEPS)
        .map(|step| {
            let wanted = length[FINE] * step as f32 / STEPS as f32;
            while i + 1 < FINE && length[i + 1] < wanted {
                i += 1;
            }
            let gap = (length[i + 1] - length[i]).max(f32::MIN_POSITIVE);
            fine[i].lerp(fine[i + 1], ((wanted - length[i]) / gap).clamp(0.0, 1.0))
        })
        .collect()
}

fn at(path: &[Vec3], t: f32) -> Colour {
    if t.is_nan() {
        return Colour::from_srgb(128, 128, 128);
    }
    let along = t.clamp(0.0, 1.0) * STEPS as f32;
    let i = (along as usize).min(STEPS - 1);
    Colour::from_oklab(path[i].lerp(path[i + 1], along - i as f32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest over smallest perceived difference of equal steps.
    fn unevenness(map: impl Fn(f32) -> Colour, steps: usize) -> f32 {
        let gaps: Vec<f32> = (0..steps)
            .map(|i| {
                let [a, b] = [i, i + 1].map(|k| map(k as f32 / steps as f32).to_oklab());
                a.distance(b)
            })
            .collect();
        gaps.iter().fold(0.0_f32, |m, &g| m.max(g)) / gaps.iter().fold(f32::MAX, |m, &g| m.min(g))
    }

    #[test]
    fn equal_steps_look_equal() {
        assert!(unevenness(sequential, 64) < 1.1);
        assert!(unevenness(diverging, 32) < 1.1);
        assert!(unevenness(|t| diverging(-t), 32) < 1.1);
    }

    #[test]
    fn sequential_gets_lighter_all_the_way() {
        let lightness: Vec<f32> = (0..=100)
            .map(|i| sequential(i as f32 / 100.0).to_oklab().x)
            .collect();
        assert!(lightness.windows(2).all(|w| w[1] > w[0]));
    }

    #[test]
    fn values_outside_are_clamped_and_nan_is_grey() {
        assert_eq!(sequential(-3.0), sequential(0.0));
        assert_eq!(diverging(7.0), diverging(1.0));
        assert_eq!(sequential(f32::NAN).to_srgb(), [128, 128, 128]);
    }
}
