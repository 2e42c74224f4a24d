//! From a mesh or an asset to something that can break, off the main thread.
//!
//! A mesh is baked once for all entities that share it. How far the work is goes to
//! observers of [`BakeProgress`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bevy::asset::LoadState;
use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::{AsyncComputeTaskPool, Task};
use fracas_bake::SurfaceMesh;
use fracas_bake::bake::{BakeError, BakeOptions, Progress, Source, bake};
use fracas_bake::tetrahedralize::{Size, Thicken};
use fracas_core::FieldOptions;
use fracas_core::sphere_tree::BuildOptions;
use fracas_rapier::{Blueprint, ObjectError};

use crate::asset::FracasAsset;
use crate::components::{Breakable, BreakableAsset, BreakableBlueprint, Unbreakable};
use crate::error::{FracasError, MeshDefect};
use crate::events::BakeProgress;
use crate::mesh::read_triangles;

/// A mesh, how fine it is filled, and the bits of its thickness.
type Key = (AssetId<Mesh>, Option<usize>, Option<u32>);

/// What comes of a mesh.
type Made = Result<Arc<Blueprint>, Failure>;

/// Why nothing comes of it; which entity it is told of is not known here.
enum Failure {
    Bake(BakeError),
    Object(ObjectError),
}

struct Job {
    task: Task<Made>,
    progress: Arc<Mutex<Option<Progress>>>,
    told: Option<Progress>,
    waiting: Vec<Entity>,
}

/// Meshes that are being baked, and those that are.
#[derive(Resource, Default)]
pub(crate) struct Bakes {
    under_way: BTreeMap<Key, Job>,
    done: BTreeMap<Key, Arc<Blueprint>>,
}

/// Its mesh is being baked.
#[derive(Component)]
pub(crate) struct Baking;

/// Entities that wait for what they are made of.
type Unmade<'w, 's> = Query<
    'w,
    's,
    (
        Entity,
        &'static Breakable,
        &'static Transform,
        Option<&'static Mesh3d>,
        Option<&'static BreakableAsset>,
    ),
    (
        Without<BreakableBlueprint>,
        Without<Baking>,
        Without<Unbreakable>,
    ),
>;

/// Tells an error and lets the entity be.
pub(crate) fn fail(commands: &mut Commands, entity: Entity, error: FracasError) {
    if let Ok(mut entity) = commands.get_entity(entity) {
        entity.try_insert(Unbreakable).try_remove::<Baking>();
    }
    commands.queue(move |_: &mut World| -> Result { Err(BevyError::error(error)) });
}

/// Looks what new entities are made of.
pub(crate) fn find_shapes(
    unmade: Unmade,
    meshes: Option<Res<Assets<Mesh>>>,
    assets: Option<Res<Assets<FracasAsset>>>,
    server: Option<Res<AssetServer>>,
    mut bakes: ResMut<Bakes>,
    mut commands: Commands,
) {
    for (entity, breakable, transform, mesh, asset) in &unmade {
        if (transform.scale - Vec3::ONE).abs().max_element() > 1e-6 {
            let scale = transform.scale;
            fail(&mut commands, entity, FracasError::Scaled { entity, scale });
        } else if let Some(BreakableAsset(handle)) = asset {
            if let Some(found) = assets.as_ref().and_then(|assets| assets.get(handle)) {
                commands.entity(entity).insert(BreakableBlueprint {
                    blueprint: found.blueprint.clone(),
                    modes: found.modes.clone(),
                });
            } else if let Some(LoadState::Failed(error)) =
                server.as_ref().and_then(|s| s.get_load_state(handle))
            {
                let reason = error.to_string();
                fail(&mut commands, entity, FracasError::Asset { entity, reason });
            }
        } else if let Some(Mesh3d(handle)) = mesh {
            let key = (handle.id(), breakable.tets, thickness_bits(breakable));
            if let Some(blueprint) = bakes.done.get(&key) {
                let made = BreakableBlueprint::new(blueprint.clone());
                commands.entity(entity).insert(made);
            } else if let Some(job) = bakes.under_way.get_mut(&key) {
                job.waiting.push(entity);
                commands.entity(entity).insert(Baking);
            } else if let Some(mesh) = meshes.as_ref().and_then(|meshes| meshes.get(handle)) {
                match surface_of(mesh) {
                    Ok(surface) => {
                        bakes
                            .under_way
                            .insert(key, start(surface, breakable, entity));
                        commands.entity(entity).insert(Baking);
                    }
                    Err(reason) => {
                        fail(&mut commands, entity, FracasError::Mesh { entity, reason });
                    }
                }
            }
        } else {
            fail(&mut commands, entity, FracasError::NoShape { entity });
        }
    }
}

/// The triangles of a mesh, welded.
fn surface_of(mesh: &Mesh) -> Result<SurfaceMesh, MeshDefect> {
    let (positions, triangles) = read_triangles(mesh)?;
    let (surface, _) = SurfaceMesh::repair(positions, &triangles)?;
    Ok(surface)
}

fn thickness_bits(breakable: &Breakable) -> Option<u32> {
    breakable.thickness.map(f32::to_bits)
}

fn start(surface: SurfaceMesh, breakable: &Breakable, entity: Entity) -> Job {
    let (tets, thickness) = (breakable.tets, breakable.thickness);
    let progress = Arc::new(Mutex::new(None));
    let shared = progress.clone();
    let task = AsyncComputeTaskPool::get().spawn(async move {
        let options = BakeOptions {
            size: tets.map(Size::Tets),
            thicken: thickness.map_or(Thicken::Refuse, |by| Thicken::By(by.into())),
            ..BakeOptions::default()
        };
        let mut tell = |now: Progress| {
            if let Ok(mut place) = shared.lock() {
                *place = Some(now);
            }
        };
        let source = Source::Surface("mesh".into(), surface);
        let baked = bake(source, &options, &mut tell).map_err(Failure::Bake)?;
        let mesh = baked.asset.shared_mesh().clone();
        let (field, tree) = (FieldOptions::default(), BuildOptions::default());
        let made = Blueprint::build(mesh, &field, &tree).map_err(Failure::Object)?;
        Ok(Arc::new(made))
    });
    Job {
        task,
        progress,
        told: None,
        waiting: vec![entity],
    }
}

/// Tells how far meshes are, and hands out those that are done.
pub(crate) fn collect_bakes(
    mut bakes: ResMut<Bakes>,
    waiting: Query<(), With<Baking>>,
    mut commands: Commands,
) {
    let bakes = &mut *bakes;
    let mut finished = Vec::new();
    for (&key, job) in &mut bakes.under_way {
        let now = job.progress.lock().ok().and_then(|now| *now);
        if let Some(now) = now.filter(|_| now != job.told) {
            job.told = Some(now);
            for &entity in job.waiting.iter().filter(|e| waiting.contains(**e)) {
                commands.trigger(BakeProgress {
                    entity,
                    stage: now.stage,
                    share: now.share,
                });
            }
        }
        if let Some(made) = check_ready(&mut job.task) {
            finished.push((key, made));
        }
    }
    for (key, made) in finished {
        let Some(job) = bakes.under_way.remove(&key) else {
            continue;
        };
        // Those that were despawned meanwhile want nothing.
        let mut entities = job.waiting.into_iter().filter(|e| waiting.contains(*e));
        match made {
            Ok(blueprint) => {
                bakes.done.insert(key, blueprint.clone());
                for entity in entities {
                    let made = BreakableBlueprint::new(blueprint.clone());
                    commands.entity(entity).insert(made).remove::<Baking>();
                }
            }
            Err(failure) => {
                // The first is told why; the others find out when they are asked in turn.
                if let Some(entity) = entities.next() {
                    let error = match failure {
                        Failure::Bake(source) => FracasError::Bake {
                            entity,
                            source: Box::new(source),
                        },
                        Failure::Object(source) => FracasError::Object { entity, source },
                    };
                    fail(&mut commands, entity, error);
                }
                for entity in entities {
                    commands.entity(entity).remove::<Baking>();
                }
            }
        }
    }
}

/// A mesh that was changed is baked anew by those that ask for it from now on.
pub(crate) fn forget_changed_meshes(
    mut changed: MessageReader<AssetEvent<Mesh>>,
    mut bakes: ResMut<Bakes>,
) {
    for event in changed.read() {
        if let AssetEvent::Modified { id } | AssetEvent::Removed { id } = event {
            bakes.done.retain(|(mesh, ..), _| mesh != id);
        }
    }
}
