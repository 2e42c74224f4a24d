//! Whether the tetrahedra fill what the surface encloses: neither less nor more.
//!
//! A closed surface that does not cross itself says its volume exactly. Where that and
//! the mesh disagree, or the surface is open, points spread evenly over the box are
//! asked whether they are inside (by the winding number, as the mesher does); where too
//! few are (slivers, thin walls), the closed surface's own volume stands.

use glam::DVec3;

use super::domain::Domain as _;
use super::search::MEAN_EDGE;
use super::surface_domain::SurfaceDomain;
use super::{MOST_ADVISED, Report, TetrahedralizeError};
use crate::SurfaceMesh;

/// A mesh that misses or adds more than this part of the volume does not hold thin
/// walls, or fills gaps.
const VOLUME_LIMIT: f64 = 0.05;
/// Where walls are thick, a coarse mesh may be this far off.
const GROSS: f64 = 0.25;
/// Samples of the box, and how many must be inside to believe them: their number is
/// then known to 5%.
const SAMPLES: u32 = 8_000;
const ENOUGH: u32 = 400;

/// The volume that the surface encloses, as far as can be told, given that of the mesh.
pub(super) fn enclosed(
    domain: &SurfaceDomain,
    surface: &SurfaceMesh,
    closed: bool,
    made: f64,
) -> Option<f64> {
    let own = surface.volume().abs();
    if closed && (made / own - 1.0).abs() <= VOLUME_LIMIT {
        return Some(own);
    }
    sampled(domain).or(closed.then_some(own))
}

fn sampled(domain: &SurfaceDomain) -> Option<f64> {
    let (low, high) = domain.bounds();
    let sides = high - low;
    // Steps of an additive recurrence by the plastic number's powers: evenly spread.
    let step = DVec3::new(
        0.819_172_513_396_164_5,
        0.671_043_606_703_789_3,
        0.549_700_477_901_970_3,
    );
    let inside = (0..SAMPLES)
        .filter(|&i| {
            let at = (0.5 + f64::from(i) * step).map(f64::fract);
            domain.inside(low + at * sides)
        })
        .count() as u32;
    let share = f64::from(inside) / f64::from(SAMPLES);
    (inside >= ENOUGH).then_some(share * sides.x * sides.y * sides.z)
}

/// Cells through a wall that hold it, and tetrahedra a cell, surface included.
const CELLS_THROUGH: f64 = 1.5;
const TETS_PER_CELL: f64 = 16.0;

/// Refuses, before anything is tried, a closed surface half of whose walls are so thin
/// that more than [`MOST_ADVISED`] tetrahedra would not hold them: the search for a
/// lattice would go through ever finer ones, for minutes, to say the same.
pub(super) fn check_walls(
    domain: &SurfaceDomain,
    surface: &SurfaceMesh,
) -> Result<(), TetrahedralizeError> {
    let volume = surface.volume().abs();
    let thickness = domain.wall(0.5);
    let spacing = thickness / CELLS_THROUGH;
    let tets = TETS_PER_CELL * volume / (spacing * spacing * spacing);
    // Short of that, trying tells more than an estimate.
    if tets.is_nan() || tets < 2.0 * MOST_ADVISED as f64 {
        return Ok(());
    }
    Err(TetrahedralizeError::WallsTooThin {
        thickness,
        spacing: libm::cbrt(TETS_PER_CELL * volume / MOST_ADVISED as f64),
        missing: 100.0,
        edge_length: spacing * MEAN_EDGE,
        tets: tets.min(1e15) as usize,
    })
}

/// Refuses a mesh through whose walls one can see, or that fills far more than the
/// surface encloses, and says what would do better.
pub(super) fn check(
    domain: &SurfaceDomain,
    report: &Report,
    enclosed: Option<f64>,
) -> Result<(), TetrahedralizeError> {
    let Some(expected) = enclosed.filter(|v| *v > 0.0) else {
        return Ok(());
    };
    let error = report.volume / expected - 1.0;
    if error.abs() <= VOLUME_LIMIT {
        return Ok(());
    }
    let thickness = domain.thin_wall();
    let thin = thickness <= 2.0 * report.spacing;
    if thin && error < 0.0 {
        let spacing = thickness / CELLS_THROUGH;
        return Err(TetrahedralizeError::WallsTooThin {
            thickness,
            spacing: report.spacing,
            missing: -100.0 * error,
            edge_length: spacing * MEAN_EDGE,
            tets: (TETS_PER_CELL * expected / (spacing * spacing * spacing)) as usize,
        });
    }
    if error.abs() > GROSS || thin {
        return Err(TetrahedralizeError::WrongVolume {
            made: report.volume,
            expected,
            spacing: report.spacing,
        });
    }
    Ok(())
}
