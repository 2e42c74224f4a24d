//! What the surface looks like around a point of the tree: a face, an edge or a
//! vertex, with its normal and tangent directions.
//!
//! Contacts between pieces that have just parted choose their normal against it
//! (see [`super::normal_choice`]). Three observations keep it cheap:
//! - A node lies on its fragment's surface only if it lies on the boundary of the
//!   whole object, and cracks keep away from nodes. So the feature of a node is
//!   baked once and never changes.
//! - An edge is cut at most once, and later cracks miss the cut. So the feature of
//!   a cut point is computed once, when its edge is cut: the normal of the crack
//!   and, where the edge lies on the boundary, the normal of the boundary.
//! - The two sides of a cut differ by the sign of the crack's normal alone.
//!
//! Features therefore live in shared pools, one of the bake and one per fracture,
//! and trees refer to them.

use std::sync::Arc;

use glam::Vec3;

use crate::fragment_field::object_data::{ObjectData, ObjectDataError, all_fit, has_length};
use crate::tet_mesh::{NONE, TET_FACES, TetMesh};
use crate::{Fragments, Split};

/// What kind of surface point it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureKind {
    /// Not on the surface of its fragment.
    Interior,
    /// The surface is nearly flat here.
    Face,
    /// A crease runs through the point.
    Edge,
    /// More than one crease meets here.
    Vertex,
}

/// Faces whose normals differ by less than this count as one flat piece (cosine
/// of 30 degrees): tessellations of smooth shapes stay below, creases above.
pub const CREASE_COSINE: f32 = 0.866;

/// Most tangents that are kept of one point; a vertex with more edges keeps the first.
const TANGENTS: usize = 12;

/// The surface around a point, in the frame of its body.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Its kind.
    pub kind: FeatureKind,
    /// Unit, out of the body; zero for interior points.
    pub normal: Vec3,
    tangents: [Vec3; TANGENTS],
    tangent_count: u8,
}

impl Feature {
    pub(super) const INTERIOR: Self = Self {
        kind: FeatureKind::Interior,
        normal: Vec3::ZERO,
        tangents: [Vec3::ZERO; TANGENTS],
        tangent_count: 0,
    };

    /// Unit directions along the body's surface: along creases and into faces.
    /// Empty for a face, whose tangents are all directions across the normal.
    #[must_use]
    pub fn tangents(&self) -> &[Vec3] {
        &self.tangents[..self.tangent_count as usize]
    }

    pub(super) fn new(kind: FeatureKind, normal: Vec3) -> Self {
        Self {
            kind,
            normal: normal.normalize_or_zero(),
            ..Self::INTERIOR
        }
    }

    fn add_tangent(&mut self, direction: Vec3) {
        let unit = direction.normalize_or_zero();
        if unit != Vec3::ZERO && (self.tangent_count as usize) < TANGENTS {
            self.tangents[self.tangent_count as usize] = unit;
            self.tangent_count += 1;
        }
    }
}

/// Names a feature: pool, place in it, side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FeatureRef {
    pub index: u32,
    pub pool: u16,
    /// 0: the side of the cut edge's first end; 1: the other.
    pub side: u16,
}

impl FeatureRef {
    pub const INTERIOR: Self = Self {
        index: NONE,
        pool: 0,
        side: 0,
    };
}

/// Features of the bake, in lists: most have no tangents.
#[derive(Clone, Debug, Default)]
pub(super) struct BakedFeatures {
    /// The kind, and 16 times the number of tangents.
    pub kinds: Vec<u8>,
    pub normals: Vec<Vec3>,
    pub tangents: Vec<Vec3>,
    /// Where the tangents of each begin.
    starts: Vec<u32>,
}

const KINDS: [FeatureKind; 4] = [
    FeatureKind::Interior,
    FeatureKind::Face,
    FeatureKind::Edge,
    FeatureKind::Vertex,
];

impl BakedFeatures {
    pub fn push(&mut self, feature: &Feature) {
        self.starts.push(self.tangents.len() as u32);
        self.kinds
            .push(feature.kind as u8 | feature.tangent_count << 4);
        self.normals.push(feature.normal);
        self.tangents.extend(feature.tangents());
    }

    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// From stored numbers: kinds of all nodes, the rest of those on the surface.
    pub fn from_data(data: &ObjectData<'_>) -> Result<Self, ObjectDataError> {
        all_fit("the kinds of points", &data.point_kinds, |k| {
            (k & 15 < 4) & (usize::from(k >> 4) <= TANGENTS) & (k == 0 || k & 15 != 0)
        })?;
        let kinds: Vec<u8> = data
            .point_kinds
            .iter()
            .copied()
            .filter(|&k| k != 0)
            .collect();
        let mut total = 0;
        let starts = kinds.iter().map(|&k| {
            total += u32::from(k >> 4);
            total - u32::from(k >> 4)
        });
        let starts = starts.collect();
        let (normals, tangents) = (&*data.point_normals, &*data.point_tangents);
        has_length("the normals of points", normals.len(), kinds.len())?;
        has_length("the tangents of points", tangents.len(), total as usize)?;
        // A normal is zero where faces look in all directions.
        let is_short = |v: [f32; 3]| Vec3::from_array(v).length_squared() <= 1.0 + 1e-3;
        all_fit("the normals of points", normals, is_short)?;
        all_fit("the tangents of points", tangents, is_short)?;
        let vectors = |list: &[[f32; 3]]| list.iter().map(|&v| Vec3::from_array(v)).collect();
        Ok(Self {
            kinds,
            normals: vectors(normals),
            tangents: vectors(tangents),
            starts,
        })
    }

    fn get(&self, index: usize) -> Feature {
        let kind = self.kinds[index];
        let (count, start) = (usize::from(kind >> 4), self.starts[index] as usize);
        let mut feature = Feature {
            kind: KINDS[usize::from(kind & 15)],
            normal: self.normals[index],
            tangent_count: kind >> 4,
            ..Feature::INTERIOR
        };
        feature.tangents[..count].copy_from_slice(&self.tangents[start..start + count]);
        feature
    }
}

/// The pools that a tree refers to: the bake's first, then one per fracture.
#[derive(Clone, Debug, Default)]
pub(super) struct FeaturePools {
    baked: Arc<BakedFeatures>,
    cuts: Vec<Arc<Vec<CutFeature>>>,
}

impl FeaturePools {
    pub fn new(baked: BakedFeatures) -> Self {
        Self {
            baked: Arc::new(baked),
            cuts: Vec::new(),
        }
    }

    pub fn baked(&self) -> &BakedFeatures {
        &self.baked
    }

    /// These pools and one more.
    pub fn with(&self, pool: &Arc<Vec<CutFeature>>) -> Self {
        let mut cuts = Vec::with_capacity(self.cuts.len() + 1);
        cuts.extend_from_slice(&self.cuts);
        cuts.push(Arc::clone(pool));
        Self {
            baked: Arc::clone(&self.baked),
            cuts,
        }
    }

    /// The number that the next pool will have.
    pub fn next_pool(&self) -> u16 {
        self.cuts.len() as u16 + 1
    }

    pub fn get(&self, name: FeatureRef) -> Feature {
        if name.index == NONE {
            return Feature::INTERIOR;
        }
        match name.pool {
            0 => self.baked.get(name.index as usize),
            pool => self.cuts[pool as usize - 1][name.index as usize].side(name.side),
        }
    }
}

/// The surface around the point at which an edge was cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CutFeature {
    /// Sum of the crack's unit normals, out of the side of the edge's first end.
    crack: Vec3,
    crack_faces: u32,
    /// Sum of the unit normals of the boundary; zero inside the object.
    boundary: Vec3,
}

impl CutFeature {
    fn side(&self, side: u16) -> Feature {
        let crack = if side == 0 { self.crack } else { -self.crack };
        let flat = self.crack.length() >= CREASE_COSINE * self.crack_faces as f32;
        let crack = crack.normalize_or_zero();
        if self.boundary == Vec3::ZERO {
            let kind = if flat {
                FeatureKind::Face
            } else {
                FeatureKind::Edge
            };
            return Feature::new(kind, crack);
        }
        let boundary = self.boundary.normalize_or_zero();
        let mut feature = Feature::new(FeatureKind::Edge, crack + boundary);
        let along = crack.cross(boundary);
        feature.add_tangent(along);
        feature.add_tangent(-along);
        // From the edge into either face, away from the other: the wedge is convex,
        // since crack and boundary share the straight angle between both sides.
        feature.add_tangent(boundary * boundary.dot(crack) - crack);
        feature.add_tangent(crack * crack.dot(boundary) - boundary);
        feature
    }
}

/// Features of all nodes: those of the boundary from their boundary faces.
pub(super) fn features_of_nodes(mesh: &TetMesh) -> Vec<Feature> {
    let faces: Vec<([u32; 3], Vec3)> = mesh
        .boundary()
        .map(|f| {
            let [a, b, c] = f.nodes.map(|n| mesh.positions()[n as usize]);
            (f.nodes, (b - a).cross(c - a).normalize_or_zero())
        })
        .collect();
    let mut fans: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions().len()];
    for (i, (nodes, _)) in faces.iter().enumerate() {
        for &n in nodes {
            fans[n as usize].push(i as u32);
        }
    }
    fans.iter()
        .enumerate()
        .map(|(n, fan)| feature_of_node(mesh, n as u32, fan, &faces))
        .collect()
}

fn feature_of_node(mesh: &TetMesh, node: u32, fan: &[u32], faces: &[([u32; 3], Vec3)]) -> Feature {
    if fan.is_empty() {
        return Feature::INTERIOR;
    }
    let p = mesh.positions()[node as usize];
    let mut sum = Vec3::ZERO;
    // Each edge at the node with the normals of its two faces.
    let mut edges: Vec<(u32, Vec3, Option<Vec3>)> = Vec::new();
    for &f in fan {
        let (nodes, normal) = faces[f as usize];
        let others = nodes.map(|n| mesh.positions()[n as usize] - p);
        let mut sides = (0..3).filter(|&i| nodes[i] != node);
        let (i, j) = (sides.next().unwrap_or(0), sides.next().unwrap_or(0));
        let cosine = others[i]
            .normalize_or_zero()
            .dot(others[j].normalize_or_zero());
        sum += normal * libm::acosf(cosine.clamp(-1.0, 1.0));
        for k in [i, j] {
            match edges.iter_mut().find(|e| e.0 == nodes[k]) {
                Some(edge) => edge.2 = Some(normal),
                None => edges.push((nodes[k], normal, None)),
            }
        }
    }
    let normal = sum.normalize_or_zero();
    let is_crease =
        |e: &(u32, Vec3, Option<Vec3>)| e.2.is_none_or(|other| e.1.dot(other) < CREASE_COSINE);
    let direction =
        |e: &(u32, Vec3, Option<Vec3>)| (mesh.positions()[e.0 as usize] - p).normalize_or_zero();
    let creases: Vec<Vec3> = edges
        .iter()
        .filter(|e| is_crease(e))
        .map(direction)
        .collect();
    let flat = fan
        .iter()
        .all(|&f| faces[f as usize].1.dot(normal) >= CREASE_COSINE);
    let kind = match creases.as_slice() {
        [] | [_] if flat => FeatureKind::Face,
        [a, b] if a.dot(*b) < -CREASE_COSINE => FeatureKind::Edge,
        _ => FeatureKind::Vertex,
    };
    let mut feature = Feature::new(kind, normal);
    if kind != FeatureKind::Face {
        for e in &edges {
            feature.add_tangent(direction(e));
        }
    }
    feature
}

/// A feature on the boundary edge from `a` to `b` between faces of the given normals.
pub(super) fn feature_of_boundary_edge(along: Vec3, normals: [Vec3; 2]) -> Feature {
    let [m, n] = normals;
    let kind = if m.dot(n) >= CREASE_COSINE {
        FeatureKind::Face
    } else {
        FeatureKind::Edge
    };
    let mut feature = Feature::new(kind, m + n);
    if kind == FeatureKind::Edge {
        feature.add_tangent(along);
        feature.add_tangent(-along);
        // The first face lies to the left of the edge as it runs in that face.
        feature.add_tangent(m.cross(along));
        feature.add_tangent(along.cross(n));
    }
    feature
}

/// A feature in the middle of a face.
pub(super) fn feature_of_face(normal: Vec3) -> Feature {
    Feature::new(FeatureKind::Face, normal)
}

/// Where, in the sorted list of cut edges, those of each node begin. Sized to the
/// mesh once, touched only where a fracture cuts.
#[derive(Clone, Debug, Default)]
pub(super) struct CutEdgeIndex {
    /// Per node: stamp of the fracture, first edge, one past the last.
    ranges: Vec<(u32, u32, u32)>,
    /// The second node of every cut edge: side by side, they are found faster.
    seconds: Vec<u32>,
    stamp: u32,
}

impl CutEdgeIndex {
    pub fn fill(&mut self, nodes: usize, split: &Split) {
        if self.ranges.len() < nodes || self.stamp == u32::MAX {
            self.ranges.clear();
            self.ranges.resize(nodes, (0, 0, 0));
            self.stamp = 0;
        }
        self.stamp += 1;
        self.seconds.clear();
        self.seconds
            .extend(split.cut_edges.iter().map(|edge| edge.nodes[1]));
        for (i, edge) in split.cut_edges.iter().enumerate() {
            let range = &mut self.ranges[edge.nodes[0] as usize];
            if range.0 != self.stamp {
                *range = (self.stamp, i as u32, i as u32);
            }
            range.2 = i as u32 + 1;
        }
    }

    /// The place of the edge between two nodes in the list, if it was cut.
    #[inline]
    fn find(&self, a: u32, b: u32) -> Option<usize> {
        let (low, high) = (a.min(b), a.max(b));
        let (stamp, start, end) = self.ranges[low as usize];
        if stamp != self.stamp {
            return None;
        }
        let seconds = &self.seconds[start as usize..end as usize];
        let at = seconds.iter().position(|&second| second == high)?;
        Some(start as usize + at)
    }
}

/// Features of all points at which a fracture has cut edges, in the order of
/// `split.cut_edges`. Every cut tetrahedron is visited once.
pub(super) fn features_of_cuts(
    fragments: &Fragments,
    split: &Split,
    index: &CutEdgeIndex,
) -> Vec<CutFeature> {
    let mesh = fragments.mesh();
    let mut features = vec![CutFeature::default(); split.cut_edges.len()];
    for &tet in &split.cut_tets {
        let Some(cut) = fragments.cut(tet) else {
            continue;
        };
        let nodes = mesh.tets()[tet as usize];
        let corners = mesh.corners(tet);
        let across = mesh.neighbours()[tet as usize];
        // Most tetrahedra have no face on the boundary.
        let boundary: Option<[Vec3; 4]> = across.contains(&NONE).then(|| {
            std::array::from_fn(|i| {
                if across[i] != NONE {
                    return Vec3::ZERO;
                }
                let [a, b, c] = TET_FACES[i].map(|k| corners[k]);
                (b - a).cross(c - a).normalize_or_zero()
            })
        });
        for plane in cut.planes() {
            // The crack of this fracture, unless it is of an earlier one: those edges
            // are not in the list.
            let side = |positive: bool| {
                let on = move |&i: &usize| (plane[i] > 0.0) == positive && plane[i] != 0.0;
                (0..4).filter(on)
            };
            let mut normal = None;
            for (i, j) in side(false).flat_map(|i| side(true).map(move |j| (i, j))) {
                let Some(edge) = index.find(nodes[i], nodes[j]) else {
                    continue;
                };
                let normal = *normal.get_or_insert_with(|| plane_normal(&corners, plane));
                let feature = &mut features[edge];
                // The level grows from i to j, out of the side of i.
                feature.crack += if nodes[i] < nodes[j] { normal } else { -normal };
                feature.crack_faces += 1;
                if let Some(boundary) = &boundary {
                    let faces = (0..4).filter(|&k| k != i && k != j);
                    feature.boundary += faces.map(|k| boundary[k]).sum::<Vec3>();
                }
            }
        }
    }
    features
}

/// Unit gradient of the linear function with the given values at the corners.
fn plane_normal(corners: &[Vec3; 4], levels: &[f32; 4]) -> Vec3 {
    let [e1, e2, e3] = [1, 2, 3].map(|i| corners[i] - corners[0]);
    let [s1, s2, s3] = [1, 2, 3].map(|i| levels[i] - levels[0]);
    (e2.cross(e3) * s1 + e3.cross(e1) * s2 + e1.cross(e2) * s3).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::box_grid;

    #[test]
    fn a_box_has_faces_edges_vertices_and_an_inside() {
        let mesh = box_grid([4, 4, 4], Vec3::ONE);
        let features = features_of_nodes(&mesh);
        for (p, feature) in mesh.positions().iter().zip(&features) {
            let on = (0..3).filter(|&i| p[i] == 0.0 || p[i] == 1.0).count();
            let expected = [
                FeatureKind::Interior,
                FeatureKind::Face,
                FeatureKind::Edge,
                FeatureKind::Vertex,
            ][on];
            assert_eq!(feature.kind, expected, "at {p}");
            if on > 0 {
                assert!(feature.normal.dot(*p - Vec3::splat(0.5)) > 0.2);
                assert!(
                    feature
                        .tangents()
                        .iter()
                        .all(|t| t.dot(feature.normal) < 1e-5)
                );
            }
        }
    }
}
