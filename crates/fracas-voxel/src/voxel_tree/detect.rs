//! Interruptible detection: two trees, level by level, stopped at any time.
//!
//! Steps: start with the pair of roots -> replace every pair of overlapping cubes
//! by the pairs of their children that overlap -> stop when the finest level, the
//! wanted level or the end of the budget is reached. What is then in hand, cubes of
//! two neighbouring levels at most, is always a usable answer.
//!
//! Source: [Dingliana 2004, sections 2.1 and 3.1].
//! **Deviation**: the paper tests cubes. Here two cubes count as overlapping when the
//! boxes of their voxels do. On the finest level that is the same; a cube of a coarse
//! level is mostly empty (the root of a fragment of 9 x 5 x 3 voxels is 16 to a side),
//! and pairs of fragments that only their roots bring together took most of a crowded
//! frame.
//! **Guarantee**: conservative. A pair of voxels that overlap is never lost, so
//! objects that touch are reported at every level; objects that do not may be
//! reported at coarse ones.
//!
//! Plain shapes (a floor, a ball) have no voxels: cubes are tested against their
//! signed distance by the ball around a cube's content, see [`Solid`].
//!
//! Work is counted in cube-against-cube tests. A budget in tests repeats bit for
//! bit; a deadline asks the clock now and then and need not.

use std::ops::Range;
use std::time::Instant;

use glam::Vec3;

use super::box_test::BoxTest;
use super::tree::VoxTree;
use fracas_geometry::Pose;

/// When to stop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// At most this many cube tests.
    pub tests: Option<u64>,
    /// Not after this instant. Results then depend on the machine's speed.
    pub deadline: Option<Instant>,
    /// Not below this level (0 is the root).
    pub level: Option<u32>,
}

/// Why detection stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The objects do not touch: certain.
    Apart,
    /// The finest level was reached.
    Finest,
    /// The finest level was reached where bodies are deep in each other, and there only.
    Deep,
    /// The wanted level was reached.
    Level,
    /// The budget of tests was spent.
    Tests,
    /// The deadline passed.
    Deadline,
}

/// A pair of cubes that overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubePair {
    /// Level and place of the cube of A.
    pub a: (u32, u32),
    /// Level and place of the cube of B.
    pub b: (u32, u32),
}

/// A plain shape in the frame of a tree: signed distance and outward direction at a
/// point, or nothing where the point is farther off than the second argument.
pub type Solid<'a> = &'a dyn Fn(Vec3, f32) -> Option<(f32, Vec3)>;

/// A floor in the frame of a tree: all below `height` along `normal` is solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Outward, unit.
    pub normal: Vec3,
    /// How far along it the surface is from the origin.
    pub height: f32,
}

impl Plane {
    /// Signed distance and outward direction at a point, as [`Solid`] tells them.
    #[must_use]
    pub fn sample(&self, p: Vec3) -> (f32, Vec3) {
        (self.normal.dot(p) - self.height, self.normal)
    }
}

/// The cube of a plain shape in a [`CubePair`]: it has none.
pub(super) const NO_CUBE: (u32, u32) = (0, u32::MAX);

/// The clock is asked once in this many tests: a test takes about 10 ns, asking 25.
const TESTS_PER_LOOK: u64 = 128;

/// The state of a detection: can be continued with another budget.
#[derive(Clone, Debug)]
pub struct Detection {
    /// Pairs not yet refined, from `next` on.
    current: Vec<CubePair>,
    next: usize,
    /// Refined pairs, one level finer.
    finer: Vec<CubePair>,
    /// Of the pair that is refined, the children of A's cube that meet B's.
    halves: Vec<(u32, u32)>,
    level: u32,
    tests: u64,
    started: bool,
    /// The narrowest gap between boxes that were found apart.
    gap: f32,
}

impl Default for Detection {
    fn default() -> Self {
        Self {
            current: Vec::new(),
            next: 0,
            finer: Vec::new(),
            halves: Vec::new(),
            level: 0,
            tests: 0,
            started: false,
            gap: f32::INFINITY,
        }
    }
}

impl Detection {
    /// Forgets everything but keeps its memory.
    pub fn restart(&mut self) {
        self.current.clear();
        self.finer.clear();
        (self.next, self.level, self.tests, self.started) = (0, 0, 0, false);
        self.gap = f32::INFINITY;
    }

    /// Once [`Stop::Apart`] was said between two trees: a length that the voxels of one
    /// may still move towards the other's without meeting them.
    #[must_use]
    pub fn gap(&self) -> f32 {
        self.gap
    }

    /// Takes what was found deep in both bodies as what is in hand, if there is any.
    pub(super) fn note_deep(&mut self, tests: u64, found: Vec<CubePair>) -> Option<Stop> {
        self.tests += tests;
        if found.is_empty() {
            return None;
        }
        self.finer.clear();
        (self.current, self.next, self.started) = (found, 0, true);
        Some(Stop::Deep)
    }

    /// Cube tests made so far.
    #[must_use]
    pub fn tests(&self) -> u64 {
        self.tests
    }

    /// The level that is complete: every pair in hand is at least as fine.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    /// How many pairs of overlapping cubes are in hand.
    #[must_use]
    pub fn in_hand(&self) -> usize {
        self.finer.len() + self.current.len() - self.next
    }

    /// The overlapping cubes in hand.
    pub fn pairs(&self) -> impl Iterator<Item = &CubePair> {
        self.finer.iter().chain(&self.current[self.next..])
    }

    /// Goes on until something stops it. `b_to_a` places B in A's frame.
    pub fn refine(&mut self, a: &VoxTree, b: &VoxTree, b_to_a: &Pose, budget: &Budget) -> Stop {
        let test = BoxTest::new(b_to_a);
        let root = CubePair {
            a: (0, 0),
            b: (0, 0),
        };
        if a.is_empty() || b.is_empty() {
            return Stop::Apart;
        }
        let stop = self.run(
            budget,
            root,
            |pair| test.overlap(voxels(a, pair.a), voxels(b, pair.b)),
            |p| is_finest(a, p.a) && is_finest(b, p.b),
            |detection, pair| detection.split(a, b, &test, pair),
        );
        self.gap = self.gap.min(test.narrowest());
        stop
    }

    /// As [`Detection::refine`] against a plain shape, told in A's frame. Cubes whose
    /// content may be nearer than `reach` count as overlapping.
    pub fn refine_against(
        &mut self,
        a: &VoxTree,
        solid: Solid<'_>,
        reach: f32,
        budget: &Budget,
    ) -> Stop {
        let near = |pair: &CubePair| {
            let (low, high) = node(a, pair.a).content;
            // The ball around the content, enlarged by rounding.
            let radius = 0.5 * (high - low).length() * (1.0 + 2e-6) + reach;
            solid(0.5 * (low + high), radius).is_some_and(|(distance, _)| distance <= radius)
        };
        self.refine_cubes(a, near, budget)
    }

    /// As [`Detection::refine_against`] a floor: by the box of a cube's content rather than
    /// the ball around it, so that only cubes that reach the floor are left.
    pub fn refine_against_plane(
        &mut self,
        a: &VoxTree,
        plane: &Plane,
        reach: f32,
        budget: &Budget,
    ) -> Stop {
        let across = plane.normal.abs();
        let near = |pair: &CubePair| {
            let (low, high) = node(a, pair.a).content;
            let along = 0.5 * (low + high).dot(plane.normal);
            let half = 0.5 * (high - low).dot(across);
            let rounding = 2e-6 * (along.abs() + half + plane.height.abs());
            along - plane.height - half <= reach + rounding
        };
        self.refine_cubes(a, near, budget)
    }

    /// The cubes of one tree that are near to something.
    fn refine_cubes(
        &mut self,
        a: &VoxTree,
        near: impl Fn(&CubePair) -> bool,
        budget: &Budget,
    ) -> Stop {
        if a.is_empty() {
            return Stop::Apart;
        }
        let root = CubePair {
            a: (0, 0),
            b: NO_CUBE,
        };
        self.run(
            budget,
            root,
            &near,
            |p| is_finest(a, p.a),
            |detection, pair| {
                let (level, nodes) = finer(a, pair.a);
                for node in nodes {
                    let next = CubePair {
                        a: (level, node),
                        ..pair
                    };
                    detection.tests += 1;
                    if near(&next) {
                        detection.finer.push(next);
                    }
                }
            },
        )
    }

    /// The levels, one after the other, whatever is tested.
    fn run(
        &mut self,
        budget: &Budget,
        root: CubePair,
        overlap: impl Fn(&CubePair) -> bool,
        finest: impl Fn(&CubePair) -> bool,
        mut split: impl FnMut(&mut Self, CubePair),
    ) -> Stop {
        let limit = budget
            .tests
            .map_or(u64::MAX, |t| self.tests.saturating_add(t));
        if !self.started {
            self.started = true;
            self.tests += 1;
            if overlap(&root) {
                self.current.push(root);
            }
        }
        let mut look = self.tests + TESTS_PER_LOOK;
        loop {
            if self.next == self.current.len() {
                if !self.current.is_empty() && !self.finer.is_empty() {
                    self.level += 1;
                }
                std::mem::swap(&mut self.current, &mut self.finer);
                self.finer.clear();
                self.next = 0;
                if self.current.is_empty() {
                    return Stop::Apart;
                }
            }
            if self.next == 0 && self.current.iter().all(&finest) {
                return Stop::Finest;
            }
            if budget.level.is_some_and(|level| self.level >= level) {
                return Stop::Level;
            }
            // Between pairs only: a pair is refined wholly or not at all.
            if self.tests >= limit {
                return Stop::Tests;
            }
            if self.tests >= look && budget.deadline.is_some() {
                look = self.tests + TESTS_PER_LOOK;
                if budget
                    .deadline
                    .is_some_and(|deadline| Instant::now() >= deadline)
                {
                    return Stop::Deadline;
                }
            }
            let pair = self.current[self.next];
            self.next += 1;
            split(self, pair);
        }
    }

    fn split(&mut self, a: &VoxTree, b: &VoxTree, test: &BoxTest, pair: CubePair) {
        let ((level_a, of_a), (level_b, of_b)) = (finer(a, pair.a), finer(b, pair.b));
        let of_a = of_a.map(|node| (level_a, node));
        let of_b = of_b.map(|node| (level_b, node));
        self.halves.clear();
        if is_finest(a, pair.a) || is_finest(b, pair.b) {
            self.halves.extend(of_a);
        } else {
            // A child that misses the other cube misses all of its children.
            let other = voxels(b, pair.b);
            self.tests += of_a.len() as u64;
            let children = of_a.map(|child| (voxels(a, child), other, child));
            test.each_overlap(children, |child, _| self.halves.push(child));
        }
        self.tests += (self.halves.len() * of_b.len()) as u64;
        let halves = self.halves.iter();
        let pairs =
            halves.flat_map(|&one| of_b.clone().map(move |two| CubePair { a: one, b: two }));
        test.each_overlap(
            pairs.map(|pair| (voxels(a, pair.a), voxels(b, pair.b), pair)),
            |pair, _| self.finer.push(pair),
        );
    }
}

fn node(tree: &VoxTree, at: (u32, u32)) -> &super::node::Node {
    &tree.levels()[at.0 as usize].nodes[at.1 as usize]
}

pub(super) fn voxels(tree: &VoxTree, at: (u32, u32)) -> (Vec3, Vec3) {
    tree.levels()[at.0 as usize].extents[at.1 as usize].voxels
}

pub(super) fn is_finest(tree: &VoxTree, at: (u32, u32)) -> bool {
    at.0 as usize + 1 == tree.levels().len()
}

/// The children of a cube, or the cube itself on the finest level: their level and places.
pub(super) fn finer(tree: &VoxTree, at: (u32, u32)) -> (u32, Range<u32>) {
    if is_finest(tree, at) {
        (at.0, at.1..at.1 + 1)
    } else {
        (at.0 + 1, tree.children(at.0 as usize, at.1))
    }
}

/// A length that the voxels of one tree may move towards the other's without meeting
/// them, by the boxes around all of them: what is cheap enough to ask of every pair. Not
/// above zero if these overlap. `b_to_a` places B in A's frame.
#[must_use]
pub fn roots_gap(a: &VoxTree, b: &VoxTree, b_to_a: &Pose) -> f32 {
    let root = |tree: &VoxTree| tree.levels()[0].extents.first().map(|root| root.voxels);
    let (Some(a), Some(b)) = (root(a), root(b)) else {
        return f32::INFINITY;
    };
    BoxTest::new(b_to_a).gap_between(a, b)
}

#[cfg(test)]
mod tests {
    use glam::Mat3;

    use super::*;
    use crate::voxel_tree::VoxelGrid;
    use fracas_geometry::testing::{Rng, box_grid};

    fn tree(size: Vec3, cell: f32) -> VoxTree {
        let mesh = box_grid([1, 1, 1], size);
        let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        VoxTree::build(
            &VoxelGrid::from_surface(mesh.positions(), &triangles, cell).unwrap(),
            2,
        )
    }

    fn random_pose(rng: &mut Rng, reach: f32) -> Pose {
        let axis = rng.direction();
        let rotation = Mat3::from_axis_angle(axis, rng.range(0.0, 6.0));
        Pose {
            rotation,
            translation: rng.direction() * rng.range(0.0, reach),
        }
    }

    /// The certain answer: all fifteen axes in f64, no shortcut.
    fn overlap_by_axes(pose: &Pose, offset: Vec3, ha: Vec3, hb: Vec3) -> (bool, f64) {
        let b: Vec<glam::DVec3> = [
            pose.rotation.x_axis,
            pose.rotation.y_axis,
            pose.rotation.z_axis,
        ]
        .map(|v| v.as_dvec3())
        .to_vec();
        let a = glam::DVec3::AXES;
        let mut axes: Vec<glam::DVec3> = a.into_iter().chain(b.iter().copied()).collect();
        axes.extend(a.iter().flat_map(|u| b.iter().map(move |v| u.cross(*v))));
        let mut widest_gap = f64::NEG_INFINITY;
        for axis in axes
            .into_iter()
            .filter(|x| x.length() > 1e-4)
            .map(|x| x.normalize())
        {
            let of_a = (0..3).map(|i| a[i].dot(axis).abs() * f64::from(ha[i]));
            let of_b = (0..3).map(|i| b[i].dot(axis).abs() * f64::from(hb[i]));
            let reach: f64 = of_a.chain(of_b).sum();
            widest_gap = widest_gap.max(offset.as_dvec3().dot(axis).abs() - reach);
        }
        (widest_gap <= 0.0, widest_gap)
    }

    #[test]
    fn boxes_overlap_as_fifteen_axes_say() {
        let mut rng = Rng(1);
        let (mut touching, mut apart) = (0, 0);
        for _ in 0..20_000 {
            let pose = random_pose(&mut rng, 1.0);
            let mut half = || Vec3::from([(); 3].map(|()| rng.range(0.1, 0.6)));
            let (ha, hb) = (half(), half());
            let offset = rng.direction() * rng.range(0.0, 1.1 * (ha.length() + hb.length()));
            let (truth, gap) = overlap_by_axes(&pose, offset, ha, hb);
            if gap.abs() < 1e-5 {
                continue;
            }
            let found = BoxTest::new(&pose).gap(offset, ha, hb);
            assert_eq!(found <= 0.0, truth, "gap {gap}");

            if truth { touching += 1 } else { apart += 1 }
        }
        assert!(touching > 3000 && apart > 3000);
    }

    #[test]
    fn the_finest_level_is_exactly_the_overlapping_voxels() {
        let (a, b) = (
            tree(Vec3::new(1.0, 0.5, 0.4), 0.11),
            tree(Vec3::splat(0.5), 0.13),
        );
        let mut rng = Rng(2);
        for _ in 0..40 {
            let pose = random_pose(&mut rng, 0.9);
            let mut detection = Detection::default();
            let stop = detection.refine(&a, &b, &pose, &Budget::default());
            let (la, lb) = (a.levels().len() as u32 - 1, b.levels().len() as u32 - 1);
            let test = BoxTest::new(&pose);
            let mut expected = Vec::new();
            for i in 0..a.levels()[la as usize].nodes.len() as u32 {
                for j in 0..b.levels()[lb as usize].nodes.len() as u32 {
                    let pair = CubePair {
                        a: (la, i),
                        b: (lb, j),
                    };
                    if test.overlap(voxels(&a, pair.a), voxels(&b, pair.b)) {
                        expected.push(pair);
                    }
                }
            }
            let mut found: Vec<CubePair> = detection.pairs().copied().collect();
            found.sort_unstable_by_key(|p| (p.a, p.b));
            assert_eq!(found, expected);
            assert_eq!(detection.in_hand(), expected.len());
            assert!(expected.is_empty() || roots_gap(&a, &b, &pose) <= 0.0);
            assert_eq!(
                stop,
                if expected.is_empty() {
                    Stop::Apart
                } else {
                    Stop::Finest
                }
            );
        }
    }

    #[test]
    fn trees_apart_stay_apart_when_moved_by_less_than_the_gap() {
        let (a, b) = (
            tree(Vec3::new(1.0, 0.5, 0.4), 0.11),
            tree(Vec3::splat(0.5), 0.13),
        );
        let mut rng = Rng(3);
        let (mut apart, mut widest) = (0, 0.0_f32);
        for _ in 0..300 {
            let pose = random_pose(&mut rng, 1.3);
            let mut detection = Detection::default();
            if detection.refine(&a, &b, &pose, &Budget::default()) != Stop::Apart {
                continue;
            }
            let gap = detection.gap();
            apart += 1;
            widest = widest.max(gap);
            assert!(gap > 0.0);
            for _ in 0..4 {
                let moved = Pose {
                    translation: pose.translation + rng.direction() * (0.999 * gap),
                    ..pose
                };
                detection.restart();
                let stop = detection.refine(&a, &b, &moved, &Budget::default());
                assert_eq!(stop, Stop::Apart, "gap {gap}");
            }
        }
        assert!(apart > 50 && widest > 0.1, "{apart} {widest}");
    }

    #[test]
    fn stopping_and_going_on_ends_where_one_run_ends() {
        let (a, b) = (tree(Vec3::ONE, 0.09), tree(Vec3::ONE, 0.1));
        let pose = Pose {
            rotation: Mat3::from_rotation_y(0.3),
            translation: Vec3::new(0.8, 0.1, 0.2),
        };
        let mut whole = Detection::default();
        assert_eq!(
            whole.refine(&a, &b, &pose, &Budget::default()),
            Stop::Finest
        );
        let mut parts = Detection::default();
        let mut stops = 0;
        while parts.refine(
            &a,
            &b,
            &pose,
            &Budget {
                tests: Some(500),
                ..Budget::default()
            },
        ) == Stop::Tests
        {
            assert!(
                parts.pairs().next().is_some(),
                "an interrupted answer must be usable"
            );
            stops += 1;
        }
        assert!(stops > 3);
        let sorted = |d: &Detection| {
            let mut pairs: Vec<CubePair> = d.pairs().copied().collect();
            pairs.sort_unstable_by_key(|p| (p.a, p.b));
            pairs
        };
        assert_eq!(sorted(&parts), sorted(&whole));
        assert_eq!(parts.tests(), whole.tests());
    }

    #[test]
    fn a_level_stops_there_and_says_so() {
        let (a, b) = (tree(Vec3::ONE, 0.06), tree(Vec3::ONE, 0.06));
        let pose = Pose {
            rotation: Mat3::IDENTITY,
            translation: Vec3::X * 0.9,
        };
        for level in 0..4 {
            let mut detection = Detection::default();
            let stop = detection.refine(
                &a,
                &b,
                &pose,
                &Budget {
                    level: Some(level),
                    ..Budget::default()
                },
            );
            assert_eq!((stop, detection.level()), (Stop::Level, level));
            assert!(detection.pairs().all(|p| p.a.0 == level && p.b.0 == level));
        }
    }

    #[test]
    fn against_a_floor_boxes_leave_exactly_the_voxels_whose_content_reaches_it() {
        let a = tree(Vec3::new(0.6, 0.4, 0.3), 0.05);
        let finest = a.levels().len() as u32 - 1;
        let mut rng = Rng(41);
        for _ in 0..300 {
            let plane = Plane {
                normal: rng.direction(),
                height: rng.range(-0.4, 0.8),
            };
            let reach = rng.range(0.0, 0.03);
            let mut detection = Detection::default();
            let stop = detection.refine_against_plane(&a, &plane, reach, &Budget::default());
            let mut found: Vec<u32> = detection.pairs().map(|p| p.a.1).collect();
            found.sort_unstable();
            // The lowest corner of the content, for all voxels.
            let level = &a.levels()[finest as usize];
            let lowest = |content: (Vec3, Vec3)| {
                let up = plane.normal.cmpgt(Vec3::ZERO);
                let corner = Vec3::select(up, content.0, content.1);
                plane.sample(corner).0
            };
            let heights: Vec<f32> = level.nodes.iter().map(|n| lowest(n.content)).collect();
            for (i, height) in heights.iter().enumerate() {
                let is_found = found.binary_search(&(i as u32)).is_ok();
                if (height - reach).abs() > 1e-5 {
                    assert_eq!(is_found, *height < reach, "voxel {i} at {height}");
                }
            }
            assert_eq!(stop == Stop::Apart, found.is_empty());
        }
    }
}
