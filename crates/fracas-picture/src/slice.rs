//! A slice through a scalar field, as colours with contour lines and a legend.

use crate::colour::Colour;
use crate::colour_map::{diverging, sequential};
use crate::image::Image;

/// How a slice is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// The values of the first and the last colour.
    pub range: [f32; 2],
    /// Blue below and red above the middle of the range, instead of dark to light.
    pub signed: bool,
    /// A line wherever the value crosses a multiple of this; 0: no lines.
    pub contour_step: f32,
    /// A bar with the numbers of the range along the right side.
    pub legend: bool,
}

impl Default for Slice {
    fn default() -> Self {
        Self {
            width: 400,
            height: 400,
            range: [0.0, 1.0],
            signed: false,
            contour_step: 0.0,
            legend: true,
        }
    }
}

const LEGEND: usize = 90;

/// Draws `value(u, v)` with `u` from 0 (left) to 1 and `v` from 0 (bottom) to 1;
/// `None` is outside the body and stays blank.
pub fn slice(options: &Slice, mut value: impl FnMut(f32, f32) -> Option<f32>) -> Image {
    let Slice { width, height, .. } = *options;
    let blank = Colour::from_srgb(244, 243, 240);
    let values: Vec<Option<f32>> = (0..width * height)
        .map(|i| {
            let u = (i % width) as f32 + 0.5;
            let v = (height - 1 - i / width) as f32 + 0.5;
            value(u / width as f32, v / height as f32)
        })
        .collect();
    let beside = if options.legend { LEGEND } else { 0 };
    let mut image = Image::new(width + beside, height, blank);
    for y in 0..height {
        for x in 0..width {
            let Some(here) = values[y * width + x] else {
                continue;
            };
            let colour = colour_of(options, here);
            let share = contour(options, &values, x, y, here);
            image.set(x, y, colour.mix(Colour::BLACK, 0.55 * share));
        }
    }
    if options.legend {
        legend(options, &mut image);
    }
    image
}

fn colour_of(options: &Slice, value: f32) -> Colour {
    let [lo, hi] = options.range;
    let t = (value - lo) / (hi - lo);
    if options.signed {
        diverging(t * 2.0 - 1.0)
    } else {
        sequential(t)
    }
}

/// How much of a contour line covers this pixel: the distance to the nearest
/// multiple of the step, in pixels, by the local slope.
fn contour(options: &Slice, values: &[Option<f32>], x: usize, y: usize, here: f32) -> f32 {
    let step = options.contour_step;
    if step <= 0.0 || !here.is_finite() {
        return 0.0;
    }
    let at = |x: usize, y: usize| values.get(y * options.width + x).copied().flatten();
    let difference = |a: Option<f32>, b: Option<f32>| match (a, b) {
        (Some(a), Some(b)) => (b - a) * 0.5,
        (Some(a), None) => here - a,
        (None, Some(b)) => b - here,
        (None, None) => 0.0,
    };
    let left = if x > 0 { at(x - 1, y) } else { None };
    let right = if x + 1 < options.width {
        at(x + 1, y)
    } else {
        None
    };
    let up = if y > 0 { at(x, y - 1) } else { None };
    let (dx, dy) = (difference(left, right), difference(up, at(x, y + 1)));
    let slope = (dx * dx + dy * dy).sqrt();
    let away = (here - libm::roundf(here / step) * step).abs();
    // Where the field is flat, or lines would touch, there is no line to draw.
    if slope * 4.0 > step || slope <= f32::MIN_POSITIVE {
        return 0.0;
    }
    (1.1 - away / slope).clamp(0.0, 1.0)
}

fn legend(options: &Slice, image: &mut Image) {
    let (left, bar) = (options.width + 12, 14);
    let (top, bottom) = (8, options.height.saturating_sub(8).max(9));
    let [lo, hi] = options.range;
    for y in top..bottom {
        let t = 1.0 - (y - top) as f32 / (bottom - 1 - top).max(1) as f32;
        image.fill(left, y, bar, 1, colour_of(options, lo + (hi - lo) * t));
    }
    let ink = Colour::from_srgb(60, 62, 66);
    let half = Image::text_height(1) / 2;
    for (t, value) in [(0.0, hi), (0.5, (lo + hi) * 0.5), (1.0, lo)] {
        let y = top as f32 + t * (bottom - 1 - top) as f32;
        let y = (y as usize).saturating_sub(half);
        image.text(left + bar + 5, y, 1, ink, &short(value));
    }
}

/// Three significant digits.
fn short(value: f32) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !(1e-3..1e4).contains(&size) {
        format!("{value:.2e}")
    } else {
        let digits = (2.0 - libm::floorf(libm::log10f(size))).max(0.0) as usize;
        format!("{value:.digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_contours_are_where_the_values_are() {
        let options = Slice {
            width: 100,
            height: 50,
            contour_step: 0.25,
            legend: false,
            ..Slice::default()
        };
        let plain = slice(
            &Slice {
                contour_step: 0.0,
                ..options
            },
            |u, _| Some(u),
        );
        let lined = slice(&options, |u, v| (v > 0.5).then_some(u));
        assert_eq!(plain.pixels()[99], sequential(0.995).to_srgb());
        // The lower half is outside, and lines are at a quarter, a half, three quarters.
        assert_eq!(lined.pixels()[40 * 100 + 10], [244, 243, 240]);
        for x in 5..95 {
            let near = [25, 50, 75].iter().any(|&l: &i32| (x - l).abs() <= 2);
            let same = plain.pixels()[x as usize] == lined.pixels()[x as usize];
            assert!(near || same, "unexpected line at {x}");
        }
        assert_ne!(plain.pixels()[50], lined.pixels()[50]);
    }

    #[test]
    fn numbers_of_the_legend_are_short() {
        assert_eq!(short(0.0), "0");
        assert_eq!(short(0.012_34), "0.0123");
        assert_eq!(short(-12.34), "-12.3");
        assert_eq!(short(123_456.0), "1.23e5");
    }

    #[test]
    fn nothing_and_nan_do_not_panic() {
        slice(
            &Slice {
                width: 1,
                height: 1,
                ..Slice::default()
            },
            |_, _| None,
        );
        slice(
            &Slice {
                contour_step: 0.1,
                ..Slice::default()
            },
            |_, _| Some(f32::NAN),
        );
    }
}
