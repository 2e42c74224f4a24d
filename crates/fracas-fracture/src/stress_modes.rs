//! Stress of every node per unit of every mode, laid out for speed, with norms
//! that bound what can come of an impact.
//!
//! Nodal stress is the volume-weighted mean over the tetrahedra round a node, which
//! is the stress at the middle of that patch, not at the node: at the surface of a
//! bent plate of two layers it is a third too low. It is carried on to the node by
//! the slope of the means among neighbours: within a fifth in bending.
//! (A linear fit through the tetrahedra themselves, the usual patch recovery, reads
//! 60 percent high beside the zigzag of computed modes.)
//!
//! Layout: four nodes side by side per lane group, so that one multiplication
//! serves four nodes: value of component c of mode k of lane l of a group at
//! `((group * modes + k) * 6 + c) * 4 + l`.
//!
//! **Guarantee**: for any modal coordinates with `|q_k| <= b_k`, no node of a group
//! has a principal stress above the group's bound: the spectral norm is a norm.

use glam::{DMat3, DVec3};

use crate::material::Material;
use crate::principal::{Stress, spectral_norm};
use crate::stiffness::ElasticBody;

/// Nodes side by side.
pub const LANES: usize = 4;

/// Groups per cluster of the coarse bound.
const CLUSTER: usize = 16;

/// Stress per unit of mode, for all nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct StressModes {
    nodes: usize,
    modes: usize,
    values: Vec<f32>,
    /// Largest spectral norm in each group, `group * modes + k`.
    group_norms: Vec<f32>,
    cluster_norms: Vec<f32>,
    largest_norms: Vec<f32>,
}

/// The stresses of four neighbouring nodes: component, lane.
pub type LaneStress = [[f32; LANES]; 6];

impl StressModes {
    /// All stresses times `factor`.
    pub(crate) fn scaled(&self, factor: f32) -> Self {
        let scaled = |values: &[f32]| values.iter().map(|x| x * factor).collect();
        Self {
            nodes: self.nodes,
            modes: self.modes,
            values: scaled(&self.values),
            group_norms: scaled(&self.group_norms),
            cluster_norms: scaled(&self.cluster_norms),
            largest_norms: scaled(&self.largest_norms),
        }
    }

    /// Averages element stresses of the mode shapes over nodes.
    pub(crate) fn build(
        body: &ElasticBody,
        material: &Material,
        modes: usize,
        shape: impl Fn(usize, usize) -> DVec3,
    ) -> Self {
        let (lambda, mu) = material.lame();
        let own = body.own_count();
        let mut sums: Vec<[f64; 6]> = vec![[0.0; 6]; own];
        let weights = recovery_weights(body);
        let carry = Carry::new(body);
        let mut values = vec![[0.0_f32; 6]; own * modes];
        for k in 0..modes {
            sums.iter_mut().for_each(|s| *s = [0.0; 6]);
            let elements = body.tets().iter().zip(&weights).zip(body.gradients());
            for ((tet, weight), gradients) in elements {
                let mut strain = [0.0; 6];
                for (&n, g) in tet.iter().zip(gradients) {
                    let u = shape(n as usize, k);
                    strain[0] += u.x * g.x;
                    strain[1] += u.y * g.y;
                    strain[2] += u.z * g.z;
                    strain[3] += u.x * g.y + u.y * g.x;
                    strain[4] += u.y * g.z + u.z * g.y;
                    strain[5] += u.z * g.x + u.x * g.z;
                }
                let pressure = lambda * (strain[0] + strain[1] + strain[2]);
                let stress: [f64; 6] = std::array::from_fn(|c| {
                    if c < 3 {
                        pressure + 2.0 * mu * strain[c]
                    } else {
                        mu * strain[c]
                    }
                });
                for (&n, weight) in tet.iter().zip(weight) {
                    if (n as usize) < own {
                        for c in 0..6 {
                            sums[n as usize][c] += weight * stress[c];
                        }
                    }
                }
            }
            for i in 0..own {
                values[i * modes + k] = carry.at(i, &sums).map(|s| s as f32);
            }
        }
        Self::from_values(own, modes, |i, k| values[i * modes + k])
    }

    /// Lays out given stresses and computes the norms.
    pub(crate) fn from_values(
        nodes: usize,
        modes: usize,
        value: impl Fn(usize, usize) -> Stress,
    ) -> Self {
        let groups = nodes.div_ceil(LANES);
        let mut values = vec![0.0; groups * modes * 6 * LANES];
        let mut group_norms = vec![0.0_f32; groups * modes];
        for i in 0..nodes {
            let (group, lane) = (i / LANES, i % LANES);
            for k in 0..modes {
                let stress = value(i, k);
                for c in 0..6 {
                    values[((group * modes + k) * 6 + c) * LANES + lane] = stress[c];
                }
                let norm = &mut group_norms[group * modes + k];
                // Rounded up: a bound must not be below by rounding.
                *norm = norm.max((spectral_norm(&stress) * (1.0 + 1e-6)) as f32);
            }
        }
        let clusters = groups.div_ceil(CLUSTER);
        let mut cluster_norms = vec![0.0_f32; clusters * modes];
        let mut largest_norms = vec![0.0_f32; modes];
        for group in 0..groups {
            for k in 0..modes {
                let norm = group_norms[group * modes + k];
                let cluster = &mut cluster_norms[group / CLUSTER * modes + k];
                *cluster = cluster.max(norm);
                largest_norms[k] = largest_norms[k].max(norm);
            }
        }
        Self {
            nodes,
            modes,
            values,
            group_norms,
            cluster_norms,
            largest_norms,
        }
    }

    /// How many nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many groups of [`LANES`] nodes; the last may have lanes to spare (zero).
    #[must_use]
    pub fn groups(&self) -> usize {
        self.nodes.div_ceil(LANES)
    }

    /// Stress of node `i` per unit of mode `k`.
    #[must_use]
    pub fn of(&self, i: usize, k: usize) -> Stress {
        let (group, lane) = (i / LANES, i % LANES);
        std::array::from_fn(|c| self.values[((group * self.modes + k) * 6 + c) * LANES + lane])
    }

    /// Stresses of a group for modal coordinates `q`.
    #[must_use]
    pub fn at_group(&self, group: usize, q: &[f32]) -> LaneStress {
        let size = 6 * LANES;
        let start = group * self.modes * size;
        let values = &self.values[start..start + self.modes * size];
        let mut sums: LaneStress = [[0.0; LANES]; 6];
        for (mode, &q) in values.chunks_exact(size).zip(q) {
            for c in 0..6 {
                for l in 0..LANES {
                    sums[c][l] += q * mode[c * LANES + l];
                }
            }
        }
        sums
    }

    /// An upper bound of any principal stress in the whole body for `|q_k| <= b_k`.
    #[must_use]
    pub fn bound(&self, b: &[f32]) -> f32 {
        weighted(&self.largest_norms, b)
    }

    /// An upper bound of any principal stress in the whole body for
    /// `Σ (w_k q_k)² <= root²`: by Cauchy and Schwarz, `root sqrt(Σ (S_k / w_k)²)`.
    #[must_use]
    pub fn bound_by_energy(&self, omegas: &[f64], root: f64) -> f32 {
        let terms = self.largest_norms.iter().zip(omegas);
        let sum: f64 = terms.map(|(&s, w)| (f64::from(s) / w).powi(2)).sum();
        (root * sum.sqrt() * (1.0 + 1e-6)) as f32
    }

    /// The same for one group.
    #[must_use]
    pub fn group_bound(&self, group: usize, b: &[f32]) -> f32 {
        let start = group * self.modes;
        weighted(&self.group_norms[start..start + self.modes], b)
    }

    /// Calls back with each group whose bound exceeds `limit`, and the bound.
    pub fn groups_above(&self, b: &[f32], limit: f32, mut found: impl FnMut(usize, f32)) {
        for (cluster, norms) in self.cluster_norms.chunks_exact(self.modes).enumerate() {
            if weighted(norms, b) <= limit {
                continue;
            }
            let end = ((cluster + 1) * CLUSTER).min(self.groups());
            for group in cluster * CLUSTER..end {
                let norms = &self.group_norms[group * self.modes..(group + 1) * self.modes];
                let bound = weighted(norms, b);
                if bound > limit {
                    found(group, bound);
                }
            }
        }
    }
}

/// How means over patches are carried from the middle of the patch to the node:
/// value + sum of weight x (neighbour's value - own value).
struct Carry {
    starts: Vec<usize>,
    terms: Vec<(u32, f64)>,
}

/// Neighbours' weights above this in sum mean that the slope is not well known.
const MOST_CARRY: f64 = 3.0;

impl Carry {
    fn new(body: &ElasticBody) -> Self {
        let own = body.own_count();
        let mut middles = vec![DVec3::ZERO; own];
        let mut volumes = vec![0.0; own];
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); own];
        for (tet, &volume) in body.tets().iter().zip(body.volumes()) {
            let corners = tet.map(|n| body.positions()[n as usize]);
            let centre = corners.iter().sum::<DVec3>() / 4.0;
            for &n in tet.iter().filter(|&&n| (n as usize) < own) {
                middles[n as usize] += volume * centre;
                volumes[n as usize] += volume;
                neighbours[n as usize].extend(
                    tet.iter()
                        .copied()
                        .filter(|&m| m != n && (m as usize) < own),
                );
            }
        }
        for (middle, volume) in middles.iter_mut().zip(&volumes) {
            *middle /= *volume;
        }
        let (mut starts, mut terms) = (vec![0], Vec::new());
        for i in 0..own {
            neighbours[i].sort_unstable();
            neighbours[i].dedup();
            let begin = terms.len();
            let to_node = body.positions()[i] - middles[i];
            let offsets = || {
                neighbours[i].iter().filter_map(|&m| {
                    let r = middles[m as usize] - middles[i];
                    let squared = r.length_squared();
                    (squared > 0.0).then(|| (m, r, 1.0 / squared))
                })
            };
            let moments = offsets().fold(DMat3::ZERO, |sum, (_, r, w)| {
                sum + w * DMat3::from_cols(r * r.x, r * r.y, r * r.z)
            });
            let trace = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
            if moments.determinant() > 1e-5 * trace * trace * trace {
                let slope = moments.inverse() * to_node;
                terms.extend(offsets().map(|(m, r, w)| (m, w * slope.dot(r))));
                let sum: f64 = terms[begin..].iter().map(|(_, w)| w.abs()).sum();
                if sum > MOST_CARRY {
                    terms.truncate(begin);
                }
            }
            starts.push(terms.len());
        }
        Self { starts, terms }
    }

    fn at(&self, i: usize, means: &[[f64; 6]]) -> [f64; 6] {
        let mut value = means[i];
        for &(m, w) in &self.terms[self.starts[i]..self.starts[i + 1]] {
            for c in 0..6 {
                value[c] += w * (means[m as usize][c] - means[i][c]);
            }
        }
        value
    }
}

/// The weight of each tetrahedron's stress at each of its nodes.
fn recovery_weights(body: &ElasticBody) -> Vec<[f64; 4]> {
    let mut volumes = vec![0.0; body.nodes().len()];
    for (tet, volume) in body.tets().iter().zip(body.volumes()) {
        for &n in tet {
            volumes[n as usize] += volume;
        }
    }
    body.tets()
        .iter()
        .zip(body.volumes())
        .map(|(tet, &volume)| tet.map(|n| volume / volumes[n as usize]))
        .collect()
}

/// The stress of one lane.
#[must_use]
pub fn lane(stress: &LaneStress, l: usize) -> Stress {
    std::array::from_fn(|c| stress[c][l])
}

/// Scalar product in four sums (fixed order), rounded up.
fn weighted(norms: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 4];
    let (pn, pb) = (norms.chunks_exact(4), b.chunks_exact(4));
    let rest: f32 = pn
        .remainder()
        .iter()
        .zip(pb.remainder())
        .map(|(x, y)| x * y)
        .sum();
    for (x, y) in pn.zip(pb) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3]) + rest) * (1.0 + 1e-5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::principal::principal_values;
    use crate::random::Random;

    #[test]
    fn the_surface_stress_of_a_bent_plate_is_within_a_fifth() {
        use fracas_core::testing::box_grid;
        use fracas_core::{FragmentId, Fragments};
        let material = Material::GLASS;
        let (nu, thick, kappa) = (material.poisson, 0.01, 0.1);
        for layers in [2, 3, 4] {
            let mesh = box_grid([12, 12, layers], glam::Vec3::new(0.06, 0.06, thick));
            let fragments = Fragments::new(std::sync::Arc::new(mesh));
            let body = ElasticBody::new(&fragments, FragmentId(0), 2500.0).unwrap();
            // Pure bending about y, with the anticlastic curve across.
            let shape = |n: usize, _: usize| {
                let p = body.positions()[n] - DVec3::new(0.03, 0.03, 0.5 * f64::from(thick));
                let u = DVec3::new(p.x * p.z, -nu * p.y * p.z, 0.0);
                let w = 0.5 * (p.x * p.x - nu * p.y * p.y + nu * p.z * p.z);
                kappa * (u - DVec3::Z * w)
            };
            let stress = StressModes::build(&body, &material, 1, shape);
            let exact = material.young * kappa * 0.5 * f64::from(thick);
            for (n, p) in body.positions().iter().enumerate() {
                let inner = (p.x - 0.03).abs() < 0.02 && (p.y - 0.03).abs() < 0.02;
                if inner && p.z > 0.999 * f64::from(thick) {
                    let error = f64::from(stress.of(n, 0)[0]) / exact - 1.0;
                    assert!(error.abs() < 0.2, "{layers} layers: {error}");
                }
            }
        }
    }

    #[test]
    fn layout_bounds_and_products_agree_with_plain_sums() {
        let (nodes, modes) = (4 * 40 + 3, 11);
        let mut random = Random::new(4);
        let plain: Vec<Stress> = (0..nodes * modes)
            .map(|_| std::array::from_fn(|_| random.range(-1.0, 1.0)))
            .collect();
        let stress = StressModes::from_values(nodes, modes, |i, k| plain[i * modes + k]);
        let q: Vec<f32> = (0..modes).map(|_| random.range(-2.0, 2.0)).collect();
        let b: Vec<f32> = q.iter().map(|x| x.abs()).collect();
        let mut bounds = vec![0.0; stress.groups()];
        stress.groups_above(&b, 0.0, |group, bound| bounds[group] = bound);
        for i in 0..nodes {
            assert_eq!(stress.of(i, 3), plain[i * modes + 3]);
            let got = lane(&stress.at_group(i / LANES, &q), i % LANES);
            for c in 0..6 {
                let sum: f32 = (0..modes).map(|k| q[k] * plain[i * modes + k][c]).sum();
                assert!((got[c] - sum).abs() < 1e-4);
            }
            let tension = principal_values(&got)[0] as f32;
            assert!(tension <= bounds[i / LANES]);
            assert!(bounds[i / LANES] <= stress.bound(&b));
        }
        let mut above = 0;
        stress.groups_above(&b, bounds[0], |_, bound| {
            assert!(bound > bounds[0]);
            above += 1;
        });
        assert_eq!(above, bounds.iter().filter(|&&x| x > bounds[0]).count());
    }
}
