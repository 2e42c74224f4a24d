//! The fracturable sphere tree and the contact query (Glondu 2013, sections 3, 5
//! and 6): ordering, spread, update and query times, beside parry3d's shapes of the
//! same fragments.
//!
//! Times are CPU times of one thread (wall time where the system does not tell), the
//! best of several runs: other work on the machine disturbs them least. A pair's time
//! is that of both directions.

mod bunny_pair;
mod fresh_bunny;
mod kept;
mod section_7_2;

use std::time::{Duration, Instant};

use fracas_conformance::broken::{Broken, cells, mean_spacing};
use fracas_conformance::data::find;
use fracas_core::sphere_tree::maximum_distance_order;
use fracas_core::sphere_tree::{
    AdaptiveSettings, BuildOptions, HalfSpace, KeepPoints, NormalSettings, PairState, Query,
    QueryScratch, QueryStats, Question, Selection, SplitMethod, SplitScratch, Traversal,
};
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{
    Contact, FragmentDistance, FragmentId, FragmentSurface, Pose, SphereTree, SurfaceScratch,
};
use glam::Vec3;

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
    section_7_2::rows(board);
    let Some(path) = find("tet/ipc_bunny.msh") else {
        board.skip("sphere-tree/bunny", "tet/ipc_bunny.msh is not there");
        return;
    };
    let (mesh, _) = fracas_bake::read::read_tet_mesh(path).expect("a readable mesh");
    bunny_pair::rows(board, &mesh);
    fresh_bunny::rows(board, &mesh);
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
        (out.len() == 8).then(|| f64::from(mean_spacing(&out)))
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
