//! Glondu 2013, section 7.2: a sphere that breaks and falls apart.

use fracas_conformance::broken::Broken;
use fracas_core::sphere_tree::{AdaptiveSettings, Hull, QueryStats, SeparatingAxis};
use fracas_core::testing::Rng;
use fracas_core::{FragmentId, Pose};
use fracas_scenes::experiments::ball::ball;

use super::{Memory, Mode, Pairs, TOLERANCE, best_cpu_ms, near_pairs, work};
use crate::board::{Board, Measured, Target};

/// How much of what the engine's pairs do is done for those of section 7.2.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Every pair is searched.
    SearchAlone,
    /// Pairs that lie where they were born take their contacts from the cut.
    NewbornFirst,
    /// And pairs with a plane between them are not asked at all.
    AsWorld,
}

/// Whether a plane within the tolerance lies between two fragments that have moved since
/// they were born.
fn is_apart(
    object: &Broken,
    (a, b): (FragmentId, FragmentId),
    poses: &[Pose],
    axis: &mut SeparatingAxis,
) -> bool {
    let pose = poses[a.0 as usize].relative_to(&poses[b.0 as usize]);
    let [first, second] = [a, b].map(|id| Hull {
        tree: object.trees[id.0 as usize]
            .as_ref()
            .expect("a living fragment"),
        others: object.distance(id).junctions(),
    });
    if first
        .tree
        .is_where_born(&pose, &AdaptiveSettings::default())
    {
        return false;
    }
    let reach = TOLERANCE * first.tree.object_radius();
    axis.gap(&pose, first, second, reach) >= reach
}

/// The broken sphere, and where its pieces are in each step.
struct Run {
    object: Broken,
    steps: Vec<Vec<Pose>>,
    /// All pairs of pieces.
    all: Vec<(FragmentId, FragmentId)>,
}

impl Run {
    fn new() -> Self {
        let mut object = Broken::new(ball(2500, 4000));
        object.break_into(FragmentId(0), 12, &mut Rng(5));
        // 20 steps in the original pose, 40 that part the pieces with the acceleration of
        // gravity at 60 steps per second, the ball's radius being 1 m.
        let steps: Vec<Vec<Pose>> = (0..60_i32)
            .map(|k| part(&object, 0.00136 * ((k - 20).max(0) as f32).powi(2)))
            .collect();
        let living = object.living();
        let all: Vec<(FragmentId, FragmentId)> = living
            .iter()
            .enumerate()
            .flat_map(|(i, &a)| living[i + 1..].iter().map(move |&b| (a, b)))
            .collect();
        Self { object, steps, all }
    }

    /// The best time of each step of five runs, and the work of one.
    fn time(&self, way: Way, memory: &mut Memory) -> (Vec<f64>, QueryStats) {
        let object = &self.object;
        let mut best = vec![f64::INFINITY; self.steps.len()];
        let mut stats = QueryStats::default();
        for _ in 0..5 {
            stats = QueryStats::default();
            let mut known: Vec<Option<(Pairs, SeparatingAxis)>> = vec![None; self.all.len()];
            for (poses, best) in self.steps.iter().zip(&mut best) {
                let near = near_pairs(object, poses);
                // What a broad phase does: a pair that is no longer near is forgotten.
                for (ids, pair) in self.all.iter().zip(&mut known) {
                    if !near.contains(ids) {
                        *pair = None;
                    } else if pair.is_none() {
                        *pair = Some((Pairs::new(vec![*ids]), SeparatingAxis::default()));
                    }
                }
                let (ms, ()) = best_cpu_ms(1, || {
                    for (pair, axis) in known.iter_mut().flatten() {
                        if way == Way::AsWorld && is_apart(object, pair.ids[0], poses, axis) {
                            continue;
                        }
                        let mode = match way {
                            Way::SearchAlone => Mode::Adaptive,
                            Way::NewbornFirst | Way::AsWorld => Mode::NewbornFirst,
                        };
                        stats.add(&pair.query(object, &object.trees, poses, mode, memory));
                    }
                });
                *best = best.min(ms);
            }
        }
        (best, stats)
    }
}

/// Moves the pieces away from the middle.
fn part(object: &Broken, outward: f32) -> Vec<Pose> {
    let centre = |id: FragmentId| {
        let (low, high) = object.field.bounds(id);
        0.5 * (low + high)
    };
    (0..object.trees.len() as u32)
        .map(|id| match object.trees[id as usize] {
            Some(_) => Pose::translation(centre(FragmentId(id)) * outward),
            None => Pose::IDENTITY,
        })
        .collect()
}

/// The sphere breaks, stays as it is for a while, and falls apart: as in the paper's
/// run, what is measured is a sequence of steps, over which pairs keep their memory.
pub(super) fn rows(board: &mut Board) {
    if !board.wants_group("sphere-tree/section-7.2-sphere") {
        return;
    }
    let run = Run::new();
    let mut memory = Memory::default();
    for (name, way) in [
        ("queries", Way::SearchAlone),
        ("queries-newborn-first", Way::NewbornFirst),
        ("queries-as-world", Way::AsWorld),
    ] {
        let (best, stats) = run.time(way, &mut memory);
        let mean = |ms: &[f64]| ms.iter().sum::<f64>() / ms.len() as f64;
        let largest = best.iter().copied().fold(0.0, f64::max);
        board.row(
            &format!("sphere-tree/section-7.2-sphere-{name}"),
            "ms",
            Target::AtMost(1.16 / 3.0),
            || {
                Measured::new(mean(&best))
                    .against("Glondu 2013, 7.2, i7-2600", "2013", 1.16)
                    .note(format!(
                        "all pairs of 12 fragments, mean of 60 steps: first {:.3}, rest of the 20 in place {:.3}, 40 that part {:.3}; sums over the run: {}",
                        best[0],
                        mean(&best[1..20]),
                        mean(&best[20..]),
                        work(&stats)
                    ))
            },
        );
        board.row(
            &format!("sphere-tree/section-7.2-sphere-{name}-largest"),
            "ms",
            Target::None,
            || Measured::new(largest).against("Glondu 2013, 7.2, i7-2600", "2013", 3.27),
        );
    }
    // Without any memory: the worst that each moment after the break can cost.
    let moments = [0.0, 0.002, 0.005, 0.01, 0.02, 0.05];
    let mut total = 0.0;
    let mut stats = QueryStats::default();
    for &outward in &moments {
        let poses = part(&run.object, outward);
        let pairs = Pairs::new(near_pairs(&run.object, &poses));
        let mode = Mode::Adaptive;
        let (ms, done) = pairs.time(5, &run.object, &run.object.trees, &poses, mode, &mut memory);
        total += ms / moments.len() as f64;
        stats.add(&done);
    }
    board.row(
        "sphere-tree/section-7.2-sphere-first-frames",
        "ms",
        Target::None,
        || {
            Measured::new(total).note(format!(
                "new pairs at 6 moments after the break; {}",
                work(&stats)
            ))
        },
    );
}
