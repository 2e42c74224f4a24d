//! A cloth of 80,000 triangles over a turning ball of 12,500: it drapes, is dragged
//! round, and gathers in folds that come to touch. A prescribed motion, not a
//! simulation: what matters to a detector is the shape, and that it repeats.

use glam::{DVec3, dvec3};

use super::shapes::{icosphere, sheet};
use super::{Change, Mesh, Sequence, rotate};

/// The cloth benchmark.
#[derive(Clone, Debug)]
pub struct Cloth {
    cloth: Mesh,
    ball: Mesh,
    frame: usize,
}

const FRAMES: usize = 465;
const BALL: f64 = 0.4;

impl Default for Cloth {
    fn default() -> Self {
        Self::new()
    }
}

impl Cloth {
    /// At its beginning.
    #[must_use]
    pub fn new() -> Self {
        let (cloth, ball) = (sheet(200, 200), icosphere(4));
        Self {
            cloth,
            ball: super::shapes::refine_to(ball, 12_500),
            frame: 0,
        }
    }

    fn cloth_at(&self, time: f64) -> Vec<DVec3> {
        let drop = smooth(time / 0.3);
        let fold = smooth((time - 0.1) / 0.9);
        self.cloth
            .0
            .iter()
            .map(|p| drape(p.x, p.y, drop, fold))
            .collect()
    }

    fn ball_at(&self, time: f64) -> Vec<DVec3> {
        self.ball
            .0
            .iter()
            .map(|p| rotate(*p * BALL, DVec3::Z, 2.0 * time))
            .collect()
    }
}

/// From 0 to 1, flat at both ends.
fn smooth(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Where the point (u, v) of the sheet is: up to the ball's shoulder it lies on the
/// ball, beyond it hangs, in folds around the axis that lean over as they gather.
fn drape(u: f64, v: f64, drop: f64, fold: f64) -> DVec3 {
    let r = dvec3(u, v, 0.0).length();
    let theta = libm::atan2(v, u);
    let radius = BALL + 0.012;
    // Bending from flat to draped.
    let bend = 0.15 + 0.85 * drop;
    let shoulder = 1.2 * bend;
    let arc = (r * bend / radius).min(shoulder);
    let beyond = (r - shoulder * radius / bend).max(0.0);
    let slope = shoulder - 0.1 * drop;
    let out = radius / bend * libm::sin(arc) + beyond * libm::cos(slope);
    let height = radius - radius / bend * (1.0 - libm::cos(arc)) - beyond * libm::sin(slope);
    // Folds: sideways and in and out, growing with the way beyond the shoulder.
    let depth = smooth(beyond / 0.25) * fold;
    let n = 14.0;
    let twist = 0.9 * fold * beyond;
    let lean = depth * 1.25 / n * libm::sin(2.0 * n * theta);
    let angle = theta + twist + lean;
    let wave = 0.07 * depth * libm::sin(n * theta);
    let fine = 0.004 * drop * libm::sin(37.0 * u + 11.0 * v);
    dvec3(
        (out + wave) * libm::cos(angle),
        (out + wave) * libm::sin(angle),
        height + fine * depth,
    )
}

impl Sequence for Cloth {
    fn name(&self) -> &'static str {
        "cloth"
    }

    fn frames(&self) -> usize {
        FRAMES
    }

    fn events(&self) -> Vec<usize> {
        Vec::new()
    }

    fn next_frame(&mut self) -> Vec<Change> {
        let time = self.frame as f64 / (FRAMES - 1) as f64;
        let first = self.frame == 0;
        self.frame += 1;
        let (cloth, ball) = (self.cloth_at(time), self.ball_at(time));
        if first {
            return vec![
                Change::Add((cloth, self.cloth.1.clone())),
                Change::Add((ball, self.ball.1.clone())),
            ];
        }
        vec![
            Change::Move {
                body: 0,
                positions: cloth,
            },
            Change::Move {
                body: 1,
                positions: ball,
            },
        ]
    }
}

impl Cloth {
    /// Goes to a later frame; the next one asked for is `frame`. The bodies must
    /// have been added before.
    pub fn skip_to(&mut self, frame: usize) {
        self.frame = frame.max(1);
    }
}
