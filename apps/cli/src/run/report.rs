//! What a run came to: the table for people and the numbers for programs.

use fracas_rapier::world::StepStats;
use fracas_scenes::measure;
use fracas_scenes::recording::{Recording, Summary};
use fracas_scenes::rigid::Scene;

use super::job::{Job, Settings};

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
    rows: Vec<(&'static str, Summary, usize)>,
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

const NUMBERS: [Number; 13] = [
    number("total_ms", "total ms", 3, |s| s.times.total),
    number("collision_ms", "collision ms", 3, |s| s.times.collision),
    number("physics_ms", "physics ms", 3, |s| s.times.physics),
    Number {
        at_breaks: true,
        ..number("update_ms", "update ms *", 3, |s| s.times.update)
    },
    Number {
        at_breaks: true,
        ..number("fracture_ms", "fracture ms *", 3, |s| s.times.fracture)
    },
    number("pairs", "pairs", 0, |s| s.pairs as f64),
    number("contacts", "contacts", 0, |s| s.contacts as f64),
    number("solver_contacts", "solver contacts", 0, |s| {
        s.solver_contacts as f64
    }),
    number("visited_points", "visited points", 0, |s| {
        s.visited_points as f64
    }),
    number("voxel_pairs", "voxel pairs", 0, |s| s.voxel.pairs as f64),
    number("fallbacks", "fell back", 0, |s| s.voxel.fallbacks as f64),
    number("fragments", "fragments", 0, |s| s.fragments as f64),
    number("fractured", "fractured", 0, |s| s.broken as f64),
];

impl Report {
    /// Reads what a run came to.
    pub fn of(job: &Job, settings: &Settings, scene: &Scene, recording: &Recording) -> Self {
        let world = scene.world();
        let last = recording.steps.last().copied().unwrap_or_default();
        let moving = world
            .pieces()
            .filter_map(|piece| world.body(piece))
            .filter(|body| body.linvel().length() > AT_REST)
            .count();
        let mut rows = Vec::new();
        for n in NUMBERS.iter().take(9) {
            let steps = recording.steps.iter();
            let chosen = steps.filter(|s| !n.at_breaks || s.broken > 0);
            rows.push((n.name, Summary::of(chosen.map(n.of)), n.digits));
        }
        if !recording.colliding_points.is_empty() {
            let counts = recording.colliding_points.iter().map(|&c| c as f64);
            rows.push(("colliding points", Summary::of(counts), 0));
        }
        let own = world.settings();
        let on = |on: bool| if on { "on" } else { "off" };
        Self {
            scene: scene.name().into(),
            seed: job.seed,
            threads: settings.threads,
            contacts: job.contacts.clone(),
            settings: format!(
                "sleeping {}, contact recycling {}, clustering {}, friction in bias {}, \
                 all chosen points reach the solver in manifolds of up to 4",
                on(own.sleep),
                on(own.recycle_contacts),
                on(own.cluster_contacts),
                on(own.friction_in_bias),
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
            rows,
        }
    }

    fn print_head(&self) {
        println!(
            "{}, seed {}: {} steps of {:.3} ms, threads {}, contacts {}",
            self.scene, self.seed, self.steps, self.dt, self.threads, self.contacts
        );
        println!(
            "triangles {} -> {}, fragments {}, steps with breaks {}",
            self.triangles[0],
            self.triangles[1],
            self.fragments,
            self.breaks.len()
        );
        println!(
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
            "steps": steps, "summary": summary,
        })
    }
}

/// Prints runs of one scene, the second beside the first.
pub fn print(reports: &[Report]) {
    for report in reports {
        if reports.len() > 1 {
            println!("{}:", report.title());
        }
        report.print_head();
        println!("settings: {}\n", report.settings);
    }
    print!("{:<18}", "");
    for report in reports {
        if reports.len() > 1 {
            print!(" {:>32}", report.title());
        }
    }
    println!();
    print!("{:<18}", "");
    for _ in reports {
        print!(" {:>10} {:>10} {:>10}", "mean", "99%", "max");
    }
    println!();
    for (i, (name, _, digits)) in reports[0].rows.iter().enumerate() {
        print!("{name:<18}");
        for (_, s, _) in reports.iter().filter_map(|r| r.rows.get(i)) {
            print!(
                " {:>10.digits$} {:>10.digits$} {:>10.digits$}",
                s.mean, s.p99, s.max
            );
        }
        println!();
    }
    println!("* of steps in which something broke\n");
}
