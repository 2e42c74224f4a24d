//! A world of bodies that fall, hit, break, pile up and rest.
//!
//! [`World`] owns Rapier's world and the objects in it. [`World::step`] is the list
//! of stages; each stage is one function and one timer. The engine runs finding
//! pairs, querying contacts (through [`mod@crate::dispatcher`]) and solving inside its
//! own step.

mod adopt;
mod blows;
mod budget;
mod buffers;
pub(crate) mod debris;
mod depth;
mod hand;
mod hold;
#[cfg(feature = "parallel")]
mod prepare;
mod quarantine;
mod queries;
mod settings;
mod sleep;
mod snapshot;
mod stats;
mod step;
mod tune;
mod voxels;

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas_core::{Digest, Fracture, FragmentId, FragmentSurface};
use fracas_fracture::{Breaker, BreakerStats};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::query::{DefaultQueryDispatcher, QueryDispatcher as _, QueryDispatcherChain};
use parry3d::shape::SharedShape;
use rapier3d::prelude::{
    ColliderBuilder, ColliderHandle, PhysicsWorld, RigidBody, RigidBodyHandle,
};

pub use blows::ActionError;
pub use buffers::VertexBufferJob;
pub use debris::DebrisPolicy;
pub use depth::Overlap;
pub use hand::{Coupling, Wrench};
pub use hold::HandId;
pub use queries::RayHit;
pub use settings::WorldSettings;
pub use snapshot::{RestoreError, SnapshotError};
pub use stats::{StepStats, StepTimes};

use crate::breakables::{
    Blow, BreakScript, Breakable, Breakables, Clock, Engine, Event, NewFragment, ObjectId, PieceId,
    Surroundings, system_clock,
};
use crate::counters::Counters;
use crate::dispatcher::FragmentDispatcher;
use crate::prepared::PreparedAnswers;
use crate::shape::FragmentShape;
use crate::voxel::VoxelTable;
use budget::Budget;
use hold::Hand;
use step::EngineStep;
use voxels::Voxels;

/// Engine and objects.
pub struct World {
    /// Rapier's world: add floors, joints and plain bodies here.
    pub physics: PhysicsWorld,
    pub(crate) breakables: Breakables,
    settings: WorldSettings,
    hands: BTreeMap<HandId, Hand>,
    next_hand: u32,
    /// Since the last step.
    blows: Vec<Blow>,
    counters: Arc<Counters>,
    /// What snapshots refer to.
    stock: snapshot::Stock,
    voxels: Voxels,
    budget: Budget,
    prepared: Arc<PreparedAnswers>,
    stats: StepStats,
    steps: u64,
    /// The lowest floor's height.
    floor: Option<f32>,
    bodies_lost: usize,
    /// Of the bodies that were awake, at the last look.
    places: sleep::Places,
    /// Within the engine's step alone.
    held_asleep: sleep::HeldAsleep,
    clock: Arc<Clock>,
    /// When the step began, and the engine's part of it, by the clock.
    begun: f64,
    engine: EngineStep,
}

impl World {
    /// An empty world.
    #[must_use]
    pub fn new(settings: WorldSettings) -> Self {
        let physics = PhysicsWorld {
            gravity: settings.gravity,
            ..PhysicsWorld::default()
        };
        Self::of(physics, settings)
    }

    /// A world round the engine's world of a game, with all that is in it. Its gravity and
    /// the length of its step stay as they are; all else is as the settings say.
    #[must_use]
    pub fn around(physics: PhysicsWorld, settings: WorldSettings) -> Self {
        let settings = WorldSettings {
            gravity: physics.gravity,
            step: physics.integration_parameters.dt,
            ..settings
        };
        Self::of(physics, settings)
    }

    fn of(physics: PhysicsWorld, settings: WorldSettings) -> Self {
        let counters = Arc::<Counters>::default();
        let table = Arc::<VoxelTable>::default();
        let voxels = Voxels::new(&settings.contacts.mode, &table);
        let budget = Budget::new(settings.step_budget, settings.contacts.mode.is_by_points());
        let mut world = Self {
            physics,
            breakables: Breakables::new(settings.breaking()),
            settings,
            hands: BTreeMap::new(),
            next_hand: 0,
            blows: Vec::new(),
            counters,
            stock: snapshot::Stock::default(),
            voxels,
            budget,
            prepared: Arc::default(),
            stats: StepStats::default(),
            steps: 0,
            floor: None,
            bodies_lost: 0,
            places: sleep::Places::new(),
            held_asleep: sleep::HeldAsleep::new(),
            clock: Arc::new(system_clock()),
            begun: 0.0,
            engine: EngineStep::default(),
        };
        world.equip();
        world
    }

    /// Gives the engine's sets in [`Self::physics`] what this world's settings ask for: our
    /// dispatcher in the narrow phase, the parameters of integration, timers. A new world has
    /// it; who lends it the sets of another engine (see [`Self::begin_step`]) calls it once,
    /// before the first step.
    pub fn equip(&mut self) {
        let dispatcher = self.dispatcher();
        let physics = &mut self.physics;
        physics.integration_parameters = self.settings.engine_parameters();
        physics.narrow_phase.set_query_dispatcher(dispatcher);
        physics.physics_pipeline.counters.enable();
    }

    /// The narrow phase's dispatcher: fragments first, everything else as before.
    fn dispatcher(&self) -> QueryDispatcherChain<FragmentDispatcher, DefaultQueryDispatcher> {
        let ours = FragmentDispatcher {
            settings: self.settings.contacts,
            counters: Arc::clone(&self.counters),
            voxels: Arc::clone(self.voxels.table()),
            plan: Arc::clone(self.budget.plan()),
            prepared: Arc::clone(&self.prepared),
        };
        ours.chain(DefaultQueryDispatcher)
    }

    /// Times stages by another clock (seconds since any fixed moment): for targets
    /// without one of their own.
    pub fn set_clock(&mut self, clock: impl Fn() -> f64 + Send + Sync + 'static) {
        self.clock = Arc::new(Box::new(clock));
        let shared = Arc::clone(&self.clock);
        self.breakables.set_clock(move || shared());
    }

    /// The settings it was made with.
    #[must_use]
    pub fn settings(&self) -> &WorldSettings {
        &self.settings
    }

    /// Changes the limits on fragments from now on. (Groups and sleep are those of the policy at
    /// their birth.)
    pub fn set_debris(&mut self, policy: DebrisPolicy) {
        self.settings.debris = policy;
        self.breakables.set_settings(self.settings.breaking());
    }

    /// Sets the point of interest, such as the camera or the player: fragments far from it are
    /// reduced first ([`DebrisPolicy::detail_distance`]). Default: none.
    pub fn set_focus(&mut self, focus: Option<Vec3>) {
        self.breakables.focus = focus;
    }

    /// Calls `change` for every fragment before it enters the world, in the order of their
    /// births. Its body and collider have what the body that broke had (masses and user forces
    /// shared by volume); whatever `change` sets instead, stays. Snapshots do not hold it: set
    /// it again in a new process. For equal runs it must depend on its argument alone.
    ///
    /// ```
    /// # use fracas_rapier::{World, WorldSettings};
    /// # use rapier3d::prelude::ActiveEvents;
    /// let mut world = World::new(WorldSettings::default());
    /// world.on_fragment(|fragment| {
    ///     // Small fragments make no sound of their own.
    ///     if fragment.volume_share < 0.1 {
    ///         fragment.collider.set_active_events(ActiveEvents::empty());
    ///     }
    /// });
    /// ```
    pub fn on_fragment(
        &mut self,
        change: impl FnMut(&mut NewFragment<'_>) + Send + Sync + 'static,
    ) {
        self.breakables.on_fragment = Some(Box::new(change));
    }

    /// A floor: everything below the height `y` is solid.
    pub fn add_floor(&mut self, y: f32, friction: f32) -> ColliderHandle {
        let floor = ColliderBuilder::new(SharedShape::halfspace(Vec3::Y))
            .translation(Vec3::Y * y)
            .friction(friction);
        self.floor = Some(self.floor.map_or(y, |lowest| lowest.min(y)));
        self.physics.insert_collider(floor, None)
    }

    /// Adds an object.
    pub fn add(&mut self, options: Breakable) -> ObjectId {
        self.stock.add(&options);
        let (bodies, colliders) = (&mut self.physics.bodies, &mut self.physics.colliders);
        self.breakables.add(options, bodies, colliders)
    }

    /// Breaks a body now, between two steps, whatever hit it or not. Returns what it
    /// broke into: nothing if there is no such body or the fracture does not fit it.
    pub fn break_piece(&mut self, piece: PieceId, fracture: Fracture) -> Vec<PieceId> {
        self.adopt_removals();
        self.mark_held();
        let mut engine = Engine::from(&mut self.physics);
        let children = self.breakables.break_piece(piece, fracture, &mut engine);
        if !children.is_empty() {
            self.follow_hands(piece, &children);
        }
        children
    }

    /// Takes a body away. Whether there was one.
    pub fn remove_piece(&mut self, piece: PieceId) -> bool {
        self.remove_and_tell(piece, Event::Removed)
    }

    /// Takes a body away, out of every hand that holds it, and says so. Whether there was one.
    fn remove_and_tell(&mut self, piece: PieceId, event: fn(PieceId) -> Event) -> bool {
        let mut engine = Engine::from(&mut self.physics);
        let removed = self.breakables.remove(piece, &mut engine);
        if removed {
            self.hands.retain(|_, hand| hand.piece != piece);
            self.breakables.events.push(event(piece));
        }
        removed
    }

    /// Returns the events since the last call: one batch, which agrees with the world as it
    /// is now (see [`Event`]).
    pub fn take_events(&mut self) -> Vec<Event> {
        self.breakables.take_events()
    }

    /// Notes from now on what breaks, for [`Self::follow`] in another world.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn note_breaks(&mut self) {
        self.breakables.note_breaks();
    }

    /// What was noted, if anything was to be.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn noted_breaks(&self) -> Option<&BreakScript> {
        self.breakables.noted_breaks()
    }

    /// From now on impacts decide nothing: bodies break as they did in another run of
    /// the same scene, which [noted](Self::note_breaks) it.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn follow(&mut self, script: BreakScript) {
        self.breakables.follow(script);
    }

    /// How often impacts broke by modes, by a pattern, or not, since the start.
    #[must_use]
    pub fn decisions(&self) -> BreakerStats {
        self.breakables.decisions()
    }

    /// Bodies that fell out of the world or whose state was not finite, since the
    /// start: none, where all is well.
    #[must_use]
    pub fn bodies_lost(&self) -> usize {
        self.bodies_lost
    }

    /// The last step in numbers.
    #[must_use]
    pub fn stats(&self) -> &StepStats {
        &self.stats
    }

    /// Steps made.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// All bodies, in order of object and fragment.
    pub fn pieces(&self) -> impl Iterator<Item = PieceId> + '_ {
        self.breakables.pieces()
    }

    /// The surface of a body, in the object's frame: what a renderer shows.
    #[must_use]
    pub fn surface(&self, piece: PieceId) -> Option<&Arc<FragmentSurface>> {
        self.breakables.surface(piece)
    }

    /// The shape of a body.
    #[must_use]
    pub fn shape(&self, piece: PieceId) -> Option<&FragmentShape> {
        self.breakables.shape(piece)
    }

    /// The object's frame in the world, for one of its bodies.
    #[must_use]
    pub fn pose(&self, piece: PieceId) -> Option<Pose> {
        self.body(piece).map(|body| *body.position())
    }

    /// The engine's body behind a piece.
    #[must_use]
    pub fn body(&self, piece: PieceId) -> Option<&RigidBody> {
        self.physics.bodies.get(self.breakables.body(piece)?)
    }

    /// The engine's body behind a piece, to push it.
    pub fn body_mut(&mut self, piece: PieceId) -> Option<&mut RigidBody> {
        let handle = self.breakables.body(piece)?;
        self.physics.bodies.get_mut(handle)
    }

    /// The engine's collider of a piece.
    #[must_use]
    pub fn collider(&self, piece: PieceId) -> Option<ColliderHandle> {
        self.breakables.collider(piece)
    }

    /// The piece behind a collider, if it is one of ours.
    #[must_use]
    pub fn piece_of(&self, collider: ColliderHandle) -> Option<PieceId> {
        self.breakables.piece_of(collider)
    }

    /// Changes how an object breaks from now on.
    pub fn set_breaker(&mut self, object: ObjectId, breaker: Option<Breaker>) {
        self.stock.add_modes(breaker.as_ref());
        self.breakables.set_breaker(object, breaker);
    }

    /// A number that changes with any bit of any body's state: equal digests mean
    /// equal runs.
    #[must_use]
    pub fn digest(&self) -> u64 {
        // Over the bits of all poses and velocities, in order.
        let mut digest = Digest::default();
        let mut add = |bits: u32| bits.to_le_bytes().map(|byte| digest.add(byte));
        for piece in self.pieces().collect::<Vec<_>>() {
            add(piece.object.0);
            add(piece.fragment.0);
            let Some(body) = self.body(piece) else {
                continue;
            };
            let (pose, turn) = (body.position(), body.position().rotation);
            for x in [pose.translation, body.linvel(), body.angvel()]
                .iter()
                .flat_map(|v| v.to_array())
            {
                add(x.to_bits());
            }
            for x in [turn.x, turn.y, turn.z, turn.w] {
                add(x.to_bits());
            }
        }
        digest.value()
    }

    /// Kinetic and potential energy of all bodies, in joules; heights count from 0.
    #[must_use]
    pub fn energy(&self) -> f64 {
        let mut sum = 0.0;
        for (_, body) in self.physics.bodies.iter().filter(|(_, b)| b.is_dynamic()) {
            let height = -self.settings.gravity.dot(body.center_of_mass());
            sum += f64::from(body.kinetic_energy()) + f64::from(body.mass()) * f64::from(height);
        }
        sum
    }

    /// Takes away what fell out of the world, and what the engine disabled because its
    /// state was not finite.
    fn clear_lost(&mut self) {
        let below = self.settings.lost_below;
        let below = below.or(self.floor.map(|y| y - FALLEN_THROUGH));
        let below = below.unwrap_or(f32::NEG_INFINITY);
        let quarantined = self.physics.quarantine().bodies();
        let lost: Vec<RigidBodyHandle> = self
            .physics
            .bodies
            .iter()
            .filter(|(handle, body)| {
                (body.is_dynamic() && body.center_of_mass().y < below)
                    || quarantined.contains(handle)
            })
            .map(|(handle, _)| handle)
            .collect();
        self.take_away(&lost);
    }

    /// Ages fragments, and removes those whose time has come.
    fn clear_debris(&mut self) {
        let around = Surroundings {
            still_speed: 0.05 * self.settings.length_unit.max(0.1),
            touching: 0.1 * self.settings.length_unit,
            up: -self.physics.gravity.normalize_or_zero(),
        };
        self.mark_held();
        let mut engine = Engine::from(&mut self.physics);
        for id in self.breakables.age_debris(&around, &mut engine) {
            self.remove_and_tell(id, Event::Removed);
        }
    }

    /// Tells the objects which pieces are in a hand: they are never removed to make room.
    fn mark_held(&mut self) {
        self.breakables.held = self.hands.values().map(|hand| hand.piece).collect();
    }

    /// Counts, outside the step's time.
    fn finish_stats(&mut self) {
        for piece in self.breakables.pieces() {
            self.stats.pieces += 1;
            self.stats.fragments += usize::from(piece.fragment != FragmentId(0));
        }
        self.stats.bodies_lost = self.bodies_lost;
        if self.settings.contacts.mode.parry_shape().is_some() {
            self.count_engine_contacts();
        }
        if self.settings.count_colliding {
            self.stats.colliding_points = Some(self.colliding_points());
        }
    }

    /// Pairs and contacts as the engine's own queries made them.
    fn count_engine_contacts(&mut self) {
        for pair in self.physics.narrow_phase.contact_pairs() {
            let ours = self
                .piece_of(pair.collider1)
                .or(self.piece_of(pair.collider2));
            let (Some(_), Some(rigid)) = (ours, pair.rigid()) else {
                continue;
            };
            self.stats.pairs += 1;
            let points = |manifolds: &[rapier3d::geometry::ContactManifold]| {
                manifolds.iter().map(|m| m.points.len() as u64).sum::<u64>()
            };
            self.stats.contacts += points(&rigid.manifolds);
            self.stats.solver_contacts += points(rigid.solver_manifolds());
        }
    }
}

/// A body this far under the lowest floor has fallen through it, in metres.
const FALLEN_THROUGH: f32 = 1.0;
