//! In which order nodes are eliminated: nested dissection by coordinates, which on
//! meshes of bodies makes half the work of approximate minimum degree.
//!
//! Source: George 1973, with planes through the median instead of a regular grid.

use glam::DVec3;

use crate::block_matrix::BlockMatrix;

/// Nested dissection by coordinates: halve the nodes across their longest extent,
/// order both halves first and the nodes that join them last.
#[must_use]
pub fn dissect(matrix: &BlockMatrix, positions: &[DVec3]) -> Vec<u32> {
    let nodes = matrix.nodes();
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for j in 0..nodes {
        for &i in &matrix.column(j).0[1..] {
            neighbours[j].push(i);
            neighbours[i as usize].push(j as u32);
        }
    }
    let mut side = vec![0_u32; nodes];
    let mut stamp = 1;
    let mut order = Vec::with_capacity(nodes);
    // Written back to front: separators first, then the halves.
    let mut work: Vec<Vec<u32>> = vec![(0..nodes as u32).collect()];
    while let Some(mut set) = work.pop() {
        if set.len() <= 32 {
            order.extend(set.iter().rev());
            continue;
        }
        let at = |n: u32| positions[n as usize];
        let (lo, hi) = set.iter().fold((at(set[0]), at(set[0])), |(lo, hi), &n| {
            (lo.min(at(n)), hi.max(at(n)))
        });
        let size = hi - lo;
        let axis = (0..3).fold(0, |best, i| if size[i] > size[best] { i } else { best });
        set.sort_unstable_by(|&a, &b| at(a)[axis].total_cmp(&at(b)[axis]).then(a.cmp(&b)));
        let right = set.split_off(set.len() / 2);
        for &n in &right {
            side[n as usize] = stamp;
        }
        let (joining, left): (Vec<u32>, Vec<u32>) = set.into_iter().partition(|&n| {
            neighbours[n as usize]
                .iter()
                .any(|&m| side[m as usize] == stamp)
        });
        stamp += 1;
        // Stamps of the right half must not be mistaken later: they differ by then.
        order.extend(joining.iter().rev());
        work.push(left);
        work.push(right);
    }
    order.reverse();
    order
}
