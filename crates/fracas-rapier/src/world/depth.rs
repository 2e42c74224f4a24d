//! How deep bodies overlap, found by asking every sample point: what contact
//! settings are judged by.

use parry3d::shape::Shape;
use rapier3d::prelude::{ColliderHandle, ContactPair};

use super::{PieceId, World};
use crate::dispatcher::FragmentDispatcher;
use crate::shape::FragmentShape;

/// Two bodies that overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// A piece.
    pub piece: PieceId,
    /// What it overlaps with: another piece, or `None` for a plain collider.
    pub other: Option<PieceId>,
    /// The deepest sample point's way out, in metres.
    pub depth: f32,
    /// Radius of the smaller piece's bounding sphere, in metres.
    pub radius: f32,
    /// Sample points of both that lie inside the other.
    pub points: u32,
}

impl World {
    /// Every pair of bodies that overlap, measured with all sample points and true
    /// distances, whatever the world's contacts are.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn overlaps(&self) -> Vec<Overlap> {
        let measure = FragmentDispatcher::default();
        let mut found: Vec<Overlap> = self
            .physics
            .narrow_phase
            .contact_pairs()
            .filter_map(|pair| self.overlap(pair, &measure))
            .collect();
        found.sort_by_key(|o| (o.piece, o.other));
        found
    }

    /// The deepest overlap of two bodies, in metres; zero when nothing overlaps.
    #[must_use]
    pub fn deepest_overlap(&self) -> f32 {
        self.overlaps().iter().map(|o| o.depth).fold(0.0, f32::max)
    }

    /// Sample points that lie inside another body, counted by asking every point.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn colliding_points(&self) -> u64 {
        self.overlaps().iter().map(|o| u64::from(o.points)).sum()
    }

    fn overlap(&self, pair: &ContactPair, measure: &FragmentDispatcher) -> Option<Overlap> {
        let (first, second) = (pair.collider1, pair.collider2);
        let (a, b) = (
            self.physics.colliders.get(first)?,
            self.physics.colliders.get(second)?,
        );
        let pos12 = a.position().inv_mul(b.position());
        let (points, depth) = measure.overlap(&pos12, self.exact(first)?, self.exact(second)?)?;
        let (piece, other) = match (self.piece_of(first), self.piece_of(second)) {
            (Some(p), q) => (p, q),
            (None, q) => (q?, None),
        };
        let radius = |p: PieceId| self.shape(p).map(FragmentShape::reach);
        let radius = match other {
            Some(other) => radius(piece)?.min(radius(other)?),
            None => radius(piece)?,
        };
        (depth > 0.0).then_some(Overlap {
            piece,
            other,
            depth,
            radius,
            points,
        })
    }

    /// The fragment's own shape, also where one of parry's stands for it.
    fn exact(&self, collider: ColliderHandle) -> Option<&dyn Shape> {
        match self.piece_of(collider) {
            Some(piece) => self.shape(piece).map(|s| s as &dyn Shape),
            None => Some(self.physics.colliders.get(collider)?.shape()),
        }
    }
}
