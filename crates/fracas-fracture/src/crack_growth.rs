//! One crack, grown from a node along the stress: a level per node of one piece.
//!
//! Steps: from the seed node outwards, nearest first, each node near the surface
//! takes its level and the surface's normal from finished neighbours, turning the
//! normal towards its own direction of largest tension -> all other nodes take
//! their side by flooding -> crumbs of few nodes change sides -> area of the
//! surface.
//!
//! | symbol | here |
//! | --- | --- |
//! | s | level: signed distance to the surface, about |
//! | m | its normal at a node |
//! | w_j | weight of neighbour j: near in space and near the surface |
//! | beta, g | how far the normal turns: [`GrowthOptions::turning`] times how uniaxial the tension is |
//!
//! **Deviations** from marching through the whole piece: only nodes whose edges can
//! cross the surface are marched, since only they decide where it is; the cost is
//! that of the crack, not of the body. The weight's Gaussian is a rational bell.
//! **Guarantee**: both signs occur, each part of either sign that has fewer than
//! `least_nodes` nodes is gone, and the area is not less than that of the cut
//! (beside older cracks the whole tetrahedron's section counts).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use fracas::TetMesh;
use glam::Vec3;

use crate::principal::Principal;
use crate::random::Noise;

/// How cracks grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowthOptions {
    /// How eagerly the surface follows the stress: 0 stays flat, 1 turns at once.
    pub turning: f32,
    /// Size of the roughness, in mean edge lengths.
    pub roughness: f32,
    /// Pieces of fewer nodes are not broken off.
    pub least_nodes: usize,
}

impl Default for GrowthOptions {
    fn default() -> Self {
        Self {
            turning: 0.35,
            roughness: 0.15,
            least_nodes: 4,
        }
    }
}

/// Where a crack starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    pub node: u32,
    /// Normal of the surface there.
    pub normal: Vec3,
    /// Seed of the roughness.
    pub chance: u64,
    /// The piece that breaks, in [`Growth::piece`].
    pub piece: u32,
}

/// What has grown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grown {
    /// Area of the surface (m²), from above.
    pub area: f64,
    /// Connected parts on both sides together, at least two.
    pub parts: usize,
}

/// Memory of crack growth for one mesh; also who is in which piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growth {
    /// Piece of each mesh node in the current event; `u32::MAX` outside of it.
    pub piece: Vec<u32>,
    /// Level of each node of the piece that was grown last.
    pub level: Vec<f32>,
    /// Nodes of that piece, in the order they were reached.
    pub reached: Vec<u32>,
    normal: Vec<Vec3>,
    state: Vec<u8>,
    component: Vec<u32>,
    heap: BinaryHeap<Near>,
    mean_edge: f32,
}

const UNSEEN: u8 = 0;
const QUEUED: u8 = 1;
const FINISHED: u8 = 2;
const FLOODED: u8 = 3;

/// A node in the queue: nearest first, then lowest.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Near(f32, u32);

impl Eq for Near {}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .0
            .total_cmp(&self.0)
            .then_with(|| other.1.cmp(&self.1))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Growth {
    /// Sizes the memory for a mesh; `mean_edge` is its mean edge length.
    pub fn fit(&mut self, nodes: usize, mean_edge: f32) {
        self.mean_edge = mean_edge;
        if self.piece.len() != nodes {
            self.reached.clear();
            self.piece = vec![u32::MAX; nodes];
            self.level = vec![0.0; nodes];
            self.normal = vec![Vec3::ZERO; nodes];
            self.state = vec![UNSEEN; nodes];
            self.component = vec![u32::MAX; nodes];
        }
    }

    /// Grows a crack through the connected piece that holds the seed. `None` when
    /// one side would be crumbs only.
    pub fn grow(
        &mut self,
        mesh: &TetMesh,
        seed: Seed,
        options: &GrowthOptions,
        stress: &mut dyn FnMut(u32) -> Principal,
    ) -> Option<Grown> {
        for &n in &self.reached {
            self.state[n as usize] = UNSEEN;
            self.component[n as usize] = u32::MAX;
        }
        self.reached.clear();
        self.march(mesh, seed, options, stress);
        let parts = self.flood(mesh, seed.piece, options.least_nodes)?;
        let area = self.area(mesh, seed.piece);
        Some(Grown { area, parts })
    }

    fn march(
        &mut self,
        mesh: &TetMesh,
        seed: Seed,
        options: &GrowthOptions,
        stress: &mut dyn FnMut(u32) -> Principal,
    ) {
        let positions = mesh.positions();
        let start = positions[seed.node as usize];
        let noise = Noise::new(seed.chance, 3.0 * self.mean_edge);
        let rough = options.roughness * self.mean_edge;
        let offset = noise.at(start);
        self.heap.clear();
        self.heap.push(Near(0.0, seed.node));
        self.state[seed.node as usize] = QUEUED;
        while let Some(Near(_, n)) = self.heap.pop() {
            let i = n as usize;
            let p = positions[i];
            let (level, normal) = self
                .from_neighbours(mesh, n)
                .unwrap_or((seed.normal.dot(p - start), seed.normal));
            self.normal[i] = turn(normal, &stress(n), options.turning);
            self.level[i] = level;
            self.state[i] = FINISHED;
            self.reached.push(n);
            for &m in mesh.adjacent_nodes(n) {
                let j = m as usize;
                if self.piece[j] != seed.piece || self.state[j] != UNSEEN {
                    continue;
                }
                let q = positions[j];
                // Only an edge longer than the level can cross the surface.
                let reach = 1.44 * p.distance_squared(q);
                if level * level <= reach {
                    self.state[j] = QUEUED;
                    self.heap.push(Near(start.distance_squared(q), m));
                }
            }
        }
        // Roughness last, so that it does not add up along the way.
        if rough > 0.0 {
            for &n in &self.reached {
                self.level[n as usize] += rough * (noise.at(positions[n as usize]) - offset);
            }
        }
    }

    /// Level and normal at a node from at least three finished neighbours.
    fn from_neighbours(&self, mesh: &TetMesh, n: u32) -> Option<(f32, Vec3)> {
        let positions = mesh.positions();
        let p = positions[n as usize];
        let narrow = 1.0 / (1.5 * self.mean_edge * 1.5 * self.mean_edge);
        let (mut normal, mut count) = (Vec3::ZERO, 0);
        let weight = |j: usize, squared: f32| {
            let x = self.level[j] * self.level[j] * narrow;
            1.0 / (squared * (1.0 + x * (1.0 + 0.5 * x)))
        };
        for &m in mesh.adjacent_nodes(n) {
            let j = m as usize;
            if self.state[j] == FINISHED {
                normal += weight(j, p.distance_squared(positions[j])) * self.normal[j];
                count += 1;
            }
        }
        if count < 3 {
            return None;
        }
        let normal = normal.try_normalize()?;
        let (mut sum, mut total) = (0.0, 0.0);
        for &m in mesh.adjacent_nodes(n) {
            let j = m as usize;
            if self.state[j] == FINISHED {
                let to = p - positions[j];
                let w = weight(j, to.length_squared());
                sum += w * (self.level[j] + 0.5 * (self.normal[j] + normal).dot(to));
                total += w;
            }
        }
        Some((sum / total, normal))
    }

    /// Gives the rest of the piece its sides, flips crumbs, counts parts.
    fn flood(&mut self, mesh: &TetMesh, piece: u32, least: usize) -> Option<usize> {
        let positions = mesh.positions();
        let marched = self.reached.len();
        // Flood from the band, in order; distance grows by most of each edge.
        let mut next = 0;
        while next < self.reached.len() {
            let n = self.reached[next];
            next += 1;
            let (p, level) = (positions[n as usize], self.level[n as usize]);
            for &m in mesh.adjacent_nodes(n) {
                let j = m as usize;
                if self.piece[j] == piece && self.state[j] == UNSEEN {
                    self.state[j] = FLOODED;
                    let farther = level.abs() + 0.7 * p.distance(positions[j]);
                    self.level[j] = if level < 0.0 { -farther } else { farther };
                    self.reached.push(m);
                }
            }
        }
        // Connected parts of either sign. Start in the band: it touches all of them.
        let mut parts: Vec<(usize, usize, bool)> = Vec::new();
        let mut order: Vec<u32> = Vec::with_capacity(self.reached.len());
        for at in 0..marched {
            let first = self.reached[at];
            if self.component[first as usize] != u32::MAX {
                continue;
            }
            let label = parts.len() as u32;
            let positive = self.level[first as usize] >= 0.0;
            let begin = order.len();
            order.push(first);
            self.component[first as usize] = label;
            let mut next = begin;
            while next < order.len() {
                let n = order[next];
                next += 1;
                for &m in mesh.adjacent_nodes(n) {
                    let j = m as usize;
                    if self.piece[j] == piece
                        && self.component[j] == u32::MAX
                        && (self.level[j] >= 0.0) == positive
                    {
                        self.component[j] = label;
                        order.push(m);
                    }
                }
            }
            parts.push((begin, order.len(), positive));
        }
        let mut kept = [0, 0];
        for &(begin, end, positive) in &parts {
            if end - begin >= least {
                kept[usize::from(positive)] += 1;
                continue;
            }
            // A crumb goes over to the other side, close to the surface.
            for &n in &order[begin..end] {
                let small = 0.1 * self.mean_edge;
                self.level[n as usize] = if positive { -small } else { small };
            }
        }
        (kept[0] > 0 && kept[1] > 0).then_some(kept[0] + kept[1])
    }

    /// Area of the surface in all tetrahedra with nodes of both signs.
    fn area(&self, mesh: &TetMesh, piece: u32) -> f64 {
        let mut area = 0.0;
        for &n in &self.reached {
            let positive = self.level[n as usize] >= 0.0;
            // From the negative side, each tetrahedron once: at its lowest negative node.
            if positive {
                continue;
            }
            let crosses = mesh
                .adjacent_nodes(n)
                .iter()
                .any(|&m| self.piece[m as usize] == piece && self.level[m as usize] >= 0.0);
            if !crosses {
                continue;
            }
            for &tet in mesh.adjacent_tets(n) {
                let corners = mesh.tets()[tet as usize];
                let inside = corners.map(|c| self.piece[c as usize] == piece);
                let levels: [f32; 4] = std::array::from_fn(|i| {
                    if inside[i] {
                        self.level[corners[i] as usize]
                    } else {
                        0.0
                    }
                });
                let lowest = (0..4)
                    .filter(|&i| inside[i] && levels[i] < 0.0)
                    .map(|i| corners[i])
                    .min();
                if lowest == Some(n) {
                    area += section_area(mesh.corners(tet), levels, inside);
                }
            }
        }
        area
    }
}

/// Turns a normal towards the direction of largest tension.
fn turn(normal: Vec3, stress: &Principal, turning: f32) -> Vec3 {
    let [first, second, _] = stress.values;
    if first <= 0.0 {
        return normal;
    }
    let uniaxial = ((first - second) / first).clamp(0.0, 1.0);
    let along = stress.first.dot(normal);
    let target = if along >= 0.0 {
        stress.first
    } else {
        -stress.first
    };
    let turned = normal + turning * uniaxial * along.abs() * (target - normal);
    turned.try_normalize().unwrap_or(normal)
}

/// Area of the zero section of a tetrahedron whose foreign nodes have level zero.
fn section_area(x: [Vec3; 4], levels: [f32; 4], inside: [bool; 4]) -> f64 {
    let side =
        |positive: bool| (0..4).filter(move |&i| inside[i] && (levels[i] >= 0.0) == positive);
    // Corners in order round the section: foreign nodes, then cuts row by row.
    let mut points = [Vec3::ZERO; 4];
    let mut count = 0;
    for i in (0..4).filter(|&i| !inside[i]) {
        points[count] = x[i];
        count += 1;
    }
    for (turn, a) in side(false).enumerate() {
        let cut = |b: usize| {
            let t = levels[a] / (levels[a] - levels[b]);
            x[a] + t * (x[b] - x[a])
        };
        let mut cuts = side(true).map(cut);
        let (first, second) = (cuts.next(), cuts.next());
        // The second row backwards, so that the corners go round.
        let (first, second) = if turn == 1 && second.is_some() {
            (second, first)
        } else {
            (first, second)
        };
        let third = cuts.next();
        for point in [first, second, third].into_iter().flatten() {
            if count < 4 {
                points[count] = point;
                count += 1;
            }
        }
    }
    if count < 3 {
        return 0.0;
    }
    let triangle = |a: Vec3, b: Vec3, c: Vec3| 0.5 * f64::from((b - a).cross(c - a).length());
    let mut area = triangle(points[0], points[1], points[2]);
    if count == 4 {
        area += triangle(points[0], points[2], points[3]);
    }
    area
}

#[cfg(test)]
mod tests {
    use fracas::testing::box_grid;

    use super::*;
    use crate::principal::principal;

    fn grow_in(
        mesh: &TetMesh,
        node: u32,
        normal: Vec3,
        options: &GrowthOptions,
    ) -> (Growth, Option<Grown>) {
        let mut growth = Growth::default();
        growth.fit(mesh.positions().len(), mesh.mean_edge_length());
        growth.piece.fill(0);
        let pull = principal(&[1e6, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let seed = Seed {
            node,
            normal,
            chance: 3,
            piece: 0,
        };
        let grown = growth.grow(mesh, seed, options, &mut |_| pull);
        (growth, grown)
    }

    #[test]
    fn uniform_tension_makes_a_flat_crack_across_it() {
        let mesh = box_grid([14, 8, 6], Vec3::new(0.7, 0.4, 0.3));
        let options = GrowthOptions {
            roughness: 0.0,
            ..Default::default()
        };
        // The middle node of the bottom, seeded with the right normal.
        let node = 4 * 15 + 7;
        let (growth, grown) = grow_in(&mesh, node, Vec3::X, &options);
        let grown = grown.unwrap();
        assert_eq!(grown.parts, 2);
        assert!((grown.area / 0.12 - 1.0).abs() < 1e-3, "{}", grown.area);
        let x0 = mesh.positions()[node as usize].x;
        for (i, p) in mesh.positions().iter().enumerate() {
            let on_plane = (p.x - x0).abs() < 1e-4;
            assert!(
                on_plane || (growth.level[i] > 0.0) == (p.x > x0),
                "{p} {}",
                growth.level[i]
            );
        }
    }

    #[test]
    fn a_crack_seeded_askew_turns_into_the_plane_across_the_tension() {
        let mesh = box_grid([30, 16, 3], Vec3::new(1.5, 0.8, 0.15));
        let skew = Vec3::new(1.0, 0.8, 0.0).normalize();
        let (growth, grown) = grow_in(&mesh, 15, skew, &GrowthOptions::default());
        let area = grown.unwrap().area;
        // Flat across: 0.12. Straight along the seed's plane: 0.154.
        assert!(area > 0.11 && area < 0.15, "{area}");
        assert!(growth.reached.len() == mesh.positions().len());
        // At the far side the normal has turned to the tension.
        let far = growth
            .reached
            .iter()
            .filter(|&&n| {
                mesh.positions()[n as usize].y > 0.7 && growth.state[n as usize] == FINISHED
            })
            .map(|&n| growth.normal[n as usize].x)
            .fold(1.0, f32::min);
        assert!(far > 0.85, "{far}");
    }

    #[test]
    fn a_crack_that_would_only_chip_a_crumb_is_none() {
        let mesh = box_grid([6, 6, 6], Vec3::ONE);
        let (_, grown) = grow_in(&mesh, 0, Vec3::ONE.normalize(), &GrowthOptions::default());
        assert!(grown.is_none());
    }

    #[test]
    fn sections_have_the_area_of_their_polygons() {
        let x = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let all = [true; 4];
        let one = section_area(x, [-1.0, 1.0, 1.0, 1.0], all);
        assert!((one - 0.75_f64.sqrt() / 4.0).abs() < 1e-6, "{one}");
        let other = section_area(x, [1.0, -1.0, -1.0, -1.0], all);
        assert!((other - one).abs() < 1e-6);
        // Through the midpoints of four edges: a parallelogram of sides 1/2 and sqrt(2)/2.
        let two = section_area(x, [-1.0, -1.0, 1.0, 1.0], all);
        assert!((two - 0.125_f64.sqrt()).abs() < 1e-6, "{two}");
        // Two foreign nodes: the triangle from the cut to both.
        let foreign = section_area(x, [-1.0, 1.0, 0.0, 0.0], [true, true, false, false]);
        let expected = 0.5
            * f64::from(
                (Vec3::Y - 0.5 * Vec3::X)
                    .cross(Vec3::Z - 0.5 * Vec3::X)
                    .length(),
            );
        assert!((foreign - expected).abs() < 1e-6);
    }
}
