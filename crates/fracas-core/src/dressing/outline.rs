//! Sides to loops and chains, by the names of their points.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};

/// A side of an outline: begin and end, and the side of the skin triangle it lies on.
pub(super) type OutlineSide = (u32, u32, Option<u8>);

/// Removes sides that run against each other.
pub(super) fn cancel(sides: &mut Vec<OutlineSide>) {
    let mut order: Vec<usize> = (0..sides.len()).collect();
    order.sort_by_key(|&i| {
        let (a, b, _) = sides[i];
        (a.min(b), a.max(b), i)
    });
    let mut gone = vec![false; sides.len()];
    let same = |&i: &usize, &j: &usize| {
        let key = |k: usize| (sides[k].0.min(sides[k].1), sides[k].0.max(sides[k].1));
        key(i) == key(j)
    };
    for edge in order.chunk_by(same) {
        let (mut forward, mut backward): (Vec<usize>, Vec<usize>) =
            edge.iter().partition(|&&i| sides[i].0 < sides[i].1);
        // Sides of the triangle stay, where there is a choice.
        forward.sort_by_key(|&i| sides[i].2.is_some());
        backward.sort_by_key(|&i| sides[i].2.is_some());
        for (&i, &j) in forward.iter().zip(&backward) {
            gone[i] = true;
            gone[j] = true;
        }
    }
    let mut kept = gone.iter().map(|gone| !gone);
    sides.retain(|_| kept.next().unwrap_or(true));
}

/// Sides as closed loops; what does not close is closed by force.
pub(super) fn link(sides: Vec<OutlineSide>) -> Vec<Vec<OutlineSide>> {
    let mut from: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, side) in sides.iter().enumerate() {
        from.entry(side.0).or_default().push(i);
    }
    let mut used = vec![false; sides.len()];
    let mut loops = Vec::new();
    for first in 0..sides.len() {
        if used[first] {
            continue;
        }
        let mut outline = Vec::new();
        let mut current = first;
        loop {
            used[current] = true;
            outline.push(sides[current]);
            if sides[current].1 == sides[first].0 {
                break;
            }
            let next = from
                .get(&sides[current].1)
                .and_then(|list| list.iter().copied().find(|&i| !used[i]));
            match next {
                Some(next) => current = next,
                None => break,
            }
        }
        loops.push(outline);
    }
    loops
}

/// Sides as closed loops and as open chains, both by the names of their points.
pub(super) fn chains(sides: Vec<OutlineSide>) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let mut from: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut arriving: BTreeMap<u32, i32> = BTreeMap::new();
    for (i, side) in sides.iter().enumerate() {
        from.entry(side.0).or_default().push(i);
        *arriving.entry(side.0).or_default() -= 1;
        *arriving.entry(side.1).or_default() += 1;
    }
    let mut used = vec![false; sides.len()];
    let (mut loops, mut open) = (Vec::new(), Vec::new());
    // Chains first: they begin where more leaves than arrives.
    let mut starts: Vec<usize> = (0..sides.len())
        .filter(|&i| arriving[&sides[i].0] < 0)
        .collect();
    starts.extend(0..sides.len());
    for first in starts {
        if used[first] {
            continue;
        }
        let mut names = vec![sides[first].0];
        let mut current = first;
        loop {
            used[current] = true;
            let end = sides[current].1;
            if end == names[0] {
                loops.push(names);
                break;
            }
            names.push(end);
            let next = from
                .get(&end)
                .and_then(|list| list.iter().copied().find(|&i| !used[i]));
            match next {
                Some(next) => current = next,
                None => {
                    open.push(names);
                    break;
                }
            }
        }
    }
    (loops, open)
}

/// Two directions in a plane.
pub(super) struct Frame {
    origin: DVec3,
    u: DVec3,
    v: DVec3,
}

impl Frame {
    pub fn new(normal: DVec3, origin: DVec3) -> Self {
        let normal = normal.normalize_or(DVec3::Z);
        let u = normal.any_orthonormal_vector();
        Self {
            origin,
            u,
            v: normal.cross(u),
        }
    }

    pub fn flat(&self, p: DVec3) -> DVec2 {
        let p = p - self.origin;
        DVec2::new(p.dot(self.u), p.dot(self.v))
    }
}
