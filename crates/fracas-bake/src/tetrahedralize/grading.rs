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
use super::domain::{Domain, Run};
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Space {
    /// Columns: the orthonormal directions of the sides.
    pub axes: DMat3,
    /// Smallest coordinates along them.
    pub low: DVec3,
    /// Largest.
    pub high: DVec3,
    /// Along which axes the shape ends in flat faces, so that a whole number of
    /// cells, stretched a little, is to fit between them.
    pub fit: [bool; 3],
    /// How much wider than its smallest fitted side a cell may be.
    pub aspect: f64,
}

impl Space {
    /// A box along the coordinate axes.
    pub(super) fn aligned((low, high): (DVec3, DVec3)) -> Self {
        Self {
            axes: DMat3::IDENTITY,
            low,
            high,
            fit: [false; 3],
            aspect: 1.0,
        }
    }

    pub(super) fn diagonal(&self) -> f64 {
        (self.high - self.low).length()
    }

    /// The cell at a spacing: cubic, but for the fitted axes.
    fn cell(&self, spacing: f64) -> DVec3 {
        let sides = self.high - self.low;
        let fitted = |k: usize, spacing: f64| sides[k] / (sides[k] / spacing).round().max(1.0);
        let flattest = (0..3)
            .filter(|&k| self.fit[k])
            .map(|k| fitted(k, spacing))
            .fold(f64::INFINITY, f64::min);
        let spacing = spacing.min(self.aspect * flattest);
        DVec3::from_array(std::array::from_fn(|k| {
            if self.fit[k] {
                fitted(k, spacing)
            } else {
                spacing
            }
        }))
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
    let cell = space.cell(spacing);
    let cells = ((space.high - space.low) / cell).map(|n| (n - 1e-9).ceil());
    if !(cells.max_element() < 1e5) {
        return None;
    }
    let root = f64::from(1_u32 << COARSE_LEVELS);
    // At least one cell of margin on each side.
    let roots = ((cells + 2.0) / root).map(f64::ceil);
    let margin = ((roots * root - cells) * 0.5).map(f64::floor);
    let low = DVec3::from_array(std::array::from_fn(|k| {
        if space.fit[k] {
            space.low[k] - margin[k] * cell[k]
        } else {
            0.5 * (space.low[k] + space.high[k]) - 0.5 * roots[k] * root * cell[k]
        }
    }));
    let half_fine = cell / f64::from(1_u32 << (thin + 1));
    let frame = Frame {
        origin: space.axes * low,
        unit: space.axes * DMat3::from_diagonal(half_fine),
    };
    let sizing = Sizing {
        domain,
        space,
        cell,
        spacing: cell.max_element(),
        finest: cell.max_element() / f64::from(1_u32 << thin),
        grading,
    };
    lattice::build(
        &frame,
        roots.to_array().map(|r| r as i32),
        levels,
        &mut |c| sizing.too_large(&c),
    )
}

struct Sizing<'a> {
    domain: &'a dyn Domain,
    space: &'a Space,
    cell: DVec3,
    spacing: f64,
    finest: f64,
    grading: Grading,
}

impl Sizing<'_> {
    fn too_large(&self, cell: &Cell) -> bool {
        cell.scale * self.finest > self.wanted(cell) * 1.01
    }

    fn wanted(&self, cell: &Cell) -> f64 {
        let size = cell.scale * self.finest;
        let value = self.domain.value(cell.centre);
        let clearance = value.abs() - cell.radius;
        if clearance <= size.min(self.spacing) {
            // Only cells at the surface itself are refined further: a thin place is
            // known by its own surface.
            if self.grading == Grading::Uniform
                || size > self.spacing * 1.01
                || clearance > 0.5 * size
            {
                return self.spacing;
            }
            let limit = CELLS_THROUGH * size;
            let wall = self.cells_for(self.domain.thickness(cell.centre, limit), limit);
            let gap = self.cells_for(self.domain.gap(cell.centre, limit), limit);
            return wall.min(gap).clamp(self.finest, self.spacing);
        }
        if value > 0.0 {
            return f64::INFINITY;
        }
        match self.grading {
            Grading::Graded => (clearance * GROWTH).max(self.spacing),
            Grading::Uniform | Grading::Thin => self.spacing,
        }
    }

    /// The spacing that holds a wall or a gap.
    fn cells_for(&self, run: Run, limit: f64) -> f64 {
        if run.length >= limit {
            return f64::INFINITY;
        }
        // Between flat faces onto which the lattice is fitted, one cell is enough.
        let held = (0..3).any(|k| {
            self.space.fit[k]
                && run.direction.dot(self.space.axes.col(k)).abs() > 0.999
                && run.length > 0.99 * self.cell[k]
        });
        if held {
            f64::INFINITY
        } else {
            run.length / CELLS_THROUGH
        }
    }
}
