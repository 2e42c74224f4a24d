//! Divides triangles that are large against the tetrahedra.
//!
//! A triangle that passes thousands of tetrahedra is cut into as many parts, and each part
//! is compared with each tetrahedron. Divided first, a triangle passes a bounded number of
//! tetrahedra of mean size, and the work grows with the number of parts that come out.
//!
//! Whether a side is halved depends on that side alone, so neighbours stay joined.

use std::collections::BTreeMap;

use glam::DVec3;

/// Longest side of a divided triangle, in mean edges of the tetrahedra.
const MAX_SIDE: f64 = 6.0;

/// Maximum number of parts that all triangles together are divided into, beside one for
/// each: a sheet may be wider than the tetrahedra by any factor.
const MAX_PARTS: f64 = 2e5;

/// Triangles no larger than the tetrahedra allow, and where they come from.
pub(super) struct Divided {
    /// The given positions, then the middles of halved sides.
    pub positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    /// For each triangle the given one that it is a part of, in increasing order.
    pub parent: Vec<u32>,
}

/// Halves sides longer than [`MAX_SIDE`] mean edges (`edge`) until there are none.
pub(super) fn divide(mut positions: Vec<DVec3>, given: &[[u32; 3]], edge: f64) -> Divided {
    let corners = |t: &[u32; 3]| t.map(|v| positions[v as usize]);
    let least = super::cage::least_length(given.iter().map(corners), MAX_PARTS);
    let longest = least.max(MAX_SIDE * edge);
    let (mut triangles, mut parent) = (Vec::with_capacity(given.len()), Vec::new());
    let mut middles: BTreeMap<(u32, u32), Option<u32>> = BTreeMap::new();
    let mut middle_of = |a: u32, b: u32| -> Option<u32> {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            let [p, q] = [a.min(b), a.max(b)].map(|v| positions[v as usize]);
            let middle = 0.5 * (p + q);
            // The middle of two neighbouring numbers is one of them.
            (p.distance(q) > longest && middle != p && middle != q).then(|| {
                positions.push(middle);
                positions.len() as u32 - 1
            })
        })
    };
    for (number, &triangle) in given.iter().enumerate() {
        let mut large = vec![triangle];
        while let Some([a, b, c]) = large.pop() {
            let sides = [[a, b, c], [b, c, a], [c, a, b]];
            let halved = sides.map(|[p, q, _]| middle_of(p, q));
            match halved {
                [None, None, None] => {
                    triangles.push([a, b, c]);
                    parent.push(number as u32);
                }
                [Some(x), Some(y), Some(z)] => {
                    large.extend([[x, y, z], [z, y, c], [x, b, y], [a, x, z]]);
                }
                _ => {
                    // From a halved side whose successor, if any, is halved as well.
                    let first = (0..3).find(|&i| {
                        let after = halved[(i + 1) % 3].is_some();
                        let before = halved[(i + 2) % 3].is_some();
                        halved[i].is_some() && (after || !before)
                    });
                    let i = first.unwrap_or(0);
                    let [p, q, r] = sides[i];
                    let (x, y) = (halved[i].unwrap_or(p), halved[(i + 1) % 3]);
                    match y {
                        None => large.extend([[x, q, r], [p, x, r]]),
                        Some(y) => large.extend([[x, y, r], [x, q, y], [p, x, r]]),
                    }
                }
            }
        }
    }
    Divided {
        positions,
        triangles,
        parent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(positions: &[DVec3], triangles: &[[u32; 3]]) -> DVec3 {
        let sum = triangles.iter().map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            (b - a).cross(c - a)
        });
        sum.sum()
    }

    #[test]
    fn neighbours_stay_joined() {
        let positions = vec![
            DVec3::ZERO,
            DVec3::new(30.0, 1.0, 0.0),
            DVec3::new(3.0, 20.0, 2.0),
            DVec3::new(28.0, 9.0, 40.0),
        ];
        let given = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let divided = divide(positions.clone(), &given, 1.0);
        let mut sides: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        for t in &divided.triangles {
            for i in 0..3 {
                let (a, b) = (t[i], t[(i + 1) % 3]);
                let [p, q] = [a, b].map(|v| divided.positions[v as usize]);
                assert!(p.distance(q) <= MAX_SIDE);
                *sides.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
        }
        assert!(sides.values().all(|&n| n == 0) && divided.triangles.len() > 100);
        assert!(divided.parent.is_sorted());
        for (t, triangle) in given.iter().enumerate() {
            let parts = divided.triangles.iter().zip(&divided.parent);
            let own: Vec<_> = parts.filter(|p| *p.1 == t as u32).map(|p| *p.0).collect();
            let [found, wanted] = [
                area(&divided.positions, &own),
                area(&positions, &[*triangle]),
            ];
            assert!(found.distance(wanted) < 1e-9 * wanted.length());
        }
    }

    #[test]
    fn wide_sheets_have_bounded_parts() {
        for wide in [1e3, 1e6, 1e12] {
            let positions = vec![DVec3::ZERO, DVec3::X * wide, DVec3::Y * wide];
            let parts = divide(positions, &[[0, 1, 2]], 1.0).triangles.len();
            assert!(
                (1000..=MAX_PARTS as usize).contains(&parts),
                "{wide}: {parts}"
            );
        }
    }
}
