//! Breakable bodies in Rapier.
//!
//! [`World`] is a Rapier world in which things break: it owns the engine's sets
//! (`World::physics`), or is put [around](World::around) those of a game that has some.
//!
//! ```
//! use fracas_rapier::{Breakable, World, WorldSettings};
//! # use fracas_core::{FieldOptions, grid::bent_grid, sphere_tree::BuildOptions};
//! # let mesh = bent_grid([3, 2, 2], false, |p| p / glam::Vec3::new(3.0, 2.0, 2.0))?.into();
//! # let brick = fracas_rapier::Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())?;
//! let mut world = World::new(WorldSettings::default());
//! world.add_floor(0.0, 0.6);
//! world.add(Breakable::new(brick.into()));
//! world.step();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | what | module | main items |
//! | --- | --- | --- |
//! | what a body is made of | `object`, `shape`, `blueprint` | [`Blueprint`], [`FragmentShape`] |
//! | contacts of a pair, for the engine | `dispatcher`, `looks`, `pair`, `convex`, `manifold` | [`dispatcher()`] |
//! | the other shape of a pair | `partner`, `cast` | [`check_shape`] |
//! | contacts within a budget of time | `voxel` | [`FrameBudget`] |
//! | which bodies are pieces of what; breaking | `breakables` | [`Breakable`], [`Event`] |
//! | the whole, step by step | `world` | [`World`], [`WorldSettings`] |
//! | times of all stages | [`trace`] | |
//!
//! **Bits.** A program repeats its own runs bit for bit, for any number of threads, and other
//! programs and machines repeat them where they have the feature `enhanced-determinism`, too.
//! It is on by default: it switches rapier's and parry's feature of that name, and by it glam
//! to plain arithmetic (`scalar-math`; else quaternions are multiplied by vector instructions,
//! which add in another order). Without the default features, as rapier's `simd8` needs it,
//! runs of one build have the same bits, and no others.
//!
//! The feature `research` adds what report, scenes and tests look at: parry's shapes for
//! comparison, all overlaps, breaks of one run repeated in another. What it shows may change in
//! any version.
//!
//! Without the feature `world` only shape and dispatcher remain, on parry3d alone, for
//! engines that take parry's dispatchers.

// What only `research` shows is compiled without it, too, where the library uses a part of it.
// With the feature, which the workspace's lints have on, nothing is allowed to be unused.
#![cfg_attr(not(feature = "research"), allow(dead_code, unused_imports))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod blueprint;
mod break_apart;
#[cfg(feature = "world")]
mod breakables;
mod cast;
#[cfg(feature = "world")]
mod codec;
mod convex;
mod convex_shape;
mod counters;
#[cfg(feature = "world")]
mod debris;
mod deep_normals;
mod dispatcher;
mod late_tree;
mod looks;
mod manifold;
mod object;
mod pair;
mod pair_memory;
mod pair_plan;
mod parallel;
mod parry_shape;
mod partner;
mod pose;
mod prepared;
#[cfg(feature = "world")]
mod saved_workspace;
mod shape;
mod skin;
pub mod trace;
mod vertex_buffers;
mod voxel;
mod workspace;
#[cfg(feature = "world")]
mod world;

pub use blueprint::{Blueprint, ObjectError};
#[cfg(feature = "research")]
pub use break_apart::{BreakTimes, Broken, Trees};
#[cfg(all(feature = "world", feature = "research"))]
pub use breakables::BreakScript;
#[cfg(feature = "world")]
pub use breakables::{
    BreakStages, Breakable, Contact, Event, Falloff, FragmentModesPolicy, JointHandle, NewFragment,
    ObjectId, PieceId,
};
#[cfg(all(feature = "world", feature = "assets"))]
pub use breakables::{OpenError, OpenNote, OpenOptions};
#[cfg(feature = "world")]
pub use debris::DebrisPolicy;
pub use dispatcher::{FragmentDispatcher, dispatcher};
pub use manifold::SolverPoints;
pub use object::{ObjectState, SharedObject};
pub use pair::{ContactMode, ContactSettings, Normals};
#[cfg(feature = "research")]
pub use parry_shape::ParryShape;
pub use partner::{UnsupportedShape, check_shape};
pub use shape::FragmentShape;
#[cfg(feature = "world")]
pub use vertex_buffers::VertexBuffers;
pub use voxel::{FrameBudget, VoxelSettings, VoxelStats};
#[cfg(feature = "world")]
pub use world::{
    ActionError, Coupling, HandId, RayHit, RestoreError, SnapshotError, StepStats, StepTimes,
    VertexBufferJob, Warning, World, WorldSettings,
};
#[cfg(all(feature = "world", feature = "research"))]
pub use world::{Overlap, Wrench};
