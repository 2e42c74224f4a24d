//! A ball that breaks, in three samplings [Glondu 2013, section 7.2, Fig. 11].

use fracas_fracture::{FractureSettings, Material};
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    drop("sphere", "ball", options, progress)
}

pub(super) fn build_fine(
    options: &SceneOptions,
    progress: Progress<'_>,
) -> Result<Scene, SceneError> {
    drop("sphere-fine", "ball-fine", options, progress)
}

pub(super) fn build_sparse(
    options: &SceneOptions,
    progress: Progress<'_>,
) -> Result<Scene, SceneError> {
    drop("sphere-sparse", "ball-sparse", options, progress)
}

fn drop(
    name: &str,
    shape: &str,
    options: &SceneOptions,
    progress: Progress<'_>,
) -> Result<Scene, SceneError> {
    let fracture = FractureSettings {
        max_fragments: 16,
        max_cracks: 15,
        seed: options.seed,
        ..FractureSettings::default()
    };
    let template = Template::build(
        shape,
        options.detail,
        TemplateOptions::breaking(Material::PLASTER, fracture),
        progress,
    )?;
    let view = (Vec3::new(-0.25, 0.0, -0.25), Vec3::new(0.25, 0.2, 0.25));
    let steps = options.steps(3.0, 0.015);
    let mut scene = Scene::new(name, options.world(0.015, 0.03), steps, view);
    scene.floor(0.0, 0.6);
    scene.wear(&template);
    let turn = Quat::from_scaled_axis(Vec3::new(0.3, 0.1, 0.2));
    let mut body = template.body(Pose::from_parts(Vec3::new(0.0, 0.6, 0.0), turn), 0);
    body.velocity = Vec3::new(0.3, -15.0, 0.0);
    scene.add(body, template.colour());
    Ok(scene)
}
