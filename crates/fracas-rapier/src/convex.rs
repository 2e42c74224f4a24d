//! Unbroken objects that are convex, as the engine's own shapes.
//!
//! A brick that nothing has broken yet is a box. Its contacts with others of its kind are
//! those that the engine finds for boxes, at a tenth of the cost of asking its points; and
//! a fragment meets it as it meets any box. When it breaks, its fragments have shapes of
//! their own. See docs/decisions/0020-whole-and-convex.md.
//!
//! **Firmness.** The engine's contacts are springs, each as stiff as if it were alone, so
//! that a pair is the firmer the more points it has. The engine gives a face on a face four
//! points, a fragment has eight or more in each direction. So the middles of the sides are
//! added: the same plane, twice as many springs.

use glam::Vec3;
use parry3d::math::Pose;
use parry3d::query::{
    ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher, Unsupported,
};
use parry3d::shape::{PackedFeatureId, Shape};

use crate::manifold::{PairContact, PointId};
use crate::pair::PairScratch;

/// What two of the engine's convex shapes have to do with each other.
pub(crate) enum Meeting {
    /// They are farther apart than anybody looks.
    Apart,
    /// Faces lie on each other: the contacts are written down.
    Faces,
    /// Corners or edges meet, or there is a gap yet: their points must be asked.
    Other,
}

/// Contacts of two of the engine's convex shapes whose faces lie on each other, no farther
/// apart than `near`: the corners of what they share, and the middles between them.
///
/// Where they meet otherwise, the engine's contacts are not ours: blocks that strike each
/// other with restitution come apart with more energy than they had (docs/decisions/0020).
pub(crate) fn meet(
    pos12: &Pose,
    shape1: &dyn Shape,
    shape2: &dyn Shape,
    prediction: f32,
    near: f32,
    scratch: &mut PairScratch,
) -> Result<Meeting, Unsupported> {
    // The engine begins its search where the last one ended. Here that was another pair,
    // and which one depends on the thread: all but the room for points is new.
    let mut points = std::mem::take(&mut scratch.convex.points);
    points.clear();
    scratch.convex = ContactManifold::new();
    scratch.convex.points = points;
    let manifold = &mut scratch.convex;
    DefaultQueryDispatcher
        .contact_manifold_convex_convex(pos12, shape1, shape2, None, None, prediction, manifold)?;
    if manifold.points.is_empty() {
        return Ok(Meeting::Apart);
    }
    // Besides the corners of what faces share, the engine tells the closest points, without
    // names: anywhere in it, elsewhere in every step.
    let corners = || manifold.points.iter().filter(|p| !p.fid1.is_unknown());
    if corners().count() < 3 || corners().any(|p| p.dist.abs() > near) {
        return Ok(Meeting::Other);
    }
    let contacts = &mut scratch.contacts;
    contacts.clear();
    contacts.extend(corners().map(|point| PairContact {
        point1: point.local_p1,
        point2: point.local_p2,
        normal1: manifold.local_n1,
        distance: point.dist,
        point_id: PointId::of_first(name_of(point.fid1, point.fid2)),
    }));
    if contacts.len() <= 4 {
        add_middles(contacts, manifold.local_n1);
    }
    Ok(Meeting::Faces)
}

/// Thirty bits of two features of shapes with few of them.
fn name_of(first: PackedFeatureId, second: PackedFeatureId) -> u32 {
    let short = |id: PackedFeatureId| (id.0 >> 30) << 13 | (id.0 & 0x1fff);
    short(first) << 15 | short(second)
}

/// Adds the middles of the sides of the polygon that contacts in a plane are corners of.
fn add_middles(contacts: &mut Vec<PairContact>, normal: Vec3) {
    let corners = contacts.len();
    let centre = contacts.iter().map(|c| c.point1).sum::<Vec3>() / corners as f32;
    let (x, y) = normal.any_orthonormal_pair();
    // Around the centre; of equal ones the order is as it was.
    let angle = |c: &PairContact| {
        let out = c.point1 - centre;
        diamond_angle(out.dot(x), out.dot(y))
    };
    contacts.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    for i in 0..corners {
        let (a, b) = (contacts[i], contacts[(i + 1) % corners]);
        let [m, n] = [a, b].map(|contact| contact.point_id.point);
        contacts.push(PairContact {
            point1: 0.5 * (a.point1 + b.point1),
            point2: 0.5 * (a.point2 + b.point2),
            normal1: a.normal1,
            distance: 0.5 * (a.distance + b.distance),
            point_id: PointId::of_second(m.rotate_left(7) ^ n),
        });
    }
}

/// Grows with the angle of a direction, from 0 to 4, without a trigonometric function.
fn diamond_angle(x: f32, y: f32) -> f32 {
    let along = x / (x.abs() + y.abs()).max(f32::MIN_POSITIVE);
    if y >= 0.0 { 1.0 - along } else { 3.0 + along }
}

#[cfg(test)]
mod tests {
    use fracas_core::testing::{Rng, box_grid};
    use fracas_core::{
        FragmentId, FragmentMass, FragmentSurface, Fragments, MassScratch, SurfaceScratch, TetMesh,
    };
    use glam::Quat;
    use parry3d::shape::SharedShape;

    use super::*;

    fn shape(mesh: TetMesh) -> Option<SharedShape> {
        let fragments = Fragments::new(mesh.into());
        let whole = FragmentId(0);
        let surface = FragmentSurface::extract(&fragments, whole, &mut SurfaceScratch::default());
        let mass = FragmentMass::of(&fragments, whole, &mut MassScratch::default());
        crate::convex_shape::of_surface(&surface, mass.properties.volume)
    }

    /// A box with its nodes moved.
    fn moved(move_node: impl Fn(Vec3) -> Vec3) -> TetMesh {
        let grid = box_grid([4, 4, 4], Vec3::ONE);
        let nodes = grid.positions().iter().map(|p| move_node(*p - 0.5));
        TetMesh::build(nodes.collect(), grid.tets().to_vec()).unwrap()
    }

    #[test]
    fn only_what_is_convex_and_simple_becomes_the_engines_shape() {
        let turn = Quat::from_rotation_y(0.3);
        let boxed = shape(moved(|p| turn * p + Vec3::X)).unwrap();
        let hull = boxed.as_convex_polyhedron().unwrap();
        assert_eq!((hull.points().len(), hull.faces().len()), (8, 6));
        let wedge = shape(moved(|p| Vec3::new(p.x * (0.75 + 0.5 * p.y), p.y, p.z)));
        assert_eq!(
            wedge.unwrap().as_convex_polyhedron().unwrap().faces().len(),
            6
        );
        // A dent, a bump, and more faces than are cheap.
        let pushed = |by: f32| {
            move |p: Vec3| {
                let middle = p.y > 0.4 && p.with_y(0.0).length() < 0.1;
                if middle { p + Vec3::Y * by } else { p }
            }
        };
        assert!(shape(moved(pushed(-0.02))).is_none());
        assert!(shape(moved(pushed(0.1))).is_none());
        let ball = moved(|p| p.normalize_or_zero() * p.abs().max_element());
        assert!(shape(ball).is_none());
    }

    #[test]
    fn corners_of_shared_faces_and_the_middles_between_them_lie_on_both_bodies() {
        let size = Vec3::new(0.2, 0.1, 0.3);
        let one = shape(moved(|p| p * size)).unwrap();
        let (mut rng, mut scratch) = (Rng(51), PairScratch::default());
        let mut met = [0; 3];
        for round in 0..400 {
            // Half of them face on face, a little turned.
            let angle = if round % 2 == 0 { 1e-3 } else { 3.0 };
            let turn = Quat::from_axis_angle(rng.direction(), rng.range(0.0, angle));
            let apart = if round % 2 == 0 {
                Vec3::new(rng.range(-0.1, 0.1), rng.range(0.098, 0.102), 0.05)
            } else {
                rng.direction() * rng.range(0.1, 0.35)
            };
            let pos12 = Pose::from_parts(apart, turn);
            let meeting = meet(&pos12, &*one, &*one, 0.02, 0.005, &mut scratch).unwrap();
            let distance = parry3d::query::distance(&Pose::identity(), &*one, &pos12, &*one);
            let distance = distance.unwrap().distance;
            match meeting {
                Meeting::Apart => assert!(distance > 0.0199, "{distance}"),
                Meeting::Other => assert!(distance < 0.0201, "{distance}"),
                Meeting::Faces => {}
            }
            met[meeting as usize] += 1;
            // What the thread asked before does not matter.
            let mut fresh = PairScratch::default();
            let again = meet(&pos12, &*one, &*one, 0.02, 0.005, &mut fresh).unwrap();
            assert_eq!(matches!(again, Meeting::Faces), !fresh.contacts.is_empty());
            if fresh.contacts.is_empty() {
                continue;
            }
            assert_eq!(scratch.contacts, fresh.contacts);
            assert!(scratch.contacts.len() >= 6);
            for (i, c) in scratch.contacts.iter().enumerate() {
                let between = (pos12 * c.point2 - c.point1).dot(c.normal1);
                assert!((between - c.distance).abs() < 1e-5, "{c:?}");
                for (p, half) in [(c.point1, 0.5 * size), (c.point2, 0.5 * size)] {
                    let off = p.distance(p.clamp(-half, half));
                    assert!(off < 1e-4, "{p} is {off} off");
                }
                let same = |other: &PairContact| other.point_id == c.point_id;
                assert!(!scratch.contacts[..i].iter().any(same), "two of one name");
            }
        }
        let [apart, faces, other] = met;
        assert!(faces >= 190 && apart > 20 && other > 20, "{met:?}");
    }
}
