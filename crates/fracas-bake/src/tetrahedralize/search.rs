//! The lattice that gives the size asked for.
//!
//! By edge length the spacing is known. By count it is searched: the count is close to
//! a power of the spacing, so a secant in logarithms, kept inside a bracket, converges
//! in a few steps. Then the mesh is compared with the surface ([`super::marks`]), and
//! the lattice is made finer where it strays, as far as the count allows.

use super::grading;
use super::lattice;
use super::marks::{self, Marks};
use super::stuffing::{Prepared, Stuffed};
use super::{Grading, Options, Shape, Size, TetrahedralizeError};

/// Mean edge of the body-centred cubic lattice over its cell: six edges of 1 and
/// eight of sqrt(3)/2 at each node.
pub(super) const MEAN_EDGE: f64 = 0.923;

/// A spacing, and what it gives.
type Found = (f64, (Prepared, Stuffed));

/// The spacing that the options ask for, and the mesh at that spacing.
pub(super) fn find(shape: &Shape, options: &Options) -> Result<Found, TetrahedralizeError> {
    let found = match options.size {
        Size::EdgeLength(length) => {
            if !(length > 0.0 && length.is_finite()) {
                return Err(TetrahedralizeError::BadOption {
                    option: "the edge length",
                    value: length,
                    expected: "positive and finite",
                });
            }
            let spacing = length / MEAN_EDGE;
            let mut stuffed = stuff_at(shape, spacing, options, None)?;
            if let Some(marks) = Marks::new(&strays(shape, options, &stuffed.1), TOLERANCES[0]) {
                stuffed = stuff_at(shape, spacing, options, Some(&marks))?;
            }
            (spacing, stuffed)
        }
        Size::Tets(count) => search_count(shape, count, options)?,
    };
    if found.1.1.tets.is_empty() {
        return Err(TetrahedralizeError::Empty { spacing: found.0 });
    }
    Ok(found)
}

fn stuff_at(
    shape: &Shape,
    spacing: f64,
    options: &Options,
    marks: Option<&Marks>,
) -> Result<(Prepared, Stuffed), TetrahedralizeError> {
    shape.check_cancelled()?;
    let lattice = grading::lattice(shape.domain, &shape.space, spacing, options.grading, marks)
        .ok_or(TetrahedralizeError::TooFine {
            limit: lattice::MAX_CELLS,
        })?;
    let prepared = Prepared::new(shape.domain, lattice, spacing);
    let stuffed = prepared.cut();
    Ok((prepared, stuffed))
}

/// Finds the spacing that gives about `count` tetrahedra: the count is close to a
/// power of the spacing, so a secant in logarithms converges in a few steps, most of
/// them coarse and cheap.
fn search_count(
    shape: &Shape,
    count: usize,
    options: &Options,
) -> Result<Found, TetrahedralizeError> {
    if count == 0 {
        return Err(TetrahedralizeError::BadOption {
            option: "the number of tetrahedra",
            value: 0.0,
            expected: "positive",
        });
    }
    // Fitted cells are never larger than the shape is thick.
    if let Some(surface) = shape.surface {
        let largest = shape.space.cell(shape.space.diagonal());
        let cells = surface.volume().abs() / (largest.x * largest.y * largest.z);
        let needed = 12.0 * cells;
        if needed > 2.0 * count as f64 {
            return Err(TetrahedralizeError::TooFew {
                asked: count,
                needed: needed as usize,
            });
        }
    }
    let guess = first_guess(shape, count);
    let mut found = search(shape, count, guess, f64::INFINITY, options, None)?;
    let strays = strays(shape, options, &found.1.1);
    for tolerance in TOLERANCES {
        let Some(marks) = Marks::new(&strays, tolerance) else {
            break;
        };
        let coarsest = COARSEN * found.0;
        let marked = search(shape, count, 1.1 * found.0, coarsest, options, Some(&marks))?;
        // Too many marks for the count: only the worst places, then.
        if (marked.1.1.tets.len() as f64) < 1.1 * count as f64 {
            found = marked;
            break;
        }
    }
    let got = found.1.1.tets.len();
    if got > 2 * count {
        return Err(TetrahedralizeError::TooFew {
            asked: count,
            needed: got,
        });
    }
    Ok(found)
}

/// Twelve tetrahedra a cell inside, and some for each cell at the surface.
fn first_guess(shape: &Shape, count: usize) -> f64 {
    let coarse = shape.space.diagonal() / 16.0;
    let Some(surface) = shape.surface else {
        return coarse;
    };
    let (volume, area) = (surface.volume().abs(), surface.area());
    let mut spacing = coarse;
    for _ in 0..30 {
        let guess = 12.0 * volume / spacing.powi(3) + 9.0 * area / spacing.powi(2);
        spacing *= libm::pow(guess / count as f64, 0.4);
    }
    if spacing.is_finite() {
        spacing.min(4.0 * coarse)
    } else {
        coarse
    }
}

/// Deviations above this part of the mean edge get smaller cells, if the count allows.
/// Improvement and fitting come later and reduce them.
const TOLERANCES: [f64; 4] = [0.4, 0.6, 0.9, 1.4];
/// How much coarser the rest may become for that.
const COARSEN: f64 = 1.25;

fn strays(shape: &Shape, options: &Options, mesh: &Stuffed) -> Vec<marks::Stray> {
    if options.grading == Grading::Uniform || shape.space.is_plate() {
        return Vec::new();
    }
    marks::strays(
        shape.domain,
        shape.solid.zip(shape.surface),
        mesh,
        TOLERANCES[0],
    )
}

fn search(
    shape: &Shape,
    count: usize,
    start: f64,
    coarsest: f64,
    options: &Options,
    marks: Option<&Marks>,
) -> Result<Found, TetrahedralizeError> {
    let wanted = count as f64;
    let coarsest = coarsest.min(shape.space.diagonal() / 4.0);
    let mut spacing = start;
    // The coarsest spacing known to give too many, the finest known to give too few.
    let (mut too_many, mut too_few): (Option<f64>, Option<f64>) = (None, None);
    let mut previous: Option<(f64, f64)> = None;
    let mut best: Option<(f64, f64, (Prepared, Stuffed))> = None;
    for _ in 0..12 {
        let stuffed = stuff_at(shape, spacing, options, marks)?;
        let got = stuffed.1.tets.len().max(1) as f64;
        let miss = libm::log(got / wanted).abs();
        if best.as_ref().is_none_or(|(m, _, _)| miss < *m) {
            best = Some((miss, spacing, stuffed));
        }
        if miss < 0.06 {
            break;
        }
        if got == 1.0 && spacing < shape.space.diagonal() / 200.0 {
            return Err(TetrahedralizeError::Empty { spacing });
        }
        if got > wanted {
            too_many = Some(too_many.map_or(spacing, |s| s.max(spacing)));
        } else {
            too_few = Some(too_few.map_or(spacing, |s| s.min(spacing)));
        }
        let exponent = match previous {
            Some((s, n)) if (s / spacing - 1.0).abs() > 1e-3 => {
                (libm::log(got / n) / libm::log(s / spacing)).clamp(1.8, 3.5)
            }
            _ => 2.7,
        };
        previous = Some((spacing, got));
        let mut next = spacing * libm::pow(got / wanted, 1.0 / exponent).clamp(0.3, 4.0);
        if let (Some(fine), Some(coarse)) = (too_many, too_few) {
            if coarse < fine * 1.001 {
                break;
            }
            if !(next > fine && next < coarse) {
                next = (fine * coarse).sqrt();
            }
        }
        next = next.min(coarsest);
        if next == spacing {
            break;
        }
        spacing = next;
    }
    let (_, spacing, stuffed) = best.ok_or(TetrahedralizeError::Empty { spacing })?;
    Ok((spacing, stuffed))
}
