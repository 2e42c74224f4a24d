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

use fracas_geometry::tet_mesh::{NONE, TET_EDGES};
use glam::{Mat3, Vec3, Vec4};

use crate::body::SoftBody;
use crate::colours::{UNCOLOURED, kept, mend, rows_of_four};
use crate::piece::{Piece, Spring, Volume};
use crate::rows::{SpringRow, VolumeRow};

/// Pieces that a thread moves at a time: one may be as large as all others together.
#[cfg(feature = "parallel")]
const PIECES_PER_TASK: usize = 4;

/// What moves a body in a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    /// s: the substep.
    pub h: f32,
    pub gravity: Vec3,
    pub floor: Option<f32>,
}

/// Where a node is that was `before` and has been moved to `p`, and its velocity, which `speed`
/// times its way is: nothing is below the floor.
#[inline]
fn settled(mut p: Vec3, before: Vec3, speed: f32, floor: Option<f32>) -> [Vec3; 2] {
    let mut v = (p - before) * speed;
    if let Some(floor) = floor
        && p.y < floor
    {
        p.y = floor;
        v = Vec3::new(0.5 * v.x, v.y.max(0.0), 0.5 * v.z);
    }
    [p, v]
}

/// Takes velocities from positions and keeps everything above the floor.
pub(crate) fn settle(
    [positions, previous, velocities]: [&mut Vec<Vec3>; 3],
    h: f32,
    keep: f32,
    floor: Option<f32>,
) {
    for ((p, before), v) in positions.iter_mut().zip(previous.iter()).zip(velocities) {
        [*p, *v] = settled(*p, *before, keep / h, floor);
    }
}

impl Piece {
    /// Advances by a substep from where the body is.
    pub fn advance(&mut self, body: &SoftBody, by: Move) {
        self.load(body, by);
        self.solve(by.h);
        let speed = 1.0 / (1.0 + by.h * body.material.damping) / by.h;
        for (i, &n) in self.nodes.iter().enumerate() {
            let (p, before) = (self.positions[i], body.positions[n as usize]);
            let [at, velocity] = settled(p.truncate(), before, speed, by.floor);
            self.positions[i] = at.extend(p.w);
            self.velocities[i] = velocity;
        }
    }

    /// Reads where its nodes will be if nothing holds them.
    fn load(&mut self, body: &SoftBody, by: Move) {
        let nodes = self.nodes.iter().map(|&n| n as usize);
        self.positions.clear();
        self.positions.extend(nodes.map(|n| {
            let velocity = body.velocities[n] + by.h * by.gravity;
            (body.positions[n] + by.h * velocity).extend(body.inverse_masses[n])
        }));
        self.positions.push(Vec4::ZERO);
        self.velocities.resize(self.nodes.len(), Vec3::ZERO);
    }

    /// Tells the body where its nodes are.
    pub fn store(&self, positions: &mut [Vec3], velocities: &mut [Vec3]) {
        for (i, &n) in self.nodes.iter().enumerate() {
            positions[n as usize] = self.positions[i].truncate();
            velocities[n as usize] = self.velocities[i];
        }
    }

    /// One pass over all springs and tetrahedra.
    fn solve(&mut self, h: f32) {
        let per_step = 1.0 / (h * h);
        let nodes = &mut self.positions;
        for row in &self.spring_rows {
            row.solve(nodes, per_step);
        }
        for row in &self.volume_rows {
            row.solve(nodes, per_step);
        }
    }

    /// The springs of all edges. Each tetrahedron adds `shear V / L^2` to its edges.
    fn wind_springs(&mut self, rest: &[Vec3], shear: f32) {
        // Edges by their lower nodes: each with its other node and the volume around it.
        let mut starts = vec![0_u32; self.nodes.len() + 1];
        let edges = |tet: [u32; 4]| {
            TET_EDGES.map(|[i, j]| (tet[i].min(tet[j]) as usize, tet[i].max(tet[j])))
        };
        for volume in &self.volumes {
            for (low, _) in edges(volume.nodes) {
                starts[low + 1] += 1;
            }
        }
        for n in 0..self.nodes.len() {
            starts[n + 1] += starts[n];
        }
        let mut ends = starts.clone();
        let mut around = vec![(NONE, 0.0_f32); self.volumes.len() * TET_EDGES.len()];
        for &Volume { nodes, volume, .. } in &self.volumes {
            for (low, high) in edges(nodes) {
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
                    colour: UNCOLOURED,
                });
            }
        }
    }
}

impl Piece {
    /// Whether it has the nodes and tetrahedra of another.
    fn is_as(&self, other: &Self) -> bool {
        let same =
            |(a, b): (&Volume, &Volume)| (a.nodes, a.volume, a.tet) == (b.nodes, b.volume, b.tet);
        self.nodes == other.nodes
            && self.volumes.len() == other.volumes.len()
            && self.volumes.iter().zip(&other.volumes).all(same)
    }

    /// Colours springs and volumes as they were coloured in what the piece was, and what is new.
    fn colour(&mut self, old: &Self) {
        fn ends(piece: &Piece, spring: &Spring) -> [u32; 2] {
            spring.nodes.map(|n| piece.nodes[n as usize])
        }
        let known = old.springs.iter().map(|s| (ends(old, s), s.colour));
        let mut colours = kept(known, self.springs.iter().map(|s| ends(self, s)));
        let springs = self.springs.iter().map(|s| s.nodes);
        mend(self.nodes.len(), springs, &mut colours);
        for (spring, &colour) in self.springs.iter_mut().zip(&colours) {
            spring.colour = colour;
        }
        let known = old.volumes.iter().map(|v| (v.tet, v.colour));
        colours = kept(known, self.volumes.iter().map(|v| v.tet));
        let volumes = self.volumes.iter().map(|v| v.nodes);
        mend(self.nodes.len(), volumes, &mut colours);
        for (volume, &colour) in self.volumes.iter_mut().zip(&colours) {
            volume.colour = colour;
        }
    }

    /// Lays springs and volumes side by side.
    fn lay_rows(&mut self, bulk: f32) {
        // What is empty moves the node after all others: no mass, no length, no volume.
        let empty = self.nodes.len() as u32;
        let springs = &self.springs;
        let colours: Vec<u8> = springs.iter().map(|s| s.colour).collect();
        let rows = rows_of_four(self.nodes.len(), |i| springs[i as usize].nodes, &colours);
        self.spring_rows.clear();
        self.spring_rows.extend(rows.iter().map(|row| {
            let row = row.map(|i| springs.get(i as usize));
            let of = |what: fn(&Spring) -> f32| row.map(|s| s.map_or(1.0, what)).into();
            SpringRow {
                nodes: [0, 1].map(|k| row.map(|s| s.map_or(empty, |s| s.nodes[k]))),
                lengths: of(|s| s.length),
                compliances: of(|s| 1.0 / s.stiffness),
            }
        }));
        let volumes = &self.volumes;
        let colours: Vec<u8> = volumes.iter().map(|v| v.colour).collect();
        let rows = rows_of_four(self.nodes.len(), |i| volumes[i as usize].nodes, &colours);
        self.volume_rows.clear();
        self.volume_rows.extend(rows.iter().map(|row| {
            let row = row.map(|i| volumes.get(i as usize));
            let sizes = row.map(|v| v.map_or(1.0, |v| v.volume));
            VolumeRow {
                nodes: [0, 1, 2, 3].map(|k| row.map(|v| v.map_or(empty, |v| v.nodes[k]))),
                per_volumes: sizes.map(|v| 1.0 / (6.0 * v)).into(),
                compliances: sizes.map(|v| 1.0 / (bulk * v)).into(),
            }
        }));
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
            let tasks = pieces.par_chunks_mut(PIECES_PER_TASK).with_max_len(1);
            tasks.for_each(|pieces| pieces.iter_mut().for_each(|piece| piece.advance(self, by)));
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
        let still = Move {
            h: 0.0,
            gravity: Vec3::ZERO,
            floor: None,
        };
        for mut piece in std::mem::take(&mut self.pieces) {
            piece.load(self, still);
            piece.velocities.fill(Vec3::ZERO);
            piece.solve(h);
            piece.store(&mut self.positions, &mut self.velocities);
            self.pieces.push(piece);
        }
    }

    /// Sorts nodes and tetrahedra into pieces. One that is `known` and as it was keeps its springs.
    pub(crate) fn gather_pieces(&self, mut known: Vec<Piece>) -> Vec<Piece> {
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
        for (t, (tet, shape)) in self.tets.iter().zip(&self.shapes).enumerate() {
            let piece = places[tet[0] as usize][0];
            pieces[piece as usize].volumes.push(Volume {
                nodes: tet.map(|n| places[n as usize][1]),
                volume: shape.volume,
                tet: t as u32,
                colour: UNCOLOURED,
            });
        }
        // By their lowest nodes, as they were made.
        for piece in &mut pieces {
            let lowest = |old: &Piece| old.nodes.first().copied();
            let place = known.binary_search_by_key(&lowest(piece), lowest);
            match place.map(|i| &mut known[i]) {
                Ok(old) if piece.is_as(old) => std::mem::swap(piece, old),
                known => {
                    let nothing = Piece::default();
                    let old = known.map_or(&nothing, |old| old);
                    piece.wind_springs(&self.rest, self.material.shear);
                    piece.colour(old);
                    piece.lay_rows(self.material.bulk);
                }
            }
        }
        pieces
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
    use fracas_geometry::testing::{Rng, box_grid};

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

    /// Rows hold every spring and every tetrahedron once, and no node twice in a row.
    fn check_rows(body: &SoftBody) {
        fn check<const N: usize>(
            piece: &Piece,
            rows: impl Iterator<Item = [[u32; 4]; N]>,
            of: impl Iterator<Item = [u32; N]>,
        ) {
            let mut laid = Vec::new();
            for row in rows {
                let lanes = (0..4).map(|lane| row.map(|nodes| nodes[lane]));
                let full = lanes.filter(|of| of[0] < piece.nodes.len() as u32);
                let full: Vec<[u32; N]> = full.collect();
                let mut nodes: Vec<u32> = full.iter().flatten().copied().collect();
                nodes.sort_unstable();
                nodes.dedup();
                assert_eq!(nodes.len(), N * full.len(), "a node twice in a row");
                laid.extend(full);
            }
            let mut all: Vec<[u32; N]> = of.collect();
            laid.sort_unstable();
            all.sort_unstable();
            assert_eq!(laid, all);
        }
        for piece in &body.pieces {
            let springs = piece.springs.iter().map(|s| s.nodes);
            check(piece, piece.spring_rows.iter().map(|r| r.nodes), springs);
            let volumes = piece.volumes.iter().map(|v| v.nodes);
            check(piece, piece.volume_rows.iter().map(|r| r.nodes), volumes);
        }
    }

    #[test]
    fn no_two_of_a_row_share_a_node_after_tears_and_cuts_too() {
        for seed in 0..3 {
            let mut rng = Rng(seed);
            let material = Material {
                tear_stretch: 1.2,
                ..Material::default()
            };
            let mesh = box_grid([5, 4, 3], Vec3::new(5.0, 4.0, 3.0));
            let mut body = SoftBody::build(&mesh, material).unwrap();
            check_rows(&body);
            let mut tears = 0;
            for round in 0..12 {
                let axis = rng.direction();
                for p in &mut body.positions {
                    *p += axis * axis.dot(*p) * rng.range(0.1, 0.4);
                }
                tears += body.tear(10);
                if round % 5 == 4 {
                    let point = body.positions[round];
                    body.cut(&crate::Knife::Plane {
                        point,
                        normal: axis,
                    });
                }
                check_rows(&body);
            }
            assert!(tears > 10 && body.pieces.len() > 1);
        }
    }
}
