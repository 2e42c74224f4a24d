//! The z-buffer: triangles in pixel coordinates, nearest wins.
//!
//! One rasteriser serves the camera (nearness is 1/depth, which is linear on the
//! screen) and the lights (nearness is the height towards the light).

use rayon::prelude::*;

/// For each sample the nearest surface so far.
#[derive(Clone, Debug)]
pub(crate) struct Raster {
    pub width: usize,
    pub height: usize,
    pub nearness: Vec<f32>,
    pub id: Vec<u32>,
}

/// No surface at this sample.
pub(crate) const NOTHING: u32 = 0;

/// A corner: pixel coordinates and nearness.
pub(crate) type Corner = [f32; 3];

impl Raster {
    pub fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            // Everything drawn is nearer than nothing. Zeros are not written: memory is
            // touched where bands draw, beside each other.
            nearness: vec![0.0; width * height],
            id: vec![NOTHING; width * height],
        }
    }

    /// Draws shapes in the order of the lists. Bands of rows are drawn beside each other: a
    /// sample's shapes come in the same order on any number of threads.
    pub fn draw(&mut self, lists: &[Vec<(Shape, u32)>]) {
        let (width, height) = (self.width, self.height);
        let samples = BAND * width.max(1);
        let nearness = self.nearness.par_chunks_mut(samples);
        let bands = nearness.zip(self.id.par_chunks_mut(samples)).enumerate();
        bands.for_each(|(number, (nearness, id))| {
            let first = number * BAND;
            let mut band = Band {
                size: [width, height],
                rows: [first, first + nearness.len() / width - 1],
                nearness,
                id,
            };
            for &(shape, id) in lists.iter().flatten() {
                band.draw(shape, id);
            }
        });
    }

    /// The samples of a triangle that nothing drawn here hides.
    pub fn visible_samples(&self, corners: [Corner; 3], see: &mut dyn FnMut(usize, usize)) {
        let Some(cover) = Cover::of(corners, self.width, self.height) else {
            return;
        };
        for y in cover.rows() {
            let (first, last) = cover.samples(y);
            for x in first..=last {
                let nearness = cover.nearness(x, y);
                if nearness.is_some_and(|n| n > self.nearness[y * self.width + x]) {
                    see(x, y);
                }
            }
        }
    }
}

/// Rows that are drawn by one thread at a time.
const BAND: usize = 96;

/// What is drawn, in samples.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A triangle of either orientation: the sample centres it covers.
    Triangle([Corner; 3]),
    /// A disc at one nearness.
    Disc { centre: Corner, radius: f32 },
}

impl Shape {
    /// A line of this width; its nearness goes from end to end. Empty where it has no
    /// length.
    pub fn line(a: Corner, b: Corner, width: f32) -> impl Iterator<Item = Self> {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = (dx * dx + dy * dy).sqrt();
        let half = width * 0.5 / length;
        let (ox, oy) = (-dy * half, dx * half);
        let shift = |p: Corner, s: f32| [p[0] + s * ox, p[1] + s * oy, p[2]];
        let (a0, a1, b0, b1) = (shift(a, -1.0), shift(a, 1.0), shift(b, -1.0), shift(b, 1.0));
        let halves = [[a0, b0, b1], [a0, b1, a1]].map(Self::Triangle);
        let drawn = length > 0.0 && length.is_finite();
        halves.into_iter().filter(move |_| drawn)
    }
}

/// Some rows of a picture.
struct Band<'a> {
    /// Of the whole picture.
    size: [usize; 2],
    /// The first and the last.
    rows: [usize; 2],
    nearness: &'a mut [f32],
    id: &'a mut [u32],
}

impl Band<'_> {
    fn draw(&mut self, shape: Shape, id: u32) {
        match shape {
            Shape::Triangle(corners) => self.triangle(corners, id),
            Shape::Disc { centre, radius } => self.disc(centre, radius, id),
        }
    }

    /// Coordinates that are not finite draw nothing.
    fn triangle(&mut self, corners: [Corner; 3], id: u32) {
        let [width, height] = self.size;
        let [first, last] = self.rows;
        let (above, below) = (first as f32, (last + 1) as f32);
        if corners.iter().all(|c| c[1] < above) || corners.iter().all(|c| c[1] > below) {
            return;
        }
        let Some(cover) = Cover::of(corners, width, height) else {
            return;
        };
        for y in cover.y[0].max(first)..=cover.y[1].min(last) {
            let (from, to) = cover.samples(y);
            for x in from..=to {
                if let Some(nearness) = cover.nearness(x, y) {
                    self.put(x, y, nearness, id);
                }
            }
        }
    }

    fn disc(&mut self, [cx, cy, nearness]: Corner, radius: f32, id: u32) {
        let [width, height] = self.size;
        let (Some([x0, x1]), Some([y0, y1])) = (
            span([cx - radius, cx, cx + radius], width),
            span([cy - radius, cy, cy + radius], height),
        ) else {
            return;
        };
        for y in y0.max(self.rows[0])..=y1.min(self.rows[1]) {
            for x in x0..=x1 {
                let (dx, dy) = (x as f32 + 0.5 - cx, y as f32 + 0.5 - cy);
                if dx * dx + dy * dy <= radius * radius {
                    self.put(x, y, nearness, id);
                }
            }
        }
    }

    #[inline]
    fn put(&mut self, x: usize, y: usize, nearness: f32, id: u32) {
        let i = (y - self.rows[0]) * self.size[0] + x;
        if nearness > self.nearness[i] {
            self.nearness[i] = nearness;
            self.id[i] = id;
        }
    }
}

/// The samples whose centres lie in a triangle.
///
/// Small triangles, most of those of a fine mesh, often hold no centre at all: the box
/// of the centres they may hold is found first, and where it is empty nothing else is
/// computed. Wide ones are bounded row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cover {
    x: [usize; 2],
    y: [usize; 2],
    /// Barycentric weights of two corners and the nearness, each by its value at the
    /// sample (0, 0) and its slopes.
    weights: [[f32; 3]; 2],
    nearness: [f32; 3],
}

impl Cover {
    /// `None` when it holds no centre, has no area or is not finite.
    #[inline(always)]
    pub fn of([a, b, c]: [Corner; 3], width: usize, height: usize) -> Option<Self> {
        let y = span([a[1], b[1], c[1]], height)?;
        let x = span([a[0], b[0], c[0]], width)?;
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area == 0.0 || !area.is_finite() {
            return None;
        }
        let inverse = 1.0 / area;
        let (dx, dy) = (0.5 - a[0], 0.5 - a[1]);
        let weight = |slope_x: f32, slope_y: f32| [dx * slope_x + dy * slope_y, slope_x, slope_y];
        let b_weight = weight((c[1] - a[1]) * inverse, (a[0] - c[0]) * inverse);
        let c_weight = weight((a[1] - b[1]) * inverse, (b[0] - a[0]) * inverse);
        let (nb, nc) = (b[2] - a[2], c[2] - a[2]);
        let slope = |k: usize| b_weight[k] * nb + c_weight[k] * nc;
        Some(Self {
            x,
            y,
            weights: [b_weight, c_weight],
            nearness: [a[2] + slope(0), slope(1), slope(2)],
        })
    }

    /// The rows it may cover samples in.
    #[inline]
    pub fn rows(&self) -> std::ops::RangeInclusive<usize> {
        self.y[0]..=self.y[1]
    }

    /// The first and the last sample of a row that it may cover.
    #[inline]
    pub fn samples(&self, y: usize) -> (usize, usize) {
        let [mut first, mut last] = self.x;
        const WIDE: usize = 6;
        if last - first > WIDE {
            // Where the three weights are not negative, and a sample to either side.
            let [b, c] = self.weights.map(|w| (w[0] + y as f32 * w[2], w[1]));
            for (at_zero, slope) in [b, c, (1.0 - b.0 - c.0, -b.1 - c.1)] {
                let crossing = -at_zero / slope;
                if slope > 0.0 {
                    first = first.max((crossing - 1.0) as usize);
                } else if slope < 0.0 {
                    last = last.min((crossing + 1.0) as usize);
                }
            }
        }
        (first, last)
    }

    /// How near it is at a sample, where it covers that.
    #[inline]
    pub fn nearness(&self, x: usize, y: usize) -> Option<f32> {
        let (x, y) = (x as f32, y as f32);
        let at = |[zero, right, down]: [f32; 3]| zero + x * right + y * down;
        let [b, c] = self.weights.map(at);
        (b >= 0.0 && c >= 0.0 && b + c <= 1.0).then(|| at(self.nearness))
    }

    /// Raises the heights of a row where the triangle is higher; `row` begins at
    /// sample `first`.
    #[inline]
    pub fn raise(&self, first: usize, y: usize, row: &mut [f32]) {
        let start = |[zero, right, down]: [f32; 3]| zero + first as f32 * right + y as f32 * down;
        let [b, c] = self.weights.map(start);
        let n = start(self.nearness);
        let [b_slope, c_slope] = self.weights.map(|w| w[1]);
        for (k, height) in row.iter_mut().enumerate() {
            let k = k as u32 as f32;
            let (wb, wc) = (b + k * b_slope, c + k * c_slope);
            let here = n + k * self.nearness[1];
            // Selections instead of branches: nobody can predict which samples are in.
            let wa = 1.0 - wb - wc;
            let least = if wb < wc { wb } else { wc };
            let least = if wa < least { wa } else { least };
            let raised = if least >= 0.0 {
                here
            } else {
                f32::NEG_INFINITY
            };
            *height = if raised > *height { raised } else { *height };
        }
    }
}

/// The samples whose centres lie between the smallest and the largest coordinate, cut
/// to the picture.
#[inline]
fn span([a, b, c]: [f32; 3], size: usize) -> Option<[usize; 2]> {
    // Spelled out: the platform's minimum also orders NaN, which costs.
    let (mut lo, mut hi) = if a < b { (a, b) } else { (b, a) };
    lo = if c < lo { c } else { lo };
    hi = if c > hi { c } else { hi };
    // Written so that NaN fails.
    if !(hi >= 0.5 && lo <= size as f32 - 0.5) {
        return None;
    }
    let first = (lo.max(0.0) + 0.5) as usize;
    let last = ((hi - 0.5) as usize).min(size - 1);
    (first <= last).then_some([first, last])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(raster: &mut Raster, corners: [Corner; 3], id: u32) {
        raster.draw(&[vec![(Shape::Triangle(corners), id)]]);
    }

    fn draw_line(raster: &mut Raster, a: Corner, b: Corner, width: f32, id: u32) {
        let shapes = Shape::line(a, b, width).map(|shape| (shape, id));
        raster.draw(&[shapes.collect()]);
    }

    fn count(raster: &Raster) -> usize {
        raster.id.iter().filter(|&&i| i != NOTHING).count()
    }

    #[test]
    fn a_triangle_covers_its_area_and_the_nearest_wins() {
        let mut raster = Raster::new(100, 100);
        draw(
            &mut raster,
            [[10.0, 10.0, 1.0], [90.0, 10.0, 1.0], [10.0, 90.0, 1.0]],
            1,
        );
        let area = count(&raster);
        assert!((3100..3300).contains(&area), "{area}");
        draw(
            &mut raster,
            [[0.0, 0.0, 0.5], [100.0, 0.0, 0.5], [0.0, 100.0, 0.5]],
            2,
        );
        assert_eq!(raster.id[20 * 100 + 20], 1);
        assert_eq!(raster.id[5 * 100 + 5], 2);
    }

    #[test]
    fn two_triangles_of_a_square_leave_no_gap() {
        let mut raster = Raster::new(64, 64);
        let p = [
            [3.2, 4.7, 1.0],
            [59.1, 7.3, 1.0],
            [55.5, 60.2, 1.0],
            [1.9, 50.8, 1.0],
        ];
        draw(&mut raster, [p[0], p[1], p[2]], 1);
        draw(&mut raster, [p[0], p[2], p[3]], 2);
        for y in 0..64 {
            let row: Vec<bool> = (0..64).map(|x| raster.id[y * 64 + x] != NOTHING).collect();
            let changes = row.windows(2).filter(|w| w[0] != w[1]).count();
            assert!(changes <= 2, "row {y} has a hole");
        }
    }

    #[test]
    fn what_is_outside_or_not_finite_draws_nothing() {
        let mut raster = Raster::new(10, 10);
        draw(
            &mut raster,
            [[-9.0, -9.0, 1.0], [-1.0, -9.0, 1.0], [-9.0, -1.0, 1.0]],
            1,
        );
        draw(
            &mut raster,
            [[f32::NAN, 0.0, 1.0], [9.0, 0.0, 1.0], [0.0, 9.0, 1.0]],
            1,
        );
        draw(
            &mut raster,
            [[0.0, 0.0, 1.0], [f32::INFINITY, 0.0, 1.0], [0.0, 9.0, 1.0]],
            1,
        );
        draw_line(&mut raster, [f32::NAN, 1.0, 1.0], [5.0, 5.0, 1.0], 2.0, 1);
        let disc = Shape::Disc {
            centre: [1e30, f32::NAN, 1.0],
            radius: 3.0,
        };
        raster.draw(&[vec![(disc, 1)]]);
        assert_eq!(count(&raster), 0);
        draw_line(&mut raster, [1.0, 5.0, 1.0], [9.0, 5.0, 1.0], 2.0, 1);
        assert_eq!(count(&raster), 16);
    }
}
