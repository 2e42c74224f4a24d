//! The queries of Algorithm 1, and what a positive tolerance needs besides them,
//! asked of one fragment D(f).
//!
//! | query | paper | answer |
//! | --- | --- | --- |
//! | `inside` | insideTest, §4.3 | tetrahedron by grid, then plane signs |
//! | `penetration` | penetration, §4.4 | least of a few features' distances |
//! | `sphere_may_touch` | sphereTest, §4.5 | box, old surface, occupied cells |
//! | `nearest` | - | exact, shell by shell of cells |
//! | `faces_near` | - | exact, all cells in reach |
//!
//! **Deviations**. `penetration`: in a whole tetrahedron the least distance to the
//! four nodes' features (equations 1 and 2 only with [`Propagation::Averaging`]);
//! the direction goes to the closest of them, blended with those that are nearly as
//! close, so that it turns smoothly where two are equally close.
//! `sphere_may_touch`: the paper takes the nodal distance of the fragment that
//! holds p for a lower bound; it is not one, and is not used.

use glam::Vec3;

use super::feature::FeatureId;
use super::locate::Location;
use super::propagate::Propagation;
use super::{FragmentField, View, boundary_faces};
use crate::cut_piece::{CornerPoints, Piece, Side};
use crate::fragment::{FragmentId, Fragments};
use crate::fragment_surface::FaceKind;
use crate::primitives::point_triangle::{to_quad, to_triangle};
use crate::tet_mesh::{NONE, TetMesh};

/// Directions to surface nearer than this share of the mean edge are rounding
/// noise; the face's normal is used instead.
const NOISE: f32 = 1e-5;
/// Features that are farther than the closest by up to this share of its distance
/// take part in the direction.
const BLEND: f32 = 0.1;

/// Depth and way out of a point inside a fragment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// Distance to the surface, not negative.
    pub depth: f32,
    /// Unit, outward: the shortest way out.
    pub normal: Vec3,
}

/// The surface nearest to a point outside a fragment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Distance to the surface, not negative.
    pub distance: f32,
    /// Unit, from the surface to the point; the face's normal where they touch.
    pub normal: Vec3,
    /// The closest point of the surface.
    pub point: Vec3,
    /// The outward unit normal of the face it lies on.
    pub face_normal: Vec3,
    /// Whether that face is old or a crack.
    pub kind: FaceKind,
}

/// A face of a fragment's real surface near a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearFace {
    /// Its outward unit normal.
    pub normal: Vec3,
    /// From the point to the face, not negative.
    pub distance: f32,
    /// From the face's plane to the point along the normal: negative inside.
    pub plane_distance: f32,
    /// Whether it is old or a crack.
    pub kind: FaceKind,
    /// The tetrahedron in which it lies.
    pub tet: u32,
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
    field: &'a FragmentField,
    fragments: &'a Fragments,
    id: FragmentId,
    view: &'a View,
}

/// Up to twelve features around a point: of three planes, four nodes, the old
/// surface's grid, four faces.
struct Candidates {
    to: [Vec3; 12],
    /// The features that were asked so far.
    asked: [FeatureId; 8],
    count: usize,
    best: f32,
    best_at: usize,
}

impl Candidates {
    fn new() -> Self {
        Self {
            to: [Vec3::ZERO; 12],
            asked: [NONE; 8],
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
            self.asked[self.count] = feature;
            self.add(field.features.to(mesh, feature, p));
        }
    }

    #[inline]
    fn add(&mut self, to: Vec3) {
        let distance_squared = to.length_squared();
        if distance_squared < self.best {
            self.best = distance_squared;
            self.best_at = self.count;
        }
        self.to[self.count] = to;
        self.count += 1;
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

    /// The fragment that is asked.
    #[must_use]
    pub fn id(&self) -> FragmentId {
        self.id
    }

    /// A box around the fragment.
    #[must_use]
    pub fn bounds(&self) -> (Vec3, Vec3) {
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
        let location = self.field.tets.locate(self.fragments.mesh(), p)?;
        (self
            .fragments
            .fragment_at(location.tet, location.barycentric)
            == self.id)
            .then_some(location)
    }

    /// Depth and way out, for a place that [`Self::inside`] has returned.
    #[must_use]
    pub fn penetration(&self, at: &Location) -> Penetration {
        let p = at.point;
        let (mesh, field) = (self.fragments.mesh(), self.field);
        let nodes = mesh.tets()[at.tet as usize];
        let cut = self.fragments.cut_index(at.tet);
        if cut == NONE && field.options.propagation == Propagation::Averaging {
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
        let (old, least) = field.old_surface.triangle_near(p);
        if least < near.far() {
            near.ask(field, mesh, old, p);
        }
        for (_, corners) in boundary_faces(mesh, at.tet) {
            near.add(to_triangle(p, corners));
        }
        self.finish(at, own, &near)
    }

    /// Asks the features of nodes ([`NONE`] is none), those that can be closest first.
    #[inline]
    fn ask_nodes(&self, p: Vec3, nodes: &[u32; 4], near: &mut Candidates) {
        let (mesh, field) = (self.fragments.mesh(), self.field);
        // A convex feature lies beyond the plane across the way to its closest
        // point: it is at least so far from p (see `propagate`). On the surface
        // there is no such way.
        let noise = NOISE * field.edge;
        let least = nodes.map(|n| {
            if n == NONE {
                return f32::INFINITY;
            }
            let node = &field.nodes[n as usize];
            if node.distance <= noise {
                return 0.0;
            }
            node.distance + node.normal.dot(mesh.positions()[n as usize] - p)
        });
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
    pub fn sphere_may_touch(&self, p: Vec3, radius: f32) -> bool {
        let (low, high) = (self.view.low, self.view.high);
        let reach = radius + NOISE * self.field.edge;
        let off = p - p.clamp(low, high);
        if off.length_squared() > reach * reach {
            return false;
        }
        if self.field.old_surface.least_distance(p) > reach {
            return false;
        }
        self.field.occupancy.may_touch(&self.view.cells, p, radius)
    }

    /// The exact distance from `p`, a point outside the fragment, to its surface,
    /// if it is at most `max`. Points inside other fragments count as outside.
    #[must_use]
    pub fn nearest(&self, p: Vec3, max: f32) -> Option<Nearest> {
        if !self.sphere_may_touch(p, max) {
            return None;
        }
        let mut best: Option<(NearFace, Vec3)> = None;
        let mut limit = max;
        self.for_each_face(p, &mut limit, |face, to, limit| {
            if face.distance <= *limit {
                *limit = face.distance;
                best = Some((face, to));
            }
        });
        best.map(|(face, to)| Nearest {
            distance: face.distance,
            normal: if face.distance > NOISE * self.field.edge {
                -to / face.distance
            } else {
                face.normal
            },
            point: p + to,
            face_normal: face.normal,
            kind: face.kind,
        })
    }

    /// The faces of the fragment's real surface within `max` of `p`, wherever `p`
    /// is. `out` is cleared first; a face appears once for each tetrahedron it
    /// passes. Order is fixed but has no meaning.
    pub fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        out.clear();
        if !self.sphere_may_touch(p, max) {
            return;
        }
        let mut limit = max;
        self.for_each_face(p, &mut limit, |face, _, _| {
            let known =
                |f: &NearFace| f.tet == face.tet && f.kind == face.kind && f.normal == face.normal;
            if face.distance <= max && !out.iter().any(known) {
                out.push(face);
            }
        });
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

    /// Equations 1 and 2 over the four nodes, and the least with the old surface.
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
        let (old, least) = field.old_surface.triangle_near(p);
        if least < found.depth {
            let to = field.features.to(mesh, old, p);
            let distance = to.length();
            if distance < found.depth {
                found.depth = distance;
                found.normal = if distance > NOISE * field.edge {
                    to / distance
                } else {
                    field.features.normal(mesh, old)
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
                let distance = field.features.to(mesh, features[k], p).length_squared();
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

    /// Calls `visit` with the faces of the real surface in the cells around `p`,
    /// nearest shell of cells first, until a shell is farther than the limit. Every
    /// face nearer than the limit is visited, some more than once.
    fn for_each_face(
        &self,
        p: Vec3,
        limit: &mut f32,
        mut visit: impl FnMut(NearFace, Vec3, &mut f32),
    ) {
        let cells = &self.field.tets.cells;
        let centre = cells.cell_of(p);
        let low = cells.clamped(self.view.low);
        let high = cells.clamped(self.view.high);
        // From the shell that first reaches the fragment's cells to the one that
        // holds them all.
        let gap = |i: usize| (low[i] - centre[i]).max(centre[i] - high[i]).max(0);
        let span = |i: usize| (centre[i] - low[i]).abs().max((high[i] - centre[i]).abs());
        let first = gap(0).max(gap(1)).max(gap(2));
        let last = span(0).max(span(1)).max(span(2));
        let corner = cells.low_corner(centre);
        let inset = (p - corner)
            .min(corner + Vec3::splat(cells.size) - p)
            .min_element()
            .max(0.0);
        for shell in first..=last {
            // Everything outside the cube of inner shells is at least this far.
            let least = (shell - 1) as f32 * cells.size + inset;
            if shell > 0 && least * (1.0 - 1e-5) > *limit {
                return;
            }
            let from = |i: usize| (centre[i] - shell).max(low[i]);
            let to = |i: usize| (centre[i] + shell).min(high[i]);
            for z in from(2)..=to(2) {
                for y in from(1)..=to(1) {
                    let rim = (z - centre[2]).abs() == shell || (y - centre[1]).abs() == shell;
                    let mut x = from(0);
                    while x <= to(0) {
                        if let Some(cell) = cells.index([x, y, z]) {
                            for &tet in self.field.tets.tets_in(cell) {
                                self.faces_of_tet(tet, p, limit, &mut visit);
                            }
                        }
                        // Inside the rim only the two ends belong to the shell.
                        x = if rim || x >= centre[0] + shell || shell == 0 {
                            x + 1
                        } else if x < centre[0] - shell + 1 {
                            (centre[0] + shell).max(x + 1)
                        } else {
                            centre[0] + shell
                        };
                    }
                }
            }
        }
    }

    /// The faces of the fragment's real surface in one tetrahedron.
    fn faces_of_tet(
        &self,
        tet: u32,
        p: Vec3,
        limit: &mut f32,
        visit: &mut impl FnMut(NearFace, Vec3, &mut f32),
    ) {
        let mesh = self.fragments.mesh();
        let cut = self.fragments.cut(tet);
        let across = mesh.neighbours()[tet as usize];
        let bounded = across.contains(&NONE);
        if cut.is_none() && !bounded {
            return;
        }
        let labels = self.fragments.node_fragment();
        let nodes = mesh.tets()[tet as usize];
        let own = (0..4).find(|&i| labels[nodes[i] as usize] == self.id);
        let Some(own) = own else { return };
        // Most tetrahedra of a cell are out of a small limit's reach.
        let [a, b, c, d] = mesh.corners(tet);
        let (low, high) = (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)));
        if (p - p.clamp(low, high)).length_squared() > *limit * *limit {
            return;
        }
        let Some(cut) = cut else {
            for (_, corners) in boundary_faces(mesh, tet) {
                let to = to_triangle(p, corners);
                let normal = (corners[1] - corners[0])
                    .cross(corners[2] - corners[0])
                    .normalize_or_zero();
                visit(
                    near_face(normal, to, corners[0] - p, FaceKind::Old, tet),
                    to,
                    limit,
                );
            }
            return;
        };
        let features = self.field.features.of_cut(self.fragments.cut_index(tet));
        if cut.planes().len() == 1 && !bounded {
            let quad = self.field.features.crack(features[0]);
            let to = to_quad(p, *quad);
            let normal = super::feature::quad_normal(quad);
            let outward = if cut.planes()[0][own] > 0.0 {
                -normal
            } else {
                normal
            };
            visit(
                near_face(outward, to, quad[0] - p, FaceKind::Crack, tet),
                to,
                limit,
            );
            return;
        }
        // The polygons at the opening of the cracks, and whole faces, hold what is
        // left of them: if none is in reach, nothing is.
        let reach = *limit * *limit * (1.0 + 1e-4);
        let in_reach = |to: Vec3| to.length_squared() <= reach;
        let some = (0..cut.planes().len())
            .any(|k| in_reach(self.field.features.to(mesh, features[k], p)))
            || boundary_faces(mesh, tet).any(|(_, corners)| in_reach(to_triangle(p, corners)));
        if !some {
            return;
        }
        let piece = Piece::of(Some(cut), own);
        let mut points = CornerPoints::new(mesh, tet, Some(cut));
        for polygon in piece.polygons() {
            let kind = match polygon.side {
                Side::Face(k) if across[k as usize] == NONE => FaceKind::Old,
                Side::Face(_) => continue,
                Side::Plane(_) => FaceKind::Crack,
            };
            let mut corners = [Vec3::ZERO; 6];
            let count = polygon.corners().len();
            for (slot, &corner) in corners.iter_mut().zip(polygon.corners()) {
                *slot = points.at(corner).as_vec3();
            }
            let (mut to, mut normal) = (Vec3::splat(f32::INFINITY), Vec3::ZERO);
            for i in 2..count {
                let triangle = [corners[0], corners[i - 1], corners[i]];
                let candidate = to_triangle(p, triangle);
                if candidate.length_squared() < to.length_squared() {
                    to = candidate;
                }
                normal += (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]);
            }
            let normal = normal.normalize_or_zero();
            visit(near_face(normal, to, corners[0] - p, kind, tet), to, limit);
        }
    }
}

fn near_face(normal: Vec3, to: Vec3, corner: Vec3, kind: FaceKind, tet: u32) -> NearFace {
    NearFace {
        normal,
        distance: to.length(),
        plane_distance: -corner.dot(normal),
        kind,
        tet,
    }
}
