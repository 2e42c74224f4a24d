//! A hundred ellipsoids of 48 tetrahedra (120 when those without inside are divided)
//! fall on the edge of a cube and break.
//! [Marchal 2004, Fig. 15]

use fracas_soft::{Material, SoftBody, SoftWorld, shapes};
use glam::{Mat3, Vec3};

/// Layers of ten: a hundred ellipsoids.
pub(super) const FULL: u8 = 10;
/// The same for a browser.
pub(super) const SMALL: u8 = 1;

/// Layers of ten, each layer turned and shifted, so that they meet the edge one after the
/// other.
pub(super) fn world(layers: u8) -> SoftWorld {
    let mut world = SoftWorld::new();
    world.floor = Some(0.0);
    world.stiffness = 3.0e7;
    world.most_tears = 1;
    let material = Material {
        shear: 4.0e5,
        bulk: 1.2e6,
        tear_stretch: 1.5,
        ..Material::default()
    };
    let cube = shapes::cuboid([4, 4, 4], Vec3::splat(1.0)).expect("the counts are positive");
    let cube = SoftBody::build(&cube, material).expect("the material is sound");
    let on_edge = Mat3::from_rotation_z(std::f32::consts::FRAC_PI_4);
    world.add(cube.placed(on_edge, Vec3::new(0.0, 0.3, 0.0)).fixed());
    let mesh =
        shapes::ellipsoid([2, 2, 2], Vec3::new(0.1, 0.07, 0.07)).expect("the counts are positive");
    let body = SoftBody::build(&mesh, material).expect("the material is sound");
    for layer in 0..layers {
        for i in 0..10_u8 {
            let (column, row) = (i % 2, i / 2);
            let (l, c, r) = (f32::from(layer), f32::from(column), f32::from(row));
            let turn = Mat3::from_rotation_y(0.7 * l + 1.3 * c) * Mat3::from_rotation_z(0.4 * r);
            let shift = 0.05 * if layer % 2 == 0 { 1.0 } else { -1.0 };
            let at = Vec3::new(0.24 * (c - 0.5) + shift, 1.15 + 0.24 * l, 0.22 * (r - 2.0));
            world.add(
                body.clone()
                    .placed(turn, at)
                    .moving(Vec3::new(0.0, -3.0, 0.0)),
            );
        }
    }
    world
}
