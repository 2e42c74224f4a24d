//! Breaking on command.

use bevy::ecs::system::{EntityCommand, EntityCommands};
use bevy::prelude::*;
use fracas_bake::shatter::{ShatterOptions, plan};

use crate::components::Piece;
use crate::engine::with_engine;
use crate::error::FracasError;

/// Breaks entities on command.
pub trait ShatterCommands {
    /// Breaks the object, or one of its fragments, by a pattern, whatever hit it or not. Its
    /// fragments and the events come with the next fixed step.
    fn shatter(&mut self, pattern: ShatterOptions) -> &mut Self;
}

impl ShatterCommands for EntityCommands<'_> {
    fn shatter(&mut self, pattern: ShatterOptions) -> &mut Self {
        self.queue(Shatter(pattern))
    }
}

struct Shatter(ShatterOptions);

impl EntityCommand for Shatter {
    type Out = Result;

    fn apply(self, mut found: EntityWorldMut) -> Result {
        let entity = found.id();
        let Some(&Piece(piece)) = found.get::<Piece>() else {
            return Err(BevyError::error(FracasError::NoPiece { entity }));
        };
        found.world_scope(|world| {
            let broken = with_engine(world, |fracas, _| {
                let Some(shape) = fracas.world.shape(piece) else {
                    return Err(FracasError::NoPiece { entity });
                };
                let planned = {
                    let state = shape.object().read();
                    let modes = None;
                    plan(
                        state.fragments(),
                        piece.fragment,
                        modes,
                        &self.0,
                        &mut |_| (),
                    )
                };
                let planned = planned.map_err(|source| FracasError::Shatter { entity, source })?;
                fracas.world.break_piece(piece, planned.fracture);
                Ok(())
            });
            broken.and_then(|broken| broken).map_err(BevyError::error)
        })
    }
}
