//! A cloth of 20,000 triangles falls on its edge and crumples, for 1,000 steps, and never
//! passes through itself: what a solver of one's own does with
//! [`FastBvh::candidates`](fracas_fastcd::FastBvh::candidates).
//!
//! `cargo run --release -p fracas-fastcd --example cloth_solver -- [STEPS] [QUADS]`
//!
//! Each step: predict -> a few passes over springs and near pairs -> every vertex goes towards
//! where it should be, by its budget at most, in some rounds -> exact discrete detection
//! counts the triangles that intersect. Budgets alone guarantee that there are none; that
//! near pairs push keeps budgets from becoming small.

use std::time::Instant;

use fracas_fastcd::{Candidate, Candidates, Detection, EditError, FastBvh, Scratch, Settings};
use glam::{DVec3, dvec3};

/// Seconds of a step.
const DT: f64 = 0.005;
/// What pairs are kept apart by, as a share of an edge.
const THICKNESS: f64 = 0.2;
/// Up to where pairs are near, as a share of an edge: below the height of a triangle (0.7).
const REACH: f64 = 0.4;
/// Passes over all constraints.
const PASSES: usize = 6;
/// Of its budget, what a vertex uses.
const SHARE: f64 = 0.8;
/// Pairs that are nearer, as a share of an edge, may only part: while everything presses, a gap
/// would be a fifth of itself after each round, and soon be gone to rounding.
const FLOOR: f64 = 0.02;
/// Rounds in which vertices go where they should be. What is left is given up.
const ROUNDS: usize = 2;

struct Spring {
    ends: [u32; 2],
    length: f64,
    /// Of the correction, what is made: bending gives way.
    firmness: f64,
}

struct Cloth {
    at: Vec<DVec3>,
    velocities: Vec<DVec3>,
    springs: Vec<Spring>,
    triangles: Vec<[u32; 3]>,
    edge: f64,
}

impl Cloth {
    /// A metre square of `n` x `n` quads, standing on its edge, slightly wavy.
    fn new(n: u32) -> Self {
        let place = |x: u32, y: u32| y * (n + 1) + x;
        let edge = 1.0 / f64::from(n);
        let mut at = Vec::new();
        for y in 0..=n {
            for x in 0..=n {
                let (u, v) = (f64::from(x) * edge, f64::from(y) * edge);
                let wave = 0.02 * (9.0 * v + 3.0 * u).sin() + 0.01 * (17.0 * u).sin();
                at.push(dvec3(u, v + 0.02, wave));
            }
        }
        let mut pairs = Vec::new();
        let mut triangles = Vec::new();
        for y in 0..=n {
            for x in 0..=n {
                let (right, up) = (x < n, y < n);
                let mut add = |there: bool, x1: u32, y1: u32, firmness: f64| {
                    if there {
                        pairs.push(([place(x, y), place(x1, y1)], firmness));
                    }
                };
                add(right, x + 1, y, 1.0);
                add(up, x, y + 1, 1.0);
                add(right && up, x + 1, y + 1, 0.5);
                add(x + 1 < n, x + 2, y, 0.02);
                add(y + 1 < n, x, y + 2, 0.02);
                if right && up {
                    let [a, b, c, d] = [
                        place(x, y),
                        place(x + 1, y),
                        place(x + 1, y + 1),
                        place(x, y + 1),
                    ];
                    triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
        }
        let spring = |(ends, firmness): ([u32; 2], f64)| Spring {
            ends,
            length: at[ends[0] as usize].distance(at[ends[1] as usize]),
            firmness,
        };
        Self {
            springs: pairs.into_iter().map(spring).collect(),
            velocities: vec![DVec3::ZERO; at.len()],
            at,
            triangles,
            edge,
        }
    }

    /// Where the vertices should be after a step.
    fn predict(&self, near: &[Candidate]) -> Vec<DVec3> {
        let gravity = dvec3(0.0, -9.81, 0.0);
        let moving = self.at.iter().zip(&self.velocities);
        let mut to: Vec<DVec3> = moving.map(|(p, v)| *p + (*v + gravity * DT) * DT).collect();
        for _ in 0..PASSES {
            for Spring {
                ends,
                length,
                firmness,
            } in &self.springs
            {
                let [a, b] = ends.map(|v| v as usize);
                let along = to[b] - to[a];
                let now = along.length();
                let half = along * (0.5 * firmness * (now - length) / now.max(1e-9));
                to[a] += half;
                to[b] -= half;
            }
            for pair in near {
                let gap = (0..4).map(|i| pair.weights[i] * to[pair.vertices[i] as usize]);
                let missing = THICKNESS * self.edge - gap.sum::<DVec3>().dot(pair.normal);
                if missing > 0.0 {
                    let square: f64 = pair.weights.iter().map(|w| w * w).sum();
                    for (v, w) in pair.vertices.iter().zip(pair.weights) {
                        to[*v as usize] += pair.normal * (w * missing / square);
                    }
                }
            }
            for p in &mut to {
                p.y = p.y.max(0.0);
            }
        }
        to
    }

    /// Velocities from the way that was made, less what friction and air take.
    fn finish(&mut self, from: &[DVec3]) {
        for ((p, before), v) in self.at.iter().zip(from).zip(&mut self.velocities) {
            *v = (*p - *before) / DT * 0.995;
            if p.y <= 0.0 {
                v.x *= 0.7;
                v.z *= 0.7;
            }
        }
    }
}

/// Goes towards `to`, no vertex by more than its budget. Returns how many could not.
fn approach(at: &mut [DVec3], to: &[DVec3], budgets: &[f64], close: &[&Candidate]) -> usize {
    // What all vertices do together brings no two nearer.
    let ways = at.iter().zip(to).map(|(p, q)| *q - *p);
    let together = ways.sum::<DVec3>() / at.len() as f64;
    let mut short = 0;
    let mut steps = Vec::with_capacity(at.len());
    for ((p, q), budget) in at.iter().zip(to).zip(budgets) {
        let way = *q - *p - together;
        let (length, most) = (way.length(), SHARE * budget);
        let share = if length > most {
            short += 1;
            most / length
        } else {
            1.0
        };
        steps.push(way * share);
    }
    // Vertices of a pair that would come nearer stay; that may make others come nearer.
    loop {
        let mut stopped = 0;
        for pair in close {
            let ways = (0..4).map(|i| pair.weights[i] * steps[pair.vertices[i] as usize]);
            if ways.sum::<DVec3>().dot(pair.normal) < 0.0 {
                stopped += 1;
                for v in pair.vertices {
                    steps[v as usize] = DVec3::ZERO;
                }
            }
        }
        if stopped == 0 {
            break;
        }
        short += stopped;
    }
    for (p, step) in at.iter_mut().zip(steps) {
        *p += together + step;
    }
    short
}

fn main() -> Result<(), EditError> {
    let number = |i: usize, usual: u32| {
        let given = std::env::args().nth(i).and_then(|text| text.parse().ok());
        given.unwrap_or(usual)
    };
    let (steps, quads) = (number(1, 1000), number(2, 100).max(2));
    let mut cloth = Cloth::new(quads);
    let mut scene = FastBvh::new(Settings {
        detection: Detection::Discrete,
        ..Settings::default()
    });
    let body = scene.add(&cloth.at, &cloth.triangles)?;
    scene.update();
    // Vertices of the only body: global ids are its own.
    let reach = REACH * cloth.edge;
    let (mut scratch, mut near, mut budgets, mut crossing) = (
        Scratch::parallel(),
        Candidates::default(),
        Vec::new(),
        Vec::new(),
    );
    let (mut intersections, mut worst, mut short, mut nearest) = (0, 0, 0, f64::INFINITY);
    let (mut solving, mut finding, mut rounds) = (0.0, 0.0, 0_u64);
    println!(
        "{} triangles, {} vertices, {steps} steps of {DT} s",
        cloth.triangles.len(),
        cloth.at.len()
    );
    scene.candidates(reach, &mut scratch, &mut near);
    near.budgets(&scene, &mut budgets);
    for step in 1..=steps {
        let start = Instant::now();
        let to = cloth.predict(&near.pairs);
        solving += start.elapsed().as_secs_f64();
        let from = cloth.at.clone();
        let start = Instant::now();
        for round in 1..=ROUNDS {
            rounds += 1;
            let close: Vec<&Candidate> = near
                .pairs
                .iter()
                .filter(|c| c.distance < FLOOR * cloth.edge)
                .collect();
            let left = approach(&mut cloth.at, &to, &budgets, &close);
            scene.move_vertices(body, &cloth.at)?;
            scene.update();
            scene.candidates(reach, &mut scratch, &mut near);
            near.budgets(&scene, &mut budgets);
            if left == 0 || round == ROUNDS {
                short += left;
                break;
            }
        }
        finding += start.elapsed().as_secs_f64();
        cloth.finish(&from);
        scene.intersections(&mut scratch, &mut crossing);
        intersections += crossing.len();
        worst = worst.max(near.pairs.len());
        let distances = near.pairs.iter().map(|c| c.distance);
        nearest = distances.fold(nearest, f64::min);
        if step % 100 == 0 {
            let height = cloth.at.iter().map(|p| p.y).fold(0.0, f64::max);
            println!(
                "step {step}: {} near pairs, the nearest so far {nearest:.1e} m, {intersections} \
                 intersections so far, height {height:.2} m",
                near.pairs.len()
            );
        }
    }
    let count = f64::from(steps.max(1));
    println!(
        "{intersections} intersections in {steps} steps, by exact detection after each; nearest pair \
         {nearest:.1e} m, at most {worst} near pairs; a step: solver {:.1} ms, collision {:.1} ms in \
         {:.1} rounds; {:.2}% of the vertices stopped short",
        1e3 * solving / count,
        1e3 * finding / count,
        rounds as f64 / count,
        100.0 * short as f64 / (count * cloth.at.len() as f64)
    );
    Ok(())
}
