//! What can go wrong, told to Bevy's own error handling.

use bevy::prelude::*;
use fracas_bake::SurfaceMeshError;
use fracas_fracture::material::MaterialError;
use fracas_rapier::{ActionError, OpenError, RestoreError, SnapshotError};
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
    /// The numbers of its material are out of range.
    #[error("{entity}: {source}")]
    Material {
        /// Which.
        entity: Entity,
        /// What is wrong.
        source: MaterialError,
    },
    /// Its transform stretches, mirrors or collapses it.
    #[error(
        "{entity} is Breakable and scaled by {scale}: its scale must be above zero and the same in all directions; stretch the mesh instead"
    )]
    Scaled {
        /// Which.
        entity: Entity,
        /// As found.
        scale: Vec3,
    },
    /// Its scale was changed when its body was there.
    #[error(
        "{entity} was scaled after its body was made, which keeps its size: despawn it and spawn it anew"
    )]
    Rescaled {
        /// Which.
        entity: Entity,
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
    /// A command to the entity did nothing: `hit`, `break_with`, or a material that
    /// [`ColliderMaterial`](crate::ColliderMaterial) gives to its collider.
    #[error("{entity}: {source}")]
    PieceAction {
        /// Which.
        entity: Entity,
        /// Why.
        source: ActionError,
    },
    /// `explode` or `damage` did nothing.
    #[error(transparent)]
    Action(ActionError),
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
