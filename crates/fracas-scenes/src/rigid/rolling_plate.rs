//! A plate that rolls on its rim, falls over and comes to lie [Glondu 2013, Fig. 5].

use fracas_fracture::Material;
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    let solid = TemplateOptions::solid(Material::PORCELAIN);
    let template = Template::build("plate", options.detail, solid, progress)?;
    let (low, high) = template.bounds();
    let radius = 0.5 * (high.x - low.x);
    let view = (Vec3::new(-0.2, 0.0, -0.3), Vec3::new(0.9, 0.3, 0.5));
    let steps = options.steps(4.0, 0.010);
    let mut scene = Scene::new("rolling-plate", options.world(0.010, 0.05), steps, view);
    scene.floor(0.0, 0.6);
    scene.wear(&template);
    // Its axis lies across the way, leaning a little, so that it rolls in a curve.
    let upright = Quat::from_scaled_axis(Vec3::X * std::f32::consts::FRAC_PI_2);
    let lean = Quat::from_scaled_axis(Vec3::X * -0.12);
    let turn = lean * upright;
    let centre = turn * (0.5 * (low + high));
    let place = Vec3::new(0.0, radius * libm::cosf(0.12) + 0.012, 0.0) - centre;
    let mut body = template.body(Pose::from_parts(place, turn), 0);
    let speed = 0.8;
    body.velocity = Vec3::new(speed, 0.0, 0.0);
    body.spin = Vec3::new(0.0, 0.0, -speed / radius);
    scene.add(body, template.colour());
    Ok(scene)
}
