//! The faces of one fragment, as they are, in a tree of their own.
//!
//! ```text
//!  at a fracture:  the parent's faces and the new crack polygons
//!                  --by the labels of their nodes--> a list per child
//!  when first asked: list --clip what later cracks took away--> tree of boxes
//! ```
//!
//! A contact query asks about points close to the surface, thousands of times a step:
//! each question is one search in a tree that holds nothing but the fragment's faces,
//! none of which needs a second look at whose it is or what is left of it. A fragment
//! that nobody comes near never makes its tree.
//!
//! Faces are listed in the order of [`super::feature`]; the tree has its own, in which
//! boundary and cracks that are near each other share boxes.
//!
//! **Guarantee**: the tree depends on the fragment alone, not on when it is made: a
//! fracture elsewhere changes neither its labels nor the planes that bound it.

use std::sync::{Arc, OnceLock};

use glam::Vec3;

use super::face_tree::{Bounds, FaceTree, least, most, order_in_clusters};
use super::feature::{FeatureId, Features, PLANE_SLACK, corners_of_face, cut_edge, face_normal};
use crate::fragment::{FragmentId, Fragments, TetCut};
use crate::tet_mesh::{NONE, TET_FACES, TetMesh};
use crate::tet_part::{CornerPoints, Polygon, Side, TetPart};

/// The faces of a fragment.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnFaces {
    /// Features that may bound the fragment, in increasing order; those of an unbroken
    /// object are all, and not listed.
    listed: Vec<FeatureId>,
    /// Shared by all objects of one make, as long as they are whole.
    tree: OnceLock<Arc<SurfaceTree>>,
}

/// Faces and the boxes around them.
#[derive(Clone, Debug)]
pub(super) struct SurfaceTree {
    faces: Vec<Face>,
    /// What later cracks left of polygons: flat, convex, outward.
    clipped: Vec<[Vec3; 4]>,
    /// Corners that lie neither at a node nor on an edge of the mesh: where cracks meet.
    junctions: Vec<Vec3>,
    tree: FaceTree,
}

/// A flat, convex face of the real surface, with up to four corners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    /// Its outward unit normal.
    pub(super) normal: Vec3,
    /// A point of its plane.
    pub(super) corner: Vec3,
    pub(super) feature: FeatureId,
    /// The tetrahedron in which it lies.
    pub(super) tet: u32,
    /// Where in the list of clipped ones, or [`NONE`]: it is the whole feature.
    clipped: u32,
}

impl Face {
    /// How far a point is above the face's plane.
    #[inline]
    pub(super) fn height(&self, p: Vec3) -> f32 {
        self.normal.dot(p - self.corner)
    }

    /// Whether the face is certainly farther from `p` than the limit, a squared distance,
    /// because its plane is.
    #[inline]
    pub(super) fn is_beyond(&self, p: Vec3, limit: f32) -> bool {
        let height = self.height(p);
        // Not true without area, where the normal is zero.
        height * height > limit * PLANE_SLACK
    }
}

impl OwnFaces {
    /// Those of an unbroken object, with the order of its tree.
    pub(super) fn of_whole(tree: SurfaceTree) -> Self {
        Self {
            listed: Vec::new(),
            tree: OnceLock::from(Arc::new(tree)),
        }
    }

    /// The features in the order of the tree, where it was made.
    pub(super) fn order(&self) -> Vec<FeatureId> {
        let faces = self.tree.get().map_or(&[][..], |tree| &tree.faces);
        faces.iter().map(|face| face.feature).collect()
    }

    /// Adds a feature that may bound the fragment.
    #[inline]
    pub(super) fn list(&mut self, feature: FeatureId) {
        self.listed.push(feature);
    }

    /// The features that may bound the fragment.
    pub(super) fn listed(&self, features: &Features) -> impl Iterator<Item = FeatureId> + '_ {
        // The unbroken object's are all that there were before anything broke.
        let all = if self.listed.is_empty() {
            0..features.outer_count() as u32
        } else {
            0..0
        };
        all.chain(self.listed.iter().copied())
    }

    /// The tree, made now if nobody has asked before.
    #[inline]
    pub(super) fn tree(
        &self,
        features: &Features,
        fragments: &Fragments,
        id: FragmentId,
    ) -> &SurfaceTree {
        self.tree.get_or_init(|| {
            let listed = self.listed(features);
            Arc::new(SurfaceTree::build(features, fragments, id, listed))
        })
    }

    pub(super) fn bytes(&self) -> usize {
        let tree = self.tree.get().map_or(0, |tree| tree.bytes());
        self.listed.len() * 4 + tree
    }
}

impl SurfaceTree {
    /// Of those features that bound the fragment.
    pub(super) fn build(
        features: &Features,
        fragments: &Fragments,
        id: FragmentId,
        listed: impl Iterator<Item = FeatureId>,
    ) -> Self {
        let mut builder = Builder {
            features,
            fragments,
            id,
            faces: Vec::with_capacity(listed.size_hint().0),
            clipped: Vec::new(),
            junctions: Vec::new(),
        };
        for feature in listed {
            match features.origin(feature) {
                (true, origin) => builder.add_crack(feature, origin),
                (false, origin) => builder.add_outer(feature, origin),
            }
        }
        builder.finish()
    }

    /// Of an unbroken object, all of whose features are known in the order of the tree.
    pub(super) fn of_whole(features: &Features, mesh: &TetMesh, order: &[FeatureId]) -> Self {
        let mut boxes = Vec::with_capacity(order.len());
        let mut faces = Vec::with_capacity(order.len());
        let origins = features.outer_faces();
        for &feature in order {
            let origin = origins[feature as usize];
            let [a, b, c] = corners_of_face(mesh, origin);
            boxes.push(Bounds {
                low: least(least(a, b), c),
                high: most(most(a, b), c),
            });
            faces.push(Face {
                normal: face_normal(&[a, b, c]),
                corner: a,
                feature,
                tet: origin / 4,
                clipped: NONE,
            });
        }
        Self {
            faces,
            clipped: Vec::new(),
            junctions: Vec::new(),
            tree: FaceTree::build(&mut boxes),
        }
    }

    /// Calls `visit` with the faces whose boxes are within the limit, a squared distance
    /// that `visit` may lower.
    #[inline]
    pub(super) fn search<'a>(
        &'a self,
        p: Vec3,
        limit: &mut f32,
        mut visit: impl FnMut(&'a Face, &mut f32),
    ) {
        self.tree.search(p, limit, |at, limit| {
            visit(&self.faces[at as usize], limit);
        });
    }

    /// The corners of a face that is not the whole feature.
    #[inline]
    pub(super) fn clipped(&self, face: &Face) -> Option<&[Vec3; 4]> {
        self.clipped.get(face.clipped as usize)
    }

    /// Corners that lie neither at a node nor on an edge of the mesh.
    pub(super) fn junctions(&self) -> &[Vec3] {
        &self.junctions
    }

    fn bytes(&self) -> usize {
        self.faces.len() * size_of::<Face>()
            + self.clipped.len() * 48
            + self.junctions.len() * 12
            + self.tree.bytes()
    }
}

/// Collects the faces of one fragment.
struct Builder<'a> {
    features: &'a Features,
    fragments: &'a Fragments,
    id: FragmentId,
    faces: Vec<Face>,
    clipped: Vec<[Vec3; 4]>,
    junctions: Vec<Vec3>,
}

impl Builder<'_> {
    fn finish(mut self) -> SurfaceTree {
        // Each is a corner of several polygons.
        let bits = |p: &Vec3| p.to_array().map(f32::to_bits);
        self.junctions.sort_unstable_by_key(bits);
        self.junctions.dedup_by_key(|p| bits(p));
        let mesh = self.fragments.mesh();
        let boxes: Vec<Bounds> = self
            .faces
            .iter()
            .map(|face| match face.clipped {
                NONE => self.features.bounds(mesh, face.feature),
                at => Bounds::of(&self.clipped[at as usize]),
            })
            .collect();
        let order = order_in_clusters(&boxes);
        let mut boxes: Vec<Bounds> = order.iter().map(|&i| boxes[i as usize]).collect();
        SurfaceTree {
            tree: FaceTree::build(&mut boxes),
            faces: order.iter().map(|&i| self.faces[i as usize]).collect(),
            clipped: self.clipped,
            junctions: self.junctions,
        }
    }

    /// Adds a feature, or what is left of it. Its normal may point into the fragment.
    fn add(&mut self, feature: FeatureId, inward: bool, clipped: u32) {
        let mesh = self.fragments.mesh();
        let normal = self.features.normal(mesh, feature);
        self.faces.push(Face {
            normal: if inward { -normal } else { normal },
            corner: self.features.corner(mesh, feature),
            feature,
            tet: self.features.origin(feature).1 / 4,
            clipped,
        });
    }

    fn add_polygon(&mut self, feature: FeatureId, inward: bool, quad: [Vec3; 4]) {
        self.add(feature, inward, self.clipped.len() as u32);
        self.clipped.push(quad);
    }

    /// Adds what is left of a crack polygon on the fragment.
    fn add_crack(&mut self, feature: FeatureId, origin: u32) {
        let (tet, k) = (origin / 4, (origin % 4) as usize);
        let fragments = self.fragments;
        let (Some(own), Some(cut)) = (self.own_node(tet, [0, 1, 2, 3]), fragments.cut(tet)) else {
            return;
        };
        let planes = cut.planes();
        if planes[k][own] == 0.0 {
            return;
        }
        let inward = planes[k][own] > 0.0;
        if planes[k + 1..].iter().all(|plane| plane[own] == 0.0) {
            return self.add(feature, inward, NONE);
        }
        self.add_clipped(feature, inward, tet, cut, own, Side::Plane(k as u8));
    }

    /// Adds what is left of a boundary face on the fragment.
    fn add_outer(&mut self, feature: FeatureId, origin: u32) {
        let (tet, k) = (origin / 4, (origin % 4) as usize);
        let fragments = self.fragments;
        let Some(own) = self.own_node(tet, TET_FACES[k]) else {
            return;
        };
        let Some(cut) = fragments.cut(tet) else {
            return self.add(feature, false, NONE);
        };
        // Planes that do not bound this fragment may come later: they must not matter.
        let mut bounding = cut.planes().iter().filter(|plane| plane[own] != 0.0);
        let Some(plane) = bounding.next() else {
            return self.add(feature, false, NONE);
        };
        if bounding.next().is_none() {
            let mesh = fragments.mesh();
            let (corners, nodes) = (mesh.corners(tet), mesh.tets()[tet as usize]);
            return match side_of_face(&corners, &nodes, k, plane, own) {
                Some(quad) => self.add_polygon(feature, false, quad),
                None => self.add(feature, false, NONE),
            };
        }
        self.add_clipped(feature, false, tet, cut, own, Side::Face(k as u8));
    }

    /// Adds what several planes have left of a polygon.
    fn add_clipped(
        &mut self,
        feature: FeatureId,
        inward: bool,
        tet: u32,
        cut: &TetCut,
        own: usize,
        side: Side,
    ) {
        let points = CornerPoints::new(self.fragments.mesh(), tet, Some(cut));
        let Some(polygon) = TetPart::polygon(cut, own, side) else {
            return;
        };
        let junctions = polygon.corners().iter().filter(|c| c.count_ones() > 2);
        let junctions = junctions.map(|&corner| points.at(corner).as_vec3());
        self.junctions.extend(junctions);
        for_each_quad(&points, &polygon, |quad| {
            self.add_polygon(feature, inward, quad);
        });
    }

    /// The first of some local nodes of a tetrahedron that belongs to the fragment.
    fn own_node<const N: usize>(&self, tet: u32, of: [usize; N]) -> Option<usize> {
        let labels = self.fragments.node_fragment();
        let nodes = self.fragments.mesh().tets()[tet as usize];
        of.into_iter()
            .find(|&i| labels[nodes[i] as usize] == self.id)
    }
}

/// Calls `visit` with a polygon in parts of up to four corners; a triangle has its last corner
/// twice.
pub(super) fn for_each_quad(
    points: &CornerPoints<'_>,
    polygon: &Polygon,
    mut visit: impl FnMut([Vec3; 4]),
) {
    let at = |i: usize| points.at(polygon.corners()[i]).as_vec3();
    let count = polygon.corners().len();
    for i in (1..count - 1).step_by(2) {
        visit([at(0), at(i), at(i + 1), at((i + 2).min(count - 1))]);
    }
}

/// What one plane leaves of face `k` of a tetrahedron on the side of a node of that
/// face, counter-clockwise from outside; a triangle has its last corner twice. `None`
/// where the plane does not cross the face.
pub(super) fn side_of_face(
    corners: &[Vec3; 4],
    nodes: &[u32; 4],
    k: usize,
    plane: &[f32; 4],
    own: usize,
) -> Option<[Vec3; 4]> {
    let [a, b, c] = TET_FACES[k];
    let is_own = |i: usize| (plane[i] > 0.0) == (plane[own] > 0.0);
    // The corner that is alone on its side of the plane, and those after it.
    let turns = [[a, b, c], [b, c, a], [c, a, b]];
    let [i, j, l] = turns
        .into_iter()
        .find(|&[i, j, l]| is_own(i) != is_own(j) && is_own(i) != is_own(l))?;
    let [to_j, to_l] = [j, l].map(|other| cut_edge(corners, nodes, plane, i, other));
    Some(if is_own(i) {
        [corners[i], to_j, to_l, to_l]
    } else {
        [to_j, corners[j], corners[l], to_l]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};

    #[test]
    fn a_face_is_beyond_a_limit_exactly_where_its_plane_is() {
        let mut rng = Rng(41);
        for _ in 0..200 {
            let normal = rng.direction();
            let corner = rng.direction() * 2.0;
            let face = Face {
                normal,
                corner,
                feature: 0,
                tet: 0,
                clipped: NONE,
            };
            let height = rng.range(-2.0, 2.0);
            let p =
                corner + normal * height + normal.any_orthogonal_vector() * rng.range(-3.0, 3.0);
            assert!((face.height(p) - height).abs() < 1e-5);
            let square = height * height;
            assert!(face.is_beyond(p, 0.95 * square - 1e-3));
            assert!(!face.is_beyond(p, 1.05 * square + 1e-3));
        }
    }

    #[test]
    fn bytes_are_those_of_the_lists() {
        let fragments = Fragments::new(Arc::new(box_grid([2, 1, 1], Vec3::ONE)));
        let features = Features::new(fragments.mesh());
        let id = FragmentId(0);
        let mut own = OwnFaces::default();
        assert_eq!(own.bytes(), 0);
        let mut tree = SurfaceTree::build(&features, &fragments, id, own.listed(&features));
        assert_eq!(tree.faces.len(), features.outer_count());
        tree.clipped = vec![[Vec3::ZERO; 4]; 3];
        tree.junctions = vec![Vec3::ZERO; 5];
        let faces = tree.faces.len() * size_of::<Face>();
        let lists = faces + 3 * size_of::<[Vec3; 4]>() + 5 * size_of::<Vec3>();
        let bytes = lists + tree.tree.bytes();
        assert_eq!(tree.bytes(), bytes);
        own.listed = vec![7, 8];
        assert_eq!(own.bytes(), 8);
        assert!(own.tree.set(Arc::new(tree)).is_ok());
        assert_eq!(own.bytes(), 8 + bytes);
    }
}
