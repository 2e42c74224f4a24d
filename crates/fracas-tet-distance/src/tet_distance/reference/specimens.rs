//! Meshes for measuring marches: the paper's disc and rectangle, and solids.
//!
//! The paper's 2D meshes are one-layer slabs here: triangles extruded to prisms,
//! prisms cut into three tetrahedra, top and bottom declared planes of symmetry.
//! Distances to the rim are then the two-dimensional ones. [Marchal 2004, Figs. 8-10]

use glam::{Vec2, Vec3};

use super::super::topology::Topology;
use fracas_geometry::testing::{Rng, box_grid};
use fracas_geometry::tet_mesh::NONE;

/// A mesh to march on.
#[derive(Clone, Debug)]
pub struct Specimen {
    /// Its name in tables.
    pub name: &'static str,
    /// Its adjacency; slabs leave out top and bottom.
    pub topology: Topology,
    /// Its nodes.
    pub positions: Vec<Vec3>,
    /// Whether it is a slab: then its first half of nodes is the bottom layer,
    /// the second half the top, in the same order.
    pub slab: bool,
}

/// A disc of radius 1 and 486 nodes, bent, and cut into three parts.
#[must_use]
pub fn cut_disc() -> Specimen {
    let (points, triangles) = disc(486);
    let bend = |p: Vec2| {
        Vec2::new(
            p.x * (1.0 + 0.25 * p.y) + 0.2 * p.y * p.y,
            0.8 * p.y + 0.25 * p.x * p.x - 0.15 * p.x,
        )
    };
    // Two curved cuts that do not cross: the parts are not convex.
    let side = |p: Vec2| {
        let right = p.x - 0.2 - 0.35 * p.y * p.y > 0.0;
        let left = p.x + 0.35 + 0.3 * libm::sinf(3.0 * p.y) < 0.0;
        u32::from(right) + 2 * u32::from(left)
    };
    let apart = [Vec2::ZERO, Vec2::new(0.12, 0.02), Vec2::new(-0.1, 0.05)];
    let (points, triangles) = cut(points, &triangles, side);
    let points = points
        .into_iter()
        .map(|(p, part)| bend(p) + apart[part as usize])
        .collect();
    slab("cut disc, 486 nodes", points, &triangles, 0.02)
}

/// A rectangle 2 by 1 of 1000 nodes, sheared by a wave and slit twice.
#[must_use]
pub fn slit_rectangle() -> Specimen {
    let (columns, rows) = (40_u32, 25_u32);
    let mut points = Vec::new();
    for y in 0..rows {
        for x in 0..columns {
            points.push(Vec2::new(
                2.0 * x as f32 / (columns - 1) as f32,
                y as f32 / (rows - 1) as f32,
            ));
        }
    }
    let mut triangles = Vec::new();
    for y in 0..rows - 1 {
        for x in 0..columns - 1 {
            let at = y * columns + x;
            let [a, b, c, d] = [at, at + 1, at + columns + 1, at + columns];
            // Alternating diagonals.
            if (x + y) % 2 == 0 {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    // A wedge cut out of each half: cells left of a slit up to a height belong to a
    // part of their own as far as the slit goes.
    let side = |p: Vec2| u32::from(p.x > 0.7) + u32::from(p.x > 1.35 && p.y < 2.0);
    let (points, triangles) = cut(points, &triangles, side);
    let points = points
        .into_iter()
        .map(|(p, part)| {
            let wave = 0.12 * libm::sinf(4.0 * p.x) + 0.08 * part as f32 * p.y;
            Vec2::new(p.x + 0.1 * part as f32 + 0.15 * p.y * p.y, p.y + wave)
        })
        .collect();
    slab("cut rectangle, 1000 nodes", points, &triangles, 0.02)
}

/// A unit box of `6 cells^3` tetrahedra with inner nodes shaken.
#[must_use]
pub fn shaken_box(cells: u32) -> Specimen {
    let mesh = box_grid([cells; 3], Vec3::ONE);
    let boundary = mesh.boundary_nodes();
    let mut rng = Rng(u64::from(cells));
    let reach = 0.2 / cells as f32;
    let positions: Vec<Vec3> = mesh
        .positions()
        .iter()
        .zip(boundary)
        .map(|(&p, rim)| if rim { p } else { p + reach * rng.direction() })
        .collect();
    solid("box", positions, mesh.tets())
}

/// A rounded cube with bumps, as good as a ball, of `6 cells^3` tetrahedra.
#[must_use]
pub fn bumpy_ball(cells: u32) -> Specimen {
    let mesh = box_grid([cells; 3], Vec3::splat(2.0));
    let positions: Vec<Vec3> = mesh
        .positions()
        .iter()
        .map(|&p| {
            let p = p - Vec3::ONE;
            let length = p.length();
            if length == 0.0 {
                return p;
            }
            // Cubes go most of the way to spheres (all the way would flatten the
            // tetrahedra along their edges); then the radius swells and sinks.
            let unit = p / length;
            let radius = p.abs().max_element();
            let bumps = 1.0
                + 0.12 * libm::sinf(5.0 * unit.x + 1.0) * libm::cosf(4.0 * unit.y - 2.0 * unit.z);
            (0.65 * unit * radius + 0.35 * p) * bumps
        })
        .collect();
    solid("bumpy ball", positions, mesh.tets())
}

/// A long bar with `6 n n (8 n)` tetrahedra, twisted and bent: thin all along.
#[must_use]
pub fn twisted_bar(n: u32) -> Specimen {
    let mesh = box_grid([n, n, 8 * n], Vec3::new(1.0, 1.0, 8.0));
    let positions: Vec<Vec3> = mesh
        .positions()
        .iter()
        .map(|&p| {
            let (x, y) = (p.x - 0.5, p.y - 0.5);
            let (sin, cos) = libm::sincosf(0.5 * p.z);
            let bend = 0.05 * p.z * p.z;
            Vec3::new(x * cos - y * sin + bend, x * sin + y * cos, p.z)
        })
        .collect();
    solid("twisted bar", positions, mesh.tets())
}

fn solid(name: &'static str, positions: Vec<Vec3>, tets: &[[u32; 4]]) -> Specimen {
    Specimen {
        name,
        topology: Topology::build(positions.len(), tets).expect("a grid is a mesh"),
        positions,
        slab: false,
    }
}

/// A disc of radius 1 in rings, with exactly `count` nodes.
fn disc(count: u32) -> (Vec<Vec2>, Vec<[u32; 3]>) {
    let rings = (0..).find(|r| 1 + 3 * r * (r + 1) >= count).unwrap_or(1);
    let weight = rings * (rings + 1) / 2;
    let mut points = vec![Vec2::ZERO];
    let mut starts = vec![0_u32, 1];
    for ring in 1..=rings {
        let until = 1 + (count - 1) * (ring * (ring + 1) / 2) / weight;
        let here = until - starts[ring as usize];
        for i in 0..here {
            let angle = std::f32::consts::TAU * (i as f32 + 0.3 * ring as f32) / here as f32;
            let radius = ring as f32 / rings as f32;
            let (sin, cos) = libm::sincosf(angle);
            points.push(radius * Vec2::new(cos, sin));
        }
        starts.push(until);
    }
    let mut triangles = Vec::new();
    for ring in 0..rings as usize {
        let (inner, outer) = (starts[ring], starts[ring + 1]);
        let (n, m) = (outer - inner, starts[ring + 2] - outer);
        if n == 1 {
            triangles.extend((0..m).map(|j| [0, outer + j, outer + (j + 1) % m]));
            continue;
        }
        // Walk round both rings, always taking the step with the smaller angle.
        let angle = |i: u32, count: u32, ring: usize| (i as f32 + 0.3 * ring as f32) / count as f32;
        let first = angle(0, n, ring);
        let shift = (0..m)
            .min_by(|&a, &b| {
                let off = |j| {
                    let d = angle(j, m, ring + 1) - first;
                    (d - d.round()).abs()
                };
                off(a).total_cmp(&off(b))
            })
            .unwrap_or(0);
        let (mut i, mut j) = (0, 0);
        while i < n || j < m {
            let a = inner + i % n;
            let b = outer + (shift + j) % m;
            if j == m || (i < n && (i + 1) * m <= (j + 1) * n) {
                triangles.push([a, b, inner + (i + 1) % n]);
                i += 1;
            } else {
                triangles.push([a, b, outer + (shift + j + 1) % m]);
                j += 1;
            }
        }
    }
    (points, triangles)
}

/// Gives each part nodes of its own. Parts are told by triangle centres; each
/// point comes back with its part.
fn cut(
    points: Vec<Vec2>,
    triangles: &[[u32; 3]],
    part_of: impl Fn(Vec2) -> u32,
) -> (Vec<(Vec2, u32)>, Vec<[u32; 3]>) {
    let mut copies = vec![[NONE; 4]; points.len()];
    let mut out = Vec::new();
    let triangles = triangles
        .iter()
        .map(|t| {
            let centre = t.map(|n| points[n as usize]).iter().sum::<Vec2>() / 3.0;
            let part = part_of(centre);
            t.map(|n| {
                let copy = &mut copies[n as usize][part as usize];
                if *copy == NONE {
                    *copy = out.len() as u32;
                    out.push((points[n as usize], part));
                }
                *copy
            })
        })
        .collect();
    (out, triangles)
}

fn slab(name: &'static str, points: Vec<Vec2>, triangles: &[[u32; 3]], height: f32) -> Specimen {
    let count = points.len() as u32;
    let mut positions: Vec<Vec3> = points.iter().map(|p| p.extend(0.0)).collect();
    positions.extend(points.iter().map(|p| p.extend(height)));
    let mut tets = Vec::new();
    for t in triangles {
        // By ascending node: neighbours then agree on the diagonals of their walls.
        let mut sorted = *t;
        sorted.sort_unstable();
        let [a, b, c] = sorted;
        let up = |n: u32| n + count;
        for mut tet in [
            [a, b, c, up(c)],
            [a, b, up(c), up(b)],
            [a, up(b), up(c), up(a)],
        ] {
            let corners = tet.map(|n| positions[n as usize]);
            if fracas_geometry::tet_mesh::signed_volume(corners) < 0.0 {
                tet.swap(0, 1);
            }
            tets.push(tet);
        }
    }
    let is_wall = |nodes: [u32; 3]| {
        let tops = nodes.iter().filter(|&&n| n >= count).count();
        tops == 1 || tops == 2
    };
    Specimen {
        name,
        topology: Topology::build_with_walls(positions.len(), &tets, is_wall)
            .expect("prisms over a triangulation are a mesh"),
        positions,
        slab: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::TetMesh;

    #[test]
    fn specimens_are_meshes() {
        let (points, triangles) = disc(486);
        assert_eq!(points.len(), 486);
        let area: f32 = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|n| points[n as usize]);
                0.5 * (b - a).perp_dot(c - a)
            })
            .sum();
        assert!((3.05..std::f32::consts::PI).contains(&area), "area {area}");
        for specimen in [
            cut_disc(),
            slit_rectangle(),
            bumpy_ball(6),
            shaken_box(5),
            twisted_bar(2),
        ] {
            specimen.topology.validate().unwrap();
            TetMesh::build(
                specimen.positions.clone(),
                specimen.topology.tets().to_vec(),
            )
            .unwrap_or_else(|e| panic!("{}: {e}", specimen.name));
        }
        assert_eq!(cut_disc().topology.part_count(), 3);
        assert_eq!(slit_rectangle().topology.part_count(), 3);
    }
}
