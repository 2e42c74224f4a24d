//! Colours: stored linear, converted to sRGB only when a pixel is written.

use std::sync::LazyLock;

use glam::Vec3;

/// A colour in linear light, each channel usually in `0..=1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub Vec3);

impl Colour {
    /// Black.
    pub const BLACK: Self = Self(Vec3::ZERO);
    /// White.
    pub const WHITE: Self = Self(Vec3::ONE);

    /// From the numbers of an image editor.
    #[must_use]
    pub fn from_srgb(red: u8, green: u8, blue: u8) -> Self {
        Self(Vec3::new(
            to_linear(f32::from(red) / 255.0),
            to_linear(f32::from(green) / 255.0),
            to_linear(f32::from(blue) / 255.0),
        ))
    }

    /// From OKLab lightness, chroma and hue in degrees; clipped to what a screen shows.
    #[must_use]
    pub fn from_oklch(lightness: f32, chroma: f32, hue: f32) -> Self {
        let angle = hue.to_radians();
        Self::from_oklab(Vec3::new(
            lightness,
            chroma * libm::cosf(angle),
            chroma * libm::sinf(angle),
        ))
    }

    /// From OKLab (lightness, green-red, blue-yellow); clipped to what a screen shows.
    #[must_use]
    pub fn from_oklab(lab: Vec3) -> Self {
        Self(oklab_to_linear(lab).clamp(Vec3::ZERO, Vec3::ONE))
    }

    /// To OKLab, where equal distances look equally different.
    #[must_use]
    pub fn to_oklab(self) -> Vec3 {
        let c = self.0;
        let l = libm::cbrtf(0.412_221_46 * c.x + 0.536_332_55 * c.y + 0.051_445_995 * c.z);
        let m = libm::cbrtf(0.211_903_5 * c.x + 0.680_699_5 * c.y + 0.107_396_96 * c.z);
        let s = libm::cbrtf(0.088_302_46 * c.x + 0.281_718_85 * c.y + 0.629_978_7 * c.z);
        Vec3::new(
            0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
            1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
            0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
        )
    }

    /// The `i`-th of an endless row of colours that are easy to tell apart:
    /// fragments, series of a plot.
    #[must_use]
    pub fn distinct(i: usize) -> Self {
        // Golden-angle steps in hue; lightness and chroma cycle with coprime periods.
        const GOLDEN_ANGLE: f64 = 137.507_764_050_037_85;
        let hue = (i as f64 * GOLDEN_ANGLE + 35.0) % 360.0;
        let lightness = [0.74, 0.64, 0.82][i % 3];
        let chroma = [0.11, 0.08][i % 2];
        Self::from_oklch(lightness, chroma, hue as f32)
    }

    /// `self` for 0, `other` for 1, in linear light.
    #[must_use]
    pub fn mix(self, other: Self, share: f32) -> Self {
        Self(self.0 + (other.0 - self.0) * share)
    }

    /// The bytes of a pixel.
    #[must_use]
    pub fn to_srgb(self) -> [u8; 3] {
        let table = &*TO_BYTE;
        self.0
            .clamp(Vec3::ZERO, Vec3::ONE)
            .to_array()
            .map(|c| table.byte(c))
    }
}

/// From linear light to bytes without a power: where each byte begins, and a byte at or
/// below the right one for equal steps of light.
struct ToByte {
    begins: [f32; 256],
    guesses: [u8; ToByte::STEPS + 1],
}

static TO_BYTE: LazyLock<ToByte> = LazyLock::new(ToByte::build);

impl ToByte {
    const STEPS: usize = 1024;

    fn build() -> Self {
        let mut begins = [0.0; 256];
        for (byte, begin) in begins.iter_mut().enumerate().skip(1) {
            // Bits of positive numbers are in the order of the numbers.
            let (mut below, mut above) = (0, f32::to_bits(1.0));
            while below + 1 < above {
                let middle = below + (above - below) / 2;
                if usize::from(exact_byte(f32::from_bits(middle))) >= byte {
                    above = middle;
                } else {
                    below = middle;
                }
            }
            *begin = f32::from_bits(above);
        }
        let guesses = std::array::from_fn(|i| exact_byte(i as f32 / Self::STEPS as f32));
        Self { begins, guesses }
    }

    fn byte(&self, c: f32) -> u8 {
        let mut byte = self.guesses[((c * Self::STEPS as f32) as usize).min(Self::STEPS)];
        while byte < 255 && self.begins[byte as usize + 1] <= c {
            byte += 1;
        }
        byte
    }
}

fn exact_byte(c: f32) -> u8 {
    (to_gamma(c) * 255.0 + 0.5) as u8
}

fn oklab_to_linear(lab: Vec3) -> Vec3 {
    let cube = |v: f32| v * v * v;
    let l = cube(lab.x + 0.396_337_78 * lab.y + 0.215_803_76 * lab.z);
    let m = cube(lab.x - 0.105_561_346 * lab.y - 0.063_854_17 * lab.z);
    let s = cube(lab.x - 0.089_484_18 * lab.y - 1.291_485_5 * lab.z);
    Vec3::new(
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_93 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    )
}

/// Whether OKLab coordinates are inside what a screen shows.
pub(crate) fn in_gamut(lab: Vec3) -> bool {
    let c = oklab_to_linear(lab);
    c.min_element() >= -1e-3 && c.max_element() <= 1.001
}

fn to_linear(c: f32) -> f32 {
    if c <= 0.040_45 {
        c / 12.92
    } else {
        libm::powf((c + 0.055) / 1.055, 2.4)
    }
}

pub(crate) fn to_gamma(c: f32) -> f32 {
    if c <= 0.003_130_8 {
        c * 12.92
    } else {
        1.055 * libm::powf(c, 1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_way_to_linear_and_back() {
        for v in 0..=255 {
            assert_eq!(Colour::from_srgb(v, 255 - v, v).to_srgb(), [v, 255 - v, v]);
        }
    }

    #[test]
    fn the_table_of_bytes_says_what_the_power_says() {
        for i in 0..=100_000 {
            let c = i as f32 / 100_000.0;
            assert_eq!(TO_BYTE.byte(c), exact_byte(c), "{c}");
        }
        for &begin in &TO_BYTE.begins[1..] {
            for c in [begin, f32::from_bits(begin.to_bits() - 1)] {
                assert_eq!(TO_BYTE.byte(c), exact_byte(c), "{c}");
            }
        }
        assert_eq!(TO_BYTE.byte(f32::NAN), 0);
    }

    #[test]
    fn oklab_knows_white_and_inverts() {
        assert!((Colour::WHITE.to_oklab() - Vec3::X).length() < 1e-3);
        for rgb in [[200, 30, 90], [12, 240, 66], [90, 90, 250]] {
            let [r, g, b] = rgb;
            assert_eq!(
                Colour::from_oklab(Colour::from_srgb(r, g, b).to_oklab()).to_srgb(),
                rgb
            );
        }
    }

    #[test]
    fn neighbouring_distinct_colours_differ() {
        for i in 0..60 {
            for j in i + 1..i + 8 {
                let gap =
                    (Colour::distinct(i).to_oklab() - Colour::distinct(j).to_oklab()).length();
                assert!(gap > 0.04, "colours {i} and {j} differ by {gap}");
            }
        }
    }
}
