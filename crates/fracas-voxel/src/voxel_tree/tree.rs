//! The hierarchy: cubes of one size on every level, each knowing how full it is.
//!
//! Steps: take the voxels that are not empty, with their outward direction -> sort
//! them so that the children of one parent are neighbours in memory -> join them
//! level by level, `branching` to a side, until one cube is left.
//!
//! Source: [Dingliana 2004, section 3.1]; outward directions after eq. 8.
//! **Deviation**: eq. 8 lacks a sign. Density grows into the object, so its
//! outward normal is *minus* the gradient.
//! Besides the cube a node keeps the box of its content: nothing in the paper needs
//! it, but a floor does (see `detect.rs`), or bodies seen coarsely would hover or sink;
//! and the box of its voxels, which a coarse cube mostly exceeds.
//! **Guarantee**: every node covers all of its children; a node is as full as its
//! children together, the missing ones counting as empty.

use glam::Vec3;

use super::groups;
use super::inner::{self, shallow};
use super::node::Node;
use super::voxelize::VoxelGrid;

/// What detection asks of a cube, apart from the rest: a crowd's trees do not fit the
/// cache, and eight children lie in four of its lines this way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    /// The box of its voxels that are not empty: middle and half edges. On the finest
    /// level the cube itself.
    pub(crate) voxels: (Vec3, Vec3),
    /// How far under the surface the deepest of its voxels lies, by their centres.
    pub(crate) deepest: f32,
    /// Its children on the next level: first index and number (0 on the finest).
    pub(crate) children: (u32, u32),
}

/// One level: all its cubes have one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The edge of its cubes.
    pub cell: f32,
    /// Its cubes that are not empty.
    pub nodes: Vec<Node>,
    /// The same cubes' extents.
    pub(crate) extents: Vec<Extent>,
}

/// A hierarchy of voxels, coarsest level first.
#[derive(Clone, Debug, PartialEq)]
pub struct VoxTree {
    branching: u32,
    levels: Vec<Level>,
    group_count: u32,
}

/// Largest branching factor: more would make a level's step too coarse to stop in.
const MOST_BRANCHING: u32 = 16;

impl VoxTree {
    /// Joins voxels `branching` to a side (2 gives an octree; clamped to 2..=16).
    /// An empty grid gives a tree without nodes, which touches nothing.
    #[must_use]
    pub fn build(grid: &VoxelGrid, branching: u32) -> Self {
        let branching = branching.clamp(2, MOST_BRANCHING);
        let widest = grid.counts.into_iter().max().unwrap_or(1);
        let mut depth = 0;
        while branching.pow(depth) < widest {
            depth += 1;
        }
        let (finest, cells, group_count) = finest_level(grid, branching, depth);
        let mut tree = Self {
            branching,
            levels: vec![finest],
            group_count,
        };
        let mut parents = None;
        for _ in 0..depth {
            let below = parents.as_ref().unwrap_or(&cells);
            let (level, its_cells) = tree.join(below, grid.origin);
            tree.levels.insert(0, level);
            parents = Some(its_cells);
        }
        if let Some(finest) = tree.levels.last_mut() {
            inner::measure(&cells, grid.counts, grid.cell, &mut finest.nodes);
        }
        tree.note_deepest();
        tree
    }

    /// The levels, coarsest first.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The edge of the finest cubes.
    #[must_use]
    pub fn finest_cell(&self) -> f32 {
        self.levels.last().map_or(0.0, |level| level.cell)
    }

    /// How many cubes to a side of their parent.
    #[must_use]
    pub fn branching(&self) -> u32 {
        self.branching
    }

    /// How many near-planar regions the surface has.
    #[must_use]
    pub fn group_count(&self) -> u32 {
        self.group_count
    }

    /// How far its voxels reach from the origin of the object's frame.
    #[must_use]
    pub fn radius(&self) -> f32 {
        let root = self.levels[0].extents.first();
        root.map_or(0.0, |r| (r.voxels.0.abs() + r.voxels.1).length())
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.levels[0].nodes.is_empty()
    }

    /// The children of a node, by their place on the next level.
    pub(crate) fn children(&self, level: usize, node: u32) -> std::ops::Range<u32> {
        let (first, count) = self.levels[level].extents[node as usize].children;
        first..first + count
    }

    /// Checks everything that the guarantee says.
    ///
    /// # Errors
    /// What does not hold, in words.
    pub fn validate(&self) -> Result<(), String> {
        for (l, pair) in self.levels.windows(2).enumerate() {
            let (coarse, fine) = (&pair[0], &pair[1]);
            let mut expected = 0;
            for (i, node) in coarse.nodes.iter().enumerate() {
                let (first, count) = coarse.extents[i].children;
                if first != expected || count == 0 {
                    return Err(format!(
                        "level {l}, node {i}: children {first}+{count}, expected from {expected}"
                    ));
                }
                expected += count;
                let mut filled = 0.0;
                for c in first as usize..(first + count) as usize {
                    let child = &fine.nodes[c];
                    let reach = 0.5 * (coarse.cell - fine.cell) + 1e-4 * coarse.cell;
                    if (child.centre - node.centre).abs().max_element() > reach {
                        return Err(format!("level {l}, node {i}: a child sticks out"));
                    }
                    filled += f64::from(child.occupancy);
                    let (middle, half) = coarse.extents[i].voxels;
                    let (inner, inner_half) = fine.extents[c].voxels;
                    let beyond = (inner - middle).abs() + inner_half - half;
                    if beyond.max_element() > 1e-4 * fine.cell {
                        return Err(format!("level {l}, node {i}: a child's voxels stick out"));
                    }
                    let (low, high) = node.content;
                    if child.content.0.cmplt(low).any() || child.content.1.cmpgt(high).any() {
                        return Err(format!("level {l}, node {i}: a child's content sticks out"));
                    }
                }
                let share = filled / f64::from(self.branching).powi(3);
                if (share - f64::from(node.occupancy)).abs() > 1e-5 {
                    return Err(format!(
                        "level {l}, node {i}: {} full, its children {share}",
                        node.occupancy
                    ));
                }
            }
            if expected as usize != fine.nodes.len() {
                return Err(format!(
                    "level {l}: {expected} children of {}",
                    fine.nodes.len()
                ));
            }
        }
        Ok(())
    }

    /// Fills in [`Extent::deepest`], from the finest level up.
    fn note_deepest(&mut self) {
        if let Some(finest) = self.levels.last_mut() {
            for (extent, node) in finest.extents.iter_mut().zip(&finest.nodes) {
                extent.deepest = node.inner;
            }
        }
        for l in (1..self.levels.len()).rev() {
            let (coarse, fine) = self.levels.split_at_mut(l);
            let fine = &fine[0].extents;
            for extent in &mut coarse[l - 1].extents {
                let (first, count) = extent.children;
                let children = &fine[first as usize..(first + count) as usize];
                let depths = children.iter().map(|c| c.deepest);
                extent.deepest = depths.fold(f32::NEG_INFINITY, f32::max);
            }
        }
    }

    /// The level above the present coarsest, and the cells of its nodes.
    fn join(&mut self, cells: &[[u32; 3]], origin: Vec3) -> (Level, Vec<[u32; 3]>) {
        let fine = &self.levels[0];
        let cell = fine.cell * self.branching as f32;
        let (mut nodes, mut extents, mut parents) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        while first < cells.len() {
            let parent = cells[first].map(|c| c / self.branching);
            let count = cells[first..]
                .iter()
                .take_while(|c| c.map(|x| x / self.branching) == parent)
                .count();
            let children = &fine.nodes[first..first + count];
            let filled: f64 = children.iter().map(|c| f64::from(c.occupancy)).sum();
            let outward: Vec3 = children.iter().map(|c| c.outward * c.occupancy).sum();
            let occupancy = (filled / f64::from(self.branching).powi(3)) as f32;
            nodes.push(Node {
                centre: origin + (Vec3::from(parent.map(|c| c as f32)) + 0.5) * cell,
                occupancy,
                inner: shallow(occupancy, cell),
                outward: outward.normalize_or_zero(),
                group: most_common(children),
                content: children
                    .iter()
                    .map(|c| c.content)
                    .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
                    .unwrap_or_default(),
            });
            extents.push(Extent {
                voxels: join_voxels(&fine.extents[first..first + count]),
                deepest: 0.0,
                children: (first as u32, count as u32),
            });
            parents.push(parent);
            first += count;
        }
        let level = Level {
            cell,
            nodes,
            extents,
        };
        (level, parents)
    }
}

/// The voxels that are not empty, sorted by the digits of their coordinates in
/// base `branching`, the highest first: children of one parent stand together.
fn finest_level(grid: &VoxelGrid, branching: u32, depth: u32) -> (Level, Vec<[u32; 3]>, u32) {
    let [nx, ny, nz] = grid.counts;
    let mut cells: Vec<[u32; 3]> = Vec::new();
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                if grid.occupancy([x, y, z].map(i64::from)) > 0.0 {
                    cells.push([x, y, z]);
                }
            }
        }
    }
    let key = |c: &[u32; 3]| {
        (0..depth).rev().fold(0_u128, |key, digit| {
            let scale = branching.pow(digit);
            c.iter().fold(key, |key, x| {
                key * u128::from(branching) + u128::from(x / scale % branching)
            })
        })
    };
    cells.sort_by_cached_key(key);
    let outward: Vec<Vec3> = cells.iter().map(|&c| outward(grid, c)).collect();
    let (group, group_count) = groups::grow(&cells, grid.counts, &outward);
    let nodes: Vec<Node> = cells
        .iter()
        .enumerate()
        .map(|(i, c)| Node {
            centre: grid.origin + (Vec3::from(c.map(|x| x as f32)) + 0.5) * grid.cell,
            occupancy: grid.occupancy(c.map(i64::from)),
            inner: 0.0,
            outward: outward[i],
            group: group[i],
            content: content(grid, *c),
        })
        .collect();
    let half = Vec3::splat(0.5 * grid.cell);
    let extent = |node: &Node| Extent {
        voxels: (node.centre, half),
        deepest: 0.0,
        children: (0, 0),
    };
    (
        Level {
            cell: grid.cell,
            extents: nodes.iter().map(extent).collect(),
            nodes,
        },
        cells,
        group_count,
    )
}

/// The box around the voxels of some cubes.
fn join_voxels(extents: &[Extent]) -> (Vec3, Vec3) {
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for extent in extents {
        let (middle, half) = extent.voxels;
        (low, high) = (low.min(middle - half), high.max(middle + half));
    }
    (0.5 * (low + high), 0.5 * (high - low))
}

/// The box of a voxel's content. Towards a neighbour that is not empty it is the
/// voxel's own face; towards an empty one the content ends within the voxel, so its
/// last point lies on the surface, whose box was kept.
fn content(grid: &VoxelGrid, cell: [u32; 3]) -> (Vec3, Vec3) {
    let [x, y, z] = cell.map(|c| c as usize);
    let [nx, ny, _] = grid.counts.map(|c| c as usize);
    let kept = grid.content[(z * ny + y) * nx + x];
    let corner = grid.origin + Vec3::from(cell.map(|c| c as f32)) * grid.cell;
    let (mut low, mut high) = (corner, corner + grid.cell);
    for a in 0..3 {
        let beside = |step: i64| {
            let mut at = cell.map(i64::from);
            at[a] += step;
            grid.occupancy(at) > 0.0
        };
        if !beside(-1) {
            low[a] = corner[a] + f32::from(kept[a]) / 255.0 * grid.cell;
        }
        if !beside(1) {
            high[a] = corner[a] + f32::from(kept[a + 3]) / 255.0 * grid.cell;
        }
    }
    (low, high.max(low))
}

/// Minus the gradient of the occupancy, by Sobel differences: a central difference
/// smoothed over the 3 x 3 neighbours across it. Zero where it vanishes.
fn outward(grid: &VoxelGrid, cell: [u32; 3]) -> Vec3 {
    let mut gradient = Vec3::ZERO;
    for dz in -1_i64..=1 {
        for dy in -1_i64..=1 {
            for dx in -1_i64..=1 {
                let [x, y, z] = cell.map(i64::from);
                let weight = |d: i64| (2 - d.abs()) as f32;
                let value = grid.occupancy([x + dx, y + dy, z + dz]);
                gradient += value
                    * Vec3::new(
                        dx as f32 * weight(dy) * weight(dz),
                        dy as f32 * weight(dx) * weight(dz),
                        dz as f32 * weight(dx) * weight(dy),
                    );
            }
        }
    }
    // The largest possible is 16: what is below a thousandth of it is rounding.
    if gradient.length() < 0.016 {
        Vec3::ZERO
    } else {
        -gradient.normalize()
    }
}

/// The region that fills most of some nodes (the lowest of equals); regions with a
/// direction come before region 0.
fn most_common(nodes: &[Node]) -> u32 {
    let mut shares: Vec<(u32, f32)> = Vec::new();
    for node in nodes.iter().filter(|n| n.group != 0) {
        match shares.iter_mut().find(|(g, _)| *g == node.group) {
            Some((_, share)) => *share += node.occupancy,
            None => shares.push((node.group, node.occupancy)),
        }
    }
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares.first().map_or(0, |(g, _)| *g)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::box_grid;

    fn box_tree(cell: f32, branching: u32) -> VoxTree {
        let mesh = box_grid([1, 1, 1], Vec3::new(1.0, 0.7, 0.4));
        let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        let grid = VoxelGrid::from_surface(mesh.positions(), &triangles, cell).unwrap();
        VoxTree::build(&grid, branching)
    }

    #[test]
    fn any_branching_gives_a_valid_tree_with_one_root() {
        for branching in [2, 3, 5, 16] {
            let tree = box_tree(0.06, branching);
            tree.validate().unwrap();
            assert_eq!(tree.levels()[0].nodes.len(), 1);
            let volume = |l: &Level| {
                l.nodes.iter().map(|n| f64::from(n.occupancy)).sum::<f64>()
                    * f64::from(l.cell).powi(3)
            };
            for level in tree.levels() {
                assert!(
                    (volume(level) - 0.28).abs() < 1e-4,
                    "branching {branching}: {}",
                    volume(level)
                );
            }
        }
    }

    #[test]
    fn outward_directions_of_a_box_are_its_normals() {
        let tree = box_tree(0.05, 2);
        let finest = tree.levels().last().unwrap();
        let middle = finest.nodes.iter().filter(|n| {
            (n.centre.x - 0.5).abs() < 0.2 && (n.centre.y - 0.35).abs() < 0.1 && n.centre.z > 0.375
        });
        let mut seen = 0;
        for node in middle {
            assert!(node.outward.dot(Vec3::Z) > 0.99, "{node:?}");
            seen += 1;
        }
        assert!(seen > 10);
    }

    #[test]
    fn a_box_has_six_sides_as_its_large_groups() {
        let tree = box_tree(0.05, 2);
        let finest = tree.levels().last().unwrap();
        let mut sizes = vec![0; tree.group_count() as usize];
        for node in finest.nodes.iter().filter(|n| n.outward != Vec3::ZERO) {
            sizes[node.group as usize] += 1;
        }
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let total: i32 = sizes.iter().sum();
        let six: i32 = sizes.iter().take(6).sum();
        assert!(f64::from(six) > 0.7 * f64::from(total), "{sizes:?}");
    }

    #[test]
    fn an_empty_grid_gives_an_empty_tree() {
        let grid = VoxelGrid::from_volume(Vec3::ZERO, 1.0, [2, 2, 2], vec![0.0; 8]).unwrap();
        let tree = VoxTree::build(&grid, 2);
        assert!(tree.is_empty());
        tree.validate().unwrap();
    }
}
