//! A solid shape to good tetrahedra, in pure Rust.
//!
//! | step | file |
//! | --- | --- |
//! | what is inside | `domain`, `surface_domain`, `lids`, `bvh`, `winding` |
//! | where to lay the lattice, and how fine | `frame`, `grading`, `marks`, `search` |
//! | background lattice on a balanced octree | `lattice` |
//! | the lattice's part inside, as tetrahedra | `stuffing` |
//! | one solid, closed manifold boundary | `topology` |
//! | creases, angles, volume | `features`, `improve`, `reconnect`, `fit` |
//! | what the lattice passed over | `approach` |
//! | how good it is | [`quality`], [`hausdorff()`] |
//! | thin walls without a lattice | [`shell()`] |
//!
//! Sources: [Labelle Shewchuk 2007] Isosurface stuffing; [Klingner Shewchuk 2007]
//! Aggressive tetrahedral mesh improvement; [Barill 2018] Fast winding numbers.
//!
//! **Guarantee.** All tetrahedra are positive, they conform, and their boundary is
//! closed and manifold; the same input gives the same bits everywhere. Angles and
//! deviations are measured, not proven: the [`Report`] has the first,
//! [`hausdorff()`] the second.

mod approach;
pub(crate) mod bvh;
mod domain;
mod features;
mod fit;
mod frame;
mod grading;
mod hausdorff;
mod improve;
mod lattice;
mod lids;
mod marks;
pub(crate) mod nearest;
#[cfg(not(feature = "research"))]
pub(crate) mod quality;
#[cfg(feature = "research")]
pub mod quality;
mod reconnect;
mod search;
mod shell;
mod stuffing;
mod surface_domain;
mod topology;
mod volume_check;
mod winding;
mod work;

use fracas_core::{TetMesh, TetMeshError};
use glam::DVec3;
use thiserror::Error;

use domain::{Domain, Implicit};
use features::Creases;
use grading::Space;
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use hausdorff::{Hausdorff, farthest_apart, hausdorff};
use quality::Angles;
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use shell::{Shell, shell};
use stuffing::Stuffed;
use surface_domain::SurfaceDomain;
pub use topology::BoundaryTopology;
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use topology::boundary_topology;
use work::Work;

use crate::SurfaceMesh;
use crate::topology::Edges;

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
    /// One size everywhere, whatever it passes over.
    Uniform,
    /// One size, but finer where the shape or a gap is thin.
    #[default]
    Thin,
    /// As [`Grading::Thin`], and coarser with the depth below the surface.
    Graded,
}

/// What becomes of a surface that has no inside: an open sheet, a soup.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Thicken {
    /// A sheet of a twenty-fifth of its size.
    #[default]
    Automatic,
    /// A sheet of this thickness, in the units of the input.
    By(f64),
    /// An error.
    Refuse,
}

/// What to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How fine.
    pub size: Size,
    /// Where finer.
    pub grading: Grading,
    /// Whether to improve the angles (on by default; off shows the raw stuffing).
    pub improve: bool,
    /// Whether to bring the boundary nearer to a surface where the lattice passed over
    /// something (on by default, with improved angles; off takes half the time).
    pub approach: bool,
    /// What becomes of a surface without inside.
    pub thicken: Thicken,
}

impl Options {
    /// About so many tetrahedra.
    #[must_use]
    pub fn tets(count: usize) -> Self {
        Self {
            size: Size::Tets(count),
            grading: Grading::default(),
            improve: true,
            approach: true,
            thicken: Thicken::default(),
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
}

/// Why there is no mesh.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TetrahedralizeError {
    /// The caller's progress callback stopped it.
    #[error("filling was cancelled")]
    Cancelled,
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
    #[error("{}", empty_text(*spacing))]
    Empty {
        /// The finest spacing tried.
        spacing: f64,
    },
    /// The walls are thinner than the tetrahedra can be.
    #[error("{}", walls_text(*thickness, *spacing, *missing, *edge_length, *tets))]
    WallsTooThin {
        /// One place in ten is thinner than this.
        thickness: f64,
        /// The lattice spacing tried.
        spacing: f64,
        /// Percent of the volume that the mesh misses; 100 where none was tried.
        missing: f64,
        /// The edge length that would hold the walls.
        edge_length: f64,
        /// The number of tetrahedra that would.
        tets: usize,
    },
    /// The tetrahedra fill far more, or far less, than the surface encloses.
    #[error(
        "the tetrahedra would fill {} where the surface encloses {} ({:+.0}%): edges of {} are too long for this shape; ask for more tetrahedra",
        short(*made), short(*expected), 100.0 * (made / expected - 1.0), short(*spacing)
    )]
    WrongVolume {
        /// Volume of the tetrahedra.
        made: f64,
        /// Volume inside the surface.
        expected: f64,
        /// The lattice spacing tried.
        spacing: f64,
    },
    /// There is no inside to fill.
    #[error("{}", no_inside_text(*open_edges))]
    NoInside {
        /// Edges of one triangle only.
        open_edges: usize,
    },
    /// A shell needs a closed manifold.
    #[error(
        "a shell needs a closed manifold surface, but {edges} edges and {vertices} vertices are not like that; repair it, or fill it by stuffing"
    )]
    NotClosed {
        /// Edges that do not belong to two triangles.
        edges: usize,
        /// Vertices whose triangles are not one fan.
        vertices: usize,
    },
    /// So few tetrahedra cannot make the shape.
    #[error(
        "{asked} tetrahedra are too few for this shape with its thin walls; ask for at least {needed}"
    )]
    TooFew {
        /// The number asked for.
        asked: usize,
        /// The smallest number found.
        needed: usize,
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

/// More tetrahedra than this are not advised: a bake of minutes and gigabytes.
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) const MOST_ADVISED: usize = 5_000_000;

/// Why there is no inside to fill.
fn no_inside_text(open_edges: usize) -> String {
    if open_edges == 0 {
        return "the surface is closed, but so thin that nothing is inside: make it thicker, or \
                give it a thickness"
            .into();
    }
    format!("the surface has no inside ({open_edges} open edges): close it, or give it a thickness")
}

/// Why nothing is inside.
fn empty_text(spacing: f64) -> String {
    // Lengths are kept in single precision, and multiplied.
    if spacing.is_nan() || spacing >= 1e12 {
        return "its coordinates are too large to compute with (1e12 at most): scale it".into();
    }
    format!(
        "nothing is inside the shape at a spacing of {}; is it closed, and are its bounds right?",
        short(spacing)
    )
}

fn walls_text(thickness: f64, spacing: f64, missing: f64, edge: f64, tets: usize) -> String {
    let mut fault = format!(
        "walls about {} thick cannot be held at a spacing of {}",
        short(thickness),
        short(spacing)
    );
    if missing < 100.0 {
        fault += &format!(" (the mesh misses {missing:.0}% of the volume)");
    }
    if tets > MOST_ADVISED {
        return format!(
            "{fault}; they would take more than {} million tetrahedra: make the walls thicker",
            MOST_ADVISED / 1_000_000
        );
    }
    let tets = short(tets as f64);
    format!(
        "{fault}; ask for about {tets} tetrahedra, or for edges of {}",
        short(edge)
    )
}

/// A number with three digits that count.
fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let magnitude = libm::floor(libm::log10(number.abs())) as i32;
    if !(-4..7).contains(&magnitude) {
        return format!("{number:.2e}");
    }
    let unit = libm::pow(10.0, f64::from(magnitude - 2));
    let digits = (2 - magnitude).max(0) as usize;
    format!("{:.digits$}", (number / unit).round() * unit)
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
    /// The volume that the input surface encloses, where that can be told.
    pub enclosed: Option<f64>,
    /// Holes that were closed by lids which other parts of the surface hide.
    pub lids: usize,
    /// The thickness given to a surface that has no inside.
    pub thickened: Option<f64>,
    /// Whether the surface runs through itself: its own handles and pieces are then not
    /// those of the solid.
    pub crosses_itself: bool,
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
        solid: None,
        keep_going: &|| true,
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
    surface_while(surface, options, &|| true)
}

/// As [`surface`], but stops with [`TetrahedralizeError::Cancelled`] soon after `keep_going`
/// returns `false`. It is called every few hundred milliseconds for usual sizes.
pub(crate) fn surface_while(
    surface: &SurfaceMesh,
    options: &Options,
    keep_going: &dyn Fn() -> bool,
) -> Result<Tetrahedralization, TetrahedralizeError> {
    let edges = Edges::of(surface.triangles());
    let closed = edges.boundary == 0 && edges.inconsistent == 0;
    let mut domain = SurfaceDomain::new(surface.positions(), surface.triangles());
    let flat = surface.volume().abs() < FLAT * domain.size() * surface.area();
    let ambiguous = if closed { flat } else { domain.is_ambiguous() };
    if ambiguous
        && !closed
        && let Some(lidded) = lids::close_hidden(surface)
    {
        let mut made = surface_while(&lidded.surface, options, keep_going)?;
        made.report.lids = lidded.lids;
        return Ok(made);
    }
    if ambiguous {
        let thickness = match options.thicken {
            Thicken::Automatic => 2.0 * OFFSET * domain.size(),
            Thicken::By(thickness) if thickness > 0.0 && thickness.is_finite() => thickness,
            Thicken::By(value) => {
                return Err(TetrahedralizeError::BadOption {
                    option: "the thickness",
                    value,
                    expected: "positive and finite",
                });
            }
            Thicken::Refuse => {
                return Err(TetrahedralizeError::NoInside {
                    open_edges: edges.boundary,
                });
            }
        };
        domain.thicken(0.5 * thickness);
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
        solid: (!ambiguous).then_some(&domain),
        keep_going,
    };
    if !ambiguous && closed {
        volume_check::check_walls(&domain, surface)?;
    }
    let mut made = fill(&shape, options)?;
    if !ambiguous {
        let enclosed = volume_check::enclosed(&domain, surface, closed, made.report.volume);
        volume_check::check(&domain, &made.report, enclosed)?;
        made.report.enclosed = enclosed;
    }
    made.report.thickened = domain.offset().map(|offset| 2.0 * offset);
    made.report.crosses_itself = domain.crosses_itself();
    Ok(made)
}

/// Thickness on each side of a surface that has no inside, over its size.
const OFFSET: f64 = 0.02;
/// A closed surface with less volume than this part of its area times its size is two
/// sides of one sheet.
const FLAT: f64 = 1e-6;

/// A shape, where to lay the lattice, and its triangles if it has some.
struct Shape<'a> {
    domain: &'a dyn Domain,
    space: Space,
    surface: Option<&'a SurfaceMesh>,
    solid: Option<&'a SurfaceDomain>,
    /// Whether to go on.
    keep_going: &'a dyn Fn() -> bool,
}

impl Shape<'_> {
    fn check_cancelled(&self) -> Result<(), TetrahedralizeError> {
        if (self.keep_going)() {
            Ok(())
        } else {
            Err(TetrahedralizeError::Cancelled)
        }
    }
}

fn fill(shape: &Shape, options: &Options) -> Result<Tetrahedralization, TetrahedralizeError> {
    let (spacing, (mut prepared, mut mesh)) = search::find(shape, options)?;
    // Where the mesh touches itself, nodes of two surfaces were warped together:
    // those nodes stay where the lattice has them.
    for _ in 0..HOLDS {
        let bad = topology::bad_nodes(&mesh);
        if bad.is_empty() || !prepared.hold(&mesh, &bad) {
            break;
        }
        shape.check_cancelled()?;
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
        shape.check_cancelled()?;
        improve::improve(&mut work, shape.domain, &creases);
        shape.check_cancelled()?;
        if options.approach
            && options.grading != Grading::Uniform
            && let (Some(solid), Some(surface)) = (shape.solid, shape.surface)
        {
            let most = match options.size {
                // Within 10%; one change adds some.
                Size::Tets(count) => 1.1 * count as f64 - 10.0,
                Size::EdgeLength(_) => f64::INFINITY,
            };
            approach::approach(&mut work, solid, surface, &creases, most);
        }
        shape.check_cancelled()?;
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
        enclosed: None,
        lids: 0,
        thickened: None,
        crosses_itself: false,
    };
    Ok(Tetrahedralization { mesh, report })
}

/// How often the mesh is cut anew where it touches itself.
const HOLDS: usize = 6;
/// Pieces smaller than this part of the largest are dropped: crumbs of thin places.
const SMALL_PIECE: f64 = 0.01;

#[cfg(test)]
mod tests;
