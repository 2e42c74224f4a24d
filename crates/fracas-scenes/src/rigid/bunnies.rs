//! Twenty-seven rabbits dropped in three batches [Glondu 2013, Fig. 13; Table 3:
//! 5 ms].

use fracas_core::testing::Rng;
use fracas_fracture::{FractureSettings, Material};
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    // 166 fragments of 27 bunnies (Table 2): about six each.
    let fracture = FractureSettings {
        max_fragments: 6,
        max_cracks: 5,
        seed: options.seed,
        ..FractureSettings::default()
    };
    let kinds = TemplateOptions::breaking(Material::PLASTER, fracture);
    let template = Template::build("rabbit", options.detail, kinds, progress)?;
    let (low, high) = template.bounds();
    let spacing = 1.15 * (high - low).with_y(0.0).max_element();
    let view = (Vec3::new(-0.5, 0.0, -0.5), Vec3::new(0.5, 0.5, 0.5));
    let steps = options.steps(4.5, 0.005);
    let mut scene = Scene::new("drop-bunnies", options.world(0.005, 0.05), steps, view);
    scene.floor(0.0, 0.6);
    scene.wear(&template);
    let mut rng = Rng(options.seed ^ 27);
    for batch in 0..3_u64 {
        let mut bodies = Vec::new();
        for i in 0..9_u32 {
            let grid = Vec3::new((i % 3) as f32 - 1.0, 0.0, (i / 3) as f32 - 1.0) * spacing;
            let turn = Quat::from_scaled_axis(rng.direction() * rng.range(0.0, 0.8));
            let place = grid + Vec3::Y * (1.5 + rng.range(0.0, 0.2));
            let mut body = template.body(Pose::from_parts(place, turn), 9 * batch + u64::from(i));
            body.velocity = Vec3::new(0.0, -3.0, 0.0);
            bodies.push(body);
        }
        let colour = template.colour();
        scene.at(options.steps(batch as f32, 0.005), move |scene| {
            for body in &bodies {
                scene.add(body.clone(), colour);
            }
        });
    }
    Ok(scene)
}
