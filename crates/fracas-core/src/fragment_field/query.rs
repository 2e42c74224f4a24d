//! The queries of Algorithm 1, and what a positive tolerance needs besides them,
//! asked of one fragment D(f).
//!
//! | query | paper | answer |
//! | --- | --- | --- |
//! | `inside` | insideTest, §4.3 | tetrahedron by grid, then plane signs |
//! | `penetration` | penetration, §4.4 | least of a few features' distances |
//! | `sphere_may_touch` | sphereTest, §4.5 | box, outer surface, occupied cells |
//! | `nearest`, `faces_near` | - | exact, see `near.rs` |
//!
//! **Deviations**. `penetration`: in a whole tetrahedron the least distance to the
//! four nodes' features (equations 1 and 2 only with [`Propagation::Averaging`]), in a
//! cut one also to its crack polygons; near the surface, also to the surface in those
//! tetrahedra around that can hold something nearer. The direction goes to the closest of them, blended with those that are nearly as
//! close, so that it turns smoothly where two are equally close.
//! `sphere_may_touch`: the paper takes the nodal distance of the fragment that
//! holds p for a lower bound; it is not one, and is not used.

use glam::Vec3;

use super::feature::{FeatureId, triangle_is_beyond};
use super::locate::Location;
use super::occupancy::FragmentCells;
use super::propagate::Propagation;
use super::{FragmentField, View, boundary_faces};
use crate::fragment::{FragmentId, Fragments};
use crate::primitives::point_triangle::to_triangle;
use crate::tet_mesh::{NONE, TET_FACES, TetMesh};

/// Directions to surface nearer than this share of the mean edge are rounding
/// noise; the face's normal is used instead.
pub(super) const NOISE: f32 = 1e-5;
/// Features that are farther than the closest by up to this share of its distance
/// take part in the direction.
const BLEND: f32 = 0.1;

/// Depths up to this share of the mean edge are bettered by looking around.
const EXACT_DEPTH: f32 = 0.3;
/// Looking around stops after so many tetrahedra.
const MOST_TETS: usize = 6;
/// Candidates that take part in a direction, at most.
const MOST_CANDIDATES: usize = 12;

/// Depth and way out of a point inside a fragment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// Distance to the surface, not negative.
    pub depth: f32,
    /// Unit, outward: the shortest way out.
    pub normal: Vec3,
}

/// Signed distance with the direction in which it grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistance {
    /// Negative inside.
    pub distance: f32,
    /// Unit, outward.
    pub normal: Vec3,
}

/// The distance field of one fragment: a view, cheap to make and to copy.
#[derive(Clone, Copy, Debug)]
pub struct FragmentDistance<'a> {
    pub(super) field: &'a FragmentField,
    pub(super) fragments: &'a Fragments,
    pub(super) id: FragmentId,
    pub(super) view: &'a View,
}

/// Surface around a point: that of its tetrahedron (three planes, four faces), of its
/// nodes, of the outer surface's grid, and of tetrahedra around.
struct Candidates {
    to: [Vec3; MOST_CANDIDATES],
    /// The features that were asked so far, [`NONE`] for faces.
    asked: [FeatureId; MOST_CANDIDATES],
    count: usize,
    best: f32,
    best_at: usize,
}

impl Candidates {
    fn new() -> Self {
        Self {
            to: [Vec3::ZERO; MOST_CANDIDATES],
            asked: [NONE; MOST_CANDIDATES],
            count: 0,
            best: f32::INFINITY,
            best_at: 0,
        }
    }

    /// Features farther than this have no say in distance and direction.
    #[inline]
    fn far(&self) -> f32 {
        self.best.sqrt() * (1.0 + BLEND)
    }

    /// Adds a feature, once. Features come before faces.
    #[inline]
    fn ask(&mut self, field: &FragmentField, mesh: &TetMesh, feature: FeatureId, p: Vec3) {
        if feature != NONE && !self.asked[..self.count].contains(&feature) {
            self.asked[self.count.min(MOST_CANDIDATES - 1)] = feature;
            self.add(field.features.find_way_to(mesh, feature, p));
        }
    }

    /// Adds a crack polygon or boundary face if its plane is near enough to matter.
    #[inline]
    fn ask_in_reach(&mut self, field: &FragmentField, mesh: &TetMesh, feature: FeatureId, p: Vec3) {
        if !field
            .features
            .is_beyond(mesh, feature, p, self.far_squared())
        {
            self.ask(field, mesh, feature, p);
        }
    }

    /// The same for a triangle.
    #[inline]
    fn add_in_reach(&mut self, p: Vec3, corners: [Vec3; 3]) {
        if !triangle_is_beyond(p, &corners, self.far_squared()) {
            self.add(to_triangle(p, corners));
        }
    }

    fn far_squared(&self) -> f32 {
        self.best * ((1.0 + BLEND) * (1.0 + BLEND))
    }

    #[inline]
    fn add(&mut self, to: Vec3) {
        let distance_squared = to.length_squared();
        // When there is no room left, a nearer one still counts.
        let at = self.count.min(MOST_CANDIDATES - 1);
        if distance_squared < self.best {
            self.best = distance_squared;
            self.best_at = at;
        } else if at != self.count {
            return;
        }
        self.to[at] = to;
        self.count = at + 1;
    }
}

impl<'a> FragmentDistance<'a> {
    pub(super) fn new(
        field: &'a FragmentField,
        fragments: &'a Fragments,
        id: FragmentId,
        view: &'a View,
    ) -> Self {
        Self {
            field,
            fragments,
            id,
            view,
        }
    }

    /// The cells that the fragment occupies.
    #[inline]
    pub(super) fn cells(&self) -> &'a FragmentCells {
        self.view.cells(self.field, self.fragments, self.id)
    }

    /// The fragment that is asked.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn id(&self) -> FragmentId {
        self.id
    }

    /// The object that it is a fragment of.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn fragments(&self) -> &'a Fragments {
        self.fragments
    }

    /// A box around the fragment.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        (self.view.low, self.view.high)
    }

    /// Where `p` is in the fragment, or `None` when it is outside of it.
    #[must_use]
    #[inline]
    pub fn inside(&self, p: Vec3) -> Option<Location> {
        // NaN fails the comparison too.
        let in_box = p.cmpge(self.view.low).all() && p.cmple(self.view.high).all();
        if !in_box {
            return None;
        }
        let location = self.field.locate(self.fragments, p)?;
        (self
            .fragments
            .fragment_at(location.tet, location.barycentric)
            == self.id)
            .then_some(location)
    }

    /// Depth and way out, for a place that [`Self::inside`] has returned.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn penetration(&self, at: &Location) -> Penetration {
        let p = at.point;
        let (mesh, field) = (self.fragments.mesh(), self.field);
        let nodes = mesh.tets()[at.tet as usize];
        let cut = self.fragments.cut_index(at.tet);
        if cut == NONE && field.options.propagation() == Propagation::Averaging {
            return self.averaged(p, nodes);
        }
        let mut near = Candidates::new();
        let mut own = 0;
        if cut == NONE {
            self.ask_nodes(p, &nodes, &mut near);
        } else {
            let labels = self.fragments.node_fragment();
            let planes = self.fragments.cut(at.tet).map_or(&[][..], |c| c.planes());
            let features = field.features.of_cut(cut);
            let mut others = [NONE; 4];
            for (i, n) in nodes.into_iter().enumerate() {
                if labels[n as usize] == self.id {
                    own = i;
                    others[i] = n;
                }
            }
            for (k, plane) in planes.iter().enumerate() {
                if plane[own] != 0.0 {
                    near.ask(field, mesh, features[k], p);
                }
            }
            self.ask_nodes(p, &others, &mut near);
        }
        let (outer, least) = field.outer_surface.triangle_near(p);
        if least < near.far() {
            near.ask(field, mesh, outer, p);
        }
        for (_, corners) in boundary_faces(mesh, at.tet) {
            near.add_in_reach(p, corners);
        }
        let reach = EXACT_DEPTH * field.edge;
        if near.best < reach * reach {
            self.look_around(at, &mut near);
        }
        self.finish(at, own, &near)
    }

    /// Adds the surface in those tetrahedra around that the ball of the depth found so
    /// far may reach, going from one that holds surface to the next.
    fn look_around(&self, at: &Location, near: &mut Candidates) {
        let (mesh, field) = (self.fragments.mesh(), self.field);
        let labels = self.fragments.node_fragment();
        let p = at.point;
        let mut seen = [at.tet; MOST_TETS];
        let (mut count, mut next) = (1, 0);
        while next < count {
            let tet = seen[next];
            let across = mesh.neighbours()[tet as usize];
            next += 1;
            for (k, &face) in TET_FACES.iter().enumerate() {
                let other = across[k];
                if other == NONE || count == MOST_TETS || seen[..count].contains(&other) {
                    continue;
                }
                let cut = self.fragments.cut_index(other);
                let bounded = mesh.neighbours()[other as usize].contains(&NONE);
                if cut == NONE && !bounded {
                    continue;
                }
                let nodes = mesh.tets()[tet as usize];
                let corner = |i: usize| mesh.positions()[nodes[i] as usize] - p;
                let [a, b, c] = [corner(face[0]), corner(face[1]), corner(face[2])];
                let normal = (b - a).cross(c - a);
                let height = normal.dot(a);
                if height * height >= near.best * normal.length_squared() {
                    continue;
                }
                let nodes = mesh.tets()[other as usize];
                let Some(own) = (0..4).find(|&i| labels[nodes[i] as usize] == self.id) else {
                    continue;
                };
                seen[count] = other;
                count += 1;
                if cut != NONE {
                    let planes = self.fragments.cut(other).map_or(&[][..], |c| c.planes());
                    let features = field.features.of_cut(cut);
                    for (k, plane) in planes.iter().enumerate() {
                        if plane[own] != 0.0 {
                            near.ask_in_reach(field, mesh, features[k], p);
                        }
                    }
                }
                if bounded {
                    for (_, corners) in boundary_faces(mesh, other) {
                        near.add_in_reach(p, corners);
                    }
                }
            }
        }
    }

    /// Asks the features of nodes ([`NONE`] is none), those that can be closest first.
    #[inline]
    fn ask_nodes(&self, p: Vec3, nodes: &[u32; 4], near: &mut Candidates) {
        let (mesh, field) = (self.fragments.mesh(), self.field);
        // A convex feature lies beyond the plane across the way to its closest
        // point: it is at least so far from p (see `propagate`). On the surface
        // there is no such way.
        let noise = NOISE * field.edge;
        let mut least = [f32::INFINITY; 4];
        for i in 0..4 {
            if nodes[i] != NONE {
                let node = &field.nodes[nodes[i] as usize];
                let back = mesh.positions()[nodes[i] as usize] - p;
                let bound = node.distance + node.normal.dot(back);
                least[i] = if node.distance <= noise { 0.0 } else { bound };
            }
        }
        let first = (0..4).fold(0, |best, i| if least[i] < least[best] { i } else { best });
        for i in [first, 0, 1, 2, 3] {
            if least[i] < near.far() {
                near.ask(field, mesh, field.nodes[nodes[i] as usize].feature, p);
            }
        }
    }

    /// Whether a sphere may touch the fragment: `false` only if it certainly does not.
    #[must_use]
    #[inline]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        let (low, high) = (self.view.low, self.view.high);
        let reach = radius + NOISE * self.field.edge;
        let off = p - p.clamp(low, high);
        if off.length_squared() > reach * reach {
            return false;
        }
        // The fragment's own cells first: they are few, and most spheres fail there.
        self.field.occupancy.may_touch(self.cells(), p, radius)
            && self.field.outer_surface.least_distance(p) <= reach
    }

    /// Whether `p` may be deeper in the fragment than `depth`: `false` only if it certainly is
    /// not. What is inside is no deeper than the way to any place that is not, such as a
    /// place on the unbroken object's surface: one read, and the distance to one triangle.
    #[must_use]
    pub(crate) fn may_be_deeper(&self, p: Vec3, depth: f32) -> bool {
        let (triangle, _) = self.field.outer_surface.triangle_near(p);
        if triangle == NONE {
            return true;
        }
        let to = self
            .field
            .features
            .find_way_to(self.fragments.mesh(), triangle, p);
        // The factor covers rounding. NaN is not shallow.
        let is_shallow = to.length_squared() * (1.0 + 1e-4) < depth * depth;
        !is_shallow
    }

    /// The signed distance of `p` (negative inside), if `p` is inside or its
    /// distance is at most `max`.
    #[must_use]
    pub fn signed_distance(&self, p: Vec3, max: f32) -> Option<SignedDistance> {
        if let Some(at) = self.inside(p) {
            let found = self.penetration(&at);
            return Some(SignedDistance {
                distance: -found.depth,
                normal: found.normal,
            });
        }
        self.nearest(p, max).map(|found| SignedDistance {
            distance: found.distance,
            normal: found.normal,
        })
    }

    /// Equations 1 and 2 over the four nodes, and the least with the outer surface.
    fn averaged(&self, p: Vec3, nodes: [u32; 4]) -> Penetration {
        let (mesh, field) = (self.fragments.mesh(), self.field);
        let (mut weights, mut depth, mut normal) = (0.0, 0.0, Vec3::ZERO);
        for n in nodes {
            let node = &field.nodes[n as usize];
            let along = mesh.positions()[n as usize] - p;
            // At a node its own values win over all others.
            let weight = 1.0 / along.length_squared().max(NOISE * field.edge * field.edge);
            weights += weight;
            depth += weight * (node.distance + node.normal.dot(along));
            normal += node.normal * weight;
        }
        let mut found = Penetration {
            depth: (depth / weights).max(0.0),
            normal: normal
                .try_normalize()
                .unwrap_or(field.nodes[nodes[0] as usize].normal),
        };
        let (outer, least) = field.outer_surface.triangle_near(p);
        if least < found.depth {
            let to = field.features.find_way_to(mesh, outer, p);
            let distance = to.length();
            if distance < found.depth {
                found.depth = distance;
                found.normal = if distance > NOISE * field.edge {
                    to / distance
                } else {
                    field.features.normal(mesh, outer)
                };
            }
        }
        found
    }

    /// The least of the candidates, and a direction blended of the nearly least.
    fn finish(&self, at: &Location, own: usize, near: &Candidates) -> Penetration {
        let depth = near.best.sqrt();
        let noise = NOISE * self.field.edge;
        if depth <= noise {
            return Penetration {
                depth,
                normal: self.face_normal_at(at, own),
            };
        }
        let best = near.to[near.best_at] / depth;
        let far = depth * (1.0 + BLEND);
        let mut sum = best;
        for (k, to) in near.to[..near.count].iter().enumerate() {
            let distance_squared = to.length_squared();
            if k != near.best_at && distance_squared < far * far {
                let distance = distance_squared.sqrt();
                sum += *to * ((far - distance) / (BLEND * depth * distance));
            }
        }
        // Directions that nearly cancel say nothing: the closest one decides.
        let length = sum.length();
        Penetration {
            depth,
            normal: if length > 0.5 { sum / length } else { best },
        }
    }

    /// The outward normal of the face on which a point lies that is on the surface
    /// up to rounding.
    #[cold]
    fn face_normal_at(&self, at: &Location, own: usize) -> Vec3 {
        let (mesh, field) = (self.fragments.mesh(), self.field);
        let p = at.point;
        let mut best = (f32::INFINITY, Vec3::X);
        for (_, [a, b, c]) in boundary_faces(mesh, at.tet) {
            let distance = to_triangle(p, [a, b, c]).length_squared();
            if distance < best.0 {
                best = (distance, (b - a).cross(c - a).normalize_or(Vec3::X));
            }
        }
        if let Some(cut) = self.fragments.cut(at.tet) {
            let features = field.features.of_cut(self.fragments.cut_index(at.tet));
            for (k, plane) in cut.planes().iter().enumerate() {
                let distance = field
                    .features
                    .find_way_to(mesh, features[k], p)
                    .length_squared();
                if plane[own] != 0.0 && distance < best.0 {
                    let normal = field.features.normal(mesh, features[k]);
                    best = (distance, if plane[own] > 0.0 { -normal } else { normal });
                }
            }
        }
        // Surface that only touches this tetrahedron: the nodes know the way.
        let nodes = mesh.tets()[at.tet as usize];
        for (i, n) in nodes.into_iter().enumerate() {
            let node = &field.nodes[n as usize];
            if best.0.is_infinite() && at.barycentric[i] > 0.2 {
                best.1 = node.normal;
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fragment_field::FieldOptions;
    use crate::testing::{Rng, box_grid};
    use std::sync::Arc;

    #[test]
    fn candidates_keep_the_nearest_when_there_is_no_room() {
        let mut near = Candidates::new();
        for k in 0..20 {
            // Farther and farther, but for one that comes late.
            let length = if k == 17 { 0.5 } else { 1.0 + 0.1 * k as f32 };
            near.add(Vec3::X * length);
        }
        assert_eq!(near.count, MOST_CANDIDATES);
        assert_eq!((near.best, near.best_at), (0.25, MOST_CANDIDATES - 1));
        for (k, to) in near.to[..MOST_CANDIDATES - 1].iter().enumerate() {
            assert_eq!(to.x, 1.0 + 0.1 * k as f32);
        }
        assert!((near.far() - 0.55).abs() < 1e-6);
        assert!((near.far_squared() - 0.55 * 0.55).abs() < 1e-6);
    }

    #[test]
    fn a_direction_is_blended_of_what_is_nearly_as_near() {
        let fragments = Fragments::new(Arc::new(box_grid([2; 3], Vec3::splat(2.0))));
        let field = FragmentField::build(&fragments, &FieldOptions::default()).unwrap();
        let distance = field.of(&fragments, FragmentId(0));
        let at = distance.inside(Vec3::new(0.9, 0.8, 0.7)).unwrap();
        let finish = |all: &[Vec3]| {
            let mut near = Candidates::new();
            all.iter().for_each(|&to| near.add(to));
            distance.finish(&at, 0, &near)
        };
        // Half-way to what no longer counts, it counts half; beyond, nothing.
        let (x, y, z) = (Vec3::X * 2.0, Vec3::Y * 2.1, Vec3::Z * 2.3);
        let want = Vec3::new(1.0, 0.5, 0.0).normalize();
        for all in [[x, y, z], [z, y, x], [y, z, x]] {
            let found = finish(&all);
            assert_eq!(found.depth, 2.0);
            assert!(found.normal.distance(want) < 1e-5, "{found:?}");
        }
        // Ways that cancel say nothing.
        assert_eq!(finish(&[x, -x * 1.001]).normal, Vec3::X);
        assert!(finish(&[x, -y]).normal.y < 0.0);
    }

    #[test]
    fn a_feature_is_asked_once_and_only_within_reach() {
        let fragments = Fragments::new(Arc::new(box_grid([2; 3], Vec3::splat(2.0))));
        let field = FragmentField::build(&fragments, &FieldOptions::default()).unwrap();
        let mesh = fragments.mesh();
        let p = Vec3::new(0.2, 0.9, 1.1);
        let to = |f: u32| field.features.find_way_to(mesh, f, p);
        let all = 0..field.features.outer_count() as u32;
        let nearest = all
            .clone()
            .min_by(|&a, &b| to(a).length().total_cmp(&to(b).length()));
        let nearest = nearest.unwrap();
        let mut near = Candidates::new();
        near.ask(&field, mesh, nearest, p);
        near.ask(&field, mesh, nearest, p);
        near.ask(&field, mesh, NONE, p);
        assert_eq!((near.count, near.asked[0]), (1, nearest));
        assert!((near.best.sqrt() - 0.2).abs() < 1e-6);
        for f in all {
            let planes = field.features.normal(mesh, f).dot(to(f)).abs();
            let before = near.count;
            near.ask_in_reach(&field, mesh, f, p);
            let counts = planes < 0.2 * 1.09 && f != nearest && before < MOST_CANDIDATES;
            assert_eq!(near.count - before, usize::from(counts), "{f}: {planes}");
            let before = near.count;
            near.add_in_reach(p, field.features.outer_corners(mesh, f as usize));
            let counts = planes < 0.2 * 1.09 && before < MOST_CANDIDATES;
            assert_eq!(near.count - before, usize::from(counts));
            near.count = 1;
        }
    }

    #[test]
    fn how_deep_a_place_can_be_is_the_way_to_one_triangle() {
        let fragments = Fragments::new(Arc::new(box_grid([3; 3], Vec3::splat(3.0))));
        let field = FragmentField::build(&fragments, &FieldOptions::default()).unwrap();
        let distance = field.of(&fragments, FragmentId(0));
        let mut rng = Rng(3);
        for _ in 0..500 {
            let p = rng.in_box(Vec3::ZERO, Vec3::splat(3.0));
            let (triangle, _) = field.outer_surface.triangle_near(p);
            let way = field
                .features
                .find_way_to(fragments.mesh(), triangle, p)
                .length();
            assert!(distance.may_be_deeper(p, way * 0.999 - 1e-6));
            assert!(!distance.may_be_deeper(p, way * 1.001 + 1e-6));
        }
        // Off the grid and without a number nothing is certain.
        assert!(distance.may_be_deeper(Vec3::splat(1e3), 1e9));
        assert!(distance.may_be_deeper(Vec3::NAN, 1.0));
    }

    #[test]
    fn spheres_that_reach_the_box_may_touch_and_those_well_away_do_not() {
        let fragments = Fragments::new(Arc::new(box_grid([3; 3], Vec3::splat(3.0))));
        let field = FragmentField::build(&fragments, &FieldOptions::default()).unwrap();
        let distance = field.of(&fragments, FragmentId(0));
        let mut rng = Rng(8);
        let mut told = [0; 2];
        for _ in 0..2000 {
            let p = rng.in_box(Vec3::splat(-2.0), Vec3::splat(5.0));
            let gap = (p - p.clamp(Vec3::ZERO, Vec3::splat(3.0))).length();
            let radius = rng.range(0.0, 2.0);
            let may = distance.sphere_may_touch(p, radius);
            // The box of the object decides, exactly.
            if (gap - radius).abs() > 1e-3 {
                assert_eq!(may, gap < radius, "{p} {radius}");
                told[usize::from(may)] += 1;
            }
        }
        assert!(told.iter().all(|&count| count > 300), "{told:?}");
    }
}
