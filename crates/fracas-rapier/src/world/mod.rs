//! A world of bodies that fall, hit, break, pile up and rest.
//!
//! [`World`] owns Rapier's world and the objects in it. [`World::step`] is the list
//! of stages; each stage is one function and one timer. The engine runs finding
//! pairs, querying contacts (through [`mod@crate::dispatcher`]) and solving inside its
//! own step.

pub mod debris;
mod fracture;
pub mod hand;
mod settings;
mod split;
mod stats;
mod tune;

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas::{FragmentId, FragmentSurface};
use fracas_fracture::{Breaker, FractureEvent, FractureStats};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::query::{DefaultQueryDispatcher, QueryDispatcher as _};
use parry3d::shape::SharedShape;
use rapier3d::prelude::{
    ColliderBuilder, ColliderHandle, NarrowPhase, PhysicsWorld, RigidBody, RigidBodyBuilder,
    RigidBodyHandle,
};

pub use debris::DebrisPolicy;
pub use hand::{Coupling, Wrench};
pub use settings::{ObjectOptions, WorldSettings};
pub use stats::{StepStats, StepTimes};

use crate::dispatcher::{Counters, FragmentDispatcher};
use crate::object::SharedObject;
use crate::shape::FragmentShape;

/// Names an object of a world, broken or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// Names a body: a fragment of an object, or the object while it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PieceId {
    /// The object.
    pub object: ObjectId,
    /// The fragment.
    pub fragment: FragmentId,
}

/// Something the caller may want to show or to hear.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A body broke.
    Broke {
        /// The body that is gone.
        piece: PieceId,
        /// What it broke into.
        children: Vec<PieceId>,
        /// Why, in numbers.
        stats: FractureStats,
    },
    /// A body came to be: attach what renders it.
    Born(PieceId),
    /// A body was taken away by the debris policy.
    Removed(PieceId),
    /// A hard contact (see [`WorldSettings::event_impulse`]).
    Contact {
        /// The body that was hit.
        piece: PieceId,
        /// Where, in the world.
        point: Vec3,
        /// In newton-seconds.
        impulse: f32,
    },
}

/// A body in the engine.
#[derive(Clone)]
struct Piece {
    body: RigidBodyHandle,
    collider: ColliderHandle,
    shape: FragmentShape,
    born: u64,
    anchored: bool,
}

/// An object and its pieces.
struct Object {
    shared: SharedObject,
    breaker: Option<Breaker>,
    options: ObjectOptions,
    pieces: BTreeMap<FragmentId, Piece>,
}

/// A hold on a piece.
#[derive(Clone, Copy, Debug)]
struct Hand {
    piece: PieceId,
    /// The grabbed point, in the object's frame.
    grip: Vec3,
    target: Pose,
    /// Orientation of the body relative to the hand when it was grabbed.
    hold: parry3d::math::Rotation,
    velocity: Vec3,
    coupling: Coupling,
    wrench: Wrench,
}

/// Names a hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandId(pub u32);

/// Engine and objects.
pub struct World {
    /// Rapier's world: add floors, joints and plain bodies here.
    pub physics: PhysicsWorld,
    settings: WorldSettings,
    objects: Vec<Object>,
    hands: BTreeMap<HandId, Hand>,
    next_hand: u32,
    counters: Arc<Counters>,
    memory: FractureEvent,
    events: Vec<Event>,
    stats: StepStats,
    steps: u64,
    clock: Clock,
}

/// Seconds since any fixed moment. It times stages and decides nothing.
type Clock = Box<dyn Fn() -> f64 + Send + Sync>;

#[cfg(not(target_arch = "wasm32"))]
fn system_clock() -> Clock {
    let start = std::time::Instant::now();
    Box::new(move || start.elapsed().as_secs_f64())
}

#[cfg(target_arch = "wasm32")]
fn system_clock() -> Clock {
    // The page gives its own: see `World::set_clock`.
    Box::new(|| 0.0)
}

impl World {
    /// An empty world.
    #[must_use]
    pub fn new(settings: WorldSettings) -> Self {
        let dispatcher = FragmentDispatcher {
            settings: settings.contacts,
            ..FragmentDispatcher::default()
        };
        let counters = Arc::clone(&dispatcher.counters);
        let mut physics = PhysicsWorld {
            gravity: settings.gravity,
            integration_parameters: settings.integration(),
            narrow_phase: NarrowPhase::with_query_dispatcher(
                dispatcher.chain(DefaultQueryDispatcher),
            ),
            ..PhysicsWorld::default()
        };
        physics.physics_pipeline.counters.enable();
        Self {
            physics,
            settings,
            objects: Vec::new(),
            hands: BTreeMap::new(),
            next_hand: 0,
            counters,
            memory: FractureEvent::default(),
            events: Vec::new(),
            stats: StepStats::default(),
            steps: 0,
            clock: system_clock(),
        }
    }

    /// Times stages by another clock (seconds since any fixed moment): for targets
    /// without one of their own.
    pub fn set_clock(&mut self, clock: impl Fn() -> f64 + Send + Sync + 'static) {
        self.clock = Box::new(clock);
    }

    /// The settings it was made with.
    #[must_use]
    pub fn settings(&self) -> &WorldSettings {
        &self.settings
    }

    /// A floor: everything below the height `y` is solid.
    pub fn add_floor(&mut self, y: f32, friction: f32) -> ColliderHandle {
        let floor = ColliderBuilder::new(SharedShape::halfspace(Vec3::Y))
            .translation(Vec3::Y * y)
            .friction(friction);
        self.physics.insert_collider(floor, None)
    }

    /// Adds an object.
    pub fn add(&mut self, options: ObjectOptions) -> ObjectId {
        let id = ObjectId(self.objects.len() as u32);
        let (shared, shape) = options.blueprint.object();
        let anchored = split::is_anchored(&shape, &options);
        let body = split::body(&options, &self.settings, anchored, options.pose)
            .linvel(options.velocity)
            .angvel(options.spin)
            .build();
        let piece = self.insert(body, shape, &options, anchored);
        let pieces = BTreeMap::from([(FragmentId(0), piece)]);
        self.objects.push(Object {
            shared,
            breaker: options.breaker.clone(),
            options,
            pieces,
        });
        self.events.push(Event::Born(PieceId {
            object: id,
            fragment: FragmentId(0),
        }));
        id
    }

    /// One step: the list of stages.
    pub fn step(&mut self) {
        let start = (self.clock)();
        self.stats = StepStats {
            step: self.steps,
            ..StepStats::default()
        };
        self.pull_hands();
        self.step_engine();
        let solved = (self.clock)();
        let breaks = self.decide_breaks();
        self.stats.times.fracture += ((self.clock)() - solved) * 1e3;
        self.break_bodies(breaks);
        self.clear_debris();
        self.steps += 1;
        self.finish_stats();
        self.stats.times.total = ((self.clock)() - start) * 1e3;
    }

    /// Takes the events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
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
        self.objects.iter().enumerate().flat_map(|(o, object)| {
            object.pieces.keys().map(move |&fragment| PieceId {
                object: ObjectId(o as u32),
                fragment,
            })
        })
    }

    /// The surface of a body, in the object's frame: what a renderer shows.
    #[must_use]
    pub fn surface(&self, piece: PieceId) -> Option<&Arc<FragmentSurface>> {
        self.piece(piece).map(|p| p.shape.surface())
    }

    /// The shape of a body.
    #[must_use]
    pub fn shape(&self, piece: PieceId) -> Option<&FragmentShape> {
        self.piece(piece).map(|p| &p.shape)
    }

    /// The object's frame in the world, for one of its bodies.
    #[must_use]
    pub fn pose(&self, piece: PieceId) -> Option<Pose> {
        self.body(piece).map(|body| *body.position())
    }

    /// The engine's body behind a piece.
    #[must_use]
    pub fn body(&self, piece: PieceId) -> Option<&RigidBody> {
        self.physics.bodies.get(self.piece(piece)?.body)
    }

    /// The engine's body behind a piece, to push it.
    pub fn body_mut(&mut self, piece: PieceId) -> Option<&mut RigidBody> {
        let handle = self.piece(piece)?.body;
        self.physics.bodies.get_mut(handle)
    }

    /// The piece behind a collider, if it is one of ours.
    #[must_use]
    pub fn piece_of(&self, collider: ColliderHandle) -> Option<PieceId> {
        let shape = self
            .physics
            .colliders
            .get(collider)?
            .shape()
            .as_shape::<FragmentShape>()?;
        let object = self
            .objects
            .iter()
            .position(|o| o.shared.is(shape.object()))?;
        Some(PieceId {
            object: ObjectId(object as u32),
            fragment: shape.id(),
        })
    }

    /// Changes how an object breaks from now on.
    pub fn set_breaker(&mut self, object: ObjectId, breaker: Option<Breaker>) {
        if let Some(object) = self.objects.get_mut(object.0 as usize) {
            object.breaker = breaker;
        }
    }

    /// A number that changes with any bit of any body's state: equal digests mean
    /// equal runs.
    #[must_use]
    pub fn digest(&self) -> u64 {
        // FNV-1a over the bits of all poses and velocities, in order.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |bits: u32| {
            for byte in bits.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
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
        hash
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

    fn piece(&self, id: PieceId) -> Option<&Piece> {
        self.objects
            .get(id.object.0 as usize)?
            .pieces
            .get(&id.fragment)
    }

    /// Find pairs, query contacts, solve: the engine's own step.
    fn step_engine(&mut self) {
        self.physics.step();
        let counters = &self.physics.physics_pipeline.counters;
        let collision = counters.stages.collision_detection_time.time_ms();
        self.stats.times.collision = collision;
        self.stats.times.physics = (counters.step_time_ms() - collision).max(0.0);
        let counts = self.counters.take();
        self.stats.pairs = counts.pairs;
        self.stats.visited_points = counts.visited_points;
        self.stats.contacts = counts.contacts;
        self.stats.solver_contacts = counts.solver_contacts;
    }

    fn insert(
        &mut self,
        body: RigidBody,
        shape: FragmentShape,
        options: &ObjectOptions,
        anchored: bool,
    ) -> Piece {
        let collider = ColliderBuilder::new(SharedShape(Arc::new(shape.clone())))
            .density(options.density)
            .friction(options.friction)
            .restitution(options.restitution);
        let (body, collider) = self.physics.insert(body, collider);
        Piece {
            body,
            collider,
            shape,
            born: self.steps,
            anchored,
        }
    }

    fn clear_debris(&mut self) {
        let policy = self.settings.debris;
        let mut candidates = Vec::new();
        for id in self.pieces().filter(|p| p.fragment != FragmentId(0)) {
            let (Some(piece), Some(body)) = (self.piece(id), self.body(id)) else {
                continue;
            };
            candidates.push(debris::Candidate {
                key: id,
                volume: piece.shape.volume() as f32,
                age: (self.steps - piece.born) as u32,
                still: body.is_sleeping()
                    || body.linvel().length() < 0.05 * self.settings.length_unit.max(0.1),
                needed: piece.anchored || self.hands.values().any(|h| h.piece == id),
            });
        }
        for id in policy.removals(&candidates) {
            let Some(piece) = self.objects[id.object.0 as usize]
                .pieces
                .remove(&id.fragment)
            else {
                continue;
            };
            self.physics.remove_body(piece.body);
            self.events.push(Event::Removed(id));
        }
    }

    fn finish_stats(&mut self) {
        self.stats.pieces = self.pieces().count();
        self.stats.fragments = self
            .pieces()
            .filter(|p| p.fragment != FragmentId(0))
            .count();
    }

    /// Grabs a piece at a point of the world. The hand starts where the point is.
    pub fn grab(&mut self, piece: PieceId, point: Vec3, coupling: Coupling) -> Option<HandId> {
        let pose = self.pose(piece)?;
        let id = HandId(self.next_hand);
        self.next_hand += 1;
        let target = Pose::from_translation(point);
        let hand = Hand {
            piece,
            grip: pose.inverse_transform_point(point),
            hold: target.rotation.inverse() * pose.rotation,
            target,
            velocity: Vec3::ZERO,
            coupling,
            wrench: Wrench::default(),
        };
        self.hands.insert(id, hand);
        Some(id)
    }

    /// Moves a hand to where it will be at the end of the next step.
    pub fn move_hand(&mut self, hand: HandId, to: Pose) {
        let step = self.settings.step;
        if let Some(hand) = self.hands.get_mut(&hand) {
            hand.velocity = (to.translation - hand.target.translation) / step;
            hand.target = to;
        }
    }

    /// What the hand did to the body in the last step; it felt the opposite.
    #[must_use]
    pub fn hand_wrench(&self, hand: HandId) -> Option<Wrench> {
        self.hands.get(&hand).map(|h| h.wrench)
    }

    /// Lets go.
    pub fn release(&mut self, hand: HandId) {
        self.hands.remove(&hand);
    }

    fn pull_hands(&mut self) {
        let step = self.settings.step;
        for hand in self.hands.values_mut() {
            let object = self.objects.get(hand.piece.object.0 as usize);
            let handle = object
                .and_then(|o| o.pieces.get(&hand.piece.fragment))
                .map(|p| p.body);
            let Some(body) = handle.and_then(|h| self.physics.bodies.get_mut(h)) else {
                continue;
            };
            let grip = *body.position() * hand.grip;
            let arm = grip - body.center_of_mass();
            let inverse_inertia = body.mass_properties().effective_world_inv_inertia;
            let inverse_inertia = glam::Mat3::from_cols(
                inverse_inertia * Vec3::X,
                inverse_inertia * Vec3::Y,
                inverse_inertia * Vec3::Z,
            );
            // The largest inverse mass over all directions at the arm's end.
            let spread = inverse_inertia.x_axis.length()
                + inverse_inertia.y_axis.length()
                + inverse_inertia.z_axis.length();
            let turn = body.position().rotation * (hand.target.rotation * hand.hold).inverse();
            let held = hand::Held {
                offset: grip - hand.target.translation,
                velocity: body.velocity_at_point(grip) - hand.velocity,
                inverse_mass: 1.0 / body.mass().max(1e-9) + spread * arm.length_squared(),
                turn: turn.to_scaled_axis(),
                spin: body.angvel(),
                inverse_inertia,
            };
            hand.wrench = hand.coupling.wrench(&held, step);
            body.apply_impulse_at_point(hand.wrench.force * step, grip, true);
            body.apply_torque_impulse(hand.wrench.torque * step, true);
            hand.velocity = Vec3::ZERO;
        }
    }
}

/// A body of the kind an object's pieces are.
fn builder(anchored: bool) -> RigidBodyBuilder {
    if anchored {
        RigidBodyBuilder::fixed()
    } else {
        RigidBodyBuilder::dynamic()
    }
}
