//! The user's own pattern: level functions of position, one crack surface each.

use fracas_core::{Fracture, FragmentId, Fragments};
use glam::Vec3;

use crate::sequence::CrackSequence;

/// Breaks a fragment by the zero sets of `levels`, one after the other; each one
/// cuts every part that it passes. A level is a length: the signed distance to
/// the surface, or what has about its slope near it.
#[must_use]
pub fn user(
    fragments: &Fragments,
    id: FragmentId,
    levels: &[&dyn Fn(Vec3) -> f32],
) -> Option<Fracture> {
    let mut sequence = CrackSequence::new(fragments, id)?;
    let positions = fragments.mesh().positions();
    for level in levels {
        for part in 0..sequence.part_count() as u32 {
            let _ = sequence.split(part, |n| level(positions[n as usize]));
        }
    }
    sequence.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::testing::box_grid;

    use super::*;

    #[test]
    fn two_planes_and_a_sphere_make_eight_pieces() {
        let mut fragments = Fragments::new(Arc::new(box_grid([8, 8, 8], Vec3::ONE)));
        let fracture = user(
            &fragments,
            FragmentId(0),
            &[&|p| p.x - 0.47, &|p| p.y - 0.53, &|p| {
                p.distance(Vec3::splat(0.5)) - 0.3
            }],
        )
        .unwrap();
        fragments.apply(&fracture).unwrap();
        fragments.validate().unwrap();
        assert_eq!(fragments.living().count(), 8);
        assert!(user(&fragments, FragmentId(1), &[&|_| f32::NAN]).is_none());
    }
}
