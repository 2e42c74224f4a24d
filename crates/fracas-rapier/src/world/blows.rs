//! What a game does to things: hit them, blow them up, damage them, break them.

use fracas_fracture::{BreakPattern, Material, material::MaterialError};
use glam::Vec3;
use rapier3d::prelude::ColliderHandle;
use thiserror::Error;

use super::World;
use crate::breakables::{After, Blast, Blow, Engine, Falloff, PieceId};

/// Every so many steps materials of colliders that are gone are forgotten.
const PRUNE_EVERY: u64 = 256;

/// Why a call to [`World::hit`], [`World::explode`], [`World::damage`], [`World::break_with`] or
/// [`World::set_collider_material`] did nothing.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ActionError {
    /// The piece has broken or was removed.
    #[error("there is no piece {0:?}: it has broken or was removed")]
    UnknownPiece(PieceId),
    /// The engine has no such collider.
    #[error("there is no collider {0:?}")]
    UnknownCollider(ColliderHandle),
    /// An argument is out of range.
    #[error("the {what} must be {range}, not {value}")]
    OutOfRange {
        /// Which argument.
        what: &'static str,
        /// What it may be.
        range: &'static str,
        /// What it was.
        value: String,
    },
    /// The pattern does not part the piece.
    #[error(
        "the pattern does not part piece {0:?}: it misses the piece, or the piece has too few nodes"
    )]
    NothingParts(PieceId),
    /// The world had no room for the fragments.
    #[error("piece {0:?} was not broken: the debris policy leaves no room for its fragments")]
    NoRoom(PieceId),
    /// The material's numbers are out of range.
    #[error(transparent)]
    Material(#[from] MaterialError),
}

fn finite(what: &'static str, value: Vec3) -> Result<(), ActionError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(ActionError::OutOfRange {
        what,
        range: "finite",
        value: value.to_string(),
    })
}

fn not_negative(what: &'static str, value: f32) -> Result<(), ActionError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ActionError::OutOfRange {
        what,
        range: "zero or more, and finite",
        value: value.to_string(),
    })
}

impl World {
    /// Strikes a piece with an impulse (newton-seconds) at a point, both in the world, as
    /// something hard would. The next step begins with it: the piece breaks if such an impact
    /// breaks it, and the impulse acts on the piece, or on its fragments, most on those near
    /// the point. A piece that is fixed to the world breaks, too, but does not move.
    ///
    /// # Errors
    /// [`ActionError`] if there is no such piece, or a number is not finite.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use fracas_core::{FieldOptions, grid::bent_grid, sphere_tree::BuildOptions};
    /// # use fracas_fracture::{Breaker, Material};
    /// # use fracas_rapier::{Blueprint, Breakable, World, WorldSettings};
    /// # use glam::Vec3;
    /// # let mesh = bent_grid([6, 4, 3], false, |p| p * 0.05)?.into();
    /// # let brick = Arc::new(Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())?);
    /// let mut world = World::new(WorldSettings::default());
    /// let glass = Breaker::new(Material::GLASS, None);
    /// let object = world.add(Breakable::new(brick).with_breaker(glass));
    /// let piece = world.first_piece(object).unwrap();
    /// world.hit(piece, Vec3::ZERO, Vec3::new(600.0, 0.0, 0.0))?;
    /// world.step();
    /// assert!(world.pieces().count() > 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hit(&mut self, piece: PieceId, point: Vec3, impulse: Vec3) -> Result<(), ActionError> {
        finite("point", point)?;
        finite("impulse", impulse)?;
        self.check_piece(piece)?;
        self.blows.push(Blow::Hit {
            piece: piece.into(),
            point: point.to_array(),
            impulse: (impulse * self.units).to_array(),
        });
        Ok(())
    }

    /// Sets off an explosion at a point of the world. The next step begins with it: it breaks
    /// pieces, and throws every dynamic body within `radius` (length units) outwards, the game's own
    /// and the fragments that it has just made.
    ///
    /// `strength` is the impulse per area at the center, in pascal-seconds: a body gets this
    /// times its area as seen from the center (m²) times the share that `falloff` leaves at its
    /// nearest point. A few pascal-seconds knock over a chair; 100 to 300 break windows; 1,000
    /// and more throw bricks: a brick of 2 kg with its broad side (0.022 m²) towards the center
    /// gets 11 m/s. Nothing shields anything: what stands behind a wall is thrown, too.
    ///
    /// # Errors
    /// [`ActionError::OutOfRange`] if a number is negative or not finite.
    ///
    /// ```
    /// use fracas_rapier::{Falloff, World, WorldSettings};
    /// use glam::Vec3;
    /// use rapier3d::prelude::*;
    ///
    /// let mut world = World::new(WorldSettings::default());
    /// let crate_ = RigidBodyBuilder::dynamic().translation(Vec3::X);
    /// let (body, _) = world.physics.insert(crate_, ColliderBuilder::cuboid(0.2, 0.2, 0.2));
    /// world.explode(Vec3::ZERO, 3.0, 500.0, Falloff::Linear)?;
    /// world.step();
    /// assert!(world.physics.bodies[body].linvel().x > 0.5);
    /// # Ok::<(), fracas_rapier::ActionError>(())
    /// ```
    pub fn explode(
        &mut self,
        center: Vec3,
        radius: f32,
        strength: f32,
        falloff: Falloff,
    ) -> Result<(), ActionError> {
        finite("center", center)?;
        not_negative("radius", radius)?;
        not_negative("strength", strength)?;
        self.blows.push(Blow::Explosion(Blast {
            center: center.to_array(),
            radius,
            strength: strength / self.units,
            falloff,
        }));
        Ok(())
    }

    /// Damages pieces near a point of the world, by `amount` those that hold the point, by less
    /// those farther off, in proportion, down to nothing at `radius` (length units). Damage adds up
    /// for each piece that can break, from 0 to 1; snapshots hold it.
    ///
    /// A piece of damage `d` has `1 - d` of its material's strength and toughness: a lighter hit
    /// breaks it. Its fragments inherit the damage. A piece whose damage reaches 1 falls apart
    /// around the point when the next step begins; its fragments start from 0.
    ///
    /// # Errors
    /// [`ActionError::OutOfRange`] if a number is negative or not finite.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use fracas_core::{FieldOptions, grid::bent_grid, sphere_tree::BuildOptions};
    /// # use fracas_fracture::{Breaker, Material};
    /// # use fracas_rapier::{Blueprint, Breakable, World, WorldSettings};
    /// # use glam::Vec3;
    /// # let mesh = bent_grid([6, 4, 3], false, |p| p * 0.05)?.into();
    /// # let brick = Arc::new(Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())?);
    /// let mut world = World::new(WorldSettings::default());
    /// let stone = Breaker::new(Material::GRANITE, None);
    /// let object = world.add(Breakable::new(brick).with_breaker(stone));
    /// let piece = world.first_piece(object).unwrap();
    /// world.damage(Vec3::ZERO, 0.1, 0.6)?;
    /// assert_eq!(world.piece_damage(piece), 0.6);
    /// world.damage(Vec3::ZERO, 0.1, 0.6)?;
    /// world.step();
    /// assert!(world.pieces().count() > 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn damage(&mut self, point: Vec3, radius: f32, amount: f32) -> Result<(), ActionError> {
        finite("point", point)?;
        not_negative("radius", radius)?;
        not_negative("amount", amount)?;
        let engine = Engine::from(&mut self.physics);
        let collapsing = self.breakables.add_damage(point, radius, amount, &engine);
        self.blows.extend(collapsing);
        Ok(())
    }

    /// Returns the damage of a piece, from 0 (pristine) to 1; see [`World::damage`]. Pieces that
    /// cannot break have none.
    #[must_use]
    pub fn piece_damage(&self, piece: PieceId) -> f32 {
        let object = self.breakables.objects.get(piece.object.0 as usize);
        let breaker = object.and_then(|object| object.breaker.as_ref());
        breaker.map_or(0.0, |breaker| breaker.damage(piece.fragment))
    }

    /// Breaks a piece now, between two steps, by a pattern, whatever its strength. Points and
    /// directions of the pattern are in the object's frame ([`World::pose`] places it in the
    /// world). Returns the fragments.
    ///
    /// # Errors
    /// [`ActionError`] if there is no such piece, or the pattern does not part it.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use fracas_core::{FieldOptions, grid::bent_grid, sphere_tree::BuildOptions};
    /// # use fracas_rapier::{Blueprint, Breakable, World, WorldSettings};
    /// # use glam::Vec3;
    /// # let mesh = bent_grid([6, 4, 3], false, |p| p * 0.05)?.into();
    /// # let brick = Arc::new(Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())?);
    /// use fracas_fracture::BreakPattern;
    /// use fracas_fracture::patterns::SlicesOptions;
    ///
    /// let mut world = World::new(WorldSettings::default());
    /// let object = world.add(Breakable::new(brick));
    /// let piece = world.first_piece(object).unwrap();
    /// let slices = SlicesOptions { pieces: 3, axis: Some(Vec3::X), ..Default::default() };
    /// let fragments = world.break_with(piece, &BreakPattern::Slices(slices))?;
    /// assert_eq!(fragments.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn break_with(
        &mut self,
        piece: PieceId,
        pattern: &BreakPattern,
    ) -> Result<Vec<PieceId>, ActionError> {
        self.check_piece(piece)?;
        let fracture = {
            let object = &self.breakables.objects[piece.object.0 as usize];
            let state = object.shared.read();
            pattern.fracture(state.fragments(), piece.fragment)
        };
        let fracture = fracture.ok_or(ActionError::NothingParts(piece))?;
        let children = self.break_piece(piece, fracture);
        if children.is_empty() {
            return Err(ActionError::NoRoom(piece));
        }
        Ok(children)
    }

    /// Says what a collider of the game is made of: how hard it is decides whether what falls on
    /// it breaks. Colliders of unknown material count as stone. Pieces that can break are of
    /// their own material whatever is said here. How a collider slides and bounces are its own
    /// `friction` and `restitution`. Snapshots hold the material.
    ///
    /// # Errors
    /// [`ActionError`] if there is no such collider, or the material's numbers make no sense.
    ///
    /// ```
    /// use fracas_fracture::Material;
    /// use fracas_rapier::{World, WorldSettings};
    ///
    /// let mut world = World::new(WorldSettings::default());
    /// let floor = world.add_floor(0.0, 0.8);
    /// world.set_collider_material(floor, Material::CARPET)?;
    /// assert_eq!(world.collider_material(floor), Some(&Material::CARPET));
    /// # Ok::<(), fracas_rapier::ActionError>(())
    /// ```
    pub fn set_collider_material(
        &mut self,
        collider: ColliderHandle,
        material: Material,
    ) -> Result<(), ActionError> {
        material.validate()?;
        if !self.physics.colliders.contains(collider) {
            return Err(ActionError::UnknownCollider(collider));
        }
        self.breakables.materials.set(collider, material);
        Ok(())
    }

    /// Returns what a collider is made of: the material of its piece, or what
    /// [`World::set_collider_material`] said; `None` where nothing is known.
    #[must_use]
    pub fn collider_material(&self, collider: ColliderHandle) -> Option<&Material> {
        self.breakables.material_of(collider)
    }

    fn check_piece(&self, piece: PieceId) -> Result<(), ActionError> {
        let found = self.breakables.piece(piece);
        let is_there = found.is_some_and(|found| self.is_intact(found));
        is_there
            .then_some(())
            .ok_or(ActionError::UnknownPiece(piece))
    }

    /// Strikes the blows since the last step.
    pub(super) fn strike_blows(&mut self) {
        if self.steps.is_multiple_of(PRUNE_EVERY) {
            self.breakables.materials.prune(&self.physics.colliders);
        }
        if self.blows.is_empty() {
            return;
        }
        let blows = std::mem::take(&mut self.blows);
        let dt = self.physics.integration_parameters.dt;
        let after = After::whole(dt, self.physics.gravity.length());
        self.follow_engine(after, |breakables, after, engine| {
            breakables.strike(&blows, &after, engine);
        });
    }
}
