//! Puts together the light that neighbouring pixels gathered from different directions.
//!
//! Each place of a 2 x 2 block of pixels looked at another quarter of the directions.
//! A place takes the mean of each quarter over the places around it that lie on the same
//! smooth surface, weighed by 1-2-1 across and down (in which all four quarters weigh the
//! same), and then the mean of the quarters. Where 3 x 3 pixels do not show all quarters,
//! 5 x 5 are tried: thin things and outlines.

use glam::Vec3;
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

/// The light of every place, smoothed.
pub(crate) fn smooth(places: &[Lit], grid: &Grid<'_>) -> Vec<Lit> {
    let mut smoothed = places.to_vec();
    let mut rows: Vec<&mut [Lit]> = Vec::with_capacity(grid.height);
    let mut rest = smoothed.as_mut_slice();
    for y in 0..grid.height {
        let [begin, end] = [y, y + 1].map(|y| grid.first[y * grid.width] as usize);
        let (row, after) = rest.split_at_mut(end - begin);
        rows.push(row);
        rest = after;
    }
    rows.into_par_iter().enumerate().for_each(|(y, row)| {
        let begin = grid.first[y * grid.width];
        for x in 0..grid.width {
            let pixel = y * grid.width + x;
            for at in grid.first[pixel]..grid.first[pixel + 1] {
                let place = &mut row[(at - begin) as usize];
                let own = &places[at as usize];
                let smoothed = mean(places, grid, own, [x, y], 1)
                    .or_else(|| mean(places, grid, own, [x, y], 2));
                if let Some((light, key)) = smoothed {
                    (place.light, place.key) = (light, key);
                }
            }
        }
    });
    smoothed
}

/// The mean of the quarters around a pixel; `None` where the narrow window does not
/// show all of them.
fn mean(
    places: &[Lit],
    grid: &Grid<'_>,
    own: &Lit,
    [x, y]: [usize; 2],
    reach: usize,
) -> Option<(Vec3, f32)> {
    let size = grid.pixel * own.position.distance(grid.eye);
    // How far a neighbour may be off the place's plane, and away from it.
    let (off, away) = (1.5 * size, 8.0 * size * reach as f32);
    let mut sums = [(Vec3::ZERO, 0.0_f32, 0.0_f32); TURNS as usize];
    for v in y.saturating_sub(reach)..=(y + reach).min(grid.height - 1) {
        for u in x.saturating_sub(reach)..=(x + reach).min(grid.width - 1) {
            let tent = |a: usize, b: usize| (reach + 1 - a.abs_diff(b)) as f32;
            let weight = tent(u, x) * tent(v, y);
            let pixel = v * grid.width + u;
            for other in &places[grid.first[pixel] as usize..grid.first[pixel + 1] as usize] {
                let apart = other.position - own.position;
                if other.normal.dot(own.normal) < SAME_SURFACE
                    || apart.dot(own.normal).abs() > off
                    || apart.length_squared() > away * away
                {
                    continue;
                }
                let sum = &mut sums[(other.turn % TURNS) as usize];
                sum.0 += other.light * weight;
                sum.1 += other.key * weight;
                sum.2 += weight;
            }
        }
    }
    let shown = sums.iter().filter(|sum| sum.2 > 0.0);
    let count = shown.clone().count();
    if count < TURNS as usize && reach == 1 {
        return None;
    }
    let (mut light, mut key) = (Vec3::ZERO, 0.0);
    for sum in shown {
        light += sum.0 / (sum.2 * count as f32);
        key += sum.1 / (sum.2 * count as f32);
    }
    Some((light, key))
}
