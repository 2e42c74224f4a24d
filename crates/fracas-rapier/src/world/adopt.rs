//! Pieces that the caller took out of the engine's sets.
//!
//! A piece is a body with a collider of its own. The engine's sets are the caller's, too: a
//! body may be removed there, a collider removed or given to another body. Such a piece is
//! given up at the next step, with [`Event::Removed`]. What is left of it in the engine, a body
//! without the collider or a collider without the body, belongs to the caller from then on.
//! A collider whose shape was replaced stays a piece, with the caller's shape until it breaks.

use super::{Event, World};
use crate::breakables::{Piece, PieceId};
use crate::shape::FragmentShape;

impl World {
    /// Whether a piece's body and collider are there and belong together. The collider tells:
    /// it has no parent once the body is gone.
    pub(super) fn is_intact(&self, piece: &Piece) -> bool {
        let collider = self.physics.colliders.get(piece.collider);
        collider.is_some_and(|c| c.parent() == Some(piece.body))
    }

    /// Whether the collider has a shape that the caller gave it in place of the piece's own.
    pub(super) fn has_own_shape(&self, piece: &Piece) -> bool {
        if self.settings.contacts.mode.parry_shape().is_some() {
            return false;
        }
        let collider = self.physics.colliders.get(piece.collider);
        let shape = collider.and_then(|c| c.shape().as_shape::<FragmentShape>());
        !shape
            .is_some_and(|s| s.object().is_same(piece.shape.object()) && s.id() == piece.shape.id())
    }

    /// Gives up pieces that the caller removed through the engine.
    pub(super) fn adopt_removals(&mut self) {
        let gone: Vec<PieceId> = self
            .breakables
            .all_pieces()
            .filter(|(_, piece)| !self.is_intact(piece))
            .map(|(id, _)| id)
            .collect();
        for id in gone {
            self.breakables.give_up(id);
            self.hands.retain(|_, hand| hand.piece != id);
            self.breakables.events.push(Event::Removed(id));
        }
    }
}
