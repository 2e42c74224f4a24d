//! A solid shape to good tetrahedra, in pure Rust.
//!
//! | step | file |
//! | --- | --- |
//! | what is inside | `domain`, `surface_domain`, `bvh`, `winding` |
//! | where to lay the lattice, and how fine | `frame`, `grading`, `marks`, `search` |
//! | background lattice on a balanced octree | `lattice` |
//! | the lattice's part inside, as tetrahedra | `stuffing` |
//! | one solid, closed manifold boundary | `topology` |
//! | creases, angles, volume | `features`, `improve`, `reconnect`, `fit` |
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

mod bvh;
mod domain;
mod features;
mod fit;
mod frame;
mod grading;
mod hausdorff;
mod improve;
mod lattice;
mod marks;
pub(crate) mod nearest;
pub mod quality;
mod reconnect;
mod search;
mod shell;
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
use search::MEAN_EDGE;
pub use shell::{Shell, shell};
use stuffing::Stuffed;
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

/// What to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How fine.
    pub size: Size,
    /// Where finer.
    pub grading: Grading,
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
        "walls of thickness {thickness:e} cannot be held at a spacing of {spacing:e} (the mesh misses {missing:.1}% of the volume); ask for about {tets} tetrahedra or edges of {edge_length:e}, or extrude the outer surface with `shell`"
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
        solid: None,
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
        solid: (!ambiguous).then_some(&domain),
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
    solid: Option<&'a SurfaceDomain>,
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
mod tests;
