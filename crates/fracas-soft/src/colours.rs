//! Colours of constraints: two of one colour share no node, so they can be solved in any order,
//! or at once, with the same bits.
//!
//! A tear changes few constraints, so colours are [mended](mend) and not made anew: what has a
//! colour keeps it while it can. (A node that is copied parts constraints of one colour, and brings
//! none together; what is divided or wound anew has no colour yet.)
//!
//! **Guarantee.** A function of the constraints, their order and the colours they had, and of
//! nothing else.

use fracas_geometry::tet_mesh::NONE;

/// Has no colour: is new, or more than [`COLOURS`] meet in its nodes.
pub(crate) const UNCOLOURED: u8 = u8::MAX;

/// As many colours as a mask of a node has bits.
const COLOURS: usize = 64;

/// Gives every constraint that has no colour the lowest that is free at all its nodes, if any is.
/// One whose colour another one before it has at one of its nodes loses it first.
pub(crate) fn mend<const N: usize>(
    nodes: usize,
    constraints: impl Iterator<Item = [u32; N]> + Clone,
    colours: &mut [u8],
) {
    let mut taken = vec![0_u64; nodes];
    let all = |taken: &[u64], of: [u32; N]| of.iter().fold(0, |all, &n| all | taken[n as usize]);
    let take = |taken: &mut [u64], of: [u32; N], colour: u8| {
        of.iter().for_each(|&n| taken[n as usize] |= 1 << colour);
    };
    for (of, colour) in constraints.clone().zip(&mut *colours) {
        if *colour != UNCOLOURED {
            if all(&taken, of) & 1 << *colour != 0 {
                *colour = UNCOLOURED;
            } else {
                take(&mut taken, of, *colour);
            }
        }
    }
    for (of, colour) in constraints.zip(colours) {
        if *colour == UNCOLOURED {
            let lowest = all(&taken, of).trailing_ones() as usize;
            if lowest < COLOURS {
                *colour = lowest as u8;
                take(&mut taken, of, *colour);
            }
        }
    }
}

/// The colours of what is known already; both lists in order of their keys.
pub(crate) fn kept<K: Ord>(
    known: impl Iterator<Item = (K, u8)>,
    of: impl Iterator<Item = K>,
) -> Vec<u8> {
    let mut known = known.peekable();
    let colour_of = |key: K| {
        while known.next_if(|(other, _)| *other < key).is_some() {}
        let same = known.next_if(|(other, _)| *other == key);
        same.map_or(UNCOLOURED, |(_, colour)| colour)
    };
    of.map(colour_of).collect()
}

/// Rows of four constraints that share no node: colour by colour, and what is left of the
/// colours wherever it fits. Places that stay empty are [`NONE`].
pub(crate) fn rows_of_four<const N: usize>(
    nodes: usize,
    constraints: impl Fn(u32) -> [u32; N],
    colours: &[u8],
) -> Vec<[u32; 4]> {
    let mut starts = [0_u32; COLOURS + 2];
    let slot = |colour: u8| usize::from(colour).min(COLOURS);
    for &colour in colours {
        starts[slot(colour) + 1] += 1;
    }
    for i in 0..=COLOURS {
        starts[i + 1] += starts[i];
    }
    let mut next = starts;
    let mut sorted = vec![0_u32; colours.len()];
    for (i, &colour) in colours.iter().enumerate() {
        let place = &mut next[slot(colour)];
        sorted[*place as usize] = i as u32;
        *place += 1;
    }
    let mut rows = Vec::with_capacity(colours.len() / 4 + COLOURS);
    let mut left = Vec::new();
    for ends in starts[..=COLOURS].windows(2) {
        let of_colour = sorted[ends[0] as usize..ends[1] as usize].chunks_exact(4);
        left.extend_from_slice(of_colour.remainder());
        rows.extend(of_colour.map(|row| [row[0], row[1], row[2], row[3]]));
    }
    left.extend_from_slice(&sorted[starts[COLOURS] as usize..]);
    fit_in(nodes, constraints, left, &mut rows);
    rows
}

/// Puts each constraint into the first of the new rows that has room and none of its nodes: of
/// sixty-four at a time, so that a mask of each node tells in which of them it is.
fn fit_in<const N: usize>(
    nodes: usize,
    constraints: impl Fn(u32) -> [u32; N],
    mut left: Vec<u32>,
    rows: &mut Vec<[u32; 4]>,
) {
    let mut taken = vec![0_u64; if left.is_empty() { 0 } else { nodes }];
    while !left.is_empty() {
        let (first, mut full) = (rows.len(), 0_u64);
        left.retain(|&i| {
            let of = constraints(i);
            let used = of.iter().fold(full, |used, &n| used | taken[n as usize]);
            let free = used.trailing_ones();
            if free == u64::BITS {
                return true;
            }
            if first + free as usize == rows.len() {
                rows.push([NONE; 4]);
            }
            let row = &mut rows[first + free as usize];
            let place = row.iter().position(|&other| other == NONE).unwrap_or(3);
            row[place] = i;
            full |= u64::from(place == 3) << free;
            of.iter().for_each(|&n| taken[n as usize] |= 1 << free);
            false
        });
        taken.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;

    #[test]
    fn no_two_of_a_row_share_a_node_and_all_are_there_once() {
        let mut rng = Rng(7);
        for round in 0..60 {
            // Many around few nodes, too: then some stay without a colour.
            let nodes = if round % 3 == 0 { 9 } else { 200 };
            let mut list: Vec<[u32; 4]> = Vec::new();
            while list.len() < 150 {
                let of = [(); 4].map(|()| (rng.unit() * nodes as f32) as u32 % nodes);
                let repeats = (0..4).any(|i| of[i + 1..].contains(&of[i]));
                if !repeats {
                    list.push(of);
                }
            }
            let mut colours = vec![UNCOLOURED; list.len()];
            mend(nodes as usize, list.iter().copied(), &mut colours);
            check(&list, &colours);
            // Some change: the others keep their colours where they can.
            let before = colours.clone();
            for i in (0..list.len()).step_by(11) {
                list[i] = [0, 1, 2, 3].map(|k| nodes + 4 * i as u32 + k);
            }
            mend(
                nodes as usize + 4 * list.len(),
                list.iter().copied(),
                &mut colours,
            );
            check(&list, &colours);
            let stayed = before.iter().zip(&colours);
            let stayed = stayed.filter(|(a, b)| a == b && **a != UNCOLOURED).count();
            assert!(stayed >= before.iter().filter(|c| **c != UNCOLOURED).count());
        }
    }

    fn check(list: &[[u32; 4]], colours: &[u8]) {
        for (i, a) in list.iter().enumerate() {
            for (j, b) in list.iter().enumerate().skip(i + 1) {
                let same = colours[i] == colours[j] && colours[i] != UNCOLOURED;
                assert!(!same || !a.iter().any(|n| b.contains(n)));
            }
        }
        let nodes = list.iter().flatten().max().map_or(0, |&n| n as usize + 1);
        let rows = rows_of_four(nodes, |i| list[i as usize], colours);
        let mut seen = vec![0; list.len()];
        for row in &rows {
            let row: Vec<u32> = row.iter().copied().filter(|&i| i != NONE).collect();
            let mut nodes: Vec<u32> = row.iter().flat_map(|&i| list[i as usize]).collect();
            nodes.sort_unstable();
            nodes.dedup();
            assert_eq!(nodes.len(), 4 * row.len(), "a row shares a node");
            row.iter().for_each(|&i| seen[i as usize] += 1);
        }
        assert!(seen.iter().all(|&count| count == 1));
    }

    #[test]
    fn what_is_known_keeps_its_colour() {
        let known = [(1, 5), (3, 6), (4, 7), (9, 8)];
        let colours = kept(known.into_iter(), [0, 1, 2, 4, 9, 10].into_iter());
        assert_eq!(colours, [255, 5, 255, 7, 8, 255]);
    }
}
