//! What a game does to breakable things, as commands.

use bevy::ecs::system::EntityCommands;
use bevy::prelude::*;
use fracas_fracture::BreakPattern;
use fracas_rapier::{ActionError, Falloff, PieceId};

use crate::components::Piece;
use crate::engine::{Fracas, with_engine};
use crate::error::FracasError;

/// Explosions and damage at a point of the world. Wrong numbers go to the app's error handler
/// as [`FracasError::Action`].
pub trait DestructionCommands {
    /// Sets off an explosion at a point of the world. The next fixed step begins with it: it
    /// breaks pieces, and throws every dynamic body within `radius` (metres) outwards, the
    /// fragments that it has just made and the app's own bodies.
    ///
    /// `strength` is the impulse per area at the center, in pascal-seconds: 100 to 300 break
    /// windows, 1,000 and more throw bricks. `falloff` says how it fades with the distance. See
    /// `fracas_rapier::World::explode`.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_fracas::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Bomb;
    ///
    /// fn set_off(bombs: Query<(Entity, &GlobalTransform), With<Bomb>>, mut commands: Commands) {
    ///     for (bomb, place) in &bombs {
    ///         commands.explode(place.translation(), 4.0, 500.0, Falloff::Linear);
    ///         commands.entity(bomb).despawn();
    ///     }
    /// }
    /// # bevy::ecs::system::assert_is_system(set_off);
    /// ```
    fn explode(&mut self, center: Vec3, radius: f32, strength: f32, falloff: Falloff) -> &mut Self;

    /// Damages pieces near a point of the world, by `amount` those that hold the point, by less
    /// those farther off, down to nothing at `radius` (metres). Damage adds up for each piece,
    /// from 0 to 1: a damaged piece breaks by a lighter hit, and one whose damage reaches 1 falls
    /// apart. `fracas.world().piece_damage(piece)` returns it. See
    /// `fracas_rapier::World::damage`.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_fracas::prelude::*;
    ///
    /// fn bullet_lands(point: In<Vec3>, mut commands: Commands) {
    ///     commands.damage(*point, 0.3, 0.25); // the fourth bullet breaks it
    /// }
    /// # bevy::ecs::system::assert_is_system(bullet_lands);
    /// ```
    fn damage(&mut self, point: Vec3, radius: f32, amount: f32) -> &mut Self;
}

/// Hits and breaks of one entity: an object, or one of its fragments. The entity must have a
/// [`Piece`]; other errors are [`FracasError::PieceAction`]. Both go to the app's error handler.
pub trait DestructionEntityCommands {
    /// Strikes it with an impulse (newton-seconds) at a point, both in the world, as something
    /// hard would. The next fixed step begins with it: the piece breaks if such an impact breaks
    /// it, and the impulse moves it, or its fragments.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_fracas::prelude::*;
    ///
    /// fn strike(windows: Query<(Entity, &GlobalTransform), With<Piece>>, mut commands: Commands) {
    ///     for (window, place) in &windows {
    ///         let push = Vec3::new(0.0, 0.0, -20.0);
    ///         commands.entity(window).hit(place.translation(), push);
    ///     }
    /// }
    /// # bevy::ecs::system::assert_is_system(strike);
    /// ```
    fn hit(&mut self, point: Vec3, impulse: Vec3) -> &mut Self;

    /// Breaks it by a pattern, whatever its strength. Points and directions of the pattern are
    /// in the object's frame, in metres. Entities of the fragments and the events come with the
    /// next fixed step.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_fracas::prelude::*;
    ///
    /// fn split_logs(logs: Query<Entity, With<Piece>>, mut commands: Commands) {
    ///     for log in &logs {
    ///         let halves = SlicesOptions { pieces: 2, axis: Some(Vec3::X), ..default() };
    ///         commands.entity(log).break_with(BreakPattern::Slices(halves));
    ///     }
    /// }
    /// # bevy::ecs::system::assert_is_system(split_logs);
    /// ```
    fn break_with(&mut self, pattern: BreakPattern) -> &mut Self;
}

impl DestructionCommands for Commands<'_, '_> {
    fn explode(&mut self, center: Vec3, radius: f32, strength: f32, falloff: Falloff) -> &mut Self {
        self.queue(move |world: &mut World| -> Result {
            act(world, |fracas| {
                fracas.world.explode(center, radius, strength, falloff)
            })
        });
        self
    }

    fn damage(&mut self, point: Vec3, radius: f32, amount: f32) -> &mut Self {
        self.queue(move |world: &mut World| -> Result {
            act(world, |fracas| fracas.world.damage(point, radius, amount))
        });
        self
    }
}

impl DestructionEntityCommands for EntityCommands<'_> {
    fn hit(&mut self, point: Vec3, impulse: Vec3) -> &mut Self {
        self.queue(move |found: EntityWorldMut| -> Result {
            act_on(found, |fracas, piece| {
                fracas.world.hit(piece, point, impulse)
            })
        })
    }

    fn break_with(&mut self, pattern: BreakPattern) -> &mut Self {
        self.queue(move |found: EntityWorldMut| -> Result {
            act_on(found, |fracas, piece| {
                fracas.world.break_with(piece, &pattern).map(|_| ())
            })
        })
    }
}

fn act(world: &mut World, action: impl FnOnce(&mut Fracas) -> Result<(), ActionError>) -> Result {
    let done = with_engine(world, |fracas, _| action(fracas));
    done.and_then(|done| done.map_err(FracasError::Action))
        .map_err(BevyError::error)
}

fn act_on(
    mut found: EntityWorldMut,
    action: impl FnOnce(&mut Fracas, PieceId) -> Result<(), ActionError>,
) -> Result {
    let entity = found.id();
    let Some(&Piece(piece)) = found.get::<Piece>() else {
        return Err(BevyError::error(FracasError::NoPiece { entity }));
    };
    found.world_scope(|world| {
        let done = with_engine(world, |fracas, _| action(fracas, piece));
        done.and_then(|done| done.map_err(|source| FracasError::PieceAction { entity, source }))
            .map_err(BevyError::error)
    })
}
