//! Two fragments that are caught in each other.
//!
//! Each point inside the other body is pushed out by its own shortest way. For bodies
//! that overlap little these ways agree. For concave bodies that got deep into each
//! other, in a hard impact at a long time step, they can all oppose each other: then
//! every push is answered by another, and the pair stays as it is for good. Such a pair
//! gets one way out for all its deep points, along the line between the two centres,
//! until it is shallow again.
//!
//! Not in Glondu 2013, which names large penetrations as what its contacts do not stand
//! (section 8).

use glam::Vec3;
use parry3d::math::Pose;

use crate::manifold::PairContact;
use crate::shape::FragmentShape;

/// Deeper than this share of the smaller inner radius is deep.
const DEEP_SHARE: f32 = 0.25;

/// Normals with a smaller cosine oppose each other.
const OPPOSED: f32 = -0.5;

/// Gives the contacts of a pair one direction if the deepest one is deep and another
/// opposes it.
pub(crate) fn align_deep_normals(
    contacts: &mut Vec<PairContact>,
    pos12: &Pose,
    shape1: &FragmentShape,
    shape2: &FragmentShape,
) {
    let deep = -DEEP_SHARE * shape1.inner_radius().min(shape2.inner_radius());
    let is_deep = |c: &PairContact| c.distance < deep;
    let Some(deepest) = contacts
        .iter()
        .filter(|c| is_deep(c))
        .min_by(|a, b| a.distance.total_cmp(&b.distance))
    else {
        return;
    };
    let against = deepest.normal1;
    let caught = contacts
        .iter()
        .any(|c| c.distance < 0.5 * deep && c.normal1.dot(against) < OPPOSED);
    if !caught {
        return;
    }
    let centre = |shape: &FragmentShape| shape.unit_mass().centre.as_vec3();
    let line = *pos12 * centre(shape2) - centre(shape1);
    let Some(normal) = line.try_normalize() else {
        return;
    };
    contacts.retain(|c| c.distance < 0.5 * deep);
    for contact in contacts {
        // Not too hard: the way it pushes is not the shortest.
        contact.distance *= 0.5;
        set_normal(contact, normal, pos12);
    }
}

/// Turns a contact about the middle of its two points.
fn set_normal(contact: &mut PairContact, normal: Vec3, pos12: &Pose) {
    let middle = 0.5 * (contact.point1 + *pos12 * contact.point2);
    let half = 0.5 * contact.distance * normal;
    contact.normal1 = normal;
    contact.point1 = middle - half;
    contact.point2 = pos12.inverse_transform_point(middle + half);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blueprint::Blueprint;
    use crate::manifold::PointId;
    use fracas_core::testing::box_grid;

    fn contact(normal1: Vec3, distance: f32) -> PairContact {
        PairContact {
            point1: Vec3::ZERO,
            point2: normal1 * distance,
            normal1,
            distance,
            point_id: PointId::of_first(0),
        }
    }

    /// A cube with a side of 2: its inner radius is 1.
    fn cube() -> FragmentShape {
        let mesh = std::sync::Arc::new(box_grid([2, 2, 2], Vec3::splat(2.0)));
        let cube = Blueprint::build(mesh, &Default::default(), &Default::default());
        cube.unwrap().object().1
    }

    /// Of two cubes, the second to the right.
    fn aligned(mut contacts: Vec<PairContact>) -> Vec<PairContact> {
        let shape = cube();
        let pos12 = Pose::from_translation(Vec3::X * 1.5);
        align_deep_normals(&mut contacts, &pos12, &shape, &shape);
        for c in &contacts {
            let apart = (pos12 * c.point2 - c.point1).dot(c.normal1);
            assert!((apart - c.distance).abs() < 1e-5, "{c:?}");
        }
        contacts
    }

    #[test]
    fn deep_points_that_oppose_each_other_get_one_way_out() {
        let given = vec![
            contact(Vec3::Y, -0.9),
            contact(Vec3::NEG_Y, -0.3),
            contact(Vec3::Z, -0.01),
            contact(Vec3::X, -0.4),
        ];
        let out = aligned(given);
        assert_eq!(out.len(), 3, "the shallow one would stand in the way");
        for c in out {
            assert!(c.normal1.abs_diff_eq(Vec3::X, 1e-5));
            assert!((-0.45..=-0.15).contains(&c.distance));
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for given in [
            // Deep, and of one mind.
            vec![contact(Vec3::Y, -0.4), contact(Vec3::X, -0.3)],
            // Opposed, and shallow: a body in a notch.
            vec![contact(Vec3::Y, -0.1), contact(Vec3::NEG_Y, -0.1)],
            Vec::new(),
        ] {
            let mut kept = given.clone();
            let shape = cube();
            align_deep_normals(&mut kept, &Pose::identity(), &shape, &shape);
            assert_eq!(kept, given);
        }
    }
}
