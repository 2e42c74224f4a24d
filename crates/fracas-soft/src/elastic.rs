//! Elasticity of tetrahedra: springs along edges, and volumes that resist change.
//!
//! Extended position-based dynamics, one pass per substep [Macklin et al. 2019: Small
//! Steps in Physics Simulation]:
//!
//! - each edge is a spring of stiffness `shear * V / L^2`, V being the volume of the
//!   tetrahedra around it (the mass-spring body of [Marchal 2004, section 6]; under a
//!   uniform strain it stores about the energy of a solid of that shear modulus);
//! - each tetrahedron keeps its volume: `C = det F - 1`, compliance `1 / (bulk V)`,
//!   F being the map from its rest shape to its present one.
//!
//! Every constraint is satisfied at rest, so the rest shape stays at rest whatever the
//! step, and each is solved implicitly, so nothing explodes. (The stable neo-Hookean
//! pair of constraints [Macklin and Müller 2021] was tried and dropped: its shape
//! constraint is implicit along one direction only, and the light nodes at the centres
//! of divided tetrahedra made it unstable.) Each correction conserves linear and
//! angular momentum.

use fracas_core::tet_mesh::{NONE, TET_EDGES};
use glam::{Mat3, Vec3};

use crate::body::{Material, SoftBody};
use crate::piece::{Piece, Spring};

/// What moves a body in a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    /// s: the substep.
    pub h: f32,
    pub gravity: Vec3,
    pub floor: Option<f32>,
}

/// Takes velocities from positions and keeps everything above the floor.
pub(crate) fn settle(
    [positions, previous, velocities]: [&mut Vec<Vec3>; 3],
    h: f32,
    keep: f32,
    floor: Option<f32>,
) {
    for ((p, before), v) in positions.iter_mut().zip(previous.iter()).zip(velocities) {
        *v = (*p - *before) * (keep / h);
        if let Some(floor) = floor
            && p.y < floor
        {
            p.y = floor;
            *v = Vec3::new(0.5 * v.x, v.y.max(0.0), 0.5 * v.z);
        }
    }
}

impl Piece {
    /// Advances by a substep from where the body is.
    pub fn advance(&mut self, body: &SoftBody, by: Move) {
        self.load(body);
        let h = by.h;
        for n in 0..self.positions.len() {
            self.velocities[n] += h * by.gravity;
            self.previous[n] = self.positions[n];
            self.positions[n] += h * self.velocities[n];
        }
        self.solve(h, &body.material);
        let keep = 1.0 / (1.0 + h * body.material.damping);
        let Self {
            positions,
            previous,
            velocities,
            ..
        } = self;
        settle([positions, previous, velocities], h, keep, by.floor);
    }

    fn load(&mut self, body: &SoftBody) {
        let nodes = self.nodes.iter().map(|&n| n as usize);
        self.positions.clear();
        self.positions
            .extend(nodes.clone().map(|n| body.positions[n]));
        self.velocities.clear();
        self.velocities
            .extend(nodes.clone().map(|n| body.velocities[n]));
        self.inverse_masses.clear();
        self.inverse_masses
            .extend(nodes.map(|n| body.inverse_masses[n]));
        self.previous.resize(self.nodes.len(), Vec3::ZERO);
    }

    /// Tells the body where its nodes are.
    pub fn store(&self, positions: &mut [Vec3], velocities: &mut [Vec3]) {
        for (i, &n) in self.nodes.iter().enumerate() {
            positions[n as usize] = self.positions[i];
            velocities[n as usize] = self.velocities[i];
        }
    }

    /// One pass over all springs and tetrahedra.
    fn solve(&mut self, h: f32, material: &Material) {
        let per_step = 1.0 / (h * h);
        for spring in &self.springs {
            let [a, b] = spring.nodes.map(|n| n as usize);
            let (wa, wb) = (self.inverse_masses[a], self.inverse_masses[b]);
            let along = self.positions[b] - self.positions[a];
            let length = along.length();
            if length > 0.0 {
                let response = wa + wb + per_step / spring.stiffness;
                let push = along * ((length - spring.length) / (length * response));
                self.positions[a] += wa * push;
                self.positions[b] -= wb * push;
            }
        }
        for &(tet, volume) in &self.tets {
            let nodes = tet.map(|n| n as usize);
            let [a, b, c, d] = nodes.map(|n| self.positions[n]);
            let (u, v, w) = (b - a, c - a, d - a);
            // The determinant of F is the volume over that at rest, its derivative by a node
            // the area across from it.
            let per_volume = 1.0 / (6.0 * volume);
            let (by_b, by_c, by_d) = (v.cross(w), w.cross(u), u.cross(v));
            let gradients = [-(by_b + by_c + by_d), by_b, by_c, by_d].map(|g| g * per_volume);
            let mut response = per_step / (material.bulk * volume);
            for i in 0..4 {
                response += self.inverse_masses[nodes[i]] * gradients[i].length_squared();
            }
            let lambda = (1.0 - u.dot(gradients[1])) / response;
            if lambda.is_finite() {
                for i in 0..4 {
                    let n = nodes[i];
                    self.positions[n] += gradients[i] * (lambda * self.inverse_masses[n]);
                }
            }
        }
    }

    /// The springs of all edges. Each tetrahedron adds `shear V / L^2` to its edges.
    fn wind_springs(&mut self, rest: &[Vec3], shear: f32) {
        // Edges by their lower nodes: each with its other node and the volume around it.
        let mut starts = vec![0_u32; self.nodes.len() + 1];
        let edges = |tet: [u32; 4]| {
            TET_EDGES.map(|[i, j]| (tet[i].min(tet[j]) as usize, tet[i].max(tet[j])))
        };
        for &(tet, _) in &self.tets {
            for (low, _) in edges(tet) {
                starts[low + 1] += 1;
            }
        }
        for n in 0..self.nodes.len() {
            starts[n + 1] += starts[n];
        }
        let mut ends = starts.clone();
        let mut around = vec![(NONE, 0.0_f32); self.tets.len() * TET_EDGES.len()];
        for &(tet, volume) in &self.tets {
            for (low, high) in edges(tet) {
                let (from, to) = (starts[low] as usize, &mut ends[low]);
                let known = &mut around[from..*to as usize];
                match known.iter_mut().find(|edge| edge.0 == high) {
                    Some(edge) => edge.1 += volume,
                    None => {
                        around[*to as usize] = (high, volume);
                        *to += 1;
                    }
                }
            }
        }
        self.springs.clear();
        for low in 0..self.nodes.len() {
            let edges = &mut around[starts[low] as usize..ends[low] as usize];
            edges.sort_unstable_by_key(|edge| edge.0);
            for &mut (high, volume) in edges {
                let nodes = [low as u32, high];
                let [a, b] = nodes.map(|n| rest[self.nodes[n as usize] as usize]);
                self.springs.push(Spring {
                    nodes,
                    length: a.distance(b),
                    stiffness: shear * volume / a.distance_squared(b),
                });
            }
        }
    }
}

impl SoftBody {
    /// The map from the rest shape of a tetrahedron to its present one.
    #[must_use]
    pub fn deformation(&self, tet: u32) -> Mat3 {
        let [a, b, c, d] = self.tets[tet as usize].map(|n| self.positions[n as usize]);
        Mat3::from_cols(b - a, c - a, d - a) * self.shapes[tet as usize].inverse
    }

    /// Advances by a substep, piece by piece.
    pub(crate) fn advance(&mut self, by: Move, parallel: bool) {
        let mut pieces = std::mem::take(&mut self.pieces);
        #[cfg(feature = "parallel")]
        if parallel {
            use rayon::prelude::*;
            let all = pieces.par_iter_mut().with_min_len(4);
            all.for_each(|piece| piece.advance(self, by));
        }
        if !(parallel && cfg!(feature = "parallel")) {
            pieces.iter_mut().for_each(|piece| piece.advance(self, by));
        }
        for piece in &pieces {
            piece.store(&mut self.positions, &mut self.velocities);
        }
        self.pieces = pieces;
    }

    /// One pass over all springs and tetrahedra.
    #[cfg(test)]
    fn solve(&mut self, h: f32) {
        for mut piece in std::mem::take(&mut self.pieces) {
            piece.load(self);
            piece.solve(h, &self.material);
            piece.store(&mut self.positions, &mut self.velocities);
            self.pieces.push(piece);
        }
    }

    /// Sorts nodes and tetrahedra into pieces. One that is as it was keeps its springs.
    pub(crate) fn gather_pieces(&mut self) {
        let nodes = self.rest.len();
        // Each node points to a lower one of its piece, or is the lowest itself.
        let mut lower: Vec<u32> = (0..nodes as u32).collect();
        let lowest = |lower: &mut Vec<u32>, mut n: u32| {
            while lower[n as usize] != n {
                lower[n as usize] = lower[lower[n as usize] as usize];
                n = lower[n as usize];
            }
            n
        };
        for tet in &self.tets {
            let first = tet.map(|n| lowest(&mut lower, n));
            let low = first.into_iter().fold(NONE, u32::min);
            for n in first {
                lower[n as usize] = low;
            }
        }
        let mut pieces: Vec<Piece> = Vec::new();
        // For each node its piece, and its place there.
        let mut places = vec![[NONE; 2]; nodes];
        for n in 0..nodes as u32 {
            let low = lowest(&mut lower, n);
            let piece = if low == n {
                pieces.push(Piece::default());
                pieces.len() as u32 - 1
            } else {
                places[low as usize][0]
            };
            let own = &mut pieces[piece as usize].nodes;
            places[n as usize] = [piece, own.len() as u32];
            own.push(n);
        }
        for (tet, shape) in self.tets.iter().zip(&self.shapes) {
            let piece = places[tet[0] as usize][0];
            let local = tet.map(|n| places[n as usize][1]);
            pieces[piece as usize].tets.push((local, shape.volume));
        }
        // By their lowest nodes, as they were made.
        let mut known = std::mem::take(&mut self.pieces);
        for piece in &mut pieces {
            let lowest = |old: &Piece| old.nodes.first().copied();
            let place = known.binary_search_by_key(&lowest(piece), lowest);
            match place.map(|i| &mut known[i]) {
                Ok(old) if (&old.nodes, &old.tets) == (&piece.nodes, &piece.tets) => {
                    std::mem::swap(piece, old);
                }
                _ => piece.wind_springs(&self.rest, self.material.shear),
            }
        }
        self.pieces = pieces;
    }

    /// The largest principal stretch of a tetrahedron, and the direction in the
    /// rest shape that is stretched, if it exceeds `limit`.
    pub(crate) fn overstretch(&self, tet: u32, limit: f32) -> Option<(f32, Vec3)> {
        let f = self.deformation(tet);
        let c = f.transpose() * f;
        // The eigenvalues have the mean `mean` and the variance `spread / 3`, so none is larger
        // than this (Samuelson 1968).
        let mean = (c.x_axis.x + c.y_axis.y + c.z_axis.z) / 3.0;
        let off = c - Mat3::from_diagonal(Vec3::splat(mean));
        let columns = [off.x_axis, off.y_axis, off.z_axis];
        let spread: f32 = columns.map(Vec3::length_squared).iter().sum();
        let largest = mean + (2.0 / 3.0 * spread).sqrt();
        if largest.is_nan() || largest <= limit * limit {
            return None;
        }
        // Power iteration from the longest column: it is not orthogonal to the
        // dominant eigenvector of a symmetric positive matrix.
        let mut direction = [c.x_axis, c.y_axis, c.z_axis]
            .into_iter()
            .max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))?
            .try_normalize()?;
        for _ in 0..12 {
            direction = (c * direction).try_normalize()?;
        }
        let stretch = (f * direction).length();
        (stretch > limit).then_some((stretch, direction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Material;
    use fracas_core::testing::box_grid;

    fn cube() -> SoftBody {
        SoftBody::build(&box_grid([2, 2, 2], Vec3::ONE), Material::default()).unwrap()
    }

    #[test]
    fn the_rest_shape_is_at_rest() {
        let mut body = cube();
        for _ in 0..50 {
            body.solve(1e-2);
        }
        for (p, r) in body.positions().iter().zip(body.rest()) {
            assert!(p.distance(*r) < 1e-4, "{p} {r}");
        }
    }

    #[test]
    fn a_correction_keeps_the_centre_of_mass_and_recovers_the_shape() {
        let mut body = cube();
        for p in &mut body.positions {
            *p = Vec3::new(1.3 * p.x, 0.8 * p.y + 0.2 * p.x, p.z);
        }
        let centre = |body: &SoftBody| {
            let sum: glam::DVec3 = (0..body.rest().len())
                .map(|n| body.positions[n].as_dvec3() / f64::from(body.inverse_masses[n]))
                .sum();
            sum / 1000.0
        };
        let before = centre(&body);
        for _ in 0..300 {
            body.solve(1e-2);
        }
        assert!(centre(&body).distance(before) < 1e-4);
        for t in 0..body.tets().len() as u32 {
            assert!((body.deformation(t).determinant() - 1.0).abs() < 0.05);
            assert!(body.overstretch(t, 1.05).is_none());
        }
    }

    #[test]
    fn stretch_is_the_largest_singular_value() {
        let mut body = cube();
        for p in &mut body.positions {
            *p = Vec3::new(0.9 * p.x, 1.7 * p.y, 1.2 * p.z);
        }
        let (stretch, direction) = body.overstretch(0, 1.5).unwrap();
        assert!((stretch - 1.7).abs() < 1e-3 && direction.y.abs() > 0.99);
        assert!(body.overstretch(0, 1.8).is_none());
    }
}
