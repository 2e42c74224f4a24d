//! Getting rid of bad tetrahedra by changing which nodes are connected.
//!
//! For each bad tetrahedron, worst first, its edges are tried in turn:
//! - collapse: one end is moved onto the other. Allowed if the ends' links meet in the
//!   edge's link only (so the topology stays), if no node leaves its surface or crease,
//!   and if the surface moves little;
//! - removal of an inner edge: the ring of tetrahedra round it is filled anew by a fan
//!   of triangles over the ring, each joined to both ends (3-2, 4-4, 5-6, 6-8 swaps).
//!
//! A change is made if the worst new tetrahedron is better than the worst old one.
//! [Klingner Shewchuk 2007, section 3] has both; fans are fewer than all
//! triangulations of the ring, and enough for rings of up to seven.

use super::quality::{min_sine, volume};
use super::work::{Pin, Work};
use fracas_core::tet_mesh::TET_EDGES;

/// A collapse on the surface may change the volume by this part of the cube of the edge.
const VOLUME_SLACK: f64 = 0.02;

/// Works on all tetrahedra worse than `goal`; says whether anything changed.
pub(super) fn reconnect(work: &mut Work, goal: f64) -> bool {
    let mut bad: Vec<(f64, u32)> = (0..work.tets.len() as u32)
        .filter(|&t| work.alive[t as usize])
        .map(|t| (work.quality(t), t))
        .filter(|&(q, _)| q < goal)
        .collect();
    bad.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut changed = false;
    for (_, t) in bad {
        if !work.alive[t as usize] || work.quality(t) >= goal {
            continue;
        }
        changed |= cure(work, t);
    }
    changed
}

fn cure(work: &mut Work, t: u32) -> bool {
    let tet = work.tets[t as usize];
    let before = work.quality(t);
    let mut best: Option<(f64, Change)> = None;
    let mut consider = |quality: f64, change: Change| {
        if quality > before + 1e-3 && best.as_ref().is_none_or(|b| quality > b.0) {
            best = Some((quality, change));
        }
    };
    for [i, j] in TET_EDGES {
        for (from, to) in [(tet[i], tet[j]), (tet[j], tet[i])] {
            if let Some(quality) = collapse_quality(work, from, to) {
                consider(quality, Change::Collapse(from, to));
            }
        }
        if let Some(ring) = ring(work, tet[i], tet[j]) {
            for apex in 0..ring.len() {
                let quality = fan_quality(work, tet[i], tet[j], &ring, apex);
                consider(quality, Change::Remove(tet[i], tet[j], apex));
            }
        }
    }
    match best {
        None => false,
        Some((_, Change::Collapse(from, to))) => {
            collapse(work, from, to);
            true
        }
        Some((_, Change::Remove(a, b, apex))) => {
            if let Some(ring) = ring(work, a, b) {
                remove_edge(work, a, b, &ring, apex);
            }
            true
        }
    }
}

enum Change {
    Collapse(u32, u32),
    Remove(u32, u32, usize),
}

/// The living tetrahedra round an edge.
fn edge_tets(work: &Work, a: u32, b: u32) -> Vec<u32> {
    work.around[a as usize]
        .iter()
        .copied()
        .filter(|&t| work.tets[t as usize].contains(&b))
        .collect()
}

fn adjacent(work: &Work, node: u32) -> Vec<u32> {
    let mut out: Vec<u32> = work.around[node as usize]
        .iter()
        .flat_map(|&t| work.tets[t as usize])
        .filter(|&n| n != node)
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// The two nodes of a tetrahedron that are not `a` or `b`.
fn others(tet: [u32; 4], a: u32, b: u32) -> [u32; 2] {
    let mut out = [0; 2];
    let rest = tet.into_iter().filter(|&n| n != a && n != b);
    for (slot, n) in out.iter_mut().zip(rest) {
        *slot = n;
    }
    out
}

/// The worst tetrahedron after moving `from` onto `to`, if that is allowed.
fn collapse_quality(work: &Work, from: u32, to: u32) -> Option<f64> {
    let (pin, onto) = (work.pins[from as usize], work.pins[to as usize]);
    let tets = edge_tets(work, from, to);
    match (pin, onto) {
        (Pin::Free, _) => {}
        (Pin::Surface, Pin::Surface | Pin::Crease | Pin::Corner)
        | (Pin::Crease, Pin::Crease | Pin::Corner) => {
            if !is_boundary_edge(work, from, to, &tets) {
                return None;
            }
        }
        _ => return None,
    }
    // A free node whose edge joins it to the boundary may always go there; two
    // boundary nodes only along the boundary (checked above).
    let common: Vec<u32> = {
        let (a, b) = (adjacent(work, from), adjacent(work, to));
        a.into_iter()
            .filter(|n| b.binary_search(n).is_ok())
            .collect()
    };
    let mut link: Vec<u32> = tets
        .iter()
        .flat_map(|&t| others(work.tets[t as usize], from, to))
        .collect();
    link.sort_unstable();
    link.dedup();
    if common != link {
        return None;
    }
    // Triangles opposite both ends must be those of the edge's own tetrahedra: an
    // edge (x, y) of both links needs the tetrahedron (from, to, x, y).
    let place = work.positions[to as usize];
    let old = work.positions[from as usize];
    let mut worst = f64::INFINITY;
    let mut change = 0.0;
    for &t in &work.around[from as usize] {
        let tet = work.tets[t as usize];
        if tet.contains(&to) {
            change -= volume(work.corners(t));
            continue;
        }
        let corners = tet.map(|n| {
            if n == from {
                place
            } else {
                work.positions[n as usize]
            }
        });
        worst = worst.min(min_sine(corners));
        if worst <= 0.0 {
            return None;
        }
        change += volume(corners) - volume(work.corners(t));
    }
    if pin != Pin::Free {
        let edge = old.distance(place).max(work.mean_edge(from));
        if change.abs() > VOLUME_SLACK * edge * edge * edge {
            return None;
        }
        if !boundary_links_meet_well(work, from, to, &tets) {
            return None;
        }
    }
    link_edges_meet_well(work, from, to, &link, &tets).then_some(worst)
}

/// An edge is on the boundary if its tetrahedra form an open fan: two of the nodes
/// round it occur once.
fn is_boundary_edge(work: &Work, a: u32, b: u32, tets: &[u32]) -> bool {
    let mut ends: Vec<u32> = tets
        .iter()
        .flat_map(|&t| others(work.tets[t as usize], a, b))
        .collect();
    ends.sort_unstable();
    let single = (0..ends.len())
        .filter(|&i| (i == 0 || ends[i - 1] != ends[i]) && ends.get(i + 1) != Some(&ends[i]))
        .count();
    single == 2
}

/// Boundary neighbours common to both ends must be the two at the ends of the fan.
fn boundary_links_meet_well(work: &Work, from: u32, to: u32, tets: &[u32]) -> bool {
    let rim = |node: u32| {
        let mut out: Vec<u32> = boundary_faces(work, node).into_iter().flatten().collect();
        out.sort_unstable();
        out.dedup();
        out
    };
    let (a, b) = (rim(from), rim(to));
    let common = a
        .iter()
        .filter(|&&n| n != to && n != from && b.binary_search(&n).is_ok())
        .count();
    common == 2 && !tets.is_empty()
}

/// The boundary faces at a node: faces of its tetrahedra that occur once.
pub(super) fn boundary_faces(work: &Work, node: u32) -> Vec<[u32; 3]> {
    let mut faces: Vec<[u32; 3]> = Vec::new();
    for &t in &work.around[node as usize] {
        let tet = work.tets[t as usize];
        for i in 0..4 {
            if tet[i] == node {
                continue;
            }
            let mut face = [0; 3];
            for (slot, n) in face.iter_mut().zip((0..4).filter(|&k| k != i)) {
                *slot = tet[n];
            }
            face.sort_unstable();
            faces.push(face);
        }
    }
    faces.sort_unstable();
    let mut out = Vec::new();
    let mut i = 0;
    while i < faces.len() {
        let run = faces[i..].iter().take_while(|f| **f == faces[i]).count();
        if run == 1 {
            out.push(faces[i]);
        }
        i += run;
    }
    out
}

/// Edges between link nodes that both ends see must belong to a tetrahedron of the edge.
fn link_edges_meet_well(work: &Work, from: u32, to: u32, link: &[u32], tets: &[u32]) -> bool {
    let pairs = |node: u32, other: u32| {
        let mut out: Vec<[u32; 2]> = Vec::new();
        for &t in &work.around[node as usize] {
            let tet = work.tets[t as usize];
            for [i, j] in TET_EDGES {
                let (x, y) = (tet[i].min(tet[j]), tet[i].max(tet[j]));
                if x != node
                    && y != node
                    && x != other
                    && y != other
                    && link.binary_search(&x).is_ok()
                    && link.binary_search(&y).is_ok()
                {
                    out.push([x, y]);
                }
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    };
    let (a, b) = (pairs(from, to), pairs(to, from));
    let own: Vec<[u32; 2]> = tets
        .iter()
        .map(|&t| {
            let [x, y] = others(work.tets[t as usize], from, to);
            [x.min(y), x.max(y)]
        })
        .collect();
    a.iter()
        .filter(|p| b.binary_search(p).is_ok())
        .all(|p| own.contains(p))
}

fn collapse(work: &mut Work, from: u32, to: u32) {
    let tets = std::mem::take(&mut work.around[from as usize]);
    for t in tets {
        if work.tets[t as usize].contains(&to) {
            work.alive[t as usize] = false;
            for n in work.tets[t as usize] {
                work.around[n as usize].retain(|&s| s != t);
            }
        } else {
            for n in &mut work.tets[t as usize] {
                if *n == from {
                    *n = to;
                }
            }
            let list = &mut work.around[to as usize];
            if let Err(at) = list.binary_search(&t) {
                list.insert(at, t);
            }
        }
    }
}

/// The closed ring of nodes round an inner edge, turning so that (a, b, r0, r1) is
/// positive; `None` for a boundary edge or a ring of more than seven.
fn ring(work: &Work, a: u32, b: u32) -> Option<Vec<u32>> {
    let tets = edge_tets(work, a, b);
    if tets.len() < 3 || tets.len() > 7 {
        return None;
    }
    let steps: Vec<[u32; 2]> = tets
        .iter()
        .map(|&t| {
            let [x, y] = others(work.tets[t as usize], a, b);
            let at = |n: u32| work.positions[n as usize];
            if volume([at(a), at(b), at(x), at(y)]) > 0.0 {
                [x, y]
            } else {
                [y, x]
            }
        })
        .collect();
    let mut out = vec![steps[0][0]];
    let mut next = steps[0][1];
    while next != out[0] {
        out.push(next);
        if out.len() > steps.len() {
            return None;
        }
        next = steps.iter().find(|s| s[0] == next)?[1];
    }
    (out.len() == steps.len()).then_some(out)
}

/// The tetrahedra that replace an edge: a fan over the ring from `apex`.
fn fan(a: u32, b: u32, ring: &[u32], apex: usize) -> Vec<[u32; 4]> {
    let n = ring.len();
    let mut out = Vec::with_capacity(2 * n);
    for k in 1..n - 1 {
        let (p, q, r) = (ring[apex], ring[(apex + k) % n], ring[(apex + k + 1) % n]);
        out.push([p, q, r, b]);
        out.push([p, r, q, a]);
    }
    out
}

fn fan_quality(work: &Work, a: u32, b: u32, ring: &[u32], apex: usize) -> f64 {
    // The worst of what is replaced is the tetrahedron at hand, or worse.
    fan(a, b, ring, apex)
        .into_iter()
        .map(|tet| min_sine(tet.map(|n| work.positions[n as usize])))
        .fold(f64::INFINITY, f64::min)
}

fn remove_edge(work: &mut Work, a: u32, b: u32, ring: &[u32], apex: usize) {
    let old = edge_tets(work, a, b);
    for &t in &old {
        work.alive[t as usize] = false;
        for n in work.tets[t as usize] {
            work.around[n as usize].retain(|&s| s != t);
        }
    }
    for (i, tet) in fan(a, b, ring, apex).into_iter().enumerate() {
        let t = if let Some(&reused) = old.get(i) {
            work.tets[reused as usize] = tet;
            work.alive[reused as usize] = true;
            reused
        } else {
            work.tets.push(tet);
            work.alive.push(true);
            work.tets.len() as u32 - 1
        };
        for n in tet {
            let list = &mut work.around[n as usize];
            if let Err(at) = list.binary_search(&t) {
                list.insert(at, t);
            }
        }
    }
}

/// The worst tetrahedron after splitting an edge by a new node at `place`.
pub(super) fn split_quality(work: &Work, a: u32, b: u32, place: glam::DVec3) -> f64 {
    edge_tets(work, a, b)
        .iter()
        .flat_map(|&t| {
            let tet = work.tets[t as usize];
            [a, b].map(|gone| {
                tet.map(|n| {
                    if n == gone {
                        place
                    } else {
                        work.positions[n as usize]
                    }
                })
            })
        })
        .map(min_sine)
        .fold(f64::INFINITY, f64::min)
}

/// Splits an edge by a new node at `place`, if all new tetrahedra are better than `least`.
pub(super) fn split_edge(
    work: &mut Work,
    a: u32,
    b: u32,
    place: glam::DVec3,
    pin: Pin,
    least: f64,
) -> bool {
    let tets = edge_tets(work, a, b);
    let halves = |tet: [u32; 4]| {
        [a, b].map(|gone| {
            tet.map(|n| {
                if n == gone {
                    place
                } else {
                    work.positions[n as usize]
                }
            })
        })
    };
    let fine = tets
        .iter()
        .flat_map(|&t| halves(work.tets[t as usize]))
        .all(|corners| min_sine(corners) > least);
    if !fine || tets.is_empty() {
        return false;
    }
    let node = work.positions.len() as u32;
    work.positions.push(place);
    work.pins.push(pin);
    work.around.push(Vec::new());
    for t in tets {
        let old = work.tets[t as usize];
        let swap = |gone: u32| old.map(|n| if n == gone { node } else { n });
        // The half that keeps `a` stays in place; the other is new.
        work.tets[t as usize] = swap(b);
        work.around[b as usize].retain(|&s| s != t);
        work.around[node as usize].push(t);
        let new = work.tets.len() as u32;
        let other = swap(a);
        work.tets.push(other);
        work.alive.push(true);
        for n in other {
            work.around[n as usize].push(new);
        }
    }
    work.around[node as usize].sort_unstable();
    true
}
