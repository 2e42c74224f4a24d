//! Walking the tree against itself [Heo 2010, §3.1], on one thread or many.
//!
//! A node against itself: nothing when it is culled, else its children against
//! themselves and against one another. Two nodes: if their boxes overlap, the
//! larger is opened; two leaves hand their pairs of triangles to the test.
//!
//! The walk is cut into tasks near the root, in a fixed way; tasks run in any order
//! on any number of threads, each into its own buffer; results are sorted by ids.
//! So the output depends neither on the number of threads nor on the tree.

use super::tree::{Bounds, CULLED, MovingBounds, Tree};

/// A pair of nodes; the same twice: the node against itself. With [`UNCERTAIN`] in
/// place of the first: a chunk of the uncertain pairs.
pub(crate) type Task = (u32, u32);
/// Not a node.
pub(crate) const UNCERTAIN: u32 = u32::MAX;
/// Uncertain pairs in a task.
const CHUNK: usize = 2048;
/// How many tasks to cut the walk into, about.
const TASKS: usize = 256;

/// What a walk looks for.
pub(crate) trait Look: Copy + Sync {
    /// Whether what cannot touch itself may be left out.
    const CULLS: bool;
    fn boxes_meet(self, a: &Bounds, b: &Bounds) -> bool;
    fn triangles_meet(self, a: &MovingBounds, b: &MovingBounds) -> bool;
}

/// Pairs that may touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touching;

impl Look for Touching {
    const CULLS: bool = true;

    #[inline]
    fn boxes_meet(self, a: &Bounds, b: &Bounds) -> bool {
        a.overlaps(b)
    }

    #[inline]
    fn triangles_meet(self, a: &MovingBounds, b: &MovingBounds) -> bool {
        a.may_meet(b)
    }
}

/// Pairs that may come nearer than this.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearer(pub(crate) f32);

impl Look for Nearer {
    const CULLS: bool = false;

    #[inline]
    fn boxes_meet(self, a: &Bounds, b: &Bounds) -> bool {
        a.widened(self.0).overlaps(b)
    }

    #[inline]
    fn triangles_meet(self, a: &MovingBounds, b: &MovingBounds) -> bool {
        a.widened(self.0).may_meet(b)
    }
}

/// Counters of one query, in the order of the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryStats {
    /// Box against box, nodes and triangles.
    pub overlap_tests: u64,
    /// Pairs of triangles whose boxes overlap.
    pub triangle_pairs: u64,
    /// Of these, neighbours that a cheap proof cleared.
    pub cleared_neighbours: u64,
    /// Elementary tests: triangle-triangle, or vertex-face and edge-edge.
    pub elementary_tests: u64,
    /// Elementary tests that the non-penetration filter ended.
    pub filtered: u64,
    /// What was reported.
    pub hits: u64,
}

impl QueryStats {
    /// Share of the elementary tests that found nothing.
    #[must_use]
    pub fn false_positive_share(&self) -> f64 {
        if self.elementary_tests == 0 {
            return 0.0;
        }
        1.0 - self.hits as f64 / self.elementary_tests as f64
    }

    pub(crate) fn add(&mut self, o: &Self) {
        self.overlap_tests += o.overlap_tests;
        self.triangle_pairs += o.triangle_pairs;
        self.cleared_neighbours += o.cleared_neighbours;
        self.elementary_tests += o.elementary_tests;
        self.filtered += o.filtered;
        self.hits += o.hits;
    }
}

/// Receives pairs of triangles (places) whose boxes overlap.
pub(crate) trait PairTest {
    fn pair(&mut self, tree: &Tree, i: usize, j: usize, stats: &mut QueryStats);
}

/// Reused stacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct WalkScratch {
    pub(crate) tasks: Vec<Task>,
    next: Vec<Task>,
}

impl Tree {
    /// Cuts the walk of the root against itself into tasks.
    pub(crate) fn tasks<L: Look>(
        &self,
        look: L,
        scratch: &mut WalkScratch,
        stats: &mut QueryStats,
    ) {
        let WalkScratch { tasks, next } = scratch;
        tasks.clear();
        if self.nodes.is_empty() {
            return;
        }
        tasks.push((0, 0));
        loop {
            next.clear();
            let mut opened = false;
            for &task in tasks.iter() {
                opened |= self.open(look, task, next, stats);
            }
            std::mem::swap(tasks, next);
            if !opened || tasks.len() >= TASKS {
                break;
            }
        }
        if L::CULLS {
            let chunks = self.uncertain.len().div_ceil(CHUNK) as u32;
            tasks.extend((0..chunks).map(|c| (UNCERTAIN, c)));
        }
    }

    /// Tests a chunk of the uncertain pairs.
    fn test_uncertain(&self, chunk: u32, test: &mut impl PairTest, stats: &mut QueryStats) {
        let from = chunk as usize * CHUNK;
        let to = self.uncertain.len().min(from + CHUNK);
        for [i, j] in self.uncertain[from..to]
            .iter()
            .map(|p| p.map(|p| p as usize))
        {
            stats.overlap_tests += 1;
            if self.boxes[i].may_meet(&self.boxes[j]) {
                stats.triangle_pairs += 1;
                test.pair(self, i, j, stats);
            }
        }
    }

    /// Replaces a task by smaller ones; keeps it if it is one of leaves. Pairs are
    /// pushed only if their boxes overlap.
    #[inline]
    fn open<L: Look>(
        &self,
        look: L,
        (a, b): Task,
        out: &mut Vec<Task>,
        stats: &mut QueryStats,
    ) -> bool {
        let node = &self.nodes[a as usize];
        if a == b {
            if L::CULLS && self.info[a as usize].flags & CULLED != 0 {
                return false;
            }
            if node.is_leaf() {
                out.push((a, b));
                return false;
            }
            let (l, r) = (a + 1, node.link());
            out.push((l, l));
            out.push((r, r));
            stats.overlap_tests += 1;
            let [left, right] = [l, r].map(|n| self.nodes[n as usize].bounds());
            if look.boxes_meet(&left, &right) {
                out.push((l, r));
            }
            return true;
        }
        let other = &self.nodes[b as usize];
        let (opened, kept) = match (node.is_leaf(), other.is_leaf()) {
            (true, true) => {
                out.push((a, b));
                return false;
            }
            (true, false) => (b, a),
            (false, true) => (a, b),
            (false, false) if node.bounds().extent_sum() >= other.bounds().extent_sum() => (a, b),
            (false, false) => (b, a),
        };
        let against = &self.nodes[kept as usize].bounds();
        let (l, r) = (opened + 1, self.nodes[opened as usize].link());
        stats.overlap_tests += 2;
        for child in [l, r] {
            if look.boxes_meet(&self.nodes[child as usize].bounds(), against) {
                out.push((child, kept));
            }
        }
        true
    }

    /// Works a task off.
    pub(crate) fn walk<L: Look>(
        &self,
        look: L,
        task: Task,
        stack: &mut Vec<Task>,
        test: &mut impl PairTest,
        stats: &mut QueryStats,
    ) {
        if task.0 == UNCERTAIN {
            return self.test_uncertain(task.1, test, stats);
        }
        stack.clear();
        stack.push(task);
        while let Some((a, b)) = stack.pop() {
            let (node, other) = (&self.nodes[a as usize], &self.nodes[b as usize]);
            if !(node.is_leaf() && other.is_leaf()) {
                self.open(look, (a, b), stack, stats);
                continue;
            }
            let (first, end) = (
                node.link() as usize,
                (node.link() + node.leaf_count()) as usize,
            );
            if a == b {
                if L::CULLS && self.info[a as usize].flags & CULLED != 0 {
                    continue;
                }
                for i in first..end {
                    for j in i + 1..end {
                        stats.overlap_tests += 1;
                        if look.triangles_meet(&self.boxes[i], &self.boxes[j]) {
                            stats.triangle_pairs += 1;
                            test.pair(self, i, j, stats);
                        }
                    }
                }
                continue;
            }
            let (other_first, other_end) = (
                other.link() as usize,
                (other.link() + other.leaf_count()) as usize,
            );
            for i in first..end {
                stats.overlap_tests += 1;
                if !look.boxes_meet(&self.boxes[i].swept(), &other.bounds()) {
                    continue;
                }
                for j in other_first..other_end {
                    stats.overlap_tests += 1;
                    if look.triangles_meet(&self.boxes[i], &self.boxes[j]) {
                        stats.triangle_pairs += 1;
                        test.pair(self, i, j, stats);
                    }
                }
            }
        }
    }
}

/// One thread's or task's output and stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskBuffer<T> {
    pub(crate) out: T,
    pub(crate) stack: Vec<Task>,
    pub(crate) stats: QueryStats,
}

/// Runs all tasks: each into a buffer of its own when `parallel`, else all into the
/// first. Returns how many buffers were used.
pub(crate) fn run_tasks<T: Default + Send>(
    (tree, look): (&Tree, impl Look),
    walk: &mut WalkScratch,
    buffers: &mut Vec<TaskBuffer<T>>,
    parallel: bool,
    work: impl Fn(Task, &mut TaskBuffer<T>) + Sync,
) -> (usize, QueryStats) {
    let mut stats = QueryStats::default();
    tree.tasks(look, walk, &mut stats);
    let wanted = if parallel { walk.tasks.len() } else { 1 };
    if buffers.len() < wanted {
        buffers.resize_with(wanted, TaskBuffer::default);
    }
    for buffer in &mut buffers[..wanted] {
        buffer.stats = QueryStats::default();
    }
    #[cfg(feature = "parallel")]
    if parallel {
        use rayon::prelude::*;
        buffers[..wanted]
            .par_iter_mut()
            .zip(&walk.tasks)
            // One at a time: rayon hands out a few long runs of tasks else, and most of the
            // work may lie in one of them.
            .with_max_len(1)
            .for_each(|(buffer, &task)| work(task, buffer));
    }
    if !(parallel && cfg!(feature = "parallel")) {
        for (i, &task) in walk.tasks.iter().enumerate() {
            work(task, &mut buffers[if parallel { i } else { 0 }]);
        }
    }
    for buffer in &buffers[..wanted] {
        stats.add(&buffer.stats);
    }
    (wanted, stats)
}
