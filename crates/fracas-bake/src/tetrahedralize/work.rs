//! The mesh while it is improved: what is where, and where it must stay.

use fracas_core::tet_mesh::NONE;
use glam::DVec3;

use super::quality::min_sine;
use super::stuffing::{Stuffed, compact};
use super::topology;

/// Where a node must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    /// Anywhere.
    Free,
    /// On the surface.
    Surface,
    /// On a crease.
    Crease,
    /// Where it is.
    Corner,
}

/// A mesh under improvement.
#[derive(Clone)]
pub(super) struct Work {
    pub positions: Vec<DVec3>,
    pub tets: Vec<[u32; 4]>,
    pub alive: Vec<bool>,
    /// Living tetrahedra round each node, in increasing order.
    pub around: Vec<Vec<u32>>,
    pub pins: Vec<Pin>,
}

impl Work {
    /// Finds adjacency, and which nodes lie on the boundary: those are pinned to the surface.
    pub(super) fn new(mesh: Stuffed) -> Self {
        let across = topology::neighbours(&mesh.tets);
        let mut pins = vec![Pin::Free; mesh.positions.len()];
        for (face, _) in topology::boundary(&mesh.tets, &across) {
            for n in face {
                pins[n as usize] = Pin::Surface;
            }
        }
        let mut around = vec![Vec::new(); mesh.positions.len()];
        for (t, tet) in mesh.tets.iter().enumerate() {
            for &n in tet {
                around[n as usize].push(t as u32);
            }
        }
        Self {
            alive: vec![true; mesh.tets.len()],
            positions: mesh.positions,
            tets: mesh.tets,
            around,
            pins,
        }
    }

    pub(super) fn into_mesh(self) -> Stuffed {
        let alive = self.alive;
        let mut t = 0;
        let mut tets = self.tets;
        tets.retain(|_| {
            t += 1;
            alive[t - 1]
        });
        compact(Stuffed {
            on_surface: self.pins.iter().map(|&p| p != Pin::Free).collect(),
            origin: vec![NONE; self.positions.len()],
            positions: self.positions,
            tets,
        })
    }

    pub(super) fn corners(&self, t: u32) -> [DVec3; 4] {
        self.tets[t as usize].map(|n| self.positions[n as usize])
    }

    pub(super) fn quality(&self, t: u32) -> f64 {
        min_sine(self.corners(t))
    }

    /// The worst tetrahedron round a node if the node were at `place`, or something
    /// below `enough` as soon as that is known.
    pub(super) fn star_quality(&self, node: u32, place: DVec3, enough: f64) -> f64 {
        let mut worst = f64::INFINITY;
        for &t in &self.around[node as usize] {
            let corners = self.tets[t as usize].map(|n| {
                if n == node {
                    place
                } else {
                    self.positions[n as usize]
                }
            });
            worst = worst.min(min_sine(corners));
            if worst <= enough {
                return worst;
            }
        }
        worst
    }

    /// Mean length of the edges at a node.
    pub(super) fn mean_edge(&self, node: u32) -> f64 {
        let at = self.positions[node as usize];
        let (mut sum, mut count) = (0.0, 0.0);
        for &t in &self.around[node as usize] {
            for &n in self.tets[t as usize].iter().filter(|&&n| n != node) {
                sum += at.distance(self.positions[n as usize]);
                count += 1.0;
            }
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }
}
