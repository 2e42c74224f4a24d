//! Crack sheets: what of a crack lies between two pieces of one object.
//!
//! Two pieces that have just parted are not searched for contacts: what touches is known from
//! the cut (`newborn.rs` of the library's `sphere_tree`). In each tetrahedron that a crack has
//! cut, each side of its plane has a face, and later cracks may have cut either. So the sheet
//! of a pair is made of the overlaps of their faces that lie on the same plane of the same
//! tetrahedron and look at each other.

use std::collections::BTreeMap;

use bevy::prelude::*;
use fracas_core::FragmentSurface;

/// A convex polygon in the object's frame.
pub(crate) type Polygon = Vec<Vec3>;

/// The crack faces of a piece, by their planes: four times the tetrahedron, plus the number of
/// the plane in it. A piece has one face at most on each.
pub(crate) type CrackPlanes = BTreeMap<u32, Polygon>;

/// The crack faces of a piece, counter-clockwise seen from outside it.
pub(crate) fn crack_planes(surface: &FragmentSurface) -> CrackPlanes {
    let mut planes = CrackPlanes::new();
    for t in surface.outer_triangles()..surface.triangles().len() {
        let plane = 4 * surface.tet(t) + u32::from(surface.side(t));
        let [a, b, c] = surface.corners(t);
        // A face is a fan of triangles from its first corner, one after another.
        let face = planes.entry(plane).or_insert_with(|| vec![a, b]);
        face.push(c);
    }
    planes
}

/// The sheet between two pieces of one object.
pub(crate) fn sheet_between(one: &CrackPlanes, other: &CrackPlanes) -> Vec<Polygon> {
    let (few, many) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let pairs = few
        .iter()
        .filter_map(|(plane, face)| Some((face, many.get(plane)?)));
    pairs
        .filter_map(|(face, across)| overlap(face, across))
        .collect()
}

/// Twice the area of a polygon along its normal.
fn area_vector(polygon: &[Vec3]) -> Vec3 {
    let first = polygon[0];
    let sides = polygon[1..].windows(2);
    sides.map(|s| (s[0] - first).cross(s[1] - first)).sum()
}

/// What two faces on one plane have in common; none where they look the same way, and so are
/// on the same side of it.
fn overlap(face: &[Vec3], across: &[Vec3]) -> Option<Polygon> {
    let normal = area_vector(across);
    if area_vector(face).dot(normal) >= 0.0 {
        return None;
    }
    // Mostly no later crack has cut either: the corners are the same, to the bit.
    if face.len() == across.len() && face.iter().all(|corner| across.contains(corner)) {
        return Some(face.to_vec());
    }
    let mut left = face.to_vec();
    for i in 0..across.len() {
        let side = across[(i + 1) % across.len()] - across[i];
        left = keep_inside(&left, across[i], normal.cross(side));
    }
    (left.len() >= 3).then_some(left)
}

/// The part of a convex polygon on the side of a plane to which `inwards` points (Sutherland
/// and Hodgman 1974).
fn keep_inside(polygon: &[Vec3], on_plane: Vec3, inwards: Vec3) -> Polygon {
    let height = |p: Vec3| inwards.dot(p - on_plane);
    let mut left = Polygon::new();
    for i in 0..polygon.len() {
        let (p, q) = (polygon[i], polygon[(i + 1) % polygon.len()]);
        let (from, to) = (height(p), height(q));
        if from >= 0.0 {
            left.push(p);
        }
        if (from > 0.0 && to < 0.0) || (from < 0.0 && to > 0.0) {
            left.push(p.lerp(q, from / (from - to)));
        }
    }
    left
}
