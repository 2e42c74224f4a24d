//! A ball hits a figure of 252 K triangles, a thin shell, which breaks at four
//! frames, each time into more pieces.
//!
//! The figure is the public dragon, refined, where the caller has it, else a knot.

use fracas_fastcd::Part;
use glam::{DVec3, dvec3};

use super::shapes::{icosphere, refine_to};
use super::{Change, Mesh, Random, Sequence, rotate};

const FRAMES: usize = 250;
const EVENTS: [usize; 4] = [20, 70, 120, 170];
/// Into how many pieces a body breaks at each event, and how many bodies do.
const PIECES: [usize; 4] = [40, 12, 8, 8];
const BREAKING: [usize; 4] = [1, 20, 40, 60];
const TRIANGLES: usize = 252_000;

#[derive(Clone, Debug)]
struct Piece {
    body: usize,
    /// Triangles of the whole figure, in the body's order.
    triangles: Vec<u32>,
    /// Vertices of the whole figure, in the body's order.
    vertices: Vec<u32>,
    centre: DVec3,
    /// Where the centre is, and how it moves.
    at: DVec3,
    velocity: DVec3,
    axis: DVec3,
    angle: f64,
    spin: f64,
}

/// The exploding-dragon benchmark.
#[derive(Clone, Debug)]
pub struct ExplodingDragon {
    figure: Mesh,
    ball: Mesh,
    pieces: Vec<Piece>,
    bodies: usize,
    frame: usize,
}

impl ExplodingDragon {
    /// With a closed mesh as the figure; it is scaled to unit size and refined to
    /// 252 K triangles, ball included.
    #[must_use]
    pub fn new((positions, triangles): Mesh) -> Self {
        let (ball, faces) = icosphere(3);
        let low = positions
            .iter()
            .copied()
            .reduce(DVec3::min)
            .unwrap_or_default();
        let high = positions
            .iter()
            .copied()
            .reduce(DVec3::max)
            .unwrap_or_default();
        let scale = 1.0 / (high - low).max_element().max(1e-9);
        let centred = positions
            .iter()
            .map(|p| (*p - (low + high) * 0.5) * scale)
            .collect();
        let figure = refine_to((centred, triangles), TRIANGLES - faces.len());
        let all = Piece {
            body: 0,
            triangles: (0..figure.1.len() as u32).collect(),
            vertices: (0..figure.0.len() as u32).collect(),
            centre: DVec3::ZERO,
            at: DVec3::ZERO,
            velocity: DVec3::ZERO,
            axis: DVec3::Z,
            angle: 0.0,
            spin: 0.0,
        };
        Self {
            figure,
            ball: (ball.iter().map(|p| *p * 0.12).collect(), faces),
            pieces: vec![all],
            bodies: 2,
            frame: 0,
        }
    }

    /// With a knot, for want of a dragon.
    #[must_use]
    pub fn procedural() -> Self {
        let (along, around) = (900_u32, 60_u32);
        let centre = |s: f64| {
            let r = 0.3 + 0.1 * libm::cos(3.0 * s);
            dvec3(
                r * libm::cos(2.0 * s),
                r * libm::sin(2.0 * s),
                0.14 * libm::sin(3.0 * s),
            )
        };
        let mut positions = Vec::new();
        for i in 0..along {
            let s = f64::from(i) / f64::from(along) * std::f64::consts::TAU;
            let tangent = (centre(s + 1e-4) - centre(s - 1e-4)).normalize();
            let u = tangent.cross(DVec3::Z).normalize();
            let v = u.cross(tangent);
            for j in 0..around {
                let a = f64::from(j) / f64::from(around) * std::f64::consts::TAU;
                let r = 0.07 * (1.0 + 0.1 * libm::sin(5.0 * a + 20.0 * s));
                positions.push(centre(s) + (u * libm::cos(a) + v * libm::sin(a)) * r);
            }
        }
        let mut triangles = Vec::new();
        for i in 0..along {
            for j in 0..around {
                let (k, l) = ((i + 1) % along, (j + 1) % around);
                let [a, b, c, d] = [
                    i * around + j,
                    i * around + l,
                    k * around + j,
                    k * around + l,
                ];
                triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
        Self::new((positions, triangles))
    }

    fn ball_at(frame: usize) -> DVec3 {
        let t = (frame as f64 - EVENTS[0] as f64) / 20.0;
        dvec3(0.9 * -t.min(0.0) + 0.2 * -t.max(0.0), 0.05, 0.02)
    }

    fn positions_of(&self, piece: &Piece, frame: usize) -> Vec<DVec3> {
        let time = frame as f64 * 0.11;
        let place = |&v: &u32| {
            let p = self.figure.0[v as usize];
            // The shell trembles a little.
            let tremble = 0.0006 * libm::sin(14.0 * p.x + 9.0 * p.y + time);
            let local = p - piece.centre + dvec3(0.0, tremble, tremble);
            piece.at + rotate(local, piece.axis, piece.angle)
        };
        piece.vertices.iter().map(place).collect()
    }

    /// Breaks the largest bodies around random seeds.
    fn break_pieces(&mut self, event: usize) -> Vec<Change> {
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(self.pieces[i].triangles.len()), i));
        order.truncate(BREAKING[event]);
        order.sort_unstable();
        let mut changes = Vec::new();
        let mut gone = Vec::new();
        for &i in &order {
            let parent = self.pieces[i].clone();
            let mut random = Random(3000 + 100 * event as u64 + i as u64);
            let centroid = |t: u32| {
                let [a, b, c] = self.figure.1[t as usize].map(|v| self.figure.0[v as usize]);
                (a + b + c) / 3.0
            };
            let count = parent.triangles.len();
            let seeds: Vec<DVec3> = (0..PIECES[event])
                .map(|_| {
                    centroid(parent.triangles[(random.unit() * count as f64) as usize % count])
                })
                .collect();
            let mut lists: Vec<Vec<u32>> = vec![Vec::new(); seeds.len()];
            for (local, &t) in parent.triangles.iter().enumerate() {
                let c = centroid(t);
                let nearest = (0..seeds.len())
                    .min_by(|&a, &b| {
                        seeds[a]
                            .distance_squared(c)
                            .total_cmp(&seeds[b].distance_squared(c))
                    })
                    .unwrap_or(0);
                lists[nearest].push(local as u32);
            }
            lists.retain(|l| !l.is_empty());
            if lists.len() < 2 {
                continue;
            }
            let mut seen = vec![u32::MAX; self.figure.0.len()];
            let mut parts = Vec::new();
            for (number, kept) in lists.into_iter().enumerate() {
                let triangles: Vec<u32> =
                    kept.iter().map(|&l| parent.triangles[l as usize]).collect();
                let mut vertices = Vec::new();
                for v in triangles.iter().flat_map(|&t| self.figure.1[t as usize]) {
                    if seen[v as usize] != number as u32 {
                        seen[v as usize] = number as u32;
                        vertices.push(v);
                    }
                }
                let centre = vertices
                    .iter()
                    .map(|&v| self.figure.0[v as usize])
                    .sum::<DVec3>()
                    / vertices.len() as f64;
                let away = rotate(centre - parent.centre, parent.axis, parent.angle);
                self.pieces.push(Piece {
                    body: self.bodies,
                    triangles,
                    vertices,
                    centre,
                    at: parent.at + away,
                    velocity: parent.velocity
                        + away.normalize_or_zero() * random.range(0.1, 0.5)
                        + random.in_ball() * 0.05,
                    axis: parent.axis,
                    angle: parent.angle,
                    spin: parent.spin + random.range(-1.0, 1.0) * 0.8,
                });
                self.bodies += 1;
                parts.push(Part {
                    kept,
                    ..Part::default()
                });
            }
            changes.push(Change::Split {
                body: parent.body,
                parts,
            });
            gone.push(i);
        }
        for i in gone.into_iter().rev() {
            self.pieces.remove(i);
        }
        changes
    }

    /// Goes to the next frame: what breaks, and where pieces are.
    fn advance(&mut self) -> Vec<Change> {
        let frame = self.frame;
        self.frame += 1;
        let mut changes = Vec::new();
        if frame > 0 {
            if let Some(event) = EVENTS.iter().position(|&e| e == frame) {
                changes = self.break_pieces(event);
            }
            self.step();
        }
        changes
    }

    fn step(&mut self) {
        const DT: f64 = 1.0 / 120.0;
        for piece in &mut self.pieces {
            if piece.velocity != DVec3::ZERO {
                piece.velocity.y -= 0.3 * DT;
            }
            piece.at += piece.velocity * DT;
            piece.angle += piece.spin * DT;
        }
    }
}

impl Sequence for ExplodingDragon {
    fn name(&self) -> &'static str {
        "exploding-dragon"
    }

    fn frames(&self) -> usize {
        FRAMES
    }

    fn events(&self) -> Vec<usize> {
        EVENTS.to_vec()
    }

    fn next_frame(&mut self) -> Vec<Change> {
        let frame = self.frame;
        let mut changes = self.advance();
        let ball = self
            .ball
            .0
            .iter()
            .map(|p| *p + Self::ball_at(frame))
            .collect();
        if frame == 0 {
            let figure = self.positions_of(&self.pieces[0], 0);
            return vec![
                Change::Add((figure, self.figure.1.clone())),
                Change::Add((ball, self.ball.1.clone())),
            ];
        }
        changes.push(Change::Move {
            body: 1,
            positions: ball,
        });
        for piece in &self.pieces {
            changes.push(Change::Move {
                body: piece.body,
                positions: self.positions_of(piece, frame),
            });
        }
        changes
    }
}

/// The same motion with the topology after an event from the beginning: every piece
/// that the event leaves is a body from frame 0, beside its neighbours until the event
/// parts them. What dynamic topology costs is measured against this, from the event
/// on: before it the pieces touch all along their cracks, which is work of its own.
#[derive(Clone, Debug)]
pub struct PrecutDragon {
    live: ExplodingDragon,
    last: Vec<Piece>,
    frame: usize,
}

impl PrecutDragon {
    /// Of a sequence that has not begun, after an event by number.
    #[must_use]
    pub fn new(live: ExplodingDragon, event: usize) -> Self {
        let mut ahead = live.clone();
        for event in 0..=event.min(EVENTS.len() - 1) {
            let _ = ahead.break_pieces(event);
        }
        Self {
            live,
            last: ahead.pieces,
            frame: 0,
        }
    }
}

impl PrecutDragon {
    /// Goes on to a frame without making those before it.
    pub fn skip_to(&mut self, frame: usize) {
        while self.frame < frame {
            self.frame += 1;
            let _ = self.live.advance();
        }
    }
}

impl Sequence for PrecutDragon {
    fn name(&self) -> &'static str {
        "exploding-dragon, cut beforehand"
    }

    fn frames(&self) -> usize {
        FRAMES
    }

    fn events(&self) -> Vec<usize> {
        Vec::new()
    }

    fn next_frame(&mut self) -> Vec<Change> {
        let frame = self.frame;
        self.frame += 1;
        let _ = self.live.advance();
        let mut holder = vec![0; self.live.figure.1.len()];
        for (i, piece) in self.live.pieces.iter().enumerate() {
            for &t in &piece.triangles {
                holder[t as usize] = i;
            }
        }
        let ball: Vec<DVec3> = {
            let at = ExplodingDragon::ball_at(frame);
            self.live.ball.0.iter().map(|p| *p + at).collect()
        };
        let mut changes = Vec::new();
        if frame == 0 {
            changes.push(Change::Add((ball, self.live.ball.1.clone())));
        } else {
            changes.push(Change::Move {
                body: 0,
                positions: ball,
            });
        }
        for (i, last) in self.last.iter().enumerate() {
            let mover = Piece {
                vertices: last.vertices.clone(),
                ..self.live.pieces[holder[last.triangles[0] as usize]].clone()
            };
            let positions = self.live.positions_of(&mover, frame);
            if frame > 0 {
                changes.push(Change::Move {
                    body: i + 1,
                    positions,
                });
                continue;
            }
            let mut local = std::collections::BTreeMap::new();
            for (i, &v) in last.vertices.iter().enumerate() {
                local.insert(v, i as u32);
            }
            let corners = |t: &u32| self.live.figure.1[*t as usize].map(|v| local[&v]);
            let triangles = last.triangles.iter().map(corners).collect();
            changes.push(Change::Add((positions, triangles)));
        }
        changes
    }
}
