//! Light: a soft key light, a sky, and what the ground throws back.
//!
//! Both lights are sums of directional lights, each with its own depth map: a
//! narrow cone of directions is a key light with soft shadows, directions all over
//! the upper hemisphere are a sky whose occlusion darkens creases and the ground
//! under things. No randomness: directions lie on a golden spiral.

use glam::Vec3;

use crate::raster::{NOTHING, Raster};

/// A place whose light is wanted, and the light gathered so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lit {
    pub position: Vec3,
    pub normal: Vec3,
    /// Light received, as a factor on the colour.
    pub light: Vec3,
    /// Share of the key light that arrives: for the highlight.
    pub key: f32,
}

/// How many directions each light is made of, and the size of their depth maps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rays {
    pub key: usize,
    pub sky: usize,
    pub map: usize,
}

/// Towards the middle of the key light, for a camera whose right and backward
/// directions are given: the light comes over the viewer's left shoulder.
pub(crate) fn key_direction(right: Vec3, backward: Vec3) -> Vec3 {
    let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z).normalize_or_zero();
    (flat(backward) * 0.55 - flat(right) * 0.75 + Vec3::Y).normalize()
}

const KEY: Vec3 = Vec3::new(0.82, 0.79, 0.73);
const SKY_TOP: Vec3 = Vec3::new(0.44, 0.48, 0.54);
const SKY_SIDE: Vec3 = Vec3::new(0.50, 0.50, 0.50);
const BOUNCE: Vec3 = Vec3::new(0.30, 0.29, 0.27);
/// Half the opening angle of the key light, as a tangent.
const KEY_SPREAD: f32 = 0.11;

/// Gathers the light of all directions at all places.
///
/// `triangles` cast shadows; `floor` is the height of the ground, which throws
/// light back up where there is one.
pub(crate) fn illuminate(
    places: &mut [Lit],
    triangles: &[[Vec3; 3]],
    bounds: (Vec3, Vec3),
    floor: f32,
    key: Vec3,
    rays: Rays,
) {
    let mut map = DepthMap::new(bounds, rays.map);
    let side = key.any_orthonormal_vector();
    let other = key.cross(side);
    for i in 0..rays.key {
        let (x, y) = spiral(i, rays.key);
        let towards = (key + (side * x + other * y) * KEY_SPREAD).normalize();
        map.look(towards, triangles);
        for place in places.iter_mut() {
            let facing = place.normal.dot(towards);
            if facing > 0.0 {
                let share = map.visible(place.position, place.normal) / rays.key as f32;
                place.light += KEY * (facing * share);
                place.key += share;
            }
        }
    }
    for i in 0..rays.sky {
        // Equal areas of the hemisphere: uniform in height.
        let height = (i as f32 + 0.5) / rays.sky as f32;
        let (sin, cos) = golden_turn(i);
        let flat = (1.0 - height * height).sqrt();
        let towards = Vec3::new(flat * cos, height, flat * sin);
        let colour = SKY_SIDE.lerp(SKY_TOP, height) * (2.0 / rays.sky as f32);
        map.look(towards, triangles);
        for place in places.iter_mut() {
            let facing = place.normal.dot(towards);
            if facing > 0.0 {
                place.light += colour * (facing * map.visible(place.position, place.normal));
            }
        }
    }
    // Under a thing that stands on the ground, the ground is dark too.
    let reach = ((bounds.1 - bounds.0).max_element() * 0.25).max(f32::MIN_POSITIVE);
    for place in places {
        let above = ((place.position.y - floor) / reach).clamp(0.0, 1.0);
        place.light += BOUNCE * ((0.5 - 0.5 * place.normal.y) * (0.25 + 0.75 * above));
    }
}

/// The light on open, level ground: what a shadow on it is measured against.
pub(crate) fn open_ground(key: Vec3, rays: Rays) -> Vec3 {
    let mut place = [Lit {
        position: Vec3::ZERO,
        normal: Vec3::Y,
        light: Vec3::ZERO,
        key: 0.0,
    }];
    illuminate(&mut place, &[], (Vec3::ZERO, Vec3::ONE), 0.0, key, rays);
    place[0].light
}

/// The `i`-th of `n` points spread evenly over the unit disc.
fn spiral(i: usize, n: usize) -> (f32, f32) {
    let radius = ((i as f32 + 0.5) / n as f32).sqrt();
    let (sin, cos) = golden_turn(i);
    (radius * cos, radius * sin)
}

fn golden_turn(i: usize) -> (f32, f32) {
    const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
    let angle = i as f64 * GOLDEN_ANGLE;
    (libm::sin(angle) as f32, libm::cos(angle) as f32)
}

/// What a far light sees: for each texel the height of the nearest surface.
struct DepthMap {
    raster: Raster,
    centre: Vec3,
    radius: f32,
    /// Texels a unit of length.
    scale: f32,
    across: Vec3,
    down: Vec3,
    towards: Vec3,
}

impl DepthMap {
    fn new((lo, hi): (Vec3, Vec3), size: usize) -> Self {
        let radius = ((hi - lo).length() * 0.5).max(f32::MIN_POSITIVE);
        Self {
            raster: Raster::new(size, size),
            centre: (lo + hi) * 0.5,
            radius,
            // A border of two texels, so that lookups at the rim find nothing.
            scale: (size as f32 * 0.5 - 2.0) / radius,
            across: Vec3::X,
            down: Vec3::Z,
            towards: Vec3::Y,
        }
    }

    fn look(&mut self, towards: Vec3, triangles: &[[Vec3; 3]]) {
        self.towards = towards;
        self.across = towards.any_orthonormal_vector();
        self.down = towards.cross(self.across);
        self.raster.clear();
        for corners in triangles {
            let corners = corners.map(|p| self.project(p));
            self.raster.triangle(corners, NOTHING + 1);
        }
    }

    fn project(&self, p: Vec3) -> [f32; 3] {
        let p = p - self.centre;
        let middle = self.raster.width as f32 * 0.5;
        [
            middle + p.dot(self.across) * self.scale,
            middle + p.dot(self.down) * self.scale,
            p.dot(self.towards),
        ]
    }

    /// How much of the light arrives: four texels, weighed by nearness.
    fn visible(&self, position: Vec3, normal: Vec3) -> f32 {
        // Off the surface by more than a texel, so that it does not shade itself.
        let texel = 1.0 / self.scale;
        let [x, y, height] = self.project(position + normal * (1.6 * texel));
        let size = self.raster.width;
        let (x, y) = (x - 0.5, y - 0.5);
        if !(x >= 0.0 && y >= 0.0 && x < size as f32 - 1.0 && y < size as f32 - 1.0)
            || height > self.radius
        {
            return 1.0;
        }
        let (column, row) = (x as usize, y as usize);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let bias = 0.4 * texel;
        let lit = |c: usize, r: usize| {
            f32::from(u8::from(
                self.raster.nearness[r * size + c] <= height + bias,
            ))
        };
        let top = lit(column, row) * (1.0 - fx) + lit(column + 1, row) * fx;
        let bottom = lit(column, row + 1) * (1.0 - fx) + lit(column + 1, row + 1) * fx;
        top * (1.0 - fy) + bottom * fy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAYS: Rays = Rays {
        key: 8,
        sky: 32,
        map: 128,
    };

    fn lit_at(position: Vec3, triangles: &[[Vec3; 3]]) -> Lit {
        let mut places = [Lit {
            position,
            normal: Vec3::Y,
            light: Vec3::ZERO,
            key: 0.0,
        }];
        let key = key_direction(Vec3::X, Vec3::Z);
        let bounds = (Vec3::splat(-1.0), Vec3::splat(1.0));
        illuminate(&mut places, triangles, bounds, -1.0, key, RAYS);
        places[0]
    }

    #[test]
    fn a_roof_takes_the_light_and_open_ground_has_it_all() {
        let roof = |y: f32| {
            let p = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                .map(|(x, z)| Vec3::new(x, y, z));
            [[p[0], p[1], p[2]], [p[0], p[2], p[3]]]
        };
        let open = lit_at(Vec3::new(0.0, -1.0, 0.0), &[]);
        let under = lit_at(Vec3::new(0.0, 0.0, 0.0), &roof(0.1));
        let on_top = lit_at(Vec3::new(0.0, 0.1, 0.0), &roof(0.1));
        assert!((open.key - 1.0).abs() < 1e-6);
        assert!(under.key == 0.0 && under.light.x < 0.1 * open.light.x);
        assert!((on_top.light.x / open.light.x - 1.0).abs() < 0.02);
        let ground = open_ground(key_direction(Vec3::X, Vec3::Z), RAYS);
        assert!((ground - open.light).length() < 0.02);
    }
}
