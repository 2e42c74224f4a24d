//! A knife: cuts tetrahedra along a plane, everywhere or where a moving blade passed.
//!
//! 1. Nodes within a tenth of an edge of the plane count as lying on it;
//! 2. every edge that crosses the plane inside the knife's reach is split there: one
//!    new node, and each tetrahedron around the edge becomes two. New edges end on
//!    the plane, so when all are split no tetrahedron in reach crosses it, and the
//!    mesh conforms at every moment: there are no cases to tell apart;
//! 3. the faces that lie on the plane within reach are opened (see [`crate::tear`]).
//!
//! The front of a cut that ends inside the body stays joined.
//!
//! **Guarantee.** Mesh valid; rest volume conserved to rounding; mass conserved.

use fracas_geometry::tet_mesh::{NONE, TET_EDGES, TET_FACES};
use glam::Vec3;

use crate::body::SoftBody;
use crate::tear::Opening;

/// The share of an edge within which its end is taken to lie on the plane: keeps
/// slivers away.
const SNAP: f32 = 0.1;

/// Where it cuts, in the space of present positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Knife {
    /// A whole plane.
    Plane {
        /// A point of it.
        point: Vec3,
        /// Its normal, of any length.
        normal: Vec3,
    },
    /// The parallelogram that a straight blade sweeps.
    Swept {
        /// The blade's ends before.
        blade: [Vec3; 2],
        /// How it moved.
        motion: Vec3,
    },
}

/// What a cut did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutStats {
    /// Edges split.
    pub split_edges: usize,
    /// Faces opened.
    pub opened_faces: usize,
    /// Nodes copied where the two sides parted.
    pub copied_nodes: usize,
}

impl Knife {
    fn plane(&self) -> Option<(Vec3, Vec3)> {
        let (point, normal) = match *self {
            Self::Plane { point, normal } => (point, normal),
            Self::Swept {
                blade: [a, b],
                motion,
            } => (a, (b - a).cross(motion)),
        };
        normal.try_normalize().map(|normal| (point, normal))
    }

    /// Whether the knife passes a point of its plane.
    fn reaches(&self, p: Vec3) -> bool {
        let Self::Swept {
            blade: [a, b],
            motion,
        } = *self
        else {
            return true;
        };
        // Coordinates in the parallelogram, by least squares.
        let (u, v, w) = (b - a, motion, p - a);
        let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
        let (wu, wv) = (w.dot(u), w.dot(v));
        let det = uu * vv - uv * uv;
        let (s, t) = ((wu * vv - wv * uv) / det, (wv * uu - wu * uv) / det);
        let unit = -1e-4..=1.0 + 1e-4;
        unit.contains(&s) && unit.contains(&t)
    }
}

impl SoftBody {
    /// Cuts the body. A knife without a plane (no normal, no motion) cuts nothing.
    pub fn cut(&mut self, knife: &Knife) -> CutStats {
        let mut stats = CutStats::default();
        let Some((point, normal)) = knife.plane() else {
            return stats;
        };
        let mut height: Vec<f32> = self
            .positions
            .iter()
            .map(|p| (*p - point).dot(normal))
            .collect();
        let mut edges = self.crossing_edges(&height);
        // A node joins the plane if any of its crossing edges crosses close to it.
        for &[a, b] in &edges {
            let (ha, hb) = (height[a as usize], height[b as usize]);
            let s = ha / (ha - hb);
            if s < SNAP {
                height[a as usize] = 0.0;
            } else if s > 1.0 - SNAP {
                height[b as usize] = 0.0;
            }
        }
        edges.retain(|&[a, b]| {
            let (ha, hb) = (height[a as usize], height[b as usize]);
            let s = ha / (ha - hb);
            let (pa, pb) = (self.positions[a as usize], self.positions[b as usize]);
            ha * hb < 0.0 && knife.reaches(pa + s * (pb - pa))
        });
        self.split_edges(&edges, &mut height);
        stats.split_edges = edges.len();
        if !edges.is_empty() {
            self.refresh_topology();
        }

        let mut faces = Vec::new();
        for (t, across) in self.topology.neighbours().iter().enumerate() {
            for (k, &other) in across.iter().enumerate() {
                if other == NONE || (other as usize) < t {
                    continue;
                }
                let nodes = TET_FACES[k].map(|i| self.tets[t][i]);
                let on_plane = nodes.iter().all(|&n| height[n as usize] == 0.0);
                let centre = nodes
                    .map(|n| self.positions[n as usize])
                    .iter()
                    .sum::<Vec3>()
                    / 3.0;
                if on_plane && knife.reaches(centre) {
                    faces.push((t as u32, k));
                }
            }
        }
        stats.opened_faces = faces.len();
        let mut opening = Opening::new(self);
        opening.open(&faces);
        stats.copied_nodes = opening.copies;
        if stats != CutStats::default() {
            self.refresh()
                .expect("splitting edges and copying nodes cannot make a mesh invalid");
        }
        stats
    }

    fn crossing_edges(&self, height: &[f32]) -> Vec<[u32; 2]> {
        let mut edges = Vec::new();
        for tet in &self.tets {
            for [i, j] in TET_EDGES {
                let (a, b) = (tet[i].min(tet[j]), tet[i].max(tet[j]));
                if height[a as usize] * height[b as usize] < 0.0 {
                    edges.push([a, b]);
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Splits each edge where its height is zero; new nodes have height zero.
    fn split_edges(&mut self, edges: &[[u32; 2]], height: &mut Vec<f32>) {
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); self.rest.len()];
        for (t, tet) in self.tets.iter().enumerate() {
            for &n in tet {
                around[n as usize].push(t as u32);
            }
        }
        let mut changed = Vec::new();
        for &[a, b] in edges {
            let (ha, hb) = (height[a as usize], height[b as usize]);
            let s = ha / (ha - hb);
            let m = self.copy_node(a);
            let (i, j, k) = (a as usize, b as usize, m as usize);
            self.rest[k] = self.rest[i].lerp(self.rest[j], s);
            self.positions[k] = self.positions[i].lerp(self.positions[j], s);
            self.velocities[k] = self.velocities[i].lerp(self.velocities[j], s);
            height.push(0.0);
            around.push(Vec::new());
            let both: Vec<u32> = around[i]
                .iter()
                .copied()
                .filter(|&t| self.tets[t as usize].contains(&b))
                .collect();
            for t in both {
                let old = self.tets[t as usize];
                let swap = |from: u32| old.map(|n| if n == from { m } else { n });
                let (near_a, near_b) = (swap(b), swap(a));
                let new = self.tets.len() as u32;
                self.tets[t as usize] = near_a;
                self.tets.push(near_b);
                self.roots.push(self.roots[t as usize]);
                around[j].retain(|&x| x != t);
                around[k].extend([t, new]);
                for n in near_b.into_iter().filter(|&n| n != m) {
                    around[n as usize].push(new);
                }
                changed.extend([t, new]);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        self.uproot(changed.into_iter());
    }

    fn refresh_topology(&mut self) {
        self.topology = fracas_tet_distance::Topology::build(self.rest.len(), &self.tets)
            .expect("splitting edges cannot make a mesh invalid");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Material;
    use fracas_geometry::testing::{Rng, box_grid};

    fn cube() -> SoftBody {
        SoftBody::build(&box_grid([4, 4, 4], Vec3::ONE), Material::default()).unwrap()
    }

    #[test]
    fn a_plane_cuts_in_two_and_keeps_the_volume() {
        let mut rng = Rng(11);
        for round in 0..12 {
            let mut body = cube();
            let normal = match round {
                0 => Vec3::X,
                1 => Vec3::new(1.0, 1.0, 0.0),
                _ => rng.direction(),
            };
            // The first two go exactly through nodes.
            let at = if round < 2 { 0.5 } else { rng.range(0.4, 0.6) };
            let point = Vec3::splat(at);
            let stats = body.cut(&Knife::Plane { point, normal });
            body.validate().unwrap();
            assert_eq!(body.topology().part_count(), 2, "round {round}: {stats:?}");
            assert!((body.rest_volume() - 1.0).abs() < 1e-5);
            let part = body.topology().parts();
            let mut volumes = [0.0; 2];
            for (t, tet) in body.tets().iter().enumerate() {
                let corners = tet.map(|n| body.rest()[n as usize]);
                volumes[part[t] as usize] += fracas_geometry::tet_mesh::signed_volume(corners);
            }
            // Against the volume of the cube below the plane, by counting points.
            let mut below = 0;
            for _ in 0..20_000 {
                let p = rng.in_box(Vec3::ZERO, Vec3::ONE);
                below += i32::from((p - point).dot(normal) < 0.0);
            }
            let share = f64::from(below) / 20_000.0;
            let smaller = volumes[0].min(volumes[1]);
            assert!(
                (smaller - share.min(1.0 - share)).abs() < 0.04,
                "{volumes:?} {share}"
            );
        }
    }

    #[test]
    fn many_cuts_leave_many_valid_parts() {
        let mut body = cube();
        for (i, normal) in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(1.0, 0.3, 0.2)]
            .into_iter()
            .enumerate()
        {
            body.cut(&Knife::Plane {
                point: Vec3::splat(0.45 + 0.03 * i as f32),
                normal,
            });
            body.validate().unwrap();
        }
        assert!(body.topology().part_count() >= 8);
        assert!((body.rest_volume() - 1.0).abs() < 1e-5);
    }

    #[test]
    fn a_blade_that_ends_inside_leaves_the_rest_joined() {
        let mut body = cube();
        let stats = body.cut(&Knife::Swept {
            blade: [Vec3::new(-1.0, 0.52, -1.0), Vec3::new(2.0, 0.52, -1.0)],
            motion: Vec3::new(0.0, 0.0, 1.6),
        });
        body.validate().unwrap();
        assert!(stats.opened_faces > 0 && stats.copied_nodes > 0);
        assert_eq!(body.topology().part_count(), 1);
        // The slit is there: some rest positions are shared by two nodes.
        let mut seen: Vec<[u32; 3]> = body
            .rest()
            .iter()
            .map(|p| p.to_array().map(f32::to_bits))
            .collect();
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(all - seen.len(), stats.copied_nodes);
        let nothing = body.cut(&Knife::Swept {
            blade: [Vec3::ZERO, Vec3::X],
            motion: Vec3::ZERO,
        });
        assert_eq!(nothing, CutStats::default());
    }
}
