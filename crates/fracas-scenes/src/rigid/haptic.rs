//! A tool in a hand taps and breaks a tile at a thousand steps a second: the rate at
//! which a force must be known for a surface to feel hard.
//!
//! The hand is recorded: it taps gently, strikes, and stirs the pieces.

use fracas_core::TetMesh;
use fracas_core::testing::box_grid;
use fracas_fracture::{FractureSettings, Material};
use fracas_rapier::Coupling;
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder};

use super::{
    Grab, Progress, PropShape, Scene, SceneError, SceneOptions, Template, TemplateOptions,
};

const STEP: f32 = 1e-3;
/// The tile (m).
const TILE: Vec3 = Vec3::new(0.15, 0.008, 0.15);
/// The tool (m).
const TOOL: Vec3 = Vec3::new(0.02, 0.12, 0.02);
/// Upper side of the two rails under the tile (m).
const RAILS: f32 = 0.05;

/// A stiff hand that does not swing.
const GRIP: Coupling = Coupling {
    stiffness: 4000.0,
    damping: 40.0,
    angular_stiffness: 8.0,
    angular_damping: 0.05,
    most_force: 300.0,
};

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    let fracture = FractureSettings {
        max_fragments: 8,
        max_cracks: 7,
        seed: options.seed,
        ..FractureSettings::default()
    };
    progress("tetrahedra");
    let tile = centred([12, 2, 12], TILE);
    let tool = centred([2, 12, 2], TOOL);
    let kinds = TemplateOptions::breaking(Material::EARTHENWARE, fracture);
    let tile = Template::of_mesh("tile", tile, [196, 120, 92], kinds, progress)?;
    let steel = TemplateOptions::solid(Material {
        density: 7800.0,
        ..Material::GRANITE
    });
    let tool = Template::of_mesh("tool", tool, [96, 104, 120], steel, progress)?;
    let view = (Vec3::new(-0.15, 0.0, -0.15), Vec3::new(0.15, 0.2, 0.15));
    let steps = options.steps(2.5, STEP);
    let mut scene = Scene::new("haptic", options.world(STEP, 0.02), steps, view);
    scene.floor(0.0, 0.6);
    for x in [-0.065, 0.065] {
        let half = Vec3::new(0.006, 0.5 * RAILS, 0.08);
        let rail = RigidBodyBuilder::fixed().translation(Vec3::new(x, half.y, 0.0));
        let collider = ColliderBuilder::cuboid(half.x, half.y, half.z).friction(0.6);
        scene.add_prop(PropShape::Block(half), [120, 116, 110], rail, collider);
    }
    let on_rails = Vec3::Y * (RAILS + 0.5 * TILE.y + 2e-4);
    scene.add(
        tile.body(Pose::from_translation(on_rails), 0),
        tile.colour(),
    );
    let top = RAILS + TILE.y;
    let above = Vec3::new(0.004, top + 0.5 * TOOL.y + 0.04, 0.006);
    let mut held = tool.body(Pose::from_translation(above), 1);
    held.friction = 0.4;
    let object = scene.add(held, tool.colour());
    let touch = above - Vec3::Y * 0.041;
    scene.grab(Grab {
        object,
        grip: Vec3::ZERO,
        start: 0.0,
        path: vec![
            (0.15, above),
            // Two gentle taps.
            (0.35, touch),
            (0.45, above),
            (0.65, touch),
            (0.75, above + Vec3::Y * 0.02),
            // The strike, a little deeper than the tile.
            (0.79, touch - Vec3::Y * 0.03),
            (1.0, touch),
            // Stirring the pieces.
            (1.3, touch + Vec3::new(0.03, -0.012, 0.0)),
            (1.6, touch + Vec3::new(-0.03, -0.012, 0.02)),
            (1.9, touch + Vec3::new(0.0, 0.0, -0.03)),
            (2.2, above),
            (60.0, above),
        ],
        coupling: GRIP,
    });
    Ok(scene)
}

fn centred(cells: [u32; 3], size: Vec3) -> TetMesh {
    let corner = box_grid(cells, size);
    let positions = corner.positions().iter().map(|&p| p - 0.5 * size);
    TetMesh::build(positions.collect(), corner.tets().to_vec()).expect("moving a mesh keeps it one")
}
