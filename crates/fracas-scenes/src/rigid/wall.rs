//! A wall of a thousand bricks, hit by a steel ball again and again: bricks break,
//! and their pieces break again.
//!
//! Bricks lie in running bond without mortar. The ball is thrown anew every four
//! seconds, as long as the scene runs. Debris is limited, as a game would: crumbs
//! vanish, and of more than 1,500 fragments the smallest go first.

use fracas_bake::shapes;
use fracas_fracture::{FractureSettings, Material, RefractureRule};
use fracas_rapier::{DebrisPolicy, WorldSettings};
use glam::Vec3;
use parry3d::math::Pose;

use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

/// Bricks of a course, and courses.
const WALL: [u32; 2] = [40, 25];
/// A brick (m).
const BRICK: Vec3 = Vec3::new(0.215, 0.065, 0.1025);
/// Between the ends of two bricks (m).
const GAP: f32 = 0.003;
/// Seconds between two throws.
const AGAIN: f32 = 4.0;
const STEP: f32 = 1.0 / 60.0;

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    build_sized(WALL, options, progress)
}

/// A wall of another size: bricks of a course, and courses.
///
/// # Errors
/// See [`SceneError::Body`].
pub fn build_sized(
    size: [u32; 2],
    options: &SceneOptions,
    progress: Progress<'_>,
) -> Result<Scene, SceneError> {
    let fracture = FractureSettings {
        max_fragments: 5,
        max_cracks: 4,
        seed: options.seed,
        ..FractureSettings::default()
    };
    let kinds = TemplateOptions {
        rule: RefractureRule::default(),
        ..TemplateOptions::breaking(Material::BRICK, fracture)
    };
    progress("tetrahedra");
    let shape = shapes::by_name("brick").expect("the set has a brick");
    let mesh = shape.build_refined(0.75 * options.detail);
    let template = Template::of_mesh("brick", mesh, shape.colour(), kinds, progress)?;
    let [wide, high] = size;
    let (width, height) = (wide as f32 * (BRICK.x + GAP), high as f32 * BRICK.y);
    let reach = 0.5 * width + 0.5;
    let view = (
        Vec3::new(-reach, 0.0, -0.8),
        Vec3::new(reach, 1.2 * height, 2.0),
    );
    let mut settings = options.world(STEP, 0.05);
    settings.world = WorldSettings {
        // Without it, boxes of the engine itself do not stand on each other.
        recycle_contacts: true,
        debris: DebrisPolicy {
            min_volume: 2e-6,
            max_fragments: Some(1500),
            ..DebrisPolicy::default()
        },
        ..settings.world
    };
    let mut scene = Scene::new("wall", settings, options.steps(10.0, STEP), view);
    scene.floor(0.0, 0.7);
    for course in 0..high {
        let shift = if course % 2 == 0 { 0.0 } else { 0.5 };
        for i in 0..wide {
            let x = (i as f32 + shift - 0.5 * wide as f32 + 0.25) * (BRICK.x + GAP);
            let place = Vec3::new(x, course as f32 * BRICK.y, 0.0);
            let seed = u64::from(course * wide + i);
            scene.add(
                template.body(Pose::from_translation(place), seed),
                template.colour(),
            );
        }
    }
    let radius = 0.22_f32.min(0.3 * height);
    let aim = [
        Vec3::new(0.0, 0.55 * height, 0.0),
        Vec3::new(-0.25 * width, 0.3 * height, 0.0),
        Vec3::new(0.25 * width, 0.3 * height, 0.0),
    ];
    let from = |target: Vec3| target + Vec3::new(0.0, 0.3, 3.0);
    let first = options.steps(0.25, STEP);
    let (start, speed) = (from(aim[0]), Vec3::new(0.0, 0.0, -14.0));
    scene.at(first, move |scene| scene.add_ball(radius, start, speed));
    scene.every(first, options.steps(AGAIN, STEP), move |scene, times| {
        let throw = aim[(times % 3) as usize];
        let ball = scene.props().first().map(|prop| prop.body);
        let bodies = &mut scene.world_mut().physics.bodies;
        if let Some(ball) = ball.and_then(|ball| bodies.get_mut(ball)) {
            ball.set_translation(from(throw), true);
            ball.set_linvel(speed, true);
            ball.set_angvel(Vec3::ZERO, true);
        }
    });
    Ok(scene)
}
