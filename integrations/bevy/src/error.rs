//! What can go wrong, told to Bevy's own error handling.

use bevy::prelude::*;
use fracas_bake::SurfaceMeshError;
use fracas_bake::shatter::PlanError;
use fracas_fracture::material::MaterialError;
use fracas_rapier::{OpenError, RestoreError, SnapshotError};
use thiserror::Error;

/// Why an entity does not break, or a state is neither saved nor loaded. It goes to the
/// app's error handler with the severity `Error`: told, and the app goes on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FracasError {
    /// Nothing says what it is made of.
    #[error(
        "{entity} is Breakable and has no shape: add Mesh3d, BreakableAsset or BreakableBlueprint"
    )]
    NoShape {
        /// Which.
        entity: Entity,
    },
    /// Nobody knows the material.
    #[error("{entity}: {source}")]
    Material {
        /// Which.
        entity: Entity,
        /// What is wrong.
        source: MaterialError,
    },
    /// Sizes are baked, not scaled.
    #[error("{entity} is Breakable and scaled by {scale}: give its mesh the size it is to have")]
    Scaled {
        /// Which.
        entity: Entity,
        /// As found.
        scale: Vec3,
    },
    /// The mesh is no surface.
    #[error("{entity}: its mesh {reason}")]
    Mesh {
        /// Which.
        entity: Entity,
        /// What is wrong with it.
        reason: MeshDefect,
    },
    /// The mesh or the asset makes no tetrahedra, no modes, or no object of them.
    #[error("{entity} cannot be broken: {source}")]
    Bake {
        /// Which.
        entity: Entity,
        /// What is wrong.
        source: Box<OpenError>,
    },
    /// The asset could not be loaded.
    #[error("{entity}: its asset could not be loaded: {reason}")]
    Asset {
        /// Which.
        entity: Entity,
        /// What the asset server says.
        reason: String,
    },
    /// No piece stands behind the entity.
    #[error("{entity} is no piece of a breakable object (it may not be baked yet)")]
    NoPiece {
        /// Which.
        entity: Entity,
    },
    /// The pattern breaks nothing.
    #[error("{entity}: {source}")]
    Shatter {
        /// Which.
        entity: Entity,
        /// Why.
        source: PlanError,
    },
    /// The engine is stepped in a way that the plugin cannot follow.
    #[error(
        "TimestepMode must be Fixed {{ dt: {dt}, substeps: 1 }}, as FracasPlugin::with_step says; it is {found}"
    )]
    Timestep {
        /// The plugin's, seconds.
        dt: f32,
        /// What it is.
        found: String,
    },
    /// There is not exactly one context of bevy_rapier3d.
    #[error("there is no default Rapier context: add RapierPhysicsPlugin in the fixed schedule")]
    NoContext,
    /// The state could not be saved.
    #[error(transparent)]
    Save(#[from] SnapshotError),
    /// The state could not be loaded.
    #[error(transparent)]
    Load(#[from] RestoreError),
}

/// Why a mesh of Bevy's is no surface to fill.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeshDefect {
    /// Lines, points or strips.
    #[error("is no list of triangles")]
    NoTriangles,
    /// No positions of three numbers.
    #[error("has no positions")]
    NoPositions,
    /// The renderer has taken the vertices.
    #[error(
        "is no longer in main memory: load it with RenderAssetUsages::MAIN_WORLD, or use BreakableAsset"
    )]
    Taken,
    /// The triangles make no surface.
    #[error("makes no surface: {0}")]
    Surface(#[from] SurfaceMeshError),
}
