//! What pieces look like: meshes made in a task, swapped in when they are done.
//!
//! What broke stays to be seen until the meshes of all it broke into are there: its entity
//! becomes a [`StandIn`], which moves with the largest of them. The frame of the swap only
//! hands out handles. Objects that are not seen (without `Mesh3d`) get no meshes.

#[cfg(feature = "layers")]
use bevy::camera::visibility::RenderLayers;
use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::{AsyncComputeTaskPool, Task};
use fracas_bake::model::pieces::Buffers;
use fracas_core::FragmentId;
use fracas_rapier::FragmentShape;

use crate::components::{CrackFaces, Fragment, Piece, StandIn};
use crate::engine::Fracas;
use crate::mesh::{draw_cracks, draw_outer, mesh_of};
use crate::skin::{Cloth, Skin};

/// The object was seen when it broke, by this mesh, so its fragments are.
#[derive(Component)]
pub(crate) struct Seen(pub(crate) Handle<Mesh>);

/// Meshes that are being made.
#[derive(Resource, Default)]
pub(crate) struct Looks(Vec<Look>);

/// Meshes of what one body broke into, and of what that broke into meanwhile.
struct Look {
    object: Entity,
    /// What is seen until then.
    stand_in: Entity,
    fragments: Vec<Entity>,
    tasks: Vec<Task<Vec<Faces>>>,
    made: Vec<Faces>,
}

/// What one piece shows.
struct Faces {
    entity: Entity,
    outer: Option<Mesh>,
    cracks: Option<Mesh>,
}

/// Starts to make the meshes of what a body broke into, where the object is seen. Says
/// whether the body's entity is needed until they are made: it is a [`StandIn`] then.
pub(crate) fn start(
    world: &mut World,
    object: Entity,
    broken: Entity,
    fragments: &[Entity],
) -> bool {
    let Ok(found) = world.get_entity(object) else {
        return false;
    };
    if let Some(Mesh3d(mesh)) = found.get::<Mesh3d>() {
        let seen = Seen(mesh.clone());
        world.entity_mut(object).insert(seen);
    } else if !found.contains::<Seen>() {
        return false;
    }
    let Some((task, carrier)) = spawn_task(world, object, fragments) else {
        return false;
    };
    let mut looks = world.resource_mut::<Looks>();
    let mut waiting = looks.0.iter_mut();
    // It broke before its own meshes were made: something stands in for it already.
    if let Some(look) = waiting.find(|look| look.fragments.contains(&broken)) {
        look.fragments.extend(fragments);
        look.tasks.push(task);
        let stand_in = look.stand_in;
        if let Some(mut place) = world.get_mut::<StandIn>(stand_in)
            && place.carrier == broken
        {
            place.carrier = carrier;
        }
        return false;
    }
    looks.0.push(Look {
        object,
        stand_in: broken,
        fragments: fragments.to_vec(),
        tasks: vec![task],
        made: Vec::new(),
    });
    match world.get_entity_mut(broken) {
        Ok(mut broken) => {
            broken.insert(StandIn { carrier });
            true
        }
        Err(_) => false,
    }
}

/// The task that makes the meshes, and the largest of the fragments.
fn spawn_task(
    world: &World,
    object: Entity,
    fragments: &[Entity],
) -> Option<(Task<Vec<Faces>>, Entity)> {
    let fracas = world.resource::<Fracas>();
    let shape = |fragment: &Entity| {
        let &Piece(piece) = world.get::<Piece>(*fragment)?;
        Some((*fragment, fracas.world.shape(piece)?.clone()))
    };
    let shapes: Vec<(Entity, FragmentShape)> = fragments.iter().filter_map(shape).collect();
    let by_volume = |a: &&(Entity, FragmentShape), b: &&(Entity, FragmentShape)| {
        a.1.volume().total_cmp(&b.1.volume())
    };
    let carrier = shapes.iter().max_by(by_volume)?.0;
    let cloth = world.get::<Skin>(object).and_then(|skin| skin.0.clone());
    let task = AsyncComputeTaskPool::get().spawn(async move { make(&shapes, cloth.as_deref()) });
    Some((task, carrier))
}

/// The meshes of some pieces of one object.
fn make(shapes: &[(Entity, FragmentShape)], cloth: Option<&Cloth>) -> Vec<Faces> {
    let Some((_, first)) = shapes.first() else {
        return Vec::new();
    };
    if let Some(cloth) = cloth {
        // A copy: the object may break on while its pieces are dressed.
        let fragments = first.object().read().fragments().clone();
        if cloth.fits(&fragments) {
            let pieces: Vec<FragmentId> = shapes.iter().map(|(_, shape)| shape.id()).collect();
            let dressed = cloth.dress(&fragments, &pieces);
            let entities = shapes.iter().map(|(entity, _)| *entity);
            return entities.zip(dressed).map(faces_of).collect();
        }
    }
    let draw = |(entity, shape): &(Entity, FragmentShape)| Faces {
        entity: *entity,
        outer: draw_outer(shape.surface()),
        cracks: draw_cracks(shape.surface()),
    };
    shapes.iter().map(draw).collect()
}

fn faces_of((entity, surfaces): (Entity, Vec<Buffers>)) -> Faces {
    let (cracks, outer): (Vec<_>, Vec<_>) = surfaces.into_iter().partition(|s| s.is_crack);
    // A mesh of Bevy's has one material, so there is one of each at most.
    Faces {
        entity,
        outer: outer.into_iter().next().map(mesh_of),
        cracks: cracks.into_iter().next().map(mesh_of),
    }
}

/// Swaps what broke for what it broke into, where all meshes are done.
pub(crate) fn swap_meshes(world: &mut World) {
    if world.resource::<Looks>().0.is_empty() {
        return;
    }
    let mut looks = std::mem::take(&mut world.resource_mut::<Looks>().0);
    looks.retain_mut(|look| {
        let made = &mut look.made;
        look.tasks.retain_mut(|task| {
            let done = check_ready(task);
            let waits = done.is_none();
            made.extend(done.into_iter().flatten());
            waits
        });
        if !look.tasks.is_empty() {
            return true;
        }
        for faces in std::mem::take(made) {
            show(world, look.object, faces);
        }
        take_down(world, look);
        false
    });
    world.resource_mut::<Looks>().0.append(&mut looks);
}

/// Gives a piece its meshes, if it is still there.
fn show(world: &mut World, object: Entity, faces: Faces) {
    let entity = faces.entity;
    let is_there = world
        .get_entity(entity)
        .is_ok_and(|found| found.contains::<Fragment>());
    if !is_there {
        return;
    }
    let mut meshes = world.resource_mut::<Assets<Mesh>>();
    let outer = faces.outer.map(|mesh| Mesh3d(meshes.add(mesh)));
    let cracks = faces.cracks.map(|mesh| Mesh3d(meshes.add(mesh)));
    if let Some(outer) = outer {
        world.entity_mut(entity).insert(outer);
    }
    let cracks = cracks.map(|mesh| {
        let parts = (mesh, CrackFaces, Transform::default(), ChildOf(entity));
        let cracks = world.spawn(parts).id();
        #[cfg(feature = "layers")]
        copy_layers(world, entity, cracks);
        cracks
    });
    #[cfg(feature = "render")]
    crate::render::dress(world, object, entity, cracks);
    #[cfg(not(feature = "render"))]
    let _ = (object, cracks);
}

/// Puts an entity into the layers of another, where that says any and nobody has said others.
#[cfg(feature = "layers")]
pub(crate) fn copy_layers(world: &mut World, from: Entity, to: Entity) {
    let layers = world.get::<RenderLayers>(from).cloned();
    if let (Some(layers), Ok(mut to)) = (layers, world.get_entity_mut(to)) {
        to.insert_if_new(layers);
    }
}

/// Takes away what stood in: a fragment's entity, or the mesh of the object.
fn take_down(world: &mut World, look: &Look) {
    let Ok(mut stand_in) = world.get_entity_mut(look.stand_in) else {
        return;
    };
    if look.stand_in == look.object {
        stand_in.remove::<(Mesh3d, StandIn)>();
    } else {
        stand_in.despawn();
    }
}

/// Forgets all meshes that are being made, and shows none that stood in.
pub(crate) fn forget_looks(world: &mut World) {
    let looks = std::mem::take(&mut world.resource_mut::<Looks>().0);
    for look in &looks {
        take_down(world, look);
    }
}

/// An object is whole again: it is seen as it was.
pub(crate) fn show_whole(world: &mut World, object: Entity) {
    let seen = world.get::<Seen>(object).map(|seen| seen.0.clone());
    if let (Some(mesh), Ok(mut object)) = (seen, world.get_entity_mut(object)) {
        object.insert(Mesh3d(mesh)).remove::<Seen>();
    }
}
