//! A cage: the tet mesh with its boundary nodes moved outwards until it holds the skin.
//!
//! The skin bulges beyond the tetrahedra where these cut off what is round. Cracks are
//! linear in barycentric coordinates, so they go over to the cage as they are, and each
//! tetrahedron of the cage cuts the skin with its own planes: pieces of skin in
//! neighbouring tetrahedra meet exactly, whichever way the cracks run. (Extending the
//! planes of the outermost tetrahedra instead leaves wedges between them, see
//! `docs/decisions/0017`.)
//!
//! Steps, a few times: sample the skin -> for what no tetrahedron holds, the nearest
//! boundary face -> its nodes move along their normals by what is missing, less where a
//! tetrahedron would become flat. Then the same for parts of triangles between samples that
//! no tetrahedron holds.

use glam::DVec3;

use crate::tet_mesh::TetMesh;
use crate::{GOLDEN, splitmix64};

use super::polygon::Polygon;
use super::tets::{CageTet, TetGrid, bounds};

/// A tetrahedron of the cage keeps at least this share of its volume.
const SMALLEST: f64 = 0.01;
const ROUNDS: usize = 24;

/// How often a step that flattens a tetrahedron is made smaller.
const HALVINGS: usize = 10;

/// What is farther from the tetrahedra than so many mean edges is nothing that they cut off
/// where it is round: the cage does not reach out for it.
const FARTHEST: f64 = 4.0;

/// The longest side, in mean edges, of the parts in which triangles are cut by the cage: a
/// large triangle meets thousands of tetrahedra, and has thousands of parts, most of which
/// are nowhere near each other.
const LONGEST_PART: f64 = 2.0;

/// The most parts, and the most samples, that the triangles of a skin are divided into beside
/// one for each: a sheet may be wider than the tetrahedra by any factor.
const MOST_PARTS: f64 = 2e6;

/// How far nodes go astray, in mean edges.
const ASTRAY: f64 = 1e-4;

/// A point of the cube from -1 to 1 by number (splitmix64).
fn astray(number: u64) -> DVec3 {
    let mut state = number.wrapping_mul(GOLDEN);
    let mut next = || (splitmix64(&mut state) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    DVec3::new(next(), next(), next())
}

/// Maximum number of comparisons of a part of a triangle with a tetrahedron, for each
/// tetrahedron and each triangle. Where they are used up, the cage stays as it is: what it
/// does not hold makes pieces that are not closed.
const MAX_COMPARISONS: u64 = 300;

/// Where the nodes of the cage are, and how well it holds the skin.
pub(super) struct Cage {
    pub places: Vec<DVec3>,
    /// Samples of the skin outside of it.
    pub samples_outside: usize,
    /// Comparisons of a part of a triangle with a tetrahedron that were made.
    pub comparisons: u64,
}

/// Moves the boundary nodes outwards until the tetrahedra hold the skin.
pub(super) fn enclose(mesh: &TetMesh, positions: &[DVec3], triangles: &[[u32; 3]]) -> Cage {
    let original: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    let volumes: Vec<f64> = mesh
        .tets()
        .iter()
        .map(|&t| CageTet::new(t, &original).volume())
        .collect();
    let faces: Vec<([u32; 3], u32)> = mesh.boundary().map(|f| (f.nodes, f.tet)).collect();
    let mut faces_of = vec![[u32::MAX; 4]; mesh.tets().len()];
    for (i, &(_, tet)) in faces.iter().enumerate() {
        let slot = faces_of[tet as usize].iter().position(|&f| f == u32::MAX);
        faces_of[tet as usize][slot.unwrap_or(0)] = i as u32;
    }
    let surface = Boundary {
        faces,
        faces_of,
        edge: f64::from(mesh.mean_edge_length()),
    };
    let edge = surface.edge;
    // Models and meshes like the same round numbers: where a skin runs along faces and
    // edges of tetrahedra, rounding would decide on which side it is. Every node goes a
    // hair astray.
    let mut cage: Vec<DVec3> = original
        .iter()
        .enumerate()
        .map(|(n, &p)| p + ASTRAY * edge * astray(n as u64))
        .collect();
    // A hair of room everywhere: skins that lie in the boundary are then inside.
    let boundary = mesh.boundary_nodes();
    let room: Vec<f64> = boundary
        .iter()
        .map(|&b| if b { 2e-3 * edge } else { 0.0 })
        .collect();
    raise(mesh, &surface.faces, &volumes, &room, &mut cage);
    let corners = |t: &[u32; 3]| t.map(|v| positions[v as usize]);
    let least = least_length(triangles.iter().map(corners), MOST_PARTS);
    let spacing = least.max(0.4 * edge);
    let mut outside = samples(positions, triangles, spacing);
    let (low, high) = bounds(&original);
    let reach = DVec3::splat(FARTHEST * edge);
    outside.retain(|p| p.cmpge(low - reach).all() && p.cmple(high + reach).all());
    for _ in 0..ROUNDS {
        let grid = TetGrid::build(mesh, &cage);
        outside.retain(|&p| grid.holding(p).is_none());
        if outside.is_empty() {
            break;
        }
        let wanted = reaching_out(&grid, &outside, &surface, &cage);
        drop(grid);
        if !raise(mesh, &surface.faces, &volumes, &wanted, &mut cage) {
            break;
        }
    }
    // Points of a triangle may be inside and what is between them not: over a hollow of the
    // cage.
    let mut open: Vec<[DVec3; 3]> = triangles
        .iter()
        .map(corners)
        .filter(|t| {
            t.iter()
                .all(|p| p.cmpge(low - reach).all() && p.cmple(high + reach).all())
        })
        .flat_map(|t| small_parts(t, least.max(LONGEST_PART * edge)))
        .collect();
    let limit = MAX_COMPARISONS * (mesh.tets().len() + triangles.len()) as u64;
    let mut comparisons = 0;
    for _ in 0..ROUNDS {
        let grid = TetGrid::build(mesh, &cage);
        let mut parts = Vec::new();
        open.retain(|&triangle| {
            comparisons <= limit && leaves(&grid, triangle, &mut parts, &mut comparisons)
        });
        if open.is_empty() || comparisons > limit {
            break;
        }
        let wanted = reaching_out(&grid, &parts, &surface, &cage);
        drop(grid);
        if !raise(mesh, &surface.faces, &volumes, &wanted, &mut cage) {
            break;
        }
    }
    let grid = TetGrid::build(mesh, &cage);
    let samples_outside = samples(positions, triangles, spacing)
        .into_iter()
        .filter(|&p| grid.holding(p).is_none())
        .count();
    drop(grid);
    Cage {
        places: cage,
        samples_outside,
        comparisons,
    }
}

/// The boundary of the mesh.
struct Boundary {
    /// Nodes of each face, and its tetrahedron.
    faces: Vec<([u32; 3], u32)>,
    /// For each tetrahedron its faces.
    faces_of: Vec<[u32; 4]>,
    /// The mean edge of the mesh.
    edge: f64,
}

/// By how much each node must go outwards for points outside to be inside.
fn reaching_out(
    grid: &TetGrid<'_>,
    outside: &[DVec3],
    surface: &Boundary,
    cage: &[DVec3],
) -> Vec<f64> {
    let edge = surface.edge;
    let mut wanted = vec![0.0_f64; cage.len()];
    let normals = node_normals(&surface.faces, cage);
    for &p in outside {
        let Some((face, distance)) = nearest_face(grid, p, surface, cage) else {
            continue;
        };
        if distance > FARTHEST * edge {
            continue;
        }
        let nodes = surface.faces[face as usize].0;
        let [a, b, c] = nodes.map(|n| cage[n as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for n in nodes {
            let along = normals[n as usize].dot(normal).max(0.35);
            let by = (distance + 2e-3 * edge) / along;
            wanted[n as usize] = wanted[n as usize].max(by.min(0.5 * edge));
        }
    }
    wanted
}

/// Whether parts of a triangle lie in no tetrahedron; their middles go to `parts`.
fn leaves(
    grid: &TetGrid<'_>,
    corners: [DVec3; 3],
    parts: &mut Vec<DVec3>,
    comparisons: &mut u64,
) -> bool {
    let [a, b, c] = corners;
    let whole = grid.holding(a);
    if whole.is_some_and(|t| [b, c].iter().all(|&p| grid.tet(t).holds(p))) {
        return false;
    }
    let mut near = Vec::new();
    grid.near(a.min(b).min(c), a.max(b).max(c), &mut near);
    let triangle = Polygon::triangle(corners);
    let mut rest = vec![triangle];
    for tet in near {
        let shape = grid.tet(tet);
        let faces = [0, 1, 2, 3].map(|i| 4 * tet + i);
        let bounds = shape.bounds();
        if !triangle.meets(bounds) {
            continue;
        }
        *comparisons += rest.len() as u64;
        // Parts that it does not meet stay where they are.
        let mut next = 0;
        while let Some(found) = rest[next..].iter().position(|p| p.meets(bounds)) {
            next += found;
            let mut outside = Vec::new();
            let inside = shape.clip(&rest[next], faces, Some(&mut outside));
            if inside.is_empty() {
                next += 1;
            } else {
                let count = outside.len();
                rest.splice(next..=next, outside);
                next += count;
            }
        }
        if rest.is_empty() {
            return false;
        }
    }
    let least = 1e-8 * triangle.doubled_area().length();
    rest.retain(|polygon| polygon.doubled_area().length() > least);
    parts.extend(rest.iter().map(Polygon::middle));
    !rest.is_empty()
}

fn longest_side([a, b, c]: [DVec3; 3]) -> f64 {
    a.distance(b).max(b.distance(c)).max(c.distance(a))
}

/// The length down to which triangles can be divided into at most `max_parts`: a triangle
/// has at most four times as many as a square of its longest side.
pub(super) fn least_length(triangles: impl Iterator<Item = [DVec3; 3]>, max_parts: f64) -> f64 {
    let squares: f64 = triangles.map(|t| longest_side(t) * longest_side(t)).sum();
    (4.0 * squares / max_parts).sqrt()
}

/// A triangle in parts whose sides are no longer than told: sides are halved, longest first.
fn small_parts(triangle: [DVec3; 3], longest: f64) -> Vec<[DVec3; 3]> {
    let mut parts = Vec::new();
    let mut large = vec![triangle];
    while let Some([a, b, c]) = large.pop() {
        let sides = [[a, b, c], [b, c, a], [c, a, b]];
        let length = |[p, q, _]: &[DVec3; 3]| p.distance_squared(*q);
        let [p, q, r] = sides
            .into_iter()
            .max_by(|s, t| length(s).total_cmp(&length(t)))
            .unwrap_or(sides[0]);
        let middle = 0.5 * (p + q);
        // The middle of two neighbouring numbers is one of them.
        if p.distance(q) <= longest || middle == p || middle == q {
            parts.push([a, b, c]);
        } else {
            large.extend([[p, middle, r], [middle, q, r]]);
        }
    }
    parts
}

/// Points of the skin, no farther apart than `spacing` on large triangles.
fn samples(positions: &[DVec3], triangles: &[[u32; 3]], spacing: f64) -> Vec<DVec3> {
    let mut all = positions.to_vec();
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        let n = ((longest_side([a, b, c]) / spacing).ceil() as usize).min(200);
        for i in 0..=n {
            for j in 0..=n - i {
                if n > 1 && !(i == n || j == n || i + j == 0) {
                    let (u, v) = (i as f64 / n as f64, j as f64 / n as f64);
                    all.push(a + (b - a) * u + (c - a) * v);
                }
            }
        }
    }
    all
}

fn node_normals(faces: &[([u32; 3], u32)], places: &[DVec3]) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; places.len()];
    for (nodes, _) in faces {
        let corners = nodes.map(|n| places[n as usize]);
        let normal = (corners[1] - corners[0])
            .cross(corners[2] - corners[0])
            .normalize_or_zero();
        for i in 0..3 {
            let (u, v) = (
                corners[(i + 1) % 3] - corners[i],
                corners[(i + 2) % 3] - corners[i],
            );
            // By the angle at the node (Thuermer and Wuethrich 1998).
            let angle = libm::atan2(u.cross(v).length(), u.dot(v));
            normals[nodes[i] as usize] += normal * angle;
        }
    }
    for normal in &mut normals {
        *normal = normal.normalize_or_zero();
    }
    normals
}

/// Moves nodes along their normals; by less where tetrahedra would become too flat.
/// Whether anything moved.
fn raise(
    mesh: &TetMesh,
    faces: &[([u32; 3], u32)],
    volumes: &[f64],
    wanted: &[f64],
    cage: &mut [DVec3],
) -> bool {
    let normals = node_normals(faces, cage);
    let mut by = wanted.to_vec();
    let moved: Vec<u32> = (0..cage.len() as u32)
        .filter(|&n| by[n as usize] > 0.0)
        .collect();
    let mut touched: Vec<u32> = moved
        .iter()
        .flat_map(|&n| mesh.adjacent_tets(n))
        .copied()
        .collect();
    touched.sort_unstable();
    touched.dedup();
    for round in 0..HALVINGS {
        let place = |n: u32| cage[n as usize] + normals[n as usize] * by[n as usize];
        let flat: Vec<u32> = touched
            .iter()
            .copied()
            .filter(|&t| {
                let corners = mesh.tets()[t as usize].map(place);
                let [a, b, c, d] = corners;
                let volume = (b - a).cross(c - a).dot(d - a) / 6.0;
                volume < SMALLEST * volumes[t as usize]
            })
            .collect();
        if flat.is_empty() {
            break;
        }
        for t in flat {
            for n in mesh.tets()[t as usize] {
                by[n as usize] = if round + 2 < HALVINGS {
                    0.5 * by[n as usize]
                } else {
                    0.0
                };
            }
        }
    }
    let mut any = false;
    for n in moved {
        let step = by[n as usize];
        any |= step > 0.0;
        cage[n as usize] += normals[n as usize] * step;
    }
    any
}

fn nearest_face(
    grid: &TetGrid<'_>,
    p: DVec3,
    surface: &Boundary,
    cage: &[DVec3],
) -> Option<(u32, f64)> {
    let mut found = Vec::new();
    let mut best: Option<(f64, u32)> = None;
    let mut reach = grid.cell_size();
    for _ in 0..12 {
        grid.near(p - reach, p + reach, &mut found);
        for &t in &found {
            for &face in surface.faces_of[t as usize]
                .iter()
                .filter(|&&f| f != u32::MAX)
            {
                let corners = surface.faces[face as usize].0.map(|n| cage[n as usize]);
                let distance = p.distance(closest_point(p, corners));
                if best.is_none_or(|b| distance < b.0) {
                    best = Some((distance, face));
                }
            }
        }
        if best.is_some_and(|b| b.0 <= reach) {
            break;
        }
        reach *= 2.0;
    }
    best.map(|(distance, face)| (face, distance))
}

/// The point of a triangle closest to `p` (Ericson 2005, section 5.1.5).
pub(super) fn closest_point(p: DVec3, [a, b, c]: [DVec3; 3]) -> DVec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    if sum <= 0.0 {
        return a;
    }
    a + ab * (vb / sum) + ac * (vc / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_are_divided_finely_but_never_into_too_many() {
        let triangle = [
            DVec3::ZERO,
            DVec3::new(3.0, 0.2, 0.0),
            DVec3::new(-1.0, 2.0, 0.5),
        ];
        let area = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).length();
        let parts = small_parts(triangle, 0.25);
        assert!(parts.iter().all(|&t| longest_side(t) <= 0.25));
        let sum: f64 = parts.iter().copied().map(area).sum();
        assert!((sum - area(triangle)).abs() < 1e-12 * sum);
        // A needle, a sheet and a flat one a million edges wide.
        let wide = 1e6;
        for third in [
            DVec3::new(wide, 1.0, 0.0),
            wide * DVec3::Y,
            0.5 * wide * DVec3::X,
        ] {
            let sheet = [DVec3::ZERO, wide * DVec3::X, third];
            let least = least_length([sheet].into_iter(), MOST_PARTS);
            let count = small_parts(sheet, least.max(LONGEST_PART)).len();
            assert!(count as f64 <= MOST_PARTS, "{third}: {count}");
            let corners = sheet.to_vec();
            let count = samples(&corners, &[[0, 1, 2]], least.max(0.4)).len();
            assert!(count as f64 <= MOST_PARTS, "{third}: {count} samples");
        }
    }
}
