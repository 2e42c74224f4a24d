//! Balls smash four plates on a shelf [Glondu 2013, Fig. 1; Table 3: 30 ms].
//!
//! Two plates lie on the top board and two on the middle one; balls are dropped on
//! the first and thrown at the others from the front.

use fracas_fracture::{FractureSettings, Material};
use glam::Vec3;
use parry3d::math::Pose;

use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

/// Upper faces of the shelf's boards, from the top.
const BOARDS: [f32; 2] = [0.582, 0.317];

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    build_with(options, false, progress)
}

/// The same where nothing happens until somebody does it, and the plates have no modes: who
/// asks gives them theirs before the first step.
///
/// # Errors
/// See [`SceneError::Body`].
pub fn build_waiting(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    let mut scene = build_with(options, true, progress)?;
    scene.wait();
    Ok(scene)
}

fn build_with(
    options: &SceneOptions,
    modes_later: bool,
    progress: Progress<'_>,
) -> Result<Scene, SceneError> {
    // The paper has 44 fragments of four plates (Table 2); the limit is seldom reached.
    let fracture = FractureSettings {
        max_fragments: 12,
        max_cracks: 12,
        seed: options.seed,
        ..FractureSettings::default()
    };
    let kinds = TemplateOptions {
        modes_later,
        ..TemplateOptions::breaking(Material::PORCELAIN, fracture)
    };
    let plate = Template::build("plate", options.detail, kinds, progress)?;
    let solid = TemplateOptions::solid(Material::CONCRETE);
    let shelf = Template::build("shelf", options.detail, solid, progress)?;
    let view = (Vec3::new(-0.5, 0.0, -0.2), Vec3::new(0.5, 0.7, 0.4));
    let steps = options.steps(6.0, 0.030);
    let mut scene = Scene::new("plates", options.world(0.030, 0.05), steps, view);
    scene.floor(0.0, 0.6);
    scene.wear(&plate);
    scene.add(shelf.fixed(Pose::identity()), shelf.colour());
    let (low, _) = plate.bounds();
    for i in 0..4_u32 {
        let upper = i < 2;
        let x = ((i % 2) as f32 - 0.5) * 0.28;
        let board = BOARDS[usize::from(!upper)];
        let place = Vec3::new(x, board - low.y + 0.001, 0.005);
        scene.add(
            plate.body(Pose::from_translation(place), u64::from(i)),
            plate.colour(),
        );
        let (from, velocity) = if upper {
            (
                place + Vec3::new(0.01, 0.6, 0.01),
                Vec3::new(0.0, -4.0, 0.0),
            )
        } else {
            (
                place + Vec3::new(0.02, 0.25, 0.6),
                Vec3::new(0.0, -2.2, -6.0),
            )
        };
        let when = options.steps(0.6 + 0.9 * i as f32, 0.030);
        scene.at(when, move |scene| scene.add_ball(0.03, from, velocity));
    }
    Ok(scene)
}
