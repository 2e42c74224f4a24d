//! Thirty-two bricks crashed to the ground [Glondu 2013, Fig. 14; Table 3: 30 ms].

use fracas_core::testing::Rng;
use fracas_fracture::{FractureSettings, Material};
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    // 104 fragments of 32 bricks (Table 2): about three each.
    let fracture = FractureSettings {
        max_fragments: 4,
        max_cracks: 3,
        seed: options.seed,
        ..FractureSettings::default()
    };
    let kinds = TemplateOptions::breaking(Material::BRICK, fracture);
    let template = Template::build("brick", options.detail, kinds, progress)?;
    let view = (Vec3::new(-0.7, 0.0, -0.7), Vec3::new(0.7, 0.6, 0.7));
    let steps = options.steps(7.5, 0.030);
    let mut scene = Scene::new("bricks", options.world(0.030, 0.05), steps, view);
    scene.floor(0.0, 0.7);
    let mut rng = Rng(options.seed ^ 32);
    for i in 0..32_u32 {
        // Four columns of eight, dropped one after the other by their height.
        let column = Vec3::new((i % 2) as f32 - 0.5, 0.0, (i / 2 % 2) as f32 - 0.5) * 0.32;
        let height = 1.2 + 0.35 * (i / 4) as f32;
        let turn = Quat::from_scaled_axis(rng.direction() * rng.range(0.0, 1.5));
        let place = column + Vec3::new(rng.range(-0.03, 0.03), height, rng.range(-0.03, 0.03));
        let mut body = template.body(Pose::from_parts(place, turn), u64::from(i));
        body.velocity = Vec3::new(0.0, -2.0, 0.0);
        scene.add(body, template.colour());
    }
    Ok(scene)
}
