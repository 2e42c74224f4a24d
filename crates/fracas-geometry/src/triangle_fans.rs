//! Fans: the triangles around a vertex that hang together by their edges.
//!
//! A vertex with two fans is a place where a surface touches itself.

use crate::tet_mesh::{NONE, TetMesh};

/// One side of a triangle at an edge.
#[derive(Clone, Copy, Debug)]
pub struct EdgeSide {
    low: u32,
    high: u32,
    /// Three times the triangle, plus the corner at which the side begins.
    begin: u32,
    /// The corner at which it ends.
    end: u32,
    /// Whether it runs from the lower vertex to the higher.
    forward: bool,
}

impl EdgeSide {
    /// Index of the triangle.
    #[must_use]
    pub fn triangle(&self) -> u32 {
        self.begin / 3
    }

    /// The corners at the lower and at the higher vertex.
    fn corners(&self) -> [u32; 2] {
        if self.forward {
            [self.begin, self.end]
        } else {
            [self.end, self.begin]
        }
    }
}

/// The fan of every corner of every triangle, named by one of its corners. `pair`
/// says which two sides of a group of more than two at one edge belong together.
pub fn fans(
    triangles: &[[u32; 3]],
    mut pair: impl FnMut([u32; 2], &[EdgeSide]) -> Vec<[usize; 2]>,
) -> Vec<u32> {
    let mut sides: Vec<EdgeSide> = Vec::with_capacity(triangles.len() * 3);
    for (t, triangle) in triangles.iter().enumerate() {
        for i in 0..3 {
            let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
            sides.push(EdgeSide {
                low: a.min(b),
                high: a.max(b),
                begin: (t * 3 + i) as u32,
                end: (t * 3 + (i + 1) % 3) as u32,
                forward: a < b,
            });
        }
    }
    sides.sort_unstable_by_key(|s| (s.low, s.high, s.begin));
    let mut fan: Vec<u32> = (0..triangles.len() as u32 * 3).collect();
    for group in sides.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high)) {
        let pairs = if group.len() <= 2 {
            pair_up(group)
        } else {
            pair([group[0].low, group[0].high], group)
        };
        for [a, b] in pairs {
            for (x, y) in group[a].corners().into_iter().zip(group[b].corners()) {
                unite(&mut fan, x, y);
            }
        }
    }
    for corner in 0..fan.len() as u32 {
        fan[corner as usize] = root(&mut fan, corner);
    }
    fan
}

/// Pairs sides in the order given: right when there are two.
#[must_use]
pub fn pair_up(group: &[EdgeSide]) -> Vec<[usize; 2]> {
    (0..group.len() / 2).map(|k| [2 * k, 2 * k + 1]).collect()
}

/// Whether the boundary of a mesh touches itself (is not 2-manifold).
#[must_use]
pub fn touches_itself(mesh: &TetMesh) -> bool {
    let triangles: Vec<[u32; 3]> = mesh.boundary().map(|face| face.nodes).collect();
    let mut crowded = false;
    let fans = fans(&triangles, |_, group| {
        crowded = true;
        pair_up(group)
    });
    let mut fan_of = vec![NONE; mesh.positions().len()];
    let split = fans.iter().enumerate().any(|(corner, &fan)| {
        let slot = &mut fan_of[triangles[corner / 3][corner % 3] as usize];
        let other = *slot != NONE && *slot != fan;
        *slot = fan;
        other
    });
    crowded || split
}

fn root(fan: &mut [u32], mut corner: u32) -> u32 {
    while fan[corner as usize] != corner {
        fan[corner as usize] = fan[fan[corner as usize] as usize];
        corner = fan[corner as usize];
    }
    corner
}

fn unite(fan: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(fan, a), root(fan, b));
    // The lower corner names the fan, so that names do not depend on the order.
    fan[a.max(b) as usize] = a.min(b);
}
