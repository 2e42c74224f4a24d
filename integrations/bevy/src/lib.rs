//! Things that break, in Bevy: fracas on bevy_rapier3d.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_fracas::prelude::*;
//! use bevy_rapier3d::prelude::*;
//!
//! App::new()
//!     .add_plugins(MinimalPlugins)
//!     .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
//!     .add_plugins(FracasPlugin::<NoUserData>::default());
//! ```
//!
//! Then `commands.spawn((Breakable::of(BreakMaterial::GLASS), Mesh3d(mesh), Transform::default()))`: the
//! mesh is filled with tetrahedra and its modes are computed off the main thread, and it
//! breaks by what hits it, as the same mesh does that the library's `Breakable::open` reads.
//!
//! | what | items |
//! | --- | --- |
//! | on entities | [`Breakable`], [`BreakableAsset`], [`BreakableBlueprint`], [`Piece`], [`Fragment`], [`CrackFaces`], [`StandIn`], [`Unbreakable`], [`ColliderMaterial`] |
//! | told to observers | [`Broke`], [`Born`], [`Removed`], [`Lost`], [`Fading`], [`Dust`], [`JointMoved`], [`JointBroken`], [`Contact`], [`BakeProgress`], [`BreakableReady`] |
//! | resources | [`Fracas`], [`Debris`] |
//! | on command | [`DestructionCommands`], [`DestructionEntityCommands`], [`draw`], [`draw_outer`], [`draw_cracks`], [`save`](fn@save), [`load`], [`digest`] |
//! | with the feature `gizmos` | `FracasGizmosPlugin`, `FracasGizmos` |
//! | with the feature `render` | `CrackMaterial`, `CrackMaterials` |
//! | order of systems | [`FracasSet`] |
//! | errors | [`FracasError`] |

mod asset;
mod bake;
mod changes;
mod commands;
mod components;
mod engine;
mod error;
mod events;
mod fragments;
#[cfg(feature = "gizmos")]
mod gizmos;
mod look;
mod mesh;
mod objects;
#[cfg(feature = "render")]
mod render;
mod save;
mod scale;
#[cfg(feature = "gizmos")]
mod sheets;
mod skin;

use std::marker::PhantomData;
use std::time::Duration;

use bevy::ecs::system::SystemParamItem;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{BevyPhysicsHooks, PhysicsSet, TimestepMode};
use fracas_rapier::WorldSettings;

pub use asset::{FracasAsset, FracasLoader, LoadError};
pub use commands::{DestructionCommands, DestructionEntityCommands};
pub use components::{
    Breakable, BreakableAsset, BreakableBlueprint, Breaks, ColliderMaterial, CrackFaces, Fragment,
    Piece, StandIn, Unbreakable,
};
pub use engine::{Debris, Fracas};
pub use error::{FracasError, MeshDefect};
pub use events::{
    BakeProgress, Born, BreakableReady, Broke, Contact, Dust, Fading, JointBroken, JointMoved,
    Lost, Removed,
};
pub use fracas_fracture::BreakPattern;
/// The library's `Material`: a preset such as [`BreakMaterial::GLASS`], or numbers of your own.
/// Bevy's prelude has a `Material` already.
pub use fracas_fracture::Material as BreakMaterial;
pub use fracas_fracture::patterns::{
    ConchoidalOptions, RadialOptions, SlicesOptions, VoronoiOptions,
};
pub use fracas_rapier::{DebrisPolicy, Falloff};
#[cfg(feature = "gizmos")]
pub use gizmos::{FracasGizmos, FracasGizmosPlugin};
pub use mesh::{draw, draw_cracks, draw_outer};
#[cfg(feature = "render")]
pub use render::{CrackMaterial, CrackMaterials, look_inside};
pub use save::{digest, load, save};

/// The programs of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// What most apps need.
pub mod prelude {
    #[cfg(feature = "render")]
    pub use crate::CrackMaterial;
    pub use crate::{
        BakeProgress, Born, BreakMaterial, BreakPattern, Breakable, BreakableAsset,
        BreakableBlueprint, BreakableReady, Breaks, Broke, ColliderMaterial, ConchoidalOptions,
        Contact, Debris, DebrisPolicy, DestructionCommands, DestructionEntityCommands, Dust,
        Fading, Falloff, Fracas, FracasAsset, FracasPlugin, Fragment, JointBroken, JointMoved,
        Lost, Piece, RadialOptions, Removed, SlicesOptions, VoronoiOptions,
    };
    #[cfg(feature = "gizmos")]
    pub use crate::{FracasGizmos, FracasGizmosPlugin};
}

/// The plugin's systems in `FixedUpdate`, in this order round bevy_rapier3d's:
/// `PhysicsSet::SyncBackend`, [`FracasSet::Prepare`], `PhysicsSet::StepSimulation`,
/// [`FracasSet::Break`], `PhysicsSet::Writeback`, [`FracasSet::Follow`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FracasSet {
    /// Bodies of new objects are made, those of despawned ones go, changed transforms and
    /// velocities are written to bodies, and it is noted how bodies come at each other.
    Prepare,
    /// What was hit hard enough breaks, the step is made again with the fragments, debris
    /// goes; fragments get entities, and observers are told.
    Break,
    /// Entities move to where their bodies are.
    Follow,
}

/// Adds fracas to an app that has bevy_rapier3d's plugin in the fixed schedule. `Hooks` are
/// those of that plugin.
pub struct FracasPlugin<Hooks = ()> {
    settings: WorldSettings,
    step: f32,
    hooks: PhantomData<fn() -> Hooks>,
}

impl<Hooks> Default for FracasPlugin<Hooks> {
    fn default() -> Self {
        Self::new(WorldSettings::default())
    }
}

impl<Hooks> FracasPlugin<Hooks> {
    /// With other settings than [`WorldSettings::default`]. Gravity is bevy_rapier3d's.
    #[must_use]
    pub fn new(settings: WorldSettings) -> Self {
        Self {
            settings,
            step: 1.0 / 60.0,
            hooks: PhantomData,
        }
    }

    /// The same with steps of so many seconds; a sixtieth by default.
    #[must_use]
    pub fn with_step(self, step: f32) -> Self {
        Self { step, ..self }
    }
}

impl<Hooks> Plugin for FracasPlugin<Hooks>
where
    Hooks: 'static + BevyPhysicsHooks,
    for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
{
    fn build(&self, app: &mut App) {
        let step = self.step;
        app.insert_resource(Fracas::new(self.settings, step))
            .insert_resource(Debris(self.settings.debris))
            .init_resource::<bake::Bakes>()
            .init_resource::<look::Looks>()
            .init_resource::<scale::Scales>()
            .init_resource::<skin::Skins>()
            .insert_resource(TimestepMode::Fixed {
                dt: step,
                substeps: 1,
            })
            .insert_resource(Time::<Fixed>::from_duration(Duration::from_secs_f32(step)))
            .add_observer(objects::note_orphan)
            .add_observer(changes::claim_body);
        app.configure_sets(
            FixedUpdate,
            (
                PhysicsSet::SyncBackend,
                FracasSet::Prepare,
                PhysicsSet::StepSimulation,
                FracasSet::Break,
                PhysicsSet::Writeback,
                FracasSet::Follow,
            )
                .chain(),
        );
        app.add_systems(
            PreUpdate,
            (
                bake::forget_changed::<Mesh>.run_if(resource_exists::<Messages<AssetEvent<Mesh>>>),
                bake::forget_changed::<FracasAsset>
                    .run_if(resource_exists::<Messages<AssetEvent<FracasAsset>>>),
                bake::collect_bakes,
                bake::find_shapes,
                skin::forget_changed_skins.run_if(resource_exists::<Messages<AssetEvent<Mesh>>>),
                (skin::lay_skins, look::swap_meshes)
                    .chain()
                    .run_if(resource_exists::<Assets<Mesh>>),
            )
                .chain(),
        );
        #[cfg(feature = "render")]
        app.init_resource::<render::CrackMaterials>();
        let steps = engine::steps_follow;
        app.add_systems(
            FixedUpdate,
            (
                (
                    engine::check_timestep.run_if(resource_changed::<TimestepMode>),
                    objects::renew_changed_assets,
                    objects::remove_orphans,
                    objects::add_objects,
                    changes::read_changes,
                    changes::find_materials.pipe(changes::set_materials),
                    engine::begin_step.run_if(steps),
                )
                    .chain()
                    .in_set(FracasSet::Prepare),
                (
                    engine::finish_step::<Hooks>.run_if(steps),
                    fragments::tell_events,
                    objects::remove_orphans,
                )
                    .chain()
                    .in_set(FracasSet::Break),
                fragments::follow_bodies.in_set(FracasSet::Follow),
            ),
        );
    }

    fn finish(&self, app: &mut App) {
        if app.world().contains_resource::<AssetServer>() {
            app.init_asset::<FracasAsset>()
                .register_asset_loader(FracasLoader);
        }
    }
}
