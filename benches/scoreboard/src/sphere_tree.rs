//! The fracturable sphere tree and the contact query (Glondu 2013, sections 3, 5
//! and 6): ordering, spread, update and query times, beside parry3d's shapes of the
//! same fragments.
//!
//! Times are CPU times of one thread (wall time where the system does not tell), the
//! best of several runs: other work on the machine disturbs them least. A pair's time
//! is that of both directions.

mod kept;

use std::time::{Duration, Instant};

use fracas_conformance::broken::{Broken, cells};
use fracas_conformance::data::find;
use fracas_core::sphere_tree::maximum_distance_order;
use fracas_core::sphere_tree::{
    AdaptiveSettings, BuildOptions, HalfSpace, Hull, KeepPoints, NormalSettings, PairState, Query,
    QueryScratch, QueryStats, Question, Selection, SeparatingAxis, SplitMethod, SplitScratch,
    Traversal,
};
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{
    Contact, FragmentDistance, FragmentId, FragmentSurface, Pose, SphereTree, SurfaceScratch,
    TetMesh,
};
use fracas_scenes::experiments::ball::ball;
use fracas_scenes::experiments::rivals::{Rival, RivalPair, VERSION};
use glam::Vec3;
use parry3d::shape::SharedShape;

use crate::board::{Board, Measured, Target, growth_exponent};

/// Contacts nearer than this share of the object's radius are wanted: the small
/// positive tolerance that fresh fragments need (section 5.2).
const TOLERANCE: f32 = 0.001;

/// Rows of the sphere tree.
pub fn rows(board: &mut Board) {
    if !board.wants_group("sphere-tree/") {
        return;
    }
    ordering(board);
    spread(board);
    section_7_2(board);
    let Some(path) = find("tet/ipc_bunny.msh") else {
        board.skip("sphere-tree/bunny", "tet/ipc_bunny.msh is not there");
        return;
    };
    let (mesh, _) = fracas_bake::read::read_tet_mesh(path).expect("a readable mesh");
    bunny_pair(board, &mesh);
    fresh_bunny(board, &mesh);
}

/// CPU time of this thread.
fn cpu_time() -> Option<Duration> {
    // The kernel brings its count up to date when the thread gives way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

/// Best CPU time of `runs`, in milliseconds, and the last result.
fn best_cpu_ms<T>(runs: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..runs.max(1) {
        let (wall, cpu) = (Instant::now(), cpu_time());
        result = Some(std::hint::black_box(work()));
        let spent = match (cpu, cpu_time()) {
            (Some(start), Some(end)) => end.saturating_sub(start),
            _ => wall.elapsed(),
        };
        best = best.min(spent.as_secs_f64() * 1e3);
    }
    (best, result.expect("at least one run"))
}

fn ordering(board: &mut Board) {
    let mut rng = Rng(1);
    let points: Vec<Vec3> = (0..100_000).map(|_| rng.direction()).collect();
    let mut covering = 0.0;
    board.row(
        "sphere-tree/order-100k-points",
        "s",
        Target::AtMost(5.0),
        || {
            let (ms, order) = best_cpu_ms(1, || maximum_distance_order(&points));
            let curve: Vec<(f64, f64)> = (3..=12)
                .map(|k| ((1 << k) as f64, f64::from(order.gaps[1 << k])))
                .collect();
            covering = growth_exponent(&curve);
            Measured::new(ms / 1e3).note("on a sphere, the worst case for the furthest pair")
        },
    );
    board.row(
        "sphere-tree/covering-exponent",
        "exponent",
        Target::Between(-0.53, -0.47),
        || Measured::new(covering).note("covering radius of the first m = 8 .. 4096 of 100,000"),
    );
}

/// Mean distance of each contact to the nearest other.
fn spacing(contacts: &[Contact]) -> f32 {
    let nearest = |c: &Contact| {
        let others = contacts.iter().filter(|d| d.feature != c.feature);
        others
            .map(|d| d.point.distance(c.point))
            .fold(f32::INFINITY, f32::min)
    };
    contacts.iter().map(nearest).sum::<f32>() / contacts.len() as f32
}

fn spread(board: &mut Board) {
    let mesh = box_grid([30, 2, 30], Vec3::new(2.0, 0.1, 2.0));
    let floor = HalfSpace::new(Vec3::Y, 0.0);
    let whole = SphereTree::build(&mesh, &BuildOptions::default()).expect("no samples asked");
    let first = |tree: &SphereTree, traversal| {
        let mut query = Query::new(0.01, tree.object_radius()).select(Selection::First(8));
        query.traversal = traversal;
        query.normals = NormalSettings::field();
        let mut out = Vec::new();
        tree.contacts(
            &Pose::IDENTITY,
            &floor,
            &query,
            &mut QueryScratch::default(),
            &mut out,
        );
        (out.len() == 8).then(|| f64::from(spacing(&out)))
    };
    board.row(
        "sphere-tree/spread-plate-first-8",
        "ratio",
        Target::AtLeast(1.02),
        || {
            let [ours, paper, naive] = [
                Traversal::WidestFirst,
                Traversal::Alternating,
                Traversal::Naive,
            ]
            .map(|t| first(&whole, t).unwrap_or(f64::NAN));
            Measured::new(ours / naive).note(format!(
                "whole plate on a floor; mean spacing {ours:.3}, alternating (5.3) {paper:.3}, plain queue {naive:.3}"
            ))
        },
    );
    board.row(
        "sphere-tree/spread-plate-fragments-first-8",
        "ratio",
        Target::AtLeast(1.05),
        || {
            let mut sums = [0.0; 4];
            for seed in 0..6 {
                let mut fragments = fracas_core::Fragments::new(std::sync::Arc::new(mesh.clone()));
                let fracture = cells(&fragments, FragmentId(0), 9, &mut Rng(seed)).expect("cells");
                let split = fragments.apply(&fracture).expect("a valid fracture");
                let mut scratch = SplitScratch::default();
                let [good, bad] = [SplitMethod::MaximumDistance, SplitMethod::Naive]
                    .map(|how| whole.apply(&fragments, &split, how, &mut scratch));
                for (good, bad) in good.iter().zip(&bad) {
                    let four = [
                        first(good, Traversal::WidestFirst),
                        first(good, Traversal::Alternating),
                        first(bad, Traversal::Naive),
                        first(&good.rebuilt(KeepPoints::Surface), Traversal::WidestFirst),
                    ];
                    if let [Some(a), Some(b), Some(c), Some(d)] = four {
                        sums = [sums[0] + a, sums[1] + b, sums[2] + c, sums[3] + d];
                    }
                }
            }
            let [ours, paper, naive, rebuilt] = sums;
            Measured::new(ours / naive).note(format!(
                "against naive tree and queue; alternating {:.3}, tree rebuilt of the surface {:.3}",
                paper / naive,
                rebuilt / naive
            ))
        },
    );
}

/// Pairs of fragments whose boxes are within reach of one another.
fn near_pairs(object: &Broken, poses: &[Pose]) -> Vec<(FragmentId, FragmentId)> {
    let living = object.living();
    let corners = |id: FragmentId| {
        let (low, high) = object.field.bounds(id);
        let t = poses[id.0 as usize].translation;
        (low + t, high + t)
    };
    let mut pairs = Vec::new();
    for (i, &a) in living.iter().enumerate() {
        for &b in &living[i + 1..] {
            let ((la, ha), (lb, hb)) = (corners(a), corners(b));
            if (la - hb).max(lb - ha).max_element() <= 0.0 {
                pairs.push((a, b));
            }
        }
    }
    pairs
}

/// How pairs are queried.
#[derive(Clone, Copy)]
enum Mode {
    Adaptive,
    /// The same, with so many points at first.
    From(u32),
    /// By the points of the cut, while the pair lies where it was born.
    NewbornFirst,
    Full,
    /// First 8 in the order of a plain queue.
    NaiveFirst8,
}

impl Mode {
    /// Points of a new pair, in each direction.
    fn first(self) -> u32 {
        match self {
            Self::From(first) => first,
            _ => AdaptiveSettings::default().first,
        }
    }
}

/// Memory of a run over pairs.
type Memory = (QueryScratch, Vec<Contact>);

/// One direction of one pair.
fn ask(
    tree: &SphereTree,
    pose: &Pose,
    partner: &FragmentDistance<'_>,
    mode: Mode,
    state: &mut PairState,
    (scratch, out): &mut Memory,
) -> QueryStats {
    let radius = tree.object_radius();
    let mut query = Query::new(TOLERANCE * radius, radius);
    out.clear();
    match mode {
        Mode::Adaptive | Mode::From(_) => {
            let settings = AdaptiveSettings {
                first: mode.first(),
                ..AdaptiveSettings::default()
            };
            tree.contacts_adaptive(
                &Question::new(pose, partner, &query),
                &settings,
                state,
                scratch,
                out,
            )
        }
        Mode::NewbornFirst => {
            let settings = AdaptiveSettings::default();
            let born = tree.contacts_with_sibling(
                &Question::new(pose, partner, &query),
                &settings,
                state,
                scratch,
                out,
            );
            born.unwrap_or_else(|| {
                tree.contacts_adaptive(
                    &Question::new(pose, partner, &query),
                    &settings,
                    state,
                    scratch,
                    out,
                )
            })
        }
        Mode::Full => tree.contacts(pose, partner, &query, scratch, out),
        Mode::NaiveFirst8 => {
            query.traversal = Traversal::Naive;
            query.selection = Selection::First(8);
            tree.contacts(pose, partner, &query, scratch, out)
        }
    }
}

/// Pairs of fragments, by ids, with what they remember.
#[derive(Clone)]
struct Pairs {
    ids: Vec<(FragmentId, FragmentId)>,
    states: Vec<[PairState; 2]>,
}

impl Pairs {
    fn new(ids: Vec<(FragmentId, FragmentId)>) -> Self {
        let states = vec![Default::default(); ids.len()];
        Self { ids, states }
    }

    /// Both directions of all pairs: work done.
    fn query(
        &mut self,
        object: &Broken,
        trees: &[Option<SphereTree>],
        poses: &[Pose],
        mode: Mode,
        memory: &mut Memory,
    ) -> QueryStats {
        let mut stats = QueryStats::default();
        for (&(a, b), state) in self.ids.iter().zip(&mut self.states) {
            for ((from, to), state) in [(a, b), (b, a)].into_iter().zip(state) {
                let tree = trees[from.0 as usize].as_ref().expect("a living fragment");
                let pose = poses[from.0 as usize].relative_to(&poses[to.0 as usize]);
                let partner = object.distance(to);
                stats.add(&ask(tree, &pose, &partner, mode, state, memory));
            }
        }
        stats
    }

    /// Best CPU time of a query that begins with these memories each time.
    fn time(
        &self,
        runs: usize,
        object: &Broken,
        trees: &[Option<SphereTree>],
        poses: &[Pose],
        mode: Mode,
        memory: &mut Memory,
    ) -> (f64, QueryStats) {
        let mut best = (f64::INFINITY, QueryStats::default());
        for _ in 0..runs {
            let mut pairs = self.clone();
            let (ms, stats) = best_cpu_ms(1, || pairs.query(object, trees, poses, mode, memory));
            best = (best.0.min(ms), stats);
        }
        best
    }
}

fn work(stats: &QueryStats) -> String {
    format!(
        "{} contacts, {} points visited, {} nodes",
        stats.contacts, stats.distance_queries, stats.nodes_visited
    )
}

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

/// The sphere breaks, stays as it is for a while, and falls apart: as in the paper's
/// run, what is measured is a sequence of steps, over which pairs keep their memory.
fn section_7_2(board: &mut Board) {
    if !board.wants_group("sphere-tree/section-7.2-sphere") {
        return;
    }
    let mut object = Broken::new(ball(2500, 4000));
    object.break_into(FragmentId(0), 12, &mut Rng(5));
    let centre = |id: FragmentId| {
        let (low, high) = object.field.bounds(id);
        0.5 * (low + high)
    };
    let apart = |outward: f32| -> Vec<Pose> {
        (0..object.trees.len() as u32)
            .map(|id| match object.trees[id as usize] {
                Some(_) => Pose::translation(centre(FragmentId(id)) * outward),
                None => Pose::IDENTITY,
            })
            .collect()
    };
    // 20 steps in the original pose, 40 that part the pieces with the acceleration of
    // gravity at 60 steps per second, the ball's radius being 1 m.
    let steps: Vec<Vec<Pose>> = (0..60_i32)
        .map(|k| apart(0.00136 * ((k - 20).max(0) as f32).powi(2)))
        .collect();
    let living = object.living();
    let all: Vec<(FragmentId, FragmentId)> = living
        .iter()
        .enumerate()
        .flat_map(|(i, &a)| living[i + 1..].iter().map(move |&b| (a, b)))
        .collect();
    let mut memory = Memory::default();
    let run = |way: Way, memory: &mut Memory| {
        let mut best = vec![f64::INFINITY; steps.len()];
        let mut stats = QueryStats::default();
        for _ in 0..5 {
            stats = QueryStats::default();
            let mut known: Vec<Option<(Pairs, SeparatingAxis)>> = vec![None; all.len()];
            for (poses, best) in steps.iter().zip(&mut best) {
                let near = near_pairs(&object, poses);
                // What a broad phase does: a pair that is no longer near is forgotten.
                for (ids, pair) in all.iter().zip(&mut known) {
                    if !near.contains(ids) {
                        *pair = None;
                    } else if pair.is_none() {
                        *pair = Some((Pairs::new(vec![*ids]), SeparatingAxis::default()));
                    }
                }
                let (ms, ()) = best_cpu_ms(1, || {
                    for (pair, axis) in known.iter_mut().flatten() {
                        if way == Way::AsWorld && is_apart(&object, pair.ids[0], poses, axis) {
                            continue;
                        }
                        let mode = match way {
                            Way::SearchAlone => Mode::Adaptive,
                            Way::NewbornFirst | Way::AsWorld => Mode::NewbornFirst,
                        };
                        stats.add(&pair.query(&object, &object.trees, poses, mode, memory));
                    }
                });
                *best = best.min(ms);
            }
        }
        (best, stats)
    };
    for (name, way) in [
        ("queries", Way::SearchAlone),
        ("queries-newborn-first", Way::NewbornFirst),
        ("queries-as-world", Way::AsWorld),
    ] {
        let (best, stats) = run(way, &mut memory);
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
        let poses = apart(outward);
        let pairs = Pairs::new(near_pairs(&object, &poses));
        let mode = Mode::Adaptive;
        let (ms, done) = pairs.time(5, &object, &object.trees, &poses, mode, &mut memory);
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

fn surfaces(object: &Broken) -> Vec<(FragmentId, FragmentSurface)> {
    let mut scratch = SurfaceScratch::default();
    let living = object.living();
    living
        .into_iter()
        .map(|id| {
            (
                id,
                FragmentSurface::extract(&object.fragments, id, &mut scratch),
            )
        })
        .collect()
}

/// The whole bunny against itself: just touching, sliding and deep.
fn bunny_pair(board: &mut Board, mesh: &TetMesh) {
    if !board.wants_group("sphere-tree/bunny-pair") {
        return;
    }
    let object = Broken::new(mesh.clone());
    let tree = object.tree(FragmentId(0));
    let (low, high) = mesh.bounds();
    let size = high - low;
    let surface = &surfaces(&object)[0].1;
    let shapes: Vec<(Rival, SharedShape)> = [Rival::TriMesh, Rival::Vhacd, Rival::Hull]
        .into_iter()
        .filter_map(|rival| Some((rival, rival.build(surface)?)))
        .collect();
    // Moved in from the side until the surfaces meet, found by halving.
    let touches = |x: f32| {
        let pose = Pose::translation(Vec3::new(x, 0.05 * size.y, 0.02 * size.z));
        let query = Query::new(0.0, tree.object_radius()).select(Selection::First(1));
        let mut out = Vec::new();
        let partner = object.distance(FragmentId(0));
        tree.contacts(
            &pose,
            &partner,
            &query,
            &mut QueryScratch::default(),
            &mut out,
        );
        !out.is_empty()
    };
    let (mut inside, mut outside) = (0.2 * size.x, 1.1 * size.x);
    for _ in 0..30 {
        let middle = 0.5 * (inside + outside);
        if touches(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    let at = |depth: f32, slide: f32| {
        Pose::translation(Vec3::new(
            inside - depth * size.x,
            (0.05 + slide) * size.y,
            0.02 * size.z,
        ))
    };
    let moments = |name: &str| -> Vec<Pose> {
        (0..8)
            .map(|k| match name {
                "touching" => at(0.0005 * k as f32, 0.0),
                "sliding" => at(0.01, 0.004 * k as f32),
                _ => at(0.15 + 0.002 * k as f32, 0.0),
            })
            .collect()
    };
    for name in ["touching", "sliding", "deep"] {
        let poses = moments(name);
        let mut memory = Memory::default();
        let per_pose = |mode: Mode, memory: &mut Memory| {
            best_cpu_ms(9, || {
                let mut stats = QueryStats::default();
                let mut states = <[PairState; 2]>::default();
                for pose in &poses {
                    for (pose, state) in [*pose, pose.inverse()].iter().zip(&mut states) {
                        let partner = object.distance(FragmentId(0));
                        stats.add(&ask(tree, pose, &partner, mode, state, memory));
                    }
                }
                stats
            })
        };
        let (ours, stats) = per_pose(Mode::Adaptive, &mut memory);
        let (full, full_stats) = per_pose(Mode::Full, &mut memory);
        let (naive, naive_stats) = per_pose(Mode::NaiveFirst8, &mut memory);
        let count = poses.len() as f64;
        let rivals: Vec<(Rival, f64, usize)> = shapes
            .iter()
            .map(|(rival, shape)| {
                let (ms, points) = best_cpu_ms(3, || {
                    let mut pair = RivalPair::default();
                    let prediction = TOLERANCE * tree.object_radius();
                    poses
                        .iter()
                        .map(|pose| pair.contacts(shape, shape, pose, prediction))
                        .sum::<usize>()
                });
                (*rival, ms, points)
            })
            .collect();
        let trimesh = rivals[0].1;
        board.row(
            &format!("sphere-tree/bunny-pair-{name}"),
            "x",
            Target::AtLeast(10.0),
            || {
                Measured::new(trimesh / ours)
                    .against(rivals[0].0.name(), VERSION, 1.0)
                    .note(format!(
                        "per pair: ours {:.4} ms ({}), full {:.4} ({}), naive {:.4} ({}); {}",
                        ours / count,
                        work(&stats),
                        full / count,
                        work(&full_stats),
                        naive / count,
                        work(&naive_stats),
                        rivals
                            .iter()
                            .map(|(r, ms, points)| format!(
                                "{} {:.4} ({points} points)",
                                r.name(),
                                ms / count
                            ))
                            .collect::<Vec<_>>()
                            .join(", ")
                    ))
            },
        );
    }
}

/// A bunny of about 27 pieces in its original pose: all cracks in parallel contact.
fn fresh_bunny(board: &mut Board, mesh: &TetMesh) {
    if !board.wants_group("sphere-tree/fresh-bunny") {
        return;
    }
    let whole = Broken::new(mesh.clone());
    let fracture = (0..)
        .filter_map(|seed| cells(&whole.fragments, FragmentId(0), 27, &mut Rng(seed)))
        .find(|fracture| {
            let mut trial = whole.fragments.clone();
            trial
                .apply(fracture)
                .is_ok_and(|split| split.children.len() == 27)
        })
        .expect("some seed makes 27 pieces");
    let mut object = whole.clone();
    let split = object.apply(&fracture);
    let surfaces = surfaces(&object);

    let mut scratch = SplitScratch::default();
    let [trees_ms, field_ms, cut_ms] = {
        let mut best = [f64::INFINITY; 3];
        for _ in 0..15 {
            let mut fresh = whole.clone();
            let (cut, split) = best_cpu_ms(1, || fresh.fragments.apply(&fracture).expect("valid"));
            let (field, ()) = best_cpu_ms(1, || fresh.field.apply(&fresh.fragments, &split));
            let tree = fresh.trees[0].as_ref().expect("the whole");
            let (trees, _) = best_cpu_ms(1, || {
                tree.apply(
                    &fresh.fragments,
                    &split,
                    SplitMethod::default(),
                    &mut scratch,
                )
            });
            for (best, ms) in best.iter_mut().zip([trees, field, cut]) {
                *best = best.min(ms);
            }
        }
        best
    };
    let build = |rival: Rival, runs: usize| {
        best_cpu_ms(runs, || {
            surfaces
                .iter()
                .map(|(id, surface)| (*id, rival.build(surface)))
                .collect::<Vec<_>>()
        })
    };
    let built = [
        (Rival::TriMesh, build(Rival::TriMesh, 3)),
        (Rival::Vhacd, build(Rival::Vhacd, 1)),
        (Rival::Hull, build(Rival::Hull, 3)),
    ];
    let living = object.living();
    let points: usize = living.iter().map(|&id| object.tree(id).point_count()).sum();
    board.row(
        "sphere-tree/fresh-bunny-27-ready",
        "ms",
        Target::AtMost(2.0),
        || {
            Measured::new(trees_ms + field_ms)
                .against(Rival::Vhacd.name(), VERSION, built[1].1.0)
                .note(format!(
                    "trees {trees_ms:.3} + field {field_ms:.3}, after the cut itself {cut_ms:.3}; {points} points, {} cut tets; TriMesh {:.2}, hull {:.2}",
                    split.cut_tets.len(),
                    built[0].1.0,
                    built[2].1.0
                ))
        },
    );
    let (rebuild_ms, rebuilt) = best_cpu_ms(1, || {
        object
            .trees
            .iter()
            .map(|tree| tree.as_ref().map(|t| t.rebuilt(KeepPoints::Surface)))
            .collect::<Vec<_>>()
    });
    let mut scratch = SplitScratch::default();
    let naive_trees: Vec<Option<SphereTree>> = {
        let tree = whole.tree(FragmentId(0));
        let parts = tree.apply(&object.fragments, &split, SplitMethod::Naive, &mut scratch);
        std::iter::once(None)
            .chain(parts.into_iter().map(Some))
            .collect()
    };

    let poses = vec![Pose::IDENTITY; object.trees.len()];
    let pairs = near_pairs(&object, &poses);
    let mut memory = Memory::default();
    let new = Pairs::new(pairs.clone());
    let mut measure = |trees: &[Option<SphereTree>], mode: Mode, known: &Pairs| {
        known.time(5, &object, trees, &poses, mode, &mut memory)
    };
    let (first, first_stats) = measure(&object.trees, Mode::Adaptive, &new);
    let (full, full_stats) = measure(&object.trees, Mode::Full, &new);
    let (naive, naive_stats) = measure(&naive_trees, Mode::NaiveFirst8, &new);
    let (fresh_tree, fresh_stats) = measure(&rebuilt, Mode::Adaptive, &new);
    let mut later = new.clone();
    for _ in 0..10 {
        let mode = Mode::Adaptive;
        later.query(&object, &object.trees, &poses, mode, &mut Memory::default());
    }
    let (later, later_stats) = measure(&object.trees, Mode::Adaptive, &later);
    kept::row(board, &object, &new);
    let prediction = TOLERANCE * object.tree(object.living()[0]).object_radius();
    let rivals: Vec<(Rival, f64, usize)> = built
        .iter()
        .map(|(rival, (_, shapes))| {
            let shape =
                |id: FragmentId| shapes.iter().find(|s| s.0 == id).and_then(|s| s.1.clone());
            let (ms, points) = best_cpu_ms(1, || {
                let mut points = 0;
                for &(a, b) in &pairs {
                    if let (Some(a), Some(b)) = (shape(a), shape(b)) {
                        points +=
                            RivalPair::default().contacts(&a, &b, &Pose::IDENTITY, prediction);
                    }
                }
                points
            });
            (*rival, ms, points)
        })
        .collect();
    board.row(
        "sphere-tree/fresh-bunny-27-queries",
        "x",
        Target::AtLeast(10.0),
        || {
            Measured::new(rivals[0].1 / first)
                .against(rivals[0].0.name(), VERSION, 1.0)
                .note(format!(
                    "{} pairs, first frame: ours {first:.2} ms ({}); {}",
                    pairs.len(),
                    work(&first_stats),
                    rivals
                        .iter()
                        .map(|(r, ms, points)| format!("{} {ms:.2} ({points} points)", r.name()))
                        .collect::<Vec<_>>()
                        .join(", ")
                ))
        },
    );
    for (name, ms, stats) in [
        ("later-frames", later, later_stats),
        ("full-detection", full, full_stats),
        ("naive-tree-and-queue", naive, naive_stats),
        ("rebuilt-surface-trees", fresh_tree, fresh_stats),
    ] {
        board.row(
            &format!("sphere-tree/fresh-bunny-27-{name}"),
            "ms",
            Target::None,
            || {
                let mut note = work(&stats);
                if name == "rebuilt-surface-trees" {
                    note = format!("{note}; rebuilding took {rebuild_ms:.1} ms");
                }
                Measured::new(ms).note(note)
            },
        );
    }
}
