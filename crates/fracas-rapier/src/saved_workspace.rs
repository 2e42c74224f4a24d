//! A pair's memory in a form that the engine can save.
//!
//! The engine saves only workspaces of parry's own kinds. A triangle mesh's workspace
//! holds, besides a box, lists of numbers; written into such a list a pair's memory
//! survives saving, and is recovered when the dispatcher first meets the restored
//! pair.

use std::sync::OnceLock;

use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::query::{ContactManifoldsWorkspace, TypedWorkspaceData, WorkspaceData};
use serde::{Deserialize, Serialize};

use crate::codec;
use crate::pair_memory::PairMemory;

/// Marks a list as a pair's memory.
const MARK: u32 = 0x6672_6163;

/// Parry's first kind of workspace and its fields, which are private there.
#[derive(Serialize, Deserialize)]
enum Mirror {
    TriMesh {
        interferences: Vec<u32>,
        local_aabb2: Aabb,
        old_interferences: Vec<u32>,
    },
}

/// Made when first asked for after the memory has changed.
#[derive(Clone, Default)]
pub(crate) struct SavedWorkspace(OnceLock<ContactManifoldsWorkspace>);

impl SavedWorkspace {
    pub(crate) fn clear(&mut self) {
        if self.0.get().is_some() {
            self.0 = OnceLock::new();
        }
    }

    pub(crate) fn typed(&self, memory: &PairMemory) -> TypedWorkspaceData<'_> {
        let saved = self.0.get_or_init(|| {
            let mut interferences = vec![MARK];
            memory.save(&mut interferences);
            let mirror = Mirror::TriMesh {
                interferences,
                local_aabb2: Aabb::new(Vec3::ZERO, Vec3::ZERO),
                old_interferences: Vec::new(),
            };
            let bytes = codec::write(&mirror).expect("plain lists can be written");
            codec::read(&bytes).expect("the mirror has parry's fields")
        });
        saved.0.as_typed_workspace_data()
    }

    /// The memory in a workspace that was saved by [`SavedWorkspace::typed`].
    pub(crate) fn recover(workspace: &dyn WorkspaceData) -> Option<PairMemory> {
        let bytes = codec::write(&workspace.as_typed_workspace_data()).ok()?;
        let Mirror::TriMesh { interferences, .. } = codec::read(&bytes).ok()?;
        let (mark, words) = interferences.split_first()?;
        if *mark != MARK {
            return None;
        }
        PairMemory::load(words)
    }
}

#[cfg(test)]
mod tests {
    use parry3d::math::Pose;

    use super::*;

    #[test]
    fn a_memory_survives_in_parrys_workspace() {
        let mut memory = PairMemory::default();
        memory.repeats(&Pose::from_translation(Vec3::X), 0.25);
        let saved = SavedWorkspace::default();
        // As the engine saves and loads it.
        let bytes = codec::write(&saved.typed(&memory)).unwrap();
        let loaded: ContactManifoldsWorkspace = codec::read(&bytes).unwrap();
        let mut back = SavedWorkspace::recover(&*loaded.0).unwrap();
        assert_eq!(format!("{back:?}"), format!("{memory:?}"));
        assert!(back.repeats(&Pose::from_translation(Vec3::X), 0.25));
        // One of parry's own says nothing.
        let plain = Mirror::TriMesh {
            interferences: vec![1, 2, 3],
            local_aabb2: Aabb::new(Vec3::ZERO, Vec3::ONE),
            old_interferences: vec![MARK],
        };
        let plain: ContactManifoldsWorkspace = codec::read(&codec::write(&plain).unwrap()).unwrap();
        assert!(SavedWorkspace::recover(&*plain.0).is_none());
    }
}
