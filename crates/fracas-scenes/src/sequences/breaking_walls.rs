//! A ball flies through eight walls. Each wall dents before it is hit, then breaks
//! into pieces with crack faces between front and back.

use fracas_fastcd::Part;
use glam::{DVec3, dvec3};

use super::shapes::icosphere;
use super::{Change, Mesh, Random, Sequence, rotate};

const WALLS: usize = 8;
const FRAMES: usize = 80;
/// Quads of a wall, across and up.
const NX: usize = 40;
const NY: usize = 30;
const SIZE: DVec3 = dvec3(2.0, 1.5, 0.1);
/// Crack faces are cut into this many layers from front to back.
const LAYERS: usize = 3;
const PIECES: usize = 210;
const SPACING: f64 = 1.0;

#[derive(Clone, Debug)]
struct Piece {
    body: usize,
    rest: Vec<DVec3>,
    centre: DVec3,
    velocity: DVec3,
    axis: DVec3,
    spin: f64,
    born: usize,
}

/// The breaking-walls benchmark.
#[derive(Clone, Debug)]
pub struct BreakingWalls {
    wall: Mesh,
    ball: Mesh,
    pieces: Vec<Piece>,
    bodies: usize,
    frame: usize,
}

impl Default for BreakingWalls {
    fn default() -> Self {
        Self::new()
    }
}

fn node(x: usize, y: usize, layer: usize) -> u32 {
    ((layer * (NY + 1) + y) * (NX + 1) + x) as u32
}

impl BreakingWalls {
    /// At its beginning.
    #[must_use]
    pub fn new() -> Self {
        let mut positions = Vec::new();
        for layer in 0..2 {
            for y in 0..=NY {
                for x in 0..=NX {
                    let p = dvec3(
                        x as f64 / NX as f64 - 0.5,
                        y as f64 / NY as f64 - 0.5,
                        layer as f64 - 0.5,
                    );
                    positions.push(p * SIZE);
                }
            }
        }
        let mut triangles = Vec::new();
        let mut quad = |[a, b, c, d]: [u32; 4]| triangles.extend([[a, b, c], [a, c, d]]);
        for y in 0..NY {
            for x in 0..NX {
                quad([
                    node(x, y, 0),
                    node(x, y + 1, 0),
                    node(x + 1, y + 1, 0),
                    node(x + 1, y, 0),
                ]);
                quad([
                    node(x, y, 1),
                    node(x + 1, y, 1),
                    node(x + 1, y + 1, 1),
                    node(x, y + 1, 1),
                ]);
            }
        }
        for x in 0..NX {
            quad([
                node(x, 0, 0),
                node(x + 1, 0, 0),
                node(x + 1, 0, 1),
                node(x, 0, 1),
            ]);
            quad([
                node(x + 1, NY, 0),
                node(x, NY, 0),
                node(x, NY, 1),
                node(x + 1, NY, 1),
            ]);
        }
        for y in 0..NY {
            quad([
                node(0, y + 1, 0),
                node(0, y, 0),
                node(0, y, 1),
                node(0, y + 1, 1),
            ]);
            quad([
                node(NX, y, 0),
                node(NX, y + 1, 0),
                node(NX, y + 1, 1),
                node(NX, y, 1),
            ]);
        }
        let (ball, faces) = icosphere(3);
        Self {
            wall: (positions, triangles),
            ball: (ball.iter().map(|p| *p * 0.22).collect(), faces),
            pieces: Vec::new(),
            bodies: WALLS + 1,
            frame: 0,
        }
    }

    /// The frame at which a wall breaks.
    fn breaks_at(wall: usize) -> usize {
        5 + wall * 9
    }

    /// Where the ball is: it passes each wall at the frame in which it breaks.
    fn ball_at(frame: usize) -> DVec3 {
        dvec3(0.0, 0.0, (frame as f64 - 5.0) / 9.0 * SPACING - 0.25)
    }

    fn wall_at(&self, wall: usize, frame: usize) -> Vec<DVec3> {
        let before = Self::breaks_at(wall) as f64 - frame as f64;
        // The last three frames before the break push a dent.
        let push = 0.06 * ((4.0 - before) / 4.0).clamp(0.0, 1.0);
        let place = |p: &DVec3| {
            let r2 = p.x * p.x + p.y * p.y;
            dvec3(
                p.x,
                p.y,
                p.z + push * libm::exp(-r2 / 0.08) + wall as f64 * SPACING,
            )
        };
        self.wall.0.iter().map(place).collect()
    }

    /// Which piece each quad of a wall belongs to: the nearest of seeds that crowd
    /// around the hit.
    fn labels(wall: usize) -> Vec<usize> {
        let mut random = Random(1000 + wall as u64);
        let seeds: Vec<(f64, f64)> = (0..PIECES)
            .map(|i| {
                let (x, y) = (random.range(-1.0, 1.0), random.range(-1.0, 1.0));
                let pull = if i % 3 == 0 { 0.45 } else { 1.0 };
                (x * pull, y * 0.75 * pull)
            })
            .collect();
        let mut labels = Vec::with_capacity(NX * NY);
        for y in 0..NY {
            for x in 0..NX {
                let (px, py) = (
                    (x as f64 + 0.5) / NX as f64 * 2.0 - 1.0,
                    (y as f64 + 0.5) / NY as f64 * 1.5 - 0.75,
                );
                let distance = |s: &(f64, f64)| (s.0 - px) * (s.0 - px) + (s.1 - py) * (s.1 - py);
                let nearest = (0..PIECES)
                    .min_by(|&a, &b| distance(&seeds[a]).total_cmp(&distance(&seeds[b])));
                labels.push(nearest.unwrap_or(0));
            }
        }
        labels
    }

    /// The split of a wall, given where it is now.
    fn crack(wall: usize, now: &[DVec3]) -> Vec<Part> {
        let labels = Self::labels(wall);
        let label = |x: usize, y: usize| labels[y * NX + x];
        let mut parts = vec![Part::default(); PIECES];
        for quad in 0..NX * NY {
            let first = 4 * quad as u32;
            parts[labels[quad]].kept.extend(first..first + 4);
        }
        // The rim, in the order in which it was made.
        let rim = (4 * NX * NY) as u32;
        for x in 0..NX {
            let first = rim + 4 * x as u32;
            parts[label(x, 0)].kept.extend([first, first + 1]);
            parts[label(x, NY - 1)].kept.extend([first + 2, first + 3]);
        }
        for y in 0..NY {
            let first = rim + 4 * (NX + y) as u32;
            parts[label(0, y)].kept.extend([first, first + 1]);
            parts[label(NX - 1, y)].kept.extend([first + 2, first + 3]);
        }
        // Crack faces, on both sides of every grid edge between two pieces. Inner
        // layers are new vertices, one column per grid node and piece.
        let old = now.len() as u32;
        let mut columns = vec![std::collections::BTreeMap::new(); PIECES];
        let mut face = |part: usize, from: (usize, usize), to: (usize, usize)| {
            let mut column = |at: (usize, usize), layer: usize| -> u32 {
                if layer == 0 || layer == LAYERS {
                    return node(at.0, at.1, layer / LAYERS);
                }
                let new = &mut parts[part].new_positions;
                let first = *columns[part].entry(at).or_insert_with(|| {
                    let first = new.len() as u32;
                    let (a, b) = (
                        now[node(at.0, at.1, 0) as usize],
                        now[node(at.0, at.1, 1) as usize],
                    );
                    new.extend((1..LAYERS).map(|l| a.lerp(b, l as f64 / LAYERS as f64)));
                    first
                });
                old + first + layer as u32 - 1
            };
            let mut triangles = Vec::new();
            for layer in 0..LAYERS {
                let [a, b] = [column(from, layer), column(to, layer)];
                let [c, d] = [column(to, layer + 1), column(from, layer + 1)];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
            parts[part].new_triangles.extend(triangles);
        };
        for y in 0..NY {
            for x in 0..NX {
                if x + 1 < NX && label(x, y) != label(x + 1, y) {
                    face(label(x, y), (x + 1, y), (x + 1, y + 1));
                    face(label(x + 1, y), (x + 1, y + 1), (x + 1, y));
                }
                if y + 1 < NY && label(x, y) != label(x, y + 1) {
                    face(label(x, y), (x + 1, y + 1), (x, y + 1));
                    face(label(x, y + 1), (x, y + 1), (x + 1, y + 1));
                }
            }
        }
        parts.retain(|p| !p.kept.is_empty());
        parts
    }

    fn break_wall(&mut self, wall: usize, changes: &mut Vec<Change>) {
        let now = self.wall_at(wall, self.frame);
        let parts = Self::crack(wall, &now);
        let mut random = Random(2000 + wall as u64);
        for part in &parts {
            // The same order in which the scene lists a new body's vertices.
            let mut seen = vec![false; now.len()];
            let mut rest = Vec::new();
            let mut take = |v: u32| {
                if (v as usize) < now.len() && !std::mem::replace(&mut seen[v as usize], true) {
                    rest.push(now[v as usize]);
                }
            };
            for &t in &part.kept {
                self.wall.1[t as usize].iter().for_each(|&v| take(v));
            }
            part.new_triangles.iter().flatten().for_each(|&v| take(v));
            let mut fresh = vec![false; part.new_positions.len()];
            for v in part.new_triangles.iter().flatten() {
                if let Some(at) = (*v as usize).checked_sub(now.len())
                    && !std::mem::replace(&mut fresh[at], true)
                {
                    rest.push(part.new_positions[at]);
                }
            }
            let centre = rest.iter().sum::<DVec3>() / rest.len() as f64;
            let radial = dvec3(centre.x, centre.y, 0.0);
            let near = libm::exp(-radial.length_squared() / 0.15);
            self.pieces.push(Piece {
                body: self.bodies,
                rest,
                centre,
                velocity: radial.normalize_or_zero() * (0.4 + 0.6 * near)
                    + dvec3(0.0, 0.2, 0.3 + 2.5 * near)
                    + random.in_ball() * 0.15,
                axis: (random.in_ball() + DVec3::X * 1e-3).normalize(),
                spin: random.range(-3.0, 3.0) * (0.2 + near),
                born: self.frame,
            });
            self.bodies += 1;
        }
        changes.push(Change::Split { body: wall, parts });
    }

    fn piece_at(piece: &Piece, frame: usize) -> Vec<DVec3> {
        // Half a frame old when it is first seen, so that cracks are open.
        let age = (frame as f64 - piece.born as f64 + 0.5) / 24.0;
        let by = piece.velocity * age + dvec3(0.0, -4.9 * age * age, 0.0);
        let shrink = 0.998;
        let place = |p: &DVec3| {
            piece.centre + by + rotate((*p - piece.centre) * shrink, piece.axis, piece.spin * age)
        };
        piece.rest.iter().map(place).collect()
    }
}

impl Sequence for BreakingWalls {
    fn name(&self) -> &'static str {
        "breaking-walls"
    }

    fn frames(&self) -> usize {
        FRAMES
    }

    fn events(&self) -> Vec<usize> {
        (0..WALLS).map(Self::breaks_at).collect()
    }

    fn next_frame(&mut self) -> Vec<Change> {
        let frame = self.frame;
        let ball = self
            .ball
            .0
            .iter()
            .map(|p| *p + Self::ball_at(frame))
            .collect();
        let mut changes = Vec::new();
        if frame == 0 {
            for wall in 0..WALLS {
                changes.push(Change::Add((self.wall_at(wall, 0), self.wall.1.clone())));
            }
            changes.push(Change::Add((ball, self.ball.1.clone())));
            self.frame += 1;
            return changes;
        }
        for wall in 0..WALLS {
            if frame < Self::breaks_at(wall) {
                let positions = self.wall_at(wall, frame);
                changes.push(Change::Move {
                    body: wall,
                    positions,
                });
            } else if frame == Self::breaks_at(wall) {
                self.break_wall(wall, &mut changes);
            }
        }
        changes.push(Change::Move {
            body: WALLS,
            positions: ball,
        });
        for piece in &self.pieces {
            changes.push(Change::Move {
                body: piece.body,
                positions: Self::piece_at(piece, frame),
            });
        }
        self.frame += 1;
        changes
    }
}
