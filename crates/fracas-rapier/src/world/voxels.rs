//! Voxel contacts in a world: the stage before the engine's step.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rapier3d::prelude::PhysicsWorld;

use super::{ObjectId, World};
use crate::breakables::Clock;
use crate::pair::ContactMode;
use crate::voxel::stage::{Scope, Surroundings, VoxelStage};
use crate::voxel::{VoxelSettings, VoxelStats, VoxelTable};

/// The stage, where it is used.
pub(super) struct Voxels {
    stage: Option<VoxelStage>,
    table: Arc<VoxelTable>,
    /// Objects that have voxel contacts by choice, those that are gone, too: a snapshot may
    /// bring them back.
    pub(super) chosen: BTreeMap<ObjectId, VoxelSettings>,
    /// What names those of them that are there.
    addresses: BTreeMap<ObjectId, usize>,
    /// Whether the next step begins without what the stage learnt: a saved state does not
    /// hold it.
    must_forget: AtomicBool,
}

impl Voxels {
    pub(super) fn new(mode: &ContactMode, table: &Arc<VoxelTable>) -> Self {
        let stage = |settings, scope| Some(VoxelStage::new(settings, scope, Arc::clone(table)));
        Self {
            stage: match *mode {
                ContactMode::VoxelTree(settings) => stage(settings, Scope::All),
                ContactMode::Budgeted(settings) => stage(settings, Scope::WhatDoesNotFit),
                _ => None,
            },
            table: Arc::clone(table),
            chosen: BTreeMap::new(),
            addresses: BTreeMap::new(),
            must_forget: AtomicBool::new(false),
        }
    }

    /// Makes the stage forget, before its next step, which pairs were expensive: a saved
    /// world and the one restored from it go on alike.
    pub(super) fn forget(&self) {
        self.must_forget.store(true, Ordering::Relaxed);
    }

    /// Whether no pair has voxel contacts.
    #[cfg(feature = "parallel")]
    pub(super) fn is_idle(&self) -> bool {
        self.stage.is_none()
    }

    /// Finds the voxel contacts of the coming step. `spent`: seconds that contacts have taken
    /// in this step so far.
    pub(super) fn prepare(
        &mut self,
        physics: &PhysicsWorld,
        spent: f64,
        clock: &Arc<Clock>,
    ) -> VoxelStats {
        let Some(stage) = &mut self.stage else {
            return VoxelStats::default();
        };
        if std::mem::take(self.must_forget.get_mut()) {
            stage.forget();
        }
        let around = Surroundings {
            bodies: &physics.bodies,
            colliders: &physics.colliders,
            reach: physics.integration_parameters.prediction_distance(),
            dt: physics.integration_parameters.dt,
        };
        stage.prepare(&around, spent, clock);
        *stage.stats()
    }

    /// Takes the choice from objects that are gone: their addresses may be those of others
    /// soon.
    fn leave_gone(&mut self, is_there: impl Fn(ObjectId) -> bool) {
        let gone: Vec<_> = self
            .addresses
            .extract_if(.., |&object, _| !is_there(object))
            .collect();
        if let (Some(stage), false) = (&mut self.stage, gone.is_empty()) {
            gone.iter()
                .for_each(|&(_, address)| stage.choose(address, false));
            self.rest_unless_chosen();
        }
    }

    /// A stage for chosen objects alone goes with the last of them: no step pays for it, and
    /// a world that goes back to before the first choice, or to where what was chosen is gone,
    /// does not know more than it did then.
    fn rest_unless_chosen(&mut self) {
        let of_chosen = |stage: &VoxelStage| stage.scope() == Scope::Chosen;
        if self.addresses.is_empty() && self.stage.as_ref().is_some_and(of_chosen) {
            self.stage = None;
            self.table.clear();
        }
    }

    /// Where the dispatcher reads what was found.
    pub(super) fn table(&self) -> &Arc<VoxelTable> {
        &self.table
    }

    /// What the engine's own collision stage took, in seconds. Returns what there is to
    /// say of the step now.
    pub(super) fn learn(&mut self, engine: f64) -> VoxelStats {
        let Some(stage) = &mut self.stage else {
            return VoxelStats::default();
        };
        stage.learn(engine);
        *stage.stats()
    }

    /// When the engine's narrow phase ended, by the world's clock, where it is known.
    pub(super) fn narrow_phase_end(&self) -> Option<f64> {
        self.stage.as_ref()?;
        self.table.narrow_phase_end()
    }
}

impl World {
    /// Gives the pairs of an object's bodies voxel contacts, whatever the world's
    /// method is, or takes them back. The settings of the first call hold for all. Like
    /// the world's settings it is no part of a snapshot, and stays when one is restored.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn set_voxel_contacts(&mut self, object: ObjectId, settings: Option<VoxelSettings>) {
        // The address of what is gone may be this object's.
        self.leave_gone_voxels();
        let Some(address) = self.address_of(object) else {
            return;
        };
        if let (None, Some(settings)) = (&self.voxels.stage, settings) {
            let table = Arc::clone(&self.voxels.table);
            self.voxels.stage = Some(VoxelStage::new(settings, Scope::Chosen, table));
        }
        if let Some(stage) = &mut self.voxels.stage {
            stage.choose(address, settings.is_some());
        }
        if let Some(settings) = settings {
            self.voxels.chosen.insert(object, settings);
            self.voxels.addresses.insert(object, address);
        } else {
            self.voxels.chosen.remove(&object);
            self.voxels.addresses.remove(&object);
        }
        self.voxels.rest_unless_chosen();
    }

    /// Before a step: objects of which nothing is left have no voxel contacts by choice.
    pub(super) fn leave_gone_voxels(&mut self) {
        let breakables = &self.breakables;
        self.voxels
            .leave_gone(|object| breakables.has_pieces(object));
    }

    /// What names an object for as long as it lives.
    fn address_of(&self, object: ObjectId) -> Option<usize> {
        let piece = self.pieces().find(|p| p.object == object)?;
        Some(self.shape(piece)?.object().address())
    }
}
