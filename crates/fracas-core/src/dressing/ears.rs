//! Loops to triangles: holes are joined to the loops around them, then ears are cut.
//!
//! Source: Meisters 1975 for ears, Eberly 2002 ("Triangulation by ear clipping") for the
//! bridges to holes. Most loops are short (the sides of a crack in one tetrahedron, or of one
//! skin triangle), but a large flat triangle may be cut a thousand times: what is known of a
//! corner is kept until something near it changes, so that the whole costs about the square
//! of the corners, not their cube.

use glam::DVec2;

/// A corner: its name, and where it is in the plane.
pub(super) type Corner = (u32, DVec2);

/// Triangles of the area to the left of the loops, by the names of their corners. Loops
/// that turn left bound areas, others are holes in them. Corners of an ear are never
/// the same corner twice; areas may be zero where corners are in line.
pub(super) fn triangulate(loops: &[Vec<Corner>], out: &mut Vec<[u32; 3]>) {
    let mut areas: Vec<Vec<Corner>> = Vec::new();
    let mut holes: Vec<&Vec<Corner>> = Vec::new();
    for corners in loops.iter().filter(|corners| corners.len() >= 3) {
        if doubled_area(corners) >= 0.0 {
            areas.push(corners.clone());
        } else {
            holes.push(corners);
        }
    }
    // From the right, so that a bridge to the right meets what is joined already.
    let rightmost = |hole: &[Corner]| hole.iter().map(|c| c.1.x).fold(f64::MIN, f64::max);
    holes.sort_by(|a, b| rightmost(b).total_cmp(&rightmost(a)));
    for hole in holes {
        let around = areas
            .iter()
            .position(|area| is_inside(hole[0].1, area) || is_inside(hole[1].1, area));
        match around {
            Some(area) => bridge(&mut areas[area], hole),
            // A hole in nothing: rounding turned a sliver over.
            None => areas.push(hole.clone()),
        }
    }
    for area in areas {
        cut_ears(area, out);
    }
}

fn cross(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

fn doubled_area(corners: &[Corner]) -> f64 {
    let first = corners[0].1;
    (2..corners.len())
        .map(|i| cross(first, corners[i - 1].1, corners[i].1))
        .sum()
}

fn is_inside(p: DVec2, area: &[Corner]) -> bool {
    let mut inside = false;
    for (i, &(_, a)) in area.iter().enumerate() {
        let b = area[(i + 1) % area.len()].1;
        if (a.y > p.y) != (b.y > p.y) {
            let x = a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y);
            inside ^= x > p.x;
        }
    }
    inside
}

/// Joins a hole to the loop around it by a bridge, walked both ways: from its rightmost
/// corner to the nearest corner of the loop that it sees.
fn bridge(area: &mut Vec<Corner>, hole: &[Corner]) {
    let from = (0..hole.len())
        .max_by(|&i, &j| hole[i].1.x.total_cmp(&hole[j].1.x))
        .unwrap_or(0);
    let p = hole[from].1;
    let mut order: Vec<usize> = (0..area.len()).collect();
    order.sort_by(|&i, &j| {
        let d = |k: usize| area[k].1.distance_squared(p);
        d(i).total_cmp(&d(j))
    });
    let sees = |&to: &usize| {
        let q = area[to].1;
        let blocks = |a: DVec2, b: DVec2| {
            a != q
                && b != q
                && a != p
                && b != p
                && (cross(p, q, a) > 0.0) != (cross(p, q, b) > 0.0)
                && (cross(a, b, p) > 0.0) != (cross(a, b, q) > 0.0)
        };
        let blocked = |corners: &[Corner]| {
            (0..corners.len()).any(|i| blocks(corners[i].1, corners[(i + 1) % corners.len()].1))
        };
        // The bridge must leave the loop to its inside.
        let (before, after) = (
            area[(to + area.len() - 1) % area.len()].1,
            area[(to + 1) % area.len()].1,
        );
        let opens = if cross(before, q, after) >= 0.0 {
            cross(q, after, p) >= 0.0 && cross(before, q, p) >= 0.0
        } else {
            cross(q, after, p) >= 0.0 || cross(before, q, p) >= 0.0
        };
        opens && !blocked(area) && !blocked(hole)
    };
    let to = order.iter().copied().find(sees).unwrap_or(order[0]);
    let mut joined = Vec::with_capacity(area.len() + hole.len() + 2);
    joined.extend_from_slice(&area[..=to]);
    joined.extend((0..=hole.len()).map(|i| hole[(from + i) % hole.len()]));
    joined.extend_from_slice(&area[to..]);
    *area = joined;
}

/// What is known of a corner of the loop that is left.
#[derive(Clone, Copy)]
enum State {
    /// It turns right, or not at all.
    Turned,
    /// This corner, by its place in the whole loop, lies in its triangle.
    Blocked(u32),
    /// It can be cut: how good a triangle that makes.
    Ear(f64),
}

/// A loop that loses one corner after the other.
struct Loop {
    corners: Vec<Corner>,
    /// Of each corner its place in the whole loop, and what is known of it.
    places: Vec<u32>,
    states: Vec<State>,
}

impl Loop {
    fn new(corners: Vec<Corner>) -> Self {
        let mut new = Self {
            places: (0..corners.len() as u32).collect(),
            states: vec![State::Turned; corners.len()],
            corners,
        };
        for i in 0..new.corners.len() {
            new.states[i] = new.look(i);
        }
        new
    }

    fn around(&self, i: usize) -> [Corner; 3] {
        let n = self.corners.len();
        [i + n - 1, i, i + 1].map(|k| self.corners[k % n])
    }

    fn look(&self, i: usize) -> State {
        let [a, b, c] = self.around(i);
        if cross(a.1, b.1, c.1) <= 0.0 {
            return State::Turned;
        }
        let blocks = |&(name, p): &Corner| {
            name != a.0
                && name != b.0
                && name != c.0
                && cross(a.1, b.1, p) >= 0.0
                && cross(b.1, c.1, p) >= 0.0
                && cross(c.1, a.1, p) >= 0.0
        };
        if let Some(by) = self.corners.iter().position(blocks) {
            return State::Blocked(self.places[by]);
        }
        let sides = [a.1.distance(b.1), b.1.distance(c.1), c.1.distance(a.1)];
        let longest = sides[0].max(sides[1]).max(sides[2]);
        State::Ear(cross(a.1, b.1, c.1) / (longest * longest).max(f64::MIN_POSITIVE))
    }

    /// Of the ears the one with the widest smallest angle would look best; the largest is
    /// nearly as good and cheap. Where rounding leaves none, the corner that is least wrong
    /// goes.
    fn best(&self) -> usize {
        let ears = self.states.iter().enumerate().filter_map(|(i, s)| match s {
            State::Ear(size) => Some((i, *size)),
            _ => None,
        });
        let best = ears.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i);
        best.or_else(|| {
            let flat = |i: usize| {
                let [a, b, c] = self.around(i).map(|c| c.1);
                cross(a, b, c).abs()
            };
            (0..self.corners.len()).min_by(|&i, &j| flat(i).total_cmp(&flat(j)))
        })
        .unwrap_or(0)
    }

    /// Takes a corner out. Only its neighbours have another triangle now, and only what it
    /// blocked may have become an ear.
    fn remove(&mut self, i: usize) {
        let place = self.places.remove(i);
        self.corners.remove(i);
        self.states.remove(i);
        let n = self.corners.len();
        for k in [(i + n - 1) % n, i % n] {
            self.states[k] = self.look(k);
        }
        for k in 0..n {
            if matches!(self.states[k], State::Blocked(by) if by == place) {
                self.states[k] = self.look(k);
            }
        }
    }
}

fn cut_ears(corners: Vec<Corner>, out: &mut Vec<[u32; 3]>) {
    let mut emit = |[a, b, c]: [Corner; 3]| {
        if a.0 != b.0 && b.0 != c.0 && c.0 != a.0 {
            out.push([a.0, b.0, c.0]);
        }
    };
    let mut left = Loop::new(corners);
    while left.corners.len() > 3 {
        let best = left.best();
        emit(left.around(best));
        left.remove(best);
    }
    if let [a, b, c] = left.corners[..] {
        emit([a, b, c]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    fn area(loops: &[Vec<Corner>]) -> (f64, usize) {
        let mut out = Vec::new();
        triangulate(loops, &mut out);
        let all: Vec<Corner> = loops.iter().flatten().copied().collect();
        let at = |name: u32| all.iter().find(|c| c.0 == name).unwrap().1;
        let sum = out.iter().map(|t| {
            let area = cross(at(t[0]), at(t[1]), at(t[2]));
            assert!(area >= 0.0, "{t:?} is turned over");
            0.5 * area
        });
        (sum.sum(), out.len())
    }

    fn square(first: u32, at: DVec2, size: f64) -> Vec<Corner> {
        [(0., 0.), (1., 0.), (1., 1.), (0., 1.)]
            .iter()
            .enumerate()
            .map(|(i, &(x, y))| (first + i as u32, at + size * DVec2::new(x, y)))
            .collect()
    }

    #[test]
    fn squares_with_holes_and_combs_are_covered() {
        let outer = square(0, DVec2::ZERO, 4.0);
        let hole = |first, at| {
            let mut hole = square(first, at, 1.0);
            hole.reverse();
            hole
        };
        let holes = [
            outer.clone(),
            hole(10, DVec2::ONE * 0.5),
            hole(20, DVec2::new(2.5, 0.7)),
            hole(30, DVec2::new(1.0, 2.6)),
        ];
        let (sum, count) = area(&holes);
        assert!(
            (sum - 13.0).abs() < 1e-12 && count == 2 + 3 * 6,
            "{sum} {count}"
        );
        let comb: Vec<Corner> = [
            (0., 0.),
            (6., 0.),
            (6., 3.),
            (5., 1.),
            (4., 3.),
            (3., 1.),
            (2., 3.),
            (1., 1.),
            (0., 3.),
        ]
        .iter()
        .enumerate()
        .map(|(i, &(x, y))| (i as u32, DVec2::new(x, y)))
        .collect();
        let wanted = 0.5 * doubled_area(&comb);
        assert!((area(&[comb]).0 - wanted).abs() < 1e-12);
    }

    #[test]
    fn corners_in_line_stay_corners() {
        let mut corners = square(0, DVec2::ZERO, 1.0);
        corners.insert(1, (9, DVec2::new(0.5, 0.0)));
        let mut out = Vec::new();
        triangulate(&[corners], &mut out);
        assert_eq!(out.len(), 3);
        assert!(out.iter().any(|t| t.contains(&9)));
    }

    /// Every corner looked at anew for every ear.
    fn cut_ears_plainly(mut corners: Vec<Corner>, out: &mut Vec<[u32; 3]>) {
        let mut emit = |a: Corner, b: Corner, c: Corner| {
            if a.0 != b.0 && b.0 != c.0 && c.0 != a.0 {
                out.push([a.0, b.0, c.0]);
            }
        };
        while corners.len() > 3 {
            let n = corners.len();
            let around = |i: usize| (corners[(i + n - 1) % n], corners[i], corners[(i + 1) % n]);
            let is_ear = |&i: &usize| {
                let (a, b, c) = around(i);
                if cross(a.1, b.1, c.1) <= 0.0 {
                    return false;
                }
                corners.iter().all(|&(name, p)| {
                    name == a.0
                        || name == b.0
                        || name == c.0
                        || cross(a.1, b.1, p) < 0.0
                        || cross(b.1, c.1, p) < 0.0
                        || cross(c.1, a.1, p) < 0.0
                })
            };
            // Of the ears the one with the widest smallest angle would look best; the
            // largest is nearly as good and cheap. Where rounding leaves none, the corner
            // that is least wrong goes.
            let size = |i: usize| {
                let (a, b, c) = around(i);
                let longest =
                    a.1.distance(b.1)
                        .max(b.1.distance(c.1))
                        .max(c.1.distance(a.1));
                cross(a.1, b.1, c.1) / (longest * longest).max(f64::MIN_POSITIVE)
            };
            let best = (0..n)
                .filter(is_ear)
                .max_by(|&i, &j| size(i).total_cmp(&size(j)))
                .or_else(|| {
                    (0..n).min_by(|&i, &j| {
                        let flat = |k: usize| {
                            let (a, b, c) = around(k);
                            cross(a.1, b.1, c.1).abs()
                        };
                        flat(i).total_cmp(&flat(j))
                    })
                })
                .unwrap_or(0);
            let (a, b, c) = around(best);
            emit(a, b, c);
            corners.remove(best);
        }
        if let [a, b, c] = corners[..] {
            emit(a, b, c);
        }
    }

    #[test]
    fn ears_are_those_of_the_plain_search() {
        let mut rng = Rng(5);
        for case in 0..300 {
            // A star with corners in line, repeated corners and, at times, crossings.
            let n = 3 + rng.below(if case % 10 == 0 { 120 } else { 24 });
            let mut corners: Vec<Corner> = (0..n as u32)
                .map(|i| {
                    let turn = std::f64::consts::TAU * f64::from(i) / n as f64;
                    let far = f64::from(rng.range(0.2, 1.0));
                    let far = if case % 3 == 0 {
                        (4.0 * far).round()
                    } else {
                        far
                    };
                    (i, far * DVec2::from_angle(turn))
                })
                .collect();
            if case % 4 == 0 && n > 6 {
                let again = corners[rng.below(n)];
                corners.insert(rng.below(n), again);
            }
            if case % 7 == 0 {
                let (i, j) = (rng.below(n), rng.below(n));
                corners.swap(i, j);
            }
            let (mut fast, mut plain) = (Vec::new(), Vec::new());
            cut_ears(corners.clone(), &mut fast);
            cut_ears_plainly(corners, &mut plain);
            assert_eq!(fast, plain, "case {case}");
        }
    }
}
