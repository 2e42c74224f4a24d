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
mod depth;
mod hand;
mod hold;
#[cfg(feature = "parallel")]
mod prepare;
mod quarantine;
mod queries;
mod redo;
mod settings;
mod sleep;
mod snapshot;
mod stats;
mod step;
mod tune;
mod units;
mod voxels;
mod warnings;

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas_core::{Digest, Fracture, FragmentId, FragmentSurface};
use fracas_fracture::{Breaker, BreakerStats, Modes};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::query::{DefaultQueryDispatcher, QueryDispatcher as _, QueryDispatcherChain};
use parry3d::shape::SharedShape;
use rapier3d::prelude::{
    ColliderBuilder, ColliderHandle, PhysicsWorld, RigidBody, RigidBodyHandle,
};

pub use blows::ActionError;
pub use buffers::VertexBufferJob;
pub use depth::Overlap;
pub use hand::{Coupling, Wrench};
pub use hold::HandId;
pub use queries::RayHit;
pub use settings::WorldSettings;
pub use snapshot::{RestoreError, SnapshotError};
pub use stats::{StepStats, StepTimes};
pub use warnings::Warning;

use crate::breakables::{
    Blow, BreakScript, Breakable, Breakables, Clock, Engine, Event, NewFragment, ObjectId, PieceId,
    Surroundings, system_clock,
};
use crate::counters::Counters;
use crate::debris::DebrisPolicy;
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
    /// Length units per metre.
    units: f32,
    hands: BTreeMap<HandId, Hand>,
    next_hand: u32,
    /// Since the last step.
    blows: Vec<Blow>,
    counters: Arc<Counters>,
    /// Modes as they were given, and in this world's units, where these are not metres.
    converted: Vec<(Arc<Modes>, Arc<Modes>)>,
    /// What snapshots refer to.
    stock: snapshot::Stock,
    voxels: Voxels,
    budget: Budget,
    prepared: Arc<PreparedAnswers>,
    stats: StepStats,
    steps: u64,
    /// Seconds of the step that is being made: the engine's, read when it begins.
    dt: f32,
    /// The lowest floor's height.
    floor: Option<f32>,
    bodies_lost: usize,
    /// Of the bodies that were awake, at the last look.
    places: sleep::Places,
    /// Seconds of the steps since that look.
    since_look: f64,
    /// Within the engine's step alone.
    held_asleep: sleep::HeldAsleep,
    clock: Arc<Clock>,
    /// When the step began, and the engine's part of it, by the clock.
    begun: f64,
    engine: EngineStep,
}

impl World {
    /// An empty world, whose engine has the parameters that suit broken pieces best:
    /// [`WorldSettings::engine_parameters`].
    #[must_use]
    pub fn new(settings: WorldSettings) -> Self {
        let units = settings.units_per_meter.unwrap_or(1.0);
        let physics = PhysicsWorld {
            gravity: settings.gravity * units,
            integration_parameters: settings.engine_parameters(),
            ..PhysicsWorld::default()
        };
        Self::of(physics, settings, units)
    }

    /// A world around the engine's world of a game, with all that is in it. Gravity and all
    /// parameters of the engine stay as they are; what of them suits broken pieces badly, says
    /// [`Self::warnings`]. Lengths are in the units of the game's world: see
    /// [`WorldSettings::units_per_meter`].
    ///
    /// ```
    /// use fracas_rapier::{World, WorldSettings};
    /// use rapier3d::prelude::*;
    ///
    /// let mut physics = PhysicsWorld::default();
    /// physics.integration_parameters.num_solver_iterations = 8;
    /// let world = World::around(physics, WorldSettings::default());
    /// assert_eq!(world.physics.integration_parameters.num_solver_iterations, 8);
    /// ```
    #[must_use]
    pub fn around(physics: PhysicsWorld, settings: WorldSettings) -> Self {
        let engine = physics.integration_parameters.length_unit;
        let units = settings.units_per_meter.unwrap_or(engine.max(1.0));
        let settings = WorldSettings {
            gravity: physics.gravity / units,
            units_per_meter: Some(units),
            ..settings
        };
        Self::of(physics, settings, units)
    }

    fn of(physics: PhysicsWorld, settings: WorldSettings, units: f32) -> Self {
        let counters = Arc::<Counters>::default();
        let table = Arc::<VoxelTable>::default();
        let voxels = Voxels::new(&settings.contacts.mode, &table);
        let budget = Budget::new(settings.step_budget, settings.contacts.mode.is_by_points());
        let mut world = Self {
            physics,
            breakables: Breakables::new(settings.breaking(units)),
            settings,
            units,
            hands: BTreeMap::new(),
            next_hand: 0,
            blows: Vec::new(),
            counters,
            converted: Vec::new(),
            stock: snapshot::Stock::default(),
            voxels,
            budget,
            prepared: Arc::default(),
            stats: StepStats::default(),
            steps: 0,
            dt: 0.0,
            floor: None,
            bodies_lost: 0,
            places: sleep::Places::new(),
            since_look: 0.0,
            held_asleep: sleep::HeldAsleep::new(),
            clock: Arc::new(system_clock()),
            begun: 0.0,
            engine: EngineStep::default(),
        };
        world.equip();
        world
    }

    /// Makes the engine's sets in [`Self::physics`] ready for pieces. It changes two things of
    /// them: the narrow phase gets our query dispatcher (any other goes), and the pipeline's
    /// counters are enabled, by which [`Self::stats`] tells times. A new world has it; a
    /// program that lends it the sets of another engine (see [`Self::begin_step`]) calls it
    /// once, before the first step.
    pub fn equip(&mut self) {
        let dispatcher = self.dispatcher();
        let physics = &mut self.physics;
        physics.narrow_phase.set_query_dispatcher(dispatcher);
        physics.physics_pipeline.counters.enable();
    }

    /// Length units of this world per metre: see [`WorldSettings::units_per_meter`].
    #[must_use]
    pub fn units_per_meter(&self) -> f32 {
        self.units
    }

    /// The smallest length that matters, in length units of this world.
    fn smallest_length(&self) -> f32 {
        self.settings.length_unit * self.units
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

    /// The same world with steps of `dt` seconds: `physics.integration_parameters.dt`.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    #[cfg_attr(not(any(feature = "research", test)), expect(dead_code))]
    pub(crate) fn with_dt(mut self, dt: f32) -> Self {
        self.physics.integration_parameters.dt = dt;
        self
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
        self.breakables
            .set_settings(self.settings.breaking(self.units));
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
        let options = self.in_own_units(options);
        self.stock.add(&options);
        let margin = box_margin(&self.physics);
        let (bodies, colliders) = (&mut self.physics.bodies, &mut self.physics.colliders);
        self.breakables.add(options, margin, bodies, colliders)
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

    /// Pieces that fell out of the world or whose state was not finite, since the
    /// start: none, where all is well. Bodies of the game are never removed.
    #[must_use]
    pub fn bodies_lost(&self) -> usize {
        self.bodies_lost
    }

    /// The last step in numbers.
    #[must_use]
    pub fn stats(&self) -> &StepStats {
        &self.stats
    }

    /// Seconds of the next step: the engine's own `physics.integration_parameters.dt`, which a
    /// game sets. It may change from step to step.
    #[must_use]
    pub fn dt(&self) -> f32 {
        self.physics.integration_parameters.dt
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

    /// Changes how an object breaks from now on. A breaker is in SI units, as in
    /// [`Breakable::with_breaker`], or one that this world has given ([`Self::breaker`]).
    pub fn set_breaker(&mut self, object: ObjectId, breaker: Option<Breaker>) {
        let breaker = breaker.map(|breaker| self.breaker_in_own_units(breaker));
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

    /// Kinetic and potential energy of all bodies, in joules; heights count from the origin.
    #[must_use]
    pub fn energy(&self) -> f64 {
        let mut sum = 0.0;
        for (_, body) in self.physics.bodies.iter().filter(|(_, b)| b.is_dynamic()) {
            let height = -self.physics.gravity.dot(body.center_of_mass());
            sum += f64::from(body.kinetic_energy()) + f64::from(body.mass()) * f64::from(height);
        }
        sum / f64::from(self.units).powi(2)
    }

    /// Removes pieces that fell out of the world, and those that the engine disabled because
    /// their state was not finite.
    fn clear_lost(&mut self) {
        let gravity = self.physics.gravity;
        let up = (-gravity).try_normalize().unwrap_or(Vec3::Y);
        let floor = self.floor.filter(|_| gravity.y < -0.5 * gravity.length());
        // The floor is level, whatever gravity is.
        let (up, below) = match (self.settings.lost_below, floor) {
            (Some(below), _) => (up, below),
            (None, Some(floor)) => (Vec3::Y, floor - FALLEN_THROUGH * self.units),
            (None, None) => (up, f32::NEG_INFINITY),
        };
        let quarantined = self.physics.quarantine().bodies();
        let is_lost = |handle: RigidBodyHandle| {
            self.physics.bodies.get(handle).is_some_and(|body| {
                let is_below = body.is_dynamic() && body.center_of_mass().dot(up) < below;
                is_below || quarantined.contains(&handle)
            })
        };
        let bodies = self
            .pieces()
            .filter_map(|piece| self.breakables.body(piece));
        let lost: Vec<RigidBodyHandle> = bodies.filter(|&handle| is_lost(handle)).collect();
        self.take_away(&lost);
    }

    /// What decides about old debris.
    fn surroundings(&self) -> Surroundings {
        let small = self.smallest_length();
        Surroundings {
            still_speed: STILL * small.max(0.1 * self.units),
            touching: 0.1 * small,
            up: -self.physics.gravity.normalize_or_zero(),
        }
    }

    /// Ages fragments, and removes those whose time has come.
    fn clear_debris(&mut self) {
        let around = self.surroundings();
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

/// Half of the way that things fall in a step, if the engine looks so far for contacts.
fn box_margin(physics: &PhysicsWorld) -> f32 {
    let parameters = &physics.integration_parameters;
    let fall = physics.gravity.length() * parameters.dt * parameters.dt;
    0.5 * fall.min(parameters.prediction_distance())
}

/// A piece slower than this counts as still, in smallest lengths per second.
const STILL: f32 = 0.05;

/// A piece this far under the lowest floor has fallen through it, in metres.
const FALLEN_THROUGH: f32 = 1.0;
