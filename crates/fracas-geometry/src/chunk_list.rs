//! List that grows without copying its items.
//!
//! What an object has become grows with every fracture, and a plain list that is full is
//! copied as a whole: the break of a small fragment would then cost what all breaks before
//! it have left. Here items lie in chunks, which never move.
//!
//! **Guarantee**: adding an item moves no other.

use std::ops::{Index, IndexMut};

/// Items of a chunk: a power of two, and so few that an object with one small crack wastes
/// little.
const CHUNK: usize = 64;

/// List of items in the order in which they were added.
#[derive(Clone, Debug)]
pub struct ChunkList<T> {
    /// What of the last one is not in the list yet holds what `default` gives. Of a fixed
    /// size, so that one look finds an item.
    chunks: Vec<Box<[T; CHUNK]>>,
    len: usize,
}

impl<T> Default for ChunkList<T> {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Default> ChunkList<T> {
    /// Number of items.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The item at an index; beyond the last item a default item or `None`.
    #[must_use]
    #[inline]
    pub fn get(&self, at: usize) -> Option<&T> {
        self.chunks.get(at / CHUNK).map(|c| &c[at % CHUNK])
    }

    /// Iterates over the items in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|c| c.iter()).take(self.len)
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        if self.len == self.chunks.len() * CHUNK {
            let empty = std::array::from_fn(|_| T::default());
            self.chunks.push(Box::new(empty));
        }
        let at = self.len;
        self.len += 1;
        self[at] = item;
    }
}

impl<T> Index<usize> for ChunkList<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.chunks[at / CHUNK][at % CHUNK]
    }
}

impl<T> IndexMut<usize> for ChunkList<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.chunks[at / CHUNK][at % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_numbers_and_their_place() {
        let mut list = ChunkList::default();
        assert_eq!((list.len(), list.get(0)), (0, None));
        let many = 5 * CHUNK + 7;
        let mut first = std::ptr::null();
        for i in 0..many {
            list.push(i);
            assert_eq!(list.len(), i + 1);
            if i == 0 {
                first = &raw const list[0];
            }
        }
        assert_eq!(first, &raw const list[0]);
        list[CHUNK] += many;
        assert_eq!(list[CHUNK], CHUNK + many);
        list[CHUNK] -= many;
        assert!(list.iter().copied().eq(0..many));
        assert!((0..many).all(|i| list[i] == i && list.get(i) == Some(&i)));
        assert_eq!(list.get(6 * CHUNK), None);
        // What stands for no item, as a tetrahedron without a cut has.
        assert_eq!(list.get(u32::MAX as usize), None);
        assert_eq!(list.clone().iter().count(), many);
    }
}
