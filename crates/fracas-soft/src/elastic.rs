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

use fracas_core::tet_mesh::TET_EDGES;
use glam::{Mat3, Vec3};

use crate::body::{SoftBody, Spring};

impl SoftBody {
    /// The map from the rest shape of a tetrahedron to its present one.
    #[must_use]
    pub fn deformation(&self, tet: u32) -> Mat3 {
        let [a, b, c, d] = self.tets[tet as usize].map(|n| self.positions[n as usize]);
        Mat3::from_cols(b - a, c - a, d - a) * self.shapes[tet as usize].inverse
    }

    /// One pass over all springs and tetrahedra.
    pub(crate) fn solve(&mut self, h: f32) {
        if self.fixed {
            return;
        }
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
        for (tet, shape) in self.tets.iter().zip(&self.shapes) {
            let nodes = tet.map(|n| n as usize);
            let [a, b, c, d] = nodes.map(|n| self.positions[n]);
            let (u, v, w) = (b - a, c - a, d - a);
            // The determinant of F is the volume over that at rest, its derivative by a node
            // the area across from it.
            let per_volume = 1.0 / (6.0 * shape.volume);
            let (by_b, by_c, by_d) = (v.cross(w), w.cross(u), u.cross(v));
            let gradients = [-(by_b + by_c + by_d), by_b, by_c, by_d].map(|g| g * per_volume);
            let mut response = per_step / (self.material.bulk * shape.volume);
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
    pub(crate) fn wind_springs(&mut self) {
        let mut parts: Vec<([u32; 2], f32)> = Vec::with_capacity(self.tets.len() * 6);
        for (tet, shape) in self.tets.iter().zip(&self.shapes) {
            for [i, j] in TET_EDGES {
                let nodes = [tet[i].min(tet[j]), tet[i].max(tet[j])];
                parts.push((nodes, shape.volume));
            }
        }
        parts.sort_by_key(|part| part.0);
        self.springs.clear();
        for same in parts.chunk_by(|a, b| a.0 == b.0) {
            let nodes = same[0].0;
            let [a, b] = nodes.map(|n| self.rest[n as usize]);
            let volume: f32 = same.iter().map(|part| part.1).sum();
            self.springs.push(Spring {
                nodes,
                length: a.distance(b),
                stiffness: self.material.shear * volume / a.distance_squared(b),
            });
        }
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
