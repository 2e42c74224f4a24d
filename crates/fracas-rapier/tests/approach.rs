//! Fragments that fly and spin at each other, with our contacts and with the engine's own on
//! the same surfaces.
//!
//! Contacts that are seen ahead are planes: a body that turns may pass beside one. So what
//! enters is not nothing (docs/decisions/0013-contacts-that-remember.md); nobody passes.

mod common;

use common::{blueprint, shatter};
use fracas_core::testing::Rng;
use fracas_rapier::{Breakable, ContactMode, ParryShape, PieceId, World, WorldSettings};
use glam::Vec3;
use parry3d::math::Pose;

/// One piece of a block of its own, the others taken away.
fn piece(world: &mut World, rng: &mut Rng, at: Vec3) -> PieceId {
    let block = blueprint([5, 4, 4], Vec3::new(0.3, 0.2, 0.24));
    world.add(Breakable::new(block).at(Pose::from_translation(at)));
    let whole = world.pieces().last().unwrap();
    let pieces = shatter(world, whole, 6);
    let kept = pieces[rng.below(pieces.len())];
    for other in pieces.into_iter().filter(|&p| p != kept) {
        world.remove_piece(other);
    }
    kept
}

/// The deepest overlap of two pieces on their way, in metres, and whether they met.
fn meet(seed: u64, speed: f32, mode: ContactMode) -> (f32, bool) {
    let mut rng = Rng(seed);
    let mut settings = WorldSettings {
        length_unit: 0.1,
        gravity: Vec3::ZERO,
        ..WorldSettings::measured()
    };
    settings.contacts.mode = mode;
    let mut world = World::new(settings);
    let pieces = [-1.0, 1.0].map(|x| piece(&mut world, &mut rng, Vec3::X * x));
    // So far apart that they come near in the middle of any step.
    let gap = rng.range(1.0, 1.0 + 3.0 * speed / 60.0);
    for (side, &piece) in [-1.0, 1.0].into_iter().zip(&pieces) {
        let spin = rng.direction() * rng.range(0.0, 15.0);
        let aside = Vec3::new(0.0, rng.range(-0.06, 0.06), rng.range(-0.06, 0.06));
        let body = world.body_mut(piece).unwrap();
        let middle = body.position().translation - body.center_of_mass();
        body.set_translation(middle + Vec3::X * side * 0.5 * gap + aside, true);
        body.set_linvel(Vec3::X * -side * 0.5 * speed, true);
        body.set_angvel(spin, true);
    }
    let velocity = |world: &World| world.body(pieces[0]).unwrap().linvel();
    let before = velocity(&world);
    let (mut deepest, mut met) = (0.0_f32, false);
    for _ in 0..((gap + 1.0) / speed * 60.0) as u32 + 2 {
        world.step();
        deepest = deepest.max(world.deepest_overlap());
        met |= velocity(&world).distance(before) > 1e-3 * speed;
    }
    (deepest, met)
}

/// How many of forty pairs met, and how deep they were in each other, in mm: median, most.
fn forty(speed: f32, mode: ContactMode) -> (usize, f32, f32) {
    let all: Vec<_> = (0..40).map(|seed| meet(seed, speed, mode)).collect();
    let met = all.iter().filter(|(_, met)| *met).count();
    let mut depths: Vec<f32> = all.iter().map(|(depth, _)| 1e3 * depth).collect();
    depths.sort_by(f32::total_cmp);
    (met, depths[20], depths[39])
}

#[test]
fn what_comes_is_seen_however_fast_it_comes() {
    for speed in [0.5, 2.0, 8.0, 30.0, 100.0, 300.0] {
        let (met, median, most) = forty(speed, ContactMode::default());
        let theirs = forty(speed, ContactMode::Parry(ParryShape::TriMesh));
        println!(
            "{speed} m/s: {met} of 40 met, {median:.2} mm deep, at most {most:.2}; \
             triangle meshes: {} met, {:.2} mm, {:.2}",
            theirs.0, theirs.1, theirs.2
        );
        assert_eq!(met, 40, "{speed} m/s");
        assert!(
            median <= (0.5 * theirs.1).max(5.0),
            "{speed} m/s: {median} mm, theirs {}",
            theirs.1
        );
        assert!(most < 60.0, "{speed} m/s: {most} mm");
    }
}
