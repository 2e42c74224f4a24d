//! What a pair keeps in the engine between steps.

use parry3d::query::{ContactManifoldsWorkspace, TypedWorkspaceData, WorkspaceData};

use crate::pair_memory::PairMemory;
use crate::prepared::Version;

/// What a pair keeps in the engine between steps.
#[derive(Clone, Default)]
pub(crate) struct Workspace {
    pub(crate) memory: PairMemory,
    /// Of the memory, where somebody may answer for the pair. Not saved.
    pub(crate) version: Option<Version>,
    #[cfg(feature = "world")]
    saved: crate::saved_workspace::SavedWorkspace,
}

impl Workspace {
    /// The workspace of a pair that is asked now: its memory may change. It is always kept:
    /// more than one manifold without a workspace breaks the solver.
    pub(crate) fn of(kept: &mut Option<ContactManifoldsWorkspace>) -> &mut Self {
        let kept = kept.get_or_insert_with(|| Self::default().into());
        if kept.0.downcast_ref::<Self>().is_none() {
            *kept = Self::recover(&*kept.0).into();
        }
        let ours = kept.0.downcast_mut::<Self>();
        let ours = ours.expect("it was just put there");
        #[cfg(feature = "world")]
        ours.saved.clear();
        ours
    }

    /// What a workspace that is not ours says: one that was saved and restored tells
    /// what it was, any other is a new beginning.
    fn recover(other: &dyn WorkspaceData) -> Self {
        #[cfg(feature = "world")]
        if let Some(memory) = crate::saved_workspace::SavedWorkspace::recover(other) {
            return Self {
                memory,
                ..Self::default()
            };
        }
        let _ = other;
        Self::default()
    }
}

impl WorkspaceData for Workspace {
    #[cfg(not(feature = "world"))]
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        TypedWorkspaceData::Custom
    }

    /// Asked only when the engine is saved.
    #[cfg(feature = "world")]
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        self.saved.typed(&self.memory)
    }

    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        Box::new(self.clone())
    }
}
