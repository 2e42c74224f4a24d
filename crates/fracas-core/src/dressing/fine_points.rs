//! Named points of a cut tetrahedron on the fine surface of a boundary.

use glam::{DVec2, DVec3, Vec3};

use crate::tet_mesh::{NONE, TET_FACES};
use crate::tet_part::{Corner, CornerPoints};

use super::fine_boundary::{FineBoundary, FinePoint};

/// What a point is, the same for all that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// A vertex of the fine surface.
    Fine(u32),
    /// A corner of the cut mesh, by the nodes of its simplex.
    Cut([u32; 4]),
    /// Where a side of a cut polygon crosses a small side: face, small side, side.
    Crossing(u32, u32, u8),
    /// The middle of a face that could not be clipped.
    Middle(u32),
}

/// A named point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub name: Name,
    pub at: FinePoint,
}

/// Points between the two corners of a side that a crack left in a face.
pub(super) struct Rim {
    pub from: Corner,
    pub to: Corner,
    pub between: Vec<Spot>,
}

/// The corners of a cut tetrahedron on the fine surface.
pub(super) struct Corners<'a> {
    pub fine: &'a FineBoundary,
    pub tet: u32,
    pub nodes: [u32; 4],
    pub across: [u32; 4],
    pub points: CornerPoints<'a>,
}

impl Corners<'_> {
    /// Where a corner of a cut is: on the fine surface, if it is on the boundary.
    pub fn spot(&self, corner: Corner) -> Spot {
        let name = Name::Cut(self.points.name(corner));
        let position = self.place(corner);
        let normal = Vec3::ZERO;
        Spot {
            name,
            at: FinePoint { position, normal },
        }
    }

    fn place(&self, corner: Corner) -> DVec3 {
        if let Some((edge, steps)) = self.on_edge(corner) {
            return self.fine.along_edge(edge, steps);
        }
        let weights = self.points.weights(corner);
        if corner.count_ones() == 3 {
            let side = (!corner & 0b1111).trailing_zeros() as u8;
            if self.across[side as usize] == NONE
                && let Some(face) = self.fine.face(self.tet, side)
            {
                let at = self.in_grid(side, &weights);
                return self.fine.in_face(face, at).position;
            }
        }
        // In the order of the nodes, as all tetrahedra around do it.
        let mut order = [0, 1, 2, 3];
        order.sort_unstable_by_key(|&i| self.nodes[i]);
        order.iter().fold(DVec3::ZERO, |sum, &i| {
            sum + self.fine.nodes[self.nodes[i] as usize] * weights[i]
        })
    }

    /// The edge of the boundary on which a corner lies, and how many steps from its lower
    /// node.
    pub fn on_edge(&self, corner: Corner) -> Option<(u32, f64)> {
        if corner.count_ones() != 2 {
            return None;
        }
        let first = corner.trailing_zeros() as usize;
        let second = (corner & !(1 << first)).trailing_zeros() as usize;
        let [a, b] = [self.nodes[first], self.nodes[second]];
        let high = if a > b { first } else { second };
        let edge = self.fine.edge(a, b)?;
        let steps = self.points.weights(corner)[high] * self.fine.divisions as f64;
        Some((edge, steps))
    }

    /// Weights in the tetrahedron as steps in the grid of a face.
    pub fn in_grid(&self, side: u8, weights: &[f64; 4]) -> DVec2 {
        let [_, b, c] = TET_FACES[side as usize];
        DVec2::new(weights[b], weights[c]) * self.fine.divisions as f64
    }
}

/// The middle of an outline, long sides counting more: points that lie close together
/// do not draw it to them.
pub(super) fn middle_of(outline: &[Spot]) -> DVec3 {
    let (mut sum, mut length) = (DVec3::ZERO, 0.0);
    for i in 0..outline.len() {
        let [a, b] = [i, (i + 1) % outline.len()].map(|k| outline[k].at.position);
        let side = a.distance(b);
        sum += (a + b) * (0.5 * side);
        length += side;
    }
    if length > 0.0 {
        sum / length
    } else {
        outline[0].at.position
    }
}
