//! Depth inside tetrahedral meshes that deform and are cut, and the forces that push them
//! apart: collision between soft bodies (Marchal, Aubert, Chaillou 2004).
//!
//! The depth of a node is its distance to the boundary of its own object. It is marched from
//! the boundary inward on the tetrahedra themselves, anew in every step and only as deep as
//! the contact reaches, so nothing is precomputed and a cut costs nothing extra.
//!
//! ```
//! use fracas_tet_distance::geometry::grid::bent_grid;
//! use fracas_tet_distance::{DepthField, Detector, Method, Object, Responder, Response, Topology};
//! use glam::Vec3;
//!
//! // Two blocks of 4 metres; the second reaches half a metre into the first.
//! let block = bent_grid([4, 4, 4], false, |p| p)?;
//! let topology = Topology::build(block.positions().len(), block.tets())?;
//! let above: Vec<Vec3> = block.positions().iter().map(|p| *p + Vec3::Y * 3.5).collect();
//! let objects = [block.positions(), &above].map(|positions| Object { topology: &topology, positions });
//!
//! let mut pairs = Vec::new();
//! Detector::default().overlaps(&objects, &mut pairs);
//! let fields = [0, 1].map(|object| {
//!     let inside = pairs.iter().flatten().filter(|of| of.object == object);
//!     let marked: Vec<u32> = inside.map(|of| of.tet).collect();
//!     let mut field = DepthField::new(Method::ClosestFeature);
//!     field.march_to(&topology, objects[object as usize].positions, &marked);
//!     field
//! });
//! let mut pushes = Vec::new();
//! Responder::default().pushes(&objects, &fields, &pairs, Response::Point, &mut pushes);
//! assert!(pushes.iter().all(|push| (push.depth - 0.5).abs() < 1e-3));
//! # Ok::<(), fracas_tet_distance::geometry::TetMeshError>(())
//! ```
//!
//! ```text
//!  tets ----> Topology (again only after a tear)
//!                |
//!  positions ----+--> SurfaceFinder   edges of surfaces in tets of other parts
//!                |    Detector   overlapping tets, triangles in tets
//!                |        | marks
//!                +--> DepthField::march_to   depth of the marked tets' nodes
//!                |        |
//!                +--> Responder    forces on nodes: points or segments in objects
//! ```
//!
//! | paper | here |
//! | --- | --- |
//! | detection, §3 | [`Detector`]; [`SurfaceFinder`] finds the surfaces alone |
//! | closest point and closest feature marching, §4 | [`Method`], [`DepthField::march`] |
//! | partial marching, §4.3 | [`DepthField::march_to`] |
//! | response of points, §5.1, of segments, §5.2 | [`Response`], [`Responder`], [`Push`]; [`DepthTet`] for one tetrahedron |
//!
//! **Deviation**: the paper's response has misprints, corrected in `respond.rs`; forces of a
//! segment are weighted by the trapezium instead of halved. More in `docs/tet_distance.md` of
//! the repository.
//!
//! Depths and positions are in the mesh's unit. The same input gives the same bits on any
//! number of threads.
//!
//! **Features**: `parallel` (default) for the caller's rayon pool; `unstable` for reference
//! implementations and test meshes.

mod tet_distance;

/// Meshes and their errors: the types that this crate takes.
pub use fracas_geometry as geometry;
pub use tet_distance::{
    CAUSALITY, DepthField, DepthTet, Detector, EdgeInTet, Feature, Method, Object, Push, Pushed,
    Responder, Response, SegmentInTet, Sheet, SurfaceFinder, TetOf, Topology, TriangleInTet,
};

/// Reference implementations and test meshes, for tests and comparisons. They may change in
/// any version.
#[cfg(any(test, feature = "unstable"))]
pub mod unstable {
    pub use crate::tet_distance::reference::exact::exact_squared_distance;
    pub use crate::tet_distance::reference::{error_table, grid_march, specimens};
}
