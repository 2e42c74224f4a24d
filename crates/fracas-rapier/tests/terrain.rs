//! Fragments thrown at terrain: none ends up behind it.

mod common;

use common::{blueprint, shatter};
use fracas_core::testing::Rng;
use fracas_rapier::{Breakable, PieceId, World, WorldSettings};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::shape::SharedShape;
use parry3d::utils::Array2;
use rapier3d::prelude::ColliderBuilder;

/// Half the sides of the terrain (m).
const HALF: f32 = 10.0;

/// Cells along each side.
const CELLS: usize = 40;

/// Ridges with steep flanks: every fourth row of the grid is 1.2 m high.
fn height_at(column: usize) -> f32 {
    if column % 4 == 2 { 1.2 } else { 0.0 }
}

fn height(x: f32) -> f32 {
    let at = (x + HALF) / (2.0 * HALF) * CELLS as f32;
    let column = (at.floor().max(0.0) as usize).min(CELLS - 1);
    let share = at - column as f32;
    height_at(column) * (1.0 - share) + height_at(column + 1) * share
}

fn height_field() -> SharedShape {
    let heights = (0..(CELLS + 1) * (CELLS + 1)).map(|i| height_at(i / (CELLS + 1)));
    let heights = Array2::new(CELLS + 1, CELLS + 1, heights.collect());
    SharedShape::heightfield(heights, Vec3::new(2.0 * HALF, 1.0, 2.0 * HALF))
}

/// Where the thin wall of the mesh stands, and its thickness.
const WALL: [f32; 2] = [3.0, 0.01];

/// Half the width of an acute ridge, and its height: 14 degrees at the top.
const RIDGE: [f32; 2] = [0.1, 0.8];

/// A floor, acute ridges along z, and a thin wall 6 m high: all looking out.
fn ridged_mesh() -> SharedShape {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    let mut strip = |a: [f32; 2], b: [f32; 2]| {
        let first = points.len() as u32;
        for [x, y] in [a, b] {
            points.push(Vec3::new(x, y, -HALF));
            points.push(Vec3::new(x, y, HALF));
        }
        // Looks to the left of the way from a to b, seen against z: up where it goes to +x.
        triangles.push([first, first + 1, first + 3]);
        triangles.push([first, first + 3, first + 2]);
    };
    let mut at = [-HALF, 0.0];
    let mut go = |to: [f32; 2]| {
        strip(at, to);
        at = to;
    };
    for i in 0..3 {
        let x = -1.0 + i as f32;
        go([x - RIDGE[0], 0.0]);
        go([x, RIDGE[1]]);
        go([x + RIDGE[0], 0.0]);
    }
    go([WALL[0], 0.0]);
    go([WALL[0], 6.0]);
    go([WALL[0] + WALL[1], 6.0]);
    go([WALL[0] + WALL[1], 0.0]);
    go([HALF, 0.0]);
    SharedShape::trimesh(points, triangles).unwrap()
}

/// How deep a place is behind the mesh.
fn depth_in_mesh(p: Vec3) -> f32 {
    let mut depth = -p.y;
    for i in 0..3 {
        let aside = (p.x - (-1.0 + i as f32)).abs();
        let top = RIDGE[1] * (1.0 - aside / RIDGE[0]);
        // At right angles to the flank.
        let slant = RIDGE[0] / (RIDGE[0] * RIDGE[0] + RIDGE[1] * RIDGE[1]).sqrt();
        let under = (top - p.y) * slant;
        depth = depth.max(if aside < RIDGE[0] { under } else { -1.0 });
    }
    // All come from the left of the wall.
    depth.max(if p.y < 6.0 { p.x - WALL[0] } else { -1.0 })
}

/// What became of pieces that were thrown.
struct Thrown {
    all: usize,
    /// How deep each that is still there lies behind the terrain at the end.
    depths: Vec<f32>,
    /// Pieces that were once deeper behind it than a step can leave them: they went through.
    through: usize,
}

/// Deeper than this behind terrain is through it: contacts lead nothing back from there.
const THROUGH: f32 = 0.05;

/// Pieces of blocks, thrown.
fn thrown(shape: SharedShape, seed: u64, depth: impl Fn(Vec3) -> f32) -> Thrown {
    let mut rng = Rng(seed);
    let mut world = World::new(WorldSettings {
        lost_below: Some(-50.0),
        length_unit: 0.05,
        ..WorldSettings::measured()
    });
    let ground = ColliderBuilder::new(shape).friction(0.5);
    world.physics.insert_collider(ground, None);
    let block = blueprint([4, 4, 4], Vec3::splat(0.16));
    let mut pieces: Vec<PieceId> = Vec::new();
    for i in 0..10 {
        let at = Vec3::new(
            rng.range(-4.0, 1.5),
            rng.range(1.6, 2.5),
            -6.0 + 1.2 * i as f32,
        );
        world.add(Breakable::new(block.clone()).at(Pose::from_translation(at)));
        let whole = world.pieces().last().unwrap();
        pieces.extend(shatter(&mut world, whole, 6));
    }
    for &piece in &pieces {
        let speed = rng.range(5.0, 60.0);
        let way = Vec3::new(rng.range(-0.2, 1.0), -1.0, rng.range(-0.2, 0.2)).normalize();
        let spin = rng.direction() * rng.range(0.0, 15.0);
        let body = world.body_mut(piece).unwrap();
        body.set_linvel(way * speed, true);
        body.set_angvel(spin, true);
    }
    // What flew over the edge of the terrain fell beside it.
    let inside = |p: Vec3| p.x.abs() < HALF - 0.5 && p.z.abs() < HALF - 0.5;
    let mut was_inside = vec![true; pieces.len()];
    let mut is_through = vec![false; pieces.len()];
    for _ in 0..90 {
        world.step();
        for (i, &piece) in pieces.iter().enumerate() {
            let centre = world.body(piece).map(|body| body.center_of_mass());
            was_inside[i] &= centre.is_none_or(inside);
            // What is gone without having left the square has fallen below it.
            let deep = centre.is_none_or(|centre| depth(centre) > THROUGH);
            is_through[i] |= was_inside[i] && deep;
        }
    }
    let found = pieces.iter().filter_map(|&piece| {
        let centre = world.body(piece)?.center_of_mass();
        inside(centre).then(|| depth(centre))
    });
    Thrown {
        all: pieces.len(),
        depths: found.collect(),
        through: is_through.iter().filter(|&&through| through).count(),
    }
}

#[test]
fn fragments_stay_in_front_of_terrain() {
    for (name, mesh) in [("height field", false), ("ridged mesh", true)] {
        let (mut all, mut looked, mut behind, mut deepest) = (0, 0, 0, f32::NEG_INFINITY);
        let mut went_through = 0;
        for seed in 0..9 {
            let found = if mesh {
                thrown(ridged_mesh(), seed, depth_in_mesh)
            } else {
                thrown(height_field(), seed, |p| height(p.x) - p.y)
            };
            all += found.all;
            looked += found.depths.len();
            behind += found.depths.iter().filter(|d| **d > 0.01).count();
            deepest = found.depths.iter().copied().fold(deepest, f32::max);
            went_through += found.through;
        }
        println!(
            "{name}: {behind} of {looked} behind ({all} thrown), deepest {deepest} m, \
             {went_through} went through on the way"
        );
        assert!(all > 450 && looked > all / 2, "{name}: {looked} of {all}");
        assert_eq!([behind, went_through], [0, 0], "{name}");
    }
}
