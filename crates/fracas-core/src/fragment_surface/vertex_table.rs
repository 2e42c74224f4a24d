//! Finds a vertex by the name of its simplex: an open hash table of indices,
//! cleared and used again, with a fixed hash so that nothing depends on the run.

use crate::tet_mesh::NONE;

/// Vertex indices by name. The names themselves lie with the caller.
#[derive(Clone, Debug, Default)]
pub(super) struct VertexTable {
    slots: Vec<u32>,
    used: Vec<u32>,
}

impl VertexTable {
    /// Forgets all vertices, in time proportional to their number.
    pub(super) fn clear(&mut self) {
        for slot in self.used.drain(..) {
            self.slots[slot as usize] = NONE;
        }
    }

    /// The vertex of that name; if there is none, `make` is called and the name
    /// becomes the next of `names`.
    pub(super) fn find_or_insert(
        &mut self,
        name: [u32; 4],
        names: &mut Vec<[u32; 4]>,
        make: impl FnOnce(),
    ) -> u32 {
        if (self.used.len() + 1) * 2 > self.slots.len() {
            self.grow(names);
        }
        let slot = self.slot_of(name, names);
        if self.slots[slot] == NONE {
            self.slots[slot] = names.len() as u32;
            self.used.push(slot as u32);
            names.push(name);
            make();
        }
        self.slots[slot]
    }

    fn slot_of(&self, name: [u32; 4], names: &[[u32; 4]]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(name) as usize & mask;
        while self.slots[slot] != NONE && names[self.slots[slot] as usize] != name {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self, names: &[[u32; 4]]) {
        let size = (self.slots.len() * 2).max(256);
        let vertices: Vec<u32> = self.used.iter().map(|&s| self.slots[s as usize]).collect();
        self.slots.clear();
        self.slots.resize(size, NONE);
        self.used.clear();
        for v in vertices {
            let slot = self.slot_of(names[v as usize], names);
            self.slots[slot] = v;
            self.used.push(slot as u32);
        }
    }
}

fn hash(name: [u32; 4]) -> u64 {
    let low = u64::from(name[0]) | u64::from(name[1]) << 32;
    let high = u64::from(name[2]) | u64::from(name[3]) << 32;
    let mut x = (low ^ high.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 32;
    x.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_one_vertex_and_clearing_forgets_all() {
        let mut table = VertexTable::default();
        for round in 0..3 {
            let mut names = Vec::new();
            for pass in 0..2 {
                for i in 0..1000_u32 {
                    let name = [i % 500, i / 2, NONE, NONE];
                    let made = names.len();
                    let v = table.find_or_insert(name, &mut names, || ());
                    assert_eq!(names[v as usize], name);
                    assert!(pass == 0 || made == names.len(), "round {round}");
                }
            }
            assert_eq!(names.len(), 1000);
            table.clear();
        }
    }
}
