//! The trees of the fragments of a body that broke, from the body's own tree.
//!
//! Source: [Glondu 2013, section 6.2]. Steps of [`SphereTree::apply`]:
//! 1. label every point with its fragment;
//! 2. from the leaves up, find splitting nodes (points of several fragments below)
//!    and give each fragment its copy; a copy with a single child is left out;
//! 3. per fragment, from the root down, choose representatives: the old one where
//!    it is of this fragment, else the point of the subtree closest to the old one;
//!    a chosen point represents all nodes of the branch down to its leaf;
//! 4. attach the new points of cut edges (`insert`);
//! 5. lay out the arrays, with exact radii (`layout`).
//!
//! Work is proportional to the points of the broken body, times the depth for step
//! 3 and the radii. All memory but the new trees' own arrays is in [`SplitScratch`].
//!
//! **Deviations**: the paper chooses representatives from the bottom up, and a
//! choice higher up overwrites those below on its branch; from the top down gives
//! the same result without the choices that would be overwritten. Radii are made
//! tight again for the points that are left; the paper keeps the old ones.
//!
//! [`SplitMethod::Naive`] is the order-oblivious way of the authors' earlier work
//! as this paper describes it: the first point found becomes the representative,
//! nodes with one child stay, new points hang below the lowest node of their edge's
//! end. Figs. 6, 15 and 17 compare with it.

use std::sync::Arc;

use glam::Vec3;

use super::feature::{CutEdgeIndex, features_of_cuts};
use super::insert::{CutPoints, attach_cut_points};
use super::layout::{
    Attachments, DraftNode, LayoutScratch, PointSource, count_points, lay_out, radius_of,
};
use super::split_work::{JOINT, SplitMethod, TreePart, Work};
use super::{EXTRA, SphereTree};
use crate::tet_mesh::NONE;
use crate::{Fragments, Split};

/// Reusable memory of [`SphereTree::apply`].
#[derive(Clone, Debug, Default)]
pub struct SplitScratch {
    labels: Vec<u32>,
    /// Per old node: its fragment, or [`MIXED`].
    tags: Vec<u32>,
    /// Per mixed old node: its copies, a range of `copies`.
    copy_ranges: Vec<(u32, u32)>,
    copies: Vec<(u32, TreePart)>,
    gathered: Vec<(u32, TreePart)>,
    /// Copies with several children: old node, range of `parts`.
    joints: Vec<(u32, u32, u32)>,
    parts: Vec<TreePart>,
    pub(super) work: Work,
    cut_index: CutEdgeIndex,
    attachments: Attachments,
    counts: Vec<u32>,
    layout: LayoutScratch,
    cut_points: CutPoints,
}

const MIXED: u32 = NONE;

impl SphereTree {
    /// The trees of the fragments that this body broke into, in the order of
    /// `split.children`. `fragments` is the object after the fracture, `split`
    /// what [`Fragments::apply`] returned, and this the tree of `split.parent`.
    #[must_use]
    pub fn apply(
        &self,
        fragments: &Fragments,
        split: &Split,
        restructuring: SplitMethod,
        scratch: &mut SplitScratch,
    ) -> Vec<Self> {
        let children = split.children.len();
        label_points(self, fragments, split, &mut scratch.labels);
        let keep_chains = restructuring == SplitMethod::Naive;
        let roots = self.cut_apart(children, keep_chains, scratch);
        let SplitScratch {
            labels,
            joints,
            parts,
            work,
            ..
        } = &mut *scratch;
        work.clear(self.points.len());
        for (label, &root) in roots.iter().enumerate() {
            work.draft_fragment(self, root, joints, parts);
            work.choose_representatives(self, label as u32, labels, restructuring);
        }

        let nodes = fragments.mesh().positions().len();
        scratch.cut_index.fill(nodes, split);
        let pool = Arc::new(features_of_cuts(fragments, split, &scratch.cut_index));
        scratch.cut_points.collect(self, split);
        attach_cut_points(
            self,
            split,
            &scratch.cut_points,
            restructuring,
            &mut scratch.work,
            &mut scratch.attachments,
        );

        count_points(
            &scratch.work.draft,
            &scratch.attachments,
            true,
            &mut scratch.counts,
        );
        let source = PointSource {
            old_positions: &self.positions,
            old_points: &self.points,
            new_positions: scratch.cut_points.positions(),
            new_points: scratch.cut_points.data(),
        };
        let roots = std::mem::take(&mut scratch.work.roots);
        let trees = roots
            .iter()
            .map(|&root| {
                let arrays = lay_out(
                    &scratch.work.draft,
                    &scratch.attachments,
                    &scratch.counts,
                    root,
                    &source,
                    &mut scratch.layout,
                );
                Self {
                    nodes: arrays.nodes,
                    levels: arrays.levels,
                    positions: arrays.positions,
                    points: arrays.points,
                    features: self.features.with(&pool),
                    extras: Arc::clone(&self.extras),
                    next_id: self.next_id + scratch.cut_points.data().len() as u32,
                    object_radius: self.object_radius,
                }
            })
            .collect();
        scratch.work.roots = roots;
        trees
    }

    /// The radii of the trees that [`Self::apply`] would make (by the default
    /// restructuring), bit for bit, without making them: a body that was just born needs
    /// its reach before anything asks for its points.
    #[must_use]
    pub fn radii_after(&self, fragments: &Fragments, split: &Split) -> Vec<f32> {
        let mut labels = Vec::new();
        label_points(self, fragments, split, &mut labels);
        // The first and the last point of every fragment, in the order of the leaves.
        let mut ends = vec![(u32::MAX, 0); split.children.len()];
        for (point, &label) in (0_u32..).zip(&labels) {
            let (first, last) = &mut ends[label as usize];
            *first = point.min(*first);
            *last = point;
        }
        let centres: Vec<Vec3> = (0_u32..)
            .zip(&ends)
            .map(|(label, &(first, last))| {
                // The lowest node that holds all of them: its copy is the root.
                let mut at = &self.nodes[0];
                while let Some(below) = at.children().find(|&c| {
                    let range = self.nodes[c as usize].point_range();
                    range.contains(&(first as usize)) && range.contains(&(last as usize))
                }) {
                    at = &self.nodes[below as usize];
                }
                if labels[at.point as usize] == label {
                    return at.centre;
                }
                let (mut best, mut squared) = (at.centre, f32::INFINITY);
                for point in first as usize..=last as usize {
                    let d = self.positions[point].distance_squared(at.centre);
                    if labels[point] == label && d < squared {
                        (best, squared) = (self.positions[point], d);
                    }
                }
                best
            })
            .collect();
        let mut squared = vec![0.0_f32; centres.len()];
        let mut reach = |label: usize, p: Vec3| {
            squared[label] = squared[label].max(p.distance_squared(centres[label]));
        };
        for (&p, &label) in self.positions.iter().zip(&labels) {
            reach(label as usize, p);
        }
        let first = split.children.first().map_or(0, |c| c.0);
        for edge in &split.cut_edges {
            for n in edge.nodes {
                let label = fragments.node_fragment()[n as usize].0 - first;
                reach(label as usize, edge.point);
            }
        }
        squared.into_iter().map(radius_of).collect()
    }

    /// Step 2: the root piece of every fragment.
    fn cut_apart(
        &self,
        children: usize,
        keep_chains: bool,
        scratch: &mut SplitScratch,
    ) -> Vec<TreePart> {
        let SplitScratch {
            labels,
            tags,
            copy_ranges,
            copies,
            gathered,
            joints,
            parts,
            ..
        } = scratch;
        tags.clear();
        tags.resize(self.nodes.len(), MIXED);
        copy_ranges.clear();
        copy_ranges.resize(self.nodes.len(), (0, 0));
        copies.clear();
        joints.clear();
        parts.clear();
        for i in (0..self.nodes.len()).rev() {
            let node = &self.nodes[i];
            if node.child_count == 0 {
                tags[i] = labels[node.point as usize];
                continue;
            }
            let below = node.first_child as usize..(node.first_child + node.child_count) as usize;
            let first = tags[below.start];
            if first != MIXED && tags[below.clone()].iter().all(|&t| t == first) {
                tags[i] = first;
                continue;
            }
            gathered.clear();
            for child in below {
                if tags[child] == MIXED {
                    let (start, end) = copy_ranges[child];
                    gathered.extend_from_slice(&copies[start as usize..end as usize]);
                } else {
                    gathered.push((tags[child], TreePart(child as u32)));
                }
            }
            gathered.sort_by_key(|&(label, _)| label);
            let start = copies.len() as u32;
            for same in gathered.chunk_by(|a, b| a.0 == b.0) {
                let piece = match same {
                    [(_, only)] if !keep_chains => *only,
                    several => {
                        let first_part = parts.len() as u32;
                        parts.extend(several.iter().map(|&(_, piece)| piece));
                        joints.push((i as u32, first_part, parts.len() as u32));
                        TreePart(JOINT | (joints.len() as u32 - 1))
                    }
                };
                copies.push((same[0].0, piece));
            }
            copy_ranges[i] = (start, copies.len() as u32);
        }
        let mut roots = vec![TreePart(0); children];
        if tags[0] == MIXED {
            let (start, end) = copy_ranges[0];
            for &(label, piece) in &copies[start as usize..end as usize] {
                roots[label as usize] = piece;
            }
        }
        roots
    }
}

/// Step 1.
fn label_points(tree: &SphereTree, fragments: &Fragments, split: &Split, labels: &mut Vec<u32>) {
    let first = split.children.first().map_or(0, |c| c.0);
    let fragment_of = fragments.node_fragment();
    labels.clear();
    labels.extend(tree.points.iter().map(|point| {
        let id = if point.owner & EXTRA == 0 {
            fragment_of[point.owner as usize]
        } else {
            let extra = tree.extras[(point.owner & !EXTRA) as usize];
            fragments.fragment_at(extra.tet, extra.barycentric)
        };
        // Ids of the fragments of one fracture follow one another.
        id.0.wrapping_sub(first)
    }));
    debug_assert!(
        labels.iter().all(|&l| (l as usize) < split.children.len()),
        "the tree is not that of the fragment that broke"
    );
}

impl Work {
    fn clear(&mut self, old_points: usize) {
        self.draft.nodes.clear();
        self.draft.children.clear();
        self.parents.clear();
        self.ranges.clear();
        self.slots.clear();
        self.slot_positions.clear();
        self.leaf_of_point.clear();
        self.leaf_of_point.resize(old_points, NONE);
        self.roots.clear();
        self.pieces.clear();
        self.representatives.clear();
    }

    /// Step 3, first half: the nodes of one fragment, breadth first, with ranges
    /// of points. Representatives are still the old ones.
    fn draft_fragment(
        &mut self,
        old: &SphereTree,
        root: TreePart,
        joints: &[(u32, u32, u32)],
        parts: &[TreePart],
    ) {
        let base = self.draft.nodes.len();
        self.roots.push(base as u32);
        self.push(old, root, NONE, joints);
        let mut next = base;
        while next < self.draft.nodes.len() {
            let first_child = self.draft.nodes.len() as u32;
            let piece = self.pieces[next];
            if piece.0 & JOINT != 0 {
                let (_, start, end) = joints[(piece.0 & !JOINT) as usize];
                for part in &parts[start as usize..end as usize] {
                    self.push(old, *part, next as u32, joints);
                }
            } else {
                for child in old.nodes[piece.0 as usize].children() {
                    self.push(old, TreePart(child), next as u32, joints);
                }
            }
            let node = &mut self.draft.nodes[next];
            node.child_count = (self.pieces.len() as u32) - first_child;
            node.first_child = self.draft.children.len() as u32;
            self.draft
                .children
                .extend(first_child..first_child + node.child_count);
            next += 1;
        }
        self.place_points(old, base);
    }

    fn push(&mut self, old: &SphereTree, piece: TreePart, parent: u32, joints: &[(u32, u32, u32)]) {
        let from = if piece.0 & JOINT == 0 {
            piece.0
        } else {
            joints[(piece.0 & !JOINT) as usize].0
        };
        self.draft.nodes.push(DraftNode {
            point: old.nodes[from as usize].point,
            first_child: 0,
            child_count: 0,
            attached: NONE,
            level: old.levels[from as usize],
        });
        self.parents.push(parent);
        self.pieces.push(piece);
    }

    /// Ranges of points from the counts below, and the points themselves.
    fn place_points(&mut self, old: &SphereTree, base: usize) {
        let end = self.draft.nodes.len();
        self.ranges.resize(end, (0, 0));
        for i in (base..end).rev() {
            if self.draft.nodes[i].child_count == 0 {
                self.ranges[i].1 = 1;
            }
            let count = self.ranges[i].1;
            let parent = self.parents[i];
            if parent != NONE {
                self.ranges[parent as usize].1 += count;
            }
        }
        let start = self.slots.len() as u32;
        let count = self.ranges[base].1;
        self.slots.resize((start + count) as usize, 0);
        self.slot_positions
            .resize((start + count) as usize, Vec3::ZERO);
        self.ranges[base] = (start, start + count);
        for i in base..end {
            let node = self.draft.nodes[i];
            let mut at = self.ranges[i].0;
            if node.child_count == 0 {
                self.slots[at as usize] = node.point;
                self.slot_positions[at as usize] = old.positions[node.point as usize];
                self.leaf_of_point[node.point as usize] = i as u32;
            }
            // Children of one node are side by side.
            let range = node.first_child as usize..(node.first_child + node.child_count) as usize;
            for k in range {
                let child = self.draft.children[k] as usize;
                let count = self.ranges[child].1;
                self.ranges[child] = (at, at + count);
                at += count;
            }
        }
    }

    /// Step 3, second half.
    fn choose_representatives(
        &mut self,
        old: &SphereTree,
        label: u32,
        labels: &[u32],
        restructuring: SplitMethod,
    ) {
        let base = self.roots[self.roots.len() - 1] as usize;
        let end = self.draft.nodes.len();
        // Representatives as slots, so that "is it in this subtree" is a range test.
        self.representatives.resize(end, 0);
        for i in base..end {
            let (start, stop) = self.ranges[i];
            let parent = self.parents[i];
            let inherited = (parent != NONE).then(|| self.representatives[parent as usize]);
            let slot = match inherited {
                Some(slot) if (start..stop).contains(&slot) => slot,
                _ => {
                    let old_point = self.draft.nodes[i].point;
                    if labels[old_point as usize] == label {
                        self.ranges[self.leaf_of_point[old_point as usize] as usize].0
                    } else if restructuring == SplitMethod::Naive {
                        start
                    } else {
                        let near = old.positions[old_point as usize];
                        start + closest(near, &self.slot_positions[start as usize..stop as usize])
                    }
                }
            };
            self.representatives[i] = slot;
            self.draft.nodes[i].point = self.slots[slot as usize];
        }
    }
}

/// Index of the point closest to `p`, the first of several.
fn closest(p: Vec3, positions: &[Vec3]) -> u32 {
    let (mut best, mut squared) = (0, f32::INFINITY);
    for (i, q) in positions.iter().enumerate() {
        let d = q.distance_squared(p);
        if d < squared {
            (best, squared) = (i as u32, d);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::{BuildOptions, KeepPoints};
    use super::*;
    use crate::testing::{Rng, box_grid};
    use crate::{Crack, Fracture, FragmentId};

    /// Breaks one fragment by a random plane, or by noise, if it can break.
    fn break_randomly(fragments: &mut Fragments, id: FragmentId, rng: &mut Rng) -> Option<Split> {
        let mesh = fragments.mesh().clone();
        let nodes = fragments.fragment(id).nodes().to_vec();
        let noisy = rng.below(4) == 0;
        let through = mesh.positions()[nodes[rng.below(nodes.len())] as usize];
        let normal = rng.direction();
        let crack = Crack::from_level(&mesh, 0, &nodes, |n| {
            if noisy {
                rng.range(-1.0, 1.0)
            } else {
                (mesh.positions()[n as usize] - through).dot(normal) + 0.01
            }
        })?;
        let fracture = Fracture {
            fragment: id,
            cracks: vec![crack],
        };
        fragments.apply(&fracture).ok()
    }

    #[test]
    fn trees_stay_valid_until_every_fragment_is_one_node() {
        for restructuring in [SplitMethod::MaximumDistance, SplitMethod::Naive] {
            for sample_spacing in [None, Some(0.3)] {
                let mesh = box_grid([3, 3, 3], Vec3::ONE);
                let options = BuildOptions { sample_spacing };
                let mut trees = vec![Some(SphereTree::build(&mesh, &options).unwrap())];
                let mut fragments = Fragments::new(Arc::new(mesh));
                let (mut rng, mut scratch) = (Rng(11), SplitScratch::default());
                loop {
                    let breakable: Vec<_> = fragments
                        .living()
                        .filter(|&f| fragments.fragment(f).nodes().len() > 1)
                        .collect();
                    if breakable.is_empty() {
                        break;
                    }
                    for id in breakable {
                        let Some(split) = break_randomly(&mut fragments, id, &mut rng) else {
                            continue;
                        };
                        let tree = trees[id.0 as usize].take().unwrap();
                        let radii = tree.radii_after(&fragments, &split);
                        let parts = tree.apply(&fragments, &split, restructuring, &mut scratch);
                        if restructuring == SplitMethod::default() {
                            let made: Vec<f32> =
                                parts.iter().map(|p| p.bounding_sphere().1).collect();
                            assert_eq!(radii, made, "the same without making the trees");
                        }
                        for (part, &child) in parts.into_iter().zip(&split.children) {
                            part.validate_for(&fragments, child).unwrap();
                            assert_eq!(trees.len(), child.0 as usize);
                            trees.push(Some(part));
                        }
                    }
                }
                assert_eq!(fragments.living().count(), 64);
            }
        }
    }

    /// A cube that a crack has parted: the whole's tree, and those of its parts.
    fn parted_cube(level: impl Fn(Vec3) -> f32) -> (Fragments, Split, SphereTree, Vec<SphereTree>) {
        let mesh = box_grid([4, 4, 4], Vec3::ONE);
        let tree = SphereTree::build(&mesh, &BuildOptions::default()).unwrap();
        let mut fragments = Fragments::new(Arc::new(mesh));
        let mesh = fragments.mesh().clone();
        let nodes = fragments.fragment(FragmentId(0)).nodes().to_vec();
        let crack = Crack::from_level(&mesh, 0, &nodes, |n| level(mesh.positions()[n as usize]));
        let fracture = Fracture {
            fragment: FragmentId(0),
            cracks: vec![crack.unwrap()],
        };
        let split = fragments.apply(&fracture).unwrap();
        let mut scratch = SplitScratch::default();
        let parts = tree.apply(&fragments, &split, SplitMethod::default(), &mut scratch);
        (fragments, split, tree, parts)
    }

    #[test]
    fn a_new_representative_is_the_point_closest_to_the_old_one() {
        let (fragments, split, tree, parts) = parted_cube(|p| p.x - 0.6);
        let (mesh, root) = (fragments.mesh(), tree.nodes[0].centre);
        for (part, &id) in parts.iter().zip(&split.children) {
            let closest = fragments
                .fragment(id)
                .nodes()
                .iter()
                .map(|&n| mesh.positions()[n as usize].distance(root))
                .fold(f32::INFINITY, f32::min);
            assert_eq!(part.nodes[0].centre.distance(root), closest);
        }
    }

    #[test]
    fn both_sides_of_a_cut_have_opposite_features() {
        let (fragments, split, _, parts) = parted_cube(|p| p.y - 0.6);
        let mesh = fragments.mesh();
        for (part, outward) in parts.iter().zip([Vec3::Y, Vec3::NEG_Y]) {
            let mut cut_points = 0;
            for i in 0..part.point_count() as u32 {
                let p = part.positions()[i as usize];
                if part.point_id(i) < mesh.positions().len() as u32 {
                    continue;
                }
                cut_points += 1;
                let feature = part.feature(i);
                let walls = [p.x, p.z].iter().filter(|&&x| x == 0.0 || x == 1.0).count();
                let cosine = feature.normal.dot(outward);
                match walls {
                    0 => assert!(cosine > 0.999, "{p}: {feature:?}"),
                    _ => assert!((0.4..0.8).contains(&cosine), "{p}: {feature:?}"),
                }
                for t in feature.tangents() {
                    assert!(t.dot(outward) < 1e-5);
                }
            }
            assert_eq!(cut_points, split.cut_edges.len());
            let surface = part.rebuilt(KeepPoints::Surface);
            surface.validate().unwrap();
            assert!(surface.point_count() < part.point_count());
        }
    }
}
