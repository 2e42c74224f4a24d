//! Constraints solved four side by side.
//!
//! A row holds four that share no node, so each reads what it would read if they were solved one
//! after the other: the bits are the same.

use glam::Vec4;
use wide::f32x4;

use crate::lanes::{Vectors, gather, scatter};

/// Four springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpringRow {
    /// Their first ends, then their second ends.
    pub nodes: [[u32; 4]; 2],
    pub lengths: f32x4,
    /// One over stiffness.
    pub compliances: f32x4,
}

/// Four tetrahedra that keep their volumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VolumeRow {
    /// Their first corners, then their second ones, and so on.
    pub nodes: [[u32; 4]; 4],
    /// One over six times the volume at rest.
    pub per_volumes: f32x4,
    /// One over stiffness.
    pub compliances: f32x4,
}

impl SpringRow {
    /// Solves all four; `per_step` is one over the square of the substep.
    #[inline]
    pub fn solve(&self, nodes: &mut [Vec4], per_step: f32) {
        let (a, wa) = gather(nodes, self.nodes[0]);
        let (b, wb) = gather(nodes, self.nodes[1]);
        let mut along = b.minus(a);
        let length = along.dot(along).sqrt();
        let response = wa + wb + per_step * self.compliances;
        let mut share = (length - self.lengths) / (length * response);
        let is_long = length.simd_gt(f32x4::ZERO);
        if !is_long.all() {
            // Without length there is no direction; what is no number moves nobody.
            share = is_long.bitselect(share, f32x4::ZERO);
            along = along.finite();
        }
        scatter(nodes, self.nodes[0], a.moved(wa * share, along), wa);
        scatter(nodes, self.nodes[1], b.moved(-(wb * share), along), wb);
    }
}

impl VolumeRow {
    /// Solves all four; `per_step` is one over the square of the substep.
    #[inline]
    pub fn solve(&self, nodes: &mut [Vec4], per_step: f32) {
        let [a, b, c, d] = self.nodes;
        let corners = [
            gather(nodes, a),
            gather(nodes, b),
            gather(nodes, c),
            gather(nodes, d),
        ];
        let u = corners[1].0.minus(corners[0].0);
        let v = corners[2].0.minus(corners[0].0);
        let w = corners[3].0.minus(corners[0].0);
        // The determinant of F is the volume over that at rest, its derivative by a node
        // the area across from it.
        let by_b = v.cross(w).times(self.per_volumes);
        let by_c = w.cross(u).times(self.per_volumes);
        let by_d = u.cross(v).times(self.per_volumes);
        let by_a = Vectors {
            x: -(by_b.x + by_c.x + by_d.x),
            y: -(by_b.y + by_c.y + by_d.y),
            z: -(by_b.z + by_c.z + by_d.z),
        };
        let mut gradients = [by_a, by_b, by_c, by_d];
        let mut response = per_step * self.compliances;
        for (gradient, (_, inverse_mass)) in gradients.iter().zip(&corners) {
            response += *inverse_mass * gradient.dot(*gradient);
        }
        let mut lambda = (f32x4::ONE - u.dot(by_b)) / response;
        let is_finite = lambda.is_finite();
        if !is_finite.all() {
            lambda = is_finite.bitselect(lambda, f32x4::ZERO);
            gradients = gradients.map(Vectors::finite);
        }
        for ((gradient, (p, inverse_mass)), at) in gradients.iter().zip(corners).zip(self.nodes) {
            let moved = p.moved(lambda * inverse_mass, *gradient);
            scatter(nodes, at, moved, inverse_mass);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;
    use glam::Vec3;

    /// The same, one by one.
    fn solve_spring(nodes: &mut [Vec4], [a, b]: [usize; 2], length: f32, ease: f32) {
        let (p, q) = (nodes[a], nodes[b]);
        let along = q.truncate() - p.truncate();
        let long = (along.x * along.x + along.y * along.y + along.z * along.z).sqrt();
        if long > 0.0 {
            let share = (long - length) / (long * (p.w + q.w + ease));
            nodes[a] = (p.truncate() + p.w * share * along).extend(p.w);
            nodes[b] = (q.truncate() + -(q.w * share) * along).extend(q.w);
        }
    }

    fn solve_volume(nodes: &mut [Vec4], at: [usize; 4], per_volume: f32, ease: f32) {
        let [a, b, c, d] = at.map(|n| nodes[n].truncate());
        let dot = |a: Vec3, b: Vec3| a.x * b.x + a.y * b.y + a.z * b.z;
        let (u, v, w) = (b - a, c - a, d - a);
        let across = [v.cross(w), w.cross(u), u.cross(v)].map(|n| n * per_volume);
        let [by_b, by_c, by_d] = across;
        let gradients = [-(by_b + by_c + by_d), by_b, by_c, by_d];
        let mut response = ease;
        for (n, g) in at.into_iter().zip(gradients) {
            response += nodes[n].w * dot(g, g);
        }
        let lambda = (1.0 - dot(u, by_b)) / response;
        if lambda.is_finite() {
            for (n, g) in at.into_iter().zip(gradients) {
                let w = nodes[n].w;
                nodes[n] = (nodes[n].truncate() + lambda * w * g).extend(w);
            }
        }
    }

    #[test]
    fn four_side_by_side_are_four_one_by_one() {
        let mut rng = Rng(12);
        for round in 0..500 {
            let mut any = |size: f32| size * (rng.unit() + 0.1);
            let mut nodes: Vec<Vec4> = (0..17)
                .map(|_| Vec4::new(any(1.0), any(1.0), any(1.0), any(10.0)))
                .collect();
            // Some without length or volume, and some that are no number.
            if round % 5 == 0 {
                nodes[4] = nodes[0];
                nodes[9].x = f32::NAN;
                nodes[6].y = f32::INFINITY;
            }
            let lanes = |from: u32| [from, from + 1, from + 2, from + 3];
            let four = |of: [f32; 4]| f32x4::new(of);
            let (lengths, eases) = ([any(1.0); 4], [(); 4].map(|()| any(1e-3)));
            let per_step = 1e4;
            let mut other = nodes.clone();
            let springs = SpringRow {
                nodes: [lanes(0), lanes(4)],
                lengths: four(lengths),
                compliances: four(eases),
            };
            springs.solve(&mut nodes, per_step);
            for i in 0..4 {
                solve_spring(&mut other, [i, i + 4], lengths[i], per_step * eases[i]);
            }
            check(&nodes, &other);
            let volumes = VolumeRow {
                nodes: [lanes(0), lanes(8), lanes(4), lanes(12)],
                per_volumes: four(lengths),
                compliances: four(eases),
            };
            volumes.solve(&mut nodes, per_step);
            for i in 0..4 {
                let at = [i, i + 8, i + 4, i + 12];
                solve_volume(&mut other, at, lengths[i], per_step * eases[i]);
            }
            check(&nodes, &other);
        }
    }

    fn check(nodes: &[Vec4], other: &[Vec4]) {
        for (p, q) in nodes.iter().zip(other) {
            let bits = |p: &Vec4| p.to_array().map(f32::to_bits);
            assert!(bits(p) == bits(q) || p.is_nan() && q.is_nan(), "{p} {q}");
        }
    }
}
