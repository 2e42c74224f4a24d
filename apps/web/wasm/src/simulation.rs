//! What the page's worker calls: one world, its bodies, hands and views.

use std::collections::BTreeMap;

use fracas::FragmentId;
use fracas_fracture::{Breaker, Material};
use fracas_rapier::FragmentShape;
use fracas_rapier::world::{Coupling, Event, HandId, ObjectId, World};
use fracas_scenes::film;
use fracas_scenes::rigid::SceneOptions;
use glam::Vec3;
use js_sys::Function;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, RigidBodyHandle};
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::actors::Actors;
use crate::geometry::Geometry;
use crate::look::{self, Slice};
use crate::own;
use crate::stage::Stage;
use crate::tuning::{Memory, Tuning};

/// Balls shot at a time; the oldest is taken away for the next.
const MOST_BALLS: usize = 24;
/// Steel, in kg/m³.
const STEEL: f32 = 7800.0;
/// Steps from one saved state to the next: a break is undone to the last of them.
const SAVE_EVERY: u64 = 16;
/// How many breaks can be undone.
const MOST_UNDONE: usize = 8;
/// Steps that a hammer is there for.
const HAMMER_STEPS: u64 = 5;

/// A world and what the user does in it.
#[wasm_bindgen]
pub struct Simulation {
    stage: Stage,
    actors: Actors,
    balls: Vec<RigidBodyHandle>,
    hammers: Vec<(RigidBodyHandle, u64)>,
    tuning: Tuning,
    memory: Memory,
    /// Every object's breaker as the scene made it.
    breakers: BTreeMap<ObjectId, Breaker>,
    gone: Vec<u32>,
    hands: Vec<HandId>,
    /// The world as it began, where it could be saved.
    start: Option<Vec<u8>>,
    /// Whether breaks can be undone. Saving makes pairs forget single points, so a run
    /// that is to be compared with another does without.
    undoable: bool,
    /// The world of a few steps ago.
    recent: Option<Vec<u8>>,
    /// The world before each of the last breaks.
    past: Vec<Vec<u8>>,
}

fn teller(progress: &Function) -> impl FnMut(&'static str) + '_ {
    move |stage| {
        // A page that does not listen is no reason to stop.
        let _ = progress.call1(&JsValue::NULL, &JsValue::from_str(stage));
    }
}

#[wasm_bindgen]
impl Simulation {
    /// A scene by its name; `game`: bodies sleep, the engine keeps contacts, and breaks
    /// can be undone.
    ///
    /// # Errors
    /// When there is no such scene.
    pub fn of_scene(
        name: &str,
        seed: u32,
        game: bool,
        progress: &Function,
    ) -> Result<Simulation, JsError> {
        let options = SceneOptions {
            seed: u64::from(seed),
            measured: !game,
            ..SceneOptions::default()
        };
        let stage = Stage::scene(name, &options, &mut teller(progress));
        let made = Self::new(stage.map_err(|e| JsError::new(&e.to_string()))?);
        Ok(Self {
            undoable: game,
            ..made
        })
    }

    /// A mesh file of the user's own.
    ///
    /// # Errors
    /// When it cannot be read, filled or broken: a sentence that says why.
    pub fn of_mesh(
        file: &str,
        bytes: &[u8],
        material: &str,
        progress: &Function,
    ) -> Result<Simulation, JsError> {
        let material = Material::by_name(material).unwrap_or(Material::EARTHENWARE);
        let stage = own::build(file, bytes, material, &mut teller(progress));
        Ok(Self::new(stage.map_err(|e| JsError::new(&e))?))
    }

    /// Name, camera box and step as JSON.
    #[must_use]
    pub fn info(&self) -> String {
        let (low, high) = self.stage.view();
        serde_json::json!({
            "name": self.stage.name(),
            "low": low.to_array(),
            "high": high.to_array(),
            "step": self.world().settings().step,
        })
        .to_string()
    }

    /// One step; returns how many bodies broke.
    pub fn step(&mut self) -> u32 {
        if self.undoable && self.world().steps().is_multiple_of(SAVE_EVERY) {
            self.recent = self.world().snapshot().ok();
        }
        self.stage.step();
        let mut broke = 0;
        for event in self.stage.world_mut().take_events() {
            match event {
                Event::Broke { .. } => broke += 1,
                Event::Born(piece) if piece.fragment == FragmentId(0) => self.meet(piece.object),
                _ => {}
            }
        }
        let now = self.world().steps();
        let spent: Vec<_> = self.hammers.extract_if(.., |h| h.1 <= now).collect();
        for (hammer, _) in spent {
            self.stage.world_mut().physics.remove_body(hammer);
        }
        if broke > 0
            && let Some(before) = self.recent.take()
        {
            self.past.push(before);
            if self.past.len() > MOST_UNDONE {
                self.past.remove(0);
            }
        }
        broke
    }

    /// Looks who is there; returns the numbers of those that came.
    pub fn look(&mut self) -> Vec<u32> {
        self.actors.look(&self.stage);
        let (born, gone) = self.actors.take();
        self.gone = gone;
        born
    }

    /// The numbers of those that went, by the last look.
    #[must_use]
    pub fn gone(&self) -> Vec<u32> {
        self.gone.clone()
    }

    /// Number and pose of all bodies, eight numbers each.
    #[must_use]
    pub fn poses(&self) -> Vec<f32> {
        self.actors.poses(&self.stage)
    }

    /// What a body is, as JSON; `null` where there is none.
    #[must_use]
    pub fn describe(&self, number: u32) -> String {
        self.actors
            .describe(number, &self.stage)
            .unwrap_or(serde_json::Value::Null)
            .to_string()
    }

    /// The triangles of a piece; none where it is no piece.
    #[must_use]
    pub fn geometry(&self, number: u32) -> Geometry {
        self.actors
            .piece(number)
            .and_then(|piece| self.world().surface(piece))
            .map(|surface| Geometry::of(surface))
            .unwrap_or_default()
    }

    /// The last step, see [`film::numbers`].
    #[must_use]
    pub fn stats(&self) -> Vec<f64> {
        film::numbers(self.world().stats()).to_vec()
    }

    /// The world's digest, as hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        format!("{:016x}", self.world().digest())
    }

    /// See [`film::contacts`].
    #[must_use]
    pub fn contacts(&self) -> Vec<f32> {
        film::contacts(self.world())
    }

    /// See [`look::spheres`].
    #[must_use]
    pub fn spheres(&self, number: u32, level: u8) -> Vec<f32> {
        self.shown(number, |s| look::spheres(s.tree().spheres(), level))
    }

    /// See [`look::tets`].
    #[must_use]
    pub fn tets(&self, number: u32) -> Vec<f32> {
        self.shown(number, |shape| {
            let (mesh, tets) = film::whole_tets(shape);
            look::tets(mesh.positions(), &tets)
        })
    }

    /// See [`look::voxels`].
    #[must_use]
    pub fn voxels(&self, number: u32, level: u8) -> Vec<f32> {
        self.shown(number, |shape| {
            let surface = shape.surface();
            look::voxels(surface.positions(), surface.triangles(), level.into())
        })
    }

    /// Signed distances on a rectangle: `corners` holds its origin and two sides.
    #[must_use]
    pub fn field_slice(&self, corners: &[f32], width: u32, height: u32, reach: f32) -> Vec<f32> {
        let &[a, b, c, d, e, f, g, h, i] = corners else {
            return Vec::new();
        };
        let slice = Slice {
            origin: Vec3::new(a, b, c),
            across: Vec3::new(d, e, f),
            along: Vec3::new(g, h, i),
            size: [width.min(1024) as usize, height.min(1024) as usize],
        };
        look::field_slice(self.world(), &slice, reach)
    }

    /// Takes hold of a piece at a point of its own frame; the hand's number.
    pub fn grab(&mut self, number: u32, x: f32, y: f32, z: f32) -> Option<u32> {
        let piece = self.actors.piece(number)?;
        let world = self.stage.world_mut();
        let mass = world.body(piece)?.mass();
        let point = world.pose(piece)? * Vec3::new(x, y, z);
        // Critically damped at 3.5 turns a second, whatever the body weighs.
        let coupling = Coupling {
            stiffness: 480.0 * mass,
            damping: 44.0 * mass,
            angular_stiffness: 0.0,
            angular_damping: 0.01 * mass,
            most_force: 400.0 * mass,
        };
        let hand = world.grab(piece, point, coupling)?;
        self.hands.push(hand);
        Some(hand.0)
    }

    /// Moves a hand to a place of the world.
    pub fn move_hand(&mut self, hand: u32, x: f32, y: f32, z: f32) {
        let to = Pose::from_translation(Vec3::new(x, y, z));
        self.stage.world_mut().move_hand(HandId(hand), to);
    }

    /// Lets go.
    pub fn release(&mut self, hand: u32) {
        self.hands.retain(|h| h.0 != hand);
        self.stage.world_mut().release(HandId(hand));
    }

    /// Shoots a steel ball: place and velocity, six numbers; radius in metres.
    pub fn shoot(&mut self, path: &[f32], radius: f32) {
        let &[x, y, z, u, v, w] = path else { return };
        if self.balls.len() == MOST_BALLS {
            let oldest = self.balls.remove(0);
            self.stage.world_mut().physics.remove_body(oldest);
        }
        let ball = self.ball(Vec3::new(x, y, z), Vec3::new(u, v, w), radius);
        self.balls.push(ball);
    }

    /// Hits a piece with a small hammer at a point of its own frame, against the
    /// outward `normal` there: six numbers; speed in metres per second.
    pub fn hit(&mut self, number: u32, at: &[f32], speed: f32, radius: f32) {
        let &[x, y, z, u, v, w] = at else { return };
        let piece = self.actors.piece(number);
        let Some(pose) = piece.and_then(|p| self.world().pose(p)) else {
            return;
        };
        let normal = (pose.rotation * Vec3::new(u, v, w)).normalize_or(Vec3::Y);
        let place = pose * Vec3::new(x, y, z) + normal * (1.1 * radius);
        let hammer = self.ball(place, -normal * speed, radius);
        let until = self.world().steps() + HAMMER_STEPS;
        self.hammers.push((hammer, until));
    }

    /// Whether there is a break to undo.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Goes back to a few steps before the last break; whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(before) = self.past.pop() else {
            return false;
        };
        self.recent = None;
        self.go_back(&before)
    }

    /// Goes back to the start, without preparing anything again; whether it could.
    pub fn reset(&mut self) -> bool {
        let Some(start) = self.start.take().filter(|_| !self.stage.is_held()) else {
            return false;
        };
        let done = self.go_back(&start);
        self.start = Some(start);
        self.recent = None;
        self.past.clear();
        done
    }

    /// Another material (`""`: the scene's own), strength and toughness times
    /// `strength`, and whether pieces break again.
    ///
    /// # Errors
    /// When there is no such material.
    pub fn tune(&mut self, material: &str, strength: f64, again: bool) -> Result<(), JsError> {
        let material = match material {
            "" => None,
            name => Some(Material::by_name(name).map_err(|e| JsError::new(&e.to_string()))?),
        };
        self.tuning = Tuning {
            material,
            strength: strength.clamp(0.01, 100.0),
            again,
        };
        self.memory = Memory::default();
        let all: Vec<ObjectId> = self.breakers.keys().copied().collect();
        for object in all {
            self.tune_object(object);
        }
        Ok(())
    }
}

impl Simulation {
    /// A simulation of a stage, nothing done yet.
    #[must_use]
    pub fn new(stage: Stage) -> Self {
        let mut new = Self {
            stage,
            actors: Actors::default(),
            balls: Vec::new(),
            hammers: Vec::new(),
            tuning: Tuning::default(),
            memory: Memory::default(),
            breakers: BTreeMap::new(),
            gone: Vec::new(),
            hands: Vec::new(),
            start: None,
            undoable: true,
            recent: None,
            past: Vec::new(),
        };
        new.start = new.world().snapshot().ok();
        for event in new.stage.world_mut().take_events() {
            if let Event::Born(piece) = event {
                new.meet(piece.object);
            }
        }
        new
    }

    fn world(&self) -> &World {
        self.stage.world()
    }

    /// Becomes a saved world, everything in it new to the page, nothing held.
    fn go_back(&mut self, saved: &[u8]) -> bool {
        let world = self.stage.world_mut();
        if world.restore(saved).is_err() {
            return false;
        }
        for hand in self.hands.drain(..) {
            world.release(hand);
        }
        let there = |body: &RigidBodyHandle| world.physics.bodies.contains(*body);
        self.balls.retain(there);
        self.hammers.retain(|(hammer, _)| there(hammer));
        self.actors.forget();
        let all: Vec<ObjectId> = self.breakers.keys().copied().collect();
        for object in all {
            self.tune_object(object);
        }
        true
    }

    fn shown(&self, number: u32, of: impl Fn(&FragmentShape) -> Vec<f32>) -> Vec<f32> {
        self.actors
            .piece(number)
            .and_then(|piece| self.world().shape(piece))
            .map(of)
            .unwrap_or_default()
    }

    /// A new object: keeps its breaker and tunes it.
    fn meet(&mut self, object: ObjectId) {
        if let Some(breaker) = self.world().breaker(object) {
            self.breakers.insert(object, breaker.clone());
            if self.tuning != Tuning::default() {
                self.tune_object(object);
            }
        }
    }

    fn tune_object(&mut self, object: ObjectId) {
        let own = &self.breakers[&object];
        let tuned = self.tuning.apply(own, &mut self.memory);
        let density = tuned.material().density as f32;
        let world = self.stage.world_mut();
        world.set_breaker(object, Some(tuned));
        world.set_density(object, density);
    }

    fn ball(&mut self, place: Vec3, velocity: Vec3, radius: f32) -> RigidBodyHandle {
        let body = RigidBodyBuilder::dynamic()
            .translation(place)
            .linvel(velocity)
            .ccd_enabled(true);
        let collider = ColliderBuilder::ball(radius).density(STEEL).friction(0.4);
        self.stage.world_mut().physics.insert(body, collider).0
    }
}
