//! The things of the shop: turned on a wheel, cut from marble, or of the library's own shapes;
//! painted by formulas.
//!
//! Vases and jars are to be filled with tetrahedra, from their meshes. The library's thin
//! plates and bowls bring tetrahedra that suit them; their meshes are what they wear.

use std::f32::consts::TAU;

use fracas_bake::shapes;
use fracas_core::TetMesh;
use glam::{Vec2, Vec3};

use crate::glb::{Picture, Pixel, Thing};

/// Sides of what is turned.
const SIDES: usize = 48;
/// Of pictures, in pixels.
const SIDE: u32 = 256;
/// How high the table is.
const TABLE: f32 = 0.60;
/// Things stand this far above what they stand on, so that nothing begins in another.
const AIR: f32 = 0.001;

const BLUE: Pixel = [38, 70, 150, 255];
const WHITE: Pixel = [238, 236, 228, 255];
const GOLD: Pixel = [196, 150, 60, 255];

/// All things of the shop.
#[must_use]
pub fn things() -> Vec<Thing> {
    let on_table = TABLE + AIR;
    let mut things = vec![
        slab(
            "marble table top",
            Vec3::new(1.30, 0.04, 0.60),
            vec![[0.0, TABLE - 0.02, 0.0]],
        ),
        slab(
            "marble table foot",
            Vec3::new(0.10, 0.558, 0.40),
            vec![[-0.45, 0.279 + AIR, 0.0], [0.45, 0.279 + AIR, 0.0]],
        ),
        turned("porcelain vase", &vase(), paint_vase, 0.25, {
            vec![[-0.12, on_table, -0.14], [0.42, on_table, -0.12]]
        }),
        turned("earthenware jar", &jar(), paint_jar, 0.8, {
            vec![[-0.46, on_table, -0.08]]
        }),
        turned("glass tumbler", &tumbler(), paint_glass, 0.05, {
            vec![[-0.02, on_table, 0.06], [-0.40, on_table, 0.17]]
        }),
    ];
    let stack = (0..3).map(|i| [0.20, 0.014 * i as f32, 0.12]).collect();
    things.extend(of_library("plate", 4_000, paint_plate, 0.2, stack));
    let bowls = vec![[-0.22, 0.0, 0.14], [0.48, 0.0, 0.14]];
    things.extend(of_library("bowl", 3_000, paint_bowl, 0.2, bowls));
    let rabbit = vec![[0.14, 0.0, -0.16]];
    things.extend(of_library("rabbit", 4_000, paint_spots, 0.7, rabbit));
    things
}

/// A closed outline (radius and height) from the axis under the foot, up outside, over the
/// rim and down inside to the axis.
type Outline = Vec<Vec2>;

/// Outside from the foot to the rim as a curve, and back inside at this thickness.
fn hollow(height: f32, foot: f32, wall: f32, radius: impl Fn(f32) -> f32) -> Outline {
    let steps = 22;
    let at = |i: usize| i as f32 / steps as f32;
    let mut points = vec![Vec2::ZERO, Vec2::new(foot, 0.0)];
    points.extend((1..=steps).map(|i| Vec2::new(radius(at(i)), height * at(i))));
    let floor = wall / height;
    let inside = (0..=steps).rev().map(at).filter(|t| *t > floor);
    points.extend(inside.map(|t| Vec2::new(radius(t) - wall, height * t)));
    points.push(Vec2::new(0.0, wall));
    points
}

fn vase() -> Outline {
    hollow(0.30, 0.045, 0.022, |t| {
        0.064 + 0.030 * (TAU * (0.75 * t + 0.02)).sin() + 0.012 * t * t
    })
}

fn jar() -> Outline {
    hollow(0.24, 0.060, 0.024, |t| {
        0.078 + 0.035 * (0.5 * TAU * t).sin()
    })
}

fn tumbler() -> Outline {
    hollow(0.11, 0.036, 0.014, |t| 0.036 + 0.008 * t)
}

/// What is turned from an outline; the picture goes once round and once along.
fn turned(
    name: &str,
    outline: &Outline,
    paint: fn(Vec2) -> Pixel,
    roughness: f32,
    places: Vec<[f32; 3]>,
) -> Thing {
    let mut lengths = vec![0.0];
    for pair in outline.windows(2) {
        lengths.push(lengths[lengths.len() - 1] + pair[0].distance(pair[1]));
    }
    let whole = lengths[lengths.len() - 1];
    let last = outline.len() - 1;
    let (mut positions, mut normals, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
    for (i, point) in outline.iter().enumerate() {
        let along = outline[(i + 1).min(last)] - outline[i.saturating_sub(1)];
        let out = match i {
            0 => Vec2::NEG_Y,
            _ if i == last => Vec2::Y,
            _ => Vec2::new(along.y, -along.x).normalize_or(Vec2::Y),
        };
        for side in 0..=SIDES {
            let (sin, cos) = (TAU * (side % SIDES) as f32 / SIDES as f32).sin_cos();
            positions.push([point.x * cos, point.y, point.x * sin]);
            normals.push([out.x * cos, out.y, out.x * sin]);
            uvs.push([side as f32 / SIDES as f32, lengths[i] / whole]);
        }
    }
    let mut triangles = Vec::new();
    let row = SIDES as u32 + 1;
    for i in 0..last as u32 {
        for side in 0..SIDES as u32 {
            let [a, b] = [i * row + side, i * row + side + 1];
            let [c, d] = [a + row, b + row];
            // At the axis there is one triangle, not two.
            if i > 0 {
                triangles.push([a, c, b]);
            }
            if i + 1 < last as u32 {
                triangles.push([b, c, d]);
            }
        }
    }
    Thing {
        name: name.into(),
        positions,
        normals,
        uvs,
        triangles,
        picture: painted(paint),
        roughness,
        places,
        tets: None,
    }
}

/// A block of marble with the picture on each side, a metre wide.
fn slab(name: &str, size: Vec3, places: Vec<[f32; 3]>) -> Thing {
    let (mut positions, mut normals, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
    let mut triangles = Vec::new();
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut normal = [0.0; 3];
            normal[axis] = sign;
            let normal = Vec3::from(normal);
            let across = Vec3::new(normal.y.abs() + normal.z.abs(), 0.0, normal.x.abs());
            let up = normal.cross(across);
            let first = positions.len() as u32;
            for (u, v) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
                let place = (0.5 * normal + u * across + v * up) * size;
                positions.push(place.to_array());
                normals.push(normal.to_array());
                uvs.push([place.dot(across) + 0.3 * axis as f32, place.dot(up)]);
            }
            triangles.extend([[0, 1, 2], [0, 2, 3]].map(|t| t.map(|k| first + k)));
        }
    }
    Thing {
        name: name.into(),
        positions,
        normals,
        uvs,
        triangles,
        picture: painted(paint_marble),
        roughness: 0.35,
        places,
        tets: None,
    }
}

/// A shape of the library, with its tetrahedra, painted from above or from the side, standing
/// on the table at these places.
fn of_library(
    shape: &str,
    tets: usize,
    paint: fn(Vec2) -> Pixel,
    roughness: f32,
    places: Vec<[f32; 3]>,
) -> Option<Thing> {
    let shape = shapes::by_name(shape)?;
    let mesh = shape.build_with_tets(tets);
    let (positions, triangles) = boundary(&mesh);
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for triangle in &triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        for v in triangle {
            normals[*v as usize] += (b - a).cross(c - a);
        }
    }
    let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
    for p in &positions {
        (low, high) = (low.min(*p), high.max(*p));
    }
    let size = high - low;
    let is_flat = size.y < size.x;
    let project = |p: &Vec3| {
        let part = (*p - low) / size;
        if is_flat {
            [part.x, part.z]
        } else {
            [part.x, 1.0 - part.y]
        }
    };
    let lift = TABLE + AIR - low.y;
    Some(Thing {
        name: format!("{} {}", shape.material().unwrap_or_default(), shape.name()),
        uvs: positions.iter().map(project).collect(),
        normals: normals
            .iter()
            .map(|n| n.normalize_or(Vec3::Y).to_array())
            .collect(),
        positions: positions.iter().map(|p| p.to_array()).collect(),
        triangles,
        picture: painted(paint),
        roughness,
        places: places.iter().map(|&[x, y, z]| [x, y + lift, z]).collect(),
        tets: Some(mesh),
    })
}

/// The boundary of tetrahedra, with its own vertices only.
fn boundary(mesh: &TetMesh) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut number = vec![u32::MAX; mesh.positions().len()];
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for face in mesh.boundary() {
        triangles.push(face.nodes.map(|node| {
            let place = &mut number[node as usize];
            if *place == u32::MAX {
                *place = positions.len() as u32;
                positions.push(mesh.positions()[node as usize]);
            }
            *place
        }));
    }
    (positions, triangles)
}

fn painted(paint: fn(Vec2) -> Pixel) -> Picture {
    let place = |i: u32| (i as f32 + 0.5) / SIDE as f32;
    let pixels = (0..SIDE * SIDE).map(|i| paint(Vec2::new(place(i % SIDE), place(i / SIDE))));
    Picture {
        side: SIDE,
        pixels: pixels.collect(),
    }
}

/// So many petals round points that repeat.
fn petals(p: Vec2, across: f32, along: f32) -> bool {
    let cell = Vec2::new((p.x * across).fract() - 0.5, (p.y * along).fract() - 0.5);
    let angle = cell.y.atan2(cell.x);
    cell.length() < 0.17 + 0.22 * (2.5 * angle).cos().abs()
}

fn paint_vase(p: Vec2) -> Pixel {
    let band = (p.y * 100.0) as u32;
    match band {
        8..=9 | 42..=43 => GOLD,
        10..=11 | 40..=41 => BLUE,
        14..=37 if petals(Vec2::new(p.x, (p.y - 0.14) / 0.24), 8.0, 2.0) => BLUE,
        _ => WHITE,
    }
}

fn paint_jar(p: Vec2) -> Pixel {
    let wave = (p.y * 60.0 + 1.2 * (10.0 * TAU * p.x).sin()) as u32;
    match wave {
        11..=12 | 20..=21 => [240, 214, 160, 255],
        15..=17 => [96, 44, 28, 255],
        _ => [178, 92, 58, 255],
    }
}

/// How far from the middle of the picture (1 at its sides), and which way (0 to 1).
fn polar(p: Vec2) -> (f32, f32) {
    let from = 2.0 * p - Vec2::ONE;
    (from.length(), from.y.atan2(from.x) / TAU + 0.5)
}

fn paint_plate(p: Vec2) -> Pixel {
    let (far, way) = polar(p);
    match (far * 100.0) as u32 {
        94.. => GOLD,
        72..=91 if petals(Vec2::new(way, (far - 0.72) / 0.20), 16.0, 1.0) => BLUE,
        66..=68 => BLUE,
        0..=24 if petals(0.5 * Vec2::ONE + 1.6 * (p - 0.5), 1.0, 1.0) => BLUE,
        _ => WHITE,
    }
}

fn paint_bowl(p: Vec2) -> Pixel {
    let (far, way) = polar(p);
    let checks = ((way * 24.0) as u32 + (far * 20.0) as u32).is_multiple_of(2);
    match (far * 100.0) as u32 {
        94.. => GOLD,
        65..=89 if checks => [30, 120, 110, 255],
        _ => WHITE,
    }
}

fn paint_glass(p: Vec2) -> Pixel {
    match (p.y * 100.0) as u32 {
        38..=40 => [210, 70, 60, 170],
        _ => [196, 226, 222, 90],
    }
}

fn paint_marble(p: Vec2) -> Pixel {
    let bend = 0.35 * (TAU * p.y).sin() + 0.2 * (3.0 * TAU * p.x + TAU * p.y).sin();
    let vein = (TAU * (2.0 * p.x + p.y) + 4.0 * bend)
        .sin()
        .abs()
        .powf(0.35);
    let grey = (150.0 + 80.0 * vein) as u8;
    [grey, grey, grey.saturating_sub(6), 255]
}

fn paint_spots(p: Vec2) -> Pixel {
    if petals(p, 4.0, 4.0) {
        [206, 120, 110, 255]
    } else {
        [240, 232, 220, 255]
    }
}
