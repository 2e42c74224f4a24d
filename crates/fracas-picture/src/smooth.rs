//! Puts together the light that neighbouring pixels gathered from different directions.
//!
//! Each place of a 2 x 2 block of pixels looked at another quarter of the directions.
//! A place takes the mean of each quarter over the places around it that lie on the same
//! smooth surface, weighed by 1-2-1 across and down (in which all four quarters weigh the
//! same), and then the mean of the quarters. Where 3 x 3 pixels do not show all quarters,
//! 5 x 5 are tried: thin things and outlines.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use crate::light::{Lit, TURNS};

/// The places that each pixel shows.
pub(crate) struct Grid<'a> {
    pub width: usize,
    pub height: usize,
    /// For each pixel, its first place; one more at the end.
    pub first: &'a [u32],
    /// About the size of a pixel at a unit of distance from the eye.
    pub pixel: f32,
    pub eye: Vec3,
}

/// Cosine of the angle up to which normals count as of the same surface.
const SAME_SURFACE: f32 = 0.85;

/// Smooths the light of every place.
pub(crate) fn smooth(places: &mut [Lit], grid: &Grid<'_>) {
    let shown = &*places;
    let rows = (0..grid.height).into_par_iter();
    let smoothed: Vec<Vec<Vec4>> = rows.map(|y| smooth_row(shown, grid, y)).collect();
    let mut rest = places;
    let mut rows = Vec::with_capacity(grid.height);
    for lights in &smoothed {
        let (row, below) = rest.split_at_mut(lights.len());
        rows.push((row, lights));
        rest = below;
    }
    rows.into_par_iter().for_each(|(row, lights)| {
        for (place, &light) in row.iter_mut().zip(lights) {
            place.light = light;
        }
    });
}

/// The smoothed light of the places of a row of pixels.
fn smooth_row(places: &[Lit], grid: &Grid<'_>, y: usize) -> Vec<Vec4> {
    let [begin, end] = [y, y + 1].map(|y| grid.first[y * grid.width]);
    let mut lights = Vec::with_capacity((end - begin) as usize);
    for x in 0..grid.width {
        let pixel = y * grid.width + x;
        for at in grid.first[pixel]..grid.first[pixel + 1] {
            let own = &places[at as usize];
            let light = mean_of_single(places, grid, own, [x, y])
                .or_else(|| mean(places, grid, own, [x, y], 1))
                .or_else(|| mean(places, grid, own, [x, y], 2));
            lights.push(light.unwrap_or(own.light));
        }
    }
    lights
}

/// Which places are on the same surface as one of them.
struct Surface {
    position: Vec3,
    normal: Vec3,
    /// How far a neighbour may be off the place's plane, and the square of how far away
    /// from it.
    off: f32,
    away_squared: f32,
}

impl Surface {
    /// Within so many pixels.
    fn around(own: &Lit, grid: &Grid<'_>, reach: usize) -> Self {
        let size = grid.pixel * own.position.distance(grid.eye);
        let away = 8.0 * size * reach as f32;
        Self {
            position: own.position,
            normal: own.normal,
            off: 1.5 * size,
            away_squared: away * away,
        }
    }

    #[inline(always)]
    fn has(&self, other: &Lit) -> bool {
        let apart = other.position - self.position;
        // All three, without a branch between them.
        (other.normal.dot(self.normal) >= SAME_SURFACE)
            & (apart.dot(self.normal).abs() <= self.off)
            & (apart.length_squared() <= self.away_squared)
    }
}

/// The mean of the quarters over 3 x 3 pixels, where each of them shows one place, as most
/// do; all of the same surface. The same bits as [`mean`].
fn mean_of_single(places: &[Lit], grid: &Grid<'_>, own: &Lit, [x, y]: [usize; 2]) -> Option<Vec4> {
    if x == 0 || y == 0 || x + 1 >= grid.width || y + 1 >= grid.height {
        return None;
    }
    let surface = Surface::around(own, grid, 1);
    let row = |v: usize| -> Option<&[Lit; 3]> {
        let pixel = v * grid.width + x - 1;
        let first: &[u32; 4] = grid.first.get(pixel..pixel + 4)?.try_into().ok()?;
        let single = (first[1] == first[0] + 1) & (first[2] == first[0] + 2);
        let begin = first[0] as usize;
        let three = places.get(begin..first[3] as usize)?;
        three.try_into().ok().filter(|_| single)
    };
    let [above, same, below] = [row(y - 1)?, row(y)?, row(y + 1)?];
    let all = [above, same, below];
    if !all
        .iter()
        .flat_map(|row| row.iter())
        .all(|p| surface.has(p))
    {
        return None;
    }
    // By parity: the pixel's own quarter, the one beside, the one above and below, and the
    // one at the corners. All weights are powers of two: 4, 2 and 2, 1 four times.
    let [a, b, c] = all.map(|row| row.map(|place| place.light));
    let mut quarters = [
        b[1],
        (b[0] * 2.0 + b[2] * 2.0) / 4.0,
        (a[1] * 2.0 + c[1] * 2.0) / 4.0,
        (a[0] + a[2] + c[0] + c[2]) / 4.0,
    ];
    // In the order of the turns.
    if x % 2 == 1 {
        quarters = [quarters[1], quarters[0], quarters[3], quarters[2]];
    }
    if y % 2 == 1 {
        quarters = [quarters[2], quarters[3], quarters[0], quarters[1]];
    }
    Some(quarters.map(|q| q / 4.0).into_iter().sum())
}

/// The mean of the quarters around a pixel; `None` where the narrow window does not
/// show all of them.
fn mean(
    places: &[Lit],
    grid: &Grid<'_>,
    own: &Lit,
    [x, y]: [usize; 2],
    reach: usize,
) -> Option<Vec4> {
    let surface = Surface::around(own, grid, reach);
    // Of each quarter the light, and the weights.
    let mut sums = [(Vec4::ZERO, 0.0_f32); TURNS as usize];
    for v in y.saturating_sub(reach)..=(y + reach).min(grid.height - 1) {
        for u in x.saturating_sub(reach)..=(x + reach).min(grid.width - 1) {
            let tent = |a: usize, b: usize| (reach + 1 - a.abs_diff(b)) as f32;
            let weight = tent(u, x) * tent(v, y);
            let pixel = v * grid.width + u;
            for other in &places[grid.first[pixel] as usize..grid.first[pixel + 1] as usize] {
                if surface.has(other) {
                    let sum = &mut sums[(other.turn % TURNS) as usize];
                    sum.0 += other.light * weight;
                    sum.1 += weight;
                }
            }
        }
    }
    let shown = sums.iter().filter(|sum| sum.1 > 0.0);
    let count = shown.clone().count();
    if count < TURNS as usize && reach == 1 {
        return None;
    }
    Some(shown.map(|sum| sum.0 / (sum.1 * count as f32)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels of a plane, with single places but for one pixel, and lights of any strength.
    #[test]
    fn pixels_that_show_one_place_have_the_same_bits_either_way() {
        let (width, height) = (9, 7);
        let (mut places, mut first) = (Vec::new(), vec![0]);
        for y in 0..height {
            for x in 0..width {
                let (u, v) = (x as f32, y as f32);
                let light = Vec4::new(u + 0.1, v * u + 0.3, 1.0 / (u + v + 0.7), 0.37 * v);
                let place = Lit {
                    position: Vec3::new(u, 0.01 * u * v, v),
                    normal: Vec3::new(0.01 * u, 1.0, 0.01 * v).normalize(),
                    light,
                    turn: (x % 2 + 2 * (y % 2)) as u8,
                };
                places.push(place);
                if (x, y) == (1, 1) {
                    places.push(place);
                }
                first.push(places.len() as u32);
            }
        }
        let grid = Grid {
            width,
            height,
            first: &first,
            pixel: 0.1,
            eye: 10.0 * Vec3::Y,
        };
        let mut fast = 0;
        for y in 0..height {
            for x in 0..width {
                let own = &places[first[y * width + x] as usize];
                if let Some(light) = mean_of_single(&places, &grid, own, [x, y]) {
                    assert_eq!(Some(light), mean(&places, &grid, own, [x, y], 1));
                    fast += 1;
                }
            }
        }
        // All but the outermost and those around the pixel with two places.
        assert_eq!(fast, 7 * 5 - 4);
    }
}
