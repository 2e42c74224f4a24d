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

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fracas_core::{LEAST_CUT_SHARE, TetMesh};
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

    /// Whether each side has a part of at least so many nodes, if all nodes that were
    /// not marched were of that side. In a connected piece a side that has none now will
    /// have none: [`Self::flood`] gives it no others.
    fn both_sides_may_stand(&mut self, mesh: &TetMesh, piece: u32, least: usize) -> bool {
        let negative = self
            .reached
            .iter()
            .filter(|&&n| self.marks[n as usize] & NEGATIVE != 0)
            .count();
        // The smaller one fails more often, and is sooner looked through.
        let sides = if 2 * negative <= self.reached.len() {
            [NEGATIVE, 0]
        } else {
            [0, NEGATIVE]
        };
        sides
            .into_iter()
            .all(|side| self.side_may_stand(mesh, piece, side, least))
    }

    fn side_may_stand(&mut self, mesh: &TetMesh, piece: u32, side: Mark, least: usize) -> bool {
        let look = self.next_look();
        let own = piece << PIECE_SHIFT | side | FINISHED;
        let unmarched = piece << PIECE_SHIFT | UNSEEN;
        let band = self.reached.len();
        let mut stands = false;
        for first in 0..band {
            let n = self.reached[first];
            if self.marks[n as usize] != own || self.looked_at[n as usize] == look {
                continue;
            }
            // What is found is kept behind the band for the moment.
            self.looked_at[n as usize] = look;
            self.reached.push(n);
            let mut next = band;
            while next < self.reached.len() && self.reached.len() - band < least {
                for &m in mesh.adjacent_nodes(self.reached[next]) {
                    let mark = self.marks[m as usize];
                    if (mark == own || mark == unmarched)
                        && std::mem::replace(&mut self.looked_at[m as usize], look) != look
                    {
                        self.reached.push(m);
                    }
                }
                next += 1;
            }
            stands = self.reached.len() - band >= least;
            self.reached.truncate(band);
            if stands {
                break;
            }
        }
        stands
    }

    fn next_look(&mut self) -> u32 {
        self.look = self.look.wrapping_add(1);
        if self.look == 0 {
            self.looked_at.fill(0);
            self.look = 1;
        }
        self.look
    }

    /// Gives the rest of the piece its sides, flips crumbs, counts parts.
    ///
    /// Every band node starts a group of its own; nodes reached from it join it, and
    /// groups of one side that meet are joined. When all groups but one have no node
    /// left to look at, all that was not reached is of that one.
    fn flood(&mut self, mesh: &TetMesh, seed: Seed, least: usize) -> Option<usize> {
        let band = self.reached.len();
        let look = self.next_look();
        let (groups, sizes, beside) = (&mut self.groups, &mut self.sizes, &mut self.beside);
        let (marks, group_of) = (&mut self.marks, &mut self.group_of);
        let (looked_at, act) = (&mut self.looked_at, &mut self.around.unseen);
        beside.clear();
        groups.clear();
        groups.extend(0..band as u32);
        sizes.clear();
        sizes.resize(band, [1, 1]);
        for (i, &n) in self.reached.iter().enumerate() {
            group_of[n as usize] = i as u32;
        }
        let mut waiting = band;
        let mut next = 0;
        while next < self.reached.len() {
            let n = self.reached[next];
            let side = marks[n as usize] & NEGATIVE;
            if waiting == 1 && next >= band && self.cells[n as usize].level().abs() > seed.reach {
                break;
            }
            next += 1;
            let mut mine = find(groups, group_of[n as usize]);
            // Far from the surface most neighbours are of this group already: they are
            // left out without a branch.
            let neighbours = mesh.adjacent_nodes(n);
            if act.len() < neighbours.len() {
                act.resize(neighbours.len(), 0);
            }
            let own = seed.piece << PIECE_SHIFT | side;
            let mut count = 0;
            for &m in neighbours {
                let mark = marks[m as usize];
                let is_of_group = (mark & !STATE == own)
                    & (mark & STATE != UNSEEN)
                    & (group_of[m as usize] == mine);
                act[count] = m;
                count += usize::from((mark >> PIECE_SHIFT == seed.piece) & !is_of_group);
            }
            for &m in &act[..count] {
                let mark = marks[m as usize];
                if mark & STATE == UNSEEN {
                    // Distance grows by most of each edge.
                    let cell = &self.cells[n as usize];
                    let (position, level) = (cell.position(), cell.level());
                    let cell = &mut self.cells[m as usize];
                    let edge = position.distance(cell.position());
                    let farther = level.abs() + 0.7 * edge;
                    cell.set_level(if side == NEGATIVE { -farther } else { farther });
                    marks[m as usize] = mark | side | FLOODED;
                    group_of[m as usize] = mine;
                    let [size, front] = &mut sizes[mine as usize];
                    *size += 1;
                    *front += 1;
                    self.reached.push(m);
                } else if mark & NEGATIVE != side {
                    let negative = if side == NEGATIVE { n } else { m };
                    if std::mem::replace(&mut looked_at[negative as usize], look) != look {
                        beside.push(negative);
                    }
                } else if group_of[m as usize] != mine {
                    let other = find(groups, group_of[m as usize]);
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
                    group_of[m as usize] = mine;
                }
            }
            let front = &mut sizes[mine as usize][1];
            *front -= 1;
            waiting -= usize::from(*front == 0);
        }
        self.settle_groups(mesh, seed, least, band, next)
    }

    /// Which groups of the flood stand: the rest goes to the one that still has a front, those
    /// below `least` nodes go over to the other side. How many are kept, if both sides are.
    fn settle_groups(
        &mut self,
        mesh: &TetMesh,
        seed: Seed,
        least: usize,
        band: usize,
        next: usize,
    ) -> Option<usize> {
        let look = self.look;
        let (groups, sizes, beside) = (&mut self.groups, &mut self.sizes, &mut self.beside);
        let (marks, group_of) = (&mut self.marks, &mut self.group_of);
        let looked_at = &mut self.looked_at;
        // The rest is of the group that still has a front, if any has.
        self.rest = -self.mean_edge;
        let left = seed.nodes.saturating_sub(self.reached.len()) as u32;
        if let Some(&n) = self.reached.get(next) {
            let root = find(groups, group_of[n as usize]) as usize;
            sizes[root][0] += left;
            let far = 8.0 * self.mean_edge;
            self.rest = if marks[n as usize] & NEGATIVE != 0 {
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
                let positive = marks[self.reached[i] as usize] & NEGATIVE == 0;
                kept[usize::from(positive)] += 1;
            } else {
                crumbs = true;
            }
        }
        if kept[0] == 0 || kept[1] == 0 {
            return None;
        }
        if crumbs {
            // A crumb goes over to the other side, close to the surface.
            let small = 0.1 * self.mean_edge;
            for &n in &self.reached {
                let root = find(groups, group_of[n as usize]);
                if (sizes[root as usize][0] as usize) < least {
                    let mark = &mut marks[n as usize];
                    let to_positive = *mark & NEGATIVE != 0;
                    *mark = (*mark ^ NEGATIVE) & !STATE | FINISHED;
                    self.cells[n as usize].set_level(if to_positive { small } else { -small });
                    // The surface passes elsewhere now: beside it or its neighbours.
                    looked_at[n as usize] = look;
                    for &m in mesh.adjacent_nodes(n) {
                        looked_at[m as usize] = look;
                    }
                }
            }
            let is_beside =
                |n: &&u32| marks[**n as usize] & NEGATIVE != 0 && looked_at[**n as usize] == look;
            beside.clear();
            beside.extend(self.reached.iter().filter(is_beside));
        }
        // Crumbs that change sides may hang together with nothing there.
        let is_known = !crumbs && self.connected[seed.piece as usize] == Some(true);
        self.sides_connected = kept.map(|parts| is_known.then_some(parts == 1));
        Some(kept[0] + kept[1])
    }

    /// The levels of the last crack for all nodes of the piece, clamped as
    /// [`fracas_core::Crack::from_level`] does where they decide a cut.
    pub fn levels(&self, mesh: &TetMesh, nodes: &[u32]) -> Vec<(u32, f32)> {
        nodes
            .iter()
            .map(|&n| {
                let cell = &self.cells[n as usize];
                let level = match self.marks[n as usize] & STATE {
                    FINISHED => clamped(mesh, n, cell.level()),
                    FLOODED => cell.level(),
                    _ => self.rest,
                };
                (n, level)
            })
            .collect()
    }

    /// Area of the surface in all tetrahedra with nodes of both signs: each has a
    /// negative node beside a positive one.
    fn area(&mut self, mesh: &TetMesh, piece: u32) -> f64 {
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
                let nodes = mesh.tets()[tet as usize];
                let marks = nodes.map(|n| self.marks[n as usize]);
                let inside = marks.map(|m| m >> PIECE_SHIFT == piece && m & STATE != UNSEEN);
                let crosses = (0..4).any(|i| inside[i] && marks[i] & NEGATIVE == 0);
                if crosses {
                    let levels = nodes.map(|n| self.cells[n as usize].level());
                    area += section_area(mesh.corners(tet), levels, inside);
                }
            }
        }
        area
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

/// The group that a label belongs to, shortening the way there.
fn find(groups: &mut [u32], mut label: u32) -> u32 {
    while groups[label as usize] != label {
        let up = groups[groups[label as usize] as usize];
        groups[label as usize] = up;
        label = up;
    }
    label
}

/// A level that leaves no sliver: see [`LEAST_CUT_SHARE`].
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
    use fracas_core::testing::box_grid;

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
        growth.begin(&(0..mesh.positions().len() as u32).collect::<Vec<_>>());
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
                on_plane || (growth.cells[i].level() > 0.0) == (p.x > x0),
                "{p} {}",
                growth.cells[i].level()
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
                mesh.positions()[n as usize].y > 0.7 && growth.marks[n as usize] & STATE == FINISHED
            })
            .map(|&n| growth.cells[n as usize].lean.x)
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
                    let levels = mesh.tets()[t as usize].map(|n| growth.cells[n as usize].level());
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
        near.begin(&(0..mesh.positions().len() as u32).collect::<Vec<_>>());
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
    fn what_is_said_to_fail_early_fails_in_the_end_and_sides_are_those_of_the_rough_levels() {
        let mesh = box_grid([7, 6, 5], Vec3::new(0.7, 0.6, 0.5));
        let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        let mut random = crate::random::Random::new(9);
        let mut growth = Growth::default();
        let (mut early, mut failed, mut grown) = (0, 0, 0);
        for _ in 0..400 {
            // Of the whole, or of a slab that an older crack left: often thin.
            let slab = random.range(0.05, 0.8);
            let own: Vec<u32> = all
                .iter()
                .copied()
                .filter(|&n| mesh.positions()[n as usize].x <= slab)
                .collect();
            growth.fit(&mesh, mesh.mean_edge_length());
            growth.begin(&own);
            let normal = random.direction();
            let seed = Seed {
                node: own[random.below(own.len())],
                normal,
                chance: random.bits(),
                piece: 0,
                nodes: own.len(),
                reach: random.range(0.0, 0.3),
            };
            let options = GrowthOptions {
                roughness: random.range(0.0, 0.6),
                least_nodes: 1 + random.below(40),
                ..Default::default()
            };
            let pull = tension(&[1e6, 3e5, 0.0, 2e5, 0.0, 1e5]);
            let rough = growth.begin_crack(&mesh, seed, &options, &mut |_| pull);
            let band = growth.reached.clone();
            let before: Vec<f32> = band
                .iter()
                .map(|&n| growth.cells[n as usize].level())
                .collect();
            let may_stand = growth.both_sides_may_stand(&mesh, 0, options.least_nodes);
            assert_eq!(growth.reached, band);
            let is_rough = growth.is_rough.clone();
            growth.roughen(&rough);
            for (i, &n) in band.iter().enumerate() {
                let cell = &growth.cells[n as usize];
                let shift = rough.shift(cell.position());
                let expected = before[i] + if is_rough[i] { 0.0 } else { shift };
                assert_eq!(cell.level(), expected);
                let is_negative = growth.marks[n as usize] & NEGATIVE != 0;
                assert_eq!(is_negative, cell.level() < 0.0);
            }
            let parts = growth.flood(&mesh, seed, options.least_nodes);
            assert!(may_stand || parts.is_none(), "{seed:?} {options:?}");
            early += usize::from(!may_stand);
            failed += usize::from(parts.is_none());
            grown += usize::from(parts.is_some());
            growth.end(&own);
        }
        // Nearly all that fail are known early; neither is rare.
        assert!(
            10 * early >= 9 * failed && early > 50 && grown > 50,
            "{early} {failed} {grown}"
        );
    }

    #[test]
    fn pieces_that_hang_together_are_told_from_those_that_do_not() {
        let mesh = box_grid([6, 3, 3], Vec3::ONE);
        let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        let ends: Vec<u32> = all
            .iter()
            .copied()
            .filter(|&n| (mesh.positions()[n as usize].x - 0.5).abs() > 0.3)
            .collect();
        for (own, expected) in [(&all, true), (&ends, false)] {
            let mut growth = Growth::default();
            growth.fit(&mesh, mesh.mean_edge_length());
            growth.begin(own);
            let seed = Seed {
                node: own[0],
                normal: Vec3::X,
                chance: 0,
                piece: 0,
                nodes: own.len(),
                reach: 0.0,
            };
            assert_eq!(growth.is_connected(&mesh, seed), expected);
        }
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
