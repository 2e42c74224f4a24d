//! Creases and corners of the input, and pulling the mesh onto them.
//!
//! 1. An edge of the input is sharp if its two faces turn by more than 40 degrees.
//!    Connected sharp edges shorter together than a few cells are noise. A corner is
//!    where other than two sharp edges meet, or two that turn by more than 50 degrees.
//! 2. Each corner takes the nearest boundary node that can go there; then boundary
//!    nodes near a crease go onto it, nearest first.
//! 3. A boundary edge that still runs from one side of a crease to the other is split
//!    by a new node on the crease.
//! 4. After the mesh was improved, nodes that ruin an angle are let go again.
//!
//! A node only goes where its tetrahedra stay positive and not too flat.

use glam::DVec3;

use super::bvh::Bvh;
use super::lattice::PackedMap;
use super::reconnect;
use super::work::{Pin, Work};

/// Cosine of the turn that makes an edge sharp: 40 degrees.
const SHARP: f64 = 0.766;
/// Cosine of the turn between two creases that makes a corner: 50 degrees.
const TURN: f64 = 0.643;
/// Connected creases shorter than this many cells are noise.
const NOISE: f64 = 4.0;
/// Nodes nearer to a crease than this part of their mean edge go onto it.
const REACH: f64 = 0.55;
/// The same for a corner.
const CORNER_REACH: f64 = 0.9;
/// The least sine of a dihedral angle that snapping may leave, before improvement.
const FLATTEST: f64 = 0.04;
/// Nodes that leave less than this after improvement are let go: the sine of 11 degrees.
const RELEASE: f64 = 0.19;

/// The sharp edges of a surface.
#[derive(Clone, Debug)]
pub(super) struct Creases {
    tree: Bvh,
    /// Unit normals of the two faces at each sharp edge.
    sides: Vec<[DVec3; 2]>,
    corners: Vec<DVec3>,
}

impl Creases {
    /// No creases: implicit shapes.
    pub(super) fn none() -> Self {
        Self {
            tree: Bvh::build(&[], &[]),
            sides: Vec::new(),
            corners: Vec::new(),
        }
    }

    /// Finds the creases that matter at a spacing.
    pub(super) fn detect(positions: &[DVec3], triangles: &[[u32; 3]], spacing: f64) -> Self {
        let sharp = sharp_edges(positions, triangles);
        let (edges, sides) = without_noise(positions, sharp, NOISE * spacing);
        let corners = find_corners(positions, &edges);
        // A segment is a triangle with a repeated corner.
        let segments: Vec<[u32; 3]> = edges.iter().map(|&[a, b]| [a, b, b]).collect();
        Self {
            tree: Bvh::build(positions, &segments),
            sides,
            corners,
        }
    }

    /// The closest point on a crease within `reach`.
    pub(super) fn closest(&self, p: DVec3, reach: f64) -> Option<DVec3> {
        self.tree.closest(p, reach).map(|c| c.point)
    }

    fn is_empty(&self) -> bool {
        self.sides.is_empty()
    }
}

fn sharp_edges(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<([u32; 2], [DVec3; 2])> {
    let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(triangles.len() * 3);
    for (t, tri) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (tri[k], tri[(k + 1) % 3]);
            edges.push(([a.min(b), a.max(b)], t as u32));
        }
    }
    edges.sort_unstable();
    let normal = |t: u32| {
        let [a, b, c] = triangles[t as usize].map(|v| positions[v as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    };
    let mut sharp = Vec::new();
    let mut i = 0;
    while i < edges.len() {
        let run = edges[i..].iter().take_while(|e| e.0 == edges[i].0).count();
        if run == 2 {
            let (m, n) = (normal(edges[i].1), normal(edges[i + 1].1));
            if m.dot(n) < SHARP && m != DVec3::ZERO && n != DVec3::ZERO {
                sharp.push((edges[i].0, [m, n]));
            }
        }
        i += run;
    }
    sharp
}

fn without_noise(
    positions: &[DVec3],
    sharp: Vec<([u32; 2], [DVec3; 2])>,
    least: f64,
) -> (Vec<[u32; 2]>, Vec<[DVec3; 2]>) {
    let mut root: PackedMap<u32> = PackedMap::default();
    fn find(root: &mut PackedMap<u32>, v: u32) -> u32 {
        let mut at = v;
        while let Some(&up) = root.get(&u64::from(at)) {
            if up == at {
                break;
            }
            at = up;
        }
        root.insert(u64::from(v), at);
        at
    }
    for ([a, b], _) in &sharp {
        let (a, b) = (find(&mut root, *a), find(&mut root, *b));
        root.insert(u64::from(a.max(b)), a.min(b));
    }
    let mut length: PackedMap<f64> = PackedMap::default();
    for ([a, b], _) in &sharp {
        let key = u64::from(find(&mut root, *a));
        *length.entry(key).or_default() += positions[*a as usize].distance(positions[*b as usize]);
    }
    sharp
        .into_iter()
        .filter(|([a, _], _)| length[&u64::from(find(&mut root, *a))] >= least)
        .unzip()
}

fn find_corners(positions: &[DVec3], edges: &[[u32; 2]]) -> Vec<DVec3> {
    let mut ends: Vec<(u32, u32)> = edges.iter().flat_map(|&[a, b]| [(a, b), (b, a)]).collect();
    ends.sort_unstable();
    let mut corners = Vec::new();
    let mut i = 0;
    while i < ends.len() {
        let run = ends[i..].iter().take_while(|e| e.0 == ends[i].0).count();
        let at = positions[ends[i].0 as usize];
        let toward = |k: usize| (positions[ends[i + k].1 as usize] - at).normalize_or_zero();
        let corner = match run {
            1 => false,
            2 => -toward(0).dot(toward(1)) < TURN,
            _ => true,
        };
        if corner {
            corners.push(at);
        }
        i += run;
    }
    corners
}

/// Pulls boundary nodes onto corners and creases.
pub(super) fn snap(work: &mut Work, creases: &Creases) {
    if creases.is_empty() {
        return;
    }
    snap_corners(work, creases);
    let mut near: Vec<(f64, u32, DVec3)> = (0..work.positions.len() as u32)
        .filter(|&n| work.pins[n as usize] == Pin::Surface)
        .filter_map(|n| {
            let at = work.positions[n as usize];
            let edge = work.mean_edge(n);
            let q = creases.closest(at, REACH * edge)?;
            Some((q.distance(at) / edge, n, q))
        })
        .collect();
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (_, n, q) in near {
        try_pin(work, n, q, Pin::Crease);
    }
    split_across(work, creases);
}

fn try_pin(work: &mut Work, node: u32, place: DVec3, pin: Pin) -> bool {
    let now = work.star_quality(node, work.positions[node as usize], f64::NEG_INFINITY);
    let fine = work.star_quality(node, place, FLATTEST.min(0.9 * now)) > FLATTEST.min(0.9 * now);
    if fine {
        work.positions[node as usize] = place;
        work.pins[node as usize] = pin;
    }
    fine
}

fn snap_corners(work: &mut Work, creases: &Creases) {
    // Boundary nodes in a grid of cells as large as the largest mean edge.
    let nodes: Vec<(u32, f64)> = (0..work.positions.len() as u32)
        .filter(|&n| work.pins[n as usize] == Pin::Surface)
        .map(|n| (n, work.mean_edge(n)))
        .collect();
    let cell = nodes.iter().map(|n| n.1).fold(0.0, f64::max);
    if cell <= 0.0 {
        return;
    }
    let key = |c: [i64; 3]| {
        let part = |v: i64| (v & 0x1f_ffff) as u64;
        part(c[0]) | part(c[1]) << 21 | part(c[2]) << 42
    };
    let cell_of = |p: DVec3| (p / cell).floor().to_array().map(|v| v as i64);
    let mut grid: PackedMap<Vec<usize>> = PackedMap::default();
    for (i, (n, _)) in nodes.iter().enumerate() {
        let c = cell_of(work.positions[*n as usize]);
        grid.entry(key(c)).or_default().push(i);
    }
    for &corner in &creases.corners {
        let home = cell_of(corner);
        let mut near: Vec<(f64, u32)> = Vec::new();
        for d in 0..27 {
            let c = [
                home[0] + d % 3 - 1,
                home[1] + d / 3 % 3 - 1,
                home[2] + d / 9 - 1,
            ];
            for &i in grid.get(&key(c)).map_or(&[][..], Vec::as_slice) {
                let (n, edge) = nodes[i];
                let distance = work.positions[n as usize].distance(corner) / edge;
                if distance < CORNER_REACH && work.pins[n as usize] == Pin::Surface {
                    near.push((distance, n));
                }
            }
        }
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(_, n) in near.iter().take(4) {
            if try_pin(work, n, corner, Pin::Corner) {
                break;
            }
        }
    }
}

/// Splits boundary edges whose ends lie on different sides of a crease.
fn split_across(work: &mut Work, creases: &Creases) {
    for [a, b] in boundary_edges(work) {
        let on_surface = |n: u32| work.pins[n as usize] == Pin::Surface;
        if !on_surface(a) || !on_surface(b) {
            continue;
        }
        let (p, q) = (work.positions[a as usize], work.positions[b as usize]);
        let length = p.distance(q);
        let middle = 0.5 * (p + q);
        let Some(found) = creases.tree.closest(middle, 0.5 * length) else {
            continue;
        };
        if found.distance_squared < (0.05 * length).powi(2) {
            continue;
        }
        let [m, n] = creases.sides[creases.tree.order[found.entry as usize] as usize];
        let side = |x: DVec3| {
            let d = x - found.point;
            d.dot(m).abs() < d.dot(n).abs()
        };
        if side(p) != side(q) {
            reconnect::split_edge(work, a, b, found.point, Pin::Crease, FLATTEST);
        }
    }
}

fn boundary_edges(work: &Work) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for ([a, b, c], _) in
        super::topology::boundary(&work.tets, &super::topology::neighbours(&work.tets))
    {
        for [u, v] in [[a, b], [b, c], [c, a]] {
            if u < v {
                edges.push([u, v]);
            }
        }
    }
    edges.sort_unstable();
    edges
}

/// Lets go of nodes whose tetrahedra stayed too flat; says whether there were any.
pub(super) fn release(work: &mut Work) -> bool {
    let mut any = false;
    for node in 0..work.positions.len() as u32 {
        let pin = work.pins[node as usize];
        if !matches!(pin, Pin::Crease | Pin::Corner) || work.around[node as usize].is_empty() {
            continue;
        }
        let at = work.positions[node as usize];
        if work.star_quality(node, at, f64::NEG_INFINITY) < RELEASE {
            work.pins[node as usize] = Pin::Surface;
            any = true;
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_has_twelve_creases_and_eight_corners() {
        let (positions, triangles) = fracas_core::testing::unit_cube();
        let creases = Creases::detect(&positions, &triangles, 0.1);
        assert_eq!(creases.sides.len(), 12);
        assert_eq!(creases.corners.len(), 8);
        let q = creases.closest(DVec3::new(0.3, 0.1, -0.1), 1.0).unwrap();
        assert!(q.distance(DVec3::new(0.3, 0.0, 0.0)) < 1e-12);
        // At a spacing as large as the cube, its creases are noise.
        assert!(Creases::detect(&positions, &triangles, 4.0).is_empty());
    }
}
