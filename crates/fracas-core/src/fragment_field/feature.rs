//! The pieces of surface that a node can be closest to: triangles of the unbroken
//! object, and crack polygons as they were when the crack opened.
//!
//! A later crack can take away part of an older crack's polygon, which then is
//! larger than the fragment's real surface. It still holds no point *inside* the
//! fragment, and a straight way from inside the fragment to any point that is not
//! inside must cross its surface: so the distance to a feature is never below the
//! exact distance, whatever has broken since.

use std::sync::Arc;

use glam::Vec3;

use super::face_tree::{Bounds, Curve, sort_by_place};
use crate::chunk_list::ChunkList;
use crate::fragment::{Fragments, TetCut};
use crate::primitives::point_triangle::{to_quad, to_triangle};
use crate::tet_mesh::{NONE, TET_FACES, TetMesh};
use crate::tet_part::{CornerPoints, signs};

/// A plane is beyond a limit only if its squared distance is larger by this factor, which
/// covers rounding.
pub(super) const PLANE_SLACK: f32 = 1.0 + 1e-4;

/// Names a feature: boundary faces in the order of a space-filling curve, then crack
/// polygons in the order in which they opened, those of one fracture along the curve.
pub(super) type FeatureId = u32;

/// All features of one object.
#[derive(Clone, Debug)]
pub(super) struct Features {
    /// Of each boundary face, four times the tetrahedron plus the local face.
    outer: Arc<[u32]>,
    curve: Curve,
    /// Flat, convex, the normal pointing to the side of positive levels; a
    /// triangle has its last corner twice.
    cracks: ChunkList<[Vec3; 4]>,
    /// Of each crack polygon, four times the tetrahedron plus the plane.
    crack_origins: ChunkList<u32>,
    /// By index of the cut, the feature of each of its planes.
    of_cut: ChunkList<[FeatureId; 3]>,
    order: Vec<u64>,
    spare: Vec<u64>,
}

impl Features {
    /// The features of an unbroken object.
    pub(super) fn new(mesh: &TetMesh) -> Self {
        let (low, high) = mesh.bounds();
        let curve = Curve::new(low, high);
        let mut order: Vec<u64> = mesh
            .boundary()
            .map(|face| {
                let [a, b, c] = face.nodes.map(|n| mesh.positions()[n as usize]);
                curve.item((a + b + c) / 3.0, face.tet * 4 + u32::from(face.face))
            })
            .collect();
        sort_by_place(&mut order, &mut Vec::new());
        Self::known(mesh, order.iter().map(|&item| item as u32).collect())
    }

    /// The same, where their order is known: all boundary faces.
    pub(super) fn known(mesh: &TetMesh, outer: Arc<[u32]>) -> Self {
        let (low, high) = mesh.bounds();
        Self {
            outer,
            curve: Curve::new(low, high),
            cracks: ChunkList::default(),
            crack_origins: ChunkList::default(),
            of_cut: ChunkList::default(),
            order: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// The boundary faces, in order.
    pub(super) fn outer_faces(&self) -> &[u32] {
        &self.outer
    }

    /// How many boundary faces there are.
    pub(super) fn outer_count(&self) -> usize {
        self.outer.len()
    }

    /// The corners of a boundary face, counter-clockwise seen from outside.
    #[inline]
    pub(super) fn outer_corners(&self, mesh: &TetMesh, at: usize) -> [Vec3; 3] {
        corners_of_face(mesh, self.outer[at])
    }

    /// Boundary faces with their features, in the order of four times the tetrahedron
    /// plus the local face: for looking up many.
    pub(super) fn outer_by_origin(&self) -> Vec<(u32, FeatureId)> {
        let mut list: Vec<_> = (0..)
            .zip(self.outer.iter())
            .map(|(id, &o)| (o, id))
            .collect();
        list.sort_unstable();
        list
    }

    /// Whether a feature is a crack polygon; and four times its tetrahedron plus its
    /// plane, or the local face.
    #[inline]
    pub(super) fn origin(&self, feature: FeatureId) -> (bool, u32) {
        let at = feature as usize;
        match at.checked_sub(self.outer.len()) {
            None => (false, self.outer[at]),
            Some(crack) => (true, self.crack_origins[crack]),
        }
    }

    /// A box around a feature.
    pub(super) fn bounds(&self, mesh: &TetMesh, feature: FeatureId) -> Bounds {
        let at = feature as usize;
        match at.checked_sub(self.outer.len()) {
            None => Bounds::of(&self.outer_corners(mesh, at)),
            Some(crack) => Bounds::of(&self.cracks[crack]),
        }
    }

    /// From `p` to the closest point of a feature.
    #[inline]
    pub(super) fn find_way_to(&self, mesh: &TetMesh, feature: FeatureId, p: Vec3) -> Vec3 {
        let at = feature as usize;
        match at.checked_sub(self.outer.len()) {
            None => to_triangle(p, self.outer_corners(mesh, at)),
            Some(crack) => to_quad(p, self.cracks[crack]),
        }
    }

    /// Whether a feature is certainly farther from `p` than the limit, a squared
    /// distance, because its plane is.
    #[inline]
    pub(super) fn is_beyond(
        &self,
        mesh: &TetMesh,
        feature: FeatureId,
        p: Vec3,
        limit: f32,
    ) -> bool {
        let at = feature as usize;
        match at.checked_sub(self.outer.len()) {
            None => triangle_is_beyond(p, &self.outer_corners(mesh, at), limit),
            Some(crack) => quad_is_beyond(p, &self.cracks[crack], limit),
        }
    }

    /// The unit normal of a feature: outward if outer, toward positive levels if a crack.
    pub(super) fn normal(&self, mesh: &TetMesh, feature: FeatureId) -> Vec3 {
        let at = feature as usize;
        match at.checked_sub(self.outer.len()) {
            None => face_normal(&self.outer_corners(mesh, at)),
            Some(crack) => quad_normal(&self.cracks[crack]),
        }
    }

    /// A corner of a feature.
    pub(super) fn corner(&self, mesh: &TetMesh, feature: FeatureId) -> Vec3 {
        let at = feature as usize;
        match at.checked_sub(self.outer.len()) {
            None => self.outer_corners(mesh, at)[0],
            Some(crack) => self.cracks[crack][0],
        }
    }

    /// The polygon of a crack feature.
    pub(super) fn crack(&self, feature: FeatureId) -> &[Vec3; 4] {
        &self.cracks[feature as usize - self.outer.len()]
    }

    /// The features of the planes of a cut.
    #[inline]
    pub(super) fn of_cut(&self, cut: u32) -> &[FeatureId; 3] {
        &self.of_cut[cut as usize]
    }

    /// Adds polygons for the planes that tetrahedra have gained since they were last
    /// seen; returns their features.
    pub(super) fn add_fracture(
        &mut self,
        fragments: &Fragments,
        tets: &[u32],
    ) -> std::ops::Range<FeatureId> {
        let mesh = fragments.mesh();
        let first = self.cracks.len();
        self.order.clear();
        self.order.extend(tets.iter().map(|&tet| {
            let node = mesh.tets()[tet as usize][0];
            self.curve.item(mesh.positions()[node as usize], tet)
        }));
        sort_by_place(&mut self.order, &mut self.spare);
        for at in 0..self.order.len() {
            self.add_planes(fragments, self.order[at] as u32);
        }
        // Objects are many and seldom break: the workspace does not stay with them.
        (self.order, self.spare) = Default::default();
        let outer = self.outer.len();
        (outer + first) as u32..(outer + self.cracks.len()) as u32
    }

    fn add_planes(&mut self, fragments: &Fragments, tet: u32) {
        let index = fragments.cut_index(tet) as usize;
        let Some(cut) = fragments.cut(tet) else {
            return;
        };
        while self.of_cut.len() <= index {
            self.of_cut.push([NONE; 3]);
        }
        let known = self.of_cut[index]
            .iter()
            .take_while(|&&f| f != NONE)
            .count();
        for k in known..cut.planes().len() {
            self.of_cut[index][k] = (self.outer.len() + self.cracks.len()) as u32;
            let quad = if k == 0 {
                first_plane(fragments.mesh(), tet, &cut.planes()[0])
            } else {
                later_plane(fragments.mesh(), tet, cut, k)
            };
            self.cracks.push(quad);
            self.crack_origins.push(tet * 4 + k as u32);
        }
    }

    /// Bytes of what is kept between fractures.
    pub(super) fn bytes(&self) -> usize {
        self.outer.len() * 4 + self.cracks.len() * 52 + self.of_cut.len() * 12
    }

    /// Bytes of workspace.
    pub(super) fn scratch_bytes(&self) -> usize {
        (self.order.len() + self.spare.len()) * 8
    }
}

/// The corners of a face of a tetrahedron, counter-clockwise seen from outside.
#[inline]
pub(super) fn corners_of_face(mesh: &TetMesh, origin: u32) -> [Vec3; 3] {
    let nodes = mesh.tets()[(origin / 4) as usize];
    let [i, j, k] = TET_FACES[(origin % 4) as usize];
    let at = mesh.positions();
    [
        at[nodes[i] as usize],
        at[nodes[j] as usize],
        at[nodes[k] as usize],
    ]
}

/// The unit normal of a boundary face; zero without area.
#[inline]
pub(super) fn face_normal([a, b, c]: &[Vec3; 3]) -> Vec3 {
    (*b - *a).cross(*c - *a).normalize_or_zero()
}

/// As [`Features::is_beyond`], of a triangle.
#[inline]
pub(super) fn triangle_is_beyond(p: Vec3, [a, b, c]: &[Vec3; 3], limit: f32) -> bool {
    plane_is_beyond(p - *a, (*b - *a).cross(*c - *a), limit)
}

/// As [`Features::is_beyond`], of a polygon.
#[inline]
pub(super) fn quad_is_beyond(p: Vec3, [a, b, c, d]: &[Vec3; 4], limit: f32) -> bool {
    plane_is_beyond(p - *a, (*c - *a).cross(*d - *b), limit)
}

/// Whether a plane with a normal of any length is farther than the limit from a point,
/// given from a point of the plane.
#[inline]
fn plane_is_beyond(from_plane: Vec3, normal: Vec3, limit: f32) -> bool {
    let height = normal.dot(from_plane);
    // Not true without area.
    height * height > limit * normal.length_squared() * PLANE_SLACK
}

pub(super) fn quad_normal([a, b, c, d]: &[Vec3; 4]) -> Vec3 {
    (*c - *a).cross(*d - *b).normalize_or_zero()
}

/// Where a plane cuts the edge between two local nodes of a tetrahedron.
#[inline]
pub(super) fn cut_edge(
    corners: &[Vec3; 4],
    nodes: &[u32; 4],
    plane: &[f32; 4],
    i: usize,
    j: usize,
) -> Vec3 {
    // From the lower index to the higher, so that neighbours agree.
    let (i, j) = if nodes[i] < nodes[j] { (i, j) } else { (j, i) };
    let (s, t) = (f64::from(plane[i]), f64::from(plane[j]));
    corners[i] + (corners[j] - corners[i]) * (s / (s - t)) as f32
}

/// The polygon of the first plane of a tetrahedron: all four nodes have a level.
fn first_plane(mesh: &TetMesh, tet: u32, plane: &[f32; 4]) -> [Vec3; 4] {
    let corners = mesh.corners(tet);
    let nodes = mesh.tets()[tet as usize];
    let cut = |i: usize, j: usize| cut_edge(&corners, &nodes, plane, i, j);
    let positive = (0..4).fold(0_usize, |mask, i| mask | usize::from(plane[i] > 0.0) << i);
    // By the mask of positive nodes: a lone node and its face, or two and two.
    // Seen from the positive side, counter-clockwise.
    let lone = |i: usize, flip: bool| {
        let [j, k, l] = TET_FACES[i];
        let [x, y, z] = [cut(i, j), cut(i, k), cut(i, l)];
        if flip { [x, z, y, y] } else { [x, y, z, z] }
    };
    // Nodes i, j positive and k, l negative, (i, j, k, l) an even permutation.
    let pair =
        |i: usize, j: usize, k: usize, l: usize| [cut(i, k), cut(j, k), cut(j, l), cut(i, l)];
    match positive {
        0b0001 => lone(0, true),
        0b0010 => lone(1, true),
        0b0100 => lone(2, true),
        0b1000 => lone(3, true),
        0b1110 => lone(0, false),
        0b1101 => lone(1, false),
        0b1011 => lone(2, false),
        0b0111 => lone(3, false),
        0b0011 => pair(0, 1, 2, 3),
        0b0101 => pair(0, 2, 3, 1),
        0b1001 => pair(0, 3, 1, 2),
        0b1100 => pair(2, 3, 0, 1),
        0b1010 => pair(3, 1, 0, 2),
        _ => pair(1, 2, 0, 3),
    }
}

/// The polygon of a plane other than the first: as far as the part reached that it
/// split, which had two or three of the nodes. Its corners are known without clipping.
fn later_plane(mesh: &TetMesh, tet: u32, cut: &TetCut, k: usize) -> [Vec3; 4] {
    let [positive, negative] = signs(&cut.planes()[k]);
    debug_assert!((positive | negative).count_ones() < 4, "a first plane");
    let points = CornerPoints::new(mesh, tet, Some(cut));
    let outside: u8 = 0b1111 & !(positive | negative);
    // Seen from the alone node `i`, if (j, second, third, i) is an even permutation:
    // from the cut of the edge i-j around.
    let alone_is_positive = positive.count_ones() == 1;
    let (alone, rest) = if alone_is_positive {
        (positive, negative)
    } else {
        (negative, positive)
    };
    let i = alone.trailing_zeros();
    let j = rest.trailing_zeros();
    let others = 0b1111 & !(alone | 1 << j);
    let second = others.trailing_zeros();
    let third = (others & !(1 << second)).trailing_zeros();
    let (second, third) = if is_even([j, second, third, i]) {
        (1 << second, 1 << third)
    } else {
        (1 << third, 1 << second)
    };
    let edge = alone | 1 << j;
    let around = if rest.count_ones() == 2 {
        // Two edges are cut, and two faces with the node that is not of the part.
        let next = |m: u8| if m == outside { edge | m } else { alone | m };
        [
            edge,
            next(second),
            alone | rest & !(1 << j) | outside,
            next(third),
        ]
    } else {
        // One edge and two faces are cut; and inside the tetrahedron there is a corner
        // if two planes, one for each other node, bound the part.
        let bounding = |node: u8| {
            let parts = |plane: &[f32; 4]| {
                let [positive, negative] = signs(plane);
                let (across, both) = (node | alone, positive | negative);
                across & !both == 0 && across & positive != 0 && across & negative != 0
            };
            cut.planes()[..k].iter().position(parts)
        };
        let parted = bounding(second) != bounding(third);
        let middle = if parted { edge | outside } else { edge | third };
        [edge, edge | second, middle, edge | third]
    };
    let mut quad = around.map(|corner| points.at(corner).as_vec3());
    if !alone_is_positive {
        // Never a triangle: of two nodes, one is positive.
        quad.reverse();
    }
    quad
}

/// Whether a permutation of the four local nodes is even.
fn is_even(order: [u32; 4]) -> bool {
    let pairs = crate::tet_mesh::TET_EDGES.iter();
    pairs.filter(|[i, j]| order[*i] > order[*j]).count() % 2 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};
    use crate::tet_part::{Side, TetPart};
    use crate::{Crack, Fracture};

    /// A plane is beyond what is nearer than it, and not beyond what is farther.
    #[test]
    fn a_face_is_beyond_a_limit_exactly_where_its_plane_is() {
        let mut rng = Rng(40);
        for _ in 0..300 {
            let (a, u, v) = (rng.direction() * 3.0, rng.direction(), rng.direction());
            let normal = u.cross(v).normalize_or_zero();
            if normal == Vec3::ZERO {
                continue;
            }
            // A parallelogram of any size, and a triangle of it.
            let (u, v) = (u * rng.range(0.1, 3.0), v * rng.range(0.1, 3.0));
            let quad = [a, a + u, a + u + v, a + v];
            let height = rng.range(-2.0, 2.0);
            let p = a + u * rng.range(-2.0, 2.0) + v * rng.range(-2.0, 2.0) + normal * height;
            let square = height * height;
            for (limit, beyond) in [(0.95 * square - 1e-3, true), (1.05 * square + 1e-3, false)] {
                assert_eq!(quad_is_beyond(p, &quad, limit), beyond);
                let triangle = [quad[0], quad[1], quad[3]];
                assert_eq!(triangle_is_beyond(p, &triangle, limit), beyond);
            }
        }
        // Without area nothing is known.
        assert!(!triangle_is_beyond(Vec3::ONE, &[Vec3::ZERO; 3], 0.0));
        assert!(!quad_is_beyond(Vec3::ONE, &[Vec3::ZERO; 4], 0.0));
    }

    #[test]
    fn bytes_are_those_of_the_lists() {
        let mesh = Arc::new(box_grid([2; 3], Vec3::ONE));
        let mut features = Features::new(&mesh);
        let outer = 4 * features.outer_count();
        assert_eq!(features.bytes(), outer);
        let mut fragments = Fragments::new(mesh.clone());
        let all = fragments.fragment(crate::FragmentId(0)).nodes().to_vec();
        let level = |n: u32| mesh.positions()[n as usize].x - 0.3;
        let cracks = vec![Crack::from_level(&mesh, 0, &all, level).unwrap()];
        let fragment = crate::FragmentId(0);
        let split = fragments.apply(&Fracture { fragment, cracks }).unwrap();
        let new = features.add_fracture(&fragments, &split.cut_tets);
        // A polygon, where it lies, and one list of three for each cut tetrahedron.
        assert_eq!(new.len(), split.cut_tets.len());
        assert_eq!(features.bytes(), outer + new.len() * (48 + 4 + 12));
        assert_eq!(features.scratch_bytes(), 0);
        features.order = vec![0; 3];
        features.spare = vec![0; 4];
        assert_eq!(features.scratch_bytes(), 7 * 8);
    }

    /// The polygon of plane `k` by clipping the tetrahedron.
    fn clipped_plane(mesh: &TetMesh, tet: u32, cut: &TetCut, k: usize) -> [Vec3; 4] {
        let mut until = TetCut::default();
        for plane in &cut.planes()[..=k] {
            until.push(*plane);
        }
        let plane = &cut.planes()[k];
        let local = (0..4).find(|&i| plane[i] < 0.0).unwrap();
        let piece = TetPart::of(Some(&until), local);
        let points = CornerPoints::new(mesh, tet, Some(&until));
        let mut caps = piece.polygons().iter();
        let cap = caps.find(|c| c.side == Side::Plane(k as u8)).unwrap();
        let corners = cap.corners();
        assert!((3..=4).contains(&corners.len()), "a cap is small");
        [0, 1, 2, 3].map(|i| points.at(*corners.get(i).unwrap_or(&corners[2])).as_vec3())
    }

    #[test]
    fn later_polygons_are_the_clipped_ones_with_their_orientation() {
        let mesh = Arc::new(box_grid([2; 3], Vec3::ONE));
        let mut rng = Rng(16);
        let mut seen = [0; 3];
        for _ in 0..60 {
            let mut fragments = Fragments::new(mesh.clone());
            for _ in 0..12 {
                let living: Vec<_> = fragments.living().collect();
                let fragment = living[rng.below(living.len())];
                let nodes = fragments.fragment(fragment).nodes();
                let crack = Crack::from_level(&mesh, 0, nodes, |_| rng.range(-1.0, 1.0));
                let cracks: Vec<_> = crack.into_iter().collect();
                let _ = fragments.apply(&Fracture { fragment, cracks });
            }
            for tet in 0..mesh.tets().len() as u32 {
                let Some(cut) = fragments.cut(tet) else {
                    continue;
                };
                for k in 1..cut.planes().len() {
                    seen[k] += 1;
                    let (quick, exact) = (
                        later_plane(&mesh, tet, cut, k),
                        clipped_plane(&mesh, tet, cut, k),
                    );
                    assert_eq!(quick[2] == quick[3], exact[2] == exact[3]);
                    // The same corners in the same cyclic order.
                    let corners = if quick[2] == quick[3] { 3 } else { 4 };
                    let shift = (0..corners).find(|&s| exact[s] == quick[0]).unwrap();
                    for i in 0..corners {
                        assert_eq!(quick[i], exact[(i + shift) % corners]);
                    }
                }
            }
        }
        assert!(seen[1] > 100 && seen[2] > 100, "{seen:?}");
    }

    #[test]
    fn the_quick_polygon_of_a_first_plane_is_the_exact_one_with_its_orientation() {
        let mesh = Arc::new(box_grid([2; 3], Vec3::ONE));
        let mut rng = Rng(6);
        for _ in 0..50 {
            let mut fragments = Fragments::new(mesh.clone());
            let all = fragments.fragment(crate::FragmentId(0)).nodes().to_vec();
            let crack = Crack::from_level(&mesh, 0, &all, |_| rng.range(-1.0, 1.0)).unwrap();
            let fragment = crate::FragmentId(0);
            let cracks = vec![crack];
            let split = fragments.apply(&Fracture { fragment, cracks }).unwrap();
            for tet in split.cut_tets {
                let cut = fragments.cut(tet).unwrap();
                let quick = first_plane(&mesh, tet, &cut.planes()[0]);
                let exact = clipped_plane(&mesh, tet, cut, 0);
                assert_eq!(quick[2] == quick[3], exact[2] == exact[3]);
                for corner in quick {
                    assert!(exact.iter().any(|e| e.distance(corner) < 1e-6));
                }
                let (n, m) = (quad_normal(&quick), quad_normal(&exact));
                assert!(n.dot(m) > 0.999, "{n} and {m}");
                for i in 0..4 {
                    let side = n.dot(mesh.corners(tet)[i] - quick[0]);
                    assert_eq!(side > 0.0, cut.planes()[0][i] > 0.0);
                }
            }
        }
    }
}
