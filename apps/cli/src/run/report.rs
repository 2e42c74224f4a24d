//! What a run came to: the table for people and the numbers for programs.

use fracas_rapier::{StepStats, VoxelStats};
use fracas_scenes::measure;
use fracas_scenes::recording::{Recording, Summary};
use fracas_scenes::rigid::Scene;

use super::job::{Job, Settings};
use crate::output::say;

/// A body slower than this rests, for the table's remark (m/s).
const AT_REST: f32 = 0.05;

/// A finished run.
pub struct Report {
    scene: String,
    seed: u64,
    threads: usize,
    contacts: String,
    settings: String,
    measured: bool,
    pub fragments: usize,
    triangles: [usize; 2],
    breaks: Vec<u64>,
    dt: f64,
    pub bodies_lost: usize,
    pub deepest: f64,
    moving: usize,
    energy_growth: f64,
    digest: u64,
    steps: usize,
    /// Steps that were asked for, where Ctrl-C came before.
    asked: Option<u64>,
    rows: Vec<(&'static str, Summary, usize)>,
    voxels: Option<Voxels>,
}

/// What voxel contacts did in a whole run.
struct Voxels {
    /// Milliseconds for contacts in a step, where there is a budget.
    budget: Option<f64>,
    /// Of the steps, those within 110% of it.
    in_time: usize,
    worst: f64,
    /// Sums over all steps.
    sums: VoxelStats,
}

impl Voxels {
    /// Nothing, where no pair was meant for voxels.
    fn of(steps: &[StepStats], budget: Option<f64>) -> Option<Self> {
        let mut sums = VoxelStats::default();
        for v in steps.iter().map(|s| &s.voxel) {
            sums.pairs += v.pairs;
            sums.sphere_tree_pairs += v.sphere_tree_pairs;
            sums.waiting += v.waiting;
            sums.fallbacks += v.fallbacks;
            sums.late += v.late;
            sums.finished += v.finished;
            sums.kept += v.kept;
            sums.apart += v.apart;
            for (sum, count) in sums.coarse.iter_mut().zip(v.coarse) {
                *sum += count;
            }
        }
        let limit = budget.map_or(f64::INFINITY, |ms| 1.1 * ms);
        let spent = steps.iter().map(|s| s.times.collision);
        (sums.pairs + sums.sphere_tree_pairs + sums.waiting > 0).then(|| Self {
            budget,
            in_time: spent.clone().filter(|ms| *ms <= limit).count(),
            worst: spent.fold(0.0, f64::max),
            sums,
        })
    }

    fn print(&self, steps: usize) {
        if let Some(budget) = self.budget {
            say!(
                "budget {budget} ms: {:.1}% of the steps found their contacts within 110% of it, \
                 the slowest in {:.2} ms (by the wall, other load included)",
                100.0 * self.in_time as f64 / steps.max(1) as f64,
                self.worst
            );
        }
        let s = &self.sums;
        let share = |n: u64, of: u64| 100.0 * n as f64 / of.max(1) as f64;
        let all = s.sphere_tree_pairs + s.waiting + s.fallbacks;
        if all > 0 {
            say!(
                "both methods: {} pairs by points, {} waited with what was found before, {} \
                 ({:.1}%) fell back to voxels, {} of them late",
                s.sphere_tree_pairs,
                s.waiting,
                s.fallbacks,
                share(s.fallbacks, all),
                s.late
            );
        }
        let levels: Vec<String> = s
            .coarse
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(|(level, n)| format!("level {level} {:.1}%", share(*n, s.pairs)))
            .collect();
        say!(
            "voxel pairs: {:.1}% seen to the finest level{}{}",
            share(s.finished, s.pairs),
            if levels.is_empty() {
                ""
            } else {
                ", stopped at "
            },
            levels.join(", ")
        );
    }

    fn json(&self, steps: usize) -> serde_json::Value {
        serde_json::json!({
            "budget_ms": self.budget,
            "share_in_time": self.in_time as f64 / steps.max(1) as f64,
            "worst_collision_ms": self.worst,
            "sums": voxel_json(&self.sums),
        })
    }
}

/// What voxels did in a step, for programs.
fn voxel_json(v: &VoxelStats) -> serde_json::Value {
    serde_json::json!({
        "pairs": v.pairs, "by_points": v.sphere_tree_pairs, "waited": v.waiting,
        "fell_back": v.fallbacks, "late": v.late,
        "finest": v.finished, "stopped_at_level": v.coarse, "kept": v.kept, "apart": v.apart,
    })
}

/// One number of a step: its key, its name in the table with its digits after the
/// point, and how to read it.
struct Number {
    key: &'static str,
    name: &'static str,
    digits: usize,
    /// Of steps in which something broke only.
    at_breaks: bool,
    of: fn(&StepStats) -> f64,
}

const fn number(
    key: &'static str,
    name: &'static str,
    digits: usize,
    of: fn(&StepStats) -> f64,
) -> Number {
    Number {
        key,
        name,
        digits,
        at_breaks: false,
        of,
    }
}

/// A stage of the break: of steps in which something broke only.
const fn stage(key: &'static str, name: &'static str, of: fn(&StepStats) -> f64) -> Number {
    Number {
        at_breaks: true,
        ..number(key, name, 3, of)
    }
}

/// So many of [`NUMBERS`] are in the table of every run.
const ALWAYS: usize = 17;

const NUMBERS: [Number; 28] = [
    number("total_ms", "total ms", 3, |s| s.times.total),
    number("collision_ms", "collision ms", 3, |s| s.times.collision),
    number("physics_ms", "physics ms", 3, |s| s.times.physics),
    stage("update_ms", "update ms *", |s| s.times.update),
    stage("fracture_ms", "fracture ms *", |s| s.times.fracture),
    stage("deciding_ms", "  deciding *", |s| s.times.breaking.deciding),
    stage("cutting_ms", "  cutting *", |s| s.times.breaking.cutting),
    stage("masses_ms", "  masses *", |s| s.times.breaking.masses),
    stage("surfaces_ms", "  surfaces *", |s| s.times.breaking.surfaces),
    stage("field_ms", "  field *", |s| s.times.breaking.field),
    stage("tree_ms", "  tree *", |s| s.times.breaking.tree),
    stage("replacing_ms", "  replacing *", |s| {
        s.times.breaking.replacing
    }),
    number("handed_on_ms", "handed on ms", 3, |s| {
        s.times.breaking.later
    }),
    number("pairs", "pairs", 0, |s| s.pairs as f64),
    number("contacts", "contacts", 0, |s| s.contacts as f64),
    number("solver_contacts", "solver contacts", 0, |s| {
        s.solver_contacts as f64
    }),
    number("visited_points", "visited points", 0, |s| {
        s.visited_points as f64
    }),
    number("voxel_pairs", "voxel pairs", 0, |s| s.voxel.pairs as f64),
    number("voxel_finest", "  to the finest", 0, |s| {
        s.voxel.finished as f64
    }),
    number("voxel_fallbacks", "  fell back", 0, |s| {
        s.voxel.fallbacks as f64
    }),
    number("main_pairs", "pairs by points", 0, |s| {
        s.voxel.sphere_tree_pairs as f64
    }),
    number("work_ms", "work ms", 3, |s| s.work),
    number("least_work_ms", "  least", 3, |s| s.least_work),
    number("pairs_waiting", "pairs waiting", 0, |s| {
        s.pairs_waiting as f64
    }),
    number("hits_waiting", "hits waiting", 0, |s| {
        s.breaks_waiting as f64
    }),
    number("parts_spared", "parts spared", 0, |s| {
        f64::from(s.parts_spared)
    }),
    number("fragments", "fragments", 0, |s| s.fragments as f64),
    number("fractured", "fractured", 0, |s| s.broken as f64),
];

impl Report {
    /// Reads what a run came to.
    pub fn of(job: &Job, settings: &Settings, scene: &Scene, recording: &Recording) -> Self {
        let asked = settings.steps.unwrap_or(scene.steps());
        let world = scene.world();
        let last = recording.steps.last().copied().unwrap_or_default();
        let moving = world
            .pieces()
            .filter_map(|piece| world.body(piece))
            .filter(|body| body.linvel().length() > AT_REST)
            .count();
        let mut rows = Vec::new();
        for n in NUMBERS.iter().take(ALWAYS) {
            let steps = recording.steps.iter();
            let chosen = steps.filter(|s| !n.at_breaks || s.broken > 0);
            rows.push((n.name, Summary::of(chosen.map(n.of)), n.digits));
        }
        if !recording.colliding_points.is_empty() {
            let counts = recording.colliding_points.iter().map(|&c| c as f64);
            rows.push(("colliding points", Summary::of(counts), 0));
        }
        let voxels = Voxels::of(&recording.steps, settings.budget.map(|s| 1e3 * s));
        if voxels.is_some() {
            for n in NUMBERS.iter().filter(|n| n.key.starts_with("voxel")) {
                rows.push((n.name, recording.summary(n.of), n.digits));
            }
        }
        let own = world.settings();
        if own.step_budget.is_some() {
            let handed_on = [
                "work_ms",
                "least_work_ms",
                "pairs_waiting",
                "hits_waiting",
                "parts_spared",
            ];
            for n in NUMBERS.iter().filter(|n| handed_on.contains(&n.key)) {
                rows.push((n.name, recording.summary(n.of), n.digits));
            }
        }
        let on = |on: bool| if on { "on" } else { "off" };
        Self {
            scene: scene.name().into(),
            seed: job.seed,
            threads: settings.threads,
            contacts: job.contacts.clone(),
            settings: format!(
                "sleeping {}, contact recycling {}, clustering {}, friction in bias {}, \
                 contacts looked for {} radii ahead, all chosen points reach the solver in manifolds of up to 4",
                on(own.sleep),
                on(own.recycle_contacts),
                on(own.cluster_contacts),
                on(own.friction_in_bias),
                own.look_ahead_radii(),
            ),
            measured: settings.measured,
            fragments: last.fragments,
            triangles: recording.triangles,
            breaks: recording.breaks.clone(),
            dt: f64::from(recording.step) * 1e3,
            bodies_lost: measure::lost(world, scene.floor_height()).total(),
            deepest: f64::from(measure::overlaps(world).deepest),
            moving,
            energy_growth: recording.energy_growth(),
            digest: world.digest(),
            steps: recording.steps.len(),
            asked: (recording.steps.len() as u64 != asked).then_some(asked),
            rows,
            voxels,
        }
    }

    fn print_head(&self) {
        say!(
            "{}, seed {}: {} steps of {:.3} ms, threads {}, contacts {}",
            self.scene,
            self.seed,
            self.steps,
            self.dt,
            self.threads,
            self.contacts
        );
        if let Some(asked) = self.asked {
            say!(
                "interrupted: these are the first {} of {asked} steps",
                self.steps
            );
        }
        say!(
            "triangles {} -> {}, fragments {}, steps with breaks {}",
            self.triangles[0],
            self.triangles[1],
            self.fragments,
            self.breaks.len()
        );
        say!(
            "bodies lost {}, deepest overlap at the end {:.2} mm ({}), energy grew by at \
             most {:.2}% of what was there, digest {:016x}",
            self.bodies_lost,
            self.deepest * 1e3,
            match self.moving {
                0 => "all at rest".to_string(),
                n => format!("{n} still moving"),
            },
            self.energy_growth * 1e2,
            self.digest
        );
        if let Some(voxels) = &self.voxels {
            voxels.print(self.steps);
        }
    }

    fn title(&self) -> &'static str {
        if self.measured {
            "as the paper measured"
        } else {
            "as a game runs"
        }
    }

    /// Everything, for programs.
    pub fn json(&self, recording: &Recording) -> serde_json::Value {
        let mut steps = Vec::new();
        for (i, s) in recording.steps.iter().enumerate() {
            let mut step = serde_json::Map::new();
            for n in &NUMBERS {
                let value = (n.of)(s);
                let value = match n.digits {
                    0 => serde_json::Value::from(value as u64),
                    _ => value.into(),
                };
                step.insert(n.key.into(), value);
            }
            if let Some(&count) = recording.colliding_points.get(i) {
                step.insert("colliding_points".into(), count.into());
            }
            if self.voxels.is_some() {
                step.insert("voxel".into(), voxel_json(&s.voxel));
            }
            steps.push(serde_json::Value::Object(step));
        }
        let mut summary = serde_json::Map::new();
        let mut add = |key: &str, s: Summary| {
            let s = serde_json::json!({ "mean": s.mean, "p99": s.p99, "max": s.max });
            summary.insert(key.into(), s);
        };
        for n in &NUMBERS {
            add(n.key, recording.summary(n.of));
        }
        if !recording.colliding_points.is_empty() {
            let counts = recording.colliding_points.iter().map(|&c| c as f64);
            add("colliding_points", Summary::of(counts));
        }
        serde_json::json!({
            "scene": self.scene, "seed": self.seed, "dt_ms": self.dt, "threads": self.threads,
            "contacts_mode": self.contacts, "settings": self.settings,
            "triangles_before": self.triangles[0], "triangles_after": self.triangles[1],
            "fragments": self.fragments, "bodies_lost": self.bodies_lost,
            "deepest_at_rest_m": self.deepest, "bodies_moving_at_end": self.moving,
            "largest_energy_growth": self.energy_growth,
            "digest": format!("{:016x}", self.digest),
            "interrupted": self.asked.is_some(),
            "voxels": self.voxels.as_ref().map(|v| v.json(self.steps)),
            "steps": steps, "summary": summary,
        })
    }
}

/// Prints runs of one scene, the second beside the first.
pub fn print(reports: &[Report]) {
    for report in reports {
        if reports.len() > 1 {
            say!("{}:", report.title());
        }
        report.print_head();
        say!("settings: {}\n", report.settings);
    }
    let mut text = format!("{:<18}", "");
    for report in reports.iter().filter(|_| reports.len() > 1) {
        text += &format!(" {:>32}", report.title());
    }
    text += &format!("\n{:<18}", "");
    for _ in reports {
        text += &format!(" {:>10} {:>10} {:>10}", "mean", "99%", "max");
    }
    for (i, (name, _, digits)) in reports[0].rows.iter().enumerate() {
        text += &format!("\n{name:<18}");
        for (_, s, _) in reports.iter().filter_map(|r| r.rows.get(i)) {
            text += &format!(
                " {:>10.digits$} {:>10.digits$} {:>10.digits$}",
                s.mean, s.p99, s.max
            );
        }
    }
    say!("{text}\n* of steps in which something broke\n");
}
