//! Bodies and measures that several tests of the world share.
#![allow(dead_code, reason = "each test file uses its own part of it")]

use std::sync::Arc;

use fracas_core::sphere_tree::BuildOptions;
use fracas_core::testing::box_grid;
use fracas_core::{FieldOptions, TetMesh};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_fracture::{Breaker, Material, Strength};
use fracas_rapier::{Blueprint, PieceId, World, WorldSettings};
use glam::{DVec3, Mat3, Vec3};
use rapier3d::prelude::RigidBodySet;

/// A box of the given size around the origin.
pub fn blueprint(cells: [u32; 3], size: Vec3) -> Arc<Blueprint> {
    let corner = box_grid(cells, size);
    let positions = corner.positions().iter().map(|p| *p - 0.5 * size).collect();
    let mesh = TetMesh::build(positions, corner.tets().to_vec()).unwrap();
    Arc::new(
        Blueprint::build(
            Arc::new(mesh),
            &FieldOptions::default(),
            &BuildOptions::default(),
        )
        .unwrap(),
    )
}

/// A brick of 215 x 65 x 102.5 mm around the origin.
pub fn brick() -> Arc<Blueprint> {
    blueprint([6, 2, 3], Vec3::new(0.215, 0.065, 0.1025))
}

/// A world with a floor, as the paper measures.
pub fn world(step: f32) -> World {
    let mut world = World::new(WorldSettings::measured()).with_dt(step);
    world.add_floor(0.0, 0.6);
    world
}

/// Breaks into at most `pieces` where the speed changes by more than a metre per
/// second, by a pattern.
pub fn fragile(pieces: u32) -> Breaker {
    Breaker::new(Material::by_name("brick").unwrap(), None).with_strength(Strength {
        speed: 1.0,
        most_pieces: pieces,
    })
}

/// Momentum and angular momentum of everything.
pub fn momenta(world: &World) -> (DVec3, DVec3) {
    momenta_of(&world.physics.bodies)
}

/// The same of an engine's bodies.
pub fn momenta_of(bodies: &RigidBodySet) -> (DVec3, DVec3) {
    let (mut p, mut l) = (DVec3::ZERO, DVec3::ZERO);
    for (_, body) in bodies.iter() {
        let (m, c) = (f64::from(body.mass()), body.center_of_mass().as_dvec3());
        let v = body.linvel().as_dvec3();
        let inverse = body.mass_properties().effective_world_inv_inertia;
        let inverse = Mat3::from_cols(inverse * Vec3::X, inverse * Vec3::Y, inverse * Vec3::Z);
        p += m * v;
        l += c.cross(m * v) + (inverse.inverse() * body.angvel()).as_dvec3();
    }
    (p, l)
}

/// Breaks a piece by a pattern, now.
pub fn shatter(world: &mut World, piece: PieceId, pieces: u32) -> Vec<PieceId> {
    let fracture = {
        let state = world.shape(piece).unwrap().object().read();
        let options = VoronoiOptions {
            pieces,
            ..VoronoiOptions::default()
        };
        voronoi(state.fragments(), piece.fragment, &options).unwrap()
    };
    world.break_piece(piece, fracture)
}
