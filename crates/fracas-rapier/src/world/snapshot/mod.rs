//! The whole state to bytes and back, in the middle of a destruction.
//!
//! A snapshot holds: Rapier's world as Rapier saves it (bodies, colliders, contacts
//! with their warm starts, islands, sleep); for each object the key of its blueprint
//! and every fracture so far; hands, waiting impacts and pending modes. Restoring
//! replays the fractures on the blueprints, which gives the same cuts, fields, trees
//! and shapes bit by bit, puts the shapes back into Rapier's colliders, and goes on.
//!
//! Blueprints and modes are not in the bytes: they are baked and large. A world knows
//! those of all objects that were ever added to it; [`World::stock`] makes others
//! known, for a world in a new process.
//!
//! **Guarantee**: a restored world continues with the bits of the one that was saved,
//! whatever either of them did before, and so does one that was never saved: taking a
//! snapshot changes nothing (but for voxel contacts, see [`World::snapshot`]). Bytes
//! that were altered are noticed by a checksum and refused before the engine sees
//! them. (Bytes forged with a right checksum can still make the engine panic in a
//! later step: do not load snapshots from people who mean harm.)
//!
//! Changes that the game made since the last step are saved with the engine, but for one: an
//! impulse joint that was removed since then still counts as a link between its two bodies for
//! the engine's sleep, as the engine does not save that it has yet to forget it.

mod saved;
mod settings;
mod shapes;

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas_core::{Digest, FragmentId};
use fracas_fracture::Modes;
use rapier3d::prelude::{ColliderHandle, PhysicsWorld};
use thiserror::Error;

use super::{Breakable, World};
use crate::blueprint::Blueprint;
use crate::breakables::Breakables;
use crate::codec;
use crate::shape::FragmentShape;
use saved::Saved;

/// First bytes of a snapshot.
const MAGIC: [u8; 7] = *b"fracasW";

/// Version of the layout: the byte after [`MAGIC`].
const VERSION: u8 = 7;

/// Why a world cannot be saved.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Only the world's own fragments and parry's shapes can be restored.
    #[error("collider {0:?} has a shape that is neither a piece of this world nor one of parry's")]
    ForeignShape(ColliderHandle),
    /// The engine refused.
    #[error("the engine's state cannot be written: {0}")]
    Engine(String),
}

/// Why bytes cannot be restored. The world is as it was.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// Other bytes altogether.
    #[error("these bytes are no snapshot of a world")]
    NotASnapshot,
    /// Another version of the library saved it.
    #[error("the snapshot has layout {saved}, and this version of fracas reads layout {VERSION}")]
    OtherVersion {
        /// Layout of the bytes.
        saved: u8,
    },
    /// Bytes were lost or altered.
    #[error("the snapshot is damaged: its checksum is wrong")]
    Damaged,
    /// The checksum is right, the contents are not.
    #[error("the snapshot's contents make no sense: {0}")]
    Malformed(String),
    /// The saved world had another value of a setting that its run depends on.
    #[error(
        "the snapshot was taken with `WorldSettings::{setting}` of {saved}, and this world has {present}; make the world with the saved value"
    )]
    OtherSettings {
        /// Name of the setting, such as `look_ahead` or `contacts.mode`.
        setting: String,
        /// Its value in the saved world.
        saved: String,
        /// Its value in this world.
        present: String,
    },
    /// A blueprint is not known here.
    #[error(
        "object {object} is made of blueprint {key:016x}, which this world does not know; give it to `World::stock` first"
    )]
    UnknownBlueprint {
        /// Which object.
        object: usize,
        /// The blueprint's key.
        key: u64,
    },
    /// Modes are not known here.
    #[error(
        "object {object} breaks by modes {key:016x}, which this world does not know; give its breaker to `World::stock` first"
    )]
    UnknownModes {
        /// Which object.
        object: usize,
        /// The modes' key.
        key: u64,
    },
}

/// Blueprints and modes by their keys.
#[derive(Clone, Default)]
pub(super) struct Stock {
    blueprints: BTreeMap<u64, Arc<Blueprint>>,
    modes: BTreeMap<u64, Arc<Modes>>,
}

impl Stock {
    pub(super) fn add(&mut self, options: &Breakable) {
        let blueprint = &options.blueprint;
        self.blueprints.insert(blueprint.key(), blueprint.clone());
        self.add_modes(options.breaker.as_ref());
    }

    pub(super) fn add_modes(&mut self, breaker: Option<&fracas_fracture::Breaker>) {
        if let Some(modes) = breaker.and_then(|b| b.modes(FragmentId(0))) {
            self.modes.insert(modes_key(modes), modes.clone());
        }
    }
}

fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().collect::<Digest>().value()
}

/// Names modes: their frequencies tell body and material apart.
fn modes_key(modes: &Modes) -> u64 {
    let nodes = (modes.nodes().len() as u64).to_le_bytes();
    let omegas = modes.omegas().iter().flat_map(|w| w.to_le_bytes());
    hash(nodes.into_iter().chain(omegas))
}

impl World {
    /// Makes a kind of object known without adding one: what its blueprint and modes
    /// are, so that a snapshot with such objects can be restored.
    pub fn stock(&mut self, options: &Breakable) {
        let options = self.in_own_units(options.clone());
        self.stock.add(&options);
    }

    /// The whole state as bytes, what pairs remember of their points included. Events
    /// that were not taken are not in it, nor what voxel contacts learnt of the cost of
    /// pairs: a world with voxel contacts forgets it, too, so that both go on alike.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        for (handle, collider) in self.physics.colliders.iter() {
            let custom = collider.shape().as_typed_shape();
            let custom = matches!(custom, parry3d::shape::TypedShape::Custom(_));
            let piece = self
                .piece_of(handle)
                .and_then(|id| self.breakables.piece(id));
            let is_ours = piece.is_some_and(|p| self.is_intact(p) && !self.has_own_shape(p));
            if custom && !is_ours {
                return Err(SnapshotError::ForeignShape(handle));
            }
        }
        let engine = |e: codec::CodecError| SnapshotError::Engine(e.0);
        let ours = codec::write(&Saved::of(self)).map_err(engine)?;
        let theirs = codec::write(&self.physics).map_err(engine)?;
        self.voxels.forget();
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        bytes.extend((ours.len() as u64).to_le_bytes());
        bytes.extend(ours);
        bytes.extend(theirs);
        let sum = hash(bytes.iter().copied());
        bytes.extend(sum.to_le_bytes());
        Ok(bytes)
    }

    /// Becomes the world that was saved. Events start afresh.
    ///
    /// # Errors
    /// See [`RestoreError`]; nothing has changed then.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let (ours, theirs) = parts(bytes)?;
        let malformed = |e: codec::CodecError| RestoreError::Malformed(e.0);
        let saved: Saved = codec::read(ours).map_err(malformed)?;
        saved.settings.check(&self.settings)?;
        let settings = saved.world_settings(&self.settings);
        let mut breakables = Breakables::new(settings.breaking(self.units));
        breakables.steps = saved.steps;
        for (index, object) in saved.objects.iter().enumerate() {
            let object = object.replay(index, &self.stock, &settings)?;
            breakables.objects.push(object);
        }
        let mut physics: PhysicsWorld = codec::read(theirs).map_err(malformed)?;
        self.check_handles(&breakables, &physics)?;
        self.put_back(&saved, &mut breakables, &mut physics)
            .map_err(malformed)?;
        self.take_over(saved, breakables, physics)
    }

    /// The last part of restoring, which cannot fail but for what hands hold.
    fn take_over(
        &mut self,
        saved: Saved,
        mut breakables: Breakables,
        mut physics: PhysicsWorld,
    ) -> Result<(), RestoreError> {
        let hands = saved.hands(&breakables)?;
        breakables.materials = saved.materials();
        // All that were born after the last step, and perhaps some that were born before it.
        let young = breakables.all_pieces();
        let young = young.filter(|(_, piece)| piece.born + 1 >= saved.steps);
        breakables.newborn = young.map(|(id, _)| id).collect();
        breakables.waiting = saved.waiting(&breakables)?;
        saved.restart_modes(&mut breakables)?;
        match &saved.redone {
            Some((_, loads)) => breakables.loads = loads.clone(),
            None => breakables.loads.note(&physics.narrow_phase),
        }
        // Voxels are rebuilt from the objects; which pairs were expensive is learnt anew.
        let table = Arc::default();
        let mode = &self.settings.contacts.mode;
        self.budget = super::Budget::new(self.settings.step_budget, mode.is_by_points());
        self.budget.restore(saved.asked());
        self.prepared = Arc::default();
        let chosen = std::mem::take(&mut self.voxels.chosen);
        self.voxels = super::Voxels::new(&self.settings.contacts.mode, &table);
        physics.narrow_phase.set_query_dispatcher(self.dispatcher());
        physics.physics_pipeline.counters.enable();
        // The engine does not save which joints are new to its islands. It checks all that were
        // borrowed mutably, and those that it knows stay as they are.
        physics.impulse_joints.iter_mut().for_each(drop);
        // The engine saves no threads: they belong to the process.
        #[cfg(feature = "parallel")]
        {
            let pool = self.physics.physics_pipeline.thread_pool();
            physics.physics_pipeline.set_thread_pool(pool);
        }
        self.settings = saved.world_settings(&self.settings);
        self.hands = hands;
        self.blows.clone_from(&saved.blows);
        self.physics = physics;
        breakables.focus = saved.focus.map(glam::Vec3::from);
        breakables.on_fragment = self.breakables.on_fragment.take();
        self.breakables = breakables;
        let clock = Arc::clone(&self.clock);
        self.breakables.set_clock(move || clock());
        let around = self.surroundings();
        self.breakables.note_surroundings(&around);
        self.places = saved.places();
        self.since_look = saved.since_look;
        self.next_hand = saved.next_hand;
        self.floor = saved.floor;
        self.bodies_lost = saved.bodies_lost as usize;
        self.steps = saved.world_steps;
        self.stats = super::StepStats {
            step: self.steps.saturating_sub(1),
            made_again: saved.redone.map_or(0, |(parts, _)| parts),
            ..super::StepStats::default()
        };
        self.finish_stats();
        self.counters.take();
        for (object, settings) in chosen {
            self.set_voxel_contacts(object, Some(settings));
        }
        Ok(())
    }

    fn check_handles(
        &self,
        breakables: &Breakables,
        physics: &PhysicsWorld,
    ) -> Result<(), RestoreError> {
        for piece in breakables.objects.iter().flat_map(|o| o.pieces.values()) {
            let collider = physics.colliders.get(piece.collider);
            let parent = collider.and_then(|c| c.parent());
            if parent != Some(piece.body) || physics.bodies.get(piece.body).is_none() {
                return Err(RestoreError::Malformed("a piece has no body".into()));
            }
        }
        Ok(())
    }

    /// Gives the engine's colliders the fragments' shapes again.
    fn put_back(
        &self,
        saved: &Saved,
        breakables: &mut Breakables,
        physics: &mut PhysicsWorld,
    ) -> Result<(), codec::CodecError> {
        let ids: Vec<_> = breakables.pieces().collect();
        let mut back = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(piece) = breakables.piece(id).cloned() else {
                continue;
            };
            breakables.owners.insert(piece.collider, id);
            // Parry's own shapes came back with the engine.
            let by_parry = self.settings.contacts.mode.parry_shape().is_some();
            if !by_parry && !saved.has_own_shape(id) {
                back.push((piece.collider, breakables.engine_shape(&piece.shape)));
            }
        }
        shapes::put_back(physics, &back)
    }
}

/// Checks the frame and takes it off: our part, and the engine's.
fn parts(bytes: &[u8]) -> Result<(&[u8], &[u8]), RestoreError> {
    let rest = bytes.strip_prefix(&MAGIC);
    let (version, rest) = rest
        .and_then(<[u8]>::split_first)
        .ok_or(RestoreError::NotASnapshot)?;
    if *version != VERSION {
        return Err(RestoreError::OtherVersion { saved: *version });
    }
    let (rest, sum) = rest.split_last_chunk::<8>().ok_or(RestoreError::Damaged)?;
    let summed = &bytes[..bytes.len() - 8];
    if hash(summed.iter().copied()) != u64::from_le_bytes(*sum) {
        return Err(RestoreError::Damaged);
    }
    let (length, rest) = rest.split_first_chunk::<8>().ok_or(RestoreError::Damaged)?;
    usize::try_from(u64::from_le_bytes(*length))
        .ok()
        .and_then(|length| rest.split_at_checked(length))
        .ok_or(RestoreError::Damaged)
}

/// Shapes of an object's living fragments, by replaying its fractures.
type Shapes = BTreeMap<FragmentId, FragmentShape>;
