//! What the page's worker calls: one world, its bodies, hands and views.

use std::collections::BTreeMap;

use fracas_core::FragmentId;
use fracas_fracture::{Breaker, Material};
use fracas_rapier::{Coupling, Event, FragmentShape, HandId, ObjectId, PieceId, World};
use fracas_scenes::film::{self, Film, Filming};
use fracas_scenes::rigid::SceneOptions;
use glam::Vec3;
use js_sys::Function;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, RigidBodyHandle};
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::actors::Actors;
use crate::by_hand::{self, Cut};
use crate::geometry::Geometry;
use crate::impacts::Ear;
use crate::look::{self, Slice};
use crate::own;
use crate::stage::Stage;
use crate::take_home;
use crate::tuning::{Memory, Tuning};

/// Balls shot at a time; the oldest is taken away for the next.
const MOST_BALLS: usize = 24;
/// Steel, in kg/m³.
const STEEL: f32 = 7800.0;
/// What a ball loses in rolling, per second: otherwise it would roll on for ever.
const ROLLING: f32 = 3.0;
/// Steps from one saved state to the next: a break is undone to the last of them.
const SAVE_EVERY: u64 = 16;
/// How many breaks can be undone.
const MOST_UNDONE: usize = 8;
/// Of a hand's band, in newtons per metre and kilogram that it holds.
const STIFFNESS: f32 = 480.0;
/// Of the same, in newton-seconds per metre and kilogram.
const DAMPING: f32 = 44.0;
/// A film of more bytes than this would not fit into the page.
const MOST_FILMED: usize = 400_000_000;
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
    hands: Vec<Hold>,
    /// The world as it began, where it could be saved.
    start: Option<Vec<u8>>,
    /// Whether breaks can be undone.
    undoable: bool,
    /// The world of a few steps ago.
    recent: Option<Past>,
    /// The world before each of the last breaks.
    past: Vec<Past>,
    /// Milliseconds that saving took before the last step.
    saving: f64,
    ear: Ear,
    filming: Option<Filming>,
    /// Bytes of the film so far, about.
    filmed: usize,
}

/// A world as it was, what was shot into it, and who held something.
struct Past {
    world: Vec<u8>,
    hands: Vec<Hold>,
    balls: Vec<RigidBodyHandle>,
    hammers: Vec<(RigidBodyHandle, u64)>,
}

/// A hand of the page's.
#[derive(Clone, Copy)]
struct Hold {
    hand: HandId,
    /// The grabbed point, in the object's frame.
    grip: Vec3,
    /// What it was made strong for.
    mass: f32,
}

fn teller(progress: &Function) -> impl FnMut(&str) + '_ {
    move |stage| {
        // A page that does not listen is no reason to stop.
        let _ = progress.call1(&JsValue::NULL, &JsValue::from_str(stage));
    }
}

#[wasm_bindgen]
impl Simulation {
    /// A scene by its name; `game`: bodies sleep, the engine keeps contacts, breaks can be
    /// undone, and a scene too large for a browser is smaller. `budget_ms`: what a step may
    /// cost, in milliseconds of work (`WorldSettings::step_budget`); none: whatever it costs.
    ///
    /// # Errors
    /// When there is no such scene.
    pub fn of_scene(
        name: &str,
        seed: u32,
        game: bool,
        budget_ms: Option<f32>,
        progress: &Function,
    ) -> Result<Simulation, JsError> {
        let options = SceneOptions {
            seed: u64::from(seed),
            measured: !game,
            step_budget: budget_ms.map(|ms| 1e-3 * ms),
            ..SceneOptions::default()
        };
        let stage = Stage::scene(name, &options, &mut teller(progress));
        let made = Self::new(stage.map_err(|e| JsError::new(&e.to_string()))?);
        let undoable = game && made.stage.game().is_none();
        Ok(Self { undoable, ..made })
    }

    /// A mesh file of the user's own; `budget_ms` as for a scene.
    ///
    /// # Errors
    /// When it cannot be read, filled or broken: a sentence that says why.
    pub fn of_mesh(
        file: &str,
        bytes: &[u8],
        material: &str,
        budget_ms: Option<f32>,
        progress: &Function,
    ) -> Result<Simulation, JsError> {
        let material = Material::by_name(material).unwrap_or(Material::EARTHENWARE);
        let budget = budget_ms.map(|ms| 1e-3 * ms);
        let stage = own::build(file, bytes, material, budget, &mut teller(progress));
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
            "step": self.world().dt(),
        })
        .to_string()
    }

    /// Whether something is still to be computed before the first step: see
    /// [`Simulation::get_ready`].
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.stage.lacks_modes()
    }

    /// Computes what could wait until the world is seen. The first step does it, too.
    pub fn get_ready(&mut self) {
        if !self.is_late() {
            return;
        }
        let breakers = self.breakers.iter_mut().map(|(&object, b)| (object, b));
        self.stage.compute_modes(breakers);
        self.tune_all();
    }

    /// One step; returns how many bodies broke.
    pub fn step(&mut self) -> u32 {
        self.get_ready();
        self.saving = 0.0;
        if self.undoable && self.world().steps().is_multiple_of(SAVE_EVERY) {
            let start = web_time::Instant::now();
            self.recent = self.world().snapshot().ok().map(|world| Past {
                world,
                hands: self.hands.clone(),
                balls: self.balls.clone(),
                hammers: self.hammers.clone(),
            });
            self.saving = 1e3 * start.elapsed().as_secs_f64();
        }
        self.stage.step();
        let mut broke = 0;
        for event in self.stage.world_mut().take_events() {
            match event {
                Event::Broke {
                    piece,
                    children,
                    stats,
                } => {
                    broke += 1;
                    // What broke in its first step was not born before.
                    if !self.breakers.contains_key(&piece.object) {
                        self.meet(piece.object);
                    }
                    let world = self.stage.world();
                    self.ear.hear_break(world, &children, &stats);
                }
                Event::Born(piece) if piece.fragment == FragmentId(0) => self.meet(piece.object),
                _ => {}
            }
        }
        self.ear.hear_contacts(self.stage.world());
        let now = self.world().steps();
        let spent: Vec<_> = self.hammers.extract_if(.., |h| h.1 <= now).collect();
        for (hammer, _) in spent {
            self.stage.world_mut().physics.remove_body(hammer);
        }
        if broke > 0 {
            self.note_break();
        }
        self.film_frame();
        broke
    }

    /// Whether contacts are listened to, see [`Simulation::impacts`].
    pub fn listen(&mut self, on: bool) {
        self.ear.open = on;
    }

    /// What could be heard since it was asked for last; see [`crate::impacts::NUMBERS`].
    pub fn impacts(&mut self) -> Vec<f32> {
        self.ear.take()
    }

    /// Films what happens from now on.
    pub fn film(&mut self) {
        self.filming = Some(Filming::new(self.stage.as_scene()));
        self.filmed = 0;
    }

    /// Whether the film has become too large to go on.
    #[must_use]
    pub fn is_film_full(&self) -> bool {
        self.filmed > MOST_FILMED
    }

    /// The film so far as a recording that this page and `fracas view` play.
    pub fn film_bytes(&mut self) -> Vec<u8> {
        self.finish_film().to_bytes()
    }

    /// The film so far as animated binary glTF.
    ///
    /// # Errors
    /// When nothing was filmed.
    pub fn film_glb(&mut self) -> Result<Vec<u8>, JsError> {
        take_home::film_glb(&self.finish_film()).map_err(|e| JsError::new(&e.to_string()))
    }

    /// How many steps were made since the world began.
    #[must_use]
    pub fn steps(&self) -> f64 {
        self.world().steps() as f64
    }

    /// Whether nothing moves, nothing is held and nothing is to come: a step more would
    /// change nothing.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let world = self.world();
        self.hands.is_empty()
            && self.hammers.is_empty()
            && !self.stage.has_more_to_come()
            && world.stats().breaks_waiting == 0
            && world
                .physics
                .bodies
                .iter()
                .all(|(_, body)| !body.is_dynamic() || body.is_sleeping())
    }

    /// The pieces as they lie, as binary glTF.
    ///
    /// # Errors
    /// When there are none.
    pub fn pieces_glb(&self) -> Result<Vec<u8>, JsError> {
        take_home::glb(&self.stage).map_err(|e| JsError::new(&e.to_string()))
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
        let mut body = self
            .actors
            .describe(number, &self.stage)
            .unwrap_or(serde_json::Value::Null);
        if body["kind"] == "piece" {
            // The scene's own colours hold for the scene's own materials.
            let own = self.stage.is_own();
            body["dyed"] = (self.tuning.material.is_none() && !own).into();
            body["chosen"] = self.tuning.material.is_some().into();
        }
        body.to_string()
    }

    /// The looks of a model of the user's own: its materials as JSON, `null` where it has
    /// none. See [`OwnLook::describe`](crate::own_look::OwnLook::describe).
    #[must_use]
    pub fn looks(&self) -> String {
        let look = self.stage.own_look();
        look.map_or_else(|| "null".into(), |look| look.describe().to_string())
    }

    /// The file of a picture that `looks` names; empty where there is none.
    #[must_use]
    pub fn picture(&self, number: u32) -> Vec<u8> {
        let look = self.stage.own_look();
        look.map_or_else(Vec::new, |look| look.picture(number as usize))
    }

    /// The triangles of a piece; none where it is no piece.
    #[must_use]
    pub fn geometry(&self, number: u32) -> Geometry {
        let piece = self.actors.piece(number);
        match piece.and_then(|piece| self.stage.dressed(piece)) {
            Some(seen) => Geometry::dressed(&seen),
            None => self.plain_geometry(number),
        }
    }

    /// The triangles of a piece as its tetrahedra have them, a quarter as many: for a page
    /// that is drawn without a graphics card.
    #[must_use]
    pub fn plain_geometry(&self, number: u32) -> Geometry {
        let Some(piece) = self.actors.piece(number) else {
            return Geometry::default();
        };
        if let Some(geometry) = self.stage.of_model(piece) {
            return geometry;
        }
        let surface = self.world().surface(piece);
        surface.map_or_else(Geometry::default, |surface| Geometry::of(surface))
    }

    /// The last step, see [`film::numbers`], and the milliseconds that saving it for undo
    /// took, which are in its total.
    #[must_use]
    pub fn stats(&self) -> Vec<f64> {
        let mut numbers = film::numbers(self.world().stats());
        numbers[5] += self.saving;
        [&numbers[..], &[self.saving]].concat()
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
    pub fn grab(&mut self, object: u32, fragment: u32, x: f32, y: f32, z: f32) -> Option<u32> {
        let piece = piece_id(object, fragment);
        if let Some((game, world)) = self.stage.play()
            && !game.may_grab(world)
        {
            return None;
        }
        let world = self.stage.world_mut();
        let mass = world.body(piece)?.mass();
        let point = world.pose(piece)? * Vec3::new(x, y, z);
        // Critically damped at 3.5 turns a second, whatever the body weighs.
        let coupling = Coupling {
            stiffness: STIFFNESS * mass,
            damping: DAMPING * mass,
            angular_stiffness: 0.0,
            angular_damping: 0.01 * mass,
            most_force: 400.0 * mass,
        };
        let hand = world.grab(piece, point, coupling)?;
        let grip = Vec3::new(x, y, z);
        self.hands.push(Hold { hand, grip, mass });
        Some(hand.0)
    }

    /// Moves a hand to a place of the world.
    pub fn move_hand(&mut self, hand: u32, x: f32, y: f32, z: f32) {
        let held = self.hands.iter().find(|h| h.hand.0 == hand);
        let lift = held.and_then(|h| self.lift(h)).unwrap_or(Vec3::ZERO);
        let place = Vec3::new(x, y, z);
        let place = self.stage.game().map_or(place, |game| game.hand(place));
        let to = Pose::from_translation(place + lift);
        self.stage.world_mut().move_hand(HandId(hand), to);
    }

    /// Lets go.
    pub fn release(&mut self, hand: u32) {
        self.hands.retain(|h| h.hand.0 != hand);
        self.stage.world_mut().release(HandId(hand));
    }

    /// Shoots a steel ball: place and velocity, six numbers; radius in metres. Whether that
    /// may be: games have rules.
    pub fn shoot(&mut self, path: &[f32], radius: f32) -> bool {
        let &[x, y, z, u, v, w] = path else {
            return false;
        };
        let (mut path, mut radius) = ([Vec3::new(x, y, z), Vec3::new(u, v, w)], radius);
        let view = self.stage.view();
        if let Some((game, world)) = self.stage.play() {
            let Some(allowed) = game.shot(world, view, path) else {
                return false;
            };
            (path, radius) = allowed;
        }
        if self.balls.len() == MOST_BALLS {
            let oldest = self.balls.remove(0);
            self.stage.world_mut().physics.remove_body(oldest);
        }
        let ball = self.ball(path[0], path[1], radius);
        self.balls.push(ball);
        true
    }

    /// How the game stands as JSON, `null` where none is played.
    #[must_use]
    pub fn game(&self) -> String {
        let game = self.stage.game().map(|g| g.describe(self.world()));
        game.unwrap_or(serde_json::Value::Null).to_string()
    }

    /// Hits a piece with a small hammer at a point of its own frame, against the
    /// outward `normal` there: six numbers; speed in metres per second.
    pub fn hit(&mut self, object: u32, fragment: u32, at: &[f32], speed: f32, radius: f32) {
        let &[x, y, z, u, v, w] = at else { return };
        if self.stage.game().is_some() {
            return; // A game is not won by a hammer.
        }
        let Some(pose) = self.world().pose(piece_id(object, fragment)) else {
            return;
        };
        let normal = (pose.rotation * Vec3::new(u, v, w)).normalize_or(Vec3::Y);
        let place = pose * Vec3::new(x, y, z) + normal * (1.1 * radius);
        let hammer = self.ball(place, -normal * speed, radius);
        let until = self.world().steps() + HAMMER_STEPS;
        self.hammers.push((hammer, until));
    }

    /// Breaks a piece by a pattern (see [`crate::patterns`]) into about so many, around a
    /// point of its own frame, inwards against the `normal` there: six numbers. How many
    /// pieces it is now; none where it does not come apart.
    pub fn shatter(
        &mut self,
        object: u32,
        fragment: u32,
        pattern: &str,
        pieces: u32,
        seed: u32,
        at: &[f32],
    ) -> u32 {
        let pattern = by_hand::PATTERNS.iter().find(|(name, _)| *name == pattern);
        let (Some(&(_, pattern)), &[x, y, z, u, v, w]) = (pattern, at) else {
            return 0;
        };
        if self.stage.game().is_some() {
            return 0; // Things are in a game what they are.
        }
        let (at, normal) = (Vec3::new(x, y, z), Vec3::new(u, v, w));
        let (world, piece) = (self.stage.world_mut(), piece_id(object, fragment));
        let made = by_hand::shatter(world, piece, (pattern, pieces, seed), at, -normal);
        if made > 0 {
            self.note_break();
        }
        made as u32
    }

    /// Cuts all that a line on the screen crosses: the place of the eye and the directions
    /// of both ends of the line, nine numbers. How many pieces were cut.
    pub fn cut(&mut self, sight: &[f32]) -> u32 {
        let &[a, b, c, d, e, f, g, h, i] = sight else {
            return 0;
        };
        let ends = [Vec3::new(d, e, f), Vec3::new(g, h, i)];
        let cut = Cut::new(Vec3::new(a, b, c), ends).filter(|_| self.stage.game().is_none());
        let made = cut.map_or(0, |cut| by_hand::cut(self.stage.world_mut(), &cut));
        if made > 0 {
            self.note_break();
        }
        made as u32
    }

    /// Whether there is a break to undo.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty() && self.stage.game().is_none()
    }

    /// Goes back to a few steps before the last break; whether there was one.
    pub fn undo(&mut self) -> bool {
        if self.stage.game().is_some() {
            return false;
        }
        let Some(before) = self.past.pop() else {
            return false;
        };
        self.recent = None;
        self.hands = before.hands;
        self.balls = before.balls;
        self.hammers = before.hammers;
        self.go_back(&before.world)
    }

    /// Goes back to the start, without preparing anything again; whether it could.
    pub fn reset(&mut self) -> bool {
        let Some(start) = self.start.take().filter(|_| !self.stage.is_held()) else {
            return false;
        };
        let done = self.go_back(&start);
        if let Some((game, _)) = self.stage.play() {
            game.reset();
        }
        self.balls.clear();
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
        if self.stage.game().is_some() {
            return Ok(()); // Things are in a game what they are.
        }
        let material = match material {
            "" => None,
            name => Some(Material::by_name(name).map_err(|e| JsError::new(&e.to_string()))?),
        };
        if self.tuning.material != material {
            // It looks otherwise, too: everything is new to the page.
            self.actors.forget();
        }
        self.tuning = Tuning {
            material,
            strength: strength.clamp(0.01, 100.0),
            again,
        };
        self.tune_all();
        Ok(())
    }
}

/// A piece by its two numbers, which are the same in every run.
fn piece_id(object: u32, fragment: u32) -> PieceId {
    PieceId {
        object: ObjectId(object),
        fragment: FragmentId(fragment),
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
            saving: 0.0,
            ear: Ear::default(),
            filming: None,
            filmed: 0,
        };
        new.start = new.world().snapshot().ok();
        for event in new.stage.world_mut().take_events() {
            if let Event::Born(piece) = event {
                new.meet(piece.object);
            }
        }
        new
    }

    /// Where it happens.
    #[must_use]
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Its world.
    #[must_use]
    pub fn world(&self) -> &World {
        self.stage.world()
    }

    /// Something broke: the world of a few steps ago is what it can be undone to.
    fn note_break(&mut self) {
        if let Some(before) = self.recent.take() {
            self.past.push(before);
            if self.past.len() > MOST_UNDONE {
                self.past.remove(0);
            }
        }
    }

    /// Becomes a saved world, everything in it new to the page, nothing held. Breakers are
    /// those of now, and so have their modes, also where they were saved without.
    fn go_back(&mut self, saved: &[u8]) -> bool {
        let world = self.stage.world_mut();
        if world.restore(saved).is_err() {
            return false;
        }
        for held in self.hands.drain(..) {
            world.release(held.hand);
        }
        let there = |body: &RigidBodyHandle| world.physics.bodies.contains(*body);
        self.balls.retain(there);
        self.hammers.retain(|(hammer, _)| there(hammer));
        self.actors.forget();
        self.ear.forget();
        self.tune_all();
        true
    }

    fn film_frame(&mut self) {
        let Some(filming) = &mut self.filming else {
            return;
        };
        filming.frame(self.stage.as_scene());
        let world = self.stage.world();
        // A contact is eight numbers, a pose seven.
        self.filmed +=
            32 * world.stats().solver_contacts as usize + 28 * world.physics.bodies.len();
    }

    fn finish_film(&mut self) -> Film {
        self.filmed = 0;
        self.filming
            .take()
            .map_or_else(Film::default, Filming::finish)
    }

    /// By how much a hand must be higher, so that what hangs on its band hangs at the place:
    /// the stretch under the body's weight, as the band is softened by the step.
    fn lift(&self, held: &Hold) -> Option<Vec3> {
        let world = self.world();
        let (dt, gravity) = (world.dt(), world.settings().gravity);
        let piece = world.held_piece(held.hand)?;
        let body = world.body(piece)?;
        let arm = world.pose(piece)? * held.grip - body.center_of_mass();
        let inertia = body.mass_properties().effective_world_inv_inertia;
        let spread: f32 = [Vec3::X, Vec3::Y, Vec3::Z]
            .map(|axis| (inertia * axis).length())
            .iter()
            .sum();
        let inverse_mass = 1.0 / body.mass().max(1e-9) + spread * arm.length_squared();
        let (stiffness, damping) = (
            STIFFNESS * held.mass,
            (DAMPING + STIFFNESS * dt) * held.mass,
        );
        // The hand pulls at the beginning of a step, gravity in each of its parts: what hangs
        // still falls a little when the hand looks.
        let parts = world.physics.integration_parameters.num_solver_iterations as f32;
        let falling = 0.5 * dt * (1.0 - 1.0 / parts);
        let weight = body.mass() * (1.0 + damping * dt * inverse_mass) - damping * falling;
        Some(-gravity * (weight / stiffness))
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

    /// Tunes every object that breaks.
    fn tune_all(&mut self) {
        self.memory = Memory::default();
        let all: Vec<ObjectId> = self.breakers.keys().copied().collect();
        for object in all {
            self.tune_object(object);
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
            .angular_damping(ROLLING)
            .ccd_enabled(true);
        let collider = ColliderBuilder::ball(radius).density(STEEL).friction(0.4);
        self.stage.world_mut().physics.insert(body, collider).0
    }
}

#[cfg(test)]
mod tests;
