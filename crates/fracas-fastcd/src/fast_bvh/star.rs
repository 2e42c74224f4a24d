//! Closed bodies that are star-shaped: seen from one point inside, no two of their triangles
//! cover each other. Most pieces that something shatters into are.
//!
//! **Theorem.** Let S be triangles all of whose edges are linked, and c a point. If
//! 1. every triangle (p, q, r) has `det(p - c, q - c, r - c) > 0`, and
//! 2. a ray from c meets exactly one triangle,
//!
//! then two triangles of S share only what the mesh says they share.
//!
//! *Proof.* This is the theorem of [`super::culling`], seen from a point instead of along a
//! direction: projected to a sphere around c all triangles are positively oriented (1) and
//! have no boundary, so each generic ray meets as many of them as any other: one (2). So no
//! direction is covered twice. Let two triangles touch in a point, in the direction d. Walking
//! from the first over linked edges around d covers a neighbourhood of d at least once, so
//! exactly once, and the second is part of that walk: they share the edge or the vertex at d,
//! and a direction is one point of either. ∎
//!
//! **While it keeps its shape.** Let the vertices be at `A q + t + r`, as in
//! [`super::clearance`], and c at `A c + t`. With `u, v, w` the corners as seen from c in the
//! reference shape and `r' = A^-1 r` for each, at most e long, the determinant is `det A` times
//! `det(u + r'1, v + r'2, w + r'3)`, which is less than `det(u, v, w)` by at most
//! `e (|u x v| + |v x w| + |w x u|) + e^2 (|u| + |v| + |w|) + e^3`. While no triangle's
//! determinant is used up by that, (1) holds, mirrored if A mirrors; and (2) holds for the
//! affine image, so for what it is deformed to without a determinant becoming zero. The
//! smallest such e of all triangles is the *room* of the body.
//!
//! Parts of S have the room of S: what is missing could be filled in with residuals of zero.

use glam::DVec3;

/// Room for rounding in a determinant, relative to the cube of the lengths of its vectors.
const ROUNDING: f64 = 1e-14;
/// How often the point is moved.
const STEPS: usize = 24;

/// The plane of a triangle: its unit normal, and how far along it the plane is.
type Plane = (DVec3, f64);

/// How far residuals may be from zero, over the least stretch, for a body with these triangles
/// to be surely star-shaped. `None` if it is not known to be so at all. All edges must be
/// linked.
pub(crate) fn room(triangles: impl Iterator<Item = [DVec3; 3]> + Clone) -> Option<f64> {
    let mut planes: Vec<Plane> = Vec::with_capacity(triangles.size_hint().0);
    let (mut sum, mut weight) = (DVec3::ZERO, 0.0);
    let origin = triangles.clone().next()?[0];
    for [p, q, r] in triangles.clone() {
        let across = (q - p).cross(r - p);
        let area = across.length_squared().sqrt();
        let normal = across * (1.0 / area);
        planes.push((normal, normal.dot(p - origin)));
        sum += (p - origin + (q - origin) + (r - origin)) * area;
        weight += 3.0 * area;
    }
    let centre = origin + find_centre(&planes, sum * (1.0 / weight), weight.sqrt())?;
    let [u, v, w] = triangles.clone().next()?.map(|p| p - centre);
    let ray = u + v + w;
    let reach = ray.length_squared().sqrt();
    let (mut room, mut met) = (f64::INFINITY, 0);
    for triangle in triangles {
        let [u, v, w] = triangle.map(|p| p - centre);
        let sides = [u.cross(v), v.cross(w), w.cross(u)];
        let length = [u, v, w].map(|x| x.length_squared().sqrt());
        let length = length[0] + length[1] + length[2];
        let determinant = sides[0].dot(w) - ROUNDING * length * length * length;
        if determinant.is_nan() || determinant <= 0.0 {
            return None;
        }
        let areas = sides.map(|s| s.length_squared().sqrt());
        let areas = areas[0] + areas[1] + areas[2];
        let most = determinant / areas;
        room = room.min(determinant / (areas + most * (length + most)));
        // Met unless it surely passes an edge on the outer side.
        let least = -ROUNDING * length * length * reach;
        met += u32::from(sides.iter().all(|side| side.dot(ray) >= least));
    }
    (met == 1).then_some(room * (1.0 - 1e-9))
}

/// A point behind all planes, as far from the nearest as a few steps bring it. `size` is that
/// of the body.
fn find_centre(planes: &[Plane], mut centre: DVec3, size: f64) -> Option<DVec3> {
    let mut best = (0.0, None);
    for step in 0..STEPS {
        let (mut nearest, mut normal) = (f64::INFINITY, DVec3::ZERO);
        for (n, along) in planes {
            let behind = along - n.dot(centre);
            if behind < nearest {
                (nearest, normal) = (behind, *n);
            }
        }
        if nearest > best.0 {
            best = (nearest, Some(centre));
        }
        // Away from the plane that is nearest, behind it if it was in front of it.
        centre -= normal * (0.2 * size / (step + 2) as f64 - nearest.min(0.0));
    }
    best.1
}
