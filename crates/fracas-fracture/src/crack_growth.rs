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
use fracas::crack::LEAST_CUT_SHARE;
use glam::Vec3;

use crate::principal::Tension;
use crate::random::Noise;

/// How cracks grow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// The piece that breaks.
    pub piece: u32,
    /// How many nodes it has.
    pub nodes: usize,
    /// Levels are wanted at least as far from the surface as this (m).
    pub reach: f32,
}

/// What has grown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grown {
    /// Area of the surface (m²), from above.
    pub area: f64,
    /// Connected parts on both sides together, at least two.
    pub parts: usize,
}

/// What growth knows about a node, in one place of memory: neighbours are looked at by
/// the hundred thousand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    /// Where it is: as in the mesh.
    position: Vec3,
    /// Its level in the crack that was grown last.
    pub level: f32,
    /// Normal of the surface there, once it was marched.
    normal: Vec3,
    state: u32,
    /// Its piece in the current event; `u32::MAX` outside of it.
    pub piece: u32,
    /// The band node that it was reached from.
    group: u32,
}

/// Memory of crack growth for one mesh; also who is in which piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growth {
    /// One for each mesh node.
    pub cells: Vec<Cell>,
    /// Nodes of the piece that was grown last, in the order they were reached.
    pub reached: Vec<u32>,
    heap: BinaryHeap<Near>,
    groups: Vec<u32>,
    /// Nodes of each group, and how many of them wait to be looked at.
    sizes: Vec<[u32; 2]>,
    /// Negative nodes with a positive neighbour: the surface passes beside them.
    beside: Vec<u32>,
    /// Tetrahedra whose section was added up last, by `stamp`.
    seen_tets: Vec<u32>,
    stamp: u32,
    /// Level of what was not reached: far away, on the side that surrounds it.
    rest: f32,
    mean_edge: f32,
}

const UNSEEN: u32 = 0;
const QUEUED: u32 = 1;
const FINISHED: u32 = 2;
const FLOODED: u32 = 3;

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
    /// Makes ready for a mesh; `mean_edge` is its mean edge length.
    pub fn fit(&mut self, mesh: &TetMesh, mean_edge: f32) {
        self.mean_edge = mean_edge;
        let positions = mesh.positions();
        if self.cells.len() != positions.len() {
            self.reached.clear();
            let outside = Cell {
                position: Vec3::ZERO,
                level: 0.0,
                normal: Vec3::ZERO,
                state: UNSEEN,
                piece: u32::MAX,
                group: 0,
            };
            self.cells = vec![outside; positions.len()];
        }
        for (cell, &p) in self.cells.iter_mut().zip(positions) {
            cell.position = p;
        }
    }

    /// Distance of a node from the last crack, about; `None` when it is far.
    pub fn distance(&self, n: u32) -> Option<f32> {
        let cell = &self.cells[n as usize];
        (cell.state != UNSEEN).then_some(cell.level.abs())
    }

    /// Grows a crack through the connected piece that holds the seed. `None` when
    /// one side would be crumbs only.
    pub fn grow(
        &mut self,
        mesh: &TetMesh,
        seed: Seed,
        options: &GrowthOptions,
        stress: &mut dyn FnMut(u32) -> Tension,
    ) -> Option<Grown> {
        for &n in &self.reached {
            self.cells[n as usize].state = UNSEEN;
        }
        self.reached.clear();
        self.march(mesh, seed, options, stress);
        let parts = self.flood(mesh, seed, options.least_nodes)?;
        let area = self.area(mesh, seed.piece);
        Some(Grown { area, parts })
    }

    fn march(
        &mut self,
        mesh: &TetMesh,
        seed: Seed,
        options: &GrowthOptions,
        stress: &mut dyn FnMut(u32) -> Tension,
    ) {
        let start = self.cells[seed.node as usize].position;
        let noise = Noise::new(seed.chance, 3.0 * self.mean_edge);
        let rough = options.roughness * self.mean_edge;
        let offset = noise.at(start);
        self.heap.clear();
        self.heap.push(Near(0.0, seed.node));
        self.cells[seed.node as usize].state = QUEUED;
        while let Some(Near(_, n)) = self.heap.pop() {
            let p = self.cells[n as usize].position;
            let (level, normal) = self
                .level_and_normal(mesh, n)
                .unwrap_or((seed.normal.dot(p - start), seed.normal));
            let own = &mut self.cells[n as usize];
            own.normal = turn(normal, &stress(n), options.turning);
            own.level = level;
            own.state = FINISHED;
            self.reached.push(n);
            for &m in mesh.adjacent_nodes(n) {
                let cell = &mut self.cells[m as usize];
                if cell.piece != seed.piece || cell.state != UNSEEN {
                    continue;
                }
                let q = cell.position;
                // Only an edge longer than the level can cross the surface.
                let reach = 1.44 * p.distance_squared(q);
                if level * level <= reach {
                    cell.state = QUEUED;
                    self.heap.push(Near(start.distance_squared(q), m));
                }
            }
        }
        // Roughness last, so that it does not add up along the way.
        if rough > 0.0 {
            for &n in &self.reached {
                let cell = &mut self.cells[n as usize];
                cell.level += rough * (noise.at(cell.position) - offset);
            }
        }
    }

    /// Level and normal at a node from at least three finished neighbours.
    fn level_and_normal(&self, mesh: &TetMesh, n: u32) -> Option<(f32, Vec3)> {
        let p = self.cells[n as usize].position;
        let narrow = 1.0 / (1.5 * self.mean_edge * 1.5 * self.mean_edge);
        // Sums of w, w s_j, w m_j . to_j, w m_j and w to_j: the level is the mean of
        // s_j + (m_j + m) . to_j / 2.
        let (mut total, mut levels, mut slopes, mut count) = (0.0, 0.0, 0.0, 0);
        let (mut normals, mut ways) = (Vec3::ZERO, Vec3::ZERO);
        for &m in mesh.adjacent_nodes(n) {
            let cell = &self.cells[m as usize];
            if cell.state != FINISHED {
                continue;
            }
            let to = p - cell.position;
            let x = cell.level * cell.level * narrow;
            let w = 1.0 / (to.length_squared() * (1.0 + x * (1.0 + 0.5 * x)));
            total += w;
            levels += w * cell.level;
            slopes += w * cell.normal.dot(to);
            normals += w * cell.normal;
            ways += w * to;
            count += 1;
        }
        if count < 3 {
            return None;
        }
        let normal = normals.try_normalize()?;
        let level = levels + 0.5 * (slopes + normal.dot(ways));
        Some((level / total, normal))
    }

    /// Gives the rest of the piece its sides, flips crumbs, counts parts.
    ///
    /// Every band node starts a group of its own; nodes reached from it join it, and
    /// groups of one side that meet are joined. When all groups but one have no node
    /// left to look at, all that was not reached is of that one.
    fn flood(&mut self, mesh: &TetMesh, seed: Seed, least: usize) -> Option<usize> {
        let band = self.reached.len();
        let (groups, sizes, beside) = (&mut self.groups, &mut self.sizes, &mut self.beside);
        beside.clear();
        groups.clear();
        groups.extend(0..band as u32);
        sizes.clear();
        sizes.resize(band, [1, 1]);
        for (i, &n) in self.reached.iter().enumerate() {
            self.cells[n as usize].group = i as u32;
        }
        let mut waiting = band;
        let mut next = 0;
        while next < self.reached.len() {
            let n = self.reached[next];
            let Cell {
                position,
                level,
                group,
                ..
            } = self.cells[n as usize];
            if waiting == 1 && next >= band && level.abs() > seed.reach {
                break;
            }
            next += 1;
            let mut mine = find(groups, group);
            for &m in mesh.adjacent_nodes(n) {
                let cell = &mut self.cells[m as usize];
                if cell.piece != seed.piece {
                    continue;
                }
                if cell.state == UNSEEN {
                    // Distance grows by most of each edge.
                    let edge = position.distance(cell.position);
                    let farther = level.abs() + 0.7 * edge;
                    cell.state = FLOODED;
                    cell.level = if level < 0.0 { -farther } else { farther };
                    cell.group = mine;
                    let [size, front] = &mut sizes[mine as usize];
                    *size += 1;
                    *front += 1;
                    self.reached.push(m);
                } else if (cell.level < 0.0) != (level < 0.0) {
                    let negative = if level < 0.0 { n } else { m };
                    if beside.last() != Some(&negative) {
                        beside.push(negative);
                    }
                } else if cell.group != mine {
                    let other = find(groups, cell.group);
                    if other != mine {
                        // The lower label wins.
                        let (low, high) = (mine.min(other) as usize, mine.max(other) as usize);
                        groups[high] = low as u32;
                        let [size, front] = sizes[high];
                        waiting -= usize::from(front > 0 && sizes[low][1] > 0);
                        sizes[low][0] += size;
                        sizes[low][1] += front;
                        mine = low as u32;
                    }
                }
            }
            let front = &mut sizes[mine as usize][1];
            *front -= 1;
            waiting -= usize::from(*front == 0);
        }
        // The rest is of the group that still has a front, if any has.
        self.rest = -self.mean_edge;
        let left = seed.nodes.saturating_sub(self.reached.len()) as u32;
        if let Some(&n) = self.reached.get(next) {
            let root = find(groups, self.cells[n as usize].group) as usize;
            sizes[root][0] += left;
            let far = 8.0 * self.mean_edge;
            self.rest = if self.cells[n as usize].level < 0.0 {
                -far
            } else {
                far
            };
        }
        let mut kept = [0, 0];
        let mut crumbs = false;
        for i in 0..band {
            if groups[i] as usize != i {
                continue;
            }
            if sizes[i][0] as usize >= least {
                let positive = self.cells[self.reached[i] as usize].level >= 0.0;
                kept[usize::from(positive)] += 1;
            } else {
                crumbs = true;
            }
        }
        if crumbs {
            // A crumb goes over to the other side, close to the surface.
            let small = 0.1 * self.mean_edge;
            for &n in &self.reached {
                let cell = &mut self.cells[n as usize];
                let root = find(groups, cell.group);
                if (sizes[root as usize][0] as usize) < least {
                    cell.level = if cell.level < 0.0 { small } else { -small };
                    cell.state = FINISHED;
                }
            }
            // What was beside the surface may be so no longer: look everywhere.
            let cells = &self.cells;
            let negative = |n: &&u32| cells[**n as usize].level < 0.0;
            self.beside.clear();
            self.beside.extend(self.reached.iter().filter(negative));
        }
        (kept[0] > 0 && kept[1] > 0).then_some(kept[0] + kept[1])
    }

    /// The levels of the last crack for all nodes of the piece, clamped as
    /// [`fracas::Crack::from_level`] does where they decide a cut.
    pub fn levels(&self, mesh: &TetMesh, nodes: &[u32]) -> Vec<(u32, f32)> {
        nodes
            .iter()
            .map(|&n| {
                let cell = &self.cells[n as usize];
                let level = match cell.state {
                    FINISHED => clamped(mesh, n, cell.level),
                    FLOODED => cell.level,
                    _ => self.rest,
                };
                (n, level)
            })
            .collect()
    }

    /// Area of the surface in all tetrahedra with nodes of both signs: each has a
    /// negative node beside a positive one.
    fn area(&mut self, mesh: &TetMesh, piece: u32) -> f64 {
        if self.seen_tets.len() != mesh.tets().len() {
            self.seen_tets = vec![0; mesh.tets().len()];
            self.stamp = 0;
        }
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.seen_tets.fill(0);
            self.stamp = 1;
        }
        let mut area = 0.0;
        for &n in &self.beside {
            for &tet in mesh.adjacent_tets(n) {
                let seen = &mut self.seen_tets[tet as usize];
                if std::mem::replace(seen, self.stamp) == self.stamp {
                    continue;
                }
                let cells = mesh.tets()[tet as usize].map(|c| self.cells[c as usize]);
                let inside = cells.map(|c| c.piece == piece && c.state != UNSEEN);
                let crosses = (0..4).any(|i| inside[i] && cells[i].level >= 0.0);
                if crosses {
                    area += section_area(mesh.corners(tet), cells.map(|c| c.level), inside);
                }
            }
        }
        area
    }
}

/// The group that a label belongs to, shortening the way there.
fn find(groups: &mut [u32], mut label: u32) -> u32 {
    while groups[label as usize] != label {
        let up = groups[groups[label as usize] as usize];
        groups[label as usize] = up;
        label = up;
    }
    label
}

/// A level that leaves no sliver: see [`fracas::crack::LEAST_CUT_SHARE`].
fn clamped(mesh: &TetMesh, n: u32, level: f32) -> f32 {
    let p = mesh.positions()[n as usize];
    let shortest = mesh
        .adjacent_nodes(n)
        .iter()
        .map(|&m| p.distance_squared(mesh.positions()[m as usize]))
        .fold(f32::INFINITY, f32::min)
        .sqrt();
    let size = level
        .abs()
        .clamp(LEAST_CUT_SHARE * shortest, 4.0 * shortest);
    if level < 0.0 { -size } else { size }
}

/// Turns a normal towards the direction of largest tension.
fn turn(normal: Vec3, stress: &Tension, turning: f32) -> Vec3 {
    let along = stress.direction.dot(normal);
    let target = if along >= 0.0 {
        stress.direction
    } else {
        -stress.direction
    };
    let turned = normal + turning * stress.uniaxial * along.abs() * (target - normal);
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
    use crate::principal::tension;

    fn grow_in(
        mesh: &TetMesh,
        node: u32,
        normal: Vec3,
        options: &GrowthOptions,
    ) -> (Growth, Option<Grown>) {
        let mut growth = Growth::default();
        growth.fit(mesh, mesh.mean_edge_length());
        growth.cells.iter_mut().for_each(|c| c.piece = 0);
        let pull = tension(&[1e6, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let seed = Seed {
            node,
            normal,
            chance: 3,
            piece: 0,
            nodes: mesh.positions().len(),
            reach: 1e9,
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
                on_plane || (growth.cells[i].level > 0.0) == (p.x > x0),
                "{p} {}",
                growth.cells[i].level
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
                mesh.positions()[n as usize].y > 0.7 && growth.cells[n as usize].state == FINISHED
            })
            .map(|&n| growth.cells[n as usize].normal.x)
            .fold(1.0, f32::min);
        assert!(far > 0.85, "{far}");
    }

    #[test]
    fn the_area_is_that_of_all_sections_asked_one_by_one() {
        let mesh = box_grid([12, 9, 5], Vec3::new(0.6, 0.4, 0.2));
        for (node, seed) in [(40, 1), (95, 2), (300, 3), (7, 4)] {
            let mut random = crate::random::Random::new(seed);
            let normal: [f32; 3] = std::array::from_fn(|_| random.range(-1.0, 1.0));
            let rough = GrowthOptions {
                roughness: 0.8,
                ..Default::default()
            };
            let normal = Vec3::from_array(normal).normalize();
            let (growth, grown) = grow_in(&mesh, node, normal, &rough);
            let Some(grown) = grown else { continue };
            let all: f64 = (0..mesh.tets().len() as u32)
                .map(|t| {
                    let levels = mesh.tets()[t as usize].map(|n| growth.cells[n as usize].level);
                    section_area(mesh.corners(t), levels, [true; 4])
                })
                .sum();
            assert!(
                (grown.area / all - 1.0).abs() < 1e-9,
                "{} {all}",
                grown.area
            );
        }
    }

    #[test]
    fn flooding_no_farther_than_needed_gives_the_same_sides() {
        let mesh = box_grid([30, 5, 4], Vec3::new(3.0, 0.5, 0.4));
        let far = grow_in(&mesh, 8, Vec3::X, &GrowthOptions::default());
        let mut near = Growth::default();
        near.fit(&mesh, mesh.mean_edge_length());
        near.cells.iter_mut().for_each(|c| c.piece = 0);
        let pull = tension(&[1e6, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let seed = Seed {
            node: 8,
            normal: Vec3::X,
            chance: 3,
            piece: 0,
            nodes: mesh.positions().len(),
            reach: 0.1,
        };
        let grown = near.grow(&mesh, seed, &GrowthOptions::default(), &mut |_| pull);
        assert_eq!(grown, far.1);
        assert!(near.reached.len() < far.0.reached.len());
        let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        let sides = |g: &Growth| -> Vec<bool> {
            g.levels(&mesh, &all)
                .iter()
                .map(|(_, s)| *s > 0.0)
                .collect()
        };
        assert_eq!(sides(&near), sides(&far.0));
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
