//! Collision detection for deforming, breaking triangle meshes: cloth, shells and surfaces of
//! finite elements that tear, dent and shatter (FASTCD, Heo et al. 2010).
//!
//! ```
//! use fracas_fastcd::{Contacts, FastBvh, Scratch, Settings};
//! use glam::dvec3;
//!
//! let mut scene = FastBvh::new(Settings::default());
//! let triangle = [dvec3(0.0, 0.0, 0.0), dvec3(1.0, 0.0, 0.0), dvec3(0.0, 1.0, 0.0)];
//! scene.add(&triangle, &[[0, 1, 2]])?;
//! let falling = scene.add(&triangle.map(|p| p + dvec3(0.1, 0.1, 1.0)), &[[0, 1, 2]])?;
//! scene.update();
//!
//! scene.move_vertices(falling, &triangle.map(|p| p + dvec3(0.1, 0.1, -1.0)))?;
//! scene.update();
//! let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
//! scene.contacts(&mut scratch, &mut contacts);
//! assert!((contacts.earliest().unwrap() - 0.5).abs() < 1e-9); // half of the step
//! # Ok::<(), fracas_fastcd::EditError>(())
//! ```
//!
//! ```text
//!  add  delete  split  merge  move_vertices      edits, in any number
//!                   |
//!                   v
//!  update:  rewrite the tree where edited -> refit boxes, cones, costs
//!           -> decide what is culled -> restructure what got costly
//!                   |
//!                   v
//!  intersections (end of the step)     contacts (over the step)     candidates (within a reach)
//! ```
//!
//! A step is what happens between two calls of [`FastBvh::update`]: vertices move linearly from
//! their place at the first to their place at the second. A body that was not moved rests.
//! Lengths are in the unit of the positions; times are shares of the step, 0 to 1.
//!
//! **Guarantee**: with [`Culling::StarContour`] (the default), [`Culling::FullContour`] or
//! [`Culling::Off`], no intersection and no contact is missed; the other modes are kept for
//! comparison and can miss. Discrete results are exact. Continuous results may contain pairs
//! that pass each other within rounding, unless [`Settings::exact`] is set; times of impact are
//! never late. The same input gives the same bits on any number of threads.
//!
//! | paper | here |
//! | --- | --- |
//! | body, §5.1 | [`BodyId`], [`Part`] |
//! | normal and binormal cones, §4 | [`Culling::DualCone`] |
//! | cost metric, §5.2 | [`UpdateStats::cost_inter`], [`UpdateStats::cost_self`] |
//! | split, merge, add, §5.3 | [`FastBvh::split`], [`FastBvh::merge`], [`FastBvh::add`] |
//! | selective restructuring, §5.4 | [`Restructuring::Selective`] |
//! | fast construction, G, §5.5 | [`Builder::Grid`] |
//!
//! **Deviation**: the paper's dual cone can miss contacts, so the default is a proven test, the
//! star-shaped contour; the constants of restructuring are work units and not clock times, so
//! that runs repeat. All deviations, with reasons: `docs/fast_bvh.md` of the repository.
//!
//! **Features**: `parallel` (default) for updates and queries on the caller's rayon pool.

mod fast_bvh;

pub use fast_bvh::{
    BodyId, Builder, Candidate, Candidates, Contacts, Culling, Detection, EdgeEdge, EditError,
    FastBvh, Features, NewBody, Part, QueryStats, Restructuring, Scratch, Settings, UpdateStats,
    VertexFace,
};
