//! Things that break in a Rapier world: collision detection and destruction.
//!
//! The moment an object shatters, hundreds of new, non-convex, tightly packed pieces need
//! collision structures at once. fracas keeps them ready: all fragments of an object share
//! one tet mesh and one distance field, and a fracture updates only what broke.
//!
//! ```
//! use fracas::prelude::*;
//! use rapier3d::prelude::*;
//!
//! // A Rapier world of your own, with whatever is in it.
//! let mut physics = PhysicsWorld::default();
//! physics.insert_collider(ColliderBuilder::new(SharedShape::halfspace(Vector::Y)), None);
//!
//! // Three lines make things break in it. `"brick"` may be the path of a mesh file.
//! let mut world = World::around(physics, WorldSettings::default());
//! world.add(Breakable::open("brick", Material::BRICK)?.at(Pose::translation(0.0, 9.0, 0.0)));
//! # let mut pieces = 0;
//! for _ in 0..120 {
//!     world.step(); // instead of `physics.step()`
//!     for event in world.take_events() {
//!         if let Event::Broke { children, .. } = event {
//!             println!("{} pieces", children.len());
//! #           pieces += children.len();
//!         }
//!     }
//! }
//! # assert!(pieces > 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to do | use |
//! | --- | --- |
//! | a mesh file, or a shape by its name, as something that breaks | [`Breakable::open`] |
//! | the same, computed ahead into one file | [`bake::bake::bake`], [`Asset`]; `fracas bake` |
//! | a world in which it breaks | [`World`], [`WorldSettings`] |
//! | what it is made of | [`Material`] |
//! | what happened, to show and to hear it | [`Event`], [`World::take_events`] |
//! | what a renderer draws of a piece, and where | [`World::vertex_buffers`], [`World::surface`], [`World::pose`] |
//! | to hit, blow up, damage, break | [`World::hit`], [`World::explode`], [`World::damage`], [`World::break_with`] |
//! | what the floor is made of | [`World::set_collider_material`] |
//! | to find a piece by ray or point | [`World::cast_ray`], [`World::piece_at`] |
//! | how many fragments stay, and how long | [`DebrisPolicy`] |
//! | saving and loading in the middle of a break | [`World::snapshot`], [`World::restore`] |
//! | a model in pieces without a simulation | [`shatter()`] |
//!
//! A guide that goes through all of it: `docs/guide.md`. This crate is the door; behind it
//! are [`core`] (fields, trees, contacts: no files, no engine), [`geometry`] (tet meshes, cracks,
//! fragments), [`fracture`] (what breaks, and where), [`bake`](mod@bake) (mesh files, tetrahedra,
//! assets) and [`rapier`] (bodies in the engine), each a crate of its own.
//!
//! Four more are exported by a feature of their name: `soft` (soft bodies that deform, tear and
//! are cut), `fastcd` (collision detection for triangle meshes that deform and break),
//! `tet-distance` (depths inside tet meshes that deform and are cut) and `voxel` (contacts that
//! are ready whenever the time is up).

pub use fracas_bake as bake;
pub use fracas_core as core;
#[cfg(feature = "fastcd")]
pub use fracas_fastcd as fastcd;
pub use fracas_fracture as fracture;
pub use fracas_geometry as geometry;
pub use fracas_rapier as rapier;
#[cfg(feature = "soft")]
pub use fracas_soft as soft;
#[cfg(feature = "tet-distance")]
pub use fracas_tet_distance as tet_distance;
#[cfg(feature = "voxel")]
pub use fracas_voxel as voxel;

pub use fracas_bake::Asset;
pub use fracas_bake::cache::BakeCache;
pub use fracas_bake::shatter::{Pattern, ShatterError, ShatterOptions};
pub use fracas_core::FragmentId;
pub use fracas_fracture::{BreakPattern, Breaker, Material, Strength};
pub use fracas_rapier::{
    ActionError, Blueprint, Breakable, Contact, DebrisPolicy, Event, Falloff, JointHandle,
    NewFragment, ObjectId, OpenError, OpenNote, OpenOptions, PieceId, RayHit, VertexBufferJob,
    VertexBuffers, World, WorldSettings,
};

use std::path::{Path, PathBuf};

use fracas_bake::shatter::Subject;

/// Everything that a program with breaking things names.
pub mod prelude {
    pub use crate::{
        ActionError, Asset, BakeCache, Blueprint, BreakPattern, Breakable, Breaker, Contact,
        DebrisPolicy, Event, Falloff, FragmentId, JointHandle, Material, ObjectId, OpenOptions,
        Pattern, PieceId, RayHit, ShatterOptions, Strength, VertexBuffers, World, WorldSettings,
        shatter,
    };
}

/// A model in pieces, without a simulation: reads `input` (a mesh file, an asset, or a
/// shape's name), breaks it and writes all pieces to `output` (`.glb`, `.gltf`, `.obj` or
/// `.usda`). The pieces have the model's own triangles, materials and textures, and are
/// closed. Returns the files that were written.
///
/// ```no_run
/// use fracas::prelude::*;
///
/// let options = ShatterOptions { pieces: 20, ..ShatterOptions::default() };
/// shatter("mug.glb", "broken.glb", &options)?;
/// # Ok::<(), fracas::ShatterError>(())
/// ```
///
/// [`bake::shatter::Subject`] does the same in steps, with pieces to look at in between.
///
/// # Errors
/// See [`ShatterError`].
pub fn shatter(
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ShatterOptions,
) -> Result<Vec<PathBuf>, ShatterError> {
    Subject::open(input)?.shatter(options)?.save(output)
}

/// The blocks of the guide and of the first page run as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/guide.md")]
    struct Guide;
    #[doc = include_str!("../../../README.md")]
    struct FirstPage;
}
