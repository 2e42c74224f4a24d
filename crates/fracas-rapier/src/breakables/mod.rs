//! Objects and their pieces in the engine's sets.
//!
//! [`Breakables`] knows which bodies of an engine are pieces of which object. After
//! the engine's step it reads the impulses, decides what breaks, and replaces broken
//! bodies by their fragments' in the engine's own sets. [`crate::world::World`] calls it.
//!
//! Stages of [`Breakables::follow_step`]: modes that are due take effect -> impulses
//! to decisions -> cut and update -> replace bodies. Between decisions and cutting the
//! step may be taken back for the bodies that the breaks concern: they are then back where
//! they were before it, with fragments in the place of what broke, and their step is to be
//! made once more.

mod approach;
mod attached;
mod background;
mod blows;
mod breakable;
mod budget;
mod concerned;
mod contacts;
mod decide;
mod events;
mod give_way;
mod inherit;
mod limits;
mod loads;
mod look_ahead;
mod old_debris;
mod owners;
mod script;
mod split;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fracas_core::sphere_tree::SplitMethod;
use fracas_core::{Fracture, FragmentId, FragmentSurface};
use fracas_fracture::{Breaker, BreakerStats};
use glam::Vec3;
use parry3d::shape::SharedShape;
use rapier3d::prelude::{
    BroadPhaseBvh, Collider, ColliderBuilder, ColliderHandle, ColliderSet, ImpulseJointSet,
    IslandManager, MultibodyJointSet, NarrowPhase, PhysicsWorld, RigidBody, RigidBodyHandle,
    RigidBodySet, SoftBodySet,
};

pub use background::FragmentModesPolicy;
pub use blows::Falloff;
pub(crate) use blows::{Blast, Blow};
pub use breakable::Breakable;
#[cfg(feature = "assets")]
pub use breakable::{OpenError, OpenNote, OpenOptions};
pub(crate) use contacts::ColliderMaterials;
pub use contacts::Contact;
pub use events::{Event, JointHandle};
pub(crate) use inherit::FragmentHook;
pub use inherit::NewFragment;
pub(crate) use old_debris::Surroundings;
pub use script::BreakScript;

use crate::debris::DebrisPolicy;
use crate::late_tree::LateTrees;
use crate::object::SharedObject;
use crate::pair::ContactMode;
use crate::shape::FragmentShape;
use crate::trace;
use approach::Approach;
use background::ModesJobs;
use decide::Memories;
pub(crate) use decide::Waiting;
pub(crate) use give_way::Redo;
pub(crate) use loads::Loads;
use owners::Owners;
use script::Scripting;

/// Names an object, broken or not.
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

/// How bodies break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakSettings {
    /// Which shapes fragments get: ours, or one of parry's.
    pub contacts: ContactMode,
    /// How trees are put together after a split.
    pub restructuring: SplitMethod,
    /// Bodies beyond this number that are hit hard enough in one step are decided in
    /// the next.
    pub most_breaks_per_step: usize,
    /// Pairs whose contacts have a larger impulse in a step (newton-seconds) are reported.
    pub event_impulse: f32,
    /// Length units per metre.
    pub units: f32,
    /// Whether unbroken objects may sleep.
    pub sleep: bool,
    /// Whether fragments may sleep.
    pub fragments_sleep: bool,
    /// When fragments get modes of their own.
    pub fragment_modes: FragmentModesPolicy,
    /// Bodies look for contacts so many of their own radii ahead, a step's motion at most:
    /// they meet before they overlap.
    pub look_ahead: f32,
    /// Limits on the number and age of fragments.
    pub debris: DebrisPolicy,
}

/// The parts of a Rapier world that breaking touches.
pub struct Engine<'a> {
    /// Bodies.
    pub bodies: &'a mut RigidBodySet,
    /// Colliders.
    pub colliders: &'a mut ColliderSet,
    /// Where neighbors are found.
    pub broad_phase: &'a BroadPhaseBvh,
    /// Where the impulses are read.
    pub narrow_phase: &'a NarrowPhase,
    /// Told of bodies that go.
    pub islands: &'a mut IslandManager,
    /// Told of bodies that go.
    pub impulse_joints: &'a mut ImpulseJointSet,
    /// Told of bodies that go.
    pub multibody_joints: &'a mut MultibodyJointSet,
    /// Told of bodies that go.
    pub soft_bodies: &'a mut SoftBodySet,
}

impl<'a> From<&'a mut PhysicsWorld> for Engine<'a> {
    fn from(world: &'a mut PhysicsWorld) -> Self {
        Self {
            bodies: &mut world.bodies,
            colliders: &mut world.colliders,
            broad_phase: &world.broad_phase,
            narrow_phase: &world.narrow_phase,
            islands: &mut world.islands,
            impulse_joints: &mut world.impulse_joints,
            multibody_joints: &mut world.multibody_joints,
            soft_bodies: &mut world.soft_bodies,
        }
    }
}

impl Engine<'_> {
    fn remove(&mut self, body: RigidBodyHandle) -> Option<RigidBody> {
        self.bodies.remove(
            body,
            self.islands,
            self.colliders,
            self.impulse_joints,
            self.multibody_joints,
            self.soft_bodies,
            true,
        )
    }
}

/// Times of the stages of breaking after one step, in milliseconds, in stage order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BreakStages {
    /// From impulses to cracks.
    pub deciding: f64,
    /// Cutting tetrahedra and labelling nodes.
    pub cutting: f64,
    /// Mass, centre, inertia and box of every fragment.
    pub masses: f64,
    /// Surfaces, where the engine's own shapes need them at once; else they are made
    /// when somebody asks, and that is not told here.
    pub surfaces: f64,
    /// Updating the distance field; or building parry's shapes.
    pub field: f64,
    /// Splitting the sphere tree.
    pub tree: f64,
    /// Replacing bodies and colliders.
    pub replacing: f64,
    /// Trees for breaks of earlier steps, made since the last step: those that contacts
    /// asked for are in the collision's time as well.
    pub later: f64,
}

impl BreakStages {
    /// Deciding, cutting, weighing, surfaces.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn fracture(&self) -> f64 {
        self.deciding + self.cutting + self.masses + self.surfaces
    }

    /// Field and tree; or parry's shapes.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn update(&self) -> f64 {
        self.field + self.tree
    }

    /// All that breaks of this step cost in it.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn total(&self) -> f64 {
        self.fracture() + self.update() + self.replacing
    }
}

impl std::ops::AddAssign for BreakStages {
    fn add_assign(&mut self, other: Self) {
        self.deciding += other.deciding;
        self.cutting += other.cutting;
        self.masses += other.masses;
        self.surfaces += other.surfaces;
        self.field += other.field;
        self.tree += other.tree;
        self.replacing += other.replacing;
        self.later += other.later;
    }
}

/// What breaking did after one step, times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BreakReport {
    /// How long each stage took.
    pub stages: BreakStages,
    /// Kept up to date for measurements only (field and tree where parry's shapes
    /// are used): to be taken off the step's time.
    pub apart: f64,
    /// Bodies that broke.
    pub broken: usize,
    /// Bodies whose decision waits for the next step.
    pub waiting: usize,
    /// What it was worth, in nanoseconds at fixed rates; and of it, what could not wait.
    pub(crate) work: f64,
    pub(crate) least_work: f64,
    /// Parts that a step made again would have had.
    pub(crate) parts_spared: u32,
}

/// Which step, or part of one, was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct After {
    /// How long it was, in seconds.
    pub(crate) dt: f32,
    /// How much faster everything falls after a second (m/s^2).
    pub(crate) gravity: f32,
    /// Which part, where the step is made again; 0: it was not made before.
    pub(crate) part: u32,
    /// Whether it may be taken back where something broke.
    pub(crate) may_take_back: bool,
    /// What is left of the budget for breaking, and what a step of the engine takes, in
    /// nanoseconds of work at fixed rates; none: there is no budget.
    pub(crate) room: Option<(f64, f64)>,
}

impl After {
    /// A step in one part.
    pub(crate) fn whole(dt: f32, gravity: f32) -> Self {
        Self {
            dt,
            gravity,
            part: 0,
            may_take_back: true,
            room: None,
        }
    }
}

/// A body in the engine.
#[derive(Clone)]
pub(crate) struct Piece {
    pub(crate) body: RigidBodyHandle,
    pub(crate) collider: ColliderHandle,
    pub(crate) shape: FragmentShape,
    pub(crate) born: u64,
    pub(crate) anchored: bool,
    /// The step at which it is removed, once it fades.
    pub(crate) fading: Option<u64>,
    /// Whether it was made a fixed body because it lay still.
    pub(crate) frozen: bool,
}

/// An object and its pieces.
pub(crate) struct Object {
    pub(crate) shared: SharedObject,
    pub(crate) breaker: Option<Breaker>,
    pub(crate) options: Breakable,
    pub(crate) pieces: BTreeMap<FragmentId, Piece>,
    /// Every fracture so far: with the blueprint they tell the object's state.
    pub(crate) history: Vec<Fracture>,
}

impl Object {
    /// Lets go of what belonged to a fragment that was taken away; and with the last one of
    /// all that the object has become: a game that adds and clears away for hours must not
    /// grow by every break.
    fn forget(&mut self, fragment: FragmentId) {
        if let Some(breaker) = &mut self.breaker {
            breaker.forget(fragment);
        }
        if self.pieces.is_empty() {
            self.shared = self.options.blueprint.object().0;
            self.history = Vec::new();
        }
    }
}

/// Seconds since any fixed moment. It times stages and decides nothing.
pub(crate) type Clock = Box<dyn Fn() -> f64 + Send + Sync>;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn system_clock() -> Clock {
    let start = std::time::Instant::now();
    Box::new(move || start.elapsed().as_secs_f64())
}

#[cfg(target_arch = "wasm32")]
pub(crate) fn system_clock() -> Clock {
    // The page gives its own: see `World::set_clock`.
    Box::new(|| 0.0)
}

/// Objects that break, and which of an engine's bodies are their pieces.
pub struct Breakables {
    pub(crate) objects: Vec<Object>,
    pub(crate) owners: Owners,
    /// Born since the engine's last step: its broad phase does not know them.
    pub(crate) newborn: Vec<PieceId>,
    pub(crate) waiting: Vec<Waiting>,
    memories: Memories,
    /// Of the last step.
    pub(crate) loads: Loads,
    /// Those of the step that is being followed.
    loads_now: Loads,
    approach: Approach,
    /// Trees that are still to be made, and the step at which they are at the latest.
    pub(crate) late: Vec<(u64, Arc<LateTrees>)>,
    pub(crate) jobs: ModesJobs,
    /// What the game's own colliders are made of.
    pub(crate) materials: ColliderMaterials,
    pub(crate) steps: u64,
    /// Of the step that is made again.
    part: u32,
    /// Impulses of the step that was taken back.
    loads_before_redo: Loads,
    /// Raw: [`events::settle`] makes a batch of them.
    pub(crate) events: Vec<Event>,
    settings: BreakSettings,
    pub(crate) report: BreakReport,
    scripting: Scripting,
    /// Fragments made in the current step.
    new_fragments: usize,
    /// Pieces that must not be removed to make room: those in a hand.
    pub(crate) held: BTreeSet<PieceId>,
    /// Where debris is kept longest.
    pub(crate) focus: Option<Vec3>,
    /// How close boxes touch, and which way is up, as of the last step.
    touching: f32,
    up: Vec3,
    /// Changes fragments before they enter the world.
    pub(crate) on_fragment: Option<FragmentHook>,
    pub(crate) clock: Clock,
}

impl Breakables {
    /// None yet.
    #[must_use]
    pub fn new(settings: BreakSettings) -> Self {
        Self {
            objects: Vec::new(),
            owners: Owners::default(),
            newborn: Vec::new(),
            waiting: Vec::new(),
            memories: Memories::default(),
            loads: Loads::default(),
            loads_now: Loads::default(),
            approach: Approach::default(),
            late: Vec::new(),
            jobs: ModesJobs::default(),
            materials: ColliderMaterials::default(),
            steps: 0,
            part: 0,
            loads_before_redo: Loads::default(),
            events: Vec::new(),
            settings,
            report: BreakReport::default(),
            scripting: Scripting::Off,
            new_fragments: 0,
            held: BTreeSet::new(),
            focus: None,
            touching: 0.0,
            up: Vec3::Y,
            on_fragment: None,
            clock: system_clock(),
        }
    }

    /// Inserts the body and collider of a piece with this shape into the engine's sets.
    fn spawn_piece(
        &mut self,
        id: PieceId,
        (body, collider): (RigidBody, Collider),
        (shape, anchored): (FragmentShape, bool),
        (bodies, colliders): (&mut RigidBodySet, &mut ColliderSet),
    ) -> Piece {
        let body = bodies.insert(body);
        let collider = colliders.insert_with_parent(collider, body, bodies);
        weigh(body, bodies, colliders);
        self.owners.insert(collider, id);
        Piece {
            body,
            collider,
            shape,
            born: self.steps,
            anchored,
            fading: None,
            frozen: false,
        }
    }

    /// Adds an object: one body with one collider. Its box for the engine, and those of its
    /// pieces, are wider by `margin` on every side.
    pub fn add(
        &mut self,
        options: Breakable,
        margin: f32,
        bodies: &mut RigidBodySet,
        colliders: &mut ColliderSet,
    ) -> ObjectId {
        let id = PieceId {
            object: ObjectId(self.objects.len() as u32),
            fragment: FragmentId(0),
        };
        let (shared, shape) = options.blueprint.object();
        let shape = shape.with_margin(margin);
        let anchored = split::is_anchored(&shape, &options);
        let ahead = self.settings.look_ahead * shape.reach();
        let body = options
            .first_body(anchored, self.settings.sleep, ahead)
            .build();
        let engine_shape = match self.settings.contacts.parry_shape() {
            Some(kind) => options.blueprint.parry_shape(kind),
            None => SharedShape(Arc::new(shape.clone())),
        };
        let collider = options.first_collider(&shape, engine_shape).build();
        let piece = self.spawn_piece(id, (body, collider), (shape, anchored), (bodies, colliders));
        make_memory_ready(&self.memories, options.breaker.as_ref(), &options);
        self.objects.push(Object {
            shared,
            breaker: options.breaker.clone(),
            options,
            pieces: BTreeMap::from([(FragmentId(0), piece)]),
            history: Vec::new(),
        });
        self.newborn.push(id);
        self.events.push(Event::Born(id));
        id.object
    }

    /// Looks how fast bodies are before the engine's step of `dt` seconds. To be called by
    /// those who pile up many bodies or throw them: without it a load that comes suddenly
    /// counts as an impact, and what was thrown since the last step may pass through another
    /// piece in the first one.
    pub fn before_step(&mut self, dt: f32, bodies: &mut RigidBodySet) {
        self.look_ahead(dt, bodies);
        self.approach.note(bodies);
    }

    /// Follows a step of the engine: decide, cut, replace. Returns how the step is to be made
    /// again, if it was taken back.
    pub(crate) fn follow_step(&mut self, after: After, engine: &mut Engine<'_>) -> Option<Redo> {
        self.report = BreakReport::default();
        self.newborn.clear();
        self.make_late();
        self.part = 0;
        let start = (self.clock)();
        // Soft bodies cannot be put back.
        let may_take_back =
            after.may_take_back && self.approach.is_known() && engine.soft_bodies.is_empty();
        let mut redo = None;
        let follows = self.follows();
        if follows {
            redo = self.follow_script(may_take_back, after.dt, engine);
        } else {
            self.take_due_modes();
            let breaks = {
                let _span = trace::span("deciding", trace::plain);
                self.decide_breaks(&after, engine)
            };
            if may_take_back && breaks.iter().any(|b| b.of_this_step) {
                let mut taken_back = self.take_step_back(&breaks, after.dt, engine);
                taken_back.parts = self.affordable_parts(taken_back.parts, &after);
                redo = Some(taken_back);
            }
            self.report.stages.deciding += ((self.clock)() - start) * 1e3;
            let parts = redo.as_ref().map_or(0, |redo| redo.parts);
            let born = self.break_bodies(breaks, parts, engine);
            if let Some(redo) = &mut redo {
                redo.insert_born(&born, self);
            }
        }
        if let Some(redo) = &redo {
            if follows {
                self.loads_now.note(engine.narrow_phase);
            }
            self.loads_before_redo = std::mem::take(&mut self.loads_now);
            self.loads.scale(1.0 / redo.parts as f32);
        } else {
            self.end_step(after.dt, follows, engine);
        }
        redo
    }

    /// Follows a part of a step that is made again, in a copy of the engine's sets: what is hit
    /// there is decided in the next step.
    pub(crate) fn follow_part(&mut self, after: After, redo: &Redo, engine: &Engine<'_>) {
        self.report = BreakReport::default();
        self.part = after.part;
        if self.follows() {
            self.loads.note(engine.narrow_phase);
            return;
        }
        let start = (self.clock)();
        let _span = trace::span("deciding", trace::plain);
        self.wait_with_impacts(redo, &after, engine);
        std::mem::swap(&mut self.loads, &mut self.loads_now);
        self.report.stages.deciding += ((self.clock)() - start) * 1e3;
    }

    /// Ends a step of `dt` seconds that was made again.
    pub(crate) fn finish_redo(&mut self, dt: f32, redo: &Redo, engine: &mut Engine<'_>) {
        self.report = BreakReport::default();
        // Of a part, for those that the redo concerned; of the whole step, for all others.
        let mut parts = std::mem::take(&mut self.loads);
        parts.scale(redo.parts as f32);
        self.loads = std::mem::take(&mut self.loads_before_redo);
        self.loads.replace(parts, |collider| {
            let parent = engine.colliders.get(collider).and_then(|c| c.parent());
            parent.is_some_and(|body| redo.concerns(body))
        });
        if self.follows() {
            self.follow_script(false, dt, engine);
        }
        self.end_step(dt, false, engine);
    }

    fn end_step(&mut self, dt: f32, note_loads: bool, engine: &mut Engine<'_>) {
        self.look_ahead(dt, engine.bodies);
        if note_loads {
            self.loads.note(engine.narrow_phase);
        } else if self.part == 0 {
            std::mem::swap(&mut self.loads, &mut self.loads_now);
        }
        self.approach.forget();
        self.steps += 1;
        self.part = 0;
        self.new_fragments = 0;
    }

    /// Takes a body away.
    pub fn remove(&mut self, id: PieceId, engine: &mut Engine<'_>) -> bool {
        let Some(piece) = self.give_up(id) else {
            return false;
        };
        self.thaw_around(&[piece.collider], engine);
        engine.remove(piece.body);
        true
    }

    /// Forgets a piece and leaves what the engine has of it alone.
    pub(crate) fn give_up(&mut self, id: PieceId) -> Option<Piece> {
        let object = self.objects.get_mut(id.object.0 as usize)?;
        let piece = object.pieces.remove(&id.fragment)?;
        object.forget(id.fragment);
        self.owners.remove(piece.collider);
        Some(piece)
    }

    /// Returns the events since the last call; see [`Event`] for what holds of a batch.
    pub fn take_events(&mut self) -> Vec<Event> {
        let raw = std::mem::take(&mut self.events);
        events::settle(raw, |piece| self.piece(piece).is_some())
    }

    /// All bodies, in order of object and fragment.
    pub fn pieces(&self) -> impl Iterator<Item = PieceId> + '_ {
        self.all_pieces().map(|(id, _)| id)
    }

    /// All pieces with their ids, in order of object and fragment.
    pub(crate) fn all_pieces(&self) -> impl Iterator<Item = (PieceId, &Piece)> + '_ {
        (0..).zip(&self.objects).flat_map(|(o, object)| {
            object.pieces.iter().map(move |(&fragment, piece)| {
                let object = ObjectId(o);
                (PieceId { object, fragment }, piece)
            })
        })
    }

    /// Changes how bodies break from now on.
    pub(crate) fn set_settings(&mut self, settings: BreakSettings) {
        self.settings = settings;
    }

    /// Whether anything is left of an object.
    pub(crate) fn has_pieces(&self, object: ObjectId) -> bool {
        let object = self.objects.get(object.0 as usize);
        object.is_some_and(|o| !o.pieces.is_empty())
    }

    /// The engine's body of a piece.
    #[must_use]
    pub fn body(&self, piece: PieceId) -> Option<RigidBodyHandle> {
        self.piece(piece).map(|p| p.body)
    }

    /// The engine's collider of a piece.
    #[must_use]
    pub fn collider(&self, piece: PieceId) -> Option<ColliderHandle> {
        self.piece(piece).map(|p| p.collider)
    }

    /// The shape of a piece.
    #[must_use]
    pub fn shape(&self, piece: PieceId) -> Option<&FragmentShape> {
        self.piece(piece).map(|p| &p.shape)
    }

    /// The surface of a piece, in the object's frame: what a renderer shows.
    #[must_use]
    pub fn surface(&self, piece: PieceId) -> Option<&Arc<FragmentSurface>> {
        self.piece(piece).map(|p| p.shape.surface())
    }

    /// The piece behind a collider, if it is one of ours.
    #[must_use]
    pub fn piece_of(&self, collider: ColliderHandle) -> Option<PieceId> {
        self.owners.get(collider)
    }

    /// Changes how an object breaks from now on.
    pub fn set_breaker(&mut self, object: ObjectId, mut breaker: Option<Breaker>) {
        if let Some(object) = self.objects.get_mut(object.0 as usize) {
            // Damage belongs to the pieces.
            if let (Some(old), Some(new)) = (&object.breaker, &mut breaker) {
                old.damaged()
                    .for_each(|(id, damage)| new.set_damage(id, damage));
            }
            make_memory_ready(&self.memories, breaker.as_ref(), &object.options);
            object.breaker = breaker;
        }
    }

    /// How often impacts broke by modes, by a pattern, or not, over all objects.
    #[must_use]
    pub fn decisions(&self) -> BreakerStats {
        let mut sum = BreakerStats::default();
        for stats in self
            .objects
            .iter()
            .filter_map(|o| Some(o.breaker.as_ref()?.stats()))
        {
            sum.events += stats.events;
            sum.by_modes += stats.by_modes;
            sum.by_pattern += stats.by_pattern;
            sum.held += stats.held;
            sum.unbreakable += stats.unbreakable;
        }
        sum
    }

    /// Times stages by another clock (seconds since any fixed moment).
    pub fn set_clock(&mut self, clock: impl Fn() -> f64 + Send + Sync + 'static) {
        self.clock = Box::new(clock);
    }

    pub(crate) fn piece(&self, id: PieceId) -> Option<&Piece> {
        self.objects
            .get(id.object.0 as usize)?
            .pieces
            .get(&id.fragment)
    }

    fn piece_mut(&mut self, id: PieceId) -> Option<&mut Piece> {
        self.objects
            .get_mut(id.object.0 as usize)?
            .pieces
            .get_mut(&id.fragment)
    }
}

/// Takes the memory for the break of a whole object that decides by modes before it breaks.
fn make_memory_ready(memories: &Memories, breaker: Option<&Breaker>, options: &Breakable) {
    if breaker.is_some_and(|b| b.modes(FragmentId(0)).is_some()) {
        memories.make_ready(options.blueprint.mesh());
    }
}

/// Takes up a new body's mass at once: the engine does so in its next step only.
fn weigh(body: RigidBodyHandle, bodies: &mut RigidBodySet, colliders: &ColliderSet) {
    if let Some(body) = bodies.get_mut(body) {
        body.recompute_mass_properties_from_colliders(colliders);
    }
}

/// A piece's collider. Its mass is the fragment's own, whatever shape stands for it.
pub(crate) fn collider(
    shape: &FragmentShape,
    engine_shape: SharedShape,
    options: &Breakable,
) -> ColliderBuilder {
    use parry3d::shape::Shape as _;
    ColliderBuilder::new(engine_shape)
        .mass_properties(shape.mass_properties(options.density))
        .friction(options.friction)
        .restitution(options.restitution)
}

#[cfg(test)]
mod tests {
    use fracas_core::sphere_tree::BuildOptions;
    use fracas_core::testing::box_grid;
    use fracas_core::{FieldOptions, Fragments};
    use fracas_fracture::patterns::{VoronoiOptions, voronoi};
    use glam::Vec3;

    use super::*;
    use crate::Blueprint;
    use crate::world::{World, WorldSettings};

    #[test]
    fn the_state_of_an_object_goes_with_its_last_piece() {
        let mesh = Arc::new(box_grid([4, 3, 3], Vec3::new(0.4, 0.3, 0.3)));
        let options = (FieldOptions::default(), BuildOptions::default());
        let blueprint = Blueprint::build(mesh, &options.0, &options.1).unwrap();
        let mut world = World::new(WorldSettings::default());
        world.add(Breakable::new(Arc::new(blueprint)));
        let whole = world.pieces().next().unwrap();
        let is_whole = |fragments: &Fragments| {
            let labels = fragments.node_fragment();
            labels.iter().all(|&label| label == FragmentId(0))
        };
        let fracture = {
            let state = world.shape(whole).unwrap().object().read();
            voronoi(
                state.fragments(),
                whole.fragment,
                &VoronoiOptions::default(),
            )
            .unwrap()
        };
        let pieces = world.break_piece(whole, fracture);
        assert!(pieces.len() > 1);
        for piece in pieces {
            let object = &world.breakables.objects[0];
            assert!(!is_whole(object.shared.read().fragments()));
            assert_eq!(object.history.len(), 1);
            assert!(world.remove_piece(piece));
        }
        let object = &world.breakables.objects[0];
        assert!(is_whole(object.shared.read().fragments()));
        assert!(object.history.is_empty());
    }
}
