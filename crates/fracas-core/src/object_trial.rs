//! An object put to every use, for tests of what is loaded.
//!
//! Public with the feature `research` because other crates' tests need it.

use crate::fragment_mass::MassScratch;
use crate::sphere_tree::{Query, QueryScratch, SplitMethod, SplitScratch};
use crate::testing::Rng;
use crate::{
    Crack, Fracture, FragmentId, FragmentMass, FragmentSurface, Pose, SurfaceScratch, WholeObject,
};

/// Asks an object everything, breaks it several times, and asks its pieces. What is loaded
/// has to stand that, however its file was damaged (decision 0014); the answers may be wrong.
///
/// # Panics
/// When a living fragment has no tree.
pub fn use_up(object: WholeObject, rng: &mut Rng) {
    let WholeObject {
        mut fragments,
        mut field,
        tree,
        ..
    } = object;
    let mesh = fragments.mesh().clone();
    let (low, high) = mesh.bounds();
    let around = 0.5 * (high - low);
    let mut trees = vec![Some(tree)];
    let mut scratch = SplitScratch::default();
    for _ in 0..4 {
        for id in fragments.living() {
            let near = field.of(&fragments, id);
            let mut out = Vec::new();
            for _ in 0..20 {
                let p = rng.in_box(low - around, high + around);
                let _ = (near.signed_distance(p, 1.0), near.sphere_may_touch(p, 0.1));
            }
            if let Some(tree) = &trees[id.0 as usize] {
                let query = Query::new(0.05, tree.object_radius());
                let pose = Pose::new(rng.direction(), 1.0, rng.direction() * 0.2);
                let mut memory = QueryScratch::default();
                tree.contacts(&pose, &near, &query, &mut memory, &mut out);
            }
            let _ = FragmentSurface::extract(&fragments, id, &mut SurfaceScratch::default());
            let _ = FragmentMass::of(&fragments, id, &mut MassScratch::default());
        }
        let living: Vec<FragmentId> = fragments.living().collect();
        let fragment = living[rng.below(living.len())];
        let nodes = fragments.fragment(fragment).nodes();
        let middle = mesh.positions()[nodes[rng.below(nodes.len())] as usize];
        let direction = rng.direction();
        let crack = Crack::from_level(&mesh, 0, nodes, |n| {
            direction.dot(mesh.positions()[n as usize] - middle) + 0.01
        });
        let Some(crack) = crack else { continue };
        let cracks = vec![crack];
        let Ok(split) = fragments.apply(&Fracture { fragment, cracks }) else {
            continue;
        };
        field.apply(&fragments, &split);
        let parent = trees[fragment.0 as usize]
            .take()
            .expect("a living fragment's");
        let _ = parent.radii_after(&fragments, &split);
        let parts = parent.apply(&fragments, &split, SplitMethod::default(), &mut scratch);
        trees.extend(parts.into_iter().map(Some));
    }
}
