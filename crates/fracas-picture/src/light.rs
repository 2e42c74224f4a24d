//! Light: a soft key light, a sky, and what the ground throws back.
//!
//! Both lights are sums of directional lights, each with its own depth map: a
//! narrow cone of directions is a key light with soft shadows, directions all over
//! the upper hemisphere are a sky whose occlusion darkens creases and the ground
//! under things. No randomness: directions lie on a golden spiral.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use crate::depth_map::{Casters, DepthMap};

/// A place whose light is wanted, and the light gathered so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lit {
    pub position: Vec3,
    pub normal: Vec3,
    /// Light received, as a factor on the colour; then the share of the key light that
    /// arrives, for the highlight.
    pub light: Vec4,
    /// Which of the directions it looks at: every fourth from this one on, or all of
    /// them ([`ALL`]).
    pub turn: u8,
}

/// The directions are shared out among so many neighbouring pixels.
pub(crate) const TURNS: u8 = 4;
/// A place that looks at all directions.
pub(crate) const ALL: u8 = TURNS;

/// How many directions each light is made of, and the sizes of their depth maps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rays {
    pub key: usize,
    pub key_map: usize,
    pub sky: usize,
    pub sky_map: usize,
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

/// Texels of maps that are drawn at the same time, before places look them up.
const BATCH: usize = 8 * 448 * 448;
/// One light in so many is stopped by what is seen through; prime to [`TURNS`].
const CLEAR: usize = 3;
/// Places that one task looks up.
const PLACES: usize = 4096;

/// Gathers the light of all directions at all places.
///
/// `casters` throw shadows; `floor` is the height of the ground, which throws
/// light back up where there is one. Every place adds up the directions in their
/// order, so that the number of threads changes no bit.
///
/// A place looks at a quarter of the directions, its neighbours in the picture at the
/// others: [`smooth`](crate::smooth) puts them together (interleaved sampling, Keller
/// and Heidrich 2001).
pub(crate) fn illuminate(
    places: &mut [Lit],
    casters: &Casters,
    bounds: (Vec3, Vec3),
    floor: f32,
    key: Vec3,
    rays: Rays,
) {
    gather(
        places,
        casters,
        bounds,
        &key_lights(key, rays),
        rays.key_map,
    );
    gather(places, casters, bounds, &sky_lights(rays), rays.sky_map);
    // Under a thing that stands on the ground, the ground is dark too.
    let reach = ((bounds.1 - bounds.0).max_element() * 0.25).max(f32::MIN_POSITIVE);
    for place in places {
        let above = ((place.position.y - floor) / reach).clamp(0.0, 1.0);
        let bounce = BOUNCE * ((0.5 - 0.5 * place.normal.y) * (0.25 + 0.75 * above));
        place.light += bounce.extend(0.0);
    }
}

/// One direction of a light.
struct Light {
    towards: Vec3,
    /// And nothing.
    colour: Vec4,
    /// Its share of the key light.
    key: f32,
    /// Whether things that are seen through throw a shadow in it.
    stopped_by_clear: bool,
}

/// A narrow cone of directions.
fn key_lights(key: Vec3, rays: Rays) -> Vec<Light> {
    let side = key.any_orthonormal_vector();
    let other = key.cross(side);
    let share = 1.0 / rays.key as f32;
    (0..rays.key)
        .map(|i| {
            let (x, y) = spiral(i, rays.key);
            Light {
                towards: (key + (side * x + other * y) * KEY_SPREAD).normalize(),
                colour: (KEY * share).extend(0.0),
                key: share,
                stopped_by_clear: i % CLEAR == 0,
            }
        })
        .collect()
}

/// Directions all over the upper hemisphere.
fn sky_lights(rays: Rays) -> Vec<Light> {
    (0..rays.sky)
        .map(|i| {
            // Equal areas of the hemisphere: uniform in height.
            let height = (i as f32 + 0.5) / rays.sky as f32;
            let (sin, cos) = golden_turn(i);
            let flat = (1.0 - height * height).sqrt();
            Light {
                towards: Vec3::new(flat * cos, height, flat * sin),
                colour: (SKY_SIDE.lerp(SKY_TOP, height) * (2.0 / rays.sky as f32)).extend(0.0),
                key: 0.0,
                stopped_by_clear: i % CLEAR == 0,
            }
        })
        .collect()
}

/// Adds lights to places, with depth maps of this size.
fn gather(
    places: &mut [Lit],
    casters: &Casters,
    bounds: (Vec3, Vec3),
    lights: &[Light],
    size: usize,
) {
    // A multiple of [`TURNS`], as the number of directions should be.
    let batch = (BATCH / (size * size)).next_multiple_of(8);
    let mut maps: Vec<DepthMap> = (0..batch.min(lights.len()))
        .map(|_| DepthMap::new(bounds, size))
        .collect();
    for batch in lights.chunks(batch) {
        maps.par_iter_mut()
            .zip(batch)
            .for_each(|(map, light)| map.look(light.towards, casters, light.stopped_by_clear));
        places.par_chunks_mut(PLACES).for_each(|places| {
            for place in places {
                let (mut next, step) = match place.turn {
                    ALL => (0, 1),
                    turn => (turn as usize, TURNS as usize),
                };
                let weight = step as f32;
                while let (Some(map), Some(light)) = (maps.get(next), batch.get(next)) {
                    let facing = place.normal.dot(light.towards);
                    if facing > 0.0 {
                        let seen = weight * map.visible(place.position, place.normal);
                        place.light += light.colour * (facing * seen);
                        place.light.w += light.key * seen;
                    }
                    next += step;
                }
            }
        });
    }
}

/// The light on open, level ground: what a shadow on it is measured against.
pub(crate) fn open_ground(key: Vec3, rays: Rays) -> Vec3 {
    let lights = key_lights(key, rays).into_iter().chain(sky_lights(rays));
    let light = lights.map(|light| light.colour * light.towards.y.max(0.0));
    light.sum::<Vec4>().truncate()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::depth_map::Caster;

    const RAYS: Rays = Rays {
        key: 8,
        key_map: 128,
        sky: 32,
        sky_map: 128,
    };

    fn lit_at(position: Vec3, triangles: &[[Vec3; 3]]) -> Lit {
        let mut places = [Lit {
            position,
            normal: Vec3::Y,
            light: Vec4::ZERO,
            turn: ALL,
        }];
        let key = key_direction(Vec3::X, Vec3::Z);
        let bounds = (Vec3::splat(-1.0), Vec3::splat(1.0));
        let mut casters = Casters::default();
        for corners in triangles {
            casters.add(corners, &[[0, 1, 2]], Caster::Open);
        }
        illuminate(&mut places, &casters, bounds, -1.0, key, RAYS);
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
        assert!((open.light.w - 1.0).abs() < 1e-6);
        assert!(under.light.w == 0.0 && under.light.x < 0.1 * open.light.x);
        assert!((on_top.light.x / open.light.x - 1.0).abs() < 0.02);
        let ground = open_ground(key_direction(Vec3::X, Vec3::Z), RAYS);
        assert!((ground - open.light.truncate()).length() < 0.02);
    }
}
