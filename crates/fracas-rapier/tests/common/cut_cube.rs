//! A cube cut into interlocking pieces, let go or dropped on its corner: what the tests of
//! `fresh_pile` and the example `corner_drop` share.
#![allow(dead_code, reason = "each uses its own part of it")]

use std::ops::Range;

use fracas_core::testing::Rng;
use fracas_fracture::sequence::CrackSequence;
use fracas_rapier::{Breakable, PieceId, World, WorldSettings};
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use crate::common::blueprint;

/// How many cells they are made of.
pub const CELLS: usize = 128;
/// How many pieces.
pub const PIECES: usize = 32;

/// Seeds of cells; each but the first ones joins the piece of the nearest before it,
/// so that pieces branch and interlock.
pub fn groups(rng: &mut Rng) -> Vec<Vec<Vec3>> {
    let mut draw = || {
        Vec3::new(
            rng.range(-0.5, 0.5),
            rng.range(-0.5, 0.5),
            rng.range(-0.5, 0.5),
        )
    };
    let seeds: Vec<Vec3> = (0..CELLS).map(|_| draw()).collect();
    let mut groups = vec![Vec::new(); PIECES];
    let mut group_of: Vec<usize> = Vec::new();
    for (i, &seed) in seeds.iter().enumerate() {
        let to = |&a: &usize, &b: &usize| {
            let (a, b): (Vec3, Vec3) = (seeds[a], seeds[b]);
            seed.distance_squared(a)
                .total_cmp(&seed.distance_squared(b))
        };
        let group = if i < PIECES {
            i
        } else {
            group_of[(0..i).min_by(to).unwrap()]
        };
        group_of.push(group);
        groups[group].push(seed);
    }
    groups
}

/// The nearest of some points, and the square of its distance.
pub fn nearest(p: Vec3, seeds: impl IntoIterator<Item = Vec3>) -> (Vec3, f32) {
    let mut best = (Vec3::ZERO, f32::INFINITY);
    for s in seeds {
        let d = p.distance_squared(s);
        if d < best.1 {
            best = (s, d);
        }
    }
    best
}

/// Cuts the world's only body along the groups' faces.
pub fn cut(world: &mut World, groups: &[Vec<Vec3>]) -> Vec<PieceId> {
    let whole = world.pieces().next().unwrap();
    let fracture = {
        let state = world.shape(whole).unwrap().object().read();
        let positions = state.fragments().mesh().positions().to_vec();
        let mut sequence = CrackSequence::new(state.fragments(), whole.fragment).unwrap();
        let mut work = vec![(0_u32, groups.to_vec())];
        while let Some((part, groups)) = work.pop() {
            if groups.len() < 2 {
                continue;
            }
            let (left, right) = groups.split_at(groups.len() / 2);
            let level = |n: u32| {
                let p = positions[n as usize];
                let (a, to_a) = nearest(p, left.iter().flatten().copied());
                let (b, to_b) = nearest(p, right.iter().flatten().copied());
                (to_a - to_b) / (2.0 * a.distance(b)).max(1e-6)
            };
            match sequence.split(part, level) {
                Some(new) => {
                    work.push((part, left.to_vec()));
                    work.push((new, right.to_vec()));
                }
                None => {
                    let inside = level(sequence.part(part)[0]) < 0.0;
                    work.push((part, if inside { left } else { right }.to_vec()));
                }
            }
        }
        sequence.finish().unwrap()
    };
    world.break_piece(whole, fracture)
}

/// A world with the cube alone.
pub fn cube(settings: WorldSettings, pose: Pose, friction: f32) -> World {
    let mut world = World::new(settings);
    let options = Breakable {
        friction,
        ..Breakable::new(blueprint([10, 10, 10], Vec3::ONE))
    };
    world.add(options.at(pose));
    world
}

/// Drops the cut cube on its corner; the deepest overlap at the end, in metres.
pub fn corner_drop(settings: WorldSettings, seed: u64) -> f32 {
    let turn = Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::NEG_Y);
    let corner = 0.75_f32.sqrt();
    let pose = Pose::from_parts(Vec3::Y * (0.6 + corner), turn);
    let mut world = cube(settings, pose, 0.6);
    world.add_floor(0.0, 0.6);
    let pieces = cut(&mut world, &groups(&mut Rng(seed)));
    for _ in 0..480 {
        world.step();
    }
    let deepest = world.deepest_overlap();
    let fastest = pieces
        .iter()
        .filter_map(|&p| world.body(p))
        .map(|b| b.linvel().length())
        .fold(0.0, f32::max);
    println!("corner drop: {deepest} m overlap at rest, fastest piece {fastest} m/s");
    assert_eq!(world.bodies_lost(), 0);
    deepest
}

/// The deepest overlaps of as many cuts as there are seeds, the least first.
pub fn corner_drops(settings: WorldSettings, seeds: Range<u64>) -> Vec<f32> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let drop_all = |first: u64| -> Vec<f32> {
        let mine = (seeds.start + first..seeds.end).step_by(threads as usize);
        mine.map(|seed| corner_drop(settings, seed)).collect()
    };
    let mut deepest: Vec<f32> = std::thread::scope(|scope| {
        let shares: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || drop_all(first)))
            .collect();
        let drops = shares.into_iter().map(|share| share.join());
        drops
            .flat_map(|drops| drops.expect("a drop that ends"))
            .collect()
    });
    deepest.sort_by(f32::total_cmp);
    deepest
}

/// Which piece comes to lie on which is chance, so the median of many cuts counts. Of seven
/// it is anything from 3.6 to 6.5 mm (docs/decisions/0020-whole-and-convex.md).
pub const CUTS: Range<u64> = 5..33;

/// As games step.
pub fn at_60_hz() -> WorldSettings {
    WorldSettings {
        length_unit: 1.0,
        ..WorldSettings::measured()
    }
}

/// The best of the example `corner_drop`.
pub fn best() -> WorldSettings {
    WorldSettings {
        friction_in_bias: true,
        contact_frequency: 60.0,
        ..at_60_hz()
    }
}
