//! How deep the voxels of the finest level lie under the surface, and which way leads out.
//!
//! Steps: a voxel at the surface lies as deep as its occupancy says -> from these the others are
//! reached layer by layer, each taking the nearest surface point that a neighbour knows -> once
//! more in the same order, for what a later neighbour knew better.
//!
//! Not in [Dingliana 2004], whose impulses need no depth: cubes at the surface tell of an overlap
//! of a voxel at the most, and where bodies are deeper in each other the lines between the centres
//! of their cubes point anywhere.
//!
//! **Guarantee**: a ball of that radius about the voxel's centre lies within the object, but for
//! less than a voxel (tests). Two such balls at one place can only be parted by the sum of their
//! radii, so what two voxels that overlap say is never more than the true depth, but for that.

use glam::Vec3;

use super::node::Node;

/// What is fuller lies inside, if no neighbour is empty.
const FULL: f32 = 0.999;

/// Fills in [`Node::inner`], direction and region of voxels inside. `cells` are the voxels of
/// `nodes` in a grid of `counts`.
pub(super) fn measure(cells: &[[u32; 3]], counts: [u32; 3], cell: f32, nodes: &mut [Node]) {
    let index = |[x, y, z]: [u32; 3]| ((z * counts[1] + y) * counts[0] + x) as usize;
    let mut place = vec![u32::MAX; counts.iter().map(|&c| c as usize).product()];
    for (i, &at) in cells.iter().enumerate() {
        place[index(at)] = i as u32;
    }
    let known = |at: [u32; 3]| {
        let is_inside = (0..3).all(|a| at[a] < counts[a]);
        let found = is_inside.then(|| place[index(at)]);
        found.filter(|&i| i != u32::MAX)
    };
    // Of each voxel the nearest one at the surface, itself if it is there.
    let mut nearest: Vec<u32> = (0_u32..)
        .zip(nodes.iter())
        .map(|(i, node)| {
            let faces = neighbours(cells[i as usize]).filter(|(_, is_face)| *is_face);
            let covered = faces.filter_map(|(at, _)| known(at)).count() == 6;
            if node.occupancy > FULL && covered {
                u32::MAX
            } else {
                i
            }
        })
        .collect();
    let surface: Vec<Vec3> = nodes
        .iter()
        .map(|node| node.centre + node.outward * shallow(node.occupancy, cell))
        .collect();
    // Layer by layer.
    let mut order: Vec<u32> = (0_u32..)
        .zip(&nearest)
        .filter(|(_, n)| **n != u32::MAX)
        .map(|(i, _)| i)
        .collect();
    let layers_from = order.len();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for (cell, _) in neighbours(cells[at as usize]) {
            if let Some(i) = known(cell)
                && nearest[i as usize] == u32::MAX
            {
                nearest[i as usize] = nearest[at as usize];
                order.push(i);
            }
        }
    }
    for &i in order[layers_from..].iter().chain(&order[layers_from..]) {
        let centre = nodes[i as usize].centre;
        let far = |s: u32| centre.distance_squared(surface[s as usize]);
        let told = neighbours(cells[i as usize]).filter_map(|(at, _)| known(at));
        let told = told.map(|j| nearest[j as usize]).filter(|&s| s != u32::MAX);
        let best = told.min_by(|&s, &t| far(s).total_cmp(&far(t)).then(s.cmp(&t)));
        if let Some(s) = best
            && far(s) < far(nearest[i as usize])
        {
            nearest[i as usize] = s;
        }
    }
    for i in 0..nodes.len() {
        let s = nearest[i] as usize;
        if s == i {
            nodes[i].inner = shallow(nodes[i].occupancy, cell);
        } else if let Some(&out) = surface.get(s) {
            let group = nodes[s].group;
            let way = out - nodes[i].centre;
            let node = &mut nodes[i];
            (node.inner, node.group) = (way.length(), group);
            node.outward = way.normalize_or_zero();
        }
    }
}

/// How far the surface is from the centre of a cube of that share, half of it being half full.
pub(super) fn shallow(occupancy: f32, cell: f32) -> f32 {
    0.5 * cell * (2.0 * occupancy - 1.0)
}

/// The neighbours of a cell, and whether they share a face with it.
fn neighbours(cell: [u32; 3]) -> impl Iterator<Item = ([u32; 3], bool)> {
    (0..27_u32).filter(|&i| i != 13).filter_map(move |i| {
        let step = [i % 3, i / 3 % 3, i / 9];
        let mut next = [0; 3];
        for a in 0..3 {
            next[a] = (cell[a] + step[a]).checked_sub(1)?;
        }
        let across = step.iter().filter(|&&s| s != 1).count();
        Some((next, across == 1))
    })
}

#[cfg(test)]
mod tests {
    use glam::{Mat3, Vec3};

    use crate::voxel_tree::{VoxTree, VoxelGrid};
    use fracas_geometry::testing::{Rng, box_grid};

    /// A box about the origin, turned.
    fn turned_box(size: Vec3, cell: f32, turn: Mat3) -> VoxTree {
        let mesh = box_grid([1, 1, 1], size);
        let positions = mesh.positions().iter().map(|p| turn * (*p - 0.5 * size));
        let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        let positions: Vec<Vec3> = positions.collect();
        let grid = VoxelGrid::from_surface(&positions, &triangles, cell).unwrap();
        VoxTree::build(&grid, 2)
    }

    #[test]
    fn voxels_know_how_deep_they_lie_and_the_nearest_way_out() {
        let (size, cell) = (Vec3::new(1.0, 0.7, 0.45), 0.05);
        let mut rng = Rng(31);
        let (mut inside, mut worst) = (0, 0.0_f32);
        for _ in 0..20 {
            let turn = Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 3.0));
            let tree = turned_box(size, cell, turn);
            for node in &tree.levels().last().unwrap().nodes {
                let p = turn.transpose() * node.centre;
                let to_faces = 0.5 * size - p.abs();
                let depth = to_faces.min_element();
                worst = worst.max((node.inner - depth).abs() / cell);
                // Where one face is the nearest by far, the way is its normal.
                let mut sorted = to_faces.to_array();
                sorted.sort_by(f32::total_cmp);
                if depth > cell && sorted[1] > depth + 3.0 * cell {
                    let out = p + turn.transpose() * node.outward * node.inner;
                    let beyond = (out.abs() - 0.5 * size).max_element();
                    assert!(
                        beyond.abs() < 0.75 * cell,
                        "{p} ends {beyond} from the surface"
                    );
                    inside += 1;
                }
            }
        }
        assert!(inside > 1000, "{inside}");
        assert!(worst < 1.0, "off by {worst} voxels");
    }

    #[test]
    fn voxels_inside_belong_to_the_region_of_the_surface_that_is_nearest() {
        let tree = turned_box(Vec3::new(1.0, 0.7, 0.4), 0.05, Mat3::IDENTITY);
        let nodes = &tree.levels().last().unwrap().nodes;
        let under = |z: f32| {
            let near = |p: Vec3| p.x.abs() < 0.03 && p.y.abs() < 0.03 && (p.z - z).abs() < 0.026;
            let found = nodes.iter().find(|n| near(n.centre));
            *found.unwrap()
        };
        let (top, below, bottom) = (under(0.2), under(0.1), under(-0.1));
        assert!(below.inner > 0.05 && below.outward.z > 0.9, "{below:?}");
        assert_eq!(below.group, top.group);
        assert_ne!(below.group, bottom.group);
    }
}
