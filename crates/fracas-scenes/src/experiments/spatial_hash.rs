//! Spatial hashing [Teschner 2003], the usual rival for deforming meshes: triangles
//! into the cells of a uniform grid, pairs within cells tested exactly.

use fracas_core::primitives::tri_tri;
use fracas_fastcd::FastBvh;
use glam::DVec3;

/// Intersecting pairs of triangles that share no vertex, at the end of the step.
#[must_use]
pub fn intersections(scene: &FastBvh) -> Vec<[u32; 2]> {
    let mut triangles: Vec<(u32, [u32; 3], [DVec3; 3])> = Vec::new();
    for body in scene.bodies() {
        for &t in scene.triangles(body).unwrap_or(&[]) {
            if let Some(corners) = scene.corners(t) {
                triangles.push((
                    t,
                    corners,
                    corners.map(|v| scene.position(v).map_or(DVec3::ZERO, |p| p[1])),
                ));
            }
        }
    }
    let boxes: Vec<(DVec3, DVec3)> = triangles
        .iter()
        .map(|(_, _, [a, b, c])| (a.min(*b).min(*c), a.max(*b).max(*c)))
        .collect();
    // The cell is the mean extent, the recommendation of the paper.
    let extent: f64 = boxes.iter().map(|(l, h)| (*h - *l).max_element()).sum();
    let cell = (extent / boxes.len().max(1) as f64).max(1e-9);
    let key = |p: DVec3| (p / cell).floor().to_array().map(|x| x as i64);
    let hash = |x: i64, y: i64, z: i64| {
        (x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663) ^ z.wrapping_mul(83_492_791))
            as u64
    };
    let mut entries: Vec<(u64, u32)> = Vec::new();
    for (i, (low, high)) in boxes.iter().enumerate() {
        let (a, b) = (key(*low), key(*high));
        for z in a[2]..=b[2] {
            for y in a[1]..=b[1] {
                for x in a[0]..=b[0] {
                    entries.push((hash(x, y, z), i as u32));
                }
            }
        }
    }
    entries.sort_unstable();
    let mut out = Vec::new();
    for group in entries.chunk_by(|a, b| a.0 == b.0) {
        for (i, a) in group.iter().enumerate() {
            for b in &group[i + 1..] {
                let (p, q) = (a.1 as usize, b.1 as usize);
                let ((al, ah), (bl, bh)) = (boxes[p], boxes[q]);
                if p == q || al.cmpgt(bh).any() || bl.cmpgt(ah).any() {
                    continue;
                }
                let (first, second) = (&triangles[p], &triangles[q]);
                if first.1.iter().any(|v| second.1.contains(v)) {
                    continue;
                }
                if tri_tri::intersect(first.2, second.2) {
                    out.push([first.0.min(second.0), first.0.max(second.0)]);
                }
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}
