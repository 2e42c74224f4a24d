//! Which share of a cut tetrahedron belongs to each of its nodes' pieces.
//!
//! The tetrahedron is cut plane by plane into smaller tetrahedra, in barycentric
//! coordinates, where a volume is a determinant and the whole is 1. **Guarantee**:
//! shares are not negative and sum to 1 within rounding.

use fracas_core::fragment::TetCut;

type Point = [f64; 4];
type Simplex = [Point; 4];

/// The share of each local node's piece; nodes in the same piece each get the
/// share once between them (the lowest gets it), so the sum is 1.
#[must_use]
pub fn node_shares(cut: &TetCut) -> [f64; 4] {
    let whole: Simplex =
        std::array::from_fn(|i| std::array::from_fn(|k| f64::from(u8::from(i == k))));
    let mut pieces: Vec<(Simplex, u8)> = vec![(whole, 0b1111)];
    for plane in cut.planes() {
        let bits = |sign: f32| (0..4).fold(0_u8, |m, i| m | u8::from(plane[i] * sign > 0.0) << i);
        let (positive, negative) = (bits(1.0), bits(-1.0));
        let levels = plane.map(f64::from);
        let mut next = Vec::with_capacity(pieces.len() * 2);
        for (simplex, mask) in pieces {
            // A plane divides only the part that its crack has split.
            if mask & (positive | negative) == 0 {
                next.push((simplex, mask));
                continue;
            }
            split(&simplex, &levels, |part, above| {
                next.push((part, mask & if above { positive } else { negative }));
            });
        }
        pieces = next;
    }
    let mut shares = [0.0; 4];
    for (simplex, mask) in pieces {
        // Rounding may leave a crumb on the far side of two planes: no piece is there.
        if mask != 0 {
            shares[mask.trailing_zeros() as usize] += volume(&simplex);
        }
    }
    shares
}

fn volume(simplex: &Simplex) -> f64 {
    // Barycentric coordinates sum to one, so three differences of three of them do.
    let d = |i: usize, k: usize| simplex[i][k] - simplex[0][k];
    let det = d(1, 0) * (d(2, 1) * d(3, 2) - d(2, 2) * d(3, 1))
        - d(1, 1) * (d(2, 0) * d(3, 2) - d(2, 2) * d(3, 0))
        + d(1, 2) * (d(2, 0) * d(3, 1) - d(2, 1) * d(3, 0));
    det.abs()
}

/// Cuts a simplex by a level that is linear in barycentric coordinates.
fn split(simplex: &Simplex, levels: &Point, mut emit: impl FnMut(Simplex, bool)) {
    let at = simplex.map(|p| (0..4).map(|k| p[k] * levels[k]).sum::<f64>());
    let mut above: Vec<usize> = (0..4).filter(|&i| at[i] > 0.0).collect();
    let mut below: Vec<usize> = (0..4).filter(|&i| at[i] <= 0.0).collect();
    let flip = above.len() > below.len();
    if flip {
        std::mem::swap(&mut above, &mut below);
    }
    let cut = |i: usize, j: usize| -> Point {
        let t = at[i] / (at[i] - at[j]);
        std::array::from_fn(|k| simplex[i][k] + t * (simplex[j][k] - simplex[i][k]))
    };
    match above[..] {
        [] => emit(*simplex, flip),
        [a] => {
            let [b, c, d] = [below[0], below[1], below[2]];
            let [x, y, z] = [cut(a, b), cut(a, c), cut(a, d)];
            emit([simplex[a], x, y, z], !flip);
            // The rest is a prism b c d - x y z.
            let [b, c, d] = [simplex[b], simplex[c], simplex[d]];
            emit([b, c, d, x], flip);
            emit([c, d, x, y], flip);
            emit([d, x, y, z], flip);
        }
        _ => {
            let [a, b, c, d] = [above[0], above[1], below[0], below[1]];
            let [ac, ad, bc, bd] = [cut(a, c), cut(a, d), cut(b, c), cut(b, d)];
            // Two wedges: a - (ac, ad), b - (bc, bd) and c - (ac, bc), d - (ad, bd).
            for ([p, q], [p1, p2, q1, q2], side) in [
                ([simplex[a], simplex[b]], [ac, ad, bc, bd], !flip),
                ([simplex[c], simplex[d]], [ac, bc, ad, bd], flip),
            ] {
                emit([p, p1, p2, q], side);
                emit([p1, p2, q, q1], side);
                emit([p2, q, q1, q2], side);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::testing::{Rng, box_grid};
    use fracas_core::{FragmentId, Fragments};
    use glam::Vec3;

    use super::*;
    use crate::patterns;

    #[test]
    fn shares_agree_with_counting_random_points() {
        let mut fragments = Fragments::new(Arc::new(box_grid([2, 2, 2], Vec3::ONE)));
        let mut rng = Rng(5);
        for round in 0..6 {
            for id in fragments.living().collect::<Vec<_>>() {
                let (n, d) = (rng.direction(), rng.range(0.2, 0.8));
                let level = |p: Vec3| n.dot(p - Vec3::splat(0.5)) + (d - 0.5) + 0.1 * p.x * p.y;
                if round < 4
                    && let Some(f) = patterns::user(&fragments, id, &[&level])
                {
                    fragments.apply(&f).unwrap();
                }
            }
        }
        let mut checked = 0;
        for tet in 0..fragments.mesh().tets().len() as u32 {
            let Some(cut) = fragments.cut(tet) else {
                continue;
            };
            let shares = node_shares(cut);
            assert!(
                (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9,
                "{shares:?}"
            );
            let corners = fragments.mesh().tets()[tet as usize];
            let (mut counts, samples) = ([0.0; 4], 4000);
            for _ in 0..samples {
                let mut cuts = [rng.unit(), rng.unit(), rng.unit()];
                cuts.sort_by(f32::total_cmp);
                let l = [cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1], 1.0 - cuts[2]];
                counts[cut.node_of(l)] += 1.0 / f64::from(samples);
            }
            for id in fragments.living().collect::<Vec<FragmentId>>() {
                let of = |values: [f64; 4]| -> f64 {
                    (0..4)
                        .filter(|&i| fragments.node_fragment()[corners[i] as usize] == id)
                        .map(|i| values[i])
                        .sum()
                };
                assert!(
                    (of(shares) - of(counts)).abs() < 0.035,
                    "{shares:?} {counts:?}"
                );
            }
            checked += usize::from(cut.planes().len() > 1);
        }
        assert!(checked > 5);
    }
}
