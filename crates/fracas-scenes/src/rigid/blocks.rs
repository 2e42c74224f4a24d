//! Blocks that break and lie in pieces on the ground [Glondu 2013, Fig. 6]: where the
//! contacts of big flat pieces are, by restructuring and traversal.

use fracas_core::TetMesh;
use fracas_core::testing::{Rng, box_grid};
use fracas_fracture::{FractureSettings, Material};
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    let fracture = FractureSettings {
        max_fragments: 5,
        max_cracks: 4,
        seed: options.seed,
        ..FractureSettings::default()
    };
    let size = Vec3::new(0.3, 0.15, 0.2);
    progress("tetrahedra");
    let corner = box_grid([14, 7, 9], size);
    let positions = corner.positions().iter().map(|&p| p - 0.5 * size);
    let mesh = TetMesh::build(positions.collect(), corner.tets().to_vec());
    let mesh = mesh.expect("moving a mesh keeps it one");
    let kinds = TemplateOptions::breaking(Material::CONCRETE, fracture);
    let template = Template::of_mesh("block", mesh, [168, 170, 176], kinds, progress)?;
    let view = (Vec3::new(-0.5, 0.0, -0.4), Vec3::new(0.5, 0.4, 0.4));
    let steps = options.steps(4.0, 0.010);
    let mut scene = Scene::new("blocks", options.world(0.010, 0.05), steps, view);
    scene.floor(0.0, 0.6);
    let mut rng = Rng(options.seed ^ 6);
    for i in 0..4_u32 {
        let spot = Vec3::new((i % 2) as f32 - 0.5, 0.0, (i / 2) as f32 - 0.5) * 0.45;
        let turn = Quat::from_scaled_axis(rng.direction() * rng.range(0.2, 0.6));
        let place = spot + Vec3::Y * (0.9 + 0.25 * i as f32);
        let mut body = template.body(Pose::from_parts(place, turn), u64::from(i));
        body.velocity = Vec3::new(0.0, -8.0, 0.0);
        scene.add(body, template.colour());
    }
    Ok(scene)
}
