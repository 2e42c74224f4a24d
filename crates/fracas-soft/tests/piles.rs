//! Piles of what was cut do not become dust, and stop tearing when they have come to lie.

use fracas_geometry::testing::Rng;
use fracas_soft::{Knife, Material, SoftBody, SoftWorld, shapes};
use glam::{Mat3, Vec3};

const DT: f32 = 1.0 / 60.0;

/// Two cubes of 48 tetrahedra above each other, each cut twice anyhow, falling at 3 m/s.
fn pile(seed: u64) -> SoftWorld {
    let mut rng = Rng(seed);
    let mut world = SoftWorld::new();
    world.floor = Some(0.0);
    world.stiffness = 3e7;
    let material = Material {
        shear: 3e5,
        bulk: 1e6,
        tear_stretch: 1.5,
        ..Material::default()
    };
    let mesh = shapes::cuboid([2, 2, 2], Vec3::splat(0.3)).unwrap();
    for i in 0..2_u8 {
        let above = f32::from(i);
        let centre = Vec3::new(0.05 * above, 0.25 + 0.35 * above, 0.02);
        let turn = Mat3::from_rotation_y(0.4 * above);
        let mut body = SoftBody::build(&mesh, material).unwrap();
        body = body.placed(turn, centre).moving(Vec3::new(0.0, -3.0, 0.0));
        for _ in 0..2 {
            body.cut(&Knife::Plane {
                point: centre + 0.05 * rng.direction(),
                normal: rng.direction(),
            });
        }
        world.add(body);
    }
    world
}

/// A sliver that a knife left is overstretched by the millimetre that contact moves its nodes by:
/// while such strain parted it, two cubes became 18 to 85 pieces, and four of these eight piles
/// still tore in the last half second of two.
#[test]
fn what_was_cut_does_not_become_dust() {
    let mut late = Vec::new();
    for seed in 0..8 {
        let mut world = pile(seed);
        let (mut last, mut tears) = (0, 0);
        for step in 1..=120 {
            world.step(DT);
            if world.stats().tears > 0 {
                last = step;
                tears += world.stats().tears;
            }
        }
        world.validate().unwrap();
        let pieces: usize = world
            .bodies()
            .iter()
            .map(|b| b.topology().part_count())
            .sum();
        println!("seed {seed}: {pieces} pieces, {tears} tears, the last in step {last}");
        assert!(tears > 0, "seed {seed}: nothing tore");
        assert!(pieces <= 40, "seed {seed}: {pieces} pieces");
        if last > 90 {
            late.push(seed);
        }
    }
    // (Pile 7 has its last tear in step 111.)
    assert!(late.len() <= 1, "{late:?} tear in the last half second");
}
