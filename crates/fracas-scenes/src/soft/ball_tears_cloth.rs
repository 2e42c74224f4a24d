//! A soft ball falls on a cloth pinned along its rim, and through it.
//! [Marchal 2004, Fig. 14: a triangle mesh against a tetrahedral one]

use fracas_soft::cloth::{Cloth, Fabric};
use fracas_soft::{Material, SoftBody, SoftWorld, shapes};
use glam::{Mat3, Vec3};

pub(super) fn world() -> SoftWorld {
    let mut world = SoftWorld::new();
    world.floor = Some(0.0);
    world.stiffness = 2.0e5;
    let fabric = Fabric {
        density: 1.0,
        tear_stretch: 1.25,
        ..Fabric::default()
    };
    world.hang(Cloth::hammock(
        Vec3::new(0.0, 0.9, 0.0),
        [1.6, 1.6],
        [28, 28],
        fabric,
    ));
    let ball = shapes::ellipsoid([8, 8, 8], Vec3::splat(0.3)).expect("the counts are positive");
    let ball = SoftBody::build(&ball, Material::default()).expect("the material is sound");
    world.add(
        ball.placed(Mat3::IDENTITY, Vec3::new(0.03, 1.35, 0.02))
            .moving(Vec3::new(0.0, -3.0, 0.0)),
    );
    world
}
