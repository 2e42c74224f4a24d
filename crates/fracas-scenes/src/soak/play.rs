//! A plan is played, and everything that must hold is held against it.
//!
//! After every step: all poses and velocities are finite and no body is faster than
//! anything in the plan could make it; the volumes of an object's pieces add up to the
//! object's, unless one was taken away; nothing was lost that was not pushed beyond all
//! measure. Every [`LOOK`] steps and at the end: `validate` of every structure. At a
//! restore: played again from the snapshot, the world comes to the same bits.

use std::collections::{BTreeMap, BTreeSet};

use fracas_bake::shapes;
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_fracture::{FractureSettings, Material, RefractureRule};
use fracas_rapier::{Coupling, Event, HandId, ObjectId, PieceId, VoxelSettings, World};
use glam::{EulerRot, Quat, Vec3};
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder};

use super::plan::{BodyPlan, Edit, KINDS, Plan};
use super::tell::tell_fast;
use crate::rigid::{SceneOptions, Template, TemplateOptions, contacts_by_name};

/// Steps from one look into all structures to the next.
const LOOK: u64 = 45;
/// Faster than anything that a plan throws, by far (m/s).
const TOO_FAST: f32 = 35.0;
/// Volumes of pieces add up to the whole's within this share: single precision cuts.
const VOLUME: f64 = 1e-3;

/// What did not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Which rule, in a word: shrinking looks for the same.
    pub rule: &'static str,
    /// Before or after which step.
    pub step: u64,
    /// What was seen.
    pub seen: String,
}

/// What a plan came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Played {
    /// Steps made, replays included.
    pub steps: u64,
    /// Bodies that broke.
    pub broke: u64,
    /// Most bodies at one time.
    pub most: usize,
    /// Snapshots that were played again.
    pub replays: u64,
    /// The digest at the end.
    pub digest: u64,
}

/// Bodies of all kinds, made once.
#[derive(Default)]
pub struct Wardrobe(BTreeMap<usize, Template>);

impl Wardrobe {
    fn template(&mut self, kind: usize) -> Result<Template, String> {
        if let Some(template) = self.0.get(&kind) {
            return Ok(template.clone());
        }
        let (name, tets, material, most, again) = KINDS[kind];
        let shape = shapes::by_name(name).ok_or("no such shape")?;
        let mut options = TemplateOptions::breaking(
            Material::by_name(material).map_err(|e| e.to_string())?,
            FractureSettings {
                max_fragments: most,
                max_cracks: 2 * most,
                ..FractureSettings::default()
            },
        );
        if again {
            options.rule = RefractureRule::default();
        }
        let mesh = shape.build_with_tets(tets);
        let template = Template::of_mesh(name, mesh, shape.colour(), options, &mut |_| ());
        let template = template.map_err(|e| e.to_string())?;
        self.0.insert(kind, template.clone());
        Ok(template)
    }
}

/// What goes back with the world when it is restored.
#[derive(Clone, Default)]
struct Ledger {
    hand: Option<(HandId, Vec3)>,
    /// Objects that lost a piece, so that volumes no longer add up.
    incomplete: BTreeSet<ObjectId>,
    voxels: BTreeSet<ObjectId>,
    /// Bodies that may be lost.
    spoilt: usize,
    steps: u64,
    next_edit: usize,
}

struct Player<'a> {
    plan: &'a Plan,
    wardrobe: &'a mut Wardrobe,
    world: World,
    ledger: Ledger,
    saved: Option<(Vec<u8>, Ledger)>,
    played: Played,
}

/// Plays a plan to its end.
///
/// # Errors
/// The first thing that did not hold.
pub fn play(plan: &Plan, wardrobe: &mut Wardrobe) -> Result<Played, Failure> {
    let failed = |seen: String| Failure {
        rule: "made",
        step: 0,
        seen,
    };
    let options = SceneOptions {
        seed: plan.seed,
        contacts: contacts_by_name(plan.contacts).map_err(failed)?,
        measured: !plan.game,
        ..SceneOptions::default()
    };
    let mut player = Player {
        plan,
        wardrobe,
        world: World::new(options.world(1.0 / 60.0, 0.05).world),
        ledger: Ledger::default(),
        saved: None,
        played: Played::default(),
    };
    player.world.add_floor(0.0, 0.6);
    for body in &plan.bodies {
        player.add(body).map_err(failed)?;
    }
    while player.ledger.steps < plan.steps {
        player.edit()?;
        player.step()?;
    }
    player.look()?;
    player.played.digest = player.world.digest();
    Ok(player.played)
}

impl Player<'_> {
    fn fail<T>(&self, rule: &'static str, seen: impl Into<String>) -> Result<T, Failure> {
        Err(Failure {
            rule,
            step: self.ledger.steps,
            seen: seen.into(),
        })
    }

    fn add(&mut self, body: &BodyPlan) -> Result<(), String> {
        let template = self.wardrobe.template(body.kind)?;
        let [x, y, z] = body.rotation.to_array().map(f32::to_radians);
        let pose = Pose::from_parts(body.position, Quat::from_euler(EulerRot::ZYX, z, y, x));
        let count = self.world.pieces().count() as u64;
        let mut options = if body.fixed {
            template.fixed(pose)
        } else {
            template.body(pose, self.plan.seed ^ count)
        };
        options.velocity = body.velocity;
        options.spin = body.spin;
        let object = self.world.add(options);
        if body.voxels {
            self.set_voxels(object, true);
        }
        Ok(())
    }

    fn set_voxels(&mut self, object: ObjectId, on: bool) {
        let settings = on.then(VoxelSettings::default);
        self.world.set_voxel_contacts(object, settings);
        if on {
            self.ledger.voxels.insert(object);
        } else {
            self.ledger.voxels.remove(&object);
        }
    }

    fn pick(&self, pick: u32) -> Option<PieceId> {
        let count = self.world.pieces().count();
        self.world.pieces().nth(pick as usize % count.max(1))
    }

    /// Does what is due before this step.
    fn edit(&mut self) -> Result<(), Failure> {
        let plan = self.plan;
        while let Some((when, edit)) = plan.edits.get(self.ledger.next_edit) {
            if *when > self.ledger.steps {
                break;
            }
            self.ledger.next_edit += 1;
            match edit {
                Edit::Snapshot => match self.world.snapshot() {
                    Ok(bytes) => self.saved = Some((bytes, self.ledger.clone())),
                    Err(error) => return self.fail("snapshot", error.to_string()),
                },
                Edit::Restore => self.restore()?,
                other => self.change(other)?,
            }
        }
        Ok(())
    }

    fn change(&mut self, edit: &Edit) -> Result<(), Failure> {
        match *edit {
            Edit::Add(ref body) => {
                if let Err(why) = self.add(body) {
                    return self.fail("made", why);
                }
            }
            Edit::Ball(radius, position, velocity) => {
                // As in the TOML scene: without it a ball gets into the floor by more than
                // its radius, with crumbs in it (decision 0018).
                let look_ahead = self.world.settings().look_ahead_radii();
                let ball = RigidBodyBuilder::dynamic()
                    .translation(position)
                    .ccd_enabled(true)
                    .soft_ccd_prediction(look_ahead * radius);
                let steel = ColliderBuilder::ball(radius).density(7_800.0);
                self.world.physics.insert(ball.linvel(velocity), steel);
            }
            Edit::Break(pick, pieces) => {
                let Some(piece) = self.pick(pick) else {
                    return Ok(());
                };
                let fracture = self.world.shape(piece).and_then(|shape| {
                    let options = VoronoiOptions {
                        pieces,
                        seed: u64::from(pick),
                        ..VoronoiOptions::default()
                    };
                    voronoi(shape.object().read().fragments(), piece.fragment, &options)
                });
                if let Some(fracture) = fracture {
                    let children = self.world.break_piece(piece, fracture);
                    if !(2..=pieces as usize).contains(&children.len()) {
                        let seen = format!("{} pieces of {pieces} asked for", children.len());
                        return self.fail("pieces", seen);
                    }
                }
            }
            Edit::Remove(pick) => {
                if let Some(piece) = self.pick(pick) {
                    self.world.remove_piece(piece);
                    self.ledger.incomplete.insert(piece.object);
                }
            }
            Edit::Hold(pick) => {
                self.change(&Edit::Release)?;
                if let Some(piece) = self.pick(pick)
                    && let Some(at) = self.world.body(piece).map(|b| b.center_of_mass())
                    && let Some(hand) = self.world.grab(piece, at, Coupling::default())
                {
                    self.ledger.hand = Some((hand, at));
                }
            }
            Edit::Move(by) => {
                if let Some((hand, at)) = &mut self.ledger.hand {
                    *at += by;
                    self.world.move_hand(*hand, Pose::from_translation(*at));
                }
            }
            Edit::Release => {
                if let Some((hand, _)) = self.ledger.hand.take() {
                    self.world.release(hand);
                }
            }
            Edit::Push(pick, speed) => {
                if let Some(body) = self.pick(pick).and_then(|p| self.world.body_mut(p)) {
                    body.apply_impulse(body.mass() * speed, true);
                }
            }
            Edit::Spoil(pick, impulse) => {
                if let Some(body) = self.pick(pick).and_then(|p| self.world.body_mut(p)) {
                    body.apply_impulse(Vec3::new(0.0, impulse, 0.0), true);
                    self.ledger.spoilt += 1;
                }
            }
            Edit::Voxels(pick, on) => {
                if let Some(piece) = self.pick(pick) {
                    self.set_voxels(piece.object, on);
                }
            }
            Edit::Snapshot | Edit::Restore => {}
        }
        Ok(())
    }

    /// Back to the snapshot, and forward again to here.
    fn restore(&mut self) -> Result<(), Failure> {
        let Some((bytes, ledger)) = self.saved.clone() else {
            return Ok(());
        };
        let (until, edits) = (self.ledger.steps, self.ledger.next_edit);
        let before = self.world.digest();
        let now = self.ledger.voxels.clone();
        if let Err(error) = self.world.restore(&bytes) {
            return self.fail("restore", error.to_string());
        }
        let then = ledger.voxels.clone();
        self.ledger = ledger;
        for &object in now.symmetric_difference(&then) {
            self.set_voxels(object, then.contains(&object));
        }
        self.played.replays += 1;
        while self.ledger.steps < until || self.ledger.next_edit < edits {
            let plan = self.plan;
            while self.ledger.next_edit < edits {
                let (when, edit) = &plan.edits[self.ledger.next_edit];
                if *when > self.ledger.steps {
                    break;
                }
                self.ledger.next_edit += 1;
                // A world that is saved forgets what it remembers of points, and so do we.
                if matches!(edit, Edit::Snapshot) {
                    let _ = self.world.snapshot();
                }
                self.change(edit)?;
            }
            if self.ledger.steps < until {
                self.step()?;
            }
        }
        let after = self.world.digest();
        if before != after {
            return self.fail("replay", format!("digest {after:016x}, was {before:016x}"));
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Failure> {
        self.world.step();
        self.ledger.steps += 1;
        self.played.steps += 1;
        for event in self.world.take_events() {
            match event {
                Event::Lost(piece) | Event::Removed(piece) => {
                    self.ledger.incomplete.insert(piece.object);
                }
                Event::Broke { .. } => self.played.broke += 1,
                _ => {}
            }
        }
        self.check()?;
        if self.ledger.steps.is_multiple_of(LOOK) {
            self.look()?;
        }
        Ok(())
    }

    /// What must hold after every step.
    fn check(&mut self) -> Result<(), Failure> {
        if self.world.bodies_lost() > self.ledger.spoilt {
            let seen = format!("{} bodies lost", self.world.bodies_lost());
            return self.fail("lost", seen);
        }
        let mut volumes: BTreeMap<ObjectId, (f64, f64)> = BTreeMap::new();
        let mut count = 0;
        for piece in self.world.pieces() {
            count += 1;
            let (Some(body), Some(shape)) = (self.world.body(piece), self.world.shape(piece))
            else {
                return self.fail("body", format!("{piece:?} has no body"));
            };
            let (at, speed) = (body.position(), body.linvel());
            if !(at.translation.is_finite() && speed.is_finite() && body.angvel().is_finite()) {
                return self.fail("finite", format!("{piece:?} at {}", at.translation));
            }
            if speed.length() > TOO_FAST {
                return self.fail("speed", tell_fast(&self.world, piece));
            }
            let (sum, _) = volumes.entry(piece.object).or_insert_with(|| {
                let whole = shape.object().read().fragments().mesh().volume();
                (0.0, whole)
            });
            *sum += shape.volume();
        }
        self.played.most = self.played.most.max(count);
        for (object, (sum, whole)) in volumes {
            let whole_again = (sum / whole - 1.0).abs() < VOLUME;
            if !whole_again && !self.ledger.incomplete.contains(&object) {
                return self.fail("volume", format!("{object:?}: {sum} of {whole}"));
            }
        }
        Ok(())
    }

    /// `validate` of everything.
    fn look(&mut self) -> Result<(), Failure> {
        let mut seen: BTreeSet<ObjectId> = BTreeSet::new();
        for piece in self.world.pieces() {
            let Some(shape) = self.world.shape(piece) else {
                continue;
            };
            let state = shape.object().read();
            let tell = |what: &str, why: String| Failure {
                rule: "validate",
                step: self.ledger.steps,
                seen: format!("{what} of {piece:?}: {why}"),
            };
            if seen.insert(piece.object) {
                let fragments = state.fragments();
                fragments.validate().map_err(|e| tell("fragments", e))?;
                let field = state.field().validate(fragments);
                field.map_err(|e| tell("field", e))?;
            }
            let surface = shape.surface().validate();
            surface.map_err(|e| tell("surface", e))?;
            let tree = shape.tree().validate_for(state.fragments(), piece.fragment);
            tree.map_err(|e| tell("tree", e))?;
        }
        Ok(())
    }
}
