//! Deforming, fracturing meshes [Heo 2010]: ground truth, the four benchmarks, frames
//! with topology changes, ablations, peers.
//!
//! Times are CPU time of the one thread that works, so that other work on the machine
//! counts less; each sequence is played several times and the shortest time of each
//! frame counts, since noise only ever adds. The peer rows need
//! a Python with `ipctk` and `numpy`, named by `FRACAS_IPCTK_PYTHON`.

mod peer;

use fracas_conformance::ccd::{self, SCENES};
use fracas_conformance::data::find;
use fracas_fastcd::{
    Builder, Contacts, Culling, Detection, FastBvh, QueryStats, Restructuring, Scratch, Settings,
};
use fracas_scenes::experiments::sequence_times::{self, Frame, FrameTimer, Play};
use fracas_scenes::experiments::{spatial_hash, tree_metric};
use fracas_scenes::sequences::breaking_walls::BreakingWalls;
use fracas_scenes::sequences::cloth::Cloth;
use fracas_scenes::sequences::exploding_dragon::{ExplodingDragon, PrecutDragon};
use fracas_scenes::sequences::n_body::NBody;
use fracas_scenes::sequences::{Player, Sequence};

use crate::board::{Board, Measured, Target};

/// CPU time of this thread.
#[derive(Clone, Copy)]
struct Instant(f64);

impl Instant {
    fn now() -> Self {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Self(t.tv_sec as f64 * 1e3 + t.tv_nsec as f64 * 1e-6)
    }
}

/// Rows of this subject.
pub fn rows(board: &mut Board) {
    if !board.wants_group("fast-bvh") {
        return;
    }
    board.row(
        "fast-bvh/bytes-per-node",
        "bytes",
        Target::AtMost(92.0),
        || Measured::new(FastBvh::bytes_per_node() as f64).against("Heo 2010", "2010", 92.0),
    );
    truth(board);
    benchmarks(board);
    events(board);
    modes(board);
    metric(board);
    peer::rows(board);
}

/// Plays a sequence by the CPU time of this thread.
fn play<S: Sequence>(make: impl Fn() -> S, how: Play) -> Vec<Option<Frame>> {
    sequence_times::play(make, how, &|| Instant::now().0)
}

fn ms(start: Instant) -> f64 {
    Instant::now().0 - start.0
}

fn mean(frames: &[Option<Frame>]) -> (f64, f64) {
    let timed: Vec<&Frame> = frames.iter().flatten().collect();
    let n = timed.len().max(1) as f64;
    let total = timed.iter().map(|f| f.total()).sum::<f64>() / n;
    (total, timed.iter().map(|f| f.update_ms()).sum::<f64>() / n)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn false_share(frames: &[Option<Frame>]) -> f64 {
    let (mut tests, mut hits) = (0, 0);
    for f in frames.iter().flatten() {
        tests += f.stats.elementary_tests;
        hits += f.stats.hits;
    }
    100.0 * (1.0 - hits as f64 / (tests as f64).max(1.0))
}

fn settings(detection: Detection) -> Settings {
    Settings {
        detection,
        ..Settings::default()
    }
}

/// The dragon where the data is, else the knot.
fn dragon() -> ExplodingDragon {
    let file = find("surface/dragon_100k_watertight.obj")
        .and_then(|path| fracas_bake::read_surface(path).ok());
    match file {
        Some((mesh, _)) => {
            ExplodingDragon::new((mesh.positions().to_vec(), mesh.triangles().to_vec()))
        }
        None => ExplodingDragon::procedural(),
    }
}

fn truth(board: &mut Board) {
    let Some(root) = find("ccd/sample-queries") else {
        board.skip(
            "fast-bvh/sample-queries-false-negatives",
            "no ccd/sample-queries",
        );
        return;
    };
    let (mut queries, mut missed, mut extra, mut hits) = (0, 0, 0, 0);
    let mut in_doubt = 0;
    for kind in ["vertex-face", "edge-edge"] {
        for folder in std::fs::read_dir(&root).into_iter().flatten().flatten() {
            for file in std::fs::read_dir(folder.path().join(kind))
                .into_iter()
                .flatten()
                .flatten()
            {
                for query in ccd::read_queries(&file.path()) {
                    let [found, quick] = query.find_impacts(kind);
                    queries += 1;
                    hits += usize::from(query.collides);
                    missed += usize::from(query.collides && (found.is_none() || quick.is_none()));
                    extra += usize::from(!query.collides && found.is_some());
                    in_doubt += usize::from(!query.collides && quick.is_some());
                }
            }
        }
    }
    board.row(
        "fast-bvh/sample-queries-false-negatives",
        "queries",
        Target::AtMost(0.0),
        || Measured::new(missed as f64).note(format!("{queries} queries, {hits} true")),
    );
    board.row(
        "fast-bvh/sample-queries-false-positives",
        "%",
        Target::AtMost(0.0),
        || {
            let share = |count: usize| 100.0 * count as f64 / f64::from(queries);
            Measured::new(share(extra)).note(format!(
                "asked exactly; {:.1} by the quick test, which counts doubt as touch",
                share(in_doubt)
            ))
        },
    );
    for scene in SCENES {
        let name = format!("fast-bvh/{}-missed", scene.0);
        if !board.wants_row(&name) && !board.wants_row(&format!("fast-bvh/{}-beyond", scene.0)) {
            continue;
        }
        let Some(data) = ccd::read_scene(scene) else {
            board.skip(&name, "no ccd/scalable-ccd");
            continue;
        };
        let (bvh, contacts, _) = step(&data, Settings::default());
        let [vf, ee] = data.numbered(&bvh, &contacts);
        let missing = |list: &[([u32; 2], bool)], found: &ccd::Pairs| {
            list.iter()
                .filter(|(pair, label)| *label && !found.contains(pair))
                .count()
        };
        let beyond = |list: &[([u32; 2], bool)], found: &ccd::Pairs| {
            let truth: ccd::Pairs = list.iter().filter(|l| l.1).map(|l| l.0).collect();
            found.difference(&truth).count()
        };
        board.row(&name, "pairs", Target::AtMost(0.0), || {
            let missed = missing(&data.vertex_face, &vf) + missing(&data.edge_edge, &ee);
            Measured::new(missed as f64).note(format!(
                "found {} vertex-face, {} edge-edge",
                vf.len(),
                ee.len()
            ))
        });
        board.row(
            &format!("fast-bvh/{}-beyond", scene.0),
            "pairs",
            Target::None,
            || {
                let more = beyond(&data.vertex_face, &vf) + beyond(&data.edge_edge, &ee);
                Measured::new(more as f64).note("found, but not listed as true")
            },
        );
    }
}

/// One recorded step.
fn step(data: &ccd::Scene, settings: Settings) -> (FastBvh, Contacts, QueryStats) {
    let mut bvh = FastBvh::new(settings);
    let body = bvh.add(&data.start, &data.triangles).expect("a valid mesh");
    bvh.update();
    bvh.move_vertices(body, &data.end).expect("finite");
    bvh.update();
    let mut contacts = Contacts::default();
    let stats = bvh.contacts(&mut Scratch::default(), &mut contacts);
    (bvh, contacts, stats)
}

/// The paper's own figures, five times faster.
fn benchmarks(board: &mut Board) {
    let everything = Play {
        settings: settings(Detection::Continuous),
        times: 3,
        ..Play::default()
    };
    board.row("fast-bvh/n-body-ccd", "ms", Target::AtMost(17.0 / 5.0), || {
        let frames = play(NBody::new, everything);
        let (total, update) = mean(&frames);
        Measured::new(total).against("Heo 2010", "2010", 17.0).note(format!(
            "32 K triangles, mean of 148 frames, update {update:.2}; {:.0}% of elementary tests find nothing (paper: 90%)",
            false_share(&frames)
        ))
    });
    board.row("fast-bvh/cloth-ccd", "ms", Target::AtMost(345.0 / 5.0), || {
        let (frames, share) = cloth_windows(Settings::default());
        let total = frames.iter().sum::<f64>() / frames.len() as f64;
        let worst = frames.iter().copied().fold(0.0, f64::max);
        Measured::new(total).against("Heo 2010", "2010", 345.0).note(format!(
            "92 K triangles, mean of {} of 465 frames, worst {worst:.1}; {share:.0}% of elementary tests find nothing",
            frames.len()
        ))
    });
}

/// Times ten stretches of the cloth; per frame the best of two plays.
fn cloth_windows(settings: Settings) -> (Vec<f64>, f64) {
    let mut best: Vec<f64> = Vec::new();
    let mut sum = QueryStats::default();
    for round in 0..2 {
        let mut sequence = Cloth::new();
        let mut player = Player::new(settings);
        let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
        player.apply(&sequence.next_frame()).expect("valid");
        let mut at = 0;
        for window in 0..10 {
            sequence.skip_to(20 + window * 48);
            for i in 0..4 {
                let changes = sequence.next_frame();
                let start = Instant::now();
                player.apply(&changes).expect("valid");
                if i == 0 {
                    continue;
                }
                let stats = player.scene.contacts(&mut scratch, &mut contacts);
                let total = ms(start);
                if round == 0 {
                    best.push(total);
                    sum.elementary_tests += stats.elementary_tests;
                    sum.hits += stats.hits;
                } else {
                    best[at] = best[at].min(total);
                }
                at += 1;
            }
        }
    }
    (best, 100.0 * sum.false_positive_share())
}

const SELECTIVE: Restructuring = Restructuring::Selective;

fn with(detection: Detection, restructuring: Restructuring, builder: Builder) -> Settings {
    Settings {
        detection,
        restructuring,
        builder,
        ..Settings::default()
    }
}

/// Frames at which the topology changes.
fn events(board: &mut Board) {
    if board.wants_row("fast-bvh/walls") || board.wants_row("fast-bvh/walls-dcd") {
        break_walls(board);
    }
    if board.wants_row("fast-bvh/dragon") || board.wants_row("fast-bvh/dragon-ccd") {
        explode_dragon(board);
    }
}

fn break_walls(board: &mut Board) {
    let grid = Settings::default().builder;
    let how = |restructuring, builder| Play {
        settings: with(Detection::Discrete, restructuring, builder),
        times: 2,
        window: 7,
        ..Play::default()
    };
    let events = BreakingWalls::new().events();
    let frames = play(BreakingWalls::new, how(SELECTIVE, grid));
    board.row("fast-bvh/walls-dcd", "ms", Target::AtMost(97.0 / 5.0), || {
        let (total, update) = mean(&frames);
        Measured::new(total).against("Heo 2010", "2010", 97.0).note(format!(
            "42 K to 140 K triangles, mean of 79 frames, update {update:.2}; {:.0}% of elementary tests find nothing",
            false_share(&frames)
        ))
    });
    event_rows(board, "walls", &frames, &events, || {
        play(
            BreakingWalls::new,
            how(Restructuring::RebuildAtEdits, Builder::BinnedSah),
        )
    });
    let columns = [
        ("without-fast-construction", SELECTIVE, Builder::Median),
        ("with-lm-metric", Restructuring::SelectiveByVolume, grid),
        ("refit-only", Restructuring::Never, grid),
        ("full-rebuild", Restructuring::RebuildAlways, grid),
    ];
    for (name, restructuring, builder) in columns {
        board.row(
            &format!("fast-bvh/walls-{name}"),
            "ms",
            Target::None,
            || {
                let other = play(
                    BreakingWalls::new,
                    Play {
                        times: 1,
                        ..how(restructuring, builder)
                    },
                );
                let (total, update) = mean(&other);
                Measured::new(total)
                    .against("ours, same run", "0.1", mean(&frames).0)
                    .note(format!("update {update:.2}"))
            },
        );
    }
    add_hashing_row(board, &frames);
}

/// Spatial hashing on the same walls.
fn add_hashing_row(board: &mut Board, frames: &[Option<Frame>]) {
    board.row("fast-bvh/walls-spatial-hashing", "ms", Target::None, || {
        let mut sequence = BreakingWalls::new();
        let mut player = Player::new(settings(Detection::Discrete));
        let (mut total, mut count) = (0.0, 0);
        for number in 0..sequence.frames() {
            player.apply(&sequence.next_frame()).expect("valid");
            if number % 8 == 4 {
                let start = Instant::now();
                std::hint::black_box(spatial_hash::intersections(&player.scene));
                total += ms(start);
                count += 1;
            }
        }
        Measured::new(total / f64::from(count)).against("ours, same run", "0.1", mean(frames).0)
    });
}

fn explode_dragon(board: &mut Board) {
    let grid = Settings::default().builder;
    let base = dragon();
    let how = |detection, restructuring, builder| Play {
        settings: with(detection, restructuring, builder),
        times: 1,
        stride: 6,
        window: 6,
        ..Play::default()
    };
    let events = base.events();
    for (detection, name, paper) in [
        (Detection::Continuous, "ccd", 715.0),
        (Detection::Discrete, "dcd", 252.0),
    ] {
        let frames = play(|| base.clone(), how(detection, SELECTIVE, grid));
        board.row(&format!("fast-bvh/dragon-{name}"), "ms", Target::AtMost(paper / 5.0), || {
            let (total, update) = mean(&frames);
            let timed = frames.iter().flatten().count();
            let rebuilt: usize = frames.iter().flatten().map(|f| f.rebuilt).sum();
            Measured::new(total).against("Heo 2010", "2010", paper).note(format!(
                "252 K triangles, mean of {timed} of 250 frames, update {update:.1}, {rebuilt} triangles restructured; {:.0}% of elementary tests find nothing (paper: 90%)",
                false_share(&frames)
            ))
        });
        event_rows(board, &format!("dragon-{name}"), &frames, &events, || {
            play(
                || base.clone(),
                how(detection, Restructuring::RebuildAtEdits, Builder::BinnedSah),
            )
        });
        if detection == Detection::Continuous {
            add_overhead_row(board, &base, &frames);
        }
    }
}

/// What it adds that the dragon is cut while it flies.
fn add_overhead_row(board: &mut Board, base: &ExplodingDragon, frames: &[Option<Frame>]) {
    board.row(
        "fast-bvh/dragon-overhead-of-dynamic-topology",
        "%",
        Target::None,
        || {
            // The frames from each event on, and the same with what the
            // event leaves cut beforehand.
            let (mut live, mut fixed) = (0.0, 0.0);
            for (event, &at) in base.events().iter().enumerate() {
                let precut = PrecutDragon::new(base.clone(), event);
                let same = play_frames(precut, settings(Detection::Continuous), frames, at);
                let pairs = frames.iter().zip(&same);
                for (a, b) in pairs.filter_map(|(a, b)| a.zip(*b)) {
                    live += a.total();
                    fixed += b.total();
                }
            }
            Measured::new(100.0 * (live / fixed - 1.0))
                .against("cut beforehand, ms", "0.1", fixed / 28.0)
                .note(
                    "each event and the six frames after it; paper: 30% before, 5% with its method",
                )
        },
    );
}

/// Times the frames from `first` to six later that another play timed. Eight frames
/// before them are applied, too, so that the scene has settled.
fn play_frames(
    mut sequence: PrecutDragon,
    settings: Settings,
    wanted: &[Option<Frame>],
    first: usize,
) -> Vec<Option<Frame>> {
    let mut timer = FrameTimer::new(settings);
    let mut out = vec![None; wanted.len()];
    timer.frame(&sequence.next_frame(), false, &|| Instant::now().0);
    sequence.skip_to(first - 8);
    for number in first - 8..=first + 6 {
        let changes = sequence.next_frame();
        let timed = number >= first && wanted[number].is_some();
        let frame = timer.frame(&changes, timed, &|| Instant::now().0);
        out[number] = timed.then_some(frame);
    }
    out
}

fn event_rows(
    board: &mut Board,
    name: &str,
    frames: &[Option<Frame>],
    events: &[usize],
    rebuilt: impl FnOnce() -> Vec<Option<Frame>>,
) {
    board.row(
        &format!("fast-bvh/{name}-worst-event-to-median"),
        "x",
        Target::AtMost(2.0),
        || {
            let around = |e: usize| {
                let near = (e - 5..=e + 5).filter(|&i| i != e);
                median(near.filter_map(|i| frames[i]).map(|f| f.total()).collect())
            };
            let ratios: Vec<f64> = events
                .iter()
                .filter_map(|&e| Some(frames[e]?.total() / around(e)))
                .collect();
            Measured::new(ratios.iter().copied().fold(0.0, f64::max)).note(format!("{ratios:.2?}"))
        },
    );
    board.row(&format!("fast-bvh/{name}-events-vs-sah-rebuild"), "x", Target::AtLeast(3.0), || {
        let other = rebuilt();
        let totals = |f: &[Option<Frame>]| median(events.iter().filter_map(|&e| f[e]).map(|f| f.total()).collect());
        let updates = |f: &[Option<Frame>]| median(events.iter().filter_map(|&e| f[e]).map(|f| f.update_ms()).collect());
        let (a, b) = (totals(frames), totals(&other));
        Measured::new(b / a).note(format!(
            "frame total, median of events: {a:.1} ms against {b:.1} ms; update alone {:.1} against {:.1}",
            updates(frames),
            updates(&other)
        ))
    });
}

/// How well the cost metric tells trees apart [Heo 2010, §5.2.1].
fn metric(board: &mut Board) {
    if !board.wants_row("fast-bvh/metric-inter") && !board.wants_row("fast-bvh/metric-self") {
        return;
    }
    let (mut inter, mut own, mut text) = (0.0, 0.0, String::new());
    let count = tree_metric::MESHES.len();
    for mesh in 0..count {
        let points = tree_metric::observe(mesh, 60, 12);
        let (i, s) = (
            tree_metric::correlation(&points.inter),
            tree_metric::correlation(&points.own),
        );
        inter += i / count as f64;
        own += s / count as f64;
        text += &format!("{} {i:.2}/{s:.2} ", points.name);
    }
    board.row(
        "fast-bvh/metric-inter-correlation",
        "r",
        Target::None,
        || {
            Measured::new(inter)
                .against("Heo 2010", "2010", 0.71)
                .note(format!("inter/self per mesh: {text}"))
        },
    );
    board.row(
        "fast-bvh/metric-self-correlation",
        "r",
        Target::None,
        || Measured::new(own).against("Heo 2010", "2010", 0.48),
    );
}

/// The modes of §6.2.1 on the cloth: culling ratio, misses, time.
fn modes(board: &mut Board) {
    if !board.wants_row("fast-bvh/mode")
        && !["off", "normal", "full", "real", "dual", "star"]
            .iter()
            .any(|m| board.wants_row(&format!("fast-bvh/mode-{m}")))
    {
        return;
    }
    let mut sequence = Cloth::new();
    let first = sequence.next_frame();
    sequence.skip_to(330);
    let (from, to) = (sequence.next_frame(), sequence.next_frame());
    let run = |culling: Culling| {
        let mut player = Player::new(Settings {
            culling,
            ..Settings::default()
        });
        let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
        player.apply(&first).expect("valid");
        player.apply(&from).expect("valid");
        let start = Instant::now();
        player.apply(&to).expect("valid");
        let stats = player.scene.contacts(&mut scratch, &mut contacts);
        (ms(start), stats, contacts)
    };
    let (off_ms, off, truth) = run(Culling::Off);
    let found = |c: &Contacts| c.vertex_face.len() + c.edge_edge.len();
    for (name, culling, safe) in [
        ("normal-cone", Culling::NormalCone, false),
        ("full-contour", Culling::FullContour, true),
        ("real-contour", Culling::RealContour, false),
        ("dual-cone", Culling::DualCone, false),
        ("star-contour", Culling::StarContour, true),
    ] {
        let target = if safe {
            Target::AtMost(0.0)
        } else {
            Target::None
        };
        board.row(&format!("fast-bvh/mode-{name}-misses"), "contacts", target, || {
            let (time, stats, contacts) = run(culling);
            let missed = found(&truth) - found(&contacts).min(found(&truth));
            let ratio = 100.0 * (1.0 - stats.overlap_tests as f64 / off.overlap_tests as f64);
            Measured::new(missed as f64).note(format!(
                "of {}; culls {ratio:.1}% of overlap tests (paper: dual cone 46.5, contour 48.9), {time:.1} ms (none: {off_ms:.1})",
                found(&truth)
            ))
        });
    }
}
