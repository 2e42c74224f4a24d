//! Objects at other sizes than their mesh, by the scale of their transform.
//!
//! What a scaled object is made of is computed in a task, once for each scale of a blueprint,
//! and replaces the [`BreakableBlueprint`] of its entity before the body is made.

use std::sync::Arc;

use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::{AsyncComputeTaskPool, Task};
use fracas_core::FragmentId;
use fracas_fracture::{Breaker, Material, Modes};
use fracas_rapier::{Breakable as Body, OpenError};

use crate::components::BreakableBlueprint;
use crate::error::FracasError;
use crate::skin::Skin;

/// The scale that the entity's [`BreakableBlueprint`] contains.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Scaled(pub(crate) f32);

/// Scaled blueprints: made, and being made.
#[derive(Resource, Default)]
pub(crate) struct Scales(Vec<Scaling>);

struct Scaling {
    from: BreakableBlueprint,
    scale: f32,
    state: State,
}

enum State {
    UnderWay(Task<Result<BreakableBlueprint, OpenError>>),
    Made(BreakableBlueprint),
}

/// The scale of a transform if it is the same in all directions and above zero. Rounded to 15
/// bits: rotations leave errors in the last bits, and equal scales share what is computed.
pub(crate) fn uniform(scale: Vec3) -> Option<f32> {
    let mean = scale.element_sum() / 3.0;
    let is_uniform = (scale - mean).abs().max_element() <= 1e-3 * mean;
    let rounded = f32::from_bits((mean.to_bits() + 0x80) & !0xff);
    (is_uniform && mean > 0.0 && rounded.is_finite()).then_some(rounded)
}

/// Gives an entity the blueprint of its scale. Returns whether it has it now; if not, it is
/// being made.
pub(crate) fn apply(world: &mut World, entity: Entity) -> Result<bool, FracasError> {
    let found = world.entity(entity);
    let global = found.get::<GlobalTransform>().copied().unwrap_or_default();
    let scale = global.scale();
    let Some(wanted) = uniform(scale) else {
        return Err(FracasError::Scaled { entity, scale });
    };
    if found.get::<Scaled>().map_or(1.0, |scaled| scaled.0) == wanted {
        return Ok(true);
    }
    let Some(from) = found.get::<BreakableBlueprint>().cloned() else {
        return Ok(false);
    };
    let made = world.resource_mut::<Scales>().find(&from, wanted);
    match made {
        None => Ok(false),
        Some(Err(source)) => {
            let source = Box::new(source);
            Err(FracasError::Bake { entity, source })
        }
        Some(Ok(made)) => {
            let mut entity = world.entity_mut(entity);
            entity.insert((made, Scaled(wanted))).remove::<Skin>();
            Ok(true)
        }
    }
}

impl Scales {
    /// Returns the blueprint at a scale; `None` while it is being made.
    fn find(
        &mut self,
        from: &BreakableBlueprint,
        scale: f32,
    ) -> Option<Result<BreakableBlueprint, OpenError>> {
        let is_it = |known: &Scaling| known.scale == scale && is_same(&known.from, from);
        let Some(at) = self.0.iter().position(is_it) else {
            let (from, unscaled) = (from.clone(), from.clone());
            let task = AsyncComputeTaskPool::get().spawn(async move { make(unscaled, scale) });
            let state = State::UnderWay(task);
            self.0.push(Scaling { from, scale, state });
            return None;
        };
        let state = &mut self.0[at].state;
        if let State::UnderWay(task) = state {
            match check_ready(task)? {
                Ok(made) => *state = State::Made(made),
                Err(error) => {
                    self.0.remove(at);
                    return Some(Err(error));
                }
            }
        }
        match &self.0[at].state {
            State::Made(made) => Some(Ok(made.clone())),
            State::UnderWay(_) => None,
        }
    }
}

fn is_same(one: &BreakableBlueprint, other: &BreakableBlueprint) -> bool {
    let modes = |of: &BreakableBlueprint| of.modes.as_ref().map(Arc::as_ptr);
    Arc::ptr_eq(&one.blueprint, &other.blueprint) && modes(one) == modes(other)
}

fn make(from: BreakableBlueprint, scale: f32) -> Result<BreakableBlueprint, OpenError> {
    let material = |modes: &Arc<Modes>| *modes.material();
    let material = from.modes.as_ref().map_or(Material::GLASS, material);
    let breaker = Breaker::new(material, from.modes);
    let body = Body::new(from.blueprint)
        .with_breaker(breaker)
        .scaled(scale)?;
    let breaker = body.breaker.as_ref();
    let modes = breaker.and_then(|breaker| breaker.modes(FragmentId(0)).cloned());
    let blueprint = body.blueprint;
    Ok(BreakableBlueprint { blueprint, modes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_scales_are_rounded_and_bad_ones_refused() {
        assert_eq!(uniform(Vec3::ONE), Some(1.0));
        assert_eq!(uniform(Vec3::new(1.9999998, 2.0, 2.0000002)), Some(2.0));
        for bad in [
            Vec3::ZERO,
            Vec3::NEG_ONE,
            Vec3::NAN,
            Vec3::INFINITY,
            Vec3::new(1.0, 1.0, 1.1),
            Vec3::new(-1.0, 1.0, 1.0),
        ] {
            assert_eq!(uniform(bad), None, "{bad}");
        }
    }
}
