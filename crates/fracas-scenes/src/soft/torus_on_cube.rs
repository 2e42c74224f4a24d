//! A soft torus of 6,912 tetrahedra falls on a cube and breaks. [Marchal 2004, Fig. 13]

use fracas_soft::{Material, SoftBody, SoftWorld, shapes};
use glam::{Mat3, Vec3};

/// Cells across the ring (6,912 tetrahedra), around it, and along the cube's side.
pub(super) const FULL: [u32; 3] = [4, 72, 5];
/// The same for a browser: 480 tetrahedra.
pub(super) const SMALL: [u32; 3] = [2, 20, 2];

/// Scaled so that the torus meets the cube within half a second.
pub(super) fn world([across, around, side]: [u32; 3]) -> SoftWorld {
    let mut world = SoftWorld::new();
    world.floor = Some(0.0);
    world.stiffness = 3.0e7;
    world.most_tears = 6;
    let material = Material {
        shear: 3.0e5,
        bulk: 1.0e6,
        tear_stretch: 1.5,
        ..Material::default()
    };
    let cube = shapes::cuboid([side; 3], Vec3::splat(0.7)).expect("the counts are positive");
    let cube = SoftBody::build(&cube, material).expect("the material is sound");
    world.add(
        cube.placed(Mat3::IDENTITY, Vec3::new(0.0, 0.35, 0.0))
            .fixed(),
    );
    let torus = shapes::torus(across, around, 0.5, 0.16).expect("the torus is thinner than wide");
    let torus = SoftBody::build(&torus, material).expect("the material is sound");
    let tilt = Mat3::from_rotation_z(0.25);
    world.add(
        torus
            .placed(tilt, Vec3::new(0.12, 1.2, 0.05))
            .moving(Vec3::new(0.0, -5.0, 0.0)),
    );
    world
}
