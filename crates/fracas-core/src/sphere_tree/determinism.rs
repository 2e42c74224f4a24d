//! One number that must never change unless the results do.

use std::sync::Arc;

use glam::Vec3;

use super::{
    Ball, BoxShape, BuildOptions, Query, QueryScratch, SphereTree, SplitMethod, SplitScratch,
};
use crate::testing::{Rng, box_grid};
use crate::{Crack, Digest, FieldOptions, Fracture, FragmentField, Fragments, Pose};

/// A digest of everything a fixed scene finds: trees of fragments of a box that
/// breaks twice, queried at random placements against a ball and a box and, if
/// `with_field`, against one another. Must be the same on every platform.
#[must_use]
pub fn determinism_digest(with_field: bool) -> u64 {
    let mesh = Arc::new(box_grid([6, 5, 4], Vec3::new(1.2, 1.0, 0.8)));
    let Ok(tree) = SphereTree::build(&mesh, &BuildOptions::default()) else {
        return 0;
    };
    let mut fragments = Fragments::new(Arc::clone(&mesh));
    let Ok(mut field) = FragmentField::build(&fragments, &FieldOptions::default()) else {
        return 0;
    };
    let (mut trees, mut scratch) = (vec![Some(tree)], SplitScratch::default());
    let mut rng = Rng(77);
    for _ in 0..2 {
        for id in fragments.living().collect::<Vec<_>>() {
            let nodes = fragments.fragment(id).nodes().to_vec();
            let through = mesh.positions()[nodes[nodes.len() / 2] as usize];
            let normal = rng.direction();
            let level = |n: u32| (mesh.positions()[n as usize] - through).dot(normal);
            let crack = Crack::from_level(&mesh, 0, &nodes, level);
            let fracture = crack.map(|crack| Fracture {
                fragment: id,
                cracks: vec![crack],
            });
            let Some(Ok(split)) = fracture.map(|f| fragments.apply(&f)) else {
                continue;
            };
            field.apply(&fragments, &split);
            let old = trees[id.0 as usize].take();
            for tree in old
                .iter()
                .flat_map(|old| old.apply(&fragments, &split, SplitMethod::default(), &mut scratch))
            {
                trees.push(Some(tree));
            }
        }
    }
    let mut digest = Digest::default();
    let mut add = |word: u32| digest.add(word);
    let (mut scratch, mut out) = (QueryScratch::default(), Vec::new());
    let ball = Ball::new(Vec3::splat(0.5), 0.4);
    let brick = BoxShape::new(Vec3::new(0.5, 0.2, 0.3));
    for a in trees.iter().flatten() {
        for id in fragments.living() {
            let pose = Pose::new(rng.direction(), rng.range(0.0, 0.3), 0.1 * rng.direction());
            let query = Query::new(0.01, a.object_radius());
            out.clear();
            a.contacts(&pose, &ball, &query, &mut scratch, &mut out);
            a.contacts(&pose, &brick, &query, &mut scratch, &mut out);
            if with_field {
                let partner = field.of(&fragments, id);
                a.contacts(&pose, &partner, &query, &mut scratch, &mut out);
            }
            for c in &out {
                add(c.point_id);
                for vector in [c.point, c.normal, Vec3::splat(c.distance)] {
                    vector.to_array().into_iter().for_each(|x| add(x.to_bits()));
                }
            }
        }
    }
    digest.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found natively and by the same code compiled to wasm32 and run by node. A
    /// change here changes results: say so in the changelog.
    const DIGEST: u64 = 10_124_761_143_651_351_234;

    #[test]
    fn results_are_what_they_were() {
        assert_eq!(determinism_digest(false), DIGEST);
        assert_eq!(determinism_digest(true), determinism_digest(true));
    }
}
