//! Which piece a collider is: looked up once per pair and step, so by index.

use rapier3d::prelude::ColliderHandle;

use super::PieceId;

/// Pieces by collider.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners {
    /// By the handle's index: its generation and the piece.
    slots: Vec<Option<(u32, PieceId)>>,
}

impl Owners {
    pub(crate) fn insert(&mut self, collider: ColliderHandle, piece: PieceId) {
        let (index, generation) = collider.into_raw_parts();
        if self.slots.len() <= index as usize {
            self.slots.resize(index as usize + 1, None);
        }
        self.slots[index as usize] = Some((generation, piece));
    }

    pub(crate) fn get(&self, collider: ColliderHandle) -> Option<PieceId> {
        let (index, generation) = collider.into_raw_parts();
        match self.slots.get(index as usize) {
            Some(Some((g, piece))) if *g == generation => Some(*piece),
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, collider: ColliderHandle) {
        if self.get(collider).is_some() {
            self.slots[collider.into_raw_parts().0 as usize] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use fracas_core::FragmentId;

    use super::super::ObjectId;
    use super::*;

    #[test]
    fn a_reused_index_is_not_the_old_collider() {
        let piece = |n| PieceId {
            object: ObjectId(n),
            fragment: FragmentId(n),
        };
        let handle = ColliderHandle::from_raw_parts;
        let mut owners = Owners::default();
        owners.insert(handle(3, 1), piece(7));
        assert_eq!(owners.get(handle(3, 1)), Some(piece(7)));
        assert_eq!(owners.get(handle(3, 2)), None);
        assert_eq!(owners.get(handle(0, 0)), None);
        assert_eq!(owners.get(ColliderHandle::invalid()), None);
        owners.insert(handle(3, 2), piece(8));
        owners.remove(handle(3, 1));
        assert_eq!(owners.get(handle(3, 2)), Some(piece(8)));
        owners.remove(handle(3, 2));
        assert_eq!(owners.get(handle(3, 2)), None);
    }
}
