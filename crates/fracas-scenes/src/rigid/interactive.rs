//! Five rabbits in a hand's reach [Glondu 2013, Fig. 9; Table 3: 15 ms]: they are
//! lifted, swung and thrown down, one after the other, by a recorded hand.

use fracas_fracture::{FractureSettings, Material};
use fracas_rapier::Coupling;
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use super::{Grab, Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

/// Strong enough to throw two kilograms.
const GRIP: Coupling = Coupling {
    stiffness: 2500.0,
    damping: 60.0,
    angular_stiffness: 0.0,
    angular_damping: 0.03,
    most_force: 600.0,
};

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    // 15 fragments (Table 2): three of the five break into five, since what a crack
    // leaves may fall into more than two parts.
    let fracture = FractureSettings {
        max_fragments: 4,
        max_cracks: 3,
        seed: options.seed,
        ..FractureSettings::default()
    };
    let kinds = TemplateOptions::breaking(Material::PLASTER, fracture);
    let template = Template::build("rabbit", options.detail, kinds, progress)?;
    let (low, high) = template.bounds();
    let view = (Vec3::new(-0.6, 0.0, -0.35), Vec3::new(0.6, 0.5, 0.4));
    let steps = options.steps(9.0, 0.015);
    let mut scene = Scene::new(
        "interactive-bunnies",
        options.world(0.015, 0.05),
        steps,
        view,
    );
    scene.floor(0.0, 0.6);
    scene.wear(&template);
    let mut rabbits = Vec::new();
    for i in 0..5_u32 {
        let (x, z) = (
            (i as f32 - 2.0) * 0.24,
            if i % 2 == 0 { 0.0 } else { -0.12 },
        );
        let turn = Quat::from_scaled_axis(Vec3::Y * (0.4 * i as f32 - 0.8));
        let pose = Pose::from_parts(Vec3::new(x, 0.002 - low.y, z), turn);
        rabbits.push((
            scene.add(template.body(pose, u64::from(i)), template.colour()),
            pose,
        ));
    }
    // By the back of the head.
    let grip = Vec3::new(0.0, low.y + 0.6 * (high.y - low.y), 0.0);
    for (turn, (which, down)) in [
        (0, Vec3::new(-0.55, -0.35, 0.25)),
        (4, Vec3::new(0.5, -0.35, 0.3)),
        (2, Vec3::new(0.05, -0.35, 0.35)),
    ]
    .into_iter()
    .enumerate()
    {
        let (object, pose) = rabbits[which];
        let from = pose * grip;
        let up = from + Vec3::new(0.0, 0.55, 0.15);
        scene.grab(Grab {
            object,
            grip,
            start: 0.6 + 2.6 * turn as f32,
            path: vec![
                (0.8, up),
                (1.0, up + Vec3::new(0.08, 0.05, 0.0)),
                (1.2, up),
                // Thrown down: let go on the way, before the ground.
                (1.32, up.lerp(down + Vec3::Y * 0.5, 0.7)),
            ],
            coupling: GRIP,
        });
    }
    Ok(scene)
}
