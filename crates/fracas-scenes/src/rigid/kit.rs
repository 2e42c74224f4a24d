//! Bodies ready to be placed: tetrahedra, field, tree and modes of one shape.

use std::sync::Arc;

use fracas::sphere_tree::BuildOptions;
use fracas::{FieldOptions, FragmentId, Fragments};
use fracas_bake::shapes;
use fracas_fracture::{Breaker, FractureSettings, Material, Modes, ModesOptions, RefractureRule};
use fracas_rapier::Blueprint;
use fracas_rapier::world::ObjectOptions;
use glam::Vec3;
use parry3d::math::Pose;

use super::{Progress, SceneError};

/// Objects break, fragments do not: so the paper's counts of fragments are met.
const ONCE: RefractureRule = RefractureRule {
    least_nodes_for_modes: 60,
    least_nodes_for_pattern: 24,
    most_generations: 1,
    modes: 24,
};

/// A kind of body, computed once and placed many times.
#[derive(Clone, Debug)]
pub struct Kit {
    blueprint: Arc<Blueprint>,
    modes: Arc<Modes>,
    material: Material,
    settings: FractureSettings,
    colour: [u8; 3],
}

impl Kit {
    /// A shape of the procedural set in a material, with its modes.
    ///
    /// # Errors
    /// See [`SceneError::Body`].
    pub fn build(
        shape: &'static str,
        material: &'static str,
        settings: FractureSettings,
        progress: Progress<'_>,
    ) -> Result<Self, SceneError> {
        let fail = |why: String| SceneError::Body { what: shape, why };
        let found = shapes::by_name(shape).ok_or_else(|| fail("no such shape".into()))?;
        let material = Material::by_name(material).map_err(|e| fail(e.to_string()))?;
        progress("tetrahedra");
        let mesh = Arc::new(found.build());
        progress("distances and sphere tree");
        let blueprint = Blueprint::build(
            mesh.clone(),
            &FieldOptions::default(),
            &BuildOptions::default(),
        )
        .map_err(|e| fail(e.to_string()))?;
        progress("modes");
        let modes = Modes::compute(
            &Fragments::new(mesh),
            FragmentId(0),
            &material,
            &ModesOptions::default(),
            &mut |_| {},
        )
        .map_err(|e| fail(e.to_string()))?;
        Ok(Self {
            blueprint: Arc::new(blueprint),
            modes: Arc::new(modes),
            material,
            settings,
            colour: found.colour(),
        })
    }

    /// Its colour (sRGB).
    #[must_use]
    pub fn colour(&self) -> [u8; 3] {
        self.colour
    }

    /// Lowest and highest coordinates of the unbroken body.
    #[must_use]
    pub fn bounds(&self) -> (Vec3, Vec3) {
        self.blueprint.surface().bounds()
    }

    /// A breakable body at a pose; `seed` makes its cracks its own.
    #[must_use]
    pub fn body(&self, pose: Pose, seed: u64) -> ObjectOptions {
        let settings = FractureSettings {
            seed: self.settings.seed ^ seed,
            ..self.settings
        };
        let breaker = Breaker::new(self.material, Some(self.modes.clone()))
            .with_settings(settings)
            .with_rule(ONCE);
        ObjectOptions::new(self.blueprint.clone())
            .breakable(breaker)
            .at(pose)
    }
}
