//! A ball of voxels rests in a bowl: its contact, by how many cube tests there is time for.
//!
//! `cargo run --release -p fracas-voxel --example interrupted`

use std::error::Error;

use fracas_voxel::geometry::Pose;
use fracas_voxel::geometry::grid::bent_grid;
use fracas_voxel::{
    Averaging, Budget, Detection, Grouping, Stop, VoxTree, VoxelGrid, primitive, reduce,
};
use glam::Vec3;

fn main() -> Result<(), Box<dyn Error>> {
    // A cube bulged into a ball of 0.2 metres, and a plate of 0.8 metres with raised rims.
    let ball = bent_grid([8, 8, 8], false, |p| {
        let p = p / 4.0 - 1.0;
        p.normalize_or_zero() * p.abs().max_element() * 0.2
    })?;
    let bowl = bent_grid([16, 1, 16], false, |p| {
        let p = Vec3::new(p.x / 20.0 - 0.4, p.y / 20.0, p.z / 20.0 - 0.4);
        p + Vec3::Y * 1.5 * (p.x * p.x + p.z * p.z)
    })?;
    let [ball, bowl] = [ball, bowl].map(|mesh| VoxelGrid::from_tets(&mesh, 0.02));
    let [ball, bowl] = [VoxTree::build(&ball?, 2), VoxTree::build(&bowl?, 2)];
    let ball_in_bowl = Pose::translation(Vec3::new(0.0, 0.245, 0.0));

    let mut detection = Detection::default();
    let (mut primitives, mut contacts) = (Vec::new(), Vec::new());
    for tests in [1, 10, 100, 1_000, 10_000, 100_000] {
        // Detection goes on where the smaller budget ended.
        let budget = Budget {
            tests: Some(tests),
            ..Budget::default()
        };
        let stop = detection.refine(&bowl, &ball, &ball_in_bowl, &budget);
        primitives.clear();
        let pairs = detection.pairs();
        primitives.extend(pairs.map(|pair| primitive(&bowl, &ball, &ball_in_bowl, pair)));
        let between = ball_in_bowl.translation;
        reduce(
            &mut primitives,
            Averaging::Weighted,
            Grouping::Together,
            between,
            &mut contacts,
        );
        if let Some(contact) = contacts.first() {
            let (level, pairs, point) = (detection.level(), primitives.len(), contact.point);
            println!("{tests:6} tests: level {level}, {pairs:4} pairs, contact at {point:.3}");
        }
        if stop == Stop::Finest {
            break;
        }
    }
    Ok(())
}
