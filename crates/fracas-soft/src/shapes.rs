//! Tet meshes to start from: boxes, balls, tori.
//!
//! All are bent from a grid of cubes cut into six tetrahedra each, so that their
//! number of tetrahedra can be chosen and every run starts from the same bits.

use fracas_geometry::grid::bent_grid;
use fracas_geometry::{TetMesh, TetMeshError};
use glam::Vec3;

/// A box of the given size around the origin.
///
/// # Errors
/// When a count is zero or a size is not positive.
pub fn cuboid(cells: [u32; 3], size: Vec3) -> Result<TetMesh, TetMeshError> {
    let counts = Vec3::from(cells.map(|c| c as f32));
    bent_grid(cells, false, |p| (p / counts - 0.5) * size)
}

/// An ellipsoid with the given half axes around the origin. (Almost: a grid bent
/// all the way to a sphere would have flat tetrahedra along twelve seams.)
///
/// # Errors
/// When a count is zero or an axis is not positive.
pub fn ellipsoid(cells: [u32; 3], half_axes: Vec3) -> Result<TetMesh, TetMeshError> {
    let counts = Vec3::from(cells.map(|c| c as f32));
    bent_grid(cells, false, |p| {
        let p = 2.0 * p / counts - 1.0;
        let length = p.length();
        if length == 0.0 {
            return Vec3::ZERO;
        }
        let round = p * (p.abs().max_element() / length);
        (0.9 * round + 0.1 * p) * half_axes
    })
}

/// A torus around the y axis: `across` by `across` cells in its section, `around`
/// cells along it.
///
/// # Errors
/// When a count is zero (or fewer than three around), or a radius not positive.
pub fn torus(
    across: u32,
    around: u32,
    radius: f32,
    thickness: f32,
) -> Result<TetMesh, TetMeshError> {
    bent_grid([across, across, around], true, |p| {
        let (u, v) = (
            2.0 * p.x / across as f32 - 1.0,
            2.0 * p.y / across as f32 - 1.0,
        );
        let length = (u * u + v * v).sqrt();
        let round = if length > 0.0 {
            u.abs().max(v.abs()) / length
        } else {
            0.0
        };
        let scale = thickness * (0.75 * round + 0.25);
        let (sin, cos) = libm::sincosf(std::f32::consts::TAU * p.z / around as f32);
        // Seen along the tube, x points outward and y up.
        let out = radius + scale * u;
        Vec3::new(out * sin, scale * v, out * cos) * Vec3::new(-1.0, 1.0, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_meshes_of_the_right_size() {
        let torus = torus(4, 72, 1.0, 0.35).unwrap();
        assert_eq!(torus.tets().len(), 6912);
        torus.validate().unwrap();
        let tube = 2.0 * std::f64::consts::PI.powi(2) * 0.35 * 0.35;
        assert!((0.85..1.25).contains(&(torus.volume() / tube)));
        let ball = ellipsoid([3, 3, 2], Vec3::new(0.2, 0.1, 0.1)).unwrap();
        assert_eq!(ball.tets().len(), 108);
        assert!((cuboid([2, 2, 2], Vec3::ONE).unwrap().volume() - 1.0).abs() < 1e-6);
        assert!(cuboid([0, 2, 2], Vec3::ONE).is_err());
        assert!(cuboid([1, 1, 1], Vec3::ZERO).is_err());
    }
}
