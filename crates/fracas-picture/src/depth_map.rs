//! What a far light sees: for each texel the height of the nearest surface.

use glam::Vec3;

use crate::raster::{Corner, Cover, doubled_area};

/// What casts shadows: triangles over shared points, so that a point is projected once
/// for each light.
#[derive(Clone, Debug, Default)]
pub(crate) struct Casters {
    points: Vec<Vec3>,
    /// Of closed meshes. What a light sees of them first faces the light: a ray comes
    /// in before it goes out.
    closed: Vec<[u32; 3]>,
    open: Vec<[u32; 3]>,
    /// Of meshes that are seen through: only some lights see them.
    clear: Vec<[u32; 3]>,
}

impl Casters {
    /// Adds a mesh.
    pub fn add(&mut self, points: &[Vec3], triangles: &[[u32; 3]], clear: bool) {
        let first = self.points.len() as u32;
        self.points.extend(points);
        let list = if clear {
            &mut self.clear
        } else if is_closed(triangles) {
            &mut self.closed
        } else {
            &mut self.open
        };
        list.extend(triangles.iter().map(|t| t.map(|v| v + first)));
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
    heights: Vec<f32>,
    projected: Vec<[f32; 3]>,
    view: LightView,
}

/// From places to texels.
#[derive(Clone, Copy, Debug)]
struct LightView {
    radius: f32,
    texel: f32,
    middle: f32,
    centre: Vec3,
    /// Texels across and down, with the scale in them.
    across: Vec3,
    down: Vec3,
    towards: Vec3,
}

impl LightView {
    #[inline]
    fn project(&self, p: Vec3) -> [f32; 3] {
        let p = p - self.centre;
        [
            self.middle + p.dot(self.across),
            self.middle + p.dot(self.down),
            p.dot(self.towards),
        ]
    }
}

impl DepthMap {
    /// A map of `size` x `size` texels for a scene within these bounds.
    pub fn new((lo, hi): (Vec3, Vec3), size: usize) -> Self {
        let radius = ((hi - lo).length() * 0.5).max(f32::MIN_POSITIVE);
        Self {
            size,
            heights: vec![f32::NEG_INFINITY; size * size],
            projected: Vec::new(),
            view: LightView {
                radius,
                // A border of two texels, so that lookups at the rim find nothing.
                texel: radius / (size as f32 * 0.5 - 2.0),
                middle: size as f32 * 0.5,
                centre: (lo + hi) * 0.5,
                across: Vec3::X,
                down: Vec3::Z,
                towards: Vec3::Y,
            },
        }
    }

    /// Draws all casters as a light in the direction `towards` sees them; those that are
    /// seen through if it is one that they stop.
    pub fn look(&mut self, towards: Vec3, casters: &Casters, stopped_by_clear: bool) {
        let across = towards.any_orthonormal_vector();
        self.view.towards = towards;
        self.view.across = across / self.view.texel;
        self.view.down = towards.cross(across) / self.view.texel;
        self.heights.fill(f32::NEG_INFINITY);
        let view = self.view;
        self.projected.clear();
        self.projected
            .extend(casters.points.iter().map(|&p| view.project(p)));
        for triangle in &casters.closed {
            let corners = triangle.map(|v| self.projected[v as usize]);
            if doubled_area(corners) > 0.0 {
                self.raise(corners);
            }
        }
        let clear: &[[u32; 3]] = if stopped_by_clear {
            &casters.clear
        } else {
            &[]
        };
        for triangle in casters.open.iter().chain(clear) {
            self.raise(triangle.map(|v| self.projected[v as usize]));
        }
    }

    /// Draws a triangle.
    #[inline]
    fn raise(&mut self, corners: [Corner; 3]) {
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
    pub fn visible(&self, position: Vec3, normal: Vec3) -> f32 {
        // Off the surface by more than a texel, so that it does not shade itself.
        let texel = self.view.texel;
        let [x, y, height] = self.view.project(position + normal * (1.6 * texel));
        let size = self.size;
        let (x, y) = (x - 0.5, y - 0.5);
        if !(x >= 0.0 && y >= 0.0 && x < size as f32 - 1.0 && y < size as f32 - 1.0)
            || height > self.view.radius
        {
            return 1.0;
        }
        let (column, row) = (x as usize, y as usize);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let limit = height + 0.4 * texel;
        let at = row * size + column;
        let lit = |i: usize| f32::from(u8::from(self.heights[i] <= limit));
        let top = lit(at) * (1.0 - fx) + lit(at + 1) * fx;
        let bottom = lit(at + size) * (1.0 - fx) + lit(at + size + 1) * fx;
        top * (1.0 - fy) + bottom * fy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_closed_and_casts_the_same_shadow_without_its_back() {
        let (points, triangles) = crate::testing::block(-0.4, 0.5);
        assert!(is_closed(&triangles) && !is_closed(&triangles[1..]));
        let mut closed = Casters::default();
        closed.add(&points, &triangles, false);
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
}
