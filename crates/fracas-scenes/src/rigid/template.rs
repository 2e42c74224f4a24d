//! Bodies ready to be placed: tetrahedra, field, tree and modes of one shape.

use std::sync::Arc;

use fracas_bake::model::Model;
use fracas_bake::shapes;
use fracas_core::sphere_tree::BuildOptions;
use fracas_core::{FieldOptions, FragmentId, Fragments, TetMesh};
use fracas_fracture::{Breaker, FractureSettings, Material, Modes, ModesOptions, RefractureRule};
use fracas_rapier::{Blueprint, Breakable};
use glam::Vec3;
use parry3d::math::Pose;

use super::{Progress, SceneError};
use crate::skins::Skin;

/// Objects break, fragments do not: so the paper's counts of fragments are met.
pub(super) const ONCE: RefractureRule = RefractureRule {
    least_nodes_for_modes: 60,
    least_nodes_for_pattern: 24,
    most_generations: 1,
    modes: 24,
};

/// How a kind of body is made.
#[derive(Clone, Copy, Debug)]
pub struct TemplateOptions {
    /// What it is made of.
    pub material: Material,
    /// How it breaks; `None`: it never does, and no modes are computed.
    pub fracture: Option<FractureSettings>,
    /// Which fragments break again.
    pub rule: RefractureRule,
    /// Modes are computed by whoever asked for this, before the first step.
    pub modes_later: bool,
}

impl TemplateOptions {
    /// Breaks once, by its own modes.
    #[must_use]
    pub fn breaking(material: Material, fracture: FractureSettings) -> Self {
        Self {
            material,
            fracture: Some(fracture),
            rule: ONCE,
            modes_later: false,
        }
    }

    /// Never breaks.
    #[must_use]
    pub fn solid(material: Material) -> Self {
        Self {
            material,
            fracture: None,
            rule: ONCE,
            modes_later: false,
        }
    }
}

/// A kind of body, computed once and placed many times.
#[derive(Clone, Debug)]
pub struct Template {
    blueprint: Arc<Blueprint>,
    mesh: Arc<TetMesh>,
    modes: Option<Arc<Modes>>,
    options: TemplateOptions,
    colour: [u8; 3],
    skin: Option<Arc<Skin>>,
}

impl Template {
    /// A shape of the procedural set; `detail` 1 is its own resolution.
    ///
    /// # Errors
    /// See [`SceneError::Body`].
    pub fn build(
        shape: &str,
        detail: f64,
        options: TemplateOptions,
        progress: Progress<'_>,
    ) -> Result<Self, SceneError> {
        Self::build_scaled(shape, detail, 1.0, options, progress)
    }

    /// A shape of the procedural set, larger or smaller.
    ///
    /// # Errors
    /// See [`SceneError::Body`].
    pub fn build_scaled(
        shape: &str,
        detail: f64,
        scale: f32,
        options: TemplateOptions,
        progress: Progress<'_>,
    ) -> Result<Self, SceneError> {
        let found = shapes::by_name(shape).ok_or_else(|| SceneError::Body {
            what: shape.into(),
            why: "no such shape".into(),
        })?;
        progress("tetrahedra");
        let mesh = scaled(found.build_refined(detail), scale);
        let template = Self::of_mesh(shape, mesh, found.colour(), options, progress)?;
        Ok(template.looks_like(found, scale))
    }

    /// Says of which shape, and how much larger, its tetrahedra are: pictures show that.
    pub(super) fn looks_like(mut self, shape: &'static shapes::Shape, scale: f32) -> Self {
        let skin = Skin::new(shape, f64::from(scale), self.mesh.clone());
        self.skin = Some(Arc::new(skin));
        self
    }

    /// Says of which model, made as much larger, its tetrahedra are: pictures show that.
    pub(super) fn looks_like_model(mut self, model: Model, scale: f32) -> Self {
        let scale = f64::from(scale);
        let model = Arc::new(model.moved(|p| scale * p));
        self.skin = Some(Arc::new(Skin::of_model(model, self.mesh.clone())));
        self
    }

    /// Any tetrahedra.
    ///
    /// # Errors
    /// See [`SceneError::Body`].
    pub fn of_mesh(
        name: &str,
        mesh: TetMesh,
        colour: [u8; 3],
        options: TemplateOptions,
        progress: Progress<'_>,
    ) -> Result<Self, SceneError> {
        let fail = |why: String| SceneError::Body {
            what: name.into(),
            why,
        };
        let mesh = Arc::new(mesh);
        progress("distances and sphere tree");
        let blueprint = Blueprint::build(
            mesh.clone(),
            &FieldOptions::default(),
            &BuildOptions::default(),
        )
        .map_err(|e| fail(e.to_string()))?;
        let modes = match options.fracture {
            Some(_) if options.modes_later => None,
            None => None,
            Some(_) => {
                progress("modes");
                let modes = ModesOptions::default();
                let whole = Fragments::new(mesh.clone());
                let material = &options.material;
                let modes = Modes::compute(&whole, FragmentId(0), material, &modes, &mut |_| {});
                Some(Arc::new(modes.map_err(|e| fail(e.to_string()))?))
            }
        };
        Ok(Self {
            blueprint: Arc::new(blueprint),
            mesh,
            modes,
            options,
            colour,
            skin: None,
        })
    }

    /// What it looks like, for pictures.
    #[must_use]
    pub fn skin(&self) -> Option<&Arc<Skin>> {
        self.skin.as_ref()
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

    /// What all bodies of this kind share.
    #[must_use]
    pub fn blueprint(&self) -> &Arc<Blueprint> {
        &self.blueprint
    }

    /// A body at a pose; `seed` makes its cracks its own.
    #[must_use]
    pub fn body(&self, pose: Pose, seed: u64) -> Breakable {
        let body = Breakable::new(self.blueprint.clone()).at(pose);
        let Some(fracture) = self.options.fracture else {
            return Breakable {
                density: self.options.material.density as f32,
                ..body
            };
        };
        let settings = FractureSettings {
            seed: fracture.seed ^ seed,
            ..fracture
        };
        let breaker = Breaker::new(self.options.material, self.modes.clone())
            .with_settings(settings)
            .with_rule(self.options.rule);
        body.with_breaker(breaker)
    }

    /// A body that is fixed to the world and never breaks.
    #[must_use]
    pub fn fixed(&self, pose: Pose) -> Breakable {
        let (low, high) = self.bounds();
        Breakable {
            anchors: vec![(low - 1.0, high + 1.0)],
            breaker: None,
            ..self.body(pose, 0)
        }
    }
}

/// The same mesh, larger or smaller.
pub(super) fn scaled(mesh: TetMesh, scale: f32) -> TetMesh {
    if scale == 1.0 {
        return mesh;
    }
    let positions = mesh.positions().iter().map(|&p| p * scale).collect();
    TetMesh::build(positions, mesh.tets().to_vec()).expect("scaling keeps a mesh a mesh")
}
