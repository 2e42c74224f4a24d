//! A piggy bank dropped on the ground [Glondu 2013, Fig. 10; Table 3: 15 ms steps].

use fracas_bake::shapes::PIGGY_BANK_WALL;
use fracas_fracture::{FractureSettings, GrowthOptions, Material};
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

/// The paper's number of fragments (Table 2).
const FRAGMENTS: usize = 27;

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    let fracture = FractureSettings {
        max_fragments: FRAGMENTS,
        max_cracks: 2 * FRAGMENTS,
        // Cracks shield their surroundings less than by default, which leaves fewer
        // pieces than the paper's, but do not cut crumbs off each other.
        relief: Some(0.2 * PIGGY_BANK_WALL as f32),
        // Smoother than by default: less crack area for as many pieces.
        growth: GrowthOptions {
            turning: 0.2,
            roughness: 0.05,
            least_nodes: 16,
        },
        seed: options.seed,
        ..FractureSettings::default()
    };
    let kinds = TemplateOptions::breaking(Material::EARTHENWARE, fracture);
    let template = Template::build("piggy-bank", options.detail, kinds, progress)?;
    let view = (Vec3::new(-0.3, 0.0, -0.25), Vec3::new(0.3, 0.3, 0.25));
    let steps = options.steps(3.0, 0.015);
    let mut scene = Scene::new("piggy-bank", options.world(0.015, 0.05), steps, view);
    scene.floor(0.0, 0.6);
    scene.wear(&template);
    let tilt = Quat::from_scaled_axis(Vec3::new(0.25, 0.4, 0.15));
    let pose = Pose::from_parts(Vec3::new(0.0, 1.5, 0.0), tilt);
    let mut body = template.body(pose, 0);
    body.velocity = Vec3::new(0.0, -4.0, 0.0);
    scene.add(body, template.colour());
    Ok(scene)
}
