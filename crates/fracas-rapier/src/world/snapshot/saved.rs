//! Our part of a snapshot: what the engine does not know.

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas_core::{Crack, Fracture, FragmentId};
use fracas_fracture::{Breaker, BreakerState, FragmentModes, Impact, Material};
use glam::Vec3;
use parry3d::math::{Pose, Rotation};
use rapier3d::prelude::{ColliderHandle, RigidBodyHandle};
use serde::{Deserialize, Serialize};

use super::settings::SavedSettings;
use super::{RestoreError, Shapes, Stock, modes_key};
use crate::break_apart::Trees;
use crate::breakables::{
    Blow, Breakable, Breakables, ColliderMaterials, Loads, Object, ObjectId, Piece, PieceId,
    Waiting,
};
use crate::debris::DebrisPolicy;
use crate::world::budget::Known;
use crate::world::hold::{Hand, HandId};
use crate::world::{Coupling, World, WorldSettings, Wrench};

type Name = (u32, u32);

/// A body, its place and turn at the last look, and at how many looks it had been slow.
type SavedPlace = (Name, [f32; 3], [f32; 4], u8);

/// Two colliders, where they were when they were last asked, what that cost, how long they
/// have waited since, and whether they were new.
type SavedAsked = ([Name; 2], [f32; 3], [f32; 4], u32, u8, bool);

#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) settings: SavedSettings,
    debris: DebrisPolicy,
    gravity: [f32; 3],
    pub(super) steps: u64,
    pub(super) world_steps: u64,
    pub(super) next_hand: u32,
    pub(super) floor: Option<f32>,
    pub(super) focus: Option<[f32; 3]>,
    pub(super) bodies_lost: u64,
    places: Vec<SavedPlace>,
    pub(super) since_look: f64,
    /// Parts of the last step that was made again, and what pairs bore in it; none if the last
    /// step was not made again.
    pub(super) redone: Option<(u32, Loads)>,
    pub(super) objects: Vec<SavedObject>,
    hands: Vec<SavedHand>,
    pub(super) blows: Vec<Blow>,
    /// What the game's own colliders are made of.
    materials: Vec<(Name, Material)>,
    waiting: Vec<(Name, Vec<SavedImpact>)>,
    pending_modes: Vec<(u64, Name)>,
    /// Only where the step has a budget.
    asked: Vec<SavedAsked>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SavedObject {
    blueprint: u64,
    density: f32,
    friction: f32,
    restitution: f32,
    anchors: Vec<([f32; 3], [f32; 3])>,
    continuous: bool,
    /// How much wider than its pieces their boxes are.
    margin: f32,
    breaker: Option<SavedBreaker>,
    history: Vec<SavedFracture>,
    pieces: Vec<SavedPiece>,
}

/// The fragment, and of each crack the part and the nodes' levels.
type SavedFracture = (u32, Vec<SavedCrack>);
type SavedCrack = (u32, Vec<(u32, f32)>);

#[derive(Serialize, Deserialize)]
struct SavedBreaker {
    state: BreakerState,
    /// Of the unbroken object.
    whole_modes: Option<u64>,
    /// Fragments whose own modes are in effect.
    with_modes: Vec<u32>,
    /// Fragments with damage.
    damage: Vec<(u32, f32)>,
}

#[derive(Serialize, Deserialize)]
struct SavedPiece {
    fragment: u32,
    body: Name,
    collider: Name,
    born: u64,
    anchored: bool,
    /// Whether the collider has a shape that the caller gave it.
    own_shape: bool,
    fading: Option<u64>,
    frozen: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedHand {
    id: u32,
    piece: Name,
    grip: [f32; 3],
    target: ([f32; 3], [f32; 4]),
    hold: [f32; 4],
    last: [f32; 3],
    coupling: [f32; 5],
    force: [f32; 3],
    torque: [f32; 3],
}

/// Point, impulse, then speed, effective mass and radius, then the other's modulus.
type SavedImpact = ([f32; 3], [f32; 3], [f32; 3], f64);

fn save_asked((pair, known): (&[Name; 2], &Known)) -> SavedAsked {
    let Known {
        at,
        points,
        waited,
        young,
    } = *known;
    let (place, turn) = (at.translation.to_array(), at.rotation.to_array());
    (*pair, place, turn, points, waited, young)
}

fn name(piece: PieceId) -> Name {
    (piece.object.0, piece.fragment.0)
}

fn piece((object, fragment): Name) -> PieceId {
    PieceId {
        object: ObjectId(object),
        fragment: FragmentId(fragment),
    }
}

impl Saved {
    pub(super) fn of(world: &World) -> Self {
        let breakables = &world.breakables;
        let is_there = |id: PieceId| breakables.piece(id).is_some_and(|p| world.is_intact(p));
        let hands = world.hands.iter().filter(|(_, hand)| is_there(hand.piece));
        Self {
            settings: SavedSettings::of(&world.settings),
            debris: world.settings.debris,
            gravity: world.settings.gravity.to_array(),
            steps: breakables.steps,
            world_steps: world.steps,
            next_hand: world.next_hand,
            floor: world.floor,
            focus: breakables.focus.map(|focus| focus.to_array()),
            bodies_lost: world.bodies_lost as u64,
            since_look: world.since_look,
            redone: (world.stats.made_again > 0)
                .then(|| (world.stats.made_again, breakables.loads.clone())),
            places: world.places.iter().map(save_place).collect(),
            objects: (0..breakables.objects.len())
                .map(|i| SavedObject::of(world, i))
                .collect(),
            hands: hands.map(SavedHand::of).collect(),
            blows: world.blows.clone(),
            materials: breakables.materials.living(&world.physics.colliders),
            waiting: breakables
                .waiting
                .iter()
                .map(|w| (name(w.piece), w.impacts.iter().map(save_impact).collect()))
                .collect(),
            pending_modes: breakables
                .jobs
                .pending()
                .map(|(due, p)| (due, name(p)))
                .collect(),
            asked: world.budget.known().iter().map(save_asked).collect(),
        }
    }

    /// The settings of the restored world: those of the present one, with what a saved world
    /// brings along.
    pub(super) fn world_settings(&self, present: &WorldSettings) -> WorldSettings {
        WorldSettings {
            debris: self.debris,
            gravity: self.gravity.into(),
            ..*present
        }
    }

    /// Whether the caller had given the piece's collider another shape.
    pub(super) fn has_own_shape(&self, id: PieceId) -> bool {
        let object = self.objects.get(id.object.0 as usize);
        let mut pieces = object.into_iter().flat_map(|o| &o.pieces);
        pieces.any(|p| p.fragment == id.fragment.0 && p.own_shape)
    }

    /// What pairs cost when they were last asked.
    pub(super) fn asked(&self) -> BTreeMap<[Name; 2], Known> {
        let asked = self.asked.iter();
        let read = |&(pair, place, turn, points, waited, young): &SavedAsked| {
            let turn = Rotation::from_array(turn);
            let known = Known {
                at: Pose::from_parts(Vec3::from_array(place), turn),
                points,
                waited,
                young,
            };
            (pair, known)
        };
        asked.map(read).collect()
    }

    /// Where bodies were when they were last looked at.
    pub(super) fn places(&self) -> BTreeMap<Name, (Pose, u8)> {
        self.places
            .iter()
            .map(|&(body, place, turn, slow_looks)| {
                let turn = Rotation::from_array(turn);
                (body, (Pose::from_parts(place.into(), turn), slow_looks))
            })
            .collect()
    }

    pub(super) fn hands(
        &self,
        breakables: &Breakables,
    ) -> Result<BTreeMap<HandId, Hand>, RestoreError> {
        let alive = |h: &SavedHand| known(breakables, h.piece).map(|_| h.hand());
        self.hands.iter().map(alive).collect()
    }

    pub(super) fn waiting(&self, breakables: &Breakables) -> Result<Vec<Waiting>, RestoreError> {
        self.waiting
            .iter()
            .map(|(name, impacts)| {
                Ok(Waiting {
                    piece: known_object(breakables, *name)?,
                    impacts: impacts.iter().map(load_impact).collect(),
                })
            })
            .collect()
    }

    pub(super) fn materials(&self) -> ColliderMaterials {
        self.materials.iter().copied().collect()
    }

    /// Modes that were in effect are computed again now, those under way beside the
    /// simulation as before: the arithmetic is portable, so they are the same.
    pub(super) fn restart_modes(&self, breakables: &mut Breakables) -> Result<(), RestoreError> {
        for (saved, object) in self.objects.iter().zip(&mut breakables.objects) {
            let (Some(saved), Some(breaker)) = (&saved.breaker, &mut object.breaker) else {
                continue;
            };
            let state = object.shared.read();
            for &fragment in &saved.with_modes {
                let id = FragmentId(fragment);
                if !object.pieces.contains_key(&id) {
                    return Err(malformed("modes of a fragment that is not there"));
                }
                let (material, rule) = (*breaker.material(), *breaker.rule());
                let modes = FragmentModes::compute(state.fragments(), id, &material, &rule);
                let modes = modes.map_err(|e| RestoreError::Malformed(e.to_string()))?;
                breaker.take_modes(id, Arc::new(modes));
            }
        }
        let pending = self.pending_modes.iter();
        let pending: Result<Vec<_>, RestoreError> = pending
            .map(|&(due, name)| Ok((due, known_object(breakables, name)?)))
            .collect();
        breakables.request_modes(pending?);
        Ok(())
    }
}

fn malformed(what: &str) -> RestoreError {
    RestoreError::Malformed(what.into())
}

fn known(breakables: &Breakables, name: Name) -> Result<PieceId, RestoreError> {
    let id = piece(name);
    breakables
        .piece(id)
        .map(|_| id)
        .ok_or_else(|| malformed("it names a piece that is not there"))
}

fn known_object(breakables: &Breakables, name: Name) -> Result<PieceId, RestoreError> {
    let there = (name.0 as usize) < breakables.objects.len();
    let id = there.then(|| piece(name));
    id.ok_or_else(|| malformed("it names an object that is not there"))
}

impl SavedObject {
    /// What is saved of an object. Pieces that the caller has removed through the engine are
    /// left out.
    fn of(world: &World, index: usize) -> Self {
        let breakables = &world.breakables;
        let object = &breakables.objects[index];
        let is_there = |f: &FragmentId| object.pieces.get(f).is_some_and(|p| world.is_intact(p));
        let pieces = object.pieces.iter().filter(|(f, _)| is_there(f));
        let options = &object.options;
        let breaker = object.breaker.as_ref().map(|breaker| SavedBreaker {
            state: breaker.state(),
            whole_modes: breaker.modes(FragmentId(0)).map(|m| modes_key(m)),
            with_modes: breakables
                .fragments_with_modes(index)
                .iter()
                .filter(|f| is_there(f))
                .map(|f| f.0)
                .filter(|&f| f != 0)
                .collect(),
            damage: breaker.damaged().map(|(f, d)| (f.0, d)).collect(),
        });
        Self {
            blueprint: options.blueprint.key(),
            density: options.density,
            friction: options.friction,
            restitution: options.restitution,
            anchors: options
                .anchors
                .iter()
                .map(|(low, high)| (low.to_array(), high.to_array()))
                .collect(),
            continuous: options.continuous,
            margin: object
                .pieces
                .values()
                .next()
                .map_or(0.0, |p| p.shape.margin()),
            breaker,
            history: object
                .history
                .iter()
                .map(|f| {
                    let cracks = f.cracks.iter();
                    let cracks = cracks.map(|c| (c.part, c.levels.clone())).collect();
                    (f.fragment.0, cracks)
                })
                .collect(),
            pieces: pieces
                .map(|(fragment, piece)| SavedPiece {
                    fragment: fragment.0,
                    body: piece.body.into_raw_parts(),
                    collider: piece.collider.into_raw_parts(),
                    born: piece.born,
                    anchored: piece.anchored,
                    own_shape: world.has_own_shape(piece),
                    fading: piece.fading,
                    frozen: piece.frozen,
                })
                .collect(),
        }
    }

    /// The object with its fractures replayed.
    pub(super) fn replay(
        &self,
        index: usize,
        stock: &Stock,
        settings: &WorldSettings,
    ) -> Result<Object, RestoreError> {
        let key = self.blueprint;
        let blueprint = stock.blueprints.get(&key);
        let blueprint = blueprint.ok_or(RestoreError::UnknownBlueprint { object: index, key })?;
        let breaker = match &self.breaker {
            Some(saved) => Some(saved.load(index, stock)?),
            None => None,
        };
        let (shared, whole) = blueprint.object();
        let whole = whole.with_margin(self.margin);
        let mut shapes = Shapes::from([(FragmentId(0), whole)]);
        let mut history = Vec::with_capacity(self.history.len());
        for (fragment, cracks) in &self.history {
            let crack = |(part, levels): &SavedCrack| Crack {
                part: *part,
                levels: levels.clone(),
            };
            let fracture = Fracture {
                fragment: FragmentId(*fragment),
                cracks: cracks.iter().map(crack).collect(),
            };
            let shape = shapes
                .remove(&fracture.fragment)
                .ok_or_else(|| malformed("a fragment breaks that is not there"))?;
            let trees = Trees::WhenAsked(settings.restructuring);
            let broken = shared
                .break_apart(&shape, &fracture, trees, &|| 0.0)
                .map_err(|e| RestoreError::Malformed(e.to_string()))?;
            shapes.extend(broken.shapes.into_iter().map(|s| (s.id(), s)));
            history.push(fracture);
        }
        let mut pieces = BTreeMap::new();
        for saved in &self.pieces {
            let fragment = FragmentId(saved.fragment);
            let shape = shapes.remove(&fragment);
            let shape = shape.ok_or_else(|| malformed("a piece is no fragment of its object"))?;
            let piece = Piece {
                body: RigidBodyHandle::from_raw_parts(saved.body.0, saved.body.1),
                collider: ColliderHandle::from_raw_parts(saved.collider.0, saved.collider.1),
                shape,
                born: saved.born,
                anchored: saved.anchored,
                fading: saved.fading,
                frozen: saved.frozen,
            };
            pieces.insert(fragment, piece);
        }
        let options = Breakable {
            density: self.density,
            friction: self.friction,
            restitution: self.restitution,
            breaker: breaker.clone(),
            anchors: self
                .anchors
                .iter()
                .map(|&(low, high)| (low.into(), high.into()))
                .collect(),
            continuous: self.continuous,
            ..Breakable::new(blueprint.clone())
        };
        Ok(Object {
            shared,
            breaker,
            options,
            pieces,
            history,
        })
    }
}

impl SavedBreaker {
    fn load(&self, object: usize, stock: &Stock) -> Result<Breaker, RestoreError> {
        let whole = match self.whole_modes {
            Some(key) => {
                let modes = stock.modes.get(&key).cloned();
                Some(modes.ok_or(RestoreError::UnknownModes { object, key })?)
            }
            None => None,
        };
        let mut breaker = Breaker::from_state(self.state, whole);
        for &(fragment, damage) in &self.damage {
            breaker.set_damage(FragmentId(fragment), damage);
        }
        Ok(breaker)
    }
}

impl SavedHand {
    fn of((id, hand): (&HandId, &Hand)) -> Self {
        let c = &hand.coupling;
        Self {
            id: id.0,
            piece: name(hand.piece),
            grip: hand.grip.to_array(),
            target: (
                hand.target.translation.to_array(),
                hand.target.rotation.to_array(),
            ),
            hold: hand.hold.to_array(),
            last: hand.last.to_array(),
            coupling: [
                c.stiffness,
                c.damping,
                c.angular_stiffness,
                c.angular_damping,
                c.most_force,
            ],
            force: hand.wrench.force.to_array(),
            torque: hand.wrench.torque.to_array(),
        }
    }

    fn hand(&self) -> (HandId, Hand) {
        let [
            stiffness,
            damping,
            angular_stiffness,
            angular_damping,
            most_force,
        ] = self.coupling;
        let hand = Hand {
            piece: piece(self.piece),
            grip: self.grip.into(),
            target: Pose::from_parts(self.target.0.into(), Rotation::from_array(self.target.1)),
            hold: Rotation::from_array(self.hold),
            last: self.last.into(),
            coupling: Coupling {
                stiffness,
                damping,
                angular_stiffness,
                angular_damping,
                most_force,
            },
            wrench: Wrench {
                force: self.force.into(),
                torque: self.torque.into(),
            },
        };
        (HandId(self.id), hand)
    }
}

fn save_place((body, (pose, slow_looks)): (&Name, &(Pose, u8))) -> SavedPlace {
    let (place, turn) = (pose.translation, pose.rotation);
    (*body, place.to_array(), turn.to_array(), *slow_looks)
}

fn save_impact(i: &Impact) -> SavedImpact {
    (
        i.point.to_array(),
        i.impulse.to_array(),
        [i.speed, i.effective_mass, i.radius],
        i.other_modulus,
    )
}

fn load_impact(
    &(point, impulse, [speed, effective_mass, radius], other_modulus): &SavedImpact,
) -> Impact {
    Impact {
        point: Vec3::from(point),
        impulse: Vec3::from(impulse),
        speed,
        effective_mass,
        radius,
        other_modulus,
    }
}
