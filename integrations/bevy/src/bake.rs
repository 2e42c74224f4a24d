//! From a mesh or an asset to something that can break, off the main thread.
//!
//! The library's own `Breakable::bake` does it, so that a thing breaks here as one that
//! `Breakable::open` or `Breakable::of_asset` made. A mesh is baked once for all entities of
//! one material that share it. How far the work is goes to observers of [`BakeProgress`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bevy::asset::LoadState;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::{AsyncComputeTaskPool, Task};
use fracas_bake::SurfaceMesh;
use fracas_bake::bake::{BakeOptions, Progress, Source, bake};
use fracas_bake::tetrahedralize::{Size, Thicken};
use fracas_core::FragmentId;
use fracas_fracture::Material;
use fracas_rapier::{Blueprint, Breakable as Body, OpenError};

use crate::asset::FracasAsset;
use crate::components::{Breakable, BreakableAsset, BreakableBlueprint, Breaks, Unbreakable};
use crate::error::{FracasError, MeshDefect};
use crate::events::BakeProgress;
use crate::mesh::read_triangles;
use crate::scale;

/// Of what something is made, and by the modes of which material it breaks, if any.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    of: Of,
    modes: Option<[u64; 10]>,
}

/// What is baked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Of {
    /// A mesh, how fine it is filled, and the bits of its thickness.
    Mesh(AssetId<Mesh>, Option<usize>, Option<u32>),
    /// An asset that lacks the modes.
    Asset(AssetId<FracasAsset>),
}

/// What comes of it; which entity a failure is told of is not known here.
type Made = Result<BreakableBlueprint, OpenError>;

struct Job {
    task: Task<Made>,
    progress: Arc<Mutex<Option<Progress>>>,
    told: Option<Progress>,
    waiting: Vec<Entity>,
}

/// What is being baked, and what is.
#[derive(Resource, Default)]
pub(crate) struct Bakes {
    under_way: BTreeMap<Key, Job>,
    done: BTreeMap<Key, BreakableBlueprint>,
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
    tell(commands, error);
}

/// Hands an error to the app's error handler.
pub(crate) fn tell(commands: &mut Commands, error: FracasError) {
    commands.queue(move |_: &mut World| -> Result { Err(BevyError::error(error)) });
}

/// Where what can break comes from.
#[derive(SystemParam)]
pub(crate) struct Sources<'w> {
    meshes: Option<Res<'w, Assets<Mesh>>>,
    assets: Option<Res<'w, Assets<FracasAsset>>>,
    server: Option<Res<'w, AssetServer>>,
    bakes: ResMut<'w, Bakes>,
}

/// How far an entity is.
enum Found {
    /// Its mesh or asset is still being loaded.
    Nothing,
    /// It waits for what is being baked.
    Baking,
    /// All is there.
    Made(BreakableBlueprint),
}

/// Looks what new entities are made of.
pub(crate) fn find_shapes(unmade: Unmade, mut sources: Sources, mut commands: Commands) {
    for (entity, breakable, transform, mesh, asset) in &unmade {
        let found = if scale::uniform(transform.scale).is_none() {
            let scale = transform.scale;
            Err(FracasError::Scaled { entity, scale })
        } else if let Some(BreakableAsset(handle)) = asset {
            sources.find_asset(entity, breakable, handle)
        } else if let Some(Mesh3d(handle)) = mesh {
            sources.find_mesh(entity, breakable, handle)
        } else {
            Err(FracasError::NoShape { entity })
        };
        match found {
            Ok(Found::Nothing) => {}
            Ok(Found::Baking) => {
                commands.entity(entity).insert(Baking);
            }
            Ok(Found::Made(made)) => {
                commands.entity(entity).insert(made);
            }
            Err(error) => fail(&mut commands, entity, error),
        }
    }
}

/// The material by whose modes it is to break.
fn wanted_modes(entity: Entity, breakable: &Breakable) -> Result<Option<Material>, FracasError> {
    let material = breakable.material;
    let checked = material.validate();
    checked.map_err(|source| FracasError::Material { entity, source })?;
    Ok((breakable.breaks == Breaks::ByModes).then_some(material))
}

impl Sources<'_> {
    fn find_asset(
        &mut self,
        entity: Entity,
        breakable: &Breakable,
        handle: &Handle<FracasAsset>,
    ) -> Result<Found, FracasError> {
        let modes = wanted_modes(entity, breakable)?;
        let assets = self.assets.as_ref();
        let Some(asset) = assets.and_then(|assets| assets.get(handle)) else {
            let state = self.server.as_ref().and_then(|s| s.get_load_state(handle));
            return match state {
                Some(LoadState::Failed(error)) => {
                    let reason = error.to_string();
                    Err(FracasError::Asset { entity, reason })
                }
                _ => Ok(Found::Nothing),
            };
        };
        let baked = asset.baked();
        let blueprint = asset.blueprint().clone();
        let own = baked.modes().filter(|own| Some(*own.material()) == modes);
        if modes.is_none() || own.is_some() {
            let modes = own.cloned();
            return Ok(Found::Made(BreakableBlueprint { blueprint, modes }));
        }
        let key = Key::new(Of::Asset(handle.id()), breakable);
        if let Some(found) = self.bakes.join(&key, entity) {
            return Ok(found);
        }
        let source = Source::Asset(Box::new(baked.as_ref().clone()));
        let job = Job::start(source, BakeOptions::default(), modes, entity);
        self.bakes.under_way.insert(key, job);
        Ok(Found::Baking)
    }

    fn find_mesh(
        &mut self,
        entity: Entity,
        breakable: &Breakable,
        handle: &Handle<Mesh>,
    ) -> Result<Found, FracasError> {
        let modes = wanted_modes(entity, breakable)?;
        let thickness = breakable.thickness.map(f32::to_bits);
        let of = Of::Mesh(handle.id(), breakable.tets, thickness);
        let key = Key::new(of, breakable);
        if let Some(found) = self.bakes.join(&key, entity) {
            return Ok(found);
        }
        let Some(mesh) = self.meshes.as_ref().and_then(|meshes| meshes.get(handle)) else {
            return Ok(Found::Nothing);
        };
        let surface = surface_of(mesh).map_err(|reason| FracasError::Mesh { entity, reason })?;
        let source = Source::Surface("mesh".into(), surface);
        let job = Job::start(source, options_of(breakable), modes, entity);
        self.bakes.under_way.insert(key, job);
        Ok(Found::Baking)
    }
}

impl Key {
    fn new(of: Of, breakable: &Breakable) -> Self {
        let by_modes = breakable.breaks == Breaks::ByModes;
        let modes = by_modes.then(|| bits_of(&breakable.material));
        Self { of, modes }
    }
}

/// The bits of all numbers of a material.
fn bits_of(material: &Material) -> [u64; 10] {
    let Material {
        young,
        poisson,
        density,
        strength,
        toughness,
        weibull_modulus,
        fatigue_exponent,
        crushing,
        damping_alpha,
        damping_beta,
    } = *material;
    let elastic = [young, poisson, density, strength, toughness];
    let rest = [
        weibull_modulus,
        fatigue_exponent,
        crushing,
        damping_alpha,
        damping_beta,
    ];
    let mut bits = [0; 10];
    for (bits, value) in bits.iter_mut().zip(elastic.into_iter().chain(rest)) {
        *bits = value.to_bits();
    }
    bits
}

impl Bakes {
    /// What is made already, or is being made; none where nobody has asked for it yet.
    fn join(&mut self, key: &Key, entity: Entity) -> Option<Found> {
        if let Some(made) = self.done.get(key) {
            return Some(Found::Made(made.clone()));
        }
        let waiting = &mut self.under_way.get_mut(key)?.waiting;
        if !waiting.contains(&entity) {
            waiting.push(entity);
        }
        Some(Found::Baking)
    }
}

/// The triangles of a mesh, welded.
fn surface_of(mesh: &Mesh) -> Result<SurfaceMesh, MeshDefect> {
    let (positions, triangles) = read_triangles(mesh)?;
    let (surface, _) = SurfaceMesh::repair(positions, &triangles)?;
    Ok(surface)
}

/// How a mesh is baked: as the library does it, but what has no inside is refused.
fn options_of(breakable: &Breakable) -> BakeOptions {
    let thickness = breakable.thickness;
    BakeOptions {
        size: breakable.tets.map(Size::Tets),
        thicken: thickness.map_or(Thicken::Refuse, |by| Thicken::By(by.into())),
        ..BakeOptions::default()
    }
}

impl Job {
    /// With the modes of a material, or without any.
    fn start(
        source: Source,
        options: BakeOptions,
        modes: Option<Material>,
        entity: Entity,
    ) -> Self {
        let progress = Arc::new(Mutex::new(None));
        let shared = progress.clone();
        let task = AsyncComputeTaskPool::get().spawn(async move {
            let mut tell = |now: Progress| {
                if let Ok(mut place) = shared.lock() {
                    *place = Some(now);
                }
            };
            let Some(material) = modes else {
                let baked = bake(source, &options, &mut tell)?;
                let blueprint = Blueprint::of_asset(&baked.asset)?;
                return Ok(BreakableBlueprint::new(Arc::new(blueprint)));
            };
            let body = Body::bake(source, &options, material, &mut tell)?;
            let breaker = body.breaker.as_ref();
            let modes = breaker.and_then(|breaker| breaker.modes(FragmentId(0)).cloned());
            let blueprint = body.blueprint;
            Ok(BreakableBlueprint { blueprint, modes })
        });
        Self {
            task,
            progress,
            told: None,
            waiting: vec![entity],
        }
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
    for (key, job) in &mut bakes.under_way {
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
            finished.push((key.clone(), made));
        }
    }
    for (key, made) in finished {
        let Some(job) = bakes.under_way.remove(&key) else {
            continue;
        };
        // Those that were despawned meanwhile want nothing.
        let mut entities = job.waiting.into_iter().filter(|e| waiting.contains(*e));
        match made {
            Ok(made) => {
                for entity in entities {
                    let made = made.clone();
                    commands.entity(entity).insert(made).remove::<Baking>();
                }
                bakes.done.insert(key, made);
            }
            Err(source) => {
                // The first is told why; the others find out when they are asked in turn.
                if let Some(entity) = entities.next() {
                    let source = Box::new(source);
                    fail(&mut commands, entity, FracasError::Bake { entity, source });
                }
                for entity in entities {
                    commands.entity(entity).remove::<Baking>();
                }
            }
        }
    }
}

/// What can be baked and changed.
pub(crate) trait Bakeable: Asset + Sized {
    /// Whether this was baked.
    fn is(of: &Of, id: AssetId<Self>) -> bool;
}

impl Bakeable for Mesh {
    fn is(of: &Of, id: AssetId<Self>) -> bool {
        matches!(of, Of::Mesh(mesh, ..) if *mesh == id)
    }
}

impl Bakeable for FracasAsset {
    fn is(of: &Of, id: AssetId<Self>) -> bool {
        matches!(of, Of::Asset(asset) if *asset == id)
    }
}

/// What was changed is baked anew by those that ask for it from now on, and by those that
/// wait for it.
pub(crate) fn forget_changed<A: Bakeable>(
    mut changed: MessageReader<AssetEvent<A>>,
    mut bakes: ResMut<Bakes>,
    mut commands: Commands,
) {
    for event in changed.read() {
        let (AssetEvent::Modified { id } | AssetEvent::Removed { id }) = event else {
            continue;
        };
        bakes.done.retain(|key, _| !A::is(&key.of, *id));
        // What is removed can still be made of what was read of it.
        if matches!(event, AssetEvent::Modified { .. }) {
            for (_, job) in bakes.under_way.extract_if(.., |key, _| A::is(&key.of, *id)) {
                for entity in job.waiting {
                    if let Ok(mut entity) = commands.get_entity(entity) {
                        entity.try_remove::<Baking>();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Breakable::open` bakes with the default options.
    #[test]
    fn a_mesh_is_baked_as_the_library_does_but_never_thickened_unasked() {
        let expected = BakeOptions {
            thicken: Thicken::Refuse,
            ..BakeOptions::default()
        };
        assert_eq!(options_of(&Breakable::default()), expected);
        let asked = Breakable::default().with_tets(300).with_thickness(0.5);
        let expected = BakeOptions {
            size: Some(Size::Tets(300)),
            thicken: Thicken::By(0.5),
            ..BakeOptions::default()
        };
        assert_eq!(options_of(&asked), expected);
    }
}
