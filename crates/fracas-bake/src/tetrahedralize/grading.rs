//! How large the lattice's cells are where: the sizing rule of the octree.
//!
//! - Near the surface (a cell touches it, or nearly): the spacing asked for; where the
//!   shape or the gap outside is thinner than [`CELLS_THROUGH`] of it, finer, by at
//!   most [`THIN_LEVELS`] halvings.
//! - Deeper inside: the same spacing, or with [`Grading::Graded`] larger in proportion
//!   to the depth.
//! - Outside: as large as balance allows.

use glam::{DMat3, DVec3};

use super::Grading;
use super::domain::Domain;
use super::lattice::{self, Cell, Frame, Lattice};

/// A wall is sound with 1.5 cells through it and good with 2.
const CELLS_THROUGH: f64 = 2.0;
/// How often the spacing may be halved in thin places.
const THIN_LEVELS: u32 = 2;
/// How often it may be doubled inside, and outside.
const COARSE_LEVELS: u32 = 3;
/// Size of a graded cell over its depth below the surface.
const GROWTH: f64 = 0.8;

/// The box to fill, with the directions of its sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// Columns: the orthonormal directions of the sides.
    pub axes: DMat3,
    /// Smallest coordinates along them.
    pub low: DVec3,
    /// Largest.
    pub high: DVec3,
    /// Whether cells are stretched so that a whole number fits each side.
    pub fit: bool,
}

impl Space {
    /// A box along the coordinate axes.
    pub(super) fn aligned((low, high): (DVec3, DVec3)) -> Self {
        Self {
            axes: DMat3::IDENTITY,
            low,
            high,
            fit: false,
        }
    }

    pub(super) fn diagonal(&self) -> f64 {
        (self.high - self.low).length()
    }
}

/// The lattice for `domain` at `spacing`; `None` if it would be too large.
pub(super) fn lattice(
    domain: &dyn Domain,
    space: &Space,
    spacing: f64,
    grading: Grading,
) -> Option<Lattice> {
    let thin = if grading == Grading::Uniform {
        0
    } else {
        THIN_LEVELS
    };
    let levels = thin + COARSE_LEVELS;
    let sides = space.high - space.low;
    // Cells of the asked spacing along each side; fitted: a whole number of them.
    let mut cell = DVec3::splat(spacing);
    if space.fit {
        cell = sides / (sides / spacing).map(|n| n.round().max(1.0));
    }
    let cells = (sides / cell).map(|n| (n - 1e-9).ceil());
    if cells.max_element() > 1e5 {
        return None;
    }
    let root = f64::from(1_u32 << COARSE_LEVELS);
    // At least one cell of margin on each side; the shape sits in the middle, on
    // whole cells if fitted.
    let roots = ((cells + 2.0) / root).map(f64::ceil);
    let margin = ((roots * root - cells) * 0.5).map(f64::floor);
    let low = if space.fit {
        space.low - margin * cell
    } else {
        0.5 * (space.low + space.high) - 0.5 * roots * root * cell
    };
    let half_fine = cell / f64::from(1_u32 << (thin + 1));
    let frame = Frame {
        origin: space.axes * low,
        unit: space.axes * DMat3::from_diagonal(half_fine),
    };
    let finest = spacing / f64::from(1_u32 << thin);
    let mut too_large = |c: Cell| {
        let size = c.scale * finest;
        let wanted = wanted_size(domain, &c, spacing, finest, grading);
        size > wanted * 1.01
    };
    lattice::build(
        &frame,
        roots.to_array().map(|r| r as i32),
        levels,
        &mut too_large,
    )
}

fn wanted_size(
    domain: &dyn Domain,
    cell: &Cell,
    spacing: f64,
    finest: f64,
    grading: Grading,
) -> f64 {
    let size = cell.scale * finest;
    let value = domain.value(cell.centre);
    let clearance = value.abs() - cell.radius;
    if clearance <= size.min(spacing) {
        // Only cells at the surface itself are refined further: a thin place is
        // known by its own surface.
        if grading == Grading::Uniform || size > spacing * 1.01 || clearance > 0.5 * size {
            return spacing;
        }
        let limit = CELLS_THROUGH * size;
        let thickness = domain
            .thickness(cell.centre, limit)
            .min(domain.gap(cell.centre, limit));
        return (thickness / CELLS_THROUGH).clamp(finest, spacing);
    }
    if value > 0.0 {
        return f64::INFINITY;
    }
    match grading {
        Grading::Graded => (clearance * GROWTH).max(spacing),
        Grading::Uniform | Grading::Thin => spacing,
    }
}
