//! A solid shape to good tetrahedra, in pure Rust.
//!
//! | step | file |
//! | --- | --- |
//! | what is inside | [`domain`](self), `surface_domain`, `bvh`, `winding` |
//! | background lattice, graded by a balanced octree | `lattice`, `grading` |
//! | the lattice's part inside, as tetrahedra | `stuffing` |
//! | one solid, closed manifold boundary | `topology` |
//! | better angles without leaving the surface | `improve` |
//! | angles | [`quality`] |

mod bvh;
mod domain;
mod features;
mod fit;
mod frame;
mod grading;
mod hausdorff;
mod improve;
mod lattice;
pub mod quality;
mod reconnect;
mod stuffing;
mod surface_domain;
mod topology;
mod winding;

use fracas::{TetMesh, TetMeshError};
use glam::DVec3;
use thiserror::Error;

use domain::{Domain, Implicit};
use features::Creases;
use grading::Space;
pub use hausdorff::{Hausdorff, hausdorff};
use improve::Work;
use quality::Angles;
use stuffing::{Prepared, Stuffed};
use surface_domain::SurfaceDomain;
pub use topology::{BoundaryTopology, boundary_topology};

use crate::SurfaceMesh;

/// How fine the mesh is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// The mean length of its edges, in the units of the input; with a grading, of
    /// the edges at the surface where it is not thin.
    EdgeLength(f64),
    /// About so many tetrahedra (within 10%).
    Tets(usize),
}

/// Where the mesh is finer than elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grading {
    /// One size everywhere.
    Uniform,
    /// One size, but finer where the shape or a gap is thin.
    #[default]
    Thin,
    /// As [`Grading::Thin`], and coarser with the depth below the surface.
    Graded,
}

/// How the mesh is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Whatever suits the shape.
    #[default]
    Auto,
    /// Isosurface stuffing: any shape.
    Stuffing,
    /// The surface and its inward offset, with tetrahedra between: thin walls.
    Shell,
}

/// What to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How fine.
    pub size: Size,
    /// Where finer.
    pub grading: Grading,
    /// How.
    pub method: Method,
    /// Whether to improve the angles (on by default; off shows the raw stuffing).
    pub improve: bool,
}

impl Options {
    /// About so many tetrahedra.
    #[must_use]
    pub fn tets(count: usize) -> Self {
        Self {
            size: Size::Tets(count),
            grading: Grading::default(),
            method: Method::default(),
            improve: true,
        }
    }

    /// Edges of this length.
    #[must_use]
    pub fn edge_length(length: f64) -> Self {
        Self {
            size: Size::EdgeLength(length),
            ..Self::tets(0)
        }
    }

    /// The same with another grading.
    #[must_use]
    pub fn with_grading(mut self, grading: Grading) -> Self {
        self.grading = grading;
        self
    }

    /// The same with another method.
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }
}

/// Why there is no mesh.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TetrahedralizeError {
    /// An option makes no sense.
    #[error("{option} is {value}, which must be {expected}")]
    BadOption {
        /// Which.
        option: &'static str,
        /// As given.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// Nothing is inside.
    #[error(
        "nothing is inside the shape at a spacing of {spacing:e}; is it closed, and are its bounds right?"
    )]
    Empty {
        /// The finest spacing tried.
        spacing: f64,
    },
    /// The walls are thinner than the tetrahedra can be.
    #[error(
        "walls of thickness {thickness:e} cannot be held at a spacing of {spacing:e} (the mesh misses {missing:.1}% of the volume); ask for about {tets} tetrahedra or edges of {edge_length:e}, or use the shell method"
    )]
    WallsTooThin {
        /// One place in ten is thinner than this.
        thickness: f64,
        /// The lattice spacing tried.
        spacing: f64,
        /// Percent of the volume that the mesh misses.
        missing: f64,
        /// The edge length that would hold the walls.
        edge_length: f64,
        /// The number of tetrahedra that would.
        tets: usize,
    },
    /// More cells than memory should hold.
    #[error(
        "the lattice would need more than {limit} cells; ask for longer edges or fewer tetrahedra"
    )]
    TooFine {
        /// The limit.
        limit: usize,
    },
    /// The result is no valid mesh, most likely because single precision cannot
    /// hold it (a small shape far from the origin).
    #[error("the tetrahedra make no valid mesh: {0}; is the shape small and far from the origin?")]
    Mesh(#[from] TetMeshError),
}

/// What was made, in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The lattice cell at the surface where it is not thin; edges are a little shorter.
    pub spacing: f64,
    /// Volume of the tetrahedra.
    pub volume: f64,
    /// Their angles.
    pub angles: Angles,
    /// What the boundary is like: always manifold.
    pub boundary: BoundaryTopology,
    /// Separate pieces that were dropped because they were tiny.
    pub dropped_pieces: usize,
    /// Their volume.
    pub dropped_volume: f64,
    /// Nodes that were copied where the mesh touched itself.
    pub copied_nodes: usize,
    /// Tetrahedra that were removed where that did not help.
    pub removed_tets: usize,
}

/// Tetrahedra and what is known about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Tetrahedralization {
    mesh: TetMesh,
    report: Report,
}

impl Tetrahedralization {
    /// The mesh.
    #[must_use]
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// The mesh, owned.
    #[must_use]
    pub fn into_mesh(self) -> TetMesh {
        self.mesh
    }

    /// The numbers.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }
}

/// Fills the shape where `f` is negative, within `bounds` (smallest and largest
/// corner; the shape should lie strictly inside).
///
/// `f` should be near to a signed distance close to the surface: its magnitude
/// decides where cells are refined, and its gradient where nodes are pulled to.
///
/// # Errors
/// See [`TetrahedralizeError`].
pub fn implicit(
    f: &dyn Fn(DVec3) -> f64,
    bounds: (DVec3, DVec3),
    options: &Options,
) -> Result<Tetrahedralization, TetrahedralizeError> {
    let size = (bounds.1 - bounds.0).max_element();
    if !(size > 0.0 && size.is_finite() && bounds.0.is_finite()) {
        return Err(TetrahedralizeError::BadOption {
            option: "the largest side of the bounds",
            value: size,
            expected: "positive and finite",
        });
    }
    let domain = Implicit::new(f, size);
    let shape = Shape {
        domain: &domain,
        space: Space::aligned(bounds),
        surface: None,
    };
    fill(&shape, options)
}

/// Fills a triangle surface.
///
/// # Errors
/// See [`TetrahedralizeError`].
pub fn surface(
    surface: &SurfaceMesh,
    options: &Options,
) -> Result<Tetrahedralization, TetrahedralizeError> {
    let mut domain = SurfaceDomain::new(surface.positions(), surface.triangles());
    let ambiguous = domain.is_ambiguous();
    if ambiguous {
        domain.thicken(OFFSET * domain.size());
    }
    let space = if ambiguous {
        Space::aligned(domain.bounds())
    } else {
        frame::find(surface.positions(), surface.triangles(), domain.bounds())
    };
    let shape = Shape {
        domain: &domain,
        space,
        surface: (!ambiguous).then_some(surface),
    };
    let made = fill(&shape, options)?;
    if !ambiguous {
        check_walls(&domain, surface, &made)?;
    }
    Ok(made)
}

/// Thickness on each side of a surface that has no inside, over its size.
const OFFSET: f64 = 0.02;
/// A mesh that misses more than this part of the volume does not hold the walls.
const VOLUME_LIMIT: f64 = 0.05;

/// Refuses a mesh through whose walls one can see, and says what would hold them.
fn check_walls(
    domain: &SurfaceDomain,
    surface: &SurfaceMesh,
    made: &Tetrahedralization,
) -> Result<(), TetrahedralizeError> {
    let volume = surface.volume().abs();
    let error = made.report.volume / volume - 1.0;
    let thickness = domain.thin_wall();
    // Self-intersecting surfaces have no volume to compare with; thick ones no walls.
    if volume <= 0.0 || error > -VOLUME_LIMIT || thickness > 2.0 * made.report.spacing {
        return Ok(());
    }
    let spacing = thickness / 1.5;
    Err(TetrahedralizeError::WallsTooThin {
        thickness,
        spacing: made.report.spacing,
        missing: -100.0 * error,
        edge_length: spacing * MEAN_EDGE,
        tets: (16.0 * volume / (spacing * spacing * spacing)) as usize,
    })
}

/// A shape, where to lay the lattice, and its triangles if it has some.
struct Shape<'a> {
    domain: &'a dyn Domain,
    space: Space,
    surface: Option<&'a SurfaceMesh>,
}

/// Mean edge of the body-centred cubic lattice over its cell: six edges of 1 and
/// eight of sqrt(3)/2 at each node.
const MEAN_EDGE: f64 = 0.923;

fn fill(shape: &Shape, options: &Options) -> Result<Tetrahedralization, TetrahedralizeError> {
    let (spacing, (prepared, stuffed)) = match options.size {
        Size::EdgeLength(length) => {
            if !(length > 0.0 && length.is_finite()) {
                return Err(TetrahedralizeError::BadOption {
                    option: "the edge length",
                    value: length,
                    expected: "positive and finite",
                });
            }
            let spacing = length / MEAN_EDGE;
            (spacing, stuff_at(shape, spacing, options)?)
        }
        Size::Tets(count) => search_count(shape, count, options)?,
    };
    if stuffed.tets.is_empty() {
        return Err(TetrahedralizeError::Empty { spacing });
    }
    finish(shape, prepared, stuffed, spacing, options)
}

fn stuff_at(
    shape: &Shape,
    spacing: f64,
    options: &Options,
) -> Result<(Prepared, Stuffed), TetrahedralizeError> {
    let lattice = grading::lattice(shape.domain, &shape.space, spacing, options.grading).ok_or(
        TetrahedralizeError::TooFine {
            limit: lattice::MAX_CELLS,
        },
    )?;
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
) -> Result<(f64, (Prepared, Stuffed)), TetrahedralizeError> {
    if count == 0 {
        return Err(TetrahedralizeError::BadOption {
            option: "the number of tetrahedra",
            value: 0.0,
            expected: "positive",
        });
    }
    let wanted = count as f64;
    let mut spacing = shape.space.diagonal() / 16.0;
    // The coarsest spacing known to give too many, the finest known to give too few.
    let (mut too_many, mut too_few): (Option<f64>, Option<f64>) = (None, None);
    let mut previous: Option<(f64, f64)> = None;
    let mut best: Option<(f64, f64, (Prepared, Stuffed))> = None;
    for _ in 0..14 {
        let stuffed = stuff_at(shape, spacing, options)?;
        let got = stuffed.1.tets.len().max(1) as f64;
        let miss = libm::log(got / wanted).abs();
        if best.as_ref().is_none_or(|(m, _, _)| miss < *m) {
            best = Some((miss, spacing, stuffed));
        }
        if miss < 0.05 {
            break;
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
        if let (Some(fine), Some(coarse)) = (too_many, too_few)
            && !(next > fine && next < coarse)
        {
            next = (fine * coarse).sqrt();
        }
        spacing = next;
    }
    let (_, spacing, stuffed) = best.ok_or(TetrahedralizeError::Empty { spacing })?;
    Ok((spacing, stuffed))
}

fn finish(
    shape: &Shape,
    mut prepared: Prepared,
    mut mesh: Stuffed,
    spacing: f64,
    options: &Options,
) -> Result<Tetrahedralization, TetrahedralizeError> {
    // Where the mesh touches itself, nodes of two surfaces were warped together:
    // those nodes stay where the lattice has them.
    for _ in 0..HOLDS {
        let bad = topology::bad_nodes(&mesh);
        if bad.is_empty() || !prepared.hold(&mesh, &bad) {
            break;
        }
        mesh = prepared.cut();
    }
    drop(prepared);
    let (dropped_pieces, dropped_volume) = topology::keep_large_pieces(&mut mesh, SMALL_PIECE);
    let (copied_nodes, removed_tets) = topology::make_manifold(&mut mesh);
    let mut work = Work::new(mesh);
    if options.improve {
        let creases = shape.surface.map_or_else(Creases::none, |s| {
            Creases::detect(s.positions(), s.triangles(), spacing)
        });
        features::snap(&mut work, &creases);
        improve::improve(&mut work, shape.domain, &creases);
        fit::fit(&mut work, shape.domain);
    }
    let Stuffed {
        positions, tets, ..
    } = work.into_mesh();
    let angles = quality::angles(&positions, &tets);
    let mesh = TetMesh::build(positions.iter().map(|p| p.as_vec3()).collect(), tets)?;
    let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
    let report = Report {
        spacing,
        volume: mesh.volume(),
        angles,
        boundary: topology::boundary_topology(mesh.positions().len(), &triangles),
        dropped_pieces,
        dropped_volume,
        copied_nodes,
        removed_tets,
    };
    Ok(Tetrahedralization { mesh, report })
}

/// How often the mesh is cut anew where it touches itself.
const HOLDS: usize = 6;
/// Pieces smaller than this part of the largest are dropped: crumbs of thin places.
const SMALL_PIECE: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;

    fn sphere(spacing: f64) -> Tetrahedralization {
        let options = Options {
            improve: false,
            ..Options::edge_length(spacing * MEAN_EDGE).with_grading(Grading::Uniform)
        };
        implicit(
            &|p| p.length() - 1.0,
            (DVec3::splat(-1.0), DVec3::splat(1.0)),
            &options,
        )
        .unwrap()
    }

    #[test]
    fn the_volume_of_a_sphere_converges_with_the_square_of_the_spacing() {
        let exact = 4.0 / 3.0 * std::f64::consts::PI;
        for (spacing, expected) in [(0.5, -5.84), (0.25, -1.60), (0.125, -0.40)] {
            let made = sphere(spacing);
            let error = (made.report().volume / exact - 1.0) * 100.0;
            println!("{spacing}: {error:.3}% {:?}", made.report().angles);
            assert!(
                (error - expected).abs() < 0.1 * -expected,
                "{spacing}: {error}% instead of {expected}%"
            );
            assert!(made.report().angles.min > 10.0);
        }
    }

    #[test]
    fn the_count_is_met() {
        for grading in [Grading::Uniform, Grading::Thin, Grading::Graded] {
            for count in [2_000, 8_000] {
                let made = implicit(
                    &|p| (p - DVec3::new(0.03, 0.05, 0.02)).length() - 0.9,
                    (DVec3::splat(-1.0), DVec3::splat(1.0)),
                    &Options::tets(count).with_grading(grading),
                )
                .unwrap();
                let got = made.mesh().tets().len() as f64;
                println!("{grading:?} {count}: {got} {:?}", made.report());
                assert!(
                    (got / count as f64 - 1.0).abs() < 0.1,
                    "{grading:?} {count}: {got}"
                );
            }
        }
    }
}
