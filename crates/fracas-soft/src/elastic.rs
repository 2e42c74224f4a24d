//! Elasticity of tetrahedra: two constraints each, solved one after the other.
//!
//! Neo-Hookean energy as extended position-based dynamics [Macklin and Müller 2021:
//! A Constraint-based Formulation of Stable Neo-Hookean Materials], one pass per
//! substep [Macklin et al. 2019: Small Steps in Physics Simulation]:
//!
//! - shape: `C = |F|` with compliance `1 / (shear V)`;
//! - volume: `C = det F - (1 + shear / bulk)` with compliance `1 / (bulk V)`;
//!
//! where F maps the rest shape to the present one. Inverted tetrahedra recover.
//! Each correction conserves linear and angular momentum of the nodes it moves.

use glam::{Mat3, Vec3};

use crate::body::SoftBody;

impl SoftBody {
    /// The map from the rest shape of a tetrahedron to its present one.
    #[must_use]
    pub fn deformation(&self, tet: u32) -> Mat3 {
        let [a, b, c, d] = self.tets[tet as usize].map(|n| self.positions[n as usize]);
        Mat3::from_cols(b - a, c - a, d - a) * self.shapes[tet as usize].inverse
    }

    /// One pass over all tetrahedra.
    pub(crate) fn solve(&mut self, h: f32) {
        if self.fixed {
            return;
        }
        let per_step = 1.0 / (h * h);
        let (shear, bulk) = (self.material.shear, self.material.bulk);
        let rest_volume_ratio = 1.0 + shear / bulk;
        for t in 0..self.tets.len() {
            let volume = self.shapes[t].volume;
            let f = self.deformation(t as u32);
            let stretch =
                (f.x_axis.length_squared() + f.y_axis.length_squared() + f.z_axis.length_squared())
                    .sqrt();
            if stretch > 0.0 {
                let compliance = per_step / (shear * volume);
                self.correct(t, stretch, f * (1.0 / stretch), compliance);
            }
            let f = self.deformation(t as u32);
            let cofactor = Mat3::from_cols(
                f.y_axis.cross(f.z_axis),
                f.z_axis.cross(f.x_axis),
                f.x_axis.cross(f.y_axis),
            );
            let excess = f.determinant() - rest_volume_ratio;
            self.correct(t, excess, cofactor, per_step / (bulk * volume));
        }
    }

    /// Moves the nodes of a tetrahedron against one constraint of value `c`, whose
    /// derivative by F is `by_f`.
    #[inline]
    fn correct(&mut self, t: usize, c: f32, by_f: Mat3, compliance: f32) {
        let g = by_f * self.shapes[t].inverse.transpose();
        let gradients = [
            -(g.x_axis + g.y_axis + g.z_axis),
            g.x_axis,
            g.y_axis,
            g.z_axis,
        ];
        let nodes = self.tets[t];
        let mut response = compliance;
        for (n, gradient) in nodes.iter().zip(&gradients) {
            response += self.inverse_masses[*n as usize] * gradient.length_squared();
        }
        let lambda = -c / response;
        if !lambda.is_finite() {
            return;
        }
        for (n, gradient) in nodes.iter().zip(&gradients) {
            let n = *n as usize;
            self.positions[n] += *gradient * (lambda * self.inverse_masses[n]);
        }
    }

    /// The largest principal stretch of a tetrahedron, and the direction in the
    /// rest shape that is stretched, if it exceeds `limit`.
    pub(crate) fn overstretch(&self, tet: u32, limit: f32) -> Option<(f32, Vec3)> {
        let f = self.deformation(tet);
        let c = f.transpose() * f;
        // The largest eigenvalue lies between a third of the trace and the trace.
        let trace = c.x_axis.x + c.y_axis.y + c.z_axis.z;
        if !(trace > limit * limit) {
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
    use fracas::testing::box_grid;

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
            // The two constraints balance only when solved together: one after the
            // other leaves half a percent.
            assert!(p.distance(*r) < 8e-3, "{p} {r}");
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
