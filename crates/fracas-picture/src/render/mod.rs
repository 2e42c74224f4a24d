//! How a scene becomes a picture.
//!
//! 1. All meshes become one list of world triangles with corner normals.
//! 2. They, lines and points are rasterised at `n x n` samples a pixel.
//! 3. Samples of one pixel that see the same triangle are shaded once, at their
//!    mean position (which lies in the triangle, being a mean of its points).
//!    Small triangles of one mesh that face nearly the same way share the place of their
//!    light.
//! 4. Light is gathered direction by direction, see [`light`](crate::light); each pixel
//!    of four looks at a quarter of the directions.
//! 5. What neighbours gathered is put together, see [`smooth`](crate::smooth).
//! 6. Colours are mixed per pixel by the number of samples.
//!
//! The ground is the background itself, darkened by the share of light that the
//! things in the scene take from it: a seamless studio floor, with faint lines if asked.
//!
//! Clear meshes are drawn last, over a picture of the rest: each pixel of them shows that
//! picture, tinted once for every clear surface before it, and a mirrored sky. Light is
//! not bent.

#[cfg(test)]
mod tests;
mod triangles;

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use crate::camera::{Camera, View};
use crate::colour::Colour;
use crate::depth_map::{Caster, Casters};
use crate::image::Image;
use crate::light::{Lit, illuminate, key_direction, open_ground};
use crate::raster::{Corner, NOTHING, Raster, Shape};
use crate::scene::{Mark, Mesh, Quality, Scene};
use crate::smooth::{Grid, smooth};

use triangles::{WorldTriangle, clip, clipped_segment, unique_edges, world_triangles};

impl Scene {
    /// Draws the scene. A width or height of zero counts as one.
    #[must_use]
    pub fn render(&self, camera: &Camera, width: usize, height: usize, quality: Quality) -> Image {
        render(self, camera, width.max(1), height.max(1), quality)
    }
}

/// Draws the scene; see the steps above.
fn render(scene: &Scene, camera: &Camera, width: usize, height: usize, quality: Quality) -> Image {
    let bounds = scene.bounds().unwrap_or((Vec3::splat(-1.0), Vec3::ONE));
    let n = quality.samples();
    let frame = Frame {
        size: [width, height],
        bounds,
        view: camera.view(width * n, height * n, bounds),
        casters: casters(scene),
        quality,
    };
    let pixels = if scene.meshes.iter().any(|mesh| mesh.clear) {
        let mut solid = scene.clone();
        solid.meshes.retain(|mesh| !mesh.clear);
        let through = Through {
            behind: frame.draw(&solid, None),
            layers: clear_layers(scene, &solid, &frame),
        };
        frame.draw(scene, Some(&through))
    } else {
        frame.draw(scene, None)
    };
    let mut image = Image::new(width, height, Colour::WHITE);
    let coloured = image.pixels_mut().par_iter_mut().zip(pixels);
    coloured.for_each(|(pixel, colour)| *pixel = Colour(colour).to_srgb());
    image
}

/// What all parts of one picture share.
struct Frame {
    /// Width and height in pixels.
    size: [usize; 2],
    bounds: (Vec3, Vec3),
    view: View,
    casters: Casters,
    quality: Quality,
}

/// What is seen through clear things, pixel by pixel.
struct Through {
    /// The picture without them.
    behind: Vec<Vec3>,
    /// How many of their surfaces lie before it, on average.
    layers: Vec<f32>,
}

impl Frame {
    /// The colours of all pixels, row by row.
    fn draw(&self, scene: &Scene, through: Option<&Through>) -> Vec<Vec3> {
        let [width, height] = self.size;
        let (bounds, view) = (self.bounds, self.view);
        let n = self.quality.samples();
        let triangles = world_triangles(scene);
        let near = near_plane(bounds, view);
        let raster = rasterise(scene, &triangles, view, near, self.size, n);
        let key = key_direction(view.axes.row(0), view.axes.row(2));
        // The ground below what hangs in the air is part of the picture.
        let mut lowest = bounds.0;
        lowest.y = lowest.y.min(scene.ground.unwrap_or(lowest.y));
        let reach = (bounds.1 - lowest).length().max(1e-6);
        let picture = Picture {
            scene,
            triangles: &triangles,
            view,
            raster: &raster,
            samples: n,
            key,
            centre: (lowest + bounds.1) * 0.5,
            reach,
        };
        let mut shown = picture.collect(width, height, picture.centre, 2.5 * reach);
        let floor = scene.ground.unwrap_or(bounds.0.y);
        let rays = self.quality.rays();
        illuminate(&mut shown.places, &self.casters, bounds, floor, key, rays);
        let grid = Grid {
            width,
            height,
            first: &shown.first_place,
            pixel: n as f32 / view.focal,
            eye: view.eye,
        };
        smooth(&mut shown.places, &grid);
        picture.resolve(&shown, width, height, open_ground(key, rays), through)
    }
}

/// Surfaces of clear meshes in front of everything solid: their mean over the samples
/// of each pixel.
fn clear_layers(scene: &Scene, solid: &Scene, frame: &Frame) -> Vec<f32> {
    let [width, height] = frame.size;
    let n = frame.quality.samples();
    let near = near_plane(frame.bounds, frame.view);
    let behind = rasterise(
        solid,
        &world_triangles(solid),
        frame.view,
        near,
        frame.size,
        n,
    );
    let mut layers = vec![0.0; width * height];
    let share = 1.0 / (n * n) as f32;
    for triangle in world_triangles(scene) {
        if !scene.meshes[triangle.mesh as usize].clear {
            continue;
        }
        clip(frame.view, near, triangle.corners, &mut |corners| {
            behind.visible_samples(corners, &mut |x, y| {
                layers[y / n * width + x / n] += share;
            });
        });
    }
    layers
}

fn casters(scene: &Scene) -> Casters {
    let kinds = scene.meshes.par_iter();
    let kinds: Vec<Caster> = kinds
        .map(|mesh| Caster::of(&mesh.triangles, mesh.clear))
        .collect();
    let mut all = Casters::default();
    for (mesh, kind) in scene.meshes.iter().zip(kinds) {
        all.add(&mesh.positions, &mesh.triangles, kind);
    }
    all
}

/// Ids: 1.. the triangles, after them the marks, after them each mesh's edges.
fn rasterise(
    scene: &Scene,
    triangles: &[WorldTriangle],
    view: View,
    near: f32,
    size: [usize; 2],
    samples: usize,
) -> Raster {
    let [width, height] = size.map(|pixels| pixels * samples);
    let samples = samples as f32;
    let mut lists: Vec<Vec<(Shape, u32)>> = triangles
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, some)| {
            let mut list = Vec::with_capacity(some.len());
            for (t, triangle) in some.iter().enumerate() {
                let id = (chunk * CHUNK + t) as u32 + 1;
                clip(view, near, triangle.corners, &mut |corners| {
                    list.push((Shape::Triangle(corners), id));
                });
            }
            list
        })
        .collect();
    let mut id = triangles.len() as u32 + 1;
    let mut others = Vec::new();
    for &(mark, _, on_top) in &scene.marks {
        let lift = |c: Corner| {
            if on_top {
                [c[0], c[1], f32::MAX]
            } else {
                [c[0], c[1], c[2] * 1.004]
            }
        };
        match mark {
            Mark::Line { ends, width } => {
                if let Some([a, b]) = clipped_segment(view, near, ends) {
                    let line = Shape::line(lift(a), lift(b), width * samples);
                    others.extend(line.map(|half| (half, id)));
                }
            }
            Mark::Point { at, radius } => {
                let camera = view.to_camera(at);
                if camera.z > near {
                    let [x, y] = view.to_pixels(camera);
                    let disc = Shape::Disc {
                        centre: lift([x, y, 1.0 / camera.z]),
                        radius: radius * samples,
                    };
                    others.push((disc, id));
                }
            }
        }
        id += 1;
    }
    for mesh in &scene.meshes {
        if let Some((_, width)) = mesh.edges {
            for [a, b] in unique_edges(&mesh.triangles) {
                let ends = [a, b].map(|v| mesh.positions[v as usize]);
                if let Some(ends) = clipped_segment(view, near, ends) {
                    let [a, b] = ends.map(|c| [c[0], c[1], c[2] * 1.0015]);
                    let line = Shape::line(a, b, width * samples);
                    others.extend(line.map(|half| (half, id)));
                }
            }
        }
        id += 1;
    }
    lists.push(others);
    let mut raster = Raster::new(width, height);
    raster.draw(&lists);
    raster
}

/// Triangles that one task brings onto the screen.
const CHUNK: usize = 4_096;

fn near_plane((lo, hi): (Vec3, Vec3), view: View) -> f32 {
    let size = (hi - lo).length();
    (size * 1e-3).max(view.eye.distance((lo + hi) * 0.5) * 1e-4)
}

/// A share of a pixel: how many samples, and what they see.
#[derive(Clone, Copy)]
struct Part {
    samples: u32,
    seen: Seen,
}

#[derive(Clone, Copy)]
enum Seen {
    Background,
    /// The mesh triangle, and its entry in the list of lit places.
    Surface {
        triangle: u32,
        place: u32,
    },
    Ground {
        place: u32,
    },
    Plain(Colour),
}

/// Samples of a pixel that share a place.
struct Joined {
    mesh: u32,
    samples: u32,
    place: u32,
}

/// Cosine of the angle up to which places of a pixel are joined.
const SAME_WAY: f32 = 0.95;
/// How far apart they are at most, in pixels.
const TOGETHER: f32 = 3.0;

struct Picture<'a> {
    scene: &'a Scene,
    triangles: &'a [WorldTriangle],
    view: View,
    raster: &'a Raster,
    samples: usize,
    key: Vec3,
    centre: Vec3,
    /// The diagonal of everything.
    reach: f32,
}

/// What the pixels show, row by row.
#[derive(Default)]
struct Shown {
    places: Vec<Lit>,
    parts: Vec<Part>,
    /// For each pixel, where its parts and its places begin; one more at the end.
    first_part: Vec<u32>,
    first_place: Vec<u32>,
}

impl Shown {
    /// Adds the rows below.
    fn append(&mut self, below: Self) {
        let (parts, places) = (self.parts.len() as u32, self.places.len() as u32);
        self.first_part.pop();
        self.first_place.pop();
        self.first_part
            .extend(below.first_part.iter().map(|first| first + parts));
        self.first_place
            .extend(below.first_place.iter().map(|first| first + places));
        self.places.extend(below.places);
        self.parts.extend(below.parts.into_iter().map(|mut part| {
            match &mut part.seen {
                Seen::Surface { place, .. } | Seen::Ground { place } => *place += places,
                Seen::Background | Seen::Plain(_) => {}
            }
            part
        }));
    }
}

const GROUND: u32 = u32::MAX;

impl Picture<'_> {
    /// Groups the samples of each pixel by what they see.
    fn collect(&self, width: usize, height: usize, centre: Vec3, ground_reach: f32) -> Shown {
        let rows: Vec<Shown> = (0..height)
            .into_par_iter()
            .map(|y| self.collect_row(y, width, centre, ground_reach))
            .collect();
        let mut all = Shown::default();
        all.places
            .reserve(rows.iter().map(|row| row.places.len()).sum());
        all.parts
            .reserve(rows.iter().map(|row| row.parts.len()).sum());
        for row in rows {
            all.append(row);
        }
        all
    }

    fn collect_row(&self, y: usize, width: usize, centre: Vec3, ground_reach: f32) -> Shown {
        let n = self.samples;
        let mut row = Shown {
            first_part: vec![0],
            first_place: vec![0],
            ..Shown::default()
        };
        let mut seen: Vec<(u32, u32, Vec3)> = Vec::with_capacity(n * n);
        let mut joined: Vec<Joined> = Vec::with_capacity(n * n);
        for x in 0..width {
            seen.clear();
            joined.clear();
            if self.is_empty(x, y) {
                // Nothing but ground or background: one look at the middle will do.
                let middle = [x, y].map(|k| (k as f32 + 0.5) * n as f32);
                let (id, position) = self.behind(middle);
                seen.push((id, (n * n) as u32, position * (n * n) as f32));
            }
            let samples = if seen.is_empty() { n * n } else { 0 };
            for s in 0..samples {
                let (sx, sy) = (x * n + s % n, y * n + s / n);
                let (id, position) = self.sample(sx, sy);
                match seen.iter_mut().find(|(other, ..)| *other == id) {
                    Some((_, count, sum)) => {
                        *count += 1;
                        *sum += position;
                    }
                    None => seen.push((id, 1, position)),
                }
            }
            // Neighbouring pixels look at different directions of light.
            let turn = (x % 2 + 2 * (y % 2)) as u8;
            for &(id, count, sum) in &seen {
                let position = sum / count as f32;
                let (what, normal) = self.seen(id, position, centre, ground_reach);
                let place = match normal {
                    Some(normal) => {
                        let lit = Lit {
                            position,
                            normal,
                            light: Vec4::ZERO,
                            turn,
                        };
                        self.join(&mut row.places, &mut joined, what, (lit, count))
                    }
                    None => 0,
                };
                let seen = match what {
                    Seen::Surface { triangle, .. } => Seen::Surface { triangle, place },
                    Seen::Ground { .. } => Seen::Ground { place },
                    other => other,
                };
                row.parts.push(Part {
                    samples: count,
                    seen,
                });
            }
            row.first_part.push(row.parts.len() as u32);
            row.first_place.push(row.places.len() as u32);
        }
        row
    }

    /// Adds a place to those of a pixel and returns its number. Triangles that are smaller
    /// than a pixel share one: those of one mesh that lie together and face nearly the same
    /// way. Textured ones do not, since a place tells where to look the texture up.
    fn join(
        &self,
        places: &mut Vec<Lit>,
        joined: &mut Vec<Joined>,
        seen: Seen,
        (lit, samples): (Lit, u32),
    ) -> u32 {
        let mesh = match seen {
            Seen::Surface { triangle, .. } => self.triangles[triangle as usize].mesh,
            _ => GROUND,
        };
        let is_textured = |mesh: &Mesh| mesh.texture.is_some();
        let is_alone = self.scene.meshes.get(mesh as usize).is_none_or(is_textured);
        if !is_alone {
            let pixel =
                self.samples as f32 / self.view.focal * lit.position.distance(self.view.eye);
            let near = TOGETHER * pixel * (TOGETHER * pixel);
            for with in joined.iter_mut().filter(|with| with.mesh == mesh) {
                let place = &mut places[with.place as usize];
                if place.normal.dot(lit.normal) >= SAME_WAY
                    && place.position.distance_squared(lit.position) <= near
                {
                    let share = samples as f32 / (with.samples + samples) as f32;
                    place.position = place.position.lerp(lit.position, share);
                    place.normal = place.normal.lerp(lit.normal, share).normalize();
                    with.samples += samples;
                    return with.place;
                }
            }
        }
        let place = places.len() as u32;
        places.push(lit);
        joined.push(Joined {
            mesh,
            samples,
            place,
        });
        place
    }

    /// Whether no sample of a pixel sees anything that was drawn.
    fn is_empty(&self, x: usize, y: usize) -> bool {
        let n = self.samples;
        (y * n..(y + 1) * n).all(|row| {
            let first = row * self.raster.width + x * n;
            let ids = &self.raster.id[first..first + n];
            ids.iter().all(|&id| id == NOTHING)
        })
    }

    /// What one sample sees, and where.
    fn sample(&self, x: usize, y: usize) -> (u32, Vec3) {
        let i = y * self.raster.width + x;
        let (id, nearness) = (self.raster.id[i], self.raster.nearness[i]);
        let at = [x as f32 + 0.5, y as f32 + 0.5];
        if id == NOTHING {
            return self.behind(at);
        }
        let ray = self.view.ray(at[0], at[1]);
        if let Some(depth) = self.ground_depth(ray) {
            // A hair in front, so that faces lying on the ground do not flicker through.
            if 1.0 / depth > nearness * 1.0005 {
                return (GROUND, self.view.eye + ray * depth);
            }
        }
        (id, self.view.eye + ray / nearness.max(f32::MIN_POSITIVE))
    }

    /// The ground or the background, and where.
    fn behind(&self, [x, y]: [f32; 2]) -> (u32, Vec3) {
        let ray = self.view.ray(x, y);
        match self.ground_depth(ray) {
            Some(depth) => (GROUND, self.view.eye + ray * depth),
            None => (NOTHING, Vec3::ZERO),
        }
    }

    /// How far along a ray the ground is.
    fn ground_depth(&self, ray: Vec3) -> Option<f32> {
        let depth = (self.scene.ground? - self.view.eye.y) / ray.y;
        (depth > 0.0 && depth.is_finite()).then_some(depth)
    }

    /// What an id stands for, and the normal where light matters.
    fn seen(
        &self,
        id: u32,
        position: Vec3,
        centre: Vec3,
        ground_reach: f32,
    ) -> (Seen, Option<Vec3>) {
        let place = 0;
        if id == NOTHING {
            return (Seen::Background, None);
        }
        if id == GROUND {
            if position.distance(centre) > ground_reach {
                return (Seen::Background, None);
            }
            return (Seen::Ground { place }, Some(Vec3::Y));
        }
        let index = id as usize - 1;
        if let Some(triangle) = self.triangles.get(index) {
            let normal = triangle.normal_at(position);
            let facing = if normal.dot(position - self.view.eye) > 0.0 {
                -normal
            } else {
                normal
            };
            let triangle = index as u32;
            return (Seen::Surface { triangle, place }, Some(facing));
        }
        let mark = index - self.triangles.len();
        let colour = match self.scene.marks.get(mark) {
            Some(&(_, colour, _)) => colour,
            None => self.scene.meshes[mark - self.scene.marks.len()]
                .edges
                .map_or(Colour::BLACK, |(colour, _)| colour),
        };
        (Seen::Plain(colour), None)
    }

    fn resolve(
        &self,
        shown: &Shown,
        width: usize,
        height: usize,
        open: Vec3,
        through: Option<&Through>,
    ) -> Vec<Vec3> {
        let mut pixels = vec![Vec3::ONE; width * height];
        let total = (self.samples * self.samples) as f32;
        let rows = pixels.par_chunks_mut(width).enumerate();
        rows.for_each(|(y, row)| {
            let down = (y as f32 + 0.5) / height as f32;
            let background = self.scene.background[0].mix(self.scene.background[1], down);
            for (x, pixel) in row.iter_mut().enumerate() {
                let at = y * width + x;
                let range = shown.first_part[at] as usize..shown.first_part[at + 1] as usize;
                let mut sum = Vec3::ZERO;
                for part in &shown.parts[range] {
                    let colour = match part.seen {
                        Seen::Background => background.0,
                        Seen::Plain(colour) => colour.0,
                        Seen::Ground { place } => {
                            let lit = &shown.places[place as usize];
                            let share = lit.light.truncate() / open;
                            background.0 * share.min(Vec3::ONE) * self.floor_line(lit.position)
                        }
                        Seen::Surface { triangle, place } => {
                            let triangle = &self.triangles[triangle as usize];
                            let lit = &shown.places[place as usize];
                            match through {
                                Some(t) if self.scene.meshes[triangle.mesh as usize].clear => {
                                    self.glass(triangle, lit, t.behind[at], t.layers[at])
                                }
                                _ => self.surface(triangle, lit),
                            }
                        }
                    };
                    sum += colour * part.samples as f32;
                }
                *pixel = sum / total;
            }
        });
        pixels
    }

    /// How much of the ground's light is left by its lines; they fade with the distance.
    fn floor_line(&self, p: Vec3) -> f32 {
        let Some(apart) = self.scene.ground_lines else {
            return 1.0;
        };
        const WIDTH: f32 = 0.03;
        const DARK: f32 = 0.10;
        let ray = p - self.view.eye;
        let pixel = self.samples as f32 / self.view.focal * ray.length() / apart;
        // Seen at a slant, a pixel covers more of the ground.
        let pixel = pixel / (ray.y.abs() / ray.length()).max(0.05);
        let cover = |x: f32| {
            let off = (x / apart - (x / apart).round()).abs();
            let inside = (0.5 * (WIDTH + pixel) - off) / pixel.clamp(f32::MIN_POSITIVE, WIDTH);
            inside.clamp(0.0, 1.0) * (WIDTH / pixel).min(1.0)
        };
        let far = (p - self.centre).with_y(0.0).length() / self.reach;
        let fade = (1.6 - far).clamp(0.0, 1.0);
        1.0 - DARK * fade * cover(p.x).max(cover(p.z))
    }

    /// Glass: what is behind, tinted once for each surface on the way, and the sky and
    /// the key light mirrored in the first.
    fn glass(&self, triangle: &WorldTriangle, lit: &Lit, behind: Vec3, layers: f32) -> Vec3 {
        let mesh = &self.scene.meshes[triangle.mesh as usize];
        let towards_eye = (self.view.eye - lit.position).normalize_or(Vec3::Y);
        let facing = lit.normal.dot(towards_eye).clamp(0.0, 1.0);
        // Schlick, for an index of 1.5.
        let mirrored = 0.04 + 0.96 * power(1.0 - facing, 5);
        let thin = Vec3::ONE.lerp(mesh.colour.0, 0.05);
        let first = Vec3::ONE.lerp(triangle.colour.0, 0.30 + 0.25 * (1.0 - facing));
        let more = (layers - 1.0).clamp(0.0, 12.0);
        let passed = first
            * Vec3::new(
                libm::powf(thin.x, more),
                libm::powf(thin.y, more),
                libm::powf(thin.z, more),
            );
        let half = (towards_eye + self.key).normalize_or(Vec3::Y);
        let highlight = power(lit.normal.dot(half).max(0.0), 180) * 0.8 * lit.light.w;
        let sky = Vec3::splat(0.55) + 0.35 * lit.light.truncate();
        shoulder(behind * passed * (1.0 - mirrored) + sky * mirrored + Vec3::splat(highlight))
    }

    fn surface(&self, triangle: &WorldTriangle, lit: &Lit) -> Vec3 {
        let mesh = &self.scene.meshes[triangle.mesh as usize];
        let mut colour = triangle.colour.0 * lit.light.truncate();
        if let Some((texture, uvs)) = &mesh.texture {
            let [a, b, c] = triangle.vertices.map(|v| uvs[v as usize]);
            let [wa, wb, wc] = triangle.weights_at(lit.position);
            colour *= texture.at(a * wa + b * wb + c * wc);
        }
        let gloss = mesh.gloss;
        if gloss > 0.0 {
            let towards_eye = (self.view.eye - lit.position).normalize_or(Vec3::Y);
            let half = (towards_eye + self.key).normalize_or(Vec3::Y);
            let aligned = lit.normal.dot(half).max(0.0);
            let highlight = power(aligned, 90) * 0.55 * lit.light.w;
            // Glazes mirror the sky at grazing angles (Schlick).
            let grazing = power(1.0 - lit.normal.dot(towards_eye).clamp(0.0, 1.0), 5);
            colour += Vec3::splat(gloss * (highlight + 0.18 * grazing));
        }
        shoulder(colour)
    }
}

/// Bright values bend towards white instead of breaking off.
fn shoulder(colour: Vec3) -> Vec3 {
    const KNEE: f32 = 0.72;
    let bend = |c: f32| {
        if c <= KNEE {
            c
        } else {
            KNEE + (1.0 - KNEE) * (1.0 - libm::expf(-(c - KNEE) / (1.0 - KNEE)))
        }
    };
    Vec3::new(bend(colour.x), bend(colour.y), bend(colour.z))
}

/// A whole power by squaring: the platform's own may round otherwise elsewhere.
fn power(base: f32, exponent: u32) -> f32 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result *= square;
        }
        square *= square;
        left /= 2;
    }
    result
}
