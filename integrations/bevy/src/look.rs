//! Meshes of fragments, made in a task.
//!
//! While the meshes of a break are made, the whole body's mesh is seen; the frame in which
//! they are done only swaps handles. Objects that are not seen (without `Mesh3d`) get none.

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::{AsyncComputeTaskPool, Task};
use fracas_core::FragmentSurface;
use fracas_rapier::FragmentShape;

use crate::components::Piece;
use crate::engine::Fracas;

/// The object was seen when it broke, so its fragments are.
#[derive(Component)]
pub(crate) struct Seen;

/// Meshes that are being made.
#[derive(Resource, Default)]
pub(crate) struct Looks(Vec<Look>);

struct Look {
    object: Entity,
    task: Task<Vec<(Entity, Mesh)>>,
}

/// Starts to make the meshes of new fragments, where the object is seen.
pub(crate) fn start(world: &mut World, object: Entity, fragments: &[Entity]) {
    let Ok(entity) = world.get_entity(object) else {
        return;
    };
    if fragments.is_empty() || !(entity.contains::<Mesh3d>() || entity.contains::<Seen>()) {
        return;
    }
    let fracas = world.resource::<Fracas>();
    let shape = |fragment: &Entity| {
        let &Piece(piece) = world.get::<Piece>(*fragment)?;
        Some((*fragment, fracas.world.shape(piece)?.clone()))
    };
    let shapes: Vec<(Entity, FragmentShape)> = fragments.iter().filter_map(shape).collect();
    let task = AsyncComputeTaskPool::get().spawn(async move {
        let mesh = |(entity, shape): &(Entity, FragmentShape)| (*entity, draw(shape.surface()));
        shapes.iter().map(mesh).collect()
    });
    world.entity_mut(object).insert(Seen);
    world.resource_mut::<Looks>().0.push(Look { object, task });
}

/// A flat-shaded mesh of a piece's surface, in the frame of its entity.
#[must_use]
pub fn draw(surface: &FragmentSurface) -> Mesh {
    let positions: Vec<[f32; 3]> = surface.positions().iter().map(|p| p.to_array()).collect();
    let indices = surface.triangles().iter().flatten().copied().collect();
    let usage = RenderAssetUsages::default();
    Mesh::new(PrimitiveTopology::TriangleList, usage)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_indices(Indices::U32(indices))
        .with_duplicated_vertices()
        .with_computed_flat_normals()
}

/// Swaps the whole body's mesh for its fragments', where they are done.
pub(crate) fn swap_meshes(
    mut looks: ResMut<Looks>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut commands: Commands,
) {
    looks.0.retain_mut(|look| {
        let Some(made) = check_ready(&mut look.task) else {
            return true;
        };
        for (fragment, mesh) in made {
            // Those that are gone by now need none.
            if let Ok(mut fragment) = commands.get_entity(fragment) {
                fragment.try_insert(Mesh3d(meshes.add(mesh)));
            }
        }
        if let Ok(mut object) = commands.get_entity(look.object) {
            object.try_remove::<Mesh3d>();
        }
        false
    });
}
