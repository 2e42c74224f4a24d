//! How far a march must go that is asked about some nodes only.

use glam::Vec3;

/// Speed limit of a feature: it advances along an edge in no less than this share
/// of the edge's length. Larger makes partial marches more local and errors larger
/// (`docs/tet_distance.md` has the figures).
pub const CAUSALITY: f32 = 0.35;

/// Restricts a march to what can influence the wanted nodes.
pub(super) struct Bound<'a> {
    pub(super) boxes: &'a [[Vec3; 2]],
    /// One box around all of them: what lies too far from it lies too far from each.
    pub(super) whole: [Vec3; 2],
    /// `CAUSALITY * r`.
    pub(super) limit: f32,
    /// The farthest a node may lie from the boxes.
    pub(super) margin: f32,
    /// Kept back from the limit, for rounding.
    pub(super) slack: f32,
}

impl Bound<'_> {
    /// A lower bound of the distance to any wanted node, 1-Lipschitz.
    #[inline]
    pub fn beyond(&self, p: Vec3) -> f32 {
        let mut squared = f32::INFINITY;
        for b in self.boxes {
            squared = squared.min(squared_outside(b, p));
            if squared == 0.0 {
                break;
            }
        }
        squared.sqrt()
    }

    #[inline]
    pub fn allows(&self, arrival: f32, p: Vec3) -> bool {
        let within =
            |beyond: f32| beyond <= self.margin && arrival + CAUSALITY * beyond <= self.limit;
        within(squared_outside(&self.whole, p).sqrt()) && within(self.beyond(p))
    }

    /// What keeps within this is equal to the full march.
    pub fn certain(&self) -> f32 {
        self.limit - self.slack
    }
}

/// Squared distance to a box.
#[inline]
fn squared_outside([lo, hi]: &[Vec3; 2], p: Vec3) -> f32 {
    let outside = (*lo - p).max(p - *hi).max(Vec3::ZERO);
    outside.length_squared()
}
