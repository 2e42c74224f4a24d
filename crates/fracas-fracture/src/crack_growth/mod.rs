//! One crack, grown from a node along the stress: a level per node of one piece.
//!
//! Steps: from the seed node outwards, nearest first, each node near the surface
//! takes its level and the surface's normal from finished neighbours, turning the
//! normal towards its own direction of largest tension -> all other nodes take
//! their side by flooding -> crumbs of few nodes change sides -> area of the
//! surface. Most cracks come to crumbs; that one side has no part that could stand is
//! known right after the first step, by a look at that side's nodes alone.
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

mod area;
mod sides;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fracas_core::{Crack, TetMesh};
use glam::{Vec3, Vec4};

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

/// What growth knows about a node, half a cache line: neighbours are looked at by the
/// hundred thousand. Four numbers at a time, since that is how they are added up.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Cell {
    /// Where it is, as in the mesh; last its level in the crack that was grown last,
    /// negated.
    place: Vec4,
    /// Normal of the surface there, once it was marched; last how much its distance from
    /// the surface takes of its weight.
    lean: Vec4,
}

impl Cell {
    fn position(&self) -> Vec3 {
        self.place.truncate()
    }

    fn level(&self) -> f32 {
        -self.place.w
    }

    fn set_level(&mut self, level: f32) {
        self.place.w = -level;
    }
}

/// Piece, side and state of a node in one number: what is asked of most neighbours fits
/// into the innermost cache.
type Mark = u32;

const STATE: Mark = 0b11;
const UNSEEN: Mark = 0;
const QUEUED: Mark = 1;
const FINISHED: Mark = 2;
const FLOODED: Mark = 3;
/// Set where the level is negative, as soon as that is known for good.
const NEGATIVE: Mark = 0b100;
const PIECE_SHIFT: u32 = 3;
/// The piece of nodes that are in none.
const OUTSIDE: u32 = u32::MAX >> PIECE_SHIFT;

/// Memory of crack growth for one mesh; also who is in which piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growth {
    /// One for each mesh node, as all that follow.
    cells: Vec<Cell>,
    marks: Vec<Mark>,
    /// The band node that it was reached from, or one of its group.
    group_of: Vec<u32>,
    /// Nodes that a look at one side has come by, by `look`.
    looked_at: Vec<u32>,
    look: u32,
    /// Nodes of the piece that was grown last, in the order they were reached.
    reached: Vec<u32>,
    /// Of each node of the band, whether its level is rough already.
    is_rough: Vec<bool>,
    /// Nodes that wait to be marched: squared distance from the seed, then node.
    heap: BinaryHeap<Reverse<u64>>,
    around: Around,
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
    /// Of each piece, whether its nodes are connected, where that is known.
    connected: Vec<Option<bool>>,
    /// The same of the negative and the positive side of the last crack.
    sides_connected: [Option<bool>; 2],
    mean_edge: f32,
}

/// Neighbours of a node, sorted out without branches: whether one is finished is as
/// good as chance.
#[derive(Clone, Debug, Default)]
struct Around {
    finished: Vec<u32>,
    unseen: Vec<u32>,
    counts: [usize; 2],
}

impl Around {
    fn look(&mut self, neighbours: &[u32], marks: &[Mark], piece: u32) {
        if self.finished.len() < neighbours.len() {
            self.finished.resize(neighbours.len(), 0);
            self.unseen.resize(neighbours.len(), 0);
        }
        let (mut finished, mut unseen) = (0, 0);
        for &m in neighbours {
            let mark = marks[m as usize];
            self.finished[finished] = m;
            self.unseen[unseen] = m;
            finished += usize::from(mark == piece << PIECE_SHIFT | FINISHED);
            unseen += usize::from(mark == piece << PIECE_SHIFT | UNSEEN);
        }
        self.counts = [finished, unseen];
    }

    fn finished(&self) -> &[u32] {
        &self.finished[..self.counts[0]]
    }

    fn unseen(&self) -> &[u32] {
        &self.unseen[..self.counts[1]]
    }
}

/// The place in the queue: nearest first, then lowest. Squares are not negative, so
/// their bits are in the order of their values.
fn near(distance_squared: f32, n: u32) -> Reverse<u64> {
    Reverse(u64::from(distance_squared.to_bits()) << 32 | u64::from(n))
}

/// Roughness of a crack: a shift of all levels, zero at the seed.
struct Rough {
    noise: Noise,
    size: f32,
    offset: f32,
}

impl Rough {
    fn shift(&self, p: Vec3) -> f32 {
        self.size * (self.noise.at(p) - self.offset)
    }

    /// No shift is larger: noise is within one of zero, up to rounding.
    fn most(&self) -> f32 {
        2.01 * self.size
    }
}

impl Growth {
    /// Takes the memory for a mesh. It never shrinks: what it holds of an earlier, larger
    /// mesh says nothing, since no node of that is in a piece and no stamp comes again.
    pub fn make_ready(&mut self, mesh: &TetMesh) {
        let nodes = mesh.positions().len();
        if self.cells.len() < nodes {
            self.cells.resize(nodes, Cell::default());
            self.marks.resize(nodes, OUTSIDE << PIECE_SHIFT | UNSEEN);
            self.group_of.resize(nodes, 0);
            self.looked_at.resize(nodes, 0);
        }
        if self.seen_tets.len() < mesh.tets().len() {
            self.seen_tets.resize(mesh.tets().len(), 0);
        }
    }

    /// How much of a mesh the memory holds.
    #[cfg(test)]
    pub fn capacities(&self) -> [usize; 5] {
        [
            self.cells.capacity(),
            self.marks.capacity(),
            self.group_of.capacity(),
            self.looked_at.capacity(),
            self.seen_tets.capacity(),
        ]
    }

    /// Makes ready for a mesh; `mean_edge` is its mean edge length.
    pub fn fit(&mut self, mesh: &TetMesh, mean_edge: f32) {
        self.make_ready(mesh);
        self.mean_edge = mean_edge;
        let positions = mesh.positions();
        for (cell, &p) in self.cells.iter_mut().zip(positions) {
            cell.place = p.extend(cell.place.w);
        }
    }

    /// The piece of a node in the current event.
    pub fn piece(&self, n: u32) -> u32 {
        self.marks[n as usize] >> PIECE_SHIFT
    }

    fn set_piece(&mut self, n: u32, piece: u32) {
        let mark = &mut self.marks[n as usize];
        *mark = piece << PIECE_SHIFT | *mark & (NEGATIVE | STATE);
    }

    /// Distance of a node from the last crack, about; `None` when it is far.
    pub fn distance(&self, n: u32) -> Option<f32> {
        let is_seen = self.marks[n as usize] & STATE != UNSEEN;
        is_seen.then_some(self.cells[n as usize].level().abs())
    }

    /// Nodes near the last crack, each with its distance from it, about (m).
    pub fn near_crack(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        let distance = |&n: &u32| (n, self.cells[n as usize].level().abs());
        self.reached.iter().map(distance)
    }

    /// All nodes are in piece 0; those of other pieces of an earlier event are not.
    pub fn begin(&mut self, nodes: &[u32]) {
        self.connected.clear();
        self.connected.push(None);
        for &n in nodes {
            self.set_piece(n, 0);
        }
    }

    /// No node is in any piece.
    pub fn end(&mut self, nodes: &[u32]) {
        for &n in nodes {
            self.set_piece(n, OUTSIDE);
        }
    }

    /// The positive side of the last crack, which has these nodes, leaves a piece and
    /// becomes the next one.
    pub fn divide(&mut self, piece: u32, leaving: &[u32]) {
        let [stays, leaves] = self.sides_connected;
        self.connected[piece as usize] = stays;
        let new = self.connected.len() as u32;
        self.connected.push(leaves);
        for &n in leaving {
            self.set_piece(n, new);
        }
    }

    /// Whether the nodes of the seed's piece are connected.
    fn is_connected(&mut self, mesh: &TetMesh, seed: Seed) -> bool {
        if let Some(known) = self.connected[seed.piece as usize] {
            return known;
        }
        let look = self.next_look();
        self.looked_at[seed.node as usize] = look;
        let mut found = vec![seed.node];
        let mut i = 0;
        while let Some(&n) = found.get(i) {
            i += 1;
            for &m in mesh.adjacent_nodes(n) {
                if self.marks[m as usize] >> PIECE_SHIFT == seed.piece
                    && std::mem::replace(&mut self.looked_at[m as usize], look) != look
                {
                    found.push(m);
                }
            }
        }
        let connected = found.len() == seed.nodes;
        self.connected[seed.piece as usize] = Some(connected);
        connected
    }

    /// Grows a crack through the piece that holds the seed. `None` when one side would
    /// be crumbs only.
    pub fn grow(
        &mut self,
        mesh: &TetMesh,
        seed: Seed,
        options: &GrowthOptions,
        stress: &mut dyn FnMut(u32) -> Tension,
    ) -> Option<Grown> {
        let rough = self.begin_crack(mesh, seed, options, stress);
        // Cracks that come to crumbs are most of all: known before the rest is done.
        let may_stand = self.both_sides_may_stand(mesh, seed.piece, options.least_nodes);
        if !may_stand && self.is_connected(mesh, seed) {
            return None;
        }
        self.roughen(&rough);
        let parts = self.flood(mesh, seed, options.least_nodes)?;
        let area = self.area(mesh, seed.piece);
        Some(Grown { area, parts })
    }

    /// The nodes near the surface, with their sides; not all of them rough yet.
    fn begin_crack(
        &mut self,
        mesh: &TetMesh,
        seed: Seed,
        options: &GrowthOptions,
        stress: &mut dyn FnMut(u32) -> Tension,
    ) -> Rough {
        for &n in &self.reached {
            self.marks[n as usize] &= !(NEGATIVE | STATE);
        }
        self.reached.clear();
        self.march(mesh, seed, options, stress);
        let start = self.cells[seed.node as usize].position();
        let noise = Noise::new(seed.chance, 3.0 * self.mean_edge);
        let rough = Rough {
            offset: noise.at(start),
            noise,
            size: options.roughness * self.mean_edge,
        };
        self.take_sides(&rough);
        rough
    }

    fn march(
        &mut self,
        mesh: &TetMesh,
        seed: Seed,
        options: &GrowthOptions,
        stress: &mut dyn FnMut(u32) -> Tension,
    ) {
        let start = self.cells[seed.node as usize].position();
        let narrow = 1.0 / (1.5 * self.mean_edge * 1.5 * self.mean_edge);
        self.heap.clear();
        self.heap.push(near(0.0, seed.node));
        self.marks[seed.node as usize] |= QUEUED;
        while let Some(Reverse(next)) = self.heap.pop() {
            let n = next as u32;
            let p = self.cells[n as usize].position();
            let neighbours = mesh.adjacent_nodes(n);
            self.around.look(neighbours, &self.marks, seed.piece);
            let (level, normal) = level_and_normal(&self.cells, p, self.around.finished())
                .unwrap_or((seed.normal.dot(p - start), seed.normal));
            let normal = turn(normal, &stress(n), options.turning);
            let x = level * level * narrow;
            self.cells[n as usize] = Cell {
                place: p.extend(-level),
                lean: normal.extend(1.0 + x * (1.0 + 0.5 * x)),
            };
            self.marks[n as usize] = seed.piece << PIECE_SHIFT | FINISHED;
            self.reached.push(n);
            for &m in self.around.unseen() {
                let q = self.cells[m as usize].position();
                // Only an edge longer than the level can cross the surface.
                let reach = 1.44 * p.distance_squared(q);
                if level * level <= reach {
                    self.marks[m as usize] |= QUEUED;
                    self.heap.push(near(start.distance_squared(q), m));
                }
            }
        }
    }

    /// Finds on which side of the rough surface the nodes of the band are. Only levels
    /// that roughness can turn are made rough.
    fn take_sides(&mut self, rough: &Rough) {
        self.is_rough.clear();
        for &n in &self.reached {
            let cell = &mut self.cells[n as usize];
            let mut level = cell.level();
            // What is no number is not larger, either.
            let is_sure = level.abs() > rough.most();
            if !is_sure && rough.size > 0.0 {
                level += rough.shift(cell.position());
                cell.set_level(level);
            }
            self.is_rough.push(!is_sure);
            if level < 0.0 {
                self.marks[n as usize] |= NEGATIVE;
            }
        }
    }

    /// Roughness last, so that it does not add up along the way.
    fn roughen(&mut self, rough: &Rough) {
        if rough.size <= 0.0 {
            return;
        }
        for (&n, is_rough) in self.reached.iter().zip(&self.is_rough) {
            if !is_rough {
                let cell = &mut self.cells[n as usize];
                cell.set_level(cell.level() + rough.shift(cell.position()));
            }
        }
    }

    /// The levels of the last crack for all nodes of the piece, clamped as
    /// [`Crack::from_level`] does where they decide a cut.
    pub fn levels(&self, mesh: &TetMesh, nodes: &[u32]) -> Vec<(u32, f32)> {
        nodes
            .iter()
            .map(|&n| {
                let cell = &self.cells[n as usize];
                let level = match self.marks[n as usize] & STATE {
                    FINISHED => Crack::clamp_level(mesh, n, cell.level()),
                    FLOODED => cell.level(),
                    _ => self.rest,
                };
                (n, level)
            })
            .collect()
    }
}

/// Level and normal at a place from at least three finished neighbours.
fn level_and_normal(cells: &[Cell], p: Vec3, finished: &[u32]) -> Option<(f32, Vec3)> {
    if finished.len() < 3 {
        return None;
    }
    // Sums of w, w m_j . to_j, w m_j and w to_j (last w s_j): the level is the mean of
    // s_j + (m_j + m) . to_j / 2.
    let (mut total, mut slopes) = (0.0, 0.0);
    let (mut normals, mut ways) = (Vec4::ZERO, Vec4::ZERO);
    let p = p.extend(0.0);
    for &m in finished {
        let Cell { place, lean } = cells[m as usize];
        let to = p - place;
        let (squares, products) = (to * to, lean * to);
        let w = 1.0 / ((squares.x + squares.y + squares.z) * lean.w);
        total += w;
        slopes += w * (products.x + products.y + products.z);
        normals += w * lean;
        ways += w * to;
    }
    let normal = normals.truncate().try_normalize()?;
    let level = ways.w + 0.5 * (slopes + normal.dot(ways.truncate()));
    Some((level / total, normal))
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
