//! What a far light sees: for each texel the height of the nearest surface.
//!
//! Most triangles of a fine mesh are about as large as a texel, and each of some fifty
//! lights draws them all. So what turns its back on a light is left out four at a time by
//! normals that are made once, a triangle that holds no centre of a texel is known by the
//! box of its corners, and a small one is drawn a row of four texels at a time. Wide ones
//! go the way of the camera's ([`Cover`]).

use glam::{Vec3, Vec4};

use crate::raster::Cover;

/// What casts shadows: triangles over shared points, so that a point is projected once
/// for each light.
#[derive(Clone, Debug, Default)]
pub(crate) struct Casters {
    points: Vec<Vec3>,
    /// Of closed meshes. What a light sees of them first faces the light: a ray comes
    /// in before it goes out.
    closed: Vec<[u32; 3]>,
    /// What they face: the three coordinates of all, of any length.
    facing: [Vec<f32>; 3],
    open: Vec<[u32; 3]>,
    /// Of meshes that are seen through: only some lights see them.
    clear: Vec<[u32; 3]>,
}

/// What a mesh is to the lights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caster {
    Closed,
    Open,
    Clear,
}

impl Caster {
    /// That of a mesh with these triangles.
    pub fn of(triangles: &[[u32; 3]], clear: bool) -> Self {
        match clear {
            true => Self::Clear,
            false if is_closed(triangles) => Self::Closed,
            false => Self::Open,
        }
    }
}

impl Casters {
    /// Adds a mesh.
    pub fn add(&mut self, points: &[Vec3], triangles: &[[u32; 3]], kind: Caster) {
        let first = self.points.len() as u32;
        self.points.extend(points);
        let list = match kind {
            Caster::Clear => &mut self.clear,
            Caster::Open => &mut self.open,
            Caster::Closed => {
                for corners in triangles {
                    let [a, b, c] = corners.map(|v| points[v as usize]);
                    let normal = (b - a).cross(c - a).to_array();
                    for (all, one) in self.facing.iter_mut().zip(normal) {
                        all.push(one);
                    }
                }
                &mut self.closed
            }
        };
        list.extend(triangles.iter().map(|t| t.map(|v| v + first)));
    }
}

impl Casters {
    /// Hands on the closed meshes' triangles that face a light, and perhaps some more.
    fn for_each_facing(&self, towards: Vec3, mut hand_on: impl FnMut([u32; 3])) {
        let [x, y, z] = &self.facing;
        let [tx, ty, tz] = towards.to_array().map(Vec4::splat);
        let fours = x
            .chunks_exact(4)
            .zip(y.chunks_exact(4))
            .zip(z.chunks_exact(4));
        for (four, ((x, y), z)) in self.closed.chunks_exact(4).zip(fours) {
            let [x, y, z] = [x, y, z].map(Vec4::from_slice);
            // Not above: of a mesh so tiny that its normals vanish, all are handed on.
            let mut faces = (x * tx + y * ty + z * tz).cmpge(Vec4::ZERO).bitmask();
            while faces != 0 {
                hand_on(four[faces.trailing_zeros() as usize]);
                faces &= faces - 1;
            }
        }
        for &last in self.closed.chunks_exact(4).remainder() {
            hand_on(last);
        }
    }
}

/// Whether every side of a triangle is another's, the other way round.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    // An edge by its lower and its higher end, then the way it runs.
    let mut sides: Vec<(u64, bool)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
        .map(|(a, b)| (u64::from(a.min(b)) << 32 | u64::from(a.max(b)), a < b))
        .collect();
    sides.sort_unstable();
    sides.chunk_by(|a, b| a.0 == b.0).all(|edge| {
        let forward = edge.iter().filter(|side| side.1).count();
        2 * forward == edge.len()
    })
}

/// The heights of the nearest surfaces towards one direction.
#[derive(Clone, Debug)]
pub(crate) struct DepthMap {
    size: usize,
    /// Row by row, and some more at the end, since rows are read by fours.
    heights: Vec<f32>,
    projected: Vec<Vec4>,
    view: LightView,
    /// Least and largest of what was drawn, a texel wider, within the map: nothing
    /// throws a shadow on what is beside or above.
    low: Vec4,
    high: Vec4,
}

/// From places to texels.
#[derive(Clone, Copy, Debug)]
struct LightView {
    texel: f32,
    centre: Vec3,
    /// Where the centre is, and how far each coordinate of the world moves a place:
    /// texels across and down, such that whole numbers are the centres of texels; the
    /// height; nothing.
    middle: Vec4,
    axes: [Vec4; 3],
}

impl LightView {
    #[inline]
    fn project(&self, p: Vec3) -> Vec4 {
        let p = p - self.centre;
        let [x, y, z] = self.axes;
        self.middle + x * p.x + y * p.y + z * p.z
    }
}

/// Samples across that are drawn by fours; what is wider goes row by row.
const SMALL: f32 = 8.0;

impl DepthMap {
    /// A map of `size` x `size` texels for a scene within these bounds.
    pub fn new((lo, hi): (Vec3, Vec3), size: usize) -> Self {
        let radius = ((hi - lo).length() * 0.5).max(f32::MIN_POSITIVE);
        let middle = size as f32 * 0.5 - 0.5;
        Self {
            size,
            heights: vec![f32::NEG_INFINITY; size * size + 4],
            projected: Vec::new(),
            view: LightView {
                // A border of two texels, so that lookups at the rim find nothing.
                texel: radius / (size as f32 * 0.5 - 2.0),
                centre: (lo + hi) * 0.5,
                middle: Vec4::new(middle, middle, 0.0, 0.0),
                axes: [Vec4::ZERO; 3],
            },
            low: Vec4::ZERO,
            high: Vec4::ZERO,
        }
    }

    /// Draws all casters as a light in the direction `towards` sees them; those that are
    /// seen through if it is one that they stop.
    pub fn look(&mut self, towards: Vec3, casters: &Casters, stopped_by_clear: bool) {
        let across = towards.any_orthonormal_vector();
        let down = towards.cross(across) / self.view.texel;
        let across = across / self.view.texel;
        self.view.axes = [0, 1, 2].map(|k| Vec4::new(across[k], down[k], towards[k], 0.0));
        self.heights.fill(f32::NEG_INFINITY);
        let view = self.view;
        let (mut low, mut high) = (Vec4::INFINITY, Vec4::NEG_INFINITY);
        self.projected.clear();
        self.projected.extend(casters.points.iter().map(|&p| {
            let at = view.project(p);
            // In this order, what is not a number changes nothing.
            low = at.min(low);
            high = at.max(high);
            at
        }));
        let last = self.size as f32 - 1.001;
        self.low = (low - 1.0).max(Vec4::ZERO).with_z(f32::NEG_INFINITY);
        self.high = (high + 1.0).min(Vec4::new(last, last, high.z, 1.0));
        let projected = std::mem::take(&mut self.projected);
        let corners = |triangle: [u32; 3]| triangle.map(|v| projected[v as usize]);
        casters.for_each_facing(towards, |triangle| self.raise(corners(triangle)));
        let clear: &[[u32; 3]] = if stopped_by_clear {
            &casters.clear
        } else {
            &[]
        };
        for &triangle in casters.open.iter().chain(clear) {
            let [a, b, c] = corners(triangle);
            let turned = doubled_area(a, b, c) < 0.0;
            self.raise(if turned { [a, c, b] } else { [a, b, c] });
        }
        self.projected = projected;
    }

    /// Draws a triangle that faces the light.
    #[inline(always)]
    fn raise(&mut self, [a, b, c]: [Vec4; 3]) {
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        // The whole number below: added, this leaves no room for a fraction.
        const NO_FRACTION: Vec4 = Vec4::splat(12_582_912.0);
        let below = (high - 0.5 + NO_FRACTION) - NO_FRACTION;
        if below.cmpge(low).bitmask() & 0b11 != 0b11 {
            return;
        }
        let last = self.size as f32 - 1.0;
        let small = (high - low).cmplt(Vec4::splat(SMALL))
            & low.cmpge(Vec4::ZERO)
            & high.cmple(Vec4::splat(last));
        if small.bitmask() & 0b11 == 0b11 {
            self.raise_small([a, b, c], low, high);
        } else {
            self.raise_wide([a, b, c]);
        }
    }

    /// A triangle with a few samples, all of them in the map.
    #[inline(always)]
    fn raise_small(&mut self, [a, b, c]: [Vec4; 3], low: Vec4, high: Vec4) {
        let area = doubled_area(a, b, c);
        // What covers less of a texel has no slope to speak of.
        const LEAST: f32 = 1e-12;
        if area.is_nan() || area <= LEAST {
            return;
        }
        let inverse = 1.0 / area;
        let (ab, ac) = ((b - a) * inverse, (c - a) * inverse);
        let (nb, nc) = (b.z - a.z, c.z - a.z);
        // Slopes of the weights of b and c, and of the height.
        let (bx, by, cx, cy) = (ac.y, -ac.x, -ab.y, ab.x);
        let (hx, hy) = (bx * nb + cx * nc, by * nb + cy * nc);
        let first = |from: f32| {
            let whole = from as i32;
            (whole + i32::from((whole as f32) < from)) as usize
        };
        let (first_x, first_y) = (first(low.x), first(low.y));
        let (last_x, last_y) = (high.x as i32 as usize, high.y as i32 as usize);
        const LANES: Vec4 = Vec4::new(0.0, 1.0, 2.0, 3.0);
        let mut left = first_x;
        while left <= last_x {
            let x = LANES + (left as i32 as f32 - a.x);
            let (b_x, c_x, h_x) = (x * bx, x * cx, x * hx + a.z);
            for row in first_y..=last_y {
                let y = row as i32 as f32 - a.y;
                let (wb, wc) = (b_x + y * by, c_x + y * cy);
                let least = wb.min(wc).min(1.0 - wb - wc);
                let here = h_x + y * hy;
                let at = row * self.size + left;
                if let Some(texels) = self.heights.get_mut(at..at + 4) {
                    let covered = least.cmpge(Vec4::ZERO);
                    let here = Vec4::select(covered, here, Vec4::NEG_INFINITY);
                    here.max(Vec4::from_slice(texels)).write_to_slice(texels);
                }
            }
            left += 4;
        }
    }

    /// A triangle of any size.
    #[inline(never)]
    fn raise_wide(&mut self, corners: [Vec4; 3]) {
        let corners = corners.map(|p| [p.x + 0.5, p.y + 0.5, p.z]);
        let Some(cover) = Cover::of(corners, self.size, self.size) else {
            return;
        };
        for y in cover.rows() {
            let (first, last) = cover.samples(y);
            let row = y * self.size;
            if let Some(row) = self.heights.get_mut(row + first..row + last + 1) {
                cover.raise(first, y, row);
            }
        }
    }

    /// How much of the light arrives: four texels, weighed by nearness.
    #[inline]
    pub fn visible(&self, position: Vec3, normal: Vec3) -> f32 {
        // Off the surface by more than a texel, so that it does not shade itself.
        let texel = self.view.texel;
        let at = self.view.project(position + normal * (1.6 * texel));
        if (at.cmpge(self.low) & at.cmple(self.high)).bitmask() != 0b1111 {
            return 1.0;
        }
        let (column, row) = (at.x as i32, at.y as i32);
        let (fx, fy) = (at.x - column as f32, at.y - row as f32);
        let first = row as usize * self.size + column as usize;
        let Some(texels) = self.heights.get(first..first + self.size + 2) else {
            return 1.0;
        };
        let below = self.size;
        let around = Vec4::new(texels[0], texels[1], texels[below], texels[below + 1]);
        let lit = around.cmple(Vec4::splat(at.z + 0.4 * texel)).bitmask();
        match lit {
            0b1111 => 1.0,
            0 => 0.0,
            _ => {
                let weigh = |bit: u32, weight: f32| if lit >> bit & 1 == 1 { weight } else { 0.0 };
                let top = weigh(0, 1.0 - fx) + weigh(1, fx);
                let bottom = weigh(2, 1.0 - fx) + weigh(3, fx);
                top * (1.0 - fy) + bottom * fy
            }
        }
    }
}

/// Twice the area of a triangle on the map; negative where it turns its back.
#[inline]
fn doubled_area(a: Vec4, b: Vec4, c: Vec4) -> f32 {
    let (ab, ac) = (b - a, c - a);
    ab.x * ac.y - ab.y * ac.x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_closed_and_casts_the_same_shadow_without_its_back() {
        let (points, triangles) = crate::testing::block(-0.4, 0.5);
        assert!(is_closed(&triangles) && !is_closed(&triangles[1..]));
        let mut closed = Casters::default();
        closed.add(&points, &triangles, Caster::Closed);
        let open = Casters {
            points,
            open: triangles,
            ..Casters::default()
        };
        for i in 0..20 {
            let t = i as f32;
            let towards = Vec3::new(libm::cosf(t), 0.1 + 0.07 * t, libm::sinf(t)).normalize();
            let draw = |casters: &Casters| {
                let mut map = DepthMap::new((Vec3::splat(-1.0), Vec3::ONE), 64);
                map.look(towards, casters, true);
                map.heights
            };
            let (with, without) = (draw(&open), draw(&closed));
            // At the outline a back face may hold a sample that no front face holds.
            let differ = with.iter().zip(&without).filter(|(a, b)| a != b).count();
            assert!(differ <= 8, "{differ} texels");
        }
    }

    /// Numbers from 0 to 1, always the same.
    fn numbers() -> impl FnMut() -> f32 {
        let mut state = 1_u32;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        }
    }

    #[test]
    fn small_triangles_are_drawn_as_wide_ones_are() {
        let mut number = numbers();
        let bounds = (Vec3::splat(-1.0), Vec3::ONE);
        let [mut fast, mut slow] = [(); 2].map(|()| DepthMap::new(bounds, 64));
        let (mut covered, mut one_sided) = (0, 0);
        for i in 0..12_000 {
            let size = 0.3 + 0.0007 * i as f32;
            let (x, y) = (54.0 * number(), 54.0 * number());
            let mut corner = || Vec4::new(x + size * number(), y + size * number(), number(), 0.0);
            let [a, mut b, mut c] = [(); 3].map(|()| corner());
            if doubled_area(a, b, c) < 0.0 {
                (b, c) = (c, b);
            }
            for map in [&mut fast, &mut slow] {
                map.heights.fill(f32::NEG_INFINITY);
            }
            fast.raise([a, b, c]);
            slow.raise_wide([a, b, c]);
            let steep = 1.0 / doubled_area(a, b, c);
            for (&fast, &slow) in fast.heights.iter().zip(&slow.heights) {
                match (fast.is_finite(), slow.is_finite()) {
                    (true, true) => {
                        covered += 1;
                        assert!((fast - slow).abs() < 1e-4 + 1e-4 * steep, "{fast} {slow}");
                    }
                    // A centre on a side, and rounding.
                    (a, b) => one_sided += usize::from(a != b),
                }
            }
        }
        assert!(covered > 15_000 && one_sided <= 4, "{covered} {one_sided}");
    }

    #[test]
    fn what_faces_a_light_is_handed_on_and_little_else() {
        let mut number = numbers();
        let points: Vec<Vec3> = (0..60)
            .map(|_| Vec3::new(number(), number(), number()))
            .collect();
        // Not a multiple of four: the last ones go another way.
        let triangles: Vec<[u32; 3]> = (0..58).map(|i| [i, i + 1, i + 2]).collect();
        let mut casters = Casters::default();
        casters.add(&points, &triangles, Caster::Closed);
        for _ in 0..20 {
            let towards = Vec3::new(number() - 0.5, number(), number() - 0.5).normalize();
            let faces = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| points[v as usize]);
                (b - a).cross(c - a).dot(towards) >= 0.0
            };
            let mut wanted: Vec<_> = triangles[..56].iter().copied().filter(faces).collect();
            wanted.extend(&triangles[56..]);
            let mut found = Vec::new();
            casters.for_each_facing(towards, |t| found.push(t));
            assert_eq!(found, wanted);
        }
    }
}
