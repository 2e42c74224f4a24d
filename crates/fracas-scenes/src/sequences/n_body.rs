//! A hundred balls of 320 triangles fall towards a centre, meet and bounce.

use glam::DVec3;

use super::shapes::icosphere;
use super::{Change, Mesh, Random, Sequence, rotate};

const BALLS: usize = 101;
const RADIUS: f64 = 0.1;

#[derive(Clone, Debug)]
struct Ball {
    at: DVec3,
    velocity: DVec3,
    axis: DVec3,
    angle: f64,
    spin: f64,
}

/// The n-body benchmark.
#[derive(Clone, Debug)]
pub struct NBody {
    ball: Mesh,
    balls: Vec<Ball>,
    frame: usize,
}

impl Default for NBody {
    fn default() -> Self {
        Self::new()
    }
}

impl NBody {
    /// At its beginning.
    #[must_use]
    pub fn new() -> Self {
        let mut random = Random(7);
        let mut balls: Vec<Ball> = Vec::new();
        while balls.len() < BALLS {
            let at = random.in_ball() * 1.3;
            if balls.iter().all(|b| b.at.distance(at) > 2.05 * RADIUS) {
                balls.push(Ball {
                    at,
                    velocity: random.in_ball() * 0.5,
                    axis: (random.in_ball() + DVec3::Z * 1e-3).normalize(),
                    angle: 0.0,
                    spin: random.range(-2.0, 2.0),
                });
            }
        }
        let (positions, triangles) = icosphere(2);
        Self {
            ball: (positions.iter().map(|p| *p * RADIUS).collect(), triangles),
            balls,
            frame: 0,
        }
    }

    fn step(&mut self) {
        const DT: f64 = 1.0 / 60.0;
        const PARTS: usize = 4;
        let dt = DT / PARTS as f64;
        for _ in 0..PARTS {
            let mut force = vec![DVec3::ZERO; self.balls.len()];
            for i in 0..self.balls.len() {
                force[i] -= self.balls[i].at * 1.5;
                for j in i + 1..self.balls.len() {
                    let d = self.balls[i].at - self.balls[j].at;
                    let distance = d.length();
                    if distance < 2.0 * RADIUS && distance > 1e-9 {
                        let f = d / distance * (2.0 * RADIUS - distance) * 2000.0;
                        force[i] += f;
                        force[j] -= f;
                    }
                }
            }
            for (ball, f) in self.balls.iter_mut().zip(force) {
                ball.velocity = (ball.velocity + f * dt) * 0.9995;
                ball.at += ball.velocity * dt;
                ball.angle += ball.spin * dt;
            }
        }
    }

    fn shape(&self, ball: &Ball) -> Vec<DVec3> {
        let place = |p: &DVec3| ball.at + rotate(*p, ball.axis, ball.angle);
        self.ball.0.iter().map(place).collect()
    }
}

impl Sequence for NBody {
    fn name(&self) -> &'static str {
        "n-body"
    }

    fn frames(&self) -> usize {
        149
    }

    fn events(&self) -> Vec<usize> {
        Vec::new()
    }

    fn next_frame(&mut self) -> Vec<Change> {
        let first = self.frame == 0;
        self.frame += 1;
        if !first {
            self.step();
        }
        let bodies = self.balls.iter().enumerate();
        bodies
            .map(|(body, ball)| {
                let positions = self.shape(ball);
                if first {
                    Change::Add((positions, self.ball.1.clone()))
                } else {
                    Change::Move { body, positions }
                }
            })
            .collect()
    }
}
