//! Cells that fall apart: strays are given to a neighbour.
//!
//! A cell of a pattern laid over a folded or thin body need not be connected, and
//! [`fracas_core::Fragments::apply`] makes a fragment of each connected part: 20 cells of a
//! coat gave 65 pieces, 21 of them below a thousandth of its volume.
//!
//! **The rule.** The largest connected part of a cell is the cell; the others are
//! strays. Strays are looked at from the smallest up. One that has less than
//! [`CrumbRule::least_share`] of the volume, or that makes more pieces than
//! [`CrumbRule::most`], joins the cell with which it shares most edges of the mesh.
//! Cells themselves are never joined, however small: a pattern means them.
//!
//! **Guarantee.** As many pieces as cells where `most` asks for it, of a connected body;
//! the same cracks in the same order, only levels of strayed nodes change; ties go to the
//! lower number. Parts of a body that hang together with nothing have no neighbour to
//! join: patterns then draw fewer cells (`at_most`).

use fracas_core::{Crack, Fracture, Fragments, TetMesh};

/// When a stray joins a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrumbRule {
    /// Below this share of the volume that breaks.
    pub least_share: f64,
    /// Whenever there are more pieces than this.
    pub most: Option<usize>,
}

impl Default for CrumbRule {
    fn default() -> Self {
        Self {
            least_share: LEAST_SHARE,
            most: None,
        }
    }
}

/// A thousandth of what breaks: a tenth of its size, in every direction.
pub const LEAST_SHARE: f64 = 1e-3;

const NONE: u32 = u32::MAX;

/// Gives strays to their neighbours, by the rule of this module.
#[must_use]
pub fn merge_crumbs(fragments: &Fragments, fracture: Fracture, rule: &CrumbRule) -> Fracture {
    merge_and_count(fragments, fracture, rule).0
}

/// Draws a pattern with fewer and fewer cells until it gives no more than `most` pieces:
/// a body that is in several parts gives more pieces than cells. Two cells are the least;
/// what is in more parts than `most` falls apart into all of them.
pub(crate) fn at_most(
    most: usize,
    draw: impl Fn(u32) -> Option<(Fracture, usize)>,
) -> Option<Fracture> {
    let mut cells = u32::try_from(most).unwrap_or(u32::MAX);
    loop {
        let (fracture, pieces) = draw(cells)?;
        let excess = u32::try_from(pieces.saturating_sub(most)).unwrap_or(u32::MAX);
        if excess == 0 || cells <= 2 {
            return Some(fracture);
        }
        cells = cells.saturating_sub(excess).max(2);
    }
}

/// As [`merge_crumbs`], with the number of pieces.
pub(crate) fn merge_and_count(
    fragments: &Fragments,
    fracture: Fracture,
    rule: &CrumbRule,
) -> (Fracture, usize) {
    let mesh = fragments.mesh();
    let nodes = fragments.fragment(fracture.fragment).nodes();
    let mut cell = vec![NONE; mesh.positions().len()];
    for &n in nodes {
        cell[n as usize] = 0;
    }
    for (k, crack) in fracture.cracks.iter().enumerate() {
        for &(n, _) in crack.levels.iter().filter(|(_, level)| *level > 0.0) {
            cell[n as usize] = k as u32 + 1;
        }
    }
    let mut parts = Parts::flood(mesh, nodes, &cell);
    if parts.count == fracture.cracks.len() + 1 {
        return (fracture, parts.count);
    }
    let moved = parts.join_strays(mesh, &mut cell, rule);
    if moved.is_empty() {
        return (fracture, parts.count);
    }
    (rewrite(mesh, fracture, &cell, moved), parts.count)
}

/// Connected parts of cells, united as strays join their neighbours.
struct Parts {
    /// The part of each node of the mesh.
    of: Vec<u32>,
    nodes: Vec<Vec<u32>>,
    volumes: Vec<f64>,
    /// Whether it is a cell, or joined one.
    is_cell: Vec<bool>,
    parents: Vec<u32>,
    count: usize,
    whole: f64,
}

impl Parts {
    fn flood(mesh: &TetMesh, nodes: &[u32], cell: &[u32]) -> Self {
        let shares = node_volumes(mesh);
        let mut parts = Self {
            of: vec![NONE; cell.len()],
            nodes: Vec::new(),
            volumes: Vec::new(),
            is_cell: Vec::new(),
            parents: Vec::new(),
            count: 0,
            whole: nodes.iter().map(|&n| shares[n as usize]).sum(),
        };
        for &first in nodes {
            if parts.of[first as usize] != NONE {
                continue;
            }
            let id = parts.nodes.len() as u32;
            parts.of[first as usize] = id;
            let mut found = vec![first];
            let mut i = 0;
            while let Some(&n) = found.get(i) {
                for &m in mesh.adjacent_nodes(n) {
                    let slot = &mut parts.of[m as usize];
                    if *slot == NONE && cell[m as usize] == cell[n as usize] {
                        *slot = id;
                        found.push(m);
                    }
                }
                i += 1;
            }
            let volume = found.iter().map(|&n| shares[n as usize]).sum();
            parts.nodes.push(found);
            parts.volumes.push(volume);
            parts.parents.push(id);
        }
        parts.count = parts.nodes.len();
        // The largest part of each cell is the cell.
        let mut largest: Vec<Option<usize>> = vec![None; parts.count + 1];
        for p in 0..parts.count {
            let of = cell[parts.nodes[p][0] as usize] as usize;
            let best = largest[of].get_or_insert(p);
            if parts.volumes[p] > parts.volumes[*best] {
                *best = p;
            }
        }
        parts.is_cell = vec![false; parts.count];
        for p in largest.into_iter().flatten() {
            parts.is_cell[p] = true;
        }
        parts
    }

    fn root(&mut self, mut p: u32) -> u32 {
        while self.parents[p as usize] != p {
            self.parents[p as usize] = self.parents[self.parents[p as usize] as usize];
            p = self.parents[p as usize];
        }
        p
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        self.parents[high] = low as u32;
        self.volumes[low] += self.volumes[high];
        self.is_cell[low] |= self.is_cell[high];
        self.count -= 1;
    }

    /// Joins strays to neighbours and returns their nodes.
    fn join_strays(&mut self, mesh: &TetMesh, cell: &mut [u32], rule: &CrumbRule) -> Vec<u32> {
        let mut strays: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|&p| !self.is_cell[p as usize])
            .collect();
        strays.sort_by(|&a, &b| {
            let volume = |p: u32| self.volumes[p as usize];
            volume(a).total_cmp(&volume(b)).then(a.cmp(&b))
        });
        let mut moved = Vec::new();
        for stray in strays {
            let root = self.root(stray) as usize;
            let crumb = self.volumes[root] < rule.least_share * self.whole;
            let too_many = rule.most.is_some_and(|most| self.count > most);
            if self.is_cell[root] || !(crumb || too_many) {
                continue;
            }
            // Others may have joined this stray: all of them move on together.
            let group: Vec<u32> = (0..self.nodes.len() as u32)
                .filter(|&p| self.root(p) as usize == root)
                .collect();
            let own: Vec<u32> = group
                .iter()
                .flat_map(|&p| self.nodes[p as usize].iter().copied())
                .collect();
            let Some(target) = self.best_neighbour(mesh, cell, &own, root as u32) else {
                continue;
            };
            for &n in &own {
                cell[n as usize] = target;
            }
            for &n in &own {
                for &m in mesh.adjacent_nodes(n) {
                    if cell[m as usize] == target {
                        let there = self.of[m as usize];
                        self.unite(root as u32, there);
                    }
                }
            }
            moved.extend(own);
        }
        moved.sort_unstable();
        moved.dedup();
        moved
    }

    /// The cell with most edges to these nodes.
    fn best_neighbour(
        &mut self,
        mesh: &TetMesh,
        cell: &[u32],
        nodes: &[u32],
        root: u32,
    ) -> Option<u32> {
        let mut across = Vec::new();
        for &n in nodes {
            for &m in mesh.adjacent_nodes(n) {
                let there = self.of[m as usize];
                if there != NONE && self.root(there) != root {
                    across.push(cell[m as usize]);
                }
            }
        }
        across.sort_unstable();
        let mut best: Option<(usize, u32)> = None;
        for run in across.chunk_by(|a, b| a == b) {
            if best.is_none_or(|(edges, _)| run.len() > edges) {
                best = Some((run.len(), run[0]));
            }
        }
        best.map(|(_, cell)| cell)
    }
}

/// A quarter of every tetrahedron to each of its nodes.
fn node_volumes(mesh: &TetMesh) -> Vec<f64> {
    let mut shares = vec![0.0; mesh.positions().len()];
    for (t, tet) in mesh.tets().iter().enumerate() {
        let [a, b, c, d] = mesh.corners(t as u32).map(|p| p.as_dvec3());
        let volume = (b - a).cross(c - a).dot(d - a) / 24.0;
        for &n in tet {
            shares[n as usize] += volume;
        }
    }
    shares
}

/// The same cracks, with the nodes that moved on the side of the cell they joined.
fn rewrite(mesh: &TetMesh, fracture: Fracture, cell: &[u32], moved: Vec<u32>) -> Fracture {
    let parents: Vec<u32> = fracture.cracks.iter().map(|c| c.part).collect();
    // The part that holds a cell once parts 0 to `last` exist.
    let part_of = |mut cell: u32, last: u32| {
        while cell > last {
            cell = parents[cell as usize - 1];
        }
        cell
    };
    let is_moved = |n: u32| moved.binary_search(&n).is_ok();
    let mut cracks = Vec::with_capacity(fracture.cracks.len());
    for (k, crack) in fracture.cracks.iter().enumerate() {
        let k = k as u32;
        let size_of = |n: u32| {
            let known = crack.levels.binary_search_by_key(&n, |l| l.0);
            known.map_or_else(|_| half_edge(mesh, n), |i| crack.levels[i].1.abs())
        };
        let mut levels: Vec<(u32, f32)> = crack
            .levels
            .iter()
            .copied()
            .filter(|&(n, _)| !is_moved(n))
            .collect();
        for &n in &moved {
            let to = cell[n as usize];
            if part_of(to, k) == crack.part {
                let leaves = part_of(to, k + 1) == k + 1;
                levels.push((n, if leaves { size_of(n) } else { -size_of(n) }));
            }
        }
        levels.sort_unstable_by_key(|l| l.0);
        cracks.push(Crack {
            part: crack.part,
            levels,
        });
    }
    Fracture { cracks, ..fracture }
}

/// Half of the shortest edge at a node: a cut there is in the middle.
fn half_edge(mesh: &TetMesh, n: u32) -> f32 {
    let p = mesh.positions()[n as usize];
    let squared = mesh
        .adjacent_nodes(n)
        .iter()
        .map(|&m| p.distance_squared(mesh.positions()[m as usize]))
        .fold(f32::INFINITY, f32::min);
    0.5 * squared.sqrt()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::FragmentId;
    use fracas_core::testing::box_grid;
    use glam::Vec3;

    use super::*;
    use crate::patterns::{self, SlicesOptions, VoronoiOptions};

    /// A comb: a back with teeth, so that cells across teeth fall apart.
    fn comb() -> Fragments {
        let whole = box_grid([29, 20, 2], Vec3::new(1.0, 1.0, 0.1));
        let kept: Vec<[u32; 4]> = (0..whole.tets().len())
            .filter(|&t| {
                let middle = whole.corners(t as u32).iter().sum::<Vec3>() / 4.0;
                middle.y < 0.1 || ((middle.x * 29.0) as u32).is_multiple_of(2)
            })
            .map(|t| whole.tets()[t])
            .collect();
        let mut number = vec![NONE; whole.positions().len()];
        let mut positions = Vec::new();
        let tets = kept.iter().map(|tet| {
            tet.map(|n| {
                let slot = &mut number[n as usize];
                if *slot == NONE {
                    *slot = positions.len() as u32;
                    positions.push(whole.positions()[n as usize]);
                }
                *slot
            })
        });
        let tets = tets.collect();
        Fragments::new(Arc::new(TetMesh::build(positions, tets).unwrap()))
    }

    fn pieces(fracture: &Fracture) -> usize {
        let mut fragments = comb();
        fragments.apply(fracture).unwrap();
        fragments.validate().unwrap();
        fragments.living().count()
    }

    #[test]
    fn a_comb_gives_as_many_pieces_as_were_asked_for() {
        for seed in 0..20 {
            let options = VoronoiOptions {
                pieces: 12,
                roughness: 0.004 * (seed % 3) as f32,
                seed,
                ..Default::default()
            };
            let fracture = patterns::voronoi(&comb(), FragmentId(0), &options).unwrap();
            assert!(pieces(&fracture) <= 12, "seed {seed}");
            let options = SlicesOptions {
                pieces: 6,
                seed,
                ..Default::default()
            };
            let fracture = patterns::slices(&comb(), FragmentId(0), &options).unwrap();
            assert!(pieces(&fracture) <= 6, "seed {seed}");
        }
    }

    /// A piggy bank whose tail had come off gave 13 pieces of 12 asked for.
    #[test]
    fn a_body_in_parts_gives_no_more_pieces_than_asked_for() {
        let block = box_grid([6, 4, 4], Vec3::new(1.0, 0.5, 0.5));
        let (mut positions, mut tets) = (Vec::new(), Vec::new());
        for part in 0..3 {
            let shift = positions.len() as u32;
            let away = Vec3::new(0.0, 2.0 * part as f32, 0.0);
            positions.extend(block.positions().iter().map(|&p| p + away));
            tets.extend(block.tets().iter().map(|t| t.map(|n| n + shift)));
        }
        let mesh = Arc::new(TetMesh::build(positions, tets).unwrap());
        for (seed, pieces) in (0..8).flat_map(|seed| [(seed, 6), (seed, 12)]) {
            let mut fragments = Fragments::new(mesh.clone());
            let options = VoronoiOptions {
                pieces,
                seed,
                ..Default::default()
            };
            let fracture = patterns::voronoi(&fragments, FragmentId(0), &options).unwrap();
            fragments.apply(&fracture).unwrap();
            let given = fragments.living().count();
            assert!(
                (3..=pieces as usize).contains(&given),
                "{given} of {pieces}"
            );
            let mut fragments = Fragments::new(mesh.clone());
            let options = SlicesOptions {
                pieces,
                seed,
                ..Default::default()
            };
            let fracture = patterns::slices(&fragments, FragmentId(0), &options).unwrap();
            fragments.apply(&fracture).unwrap();
            let given = fragments.living().count();
            assert!(
                (3..=pieces as usize).contains(&given),
                "{given} of {pieces}"
            );
        }
    }

    #[test]
    fn large_strays_stay_where_there_is_no_limit() {
        let level: &dyn Fn(Vec3) -> f32 = &|p| p.y - 0.5;
        let teeth = patterns::user(&comb(), FragmentId(0), &[level]).unwrap();
        assert_eq!(pieces(&teeth), 16, "the back and fifteen tips");
        let rule = CrumbRule::default();
        assert_eq!(merge_crumbs(&comb(), teeth.clone(), &rule), teeth);
        // A limit takes the smallest strays first; here all are alike.
        for most in 2..16 {
            let rule = CrumbRule {
                most: Some(most),
                ..rule
            };
            assert_eq!(pieces(&merge_crumbs(&comb(), teeth.clone(), &rule)), most);
        }
    }

    #[test]
    fn a_crumb_joins_its_neighbour_and_a_small_cell_stays() {
        // The very tips of the teeth: each about a thousandth and a half.
        let tips: &dyn Fn(Vec3) -> f32 = &|p| p.y - 0.98;
        let fracture = patterns::user(&comb(), FragmentId(0), &[tips]).unwrap();
        assert_eq!(pieces(&fracture), 16);
        let rule = CrumbRule {
            least_share: 0.01,
            most: None,
        };
        let merged = merge_crumbs(&comb(), fracture, &rule);
        assert_eq!(pieces(&merged), 2, "the largest tip is the cell");
    }
}
