//! The z-buffer: triangles in pixel coordinates, nearest wins.
//!
//! One rasteriser serves the camera (nearness is 1/depth, which is linear on the
//! screen) and the lights (nearness is the height towards the light).

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
            nearness: vec![f32::NEG_INFINITY; width * height],
            id: vec![NOTHING; width * height],
        }
    }

    /// Forgets everything drawn.
    pub fn clear(&mut self) {
        self.nearness.fill(f32::NEG_INFINITY);
        self.id.fill(NOTHING);
    }

    /// Draws a triangle of either orientation at the sample centres it covers.
    /// Coordinates that are not finite draw nothing.
    pub fn triangle(&mut self, [a, b, c]: [Corner; 3], id: u32) {
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let Some([x0, x1]) = span([a[0], b[0], c[0]], self.width) else {
            return;
        };
        let Some([y0, y1]) = span([a[1], b[1], c[1]], self.height) else {
            return;
        };
        let inverse = 1.0 / area;
        // Barycentric weights of b and c as linear functions of the pixel.
        let (bx, by) = ((c[1] - a[1]) * inverse, -(c[0] - a[0]) * inverse);
        let (cx, cy) = (-(b[1] - a[1]) * inverse, (b[0] - a[0]) * inverse);
        let (nb, nc) = (b[2] - a[2], c[2] - a[2]);
        for y in y0..=y1 {
            let dy = y as f32 + 0.5 - a[1];
            let row = y * self.width;
            for x in x0..=x1 {
                let dx = x as f32 + 0.5 - a[0];
                let wb = dx * bx + dy * by;
                let wc = dx * cx + dy * cy;
                if wb < 0.0 || wc < 0.0 || wb + wc > 1.0 {
                    continue;
                }
                let nearness = a[2] + wb * nb + wc * nc;
                if nearness > self.nearness[row + x] {
                    self.nearness[row + x] = nearness;
                    self.id[row + x] = id;
                }
            }
        }
    }

    /// Draws a line of this width in pixels; its nearness goes from end to end.
    pub fn line(&mut self, a: Corner, b: Corner, width: f32, id: u32) {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = (dx * dx + dy * dy).sqrt();
        if length == 0.0 || !length.is_finite() {
            return;
        }
        let half = width * 0.5 / length;
        let (ox, oy) = (-dy * half, dx * half);
        let shift = |p: Corner, s: f32| [p[0] + s * ox, p[1] + s * oy, p[2]];
        let (a0, a1, b0, b1) = (shift(a, -1.0), shift(a, 1.0), shift(b, -1.0), shift(b, 1.0));
        self.triangle([a0, b0, b1], id);
        self.triangle([a0, b1, a1], id);
    }

    /// Draws a disc of this radius in pixels, at one nearness.
    pub fn disc(&mut self, centre: Corner, radius: f32, id: u32) {
        let [cx, cy, nearness] = centre;
        let (Some([x0, x1]), Some([y0, y1])) = (
            span([cx - radius, cx, cx + radius], self.width),
            span([cy - radius, cy, cy + radius], self.height),
        ) else {
            return;
        };
        for y in y0..=y1 {
            for x in x0..=x1 {
                let (dx, dy) = (x as f32 + 0.5 - cx, y as f32 + 0.5 - cy);
                let i = y * self.width + x;
                if dx * dx + dy * dy <= radius * radius && nearness > self.nearness[i] {
                    self.nearness[i] = nearness;
                    self.id[i] = id;
                }
            }
        }
    }
}

/// The pixels from the smallest to the largest coordinate, cut to the picture.
fn span(values: [f32; 3], size: usize) -> Option<[usize; 2]> {
    let lo = values[0].min(values[1]).min(values[2]);
    let hi = values[0].max(values[1]).max(values[2]);
    // Written so that NaN fails.
    if !(hi >= 0.0 && lo <= size as f32) || size == 0 {
        return None;
    }
    Some([lo.max(0.0) as usize, (hi as usize).min(size - 1)]).filter(|[a, b]| a <= b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(raster: &Raster) -> usize {
        raster.id.iter().filter(|&&i| i != NOTHING).count()
    }

    #[test]
    fn a_triangle_covers_its_area_and_the_nearest_wins() {
        let mut raster = Raster::new(100, 100);
        raster.triangle([[10.0, 10.0, 1.0], [90.0, 10.0, 1.0], [10.0, 90.0, 1.0]], 1);
        let area = covered(&raster);
        assert!((3100..3300).contains(&area), "{area}");
        raster.triangle([[0.0, 0.0, 0.5], [100.0, 0.0, 0.5], [0.0, 100.0, 0.5]], 2);
        assert_eq!(raster.id[20 * 100 + 20], 1);
        assert_eq!(raster.id[5 * 100 + 5], 2);
        raster.clear();
        assert_eq!(covered(&raster), 0);
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
        raster.triangle([p[0], p[1], p[2]], 1);
        raster.triangle([p[0], p[2], p[3]], 2);
        for y in 0..64 {
            let row: Vec<bool> = (0..64).map(|x| raster.id[y * 64 + x] != NOTHING).collect();
            let changes = row.windows(2).filter(|w| w[0] != w[1]).count();
            assert!(changes <= 2, "row {y} has a hole");
        }
    }

    #[test]
    fn what_is_outside_or_not_finite_draws_nothing() {
        let mut raster = Raster::new(10, 10);
        raster.triangle([[-9.0, -9.0, 1.0], [-1.0, -9.0, 1.0], [-9.0, -1.0, 1.0]], 1);
        raster.triangle([[f32::NAN, 0.0, 1.0], [9.0, 0.0, 1.0], [0.0, 9.0, 1.0]], 1);
        raster.triangle(
            [[0.0, 0.0, 1.0], [f32::INFINITY, 0.0, 1.0], [0.0, 9.0, 1.0]],
            1,
        );
        raster.line([f32::NAN, 1.0, 1.0], [5.0, 5.0, 1.0], 2.0, 1);
        raster.disc([1e30, f32::NAN, 1.0], 3.0, 1);
        assert_eq!(covered(&raster), 0);
        raster.line([1.0, 5.0, 1.0], [9.0, 5.0, 1.0], 2.0, 1);
        assert_eq!(covered(&raster), 16);
    }
}
