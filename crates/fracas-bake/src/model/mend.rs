//! Closes small gaps of a piece in the model's own triangles.
//!
//! Where a skin leaves its cage (`docs/decisions/0017`), parts of a triangle meet side by side
//! without the same corners, or a crack ends a little short of the skin. What is left open
//! there are loops of sides; each is filled from its first corner with crack faces, so that
//! the piece is closed bit for bit. Loops that are not small are not filled: there the model
//! has no inside, or the cage is none.

use std::collections::BTreeMap;

use fracas_core::dressing::CrackFace;
use glam::Vec3;

use super::pieces::{Buffers, cracks};

/// A place by its bits.
pub(crate) type Key = [u32; 3];

/// What is filled may have this share of the piece's area at most.
const LARGEST_SHARE: f32 = 1e-3;

/// How often each side of a triangle runs from its lesser to its greater end, less how often
/// it runs back: zero for all where a surface is closed. Ends are told by their places.
pub(crate) fn balance_of_sides(surfaces: &[Buffers]) -> BTreeMap<[Key; 2], i32> {
    // Adding zero makes -0 and 0 the same.
    let place = |p: Vec3| (p + Vec3::ZERO).to_array().map(f32::to_bits);
    let mut balance: BTreeMap<[Key; 2], i32> = BTreeMap::new();
    for surface in surfaces {
        for triangle in &surface.triangles {
            let at = triangle.map(|v| place(surface.positions[v as usize]));
            for (a, b) in [(at[0], at[1]), (at[1], at[2]), (at[2], at[0])] {
                if a < b {
                    *balance.entry([a, b]).or_default() += 1;
                } else if b < a {
                    *balance.entry([b, a]).or_default() -= 1;
                }
            }
        }
    }
    balance
}

/// Sides of triangles that lack one the other way round, as the missing ones would run.
fn missing_sides(surfaces: &[Buffers]) -> Vec<[Key; 2]> {
    let balance = balance_of_sides(surfaces);
    let mut missing = Vec::new();
    for ([a, b], sum) in balance {
        let side = if sum > 0 { [b, a] } else { [a, b] };
        missing.extend((0..sum.unsigned_abs()).map(|_| side));
    }
    missing
}

/// Sides as loops: as many leave each place as arrive.
fn loops_of(sides: &[[Key; 2]]) -> Vec<Vec<Vec3>> {
    let mut leaving: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
    for &[a, b] in sides {
        leaving.entry(a).or_default().push(b);
    }
    let mut loops = Vec::new();
    while let Some((&first, _)) = leaving.iter().find(|(_, to)| !to.is_empty()) {
        let mut outline = Vec::new();
        let mut at = first;
        while let Some(next) = leaving.get_mut(&at).and_then(Vec::pop) {
            outline.push(Vec3::from_array(at.map(f32::from_bits)));
            at = next;
            if at == first {
                break;
            }
        }
        leaving.retain(|_, to| !to.is_empty());
        loops.push(outline);
    }
    loops
}

/// Closes the gaps of a piece, where none is wider than `widest` and all together are small.
/// Whether the piece is closed now; it is as it was where not.
pub fn close_gaps(surfaces: &mut Vec<Buffers>, widest: f32, crack_scale: f32) -> bool {
    let missing = missing_sides(surfaces);
    if missing.is_empty() {
        return true;
    }
    let mut faces = Vec::new();
    for outline in loops_of(&missing) {
        let low = outline.iter().fold(Vec3::INFINITY, |m, &p| m.min(p));
        let high = outline.iter().fold(Vec3::NEG_INFINITY, |m, &p| m.max(p));
        if outline.len() < 3 || (high - low).length() > widest {
            return false;
        }
        for pair in outline[1..].windows(2) {
            let corners = [outline[0], pair[0], pair[1]];
            let normal = doubled_area(corners).normalize_or(Vec3::Y);
            faces.push(CrackFace { corners, normal });
        }
    }
    let filled: f32 = faces.iter().map(|f| doubled_area(f.corners).length()).sum();
    let all: f32 = surfaces
        .iter()
        .flat_map(|s| {
            s.triangles
                .iter()
                .map(|t| t.map(|v| s.positions[v as usize]))
        })
        .map(|corners| doubled_area(corners).length())
        .sum();
    if filled > LARGEST_SHARE * all {
        return false;
    }
    let patch = cracks(&faces, crack_scale);
    match surfaces.iter_mut().find(|s| s.is_crack) {
        Some(surface) => {
            let first = surface.positions.len() as u32;
            surface.positions.extend(patch.positions);
            for (to, from) in surface.attributes.iter_mut().zip(patch.attributes) {
                to.values.extend(from.values);
            }
            let triangles = patch.triangles.iter();
            surface
                .triangles
                .extend(triangles.map(|t| t.map(|v| v + first)));
        }
        None => surfaces.push(patch),
    }
    true
}

fn doubled_area([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shatter::open_sides;

    /// A box of eight corners with a slit of this width in its top.
    fn slit_box(width: f32) -> Vec<Buffers> {
        let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
        let mut positions: Vec<Vec3> = (0..8).map(corner).collect();
        // The top is a fan around its middle, one side of which is moved.
        positions.extend([Vec3::new(0.5, 0.5, 1.0), Vec3::new(0.5 + width, 0.5, 1.0)]);
        let mut triangles = vec![
            [0, 2, 1],
            [1, 2, 3],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ];
        triangles.extend([[4, 5, 8], [5, 7, 9], [7, 6, 8], [6, 4, 8]]);
        vec![Buffers {
            positions,
            triangles,
            ..Buffers::default()
        }]
    }

    #[test]
    fn narrow_gaps_are_closed_and_wide_ones_are_left() {
        let mut narrow = slit_box(1e-4);
        assert!(open_sides(&narrow) > 0);
        assert!(close_gaps(&mut narrow, 2.0, 1.0));
        assert_eq!(open_sides(&narrow), 0);
        assert!(narrow.len() == 2 && narrow[1].is_crack);
        let mut wide = slit_box(0.3);
        assert!(!close_gaps(&mut wide, 2.0, 1.0), "its area is not small");
        assert_eq!(wide, slit_box(0.3));
        let mut long = slit_box(1e-4);
        assert!(!close_gaps(&mut long, 0.1, 1.0), "it is too long");
        let mut closed = slit_box(0.0);
        closed[0].triangles[11] = [5, 7, 8];
        assert!(close_gaps(&mut closed, 0.0, 1.0) && closed.len() == 1);
    }
}
