//! How large the lattice's cells are where: the sizing rule of the octree.
//!
//! - Near the surface (a cell touches it, or nearly): the spacing asked for; where the
//!   shape or the gap outside is thinner than [`CELLS_THROUGH`] cells, finer, by at
//!   most two halvings.
//! - Deeper inside: the same spacing, or with [`Grading::Graded`] larger in proportion
//!   to the depth.
//! - Outside: as large as balance allows.

use glam::{DMat3, DVec3};

use super::Grading;
use super::domain::{Domain, Run};
use super::lattice::{self, Cell, Frame, Lattice};
use super::marks::Marks;

/// Cells through a wall: 1.5 make it sound in any lattice, and since halving a cell
/// leaves up to twice as many, fewer ask for it. A gap only has to stay open.
const CELLS_THROUGH: f64 = 1.25;
const CELLS_ACROSS_GAP: f64 = 0.75;
/// How often the spacing may be halved at all (at marks), and for thin walls and gaps.
const FINE_LEVELS: u32 = 3;
const THIN_SCALE: f64 = 0.3;
/// How often it may be doubled inside, and outside.
const COARSE_LEVELS: u32 = 3;
/// Size of a graded cell over its depth below the surface.
const GROWTH: f64 = 1.5;

/// A fitted cell of a plate may be this much taller than it is wide.
const UPRIGHT_CELL: f64 = 1.8;

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

    /// Flat along one fitted axis, and of any outline along the others.
    pub(super) fn is_plate(&self) -> bool {
        let sides = self.high - self.low;
        self.fit.iter().filter(|f| **f).count() == 1
            && (0..3).any(|k| self.fit[k] && sides[k] < 0.25 * sides.max_element())
    }

    /// The cell at a spacing: cubic, but for the fitted axes.
    pub(super) fn cell(&self, spacing: f64) -> DVec3 {
        let sides = self.high - self.low;
        // A plate of any outline may be one layer of upright cells.
        let upright = if self.is_plate() { UPRIGHT_CELL } else { 1.0 };
        let fitted =
            |k: usize, spacing: f64| sides[k] / (sides[k] / (upright * spacing)).round().max(1.0);
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
    marks: Option<&Marks>,
) -> Option<Lattice> {
    let thin = if grading == Grading::Uniform {
        0
    } else {
        FINE_LEVELS
    };
    let levels = thin + COARSE_LEVELS;
    let cell = space.cell(spacing);
    let cells = ((space.high - space.low) / cell).map(|n| (n - 1e-9).ceil());
    let most = cells.max_element();
    if most.is_nan() || most > 1e5 {
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
        base: f64::from(1_u32 << thin),
        grading,
        marks,
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
    /// Sides of a cell of the spacing asked for.
    cell: DVec3,
    /// Its scale.
    base: f64,
    grading: Grading,
    marks: Option<&'a Marks>,
}

impl Sizing<'_> {
    fn too_large(&self, cell: &Cell) -> bool {
        // 1 for a cell of the spacing asked for.
        let scale = cell.scale / self.base;
        let spacing = self.cell.max_element();
        let near = spacing * scale.min(1.0);
        let reach = match self.grading {
            Grading::Graded => cell.radius + near.max(scale * spacing / GROWTH),
            Grading::Uniform | Grading::Thin => cell.radius + near,
        };
        let distance = self.domain.distance(cell.centre, reach * 1.001);
        let clearance = distance.abs() - cell.radius;
        if clearance <= near {
            // Only cells at the surface itself are refined further: a thin place is
            // known by its own surface.
            return scale > 1.01 || (clearance <= 0.5 * near && self.is_thin(cell, scale));
        }
        let wanted = match self.grading {
            Grading::Graded => (clearance * GROWTH / spacing).max(1.0),
            Grading::Uniform | Grading::Thin => 1.0,
        };
        scale > wanted * 1.01 && self.domain.inside(cell.centre)
    }

    fn is_thin(&self, cell: &Cell, scale: f64) -> bool {
        if self.grading == Grading::Uniform {
            return false;
        }
        let size = scale * self.cell.min_element();
        let marked = |m: &Marks| {
            m.size_at(cell.centre, cell.radius)
                .is_some_and(|wanted| wanted < 0.8 * size)
        };
        if self.marks.is_some_and(marked) {
            return true;
        }
        // Cells of a plate are as high as it is thick, so halving them costs eightfold
        // where fourfold is asked for: the spacing itself has to hold its outline.
        if scale < THIN_SCALE || self.space.is_plate() {
            return false;
        }
        let limit = CELLS_THROUGH * scale * self.cell.max_element();
        self.pierces(
            self.domain.thickness(cell.centre, limit),
            scale,
            CELLS_THROUGH,
        ) || self.pierces(self.domain.gap(cell.centre, limit), scale, CELLS_ACROSS_GAP)
    }

    /// Whether a wall or a gap has too few cells through it.
    fn pierces(&self, run: Run, scale: f64, cells: f64) -> bool {
        let along = self.space.axes.transpose() * run.direction;
        let cell = (along * self.cell).length() * scale;
        // Between flat faces onto which the lattice is fitted, one cell is enough.
        let held = (0..3).any(|k| self.space.fit[k] && along[k].abs() > 0.999);
        let least = if held { cells.min(0.99) } else { cells };
        run.length < 0.999 * least * cell
    }
}
