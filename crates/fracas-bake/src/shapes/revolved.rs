//! Things turned on a wheel: the plate and the bowl.
//!
//! A profile from the axis outwards, given by the upper (inner) side and a
//! thickness below it, is turned about the y axis. The disc below it is a web of
//! rings, each with as many vertices as its circumference asks for; each of its
//! triangles becomes a prism through the thickness, and each prism three
//! tetrahedra. Which diagonals are used follows from the order of vertex numbers,
//! so that neighbours agree.

use fracas_core::TetMesh;
use fracas_core::dressing::{FacePoint, FineBoundary, FinePoint, FineSurface};
use glam::{DVec2, DVec3, Vec3};

use super::blocks::positive;
use super::fine_skin::divide;

/// A profile: points of the upper side as (radius, height), with the thickness there.
struct Profile {
    /// Corners of the upper side; the curve between them is smooth.
    upper: &'static [[f64; 2]],
    /// (Radius on the upper side, thickness), linear in between.
    thickness: &'static [[f64; 2]],
}

/// A dinner plate, 0.26 m across: a flat well, a rim, a foot to stand on.
const PLATE: Profile = Profile {
    upper: &[
        [0.0, 0.0085],
        [0.040, 0.0085],
        [0.070, 0.0085],
        [0.084, 0.0115],
        [0.093, 0.0185],
        [0.104, 0.0222],
        [0.130, 0.0275],
    ],
    thickness: &[
        [0.0, 0.0052],
        [0.060, 0.0052],
        [0.0665, 0.0085],
        [0.0725, 0.0090],
        [0.080, 0.0052],
        [0.110, 0.0048],
        [0.125, 0.0042],
        [0.130, 0.0030],
    ],
};

/// A bowl, 0.16 m across and 0.07 m high, with a foot.
const BOWL: Profile = Profile {
    upper: &[
        [0.0, 0.0110],
        [0.012, 0.0110],
        [0.028, 0.0130],
        [0.046, 0.0210],
        [0.062, 0.0370],
        [0.073, 0.0540],
        [0.080, 0.0700],
    ],
    thickness: &[
        [0.0, 0.0060],
        [0.018, 0.0060],
        [0.0245, 0.0110],
        [0.0300, 0.0110],
        [0.037, 0.0062],
        [0.070, 0.0050],
        [0.080, 0.0034],
    ],
};

/// The plate; `refine` 1 gives the counts of Table 1.
pub(super) fn plate(refine: f64) -> TetMesh {
    PLATE.turn(scaled(21, refine), 6)
}

/// The bowl.
pub(super) fn bowl(refine: f64) -> TetMesh {
    BOWL.turn(scaled(20, refine), 6)
}

/// Length of the edges of a fine surface, metres.
const FINE_EDGE: f64 = 0.0033;

/// The fine surface of a thing turned on a wheel, on a mesh of it.
pub(super) fn fine_boundary(name: &str, mesh: &TetMesh, scale: f64) -> Option<FineBoundary> {
    let profile = match name {
        "plate" => &PLATE,
        "bowl" => &BOWL,
        _ => return None,
    };
    let side = profile.upper_side();
    // Nodes are in pairs, upper and lower: both have the place of the upper along its side.
    let along = |n: usize| side.along_at(f64::from(pair_radius(mesh, n)) / scale);
    let turned = Turned {
        profile,
        along: (0..mesh.positions().len()).map(along).collect(),
        side,
        scale,
    };
    Some(divide(mesh, FINE_EDGE * scale, &turned))
}

/// Distance from the axis of the upper of two nodes.
fn pair_radius(mesh: &TetMesh, node: usize) -> f32 {
    let p = mesh.positions()[node & !1];
    p.x.hypot(p.z)
}

/// The upper side of a profile, in short straight pieces.
struct UpperSide {
    curve: Vec<DVec2>,
    /// Lengths from the axis to each point of it.
    along: Vec<f64>,
}

impl UpperSide {
    fn length(&self) -> f64 {
        self.along[self.along.len() - 1]
    }

    /// The length at which it has this radius.
    fn along_at(&self, radius: f64) -> f64 {
        let i = self.curve.partition_point(|p| p.x < radius);
        let i = i.clamp(1, self.curve.len() - 1);
        let [a, b] = [i - 1, i].map(|k| self.curve[k].x);
        let t = ((radius - a) / (b - a)).clamp(0.0, 1.0);
        self.along[i - 1] + (self.along[i] - self.along[i - 1]) * t
    }
}

/// A turned thing as it really is.
struct Turned<'a> {
    profile: &'a Profile,
    side: UpperSide,
    /// For each node, its length along the upper side.
    along: Vec<f64>,
    scale: f64,
}

impl Turned<'_> {
    /// Point of the profile: along it, and through the thickness from 0 (upper side) to 1.
    fn at(&self, along: f64, through: f64) -> DVec2 {
        let along = along.clamp(0.0, self.side.length());
        let [upper, lower] = self.profile.station(&self.side, along);
        upper.lerp(lower, through)
    }
}

impl FineSurface for Turned<'_> {
    /// The upper side, the lower side, and the rim between them.
    fn part_of(&self, nodes: [u32; 3]) -> u32 {
        match nodes.iter().filter(|&&n| n % 2 == 1).count() {
            0 => 0,
            3 => 1,
            _ => 2,
        }
    }

    fn place(&self, point: &FacePoint) -> FinePoint {
        let (mut along, mut through) = (0.0, 0.0);
        for (&n, w) in point.nodes.iter().zip(point.weights) {
            along += self.along[n as usize] * w;
            through += f64::from(n % 2) * w;
        }
        let away = DVec2::new(point.flat.x, point.flat.z).normalize_or(DVec2::X);
        let turn = |p: DVec2| DVec3::new(p.x * away.x, p.y, p.x * away.y);
        let near = 0.01 * self.side.length();
        let way = self.at(along + near, through) - self.at(along - near, through);
        let normal = match self.part_of(point.nodes) {
            0 => way.perp(),
            1 => -way.perp(),
            _ => (self.at(along, 1.0) - self.at(along, 0.0)).perp(),
        };
        FinePoint {
            position: turn(self.at(along, through)) * self.scale,
            normal: turn(normal).normalize_or(DVec3::Y).as_vec3(),
        }
    }
}

fn scaled(rings: usize, refine: f64) -> usize {
    (libm::round(rings as f64 * refine) as usize).max(4)
}

impl Profile {
    /// Turns the profile with this many rings; each has a multiple of `fold` vertices.
    fn turn(&self, rings: usize, fold: usize) -> TetMesh {
        let stations = self.stations(rings);
        let edge = stations[1][0].distance(stations[0][0]);
        let mut positions: Vec<Vec3> = Vec::new();
        // Each vertex of the web is two nodes, upper then lower: 2 i and 2 i + 1.
        let mut add = |[upper, lower]: [DVec2; 2], sin: f64, cos: f64| {
            for side in [upper, lower] {
                let p = [side.x * cos, side.y, side.x * sin];
                positions.push(Vec3::from_array(p.map(|v| v as f32)));
            }
        };
        add(stations[0], 0.0, 1.0);
        let mut web: Vec<[u32; 3]> = Vec::new();
        let (mut inner_start, mut inner_count, mut next) = (0_u32, 1_u32, 1_u32);
        for &station in &stations[1..] {
            let circumference = std::f64::consts::TAU * station[0].x.max(station[1].x);
            let wanted = libm::round(circumference / edge / fold as f64) as u32;
            let count = (wanted.max(1) * fold as u32).max(inner_count);
            for i in 0..count {
                let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count);
                add(station, libm::sin(angle), libm::cos(angle));
            }
            stitch(&mut web, (inner_start, inner_count), (next, count));
            (inner_start, inner_count, next) = (next, count, next + count);
        }
        let mut tets = Vec::with_capacity(web.len() * 3);
        for mut corners in web {
            corners.sort_unstable();
            let [a, b, c] = corners.map(|v| 2 * v);
            let prism = [
                [a, b, c, a + 1],
                [b, c, a + 1, b + 1],
                [c, a + 1, b + 1, c + 1],
            ];
            tets.extend(prism.map(|tet| positive(tet, &positions)));
        }
        TetMesh::build(positions, tets).expect("prisms of a web make a mesh")
    }

    /// Points of the upper and lower side at equal distances along the upper side.
    fn stations(&self, rings: usize) -> Vec<[DVec2; 2]> {
        let side = self.upper_side();
        (0..=rings)
            .map(|ring| self.station(&side, side.length() * ring as f64 / rings as f64))
            .collect()
    }

    fn upper_side(&self) -> UpperSide {
        const FINE: usize = 40;
        let mut curve = Vec::new();
        for i in 0..self.upper.len() - 1 {
            curve.extend((0..FINE).map(|k| self.curve(i, k as f64 / FINE as f64)));
        }
        curve.push(DVec2::from_array(self.upper[self.upper.len() - 1]));
        let mut along = vec![0.0];
        for pair in curve.windows(2) {
            along.push(along[along.len() - 1] + pair[0].distance(pair[1]));
        }
        UpperSide { curve, along }
    }

    /// Upper and lower point at a length along the upper side.
    fn station(&self, UpperSide { curve, along }: &UpperSide, wanted: f64) -> [DVec2; 2] {
        let i = along
            .partition_point(|&l| l < wanted)
            .clamp(1, curve.len() - 1);
        let t = (wanted - along[i - 1]) / (along[i] - along[i - 1]);
        let upper = curve[i - 1].lerp(curve[i], t);
        let tangent = (curve[i] - curve[i - 1]).normalize();
        // Down and out.
        let below = DVec2::new(tangent.y, -tangent.x);
        let mut lower = upper + below * self.thickness_at(upper.x);
        if wanted == 0.0 {
            lower.x = 0.0;
        }
        [upper, lower]
    }

    /// A smooth curve through the corners (Catmull-Rom, flat at the axis).
    fn curve(&self, i: usize, t: f64) -> DVec2 {
        let at = |k: usize| DVec2::from_array(self.upper[k.min(self.upper.len() - 1)]);
        let [b, c, d] = [at(i), at(i + 1), at(i + 2)];
        let a = if i == 0 { b * 2.0 - c } else { at(i - 1) };
        // Where three corners are level the curve between them is exactly level.
        if b.y == c.y && (a.y == b.y || i == 0) && i + 2 < self.upper.len() && t < 1.0 {
            let x = b.x + (c.x - b.x) * t;
            return DVec2::new(x, b.y);
        }
        let (t2, t3) = (t * t, t * t * t);
        (b * 2.0
            + (c - a) * t
            + (a * 2.0 - b * 5.0 + c * 4.0 - d) * t2
            + (b * 3.0 - a - c * 3.0 + d) * t3)
            * 0.5
    }

    fn thickness_at(&self, radius: f64) -> f64 {
        let table = self.thickness;
        let i = table
            .partition_point(|row| row[0] < radius)
            .clamp(1, table.len() - 1);
        let ([r0, t0], [r1, t1]) = (table[i - 1], table[i]);
        t0 + (t1 - t0) * ((radius - r0) / (r1 - r0)).clamp(0.0, 1.0)
    }
}

/// Triangles between two rings of vertices (first number, count), the outer with
/// at least as many as the inner: whichever ring is behind in angle goes on.
fn stitch(web: &mut Vec<[u32; 3]>, (inner, m): (u32, u32), (outer, n): (u32, u32)) {
    if m == 1 {
        web.extend((0..n).map(|j| [inner, outer + j, outer + (j + 1) % n]));
        return;
    }
    let (mut i, mut j) = (0, 0);
    while i < m || j < n {
        let [here, there] = [inner + i % m, outer + j % n];
        // Compare (i + 1/2) / m with (j + 1/2) / n exactly.
        if j < n
            && (i == m
                || u64::from(2 * j + 1) * u64::from(m) <= u64::from(2 * i + 1) * u64::from(n))
        {
            web.push([here, there, outer + (j + 1) % n]);
            j += 1;
        } else {
            web.push([here, there, inner + (i + 1) % m]);
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_of_any_counts_are_stitched_without_gaps() {
        for (m, n) in [(1, 6), (6, 6), (6, 12), (12, 18), (18, 24), (30, 66)] {
            let mut web = Vec::new();
            stitch(&mut web, (0, m), (m, n));
            assert_eq!(web.len() as u32, if m == 1 { n } else { m + n });
            let mut edges: Vec<[u32; 2]> = web
                .iter()
                .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
                .map(|[a, b]| [a.min(b), a.max(b)])
                .collect();
            edges.sort_unstable();
            let rim = edges
                .chunk_by(|a, b| a == b)
                .filter(|c| c.len() == 1)
                .count() as u32;
            assert_eq!(rim, if m == 1 { n } else { m + n }, "{m} to {n}");
            assert!(edges.chunk_by(|a, b| a == b).all(|c| c.len() <= 2));
        }
    }

    #[test]
    fn the_plate_stands_on_its_foot_and_its_well_is_level() {
        let mesh = plate(1.0);
        let (lo, hi) = mesh.bounds();
        let well = mesh
            .positions()
            .iter()
            .step_by(2)
            .filter(|p| p.x.hypot(p.z) < 0.055);
        assert!(well.clone().count() > 100);
        assert!(well.into_iter().all(|p| p.y == 0.0085));
        let lowest = mesh.positions().iter().filter(|p| p.y < lo.y + 2e-4);
        assert!(
            lowest
                .clone()
                .all(|p| (0.055..0.08).contains(&p.x.hypot(p.z)))
        );
        assert!((hi.x - 0.13).abs() < 0.003 && hi.y < 0.03);
    }
}
