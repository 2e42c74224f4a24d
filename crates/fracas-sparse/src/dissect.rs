//! In which order nodes are eliminated: nested dissection by coordinates, which on
//! meshes of bodies makes less than half the work of approximate minimum degree.
//!
//! Source: George 1973, with planes across the axes instead of a regular grid. The
//! nodes that join two halves are a least vertex cover of the edges between them
//! (Konig 1931; so do Ashcraft, Liu 1998), and of several planes the one with the
//! cheapest cover is taken.
//!
//! **Guarantee**: decided by pattern and positions alone, the same on every machine.

use glam::DVec3;

use crate::block_matrix::BlockMatrix;

/// Sets up to this size are not divided further.
const LEAF: usize = 8;

/// Planes that are tried across each axis: so many of a hundred nodes before them.
const PLACES: [usize; 5] = [35, 42, 50, 58, 65];

/// No node.
const NONE: u32 = u32::MAX;

/// Nested dissection by coordinates: divide the nodes by a plane, order both halves
/// first and the nodes that join them last.
#[must_use]
pub fn dissect(matrix: &BlockMatrix, positions: &[DVec3]) -> Vec<u32> {
    let mut divider = Divider::new(matrix, positions);
    let mut order = Vec::with_capacity(positions.len());
    // Written back to front: joining nodes first, then the halves.
    let mut work: Vec<Vec<u32>> = vec![(0..positions.len() as u32).collect()];
    while let Some(set) = work.pop() {
        if set.len() <= LEAF {
            order.extend(set.iter().rev());
            continue;
        }
        let halves = divider.divide(&set);
        order.extend(halves.joining.iter().rev());
        work.push(halves.left);
        work.push(halves.right);
    }
    order.reverse();
    order
}

/// A set of nodes, divided: no edge leads from left to right.
struct Halves {
    left: Vec<u32>,
    right: Vec<u32>,
    joining: Vec<u32>,
}

impl Halves {
    /// About what the joining nodes cost: their number, more where the halves differ.
    fn cost(&self) -> f64 {
        let larger = self.left.len().max(self.right.len());
        let all = self.left.len() + self.right.len() + self.joining.len();
        let surplus = (larger as f64 / all as f64 - 0.5).max(0.0);
        self.joining.len() as f64 * (1.0 + 2.0 * surplus)
    }
}

/// Divides sets of nodes of one matrix.
struct Divider<'a> {
    positions: &'a [DVec3],
    neighbours: Vec<Vec<u32>>,
    /// The last division in which a node was right of the plane.
    right_in: Vec<u32>,
    division: u32,
    /// The node across the plane that a node is matched with.
    partner: Vec<u32>,
    /// By which left node a right one was reached.
    reached_from: Vec<u32>,
    /// The last search that reached a right node.
    reached_in: Vec<u32>,
    search: u32,
    /// Was reached by a search that found no further partner.
    exhausted: Vec<bool>,
}

impl<'a> Divider<'a> {
    fn new(matrix: &BlockMatrix, positions: &'a [DVec3]) -> Self {
        let nodes = matrix.nodes();
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for j in 0..nodes {
            for &i in &matrix.column(j).0[1..] {
                neighbours[j].push(i);
                neighbours[i as usize].push(j as u32);
            }
        }
        Self {
            positions,
            neighbours,
            right_in: vec![0; nodes],
            division: 0,
            partner: vec![NONE; nodes],
            reached_from: vec![NONE; nodes],
            reached_in: vec![0; nodes],
            search: 0,
            exhausted: vec![false; nodes],
        }
    }

    /// The cheapest of several divisions by a plane.
    fn divide(&mut self, set: &[u32]) -> Halves {
        let mut sorted = set.to_vec();
        let mut best: Option<Halves> = None;
        for axis in 0..3 {
            let at = |n: u32| self.positions[n as usize][axis];
            sorted.sort_unstable_by(|&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
            for place in PLACES {
                let (left, right) = sorted.split_at(set.len() * place / 100);
                let halves = self.join(left, right);
                if best.as_ref().is_none_or(|b| halves.cost() < b.cost()) {
                    best = Some(halves);
                }
            }
        }
        best.expect("places were tried")
    }

    /// Takes the fewest nodes out of both halves that leave no edge between them.
    fn join(&mut self, left: &[u32], right: &[u32]) -> Halves {
        self.division += 1;
        for &n in left.iter().chain(right) {
            self.partner[n as usize] = NONE;
            self.exhausted[n as usize] = false;
        }
        for &n in right {
            self.right_in[n as usize] = self.division;
        }
        for &n in left {
            self.match_left(n);
        }
        // Konig: of each matched pair the right node if an exhausted search reached it,
        // else the left one.
        let (joining_left, left): (Vec<u32>, Vec<u32>) = left
            .iter()
            .partition(|&&n| self.partner[n as usize] != NONE && !self.exhausted[n as usize]);
        let (mut joining, right): (Vec<u32>, Vec<u32>) =
            right.iter().partition(|&&n| self.exhausted[n as usize]);
        joining.extend(joining_left);
        Halves {
            left,
            right,
            joining,
        }
    }

    /// Finds a right partner for a left node, if need be by giving others new ones
    /// along an alternating path. What a search without success reaches is of no use
    /// to later ones.
    fn match_left(&mut self, node: u32) {
        self.search += 1;
        let mut queue = vec![node];
        let mut next = 0;
        while let Some(&from) = queue.get(next) {
            next += 1;
            for &to in &self.neighbours[from as usize] {
                let at = to as usize;
                let is_new = self.right_in[at] == self.division
                    && self.reached_in[at] != self.search
                    && !self.exhausted[at];
                if !is_new {
                    continue;
                }
                self.reached_in[at] = self.search;
                self.reached_from[at] = from;
                if self.partner[at] == NONE {
                    self.turn_over(to);
                    return;
                }
                queue.push(self.partner[at]);
            }
        }
        for left in queue {
            self.exhausted[left as usize] = true;
            let right = self.partner[left as usize];
            if right != NONE {
                self.exhausted[right as usize] = true;
            }
        }
    }

    /// Matches along the path by which a free right node was reached.
    fn turn_over(&mut self, free: u32) {
        let mut right = free;
        while right != NONE {
            let left = self.reached_from[right as usize];
            let former = std::mem::replace(&mut self.partner[left as usize], right);
            self.partner[right as usize] = left;
            right = former;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panels::Panels;
    use crate::random::Random;

    /// A matrix with the pattern of a random graph, and random positions.
    fn sample(nodes: usize, edges: usize, random: &mut Random) -> (BlockMatrix, Vec<DVec3>) {
        let mut below = |n: usize| (random.unit_f64() * n as f64) as u32;
        let mut pairs: Vec<Vec<u32>> = (0..nodes as u32).map(|n| vec![n]).collect();
        for _ in 0..edges {
            let (a, b) = (below(nodes), below(nodes));
            if a != b {
                pairs.push(vec![a.min(b), a.max(b)]);
            }
        }
        let patches: Vec<&[u32]> = pairs.iter().map(Vec::as_slice).collect();
        let matrix = BlockMatrix::with_pattern(nodes, &patches);
        let positions = (0..nodes)
            .map(|_| DVec3::new(random.unit_f64(), random.unit_f64(), random.unit_f64()))
            .collect();
        (matrix, positions)
    }

    /// The size of the smallest set of nodes that touches every edge across.
    fn least_cover(divider: &Divider<'_>, left: &[u32], right: &[u32]) -> usize {
        let edges: Vec<(usize, usize)> = left
            .iter()
            .enumerate()
            .flat_map(|(i, &n)| {
                let near = &divider.neighbours[n as usize];
                let across = right.iter().enumerate();
                across
                    .filter(|(_, m)| near.contains(m))
                    .map(move |(j, _)| (i, left.len() + j))
            })
            .collect();
        (0..1_u32 << (left.len() + right.len()))
            .filter(|set| edges.iter().all(|&(a, b)| (set >> a | set >> b) & 1 == 1))
            .map(u32::count_ones)
            .min()
            .unwrap() as usize
    }

    #[test]
    fn joining_nodes_are_the_fewest_that_part_the_halves() {
        let mut random = Random::new(11);
        for round in 0..60 {
            let (matrix, positions) = sample(12, 4 + round / 2, &mut random);
            let mut divider = Divider::new(&matrix, &positions);
            let all: Vec<u32> = (0..12).collect();
            // Twice by one divider: nothing is left of the first time.
            for middle in [6, 4] {
                let (left, right) = all.split_at(middle);
                let halves = divider.join(left, right);
                for &n in &halves.left {
                    for m in &divider.neighbours[n as usize] {
                        assert!(!halves.right.contains(m), "edge {n} {m} is left");
                    }
                }
                let least = least_cover(&divider, left, right);
                assert_eq!(halves.joining.len(), least, "round {round}");
            }
        }
    }

    #[test]
    fn every_node_has_one_place() {
        let mut random = Random::new(12);
        for (nodes, edges) in [(0, 0), (1, 0), (9, 0), (40, 100), (300, 2_000)] {
            let (matrix, positions) = sample(nodes, edges, &mut random);
            for positions in [positions, vec![DVec3::ZERO; nodes]] {
                let mut order = dissect(&matrix, &positions);
                order.sort_unstable();
                assert!(order.iter().copied().eq(0..nodes as u32));
            }
        }
    }

    #[test]
    fn a_grid_is_eliminated_with_less_work_than_row_by_row() {
        // Nodes of a cube of 10^3 cells, joined as tetrahedra of its cells join them.
        let n = 11_u32;
        let at = |x: u32, y: u32, z: u32| (x * n + y) * n + z;
        let mut cells: Vec<Vec<u32>> = Vec::new();
        for x in 0..n - 1 {
            for y in 0..n - 1 {
                for z in 0..n - 1 {
                    cells.push(
                        (0..8)
                            .map(|i| at(x + i / 4, y + i / 2 % 2, z + i % 2))
                            .collect(),
                    );
                }
            }
        }
        let patches: Vec<&[u32]> = cells.iter().map(Vec::as_slice).collect();
        let matrix = BlockMatrix::with_pattern((n * n * n) as usize, &patches);
        let positions: Vec<DVec3> = (0..n * n * n)
            .map(|i| DVec3::new(f64::from(i / n / n), f64::from(i / n % n), f64::from(i % n)))
            .collect();
        let order = dissect(&matrix, &positions);
        let natural: Vec<u32> = (0..n * n * n).collect();
        let work = |order: &[u32]| {
            let panels = Panels::new(&matrix, order);
            let products = |p| panels.rows(p).len().pow(2) * panels.width(p);
            (0..panels.count()).map(products).sum::<usize>()
        };
        let (here, by_rows) = (work(&order), work(&natural));
        assert!(3 * here < 2 * by_rows, "{here} of {by_rows}");
    }
}
