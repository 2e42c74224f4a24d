//! How good tetrahedra are: volumes and dihedral angles.

use fracas_core::tet_mesh::TET_EDGES;
use glam::DVec3;

/// Signed volume.
#[must_use]
pub fn volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).cross(c - a).dot(d - a) / 6.0
}

/// For each edge of [`TET_EDGES`], the two nodes that are not on it.
const OPPOSITE: [[usize; 2]; 6] = [[2, 3], [1, 3], [1, 2], [0, 3], [0, 2], [0, 1]];

/// The six dihedral angles in degrees, in the order of [`TET_EDGES`].
#[must_use]
pub fn dihedral_angles(corners: [DVec3; 4]) -> [f64; 6] {
    std::array::from_fn(|e| {
        let [i, j] = TET_EDGES[e];
        let [k, l] = OPPOSITE[e];
        let axis = corners[j] - corners[i];
        let (u, v) = (corners[k] - corners[i], corners[l] - corners[i]);
        let (m, n) = (axis.cross(u), axis.cross(v));
        libm::atan2(m.cross(n).length(), m.dot(n)).to_degrees()
    })
}

/// The smallest sine of a dihedral angle, negative if the tetrahedron is inverted,
/// 0 if it is flat: large for good tetrahedra, and cheap.
///
/// sin = 3/2 volume edge / (area area) for the two faces at the edge.
#[must_use]
pub fn min_sine([a, b, c, d]: [DVec3; 4]) -> f64 {
    let (ab, ac, ad) = (b - a, c - a, d - a);
    let (bc, bd, cd) = (c - b, d - b, d - c);
    let six_volume = ab.cross(ac).dot(ad);
    // Squared double areas of the faces opposite a, b, c, d.
    let fa = bc.cross(bd).length_squared();
    let fb = ac.cross(ad).length_squared();
    let fc = ab.cross(ad).length_squared();
    let fd = ab.cross(ac).length_squared();
    // Edge (i, j) lies on the faces opposite the other two.
    let smallest = [
        ab.length_squared() / (fc * fd),
        ac.length_squared() / (fb * fd),
        ad.length_squared() / (fb * fc),
        bc.length_squared() / (fa * fd),
        bd.length_squared() / (fa * fc),
        cd.length_squared() / (fa * fb),
    ]
    .into_iter()
    .fold(f64::INFINITY, f64::min);
    let sine = six_volume * smallest.sqrt();
    if sine.is_finite() { sine } else { 0.0 }
}

/// The distribution of the angles of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angles {
    /// The smallest dihedral angle in degrees.
    pub min: f64,
    /// One tetrahedron in a thousand has a smallest angle below this.
    pub per_mille: f64,
    /// The largest dihedral angle in degrees.
    pub max: f64,
    /// The mean over the tetrahedra of their smallest angle.
    pub mean_min: f64,
}

/// Measures all tetrahedra.
#[must_use]
pub fn angles(positions: &[DVec3], tets: &[[u32; 4]]) -> Angles {
    let mut smallest = Vec::with_capacity(tets.len());
    let mut max: f64 = 0.0;
    for tet in tets {
        let all = dihedral_angles(tet.map(|n| positions[n as usize]));
        smallest.push(all.into_iter().fold(f64::INFINITY, f64::min));
        max = all.into_iter().fold(max, f64::max);
    }
    smallest.sort_unstable_by(f64::total_cmp);
    let at = |i: usize| smallest.get(i).copied().unwrap_or(0.0);
    Angles {
        min: at(0),
        per_mille: at(smallest.len() / 1000),
        max,
        mean_min: smallest.iter().sum::<f64>() / smallest.len().max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_tet_has_one_angle() {
        let s = DVec3::ONE;
        let corners = [
            s,
            DVec3::new(-1., -1., 1.),
            DVec3::new(-1., 1., -1.),
            DVec3::new(1., -1., -1.),
        ];
        let corners = if volume(corners) > 0.0 {
            corners
        } else {
            [corners[0], corners[1], corners[3], corners[2]]
        };
        let expected = libm::acos(1.0 / 3.0);
        for angle in dihedral_angles(corners) {
            assert!((angle - expected.to_degrees()).abs() < 1e-9);
        }
        assert!((min_sine(corners) - expected.sin()).abs() < 1e-12);
    }

    #[test]
    fn the_sine_agrees_with_the_angles() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for _ in 0..1000 {
            let mut point = || DVec3::new(random(), random(), random());
            let corners = [point(), point(), point(), point()];
            let by_angle = dihedral_angles(corners)
                .map(|a| a.to_radians().sin())
                .into_iter()
                .fold(f64::INFINITY, f64::min);
            let sine = min_sine(corners);
            assert_eq!(sine > 0.0, volume(corners) > 0.0);
            assert!((sine.abs() - by_angle).abs() < 1e-9);
        }
    }

    #[test]
    fn a_flat_tet_is_worth_nothing() {
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y];
        assert_eq!(min_sine(flat), 0.0);
        assert_eq!(min_sine([DVec3::ZERO; 4]), 0.0);
    }
}
