//! Voxels of things that break: re-labelled, not voxelised again.
//!
//! Ahead: how much of every voxel each tetrahedron fills ([`ObjectVoxels::build`]).
//! Steps of a split: a tetrahedron that no crack has cut hands its stored shares to
//! the fragment that owns it -> what a fragment has of the cut ones is one closed body
//! (pieces that share a face of the mesh hang together there, so only crack faces and
//! the faces towards whole tetrahedra bound it), which is voxelised -> a voxel with one
//! owner keeps its value bit for bit; where a crack passes, the owners' shares are
//! scaled so that they add up to what the voxel held.
//!
//! Source: none; [Dingliana 2004] has no fracture. The pieces of a cut tetrahedron
//! are those of [`fracas_geometry::crack`].
//!
//! **Guarantee**: conservative. No voxel that a fragment touches is empty in it; the
//! shares of a voxel add up to the broken fragment's, but for [`LEAST_OCCUPANCY`] per
//! owner. Work is proportional to the broken fragment.

use glam::{DVec3, Vec3};

use super::voxelize::{
    ContentBox, LEAST_OCCUPANCY, NO_BOX, Sums, VoxelGrid, VoxelizeError, join_boxes,
};
use fracas_geometry::fragment::{FragmentId, Fragments};
use fracas_geometry::tet_mesh::{NONE, TET_FACES, TetMesh};
use fracas_geometry::tet_part::{CornerPoints, Side, TetPart};

/// Shares that differ by less are the same but for rounding.
const SAME_SHARE: f64 = 1e-3;

/// How much of one voxel something fills.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    voxel: u32,
    share: f32,
    content: ContentBox,
}

/// The voxels of one fragment, in the grid of its object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FragmentVoxels {
    /// In increasing order of the voxel.
    shares: Vec<Share>,
}

impl FragmentVoxels {
    /// How many voxels it touches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Whether it touches none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }
}

/// The grid of an object, and what every tetrahedron fills in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectVoxels {
    origin: Vec3,
    cell: f32,
    counts: [u32; 3],
    /// Tetrahedron `t` fills `shares[first[t]..first[t + 1]]`.
    first: Vec<u32>,
    shares: Vec<Share>,
    whole: FragmentVoxels,
}

/// Memory of [`ObjectVoxels::split`], used again.
#[derive(Default)]
pub struct SplitScratch {
    sums: Option<Sums>,
    /// Per voxel: what is filled, of what, by the fragment in hand.
    filled: Vec<f64>,
    content: Vec<ContentBox>,
    seen: Vec<u32>,
    /// Per voxel: what all fragments fill, and how many do.
    total: Vec<(f64, u32)>,
    touched: Vec<u32>,
    /// What bounds the cut tetrahedra of the fragment in hand.
    triangles: Vec<[DVec3; 3]>,
}

impl std::fmt::Debug for SplitScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SplitScratch").finish_non_exhaustive()
    }
}

impl ObjectVoxels {
    /// Voxels of edge `cell` over an object of tetrahedra.
    ///
    /// # Errors
    /// See [`VoxelizeError`].
    pub fn build(mesh: &TetMesh, cell: f32) -> Result<Self, VoxelizeError> {
        let grid = VoxelGrid::from_tets(mesh, cell)?;
        let mut made = Self {
            origin: grid.origin,
            cell: grid.cell,
            counts: grid.counts,
            first: vec![0],
            shares: Vec::new(),
            whole: FragmentVoxels::default(),
        };
        let mut sums = None;
        for tet in 0..mesh.tets().len() as u32 {
            let corners = mesh.corners(tet).map(|p| p.as_dvec3());
            let triangles = TET_FACES.map(|f| f.map(|i| corners[i]));
            let mut shares = std::mem::take(&mut made.shares);
            made.measure(&triangles, &mut sums, |share| shares.push(share));
            made.shares = shares;
            made.first.push(made.shares.len() as u32);
        }
        let whole = grid.occupancy.iter().enumerate().filter(|(_, o)| **o > 0.0);
        made.whole.shares = whole
            .map(|(i, &share)| Share {
                voxel: i as u32,
                share,
                content: grid.content[i],
            })
            .collect();
        Ok(made)
    }

    /// The edge of a voxel.
    #[must_use]
    pub fn cell(&self) -> f32 {
        self.cell
    }

    /// The unbroken object.
    #[must_use]
    pub fn whole(&self) -> &FragmentVoxels {
        &self.whole
    }

    /// Memory in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.first[..])
            + size_of_val(&self.shares[..])
            + size_of_val(&self.whole.shares[..])
    }

    /// What became of the voxels of a fragment that broke: one answer for each of
    /// `children`, in order. `fragments` is the object after the break (or after
    /// several, when children broke in turn).
    #[must_use]
    pub fn split(
        &self,
        fragments: &Fragments,
        parent: &FragmentVoxels,
        children: &[FragmentId],
        scratch: &mut SplitScratch,
    ) -> Vec<FragmentVoxels> {
        let cells = self.counts.iter().map(|&c| c as usize).product();
        scratch.filled.resize(cells, 0.0);
        scratch.content.resize(cells, NO_BOX);
        scratch.total.resize(cells, (0.0, 0));
        let mut children: Vec<FragmentVoxels> = children
            .iter()
            .map(|&child| {
                self.collect(fragments, child, scratch);
                self.harvest(scratch)
            })
            .collect();
        // A voxel of one owner keeps its value; several share what was there.
        for child in &mut children {
            let mut held = parent.shares.iter().peekable();
            for share in &mut child.shares {
                while held.next_if(|h| h.voxel < share.voxel).is_some() {}
                let Some(before) = held.peek().filter(|h| h.voxel == share.voxel) else {
                    continue;
                };
                let (total, owners) = scratch.total[share.voxel as usize];
                // A child that was not asked for leaves a gap: then nothing is scaled.
                let whole = (total - f64::from(before.share)).abs() < SAME_SHARE;
                let part = if whole && owners == 1 {
                    before.share
                } else if whole && total > 0.0 {
                    (f64::from(share.share) / total * f64::from(before.share)) as f32
                } else {
                    share.share
                };
                share.share = part.clamp(LEAST_OCCUPANCY, 1.0);
            }
        }
        for &voxel in &scratch.touched {
            scratch.total[voxel as usize] = (0.0, 0);
        }
        scratch.touched.clear();
        children
    }

    /// The voxels of a fragment as an array over its own box.
    #[must_use]
    pub fn grid(&self, fragment: &FragmentVoxels) -> VoxelGrid {
        let (mut low, mut high) = ([u32::MAX; 3], [0; 3]);
        for share in &fragment.shares {
            for (a, c) in self.place(share.voxel).into_iter().enumerate() {
                low[a] = low[a].min(c);
                high[a] = high[a].max(c + 1);
            }
        }
        if fragment.is_empty() {
            low = [0; 3];
        }
        let counts = [0, 1, 2].map(|a| high[a].saturating_sub(low[a]));
        let cells = counts.iter().map(|&c| c as usize).product();
        let mut grid = VoxelGrid {
            origin: self.origin + Vec3::from(low.map(|c| c as f32)) * self.cell,
            cell: self.cell,
            counts,
            occupancy: vec![0.0; cells],
            content: vec![super::voxelize::WHOLE_VOXEL; cells],
        };
        for share in &fragment.shares {
            let [x, y, z] = self.place(share.voxel);
            let at = ((z - low[2]) * counts[1] + y - low[1]) * counts[0] + x - low[0];
            grid.occupancy[at as usize] = share.share;
            grid.content[at as usize] = share.content;
        }
        grid
    }

    fn place(&self, voxel: u32) -> [u32; 3] {
        let [nx, ny, _] = self.counts;
        [voxel % nx, voxel / nx % ny, voxel / nx / ny]
    }

    /// Adds up what the pieces of one fragment fill.
    fn collect(&self, fragments: &Fragments, child: FragmentId, scratch: &mut SplitScratch) {
        let SplitScratch {
            sums,
            filled,
            content,
            seen,
            triangles,
            ..
        } = scratch;
        let mut add = |share: Share| {
            let at = share.voxel as usize;
            if content[at] == NO_BOX {
                seen.push(share.voxel);
            }
            filled[at] += f64::from(share.share);
            content[at] = join_boxes(content[at], share.content);
        };
        triangles.clear();
        fragments.for_each_tet_of(child, |tet, local| {
            let cut = fragments.cut(tet);
            if cut.is_none() {
                let range = self.first[tet as usize]..self.first[tet as usize + 1];
                for share in &self.shares[range.start as usize..range.end as usize] {
                    add(*share);
                }
                return;
            }
            let points = CornerPoints::new(fragments.mesh(), tet, cut);
            for polygon in TetPart::of(cut, local).polygons() {
                // Every corner of a piece holds a node of it, so what is beyond a face of
                // the mesh is this fragment's too: if it is a piece, the two are one.
                if let Side::Face(face) = polygon.side {
                    let beyond = fragments.mesh().neighbours()[tet as usize][face as usize];
                    if beyond != NONE && fragments.cut(beyond).is_some() {
                        continue;
                    }
                }
                let corners = polygon.corners();
                for pair in corners[1..].windows(2) {
                    triangles.push([corners[0], pair[0], pair[1]].map(|c| points.at(c)));
                }
            }
        });
        self.measure(triangles, sums, &mut add);
    }

    /// Takes what [`Self::collect`] has added up, and clears it.
    fn harvest(&self, scratch: &mut SplitScratch) -> FragmentVoxels {
        scratch.seen.sort_unstable();
        let mut shares = Vec::with_capacity(scratch.seen.len());
        for &voxel in &scratch.seen {
            let at = voxel as usize;
            let share = scratch.filled[at].clamp(0.0, 1.0);
            shares.push(Share {
                voxel,
                share: share as f32,
                content: scratch.content[at],
            });
            let (total, owners) = &mut scratch.total[at];
            if *owners == 0 {
                scratch.touched.push(voxel);
            }
            *total += share;
            *owners += 1;
            scratch.filled[at] = 0.0;
            scratch.content[at] = NO_BOX;
        }
        scratch.seen.clear();
        FragmentVoxels { shares }
    }

    /// What a closed surface fills, voxel by voxel.
    fn measure(
        &self,
        triangles: &[[DVec3; 3]],
        sums: &mut Option<Sums>,
        mut visit: impl FnMut(Share),
    ) {
        let corners = || triangles.iter().flatten();
        let low = corners().fold(DVec3::INFINITY, |a, &b| a.min(b));
        let high = corners().fold(DVec3::NEG_INFINITY, |a, &b| a.max(b));
        if !(low.is_finite() && high.is_finite()) {
            return;
        }
        let (origin, cell) = (self.origin.as_dvec3(), f64::from(self.cell));
        // Surfaces elsewhere are rounded to f32: touching is judged as widely.
        let largest = low.abs().max(high.abs()).max_element();
        let margin = 1e-6 + largest / cell * f64::from(f32::EPSILON);
        let first = [0, 1, 2].map(|a| {
            let at = ((low[a] - origin[a]) / cell - margin).floor().max(0.0) as usize;
            at.min(self.counts[a] as usize - 1)
        });
        let counts = [0, 1, 2].map(|a| {
            let last = ((high[a] - origin[a]) / cell + margin).floor().max(0.0) as usize;
            last.min(self.counts[a] as usize - 1) + 1 - first[a]
        });
        let corner = origin + DVec3::from(first.map(|c| c as f64)) * cell;
        let sums = sums.get_or_insert_with(|| Sums::new(corner, cell, [1; 3]));
        sums.restart(corner, cell, counts, margin);
        for &triangle in triangles {
            sums.add(triangle);
        }
        let [nx, ny, _] = self.counts.map(|c| c as usize);
        sums.for_each(|[x, y, z], filled, content| {
            let voxel = ((z + first[2]) * ny + y + first[1]) * nx + x + first[0];
            visit(Share {
                voxel: voxel as u32,
                share: filled as f32,
                content,
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voxel_tree::VoxTree;
    use fracas_geometry::testing::{Rng, box_grid};
    use fracas_geometry::{Crack, Fracture};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    /// The closed surface of a fragment: the polygons of its pieces without those that two of
    /// its pieces share, as triangles.
    fn surface_of(fragments: &Fragments, id: FragmentId) -> Vec<[DVec3; 3]> {
        let mut polygons: BTreeMap<Vec<[u32; 4]>, Option<Vec<DVec3>>> = BTreeMap::new();
        for tet in fragments.tets_of(id) {
            let nodes = fragments.mesh().tets()[tet as usize];
            let own = |&i: &usize| fragments.node_fragment()[nodes[i] as usize] == id;
            let local = (0..4).find(own).unwrap();
            let cut = fragments.cut(tet);
            let points = CornerPoints::new(fragments.mesh(), tet, cut);
            for (k, polygon) in TetPart::of(cut, local).polygons().iter().enumerate() {
                let corners = polygon.corners();
                let mut name: Vec<[u32; 4]> = corners.iter().map(|&c| points.name(c)).collect();
                name.sort_unstable();
                if let Side::Plane(_) = polygon.side {
                    // Caps of two tetrahedra never are one, but may have one name.
                    name.push([tet, k as u32, 0, 0]);
                }
                let places = corners.iter().map(|&c| points.at(c)).collect();
                let known = polygons.entry(name);
                known.and_modify(|p| *p = None).or_insert(Some(places));
            }
        }
        let fan = |p: Vec<DVec3>| (2..p.len()).map(move |i| [p[0], p[i - 1], p[i]]);
        polygons.into_values().flatten().flat_map(fan).collect()
    }

    /// A random plane through a fragment, each node's level off by up to `rough`.
    fn plane_crack(
        fragments: &Fragments,
        id: FragmentId,
        rng: &mut Rng,
        rough: f32,
    ) -> Option<Fracture> {
        let mesh = fragments.mesh();
        let nodes = fragments.fragment(id).nodes();
        let through = mesh.positions()[nodes[rng.below(nodes.len())] as usize];
        let normal = rng.direction();
        let crack = Crack::from_level(mesh, 0, nodes, |n| {
            normal.dot(mesh.positions()[n as usize] - through) + 0.013 + rng.range(-rough, rough)
        })?;
        Some(Fracture {
            fragment: id,
            cracks: vec![crack],
        })
    }

    /// Fragment voxels against the fragment's own closed surface, voxelised anew.
    fn compare(
        voxels: &ObjectVoxels,
        fragments: &Fragments,
        id: FragmentId,
        held: &FragmentVoxels,
    ) {
        let surface = surface_of(fragments, id);
        let mut sums = Sums::new(
            voxels.origin.as_dvec3(),
            f64::from(voxels.cell),
            voxels.counts.map(|c| c as usize),
        );
        for &triangle in &surface {
            sums.add(triangle);
        }
        let anew = sums.finish(voxels.origin, voxels.cell).unwrap();
        let mut dense = vec![None; anew.occupancy.len()];
        for share in &held.shares {
            dense[share.voxel as usize] = Some(share);
        }
        for (i, &occupancy) in anew.occupancy.iter().enumerate() {
            let here = dense[i].map_or(0.0, |s| s.share);
            assert!(
                occupancy == 0.0 || here > 0.0,
                "{id} touches voxel {i}, which is empty"
            );
            assert!(
                (here - occupancy).abs() < 2e-5,
                "{id}, voxel {i}: {here}, anew {occupancy}"
            );
        }
        let volume = voxels.grid(held).volume();
        let expected: f64 = surface
            .iter()
            .map(|[a, b, c]| a.cross(*b).dot(*c) / 6.0)
            .sum();
        assert!((volume - expected).abs() < 1e-3 * expected + 1e-9);
    }

    #[test]
    fn fragments_hold_what_voxelising_them_anew_would_find() {
        let mut rng = Rng(3);
        for (seed, cell, rough) in [
            (1, 0.11, 0.0),
            (2, 0.047, 0.0),
            (3, 0.23, 0.0),
            (4, 0.06, 0.1),
            (5, 0.08, 0.5),
        ] {
            rng.0 = seed;
            let mesh = Arc::new(box_grid([5, 4, 3], Vec3::new(1.0, 0.8, 0.55)));
            let voxels = ObjectVoxels::build(&mesh, cell).unwrap();
            let mut fragments = Fragments::new(mesh);
            let mut held = vec![Some(voxels.whole().clone())];
            compare(&voxels, &fragments, FragmentId(0), voxels.whole());
            let mut scratch = SplitScratch::default();
            let mut broken = 0;
            for _ in 0..20 {
                let living: Vec<FragmentId> = fragments.living().collect();
                let id = living[rng.below(living.len())];
                let Some(fracture) = plane_crack(&fragments, id, &mut rng, rough) else {
                    continue;
                };
                let Ok(split) = fragments.apply(&fracture) else {
                    continue;
                };
                broken += 1;
                let parent = held[id.0 as usize].take().unwrap();
                let children = voxels.split(&fragments, &parent, &split.children, &mut scratch);
                // Shares add up to what the parent held.
                let mut sums = vec![(0.0_f32, 0); anew_len(&voxels)];
                for share in children.iter().flat_map(|c| &c.shares) {
                    let (sum, owners) = &mut sums[share.voxel as usize];
                    *sum += share.share;
                    *owners += 1;
                }
                for share in &parent.shares {
                    let (sum, owners) = sums[share.voxel as usize];
                    let slack = LEAST_OCCUPANCY * (1 + owners) as f32;
                    assert!((sum - share.share).abs() <= slack, "{sum} of {share:?}");
                    if owners == 1 {
                        assert!(sum == share.share, "a voxel of one owner keeps its bits");
                    }
                }
                held.resize(fragments.id_count(), None);
                for (&child, made) in split.children.iter().zip(children) {
                    compare(&voxels, &fragments, child, &made);
                    VoxTree::build(&voxels.grid(&made), 2).validate().unwrap();
                    held[child.0 as usize] = Some(made);
                }
            }
            assert!(broken > 4, "{broken}");
        }
    }

    fn anew_len(voxels: &ObjectVoxels) -> usize {
        voxels.counts.iter().map(|&c| c as usize).product()
    }

    #[test]
    fn a_split_repeats_with_used_memory() {
        let mesh = Arc::new(box_grid([4, 4, 4], Vec3::ONE));
        let voxels = ObjectVoxels::build(&mesh, 0.1).unwrap();
        let mut fragments = Fragments::new(mesh);
        let fracture = plane_crack(&fragments, FragmentId(0), &mut Rng(9), 0.0).unwrap();
        let split = fragments.apply(&fracture).unwrap();
        let mut scratch = SplitScratch::default();
        let first = voxels.split(&fragments, voxels.whole(), &split.children, &mut scratch);
        let second = voxels.split(&fragments, voxels.whole(), &split.children, &mut scratch);
        assert_eq!(first, second);
        // The memory of an object with other voxels is as good as new.
        let coarse = ObjectVoxels::build(fragments.mesh(), 0.17).unwrap();
        let anew = coarse.split(
            &fragments,
            coarse.whole(),
            &split.children,
            &mut SplitScratch::default(),
        );
        let used = coarse.split(&fragments, coarse.whole(), &split.children, &mut scratch);
        assert_eq!(anew, used);
        assert!(VoxTree::build(&voxels.grid(&FragmentVoxels::default()), 2).is_empty());
    }
}
