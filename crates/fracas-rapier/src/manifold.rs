//! From a list of contacts to the manifolds that the engine's solver takes.
//!
//! Steps: group the contacts by normal (a manifold has one) -> of each group,
//! either keep the four that matter most, or spread all over manifolds of four ->
//! give every point the solver's data of the point of the same name in the last
//! step, so that it starts warm.
//!
//! Why four: the solver reads no more than four points of a manifold. Which four:
//! the deepest, then those that span the widest area around it.

use glam::Vec3;
use parry3d::query::{ContactManifold, TrackedContact};
use parry3d::shape::PackedFeatureId;
use smallvec::SmallVec;

/// A contact between two shapes, in both their frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairContact {
    /// The point of shape 1, in frame 1.
    pub point1: Vec3,
    /// The point of shape 2, in frame 2.
    pub point2: Vec3,
    /// Unit, from shape 1 to shape 2, in frame 1.
    pub normal1: Vec3,
    /// Negative when the shapes overlap.
    pub distance: f32,
    /// Identity of the sample point that made the contact.
    pub point_id: PointId,
}

impl PairContact {
    /// Tells the same contact with the shapes changed over; `pos12` places the new
    /// second shape in the frame of the new first.
    pub(crate) fn swap(&mut self, pos12: &parry3d::math::Pose) {
        std::mem::swap(&mut self.point1, &mut self.point2);
        self.normal1 = pos12.rotation * -self.normal1;
        self.point_id.is_of_first = !self.point_id.is_of_first;
    }
}

/// Identity of the sample point behind a contact. It stays the same from step to step, so
/// that the solver warm-starts each point with its own impulse, and it is unique within a
/// pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointId {
    /// Whether the point belongs to shape 1 (and is tested against the surface of shape 2),
    /// or to shape 2.
    pub is_of_first: bool,
    /// Index of the point: in the fragment's sphere tree, in the mesh's vertices, or in the
    /// part's list of points.
    pub point: u32,
    /// Part of the plain shape (a child of a compound, a voxel) that the contact is with;
    /// zero where there is only one.
    pub part: u32,
}

impl PointId {
    /// A point of shape 1 against the surface of shape 2.
    pub(crate) fn of_first(point: u32) -> Self {
        Self {
            is_of_first: true,
            point,
            part: 0,
        }
    }

    /// A point of shape 2 against the surface of shape 1.
    pub(crate) fn of_second(point: u32) -> Self {
        Self {
            is_of_first: false,
            ..Self::of_first(point)
        }
    }

    fn packed(self) -> [PackedFeatureId; 2] {
        // The packed form has two bits for the kind of feature: 30 bits remain for the index.
        let bits = |n: u32| n & 0x3fff_ffff;
        let point = PackedFeatureId::vertex(bits(self.point));
        let part = PackedFeatureId::face(bits(self.part));
        if self.is_of_first {
            [point, part]
        } else {
            [part, point]
        }
    }
}

/// Which points of a group of equal normals reach the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverPoints {
    /// Four of each group: the deepest and the widest spread. Cheapest to solve; stacks
    /// stand less well (docs/decisions/0004-engine-settings-for-stacks.md).
    FourPerNormal,
    /// All of them, in as many manifolds of four as it takes.
    #[default]
    All,
}

/// Most points the solver takes of one manifold.
pub const POINTS_PER_MANIFOLD: usize = 4;

/// Normals closer than this angle share a manifold (cosine of 5 degrees: the
/// engine's own clustering merges within 5.1).
const SAME_NORMAL_COSINE: f32 = 0.996_194_7;

/// Caller-owned memory of [`write()`].
#[derive(Debug, Default)]
pub struct Groups {
    /// Group of each contact, and the first normal of each group.
    group_of: Vec<u32>,
    group_normal: Vec<Vec3>,
    members: Vec<u32>,
}

/// Points of which the solver's data are carried over without asking for memory.
/// Pairs have 8 to 40 points; more are rare and cost an allocation.
const REMEMBERED: usize = 64;

/// The solver's data of the last step, by the points' names.
struct Old<C> {
    points: SmallVec<[([PackedFeatureId; 2], C); REMEMBERED]>,
    /// Points come in the order of the last step more often than not: where the next one is
    /// looked for first.
    next: usize,
}

impl<C: Copy> Old<C> {
    fn of<M>(manifolds: &[ContactManifold<M, C>]) -> Self {
        let points = manifolds.iter().flat_map(|m| &m.points);
        Self {
            points: points.map(|p| ([p.fid1, p.fid2], p.data)).collect(),
            next: 0,
        }
    }

    fn find(&mut self, name: [PackedFeatureId; 2]) -> Option<C> {
        let is_named = |(n, _): &([PackedFeatureId; 2], C)| *n == name;
        let at = if self.points.get(self.next).is_some_and(is_named) {
            self.next
        } else {
            self.points.iter().position(is_named)?
        };
        self.next = at + 1;
        Some(self.points[at].1)
    }
}

/// Keeps the points of the last step with the distances that they have now, for a pair
/// that is not asked again. Tells whether there are any.
pub(crate) fn carry_on<M, C>(
    manifolds: &mut [ContactManifold<M, C>],
    pos12: &parry3d::math::Pose,
) -> bool {
    let mut any = false;
    for manifold in manifolds {
        for point in &mut manifold.points {
            let apart = pos12.transform_point(point.local_p2) - point.local_p1;
            point.dist = apart.dot(manifold.local_n1);
            any = true;
        }
    }
    any
}

/// Replaces `manifolds` by manifolds of `contacts`, warm from what was there.
pub fn write<M: Default + Clone, C: Default + Copy>(
    contacts: &[PairContact],
    selection: SolverPoints,
    rotation_1_to_2: impl Fn(Vec3) -> Vec3,
    manifolds: &mut Vec<ContactManifold<M, C>>,
    scratch: &mut Groups,
) {
    let mut old = Old::of(manifolds);
    group_by_normal(contacts, scratch);
    let mut used = 0;
    for group in 0..scratch.group_normal.len() as u32 {
        let members = &mut scratch.members;
        members.clear();
        members
            .extend((0..contacts.len() as u32).filter(|&i| scratch.group_of[i as usize] == group));
        if selection == SolverPoints::FourPerNormal {
            keep_four(contacts, members);
        }
        for points in members.chunks(POINTS_PER_MANIFOLD) {
            if used == manifolds.len() {
                manifolds.push(ContactManifold::default());
            }
            let manifold = &mut manifolds[used];
            used += 1;
            // One normal must serve all: the mean of those it replaces.
            let mean: Vec3 = points.iter().map(|&i| contacts[i as usize].normal1).sum();
            manifold.local_n1 = mean.normalize_or(contacts[points[0] as usize].normal1);
            manifold.local_n2 = rotation_1_to_2(-manifold.local_n1);
            manifold.points.clear();
            for &i in points {
                let contact = &contacts[i as usize];
                let [fid1, fid2] = contact.point_id.packed();
                let mut point = TrackedContact::new(
                    contact.point1,
                    contact.point2,
                    fid1,
                    fid2,
                    contact.distance,
                );
                if let Some(data) = old.find([fid1, fid2]) {
                    point.data = data;
                }
                manifold.points.push(point);
            }
        }
    }
    manifolds.truncate(used);
}

fn group_by_normal(contacts: &[PairContact], scratch: &mut Groups) {
    scratch.group_of.clear();
    scratch.group_normal.clear();
    for contact in contacts {
        let found = scratch
            .group_normal
            .iter()
            .position(|n| n.dot(contact.normal1) > SAME_NORMAL_COSINE)
            .unwrap_or_else(|| {
                scratch.group_normal.push(contact.normal1);
                scratch.group_normal.len() - 1
            });
        scratch.group_of.push(found as u32);
    }
}

/// Keeps the deepest member, the one farthest from it, the one farthest from
/// their line, and the one farthest on the other side.
fn keep_four(contacts: &[PairContact], members: &mut Vec<u32>) {
    if members.len() <= POINTS_PER_MANIFOLD {
        return;
    }
    let point = |i: u32| contacts[i as usize].point1;
    // Ties go to the earlier contact: the query gives them in the order that spreads.
    let best = |members: &[u32], score: &dyn Fn(u32) -> f32| {
        let mut best = (members[0], f32::NEG_INFINITY);
        for &i in members {
            let s = score(i);
            if s > best.1 {
                best = (i, s);
            }
        }
        best
    };
    let normal = contacts[members[0] as usize].normal1;
    let (a, _) = best(members, &|i| -contacts[i as usize].distance);
    let (b, _) = best(members, &|i| point(i).distance_squared(point(a)));
    let side = |i: u32| (point(b) - point(a)).cross(point(i) - point(a)).dot(normal);
    let (c, left) = best(members, &side);
    let (d, right) = best(members, &|i| -side(i));
    members.clear();
    members.extend([a, b]);
    if left > 0.0 {
        members.push(c);
    }
    if right > 0.0 {
        members.push(d);
    }
    members.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(x: f32, y: f32, distance: f32, name: u32) -> PairContact {
        let point = Vec3::new(x, y, 0.0);
        PairContact {
            point1: point,
            point2: point,
            normal1: Vec3::Z,
            distance,
            point_id: PointId::of_first(name),
        }
    }

    fn write_plain(
        contacts: &[PairContact],
        selection: SolverPoints,
        manifolds: &mut Vec<ContactManifold<(), u32>>,
    ) {
        write(
            contacts,
            selection,
            |v| v,
            manifolds,
            &mut Groups::default(),
        );
    }

    #[test]
    fn four_of_a_grid_are_the_deepest_and_its_corners() {
        let mut contacts = Vec::new();
        for y in 0..5 {
            for x in 0..5 {
                let deepest = x == 0 && y == 0;
                contacts.push(contact(
                    x as f32,
                    y as f32,
                    if deepest { -2.0 } else { -1.0 },
                    y * 5 + x,
                ));
            }
        }
        let mut manifolds = Vec::new();
        write_plain(&contacts, SolverPoints::FourPerNormal, &mut manifolds);
        assert_eq!(manifolds.len(), 1);
        let mut corners: Vec<(i32, i32)> = manifolds[0]
            .points
            .iter()
            .map(|p| (p.local_p1.x as i32, p.local_p1.y as i32))
            .collect();
        corners.sort_unstable();
        assert_eq!(corners, [(0, 0), (0, 4), (4, 0), (4, 4)]);
    }

    #[test]
    fn all_points_reach_the_solver_in_manifolds_of_four() {
        let contacts: Vec<_> = (0..10).map(|i| contact(i as f32, 0.0, -1.0, i)).collect();
        let mut manifolds = Vec::new();
        write_plain(&contacts, SolverPoints::All, &mut manifolds);
        assert_eq!(
            manifolds.iter().map(|m| m.points.len()).collect::<Vec<_>>(),
            [4, 4, 2]
        );
    }

    #[test]
    fn a_point_keeps_its_solver_data_by_name() {
        let mut manifolds = Vec::new();
        write_plain(
            &[contact(0.0, 0.0, -1.0, 7), contact(1.0, 0.0, -1.0, 8)],
            SolverPoints::All,
            &mut manifolds,
        );
        manifolds[0].points[1].data = 42;
        write_plain(
            &[contact(1.1, 0.0, -1.0, 8), contact(3.0, 0.0, -1.0, 9)],
            SolverPoints::All,
            &mut manifolds,
        );
        assert_eq!(
            manifolds[0]
                .points
                .iter()
                .map(|p| p.data)
                .collect::<Vec<_>>(),
            [42, 0]
        );
    }

    #[test]
    fn normals_apart_make_manifolds_apart_and_none_makes_none() {
        let mut tilted = contact(0.0, 0.0, -1.0, 1);
        tilted.normal1 = Vec3::X;
        let mut manifolds = Vec::new();
        write_plain(
            &[contact(0.0, 0.0, -1.0, 0), tilted],
            SolverPoints::FourPerNormal,
            &mut manifolds,
        );
        assert_eq!(manifolds.len(), 2);
        assert_eq!(manifolds[1].local_n2, -Vec3::X);
        write_plain(&[], SolverPoints::FourPerNormal, &mut manifolds);
        assert!(manifolds.is_empty());
    }

    fn places(contacts: &[PairContact]) -> Vec<(i32, i32)> {
        let mut members: Vec<u32> = (0..contacts.len() as u32).collect();
        keep_four(contacts, &mut members);
        let at = |&i: &u32| contacts[i as usize].point1 - ASIDE;
        members
            .iter()
            .map(|i| (at(i).x as i32, at(i).y as i32))
            .collect()
    }

    /// Where nothing is zero.
    const ASIDE: Vec3 = Vec3::new(64.0, -32.0, 16.0);

    #[test]
    fn four_are_the_deepest_the_farthest_from_it_and_one_on_each_side() {
        let of = |all: &[(i32, i32, f32)]| -> Vec<PairContact> {
            let all = all.iter().enumerate();
            all.map(|(i, &(x, y, depth))| {
                let mut contact = contact(x as f32, y as f32, -depth, i as u32);
                contact.point1 += ASIDE;
                contact
            })
            .collect()
        };
        // Four stay in their order, whatever they are.
        let four = of(&[(0, 0, 1.0), (1, 0, 2.0), (2, 0, 1.0), (3, 0, 1.0)]);
        assert_eq!(places(&four), [(0, 0), (1, 0), (2, 0), (3, 0)]);
        // The deepest is in the middle; of equals the first is taken.
        let cross = of(&[
            (1, 1, 1.0),
            (0, 0, 3.0),
            (9, 1, 1.0),
            (2, 7, 1.0),
            (3, 7, 1.0),
            (1, -6, 2.0),
            (2, -3, 1.0),
        ]);
        assert_eq!(places(&cross), [(0, 0), (9, 1), (2, 7), (1, -6)]);
        // Nothing beside the line on one side, on both.
        let half = of(&[
            (0, 0, 3.0),
            (1, 0, 1.0),
            (2, 0, 1.0),
            (8, 0, 1.0),
            (4, 2, 1.0),
        ]);
        assert_eq!(places(&half), [(0, 0), (8, 0), (4, 2)]);
        let other = of(&[
            (0, 0, 3.0),
            (1, 0, 1.0),
            (2, 0, 1.0),
            (8, 0, 1.0),
            (4, -2, 1.0),
        ]);
        assert_eq!(places(&other), [(0, 0), (8, 0), (4, -2)]);
        let line = of(&[
            (0, 0, 3.0),
            (1, 0, 1.0),
            (2, 0, 1.0),
            (8, 0, 1.0),
            (-4, 0, 1.0),
        ]);
        assert_eq!(places(&line), [(0, 0), (8, 0)]);
        // All in one place are one.
        assert_eq!(places(&of(&[(5, 5, 1.0); 6])), [(5, 5)]);
    }

    #[test]
    fn normals_of_a_few_degrees_share_a_manifold_and_its_mean() {
        let tilted = |degrees: f32, name: u32| {
            let mut contact = contact(0.0, 0.0, -1.0, name);
            let angle = degrees.to_radians();
            contact.normal1 = Vec3::new(libm::sinf(angle), 0.0, libm::cosf(angle));
            contact
        };
        let contacts = [
            tilted(0.0, 0),
            tilted(4.5, 1),
            tilted(5.5, 2),
            tilted(-4.5, 3),
        ];
        let mut manifolds: Vec<ContactManifold<(), u32>> = Vec::new();
        let turn = |v: Vec3| Vec3::new(v.y, v.z, v.x);
        let groups = &mut Groups::default();
        write(&contacts, SolverPoints::All, turn, &mut manifolds, groups);
        let counts: Vec<usize> = manifolds.iter().map(|m| m.points.len()).collect();
        assert_eq!(counts, [3, 1]);
        let normal = manifolds[0].local_n1;
        assert!(normal.distance(Vec3::Z) < 1e-6, "{normal}");
        assert!(manifolds[0].local_n2.distance(Vec3::NEG_Y) < 1e-6);
        let names: Vec<_> = manifolds[0].points.iter().map(|p| p.fid1).collect();
        assert_eq!(names, [0, 1, 3].map(PackedFeatureId::vertex));
        // Fewer manifolds than before: the rest goes, the first are written anew.
        write(
            &contacts[2..3],
            SolverPoints::All,
            turn,
            &mut manifolds,
            groups,
        );
        assert_eq!(manifolds.len(), 1);
        assert!(manifolds[0].local_n1.distance(contacts[2].normal1) < 1e-6);
        assert_eq!(manifolds[0].points[0].dist, -1.0);
    }

    #[test]
    fn points_of_one_name_are_found_one_after_another() {
        let named = |n: u32| PointId::of_first(n).packed();
        let points = [(7, 1), (7, 2), (8, 3)].map(|(n, data)| (named(n), data));
        let mut old = Old {
            points: points.into_iter().collect(),
            next: 0,
        };
        assert_eq!(old.find(named(7)), Some(1));
        assert_eq!(old.find(named(7)), Some(2));
        assert_eq!(old.find(named(8)), Some(3));
        assert_eq!(old.find(named(9)), None);
        assert_eq!(old.find(named(7)), Some(1), "from the start again");
        assert_eq!(old.find(named(8)), Some(3));
        assert_eq!(old.find(PointId::of_second(8).packed()), None);
    }

    #[test]
    fn packed_ids_tell_shape_and_part_in_thirty_bits() {
        let part = PointId {
            part: 1,
            ..PointId::of_first(5)
        };
        assert_ne!(PointId::of_first(5).packed(), part.packed());
        assert_ne!(
            PointId::of_first(5).packed(),
            PointId::of_second(5).packed()
        );
        assert_eq!(
            PointId::of_first(5).packed(),
            [PackedFeatureId::vertex(5), PackedFeatureId::face(0)]
        );
        assert_eq!(
            PointId::of_second(1 << 30 | 6).packed(),
            [PackedFeatureId::face(0), PackedFeatureId::vertex(6)]
        );
    }

    #[test]
    fn a_contact_changed_over_twice_is_itself() {
        let rotation = glam::Quat::from_axis_angle(Vec3::Y, 0.4);
        let pose = parry3d::math::Pose::from_parts(Vec3::new(1.0, 2.0, 3.0), rotation);
        let mut given = contact(1.0, 2.0, -0.5, 3);
        given.point2 = Vec3::new(4.0, 5.0, 6.0);
        let mut turned = given;
        turned.swap(&pose);
        assert_eq!((turned.point1, turned.point2), (given.point2, given.point1));
        assert!(turned.normal1.distance(rotation * Vec3::NEG_Z) < 1e-6);
        assert_eq!(turned.point_id, PointId::of_second(3));
        assert_eq!(turned.distance, given.distance);
        turned.swap(&pose.inverse());
        assert!(turned.normal1.distance(given.normal1) < 1e-6);
        assert_eq!(turned.point_id, given.point_id);
    }

    #[test]
    fn points_that_are_carried_on_have_the_distance_of_now() {
        let mut manifolds: Vec<ContactManifold<(), u32>> = Vec::new();
        let still = parry3d::math::Pose::identity();
        assert!(!carry_on(&mut manifolds, &still));
        let mut given = contact(1.0, 2.0, -1.0, 0);
        (given.point1.z, given.point2.z) = (3.0, 2.0);
        write_plain(&[given], SolverPoints::All, &mut manifolds);
        manifolds[0].points[0].data = 9;
        let moved = parry3d::math::Pose::from_translation(Vec3::new(5.0, 0.0, 1.25));
        assert!(carry_on(&mut manifolds, &moved));
        assert_eq!(manifolds[0].points[0].dist, 0.25);
        assert_eq!(manifolds[0].points[0].data, 9);
        manifolds[0].points.clear();
        assert!(!carry_on(&mut manifolds, &moved));
    }
}
