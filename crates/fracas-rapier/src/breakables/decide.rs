//! From the impulses of a step to the decision what breaks.
//!
//! Impulses come from the solver's own manifolds, after the step: the body already
//! carries what they did to it. What the points of a pair add up to acts at the centre of
//! their pressure, along a normal n. The effective mass there is
//! `1 / sum (1/m + (r x n) . I^-1 (r x n))` over the two bodies; the points stop it
//! together, each its share by impulse: as many springs side by side, all compressed at
//! the speed at which the bodies met. So it does not matter to the fracture by how many
//! points, and by which, a contact method describes one impact.
//!
//! A load is no impact. What a pair bore in the last step already does not count (see
//! [`super::loads`]); nor does anything that happens to a body in a step in which hardly
//! any of it comes from bodies that moved towards each other (see [`super::approach`]).
//! Where something does hit, all contacts count, up to twice what the hits explain: what
//! lies under the hammer breaks by the anvil, too.
//!
//! Contacts are looked ahead for: the step in which bodies are about to meet slows them down to
//! what closes the gap, and the next one stops them. That is one impact: a point that was
//! still a distance apart will yet stop its mass from the speed that closes it, and this
//! is added to its impulse. So what breaks does not depend on where in its step a body
//! meets another.
//!
//! At most so many bodies are decided to break in one step; the impacts on the
//! others wait, in the objects' own frames, for the next. Bodies of several objects are
//! decided at once where there are threads; what comes of it is the same.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fracas_core::TetMesh;
use fracas_fracture::{FractureEvent, Impact};
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderHandle, ContactManifold, RigidBody};

use super::budget::keep_hardest;
use super::limits::Fit;
use super::loads::{Pushed, pushing_points};
use super::split::{Break, named};
use super::{After, Breakables, Engine, Object, PieceId, Redo};
use crate::{parallel, trace};

/// Impacts that are not decided yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) piece: PieceId,
    pub(crate) impacts: Vec<Impact>,
}

/// E / (1 - nu^2) of granite: what floors and plain bodies count as whose material is not known.
pub(super) const STONE: f64 = 55e9 / (1.0 - 0.25 * 0.25);

/// Where less than this share of a step's impulses comes from bodies that approached each
/// other, nothing hit the body.
const LEAST_HIT: f32 = 0.1;

/// A hit adds at most this many times the momentum that it brought to the impulses on a
/// body: bodies part no faster than they met, and what one side of a body takes, the other
/// may pass on.
const MOST_OF_A_HIT: f32 = 2.0;

/// Where nothing is known of the speed of an impact, bodies part at a fifth of it: the impulse
/// is this much of what stops them (as `fracas_fracture::Impact` has it).
pub(super) const PARTING: f32 = 1.2;

/// Fragments that a break makes, as a guess: where the number of new fragments is limited, so
/// many bodies are decided at a time.
const PIECES_OF_A_BREAK: usize = 8;

/// A body that was hit, to be decided.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) hit: Waiting,
    /// Whether this step's impulses hit it.
    pub(super) of_this_step: bool,
}

/// A piece in a pair that pushed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    piece: PieceId,
    /// Which of the pairs.
    pair: u32,
    is_first: bool,
}

impl Breakables {
    /// Decides which of the bodies that were hit break.
    pub(super) fn decide_breaks(&mut self, after: &After, engine: &mut Engine<'_>) -> Vec<Break> {
        let earlier = std::mem::take(&mut self.waiting).into_iter();
        let mut questions: Vec<Question> = earlier
            .map(|hit| Question {
                hit,
                of_this_step: false,
            })
            .collect();
        let pushed = self.loads.pushed(engine.narrow_phase);
        for (piece, impacts) in self.impacts_of_pairs(&pushed, None, after, engine) {
            questions.push(Question {
                hit: Waiting { piece, impacts },
                of_this_step: true,
            });
        }
        self.report_contacts(&pushed, engine);
        self.loads_now.take(&pushed);
        let breaks = self.decide_within_limits(&mut questions, after, engine);
        let left = questions.into_iter().map(|question| question.hit);
        self.waiting = left
            .filter(|hit| breaks.iter().all(|b| b.piece != hit.piece))
            .collect();
        if after.room.is_some() {
            keep_hardest(&mut self.waiting);
        }
        self.report.waiting = self.waiting.len();
        breaks
    }

    /// In a part of a redo: the impacts on pieces that it concerns wait for the next step.
    pub(super) fn wait_with_impacts(&mut self, redo: &Redo, after: &After, engine: &Engine<'_>) {
        let pushed = self.loads.pushed(engine.narrow_phase);
        let hit = self.impacts_of_pairs(&pushed, Some(redo), after, engine);
        let hit = hit.into_iter();
        self.waiting
            .extend(hit.map(|(piece, impacts)| Waiting { piece, impacts }));
        keep_hardest(&mut self.waiting);
        self.report.waiting = self.waiting.len();
        self.loads_now.take(&pushed);
    }

    /// The pieces that pairs hit, and their impacts; in a redo, of those that it concerns.
    fn impacts_of_pairs(
        &self,
        pushed: &[Pushed<'_>],
        redo: Option<&Redo>,
        after: &After,
        engine: &Engine<'_>,
    ) -> Vec<(PieceId, Vec<Impact>)> {
        let mut sides = self.sides_of_pieces(pushed);
        if let Some(redo) = redo {
            sides.retain(|side| self.body(side.piece).is_some_and(|b| redo.concerns(b)));
        }
        sides.sort_unstable();
        let pieces = sides.chunk_by(|a, b| a.piece == b.piece);
        let hit = pieces.map(|own| {
            let piece = own[0].piece;
            (piece, self.impacts_on(piece, own, pushed, after, engine))
        });
        hit.filter(|(_, impacts)| !impacts.is_empty()).collect()
    }

    /// Decides as many as may break in this step; those that are not decided stay in
    /// `questions`.
    pub(super) fn decide_within_limits(
        &mut self,
        questions: &mut Vec<Question>,
        after: &After,
        engine: &mut Engine<'_>,
    ) -> Vec<Break> {
        let mut breaks: Vec<Break> = Vec::new();
        if questions.is_empty() {
            return breaks;
        }
        let mut room = self.room(true, engine.bodies);
        if let Some(room) = &room {
            questions.retain(|q| self.may_break(q.hit.piece, room, engine.bodies));
        }
        let most = self.settings.most_breaks_per_step;
        let mut later: Vec<Question> = Vec::new();
        // What is beyond the limits is not decided at all.
        while !questions.is_empty() && breaks.len() < most {
            let hit: Vec<PieceId> = questions.iter().map(|q| q.hit.piece).collect();
            let mut fits = self.affordable(&hit, after).min(most - breaks.len());
            if let Some(room) = &room {
                fits = fits.min((room.new / PIECES_OF_A_BREAK).max(usize::from(room.new >= 2)));
            }
            if fits == 0 {
                break;
            }
            let rest = questions.split_off(fits);
            let asked = std::mem::replace(questions, rest);
            let hits = match room {
                Some(_) => asked.clone(),
                None => Vec::new(),
            };
            let before = breaks.len();
            self.decide_all(asked, after.dt, engine, &mut breaks);
            self.count(&hit[..fits], &breaks[before..]);
            let Some(room) = &mut room else {
                continue;
            };
            for broken in breaks.split_off(before) {
                let piece = broken.piece;
                match self.fit(broken, room, engine) {
                    Fit::Breaks(broken) => breaks.push(broken),
                    Fit::Waits => {
                        later.extend(hits.iter().filter(|q| q.hit.piece == piece).cloned())
                    }
                    Fit::Holds => {}
                }
            }
        }
        if let Some(room) = room {
            let max = self.settings.debris.max_new_fragments();
            self.new_fragments = max.saturating_sub(room.new);
        }
        questions.splice(0..0, later);
        breaks
    }

    /// Decides bodies of several objects at once; those of one in order, since each
    /// decision counts for the next. Breaks come in the order of the questions. A piece
    /// that breaks by the first of two questions is not asked the second.
    fn decide_all(
        &mut self,
        asked: Vec<Question>,
        dt: f32,
        engine: &Engine<'_>,
        breaks: &mut Vec<Break>,
    ) {
        let mut by_object: BTreeMap<u32, Vec<(usize, Question, f32)>> = BTreeMap::new();
        for (order, question) in asked.into_iter().enumerate() {
            let piece = self.piece(question.hit.piece);
            let mass = piece.and_then(|p| Some(engine.bodies.get(p.body)?.mass()));
            let broke = breaks.iter().any(|b| b.piece == question.hit.piece);
            if let (Some(mass), false) = (mass, broke) {
                let own = by_object.entry(question.hit.piece.object.0).or_default();
                own.push((order, question, mass));
            }
        }
        let objects = (0_u32..).zip(&mut self.objects);
        let work: Vec<_> = objects
            .filter_map(|(o, object)| Some((object, by_object.remove(&o)?)))
            .collect();
        let memories = &self.memories;
        let decided = parallel::map(work, |(object, questions)| {
            let mut broke: Vec<(usize, Break)> = Vec::new();
            for (order, question, mass) in questions {
                if broke.iter().all(|(_, b)| b.piece != question.hit.piece) {
                    let decision = decide(object, &question, mass, dt, memories);
                    broke.extend(decision.map(|b| (order, b)));
                }
            }
            broke
        });
        let mut decided: Vec<(usize, Break)> = decided.into_iter().flatten().collect();
        decided.sort_by_key(|(order, _)| *order);
        breaks.extend(decided.into_iter().map(|(_, b)| b));
    }

    /// Which pieces the pairs belong to.
    fn sides_of_pieces(&self, pushed: &[Pushed<'_>]) -> Vec<Side> {
        // Pairs that bear what they bore break nothing.
        let worth = (0_u32..).zip(pushed);
        let worth = worth.filter(|(_, pushed)| pushed.fresh() > 0.0);
        let mut sides = Vec::new();
        for (pair, pushed) in worth {
            let ends = [
                (pushed.pair.collider1, true),
                (pushed.pair.collider2, false),
            ];
            for (collider, is_first) in ends {
                sides.extend(self.piece_of(collider).map(|piece| Side {
                    piece,
                    pair,
                    is_first,
                }));
            }
        }
        sides
    }

    /// The contacts that pushed a piece in the last step, in its object's frame.
    fn impacts_on(
        &self,
        id: PieceId,
        sides: &[Side],
        pushed: &[Pushed<'_>],
        after: &After,
        engine: &Engine<'_>,
    ) -> Vec<Impact> {
        let mut impacts = Vec::new();
        let Some(piece) = self.piece(id) else {
            return impacts;
        };
        // The impact that broke its body is spent: its pieces are what it made of it.
        if after.part > 0 && piece.born == self.steps {
            return impacts;
        }
        let (collider, own_handle) = (piece.collider, piece.body);
        let breakable = self.objects[id.object.0 as usize].breaker.is_some() && !self.is_crumb(id);
        let (Some(body), Some(own)) = (
            engine.bodies.get(own_handle),
            engine.colliders.get(collider),
        ) else {
            return impacts;
        };
        if body.is_sleeping() || !breakable {
            return impacts;
        }
        let moved = self.approach.of(own_handle);
        // Of all impulses, and those that approach explains.
        let (mut all, mut hits) = (0.0, 0.0);
        for side in sides {
            let pushed = &pushed[side.pair as usize];
            let Some(rigid) = pushed.pair.rigid() else {
                continue;
            };
            let other = if side.is_first {
                pushed.pair.collider2
            } else {
                pushed.pair.collider1
            };
            let other_handle = engine.colliders.get(other).and_then(|c| c.parent());
            let other_body = other_handle.and_then(|h| engine.bodies.get(h));
            let other_moved = other_handle
                .map(|h| self.approach.of(h))
                .unwrap_or_default();
            let other_modulus = self.modulus_of(other);
            let fresh = pushed.fresh();
            let manifolds = rigid.solver_manifolds();
            let Some(resultant) = Resultant::of(manifolds, side.is_first, own.position()) else {
                continue;
            };
            let velocity = moved.at(body, resultant.centre)
                - other_body.map_or(Vec3::ZERO, |b| other_moved.at(b, resultant.centre));
            let approach = (-velocity.dot(resultant.normal)).max(0.0);
            let mass = effective_mass(body, other_body, resultant.centre, resultant.normal);
            let mut sum = 0.0;
            for_each_push(manifolds, side.is_first, own.position(), |push| {
                let effective_mass = mass * push.impulse / pushed.impulse;
                let coming = effective_mass * push.gap / after.dt;
                let fresh_impulse = fresh * (push.impulse + coming);
                sum += fresh_impulse;
                impacts.push(Impact {
                    point: body.position().inverse_transform_point(push.world),
                    impulse: body.position().rotation.inverse() * (push.normal * fresh_impulse),
                    // What lies between hammer and anvil is hit by both, and approaches
                    // one of them.
                    speed: approach.max(fresh_impulse / (PARTING * effective_mass)),
                    effective_mass,
                    radius: 0.0,
                    other_modulus,
                });
            });
            all += sum;
            // Things that lie on each other approach, too: a step of free fall makes them,
            // and the solver stops a pile of many layers within a few steps, not in one.
            if approach > after.gravity * after.dt {
                // What others back stops what hits it as if it stood firm.
                let most = firm_mass(body, other_body, resultant.centre, resultant.normal);
                hits += sum.min(most * approach);
            }
        }
        if self.approach.is_known() {
            keep_what_hits_explain(&mut impacts, all, hits);
        }
        impacts
    }

    /// Contact modulus of what was hit: that of its material, or stone.
    fn modulus_of(&self, collider: ColliderHandle) -> f64 {
        let material = self.material_of(collider);
        let modulus = material.map_or(STONE, fracas_fracture::Material::contact_modulus);
        modulus / f64::from(self.settings.units)
    }
}

/// Memory of decisions, one for each that is made at once: it changes none. Made ready when
/// an object comes into the world, so that the frame of its break need not.
#[derive(Default)]
pub(crate) struct Memories(Mutex<Vec<FractureEvent>>);

impl Memories {
    fn take(&self) -> FractureEvent {
        self.lock().pop().unwrap_or_default()
    }

    fn give_back(&self, memory: FractureEvent) {
        self.lock().push(memory);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<FractureEvent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes one ready for bodies that decide by modes on this mesh.
    pub(super) fn make_ready(&self, mesh: &TetMesh) {
        let mut memory = self.take();
        memory.make_ready(mesh);
        self.give_back(memory);
    }
}

fn decide(
    object: &mut Object,
    question: &Question,
    mass: f32,
    dt: f32,
    memories: &Memories,
) -> Option<Break> {
    let piece = question.hit.piece;
    let _span = trace::span("decide", || named(piece.object, piece.fragment));
    let state = object.shared.read();
    let breaker = object.breaker.as_mut()?;
    let (fragments, impacts) = (state.fragments(), &question.hit.impacts);
    let mut memory = memories.take();
    let decision = breaker.decide(fragments, piece.fragment, mass, impacts, dt, &mut memory);
    memories.give_back(memory);
    Some(Break {
        piece,
        fracture: decision.fracture?,
        stats: decision.stats,
        of_this_step: question.of_this_step,
    })
}

/// Leaves of the impulses on a body what bodies that approached each other can have caused.
fn keep_what_hits_explain(impacts: &mut Vec<Impact>, all: f32, hits: f32) {
    if hits < LEAST_HIT * all {
        impacts.clear();
        return;
    }
    let kept = (MOST_OF_A_HIT * hits / all).min(1.0);
    for impact in impacts {
        impact.impulse *= kept;
        impact.speed *= kept;
    }
}

/// A point that pushed a body.
struct Push {
    world: Vec3,
    /// Away from the other body.
    normal: Vec3,
    impulse: f32,
    /// How far it was still apart.
    gap: f32,
}

/// Calls `visit` with the points that pushed one of the two bodies of a pair.
fn for_each_push(
    manifolds: &[ContactManifold],
    is_first: bool,
    own: &Pose,
    mut visit: impl FnMut(Push),
) {
    for manifold in manifolds {
        // The manifold's normal looks from 1 to 2; the body is pushed away.
        let normal = manifold.data.normal * if is_first { -1.0 } else { 1.0 };
        for point in pushing_points(manifold) {
            // On its own side: where bodies overlap, the other's is inside it.
            let local = if is_first {
                point.local_p1
            } else {
                point.local_p2
            };
            visit(Push {
                world: *own * local,
                normal,
                impulse: point.data.impulse,
                gap: point.dist.max(0.0),
            });
        }
    }
}

/// What the points of a pair add up to, and where that acts.
pub(super) struct Resultant {
    pub(super) centre: Vec3,
    pub(super) normal: Vec3,
}

impl Resultant {
    pub(super) fn of(manifolds: &[ContactManifold], is_first: bool, own: &Pose) -> Option<Self> {
        let (mut sum, mut push, mut moment) = (0.0, Vec3::ZERO, Vec3::ZERO);
        for_each_push(manifolds, is_first, own, |point| {
            sum += point.impulse;
            push += point.impulse * point.normal;
            moment += point.impulse * point.world;
        });
        Some(Self {
            centre: moment / sum,
            normal: push.try_normalize()?,
        })
    }
}

/// What stops when two bodies meet at a point.
fn effective_mass(body: &RigidBody, other: Option<&RigidBody>, point: Vec3, normal: Vec3) -> f32 {
    let inverse = |body| inverse_mass(body, point, normal);
    let sum = inverse(body) + other.map_or(0.0, inverse);
    if sum > 0.0 { 1.0 / sum } else { body.mass() }
}

/// The most that can stop there, one of them being held.
fn firm_mass(body: &RigidBody, other: Option<&RigidBody>, point: Vec3, normal: Vec3) -> f32 {
    let alone = |body| match inverse_mass(body, point, normal) {
        0.0 => 0.0,
        inverse => 1.0 / inverse,
    };
    alone(body).max(other.map_or(0.0, alone))
}

/// Of a body at a point, along a normal; zero of what cannot be moved.
pub(super) fn inverse_mass(body: &RigidBody, point: Vec3, normal: Vec3) -> f32 {
    if !body.is_dynamic() {
        return 0.0;
    }
    let turn = (point - body.center_of_mass()).cross(normal);
    1.0 / body.mass().max(1e-12)
        + turn.dot(body.mass_properties().effective_world_inv_inertia * turn)
}
