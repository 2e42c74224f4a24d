//! Meshes that sequences are made of.

use glam::{DVec3, dvec3};

/// Vertices and triangles.
pub type Mesh = (Vec<DVec3>, Vec<[u32; 3]>);

/// A sheet of `nx` x `ny` quads over `[-1, 1]^2`, z = 0, two triangles each.
#[must_use]
pub fn sheet(nx: u32, ny: u32) -> Mesh {
    let mut positions = Vec::new();
    for y in 0..=ny {
        for x in 0..=nx {
            let (u, v) = (f64::from(x) / f64::from(nx), f64::from(y) / f64::from(ny));
            positions.push(dvec3(2.0 * u - 1.0, 2.0 * v - 1.0, 0.0));
        }
    }
    let mut triangles = Vec::new();
    for y in 0..ny {
        for x in 0..nx {
            let a = y * (nx + 1) + x;
            let (b, c, d) = (a + 1, a + nx + 1, a + nx + 2);
            // Diagonals alternate, as in a woven sheet.
            if (x + y) % 2 == 0 {
                triangles.extend([[a, b, d], [a, d, c]]);
            } else {
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
    }
    (positions, triangles)
}

/// A unit sphere: an icosahedron, each triangle cut into four `levels` times.
#[must_use]
pub fn icosphere(levels: u32) -> Mesh {
    let g = f64::midpoint(1.0, 5.0_f64.sqrt());
    let mut positions: Vec<DVec3> = [
        (-1.0, g, 0.0),
        (1.0, g, 0.0),
        (-1.0, -g, 0.0),
        (1.0, -g, 0.0),
        (0.0, -1.0, g),
        (0.0, 1.0, g),
        (0.0, -1.0, -g),
        (0.0, 1.0, -g),
        (g, 0.0, -1.0),
        (g, 0.0, 1.0),
        (-g, 0.0, -1.0),
        (-g, 0.0, 1.0),
    ]
    .iter()
    .map(|&(x, y, z)| dvec3(x, y, z).normalize())
    .collect();
    let mut triangles: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..levels {
        let mut middles = std::collections::BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let p = (positions[a as usize] + positions[b as usize]).normalize();
                positions.push(p);
                positions.len() as u32 - 1
            })
        };
        let mut finer = Vec::with_capacity(triangles.len() * 4);
        for [a, b, c] in triangles {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    (positions, triangles)
}

/// Cuts longest edges until there are `target` triangles (or one more): in each round
/// the longest edges first, no triangle twice. A closed mesh stays closed.
#[must_use]
pub fn refine_to((mut positions, mut triangles): Mesh, target: usize) -> Mesh {
    while triangles.len() < target {
        let mut edges: Vec<(u32, u32, u32)> = Vec::with_capacity(triangles.len() * 3);
        for (t, c) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (c[k], c[(k + 1) % 3]);
                edges.push((a.min(b), a.max(b), t as u32));
            }
        }
        edges.sort_unstable();
        // Edges with their triangles, longest first; ties by number.
        let mut unique: Vec<(f64, usize, usize)> = Vec::new();
        let mut at = 0;
        while at < edges.len() {
            let (a, b, _) = edges[at];
            let users = edges[at..]
                .iter()
                .take_while(|e| (e.0, e.1) == (a, b))
                .count();
            let length = positions[a as usize].distance_squared(positions[b as usize]);
            unique.push((length, at, users));
            at += users;
        }
        unique.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut cut = vec![false; triangles.len()];
        let before = triangles.len();
        for (_, at, users) in unique {
            if triangles.len() >= target {
                break;
            }
            let group = &edges[at..at + users];
            if group.iter().any(|e| cut[e.2 as usize]) {
                continue;
            }
            let (a, b) = (group[0].0, group[0].1);
            let m = positions.len() as u32;
            positions.push((positions[a as usize] + positions[b as usize]) * 0.5);
            for e in group {
                let t = e.2 as usize;
                cut[t] = true;
                let c = triangles[t];
                let k = (0..3).find(|&k| ![a, b].contains(&c[k])).unwrap_or(0);
                // c[k] is opposite the edge from c[k + 1] to c[k + 2].
                let (o, from, to) = (c[k], c[(k + 1) % 3], c[(k + 2) % 3]);
                triangles[t] = [o, from, m];
                triangles.push([o, m, to]);
                cut.push(true);
            }
        }
        if triangles.len() == before {
            break;
        }
    }
    (positions, triangles)
}
