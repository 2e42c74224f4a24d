//! The directions of a shape that has flat faces: bricks, plates, shelves, stars.
//!
//! If much of the surface faces one direction, the lattice is laid along it, and along
//! the directions square to it that most of the rest faces. Where the shape ends in a
//! flat face along an axis, whole cells are fitted to it: then flat faces, sharp edges
//! and corners of boxes are hit exactly, whatever way the box is turned.

use glam::{DMat3, DVec3};

use super::grading::Space;

/// A direction counts if at least this part of the area faces it (either way).
const FIRST: f64 = 0.2;
const OTHER: f64 = 0.04;
/// An axis is fitted if each of its end planes holds at least this part of the area.
const END: f64 = 0.005;
/// A shape with this part of its area along the axes is made of boxes, and its cells
/// may be so much wider than they are flat.
const BOX: f64 = 0.9;
const FLAT_CELL: f64 = 3.0;
/// Cosine of the largest angle between normals that count as one direction.
const SAME: f64 = 0.9999;

/// The frame of a surface: along the coordinate axes unless it has flat faces.
pub(super) fn find(positions: &[DVec3], triangles: &[[u32; 3]], bounds: (DVec3, DVec3)) -> Space {
    let vectors: Vec<DVec3> = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            0.5 * (b - a).cross(c - a)
        })
        .collect();
    let total: f64 = vectors.iter().map(|v| v.length()).sum();
    let aligned = Space::aligned(bounds);
    let Some((first, share)) = dominant(&vectors, None) else {
        return aligned;
    };
    if share < FIRST * total {
        return aligned;
    }
    let second = dominant(&vectors, Some(first))
        .filter(|(_, share)| *share >= OTHER * total)
        .map_or_else(|| first.any_orthonormal_vector(), |(n, _)| n);
    let axes = tidy(DMat3::from_cols(
        first,
        second,
        first.cross(second).normalize_or_zero(),
    ));
    let inverse = axes.transpose();
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for v in triangles.iter().flatten() {
        let p = inverse * positions[*v as usize];
        low = low.min(p);
        high = high.max(p);
    }
    let size = (high - low).max_element();
    let fit = std::array::from_fn(|k| {
        let axis = axes.col(k);
        let on_plane = |plane: f64| -> f64 {
            triangles
                .iter()
                .zip(&vectors)
                .filter(|(t, v)| {
                    v.dot(axis).abs() > SAME * v.length()
                        && t.iter()
                            .all(|&n| (positions[n as usize].dot(axis) - plane).abs() < 1e-5 * size)
                })
                .map(|(_, v)| v.length())
                .sum()
        };
        on_plane(low[k]) > END * total && on_plane(high[k]) > END * total
    });
    if fit == [false; 3] {
        return aligned;
    }
    // A box needs nothing finer than itself; other outlines may.
    let along_axes: f64 = vectors
        .iter()
        .filter(|v| (0..3).any(|k| v.dot(axes.col(k)).abs() > SAME * v.length()))
        .map(|v| v.length())
        .sum();
    let aspect = if along_axes > BOX * total {
        FLAT_CELL
    } else {
        1.0
    };
    Space {
        axes,
        low,
        high,
        fit,
        aspect,
    }
}

/// The direction that most area faces, among those square to `square_to`, and that area.
fn dominant(vectors: &[DVec3], square_to: Option<DVec3>) -> Option<(DVec3, f64)> {
    let mut largest: Vec<usize> = (0..vectors.len())
        .filter(|&i| {
            let n = vectors[i].normalize_or_zero();
            n != DVec3::ZERO && square_to.is_none_or(|s| n.dot(s).abs() < 1e-3)
        })
        .collect();
    largest.sort_by(|&a, &b| {
        vectors[b]
            .length_squared()
            .total_cmp(&vectors[a].length_squared())
            .then(a.cmp(&b))
    });
    largest.truncate(40);
    largest
        .into_iter()
        .map(|i| {
            let n = vectors[i].normalize_or_zero();
            let n = square_to.map_or(n, |s| (n - s * n.dot(s)).normalize_or_zero());
            let facing = vectors
                .iter()
                .filter(|v| v.dot(n).abs() > SAME * v.length())
                .map(|v| v.length())
                .sum::<f64>();
            (n, facing)
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Axes that are the coordinate axes but for rounding become exactly those.
fn tidy(axes: DMat3) -> DMat3 {
    let cols = [axes.col(0), axes.col(1), axes.col(2)].map(|c| {
        let rounded = c.round();
        if rounded.distance(c) < 1e-9 {
            rounded
        } else {
            c
        }
    });
    DMat3::from_cols(cols[0], cols[1], cols[2])
}
