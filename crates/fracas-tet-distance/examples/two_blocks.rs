//! One soft block sinks into another: how deep, and which forces push them apart?
//!
//! `cargo run --release -p fracas-tet-distance --example two_blocks`

use fracas_tet_distance::geometry::TetMeshError;
use fracas_tet_distance::geometry::grid::bent_grid;
use fracas_tet_distance::{DepthField, Detector, Method, Object, Responder, Response, Topology};
use glam::Vec3;

fn main() -> Result<(), TetMeshError> {
    // Blocks of one metre in 8 x 8 x 8 cubes, the upper one bent.
    let block = bent_grid([8, 8, 8], false, |p| p / 8.0)?;
    let bent = bent_grid([8, 8, 8], false, |p| {
        let p = p / 8.0;
        p + Vec3::Y * 0.2 * (p.x - 0.5) * (p.x - 0.5)
    })?;
    let topology = Topology::build(block.positions().len(), block.tets())?;
    let (mut detector, mut responder) = (Detector::default(), Responder::default());
    let mut fields = [0, 1].map(|_| DepthField::new(Method::ClosestFeature));
    let (mut pairs, mut pushes) = (Vec::new(), Vec::new());
    for step in 0..6 {
        let down = 1.02 - 0.04 * step as f32;
        let above: Vec<Vec3> = bent
            .positions()
            .iter()
            .map(|p| *p + Vec3::Y * down)
            .collect();
        let objects = [block.positions(), &above].map(|positions| Object {
            topology: &topology,
            positions,
        });
        // Overlapping tetrahedra, and depths no deeper than these need.
        pairs.clear();
        detector.overlaps(&objects, &mut pairs);
        for (k, field) in fields.iter_mut().enumerate() {
            let own = pairs.iter().flatten().filter(|of| of.object == k as u32);
            let mut marked: Vec<u32> = own.map(|of| of.tet).collect();
            marked.sort_unstable();
            marked.dedup();
            field.march_to(&topology, objects[k].positions, &marked);
        }
        pushes.clear();
        responder.pushes(&objects, &fields, &pairs, Response::Segment, &mut pushes);
        let deepest = pushes.iter().map(|push| push.depth).fold(0.0, f32::max);
        let raised = pushes.iter().filter(|push| push.object == 1);
        let upward = raised.fold(0.0, |sum, push| sum + push.measure * push.normal.y);
        println!(
            "step {step}: {:4} pairs of tetrahedra, {:4} pushes, deepest {deepest:.3} m, upward {upward:.2} m2",
            pairs.len(),
            pushes.len()
        );
    }
    Ok(())
}
