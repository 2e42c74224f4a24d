//! Balls dropped on four plates on a shelf [Glondu 2013, Fig. 1; Table 3: 30 ms].

use fracas_fracture::FractureSettings;
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder};

use super::{Kit, Progress, Scene, SceneError, SceneOptions};

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    // 44 fragments of four plates (Table 2).
    let settings = FractureSettings {
        max_fragments: 11,
        max_cracks: 10,
        seed: options.seed,
        ..FractureSettings::default()
    };
    let kit = Kit::build("plate", "porcelain", settings, progress)?;
    let view = (Vec3::new(-0.7, 0.0, -0.3), Vec3::new(0.7, 0.7, 0.3));
    let mut scene = Scene::new("plates", options.world(0.030, 0.05), 240, view);
    scene.world.add_floor(0.0, 0.6);
    // The board: plates lie on two rails, so that a ball breaks them through.
    for z in [-0.09, 0.09] {
        let rail = ColliderBuilder::cuboid(0.65, 0.01, 0.015).translation(Vec3::new(0.0, 0.39, z));
        scene
            .world
            .physics
            .insert_collider(rail.friction(0.6), None);
    }
    let (low, _) = kit.bounds();
    for i in 0..4_u32 {
        let x = (i as f32 - 1.5) * 0.31;
        let pose = Pose::translation(x, 0.4 - low.y + 0.001, 0.0);
        scene.world.add(kit.body(pose, u64::from(i)));
        scene.colours.push(kit.colour());
        let drop = move |world: &mut fracas_rapier::world::World| {
            let ball = RigidBodyBuilder::dynamic()
                .translation(Vec3::new(x + 0.01, 1.3, 0.01))
                .linvel(Vec3::new(0.0, -3.0, 0.0))
                .can_sleep(false);
            world.physics.insert(
                ball,
                ColliderBuilder::ball(0.035).density(7800.0).friction(0.4),
            );
        };
        scene.actions.push((20 + 30 * u64::from(i), Box::new(drop)));
    }
    Ok(scene)
}
