//! Better angles without leaving the surface.
//!
//! Sweeps over the nodes of bad tetrahedra. Each such node tries a few places: along
//! the directions in which its worst tetrahedra grow, and towards the middle of its
//! neighbours, at shrinking steps; a surface node is pulled back onto the surface, a
//! crease node onto its crease, a corner stays. The best place is taken if the worst
//! tetrahedron round the node gets better: so the worst of the mesh never gets worse.
//! Then edges of tetrahedra that are still bad are collapsed or swapped away
//! ([`super::reconnect`]), and the sweeps are repeated.
//!
//! Quality is the smallest sine of a dihedral angle, which punishes both small and
//! large angles [Klingner Shewchuk 2007, section 2].
//!
//! **Guarantee.** Positive tetrahedra stay positive; surface nodes stay on the surface.

use glam::DVec3;

use super::domain::Domain;
use super::features::{self, Creases};
use super::quality::volume;
use super::reconnect;
use super::work::{Pin, Work};

/// Tetrahedra worse than this are worked on: the sine of 20 degrees.
const GOAL: f64 = 0.342;
/// Tetrahedra worse than this are reconnected: the sine of 14 degrees.
const RECONNECT: f64 = 0.242;
/// Sweeps before and after reconnecting.
const SWEEPS: usize = 4;
/// One move of a boundary node may change the volume by this part of the cube of its
/// mean edge: a fifth of a tetrahedron.
const SHAPE_SLACK: f64 = 0.015;
/// Rounds of sweeps and reconnections.
const ROUNDS: usize = 3;

/// Improves the mesh in place.
pub(super) fn improve(work: &mut Work, domain: &dyn Domain, creases: &Creases) {
    for _ in 0..ROUNDS {
        sweeps(work, domain, creases, SWEEPS);
        if !reconnect::reconnect(work, RECONNECT) {
            break;
        }
    }
    sweeps(work, domain, creases, SWEEPS);
    // What creases still spoil is let go, and worked on once more.
    for _ in 0..2 {
        if !features::release(work) {
            break;
        }
        sweeps(work, domain, creases, SWEEPS);
        reconnect::reconnect(work, RECONNECT);
        sweeps(work, domain, creases, SWEEPS);
    }
}

/// Improves what a change left behind.
pub(super) fn polish(work: &mut Work, domain: &dyn Domain, creases: &Creases) {
    sweeps(work, domain, creases, SWEEPS);
    if reconnect::reconnect(work, RECONNECT) {
        sweeps(work, domain, creases, SWEEPS);
    }
}

fn sweeps(work: &mut Work, domain: &dyn Domain, creases: &Creases, count: usize) {
    for _ in 0..count {
        if !sweep(work, domain, creases, GOAL) {
            break;
        }
    }
}

/// One sweep over the nodes of bad tetrahedra; says whether anything moved.
fn sweep(work: &mut Work, domain: &dyn Domain, creases: &Creases, goal: f64) -> bool {
    let mut marked = vec![false; work.positions.len()];
    for t in 0..work.tets.len() as u32 {
        if work.alive[t as usize] && work.quality(t) < goal {
            for n in work.tets[t as usize] {
                marked[n as usize] = true;
            }
        }
    }
    let mut moved = false;
    for node in 0..work.positions.len() as u32 {
        if marked[node as usize] && work.pins[node as usize] != Pin::Corner {
            moved |= move_node(work, domain, creases, node, goal);
        }
    }
    moved
}

fn move_node(
    work: &mut Work,
    domain: &dyn Domain,
    creases: &Creases,
    node: u32,
    goal: f64,
) -> bool {
    let at = work.positions[node as usize];
    let scale = work.mean_edge(node);
    let mut best = (work.star_quality(node, at, f64::NEG_INFINITY), at);
    if best.0 >= goal {
        return false;
    }
    let before = best.0;
    let directions = directions(work, node, before);
    for step in [0.3, 0.12, 0.05, 0.02] {
        let mut found = false;
        let start = best.1;
        for &direction in &directions {
            let mut place = start + direction * (step * scale);
            if let Some(p) = constrain(work, domain, creases, node, place, scale) {
                place = p;
            } else {
                continue;
            }
            let quality = work.star_quality(node, place, best.0);
            if quality > best.0 + 1e-9 && keeps_shape(work, node, place, scale) {
                best = (quality, place);
                found = true;
            }
        }
        if found && best.0 >= goal {
            break;
        }
    }
    work.positions[node as usize] = best.1;
    best.0 > before + 1e-4
}

/// Whether a boundary node takes little volume with it: on a smooth surface it does,
/// off the tip of a horn it does not.
fn keeps_shape(work: &Work, node: u32, place: DVec3, scale: f64) -> bool {
    if work.pins[node as usize] == Pin::Free {
        return true;
    }
    let change: f64 = work.around[node as usize]
        .iter()
        .map(|&t| {
            let new = work.tets[t as usize].map(|n| {
                if n == node {
                    place
                } else {
                    work.positions[n as usize]
                }
            });
            volume(new) - volume(work.corners(t))
        })
        .sum();
    change.abs() < SHAPE_SLACK * scale * scale * scale
}

fn constrain(
    work: &Work,
    domain: &dyn Domain,
    creases: &Creases,
    node: u32,
    place: DVec3,
    scale: f64,
) -> Option<DVec3> {
    match work.pins[node as usize] {
        Pin::Free => Some(place),
        Pin::Corner => None,
        Pin::Crease => creases.closest(place, 0.5 * scale),
        Pin::Surface => domain.closest(place, 0.5 * scale),
    }
}

/// Unit directions worth trying: away from the face opposite the node in each of its
/// worst tetrahedra, their mean, and towards the middle of its neighbours.
fn directions(work: &Work, node: u32, worst: f64) -> Vec<DVec3> {
    let at = work.positions[node as usize];
    let mut out = Vec::new();
    let (mut mean, mut middle, mut count) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    let on_boundary = work.pins[node as usize] != Pin::Free;
    for &t in &work.around[node as usize] {
        let tet = work.tets[t as usize];
        for &n in tet.iter().filter(|&&n| n != node) {
            if !on_boundary || work.pins[n as usize] != Pin::Free {
                middle += work.positions[n as usize];
                count += 1.0;
            }
        }
        if work.quality(t) > worst + 0.08 {
            continue;
        }
        let [a, b, c] = opposite(tet, node).map(|n| work.positions[n as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let away = if normal.dot(at - a) < 0.0 {
            -normal
        } else {
            normal
        };
        mean += away;
        if out.len() < 4 {
            out.push(away);
            out.push(-away);
        }
    }
    out.push(mean.normalize_or_zero());
    if count > 0.0 {
        out.push((middle / count - at).normalize_or_zero());
    }
    out
}

fn opposite(tet: [u32; 4], node: u32) -> [u32; 3] {
    let mut out = [0; 3];
    for (slot, n) in out.iter_mut().zip(tet.into_iter().filter(|&n| n != node)) {
        *slot = n;
    }
    out
}
