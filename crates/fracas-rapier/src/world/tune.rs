//! Changing what an object is made of while the world runs.

use fracas_fracture::Breaker;
use parry3d::shape::Shape as _;

use super::{ObjectId, World};

impl World {
    /// How an object breaks.
    #[must_use]
    pub fn breaker(&self, object: ObjectId) -> Option<&Breaker> {
        let object = self.breakables.objects.get(object.0 as usize)?;
        object.breaker.as_ref()
    }

    /// Changes the density of an object's bodies (kg/m³), those to come included.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn set_density(&mut self, object: ObjectId, density: f32) {
        let density = self.own_density(density);
        let Some(object) = self.breakables.objects.get_mut(object.0 as usize) else {
            return;
        };
        object.options.density = density;
        for piece in object.pieces.values() {
            if let Some(collider) = self.physics.colliders.get_mut(piece.collider) {
                collider.set_mass_properties(piece.shape.mass_properties(density));
            }
        }
    }
}
