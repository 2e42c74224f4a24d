//! A plate dropped into a bowl with random velocities [Glondu 2013, section 7.4, inset
//! of Fig. 16]. Run with `fixed:N` contacts, it shows what N does to penetration.
//!
//! **Deviation**: our bowl is smaller than our plate, so it is enlarged.

use fracas_core::testing::Rng;
use fracas_fracture::Material;
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

/// Bowl: 0.4 m across.
const BOWL: f32 = 2.5;

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    let solid = TemplateOptions::solid(Material::PORCELAIN);
    let bowl = Template::build_scaled("bowl", options.detail, BOWL, solid, progress)?;
    let plate = Template::build("plate", options.detail, solid, progress)?;
    let view = (Vec3::new(-0.3, 0.0, -0.3), Vec3::new(0.3, 0.3, 0.3));
    let steps = options.steps(2.0, 0.010);
    let settings = options.world(0.010, 0.05);
    let mut scene = Scene::new("plate-in-bowl", settings, steps, view);
    scene.floor(0.0, 0.6);
    scene.wear(&bowl);
    scene.wear(&plate);
    scene.add(bowl.fixed(Pose::identity()), bowl.colour());
    let mut rng = Rng(options.seed ^ 0xb0);
    let turn = Quat::from_scaled_axis(rng.direction() * rng.range(0.0, 1.2));
    let mut body = plate.body(Pose::from_parts(Vec3::new(0.0, 0.45, 0.0), turn), 0);
    let sideways = rng.direction().with_y(0.0) * 0.4;
    body.velocity = sideways - Vec3::Y * rng.range(0.5, 2.0);
    body.spin = rng.direction() * rng.range(0.0, 6.0);
    scene.add(body, plate.colour());
    Ok(scene)
}
