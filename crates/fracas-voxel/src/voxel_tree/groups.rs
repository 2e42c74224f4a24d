//! Which voxels may be averaged: near-planar regions of the surface.
//!
//! Steps: from the first voxel without a region, grow over neighbours whose
//! outward direction stays within a cone about the region's first one, and go on
//! until every voxel has a region. Voxels without direction (deep inside) share
//! region 0.
//!
//! Source: [Dingliana 2004, section 3.9]: regions by orientation, found from the
//! occupancy's gradient for volumes.

use glam::Vec3;

/// Directions further apart than this do not share a region (cosine of 35
/// degrees: under half the turn at a cube's edge, over the noise of a curved face).
const SAME_REGION_COSINE: f32 = 0.819;

/// The region of every cell, and how many there are.
pub(super) fn grow(cells: &[[u32; 3]], counts: [u32; 3], outward: &[Vec3]) -> (Vec<u32>, u32) {
    let index = |[x, y, z]: [u32; 3]| ((z * counts[1] + y) * counts[0] + x) as usize;
    let mut place = vec![u32::MAX; counts.iter().map(|&c| c as usize).product()];
    for (i, &cell) in cells.iter().enumerate() {
        place[index(cell)] = i as u32;
    }
    let mut region = vec![u32::MAX; cells.len()];
    let mut count = 1;
    let mut open = Vec::new();
    for start in 0..cells.len() {
        if region[start] != u32::MAX {
            continue;
        }
        if outward[start] == Vec3::ZERO {
            region[start] = 0;
            continue;
        }
        region[start] = count;
        open.push(start);
        while let Some(at) = open.pop() {
            for neighbour in neighbours(cells[at]) {
                if (0..3).any(|a| neighbour[a] >= counts[a]) {
                    continue;
                }
                let next = place[index(neighbour)] as usize;
                if next == u32::MAX as usize {
                    continue;
                }
                if region[next] == u32::MAX
                    && outward[next].dot(outward[start]) > SAME_REGION_COSINE
                {
                    region[next] = count;
                    open.push(next);
                }
            }
        }
        count += 1;
    }
    (region, count)
}

fn neighbours(cell: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..27).filter(|&i| i != 13).filter_map(move |i| {
        let step = [i % 3, i / 3 % 3, i / 9];
        let mut next = [0; 3];
        for a in 0..3 {
            next[a] = (cell[a] + step[a]).checked_sub(1)?;
        }
        Some(next)
    })
}
