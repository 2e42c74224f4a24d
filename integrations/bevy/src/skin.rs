//! The skin of an object: the triangles of its `Mesh3d` with their normals and texture
//! coordinates, laid on its tetrahedra. Pieces show it, cut at the cracks.
//!
//! It is laid on in a task, once for all entities that share mesh and tetrahedra. Where the
//! mesh's own triangles do not close the pieces (thin walls, open sheets), the mesh is draped
//! over the tetrahedra: nearly its shape, its texture, always closed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bevy::prelude::*;
use bevy::tasks::AsyncComputeTaskPool;
use fracas_bake::model::Model;
use fracas_bake::model::drape::Drape;
use fracas_bake::model::pieces::{Buffers, surfaces};
use fracas_bake::shatter::open_sides;
use fracas_core::dressing::SkinMap;
use fracas_core::{FragmentId, Fragments, TetMesh};

use crate::components::BreakableBlueprint;
use crate::mesh::read_model;
use crate::scale::Scaled;

/// How often a texture repeats on a crack, per metre.
const CRACK_SCALE: f32 = 1.0;

/// What an object's pieces wear; none where its mesh says nothing.
#[derive(Component, Clone)]
pub(crate) struct Skin(pub(crate) Option<Arc<Cloth>>);

/// A mesh on tetrahedra.
pub(crate) struct Cloth {
    model: Model,
    tets: Arc<TetMesh>,
    map: OnceLock<Option<SkinMap>>,
    drape: OnceLock<Drape>,
    /// A piece was not closed in the mesh's own triangles.
    gapes: AtomicBool,
}

/// Skins by mesh and tetrahedra.
#[derive(Resource, Default)]
pub(crate) struct Skins(BTreeMap<(AssetId<Mesh>, u64), Skin>);

impl Cloth {
    fn map(&self) -> Option<&SkinMap> {
        let lay = || {
            let (positions, triangles) = self.model.surface();
            SkinMap::build(&self.tets, &positions, &triangles).ok()
        };
        self.map.get_or_init(lay).as_ref()
    }

    /// What the pieces of one break show: for each its outer faces, then its cracks. All of
    /// them in the mesh's own triangles, or all draped, so that they fit.
    pub(crate) fn dress(&self, fragments: &Fragments, pieces: &[FragmentId]) -> Vec<Vec<Buffers>> {
        if !self.gapes.load(Ordering::Relaxed)
            && let Some(map) = self.map()
        {
            let dress = |&id| surfaces(&self.model, &map.dress(fragments, id), CRACK_SCALE);
            let dressed: Vec<Vec<Buffers>> = pieces.iter().map(dress).collect();
            if dressed.iter().all(|piece| open_sides(piece) == 0) {
                return dressed;
            }
            self.gapes.store(true, Ordering::Relaxed);
        }
        let drape = self
            .drape
            .get_or_init(|| Drape::build(&self.model, &self.tets));
        let dress = |&id| drape.surfaces(&self.model, fragments, id, CRACK_SCALE);
        pieces.iter().map(dress).collect()
    }

    /// Whether these tetrahedra are those it was laid on.
    pub(crate) fn fits(&self, fragments: &Fragments) -> bool {
        Arc::ptr_eq(&self.tets, fragments.mesh()) || *self.tets == **fragments.mesh()
    }
}

type Bare<'w, 's> = Query<
    'w,
    's,
    (
        Entity,
        &'static Mesh3d,
        &'static BreakableBlueprint,
        Option<&'static Scaled>,
    ),
    (Without<Skin>, With<crate::components::Breakable>),
>;

/// Begins to lay skins on objects that have tetrahedra by now.
pub(crate) fn lay_skins(
    bare: Bare,
    meshes: Res<Assets<Mesh>>,
    mut skins: ResMut<Skins>,
    mut commands: Commands,
) {
    for (entity, Mesh3d(handle), made, scaled) in &bare {
        let key = (handle.id(), made.blueprint.key());
        let skin = if let Some(known) = skins.0.get(&key) {
            known.clone()
        } else if let Some(mesh) = meshes.get(handle) {
            let scale = scaled.map_or(1.0, |scaled| scaled.0);
            let skin = Skin(read_model(mesh, scale).map(|model| {
                Arc::new(Cloth {
                    model,
                    tets: made.blueprint.mesh().clone(),
                    map: OnceLock::new(),
                    drape: OnceLock::new(),
                    gapes: AtomicBool::new(false),
                })
            }));
            if let Some(cloth) = skin.0.clone() {
                let lay = async move {
                    cloth.map();
                };
                AsyncComputeTaskPool::get().spawn(lay).detach();
            }
            skins.0.insert(key, skin.clone());
            skin
        } else {
            // The mesh is still being loaded.
            continue;
        };
        commands.entity(entity).try_insert(skin);
    }
}

/// A mesh that was changed makes another skin for those that come from now on.
pub(crate) fn forget_changed_skins(
    mut changed: MessageReader<AssetEvent<Mesh>>,
    mut skins: ResMut<Skins>,
) {
    for event in changed.read() {
        if let AssetEvent::Modified { id } | AssetEvent::Removed { id } = event {
            skins.0.retain(|(mesh, _), _| mesh != id);
        }
    }
}
