//! A world in which something happens: bodies, a script, and a place to look at.

use std::sync::Arc;

use fracas_fracture::Material;
use fracas_rapier::{Breakable, HandId, ObjectId, PieceId, World};
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder};

use super::SceneSettings;
use super::hand::{Grab, Replay};
use super::prop::{Prop, PropShape};
use super::template::Template;
use crate::skins::{Dressed, Skin, Worn};

/// What happens before a step, told for which time: bodies are dropped. Does the same
/// whenever it is asked to.
type Action = Box<dyn Fn(&mut Scene, u64) + Send>;

/// When something happens.
struct Event {
    first: u64,
    /// Steps from one time to the next; zero: once.
    period: u64,
    action: Action,
}

impl Event {
    /// Which time it is at a step, if it happens then.
    fn times(&self, now: u64) -> Option<u64> {
        let since = now.checked_sub(self.first)?;
        match self.period {
            0 => (since == 0).then_some(0),
            period => since.is_multiple_of(period).then(|| since / period),
        }
    }
}

/// What a ball loses in rolling, per second, where things are to come to rest: otherwise it
/// would roll on for ever.
const ROLLING: f32 = 3.0;

/// The colour of steel.
const STEEL: [u8; 3] = [92, 98, 112];

/// A world in which something happens.
pub struct Scene {
    name: String,
    world: World,
    steps: u64,
    events: Vec<Event>,
    hands: Vec<Replay>,
    view: (Vec3, Vec3),
    colours: Vec<[u8; 3]>,
    /// Whether an object is seen through.
    clear: Vec<bool>,
    props: Vec<Prop>,
    floor: f32,
    whole_triangles: usize,
    skins: Vec<Arc<Skin>>,
}

impl Scene {
    /// An empty world with a floor at height 0, to be looked at in the box `view`.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        settings: impl Into<SceneSettings>,
        steps: u64,
        view: (Vec3, Vec3),
    ) -> Self {
        let SceneSettings { step, world } = settings.into();
        Self {
            name: name.into(),
            world: World::new(world).with_dt(step),
            steps,
            events: Vec::new(),
            hands: Vec::new(),
            view,
            colours: Vec::new(),
            clear: Vec::new(),
            props: Vec::new(),
            floor: f32::NEG_INFINITY,
            whole_triangles: 0,
            skins: Vec::new(),
        }
    }

    /// Everything below the height `y` is solid.
    pub(super) fn floor(&mut self, y: f32, friction: f32) {
        self.world.add_floor(y, friction);
        self.floor = y;
    }

    /// Adds a body with its colour.
    pub fn add(&mut self, body: Breakable, colour: [u8; 3]) -> ObjectId {
        self.whole_triangles += body.blueprint.surface().triangles().len();
        let material = body.breaker.as_ref().map(|b| *b.material());
        let id = self.world.add(body);
        let at = id.0 as usize;
        self.colours.resize(at + 1, colour);
        self.colours[at] = colour;
        self.clear.resize(at + 1, false);
        self.clear[at] = material == Some(Material::GLASS);
        id
    }

    /// Adds a steel ball.
    pub(super) fn add_ball(&mut self, radius: f32, at: Vec3, velocity: Vec3) {
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .linvel(velocity)
            .ccd_enabled(true)
            .soft_ccd_prediction(self.world.settings().look_ahead_radii() * radius)
            .can_sleep(self.world.settings().sleep)
            .angular_damping(if self.world.settings().sleep {
                ROLLING
            } else {
                0.0
            });
        let collider = ColliderBuilder::ball(radius).density(7800.0).friction(0.4);
        let (body, _) = self.world.physics.insert(body, collider);
        self.props.push(Prop {
            shape: PropShape::Ball(radius),
            colour: STEEL,
            body,
        });
    }

    /// Adds a plain body of the engine that pictures show.
    pub(super) fn add_prop(
        &mut self,
        shape: PropShape,
        colour: [u8; 3],
        body: RigidBodyBuilder,
        collider: ColliderBuilder,
    ) {
        let (body, _) = self.world.physics.insert(body, collider);
        self.props.push(Prop {
            shape,
            colour,
            body,
        });
    }

    /// Before step `at`, this happens.
    pub(super) fn at(&mut self, at: u64, action: impl Fn(&mut Self) + Send + 'static) {
        self.every(at, 0, move |scene, _| action(scene));
    }

    /// Before step `first` and then every `period` steps (0: never again) this
    /// happens; it is told how often it has happened before.
    pub(super) fn every(
        &mut self,
        first: u64,
        period: u64,
        action: impl Fn(&mut Self, u64) + Send + 'static,
    ) {
        self.events.push(Event {
            first,
            period,
            action: Box::new(action),
        });
    }

    /// A hand does this.
    pub(super) fn grab(&mut self, grab: Grab) {
        self.hands.push(Replay::new(grab));
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Its world, to reach into.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// How many steps it is meant to run.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The box that a camera should show.
    #[must_use]
    pub fn view(&self) -> (Vec3, Vec3) {
        self.view
    }

    /// Height of the floor; minus infinity where there is none.
    #[must_use]
    pub fn floor_height(&self) -> f32 {
        self.floor
    }

    /// Whether an object is of glass, which pictures show as such.
    #[must_use]
    pub fn is_clear(&self, object: ObjectId) -> bool {
        self.clear.get(object.0 as usize).copied().unwrap_or(false)
    }

    /// The colour of an object (sRGB).
    #[must_use]
    pub fn colour(&self, object: ObjectId) -> [u8; 3] {
        self.colours
            .get(object.0 as usize)
            .copied()
            .unwrap_or([178, 172, 160])
    }

    /// Bodies of this kind are shown as round as they really are.
    pub fn wear(&mut self, template: &Template) {
        self.skins.extend(template.skin().cloned());
    }

    /// Whether anybody has looked at bodies as they really are.
    #[must_use]
    pub fn has_built_skins(&self) -> bool {
        self.skins.iter().any(|skin| skin.is_built())
    }

    /// A living piece as it really looks, where its tetrahedra are coarser.
    #[must_use]
    pub fn dressed(&self, piece: PieceId) -> Option<Dressed> {
        if let Some(worn) = self.worn(piece) {
            return Some(worn.plain());
        }
        let state = self.world.shape(piece)?.object().read();
        let fragments = state.fragments();
        let skin = self.skins.iter().find(|skin| skin.fits(fragments))?;
        skin.dress(fragments, piece.fragment)
    }

    /// A living piece of a user's model, in its materials and textures.
    #[must_use]
    pub fn worn(&self, piece: PieceId) -> Option<Arc<Worn>> {
        if !self.skins.iter().any(|skin| skin.is_model()) {
            return None;
        }
        let world = &self.world;
        let pieces = world.pieces().filter(|other| other.object == piece.object);
        let pieces: Vec<_> = pieces
            .filter_map(|other| Some((other, Arc::clone(world.surface(other)?))))
            .collect();
        let state = world.shape(piece)?.object().read();
        let fragments = state.fragments();
        let mut skins = self.skins.iter().filter(|skin| skin.is_model());
        let skin = skins.find(|skin| skin.fits(fragments))?;
        skin.worn(fragments, piece, &pieces)
    }

    /// Triangles of all objects that were added, as they were added: whole.
    #[must_use]
    pub fn whole_triangles(&self) -> usize {
        self.whole_triangles
    }

    /// Plain bodies to be shown, in the order they came.
    #[must_use]
    pub fn props(&self) -> &[Prop] {
        &self.props
    }

    /// Where a prop is.
    #[must_use]
    pub fn prop_pose(&self, prop: &Prop) -> Option<Pose> {
        let body = self.world.physics.bodies.get(prop.body)?;
        Some(*body.position())
    }

    /// Hands that hold something now.
    pub fn hands(&self) -> impl Iterator<Item = HandId> + '_ {
        self.hands.iter().filter_map(Replay::holds)
    }

    /// Whether the scene itself does something before the next step.
    #[must_use]
    pub fn acts(&self) -> bool {
        let now = self.world.steps();
        self.events.iter().any(|event| event.times(now).is_some())
    }

    /// From now on nothing happens by itself: no body is dropped, no hand comes.
    pub fn wait(&mut self) {
        self.events.clear();
        self.hands.clear();
    }

    /// Whether the scene itself does anything before the next step or a later one.
    #[must_use]
    pub fn has_more_to_come(&self) -> bool {
        let now = self.world.steps();
        let due = |event: &Event| event.period > 0 || event.first >= now;
        self.events.iter().any(due) || self.hands.iter().any(|hand| hand.is_due(&self.world))
    }

    /// One step, with what happens before it.
    pub fn step(&mut self) {
        self.step_with(&mut PhysicsWorld::step);
    }

    /// The same with an engine's step of one's own: see [`World::step_with`].
    pub fn step_with(&mut self, engine_step: &mut dyn FnMut(&mut PhysicsWorld)) {
        let now = self.world.steps();
        let events = std::mem::take(&mut self.events);
        for event in &events {
            if let Some(times) = event.times(now) {
                (event.action)(self, times);
            }
        }
        self.events = events;
        for hand in &mut self.hands {
            hand.step(&mut self.world);
        }
        self.world.step_with(engine_step);
    }
}
