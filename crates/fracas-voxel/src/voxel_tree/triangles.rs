//! Triangles as the finest level: where cubes say "perhaps", triangles say yes or no.
//!
//! Ahead: every voxel of the finest level lists the triangles that touch it. Steps of a
//! query, once detection has come to the finest level: the lists of two overlapping
//! voxels make candidates -> each pair of triangles once -> tested exactly -> those that
//! meet make contact primitives. A pair of voxels of which one holds no triangle (the
//! inside of a body) has nothing to test: the other's surface is in it, and its cubes
//! make the contact as before.
//!
//! Source: [Dingliana 2004, section 3.1], which allows "the polygonal representation as
//! the finest level of detail" and leaves open what a contact then is. Here:
//!
//! | part | is |
//! | --- | --- |
//! | point | the middle of the line in which the triangles meet |
//! | normal | outward normal of B's triangle minus that of A's: A leaves B along it |
//! | P (eq. 3) | 1 |
//! | depth | how deep the corners of one are behind the plane of the other, the lesser of the two ways; at most a triangle's size |
//!
//! **Guarantee**: the pairs are exactly those that meet among all pairs of triangles, by
//! the signs of [`fracas_geometry::primitives::tri_tri`] on positions rounded to `f32` in A's
//! frame (tested against all pairs). Interruptible: what is not tested keeps its cubes.

use glam::{DVec3, Vec3};
use thiserror::Error;

use super::detect::{CubePair, Detection};
use super::reduce::{Primitive, primitive};
use super::tree::VoxTree;
use super::voxelize::for_each_touched;
use fracas_geometry::Pose;
use fracas_geometry::primitives::tri_tri;

/// The triangles of a surface by the finest voxels of its tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleLevel {
    corners: Vec<[Vec3; 3]>,
    /// Voxel `v` holds `list[first[v]..first[v + 1]]`.
    first: Vec<u32>,
    list: Vec<u32>,
}

/// Why triangles do not fit a tree.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TriangleError {
    /// A triangle names a vertex that does not exist, or one that is not finite.
    #[error("triangle {triangle} names vertex {vertex}, which does not exist or is not finite")]
    BadVertex {
        /// The triangle.
        triangle: u32,
        /// The vertex.
        vertex: u32,
    },
    /// A triangle leaves the voxels of the tree.
    #[error(
        "triangle {triangle} touches a voxel that is empty in the tree; build the tree from the same surface"
    )]
    Outside {
        /// The triangle.
        triangle: u32,
    },
}

impl TriangleLevel {
    /// Hands triangles to the voxels of a tree that was built from the same surface.
    ///
    /// # Errors
    /// See [`TriangleError`].
    pub fn build(
        tree: &VoxTree,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
    ) -> Result<Self, TriangleError> {
        let finest = &tree.levels()[tree.levels().len() - 1];
        let cell = finest.cell;
        let centres = || finest.nodes.iter().map(|n| n.centre);
        let low = centres().fold(Vec3::INFINITY, Vec3::min);
        let high = centres().fold(Vec3::NEG_INFINITY, Vec3::max);
        let counts = if finest.nodes.is_empty() {
            [1; 3]
        } else {
            ((high - low) / cell)
                .to_array()
                .map(|c| c.round() as usize + 1)
        };
        let index = |[x, y, z]: [usize; 3]| (z * counts[1] + y) * counts[0] + x;
        let mut node_at = vec![u32::MAX; counts.iter().product()];
        for (i, node) in finest.nodes.iter().enumerate() {
            let at = ((node.centre - low) / cell).to_array();
            node_at[index(at.map(|c| c.round() as usize))] = i as u32;
        }
        let origin = low.as_dvec3() - 0.5 * f64::from(cell);
        let mut corners = Vec::with_capacity(triangles.len());
        let mut held: Vec<(u32, u32)> = Vec::new();
        for (t, names) in triangles.iter().enumerate() {
            let triangle = t as u32;
            for &vertex in names {
                if !positions
                    .get(vertex as usize)
                    .is_some_and(|p| p.is_finite())
                {
                    return Err(TriangleError::BadVertex { triangle, vertex });
                }
            }
            let points = names.map(|v| positions[v as usize]);
            corners.push(points);
            let in_cells = points.map(|p| (p.as_dvec3() - origin) / f64::from(cell));
            let before = held.len();
            let beyond = in_cells
                .iter()
                .any(|p| (0..3).any(|a| p[a] < -BEYOND || p[a] > counts[a] as f64 + BEYOND));
            for_each_touched(&in_cells, counts, TOUCH, |at| {
                let node = node_at[index(at)];
                if node != u32::MAX {
                    held.push((node, triangle));
                }
            });
            if beyond || held.len() == before {
                return Err(TriangleError::Outside { triangle });
            }
        }
        held.sort_unstable();
        let mut first = vec![0; finest.nodes.len() + 1];
        for (node, _) in &held {
            first[*node as usize + 1] += 1;
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        Ok(Self {
            corners,
            first,
            list: held.into_iter().map(|h| h.1).collect(),
        })
    }

    /// The triangles that touch a voxel of the finest level.
    #[must_use]
    pub fn of(&self, voxel: u32) -> &[u32] {
        let range = self.first[voxel as usize]..self.first[voxel as usize + 1];
        &self.list[range.start as usize..range.end as usize]
    }

    /// How many triangles there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.corners.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }
}

/// A triangle touches a voxel within this share of its edge: wider than the tree's own
/// margin, so that voxels know the triangles that `f32` rounding may put into them.
const TOUCH: f64 = 1e-5;

/// How far beyond the tree's voxels a corner may be, in voxels: rounding.
const BEYOND: f64 = 1e-3;

/// A pair of triangles of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    a: u32,
    b: u32,
    /// Which pair of voxels brought them together (the first, of several).
    cubes: u32,
}

/// Memory of [`triangle_primitives`], used again; and which triangles met.
#[derive(Clone, Debug, Default)]
pub struct TriangleScratch {
    candidates: Vec<Candidate>,
    cubes: Vec<CubePair>,
    meeting: Vec<(u32, u32)>,
    tests: u64,
    finished: bool,
}

impl TriangleScratch {
    /// The pairs of triangles (of A and of B) that meet, in increasing order.
    #[must_use]
    pub fn meeting(&self) -> &[(u32, u32)] {
        &self.meeting
    }

    /// Pairs of triangles tested.
    #[must_use]
    pub fn tests(&self) -> u64 {
        self.tests
    }

    /// Whether all candidates were tested. If not, the others are told by their cubes.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.finished
    }
}

/// A body with its triangles.
#[derive(Clone, Copy, Debug)]
pub struct WithTriangles<'a> {
    /// Its voxels.
    pub tree: &'a VoxTree,
    /// Its triangles, by the voxels of the same tree.
    pub triangles: &'a TriangleLevel,
}

/// The contact primitives of two bodies after [`Detection::refine`]: from triangles where
/// both have them in voxels of the finest level, from cubes elsewhere. At most `most`
/// pairs of triangles are tested.
pub fn triangle_primitives(
    a: WithTriangles<'_>,
    b: WithTriangles<'_>,
    b_to_a: &Pose,
    detection: &Detection,
    most: u64,
    scratch: &mut TriangleScratch,
    out: &mut Vec<Primitive>,
) {
    out.clear();
    scratch.candidates.clear();
    scratch.cubes.clear();
    scratch.meeting.clear();
    let finest = [a.tree, b.tree].map(|tree| tree.levels().len() as u32 - 1);
    for pair in detection.pairs() {
        let lists = (pair.a.0 == finest[0] && pair.b.0 == finest[1])
            .then(|| (a.triangles.of(pair.a.1), b.triangles.of(pair.b.1)))
            .filter(|(of_a, of_b)| !of_a.is_empty() && !of_b.is_empty());
        let Some((of_a, of_b)) = lists else {
            out.push(primitive(a.tree, b.tree, b_to_a, pair));
            continue;
        };
        let cubes = scratch.cubes.len() as u32;
        scratch.cubes.push(*pair);
        for &a in of_a {
            let with = of_b.iter().map(|&b| Candidate { a, b, cubes });
            scratch.candidates.extend(with);
        }
    }
    scratch.candidates.sort_unstable();
    scratch.candidates.dedup_by_key(|c| (c.a, c.b));
    let tested = (scratch.candidates.len() as u64).min(most) as usize;
    (scratch.tests, scratch.finished) = (tested as u64, tested == scratch.candidates.len());
    for candidate in &scratch.candidates[..tested] {
        let of_a = a.triangles.corners[candidate.a as usize];
        let of_b = b.triangles.corners[candidate.b as usize].map(|p| b_to_a.point(p));
        let (of_a, of_b) = (of_a.map(|p| p.as_dvec3()), of_b.map(|p| p.as_dvec3()));
        if tri_tri::intersect(of_a, of_b) {
            let cubes = &scratch.cubes[candidate.cubes as usize];
            let cube = primitive(a.tree, b.tree, b_to_a, cubes);
            out.push(from_triangles(&of_a, &of_b, cube));
            scratch.meeting.push((candidate.a, candidate.b));
        }
    }
    // What was not tested is told by its cubes, each pair of them once.
    let mut rest: Vec<u32> = scratch.candidates[tested..]
        .iter()
        .map(|c| c.cubes)
        .collect();
    rest.sort_unstable();
    rest.dedup();
    let cubes = rest.iter().map(|&c| &scratch.cubes[c as usize]);
    out.extend(cubes.map(|pair| primitive(a.tree, b.tree, b_to_a, pair)));
}

/// The contact of two triangles that meet, in A's frame.
fn from_triangles(a: &[DVec3; 3], b: &[DVec3; 3], cube: Primitive) -> Primitive {
    let [normal_a, normal_b] = [a, b].map(|t| (t[1] - t[0]).cross(t[2] - t[0]).normalize_or_zero());
    let behind = |t: &[DVec3; 3], plane: &[DVec3; 3], normal: DVec3| {
        let depths = t.map(|p| (plane[0] - p).dot(normal));
        depths[0].max(depths[1]).max(depths[2]).max(0.0)
    };
    let depth = behind(a, b, normal_b).min(behind(b, a, normal_a));
    let surface = (normal_b - normal_a).normalize_or_zero().as_vec3();
    cube.between_triangles(surface, middle_of_meeting(a, b).as_vec3(), depth as f32)
}

/// The middle of the points in which edges of one triangle cross the plane of the other
/// within it; for triangles in one plane the middle of their corners.
fn middle_of_meeting(a: &[DVec3; 3], b: &[DVec3; 3]) -> DVec3 {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let mut crossings = 0;
    for (edges, plane) in [(a, b), (b, a)] {
        let normal = (plane[1] - plane[0]).cross(plane[2] - plane[0]);
        let size = normal.length_squared();
        for i in 0..3 {
            let (p, q) = (edges[i], edges[(i + 1) % 3]);
            let (above, below) = ((p - plane[0]).dot(normal), (q - plane[0]).dot(normal));
            if (above > 0.0) == (below > 0.0) || size == 0.0 {
                continue;
            }
            let x = p + (q - p) * (above / (above - below));
            let inside = (0..3).all(|k| {
                let (from, to) = (plane[k], plane[(k + 1) % 3]);
                (to - from).cross(x - from).dot(normal) >= -1e-9 * size
            });
            if inside {
                (low, high) = (low.min(x), high.max(x));
                crossings += 1;
            }
        }
    }
    if crossings == 0 {
        return (a.iter().sum::<DVec3>() + b.iter().sum::<DVec3>()) / 6.0;
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voxel_tree::{Averaging, Budget, GroupContact, Grouping, Stop, VoxelGrid, reduce};
    use fracas_geometry::testing::{Rng, box_grid};
    use glam::Mat3;

    #[test]
    fn triangles_meet_in_the_middle_of_their_common_line() {
        let shift = DVec3::new(5.0, 7.0, 3.0);
        let flat = [DVec3::ZERO, DVec3::X * 4.0, DVec3::Y * 4.0].map(|p| p + shift);
        let standing = [[1.0, 1.0, -1.0], [3.0, 1.0, -1.0], [2.0, 1.0, 1.0]];
        let standing = standing.map(|p| DVec3::from(p) + shift);
        let middle = DVec3::new(2.0, 1.0, 0.0) + shift;
        assert!(middle_of_meeting(&flat, &standing).distance(middle) < 1e-12);
        assert!(middle_of_meeting(&standing, &flat).distance(middle) < 1e-12);
        // In one plane: the middle of all corners.
        let beside = flat.map(|p| p + DVec3::X);
        let middle = shift + DVec3::new(8.0 + 3.0, 8.0, 0.0) / 6.0;
        assert!(middle_of_meeting(&flat, &beside).distance(middle) < 1e-12);
    }

    struct Body {
        tree: VoxTree,
        triangles: TriangleLevel,
    }

    /// A box with dented faces, so that triangles are of all sizes and directions.
    fn body(size: Vec3, dents: f32, cell: f32) -> Body {
        let mesh = box_grid([4, 3, 5], size);
        let bent = |p: &Vec3| {
            let wave = Vec3::new(
                libm::sinf(9.0 * p.y),
                libm::sinf(7.0 * p.z),
                libm::sinf(8.0 * p.x),
            );
            *p - 0.5 * size + dents * wave
        };
        let positions: Vec<Vec3> = mesh.positions().iter().map(bent).collect();
        let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        let grid = VoxelGrid::from_surface(&positions, &triangles, cell).unwrap();
        let tree = VoxTree::build(&grid, 2);
        let triangles = TriangleLevel::build(&tree, &positions, &triangles).unwrap();
        Body { tree, triangles }
    }

    impl Body {
        fn with(&self) -> WithTriangles<'_> {
            WithTriangles {
                tree: &self.tree,
                triangles: &self.triangles,
            }
        }
    }

    /// The certain answer: every triangle against every triangle.
    fn all_pairs(a: &Body, b: &Body, b_to_a: &Pose) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for (i, s) in a.triangles.corners.iter().enumerate() {
            for (j, t) in b.triangles.corners.iter().enumerate() {
                let t = t.map(|p| b_to_a.point(p).as_dvec3());
                if tri_tri::intersect(s.map(|p| p.as_dvec3()), t) {
                    found.push((i as u32, j as u32));
                }
            }
        }
        found
    }

    fn query(
        a: &Body,
        b: &Body,
        b_to_a: &Pose,
        most: u64,
    ) -> (TriangleScratch, Vec<Primitive>, Stop) {
        let (mut detection, mut scratch, mut out) =
            (Detection::default(), TriangleScratch::default(), Vec::new());
        let stop = detection.refine(&a.tree, &b.tree, b_to_a, &Budget::default());
        triangle_primitives(
            a.with(),
            b.with(),
            b_to_a,
            &detection,
            most,
            &mut scratch,
            &mut out,
        );
        (scratch, out, stop)
    }

    #[test]
    fn meeting_triangles_are_those_of_all_pairs() {
        let a = body(Vec3::new(1.0, 0.6, 0.8), 0.03, 0.09);
        let b = body(Vec3::new(0.5, 0.7, 0.4), 0.02, 0.07);
        let mut rng = Rng(12);
        let (mut meeting, mut apart) = (0, 0);
        for _ in 0..60 {
            let pose = Pose {
                rotation: Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 6.0)),
                translation: rng.direction() * rng.range(0.0, 1.0),
            };
            let (scratch, _, _) = query(&a, &b, &pose, u64::MAX);
            let expected = all_pairs(&a, &b, &pose);
            assert_eq!(scratch.meeting(), expected);
            assert!(scratch.finished());
            let everything = (a.triangles.len() * b.triangles.len()) as u64;
            assert!(scratch.tests() <= everything / 3, "{}", scratch.tests());
            meeting += expected.len();
            apart += usize::from(expected.is_empty());
        }
        assert!(meeting > 1000 && apart > 5, "{meeting} {apart}");
    }

    #[test]
    fn bodies_in_one_place_and_faces_in_one_plane_are_found() {
        let a = body(Vec3::new(1.0, 0.5, 0.5), 0.0, 0.125);
        for translation in [
            Vec3::ZERO,
            Vec3::X,
            Vec3::Y * 0.5,
            Vec3::new(1.0, 0.5, 0.5),
            Vec3::new(0.25, 0.0, 0.0),
        ] {
            let pose = Pose {
                rotation: Mat3::IDENTITY,
                translation,
            };
            let (scratch, out, _) = query(&a, &a, &pose, u64::MAX);
            assert_eq!(scratch.meeting(), all_pairs(&a, &a, &pose), "{translation}");
            assert!(!scratch.meeting().is_empty() && !out.is_empty());
        }
    }

    #[test]
    fn a_body_wholly_inside_another_still_has_contacts() {
        let (large, small) = (
            body(Vec3::splat(1.0), 0.0, 0.1),
            body(Vec3::splat(0.2), 0.0, 0.05),
        );
        let pose = Pose {
            rotation: Mat3::from_rotation_x(0.3),
            translation: Vec3::splat(0.02),
        };
        let (scratch, out, stop) = query(&large, &small, &pose, u64::MAX);
        assert!(scratch.meeting().is_empty() && stop == Stop::Finest);
        assert!(!out.is_empty(), "cubes of the inside remain");
    }

    #[test]
    fn a_budget_leaves_cubes_for_what_was_not_tested() {
        let a = body(Vec3::new(1.0, 0.6, 0.8), 0.03, 0.09);
        let pose = Pose {
            rotation: Mat3::from_rotation_y(0.4),
            translation: Vec3::new(0.8, 0.1, 0.1),
        };
        let (all, _, _) = query(&a, &a, &pose, u64::MAX);
        let (none, cubes, _) = query(&a, &a, &pose, 0);
        assert!(!none.finished() && none.meeting().is_empty() && !cubes.is_empty());
        let (some, out, _) = query(&a, &a, &pose, all.tests() / 2);
        assert!(!some.finished() && out.len() > some.meeting().len());
        assert_eq!(some.meeting(), &all.meeting()[..some.meeting().len()]);
    }

    #[test]
    fn a_box_dipped_into_another_is_pushed_out_the_way_it_came() {
        let (a, b) = (
            body(Vec3::splat(0.6), 0.0, 0.06),
            body(Vec3::new(2.0, 2.0, 0.5), 0.0, 0.1),
        );
        let turn = Mat3::from_rotation_z(0.37) * Mat3::from_rotation_x(0.02);
        for depth in [0.004, 0.01, 0.03] {
            let pose = Pose {
                rotation: turn,
                translation: Vec3::new(0.1, -0.05, depth - 0.55),
            };
            let (scratch, mut out, _) = query(&a, &b, &pose, u64::MAX);
            assert!(!scratch.meeting().is_empty());
            let mut groups: Vec<GroupContact> = Vec::new();
            reduce(
                &mut out,
                Averaging::Weighted,
                Grouping::Together,
                -pose.translation,
                &mut groups,
            );
            let contact = &groups[0];
            assert!(contact.normal.z > 0.8, "{contact:?}");
            assert!((contact.point.z + 0.3).abs() < 0.05, "{contact:?}");
            assert!(contact.distance <= 0.0 && contact.distance > -2.5 * depth - 0.02);
        }
    }

    #[test]
    fn triangles_of_another_surface_are_refused() {
        let a = body(Vec3::ONE, 0.0, 0.2);
        let far = [
            Vec3::splat(5.0),
            Vec3::new(6.0, 5.0, 5.0),
            Vec3::new(5.0, 6.0, 5.0),
        ];
        assert_eq!(
            TriangleLevel::build(&a.tree, &far, &[[0, 1, 2]]),
            Err(TriangleError::Outside { triangle: 0 })
        );
        assert_eq!(
            TriangleLevel::build(&a.tree, &far, &[[0, 1, 3]]),
            Err(TriangleError::BadVertex {
                triangle: 0,
                vertex: 3
            })
        );
        let none = TriangleLevel::build(&a.tree, &[], &[]).unwrap();
        assert!(none.is_empty() && none.of(0).is_empty());
    }
}
