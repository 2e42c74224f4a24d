//! Building a tree before anything breaks: which points an object has, and the
//! tree of an order of points.
//!
//! Source: [Glondu 2013, sections 5.1 and 6.1]. The points are all nodes of the
//! tet mesh, on the boundary and inside, and optionally extra samples of the
//! boundary by target spacing. Level l of the tree holds the first 2^l points in
//! maximum-distance order; the parent of a point that is new in level l + 1 is its
//! closest point in level l; a point of level l is in all levels below, and nodes
//! with a single child are left out.
//!
//! **Deviation**: extra samples are ours. They close the gap that the paper admits
//! (collisions with features smaller than the spacing of vertices are missed): see
//! [`super::coverage`] for how such gaps are found.

use std::collections::HashMap;
use std::sync::Arc;

use glam::Vec3;
use thiserror::Error;

use super::feature::{
    BakedFeatures, Feature, FeatureKind, FeaturePools, FeatureRef, feature_of_boundary_edge,
    feature_of_face, features_of_nodes,
};
use super::layout::{
    Attachments, Draft, DraftNode, LayoutScratch, PointSource, count_points, lay_out,
};
use super::order::{Order, maximum_distance_order};
use super::{EXTRA, ExtraPoint, PointData, SphereTree};
use crate::TetMesh;
use crate::tet_mesh::{BoundaryFace, NONE};

/// Most points of one tree: names and draft indices are 31-bit.
const POINT_LIMIT: usize = 1 << 28;

/// Why a tree cannot be built.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The spacing of extra samples is zero, negative or not a number.
    #[error("the sample spacing {0} must be a positive length; leave it out for no extra samples")]
    BadSpacing(f32),
    /// The spacing asks for more points than a tree can name.
    #[error("a sample spacing of {spacing} makes more than {limit} points; use a larger one")]
    TooManyPoints {
        /// The spacing asked for.
        spacing: f32,
        /// How many points are possible.
        limit: usize,
    },
}

/// Choices of [`SphereTree::build`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BuildOptions {
    /// Adds samples so that no point of the boundary is further than about this
    /// length from one, along its face. `None`: nodes only.
    pub sample_spacing: Option<f32>,
}

/// Which points a rebuilt tree keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepPoints {
    /// All.
    All,
    /// Those on the surface of the body: a tree "of the new surface alone".
    Surface,
}

impl SphereTree {
    /// Builds the tree of an unbroken object.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build(mesh: &TetMesh, options: &BuildOptions) -> Result<Self, BuildError> {
        let mut positions = mesh.positions().to_vec();
        let mut pool = BakedFeatures::default();
        let mut points = points_of_nodes(mesh, &mut pool);
        let mut extras = Vec::new();
        if let Some(spacing) = options.sample_spacing {
            for (position, place, feature) in samples(mesh, spacing)? {
                points.push(PointData {
                    id: positions.len() as u32,
                    owner: EXTRA | extras.len() as u32,
                    across: NONE,
                    feature: pooled(&mut pool, feature),
                });
                extras.push(place);
                positions.push(position);
            }
        }
        let (low, high) = mesh.bounds();
        let next_id = points.len() as u32;
        Ok(tree_of_points(
            &positions,
            &points,
            FeaturePools::new(pool),
            extras.into(),
            next_id,
            0.5 * low.distance(high),
        ))
    }

    /// The tree of an unbroken object without extra samples.
    pub(crate) fn of_nodes(mesh: &TetMesh) -> Self {
        let mut pool = BakedFeatures::default();
        let points = points_of_nodes(mesh, &mut pool);
        let (low, high) = mesh.bounds();
        let next_id = points.len() as u32;
        tree_of_points(
            mesh.positions(),
            &points,
            FeaturePools::new(pool),
            Arc::new([]),
            next_id,
            0.5 * low.distance(high),
        )
    }

    /// The same body with a tree made afresh from its points: what a fracture
    /// would cost without [`SphereTree::apply`], and the best tree to compare with.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn rebuilt(&self, keep: KeepPoints) -> Self {
        let on_surface = |i: &usize| self.points[*i].feature != FeatureRef::INTERIOR;
        let kept: Vec<usize> = match keep {
            KeepPoints::All => (0..self.points.len()).collect(),
            KeepPoints::Surface => (0..self.points.len()).filter(on_surface).collect(),
        };
        let positions: Vec<Vec3> = kept.iter().map(|&i| self.positions[i]).collect();
        let points: Vec<PointData> = kept.iter().map(|&i| self.points[i]).collect();
        tree_of_points(
            &positions,
            &points,
            self.features.clone(),
            Arc::clone(&self.extras),
            self.next_id,
            self.object_radius,
        )
    }
}

/// The nodes of a mesh as points of its tree.
fn points_of_nodes(mesh: &TetMesh, pool: &mut BakedFeatures) -> Vec<PointData> {
    let features = features_of_nodes(mesh).into_iter().enumerate();
    features
        .map(|(n, feature)| PointData {
            id: n as u32,
            owner: n as u32,
            across: NONE,
            feature: pooled(pool, feature),
        })
        .collect()
}

fn pooled(pool: &mut BakedFeatures, feature: Feature) -> FeatureRef {
    if feature.kind == FeatureKind::Interior {
        return FeatureRef::INTERIOR;
    }
    pool.push(&feature);
    FeatureRef {
        index: pool.len() as u32 - 1,
        pool: 0,
        side: 0,
    }
}

fn tree_of_points(
    positions: &[Vec3],
    points: &[PointData],
    features: FeaturePools,
    extras: Arc<[ExtraPoint]>,
    next_id: u32,
    object_radius: f32,
) -> SphereTree {
    let order = maximum_distance_order(positions);
    tree_of_order(
        &order,
        positions,
        points,
        features,
        extras,
        next_id,
        object_radius,
    )
}

fn tree_of_order(
    order: &Order,
    positions: &[Vec3],
    points: &[PointData],
    features: FeaturePools,
    extras: Arc<[ExtraPoint]>,
    next_id: u32,
    object_radius: f32,
) -> SphereTree {
    let (draft, root) = draft_of_order(order);
    let attachments = Attachments::default();
    let mut counts = Vec::new();
    count_points(&draft, &attachments, false, &mut counts);
    let source = PointSource {
        old_positions: positions,
        old_points: points,
        new_positions: &[],
        new_points: &[],
    };
    let arrays = lay_out(
        &draft,
        &attachments,
        &counts,
        root,
        &source,
        &mut LayoutScratch::default(),
    );
    SphereTree {
        nodes: arrays.nodes,
        levels: arrays.levels,
        positions: arrays.positions,
        points: arrays.points,
        features,
        extras,
        next_id,
        object_radius,
    }
}

/// The tree of an order, children before parents; also its root.
///
/// Places are taken from the last to the first, so that the subtrees of a place's
/// children exist when it is reached; its own chain then grows from the leaf up,
/// one node for every level at which it gains children.
fn draft_of_order(order: &Order) -> (Draft, u32) {
    let n = order.points.len();
    // Children of every place, in order: a linked list, filled from the back.
    let (mut first, mut next) = (vec![NONE; n], vec![NONE; n]);
    for place in (1..n).rev() {
        let parent = order.parents[place] as usize;
        next[place] = first[parent];
        first[parent] = place as u32;
    }
    let mut draft = Draft::default();
    let mut top = vec![NONE; n];
    let (mut places, mut group) = (Vec::new(), Vec::new());
    for place in (0..n).rev() {
        let point = order.points[place];
        places.clear();
        let mut child = first[place];
        while child != NONE {
            places.push(child);
            child = next[child as usize];
        }
        let level_of = |place: u32| {
            if place == 0 {
                0
            } else {
                place.ilog2() as u8 + 1
            }
        };
        let mut chain = draft.nodes.len() as u32;
        draft.nodes.push(DraftNode {
            point,
            first_child: 0,
            child_count: 0,
            attached: NONE,
            level: places
                .last()
                .map_or(level_of(place as u32), |&c| level_of(c)),
        });
        while let Some(&deepest) = places.last() {
            let level = level_of(deepest);
            group.clear();
            while places.last().is_some_and(|&c| level_of(c) == level) {
                group.extend(places.pop());
            }
            let first_child = draft.children.len() as u32;
            draft.children.push(chain);
            draft
                .children
                .extend(group.iter().rev().map(|&c| top[c as usize]));
            chain = draft.nodes.len() as u32;
            draft.nodes.push(DraftNode {
                point,
                first_child,
                child_count: draft.children.len() as u32 - first_child,
                attached: NONE,
                level: level - 1,
            });
        }
        top[place] = chain;
    }
    (draft, top[0])
}

type PlacedSample = (Vec3, ExtraPoint, Feature);

/// Samples of the boundary, none on a node: along edges longer than the spacing,
/// and a lattice in faces with such an edge.
fn samples(mesh: &TetMesh, spacing: f32) -> Result<Vec<PlacedSample>, BuildError> {
    if !(spacing > 0.0 && spacing.is_finite()) {
        return Err(BuildError::BadSpacing(spacing));
    }
    let faces: Vec<BoundaryFace> = mesh.boundary().collect();
    let position = |n: u32| mesh.positions()[n as usize];
    let normal = |f: &BoundaryFace| {
        let [a, b, c] = f.nodes.map(position);
        (b - a).cross(c - a).normalize_or_zero()
    };
    let mut normal_across: HashMap<(u32, u32), Vec3> = HashMap::new();
    for face in &faces {
        for i in 0..3 {
            normal_across.insert((face.nodes[i], face.nodes[(i + 1) % 3]), normal(face));
        }
    }
    let mut out = Vec::new();
    for face in &faces {
        let steps = (0..3)
            .map(|i| {
                let length = position(face.nodes[i]).distance(position(face.nodes[(i + 1) % 3]));
                f64::from(length / spacing).ceil().max(1.0)
            })
            .collect::<Vec<f64>>();
        let finest = steps.iter().fold(1.0, |a: f64, &b| a.max(b));
        if finest * finest + out.len() as f64 > POINT_LIMIT as f64 {
            return Err(BuildError::TooManyPoints {
                spacing,
                limit: POINT_LIMIT,
            });
        }
        for i in 0..3 {
            let (a, b) = (face.nodes[i], face.nodes[(i + 1) % 3]);
            // The face that runs through the edge upwards makes its samples.
            if a > b && normal_across.contains_key(&(b, a)) {
                continue;
            }
            let along = (position(b) - position(a)).normalize_or_zero();
            let other = normal_across.get(&(b, a)).copied().unwrap_or(normal(face));
            let feature = feature_of_boundary_edge(along, [normal(face), other]);
            let count = steps[i] as u32;
            for k in 1..count {
                let t = k as f32 / count as f32;
                let mut weights = [0.0; 3];
                (weights[i], weights[(i + 1) % 3]) = (1.0 - t, t);
                out.push((
                    weights_to_point(mesh, face, weights),
                    weights_to_place(mesh, face, weights),
                    feature,
                ));
            }
        }
        let count = finest as u32;
        for i in 1..count {
            for j in 1..count - i {
                let k = count - i - j;
                let weights = [i, j, k].map(|x| x as f32 / count as f32);
                let feature = feature_of_face(normal(face));
                out.push((
                    weights_to_point(mesh, face, weights),
                    weights_to_place(mesh, face, weights),
                    feature,
                ));
            }
        }
    }
    Ok(out)
}

fn weights_to_point(mesh: &TetMesh, face: &BoundaryFace, weights: [f32; 3]) -> Vec3 {
    (0..3)
        .map(|i| mesh.positions()[face.nodes[i] as usize] * weights[i])
        .sum()
}

fn weights_to_place(mesh: &TetMesh, face: &BoundaryFace, weights: [f32; 3]) -> ExtraPoint {
    let nodes = mesh.tets()[face.tet as usize];
    let barycentric = nodes.map(|n| {
        let at = face.nodes.iter().position(|&m| m == n);
        at.map_or(0.0, |i| weights[i])
    });
    ExtraPoint {
        tet: face.tet,
        barycentric,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};

    #[test]
    fn trees_of_boxes_are_valid_and_hold_every_node() {
        for cells in [[1, 1, 1], [3, 2, 1], [6, 6, 6]] {
            let mesh = box_grid(cells, Vec3::new(1.0, 2.0, 0.5));
            let tree = SphereTree::build(&mesh, &BuildOptions::default()).unwrap();
            tree.validate().unwrap();
            assert_eq!(tree.point_count(), mesh.positions().len());
        }
    }

    #[test]
    fn the_first_nodes_of_a_level_are_the_first_points_of_the_order() {
        let mesh = box_grid([5, 5, 5], Vec3::ONE);
        let order = maximum_distance_order(mesh.positions());
        let tree = SphereTree::build(&mesh, &BuildOptions::default()).unwrap();
        // A point first occurs at the level at which the order has it: the level
        // of its topmost node is not above that.
        for (place, &point) in order.points.iter().enumerate() {
            let expected = if place == 0 {
                0
            } else {
                place.ilog2() as u8 + 1
            };
            let top = (0..tree.nodes.len())
                .find(|&i| tree.points[tree.nodes[i].point as usize].id == point)
                .unwrap();
            assert!(
                tree.levels[top] >= expected,
                "{place}: {} < {expected}",
                tree.levels[top]
            );
        }
    }

    #[test]
    fn extra_samples_close_the_gaps_of_the_boundary() {
        let mesh = box_grid([1, 1, 1], Vec3::ONE);
        let spacing = 0.2;
        let options = BuildOptions {
            sample_spacing: Some(spacing),
        };
        let tree = SphereTree::build(&mesh, &options).unwrap();
        tree.validate().unwrap();
        let mut rng = Rng(2);
        for _ in 0..200 {
            let mut p = rng.in_box(Vec3::ZERO, Vec3::ONE);
            p[rng.below(3)] = rng.below(2) as f32;
            let nearest = tree
                .positions()
                .iter()
                .map(|q| q.distance(p))
                .fold(9.0, f32::min);
            assert!(
                nearest <= spacing,
                "no sample within {spacing} of {p}: {nearest}"
            );
        }
        for i in 0..tree.point_count() as u32 {
            assert_ne!(tree.feature(i).kind, FeatureKind::Interior);
        }
    }

    #[test]
    fn bad_spacings_are_refused() {
        let mesh = box_grid([1, 1, 1], Vec3::ONE);
        for spacing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let options = BuildOptions {
                sample_spacing: Some(spacing),
            };
            assert!(matches!(
                SphereTree::build(&mesh, &options),
                Err(BuildError::BadSpacing(_))
            ));
        }
        let options = BuildOptions {
            sample_spacing: Some(1e-9),
        };
        assert!(matches!(
            SphereTree::build(&mesh, &options),
            Err(BuildError::TooManyPoints { .. })
        ));
    }
}
