//! Cloth: triangles that resist stretch and bending, and tear at a node.
//!
//! Distance constraints on edges and across them (extended position-based dynamics,
//! one pass per substep). An edge stretched beyond the limit tears at its more loaded
//! end: the triangles there are parted by the plane across the edge, and those ahead
//! get a copy of the node. Triangles stay; nodes are only ever added.

use glam::Vec3;

/// What cloth is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// kg/m2.
    pub density: f32,
    /// m/N: how an edge gives way.
    pub stretch_compliance: f32,
    /// m/N: how the cloth gives way to bending.
    pub bend_compliance: f32,
    /// The stretch of an edge at which it tears; infinite: never.
    pub tear_stretch: f32,
}

impl Default for Fabric {
    fn default() -> Self {
        Self {
            density: 0.3,
            stretch_compliance: 1e-4,
            bend_compliance: 1e-1,
            tear_stretch: f32::INFINITY,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Spring {
    nodes: [u32; 2],
    length: f32,
    bends: bool,
}

/// A sheet of triangles.
#[derive(Clone, Debug)]
pub struct Cloth {
    pub(crate) fabric: Fabric,
    rest: Vec<Vec3>,
    pub(crate) positions: Vec<Vec3>,
    pub(crate) previous: Vec<Vec3>,
    pub(crate) velocities: Vec<Vec3>,
    /// Positions when overlaps were looked for.
    pub(crate) seen: Vec<Vec3>,
    pub(crate) inverse_masses: Vec<f32>,
    pinned: Vec<bool>,
    triangles: Vec<[u32; 3]>,
    springs: Vec<Spring>,
}

impl Cloth {
    /// A rectangle of `cells` cells in the plane of x and z around `centre`, pinned
    /// along its rim.
    #[must_use]
    pub fn hammock(centre: Vec3, size: [f32; 2], cells: [u32; 2], fabric: Fabric) -> Self {
        let [nx, nz] = cells.map(|c| c.max(1));
        let (mut rest, mut pinned) = (Vec::new(), Vec::new());
        for z in 0..=nz {
            for x in 0..=nx {
                let u = x as f32 / nx as f32 - 0.5;
                let v = z as f32 / nz as f32 - 0.5;
                rest.push(centre + Vec3::new(u * size[0], 0.0, v * size[1]));
                pinned.push(x == 0 || z == 0 || x == nx || z == nz);
            }
        }
        let mut triangles = Vec::new();
        for z in 0..nz {
            for x in 0..nx {
                let a = z * (nx + 1) + x;
                let [b, c, d] = [a + 1, a + nx + 2, a + nx + 1];
                if (x + z) % 2 == 0 {
                    triangles.extend([[a, c, b], [a, d, c]]);
                } else {
                    triangles.extend([[a, d, b], [b, d, c]]);
                }
            }
        }
        let nodes = rest.len();
        let mut cloth = Self {
            fabric,
            positions: rest.clone(),
            previous: rest.clone(),
            velocities: vec![Vec3::ZERO; nodes],
            seen: Vec::new(),
            inverse_masses: Vec::new(),
            rest,
            pinned,
            triangles,
            springs: Vec::new(),
        };
        cloth.refresh();
        cloth
    }

    /// The nodes, now.
    #[must_use]
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// The triangles.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn refresh(&mut self) {
        let mut masses = vec![0.0_f32; self.rest.len()];
        let mut edges: Vec<([u32; 2], u32)> = Vec::new();
        for t in &self.triangles {
            let [a, b, c] = t.map(|n| self.rest[n as usize]);
            let area = 0.5 * (b - a).cross(c - a).length();
            for i in 0..3 {
                masses[t[i] as usize] += self.fabric.density * area / 3.0;
                let (x, y) = (t[i], t[(i + 1) % 3]);
                edges.push(([x.min(y), x.max(y)], t[(i + 2) % 3]));
            }
        }
        self.inverse_masses = masses
            .iter()
            .zip(&self.pinned)
            .map(|(m, &pinned)| if pinned { 0.0 } else { 1.0 / m })
            .collect();
        edges.sort_unstable();
        self.springs.clear();
        for same in edges.chunk_by(|a, b| a.0 == b.0) {
            let mut add = |nodes: [u32; 2], bends| {
                let [a, b] = nodes.map(|n| self.rest[n as usize]);
                self.springs.push(Spring {
                    nodes,
                    length: a.distance(b),
                    bends,
                });
            };
            add(same[0].0, false);
            if let [(_, a), (_, b)] = same {
                add([*a, *b], true);
            }
        }
    }

    pub(crate) fn solve(&mut self, h: f32) {
        for spring in &self.springs {
            let [a, b] = spring.nodes.map(|n| n as usize);
            let (wa, wb) = (self.inverse_masses[a], self.inverse_masses[b]);
            let compliance = if spring.bends {
                self.fabric.bend_compliance
            } else {
                self.fabric.stretch_compliance
            };
            let along = self.positions[b] - self.positions[a];
            let length = along.length();
            let response = wa + wb + compliance / (h * h);
            if length > 0.0 && response > 0.0 {
                let push = along * ((length - spring.length) / (length * response));
                self.positions[a] += push * wa;
                self.positions[b] -= push * wb;
            }
        }
    }

    /// Tears at most `most` edges that are stretched too far, worst first. Returns
    /// the number of tears.
    pub fn tear(&mut self, most: usize) -> usize {
        let limit = self.fabric.tear_stretch;
        let mut failing: Vec<(f32, [u32; 2])> = self
            .springs
            .iter()
            .filter(|s| !s.bends)
            .map(|s| {
                let [a, b] = s.nodes.map(|n| self.positions[n as usize]);
                (a.distance(b) / s.length, s.nodes)
            })
            .filter(|(stretch, _)| *stretch > limit)
            .collect();
        failing.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut touched = vec![false; self.rest.len()];
        let mut tears = 0;
        for (_, [a, b]) in failing {
            if tears == most {
                break;
            }
            if touched[a as usize] || touched[b as usize] {
                continue;
            }
            for (node, other) in [(a, b), (b, a)] {
                if self.part(node, other) {
                    (touched[a as usize], touched[b as usize]) = (true, true);
                    tears += 1;
                    break;
                }
            }
        }
        if tears > 0 {
            self.refresh();
        }
        tears
    }

    /// Gives the triangles at `node` that lie towards `other` a node of their own.
    fn part(&mut self, node: u32, other: u32) -> bool {
        let at = self.rest[node as usize];
        let along = self.rest[other as usize] - at;
        let ahead = |rest: &[Vec3], t: &[u32; 3]| {
            let centre = t.map(|n| rest[n as usize]).iter().sum::<Vec3>() / 3.0;
            (centre - at).dot(along) > 0.0
        };
        let here = self.triangles.iter().filter(|t| t.contains(&node));
        let (mut front, mut back) = (0, 0);
        for t in here {
            if ahead(&self.rest, t) {
                front += 1;
            } else {
                back += 1;
            }
        }
        if front == 0 || back == 0 || self.pinned[node as usize] {
            return false;
        }
        let copy = self.rest.len() as u32;
        let n = node as usize;
        self.rest.push(self.rest[n]);
        self.positions.push(self.positions[n]);
        self.previous.push(self.previous[n]);
        self.velocities.push(self.velocities[n]);
        self.pinned.push(false);
        for t in &mut self.triangles {
            if t.contains(&node) && ahead(&self.rest, t) {
                for n in t.iter_mut().filter(|n| **n == node) {
                    *n = copy;
                }
            }
        }
        true
    }

    /// Checks that no node is loose and no number has gone astray.
    ///
    /// # Errors
    /// The first defect found.
    pub fn validate(&self) -> Result<(), String> {
        let mut used = vec![false; self.rest.len()];
        for &n in self.triangles.iter().flatten() {
            *used.get_mut(n as usize).ok_or("a triangle names no node")? = true;
        }
        if let Some(n) = used.iter().position(|u| !u) {
            return Err(format!("node {n} belongs to no triangle"));
        }
        match self.positions.iter().position(|p| !p.is_finite()) {
            Some(n) => Err(format!("node {n} is at {}", self.positions[n])),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overstretched_cloth_tears_and_stays_valid() {
        let fabric = Fabric {
            tear_stretch: 1.3,
            ..Fabric::default()
        };
        let mut cloth = Cloth::hammock(Vec3::ZERO, [1.0, 1.0], [8, 8], fabric);
        assert_eq!(cloth.tear(10), 0);
        for p in &mut cloth.positions {
            p.x *= 1.5;
        }
        let (nodes, triangles) = (cloth.positions().len(), cloth.triangles().len());
        let tears = cloth.tear(10);
        assert!(tears > 0);
        assert_eq!(cloth.positions().len(), nodes + tears);
        assert_eq!(cloth.triangles().len(), triangles);
        cloth.validate().unwrap();
    }
}
