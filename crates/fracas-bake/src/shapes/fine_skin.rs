//! A fine, smooth surface of a signed function, for the eye only.
//!
//! Naive surface nets (Gibson 1998): a vertex in every cell of a grid that the surface
//! passes, a quad across every edge of the grid that it crosses; then every vertex goes
//! along the gradient onto the surface. Closed whatever the function.

use fracas::TetMesh;
use fracas::dressing::SkinMap;
use glam::{DVec3, Vec3};

/// A surface with normals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FineSkin {
    /// Where its vertices are.
    pub positions: Vec<DVec3>,
    /// Unit normals, outwards.
    pub normals: Vec<Vec3>,
    /// Its triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl FineSkin {
    /// Lays it on tetrahedra of the same shape.
    #[must_use]
    pub fn map(&self, mesh: &TetMesh) -> Option<SkinMap> {
        SkinMap::build(mesh, &self.positions, &self.triangles).ok()
    }

    /// Larger or smaller.
    #[must_use]
    pub fn scaled(mut self, scale: f64) -> Self {
        for p in &mut self.positions {
            *p *= scale;
        }
        self
    }
}

/// The surface where `f` is zero, within bounds, with cells of this size.
pub(super) fn surface(f: &dyn Fn(DVec3) -> f64, bounds: (DVec3, DVec3), cell: f64) -> FineSkin {
    let low = bounds.0 - 2.0 * cell;
    let span = bounds.1 + 2.0 * cell - low;
    let [nx, ny, nz] = (span / cell).to_array().map(|x| x as usize + 2);
    let at = |x: usize, y: usize, z: usize| (z * ny + y) * nx + x;
    let place =
        |x: usize, y: usize, z: usize| low + cell * DVec3::new(x as f64, y as f64, z as f64);
    let mut values = vec![0.0_f64; nx * ny * nz];
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                values[at(x, y, z)] = f(place(x, y, z));
            }
        }
    }
    let mut skin = FineSkin::default();
    let mut vertex = vec![u32::MAX; nx * ny * nz];
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let corner = |i: usize| {
                    let (dx, dy, dz) = (i & 1, i >> 1 & 1, i >> 2);
                    (
                        place(x + dx, y + dy, z + dz),
                        values[at(x + dx, y + dy, z + dz)],
                    )
                };
                let (mut sum, mut count) = (DVec3::ZERO, 0.0);
                for i in 0..8 {
                    for bit in [1, 2, 4] {
                        let j = i | bit;
                        let ((p, a), (q, b)) = (corner(i), corner(j));
                        if j != i && (a < 0.0) != (b < 0.0) {
                            sum += p + (q - p) * (a / (a - b));
                            count += 1.0;
                        }
                    }
                }
                if count > 0.0 {
                    vertex[at(x, y, z)] = skin.positions.len() as u32;
                    skin.positions.push(onto(f, sum / count, cell));
                }
            }
        }
    }
    skin.normals = skin
        .positions
        .iter()
        .map(|&p| gradient(f, p, 0.02 * cell).normalize_or(DVec3::Y).as_vec3())
        .collect();
    // A quad across each edge that is crossed, among the four cells around it.
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let here = values[at(x, y, z)] < 0.0;
                for axis in 0..3 {
                    let step = |k: usize| usize::from(axis == k);
                    let next = values[at(x + step(0), y + step(1), z + step(2))] < 0.0;
                    if here == next {
                        continue;
                    }
                    let around: [u32; 4] = std::array::from_fn(|i| {
                        // Back along the other two axes: (0, 0), (1, 0), (1, 1), (0, 1).
                        let (u, v) = (usize::from(i == 1 || i == 2), usize::from(i >= 2));
                        let mut back = [0; 3];
                        back[(axis + 1) % 3] = u;
                        back[(axis + 2) % 3] = v;
                        vertex[at(x - back[0], y - back[1], z - back[2])]
                    });
                    let [a, b, c, d] = if here {
                        around
                    } else {
                        [around[3], around[2], around[1], around[0]]
                    };
                    skin.triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
        }
    }
    skin
}

fn gradient(f: &dyn Fn(DVec3) -> f64, p: DVec3, h: f64) -> DVec3 {
    let along = |axis: DVec3| (f(p + axis * h) - f(p - axis * h)) / (2.0 * h);
    DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z))
}

/// A few Newton steps onto the surface, no farther than half a cell.
fn onto(f: &dyn Fn(DVec3) -> f64, start: DVec3, cell: f64) -> DVec3 {
    let mut p = start;
    for _ in 0..4 {
        let slope = gradient(f, p, 0.02 * cell);
        let squared = slope.length_squared();
        if squared < 1e-12 {
            break;
        }
        p -= slope * (f(p) / squared);
        let off = p - start;
        if off.length() > 0.5 * cell {
            return start + off.normalize() * (0.5 * cell);
        }
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_is_round_closed_and_outward() {
        let f = |p: DVec3| p.length() - 0.9;
        let skin = surface(&f, (DVec3::splat(-1.0), DVec3::splat(1.0)), 0.07);
        let mut sides = std::collections::HashMap::new();
        let mut volume = 0.0;
        for t in &skin.triangles {
            for i in 0..3 {
                let (a, b) = (t[i], t[(i + 1) % 3]);
                *sides.entry((a.min(b), a.max(b))).or_insert(0) += if a < b { 1 } else { -1 };
            }
            let [a, b, c] = t.map(|v| skin.positions[v as usize]);
            volume += a.dot(b.cross(c)) / 6.0;
        }
        assert!(sides.values().all(|&n| n == 0), "it is closed");
        let wanted = 4.0 / 3.0 * std::f64::consts::PI * 0.9_f64.powi(3);
        assert!((volume / wanted - 1.0).abs() < 0.01, "{volume} of {wanted}");
        for (p, n) in skin.positions.iter().zip(&skin.normals) {
            assert!((p.length() - 0.9).abs() < 1e-6);
            assert!(n.as_dvec3().dot(p.normalize()) > 0.999);
        }
    }
}
