//! Blows that the game strikes: hits, explosions, and pieces that fall apart by damage.
//!
//! A blow waits until the next step begins. Steps then: the impact of all blows on each piece
//! -> which pieces break, by the same rules and limits as for impacts of bodies -> cut and
//! replace -> the impulses act on what is there now. So fragments that a blow made are thrown
//! by it, each by its own share, and the engine's step sees them already in motion.
//!
//! **The blast.** An explosion gives a body the impulse `i A`, with A its area as seen from the
//! center, and i the impulse per area (Pa s) at its nearest point. Both are taken from the
//! boxes of its colliders: A is the box's projection times the 2/3rd power of the share of the
//! box that the shape fills, and never more than the cross-section of the blast at that
//! distance. The impulse points away from the center, and acts halfway between the nearest
//! point and the center of mass: bodies beside the line are turned.
//!
//! **Deviation** from physics: nothing shields anything, and there is no wind.

use std::collections::BTreeMap;

use fracas_fracture::Impact;
use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::shape::TypedShape;
use rapier3d::prelude::{Collider, ColliderSet, RigidBody, RigidBodyHandle};
use serde::{Deserialize, Serialize};

use super::decide::{PARTING, Question, STONE, Waiting, inverse_mass};
use super::split::Break;
use super::{After, Breakables, Engine, Event, PieceId};
use crate::shape::FragmentShape;

/// How the impulse of an explosion falls off with the distance r from its center, as a share of
/// its strength; zero from the radius R on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Falloff {
    /// The same everywhere within the radius.
    Constant,
    /// `1 - r / R`: the default.
    #[default]
    Linear,
    /// `(1 - r / R)²`: hard in the middle, gentle at the rim.
    Quadratic,
}

impl Falloff {
    fn share(self, distance: f32, radius: f32) -> f32 {
        if distance >= radius {
            return 0.0;
        }
        let rest = 1.0 - distance / radius;
        match self {
            Self::Constant => 1.0,
            Self::Linear => rest,
            Self::Quadratic => rest * rest,
        }
    }
}

/// What an explosion does, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Blast {
    pub(crate) center: [f32; 3],
    pub(crate) radius: f32,
    /// Impulse per area at the center, in pascal-seconds.
    pub(crate) strength: f32,
    pub(crate) falloff: Falloff,
}

/// A blow that waits for the next step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Blow {
    /// An impulse at a point, both in the world.
    Hit {
        /// Object and fragment.
        piece: (u32, u32),
        point: [f32; 3],
        impulse: [f32; 3],
    },
    Explosion(Blast),
    /// A piece whose damage has reached 1 falls apart around a point of the object's frame.
    Collapse {
        /// Object and fragment.
        piece: (u32, u32),
        point: [f32; 3],
    },
}

/// Impulse on a body, and where it acts.
struct Push {
    impulse: Vec3,
    /// Point of the body that is hit first.
    nearest: Vec3,
    point: Vec3,
}

/// Fragments by the piece that broke.
type Born = BTreeMap<PieceId, Vec<PieceId>>;

impl Breakables {
    /// Strikes blows before the engine's step.
    pub(crate) fn strike(&mut self, blows: &[Blow], after: &After, engine: &mut Engine<'_>) {
        self.report = super::BreakReport::default();
        let mut breaks = Vec::new();
        // Bodies that follow a script break when it says so.
        if !self.follows() {
            let mut questions = self.impacts_of_blows(blows, engine);
            breaks = self.decide_within_limits(&mut questions, after, engine);
            let left = questions.into_iter().map(|question| question.hit);
            let left = left.filter(|hit| breaks.iter().all(|b| b.piece != hit.piece));
            self.waiting.extend(left);
            let mut falling = Vec::new();
            self.collapse(blows, &breaks, &mut falling);
            breaks.extend(self.fit_all(falling, engine));
        }
        let before = self.events.len();
        self.break_bodies(breaks, 0, engine);
        let mut born = Born::new();
        for event in &self.events[before..] {
            if let Event::Broke {
                piece, children, ..
            } = event
            {
                born.insert(*piece, children.clone());
            }
        }
        for blow in blows {
            self.push_bodies(blow, &born, engine);
        }
    }

    /// The impacts of blows on pieces that can break, one question for each piece.
    fn impacts_of_blows(&self, blows: &[Blow], engine: &Engine<'_>) -> Vec<Question> {
        let mut hits: BTreeMap<PieceId, Vec<Impact>> = BTreeMap::new();
        let mut add = |id: PieceId, body: &RigidBody, point: Vec3, impulse: Vec3| {
            let breaker = self.objects[id.object.0 as usize].breaker.as_ref();
            if breaker.is_some() && impulse != Vec3::ZERO && !self.is_crumb(id) {
                hits.entry(id)
                    .or_default()
                    .push(impact(body, point, impulse, self.settings.units));
            }
        };
        for blow in blows {
            match *blow {
                Blow::Hit {
                    piece,
                    point,
                    impulse,
                } => {
                    let id = PieceId::from(piece);
                    let body = self.body(id).and_then(|body| engine.bodies.get(body));
                    if let Some(body) = body {
                        add(id, body, point.into(), impulse.into());
                    }
                }
                Blow::Explosion(blast) => {
                    for (id, piece) in self.all_pieces() {
                        let Some(body) = engine.bodies.get(piece.body) else {
                            continue;
                        };
                        if let Some(push) = blast.push(body, engine.colliders) {
                            add(id, body, push.nearest, push.impulse);
                        }
                    }
                }
                Blow::Collapse { .. } => {}
            }
        }
        let question = |(piece, impacts)| Question {
            hit: Waiting { piece, impacts },
            of_this_step: false,
        };
        hits.into_iter().map(question).collect()
    }

    /// Adds the breaks of pieces that fall apart by their damage. Their fragments are pristine.
    fn collapse(&mut self, blows: &[Blow], decided: &[Break], breaks: &mut Vec<Break>) {
        for blow in blows {
            let Blow::Collapse { piece, point } = *blow else {
                continue;
            };
            let piece = PieceId::from(piece);
            let mut all = decided.iter().chain(&*breaks);
            if self.piece(piece).is_none() || all.any(|b| b.piece == piece) {
                continue;
            }
            let object = &mut self.objects[piece.object.0 as usize];
            let Some(breaker) = &mut object.breaker else {
                continue;
            };
            let state = object.shared.read();
            let fragments = state.fragments();
            let decision = breaker.fall_apart(fragments, piece.fragment, point.into());
            if let Some(fracture) = decision.fracture {
                breaker.set_damage(piece.fragment, 0.0);
                breaks.push(Break {
                    piece,
                    fracture,
                    stats: decision.stats,
                    of_this_step: false,
                });
            }
        }
    }

    /// Applies the impulse of a blow to the bodies that are there now.
    fn push_bodies(&self, blow: &Blow, born: &Born, engine: &mut Engine<'_>) {
        match *blow {
            Blow::Hit {
                piece,
                point,
                impulse,
            } => {
                let id = PieceId::from(piece);
                match born.get(&id) {
                    Some(children) => {
                        self.share_impulse(children, point.into(), impulse.into(), engine);
                    }
                    None => {
                        let body = self.body(id).and_then(|h| engine.bodies.get_mut(h));
                        if let Some(body) = body {
                            body.apply_impulse_at_point(impulse.into(), point.into(), true);
                        }
                    }
                }
            }
            Blow::Explosion(blast) => {
                let dynamic = engine.bodies.iter().filter(|(_, body)| body.is_dynamic());
                let pushes =
                    dynamic
                        .filter(|(_, body)| body.is_enabled())
                        .filter_map(|(handle, body)| {
                            Some((handle, blast.push(body, engine.colliders)?))
                        });
                let pushes: Vec<(RigidBodyHandle, Push)> = pushes.collect();
                for (handle, push) in pushes {
                    if let Some(body) = engine.bodies.get_mut(handle) {
                        body.apply_impulse_at_point(push.impulse, push.point, true);
                    }
                }
            }
            Blow::Collapse { .. } => {}
        }
    }

    /// Shares an impulse among the fragments of what it broke: most to those near the point.
    /// Fragments at distance d get a speed in proportion to `1 / (1 + d²/s²)`, with s a third
    /// of the distance of the farthest, and all together the whole impulse.
    fn share_impulse(
        &self,
        children: &[PieceId],
        point: Vec3,
        impulse: Vec3,
        engine: &mut Engine<'_>,
    ) {
        let bodies = children.iter().filter_map(|&child| {
            let handle = self.body(child)?;
            let body = engine.bodies.get(handle).filter(|b| b.is_dynamic())?;
            let squared = body.center_of_mass().distance_squared(point);
            Some((handle, body.mass(), squared))
        });
        let bodies: Vec<(RigidBodyHandle, f32, f32)> = bodies.collect();
        let farthest = bodies.iter().map(|b| b.2).fold(0.0, f32::max);
        let scale = (farthest / 9.0).max(f32::MIN_POSITIVE);
        let weight = |mass: f32, squared: f32| mass / (1.0 + squared / scale);
        let sum: f32 = bodies.iter().map(|&(_, m, d)| weight(m, d)).sum();
        if sum <= 0.0 {
            return;
        }
        for (handle, mass, squared) in bodies {
            if let Some(body) = engine.bodies.get_mut(handle) {
                body.apply_impulse(impulse * (weight(mass, squared) / sum), true);
            }
        }
    }

    /// Adds damage to pieces near a point: all of `amount` to those that hold the point, less
    /// by distance, none from the radius on. Returns those whose damage reaches 1, with the
    /// point in the object's frame.
    pub(crate) fn add_damage(
        &mut self,
        point: Vec3,
        radius: f32,
        amount: f32,
        engine: &Engine<'_>,
    ) -> Vec<Blow> {
        let mut added: Vec<(PieceId, Vec3, f32)> = Vec::new();
        for (id, piece) in self.all_pieces() {
            let Some(body) = engine.bodies.get(piece.body) else {
                continue;
            };
            let local = body.position().inverse_transform_point(point);
            let bounds = piece.shape.bounds();
            let nearest = local.clamp(bounds.mins, bounds.maxs);
            let distance = nearest.distance(local);
            if distance <= 0.0 {
                added.push((id, nearest, amount));
            } else if distance < radius {
                added.push((id, nearest, amount * (1.0 - distance / radius)));
            }
        }
        let mut collapsing = Vec::new();
        for (id, nearest, amount) in added {
            let breaker = &mut self.objects[id.object.0 as usize].breaker;
            let Some(breaker) = breaker else {
                continue;
            };
            let before = breaker.damage(id.fragment);
            breaker.set_damage(id.fragment, before + amount);
            if before < 1.0 && breaker.damage(id.fragment) >= 1.0 {
                collapsing.push(Blow::Collapse {
                    piece: id.into(),
                    point: nearest.to_array(),
                });
            }
        }
        collapsing
    }

    /// Hands the damage of a piece that breaks on to its fragments.
    pub(super) fn inherit_damage(
        &mut self,
        parent: PieceId,
        children: impl Iterator<Item = fracas_core::FragmentId>,
    ) {
        if let Some(breaker) = &mut self.objects[parent.object.0 as usize].breaker {
            let damage = breaker.damage(parent.fragment);
            if damage > 0.0 {
                children.for_each(|child| breaker.set_damage(child, damage));
            }
        }
    }
}

impl Blast {
    /// What the blast does to a body; `None` if it does not reach it. Sensors feel nothing.
    fn push(&self, body: &RigidBody, colliders: &ColliderSet) -> Option<Push> {
        let center = Vec3::from(self.center);
        let way = body.center_of_mass() - center;
        let direction = way.try_normalize().unwrap_or(Vec3::Y);
        let (mut area, mut first) = (0.0, (f32::INFINITY, Vec3::ZERO));
        let own = body.colliders().iter().filter_map(|&c| colliders.get(c));
        for collider in own.filter(|c| !c.is_sensor() && c.is_enabled()) {
            let pose = collider.position();
            let local = pose.inverse_transform_point(center);
            let bounds = bounds_of(collider);
            let nearest = local.clamp(bounds.mins, bounds.maxs);
            let distance = nearest.distance(local);
            if distance < first.0 {
                first = (distance, *pose * nearest);
            }
            area += seen_area(collider, &bounds, pose.rotation.inverse() * direction);
        }
        let (distance, nearest) = first;
        let cross_section =
            std::f32::consts::PI * (self.radius * self.radius - distance * distance);
        let share = self.falloff.share(distance, self.radius);
        let impulse = self.strength * share * area.min(cross_section.max(0.0));
        (impulse > 0.0).then(|| Push {
            impulse: direction * impulse,
            nearest,
            point: 0.5 * (nearest + body.center_of_mass()),
        })
    }
}

/// The box of a collider's shape in its own frame, without margins.
fn bounds_of(collider: &Collider) -> Aabb {
    match collider.shape().as_shape::<FragmentShape>() {
        Some(fragment) => *fragment.bounds(),
        None => collider.shape().compute_local_aabb(),
    }
}

/// Area of a collider as seen along a direction of its own frame, about.
fn seen_area(collider: &Collider, bounds: &Aabb, direction: Vec3) -> f32 {
    let half = bounds.half_extents();
    let sides = Vec3::new(half.y * half.z, half.z * half.x, half.x * half.y);
    let area = 4.0 * direction.abs().dot(sides);
    let volume = match collider.shape().as_typed_shape() {
        TypedShape::Ball(ball) => return std::f32::consts::PI * ball.radius * ball.radius,
        TypedShape::Custom(_) => {
            let fragment = collider.shape().as_shape::<FragmentShape>();
            fragment.map_or(0.0, |fragment| fragment.volume() as f32)
        }
        // Surfaces hold no volume: the whole box is seen.
        TypedShape::TriMesh(_)
        | TypedShape::HeightField(_)
        | TypedShape::Triangle(_)
        | TypedShape::Polyline(_)
        | TypedShape::Segment(_)
        | TypedShape::HalfSpace(_) => return area,
        _ => collider.volume(),
    };
    let filled = libm::cbrtf((volume / (8.0 * half.x * half.y * half.z)).clamp(0.0, 1.0));
    area * filled * filled
}

/// An impulse at a point of the world as an impact of a hard body. Nothing is known of its
/// speed: it is that which stops in the impulse.
fn impact(body: &RigidBody, point: Vec3, impulse: Vec3, units: f32) -> Impact {
    let size = impulse.length();
    let inverse = inverse_mass(body, point, impulse / size);
    let effective_mass = if inverse > 0.0 {
        1.0 / inverse
    } else {
        body.mass()
    };
    Impact {
        point: body.position().inverse_transform_point(point),
        impulse: body.position().rotation.inverse() * impulse,
        speed: size / (PARTING * effective_mass.max(1e-12)),
        effective_mass,
        radius: 0.0,
        other_modulus: STONE / f64::from(units),
    }
}

impl From<(u32, u32)> for PieceId {
    fn from((object, fragment): (u32, u32)) -> Self {
        Self {
            object: super::ObjectId(object),
            fragment: fracas_core::FragmentId(fragment),
        }
    }
}

impl From<PieceId> for (u32, u32) {
    fn from(piece: PieceId) -> Self {
        (piece.object.0, piece.fragment.0)
    }
}
